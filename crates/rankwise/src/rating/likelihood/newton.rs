//! Newton's method on the likelihood: convex, so that a step with enough descent is all it takes.

use super::curvature::Curvature;
use super::slopes::{CellSlopes, Likelihood};
use crate::error::Result;
use crate::progress::{Watch, keep_going};

/// How a search ended.
pub(super) struct Ending {
    pub(super) is_converged: bool,
    pub(super) n_steps: u64,
    /// Whether nothing is left in the end that tells some effect from any other.
    pub(super) is_blind: bool,
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

/// No difference between players, no effect and no θ moves farther in one step: odds of 22,000 to 1.
const LONGEST: f64 = 10.0;
/// A slope per game that is nothing but rounding.
pub(super) const FLAT: f64 = 1e-13;
/// Effects and θ beyond this are out of the reach of e^x.
const LIMIT: f64 = 600.0;

/// Moves a point to the minimum.
///
/// The slope along a step says most of what is to be known of its end: if it still points down, the value is lower there, because
/// the function is convex. Only beyond the lowest point the value itself is asked.
pub(super) fn minimise(
    likelihood: &Likelihood<'_>,
    held: &[u32],
    goal: Goal,
    point: &mut [f64],
    watch: &dyn Watch,
) -> Result<Ending> {
    let mut slopes: Vec<CellSlopes> = Vec::new();
    likelihood.cell_slopes(point, &mut slopes);
    let mut gradient = likelihood.gradient(point, &slopes);
    let mut candidate = vec![0.0; point.len()];
    for n_steps in 1..=goal.max_steps {
        keep_going(watch, n_steps as usize)?;
        let mut step = gradient.clone();
        let curvature = Curvature::of_step(likelihood, &slopes, held);
        let is_blind = curvature.is_blind(likelihood.cells.n_effects);
        curvature.solve(&mut step, likelihood.precision(1e-3));
        let descent = along(&step, &gradient);
        let largest = step.iter().fold(0.0f64, |most, step| most.max(step.abs()));
        let reach = point.iter().fold(1.0f64, |most, number| most.max(number.abs()));
        // Less than rounding leaves of the value cannot be gained, whatever the step.
        let is_flat = || descent <= 4.0 * f64::EPSILON * likelihood.value(point).abs();
        // Nor can more points be made where those made and expected are the same, however far some rating might still go.
        let is_even = || likelihood.unevenness(&gradient) <= FLAT;
        let is_last = largest <= goal.step * reach || ((largest <= 1e-3 * reach || is_even()) && is_flat());
        let n = likelihood.n_players();
        let extra = point[n..].iter().fold(0.0f64, |most, number| most.max(number.abs()));
        if !(largest.is_finite() && extra <= LIMIT) {
            return Ok(Ending { is_converged: false, n_steps, is_blind });
        }
        let farthest = step[n..].iter().fold(likelihood.farthest(&step), |most, step| most.max(step.abs()));
        let mut length = (LONGEST / farthest).min(1.0);
        let mut value = None;
        loop {
            for ((candidate, point), step) in candidate.iter_mut().zip(point.iter()).zip(&step) {
                *candidate = point - length * step;
            }
            likelihood.cell_slopes(&candidate, &mut slopes);
            gradient = likelihood.gradient(&candidate, &slopes);
            // Close to the minimum the value could not show that the step is right.
            if is_last || along(&step, &gradient) >= 0.0 {
                break;
            }
            let value = *value.get_or_insert_with(|| likelihood.value(point));
            if likelihood.value(&candidate) <= value - 1e-4 * length * descent {
                break;
            }
            length *= 0.5;
            if length < 1e-10 {
                return Ok(Ending { is_converged: is_flat(), n_steps, is_blind });
            }
        }
        point.copy_from_slice(&candidate);
        if is_last {
            return Ok(Ending { is_converged: true, n_steps, is_blind });
        }
    }
    Ok(Ending { is_converged: false, n_steps: goal.max_steps, is_blind: false })
}

fn along(step: &[f64], gradient: &[f64]) -> f64 {
    step.iter().zip(gradient).map(|(step, slope)| step * slope).sum()
}
