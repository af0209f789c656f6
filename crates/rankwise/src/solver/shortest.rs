//! The shortest weights w, with a b, that keep w·x + b of every row within its bounds, or multipliers that prove that there are
//! none.
//!
//! Goldfarb and Idnani's dual method: of all bounds that are active, w is the shortest that meets them, and their multipliers t
//! (Σ t = 0, w = Σ t·x, above 0 at a lower bound and below 0 at an upper one) say that none may go. The bound that is missed most
//! comes in; on the way there multipliers that reach 0 leave. Every bound that comes in makes w longer, so that no set of them
//! returns and the search ends. Where w cannot move, since the row lies in the span of the active ones, and no multiplier
//! falls, these multipliers are the proof: Σ t·x = 0 and Σ t = 0, but Σ t·bound > 0.
//!
//! b is a weight without a cost. With rows (x, 1) of the active bounds as columns of Q·R, and q the last row of Q, the
//! equations R'y = bounds give R·t = y − q·(q·y)/‖q‖², which has no share in b.

use rayon::prelude::*;

use super::Limits;
use super::qr::{Qr, norm};
use crate::math::{add_multiple, dot};
use crate::problem::ItemTerm;
use crate::progress::Stop;

/// Multipliers that change by less than this beside the fastest stay as they are.
const STANDS: f64 = 1e-14;
/// Steps for each row and number, after which rounding leads in circles.
const MOST_STEPS: usize = 100;
/// Multiplications that are worth more than one thread.
const WORTH_A_TASK: usize = 1 << 17;

/// Rows, centred and in units of about 1, one after the other.
pub(crate) struct Rows<'a> {
    pub(crate) numbers: &'a [f64],
    pub(crate) dim: usize,
    /// What is left of a row, beside its length, where it lies in the span of others.
    pub(crate) resolution: f64,
}

impl Rows<'_> {
    fn row(&self, term: &ItemTerm) -> &[f64] {
        &self.numbers[term.row as usize * self.dim..][..self.dim]
    }
}

/// What was found.
pub(crate) enum Shortest {
    /// No bound is missed by more than was allowed, or than rounding allows for.
    Found(Meeting),
    /// Multipliers, by terms, that no weights can bear.
    None(Vec<(usize, f64)>),
    /// A limit stopped the search, or rounding.
    Unknown(Stop, u64),
}

/// The shortest weights that meet some bounds.
pub(crate) struct Meeting {
    pub(crate) weights: Vec<f64>,
    /// Terms whose bound is met, with the bound.
    pub(crate) bounds: Vec<(usize, f64)>,
    /// Of these.
    pub(crate) multipliers: Vec<f64>,
    pub(crate) steps: u64,
    basis: Basis,
}

impl Meeting {
    /// What is to be added to weights and multipliers where the bounds are still missed by `missing`.
    pub(crate) fn correction(&self, missing: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let met = self.basis.meet(missing);
        (met.weights, met.multipliers)
    }
}

/// Searches, until no bound is missed by more than `slack`. Rows without a bound do not count.
pub(crate) fn search(rows: &Rows<'_>, terms: &[ItemTerm], slack: f64, limits: Limits<'_>) -> Shortest {
    let lowest = |best: Option<usize>, k: usize| match best {
        Some(best) if terms[best].low >= terms[k].low => Some(best),
        _ => Some(k),
    };
    let Some(first) = (0..terms.len()).fold(None, lowest) else { return Shortest::Unknown(Stop::Stalled, 0) };
    let mut search =
        Search { rows, terms, slack, active: Vec::new(), basis: Basis::new(rows.dim), met: Met::default() };
    let (parts, rest) = search.basis.split(rows.row(&terms[first]));
    search.basis.qr.push(parts, rest);
    search.active.push(Active { term: first, side: 1.0 });
    search.settle();
    search.run(limits)
}

/// A bound that is met: the lower one (side 1) or the upper one (−1).
#[derive(Clone, Copy, PartialEq)]
struct Active {
    term: usize,
    side: f64,
}

impl Active {
    fn bound(self, terms: &[ItemTerm]) -> f64 {
        if self.side > 0.0 { terms[self.term].low } else { terms[self.term].high }
    }
}

struct Search<'a> {
    rows: &'a Rows<'a>,
    terms: &'a [ItemTerm],
    slack: f64,
    active: Vec<Active>,
    basis: Basis,
    met: Met,
}

/// Weights that meet bounds.
#[derive(Default)]
struct Met {
    weights: Vec<f64>,
    bias: f64,
    multipliers: Vec<f64>,
}

/// What became of a bound that was to come in.
enum Entry {
    Met,
    Impossible(Vec<(usize, f64)>),
    Lost,
}

impl Search<'_> {
    fn run(mut self, limits: Limits<'_>) -> Shortest {
        let most = (MOST_STEPS * (self.terms.len() + self.rows.dim) + 1000) as u64;
        let mut steps = 0;
        loop {
            if let Some(stop) = limits.reached(steps, f64::NAN) {
                return Shortest::Unknown(stop, steps);
            }
            if steps > most {
                return Shortest::Unknown(Stop::Stalled, steps);
            }
            let Some(newcomer) = self.worst() else { break };
            match self.enter(newcomer, &mut steps) {
                Entry::Met => self.settle(),
                Entry::Impossible(multipliers) => return Shortest::None(multipliers),
                Entry::Lost => return Shortest::Unknown(Stop::Stalled, steps),
            }
        }
        let bounds = self.active.iter().map(|active| (active.term, active.bound(self.terms))).collect();
        let Met { weights, multipliers, .. } = self.met;
        Shortest::Found(Meeting { weights, bounds, multipliers, steps, basis: self.basis })
    }

    fn score(&self, term: usize) -> f64 {
        dot(self.rows.row(&self.terms[term]), &self.met.weights) + self.met.bias
    }

    fn scores(&self) -> Vec<f64> {
        let all = 0..self.terms.len();
        match self.terms.len() * self.rows.dim < WORTH_A_TASK {
            true => all.map(|term| self.score(term)).collect(),
            false => all.into_par_iter().map(|term| self.score(term)).collect(),
        }
    }

    /// By how much a bound is missed.
    fn missed(&self, bound: Active) -> f64 {
        bound.side * (bound.bound(self.terms) - self.score(bound.term))
    }

    /// The bound that is missed most, if any is, and is not active already.
    fn worst(&self) -> Option<Active> {
        let mut worst = (self.slack, None);
        for (term, (wish, score)) in self.terms.iter().zip(self.scores()).enumerate() {
            for (missed, side) in [(wish.low - score, 1.0), (score - wish.high, -1.0)] {
                let bound = Active { term, side };
                if missed > worst.0 && !self.active.contains(&bound) {
                    worst = (missed, Some(bound));
                }
            }
        }
        worst.1
    }

    /// Moves weights and multipliers until the newcomer's bound is met; others leave on the way.
    fn enter(&mut self, newcomer: Active, steps: &mut u64) -> Entry {
        let row = self.rows.row(&self.terms[newcomer.term]);
        let mut own = 0.0;
        loop {
            *steps += 1;
            let (parts, rest) = self.basis.split(row);
            let is_dependent = norm(&rest) <= self.rows.resolution * (1.0 + dot(row, row)).sqrt();
            let pull = if is_dependent { 0.0 } else { rest[self.rows.dim] / self.basis.share_of_bias() };
            let mut rates: Vec<f64> =
                parts.iter().zip(self.basis.tail()).map(|(part, tail)| -(part + tail * pull)).collect();
            self.basis.qr.solve_upper(&mut rates);
            let length = match is_dependent {
                true => f64::INFINITY,
                false => {
                    let curve = dot(&rest, &rest) + pull * rest[self.rows.dim];
                    (self.missed(newcomer) / curve).max(0.0)
                }
            };
            let leaver = self.leaver(newcomer, &rates).filter(|(_, room)| *room < length);
            let size = leaver.map_or(length, |(_, room)| room);
            if size == f64::INFINITY {
                let others = self.active.iter().zip(&rates).map(|(a, rate)| (a.term, newcomer.side * rate));
                return Entry::Impossible(others.chain([(newcomer.term, newcomer.side)]).collect());
            }
            own += newcomer.side * size;
            let step = newcomer.side * size;
            self.met.multipliers.iter_mut().zip(&rates).for_each(|(t, rate)| *t += step * rate);
            let Some((leaver, _)) = leaver else {
                self.basis.qr.push(parts, rest);
                self.active.push(newcomer);
                self.met.multipliers.push(own);
                return Entry::Met;
            };
            if !is_dependent {
                // The direction of w is what is left of the row, and of b's own, beside the active ones.
                let away = self.basis.away(pull, &rest);
                add_multiple(&mut self.met.weights, step, &away[..self.rows.dim]);
                self.met.bias += step * away[self.rows.dim];
            }
            if self.active.len() == 1 {
                return Entry::Lost;
            }
            self.active.remove(leaver);
            self.met.multipliers.remove(leaver);
            self.basis.qr.remove(leaver);
        }
    }

    /// The multiplier that is the first to reach 0, and how far that is; of some at once, the fastest.
    fn leaver(&self, newcomer: Active, rates: &[f64]) -> Option<(usize, f64)> {
        let fastest = rates.iter().fold(1.0_f64, |most, rate| most.max(rate.abs()));
        let mut first: Option<(usize, f64, f64)> = None;
        for (at, (active, rate)) in self.active.iter().zip(rates).enumerate() {
            let fall = -active.side * newcomer.side * rate;
            if fall > STANDS * fastest {
                let room = (active.side * self.met.multipliers[at]).max(0.0) / fall;
                if first.is_none_or(|(_, least, speed)| room < least || (room == least && fall > speed)) {
                    first = Some((at, room, fall));
                }
            }
        }
        first.map(|(at, room, _)| (at, room))
    }

    /// Weights and multipliers from the active bounds alone, so that rounding does not add up; once more for what is missing.
    fn settle(&mut self) {
        let bounds: Vec<f64> = self.active.iter().map(|active| active.bound(self.terms)).collect();
        self.met = self.basis.meet(&bounds);
        for _ in 0..2 {
            let missing: Vec<f64> =
                self.active.iter().zip(&bounds).map(|(active, bound)| bound - self.score(active.term)).collect();
            let more = self.basis.meet(&missing);
            add_multiple(&mut self.met.weights, 1.0, &more.weights);
            add_multiple(&mut self.met.multipliers, 1.0, &more.multipliers);
            self.met.bias += more.bias;
        }
    }
}

/// Q·R, whose columns are rows (x, 1).
struct Basis {
    dim: usize,
    qr: Qr,
}

impl Basis {
    fn new(dim: usize) -> Self {
        Basis { dim, qr: Qr::default() }
    }

    /// The last row of Q.
    fn tail(&self) -> Vec<f64> {
        self.qr.q.iter().map(|column| column[self.dim]).collect()
    }

    /// ‖q‖²
    fn share_of_bias(&self) -> f64 {
        let tail = self.tail();
        dot(&tail, &tail).max(f64::MIN_POSITIVE)
    }

    /// (x, 1) as a combination of the columns of Q and the rest.
    fn split(&self, row: &[f64]) -> (Vec<f64>, Vec<f64>) {
        self.qr.split(&[row, &[1.0]].concat())
    }

    /// The shortest weights with these scores of the rows.
    fn meet(&self, scores: &[f64]) -> Met {
        let mut y = scores.to_vec();
        self.qr.solve_lower(&mut y);
        let tail = self.tail();
        let bias = dot(&tail, &y) / self.share_of_bias();
        add_multiple(&mut y, -bias, &tail);
        let mut weights = vec![0.0; self.dim];
        for (column, share) in self.qr.q.iter().zip(&y) {
            add_multiple(&mut weights, *share, &column[..self.dim]);
        }
        self.qr.solve_upper(&mut y);
        Met { weights, bias, multipliers: y }
    }

    /// `rest` and `pull` times what of b's own direction is not in the span of Q.
    fn away(&self, pull: f64, rest: &[f64]) -> Vec<f64> {
        let mut away = rest.to_vec();
        away[self.dim] += pull;
        for column in &self.qr.q {
            let tail = column[self.dim];
            add_multiple(&mut away, -pull * tail, column);
        }
        away
    }
}
