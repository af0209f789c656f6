//! Which groups of items are held out, and whether they can be measured on: all of it is known before the first fit.

use std::borrow::Cow;
use std::collections::HashSet;

use rayon::prelude::*;

use super::split::{OTHER_FOLDS, columns_as_in};
use crate::data::{Features, Ranking, group_folds};
use crate::error::{Error, Place, Result};
use crate::metrics::{ItemMetric, Ranked};
use crate::model::{TuningBaseline, TuningSplit};

/// Rows that are worth a thread.
const ROWS_AT_A_TIME: usize = 1 << 12;

/// Which items a point is measured on.
#[derive(Debug, Clone, Copy)]
pub enum RankSplit<'a> {
    /// These; machines learn from all of the data.
    Valid(&'a Ranking),
    /// The groups of each of so many folds in turn, by a machine that has learnt from the others. A group is never split.
    Folds(usize),
}

/// Groups to measure on; the others are there to learn from.
pub(super) struct RankPart<'a> {
    /// Which groups of the data are not to be learnt from.
    pub(super) is_held_out: Vec<bool>,
    /// Where the groups to measure on are.
    held: &'a Ranking,
    /// Its features, columns as in training.
    features: Cow<'a, Features>,
    /// The weights of its groups; those to learn from have none.
    group_weights: Option<Vec<f64>>,
    /// The items to measure on.
    rows: Vec<u32>,
}

/// All parts.
pub(super) struct RankParts<'a> {
    pub(super) parts: Vec<RankPart<'a>>,
    pub(super) split: TuningSplit,
    /// What a random order gets, on the average of the parts.
    pub(super) baseline: TuningBaseline,
}

impl<'a> RankSplit<'a> {
    /// The parts of the data, each fit to learn from and to be measured by `metric`.
    pub(super) fn parts(self, data: &'a Ranking, metric: &ItemMetric, seed: u64) -> Result<RankParts<'a>> {
        let with_pairs = groups_with_pairs(data);
        if with_pairs.is_empty() {
            return fault(
                "no group has two items with different labels and weights above 0, so there is nothing to learn".into(),
                "give groups (qid) in which labels differ",
            );
        }
        let (parts, split) = match self {
            RankSplit::Valid(valid) => {
                let part = RankPart {
                    is_held_out: vec![false; data.groups.len()],
                    held: valid,
                    features: columns_as_in(&data.items, &valid.items, "items")?,
                    group_weights: valid.group_weights.clone(),
                    rows: (0..valid.n_items() as u32).collect(),
                };
                let present = present_items(valid);
                let groups = present.iter().map(|&item| valid.groups.numbers()[item]).collect::<HashSet<_>>().len();
                (vec![part], TuningSplit::ValidationItems { items: present.len(), groups })
            }
            RankSplit::Folds(folds) => (folded(data, &with_pairs, folds, seed)?, TuningSplit::Folds { folds }),
        };
        let constants: Vec<f64> =
            parts.iter().enumerate().map(|(at, part)| part.constant(metric, self, at)).collect::<Result<_>>()?;
        let value = constants.iter().sum::<f64>() / constants.len() as f64;
        Ok(RankParts { parts, split, baseline: TuningBaseline { outcome: None, value } })
    }
}

fn fault<T>(problem: String, remedy: impl Into<String>) -> Result<T> {
    Err(Error::data(Place::file("items"), problem, remedy))
}

fn groups_with_pairs(data: &Ranking) -> Vec<usize> {
    let members = data.groups.members();
    let groups = members.iter().enumerate().filter(|&(group, items)| data.has_pair(group, items));
    groups.map(|(group, _)| group).collect()
}

/// Items whose weight and whose group's weight is above 0.
fn present_items(data: &Ranking) -> Vec<usize> {
    let is_present =
        |&item: &usize| data.weight(item) > 0.0 && data.group_weight(data.groups.numbers()[item] as usize) > 0.0;
    (0..data.n_items()).filter(is_present).collect()
}

fn folded<'a>(data: &'a Ranking, with_pairs: &[usize], n_folds: usize, seed: u64) -> Result<Vec<RankPart<'a>>> {
    if n_folds < 2 {
        return Err(Error::parameter("folds", n_folds, "at least 2"));
    }
    if data.items.are_indicators {
        return fault(
            "the items have no features, so that nothing is known of the items of a group that is held out".into(),
            "give them features, or a validation file (--valid) of the same items",
        );
    }
    let folds = group_folds(data, n_folds, seed ^ OTHER_FOLDS);
    // Groups that say the same share a fold, so that one may still be empty.
    let used = with_pairs.iter().map(|&group| folds[group]).collect::<HashSet<_>>().len();
    if used < n_folds {
        let n = used.min(with_pairs.len());
        return match n {
            1 => fault(
                format!("only one group has items with different labels, and none of {n_folds} folds may split it"),
                "give groups (qid), a validation file (--valid), or train without a search (train)",
            ),
            _ => fault(
                format!(
                    "{n} groups have items with different labels, too few for {n_folds} folds, which never split one"
                ),
                format!("use at most {n} folds (--folds), or more groups (qid)"),
            ),
        };
    }
    let part = |fold: u32| {
        let is_held_out: Vec<bool> = folds.iter().map(|&of_group| of_group == fold).collect();
        let weight = |(group, &is_held): (usize, &bool)| if is_held { data.group_weight(group) } else { 0.0 };
        RankPart {
            group_weights: Some(is_held_out.iter().enumerate().map(weight).collect()),
            held: data,
            features: Cow::Borrowed(&data.items.features),
            rows: (0..data.n_items() as u32)
                .filter(|&item| is_held_out[data.groups.numbers()[item as usize] as usize])
                .collect(),
            is_held_out,
        }
    };
    Ok((0..n_folds as u32).map(part).collect())
}

impl RankPart<'_> {
    /// The items to measure on: where their features are, and which of them these are.
    pub(super) fn items(&self) -> (&Features, &[u32]) {
        (&self.features, &self.rows)
    }

    /// Their scores by weights of the features.
    pub(super) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.rows.len()];
        let pieces = self.rows.par_chunks(ROWS_AT_A_TIME).zip(scores.par_chunks_mut(ROWS_AT_A_TIME));
        pieces.for_each(|(rows, scores)| self.features.times_rows(rows, weights, scores));
        scores
    }

    /// The metric of scores of these items; `None` where no group has one.
    pub(super) fn measure(&self, metric: &ItemMetric, compact: &[f64]) -> Result<Option<f64>> {
        if compact.iter().any(|score| !score.is_finite()) {
            return Err(Error::Numeric {
                problem: "the scores of items that were held out leave the range of numbers".into(),
                remedy: "scale the features (--scale standard)".into(),
            });
        }
        let mut scores = vec![0.0; self.held.n_items()];
        self.rows.iter().zip(compact).for_each(|(&row, &score)| scores[row as usize] = score);
        Ok(metric.of(&self.ranked(&scores)?)?.value)
    }

    /// What a random order gets; an error where nothing can be measured.
    fn constant(&self, metric: &ItemMetric, split: RankSplit<'_>, at: usize) -> Result<f64> {
        let scores = vec![0.0; self.held.n_items()];
        let measured = metric.of_random_order(&self.ranked(&scores)?)?;
        match (measured.value, split) {
            (Some(value), _) => Ok(value),
            (None, RankSplit::Valid(_)) => fault(
                format!(
                    "no group of the validation file lets {} be measured: labels leave nothing to rank",
                    metric.name()
                ),
                "give groups (qid) in which labels differ, or another --metric",
            ),
            (None, RankSplit::Folds(n)) => fault(
                format!(
                    "no group of fold {} of {n} lets {} be measured: labels leave nothing to rank",
                    at + 1,
                    metric.name()
                ),
                "use fewer folds (--folds), another --metric, or more groups",
            ),
        }
    }

    fn ranked<'b>(&'b self, scores: &'b [f64]) -> Result<Ranked<'b>> {
        let held = self.held;
        let mut ranked = Ranked::new(&held.labels, scores, &held.groups)?;
        if let Some(weights) = &held.weights {
            ranked = ranked.with_weights(weights)?;
        }
        if let Some(weights) = &self.group_weights {
            ranked = ranked.with_group_weights(weights)?;
        }
        match &held.items.ids {
            Some(ids) => ranked.with_ids(ids),
            None => Ok(ranked),
        }
    }
}
