//! Support vector regression within a tube.

use std::borrow::Cow;
use std::time::Instant;

use super::common::{Effort, Fit, out_of_time, setters};
use super::given::{self, GivenMachines};
use super::hard_items::told_of_all;
use super::item_landmarks::check_approx;
use super::item_machine::{Aim, DistinctRows, Ground, Machine};
use super::item_model::ItemRecord;
use super::item_ranker::{check_width, why_to_scale};
use super::item_start::Start;
use crate::data::{Ranking, Scale, Scaler};
use crate::error::{Error, Place, Result};
use crate::kernel::{Approx, Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{Method, SvmTraining};
use crate::problem::ItemTerm;
use crate::progress::{Stop, Unwatched, Watch};
use crate::solver::Limits;

/// Support vector regression with f(x) = w·Φ(x) + b:
///
/// ½‖w‖² + C·Σ c·ℓ(|y − f(x)| − ε)
///
/// c is an item's weight (times that of its group), ℓ(t) = max(0, t) or its square; b is not penalised. Groups do not matter.
/// With C = ∞ every label must lie within ε of f.
///
/// ```
/// use rankwise::data::{Features, Items, Precision, Ranking};
/// use rankwise::SvmRegressor;
///
/// let items = Items::new(Features::dense(1, vec![1.0, 2.0, 3.0], Precision::Auto)?, None, None)?;
/// let data = Ranking::new(items, vec![12.0, 14.0, 16.0], None)?;
/// let fit = SvmRegressor::new().c(1e6).epsilon(0.5).tol(1e-6).fit(&data)?;
/// let values = fit.model.scorer.scores(&data.items)?;
/// assert!((values[0] - 12.5).abs() < 1e-3 && (values[2] - 15.5).abs() < 1e-3);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SvmRegressor {
    /// C multiplies the sum of weighted losses; ∞ asks for a hard tube.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// What stands for the functions of the kernel; `None` for all of them.
    pub approx: Option<Approx>,
    /// [`Loss::Epsilon`] or [`Loss::SquaredEpsilon`].
    pub loss: Loss,
    /// ε, how far from a label a value may be without loss.
    pub epsilon: f64,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for SvmRegressor {
    fn default() -> Self {
        Self::new()
    }
}

impl SvmRegressor {
    /// Default parameters: C 1, linear, ε 0.1.
    pub fn new() -> Self {
        SvmRegressor {
            c: 1.0,
            kernel: Kernel::Linear,
            approx: None,
            loss: Loss::Epsilon,
            epsilon: 0.1,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses; ∞ asks for a hard tube.
        c: f64,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets what stands for the functions of the kernel.
        approx: Option<Approx>,
        /// Sets the loss.
        loss: Loss,
        /// Sets how far from a label a value may be without loss.
        epsilon: f64,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how much work a fit may do.
        effort: Effort,
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        if self.c.is_nan() || self.c <= 0.0 {
            return Err(Error::parameter("C", self.c, "a number above 0, or inf"));
        }
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            return Err(Error::parameter("epsilon", self.epsilon, "a finite number of at least 0"));
        }
        if !Loss::OF_TUBES.contains(&self.loss) {
            return Err(Error::parameter("loss", self.loss.name(), "epsilon or squared-epsilon for regressions"));
        }
        self.kernel.check()?;
        check_approx(self.approx, self.kernel, self.c)?;
        self.effort.check()
    }

    /// Fits a model.
    pub fn fit(&self, data: &Ranking) -> Result<Fit> {
        self.fit_watched(data, &Unwatched)
    }

    /// Fits a model while `watch` looks on, and perhaps stops it.
    pub fn fit_watched(&self, data: &Ranking, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        let started = Instant::now();
        let weight = |item: usize| data.weight(item) * data.group_weight(data.groups.numbers()[item] as usize);
        let kept: Vec<usize> = (0..data.n_items()).filter(|&item| weight(item) > 0.0).collect();
        let data = if kept.len() == data.n_items() { Cow::Borrowed(data) } else { Cow::Owned(data.select(&kept)) };
        let weight = |item: usize| data.weight(item) * data.group_weight(data.groups.numbers()[item] as usize);
        let weights: Vec<f64> = (0..data.n_items()).map(weight).collect();
        check_any(kept.len())?;
        drop(kept);
        check_width(&data.items.features)?;
        self.effort.in_pool(|threads| {
            let features = &data.items.features;
            let scaler = Scaler::learn_weighted(self.scale, features, 0..data.n_items(), Some(&weights));
            let (distinct, kernel) = match self.kernel {
                Kernel::Linear => (None, KernelFunction::Linear),
                kernel => {
                    let scaled = match &scaler {
                        Some(scaler) => Cow::Owned(scaler.apply(&data.items.features)?),
                        None => Cow::Borrowed(&data.items.features),
                    };
                    let kernel = kernel.resolve_weighted(&scaled, Some(&weights))?;
                    (Some(DistinctRows::new(&scaled)), kernel)
                }
            };
            let ground = match (&distinct, self.approx) {
                (Some(distinct), Some(Approx::Nystrom(n))) => {
                    let limits = self.effort.limits(started, watch);
                    let goes_on = || !limits.is_stopped(0, f64::NAN);
                    Ground::of_landmarks(kernel, distinct, None, n, &goes_on).map_err(|e| out_of_time(e, limits))?
                }
                (Some(distinct), None) => Ground::of_kernel(kernel, distinct, self.effort.cache_mb)?,
                (None, _) => Ground::of_features(&data.items.features, Some(&weights), scaler.as_ref())?,
            };
            let aim = self.aim(started, watch);
            let found = self.machine(&data.labels, &weights, &ground, aim, None);
            let machine = found.map_err(|error| told_of_all(error, data.n_items()))?;
            let record = ItemRecord {
                method: Method::Regress,
                loss: self.loss,
                kernel,
                approx: self.approx,
                c: self.c,
                scale: self.scale,
                effort: &self.effort,
                svm: SvmTraining { epsilon: Some(self.epsilon), ..SvmTraining::default() },
                n_items: data.n_items(),
                warnings: why_to_scale(self.scale, &data.items).into_iter().collect(),
            };
            let machines = ground.measured(vec![machine], aim.limits, self.effort.cache_mb)?;
            let model = record.model(&machines, &ground, &data.items, scaler.as_ref());
            Fit::new(model, &data.items, started, threads)
        })
    }

    /// Fits to a matrix of kernel values of all items with all items, row by row; kernel and scaling do not apply.
    pub fn fit_given(&self, matrix: &[f64], labels: &[f64], weights: Option<Vec<f64>>) -> Result<GivenMachines> {
        self.check()?;
        let n = labels.len();
        given::check_matrix(matrix, n, self.approx)?;
        if let Some(bad) = labels.iter().find(|label| !label.is_finite()) {
            return Err(Error::parameter("labels", bad, "finite numbers"));
        }
        let weights = weights.unwrap_or_else(|| vec![1.0; n]);
        crate::data::check_weights("weights", &weights, n)?;
        check_any(weights.iter().filter(|weight| **weight > 0.0).count())?;
        self.effort.in_pool(|_| {
            let ground = Ground::of_matrix(n, matrix)?;
            let aim = self.aim(Instant::now(), &Unwatched);
            let machine = self.machine(labels, &weights, &ground, aim, None)?;
            Ok(GivenMachines::new(vec![machine], None))
        })
    }

    pub(super) fn aim<'a>(&self, started: Instant, watch: &'a dyn Watch) -> Aim<'a> {
        Aim { c: self.c, is_squared: self.loss.is_squared(), limits: self.effort.limits(started, watch) }
    }

    /// The machine, solved in units in which labels are about 1; items of weight 0 do not count. `start` is from a smaller C.
    pub(super) fn machine(
        &self,
        labels: &[f64],
        weights: &[f64],
        ground: &Ground<'_>,
        aim: Aim<'_>,
        start: Option<&Start>,
    ) -> Result<Machine> {
        let total: f64 = weights.iter().sum();
        let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
            labels.iter().zip(weights).map(|(label, weight)| weight / total * of(*label)).sum()
        };
        let middle = mean(&|label| label);
        let spread = mean(&|label| (label - middle) * (label - middle)).sqrt();
        let unit = if spread.is_normal() { spread } else { 1.0 };
        let term = |(item, (label, cost)): (usize, (&f64, &f64))| {
            let target = (label - middle) / unit;
            let epsilon = self.epsilon / unit;
            ItemTerm { row: item as u32, low: target - epsilon, high: target + epsilon, cost: *cost }
        };
        let terms: Vec<ItemTerm> =
            labels.iter().zip(weights).enumerate().filter(|(_, (_, cost))| **cost > 0.0).map(term).collect();
        let c = if aim.is_squared { aim.c } else { aim.c / unit };
        let aim = Aim { c, ..aim };
        let mut solved = ground.solve(&terms, aim, start)?;
        // The gap that is told is relative to at least 1e-12 of what the labels are in, which may be far less in these units.
        let base = |solved: &Machine| solved.primal.max(1e-12 / (unit * unit));
        let is_open = |solved: &Machine| {
            solved.stop == Stop::Converged && solved.primal - solved.dual > aim.limits.tol * base(solved)
        };
        if is_open(&solved) {
            let tol = aim.limits.tol * base(&solved) / solved.primal.max(1e-12);
            let max_iter = aim.limits.max_iter.saturating_sub(solved.steps);
            let limits = Limits { tol, max_iter, ..aim.limits };
            let closer = ground.solve(&terms, Aim { limits, ..aim }, Some(&solved.start))?;
            solved = Machine { steps: solved.steps + closer.steps, ..closer };
        }
        if is_open(&solved) {
            solved.stop = Stop::Stalled;
        }
        Ok(solved.in_units(unit, middle))
    }
}

fn check_any(n_items: usize) -> Result<()> {
    match n_items {
        0 => Err(Error::data(Place::file("items"), "no item has a weight above 0", "give items with labels")),
        _ => Ok(()),
    }
}
