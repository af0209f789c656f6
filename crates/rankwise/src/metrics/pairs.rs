//! Metrics of margins on judged pairs (Table 3 of the SVMcompare paper).
//!
//! With z the margin, τ the threshold and n₀, n₁ the weights of ties and non-ties: a false positive is a tie with
//! |z| > τ, a false negative a non-tie whose predicted outcome is not its own (the wrong side included). Moving τ from
//! ∞ to 0 draws the ROC curve; it ends at (1, sign accuracy), which is the largest possible AUC. Where every pair has a
//! threshold of its own, all of them move together: a pair is a tie when its excess beyond its own is at most the move.

use crate::data::order::{argsort, for_each_tie_run};
use crate::data::{Outcome, Verdicts, predicted};
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
    /// Mean of −log P(judged outcome).
    LogLoss,
    /// Mean of Σ (P(outcome) − 1 if it was judged, else 0)² over the three outcomes.
    Brier,
}

/// A probability below this counts as this in the log-loss, so that one outcome thought impossible does not outweigh all.
const LEAST_CHANCE: f64 = 1e-15;

impl PairMetric {
    /// All metrics that are one number.
    pub const ALL: [PairMetric; 6] = [
        PairMetric::ZeroOne,
        PairMetric::Auc,
        PairMetric::AucBaseline,
        PairMetric::PairAccuracy,
        PairMetric::LogLoss,
        PairMetric::Brier,
    ];

    /// The name in `--metric` and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            PairMetric::ZeroOne => "zero_one",
            PairMetric::Auc => "auc",
            PairMetric::AucBaseline => "auc_baseline",
            PairMetric::PairAccuracy => "pair_accuracy",
            PairMetric::LogLoss => "log_loss",
            PairMetric::Brier => "brier",
        }
    }

    /// Whether more is better.
    pub fn greater_is_better(self) -> bool {
        !matches!(self, PairMetric::ZeroOne | PairMetric::LogLoss | PairMetric::Brier)
    }

    /// Whether it is about probabilities, which not every model has.
    pub fn needs_chances(self) -> bool {
        matches!(self, PairMetric::LogLoss | PairMetric::Brier)
    }

    /// Whether the threshold matters.
    pub fn needs_threshold(self) -> bool {
        self == PairMetric::ZeroOne
    }

    /// The metric's value; `None` where it is not defined (no ties, or nothing but ties; no probabilities).
    pub fn of(self, judged: &Judged<'_>) -> Option<f64> {
        match self {
            PairMetric::ZeroOne => judged.zero_one(),
            PairMetric::Auc => judged.auc(),
            PairMetric::AucBaseline => judged.auc_baseline(),
            PairMetric::PairAccuracy => judged.pair_accuracy(),
            PairMetric::LogLoss => judged.log_loss(),
            PairMetric::Brier => judged.brier(),
        }
    }

    /// The best that always giving the same answer can get on these pairs, and that answer; `None` where it is not
    /// defined. For metrics of the order alone, the answer is a side; for those of probabilities it is the shares of the
    /// outcomes, which are no outcome.
    pub fn of_constant(self, judged: &Judged<'_>) -> Option<(Option<Outcome>, f64)> {
        let [left, tie, right] = judged.totals();
        let shares = [left, tie, right].map(|weight| weight / (left + tie + right));
        let is_defined = left + tie + right > 0.0;
        match self {
            PairMetric::ZeroOne => return Some((Some(judged.majority_outcome()?), judged.majority_error()?)),
            PairMetric::LogLoss => {
                let terms = shares.map(|p| if p > 0.0 { -p * p.ln() } else { 0.0 });
                return is_defined.then(|| (None, terms.iter().sum()));
            }
            PairMetric::Brier => return is_defined.then(|| (None, 1.0 - shares.iter().map(|p| p * p).sum::<f64>())),
            _ => {}
        }
        let side = if right > left { Outcome::Right } else { Outcome::Left };
        let value = match self {
            PairMetric::PairAccuracy => (left + right > 0.0).then(|| left.max(right) / (left + right)),
            _ => judged.auc_baseline(),
        };
        Some((Some(side), value?))
    }
}

/// One corner of the ROC curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RocPoint {
    /// The smallest τ ≥ 0 at which the rates hold: pairs with |margin| ≤ τ count as ties. Where every pair has a threshold
    /// of its own, what is added to all of them: 0 is the model as it is, and it may be negative, down to −∞.
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
    threshold: f64,
    excess: Option<&'a [f64]>,
    chances: Option<&'a [[f64; 3]]>,
}

impl<'a> Judged<'a> {
    /// Judged pairs with everything that a model says of them. Checks lengths and numbers.
    pub fn of(outcomes: &'a [Outcome], verdicts: &'a Verdicts, weights: Option<&'a [f64]>) -> Result<Self> {
        let judged = Self::new(outcomes, &verdicts.margins, weights, verdicts.threshold)?;
        let length = |name: &'static str, found: usize| match outcomes.len() {
            n if n == found => Ok(()),
            n => Err(Error::parameter(name, found, format!("one for each of the {n} outcomes"))),
        };
        if let Some(excess) = &verdicts.excess {
            length("excess", excess.len())?;
            if let Some(nan) = excess.iter().find(|e| e.is_nan()) {
                return Err(Error::parameter("excess", nan, "numbers"));
            }
        }
        if let Some(chances) = &verdicts.chances {
            length("chances", chances.len())?;
            if let Some(bad) = chances.iter().flatten().find(|p| !(0.0..=1.0).contains(*p)) {
                return Err(Error::parameter("chances", bad, "probabilities"));
            }
        }
        Ok(Judged { excess: verdicts.excess.as_deref(), chances: verdicts.chances.as_deref(), ..judged })
    }

    /// Margins with one threshold for all, without probabilities. Checks lengths and numbers.
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
        Ok(Judged { outcomes, margins, weights, threshold, excess: None, chances: None })
    }

    /// Whether every pair has a threshold of its own.
    pub fn has_band(&self) -> bool {
        self.excess.is_some()
    }

    /// Whether there are probabilities.
    pub fn has_chances(&self) -> bool {
        self.chances.is_some()
    }

    /// What is predicted of pair `k`.
    pub(super) fn predicted(&self, k: usize) -> Outcome {
        predicted(self.margins[k], self.threshold, self.excess.map(|all| all[k]))
    }

    /// How much the thresholds must at least be (or, with a band, be moved) for each pair to be a tie. A margin of 0 is
    /// one whatever they are.
    pub(super) fn sizes(&self) -> Vec<f64> {
        let of_band = |(&e, &z): (&f64, &f64)| if z == 0.0 { f64::NEG_INFINITY } else { e };
        match self.excess {
            Some(excess) => excess.iter().zip(self.margins).map(of_band).collect(),
            None => self.margins.iter().map(|z| z.abs()).collect(),
        }
    }

    /// P(left), P(tie), P(right) of pair `k`, where there are probabilities.
    pub(super) fn chances_of(&self, k: usize) -> Option<[f64; 3]> {
        self.chances.map(|all| all[k])
    }

    /// What pair `k` adds to the log-loss, and what to the Brier score, for a weight of 1.
    pub(super) fn chance_losses(&self, k: usize) -> Option<[f64; 2]> {
        let chances = self.chances_of(k)?;
        let judged = self.outcomes[k];
        let misses = Outcome::ALL.map(|o| (chances[o as usize] - f64::from(u8::from(o == judged))).powi(2));
        // The sides first: their sum is the same whichever is which.
        let brier = (misses[0] + misses[2]) + misses[1];
        Some([-chances[judged as usize].max(LEAST_CHANCE).ln(), brier])
    }

    fn mean_loss(&self, which: usize) -> Option<f64> {
        self.chances?;
        let (mut sum, mut total) = (0.0, 0.0);
        for k in 0..self.outcomes.len() {
            sum += self.weight(k) * self.chance_losses(k)?[which];
            total += self.weight(k);
        }
        // + 0: a loss of −0 is 0
        (total > 0.0).then(|| sum / total + 0.0)
    }

    /// Mean of −log P(judged outcome); probabilities below 1e-15 count as that. `None` without probabilities.
    pub fn log_loss(&self) -> Option<f64> {
        self.mean_loss(0)
    }

    /// Mean over the pairs of the squared differences between probabilities and what was judged, summed over the three
    /// outcomes: between 0 and 2. `None` without probabilities.
    pub fn brier(&self) -> Option<f64> {
        self.mean_loss(1)
    }

    pub(super) fn weight(&self, k: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[k])
    }

    /// Weights by judged (row) and predicted (column) outcome, both in the order left, tie, right.
    pub fn confusion(&self) -> [[f64; 3]; 3] {
        let mut table = [[0.0; 3]; 3];
        for (k, &judged) in self.outcomes.iter().enumerate() {
            table[judged as usize][self.predicted(k) as usize] += self.weight(k);
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
        let size = self.sizes();
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
            let is_at_zero = size[run[0] as usize] > 0.0 && !self.has_band();
            let lowest = if is_at_zero { 0.0 } else { f64::NEG_INFINITY };
            here.threshold = order.get(n_seen).map_or(lowest, |&next| size[next as usize]);
            if (here.ties, here.others) != (before.ties, before.others) {
                points.push(here);
            } else if let [_, .., last] = points.as_mut_slice() {
                last.threshold = if self.has_band() { here.threshold } else { here.threshold.max(0.0) };
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
