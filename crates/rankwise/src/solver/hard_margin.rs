//! The hard margin: the shortest weights that give every better item a lead of at least 1, or the answer that there are none.
//!
//! The squared hinge with growing C comes as close as one likes. At its minimum w for some C, with least lead λ and
//! v = −(gradient of the losses) = Σ α·difference, α ≥ 0:
//!
//!   w/λ is feasible if λ > 0, so the optimum is at most ½‖w‖²/λ²;
//!   every feasible u has u·v ≥ Σα, so the optimum is at least (Σα)²/(2‖v‖²), and no weights of norm 1 have a least
//!   lead above ‖v‖/Σα.

use super::Limits;
use super::newton_cg;
use crate::math::dot;
use crate::problem::BlockSums;
use crate::progress::Stop;

/// How much C grows from one minimum to the next.
pub(crate) const GROWTH: f64 = 32.0;
/// Minima after which nothing more is to be learnt in floating point.
pub(crate) const MOST_MINIMA: usize = 16;
/// A least lead this small, where items usually differ by 1, counts as none.
pub(crate) const NO_LEAD: f64 = 1e-7;

/// What was found.
pub(crate) enum Separation {
    /// Weights with a least lead of 1.
    Found {
        /// The weights.
        weights: Vec<f64>,
        /// ½‖w‖²
        objective: f64,
        /// (objective − lower bound)/objective
        gap: f64,
        /// Steps of Newton's method.
        steps: u64,
        /// The limit that stopped the search, if one did.
        stop: Option<Stop>,
    },
    /// There are none: weights of norm 1 have a least lead of at most this.
    None {
        /// The bound.
        largest_lead: f64,
    },
    /// A limit stopped the search before either was known.
    Unknown(Stop),
}

/// Searches from `start`. `unit` is the usual difference of two items.
pub(crate) fn separate(sums: &mut dyn BlockSums, start: Option<Vec<f64>>, unit: f64, limits: Limits<'_>) -> Separation {
    let (mut start, mut steps) = (start, 0);
    let mut best: Option<(Vec<f64>, f64)> = None;
    let (mut largest_lead, mut bound) = (f64::INFINITY, 0.0_f64);
    let (mut c, mut limit) = (1.0 / (unit * unit), None);
    for _ in 0..MOST_MINIMA {
        sums.set_c(c);
        let inner =
            Limits { tol: (0.01 * limits.tol).max(1e-12), max_iter: limits.max_iter.saturating_sub(steps), ..limits };
        let minimum = newton_cg::minimise(sums, start.take(), inner);
        steps += minimum.steps;
        let made: Vec<f64> = minimum.point.gradient.iter().map(|g| -g).collect();
        // Σα(1 − slack) = w·v, and Σα·slack is twice the losses.
        let total = dot(&minimum.weights, &made) + 2.0 * minimum.point.value;
        let square = dot(&made, &made);
        if total > 0.0 {
            largest_lead = f64::min(largest_lead, square.sqrt() / total);
        }
        // Every bound holds; those of a very large C have few digits.
        if total > 0.0 && square > 0.0 {
            bound = bound.max(total * total / (2.0 * square));
        }
        let lead = sums.least_lead();
        let stop = minimum.stop.filter(|stop| *stop != Stop::Stalled);
        if lead > 0.0 {
            let objective = 0.5 * dot(&minimum.weights, &minimum.weights) / (lead * lead);
            if best.as_ref().is_none_or(|best| objective < best.1) {
                best = Some((minimum.weights.iter().map(|w| w / lead).collect(), objective));
            }
        } else if best.is_none() && largest_lead <= NO_LEAD * unit {
            return Separation::None { largest_lead };
        }
        let is_met = best.as_ref().is_some_and(|(_, objective)| objective - bound <= limits.tol * objective);
        if is_met || stop.is_some() {
            limit = stop;
            break;
        }
        start = Some(minimum.weights);
        c *= GROWTH;
    }
    match best {
        Some((weights, objective)) => {
            let gap = ((objective - bound) / objective).max(0.0);
            let stop = (gap > limits.tol).then_some(limit.unwrap_or(Stop::Stalled));
            Separation::Found { weights, objective, gap, steps, stop }
        }
        None => Separation::Unknown(limit.unwrap_or(Stop::Stalled)),
    }
}
