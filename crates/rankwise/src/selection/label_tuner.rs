//! The search for classifiers, regressions and machines of grades: every point of a grid on every held-out part, the best one, and its model.

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use super::chain::{Cell, Limits};
use super::found::{Found, Point, Refit, in_pool};
use super::grid::{Grid, distinct, usual_c, usual_widths};
use super::label_split::{LabelParts, LabelSplit, weights_of};
use super::rank_tuner::MANY_NUMBERS;
use super::sweep::{ascending, each, in_order};
use super::tuner::{TuneWatch, Tuned};
use crate::error::{Error, Result};
use crate::estimator::{LabelData, LabelEstimator, LabelPath, LabelTrials, check_width, label_scale_gamma};
use crate::kernel::{Approx, Gamma, Kernel};
use crate::loss::Loss;
use crate::metrics::{ClassMetric, ItemMetric, ValueMetric};
use crate::model::{Method, TuningPoint};
use crate::progress::Stop;

/// What is measured of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelMetric {
    /// Of classes.
    Class(ClassMetric),
    /// Of values.
    Value(ValueMetric),
    /// Of the order of items within groups by the scores of grades.
    Order(OrderMetric),
}

/// A metric of pairs of items, by scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderMetric {
    /// Pairs in the right order.
    PairAccuracy,
    /// Pairs in the wrong order.
    SwappedPairs,
    /// Pairs in the right order, with ½ for equal scores.
    Concordance,
}

impl OrderMetric {
    /// All of them.
    pub const ALL: [OrderMetric; 3] = [OrderMetric::PairAccuracy, OrderMetric::SwappedPairs, OrderMetric::Concordance];

    /// The name in options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            OrderMetric::PairAccuracy => "pair_accuracy",
            OrderMetric::SwappedPairs => "swapped_pairs",
            OrderMetric::Concordance => "concordance",
        }
    }

    /// As a metric of ranked items.
    pub(super) fn of_items(self) -> Result<ItemMetric> {
        ItemMetric::parse(self.name())
    }
}

impl LabelMetric {
    /// The zero-one error of classes and grades, the root of the mean squared error of values.
    pub fn usual(method: Method) -> Self {
        match method {
            Method::Classify | Method::Ordinal => LabelMetric::Class(ClassMetric::ZeroOne),
            _ => LabelMetric::Value(ValueMetric::Rmse),
        }
    }

    /// The name in options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            LabelMetric::Class(metric) => metric.name(),
            LabelMetric::Value(metric) => metric.name(),
            LabelMetric::Order(metric) => metric.name(),
        }
    }

    /// Whether more is better.
    pub fn greater_is_better(self) -> bool {
        match self {
            LabelMetric::Class(metric) => metric.greater_is_better(),
            LabelMetric::Value(metric) => metric.greater_is_better(),
            LabelMetric::Order(metric) => metric != OrderMetric::SwappedPairs,
        }
    }
}

/// Chooses C, kernel and loss of a classifier or a regression, and the width of its tube, by a metric on items that the machine
/// has not seen.
///
/// ```
/// use rankwise::data::{ClassItems, Features, Items, Precision, Random};
/// use rankwise::selection::{Grid, LabelSplit, LabelTuner};
/// use rankwise::{Kernel, Loss, SvmClassifier, Unwatched};
///
/// let mut random = Random::new(1);
/// let numbers: Vec<f64> = (0..200).map(|_| random.normal()).collect();
/// let labels: Vec<&str> = numbers.chunks(2).map(|x| if x[0] * x[1] > 0.0 { "same" } else { "other" }).collect();
/// let data = ClassItems::new(Items::new(Features::dense(2, numbers, Precision::Auto)?, None, None)?, &labels)?;
///
/// let kernels = vec![Kernel::Linear, Kernel::rbf(0.5)];
/// let grid = Grid { c: vec![0.1, 1.0, 10.0], kernels, losses: vec![Loss::Hinge] };
/// let tuner = LabelTuner::new(SvmClassifier::new()).grid(grid);
/// let tuned = tuner.tune(&data, LabelSplit::Folds(4), &Unwatched)?;
/// let tuning = tuned.tuning().expect("every search leaves its record");
/// let best = &tuning.points[tuning.best];
/// assert_eq!(best.kernel, Kernel::rbf(0.5));
/// assert!(best.mean < Some(0.2));
/// assert_eq!(tuned.fit.model.training.c, best.c);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LabelTuner {
    /// The method; its own C, kernel, loss and ε do not count. Limits of its effort are those of each single fit.
    pub estimator: LabelEstimator,
    /// The points; without any C: [`LabelTuner::usual_c`] of the data.
    pub grid: Grid,
    /// Half the widths of the tube of a regression, each with all points of the grid; none for a classifier.
    pub epsilons: Vec<f64>,
    /// What is measured.
    pub metric: LabelMetric,
    /// The longest time to search; the fit of the best point comes after it.
    pub time_limit: Option<Duration>,
}

impl LabelTuner {
    /// A search over the usual values of C with the kernel, loss and ε of the method, by the zero-one error of classes or the
    /// root of the mean squared error of values.
    pub fn new(estimator: impl Into<LabelEstimator>) -> Self {
        let estimator = estimator.into();
        let (kernel, loss, epsilon) = estimator.shape();
        LabelTuner {
            grid: Grid { c: Vec::new(), kernels: vec![kernel], losses: vec![loss] },
            epsilons: epsilon.into_iter().collect(),
            metric: LabelMetric::usual(estimator.method()),
            time_limit: None,
            estimator,
        }
    }

    /// Sets the points.
    #[must_use]
    pub fn grid(mut self, grid: Grid) -> Self {
        self.grid = grid;
        self
    }

    /// Sets half the widths of the tube of a regression.
    #[must_use]
    pub fn epsilons(mut self, epsilons: Vec<f64>) -> Self {
        self.epsilons = epsilons;
        self
    }

    /// Sets what is measured.
    #[must_use]
    pub fn metric(mut self, metric: LabelMetric) -> Self {
        self.metric = metric;
        self
    }

    /// Sets the longest time to search.
    #[must_use]
    pub fn time_limit(mut self, time_limit: Option<Duration>) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// Seven values of C from 0.001 to 1000; of regressions with the loss [`Loss::Epsilon`], times the power of ten nearest to
    /// the standard deviation of the labels, whose unit this C has.
    pub fn usual_c<'a>(&self, data: impl Into<LabelData<'a>>) -> Vec<f64> {
        let LabelData::Values(values) = data.into() else { return usual_c(0) };
        if !self.grid.losses.contains(&Loss::Epsilon) {
            return usual_c(0);
        }
        let weights = weights_of(LabelData::Values(values));
        let total: f64 = weights.iter().sum();
        let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
            values.labels.iter().zip(&weights).map(|(&label, weight)| weight / total * of(label)).sum()
        };
        let middle = mean(&|label| label);
        let spread = mean(&|label| (label - middle) * (label - middle)).sqrt();
        // What rounding leaves of labels that are all the same is no spread.
        let has_spread = spread > 1e-12 * middle.abs() && spread.is_normal();
        usual_c(if has_spread { spread.log10().round() as i32 } else { 0 })
    }

    /// Widths worth trying for these data: 1/16, 1/4, 1, 4 and 16 times γ `scale`, in three digits.
    pub fn usual_gammas<'a>(&self, data: impl Into<LabelData<'a>>) -> Result<Vec<Gamma>> {
        Ok(usual_widths(self.scale_gamma(data.into())?))
    }

    fn scale_gamma(&self, data: LabelData<'_>) -> Result<f64> {
        let features = match data {
            LabelData::Classes(data) => &data.items.features,
            LabelData::Values(data) => &data.items.features,
        };
        label_scale_gamma(self.estimator.scale(), features, &weights_of(data))
    }

    /// Whether every point is within its range; tuning asks too.
    pub fn check(&self) -> Result<()> {
        if let Some(bad) = self.grid.c.iter().find(|c| !(**c > 0.0 && c.is_finite())) {
            return Err(Error::parameter("C", bad, "a finite number above 0"));
        }
        let (losses, kernels) = (&self.grid.losses, &self.grid.kernels);
        let wants_tubes = matches!(self.estimator, LabelEstimator::Regress(_));
        for (name, is_empty) in [
            ("losses", losses.is_empty()),
            ("kernels", kernels.is_empty()),
            ("epsilons", wants_tubes && self.epsilons.is_empty()),
        ] {
            if is_empty {
                return Err(Error::parameter(name, "[]", "a grid with at least one value"));
            }
        }
        if let Some(epsilon) = self.epsilons.first().filter(|_| !wants_tubes) {
            return Err(Error::parameter("epsilons", epsilon, "none for a classifier"));
        }
        // Whether one is in its range does not depend on the others.
        let check = |kernel, loss, epsilon| self.estimator.clone().shaped(1.0, kernel, loss, epsilon).check();
        let epsilon = self.epsilons.first().copied();
        kernels.iter().try_for_each(|&kernel| check(kernel, losses[0], epsilon))?;
        losses.iter().try_for_each(|&loss| check(kernels[0], loss, epsilon))?;
        self.epsilons.iter().try_for_each(|&epsilon| check(kernels[0], losses[0], Some(epsilon)))?;
        match (&self.estimator, self.metric) {
            (LabelEstimator::Classify(svm), LabelMetric::Class(metric))
                if !metric.needs_chances() || svm.probabilities =>
            {
                Ok(())
            }
            (LabelEstimator::Classify(_), LabelMetric::Class(metric)) => Err(Error::Unsupported {
                problem: format!("{} is about probabilities, which the classifier does not make", metric.name()),
                remedy: "ask for them (--probabilities), or choose another metric".into(),
            }),
            (LabelEstimator::Ordinal(_), LabelMetric::Order(_)) => Ok(()),
            (LabelEstimator::Ordinal(_), LabelMetric::Class(metric)) if !metric.needs_chances() => Ok(()),
            (LabelEstimator::Regress(_), LabelMetric::Value(_)) => Ok(()),
            (estimator, metric) => {
                let wanted = match estimator {
                    LabelEstimator::Regress(_) => "one of values",
                    LabelEstimator::Classify(_) => "one of classes",
                    LabelEstimator::Ordinal(_) => "one of classes or of order",
                };
                Err(Error::parameter("metric", metric.name(), format!("{wanted} for {}", estimator.method().name())))
            }
        }
    }

    /// Searches, while `watch` looks on.
    ///
    /// The best point is the one with the best mean over the parts; among equal means the smoothest: the smallest C,
    /// then the smallest γ, then the largest ε, then the first of the grid. When the time limit ends the search, it is the best
    /// of those that were measured on all parts. Its model is that of a fit to all of the data; with validation items, of
    /// `data` alone. Scaling, γ `scale` and landmarks come from what each machine learns from.
    pub fn tune<'a>(
        &self,
        data: impl Into<LabelData<'a>>,
        split: LabelSplit<'a>,
        watch: &dyn TuneWatch,
    ) -> Result<Tuned> {
        self.check()?;
        let (data, started) = (data.into(), Instant::now());
        match (&self.estimator, data) {
            (LabelEstimator::Classify(_), LabelData::Classes(_))
            | (LabelEstimator::Regress(_) | LabelEstimator::Ordinal(_), LabelData::Values(_)) => {}
            _ => return Err(self.estimator.of_other(data)),
        }
        let effort = *self.estimator.effort();
        in_pool(effort.threads, || {
            let parts = split.parts(data, &self.estimator, self.metric, effort.seed)?;
            check_width(&parts.items.features)?;
            self.search(data, parts, started, watch)
        })
    }

    fn search(
        &self,
        data: LabelData<'_>,
        parts: LabelParts<'_>,
        started: Instant,
        watch: &dyn TuneWatch,
    ) -> Result<Tuned> {
        let mut grid = self.grid.clone();
        if grid.c.is_empty() {
            grid.c = self.usual_c(data);
        }
        let grid = grid.distinct()?;
        let epsilons: Vec<Option<f64>> = match self.epsilons.is_empty() {
            true => vec![None],
            false => distinct(&self.epsilons).into_iter().map(Some).collect(),
        };
        let limits = Limits {
            // A time beyond what the clock can name is no limit.
            deadline: self.time_limit.and_then(|limit| started.checked_add(limit)),
            watch,
            done: AtomicUsize::new(0),
            total: grid.n_points() * epsilons.len() * parts.trials.len(),
        };
        let trials = LabelTrials::new(&self.estimator, &parts.items, &parts.trials)?;
        let sweep = LabelSweep {
            grid: &grid,
            epsilons: &epsilons,
            parts: &parts,
            trials: &trials,
            tuner: self,
            limits: &limits,
        };
        let points = sweep.run()?;
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        let remedy = "try other kernels or smaller C, or scaled features (--scale standard)";
        let found = Found::new(points, parts.warnings.clone(), self.time_limit, remedy)?;
        let best = found.best(self.metric.greater_is_better(), || self.scale_gamma(data))?;
        let TuningPoint { c, kernel, loss, epsilon, .. } = found.points[best];
        let mut estimator = self.estimator.clone().shaped(c, kernel, loss, epsilon);
        estimator.effort_mut().threads = 0;
        let mut fit = estimator.fit_watched(data, &Refit(watch))?;
        if !watch.keep_going() {
            return Err(Error::Interrupted);
        }
        let metric = (self.metric.name(), self.metric.greater_is_better());
        fit.model.training.tuning = Some(found.record(metric, parts.split, Some(parts.baseline), best));
        Ok(Tuned { fit })
    }
}

/// What to measure on what.
struct LabelSweep<'a> {
    grid: &'a Grid,
    /// ε of a regression; one that is none for a classifier.
    epsilons: &'a [Option<f64>],
    parts: &'a LabelParts<'a>,
    trials: &'a LabelTrials<'a>,
    tuner: &'a LabelTuner,
    limits: &'a Limits<'a>,
}

/// The fits of one loss and tube with a kernel to a part, C by C from the smallest.
struct LabelChain<'a> {
    loss: usize,
    epsilon: usize,
    part: usize,
    /// Why there can be no fits, where there can be none.
    path: std::result::Result<LabelPath<'a>, &'a str>,
    /// What became of the fits so far.
    cells: Vec<Cell>,
}

impl LabelSweep<'_> {
    /// Every point with what became of it: losses, kernels, tubes, C.
    fn run(&self) -> Result<Vec<Point>> {
        let Grid { c, kernels, losses } = self.grid;
        let n_threads = rayon::current_num_threads();
        let is_large = kernels.iter().any(|&kernel| self.is_large(kernel, n_threads));
        let n_at_once = if is_large { 1 } else { n_threads };
        let kernel_numbers: Vec<usize> = (0..kernels.len()).collect();
        let done = in_order(&kernel_numbers, n_at_once > 1, |&kernel| self.with_kernel(kernels[kernel], n_at_once))?;

        let (order, n_parts) = (ascending(c), self.parts.trials.len());
        let mut points = Vec::with_capacity(self.grid.n_points() * self.epsilons.len());
        for (at_loss, &loss) in losses.iter().enumerate() {
            for (&kernel, chains) in kernels.iter().zip(&done) {
                for (at_epsilon, &epsilon) in self.epsilons.iter().enumerate() {
                    let first = points.len();
                    let cells = || vec![Cell::NotReached; n_parts];
                    points.extend(c.iter().map(|&c| Point { loss, kernel, c, epsilon, cells: cells() }));
                    let is_of = |chain: &&Done| (chain.loss, chain.epsilon) == (at_loss, at_epsilon);
                    for chain in chains.iter().filter(is_of) {
                        for (&at, cell) in order.iter().zip(&chain.cells) {
                            points[first + at].cells[chain.part] = cell.clone();
                        }
                    }
                }
            }
        }
        Ok(points)
    }

    /// Whether a single fit keeps all threads busy, or needs all memory.
    fn is_large(&self, kernel: Kernel, n_threads: usize) -> bool {
        let features = &self.parts.items.features;
        if kernel == Kernel::Linear {
            return features.n_stored() > MANY_NUMBERS;
        }
        if let Some(Approx::Nystrom(n)) = self.tuner.estimator.approx() {
            return features.n_rows().saturating_mul(n) > MANY_NUMBERS;
        }
        let rows = features.n_rows().saturating_mul(features.n_rows()).saturating_mul(size_of::<f32>());
        rows > (self.tuner.estimator.effort().cache_mb << 20) / n_threads
    }

    /// All fits with one kernel: C by C, all parts of one before the next, so that a time limit leaves complete points.
    fn with_kernel(&self, kernel: Kernel, n_at_once: usize) -> Result<Vec<Done>> {
        if self.limits.are_over() {
            return Ok(Vec::new());
        }
        let cache_mb = self.tuner.estimator.effort().cache_mb / n_at_once;
        // Where a kernel's numbers leave their range, every point says so.
        let failed = |error: Error| match error {
            Error::Numeric { problem, .. } => Ok(problem),
            error => Err(error),
        };
        let (stages, why) = match self.trials.stages(kernel) {
            Ok(stages) => (stages, String::new()),
            Err(error) => (Vec::new(), failed(error)?),
        };
        let grounds = stages.iter().map(|stage| self.trials.ground(stage, cache_mb)).collect::<Result<Vec<_>>>();
        let (grounds, why) = match grounds {
            Ok(grounds) => (grounds, why),
            Err(error) => (Vec::new(), failed(error)?),
        };
        let mut chains = Vec::new();
        for loss in 0..self.grid.losses.len() {
            for epsilon in 0..self.epsilons.len() {
                for part in 0..self.parts.trials.len() {
                    let ground = grounds.iter().find(|ground| ground.parts.contains(&part));
                    let path = match ground {
                        Some(ground) => {
                            Ok(self.trials.path(ground, self.grid.losses[loss], self.epsilons[epsilon], part)?)
                        }
                        None => Err(why.as_str()),
                    };
                    chains.push(LabelChain { loss, epsilon, part, path, cells: Vec::new() });
                }
            }
        }
        for at in ascending(&self.grid.c) {
            each(&mut chains, n_at_once > 1, |chain| self.next(chain, self.grid.c[at]))?;
        }
        let done = |LabelChain { loss, epsilon, part, cells, .. }: LabelChain<'_>| Done { loss, epsilon, part, cells };
        Ok(chains.into_iter().map(done).collect())
    }

    /// Fits with the next C and measures on the held-out items.
    fn next(&self, chain: &mut LabelChain<'_>, c: f64) -> Result<()> {
        let cell = self.limits.cell(c, || {
            let path = match &mut chain.path {
                Ok(path) => path,
                Err(why) => return Ok(Cell::Failed((*why).into())),
            };
            let (said, stop) = path.next(c, self.limits)?;
            if stop == Stop::Interrupted {
                return Ok(Cell::NotReached);
            }
            Ok(match self.parts.measure(chain.part, self.tuner.metric, &said)? {
                Some(value) => Cell::Measured(value, stop),
                None => Cell::Failed(format!("{} is not defined", self.tuner.metric.name())),
            })
        })?;
        chain.cells.push(cell);
        Ok(())
    }
}

/// What became of the fits along C.
struct Done {
    loss: usize,
    epsilon: usize,
    part: usize,
    /// C ascending.
    cells: Vec<Cell>,
}
