//! The hinge by rounding off its kink over smaller and smaller widths, each minimum the start for the next, until the gap
//! of the hinge itself meets the tolerance.
//!
//! With width h, the dual variables of the rounded hinge are dual variables of the hinge, too, and the gap there is
//! ½‖gradient‖² + Σ over the pairs in the rounded part of t(1 − t/h). The latter shrinks like h², because fewer and
//! fewer pairs lie there; that tells which width will do.

use super::Limits;
use super::newton_cg::{self, Minimum};
use crate::problem::BlockSums;
use crate::progress::Stop;

/// The first width.
const FIRST: f64 = 1.0;
/// What a width may shrink to at once, so that the start is not too far from the next minimum.
const MOST_SHRINKING: f64 = 1.0 / 64.0;
/// The smallest width that double precision can resolve.
const LEAST: f64 = 1e-9;

/// Minimises from `start`, or from the best start to be had.
pub(crate) fn minimise(sums: &mut dyn BlockSums, start: Option<Vec<f64>>, limits: Limits<'_>) -> Minimum {
    let (mut width, mut start, mut steps) = (FIRST, start, 0);
    loop {
        sums.round_off(width);
        // Half of the tolerance for the gradient, half for the rounded part.
        let inner = Limits { tol: 0.5 * limits.tol, max_iter: limits.max_iter.saturating_sub(steps), ..limits };
        let mut minimum = newton_cg::minimise(sums, start, inner);
        steps += minimum.steps;
        minimum.steps = steps;
        if minimum.gap() <= limits.tol {
            minimum.stop = None;
            return minimum;
        }
        let allowed = 0.25 * limits.tol * minimum.primal();
        let shrinking = (allowed / minimum.point.excess).sqrt();
        match minimum.stop {
            Some(Stop::Stalled) | None if width > LEAST && shrinking < 1.0 => {}
            stop => {
                minimum.stop = stop.or(Some(Stop::Stalled));
                return minimum;
            }
        }
        width *= shrinking.max(MOST_SHRINKING);
        start = Some(minimum.weights);
    }
}
