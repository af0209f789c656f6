//! Ratings: one number per player, learnt from games.
//!
//! Players are the numbers of [`Games`](crate::data::Games). *Online* systems ([`Online`]: [`Elo`], [`Glicko`],
//! [`Glicko2`], [`TrueSkill`]) go through the games in order of time and move the ratings of who plays; a player that was
//! not seen yet has the rating everybody starts from.

mod elo;
mod glicko;
mod glicko2;
mod normal;
mod online;
mod trueskill;

pub use elo::{Elo, KFactor};
pub use glicko::Glicko;
pub use glicko2::{Glicko2, MOST_VOLATILITY};
pub use online::{Online, Strength};
pub use trueskill::{Dynamics, Skill, TrueSkill};
