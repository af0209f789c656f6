//! The support vector classifier of two or more classes.

use std::borrow::Cow;
use std::time::Instant;

use super::class_machines::{Lesson, is_same_class};
use super::common::{Effort, Fit, out_of_time, setters};
use super::given::GivenMachines;
use super::hard_items::told_of_all;
use super::item_landmarks::check_approx;
use super::item_machine::{Aim, DistinctRows, Ground};
use super::item_model::ItemRecord;
use super::item_ranker::{check_width, why_to_scale};
use crate::data::{ClassItems, Features, Items, Precision, Scale};
use crate::error::{Error, Place, Result};
use crate::kernel::{Approx, Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{ClassScheme, ClassWeights, Method, SvmTraining};
use crate::progress::{Unwatched, Watch};

/// Support vector classifier. Of two classes, with y = ±1 and f(x) = w·Φ(x) + b:
///
/// ½‖w‖² + C·Σ c·ℓ(m − y·f(x))
///
/// c is an item's weight times that of its class, m its margin (1 if it has none of its own); b is not penalised. More than two
/// classes are told apart by a machine for every pair of them, by one for every class against the rest, or by one that learns
/// weights for all classes at once (linear, by the hinge): with f_k(x) = w_k·x + b_k and lead_k = f_y − f_k of an item of class y,
///
/// ½Σ_k (‖w_k‖² + b_k²) + C·Σ c·max(0, max_{k ≠ y} (m − lead_k))   (Crammer and Singer)
///
/// or with the sum over k ≠ y of max(0, m − lead_k) instead of the largest (Weston and Watkins); biases are penalised there.
///
/// ```
/// use rankwise::data::{ClassItems, Features, Items, Precision};
/// use rankwise::{Kernel, SvmClassifier};
///
/// let corners = vec![-1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0];
/// let items = Items::new(Features::dense(2, corners, Precision::Auto)?, None, None)?;
/// let data = ClassItems::new(items, &["same", "different", "different", "same"])?;
/// let fit = SvmClassifier::new().c(10.0).kernel(Kernel::rbf(0.5)).fit(&data)?;
/// assert_eq!(fit.model.classify(&data.items)?.classes, data.labels);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SvmClassifier {
    /// C multiplies the sum of weighted losses; ∞ asks for a hard margin.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// What stands for the functions of the kernel; `None` for all of them.
    pub approx: Option<Approx>,
    /// Hinge or squared hinge.
    pub loss: Loss,
    /// How more than two classes are told apart.
    pub classes: ClassScheme,
    /// How much classes weigh.
    pub class_weight: ClassWeights,
    /// Whether scores become probabilities, fitted to items that were held out.
    pub probabilities: bool,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for SvmClassifier {
    fn default() -> Self {
        Self::new()
    }
}

impl SvmClassifier {
    /// Default parameters: C 1, linear, hinge, one-vs-one.
    pub fn new() -> Self {
        SvmClassifier {
            c: 1.0,
            kernel: Kernel::Linear,
            approx: None,
            loss: Loss::Hinge,
            classes: ClassScheme::Ovo,
            class_weight: ClassWeights::Equal,
            probabilities: false,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses; ∞ asks for a hard margin.
        c: f64,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets what stands for the functions of the kernel.
        approx: Option<Approx>,
        /// Sets the loss: hinge or squared hinge.
        loss: Loss,
        /// Sets how more than two classes are told apart.
        classes: ClassScheme,
        /// Sets how much classes weigh.
        class_weight: ClassWeights,
        /// Sets whether scores become probabilities.
        probabilities: bool,
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
        if !Loss::OF_CLASSES.contains(&self.loss) {
            return Err(Error::parameter("loss", self.loss.name(), "hinge or squared-hinge for classifiers"));
        }
        if let ClassWeights::Named(named) = &self.class_weight
            && let Some((class, weight)) = named.iter().find(|(_, weight)| !(*weight > 0.0 && weight.is_finite()))
        {
            return Err(Error::parameter("class_weights", format!("{class}={weight}"), "finite numbers above 0"));
        }
        if let ClassWeights::Named(named) = &self.class_weight {
            for (at, (class, weight)) in named.iter().enumerate() {
                if let Some((first, other)) = named[..at].iter().find(|(first, _)| is_same_class(first, class)) {
                    let found = format!("{first}={other},{class}={weight}");
                    return Err(Error::parameter("class_weights", found, "one weight for each class"));
                }
            }
        }
        self.kernel.check()?;
        check_approx(self.approx, self.kernel, self.c)?;
        self.check_joint()?;
        self.effort.check()
    }

    /// Fits a model.
    pub fn fit(&self, data: &ClassItems) -> Result<Fit> {
        self.fit_watched(data, &Unwatched)
    }

    /// Fits a model while `watch` looks on, and perhaps stops it.
    pub fn fit_watched(&self, data: &ClassItems, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        let started = Instant::now();
        let data = &*present(data)?;
        let lesson = Lesson::of_all(data);
        self.factors(&lesson)?;
        check_width(&data.items.features)?;
        self.effort.in_pool(|threads| {
            let scaler = data.scaler(self.scale);
            let (distinct, kernel) = match self.kernel {
                Kernel::Linear => (None, KernelFunction::Linear),
                kernel => {
                    let scaled = match &scaler {
                        Some(scaler) => Cow::Owned(scaler.apply(&data.items.features)?),
                        None => Cow::Borrowed(&data.items.features),
                    };
                    let kernel = kernel.resolve_weighted(&scaled, data.weights.as_deref())?;
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
                (None, _) => Ground::of_features(&data.items.features, data.weights.as_deref(), scaler.as_ref())?,
            };
            let mut warnings: Vec<String> = why_to_scale(self.scale, &data.items).into_iter().collect();
            let aim = self.aim(started, watch);
            let found = self.machines(&lesson, &ground, aim, &[], &mut warnings);
            let (machines, rule) = found.map_err(|error| told_of_all(error, data.n_items()))?;
            let machines = ground.measured(machines, aim.limits, self.effort.cache_mb)?;
            let sizes = (0..data.classes.len() as u32).map(|class| data.labels.iter().filter(|l| **l == class).count());
            let record = ItemRecord {
                method: Method::Classify,
                loss: self.loss,
                kernel,
                approx: self.approx,
                c: self.c,
                scale: self.scale,
                effort: &self.effort,
                svm: SvmTraining {
                    epsilon: None,
                    scheme: Some(self.classes),
                    class_weights: self.class_weight.clone(),
                    class_sizes: sizes.collect(),
                    has_margins: data.margins.is_some(),
                    ..SvmTraining::default()
                },
                n_items: data.n_items(),
                warnings,
            };
            let mut model = record.model(&machines, &ground, &data.items, scaler.as_ref());
            model.classes = Some(data.classes.clone());
            model.class_rule = Some(rule);
            Fit::new(model, &data.items, started, threads)
        })
    }

    /// Fits to a matrix of kernel values of all items with all items, row by row; kernel, scaling and probabilities do not
    /// apply. `labels` are the items' classes, `weights` multiply their losses.
    pub fn fit_given(
        &self,
        matrix: &[f64],
        labels: &[impl AsRef<str>],
        weights: Option<Vec<f64>>,
    ) -> Result<GivenMachines> {
        self.check()?;
        if self.classes.is_joint() {
            return Err(Error::parameter("classes", self.classes.name(), "ovo or ovr where kernel values are given"));
        }
        if self.probabilities {
            return Err(Error::parameter("probabilities", true, "false where kernel values are given"));
        }
        let n = labels.len();
        super::given::check_matrix(matrix, n, self.approx)?;
        let nothing = Items::new(Features::dense(1, vec![0.0; n], Precision::F32)?, None, None)?;
        let mut data = ClassItems::new(nothing, labels)?;
        if let Some(weights) = weights {
            data = data.with_weights(weights)?;
        }
        let started = Instant::now();
        let known = present(&data)?;
        if let Some(absent) = data.classes.iter().find(|class| !known.classes.contains(class)) {
            return Err(Error::parameter("weights", 0, format!("some above 0 of the class {absent}")));
        }
        let lesson = Lesson::of_all(&data);
        self.factors(&lesson)?;
        self.effort.in_pool(|_| {
            let ground = Ground::of_matrix(n, matrix)?;
            let aim = self.aim(started, &Unwatched);
            let (machines, rule) = self.machines(&lesson, &ground, aim, &[], &mut Vec::new())?;
            Ok(GivenMachines::new(machines, Some((data.classes.clone(), rule))))
        })
    }

    pub(super) fn aim<'a>(&self, started: Instant, watch: &'a dyn Watch) -> Aim<'a> {
        Aim { c: self.c, is_squared: self.loss.is_squared(), limits: self.effort.limits(started, watch) }
    }
}

/// The items with a weight above 0, of the classes they have; there must be two.
fn present(data: &ClassItems) -> Result<Cow<'_, ClassItems>> {
    let kept: Vec<usize> = (0..data.n_items()).filter(|&item| data.weight(item) > 0.0).collect();
    let mut is_there = vec![false; data.classes.len()];
    kept.iter().for_each(|&item| is_there[data.labels[item] as usize] = true);
    let places: Vec<usize> = (0..is_there.len()).filter(|&class| is_there[class]).collect();
    if places.len() < 2 {
        let problem = match (data.n_items(), places.first()) {
            (0, _) => "there is no item".into(),
            (_, None) => "every weight is 0".into(),
            (_, Some(&only)) => {
                format!("all items are of the class {}, so there is nothing to tell apart", data.classes[only])
            }
        };
        return Err(Error::data(
            Place::file("items"),
            problem,
            "give items of two or more classes, with weights above 0",
        ));
    }
    if kept.len() == data.n_items() && places.len() == data.classes.len() {
        return Ok(Cow::Borrowed(data));
    }
    let number = |class: u32| places.partition_point(|&place| place < class as usize) as u32;
    let mut present = data.select(&kept);
    present.classes = places.iter().map(|&class| data.classes[class].clone()).collect();
    present.labels.iter_mut().for_each(|label| *label = number(*label));
    Ok(Cow::Owned(present))
}
