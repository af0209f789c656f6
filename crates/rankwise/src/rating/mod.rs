//! Ratings: one number per player, learnt from games.
//!
//! Players are the numbers of [`Games`](crate::data::Games). *Online* systems ([`Online`]: [`Elo`], [`Glicko`],
//! [`Glicko2`], [`TrueSkill`]) go through the games in order of time and move the ratings of who plays; a player that was
//! not seen yet has the rating everybody starts from. [`OnlineRating`] says which system and how, and runs it over games;
//! [`Chances`] turn what it thought before each game into probabilities. [`LeaderboardPlan`] makes a leaderboard by any system.

mod board;
mod chances;
mod elo;
mod glicko;
mod glicko2;
mod leaderboard;
mod likelihood;
mod normal;
mod online;
mod parts;
mod resample;
mod run;
mod trueskill;

pub use board::{Estimate, Level, POINTS, Record, Standing, standings};
pub use chances::{Chances, Free};
pub use elo::{Elo, KFactor};
pub use glicko::Glicko;
pub use glicko2::{Glicko2, MOST_VOLATILITY};
pub use leaderboard::{
    IntervalFacts, IntervalMethod, Leaderboard, LeaderboardPlan, PairChances, RatingSystem, RatingUnit, SystemFacts,
    first_names, plain_name, short_name,
};
pub use likelihood::{DavidsonRating, DavidsonRatings, DavidsonResamples, Effect, FIRST_SIDE, StandardErrors};
pub use online::{Online, Strength};
pub use parts::Parts;
pub use resample::{MOST_RESAMPLED, Resamples};
pub use run::{Advantage, OnlineRating, OnlineRatings, System};
pub use trueskill::{Dynamics, Skill, TrueSkill};
