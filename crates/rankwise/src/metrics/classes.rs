//! Classes of items beside those that a classifier gave them.

use super::calibration::{Event, Reliability, of_events};
use crate::data::unit_of;
use crate::error::{Error, Result};

/// A metric of classified items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClassMetric {
    /// The share of items in the wrong class.
    ZeroOne,
    /// The share of items in the right class.
    Accuracy,
    /// The mean distance of the predicted class from the true one, of classes that are numbers.
    Mae,
    /// The mean of −log P(true class).
    LogLoss,
    /// The mean squared distance of the probabilities of all classes from the truth.
    Brier,
}

impl ClassMetric {
    /// All of them.
    pub const ALL: [ClassMetric; 5] =
        [ClassMetric::ZeroOne, ClassMetric::Accuracy, ClassMetric::Mae, ClassMetric::LogLoss, ClassMetric::Brier];

    /// The name in options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            ClassMetric::ZeroOne => "zero_one",
            ClassMetric::Accuracy => "accuracy",
            ClassMetric::Mae => "mae",
            ClassMetric::LogLoss => "log_loss",
            ClassMetric::Brier => "brier",
        }
    }

    /// Whether more is better.
    pub fn greater_is_better(self) -> bool {
        self == ClassMetric::Accuracy
    }

    /// Whether it is about probabilities.
    pub fn needs_chances(self) -> bool {
        matches!(self, ClassMetric::LogLoss | ClassMetric::Brier)
    }

    /// Its value; `None` where it is not defined.
    pub fn of(self, classified: &Classified<'_>) -> Option<f64> {
        match self {
            ClassMetric::ZeroOne => classified.zero_one(),
            ClassMetric::Accuracy => classified.zero_one().map(|error| 1.0 - error),
            ClassMetric::Mae => classified.mae(),
            ClassMetric::LogLoss => classified.log_loss(),
            ClassMetric::Brier => classified.brier(),
        }
    }

    /// What always the same answer would get: the most frequent class, or the shares of all classes as probabilities.
    pub fn of_constant(self, classified: &Classified<'_>) -> Option<f64> {
        let totals = classified.totals();
        let total: f64 = totals.iter().sum();
        if total <= 0.0 {
            return None;
        }
        let majority = classified.majority()?;
        let shares: Vec<f64> = totals.iter().map(|t| t / total).collect();
        match self {
            ClassMetric::ZeroOne => Some(1.0 - shares[majority]),
            ClassMetric::Accuracy => Some(shares[majority]),
            ClassMetric::Mae => {
                let values = classified.values()?;
                Some(shares.iter().zip(&values).map(|(share, value)| share * (value - values[majority]).abs()).sum())
            }
            ClassMetric::LogLoss => {
                Some(shares.iter().filter(|share| **share > 0.0).map(|share| -share * share.ln()).sum())
            }
            ClassMetric::Brier => Some(1.0 - shares.iter().map(|share| share * share).sum::<f64>()),
        }
    }
}

/// Items with their classes and those that were predicted.
#[derive(Debug, Clone)]
pub struct Classified<'a> {
    /// What classes are called: first those that can be predicted, then others that items have.
    names: &'a [String],
    /// How many can be predicted.
    n_known: usize,
    labels: &'a [u32],
    predicted: &'a [u32],
    weights: Option<&'a [f64]>,
    /// Probabilities of the classes that can be predicted, item by item.
    chances: Option<&'a [f64]>,
}

impl<'a> Classified<'a> {
    /// Checks that all fit together. `names` has the `n_known` classes that can be predicted first, then others.
    pub fn new(names: &'a [String], n_known: usize, labels: &'a [u32], predicted: &'a [u32]) -> Result<Self> {
        if predicted.len() != labels.len() {
            return Err(Error::parameter("predicted", predicted.len(), format!("{} entries", labels.len())));
        }
        if n_known > names.len() {
            return Err(Error::parameter("n_known", n_known, format!("at most {}", names.len())));
        }
        let beyond = |numbers: &[u32], n: usize| numbers.iter().any(|number| *number as usize >= n);
        if beyond(labels, names.len()) || beyond(predicted, n_known) {
            return Err(Error::parameter("labels", "a number", "numbers of the classes that have names"));
        }
        Ok(Classified { names, n_known, labels, predicted, weights: None, chances: None })
    }

    /// The same with a weight per item.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Result<Self> {
        crate::data::check_weights("weights", weights, self.labels.len())?;
        self.weights = Some(weights);
        Ok(self)
    }

    /// The same with probabilities of all classes that can be predicted, item by item.
    pub fn with_chances(mut self, chances: &'a [f64]) -> Result<Self> {
        if chances.len() != self.labels.len() * self.n_known {
            return Err(Error::parameter("chances", chances.len(), format!("{} for each item", self.n_known)));
        }
        self.chances = Some(chances);
        Ok(self)
    }

    /// What classes are called.
    pub fn names(&self) -> &[String] {
        self.names
    }

    /// How many classes can be predicted.
    pub fn n_known(&self) -> usize {
        self.n_known
    }

    /// Whether there are probabilities.
    pub fn has_chances(&self) -> bool {
        self.chances.is_some()
    }

    /// Items with a weight above 0.
    pub fn n_items(&self) -> usize {
        (0..self.labels.len()).filter(|&item| self.weight(item) > 0.0).count()
    }

    fn weight(&self, item: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[item])
    }

    /// The weight of each class.
    pub fn totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.names.len()];
        self.labels.iter().enumerate().for_each(|(item, &class)| totals[class as usize] += self.weight(item));
        totals
    }

    /// The class of most weight; of equal ones the first. `None` where nothing has a weight.
    pub fn majority(&self) -> Option<usize> {
        let totals = self.totals();
        let largest = totals.iter().copied().fold(0.0, f64::max);
        (largest > 0.0).then(|| totals.iter().position(|total| *total == largest)).flatten()
    }

    /// Weights by true class (all names) and predicted class (those that can be).
    pub fn confusion(&self) -> Vec<Vec<f64>> {
        let mut table = vec![vec![0.0; self.n_known]; self.names.len()];
        for (item, (&label, &predicted)) in self.labels.iter().zip(self.predicted).enumerate() {
            table[label as usize][predicted as usize] += self.weight(item);
        }
        table
    }

    fn mean(&self, of: impl Fn(usize) -> f64) -> Option<f64> {
        let (mut sum, mut total) = (0.0, 0.0);
        for item in 0..self.labels.len() {
            let weight = self.weight(item);
            if weight > 0.0 {
                sum += weight * of(item);
                total += weight;
            }
        }
        (total > 0.0).then(|| sum / total)
    }

    /// The share of items in the wrong class.
    pub fn zero_one(&self) -> Option<f64> {
        self.mean(|item| f64::from(u8::from(self.labels[item] != self.predicted[item])))
    }

    /// The numbers that the classes are called; `None` where some are words.
    fn values(&self) -> Option<Vec<f64>> {
        self.names.iter().map(|name| name.parse::<f64>().ok().filter(|value| value.is_finite())).collect()
    }

    /// The mean distance of predicted from true classes; `None` where they are words.
    pub fn mae(&self) -> Option<f64> {
        let values = self.values()?;
        self.mean(|item| (values[self.labels[item] as usize] - values[self.predicted[item] as usize]).abs())
    }

    /// The mean of −log P(true class); `None` without probabilities, and where an item has a class that has none.
    pub fn log_loss(&self) -> Option<f64> {
        let chances = self.chances.filter(|_| !self.has_unknown())?;
        self.mean(|item| -chances[item * self.n_known + self.labels[item] as usize].max(1e-15).ln())
    }

    /// The mean squared distance of the probabilities from the truth; `None` without probabilities.
    pub fn brier(&self) -> Option<f64> {
        let chances = self.chances?;
        self.mean(|item| {
            let label = self.labels[item] as usize;
            let of_item = &chances[item * self.n_known..][..self.n_known];
            let square = |(class, p): (usize, &f64)| (p - f64::from(u8::from(class == label))).powi(2);
            // A class that cannot be predicted has probability 0.
            let missed = if label >= self.n_known { 1.0 } else { 0.0 };
            of_item.iter().enumerate().map(square).sum::<f64>() + missed
        })
    }

    /// Probabilities of all classes together beside what came true, in up to `n_bins` bins of about equal weight: every item
    /// counts once for each class. `None` without probabilities or items.
    pub fn reliability(&self, n_bins: usize) -> Option<Reliability> {
        let chances = self.chances?;
        // Squares of weights as they are may be out of range.
        let unit = unit_of((0..self.labels.len()).map(|item| self.weight(item)).fold(0.0, f64::max));
        let mut events = Vec::new();
        for item in (0..self.labels.len()).filter(|&item| self.weight(item) > 0.0) {
            let of_item = &chances[item * self.n_known..][..self.n_known];
            let (label, weight) = (self.labels[item] as usize, self.weight(item) / unit);
            let event = |(class, p): (usize, &f64)| Event { chance: *p, weight, came_true: class == label };
            events.extend(of_item.iter().enumerate().map(event));
        }
        of_events(&events, unit, n_bins)
    }

    /// Whether an item has a class that cannot be predicted.
    pub fn has_unknown(&self) -> bool {
        (0..self.labels.len()).any(|item| self.labels[item] as usize >= self.n_known && self.weight(item) > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_table_by_hand() {
        let names: Vec<String> = ["1", "2", "4", "9"].map(String::from).to_vec();
        let (labels, predicted) = ([0, 0, 1, 2, 3], [0, 1, 1, 0, 2]);
        let weights = [1.0, 2.0, 1.0, 0.0, 1.0];
        let classified = Classified::new(&names, 3, &labels, &predicted).unwrap().with_weights(&weights).unwrap();
        assert_eq!(classified.zero_one(), Some(0.6));
        assert_eq!(classified.confusion(), [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3], [0.0, 0.0, 1.0]]);
        assert_eq!(classified.mae(), Some((2.0 + 5.0) / 5.0));
        assert_eq!((classified.majority(), ClassMetric::ZeroOne.of_constant(&classified)), (Some(0), Some(0.4)));
        assert_eq!((classified.n_items(), classified.has_unknown()), (4, true));
        let chances = [0.5, 0.25, 0.25].repeat(5);
        let classified = classified.with_chances(&chances).unwrap();
        assert_eq!(classified.log_loss(), None);
        let right = 0.25 + 0.0625 + 0.0625; // (½−1)² + ¼² + ¼²
        let second = 0.25 + 0.5625 + 0.0625;
        let unknown = 0.25 + 0.0625 + 0.0625 + 1.0;
        assert_eq!(classified.brier(), Some((3.0 * right + second + unknown) / 5.0));
    }
}
