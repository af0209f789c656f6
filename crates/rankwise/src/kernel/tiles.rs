//! Tiles of kernel values: some items (queries) against many (targets), on all cores, without a matrix of them.
//!
//! Dense targets stand in panels of sixteen, and eight queries go over a panel at a time: a value then costs little more
//! than its multiplications, and computing it again is as fast as reading it from memory. Sparse targets stay rows; there
//! sixteen queries stand side by side, feature by feature, for the features they have.

use rayon::prelude::*;

use super::KernelFunction;
use super::block::{LANES, Packed, Panel, finish, squared_norm};
use crate::math::{Real, wide};

/// Dense queries that go over a panel together.
const TOGETHER: usize = 8;
/// Panels of dense targets, and rows of sparse ones, that are worth a task.
const PANELS_A_TASK: usize = 16;
const ROWS_A_TASK: usize = 512;

/// Dense queries, in groups of [`TOGETHER`], feature by feature.
pub(super) struct DenseQueries<T> {
    n: usize,
    d: usize,
    groups: Vec<[T; TOGETHER]>,
    norms: Vec<[T; TOGETHER]>,
}

impl<T: Real> DenseQueries<T> {
    /// The items of the given numbers.
    pub(super) fn new(items: &Packed<T>, numbers: impl ExactSizeIterator<Item = u32>) -> Self {
        let (n, d) = (numbers.len(), items.d);
        let n_groups = n.div_ceil(TOGETHER);
        let mut groups = vec![[T::ZERO; TOGETHER]; n_groups * d];
        let mut norms = vec![[T::ZERO; TOGETHER]; n_groups];
        let mut row = vec![T::ZERO; d];
        for (at, number) in numbers.enumerate() {
            norms[at / TOGETHER][at % TOGETHER] = items.copy_item(number as usize, &mut row);
            let group = &mut groups[at / TOGETHER * d..][..d];
            group.iter_mut().zip(&row).for_each(|(group, &value)| group[at % TOGETHER] = value);
        }
        DenseQueries { n, d, groups, norms }
    }

    fn group(&self, at: usize) -> Group<'_, T> {
        Group { features: &self.groups[at * self.d..][..self.d], norms: &self.norms[at] }
    }

    /// sums[k] += Σ coefficient·K(query, target k), queries in order, whatever stands around the target.
    pub(super) fn add(&self, kernel: &KernelFunction, coefficients: &[f64], targets: &Packed<T>, sums: &mut [f64]) {
        let mut padded = vec![[0.0; TOGETHER]; self.norms.len()];
        padded.as_flattened_mut()[..self.n].copy_from_slice(coefficients);
        let add = |first: usize, sums: &mut [f64; LANES]| add_panel(kernel, self, &padded, targets.panel(first), sums);
        sums.par_chunks_mut(PANELS_A_TASK * LANES).enumerate().for_each(|(task, sums)| {
            let (whole, rest) = sums.as_chunks_mut::<LANES>();
            for (at, sums) in whole.iter_mut().enumerate() {
                add(task * PANELS_A_TASK + at, sums);
            }
            if !rest.is_empty() {
                let mut last = [0.0; LANES];
                last[..rest.len()].copy_from_slice(rest);
                add(task * PANELS_A_TASK + whole.len(), &mut last);
                rest.copy_from_slice(&last[..rest.len()]);
            }
        });
    }

    /// Writes the value of query q and target k to `out[q·stride + k]`; `stride` is a multiple of [`LANES`], and what lies
    /// beyond the targets is of no meaning.
    pub(super) fn rows(&self, kernel: &KernelFunction, targets: &Packed<T>, stride: usize, out: &mut [T]) {
        out.par_chunks_mut(TOGETHER * stride).enumerate().for_each(|(at, out)| {
            fill_rows(kernel, self.group(at), targets, 0, stride, out);
        });
    }

    /// The same for the targets from a panel on, as many as there is room for; on this thread alone.
    pub(super) fn tile(
        &self,
        kernel: &KernelFunction,
        targets: &Packed<T>,
        first: usize,
        stride: usize,
        out: &mut [T],
    ) {
        for (at, out) in out.chunks_mut(TOGETHER * stride).enumerate() {
            fill_rows(kernel, self.group(at), targets, first, stride, out);
        }
    }
}

/// Queries that go over panels together.
#[derive(Clone, Copy)]
struct Group<'a, T> {
    features: &'a [[T; TOGETHER]],
    norms: &'a [T; TOGETHER],
}

#[inline(always)]
fn add_product<T: Real, const FMA: bool>(x: T, lanes: &[T; LANES], sums: [T; LANES]) -> [T; LANES] {
    let mut out = sums;
    for lane in 0..LANES {
        out[lane] = x.times_plus::<FMA>(lanes[lane], out[lane]);
    }
    out
}

/// The products of all queries of a group with all items of a panel. Sums with names stay in registers.
#[inline(always)]
fn products<T: Real, const FMA: bool>(group: Group<'_, T>, panel: Panel<'_, T>) -> [[T; LANES]; TOGETHER] {
    let zero = [T::ZERO; LANES];
    let (mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h) = (zero, zero, zero, zero, zero, zero, zero, zero);
    for (x, lanes) in group.features.iter().zip(panel.features) {
        a = add_product::<T, FMA>(x[0], lanes, a);
        b = add_product::<T, FMA>(x[1], lanes, b);
        c = add_product::<T, FMA>(x[2], lanes, c);
        d = add_product::<T, FMA>(x[3], lanes, d);
        e = add_product::<T, FMA>(x[4], lanes, e);
        f = add_product::<T, FMA>(x[5], lanes, f);
        g = add_product::<T, FMA>(x[6], lanes, g);
        h = add_product::<T, FMA>(x[7], lanes, h);
    }
    [a, b, c, d, e, f, g, h]
}

wide! {
    fn add_panel<T>(kernel: &KernelFunction, queries: &DenseQueries<T>, coefficients: &[[f64; TOGETHER]], panel: Panel<'_, T>, sums: &mut [f64; LANES]) {
        let mut all = *sums;
        for (at, coefficients) in coefficients.iter().enumerate() {
            let group = queries.group(at);
            let products = products::<T, FMA>(group, panel);
            for q in 0..TOGETHER {
                let values = finish::<T, FMA>(kernel, products[q], group.norms[q], panel.norms);
                for lane in 0..LANES {
                    all[lane] = coefficients[q].times_plus::<FMA>(values[lane].to_f64(), all[lane]);
                }
            }
        }
        *sums = all;
    }
}

wide! {
    fn fill_rows<T>(kernel: &KernelFunction, group: Group<'_, T>, targets: &Packed<T>, first: usize, stride: usize, out: &mut [T]) {
        for at in 0..(targets.n_panels() - first).min(stride / LANES) {
            let panel = targets.panel(first + at);
            let products = products::<T, FMA>(group, panel);
            for (q, out) in out.chunks_exact_mut(stride).enumerate() {
                let values = finish::<T, FMA>(kernel, products[q], group.norms[q], panel.norms);
                out[at * LANES..][..LANES].copy_from_slice(&values);
            }
        }
    }
}

/// Sparse items in one precision, with their squared norms.
#[derive(Debug, Clone)]
pub(super) struct SparseItems<T> {
    n_cols: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
    norms: Vec<T>,
}

impl<T: Real> SparseItems<T> {
    /// All rows of a matrix.
    pub(super) fn new(items: &crate::data::Features) -> Self {
        let mut rows = SparseItems {
            n_cols: items.n_cols(),
            starts: vec![0],
            columns: Vec::with_capacity(items.n_stored()),
            values: Vec::with_capacity(items.n_stored()),
            norms: Vec::with_capacity(items.n_rows()),
        };
        for row in 0..items.n_rows() {
            items.for_each_in_row(row, |column, value| {
                rows.columns.push(column as u32);
                rows.values.push(T::from_f64(value));
            });
            rows.norms.push(squared_norm(&rows.values[rows.starts[row]..]));
            rows.starts.push(rows.values.len());
        }
        rows
    }

    /// ‖row‖²
    pub(super) fn norm(&self, row: usize) -> T {
        self.norms[row]
    }

    /// How many numbers a row has.
    pub(super) fn mean_stored(&self) -> usize {
        self.values.len() / self.norms.len().max(1)
    }

    /// How many features there are.
    pub(super) fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// A row with its zeros.
    pub(super) fn to_dense(&self, row: usize) -> Vec<T> {
        let mut dense = vec![T::ZERO; self.n_cols];
        let (columns, values) = self.row(row);
        columns.iter().zip(values).for_each(|(&column, &value)| dense[column as usize] = value);
        dense
    }

    /// A row times a dense one.
    pub(super) fn dot(&self, row: usize, dense: &[T]) -> T {
        sparse_dot(self.row(row), dense)
    }

    fn row(&self, row: usize) -> (&[u32], &[T]) {
        let span = self.starts[row]..self.starts[row + 1];
        (&self.columns[span.clone()], &self.values[span])
    }
}

wide! {
    fn sparse_dot<T>(row: (&[u32], &[T]), dense: &[T]) -> T {
        row.0.iter().zip(row.1).fold(T::ZERO, |sum, (&c, &value)| value.times_plus::<FMA>(dense[c as usize], sum))
    }
}

/// Up to sixteen sparse queries side by side: a place for every feature that one of them has; place 0 is that of all others.
struct SparseQueries<T> {
    place: Vec<u32>,
    features: Vec<[T; LANES]>,
    norms: [T; LANES],
    used: Vec<u32>,
}

impl<T: Real> SparseQueries<T> {
    fn new(n_cols: usize) -> Self {
        SparseQueries {
            place: vec![0; n_cols],
            features: vec![[T::ZERO; LANES]],
            norms: [T::ZERO; LANES],
            used: Vec::new(),
        }
    }

    fn load(&mut self, items: &SparseItems<T>, numbers: &[u32]) {
        self.used.drain(..).for_each(|column| self.place[column as usize] = 0);
        self.features.truncate(1);
        self.norms = [T::ZERO; LANES];
        for (lane, &number) in numbers.iter().enumerate() {
            self.norms[lane] = items.norms[number as usize];
            let (columns, values) = items.row(number as usize);
            for (&column, &value) in columns.iter().zip(values) {
                let place = &mut self.place[column as usize];
                if *place == 0 {
                    *place = self.features.len() as u32;
                    self.features.push([T::ZERO; LANES]);
                    self.used.push(column);
                }
                self.features[*place as usize][lane] = value;
            }
        }
    }
}

wide! {
    /// The values of all queries with one row.
    fn sparse_values<T>(kernel: &KernelFunction, queries: &SparseQueries<T>, row: (&[u32], &[T]), norm: T) -> [T; LANES] {
        let mut sums = [T::ZERO; LANES];
        for (&column, &value) in row.0.iter().zip(row.1) {
            // Features that no query has are zeros.
            let lanes = &queries.features[queries.place.get(column as usize).map_or(0, |&place| place as usize)];
            sums = add_product::<T, FMA>(value, lanes, sums);
        }
        finish::<T, FMA>(kernel, sums, norm, &queries.norms)
    }
}

wide! {
    /// sum + Σ coefficient·value, in order, as it is summed elsewhere.
    fn weighted<T>(sum: f64, coefficients: &[f64], values: &[T; LANES]) -> f64 {
        coefficients.iter().zip(values).fold(sum, |sum, (c, value)| c.times_plus::<FMA>(value.to_f64(), sum))
    }
}

/// sums[k] += Σ coefficient·K(query, target k), queries in order; `None`: all rows are targets.
pub(super) fn add_sparse<T: Real>(
    kernel: &KernelFunction,
    items: &SparseItems<T>,
    (numbers, coefficients): (&[u32], &[f64]),
    targets: &SparseItems<T>,
    rows: Option<&[u32]>,
    sums: &mut [f64],
) {
    let mut queries = SparseQueries::new(items.n_cols);
    for (numbers, coefficients) in numbers.chunks(LANES).zip(coefficients.chunks(LANES)) {
        queries.load(items, numbers);
        sums.par_chunks_mut(ROWS_A_TASK).enumerate().for_each(|(task, sums)| {
            for (at, sum) in sums.iter_mut().enumerate() {
                let at = task * ROWS_A_TASK + at;
                let row = rows.map_or(at, |rows| rows[at] as usize);
                let values = sparse_values(kernel, &queries, targets.row(row), targets.norms[row]);
                *sum = weighted(*sum, coefficients, &values);
            }
        });
    }
}

/// Writes the value of query q and target k to `out[q·stride + k]`.
pub(super) fn sparse_rows<T: Real>(
    kernel: &KernelFunction,
    items: &SparseItems<T>,
    numbers: &[u32],
    rows: &[u32],
    stride: usize,
    out: &mut [T],
) {
    let bands: Vec<(&[u32], &mut [T])> = numbers.chunks(LANES).zip(out.chunks_mut(LANES * stride)).collect();
    bands.into_par_iter().for_each_init(
        || SparseQueries::new(items.n_cols),
        |queries, (numbers, out)| {
            queries.load(items, numbers);
            for (k, &row) in rows.iter().enumerate() {
                let values = sparse_values(kernel, queries, items.row(row as usize), items.norms[row as usize]);
                out.chunks_exact_mut(stride).zip(values).take(numbers.len()).for_each(|(out, value)| out[k] = value);
            }
        },
    );
}
