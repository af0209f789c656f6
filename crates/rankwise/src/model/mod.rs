//! Fitted things: how they score and compare, and what is known of their training.

mod check;
mod number;
mod online;
mod scorer;
mod training;
mod tuning;

pub use online::{Batch, OnlineState, OnlineTraining, Schedule, Task};
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
    /// Of a classifier its two classes: scores below 0 mean the first one, others the second.
    pub classes: Option<Vec<String>>,
    /// Where random steps stopped, from which they can go on.
    pub state: Option<OnlineState>,
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

    /// The class that a score means; `None` if this is no classifier.
    pub fn class_of(&self, score: f64) -> Option<&str> {
        self.classes.as_ref()?.get(usize::from(score >= 0.0)).map(String::as_str)
    }

    /// The predicted outcome for a margin.
    pub fn outcome_of(&self, margin: f64) -> Outcome {
        Outcome::of_margin(margin, self.threshold)
    }
}
