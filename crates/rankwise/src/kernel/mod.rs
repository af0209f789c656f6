//! Kernels: what one is, values of many at a time, sums of them.

mod block;
mod spec;

pub(crate) use block::ItemBlocks;
pub use spec::{Gamma, Kernel, KernelFunction};
