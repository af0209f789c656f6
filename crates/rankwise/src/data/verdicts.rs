//! What is said of pairs: margins, and which of them are too small to matter.

use super::Outcome;

/// What a model says of pairs.
#[derive(Debug, Clone)]
pub struct Verdicts {
    /// score(right) − score(left)
    pub margins: Vec<f64>,
    /// The difference that does not matter, where it is the same for all pairs; else its mean in training.
    pub threshold: f64,
    /// The difference that does not matter, for each pair; `None`: [`Verdicts::threshold`], for all.
    pub thresholds: Option<Vec<f64>>,
    /// With a tie band, how far beyond its own threshold each pair is: not above 0 is a tie. Without one, thresholds tell.
    pub excess: Option<Vec<f64>>,
    /// P(left), P(tie), P(right), where there are probabilities.
    pub chances: Option<Vec<[f64; 3]>>,
}

impl Verdicts {
    /// Margins with one threshold for all pairs.
    pub fn plain(margins: Vec<f64>, threshold: f64) -> Self {
        Verdicts { margins, threshold, thresholds: None, excess: None, chances: None }
    }

    /// The difference that does not matter for pair `k`.
    pub fn threshold_of(&self, k: usize) -> f64 {
        self.thresholds.as_ref().map_or(self.threshold, |all| all[k])
    }

    /// The predicted outcome of pair `k`.
    pub fn outcome(&self, k: usize) -> Outcome {
        predicted(self.margins[k], self.threshold, self.excess.as_ref().map(|all| all[k]))
    }

    /// The predicted outcomes.
    pub fn outcomes(&self) -> Vec<Outcome> {
        (0..self.margins.len()).map(|k| self.outcome(k)).collect()
    }
}

/// The outcome that follows from a margin: a tie where it is 0, and up to the threshold, which with a tie band is where the
/// excess is 0.
pub(crate) fn predicted(margin: f64, threshold: f64, excess: Option<f64>) -> Outcome {
    match excess {
        Some(excess) if excess <= 0.0 => Outcome::Tie,
        Some(_) => Outcome::of_margin(margin, 0.0),
        None => Outcome::of_margin(margin, threshold),
    }
}
