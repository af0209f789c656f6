//! Conjugate gradients for what is left when everybody else is solved for: the core, bordered by effects and θ. Several
//! right-hand sides go along each other, so that weights are read once for all of them.

use rayon::prelude::*;

use super::pattern::Pattern;
use super::reduced::Reduced;
use super::sloped::Number;
use super::spread::Signs;
use crate::math::{cholesky, solve_lower, solve_upper};

/// Players that one thread takes at a time.
const PLAYERS: usize = 2048;
const MAX_STEPS: usize = 20_000;
/// Steps after which a solution to this precision is slow to come. Boards on which everybody may meet everybody take fewer, ladders
/// and maps, on which neighbours meet, hundreds.
const SLOW_STEPS: usize = 40;
const SLOW_PRECISION: f64 = 1e-3;
const SEED: u64 = 0x510;
/// Pivots below this share of the largest one are rounding.
pub(super) const RESOLUTION: f64 = 1e-14;
/// Rows that a sum takes side by side.
const ROWS: usize = 4;

/// The core of some equations.
pub(super) struct Core<'a> {
    pattern: &'a Pattern,
    /// The weights of its pairs, in the order of the pattern.
    weights: Vec<f64>,
    diagonal: Vec<f64>,
    /// Rows of the border, one after the other.
    border: Vec<f64>,
    /// The corner of the border.
    corner: Vec<f64>,
    /// Its factor.
    corner_factor: Vec<f64>,
    /// Whether nothing is left of a diagonal number of the corner, by number.
    pub(super) is_blind: Vec<bool>,
}

impl<'a> Core<'a> {
    /// With a border, which was solved for as the rest was.
    pub(super) fn new<T: Number>(reduced: &Reduced<'a, T>, border: Vec<f64>, corner: Vec<f64>) -> Self {
        let pattern = reduced.pattern;
        let weight = |&[_, slot]: &[u32; 2]| reduced.weights[slot as usize].value();
        let n_extra = corner.len().isqrt();
        let mut corner_factor = corner.clone();
        let largest = reduced.pivots.iter().fold(0.0f64, |most, pivot| most.max(pivot.value()));
        let is_blind = factor(&mut corner_factor, n_extra, largest);
        Core {
            pattern,
            weights: pattern.core_others.par_iter().map(weight).collect(),
            diagonal: reduced.pivots[pattern.n_solved..].iter().map(|pivot| pivot.value()).collect(),
            border,
            corner,
            corner_factor,
            is_blind,
        }
    }

    /// The product of the matrix with x; without numbers for the border, of the players alone.
    fn times<const L: usize>(&self, x: &[[f64; L]], product: &mut [[f64; L]]) {
        let n = self.diagonal.len();
        let (ratings, extra) = x.split_at(n);
        let (out, corner) = product.split_at_mut(n);
        out.par_chunks_mut(PLAYERS).enumerate().for_each(|(chunk, out)| {
            for (at, out) in (chunk * PLAYERS..).zip(out) {
                let range = self.pattern.core_starts[at]..self.pattern.core_starts[at + 1];
                let mut from_others = [0.0; L];
                for (&[other, _], &weight) in self.pattern.core_others[range.clone()].iter().zip(&self.weights[range]) {
                    add(&mut from_others, weight, &ratings[other as usize]);
                }
                let mut sum = ratings[at].map(|x| self.diagonal[at] * x);
                add(&mut sum, -1.0, &from_others);
                for (k, x) in extra.iter().enumerate() {
                    add(&mut sum, self.border[k * n + at], x);
                }
                *out = sum;
            }
        });
        for (k, out) in corner.iter_mut().enumerate() {
            let mut sum = [0.0; L];
            for (&border, x) in self.border[k * n..].iter().zip(ratings) {
                add(&mut sum, border, x);
            }
            for (&corner, x) in self.corner[k * extra.len()..].iter().zip(extra) {
                add(&mut sum, corner, x);
            }
            *out = sum;
        }
    }

    /// What is easy to solve and nearly the same: the diagonal, and the corner.
    fn nearly<const L: usize>(&self, x: &[[f64; L]], solved: &mut [[f64; L]]) {
        let n = self.diagonal.len();
        for ((out, x), &diagonal) in solved.iter_mut().zip(x).zip(&self.diagonal) {
            *out = x.map(|x| if diagonal > 0.0 { x / diagonal } else { 0.0 });
        }
        let size = x.len() - n;
        let mut lane_of_extra = vec![0.0; size];
        for lane in 0..L {
            lane_of_extra.iter_mut().zip(&x[n..]).for_each(|(out, x)| *out = x[lane]);
            solve_lower(&self.corner_factor, size, &mut lane_of_extra);
            solve_upper(&self.corner_factor, size, &mut lane_of_extra);
            solved[n..].iter_mut().zip(&lane_of_extra).for_each(|(out, x)| out[lane] = *x);
        }
    }

    /// Whether conjugate gradients take so many steps that solving for everybody is worth much.
    pub(super) fn is_slow(&self) -> bool {
        let mut signs = Signs::new(SEED);
        let mut x = vec![[0.0]; self.diagonal.len()];
        // As slopes of games are: what one player of a pair gets, the other one lacks.
        for at in 0..x.len() {
            let range = self.pattern.core_starts[at]..self.pattern.core_starts[at + 1];
            for (&[other, _], &weight) in self.pattern.core_others[range.clone()].iter().zip(&self.weights[range]) {
                if other as usize > at {
                    let slope = signs.next() * weight.sqrt();
                    x[at][0] += slope;
                    x[other as usize][0] -= slope;
                }
            }
        }
        self.solve_within(&mut x, SLOW_PRECISION, SLOW_STEPS) == SLOW_STEPS
    }

    /// Solves for x, which comes as the right-hand side; `precision` is relative.
    pub(super) fn solve<const L: usize>(&self, x: &mut [[f64; L]], precision: f64) {
        self.solve_within(x, precision, MAX_STEPS);
    }

    /// The same in so many steps at the most; how many there were.
    fn solve_within<const L: usize>(&self, x: &mut [[f64; L]], precision: f64, most_steps: usize) -> usize {
        let mut residual = x.to_vec();
        x.fill([0.0; L]);
        let mut close = x.to_vec();
        self.nearly(&residual, &mut close);
        let mut direction = close.clone();
        let mut product = x.to_vec();
        let mut size = sum_of_products(&residual, &close);
        let goal = size.map(|size| (size * precision * precision).max(f64::MIN_POSITIVE));
        for n_steps in 0..most_steps {
            // Also ends where nothing is finite any more.
            if !(0..L).any(|lane| size[lane] > goal[lane]) {
                return n_steps;
            }
            self.times(&direction, &mut product);
            let curvature = sum_of_products(&direction, &product);
            let is_on = |lane: usize| size[lane] > goal[lane] && curvature[lane] > 0.0;
            let step: [f64; L] =
                std::array::from_fn(|lane| if is_on(lane) { size[lane] / curvature[lane] } else { 0.0 });
            if step == [0.0; L] {
                return n_steps;
            }
            for ((x, residual), (direction, product)) in
                x.iter_mut().zip(&mut residual).zip(direction.iter().zip(&product))
            {
                for lane in 0..L {
                    x[lane] += step[lane] * direction[lane];
                    residual[lane] -= step[lane] * product[lane];
                }
            }
            self.nearly(&residual, &mut close);
            let next = sum_of_products(&residual, &close);
            // Who is done stays so.
            let share: [f64; L] =
                std::array::from_fn(|lane| if step[lane] > 0.0 { next[lane] / size[lane] } else { 0.0 });
            for (direction, close) in direction.iter_mut().zip(&close) {
                for lane in 0..L {
                    direction[lane] = close[lane] + share[lane] * direction[lane];
                }
            }
            size = std::array::from_fn(|lane| if step[lane] > 0.0 { next[lane] } else { 0.0 });
        }
        most_steps
    }
}

/// Factors a matrix, pivots that are rounding (beside numbers as large as this and as its own) made as large as that; says which
/// these are.
pub(super) fn factor(matrix: &mut [f64], n: usize, beside: f64) -> Vec<bool> {
    let largest = (0..n).map(|k| matrix[k * n + k]).fold(beside, f64::max);
    let least = (RESOLUTION * largest).max(f64::MIN_POSITIVE);
    // Slopes are finite, so that there is always a factor.
    cholesky(matrix, n, least);
    (0..n).map(|k| matrix[k * n + k].powi(2) <= 2.0 * least).collect()
}

/// sum += factor·x, side by side.
#[inline]
pub(super) fn add<const L: usize>(sum: &mut [f64; L], factor: f64, x: &[f64; L]) {
    for lane in 0..L {
        sum[lane] += factor * x[lane];
    }
}

/// Block by block, so that it does not depend on the number of threads.
fn sum_of_products<const L: usize>(a: &[[f64; L]], b: &[[f64; L]]) -> [f64; L] {
    let of_block = |(a, b): (&[[f64; L]], &[[f64; L]])| {
        let mut sums = [[0.0; L]; ROWS];
        for (a, b) in a.chunks(ROWS).zip(b.chunks(ROWS)) {
            for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                (0..L).for_each(|lane| sum[lane] += a[lane] * b[lane]);
            }
        }
        sums
    };
    let mut total = [0.0; L];
    for sums in a.chunks(PLAYERS).zip(b.chunks(PLAYERS)).map(of_block) {
        sums.iter().for_each(|sum| add(&mut total, 1.0, sum));
    }
    total
}
