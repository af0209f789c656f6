//! What all systems have in common that go through the games in order of time.

use std::f64::consts::LN_10;

use crate::data::Game;
use crate::error::{Error, Result};

/// Logits in a point of Elo's scale: 400 points are odds of ten to one.
pub(super) const LOGITS_PER_POINT: f64 = LN_10 / 400.0;
/// Heavier games weigh this much, so that no sum of them leaves the numbers there are.
pub(super) const MOST_WEIGHT: f64 = 1e100;

/// How good a player is thought to be, and how unsure that is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strength {
    /// The rating.
    pub rating: f64,
    /// Its standard deviation; 0 in systems that do not say.
    pub deviation: f64,
}

impl Strength {
    /// Checks that a rating is finite and its deviation above 0, and that squares of it are numbers.
    pub(super) fn check(self) -> Result<()> {
        if !self.rating.is_finite() {
            return Err(Error::parameter("rating", self.rating, "a finite number"));
        }
        if !(self.deviation > 0.0 && self.deviation <= 1e100) {
            return Err(Error::parameter("deviation", self.deviation, "a number above 0, and at most 1e100"));
        }
        Ok(())
    }
}

/// A system whose ratings move with every period of games.
pub trait Online: Send + Sync {
    /// What is thought of a player at a time, on the scale of Elo's ratings: 400 points are odds of ten to one.
    fn strength(&self, player: u32, time: f64) -> Strength;

    /// How much better the left player is thought to be before a game, its advantage included: the logarithm of the odds
    /// of winning against losing.
    fn margin(&self, game: &Game) -> f64;

    /// Moves the players of games that count as played at the same time: every game meets the strengths from before. A
    /// game of weight w counts w times. A period of one game is an update game by game.
    fn update(&mut self, period: &[Game]);
}

/// The games of a period that count, with their weights.
pub(super) fn counting(period: &[Game]) -> impl Iterator<Item = (&Game, f64)> {
    period.iter().filter(|game| game.weight > 0.0).map(|game| (game, game.weight.min(MOST_WEIGHT)))
}

/// When a period ends: at the last of its games that count.
pub(super) fn end(period: &[Game]) -> Option<f64> {
    counting(period).map(|(game, _)| game.time).max_by(f64::total_cmp)
}

/// Time from one moment to a later one, in lengths of a period; always finite, and 0 towards the past.
pub(super) fn elapsed(from: f64, to: f64, length: f64) -> f64 {
    ((to - from) / length).clamp(0.0, f64::MAX)
}

/// Checks a number of points for the first-named side.
pub(super) fn check_advantage(advantage: f64) -> Result<()> {
    match advantage.is_finite() {
        true => Ok(()),
        false => Err(Error::parameter("advantage", advantage, "a finite number")),
    }
}

/// Checks a length of time.
pub(super) fn check_period(length: f64) -> Result<()> {
    match length.is_finite() && length >= f64::MIN_POSITIVE {
        true => Ok(()),
        false => Err(Error::parameter("period", length, "a finite number above 0")),
    }
}
