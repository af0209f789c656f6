//! Which effects games can tell: columns that say something beyond who plays, and beyond the columns before them.
//!
//! At equal ratings, the information of a column that ratings and the chosen columns leave is what Cholesky's method has as its
//! pivot. A column of a player's own (its age) leaves nothing: ratings say all of it.

use super::State;
use super::cells::Cells;
use super::curvature::Curvature;
use super::slopes::{CellSlopes, Likelihood};

/// Shares of a column's information that are nothing but rounding.
const REDUNDANT: f64 = 1e-9;
/// Numbers beyond these have squares that are no numbers, or nothing.
const SQUARABLE: std::ops::Range<f64> = 1e-100..1e100;

impl Cells {
    /// Some of the columns, each divided by a number.
    pub(super) fn with_columns(&self, columns: &[(usize, f64)]) -> Cells {
        let row = |cell: usize| columns.iter().map(move |&(k, size)| self.difference(cell)[k] / size);
        let differences = (0..self.n_cells()).flat_map(row).collect();
        Cells { differences, n_effects: columns.len(), ..self.clone() }
    }
}

impl State {
    /// Keeps the columns that games can tell, in units of their mean size; `theta` is where ln ν begins.
    pub(super) fn choose_columns(&mut self, theta: f64) {
        if self.cells.n_effects == 0 {
            return;
        }
        let sizes = (0..self.cells.n_effects).map(|k| self.size_of_column(k));
        let candidates: Vec<(usize, f64)> = sizes.enumerate().filter(|(_, size)| *size > 0.0).collect();
        let chosen = self.telling(&candidates, theta);
        self.columns = chosen.into_iter().map(|k| candidates[k]).collect();
        self.cells = self.cells.with_columns(&self.columns);
    }

    /// The square root of the mean square of a column.
    fn size_of_column(&self, k: usize) -> f64 {
        let values = || (0..self.cells.n_cells()).map(|cell| self.cells.difference(cell)[k]);
        let most = values().fold(0.0f64, |most, value| most.max(value.abs()));
        if !SQUARABLE.contains(&most) {
            return most;
        }
        let weights = || self.counts.iter().map(|counts| counts.iter().sum::<f64>());
        let squares: f64 = values().zip(weights()).map(|(value, weight)| weight * value * value).sum();
        (squares / weights().sum::<f64>()).sqrt()
    }

    /// The numbers of the candidates that say something beyond who plays, and beyond those before them.
    fn telling(&self, candidates: &[(usize, f64)], theta: f64) -> Vec<usize> {
        let (scaled, bare) = (self.cells.with_columns(candidates), self.cells.with_columns(&[]));
        let equal = [vec![0.0; self.players.len()], vec![theta]].concat();
        let mut slopes: Vec<CellSlopes> = Vec::new();
        Likelihood { cells: &bare, ..self.likelihood(&self.counts) }.cell_slopes(&equal, &mut slopes);
        let likelihood = Likelihood { cells: &bare, has_ties: false, ..self.likelihood(&self.counts) };
        let curvature = Curvature::new(&likelihood, &slopes, &self.held());
        let product = |k: usize, l: usize| {
            likelihood.sum(|cell| slopes[cell].dd * scaled.difference(cell)[k] * scaled.difference(cell)[l])
        };
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // The ratings that say most of each chosen column, and the rows of Cholesky's factor.
        let mut chosen: Vec<(usize, Vec<f64>)> = Vec::new();
        let mut factor: Vec<Vec<f64>> = Vec::new();
        for k in 0..candidates.len() {
            let mut coupling = vec![0.0; self.players.len()];
            self.meetings.gather(&mut coupling, |player, at| {
                let cell = likelihood.cell(at);
                likelihood.sign(player, at) * slopes[cell].dd * scaled.difference(cell)[k]
            });
            let mut solved = coupling.clone();
            curvature.solve(&mut solved, 1e-9);
            let own = product(k, k);
            let mut left = own - inner(&coupling, &solved);
            let mut row = Vec::new();
            for (at, (l, other)) in chosen.iter().enumerate() {
                let both = product(k, *l) - inner(&coupling, other);
                let value = (both - inner(&row, &factor[at][..at])) / factor[at][at];
                left -= value * value;
                row.push(value);
            }
            if left > REDUNDANT * own {
                row.push(left.sqrt());
                factor.push(row);
                chosen.push((k, solved));
            }
        }
        chosen.into_iter().map(|(k, _)| k).collect()
    }
}
