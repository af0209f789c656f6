//! Metrics of margins on judged pairs (Table 3 of the SVMcompare paper).
//!
//! With z the margin, τ the threshold and n₀, n₁ the weights of ties and non-ties: a false positive is a tie with
//! |z| > τ, a false negative a non-tie whose predicted outcome is not its own (the wrong side included). Moving τ from
//! ∞ to 0 draws the ROC curve; it ends at (1, sign accuracy), which is the largest possible AUC.

use crate::data::Outcome;
use crate::data::order::{argsort, for_each_tie_run};
use crate::error::{Error, Result};

/// A number of CONTRACT's list for judged pairs.
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

    /// The metric's value; `None` where it is not defined (no ties, or nothing but ties).
    pub fn of(self, judged: &Judged<'_>) -> Option<f64> {
        match self {
            PairMetric::ZeroOne => judged.zero_one(),
            PairMetric::Auc => judged.auc(),
            PairMetric::AucBaseline => judged.auc_baseline(),
            PairMetric::PairAccuracy => judged.pair_accuracy(),
        }
    }
}

/// One corner of the ROC curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RocPoint {
    /// Pairs with |margin| ≤ threshold count as ties; infinite at the start of the curve.
    pub threshold: f64,
    /// Share of the ties that are not predicted as ties.
    pub false_positive_rate: f64,
    /// Share of the non-ties that are predicted right.
    pub true_positive_rate: f64,
}

/// Judged pairs with a model's margins.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    outcomes: &'a [Outcome],
    margins: &'a [f64],
    weights: Option<&'a [f64]>,
    threshold: f64,
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

    fn weight(&self, k: usize) -> f64 {
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

    /// Share of the non-ties whose margin has the right sign; a margin of 0 is wrong.
    pub fn pair_accuracy(&self) -> Option<f64> {
        let [left, _, right] = self.totals();
        let hits: f64 = (0..self.outcomes.len()).filter(|&k| self.sign_is_right(k)).map(|k| self.weight(k)).sum();
        (left + right > 0.0).then(|| hits / (left + right))
    }

    fn sign_is_right(&self, k: usize) -> bool {
        self.outcomes[k] != Outcome::Tie && Outcome::of_margin(self.margins[k], 0.0) == self.outcomes[k]
    }

    /// AUC of a constant prediction.
    pub fn auc_baseline(&self) -> Option<f64> {
        let [left, tie, right] = self.totals();
        (tie > 0.0 && left + right > 0.0).then(|| 0.5 * left.max(right) / (left + right))
    }

    /// Area under [`Judged::roc`] by the trapezoid rule. O(n log n).
    pub fn auc(&self) -> Option<f64> {
        let roc = self.roc()?;
        let area = |w: &[RocPoint]| {
            (w[1].false_positive_rate - w[0].false_positive_rate) * (w[0].true_positive_rate + w[1].true_positive_rate)
                / 2.0
        };
        Some(roc.windows(2).map(area).sum())
    }

    /// The ROC curve from (0, 0) to (1, sign accuracy), one point per distinct |margin|. O(n log n).
    pub fn roc(&self) -> Option<Vec<RocPoint>> {
        let [left, n_ties, right] = self.totals();
        let n_others = left + right;
        if n_ties <= 0.0 || n_others <= 0.0 {
            return None;
        }
        let size: Vec<f64> = self.margins.iter().map(|z| z.abs()).collect();
        let mut order = argsort(&size);
        order.reverse();
        let (mut false_positive, mut true_positive) = (0.0, 0.0);
        let mut points = vec![RocPoint { threshold: f64::INFINITY, false_positive_rate: 0.0, true_positive_rate: 0.0 }];
        // After a run of equal sizes, the threshold lies just below them: they are no longer ties.
        for_each_tie_run(&size, &order, |run| {
            for &k in run {
                let k = k as usize;
                if self.outcomes[k] == Outcome::Tie {
                    false_positive += self.weight(k);
                } else if self.sign_is_right(k) {
                    true_positive += self.weight(k);
                }
            }
            if let Some(last) = points.last_mut() {
                last.threshold = last.threshold.min(f64::INFINITY);
            }
            points.push(RocPoint {
                threshold: size[run[0] as usize],
                false_positive_rate: false_positive / n_ties,
                true_positive_rate: true_positive / n_others,
            });
        });
        // A point holds for thresholds from the next smaller size up to (not including) its own run's.
        for at in 1..points.len() {
            points[at].threshold = points.get(at + 1).map_or(0.0, |next| next.threshold);
        }
        Ok::<_, Error>(points).ok()
    }
}
