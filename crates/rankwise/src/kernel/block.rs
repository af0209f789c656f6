//! Kernel values, many at a time.
//!
//! Items are packed in panels of [`LANES`]: feature by feature, the numbers of sixteen items side by side, so that
//! sixteen (or sixteen times several) dot products advance with every multiplication. For rbf and linear kernels the
//! features are centred first: distances do not change, and in f32 the expansion ‖a‖² + ‖b‖² − 2a·b no longer cancels.

use rayon::prelude::*;

use super::tiles::{DenseQueries, SparseItems, add_sparse};
use super::{GoesOn, KernelFunction};
use crate::data::Features;
use crate::error::{Error, Result};
use crate::math::{Real, wide};

/// Items in a panel.
pub(crate) const LANES: usize = 16;
/// Multiplications worth waking another thread for.
pub(super) const WORK_A_TASK: usize = 1 << 17;

/// Dense items in panels, with their squared norms where the kernel needs them.
#[derive(Debug, Clone)]
pub(crate) struct Packed<T> {
    n: usize,
    pub(super) d: usize,
    panels: Vec<T>,
    norms: Vec<T>,
}

impl<T: Real> Packed<T> {
    /// Packs the rows `row(0), …, row(n − 1)`, each written by `fill` into a slice of `d` numbers.
    pub(crate) fn new(n: usize, d: usize, mut fill: impl FnMut(usize, &mut [f64])) -> Self {
        let n_panels = n.div_ceil(LANES);
        let mut panels = vec![T::ZERO; n_panels * d * LANES];
        let mut norms = vec![T::ZERO; n_panels * LANES];
        let (mut row, mut rounded) = (vec![0.0; d], vec![T::ZERO; d]);
        for i in 0..n {
            fill(i, &mut row);
            let panel = &mut panels[i / LANES * d * LANES..][..d * LANES];
            for (f, (&value, rounded)) in row.iter().zip(&mut rounded).enumerate() {
                *rounded = T::from_f64(value);
                panel[f * LANES + i % LANES] = *rounded;
            }
            norms[i] = squared_norm(&rounded);
        }
        Packed { n, d, panels, norms }
    }

    /// A packed copy of the items of the given numbers.
    pub(crate) fn select(&self, items: impl ExactSizeIterator<Item = u32>) -> Self {
        let (n, d) = (items.len(), self.d);
        let n_panels = n.div_ceil(LANES);
        let mut panels = vec![T::ZERO; n_panels * d * LANES];
        let mut norms = vec![T::ZERO; n_panels * LANES];
        for (i, item) in items.enumerate() {
            let item = item as usize;
            let from = item / LANES * d * LANES + item % LANES;
            let to = i / LANES * d * LANES + i % LANES;
            for f in 0..d {
                panels[to + f * LANES] = self.panels[from + f * LANES];
            }
            norms[i] = self.norms[item];
        }
        Packed { n, d, panels, norms }
    }

    /// Writes one item's numbers into `out` and returns its squared norm.
    pub(crate) fn copy_item(&self, item: usize, out: &mut [T]) -> T {
        let panel = &self.panels[item / LANES * self.d * LANES..];
        out.iter_mut().enumerate().for_each(|(f, out)| *out = panel[f * LANES + item % LANES]);
        self.norms[item]
    }

    /// How many panels there are; the last one may have room.
    pub(super) fn n_panels(&self) -> usize {
        self.n.div_ceil(LANES)
    }

    pub(super) fn panel(&self, p: usize) -> Panel<'_, T> {
        Panel {
            features: self.panels[p * self.d * LANES..][..self.d * LANES].as_chunks().0,
            norms: &self.norms.as_chunks().0[p],
        }
    }
}

/// Sixteen items side by side. Arrays of a known length let the compiler keep whole rows in registers.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a, T> {
    pub(super) features: &'a [[T; LANES]],
    pub(super) norms: &'a [T; LANES],
}

wide! {
    /// ‖row‖², summed as [`dots`] and sparse products are: the distance of an item from itself is exactly 0.
    pub(super) fn squared_norm<T>(row: &[T]) -> T {
        row.iter().fold(T::ZERO, |sum, &value| value.times_plus::<FMA>(value, sum))
    }
}

/// N dot products with each item of a panel.
#[inline(always)]
pub(super) fn dots<T: Real, const FMA: bool, const N: usize>(
    panel: Panel<'_, T>,
    queries: [&[T]; N],
) -> [[T; LANES]; N] {
    let mut sums = [[T::ZERO; LANES]; N];
    let queries = queries.map(|q| &q[..panel.features.len()]);
    for (f, lanes) in panel.features.iter().enumerate() {
        for q in 0..N {
            let x = queries[q][f];
            for lane in 0..LANES {
                sums[q][lane] = x.times_plus::<FMA>(lanes[lane], sums[q][lane]);
            }
        }
    }
    sums
}

/// Turns dot products into kernel values.
#[inline(always)]
pub(super) fn finish<T: Real, const FMA: bool>(
    kernel: &KernelFunction,
    dots: [T; LANES],
    norm: T,
    norms: &[T; LANES],
) -> [T; LANES] {
    let (norms, mut values) = (*norms, dots);
    match *kernel {
        KernelFunction::Linear => {}
        KernelFunction::Rbf { gamma } => {
            let (minus_gamma, minus_two) = (T::from_f64(-gamma), T::from_f64(-2.0));
            for lane in 0..LANES {
                let square = minus_two.times_plus::<FMA>(values[lane], norm.plus(norms[lane]));
                values[lane] = square.at_least(T::ZERO).times(minus_gamma).exp::<FMA>();
            }
        }
        KernelFunction::Poly { gamma, coef0, degree } => {
            let (gamma, coef0) = (T::from_f64(gamma), T::from_f64(coef0));
            for value in &mut values {
                *value = gamma.times_plus::<FMA>(*value, coef0);
            }
            let base = values;
            for _ in 1..degree {
                for lane in 0..LANES {
                    values[lane] = values[lane].times(base[lane]);
                }
            }
        }
        KernelFunction::Sigmoid { gamma, coef0 } => {
            let (gamma, coef0) = (T::from_f64(gamma), T::from_f64(coef0));
            for value in &mut values {
                *value = gamma.times_plus::<FMA>(*value, coef0).tanh::<FMA>();
            }
        }
    }
    values
}

wide! {
    /// One kernel row over the panels from `first` on; `out` has a multiple of LANES numbers.
    pub(super) fn kernel_row<T>(kernel: &KernelFunction, items: &Packed<T>, query: &[T], norm: T, first: usize, out: &mut [T]) {
        for (p, out) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let panel = items.panel(first + p);
            let [values] = dots::<T, FMA, 1>(panel, [query]);
            *out = finish::<T, FMA>(kernel, values, norm, panel.norms);
        }
    }
}

wide! {
    /// Kernel values from products with the first items; all have a multiple of LANES numbers.
    pub(super) fn values_of_products<T>(kernel: &KernelFunction, products: &[T], norm: T, norms: &[T], out: &mut [T]) {
        let all = out.as_chunks_mut::<LANES>().0.iter_mut().zip(products.as_chunks::<LANES>().0);
        for ((out, products), norms) in all.zip(norms.as_chunks::<LANES>().0) {
            *out = finish::<T, FMA>(kernel, *products, norm, norms);
        }
    }
}

wide! {
    /// out[k] = D[right[k]] − D[left[k]]
    pub(crate) fn gather_differences<T>(differences: &[T], left: &[u32], right: &[u32], out: &mut [T]) {
        for ((out, &l), &r) in out.iter_mut().zip(left).zip(right) {
            *out = differences[r as usize].minus(differences[l as usize]);
        }
        let _ = FMA;
    }
}

/// Items ready for kernel values against each other or against new items.
#[derive(Debug, Clone)]
pub(crate) struct ItemBlocks<T> {
    kernel: KernelFunction,
    n: usize,
    centre: Vec<f64>,
    store: Store<T>,
}

/// How items are stored.
#[derive(Debug, Clone)]
pub(super) enum Store<T> {
    /// In panels.
    Dense(Packed<T>),
    /// As rows.
    Sparse(SparseItems<T>),
}

/// Sparse rows that hold this share of numbers, or more, are faster as dense ones.
const DENSE_SHARE: f64 = 0.4;

/// New items that are packed together.
const NEW_ROWS: usize = 256;

impl<T: Real> ItemBlocks<T> {
    /// Packs items for a kernel. Kernel values that leave the range of `T` are an error.
    pub(crate) fn new(kernel: KernelFunction, items: &Features) -> Result<Self> {
        let (n, d) = (items.n_rows(), items.n_cols());
        let is_sparse = items.is_sparse() && (items.n_stored() as f64) < DENSE_SHARE * n as f64 * d as f64;
        let is_centred = matches!(kernel, KernelFunction::Rbf { .. } | KernelFunction::Linear) && !items.is_sparse();
        let mut centre = vec![0.0; d];
        if is_centred {
            for row in 0..n {
                items.for_each_in_row(row, |c, v| centre[c] += v / n as f64);
            }
        }
        let store = if is_sparse {
            Store::Sparse(SparseItems::new(items))
        } else {
            Store::Dense(pack_centred(items, 0..n, &centre))
        };
        let blocks = ItemBlocks { kernel, n, centre, store };
        // Far from overflow in `T`, so that differences and sums of values stay finite too.
        let limit = if size_of::<T>() == 4 { 1e30 } else { 1e280 };
        let is_small = |value: f64| value.abs() < limit; // false for NaN
        let out_of_range = match kernel {
            // γ alone may be too large for f32 where γ times a norm is not.
            KernelFunction::Poly { gamma, .. }
            | KernelFunction::Rbf { gamma }
            | KernelFunction::Sigmoid { gamma, .. }
                if size_of::<T>() == 4 && !is_small(gamma) =>
            {
                Some(0)
            }
            _ => (0..n).find(|&i| !is_small(blocks.norm(i)) || !is_small(blocks.self_value(i))),
        };
        match out_of_range {
            None => Ok(blocks),
            Some(item) => Err(Error::Numeric {
                problem: format!(
                    "the {} kernel of item {} with itself leaves the range of numbers",
                    kernel.name(),
                    item + 1
                ),
                remedy: "scale the features (--scale standard), or use a smaller gamma or degree".into(),
            }),
        }
    }

    /// What features are moved by; 0 where they are not.
    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    pub(super) fn store(&self) -> &Store<T> {
        &self.store
    }

    pub(super) fn kernel(&self) -> &KernelFunction {
        &self.kernel
    }

    /// How many items there are.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    fn norm(&self, item: usize) -> f64 {
        match &self.store {
            Store::Dense(packed) => packed.norms[item].to_f64(),
            Store::Sparse(rows) => rows.norm(item).to_f64(),
        }
    }

    /// K(item, item)
    pub(crate) fn self_value(&self, item: usize) -> f64 {
        let norm = self.norm(item);
        match self.kernel {
            KernelFunction::Linear => norm,
            KernelFunction::Rbf { .. } => 1.0,
            KernelFunction::Poly { gamma, coef0, degree } => (gamma * norm + coef0).powi(degree as i32),
            KernelFunction::Sigmoid { gamma, coef0 } => (gamma * norm + coef0).tanh(),
        }
    }

    /// K(a, b) in the precision of `T`.
    pub(crate) fn value(&self, a: usize, b: usize) -> f64 {
        match &self.store {
            Store::Dense(packed) => {
                let (mut x, mut y) = (vec![T::ZERO; packed.d], vec![T::ZERO; packed.d]);
                packed.copy_item(a, &mut x);
                packed.copy_item(b, &mut y);
                let widen = |v: &[T]| v.iter().map(|v| v.to_f64()).collect::<Vec<_>>();
                self.kernel.value(&widen(&x), &widen(&y))
            }
            Store::Sparse(rows) => {
                let dense = rows.to_dense(a);
                of_dot(&self.kernel, rows.dot(b, &dense).to_f64(), self.norm(a) + self.norm(b))
            }
        }
    }

    /// One kernel row against the first items; `out` has one number for each, rounded up to [`LANES`].
    pub(crate) fn row(&self, item: usize, out: &mut [T]) {
        match &self.store {
            Store::Dense(packed) => {
                let mut query = vec![T::ZERO; packed.d];
                let norm = packed.copy_item(item, &mut query);
                let task_len = (WORK_A_TASK / packed.d.max(8)).next_multiple_of(LANES);
                out.par_chunks_mut(task_len).enumerate().for_each(|(task, out)| {
                    kernel_row(&self.kernel, packed, &query, norm, task * task_len / LANES, out);
                });
            }
            Store::Sparse(rows) => {
                let (dense, norm) = (rows.to_dense(item), self.norm(item));
                let n = self.n.min(out.len());
                out[..n].par_iter_mut().enumerate().with_min_len(1024).for_each(|(b, out)| {
                    *out = T::from_f64(of_dot(&self.kernel, rows.dot(b, &dense).to_f64(), norm + self.norm(b)));
                });
            }
        }
    }

    /// Multiplications that a value takes, about.
    pub(crate) fn width(&self) -> usize {
        match &self.store {
            Store::Dense(packed) => packed.d,
            Store::Sparse(_) => LANES,
        }
    }

    /// Kernel values of the items `rows` with those from `first` on (a multiple of [`LANES`]), row by row; `out` has as many
    /// numbers for each row, a multiple of [`LANES`] too. Behind the last item there may be anything. On this thread alone.
    pub(crate) fn tile(&self, rows: std::ops::Range<usize>, first: usize, out: &mut [T]) {
        let stride = out.len() / rows.len().max(1);
        match &self.store {
            Store::Dense(packed) => {
                let queries = DenseQueries::new(packed, rows.start as u32..rows.end as u32);
                queries.tile(&self.kernel, packed, first / LANES, stride, out);
            }
            Store::Sparse(items) => {
                for (a, out) in rows.zip(out.chunks_mut(stride.max(1))) {
                    let dense = items.to_dense(a);
                    for (b, out) in (first..self.n).zip(out) {
                        let norms = self.norm(a) + self.norm(b);
                        *out = T::from_f64(of_dot(&self.kernel, items.dot(b, &dense).to_f64(), norms));
                    }
                }
            }
        }
    }

    /// The dense items in panels; `None` for sparse ones.
    pub(crate) fn packed(&self) -> Option<&Packed<T>> {
        match &self.store {
            Store::Dense(packed) => Some(packed),
            Store::Sparse(_) => None,
        }
    }

    /// Σ_s coefficient_s K(s, x) for every own item x; `terms` are (item, coefficient). Parallel over items, summed in
    /// the order of `terms`.
    pub(crate) fn sums(&self, terms: &[(u32, f64)]) -> Vec<f64> {
        let (items, coefficients): (Vec<u32>, Vec<f64>) = terms.iter().copied().unzip();
        let mut sums = vec![0.0; self.n];
        match &self.store {
            Store::Dense(packed) => {
                let queries = DenseQueries::new(packed, items.into_iter());
                queries.add(&self.kernel, &coefficients, packed, &mut sums);
            }
            Store::Sparse(rows) => {
                add_sparse(&self.kernel, rows, (&items, &coefficients), rows, None, &mut sums);
            }
        }
        sums
    }

    /// Σ_s coefficient_s K(s, x) for new items x, with one coefficient per own item.
    pub(crate) fn scores_of(&self, new: &Features, coefficients: &[f64]) -> Result<Vec<f64>> {
        let mut scores = vec![0.0; new.n_rows()];
        let all = || 0..self.n as u32;
        match &self.store {
            Store::Dense(packed) => {
                let queries = DenseQueries::new(packed, all());
                // A bounded number of new rows is packed at a time.
                for (chunk, scores) in scores.chunks_mut(1 << 14).enumerate() {
                    let rows = chunk << 14..(chunk << 14) + scores.len();
                    queries.add(&self.kernel, coefficients, &pack_centred(new, rows, &self.centre), scores);
                }
            }
            Store::Sparse(rows) => {
                let items: Vec<u32> = all().collect();
                add_sparse(&self.kernel, rows, (&items, coefficients), &SparseItems::new(new), None, &mut scores);
            }
        }
        Ok(scores)
    }

    /// K(s, x) for new items x and all own items s: one row per new item.
    pub(crate) fn values_at(&self, new: &Features) -> Vec<T> {
        self.values_at_while(new, &|| true).unwrap_or_default()
    }

    /// The same with looks now and then whether to go on; `None` where not.
    pub(crate) fn values_at_while(&self, new: &Features, goes_on: GoesOn<'_>) -> Option<Vec<T>> {
        let n_own = self.n;
        let mut out = vec![T::ZERO; new.n_rows() * n_own];
        match &self.store {
            Store::Dense(own) => {
                out.par_chunks_mut((NEW_ROWS * n_own).max(1)).enumerate().for_each(|(chunk, out)| {
                    if !goes_on() {
                        return;
                    }
                    let start = chunk * NEW_ROWS;
                    let rows = start..(start + NEW_ROWS).min(new.n_rows());
                    let targets = pack_centred(new, rows.clone(), &self.centre);
                    let mut query = vec![T::ZERO; own.d];
                    let mut values = vec![T::ZERO; rows.len().next_multiple_of(LANES)];
                    for s in 0..n_own {
                        let norm = own.copy_item(s, &mut query);
                        kernel_row(&self.kernel, &targets, &query, norm, 0, &mut values);
                        out.iter_mut().skip(s).step_by(n_own).zip(&values).for_each(|(out, value)| *out = *value);
                    }
                });
            }
            Store::Sparse(rows) => {
                out.par_chunks_mut(n_own.max(1)).enumerate().for_each(|(row, out)| {
                    if !goes_on() {
                        return;
                    }
                    let mut dense = vec![T::ZERO; rows.n_cols().max(new.n_cols())];
                    new.for_each_in_row(row, |column, value| dense[column] = T::from_f64(value));
                    let norm = squared_norm(&dense).to_f64();
                    for (s, out) in out.iter_mut().enumerate() {
                        *out = T::from_f64(of_dot(&self.kernel, rows.dot(s, &dense).to_f64(), norm + self.norm(s)));
                    }
                });
            }
        }
        goes_on().then_some(out)
    }
}

fn pack_centred<T: Real>(items: &Features, rows: std::ops::Range<usize>, centre: &[f64]) -> Packed<T> {
    let start = rows.start;
    Packed::new(rows.len(), items.n_cols(), |i, out| {
        items.copy_row(start + i, out);
        out.iter_mut().zip(centre).for_each(|(v, c)| *v -= c);
    })
}

/// A kernel value from a·b and ‖a‖² + ‖b‖².
fn of_dot(kernel: &KernelFunction, dot: f64, norms: f64) -> f64 {
    match *kernel {
        KernelFunction::Linear => dot,
        KernelFunction::Rbf { gamma } => (-gamma * (norms - 2.0 * dot).max(0.0)).exp(),
        KernelFunction::Poly { gamma, coef0, degree } => (gamma * dot + coef0).powi(degree as i32),
        KernelFunction::Sigmoid { gamma, coef0 } => (gamma * dot + coef0).tanh(),
    }
}

#[cfg(test)]
mod tests;
