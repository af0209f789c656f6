//! Items of classes, whatever the classes are called.

use super::ranking::check_weights;
use super::{Groups, Items, Scale, Scaler};
use crate::error::{Error, Result};

/// Items, each of one class.
#[derive(Debug, Clone)]
pub struct ClassItems {
    /// The items and their features.
    pub items: Items,
    /// What the classes are called: numbers in their order, else in the order of their names.
    pub classes: Vec<String>,
    /// The number of each item's class.
    pub labels: Vec<u32>,
    /// One weight per item, which multiplies its loss. `None`: all 1.
    pub weights: Option<Vec<f64>>,
    /// The margin that each item should have. `None`: all 1.
    pub margins: Option<Vec<f64>>,
    /// Items that belong together: folds do not split them. Fits do not look at them.
    pub groups: Option<Groups>,
}

impl ClassItems {
    /// Items with the names of their classes. Names that are all numbers are numbers: `1`, `+1` and `1.0` are one class.
    pub fn new(items: Items, labels: &[impl AsRef<str>]) -> Result<Self> {
        let mut names: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        let (classes, numbers) = ordered_classes(names.iter().map(|name| name.to_string()).collect());
        let number = |label: &str| names.binary_search(&label).map_or(0, |at| numbers[at]);
        let labels = labels.iter().map(|label| number(label.as_ref())).collect();
        Self::of_numbers(items, classes, labels)
    }

    /// Items with labels that are numbers.
    pub fn of_labels(items: Items, labels: &[f64]) -> Result<Self> {
        if let Some(bad) = labels.iter().find(|label| !label.is_finite()) {
            return Err(Error::parameter("labels", bad, "finite numbers"));
        }
        let mut distinct: Vec<f64> = labels.iter().map(|label| label + 0.0).collect();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let number = |label: f64| distinct.partition_point(|known| *known < label) as u32;
        let labels = labels.iter().map(|&label| number(label)).collect();
        Self::of_numbers(items, distinct.into_iter().map(class_name).collect(), labels)
    }

    /// Items with the numbers of their classes, which are called so.
    pub fn of_numbers(items: Items, classes: Vec<String>, labels: Vec<u32>) -> Result<Self> {
        let n = items.n_items();
        if labels.len() != n {
            return Err(Error::parameter("labels", labels.len(), format!("one for each of the {n} items")));
        }
        if let Some(bad) = labels.iter().find(|label| **label as usize >= classes.len()) {
            return Err(Error::parameter("labels", bad, format!("numbers below {}", classes.len())));
        }
        Ok(ClassItems { items, classes, labels, weights: None, margins: None, groups: None })
    }

    /// The same with a weight per item: 2 counts as two copies, 0 as none.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        check_weights("weights", &weights, self.n_items())?;
        self.weights = Some(weights);
        Ok(self)
    }

    /// The same with a margin per item, above 0.
    pub fn with_margins(mut self, margins: Vec<f64>) -> Result<Self> {
        check_weights("margins", &margins, self.n_items())?;
        if margins.contains(&0.0) {
            return Err(Error::parameter("margins", 0, "numbers above 0"));
        }
        self.margins = Some(margins);
        Ok(self)
    }

    /// The same with groups of items that folds do not split.
    pub fn with_groups(mut self, groups: Groups) -> Result<Self> {
        if groups.n_items() != self.n_items() {
            let expected = format!("one for each of the {} items", self.n_items());
            return Err(Error::parameter("groups", groups.n_items(), expected));
        }
        self.groups = Some(groups);
        Ok(self)
    }

    /// The items of the given numbers; classes keep their numbers.
    pub fn select(&self, numbers: &[usize]) -> Self {
        let select = |values: &Option<Vec<f64>>| values.as_ref().map(|v| numbers.iter().map(|&i| v[i]).collect());
        ClassItems {
            items: self.items.select(numbers),
            classes: self.classes.clone(),
            labels: numbers.iter().map(|&item| self.labels[item]).collect(),
            weights: select(&self.weights),
            margins: select(&self.margins),
            groups: self.groups.as_ref().map(|groups| groups.select(numbers)),
        }
    }

    /// How many items there are.
    pub fn n_items(&self) -> usize {
        self.items.n_items()
    }

    /// The weight of an item.
    pub fn weight(&self, item: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[item])
    }

    /// The margin of an item.
    pub fn margin(&self, item: usize) -> f64 {
        self.margins.as_ref().map_or(1.0, |margins| margins[item])
    }

    /// The scaling that the items teach by their weights; `None` for [`Scale::None`].
    pub(crate) fn scaler(&self, kind: Scale) -> Option<Scaler> {
        Scaler::learn_weighted(kind, &self.items.features, 0..self.n_items(), self.weights.as_deref())
    }
}

/// What the class of a label is called: the shortest form that reads back as the same number.
pub fn class_name(label: f64) -> String {
    let label = label + 0.0; // zeros of either sign are the same label
    if label == 0.0 || (1e-5..1e16).contains(&label.abs()) { format!("{label}") } else { format!("{label:e}") }
}

/// Names of classes in order, and which of them each of the given ones is.
pub(crate) fn ordered_classes(names: Vec<String>) -> (Vec<String>, Vec<u32>) {
    let numbers: Option<Vec<f64>> =
        names.iter().map(|name| name.parse().ok().filter(|number: &f64| number.is_finite())).collect();
    let names = match numbers {
        Some(numbers) => numbers.into_iter().map(class_name).collect(),
        None => names,
    };
    // Numbers of the same name are the same number, so that names tell which are equal.
    let key = |name: &String| name.parse::<f64>().unwrap_or(0.0);
    let are_numbers = names.iter().all(|name| name.parse::<f64>().is_ok_and(f64::is_finite));
    let mut classes = names.clone();
    classes.sort();
    classes.dedup();
    if are_numbers {
        classes.sort_by(|a, b| key(a).total_cmp(&key(b)));
    }
    let place = |name: &String| classes.iter().position(|class| class == name).unwrap_or(0) as u32;
    let places = names.iter().map(place).collect();
    (classes, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Features, Precision};

    fn items(n: usize) -> Items {
        Items::new(Features::dense(1, vec![0.0; n], Precision::Auto).unwrap(), None, None).unwrap()
    }

    #[test]
    fn numbers_are_ordered_as_numbers_and_words_as_words() {
        let numbers = ClassItems::new(items(5), &["10", "9", "+1", "1.0", "-0"]).unwrap();
        assert_eq!(
            (numbers.classes, numbers.labels),
            (["0", "1", "9", "10"].map(String::from).to_vec(), vec![3, 2, 1, 1, 0])
        );
        let words = ClassItems::new(items(3), &["b", "10", "9"]).unwrap();
        assert_eq!((words.classes, words.labels), (["10", "9", "b"].map(String::from).to_vec(), vec![2, 0, 1]));
        let labels = ClassItems::of_labels(items(3), &[2.5, -1.0, -0.0]).unwrap();
        assert_eq!((labels.classes, labels.labels), (["-1", "0", "2.5"].map(String::from).to_vec(), vec![2, 0, 1]));
    }
}
