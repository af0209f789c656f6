//! Products of some rows with a vector, and of their transpose: sums in f64 whatever is stored, each row's in an order
//! that does not depend on the rows around it.

use super::{Features, Layout, Values};
use crate::math::{Real, wide};

/// Columns that advance together, and those of what is left.
const WIDTH: usize = 16;
const NARROW: usize = 4;

impl Features {
    /// `out[k]` = row `rows[k]` · `weights`.
    pub(crate) fn times_rows(&self, rows: &[u32], weights: &[f64], out: &mut [f64]) {
        match (&self.values, &self.layout) {
            (Values::F32(values), Layout::Dense) => dense_times(values, self.n_cols, rows, weights, out),
            (Values::F64(values), Layout::Dense) => dense_times(values, self.n_cols, rows, weights, out),
            (Values::F32(values), Layout::Sparse { starts, columns }) => {
                sparse_times(values, starts, columns, rows, weights, out);
            }
            (Values::F64(values), Layout::Sparse { starts, columns }) => {
                sparse_times(values, starts, columns, rows, weights, out);
            }
        }
    }

    /// `out[k]` = row `first + k` · `weights`, summed in column order: the digits of [`Features::dot_row`].
    pub(super) fn times_in_column_order(&self, first: usize, weights: &[f64], out: &mut [f64]) {
        match (&self.values, &self.layout) {
            (Values::F32(values), Layout::Dense) => dense_in_column_order(&values[first * self.n_cols..], weights, out),
            (Values::F64(values), Layout::Dense) => dense_in_column_order(&values[first * self.n_cols..], weights, out),
            _ => out.iter_mut().zip(first..).for_each(|(out, row)| *out = self.dot_row(row, weights)),
        }
    }

    /// `out` += Σ `coefficients[k]` · row `rows[k]`.
    pub(crate) fn add_rows(&self, rows: &[u32], coefficients: &[f64], out: &mut [f64]) {
        match (&self.values, &self.layout) {
            (Values::F32(values), Layout::Dense) => dense_add(values, self.n_cols, rows, coefficients, out),
            (Values::F64(values), Layout::Dense) => dense_add(values, self.n_cols, rows, coefficients, out),
            (Values::F32(values), Layout::Sparse { starts, columns }) => {
                sparse_add(values, starts, columns, rows, coefficients, out);
            }
            (Values::F64(values), Layout::Sparse { starts, columns }) => {
                sparse_add(values, starts, columns, rows, coefficients, out);
            }
        }
    }
}

fn row_of<T>(values: &[T], n_cols: usize, row: u32) -> &[T] {
    &values[row as usize * n_cols..][..n_cols]
}

/// Four rows at a time, whose sums do not wait for one another.
fn dense_in_column_order<T: Real>(values: &[T], weights: &[f64], out: &mut [f64]) {
    let n_cols = weights.len();
    let row = |at: usize| &values[at * n_cols..][..n_cols];
    for (quad, out) in out.chunks_mut(4).enumerate() {
        let first = 4 * quad;
        if let [a, b, c, d] = out {
            let rows = row(first).iter().zip(row(first + 1)).zip(row(first + 2)).zip(row(first + 3));
            let mut sums = [0.0; 4];
            for ((((xa, xb), xc), xd), weight) in rows.zip(weights) {
                sums[0] += xa.to_f64() * weight;
                sums[1] += xb.to_f64() * weight;
                sums[2] += xc.to_f64() * weight;
                sums[3] += xd.to_f64() * weight;
            }
            [*a, *b, *c, *d] = sums;
        } else {
            for (out, at) in out.iter_mut().zip(first..) {
                *out = row(at).iter().zip(weights).fold(0.0, |sum, (x, weight)| sum + x.to_f64() * weight);
            }
        }
    }
}

wide! {
    fn dense_times<T>(values: &[T], n_cols: usize, rows: &[u32], weights: &[f64], out: &mut [f64]) {
        let (wide, rest) = weights.as_chunks::<WIDTH>();
        let (narrow, last) = rest.as_chunks::<NARROW>();
        for (out, &row) in out.iter_mut().zip(rows) {
            let (chunks, rest) = row_of(values, n_cols, row).as_chunks::<WIDTH>();
            let mut sums = [0.0f64; WIDTH];
            for (values, weights) in chunks.iter().zip(wide) {
                let values = values.map(T::to_f64);
                for lane in 0..WIDTH {
                    sums[lane] = values[lane].times_plus::<FMA>(weights[lane], sums[lane]);
                }
            }
            let (chunks, rest) = rest.as_chunks::<NARROW>();
            let mut few: [f64; NARROW] = std::array::from_fn(|lane| sums[lane] + sums[lane + NARROW]);
            for at in (2 * NARROW..WIDTH).step_by(NARROW) {
                for lane in 0..NARROW {
                    few[lane] += sums[at + lane];
                }
            }
            for (values, weights) in chunks.iter().zip(narrow) {
                for lane in 0..NARROW {
                    few[lane] = values[lane].to_f64().times_plus::<FMA>(weights[lane], few[lane]);
                }
            }
            let rest = rest.iter().zip(last).fold(0.0, |sum, (value, weight)| value.to_f64() * weight + sum);
            *out = ((few[0] + few[2]) + (few[1] + few[3])) + rest;
        }
    }
}

wide! {
    fn dense_add<T>(values: &[T], n_cols: usize, rows: &[u32], coefficients: &[f64], out: &mut [f64]) {
        let mut quads = rows.chunks_exact(4);
        let mut factors = coefficients.chunks_exact(4);
        for (quad, factors) in (&mut quads).zip(&mut factors) {
            let rows: [&[T]; 4] = std::array::from_fn(|k| row_of(values, n_cols, quad[k]));
            let (a, b, c, d) = (factors[0], factors[1], factors[2], factors[3]);
            let [ra, rb, rc, rd] = rows;
            for ((((out, xa), xb), xc), xd) in out.iter_mut().zip(ra).zip(rb).zip(rc).zip(rd) {
                let sum = a.times_plus::<FMA>(xa.to_f64(), *out);
                let sum = b.times_plus::<FMA>(xb.to_f64(), sum);
                let sum = c.times_plus::<FMA>(xc.to_f64(), sum);
                *out = d.times_plus::<FMA>(xd.to_f64(), sum);
            }
        }
        for (row, factor) in quads.remainder().iter().zip(factors.remainder()) {
            for (out, x) in out.iter_mut().zip(row_of(values, n_cols, *row)) {
                *out = factor.times_plus::<FMA>(x.to_f64(), *out);
            }
        }
    }
}

fn sparse_times<T: Real>(
    values: &[T],
    starts: &[usize],
    columns: &[u32],
    rows: &[u32],
    weights: &[f64],
    out: &mut [f64],
) {
    for (out, &row) in out.iter_mut().zip(rows) {
        let span = starts[row as usize]..starts[row as usize + 1];
        // Two sums that do not wait for each other.
        let (mut even, mut odd) = (0.0, 0.0);
        let (columns, values) = (&columns[span.clone()], &values[span]);
        let (pairs_of_columns, last_column) = columns.as_chunks::<2>();
        let (pairs_of_values, last_value) = values.as_chunks::<2>();
        for (column, value) in pairs_of_columns.iter().zip(pairs_of_values) {
            even += value[0].to_f64() * weights[column[0] as usize];
            odd += value[1].to_f64() * weights[column[1] as usize];
        }
        for (column, value) in last_column.iter().zip(last_value) {
            even += value.to_f64() * weights[*column as usize];
        }
        *out = even + odd;
    }
}

fn sparse_add<T: Real>(
    values: &[T],
    starts: &[usize],
    columns: &[u32],
    rows: &[u32],
    coefficients: &[f64],
    out: &mut [f64],
) {
    for (&row, &factor) in rows.iter().zip(coefficients) {
        if factor != 0.0 {
            let span = starts[row as usize]..starts[row as usize + 1];
            for (column, value) in columns[span.clone()].iter().zip(&values[span]) {
                out[*column as usize] += factor * value.to_f64();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Features, Precision, Random};

    /// All four ways of storing, against sums in plain order.
    #[test]
    fn products_equal_plain_sums() {
        let mut random = Random::new(5);
        for n_cols in [1, 7, 8, 19, 136] {
            let n_rows = 11;
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
            let rows = [3, 0, 10, 7, 7, 2, 9];
            let coefficients: Vec<f64> = rows.iter().map(|_| draw(0.8)).collect();
            for features in stored {
                let mut scores = vec![0.0; rows.len()];
                features.times_rows(&rows, &weights, &mut scores);
                let mut alone = [0.0];
                for (at, &row) in rows.iter().enumerate() {
                    assert!((scores[at] - features.dot_row(row as usize, &weights)).abs() < 1e-13);
                    features.times_rows(&[row], &weights, &mut alone);
                    assert_eq!(alone[0], scores[at], "the sum of a row depends on its neighbours");
                }
                let all: Vec<f64> = (0..n_rows).map(|row| features.dot_row(row, &weights)).collect();
                assert_eq!(features.times(&weights), all);
                let mut sum = vec![1.0; n_cols];
                features.add_rows(&rows, &coefficients, &mut sum);
                let plain =
                    features.combine_rows(rows.iter().map(|&row| row as usize).zip(coefficients.iter().copied()));
                for (fast, slow) in sum.iter().zip(&plain) {
                    assert!((fast - (slow + 1.0)).abs() < 1e-13);
                }
            }
        }
    }
}
