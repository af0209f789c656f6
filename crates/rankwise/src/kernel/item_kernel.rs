//! Kernel values over a set of items, computed or given.

use super::{ItemBlocks, KernelFunction};
use crate::data::Features;
use crate::error::{Error, Result};

/// Kernel values over a set of items.
pub(crate) struct ItemKernel {
    n: usize,
    matrix: Vec<f64>,
}

impl ItemKernel {
    pub(crate) fn new(kernel: KernelFunction, rows: &Features, _cache_mb: usize) -> Result<Self> {
        let blocks = ItemBlocks::<f64>::new(kernel, rows)?;
        let n = rows.n_rows();
        let matrix = (0..n * n).map(|at| blocks.value(at / n, at % n)).collect();
        Ok(ItemKernel { n, matrix })
    }

    pub(crate) fn given(n: usize, matrix: Vec<f64>) -> Result<Self> {
        if matrix.len() != n * n {
            return Err(Error::parameter("matrix", matrix.len(), format!("{n} × {n} numbers")));
        }
        Ok(ItemKernel { n, matrix })
    }

    pub(crate) fn value(&self, a: usize, b: usize) -> f64 {
        self.matrix[a * self.n + b]
    }
}
