//! The search for rankers of items: every C and loss on every held-out part, the best one, and its model.

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::chain::{Cell, Limits};
use super::found::{Found, Point, Refit, in_pool};
use super::grid::{distinct, three_digits};
use super::rank_split::{RankPart, RankParts, RankSplit};
use super::tuner::{TuneWatch, Tuned};
use crate::data::Ranking;
use crate::error::{Error, Result};
use crate::estimator::{RankSvm, RankTrial, check_width, unit_of_c};
use crate::kernel::Kernel;
use crate::loss::Loss;
use crate::metrics::ItemMetric;
use crate::model::TuningPoint;
use crate::progress::Stop;

/// Data with more numbers keep all threads busy fit by fit; of smaller ones several are fitted at a time.
pub(super) const MANY_NUMBERS: usize = 1 << 23;
/// The usual values of C, as powers of ten times the C at which losses weigh about as much as the norm.
const USUAL_POWERS: [i32; 7] = [-1, 0, 1, 2, 3, 4, 5];

/// Chooses C and the loss of a ranking SVM, by a metric on groups that the machine has not seen.
///
/// ```
/// use rankwise::data::{Features, Groups, Items, Precision, Ranking};
/// use rankwise::selection::{RankSplit, RankTuner};
/// use rankwise::{RankSvm, Unwatched};
///
/// let numbers: Vec<f64> = (0..60).map(|k| f64::from(k * k % 17)).collect();
/// let labels: Vec<f64> = numbers.chunks(2).map(|item| (item[0] - item[1] > 3.0).into()).collect();
/// let items = Items::new(Features::dense(2, numbers, Precision::Auto)?, None, None)?;
/// let data = Ranking::new(items, labels, Some(Groups::from_ids((0..30).map(|item| (item / 5).to_string()))))?;
///
/// let tuned = RankTuner::new(RankSvm::new()).tune(&data, RankSplit::Folds(3), &Unwatched)?;
/// let tuning = tuned.tuning().expect("every search leaves its record");
/// let best = &tuning.points[tuning.best];
/// assert!(best.mean > Some(0.9));
/// assert_eq!(tuned.fit.model.training.c, best.c);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankTuner {
    /// The machine; its own C and loss do not count. Limits of its effort are those of each single fit.
    pub svm: RankSvm,
    /// Values of C; none: [`RankTuner::usual_c`] of the data.
    pub c: Vec<f64>,
    /// Losses.
    pub losses: Vec<Loss>,
    /// What is measured.
    pub metric: ItemMetric,
    /// The longest time to search; the fit of the best point comes after it.
    pub time_limit: Option<Duration>,
}

impl RankTuner {
    /// A search over the usual values of C with the loss of the machine, by the share of pairs in the right order.
    pub fn new(svm: RankSvm) -> Self {
        let losses = vec![svm.loss];
        RankTuner { svm, c: Vec::new(), losses, metric: ItemMetric::default(), time_limit: None }
    }

    /// Sets the values of C.
    #[must_use]
    pub fn c(mut self, c: Vec<f64>) -> Self {
        self.c = c;
        self
    }

    /// Sets the losses.
    #[must_use]
    pub fn losses(mut self, losses: Vec<Loss>) -> Self {
        self.losses = losses;
        self
    }

    /// Sets what is measured.
    #[must_use]
    pub fn metric(mut self, metric: ItemMetric) -> Self {
        self.metric = metric;
        self
    }

    /// Sets the longest time to search.
    #[must_use]
    pub fn time_limit(mut self, time_limit: Option<Duration>) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// Seven values of C that suit the data: k/(weight of all pairs × mean square of the difference of two items of a
    /// group), k = 0.1, 1, …, 100000, in three digits. C multiplies a sum over pairs, so that what is small or large
    /// depends on how many there are.
    pub fn usual_c(svm: &RankSvm, data: &Ranking) -> Result<Vec<f64>> {
        check_width(&data.items.features)?;
        let unit = unit_of_c(svm, data)?;
        let values = USUAL_POWERS.map(|power| three_digits(unit * 10f64.powi(power)));
        if values.iter().all(|&c| c > 0.0 && c.is_finite()) {
            return Ok(values.to_vec());
        }
        Err(Error::Numeric {
            problem: format!("there is no usual C for these data: it would be about {unit:.1e}"),
            remedy: "scale the features (--scale standard), or say which C to try (--grid C=…)".into(),
        })
    }

    /// Whether every point is within its range; tuning asks too.
    pub fn check(&self) -> Result<()> {
        if self.losses.is_empty() {
            return Err(Error::parameter("losses", "[]", "at least one loss"));
        }
        if let Some(bad) = self.c.iter().find(|c| !(**c > 0.0 && c.is_finite())) {
            return Err(Error::parameter("C", bad, "a finite number above 0"));
        }
        self.svm.clone().c(1.0).check()
    }

    /// Searches, while `watch` looks on.
    ///
    /// The best point is the one with the best mean over the parts; among equal means the one with the smallest C, then
    /// the first. When the time limit ends the search, it is the best of those that were measured on all parts. Its
    /// model is what [`RankSvm::fit`] makes of all of the data; with validation items, of `data` alone.
    pub fn tune(&self, data: &Ranking, split: RankSplit<'_>, watch: &dyn TuneWatch) -> Result<Tuned> {
        self.check()?;
        check_width(&data.items.features)?;
        let started = Instant::now();
        in_pool(self.svm.effort.threads, || {
            let parts = split.parts(data, &self.metric, self.svm.effort.seed)?;
            self.search(data, parts, started, watch)
        })
    }

    fn search(&self, data: &Ranking, parts: RankParts<'_>, started: Instant, watch: &dyn TuneWatch) -> Result<Tuned> {
        let c = if self.c.is_empty() { Self::usual_c(&self.svm, data)? } else { distinct(&self.c) };
        let losses = distinct(&self.losses);
        let limits = Limits {
            // A time beyond what the clock can name is no limit.
            deadline: self.time_limit.and_then(|limit| started.checked_add(limit)),
            watch,
            done: AtomicUsize::new(0),
            total: losses.len() * c.len() * parts.parts.len(),
        };
        let points = self.measure(&data.near_zero(), &parts.parts, &c, &losses, &limits)?;
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        let remedy = "try smaller C, or scaled features (--scale standard)";
        let found = Found::new(points, Vec::new(), self.time_limit, remedy)?;
        let best = found.best(self.metric.greater_is_better(), || Ok(1.0))?;
        let TuningPoint { c, loss, .. } = found.points[best];
        let mut fit = self.machine(loss).c(c).fit_from(data, None, &Refit(watch))?;
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        let metric = (self.metric.name(), self.metric.greater_is_better());
        fit.model.training.tuning = Some(found.record(metric, parts.split, Some(parts.baseline), best));
        Ok(Tuned { fit })
    }

    /// The machine with this loss, in whatever pool there is.
    fn machine(&self, loss: Loss) -> RankSvm {
        self.svm.clone().loss(loss).threads(0)
    }

    /// Every point on every part: C by C from the smallest, all parts of one before the next, so that a time limit
    /// leaves complete points.
    fn measure(
        &self,
        data: &Ranking,
        parts: &[RankPart<'_>],
        c: &[f64],
        losses: &[Loss],
        limits: &Limits<'_>,
    ) -> Result<Vec<Point>> {
        let mut chains: Vec<RankChain<'_>> = losses
            .iter()
            .flat_map(|&loss| parts.iter().map(move |part| (loss, part)))
            .map(|(loss, part)| RankChain { trial: RankTrial::new(self.machine(loss), data, &part.is_held_out), part })
            .collect();
        let mut ascending: Vec<usize> = (0..c.len()).collect();
        ascending.sort_by(|&a, &b| c[a].total_cmp(&c[b]));
        let is_large = data.items.features.n_stored() > MANY_NUMBERS;
        // What became of the chains, for each C.
        let mut cells: Vec<Vec<Cell>> = vec![Vec::new(); c.len()];
        for at in ascending {
            let next = |chain: &mut RankChain<'_>| chain.next(c[at], &self.metric, limits);
            cells[at] = if is_large {
                chains.iter_mut().map(next).collect::<Result<_>>()?
            } else {
                chains.par_iter_mut().map(next).collect::<Result<_>>()?
            };
        }
        let point = |(loss, c, cells): (Loss, f64, &[Cell])| {
            let cells = cells.to_vec();
            Point { loss, kernel: Kernel::Linear, c, epsilon: None, cells }
        };
        let of_loss = |(at, &loss): (usize, &Loss)| {
            let span = at * parts.len()..(at + 1) * parts.len();
            c.iter().zip(&cells).map(|(&c, cells)| point((loss, c, &cells[span.clone()]))).collect::<Vec<_>>()
        };
        Ok(losses.iter().enumerate().flat_map(of_loss).collect())
    }
}

/// The fits of one loss on one part, C by C from the smallest.
struct RankChain<'a> {
    trial: RankTrial<'a>,
    part: &'a RankPart<'a>,
}

impl RankChain<'_> {
    /// Fits with the next C and measures on the held-out groups.
    fn next(&mut self, c: f64, metric: &ItemMetric, limits: &Limits<'_>) -> Result<Cell> {
        limits.cell(c, || {
            let (weights, stop) = self.trial.next(c, limits)?;
            if stop == Stop::Interrupted {
                return Ok(Cell::NotReached);
            }
            Ok(match self.part.measure(metric, &weights)? {
                Some(value) => Cell::Measured(value, stop),
                None => Cell::Failed(format!("{} is not defined", metric.name())),
            })
        })
    }
}
