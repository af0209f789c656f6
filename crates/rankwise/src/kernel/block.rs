//! stub
use super::KernelFunction;
use crate::data::Features;
use crate::error::Result;
pub(crate) struct ItemBlocks<T> { kernel: KernelFunction, items: Vec<Vec<f64>>, marker: std::marker::PhantomData<T> }
impl<T> ItemBlocks<T> {
    pub(crate) fn new(kernel: KernelFunction, items: &Features) -> Result<Self> {
        let rows = (0..items.n_rows()).map(|r| { let mut v = vec![0.0; items.n_cols()]; items.copy_row(r, &mut v); v }).collect();
        Ok(ItemBlocks { kernel, items: rows, marker: std::marker::PhantomData })
    }
    pub(crate) fn scores_of(&self, queries: &Features, coefficients: &[f64]) -> Result<Vec<f64>> {
        let mut v = vec![0.0; queries.n_cols()];
        Ok((0..queries.n_rows()).map(|r| { queries.copy_row(r, &mut v); self.items.iter().zip(coefficients).map(|(s, a)| a * self.kernel.value(s, &v)).sum() }).collect())
    }
}
