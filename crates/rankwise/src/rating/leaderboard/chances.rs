//! What a leaderboard says of any two of its players.

use crate::rating::Chances;

/// Win, tie and loss between any two players on neutral ground. Everything there is to know, as plain numbers: who keeps these keeps
/// the chances.
#[derive(Debug, Clone, PartialEq)]
pub struct PairChances {
    /// The rating of every player; without one, any number.
    pub ratings: Vec<f64>,
    /// How sure it is, in the same unit; 0 where that plays no part.
    pub deviations: Vec<f64>,
    /// Players with equal numbers can be compared; `None` with nobody.
    pub scales: Vec<Option<u32>>,
    /// The logits of a unit of difference, between players of whom everything is known.
    pub slope: f64,
    /// By how much of a squared deviation that is less: the margin is divided by √(1 + blur·(both deviations squared)).
    pub blur: f64,
    /// From margins to probabilities.
    pub chances: Chances,
}

impl PairChances {
    /// Win, tie and loss of the first of two players against the second one; `None` where nothing is known of their difference.
    pub fn of(&self, left: u32, right: u32) -> Option<[f64; 3]> {
        let [a, b] = [left, right].map(|player| player as usize);
        let scale = (*self.scales.get(a)?)?;
        if *self.scales.get(b)? != Some(scale) {
            return None;
        }
        let mut margin = self.slope * (self.ratings[a] - self.ratings[b]);
        if self.blur > 0.0 {
            margin /= (1.0 + self.blur * (self.deviations[a].powi(2) + self.deviations[b].powi(2))).sqrt();
        }
        Some(self.chances.of(margin, true))
    }
}
