//! Items to be ranked: labels within groups.

use std::borrow::Cow;

use super::scale::ColumnStats;
use super::stored_rows::Rows;
use super::{Features, Groups, Items, Members, Scale, Scaler, far_shift, shifted};
use crate::error::{Error, Result};

/// A mean this many times the spread of a feature is far from zero.
const FAR: f64 = 100.0;
/// A constant beyond this is worth a copy of the features without it: sums of slopes that cancel but for rounding, times the
/// constant, would give it a weight, and scores would lose their digits in its product.
const LARGE: f64 = 1e3;

/// Items with labels, in groups. Of two items in one group the one with the larger label is better; nothing is said of
/// items in different groups, nor of equal labels.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// The items and their features.
    pub items: Items,
    /// One label per item; higher is better, and only the order matters.
    pub labels: Vec<f64>,
    /// Which items may be compared.
    pub groups: Groups,
    /// One weight per item: a pair has the product of its two. `None`: all 1.
    pub weights: Option<Vec<f64>>,
    /// One weight per group, which multiplies those of its pairs. `None`: all 1.
    pub group_weights: Option<Vec<f64>>,
}

impl Ranking {
    /// Checks lengths and numbers. Without groups all items are comparable.
    pub fn new(items: Items, labels: Vec<f64>, groups: Option<Groups>) -> Result<Self> {
        let n = items.n_items();
        if labels.len() != n {
            return Err(Error::parameter("labels", labels.len(), format!("one for each of the {n} items")));
        }
        if let Some(at) = labels.iter().position(|label| !label.is_finite()) {
            return Err(Error::parameter("labels", labels[at], "finite numbers"));
        }
        let groups = groups.unwrap_or_else(|| Groups::single(n));
        if groups.n_items() != n {
            return Err(Error::parameter("groups", groups.n_items(), format!("one for each of the {n} items")));
        }
        Ok(Ranking { items, labels, groups, weights: None, group_weights: None })
    }

    /// The same with a weight per item.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        check_weights("weights", &weights, self.n_items())?;
        self.weights = Some(weights);
        Ok(self)
    }

    /// The same with a weight per group.
    pub fn with_group_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        check_weights("group_weights", &weights, self.groups.len())?;
        self.group_weights = Some(weights);
        Ok(self)
    }

    /// The same, with features that lie far from zero beside their spread moved there. Ranking sees differences alone, and
    /// these would lose their digits in products of large numbers.
    pub(crate) fn near_zero(&self) -> Cow<'_, Ranking> {
        match far_shift(&self.items.features, self.weights.as_deref()) {
            None => Cow::Borrowed(self),
            Some(shift) => {
                let features = shifted(&self.items.features, &shift);
                Cow::Owned(Ranking { items: Items { features, ..self.items.clone() }, ..self.clone() })
            }
        }
    }

    /// The scaling that the items teach by their weights; `None` for [`Scale::None`].
    pub(crate) fn scaler(&self, kind: Scale) -> Option<Scaler> {
        Scaler::learn_weighted(kind, &self.items.features, 0..self.n_items(), self.weights.as_deref())
    }

    /// As learning sees it.
    pub(crate) fn view(&self) -> RankView<'_> {
        RankView {
            rows: Rows::Held(&self.items.features),
            labels: &self.labels,
            groups: GroupList::Numbers(&self.groups),
            weights: self.weights.as_deref(),
            group_weights: self.group_weights.as_deref(),
            are_units: false,
        }
    }

    /// The same with other features: those of [`Features::units`], so that weights are scores.
    pub(crate) fn view_of_scores<'a>(&'a self, units: &'a Features) -> RankView<'a> {
        RankView { rows: Rows::Held(units), are_units: true, ..self.view() }
    }

    /// How many items there are.
    pub fn n_items(&self) -> usize {
        self.items.n_items()
    }

    /// The weight of an item.
    pub fn weight(&self, item: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[item])
    }

    /// The weight of a group.
    pub fn group_weight(&self, group: usize) -> f64 {
        self.group_weights.as_ref().map_or(1.0, |weights| weights[group])
    }

    /// Whether two items of a group, whose items these are, have different labels; of what has a weight above 0.
    pub(crate) fn has_pair(&self, group: usize, items: &[u32]) -> bool {
        let mut labels = items.iter().filter(|&&i| self.weight(i as usize) > 0.0).map(|&i| self.labels[i as usize]);
        let first = labels.next();
        self.group_weight(group) > 0.0 && labels.any(|label| Some(label) != first)
    }

    /// The items of the given numbers, in the groups they have.
    pub fn select(&self, numbers: &[usize]) -> Self {
        let groups = self.groups.select(numbers);
        let group_weights = self.group_weights.as_ref().map(|weights| {
            let mut kept = vec![0.0; groups.len()];
            for (new, &item) in groups.numbers().iter().zip(numbers) {
                kept[*new as usize] = weights[self.groups.numbers()[item] as usize];
            }
            kept
        });
        Ranking {
            items: self.items.select(numbers),
            labels: numbers.iter().map(|&i| self.labels[i]).collect(),
            groups,
            weights: self.weights.as_ref().map(|weights| numbers.iter().map(|&i| weights[i]).collect()),
            group_weights,
        }
    }
}

/// What to subtract from features that lie far from zero beside their spread; `None` where none does.
pub(super) fn shift_to_zero(stats: &ColumnStats) -> Option<Vec<f64>> {
    let ColumnStats { mean, low, high, .. } = stats;
    let is_far = |k: usize| mean[k].abs() > FAR * (high[k] - low[k]);
    let shift: Vec<f64> = (0..mean.len()).map(|k| if is_far(k) { mean[k] } else { 0.0 }).collect();
    shift.iter().any(|&s| s != 0.0).then_some(shift)
}

/// Constants beyond [`LARGE`] among features, by themselves, and 0 for all others; `None` where there are none.
pub(super) fn large_constants(
    features: &Features,
    rows: impl Iterator<Item = usize>,
    weights: Option<&[f64]>,
) -> Option<Vec<f64>> {
    let mut rows = rows.filter(|&row| weights.is_none_or(|weights| weights[row] > 0.0));
    let mut left = Vec::new();
    features.for_each_in_row(rows.next()?, |column, value| {
        if value.abs() > LARGE {
            left.push((column, value));
        }
    });
    for row in rows {
        if left.is_empty() {
            return None;
        }
        left.retain(|&(column, value)| features.value(row, column) == value);
    }
    shift_of(features.n_cols(), left.into_iter())
}

/// The same by what is known of all columns.
pub(super) fn large_constants_of(stats: &ColumnStats) -> Option<Vec<f64>> {
    let is_constant = |&at: &usize| stats.low[at] == stats.high[at] && stats.low[at].abs() > LARGE;
    shift_of(stats.low.len(), (0..stats.low.len()).filter(is_constant).map(|at| (at, stats.low[at])))
}

fn shift_of(n_cols: usize, constants: impl Iterator<Item = (usize, f64)>) -> Option<Vec<f64>> {
    let mut constants = constants.peekable();
    constants.peek()?;
    let mut shift = vec![0.0; n_cols];
    constants.for_each(|(column, value)| shift[column] = value);
    Some(shift)
}

/// Items to be ranked as learning sees them, wherever their features are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankView<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) labels: &'a [f64],
    pub(crate) groups: GroupList<'a>,
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) group_weights: Option<&'a [f64]>,
    /// Every row is a single 1, or nothing.
    pub(crate) are_units: bool,
}

/// Which items are in which group.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GroupList<'a> {
    /// In any order.
    Numbers(&'a Groups),
    /// One group after the other, ending there.
    Ends(&'a [u32]),
}

impl GroupList<'_> {
    /// The items of every group.
    pub(crate) fn members(self) -> Members {
        match self {
            GroupList::Numbers(groups) => groups.members(),
            GroupList::Ends(ends) => Members::of_ends(ends),
        }
    }
}

impl RankView<'_> {
    /// The weight of an item.
    pub(crate) fn weight(&self, item: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[item])
    }

    /// The weight of a group.
    pub(crate) fn group_weight(&self, group: usize) -> f64 {
        self.group_weights.map_or(1.0, |weights| weights[group])
    }
}

/// One finite number of at least 0 for each.
pub(crate) fn check_weights(name: &'static str, weights: &[f64], n: usize) -> Result<()> {
    if weights.len() != n {
        return Err(Error::parameter(name, weights.len(), format!("{n} entries")));
    }
    match weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
        Some(bad) => Err(Error::parameter(name, bad, "finite numbers of at least 0")),
        None => Ok(()),
    }
}
