//! Items to be ranked whose features stay in a file.

use std::ops::Range;

use super::groups::{Groups, Members};
use super::ranking::{GroupList, RankView, large_constants_of, shift_to_zero};
use super::scale::ColumnStats;
use super::stored_rows::{Loaded, RowSource, Rows, StoredRows};
use super::{Features, Items, Scale, Scaler, TELLING_ROWS};
use crate::error::{Error, Result};

/// Items with labels, in groups, whose features are read from a file whenever they are needed. In memory is what there is
/// one number per item of: see [`crate::RankSvm::fit_stored`], and [`crate::io::BlockFile::into_stored`] for where they come from.
#[derive(Debug)]
pub struct StoredRanking {
    rows: StoredRows,
    feature_names: Option<Vec<String>>,
    labels: Vec<f64>,
    /// Where each group ends; groups stand one after the other.
    group_ends: Vec<u32>,
    weights: Option<Vec<f64>>,
    group_weights: Option<Vec<f64>>,
}

/// What a [`StoredRanking`] has in memory.
pub(crate) struct StoredHeads {
    pub(crate) feature_names: Option<Vec<String>>,
    pub(crate) labels: Vec<f64>,
    pub(crate) group_ends: Vec<u32>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) group_weights: Option<Vec<f64>>,
}

impl StoredRanking {
    /// What was checked already; `memory` bytes may be used.
    pub(crate) fn trusted(source: Box<dyn RowSource>, heads: StoredHeads, memory: usize) -> Self {
        let StoredHeads { feature_names, labels, group_ends, weights, group_weights } = heads;
        let rows = StoredRows::new(source, memory);
        StoredRanking { rows, feature_names, labels, group_ends, weights, group_weights }
    }

    /// How many items there are.
    pub fn n_items(&self) -> usize {
        self.labels.len()
    }

    /// How many features an item has.
    pub fn n_features(&self) -> usize {
        self.rows.n_cols()
    }

    /// How many groups there are.
    pub fn n_groups(&self) -> usize {
        self.group_ends.len()
    }

    /// One label per item.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    pub(crate) fn rows(&self) -> &StoredRows {
        &self.rows
    }

    /// Asks `stop` before every read; once it says yes, the work ends with [`Error::Interrupted`].
    pub fn stop_when(&mut self, stop: impl Fn() -> bool + Send + Sync + 'static) {
        self.rows.set_stop(Box::new(stop));
    }

    /// As learning sees it.
    pub(crate) fn view(&self) -> RankView<'_> {
        RankView {
            rows: Rows::Stored(&self.rows),
            labels: &self.labels,
            groups: GroupList::Ends(&self.group_ends),
            weights: self.weights.as_deref(),
            group_weights: self.group_weights.as_deref(),
            are_units: false,
        }
    }

    /// Items without rows: what a model must know of them to be matched with them.
    pub(crate) fn shape(&self) -> Items {
        let features = Features::trusted(
            0,
            self.rows.n_cols(),
            super::Values::F64(Vec::new().into()),
            self.rows.is_sparse().then(|| (vec![0], Vec::new())),
        );
        Items { features, feature_names: self.feature_names.clone(), ids: None, are_indicators: false }
    }

    /// Features as they are in the file, from now on.
    pub(crate) fn reset(&mut self) {
        self.rows.set_shift(None);
    }

    /// The scaling, learnt from all items by their weights, and from now on features near zero, as [`super::Ranking::near_zero`] has them.
    pub(crate) fn prepare(&mut self, scale: Scale) -> Result<Option<Scaler>> {
        let may_be_far = !self.rows.is_sparse() && !self.rows.is_f32();
        if scale == Scale::None && !may_be_far && self.have_no_large_constants()? {
            return Ok(None);
        }
        let stats = self.rows.stats(None, self.weights.as_deref())?;
        self.rows.set_shift(if may_be_far { shift_to_zero(&stats) } else { large_constants_of(&stats) });
        Ok(Scaler::of_stats(scale, stats, self.rows.is_sparse()))
    }

    /// Whether some rows tell that there is no large constant.
    fn have_no_large_constants(&self) -> Result<bool> {
        let of_weight = |&row: &u32| self.weights.as_ref().is_none_or(|weights| weights[row as usize] > 0.0);
        let some: Vec<u32> = (0..self.rows.n_rows() as u32).filter(of_weight).take(TELLING_ROWS).collect();
        Ok(large_constants_of(&self.rows.stats(Some(&some), None)?).is_none())
    }

    /// The largest standard deviation of a column over the smallest, as far as some thousand items tell.
    pub(crate) fn largest_scale_ratio(&self) -> Result<f64> {
        let n = self.rows.n_rows();
        let some: Option<Vec<u32>> =
            (n > TELLING_ROWS).then(|| (0..TELLING_ROWS).map(|k| (k * n / TELLING_ROWS) as u32).collect());
        Ok(ColumnStats::scale_ratio(&self.rows.stats(some.as_deref(), None)?))
    }

    /// Scores all items and hands over some whole groups at a time: what is in memory is never more than some megabytes of
    /// features, and a number or two for each item of the groups at hand.
    pub fn for_each_scored(
        &self,
        score: impl Fn(&Items) -> Result<Vec<f64>>,
        mut each: impl FnMut(&ScoredGroups<'_>) -> Result<()>,
    ) -> Result<()> {
        let (mut result, mut scores) = (Ok(()), Vec::new());
        let (mut first, mut next_group) = (0usize, 0usize);
        self.rows.scan(None, |loaded: &Loaded| {
            if result.is_err() {
                return;
            }
            let items = Items { features: loaded.features.clone(), ..self.shape() };
            result = score(&items).and_then(|more| {
                scores.extend(more);
                let n_whole =
                    self.group_ends[next_group..].partition_point(|&end| end as usize <= first + scores.len());
                let groups = next_group..next_group + n_whole;
                let Some(&end) = self.group_ends[groups.clone()].last() else { return Ok(()) };
                let span = first..end as usize;
                each(&self.scored(groups.clone(), span.clone(), &scores[..span.len()]))?;
                scores.drain(..span.len());
                (first, next_group) = (span.end, groups.end);
                Ok(())
            });
        })?;
        result
    }

    fn scored<'a>(&'a self, groups: Range<usize>, span: Range<usize>, scores: &'a [f64]) -> ScoredGroups<'a> {
        let mut numbers = Vec::with_capacity(span.len());
        for (number, group) in groups.clone().enumerate() {
            numbers.resize(self.group_ends[group] as usize - span.start, number as u32);
        }
        ScoredGroups {
            groups: Groups::trusted(numbers, vec![String::new(); groups.len()]),
            labels: &self.labels[span.clone()],
            scores,
            weights: self.weights.as_ref().map(|weights| &weights[span]),
            group_weights: self.group_weights.as_ref().map(|weights| &weights[groups]),
        }
    }
}

/// Some whole groups with their scores.
#[derive(Debug)]
pub struct ScoredGroups<'a> {
    /// The groups, without names.
    pub groups: Groups,
    /// One label per item.
    pub labels: &'a [f64],
    /// One score per item.
    pub scores: &'a [f64],
    /// One weight per item, where there are any.
    pub weights: Option<&'a [f64]>,
    /// One weight per group, where there are any.
    pub group_weights: Option<&'a [f64]>,
}

impl Members {
    /// Groups that stand one after the other and end there.
    pub(super) fn of_ends(ends: &[u32]) -> Self {
        let starts = std::iter::once(0).chain(ends.iter().map(|&end| end as usize)).collect();
        Members::new(starts, (0..ends.last().copied().unwrap_or(0)).collect())
    }
}

/// What a file of rows says that was cut short while it was read.
pub(crate) fn rows_are_gone(name: &str) -> Error {
    Error::data(
        crate::error::Place::file(name),
        "the file has changed while it was read",
        "leave it alone until the work is done, and start again",
    )
}
