//! The objective of a linear machine on pairs at the weights that its model has.

use super::pair_solution::{By, Instance, Margins, Solution};
use crate::data::Outcome;
use crate::kernel::KernelFunction;
use crate::math::dot;
use crate::problem::Task;
use crate::progress::Stop;

impl Instance<'_, '_> {
    /// Weights are sums over pairs that may have lost digits which the coefficients of pairs still have, where C or features
    /// are huge. The model has weights: its objective is theirs, and so is the gap.
    pub(super) fn settle_for_weights(&self, solution: &mut Solution<'_>, dual: f64) {
        let By::Duals { problem, state } = &solution.by else { return };
        if self.exact.kernel() != KernelFunction::Linear || solution.is_constant {
            return;
        }
        let weights = problem.feature_weights(&state.duals);
        let scores = self.data.set.items.features.times(&weights);
        let mut primal = 0.5 * dot(&weights, &weights);
        for (k, (pair, &outcome)) in self.data.set.pairs.iter().zip(&self.data.outcomes).enumerate() {
            let margin = scores[pair.right as usize] - scores[pair.left as usize];
            let z = f64::from(outcome.sign()) * margin;
            let beta = solution.beta.unwrap_or(0.0);
            let loss = |t: f64| self.loss.value(t);
            let both = |t: f64| loss(t + margin) + loss(t - margin);
            let cost = self.costs.of(k, outcome);
            if cost > 0.0 {
                primal += cost
                    * match (self.task, outcome == Outcome::Tie) {
                        (Task::Compare { .. }, false) => loss(1.0 - beta - z),
                        (Task::Compare { .. }, true) => both(1.0 + beta),
                        (Task::Rank2, false) => 2.0 * loss(1.0 - z),
                        (Task::Rank2, true) => both(1.0),
                        (_, false) => loss(1.0 - z),
                        (_, true) => 0.0,
                    };
            }
        }
        if (primal - solution.objective).abs() <= 1e-9 * primal || !primal.is_finite() {
            return;
        }
        solution.objective = primal;
        solution.gap = (primal - dual) / primal.max(1e-12);
        solution.margins = Margins::OfScores(scores);
        if solution.gap > self.limits.tol && solution.stop == Stop::Converged {
            (solution.stop, solution.is_exact) = (Stop::Stalled, false);
        }
    }
}
