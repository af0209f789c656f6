//! Machines on pairs in the weights of features: those of items as they are, or features that make a kernel linear.

use std::borrow::Cow;

use super::pair_solution::{By, Instance, Margins, Solution};
use crate::data::{Features, Outcome};
use crate::error::{Error, Result};
use crate::kernel::{Approx, Chosen, GoesOn, KernelFunction, KernelMatrix, Landmarks, SymmetricMatrix};
use crate::loss::Loss;
use crate::math::dot;
use crate::model::ScoreFunction;
use crate::problem::{Band, BlockSums, Costs, Hinge, PairSums, Rule, SpreadPairs, Task};
use crate::progress::Stop;
use crate::solver::{Limits, newton_cg, smoothing};

/// Unique items up to which their kernel matrix is factored as a whole.
pub(super) const FEW_ITEMS: usize = 2000;
/// The same beside the items' own features, where the kernel adds to what these say.
const FEW_BESIDE: usize = 1000;
/// Landmarks that stand for more items than that.
const LANDMARKS: usize = 100;
/// Numbers read for one gradient up to which the answer of a plain machine is worth its last digits: they cost little, and searches that share
/// work may then start anywhere.
const QUICK: usize = 1 << 22;
/// The gap that is the optimum itself.
const EXACT: f64 = 1e-13;

/// What the machine is linear in.
pub(super) struct Space<'a> {
    features: Cow<'a, Features>,
    /// Items that take part, in an order that does not depend on sides.
    rows: Cow<'a, [u32]>,
    /// How features are made from a kernel; `None`: they are the items' own.
    map: Option<Landmarks>,
    /// Nothing of the kernel is missing on these items.
    is_whole: bool,
    /// What is found here is the answer: the landmarks are those that were asked for, or another way has been tried.
    is_final: bool,
    /// The features of a kernel stand beside the items' own.
    is_beside: bool,
    /// Where ties depend on the pair.
    band: Option<Band<'a>>,
}

impl<'a> Space<'a> {
    /// The features of items as they are.
    pub(super) fn linear(features: &'a Features, rows: Cow<'a, [u32]>, band: Option<Band<'a>>) -> Self {
        Space {
            features: Cow::Borrowed(features),
            rows,
            map: None,
            is_whole: true,
            is_final: false,
            is_beside: false,
            band,
        }
    }

    /// Where nothing better than equal scores is found, these are the answer.
    pub(super) fn decided(self) -> Self {
        Space { is_final: true, ..self }
    }

    /// Features that make a kernel linear: with so many landmarks as were asked for, or exactly so on few items, about so on
    /// many. With a band of ties they stand beside the items' own.
    pub(super) fn of_kernel(
        kernel: KernelFunction,
        approx: Option<Approx>,
        items: &Features,
        rows: Cow<'a, [u32]>,
        band: Option<Band<'a>>,
        goes_on: GoesOn<'_>,
    ) -> Result<Self> {
        if !kernel.is_positive_definite() {
            let (which, remedy) = match kernel {
                KernelFunction::Poly { coef0, .. } => (
                    format!("poly kernel with coef0 {coef0}"),
                    "choose a --coef0 of at least 0, or --kernel rbf or linear",
                ),
                _ => (format!("{} kernel", kernel.name()), "choose --kernel rbf, poly or linear"),
            };
            return Err(Error::Unsupported {
                problem: format!("the {which} is not positive definite and has no features"),
                remedy: remedy.into(),
            });
        }
        let n_items = items.n_rows();
        let is_beside = band.is_some();
        let few = if is_beside { FEW_BESIDE } else { FEW_ITEMS };
        let (map, psi, is_whole) = if let Some(Approx::Nystrom(n)) = approx {
            let Chosen { map, values, .. } = Landmarks::spread(kernel, items, n, goes_on)?;
            (map, values, false)
        } else if n_items <= few {
            let Chosen { map, values, .. } = Landmarks::choose(kernel, items, n_items, goes_on)?;
            (map, values, true)
        } else {
            // Some items, evenly from all, show what all are like.
            let n_some = n_items.min(FEW_ITEMS);
            let some: Vec<usize> = (0..n_some).map(|at| at * n_items / n_some).collect();
            let map = Landmarks::choose(kernel, &items.select_rows(&some), LANDMARKS, goes_on)?.map;
            let psi = map.describe(items, goes_on)?;
            (map, psi, false)
        };
        let features = if is_beside { map.joined(items, &psi)? } else { Features::dense_of(n_items, map.len(), psi)? };
        Ok(Space {
            features: Cow::Owned(features),
            rows,
            map: Some(map),
            is_whole,
            is_final: approx.is_some(),
            is_beside,
            band,
        })
    }

    pub(super) fn features(&self) -> &Features {
        &self.features
    }

    /// How many weights of margins there are.
    pub(super) fn n_columns(&self) -> usize {
        self.features.n_cols()
    }

    /// How many weights there are.
    pub(super) fn dim(&self) -> usize {
        let context = self.band.as_ref().and_then(|band| band.context.as_ref()).map_or(0, |context| context.n_cols());
        if self.has_band() { 3 * self.n_columns() + context } else { self.n_columns() }
    }

    pub(super) fn has_band(&self) -> bool {
        self.band.is_some()
    }

    /// Landmarks that stand for more items, if they do.
    pub(super) fn n_landmarks(&self) -> Option<usize> {
        self.map.as_ref().map(Landmarks::len).filter(|_| !self.is_whole)
    }

    /// Whether there is a machine over the whole kernel, and this is not it. A band's widths are no functions of a kernel.
    pub(super) fn is_approximate(&self) -> bool {
        !self.is_whole && !self.has_band()
    }

    /// r = u/unit as a function of items.
    pub(super) fn score_function(&self, weights: &[f64], unit: f64) -> ScoreFunction {
        let weights: Vec<f64> = weights[..self.n_columns()].iter().map(|w| w / unit).collect();
        match &self.map {
            None => ScoreFunction::Linear { weights, bias: 0.0 },
            Some(map) if self.is_beside => ScoreFunction::Landmarks { map: map.clone(), weights },
            Some(map) => ScoreFunction::Kernel {
                kernel: map.kernel,
                support: map.items.clone(),
                coefficients: map.coefficients(&weights),
                bias: 0.0,
            },
        }
    }
}

/// What a pair costs as a function of its margin.
pub(super) fn rule_of(task: Task, loss: Loss) -> Rule {
    let hinge = if loss == Loss::Hinge { Hinge::Rounded(1.0) } else { Hinge::Squared };
    match (task, loss) {
        (Task::Davidson, _) => Rule::Davidson,
        (Task::Compare { .. }, Loss::Logistic) => Rule::RaoKupper,
        (Task::Compare { .. }, _) => Rule::Compare(hinge),
        (Task::Rank | Task::Rank2, Loss::Logistic) => Rule::RankLogistic,
        (Task::Rank | Task::Rank2, _) => Rule::Rank(hinge),
    }
}

/// What losses of ties and of others are multiplied with: `rank` has no ties, `rank2` counts others twice.
pub(super) fn factors_of(task: Task) -> [f64; 2] {
    match task {
        Task::Rank => [0.0, 1.0],
        Task::Rank2 => [1.0, 2.0],
        Task::Compare { .. } | Task::Davidson => [1.0, 1.0],
    }
}

/// A sum over judged pairs, wherever they are.
pub(super) trait JudgedSums: BlockSums {
    /// The best value without weights, and its β.
    fn at_zero(&mut self) -> (f64, f64);
}

impl JudgedSums for PairSums<'_> {
    fn at_zero(&mut self) -> (f64, f64) {
        PairSums::at_zero(self)
    }
}

impl JudgedSums for SpreadPairs<'_> {
    fn at_zero(&mut self) -> (f64, f64) {
        SpreadPairs::at_zero(self)
    }
}

/// Where a search in weights ended; the sum is there.
pub(super) struct InWeights {
    pub(super) weights: Vec<f64>,
    pub(super) objective: f64,
    pub(super) gap: f64,
    pub(super) steps: u64,
    pub(super) stop: Stop,
    /// Where the best dual value of a hinge is: weights, and the width it is rounded off over there.
    pub(super) bound: Option<(Vec<f64>, f64)>,
    pub(super) is_exact: bool,
    /// The hinge may have collapsed.
    pub(super) is_no_better: bool,
}

impl InWeights {
    /// Newton's method from some weights or from none. Of `plain` machines few pairs are worth the last digits.
    pub(super) fn minimise(
        sums: &mut impl JudgedSums,
        (task, loss): (Task, Loss),
        is_plain: bool,
        start: Option<Vec<f64>>,
        limits: Limits<'_>,
    ) -> Result<Self> {
        let tol = limits.tol;
        let mut found = if loss == Loss::Hinge {
            let found = smoothing::minimise(sums, start, limits);
            let gap = found.gap();
            let mut is_no_better = false;
            if matches!(task, Task::Compare { .. }) {
                let (at_zero, _) = sums.at_zero();
                let clearly = (2.0 * gap * found.primal).max(1e-6 * at_zero);
                is_no_better = found.primal >= at_zero - clearly && found.stop.is_none();
            }
            sums.go_to(&found.weights);
            InWeights {
                weights: found.weights,
                objective: found.primal,
                gap,
                steps: found.steps,
                stop: found.stop.unwrap_or(Stop::Converged),
                bound: Some(found.bound),
                is_exact: false,
                is_no_better,
            }
        } else {
            let is_quick = is_plain && sums.n_numbers() <= QUICK;
            let found =
                newton_cg::minimise(sums, start, Limits { tol: if is_quick { tol.min(EXACT) } else { tol }, ..limits });
            InWeights {
                weights: found.weights,
                objective: found.primal,
                gap: found.gap,
                steps: found.steps,
                stop: found.stop.unwrap_or(Stop::Converged),
                bound: None,
                is_exact: is_quick && found.gap <= 1e-10,
                is_no_better: false,
            }
        };
        if found.gap <= tol {
            found.stop = Stop::Converged;
        }
        let InWeights { objective, gap, weights, .. } = &found;
        if !objective.is_finite() || !gap.is_finite() || weights.iter().any(|w| !w.is_finite()) {
            return Err(Error::Numeric {
                problem: "the objective left the range of numbers".into(),
                remedy: "scale the features (--scale standard), or use a smaller C".into(),
            });
        }
        Ok(found)
    }

    /// Whether the answer without weights is to be taken instead: a search that was stopped early may stand where that is
    /// better. Then its value, its β, and its gap.
    pub(super) fn constant(&self, sums: &mut impl JudgedSums) -> Option<(f64, f64, f64)> {
        if self.stop == Stop::Converged && !self.is_no_better {
            return None;
        }
        let (at_zero, beta) = sums.at_zero();
        (at_zero < self.objective || self.is_no_better).then(|| {
            let dual = self.objective * (1.0 - self.gap);
            (at_zero, beta, (at_zero - dual) / at_zero.max(1e-12))
        })
    }
}

impl<'e> Instance<'e, '_> {
    /// What losses are multiplied with, for this task.
    fn task_costs(&self) -> Costs<'_> {
        let [tie, other] = factors_of(self.task);
        match &self.costs {
            Costs::Factors { weights, tie: of_ties, other: of_others } => {
                Costs::Factors { weights: weights.clone(), tie: tie * of_ties, other: other * of_others }
            }
            Costs::Each(costs) => {
                let factor = |k: usize| if self.data.outcomes[k] == Outcome::Tie { tie } else { other };
                Costs::Each(costs.iter().enumerate().map(|(k, cost)| factor(k) * cost).collect())
            }
        }
    }

    /// The losses as a function of weights of these features.
    pub(super) fn sums<'s>(&'s self, features: &'s Features, space: &'s Space<'_>) -> PairSums<'s> {
        let (costs, rule) = (self.task_costs(), rule_of(self.task, self.loss));
        let rows = Cow::Borrowed(&space.rows[..]);
        let capped = self.task == Task::Compare { capped: true };
        PairSums::new(self.data, features, rows, costs, rule, space.band.clone()).capped(capped)
    }

    /// Newton's method on the weights, from some or from none. `None` where the hinge may have collapsed, and that is not
    /// decided here.
    pub(super) fn solve_in_weights(&self, space: &Space<'_>, start: Option<Vec<f64>>) -> Result<Option<Solution<'e>>> {
        let mut sums = self.sums(&space.features, space);
        let start = start.filter(|start| start.len() == sums.dim());
        let is_plain = space.map.is_none() && !space.has_band();
        let found = InWeights::minimise(&mut sums, (self.task, self.loss), is_plain, start, self.limits)?;
        if found.is_no_better && !space.is_final {
            return Ok(None);
        }
        Ok(Some(told(space, &mut sums, found)))
    }

    /// Gives a solution over the functions of landmarks its gap to the minimum over all functions of the kernel.
    ///
    /// With s the scores and g the slopes of the losses L there, L(s) − s·g is a bound of L minus its slope, so that
    /// L(s) − s·g − ½g·Kg is a dual value; since L ≥ 0, so is that of any θ·g, 0 ≤ θ ≤ 1, with θ·(L(s) − s·g) in it.
    pub(super) fn measure(&self, solution: &mut Solution<'_>) -> Result<()> {
        let (Some(space), By::Weights { weights, bound, .. }) = (self.space, &solution.by) else { return Ok(()) };
        if !space.is_approximate() || self.n_ties() == self.n_pairs() {
            return Ok(()); // there is nothing to add
        }
        let items = &self.data.set.items.features;
        let units = Features::units(&(0..items.n_rows() as u32).map(Some).collect::<Vec<_>>(), items.n_rows());
        let mut sums = self.sums(&units, space);
        let weights = match bound {
            Some((weights, width)) => {
                sums.round_off(*width);
                weights
            }
            None => weights,
        };
        let scores = space.features.times(weights);
        let point = sums.go_to(&scores);
        let gain = point.meant - point.excess - dot(&scores, &point.gradient);
        let sloped: Vec<usize> = (0..scores.len()).filter(|&item| point.gradient[item] != 0.0).collect();
        let slopes: Vec<f64> = sloped.iter().map(|&item| point.gradient[item]).collect();
        let matrix = KernelMatrix::<f64>::new(self.exact.kernel(), &items.select_rows(&sloped), 0)?;
        let steps = solution.iterations();
        let goes_on = || !self.limits.is_stopped(steps, 1.0);
        let Some(product) = matrix.times_while(&slopes, &goes_on) else {
            (solution.gap, solution.stop) = (1.0, self.limits.reached(0, 1.0).unwrap_or(solution.stop));
            return Ok(());
        };
        let square = dot(&slopes, &product).max(0.0);
        let part = if gain < square { (gain / square).max(0.0) } else { 1.0 };
        let dual = part * gain - 0.5 * part * part * square;
        solution.gap = ((solution.objective - dual) / solution.objective.max(1e-12)).clamp(0.0, 1.0);
        Ok(())
    }
}

/// A search in weights as a solution; `sums` are where it ended.
pub(super) fn told<'e>(space: &Space<'_>, sums: &mut PairSums<'_>, found: InWeights) -> Solution<'e> {
    let mut solution = Solution {
        objective: found.objective,
        gap: found.gap.max(0.0),
        stop: found.stop,
        margins: Margins::OfScores(sums.scores().to_vec()),
        offsets: space.has_band().then(|| sums.offsets()),
        largest_tie_offset: sums.largest_tie_offset(),
        beta: sums.beta(),
        collapsed: false,
        is_constant: false,
        is_exact: found.is_exact && found.stop == Stop::Converged,
        by: By::Weights {
            n_support: sums.n_support(),
            weights: found.weights.clone(),
            steps: found.steps,
            bound: found.bound.clone(),
        },
    };
    if let Some((at_zero, beta, gap)) = found.constant(sums) {
        solution.is_constant = true;
        solution.margins.fill_zero();
        solution.offsets = solution.offsets.map(|offsets| vec![beta; offsets.len()]);
        solution.largest_tie_offset = beta;
        solution.objective = at_zero;
        solution.beta = solution.beta.map(|_| beta);
        solution.gap = gap;
        if let By::Weights { weights, .. } = &mut solution.by {
            weights.fill(0.0);
        }
    }
    solution
}
