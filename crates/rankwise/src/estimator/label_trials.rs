//! Fits of classifiers, regressions and machines of grades to parts of the same items, to be judged by the other parts. All parts whose scaled
//! features and kernel are the same stand on one ground, for all losses, tubes and values of C, and each C starts from the
//! solution of the one before.

use std::borrow::Cow;
use std::time::Instant;

use super::class_machines::Lesson;
use super::grade_machine::{GradeMachine, Graded};
use super::item_machine::{Aim, DistinctRows, Ground, Machine};
use super::label_estimator::LabelEstimator;
use super::{OrdinalSvm, SvmClassifier, SvmRegressor};
use crate::data::{Features, Scale, Scaler, far_shift, shifted};
use crate::error::{Error, Result};
use crate::kernel::{Approx, Gamma, Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{ClassVerdicts, GradeRule};
use crate::progress::{Stop, Watch};

/// Items to learn from and items to be judged, in one set.
pub(crate) struct TrialItems<'a> {
    /// As they are.
    pub(crate) features: Cow<'a, Features>,
    /// What is learnt.
    pub(crate) labels: TrialLabels,
    /// Those of groups included.
    pub(crate) weights: Vec<f64>,
}

/// What is learnt of items.
pub(crate) enum TrialLabels {
    /// Numbers of classes, which are called so, and the margins that items should have.
    Classes { names: Vec<String>, labels: Vec<u32>, margins: Option<Vec<f64>> },
    /// Values.
    Values(Vec<f64>),
}

/// What is learnt from, and what is judged.
pub(crate) struct TrialPart {
    /// Weights of all items; 0 for those that are not learnt from.
    pub(crate) weights: Vec<f64>,
    /// The items that are judged.
    pub(crate) held: Vec<u32>,
    /// The classes that are learnt, ascending.
    pub(crate) classes: Vec<u32>,
}

/// What a fit says of the held-out items of its part.
pub(crate) enum HeldLabels {
    /// Classes are numbered as [`TrialPart::classes`] are, grades as [`OrdinalSvm::grades`] of what is learnt from.
    Classes(ClassVerdicts),
    Values(Vec<f64>),
}

/// All parts.
pub(crate) struct LabelTrials<'a> {
    estimator: LabelEstimator,
    items: &'a TrialItems<'a>,
    parts: &'a [TrialPart],
    /// Features near zero, for linear machines: where those of the items are far from it.
    near: Option<Features>,
}

/// What the fits of some parts with a kernel stand on.
pub(crate) struct Stage {
    function: KernelFunction,
    scaler: Option<Scaler>,
    /// Scaled; of linear machines none.
    distinct: Option<DistinctRows>,
    /// How many landmarks to choose from which of the distinct rows, where they stand for the kernel.
    landmarks: Option<(usize, Vec<usize>)>,
    /// The parts that stand on it.
    parts: Vec<usize>,
}

impl<'a> LabelTrials<'a> {
    /// Fits of this method. An error where it could not learn from all of the items, or from a part.
    pub(crate) fn new(
        estimator: &LabelEstimator,
        items: &'a TrialItems<'a>,
        parts: &'a [TrialPart],
    ) -> Result<LabelTrials<'a>> {
        // Where a bias is penalised, it matters where zero is.
        let is_joint = matches!(estimator, LabelEstimator::Classify(svm) if svm.classes.is_joint());
        let shift = if is_joint { None } else { far_shift(&items.features, Some(&items.weights)) };
        let near = shift.map(|shift| shifted(&items.features, &shift));
        let trials = LabelTrials { estimator: estimator.clone(), items, parts, near };
        if let LabelEstimator::Classify(svm) = estimator {
            trials.lessons().try_for_each(|lesson| svm.factors(&lesson?).map(|_| ()))?;
        }
        Ok(trials)
    }

    fn lessons(&self) -> impl Iterator<Item = Result<Lesson<'_>>> {
        (0..self.parts.len()).map(|part| self.lesson(part))
    }

    /// What a classifier learns from a part.
    fn lesson(&self, part: usize) -> Result<Lesson<'_>> {
        let TrialLabels::Classes { names, labels, margins } = &self.items.labels else {
            return Err(Error::parameter("data", "values", "classes for a classifier"));
        };
        let TrialPart { weights, classes, .. } = &self.parts[part];
        let mut places = vec![u32::MAX; names.len()];
        classes.iter().enumerate().for_each(|(place, &class)| places[class as usize] = place as u32);
        let absent = (0..names.len()).filter(|&class| places[class] == u32::MAX);
        Ok(Lesson {
            features: &self.items.features,
            classes: classes.iter().map(|&class| names[class as usize].clone()).collect(),
            absent: absent.map(|class| names[class].clone()).collect(),
            labels: labels.iter().map(|&label| places[label as usize]).collect(),
            weights: Cow::Borrowed(weights),
            margins: margins.as_deref(),
        })
    }

    /// The scaling that a part teaches.
    fn scaler(&self, part: usize) -> Option<Scaler> {
        let weights = &self.parts[part].weights;
        let rows = (0..weights.len()).filter(|&item| weights[item] > 0.0);
        Scaler::learn_weighted(self.estimator.scale(), &self.items.features, rows, Some(weights))
    }

    /// Everything that fits with a kernel stand on. Parts share a stage where scaling, γ `scale`
    /// and landmarks make no difference.
    pub(crate) fn stages(&self, kernel: Kernel) -> Result<Vec<Stage>> {
        let all: Vec<usize> = (0..self.parts.len()).collect();
        if kernel == Kernel::Linear {
            let stage = |parts: Vec<usize>| Stage {
                function: KernelFunction::Linear,
                scaler: self.scaler(parts[0]),
                distinct: None,
                landmarks: None,
                parts,
            };
            return Ok(match self.estimator.scale() {
                Scale::None => vec![stage(all)],
                _ => all.into_iter().map(|part| stage(vec![part])).collect(),
            });
        }
        let mut stages: Vec<Stage> = Vec::new();
        for part in all {
            let scaler = self.scaler(part);
            let scaled = match &scaler {
                Some(scaler) => Cow::Owned(scaler.apply(&self.items.features)?),
                None => Cow::Borrowed(&*self.items.features),
            };
            let function = self.resolve(kernel, &scaled, part)?;
            let shares = |stage: &&mut Stage| {
                stage.function == function && [&stage.scaler, &scaler].iter().all(|scaler| scaler.is_none())
            };
            match stages.iter_mut().filter(|stage| stage.landmarks.is_none()).find(shares) {
                Some(stage) => stage.parts.push(part),
                None => {
                    let distinct = DistinctRows::new(&scaled);
                    let landmarks =
                        self.estimator.approx().map(|Approx::Nystrom(n)| (n, self.learnt_rows(&distinct, part)));
                    stages.push(Stage { function, scaler, distinct: Some(distinct), landmarks, parts: vec![part] });
                }
            }
        }
        Ok(stages)
    }

    /// The distinct rows that a part learns from, in order.
    fn learnt_rows(&self, distinct: &DistinctRows, part: usize) -> Vec<usize> {
        let mut is_learnt = vec![false; distinct.features().n_rows()];
        let items = distinct.row_of().iter().zip(&self.parts[part].weights);
        items.filter(|(_, weight)| **weight > 0.0).for_each(|(&row, _)| is_learnt[row as usize] = true);
        (0..is_learnt.len()).filter(|&row| is_learnt[row]).collect()
    }

    /// A kernel with its parameters for a part: γ `scale` depends on what is learnt from.
    fn resolve(&self, kernel: Kernel, scaled: &Features, part: usize) -> Result<KernelFunction> {
        if !kernel.depends_on_data() {
            return kernel.resolve(&scaled.select_rows(&[]));
        }
        let weights = &self.parts[part].weights;
        let learnt: Vec<usize> = (0..weights.len()).filter(|&item| weights[item] > 0.0).collect();
        let of_learnt: Vec<f64> = learnt.iter().map(|&item| weights[item]).collect();
        kernel.resolve_weighted(&scaled.select_rows(&learnt), Some(&of_learnt))
    }

    /// The ground of a stage, with so much memory for kernel rows.
    pub(crate) fn ground<'s>(&'s self, stage: &'s Stage, cache_mb: usize) -> Result<TrialGround<'s>> {
        let ground = match (&stage.distinct, &stage.landmarks) {
            (Some(distinct), Some((n, among))) => {
                Ground::of_landmarks(stage.function, distinct, Some(among), *n, &|| true)?
            }
            (Some(distinct), None) => Ground::of_kernel(stage.function, distinct, cache_mb)?,
            (None, _) => {
                let near = self.near.as_ref().unwrap_or(&self.items.features);
                Ground::of_features(near, Some(&self.items.weights), stage.scaler.as_ref())?
            }
        };
        Ok(TrialGround { ground, parts: &stage.parts })
    }

    /// Fits to a part that stands on a ground, with growing C.
    pub(crate) fn path<'s>(
        &'s self,
        ground: &'s TrialGround<'s>,
        loss: Loss,
        epsilon: Option<f64>,
        part: usize,
    ) -> Result<LabelPath<'s>> {
        let kernel = Kernel::Linear; // the ground has the kernel
        let TrialPart { weights, held, .. } = &self.parts[part];
        let work = match (self.estimator.clone().shaped(1.0, kernel, loss, epsilon), &self.items.labels) {
            (LabelEstimator::Regress(svm), TrialLabels::Values(labels)) => Work::Values { svm, labels, weights },
            (LabelEstimator::Ordinal(svm), TrialLabels::Values(labels)) => {
                let of_part = svm.grades(labels, weights)?;
                let graded = svm.graded(&of_part, weights);
                Work::Grades { svm, graded, grades: of_part.grades, last: None }
            }
            (LabelEstimator::Classify(svm), _) => Work::Classes { svm, lesson: self.lesson(part)? },
            _ => return Err(Error::parameter("data", "classes", "values for a regression")),
        };
        Ok(LabelPath { work, held, ground: &ground.ground, last: Vec::new() })
    }
}

/// What machines stand on, and the parts for which they do.
pub(crate) struct TrialGround<'a> {
    ground: Ground<'a>,
    pub(crate) parts: &'a [usize],
}

/// Fits of one loss and tube to a part, with growing C.
pub(crate) struct LabelPath<'a> {
    work: Work<'a>,
    held: &'a [u32],
    ground: &'a Ground<'a>,
    /// The machines of the last C.
    last: Vec<Machine>,
}

/// What is learnt by what.
enum Work<'a> {
    Classes { svm: SvmClassifier, lesson: Lesson<'a> },
    Values { svm: SvmRegressor, labels: &'a [f64], weights: &'a [f64] },
    Grades { svm: OrdinalSvm, graded: Graded, grades: Vec<f64>, last: Option<GradeMachine> },
}

impl LabelPath<'_> {
    /// The fit with the next C, and what it says of the held-out items.
    pub(crate) fn next(&mut self, c: f64, watch: &dyn Watch) -> Result<(HeldLabels, Stop)> {
        let started = Instant::now();
        let (machines, rule) = match &mut self.work {
            Work::Grades { svm, graded, grades, last } => {
                let aim = Aim { c, ..svm.aim(started, watch) };
                let found = GradeMachine::solve(self.ground, graded, aim, last.as_ref())?;
                let scores = checked(self.ground.scores(&found.machine, self.held)?)?;
                let (grades, thresholds) = (grades.clone(), found.thresholds.clone());
                let verdicts = GradeRule { grades, thresholds, cuts: None }.verdicts(scores);
                let stop = found.machine.stop;
                *last = Some(found);
                return Ok((HeldLabels::Classes(verdicts), stop));
            }
            Work::Classes { svm, lesson } => {
                let aim = Aim { c, ..svm.aim(started, watch) };
                let (machines, rule) = svm.machines(lesson, self.ground, aim, &self.last, &mut Vec::new())?;
                (machines, Some((rule, lesson.classes.len())))
            }
            Work::Values { svm, labels, weights } => {
                let aim = Aim { c, ..svm.aim(started, watch) };
                let start = self.last.first().map(|machine| &machine.start);
                (vec![svm.machine(labels, weights, self.ground, aim, start)?], None)
            }
        };
        let stops = || machines.iter().map(|machine| machine.stop);
        let stop = stops().find(|stop| *stop == Stop::Interrupted);
        let stop = stop.or_else(|| stops().find(|stop| *stop != Stop::Converged)).unwrap_or(Stop::Converged);
        let scores: Vec<Vec<f64>> =
            machines.iter().map(|machine| checked(self.ground.scores(machine, self.held)?)).collect::<Result<_>>()?;
        self.last = machines;
        let held = match rule {
            None => HeldLabels::Values(scores.into_iter().next().unwrap_or_default()),
            Some((rule, n_classes)) => {
                let by_item: Vec<f64> =
                    (0..self.held.len()).flat_map(|item| scores.iter().map(move |of| of[item])).collect();
                HeldLabels::Classes(rule.verdicts(&by_item, n_classes))
            }
        };
        Ok((held, stop))
    }
}

/// Refuses scores that are no numbers.
fn checked(scores: Vec<f64>) -> Result<Vec<f64>> {
    if scores.iter().all(|score| score.is_finite()) {
        return Ok(scores);
    }
    Err(Error::Numeric {
        problem: "the scores of items that were held out leave the range of numbers".into(),
        remedy: "scale the features (--scale standard)".into(),
    })
}

/// γ `scale` on items with a weight above 0, after scaling: what a fit to all of them uses.
pub(crate) fn label_scale_gamma(scale: Scale, features: &Features, weights: &[f64]) -> Result<f64> {
    let present: Vec<usize> = (0..weights.len()).filter(|&item| weights[item] > 0.0).collect();
    let (items, weights) = (features.select_rows(&present), present.iter().map(|&i| weights[i]).collect::<Vec<_>>());
    let scaler = Scaler::learn_weighted(scale, &items, 0..items.n_rows(), Some(&weights));
    let scaled = scaler.map(|scaler| scaler.apply(&items)).transpose()?;
    let kernel = Kernel::Rbf { gamma: Gamma::Scale };
    match kernel.resolve_weighted(scaled.as_ref().unwrap_or(&items), Some(&weights))? {
        KernelFunction::Rbf { gamma } => Ok(gamma),
        _ => Ok(1.0),
    }
}
