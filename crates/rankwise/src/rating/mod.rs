//! Ratings: one number per player that every game moves.
//!
//! Players are the numbers of [`Games`](crate::data::Games); a player that was not seen yet has the rating everybody
//! starts from.

mod elo;
mod glicko;

pub use elo::{Elo, KFactor};
pub use glicko::{Glicko, Strength};
