//! The fits of one loss and one kernel on one training part, from the smallest C to the largest.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::tuner::TuneWatch;
use crate::data::Comparisons;
use crate::error::{Error, Result};
use crate::estimator::{HeldOut, Path};
use crate::metrics::{Judged, PairMetric};
use crate::progress::{Progress, Stop, Watch};

/// One more point was measured on one held-out part.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TuneProgress {
    /// So many points times parts are done.
    pub done: usize,
    /// Of so many.
    pub total: usize,
    /// C of this one.
    pub c: f64,
    /// How long it took.
    pub time: Duration,
}

/// What became of a point on one part.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    /// The metric on the held-out pairs, and how the fit ended.
    Measured(f64, Stop),
    /// The numbers of this point cannot be computed; others can.
    Failed(String),
    /// The time was over, or the caller asked to stop.
    NotReached,
}

/// When to stop, and whom to tell.
pub(super) struct Limits<'a> {
    pub(super) deadline: Option<Instant>,
    pub(super) watch: &'a dyn TuneWatch,
    pub(super) done: AtomicUsize,
    pub(super) total: usize,
}

impl Limits<'_> {
    /// Whether nothing more is to be begun.
    pub(super) fn are_over(&self) -> bool {
        self.is_late() || !self.watch.keep_going()
    }

    /// Whether the time is over.
    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Counts a point and tells.
    fn tell(&self, c: f64, time: Duration) {
        let done = self.done.fetch_add(1, Ordering::SeqCst) + 1;
        self.watch.on_point(TuneProgress { done, total: self.total, c, time });
    }
}

impl Watch for Limits<'_> {
    fn on_progress(&self, _: Progress) -> bool {
        !self.are_over()
    }
}

/// Fits along a path, once for every C of an ascending list, and measures on the held-out pairs of the path's part. A point
/// whose numbers leave their range is [`Cell::Failed`]; any other error ends the search.
pub(super) fn chain(
    mut path: Path<'_>,
    held: &Comparisons,
    cs: &[f64],
    metric: PairMetric,
    limits: &Limits<'_>,
) -> Result<Vec<Cell>> {
    let mut cells = Vec::with_capacity(cs.len());
    for &c in cs {
        if limits.are_over() {
            break;
        }
        let started = Instant::now();
        let cell = match path.next(c, metric.needs_threshold(), limits) {
            Ok(HeldOut { stop: Stop::Interrupted, .. }) => break,
            Ok(HeldOut { margins, threshold, stop }) => {
                let judged = Judged::new(&held.outcomes, &margins, held.weights.as_deref(), threshold)?;
                match metric.of(&judged) {
                    Some(value) => Cell::Measured(value, stop),
                    None => Cell::Failed(format!("{} is not defined", metric.name())),
                }
            }
            Err(Error::Numeric { problem, .. }) => Cell::Failed(problem),
            Err(error) => return Err(error),
        };
        limits.tell(c, started.elapsed());
        cells.push(cell);
    }
    cells.resize(cs.len(), Cell::NotReached);
    Ok(cells)
}

/// The cells of a kernel that cannot be computed at all.
pub(super) fn failed(cs: &[f64], problem: &str, limits: &Limits<'_>) -> Vec<Cell> {
    cs.iter().for_each(|&c| limits.tell(c, Duration::ZERO));
    vec![Cell::Failed(problem.into()); cs.len()]
}
