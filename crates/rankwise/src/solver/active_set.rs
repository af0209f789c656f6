//! The least ½‖w‖² + Σ cost·max(0, target − row·(w, f)) over weights w and free numbers f (a bias, thresholds), to the last
//! digits: for few terms, at any costs.
//!
//! Goldfarb and Idnani's dual method (1983) with upper bounds. The multiplier a of a term, 0 ≤ a ≤ cost, is 0 where the target is
//! met, the cost where it is missed, and between them where the score *is* the target; these terms are the active set, and
//! w = Σ a·row. The term whose multiplier is most wrong comes in: its multiplier moves until its score is the target, while the
//! scores of the active terms stay. On the way multipliers of those that meet 0 or their cost leave. The dual value grows
//! with every term that comes in, so that no set returns and the search ends, however large costs are and however many terms say
//! the same: where search directions are small (SMO) or kinks are rounded off (Newton), such problems take for ever.
//!
//! f has no square of its own. The proximal point method gives it one, ½(f − f₀)²/reach², and moves f₀ to where f was until f
//! stays.

use super::Limits;
use super::qr::{Qr, norm};
use crate::math::{add_multiple, dot};
use crate::progress::Stop;

/// How far f moves at the price of a weight of 1, in units of the longest row; further where costs are small, so that one term
/// can move it by its target.
const LEAST_REACH: f64 = 32.0;
const MOST_REACH: f64 = 1e9;
/// How often f₀ moves, and when it stays: where the square adds so little to the value.
const MOST_MOVES: usize = 60;
const STAYS: f64 = 1e-16;
/// What is left of a row beside its length where it lies in the span of others.
const DEPENDENT: f64 = 1e-12;
/// Multipliers that change by less than this beside the fastest stay as they are.
const STANDS: f64 = 1e-14;
/// By how much a target may be missed, in lengths of rows and weights: what rounding leaves.
const ROUNDING: f64 = 1e-12;
/// Steps for each term and number, after which rounding leads in circles.
const MOST_STEPS: u64 = 100;

/// What is to be minimised.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// One row after the other: what scores are made of by weights, then by free numbers.
    pub(crate) rows: Vec<f64>,
    pub(crate) n_weights: usize,
    pub(crate) n_free: usize,
    pub(crate) targets: Vec<f64>,
    /// Above 0; infinite where the target must be met.
    pub(crate) costs: Vec<f64>,
}

impl Terms {
    fn dim(&self) -> usize {
        self.n_weights + self.n_free
    }

    fn row(&self, term: usize) -> &[f64] {
        &self.rows[term * self.dim()..][..self.dim()]
    }

    fn len(&self) -> usize {
        self.targets.len()
    }

    /// ½‖w‖² + Σ cost·max(0, target − score) at weights and free numbers.
    fn value(&self, at: &[f64]) -> f64 {
        let loss = |term: usize| {
            let missed = self.targets[term] - dot(self.row(term), at);
            if missed > 0.0 { self.costs[term] * missed } else { 0.0 }
        };
        0.5 * dot(&at[..self.n_weights], &at[..self.n_weights]) + (0..self.len()).map(loss).sum::<f64>()
    }
}

/// The minimum, or how far the search came.
#[derive(Debug, Clone)]
pub(crate) struct Minimum {
    pub(crate) weights: Vec<f64>,
    pub(crate) free: Vec<f64>,
    /// One for each term: w = Σ multiplier·row, and for free numbers the same sum is 0, both to rounding.
    pub(crate) multipliers: Vec<f64>,
    pub(crate) steps: u64,
    /// `None`: this is the minimum.
    pub(crate) stop: Option<Stop>,
}

/// Minimises; `None` where targets that must be met contradict one another.
pub(crate) fn minimise(terms: &Terms, limits: Limits<'_>) -> Option<Minimum> {
    let length = |term: usize| norm(&terms.row(term)[..terms.n_weights]);
    let longest = (0..terms.len()).map(length).fold(0.0, f64::max);
    let unit = if longest.is_normal() { longest } else { 1.0 };
    // With rows of length 1 and weights in the same units: ½‖w‖² has the factor unit⁻², which costs take over. Those that are
    // infinite stay so, and none becomes 0, whatever the unit is.
    let mut scaled = terms.clone();
    let finite = scaled.costs.iter_mut().filter(|cost| cost.is_finite());
    finite.for_each(|cost| *cost = (*cost * unit * unit).max(f64::MIN_POSITIVE));
    let least = scaled.costs.iter().copied().fold(f64::INFINITY, f64::min);
    let reach = (1.0 / least).sqrt().clamp(LEAST_REACH, MOST_REACH);
    for row in scaled.rows.chunks_exact_mut(terms.dim().max(1)) {
        row[..terms.n_weights].iter_mut().for_each(|x| *x /= unit);
        row[terms.n_weights..].iter_mut().for_each(|x| *x *= reach);
    }
    let mut center = vec![0.0; terms.n_free];
    let (mut steps, mut n_moves) = (0, 0);
    loop {
        for term in 0..terms.len() {
            scaled.targets[term] = terms.targets[term] - dot(&terms.row(term)[terms.n_weights..], &center);
        }
        let Found { v, multipliers, stop } = Search::new(&scaled).run(&mut steps, limits)?;
        let value = scaled.value(&v);
        let (w, moved) = v.split_at(terms.n_weights);
        center.iter_mut().zip(moved).for_each(|(center, moved)| *center += reach * moved);
        n_moves += 1;
        let is_settled = 0.5 * dot(moved, moved) <= STAYS * value;
        if is_settled || stop.is_some() || n_moves == MOST_MOVES {
            let stop = stop.or((!is_settled).then_some(Stop::Stalled));
            let multipliers = multipliers.iter().zip(&terms.costs).map(|(a, cost)| (a / unit / unit).min(*cost));
            let multipliers = multipliers.collect();
            let weights = w.iter().map(|w| w / unit).collect();
            return Some(Minimum { weights, free: center, multipliers, steps, stop }.lengthened(terms));
        }
    }
}

impl Minimum {
    /// A value below the minimum: that of the multipliers as a point of the dual, of which those that pull at a free number more than
    /// others hold it are made smaller.
    pub(crate) fn bound(&self, terms: &Terms) -> f64 {
        let mut multipliers = self.multipliers.clone();
        for free in terms.n_weights..terms.dim() {
            let pulls = |sign: f64, multipliers: &[f64]| {
                let pull = |(term, a): (usize, &f64)| (sign * a * terms.row(term)[free]).max(0.0);
                multipliers.iter().enumerate().map(pull).sum::<f64>()
            };
            let [up, down] = [1.0, -1.0].map(|sign| pulls(sign, &multipliers));
            let heavier = if up > down { 1.0 } else { -1.0 };
            let factor = if up.max(down) > 0.0 { up.min(down) / up.max(down) } else { 1.0 };
            for (term, a) in multipliers.iter_mut().enumerate() {
                *a *= if heavier * terms.row(term)[free] > 0.0 { factor } else { 1.0 };
            }
        }
        let mut weights = vec![0.0; terms.n_weights];
        for (term, &a) in multipliers.iter().enumerate() {
            add_multiple(&mut weights, a, &terms.row(term)[..terms.n_weights]);
        }
        dot(&multipliers, &terms.targets) - 0.5 * dot(&weights, &weights)
    }

    /// Longer by what rounding has left of losses, where costs make much of it.
    fn lengthened(self, terms: &Terms) -> Self {
        let at = [&self.weights[..], &self.free].concat();
        let missed = (0..terms.len())
            .filter(|&term| self.multipliers[term] < terms.costs[term] && terms.targets[term] > 0.0)
            .map(|term| (terms.targets[term] - dot(terms.row(term), &at)) / terms.targets[term])
            .fold(0.0, f64::max);
        let mut best = (terms.value(&at), at.clone());
        for factor in [1.0, 2.0, 4.0] {
            let longer: Vec<f64> = at.iter().map(|x| x * (1.0 + factor * missed)).collect();
            let value = terms.value(&longer);
            if value < best.0 {
                best = (value, longer);
            }
        }
        let (weights, free) = best.1.split_at(terms.n_weights);
        Minimum { weights: weights.to_vec(), free: free.to_vec(), ..self }
    }
}

/// What a multiplier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Zero,
    Active,
    AtCost,
}

/// Where a search with f₀ fixed ended.
struct Found {
    v: Vec<f64>,
    multipliers: Vec<f64>,
    stop: Option<Stop>,
}

struct Search<'a> {
    terms: &'a Terms,
    lengths: Vec<f64>,
    places: Vec<Place>,
    multipliers: Vec<f64>,
    /// In the order of the columns of Q·R.
    active: Vec<usize>,
    qr: Qr,
    v: Vec<f64>,
}

/// What ends a step of a multiplier that comes in.
enum End {
    Met,
    OwnBound,
    Leaves(usize, Place),
}

impl<'a> Search<'a> {
    fn new(terms: &'a Terms) -> Self {
        Search {
            terms,
            lengths: (0..terms.len()).map(|term| norm(terms.row(term))).collect(),
            places: vec![Place::Zero; terms.len()],
            multipliers: vec![0.0; terms.len()],
            active: Vec::new(),
            qr: Qr::default(),
            v: vec![0.0; terms.dim()],
        }
    }

    /// `None` where there is no answer.
    fn run(mut self, steps: &mut u64, limits: Limits<'_>) -> Option<Found> {
        let most = *steps + MOST_STEPS * (self.terms.len() + self.terms.dim() + 10) as u64;
        let stop = loop {
            let Some((term, direction)) = self.most_wrong() else { break None };
            if let Some(stop) = limits.reached(*steps, f64::NAN) {
                break Some(stop);
            }
            if *steps >= most {
                break Some(Stop::Stalled);
            }
            if !self.bring_in(term, direction, steps) {
                return None;
            }
            self.settle();
        };
        Some(Found { v: self.v, multipliers: self.multipliers, stop })
    }

    /// The term with the multiplier that is most wrong, and where it is to go: up (1) or down (−1).
    fn most_wrong(&self) -> Option<(usize, f64)> {
        let mut most = (ROUNDING * (1.0 + norm(&self.v)), None);
        for term in 0..self.terms.len() {
            let direction = match self.places[term] {
                Place::Zero => 1.0,
                Place::AtCost => -1.0,
                Place::Active => continue,
            };
            let wrong = direction * self.missed(term) / self.lengths[term].max(f64::MIN_POSITIVE);
            if wrong > most.0 {
                most = (wrong, Some((term, direction)));
            }
        }
        most.1
    }

    fn missed(&self, term: usize) -> f64 {
        self.terms.targets[term] - dot(self.terms.row(term), &self.v)
    }

    /// Moves the multiplier of a term until its score is the target, or until it is at its bound; others leave on the way. False
    /// where nothing bounds the way.
    fn bring_in(&mut self, term: usize, direction: f64, steps: &mut u64) -> bool {
        let row = self.terms.row(term);
        loop {
            *steps += 1;
            let (parts, rest) = self.qr.split(row);
            let is_dependent = norm(&rest) <= DEPENDENT * self.lengths[term];
            let mut rates: Vec<f64> = parts.iter().map(|part| -direction * part).collect();
            self.qr.solve_upper(&mut rates);
            let to_target = match is_dependent {
                true => f64::INFINITY,
                false => (direction * self.missed(term) / dot(&rest, &rest)).max(0.0),
            };
            let (size, end) = self.first_end(term, direction, &rates, to_target);
            if size == f64::INFINITY {
                return false;
            }
            for (&at, rate) in self.active.iter().zip(&rates) {
                self.multipliers[at] = (self.multipliers[at] + size * rate).clamp(0.0, self.terms.costs[at]);
            }
            self.multipliers[term] = (self.multipliers[term] + direction * size).clamp(0.0, self.terms.costs[term]);
            if !is_dependent {
                add_multiple(&mut self.v, direction * size, &rest);
            }
            match end {
                End::Met => {
                    self.qr.push(parts, rest);
                    self.active.push(term);
                    self.places[term] = Place::Active;
                    return true;
                }
                End::OwnBound => {
                    self.put(term, if direction > 0.0 { Place::AtCost } else { Place::Zero });
                    return true;
                }
                End::Leaves(at, place) => {
                    let leaver = self.active.remove(at);
                    self.qr.remove(at);
                    self.put(leaver, place);
                }
            }
        }
    }

    fn put(&mut self, term: usize, place: Place) {
        self.places[term] = place;
        self.multipliers[term] = if place == Place::AtCost { self.terms.costs[term] } else { 0.0 };
    }

    /// How far the multiplier of a term can go, at most to its target, and what it meets there; of some at once, the fastest.
    fn first_end(&self, term: usize, direction: f64, rates: &[f64], to_target: f64) -> (f64, End) {
        let (multiplier, cost) = (self.multipliers[term], self.terms.costs[term]);
        let own = if direction > 0.0 { cost - multiplier } else { multiplier };
        let mut first = if own < to_target { (own, End::OwnBound) } else { (to_target, End::Met) };
        let fastest = rates.iter().fold(0.0_f64, |most, rate| most.max(rate.abs()));
        let mut speed = f64::INFINITY;
        for (at, (&active, &rate)) in self.active.iter().zip(rates).enumerate() {
            if rate.abs() <= STANDS * fastest {
                continue;
            }
            let multiplier = self.multipliers[active];
            let (room, place) = match rate < 0.0 {
                true => (multiplier / -rate, Place::Zero),
                false => ((self.terms.costs[active] - multiplier) / rate, Place::AtCost),
            };
            if room < first.0 || (room == first.0 && rate.abs() > speed) {
                (first, speed) = ((room, End::Leaves(at, place)), rate.abs());
            }
        }
        first
    }

    /// Weights and multipliers from the active set alone, so that rounding does not add up. What lies in the span of the active
    /// rows follows from their targets; large costs that cancel each other leave no rounding there.
    fn settle(&mut self) {
        let terms = self.terms;
        let mut v = vec![0.0; terms.dim()];
        for term in (0..terms.len()).filter(|&term| self.places[term] == Place::AtCost) {
            add_multiple(&mut v, terms.costs[term], terms.row(term));
        }
        let shares: Vec<f64> = self.qr.q.iter().map(|column| dot(column, &v)).collect();
        v = self.qr.split(&v).1;
        let mut targets: Vec<f64> = vec![0.0; self.active.len()];
        // Once more for what is missing.
        for _ in 0..3 {
            let mut missing: Vec<f64> =
                self.active.iter().map(|&at| terms.targets[at] - dot(terms.row(at), &v)).collect();
            self.qr.solve_lower(&mut missing);
            for ((column, target), missing) in self.qr.q.iter().zip(&mut targets).zip(&missing) {
                add_multiple(&mut v, *missing, column);
                *target += missing;
            }
        }
        let mut multipliers: Vec<f64> = targets.iter().zip(&shares).map(|(target, share)| target - share).collect();
        self.qr.solve_upper(&mut multipliers);
        for (&at, a) in self.active.iter().zip(multipliers) {
            self.multipliers[at] = a.clamp(0.0, terms.costs[at]);
        }
        self.v = v;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;
    use crate::progress::Unwatched;

    const LIMITS: Limits<'_> = Limits { tol: 1e-9, max_iter: u64::MAX, deadline: None, watch: &Unwatched };

    /// Rows of small whole numbers or of any, many of them alike; each has one free number, if there are any.
    fn terms(random: &mut Random) -> Terms {
        let (n_weights, n_free) = (1 + random.below(8), random.below(4));
        let is_coarse = random.below(2) == 0;
        let mut terms = Terms { rows: Vec::new(), n_weights, n_free, targets: Vec::new(), costs: Vec::new() };
        let cost = 10f64.powf(random.between(-10.0, 9.0));
        let mut known: Vec<Vec<f64>> = Vec::new();
        for _ in 0..1 + random.below(80) {
            let mut value = || if is_coarse { random.below(3) as f64 - 1.0 } else { random.normal() };
            let mut row: Vec<f64> = (0..n_weights).map(|_| value()).collect();
            if !known.is_empty() && random.below(3) == 0 {
                row = known[random.below(known.len())].clone();
            }
            known.push(row.clone());
            // Most are as a line says, some are not.
            let sign = if row.iter().sum::<f64>() >= 0.0 { 1.0 } else { -1.0 };
            let sign = if random.below(5) == 0 { -sign } else { sign };
            let own = random.below(n_free.max(1));
            terms.rows.extend(row.iter().map(|x| sign * x));
            terms.rows.extend((0..n_free).map(|free| if free == own { sign } else { 0.0 }));
            terms.targets.push(1.0);
            terms.costs.push(cost * (1.0 + random.below(3) as f64));
        }
        terms
    }

    #[test]
    fn the_minimum_is_certified_by_its_multipliers() {
        let mut random = Random::new(0);
        for case in 0..400 {
            let terms = terms(&mut random);
            let found = minimise(&terms, LIMITS).unwrap();
            assert_eq!(found.stop, None, "case {case}");
            // ½‖w‖² + Σ cost·max(0, target − row·(w, f)), and Σ a·target − ½‖Σ a·row‖², by plain loops.
            let (dim, at) = (terms.dim(), [&found.weights[..], &found.free].concat());
            let mut value: f64 = 0.5 * found.weights.iter().map(|w| w * w).sum::<f64>();
            let mut pulls = vec![0.0; dim];
            let (mut linear, mut size) = (0.0, 0.0);
            for (term, &a) in found.multipliers.iter().enumerate() {
                assert!((0.0..=terms.costs[term]).contains(&a));
                let row = &terms.rows[term * dim..][..dim];
                let score: f64 = row.iter().zip(&at).map(|(x, v)| x * v).sum();
                value += terms.costs[term] * (terms.targets[term] - score).max(0.0);
                pulls.iter_mut().zip(row).for_each(|(pull, x)| *pull += a * x);
                linear += a * terms.targets[term];
                size += a;
            }
            let (of_weights, of_free) = pulls.split_at(terms.n_weights);
            let dual = linear - 0.5 * of_weights.iter().map(|w| w * w).sum::<f64>();
            if value < 1e-20 {
                continue; // free numbers meet all targets by themselves, and nothing but rounding is left
            }
            assert!(of_free.iter().all(|pull| pull.abs() <= 1e-6 * size), "case {case}: {of_free:?}");
            let scale = value.max(1e-12 * size).max(1e-300);
            assert!((value - dual).abs() <= 1e-6 * scale, "case {case}: {value} and {dual}");
            assert!(found.bound(&terms) <= value * (1.0 + 1e-9) + 1e-12 * size, "case {case}");
        }
    }

    #[test]
    fn targets_that_must_be_met_and_cannot_be_have_no_minimum() {
        let terms = |signs: [f64; 2]| Terms {
            rows: signs.iter().flat_map(|sign| [*sign, 2.0 * sign]).collect(),
            n_weights: 2,
            n_free: 0,
            targets: vec![1.0; 2],
            costs: vec![f64::INFINITY; 2],
        };
        assert!(minimise(&terms([1.0, -1.0]), LIMITS).is_none());
        let found = minimise(&terms([1.0, 3.0]), LIMITS).unwrap();
        assert!((found.weights[0] - 0.2).abs() < 1e-12 && (found.weights[1] - 0.4).abs() < 1e-12, "{found:?}");
    }
}
