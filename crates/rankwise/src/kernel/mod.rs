//! Kernels: what one is, values of many at a time, sums of them, rows and matrices kept in memory.

mod arena;
mod basis;
mod block;
mod cache;
mod item_kernel;
mod item_rows;
mod landmarks;
mod matrix;
mod packed_pairs;
mod pivoted;
mod spec;
mod tiles;

pub(crate) use basis::LandmarkBasis;
pub(crate) use block::{ItemBlocks, LANES, gather_differences};
pub(crate) use cache::RowCache;
pub(crate) use item_kernel::{ItemKernel, KernelPart, KernelValues};
pub(crate) use item_rows::ItemRows;
pub(crate) use landmarks::Chosen;
pub use landmarks::Landmarks;
pub(crate) use matrix::{KernelMatrix, SymmetricMatrix};
pub(crate) use packed_pairs::PackedPairs;
pub(crate) use pivoted::Pivoted;
pub use spec::{Approx, Gamma, Kernel, KernelFunction};

/// Whether long work goes on; asked now and then, from any thread.
pub(crate) type GoesOn<'a> = &'a (dyn Fn() -> bool + Sync);
