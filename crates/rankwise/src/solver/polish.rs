//! From dual variables near an optimum to the optimum itself, for losses with corners whose kernel matrix G is at hand.
//!
//! Of the dual variables a, some are at a bound; the others (F) hold their pair in the corner of its loss, where the slack is
//! 0: with τ = ±y·a their share of the pair's coefficient,
//!
//!   z + ρ·τ ± β = ±y   on F,   Σ ±τ = what the variables at bounds leave unbalanced,
//!
//! a linear system in τ and β (ρ is tiny and keeps it regular). Its solution tells which variables do not belong in F, and
//! the slacks of the others which do. First all of them change places at once, as long as they become fewer; then, from the
//! start again and within a budget, one by one: a step ends where the first variable meets a bound, and where there is
//! none in the way, the one that is most wrong joins.

use super::cholesky::Cholesky;
use crate::math::dot;
use crate::problem::PairLosses;

/// Slack within which a loss is in its corner, where the corner is taken for a curve.
const CORNER: f64 = 1e-9;
/// Slack on the wrong side that may be rounding.
const WRONG: f64 = 1e-9;
/// Multiplications that moving variables one by one may take.
const BUDGET: usize = 10_000_000;
/// Steps that change no place before the end: each finds digits that the one before it lost.
const CALM: usize = 3;

/// The optimum next to feasible dual variables; `None` where none was found.
pub(crate) fn polish(problem: &dyn PairLosses, duals: &[[f64; 2]]) -> Option<Vec<[f64; 2]>> {
    let start = Polish::new(problem, duals);
    if 2 * start.free().len() > duals.len() {
        return None; // too far away, or so degenerate that equations do not help
    }
    start.all_at_once().or_else(|| Polish::new(problem, duals).one_by_one())
}

/// Where a variable stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Zero,
    Free,
    Upper,
}

/// A dual variable: its pair, and 1 for the mirror.
type Variable = (usize, usize);

struct Polish<'a> {
    problem: &'a dyn PairLosses,
    duals: Vec<[f64; 2]>,
    places: Vec<[Place; 2]>,
    beta: f64,
    is_beta_free: bool,
    /// Of the present dual variables.
    margins: Vec<f64>,
}

impl<'a> Polish<'a> {
    fn new(problem: &'a dyn PairLosses, duals: &[[f64; 2]]) -> Self {
        let place = |a: f64, upper: f64| match a {
            a if a <= 0.0 => Place::Zero,
            a if a < upper => Place::Free,
            _ => Place::Upper,
        };
        let places = problem.duals().iter().zip(duals).map(|(d, a)| a.map(|a| place(a, d.upper))).collect();
        let margins = problem.margins(&problem.coefficients(duals));
        let (beta, is_beta_free) = problem.best_beta(&margins);
        Polish { problem, duals: duals.to_vec(), places, beta, is_beta_free, margins }
    }

    fn all_at_once(mut self) -> Option<Vec<[f64; 2]>> {
        let (mut n_before, mut n_calm) = (usize::MAX, 0);
        while n_calm < CALM {
            let free = self.free();
            let step = self.step(&free);
            self.go(&free, &step, 1.0);
            let bounds = free.iter().filter_map(|&(k, s)| match self.duals[k][s] {
                a if a < 0.0 => Some(((k, s), Place::Zero)),
                a if a > self.problem.duals()[k].upper => Some(((k, s), Place::Upper)),
                _ => None,
            });
            let joining = self.wrong().into_iter().map(|(variable, _)| (variable, Place::Free));
            let changes: Vec<(Variable, Place)> = bounds.chain(joining).collect();
            if changes.is_empty() {
                n_calm += 1;
                self.refresh();
                continue;
            }
            if changes.len() >= n_before {
                return None;
            }
            (n_before, n_calm) = (changes.len(), 0);
            changes.into_iter().for_each(|(variable, to)| self.put(variable, to));
            self.refresh();
        }
        // Without a free variable nobody sees to the balance.
        let size: f64 = self.duals.iter().map(|a| a[0] + a[1]).sum();
        (!self.is_beta_free || self.unbalanced().abs() <= 1e-9 * size).then_some(self.duals)
    }

    fn one_by_one(mut self) -> Option<Vec<[f64; 2]>> {
        let (mut budget, mut n_calm) = (BUDGET, 0);
        while n_calm < CALM {
            let free = self.free();
            let step = self.step(&free);
            let mut size = 1.0;
            let mut blocked = None;
            for (&(k, s), &moved) in free.iter().zip(&step) {
                let (a, upper) = (self.duals[k][s], self.problem.duals()[k].upper);
                let (room, to) = if moved > 0.0 { (upper - a, Place::Upper) } else { (a, Place::Zero) };
                if moved.abs() * size > room {
                    (size, blocked) = ((room / moved.abs()).max(0.0), Some(((k, s), to)));
                }
            }
            self.go(&free, &step, size);
            let most = |a: (Variable, f64), b: (Variable, f64)| if b.1 > a.1 { b } else { a };
            let change = blocked.or_else(|| Some((self.wrong().into_iter().reduce(most)?.0, Place::Free)));
            match change {
                Some((variable, to)) => {
                    self.put(variable, to);
                    n_calm = 0;
                }
                None => {
                    n_calm += 1;
                    self.refresh();
                }
            }
            // The equations, the margins, the search for what is wrong.
            budget = budget.checked_sub(free.len().pow(3) / 3 + (free.len() + 100) * self.duals.len())?;
        }
        Some(self.duals)
    }

    fn free(&self) -> Vec<Variable> {
        let all = (0..self.places.len()).flat_map(|k| [(k, 0), (k, 1)]);
        all.filter(|&(k, s)| self.places[k][s] == Place::Free).collect()
    }

    fn put(&mut self, (k, s): Variable, to: Place) {
        self.places[k][s] = to;
        match to {
            Place::Zero => self.duals[k][s] = 0.0,
            Place::Upper => self.duals[k][s] = self.problem.duals()[k].upper,
            Place::Free => {}
        }
    }

    /// Σ y·a
    fn unbalanced(&self) -> f64 {
        self.problem.duals().iter().zip(&self.duals).map(|(d, a)| d.label * (a[0] + a[1])).sum()
    }

    /// How far the free variables are from the solution of their equations; β goes there.
    fn step(&mut self, free: &[Variable]) -> Vec<f64> {
        if free.is_empty() {
            self.beta = self.problem.best_beta(&self.margins).0;
            return Vec::new();
        }
        let duals = self.problem.duals();
        let n = free.len();
        let pairs: Vec<u32> = free.iter().map(|v| v.0 as u32).collect();
        let mut matrix = self.problem.block(&pairs);
        let signs: Vec<f64> = free.iter().map(|v| sign(*v)).collect();
        let mut w = Vec::with_capacity(n);
        for (at, (&(k, s), sign)) in free.iter().zip(&signs).enumerate() {
            let ridge = CORNER / duals[k].upper;
            matrix[at * n + at] += ridge;
            let share = duals[k].label * sign * self.duals[k][s];
            w.push(sign * (duals[k].label - self.beta) - self.margins[k] - ridge * share);
        }
        let factors = Cholesky::new(matrix, n, f64::MIN_POSITIVE);
        factors.solve(&mut w);
        if self.is_beta_free {
            let mut v = signs.clone();
            factors.solve(&mut v);
            let moved = (dot::<f64>(&signs, &w) + self.unbalanced()) / dot::<f64>(&signs, &v);
            w.iter_mut().zip(&v).for_each(|(w, v)| *w -= moved * v);
            self.beta += moved;
        }
        free.iter().zip(&signs).zip(w).map(|((&(k, _), sign), w)| duals[k].label * sign * w).collect()
    }

    fn go(&mut self, free: &[Variable], step: &[f64], size: f64) {
        let mut moves = vec![[0.0; 2]; self.duals.len()];
        for (&(k, s), moved) in free.iter().zip(step) {
            moves[k][s] = size * moved;
            self.duals[k][s] += size * moved;
        }
        let along = self.problem.margins(&self.problem.coefficients(&moves));
        self.margins.iter_mut().zip(along).for_each(|(z, moved)| *z += moved);
    }

    /// Margins anew, without what rounding has added up to.
    fn refresh(&mut self) {
        self.margins = self.problem.margins(&self.problem.coefficients(&self.duals));
    }

    /// The variables at bounds that should be free, each with the slack that says so.
    fn wrong(&self) -> Vec<(Variable, f64)> {
        let mut wrong = Vec::new();
        for (k, dual) in self.problem.duals().iter().enumerate() {
            for s in 0..1 + usize::from(dual.mirrored) {
                let slack = 1.0 - dual.label * (self.beta + sign((k, s)) * self.margins[k]);
                let fault = match self.places[k][s] {
                    Place::Zero => slack,
                    Place::Free => 0.0,
                    Place::Upper => -slack,
                };
                if fault > WRONG {
                    wrong.push(((k, s), fault));
                }
            }
        }
        wrong
    }
}

/// +1, −1 for a mirror.
fn sign((_, s): Variable) -> f64 {
    if s == 0 { 1.0 } else { -1.0 }
}
