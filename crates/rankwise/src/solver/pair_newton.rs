//! Newton's method for smooth problems on pairs whose kernel matrix G is at hand.
//!
//! The point is u = Σ t·φ over pairs, with margins z = G·t. Where the losses act, they ask for coefficients t*(z) with
//! slope −S̃ = −(diag q − x·xᵀ/Σq) in z, the last term for β moving along. The optimum is t = t*, and the step to it solves
//!
//!   δ + S̃·G·δ = t* − t,
//!
//! in which pairs without curvature simply take the coefficient that is asked for. For the others (A), with h = x/q and
//! M = G_AA + 1/q, two systems M·w = (t* − t)/q − G·δ_rest and M·v = h give δ = w + v·s with
//! s = hᵀ(t* − t − w)/(Σq − hᵀx + hᵀv). M is positive definite: conjugate gradients where 1/q is large against G, Cholesky
//! elsewhere. The functions are piecewise quadratic, so that a full step that changes nobody's acting ends the search, exactly.

use super::Limits;
use super::cholesky::Cholesky;
use crate::math::{add_multiple, dot, wide};
use crate::problem::{PairLosses, PairPoint};
use crate::progress::Stop;

/// Steps after which the rest is left to others.
const MOST_STEPS: u64 = 100;
/// How much steeper gentle losses become from one round to the next.
const EASING: f64 = 10.0;
/// How wrong a step may be as long as acting changes.
const ROUGH: f64 = 1e-2;
/// How wrong a system solved by Cholesky is, about.
const EXACT: f64 = 1e-9;
/// A step that moves no margin by more than this share of the largest is the last.
const STILL: f64 = 1e-10;

/// Minimises smooth losses from given coefficients on: the point where the search ended, the steps it took, and the limit
/// that stopped it, if any.
///
/// Where the losses are steep against G, most pairs act at first that do not in the end: a search from afar starts with
/// gentler losses.
pub(crate) fn minimise(
    problem: &dyn PairLosses,
    start: Vec<f64>,
    limits: Limits<'_>,
) -> (PairPoint, u64, Option<Stop>) {
    let mut ease = if start.iter().all(|t| *t == 0.0) { problem.ease() } else { 1.0 };
    let margins = problem.margins(&start);
    let point = problem.at(&margins, ease);
    let mut search = Search { problem, t: start, z: margins, point, steps: 0 };
    loop {
        let limit = search.run(ease, limits);
        if ease == 1.0 || limit.is_some() {
            return (search.point, search.steps, limit);
        }
        ease = (EASING * ease).min(1.0);
    }
}

struct Search<'a> {
    problem: &'a dyn PairLosses,
    t: Vec<f64>,
    z: Vec<f64>,
    point: PairPoint,
    steps: u64,
}

impl Search<'_> {
    /// Goes to the optimum for losses times `ease`: roughly where that is below 1.
    fn run(&mut self, ease: f64, limits: Limits<'_>) -> Option<Stop> {
        let problem = self.problem;
        let still = if ease < 1.0 { 1e-2 } else { STILL };
        self.point = problem.at(&self.z, ease);
        let mut value = 0.5 * dot::<f64>(&self.t, &self.z) + self.point.losses;
        let mut precision = ROUGH;
        let first = self.steps;
        while self.steps < first + MOST_STEPS {
            if let Some(stop) = limits.reached(self.steps, 1.0) {
                return Some(stop);
            }
            self.steps += 1;
            let residual: Vec<f64> = self.point.coefficients.iter().zip(&self.t).map(|(a, b)| a - b).collect();
            let acting = Acting::of(&self.point);
            let (step, precision_met) = newton_step(problem, &self.point, &acting, &residual, precision);
            let along = problem.margins(&step);
            let (moved, largest) = (largest(&along), largest(&self.z).max(1.0));
            // By how much the value falls per unit of the step: the gradient of a point is t − t*.
            let slope = -dot::<f64>(&residual, &along);
            let is_last = moved <= still * largest;
            let mut size = 1.0;
            loop {
                let (trial, margins) = (sum(&self.t, size, &step), sum(&self.z, size, &along));
                let next = problem.at(&margins, ease);
                let next_value = 0.5 * dot::<f64>(&trial, &margins) + next.losses;
                if is_last || next_value <= value + 1e-4 * size * slope + 1e-14 * value.abs() {
                    let before = &self.point;
                    let is_same = size == 1.0 && next.curvatures == before.curvatures && next.tilts == before.tilts;
                    (self.t, self.z, self.point, value) = (trial, margins, next, next_value);
                    // Where nobody's acting changed, the next step would be as large as this one was wrong.
                    let wrong = precision_met * moved / largest;
                    if is_last || (is_same && wrong <= STILL) {
                        return None;
                    }
                    precision = if is_same { 0.1 * STILL / wrong } else { 0.03 * moved / largest };
                    precision = precision.clamp(if is_same { 1e-11 } else { 1e-6 }, ROUGH);
                    break;
                }
                size *= 0.5;
                if size < 1e-8 {
                    return None; // as exact as floating point allows
                }
            }
        }
        None
    }
}

fn sum(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    let mut sum = a.to_vec();
    add_multiple::<f64>(&mut sum, factor, b);
    sum
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// The step, and about how wrong it is.
fn newton_step(
    problem: &dyn PairLosses,
    point: &PairPoint,
    acting: &Acting,
    residual: &[f64],
    precision: f64,
) -> (Vec<f64>, f64) {
    let mut step = vec![0.0; residual.len()];
    acting.idle.iter().for_each(|&k| step[k as usize] = residual[k as usize]);
    let dropped = if step.iter().any(|d| *d != 0.0) { problem.margins(&step) } else { vec![0.0; residual.len()] };
    let (residual, dropped) = (acting.select(residual), acting.select(&dropped));
    let mut w: Vec<f64> = residual.iter().zip(&acting.q).zip(&dropped).map(|((r, q), g)| r / q - g).collect();
    let mut v = acting.h.clone();
    let precision = solve(acting.matrix(problem), acting.pairs.len(), &mut w, &mut v, precision);
    if let Some(rest) = acting.beta_curvature(point, &v) {
        let gap = dot::<f64>(&acting.h, &residual) - dot::<f64>(&acting.h, &w);
        add_multiple::<f64>(&mut w, gap / rest, &v);
    }
    acting.pairs.iter().zip(&w).for_each(|(&k, w)| step[k as usize] = *w);
    (step, precision)
}

/// What the margin of each pair would be, had the pair not been there, at a solution with coefficients t = t*(z): exact if
/// nobody else's acting changed, otherwise an estimate. With P the inverse of M bordered by β, a pair's equation without the
/// pair misses by t/P_kk, and β moves by the same times P_βk.
pub(crate) fn leave_one_out(problem: &dyn PairLosses, point: &PairPoint, margins: &[f64]) -> Vec<f64> {
    let acting = Acting::of(point);
    let factors = Cholesky::new(acting.matrix(problem), acting.pairs.len(), f64::MIN_POSITIVE);
    let mut v = acting.h.clone();
    factors.solve(&mut v);
    let rest = acting.beta_curvature(point, &v);
    let mut without = margins.to_vec();
    for (at, (&k, inverse)) in acting.pairs.iter().zip(factors.inverse_diagonal()).enumerate() {
        let k = k as usize;
        let (t, v, h, q) = (point.coefficients[k], v[at], acting.h[at], acting.q[at]);
        let with_beta = rest.map_or(0.0, |rest| v / rest);
        let own = inverse - with_beta * v;
        let missed = t / own;
        without[k] += t / q - missed + h * missed * with_beta;
        if let Some(rest) = rest.filter(|_| h == 0.0) {
            // Both sides of a tie act: without it, nobody pays its q·(1 + β) for β either.
            let beta = point.beta - missed * with_beta;
            let stiffness = 1.0 - q / rest - q * with_beta * with_beta / own;
            if stiffness > 1e-9 {
                without[k] += q * (1.0 + beta) * with_beta / own / stiffness;
            }
        }
    }
    without
}

/// The pairs whose losses act, and the others.
struct Acting {
    pairs: Vec<u32>,
    idle: Vec<u32>,
    q: Vec<f64>,
    x: Vec<f64>,
    h: Vec<f64>,
}

impl Acting {
    fn of(point: &PairPoint) -> Self {
        let (pairs, idle): (Vec<u32>, Vec<u32>) =
            (0..point.curvatures.len() as u32).partition(|&k| point.curvatures[k as usize] > 0.0);
        let mut acting = Acting { pairs, idle, q: Vec::new(), x: Vec::new(), h: Vec::new() };
        (acting.q, acting.x) = (acting.select(&point.curvatures), acting.select(&point.tilts));
        acting.h = acting.x.iter().zip(&acting.q).map(|(x, q)| x / q).collect();
        acting
    }

    fn select(&self, values: &[f64]) -> Vec<f64> {
        self.pairs.iter().map(|&k| values[k as usize]).collect()
    }

    /// M
    fn matrix(&self, problem: &dyn PairLosses) -> Vec<f64> {
        let n = self.pairs.len();
        let mut matrix = problem.block(&self.pairs);
        self.q.iter().enumerate().for_each(|(k, q)| matrix[k * n + k] += 1.0 / q);
        matrix
    }

    /// Σq − hᵀx + hᵀv, where β moves along.
    fn beta_curvature(&self, point: &PairPoint, v: &[f64]) -> Option<f64> {
        let rest = self.q.iter().sum::<f64>() - dot::<f64>(&self.h, &self.x) + dot::<f64>(&self.h, v);
        (point.is_beta_free && rest > 0.0).then_some(rest)
    }
}

/// Solves M·a = a and M·b = b in place, by conjugate gradients if these are quick, by Cholesky if not; returns about how
/// wrong the solutions are.
fn solve(matrix: Vec<f64>, n: usize, a: &mut Vec<f64>, b: &mut Vec<f64>, precision: f64) -> f64 {
    // So many products with the matrix cost as much as its factors.
    let most = n / 12;
    if let Some([x, y]) = by_gradients(&matrix, n, [a, b], precision, most) {
        (*a, *b) = (x, y);
        return precision;
    }
    let factors = Cholesky::new(matrix, n, f64::MIN_POSITIVE);
    factors.solve(a);
    factors.solve(b);
    EXACT
}

/// Conjugate gradients on two right-hand sides at once with the diagonal as preconditioner; `None` after too many steps.
fn by_gradients(matrix: &[f64], n: usize, sides: [&Vec<f64>; 2], precision: f64, most: usize) -> Option<[Vec<f64>; 2]> {
    let inverse: Vec<f64> = (0..n).map(|k| 1.0 / matrix[k * n + k]).collect();
    let scaled = |r: &[f64]| r.iter().zip(&inverse).map(|(r, m)| r * m).collect::<Vec<f64>>();
    let mut x = [vec![0.0; n], vec![0.0; n]];
    let mut r = sides.map(Vec::clone);
    let mut p = [scaled(&r[0]), scaled(&r[1])];
    let mut square = [dot::<f64>(&r[0], &p[0]), dot::<f64>(&r[1], &p[1])];
    let goal = square.map(|s| s * precision * precision);
    for _ in 0..most {
        if square[0] <= goal[0] && square[1] <= goal[1] {
            return Some(x);
        }
        let mut image = [vec![0.0; n], vec![0.0; n]];
        {
            let [first, second] = &mut image;
            symmetric_times::<f64>(matrix, n, &p[0], &p[1], first, second);
        }
        for side in 0..2 {
            if square[side] <= goal[side] {
                continue;
            }
            let size = square[side] / dot::<f64>(&p[side], &image[side]);
            add_multiple::<f64>(&mut x[side], size, &p[side]);
            add_multiple::<f64>(&mut r[side], -size, &image[side]);
            let z = scaled(&r[side]);
            let next = dot::<f64>(&r[side], &z);
            let ratio = next / square[side];
            square[side] = next;
            p[side].iter_mut().zip(&z).for_each(|(p, z)| *p = z + ratio * *p);
        }
    }
    None
}

/// Rows that share what the product loads of the vectors, and numbers side by side.
const ROWS: usize = 4;
const LANES: usize = 8;

wide! {
    /// Two products with a symmetric matrix of which the lower triangle is given; each number of it is read once.
    fn symmetric_times<T>(lower: &[T], n: usize, a: &[T], b: &[T], to_a: &mut [T], to_b: &mut [T]) {
        let mut first = 0;
        while first < n {
            let n_here = ROWS.min(n - first);
            let wide_end = if n_here == ROWS { first / LANES * LANES } else { 0 };
            let mut sums = [[[T::ZERO; LANES]; 2]; ROWS];
            if wide_end > 0 {
                let rows: [&[[T; LANES]]; ROWS] =
                    std::array::from_fn(|r| lower[(first + r) * n..][..wide_end].as_chunks::<LANES>().0);
                let own: [[T; 2]; ROWS] = std::array::from_fn(|r| [a[first + r], b[first + r]]);
                let vectors = a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0);
                let targets = to_a.as_chunks_mut::<LANES>().0.iter_mut().zip(to_b.as_chunks_mut::<LANES>().0);
                for (at, ((a, b), (to_a, to_b))) in vectors.zip(targets).enumerate().take(wide_end / LANES) {
                    let (mut plus_a, mut plus_b) = (*to_a, *to_b);
                    for r in 0..ROWS {
                        let m = &rows[r][at];
                        for lane in 0..LANES {
                            sums[r][0][lane] = m[lane].times_plus::<FMA>(a[lane], sums[r][0][lane]);
                            sums[r][1][lane] = m[lane].times_plus::<FMA>(b[lane], sums[r][1][lane]);
                            plus_a[lane] = m[lane].times_plus::<FMA>(own[r][0], plus_a[lane]);
                            plus_b[lane] = m[lane].times_plus::<FMA>(own[r][1], plus_b[lane]);
                        }
                    }
                    (*to_a, *to_b) = (plus_a, plus_b);
                }
            }
            for (k, [of_a, of_b]) in (first..first + n_here).zip(sums) {
                let row = &lower[k * n..];
                let mut sum_a = of_a.into_iter().fold(T::ZERO, T::plus);
                let mut sum_b = of_b.into_iter().fold(T::ZERO, T::plus);
                for l in wide_end..k {
                    sum_a = row[l].times_plus::<FMA>(a[l], sum_a);
                    sum_b = row[l].times_plus::<FMA>(b[l], sum_b);
                    to_a[l] = row[l].times_plus::<FMA>(a[k], to_a[l]);
                    to_b[l] = row[l].times_plus::<FMA>(b[k], to_b[l]);
                }
                to_a[k] = to_a[k].plus(row[k].times_plus::<FMA>(a[k], sum_a));
                to_b[k] = to_b[k].plus(row[k].times_plus::<FMA>(b[k], sum_b));
            }
            first += ROWS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_whole_matrix() {
        for n in [1, 3, 4, 7, 8, 9, 16, 33, 50] {
            let entry = |k: usize, l: usize| ((k * l + k + l) % 13) as f64 - 6.0;
            // What stands above the diagonal must not matter.
            let lower: Vec<f64> =
                (0..n * n).map(|at| if at % n <= at / n { entry(at / n, at % n) } else { f64::NAN }).collect();
            let (a, b): (Vec<f64>, Vec<f64>) = (0..n).map(|k| ((k % 5) as f64 - 2.0, (k % 3) as f64)).unzip();
            let (mut to_a, mut to_b) = (vec![0.0; n], vec![0.0; n]);
            symmetric_times::<f64>(&lower, n, &a, &b, &mut to_a, &mut to_b);
            for k in 0..n {
                let product = |v: &[f64]| (0..n).map(|l| entry(k, l) * v[l]).sum::<f64>();
                assert_eq!((to_a[k], to_b[k]), (product(&a), product(&b)), "{n}, {k}");
            }
        }
    }
}
