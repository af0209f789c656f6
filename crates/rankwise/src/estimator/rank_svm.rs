//! Ranking SVM on items with labels in groups.

use std::time::Instant;

use super::common::{Effort, Fit, setters};
use crate::data::{Items, RankView, Ranking, Rows, Scale, Scaler, StoredRanking, largest_scale_ratio};
use crate::error::{Error, Place, Result};
use crate::kernel::KernelFunction;
use crate::loss::Loss;
use crate::model::{
    Balance, LearntFrom, Method, Model, ScoreFunction, Scorer, ThresholdRule, TieRegion, TieShare, Training,
};
use crate::problem::{BlockSums, RankCounts, RankSums, Shape, Weighing};
use crate::progress::{Stop, Unwatched, Watch};
use crate::solver::hard_margin::{self, Separation};
use crate::solver::{Limits, newton_cg, smoothing};

/// Columns that are never too many.
const MANY_COLUMNS: usize = 1 << 22;

/// Ranking SVM with linear scores r(x) = w·x:
///
/// ½‖w‖² + C·Σ c_ij·ℓ(1 − (r(x_i) − r(x_j)))  over the pairs (i, j) of one group with label_i > label_j,
///
/// c_ij = weight_i·weight_j·(weight of the group). No pair is ever formed: the squared hinge and the hinge take
/// O(n log n) time a step, the logistic loss O(pairs).
///
/// ```
/// use rankwise::data::{Features, Groups, Items, Precision, Ranking};
/// use rankwise::RankSvm;
///
/// let features = Features::dense(2, vec![0.1, 3.0, 0.5, 1.0, 0.9, 2.0, 0.2, 7.0, 0.4, 6.0], Precision::Auto)?;
/// let items = Items::new(features, None, None)?;
/// let groups = Groups::from_ids(["a", "a", "a", "b", "b"]);
/// let data = Ranking::new(items, vec![0.0, 1.0, 2.0, 0.0, 1.0], Some(groups))?;
///
/// let fit = RankSvm::new().c(100.0).fit(&data)?;
/// let scores = fit.model.scorer.scores(&data.items)?;
/// assert!(scores[0] < scores[1] && scores[1] < scores[2] && scores[3] < scores[4]);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankSvm {
    /// C multiplies the sum of weighted losses; ∞ asks for a hard margin.
    pub c: f64,
    /// The loss.
    pub loss: Loss,
    /// [`Balance::Groups`]: all groups of weight 1 count the same.
    pub balance: Balance,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for RankSvm {
    fn default() -> Self {
        Self::new()
    }
}

impl RankSvm {
    /// Default parameters: C 1, squared hinge.
    pub fn new() -> Self {
        RankSvm {
            c: 1.0,
            loss: Loss::SquaredHinge,
            balance: Balance::None,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses; ∞ asks for a hard margin.
        c: f64,
        /// Sets the loss.
        loss: Loss,
        /// Sets how groups are weighted against each other.
        balance: Balance,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how much work a fit may do.
        effort: Effort,
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        if self.c.is_nan() || self.c <= 0.0 {
            return Err(Error::parameter("C", self.c, "a number above 0, or inf"));
        }
        if self.balance == Balance::Outcomes {
            return Err(Error::parameter("balance", "outcomes", "none or groups for items"));
        }
        self.effort.check()
    }

    /// Fits a model.
    pub fn fit(&self, data: &Ranking) -> Result<Fit> {
        self.fit_from(data, None, &Unwatched)
    }

    /// Fits a model, starting from another one, while `watch` looks on, and perhaps stops it.
    pub fn fit_from(&self, data: &Ranking, start: Option<&Model>, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        check_width(Rows::Held(&data.items.features))?;
        let started = Instant::now();
        self.effort.in_pool(|threads| {
            let scaler = Scaler::learn(self.scale, &data.items.features);
            let near = data.near_zero();
            let mut path = RankPath::new(self, near.view(), scaler.as_ref())?;
            if let Some(start) = start {
                path.start_from(start, &data.items)?;
            }
            let has_scale = self.scale != Scale::None || data.items.are_indicators;
            let warnings = if has_scale { None } else { self.of_scale(largest_scale_ratio(&data.items.features)) };
            let model = path.fit(self.c, self.effort.limits(started, watch), warnings.into_iter().collect())?;
            Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads })
        })
    }

    /// The same for items whose features stay in a file: the same numbers are summed in the same order, so that the model is
    /// the same, too. A step reads the file once or a few times; what is in memory beside some megabytes of it grows with the
    /// number of items alone, some 50 bytes for each of grades. An error where even that is more than may be used.
    pub fn fit_stored(&self, data: &mut StoredRanking, start: Option<&Model>, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        check_width(Rows::Stored(data.rows()))?;
        let started = Instant::now();
        data.reset();
        let fit = self.effort.in_pool(|threads| {
            let warnings = match self.scale {
                Scale::None => self.of_scale(data.largest_scale_ratio()?),
                _ => None,
            };
            let scaler = data.prepare(self.scale)?;
            let mut path = RankPath::new(self, data.view(), scaler.as_ref())?;
            path.check_memory(data.rows().memory())?;
            if let Some(start) = start {
                path.start_from(start, &data.shape())?;
            }
            let fitted = path.fit(self.c, self.effort.limits(started, watch), warnings.into_iter().collect());
            // What was made of rows that could not be read is nothing.
            let model = data.rows().take_failure().map_or(fitted, Err)?;
            Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads })
        });
        data.reset();
        fit
    }

    fn of_scale(&self, ratio: f64) -> Option<String> {
        (ratio > 100.0).then(|| "features differ in scale by more than 100×: consider --scale standard".into())
    }
}

/// Fits of one ranking with one C after the other, each from where the last one ended.
pub(crate) struct RankPath<'a> {
    svm: RankSvm,
    data: RankView<'a>,
    scaler: Option<&'a Scaler>,
    sums: RankSums<'a>,
    last: Option<Vec<f64>>,
}

impl<'a> RankPath<'a> {
    /// Makes ready; the data must have a pair.
    fn new(svm: &RankSvm, data: RankView<'a>, scaler: Option<&'a Scaler>) -> Result<Self> {
        Self::of_groups(svm, data, scaler, |_| true)
    }

    /// The same for those groups that `keeps` says yes to.
    pub(super) fn of_groups(
        svm: &RankSvm,
        data: RankView<'a>,
        scaler: Option<&'a Scaler>,
        keeps: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let shape = match svm.loss {
            Loss::Logistic if svm.c.is_finite() => Shape::Logistic,
            Loss::Hinge if svm.c.is_finite() => Shape::Hinge(1.0),
            _ => Shape::SquaredHinge, // a hard margin knows no loss
        };
        let divisors = scaler.map(|scaler| scaler.divisor.as_slice());
        let weighing = match svm.balance {
            _ if svm.c == f64::INFINITY => Weighing::Equal, // it knows no weights either
            Balance::Groups => Weighing::Balanced,
            _ => Weighing::AsGiven,
        };
        let sums = RankSums::new(data, keeps, divisors, shape, svm.c, weighing);
        let counts = sums.counts();
        if counts.n_pairs == 0 {
            let problem = match (data.labels.len(), counts.n_dropped) {
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
        if !(sums.mass() > 0.0 && sums.mass().is_finite()) {
            return Err(Error::Numeric {
                problem: format!("the products of weights of all pairs sum to {:e}, not a number above 0", sums.mass()),
                remedy: "multiply all weights by a number that brings them near 1, and C by what makes up for it"
                    .into(),
            });
        }
        Ok(RankPath { svm: svm.clone(), data, scaler, sums, last: None })
    }

    /// Whether all that is in memory at a time is little enough.
    fn check_memory(&self, memory: usize) -> Result<()> {
        let labels = 8 * self.data.labels.len() * (1 + usize::from(self.data.weights.is_some()));
        // Vectors of the solver, and a matrix with its factor where features are few.
        let n_features = self.data.rows.n_cols();
        let of_solver = 8 * n_features.saturating_mul(30) + 16 * n_features.min(2048).pow(2);
        let needed = self.sums.bytes() + labels + of_solver;
        if needed <= memory {
            return Ok(());
        }
        Err(Error::Unsupported {
            problem: format!(
                "{} items of {n_features} features need about {} MiB of memory beside what is read of the features, and {} \
                 may be used",
                self.data.labels.len(),
                (needed >> 20) + 16,
                memory >> 20
            ),
            remedy: format!("allow more (--memory-mb {})", (needed >> 20) + 32),
        })
    }

    /// The next fit starts from this model.
    pub(crate) fn start_from(&mut self, model: &Model, items: &Items) -> Result<()> {
        let ScoreFunction::Linear { weights } = &model.scorer.function else {
            return Err(Error::Mismatch {
                problem: format!("the model to start from has the {} kernel", model.scorer.function.kernel().name()),
                remedy: "start from a linear model".into(),
            });
        };
        let unscaled = |at: usize| weights[at] / model.scorer.scaler.as_ref().map_or(1.0, |s| s.divisor[at]);
        let mut start = vec![0.0; items.features.n_cols()];
        for (at, column) in model.scorer.columns(items)?.into_iter().enumerate() {
            if let Some(column) = column {
                start[column] = unscaled(at) * self.scaler.map_or(1.0, |s| s.divisor[column]);
            }
        }
        self.last = Some(start);
        Ok(())
    }

    /// The next fit starts from these weights of the scaled features.
    pub(super) fn start_at(&mut self, weights: Option<Vec<f64>>) {
        self.last = weights;
    }

    /// About the C at which losses weigh as much as the norm: 1 over the weight of all pairs and the mean square of the
    /// difference of two items of a group.
    pub(super) fn unit_of_c(&mut self) -> f64 {
        let difference = self.sums.usual_difference();
        1.0 / (self.sums.mass() * if difference > 0.0 { difference * difference } else { 1.0 })
    }

    fn n_pairs(&self) -> usize {
        usize::try_from(self.sums.counts().n_pairs).unwrap_or(usize::MAX)
    }

    /// What to say of groups that teach nothing.
    fn why_dropped(&self) -> Option<String> {
        let RankCounts { n_groups, n_dropped, .. } = self.sums.counts();
        let n_all = n_groups + n_dropped;
        let (noun, verb) = if n_dropped == 1 { ("group", "has") } else { ("groups", "have") };
        (n_dropped > 0).then(|| {
            format!("{n_dropped} {noun} of {n_all} {verb} no two items with different labels: nothing is learnt there")
        })
    }

    /// Fits with this C.
    pub(crate) fn fit(&mut self, c: f64, limits: Limits<'_>, mut warnings: Vec<String>) -> Result<Model> {
        let solution = self.solve(c, limits)?;
        warnings.extend(self.why_dropped());
        if let Some(warning) = why_not_converged(&solution, limits.tol) {
            warnings.push(warning);
        }
        if solution.weights.iter().all(|&w| w == 0.0) {
            warnings
                .push("all weights are 0, so that all scores are equal: the features say nothing of the labels".into());
        }
        let n_features = self.data.rows.n_cols();
        let scorer = Scorer {
            n_features,
            feature_names: self.data.feature_names.map(<[String]>::to_vec),
            are_indicators: self.data.are_indicators,
            scaler: self.scaler.cloned(),
            function: ScoreFunction::Linear { weights: solution.weights },
        };
        let RankCounts { n_items, n_groups, n_dropped, .. } = self.sums.counts();
        let is_hard = c == f64::INFINITY;
        let training = Training {
            method: Method::Rank,
            learnt_from: LearntFrom::Items,
            loss: self.svm.loss,
            kernel: KernelFunction::Linear,
            c,
            tol: limits.tol,
            seed: self.svm.effort.seed,
            threshold_rule: ThresholdRule::default(),
            tie_region: TieRegion::default(),
            tie_weight: 1.0,
            balance: self.svm.balance,
            scale: self.svm.scale,
            items: n_items,
            features: n_features,
            groups: Some(n_groups),
            groups_dropped: n_dropped,
            pairs: self.n_pairs(),
            ties: 0,
            objective: solution.objective,
            gap: solution.gap,
            certificate: if is_hard {
                "upper minus lower bound of ½‖w‖², relative to the upper one".into()
            } else {
                "relative duality gap".into()
            },
            iterations: solution.steps,
            stop: solution.stop,
            support: None,
            support_pairs: 0,
            collapsed: false,
            tie_share: TieShare { observed: 0.0, predicted: 0.0 },
            margin: is_hard.then(|| 1.0 / (2.0 * solution.objective).sqrt()),
            warnings,
            tuning: None,
        };
        Ok(Model { scorer, threshold: 0.0, beta: None, no_tie_region: false, training })
    }

    pub(super) fn solve(&mut self, c: f64, limits: Limits<'_>) -> Result<Solution> {
        let start = self.last.take();
        let solution = if c == f64::INFINITY { self.separate(start, limits)? } else { self.minimise(c, start, limits) };
        let is_nothing = solution.stop == Stop::Stalled && solution.weights.iter().all(|&w| w == 0.0);
        let is_finite = solution.objective.is_finite() && solution.weights.iter().all(|w| w.is_finite());
        if is_nothing || !is_finite {
            return Err(Error::Numeric {
                problem: "the numbers leave the range of floating point".into(),
                remedy:
                    "scale the features (--scale standard), choose a C nearer to 1, or check for numbers that are far \
                         too large or small"
                        .into(),
            });
        }
        self.last = Some(solution.weights.clone());
        Ok(solution)
    }

    fn minimise(&mut self, c: f64, start: Option<Vec<f64>>, limits: Limits<'_>) -> Solution {
        self.sums.set_c(c);
        if self.svm.loss == Loss::Hinge {
            let answer = smoothing::minimise(&mut self.sums, start, limits);
            return Solution {
                objective: answer.primal,
                gap: answer.gap(),
                steps: answer.steps,
                stop: answer.stop.unwrap_or(Stop::Converged),
                weights: answer.weights,
            };
        }
        let minimum = newton_cg::minimise(&mut self.sums, start, limits);
        Solution {
            objective: minimum.primal(),
            gap: minimum.gap(),
            steps: minimum.steps,
            stop: minimum.stop.unwrap_or(Stop::Converged),
            weights: minimum.weights,
        }
    }

    fn not_rankable(&self, largest_lead: f64, difference: f64) -> Result<Solution> {
        let RankCounts { n_items, n_groups, n_dropped, .. } = self.sums.counts();
        Err(Error::NotRankable {
            items: n_items,
            groups: n_groups,
            groups_dropped: n_dropped,
            pairs: self.n_pairs(),
            problem: format!(
                "not linearly rankable: no weights of norm 1 give every better item a lead above {largest_lead:.1e} over \
                 the worse ones of its group, where items usually differ by {difference:.1e}"
            ),
            remedy: "choose a finite C, which allows for errors".into(),
        })
    }

    fn separate(&mut self, start: Option<Vec<f64>>, limits: Limits<'_>) -> Result<Solution> {
        let difference = self.sums.usual_difference();
        if !difference.is_normal() {
            return self.not_rankable(0.0, difference);
        }
        // In units of the usual difference numbers are near 1.
        self.sums.set_unit(difference);
        let start = start.map(|start| start.iter().map(|w| w * difference).collect());
        match hard_margin::separate(&mut self.sums, start, limits) {
            Separation::Found { weights, objective, gap, steps, stop } => Ok(Solution {
                weights: weights.into_iter().map(|w| w / difference).collect(),
                objective: objective / difference / difference,
                gap,
                steps,
                stop: stop.unwrap_or(Stop::Converged),
            }),
            Separation::None { largest_lead } => self.not_rankable(largest_lead * difference, difference),
            Separation::Unknown(Stop::Interrupted) => Err(Error::Interrupted),
            Separation::Unknown(stop) => Err(Error::Search {
                problem: format!(
                    "stopped ({}) before it was known whether the items are linearly rankable",
                    stop.name()
                ),
                remedy: "allow more time or iterations, or choose a finite C".into(),
            }),
        }
    }
}

/// Where weights would be far more than the numbers they are learnt from, something is wrong with the numbers of features.
pub(crate) fn check_width(features: Rows<'_>) -> Result<()> {
    if features.n_cols() == 0 {
        return Err(Error::data(Place::file("items"), "there are no features", "give every item at least one number"));
    }
    if features.n_cols() <= MANY_COLUMNS.max(16 * features.n_stored()) {
        return Ok(());
    }
    let problem = format!(
        "the largest number of a feature is {}, but only {} numbers are stored",
        features.n_cols(),
        features.n_stored()
    );
    Err(Error::data(Place::file("items"), problem, "number the features from 1 without large gaps"))
}

/// Where a fit ended.
pub(super) struct Solution {
    /// Of the scaled features.
    pub(super) weights: Vec<f64>,
    objective: f64,
    gap: f64,
    steps: u64,
    pub(super) stop: Stop,
}

fn why_not_converged(solution: &Solution, tol: f64) -> Option<String> {
    let why = solution.stop.reason()?;
    Some(format!("not converged: {why}; the relative gap is {:.1e}, {tol:.0e} was asked for", solution.gap))
}
