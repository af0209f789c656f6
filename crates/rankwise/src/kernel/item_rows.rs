//! Kernel rows over items, for many kernels on the same items: products of items are computed once where that is worth
//! their memory, and every kernel takes its values from them.

use rayon::prelude::*;

use super::KernelFunction;
use super::block::{ItemBlocks, LANES, Packed, values_of_products};
use crate::data::Features;
use crate::error::Result;

/// Features from which on reading a product is cheaper than computing it.
const MANY_FEATURES: usize = 16;

/// Products of items, if they are kept.
#[derive(Debug)]
pub(crate) struct ItemRows {
    /// Centred features, for distances; and features as they are, for dot products.
    centred: Option<Products>,
    plain: Option<Products>,
}

impl ItemRows {
    /// Keeps nothing: one kernel alone has nothing to share.
    pub(crate) fn none() -> Self {
        ItemRows { centred: None, plain: None }
    }

    /// Keeps products of items within `bytes`, where this pays.
    pub(crate) fn new(items: &Features, bytes: usize) -> Result<Self> {
        let n = items.n_rows();
        let size = n * n.next_multiple_of(LANES) * size_of::<f64>();
        if items.n_cols() < MANY_FEATURES || items.is_sparse() || size > bytes / 2 {
            return Ok(Self::none());
        }
        Ok(ItemRows {
            centred: Some(Products::new(KernelFunction::Linear, items)?),
            plain: Some(Products::new(KernelFunction::Poly { gamma: 1.0, coef0: 0.0, degree: 1 }, items)?),
        })
    }

    /// Rows of a kernel; values that leave the range of numbers are an error.
    pub(crate) fn with(&self, kernel: KernelFunction, items: &Features) -> Result<RowsOf<'_>> {
        let blocks = ItemBlocks::new(kernel, items)?;
        let products = match kernel {
            KernelFunction::Rbf { .. } | KernelFunction::Linear => self.centred.as_ref(),
            KernelFunction::Poly { .. } | KernelFunction::Sigmoid { .. } => self.plain.as_ref(),
        };
        Ok(RowsOf { kernel, blocks, products })
    }
}

/// Products of all items with all.
#[derive(Debug)]
struct Products {
    stride: usize,
    values: Vec<f64>,
    /// Padded like a row.
    norms: Vec<f64>,
}

impl Products {
    fn new(product: KernelFunction, items: &Features) -> Result<Self> {
        let blocks = ItemBlocks::<f64>::new(product, items)?;
        let n = blocks.len();
        let stride = n.next_multiple_of(LANES);
        let mut values = vec![0.0; n * stride];
        values.par_chunks_mut(stride.max(1)).enumerate().for_each(|(item, row)| blocks.row(item, row));
        // From the diagonal, so that the distance of an item from itself is exactly 0.
        let mut norms: Vec<f64> = (0..n).map(|item| values[item * stride + item]).collect();
        norms.resize(stride, 0.0);
        Ok(Products { stride, values, norms })
    }
}

/// Kernel rows over items.
pub(crate) struct RowsOf<'a> {
    kernel: KernelFunction,
    blocks: ItemBlocks<f64>,
    products: Option<&'a Products>,
}

impl RowsOf<'_> {
    /// The dense items in panels, where products are not at hand.
    pub(crate) fn packed(&self) -> Option<&Packed<f64>> {
        if self.products.is_some() { None } else { self.blocks.packed() }
    }

    /// Room for the values of the first `n` items.
    pub(crate) fn buffer(&self, n: usize) -> Vec<f64> {
        vec![0.0; n.next_multiple_of(LANES)]
    }

    /// The values of an item with the first items, as many as there is room for.
    pub(crate) fn row(&self, item: usize, out: &mut [f64]) {
        match self.products {
            Some(Products { stride, values, norms }) => {
                values_of_products(&self.kernel, &values[item * stride..], norms[item], norms, out);
            }
            None => self.blocks.row(item, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Precision, Random};

    #[test]
    fn kept_products_give_the_values_that_blocks_give() {
        let mut random = Random::new(5);
        let values: Vec<f64> = (0..37 * 20).map(|_| 3.0 + random.normal()).collect();
        let items = Features::dense(20, values, Precision::F64).unwrap();
        let kept = ItemRows::new(&items, 1 << 20).unwrap();
        assert!(kept.centred.is_some());
        for kernel in [
            KernelFunction::Linear,
            KernelFunction::Rbf { gamma: 0.05 },
            KernelFunction::Poly { gamma: 0.1, coef0: 1.0, degree: 3 },
            KernelFunction::Sigmoid { gamma: 0.01, coef0: 0.1 },
        ] {
            let rows = kept.with(kernel, &items).unwrap();
            let blocks = ItemBlocks::<f64>::new(kernel, &items).unwrap();
            let (mut a, mut b) = (rows.buffer(37), rows.buffer(37));
            for item in 0..37 {
                rows.row(item, &mut a);
                blocks.row(item, &mut b);
                let worst = a[..37].iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst < 1e-10, "{kernel:?}: {worst}");
            }
        }
    }
}
