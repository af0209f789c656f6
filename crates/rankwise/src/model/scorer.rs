//! Ranking functions r(x): linear, or a kernel expansion over support items. Scores are f64, and the score of a row
//! does not depend on the rows around it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::data::{Features, Items, Scaler};
use crate::error::{Error, Result};
use crate::kernel::{ItemBlocks, KernelFunction, Landmarks};

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
    /// Σ aₛ K(s, x)
    Kernel {
        /// The kernel.
        kernel: KernelFunction,
        /// The support items, scaled.
        support: Features,
        /// One coefficient per support item.
        coefficients: Vec<f64>,
    },
    /// w·(x, ψ(x)): a weight per feature, and per feature that makes a kernel linear.
    Landmarks {
        /// The features ψ.
        map: Landmarks,
        /// One weight per feature of either kind.
        weights: Vec<f64>,
    },
}

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
            ScoreFunction::Linear { weights, bias } => {
                let mut scores = mapped.times(weights);
                if *bias != 0.0 {
                    scores.iter_mut().for_each(|score| *score += bias);
                }
                Ok(scores)
            }
            ScoreFunction::Landmarks { weights, .. } => Ok(mapped.times(weights)),
            ScoreFunction::Kernel { kernel, support, coefficients } => {
                ItemBlocks::<f64>::new(*kernel, support)?.scores_of(mapped, coefficients)
            }
        }
    }

    /// The kernel of the ranking function; a weight per feature is the linear one.
    pub fn kernel(&self) -> KernelFunction {
        match self {
            ScoreFunction::Linear { .. } => KernelFunction::Linear,
            ScoreFunction::Kernel { kernel, .. } => *kernel,
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

    /// The same, with the features as the function wants them.
    pub(super) fn scores_of_mapped(&self, mapped: &Features, items: &Items) -> Result<Vec<f64>> {
        let scores = self.function.scores(mapped)?;
        match scores.iter().position(|score| !score.is_finite()) {
            None => Ok(scores),
            Some(item) => Err(Error::Numeric {
                problem: format!("the score of item {:?} leaves the range of numbers", items.name(item as u32)),
                remedy: "check its features: they are far from those the model was trained on".into(),
            }),
        }
    }

    /// The features of items as the function wants them: columns matched, scaled.
    pub(crate) fn read<'a>(&self, items: &'a Items) -> Result<Cow<'a, Features>> {
        let arranged = match self.match_columns(items)? {
            Some(columns) => Cow::Owned(items.features.select_columns(&columns)),
            None => Cow::Borrowed(&items.features),
        };
        Ok(match &self.scaler {
            Some(scaler) => Cow::Owned(scaler.apply(&arranged)?),
            None => arranged,
        })
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
            return Err(Error::Mismatch { problem, remedy: remedy.into() });
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
                "give the data the features the model was trained on (is --index-base the same?), or train with them",
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
