//! Products with the absolute differences of two rows, column by column, and of their transpose. Exchanging the two rows
//! changes no digit.

use rayon::prelude::*;

use super::{Features, Layout, Values};
use crate::data::Pair;
use crate::math::{Real, wide};

/// Pairs of a task.
const TASK: usize = 1024;

impl Features {
    /// `out[k]` = Σ over columns of |right − left| · weight, for pair k.
    pub(crate) fn times_distances(&self, pairs: &[Pair], weights: &[f64], out: &mut [f64]) {
        out.par_chunks_mut(TASK).zip(pairs.par_chunks(TASK)).for_each(|(out, pairs)| {
            match (&self.values, &self.layout) {
                (Values::F32(values), Layout::Dense) => dense_times(values, self.n_cols, pairs, weights, out),
                (Values::F64(values), Layout::Dense) => dense_times(values, self.n_cols, pairs, weights, out),
                _ => {
                    for (out, pair) in out.iter_mut().zip(pairs) {
                        *out = 0.0;
                        self.for_each_distance(*pair, |column, distance| *out += distance * weights[column]);
                    }
                }
            }
        });
    }

    /// `out` += Σ over pairs of coefficient · |right − left|.
    pub(crate) fn add_distances(&self, pairs: &[Pair], coefficients: &[f64], out: &mut [f64]) {
        match (&self.values, &self.layout) {
            (Values::F32(values), Layout::Dense) => dense_add(values, self.n_cols, pairs, coefficients, out),
            (Values::F64(values), Layout::Dense) => dense_add(values, self.n_cols, pairs, coefficients, out),
            _ => {
                for (pair, factor) in pairs.iter().zip(coefficients) {
                    self.for_each_distance(*pair, |column, distance| out[column] += factor * distance);
                }
            }
        }
    }

    /// Every column in which two rows may differ, with the absolute difference.
    pub(crate) fn for_each_distance(&self, pair: Pair, mut each: impl FnMut(usize, f64)) {
        let Layout::Sparse { .. } = &self.layout else {
            let mut left = vec![0.0; self.n_cols];
            self.copy_row(pair.left as usize, &mut left);
            self.for_each_in_row(pair.right as usize, |column, value| each(column, (value - left[column]).abs()));
            return;
        };
        let entries = |row: u32| {
            let mut entries = Vec::with_capacity(self.n_stored_in_row(row as usize));
            self.for_each_in_row(row as usize, |column, value| entries.push((column, value)));
            entries
        };
        let (left, right) = (entries(pair.left), entries(pair.right));
        let (mut l, mut r) = (left.iter().peekable(), right.iter().peekable());
        loop {
            let (column, distance) = match (l.peek(), r.peek()) {
                (None, None) => break,
                (Some((a, x)), Some((b, y))) if a == b => (*a, (y - x).abs()),
                (Some((a, x)), other) if other.is_none_or(|(b, _)| a < b) => (*a, x.abs()),
                (_, Some((b, y))) => (*b, y.abs()),
                (Some((a, x)), None) => (*a, x.abs()),
            };
            l.next_if(|(a, _)| *a == column);
            r.next_if(|(b, _)| *b == column);
            each(column, distance);
        }
    }
}

wide! {
    fn dense_times<T>(values: &[T], n_cols: usize, pairs: &[Pair], weights: &[f64], out: &mut [f64]) {
        for (out, pair) in out.iter_mut().zip(pairs) {
            let [left, right] = [pair.left, pair.right].map(|row| &values[row as usize * n_cols..][..n_cols]);
            let (wide_left, left) = left.as_chunks::<8>();
            let (wide_right, right) = right.as_chunks::<8>();
            let (wide_weights, weights) = weights.as_chunks::<8>();
            let mut sums = [0.0f64; 8];
            for ((l, r), w) in wide_left.iter().zip(wide_right).zip(wide_weights) {
                for lane in 0..8 {
                    let distance = (r[lane].to_f64() - l[lane].to_f64()).abs();
                    sums[lane] = distance.times_plus::<FMA>(w[lane], sums[lane]);
                }
            }
            let mut rest = 0.0;
            for ((l, r), w) in left.iter().zip(right).zip(weights) {
                rest += (r.to_f64() - l.to_f64()).abs() * w;
            }
            *out = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest;
        }
    }
}

wide! {
    fn dense_add<T>(values: &[T], n_cols: usize, pairs: &[Pair], coefficients: &[f64], out: &mut [f64]) {
        for (pair, factor) in pairs.iter().zip(coefficients) {
            let [left, right] = [pair.left, pair.right].map(|row| &values[row as usize * n_cols..][..n_cols]);
            for ((out, l), r) in out.iter_mut().zip(left).zip(right) {
                let distance = (r.to_f64() - l.to_f64()).abs();
                *out = factor.times_plus::<FMA>(distance, *out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Features, Pair, Precision, Random};

    /// All ways of storing, against plain sums, either way round.
    #[test]
    fn distances_equal_plain_sums() {
        let mut random = Random::new(3);
        for n_cols in [1, 5, 8, 21] {
            let n_rows = 9;
            let mut draw = |share: f64| if random.uniform() < share { random.uniform() * 4.0 - 2.0 } else { 0.0 };
            let numbers: Vec<f64> = (0..n_rows * n_cols).map(|_| f64::from(draw(0.5) as f32)).collect();
            let weights: Vec<f64> = (0..n_cols).map(|_| draw(1.0)).collect();
            let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
            for row in numbers.chunks(n_cols) {
                for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                    columns.push(column as u32);
                    values.push(*value);
                }
                starts.push(values.len());
            }
            let stored = [
                Features::dense(n_cols, numbers.clone(), Precision::F32).unwrap(),
                Features::dense(n_cols, numbers.clone(), Precision::F64).unwrap(),
                Features::sparse(n_cols, starts, columns, values).unwrap(),
            ];
            let pairs = [(0, 1), (4, 2), (3, 3), (8, 7), (1, 0)].map(|(left, right)| Pair { left, right });
            let swapped = pairs.map(|p| Pair { left: p.right, right: p.left });
            let coefficients: Vec<f64> = pairs.iter().map(|_| draw(1.0)).collect();
            let distance = |p: &Pair, c: usize| {
                (numbers[p.right as usize * n_cols + c] - numbers[p.left as usize * n_cols + c]).abs()
            };
            for features in stored {
                let (mut out, mut mirrored) = (vec![9.0; pairs.len()], vec![9.0; pairs.len()]);
                features.times_distances(&pairs, &weights, &mut out);
                features.times_distances(&swapped, &weights, &mut mirrored);
                assert_eq!(out, mirrored);
                for (out, pair) in out.iter().zip(&pairs) {
                    let plain: f64 = (0..n_cols).map(|c| distance(pair, c) * weights[c]).sum();
                    assert!((out - plain).abs() < 1e-12);
                }
                let mut sum = vec![1.0; n_cols];
                features.add_distances(&pairs, &coefficients, &mut sum);
                for (c, sum) in sum.iter().enumerate() {
                    let plain: f64 = pairs.iter().zip(&coefficients).map(|(pair, k)| k * distance(pair, c)).sum();
                    assert!((sum - 1.0 - plain).abs() < 1e-12);
                }
            }
        }
    }
}
