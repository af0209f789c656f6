//! Support vector ordinal regression: items with grades.

use std::borrow::Cow;
use std::time::Instant;

use super::common::{Effort, Fit, setters};
use super::grade_machine::{GradeMachine, Graded};
use super::item_machine::{Aim, DistinctRows, Ground};
use super::item_model::ItemRecord;
use super::item_ranker::{check_width, why_to_scale};
use crate::data::{Ranking, Scale, Scaler, bin_of, equal_frequency_cuts};
use crate::error::{Error, Place, Result};
use crate::kernel::{Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{Constraints, GradeRule, Method, Model, ScoreFunction, SvmTraining};
use crate::progress::{Unwatched, Watch};

/// The most grades that are told apart.
const MOST_GRADES: usize = 256;

/// Support vector ordinal regression (Chu and Keerthi 2007). Grades 1 … r are the distinct labels, in order; scores s = w·Φ(x) and
/// thresholds b_1 ≤ … ≤ b_(r−1) put every item between two of them:
///
/// ½‖w‖² + C·Σ c·Σ_j ℓ(1 − S_j·(s − b_j)),  S_j = 1 for items above grade j, −1 for the others
///
/// c is an item's weight (times that of its group). With implicit constraints j goes over all thresholds, which are then in order by
/// themselves; with explicit ones over those beside the item's grade, and their order is a constraint. Two grades: the classifier
/// of two classes, either way. Groups do not matter.
///
/// ```
/// use rankwise::data::{Features, Items, Precision, Ranking};
/// use rankwise::OrdinalSvm;
///
/// let items = Items::new(Features::dense(1, vec![1.0, 2.0, 4.0, 5.0, 9.0], Precision::Auto)?, None, None)?;
/// let data = Ranking::new(items, vec![1.0, 1.0, 2.0, 2.0, 3.0], None)?;
/// let model = OrdinalSvm::new().c(10.0).fit(&data)?.model;
/// assert_eq!(model.grade(&data.items)?, data.labels);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OrdinalSvm {
    /// C multiplies the sum of weighted losses.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// Hinge or squared hinge.
    pub loss: Loss,
    /// Which items have a say in a threshold.
    pub constraints: Constraints,
    /// Puts labels into so many bins of about equal weight first, which are then the grades 1, 2, ….
    pub bins: Option<usize>,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for OrdinalSvm {
    fn default() -> Self {
        Self::new()
    }
}

/// The grades of labels.
pub(crate) struct GradeLabels {
    /// What they are called.
    pub(crate) grades: Vec<f64>,
    /// The number of the grade of each item; of items that do not count, any.
    pub(crate) places: Vec<u32>,
    /// Between bins of labels.
    pub(crate) cuts: Option<Vec<f64>>,
}

impl OrdinalSvm {
    /// Default parameters: C 1, linear, hinge, implicit constraints.
    pub fn new() -> Self {
        OrdinalSvm {
            c: 1.0,
            kernel: Kernel::Linear,
            loss: Loss::Hinge,
            constraints: Constraints::Implicit,
            bins: None,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses.
        c: f64,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets the loss: hinge or squared hinge.
        loss: Loss,
        /// Sets which items have a say in a threshold.
        constraints: Constraints,
        /// Sets how many bins labels are put into first.
        bins: Option<usize>,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how much work a fit may do.
        effort: Effort,
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::parameter("C", self.c, "a finite number above 0: ordinal has no hard margin"));
        }
        if !Loss::OF_CLASSES.contains(&self.loss) {
            return Err(Error::parameter("loss", self.loss.name(), "hinge or squared-hinge for ordinal"));
        }
        if let Some(bins) = self.bins.filter(|bins| !(2..=MOST_GRADES).contains(bins)) {
            return Err(Error::parameter("bins", bins, format!("a number from 2 to {MOST_GRADES}")));
        }
        self.kernel.check()?;
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
        let weights: Vec<f64> = kept.iter().map(|&item| weight(item)).collect();
        let data = if kept.len() == data.n_items() { Cow::Borrowed(data) } else { Cow::Owned(data.select(&kept)) };
        drop(kept);
        let labels = self.grades(&data.labels, &weights)?;
        check_width(&data.items.features)?;
        self.effort.in_pool(|threads| {
            let features = &data.items.features;
            let scaler = Scaler::learn_weighted(self.scale, features, 0..data.n_items(), Some(&weights));
            let (distinct, kernel) = match self.kernel {
                Kernel::Linear => (None, KernelFunction::Linear),
                kernel => {
                    let scaled = match &scaler {
                        Some(scaler) => Cow::Owned(scaler.apply(features)?),
                        None => Cow::Borrowed(features),
                    };
                    let kernel = kernel.resolve_weighted(&scaled, Some(&weights))?;
                    (Some(DistinctRows::new(&scaled)), kernel)
                }
            };
            let ground = match &distinct {
                Some(distinct) => Ground::of_kernel(kernel, distinct, self.effort.cache_mb)?,
                None => Ground::of_features(features, Some(&weights), scaler.as_ref())?,
            };
            let graded = self.graded(&labels, &weights);
            let found = GradeMachine::solve(&ground, &graded, self.aim(started, watch), None)?;
            let mut sizes = vec![0; labels.grades.len()];
            labels.places.iter().for_each(|&place| sizes[place as usize] += 1);
            let mut warnings: Vec<String> = why_to_scale(self.scale, &data.items).into_iter().collect();
            warnings.extend(self.fewer_bins(&labels));
            let record = ItemRecord {
                method: Method::Ordinal,
                loss: self.loss,
                kernel,
                approx: None,
                c: self.c,
                scale: self.scale,
                effort: &self.effort,
                svm: SvmTraining {
                    class_sizes: sizes,
                    constraints: Some(self.constraints),
                    bins: self.bins,
                    ..SvmTraining::default()
                },
                n_items: data.n_items(),
                warnings,
            };
            let GradeMachine { machine, thresholds, .. } = found;
            let mut model = record.model(&[machine], &ground, &data.items, scaler.as_ref());
            let moved = taken_bias(&mut model);
            let thresholds = thresholds.into_iter().map(|threshold| threshold - moved).collect();
            model.grades = Some(GradeRule { grades: labels.grades, thresholds, cuts: labels.cuts });
            Fit::new(model, &data.items, started, threads)
        })
    }

    pub(super) fn aim<'a>(&self, started: Instant, watch: &'a dyn Watch) -> Aim<'a> {
        Aim { c: self.c, is_squared: self.loss.is_squared(), limits: self.effort.limits(started, watch) }
    }

    pub(super) fn graded(&self, labels: &GradeLabels, weights: &[f64]) -> Graded {
        Graded::new(&labels.places, weights, labels.grades.len(), self.constraints == Constraints::Explicit)
    }

    /// The grades that items with a weight above 0 have; there must be two.
    pub(crate) fn grades(&self, labels: &[f64], weights: &[f64]) -> Result<GradeLabels> {
        let cuts = self.bins.map(|bins| equal_frequency_cuts(labels, weights, bins)).transpose()?;
        let mut known: Vec<f64> =
            labels.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(label, _)| label + 0.0).collect();
        known.sort_by(f64::total_cmp);
        known.dedup();
        known.shrink_to_fit();
        let problem = match known[..] {
            [] => "no item has a weight above 0".into(),
            [only] => format!("all items have the label {only}, so there is nothing to learn"),
            _ if cuts.is_none() && known.len() > MOST_GRADES => {
                format!("{} different labels are too many for grades, of which there may be {MOST_GRADES}", known.len())
            }
            _ => {
                let place = |label: f64| known.partition_point(|grade| *grade < label).min(known.len() - 1);
                return Ok(match cuts {
                    Some(cuts) => GradeLabels {
                        grades: (1..=cuts.len() + 1).map(|bin| bin as f64).collect(),
                        places: labels.iter().map(|&label| bin_of(&cuts, label) as u32).collect(),
                        cuts: Some(cuts),
                    },
                    None => GradeLabels {
                        places: labels.iter().map(|&label| place(label) as u32).collect(),
                        grades: known,
                        cuts: None,
                    },
                });
            }
        };
        let remedy = match known.len() {
            0 | 1 => "give items with at least two different labels",
            _ => "put labels into bins (--bins 5), or predict their values (--method regress)",
        };
        Err(Error::data(Place::file("items"), problem, remedy))
    }

    /// What to say of bins that equal labels leave no room for.
    fn fewer_bins(&self, labels: &GradeLabels) -> Option<String> {
        let (asked, made) = (self.bins?, labels.grades.len());
        (made < asked).then(|| {
            format!(
                "{made} bins instead of {asked}: equal labels stay together, and some of them are too many for a bin"
            )
        })
    }
}

/// Scores without a constant, which thresholds take over; it was this.
fn taken_bias(model: &mut Model) -> f64 {
    match &mut model.scorer.function {
        ScoreFunction::Linear { bias, .. } | ScoreFunction::Kernel { bias, .. } => std::mem::take(bias),
        _ => 0.0,
    }
}
