//! Newton's method on ½‖w‖² + a sum over blocks of data, which is all it sees: steps by conjugate gradients, one read of
//! the data each.
//!
//! What saves reads: a start from a thinned sum; a preconditioner from a sketch of the Hessian, where that costs little
//! beside the reads it saves, from its diagonal elsewhere; a step that is solved no further than the model of the
//! function is good, nor than the tolerance asks; and full steps, which need one read for value, gradient and
//! certificate together.

use super::Limits;
use super::cholesky::Cholesky;
use crate::math::{add_multiple, dot};
use crate::problem::{BlockSums, SumPoint};
use crate::progress::Stop;
use rayon::prelude::*;

/// Steps of conjugate gradients for one step of Newton.
const MOST_INNER: usize = 250;
/// Trials of the size of a step.
const MOST_TRIALS: usize = 40;
/// Steps without any gain after which there is none to be had.
const MOST_IDLE: usize = 5;
/// How far a step is solved for at first, and at the most, relative to the gradient.
const FORCING: f64 = 0.25;
const LEAST_FORCING: f64 = 1e-3;
/// A sum that reads fewer numbers is not worth thinning.
const WORTH_THINNING: usize = 1 << 20;
/// The gap to which a thinned sum is minimised; what it stands for is not known better.
const THINNED_TOL: f64 = 1e-3;
/// The largest sketch to factor, and how many vectors it has for each weight.
const MOST_SKETCHED: usize = 2048;
const SKETCHED_PER_WEIGHT: usize = 16;

/// Where a search ended.
pub(crate) struct Minimum {
    pub(crate) weights: Vec<f64>,
    /// What the sum says there.
    pub(crate) point: SumPoint,
    /// Steps of Newton's method.
    pub(crate) steps: u64,
    /// The limit that stopped it, or `None`: the tolerance was met.
    pub(crate) stop: Option<Stop>,
}

impl Minimum {
    /// ½‖w‖² + the loss that is meant.
    pub(crate) fn primal(&self) -> f64 {
        primal(&self.weights, self.point.meant)
    }

    /// (primal − dual)/max(primal, 1e-12), with the better one of two dual values: that of the losses' slopes, and 0.
    pub(crate) fn gap(&self) -> f64 {
        gap(&self.weights, &self.point)
    }
}

fn primal(weights: &[f64], losses: f64) -> f64 {
    0.5 * dot(weights, weights) + losses
}

fn gap(weights: &[f64], point: &SumPoint) -> f64 {
    let gap = half_square_of_gradient(weights, point) + point.excess;
    (gap / primal(weights, point.meant).max(1e-12)).min(1.0)
}

fn half_square_of_gradient(weights: &[f64], point: &SumPoint) -> f64 {
    0.5 * weights.iter().zip(&point.gradient).map(|(w, g)| (w + g) * (w + g)).sum::<f64>()
}

/// Minimises from `start`, or from the best start to be had.
pub(crate) fn minimise(sums: &mut dyn BlockSums, start: Option<Vec<f64>>, limits: Limits<'_>) -> Minimum {
    let start = start.or_else(|| thinned_start(sums, limits)).unwrap_or_else(|| vec![0.0; sums.dim()]);
    Search::new(sums, limits).run(start)
}

/// The minimum of a thinned sum.
fn thinned_start(sums: &dyn BlockSums, limits: Limits<'_>) -> Option<Vec<f64>> {
    if sums.n_numbers() < WORTH_THINNING {
        return None;
    }
    let mut thinned = sums.thinned()?;
    let limits = Limits { tol: THINNED_TOL.max(limits.tol), ..limits };
    Some(minimise(&mut *thinned, None, limits).weights)
}

/// Whether value and slope at the end of a step are better than at its start, where the slope is negative. Values lose their
/// last digits in large sums while slopes do not; so a value that is no worse will do where the slope is much flatter
/// (approximate Wolfe conditions, Hager and Zhang 2005).
fn is_better(start: (f64, f64), end: (f64, f64), flatter: f64) -> bool {
    let ((value, slope), (end_value, end_slope)) = (start, end);
    end_value <= value + 1e-4 * slope || (end_value <= value * (1.0 + 1e-6) && end_slope <= flatter * slope.abs())
}

struct Search<'a, 'b> {
    sums: &'a mut dyn BlockSums,
    limits: Limits<'b>,
    /// Reads that conjugate gradients have used since the last sketch.
    reads: f64,
}

enum Preconditioner {
    Diagonal(Vec<f64>),
    Sketch(Cholesky),
}

impl Preconditioner {
    fn solve(&self, residual: &[f64]) -> Vec<f64> {
        match self {
            Preconditioner::Diagonal(diagonal) => residual.iter().zip(diagonal).map(|(r, m)| r / m).collect(),
            Preconditioner::Sketch(factor) => {
                let mut x = residual.to_vec();
                factor.solve(&mut x);
                x
            }
        }
    }
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(sums: &'a mut dyn BlockSums, limits: Limits<'b>) -> Self {
        Search { sums, limits, reads: 0.0 }
    }

    fn run(mut self, mut weights: Vec<f64>) -> Minimum {
        let tol = self.limits.tol;
        let mut point = self.sums.go_to(&weights);
        let mut preconditioner: Option<Preconditioner> = None;
        // How far to solve for a step, relative to the gradient.
        let mut forcing = FORCING;
        let (mut steps, mut n_idle, mut best) = (0, 0, (f64::INFINITY, f64::INFINITY));
        let stop = loop {
            let value = primal(&weights, point.value);
            let half_square = half_square_of_gradient(&weights, &point);
            // Zero weights may be as good as the tolerance asks, but they order nothing.
            let is_nothing = half_square > 0.0 && weights.iter().all(|&w| w == 0.0);
            if half_square <= tol * value.max(1e-12) && !is_nothing {
                break None;
            }
            if let Some(stop) = self.limits.reached(steps, gap(&weights, &point)) {
                break Some(stop);
            }
            let known = preconditioner.take().filter(|_| !self.wants_sketch());
            let preconditioner = preconditioner.insert(known.unwrap_or_else(|| self.precondition()));
            let gradient: Vec<f64> = weights.iter().zip(&point.gradient).map(|(w, g)| w + g).collect();
            // A quarter of what the tolerance asks: the model's gradient at the end of the step is not quite the true one.
            let goal = (0.25 * tol * value).max(forcing * forcing * half_square);
            let step = self.solve(preconditioner, &gradient, goal);
            let slope = dot(&gradient, &step);
            let mut next_weights: Vec<f64> = weights.iter().zip(&step).map(|(w, s)| w + s).collect();
            let mut next = self.sums.go_to(&next_weights);
            let slope_at_end = dot(&next_weights, &step) + dot(&next.gradient, &step);
            let found = half_square_of_gradient(&next_weights, &next);
            if is_better((value, slope), (primal(&next_weights, next.value), slope_at_end), 0.8) {
                // The model is worth solving as far as it holds.
                forcing = (0.5 * (found / half_square).sqrt()).clamp(LEAST_FORCING, FORCING);
            } else {
                // Too long: a better size is found without reading the data.
                let Some(back) = self.shorten(&next_weights, slope_at_end, &step, (value, slope)) else {
                    point = self.sums.go_to(&weights);
                    break Some(Stop::Stalled);
                };
                add_multiple(&mut next_weights, back, &step);
                next = self.sums.go_to(&next_weights);
                forcing = FORCING;
            }
            // Beyond what floating point can resolve, neither value nor gradient fall any more.
            let (next_value, next_square) =
                (primal(&next_weights, next.value), half_square_of_gradient(&next_weights, &next));
            let is_idle = next_value >= best.0 * (1.0 - 1e-13) && next_square >= 0.9 * best.1;
            n_idle = if is_idle { n_idle + 1 } else { 0 };
            best = (best.0.min(next_value), best.1.min(next_square));
            (weights, point) = (next_weights, next);
            steps += 1;
            if n_idle >= MOST_IDLE {
                break Some(Stop::Stalled);
            }
        };
        Minimum { weights, point, steps, stop }
    }

    /// How far to go back from the end of a step to where the function is about least along it. The slope is monotone, so
    /// that its zero lies between the start of the step and its end (regula falsi, Illinois).
    fn shorten(&mut self, end: &[f64], slope_at_end: f64, step: &[f64], start: (f64, f64)) -> Option<f64> {
        self.sums.aim(step);
        let slope = start.1;
        let (square, along, norm) = (dot(step, step), dot(end, step), 0.5 * dot(end, end));
        let (mut low, mut low_slope) = (-1.0, slope);
        let (mut high, mut high_slope) = (0.0, slope_at_end);
        for _ in 0..MOST_TRIALS {
            let between = low + (high - low) * (low_slope / (low_slope - high_slope));
            let back = if between > low && between < high { between } else { 0.5 * (low + high) };
            let (losses, losses_slope) = self.sums.along(back);
            let there = norm + back * along + 0.5 * back * back * square + losses;
            let there_slope = along + back * square + losses_slope;
            if is_better(start, (there, there_slope), 0.1) && there_slope.abs() <= 0.1 * slope.abs() {
                return Some(back);
            }
            if there_slope < 0.0 {
                (low, low_slope) = (back, there_slope);
                high_slope *= 0.5;
            } else {
                (high, high_slope) = (back, there_slope);
                low_slope *= 0.5;
            }
        }
        None
    }

    /// Multiplications of a sketch in units of one read.
    fn sketch_reads(&self) -> f64 {
        let dim = self.sums.dim() as f64;
        let products = SKETCHED_PER_WEIGHT as f64 * dim * dim * dim / 2.0 + dim * dim * dim / 6.0;
        products / (2.0 * self.sums.n_numbers().max(1) as f64)
    }

    /// Whether a new sketch would cost less than the reads since the last one.
    fn wants_sketch(&self) -> bool {
        self.sums.dim() <= MOST_SKETCHED && self.sketch_reads() <= self.reads
    }

    fn precondition(&mut self) -> Preconditioner {
        let dim = self.sums.dim();
        if self.wants_sketch() || (dim <= MOST_SKETCHED && self.sketch_reads() <= 1.0) {
            let sketch = self.sums.hessian_sketch(SKETCHED_PER_WEIGHT * dim);
            self.reads = 0.0;
            return Preconditioner::Sketch(Cholesky::new(one_plus_products(&sketch, dim), dim, 1.0));
        }
        let diagonal = self.sums.hessian_diagonal();
        Preconditioner::Diagonal(diagonal.into_iter().map(|d| 1.0 + d).collect())
    }

    /// About −H⁻¹·gradient: until half the square of the model's gradient falls to `goal`.
    fn solve(&mut self, preconditioner: &Preconditioner, gradient: &[f64], goal: f64) -> Vec<f64> {
        let mut step = vec![0.0; gradient.len()];
        let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut direction = preconditioner.solve(&residual);
        let mut square = dot(&residual, &direction);
        let mut left = 0.5 * dot(&residual, &residual);
        for n_done in 0..MOST_INNER {
            let is_solved = left <= goal && n_done > 0;
            if is_solved || square <= 0.0 || square.is_nan() || self.limits.is_over() {
                break;
            }
            let mut image = self.sums.hessian_times(&direction);
            self.reads += 1.0;
            image.iter_mut().zip(&direction).for_each(|(i, d)| *i += d);
            let size = square / dot(&direction, &image);
            add_multiple(&mut step, size, &direction);
            add_multiple(&mut residual, -size, &image);
            left = 0.5 * dot(&residual, &residual);
            let preconditioned = preconditioner.solve(&residual);
            let next = dot(&residual, &preconditioned);
            let ratio = next / square;
            square = next;
            direction.iter_mut().zip(&preconditioned).for_each(|(p, z)| *p = z + ratio * *p);
        }
        step
    }
}

/// I + Σ x xᵀ over vectors of length `dim`, one after the other; the lower triangle.
fn one_plus_products(vectors: &[f64], dim: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; dim * dim];
    (0..dim).for_each(|at| matrix[at * dim + at] = 1.0);
    matrix.par_chunks_mut(dim.max(1) * 16).enumerate().for_each(|(tile, rows)| {
        for vector in vectors.chunks_exact(dim) {
            for (k, row) in rows.chunks_exact_mut(dim).enumerate() {
                let at = tile * 16 + k;
                add_multiple(&mut row[..=at], vector[at], &vector[..=at]);
            }
        }
    });
    matrix
}
