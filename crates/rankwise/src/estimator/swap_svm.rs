//! The structural machine that minimises swapped pairs, on items with labels in groups.

use std::time::Instant;

use super::RankSvm;
use super::common::{Effort, Fit, setters};
use super::item_ranker::{Record, Solution, check_width, rank_sums, weights_of, why_dropped, why_to_scale};
use super::kernel_items::{KernelItems, no_start};
use super::kernel_rank::KernelLesson;
use super::rank_svm::RankPath;
use crate::data::{Ranking, Scale, Scaler};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::loss::Loss;
use crate::model::{Balance, Method, Model};
use crate::problem::{BlockSums, RankCounts, Shape, Weighing};
use crate::progress::{Stop, Unwatched, Watch};
use crate::solver::{Limits, cutting_plane};

/// The structural SVM whose loss is the number of swapped pairs, with scores r(x) = w·x, or those of a kernel:
///
/// ½‖w‖² + C·ξ   with   w·[Ψ(y) − Ψ(y′)] ≥ Δ(y′) − ξ   for every assignment y′ of ±1 to the pairs of items with
/// different labels in one group,
///
/// Δ(y′) the number of pairs with −1, Ψ(y′) = Σ y′_ij·(x_i − x_j). One slack ξ serves all groups. Pairs count by
/// weight_i·weight_j·(weight of the group).
///
/// ξ is Σ max(0, 1 − 2·(r(x_i) − r(x_j))), so that this is [`RankSvm`](crate::RankSvm) with hinge at 4C: scores are half of
/// its scores, the objective is a quarter of its objective. It is solved by its own cutting planes, each of which takes
/// O(n log n) time and no pair.
///
/// ```
/// use rankwise::data::{Features, Groups, Items, Precision, Ranking};
/// use rankwise::{Loss, RankSvm, SwapSvm};
///
/// let features = Features::dense(2, vec![0.1, 3.0, 0.5, 1.0, 0.9, 2.0, 0.2, 7.0, 0.4, 6.0], Precision::Auto)?;
/// let items = Items::new(features, None, None)?;
/// let groups = Groups::from_ids(["a", "a", "a", "b", "b"]);
/// let data = Ranking::new(items, vec![0.0, 1.0, 2.0, 0.0, 1.0], Some(groups))?;
///
/// let swap = SwapSvm::new().c(2.0).tol(1e-6).fit(&data)?.model.training;
/// let rank = RankSvm::new().loss(Loss::Hinge).c(8.0).tol(1e-6).fit(&data)?.model.training;
/// assert!((4.0 * swap.objective / rank.objective - 1.0).abs() < 1e-5);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SwapSvm {
    /// C multiplies ξ; finite.
    pub c: f64,
    /// Δ and Ψ are divided by the number of pairs, counted by weight: C then multiplies a mean.
    pub normalise: bool,
    /// [`Balance::Groups`]: all groups of weight 1 count the same.
    pub balance: Balance,
    /// The kernel; with one that is not linear, w and x are in its space.
    pub kernel: Kernel,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for SwapSvm {
    fn default() -> Self {
        Self::new()
    }
}

impl SwapSvm {
    /// Default parameters: C 1, nothing normalised.
    pub fn new() -> Self {
        SwapSvm {
            c: 1.0,
            normalise: false,
            balance: Balance::None,
            kernel: Kernel::Linear,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies ξ.
        c: f64,
        /// Sets whether Δ and Ψ are divided by the number of pairs.
        normalise: bool,
        /// Sets how groups are weighted against each other.
        balance: Balance,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how much work a fit may do.
        effort: Effort,
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::parameter("C", self.c, "a finite number above 0"));
        }
        if self.balance == Balance::Outcomes {
            return Err(Error::parameter("balance", "outcomes", "none or groups for items"));
        }
        self.kernel.check()?;
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
        self.effort.in_pool(|threads| {
            let scaler = data.scaler(self.scale);
            let limits = self.effort.limits(started, watch);
            let mut warnings: Vec<String> = why_to_scale(self.scale, &data.items).into_iter().collect();
            let model = if self.kernel == Kernel::Linear {
                let start = start.map(|model| weights_of(model, &data.items, scaler.as_ref())).transpose()?;
                let (solution, counts) = self.search(data, scaler.as_ref(), start, limits)?;
                warnings.extend(why_dropped(counts));
                self.record(counts, warnings).model(solution, &data.items, scaler.as_ref())
            } else {
                if start.is_some() {
                    return Err(no_start());
                }
                let items = KernelItems::new(self.kernel, data, scaler.as_ref())?;
                let (solution, counts) = self.search_kernel(&items, data, limits)?;
                warnings.extend(why_dropped(counts));
                let function = items.function(&solution.weights);
                self.record(counts, warnings).kernel_model(function, solution, &data.items, scaler.as_ref())
            };
            Fit::new(model, &data.items, started, threads)
        })
    }

    fn weighing(&self) -> Weighing {
        if self.balance == Balance::Groups { Weighing::Balanced } else { Weighing::AsGiven }
    }

    /// What multiplies the losses, where pairs weigh so much together.
    fn cost(&self, mass: f64) -> f64 {
        if self.normalise { self.c / mass } else { self.c }
    }

    /// The ranking SVM that this is, where pairs weigh so much together.
    fn as_rank(&self, mass: f64) -> RankSvm {
        let rank = RankSvm::new().loss(Loss::Hinge).c(4.0 * self.cost(mass));
        rank.balance(self.balance).kernel(self.kernel).effort(self.effort)
    }

    /// By planes; where these are stuck, because features of very different sizes leave nothing of the differences of their
    /// heights, the rest is done as the ranking SVM does it.
    fn search(
        &self,
        data: &Ranking,
        scaler: Option<&Scaler>,
        start: Option<Vec<f64>>,
        limits: Limits<'_>,
    ) -> Result<(Solution, RankCounts)> {
        let near = data.near_zero();
        let mut sums = rank_sums(near.view(), |_| true, scaler, Shape::Swapped, self.c, self.weighing(), None)?;
        let (counts, mass) = (sums.counts(), sums.mass());
        sums.set_c(self.cost(mass));
        let planes = solution(cutting_plane::minimise(&mut sums, start, limits));
        if planes.stop != Stop::Stalled {
            return Ok((planes.checked()?, counts));
        }
        drop(sums);
        let rank = self.as_rank(mass);
        let mut path = RankPath::of_groups(&rank, near.view(), &near.items, scaler, |_| true)?;
        path.start_at(Some(planes.weights.iter().map(|w| 2.0 * w).collect()));
        let limits = Limits { max_iter: limits.max_iter.saturating_sub(planes.steps), ..limits };
        let rest = halved(path.solve(rank.c, limits)?);
        Ok((planes.joined(rest, limits.tol).checked()?, counts))
    }

    /// The same with a kernel: the ranking SVM begins with planes, too.
    fn search_kernel(&self, items: &KernelItems, data: &Ranking, limits: Limits<'_>) -> Result<(Solution, RankCounts)> {
        let lesson = KernelLesson { items, data, is_held_out: &vec![false; data.groups.len()] };
        let losses = self.as_rank(1.0).losses(&lesson)?;
        let solution = self.as_rank(losses.mass()).search(&lesson, None, None, limits)?.checked()?;
        Ok((halved(solution), losses.counts()))
    }

    fn record(&self, counts: RankCounts, warnings: Vec<String>) -> Record<'_> {
        Record {
            method: Method::Swap,
            loss: Loss::Hinge,
            c: self.c,
            balance: self.balance,
            normalise: self.normalise,
            pairs_per_item: None,
            approx: None,
            scale: self.scale,
            effort: &self.effort,
            counts: Some(counts),
            items: counts.n_items,
            certificate: "relative duality gap",
            margin: None,
            warnings,
        }
    }
}

/// The solution of the ranking SVM as this machine's: scores are half of its scores, the objective a quarter.
fn halved(solution: Solution) -> Solution {
    let weights = solution.weights.iter().map(|w| 0.5 * w).collect();
    Solution { weights, objective: 0.25 * solution.objective, ..solution }
}

fn solution(minimum: cutting_plane::Minimum) -> Solution {
    Solution {
        bias: 0.0,
        objective: minimum.primal,
        gap: minimum.gap(),
        steps: minimum.planes,
        stop: minimum.stop.unwrap_or(Stop::Converged),
        weights: minimum.weights,
    }
}
