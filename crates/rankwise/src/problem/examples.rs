//! Items of two classes: the hinge losses of  y·(w·x + b)  with a lead of 1, y = ±1, all together or one drawn at a time.
//!
//! b is the weight of a constant feature 1, which stands before the others: weights are (b, w), and b is penalised as w is.

use super::{RandomTerms, SumPoint};
use crate::data::{Alias, Features, Random, Ranking};

/// Items that are drawn ahead, so that their rows can be fetched in time.
const AHEAD: usize = 256;
/// How far ahead rows are asked for.
const FETCHED: usize = 8;
/// Items that tell how long rows are.
const TELLING_ITEMS: usize = 1024;

/// An item that has a weight.
#[derive(Debug, Clone, Copy)]
struct Example {
    row: u32,
    /// ±1
    sign: f64,
}

/// The items of a ranking as examples; groups say nothing here but their weights.
fn examples(data: &Ranking, positive: f64) -> (Vec<Example>, Vec<f64>) {
    let weight = |i: usize| data.weight(i) * data.group_weight(data.groups.numbers()[i] as usize);
    let present = (0..data.n_items()).filter(|&i| weight(i) > 0.0);
    let sign = |i: usize| if data.labels[i] == positive { 1.0 } else { -1.0 };
    present.map(|i| (Example { row: i as u32, sign: sign(i) }, weight(i))).unzip()
}

/// The losses of items that are drawn by weight.
#[derive(Debug)]
pub(crate) struct ExampleTerms<'a> {
    features: &'a Features,
    examples: Vec<Example>,
    alias: Option<Alias>,
    mass: f64,
    random: Random,
    ahead: Vec<Example>,
    next: usize,
    drawn: Example,
}

impl<'a> ExampleTerms<'a> {
    /// The items; those with the label `positive` are to have scores above 0, all others below.
    pub(crate) fn new(data: &'a Ranking, positive: f64) -> Self {
        let (examples, weights) = examples(data, positive);
        let mass: f64 = weights.iter().sum();
        ExampleTerms {
            features: &data.items.features,
            alias: (mass > 0.0 && mass.is_finite()).then(|| Alias::new(&weights)),
            examples,
            mass,
            random: Random::new(0),
            ahead: Vec::new(),
            next: 0,
            drawn: Example { row: 0, sign: 1.0 },
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
        self.ahead.clear();
        self.next = 0;
    }

    fn fetch(&self, at: usize) {
        if let Some(example) = self.ahead.get(at) {
            self.features.prefetch(example.row);
        }
    }

    #[cold]
    fn draw_ahead(&mut self) {
        self.ahead.clear();
        if let Some(alias) = &self.alias {
            self.ahead.extend((0..AHEAD).map(|_| self.examples[alias.draw(&mut self.random)]));
        }
        self.next = 0;
        (0..FETCHED).for_each(|at| self.fetch(at));
    }
}

fn score(features: &Features, row: u32, weights: &[f64]) -> f64 {
    let Some((bias, weights)) = weights.split_first() else { return 0.0 };
    let mut score = [0.0];
    features.times_rows(&[row], &weights[..features.n_cols()], &mut score);
    score[0] + bias
}

fn add_row(features: &Features, row: u32, factor: f64, to: &mut [f64]) {
    if let Some((bias, weights)) = to.split_first_mut() {
        *bias += factor;
        features.add_rows(&[row], &[factor], &mut weights[..features.n_cols()]);
    }
}

impl RandomTerms for ExampleTerms<'_> {
    #[inline]
    fn draw(&mut self, direction: &[f64], scale: f64) -> bool {
        if self.next >= self.ahead.len() {
            self.draw_ahead();
        }
        self.fetch(self.next + FETCHED);
        let Some(&drawn) = self.ahead.get(self.next) else { return false };
        self.next += 1;
        self.drawn = drawn;
        drawn.sign * scale * score(self.features, drawn.row, direction) < 1.0
    }

    #[inline]
    fn descend(&mut self, direction: &mut [f64], factor: f64, other: Option<(&mut [f64], f64)>) {
        let Example { row, sign } = self.drawn;
        add_row(self.features, row, sign * factor, direction);
        if let Some((other, factor)) = other {
            add_row(self.features, row, sign * factor, other);
        }
    }

    fn mean_square(&mut self) -> f64 {
        let Some(alias) = &self.alias else { return 0.0 };
        let mut random = Random::new(0);
        let square = |_| {
            let example = self.examples[alias.draw(&mut random)];
            (1.0 + self.features.squared_distance(example.row, None)) / TELLING_ITEMS as f64
        };
        (0..TELLING_ITEMS).map(square).sum()
    }
}

/// The losses of all items, for certificates.
#[derive(Debug)]
pub(crate) struct ExampleSums<'a> {
    features: &'a Features,
    examples: Vec<Example>,
    weights: Vec<f64>,
}

impl<'a> ExampleSums<'a> {
    /// As [`ExampleTerms::new`].
    pub(crate) fn new(data: &'a Ranking, positive: f64) -> Self {
        let (examples, weights) = examples(data, positive);
        ExampleSums { features: &data.items.features, examples, weights }
    }

    /// C times the losses at given weights (b, w), the hinge rounded off over a width. One read of the data.
    pub(crate) fn at(&self, weights: &[f64], c: f64, width: f64) -> SumPoint {
        let mut point = SumPoint { gradient: vec![0.0; weights.len()], ..SumPoint::default() };
        for (&Example { row, sign }, &weight) in self.examples.iter().zip(&self.weights) {
            let slack = 1.0 - sign * score(self.features, row, weights);
            let (cost, share) = (c * weight, (slack / width).clamp(0.0, 1.0));
            if slack > 0.0 {
                point.meant += cost * slack;
                // The dual variable cost·share makes up for cost·share·slack of the loss.
                point.excess += cost * slack * (1.0 - share);
                point.value += cost * if slack < width { 0.5 * slack * share } else { slack - 0.5 * width };
                add_row(self.features, row, -cost * share * sign, &mut point.gradient);
            }
        }
        point
    }
}
