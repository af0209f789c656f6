//! ½‖w‖² + F(w) for an F that is the largest of many planes: planes of F are asked for one by one, and the minimum of what is
//! known (`master`) is a lower bound of the whole.
//!
//! Planes are asked for near the best weights so far, not where the bound lies, which is far away in the beginning: on the way
//! from the former to the latter, a little beyond the lowest point (Franc and Sonnenburg, 2008). The way there is searched
//! without a read of the data.

use super::master::Master;
use super::{Halving, Limits};
use crate::math::add_multiple;
use crate::problem::{Plane, Planes};
use crate::progress::Stop;

/// How far beyond the lowest point a plane is asked for, as a part of the rest of the way.
const BEYOND: f64 = 0.1;
/// Trials on one way, and what is left to gain there, relative to the gain, for it to be enough.
const MOST_TRIALS: usize = 8;
const ENOUGH: f64 = 0.1;
/// Rounds without any gain after which there is none to be had.
const MOST_IDLE: usize = 20;
/// Planes by which the gap is to halve, or else they come too slowly to end.
const MOST_SLOW: u64 = 300;

/// Where a search ended.
pub(crate) struct Minimum {
    pub(crate) weights: Vec<f64>,
    /// ½‖w‖² + F(w)
    pub(crate) primal: f64,
    /// The best lower bound.
    dual: f64,
    /// Where that is: Σ shares·offsets of planes, and Σ shares·normals.
    pub(crate) bound: (f64, Vec<f64>),
    /// Planes that were asked for.
    pub(crate) planes: u64,
    /// The limit that stopped it, or `None`: the tolerance was met.
    pub(crate) stop: Option<Stop>,
}

impl Minimum {
    /// (primal − dual)/max(primal, 1e-12)
    pub(crate) fn gap(&self) -> f64 {
        (self.primal - self.dual).max(0.0) / self.primal.max(1e-12)
    }
}

/// Minimises from `start`, or from 0.
pub(crate) fn minimise(sums: &mut dyn Planes, start: Option<Vec<f64>>, limits: Limits<'_>) -> Minimum {
    let weights = start.unwrap_or_else(|| vec![0.0; sums.dim()]);
    let point = sums.go_to(&weights);
    let primal = half_square(sums, &weights) + point.value;
    let bound = (0.0, vec![0.0; sums.dim()]);
    let mut best = Minimum { weights, primal, dual: 0.0, bound, planes: 1, stop: None };
    let mut master = Master::new(sums.dim());
    let normal: Vec<f64> = point.gradient.iter().map(|g| -g).collect();
    master.add(Plane { offset: point.value + sums.dot(&normal, &best.weights), normal }, &|a, b| sums.dot(a, b));
    let (mut losses, mut n_idle, mut guess) = (point.value, 0, 0.5);
    let mut halving = Halving::every(MOST_SLOW);
    if !primal.is_finite() {
        best.stop = Some(Stop::Stalled);
        return best;
    }
    loop {
        let lowest = master.solve(1e-3 * limits.tol * best.primal, &|a, b| sums.dot(a, b));
        let gained_bound = lowest.value > best.dual + 1e-14 * best.primal;
        if lowest.value > best.dual {
            best.dual = lowest.value;
            best.bound = (lowest.offset, lowest.weights.clone());
        }
        if best.gap() <= limits.tol {
            return best;
        }
        best.stop = limits.reached(best.planes, best.gap());
        if best.stop.is_some() {
            return best;
        }
        let direction: Vec<f64> = lowest.weights.iter().zip(&best.weights).map(|(to, from)| to - from).collect();
        sums.aim(&direction);
        let way = Way::new(sums, losses, &best.weights, &direction);
        let (step, losses_there) = way.lowest(sums, guess);
        guess = if step > 0.0 { step } else { 0.25 * guess };
        let beyond = if step < 1.0 { step + BEYOND * (1.0 - step) } else { step };
        let Some(plane) = sums.plane(beyond) else {
            best.stop = Some(Stop::Stalled);
            return best;
        };
        best.planes += 1;
        master.add(plane, &|a, b| sums.dot(a, b));
        let gained = step > 0.0 && way.value(step, losses_there) < best.primal * (1.0 - 1e-14);
        if gained {
            sums.settle(step);
            add_multiple(&mut best.weights, step, &direction);
            losses = losses_there;
            best.primal = way.value(step, losses);
        }
        n_idle = if gained || gained_bound { 0 } else { n_idle + 1 };
        if n_idle >= MOST_IDLE || halving.is_late(best.planes, best.primal - best.dual) {
            best.stop = Some(Stop::Stalled);
            return best;
        }
    }
}

/// ½‖w‖²; what rounding has made of that below 0 is 0.
fn half_square(sums: &dyn Planes, weights: &[f64]) -> f64 {
    0.5 * sums.dot(weights, weights).max(0.0)
}

/// The way from the best weights to others, step 1: F(step) + ½‖w + step·direction‖².
struct Way {
    /// F at its start.
    losses: f64,
    half_square: f64,
    slope: f64,
    square: f64,
}

/// F at a step, and its slope.
#[derive(Clone, Copy)]
struct Trial {
    step: f64,
    losses: f64,
    slope: f64,
}

impl Way {
    fn new(sums: &dyn Planes, losses: f64, weights: &[f64], direction: &[f64]) -> Self {
        Way {
            losses,
            half_square: half_square(sums, weights),
            slope: sums.dot(weights, direction),
            // The product with a kernel is rounded: without this the lowest point of the square might lie behind the start.
            square: sums.dot(direction, direction).max(0.0),
        }
    }

    fn value(&self, step: f64, losses: f64) -> f64 {
        losses + self.half_square + step * (self.slope + 0.5 * step * self.square)
    }

    /// The slope of the whole.
    fn slope_at(&self, trial: Trial) -> f64 {
        trial.slope + self.slope + trial.step * self.square
    }

    /// About the lowest point of the way, and F there; `guess` is where to look first. Between a trial that falls and one that
    /// rises, the lowest point of the two lines of F there (and of the square, which is known) is tried next.
    fn lowest(&self, sums: &mut dyn Planes, guess: f64) -> (f64, f64) {
        let mut try_at = |step: f64| {
            let (losses, slope) = sums.along(step);
            Trial { step, losses, slope }
        };
        let mut left = try_at(0.0);
        if self.slope_at(left) >= 0.0 {
            return (0.0, self.losses);
        }
        // F is nowhere below its line at the start, so the lowest point is not behind that of the line with the square.
        let end = (-(left.slope + self.slope) / self.square).min(1.0);
        let (mut right, mut next): (Option<Trial>, f64) = (None, guess.min(end));
        let start = self.value(0.0, self.losses);
        let mut best = (0.0, self.losses);
        for _ in 0..MOST_TRIALS {
            let trial = try_at(next);
            if self.value(trial.step, trial.losses) < self.value(best.0, best.1) {
                best = (trial.step, trial.losses);
            }
            if self.slope_at(trial) < 0.0 {
                left = trial;
            } else {
                right = Some(trial);
            }
            let Some(right) = right else {
                if next >= end {
                    break;
                }
                next = end.min(4.0 * next);
                continue;
            };
            let (step, bound) = self.lowest_between(left, right);
            let value = self.value(best.0, best.1);
            if !step.is_finite() || value - bound <= ENOUGH * (start - value) {
                break;
            }
            let margin = 0.02 * (right.step - left.step);
            next = step.clamp(left.step + margin, right.step - margin);
        }
        best
    }

    /// The lowest point of the square with the higher one of the two lines, and its value.
    fn lowest_between(&self, left: Trial, right: Trial) -> (f64, f64) {
        let line = |of: Trial, step: f64| of.losses + of.slope * (step - of.step);
        let parabola = |of: Trial| (-(of.slope + self.slope) / self.square).clamp(left.step, right.step);
        let crossing = (line(left, 0.0) - line(right, 0.0)) / (right.slope - left.slope);
        // Each parabola has its lowest point where it is the higher one, or else they meet there.
        let (of_left, of_right) = (parabola(left), parabola(right));
        let step = if of_left <= crossing {
            of_left
        } else if of_right >= crossing {
            of_right
        } else {
            crossing
        };
        (step, self.value(step, line(left, step).max(line(right, step))))
    }
}
