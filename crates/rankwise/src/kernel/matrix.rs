//! The kernel matrix over all items, for products with vectors: tiles of its lower triangle, kept as far as memory allows and
//! computed anew at every product beyond that.
//!
//! Numbers are summed in f64 and in an order that depends on the number of items alone, so that neither threads nor memory
//! change a bit.

use rayon::prelude::*;

use super::arena::Arena;
use super::block::{ItemBlocks, LANES};
use super::{GoesOn, KernelFunction};
use crate::data::Features;
use crate::error::Result;
use crate::math::{Real, wide};

/// The usual number of rows of a tile.
const SIDE: usize = 256;
/// Rows of tiles beyond which they grow: every row of tiles has sums of its own.
const MOST_SIDES: usize = 128;

/// A symmetric matrix that vectors are multiplied with.
pub(crate) trait SymmetricMatrix: Sync {
    /// How many rows it has.
    fn len(&self) -> usize;
    /// Its product with a vector.
    fn times(&self, v: &[f64]) -> Vec<f64> {
        self.times_while(v, &|| true).unwrap_or_default()
    }
    /// The same with looks now and then whether to go on; `None` where not.
    fn times_while(&self, v: &[f64], goes_on: GoesOn<'_>) -> Option<Vec<f64>>;
    /// Some of its columns, one after the other.
    fn columns(&self, which: &[u32]) -> Vec<f64>;
    /// The numbers on its diagonal.
    fn diagonal(&self) -> Vec<f64>;
    /// Relative to its largest number, what rounding has left of others.
    fn resolution(&self) -> f64;
}

/// The values of a kernel over items, in the precision of `T`.
#[derive(Debug)]
pub(crate) struct KernelMatrix<T> {
    items: ItemBlocks<T>,
    /// Rows of a tile, a multiple of [`LANES`].
    side: usize,
    /// The first tiles of the triangle, row by row.
    kept: Arena<T>,
    n_kept: usize,
}

impl<T: Real> KernelMatrix<T> {
    /// Keeps what fits into `bytes`. Kernel values that leave the range of `T` are an error.
    pub(crate) fn new(kernel: KernelFunction, items: &Features, bytes: usize) -> Result<Self> {
        Self::new_while(kernel, items, bytes, &|| true)
    }

    /// The same with looks now and then whether to go on; nothing is kept where not.
    pub(crate) fn new_while(
        kernel: KernelFunction,
        items: &Features,
        bytes: usize,
        goes_on: GoesOn<'_>,
    ) -> Result<Self> {
        let items = ItemBlocks::<T>::new(kernel, items)?;
        let n = items.len();
        let side = SIDE.max(n.div_ceil(MOST_SIDES)).min(n).next_multiple_of(LANES).max(LANES);
        let n_sides = n.div_ceil(side);
        let tile = side * side;
        let n_wanted = (bytes / (tile * size_of::<T>())).min(n_sides * (n_sides + 1) / 2);
        let mut kept = Arena::new(n_wanted * tile, 0);
        let n_kept = kept.numbers().len() / tile;
        let places: Vec<(usize, usize)> = triangle(n_sides).take(n_kept).collect();
        let tiles = kept.numbers_mut().par_chunks_exact_mut(tile).zip(&places);
        let matrix = KernelMatrix { items, side, kept: Arena::Ordinary(Vec::new()), n_kept };
        tiles.for_each(|(out, &place)| {
            if goes_on() {
                matrix.compute(place, out);
            }
        });
        if goes_on() { Ok(KernelMatrix { kept, ..matrix }) } else { Ok(KernelMatrix { n_kept: 0, ..matrix }) }
    }

    fn rows(&self, band: usize) -> std::ops::Range<usize> {
        band * self.side..((band + 1) * self.side).min(self.items.len())
    }

    /// The values of a tile; of the last rows and columns there are fewer.
    fn compute(&self, (band, across): (usize, usize), out: &mut [T]) {
        let rows = self.rows(band);
        let width = self.rows(across).len().next_multiple_of(LANES);
        self.items.tile(rows.clone(), across * self.side, &mut out[..rows.len() * width]);
    }

    /// One band of tiles times a vector: sums of its rows, and of the columns before them by symmetry.
    fn band_times(&self, band: usize, v: &[f64], goes_on: &dyn Fn() -> bool) -> Option<(Vec<f64>, Vec<f64>)> {
        let (rows, tile) = (self.rows(band), self.side * self.side);
        let (mut of_rows, mut of_columns) = (vec![0.0; rows.len()], vec![0.0; band * self.side]);
        let mut room = Vec::new();
        for across in 0..=band {
            if !goes_on() {
                return None;
            }
            let at = band * (band + 1) / 2 + across;
            let values = if at < self.n_kept {
                &self.kept.numbers()[at * tile..][..tile]
            } else {
                room.resize(tile, T::ZERO);
                self.compute((band, across), &mut room);
                &room[..]
            };
            let width = self.rows(across).len().next_multiple_of(LANES);
            let values = &values[..rows.len() * width];
            let first = across * self.side;
            let of_columns = of_columns.get_mut(first..first + width).unwrap_or_default();
            tile_times(values, &v[first..first + width], &v[rows.clone()], &mut of_rows, of_columns);
        }
        Some((of_rows, of_columns))
    }
}

impl<T: Real> SymmetricMatrix for KernelMatrix<T> {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn times_while(&self, v: &[f64], goes_on: GoesOn<'_>) -> Option<Vec<f64>> {
        let n = self.items.len();
        let n_sides = n.div_ceil(self.side);
        let mut padded = v.to_vec();
        padded.resize(n_sides * self.side, 0.0);
        // The longest first: short ones fill what time is left.
        let bands = (0..n_sides).into_par_iter().rev().with_max_len(1);
        let sums: Option<Vec<_>> = bands.map(|band| self.band_times(band, &padded, goes_on)).collect();
        let mut out = vec![0.0; n];
        for (band, (of_rows, of_columns)) in sums?.iter().rev().enumerate() {
            out.iter_mut().zip(of_columns).for_each(|(out, sum)| *out += sum);
            out[band * self.side..].iter_mut().zip(of_rows).for_each(|(out, sum)| *out += sum);
        }
        Some(out)
    }

    fn columns(&self, which: &[u32]) -> Vec<f64> {
        let n = self.items.len();
        let mut out = vec![0.0; which.len() * n];
        out.par_chunks_mut(n.max(1)).zip(which).for_each_init(
            || vec![T::ZERO; n.next_multiple_of(LANES)],
            |row, (out, &item)| {
                self.items.tile(item as usize..item as usize + 1, 0, row);
                out.iter_mut().zip(row.iter()).for_each(|(out, value)| *out = value.to_f64());
            },
        );
        out
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.items.len()).map(|item| self.items.self_value(item)).collect()
    }

    fn resolution(&self) -> f64 {
        if size_of::<T>() == 4 { 1e-5 } else { 1e-11 }
    }
}

/// Tiles of a lower triangle, row by row.
fn triangle(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(|row| (0..=row).map(move |column| (row, column)))
}

/// Rows that are multiplied together.
const ROWS: usize = 4;

wide! {
    /// of_rows += tile·v, and of_columns += tileᵀ·u unless it is empty (a tile on the diagonal, which is whole).
    fn tile_times<T>(tile: &[T], v: &[f64], u: &[f64], of_rows: &mut [f64], of_columns: &mut [f64]) {
        let width = v.len();
        let mut row = 0;
        while row < u.len() {
            let n_here = ROWS.min(u.len() - row);
            // A row that is not there is the last one, times 0.
            let rows: [&[T]; ROWS] = std::array::from_fn(|r| &tile[(row + r.min(n_here - 1)) * width..][..width]);
            let factors: [f64; ROWS] = std::array::from_fn(|r| if r < n_here { u[row + r] } else { 0.0 });
            let mut sums = [[0.0f64; LANES]; ROWS];
            if of_columns.is_empty() {
                for at in (0..width).step_by(LANES) {
                    let lanes: &[f64; LANES] = &v[at..].as_chunks().0[0];
                    for r in 0..ROWS {
                        let values: &[T; LANES] = &rows[r][at..].as_chunks().0[0];
                        for lane in 0..LANES {
                            sums[r][lane] = values[lane].to_f64().times_plus::<FMA>(lanes[lane], sums[r][lane]);
                        }
                    }
                }
            } else {
                for at in (0..width).step_by(LANES) {
                    let lanes: &[f64; LANES] = &v[at..].as_chunks().0[0];
                    let out: &mut [f64; LANES] = &mut of_columns[at..].as_chunks_mut().0[0];
                    let mut sum = *out;
                    for r in 0..ROWS {
                        let values: &[T; LANES] = &rows[r][at..].as_chunks().0[0];
                        for lane in 0..LANES {
                            let value = values[lane].to_f64();
                            sums[r][lane] = value.times_plus::<FMA>(lanes[lane], sums[r][lane]);
                            sum[lane] = value.times_plus::<FMA>(factors[r], sum[lane]);
                        }
                    }
                    *out = sum;
                }
            }
            for r in 0..n_here {
                of_rows[row + r] += sums[r].iter().sum::<f64>();
            }
            row += ROWS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Precision, Random};

    fn items(n: usize, is_sparse: bool) -> Features {
        let mut random = Random::new(3);
        let values: Vec<f64> = (0..n * 5).map(|_| random.normal()).collect();
        if is_sparse {
            let columns = (0..n).flat_map(|_| 0..5).collect();
            return Features::sparse(5, (0..=n).map(|row| 5 * row).collect(), columns, values).unwrap();
        }
        Features::dense(5, values, Precision::F64).unwrap()
    }

    #[test]
    fn products_are_those_of_the_definition() {
        for n in [1, 7, 16, 255, 256, 257, 700] {
            for kernel in [
                KernelFunction::Rbf { gamma: 0.3 },
                KernelFunction::Linear,
                KernelFunction::Poly { gamma: 0.2, coef0: 1.0, degree: 3 },
            ] {
                let items = items(n, n == 257);
                let rows = items.to_dense();
                let value = |a: usize, b: usize| kernel.value(&rows[a * 5..][..5], &rows[b * 5..][..5]);
                let v: Vec<f64> = (0..n).map(|k| ((k * 37) % 11) as f64 - 5.0).collect();
                // The linear kernel is of centred items.
                let is_same = kernel != KernelFunction::Linear || items.is_sparse();
                let wanted: Vec<f64> = (0..n).map(|a| (0..n).map(|b| v[b] * value(a, b)).sum()).collect();
                let wide = KernelMatrix::<f64>::new(kernel, &items, 1 << 30).unwrap();
                let found = wide.times(&v);
                let narrow = KernelMatrix::<f32>::new(kernel, &items, 1 << 30).unwrap().times(&v);
                for k in (0..n).filter(|_| is_same) {
                    assert!(
                        (found[k] - wanted[k]).abs() < 1e-9 * (1.0 + wanted[k].abs()),
                        "{n}: {} {}",
                        found[k],
                        wanted[k]
                    );
                    assert!((narrow[k] - wanted[k]).abs() < 2e-2 * (1.0 + wanted[k].abs().sqrt()), "{n}");
                }
                let column = wide.columns(&[n as u32 / 2]);
                assert!(
                    !is_same || (0..n).all(|a| (column[a] - value(a, n / 2)).abs() < 1e-9 * (1.0 + column[a].abs()))
                );
                // Whatever is kept, and whoever computes.
                for bytes in [0, 600_000] {
                    let other = KernelMatrix::<f64>::new(kernel, &items, bytes).unwrap();
                    for threads in [1, 3] {
                        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                        assert_eq!(pool.install(|| other.times(&v)), found);
                    }
                }
            }
        }
    }
}
