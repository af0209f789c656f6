//! Where the search for a machine begins whose C alone differs from that of another one.

use crate::problem::ItemDual;

/// Where a machine ended, in the solver's own numbers.
pub(super) struct Start {
    /// One per feature or landmark; none where the dual has no weights.
    weights: Vec<f64>,
    /// One per member; none where there was no dual search.
    coefficients: Vec<f64>,
    /// ‖Σ coefficient·Φ‖².
    square: f64,
}

impl Start {
    /// Weights, of which there may be none.
    pub(super) fn of_weights(weights: Vec<f64>) -> Self {
        Start { weights, coefficients: Vec::new(), square: 0.0 }
    }

    /// Coefficients of members, which sum to 0, so that a bias in their scores does not count.
    pub(super) fn of_members(coefficients: Vec<f64>, scores: &[f64]) -> Self {
        let square = coefficients.iter().zip(scores).map(|(t, score)| t * score).sum();
        Start { weights: Vec::new(), coefficients, square }
    }

    /// The same, with the weights that the coefficients make.
    pub(super) fn with_weights(self, weights: Vec<f64>) -> Self {
        Start { weights, ..self }
    }

    /// Whether a dual search led here.
    pub(super) fn has_coefficients(&self) -> bool {
        !self.coefficients.is_empty()
    }

    /// Weights to begin with.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.weights.clone()
    }

    /// Coefficients to begin with: their multiple of the best dual value within new bounds. What was at its bound grows with
    /// it, what was free hardly does. `None` where there are none.
    pub(super) fn coefficients(&self, duals: &[ItemDual]) -> Option<Vec<f64>> {
        if self.coefficients.len() != duals.len() {
            return None;
        }
        let (mut most, mut gain, mut curve) = (f64::INFINITY, 0.0, self.square);
        for (&t, dual) in self.coefficients.iter().zip(duals).filter(|(t, _)| **t != 0.0) {
            let (bound, target) = if t > 0.0 { (dual.high, dual.above) } else { (dual.low, dual.below) };
            most = f64::min(most, bound / t);
            gain += t * target;
            curve += dual.shift * t * t;
        }
        let best = gain / curve;
        let factor = if best.is_finite() && best > 0.0 { best.min(most) } else { 1.0 };
        Some(self.coefficients.iter().map(|t| t * factor).collect())
    }
}
