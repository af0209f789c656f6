//! Newton's method on the likelihood: convex, so that a step with enough descent is all it takes.

use super::curvature::Curvature;
use super::slopes::{CellSlopes, Likelihood};

/// How a search ended.
pub(super) struct Ending {
    pub(super) is_converged: bool,
    pub(super) n_steps: u64,
}

/// When to be content, and with how many steps at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// The largest move of a step after which no other is needed, relative to the largest number.
    pub(super) step: f64,
    pub(super) max_steps: u64,
}

/// What is asked of the answer itself.
pub(super) const EXACT: Goal = Goal { step: 1e-10, max_steps: 200 };
/// What is asked of resamples: a fiftieth of a point.
pub(super) const ROUGH: Goal = Goal { step: 1e-4, max_steps: 50 };

/// Moves a point to the minimum.
pub(super) fn minimise(likelihood: &Likelihood<'_>, held: &[u32], goal: Goal, point: &mut [f64]) -> Ending {
    let mut slopes: Vec<CellSlopes> = Vec::new();
    let mut value = likelihood.value(point);
    let mut candidate = vec![0.0; point.len()];
    for n_steps in 1..=goal.max_steps {
        likelihood.cell_slopes(point, &mut slopes);
        let gradient = likelihood.gradient(point, &slopes);
        let mut step = gradient.clone();
        Curvature::new(likelihood, &slopes, held).solve(&mut step, goal.step.clamp(1e-6, 1e-3));
        let descent: f64 = step.iter().zip(&gradient).map(|(step, slope)| step * slope).sum();
        let largest = step.iter().fold(0.0f64, |most, step| most.max(step.abs()));
        let reach = point.iter().fold(1.0f64, |most, number| most.max(number.abs()));
        let is_last = largest <= goal.step * reach;
        // Far from the minimum the curvature promises too much: half as much, and half of that, until it holds. Close to it
        // the value cannot show that the step is right.
        let shows = descent > 1e-11 * value.abs();
        let mut length = 1.0f64;
        loop {
            for ((candidate, point), step) in candidate.iter_mut().zip(point.iter()).zip(&step) {
                *candidate = point - length * step;
            }
            let found = likelihood.value(&candidate);
            if !shows || found <= value - 1e-4 * length * descent {
                value = found;
                break;
            }
            length *= 0.5;
            if length < 1e-10 {
                return Ending { is_converged: is_last, n_steps };
            }
        }
        point.copy_from_slice(&candidate);
        if is_last && length == 1.0 {
            return Ending { is_converged: true, n_steps };
        }
    }
    Ending { is_converged: false, n_steps: goal.max_steps }
}
