//! The best β for given margins: where the slope Σ c·∂f/∂b, which never falls, crosses zero, one visit of the pairs per step;
//! the slope of a squared hinge has corners, but only so many.

use super::rule::{PairLoss, with_loss};
use super::{Hinge, PairSums, Rule, Way};
use crate::data::Outcome;
use crate::problem::crossing::{Pull, crossing};

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
        let high = if self.rule.has_barrier() { -self.widest_tie(way) } else { f64::INFINITY };
        let (beta, stiffness) = crossing(|beta| self.pull(way, beta), guess, high);
        if self.capped && beta > -1.0 {
            let pull = self.pull(way, -1.0);
            return Offset { beta: -1.0, is_free: false, stiffness: pull.stiffness };
        }
        Offset { beta, is_free: true, stiffness }
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
        parts.into_iter().fold(Pull::default(), Pull::plus)
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
