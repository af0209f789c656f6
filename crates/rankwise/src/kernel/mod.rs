//! Kernels: what one is, values of many at a time, sums of them, rows kept in memory.

mod arena;
mod block;
mod cache;
mod item_rows;
mod spec;

pub(crate) use block::{ItemBlocks, LANES, PackedPairs, gather_differences};
pub(crate) use cache::RowCache;
pub(crate) use item_rows::ItemRows;
pub use spec::{Gamma, Kernel, KernelFunction};
