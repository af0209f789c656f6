//! A part of judged pairs that are spread over several, asked by somebody far away.

use std::borrow::Cow;

use super::{Costs, Hinge, Offset, PairSums, Rule};
use crate::data::{Comparisons, Features, Outcome, Pair, mix};
use crate::error::Result;
use crate::math::add_multiple;
use crate::problem::BlockSums;
use crate::problem::spread::{Answer, Ask, ListedRows, Question, misunderstood, products, put_row};
use crate::problem::threshold::{change, part_of};

/// Pairs with all that is known of them, and where they were sent last.
pub(crate) struct PairPart {
    sums: PairSums<'static>,
    /// Which part it is.
    number: usize,
    /// The weights that `sums` stands at, and the direction it aims at.
    place: Option<Vec<f64>>,
    direction: Option<Vec<f64>>,
}

impl PairPart {
    /// Makes ready; every pair has a weight above 0.
    pub(crate) fn new(data: &Comparisons, number: usize) -> Self {
        let features = data.set.items.features.clone();
        let rows = Cow::Owned(data.set.item_order());
        let (pairs, outcomes) = (Cow::Owned(data.set.pairs.clone()), Cow::Owned(data.outcomes.clone()));
        let costs = Costs::Factors { weights: data.weights.clone().map(Cow::Owned), tie: 1.0, other: 1.0 };
        let sums = PairSums::of_parts(Cow::Owned(features), rows, pairs, outcomes, costs, Rule::Davidson, None);
        PairPart { sums, number, place: None, direction: None }
    }

    /// Answers a question. Its numbers: what losses of ties and of others are multiplied with, the rule, the width that the
    /// hinge is rounded off over, β, the size of the step; then whatever else it takes.
    pub(crate) fn answer(&mut self, question: &Question) -> Result<Answer> {
        let Question { ask, weights, direction, numbers } = question;
        let (&[of_ties, of_others, rule, width, beta, step], more) =
            numbers.split_first_chunk().ok_or_else(misunderstood)?;
        let dim = self.sums.n_columns();
        let has_weights = weights.len() == dim || (weights.is_empty() && *ask == Ask::Thinned);
        let has_direction = direction.is_empty() || direction.len() == dim;
        if !has_weights || !has_direction || (*ask == Ask::Times && direction.is_empty()) {
            return Err(misunderstood());
        }
        if let Costs::Factors { tie, other, .. } = &mut self.sums.costs {
            (*tie, *other) = (of_ties, of_others);
        }
        self.sums.rule = Rule::of_code(rule, width).ok_or_else(misunderstood)?;
        if *ask == Ask::Thinned {
            let (&[level, n_all], starts) = more.split_first_chunk().ok_or_else(misunderstood)?;
            let &first = starts.get(self.number).ok_or_else(misunderstood)?;
            return Ok(Answer { list: self.thinned(level as u32, n_all as u64, first as u64), ..Answer::default() });
        }
        if self.place.as_ref() != Some(weights) {
            self.sums.here.way = self.sums.way(weights);
            self.place = Some(weights.clone());
        }
        if !direction.is_empty() && self.direction.as_ref() != Some(direction) {
            self.sums.aimed = self.sums.way(direction);
            self.direction = Some(direction.clone());
        }
        self.sums.here.offset = Offset { beta, is_free: false, stiffness: 0.0 };
        if step == 0.0 {
            return self.answer_here(*ask, more);
        }
        // After a step, and back.
        let way = self.sums.stepped(step);
        let from = std::mem::replace(&mut self.sums.here.way, way);
        let answer = self.answer_here(*ask, more);
        self.sums.here.way = from;
        answer
    }

    fn answer_here(&self, ask: Ask, more: &[f64]) -> Result<Answer> {
        let sums = &self.sums;
        let way = &sums.here.way;
        let dim = sums.n_columns();
        let added = |sums: Vec<f64>| Ok(Answer { sums, ..Answer::default() });
        match ask {
            Ask::Point => {
                let point = sums.look();
                let values = vec![point.value, point.meant, point.excess];
                added([values, point.gradient, self.tilt(), self.pulls(more)].concat())
            }
            // With β fixed.
            Ask::Times => added(sums.curvature_times(&sums.aimed, 0.0)),
            Ask::Diagonal => added(sums.about_diagonal()),
            Ask::Curved => {
                let curved = sums.curved().into_iter().fold((0.0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
                Ok(Answer { list: vec![curved.0, curved.1 as f64], ..Answer::default() })
            }
            Ask::Sketch => {
                let (&spacing, starts) = more.split_first().ok_or_else(misunderstood)?;
                let before = *starts.get(self.number).ok_or_else(misunderstood)?;
                let drawn = sums.draw(&sums.curved(), before, spacing);
                let (mut tilt, mut stiffness) = (vec![0.0; dim], 0.0);
                let matrix = products(dim, |take| {
                    for some in drawn.chunks(1024) {
                        let (vectors, shares) = sums.vectors_with_shares(some);
                        for (vector, [first, second]) in vectors.chunks_exact(dim).zip(shares) {
                            add_multiple(&mut tilt, first, vector);
                            stiffness += first * first + second * second;
                        }
                        take(&vectors);
                    }
                });
                added([vec![stiffness], tilt, matrix].concat())
            }
            Ask::Along => {
                let (value, slope) = sums.slope_along();
                added([vec![value, slope], self.pulls(more)].concat())
            }
            Ask::Facts => {
                let &threshold = more.first().ok_or_else(misunderstood)?;
                let (mut predicted, mut largest) = (0.0, 0.0_f64);
                for k in 0..sums.pairs.len() {
                    let size = sums.margin(way, k).abs();
                    largest = largest.max(size);
                    predicted += if size <= threshold { self.weight(k) } else { 0.0 };
                }
                let sums = vec![sums.n_support() as f64, predicted];
                Ok(Answer { sums, most: vec![largest], ..Answer::default() })
            }
            Ask::Sizes => {
                let spacing = more.first().map_or(1, |&spacing| spacing.max(1.0) as usize);
                let list = (0..sums.pairs.len()).step_by(spacing).map(|k| sums.margin(way, k).abs()).collect();
                Ok(Answer { list, ..Answer::default() })
            }
            Ask::Moves => {
                let mut moves = vec![0.0; 2 * (more.len() + 1)];
                for k in 0..sums.pairs.len() {
                    let (size, change) = self.size(k);
                    moves[2 * part_of(more, size) + usize::from(change >= 0.0)] += change;
                }
                added(moves)
            }
            Ask::Within => {
                let &[low, high] = more.first_chunk().ok_or_else(misunderstood)?;
                let all = (0..sums.pairs.len()).map(|k| self.size(k)).filter(|(size, _)| (low..high).contains(size));
                Ok(Answer { list: all.flat_map(|(size, change)| [size, change]).collect(), ..Answer::default() })
            }
            Ask::Survey | Ask::Thinned => Err(misunderstood()),
        }
    }

    /// Slopes in β at some places.
    fn pulls(&self, places: &[f64]) -> Vec<f64> {
        let pulls = places.iter().map(|&beta| self.sums.pull(&self.sums.here.way, beta));
        pulls.flat_map(|pull| [pull.slope, pull.stiffness, pull.size]).collect()
    }

    /// How large a difference is, and how the error moves where a threshold passes it.
    fn size(&self, k: usize) -> (f64, f64) {
        let (sums, pair) = (&self.sums, self.sums.pairs[k]);
        let scores = &sums.here.way.scores;
        let margin = scores[pair.right as usize] - scores[pair.left as usize];
        (margin.abs(), change(sums.outcomes[k], margin, self.weight(k)))
    }

    /// The pair's own weight.
    fn weight(&self, k: usize) -> f64 {
        match &self.sums.costs {
            Costs::Factors { weights: Some(weights), .. } => weights[k],
            _ => 1.0,
        }
    }

    /// Derivatives of the slope in β by weights.
    fn tilt(&self) -> Vec<f64> {
        let sums = &self.sums;
        if !sums.rule.has_offset() {
            return vec![0.0; sums.n_columns()];
        }
        super::with_loss!(sums.rule, loss => sums.combine(|k| {
            if sums.counts(k) { (sums.local(loss, k).zb, 0.0) } else { (0.0, 0.0) }
        }))
    }

    /// Some pairs with all that is theirs, as [`GatheredPairs`] reads them.
    fn thinned(&self, level: u32, n_all: u64, first: u64) -> Vec<f64> {
        let mut out = Vec::new();
        let keep = |k: u64| mix(n_all, k).is_multiple_of(super::THINNING.pow(level));
        for (k, pair) in self.sums.pairs.iter().enumerate().filter(|&(k, _)| keep(first + k as u64)) {
            out.extend([f64::from(self.sums.outcomes[k].sign()), self.weight(k)]);
            for item in [pair.left, pair.right] {
                put_row(&self.sums.features, item as usize, &mut out);
            }
        }
        out
    }
}

/// Pairs that parts have listed, every side an item.
pub(crate) struct GatheredPairs {
    features: Features,
    outcomes: Vec<Outcome>,
    weights: Vec<f64>,
}

impl GatheredPairs {
    /// Reads what parts list; `None` if it is nothing.
    pub(crate) fn read(list: &[f64], n_cols: usize) -> Option<Self> {
        let mut numbers = list.iter().copied();
        let mut rows = ListedRows::new(n_cols);
        let (mut outcomes, mut weights) = (Vec::new(), Vec::new());
        while let Some(sign) = numbers.next() {
            outcomes.push(Outcome::ALL.into_iter().find(|outcome| f64::from(outcome.sign()) == sign)?);
            weights.push(numbers.next()?);
            rows.take(&mut numbers)?;
            rows.take(&mut numbers)?;
        }
        Some(GatheredPairs { features: rows.features()?, outcomes, weights })
    }

    /// How many there are, and how many of them are ties.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.outcomes.len(), self.outcomes.iter().filter(|&&outcome| outcome == Outcome::Tie).count())
    }

    /// The sum over them, with features divided; `costs` are those of ties and of others, `all` what all pairs cost.
    pub(crate) fn sums(&self, divided: Option<&Features>, rule: Rule, costs: [f64; 2], all: f64) -> PairSums<'_> {
        let n = self.outcomes.len();
        let cost = |k: usize| self.weights[k] * costs[usize::from(self.outcomes[k] != Outcome::Tie)];
        let each: Vec<f64> = (0..n).map(cost).collect();
        let share = all / each.iter().sum::<f64>();
        let pairs = (0..n as u32).map(|k| Pair { left: 2 * k, right: 2 * k + 1 }).collect();
        let features = divided.unwrap_or(&self.features).clone();
        let mut sums = PairSums::of_parts(
            Cow::Owned(features),
            Cow::Owned((0..2 * n as u32).collect()),
            Cow::Owned(pairs),
            Cow::Borrowed(&self.outcomes),
            Costs::Each(Cow::Owned(each)),
            rule,
            None,
        );
        sums.set_c(share);
        sums
    }

    /// The features.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }
}
