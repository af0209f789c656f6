//! Which items are held out while classes or values are learnt from the others, and whether they can be measured on: all of it
//! is known before the first fit.

use std::borrow::Cow;
use std::collections::HashSet;

use super::label_tuner::LabelMetric;
use super::split::{OTHER_FOLDS, columns_as_in};
use crate::data::{ClassItems, Groups, Items, Ranking, class_folds, value_folds};
use crate::error::{Error, Place, Result};
use crate::estimator::{
    HeldLabels, LabelData, LabelEstimator, OrdinalSvm, TrialItems, TrialLabels, TrialPart, is_same_class,
};
use crate::metrics::{ClassMetric, Classified, PredictedValues, Ranked};
use crate::model::{GradeRule, TuningBaseline, TuningSplit};

/// Which items a point is measured on.
#[derive(Debug, Clone, Copy)]
pub enum LabelSplit<'a> {
    /// These, with labels of the same kind; machines learn from all of the data.
    Valid(LabelData<'a>),
    /// Each of so many folds in turn, by a machine that has learnt from the others. Classes are spread evenly, groups are
    /// never split, and neither are copies of an item.
    Folds(usize),
}

/// All parts of items.
pub(super) struct LabelParts<'a> {
    pub(super) items: TrialItems<'a>,
    pub(super) trials: Vec<TrialPart>,
    /// What is known of the items that each part holds out.
    held: Vec<Held>,
    pub(super) split: TuningSplit,
    /// What a constant answer gets, on the average of the parts.
    pub(super) baseline: TuningBaseline,
    /// What the user should know of them.
    pub(super) warnings: Vec<String>,
}

/// Items that are held out, with their weights.
struct Held {
    labels: Labels,
    weights: Vec<f64>,
    /// What their order is measured by, where they have grades.
    order: Option<Order>,
}

/// Items in groups.
struct Order {
    labels: Vec<f64>,
    groups: Groups,
    /// Apart from those of groups.
    weights: Vec<f64>,
    group_weights: Vec<f64>,
}

enum Labels {
    /// Names of the classes, those that can be predicted first, how many these are, and the class of each item.
    Classes {
        names: Vec<String>,
        n_known: usize,
        labels: Vec<u32>,
    },
    Values(Vec<f64>),
}

impl<'a> LabelSplit<'a> {
    /// The parts of the data, each fit to learn from and to be measured by `metric`.
    pub(super) fn parts(
        self,
        data: LabelData<'a>,
        estimator: &LabelEstimator,
        metric: LabelMetric,
        seed: u64,
    ) -> Result<LabelParts<'a>> {
        let (items, n_learnt) = self.joined(data)?;
        let present: Vec<usize> = (0..items.weights.len()).filter(|&item| items.weights[item] > 0.0).collect();
        if present.iter().all(|&item| item >= n_learnt) {
            return fault("no item has a weight above 0".into(), "give at least one item to learn from");
        }
        let (folds, n_parts, split) = match self {
            LabelSplit::Folds(n_folds) => {
                (folded(data, &present, n_folds, seed)?, n_folds, TuningSplit::Folds { folds: n_folds })
            }
            LabelSplit::Valid(valid) => {
                let folds: Vec<u32> = (0..items.weights.len()).map(|item| u32::from(item < n_learnt)).collect();
                let held = || present.iter().filter(|&&item| item >= n_learnt);
                let groups = match groups_of(valid) {
                    Some(numbers) => held().map(|&item| numbers[item - n_learnt]).collect::<HashSet<_>>().len(),
                    None => 0,
                };
                (folds, 1, TuningSplit::ValidationItems { items: held().count(), groups })
            }
        };
        let trials: Vec<TrialPart> = (0..n_parts as u32).map(|part| trial(&items, &folds, part)).collect();
        let mut held: Vec<Held> = trials.iter().map(|trial| Held::new(&items, trial)).collect();
        if let LabelEstimator::Ordinal(svm) = estimator {
            for (at, (trial, held)) in trials.iter().zip(&mut held).enumerate() {
                self.grade(svm, data, n_learnt, &items, trial, held).map_err(|error| match error {
                    Error::Data { place, problem, .. } => {
                        let names = Names::new(self, at);
                        let remedy = "use fewer folds (--folds), or more items of other grades".into();
                        Error::Data { place, problem: format!("{}: {problem}", names.learnt), remedy }
                    }
                    error => error,
                })?;
            }
        }
        let (mut warnings, mut sum) = (Vec::new(), 0.0);
        for (at, (trial, held)) in trials.iter().zip(&held).enumerate() {
            let names = Names::new(self, at);
            check_learnt(&items, trial, &names)?;
            sum += held.constant(metric, &names)?;
            warnings.extend(held.unknown().map(|classes| {
                format!("{} lacks the class {classes}: its items count as wrong in {}", names.learnt, names.held)
            }));
        }
        let baseline = TuningBaseline { outcome: None, value: sum / n_parts as f64 };
        Ok(LabelParts { items, trials, held, split, baseline, warnings })
    }

    /// Puts the items that a part holds out into the grades that it teaches, and into their groups.
    fn grade(
        self,
        svm: &OrdinalSvm,
        data: LabelData<'a>,
        n_learnt: usize,
        items: &TrialItems<'_>,
        trial: &TrialPart,
        held: &mut Held,
    ) -> Result<()> {
        let (TrialLabels::Values(labels), LabelData::Values(data)) = (&items.labels, data) else { return Ok(()) };
        let learnt = svm.grades(labels, &trial.weights)?;
        let rule = GradeRule { grades: learnt.grades, thresholds: Vec::new(), cuts: learnt.cuts };
        let of_held: Vec<f64> = trial.held.iter().map(|&item| labels[item as usize]).collect();
        let (names, places) = rule.places_of_labels(&of_held);
        let (from, first) = match self {
            LabelSplit::Valid(LabelData::Values(valid)) => (valid, n_learnt),
            _ => (data, 0),
        };
        let numbers: Vec<usize> = trial.held.iter().map(|&item| item as usize - first).collect();
        let groups = from.groups.select(&numbers);
        let mut group_weights = vec![1.0; groups.len()];
        for (group, &item) in groups.numbers().iter().zip(&numbers) {
            group_weights[*group as usize] = from.group_weight(from.groups.numbers()[item] as usize);
        }
        held.order = Some(Order {
            labels: of_held,
            weights: numbers.iter().map(|&item| from.weight(item)).collect(),
            groups,
            group_weights,
        });
        held.labels = Labels::Classes { names, n_known: rule.grades.len(), labels: places };
        Ok(())
    }

    /// The data, then the validation items, if any; and how many items are of the data.
    fn joined(self, data: LabelData<'a>) -> Result<(TrialItems<'a>, usize)> {
        let valid = match (data, self) {
            (_, LabelSplit::Folds(_)) => None,
            (LabelData::Classes(_), LabelSplit::Valid(valid @ LabelData::Classes(_)))
            | (LabelData::Values(_), LabelSplit::Valid(valid @ LabelData::Values(_))) => Some(valid),
            _ => return Err(Error::parameter("valid", "labels of another kind", "those that the data have")),
        };
        let own = items_of(data);
        let features = match valid {
            None => Cow::Borrowed(&own.features),
            Some(valid) => {
                let others = columns_as_in(own, items_of(valid), "items")?;
                Cow::Owned(own.features.stacked(&others))
            }
        };
        let mut weights = weights_of(data);
        weights.extend(valid.map(weights_of).unwrap_or_default());
        let labels = match (data, valid) {
            (LabelData::Values(data), valid) => {
                let mut labels = data.labels.clone();
                if let Some(LabelData::Values(valid)) = valid {
                    labels.extend(&valid.labels);
                }
                TrialLabels::Values(labels)
            }
            (LabelData::Classes(data), valid) => {
                let (mut names, mut labels, mut margins) =
                    (data.classes.clone(), data.labels.clone(), data.margins.clone());
                if let Some(LabelData::Classes(valid)) = valid {
                    let mut place = |class: &String| {
                        names.iter().position(|name| is_same_class(name, class)).unwrap_or_else(|| {
                            names.push(class.clone());
                            names.len() - 1
                        }) as u32
                    };
                    let places: Vec<u32> = valid.classes.iter().map(&mut place).collect();
                    labels.extend(valid.labels.iter().map(|&label| places[label as usize]));
                    // Nobody asks for the margins of what is judged.
                    margins.iter_mut().for_each(|margins| margins.resize(labels.len(), 1.0));
                }
                TrialLabels::Classes { names, labels, margins }
            }
        };
        Ok((TrialItems { features, labels, weights }, own.n_items()))
    }
}

impl LabelParts<'_> {
    /// The metric of what a fit says of the held-out items of a part.
    pub(super) fn measure(&self, part: usize, metric: LabelMetric, said: &HeldLabels) -> Result<Option<f64>> {
        let Held { labels, weights, order } = &self.held[part];
        match (labels, said, metric) {
            (_, HeldLabels::Classes(verdicts), LabelMetric::Order(metric)) => match order {
                Some(order) => Ok(metric.of_items()?.of(&order.ranked(&verdicts.scores)?)?.value),
                None => Ok(None),
            },
            (Labels::Classes { names, n_known, labels }, HeldLabels::Classes(verdicts), LabelMetric::Class(metric)) => {
                let mut classified =
                    Classified::new(names, *n_known, labels, &verdicts.classes)?.with_weights(weights)?;
                if let Some(chances) = &verdicts.chances {
                    classified = classified.with_chances(chances)?;
                }
                Ok(metric.of(&classified))
            }
            (Labels::Values(labels), HeldLabels::Values(values), LabelMetric::Value(metric)) => {
                Ok(metric.of(&PredictedValues::new(labels, values)?.with_weights(weights)?))
            }
            _ => Ok(None),
        }
    }
}

/// What to call a part in words.
struct Names {
    held: String,
    learnt: String,
    remedy: &'static str,
}

impl Names {
    fn new(split: LabelSplit<'_>, at: usize) -> Self {
        match split {
            LabelSplit::Valid(_) => Names {
                held: "the validation file".into(),
                learnt: "the training file".into(),
                remedy: "give other validation items",
            },
            LabelSplit::Folds(n) => Names {
                held: format!("fold {} of {n}", at + 1),
                learnt: format!("the training part of fold {} of {n}", at + 1),
                remedy: "use fewer folds (--folds), or more items",
            },
        }
    }
}

impl Order {
    fn ranked<'a>(&'a self, scores: &'a [f64]) -> Result<Ranked<'a>> {
        Ranked::new(&self.labels, scores, &self.groups)?
            .with_weights(&self.weights)?
            .with_group_weights(&self.group_weights)
    }
}

impl Held {
    fn new(items: &TrialItems<'_>, trial: &TrialPart) -> Self {
        let held = || trial.held.iter().map(|&item| item as usize);
        let labels = match &items.labels {
            TrialLabels::Values(labels) => Labels::Values(held().map(|item| labels[item]).collect()),
            TrialLabels::Classes { names, labels, .. } => {
                // Others are listed where items have them: nothing is known of the rest.
                let mut order: Vec<u32> = trial.classes.clone();
                let others: HashSet<u32> = held().map(|item| labels[item]).collect();
                let mut others: Vec<u32> = others.into_iter().filter(|class| !order.contains(class)).collect();
                others.sort_unstable();
                order.extend(others);
                let place = |class: u32| order.iter().position(|&of| of == class).unwrap_or(0) as u32;
                Labels::Classes {
                    names: order.iter().map(|&class| names[class as usize].clone()).collect(),
                    n_known: trial.classes.len(),
                    labels: held().map(|item| place(labels[item])).collect(),
                }
            }
        };
        Held { labels, weights: held().map(|item| items.weights[item]).collect(), order: None }
    }

    /// Classes that items have and no machine knows, in words.
    fn unknown(&self) -> Option<String> {
        match &self.labels {
            Labels::Classes { names, n_known, .. } if *n_known < names.len() => Some(names[*n_known..].join(", ")),
            _ => None,
        }
    }

    /// What a constant answer gets; an error where nothing can be measured.
    fn constant(&self, metric: LabelMetric, part: &Names) -> Result<f64> {
        let Held { labels, weights, order } = self;
        let value = match (labels, metric) {
            (_, LabelMetric::Order(metric)) => match order {
                // Scores do not matter for what a random order gets.
                Some(order) => metric.of_items()?.of_random_order(&order.ranked(&order.labels)?)?.value,
                None => None,
            },
            (Labels::Classes { names, n_known, labels }, LabelMetric::Class(metric)) => {
                let first = vec![0; labels.len()];
                let classified = Classified::new(names, *n_known, labels, &first)?.with_weights(weights)?;
                let is_unknown = metric == ClassMetric::LogLoss && *n_known < names.len();
                metric.of_constant(&classified).filter(|_| !is_unknown)
            }
            (Labels::Values(labels), LabelMetric::Value(metric)) => {
                metric.of_mean(&PredictedValues::new(labels, labels)?.with_weights(weights)?)
            }
            _ => return Err(Error::parameter("metric", metric.name(), "one of the labels that the data have")),
        };
        if let Some(value) = value {
            return Ok(value);
        }
        let (why, other) = match (self.unknown(), metric) {
            _ if weights.is_empty() => ("it has no item with a weight above 0".into(), ""),
            (Some(classes), LabelMetric::Class(ClassMetric::LogLoss)) => {
                (format!("{} lacks the class {classes}, which has no probability", part.learnt), ", or --metric brier")
            }
            (_, LabelMetric::Class(_)) => ("the classes are words".into(), ", or --metric zero_one"),
            (_, LabelMetric::Order(_)) => ("no group has two different labels".into(), ", or --metric zero_one"),
            (_, LabelMetric::Value(_)) => ("all labels are the same".into(), ", or --metric rmse"),
        };
        fault(format!("{} is not defined on {}: {why}", metric.name(), part.held), format!("{}{other}", part.remedy))
    }
}

fn fault<T>(problem: String, remedy: impl Into<String>) -> Result<T> {
    Err(Error::data(Place::file("items"), problem, remedy))
}

fn items_of(data: LabelData<'_>) -> &Items {
    match data {
        LabelData::Classes(data) => &data.items,
        LabelData::Values(data) => &data.items,
    }
}

/// The weight of every item, that of its group included.
pub(super) fn weights_of(data: LabelData<'_>) -> Vec<f64> {
    match data {
        LabelData::Classes(data) => (0..data.n_items()).map(|item| data.weight(item)).collect(),
        LabelData::Values(data) => {
            let group = |item: usize| data.groups.numbers()[item] as usize;
            (0..data.n_items()).map(|item| data.weight(item) * data.group_weight(group(item))).collect()
        }
    }
}

/// The groups of items, where somebody said which belong together.
fn groups_of(data: LabelData<'_>) -> Option<&[u32]> {
    let groups = match data {
        LabelData::Classes(data) => data.groups.as_ref(),
        LabelData::Values(data) => Some(&data.groups),
    };
    groups.filter(|groups| groups.are_given()).map(|groups| groups.numbers())
}

/// The fold of every item.
fn folded(data: LabelData<'_>, present: &[usize], n_folds: usize, seed: u64) -> Result<Vec<u32>> {
    if n_folds < 2 {
        return Err(Error::parameter("folds", n_folds, "at least 2"));
    }
    if items_of(data).are_indicators {
        return fault(
            "the items have no features, so that nothing is known of those that are held out".into(),
            "give them features, or a validation file (--valid) of the same items",
        );
    }
    // Items of weight 0 must not change the folds of the others.
    let seed = seed ^ OTHER_FOLDS;
    let of_present = match data {
        LabelData::Classes(data) => class_folds(&of_classes(data, present), n_folds, seed),
        LabelData::Values(data) => value_folds(&of_values(data, present), n_folds, seed),
    };
    let used = of_present.iter().collect::<HashSet<_>>().len();
    if used < n_folds {
        let what = match (groups_of(data).is_some(), used) {
            (true, 1) => "there is only one group".into(),
            (true, _) => format!("there are only {used} groups"),
            (false, 1) => "all items are the same".into(),
            (false, _) => format!("there are only {used} different items"),
        };
        let remedy = match used {
            1 => "give more items, a validation file (--valid), or train without a search (train)".into(),
            _ => format!("use at most {used} folds (--folds), or more items"),
        };
        return fault(format!("{what} for {n_folds} folds, which never split one"), remedy);
    }
    let mut folds = vec![0; items_of(data).n_items()];
    present.iter().zip(of_present).for_each(|(&item, fold)| folds[item] = fold);
    Ok(folds)
}

fn of_classes<'a>(data: &'a ClassItems, present: &[usize]) -> Cow<'a, ClassItems> {
    if present.len() == data.n_items() { Cow::Borrowed(data) } else { Cow::Owned(data.select(present)) }
}

fn of_values<'a>(data: &'a Ranking, present: &[usize]) -> Cow<'a, Ranking> {
    if present.len() == data.n_items() { Cow::Borrowed(data) } else { Cow::Owned(data.select(present)) }
}

/// The part that holds out the items with this number.
fn trial(items: &TrialItems<'_>, folds: &[u32], part: u32) -> TrialPart {
    let is_held = |item: usize| folds[item] == part;
    let weight = |(item, &weight): (usize, &f64)| if is_held(item) { 0.0 } else { weight };
    let weights: Vec<f64> = items.weights.iter().enumerate().map(weight).collect();
    let held = (0..folds.len()).filter(|&item| is_held(item) && items.weights[item] > 0.0).map(|item| item as u32);
    let classes = match &items.labels {
        TrialLabels::Values(_) => Vec::new(),
        TrialLabels::Classes { names, labels, .. } => {
            let mut is_there = vec![false; names.len()];
            let learnt = labels.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
            learnt.for_each(|(&label, _)| is_there[label as usize] = true);
            (0..names.len() as u32).filter(|&class| is_there[class as usize]).collect()
        }
    };
    TrialPart { held: held.collect(), weights, classes }
}

/// Whether there is something to tell apart.
fn check_learnt(items: &TrialItems<'_>, trial: &TrialPart, part: &Names) -> Result<()> {
    match (&items.labels, &trial.classes[..]) {
        (TrialLabels::Classes { names, .. }, &[only]) => fault(
            format!(
                "{} has items of the class {} alone, so there is nothing to tell apart",
                part.learnt, names[only as usize]
            ),
            "use fewer folds (--folds), or more items of other classes",
        ),
        _ if trial.weights.iter().all(|weight| *weight == 0.0) => {
            fault(format!("{} has no item with a weight above 0", part.learnt), part.remedy)
        }
        _ => Ok(()),
    }
}
