//! The fits of one loss and one kernel on one training part, from the smallest C to the largest.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::split::Part;
use super::tuner::TuneWatch;
use crate::data::Verdicts;
use crate::error::{Error, Result};
use crate::estimator::{HeldOut, PairEstimator, Path};
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
    /// The metric on what was held out, and how the fit ended.
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

    /// Measures a point on a part, unless that is over, counts it and tells. A point whose numbers leave their range is
    /// [`Cell::Failed`]; any other error ends the search.
    pub(super) fn cell(&self, c: f64, measure: impl FnOnce() -> Result<Cell>) -> Result<Cell> {
        if self.are_over() {
            return Ok(Cell::NotReached);
        }
        let started = Instant::now();
        let cell = match measure() {
            Ok(cell) => cell,
            Err(Error::Numeric { problem, .. }) => Cell::Failed(problem),
            Err(error) => return Err(error),
        };
        if cell != Cell::NotReached {
            let done = self.done.fetch_add(1, Ordering::SeqCst) + 1;
            self.watch.on_point(TuneProgress { done, total: self.total, c, time: started.elapsed() });
        }
        Ok(cell)
    }
}

impl Watch for Limits<'_> {
    fn on_progress(&self, _: Progress) -> bool {
        !self.are_over()
    }
}

/// The fits of one loss and kernel on one part, C by C from the smallest.
pub(super) struct Chain<'a> {
    pub(super) estimator: PairEstimator,
    /// Fits that share; where they cannot, each is made on its own.
    pub(super) path: Option<Path<'a>>,
    pub(super) part: &'a Part,
    /// What became of the fits so far.
    pub(super) cells: Vec<Cell>,
}

impl Chain<'_> {
    /// Fits with the next C and measures on the held-out pairs.
    pub(super) fn next(&mut self, c: f64, metric: PairMetric, limits: &Limits<'_>) -> Result<()> {
        let cell = limits.cell(c, || match self.along_path(c, metric, limits)? {
            Some(cell) => Ok(cell),
            None => self.alone(c, metric, limits),
        })?;
        self.cells.push(cell);
        Ok(())
    }

    /// A fit that starts where the ones before it point; `None` where another start might end elsewhere.
    fn along_path(&mut self, c: f64, metric: PairMetric, limits: &Limits<'_>) -> Result<Option<Cell>> {
        let Some(path) = &mut self.path else { return Ok(None) };
        let HeldOut { margins, threshold, stop, is_exact } = path.next(c, metric.needs_threshold(), limits)?;
        if stop == Stop::Interrupted {
            return Ok(Some(Cell::NotReached));
        }
        if !is_exact {
            return Ok(None);
        }
        self.measure(&Verdicts::plain(margins, threshold), stop, metric).map(Some)
    }

    /// A fit as `train` makes it.
    fn alone(&self, c: f64, metric: PairMetric, limits: &Limits<'_>) -> Result<Cell> {
        let (_, kernel, loss) = self.estimator.shape();
        let model = self.estimator.clone().shaped(c, kernel, loss).fit_watched(&self.part.train, limits)?.model;
        if model.training.stop == Stop::Interrupted {
            return Ok(Cell::NotReached);
        }
        self.measure(&model.judge(&self.part.held.set)?, model.training.stop, metric)
    }

    fn measure(&self, verdicts: &Verdicts, stop: Stop, metric: PairMetric) -> Result<Cell> {
        let held = &self.part.held;
        let judged = Judged::of(&held.outcomes, verdicts, held.weights.as_deref())?;
        Ok(match metric.of(&judged) {
            Some(value) => Cell::Measured(value, stop),
            None => Cell::Failed(format!("{} is not defined", metric.name())),
        })
    }
}
