//! Items of three and more classes: the losses Σ_{k ≠ y} max(0, 1 − (f_y − f_k)) of items, f_k(x) = w_k·x + b_k, all together or one
//! drawn at a time (Weston and Watkins).
//!
//! b_k is the weight of a constant feature 1, which stands before the others; the weights of a feature for all classes stand
//! together, so that new features come last.

use super::{RandomTerms, SumPoint};
use crate::data::{Alias, Features, Random, Ranking};

/// Items that tell how long rows are.
const TELLING_ITEMS: usize = 1024;

/// An item that has a weight.
#[derive(Debug, Clone, Copy, Default)]
struct Example {
    row: u32,
    class: u32,
}

/// The items of a ranking with their classes, by the place of their label among all labels, ascending; groups say nothing here but
/// their weights.
fn examples(data: &Ranking, labels: &[f64]) -> (Vec<Example>, Vec<f64>) {
    let weight = |i: usize| data.weight(i) * data.group_weight(data.groups.numbers()[i] as usize);
    let class = |i: usize| labels.binary_search_by(|label| label.total_cmp(&(data.labels[i] + 0.0))).ok();
    let example = |i: usize| Some((Example { row: i as u32, class: class(i)? as u32 }, weight(i)));
    (0..data.n_items()).filter(|&i| weight(i) > 0.0).filter_map(example).unzip()
}

/// f_k of all classes.
fn scores(features: &Features, row: u32, weights: &[f64], scale: f64, out: &mut [f64]) {
    let k = out.len();
    out.copy_from_slice(&weights[..k]);
    features.for_each_in_row(row as usize, |column, value| {
        let of_feature = &weights[(1 + column) * k..][..k];
        out.iter_mut().zip(of_feature).for_each(|(out, weight)| *out += value * weight);
    });
    out.iter_mut().for_each(|score| *score *= scale);
}

/// Adds a row times a number for each class.
fn add_row(features: &Features, row: u32, factor: f64, numbers: &[f64], to: &mut [f64]) {
    let k = numbers.len();
    let add = |value: f64, to: &mut [f64]| to.iter_mut().zip(numbers).for_each(|(to, number)| *to += value * number);
    add(factor, &mut to[..k]);
    features.for_each_in_row(row as usize, |column, value| add(factor * value, &mut to[(1 + column) * k..][..k]));
}

/// The losses of items that are drawn by weight.
#[derive(Debug)]
pub(crate) struct ClassTerms<'a> {
    features: &'a Features,
    examples: Vec<Example>,
    alias: Option<Alias>,
    mass: f64,
    random: Random,
    drawn: Example,
    scores: Vec<f64>,
    /// What the drawn item wishes for each class.
    pulls: Vec<f64>,
}

impl<'a> ClassTerms<'a> {
    /// The items; `labels` are those of all classes, ascending.
    pub(crate) fn new(data: &'a Ranking, labels: &[f64]) -> Self {
        let (examples, weights) = examples(data, labels);
        let mass: f64 = weights.iter().sum();
        ClassTerms {
            features: &data.items.features,
            alias: (mass > 0.0 && mass.is_finite()).then(|| Alias::new(&weights)),
            examples,
            mass,
            random: Random::new(0),
            drawn: Example::default(),
            scores: vec![0.0; labels.len()],
            pulls: vec![0.0; labels.len()],
        }
    }

    /// Items with a weight above 0.
    pub(crate) fn n_items(&self) -> usize {
        self.examples.len()
    }

    /// The weights of all items.
    pub(crate) fn mass(&self) -> f64 {
        self.mass
    }

    /// Starts a stream of random numbers.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.random = Random::new(seed);
    }
}

impl RandomTerms for ClassTerms<'_> {
    fn draw(&mut self, direction: &[f64], scale: f64) -> bool {
        let Some(alias) = &self.alias else { return false };
        self.drawn = self.examples[alias.draw(&mut self.random)];
        let class = self.drawn.class as usize;
        scores(self.features, self.drawn.row, direction, scale, &mut self.scores);
        let needed = self.scores[class] - 1.0;
        let mut n_lacking = 0.0;
        for (pull, score) in self.pulls.iter_mut().zip(&self.scores) {
            *pull = if *score > needed { -1.0 } else { 0.0 };
            n_lacking -= *pull;
        }
        // Its own class has been counted, too.
        self.pulls[class] = n_lacking - 1.0;
        n_lacking > 1.0
    }

    fn descend(&mut self, direction: &mut [f64], factor: f64, other: Option<(&mut [f64], f64)>) {
        add_row(self.features, self.drawn.row, factor, &self.pulls, direction);
        if let Some((other, factor)) = other {
            add_row(self.features, self.drawn.row, factor, &self.pulls, other);
        }
    }

    /// A step moves all leads of an item at once: each by its own row, and by that of its class for all of them.
    fn mean_square(&mut self) -> f64 {
        let Some(alias) = &self.alias else { return 0.0 };
        let mut random = Random::new(0);
        let square = |_| {
            let example = self.examples[alias.draw(&mut random)];
            (1.0 + self.features.squared_distance(example.row, None)) / TELLING_ITEMS as f64
        };
        self.pulls.len() as f64 * (0..TELLING_ITEMS).map(square).sum::<f64>()
    }
}

/// The losses of all items, for certificates.
#[derive(Debug)]
pub(crate) struct ClassSums<'a> {
    features: &'a Features,
    examples: Vec<Example>,
    weights: Vec<f64>,
    n_classes: usize,
}

impl<'a> ClassSums<'a> {
    /// As [`ClassTerms::new`].
    pub(crate) fn new(data: &'a Ranking, labels: &[f64]) -> Self {
        let (examples, weights) = examples(data, labels);
        ClassSums { features: &data.items.features, examples, weights, n_classes: labels.len() }
    }

    /// C times the losses at given weights, the hinge rounded off over a width. One read of the data.
    pub(crate) fn at(&self, weights: &[f64], c: f64, width: f64) -> SumPoint {
        let mut point = SumPoint { gradient: vec![0.0; weights.len()], ..SumPoint::default() };
        let (mut scored, mut slopes) = (vec![0.0; self.n_classes], vec![0.0; self.n_classes]);
        for (&Example { row, class }, &weight) in self.examples.iter().zip(&self.weights) {
            scores(self.features, row, weights, 1.0, &mut scored);
            let (own, cost) = (class as usize, c * weight);
            slopes.fill(0.0);
            for k in (0..self.n_classes).filter(|&k| k != own) {
                let slack = 1.0 - (scored[own] - scored[k]);
                if slack > 0.0 {
                    let share = (slack / width).min(1.0);
                    point.meant += cost * slack;
                    // The dual variable cost·share makes up for cost·share·slack of the loss.
                    point.excess += cost * slack * (1.0 - share);
                    point.value += cost * if slack < width { 0.5 * slack * share } else { slack - 0.5 * width };
                    slopes[k] += cost * share;
                    slopes[own] -= cost * share;
                }
            }
            if slopes[own] < 0.0 {
                add_row(self.features, row, 1.0, &slopes, &mut point.gradient);
            }
        }
        point
    }
}
