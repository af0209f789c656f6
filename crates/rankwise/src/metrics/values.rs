//! Labels of items beside the values that a regression gave them.

use crate::error::{Error, Result};

/// A metric of predicted values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueMetric {
    /// The mean absolute error.
    Mae,
    /// The root of the mean squared error.
    Rmse,
    /// 1 − squared error/squared error of the mean label.
    R2,
}

impl ValueMetric {
    /// All of them.
    pub const ALL: [ValueMetric; 3] = [ValueMetric::Mae, ValueMetric::Rmse, ValueMetric::R2];

    /// The name in options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            ValueMetric::Mae => "mae",
            ValueMetric::Rmse => "rmse",
            ValueMetric::R2 => "r2",
        }
    }

    /// Whether more is better.
    pub fn greater_is_better(self) -> bool {
        self == ValueMetric::R2
    }

    /// Its value; `None` where it is not defined.
    pub fn of(self, predicted: &PredictedValues<'_>) -> Option<f64> {
        let values = predicted.predicted;
        self.value(predicted, |item| values[item])
    }

    /// What the mean label, predicted for all items, would get.
    pub fn of_mean(self, predicted: &PredictedValues<'_>) -> Option<f64> {
        let mean = predicted.mean_label()?;
        self.value(predicted, |_| mean)
    }

    fn value(self, all: &PredictedValues<'_>, of: impl Fn(usize) -> f64) -> Option<f64> {
        let error = |item: usize| all.labels[item] - of(item);
        match self {
            ValueMetric::Mae => all.mean(|item| error(item).abs()),
            ValueMetric::Rmse => all.mean(|item| error(item) * error(item)).map(f64::sqrt),
            ValueMetric::R2 => {
                let mean = all.mean_label()?;
                let variance = all.mean(|item| (all.labels[item] - mean) * (all.labels[item] - mean))?;
                let left = all.mean(|item| error(item) * error(item))?;
                // Rounding may leave a variance to labels that are all the same.
                let mut present = (0..all.labels.len()).filter(|&item| all.weight(item) > 0.0);
                let first = present.next().map(|item| all.labels[item]);
                let differ = present.any(|item| Some(all.labels[item]) != first);
                (differ && variance > 0.0).then(|| 1.0 - left / variance)
            }
        }
    }
}

/// Items with their labels and the values that were predicted.
#[derive(Debug, Clone)]
pub struct PredictedValues<'a> {
    labels: &'a [f64],
    predicted: &'a [f64],
    weights: Option<&'a [f64]>,
}

impl<'a> PredictedValues<'a> {
    /// Checks that both are there for all items, and are numbers.
    pub fn new(labels: &'a [f64], predicted: &'a [f64]) -> Result<Self> {
        if predicted.len() != labels.len() {
            return Err(Error::parameter("predicted", predicted.len(), format!("{} entries", labels.len())));
        }
        match labels.iter().chain(predicted).find(|value| !value.is_finite()) {
            Some(bad) => Err(Error::parameter("labels", bad, "finite numbers")),
            None => Ok(PredictedValues { labels, predicted, weights: None }),
        }
    }

    /// The same with a weight per item.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Result<Self> {
        crate::data::check_weights("weights", weights, self.labels.len())?;
        self.weights = Some(weights);
        Ok(self)
    }

    /// Items with a weight above 0.
    pub fn n_items(&self) -> usize {
        (0..self.labels.len()).filter(|&item| self.weight(item) > 0.0).count()
    }

    /// The mean label.
    pub fn mean_label(&self) -> Option<f64> {
        self.mean(|item| self.labels[item])
    }

    fn weight(&self, item: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[item])
    }

    fn mean(&self, of: impl Fn(usize) -> f64) -> Option<f64> {
        let total: f64 = (0..self.labels.len()).map(|item| self.weight(item)).sum();
        let sum: f64 = (0..self.labels.len()).map(|item| self.weight(item) / total * of(item)).sum();
        (total > 0.0).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_case_by_hand() {
        let (labels, predicted, weights) = ([1.0, 2.0, 6.0], [2.0, 2.0, 3.0], [2.0, 1.0, 1.0]);
        let all = PredictedValues::new(&labels, &predicted).unwrap().with_weights(&weights).unwrap();
        assert_eq!(ValueMetric::Mae.of(&all), Some(5.0 / 4.0));
        assert!((ValueMetric::Rmse.of(&all).unwrap() - (11.0f64 / 4.0).sqrt()).abs() < 1e-15);
        // Mean 2.5, variance (2·2.25 + 0.25 + 12.25)/4 = 4.25.
        assert!((ValueMetric::R2.of(&all).unwrap() - (1.0 - 2.75 / 4.25)).abs() < 1e-15);
        assert_eq!(ValueMetric::R2.of_mean(&all), Some(0.0));
        assert_eq!(ValueMetric::R2.of(&PredictedValues::new(&[1.0, 1.0], &[0.0, 2.0]).unwrap()), None);
        assert_eq!(ValueMetric::R2.of(&PredictedValues::new(&[0.1; 3], &[0.0; 3]).unwrap()), None);
        assert_eq!(ValueMetric::Mae.of(&PredictedValues::new(&[], &[]).unwrap()), None);
    }
}
