//! Choosing parameters: a grid of points, pairs or items held out to measure them on, the best point and its model.
//!
//! A point is a loss, a kernel and a C, of regressions also an ε. It is measured on pairs or groups of items that its machines have not seen: a
//! validation set, or every fold in turn. All fits of one loss and kernel on one training part, C ascending, are a chain.

mod backtest;
mod chain;
mod found;
mod grid;
mod label_split;
mod label_tuner;
mod rank_split;
mod rank_tuner;
mod split;
mod sweep;
mod tuner;

pub use backtest::{Backtest, Backtested, Contender};
pub use chain::TuneProgress;
pub use grid::{Grid, log_spaced};
pub use label_split::LabelSplit;
pub use label_tuner::{LabelMetric, LabelTuner, OrderMetric};
pub use rank_split::RankSplit;
pub use rank_tuner::RankTuner;
pub use split::Split;
pub use tuner::{TuneWatch, Tuned, Tuner};
