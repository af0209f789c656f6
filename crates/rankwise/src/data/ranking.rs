//! Items to be ranked: labels within groups.

use std::borrow::Cow;

use super::scale::ColumnStats;
use super::{Groups, Items, Scaler};
use crate::error::{Error, Result};

/// A mean this many times the spread of a feature is far from zero.
const FAR: f64 = 100.0;

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
        let features = &self.items.features;
        if features.is_sparse() || features.is_f32() {
            return Cow::Borrowed(self); // far ones are stored neither way
        }
        let ColumnStats { mean, low, high, .. } = ColumnStats::of(features);
        let is_far = |k: usize| mean[k].abs() > FAR * (high[k] - low[k]);
        let shift: Vec<f64> = (0..mean.len()).map(|k| if is_far(k) { mean[k] } else { 0.0 }).collect();
        if shift.iter().all(|&s| s == 0.0) {
            return Cow::Borrowed(self);
        }
        let divisor = vec![1.0; mean.len()];
        match (Scaler { shift, divisor }).apply(features) {
            Ok(features) => Cow::Owned(Ranking { items: Items { features, ..self.items.clone() }, ..self.clone() }),
            Err(_) => Cow::Borrowed(self), // beyond the range of numbers; the fit will say so
        }
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
