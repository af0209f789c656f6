//! Rows of features times weights of all classes at once, and sums over the classes of an item.

use crate::data::{Features, Values};
use crate::math::wide;

/// Numbers of one feature stand side by side, padded to a multiple of this.
pub(super) const LANES: usize = 8;

/// out = (1, x)·weights, `stride` numbers.
pub(super) fn times(features: &Features, row: usize, weights: &[f64], out: &mut [f64]) {
    let (columns, span) = place(features, row);
    match features.values() {
        Values::F32(values) => times_of(columns, &values[span], weights, out),
        Values::F64(values) => times_of(columns, &values[span], weights, out),
    }
}

/// weights += (1, x)·numbers.
pub(super) fn add(features: &Features, row: usize, numbers: &[f64], weights: &mut [f64]) {
    let (columns, span) = place(features, row);
    match features.values() {
        Values::F32(values) => add_of(columns, &values[span], numbers, weights),
        Values::F64(values) => add_of(columns, &values[span], numbers, weights),
    }
}

/// The columns of a row where they are told, and where its numbers stand.
fn place(features: &Features, row: usize) -> (Option<&[u32]>, std::ops::Range<usize>) {
    match features.sparse_rows() {
        Some((starts, columns)) => (Some(&columns[starts[row]..starts[row + 1]]), starts[row]..starts[row + 1]),
        None => (None, row * features.n_cols()..(row + 1) * features.n_cols()),
    }
}

fn times_of<T: crate::math::Real>(columns: Option<&[u32]>, values: &[T], weights: &[f64], out: &mut [f64]) {
    let stride = out.len();
    for (at, out) in out.chunks_mut(4 * LANES).enumerate() {
        let first = 4 * LANES * at;
        match out.len() / LANES {
            1 => times_block::<T, 8>(columns, values, weights, stride, first, out),
            2 => times_block::<T, 16>(columns, values, weights, stride, first, out),
            3 => times_block::<T, 24>(columns, values, weights, stride, first, out),
            _ => times_block::<T, 32>(columns, values, weights, stride, first, out),
        }
    }
}

fn add_of<T: crate::math::Real>(columns: Option<&[u32]>, values: &[T], numbers: &[f64], weights: &mut [f64]) {
    let stride = numbers.len();
    for (at, numbers) in numbers.chunks(4 * LANES).enumerate() {
        let first = 4 * LANES * at;
        match numbers.len() / LANES {
            1 => add_block::<T, 8>(columns, values, numbers, stride, first, weights),
            2 => add_block::<T, 16>(columns, values, numbers, stride, first, weights),
            3 => add_block::<T, 24>(columns, values, numbers, stride, first, weights),
            _ => add_block::<T, 32>(columns, values, numbers, stride, first, weights),
        }
    }
}

wide! {
    fn times_block<T, const N: usize>(
        columns: Option<&[u32]>,
        values: &[T],
        weights: &[f64],
        stride: usize,
        first: usize,
        out: &mut [f64],
    ) {
        let Some(biases) = weights[first..].first_chunk::<N>() else { return };
        let mut sums = *biases;
        // Columns of a dense row count up.
        for (at, value) in values.iter().enumerate() {
            let column = columns.map_or(at, |columns| columns[at] as usize);
            let value = value.to_f64();
            if let Some(weights) = weights[(1 + column) * stride + first..].first_chunk::<N>() {
                for lane in 0..N {
                    sums[lane] = crate::math::Real::times_plus::<FMA>(value, weights[lane], sums[lane]);
                }
            }
        }
        out.copy_from_slice(&sums);
    }
}

wide! {
    fn add_block<T, const N: usize>(
        columns: Option<&[u32]>,
        values: &[T],
        numbers: &[f64],
        stride: usize,
        first: usize,
        weights: &mut [f64],
    ) {
        let Some(numbers) = numbers.first_chunk::<N>() else { return };
        let numbers = *numbers;
        if let Some(biases) = weights[first..].first_chunk_mut::<N>() {
            for lane in 0..N {
                biases[lane] += numbers[lane];
            }
        }
        for (at, value) in values.iter().enumerate() {
            let column = columns.map_or(at, |columns| columns[at] as usize);
            let value = value.to_f64();
            if let Some(weights) = weights[(1 + column) * stride + first..].first_chunk_mut::<N>() {
                for lane in 0..N {
                    weights[lane] = crate::math::Real::times_plus::<FMA>(value, numbers[lane], weights[lane]);
                }
            }
        }
    }
}

wide! {
    /// Of the slacks of an item: the sum of those above 0, the largest or 0, and Σ β·slack.
    pub(super) fn sums<T>(slacks: &[T], betas: &[T]) -> (T, T, T) {
        let (mut sum, mut most, mut made) = ([T::ZERO; LANES], [T::ZERO; LANES], [T::ZERO; LANES]);
        for (slacks, betas) in slacks.as_chunks::<LANES>().0.iter().zip(betas.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                let loss = slacks[lane].at_least(T::ZERO);
                sum[lane] = sum[lane].plus(loss);
                most[lane] = most[lane].at_least(loss);
                made[lane] = betas[lane].times_plus::<FMA>(slacks[lane], made[lane]);
            }
        }
        let mut all = (T::ZERO, T::ZERO, T::ZERO);
        for lane in 0..LANES {
            all = (all.0.plus(sum[lane]), all.1.at_least(most[lane]), all.2.plus(made[lane]));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Precision, Random};

    /// Products of any width are those of one number at a time, dense or sparse, in either precision.
    #[test]
    fn wide_products_are_plain_ones() {
        let (mut random, n_cols) = (Random::new(5), 5);
        let row: Vec<f64> =
            (0..n_cols).map(|at| if at == 2 { 0.0 } else { f64::from(random.normal() as f32) }).collect();
        let all = [vec![9.0; n_cols], row.clone()].concat();
        let kept = (0..n_cols as u32).filter(|&at| at != 2).collect::<Vec<_>>();
        let numbers = kept.iter().map(|&at| row[at as usize]).collect::<Vec<_>>();
        let stored = [
            Features::dense(n_cols, all.clone(), Precision::F32).unwrap(),
            Features::dense(n_cols, all, Precision::F64).unwrap(),
            Features::sparse(n_cols, vec![0, 0, kept.len()], kept, numbers).unwrap(),
        ];
        let with_one: Vec<f64> = std::iter::once(1.0).chain(row).collect();
        for stride in (1..=9).map(|blocks| blocks * LANES) {
            let weights: Vec<f64> = (0..(1 + n_cols) * stride).map(|_| random.normal()).collect();
            for features in &stored {
                let mut out = vec![f64::NAN; stride];
                times(features, 1, &weights, &mut out);
                for (class, out) in out.iter().enumerate() {
                    let plain: f64 = with_one.iter().enumerate().map(|(at, x)| x * weights[at * stride + class]).sum();
                    assert!((out - plain).abs() < 1e-12, "{stride} {class}: {out} {plain}");
                }
                let mut sum = weights.clone();
                add(features, 1, &out, &mut sum);
                for (at, sum) in sum.iter().enumerate() {
                    let plain = weights[at] + with_one[at / stride] * out[at % stride];
                    assert!((sum - plain).abs() < 1e-12, "{stride} {at}: {sum} {plain}");
                }
            }
        }
    }
}
