//! How good a model is: exact in O(n log n), ties included, weights respected. Every metric knows its direction.

mod bootstrap;
mod pairs;

pub use bootstrap::{Bootstrap, Interval};
pub use pairs::{Judged, PairMetric, RocPoint};
