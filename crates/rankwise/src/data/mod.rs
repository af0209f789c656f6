//! What the user has: features, pairs with outcomes, folds; nothing here knows a loss, a solver or a model.

mod comparison;
mod features;
mod folds;
mod items;
pub(crate) mod order;
mod random;
mod scale;
pub mod simulate;

pub use comparison::{Comparisons, Outcome, Pair, PairSet};
pub(crate) use features::Values;
pub use features::{Features, Precision};
pub use folds::cross_fit_folds;
pub use items::Items;
pub use random::Random;
pub use scale::{Scale, Scaler};

/// Variance of all entries of a matrix together.
pub(crate) fn overall_variance(items: &Features) -> f64 {
    scale::ColumnStats::of(items).overall_variance()
}
