//! The search: every point of a grid on every held-out part, the best one, and its model.

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use super::chain::{Cell, Limits, TuneProgress};
use super::grid::{Grid, gamma_of, scale_gamma};
use super::split::{Parts, Split};
use super::sweep::Sweep;
use crate::data::Comparisons;
use crate::error::{Error, Result};
use crate::estimator::{Fit, PairEstimator};
use crate::kernel::{Gamma, Kernel};
use crate::loss::Loss;
use crate::metrics::{Judged, PairMetric};
use crate::model::{EQUAL_MEANS, Tuning, TuningBaseline, TuningPoint, TuningSplit};
use crate::progress::{Progress, Stop, Unwatched, Watch};

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
        let grid = self.grid.distinct()?;
        // Whether one is in its range does not depend on the others.
        grid.c.iter().try_for_each(|&c| self.point(c, grid.kernels[0], grid.losses[0]).check())?;
        grid.kernels.iter().try_for_each(|&kernel| self.point(grid.c[0], kernel, grid.losses[0]).check())
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
        let parts = split.parts(data, self.metric, effort.seed)?;
        let search = || self.search(data, &parts, split.record(&parts), started, watch);
        if effort.threads == 0 {
            return search();
        }
        match rayon::ThreadPoolBuilder::new().num_threads(effort.threads).build() {
            Ok(pool) => pool.install(search),
            Err(e) => Err(Error::Unsupported {
                problem: format!("{} threads cannot be started: {e}", effort.threads),
                remedy: "ask for fewer threads".into(),
            }),
        }
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
        let grid = self.grid.distinct()?;
        let limits = Limits {
            // A time beyond what the clock can name is no limit.
            deadline: self.time_limit.and_then(|limit| started.checked_add(limit)),
            watch,
            done: AtomicUsize::new(0),
            total: grid.n_points() * parts.len(),
        };
        let sweep = Sweep { estimator: &self.estimator, grid: &grid, parts, metric: self.metric, limits: &limits };
        let point = |((loss, kernel, c), cells)| Point { loss, kernel, c, cells };
        let points: Vec<Point> = grid.points().zip(sweep.run()?).map(point).collect();
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        let is_cut_short = points.iter().flat_map(|point| &point.cells).any(|cell| *cell == Cell::NotReached);
        let mut warnings = [parts.warnings.clone(), warnings(&points)].concat();
        let points: Vec<TuningPoint> = points.into_iter().map(Point::record).collect();
        let n_measured = points.iter().filter(|point| point.mean.is_some()).count();
        if n_measured == 0 {
            return Err(self.nothing_measured(is_cut_short, points.len(), warnings));
        }
        if is_cut_short {
            let n_points = points.len();
            warnings
                .push(format!("the time limit ended the search when {n_measured} of {n_points} points were complete"));
        }
        let best = self.best(&points, data)?;
        let TuningPoint { c, kernel, loss, .. } = points[best];
        let mut estimator = self.point(c, kernel, loss);
        estimator.effort_mut().threads = 0;
        let mut fit = estimator.fit_watched(data, &Refit(watch))?;
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        fit.model.training.tuning = Some(Tuning {
            metric: self.metric.name().into(),
            greater_is_better: self.metric.greater_is_better(),
            split,
            baseline: self.baseline(data, parts, split)?,
            best,
            stopped_after: is_cut_short.then_some(n_measured),
            points,
            warnings,
        });
        Ok(Tuned { fit })
    }

    /// The best mean; among equal ones the smallest C, then the smallest γ (none is the smallest), then the first.
    fn best(&self, points: &[TuningPoint], data: &Comparisons) -> Result<usize> {
        let sign = if self.metric.greater_is_better() { -1.0 } else { 1.0 };
        let losses = || points.iter().enumerate().filter_map(|(at, point)| Some((at, sign * point.mean?)));
        let least = losses().fold(f64::INFINITY, |least, (_, loss)| least.min(loss));
        let equal: Vec<usize> = losses().filter(|&(_, loss)| loss <= least + EQUAL_MEANS).map(|(at, _)| at).collect();
        let scale = if equal.iter().any(|&at| gamma_of(points[at].kernel) == Some(Gamma::Scale)) {
            scale_gamma(&self.estimator, data)?
        } else {
            1.0
        };
        let gamma = |at: usize| match gamma_of(points[at].kernel) {
            None => 0.0,
            Some(Gamma::Value(value)) => value,
            Some(Gamma::Scale) => scale,
        };
        let smoother = |&a: &usize, &b: &usize| points[a].c.total_cmp(&points[b].c).then(gamma(a).total_cmp(&gamma(b)));
        Ok(equal.into_iter().min_by(smoother).unwrap_or(0))
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

    fn nothing_measured(&self, is_cut_short: bool, n_points: usize, warnings: Vec<String>) -> Error {
        if is_cut_short {
            let seconds = self.time_limit.map_or(0.0, |limit| limit.as_secs_f64());
            return Error::Search {
                problem: format!("the time limit of {seconds} s was over before one of {n_points} points was complete"),
                remedy: "allow more time (--time-limit), or use fewer folds or a smaller grid".into(),
            };
        }
        Error::Search {
            problem: warnings.join("; "),
            remedy: "try other kernels or smaller C, or scaled features (--scale standard)".into(),
        }
    }
}

/// A point with what became of it on every part.
struct Point {
    loss: Loss,
    kernel: Kernel,
    c: f64,
    cells: Vec<Cell>,
}

impl Point {
    fn record(self) -> TuningPoint {
        let value = |cell: &Cell| match cell {
            Cell::Measured(value, _) => Some(*value),
            _ => None,
        };
        let folds: Vec<Option<f64>> = self.cells.iter().map(value).collect();
        let sum: Option<f64> = folds.iter().copied().sum();
        let mean = sum.map(|sum| sum / folds.len() as f64);
        TuningPoint { loss: self.loss, kernel: self.kernel, c: self.c, mean, folds }
    }

    fn name(&self) -> String {
        let gamma = match gamma_of(self.kernel) {
            None => String::new(),
            Some(Gamma::Scale) => ", γ scale".into(),
            Some(Gamma::Value(value)) => format!(", γ {value:?}"),
        };
        let kernel = match self.kernel {
            Kernel::Linear => "linear",
            Kernel::Poly { .. } => "poly",
            Kernel::Rbf { .. } => "rbf",
            Kernel::Sigmoid { .. } => "sigmoid",
        };
        // Debug writes an exponent where Display would write 300 zeros.
        format!("{}, {kernel}{gamma}, C {:?}", self.loss.name(), self.c)
    }
}

/// What the user should know of fits that failed or ended early.
fn warnings(points: &[Point]) -> Vec<String> {
    let mut warnings = Vec::new();
    let failures = || {
        points.iter().flat_map(|point| {
            point.cells.iter().filter_map(move |cell| match cell {
                Cell::Failed(why) => Some((point, why)),
                _ => None,
            })
        })
    };
    if let Some((first, why)) = failures().next() {
        let n_failed = points.iter().filter(|point| point.cells.iter().any(|c| matches!(c, Cell::Failed(_)))).count();
        warnings.push(format!(
            "{n_failed} of {} points could not be measured, the first at {}: {why}",
            points.len(),
            first.name()
        ));
    }
    let stops = || {
        let cells = points.iter().flat_map(|point| &point.cells);
        cells.filter_map(|cell| if let Cell::Measured(_, stop) = cell { Some(*stop) } else { None })
    };
    let n_early = stops().filter(|&stop| stop != Stop::Converged).count();
    if n_early > 0 {
        let named = |of: Stop| stops().any(|stop| stop == of).then(|| of.name());
        let why: Vec<&str> = [Stop::MaxIter, Stop::TimeLimit, Stop::Stalled].into_iter().filter_map(named).collect();
        warnings.push(format!("{n_early} of {} fits did not converge ({})", stops().count(), why.join(", ")));
    }
    warnings
}

/// The last fit: no time limit any more.
struct Refit<'a>(&'a dyn TuneWatch);

impl Watch for Refit<'_> {
    fn on_progress(&self, _: Progress) -> bool {
        self.0.keep_going()
    }
}
