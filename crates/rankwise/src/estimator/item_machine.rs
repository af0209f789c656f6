//! One machine on items: what is wished of each of them, solved in weights of features or by the dual.
//!
//! ½‖w‖² + C·Σ cost·ℓ over terms (see [`ItemTerm`]). Machines that differ in their terms alone (classes, folds, C) stand on the
//! same [`Ground`], which has the features or the kernel's values.

use std::borrow::Cow;
use std::collections::HashMap;

use super::few_dimensions;
use super::hard_items;
use super::item_dual;
use super::item_landmarks::{Claim, Described};
use super::item_ranker::Solution;
use super::item_start::Start;
use super::small_machine::{self, Small};
use crate::data::{Features, Scaler, far_shift, shifted};
use crate::error::{Error, Result};
use crate::kernel::{GoesOn, ItemBlocks, ItemKernel, KernelFunction};
use crate::math::dot;
use crate::problem::{BlockSums, ItemDual, ItemSums, ItemTerm, Slack, best_bias};
use crate::progress::Stop;
use crate::solver::{Limits, newton_cg, smoothing};

/// Steps of the dual for each item, and of all at the least, after which it is slow.
const SLOW: u64 = 100;
const LEAST_SLOW: u64 = 100_000;
/// Items that tell how far apart items are.
const TELLING_ITEMS: usize = 256;

/// What machines stand on.
pub(super) enum Ground<'a> {
    /// Weights of features.
    Weights {
        /// Not far from zero.
        features: Cow<'a, Features>,
        /// What was subtracted to bring them there.
        shift: Option<Vec<f64>>,
        scaler: Option<&'a Scaler>,
    },
    /// Coefficients of distinct rows.
    Rows {
        kernel: Box<ItemKernel<'a>>,
        /// The distinct rows, scaled, and what computes their values; `None` for values that were given.
        rows: Option<(KernelFunction, &'a Features)>,
        /// The row of each item.
        row_of: Cow<'a, [u32]>,
        /// How far apart items usually are.
        spread: f64,
    },
    /// Weights of what landmarks say of distinct rows.
    Landmarks(Described<'a>),
}

/// Features without copies: those of one item stand for all that are equal.
pub(super) struct DistinctRows {
    rows: Features,
    /// The row of each item.
    row_of: Vec<u32>,
}

impl DistinctRows {
    /// Finds them.
    pub(super) fn new(scaled: &Features) -> Self {
        let (rows, row_of) = scaled.unique_rows();
        DistinctRows { rows, row_of }
    }

    pub(super) fn row_of(&self) -> &[u32] {
        &self.row_of
    }

    pub(super) fn features(&self) -> &Features {
        &self.rows
    }
}

/// How a machine is to be solved.
#[derive(Clone, Copy)]
pub(super) struct Aim<'a> {
    /// Multiplies the losses; ∞: there may be none.
    pub(super) c: f64,
    pub(super) is_squared: bool,
    pub(super) limits: Limits<'a>,
}

impl Aim<'_> {
    /// How a search in weights begins with the loss.
    pub(super) fn slack(&self) -> Slack {
        if self.is_squared { Slack::Squared } else { Slack::Rounded(1.0) }
    }
}

/// A machine that was solved.
pub(super) struct Machine {
    /// A weight per feature, or per landmark, or a coefficient per distinct row.
    pub(super) numbers: Vec<f64>,
    pub(super) bias: f64,
    pub(super) primal: f64,
    pub(super) dual: f64,
    pub(super) steps: u64,
    pub(super) stop: Stop,
    /// Where another C may begin.
    pub(super) start: Start,
    /// Where the kernel is approximated: what its own dual value is to be computed from.
    pub(super) claim: Option<Box<Claim>>,
}

/// Weights with the best dual value, and the width over which the hinge is rounded off there.
pub(super) struct Bound {
    pub(super) weights: Vec<f64>,
    pub(super) slack: Slack,
}

impl Bound {
    /// What the losses ask for there: dual variables, but for rounding.
    pub(super) fn wanted(&self, features: &Features, terms: &[ItemTerm], c: f64) -> Vec<f64> {
        let mut sums = ItemSums::new(features, None, Cow::Borrowed(terms), self.slack);
        sums.set_c(c);
        sums.go_to(&self.weights);
        sums.wanted()
    }
}

impl<'a> Ground<'a> {
    /// For linear machines.
    pub(super) fn of_features(
        features: &'a Features,
        weights: Option<&[f64]>,
        scaler: Option<&'a Scaler>,
    ) -> Result<Self> {
        let Some(shift) = far_shift(features, weights) else {
            return Ok(Ground::Weights { features: Cow::Borrowed(features), shift: None, scaler });
        };
        Ok(Ground::Weights { features: Cow::Owned(shifted(features, &shift)), shift: Some(shift), scaler })
    }

    /// For machines with a kernel over scaled features.
    pub(super) fn of_kernel(function: KernelFunction, distinct: &'a DistinctRows, cache_mb: usize) -> Result<Self> {
        let DistinctRows { rows, row_of } = distinct;
        let spread = spread_of_rows(function, rows)?;
        let kernel = Box::new(ItemKernel::new(function, rows, cache_mb)?);
        Ok(Ground::Rows { kernel, rows: Some((function, rows)), row_of: Cow::Borrowed(row_of), spread })
    }

    /// For machines over the functions that up to `n` landmarks span, chosen from all rows or from some.
    pub(super) fn of_landmarks(
        function: KernelFunction,
        distinct: &'a DistinctRows,
        among: Option<&[usize]>,
        n: usize,
        goes_on: GoesOn<'_>,
    ) -> Result<Self> {
        Described::new(function, distinct, among, n, goes_on).map(Ground::Landmarks)
    }

    /// For machines over a matrix of kernel values.
    pub(super) fn of_matrix(n: usize, matrix: &'a [f64]) -> Result<Self> {
        let kernel = Box::new(ItemKernel::given(n, matrix)?);
        let spread = spread_of(n, |a, b| matrix[a * n + b]);
        Ok(Ground::Rows { kernel, rows: None, row_of: (0..n as u32).collect(), spread })
    }

    /// Solves for given terms, whose rows are numbers of items; some must wish f up, and some down. `start` is from the same
    /// terms with a smaller C.
    pub(super) fn solve(&self, terms: &[ItemTerm], aim: Aim<'_>, start: Option<&Start>) -> Result<Machine> {
        let machine = match self {
            Ground::Weights { features, scaler, .. } => {
                let divisors = scaler.map(|scaler| scaler.divisor.as_slice());
                let (features, terms) = match aim.c.is_finite() {
                    true => few_dimensions::without_copies(features, terms),
                    // A proof that there is no margin names items.
                    false => (Cow::Borrowed(&**features), Cow::Borrowed(terms)),
                };
                let (features, terms) = (&*features, &*terms);
                match aim.c.is_finite() {
                    true => match small_machine::solve(features, divisors, terms, aim, start) {
                        Small::Solved(machine) => *machine,
                        Small::Unsolved { steps } => {
                            let max_iter = aim.limits.max_iter.saturating_sub(steps);
                            let aim = Aim { limits: Limits { max_iter, ..aim.limits }, ..aim };
                            let (machine, _) = in_weights(features, divisors, terms, aim, start);
                            Machine { steps: machine.steps + steps, ..machine }
                        }
                    },
                    false => hard_items::in_weights(features, divisors, terms, aim.limits)?,
                }
            }
            Ground::Rows { kernel, rows, row_of, spread } => {
                let members = Members::new(terms, row_of);
                let solved = match aim.c.is_finite() {
                    true => members.solve(kernel, *rows, aim, start)?,
                    false => hard_items::with_kernel(&members, kernel, *spread, terms.len(), aim.limits)?,
                };
                let mut numbers = vec![0.0; kernel.len()];
                members.rows.iter().zip(&solved.coefficients).for_each(|(&row, t)| numbers[row as usize] += t);
                let machine = Machine {
                    numbers,
                    bias: solved.bias,
                    primal: solved.objective,
                    dual: solved.objective - solved.gap * solved.objective.max(1e-12),
                    steps: solved.steps,
                    stop: solved.stop,
                    start: Start::of_members(solved.coefficients, &solved.scores),
                    claim: None,
                };
                machine.or_constant(terms, aim)
            }
            Ground::Landmarks(described) => described.solve(terms, aim, start),
        };
        machine.checked()
    }

    /// Machines with the dual values that are told of them: where the kernel is approximated, those of the kernel itself, at
    /// the price of its values among all items, a few times over.
    pub(super) fn measured(
        &self,
        mut machines: Vec<Machine>,
        limits: Limits<'_>,
        cache_mb: usize,
    ) -> Result<Vec<Machine>> {
        if let Ground::Landmarks(described) = self {
            let kernel = described.kernel(cache_mb)?;
            for machine in &mut machines {
                described.measure(machine, &kernel, limits)?;
                machine.stop = limits.reached(0, 1.0).unwrap_or(machine.stop);
            }
        }
        Ok(machines)
    }

    /// f of some items.
    pub(super) fn scores(&self, machine: &Machine, items: &[u32]) -> Result<Vec<f64>> {
        let mut scores = match self {
            Ground::Weights { features, scaler, .. } => {
                let divided: Vec<f64> = match scaler {
                    None => machine.numbers.clone(),
                    Some(scaler) => machine.numbers.iter().zip(&scaler.divisor).map(|(w, d)| w / d).collect(),
                };
                let mut scores = vec![0.0; items.len()];
                features.times_rows(items, &divided, &mut scores);
                scores
            }
            Ground::Rows { rows: None, .. } => {
                return Err(Error::Unsupported {
                    problem: "values of a kernel that were given say nothing of items that are left out".into(),
                    remedy: "leave out the probabilities".into(),
                });
            }
            Ground::Rows { rows: Some((function, rows)), row_of, .. } => {
                let support: Vec<usize> = (0..rows.n_rows()).filter(|&row| machine.numbers[row] != 0.0).collect();
                let coefficients: Vec<f64> = support.iter().map(|&row| machine.numbers[row]).collect();
                let asked: Vec<usize> = items.iter().map(|&item| row_of[item as usize] as usize).collect();
                ItemBlocks::<f64>::new(*function, &rows.select_rows(&support))?
                    .scores_of(&rows.select_rows(&asked), &coefficients)?
            }
            Ground::Landmarks(described) => described.scores(&machine.numbers, items),
        };
        scores.iter_mut().for_each(|score| *score += machine.bias);
        Ok(scores)
    }

    /// What a model adds to the scores of scaled features.
    pub(super) fn bias_of_model(&self, machine: &Machine) -> f64 {
        let Ground::Weights { shift, scaler, .. } = self else { return machine.bias };
        let mut bias = machine.bias;
        for (at, weight) in machine.numbers.iter().enumerate() {
            let (mean, divisor) = scaler.map_or((0.0, 1.0), |scaler| (scaler.shift[at], scaler.divisor[at]));
            let subtracted = shift.as_ref().map_or(0.0, |shift| shift[at]);
            if mean != subtracted {
                bias += weight * ((mean - subtracted) / divisor);
            }
        }
        bias
    }
}

impl Machine {
    /// (primal − dual)/max(primal, 1e-12) of several machines together; a dual value below 0 says nothing.
    pub(super) fn gap_of(machines: &[Machine]) -> f64 {
        let sum = |of: fn(&Machine) -> f64| machines.iter().map(of).sum::<f64>();
        let (primal, dual) = (sum(|m| m.primal), sum(|m| m.dual));
        ((primal - dual) / primal.max(1e-12)).clamp(0.0, 1.0)
    }

    /// A search that could not end may stand where equal values for all are better.
    fn or_constant(self, terms: &[ItemTerm], aim: Aim<'_>) -> Self {
        if self.stop == Stop::Converged || !aim.c.is_finite() {
            return self;
        }
        let (bias, losses) = best_bias(terms, &vec![0.0; terms.len()], aim.is_squared);
        let primal = aim.c * losses;
        let dual = smoothing::sound_bound(self.dual, primal.min(self.primal));
        if self.primal <= primal {
            return Machine { dual, ..self };
        }
        Machine { numbers: vec![0.0; self.numbers.len()], bias, primal, dual, ..self }
    }

    /// Refuses numbers that are none.
    pub(super) fn checked(self) -> Result<Self> {
        let is_finite = [self.primal, self.bias].iter().chain(&self.numbers).all(|v| v.is_finite());
        if is_finite { Ok(self) } else { Err(Solution::out_of_range()) }
    }

    /// The same machine, for labels that are `unit` times as large and moved by `middle`.
    pub(super) fn in_units(mut self, unit: f64, middle: f64) -> Self {
        self.numbers.iter_mut().for_each(|number| *number *= unit);
        self.bias = self.bias * unit + middle;
        self.primal *= unit * unit;
        self.dual *= unit * unit;
        self.claim = self.claim.map(|claim| Box::new(claim.in_units(unit)));
        self
    }
}

/// The minimum in weights, and where its best dual value is.
pub(super) fn in_weights(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    aim: Aim<'_>,
    start: Option<&Start>,
) -> (Machine, Bound) {
    let start = start.map(Start::weights);
    let slack = if aim.is_squared { Slack::Squared } else { Slack::Rounded(1.0) };
    let mut sums = ItemSums::new(features, divisors.map(Cow::Borrowed), Cow::Borrowed(terms), slack);
    sums.set_c(aim.c);
    let (weights, bound, primal, gap, steps, stop) = if aim.is_squared {
        let minimum = newton_cg::minimise(&mut sums, start, aim.limits);
        let (primal, gap) = (minimum.primal, minimum.gap);
        let bound = Bound { weights: minimum.weights.clone(), slack };
        (minimum.weights, bound, primal, gap, minimum.steps, minimum.stop)
    } else {
        let answer = smoothing::minimise(&mut sums, start, aim.limits);
        let gap = answer.gap();
        let bound = Bound { weights: answer.bound.0, slack: Slack::Rounded(answer.bound.1) };
        (answer.weights, bound, answer.primal, gap, answer.steps, answer.stop)
    };
    let dual = primal - gap * primal.max(1e-12);
    let scores = sums.scores(&weights);
    drop(sums); // what it holds of every item makes room
    // The hinge itself may have a better b than the one that is rounded off.
    let (bias, losses) = best_bias(terms, &scores, aim.is_squared);
    let here = 0.5 * dot(&weights, &weights) + aim.c * losses;
    let dual = smoothing::sound_bound(dual, here);
    let is_met = here - dual <= aim.limits.tol * here.max(1e-12);
    let stop = if is_met { Stop::Converged } else { stop.unwrap_or(Stop::Stalled) };
    let start = Start::of_weights(weights.clone());
    (Machine { numbers: weights, bias, primal: here, dual, steps, stop, start, claim: None }, bound)
}

/// Distinct terms over distinct rows: copies of an item are one item that costs as much as all of them.
pub(super) struct Members {
    pub(super) rows: Vec<u32>,
    pub(super) terms: Vec<ItemTerm>,
}

impl Members {
    pub(super) fn new(terms: &[ItemTerm], row_of: &[u32]) -> Self {
        let mut known: HashMap<(u32, u64, u64), usize> = HashMap::with_capacity(terms.len());
        let mut members = Members { rows: Vec::new(), terms: Vec::new() };
        for term in terms {
            let row = row_of[term.row as usize];
            match known.entry((row, term.low.to_bits(), term.high.to_bits())) {
                std::collections::hash_map::Entry::Occupied(place) => members.terms[*place.get()].cost += term.cost,
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(members.terms.len());
                    members.rows.push(row);
                    members.terms.push(*term);
                }
            }
        }
        members
    }

    fn solve(
        &self,
        kernel: &ItemKernel<'_>,
        rows: Option<(KernelFunction, &Features)>,
        aim: Aim<'_>,
        start: Option<&Start>,
    ) -> Result<item_dual::DualSolution> {
        let dual = |term: &ItemTerm| dual_of(term, aim.c * term.cost, aim.is_squared);
        let duals: Vec<ItemDual> = self.terms.iter().map(dual).collect();
        let of_copies = rows.and_then(|(function, rows)| few_dimensions::solve(function, rows, self, aim));
        let (start, steps) = match of_copies {
            Some((coefficients, steps)) => (Some(coefficients), steps),
            None => (start.and_then(|start| start.coefficients(&duals)), 0),
        };
        let limits = Limits { max_iter: aim.limits.max_iter.saturating_sub(steps), ..aim.limits };
        let slow = (SLOW * duals.len() as u64).max(LEAST_SLOW);
        let solve = |start: Option<&[f64]>, limits| item_dual::solve(kernel, &self.rows, &duals, start, limits);
        let mut solved = solve(start.as_deref(), Limits { max_iter: limits.max_iter.min(slow), ..limits })?;
        if solved.stop == Stop::Stalled || (solved.stop == Stop::MaxIter && limits.max_iter > slow) {
            // Directions with next to no curvature: a kernel with few others is known by these.
            let flat = rows.and_then(|(function, rows)| few_dimensions::solve_flat(function, rows, self, aim));
            if flat.is_none() && solved.stop == Stop::Stalled {
                return Ok(item_dual::DualSolution { steps: solved.steps + steps, ..solved });
            }
            let (start, more) = flat.unwrap_or((solved.coefficients, 0));
            let spent = solved.steps + more;
            let limits = Limits { max_iter: limits.max_iter.saturating_sub(spent), ..limits };
            solved = solve(Some(&start), limits)?;
            solved.steps += spent;
        }
        Ok(item_dual::DualSolution { steps: solved.steps + steps, ..solved })
    }
}

pub(super) fn dual_of(term: &ItemTerm, cost: f64, is_squared: bool) -> ItemDual {
    match (term.low.is_finite(), term.high.is_finite()) {
        (true, false) => ItemDual::of_class(1.0, term.low, cost, is_squared),
        (false, _) => ItemDual::of_class(-1.0, -term.high, cost, is_squared),
        (true, true) => {
            ItemDual::of_target(0.5 * (term.low + term.high), 0.5 * (term.high - term.low), cost, is_squared)
        }
    }
}

/// The root of the mean squared distance of items from their middle, from kernel values of some of them.
fn spread_of(n: usize, value: impl Fn(usize, usize) -> f64) -> f64 {
    let m = n.min(TELLING_ITEMS);
    let some: Vec<usize> = (0..m).map(|k| k * n / m).collect();
    let own = some.iter().map(|&a| value(a, a)).sum::<f64>() / m as f64;
    let pairs: f64 = some.iter().map(|&a| some.iter().map(|&b| value(a, b)).sum::<f64>()).sum();
    (own - pairs / (m * m) as f64).max(0.0).sqrt()
}

fn spread_of_rows(function: KernelFunction, rows: &Features) -> Result<f64> {
    let (n, m) = (rows.n_rows(), rows.n_rows().min(TELLING_ITEMS));
    let some: Vec<usize> = (0..m).map(|k| k * n / m).collect();
    let blocks = ItemBlocks::<f64>::new(function, &rows.select_rows(&some))?;
    Ok(spread_of(m, |a, b| blocks.value(a, b)))
}

pub(super) fn spread_of_features(features: &Features, divisors: Option<&[f64]>, terms: &[ItemTerm]) -> f64 {
    let n = terms.len();
    let m = n.min(4 * TELLING_ITEMS);
    let (mut squares, mut sums) = (0.0, vec![0.0; features.n_cols()]);
    for k in 0..m {
        let row = terms[k * n / m].row as usize;
        features.for_each_in_row(row, |column, value| {
            let value = value / divisors.map_or(1.0, |divisors| divisors[column]);
            squares += value * value / m as f64;
            sums[column] += value / m as f64;
        });
    }
    (squares - dot(&sums, &sums)).max(0.0).sqrt()
}
