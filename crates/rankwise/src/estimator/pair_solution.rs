//! Solving one problem on pairs, and solving it again without what is to be judged.

use rayon::prelude::*;

use crate::data::{Comparisons, Outcome, cross_fit_folds};
use crate::error::{Error, Result};
use crate::kernel::KernelFunction;
use crate::loss::Loss;
use crate::model::ScoreFunction;
use crate::problem::{Exact, LinearPrimal, MirroredQp, PairLosses, PairProblem, PairRows, Task};
use crate::progress::Stop;
use crate::solver::smo::{self, Ending, State};
use crate::solver::{Limits, newton, pair_newton, polish};

/// Steps of the search in duals, for every pair, within which it is worth starting with.
const QUICK: u64 = 20;
/// A gap of this share of the tolerance is where one that cannot be polished away ends.
const CLOSE_BY: f64 = 1e-3;
/// Folds that kernel machines re-fit their threshold on.
const FOLDS: usize = 5;

/// A problem with all its numbers known.
#[derive(Clone, Copy)]
pub(super) struct Instance<'e, 'a> {
    pub(super) task: Task,
    pub(super) loss: Loss,
    pub(super) exact: &'e Exact<'e>,
    /// Features are scaled.
    pub(super) data: &'a Comparisons,
    /// C·c of every pair; 0 for those that are not to be learnt from.
    pub(super) costs: &'a [f64],
    pub(super) limits: Limits<'a>,
    /// Memory for kernel rows.
    pub(super) cache_bytes: usize,
}

/// Margins of pairs by machines that have not seen them, in units of u.
pub(super) struct CrossFitted {
    pub(super) margins: Vec<f64>,
    /// Which limit stopped one of the machines, if any did.
    pub(super) stop: Stop,
    /// Whether all are where nothing but the optimum leads.
    pub(super) is_exact: bool,
}

/// How a machine stopped, whether it is exact, and its margins of pairs it has not seen.
type HeldMargins = (Stop, bool, Vec<(usize, f64)>);

/// Solutions of other problems on the same pairs that may be near.
#[derive(Clone, Copy, Default)]
pub(super) struct Start<'s> {
    pub(super) last: Option<&'s Solution<'s>>,
    /// What costs grew by since then.
    pub(super) factor: f64,
    /// The one before the last, and how much further it is from the last to here than from there to the last.
    pub(super) before: Option<&'s Solution<'s>>,
    pub(super) ahead: f64,
}

/// Its solution.
pub(super) struct Solution<'a> {
    problem: PairProblem<'a>,
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
    /// The optimum itself, whatever the search started from.
    pub(super) is_exact: bool,
}

impl Solution<'_> {
    pub(super) fn iterations(&self) -> u64 {
        self.state.iterations
    }

    /// Distinct pairs with a nonzero coefficient.
    pub(super) fn n_support_pairs(&self) -> usize {
        self.problem.n_support_pairs(&self.state.duals)
    }

    /// Margins of the data's pairs, each as if it had not been there, where one factorisation tells.
    fn left_out_margins(&self) -> Option<Vec<f64>> {
        let (problem, duals) = (&self.problem, &self.state.duals);
        (problem.has_matrix() && problem.loss() == Loss::SquaredHinge).then(|| {
            let margins = problem.margins(&problem.coefficients(duals));
            let without = pair_newton::leave_one_out(problem, &problem.at(&margins, 1.0), &margins);
            problem.data_margins(&without, duals)
        })
    }

    /// r = u/unit as a function of items.
    pub(super) fn score_function(&self, instance: &Instance<'_, '_>, unit: f64) -> ScoreFunction {
        if instance.exact.kernel() == KernelFunction::Linear {
            let mut weights = self.problem.feature_weights(&self.state.duals);
            weights.iter_mut().for_each(|w| *w /= unit);
            return ScoreFunction::Linear { weights, bias: 0.0 };
        }
        let terms = self.problem.item_coefficients(&self.state.duals);
        let rows: Vec<usize> = terms.iter().map(|t| t.0 as usize).collect();
        let coefficients = terms.iter().map(|t| t.1 / unit).collect();
        let support = instance.exact.items().select_rows(&rows);
        ScoreFunction::Kernel { kernel: instance.exact.kernel(), support, coefficients }
    }
}

impl<'e> Instance<'e, '_> {
    fn is_learnt(&self, pair: usize) -> bool {
        self.costs[pair] > 0.0
    }

    /// How many of the pairs to learn from are ties.
    pub(super) fn n_ties(&self) -> usize {
        (0..self.costs.len()).filter(|&k| self.is_learnt(k) && self.data.outcomes[k] == Outcome::Tie).count()
    }

    /// How many pairs there are to learn from.
    pub(super) fn n_pairs(&self) -> usize {
        self.costs.iter().filter(|cost| **cost > 0.0).count()
    }

    /// Solves the problem, perhaps from where others ended.
    pub(super) fn solve(&self, start: Start<'_>) -> Result<Solution<'e>> {
        let Instance { task, exact, data, .. } = *self;
        let kernel = exact.kernel();
        let problem = PairProblem::new(task, self.loss, exact, data, |k| self.costs[k]);
        let duals_of = |solution: &Solution<'_>| problem.duals_from(&solution.problem, &solution.state.duals);
        let mut state = match start.last {
            Some(last) => {
                // Bounded variables tend to grow with their bounds, others with what is still missing.
                let factor = if self.loss == Loss::Hinge { start.factor } else { 1.0 };
                State::resume(&problem, duals_of(last), factor)
            }
            None => State::start(&problem),
        };
        let ahead = start.before.filter(|_| start.ahead.is_finite()).map(|before| (duals_of(before), start.ahead));
        if self.n_ties() == self.n_pairs() {
            return Ok(only_ties(task, problem, state, data.n_pairs()));
        }
        let mut is_exact = true;
        let ending = match self
            .solve_in_weights(&problem, &mut state)
            .or_else(|| self.solve_in_pairs(&problem, &mut state, ahead))
        {
            Some(ending) => ending,
            None => {
                let (ending, is_optimum) = self.solve_in_duals(&problem, &mut state)?;
                is_exact = is_optimum || ending.collapsed;
                ending
            }
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
            margins: problem.data_margins(&certificate.margins, &state.duals),
            beta: matches!(task, Task::Compare { .. }).then_some(certificate.beta),
            collapsed: ending.collapsed,
            is_constant: false,
            is_exact: is_exact && ending.stop == Stop::Converged,
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
    fn solve_in_weights(&self, problem: &PairProblem<'_>, state: &mut State) -> Option<Ending> {
        let primal = LinearPrimal::new(problem, self.exact.kernel(), self.loss, self.exact.items())?;
        let (point, steps, limit) = newton::minimise(&primal, self.limits);
        self.certified(problem, state, point.losses.duals, steps, limit)
    }

    /// Newton's method on the coefficients of pairs, where their matrix is at hand and the loss is smooth; otherwise as
    /// above.
    fn solve_in_pairs(
        &self,
        problem: &PairProblem<'_>,
        state: &mut State,
        before: Option<(Vec<[f64; 2]>, f64)>,
    ) -> Option<Ending> {
        if !problem.has_matrix() || self.loss != Loss::SquaredHinge {
            return None;
        }
        let mut start = problem.coefficients(&state.duals);
        if let Some((before, ahead)) = before {
            let before = problem.coefficients(&before);
            start.iter_mut().zip(before).for_each(|(t, before)| *t += ahead * (*t - before));
        }
        if start.iter().all(|t| *t == 0.0) {
            // From afar, the search in duals is quicker to come near, unless it takes for ever.
            let most = (QUICK * problem.duals().len() as u64).min(self.limits.max_iter);
            let limits = Limits { max_iter: most, ..self.limits };
            let mut near = state.clone();
            match self.search_in_duals(problem, &mut near, limits) {
                Ok(ending) if ending.stop == Stop::Converged => start = problem.coefficients(&near.duals),
                Ok(ending) if ending.stop == Stop::MaxIter && most < self.limits.max_iter => {}
                // A limit of the whole, or something that Newton's method cannot mend.
                ending => {
                    *state = near;
                    return ending.ok().filter(|ending| ending.stop != Stop::Stalled);
                }
            }
        }
        let (point, steps, limit) = pair_newton::minimise(problem, start, self.limits);
        self.certified(problem, state, point.duals, steps, limit)
    }

    /// The end of a search that found these dual variables, if its certificate meets the tolerance or a limit stopped it.
    fn certified(
        &self,
        problem: &PairProblem<'_>,
        state: &mut State,
        duals: Vec<[f64; 2]>,
        steps: u64,
        limit: Option<Stop>,
    ) -> Option<Ending> {
        (state.duals, state.iterations) = (duals, steps);
        state.settle_anchor(problem);
        let certificate = problem.certify(&state.duals, state.anchor);
        let is_met = certificate.gap().abs() <= self.limits.tol;
        let stop = if is_met { Some(Stop::Converged) } else { limit };
        stop.map(|stop| Ending { certificate, stop, collapsed: false })
    }

    /// The search in duals, and whether it came to the optimum itself.
    fn solve_in_duals(&self, problem: &PairProblem<'_>, state: &mut State) -> Result<(Ending, bool)> {
        let mut ending = self.search_in_duals(problem, state, self.limits)?;
        // Where the matrix is at hand, the optimum itself is not far.
        let mut limits = self.limits;
        while problem.has_matrix() && ending.stop == Stop::Converged && !ending.collapsed {
            if let Some(duals) = polish::polish(problem, &state.duals) {
                let mut polished = State::resume(problem, duals, 1.0);
                polished.iterations = state.iterations;
                let certificate = problem.certify(&polished.duals, polished.anchor);
                if certificate.gap().abs() <= ending.certificate.gap().abs() {
                    (*state, ending.certificate) = (polished, certificate);
                    return Ok((ending, true));
                }
            }
            limits.tol *= 0.1;
            if limits.tol < CLOSE_BY * self.limits.tol {
                return Ok((ending, true)); // so close by that the rest does not show
            }
            let mut nearer = state.clone();
            let closer = self.search_in_duals(problem, &mut nearer, limits)?;
            if closer.stop != Stop::Converged {
                break;
            }
            (*state, ending) = (nearer, closer);
        }
        Ok((ending, false))
    }

    /// Sequential minimal optimisation: f32 rows are half the memory and twice the speed; what they cannot solve or hold,
    /// f64 rows finish.
    fn search_in_duals(&self, problem: &PairProblem<'_>, state: &mut State, limits: Limits<'_>) -> Result<Ending> {
        if let Ok(mut rows) = PairRows::<f32>::new(problem, self.cache_bytes) {
            let ending = smo::solve(problem, &mut rows, state, limits);
            if ending.stop != Stop::Stalled {
                return Ok(ending);
            }
        }
        let mut rows = PairRows::<f64>::new(problem, self.cache_bytes)?;
        Ok(smo::solve(problem, &mut rows, state, limits))
    }

    /// Margins of every pair by machines that have not seen it: estimates of leaving one out where they are to be had, folds
    /// elsewhere. Training margins of a kernel machine are too good to choose a threshold by.
    pub(super) fn cross_fitted_margins(&self, solution: &Solution<'_>, seed: u64) -> Result<CrossFitted> {
        let learnt: Vec<usize> = (0..self.costs.len()).filter(|&k| self.is_learnt(k)).collect();
        let mut data = self.data.select(&learnt);
        // One group alone would leave nobody to learn from.
        data.groups = data.groups.filter(|groups| groups.iter().any(|group| *group != groups[0]));
        if data.groups.is_none()
            && let Some(margins) = solution.left_out_margins()
        {
            return Ok(CrossFitted { margins, stop: Stop::Converged, is_exact: solution.is_exact });
        }
        let folds = cross_fit_folds(&data, FOLDS, seed);
        let parts: Result<Vec<_>> = (0..FOLDS)
            .into_par_iter()
            .map(|fold| {
                let held = learnt.iter().zip(&folds).filter(|(_, of)| **of as usize == fold).map(|(&k, _)| k);
                self.margins_of(held.collect(), solution)
            })
            .collect();
        let mut margins = vec![0.0; self.data.n_pairs()];
        let (mut limited, mut is_exact) = (Stop::Converged, true);
        for (stop, exactly, part) in parts? {
            if !matches!(stop, Stop::Converged | Stop::Stalled) {
                limited = stop;
            }
            is_exact &= exactly;
            part.into_iter().for_each(|(k, z)| margins[k] = z);
        }
        Ok(CrossFitted { margins, stop: limited, is_exact })
    }

    /// Margins of pairs by a machine that has seen the others.
    fn margins_of(&self, held: Vec<usize>, solution: &Solution<'_>) -> Result<HeldMargins> {
        let mut costs = self.costs.to_vec();
        held.iter().for_each(|&k| costs[k] = 0.0);
        let (all, part): (f64, f64) = (self.costs.iter().sum(), costs.iter().sum());
        if held.is_empty() || part == 0.0 {
            return Ok((Stop::Converged, true, held.into_iter().map(|k| (k, 0.0)).collect()));
        }
        // The same total weight, so that u has the same scale.
        let factor = all / part;
        costs.iter_mut().for_each(|cost| *cost *= factor);
        let mut instance = Instance {
            costs: &costs,
            cache_bytes: self.cache_bytes / rayon::current_num_threads().min(FOLDS),
            ..*self
        };
        if instance.n_ties() == 0 {
            instance.task = Task::Rank;
        }
        let solution = instance.solve(Start { last: Some(solution), factor, ..Start::default() })?;
        let margins = held.into_iter().map(|k| (k, solution.margins[k])).collect();
        Ok((solution.stop, solution.is_exact, margins))
    }
}

/// Nothing but ties: u = 0 and any β ≤ −1 cost nothing (`rank2` still pays for what it cannot order).
fn only_ties(task: Task, problem: PairProblem<'_>, mut state: State, n_pairs: usize) -> Solution<'_> {
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
        is_exact: true,
        problem,
        state,
    }
}

#[cfg(test)]
mod tests;
