//! Items whose functions have few dimensions, because they are copies of few rows or the kernel is nearly flat on them: Newton's
//! method over these functions.
//!
//! There are no more weights than dimensions, however many items there are; the dual has a coefficient for every item, and goes
//! slowly where it has little curvature. What the losses ask for at the minimum are these coefficients.

use std::borrow::Cow;
use std::collections::HashSet;

use super::item_machine::{Aim, Members, in_weights};
use crate::data::Features;
use crate::kernel::{KernelFunction, Landmarks};
use crate::problem::ItemTerm;
use crate::solver::Limits;

/// The most rows, and how many items there must be of each: with fewer the dual is as fast.
const MOST_ROWS: usize = 512;
const COPIES: usize = 4;
/// Of so many terms a sample of this size is looked at for copies.
const MANY_TERMS: usize = 16_384;
const SAMPLE: usize = 1024;
/// The most rows that are looked at for some that describe all.
const MOST_FACTORED: usize = 20_000;
/// The part of the tolerance that Newton's method is for.
const SEARCHED: f64 = 0.1;
/// Fewer items than this are all moved at once.
const LEAST_ITEMS: usize = 2048;

/// Coefficients of members near the optimum, with the steps they took; `None` where rows are too many or too few items share them.
pub(super) fn solve(
    function: KernelFunction,
    rows: &Features,
    members: &Members,
    aim: Aim<'_>,
) -> Option<(Vec<f64>, u64)> {
    let used = used_rows(members);
    let n = members.terms.len();
    let is_worth_it = n >= LEAST_ITEMS && used.len() <= MOST_ROWS.min(n / COPIES);
    is_worth_it.then(|| over_rows(function, rows, &used, used.len(), members, aim))?
}

/// Terms over distinct rows where so many are copies that a sample tells; otherwise what was given.
pub(super) fn without_copies<'a>(
    features: &'a Features,
    terms: &'a [ItemTerm],
) -> (Cow<'a, Features>, Cow<'a, [ItemTerm]>) {
    let n = terms.len();
    let mut seen = HashSet::new();
    if n >= MANY_TERMS {
        for at in 0..SAMPLE {
            let mut row = Vec::new();
            features.for_each_in_row(terms[at * n / SAMPLE].row as usize, |column, value| {
                row.push((column, value.to_bits()));
            });
            seen.insert(row);
        }
    }
    if n < MANY_TERMS || seen.len() > SAMPLE / COPIES {
        return (Cow::Borrowed(features), Cow::Borrowed(terms));
    }
    let (rows, row_of) = features.unique_rows();
    let members = Members::new(terms, &row_of);
    let at_row = |(&row, term): (&u32, &ItemTerm)| ItemTerm { row, ..*term };
    (Cow::Owned(rows), members.rows.iter().zip(&members.terms).map(at_row).collect())
}

/// [`solve`] for any items, where the functions of a kernel have few dimensions on them: a polynomial of few features, or an
/// rbf that is very wide.
pub(super) fn solve_flat(
    function: KernelFunction,
    rows: &Features,
    members: &Members,
    aim: Aim<'_>,
) -> Option<(Vec<f64>, u64)> {
    let used = used_rows(members);
    (used.len() <= MOST_FACTORED).then(|| over_rows(function, rows, &used, MOST_ROWS.min(used.len()), members, aim))?
}

fn used_rows(members: &Members) -> Vec<usize> {
    let mut used: Vec<usize> = members.rows.iter().map(|&row| row as usize).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Newton's method over the functions that the rows span; `None` where it takes more than so many to describe all.
fn over_rows(
    function: KernelFunction,
    rows: &Features,
    used: &[usize],
    most: usize,
    members: &Members,
    aim: Aim<'_>,
) -> Option<(Vec<f64>, u64)> {
    if !function.is_positive_definite() {
        return None;
    }
    let goes_on = || !aim.limits.is_stopped(0, f64::NAN);
    let chosen = Landmarks::choose(function, &rows.select_rows(used), most, &goes_on).ok()?;
    if chosen.map.len() == most && most < used.len() {
        return None;
    }
    let psi = Features::dense_of(used.len(), chosen.map.len(), chosen.values).ok()?;
    let place = |row: u32| used.partition_point(|&used| used < row as usize) as u32;
    let terms: Vec<ItemTerm> =
        members.rows.iter().zip(&members.terms).map(|(&row, term)| ItemTerm { row: place(row), ..*term }).collect();
    // The rest is for what the function of the coefficients lacks.
    let aim = Aim { limits: Limits { tol: SEARCHED * aim.limits.tol, ..aim.limits }, ..aim };
    let (machine, bound) = in_weights(&psi, None, &terms, aim, None);
    Some((bound.wanted(&psi, &terms, aim.c), machine.steps))
}

#[cfg(test)]
mod tests {
    use super::super::item_dual::feasible;
    use super::super::item_machine::dual_of;
    use super::*;
    use crate::data::{Precision, Random};
    use crate::problem::ItemDual;
    use crate::progress::Unwatched;

    /// Thousands of labels at seven places: the coefficients are dual variables whose value is near the primal one.
    #[test]
    fn coefficients_of_copies_are_near_the_optimum() {
        let (n, kernel) = (3000, KernelFunction::Rbf { gamma: 0.3 });
        let mut random = Random::new(3);
        let places: Vec<f64> = (0..14).map(|_| random.normal()).collect();
        let rows = Features::dense(2, places.clone(), Precision::F64).unwrap();
        let row_of: Vec<u32> = (0..n).map(|k| k % 7).collect();
        let terms: Vec<ItemTerm> = (0..n)
            .map(|k| {
                let label = places[2 * (k as usize % 7)] + random.normal();
                ItemTerm { row: k, low: label - 0.1, high: label + 0.1, cost: 1.0 }
            })
            .collect();
        let members = Members::new(&terms, &row_of);
        let limits = Limits { tol: 1e-4, max_iter: u64::MAX, deadline: None, watch: &Unwatched };
        for is_squared in [false, true] {
            let (t, _) = solve(kernel, &rows, &members, Aim { c: 0.7, is_squared, limits }).unwrap();
            let duals: Vec<ItemDual> = members.terms.iter().map(|term| dual_of(term, 0.7, is_squared)).collect();
            let t = feasible(&duals, &t);
            let mut of_row = [0.0; 7];
            t.iter().zip(&members.rows).for_each(|(t, &row)| of_row[row as usize] += t);
            let value = |a: usize, b: usize| kernel.value(&places[2 * a..][..2], &places[2 * b..][..2]);
            let scores: Vec<f64> = (0..7).map(|a| (0..7).map(|b| of_row[b] * value(a, b)).sum()).collect();
            let half_square: f64 = 0.5 * of_row.iter().zip(&scores).map(|(t, score)| t * score).sum::<f64>();
            let gains = t.iter().zip(&duals).map(|(t, dual)| t * dual.target(*t) - 0.5 * dual.shift * t * t);
            let dual = gains.sum::<f64>() - half_square;
            let losses = |bias: f64| -> f64 {
                let at = |(dual, &row): (&ItemDual, &u32)| dual.loss(scores[row as usize] + bias);
                duals.iter().zip(&members.rows).map(at).sum()
            };
            let primal =
                half_square + (-4000..4000).map(|k| losses(f64::from(k) / 1000.0)).fold(f64::INFINITY, f64::min);
            assert!(primal - dual <= 1e-2 * primal && primal >= dual, "{is_squared}: {primal} {dual}");
        }
    }

    #[test]
    fn copies_of_few_rows_cost_as_much_as_these_rows() {
        let n = 40_000;
        let features = Features::dense(2, (0..2 * n).map(|k| f64::from(k % 10)).collect(), Precision::F64).unwrap();
        let term = |k: u32| {
            let (low, high) = if k.is_multiple_of(3) { (1.0, f64::INFINITY) } else { (f64::NEG_INFINITY, -1.0) };
            ItemTerm { row: k, low, high, cost: 1.0 }
        };
        let terms: Vec<ItemTerm> = (0..n).map(term).collect();
        let (rows, few) = without_copies(&features, &terms);
        assert_eq!((rows.n_rows(), few.len()), (5, 10));
        assert_eq!(few.iter().map(|term| term.cost).sum::<f64>(), f64::from(n));
        let limits = Limits { tol: 1e-6, max_iter: u64::MAX, deadline: None, watch: &Unwatched };
        let aim = Aim { c: 1e-3, is_squared: true, limits };
        let (a, b) = (in_weights(&rows, None, &few, aim, None).0, in_weights(&features, None, &terms, aim, None).0);
        assert!((a.primal - b.primal).abs() <= 2e-6 * a.primal, "{} {}", a.primal, b.primal);
        let all: Vec<f64> = (0..2 * n).map(f64::from).collect();
        let features = Features::dense(2, all, Precision::F64).unwrap();
        assert_eq!(without_copies(&features, &terms).1.len(), n as usize);
    }

    #[test]
    fn few_items_and_many_rows_are_left_to_the_dual() {
        let limits = Limits { tol: 1e-3, max_iter: u64::MAX, deadline: None, watch: &Unwatched };
        let aim = Aim { c: 1.0, is_squared: false, limits };
        let term = |k: u32| ItemTerm { row: k, low: f64::from(k), high: f64::from(k), cost: 1.0 };
        for (n_rows, n) in [(5, 100), (1000, 3000)] {
            let rows = Features::dense(1, (0..n_rows).map(f64::from).collect(), Precision::F64).unwrap();
            let row_of: Vec<u32> = (0..n).map(|k| k % n_rows).collect();
            let members = Members::new(&(0..n).map(term).collect::<Vec<_>>(), &row_of);
            assert!(solve(KernelFunction::Rbf { gamma: 1.0 }, &rows, &members, aim).is_none());
        }
    }
}
