//! Newton's method on ½‖w‖² + a sum over blocks of data, which is all it sees. It counts reads of the data.
//!
//! What saves reads: a start from a thinned sum; a sketch of the Hessian from some pairs, where that costs little beside
//! the reads it saves. Corrected by what the last steps have told (L-BFGS), it gives the next step without any read. Where
//! that is slow or there is no sketch, steps are solved for by conjugate gradients, one read each, preconditioned by the
//! sketch or by the Hessian's diagonal, and no further than the model of the function is good, nor than the tolerance
//! asks. Full steps need one read for value, gradient and certificate together.
//!
//! All products of weights and gradients are in the inner product of the problem. Where that is a kernel's, a step is solved
//! for in scores (`score_cg`).

use std::collections::VecDeque;

use super::Limits;
use super::cholesky::Cholesky;
use super::score_cg;
use crate::math::add_multiple;
use crate::problem::{BlockSums, SumPoint};
use crate::progress::Stop;

/// Steps of conjugate gradients for one step of Newton.
const MOST_INNER: usize = 250;
/// So many are always worth it.
const LEAST_INNER: usize = 50;
/// Trials of the size of a step.
const MOST_TRIALS: usize = 100;
/// Sizes below this are counted from the start of the step.
const SMALL_STEP: f64 = 1e-4;
/// What part of a size is tried where nothing is known to be too small.
const SMALL_PART: f64 = 1.0 / 64.0;
/// Steps that corrections of a preconditioner are taken from.
const MOST_REMEMBERED: usize = 10;
/// Slow steps in a row after which one is solved for.
const MOST_SLOW: usize = 2;
/// Steps after which nothing but rounding is being fought.
const MOST_STEPS: u64 = 2000;
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
    /// ½‖w‖² + the loss that is meant.
    pub(crate) primal: f64,
    /// (primal − dual)/max(primal, 1e-12), with the better one of two dual values: that of the losses' slopes, and 0.
    pub(crate) gap: f64,
    /// Steps of Newton's method.
    pub(crate) steps: u64,
    /// The limit that stopped it, or `None`: the tolerance was met.
    pub(crate) stop: Option<Stop>,
}

/// ½‖w‖² + losses.
fn primal(sums: &dyn BlockSums, weights: &[f64], losses: f64) -> f64 {
    0.5 * sums.dot(weights, weights) + losses
}

fn gap(sums: &dyn BlockSums, weights: &[f64], point: &SumPoint) -> f64 {
    let gap = half_square_of_gradient(sums, weights, point) + point.excess;
    (gap / primal(sums, weights, point.meant).max(1e-12)).min(1.0)
}

fn half_square_of_gradient(sums: &dyn BlockSums, weights: &[f64], point: &SumPoint) -> f64 {
    let gradient: Vec<f64> = weights.iter().zip(&point.gradient).map(|(w, g)| w + g).collect();
    0.5 * sums.square(&gradient)
}

/// Minimises from `start`, or from the best start to be had.
pub(crate) fn minimise(sums: &mut dyn BlockSums, start: Option<Vec<f64>>, limits: Limits<'_>) -> Minimum {
    let start = start.map(|start| sums.refreshed(start));
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
    /// Steps so far, and the gap before the next one: what whoever looks on is told.
    seen: (u64, f64),
}

/// Where sizes of a step are counted from.
struct Origin {
    /// What part of the step has been taken there.
    size: f64,
    /// ½‖w‖² there, w·step, and ‖step‖².
    norm: f64,
    along: f64,
    square: f64,
}

impl Origin {
    /// The sum must be there.
    fn new(sums: &mut dyn BlockSums, weights: &[f64], step: &[f64], size: f64) -> Self {
        sums.aim(step);
        let (norm, along) = (0.5 * sums.dot(weights, weights), sums.dot(weights, step));
        Origin { size, norm, along, square: sums.dot(step, step) }
    }

    /// Value and slope of the whole function after a part of the step.
    fn look(&self, sums: &mut dyn BlockSums, size: f64) -> (f64, f64) {
        let on = size - self.size;
        let (losses, slope) = sums.along(on);
        let norm = self.norm + on * self.along + 0.5 * on * on * self.square;
        (norm + losses, self.along + on * self.square + slope)
    }
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
        Search { sums, limits, reads: 0.0, seen: (0, f64::NAN) }
    }

    fn run(mut self, mut weights: Vec<f64>) -> Minimum {
        let tol = self.limits.tol;
        let mut point = self.sums.go_to(&weights);
        let mut preconditioner: Option<Preconditioner> = None;
        let (mut memory, mut n_slow) = (Memory::default(), 0);
        // How far to solve for a step, relative to the gradient.
        let mut forcing = FORCING;
        let (mut steps, mut n_idle, mut best) = (0, 0, (f64::INFINITY, f64::INFINITY));
        let stop = loop {
            let value = primal(self.sums, &weights, point.value);
            let half_square = half_square_of_gradient(self.sums, &weights, &point);
            // Zero weights may be as good as the tolerance asks, but they order nothing.
            let is_nothing = half_square > 0.0 && weights.iter().all(|&w| w == 0.0);
            if half_square <= tol * value.max(1e-12) && !is_nothing {
                break None;
            }
            self.seen = (steps, gap(self.sums, &weights, &point));
            if let Some(stop) = self.limits.reached(steps, self.seen.1) {
                break Some(stop);
            }
            let gradient: Vec<f64> = weights.iter().zip(&point.gradient).map(|(w, g)| w + g).collect();
            // A quarter of what the tolerance asks: the model's gradient at the end of the step is not quite the true one.
            let goal = (0.25 * tol * value).max(forcing * forcing * half_square);
            let mut is_quick = false;
            let (limits, seen) = (self.limits, self.seen);
            let step = if let Some(space) = self.sums.in_scores() {
                score_cg::step(space, &gradient, goal, || limits.is_stopped(seen.0, seen.1))
            } else {
                let known = preconditioner.take().filter(|_| !self.wants_sketch());
                let preconditioner = preconditioner.insert(known.unwrap_or_else(|| self.precondition()));
                // A good sketch with what the last steps have told is as good as the Hessian, and needs no read.
                is_quick = matches!(preconditioner, Preconditioner::Sketch(_)) && n_slow < MOST_SLOW;
                if is_quick {
                    memory.step(self.sums, preconditioner, &gradient)
                } else {
                    self.solve(preconditioner, &gradient, goal)
                }
            };
            let slope = self.sums.dot(&gradient, &step);
            let mut next_weights: Vec<f64> = weights.iter().zip(&step).map(|(w, s)| w + s).collect();
            let mut next = self.sums.go_to(&next_weights);
            let slope_at_end = self.sums.dot(&next_weights, &step) + self.sums.dot(&next.gradient, &step);
            let found = half_square_of_gradient(self.sums, &next_weights, &next);
            let end = (primal(self.sums, &next_weights, next.value), slope_at_end);
            if is_better((value, slope), end, 0.8) {
                // The model is worth solving as far as it holds.
                forcing = (0.5 * (found / half_square).sqrt()).clamp(LEAST_FORCING, FORCING);
            } else {
                // Too long: a better size is found without reading the data.
                let ends = [&weights[..], &next_weights];
                let Some(size) = self.shorten(ends, &step, [(value, slope), end]) else {
                    point = self.sums.go_to(&weights);
                    break Some(self.limits.reached(steps, self.seen.1).unwrap_or(Stop::Stalled));
                };
                next_weights = weights.clone();
                add_multiple(&mut next_weights, size, &step);
                next = self.sums.go_to(&next_weights);
                forcing = FORCING;
            }
            let next_gradient: Vec<f64> = next_weights.iter().zip(&next.gradient).map(|(w, g)| w + g).collect();
            memory.remember(self.sums, (&weights, &gradient), (&next_weights, &next_gradient));
            let is_slow = is_quick && self.sums.dot(&next_gradient, &next_gradient) > 0.5 * half_square;
            n_slow = if is_slow { n_slow + 1 } else { 0 };
            // Beyond what floating point can resolve, neither value nor gradient fall any more.
            let next_value = primal(self.sums, &next_weights, next.value);
            let next_square = half_square_of_gradient(self.sums, &next_weights, &next);
            let is_idle = next_value >= best.0 * (1.0 - 1e-13) && next_square >= 0.9 * best.1;
            n_idle = if is_idle { n_idle + 1 } else { 0 };
            best = (best.0.min(next_value), best.1.min(next_square));
            (weights, point) = (next_weights, next);
            steps += 1;
            if n_idle >= MOST_IDLE || steps >= MOST_STEPS {
                break Some(Stop::Stalled);
            }
        };
        let (primal, gap) = (primal(self.sums, &weights, point.meant), gap(self.sums, &weights, &point));
        Minimum { weights, point, primal, gap, steps, stop }
    }

    /// How much of a step to go, so that the function is about least along it. The slope is monotone, so that its zero lies
    /// between the start of the step and its end (regula falsi, Illinois). Sizes are counted from the end, where the sum is; very
    /// small ones would be lost beside it, and are counted from the start.
    fn shorten(&mut self, [start, end]: [&[f64]; 2], step: &[f64], values: [(f64, f64); 2]) -> Option<f64> {
        let [at_start, at_end] = values;
        let (mut low, mut low_slope) = (0.0, at_start.1);
        let (mut high, mut high_slope) = (1.0, at_end.1);
        let mut from = Origin::new(self.sums, end, step, 1.0);
        for trial in 0..MOST_TRIALS {
            if self.limits.is_stopped(self.seen.0, self.seen.1) {
                return None;
            }
            if high < SMALL_STEP && from.size != 0.0 {
                self.sums.go_to(start);
                from = Origin::new(self.sums, start, step, 0.0);
            }
            let between = low + (high - low) * (low_slope / (low_slope - high_slope));
            // Every third time in the middle: a kink may lead the secant astray.
            let is_between = between > low && between < high && trial % 3 < 2;
            let middle = match low {
                0.0 if trial > 3 => SMALL_PART * high,
                _ if low > 0.0 && high > 4.0 * low => (low * high).sqrt(),
                _ => 0.5 * (low + high),
            };
            let size = if is_between { between } else { middle };
            let there = from.look(self.sums, size);
            if is_better(at_start, there, 0.3) && there.1.abs() <= 0.3 * at_start.1.abs() {
                return Some(size);
            }
            // Slopes of large numbers may be rounding alone, but a value above that at the start is beyond the zero.
            let is_above = there.0 > at_start.0 * (1.0 + 1e-6);
            let slope = if is_above { there.1.max((there.0 - at_start.0) / size) } else { there.1 };
            if slope < 0.0 {
                (low, low_slope) = (size, slope);
                high_slope *= 0.5;
            } else {
                (high, high_slope) = (size, slope);
                low_slope *= 0.5;
            }
        }
        None
    }

    /// Multiplications of a sketch in units of one read.
    fn sketch_reads(&self) -> f64 {
        let dim = self.sums.dim() as f64;
        let vectors = SKETCHED_PER_WEIGHT * self.sums.dim();
        let products = self.sums.sketch_products(vectors) + dim * dim * dim / 6.0;
        products / (2.0 * self.sums.n_numbers().max(1) as f64)
    }

    /// Whether a new sketch would cost less than the reads since the last one.
    fn wants_sketch(&self) -> bool {
        self.sums.dim() <= MOST_SKETCHED && self.sketch_reads() <= self.reads
    }

    fn precondition(&mut self) -> Preconditioner {
        let dim = self.sums.dim();
        if self.wants_sketch() || (dim <= MOST_SKETCHED && self.sketch_reads() <= 1.0) {
            let mut matrix = vec![0.0; dim * dim];
            (0..dim).for_each(|at| matrix[at * dim + at] = 1.0);
            self.sums.add_sketch(SKETCHED_PER_WEIGHT * dim, &mut matrix);
            self.reads = 0.0;
            return Preconditioner::Sketch(Cholesky::new(matrix, dim, 1.0));
        }
        let diagonal = self.sums.hessian_diagonal();
        Preconditioner::Diagonal(diagonal.into_iter().map(|d| 1.0 + d).collect())
    }

    /// About −H⁻¹·gradient: until half the square of the model's gradient falls to `goal`.
    fn solve(&mut self, preconditioner: &Preconditioner, gradient: &[f64], goal: f64) -> Vec<f64> {
        let mut step = vec![0.0; gradient.len()];
        let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut direction = preconditioner.solve(&residual);
        let mut square = self.sums.dot(&residual, &direction);
        let mut left = 0.5 * self.sums.dot(&residual, &residual);
        // More than a few times what a new sketch costs is better spent on one.
        let worth = if self.sums.dim() <= MOST_SKETCHED { 2.0 * self.sketch_reads() } else { f64::INFINITY };
        let most = (worth as usize).clamp(LEAST_INNER, MOST_INNER);
        for n_done in 0..most {
            let is_solved = left <= goal && n_done > 0;
            if is_solved || square <= 0.0 || square.is_nan() || self.limits.is_stopped(self.seen.0, self.seen.1) {
                break;
            }
            let mut image = self.sums.hessian_times(&direction);
            self.reads += 1.0;
            image.iter_mut().zip(&direction).for_each(|(i, d)| *i += d);
            let size = square / self.sums.dot(&direction, &image);
            add_multiple(&mut step, size, &direction);
            add_multiple(&mut residual, -size, &image);
            left = 0.5 * self.sums.dot(&residual, &residual);
            let preconditioned = preconditioner.solve(&residual);
            let next = self.sums.dot(&residual, &preconditioned);
            let ratio = next / square;
            square = next;
            direction.iter_mut().zip(&preconditioned).for_each(|(p, z)| *p = z + ratio * *p);
        }
        step
    }
}

/// The last steps with the changes of the gradient along them, which correct a preconditioner to the inverse of a Hessian
/// (L-BFGS; Nocedal 1980).
#[derive(Default)]
struct Memory {
    /// Step, change of the gradient, 1/(their product).
    steps: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
}

impl Memory {
    /// Takes in a step from one point (weights, gradient) to another.
    fn remember(
        &mut self,
        sums: &dyn BlockSums,
        (weights, gradient): (&[f64], &[f64]),
        (next_weights, next_gradient): (&[f64], &[f64]),
    ) {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let (step, change) = (difference(next_weights, weights), difference(next_gradient, gradient));
        let product = sums.dot(&step, &change);
        if product > 1e-12 * (sums.dot(&step, &step) * sums.dot(&change, &change)).sqrt() {
            self.steps.push_back((step, change, 1.0 / product));
            if self.steps.len() > MOST_REMEMBERED {
                self.steps.pop_front();
            }
        }
    }

    /// About −H⁻¹·gradient.
    fn step(&self, sums: &dyn BlockSums, preconditioner: &Preconditioner, gradient: &[f64]) -> Vec<f64> {
        let mut left: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut sizes = Vec::with_capacity(self.steps.len());
        for (step, change, inverse) in self.steps.iter().rev() {
            let size = inverse * sums.dot(step, &left);
            add_multiple(&mut left, -size, change);
            sizes.push(size);
        }
        let mut next = preconditioner.solve(&left);
        for ((step, change, inverse), size) in self.steps.iter().zip(sizes.into_iter().rev()) {
            let excess = inverse * sums.dot(change, &next);
            add_multiple(&mut next, size - excess, step);
        }
        next
    }
}
