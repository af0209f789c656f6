//! The search for rankers of items: every C, kernel and loss on every held-out part, the best one, and its model.

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use super::chain::{Cell, Limits};
use super::found::{Found, Point, Refit, in_pool};
use super::grid::{distinct, three_digits, usual_widths};
use super::rank_split::{RankPart, RankParts, RankSplit};
use super::sweep::{ascending, each, in_order};
use super::tuner::{TuneWatch, Tuned};
use crate::data::Ranking;
use crate::error::{Error, Result};
use crate::estimator::{
    KernelRankTrial, KernelStage, ProgramTrial, RankProgram, RankSvm, RankTrial, check_width, kernel_unit_of_c,
    label_scale_gamma, unit_of_c,
};
use crate::kernel::{Gamma, Kernel};
use crate::loss::Loss;
use crate::metrics::ItemMetric;
use crate::model::TuningPoint;
use crate::progress::Stop;

/// Data with more numbers keep all threads busy fit by fit; of smaller ones several are fitted at a time.
pub(super) const MANY_NUMBERS: usize = 1 << 23;
/// The usual values of C, as powers of ten times the C at which losses weigh about as much as the norm.
const USUAL_POWERS: [i32; 7] = [-1, 0, 1, 2, 3, 4, 5];
/// Of linear programs, times the largest C that learns nothing.
const PROGRAM_FACTORS: [f64; 5] = [2.0, 10.0, 100.0, 1e3, 1e4];

/// Chooses C, kernel and loss of a ranking SVM, or C and kernel of a linear program, by a metric on groups that the machine has not seen.
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
    /// The machine; its own C, kernel and loss do not count. Limits of its effort are those of each single fit.
    pub svm: RankSvm,
    /// A linear program in its place, with its balance, scaling and effort; its loss is the hinge.
    pub program: Option<RankProgram>,
    /// Values of C; none: [`RankTuner::usual_c`] of the data.
    pub c: Vec<f64>,
    /// Kernels.
    pub kernels: Vec<Kernel>,
    /// Losses.
    pub losses: Vec<Loss>,
    /// What is measured.
    pub metric: ItemMetric,
    /// The longest time to search; the fit of the best point comes after it.
    pub time_limit: Option<Duration>,
}

impl RankTuner {
    /// A search over the usual values of C with kernel and loss of the machine, by the share of pairs in the right order.
    pub fn new(svm: RankSvm) -> Self {
        let (kernels, losses) = (vec![svm.kernel], vec![svm.loss]);
        let (c, metric) = (Vec::new(), ItemMetric::default());
        RankTuner { svm, program: None, c, kernels, losses, metric, time_limit: None }
    }

    /// Sets a linear program in place of the ranking SVM.
    #[must_use]
    pub fn program(mut self, program: RankProgram) -> Self {
        self.program = Some(program);
        self.losses = vec![Loss::Hinge];
        self
    }

    /// Sets the values of C.
    #[must_use]
    pub fn c(mut self, c: Vec<f64>) -> Self {
        self.c = c;
        self
    }

    /// Sets the kernels.
    #[must_use]
    pub fn kernels(mut self, kernels: Vec<Kernel>) -> Self {
        self.kernels = kernels;
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
    /// group), k = 0.1, 1, …, 100000, in three digits; with a kernel the difference is that in its space, and with several
    /// kernels the (geometric) mean of their values counts. C multiplies a sum over pairs, so that what is small or large
    /// depends on how many there are. Of a linear program five: 2, 10, …, 10000 times the largest C that learns nothing.
    pub fn usual_c(&self, data: &Ranking) -> Result<Vec<f64>> {
        check_width(&data.items.features)?;
        if let Some(program) = self.program {
            let critical = |&kernel: &Kernel| program.critical_c(&self.svm.clone().kernel(kernel), data);
            let all: Vec<f64> = self.kernels.iter().map(critical).collect::<Result<_>>()?;
            let least = all.iter().copied().fold(f64::INFINITY, f64::min);
            let values = PROGRAM_FACTORS.map(|factor| three_digits(factor * least));
            return if values.iter().all(|&c| c > 0.0 && c.is_finite()) {
                Ok(values.to_vec())
            } else {
                no_usual_c(least)
            };
        }
        let unit = |&kernel: &Kernel| match kernel {
            Kernel::Linear => unit_of_c(&self.svm, data),
            _ => kernel_unit_of_c(&self.svm.clone().kernel(kernel), data),
        };
        let units: Vec<f64> = self.kernels.iter().map(unit).collect::<Result<_>>()?;
        let unit = (units.iter().map(|unit| unit.ln()).sum::<f64>() / units.len() as f64).exp();
        let values = USUAL_POWERS.map(|power| three_digits(unit * 10f64.powi(power)));
        if values.iter().all(|&c| c > 0.0 && c.is_finite()) {
            return Ok(values.to_vec());
        }
        no_usual_c(unit)
    }

    /// Widths worth trying for these data: 1/16, 1/4, 1, 4 and 16 times γ `scale`, in three digits.
    pub fn usual_gammas(&self, data: &Ranking) -> Result<Vec<Gamma>> {
        Ok(usual_widths(self.scale_gamma(data)?))
    }

    fn scale_gamma(&self, data: &Ranking) -> Result<f64> {
        let weights: Vec<f64> = (0..data.n_items()).map(|item| data.weight(item)).collect();
        label_scale_gamma(self.svm.scale, &data.items.features, &weights)
    }

    /// Whether every point is within its range; tuning asks too.
    pub fn check(&self) -> Result<()> {
        if self.losses.is_empty() {
            return Err(Error::parameter("losses", "[]", "at least one loss"));
        }
        if self.kernels.is_empty() {
            return Err(Error::parameter("kernels", "[]", "at least one kernel"));
        }
        if let Some(bad) = self.c.iter().find(|c| !(**c > 0.0 && c.is_finite())) {
            return Err(Error::parameter("C", bad, "a finite number above 0"));
        }
        if let Some(program) = self.program {
            if self.losses.iter().any(|&loss| loss != Loss::Hinge) {
                return Err(Error::parameter("losses", "others", "the hinge alone for linear programs"));
            }
            let check = |&kernel: &Kernel| program.shaped_as(&self.svm.clone().c(1.0).kernel(kernel)).check();
            return self.kernels.iter().try_for_each(check);
        }
        self.kernels.iter().try_for_each(|&kernel| self.svm.clone().c(1.0).kernel(kernel).check())
    }

    /// Searches, while `watch` looks on.
    ///
    /// The best point is the one with the best mean over the parts; among equal means the one with the smallest C, then
    /// with the smallest γ, then the first. When the time limit ends the search, it is the best of those that were measured on all parts. Its
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
        let c = if self.c.is_empty() { self.usual_c(data)? } else { distinct(&self.c) };
        let (kernels, losses) = (distinct(&self.kernels), distinct(&self.losses));
        let limits = Limits {
            // A time beyond what the clock can name is no limit.
            deadline: self.time_limit.and_then(|limit| started.checked_add(limit)),
            watch,
            done: AtomicUsize::new(0),
            total: losses.len() * kernels.len() * c.len() * parts.parts.len(),
        };
        let near = data.near_zero();
        let sweep =
            RankSweep { tuner: self, data, near: &near, parts: &parts.parts, c: &c, losses: &losses, limits: &limits };
        let points = sweep.run(&kernels)?;
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        let remedy = "try other kernels or smaller C, or scaled features (--scale standard)";
        let found = Found::new(points, Vec::new(), self.time_limit, remedy)?;
        let best = found.best(self.metric.greater_is_better(), || self.scale_gamma(data))?;
        let TuningPoint { c, kernel, loss, .. } = found.points[best];
        let svm = self.machine(kernel, loss).c(c);
        let mut fit = match self.program {
            Some(program) => program.shaped_as(&svm).fit_from(data, None, &Refit(watch))?,
            None => svm.fit_from(data, None, &Refit(watch))?,
        };
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        let metric = (self.metric.name(), self.metric.greater_is_better());
        fit.model.training.tuning = Some(found.record(metric, parts.split, Some(parts.baseline), best));
        Ok(Tuned { fit })
    }

    /// The machine with this kernel and loss, in whatever pool there is.
    fn machine(&self, kernel: Kernel, loss: Loss) -> RankSvm {
        self.svm.clone().kernel(kernel).loss(loss).threads(0)
    }
}

fn no_usual_c(unit: f64) -> Result<Vec<f64>> {
    Err(Error::Numeric {
        problem: format!("there is no usual C for these data: it would be about {unit:.1e}"),
        remedy: "scale the features (--scale standard), or say which C to try (--grid C=…)".into(),
    })
}

/// What to measure on what.
struct RankSweep<'a> {
    tuner: &'a RankTuner,
    data: &'a Ranking,
    /// The same, features near zero: for linear scores.
    near: &'a Ranking,
    parts: &'a [RankPart<'a>],
    c: &'a [f64],
    losses: &'a [Loss],
    limits: &'a Limits<'a>,
}

/// What became of the fits of one loss on one part, for all C.
type Row = Vec<Cell>;

impl RankSweep<'_> {
    /// Every point with what became of it: losses, kernels, C.
    fn run(&self, kernels: &[Kernel]) -> Result<Vec<Point>> {
        let n_at_once = if self.is_large(kernels) { 1 } else { rayon::current_num_threads() };
        let done = in_order(kernels, n_at_once > 1, |&kernel| self.with_kernel(kernel, n_at_once))?;
        let mut points = Vec::new();
        for (at_loss, &loss) in self.losses.iter().enumerate() {
            for (&kernel, rows) in kernels.iter().zip(&done) {
                let rows = &rows[at_loss * self.parts.len()..][..self.parts.len()];
                points.extend(self.c.iter().enumerate().map(|(at, &c)| {
                    let cells = rows.iter().map(|row| row[at].clone()).collect();
                    Point { loss, kernel, c, epsilon: None, cells }
                }));
            }
        }
        Ok(points)
    }

    /// Whether a single fit keeps all threads busy, or needs all memory.
    fn is_large(&self, kernels: &[Kernel]) -> bool {
        let has_kernel = kernels.iter().any(|&kernel| kernel != Kernel::Linear);
        let n_numbers = if has_kernel { KernelStage::n_numbers(&self.tuner.svm, self.data) } else { 0 };
        self.data.items.features.n_stored().max(n_numbers) > MANY_NUMBERS
    }

    /// All fits with one kernel: C by C from the smallest, all parts of one before the next, so that a time limit leaves
    /// complete points. Loss by loss, part by part.
    fn with_kernel(&self, kernel: Kernel, n_at_once: usize) -> Result<Vec<Row>> {
        let n_chains = self.losses.len() * self.parts.len();
        let mut rows = vec![vec![Cell::NotReached; self.c.len()]; n_chains];
        if self.limits.are_over() {
            return Ok(rows);
        }
        let mut svm = self.tuner.svm.clone();
        svm.effort.cache_mb /= n_at_once;
        let held: Vec<&[bool]> = self.parts.iter().map(|part| &part.is_held_out[..]).collect();
        let stages = match kernel {
            Kernel::Linear => Ok(Vec::new()),
            _ if self.tuner.program.is_some() => Ok(Vec::new()),
            _ => KernelStage::all(&svm, kernel, self.losses, self.data, &held, svm.effort.cache_mb << 20),
        };
        let stages = match stages {
            Ok(stages) => stages,
            // Where a kernel's numbers leave their range, every point says so.
            Err(Error::Numeric { problem, .. }) => {
                for row in &mut rows {
                    for (cell, &c) in row.iter_mut().zip(self.c) {
                        *cell = self.limits.cell(c, || Ok(Cell::Failed(problem.clone())))?;
                    }
                }
                return Ok(rows);
            }
            Err(error) => return Err(error),
        };
        let chain = |at: usize| {
            let machine = self.tuner.machine(kernel, self.losses[at / self.parts.len()]);
            let is_of = |stage: &&KernelStage| stage.parts.contains(&(at % self.parts.len()));
            let part = &self.parts[at % self.parts.len()];
            let trial = match (self.tuner.program, stages.iter().find(is_of)) {
                (Some(program), _) => {
                    Trial::Program(Box::new(ProgramTrial::new(program, machine, self.data, &part.is_held_out)))
                }
                (None, Some(stage)) => {
                    Trial::Kernel(KernelRankTrial::new(machine, stage, self.data, &part.is_held_out))
                }
                (None, None) => Trial::Linear(RankTrial::new(machine, self.near, &part.is_held_out)),
            };
            RankChain { trial, part, last: Cell::NotReached }
        };
        let mut chains: Vec<RankChain<'_>> = (0..n_chains).map(chain).collect();
        for at in ascending(self.c) {
            each(&mut chains, n_at_once > 1, |chain| chain.next(self.c[at], &self.tuner.metric, self.limits))?;
            rows.iter_mut().zip(&chains).for_each(|(row, chain)| row[at] = chain.last.clone());
        }
        Ok(rows)
    }
}

/// The fits of one loss on one part, C by C from the smallest.
struct RankChain<'a> {
    trial: Trial<'a>,
    part: &'a RankPart<'a>,
    /// What became of the last fit.
    last: Cell,
}

/// Fits with or without a kernel.
enum Trial<'a> {
    Linear(RankTrial<'a>),
    Kernel(KernelRankTrial<'a>),
    Program(Box<ProgramTrial>),
}

impl RankChain<'_> {
    /// Fits with the next C and measures on the held-out groups.
    fn next(&mut self, c: f64, metric: &ItemMetric, limits: &Limits<'_>) -> Result<()> {
        let (trial, part) = (&mut self.trial, self.part);
        self.last = limits.cell(c, || {
            let (scores, stop) = match trial {
                Trial::Linear(trial) => {
                    let (weights, stop) = trial.next(c, limits)?;
                    (part.scores(&weights), stop)
                }
                Trial::Kernel(trial) => {
                    let (features, rows) = part.items();
                    trial.next(c, features, rows, limits)?
                }
                Trial::Program(trial) => {
                    let (features, rows) = part.items();
                    trial.next(c, features, rows, limits)?
                }
            };
            if stop == Stop::Interrupted {
                return Ok(Cell::NotReached);
            }
            Ok(match part.measure(metric, &scores)? {
                Some(value) => Cell::Measured(value, stop),
                None => Cell::Failed(format!("{} is not defined", metric.name())),
            })
        })?;
        Ok(())
    }
}
