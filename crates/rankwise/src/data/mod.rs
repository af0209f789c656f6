//! What the user has: features, items with labels in groups, pairs with outcomes, folds; nothing here knows a loss, a solver or a model.

mod alias;
mod bins;
mod buffer;
mod class_items;
mod comparison;
mod digits;
mod features;
mod folds;
mod games;
mod groups;
mod items;
pub(crate) mod order;
mod pairwise;
mod random;
mod ranges;
mod ranking;
mod row_store;
mod scale;
pub mod simulate;
mod stored_ranking;
mod stored_rows;
mod verdicts;

pub(crate) use alias::Alias;
pub(crate) use bins::{bin_of, equal_frequency_cuts};
pub use buffer::Shared;
pub(crate) use class_items::ordered_classes;
pub use class_items::{ClassItems, class_name};
pub use comparison::{Comparisons, Context, JudgedPairs, Outcome, Pair, PairSet};
pub(crate) use digits::{ColumnDigits, POWERS, SHORT};
pub use features::{FeatureParts, Features, Numbers, OwnedNumbers, Precision};
pub(crate) use features::{Stored, Values};
pub(crate) use folds::spread_classes;
pub use folds::{class_folds, cross_fit_folds, group_folds, value_folds};
pub use games::{Covariates, Date, Game, Games};
pub use groups::{Groups, Members};
pub use items::Items;
pub(crate) use pairwise::draw_partners;
pub use pairwise::{PairwiseTransform, drawn_pairs, pairwise_transform};
pub use random::Random;
pub(crate) use random::mix;
pub(crate) use ranges::{ColumnRanges, RowRanges, has_f32_magnitude};
pub use ranking::Ranking;
pub(crate) use ranking::{RankView, check_weights};
pub(crate) use row_store::{Block, RowStore};
pub use scale::{Scale, Scaler};
pub(crate) use scale::{ScaleSurvey, unit_of};
pub use stored_ranking::{ScoredGroups, StoredRanking};
pub(crate) use stored_ranking::{StoredHeads, rows_are_gone};
pub(crate) use stored_rows::{Loaded, RowSource, Rows, Runs, StoredRows, runs_of};
pub use verdicts::Verdicts;
pub(crate) use verdicts::predicted;

/// Rows that tell how features are scaled, where there are more.
const TELLING_ROWS: usize = 5000;

/// The largest standard deviation of a column over the smallest; constant columns do not count. Of many items, some thousands
/// speak for all.
pub(crate) fn largest_scale_ratio(items: &Features) -> f64 {
    let stats = if items.n_rows() <= TELLING_ROWS {
        scale::ColumnStats::of(items)
    } else {
        let some = (0..TELLING_ROWS).map(|k| k * items.n_rows() / TELLING_ROWS);
        scale::ColumnStats::of_rows(items, some, None)
    };
    stats.scale_ratio()
}

/// What to subtract from features that lie far from zero beside their spread, which differences do not see, and which would
/// take the digits of sums; `None` where none does. Of those that are stored in a way that far ones are not, constants may.
pub(crate) fn far_shift(items: &Features, weights: Option<&[f64]>) -> Option<Vec<f64>> {
    far_shift_of_rows(items, 0..items.n_rows(), weights)
}

/// The same where sums over rows go in this order.
pub(crate) fn far_shift_of_rows(
    items: &Features,
    rows: impl Iterator<Item = usize> + Clone,
    weights: Option<&[f64]>,
) -> Option<Vec<f64>> {
    if items.is_sparse() || items.is_f32() {
        return ranking::large_constants(items, rows, weights);
    }
    ranking::shift_to_zero(&scale::ColumnStats::of_rows(items, rows, weights))
}

/// Features without what [`far_shift`] says.
pub(crate) fn shifted(items: &Features, shift: &[f64]) -> Features {
    let mut shifted = items.clone();
    shifted.subtract(shift);
    shifted
}

/// Variance of all entries of a matrix together, perhaps with one weight for each row: 2 counts as two copies, 0 as none.
pub(crate) fn overall_variance(items: &Features, weights: Option<&[f64]>) -> f64 {
    scale::ColumnStats::of_rows(items, 0..items.n_rows(), weights).overall_variance()
}
