//! Effects that grow without end: some combination of columns tells every game that it tells apart.
//!
//! Along a direction of effects u and of θ, t, the likelihood never falls if every win has a difference x·u of at least 2t, and every
//! tie one between −2t and 2t. These are linear inequalities, a·v ≥ 0 for v = (u, t), and v = 0 is all there is if and only if the
//! projection of Σa onto the cone of these v is 0: Σa + Σλa with λ ≥ 0 as short as possible (Lawson and Hanson, *Solving least
//! squares problems*, 1974), which has few λ that are not 0.

use super::State;
use super::cells::{FIRST, SECOND, TIE};
use crate::math::{add_multiple, cholesky, dot, solve_lower, solve_upper};

/// Products of directions below this are rounding.
const ROUNDING: f64 = 1e-9;
/// Changes of the inequalities that hold as equations: two for each number would do.
const MAX_CHANGES: usize = 1000;

impl State {
    /// The inequalities, as directions of length 1.
    fn inequalities(&self) -> Vec<f64> {
        let mut rows: Vec<f64> = Vec::new();
        for (cell, counts) in self.counts.iter().enumerate() {
            let mut add = |sign: f64, tie: f64| {
                let start = rows.len();
                rows.extend(self.cells.difference(cell).iter().map(|x| 0.5 * sign * x));
                rows.extend(self.has_ties.then_some(tie));
                let length = dot(&rows[start..], &rows[start..]).sqrt();
                match length > 0.0 {
                    true => rows[start..].iter_mut().for_each(|x| *x /= length),
                    false => rows.truncate(start),
                }
            };
            if counts[FIRST] > 0.0 {
                add(1.0, -1.0);
            }
            if counts[SECOND] > 0.0 {
                add(-1.0, -1.0);
            }
            if counts[TIE] > 0.0 {
                add(1.0, 1.0);
                add(-1.0, 1.0);
            }
        }
        rows
    }

    /// A direction of effects (and of θ) along which they grow without end, whatever the ratings are; `None` where there is none.
    pub(super) fn endless_effects(&self) -> Option<Vec<f64>> {
        let size = self.cells.n_effects + usize::from(self.has_ties);
        if self.cells.n_effects == 0 {
            return None;
        }
        projection(&self.inequalities(), size)
    }

    /// Leaves out effects until the others have an end: each time the one that grows most, the later one of equals. Says which.
    pub(super) fn leave_out_endless(&mut self) -> Vec<usize> {
        let mut left_out = Vec::new();
        while let Some(direction) = self.endless_effects() {
            let n = self.cells.n_effects;
            let most = direction[..n].iter().fold(0.0f64, |most, x| most.max(x.abs()));
            let is_most = |&k: &usize| direction[k].abs() >= (1.0 - 1e-6) * most;
            let Some(at) = (0..n).rev().find(is_most) else { break };
            left_out.push(self.columns.remove(at).0);
            let kept: Vec<(usize, f64)> = (0..n).filter(|&k| k != at).map(|k| (k, 1.0)).collect();
            self.cells = self.cells.with_columns(&kept);
        }
        left_out.sort_unstable();
        left_out
    }
}

/// The projection of the sum of rows of length 1 onto the cone of what has no negative product with any; `None` if it is 0.
fn projection(rows: &[f64], size: usize) -> Option<Vec<f64>> {
    let row = |at: usize| &rows[at * size..][..size];
    let n_rows = rows.len() / size;
    let mut sum = vec![0.0; size];
    (0..n_rows).for_each(|at| add_multiple(&mut sum, 1.0, row(at)));
    let mut found = sum.clone();
    // The rows that hold as equations, and their multipliers.
    let mut held: Vec<(usize, f64)> = Vec::new();
    for _ in 0..MAX_CHANGES {
        let length = dot(&found, &found).sqrt();
        if length <= ROUNDING * n_rows as f64 {
            return None;
        }
        let products = (0..n_rows).map(|at| (at, dot(row(at), &found)));
        let worst = products.min_by(|a, b| a.1.total_cmp(&b.1))?;
        if worst.1 >= -ROUNDING * length {
            return Some(found);
        }
        held.push((worst.0, 0.0));
        loop {
            let goal = multipliers(&held.iter().map(|&(at, _)| row(at)).collect::<Vec<_>>(), &sum);
            // As far as no multiplier becomes negative.
            let share = |(held, goal): (&(usize, f64), &f64)| match *goal > 0.0 {
                true => 1.0,
                false => held.1 / (held.1 - goal),
            };
            let step = held.iter().zip(&goal).map(share).fold(1.0, f64::min);
            held.iter_mut().zip(&goal).for_each(|(held, goal)| held.1 += step * (goal - held.1));
            if step >= 1.0 {
                break;
            }
            let n_before = held.len();
            held.retain(|held| held.1 > f64::EPSILON * n_rows as f64);
            if held.len() == n_before || held.is_empty() {
                break;
            }
        }
        found.copy_from_slice(&sum);
        held.iter().for_each(|&(at, multiplier)| add_multiple(&mut found, multiplier, row(at)));
    }
    None
}

/// What makes the sum of rows, each so many times, and of `sum` as short as possible.
fn multipliers(rows: &[&[f64]], sum: &[f64]) -> Vec<f64> {
    let n = rows.len();
    let mut products = vec![0.0; n * n];
    for (k, a) in rows.iter().enumerate() {
        rows.iter().enumerate().for_each(|(l, b)| products[k * n + l] = dot(a, b));
    }
    cholesky(&mut products, n, f64::EPSILON);
    let mut found: Vec<f64> = rows.iter().map(|row| -dot(row, sum)).collect();
    solve_lower(&products, n, &mut found);
    solve_upper(&products, n, &mut found);
    found
}
