//! How good a model is: exact in O(n log n), ties included, weights respected. Every metric knows its direction.

mod bootstrap;
mod calibration;
mod classes;
mod concordance;
mod gain;
mod items;
mod pairs;
mod ranked;
mod significance;
mod values;

pub use bootstrap::{Bootstrap, Interval};
pub use calibration::{Chance, Reliability, ReliabilityBin};
pub use classes::{ClassMetric, Classified};
pub use items::{ItemMetric, Measured, MetricSum};
pub use pairs::{Judged, PairMetric, RocPoint};
pub use ranked::Ranked;
pub use significance::PairedTest;
pub use values::{PredictedValues, ValueMetric};
