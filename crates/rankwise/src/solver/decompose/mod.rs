//! Decomposition: many coefficients of items at a time.
//!
//! The working set are the coefficients that violate optimality most, and half of those of the last round. Its own problem
//! is solved on a small matrix ([`inner`]); what moved there is then added to the scores of all items, tile by tile, without a
//! row of the kernel ever being stored. Items that are far from moving become *cold*: their scores are brought up to date
//! once in a while, with all that moved since. The duality gap over all items ends the search, and nothing else does.
//!
//! Values are f32 and sums f64. A gap below 1e-5 is measured on scores computed anew in f64; above, a sample of
//! them says whether f32 will do.

mod certificate;
mod inner;

use super::{Halving, Limits};
use crate::math::Real;
use crate::problem::{ItemDual, ItemProducts};
use crate::progress::Stop;

pub(crate) use certificate::Worth;
use inner::{LANES, WorkingSet};

/// Coefficients that move in a round.
const SET: usize = 1024;
/// What a round leaves of the violation in its set.
const INNER_SHARE: f64 = 0.1;
/// Steps of a round, in multiples of the set.
const INNER_STEPS: u64 = 50;
/// Cold items come back when the violation among the hot ones is this share of what it was.
const HOT_SHARE: f64 = 0.2;
/// With more hot items than this share there are no cold ones.
const WORTH_COOLING: f64 = 0.9;
/// Rounds between two looks at the gap, unless the violation falls.
const LOOK: u32 = 16;
/// Rounds without a better gap after which this precision can do no more, and rounds over all items for it to halve.
const PATIENCE: u32 = 400;
const MOST_SLOW: u64 = 400;
/// Searches over hot items without a better gap after which this precision can do no more.
const MOST_IDLE: u32 = 20;
/// Below this, the gap is measured on f64 scores.
const NARROW_TOL: f64 = 1e-5;
/// Items on which f32 scores are held against f64 ones.
const SPOT_CHECKS: usize = 256;
/// Values that are computed between two looks at the clock, and multiplications.
const VALUES_AT_A_TIME: usize = 1 << 25;
const WORK_AT_A_TIME: usize = 1 << 30;
/// Curvature that counts as none beside the largest K(x, x).
const FLAT: f64 = 1e-7;

/// Where and why a search ended.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Scores of all items, without a bias.
    pub(crate) scores: Vec<f64>,
    pub(crate) worth: Worth,
    pub(crate) steps: u64,
    pub(crate) stop: Stop,
}

/// Minimises from coefficients `t` on (within their bounds, summing to 0). `work` has the values in working precision, `exact` in
/// f64; both know the items by `members`. [`Stop::Stalled`]: this precision can do no more.
pub(crate) fn solve<W: ItemProducts, E: ItemProducts>(
    work: &W,
    exact: &E,
    members: &[u32],
    diagonal: &[f64],
    duals: &[ItemDual],
    t: &mut [f64],
    limits: Limits<'_>,
) -> Ending {
    let mut search = Search::new(work, members, diagonal, duals, t);
    let is_narrow = size_of::<W::Value>() < 8;
    if let Some(stop) = search.refresh(exact, 1.0, limits) {
        // Scores of 0 are known.
        search.t.fill(0.0);
        search.scores.fill(0.0);
        let worth = search.worth();
        return search.end(worth, stop);
    }
    let mut worth = search.worth();
    let mut last_exact = f64::INFINITY;
    let (mut slow, mut idle, mut least) = (0, 0, f64::INFINITY);
    loop {
        if worth.relative() <= limits.tol {
            return search.end(worth, Stop::Converged);
        }
        let before = search.steps;
        let why = search.run(&worth, limits);
        worth = search.worth();
        idle = if worth.gap < 0.99 * least { 0 } else { idle + 1 };
        least = least.min(worth.gap);
        let has_converged = worth.relative() <= limits.tol;
        if let Some(stop @ (Stop::MaxIter | Stop::TimeLimit | Stop::Interrupted)) =
            why.or_else(|| limits.reached(search.steps, worth.relative()))
        {
            if is_narrow && !(has_converged && limits.tol >= NARROW_TOL && search.is_narrow_enough(exact, &worth)) {
                // What f32 scores say of the end is not to be told, where there is time for others.
                let limits = Limits { max_iter: u64::MAX, ..limits };
                if search.refresh(exact, worth.relative(), limits).is_some() {
                    return search.end(worth, stop);
                }
                worth = search.worth();
            }
            let has_converged = worth.relative() <= limits.tol;
            return search.end(worth, if has_converged { Stop::Converged } else { stop });
        }
        let is_stuck = why == Some(Stop::Stalled) || search.steps == before || idle > MOST_IDLE;
        let is_sure = || !is_narrow || (limits.tol >= NARROW_TOL && search.is_narrow_enough(exact, &worth));
        if has_converged && is_sure() {
            return search.end(worth, Stop::Converged);
        }
        if has_converged || is_stuck {
            if let Some(stop) = search.refresh(exact, worth.relative(), limits) {
                return search.end(worth, stop);
            }
            worth = search.worth();
            if worth.relative() <= limits.tol {
                return search.end(worth, Stop::Converged);
            }
            idle = 0;
            search.halving.begin(u64::from(search.rounds));
            // Not true of NaN.
            slow = if worth.gap < 0.5 * last_exact { 0 } else { slow + 1 };
            last_exact = last_exact.min(worth.gap);
            if slow >= 2 {
                return search.end(worth, Stop::Stalled);
            }
        }
    }
}

struct Search<'a, W: ItemProducts> {
    work: &'a W,
    members: &'a [u32],
    duals: &'a [ItemDual],
    t: &'a mut [f64],
    scores: Vec<f64>,
    /// The coefficients that `scores` of cold items know of.
    known: Vec<f64>,
    /// Whether items are cold.
    is_cold: Vec<bool>,
    steps: u64,
    rounds: u32,
    /// Of the gap, where all items are hot.
    halving: Halving,
    flat: f64,
}

/// The best offer and the least demand among items.
#[derive(Debug, Clone, Copy)]
struct Violation {
    offer: f64,
    demand: f64,
}

impl Violation {
    fn of(duals: &[ItemDual], t: &[f64], scores: &[f64]) -> Self {
        let mut found = Violation { offer: f64::NEG_INFINITY, demand: f64::INFINITY };
        for ((dual, &t), &score) in duals.iter().zip(t).zip(scores) {
            let level = -score - dual.shift * t;
            found.offer = found.offer.max(level + dual.up(t));
            found.demand = found.demand.min(level + dual.down(t));
        }
        found
    }

    fn size(self) -> f64 {
        self.offer - self.demand
    }
}

impl<'a, W: ItemProducts> Search<'a, W> {
    fn new(work: &'a W, members: &'a [u32], diagonal: &[f64], duals: &'a [ItemDual], t: &'a mut [f64]) -> Self {
        let n = members.len();
        let largest = members.iter().map(|&item| diagonal[item as usize].abs()).fold(0.0, f64::max);
        let least_shift = duals.iter().map(|dual| dual.shift).fold(f64::INFINITY, f64::min);
        let resolution = if size_of::<W::Value>() < 8 { FLAT } else { 1e-12 };
        Search {
            work,
            members,
            duals,
            t,
            scores: vec![0.0; n],
            known: vec![0.0; n],
            is_cold: vec![false; n],
            steps: 0,
            rounds: 0,
            halving: Halving::every(MOST_SLOW * n.div_ceil(SET) as u64),
            flat: (resolution * (largest + least_shift)).max(f64::MIN_POSITIVE),
        }
    }

    fn worth(&self) -> Worth {
        Worth::of(self.duals, self.t, &self.scores)
    }

    fn end(self, worth: Worth, stop: Stop) -> Ending {
        Ending { scores: self.scores, worth, steps: self.steps, stop }
    }

    /// Items with a coefficient, and these.
    fn support(&self) -> (Vec<u32>, Vec<f64>) {
        let used = (0..self.t.len()).filter(|&k| self.t[k] != 0.0);
        joined(used.map(|k| (self.members[k], self.t[k])))
    }

    /// Computes all scores anew, in f64; a limit that is reached before leaves them as they were.
    fn refresh<E: ItemProducts>(&mut self, exact: &E, gap: f64, limits: Limits<'_>) -> Option<Stop> {
        let (items, coefficients) = self.support();
        let mut scores = vec![0.0; self.scores.len()];
        let reached = || limits.reached(self.steps, gap);
        let stop = add_within(exact, (&items, &coefficients), &mut exact.part(self.members), &mut scores, &reached);
        if stop.is_none() {
            self.scores = scores;
            self.known.copy_from_slice(self.t);
        }
        stop
    }

    /// Whether the scores of a sample are near enough to those in f64 for the gap to mean what it says.
    fn is_narrow_enough<E: ItemProducts>(&self, exact: &E, worth: &Worth) -> bool {
        let n = self.members.len();
        let sample: Vec<usize> = (0..n).step_by(n.div_ceil(SPOT_CHECKS)).collect();
        let checked: Vec<u32> = sample.iter().map(|&k| self.members[k]).collect();
        let (items, coefficients) = self.support();
        let mut scores = vec![0.0; sample.len()];
        exact.add(&items, &coefficients, &mut exact.part(&checked), &mut scores);
        // What wrong scores do to the gap, on average.
        let residual = |k: usize, score: f64| self.duals[k].residual(self.t[k], score + worth.bias);
        let off = |(&k, &score): (&usize, &f64)| (residual(k, score) - residual(k, self.scores[k])).abs();
        let error: f64 = sample.iter().zip(&scores).map(off).sum();
        error * n as f64 / sample.len() as f64 <= 0.1 * worth.gap.max(1e-3 * NARROW_TOL * worth.primal.abs())
    }

    /// Brings the scores of cold items up to date; then all are hot. A limit that was reached leaves little time for it, and one
    /// that is reached meanwhile none: then all is as it was before.
    fn synchronise(
        &mut self,
        before: (Vec<f64>, Vec<f64>),
        why: Option<Stop>,
        reached: impl Fn() -> Option<Stop>,
    ) -> Option<Stop> {
        let n_moved = (0..self.t.len()).filter(|&k| self.t[k] != self.known[k]).count();
        let n_cold = self.is_cold.iter().filter(|is_cold| **is_cold).count();
        if why.is_some_and(|stop| stop != Stop::Stalled) && n_moved * n_cold > VALUES_AT_A_TIME {
            self.go_back(before);
            return None;
        }
        let cold: Vec<u32> = (0..self.is_cold.len() as u32).filter(|&k| self.is_cold[k as usize]).collect();
        if !cold.is_empty() {
            let moved = (0..self.t.len()).filter(|&k| self.t[k] != self.known[k]);
            let (items, coefficients) = joined(moved.map(|k| (self.members[k], self.t[k] - self.known[k])));
            let names: Vec<u32> = cold.iter().map(|&k| self.members[k as usize]).collect();
            let mut sums: Vec<f64> = cold.iter().map(|&k| self.scores[k as usize]).collect();
            let mut part = self.work.part(&names);
            if let Some(stop) = add_within(self.work, (&items, &coefficients), &mut part, &mut sums, &reached) {
                self.go_back(before);
                return Some(stop);
            }
            for (&k, sum) in cold.iter().zip(sums) {
                self.scores[k as usize] = sum;
                self.is_cold[k as usize] = false;
            }
        }
        self.known.copy_from_slice(self.t);
        None
    }

    fn go_back(&mut self, (t, scores): (Vec<f64>, Vec<f64>)) {
        (self.scores, self.is_cold) = (scores, vec![false; t.len()]);
        self.t.copy_from_slice(&t);
    }

    /// Which items may move while the violation falls from what it is: the others offer less than anyone asks for.
    fn hot_items(&self) -> Vec<u32> {
        let all = Violation::of(self.duals, self.t, &self.scores);
        let may_move = |&k: &u32| {
            let (dual, t) = (&self.duals[k as usize], self.t[k as usize]);
            let level = -self.scores[k as usize] - dual.shift * t;
            level + dual.up(t) > all.demand || level + dual.down(t) < all.offer
        };
        let n = self.t.len();
        let hot: Vec<u32> = (0..n as u32).filter(may_move).collect();
        if hot.len() as f64 > WORTH_COOLING * n as f64 { (0..n as u32).collect() } else { hot }
    }

    /// Rounds over the hot items, until these are near their optimum or a limit is reached.
    fn run(&mut self, worth: &Worth, limits: Limits<'_>) -> Option<Stop> {
        let before = (self.t.to_vec(), self.scores.clone());
        let places = self.hot_items();
        if places.len() < self.t.len() {
            self.is_cold.fill(true);
            places.iter().for_each(|&k| self.is_cold[k as usize] = false);
        }
        let mut hot = Hot::new(self, places);
        let start = hot.violation().size();
        let target = 0.5 * limits.tol * worth.primal.abs().max(1e-12);
        let (mut looked, mut seen) = (self.rounds, f64::INFINITY);
        let (mut least, mut at_least) = (f64::INFINITY, self.rounds);
        let mut estimate = worth.relative();
        let why = loop {
            let violation = hot.violation();
            if violation.size() <= HOT_SHARE * start && hot.places.len() < self.t.len() {
                break None;
            }
            if violation.size() < 0.7 * seen || self.rounds - looked >= LOOK {
                (looked, seen) = (self.rounds, violation.size());
                let worth = Worth::of(&hot.duals, &hot.t, &hot.scores);
                estimate = worth.gap / worth.primal.abs().max(1e-12);
                if worth.gap <= target || !worth.gap.is_finite() {
                    break (!worth.gap.is_finite()).then_some(Stop::Stalled);
                }
                // All items together may have cold ones soon.
                if violation.size() <= HOT_SHARE * start && self.hot_would_be(&hot) {
                    break None;
                }
                if worth.gap < 0.99 * least {
                    (least, at_least) = (worth.gap, self.rounds);
                } else if self.rounds - at_least > PATIENCE {
                    break Some(Stop::Stalled);
                }
                let are_all = hot.places.len() == self.t.len();
                if are_all && self.halving.is_late(u64::from(self.rounds), worth.gap) {
                    break Some(Stop::Stalled);
                }
            }
            if let Some(stop) = limits.reached(self.steps, estimate) {
                break Some(stop);
            }
            let reached = || limits.reached(self.steps, estimate);
            let steps = match hot.round(self.work, violation, self.flat, &reached) {
                Ok(0) => break Some(Stop::Stalled),
                Ok(steps) => steps,
                Err(stop) => break Some(stop),
            };
            self.steps += steps;
            self.rounds += 1;
        };
        for (at, &k) in hot.places.iter().enumerate() {
            self.t[k as usize] = hot.t[at];
            self.scores[k as usize] = hot.scores[at];
        }
        let steps = self.steps;
        self.synchronise(before, why, || limits.reached(steps, estimate)).or(why)
    }

    /// Whether it would pay to let some items of a search over all of them cool.
    fn hot_would_be(&self, hot: &Hot<W>) -> bool {
        let all = hot.violation();
        let n_hot = hot.duals.iter().zip(&hot.t).zip(&hot.scores).filter(|((dual, t), score)| {
            let level = -**score - dual.shift * **t;
            level + dual.up(**t) > all.demand || level + dual.down(**t) < all.offer
        });
        (n_hot.count() as f64) <= WORTH_COOLING * hot.t.len() as f64
    }
}

/// The items whose scores are always up to date.
struct Hot<W: ItemProducts> {
    /// Where they stand among all.
    places: Vec<u32>,
    /// Their numbers.
    names: Vec<u32>,
    part: W::Part,
    duals: Vec<ItemDual>,
    t: Vec<f64>,
    scores: Vec<f64>,
    /// The last working set, as places among the hot, with the round each came in.
    set: Vec<(u32, u32)>,
    round: u32,
}

impl<W: ItemProducts> Hot<W> {
    fn new(search: &Search<'_, W>, places: Vec<u32>) -> Self {
        let names: Vec<u32> = places.iter().map(|&k| search.members[k as usize]).collect();
        Hot {
            part: search.work.part(&names),
            duals: places.iter().map(|&k| search.duals[k as usize]).collect(),
            t: places.iter().map(|&k| search.t[k as usize]).collect(),
            scores: places.iter().map(|&k| search.scores[k as usize]).collect(),
            set: Vec::new(),
            round: 0,
            names,
            places,
        }
    }

    fn violation(&self) -> Violation {
        Violation::of(&self.duals, &self.t, &self.scores)
    }

    /// Chooses a working set, moves its coefficients, adds what moved to all scores. Returns the steps; a limit that is reached
    /// before leaves coefficients and scores as they were.
    fn round(
        &mut self,
        work: &W,
        violation: Violation,
        flat: f64,
        reached: &dyn Fn() -> Option<Stop>,
    ) -> std::result::Result<u64, Stop> {
        self.round += 1;
        self.choose(violation);
        let set: Vec<usize> = self.set.iter().map(|&(_, k)| k as usize).collect();
        let names: Vec<u32> = set.iter().map(|&k| self.names[k]).collect();
        let stride = set.len().next_multiple_of(LANES);
        let mut gram = vec![W::Value::ZERO; set.len() * stride];
        work.gram(&names, stride, &mut gram);
        // What lies beyond the set belongs to nobody.
        gram.chunks_exact_mut(stride).for_each(|row| row[set.len()..].fill(W::Value::ZERO));
        let duals: Vec<ItemDual> = set.iter().map(|&k| self.duals[k]).collect();
        let mut t: Vec<f64> = set.iter().map(|&k| self.t[k]).collect();
        let scores: Vec<f64> = set.iter().map(|&k| self.scores[k]).collect();
        let working = WorkingSet { gram: &gram, stride, duals: &duals, flat };
        let steps = inner::solve(&working, &mut t, &scores, INNER_SHARE, INNER_STEPS * set.len() as u64);
        let moved: Vec<usize> = (0..set.len()).filter(|&at| t[at] != self.t[set[at]]).collect();
        if moved.is_empty() {
            return Ok(0);
        }
        let (items, coefficients) = joined(moved.iter().map(|&at| (names[at], t[at] - self.t[set[at]])));
        let is_long = items.len() > at_a_time(work, self.scores.len());
        let before = if is_long { self.scores.clone() } else { Vec::new() };
        if let Some(stop) = add_within(work, (&items, &coefficients), &mut self.part, &mut self.scores, reached) {
            self.scores = before;
            return Err(stop);
        }
        set.iter().zip(t).for_each(|(&k, t)| self.t[k] = t);
        Ok(steps)
    }

    /// Half of the set may be free coefficients of the last one, the latest first; the rest are those that violate most, in
    /// turn from either end.
    fn choose(&mut self, violation: Violation) {
        let size = SET.min(self.t.len());
        let mut old = std::mem::take(&mut self.set);
        old.sort_unstable_by(|a, b| b.cmp(a));
        old.retain(|&(_, k)| self.duals[k as usize].is_free(self.t[k as usize]));
        old.truncate(size / 2);
        let mut is_in = vec![false; self.t.len()];
        old.iter().for_each(|&(_, k)| is_in[k as usize] = true);
        let mut set = old;
        let (mut offers, mut demands) = (Vec::new(), Vec::new());
        for (k, ((dual, &t), &score)) in self.duals.iter().zip(&self.t).zip(&self.scores).enumerate() {
            let level = -score - dual.shift * t;
            let (offer, demand) = (level + dual.up(t), level + dual.down(t));
            if offer > violation.demand {
                offers.push((-offer, k as u32));
            }
            if demand < violation.offer {
                demands.push((demand, k as u32));
            }
        }
        least_first(&mut offers, size);
        least_first(&mut demands, size);
        let longer = offers.len().max(demands.len());
        for at in 0..longer {
            for &(_, k) in [offers.get(at), demands.get(at)].into_iter().flatten() {
                if set.len() < size && !std::mem::replace(&mut is_in[k as usize], true) {
                    set.push((self.round, k));
                }
            }
        }
        // In the order of items, whatever brought them here.
        set.sort_unstable_by_key(|&(_, k)| k);
        self.set = set;
    }
}

/// How many items to add to so many sums between two looks.
fn at_a_time<P: ItemProducts>(products: &P, n_sums: usize) -> usize {
    let most = VALUES_AT_A_TIME.min(WORK_AT_A_TIME / products.width().max(1));
    (most / n_sums.max(1)).max(LANES)
}

/// Adds to sums, with looks at the clock between many values; a limit that is reached leaves them half done.
pub(super) fn add_within<P: ItemProducts>(
    products: &P,
    (items, coefficients): (&[u32], &[f64]),
    part: &mut P::Part,
    sums: &mut [f64],
    reached: &dyn Fn() -> Option<Stop>,
) -> Option<Stop> {
    let n_here = at_a_time(products, sums.len());
    for (at, (items, coefficients)) in items.chunks(n_here).zip(coefficients.chunks(n_here)).enumerate() {
        if at > 0
            && let Some(stop) = reached()
        {
            return Some(stop);
        }
        products.add(items, coefficients, part, sums);
    }
    None
}

/// Items with their coefficients, in order; those of members that are the same item as one.
pub(crate) fn joined(members: impl Iterator<Item = (u32, f64)>) -> (Vec<u32>, Vec<f64>) {
    let mut members: Vec<(u32, f64)> = members.collect();
    members.sort_by_key(|&(item, _)| item);
    members.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        first.1 += if is_same { next.1 } else { 0.0 };
        is_same
    });
    members.into_iter().unzip()
}

/// Keeps the `n` least, in order.
pub(super) fn least_first(all: &mut Vec<(f64, u32)>, n: usize) {
    let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if all.len() > n {
        all.select_nth_unstable_by(n, order);
        all.truncate(n);
    }
    all.sort_unstable_by(order);
}
