//! Sequential minimal optimisation over mirrored duals.
//!
//! Two variables move at a time: the one with the best offer, and the one whose step with it promises most. The margins
//! z of all active pairs are kept up to date with rows in working precision; pairs that can no longer move are set aside
//! (shrinking). When the estimated gap meets the tolerance, margins, primal and dual are computed anew in f64 from the
//! dual variables alone; only that certificate ends the search. What it finds violated among the pairs set aside comes
//! back. So errors of f32 rows never add up: each certificate is a step of iterative refinement.

use super::aim::{Aim, Occasion};
use super::scan::{FLAT, First, Levels, PAD, Variable, find_second, update_and_find_offer};
use super::{Halving, Limits};
use crate::math::Real;
use crate::problem::{Anchor, Certificate, Dual, MirroredQp, PairMatrix};
use crate::progress::Stop;

/// A point of the search, from which it can be taken up again (also in another precision).
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// Two dual variables per pair.
    pub(crate) duals: Vec<[f64; 2]>,
    /// The variable that touches no item.
    pub(crate) anchor: f64,
    /// Steps so far.
    pub(crate) iterations: u64,
}

impl State {
    /// Where the search starts: 0, but for pairs whose two variables cancel (a tie of `rank2` pulls both ways).
    pub(crate) fn start(problem: &dyn MirroredQp) -> Self {
        let start = |d: &Dual| {
            let a = if d.mirrored && d.label > 0.0 { d.upper.min(1.0 / d.shift) } else { 0.0 };
            [a, a]
        };
        let duals = problem.duals().iter().map(start).collect();
        let mut state = State { duals, anchor: 0.0, iterations: 0 };
        state.settle_anchor(problem);
        state
    }

    /// Takes up given variables times a factor: within their bounds, and the heavier side of Σ y·a made lighter where
    /// nothing else balances it.
    pub(crate) fn resume(problem: &dyn MirroredQp, mut duals: Vec<[f64; 2]>, factor: f64) -> Self {
        let mut sums = [0.0; 2];
        for (dual, a) in problem.duals().iter().zip(&mut duals) {
            *a = a.map(|a| (factor * a).clamp(0.0, dual.upper));
            sums[usize::from(dual.label > 0.0)] += a[0] + a[1];
        }
        let [minus, plus] = sums;
        let (most_minus, most_plus) = match problem.anchor() {
            Anchor::None => (plus, minus),
            Anchor::Zero => (minus, plus),
            Anchor::AtMostMinusOne => (plus, plus),
        };
        let shrink = |sum: f64, most: f64| if sum > most { most / sum } else { 1.0 };
        let factors = [shrink(minus, most_minus), shrink(plus, most_plus)];
        for (dual, a) in problem.duals().iter().zip(&mut duals) {
            *a = a.map(|a| factors[usize::from(dual.label > 0.0)] * a);
        }
        let mut state = State { duals, anchor: 0.0, iterations: 0 };
        state.settle_anchor(problem);
        state
    }

    /// Lets the anchor take what is left of Σ y·a.
    pub(crate) fn settle_anchor(&mut self, problem: &dyn MirroredQp) {
        let sum: f64 = problem.duals().iter().zip(&self.duals).map(|(d, a)| d.label * (a[0] + a[1])).sum();
        self.anchor = match problem.anchor() {
            Anchor::None => 0.0,
            Anchor::Zero => -sum,
            Anchor::AtMostMinusOne => sum.max(0.0),
        };
    }
}

/// Where and why the search ended.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) certificate: Certificate,
    pub(crate) stop: Stop,
    /// The constant answer is optimal.
    pub(crate) collapsed: bool,
}

/// Steps between two looks at the gap, the clock and the watch.
const LOOK: u64 = 64;
/// Steps for each pair in which the gap is to halve; where pairs are few, numbers that these steps read.
const SLOW: u64 = 1000;
const SLOW_NUMBERS: u64 = 1 << 28;

/// Solves from `state` on, in the precision of `matrix`. [`Stop::Stalled`] means that this precision can do no more.
pub(crate) fn solve<M: PairMatrix>(
    problem: &dyn MirroredQp,
    matrix: &mut M,
    state: &mut State,
    limits: Limits<'_>,
) -> Ending {
    let mut search = Search::new(problem, matrix, state);
    let mut certificate = search.refresh();
    let mut aim = Aim::new(problem, limits.tol);
    let n = problem.duals().len().max(1) as u64;
    let mut halving = Halving::every((SLOW_NUMBERS / n).max(SLOW * n));
    halving.begin(search.state.iterations);
    loop {
        if let Some(collapsed) = aim.is_met(&certificate) {
            return Ending { certificate, stop: Stop::Converged, collapsed };
        }
        let ending = search.run(&aim, limits);
        certificate = search.refresh();
        if let Ok(occasion) = ending {
            aim.adjust(&certificate, occasion);
        }
        if let Some(collapsed) = aim.is_met(&certificate) {
            return Ending { certificate, stop: Stop::Converged, collapsed };
        }
        let is_late = halving.is_late(search.state.iterations, (certificate.primal - certificate.dual).abs());
        let is_hopeless = is_late || aim.is_hopeless(&certificate, size_of::<M::Value>() < 8);
        match ending {
            Err(stop) => return Ending { certificate, stop, collapsed: false },
            Ok(_) if is_hopeless => return Ending { certificate, stop: Stop::Stalled, collapsed: false },
            Ok(_) => {}
        }
    }
}

struct Search<'a, M: PairMatrix> {
    problem: &'a dyn MirroredQp,
    matrix: &'a mut M,
    state: &'a mut State,
    /// z of every pair; for pairs set aside as of when they were set aside.
    all_margins: Vec<f64>,
    /// By position in the matrix's order.
    margins: Vec<f64>,
    levels: Levels,
    diagonal: Vec<f32>,
    /// The dual value, carried along.
    dual: f64,
    /// Between these lies β.
    offer: f64,
    demand: f64,
}

/// A variable of the working set.
#[derive(Clone, Copy)]
enum Chosen {
    Anchor,
    Pair(Variable),
}

impl Chosen {
    /// ±1: how the variable enters its pair's coefficient; 0 for the anchor.
    fn sign(self) -> f64 {
        match self {
            Chosen::Anchor => 0.0,
            Chosen::Pair(v) if v.mirror => -1.0,
            Chosen::Pair(_) => 1.0,
        }
    }
}

impl<'a, M: PairMatrix> Search<'a, M> {
    fn new(problem: &'a dyn MirroredQp, matrix: &'a mut M, state: &'a mut State) -> Self {
        let n = problem.duals().len();
        Search {
            problem,
            matrix,
            state,
            all_margins: vec![0.0; n],
            margins: Vec::new(),
            levels: Levels::default(),
            diagonal: Vec::new(),
            dual: 0.0,
            offer: 0.0,
            demand: 0.0,
        }
    }

    /// Computes everything anew in f64 and takes back pairs that were set aside too early.
    fn refresh(&mut self) -> Certificate {
        let certificate = self.problem.certify(&self.state.duals, self.state.anchor);
        self.all_margins.copy_from_slice(&certificate.margins);
        self.dual = certificate.dual;
        let n = self.all_margins.len();
        let mut is_active = vec![false; n];
        self.matrix.order().iter().for_each(|&k| is_active[k as usize] = true);
        self.load_levels();
        let (offer, demand) = self.bounds();
        let back: Vec<u32> = (0..n)
            .filter(|&k| !is_active[k])
            .filter(|&k| {
                let (up, down) = self.pair_bounds(k);
                up > demand || down < offer
            })
            .map(|k| k as u32)
            .collect();
        if !back.is_empty() {
            let kept: Vec<u32> = (0..self.matrix.order().len() as u32).collect();
            self.matrix.rearrange(&kept, &back);
            self.load_levels();
        }
        (self.offer, self.demand) = self.bounds();
        certificate
    }

    /// Level numbers of a pair: (up, up of the mirror, down, down of the mirror).
    fn pair_levels(&self, k: usize) -> [f64; 4] {
        let dual = &self.problem.duals()[k];
        let [a, m] = self.state.duals[k];
        let one = |a: f64| {
            let level = dual.label - dual.label * dual.shift * a;
            let (may_grow, may_fall) = (a < dual.upper, a > 0.0);
            let (up, down) = if dual.label > 0.0 { (may_grow, may_fall) } else { (may_fall, may_grow) };
            (if up { level } else { f64::NEG_INFINITY }, if down { level } else { f64::INFINITY })
        };
        let (up, down) = one(a);
        let (up_mirror, down_mirror) = if dual.mirrored { one(m) } else { (f64::NEG_INFINITY, f64::INFINITY) };
        [up, up_mirror, down, down_mirror]
    }

    /// Best offer and lowest demand of a pair.
    fn pair_bounds(&self, k: usize) -> (f64, f64) {
        let ([up, up_mirror, down, down_mirror], z) = (self.pair_levels(k), self.all_margins[k]);
        ((up - z).max(up_mirror + z), (down - z).min(down_mirror + z))
    }

    fn load_levels(&mut self) {
        let order = self.matrix.order();
        let padded = order.len().next_multiple_of(PAD);
        let levels: Vec<[f64; 4]> = order.iter().map(|&k| self.pair_levels(k as usize)).collect();
        let column = |c: usize, padding: f64| {
            let mut column: Vec<f64> = levels.iter().map(|l| l[c]).collect();
            column.resize(padded, padding);
            column
        };
        self.levels = Levels {
            up: column(0, f64::NEG_INFINITY),
            up_mirror: column(1, f64::NEG_INFINITY),
            down: column(2, f64::INFINITY),
            down_mirror: column(3, f64::INFINITY),
        };
        let (diagonal, duals) = (self.matrix.diagonal(), self.problem.duals());
        self.diagonal = order.iter().map(|&k| (diagonal[k as usize] + duals[k as usize].shift) as f32).collect();
        self.diagonal.resize(padded, 1.0);
        self.margins = order.iter().map(|&k| self.all_margins[k as usize]).collect();
        self.margins.resize(padded, 0.0);
    }

    fn set_levels(&mut self, position: usize) {
        let [up, up_mirror, down, down_mirror] = self.pair_levels(self.matrix.order()[position] as usize);
        self.levels.up[position] = up;
        self.levels.up_mirror[position] = up_mirror;
        self.levels.down[position] = down;
        self.levels.down_mirror[position] = down_mirror;
    }

    /// What the anchor offers and asks for.
    fn anchor_bounds(&self) -> (f64, f64) {
        match self.problem.anchor() {
            Anchor::None => (f64::NEG_INFINITY, f64::INFINITY),
            Anchor::Zero => (0.0, 0.0),
            Anchor::AtMostMinusOne => (if self.state.anchor > 0.0 { -1.0 } else { f64::NEG_INFINITY }, -1.0),
        }
    }

    /// Best offer and lowest demand of the active pairs and the anchor.
    fn bounds(&self) -> (f64, f64) {
        let positions = 0..self.margins.len();
        positions.fold(self.anchor_bounds(), |(offer, demand), p| {
            let z = self.margins[p];
            (offer.max(self.levels.offer(p, z)), demand.min(self.levels.demand(p, z)))
        })
    }

    /// Steps until a certificate is due, or a limit says stop.
    fn run(&mut self, aim: &Aim, limits: Limits<'_>) -> Result<Occasion, Stop> {
        let n = self.all_margins.len();
        let shrink_every = (n as u64).clamp(LOOK, 1000);
        let started_at = self.state.iterations;
        let patience = started_at + aim.patience(n);
        let (mut offers, mut gains) = (Vec::new(), Vec::new());
        let zeros = vec![M::Value::ZERO; self.margins.len()];
        let unmoved = [(0.0, &zeros[..]); 2];
        let mut next = update_and_find_offer(&mut self.margins, unmoved, &self.levels, &mut offers);
        loop {
            let (anchor_offer, anchor_demand) = self.anchor_bounds();
            let (first, offer) = match next {
                Some((offer, variable)) if offer >= anchor_offer => (Chosen::Pair(variable), offer),
                _ if anchor_offer > f64::NEG_INFINITY => (Chosen::Anchor, anchor_offer),
                _ => return Ok(Occasion::Impatient),
            };
            let (first_slot, first_diagonal) = match first {
                Chosen::Anchor => (None, 0.0),
                Chosen::Pair(v) => {
                    let pair = self.matrix.order()[v.position];
                    (Some(self.matrix.load(pair, None)), self.diagonal[v.position])
                }
            };
            let first_row = first_slot.map_or(&zeros[..], |slot| self.matrix.row(slot));
            let view = First { offer, sign: first.sign() as f32, diagonal: first_diagonal };
            let (violation, second) =
                find_second(view, &self.margins, first_row, &self.diagonal, &self.levels, &mut gains);
            let anchor_violation = (offer - anchor_demand).max(0.0);
            self.offer = offer;
            self.demand = offer - f64::from(violation).max(anchor_violation);
            let anchor_gain = if matches!(first, Chosen::Anchor) {
                0.0
            } else {
                anchor_violation * anchor_violation / f64::from(first_diagonal).max(FLAT)
            };
            let second = match second {
                Some((gain, variable)) if f64::from(gain) >= anchor_gain => Chosen::Pair(variable),
                _ if anchor_gain > 0.0 => Chosen::Anchor,
                _ => return Ok(Occasion::Impatient), // no violation left in this precision
            };
            let entry = match (first, second) {
                (Chosen::Pair(v), Chosen::Pair(w)) if v.position == w.position => {
                    self.matrix.diagonal()[self.pair_of(v)]
                }
                (Chosen::Pair(_), Chosen::Pair(w)) => first_row[w.position].to_f64(),
                _ => 0.0,
            };
            let moved = self.step(first, second, offer, entry);
            self.state.iterations += 1;
            if moved == 0.0 || !moved.is_finite() {
                return Ok(Occasion::Impatient);
            }
            // z += Δt · row, with Δt = ± the step.
            let second_slot = match second {
                Chosen::Anchor => None,
                Chosen::Pair(v) => {
                    let pair = self.matrix.order()[v.position];
                    Some(self.matrix.load(pair, first_slot))
                }
            };
            let row = |slot: Option<u32>| slot.map_or(&zeros[..], |slot| self.matrix.row(slot));
            let rows = [(first.sign() * moved, row(first_slot)), (-second.sign() * moved, row(second_slot))];
            next = update_and_find_offer(&mut self.margins, rows, &self.levels, &mut offers);

            if self.state.iterations >= limits.max_iter {
                return Err(Stop::MaxIter);
            }
            if self.state.iterations.is_multiple_of(LOOK)
                && let Some(ending) = self.look(aim, limits, patience)
            {
                return ending;
            }
            if (self.state.iterations - started_at).is_multiple_of(shrink_every) && self.shrink() {
                next = update_and_find_offer(&mut self.margins, unmoved, &self.levels, &mut offers);
            }
        }
    }

    /// Whether a certificate is due, or a limit says stop.
    fn look(&self, aim: &Aim, limits: Limits<'_>, patience: u64) -> Option<Result<Occasion, Stop>> {
        // The best β is worth finding now and then: the middle may be far from it until the very end.
        let gap = if self.state.iterations.is_multiple_of(16 * LOOK) {
            self.least_estimated_gap()
        } else {
            self.estimated_gap(0.5 * (self.offer + self.demand))
        };
        let primal = self.dual + gap;
        if gap <= aim.estimate(primal) {
            Some(Ok(Occasion::Promising))
        } else if self.state.iterations >= patience || aim.has_run_away(self.dual) {
            Some(Ok(Occasion::Impatient))
        } else {
            limits.reached(self.state.iterations, gap / primal.max(1e-12)).map(Err)
        }
    }

    /// Moves two variables along y by the same amount, the first up, the second down; returns the amount. `entry` is
    /// the matrix entry of their two pairs.
    fn step(&mut self, first: Chosen, second: Chosen, offer: f64, entry: f64) -> f64 {
        let demand = match second {
            Chosen::Anchor => self.anchor_bounds().1,
            Chosen::Pair(v) if v.mirror => self.levels.down_mirror[v.position] + self.margins[v.position],
            Chosen::Pair(v) => self.levels.down[v.position] - self.margins[v.position],
        };
        let cross = 2.0 * first.sign() * second.sign() * entry;
        let curvature = (self.diagonal_of(first) + self.diagonal_of(second) - cross).max(FLAT);
        let slope = offer - demand;
        let (room_one, room_two) = (self.room(first, true), self.room(second, false));
        let moved = (slope / curvature).min(room_one).min(room_two);
        self.dual += moved * (slope - 0.5 * moved * curvature);
        self.move_variable(first, moved, moved == room_one, true);
        self.move_variable(second, moved, moved == room_two, false);
        moved
    }

    fn pair_of(&self, v: Variable) -> usize {
        self.matrix.order()[v.position] as usize
    }

    /// Diagonal entry of the quadratic form, shift included.
    fn diagonal_of(&self, chosen: Chosen) -> f64 {
        match chosen {
            Chosen::Anchor => 0.0,
            Chosen::Pair(v) => self.matrix.diagonal()[self.pair_of(v)] + self.problem.duals()[self.pair_of(v)].shift,
        }
    }

    /// How far a variable may go: up along y means that it grows for label +1 and falls for −1.
    fn room(&self, chosen: Chosen, up: bool) -> f64 {
        match (chosen, self.problem.anchor()) {
            (Chosen::Anchor, Anchor::AtMostMinusOne) if up => self.state.anchor,
            (Chosen::Anchor, _) => f64::INFINITY,
            (Chosen::Pair(v), _) => {
                let dual = &self.problem.duals()[self.pair_of(v)];
                let a = self.state.duals[self.pair_of(v)][usize::from(v.mirror)];
                if (dual.label > 0.0) == up { dual.upper - a } else { a }
            }
        }
    }

    fn move_variable(&mut self, chosen: Chosen, moved: f64, to_bound: bool, up: bool) {
        match (chosen, self.problem.anchor()) {
            (Chosen::Anchor, Anchor::AtMostMinusOne) => self.state.anchor += if up { -moved } else { moved },
            (Chosen::Anchor, _) => self.state.anchor += if up { moved } else { -moved },
            (Chosen::Pair(v), _) => {
                let k = self.pair_of(v);
                let dual = self.problem.duals()[k];
                let a = &mut self.state.duals[k][usize::from(v.mirror)];
                let grows = (dual.label > 0.0) == up;
                *a = match (to_bound, grows) {
                    (true, true) => dual.upper,
                    (true, false) => 0.0,
                    (false, true) => *a + moved,
                    (false, false) => *a - moved,
                };
                self.set_levels(v.position);
            }
        }
    }

    /// The absolute gap for a β, taking it that the pairs set aside are where they want to be.
    fn estimated_gap(&self, beta: f64) -> f64 {
        let (beta, anchor) = match self.problem.anchor() {
            Anchor::None => (beta, 0.0),
            Anchor::Zero => (0.0, 0.0),
            Anchor::AtMostMinusOne => (beta.min(-1.0), -self.state.anchor * (1.0 + beta.min(-1.0))),
        };
        let residual =
            |(&k, &z): (&u32, &f64)| self.problem.residual(k as usize, self.state.duals[k as usize], z, beta);
        anchor + self.matrix.order().iter().zip(&self.margins).map(residual).sum::<f64>()
    }

    /// The least estimated gap over β between demand and offer, by golden sections (the gap is convex in β).
    fn least_estimated_gap(&self) -> f64 {
        if self.problem.anchor() == Anchor::Zero {
            return self.estimated_gap(0.0);
        }
        let ratio = 0.5 * (5f64.sqrt() - 1.0);
        let (mut low, mut high) = (self.demand.min(self.offer), self.demand.max(self.offer));
        let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
        let (mut at_a, mut at_b) = (self.estimated_gap(a), self.estimated_gap(b));
        for _ in 0..16 {
            if at_a < at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - ratio * (high - low);
                at_a = self.estimated_gap(a);
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + ratio * (high - low);
                at_b = self.estimated_gap(b);
            }
        }
        at_a.min(at_b)
    }

    /// Sets aside the pairs whose variables are at bounds and want to stay there.
    fn shrink(&mut self) -> bool {
        let (offer, demand) = (self.offer, self.demand);
        let stays = |p: u32| {
            let (p, z) = (p as usize, self.margins[p as usize]);
            self.levels.offer(p, z) >= demand || self.levels.demand(p, z) <= offer
        };
        let n = self.matrix.order().len();
        let kept: Vec<u32> = (0..n as u32).filter(|&p| stays(p)).collect();
        // Moving rows together costs something: do it when it pays.
        if kept.len() * 10 > n * 9 {
            return false;
        }
        for (p, &k) in self.matrix.order().iter().enumerate() {
            self.all_margins[k as usize] = self.margins[p];
        }
        self.matrix.rearrange(&kept, &[]);
        self.load_levels();
        true
    }
}
