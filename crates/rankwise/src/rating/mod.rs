//! Ratings: one number per player, learnt from games.
//!
//! Players are the numbers of [`Games`](crate::data::Games). *Online* systems ([`Online`]: [`Elo`], [`Glicko`],
//! [`Glicko2`], [`TrueSkill`]) go through the games in order of time and move the ratings of who plays; a player that was
//! not seen yet has the rating everybody starts from. [`OnlineRating`] says which system and how, and runs it over games;
//! [`Chances`] turn what it thought before each game into probabilities.

mod chances;
mod elo;
mod glicko;
mod glicko2;
mod normal;
mod online;
mod resample;
mod run;
mod trueskill;

pub use chances::{Chances, Parts};
pub use elo::{Elo, KFactor};
pub use glicko::Glicko;
pub use glicko2::{Glicko2, MOST_VOLATILITY};
pub use online::{Online, Strength};
pub use resample::{MOST_RESAMPLED, Resamples};
pub use run::{Advantage, OnlineRating, OnlineRatings, System};
pub use trueskill::{Dynamics, Skill, TrueSkill};
