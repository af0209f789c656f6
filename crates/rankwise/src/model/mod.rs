//! Fitted things: how they score and compare, and what is known of their training.

mod check;
mod number;
mod scorer;
mod training;
mod tuning;

pub use scorer::{ScoreFunction, Scorer};
pub use training::{Balance, LearntFrom, Method, ThresholdRule, TieRegion, TieShare, Training};
pub use tuning::{EQUAL_MEANS, Tuning, TuningBaseline, TuningPoint, TuningSplit};

use crate::data::{Outcome, PairSet};
use crate::error::Result;

/// A fitted comparer: a ranking function r and the difference that does not matter.
///
/// margin = r(right) − r(left); a pair with |margin| ≤ threshold is a tie.
#[derive(Debug, Clone)]
pub struct Model {
    /// The ranking function r.
    pub scorer: Scorer,
    /// τ ≥ 0.
    pub threshold: f64,
    /// β of the comparison machine: the machine's own threshold is −β in units of u = −β·r. `None` for rankers.
    pub beta: Option<f64>,
    /// The machine itself found no region of ties (β ≥ 0, or no ties in the data); scores are then u itself.
    pub no_tie_region: bool,
    /// How it was trained.
    pub training: Training,
}

impl Model {
    /// score(right) − score(left) for every pair. Features are matched by name where both sides have names.
    pub fn margins(&self, set: &PairSet) -> Result<Vec<f64>> {
        let scores = self.scorer.scores(&set.items)?;
        Ok(set.pairs.iter().map(|p| scores[p.right as usize] - scores[p.left as usize]).collect())
    }

    /// The predicted outcome of every pair.
    pub fn compare(&self, set: &PairSet) -> Result<Vec<Outcome>> {
        Ok(self.margins(set)?.into_iter().map(|m| self.outcome_of(m)).collect())
    }

    /// The predicted outcome for a margin.
    pub fn outcome_of(&self, margin: f64) -> Outcome {
        Outcome::of_margin(margin, self.threshold)
    }
}
