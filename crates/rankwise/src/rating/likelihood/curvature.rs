//! Second derivatives of the likelihood, and equations with them: a Laplacian of who met whom, bordered by a few rows of
//! effects and θ.
//!
//! Within a tier ratings may all move by the same amount; holding the first player of each (adding its own curvature to its
//! diagonal) chooses one of these solutions and changes nothing else.

use rayon::prelude::*;

use super::slopes::{CellSlopes, Likelihood};
use crate::math::{add_multiple, cholesky, dot, solve_lower, solve_upper};

/// Up to so many players a matrix is factored; beyond, equations are solved by conjugate gradients.
pub(super) const MAX_DENSE: usize = 1000;
/// Steps of Newton's method factor a matrix up to so many players, and for more where who met whom is so sparse that conjugate
/// gradients could take long.
const MAX_DENSE_STEP: usize = 200;
const FEW_MEETINGS: usize = 8;
/// Pivots below this share of the largest one are rounding.
const RESOLUTION: f64 = 1e-14;
const PLAYERS: usize = 2048;
const MAX_STEPS: usize = 20_000;

/// The second derivatives at a point.
pub(super) enum Curvature<'a> {
    Dense { factor: Vec<f64>, n: usize, diagonal: Vec<f64> },
    Sparse(Sparse<'a>),
}

/// The same without a matrix.
pub(super) struct Sparse<'a> {
    likelihood: &'a Likelihood<'a>,
    /// The curvature of every meeting, in the order of meetings.
    meetings: Vec<f64>,
    /// The diagonal of the ratings.
    diagonal: Vec<f64>,
    /// Rows of the border over the ratings, one after the other.
    border: Vec<f64>,
    /// The corner of the border.
    corner: Vec<f64>,
    /// Its factor.
    corner_factor: Vec<f64>,
}

impl<'a> Curvature<'a> {
    /// The curvature of cells that have these slopes, for many equations; `held` are the players that stay where they are.
    pub(super) fn new(likelihood: &'a Likelihood<'a>, slopes: &[CellSlopes], held: &[u32]) -> Self {
        Self::with(likelihood, slopes, held, likelihood.n_players() <= MAX_DENSE)
    }

    /// The same for a single equation.
    pub(super) fn of_step(likelihood: &'a Likelihood<'a>, slopes: &[CellSlopes], held: &[u32]) -> Self {
        let n = likelihood.n_players();
        let is_sparse = likelihood.cells.n_cells() < FEW_MEETINGS * n;
        Self::with(likelihood, slopes, held, n <= if is_sparse { MAX_DENSE } else { MAX_DENSE_STEP })
    }

    fn with(likelihood: &'a Likelihood<'a>, slopes: &[CellSlopes], held: &[u32], is_dense: bool) -> Self {
        let (n, extra) = (likelihood.n_players(), likelihood.n_extra());
        let coupling = |cell: usize, k: usize| match k < likelihood.cells.n_effects {
            true => slopes[cell].dd * likelihood.cells.difference(cell)[k],
            false => slopes[cell].d_theta,
        };
        let mut border = vec![0.0; extra * n];
        for (k, row) in border.chunks_exact_mut(n.max(1)).enumerate() {
            likelihood
                .meetings
                .gather(row, |player, at| likelihood.sign(player, at) * coupling(likelihood.cell(at), k));
        }
        let mut corner = vec![0.0; extra * extra];
        for a in 0..extra {
            for b in 0..=a {
                let value = likelihood.sum(|cell| {
                    let difference = |k: usize| likelihood.cells.difference(cell)[k];
                    match (a < likelihood.cells.n_effects, b < likelihood.cells.n_effects) {
                        (true, true) => slopes[cell].dd * difference(a) * difference(b),
                        (false, true) => slopes[cell].d_theta * difference(b),
                        (_, false) => slopes[cell].theta_theta,
                    }
                });
                (corner[a * extra + b], corner[b * extra + a]) = (value, value);
            }
        }
        let mut diagonal = vec![0.0; n];
        likelihood.meetings.gather(&mut diagonal, |_, at| slopes[likelihood.cell(at)].dd);
        diagonal.iter_mut().for_each(|value| *value += likelihood.ridge);
        for &player in held {
            diagonal[player as usize] *= 2.0;
        }
        if !is_dense {
            let meetings = likelihood.meetings.cells.par_iter().map(|&[cell, _]| slopes[cell as usize].dd).collect();
            let mut corner_factor = corner.clone();
            factor(&mut corner_factor, extra);
            return Curvature::Sparse(Sparse { likelihood, meetings, diagonal, border, corner, corner_factor });
        }
        let size = n + extra;
        let mut matrix = vec![0.0; size * size];
        for (cell, &[first, second]) in likelihood.cells.players.iter().enumerate() {
            matrix[second as usize * size + first as usize] -= slopes[cell].dd;
        }
        (0..n).for_each(|k| matrix[k * size + k] = diagonal[k]);
        for k in 0..extra {
            matrix[(n + k) * size..][..n].copy_from_slice(&border[k * n..][..n]);
            matrix[(n + k) * size + n..][..extra].copy_from_slice(&corner[k * extra..][..extra]);
        }
        factor(&mut matrix, size);
        Curvature::Dense { factor: matrix, n: size, diagonal }
    }

    /// What is known of each player at least: the curvature by its own rating.
    pub(super) fn diagonal(&self) -> &[f64] {
        match self {
            Curvature::Dense { diagonal, .. } => diagonal,
            Curvature::Sparse(sparse) => &sparse.diagonal,
        }
    }

    /// Solves for x, which comes as the right-hand side; `precision` is relative, for the solution without a matrix.
    pub(super) fn solve(&self, x: &mut [f64], precision: f64) {
        match self {
            Curvature::Dense { factor, n, .. } => {
                solve_lower(factor, *n, x);
                solve_upper(factor, *n, x);
            }
            Curvature::Sparse(sparse) => sparse.solve(x, precision),
        }
    }
}

/// Factors a matrix, pivots that are rounding made as large as that.
fn factor(matrix: &mut [f64], n: usize) {
    let largest = (0..n).map(|k| matrix[k * n + k]).fold(0.0, f64::max);
    // Slopes are finite, so that there is always a factor.
    cholesky(matrix, n, (RESOLUTION * largest).max(f64::MIN_POSITIVE));
}

impl Sparse<'_> {
    fn n(&self) -> usize {
        self.diagonal.len()
    }

    /// The product of the matrix with x.
    fn times(&self, x: &[f64], product: &mut [f64]) {
        let n = self.n();
        let (ratings, extra) = x.split_at(n);
        let (out, corner) = product.split_at_mut(n);
        let meetings = &self.likelihood.meetings;
        out.par_chunks_mut(PLAYERS).enumerate().for_each(|(chunk, out)| {
            for (player, out) in (chunk * PLAYERS..).zip(out) {
                let range = meetings.range(player);
                let others = meetings.cells[range.clone()].iter().zip(&self.meetings[range]);
                let from_others: f64 = others.map(|(&[_, other], dd)| dd * ratings[other as usize]).sum();
                let border: f64 = extra.iter().enumerate().map(|(k, x)| self.border[k * n + player] * x).sum();
                *out = self.diagonal[player] * ratings[player] - from_others + border;
            }
        });
        for (k, out) in corner.iter_mut().enumerate() {
            *out = sum_of_products(&self.border[k * n..][..n], ratings)
                + dot(&self.corner[k * extra.len()..][..extra.len()], extra);
        }
    }

    /// What is easy to solve and nearly the same: the diagonal, and the corner.
    fn nearly(&self, x: &[f64], solved: &mut [f64]) {
        let n = self.n();
        for ((out, x), diagonal) in solved.iter_mut().zip(x).zip(&self.diagonal) {
            *out = if *diagonal > 0.0 { x / diagonal } else { 0.0 };
        }
        let extra = &mut solved[n..];
        extra.copy_from_slice(&x[n..]);
        let size = extra.len();
        solve_lower(&self.corner_factor, size, extra);
        solve_upper(&self.corner_factor, size, extra);
    }

    /// Conjugate gradients.
    fn solve(&self, x: &mut [f64], precision: f64) {
        let mut residual = x.to_vec();
        x.fill(0.0);
        let mut close = vec![0.0; x.len()];
        self.nearly(&residual, &mut close);
        let mut direction = close.clone();
        let mut product = vec![0.0; x.len()];
        let mut size = sum_of_products(&residual, &close);
        let goal = size * precision * precision;
        for _ in 0..MAX_STEPS {
            // Also ends where nothing is finite any more.
            if !(size > goal && size > f64::MIN_POSITIVE) {
                break;
            }
            self.times(&direction, &mut product);
            let curvature = sum_of_products(&direction, &product);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = size / curvature;
            add_multiple(x, step, &direction);
            add_multiple(&mut residual, -step, &product);
            self.nearly(&residual, &mut close);
            let next = sum_of_products(&residual, &close);
            let share = next / size;
            direction.iter_mut().zip(&close).for_each(|(direction, close)| *direction = close + share * *direction);
            size = next;
        }
    }
}

/// Block by block, so that it does not depend on the number of threads.
fn sum_of_products(a: &[f64], b: &[f64]) -> f64 {
    a.chunks(PLAYERS).zip(b.chunks(PLAYERS)).map(|(a, b)| dot(a, b)).sum()
}
