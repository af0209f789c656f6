//! Features that make a kernel linear: ψ(x) = L⁻¹·k(landmarks, x) with L·Lᵀ = K over the landmarks, so that
//! ψ(x)·ψ(y) is K(x, y) wherever one of the two is a landmark, and the best guess from them elsewhere (Nyström).
//!
//! Landmarks are chosen one by one, each the item that those before it describe worst: Cholesky's factorisation with
//! pivots, in O(items × landmarks²). Once the worst is described to rounding, the kernel on all items is exact.

use rayon::prelude::*;

use super::pivoted::Pivoted;
use super::{GoesOn, ItemBlocks, KernelFunction, LANES};
use crate::data::{Features, Precision};
use crate::error::{Error, Result};
use crate::math::{solve_upper, wide};

/// What of K(x, x) may be missing, relative to the largest, where nothing is said to be missing.
const ROUNDING: f64 = 1e-12;

/// Items from which on landmarks are chosen among some of them.
const MANY_ITEMS: usize = 2000;

/// The landmarks of a kernel, and how other items are described by them.
#[derive(Debug, Clone)]
pub struct Landmarks {
    /// The kernel.
    pub kernel: KernelFunction,
    /// The landmarks themselves, scaled.
    pub items: Features,
    /// L, row by row: a lower triangle in a square.
    pub factor: Vec<f64>,
}

impl Landmarks {
    /// Chooses up to `most` of the items, and describes all items by them; [`Error::Interrupted`] where it does not go on.
    pub(crate) fn choose(kernel: KernelFunction, items: &Features, most: usize, goes_on: GoesOn<'_>) -> Result<Chosen> {
        let n = items.n_rows();
        let blocks = ItemBlocks::<f64>::new(kernel, items)?;
        let left: Vec<f64> = (0..n).map(|item| blocks.self_value(item)).collect();
        let resolution = ROUNDING * left.iter().fold(0.0, |a: f64, &b| a.max(b));
        let mut room = vec![0.0; n.next_multiple_of(LANES)];
        let row = |pivot: usize| {
            blocks.row(pivot, &mut room);
            room[..n].to_vec()
        };
        let Some(found) = Pivoted::new(left, row, resolution, most, goes_on) else {
            return Err(Error::Interrupted);
        };
        let (factor, values) = (found.factor(), found.values(n));
        let map = Landmarks { kernel, items: items.select_rows(&found.chosen), factor };
        Ok(Chosen { map, rows: found.chosen, values })
    }

    /// The same for any number of items: of many, some that lie evenly among all are chosen from.
    pub(crate) fn spread(kernel: KernelFunction, items: &Features, most: usize, goes_on: GoesOn<'_>) -> Result<Chosen> {
        let n = items.n_rows();
        check_room(n, most.min(n), 2, SMALLER)?;
        let n_some = MANY_ITEMS.max(4 * most);
        if n <= n_some {
            return Self::choose(kernel, items, most, goes_on);
        }
        let some: Vec<usize> = (0..n_some).map(|at| at * n / n_some).collect();
        let Chosen { map, rows, .. } = Self::choose(kernel, &items.select_rows(&some), most, goes_on)?;
        let values = map.describe(items, goes_on)?;
        Ok(Chosen { map, rows: rows.into_iter().map(|row| some[row]).collect(), values })
    }

    /// How many landmarks there are.
    pub fn len(&self) -> usize {
        self.items.n_rows()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The features of items, then what describes them by landmarks.
    pub(crate) fn beside(&self, features: &Features) -> Result<Features> {
        self.joined(features, &self.describe(features, &|| true)?)
    }

    /// The features of items with ψ of each behind them.
    pub(crate) fn joined(&self, features: &Features, psi: &[f64]) -> Result<Features> {
        let (n, d, r) = (features.n_rows(), features.n_cols(), self.len());
        let mut values = vec![0.0; n * (d + r)];
        values.par_chunks_mut((d + r).max(1)).enumerate().for_each(|(item, out)| {
            features.copy_row(item, &mut out[..d]);
            out[d..].copy_from_slice(&psi[item * r..][..r]);
        });
        Features::dense(d + r, values, Precision::F64)
    }

    /// ψ of items, one row for each; [`Error::Interrupted`] where it does not go on.
    pub(crate) fn describe(&self, features: &Features, goes_on: GoesOn<'_>) -> Result<Vec<f64>> {
        let r = self.len();
        let blocks = ItemBlocks::<f64>::new(self.kernel, &self.items)?;
        let mut psi = blocks.values_at_while(features, goes_on).ok_or(Error::Interrupted)?;
        psi.par_chunks_mut((LANES * r).max(1)).for_each_init(
            || vec![[0.0; LANES]; r],
            |side_by_side, out| {
                if !goes_on() {
                    return;
                }
                for (lane, row) in out.chunks_exact(r).enumerate() {
                    side_by_side.iter_mut().zip(row).for_each(|(values, value)| values[lane] = *value);
                }
                substitute(&self.factor, side_by_side);
                for (lane, row) in out.chunks_exact_mut(r).enumerate() {
                    side_by_side.iter().zip(row).for_each(|(values, out)| *out = values[lane]);
                }
            },
        );
        if goes_on() { Ok(psi) } else { Err(Error::Interrupted) }
    }

    /// Coefficients of the landmarks in Σ a·K(landmark, x) that give w·ψ(x): L⁻ᵀw.
    pub(crate) fn coefficients(&self, weights: &[f64]) -> Vec<f64> {
        let mut coefficients = weights.to_vec();
        solve_upper(&self.factor, weights.len(), &mut coefficients);
        coefficients
    }
}

/// What to do where there are too many landmarks.
const SMALLER: &str = "choose a smaller M (--approx nystrom:M)";

/// Refuses to describe more items than memory has room for: they are held once, and once more while they are made.
pub(super) fn check_room(n_items: usize, n_landmarks: usize, times: usize, remedy: &str) -> Result<()> {
    let n_numbers = n_items.saturating_mul(n_landmarks).saturating_mul(times);
    match Vec::<f64>::new().try_reserve_exact(n_numbers) {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::Unsupported {
            problem: format!(
                "{n_landmarks} landmarks for {n_items} items take {:.1} GiB, more than there is",
                8.0 * n_numbers as f64 / f64::from(1 << 30)
            ),
            remedy: remedy.into(),
        }),
    }
}

/// Rows of a factor that go over what is known together.
const ROWS: usize = 4;

wide! {
    /// Solves L·z = k for sixteen k side by side, in place: the factor is read once for all of them.
    fn substitute<T>(factor: &[T], values: &mut [[T; LANES]]) {
        let r = values.len();
        for start in (0..r).step_by(ROWS) {
            let n_here = ROWS.min(r - start);
            let (known, rest) = values.split_at_mut(start);
            // A row that is not there is the last one once more.
            let rows: [&[T]; ROWS] = std::array::from_fn(|k| &factor[(start + k.min(n_here - 1)) * r..][..start]);
            let zero = [T::ZERO; LANES];
            // Sums with names stay in registers.
            let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
            for (at, known) in known.iter().enumerate() {
                for lane in 0..LANES {
                    a[lane] = rows[0][at].times_plus::<FMA>(known[lane], a[lane]);
                    b[lane] = rows[1][at].times_plus::<FMA>(known[lane], b[lane]);
                    c[lane] = rows[2][at].times_plus::<FMA>(known[lane], c[lane]);
                    d[lane] = rows[3][at].times_plus::<FMA>(known[lane], d[lane]);
                }
            }
            for (k, mut sums) in [a, b, c, d].into_iter().take(n_here).enumerate() {
                let row = &factor[(start + k) * r + start..][..=k];
                for lane in 0..LANES {
                    for before in 0..k {
                        sums[lane] = row[before].times_plus::<FMA>(rest[before][lane], sums[lane]);
                    }
                    rest[k][lane] = rest[k][lane].minus(sums[lane]).over(row[k]);
                }
            }
        }
    }
}

/// Landmarks with what they say of the items that they were chosen from.
pub(crate) struct Chosen {
    pub(crate) map: Landmarks,
    /// Which of the items they are.
    pub(crate) rows: Vec<usize>,
    /// ψ of the items, row by row.
    pub(crate) values: Vec<f64>,
}

impl Chosen {
    /// [`Landmarks::coefficients`], one for each of `n` items that landmarks were chosen from; those of others are 0.
    pub(crate) fn coefficients(&self, weights: &[f64], n: usize) -> Vec<f64> {
        let mut out = vec![0.0; n];
        self.rows.iter().zip(self.map.coefficients(weights)).for_each(|(&row, value)| out[row] = value);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;
    use crate::math::dot;

    fn items(n: usize, d: usize, seed: u64) -> Features {
        let mut random = Random::new(seed);
        Features::dense(d, (0..n * d).map(|_| random.normal()).collect(), Precision::F64).unwrap()
    }

    #[test]
    fn all_items_as_landmarks_give_the_kernel() {
        for kernel in [KernelFunction::Rbf { gamma: 0.3 }, KernelFunction::Poly { gamma: 0.5, coef0: 1.0, degree: 2 }] {
            let items = items(40, 3, 1);
            let Chosen { map, values, .. } = Landmarks::choose(kernel, &items, 100, &|| true).unwrap();
            let r = map.len();
            // A polynomial of degree 2 in 3 features has 10 dimensions.
            assert_eq!(r, if matches!(kernel, KernelFunction::Poly { .. }) { 10 } else { 40 });
            let exact =
                |a: usize, b: usize| kernel.value(&items.to_dense()[a * 3..][..3], &items.to_dense()[b * 3..][..3]);
            for a in 0..40 {
                for b in 0..40 {
                    let product = dot(&values[a * r..][..r], &values[b * r..][..r]);
                    assert!((product - exact(a, b)).abs() < 1e-9, "{a} {b} {product}");
                }
            }
        }
    }

    #[test]
    fn what_memory_cannot_hold_is_refused() {
        assert!(check_room(1000, 1000, 2, SMALLER).is_ok());
        assert!(check_room(usize::MAX / 16, 20_000, 2, SMALLER).unwrap_err().to_string().contains("smaller M"));
    }

    #[test]
    fn new_items_are_described_as_the_old_ones_were() {
        for n in [1, 3, 12, 14] {
            described(n);
        }
    }

    fn described(r: usize) {
        let items = items(60, 2, 2);
        let Chosen { map, values, .. } =
            Landmarks::choose(KernelFunction::Rbf { gamma: 1.0 }, &items, r, &|| true).unwrap();
        assert_eq!(map.len(), r);
        let beside = map.beside(&items).unwrap().to_dense();
        let weights: Vec<f64> = (0..r).map(|k| 1.0 / (1.0 + k as f64)).collect();
        let blocks = ItemBlocks::<f64>::new(map.kernel, &map.items).unwrap();
        let scores = blocks.scores_of(&items, &map.coefficients(&weights)).unwrap();
        for item in 0..60 {
            assert_eq!(beside[item * (r + 2)..][..2], items.to_dense()[item * 2..][..2]);
            let found = &beside[item * (r + 2) + 2..][..r];
            found.iter().zip(&values[item * r..]).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
            assert!((dot(found, &weights) - scores[item]).abs() < 1e-9);
        }
    }
}
