//! Methods of optimisation; they see the traits of `problem` and nothing else of the world.

pub(crate) mod active_set;
mod aim;
mod basis;
mod cholesky;
pub(crate) mod class_descent;
mod class_step;
pub(crate) mod column_planes;
pub(crate) mod column_program;
pub(crate) mod cutting_plane;
pub(crate) mod decompose;
pub(crate) mod hard_margin;
pub(crate) mod least_squares;
mod master;
mod multipliers;
pub(crate) mod newton_cg;
pub(crate) mod ordinal;
pub(crate) mod pair_newton;
pub(crate) mod polish;
mod qr;
mod scan;
mod score_cg;
pub(crate) mod shortest;
mod simplex;
pub(crate) mod smo;
pub(crate) mod smoothing;
pub(crate) mod subgradient;
mod vertex;
mod vertices;
mod ways;

use std::time::Instant;

use crate::progress::{Progress, Stop, Watch};

/// When to stop.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) tol: f64,
    pub(crate) max_iter: u64,
    pub(crate) deadline: Option<Instant>,
    pub(crate) watch: &'a dyn Watch,
}

impl Limits<'_> {
    /// Whether the time is over.
    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether whoever looks on says to stop.
    fn is_interrupted(&self, steps: u64, gap: f64) -> bool {
        !self.watch.on_progress(Progress { iterations: steps.max(1), gap, tol: self.tol })
    }

    /// Whether the time is over, or whoever looks on says to stop.
    pub(crate) fn is_stopped(&self, steps: u64, gap: f64) -> bool {
        self.is_over() || self.is_interrupted(steps, gap)
    }

    /// The limit that is reached after so many steps with this (estimated) relative gap, if any; tells the watch.
    pub(crate) fn reached(&self, steps: u64, gap: f64) -> Option<Stop> {
        if steps >= self.max_iter {
            Some(Stop::MaxIter)
        } else if self.is_over() {
            Some(Stop::TimeLimit)
        } else if self.is_interrupted(steps, gap) {
            Some(Stop::Interrupted)
        } else {
            None
        }
    }
}

/// Watches a gap that is to halve every so many rounds: where it does not, nobody wants to wait for the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Halving {
    most: u64,
    goal: f64,
    since: u64,
}

impl Halving {
    pub(crate) fn every(most: u64) -> Self {
        Halving { most, goal: f64::INFINITY, since: 0 }
    }

    /// Whether the gap at this round comes too late.
    pub(crate) fn is_late(&mut self, round: u64, gap: f64) -> bool {
        if gap <= self.goal {
            (self.goal, self.since) = (0.5 * gap, round);
        }
        round - self.since >= self.most
    }

    /// Counts from this round on, whatever the gap was before.
    pub(crate) fn begin(&mut self, round: u64) {
        (self.goal, self.since) = (f64::INFINITY, round);
    }
}
