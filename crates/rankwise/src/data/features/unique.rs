//! Rows that are the same, found by their hashes.

use rayon::prelude::*;

use super::{Features, Layout, ROWS_AT_A_TIME, Values};
use crate::data::random::mix;
use crate::math::Real;

impl Features {
    /// The distinct rows in order of first appearance, and for every row the number of its distinct one.
    /// −0 and 0 are the same number. O(stored numbers).
    pub fn unique_rows(&self) -> (Self, Vec<u32>) {
        match self.distinct_rows() {
            None => (self.clone(), (0..self.n_rows as u32).collect()),
            Some((kept, numbers)) => (self.select_rows(&kept), numbers),
        }
    }

    /// [`Features::unique_rows`] of a matrix that is not needed any more: itself where all rows differ.
    pub(crate) fn into_unique_rows(self) -> (Self, Vec<u32>) {
        match self.distinct_rows() {
            None => {
                let numbers = (0..self.n_rows as u32).collect();
                (self, numbers)
            }
            Some((kept, numbers)) => (self.select_rows(&kept), numbers),
        }
    }

    /// The first row of each kind, ascending, and for every row the number of its kind; `None` if all rows differ.
    pub(crate) fn distinct_rows(&self) -> Option<(Vec<usize>, Vec<u32>)> {
        let mut hashes = vec![(0, 0); self.n_rows];
        hashes.par_chunks_mut(ROWS_AT_A_TIME).enumerate().for_each(|(chunk, out)| {
            let first = chunk * ROWS_AT_A_TIME;
            out.iter_mut().zip(first..).for_each(|(out, row)| *out = (self.hash_row(row), row as u32));
        });
        // Rows of the same hash stand together, in order.
        hashes.par_sort_unstable();
        let mut first_like: Vec<u32> = Vec::new();
        for run in hashes.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            let mut firsts: Vec<u32> = Vec::new();
            for &(_, row) in run {
                match firsts.iter().find(|&&first| self.rows_equal(first as usize, row as usize)) {
                    None => firsts.push(row),
                    Some(&first) => {
                        if first_like.is_empty() {
                            first_like = (0..self.n_rows as u32).collect();
                        }
                        first_like[row as usize] = first;
                    }
                }
            }
        }
        if first_like.is_empty() {
            return None;
        }
        drop(hashes);
        // The first row of a kind comes before all others of it, and has its number by then.
        let (mut kept, mut numbers) = (Vec::new(), first_like);
        for row in 0..self.n_rows {
            let first = numbers[row] as usize;
            if first == row {
                numbers[row] = kept.len() as u32;
                kept.push(row);
            } else {
                numbers[row] = numbers[first];
            }
        }
        Some((kept, numbers))
    }

    /// A hash of a row's numbers that does not depend on how they are stored.
    pub fn hash_row(&self, row: usize) -> u64 {
        let mut hash = 0;
        self.for_each_in_row(row, |column, value| {
            if value != 0.0 {
                hash = mix(mix(hash, column as u64), value.to_bits());
            }
        });
        hash
    }

    fn rows_equal(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.span(a), self.span(b));
        match (&self.layout, &self.values) {
            (Layout::Dense, Values::F32(values)) => values[a] == values[b],
            (Layout::Dense, Values::F64(values)) => values[a] == values[b],
            (Layout::Sparse { columns, .. }, Values::F32(values)) => {
                entries(&columns[a.clone()], &values[a]).eq(entries(&columns[b.clone()], &values[b]))
            }
            (Layout::Sparse { columns, .. }, Values::F64(values)) => {
                entries(&columns[a.clone()], &values[a]).eq(entries(&columns[b.clone()], &values[b]))
            }
        }
    }
}

/// What a row stores that is not 0.
fn entries<'a, T: Real>(columns: &'a [u32], values: &'a [T]) -> impl Iterator<Item = (u32, T)> {
    columns.iter().copied().zip(values.iter().copied()).filter(|entry| entry.1 != T::ZERO)
}

#[cfg(test)]
mod tests {
    use crate::data::{Features, Numbers, Precision, Random};

    /// Few values in few columns, −0 among them, against a look at all rows before.
    #[test]
    fn distinct_rows_equal_those_of_a_plain_look() {
        let mut random = Random::new(4);
        for (n_rows, n_cols) in [(0, 2), (1, 1), (40, 1), (300, 3), (3000, 5), (50, 40)] {
            let values: Vec<f64> = (0..n_rows * n_cols).map(|_| [0.0, -0.0, 1.0, -1.5][random.below(4)]).collect();
            let (mut starts, mut columns, mut stored) = (vec![0], vec![], vec![]);
            for row in values.chunks(n_cols) {
                // Some zeros are stored, some are not.
                for (column, &value) in row.iter().enumerate().filter(|(_, value)| value.to_bits() != 0) {
                    columns.push(column as u32);
                    stored.push(value);
                }
                starts.push(stored.len());
            }
            let singles: Vec<f32> = stored.iter().map(|&value| value as f32).collect();
            let all = [
                Features::dense(n_cols, values.clone(), Precision::F32).unwrap(),
                Features::dense(n_cols, values.clone(), Precision::F64).unwrap(),
                Features::sparse(n_cols, starts.clone(), columns.clone(), stored).unwrap(),
                Features::sparse_shared(n_cols, starts.into(), columns.into(), Numbers::F32(singles.into())).unwrap(),
            ];
            let rows: Vec<&[f64]> = values.chunks(n_cols).collect();
            let mut kept: Vec<&[f64]> = Vec::new();
            let numbers: Vec<u32> = rows
                .iter()
                .map(|row| {
                    let known = kept.iter().position(|other| other == row);
                    known.unwrap_or_else(|| {
                        kept.push(row);
                        kept.len() - 1
                    }) as u32
                })
                .collect();
            for features in all {
                let (unique, found) = features.unique_rows();
                assert_eq!(found, numbers);
                assert_eq!(unique.to_dense(), kept.concat());
                let (same, again) = features.into_unique_rows();
                assert_eq!((same.to_dense(), again), (unique.to_dense(), found));
            }
        }
    }
}
