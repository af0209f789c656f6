//! What became of the points of a search, whatever they were measured on.

use std::time::Duration;

use super::chain::Cell;
use super::grid::gamma_of;
use super::tuner::TuneWatch;
use crate::error::{Error, Result};
use crate::kernel::{Gamma, Kernel};
use crate::loss::Loss;
use crate::model::{EQUAL_MEANS, Tuning, TuningBaseline, TuningPoint, TuningSplit};
use crate::progress::{Progress, Stop, Watch};

/// Runs `work` with so many threads; 0 means all.
pub(super) fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    if threads == 0 {
        return work();
    }
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        Err(e) => Err(Error::Unsupported {
            problem: format!("{threads} threads cannot be started: {e}"),
            remedy: "ask for fewer threads".into(),
        }),
    }
}

/// The points of a search that is over, at least one of them measured on all parts.
pub(super) struct Found {
    pub(super) points: Vec<TuningPoint>,
    n_measured: usize,
    is_cut_short: bool,
    warnings: Vec<String>,
}

impl Found {
    /// An error where no point was measured on all parts; `remedy` is for fits that all failed.
    pub(super) fn new(
        points: Vec<Point>,
        mut warnings: Vec<String>,
        time_limit: Option<Duration>,
        remedy: &str,
    ) -> Result<Self> {
        let is_cut_short = points.iter().flat_map(|point| &point.cells).any(|cell| *cell == Cell::NotReached);
        warnings.extend(warnings_of(&points));
        let points: Vec<TuningPoint> = points.into_iter().map(Point::record).collect();
        let (n_points, n_measured) = (points.len(), points.iter().filter(|point| point.mean.is_some()).count());
        if n_measured == 0 && is_cut_short {
            let seconds = time_limit.map_or(0.0, |limit| limit.as_secs_f64());
            return Err(Error::Search {
                problem: format!("the time limit of {seconds} s was over before one of {n_points} points was complete"),
                remedy: "allow more time (--time-limit), or use fewer folds or a smaller grid".into(),
            });
        }
        if n_measured == 0 {
            return Err(Error::Search { problem: warnings.join("; "), remedy: remedy.into() });
        }
        if is_cut_short {
            warnings
                .push(format!("the time limit ended the search when {n_measured} of {n_points} points were complete"));
        }
        Ok(Found { points, n_measured, is_cut_short, warnings })
    }

    /// The point with the best mean; among equal ones the smoothest: the smallest C, then the smallest γ (none is the
    /// smallest; `scale` tells the one that data ask for), then the widest tube, then the first.
    pub(super) fn best(&self, greater_is_better: bool, scale: impl FnOnce() -> Result<f64>) -> Result<usize> {
        let (points, equal) = (&self.points, self.equally_good(greater_is_better));
        let has_scale = equal.iter().any(|&at| gamma_of(points[at].kernel) == Some(Gamma::Scale));
        let scale = if has_scale { scale()? } else { 1.0 };
        let gamma = |at: usize| match gamma_of(points[at].kernel) {
            None => 0.0,
            Some(Gamma::Value(value)) => value,
            Some(Gamma::Scale) => scale,
        };
        let epsilon = |at: usize| points[at].epsilon.unwrap_or(0.0);
        let smoother = |&a: &usize, &b: &usize| {
            let by_c = points[a].c.total_cmp(&points[b].c);
            by_c.then(gamma(a).total_cmp(&gamma(b))).then(epsilon(b).total_cmp(&epsilon(a)))
        };
        Ok(equal.into_iter().min_by(smoother).unwrap_or(0))
    }

    /// The points with the best mean, up to rounding.
    fn equally_good(&self, greater_is_better: bool) -> Vec<usize> {
        let sign = if greater_is_better { -1.0 } else { 1.0 };
        let losses = || self.points.iter().enumerate().filter_map(|(at, point)| Some((at, sign * point.mean?)));
        let least = losses().fold(f64::INFINITY, |least, (_, loss)| least.min(loss));
        losses().filter(|&(_, loss)| loss <= least + EQUAL_MEANS).map(|(at, _)| at).collect()
    }

    /// What is saved with the model. A metric is its name and whether more is better.
    pub(super) fn record(
        self,
        (metric, greater_is_better): (&str, bool),
        split: TuningSplit,
        baseline: Option<TuningBaseline>,
        best: usize,
    ) -> Tuning {
        Tuning {
            metric: metric.into(),
            greater_is_better,
            split,
            baseline,
            best,
            stopped_after: self.is_cut_short.then_some(self.n_measured),
            points: self.points,
            warnings: self.warnings,
        }
    }
}

/// A point with what became of it on every part.
pub(super) struct Point {
    pub(super) loss: Loss,
    pub(super) kernel: Kernel,
    pub(super) c: f64,
    /// Of a regression.
    pub(super) epsilon: Option<f64>,
    pub(super) cells: Vec<Cell>,
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
        TuningPoint { loss: self.loss, kernel: self.kernel, c: self.c, epsilon: self.epsilon, mean, folds }
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
        let epsilon = self.epsilon.map_or_else(String::new, |epsilon| format!(", ε {epsilon:?}"));
        format!("{}, {kernel}{gamma}{epsilon}, C {:?}", self.loss.name(), self.c)
    }
}

/// What the user should know of fits that failed or ended early.
fn warnings_of(points: &[Point]) -> Vec<String> {
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
pub(super) struct Refit<'a>(pub(super) &'a dyn TuneWatch);

impl Watch for Refit<'_> {
    fn on_progress(&self, _: Progress) -> bool {
        self.0.keep_going()
    }
}
