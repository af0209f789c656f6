//! Items with grades by decomposition: many of them at a time, with all of their variables.
//!
//! The scores K·u are kept per item, however many thresholds it has a say in: one row of the kernel serves all of its variables.
//! A round takes the items that violate optimality most at any threshold, and half of those of the last round; it solves for
//! their variables on a small matrix ([`inner`]) and adds what moved to the scores of all. The duality gap over all items, in f64
//! on scores computed anew in f64, ends the search, and nothing else does.

mod inner;

use super::Limits;
use super::decompose::{joined, least_first};
use crate::math::Real;
use crate::problem::{GradeDuals, GradeRuns, GradeWorth, ItemProducts};
use crate::progress::Stop;
use inner::{LANES, WorkingSet};

/// Items whose variables move in a round.
const SET: usize = 1024;
/// What a round leaves of the violation in its set, and in one that has all items.
const INNER_SHARE: f64 = 0.1;
const INNER_SHARE_OF_ALL: f64 = 0.02;
/// Steps of a round, in multiples of the set.
const INNER_STEPS: u64 = 50;
/// Rounds between two looks at the gap, unless the violation falls.
const LOOK: u32 = 16;
/// Rounds, and steps for each item, without a gap that is better by a tenth after which this precision can do no more.
const PATIENCE: u32 = 400;
const PATIENT_STEPS: u64 = 3000;
/// Curvature that counts as none beside the largest K(x, x).
const FLAT: f64 = 1e-7;

/// Where and why a search ended.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Scores of all items, in f64.
    pub(crate) scores: Vec<f64>,
    pub(crate) worth: GradeWorth,
    pub(crate) steps: u64,
    pub(crate) stop: Stop,
}

/// The step up of most gain, by the first order, and the steps down that can go with it.
#[derive(Debug, Clone, Copy)]
struct Pairing {
    /// The threshold of the step up.
    first: usize,
    /// What it offers above the least demand.
    violation: f64,
}

impl Pairing {
    /// From the best offer and the least demand at every threshold.
    fn new(is_explicit: bool, offers: &[f64], demands: &[f64], multipliers: &[f64]) -> Self {
        let reached = least_demands(is_explicit, demands, multipliers);
        let mut found = Pairing { first: 0, violation: f64::NEG_INFINITY };
        for (threshold, (offer, demand)) in offers.iter().zip(reached).enumerate() {
            if offer - demand > found.violation {
                found = Pairing { first: threshold, violation: offer - demand };
            }
        }
        found
    }

    /// The thresholds at which a step down can go with the step up.
    fn partners(&self, is_explicit: bool, multipliers: &[f64]) -> std::ops::RangeInclusive<usize> {
        if !is_explicit {
            return self.first..=self.first;
        }
        let further = multipliers[self.first..].iter().take_while(|multiplier| **multiplier > 0.0).count();
        0..=self.first + further
    }
}

/// The least demand that a step up at each threshold can go with: with constraints those before it, and those behind it as long as
/// the multipliers between are above 0.
fn least_demands(is_explicit: bool, demands: &[f64], multipliers: &[f64]) -> Vec<f64> {
    let mut reached = demands.to_vec();
    if is_explicit {
        for at in (0..multipliers.len()).rev().filter(|&at| multipliers[at] > 0.0) {
            reached[at] = reached[at].min(reached[at + 1]);
        }
        let mut least = f64::INFINITY;
        for (reached, demand) in reached.iter_mut().zip(demands) {
            least = least.min(*demand);
            *reached = reached.min(least);
        }
    }
    reached
}

/// The best offer that a step down at each threshold can go with.
fn best_offers(is_explicit: bool, offers: &[f64], multipliers: &[f64]) -> Vec<f64> {
    let mut reached = offers.to_vec();
    if is_explicit {
        for at in (0..multipliers.len()).filter(|&at| multipliers[at] > 0.0) {
            reached[at + 1] = reached[at + 1].max(reached[at]);
        }
        let mut best = f64::NEG_INFINITY;
        for (reached, offer) in reached.iter_mut().zip(offers).rev() {
            best = best.max(*offer);
            *reached = reached.max(best);
        }
    }
    reached
}

/// Minimises from variables `t` on, which must be feasible. `work` has the values in working precision, `exact` in f64; both know
/// the items by `members`. [`Stop::Stalled`]: this precision can do no more.
pub(crate) fn solve<W: ItemProducts, E: ItemProducts>(
    work: &W,
    exact: &E,
    members: &[u32],
    diagonal: &[f64],
    duals: &GradeDuals,
    t: &mut [f64],
    limits: Limits<'_>,
) -> Ending {
    let largest = members.iter().map(|&item| diagonal[item as usize].abs()).fold(0.0, f64::max);
    let least_shift = (0..members.len()).map(|item| duals.of(0, item).shift).fold(f64::INFINITY, f64::min);
    let resolution = if size_of::<W::Value>() < 8 { FLAT } else { 1e-12 };
    let mut search = Search {
        work,
        members,
        duals,
        multipliers: duals.multipliers(t),
        t,
        scores: vec![0.0; members.len()],
        offsets: duals.runs.offsets(),
        part: work.part(members),
        set: Vec::new(),
        gram: (Vec::new(), Vec::new()),
        steps: 0,
        round: 0,
        flat: (resolution * (largest + least_shift)).max(f64::MIN_POSITIVE),
    };
    search.refresh(exact);
    let mut worth = duals.worth(search.t, &search.scores);
    let (mut slow, mut last_exact) = (0, f64::INFINITY);
    loop {
        if worth.gap <= limits.tol * worth.primal.abs().max(1e-12) {
            return search.end(worth, Stop::Converged);
        }
        let before = search.steps;
        let why = search.run(&worth, limits);
        search.refresh(exact);
        worth = duals.worth(search.t, &search.scores);
        let is_met = worth.gap <= limits.tol * worth.primal.abs().max(1e-12);
        if let Some(stop @ (Stop::MaxIter | Stop::TimeLimit | Stop::Interrupted)) = why {
            return search.end(worth, if is_met { Stop::Converged } else { stop });
        }
        // Not true of NaN.
        slow = if worth.gap < 0.5 * last_exact { 0 } else { slow + 1 };
        last_exact = last_exact.min(worth.gap);
        if !is_met && (slow >= 2 || search.steps == before) {
            return search.end(worth, Stop::Stalled);
        }
    }
}

struct Search<'a, W: ItemProducts> {
    work: &'a W,
    members: &'a [u32],
    duals: &'a GradeDuals,
    t: &'a mut [f64],
    /// Between neighbouring thresholds; 0 without constraints.
    multipliers: Vec<f64>,
    scores: Vec<f64>,
    /// Where the variables of each threshold begin.
    offsets: Vec<usize>,
    part: W::Part,
    /// The last working set with the round in which each item came.
    set: Vec<(u32, u32)>,
    /// The items whose matrix this is, and that.
    gram: (Vec<u32>, Vec<W::Value>),
    steps: u64,
    round: u32,
    flat: f64,
}

/// What every threshold offers, and what can go with it.
struct Standing {
    /// The best offer that a step down can go with, and the least demand that a step up can.
    offers: Vec<f64>,
    demands: Vec<f64>,
    violation: f64,
}

impl<W: ItemProducts> Search<'_, W> {
    fn end(self, worth: GradeWorth, stop: Stop) -> Ending {
        Ending { scores: self.scores, worth, steps: self.steps, stop }
    }

    /// Computes all scores anew, in f64.
    fn refresh<E: ItemProducts>(&mut self, exact: &E) {
        let coefficients = self.duals.coefficients(self.t);
        let used = (0..self.members.len()).filter(|&k| coefficients[k] != 0.0);
        let (items, coefficients) = joined(used.map(|k| (self.members[k], coefficients[k])));
        self.scores.fill(0.0);
        if !items.is_empty() {
            exact.add(&items, &coefficients, &mut exact.part(self.members), &mut self.scores);
        }
    }

    /// What the variable of an item and a threshold offers for a step up, and asks for one down.
    fn levels(&self, threshold: usize, item: usize, t: f64) -> (f64, f64) {
        let dual = self.duals.of(threshold, item);
        let level = -self.scores[item] - dual.shift * t;
        (level + dual.up(t), level + dual.down(t))
    }

    fn standing(&self) -> Standing {
        let runs = &self.duals.runs;
        let m = runs.n_thresholds();
        let (mut offers, mut demands) = (vec![f64::NEG_INFINITY; m], vec![f64::INFINITY; m]);
        for threshold in 0..m {
            for (item, &t) in runs.span(threshold).zip(&self.t[self.offsets[threshold]..]) {
                let (offer, demand) = self.levels(threshold, item, t);
                offers[threshold] = offers[threshold].max(offer);
                demands[threshold] = demands[threshold].min(demand);
            }
        }
        let violation = Pairing::new(runs.is_explicit, &offers, &demands, &self.multipliers).violation;
        Standing {
            demands: least_demands(runs.is_explicit, &demands, &self.multipliers),
            offers: best_offers(runs.is_explicit, &offers, &self.multipliers),
            violation,
        }
    }

    /// Rounds until the gap seems to be met or a limit is reached.
    fn run(&mut self, worth: &GradeWorth, limits: Limits<'_>) -> Option<Stop> {
        // A little less than asked for, so that exact scores will do, too.
        let goal = 0.9 * limits.tol;
        let mut estimate = worth.gap / worth.primal.abs().max(1e-12);
        let (mut looked, mut seen) = (self.round, f64::INFINITY);
        let (mut least, mut at_least, mut steps_then) = (f64::INFINITY, self.round, self.steps);
        let patient_steps = PATIENT_STEPS * self.members.len() as u64;
        loop {
            let standing = self.standing();
            if standing.violation < 0.7 * seen || self.round - looked >= LOOK {
                (looked, seen) = (self.round, standing.violation);
                let worth = self.duals.worth(self.t, &self.scores);
                estimate = worth.gap / worth.primal.abs().max(1e-12);
                if estimate <= goal || !estimate.is_finite() {
                    return None;
                }
                if worth.gap < 0.9 * least {
                    (least, at_least, steps_then) = (worth.gap, self.round, self.steps);
                } else if self.round - at_least > PATIENCE || self.steps - steps_then > patient_steps {
                    return None;
                }
            }
            if let Some(stop) = limits.reached(self.steps, estimate) {
                return Some(stop);
            }
            let steps = self.round(&standing);
            if steps == 0 {
                return None;
            }
            self.steps += steps;
        }
    }

    /// Chooses a working set, moves its variables, adds what moved to all scores. Returns the steps.
    fn round(&mut self, standing: &Standing) -> u64 {
        self.round += 1;
        self.choose(standing);
        let set: Vec<usize> = self.set.iter().map(|&(_, item)| item as usize).collect();
        let names: Vec<u32> = set.iter().map(|&item| self.members[item]).collect();
        let stride = set.len().next_multiple_of(LANES);
        if self.gram.0 != names {
            self.gram.1.resize(set.len() * stride, W::Value::ZERO);
            self.work.gram(&names, stride, &mut self.gram.1);
            // What lies beyond the set belongs to nobody.
            self.gram.1.chunks_exact_mut(stride).for_each(|row| row[set.len()..].fill(W::Value::ZERO));
            self.gram.0.clone_from(&names);
        }
        let runs = &self.duals.runs;
        let starts = runs.starts.iter().map(|&start| set.partition_point(|&item| item < start)).collect();
        let duals = GradeDuals {
            runs: GradeRuns { starts, is_explicit: runs.is_explicit },
            costs: set.iter().map(|&item| self.duals.costs[item]).collect(),
            is_squared: self.duals.is_squared,
        };
        // Where the variables of the set stand among all, threshold by threshold.
        let places: Vec<usize> = (0..runs.n_thresholds())
            .flat_map(|threshold| {
                let (first, start) = (runs.span(threshold).start, self.offsets[threshold]);
                set[duals.runs.span(threshold)].iter().map(move |&item| start + item - first)
            })
            .collect();
        let mut t: Vec<f64> = places.iter().map(|&at| self.t[at]).collect();
        let scores: Vec<f64> = set.iter().map(|&item| self.scores[item]).collect();
        let before = duals.coefficients(&t);
        let share = if set.len() == self.members.len() { INNER_SHARE_OF_ALL } else { INNER_SHARE };
        let working = WorkingSet { gram: &self.gram.1, stride, duals: &duals, flat: self.flat };
        let most = INNER_STEPS * set.len() as u64;
        let steps = inner::solve(&working, &mut t, &scores, &mut self.multipliers, share, most);
        let moved = duals.coefficients(&t).into_iter().zip(before).map(|(after, before)| after - before);
        let moved = names.iter().copied().zip(moved).filter(|(_, moved)| *moved != 0.0);
        let (items, coefficients) = joined(moved);
        places.iter().zip(t).for_each(|(&at, t)| self.t[at] = t);
        if !items.is_empty() {
            self.work.add(&items, &coefficients, &mut self.part, &mut self.scores);
        }
        steps
    }

    /// Half of the set may be items of the last one that have a free variable, the latest first; the rest are those that violate
    /// most, in turn from either end of each threshold.
    fn choose(&mut self, standing: &Standing) {
        let (runs, n) = (&self.duals.runs, self.members.len());
        let size = SET.min(n);
        if size == n {
            self.set = (0..n as u32).map(|item| (0, item)).collect();
            return;
        }
        let mut is_free = vec![false; n];
        let mut ends: Vec<Vec<(f64, u32)>> = Vec::with_capacity(2 * runs.n_thresholds());
        for threshold in 0..runs.n_thresholds() {
            let (mut ups, mut downs) = (Vec::new(), Vec::new());
            for (item, &t) in runs.span(threshold).zip(&self.t[self.offsets[threshold]..]) {
                is_free[item] |= self.duals.of(threshold, item).is_free(t);
                let (offer, demand) = self.levels(threshold, item, t);
                if offer > standing.demands[threshold] {
                    ups.push((standing.demands[threshold] - offer, item as u32));
                }
                if demand < standing.offers[threshold] {
                    downs.push((demand - standing.offers[threshold], item as u32));
                }
            }
            for mut end in [ups, downs] {
                least_first(&mut end, size);
                ends.push(end);
            }
        }
        let mut set = std::mem::take(&mut self.set);
        set.sort_unstable_by(|a, b| b.cmp(a));
        set.retain(|&(_, item)| is_free[item as usize]);
        set.truncate(size / 2);
        let mut is_in = vec![false; n];
        set.iter().for_each(|&(_, item)| is_in[item as usize] = true);
        let longest = ends.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..longest {
            for &(_, item) in ends.iter().filter_map(|end| end.get(at)) {
                if set.len() < size && !std::mem::replace(&mut is_in[item as usize], true) {
                    set.push((self.round, item));
                }
            }
        }
        // In the order of items, which is that of grades.
        set.sort_unstable_by_key(|&(_, item)| item);
        self.set = set;
    }
}
