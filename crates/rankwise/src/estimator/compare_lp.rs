//! The comparison machine as a linear program: of judged pairs that can be told apart, and with slack of any.

use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Instant;

use super::common::{Effort, Fit, setters};
use super::item_ranker::why_to_scale;
use crate::data::{Comparisons, Features, Outcome, Scale, Scaler, far_shift, shifted};
use crate::error::{Error, Place, Result};
use crate::kernel::{Kernel, KernelFunction, KernelMatrix, SymmetricMatrix};
use crate::loss::Loss;
use crate::model::{
    Balance, LearntFrom, Method, Model, ProgramTraining, ScoreFunction, Scorer, ThresholdRule, TieBandKind, TieRegion,
    TieShare, Training,
};
use crate::problem::{Column, ColumnPlanes, JudgedPair, Margin, PairPlanes, ScoreMap};
use crate::progress::{Stop, Unwatched, Watch};
use crate::solver::Limits;
use crate::solver::column_planes::{self, Answer, Cost};
use crate::solver::column_program;

/// Margins up to this are rounding, not a separation.
const NO_MARGIN: f64 = 1e-9;
/// Slacks from this on count as none left.
const NO_SLACK: f64 = -1e-9;

/// The comparison machine as a linear program.
///
/// With C = ∞, the default: the weights w with the largest μ such that every tie has |w·d| ≤ 1 − μ, every other pair w·d ≥ 1 + μ,
/// d the better side's features less the worse one's. μ > 0 means that pairs can be told apart by a linear function, and the least
/// distance of a margin from the threshold 1; else fitting ends with [`Error::NotSeparable`], which is proven.
///
/// With a finite C, and z the lead of the better side:
///
/// ‖a‖₁ + C·[Σ_non-ties c·max(0, 1 − β − z) + Σ_ties c·max(0, 1 + β + |z|)],  β ≤ −1,
///
/// a the weights of features, or with a kernel the coefficients of items, z = (K·a)(better) − (K·a)(worse). Scores are −K·a/β, the
/// threshold is 1. Few of a are not 0: a comparer made of a handful of features or items.
///
/// ```
/// use rankwise::CompareLp;
/// use rankwise::data::simulate::{Norm, Simulation};
/// use rankwise::kernel::{Gamma, Kernel};
///
/// let pairs = Simulation { norm: Norm::L2, n_pairs: 200, ties: 0.5, noise: 0.25, seed: 1 }.draw()?;
/// let fit = CompareLp::new().c(1.0).kernel(Kernel::Rbf { gamma: Gamma::Value(0.5) }).fit(&pairs)?;
/// assert_eq!(fit.model.threshold, 1.0);
/// assert!(fit.model.training.support < Some(40));
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompareLp {
    /// C multiplies the sum of weighted losses; ∞ allows for none.
    pub c: f64,
    /// The kernel; with C = ∞ linear.
    pub kernel: Kernel,
    /// What the weights of ties are multiplied with.
    pub tie_weight: f64,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for CompareLp {
    fn default() -> Self {
        Self::new()
    }
}

impl CompareLp {
    /// Default parameters: C ∞, linear kernel.
    pub fn new() -> Self {
        CompareLp {
            c: f64::INFINITY,
            kernel: Kernel::Linear,
            tie_weight: 1.0,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses.
        c: f64,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets what the weights of ties are multiplied with.
        tie_weight: f64,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how much work a fit may do.
        effort: Effort,
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        if self.c.is_nan() || self.c <= 0.0 {
            return Err(Error::parameter("C", self.c, "a number above 0, or infinity"));
        }
        if !(self.tie_weight > 0.0 && self.tie_weight.is_finite()) {
            return Err(Error::parameter("tie_weight", self.tie_weight, "a finite number above 0"));
        }
        if self.is_hard() && self.kernel != Kernel::Linear {
            return Err(Error::Unsupported {
                problem:
                    "without slack the program has no norm, so that a kernel tells any pairs apart and means nothing"
                        .into(),
                remedy: "give a finite C, or choose the linear kernel".into(),
            });
        }
        self.kernel.check()?;
        self.effort.check()
    }

    /// Fits a model.
    pub fn fit(&self, data: &Comparisons) -> Result<Fit> {
        self.fit_watched(data, &Unwatched)
    }

    /// Fits a model while `watch` looks on, and perhaps stops it.
    pub fn fit_watched(&self, data: &Comparisons, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        let started = Instant::now();
        self.effort.in_pool(|threads| {
            let model = self.fit_here(data, self.effort.limits(started, watch))?;
            Fit::new(model, &data.set.items, started, threads)
        })
    }

    fn is_hard(&self) -> bool {
        self.c == f64::INFINITY
    }

    fn fit_here(&self, data: &Comparisons, limits: Limits<'_>) -> Result<Model> {
        let present = data.present_in_order();
        if present.is_empty() {
            let problem = if data.n_pairs() == 0 { "there is no pair" } else { "every weight is 0" };
            return Err(Error::data(Place::file("pairs"), problem, "give at least one pair with a weight above 0"));
        }
        let data = data.select(&present);
        if self.is_hard() && data.n_ties() == 0 {
            return Err(Error::data(
                Place::file("pairs"),
                "no pair is a tie, so that the margin has no bound",
                "give ties, too, or a finite C (--C 1), or choose --method rank",
            ));
        }
        let mut warnings: Vec<String> = why_to_scale(self.scale, &data.set.items).into_iter().collect();
        let scaler = Scaler::learn_from_rows(self.scale, &data.set.items.features, 0..data.set.items.n_items());
        let features = match &scaler {
            Some(scaler) => Cow::Owned(scaler.apply(&data.set.items.features)?),
            None => Cow::Borrowed(&data.set.items.features),
        };
        let kernel = self.kernel.resolve(&features)?;
        let ground = Ground::new(kernel, &features, &self.effort)?;
        let mut planes = self.planes(&data, ground.map());
        let answer = self.search(&mut planes, limits)?;
        let solution = self.solution(&answer, &mut planes)?;
        self.warn(&data, &solution, &mut warnings);
        let n = ground.map().dim();
        let coefficients: Vec<f64> = answer.coefficients[..n].iter().map(|a| a / -solution.beta).collect();
        let function = match kernel {
            KernelFunction::Linear => ScoreFunction::Linear { weights: coefficients, bias: 0.0 },
            _ => {
                let support: Vec<usize> = (0..n).filter(|&at| coefficients[at] != 0.0).collect();
                ScoreFunction::Kernel {
                    kernel,
                    support: features.select_rows(&support),
                    coefficients: support.iter().map(|&at| coefficients[at]).collect(),
                    bias: 0.0,
                }
            }
        };
        let items = &data.set.items;
        let scorer = Scorer {
            n_features: items.features.n_cols(),
            feature_names: items.feature_names.clone(),
            are_indicators: items.are_indicators,
            scaler,
            function,
        };
        let scores = scorer.scores(items)?;
        let training = self.record(&data, kernel, &solution, &scorer, &scores, warnings);
        Ok(Model {
            scorer,
            threshold: 1.0,
            beta: (!self.is_hard()).then_some(solution.beta),
            no_tie_region: false,
            band: None,
            chances: None,
            classes: None,
            class_rule: None,
            grades: None,
            state: None,
            training,
        })
    }

    fn planes<'a>(&self, data: &Comparisons, map: ScoreMap<'a>) -> PairPlanes<'a> {
        let pairs = data.set.pairs.iter().enumerate().map(|(k, pair)| {
            let outcome = data.outcomes[k];
            let is_tie = outcome == Outcome::Tie;
            let [better, worse] = match outcome {
                Outcome::Left => [pair.left, pair.right],
                Outcome::Right => [pair.right, pair.left],
                // Exchanged sides change no digit.
                Outcome::Tie => [pair.left.min(pair.right), pair.left.max(pair.right)],
            };
            let factor = if is_tie { self.tie_weight } else { 1.0 };
            JudgedPair { better, worse, is_tie, cost: self.c * factor * data.weight(k) }
        });
        let margin = if self.is_hard() { Margin::Hard } else { Margin::Soft };
        PairPlanes::new(map, data.set.items.n_items(), pairs.collect(), margin)
    }

    fn search(&self, planes: &mut PairPlanes<'_>, limits: Limits<'_>) -> Result<Answer> {
        let tol = limits.tol;
        if !self.is_hard() {
            let is_enough = |value: f64, bound: f64| value - bound <= tol * value;
            return Ok(column_program::minimise(planes, &is_enough, limits));
        }
        // Of 1 − μ. What is proven not to be separable needs no best answer.
        let is_enough = |value: f64, bound: f64| bound >= 1.0 - NO_MARGIN || value - bound <= tol * (1.0 - value);
        let answer = column_planes::minimise(planes, Cost::Nothing, &is_enough, limits);
        if answer.bound >= 1.0 - NO_MARGIN {
            return Err(Error::NotSeparable {
                problem: "not linearly separable: no weights keep every tie within the threshold and every other pair \
                          beyond it, on its side"
                    .into(),
                remedy: "give a finite C (--C 1), which allows for errors".into(),
                items: planes.n_items(),
            });
        }
        if answer.value >= 1.0 - NO_MARGIN {
            let stop = answer.stop.unwrap_or(Stop::Stalled);
            if stop == Stop::Interrupted {
                return Err(Error::Interrupted);
            }
            return Err(Error::Search {
                problem: format!(
                    "{}, and it is not known whether the pairs are linearly separable",
                    stop.reason().unwrap_or("the search ended")
                ),
                remedy: "allow for more work, or give a finite C (--C 1)".into(),
            });
        }
        Ok(answer)
    }

    /// The answer measured anew, without what a long way has left in the leads.
    fn solution(&self, answer: &Answer, planes: &mut PairPlanes<'_>) -> Result<Solution> {
        let losses = planes.go_to(&answer.coefficients);
        let stop_at = |gap: f64| match answer.stop {
            None if gap > 1.01 * self.effort.tol => Stop::Stalled,
            Some(Stop::Stalled) if gap <= self.effort.tol => Stop::Converged,
            stop => stop.unwrap_or(Stop::Converged),
        };
        let n_support = planes.n_at_least(if self.is_hard() { losses + NO_SLACK } else { NO_SLACK });
        let solution = if self.is_hard() {
            let (margin, bound) = (1.0 - losses, 1.0 - answer.bound);
            let gap = ((bound - margin) / margin.max(1e-12)).max(0.0);
            Solution { beta: -1.0, objective: margin, gap, n_support, stop: stop_at(gap), steps: answer.planes }
        } else {
            let eta = answer.coefficients.last().copied().unwrap_or(0.0);
            let free = planes.free().map(Column::Plus);
            let costly = answer.columns.iter().filter(|(column, _)| Some(*column) != free);
            let objective = losses + costly.map(|(_, amount)| amount).sum::<f64>();
            let gap = ((objective - answer.bound) / objective.max(1e-12)).max(0.0);
            Solution { beta: -1.0 - eta, objective, gap, n_support, stop: stop_at(gap), steps: answer.planes }
        };
        if !solution.objective.is_finite() || !solution.beta.is_finite() {
            return Err(super::item_ranker::Solution::out_of_range());
        }
        Ok(solution)
    }

    fn warn(&self, data: &Comparisons, solution: &Solution, warnings: &mut Vec<String>) {
        let (n_pairs, n_ties) = (data.n_pairs(), data.n_ties());
        if n_ties == n_pairs {
            warnings.push("all pairs are ties: every score is 0 and every pair a tie".into());
        } else if n_ties == 0 {
            warnings.push("no pair is a tie: the region of ties is as narrow as it may be (β = −1)".into());
        }
        warnings.extend(solution.stop.shortfall(solution.gap, self.effort.tol));
        if let Some(context) = data.set.context.as_ref().filter(|context| !context.names.is_empty()) {
            let n = context.names.len();
            let noun = if n == 1 { "column" } else { "columns" };
            warnings.push(format!("{n} {noun} pair.NAME will not be used: --method compare --tie-band pair does"));
        }
    }

    fn record(
        &self,
        data: &Comparisons,
        kernel: KernelFunction,
        solution: &Solution,
        scorer: &Scorer,
        scores: &[f64],
        mut warnings: Vec<String>,
    ) -> Training {
        let support = match &scorer.function {
            ScoreFunction::Kernel { coefficients, .. } => Some(coefficients.len()),
            _ => None,
        };
        let is_nothing = scores.iter().all(|&score| score == 0.0);
        if is_nothing && data.n_ties() < data.n_pairs() {
            warnings
                .push("all scores are 0: the features say nothing of the outcomes, or C is too small for them".into());
        }
        let margin = |k: usize| scores[data.set.pairs[k].right as usize] - scores[data.set.pairs[k].left as usize];
        Training {
            method: Method::CompareLp,
            learnt_from: LearntFrom::Pairs,
            loss: Loss::Hinge,
            kernel,
            approx: None,
            c: self.c,
            tol: self.effort.tol,
            seed: self.effort.seed,
            threshold_rule: ThresholdRule::Model,
            tie_region: TieRegion::Always,
            tie_band: TieBandKind::Constant,
            tie_parameter: None,
            tie_weight: self.tie_weight,
            balance: Balance::None,
            scale: self.scale,
            items: data.set.items.n_items(),
            features: scorer.n_features,
            groups: data.groups.as_ref().map(|groups| groups.iter().collect::<HashSet<_>>().len()),
            groups_dropped: 0,
            pairs: data.n_pairs(),
            ties: data.n_ties(),
            objective: solution.objective,
            gap: solution.gap,
            certificate: "objective against the value of a point of the dual program, relative to the objective".into(),
            iterations: solution.steps,
            stop: solution.stop,
            support,
            support_names: None,
            support_pairs: solution.n_support,
            collapsed: false,
            tie_share: TieShare::of(data, |k| margin(k).abs() <= 1.0),
            margin: self.is_hard().then_some(solution.objective),
            lp_slack: None,
            normalise: false,
            pairs_per_item: None,
            online: None,
            svm: None,
            program: Some(ProgramTraining { coefficients: None, critical_c: None }),
            warnings,
            tuning: None,
        }
    }
}

/// What there is to tell of an answer.
struct Solution {
    beta: f64,
    objective: f64,
    gap: f64,
    /// Pairs that lack the margin, or hold it exactly.
    n_support: usize,
    stop: Stop,
    steps: u64,
}

/// What scores are made of.
enum Ground<'a> {
    Rows(Cow<'a, Features>),
    Items(Box<dyn SymmetricMatrix>),
}

impl<'a> Ground<'a> {
    fn new(kernel: KernelFunction, features: &'a Features, effort: &Effort) -> Result<Self> {
        if kernel == KernelFunction::Linear {
            // Differences alone count, and far from zero they would lose their digits.
            return Ok(Ground::Rows(match far_shift(features, None) {
                None => Cow::Borrowed(features),
                Some(shift) => Cow::Owned(shifted(features, &shift)),
            }));
        }
        // In f64: prices are sums of many values that nearly cancel, and columns that are nearly the same.
        Ok(Ground::Items(Box::new(KernelMatrix::<f64>::new(kernel, features, effort.cache_mb << 20)?)))
    }

    fn map(&self) -> ScoreMap<'_> {
        match self {
            Ground::Rows(features) => ScoreMap::Features(features),
            Ground::Items(matrix) => ScoreMap::Matrix(&**matrix),
        }
    }
}
