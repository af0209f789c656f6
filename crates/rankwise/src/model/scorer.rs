//! Ranking functions r(x): linear, or a kernel expansion over support items. Scores are f64, and the score of a row
//! does not depend on the rows around it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use crate::data::{Features, Items, Scaler};
use crate::error::{Error, Result};
use crate::kernel::{ItemBlocks, KernelFunction, Landmarks};
use crate::math::dot;

/// How a scaled item is scored.
#[derive(Debug, Clone)]
pub enum ScoreFunction {
    /// w·x + bias
    Linear {
        /// One weight per feature.
        weights: Vec<f64>,
        /// What is added to all scores; 0 for all that see differences alone.
        bias: f64,
    },
    /// Σ aₛ K(s, x) + bias
    Kernel {
        /// The kernel.
        kernel: KernelFunction,
        /// The support items, scaled.
        support: Features,
        /// One coefficient per support item.
        coefficients: Vec<f64>,
        /// What is added to all scores; 0 for all that see differences alone.
        bias: f64,
    },
    /// w·(x, ψ(x)): a weight per feature, and per feature that makes a kernel linear.
    Landmarks {
        /// The features ψ.
        map: Landmarks,
        /// One weight per feature of either kind.
        weights: Vec<f64>,
    },
    /// Several machines over the same features or support items, each with a score of its own.
    Several {
        /// What they are made of.
        basis: Basis,
        /// A weight per feature, or a coefficient per support item: those of the first machine, then those of the next.
        coefficients: Vec<f64>,
        /// What each machine adds to its scores.
        biases: Vec<f64>,
    },
}

/// What several machines have in common.
#[derive(Debug, Clone)]
pub enum Basis {
    /// The features themselves.
    Features,
    /// Kernel values with support items.
    Kernel {
        /// The kernel.
        kernel: KernelFunction,
        /// The support items, scaled.
        support: Features,
    },
}

impl Basis {
    /// The kernel; features themselves are the linear one.
    pub fn kernel(&self) -> KernelFunction {
        match self {
            Basis::Features => KernelFunction::Linear,
            Basis::Kernel { kernel, .. } => *kernel,
        }
    }
}

/// New items whose kernel values are in memory at a time, times support items.
const VALUES_AT_ONCE: usize = 1 << 22;

impl ScoreFunction {
    /// The rows that the function is linear in, or reads.
    pub(crate) fn mapped<'a>(&self, features: &'a Features) -> Result<Cow<'a, Features>> {
        match self {
            ScoreFunction::Landmarks { map, .. } => Ok(Cow::Owned(map.beside(features)?)),
            _ => Ok(Cow::Borrowed(features)),
        }
    }

    /// One score per row that it is linear in, or reads.
    fn scores(&self, mapped: &Features) -> Result<Vec<f64>> {
        match self {
            ScoreFunction::Linear { weights, bias } => Ok(biased(mapped.times(weights), *bias)),
            ScoreFunction::Landmarks { weights, .. } => Ok(mapped.times(weights)),
            ScoreFunction::Kernel { kernel, support, coefficients, bias } => {
                let scores = ItemBlocks::<f64>::new(*kernel, support)?.scores_of(mapped, coefficients)?;
                Ok(biased(scores, *bias))
            }
            ScoreFunction::Several { biases, .. } => Err(Error::Mismatch {
                problem: format!("the model is made of {} machines with a score each, not of one", biases.len()),
                remedy: "ask for its classes".into(),
            }),
        }
    }

    /// The support items, scaled, where scores are sums of their kernel values.
    pub fn support(&self) -> Option<&Features> {
        match self {
            ScoreFunction::Kernel { support, .. }
            | ScoreFunction::Several { basis: Basis::Kernel { support, .. }, .. } => Some(support),
            _ => None,
        }
    }

    /// How many machines there are.
    pub fn n_machines(&self) -> usize {
        match self {
            ScoreFunction::Several { biases, .. } => biases.len(),
            _ => 1,
        }
    }

    /// One score per row and machine: those of the first row, then those of the next.
    fn scores_of_all(&self, mapped: &Features) -> Result<Vec<f64>> {
        let ScoreFunction::Several { basis, coefficients, biases } = self else { return self.scores(mapped) };
        let n_machines = biases.len();
        let mut scores = vec![0.0; mapped.n_rows() * n_machines];
        match basis {
            Basis::Features => {
                for (machine, weights) in coefficients.chunks_exact(mapped.n_cols().max(1)).enumerate() {
                    let of_machine = mapped.times(weights);
                    scores.iter_mut().skip(machine).step_by(n_machines).zip(of_machine).for_each(|(out, s)| *out = s);
                }
            }
            Basis::Kernel { kernel, support } => {
                let (blocks, n_support) = (ItemBlocks::<f64>::new(*kernel, support)?, support.n_rows());
                let at_once = (VALUES_AT_ONCE / n_support.max(1)).max(1);
                for start in (0..mapped.n_rows()).step_by(at_once).filter(|_| n_support > 0) {
                    let rows: Vec<usize> = (start..(start + at_once).min(mapped.n_rows())).collect();
                    let values = blocks.values_at(&mapped.select_rows(&rows));
                    let out = &mut scores[start * n_machines..][..rows.len() * n_machines];
                    out.par_chunks_mut(n_machines).zip(values.par_chunks(n_support)).for_each(|(out, values)| {
                        let columns = coefficients.chunks_exact(n_support);
                        out.iter_mut().zip(columns).for_each(|(out, column)| *out = dot(column, values));
                    });
                }
            }
        }
        scores
            .chunks_exact_mut(n_machines.max(1))
            .for_each(|row| row.iter_mut().zip(biases).for_each(|(s, b)| *s += b));
        Ok(scores)
    }

    /// The kernel of the ranking function; a weight per feature is the linear one.
    pub fn kernel(&self) -> KernelFunction {
        match self {
            ScoreFunction::Linear { .. } => KernelFunction::Linear,
            ScoreFunction::Kernel { kernel, .. } => *kernel,
            ScoreFunction::Several { basis, .. } => basis.kernel(),
            ScoreFunction::Landmarks { map, .. } => map.kernel,
        }
    }
}

/// A ranking function with what it needs to read an item.
#[derive(Debug, Clone)]
pub struct Scorer {
    /// How many features an item has.
    pub n_features: usize,
    /// Their names, where the training data had names.
    pub feature_names: Option<Vec<String>>,
    /// The features are indicators of the training items, which have no features of their own.
    pub are_indicators: bool,
    /// The scaling learnt in training.
    pub scaler: Option<Scaler>,
    /// The function of the scaled features.
    pub function: ScoreFunction,
}

impl Scorer {
    /// One score per item. With feature names on both sides the columns are matched by name, else by position; with names
    /// on neither side, columns that the data lack at the end are 0.
    pub fn scores(&self, items: &Items) -> Result<Vec<f64>> {
        let features = self.read(items)?;
        self.scores_of_mapped(&*self.function.mapped(&features)?, items)
    }

    /// One score per item and machine: those of the first item, then those of the next. Other models than classifiers of
    /// more than two classes have one machine.
    pub fn scores_of_machines(&self, items: &Items) -> Result<Vec<f64>> {
        let features = self.read(items)?;
        let scores = self.function.scores_of_all(&*self.function.mapped(&features)?)?;
        in_range(scores, self.function.n_machines(), items)
    }

    /// [`Scorer::scores`] with the features as the function wants them.
    pub(super) fn scores_of_mapped(&self, mapped: &Features, items: &Items) -> Result<Vec<f64>> {
        in_range(self.function.scores(mapped)?, 1, items)
    }

    /// The features of items as the function wants them: columns matched, scaled.
    pub(crate) fn read<'a>(&self, items: &'a Items) -> Result<Cow<'a, Features>> {
        if self.is_wider(items) {
            // A file may claim any number of features, of which no list is made.
            return self.scaled(Cow::Owned(items.features.widened(self.n_features)));
        }
        let arranged = match self.match_columns(items)? {
            Some(columns) => Cow::Owned(items.features.select_columns(&columns)),
            None => Cow::Borrowed(&items.features),
        };
        self.scaled(arranged)
    }

    fn scaled<'a>(&self, features: Cow<'a, Features>) -> Result<Cow<'a, Features>> {
        Ok(match &self.scaler {
            Some(scaler) => Cow::Owned(scaler.apply(&features)?),
            None => features,
        })
    }

    /// Whether the data end before the last of the features, and neither side has names.
    fn is_wider(&self, items: &Items) -> bool {
        let has_names = self.feature_names.is_some() || items.feature_names.is_some();
        let are_features = !self.are_indicators && !items.are_indicators;
        are_features && !has_names && items.features.n_cols() < self.n_features
    }

    /// Which of the items the support items are, of equal ones the first; `None` for a function without support items, and where
    /// one of them is not among the items.
    pub fn support_among(&self, items: &Items) -> Result<Option<Vec<u32>>> {
        let Some(support) = self.function.support() else { return Ok(None) };
        let features = self.read(items)?;
        let mut rows_of: HashMap<u64, Vec<u32>> = HashMap::new();
        let hashes: Vec<u64> = (0..features.n_rows()).into_par_iter().map(|row| features.hash_row(row)).collect();
        let wanted: HashSet<u64> = (0..support.n_rows()).map(|row| support.hash_row(row)).collect();
        for (row, hash) in hashes.into_iter().enumerate().filter(|(_, hash)| wanted.contains(hash)) {
            rows_of.entry(hash).or_default().push(row as u32);
        }
        let (mut sought, mut found) = (vec![0.0; support.n_cols()], vec![0.0; support.n_cols()]);
        let among = |row: usize| {
            support.copy_row(row, &mut sought);
            rows_of.get(&support.hash_row(row))?.iter().copied().find(|&candidate| {
                features.copy_row(candidate as usize, &mut found);
                found == sought
            })
        };
        Ok((0..support.n_rows()).map(among).collect())
    }

    /// The column of each of the model's features in the data; `None` where the data have none.
    pub(crate) fn columns(&self, items: &Items) -> Result<Vec<Option<usize>>> {
        Ok(self.match_columns(items)?.unwrap_or_else(|| (0..self.n_features).map(Some).collect()))
    }

    /// Where each of the model's features stands in the data; `None` when they stand in order already.
    fn match_columns(&self, items: &Items) -> Result<Option<Vec<Option<usize>>>> {
        if self.are_indicators != items.are_indicators {
            let kind = |indicators| if indicators { "item ids alone" } else { "item features" };
            return Err(Error::Mismatch {
                problem: format!(
                    "the model was trained on {}, the data have {}",
                    kind(self.are_indicators),
                    kind(items.are_indicators)
                ),
                remedy: "give the data the same columns as in training".into(),
            });
        }
        let (Some(wanted), Some(found)) = (&self.feature_names, &items.feature_names) else {
            return self.match_positions(items);
        };
        if wanted == found {
            return Ok(None);
        }
        let absent_from = |names: &[String], others: &[String]| {
            let others: HashSet<&str> = others.iter().map(String::as_str).collect();
            names.iter().filter(|name| !others.contains(name.as_str())).cloned().collect::<Vec<_>>()
        };
        let (missing, remedy) = if self.are_indicators {
            (absent_from(found, wanted), "leave them out, or train with pairs that contain them")
        } else {
            (absent_from(wanted, found), "give the data the columns the model was trained on")
        };
        if !missing.is_empty() {
            let few = missing.iter().take(5).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
            let dots = if missing.len() > 5 { ", …" } else { "" };
            let problem = if self.are_indicators {
                format!("{} items were not in the training data: {few}{dots}", missing.len())
            } else {
                format!("{} of the model's {} features are missing: {few}{dots}", missing.len(), wanted.len())
            };
            return Err(Error::Mismatch { problem, remedy: remedy.to_string() + &taken_names(&missing) });
        }
        let position: HashMap<&str, usize> = found.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        Ok(Some(wanted.iter().map(|name| position.get(name.as_str()).copied()).collect()))
    }

    /// [`Scorer::match_columns`] where one side has no names. Files that number features end with the last one that is
    /// not 0, so that without any names the data may be narrower.
    fn match_positions(&self, items: &Items) -> Result<Option<Vec<Option<usize>>>> {
        let (n_cols, n) = (items.features.n_cols(), self.n_features);
        if n_cols == n {
            return Ok(None);
        }
        let (problem, remedy) = match (&self.feature_names, &items.feature_names) {
            (None, None) if n_cols < n => return Ok(Some((0..n).map(|at| (at < n_cols).then_some(at)).collect())),
            (None, None) => (
                format!("the model has {n} features, the data have {n_cols}"),
                "give the data the features the model was trained on (is --index-base the same?), train with them, or leave them out with \
                 --ignore-extra",
            ),
            (Some(_), _) => (
                format!("the model has {n} features with names, the data have {n_cols} without"),
                "give the data a header with those names, or exactly as many features in the same order",
            ),
            (None, Some(_)) => (
                format!("the model has {n} features without names, the data have {n_cols} columns of features"),
                "give the data the columns the model was trained on, in that order; leave out others with --drop",
            ),
        };
        Err(Error::Mismatch { problem, remedy: remedy.into() })
    }
}

/// Where to look for features of these names, which tables may have for something else.
fn taken_names(missing: &[String]) -> String {
    let roles = [("id", "id", "ids"), ("label", "label", "labels"), ("qid", "group", "groups")];
    let taken = |name: &String| {
        let (role, option, what) = roles.iter().find(|(role, ..)| role.eq_ignore_ascii_case(name))?;
        Some(format!(
            " (a column {name} of a table is read as its {what} unless another one is called {role}, or named by --{option})"
        ))
    };
    let index = |name: &&String| name.as_str() == "Unnamed: 0" || name.starts_with("__index_level_");
    let index = missing
        .iter()
        .find(index)
        .map(|name| format!(" (a column {name} is taken for an index of pandas; call it otherwise and train again)"));
    missing.iter().find_map(taken).or(index).unwrap_or_default()
}

fn biased(mut scores: Vec<f64>, bias: f64) -> Vec<f64> {
    if bias != 0.0 {
        scores.iter_mut().for_each(|score| *score += bias);
    }
    scores
}

/// The scores, so many of each item, if all of them are numbers.
fn in_range(scores: Vec<f64>, per_item: usize, items: &Items) -> Result<Vec<f64>> {
    match scores.iter().position(|score| !score.is_finite()) {
        None => Ok(scores),
        Some(at) => Err(Error::Numeric {
            problem: format!("the score of item {:?} leaves the range of numbers", items.name((at / per_item) as u32)),
            remedy: "check its features: they are far from those the model was trained on".into(),
        }),
    }
}
