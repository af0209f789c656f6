//! The best β for given margins: where the slope Σ c·∂f/∂b, which never falls, crosses zero. Newton's method between two
//! bounds, one visit of the pairs per step; the slope of a squared hinge has corners, but only so many.

use super::rule::{PairLoss, with_loss};
use super::{Hinge, PairSums, Rule, Way};
use crate::data::Outcome;

/// Steps before the bounds themselves must do.
const MOST_STEPS: usize = 200;
/// Slopes this small beside their terms are zero.
const RESOLUTION: f64 = 1e-15;

/// The slope in β, its derivative, and the sum of the slopes' sizes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pull {
    pub(crate) slope: f64,
    pub(crate) stiffness: f64,
    pub(crate) size: f64,
}

/// β where it is best.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Offset {
    pub(crate) beta: f64,
    /// It moves with the margins.
    pub(crate) is_free: bool,
    /// Σ of the second derivatives in b, with C.
    pub(crate) stiffness: f64,
}

impl PairSums<'_> {
    /// The best β, from a guess.
    pub(super) fn settle(&self, way: &Way, guess: f64) -> Offset {
        if !self.rule.has_offset() {
            return Offset::default();
        }
        // With a barrier, ties keep b below 0.
        let mut high = if self.rule.has_barrier() { -self.widest_tie(way) } else { f64::INFINITY };
        let mut low = f64::NEG_INFINITY;
        let mut beta = if guess < high { guess } else { high - 1.0 };
        let mut reach = 1.0;
        let mut pull = self.pull(way, beta);
        for _ in 0..MOST_STEPS {
            if pull.slope.abs() <= RESOLUTION * pull.size {
                break;
            }
            if pull.slope < 0.0 {
                low = beta;
            } else {
                high = beta;
            }
            let newton = beta - pull.slope / pull.stiffness;
            let next = if newton.is_finite() && newton > low && newton < high && (newton - beta).abs() <= reach * 8.0 {
                newton
            } else if low.is_finite() && high.is_finite() {
                0.5 * (low + high)
            } else {
                // No bound on this side yet: farther and farther.
                reach *= 2.0;
                if pull.slope < 0.0 { beta + reach } else { beta - reach }
            };
            if next == beta || next <= low || next >= high {
                break;
            }
            beta = next;
            pull = self.pull(way, beta);
        }
        if self.capped && beta > -1.0 {
            let pull = self.pull(way, -1.0);
            return Offset { beta: -1.0, is_free: false, stiffness: pull.stiffness };
        }
        Offset { beta, is_free: true, stiffness: pull.stiffness }
    }

    pub(super) fn pull(&self, way: &Way, beta: f64) -> Pull {
        let parts = with_loss!(self.rule, loss => self.visit(|range| {
            let mut sum = Pull::default();
            for k in range {
                let cost = self.c * self.cost(k);
                if cost > 0.0 {
                    let b = beta + self.width(way, k);
                    let local = loss.at(self.outcomes[k] == Outcome::Tie, self.margin(way, k), b);
                    sum.slope += cost * local.db;
                    sum.stiffness += cost * local.bb;
                    sum.size += (cost * local.db).abs();
                }
            }
            sum
        }));
        parts.into_iter().fold(Pull::default(), |sum, part| Pull {
            slope: sum.slope + part.slope,
            stiffness: sum.stiffness + part.stiffness,
            size: sum.size + part.size,
        })
    }

    /// The largest part of the band in b, over all ties.
    fn widest_tie(&self, way: &Way) -> f64 {
        if self.band.is_none() {
            return 0.0;
        }
        let parts = self.visit(|range| {
            let ties = range.filter(|&k| self.outcomes[k] == Outcome::Tie && self.counts(k));
            ties.map(|k| self.width(way, k)).fold(f64::NEG_INFINITY, f64::max)
        });
        parts.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }
}
