//! Solving one problem on pairs, and solving it again without what is to be judged.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::few_pairs::are_few;
use super::pair_weights::Space;
use crate::data::{Comparisons, Outcome, cross_fit_folds};
use crate::error::{Error, Result};
use crate::kernel::{ItemRows, KernelFunction};
use crate::loss::Loss;
use crate::model::ScoreFunction;
use crate::problem::{Certificate, Costs, Exact, MirroredQp, PairLosses, PairProblem, PairRows, Task};
use crate::progress::Stop;
use crate::solver::smo::{self, Ending, State};
use crate::solver::smoothing::sound_bound;
use crate::solver::{Limits, pair_newton, polish};

/// Steps of the search in duals, for every pair, within which it is worth starting with.
const QUICK: u64 = 20;
/// Steps for every dual variable, or numbers that steps go over, after which weights of features are tried instead.
const SLOW: u64 = 200;
const SLOW_NUMBERS: u64 = 400_000_000;
/// Steps for every dual variable after which the active set is tried instead, where pairs are few.
const SLOW_OF_FEW: u64 = 1000;
/// A gap of this share of the tolerance is where one that cannot be polished away ends.
const CLOSE_BY: f64 = 1e-3;
/// Numbers that steps from there to a smaller tolerance may read.
const CLOSER_NUMBERS: u64 = 1 << 28;
/// Folds that kernel machines re-fit their threshold on.
const FOLDS: usize = 5;

/// A problem with all its numbers known.
#[derive(Clone, Copy)]
pub(super) struct Instance<'e, 'a> {
    pub(super) task: Task,
    pub(super) loss: Loss,
    /// The problem in dual variables.
    pub(super) exact: &'e WhenNeeded<'e>,
    /// What to solve it in instead, where that is better.
    pub(super) space: Option<&'a Space<'a>>,
    /// Features are scaled.
    pub(super) data: &'a Comparisons,
    /// C·c of every pair; 0 for those that are not to be learnt from.
    pub(super) costs: &'a Costs<'a>,
    pub(super) limits: Limits<'a>,
    /// Memory for kernel rows.
    pub(super) cache_bytes: usize,
}

/// A kernel on the items of given pairs, made when it is first asked for.
pub(crate) struct WhenNeeded<'a> {
    kernel: KernelFunction,
    loss: Loss,
    data: &'a Comparisons,
    made: OnceLock<Exact<'a>>,
}

impl<'a> WhenNeeded<'a> {
    pub(super) fn new(kernel: KernelFunction, loss: Loss, data: &'a Comparisons) -> Self {
        WhenNeeded { kernel, loss, data, made: OnceLock::new() }
    }

    /// One that is there already.
    pub(super) fn made(exact: Exact<'a>, data: &'a Comparisons) -> Self {
        WhenNeeded { kernel: exact.kernel(), loss: Loss::SquaredHinge, data, made: OnceLock::from(exact) }
    }

    pub(super) fn kernel(&self) -> KernelFunction {
        self.kernel
    }

    pub(super) fn get(&self) -> Result<&Exact<'a>> {
        if let Some(exact) = self.made.get() {
            return Ok(exact);
        }
        let exact = Exact::new(self.kernel, &[self.loss], self.data, self.data.n_pairs(), &ItemRows::none())?;
        Ok(self.made.get_or_init(|| exact))
    }
}

/// Margins of pairs by machines that have not seen them, in units of u.
#[derive(Clone)]
pub(super) struct CrossFitted {
    pub(super) margins: Vec<f64>,
    /// Their tie offsets, where these depend on the pair.
    pub(super) offsets: Option<Vec<f64>>,
    /// Which limit stopped one of the machines, if any did.
    pub(super) stop: Stop,
    /// Whether all are where nothing but the optimum leads.
    pub(super) is_exact: bool,
}

/// How a machine stopped, whether it is exact, and its margins of pairs it has not seen.
type HeldMargins = (Stop, bool, Vec<(usize, f64, f64)>);

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
    pub(super) by: By<'a>,
    pub(super) objective: f64,
    pub(super) gap: f64,
    pub(super) stop: Stop,
    /// Margins right − left of the data's pairs, in units of u.
    pub(super) margins: Margins,
    /// β + band of these pairs, where it depends on the pair.
    pub(super) offsets: Option<Vec<f64>>,
    /// The largest β + band of a tie that was learnt from.
    pub(super) largest_tie_offset: f64,
    /// `None` for problems without β.
    pub(super) beta: Option<f64>,
    /// The constant answer is the optimum of the hinge.
    pub(super) collapsed: bool,
    /// u = 0: nothing better was found.
    pub(super) is_constant: bool,
    /// The optimum itself, whatever the search started from.
    pub(super) is_exact: bool,
}

/// Margins of the data's pairs.
pub(super) enum Margins {
    /// One for each.
    Each(Vec<f64>),
    /// Differences of the items' scores: of many pairs there may be few.
    OfScores(Vec<f64>),
}

impl Margins {
    /// Of a pair of the data.
    pub(super) fn of(&self, data: &Comparisons, pair: usize) -> f64 {
        match self {
            Margins::Each(margins) => margins[pair],
            Margins::OfScores(scores) => {
                let pair = data.set.pairs[pair];
                scores[pair.right as usize] - scores[pair.left as usize]
            }
        }
    }

    pub(super) fn fill_zero(&mut self) {
        let (Margins::Each(numbers) | Margins::OfScores(numbers)) = self;
        numbers.fill(0.0);
    }
}

/// How a solution is known.
pub(super) enum By<'a> {
    /// By dual variables of pairs.
    Duals { problem: PairProblem<'a>, state: State },
    /// By weights of features, then of the band.
    Weights {
        weights: Vec<f64>,
        steps: u64,
        /// Pairs with a nonzero slope.
        n_support: usize,
        /// Where the best dual value of a hinge is: weights, and the width it is rounded off over there.
        bound: Option<(Vec<f64>, f64)>,
    },
}

impl Solution<'_> {
    /// All scores are 0, with this objective, gap and β; whose margins these are is left to be said.
    pub(super) fn constant((objective, gap, beta): (f64, f64, f64), dim: usize, has_beta: bool) -> Self {
        Solution {
            objective,
            gap,
            stop: Stop::Converged,
            margins: Margins::Each(Vec::new()),
            offsets: None,
            largest_tie_offset: beta,
            beta: has_beta.then_some(beta),
            collapsed: false,
            is_constant: true,
            is_exact: true,
            by: By::Weights { weights: vec![0.0; dim], steps: 0, n_support: 0, bound: None },
        }
    }

    pub(super) fn iterations(&self) -> u64 {
        match &self.by {
            By::Duals { state, .. } => state.iterations,
            By::Weights { steps, .. } => *steps,
        }
    }

    /// Distinct pairs with a nonzero coefficient.
    pub(super) fn n_support_pairs(&self) -> usize {
        match &self.by {
            By::Duals { problem, state } => problem.n_support_pairs(&state.duals),
            By::Weights { n_support, .. } => *n_support,
        }
    }

    /// Margins of the data's pairs, each as if it had not been there, where one factorisation tells.
    fn left_out_margins(&self) -> Option<Vec<f64>> {
        let By::Duals { problem, state: State { duals, .. } } = &self.by else { return None };
        (problem.has_matrix() && problem.loss() == Loss::SquaredHinge).then(|| {
            let margins = problem.margins(&problem.coefficients(duals));
            let without = pair_newton::leave_one_out(problem, &problem.at(&margins, 1.0), &margins);
            problem.data_margins(&without, duals)
        })
    }

    /// r = u/unit as a function of items.
    pub(super) fn score_function(&self, instance: &Instance<'_, '_>, unit: f64) -> ScoreFunction {
        let (problem, state) = match (&self.by, instance.space) {
            (By::Duals { problem, state }, _) => (problem, state),
            (By::Weights { weights, .. }, Some(space)) => return space.score_function(weights, unit),
            // Nothing but ties: all scores are 0.
            (By::Weights { .. }, None) if instance.exact.kernel() != KernelFunction::Linear => {
                let support = instance.data.set.items.features.select_rows(&[]);
                return ScoreFunction::Kernel {
                    kernel: instance.exact.kernel(),
                    support,
                    coefficients: Vec::new(),
                    bias: 0.0,
                };
            }
            (By::Weights { weights, .. }, None) => {
                return ScoreFunction::Linear { weights: weights.iter().map(|w| w / unit).collect(), bias: 0.0 };
            }
        };
        if instance.exact.kernel() == KernelFunction::Linear {
            let mut weights = problem.feature_weights(&state.duals);
            weights.iter_mut().for_each(|w| *w /= unit);
            return ScoreFunction::Linear { weights, bias: 0.0 };
        }
        let terms = problem.item_coefficients(&state.duals);
        let rows: Vec<usize> = terms.iter().map(|t| t.0 as usize).collect();
        let coefficients = terms.iter().map(|t| t.1 / unit).collect();
        let support = instance.data.set.items.features.select_rows(&rows);
        ScoreFunction::Kernel { kernel: instance.exact.kernel(), support, coefficients, bias: 0.0 }
    }
}

impl<'e> Instance<'e, '_> {
    pub(super) fn is_learnt(&self, pair: usize) -> bool {
        self.costs.of(pair, self.data.outcomes[pair]) > 0.0
    }

    /// How many of the pairs to learn from are ties.
    pub(super) fn n_ties(&self) -> usize {
        (0..self.data.n_pairs()).filter(|&k| self.is_learnt(k) && self.data.outcomes[k] == Outcome::Tie).count()
    }

    /// How many pairs there are to learn from.
    pub(super) fn n_pairs(&self) -> usize {
        (0..self.data.n_pairs()).filter(|&k| self.is_learnt(k)).count()
    }

    /// Solves the problem, perhaps from where others ended.
    pub(super) fn solve(&self, start: Start<'_>) -> Result<Solution<'e>> {
        if self.n_ties() == self.n_pairs() {
            return self.only_ties();
        }
        if let Some(space) = self.space {
            let from = match start.last.map(|last| &last.by) {
                Some(By::Weights { weights, .. }) => Some(weights.clone()),
                _ => None,
            };
            if let Some(solution) = self.solve_in_weights(space, from)? {
                return Ok(solution);
            }
        }
        let Instance { task, data, .. } = *self;
        let exact = self.exact.get()?;
        let kernel = exact.kernel();
        let problem = PairProblem::new(task, self.loss, exact, data, |k| self.costs.of(k, data.outcomes[k]));
        let duals_of = |solution: &Solution<'_>| match &solution.by {
            By::Duals { problem: other, state } => Some(problem.duals_from(other, &state.duals)),
            By::Weights { .. } => None,
        };
        let mut state = match start.last.and_then(duals_of) {
            Some(duals) => {
                // Bounded variables tend to grow with their bounds, others with what is still missing.
                let factor = if self.loss == Loss::Hinge { start.factor } else { 1.0 };
                State::resume(&problem, duals, factor)
            }
            None => State::start(&problem),
        };
        let ahead =
            start.before.filter(|_| start.ahead.is_finite()).and_then(duals_of).map(|duals| (duals, start.ahead));
        let mut is_exact = true;
        let ending = match self.solve_in_pairs(&problem, &mut state, ahead) {
            Some(ending) => ending,
            None => {
                let mut quick = None;
                if let Some(limits) = self.quick_limits(&problem) {
                    let ending = self.search_in_duals(&problem, &mut state, limits)?;
                    let is_slow = matches!(ending.stop, Stop::MaxIter | Stop::Stalled);
                    quick = match is_slow {
                        true if kernel != KernelFunction::Linear => self.duals_by_active_set(&problem, &mut state)?,
                        true => match self.better_in_weights(&problem, &ending.certificate)? {
                            Some(found) => return Ok(found),
                            None => None,
                        },
                        false => Some(ending),
                    };
                }
                let (ending, is_optimum) = self.solve_in_duals(&problem, &mut state, quick)?;
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
            margins: Margins::Each(problem.data_margins(&certificate.margins, &state.duals)),
            offsets: None,
            largest_tie_offset: certificate.beta,
            beta: matches!(task, Task::Compare { .. }).then_some(certificate.beta),
            collapsed: ending.collapsed,
            is_constant: false,
            is_exact: is_exact && ending.stop == Stop::Converged,
            by: By::Duals { problem, state },
        };
        let By::Duals { problem, state } = &mut solution.by else { return Ok(solution) };
        let constant = problem.constant_answer();
        // A search that was stopped early may stand where the constant answer is better.
        if solution.collapsed || (solution.stop != Stop::Converged && constant.objective < solution.objective) {
            solution.is_constant = true;
            state.duals.fill([0.0; 2]);
            solution.margins.fill_zero();
            solution.objective = constant.objective;
            solution.beta = solution.beta.map(|_| constant.beta);
            solution.gap = (constant.objective - certificate.dual) / constant.objective.max(1e-12);
        }
        self.settle_for_weights(&mut solution, certificate.dual);
        if (-1e-9..0.0).contains(&solution.gap) {
            solution.gap = 0.0; // rounding
        }
        // A dual value below 0 says nothing.
        solution.gap = solution.gap.min(1.0);
        Ok(solution)
    }

    /// How long to search for coefficients of pairs where there is another way: weights of features, or the active set.
    fn quick_limits(&self, problem: &PairProblem<'_>) -> Option<Limits<'_>> {
        let n = problem.duals().len() as u64;
        let most = (SLOW * n).max(SLOW_NUMBERS / n.max(1));
        let is_linear = self.exact.kernel() == KernelFunction::Linear;
        let is_few = problem.has_matrix() && are_few(problem.duals(), self.data.set.items.n_items());
        let most = if is_few { most.min(SLOW_OF_FEW * n) } else { most };
        ((is_linear || is_few) && most < self.limits.max_iter).then_some(Limits { max_iter: most, ..self.limits })
    }

    /// The machine in weights of the items' own features, if it meets the tolerance or is better than what coefficients of
    /// pairs have come to: these are slow, and lose their digits, where C or features are huge.
    fn better_in_weights(&self, problem: &PairProblem<'_>, known: &Certificate) -> Result<Option<Solution<'e>>> {
        let items = &self.data.set.items;
        let space = Space::linear(&items.features, (0..items.n_items() as u32).collect(), None).decided();
        let found = match self.weights_by_active_set(problem, &space) {
            Some(found) => Some(found),
            None => self.solve_in_weights(&space, None)?,
        };
        let better = found.filter(|found| found.stop == Stop::Converged || found.objective < known.primal);
        Ok(better.map(|found| {
            let objective = found.objective;
            let dual = sound_bound(known.dual, objective).max(objective * (1.0 - found.gap));
            let gap = (objective - dual) / objective.max(1e-12);
            let is_met = gap <= self.limits.tol;
            let stop = if is_met { Stop::Converged } else { found.stop };
            // Where no weights are better than none, none are for any C.
            let collapsed = found.is_constant && is_met && matches!(self.task, Task::Compare { .. });
            Solution { gap, stop, collapsed, ..found }
        }))
    }

    /// Newton's method on the coefficients of pairs, where their matrix is at hand and the loss is smooth. `None` where it does not
    /// apply or its certificate does not meet the tolerance: the dual search then goes on from its point.
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
        // Where C is huge, rounding leaves a sum of labels and variables that no bound may rest on.
        *state = State::resume(problem, duals, 1.0);
        state.iterations = steps;
        let certificate = problem.certify(&state.duals, state.anchor);
        let is_met = certificate.gap().abs() <= self.limits.tol;
        let stop = if is_met { Some(Stop::Converged) } else { limit };
        stop.map(|stop| Ending { certificate, stop, collapsed: false })
    }

    /// The search in duals, perhaps from where a first one ended, and whether it came to the optimum itself.
    fn solve_in_duals(
        &self,
        problem: &PairProblem<'_>,
        state: &mut State,
        first: Option<Ending>,
    ) -> Result<(Ending, bool)> {
        let mut ending = match first {
            Some(ending) => ending,
            None => self.search_in_duals(problem, state, self.limits)?,
        };
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
            // What that is worth is a digit, not any time.
            let most = nearer.iterations + CLOSER_NUMBERS / problem.duals().len().max(1) as u64;
            let limits = Limits { max_iter: limits.max_iter.min(most), ..limits };
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
        let learnt: Vec<usize> = (0..self.data.n_pairs()).filter(|&k| self.is_learnt(k)).collect();
        let mut data = self.data.select(&learnt);
        // One group alone would leave nobody to learn from.
        data.groups = data.groups.filter(|groups| groups.iter().any(|group| *group != groups[0]));
        if data.groups.is_none()
            && let Some(margins) = solution.left_out_margins()
        {
            return Ok(CrossFitted { margins, offsets: None, stop: Stop::Converged, is_exact: solution.is_exact });
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
        let mut offsets = solution.offsets.as_ref().map(|_| vec![0.0; self.data.n_pairs()]);
        let (mut limited, mut is_exact) = (Stop::Converged, true);
        for (stop, exactly, part) in parts? {
            if !matches!(stop, Stop::Converged | Stop::Stalled) {
                limited = stop;
            }
            is_exact &= exactly;
            for (k, z, b) in part {
                margins[k] = z;
                offsets.iter_mut().for_each(|offsets| offsets[k] = b);
            }
        }
        Ok(CrossFitted { margins, offsets, stop: limited, is_exact })
    }

    /// Margins of pairs by a machine that has seen the others.
    fn margins_of(&self, held: Vec<usize>, solution: &Solution<'_>) -> Result<HeldMargins> {
        let mut costs: Vec<f64> = (0..self.data.n_pairs()).map(|k| self.costs.of(k, self.data.outcomes[k])).collect();
        let all: f64 = costs.iter().sum();
        held.iter().for_each(|&k| costs[k] = 0.0);
        let part: f64 = costs.iter().sum();
        if held.is_empty() || part == 0.0 {
            return Ok((Stop::Converged, true, held.into_iter().map(|k| (k, 0.0, 0.0)).collect()));
        }
        // The same total weight, so that u has the same scale.
        let factor = all / part;
        costs.iter_mut().for_each(|cost| *cost *= factor);
        let costs = Costs::Each(costs.into());
        let mut instance = Instance {
            costs: &costs,
            cache_bytes: self.cache_bytes / rayon::current_num_threads().min(FOLDS),
            ..*self
        };
        if instance.n_ties() == 0 {
            instance.task = Task::Rank;
        }
        let solution = instance.solve(Start { last: Some(solution), factor, ..Start::default() })?;
        let offset = |k: usize| solution.offsets.as_ref().map_or(0.0, |offsets| offsets[k]);
        let margins = held.into_iter().map(|k| (k, solution.margins.of(self.data, k), offset(k))).collect();
        Ok((solution.stop, solution.is_exact, margins))
    }

    /// Nothing but ties: u = 0 and any β ≤ −1 cost nothing (`rank2` still pays for what it cannot order; probabilities never
    /// quite reach 1).
    fn only_ties(&self) -> Result<Solution<'e>> {
        let cost: f64 = (0..self.data.n_pairs()).map(|k| self.costs.of(k, Outcome::Tie)).sum();
        let (objective, gap, beta) = of_only_ties(self.task, self.loss, cost, self.n_ties());
        let dim = self.space.map_or(self.data.set.items.features.n_cols(), Space::dim);
        let has_beta = matches!(self.task, Task::Compare { .. } | Task::Davidson);
        let mut solution = Solution::constant((objective, gap, beta), dim, has_beta);
        solution.margins = Margins::OfScores(vec![0.0; self.data.set.items.n_items()]);
        solution.offsets = self.space.filter(|space| space.has_band()).map(|_| vec![beta; self.data.n_pairs()]);
        Ok(solution)
    }
}

/// The objective, its gap and β where so many ties with these costs are all there is.
pub(super) fn of_only_ties(task: Task, loss: Loss, cost: f64, n_ties: usize) -> (f64, f64, f64) {
    // As likely as can be said after so many: with certainty as the limit, the least value is 0.
    let odds = 2.0 * (1.0 + n_ties as f64);
    match (task, loss) {
        (Task::Rank2, _) => (2.0 * cost * loss.value(1.0), 0.0, -1.0),
        (Task::Davidson, _) => (cost * (2.0 / odds).ln_1p(), 1.0, odds.ln()),
        (Task::Compare { .. }, Loss::Logistic) => {
            (cost * (2.0 * (1.0 / odds).ln_1p() - (-1.0 / (odds * odds)).ln_1p()), 1.0, -odds.ln())
        }
        _ => (0.0, 0.0, -1.0),
    }
}

#[cfg(test)]
mod tests;
