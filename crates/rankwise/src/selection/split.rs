//! Which pairs are held out, and whether they can be measured on: all of it is known before the first fit.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::data::{Comparisons, Features, Items, Outcome, Scale, cross_fit_folds};
use crate::error::{Error, Place, Result};
use crate::estimator::Trials;
use crate::metrics::{Judged, PairMetric};
use crate::model::{ScoreFunction, Scorer, TuningSplit};

/// Kernel machines re-fit their threshold on folds of the seed itself; these must be others.
pub(super) const OTHER_FOLDS: u64 = 0x5475_6e65_466f_6c64;

/// Which pairs a point is measured on.
#[derive(Debug, Clone, Copy)]
pub enum Split<'a> {
    /// These; machines learn from all of the data.
    Valid(&'a Comparisons),
    /// Each of so many folds in turn, by a machine that has learnt from the others. Groups are never split.
    Folds(usize),
}

/// Pairs to learn from, and pairs to measure on.
pub(super) struct Part {
    pub(super) train: Comparisons,
    pub(super) held: Comparisons,
}

/// All parts.
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    /// The pairs with their folds, where these are the parts.
    folded: Option<(Comparisons, Vec<u32>)>,
    /// What the user should know of them.
    pub(super) warnings: Vec<String>,
}

impl Parts {
    /// How many parts there are.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// What fits on these parts can share, and whose part of it each part is: all folds the same pairs, unless scaling
    /// makes them different.
    pub(super) fn trials(&self, scale: Scale) -> Result<Vec<Trials>> {
        match &self.folded {
            Some((data, folds)) if scale == Scale::None => Ok(vec![Trials::of_folds(data, folds, self.len())?]),
            _ => self.parts.iter().map(|part| Trials::of_held_out(scale, &part.train, &part.held)).collect(),
        }
    }
}

impl Split<'_> {
    /// The parts of the data, each fit to learn from and to be measured by `metric`.
    pub(super) fn parts(self, data: &Comparisons, metric: PairMetric, seed: u64) -> Result<Parts> {
        if metric == PairMetric::AucBaseline {
            return Err(Error::parameter(
                "metric",
                metric.name(),
                "one that depends on the model: zero_one, auc, pair_accuracy, log_loss or brier",
            ));
        }
        let present = |data: &Comparisons| data.select(&data.present_in_order());
        let train = present(data);
        if train.n_pairs() == 0 {
            return Err(Error::data(
                Place::file("pairs"),
                "no pair has a weight above 0",
                "give at least one pair to learn from",
            ));
        }
        if train.n_ties() == train.n_pairs() {
            return Err(Error::data(
                Place::file("pairs"),
                "all pairs are ties, so there is nothing to learn",
                "give pairs that are not ties, too",
            ));
        }
        let parts = match self {
            Split::Valid(valid) => {
                columns_as_in(&train.set.items, &valid.set.items, "pairs")?;
                Parts { parts: vec![Part { train, held: present(valid) }], folded: None, warnings: Vec::new() }
            }
            Split::Folds(n_folds) => folded(train, n_folds, seed)?,
        };
        for (at, part) in parts.parts.iter().enumerate() {
            part.check(metric, self, at)?;
        }
        Ok(parts)
    }

    /// What is to be remembered of it.
    pub(super) fn record(self, parts: &Parts) -> TuningSplit {
        match self {
            Split::Valid(_) => {
                TuningSplit::Validation { pairs: parts.parts.iter().map(|part| part.held.n_pairs()).sum() }
            }
            Split::Folds(folds) => TuningSplit::Folds { folds },
        }
    }
}

fn folded(data: Comparisons, n_folds: usize, seed: u64) -> Result<Parts> {
    if n_folds < 2 {
        return Err(Error::parameter("folds", n_folds, "at least 2"));
    }
    let (n_units, unit) = match &data.groups {
        Some(groups) => (groups.iter().collect::<HashSet<_>>().len(), "groups"),
        None => {
            let pairs = data.set.pairs.iter().zip(&data.outcomes);
            let distinct: HashSet<_> =
                pairs.map(|(p, o)| (p.left.min(p.right), p.left.max(p.right), *o == Outcome::Tie)).collect();
            (distinct.len(), "distinct pairs")
        }
    };
    let too_few = |n: usize| Error::Data {
        place: Place::file("pairs"),
        problem: if n == 1 {
            format!("there is only one of {unit} for {n_folds} folds, and a fold never splits one")
        } else {
            format!("there are {n} {unit} for {n_folds} folds, and a fold never splits one")
        },
        remedy: if n < 2 {
            "give a validation file (--valid), more data, or train without a search (train)".into()
        } else {
            format!("use at most {n} folds (--folds), or more data")
        },
    };
    if n_units < n_folds {
        return Err(too_few(n_units));
    }
    let folds = cross_fit_folds(&data, n_folds, seed ^ OTHER_FOLDS);
    // Units that say the same share a fold, so that one may still be empty.
    let used = folds.iter().collect::<HashSet<_>>().len();
    if used < n_folds {
        return Err(too_few(used));
    }
    let part = |fold: usize| {
        let (held, seen): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&k| folds[k] as usize == fold);
        Part { train: data.select(&seen), held: data.select(&held) }
    };
    let parts = (0..n_folds).map(part).collect();
    let warnings = unseen_items(&data, &folds, n_folds).into_iter().collect();
    Ok(Parts { parts, folded: Some((data, folds)), warnings })
}

/// Items without features that stand in one fold alone have a score of 0 there.
fn unseen_items(data: &Comparisons, folds: &[u32], n_folds: usize) -> Option<String> {
    let mut folds_of = vec![HashSet::new(); data.set.items.n_items()];
    for (pair, fold) in data.set.pairs.iter().zip(folds) {
        folds_of[pair.left as usize].insert(fold);
        folds_of[pair.right as usize].insert(fold);
    }
    let is_unseen = |item: u32| folds_of[item as usize].len() == 1;
    let n = data.set.pairs.iter().filter(|pair| is_unseen(pair.left) || is_unseen(pair.right)).count();
    (data.set.items.are_indicators && n > 0).then(|| {
        format!(
            "{n} of {} pairs have an item that no other of the {n_folds} folds has: it is judged unseen, with score 0",
            folds.len()
        )
    })
}

impl Part {
    /// Whether there is something to learn and something to measure.
    fn check(&self, metric: PairMetric, split: Split<'_>, at: usize) -> Result<()> {
        let (held_name, train_name, fewer) = match split {
            Split::Valid(_) => ("the validation file".to_string(), "the training pairs".to_string(), "other pairs"),
            Split::Folds(n) => (
                format!("fold {} of {n}", at + 1),
                format!("the training part of fold {} of {n}", at + 1),
                "fewer folds (--folds)",
            ),
        };
        let fault = |problem, remedy: String| Err(Error::Data { place: Place::file("pairs"), problem, remedy });
        if self.train.n_ties() == self.train.n_pairs() {
            return fault(
                format!("{train_name} has only ties, so there is nothing to learn"),
                format!("use {fewer}, or more pairs that are not ties"),
            );
        }
        let margins = vec![0.0; self.held.n_pairs()];
        let judged = Judged::new(&self.held.outcomes, &margins, self.held.weights.as_deref(), 0.0)?;
        // Defined for a constant answer, defined for a model.
        if metric.of_constant(&judged).is_some() {
            return Ok(());
        }
        let [left, tie, right] = judged.totals();
        let (holds, other) = if left + tie + right == 0.0 {
            ("no pair with a weight above 0", "")
        } else if tie == 0.0 {
            ("no ties", ", --metric zero_one or pair_accuracy")
        } else {
            ("only ties", ", --metric zero_one")
        };
        fault(
            format!("{held_name} holds {holds}, so {} is not defined there", metric.name()),
            format!("use {fewer}{other}, or more pairs"),
        )
    }
}

/// A tie band learnt from the comparison's own columns needs them in the validation pairs, too.
pub(super) fn check_context(train: &Comparisons, valid: &Comparisons) -> Result<()> {
    let names = |data: &'_ Comparisons| data.set.context.as_ref().map(|c| c.names.clone()).unwrap_or_default();
    let found = names(valid);
    match names(train).iter().find(|name| !found.contains(name)) {
        None => Ok(()),
        Some(missing) => Err(Error::data(
            Place::file("validation pairs"),
            format!("they lack the column pair.{missing}, which the tie region may depend on"),
            "give them the columns that the training pairs have",
        )),
    }
}

/// The validation items as a model of the training items reads them; `what` is what the data are.
pub(super) fn columns_as_in<'a>(train: &Items, valid: &'a Items, what: &str) -> Result<Cow<'a, Features>> {
    let n_features = train.features.n_cols();
    let scorer = Scorer {
        n_features,
        feature_names: train.feature_names.clone(),
        are_indicators: train.are_indicators,
        scaler: None,
        function: ScoreFunction::Linear { weights: vec![0.0; n_features], bias: 0.0 },
    };
    scorer.read(valid).map_err(|error| match error {
        Error::Mismatch { problem, remedy } => Error::Data {
            place: Place::file(format!("validation {what}")),
            problem: format!("they do not fit the training {what}: {}", problem.replace("the model", "training")),
            remedy,
        },
        other => other,
    })
}
