//! From scores to grades: thresholds between grades in order.

use super::{ClassVerdicts, Method, Model, ScoreFunction};
use crate::data::{Items, bin_of, class_name};
use crate::error::{Error, Result};

/// Which items have a say in a threshold between two neighbouring grades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constraints {
    /// All items; the best thresholds are then in order by themselves.
    #[default]
    Implicit,
    /// Those of the two grades beside it; that thresholds are in order is a constraint.
    Explicit,
}

impl Constraints {
    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Constraints::Implicit => "implicit",
            Constraints::Explicit => "explicit",
        }
    }
}

/// How scores become grades.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeRule {
    /// The labels of the grades, ascending; of bins 1, 2, ….
    pub grades: Vec<f64>,
    /// One between each two neighbouring grades, in order: a score at a threshold or above it means a higher grade.
    pub thresholds: Vec<f64>,
    /// Where labels were put into bins: what lies between these.
    pub cuts: Option<Vec<f64>>,
}

impl GradeRule {
    /// The number of the grade that a score means, from 0.
    pub fn place_of(&self, score: f64) -> usize {
        self.thresholds.partition_point(|threshold| *threshold <= score)
    }

    /// The grade that a score means.
    pub fn grade_of(&self, score: f64) -> f64 {
        self.grades.get(self.place_of(score)).copied().unwrap_or(f64::NAN)
    }

    /// The grades of scores by number, with these.
    pub fn verdicts(&self, scores: Vec<f64>) -> ClassVerdicts {
        let classes = scores.iter().map(|&score| self.place_of(score) as u32).collect();
        ClassVerdicts { classes, n_scores: 1, scores, chances: None }
    }

    /// What the grades are called, then others that labels of the data stand for; and the place of each label among all.
    pub fn places_of_labels(&self, labels: &[f64]) -> (Vec<String>, Vec<u32>) {
        let mut grades = self.grades.clone();
        let mut others: Vec<f64> = labels.iter().map(|&label| self.grade_of_label(label)).collect();
        others.retain(|grade| !grades.contains(grade));
        others.sort_by(f64::total_cmp);
        others.dedup();
        grades.extend(others);
        let place = |&label: &f64| {
            let grade = self.grade_of_label(label);
            grades.iter().position(|known| *known == grade).unwrap_or(0) as u32
        };
        let places = labels.iter().map(place).collect();
        (grades.into_iter().map(class_name).collect(), places)
    }

    /// The grade that a label of the data stands for: its bin, where labels were put into bins, else itself.
    pub fn grade_of_label(&self, label: f64) -> f64 {
        match &self.cuts {
            Some(cuts) => self.grades.get(bin_of(cuts, label)).copied().unwrap_or(f64::NAN),
            None => label,
        }
    }

    /// Says what contradicts itself or is not a number, if anything does.
    fn check(&self) -> std::result::Result<(), String> {
        let GradeRule { grades, thresholds, cuts } = self;
        if grades.len() < 2 || thresholds.len() != grades.len() - 1 {
            return Err(format!("{} thresholds for {} grades", thresholds.len(), grades.len()));
        }
        let ascends = |values: &[f64]| {
            values.iter().all(|value| value.is_finite()) && values.windows(2).all(|pair| pair[0] < pair[1])
        };
        if !ascends(grades) {
            return Err("the grades are no ascending numbers".into());
        }
        let are_ordered = thresholds.windows(2).all(|pair| pair[0] <= pair[1]);
        if !(are_ordered && thresholds.iter().all(|value| value.is_finite())) {
            return Err("the thresholds between grades are no numbers in order".into());
        }
        if cuts.as_ref().is_some_and(|cuts| cuts.len() != thresholds.len() || !ascends(cuts)) {
            return Err("the cuts between bins of labels are no ascending numbers, one for each threshold".into());
        }
        Ok(())
    }
}

impl Model {
    /// The grade of every item; an error where this is no model of grades.
    pub fn grade(&self, items: &Items) -> Result<Vec<f64>> {
        let Some(rule) = &self.grades else {
            return Err(Error::Mismatch {
                problem: format!("a model of {} has no grades", self.training.method.name()),
                remedy: "train one that has (--method ordinal)".into(),
            });
        };
        Ok(self.scorer.scores(items)?.into_iter().map(|score| rule.grade_of(score)).collect())
    }

    /// Says what contradicts itself in the grades, if anything does.
    pub(super) fn check_grades(&self) -> std::result::Result<(), String> {
        let is_ordinal = self.training.method == Method::Ordinal;
        let Some(rule) = &self.grades else {
            return if is_ordinal { Err("there are no thresholds between grades".into()) } else { Ok(()) };
        };
        if !is_ordinal {
            return Err(format!("a model of {} has thresholds between grades", self.training.method.name()));
        }
        if self.classes.is_some() || matches!(self.scorer.function, ScoreFunction::Several { .. }) {
            return Err("there are both grades and classes".into());
        }
        rule.check()
    }
}
