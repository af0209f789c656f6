//! Choosing parameters: a grid of points, pairs held out to measure them on, the best point and its model.
//!
//! A point is a loss, a kernel and a C. It is measured on pairs that its machines have not seen: a validation set, or
//! every fold in turn. All fits of one loss and kernel on one training part, C ascending, are a chain.

mod chain;
mod grid;
mod split;
mod sweep;
mod tuner;

pub use chain::TuneProgress;
pub use grid::{Grid, log_spaced};
pub use split::Split;
pub use tuner::{TuneWatch, Tuned, Tuner};
