//! Second derivatives of the likelihood, and equations with them: a Laplacian of who met whom, bordered by a few rows of
//! effects and θ.
//!
//! Within a tier ratings may all move by the same amount; holding one player of each (adding its own curvature to its
//! diagonal) chooses one of these solutions and changes nothing else.

use super::core::{Core, add, factor};
use super::pattern::Pattern;
use super::reduced::Reduced;
use super::slopes::{CellSlopes, Likelihood};
use crate::math::{solve_lower, solve_upper};

/// Up to so many players a matrix is factored for many equations.
pub(super) const MAX_DENSE: usize = 1000;
/// The same for steps of Newton's method.
pub(super) const MAX_DENSE_STEP: usize = 200;

/// The second derivatives at a point.
pub(super) enum Curvature<'a> {
    Dense { factor: Vec<f64>, n: usize, is_blind: Vec<bool> },
    Sparse(Sparse<'a>),
}

/// The same without a matrix: most players are solved for, conjugate gradients have the core.
pub(super) struct Sparse<'a> {
    reduced: Reduced<'a, f64>,
    core: Core<'a>,
    /// Rows of the border of those who are solved for, one after the other.
    border: Vec<f64>,
}

/// A row of the border: what effects (and θ behind them) have to do with ratings.
pub(super) fn border(likelihood: &Likelihood<'_>, slopes: &[CellSlopes], k: usize) -> Vec<f64> {
    let coupling = |cell: usize| match k < likelihood.cells.n_effects {
        true => slopes[cell].dd * likelihood.cells.difference(cell)[k],
        false => slopes[cell].d_theta,
    };
    let mut row = vec![0.0; likelihood.n_players()];
    likelihood.meetings.gather(&mut row, |player, at| likelihood.sign(player, at) * coupling(likelihood.cell(at)));
    row
}

/// The corner: what effects and θ have to do with each other.
pub(super) fn corner(likelihood: &Likelihood<'_>, slopes: &[CellSlopes]) -> Vec<f64> {
    let extra = likelihood.n_extra();
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
    corner
}

impl<'a> Curvature<'a> {
    /// The curvature of cells that have these slopes, for many equations; `held` are the players that stay where they are.
    pub(super) fn new(likelihood: &'a Likelihood<'a>, slopes: &[CellSlopes], held: &[u32]) -> Self {
        Self::with(likelihood, slopes, held, MAX_DENSE)
    }

    /// The same for a single equation.
    pub(super) fn of_step(likelihood: &'a Likelihood<'a>, slopes: &[CellSlopes], held: &[u32]) -> Self {
        Self::with(likelihood, slopes, held, MAX_DENSE_STEP)
    }

    fn with(likelihood: &'a Likelihood<'a>, slopes: &[CellSlopes], held: &[u32], max_dense: usize) -> Self {
        let (n, extra) = (likelihood.n_players(), likelihood.n_extra());
        if let Some(pattern) = likelihood.pattern.filter(|_| n > max_dense) {
            return Curvature::Sparse(Sparse::of(likelihood, pattern, slopes));
        }
        let rows: Vec<Vec<f64>> = (0..extra).map(|k| border(likelihood, slopes, k)).collect();
        let corner = corner(likelihood, slopes);
        let mut diagonal = vec![0.0; n];
        likelihood.meetings.gather(&mut diagonal, |_, at| slopes[likelihood.cell(at)].dd);
        diagonal.iter_mut().for_each(|value| *value += likelihood.ridge);
        for &player in held {
            diagonal[player as usize] *= 2.0;
        }
        let size = n + extra;
        let mut matrix = vec![0.0; size * size];
        for (cell, &[first, second]) in likelihood.cells.players.iter().enumerate() {
            matrix[second as usize * size + first as usize] -= slopes[cell].dd;
        }
        (0..n).for_each(|k| matrix[k * size + k] = diagonal[k]);
        for (k, row) in rows.iter().enumerate() {
            matrix[(n + k) * size..][..n].copy_from_slice(row);
            matrix[(n + k) * size + n..][..extra].copy_from_slice(&corner[k * extra..][..extra]);
        }
        let is_blind = factor(&mut matrix, size, 0.0).split_off(n);
        Curvature::Dense { factor: matrix, n: size, is_blind }
    }

    /// Whether some of so many effects say nothing here beyond the ratings and the effects before them.
    pub(super) fn is_blind(&self, n_effects: usize) -> bool {
        let is_blind = match self {
            Curvature::Dense { is_blind, .. } => is_blind,
            Curvature::Sparse(sparse) => &sparse.core.is_blind,
        };
        is_blind.iter().take(n_effects).any(|&is_blind| is_blind)
    }

    /// Solves for x, which comes as the right-hand side; `precision` is relative, for the solution without a matrix.
    pub(super) fn solve(&self, x: &mut [f64], precision: f64) {
        match self {
            Curvature::Dense { factor, n, .. } => {
                solve_lower(factor, *n, x);
                solve_upper(factor, *n, x);
            }
            Curvature::Sparse(sparse) => sparse.solve(x.as_chunks_mut::<1>().0, precision),
        }
    }
}

impl<'a> Sparse<'a> {
    /// The curvature of cells that have these slopes.
    pub(super) fn of(likelihood: &Likelihood<'_>, pattern: &'a Pattern, slopes: &[CellSlopes]) -> Self {
        let weight = |cell: usize| slopes[cell].dd;
        let reduced = Reduced::new(pattern, likelihood.cells.n_cells(), weight, likelihood.ridge);
        let rows = (0..likelihood.n_extra()).map(|k| border(likelihood, slopes, k)).collect();
        Sparse::new(reduced, rows, corner(likelihood, slopes))
    }

    fn new(reduced: Reduced<'a, f64>, rows: Vec<Vec<f64>>, mut corner: Vec<f64>) -> Self {
        let (pattern, extra) = (reduced.pattern, rows.len());
        let in_order = |row: &Vec<f64>| {
            let mut row: Vec<f64> = pattern.order.iter().map(|&player| row[player as usize]).collect();
            reduced.forward(row.as_chunks_mut::<1>().0, |a, [b]: [f64; 1]| [a * b], |[a], [b]| [a + b]);
            row
        };
        let rows: Vec<Vec<f64>> = rows.iter().map(in_order).collect();
        for a in 0..extra {
            for b in 0..extra {
                let both = rows[a][..pattern.n_solved].iter().zip(&rows[b]).zip(&reduced.pivots);
                corner[a * extra + b] -= both.map(|((a, b), pivot)| a * b / pivot).sum::<f64>();
            }
        }
        let of_core = rows.iter().flat_map(|row| &row[pattern.n_solved..]).copied().collect();
        let core = Core::new(&reduced, of_core, corner);
        let border = rows.iter().flat_map(|row| &row[..pattern.n_solved]).copied().collect();
        Sparse { reduced, core, border }
    }

    /// Solves for several x at once, each of which comes as a right-hand side.
    pub(super) fn solve<const L: usize>(&self, x: &mut [[f64; L]], precision: f64) {
        let Reduced { pattern, pivots, .. } = &self.reduced;
        let n_solved = pattern.n_solved;
        let times = |a: f64, x: [f64; L]| x.map(|x| a * x);
        let plus = |a: [f64; L], b: [f64; L]| std::array::from_fn(|lane| a[lane] + b[lane]);
        let (ratings, extra) = x.split_at_mut(pattern.n_players());
        let mut known: Vec<[f64; L]> = pattern.order.iter().map(|&player| ratings[player as usize]).collect();
        self.reduced.forward(&mut known, times, plus);
        let mut core = [&known[n_solved..], extra].concat();
        for (k, row) in self.border.chunks_exact(n_solved.max(1)).enumerate() {
            let out = &mut core[pattern.n_core() + k];
            let all = row.iter().zip(&known).zip(pivots);
            all.for_each(|((border, known), pivot)| add(out, -border / pivot, known));
        }
        self.core.solve(&mut core, precision);
        known[n_solved..].copy_from_slice(&core[..pattern.n_core()]);
        extra.copy_from_slice(&core[pattern.n_core()..]);
        for (row, x) in self.border.chunks_exact(n_solved.max(1)).zip(extra.iter()) {
            row.iter().zip(&mut known).for_each(|(border, known)| add(known, -border, x));
        }
        self.reduced.backward(&mut known, times, plus);
        pattern.order.iter().zip(&known).for_each(|(&player, known)| ratings[player as usize] = *known);
    }
}
