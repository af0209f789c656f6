//! Items: features with what they are called.

use super::Features;
use crate::error::{Error, Result};

/// Unique items, one row of features each.
#[derive(Debug, Clone)]
pub struct Items {
    /// One row per item.
    pub features: Features,
    /// Names of the features, where the source had names.
    pub feature_names: Option<Vec<String>>,
    /// What each item is called, where the source had ids (several items may share an id: a player before two games).
    pub ids: Option<Vec<String>>,
    /// The items have no features of their own: feature `i` says "this is item `feature_names[i]`".
    pub are_indicators: bool,
}

impl Items {
    /// Checks that names and ids fit the features.
    pub fn new(features: Features, feature_names: Option<Vec<String>>, ids: Option<Vec<String>>) -> Result<Self> {
        let length = |name: &'static str, found: Option<usize>, expected: usize| match found {
            Some(found) if found != expected => Err(Error::parameter(name, found, format!("{expected} entries"))),
            _ => Ok(()),
        };
        length("feature_names", feature_names.as_ref().map(Vec::len), features.n_cols())?;
        length("ids", ids.as_ref().map(Vec::len), features.n_rows())?;
        Ok(Items { features, feature_names, ids, are_indicators: false })
    }

    /// Items known by their (distinct) ids alone: one indicator feature each.
    pub fn indicators(ids: Vec<String>) -> Self {
        Items {
            features: Features::indicators(ids.len()),
            feature_names: Some(ids.clone()),
            ids: Some(ids),
            are_indicators: true,
        }
    }

    /// How many items there are.
    pub fn n_items(&self) -> usize {
        self.features.n_rows()
    }

    /// The items of the given numbers.
    pub fn select(&self, numbers: &[usize]) -> Self {
        Items {
            features: self.features.select_rows(numbers),
            feature_names: self.feature_names.clone(),
            ids: self.ids.as_ref().map(|ids| numbers.iter().map(|&i| ids[i].clone()).collect()),
            are_indicators: self.are_indicators,
        }
    }

    /// The item by the words a user knows it by: its id, or `#n` counted from 1.
    pub fn name(&self, item: u32) -> String {
        match &self.ids {
            Some(ids) => ids[item as usize].clone(),
            None => format!("#{}", u64::from(item) + 1),
        }
    }
}
