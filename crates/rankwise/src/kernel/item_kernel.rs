//! Kernel values over a set of items, computed where they are needed or given as a matrix: what methods see that move many
//! coefficients of items at a time.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::KernelFunction;
use super::block::{ItemBlocks, Packed, Store};
use super::tiles::{DenseQueries, add_sparse, sparse_rows};
use crate::data::Features;
use crate::error::{Error, Result};
use crate::math::Real;

/// Sums over a given matrix that are worth a task.
const SUMS_A_TASK: usize = 1 << 12;

/// A kernel over items.
#[derive(Debug)]
pub(crate) struct ItemKernel<'a> {
    diagonal: Vec<f64>,
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    /// Computed from features, in f32; in f64 from the day that somebody asks.
    Items { kernel: KernelFunction, items: &'a Features, narrow: ItemBlocks<f32>, exact: OnceLock<ItemBlocks<f64>> },
    /// A symmetric matrix, row by row.
    Given { n: usize, matrix: &'a [f64] },
}

impl<'a> ItemKernel<'a> {
    /// A kernel on rows of features. Kernel values that leave the range of f32 are an error.
    pub(crate) fn new(kernel: KernelFunction, items: &'a Features) -> Result<Self> {
        let narrow = ItemBlocks::<f32>::new(kernel, items)?;
        let diagonal = (0..items.n_rows()).map(|item| narrow.self_value(item)).collect();
        Ok(ItemKernel { diagonal, source: Source::Items { kernel, items, narrow, exact: OnceLock::new() } })
    }

    /// A symmetric matrix of n rows.
    pub(crate) fn given(n: usize, matrix: &'a [f64]) -> Result<Self> {
        if matrix.len() != n * n {
            return Err(Error::parameter("kernel", matrix.len(), format!("the {n} × {n} numbers of a square matrix")));
        }
        if let Some(value) = matrix.iter().find(|value| !(value.abs() < 1e30)) {
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
        Ok(ItemKernel { diagonal, source: Source::Given { n, matrix } })
    }

    /// How many items there are.
    pub(crate) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// K(item, item) of every item.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// What Σ coefficient·K(member, ·) lacks beside the kernel as it is defined: a linear one is computed from features
    /// moved to their centre, and coefficients that sum to 0 leave a constant of that.
    pub(crate) fn constant(&self, members: &[u32], coefficients: &[f64]) -> f64 {
        match &self.source {
            Source::Items { kernel: KernelFunction::Linear, items, narrow, .. } => {
                let terms = members.iter().zip(coefficients).map(|(&member, &t)| (member as usize, t));
                items.combine_rows(terms).iter().zip(narrow.centre()).map(|(w, c)| w * c).sum()
            }
            _ => 0.0,
        }
    }

    /// Values in f32.
    pub(crate) fn narrow(&self) -> KernelValues<'_, f32> {
        match &self.source {
            Source::Items { narrow, .. } => KernelValues::Computed(narrow),
            &Source::Given { n, matrix } => KernelValues::Given { n, matrix },
        }
    }

    /// Values in f64.
    pub(crate) fn exact(&self) -> Result<KernelValues<'_, f64>> {
        match &self.source {
            &Source::Given { n, matrix } => Ok(KernelValues::Given { n, matrix }),
            Source::Items { kernel, items, exact, .. } => {
                if let Some(blocks) = exact.get() {
                    return Ok(KernelValues::Computed(blocks));
                }
                let blocks = ItemBlocks::new(*kernel, items)?;
                Ok(KernelValues::Computed(exact.get_or_init(|| blocks)))
            }
        }
    }
}

/// Kernel values in one precision.
#[derive(Debug)]
pub(crate) enum KernelValues<'a, T> {
    /// From features.
    Computed(&'a ItemBlocks<T>),
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
pub(crate) enum KernelPart<T> {
    /// Dense ones in panels.
    Packed(Packed<T>),
    /// Numbers of sparse ones, or of rows of a matrix.
    Numbers(Vec<u32>),
}

impl<T: Real> KernelValues<'_, T> {
    /// Gathers items.
    pub(crate) fn part(&self, items: &[u32]) -> KernelPart<T> {
        match self {
            KernelValues::Computed(blocks) => match blocks.store() {
                Store::Dense(packed) => KernelPart::Packed(packed.select(items.iter().copied())),
                Store::Sparse(_) => KernelPart::Numbers(items.to_vec()),
            },
            KernelValues::Given { .. } => KernelPart::Numbers(items.to_vec()),
        }
    }

    /// sums[k] += Σ coefficient·K(item, k-th of the part), items in order.
    pub(crate) fn add(&self, items: &[u32], coefficients: &[f64], part: &mut KernelPart<T>, sums: &mut [f64]) {
        match (self, part) {
            (KernelValues::Computed(blocks), part) => match (blocks.store(), part) {
                (Store::Dense(packed), KernelPart::Packed(targets)) => {
                    DenseQueries::new(packed, items.iter().copied()).add(blocks.kernel(), coefficients, targets, sums);
                }
                (Store::Sparse(rows), KernelPart::Numbers(targets)) => {
                    add_sparse(blocks.kernel(), rows, (items, coefficients), rows, Some(targets), sums);
                }
                _ => {}
            },
            (KernelValues::Given { n, matrix }, KernelPart::Numbers(targets)) => {
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
            KernelValues::Computed(blocks) => match blocks.store() {
                Store::Dense(packed) => {
                    let targets = packed.select(items.iter().copied());
                    DenseQueries::new(packed, items.iter().copied()).rows(blocks.kernel(), &targets, stride, out);
                }
                Store::Sparse(rows) => sparse_rows(blocks.kernel(), rows, items, items, stride, out),
            },
            KernelValues::Given { n, matrix } => {
                for (&item, out) in items.iter().zip(out.chunks_exact_mut(stride)) {
                    let row = &matrix[item as usize * n..][..*n];
                    items.iter().zip(out).for_each(|(&other, out)| *out = T::from_f64(row[other as usize]));
                }
            }
        }
    }
}
