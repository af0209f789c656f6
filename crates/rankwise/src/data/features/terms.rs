//! The difference of two rows at a time: what a step of a stochastic method reads and adds.

use super::{Features, Layout, Values};
use crate::math::{Real, wide};

/// Columns that advance together.
const WIDTH: usize = 16;
/// Bytes that the processor fetches at once.
const LINE_BYTES: usize = 64;

impl Features {
    /// (row `plus` − row `minus`) · `weights`.
    pub(crate) fn dot_difference(&self, plus: u32, minus: u32, weights: &[f64]) -> f64 {
        match (&self.values, &self.layout) {
            (Values::F32(values), Layout::Dense) => {
                dense_dot(self.dense_row(values, plus), self.dense_row(values, minus), weights)
            }
            (Values::F64(values), Layout::Dense) => {
                dense_dot(self.dense_row(values, plus), self.dense_row(values, minus), weights)
            }
            (Values::F32(values), Layout::Sparse { columns, .. }) => {
                let dot = |row| sparse_dot(&columns[self.span(row)], &values[self.span(row)], weights);
                dot(plus as usize) - dot(minus as usize)
            }
            (Values::F64(values), Layout::Sparse { columns, .. }) => {
                let dot = |row| sparse_dot(&columns[self.span(row)], &values[self.span(row)], weights);
                dot(plus as usize) - dot(minus as usize)
            }
        }
    }

    /// Adds `factor` · (row `plus` − row `minus`) to `weights`, and the same with another factor to `other`.
    pub(crate) fn add_difference(
        &self,
        plus: u32,
        minus: u32,
        weights: &mut [f64],
        factor: f64,
        other: Option<(&mut [f64], f64)>,
    ) {
        match (&self.values, &self.layout, other) {
            (Values::F32(values), Layout::Dense, Some((other, other_factor))) => {
                let rows = (self.dense_row(values, plus), self.dense_row(values, minus));
                dense_add(rows, weights, factor, other, other_factor);
            }
            (Values::F64(values), Layout::Dense, Some((other, other_factor))) => {
                let rows = (self.dense_row(values, plus), self.dense_row(values, minus));
                dense_add(rows, weights, factor, other, other_factor);
            }
            (Values::F32(values), Layout::Sparse { columns, .. }, Some((other, other_factor))) => {
                for (row, sign) in [(self.span(plus as usize), 1.0), (self.span(minus as usize), -1.0)] {
                    let row = (&columns[row.clone()], &values[row]);
                    sparse_add(row, weights, sign * factor, other, sign * other_factor);
                }
            }
            (Values::F64(values), Layout::Sparse { columns, .. }, Some((other, other_factor))) => {
                for (row, sign) in [(self.span(plus as usize), 1.0), (self.span(minus as usize), -1.0)] {
                    let row = (&columns[row.clone()], &values[row]);
                    sparse_add(row, weights, sign * factor, other, sign * other_factor);
                }
            }
            (_, _, None) => self.add_rows(&[plus, minus], &[factor, -factor], weights),
        }
    }

    /// ‖row `plus` − row `minus`‖²; without `minus` ‖row `plus`‖².
    pub(crate) fn squared_distance(&self, plus: u32, minus: Option<u32>) -> f64 {
        let entries = |row: u32| {
            let mut entries = Vec::new();
            self.for_each_in_row(row as usize, |column, value| entries.push((column, value)));
            entries
        };
        let (plus, minus) = (entries(plus), minus.map(entries).unwrap_or_default());
        let (mut a, mut b) = (plus.iter().peekable(), minus.iter().peekable());
        let mut sum = 0.0;
        loop {
            let difference = match (a.peek(), b.peek()) {
                (None, None) => return sum,
                (Some(&&(column, value)), other) if other.is_none_or(|other| column < other.0) => {
                    a.next();
                    value
                }
                (Some(&&(column, value)), Some(&&(other, subtracted))) if column == other => {
                    a.next();
                    b.next();
                    value - subtracted
                }
                (_, Some(&&(_, value))) => {
                    b.next();
                    value
                }
                (Some(_), None) => return sum,
            };
            sum += difference * difference;
        }
    }

    /// Asks for a row that will be read soon.
    #[inline]
    pub(crate) fn prefetch(&self, row: u32) {
        let span = self.span(row as usize);
        match &self.values {
            Values::F32(values) => prefetch(&values[span.clone()]),
            Values::F64(values) => prefetch(&values[span.clone()]),
        }
        if let Layout::Sparse { columns, .. } = &self.layout {
            prefetch(&columns[span]);
        }
    }

    #[inline]
    fn dense_row<'a, T>(&self, values: &'a [T], row: u32) -> &'a [T] {
        &values[row as usize * self.n_cols..][..self.n_cols]
    }
}

#[inline]
fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks((LINE_BYTES / size_of::<T>()).max(1)) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no effect but on time, whatever the address; this one is valid besides.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, LINE_BYTES);
}

wide! {
    fn dense_dot<T>(plus: &[T], minus: &[T], weights: &[f64]) -> f64 {
        let (wide_plus, rest_plus) = plus.as_chunks::<WIDTH>();
        let (wide_minus, rest_minus) = minus.as_chunks::<WIDTH>();
        let (wide, rest) = weights.as_chunks::<WIDTH>();
        let mut sums = [0.0f64; WIDTH];
        for ((plus, minus), weights) in wide_plus.iter().zip(wide_minus).zip(wide) {
            let (plus, minus) = (plus.map(T::to_f64), minus.map(T::to_f64));
            for lane in 0..WIDTH {
                sums[lane] = (plus[lane] - minus[lane]).times_plus::<FMA>(weights[lane], sums[lane]);
            }
        }
        let rest = rest_plus.iter().zip(rest_minus).zip(rest);
        let rest = rest.fold(0.0, |sum, ((plus, minus), weight)| sum + (plus.to_f64() - minus.to_f64()) * weight);
        sums.iter().sum::<f64>() + rest
    }
}

wide! {
    fn dense_add<T>(rows: (&[T], &[T]), weights: &mut [f64], factor: f64, other: &mut [f64], other_factor: f64) {
        for (((weight, other), plus), minus) in weights.iter_mut().zip(other).zip(rows.0).zip(rows.1) {
            let difference = plus.to_f64() - minus.to_f64();
            *weight = factor.times_plus::<FMA>(difference, *weight);
            *other = other_factor.times_plus::<FMA>(difference, *other);
        }
    }
}

/// As many sums as it takes that none waits for another.
fn sparse_dot<T: Real>(columns: &[u32], values: &[T], weights: &[f64]) -> f64 {
    const SUMS: usize = 8;
    let (wide_columns, last_columns) = columns.as_chunks::<SUMS>();
    let (wide_values, last_values) = values.as_chunks::<SUMS>();
    let mut sums = [0.0; SUMS];
    for (columns, values) in wide_columns.iter().zip(wide_values) {
        for lane in 0..SUMS {
            sums[lane] += values[lane].to_f64() * weights[columns[lane] as usize];
        }
    }
    for (column, value) in last_columns.iter().zip(last_values) {
        sums[0] += value.to_f64() * weights[*column as usize];
    }
    sums.iter().sum()
}

/// Both vectors have as many numbers as there are columns.
fn sparse_add<T: Real>(
    (columns, values): (&[u32], &[T]),
    weights: &mut [f64],
    factor: f64,
    other: &mut [f64],
    other_factor: f64,
) {
    let n_cols = weights.len();
    let other = &mut other[..n_cols];
    for (&column, value) in columns.iter().zip(values) {
        let value = value.to_f64();
        weights[column as usize] += factor * value;
        other[column as usize] += other_factor * value;
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Features, Precision, Random};

    /// All four ways of storing, against the differences themselves.
    #[test]
    fn differences_equal_plain_ones() {
        let mut random = Random::new(6);
        for n_cols in [1, 7, 16, 37] {
            let numbers: Vec<f64> = (0..5 * n_cols)
                .map(|_| if random.uniform() < 0.6 { f64::from(random.normal() as f32) } else { 0.0 })
                .collect();
            let weights: Vec<f64> = (0..n_cols).map(|_| random.normal()).collect();
            let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
            for row in numbers.chunks(n_cols) {
                for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                    columns.push(column as u32);
                    values.push(*value);
                }
                starts.push(values.len());
            }
            for features in [
                Features::dense(n_cols, numbers.clone(), Precision::F32).unwrap(),
                Features::dense(n_cols, numbers.clone(), Precision::F64).unwrap(),
                Features::sparse(n_cols, starts, columns, values).unwrap(),
            ] {
                for (plus, minus) in [(0, 3), (4, 1), (2, 2)] {
                    let row = |at: u32| &numbers[at as usize * n_cols..][..n_cols];
                    let plain: Vec<f64> = row(plus).iter().zip(row(minus)).map(|(a, b)| a - b).collect();
                    let dot: f64 = plain.iter().zip(&weights).map(|(d, w)| d * w).sum();
                    assert!((features.dot_difference(plus, minus, &weights) - dot).abs() < 1e-12);
                    let square: f64 = plain.iter().map(|d| d * d).sum();
                    assert!((features.squared_distance(plus, Some(minus)) - square).abs() < 1e-12 * (1.0 + square));
                    let norm: f64 = row(plus).iter().map(|x| x * x).sum();
                    assert!((features.squared_distance(plus, None) - norm).abs() < 1e-12 * (1.0 + norm));
                    let (mut one, mut first, mut second) = (weights.clone(), weights.clone(), weights.clone());
                    features.prefetch(plus);
                    features.add_difference(plus, minus, &mut one, 0.5, None);
                    features.add_difference(plus, minus, &mut first, 0.5, Some((&mut second, -2.0)));
                    for k in 0..n_cols {
                        assert!((one[k] - (weights[k] + 0.5 * plain[k])).abs() < 1e-13);
                        assert!((first[k] - (weights[k] + 0.5 * plain[k])).abs() < 1e-13);
                        assert!((second[k] - (weights[k] - 2.0 * plain[k])).abs() < 1e-13);
                    }
                }
            }
        }
    }
}
