//! The hard margin on judged pairs: the shortest u, with a β, that leave no loss, or the answer that there is none.
//!
//!   min ½‖u‖²   with   β + z ≥ 1 for non-ties, β + |z| ≤ −1 for ties        (Venuto et al., (9) and (12))
//!
//! It is the squared hinge with growing C between two bounds that meet. With a the least margin of a non-tie and b the largest
//! of a tie, (a − b)/2 is the lead by which u is to be divided, and β = −(a + b)/(a − b) then. Dual variables α ≥ 0 with
//! Σ y·α = 0 bound the optimum from below by (Σα)²/(2‖Σ y·α·Φ‖²), and prove that there is none where that grows beyond all
//! measure. `rank` has neither β nor ties.

use std::collections::HashMap;

use super::hard_items::unknown;
use super::item_ranker;
use super::pair_solution::{By, Instance, Margins, Solution, Start};
use super::pair_weights::Space;
use crate::data::{Comparisons, Features, Outcome};
use crate::error::{Error, Result};
use crate::math::dot;
use crate::problem::{BlockSums, Costs, MirroredQp, PairLosses, PairProblem, Task};
use crate::progress::Stop;
use crate::solver::Limits;
use crate::solver::hard_margin::{self, GROWTH, MOST_MINIMA, NO_LEAD, Separation};
use crate::solver::smo::State;

/// Minima one after the other that did not come near enough, after which none will.
const MOST_STALLED: usize = 3;
/// Pairs that tell how much two sides usually differ.
const TELLING_PAIRS: usize = 1024;
/// Dual variables may miss their balance by this share of their sum, which is rounding.
const BALANCED: f64 = 1e-9;

/// The least margin of a non-tie and the largest of a tie that is learnt from.
pub(super) struct Ends {
    pub(super) least: f64,
    pub(super) largest_tie: f64,
}

impl Ends {
    pub(super) fn of(instance: &Instance<'_, '_>, margins: &Margins) -> Self {
        let mut ends = Ends { least: f64::INFINITY, largest_tie: 0.0 };
        let data = instance.data;
        for k in (0..data.n_pairs()).filter(|&k| instance.is_learnt(k)) {
            let z = margins.of(data, k);
            match data.outcomes[k] {
                Outcome::Tie => ends.largest_tie = ends.largest_tie.max(z.abs()),
                outcome => ends.least = ends.least.min(f64::from(outcome.sign()) * z),
            }
        }
        ends
    }

    /// What u is to be divided by.
    fn lead(&self, has_beta: bool) -> f64 {
        if has_beta { 0.5 * (self.least - self.largest_tie) } else { self.least }
    }

    /// β for u with a lead of 1.
    fn beta(&self) -> f64 {
        -(self.least + self.largest_tie) / (self.least - self.largest_tie)
    }
}

impl<'e> Instance<'e, '_> {
    /// The hard margin. The instance has the squared hinge, costs of 1 and a β that is not capped: no tie allows for more.
    pub(super) fn solve_hard(&self) -> Result<Solution<'e>> {
        if self.n_ties() == self.n_pairs() {
            return self.solve(Start::default());
        }
        if let Some(why) = contradiction(self.data, self.has_beta()) {
            return Err(self.not_separable(why));
        }
        match self.space {
            Some(space) => self.separate_in_weights(space),
            None => self.separate_in_duals(),
        }
    }

    pub(super) fn has_beta(&self) -> bool {
        matches!(self.task, Task::Compare { .. })
    }

    fn separate_in_weights(&self, space: &Space<'_>) -> Result<Solution<'e>> {
        let unit = usual_difference(self.data, space.features());
        item_ranker::Solution::check_unit(unit, &self.data.set.items.features)?;
        if !unit.is_normal() {
            return Err(self.no_margin(0.0, unit));
        }
        let mut sums = self.sums(space.features(), space);
        match hard_margin::separate(&mut sums, None, unit, self.limits) {
            Separation::Found { weights, objective, gap, steps, stop } => {
                let n_support = sums.n_support();
                sums.go_to(&weights);
                let margins = Margins::OfScores(sums.scores().to_vec());
                let by = By::Weights { weights, steps, n_support, bound: None };
                Ok(self.hard_solution(by, margins, objective, gap, stop))
            }
            Separation::None { largest_lead } => Err(self.no_margin(largest_lead, unit)),
            Separation::Unknown(stop) => Err(unknown(stop)),
        }
    }

    /// The same with coefficients of pairs, where a kernel has no features at hand.
    fn separate_in_duals(&self) -> Result<Solution<'e>> {
        let all = PairProblem::new(self.task, self.loss, self.exact.get()?, self.data, |_| 1.0);
        let squares = all.diagonal();
        let unit = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        item_ranker::Solution::check_unit(unit, &self.data.set.items.features)?;
        if !unit.is_normal() {
            return Err(self.no_margin(0.0, unit));
        }
        let (mut c, mut steps, mut largest_lead) = (1.0 / (unit * unit), 0, f64::INFINITY);
        let mut last: Option<Solution<'e>> = None;
        let mut best: Option<Found> = None;
        let (mut limit, mut n_stalled) = (None, 0);
        for _ in 0..MOST_MINIMA {
            let costs = Costs::Factors { weights: None, tie: c, other: c };
            let max_iter = self.limits.max_iter.saturating_sub(steps);
            let limits = Limits { tol: (0.01 * self.limits.tol).max(1e-12), max_iter, ..self.limits };
            let inner = Instance { costs: &costs, limits, ..*self };
            let solution = inner.solve(Start { last: last.as_ref(), factor: 1.0, ..Start::default() })?;
            steps += solution.iterations();
            limit = Some(solution.stop).filter(|stop| !matches!(stop, Stop::Converged | Stop::Stalled));
            if let Some(found) = self.found(&solution) {
                largest_lead = largest_lead.min(found.largest_lead);
                if found.lead > 0.0 && best.as_ref().is_none_or(|best| found.objective() < best.objective()) {
                    best = Some(found);
                }
                if best.as_ref().is_some_and(|best| best.gap(largest_lead) <= self.limits.tol) {
                    break;
                }
            }
            if best.is_none() && largest_lead <= NO_LEAD * unit {
                return Err(self.no_margin(largest_lead, unit));
            }
            // Digits that are missing here are missing with a larger C, too.
            n_stalled = if solution.stop == Stop::Stalled { n_stalled + 1 } else { 0 };
            last = Some(solution);
            if limit.is_some() || n_stalled >= MOST_STALLED {
                break;
            }
            c *= GROWTH;
        }
        let Some(found) = best else { return Err(unknown(limit.unwrap_or(Stop::Stalled))) };
        let (objective, gap) = (found.objective(), found.gap(largest_lead));
        let stop = (gap > self.limits.tol).then_some(limit.unwrap_or(Stop::Stalled));
        let duals: Vec<[f64; 2]> = found.duals.iter().map(|a| a.map(|a| a / found.lead)).collect();
        let margins = all.margins(&all.coefficients(&duals));
        let margins = Margins::Each(all.data_margins(&margins, &duals));
        let by = By::Duals { problem: all, state: State { duals, anchor: 0.0, iterations: steps } };
        Ok(self.hard_solution(by, margins, objective, gap, stop))
    }

    /// What the minimum for one C says of the hard margin.
    fn found(&self, solution: &Solution<'_>) -> Option<Found> {
        let By::Duals { problem, state } = &solution.by else { return None };
        let duals = &state.duals;
        let coefficients = problem.coefficients(duals);
        let margins = problem.margins(&coefficients);
        let (mut total, mut balance) = (0.0, 0.0);
        for (dual, a) in problem.duals().iter().zip(duals) {
            total += a[0] + a[1];
            balance += dual.label * (a[0] + a[1]);
        }
        if total <= 0.0 || (self.has_beta() && balance.abs() > BALANCED * total) {
            return None;
        }
        let square = dot(&coefficients, &margins).max(0.0);
        let ends = Ends::of(self, &Margins::Each(problem.data_margins(&margins, duals)));
        let lead = ends.lead(self.has_beta());
        Some(Found { duals: duals.clone(), lead, square, largest_lead: square.sqrt() / total })
    }

    fn hard_solution(
        &self,
        by: By<'e>,
        margins: Margins,
        objective: f64,
        gap: f64,
        stop: Option<Stop>,
    ) -> Solution<'e> {
        let beta = self.has_beta().then(|| Ends::of(self, &margins).beta());
        Solution {
            by,
            objective,
            gap,
            stop: stop.unwrap_or(Stop::Converged),
            margins,
            offsets: None,
            largest_tie_offset: beta.unwrap_or(0.0),
            beta,
            collapsed: false,
            is_constant: false,
            is_exact: false,
        }
    }

    /// No u of norm 1 has a lead above this.
    fn no_margin(&self, largest_lead: f64, unit: f64) -> Error {
        let least_norm = 1.0 / largest_lead.max(f64::MIN_POSITIVE);
        self.not_separable(format!(
            "the norm of u would be above {least_norm:.1e} where the two sides of a pair usually differ by {unit:.1e}"
        ))
    }

    fn not_separable(&self, why: String) -> Error {
        let what = if self.has_beta() {
            "no scores give every pair that is no tie a larger difference than every tie"
        } else {
            "no scores put every pair in order"
        };
        Error::NotSeparable {
            problem: format!("not separable: {what} ({why})"),
            remedy: "choose a finite C, which allows for errors, or a kernel with more room".into(),
            items: self.data.set.items.n_items(),
        }
    }
}

/// A minimum of the squared hinge, on the way.
struct Found {
    duals: Vec<[f64; 2]>,
    lead: f64,
    /// ‖u‖²
    square: f64,
    /// No u of norm 1 has a larger one.
    largest_lead: f64,
}

impl Found {
    fn objective(&self) -> f64 {
        0.5 * self.square / (self.lead * self.lead)
    }

    /// The optimum is at least 1/(2·largest_lead²), for any of the largest leads.
    fn gap(&self, largest_lead: f64) -> f64 {
        let part = self.lead / (self.square.sqrt() * largest_lead);
        (1.0 - part * part).max(0.0)
    }
}

/// Why a few of the pairs already allow for no answer.
fn contradiction(data: &Comparisons, has_beta: bool) -> Option<String> {
    let mut judged: HashMap<(u32, u32), i8> = HashMap::new();
    for (pair, outcome) in data.set.pairs.iter().zip(&data.outcomes) {
        if *outcome == Outcome::Tie && !has_beta {
            continue;
        }
        if pair.left == pair.right && *outcome != Outcome::Tie {
            return Some("an item was judged to be better than itself".into());
        }
        let (sides, sign) = if pair.left <= pair.right {
            ((pair.left, pair.right), outcome.sign())
        } else {
            ((pair.right, pair.left), -outcome.sign())
        };
        if *judged.entry(sides).or_insert(sign) != sign {
            return Some("the same two items were judged in different ways".into());
        }
    }
    None
}

/// The root of the mean squared difference of the two sides, over some of the pairs that are no ties.
fn usual_difference(data: &Comparisons, features: &Features) -> f64 {
    let others: Vec<usize> = (0..data.n_pairs()).filter(|&k| data.outcomes[k] != Outcome::Tie).collect();
    let n = others.len().min(TELLING_PAIRS);
    let mut difference = vec![0.0; features.n_cols()];
    let mut touched = Vec::new();
    let mut sum = 0.0;
    for at in 0..n {
        let pair = data.set.pairs[others[at * others.len() / n]];
        for (row, sign) in [(pair.right, 1.0), (pair.left, -1.0)] {
            features.for_each_in_row(row as usize, |column, value| {
                difference[column] += sign * value;
                touched.push(column);
            });
        }
        for column in touched.drain(..) {
            sum += difference[column] * difference[column];
            difference[column] = 0.0;
        }
    }
    (sum / n as f64).sqrt()
}
