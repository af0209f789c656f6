//! Ranking SVM on items with labels in groups.

use std::time::Instant;

use super::common::{Effort, Fit, setters};
use super::item_ranker::{
    Record, Solution, check_width, check_width_of, of_scale_ratio, rank_sums, weights_of, why_dropped, why_to_scale,
};
use crate::data::{Items, RankView, Ranking, Scale, Scaler, StoredRanking};
use crate::error::{Error, Result};
use crate::kernel::{Approx, Kernel};
use crate::loss::Loss;
use crate::model::{Balance, Method, Model};
use crate::problem::{BlockSums, Draw, RankCounts, RankSums, Shape, Weighing};
use crate::progress::{Stop, Unwatched, Watch};
use crate::solver::hard_margin::{self, Separation};
use crate::solver::{Limits, newton_cg, smoothing};

/// Ranking SVM with scores r(x) = w·x, or those of a kernel, r(x) = Σ aᵢ·K(xᵢ, x):
///
/// ½‖r‖² + C·Σ c_ij·ℓ(1 − (r(x_i) − r(x_j)))  over the pairs (i, j) of one group with label_i > label_j,
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
    /// The kernel; with one that is not linear, r is a function of its space, and ‖r‖ its norm there.
    pub kernel: Kernel,
    /// What stands for the functions of the kernel; `None`: the optimum over all of them.
    pub approx: Option<Approx>,
    /// [`Balance::Groups`]: all groups of weight 1 count the same.
    pub balance: Balance,
    /// Only so many random partners of each item make pairs with it, drawn by the seed (see [`crate::data::drawn_pairs`]);
    /// `None`: all pairs, which takes less time where groups are large.
    pub pairs_per_item: Option<usize>,
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
    /// Default parameters: C 1, squared hinge, linear.
    pub fn new() -> Self {
        RankSvm {
            c: 1.0,
            loss: Loss::SquaredHinge,
            kernel: Kernel::Linear,
            approx: None,
            balance: Balance::None,
            pairs_per_item: None,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses; ∞ asks for a hard margin.
        c: f64,
        /// Sets the loss.
        loss: Loss,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets what stands for the functions of the kernel; `None`: the optimum over all of them.
        approx: Option<Approx>,
        /// Sets how groups are weighted against each other.
        balance: Balance,
        /// Sets how many random partners of each item make pairs with it; `None`: all.
        pairs_per_item: Option<usize>,
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
        self.loss.check_of_order()?;
        if self.balance == Balance::Outcomes {
            return Err(Error::parameter("balance", "outcomes", "none or groups for items"));
        }
        if self.pairs_per_item == Some(0) {
            return Err(Error::parameter("pairs_per_item", 0, "a number of at least 1"));
        }
        self.kernel.check()?;
        if let Some(approx) = self.approx {
            approx.check(self.kernel)?;
        }
        if self.kernel != Kernel::Linear && self.c == f64::INFINITY {
            return Err(Error::Unsupported {
                problem: "C = inf asks for a hard margin, which only linear scores have here".into(),
                remedy: "choose a finite C, or --kernel linear".into(),
            });
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
        check_width(&data.items.features)?;
        let started = Instant::now();
        if self.kernel != Kernel::Linear {
            return self.fit_kernel(data, start, started, watch);
        }
        self.effort.in_pool(|threads| {
            let scaler = data.scaler(self.scale);
            let near = data.near_zero();
            let mut path = RankPath::new(self, near.view(), &near.items, scaler.as_ref())?;
            if let Some(start) = start {
                path.start_from(start, &data.items)?;
            }
            let mut warnings: Vec<String> = why_to_scale(self.scale, &data.items).into_iter().collect();
            warnings.extend(why_dropped(path.sums.counts()));
            let model = path.fit(self.c, self.effort.limits(started, watch), warnings)?;
            Fit::new(model, &data.items, started, threads)
        })
    }

    /// The same for items whose features stay in a file: the same numbers are summed in the same order, so that the model is
    /// the same, too. A step reads the file once or a few times; what is in memory beside some megabytes of it grows with the
    /// number of items alone, some 50 bytes for each of grades. An error where even that is more than may be used.
    pub fn fit_stored(&self, data: &mut StoredRanking, start: Option<&Model>, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        if self.kernel != Kernel::Linear {
            return Err(Error::Unsupported {
                problem: "kernels need all features in memory".into(),
                remedy: "choose --kernel linear, or allow more memory".into(),
            });
        }
        check_width_of(data.n_features(), data.rows().n_stored())?;
        let started = Instant::now();
        data.reset();
        let fit = self.effort.in_pool(|threads| {
            let mut warnings = match self.scale {
                Scale::None => of_scale_ratio(data.largest_scale_ratio()?).into_iter().collect(),
                _ => Vec::new(),
            };
            let scaler = data.prepare(self.scale)?;
            let shape = data.shape();
            let mut path = RankPath::new(self, data.view(), &shape, scaler.as_ref())?;
            path.check_memory(data.rows().memory())?;
            if let Some(start) = start {
                path.start_from(start, &shape)?;
            }
            warnings.extend(why_dropped(path.sums.counts()));
            let fitted = path.fit(self.c, self.effort.limits(started, watch), warnings);
            // What was made of rows that could not be read is nothing.
            let model = data.rows().take_failure().map_or(fitted, Err)?;
            Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads })
        });
        data.reset();
        fit
    }
}

impl RankSvm {
    /// How pairs are summed over.
    pub(super) fn of_sums(&self) -> (Shape, Weighing, Option<Draw>) {
        let shape = match self.loss {
            Loss::Logistic if self.c.is_finite() => Shape::Logistic,
            Loss::Hinge if self.c.is_finite() => Shape::Hinge(1.0),
            _ => Shape::SquaredHinge, // a hard margin knows no loss
        };
        let weighing = match self.balance {
            _ if self.c == f64::INFINITY => Weighing::Equal, // it knows no weights either
            Balance::Groups => Weighing::Balanced,
            _ => Weighing::AsGiven,
        };
        let draw = self.pairs_per_item.map(|per_item| Draw { per_item, seed: self.effort.seed });
        (shape, weighing, draw)
    }
}

/// Fits of one ranking with one C after the other, each from where the last one ended.
pub(crate) struct RankPath<'a> {
    svm: RankSvm,
    data: RankView<'a>,
    items: &'a Items,
    scaler: Option<&'a Scaler>,
    sums: RankSums<'a>,
    last: Option<Vec<f64>>,
}

impl<'a> RankPath<'a> {
    /// Makes ready; the data must have a pair.
    fn new(svm: &RankSvm, data: RankView<'a>, items: &'a Items, scaler: Option<&'a Scaler>) -> Result<Self> {
        Self::of_groups(svm, data, items, scaler, |_| true)
    }

    /// The same for those groups that `keeps` says yes to.
    pub(super) fn of_groups(
        svm: &RankSvm,
        data: RankView<'a>,
        items: &'a Items,
        scaler: Option<&'a Scaler>,
        keeps: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let (shape, weighing, draw) = svm.of_sums();
        let sums = rank_sums(data, keeps, scaler, shape, svm.c, weighing, draw)?;
        Ok(RankPath { svm: svm.clone(), data, items, scaler, sums, last: None })
    }

    /// Whether all that is in memory at a time is little enough.
    fn check_memory(&self, memory: usize) -> Result<()> {
        let (n_items, n_features) = (self.data.labels.len(), self.items.features.n_cols());
        let labels = 8 * n_items * (1 + usize::from(self.data.weights.is_some()));
        // Vectors of the solver, and a matrix with its factor where features are few.
        let of_solver = 8 * n_features.saturating_mul(30) + 16 * n_features.min(2048).pow(2);
        let needed = self.sums.bytes() + labels + of_solver;
        if needed <= memory {
            return Ok(());
        }
        Err(Error::Unsupported {
            problem: format!(
                "{n_items} items of {n_features} features need about {} MiB of memory beside what is read of the \
                 features, and {} may be used",
                (needed >> 20) + 16,
                memory >> 20
            ),
            remedy: format!("allow more (--memory-mb {})", (needed >> 20) + 32),
        })
    }

    /// The next fit starts from this model.
    pub(crate) fn start_from(&mut self, model: &Model, items: &Items) -> Result<()> {
        self.last = Some(weights_of(model, items, self.scaler)?);
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

    /// Fits with this C.
    pub(crate) fn fit(&mut self, c: f64, limits: Limits<'_>, warnings: Vec<String>) -> Result<Model> {
        let solution = self.solve(c, limits)?;
        let record = record(&self.svm, c, self.sums.counts(), &solution, warnings);
        Ok(record.model(solution, self.items, self.scaler))
    }

    pub(super) fn solve(&mut self, c: f64, limits: Limits<'_>) -> Result<Solution> {
        let start = self.last.take();
        let solution = if c == f64::INFINITY { self.separate(start, limits)? } else { self.minimise(c, start, limits) };
        let solution = solution.checked()?;
        self.last = Some(solution.weights.clone());
        Ok(solution)
    }

    fn minimise(&mut self, c: f64, start: Option<Vec<f64>>, limits: Limits<'_>) -> Solution {
        self.sums.set_c(c);
        solution_of(&mut self.sums, self.svm.loss, start, limits)
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
        Solution::check_unit(difference, &self.items.features)?;
        if !difference.is_normal() {
            return self.not_rankable(0.0, difference);
        }
        // In units of the usual difference numbers are near 1.
        self.sums.set_unit(difference);
        let start = start.map(|start| start.iter().map(|w| w * difference).collect());
        match hard_margin::separate(&mut self.sums, start, 1.0, limits) {
            Separation::Found { weights, objective, gap, steps, stop } => Ok(Solution {
                weights: weights.into_iter().map(|w| w / difference).collect(),
                bias: 0.0,
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

/// Where the minimum of a sum with this loss is.
pub(super) fn solution_of(
    sums: &mut dyn BlockSums,
    loss: Loss,
    start: Option<Vec<f64>>,
    limits: Limits<'_>,
) -> Solution {
    if loss == Loss::Hinge {
        return smoothing::minimise(sums, start, limits).into();
    }
    let minimum = newton_cg::minimise(sums, start, limits);
    Solution {
        bias: 0.0,
        objective: minimum.primal,
        gap: minimum.gap,
        steps: minimum.steps,
        stop: minimum.stop.unwrap_or(Stop::Converged),
        weights: minimum.weights,
    }
}

/// What there is to tell of a fit with this C.
pub(super) fn record<'a>(
    svm: &'a RankSvm,
    c: f64,
    counts: RankCounts,
    solution: &Solution,
    warnings: Vec<String>,
) -> Record<'a> {
    let is_hard = c == f64::INFINITY;
    Record {
        method: Method::Rank,
        loss: svm.loss,
        c,
        balance: svm.balance,
        normalise: false,
        pairs_per_item: svm.pairs_per_item,
        approx: svm.approx,
        scale: svm.scale,
        effort: &svm.effort,
        counts: Some(counts),
        items: counts.n_items,
        certificate: if is_hard {
            "upper minus lower bound of ½‖w‖², relative to the upper one"
        } else {
            "relative duality gap"
        },
        margin: is_hard.then(|| 1.0 / (2.0 * solution.objective).sqrt()),
        warnings,
    }
}
