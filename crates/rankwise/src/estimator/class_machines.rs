//! The machines that tell classes apart: from items with classes to terms, solved machines and the rule that joins them.

use std::borrow::Cow;

use rayon::prelude::*;

use super::SvmClassifier;
use super::class_chances::{Unseen, calibrate};
use super::item_machine::{Aim, Ground, Machine};
use crate::data::{ClassItems, Features, spread_classes};
use crate::error::{Error, Place, Result};
use crate::model::{ClassRule, ClassScheme, ClassWeights, Sigmoid};
use crate::problem::ItemTerm;

/// Folds that scores of unseen items come from.
const FOLDS: usize = 5;
/// The most items of machines with a kernel that are solved side by side.
const SIDE_BY_SIDE: usize = 2048;

/// The most classes where every two have a machine, and the most of all.
const MOST_CLASSES_OF_PAIRS: usize = 1000;
const MOST_CLASSES: usize = 1 << 14;

/// Items with their classes, as machines learn from them.
pub(super) struct Lesson<'a> {
    pub(super) features: &'a Features,
    /// Every class has an item that is learnt from.
    pub(super) classes: Cow<'a, [String]>,
    /// Other classes that the data have.
    pub(super) absent: Vec<String>,
    /// Numbers of classes; of items that are learnt from.
    pub(super) labels: Cow<'a, [u32]>,
    /// Items of weight 0 are not learnt from.
    pub(super) weights: Cow<'a, [f64]>,
    pub(super) margins: Option<&'a [f64]>,
}

impl<'a> Lesson<'a> {
    /// All items; each class has one of a weight above 0.
    pub(super) fn of_all(data: &'a ClassItems) -> Self {
        Lesson {
            features: &data.items.features,
            classes: Cow::Borrowed(&data.classes),
            absent: Vec::new(),
            labels: Cow::Borrowed(&data.labels),
            weights: match &data.weights {
                Some(weights) => Cow::Borrowed(weights),
                None => Cow::Owned(vec![1.0; data.n_items()]),
            },
            margins: data.margins.as_deref(),
        }
    }

    pub(super) fn learnt(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.weights.len()).filter(|&item| self.weights[item] > 0.0)
    }

    /// Folds of the items that are learnt from; others have number 0.
    fn folds(&self, seed: u64) -> Vec<u32> {
        let learnt: Vec<usize> = self.learnt().collect();
        let labels: Vec<u32> = learnt.iter().map(|&item| self.labels[item]).collect();
        let features = match learnt.len() == self.weights.len() {
            true => Cow::Borrowed(self.features),
            false => Cow::Owned(self.features.select_rows(&learnt)),
        };
        let mut folds = vec![0; self.weights.len()];
        let found = spread_classes(&features, &labels, FOLDS, seed);
        learnt.iter().zip(found).for_each(|(&item, fold)| folds[item] = fold);
        folds
    }

    /// What a machine wishes of items: those of the second class above their margin, those of the first (or all others) below.
    fn terms(&self, factors: &[f64], first: Option<usize>, second: usize) -> Vec<ItemTerm> {
        let term = |item: usize| {
            let class = self.labels[item] as usize;
            let margin = self.margins.map_or(1.0, |margins| margins[item]);
            let (low, high) = match class == second {
                true => (margin, f64::INFINITY),
                false if first.is_none_or(|first| first == class) => (f64::NEG_INFINITY, -margin),
                false => return None,
            };
            let cost = self.weights[item] * factors[class];
            (cost > 0.0).then_some(ItemTerm { row: item as u32, low, high, cost })
        };
        self.learnt().filter_map(term).collect()
    }

    fn scored(&self, terms: &[ItemTerm], ground: &Ground<'_>, machine: &Machine) -> Result<Vec<Unseen>> {
        let items: Vec<u32> = terms.iter().map(|term| term.row).collect();
        let scores = ground.scores(machine, &items)?;
        let of = |(term, score): (&ItemTerm, f64)| Unseen {
            score,
            is_second: term.low.is_finite(),
            weight: self.weights[term.row as usize],
        };
        Ok(terms.iter().zip(scores).map(of).collect())
    }
}

/// A machine, and what makes probabilities of its scores: from unseen items, or flattered by those learnt from.
type Solved = (Machine, Option<(Sigmoid, bool)>);

impl SvmClassifier {
    /// Numbers that were taken for classes have one for nearly every item.
    fn check_number(&self, n_classes: usize) -> Result<()> {
        let is_of_pairs = self.classes == ClassScheme::Ovo;
        let most = if is_of_pairs { MOST_CLASSES_OF_PAIRS } else { MOST_CLASSES };
        if n_classes <= most {
            return Ok(());
        }
        let (what, other) = match is_of_pairs {
            true => {
                (" where every two have a machine (--classes ovo)", ", or give every class one machine (--classes ovr)")
            }
            false => ("", ""),
        };
        Err(Error::data(
            Place::file("items"),
            format!("labels are {n_classes} different ones, expected at most {most} classes{what}"),
            format!("learn numbers as values (regress) or in their order (rank){other}"),
        ))
    }

    /// What the items of each class are multiplied with.
    pub(super) fn factors(&self, lesson: &Lesson<'_>) -> Result<Vec<f64>> {
        let mut masses = vec![0.0; lesson.classes.len()];
        lesson.learnt().for_each(|item| masses[lesson.labels[item] as usize] += lesson.weights[item]);
        let total: f64 = masses.iter().sum();
        if !total.is_finite() {
            return Err(Error::Numeric {
                problem: "the weights of all items sum to more than a number can be".into(),
                remedy: "divide all weights by a number that brings them near 1".into(),
            });
        }
        match &self.class_weight {
            ClassWeights::Equal => Ok(vec![1.0; masses.len()]),
            ClassWeights::Balanced => Ok(masses.iter().map(|mass| total / (masses.len() as f64 * mass)).collect()),
            ClassWeights::Named(named) => {
                let mut factors = vec![1.0; masses.len()];
                for (name, weight) in named {
                    let is_it = |class: &String| is_same_class(class, name);
                    match lesson.classes.iter().position(is_it) {
                        Some(class) => factors[class] = *weight,
                        None if lesson.absent.iter().any(is_it) => {}
                        None => {
                            let known = format!("one of the classes {}", lesson.classes.join(", "));
                            return Err(Error::parameter("class_weights", name, known));
                        }
                    }
                }
                Ok(factors)
            }
        }
    }

    /// All machines, and how they are put together. `last` has the same machines for a smaller C, if any.
    pub(super) fn machines(
        &self,
        lesson: &Lesson<'_>,
        ground: &Ground<'_>,
        aim: Aim<'_>,
        last: &[Machine],
        warnings: &mut Vec<String>,
    ) -> Result<(Vec<Machine>, ClassRule)> {
        self.check_number(lesson.classes.len())?;
        let factors = self.factors(lesson)?;
        if self.classes.is_joint() {
            let rule = ClassRule { scheme: self.classes, sigmoids: None };
            return Ok((self.joint_machines(lesson, &factors, ground, aim, last)?, rule));
        }
        let folds = self.probabilities.then(|| lesson.folds(self.effort.seed));
        let (mut machines, mut sigmoids) = (Vec::new(), Vec::new());
        let mut n_flattered = 0;
        let wanted: Vec<_> = self.classes.machines(lesson.classes.len()).into_iter().enumerate().collect();
        let solved = |&(at, (first, second)): &(usize, (Option<usize>, usize))| -> Result<Solved> {
            let terms = lesson.terms(&factors, first, second);
            let machine = ground.solve(&terms, aim, last.get(at).map(|machine| &machine.start))?;
            let Some(folds) = &folds else { return Ok((machine, None)) };
            let mut unseen = unseen(lesson, &terms, folds, ground, aim)?;
            let is_flattered = unseen.is_empty();
            if is_flattered {
                unseen = lesson.scored(&terms, ground, &machine)?;
            }
            Ok((machine, Some((calibrate(&unseen), is_flattered))))
        };
        // Machines in weights are small and many; large ones with a kernel have rows in memory, and use all threads one by one.
        let is_small = |&(_, (first, second)): &(usize, (Option<usize>, usize))| {
            let is_told = |&item: &usize| {
                let class = lesson.labels[item] as usize;
                first.is_none_or(|first| first == class) || class == second
            };
            lesson.learnt().filter(is_told).count() <= SIDE_BY_SIDE
        };
        let are_small = match ground {
            Ground::Weights { .. } => true,
            Ground::Rows { .. } => wanted.iter().all(is_small),
            Ground::Landmarks(_) => false,
        };
        let found: Box<dyn Iterator<Item = Result<_>>> = match are_small {
            true => Box::new(wanted.par_iter().map(solved).collect::<Vec<_>>().into_iter()),
            false => Box::new(wanted.iter().map(solved)),
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
        Ok((machines, ClassRule { scheme: self.classes, sigmoids }))
    }
}

/// Scores of items by machines that were fitted to the other folds; none where some of those have one class alone.
fn unseen(
    lesson: &Lesson<'_>,
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
        let machine = ground.solve(&learnt, aim, None)?;
        unseen.extend(lesson.scored(&held_out, ground, &machine)?);
    }
    Ok(unseen)
}

/// Whether two names are those of one class.
pub(crate) fn is_same_class(class: &str, name: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    class == name || number(class).is_some_and(|value| number(name) == Some(value))
}
