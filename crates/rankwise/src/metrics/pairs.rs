//! Metrics of margins on judged pairs (Table 3 of the SVMcompare paper).
//!
//! With z the margin, τ the threshold and n₀, n₁ the weights of ties and non-ties: a false positive is a tie with
//! |z| > τ, a false negative a non-tie whose predicted outcome is not its own (the wrong side included). Moving τ from
//! ∞ to 0 draws the ROC curve; it ends at (1, sign accuracy), which is the largest possible AUC.

use crate::data::Outcome;
use crate::data::order::{argsort, for_each_tie_run};
use crate::error::{Error, Result};

/// A metric of judged pairs that is one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairMetric {
    /// Share of pairs whose predicted outcome is wrong.
    ZeroOne,
    /// Area under the ROC curve over τ.
    Auc,
    /// AUC of a constant prediction: p/2 with p the larger share of left or right among the non-ties.
    AucBaseline,
    /// Share of the non-ties whose margin has the right sign.
    PairAccuracy,
}

impl PairMetric {
    /// All metrics that are one number.
    pub const ALL: [PairMetric; 4] =
        [PairMetric::ZeroOne, PairMetric::Auc, PairMetric::AucBaseline, PairMetric::PairAccuracy];

    /// The name in `--metric` and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            PairMetric::ZeroOne => "zero_one",
            PairMetric::Auc => "auc",
            PairMetric::AucBaseline => "auc_baseline",
            PairMetric::PairAccuracy => "pair_accuracy",
        }
    }

    /// Whether more is better.
    pub fn greater_is_better(self) -> bool {
        self != PairMetric::ZeroOne
    }

    /// Whether the threshold matters.
    pub fn needs_threshold(self) -> bool {
        self == PairMetric::ZeroOne
    }

    /// The metric's value; `None` where it is not defined (no ties, or nothing but ties).
    pub fn of(self, judged: &Judged<'_>) -> Option<f64> {
        match self {
            PairMetric::ZeroOne => judged.zero_one(),
            PairMetric::Auc => judged.auc(),
            PairMetric::AucBaseline => judged.auc_baseline(),
            PairMetric::PairAccuracy => judged.pair_accuracy(),
        }
    }

    /// The most that always giving the same answer can get on these pairs, and that answer; `None` where it is not
    /// defined. For metrics of the order alone, the answer is a side.
    pub fn of_constant(self, judged: &Judged<'_>) -> Option<(Outcome, f64)> {
        if self == PairMetric::ZeroOne {
            return Some((judged.majority_outcome()?, judged.majority_error()?));
        }
        let [left, _, right] = judged.totals();
        let side = if right > left { Outcome::Right } else { Outcome::Left };
        let value = match self {
            PairMetric::PairAccuracy => (left + right > 0.0).then(|| left.max(right) / (left + right)),
            _ => judged.auc_baseline(),
        };
        Some((side, value?))
    }
}

/// One corner of the ROC curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RocPoint {
    /// The smallest τ ≥ 0 at which the rates hold: pairs with |margin| ≤ τ count as ties.
    ///
    /// Two points are special. The first one, where everything is a tie, has ∞. And since a margin of 0 is a tie for
    /// every τ ≥ 0, no τ reaches (1, sign accuracy) when a tie has that margin: the last point then has −∞, which
    /// calls nothing a tie.
    pub threshold: f64,
    /// Share of the ties that are not predicted as ties.
    pub false_positive_rate: f64,
    /// Share of the non-ties that are predicted right.
    pub true_positive_rate: f64,
}

/// Judged pairs with a model's margins.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    pub(super) outcomes: &'a [Outcome],
    pub(super) margins: &'a [f64],
    weights: Option<&'a [f64]>,
    pub(super) threshold: f64,
}

impl<'a> Judged<'a> {
    /// Checks lengths and numbers.
    pub fn new(
        outcomes: &'a [Outcome],
        margins: &'a [f64],
        weights: Option<&'a [f64]>,
        threshold: f64,
    ) -> Result<Self> {
        let n = outcomes.len();
        if margins.len() != n {
            return Err(Error::parameter("margins", margins.len(), format!("one for each of the {n} outcomes")));
        }
        if let Some(nan) = margins.iter().find(|m| m.is_nan()) {
            return Err(Error::parameter("margins", nan, "numbers"));
        }
        if let Some(weights) = weights
            && (weights.len() != n || weights.iter().any(|w| !(w.is_finite() && *w >= 0.0)))
        {
            return Err(Error::parameter("weights", weights.len(), format!("{n} finite numbers of at least 0")));
        }
        if threshold.is_nan() || threshold < 0.0 {
            return Err(Error::parameter("threshold", threshold, "a number of at least 0"));
        }
        Ok(Judged { outcomes, margins, weights, threshold })
    }

    pub(super) fn weight(&self, k: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[k])
    }

    /// Weights by judged (row) and predicted (column) outcome, both in the order left, tie, right.
    pub fn confusion(&self) -> [[f64; 3]; 3] {
        let mut table = [[0.0; 3]; 3];
        for (k, (&judged, &margin)) in self.outcomes.iter().zip(self.margins).enumerate() {
            table[judged as usize][Outcome::of_margin(margin, self.threshold) as usize] += self.weight(k);
        }
        table
    }

    /// Weight of each judged outcome: left, tie, right.
    pub fn totals(&self) -> [f64; 3] {
        let mut totals = [0.0; 3];
        self.outcomes.iter().enumerate().for_each(|(k, &judged)| totals[judged as usize] += self.weight(k));
        totals
    }

    /// Share of pairs whose predicted outcome is wrong.
    pub fn zero_one(&self) -> Option<f64> {
        let table = self.confusion();
        let total: f64 = table.iter().flatten().sum();
        let right: f64 = (0..3).map(|i| table[i][i]).sum();
        (total > 0.0).then(|| (total - right) / total)
    }

    /// The error of always predicting the most frequent outcome.
    pub fn majority_error(&self) -> Option<f64> {
        let totals = self.totals();
        let total: f64 = totals.iter().sum();
        (total > 0.0).then(|| (total - totals.iter().fold(0.0, |a: f64, &b| a.max(b))) / total)
    }

    /// The most frequent outcome, by weight; of equally frequent ones the first of [`Outcome::ALL`].
    pub fn majority_outcome(&self) -> Option<Outcome> {
        let totals = self.totals();
        let largest =
            Outcome::ALL.into_iter().rev().max_by(|&a, &b| totals[a as usize].total_cmp(&totals[b as usize]))?;
        (totals[largest as usize] > 0.0).then_some(largest)
    }

    /// Share of the non-ties whose margin has the right sign; a margin of 0 is wrong.
    pub fn pair_accuracy(&self) -> Option<f64> {
        let [left, _, right] = self.totals();
        // Summed as the totals are, so that rounding never makes more hits than pairs.
        let mut hits = [0.0; 3];
        (0..self.outcomes.len())
            .filter(|&k| self.sign_is_right(k))
            .for_each(|k| hits[self.outcomes[k] as usize] += self.weight(k));
        (left + right > 0.0).then(|| (hits[0] + hits[2]) / (left + right))
    }

    pub(super) fn sign_is_right(&self, k: usize) -> bool {
        self.outcomes[k] != Outcome::Tie && Outcome::of_margin(self.margins[k], 0.0) == self.outcomes[k]
    }

    /// AUC of a constant prediction.
    pub fn auc_baseline(&self) -> Option<f64> {
        let [left, tie, right] = self.totals();
        (tie > 0.0 && left + right > 0.0).then(|| 0.5 * left.max(right) / (left + right))
    }

    /// Area under [`Judged::roc`] by the trapezoid rule. O(n log n).
    pub fn auc(&self) -> Option<f64> {
        let Sweep { points, n_ties, n_others } = self.sweep()?;
        let area: f64 = points.windows(2).map(|w| (w[1].ties - w[0].ties) * (w[0].others + w[1].others) / 2.0).sum();
        let largest = points.last().map_or(0.0, |last| last.others / n_others);
        Some((area / (n_ties * n_others)).min(largest))
    }

    /// The ROC curve from (0, 0) to (1, sign accuracy): one point per distinct |margin| that changes a rate.
    /// O(n log n).
    pub fn roc(&self) -> Option<Vec<RocPoint>> {
        let Sweep { points, n_ties, n_others } = self.sweep()?;
        let rates = |point: Swept| RocPoint {
            threshold: point.threshold,
            false_positive_rate: point.ties / n_ties,
            true_positive_rate: point.others / n_others,
        };
        Some(points.into_iter().map(rates).collect())
    }

    /// Moves τ down from ∞; `None` without ties or without others.
    fn sweep(&self) -> Option<Sweep> {
        let size: Vec<f64> = self.margins.iter().map(|z| z.abs()).collect();
        let mut order = argsort(&size);
        order.reverse();
        let mut points = vec![Swept { threshold: f64::INFINITY, ties: 0.0, others: 0.0 }];
        let (mut here, mut n_others, mut n_seen) = (points[0], 0.0, 0);
        // A run of equal sizes is no longer a tie for τ below that size, down to the next smaller one.
        for_each_tie_run(&size, &order, |run| {
            let before = here;
            for k in run.iter().map(|&k| k as usize) {
                if self.outcomes[k] == Outcome::Tie {
                    here.ties += self.weight(k);
                } else {
                    n_others += self.weight(k);
                    here.others += if self.sign_is_right(k) { self.weight(k) } else { 0.0 };
                }
            }
            n_seen += run.len();
            let lowest = if size[run[0] as usize] > 0.0 { 0.0 } else { f64::NEG_INFINITY };
            here.threshold = order.get(n_seen).map_or(lowest, |&next| size[next as usize]);
            if (here.ties, here.others) != (before.ties, before.others) {
                points.push(here);
            } else if let [_, .., last] = points.as_mut_slice() {
                last.threshold = here.threshold.max(0.0);
            }
        });
        (here.ties > 0.0 && n_others > 0.0).then_some(Sweep { points, n_ties: here.ties, n_others })
    }
}

/// The ROC curve in weights.
struct Sweep {
    points: Vec<Swept>,
    n_ties: f64,
    n_others: f64,
}

/// Weights of the ties that are not predicted as ties, and of the others that are predicted right.
#[derive(Clone, Copy)]
struct Swept {
    threshold: f64,
    ties: f64,
    others: f64,
}
