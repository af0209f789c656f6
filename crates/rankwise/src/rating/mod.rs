//! Ratings: one number per player, learnt from games.
//!
//! Players are the numbers of [`Games`](crate::data::Games). *Online* systems ([`Online`]: [`Elo`], [`Glicko`]) go
//! through the games in order of time and move the ratings of who plays; a player that was not seen yet has the rating
//! everybody starts from.

mod board;
mod elo;
mod glicko;
mod likelihood;
mod online;
mod parts;

pub use board::{Estimate, Level, POINTS, Record, Standing, standings};
pub use elo::{Elo, KFactor};
pub use glicko::Glicko;
pub use likelihood::{DavidsonRating, DavidsonRatings, Effect, FIRST_SIDE, DavidsonResamples, StandardErrors};
pub use online::{Online, Strength};
pub use parts::Parts;
