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
