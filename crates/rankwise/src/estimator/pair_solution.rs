//! Solving one problem on pairs, and solving it again without what is to be judged.

use rayon::prelude::*;

use crate::data::{Comparisons, cross_fit_folds};
use crate::error::{Error, Result};
use crate::kernel::KernelFunction;
use crate::loss::Loss;
use crate::model::ScoreFunction;
use crate::problem::{LinearPrimal, MirroredQp, PairProblem, PairRows, Task};
use crate::progress::Stop;
use crate::solver::smo::{self, Ending, State};
use crate::solver::{Limits, newton};

/// Folds that kernel machines re-fit their threshold on.
const FOLDS: usize = 5;

/// A problem with all its numbers known.
#[derive(Clone, Copy)]
pub(super) struct Instance<'a> {
    pub(super) task: Task,
    pub(super) loss: Loss,
    pub(super) kernel: KernelFunction,
    /// Pairs with a weight above 0; features are scaled.
    pub(super) data: &'a Comparisons,
    /// C·c of every pair.
    pub(super) costs: &'a [f64],
    pub(super) limits: Limits<'a>,
    /// Memory for kernel rows.
    pub(super) cache_bytes: usize,
}

/// Its solution.
pub(super) struct Solution {
    problem: PairProblem,
    state: State,
    pub(super) objective: f64,
    pub(super) gap: f64,
    pub(super) stop: Stop,
    /// Margins right − left of the data's pairs, in units of u.
    pub(super) margins: Vec<f64>,
    /// `None` for problems without β.
    pub(super) beta: Option<f64>,
    /// The constant answer is the optimum of the hinge.
    pub(super) collapsed: bool,
    /// u = 0: nothing better was found.
    pub(super) is_constant: bool,
}

impl Solution {
    pub(super) fn iterations(&self) -> u64 {
        self.state.iterations
    }

    /// Distinct pairs with a nonzero coefficient.
    pub(super) fn n_support_pairs(&self) -> usize {
        self.problem.n_support_pairs(&self.state.duals)
    }

    /// r = u/unit as a function of items.
    pub(super) fn score_function(&self, instance: &Instance<'_>, unit: f64) -> ScoreFunction {
        let items = &instance.data.set.items.features;
        if instance.kernel == KernelFunction::Linear {
            let mut weights = self.problem.feature_weights(items, &self.state.duals);
            weights.iter_mut().for_each(|w| *w /= unit);
            return ScoreFunction::Linear { weights };
        }
        let terms = self.problem.item_coefficients(&self.state.duals);
        let rows: Vec<usize> = terms.iter().map(|t| t.0 as usize).collect();
        let coefficients = terms.iter().map(|t| t.1 / unit).collect();
        ScoreFunction::Kernel { kernel: instance.kernel, support: items.select_rows(&rows), coefficients }
    }
}

impl Instance<'_> {
    /// Solves the problem.
    pub(super) fn solve(&self) -> Result<Solution> {
        let Instance { task, kernel, data, .. } = *self;
        let items = &data.set.items.features;
        let problem = PairProblem::new(task, self.loss, kernel, items, data, |k| self.costs[k])?;
        let mut state = State::start(&problem);
        if data.n_ties() == data.n_pairs() {
            return Ok(only_ties(task, problem, state, data.n_pairs()));
        }
        let ending = match self.solve_in_weights(&problem, &mut state) {
            Some(ending) => ending,
            None => self.solve_in_duals(&problem, &mut state)?,
        };
        let certificate = ending.certificate;
        if ending.stop == Stop::Stalled && certificate.dual > 1.000_001 * problem.objective_at_zero() {
            return Err(Error::Numeric {
                problem: format!(
                    "the {} kernel is not positive definite on these data, and without bounds the dual has no optimum",
                    kernel.name()
                ),
                remedy: "use --loss hinge, another kernel, or scaled features (--scale standard)".into(),
            });
        }
        if !certificate.primal.is_finite() || !certificate.dual.is_finite() {
            return Err(Error::Numeric {
                problem: format!("the objective with the {} kernel left the range of numbers", kernel.name()),
                remedy: "scale the features (--scale standard), use a smaller C, or a positive definite kernel".into(),
            });
        }
        let mut solution = Solution {
            objective: certificate.primal,
            gap: certificate.gap(),
            stop: ending.stop,
            margins: problem.data_margins(data, &certificate.margins, &state.duals),
            beta: matches!(task, Task::Compare { .. }).then_some(certificate.beta),
            collapsed: ending.collapsed,
            is_constant: false,
            problem,
            state,
        };
        let constant = solution.problem.constant_answer();
        // A search that was stopped early may stand where the constant answer is better.
        if solution.collapsed || (solution.stop != Stop::Converged && constant.objective < solution.objective) {
            solution.is_constant = true;
            solution.state.duals.fill([0.0; 2]);
            solution.margins.fill(0.0);
            solution.objective = constant.objective;
            solution.beta = solution.beta.map(|_| constant.beta);
            solution.gap = (constant.objective - certificate.dual) / constant.objective.max(1e-12);
        }
        if (-1e-9..0.0).contains(&solution.gap) {
            solution.gap = 0.0; // rounding
        }
        Ok(solution)
    }

    /// Newton's method on the weights, for linear machines with a smooth loss. `None` where it does not apply or its
    /// certificate does not meet the tolerance: the dual search then goes on from its point.
    fn solve_in_weights(&self, problem: &PairProblem, state: &mut State) -> Option<Ending> {
        let primal = LinearPrimal::new(problem, self.kernel, self.loss, &self.data.set.items.features)?;
        let (point, steps, limit) = newton::minimise(&primal, self.limits);
        (state.duals, state.iterations) = (point.duals, steps);
        state.settle_anchor(problem);
        let certificate = problem.certify(&state.duals, state.anchor);
        let is_met = certificate.gap().abs() <= self.limits.tol;
        let stop = if is_met { Some(Stop::Converged) } else { limit };
        stop.map(|stop| Ending { certificate, stop, collapsed: false })
    }

    /// Sequential minimal optimisation: f32 rows are half the memory and twice the speed; what they cannot solve or hold,
    /// f64 rows finish.
    fn solve_in_duals(&self, problem: &PairProblem, state: &mut State) -> Result<Ending> {
        let items = &self.data.set.items.features;
        let (sides, diagonal) = (problem.sides(), problem.diagonal());
        if let Ok(mut rows) = PairRows::<f32>::new(self.kernel, items, sides, diagonal, self.cache_bytes) {
            let ending = smo::solve(problem, &mut rows, state, self.limits);
            if ending.stop != Stop::Stalled {
                return Ok(ending);
            }
        }
        let (sides, diagonal) = (problem.sides(), problem.diagonal());
        let mut rows = PairRows::<f64>::new(self.kernel, items, sides, diagonal, self.cache_bytes)?;
        Ok(smo::solve(problem, &mut rows, state, self.limits))
    }

    /// Margins of every pair by machines that have not seen it, in units of u, and which limit stopped one of them if
    /// any did. Training margins of a kernel machine are too good to choose a threshold by.
    pub(super) fn cross_fitted_margins(&self, seed: u64) -> Result<(Stop, Vec<f64>)> {
        let folds = cross_fit_folds(self.data, FOLDS, seed);
        let parts: Result<Vec<_>> = (0..FOLDS).into_par_iter().map(|fold| self.margins_of_fold(&folds, fold)).collect();
        let mut margins = vec![0.0; self.data.n_pairs()];
        let mut limited = Stop::Converged;
        for (stop, part) in parts? {
            if !matches!(stop, Stop::Converged | Stop::Stalled) {
                limited = stop;
            }
            part.into_iter().for_each(|(k, z)| margins[k] = z);
        }
        Ok((limited, margins))
    }

    /// Margins of the pairs in a fold by a machine that has seen the others.
    fn margins_of_fold(&self, folds: &[u32], fold: usize) -> Result<(Stop, Vec<(usize, f64)>)> {
        let (held, seen): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&k| folds[k] as usize == fold);
        if held.is_empty() || seen.is_empty() {
            return Ok((Stop::Converged, held.into_iter().map(|k| (k, 0.0)).collect()));
        }
        // The same total weight, so that u has the same scale.
        let (all, part): (f64, f64) = (self.costs.iter().sum(), seen.iter().map(|&k| self.costs[k]).sum());
        let costs: Vec<f64> = seen.iter().map(|&k| self.costs[k] * all / part).collect();
        let data = &self.data.select(&seen);
        let instance = Instance {
            task: if data.n_ties() == 0 { Task::Rank } else { self.task },
            data,
            costs: &costs,
            cache_bytes: self.cache_bytes / rayon::current_num_threads().min(FOLDS),
            ..*self
        };
        let solution = instance.solve()?;
        let held_set = self.data.set.select(&held);
        let scores = solution.score_function(&instance, 1.0).scores(&held_set.items.features)?;
        let margin = |at: usize| {
            let pair = held_set.pairs[at];
            scores[pair.right as usize] - scores[pair.left as usize]
        };
        Ok((solution.stop, held.iter().enumerate().map(|(at, &k)| (k, margin(at))).collect()))
    }
}

/// Nothing but ties: u = 0 and any β ≤ −1 cost nothing (`rank2` still pays for what it cannot order).
fn only_ties(task: Task, problem: PairProblem, mut state: State, n_pairs: usize) -> Solution {
    let objective = if task == Task::Rank2 { problem.constant_answer().objective } else { 0.0 };
    state.duals.fill([0.0; 2]);
    Solution {
        objective,
        gap: 0.0,
        stop: Stop::Converged,
        margins: vec![0.0; n_pairs],
        beta: matches!(task, Task::Compare { .. }).then_some(-1.0),
        collapsed: false,
        is_constant: true,
        problem,
        state,
    }
}
