//! Kernel values over a set of items, computed where they are needed or given as a matrix: what methods see that move many
//! coefficients of items at a time.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::KernelFunction;
use super::RowCache;
use super::block::{ItemBlocks, LANES, Packed, Store};
use super::tiles::{DenseQueries, add_sparse, sparse_rows};
use crate::data::Features;
use crate::error::{Error, Result};
use crate::math::{Real, wide};

/// Sums over rows at hand that are worth a task.
const SUMS_A_TASK: usize = 1 << 12;
/// Multiplications from which on a value is kept rather than computed again: of dense items, and of sparse ones.
const COSTLY_DENSE: usize = 96;
const COSTLY_SPARSE: usize = 40;
/// Rows that are looked up, or computed, together.
const ROWS_TOGETHER: usize = 64;

/// A kernel over items.
#[derive(Debug)]
pub(crate) struct ItemKernel<'a> {
    diagonal: Vec<f64>,
    /// Memory for rows.
    cache_bytes: usize,
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    /// Computed from features, in f32; in f64 from the day that somebody asks.
    Items {
        kernel: KernelFunction,
        items: &'a Features,
        narrow: Option<Box<ItemBlocks<f32>>>,
        exact: OnceLock<Box<ItemBlocks<f64>>>,
    },
    /// A symmetric matrix, row by row.
    Given { n: usize, matrix: &'a [f64] },
}

impl<'a> ItemKernel<'a> {
    /// A kernel on rows of features, of which rows may be kept in so much memory. Kernel values that leave the range of numbers
    /// are an error; where only those of f32 are too few, there are no values in f32.
    pub(crate) fn new(kernel: KernelFunction, items: &'a Features, cache_mb: usize) -> Result<Self> {
        let (narrow, exact) = (ItemBlocks::<f32>::new(kernel, items).ok().map(Box::new), OnceLock::new());
        let diagonal = match &narrow {
            Some(narrow) => (0..items.n_rows()).map(|item| narrow.self_value(item)).collect(),
            None => {
                let blocks = Box::new(ItemBlocks::<f64>::new(kernel, items)?);
                let blocks = exact.get_or_init(|| blocks);
                (0..items.n_rows()).map(|item| blocks.self_value(item)).collect()
            }
        };
        let source = Source::Items { kernel, items, narrow, exact };
        Ok(ItemKernel { diagonal, cache_bytes: cache_mb << 20, source })
    }

    /// A symmetric matrix of n rows.
    pub(crate) fn given(n: usize, matrix: &'a [f64]) -> Result<Self> {
        if matrix.len() != n * n {
            return Err(Error::parameter("kernel", matrix.len(), format!("the {n} × {n} numbers of a square matrix")));
        }
        if let Some(value) = matrix.iter().find(|value| value.is_nan() || value.abs() >= 1e30) {
            return Err(Error::parameter("kernel", value, "finite numbers below 1e30"));
        }
        for row in 0..n {
            for column in 0..row {
                let (value, mirrored) = (matrix[row * n + column], matrix[column * n + row]);
                let size = matrix[row * n + row].abs().max(matrix[column * n + column].abs()).max(value.abs());
                if (value - mirrored).abs() > 1e-9 * size {
                    let found = format!("{value} in row {row}, column {column}, and {mirrored} across");
                    return Err(Error::parameter("kernel", found, "a symmetric matrix"));
                }
            }
        }
        let diagonal = (0..n).map(|row| matrix[row * n + row]).collect();
        Ok(ItemKernel { diagonal, cache_bytes: 0, source: Source::Given { n, matrix } })
    }

    /// How many items there are.
    pub(crate) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Whether it is known to be positive definite.
    pub(crate) fn is_positive_definite(&self) -> bool {
        matches!(&self.source, Source::Items { kernel, .. } if kernel.is_positive_definite())
    }

    /// K(item, item) of every item.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// What Σ coefficient·K(member, ·) lacks beside the kernel as it is defined: a linear one is computed from features
    /// moved to their centre, and coefficients that sum to 0 leave a constant of that.
    pub(crate) fn constant(&self, members: &[u32], coefficients: &[f64]) -> f64 {
        match &self.source {
            Source::Items { kernel: KernelFunction::Linear, items, narrow, exact, .. } => {
                let centre = match (narrow, exact.get()) {
                    (Some(narrow), _) => narrow.centre(),
                    (None, Some(exact)) => exact.centre(),
                    (None, None) => &[],
                };
                let terms = members.iter().zip(coefficients).map(|(&member, &t)| (member as usize, t));
                items.combine_rows(terms).iter().zip(centre).map(|(w, c)| w * c).sum()
            }
            _ => 0.0,
        }
    }

    /// Values in f32, where these will do.
    pub(crate) fn narrow(&self) -> Option<KernelValues<'_, f32>> {
        match &self.source {
            Source::Items { narrow, .. } => {
                narrow.as_ref().map(|blocks| KernelValues::Computed { blocks, cache_bytes: self.cache_bytes })
            }
            &Source::Given { n, matrix } => Some(KernelValues::Given { n, matrix }),
        }
    }

    /// Values in f64.
    pub(crate) fn exact(&self) -> Result<KernelValues<'_, f64>> {
        match &self.source {
            &Source::Given { n, matrix } => Ok(KernelValues::Given { n, matrix }),
            Source::Items { kernel, items, exact, .. } => {
                if let Some(blocks) = exact.get() {
                    return Ok(KernelValues::Computed { blocks, cache_bytes: self.cache_bytes });
                }
                let blocks = Box::new(ItemBlocks::new(*kernel, items)?);
                let blocks = exact.get_or_init(|| blocks);
                Ok(KernelValues::Computed { blocks, cache_bytes: self.cache_bytes })
            }
        }
    }
}

/// Kernel values in one precision.
#[derive(Debug)]
pub(crate) enum KernelValues<'a, T> {
    /// From features.
    Computed {
        /// The items.
        blocks: &'a ItemBlocks<T>,
        /// Memory for rows.
        cache_bytes: usize,
    },
    /// From a matrix of `n` rows.
    Given {
        /// How many.
        n: usize,
        /// All of them.
        matrix: &'a [f64],
    },
}

/// Some items, gathered for products with others.
#[derive(Debug)]
pub(crate) struct KernelPart<T> {
    targets: Targets<T>,
    /// Rows of other items over these, where values cost more than reading them.
    rows: Option<RowCache<T>>,
}

#[derive(Debug)]
enum Targets<T> {
    /// Dense ones in panels.
    Packed(Packed<T>),
    /// Numbers of sparse ones, or of rows of a matrix.
    Numbers(Vec<u32>),
}

impl<T: Real> KernelValues<'_, T> {
    /// Multiplications that a value takes, about.
    pub(crate) fn width(&self) -> usize {
        match self {
            KernelValues::Computed { blocks, .. } => blocks.width(),
            KernelValues::Given { .. } => 1,
        }
    }

    /// Gathers items.
    pub(crate) fn part(&self, items: &[u32]) -> KernelPart<T> {
        let (targets, is_costly) = match self {
            KernelValues::Computed { blocks, .. } => match blocks.store() {
                Store::Dense(packed) => {
                    (Targets::Packed(packed.select(items.iter().copied())), packed.d >= COSTLY_DENSE)
                }
                Store::Sparse(rows) => (Targets::Numbers(items.to_vec()), rows.mean_stored() >= COSTLY_SPARSE),
            },
            KernelValues::Given { .. } => (Targets::Numbers(items.to_vec()), false),
        };
        let rows = match self {
            KernelValues::Computed { blocks, cache_bytes } if is_costly => {
                let len = items.len().next_multiple_of(LANES);
                let has_room = *cache_bytes >= 2 * ROWS_TOGETHER * len * size_of::<T>();
                has_room.then(|| RowCache::new(blocks.len(), len, *cache_bytes))
            }
            _ => None,
        };
        KernelPart { targets, rows }
    }

    /// K(item, item)
    pub(crate) fn self_value(&self, item: usize) -> f64 {
        match self {
            KernelValues::Computed { blocks, .. } => blocks.self_value(item),
            KernelValues::Given { n, matrix } => matrix[item * n + item],
        }
    }

    /// sums[k] += Σ coefficient·K(item, k-th of the part), items in order.
    pub(crate) fn add(&self, items: &[u32], coefficients: &[f64], part: &mut KernelPart<T>, sums: &mut [f64]) {
        match (self, &part.targets, &mut part.rows) {
            (KernelValues::Computed { blocks, .. }, targets, Some(rows)) => {
                for (items, coefficients) in items.chunks(ROWS_TOGETHER).zip(coefficients.chunks(ROWS_TOGETHER)) {
                    let slots = look_up(blocks, items, targets, rows);
                    let at_hand: Vec<&[T]> = slots.iter().map(|&slot| rows.row(slot)).collect();
                    add_rows(&at_hand, coefficients, sums);
                }
            }
            (KernelValues::Computed { blocks, .. }, targets, None) => match (blocks.store(), targets) {
                (Store::Dense(packed), Targets::Packed(targets)) => {
                    DenseQueries::new(packed, items.iter().copied()).add(blocks.kernel(), coefficients, targets, sums);
                }
                (Store::Sparse(rows), Targets::Numbers(targets)) => {
                    add_sparse(blocks.kernel(), rows, (items, coefficients), rows, Some(targets), sums);
                }
                _ => {}
            },
            (KernelValues::Given { n, matrix }, Targets::Numbers(targets), _) => {
                sums.par_chunks_mut(SUMS_A_TASK).zip(targets.par_chunks(SUMS_A_TASK)).for_each(|(sums, targets)| {
                    for (&item, coefficient) in items.iter().zip(coefficients) {
                        let row = &matrix[item as usize * n..][..*n];
                        sums.iter_mut().zip(targets).for_each(|(sum, &at)| *sum += coefficient * row[at as usize]);
                    }
                });
            }
            _ => {}
        }
    }

    /// The values among items, row by row, `stride` numbers apart (a multiple of 16).
    pub(crate) fn gram(&self, items: &[u32], stride: usize, out: &mut [T]) {
        match self {
            KernelValues::Computed { blocks, .. } => {
                let targets = match blocks.store() {
                    Store::Dense(packed) => Targets::Packed(packed.select(items.iter().copied())),
                    Store::Sparse(_) => Targets::Numbers(items.to_vec()),
                };
                rows_over(blocks, items, &targets, stride, out);
            }
            KernelValues::Given { n, matrix } => {
                for (&item, out) in items.iter().zip(out.chunks_exact_mut(stride)) {
                    let row = &matrix[item as usize * n..][..*n];
                    items.iter().zip(out).for_each(|(&other, out)| *out = T::from_f64(row[other as usize]));
                }
            }
        }
    }
}

/// Values of items with targets, row by row.
fn rows_over<T: Real>(blocks: &ItemBlocks<T>, items: &[u32], targets: &Targets<T>, stride: usize, out: &mut [T]) {
    match (blocks.store(), targets) {
        (Store::Dense(packed), Targets::Packed(targets)) => {
            DenseQueries::new(packed, items.iter().copied()).rows(blocks.kernel(), targets, stride, out);
        }
        (Store::Sparse(rows), Targets::Numbers(targets)) => {
            sparse_rows(blocks.kernel(), rows, items, targets, stride, out);
        }
        _ => {}
    }
}

/// Where the rows of items are, computed if they were not there; no more than half of what there is room for.
fn look_up<T: Real>(blocks: &ItemBlocks<T>, items: &[u32], targets: &Targets<T>, rows: &mut RowCache<T>) -> Vec<u32> {
    let found: Vec<Option<u32>> = items.iter().map(|&item| rows.find(item)).collect();
    let missing: Vec<u32> =
        items.iter().zip(&found).filter(|(_, slot)| slot.is_none()).map(|(&item, _)| item).collect();
    let stride = rows.row_len();
    let mut computed = vec![T::ZERO; missing.len() * stride];
    rows_over(blocks, &missing, targets, stride, &mut computed);
    for (&item, row) in missing.iter().zip(computed.chunks_exact(stride)) {
        let slot = rows.insert(item, None);
        rows.fill(slot).copy_from_slice(row);
    }
    items.iter().zip(found).filter_map(|(&item, slot)| slot.or_else(|| rows.find(item))).collect()
}

/// sums += Σ coefficient·row, rows in order.
fn add_rows<T: Real>(rows: &[&[T]], coefficients: &[f64], sums: &mut [f64]) {
    sums.par_chunks_mut(SUMS_A_TASK).enumerate().for_each(|(task, sums)| {
        for (row, &coefficient) in rows.iter().zip(coefficients) {
            add_wide(sums, coefficient, &row[task * SUMS_A_TASK..][..sums.len()]);
        }
    });
}

wide! {
    fn add_wide<T>(sums: &mut [f64], coefficient: f64, row: &[T]) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum = coefficient.times_plus::<FMA>(value.to_f64(), *sum);
        }
    }
}
