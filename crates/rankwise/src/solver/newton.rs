//! Newton's method for smooth primal problems: the step solves H·s = −g, by Cholesky where the Hessian is small enough to be
//! formed, by preconditioned conjugate gradients elsewhere; backtracking keeps the value falling. The functions here are
//! piecewise quadratic, so that the search usually ends after a few steps, exactly.

use std::time::Instant;

use super::Limits;
use super::cholesky::Cholesky;
use crate::math::dot;
use crate::problem::{PrimalPoint, SmoothPrimal};
use crate::progress::Stop;

/// Multiplications that forming a Hessian may take, and the largest one to form.
const MOST_WORK: usize = 2_000_000_000;
const MOST_WEIGHTS: usize = 1024;
/// Steps after which the rest is left to others.
const MOST_STEPS: u64 = 200;

/// The point where the search ended, the steps it took, and the limit that stopped it, if any.
pub(crate) fn minimise(problem: &dyn SmoothPrimal, limits: Limits<'_>) -> (PrimalPoint, u64, Option<Stop>) {
    let mut weights = vec![0.0; problem.dim()];
    let mut point = problem.at(&weights);
    let is_small = problem.dim() <= MOST_WEIGHTS && problem.hessian_work() <= MOST_WORK;
    for steps in 0..MOST_STEPS {
        let half_square = 0.5 * dot(&point.gradient, &point.gradient);
        let gap = half_square / point.value.max(1e-12);
        if gap <= 1e-6 * limits.tol {
            return (point, steps, None);
        }
        if let Some(stop) = limits.reached(steps, gap) {
            return (point, steps, Some(stop));
        }
        let step = if is_small {
            solve_dense(problem.hessian(&point), &point.gradient)
        } else {
            solve_by_gradients(problem, &point, limits)
        };
        let slope = dot(&point.gradient, &step);
        let mut size = 1.0;
        let better = loop {
            let trial: Vec<f64> = weights.iter().zip(&step).map(|(w, s)| w + size * s).collect();
            let next = problem.at(&trial);
            if next.value <= point.value + 1e-4 * size * slope {
                weights = trial;
                break Some(next);
            }
            size *= 0.5;
            if size < 1e-8 {
                break None;
            }
        };
        match better {
            Some(next) if slope < 0.0 => {
                let gained = point.value - next.value;
                point = next;
                if gained <= 1e-15 * point.value {
                    return (point, steps + 1, None);
                }
            }
            _ => return (point, steps + 1, None), // as exact as floating point allows
        }
    }
    (point, MOST_STEPS, None)
}

/// −H⁻¹g from the lower triangle of H, by Cholesky.
fn solve_dense(hessian: Vec<f64>, gradient: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = gradient.iter().map(|g| -g).collect();
    // H ≥ I, so that a smaller pivot is rounding.
    Cholesky::new(hessian, x.len(), 1.0).solve(&mut x);
    x
}

/// About −H⁻¹g, by conjugate gradients with the diagonal as preconditioner.
fn solve_by_gradients(problem: &dyn SmoothPrimal, point: &PrimalPoint, limits: Limits<'_>) -> Vec<f64> {
    let diagonal = problem.hessian_diagonal(point);
    let scaled = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, m)| r / m).collect::<Vec<f64>>();
    let mut x = vec![0.0; point.gradient.len()];
    let mut residual: Vec<f64> = point.gradient.iter().map(|g| -g).collect();
    let mut preconditioned = scaled(&residual);
    let mut direction = preconditioned.clone();
    let mut square = dot(&residual, &preconditioned);
    let goal = 1e-10 * square;
    for _ in 0..500 {
        if square <= goal || limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break;
        }
        let image = problem.hessian_times(point, &direction);
        let size = square / dot(&direction, &image);
        x.iter_mut().zip(&direction).for_each(|(x, p)| *x += size * p);
        residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= size * i);
        preconditioned = scaled(&residual);
        let next = dot(&residual, &preconditioned);
        let ratio = next / square;
        square = next;
        direction.iter_mut().zip(&preconditioned).for_each(|(p, z)| *p = z + ratio * *p);
    }
    x
}
