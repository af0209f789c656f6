//! The search: every point of a grid on every held-out part, the best one, and its model.

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use super::chain::{Limits, TuneProgress};
use super::found::{Found, Point, Refit, in_pool};
use super::grid::{Grid, scale_gamma};
use super::split::{Parts, Split, check_context};
use super::sweep::Sweep;
use crate::data::Comparisons;
use crate::error::{Error, Result};
use crate::estimator::{Fit, PairEstimator};
use crate::kernel::Kernel;
use crate::loss::Loss;
use crate::metrics::{Judged, PairMetric};
use crate::model::{TieBandKind, Tuning, TuningBaseline, TuningPoint, TuningSplit};
use crate::progress::Unwatched;

/// Looks on while a search runs. May be called from any thread.
pub trait TuneWatch: Sync {
    /// A point was measured on one part.
    fn on_point(&self, progress: TuneProgress);

    /// Asked often; `false` ends the search with [`Error::Interrupted`].
    fn keep_going(&self) -> bool;
}

impl TuneWatch for Unwatched {
    fn on_point(&self, _: TuneProgress) {}

    fn keep_going(&self) -> bool {
        true
    }
}

/// Chooses C, kernel and loss from a grid, by a metric on pairs that the machine has not seen.
///
/// Every point is fitted once for every part, so that time grows with points × parts × the time of a fit.
///
/// ```
/// use rankwise::data::simulate::{Norm, Simulation};
/// use rankwise::selection::{Grid, Split, Tuner, log_spaced};
/// use rankwise::{CompareSvm, Kernel, Loss, Unwatched};
///
/// let data = Simulation { norm: Norm::L2, n_pairs: 100, ties: 0.5, noise: 0.25, seed: 1 }.draw()?;
/// let grid = Grid {
///     c: log_spaced(0.1, 10.0, 3)?,
///     kernels: vec![Kernel::Linear, Kernel::rbf(0.25)],
///     losses: vec![Loss::SquaredHinge],
/// };
/// let tuned = Tuner::new(CompareSvm::new()).grid(grid).tune(&data, Split::Folds(3), &Unwatched)?;
/// let tuning = tuned.tuning().expect("every search leaves its record");
/// let best = &tuning.points[tuning.best];
/// assert_eq!(best.kernel, Kernel::rbf(0.25));
/// assert_eq!(tuned.fit.model.training.c, best.c);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tuner {
    /// The method; its own C, kernel and loss do not count. Limits of its effort are those of each single fit.
    pub estimator: PairEstimator,
    /// The points.
    pub grid: Grid,
    /// What is measured.
    pub metric: PairMetric,
    /// The longest time to search; the fit of the best point comes after it.
    pub time_limit: Option<Duration>,
}

/// The result of a search.
#[derive(Debug, Clone)]
pub struct Tuned {
    /// The best point fitted to all of the data; to these alone where validation pairs were given, so that its metric
    /// there is the one of the table.
    ///
    /// Its model holds every point with what was measured, as `training.tuning`.
    pub fit: Fit,
}

impl Tuned {
    /// Every point with what was measured; every search leaves it.
    pub fn tuning(&self) -> Option<&Tuning> {
        self.fit.model.training.tuning.as_ref()
    }
}

impl Tuner {
    /// A search over seven values of C by the zero-one error.
    pub fn new(estimator: impl Into<PairEstimator>) -> Self {
        let estimator = estimator.into();
        Tuner { grid: Grid::usual(&estimator), estimator, metric: PairMetric::ZeroOne, time_limit: None }
    }

    /// Sets the points.
    #[must_use]
    pub fn grid(mut self, grid: Grid) -> Self {
        self.grid = grid;
        self
    }

    /// Sets what is measured.
    #[must_use]
    pub fn metric(mut self, metric: PairMetric) -> Self {
        self.metric = metric;
        self
    }

    /// Sets the longest time to search.
    #[must_use]
    pub fn time_limit(mut self, time_limit: Option<Duration>) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// Whether every point is within its range; tuning asks too.
    pub fn check(&self) -> Result<()> {
        let grid = self.points()?;
        if let Some(bad) = grid.c.iter().find(|c| !c.is_finite()) {
            return Err(Error::parameter("C", bad, "a finite number above 0"));
        }
        // Whether one is in its range does not depend on the others.
        grid.c.iter().try_for_each(|&c| self.point(c, grid.kernels[0], grid.losses[0]).check())?;
        grid.kernels.iter().try_for_each(|&kernel| self.point(grid.c[0], kernel, grid.losses[0]).check())?;
        for &loss in &grid.losses {
            let point = self.point(grid.c[0], grid.kernels[0], loss);
            point.check()?;
            if self.metric.needs_chances() && !point.has_chances() {
                return Err(Error::Unsupported {
                    problem: format!(
                        "{} is about probabilities, which margins of the loss {} do not have",
                        self.metric.name(),
                        loss.name()
                    ),
                    remedy: "calibrate them (--calibrate), or choose another metric".into(),
                });
            }
        }
        Ok(())
    }

    /// The grid without what comes twice. Davidson's model has one loss, whatever the grid says.
    fn points(&self) -> Result<Grid> {
        let mut grid = self.grid.distinct()?;
        grid.losses.iter_mut().for_each(|loss| *loss = self.point(grid.c[0], grid.kernels[0], *loss).shape().2);
        grid.distinct()
    }

    /// Searches, while `watch` looks on.
    ///
    /// The best point is the one with the best mean over the parts; among equal means the smoothest: the smallest C,
    /// then the smallest γ, then the first of the grid. When the time limit ends the search, it is the best of those
    /// that were measured on all parts.
    pub fn tune(&self, data: &Comparisons, split: Split<'_>, watch: &dyn TuneWatch) -> Result<Tuned> {
        self.check()?;
        let started = Instant::now();
        let effort = *self.estimator.effort();
        if let (Split::Valid(valid), TieBandKind::Pair) = (split, self.estimator.tie_band()) {
            check_context(data, valid)?;
        }
        let parts = split.parts(data, self.metric, effort.seed)?;
        in_pool(effort.threads, || self.search(data, &parts, split.record(&parts), started, watch))
    }

    /// The estimator of a point, in whatever pool there is.
    fn point(&self, c: f64, kernel: Kernel, loss: Loss) -> PairEstimator {
        self.estimator.clone().shaped(c, kernel, loss)
    }

    fn search(
        &self,
        data: &Comparisons,
        parts: &Parts,
        split: TuningSplit,
        started: Instant,
        watch: &dyn TuneWatch,
    ) -> Result<Tuned> {
        let grid = self.points()?;
        let limits = Limits {
            // A time beyond what the clock can name is no limit.
            deadline: self.time_limit.and_then(|limit| started.checked_add(limit)),
            watch,
            done: AtomicUsize::new(0),
            total: grid.n_points() * parts.len(),
        };
        let sweep = Sweep { estimator: &self.estimator, grid: &grid, parts, metric: self.metric, limits: &limits };
        let point = |((loss, kernel, c), cells)| Point { loss, kernel, c, epsilon: None, cells };
        let points: Vec<Point> = grid.points().zip(sweep.run()?).map(point).collect();
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        let found = Found::new(
            points,
            parts.warnings.clone(),
            self.time_limit,
            "try other kernels or smaller C, or scaled features (--scale standard)",
        )?;
        let best = found.best(self.metric.greater_is_better(), || scale_gamma(&self.estimator, data))?;
        let TuningPoint { c, kernel, loss, .. } = found.points[best];
        let mut estimator = self.point(c, kernel, loss);
        estimator.effort_mut().threads = 0;
        let mut fit = estimator.fit_watched(data, &Refit(watch))?;
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        let metric = (self.metric.name(), self.metric.greater_is_better());
        let baseline = self.baseline(data, parts, split)?;
        fit.model.training.tuning = Some(found.record(metric, split, baseline, best));
        Ok(Tuned { fit })
    }

    /// What a constant answer gets on the pairs that were held out; folds hold out every pair once.
    fn baseline(&self, data: &Comparisons, parts: &Parts, split: TuningSplit) -> Result<Option<TuningBaseline>> {
        let held = match (split, &parts.parts[..]) {
            (TuningSplit::Validation { .. }, [part]) => &part.held,
            _ => data,
        };
        let margins = vec![0.0; held.n_pairs()];
        let judged = Judged::new(&held.outcomes, &margins, held.weights.as_deref(), 0.0)?;
        Ok(self.metric.of_constant(&judged).map(|(outcome, value)| TuningBaseline { outcome, value }))
    }
}
