//! Few pairs by the active set: where the search in duals is slow, since C is huge or many pairs say the same.

use super::pair_solution::{By, Instance, Solution};
use super::pair_weights::{InWeights, Space, told};
use crate::data::Features;
use crate::error::Result;
use crate::loss::Loss;
use crate::problem::{Anchor, BlockSums, Dual, MirroredQp, PairProblem, PairRows, Task};
use crate::progress::Stop;
use crate::solver::active_set::{self, Minimum, Terms};
use crate::solver::smo::{self, Ending, State};
use crate::solver::{Limits, smoothing};

/// The most multiplications that all steps may take, one for each variable.
const MOST_PRODUCTS: usize = 1 << 30;
/// Steps of the search in duals, for each variable, that may mend what rounding has left.
const MENDING: u64 = 10;

/// Whether variables of the dual are so few, where rows of features have so many numbers.
pub(super) fn are_few(duals: &[Dual], n_features: usize) -> bool {
    let n_slacks = duals.iter().filter(|dual| dual.shift > 0.0).count();
    let n = duals.len();
    n.saturating_mul(n).saturating_mul((n_features + n_slacks).max(1)) <= MOST_PRODUCTS
}

impl<'e> Instance<'e, '_> {
    /// The minimum in weights of features, with the terms that it is of; `None` where it does not apply or was not found.
    fn active_set(&self, problem: &PairProblem<'_>, features: &Features) -> Option<(Terms, Minimum)> {
        if !are_few(problem.duals(), features.n_cols()) {
            return None;
        }
        let terms = terms(problem, features);
        let found = active_set::minimise(&terms, self.limits)?;
        Some((terms, found))
    }

    /// The machine with a hinge in weights of the items' own features.
    pub(super) fn weights_by_active_set(&self, problem: &PairProblem<'_>, space: &Space<'_>) -> Option<Solution<'e>> {
        if self.loss != Loss::Hinge {
            return None; // smooth losses are quick in weights
        }
        let (terms, found) = self.active_set(problem, space.features())?;
        let bound = found.bound(&terms);
        let mut sums = self.sums(space.features(), space);
        sums.round_off(smoothing::LEAST_WIDTH);
        let point = sums.go_to(&found.weights);
        let objective = 0.5 * sums.square(&found.weights) + point.meant;
        let gap = (objective - bound) / objective.max(1e-12);
        let mut is_no_better = false;
        if matches!(self.task, Task::Compare { .. }) {
            let (at_zero, _) = sums.at_zero();
            is_no_better = objective >= at_zero - (2.0 * gap * objective).max(1e-6 * at_zero);
            sums.go_to(&found.weights);
        }
        let stop = if gap.abs() <= self.limits.tol { Stop::Converged } else { found.stop.unwrap_or(Stop::Stalled) };
        if stop != Stop::Converged || !objective.is_finite() {
            return None;
        }
        let n_pairs = problem.n_support_pairs(&duals_of(problem, &found.multipliers));
        let (weights, steps) = (found.weights, found.steps);
        let found = InWeights { weights, objective, gap, steps, stop, bound: None, is_exact: true, is_no_better };
        let mut solution = told(space, &mut sums, found);
        if let By::Weights { n_support, .. } = &mut solution.by {
            *n_support = n_pairs;
        }
        Some(solution)
    }

    /// The end of a search with a kernel, if its certificate meets the tolerance; the state is there then.
    pub(super) fn duals_by_active_set(&self, problem: &PairProblem<'_>, state: &mut State) -> Result<Option<Ending>> {
        let items = &self.data.set.items.features;
        if !problem.has_matrix() || !are_few(problem.duals(), items.n_rows()) {
            return Ok(None);
        }
        let rows = (0..items.n_rows() as u32).collect();
        let space = Space::of_kernel(self.exact.kernel(), None, items, rows, None, &|| true)?;
        if space.is_approximate() {
            return Ok(None);
        }
        let Some((_, found)) = self.active_set(problem, space.features()) else { return Ok(None) };
        let mut near = State::resume(problem, duals_of(problem, &found.multipliers), 1.0);
        // It ends where it begins, with the certificate, unless digits are missing.
        let limits = Limits { max_iter: MENDING * problem.duals().len() as u64, ..self.limits };
        let ending = smo::solve(problem, &mut PairRows::<f64>::new(problem, self.cache_bytes)?, &mut near, limits);
        if ending.stop != Stop::Converged {
            return Ok(None);
        }
        near.iterations += state.iterations + found.steps;
        *state = near;
        Ok(Some(ending))
    }
}

/// Multipliers of terms by pairs.
fn duals_of(problem: &PairProblem<'_>, multipliers: &[f64]) -> Vec<[f64; 2]> {
    let mut multipliers = multipliers.iter().copied();
    let mut next = || multipliers.next().unwrap_or(0.0);
    problem.duals().iter().map(|dual| [next(), if dual.mirrored { next() } else { 0.0 }]).collect()
}

/// A term for every variable of the dual, and one that keeps β ≤ −1 where that is asked for. Where a loss is squared its slack ξ
/// is a weight, too: shift^½·ξ' with ½ξ'² = cost·ξ², so that nothing of it is missed.
fn terms(problem: &PairProblem<'_>, features: &Features) -> Terms {
    let shifts =
        problem.duals().iter().flat_map(|dual| std::iter::repeat_n(dual.shift, 1 + usize::from(dual.mirrored)));
    let shifts: Vec<f64> = shifts.collect();
    let n_slacks = if shifts.iter().any(|shift| *shift > 0.0) { shifts.len() } else { 0 };
    let (dim, n_free) = (features.n_cols(), usize::from(problem.anchor() != Anchor::Zero));
    let n_weights = dim + n_slacks;
    let mut terms = Terms { rows: Vec::new(), n_weights, n_free, targets: Vec::new(), costs: Vec::new() };
    let mut add = |dual: &Dual, row: &[f64], sign: f64| {
        let at = terms.targets.len();
        terms.rows.extend(row.iter().map(|x| dual.label * sign * x));
        terms.rows.extend((0..n_slacks).map(|slack| if slack == at { dual.shift.sqrt() } else { 0.0 }));
        terms.rows.extend((0..n_free).map(|_| dual.label));
        terms.targets.push(1.0);
        terms.costs.push(dual.upper);
    };
    let (left, right) = problem.sides();
    let (mut row, mut other) = (vec![0.0; dim], vec![0.0; dim]);
    for ((dual, &left), &right) in problem.duals().iter().zip(&left).zip(&right) {
        features.copy_row(left as usize, &mut other);
        features.copy_row(right as usize, &mut row);
        row.iter_mut().zip(&other).for_each(|(x, left)| *x -= left);
        add(dual, &row, 1.0);
        if dual.mirrored {
            add(dual, &row, -1.0);
        }
    }
    if problem.anchor() == Anchor::AtMostMinusOne {
        terms.rows.extend((0..n_weights).map(|_| 0.0).chain([-1.0]));
        terms.targets.push(1.0);
        terms.costs.push(f64::INFINITY);
    }
    terms
}
