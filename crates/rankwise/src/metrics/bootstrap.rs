//! How far a metric may be off because other pairs could have been judged: percentile intervals of the bootstrap
//! (Efron, 1979).
//!
//! A resample draws as many pairs as there are, with replacement; where pairs come in groups (a judge, a tournament),
//! whole groups are drawn, because pairs of one group are not independent. Drawing a pair m times multiplies its weight by
//! m, so that one order of |margin| (or excess) serves every resample.

use rayon::prelude::*;

use super::{Judged, PairMetric};
use crate::data::order::argsort;
use crate::data::{Outcome, Random, mix};
use crate::error::{Error, Result};

const N_METRICS: usize = PairMetric::ALL.len();

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bootstrap {
    /// How many resamples to draw.
    pub n_resamples: usize,
    /// The share of resamples inside the interval, between 0 and 1.
    pub level: f64,
    /// The seed; the number of threads does not matter.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { n_resamples: 1000, level: 0.95, seed: 0 }
    }
}

/// An interval of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Resamples on which the metric was not defined; they are left out.
    pub n_undefined: usize,
}

impl Bootstrap {
    /// The default with this seed.
    pub fn new(seed: u64) -> Self {
        Bootstrap { seed, ..Bootstrap::default() }
    }

    /// An interval for each of [`PairMetric::ALL`], in that order; `None` where the metric itself is not defined.
    ///
    /// Pairs of weight 0 are absent; other weights stay with their pairs, whatever is drawn. One sort, then
    /// O(`n_resamples` · n), in parallel.
    pub fn intervals(
        &self,
        judged: &Judged<'_>,
        groups: Option<&[u32]>,
    ) -> Result<[Option<Interval>; PairMetric::ALL.len()]> {
        self.check()?;
        let n = judged.outcomes.len();
        if let Some(groups) = groups.filter(|groups| groups.len() != n) {
            return Err(Error::parameter("groups", groups.len(), format!("one for each of the {n} pairs")));
        }
        let swept = Swept::new(judged, groups);
        let resamples: Vec<[Option<f64>; N_METRICS]> = (0..self.n_resamples)
            .into_par_iter()
            .map_init(Vec::new, |times, number| {
                draw(swept.n_units, self.seed_of(number), times);
                swept.metrics(times)
            })
            .collect();
        let interval = |at: usize| {
            PairMetric::ALL[at].of(judged)?;
            self.interval(resamples.iter().filter_map(|metrics| metrics[at]).collect())
        };
        Ok(std::array::from_fn(interval))
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(Error::parameter("level", self.level, "a number between 0 and 1"));
        }
        if self.n_resamples == 0 {
            return Err(Error::parameter("n_resamples", self.n_resamples, "at least 1"));
        }
        Ok(())
    }

    /// The random numbers of one resample, the same whichever thread makes it.
    pub(super) fn seed_of(&self, resample: usize) -> u64 {
        mix(mix(0, self.seed), resample as u64)
    }

    /// The interval that the values of the resamples span; `None` where none has a value.
    pub(super) fn interval(&self, mut values: Vec<f64>) -> Option<Interval> {
        values.sort_by(f64::total_cmp);
        let outside = (1.0 - self.level) / 2.0;
        Some(Interval {
            low: quantile(&values, outside)?,
            high: quantile(&values, 1.0 - outside)?,
            n_undefined: self.n_resamples - values.len(),
        })
    }
}

/// The value below which a share of the ascending `values` lies, linear between neighbours.
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let place = share * values.len().checked_sub(1)? as f64;
    let (below, above) = (values[place.floor() as usize], values[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

/// A pair as the metrics see it.
#[derive(Debug, Clone, Copy)]
struct Seen {
    weight: f64,
    /// What is drawn: the pair itself, or its group.
    unit: u32,
    judged: Outcome,
    is_hit: bool,
    is_sign_right: bool,
    /// Of the log-loss and of the Brier score, where there are probabilities.
    chance_losses: [f64; 2],
    /// The last of its size of margin.
    ends_run: bool,
}

/// The pairs with a weight, by descending size: |margin|, or excess beyond the pair's own threshold.
struct Swept {
    pairs: Vec<Seen>,
    n_units: usize,
    has_chances: bool,
}

impl Swept {
    fn new(judged: &Judged<'_>, groups: Option<&[u32]>) -> Self {
        let present: Vec<usize> = (0..judged.outcomes.len()).filter(|&k| judged.weight(k) > 0.0).collect();
        let all_sizes = judged.sizes();
        let size: Vec<f64> = present.iter().map(|&k| all_sizes[k]).collect();
        let mut order = argsort(&size);
        order.reverse();
        let (units, n_units) = match groups {
            None => ((0..present.len() as u32).collect(), present.len()),
            Some(groups) => {
                let of_pair: Vec<u32> = present.iter().map(|&k| groups[k]).collect();
                numbered(&of_pair)
            }
        };
        let seen = |(position, &at): (usize, &u32)| {
            let (k, at) = (present[at as usize], at as usize);
            let judged_as = judged.outcomes[k];
            Seen {
                weight: judged.weight(k),
                unit: units[at],
                judged: judged_as,
                is_hit: judged.predicted(k) == judged_as,
                is_sign_right: judged.sign_is_right(k),
                chance_losses: judged.chance_losses(k).unwrap_or_default(),
                ends_run: order.get(position + 1).is_none_or(|&next| size[next as usize] != size[at]),
            }
        };
        Swept { pairs: order.iter().enumerate().map(seen).collect(), n_units, has_chances: judged.has_chances() }
    }

    /// Every metric on the pairs taken so many times: what [`Judged`] would say of the copies.
    fn metrics(&self, times: &[u32]) -> [Option<f64>; N_METRICS] {
        let (mut totals, mut hits, mut signs) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        // Weights of the ties and of the others that are right, above the threshold that moves down.
        let (mut ties, mut others, mut area) = (0.0, 0.0, 0.0);
        let mut of_chances = [0.0; 2];
        let (mut ties_before, mut others_before) = (0.0, 0.0);
        for pair in &self.pairs {
            let weight = pair.weight * f64::from(times[pair.unit as usize]);
            let at = pair.judged as usize;
            totals[at] += weight;
            hits[at] += if pair.is_hit { weight } else { 0.0 };
            let right = if pair.is_sign_right { weight } else { 0.0 };
            signs[at] += right;
            others += right;
            of_chances.iter_mut().zip(pair.chance_losses).for_each(|(sum, loss)| *sum += weight * loss);
            ties += if pair.judged == Outcome::Tie { weight } else { 0.0 };
            if pair.ends_run {
                area += (ties - ties_before) * (others_before + others) / 2.0;
                (ties_before, others_before) = (ties, others);
            }
        }
        let [left, tie, right] = totals;
        let (total, n_others) = (left + tie + right, left + right);
        let accuracy = (n_others > 0.0).then(|| (signs[0] + signs[2]) / n_others);
        let has_both = tie > 0.0 && n_others > 0.0;
        PairMetric::ALL.map(|metric| match metric {
            PairMetric::ZeroOne => (total > 0.0).then(|| (total - hits.iter().sum::<f64>()) / total),
            PairMetric::Auc => has_both.then(|| (area / (tie * n_others)).min(accuracy.unwrap_or(1.0))),
            PairMetric::AucBaseline => has_both.then(|| 0.5 * left.max(right) / n_others),
            PairMetric::PairAccuracy => accuracy,
            PairMetric::LogLoss => (self.has_chances && total > 0.0).then(|| of_chances[0] / total),
            PairMetric::Brier => (self.has_chances && total > 0.0).then(|| of_chances[1] / total),
        })
    }
}

/// How many times each unit is drawn.
pub(super) fn draw(n_units: usize, seed: u64, times: &mut Vec<u32>) {
    let mut random = Random::new(seed);
    times.clear();
    times.resize(n_units, 0);
    (0..n_units).for_each(|_| times[random.below(n_units)] += 1);
}

/// Any numbers as 0, 1, …, in order of size; and how many there are.
fn numbered(values: &[u32]) -> (Vec<u32>, usize) {
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let number = |value| distinct.binary_search(value).map_or(0, |position| position as u32);
    (values.iter().map(number).collect(), distinct.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Verdicts;

    struct Case {
        outcomes: Vec<Outcome>,
        weights: Option<Vec<f64>>,
        groups: Option<Vec<u32>>,
        verdicts: Verdicts,
    }

    impl Case {
        fn judged(&self) -> Judged<'_> {
            Judged::of(&self.outcomes, &self.verdicts, self.weights.as_deref()).unwrap()
        }

        /// Pairs whose margin has the right sign with a chance, some sizes equal.
        fn random(random: &mut Random, n: usize, has_groups: bool) -> Self {
            let outcomes: Vec<Outcome> = (0..n).map(|_| Outcome::ALL[random.below(3)]).collect();
            let margins = outcomes.iter().map(|o| f64::from(o.sign()) + (4.0 * random.normal()).round() / 4.0);
            let margins: Vec<f64> = margins.collect();
            let excess = (random.below(2) == 0)
                .then(|| margins.iter().map(|z| z.abs() - random.below(5) as f64 / 4.0).collect());
            let chances = (random.below(2) == 0).then(|| {
                (0..n)
                    .map(|_| [random.uniform() / 2.0, random.uniform() / 2.0])
                    .map(|[a, b]| [a, 1.0 - a - b, b])
                    .collect()
            });
            let verdicts = Verdicts { margins, threshold: 0.5, thresholds: None, excess, chances };
            let weights = (random.below(2) == 0).then(|| (0..n).map(|_| random.below(4) as f64 / 2.0).collect());
            let groups = has_groups.then(|| (0..n).map(|_| 7 * random.below(1 + n / 4) as u32).collect());
            Case { outcomes, weights, groups, verdicts }
        }
    }

    #[test]
    fn a_resample_is_what_its_copies_say() {
        let mut random = Random::new(5);
        let mut n_defined = 0;
        for number in 0..400 {
            let n = 1 + random.below(30);
            let case = Case::random(&mut random, n, number % 2 == 0);
            let judged = case.judged();
            let swept = Swept::new(&judged, case.groups.as_deref());
            let mut times = Vec::new();
            draw(swept.n_units, number, &mut times);
            // The twin: rows written as often as they were drawn.
            let present: Vec<usize> = (0..n).filter(|&k| judged.weight(k) > 0.0).collect();
            let unit = |position: usize| match &case.groups {
                None => position,
                Some(groups) => {
                    let mut known: Vec<u32> = present.iter().map(|&k| groups[k]).collect();
                    known.sort_unstable();
                    known.dedup();
                    known.iter().position(|&g| g == groups[present[position]]).unwrap()
                }
            };
            let copies: Vec<usize> =
                present.iter().enumerate().flat_map(|(position, &k)| vec![k; times[unit(position)] as usize]).collect();
            let Verdicts { margins, excess, chances, .. } = &case.verdicts;
            let twin = Case {
                outcomes: copies.iter().map(|&k| case.outcomes[k]).collect(),
                weights: case.weights.as_ref().map(|w| copies.iter().map(|&k| w[k]).collect()),
                groups: None,
                verdicts: Verdicts {
                    excess: excess.as_ref().map(|all| copies.iter().map(|&k| all[k]).collect()),
                    chances: chances.as_ref().map(|all| copies.iter().map(|&k| all[k]).collect()),
                    ..Verdicts::plain(copies.iter().map(|&k| margins[k]).collect(), case.verdicts.threshold)
                },
            };
            if case.groups.is_none() {
                assert_eq!(copies.len(), present.len(), "as many pairs as there are");
            }
            for (metric, found) in PairMetric::ALL.into_iter().zip(swept.metrics(&times)) {
                match (found, metric.of(&twin.judged())) {
                    (Some(found), Some(expected)) => {
                        n_defined += 1;
                        assert!((found - expected).abs() < 1e-12, "{}: {found}, not {expected}", metric.name());
                    }
                    (found, expected) => assert_eq!(found, expected, "{}", metric.name()),
                }
            }
        }
        assert!(n_defined > 800, "{n_defined}");
    }

    #[test]
    fn intervals_hold_the_truth_about_as_often_as_they_say() {
        // Of these pairs 30 % are predicted wrong, whatever the sample.
        let truth = 0.3;
        let mut random = Random::new(11);
        let (n_sets, mut n_covered, mut width) = (200, 0, 0.0);
        for set in 0..n_sets {
            let n = 150;
            let outcomes = vec![Outcome::Right; n];
            let margins: Vec<f64> = (0..n).map(|_| if random.uniform() < truth { -1.0 } else { 1.0 }).collect();
            let judged = Judged::new(&outcomes, &margins, None, 0.0).unwrap();
            let bootstrap = Bootstrap { n_resamples: 300, ..Bootstrap::new(set) };
            let [zero_one, auc, ..] = bootstrap.intervals(&judged, None).unwrap();
            let Interval { low, high, n_undefined } = zero_one.unwrap();
            assert_eq!((n_undefined, auc), (0, None));
            n_covered += usize::from((low..=high).contains(&truth));
            width += (high - low) / n_sets as f64;
        }
        assert!((180..=199).contains(&n_covered), "{n_covered} of {n_sets}");
        // ± 1.96 · √(0.3 · 0.7 / 150)
        assert!((width - 0.1467).abs() < 0.01, "{width}");
    }

    #[test]
    fn groups_are_drawn_whole() {
        // Ten groups of ten equal pairs: as uncertain as ten pairs, not as a hundred.
        let outcomes = vec![Outcome::Right; 100];
        let margins: Vec<f64> = (0..100).map(|k| if k / 10 < 3 { -1.0 } else { 1.0 }).collect();
        let groups: Vec<u32> = (0..100).map(|k| k / 10).collect();
        let judged = Judged::new(&outcomes, &margins, None, 0.0).unwrap();
        let width = |groups: Option<&[u32]>| {
            let interval = Bootstrap::new(1).intervals(&judged, groups).unwrap()[0].unwrap();
            interval.high - interval.low
        };
        let (pairs, whole) = (width(None), width(Some(&groups)));
        assert!((0.13..0.22).contains(&pairs), "{pairs}");
        assert!((0.45..0.65).contains(&whole), "{whole}");
    }

    #[test]
    fn undefined_resamples_are_counted() {
        let outcomes = [Outcome::Tie, Outcome::Right, Outcome::Right];
        let judged = Judged::new(&outcomes, &[0.0, 1.0, 2.0], None, 0.5).unwrap();
        let [zero_one, auc, ..] = Bootstrap::new(0).intervals(&judged, None).unwrap();
        assert_eq!(zero_one.unwrap().n_undefined, 0);
        // No tie in three draws: (2/3)³; nothing but the tie: (1/3)³.
        let expected = 1000.0 * (8.0 + 1.0) / 27.0;
        assert!((auc.unwrap().n_undefined as f64 - expected).abs() < 60.0, "{auc:?}");
        assert_eq!((auc.unwrap().low, auc.unwrap().high), (1.0, 1.0));
        let nothing = Judged::new(&[], &[], None, 0.0).unwrap();
        assert_eq!(Bootstrap::new(0).intervals(&nothing, None).unwrap(), [None; PairMetric::ALL.len()]);
    }

    #[test]
    fn threads_do_not_matter_and_the_seed_does() {
        let case = Case::random(&mut Random::new(2), 500, false);
        let judged = case.judged();
        let with = |n_threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| Bootstrap::new(seed).intervals(&judged, None).unwrap())
        };
        assert_eq!(with(1, 3), with(4, 3));
        assert_ne!(with(1, 3), with(1, 4));
    }

    #[test]
    fn parameters_are_checked() {
        let judged = Judged::new(&[Outcome::Tie], &[0.0], None, 0.0).unwrap();
        for level in [0.0, 1.0, -1.0, f64::NAN, 95.0] {
            assert!(Bootstrap { level, ..Bootstrap::default() }.intervals(&judged, None).is_err());
        }
        assert!(Bootstrap { n_resamples: 0, ..Bootstrap::default() }.intervals(&judged, None).is_err());
        assert!(Bootstrap::default().intervals(&judged, Some(&[1, 2])).is_err());
    }

    #[test]
    fn quantiles_are_linear_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
        assert_eq!(quantile(&[1.0], 0.975), Some(1.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
