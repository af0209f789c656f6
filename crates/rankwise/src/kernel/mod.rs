//! Kernels: what one is, values of many at a time, sums of them, rows kept in memory.

mod arena;
mod block;
mod cache;
mod item_kernel;
mod item_rows;
mod landmarks;
mod packed_pairs;
mod spec;
mod tiles;

pub(crate) use block::{ItemBlocks, LANES, gather_differences};
pub(crate) use cache::RowCache;
pub(crate) use item_kernel::{ItemKernel, KernelPart, KernelValues};
pub(crate) use item_rows::ItemRows;
pub use landmarks::Landmarks;
pub(crate) use packed_pairs::PackedPairs;
pub use spec::{Gamma, Kernel, KernelFunction};
