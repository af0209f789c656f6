//! Machines on items without any slack: the shortest weights that keep every item within its bounds, or a proof that there are
//! none.
//!
//! Margins of classes come from the squared hinge or from the dual with growing C, which suit many items. Tubes, and margins
//! that these cannot settle, come from the bounds that are active at the optimum ([`shortest`]): in coordinates of the
//! items, which are their features or, with a kernel, the rows of a factor of its matrix. What is found there is held against
//! the items themselves, and corrected.

use std::borrow::Cow;

use super::item_dual::{self, DualSolution};
use super::item_machine::{Machine, Members, dual_of, spread_of_features};
use super::item_ranker::Solution;
use super::item_start::Start;
use crate::data::{Features, Scaler};
use crate::error::{Error, Result};
use crate::kernel::{ItemKernel, KernelFunction, KernelValues, Pivoted, solve_transposed};
use crate::math::{add_multiple, dot};
use crate::problem::{ItemDual, ItemSums, ItemTerm, Slack};
use crate::progress::Stop;
use crate::solver::Limits;
use crate::solver::hard_margin::{self, Separation};
use crate::solver::shortest::{self, Meeting, Rows, Shortest};

/// A margin this small beside the spread of the items counts as none.
const NO_MARGIN: f64 = 1e-7;
/// The first C on the way to a hard margin (in units of the spread), how it grows, and how often.
const FIRST_C: f64 = 16.0;
const GROWTH: f64 = 32.0;
const MOST_GROWTH: usize = 14;
/// The most numbers of rows that are held at once, and the most rows of a kernel that are factored.
const MOST_NUMBERS: usize = 1 << 26;
const MOST_ROWS: usize = 4096;
/// What of a row of features is rounding.
const RESOLUTION: f64 = 1e-13;
/// What of the largest K(x, x) is rounding, and what of rows of a factor then is.
const KERNEL_RESOLUTION: f64 = 1e-14;
const FACTOR_RESOLUTION: f64 = 3e-8;
/// By how much of the range of labels bounds may be missed: where that is rounding, while searching, and at the end.
const SOUGHT: f64 = 1e-12;
const GOOD: f64 = 1e-11;
const ALLOWED: f64 = 1e-9;
/// Bounds that contradict one another by less than this share of the range do so by rounding.
const BLURRED: f64 = 4e-10;
/// Functions of a kernel that stay within bounds are at least as long as labels are by this, in units of the spread.
const SHORT: f64 = 1e-3;
/// Sums that would be 0 without rounding, beside the sum of what they add.
const CANCELLED: f64 = 1e-12;
/// How often what is missing is added.
const CORRECTIONS: usize = 5;
/// Items that are named where they contradict one another.
const NAMED: usize = 4;
/// How often bounds are narrowed, and roundings of a value in units of ε.
const NARROWED: usize = 4;
const MOST_NARROWED: f64 = 1e-7;
const ROUNDINGS: f64 = 8.0;
/// Beside the largest multiplier, one that is rounding. Of items far from the others a small one is not.
const NEGLIGIBLE: f64 = 1e-12;

/// The machine in weights of features.
pub(super) fn in_weights(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    limits: Limits<'_>,
) -> Result<Machine> {
    if let Some(bias) = one_value(terms) {
        let (numbers, start) = (vec![0.0; features.n_cols()], Start::of_weights(Vec::new()));
        let (primal, dual, steps, stop, claim) = (0.0, 0.0, 0, Stop::Converged, None);
        return Ok(Machine { numbers, bias, primal, dual, steps, stop, start, claim });
    }
    if terms.iter().any(ItemTerm::is_tube) {
        return bounded_in_weights(features, divisors, terms, limits);
    }
    let spread = spread_of_features(features, divisors, terms);
    Solution::check_unit(spread, features)?;
    if !spread.is_normal() {
        return Err(not_separable(0.0, spread, terms, ""));
    }
    match separated(features, divisors, terms, spread, limits) {
        Ok(machine) if machine.stop == Stop::Stalled => {
            Ok(bounded_in_weights(features, divisors, terms, limits).unwrap_or(machine))
        }
        Err(Unsettled::Stalled) => bounded_in_weights(features, divisors, terms, limits),
        Err(Unsettled::Because(error) | Unsettled::Beyond(error)) => Err(error),
        Ok(machine) => Ok(machine),
    }
}

/// Why there is no machine.
enum Unsettled {
    /// Another method may know.
    Stalled,
    /// So it seems to this one.
    Beyond(Error),
    Because(Error),
}

/// The shortest weights with all margins, by the squared hinge with growing C.
fn separated(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    spread: f64,
    limits: Limits<'_>,
) -> std::result::Result<Machine, Unsettled> {
    // In units of the spread numbers are near 1, and all items count the same.
    let units = (0..features.n_cols()).map(|at| spread * divisors.map_or(1.0, |divisors| divisors[at])).collect();
    let equal: Vec<ItemTerm> = terms.iter().map(|term| ItemTerm { cost: 1.0, ..*term }).collect();
    let mut sums = ItemSums::new(features, Some(Cow::Owned(units)), Cow::Borrowed(&equal), Slack::Squared);
    match hard_margin::separate(&mut sums, None, 1.0, limits) {
        Separation::Found { weights, objective, gap, steps, stop } => {
            let (bias, _) = middle(&equal, &sums.scores(&weights));
            let primal = objective / spread / spread;
            Ok(Machine {
                numbers: weights.into_iter().map(|w| w / spread).collect(),
                bias,
                primal,
                dual: primal * (1.0 - gap),
                steps,
                stop: stop.unwrap_or(Stop::Converged),
                start: Start::of_weights(Vec::new()),
                claim: None,
            })
        }
        Separation::None { largest_lead } => {
            Err(Unsettled::Because(not_separable(largest_lead * spread, spread, terms, SEEMS_SO)))
        }
        Separation::Unknown(Stop::Stalled) => Err(Unsettled::Stalled),
        Separation::Unknown(stop) => Err(Unsettled::Because(unknown(stop))),
    }
}

/// The shortest weights from the active bounds.
fn bounded_in_weights(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    limits: Limits<'_>,
) -> Result<Machine> {
    let (n, d) = (terms.len(), features.n_cols());
    if d > 2 * n || n.saturating_mul(d) > MOST_NUMBERS {
        return by_coefficients(features, divisors, terms, limits);
    }
    let mut numbers = vec![0.0; n * d];
    for (row, term) in numbers.chunks_exact_mut(d.max(1)).zip(terms) {
        features.copy_row(term.row as usize, row);
        divisors.iter().for_each(|divisors| row.iter_mut().zip(*divisors).for_each(|(v, divisor)| *v /= divisor));
    }
    let at_row = |(at, term): (usize, &ItemTerm)| ItemTerm { row: at as u32, ..*term };
    let own: Vec<ItemTerm> = terms.iter().enumerate().map(at_row).collect();
    let coordinates = Coordinates::new(numbers, d, RESOLUTION);
    let unit = coordinates.unit;
    let met = match coordinates.search(&own, limits) {
        Shortest::Found(met) => met,
        Shortest::None(multipliers) => return Err(coordinates.refusal(terms, &multipliers)),
        Shortest::Unknown(Stop::Stalled, steps) => return Err(still_unknown(steps, n)),
        Shortest::Unknown(stop, _) => return Err(unknown(stop)),
    };
    let rows: Vec<u32> = terms.iter().map(|term| term.row).collect();
    let scores = |numbers: &[f64]| {
        let divided: Vec<f64> =
            numbers.iter().enumerate().map(|(at, w)| w / divisors.map_or(1.0, |divisors| divisors[at])).collect();
        let mut scores = vec![0.0; n];
        features.times_rows(&rows, &divided, &mut scores);
        scores
    };
    let in_units = |values: &[f64]| values.iter().map(|w| w / unit).collect::<Vec<f64>>();
    let fitted = Fitted::refined(terms, &met, in_units(&met.weights), &scores, |more, _| in_units(more));
    let least = coordinates.bound(&own, &met);
    if fitted.missed > ALLOWED * range(terms) {
        return Err(beyond(terms, least, fitted.missed));
    }
    let primal = 0.5 * dot(&fitted.numbers, &fitted.numbers);
    let dual = least.min(primal);
    let (bias, steps, start) = (fitted.bias, met.steps, Start::of_weights(Vec::new()));
    Ok(Machine { numbers: fitted.numbers, bias, primal, dual, steps, stop: Stop::Converged, start, claim: None })
}

/// Wide features: coefficients of rows make the weights.
fn by_coefficients(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    limits: Limits<'_>,
) -> Result<Machine> {
    let items: Vec<usize> = terms.iter().map(|term| term.row as usize).collect();
    let mut own = features.select_rows(&items);
    if let Some(divisors) = divisors {
        own = Scaler { shift: vec![0.0; divisors.len()], divisor: divisors.to_vec() }.apply(&own)?;
    }
    let (rows, row_of) = own.unique_rows();
    let at_row = |(at, term): (usize, &ItemTerm)| ItemTerm { row: at as u32, ..*term };
    let numbered: Vec<ItemTerm> = terms.iter().enumerate().map(at_row).collect();
    let members = Members::new(&numbered, &row_of);
    let kernel = ItemKernel::new(KernelFunction::Linear, &rows, 0)?;
    let spread = spread_of_features(features, divisors, terms);
    let solved = with_kernel(&members, &kernel, spread, terms.len(), limits)?;
    let t = members.rows.iter().zip(&solved.coefficients);
    let weights = rows.combine_rows(t.map(|(&row, &t)| (row as usize, t)));
    let scores: Vec<f64> = members.rows.iter().map(|&row| rows.dot_row(row as usize, &weights)).collect();
    let (bias, _) = middle(&members.terms, &scores);
    let primal = 0.5 * dot(&weights, &weights);
    let dual = primal * (1.0 - solved.gap);
    let (steps, stop, start) = (solved.steps, solved.stop, Start::of_weights(Vec::new()));
    Ok(Machine { numbers: weights, bias, primal, dual, steps, stop, start, claim: None })
}

/// Coefficients of members.
pub(super) fn with_kernel(
    members: &Members,
    kernel: &ItemKernel<'_>,
    spread: f64,
    n_items: usize,
    limits: Limits<'_>,
) -> Result<DualSolution> {
    if let Some(bias) = one_value(&members.terms) {
        let (coefficients, scores) = (vec![0.0; members.terms.len()], vec![bias; members.terms.len()]);
        let (objective, gap, steps, stop) = (0.0, 0.0, 0, Stop::Converged);
        return Ok(DualSolution { coefficients, bias, scores, objective, gap, steps, stop });
    }
    let is_tube = members.terms.iter().any(ItemTerm::is_tube);
    if is_tube && let Some(solved) = bounded_by_kernel(members, kernel, spread, limits)? {
        return Ok(solved);
    }
    match grown(members, kernel, spread, limits) {
        Ok(solved) => Ok(solved),
        Err(Unsettled::Because(error) | Unsettled::Beyond(error)) => Err(error),
        Err(Unsettled::Stalled) => {
            let solved = if is_tube { None } else { bounded_by_kernel(members, kernel, spread, limits)? };
            solved.ok_or_else(|| still_unknown(0, n_items))
        }
    }
}

/// C grows until no coefficient is at its bound, where the answer is that of all larger C, or until a bound on the norm says
/// that no margin is left.
fn grown(
    members: &Members,
    kernel: &ItemKernel<'_>,
    spread: f64,
    limits: Limits<'_>,
) -> std::result::Result<DualSolution, Unsettled> {
    let terms = &members.terms;
    if !spread.is_normal() {
        return Err(Unsettled::Because(not_separable(0.0, spread, terms, "")));
    }
    let mut c = FIRST_C / (spread * spread);
    let (mut start, mut steps) = (None::<Vec<f64>>, 0);
    for _ in 0..MOST_GROWTH {
        let duals: Vec<ItemDual> = terms.iter().map(|term| dual_of(term, c, false)).collect();
        let inner = Limits { max_iter: limits.max_iter.saturating_sub(steps), ..limits };
        let mut solved =
            item_dual::solve(kernel, &members.rows, &duals, start.as_deref(), inner).map_err(Unsettled::Because)?;
        steps += solved.steps;
        solved.steps = steps;
        let is_bound = solved.coefficients.iter().any(|t| t.abs() >= c * (1.0 - 1e-9));
        // Every function without slack has ½‖f‖² ≥ s·Σ t·target − s²·½‖Σ t·Φ‖² for all s.
        let (mut total, mut square) = (0.0, 0.0);
        for ((t, dual), score) in solved.coefficients.iter().zip(&duals).zip(&solved.scores) {
            total += t * if *t < 0.0 { dual.below } else { dual.above };
            square += t * (score - solved.bias);
        }
        let largest = square.max(0.0).sqrt() / total;
        // Which holds where squares are never below 0.
        if total > 0.0 && largest <= NO_MARGIN * spread && kernel.is_positive_definite() {
            return Err(Unsettled::Because(not_separable(largest, spread, terms, SEEMS_SO)));
        }
        match solved.stop {
            Stop::Converged if !is_bound => return Ok(solved),
            Stop::Converged | Stop::Stalled => {}
            stop => return Err(Unsettled::Because(unknown(stop))),
        }
        start = Some(solved.coefficients);
        c *= GROWTH;
    }
    Err(Unsettled::Stalled)
}

/// Coefficients from the active bounds; `None` where there are too many rows, or the kernel is not positive definite.
fn bounded_by_kernel(
    members: &Members,
    kernel: &ItemKernel<'_>,
    spread: f64,
    limits: Limits<'_>,
) -> Result<Option<DualSolution>> {
    let Members { rows: row_of, terms } = members;
    // The place of the first member with each row stands for the row.
    let (mut used, mut place) = (Vec::new(), vec![u32::MAX; kernel.len()]);
    let mut own: Vec<ItemTerm> = terms.clone();
    for (member, (term, &row)) in own.iter_mut().zip(row_of).enumerate() {
        if place[row as usize] == u32::MAX {
            place[row as usize] = used.len() as u32;
            used.push(member);
        }
        term.row = place[row as usize];
    }
    let n = used.len();
    if n > MOST_ROWS {
        return Ok(None);
    }
    let unsettled = |error: Error| if kernel.is_positive_definite() { Err(error) } else { Ok(None) };
    let exact = kernel.exact()?;
    let names: Vec<u32> = used.iter().map(|&member| row_of[member]).collect();
    let mut part = exact.part(&names);
    let diagonal: Vec<f64> = names.iter().map(|&row| exact.self_value(row as usize)).collect();
    let largest = diagonal.iter().fold(0.0, |a: f64, &b| a.max(b));
    let row = |pivot: usize| {
        let mut row = vec![0.0; n];
        exact.add(&[names[pivot]], &[1.0], &mut part, &mut row);
        row
    };
    let goes_on = || !limits.is_stopped(0, f64::NAN);
    let Some(pivoted) = Pivoted::new(diagonal, row, KERNEL_RESOLUTION * largest, n, goes_on) else {
        return Err(unknown(limits.reached(0, f64::NAN).unwrap_or(Stop::Interrupted)));
    };
    let coordinates = Coordinates::new(pivoted.values(n), pivoted.chosen.len(), FACTOR_RESOLUTION);
    let is_definite = kernel.is_positive_definite();
    let bounded = Bounded { exact, names, own, coordinates, pivoted, largest, is_definite };
    let found = match bounded.solve(terms, spread, limits) {
        Ok(found) => found,
        Err(Unsettled::Because(error)) => return Err(error),
        Err(Unsettled::Stalled) => return unsettled(still_unknown(0, terms.len())),
        Err(Unsettled::Beyond(error)) => return unsettled(error),
    };
    let Found { fitted, bound, steps } = found;
    let mut coefficients = vec![0.0; terms.len()];
    used.iter().zip(&fitted.numbers).for_each(|(&member, t)| coefficients[member] = *t);
    let objective = 0.5 * dot(&coefficients, &fitted.scores).max(0.0);
    let gap = ((objective - bound) / objective.max(1e-12)).max(0.0);
    Ok(Some(DualSolution {
        bias: fitted.bias - kernel.constant(row_of, &coefficients),
        scores: fitted.scores.iter().map(|score| score + fitted.bias).collect(),
        coefficients,
        objective,
        gap,
        steps,
        stop: if gap <= limits.tol { Stop::Converged } else { Stop::Stalled },
    }))
}

/// Items of a kernel with coordinates.
struct Bounded<'a> {
    exact: KernelValues<'a, f64>,
    /// The rows that are used, as the kernel knows them, and the terms, which know rows by their place there.
    names: Vec<u32>,
    own: Vec<ItemTerm>,
    coordinates: Coordinates,
    pivoted: Pivoted,
    /// The largest K(x, x).
    largest: f64,
    is_definite: bool,
}

/// Numbers of the rows, and what is proven of ½‖w‖².
struct Found {
    fitted: Fitted,
    bound: f64,
    steps: u64,
}

impl Bounded<'_> {
    /// The search. Where values of the function are known less well than bounds are to be kept, bounds a little narrower are.
    fn solve(&self, terms: &[ItemTerm], spread: f64, limits: Limits<'_>) -> std::result::Result<Found, Unsettled> {
        let range = range(terms);
        let (mut apart, mut first): (f64, Option<(f64, Error)>) = (0.0, None);
        for _ in 0..NARROWED {
            let narrow = |term: &ItemTerm| ItemTerm { low: term.low + apart, high: term.high - apart, ..*term };
            let narrowed: Vec<ItemTerm> = self.own.iter().map(narrow).collect();
            let met = match (self.coordinates.search(&narrowed, limits), first.take()) {
                (Shortest::Found(met), before) => {
                    first = before;
                    met
                }
                (Shortest::Unknown(stop, _), _) if stop != Stop::Stalled => {
                    return Err(Unsettled::Because(unknown(stop)));
                }
                (_, Some((_, error))) => return Err(Unsettled::Beyond(error)),
                (Shortest::None(multipliers), None) => return Err(self.refusal(terms, &multipliers, spread)),
                (Shortest::Unknown(..), None) => return Err(Unsettled::Stalled),
            };
            let fitted = self.fitted(&met, &narrowed);
            let off = fitted.missed + self.rounding(&fitted.numbers);
            let bound = first.as_ref().map_or_else(|| self.coordinates.bound(&self.own, &met), |(bound, _)| *bound);
            if off <= ALLOWED * range + apart {
                return Ok(Found { fitted, bound, steps: met.steps });
            }
            if first.is_none() {
                first = Some((bound, beyond(terms, bound, off)));
            }
            if off > MOST_NARROWED * range {
                break;
            }
            apart = 4.0 * off;
        }
        Err(first.map_or(Unsettled::Stalled, |(_, error)| Unsettled::Beyond(error)))
    }

    fn scores(&self, numbers: &[f64]) -> Vec<f64> {
        let support: Vec<usize> = (0..numbers.len()).filter(|&at| numbers[at] != 0.0).collect();
        let items: Vec<u32> = support.iter().map(|&at| self.names[at]).collect();
        let coefficients: Vec<f64> = support.iter().map(|&at| numbers[at]).collect();
        let mut scores = vec![0.0; numbers.len()];
        if !items.is_empty() {
            self.exact.add(&items, &coefficients, &mut self.exact.part(&self.names), &mut scores);
        }
        scores
    }

    /// Numbers that meet bounds, held against the kernel itself, whatever its factor says.
    fn fitted(&self, met: &Meeting, terms: &[ItemTerm]) -> Fitted {
        let (n, unit) = (self.names.len(), self.coordinates.unit);
        let of_terms = |numbers: &[f64]| -> Vec<f64> {
            let scores = self.scores(numbers);
            terms.iter().map(|term| scores[term.row as usize]).collect()
        };
        let of_multipliers = |t: &[f64]| {
            let mut numbers = vec![0.0; n];
            let active = met.bounds.iter().zip(t);
            active.for_each(|((term, _), t)| numbers[terms[*term].row as usize] += t / unit / unit);
            numbers
        };
        let start = of_multipliers(&met.multipliers);
        let fitted = Fitted::refined(terms, met, start, &of_terms, |_, more| of_multipliers(more));
        if fitted.missed + self.rounding(&fitted.numbers) <= GOOD * range(terms) {
            return fitted;
        }
        // Coefficients of the active items may be huge where a kernel is nearly flat on them; others make the same function.
        let factor = self.pivoted.factor();
        let of_weights = |weights: &[f64]| {
            let units: Vec<f64> = weights.iter().map(|w| w / unit).collect();
            let mut numbers = vec![0.0; n];
            let solved = solve_transposed(&factor, &units);
            self.pivoted.chosen.iter().zip(solved).for_each(|(&row, value)| numbers[row] = value);
            numbers
        };
        let other = Fitted::refined(terms, met, of_weights(&met.weights), &of_terms, |more, _| of_weights(more));
        let off = |fitted: &Fitted| fitted.missed + self.rounding(&fitted.numbers);
        if off(&other) < off(&fitted) { other } else { fitted }
    }

    /// What values of a function are known to.
    fn rounding(&self, numbers: &[f64]) -> f64 {
        ROUNDINGS * f64::EPSILON * self.largest * numbers.iter().map(|v| v.abs()).sum::<f64>()
    }

    fn refusal(&self, terms: &[ItemTerm], multipliers: &[(usize, f64)], spread: f64) -> Unsettled {
        let mut numbers = vec![0.0; self.names.len()];
        multipliers.iter().for_each(|&(term, t)| numbers[self.own[term].row as usize] += t);
        let total: f64 = multipliers.iter().map(|(_, t)| t.abs()).sum();
        // Bounds of equal items contradict one another whatever the function is.
        let is_of_equal = numbers.iter().all(|number| number.abs() <= CANCELLED * total);
        if !(self.is_definite || is_of_equal) {
            return Unsettled::Stalled;
        }
        let square = dot(&numbers, &self.scores(&numbers)).max(0.0);
        // What rounding may have taken away, or is all that there is.
        let rounding = 4.0 * f64::EPSILON * self.largest * total * total;
        let longest = (square + rounding).sqrt() / gain(terms, multipliers);
        if square > rounding && longest > SHORT * spread {
            return Unsettled::Stalled;
        }
        let why = if is_of_equal { &contradiction(terms, multipliers) } else { SEEMS_SO };
        Unsettled::Because(not_separable(longest, spread, terms, why))
    }
}

/// Items as vectors, centred and in units of about 1.
struct Coordinates {
    numbers: Vec<f64>,
    dim: usize,
    unit: f64,
    resolution: f64,
}

impl Coordinates {
    fn new(mut numbers: Vec<f64>, dim: usize, resolution: f64) -> Self {
        let n = numbers.len() / dim.max(1);
        for column in 0..dim {
            let values = || (0..n).map(|row| row * dim + column);
            let mean: f64 = values().map(|at| numbers[at] / n as f64).sum();
            values().for_each(|at| numbers[at] -= mean);
        }
        let largest = numbers.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let squares: f64 = numbers.iter().map(|v| (v / largest) * (v / largest)).sum();
        let unit = largest * (squares / n as f64).sqrt();
        let unit = if unit.is_normal() { unit } else { 1.0 };
        numbers.iter_mut().for_each(|v| *v /= unit);
        Coordinates { numbers, dim, unit, resolution }
    }

    fn row(&self, term: &ItemTerm) -> &[f64] {
        &self.numbers[term.row as usize * self.dim..][..self.dim]
    }

    /// The search; bounds that miss each other by rounding alone are moved apart for it.
    fn search(&self, terms: &[ItemTerm], limits: Limits<'_>) -> Shortest {
        let rows = Rows { numbers: &self.numbers, dim: self.dim, resolution: self.resolution };
        let range = range(terms);
        let found = shortest::search(&rows, terms, SOUGHT * range, limits);
        let Shortest::None(multipliers) = &found else { return found };
        let total: f64 = multipliers.iter().map(|(_, t)| t.abs()).sum();
        let apart = BLURRED * range;
        if gain(terms, multipliers) > apart * total {
            return found;
        }
        let moved = |term: &ItemTerm| ItemTerm { low: term.low - apart, high: term.high + apart, ..*term };
        shortest::search(&rows, &terms.iter().map(moved).collect::<Vec<_>>(), SOUGHT * range, limits)
    }

    /// Σ t·x, and the largest share that a sum in it has of what it adds.
    fn combined(&self, terms: &[ItemTerm], multipliers: impl Iterator<Item = (usize, f64)>) -> (Vec<f64>, f64) {
        let (mut sum, mut sizes) = (vec![0.0; self.dim], vec![0.0; self.dim]);
        for (term, t) in multipliers {
            let row = self.row(&terms[term]);
            add_multiple(&mut sum, t, row);
            sizes.iter_mut().zip(row).for_each(|(size, v)| *size += (t * v).abs());
        }
        let share = |(sum, size): (&f64, &f64)| if *size > 0.0 { sum.abs() / size } else { 0.0 };
        let largest = sum.iter().zip(&sizes).map(share).fold(0.0, f64::max);
        (sum, largest)
    }

    /// What multipliers that no weights can bear say: every w has w·Σ t·x ≥ Σ t·bound.
    fn refusal(&self, terms: &[ItemTerm], multipliers: &[(usize, f64)]) -> Error {
        let own: Vec<ItemTerm> =
            terms.iter().enumerate().map(|(at, term)| ItemTerm { row: at as u32, ..*term }).collect();
        let (sum, share) = self.combined(&own, multipliers.iter().copied());
        let largest = dot(&sum, &sum).sqrt() / gain(terms, multipliers);
        let refused = |why: &str| not_separable(largest * self.unit, self.unit, terms, why);
        match (share <= CANCELLED, largest <= NO_MARGIN) {
            (true, _) => refused(&contradiction(terms, multipliers)),
            (false, true) => refused(SEEMS_SO),
            (false, false) => still_unknown(0, terms.len()),
        }
    }

    /// The most that multiples of the multipliers prove of ½‖w‖².
    fn bound(&self, terms: &[ItemTerm], met: &Meeting) -> f64 {
        let multipliers: Vec<(usize, f64)> =
            met.bounds.iter().zip(&met.multipliers).map(|((term, _), t)| (*term, *t)).collect();
        let (sum, _) = self.combined(terms, multipliers.iter().copied());
        let (gain, square) = (gain(terms, &multipliers), dot(&sum, &sum) * self.unit * self.unit);
        if gain > 0.0 && square > 0.0 { 0.5 * gain * gain / square } else { 0.0 }
    }
}

/// Σ t·bound, the lower ones where t is above 0.
fn gain(terms: &[ItemTerm], multipliers: &[(usize, f64)]) -> f64 {
    let bound = |term: &ItemTerm, t: f64| if t > 0.0 { term.low } else { term.high };
    multipliers.iter().filter(|(_, t)| *t != 0.0).map(|&(term, t)| t * bound(&terms[term], t)).sum()
}

/// The value for all items that keeps within every tube, where there is one.
fn one_value(terms: &[ItemTerm]) -> Option<f64> {
    let (bias, missed) = middle(terms, &vec![0.0; terms.len()]);
    (missed == 0.0 && terms.iter().any(ItemTerm::is_tube)).then_some(bias)
}

/// How far apart labels, or the margins of classes, are.
fn range(terms: &[ItemTerm]) -> f64 {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for term in terms {
        let value = match (term.low.is_finite(), term.high.is_finite()) {
            (true, true) => 0.5 * (term.low + term.high),
            (true, false) => term.low,
            _ => term.high,
        };
        (least, most) = (least.min(value), most.max(value));
    }
    (most - least).max(0.0)
}

/// The b that misses the bounds least where scores are given, and by how much it does.
fn middle(terms: &[ItemTerm], scores: &[f64]) -> (f64, f64) {
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for (term, score) in terms.iter().zip(scores) {
        (least, most) = (least.max(term.low - score), most.min(term.high - score));
    }
    match (least.is_finite(), most.is_finite()) {
        (true, true) => (0.5 * (least + most), (0.5 * (least - most)).max(0.0)),
        (true, false) => (least, 0.0),
        (false, true) => (most, 0.0),
        (false, false) => (0.0, if scores.iter().all(|score| score.is_finite()) { 0.0 } else { f64::INFINITY }),
    }
}

/// Numbers of a machine with what they make of the items.
struct Fitted {
    numbers: Vec<f64>,
    /// Without b.
    scores: Vec<f64>,
    bias: f64,
    missed: f64,
}

impl Fitted {
    fn new(terms: &[ItemTerm], numbers: Vec<f64>, scores: Vec<f64>) -> Self {
        let (bias, missed) = middle(terms, &scores);
        let missed = if scores.iter().all(|score| score.is_finite()) { missed } else { f64::INFINITY };
        Fitted { numbers, scores, bias, missed }
    }

    /// From `start` on, corrected as long as that helps; `numbers` has those of corrections in weights and multipliers.
    fn refined(
        terms: &[ItemTerm],
        met: &Meeting,
        start: Vec<f64>,
        scores: &dyn Fn(&[f64]) -> Vec<f64>,
        numbers: impl Fn(&[f64], &[f64]) -> Vec<f64>,
    ) -> Self {
        let of = |numbers: Vec<f64>| {
            let scores = scores(&numbers);
            Fitted::new(terms, numbers, scores)
        };
        let mut best = of(start);
        for _ in 0..CORRECTIONS {
            let missing: Vec<f64> =
                met.bounds.iter().map(|(term, bound)| bound - best.scores[*term] - best.bias).collect();
            let (weights, multipliers) = met.correction(&missing);
            let mut corrected = best.numbers.clone();
            add_multiple(&mut corrected, 1.0, &numbers(&weights, &multipliers));
            let next = of(corrected);
            if next.missed.is_nan() || next.missed >= best.missed {
                break;
            }
            best = next;
        }
        best
    }
}

/// No function is known that keeps to the bounds, although there is one with ½‖w‖² of at least `least`.
fn beyond(terms: &[ItemTerm], least: f64, off: f64) -> Error {
    Error::NotSeparable {
        problem: format!(
            "{}{SEEMS_SO}: the norm of one is above {:.1e}, and rounding moves its values by {:.1e} of the range of the bounds",
            nothing_fits(terms),
            (2.0 * least).sqrt(),
            off / range(terms)
        ),
        remedy: "choose a finite C, which allows for errors, or features in other units (--scale standard)".into(),
        items: terms.len(),
    }
}

/// There may be a function whose numbers are too large to be told from others.
const SEEMS_SO: &str = ", as far as floating point can tell";

fn nothing_fits(terms: &[ItemTerm]) -> &'static str {
    match terms.iter().any(ItemTerm::is_tube) {
        true => "no function stays within the tube around every label",
        false => "not separable: no function gives every item its margin",
    }
}

fn not_separable(largest: f64, spread: f64, terms: &[ItemTerm], why: &str) -> Error {
    // What is 0 but for rounding proves no more than rounding allows for.
    let largest = largest.max(f64::EPSILON * spread).max(f64::MIN_POSITIVE);
    Error::NotSeparable {
        problem: format!(
            "{}{why} (its norm would be above {:.1e} where items usually differ by {spread:.1e})",
            nothing_fits(terms),
            1.0 / largest
        ),
        remedy: "choose a finite C, which allows for errors".into(),
        items: terms.len(),
    }
}

/// The items whose bounds contradict one another, those first that do so most.
fn contradiction(terms: &[ItemTerm], multipliers: &[(usize, f64)]) -> String {
    let largest = multipliers.iter().fold(0.0, |most: f64, (_, t)| most.max(t.abs()));
    let mut named: Vec<(usize, f64)> =
        multipliers.iter().copied().filter(|(_, t)| t.abs() > NEGLIGIBLE * largest).collect();
    if named.is_empty() {
        return String::new();
    }
    named.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    let mut items: Vec<u32> = named.iter().take(NAMED).map(|(term, _)| terms[*term].row + 1).collect();
    items.sort_unstable();
    let items: Vec<String> = items.iter().map(u32::to_string).collect();
    let others = if named.len() > NAMED { format!(" and {} others", named.len() - NAMED) } else { String::new() };
    format!("; of the items learnt from, numbers {}{others} contradict one another", items.join(", "))
}

/// An error that a machine made of some items, as told of all of them.
pub(super) fn told_of_all(error: Error, n_items: usize) -> Error {
    match error {
        Error::NotSeparable { problem, remedy, .. } => Error::NotSeparable { problem, remedy, items: n_items },
        error => error,
    }
}

fn still_unknown(steps: u64, n_items: usize) -> Error {
    let after = if steps > 0 { format!("after {steps} steps ") } else { String::new() };
    Error::Search {
        problem: format!("{after}it is still not known whether {n_items} items allow for no slack"),
        remedy: "choose a large finite C, such as 1e6".into(),
    }
}

/// A search for a hard margin that ended before it was known whether there is one.
pub(super) fn unknown(stop: Stop) -> Error {
    if stop == Stop::Interrupted {
        return Error::Interrupted;
    }
    Error::Search {
        problem: format!(
            "{}, and it is not known whether there is a hard margin",
            stop.reason().unwrap_or("the search ended")
        ),
        remedy: match stop {
            Stop::TimeLimit => "allow more time (--time-limit), or choose a finite C".into(),
            Stop::MaxIter => "allow more iterations (--max-iter), or choose a finite C".into(),
            _ => "choose a large finite C, such as 1e6".into(),
        },
    }
}
