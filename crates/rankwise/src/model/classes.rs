//! From scores of machines to classes and their probabilities.

use rayon::prelude::*;

use super::coupling::coupled;
use super::{Model, ScoreFunction};
use crate::data::Items;
use crate::error::{Error, Result};

/// How more than two classes are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassScheme {
    /// One-vs-one: a machine for every pair of classes; most votes win, and among equal votes the larger sum of scores.
    #[default]
    Ovo,
    /// One-vs-rest: a machine for every class; the largest score wins.
    Ovr,
    /// One machine with weights for every class, which pays for the largest lead that an item lacks; the largest score wins.
    CrammerSinger,
    /// The same, but it pays for every lead that an item lacks.
    WestonWatkins,
}

impl ClassScheme {
    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            ClassScheme::Ovo => "ovo",
            ClassScheme::Ovr => "ovr",
            ClassScheme::CrammerSinger => "crammer-singer",
            ClassScheme::WestonWatkins => "weston-watkins",
        }
    }

    /// All of them.
    pub const ALL: [ClassScheme; 4] =
        [ClassScheme::Ovo, ClassScheme::Ovr, ClassScheme::CrammerSinger, ClassScheme::WestonWatkins];

    /// Whether all classes are learnt at once, by one machine with weights for each of them.
    pub fn is_joint(self) -> bool {
        matches!(self, ClassScheme::CrammerSinger | ClassScheme::WestonWatkins)
    }

    /// The machines for so many classes, in order: what a score below 0 means, and what another one means. Two classes
    /// have one machine; where every class has one, there is no first class.
    pub fn machines(self, n_classes: usize) -> Vec<(Option<usize>, usize)> {
        match self {
            _ if n_classes <= 2 => vec![(Some(0), 1)],
            ClassScheme::Ovo => (0..n_classes).flat_map(|i| (i + 1..n_classes).map(move |j| (Some(i), j))).collect(),
            _ => (0..n_classes).map(|class| (None, class)).collect(),
        }
    }
}

/// The probability of the second class for a score s: 1/(1 + e^(−(slope·s + offset))).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sigmoid {
    /// At least 0, so that a larger score never means a smaller probability.
    pub slope: f64,
    /// What is added.
    pub offset: f64,
}

impl Sigmoid {
    /// The probability, which is neither 0 nor 1.
    pub fn of(self, score: f64) -> f64 {
        const LEAST: f64 = 1e-12;
        let x = self.slope * score + self.offset;
        let p = if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) };
        p.clamp(LEAST, 1.0 - LEAST)
    }
}

/// How the machines of a classifier are put together.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct ClassRule {
    /// How more than two classes are told apart.
    pub scheme: ClassScheme,
    /// How the scores of each machine become probabilities, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigmoids: Option<Vec<Sigmoid>>,
}

impl ClassRule {
    /// What the scores of all machines, item by item, say.
    pub(crate) fn verdicts(&self, machines: &[f64], n_classes: usize) -> ClassVerdicts {
        let scheme = self.scheme;
        let n_machines = match scheme {
            _ if n_classes <= 2 => 1,
            ClassScheme::Ovo => n_classes * (n_classes - 1) / 2,
            _ => n_classes,
        };
        let n_scores = if n_classes <= 2 { 1 } else { n_classes };
        let rows = machines.par_chunks(n_machines);
        let scores: Vec<f64> = match (n_classes, scheme) {
            (3.., ClassScheme::Ovo) => rows.clone().flat_map_iter(|row| votes(row, n_classes)).collect(),
            _ => machines.to_vec(),
        };
        let chances: Option<Vec<f64>> = self
            .sigmoids
            .as_ref()
            .map(|sigmoids| rows.flat_map_iter(|row| chances(row, sigmoids, scheme, n_classes)).collect());
        let classes = match &chances {
            Some(chances) => chances.chunks_exact(n_classes).map(largest).collect(),
            None if n_scores == 1 => scores.iter().map(|&score| u32::from(score >= 0.0)).collect(),
            None => scores.chunks_exact(n_classes).map(largest).collect(),
        };
        ClassVerdicts { classes, n_scores, scores, chances }
    }
}

/// What a classifier says of items.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassVerdicts {
    /// The number of each item's class: the most probable one where there are probabilities.
    pub classes: Vec<u32>,
    /// Scores of an item: one for two classes, else one for each class.
    pub n_scores: usize,
    /// Those of the first item, then those of the next.
    pub scores: Vec<f64>,
    /// Probabilities of all classes: those of the first item, then those of the next.
    pub chances: Option<Vec<f64>>,
}

impl ClassVerdicts {
    /// Adds what is said of more items.
    pub(crate) fn extend(&mut self, more: ClassVerdicts) {
        self.classes.extend(more.classes);
        self.scores.extend(more.scores);
        if let (Some(chances), Some(more)) = (&mut self.chances, more.chances) {
            chances.extend(more);
        }
    }
}

impl Model {
    /// What the classifier says of items; an error where this is no classifier.
    pub fn classify(&self, items: &Items) -> Result<ClassVerdicts> {
        let Some(classes) = &self.classes else {
            return Err(Error::Mismatch {
                problem: format!("a model of {} has no classes", self.training.method.name()),
                remedy: "train a classifier (--method classify)".into(),
            });
        };
        let machines = self.scorer.scores_of_machines(items)?;
        let plain = ClassRule::default();
        Ok(self.class_rule.as_ref().unwrap_or(&plain).verdicts(&machines, classes.len()))
    }

    /// Says what contradicts itself in the classes, if anything does.
    pub(super) fn check_classes(&self) -> std::result::Result<(), String> {
        let n_machines = self.scorer.function.n_machines();
        let Some(classes) = &self.classes else {
            let is_several = matches!(self.scorer.function, ScoreFunction::Several { .. });
            return match self.class_rule.is_some() || is_several {
                true => Err("there are machines for classes, but no classes".into()),
                false => Ok(()),
            };
        };
        let Some(rule) = &self.class_rule else {
            return match (classes.len(), n_machines) {
                (2, 1) => Ok(()),
                (found, _) => Err(format!("{found} classes for 2 expected")),
            };
        };
        let mut names: Vec<&String> = classes.iter().collect();
        names.sort();
        names.dedup();
        if names.len() != classes.len() || classes.len() < 2 {
            return Err(format!("{} classes of which {} differ", classes.len(), names.len()));
        }
        let n = classes.len();
        let expected = match rule.scheme {
            _ if n == 2 => Some(1),
            ClassScheme::Ovo => n.checked_mul(n - 1).map(|twice| twice / 2),
            _ => Some(n),
        };
        if expected != Some(n_machines) {
            return Err(format!("{n_machines} machines for {n} classes"));
        }
        let Some(sigmoids) = &rule.sigmoids else { return Ok(()) };
        if rule.scheme.is_joint() {
            return Err("machines that learn all classes at once have no probabilities".into());
        }
        let is_sound = |s: &Sigmoid| s.slope >= 0.0 && s.slope.is_finite() && s.offset.is_finite();
        if sigmoids.len() != n_machines || !sigmoids.iter().all(is_sound) {
            return Err("the rule of probabilities has impossible numbers".into());
        }
        Ok(())
    }
}

/// Votes for each class, and a part below ½ that orders classes of as many votes by the sum of their scores.
fn votes(machines: &[f64], n_classes: usize) -> Vec<f64> {
    let (mut votes, mut sums) = (vec![0.0; n_classes], vec![0.0; n_classes]);
    let pairs = (0..n_classes).flat_map(|i| (i + 1..n_classes).map(move |j| (i, j)));
    for ((i, j), &score) in pairs.zip(machines) {
        votes[if score >= 0.0 { j } else { i }] += 1.0;
        sums[i] -= score;
        sums[j] += score;
    }
    votes.iter().zip(sums).map(|(vote, sum)| vote + sum / (3.0 * (sum.abs() + 1.0))).collect()
}

/// Probabilities of all classes.
fn chances(machines: &[f64], sigmoids: &[Sigmoid], scheme: ClassScheme, n_classes: usize) -> Vec<f64> {
    let each: Vec<f64> = machines.iter().zip(sigmoids).map(|(&score, sigmoid)| sigmoid.of(score)).collect();
    match scheme {
        _ if n_classes == 2 => vec![1.0 - each[0], each[0]],
        ClassScheme::Ovo => coupled(&each, n_classes),
        _ => {
            let total: f64 = each.iter().sum();
            each.iter().map(|p| p / total).collect()
        }
    }
}

/// The place of the largest number; of equal ones the first.
fn largest(values: &[f64]) -> u32 {
    let mut best = 0;
    for (at, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = at;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_count_first_and_sums_decide_between_equals() {
        // Three classes that beat each other in a circle: 0 beats 1 by 3, 1 beats 2 by 1, 2 beats 0 by 1.
        let scores = votes(&[-3.0, 1.0, -1.0], 3);
        assert!(scores.iter().all(|s| (s - 1.0).abs() < 0.5));
        assert_eq!(largest(&scores), 0);
        // However large a score is, a vote more is more.
        assert_eq!(largest(&votes(&[-1e9, 0.1, 0.1], 3)), 2);
    }

    #[test]
    fn machines_of_pairs_come_in_the_order_of_their_classes() {
        let ovo = ClassScheme::Ovo.machines(3);
        assert_eq!(ovo, [(Some(0), 1), (Some(0), 2), (Some(1), 2)]);
        assert_eq!(ClassScheme::Ovr.machines(3), [(None, 0), (None, 1), (None, 2)]);
        assert_eq!(ClassScheme::Ovr.machines(2), [(Some(0), 1)]);
    }
}
