//! What is known of the search that chose a model's parameters, saved with it. No times: the same input gives the same
//! bytes.

use super::{LearntFrom, Training};
use crate::data::Outcome;
use crate::kernel::{Kernel, KernelFunction};
use crate::loss::Loss;

/// Means that differ by no more than this are equal: sums in another order must not choose.
pub const EQUAL_MEANS: f64 = 1e-12;

/// A search over parameters: every point with what was measured there, and the one that was chosen.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// The name of the metric.
    pub metric: String,
    /// Whether more of it is better.
    pub greater_is_better: bool,
    /// What was held out.
    pub split: TuningSplit,
    /// What a constant answer gets there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<TuningBaseline>,
    /// Every point, in the order of the grid.
    pub points: Vec<TuningPoint>,
    /// Which of them was chosen.
    pub best: usize,
    /// A time limit ended the search when so many points had been measured on all parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_after: Option<usize>,
    /// What the user should know of the search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What a search was measured on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum TuningSplit {
    /// Pairs of their own.
    Validation {
        /// How many of them have a weight above 0.
        pairs: usize,
    },
    /// Items of their own.
    #[serde(rename = "validation_items")]
    ValidationItems {
        /// How many of them have a weight above 0.
        items: usize,
        /// In how many groups; 0 where groups do not matter.
        groups: usize,
    },
    /// Every pair, item or group of items once, by machines that have not seen its fold.
    Folds {
        /// How many folds.
        folds: usize,
    },
}

/// What always giving the same answer gets on what was held out.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuningBaseline {
    /// The answer; `None` for items, whose method and metric tell it, and for the shares of the outcomes of pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The metric.
    #[serde(with = "super::number")]
    pub value: f64,
}

impl TuningSplit {
    /// How many times each point is measured.
    pub fn n_parts(self) -> usize {
        match self {
            TuningSplit::Validation { .. } | TuningSplit::ValidationItems { .. } => 1,
            TuningSplit::Folds { folds } => folds,
        }
    }
}

/// A point of the grid.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuningPoint {
    /// The loss.
    pub loss: Loss,
    /// The kernel as it was asked for; γ `scale` is fixed anew on every training part.
    #[serde(with = "typed_kernel")]
    pub kernel: Kernel,
    /// C, which multiplies the sum of weighted losses.
    #[serde(with = "super::number")]
    pub c: f64,
    /// Half the width of the tube of a regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// The mean over the parts; `None` when one of them is missing.
    pub mean: Option<f64>,
    /// The metric on every held-out part; `None` where the fit failed or was not reached.
    pub folds: Vec<Option<f64>>,
}

impl Tuning {
    /// Whether the first mean is better than the second, beyond rounding.
    pub fn is_better(&self, mean: f64, than: f64) -> bool {
        let gain = if self.greater_is_better { mean - than } else { than - mean };
        gain > EQUAL_MEANS
    }

    /// How many points were measured on all parts.
    pub fn n_measured(&self) -> usize {
        self.points.iter().filter(|point| point.mean.is_some()).count()
    }

    /// Says what contradicts itself or the training, if anything does.
    pub(crate) fn check(&self, training: &Training) -> Result<(), String> {
        let n_parts = self.split.n_parts();
        if matches!(self.split, TuningSplit::Folds { folds } if folds < 2) {
            return Err(format!("the search has {n_parts} folds, expected at least 2"));
        }
        let is_of_items = training.learnt_from == LearntFrom::Items;
        let is_of_other = match self.split {
            TuningSplit::Validation { .. } => is_of_items,
            TuningSplit::ValidationItems { .. } => !is_of_items,
            TuningSplit::Folds { .. } => false,
        };
        // The shares of outcomes are no outcome, and the best answer where probabilities are measured.
        let has_no_outcome = is_of_items || ["log_loss", "brier"].contains(&self.metric.as_str());
        if is_of_other || self.baseline.is_some_and(|baseline| baseline.outcome.is_none() != has_no_outcome) {
            return Err("the search is one of items or of pairs, and the model is of the other".into());
        }
        if let Some(bad) = self.baseline.map(|baseline| baseline.value).filter(|value| !value.is_finite()) {
            return Err(format!("the search's constant answer gets {bad}, expected a finite number"));
        }
        for (at, point) in self.points.iter().enumerate() {
            point.check(n_parts).map_err(|problem| format!("point {} of the search: {problem}", at + 1))?;
        }
        let best = self.points.get(self.best).ok_or_else(|| {
            format!("the best point of the search is number {} of {}", self.best.saturating_add(1), self.points.len())
        })?;
        let Some(best_mean) = best.mean else {
            return Err("the best point of the search was not measured".into());
        };
        if let Some(at) = self.points.iter().position(|p| p.mean.is_some_and(|mean| self.is_better(mean, best_mean))) {
            return Err(format!("point {} of the search is better than the one called best", at + 1));
        }
        if let Some(n) = self.stopped_after.filter(|&n| n != self.n_measured()) {
            return Err(format!("the search stopped after {n} points, but {} are measured", self.n_measured()));
        }
        let epsilon = training.svm.as_ref().and_then(|svm| svm.epsilon);
        let is_the_model = (best.c, best.loss, best.epsilon) == (training.c, training.loss, epsilon)
            && fits(best.kernel, training.kernel);
        if is_the_model {
            Ok(())
        } else {
            Err("the best point of the search is not what the model was trained with".into())
        }
    }
}

impl TuningPoint {
    fn check(&self, n_parts: usize) -> Result<(), String> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(format!("C is {}, expected a finite number above 0", self.c));
        }
        if let Some(bad) = self.epsilon.filter(|epsilon| !(*epsilon >= 0.0 && epsilon.is_finite())) {
            return Err(format!("epsilon is {bad}, expected a finite number of at least 0"));
        }
        self.kernel.check().map_err(|error| error.to_string())?;
        if self.folds.len() != n_parts {
            return Err(format!("{} values for {n_parts} held-out parts", self.folds.len()));
        }
        if let Some(bad) = self.folds.iter().chain([&self.mean]).flatten().find(|value| !value.is_finite()) {
            return Err(format!("a value is {bad}, expected a finite number"));
        }
        let sum: Option<f64> = self.folds.iter().copied().sum();
        let is_the_mean = match (self.mean, sum) {
            (Some(mean), Some(sum)) => (mean - sum / n_parts as f64).abs() <= EQUAL_MEANS * mean.abs().max(1.0),
            (None, None) => true,
            _ => false,
        };
        if is_the_mean { Ok(()) } else { Err("the mean and the values of the parts contradict each other".into()) }
    }
}

/// Whether a kernel that was asked for can have become this function.
fn fits(asked: Kernel, function: KernelFunction) -> bool {
    use crate::kernel::Gamma;
    let with = |gamma: Gamma, used: f64| match gamma {
        Gamma::Scale => true,
        Gamma::Value(value) => value == used,
    };
    match (asked, function) {
        (Kernel::Linear, KernelFunction::Linear) => true,
        (Kernel::Poly { gamma, coef0, degree }, KernelFunction::Poly { gamma: g, coef0: c, degree: d }) => {
            with(gamma, g) && (coef0, degree) == (c, d)
        }
        (Kernel::Rbf { gamma }, KernelFunction::Rbf { gamma: g }) => with(gamma, g),
        (Kernel::Sigmoid { gamma, coef0 }, KernelFunction::Sigmoid { gamma: g, coef0: c }) => {
            with(gamma, g) && coef0 == c
        }
        _ => false,
    }
}

/// A kernel as it was asked for, in JSON: like the kernel of a model, but γ may be `"scale"`.
mod typed_kernel {
    use std::fmt;

    use serde::de::{Deserializer, Error, Unexpected, Visitor};
    use serde::ser::Serializer;
    use serde::{Deserialize, Serialize};

    use crate::kernel::{Gamma, Kernel};

    #[derive(Serialize, Deserialize)]
    #[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
    enum Typed {
        Linear,
        Poly { gamma: Width, coef0: f64, degree: u32 },
        Rbf { gamma: Width },
        Sigmoid { gamma: Width, coef0: f64 },
    }

    struct Width(Gamma);

    pub(super) fn serialize<S: Serializer>(kernel: &Kernel, serializer: S) -> Result<S::Ok, S::Error> {
        let typed = match *kernel {
            Kernel::Linear => Typed::Linear,
            Kernel::Poly { gamma, coef0, degree } => Typed::Poly { gamma: Width(gamma), coef0, degree },
            Kernel::Rbf { gamma } => Typed::Rbf { gamma: Width(gamma) },
            Kernel::Sigmoid { gamma, coef0 } => Typed::Sigmoid { gamma: Width(gamma), coef0 },
        };
        typed.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kernel, D::Error> {
        Ok(match Typed::deserialize(deserializer)? {
            Typed::Linear => Kernel::Linear,
            Typed::Poly { gamma: Width(gamma), coef0, degree } => Kernel::Poly { gamma, coef0, degree },
            Typed::Rbf { gamma: Width(gamma) } => Kernel::Rbf { gamma },
            Typed::Sigmoid { gamma: Width(gamma), coef0 } => Kernel::Sigmoid { gamma, coef0 },
        })
    }

    impl Serialize for Width {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                Gamma::Scale => serializer.serialize_str("scale"),
                Gamma::Value(value) => serializer.serialize_f64(value),
            }
        }
    }

    impl<'de> Deserialize<'de> for Width {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(WidthVisitor)
        }
    }

    struct WidthVisitor;

    impl Visitor<'_> for WidthVisitor {
        type Value = Width;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number or \"scale\"")
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<Width, E> {
            Ok(Width(Gamma::Value(value)))
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<Width, E> {
            self.visit_f64(value as f64)
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<Width, E> {
            self.visit_f64(value as f64)
        }

        fn visit_str<E: Error>(self, word: &str) -> Result<Width, E> {
            match word {
                "scale" => Ok(Width(Gamma::Scale)),
                _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
            }
        }
    }
}
