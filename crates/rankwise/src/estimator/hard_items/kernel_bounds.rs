//! Coefficients of kernel values from active bounds: the rows of a factor of the kernel's matrix are coordinates of the items.

use super::Unsettled;
use super::active_bounds::{ALLOWED, CANCELLED, Coordinates, Fitted, gain, range};
use super::refusal::{SEEMS_SO, beyond, contradiction, not_separable, still_unknown, unknown};
use crate::error::{Error, Result};
use crate::estimator::item_dual::DualSolution;
use crate::estimator::item_machine::Members;
use crate::kernel::{ItemKernel, KernelValues, Pivoted};
use crate::math::{dot, solve_upper};
use crate::problem::ItemTerm;
use crate::progress::Stop;
use crate::solver::Limits;
use crate::solver::shortest::{Meeting, Shortest};

/// The most rows of a kernel that are factored.
const MOST_ROWS: usize = 4096;
/// What of the largest K(x, x) is rounding, and what of rows of a factor then is.
const KERNEL_RESOLUTION: f64 = 1e-14;
const FACTOR_RESOLUTION: f64 = 3e-8;
/// By how much of the range of labels bounds may be missed without a search for other coefficients.
const GOOD: f64 = 1e-11;
/// Functions that stay within bounds are at least as long as labels are by this, in units of the spread.
const SHORT: f64 = 1e-3;
/// How often bounds are narrowed, by what share of their range at the most, and roundings of a value in units of ε.
const NARROWED: usize = 4;
const MOST_NARROWED: f64 = 1e-7;
const ROUNDINGS: f64 = 8.0;

/// Coefficients from the active bounds; `None` where there are too many rows, or the kernel is not positive definite.
pub(super) fn solve(
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
            let mut units: Vec<f64> = weights.iter().map(|w| w / unit).collect();
            let mut numbers = vec![0.0; n];
            solve_upper(&factor, units.len(), &mut units);
            self.pivoted.chosen.iter().zip(units).for_each(|(&row, value)| numbers[row] = value);
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
