//! Ranking of items whose groups are spread over parts.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::{Ask, Asked, MOST_GATHERED, Question, from_triangle};
use crate::data::Ranking;
use crate::problem::rank::gathered;
use crate::problem::{BlockSums, RankSums, Shape, SumPoint};

/// The losses of a ranking as a sum over parts.
pub(crate) struct SpreadRank<'a> {
    asked: &'a Asked<'a>,
    divisors: Option<&'a [f64]>,
    dim: usize,
    n_numbers: usize,
    shape: Shape,
    c: f64,
    mass: f64,
    /// Of every part, groups and items that count, and all items.
    over: Cow<'a, [[u64; 3]]>,
    /// Which part of the groups is summed over: all, some of them, some of those …
    level: usize,
    /// For each level up to this one, where parts stand in the one before.
    standings: Vec<f64>,
    here: Vec<f64>,
    direction: Vec<f64>,
    /// Numbers that may be brought together.
    most_gathered: f64,
    /// Some of the data, for a start.
    some: OnceCell<Option<Fewer>>,
}

/// Some of the groups.
enum Fewer {
    /// So few that they were brought here, with what their losses are multiplied with.
    Gathered(Box<Ranking>, Vec<f64>),
    /// Still spread: where parts stand, what each of them has, how many numbers there are, and the weight of all pairs.
    Spread(Vec<f64>, Vec<[u64; 3]>, usize, f64),
}

impl<'a> SpreadRank<'a> {
    pub(crate) fn new(
        asked: &'a Asked<'a>,
        divisors: Option<&'a [f64]>,
        (dim, n_numbers): (usize, usize),
        (shape, c): (Shape, f64),
        (mass, over): (f64, &'a [[u64; 3]]),
    ) -> Self {
        SpreadRank {
            asked,
            divisors,
            dim,
            n_numbers,
            shape,
            c,
            mass,
            over: Cow::Borrowed(over),
            level: 0,
            standings: Vec::new(),
            here: Vec::new(),
            direction: Vec::new(),
            most_gathered: MOST_GATHERED as f64,
            some: OnceCell::new(),
        }
    }

    /// Brings no more than so many numbers together.
    #[cfg(test)]
    pub(crate) fn gathering(mut self, most: f64) -> Self {
        self.most_gathered = most;
        self
    }

    fn divisor(&self, column: usize) -> f64 {
        self.divisors.map_or(1.0, |divisors| divisors[column])
    }

    fn divided(&self, vector: &[f64]) -> Vec<f64> {
        vector.iter().enumerate().map(|(column, x)| x / self.divisor(column)).collect()
    }

    fn question(&self, ask: Ask, direction: &[f64], more: &[f64]) -> Question {
        let width = if let Shape::Hinge(width) = self.shape { width } else { 0.0 };
        let head = [self.c, width, self.level as f64, self.over.len() as f64];
        let numbers = [&head, &self.standings[..], more].concat();
        Question { ask, weights: self.divided(&self.here), direction: self.divided(direction), numbers }
    }

    fn nothing(&self) -> Vec<f64> {
        vec![0.0; self.dim]
    }

    /// Some of the groups: here, or, if they are still many, where they are.
    fn some(&self) -> Option<&Fewer> {
        let look = || {
            let n_items: u64 = self.over.iter().map(|part| part[1]).sum();
            let mut before = [0; 2];
            let starts = self.over.iter().flat_map(|[groups, _, rows]| {
                let start = before;
                before = [before[0] + groups, before[1] + rows];
                start
            });
            let standing = std::iter::once(n_items).chain(starts).map(|number| number as f64);
            let standings: Vec<f64> = self.standings.iter().copied().chain(standing).collect();
            let ask = |gather: f64| {
                let head = [self.c, 1.0, (self.level + 1) as f64, self.over.len() as f64];
                let numbers = [&head, &standings[..], &[gather]].concat();
                let question = Question { ask: Ask::Thinned, weights: Vec::new(), direction: Vec::new(), numbers };
                self.asked.ask(0, &question)
            };
            let found = ask(0.0)?;
            let parts = found.list.as_chunks::<4>().0;
            let n_numbers: f64 = parts.iter().map(|part| part[2]).sum();
            if n_numbers <= self.most_gathered {
                let (data, factors) = gathered(&ask(1.0)?.list, self.dim)?;
                return Some(Fewer::Gathered(Box::new(data), factors));
            }
            let over =
                parts.iter().zip(self.over.iter()).map(|(part, whole)| [part[0] as u64, part[1] as u64, whole[2]]);
            let mass = parts.iter().map(|part| part[3]).sum();
            Some(Fewer::Spread(standings.clone(), over.collect(), n_numbers as usize, mass))
        };
        self.some.get_or_init(look).as_ref()
    }
}

impl BlockSums for SpreadRank<'_> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn n_numbers(&self) -> usize {
        self.n_numbers
    }

    fn go_to(&mut self, weights: &[f64]) -> SumPoint {
        self.here = weights.to_vec();
        let question = self.question(Ask::Point, &[], &[]);
        let Some(answer) = self.asked.ask(3 + self.dim, &question) else {
            // Nothing is better than nowhere: the search ends.
            let nowhere = f64::INFINITY;
            return SumPoint { value: nowhere, gradient: self.nothing(), meant: nowhere, excess: 0.0 };
        };
        let gradient = self.divided(&answer.sums[3..]);
        SumPoint { value: answer.sums[0], meant: answer.sums[1], excess: answer.sums[2], gradient }
    }

    fn hessian_times(&mut self, v: &[f64]) -> Vec<f64> {
        let answer = self.asked.ask(self.dim, &self.question(Ask::Times, v, &[]));
        answer.map_or_else(|| self.nothing(), |answer| self.divided(&answer.sums))
    }

    fn hessian_diagonal(&mut self) -> Vec<f64> {
        let answer = self.asked.ask(self.dim, &self.question(Ask::Diagonal, &[], &[]));
        answer.map_or_else(|| self.nothing(), |answer| self.divided(&self.divided(&answer.sums)))
    }

    /// Never whole: parts make what they have of the matrix.
    fn hessian_sketch(&mut self, _: usize) -> Vec<f64> {
        Vec::new()
    }

    fn add_sketch(&mut self, n: usize, matrix: &mut [f64]) {
        let Some(curved) = self.asked.ask(0, &self.question(Ask::Curved, &[], &[])) else { return };
        let total: f64 = curved.list.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return;
        }
        let mut before = 0.0;
        let starts = curved.list.iter().map(|curved| {
            before += curved;
            before - curved
        });
        let numbers: Vec<f64> = std::iter::once(total / n as f64).chain(starts).collect();
        let dim = self.dim;
        let question = self.question(Ask::Sketch, &[], &numbers);
        let Some(answer) = self.asked.ask(1 + dim * (dim + 1) / 2, &question) else { return };
        let factor = self.c * total / answer.sums[0].max(1.0);
        from_triangle(&answer.sums[1..], dim, factor, |column| self.divisor(column), matrix);
    }

    fn aim(&mut self, direction: &[f64]) {
        self.direction = direction.to_vec();
    }

    fn along(&mut self, step: f64) -> (f64, f64) {
        let question = self.question(Ask::Along, &self.direction, &[step]);
        let answer = self.asked.ask(2, &question);
        answer.map_or((f64::INFINITY, f64::INFINITY), |answer| (answer.sums[0], answer.sums[1]))
    }

    fn set_c(&mut self, c: f64) {
        self.c = c;
    }

    /// Only a hard margin asks, which is not sought over parts.
    fn least_lead(&self) -> f64 {
        f64::NAN
    }

    fn round_off(&mut self, width: f64) {
        self.shape = Shape::Hinge(width);
    }

    fn thinned(&self) -> Option<Box<dyn BlockSums + '_>> {
        match self.some()? {
            Fewer::Gathered(data, factors) => {
                let mut thinned = RankSums::of_factors(data, factors, self.divisors, self.shape, self.c);
                thinned.set_c(self.c * self.mass / thinned.mass());
                thinned.is_enough().then(|| Box::new(thinned) as Box<dyn BlockSums + '_>)
            }
            Fewer::Spread(standings, over, n_numbers, mass) => {
                let n_items: u64 = over.iter().map(|part| part[1]).sum();
                let thinned = SpreadRank {
                    n_numbers: *n_numbers,
                    c: self.c * self.mass / mass,
                    mass: *mass,
                    over: Cow::Borrowed(over),
                    level: self.level + 1,
                    standings: standings.clone(),
                    most_gathered: self.most_gathered,
                    ..SpreadRank::new(
                        self.asked,
                        self.divisors,
                        (self.dim, *n_numbers),
                        (self.shape, self.c),
                        (*mass, over),
                    )
                };
                (n_items >= 4 * self.dim as u64 && *mass > 0.0).then(|| Box::new(thinned) as Box<dyn BlockSums + '_>)
            }
        }
    }
}
