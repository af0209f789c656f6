//! What all systems have in common that go through the games in order of time.

use crate::data::Game;
use crate::error::{Error, Result};

/// How good a player is thought to be, and how unsure that is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strength {
    /// The rating.
    pub rating: f64,
    /// Its standard deviation; 0 in systems that do not say.
    pub deviation: f64,
}

impl Strength {
    /// Checks that a rating is finite and its deviation above 0.
    pub(super) fn check(self) -> Result<()> {
        if !self.rating.is_finite() {
            return Err(Error::parameter("rating", self.rating, "a finite number"));
        }
        if !(self.deviation.is_finite() && self.deviation > 0.0) {
            return Err(Error::parameter("deviation", self.deviation, "a finite number above 0"));
        }
        Ok(())
    }
}

/// A system whose ratings move with every period of games.
pub trait Online: Send {
    /// What is thought of a player at a time, on the scale of Elo's ratings: 400 points are odds of ten to one.
    fn strength(&self, player: u32, time: f64) -> Strength;

    /// How much better the left player is thought to be before a game, its advantage included: the logarithm of the odds
    /// of winning against losing.
    fn margin(&self, game: &Game) -> f64;

    /// Moves the players of games that count as played at the same time: every game meets the strengths from before. A
    /// game of weight w counts w times. A period of one game is an update game by game.
    fn update(&mut self, period: &[Game]);
}
