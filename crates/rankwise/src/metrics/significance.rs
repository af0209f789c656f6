//! How sure a metric of ranked items is: intervals over groups, and whether two models differ.
//!
//! Groups are the unit, for items of one group are not independent. The interval draws groups with replacement. The test
//! asks how often a difference as large as the one found arises when nothing but chance says which of the two models
//! produced which of a group's two results (Fisher's randomisation test): every group is swapped or not, all of the 2^n
//! ways where n ≤ 20, else 10,000 of them. The way that was found counts, so that no p-value is 0.

use rayon::prelude::*;

use super::bootstrap::{Bootstrap, Interval, draw};
use super::items::{ItemMetric, Part, Share, total};
use super::ranked::Ranked;
use crate::data::{Random, mix};
use crate::error::{Error, Result};

/// Up to so many groups that differ, all ways to swap them are gone through.
const MOST_EXACT: usize = 20;
const N_SWAPS: usize = 10_000;

/// Differences of metrics below this are rounding: every metric of items is at most 1.
const ROUNDING: f64 = 1e-12;

/// Random numbers of the test, apart from those of the interval.
const TEST_STREAM: u64 = 1;

impl Bootstrap {
    /// The interval of a metric over the groups it is defined on; `None` where these are fewer than two, because one
    /// group says nothing about others.
    pub fn interval_over_groups(&self, metric: &ItemMetric, ranked: &Ranked<'_>) -> Result<Option<Interval>> {
        self.check()?;
        let parts: Vec<Part> = metric.shares(ranked)?.into_iter().filter_map(Share::part).collect();
        Ok(self.over_groups(parts.len(), |times| ratio(total(repeated(&parts, times)))))
    }

    fn over_groups(&self, n_groups: usize, value: impl Fn(&[u32]) -> f64 + Sync) -> Option<Interval> {
        if n_groups < 2 {
            return None;
        }
        let resample = |times: &mut Vec<u32>, number: usize| {
            draw(n_groups, self.seed_of(number), times);
            value(times)
        };
        self.interval((0..self.n_resamples).into_par_iter().map_init(Vec::new, resample).collect())
    }
}

/// Parts as often as they were drawn.
fn repeated<'a>(parts: &'a [Part], times: &'a [u32]) -> impl Iterator<Item = Part> + 'a {
    parts.iter().zip(times).map(|(part, &times)| Part {
        numerator: f64::from(times) * part.numerator,
        denominator: f64::from(times) * part.denominator,
    })
}

fn ratio(part: Part) -> f64 {
    part.numerator / part.denominator
}

/// Two models on the same groups: how much they differ, and whether chance would do as much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedTest {
    /// The metric of the first model minus that of the second, over the groups below.
    pub difference: f64,
    /// The chance of a difference at least as large, in either direction, between models that do not differ.
    pub p_value: f64,
    /// Groups on which the metric is defined for both.
    pub n_groups: usize,
    /// Whether the p-value is exact: all ways to swap the groups that differ were gone through.
    pub is_exact: bool,
    /// The interval of the difference, groups drawn with replacement; `None` with a single group.
    pub interval: Option<Interval>,
}

impl PairedTest {
    /// Compares two models' scores on the same groups, by the seed and the level of a bootstrap; `None` where the metric
    /// is defined on no group. The items may differ (two runs of a search engine), the groups may not.
    pub fn of(
        metric: &ItemMetric,
        first: &Ranked<'_>,
        second: &Ranked<'_>,
        bootstrap: &Bootstrap,
    ) -> Result<Option<Self>> {
        bootstrap.check()?;
        let (ours, theirs) = (first.groups(), second.groups());
        let are_same =
            ours.len() == theirs.len() && (0..ours.len()).all(|group| ours.name(group) == theirs.name(group));
        if !are_same {
            return Err(Error::Mismatch {
                problem: format!("one has {} groups, the other {}, and not the same", ours.len(), theirs.len()),
                remedy: "compare two models on the same data".into(),
            });
        }
        let both = metric.shares(first)?.into_iter().zip(metric.shares(second)?);
        let groups: Vec<[Part; 2]> = both.filter_map(|(a, b)| Some([a.part()?, b.part()?])).collect();
        if groups.is_empty() {
            return Ok(None);
        }
        let side = |side: usize| groups.iter().map(|both| both[side]).collect::<Vec<_>>();
        let sides = [side(0), side(1)];
        let swaps = Swaps::new(&groups);
        let (p_value, is_exact) = swaps.p_value(bootstrap.seed);
        let interval = bootstrap.over_groups(groups.len(), |times| {
            ratio(total(repeated(&sides[0], times))) - ratio(total(repeated(&sides[1], times)))
        });
        Ok(Some(PairedTest {
            difference: swaps.difference(|_| 0),
            p_value,
            n_groups: groups.len(),
            is_exact,
            interval,
        }))
    }
}

/// Groups that can be swapped.
struct Swaps {
    /// Those on which the models differ.
    differing: Vec<[Part; 2]>,
    /// The sum over the others, the same for both.
    common: Part,
}

impl Swaps {
    fn new(groups: &[[Part; 2]]) -> Self {
        let (differing, equal): (Vec<[Part; 2]>, Vec<_>) = groups.iter().partition(|[a, b]| a != b);
        Swaps { differing, common: total(equal.into_iter().map(|[part, _]| part)) }
    }

    /// The difference when the bits of word number k say which of the groups 32·k, … are swapped.
    fn difference(&self, mut bits: impl FnMut(usize) -> u32) -> f64 {
        let mut sums = [self.common; 2];
        for (number, chunk) in self.differing.chunks(32).enumerate() {
            let swapped = bits(number);
            for (at, both) in chunk.iter().enumerate() {
                let first = (swapped >> at & 1) as usize;
                for (sum, part) in sums.iter_mut().zip([both[first], both[1 - first]]) {
                    sum.numerator += part.numerator;
                    sum.denominator += part.denominator;
                }
            }
        }
        ratio(sums[0]) - ratio(sums[1])
    }

    /// The share of ways to swap that differ at least as much as the way found, and whether all ways were tried.
    fn p_value(&self, seed: u64) -> (f64, bool) {
        let n = self.differing.len();
        let found = self.difference(|_| 0).abs();
        let is_as_large = |difference: f64| difference.abs() >= found - ROUNDING;
        if n <= MOST_EXACT {
            // Swapping all groups changes nothing but the sign: one group can stay as it is.
            let n_ways = 1u32 << n.saturating_sub(1);
            let n_large = (0..n_ways).into_par_iter().filter(|&way| is_as_large(self.difference(|_| way))).count();
            return (n_large as f64 / f64::from(n_ways), true);
        }
        let is_large = |&number: &usize| {
            let mut random = Random::new(mix(mix(TEST_STREAM, seed), number as u64));
            // Two draws of 16 bits, which fit everywhere.
            let mut bits = || random.below(1 << 16) as u32;
            is_as_large(self.difference(|_| bits() << 16 | bits()))
        };
        let n_large = (0..N_SWAPS).into_par_iter().filter(is_large).count();
        ((n_large + 1) as f64 / (N_SWAPS + 1) as f64, false)
    }
}
