//! A tie region that depends on the pair: how far apart two scores may be, as a function of what both sides share.

use crate::data::{Features, PairSet, Scaler};
use crate::error::{Error, Result};

/// The width of the tie region of a pair: base + its weights times the mean of the two sides' features, their absolute
/// difference, and what is known of the comparison itself. Exchanging the sides changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct TieBand {
    /// The width where all the rest is 0.
    pub base: f64,
    /// Of the mean of the two sides, one weight per feature of the score function.
    pub mean: Vec<f64>,
    /// Of their absolute difference.
    pub difference: Vec<f64>,
    /// Of the columns that describe the comparison itself.
    pub context: Vec<f64>,
    /// The names of these columns.
    pub context_names: Vec<String>,
    /// The scaling of these columns.
    pub context_scaler: Option<Scaler>,
}

impl TieBand {
    /// One width per pair; `features` are the items as the score function sees them.
    pub(super) fn widths(&self, features: &Features, set: &PairSet) -> Result<Vec<f64>> {
        let of_items = features.times(&self.mean);
        let mut widths = vec![0.0; set.pairs.len()];
        features.times_distances(&set.pairs, &self.difference, &mut widths);
        for (width, pair) in widths.iter_mut().zip(&set.pairs) {
            *width += self.base + 0.5 * (of_items[pair.left as usize] + of_items[pair.right as usize]);
        }
        if !self.context_names.is_empty() {
            let context = self.read_context(set)?;
            widths.iter_mut().zip(context.times(&self.context)).for_each(|(width, more)| *width += more);
        }
        match widths.iter().position(|width| !width.is_finite()) {
            None => Ok(widths),
            Some(pair) => Err(Error::Numeric {
                problem: format!("the tie region of pair {} leaves the range of numbers", pair + 1),
                remedy: "check its features: they are far from those the model was trained on".into(),
            }),
        }
    }

    /// The columns of the comparison itself, matched by name and scaled.
    fn read_context(&self, set: &PairSet) -> Result<Features> {
        let empty = Vec::new();
        let found = set.context.as_ref().map_or(&empty, |context| &context.names);
        let at = |name: &String| found.iter().position(|other| other == name);
        if let Some(missing) = self.context_names.iter().find(|name| at(name).is_none()) {
            return Err(Error::Mismatch {
                problem: format!("the pairs lack the column pair.{missing}, which the model's tie region depends on"),
                remedy: "give the pairs the columns the model was trained on".into(),
            });
        }
        let columns: Vec<Option<usize>> = self.context_names.iter().map(at).collect();
        let arranged = match &set.context {
            Some(context) => context.features.select_columns(&columns),
            None => Features::dense(0, Vec::new(), crate::data::Precision::F64)?,
        };
        self.context_scaler.as_ref().map_or(Ok(arranged.clone()), |scaler| scaler.apply(&arranged))
    }

    /// What contradicts itself or is not a number, if anything does; `n` is the number of features of the score function.
    pub(super) fn check(&self, n: usize) -> std::result::Result<(), String> {
        let lengths = [
            ("means", self.mean.len(), n),
            ("differences", self.difference.len(), n),
            ("columns of the comparison", self.context.len(), self.context_names.len()),
        ];
        if let Some((what, found, expected)) = lengths.into_iter().find(|(_, found, expected)| found != expected) {
            return Err(format!("the tie band has {found} weights of {what}, expected {expected}"));
        }
        if let Some(scaler) = &self.context_scaler {
            let n = self.context_names.len();
            let is_sound = scaler.shift.len() == n
                && scaler.divisor.len() == n
                && scaler.shift.iter().all(|v| v.is_finite())
                && scaler.divisor.iter().all(|v| v.is_finite() && *v != 0.0);
            if !is_sound {
                return Err("the scaling of the comparison's columns is impossible".into());
            }
        }
        let all = [self.base].into_iter().chain(self.mean.iter().chain(&self.difference).chain(&self.context).copied());
        if all.into_iter().all(f64::is_finite) {
            Ok(())
        } else {
            Err("the tie band has a weight that is no finite number".into())
        }
    }
}
