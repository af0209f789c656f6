//! The support vector classifier of two or more classes.

use std::borrow::Cow;
use std::time::Instant;

use rayon::prelude::*;

use super::class_chances::{Unseen, calibrate};
use super::common::{Effort, Fit, setters};
use super::given::GivenMachines;
use super::item_landmarks::check_approx;
use super::item_machine::{Aim, DistinctRows, Ground, Machine};
use super::item_model::ItemRecord;
use super::item_ranker::{check_width, why_to_scale};
use crate::data::{ClassItems, Features, Items, Precision, Scale, class_folds};
use crate::error::{Error, Place, Result};
use crate::kernel::{Approx, Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{ClassRule, ClassScheme, ClassWeights, Method, Sigmoid, SvmTraining};
use crate::problem::ItemTerm;
use crate::progress::{Unwatched, Watch};

/// Folds that scores of unseen items come from.
const FOLDS: usize = 5;

/// Support vector classifier. Of two classes, with y = ±1 and f(x) = w·Φ(x) + b:
///
/// ½‖w‖² + C·Σ c·ℓ(m − y·f(x))
///
/// c is an item's weight times that of its class, m its margin (1 if it has none of its own); b is not penalised. More than two
/// classes are told apart by a machine for every pair of them, or by one for every class against the rest.
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
    pub scheme: ClassScheme,
    /// How much classes weigh.
    pub class_weights: ClassWeights,
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
            scheme: ClassScheme::Ovo,
            class_weights: ClassWeights::Equal,
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
        scheme: ClassScheme,
        /// Sets how much classes weigh.
        class_weights: ClassWeights,
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
        if let ClassWeights::Named(named) = &self.class_weights
            && let Some((class, weight)) = named.iter().find(|(_, weight)| !(*weight > 0.0 && weight.is_finite()))
        {
            return Err(Error::parameter("class_weights", format!("{class}={weight}"), "finite numbers above 0"));
        }
        self.kernel.check()?;
        check_approx(self.approx, self.kernel, self.c)?;
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
        let factors = self.factors(data)?;
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
                (Some(distinct), Some(Approx::Nystrom(n))) => Ground::of_landmarks(kernel, distinct, n)?,
                (Some(distinct), None) => Ground::of_kernel(kernel, distinct, self.effort.cache_mb)?,
                (None, _) => Ground::of_features(&data.items.features, data.weights.as_deref(), scaler.as_ref())?,
            };
            let mut warnings: Vec<String> = why_to_scale(self.scale, &data.items).into_iter().collect();
            let aim = self.aim(started, watch);
            let (machines, rule) = self.machines(data, &factors, &ground, aim, &mut warnings)?;
            let machines = ground.measured(machines)?;
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
                    scheme: Some(self.scheme),
                    class_weights: self.class_weights.clone(),
                    class_sizes: sizes.collect(),
                    has_margins: data.margins.is_some(),
                },
                n_items: data.n_items(),
                warnings,
            };
            let mut model = record.model(&machines, &ground, &data.items, scaler.as_ref());
            model.classes = Some(data.classes.clone());
            model.class_rule = Some(rule);
            Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads })
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
        let factors = self.factors(&known)?;
        self.effort.in_pool(|_| {
            let ground = Ground::of_matrix(n, matrix)?;
            let aim = self.aim(started, &Unwatched);
            let (machines, rule) = self.machines(&data, &factors, &ground, aim, &mut Vec::new())?;
            Ok(GivenMachines::new(machines, Some((data.classes.clone(), rule))))
        })
    }

    fn aim<'a>(&self, started: Instant, watch: &'a dyn Watch) -> Aim<'a> {
        Aim { c: self.c, is_squared: self.loss.is_squared(), limits: self.effort.limits(started, watch) }
    }

    /// What the items of each class are multiplied with.
    fn factors(&self, data: &ClassItems) -> Result<Vec<f64>> {
        let mut masses = vec![0.0; data.classes.len()];
        data.labels.iter().enumerate().for_each(|(item, &class)| masses[class as usize] += data.weight(item));
        let total: f64 = masses.iter().sum();
        if !total.is_finite() {
            return Err(Error::Numeric {
                problem: "the weights of all items sum to more than a number can be".into(),
                remedy: "divide all weights by a number that brings them near 1".into(),
            });
        }
        match &self.class_weights {
            ClassWeights::Equal => Ok(vec![1.0; masses.len()]),
            ClassWeights::Balanced => Ok(masses.iter().map(|mass| total / (masses.len() as f64 * mass)).collect()),
            ClassWeights::Named(named) => {
                let mut factors = vec![1.0; masses.len()];
                for (name, weight) in named {
                    let known = data.classes.iter().position(|class| is_same_class(class, name));
                    let Some(class) = known else {
                        let known = data.classes.join(", ");
                        return Err(Error::parameter("class_weights", name, format!("one of the classes {known}")));
                    };
                    factors[class] = *weight;
                }
                Ok(factors)
            }
        }
    }

    /// All machines, and how they are put together.
    fn machines(
        &self,
        data: &ClassItems,
        factors: &[f64],
        ground: &Ground<'_>,
        aim: Aim<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<(Vec<Machine>, ClassRule)> {
        let folds = self.probabilities.then(|| class_folds(data, FOLDS, self.effort.seed));
        let (mut machines, mut sigmoids) = (Vec::new(), Vec::new());
        let mut n_flattered = 0;
        let solved = |&(first, second): &(Option<usize>, usize)| -> Result<(Machine, Option<(Sigmoid, bool)>)> {
            let terms = terms(data, factors, first, second);
            let machine = ground.solve(&terms, aim)?;
            let Some(folds) = &folds else { return Ok((machine, None)) };
            let mut unseen = self.unseen(data, &terms, folds, ground, aim)?;
            let is_flattered = unseen.is_empty();
            if is_flattered {
                unseen = scored(data, &terms, ground, &machine)?;
            }
            Ok((machine, Some((calibrate(&unseen), is_flattered))))
        };
        let wanted = self.scheme.machines(data.classes.len());
        // Machines in weights are small and many; those with a kernel have rows in memory, and use all threads one by one.
        let found: Box<dyn Iterator<Item = Result<_>>> = match ground {
            Ground::Weights { .. } => Box::new(wanted.par_iter().map(solved).collect::<Vec<_>>().into_iter()),
            Ground::Rows { .. } | Ground::Landmarks(_) => Box::new(wanted.iter().map(solved)),
        };
        for found in found {
            let (machine, sigmoid) = found?;
            machines.push(machine);
            n_flattered += usize::from(sigmoid.is_some_and(|(_, is_flattered)| is_flattered));
            sigmoids.extend(sigmoid.map(|(sigmoid, _)| sigmoid));
        }
        if n_flattered > 0 {
            warnings.push(
                "a class has too few different items to hold some out: its probabilities come from the items that were \
                 learnt from"
                    .into(),
            );
        }
        let sigmoids: Option<Vec<Sigmoid>> = self.probabilities.then_some(sigmoids);
        Ok((machines, ClassRule { scheme: self.scheme, sigmoids }))
    }

    /// Scores of items by machines that were fitted to the other folds; none where some of those have one class alone.
    fn unseen(
        &self,
        data: &ClassItems,
        terms: &[ItemTerm],
        folds: &[u32],
        ground: &Ground<'_>,
        aim: Aim<'_>,
    ) -> Result<Vec<Unseen>> {
        // A soft margin: what is left may be separable, or not.
        let aim = if aim.c.is_finite() { aim } else { Aim { c: 1e6, ..aim } };
        let mut unseen = Vec::with_capacity(terms.len());
        for fold in 0..FOLDS as u32 {
            let (held_out, learnt): (Vec<ItemTerm>, Vec<ItemTerm>) =
                terms.iter().partition(|term| folds[term.row as usize] == fold);
            let has = |is_second: bool| learnt.iter().any(|term| term.low.is_finite() == is_second);
            if held_out.is_empty() {
                continue;
            }
            if !(has(true) && has(false)) {
                return Ok(Vec::new());
            }
            let machine = ground.solve(&learnt, aim)?;
            unseen.extend(scored(data, &held_out, ground, &machine)?);
        }
        Ok(unseen)
    }
}

/// Whether two names are those of one class.
fn is_same_class(class: &str, name: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    class == name || number(class).is_some_and(|value| number(name) == Some(value))
}

fn scored(data: &ClassItems, terms: &[ItemTerm], ground: &Ground<'_>, machine: &Machine) -> Result<Vec<Unseen>> {
    let items: Vec<u32> = terms.iter().map(|term| term.row).collect();
    let scores = ground.scores(machine, &items)?;
    let of = |(term, score): (&ItemTerm, f64)| Unseen {
        score,
        is_second: term.low.is_finite(),
        weight: data.weight(term.row as usize),
    };
    Ok(terms.iter().zip(scores).map(of).collect())
}

/// What a machine wishes of items: those of the second class above their margin, those of the first (or all others) below.
fn terms(data: &ClassItems, factors: &[f64], first: Option<usize>, second: usize) -> Vec<ItemTerm> {
    let term = |item: usize| {
        let class = data.labels[item] as usize;
        let margin = data.margin(item);
        let (low, high) = match class == second {
            true => (margin, f64::INFINITY),
            false if first.is_none_or(|first| first == class) => (f64::NEG_INFINITY, -margin),
            false => return None,
        };
        let cost = data.weight(item) * factors[class];
        (cost > 0.0).then_some(ItemTerm { row: item as u32, low, high, cost })
    };
    (0..data.n_items()).filter_map(term).collect()
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
    let select = |values: &Option<Vec<f64>>| values.as_ref().map(|v| kept.iter().map(|&item| v[item]).collect());
    Ok(Cow::Owned(ClassItems {
        items: data.items.select(&kept),
        classes: places.iter().map(|&class| data.classes[class].clone()).collect(),
        labels: kept.iter().map(|&item| number(data.labels[item])).collect(),
        weights: select(&data.weights),
        margins: select(&data.margins),
    }))
}
