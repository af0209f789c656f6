//! Cholesky's factorisation with pivots of a positive semidefinite matrix: rows are asked for one by one, each the one that those
//! before it describe worst.

use rayon::prelude::*;

/// L·Lᵀ that comes near to a matrix, or is it but for rounding.
pub(crate) struct Pivoted {
    /// The rows that were asked for.
    pub(crate) chosen: Vec<usize>,
    /// L, a column after the other.
    columns: Vec<Vec<f64>>,
}

impl Pivoted {
    /// Factors a matrix with this diagonal, until no more than `resolution` of it is left or there are `most` columns; `None`
    /// where it should not go on.
    pub(crate) fn new(
        mut left: Vec<f64>,
        mut row: impl FnMut(usize) -> Vec<f64>,
        resolution: f64,
        most: usize,
        goes_on: impl Fn() -> bool,
    ) -> Option<Self> {
        let (mut columns, mut chosen): (Vec<Vec<f64>>, Vec<usize>) = (Vec::new(), Vec::new());
        loop {
            let (pivot, most_left) =
                left.iter().enumerate().fold((0, 0.0), |best, (k, &v)| if v > best.1 { (k, v) } else { best });
            if most_left <= resolution || chosen.len() == most {
                return Some(Pivoted { chosen, columns });
            }
            if !goes_on() {
                return None;
            }
            let own: Vec<f64> = columns.iter().map(|column| column[pivot]).collect();
            let root = most_left.sqrt();
            let mut column = row(pivot);
            column.par_chunks_mut(4096).enumerate().for_each(|(chunk, out)| {
                let start = chunk * 4096;
                for (known, factor) in columns.iter().zip(&own) {
                    let known = &known[start..start + out.len()];
                    out.iter_mut().zip(known).for_each(|(v, k)| *v -= factor * k);
                }
                out.iter_mut().for_each(|v| *v /= root);
            });
            chosen.iter().for_each(|&before| column[before] = 0.0);
            column[pivot] = root;
            left.iter_mut().zip(&column).for_each(|(left, v)| *left -= v * v);
            chosen.iter().chain([&pivot]).for_each(|&done| left[done] = 0.0);
            chosen.push(pivot);
            columns.push(column);
        }
    }

    /// The rows of L that were chosen: a lower triangle in a square.
    pub(crate) fn factor(&self) -> Vec<f64> {
        let r = self.chosen.len();
        let mut factor = vec![0.0; r * r];
        for (i, &item) in self.chosen.iter().enumerate() {
            for (j, column) in self.columns[..=i].iter().enumerate() {
                factor[i * r + j] = column[item];
            }
        }
        factor
    }

    /// L of `n` rows, row by row.
    pub(crate) fn values(&self, n: usize) -> Vec<f64> {
        let r = self.chosen.len();
        let mut values = vec![0.0; n * r];
        values.par_chunks_mut(r.max(1)).enumerate().for_each(|(item, out)| {
            out.iter_mut().zip(&self.columns).for_each(|(v, column)| *v = column[item]);
        });
        values
    }
}
