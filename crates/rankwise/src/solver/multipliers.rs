//! The multipliers of a vertex, what coefficients are worth by them, and the bound that they make.
//!
//! Prices are small differences of large sums where costs are large: then sums are made in twice the digits, of multipliers in
//! twice the digits.

use super::vertex::{Known, Vertex};
use crate::math::{add_multiple, dot};
use crate::problem::{Column, Term};

/// Times that multipliers are refined, what basic columns may lack then, and numbers of the matrix that this takes at the most.
const REFINEMENTS: usize = 3;
const EVEN: f64 = 1e-12;
const MOST_NUMBERS: usize = 1 << 20;
/// Products of larger numbers would leave their range.
const LARGEST: f64 = 1e100;

/// Multipliers of tight terms, with what rounding left of them where that is known, what all terms pull at, and what coefficients
/// are worth.
#[derive(Debug, Clone)]
pub(super) struct Multipliers {
    pub(super) y: Vec<f64>,
    rest: Vec<f64>,
    pub(super) pull: Pull,
    pub(super) prices: Vec<f64>,
}

/// What terms pull at, each by its multiplier.
#[derive(Debug, Clone)]
pub(super) struct Pull {
    of_items: Vec<f64>,
    /// What rounding left of it.
    rest: Vec<f64>,
    pub(super) of_free: f64,
    /// Σ |multiplier|
    pub(super) mass: f64,
    /// Σ multiplier·margin
    worth: f64,
}

impl Vertex<'_> {
    /// From now on sums of multipliers have twice the digits; whether there is room for that, and it was not so before.
    pub(super) fn refine(&mut self) -> bool {
        let (n_items, dim) = (self.scores.len(), self.scales.len());
        if self.is_fine() || n_items * dim > MOST_NUMBERS {
            return false;
        }
        for at in 0..dim {
            let mut unit = vec![0.0; dim];
            unit[at] = 1.0;
            self.matrix.extend(self.losses.scores(&unit));
        }
        if self.matrix.iter().chain(self.terms.iter().map(|term| &term.cost)).any(|number| number.abs() > LARGEST) {
            self.matrix.clear();
        }
        self.refused.clear();
        self.is_fine()
    }

    pub(super) fn is_fine(&self) -> bool {
        !self.matrix.is_empty()
    }

    /// Multipliers at which basic columns are worth their cost.
    pub(super) fn multipliers(&self) -> Multipliers {
        let k = self.x.len();
        let (mut y, mut rest) = (vec![0.0; k], vec![0.0; k]);
        let lacking = self.pull(|_| true, &[], &[]);
        let columns: Vec<&Known> = self.basis.columns.iter().map(|&at| &self.known[at]).collect();
        let plain = |known: &&Known| known.cost - dot(&lacking.of_items, &known.scores) - lacking.of_free * known.free;
        let mut lacks: Vec<f64> = columns.iter().map(plain).collect();
        for _ in 0..if self.is_fine() { REFINEMENTS } else { 1 } {
            let mut change = vec![0.0; k];
            self.basis.inverse.iter().zip(&lacks).for_each(|(row, lack)| add_multiple(&mut change, *lack, row));
            for ((y, rest), change) in y.iter_mut().zip(&mut rest).zip(change) {
                let (sum, lost) = two_sum(*y, change);
                (*y, *rest) = two_sum(sum, lost + *rest);
            }
            if self.is_fine() {
                let pull = self.with_tight(lacking.clone(), &y, &rest);
                lacks = columns.iter().map(|known| self.lack(known, &pull)).collect();
            }
            if lacks.iter().zip(&columns).all(|(lack, known)| lack.abs() <= EVEN * known.cost) {
                break;
            }
        }
        self.priced(lacking, y, rest)
    }

    /// What a column costs beyond what it is worth, in twice the digits.
    fn lack(&self, known: &Known, pull: &Pull) -> f64 {
        if self.is_free(known.column) {
            return -pull.of_free;
        }
        let worth = match known.column {
            Column::Plus(at) => self.price(at as usize, pull),
            Column::Minus(at) => -self.price(at as usize, pull),
            Column::Lead(plus, minus) => self.price(plus as usize, pull) - self.price(minus as usize, pull),
        };
        (1.0 - worth) * known.cost
    }

    /// These multipliers of tight terms, with what terms that lack their margin pull at.
    fn priced(&self, lacking: Pull, y: Vec<f64>, rest: Vec<f64>) -> Multipliers {
        let pull = self.with_tight(lacking, &y, &rest);
        let prices = self.prices(&pull);
        Multipliers { y, rest, pull, prices }
    }

    fn with_tight(&self, mut pull: Pull, y: &[f64], rest: &[f64]) -> Pull {
        for ((&at, &y), &rest) in self.basis.rows.iter().zip(y).zip(rest) {
            pull.add(&self.terms[at], y, rest);
        }
        pull
    }

    /// Of those terms that `counts` says yes to: the ones that lack their margin, and tight ones by these multipliers.
    fn pull(&self, counts: impl Fn(&Term) -> bool, y: &[f64], rest: &[f64]) -> Pull {
        let zeros = vec![0.0; self.scores.len()];
        let mut pull = Pull { rest: zeros.clone(), of_items: zeros, of_free: 0.0, mass: 0.0, worth: 0.0 };
        let lacking = self.terms.iter().zip(&self.slacks).filter(|(_, slack)| **slack > 0.0);
        let lacking = lacking.map(|(term, _)| (term, term.cost, 0.0));
        let tight = self.basis.rows.iter().zip(y).zip(rest).map(|((&at, &y), &rest)| (&self.terms[at], y, rest));
        lacking.chain(tight).filter(|(term, ..)| counts(term)).for_each(|(term, y, rest)| pull.add(term, y, rest));
        pull
    }

    /// What every coefficient is worth.
    fn prices(&self, pull: &Pull) -> Vec<f64> {
        match self.is_fine() {
            true => (0..self.scales.len()).map(|at| self.price(at, pull)).collect(),
            false => self.losses.slopes(&pull.of_items),
        }
    }

    /// What a coefficient is worth, in twice the digits.
    fn price(&self, at: usize, pull: &Pull) -> f64 {
        let n_items = self.scores.len();
        let (mut sum, mut rest) = (0.0, 0.0);
        for ((&score, &y), &low) in self.matrix[at * n_items..][..n_items].iter().zip(&pull.of_items).zip(&pull.rest) {
            let (product, left) = two_product(score, y);
            let (total, lost) = two_sum(sum, product);
            rest += lost + left + score * low;
            sum = total;
        }
        sum + rest
    }

    /// The dearest column's worth in units of its cost.
    pub(super) fn dearest(&self) -> f64 {
        self.losses.dearest(&self.multipliers().prices, 1).0
    }

    /// What multipliers within their ranges are worth where no column is worth more than it costs: below the minimum.
    pub(super) fn bound(&self, found: &Multipliers) -> f64 {
        let mut found = found.clone();
        let rows = &self.basis.rows;
        let is_within = rows.iter().zip(&found.y).all(|(&at, y)| (0.0..=self.terms[at].cost).contains(y));
        if !is_within {
            for (&at, (y, rest)) in rows.iter().zip(found.y.iter_mut().zip(&mut found.rest)) {
                let within = y.clamp(0.0, self.terms[at].cost);
                *rest = if within == *y { *rest } else { 0.0 };
                *y = within;
            }
            found = self.priced(self.pull(|_| true, &[], &[]), found.y, found.rest);
        }
        if found.pull.of_free > 0.0 {
            // The free coefficient must not be worth anything: less of what pulls it up.
            let up = self.pull(|term| term.of_free > 0.0, &found.y, &found.rest);
            let rest = self.pull(|term| term.of_free <= 0.0, &found.y, &found.rest);
            let part = (-rest.of_free / up.of_free).clamp(0.0, 1.0);
            found.pull = rest.plus(part, &up);
            found.prices = self.prices(&found.pull);
        }
        found.pull.worth / self.losses.dearest(&found.prices, 1).0.max(1.0)
    }
}

impl Pull {
    fn add(&mut self, term: &Term, y: f64, rest: f64) {
        for (item, sign) in [(term.better as usize, 1.0), (term.worse as usize, -1.0)] {
            let (sum, lost) = two_sum(self.of_items[item], sign * y);
            self.of_items[item] = sum;
            self.rest[item] += lost + sign * rest;
        }
        self.of_free += (y + rest) * term.of_free;
        self.mass += y.abs();
        self.worth += y * term.margin;
    }

    fn plus(mut self, part: f64, other: &Pull) -> Self {
        add_multiple(&mut self.of_items, part, &other.of_items);
        add_multiple(&mut self.rest, part, &other.rest);
        self.of_free += part * other.of_free;
        self.mass += part * other.mass;
        self.worth += part * other.worth;
        self
    }
}

/// a + b, and what rounding left of it (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// a·b, and what rounding left of it (Dekker).
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let halves = |x: f64| {
        let high = x * 134_217_729.0;
        let high = high - (high - x);
        (high, x - high)
    };
    let (product, (a, of_a), (b, of_b)) = (a * b, halves(a), halves(b));
    (product, of_a * of_b - (((product - a * b) - of_a * b) - a * of_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_left_makes_sums_and_products_exact() {
        // 2⁵³ + 1 and (2²⁷ + 1)² take 54 and 55 bits.
        assert_eq!(two_sum(9_007_199_254_740_992.0, 1.0), (9_007_199_254_740_992.0, 1.0));
        let (product, rest) = two_product(134_217_729.0, 134_217_729.0);
        assert_eq!(product as i64 + rest as i64, 134_217_729i64 * 134_217_729);
    }
}
