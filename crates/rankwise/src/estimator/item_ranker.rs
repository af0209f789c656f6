//! What linear rankers of items share: from data to sums over pairs, from weights to a model.

use super::common::Effort;
use crate::data::{Features, Items, RankView, Scale, Scaler, largest_scale_ratio};
use crate::error::{Error, Place, Result};
use crate::kernel::Approx;
use crate::loss::Loss;
use crate::model::{
    Balance, Basis, LearntFrom, Method, Model, ScoreFunction, Scorer, ThresholdRule, TieBandKind, TieRegion, TieShare,
    Training,
};
use crate::problem::{Draw, RankCounts, RankSums, Shape, Weighing};
use crate::progress::Stop;
use crate::solver::smoothing::{Smoothed, sound_bound};

/// Columns that are never too many.
const MANY_COLUMNS: usize = 1 << 22;
/// Differences whose squares are still numbers, also when many are summed, and those whose squares still have all digits.
const MOST_UNIT: f64 = 1e145;
const LEAST_UNIT: f64 = 1e-145;

/// The losses of those groups that `keeps` says yes to; there must be a pair.
pub(super) fn rank_sums<'a>(
    data: RankView<'a>,
    keeps: impl Fn(usize) -> bool,
    scaler: Option<&'a Scaler>,
    shape: Shape,
    c: f64,
    weighing: Weighing,
    draw: Option<Draw>,
) -> Result<RankSums<'a>> {
    let divisors = scaler.map(|scaler| scaler.divisor.as_slice());
    let sums = RankSums::of_view(data, keeps, divisors, shape, c, weighing, draw);
    check_pairs(data.labels.len(), sums.counts(), sums.mass())?;
    Ok(sums)
}

/// There must be pairs, and weights that can be added.
pub(super) fn check_pairs(n_items: usize, counts: RankCounts, mass: f64) -> Result<()> {
    if counts.n_pairs == 0 {
        let problem = match (n_items, counts.n_dropped) {
            (0, _) => "there is no item",
            (_, 0) => "every weight is 0",
            (_, 1) => "all labels of the group are the same, so there is nothing to learn",
            _ => "no group has two different labels, so there is nothing to learn",
        };
        return Err(Error::data(
            Place::file("items"),
            problem,
            "give groups (qid) in which labels differ, with weights above 0",
        ));
    }
    if !(mass > 0.0 && mass.is_finite()) {
        return Err(Error::Numeric {
            problem: format!("the products of weights of all pairs sum to {mass:e}, not a number above 0"),
            remedy: "multiply all weights by a number that brings them near 1, and C by what makes up for it".into(),
        });
    }
    Ok(())
}

/// The weights and the bias of a linear model to start from.
pub(super) fn linear_parts(model: &Model) -> Result<(&[f64], f64)> {
    match &model.scorer.function {
        ScoreFunction::Linear { weights, bias } => Ok((weights, *bias)),
        ScoreFunction::Several { basis: Basis::Features, biases, .. } => Err(Error::Mismatch {
            problem: format!("the model to start from is made of {} machines", biases.len()),
            remedy: "start from a linear model with one score, or one for each class".into(),
        }),
        other => Err(Error::Mismatch {
            problem: format!("the model to start from has the {} kernel", other.kernel().name()),
            remedy: "start from a linear model".into(),
        }),
    }
}

/// The weights of a linear model, as features scaled by `scaler` want them.
pub(super) fn weights_of(model: &Model, items: &Items, scaler: Option<&Scaler>) -> Result<Vec<f64>> {
    let (weights, _) = linear_parts(model)?;
    let unscaled = |at: usize| weights[at] / model.scorer.scaler.as_ref().map_or(1.0, |s| s.divisor[at]);
    let mut start = vec![0.0; items.features.n_cols()];
    for (at, column) in model.scorer.columns(items)?.into_iter().enumerate() {
        if let Some(column) = column {
            start[column] = unscaled(at) * scaler.map_or(1.0, |s| s.divisor[column]);
        }
    }
    Ok(start)
}

/// What to say of features of very different sizes.
pub(super) fn why_to_scale(scale: Scale, items: &Items) -> Option<String> {
    if scale != Scale::None || items.are_indicators {
        return None;
    }
    of_scale_ratio(largest_scale_ratio(&items.features))
}

/// The same, where their largest ratio is known.
pub(super) fn of_scale_ratio(ratio: f64) -> Option<String> {
    (ratio > 100.0).then(|| "features differ in scale by more than 100×: consider --scale standard".into())
}

/// What to say of groups that teach nothing.
pub(super) fn why_dropped(counts: RankCounts) -> Option<String> {
    let RankCounts { n_groups, n_dropped, .. } = counts;
    let n_all = n_groups + n_dropped;
    let (noun, verb) = if n_dropped == 1 { ("group", "has") } else { ("groups", "have") };
    (n_dropped > 0).then(|| {
        format!("{n_dropped} {noun} of {n_all} {verb} no two items with different labels: nothing is learnt there")
    })
}

/// Where weights would be far more than the numbers they are learnt from, something is wrong with the numbers of features.
pub(crate) fn check_width(features: &Features) -> Result<()> {
    check_width_of(features.n_cols(), features.n_stored())
}

/// The same, where the numbers are somewhere else.
pub(super) fn check_width_of(n_cols: usize, n_stored: usize) -> Result<()> {
    if n_cols == 0 {
        return Err(Error::data(Place::file("items"), "there are no features", "give every item at least one number"));
    }
    if n_cols <= MANY_COLUMNS.max(16 * n_stored) {
        return Ok(());
    }
    let problem = format!("the largest number of a feature is {n_cols}, but only {n_stored} numbers are stored");
    Err(Error::data(Place::file("items"), problem, "number the features from 1 without large gaps"))
}

/// Where a fit ended.
#[derive(Clone)]
pub(super) struct Solution {
    /// Of the scaled features.
    pub(super) weights: Vec<f64>,
    /// What is added to all scores.
    pub(super) bias: f64,
    pub(super) objective: f64,
    pub(super) gap: f64,
    pub(super) steps: u64,
    pub(super) stop: Stop,
}

impl From<Smoothed> for Solution {
    fn from(answer: Smoothed) -> Self {
        Solution {
            bias: 0.0,
            objective: answer.primal,
            gap: answer.gap(),
            steps: answer.steps,
            stop: answer.stop.unwrap_or(Stop::Converged),
            weights: answer.weights,
        }
    }
}

impl Solution {
    /// The better weights of two searches with the better bound; `later` says how the whole has ended.
    pub(super) fn joined(self, later: Solution, tol: f64) -> Solution {
        let is_later = later.objective.is_finite() && !(self.objective.is_finite() && self.objective < later.objective);
        let least = if is_later { later.objective } else { self.objective };
        // What lies above a value is no bound, but rounding.
        let bound = |of: &Solution| sound_bound(of.objective - of.gap * of.objective.max(1e-12), least);
        let (dual, steps, stop) = (bound(&self).max(bound(&later)), self.steps + later.steps, later.stop);
        let best = if is_later { later } else { self };
        let gap = ((best.objective - dual) / best.objective.max(1e-12)).clamp(0.0, 1.0);
        let stop = if gap <= tol { Stop::Converged } else { stop };
        Solution { gap, steps, stop, ..best }
    }

    /// Refuses numbers that are none, and the zeros of a search that could not even begin.
    pub(super) fn checked(self) -> Result<Self> {
        let is_nothing = self.stop == Stop::Stalled && self.weights.iter().all(|&w| w == 0.0);
        let is_finite =
            self.objective.is_finite() && self.bias.is_finite() && self.weights.iter().all(|w| w.is_finite());
        if is_finite && !is_nothing {
            return Ok(self);
        }
        Err(Self::out_of_range())
    }

    /// Differences of items whose squares are beyond the range of numbers, or lost below it, prove nothing.
    pub(super) fn check_unit(unit: f64, features: &Features) -> Result<()> {
        let largest = || {
            let mut largest = 0.0f64;
            for row in 0..features.n_rows() {
                features.for_each_in_row(row, |_, value| largest = largest.max(value.abs()));
            }
            largest
        };
        let is_lost = || unit < LEAST_UNIT && (f64::MIN_POSITIVE..LEAST_UNIT).contains(&largest());
        if unit < MOST_UNIT && !is_lost() { Ok(()) } else { Err(Self::out_of_range()) }
    }

    /// What to say where numbers are none.
    pub(super) fn out_of_range() -> Error {
        Error::Numeric {
            problem: "the numbers leave the range of floating point".into(),
            remedy: "scale the features (--scale standard), choose a C nearer to 1, or check for numbers that are far \
                     too large or small"
                .into(),
        }
    }
}

/// What there is to tell of a fit beside its solution.
pub(super) struct Record<'a> {
    pub(super) method: Method,
    pub(super) loss: Loss,
    pub(super) c: f64,
    pub(super) balance: Balance,
    pub(super) normalise: bool,
    pub(super) pairs_per_item: Option<usize>,
    pub(super) approx: Option<Approx>,
    pub(super) scale: Scale,
    pub(super) effort: &'a Effort,
    /// `None` for methods that see no groups.
    pub(super) counts: Option<RankCounts>,
    pub(super) items: usize,
    pub(super) certificate: &'static str,
    /// Of a hard margin.
    pub(super) margin: Option<f64>,
    pub(super) warnings: Vec<String>,
}

impl Record<'_> {
    /// The model that a solution makes of these items.
    pub(super) fn model(self, mut solution: Solution, items: &Items, scaler: Option<&Scaler>) -> Model {
        let mut warnings = Vec::new();
        if solution.weights.iter().all(|&w| w == 0.0) {
            warnings.push(solution.stop.why_nothing("weights"));
        }
        let weights = std::mem::take(&mut solution.weights);
        let function = ScoreFunction::Linear { weights, bias: solution.bias };
        self.model_of(function, None, solution, warnings, items, scaler)
    }

    /// The same for a machine with a kernel, whose function has this many items of support.
    pub(super) fn kernel_model(
        self,
        (function, support): (ScoreFunction, usize),
        solution: Solution,
        items: &Items,
        scaler: Option<&Scaler>,
    ) -> Model {
        let is_nothing = support == 0;
        let warnings = is_nothing.then(|| solution.stop.why_nothing("coefficients")).into_iter().collect();
        self.model_of(function, Some(support), solution, warnings, items, scaler)
    }

    fn model_of(
        self,
        function: ScoreFunction,
        support: Option<usize>,
        solution: Solution,
        more_warnings: Vec<String>,
        items: &Items,
        scaler: Option<&Scaler>,
    ) -> Model {
        let mut warnings = self.warnings;
        warnings.extend(solution.stop.shortfall(solution.gap, self.effort.tol));
        warnings.extend(more_warnings);
        let kernel = function.kernel();
        let scorer = Scorer {
            n_features: items.features.n_cols(),
            feature_names: items.feature_names.clone(),
            are_indicators: items.are_indicators,
            scaler: scaler.cloned(),
            function,
        };
        let pairs = self.counts.map_or(0, |counts| usize::try_from(counts.n_pairs).unwrap_or(usize::MAX));
        let training = Training {
            method: self.method,
            learnt_from: LearntFrom::Items,
            loss: self.loss,
            kernel,
            approx: self.approx,
            c: self.c,
            tol: self.effort.tol,
            seed: self.effort.seed,
            threshold_rule: ThresholdRule::default(),
            tie_region: TieRegion::default(),
            tie_band: TieBandKind::Constant,
            tie_parameter: None,
            tie_weight: 1.0,
            balance: self.balance,
            scale: self.scale,
            items: self.items,
            features: items.features.n_cols(),
            groups: self.counts.map(|counts| counts.n_groups),
            groups_dropped: self.counts.map_or(0, |counts| counts.n_dropped),
            pairs,
            ties: 0,
            objective: solution.objective,
            gap: solution.gap,
            certificate: self.certificate.into(),
            iterations: solution.steps,
            stop: solution.stop,
            support,
            support_names: None,
            support_pairs: 0,
            collapsed: false,
            tie_share: TieShare { observed: 0.0, predicted: 0.0 },
            margin: self.margin,
            lp_slack: None,
            normalise: self.normalise,
            pairs_per_item: self.pairs_per_item,
            online: None,
            svm: None,
            program: None,
            warnings,
            tuning: None,
        };
        Model {
            scorer,
            threshold: 0.0,
            beta: None,
            no_tie_region: false,
            band: None,
            chances: None,
            classes: None,
            class_rule: None,
            grades: None,
            state: None,
            training,
        }
    }
}
