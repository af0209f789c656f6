//! A basis of a linear program: as many *basic* columns as *tight* rows, with the inverse of the matrix that they make.

use crate::math::{add_multiple, dot};

/// Below this, relative to what it began with, no pivot is left.
const LEAST_PIVOT: f64 = 1e-12;

/// Basic columns and tight rows by number, in pairs of no meaning.
#[derive(Debug, Clone, Default)]
pub(super) struct Basis {
    pub(super) columns: Vec<usize>,
    pub(super) rows: Vec<usize>,
    /// A row per basic column, a number per tight row.
    pub(super) inverse: Vec<Vec<f64>>,
}

impl Basis {
    /// A row over the basic columns times the inverse: a number per tight row.
    pub(super) fn times_inverse(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut out = vec![0.0; self.rows.len()];
        for (row, &column) in self.inverse.iter().zip(&self.columns) {
            add_multiple(&mut out, value(column), row);
        }
        out
    }

    /// The inverse times a column over the tight rows: a number per basic column.
    pub(super) fn inverse_times(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let column: Vec<f64> = self.rows.iter().map(|&row| value(row)).collect();
        self.inverse.iter().map(|row| dot(row, &column)).collect()
    }

    /// Another row is tight instead. `value` says what is at a row and a column.
    pub(super) fn exchange_rows(&mut self, at: usize, row: usize, value: impl Fn(usize, usize) -> f64) {
        let mut factors = self.times_inverse(|column| value(row, column));
        let pivot = std::mem::replace(&mut factors[at], 0.0);
        for line in &mut self.inverse {
            let own = line[at] / pivot;
            add_multiple(line, -own, &factors);
            line[at] = own;
        }
        self.rows[at] = row;
    }

    /// Another column is basic instead.
    pub(super) fn exchange_columns(&mut self, at: usize, column: usize, value: impl Fn(usize, usize) -> f64) {
        let factors = self.inverse_times(|row| value(row, column));
        let mut own = std::mem::take(&mut self.inverse[at]);
        own.iter_mut().for_each(|value| *value /= factors[at]);
        for (line, &factor) in self.inverse.iter_mut().zip(&factors) {
            if !line.is_empty() {
                add_multiple(line, -factor, &own);
            }
        }
        self.inverse[at] = own;
        self.columns[at] = column;
    }

    /// One more row is tight, one more column basic.
    pub(super) fn grow(&mut self, row: usize, column: usize, value: impl Fn(usize, usize) -> f64) {
        let of_row = self.times_inverse(|column| value(row, column));
        let of_column = self.inverse_times(|row| value(row, column));
        let through: f64 = of_row.iter().zip(&self.rows).map(|(v, &row)| v * value(row, column)).sum();
        let pivot = value(row, column) - through;
        for (line, u) in self.inverse.iter_mut().zip(&of_column) {
            add_multiple(line, u / pivot, &of_row);
            line.push(-u / pivot);
        }
        let mut last: Vec<f64> = of_row.iter().map(|v| -v / pivot).collect();
        last.push(1.0 / pivot);
        self.inverse.push(last);
        self.columns.push(column);
        self.rows.push(row);
    }

    /// One row fewer is tight, one column fewer basic.
    pub(super) fn shrink(&mut self, at: usize, out: usize) {
        let mut own = self.inverse.swap_remove(out);
        self.columns.swap_remove(out);
        let pivot = own.swap_remove(at);
        for line in &mut self.inverse {
            let factor = line.swap_remove(at) / pivot;
            add_multiple(line, -factor, &own);
        }
        self.rows.swap_remove(at);
    }

    /// The inverse from the numbers themselves; whether there is one. If not, nothing is changed.
    pub(super) fn refresh(&mut self, value: impl Fn(usize, usize) -> f64) -> bool {
        let k = self.columns.len();
        let mut work: Vec<Vec<f64>> = Vec::with_capacity(k);
        for (at, &row) in self.rows.iter().enumerate() {
            let mut line: Vec<f64> = self.columns.iter().map(|&column| value(row, column)).collect();
            // Rows of all sizes are worth the same.
            let size = line.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
            line.resize(2 * k, 0.0);
            line[k + at] = 1.0;
            if size > 0.0 {
                line.iter_mut().for_each(|value| *value /= size);
            }
            work.push(line);
        }
        for at in 0..k {
            let best = (at..k).max_by(|&a, &b| work[a][at].abs().total_cmp(&work[b][at].abs())).unwrap_or(at);
            work.swap(at, best);
            let pivot = work[at][at];
            if pivot.abs() < LEAST_PIVOT {
                return false;
            }
            work[at].iter_mut().for_each(|value| *value /= pivot);
            let own = std::mem::take(&mut work[at]);
            for line in work.iter_mut().filter(|line| !line.is_empty()) {
                let factor = line[at];
                if factor != 0.0 {
                    add_multiple(line, -factor, &own);
                }
            }
            work[at] = own;
        }
        self.inverse = work.into_iter().map(|line| line[k..].to_vec()).collect();
        true
    }
}
