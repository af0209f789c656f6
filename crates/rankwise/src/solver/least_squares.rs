//! A quadratic function of weights with ½‖w‖² in it: conjugate gradients, preconditioned by the Cholesky factor of the Hessian
//! where that is affordable, so that one or two steps are exact, else by its diagonal.

use super::Limits;
use super::cholesky::Cholesky;
use crate::math::{add_multiple, dot};
use crate::problem::LeastSquares;
use crate::progress::Stop;

/// The largest Hessian to factor, and the most multiplications that may take.
const MOST_FACTORED: usize = 2048;
const MOST_WORK: usize = 100_000_000_000;
/// With a factor at hand, steps go on until they gain no more; these are enough.
const MOST_EXACT: u64 = 8;
/// Steps without a smaller gradient after which there is none to be had.
const MOST_IDLE: u64 = 100;
/// Steps between two gradients that are computed anew.
const FRESH: u64 = 25;

/// Where the search ended.
pub(crate) struct Minimum {
    pub(crate) weights: Vec<f64>,
    pub(crate) value: f64,
    /// ½‖gradient‖², which is the gap to the dual value of the residuals.
    half_square: f64,
    pub(crate) steps: u64,
    /// The limit that stopped it, or `None`: the tolerance was met.
    pub(crate) stop: Option<Stop>,
}

impl Minimum {
    /// (primal − dual)/max(primal, 1e-12)
    pub(crate) fn gap(&self) -> f64 {
        (self.half_square / self.value.max(1e-12)).min(1.0)
    }
}

enum Preconditioner {
    Factor(Cholesky),
    Diagonal(Vec<f64>),
}

impl Preconditioner {
    fn solve(&self, residual: &[f64]) -> Vec<f64> {
        match self {
            Preconditioner::Factor(factor) => {
                let mut x = residual.to_vec();
                factor.solve(&mut x);
                x
            }
            Preconditioner::Diagonal(diagonal) => residual.iter().zip(diagonal).map(|(r, d)| r / d).collect(),
        }
    }
}

/// Minimises from 0.
pub(crate) fn minimise(problem: &dyn LeastSquares, limits: Limits<'_>) -> Minimum {
    let dim = problem.dim();
    let is_exact = dim <= MOST_FACTORED && problem.hessian_work() <= MOST_WORK;
    let preconditioner = if is_exact {
        // 1 is the least pivot there can be, whatever rounding says.
        Preconditioner::Factor(Cholesky::new(problem.hessian(), dim, 1.0))
    } else {
        Preconditioner::Diagonal(problem.hessian_diagonal())
    };
    let at = |weights: Vec<f64>, steps: u64| {
        let (value, gradient) = problem.at(&weights);
        (Minimum { weights, value, half_square: 0.5 * dot(&gradient, &gradient), steps, stop: None }, gradient)
    };
    let (mut here, mut gradient) = at(vec![0.0; dim], 0);
    let mut best = Minimum { weights: here.weights.clone(), ..here };
    let mut direction: Vec<f64> = vec![0.0; dim];
    let (mut product, mut n_idle) = (0.0, 0);
    loop {
        let steps = here.steps;
        let is_met = best.gap() <= limits.tol;
        let is_done = if is_exact { n_idle >= 2 || steps >= MOST_EXACT } else { is_met };
        if best.half_square == 0.0 || (is_met && is_done) {
            best.stop = None;
            best.steps = steps;
            return best;
        }
        let limit = limits.reached(steps, best.gap());
        let stop = if !best.value.is_finite() || n_idle >= MOST_IDLE { Some(Stop::Stalled) } else { limit };
        // An answer that is good enough stays one.
        if let Some(stop) = stop {
            best.stop = (!is_met).then_some(stop);
            best.steps = steps;
            return best;
        }
        let solved = preconditioner.solve(&gradient);
        let next = dot(&gradient, &solved);
        let ratio = if product > 0.0 { next / product } else { 0.0 };
        product = next;
        direction.iter_mut().zip(&solved).for_each(|(d, s)| *d = ratio * *d - s);
        let image = problem.hessian_times(&direction);
        let size = product / dot(&direction, &image);
        if !size.is_finite() {
            best.stop = (!is_met).then_some(Stop::Stalled);
            return best;
        }
        let mut weights = std::mem::take(&mut here.weights);
        add_multiple(&mut weights, size, &direction);
        let is_fresh = is_exact || (steps + 1).is_multiple_of(FRESH);
        if is_fresh {
            (here, gradient) = at(weights, steps + 1);
        } else {
            // The same by recurrence, without a read: the value falls by half of size·product.
            add_multiple(&mut gradient, size, &image);
            let (value, half_square) = (here.value - 0.5 * size * product, 0.5 * dot(&gradient, &gradient));
            here = Minimum { weights, value, half_square, steps: steps + 1, stop: None };
            if here.gap() <= limits.tol {
                // Only what was computed anew counts.
                (here, gradient) = at(std::mem::take(&mut here.weights), steps + 1);
            }
        }
        n_idle = if here.half_square < best.half_square { 0 } else { n_idle + 1 };
        if here.half_square < best.half_square || here.value < best.value * (1.0 - 1e-12) {
            best = Minimum { weights: here.weights.clone(), ..here };
        }
    }
}
