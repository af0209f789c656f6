//! The hinge by rounding off its kink over smaller and smaller widths, each minimum the start for the next, until the gap
//! of the hinge itself meets the tolerance.
//!
//! With width h, the dual variables of the rounded hinge are dual variables of the hinge, too, and the gap there is
//! ½‖gradient‖² + Σ over the pairs in the rounded part of t(1 − t/h). The latter shrinks like h², because fewer and
//! fewer pairs lie there; that tells which width will do.

use super::Limits;
use super::newton_cg;
use crate::problem::BlockSums;
use crate::progress::Stop;

/// The first width.
const FIRST: f64 = 1.0;
/// What a width may shrink to at once, so that the start is not too far from the next minimum.
const MOST_SHRINKING: f64 = 1.0 / 64.0;
/// What it may shrink to at once where every step is costly and a far start costs many; on the way minima need not be better
/// than this, relative to the gap there.
const SLOW_SHRINKING: f64 = 1.0 / 8.0;
const ON_THE_WAY: f64 = 0.05;
/// What it shrinks to where nothing tells what it should.
const STUCK_SHRINKING: f64 = 1.0 / 8.0;
/// The smallest width that double precision can resolve: the hinge itself, as far as anybody can tell.
pub(crate) const LEAST_WIDTH: f64 = 1e-9;

/// Minimises from `start`, or from the best start to be had. The answer has the least primal value of all widths, and its gap
/// is measured from the best dual value of all.
pub(crate) fn minimise(sums: &mut dyn BlockSums, start: Option<Vec<f64>>, limits: Limits<'_>) -> Smoothed {
    minimise_from(sums, start, None, limits)
}

/// The same from a start that is near the minimum of this width.
pub(crate) fn minimise_from(
    sums: &mut dyn BlockSums,
    start: Option<Vec<f64>>,
    near: Option<f64>,
    limits: Limits<'_>,
) -> Smoothed {
    let (mut width, mut start, mut steps) = (FIRST, start, 0u64);
    // The last width that went well.
    let mut good = FIRST;
    let mut best: Option<Smoothed> = None;
    if let Some(near) = near {
        (width, good) = (near, near);
    } else if sums.in_scores().is_some() {
        (width, start, steps) = approach(sums, start, limits);
        good = width;
    }
    loop {
        sums.round_off(width);
        // Half of the tolerance for the gradient, half for the rounded part.
        let inner = Limits { tol: 0.5 * limits.tol, max_iter: limits.max_iter.saturating_sub(steps), ..limits };
        let minimum = newton_cg::minimise(sums, start, inner);
        steps += minimum.steps;
        let (primal, gap) = (minimum.primal, minimum.gap);
        let dual = primal - gap * primal.max(1e-12);
        let shrinking = (0.25 * limits.tol * primal / minimum.point.excess).sqrt();
        start = Some(minimum.weights.clone());
        let bound = (minimum.weights.clone(), width);
        let here = Smoothed { weights: minimum.weights, primal, dual, bound, steps, stop: minimum.stop };
        let gained = best.as_ref().is_none_or(|best| here.is_gain_over(best));
        let mut answer = match best.take() {
            None => here,
            Some(best) => best.joined(here),
        };
        if answer.gap() <= limits.tol {
            answer.stop = None;
            return answer;
        }
        let limit = minimum.stop.filter(|stop| *stop != Stop::Stalled);
        let is_stuck = minimum.stop.is_some() || shrinking.is_nan() || shrinking >= 1.0;
        let next = if gained && !is_stuck {
            good = width;
            width * shrinking.max(MOST_SHRINKING)
        } else if gained {
            // The gradient does not get small enough, but a narrower part may still bring a better value.
            width * STUCK_SHRINKING
        } else {
            // Too narrow at once: no pair in the rounded part, no curvature to go by. Half way there.
            start = Some(answer.weights.clone());
            (width * good).sqrt()
        };
        if limit.is_some() || next <= LEAST_WIDTH || (!gained && next > 0.7 * good) {
            answer.stop = limit.or(Some(Stop::Stalled));
            return answer;
        }
        width = next;
        best = Some(answer);
    }
}

/// Goes to a width that will do in small steps, from one rough minimum to the next: the width, the last weights, and all steps.
fn approach(sums: &mut dyn BlockSums, start: Option<Vec<f64>>, limits: Limits<'_>) -> (f64, Option<Vec<f64>>, u64) {
    let (mut width, mut weights, mut steps, mut tol) = (FIRST, start, 0, ON_THE_WAY);
    loop {
        sums.round_off(width);
        let inner =
            Limits { tol: tol.max(0.5 * limits.tol), max_iter: limits.max_iter.saturating_sub(steps), ..limits };
        let minimum = newton_cg::minimise(sums, weights, inner);
        steps += minimum.steps;
        let shrinking = (0.25 * limits.tol * minimum.primal / minimum.point.excess).sqrt();
        tol = ON_THE_WAY * minimum.gap;
        weights = Some(minimum.weights);
        let is_near = shrinking.is_nan() || shrinking >= SLOW_SHRINKING;
        if is_near || minimum.stop.is_some() || width <= LEAST_WIDTH / SLOW_SHRINKING {
            let factor = if shrinking < 1.0 { shrinking.max(SLOW_SHRINKING) } else { 1.0 };
            return (width * factor, weights, steps);
        }
        width *= SLOW_SHRINKING;
    }
}

/// A bound from below that lies above a value, beyond rounding, is none; 0 always is one.
pub(crate) fn sound_bound(bound: f64, value: f64) -> f64 {
    if bound <= value + 1e-6 * value.abs().max(1e-12) { bound } else { 0.0 }
}

/// The best answer so far.
pub(crate) struct Smoothed {
    pub(crate) weights: Vec<f64>,
    /// The primal value there.
    pub(crate) primal: f64,
    /// The best dual value.
    dual: f64,
    /// Where that is: weights, and the width there.
    pub(crate) bound: (Vec<f64>, f64),
    /// Steps of Newton's method.
    pub(crate) steps: u64,
    /// The limit that stopped the search, or `None`: the tolerance was met.
    pub(crate) stop: Option<Stop>,
}

impl Smoothed {
    /// (primal − dual)/max(primal, 1e-12); all of it where the dual value is rounding.
    pub(crate) fn gap(&self) -> f64 {
        (self.primal - sound_bound(self.dual, self.primal)) / self.primal.max(1e-12)
    }

    fn is_gain_over(&self, other: &Smoothed) -> bool {
        let resolution = 1e-9 * other.primal;
        self.primal < other.primal - resolution || self.dual > other.dual + resolution
    }

    /// The better weights with the better bound; `later` is the one that knows how far the search has come.
    fn joined(self, later: Smoothed) -> Smoothed {
        let (dual, bound) = if later.dual >= self.dual { (later.dual, later.bound) } else { (self.dual, self.bound) };
        let (primal, weights) =
            if later.primal <= self.primal { (later.primal, later.weights) } else { (self.primal, self.weights) };
        Smoothed { weights, primal, dual, bound, steps: later.steps, stop: later.stop }
    }
}
