//! Where the search for a machine begins whose C alone differs from that of another one.

use crate::problem::ItemDual;

/// Where a machine ended, in the solver's own numbers.
pub(super) struct Start {
    /// A weight per feature or landmark, or a coefficient per member.
    numbers: Vec<f64>,
    /// ‖Σ coefficient·Φ‖².
    square: f64,
}

impl Start {
    /// Weights, of which there may be none.
    pub(super) fn of_weights(weights: Vec<f64>) -> Self {
        Start { numbers: weights, square: 0.0 }
    }

    /// Coefficients of members, which sum to 0, so that a bias in their scores does not count.
    pub(super) fn of_members(coefficients: Vec<f64>, scores: &[f64]) -> Self {
        let square = coefficients.iter().zip(scores).map(|(t, score)| t * score).sum();
        Start { numbers: coefficients, square }
    }

    /// Weights to begin with.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.numbers.clone()
    }

    /// Coefficients to begin with: their multiple of the best dual value within new bounds. What was at its bound grows with
    /// it, what was free hardly does.
    pub(super) fn coefficients(&self, duals: &[ItemDual]) -> Vec<f64> {
        let (mut most, mut gain, mut curve) = (f64::INFINITY, 0.0, self.square);
        for (&t, dual) in self.numbers.iter().zip(duals).filter(|(t, _)| **t != 0.0) {
            let (bound, target) = if t > 0.0 { (dual.high, dual.above) } else { (dual.low, dual.below) };
            most = f64::min(most, bound / t);
            gain += t * target;
            curve += dual.shift * t * t;
        }
        let best = gain / curve;
        let factor = if best.is_finite() && best > 0.0 { best.min(most) } else { 1.0 };
        self.numbers.iter().map(|t| t * factor).collect()
    }
}
