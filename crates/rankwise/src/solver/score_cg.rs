//! Newton's step for losses of scores s = K·a with the norm a·K a, by conjugate gradients on the change of the scores.
//!
//! With ρ the coefficients of the gradient and H the curvature of the losses, the step is the δ with (I + H·K)δ = −ρ. Its
//! scores t = K δ solve (I + K·H)t = −K ρ, which is self-adjoint in the inner product of H; and δ = −ρ − H·t. One product
//! with K for each step, and a preconditioner may be made of anything that stands for K. Whatever t is, coefficients change
//! by −ρ and by what the losses make of t: they sum to 0 wherever those do.

use crate::math::{add_multiple, dot};
use crate::problem::ScoreSpace;

/// Steps of conjugate gradients for one step of Newton.
const MOST_INNER: usize = 100;

/// About the step from a gradient, which is coefficients with their scores behind them, like the step: until half the square
/// of what is left of the model's gradient falls to about `goal`.
pub(super) fn step(space: &mut dyn ScoreSpace, gradient: &[f64], goal: f64, is_over: impl Fn() -> bool) -> Vec<f64> {
    let n = gradient.len() / 2;
    let mut step: Vec<f64> = gradient.iter().map(|g| -g).collect();
    space.renew();
    let mut residual = step[n..].to_vec();
    let mut direction = space.about_inverse(&residual);
    let mut of_residual = space.curvature_times(&residual);
    let mut square = dot(&direction, &of_residual);
    for n_done in 0..MOST_INNER {
        // To look costs a part of a step: every other time will do.
        let is_solved =
            (n_done == 1 || (n_done > 0 && n_done % 2 == 0)) && 0.5 * space.about_square(&of_residual) <= goal;
        if is_solved || square <= 0.0 || square.is_nan() || is_over() {
            break;
        }
        let change = space.curvature_times(&direction);
        let scores = space.scores(&change);
        let size = square / (dot(&change, &direction) + dot(&change, &scores));
        if !size.is_finite() {
            break;
        }
        add_multiple(&mut step[..n], -size, &change);
        add_multiple(&mut step[n..], -size, &scores);
        add_multiple(&mut residual, -size, &direction);
        add_multiple(&mut residual, -size, &scores);
        let preconditioned = space.about_inverse(&residual);
        of_residual = space.curvature_times(&residual);
        let next = dot(&preconditioned, &of_residual);
        let ratio = next / square;
        square = next;
        direction.iter_mut().zip(&preconditioned).for_each(|(p, z)| *p = z + ratio * *p);
    }
    step
}
