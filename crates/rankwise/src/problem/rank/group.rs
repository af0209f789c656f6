//! One group at given scores: its losses, their slopes and their curvature, from sums over windows.
//!
//! With weights v, margin m and the pairs that lack it: d_i sums v over the worse partners of i, u_i over the better ones,
//! W x sums x over all partners. Then  M t = v∘((d + u)∘t − W(v∘t)),  e = v∘(d − u),  N = Σ v·d,  and
//!
//!   f1(m) = Σ (m − lead)  = m·N − e·s          slope −e
//!   f2(m) = Σ (m − lead)² = s·M s − 2m e·s + m²·N      slope 2(M s − m e),  curvature 2M
//!
//! over those pairs; no sum of squares is needed. The hinge rounded off over a width h (Huber, 1964) has a curvature in the
//! pairs that lack the margin 1 but not 1 − h: t²/(2h) for a slack t there, t − h/2 beyond. So it takes the same sums, over
//! the pairs between two margins; those are few where h is small, which is why they are summed on their own.

use super::label_tree::LabelTree;
use super::listed::{PairList, PairLoss};
use super::logistic;
use super::windows::{self, Graded, MOST_GRADES, falls_short};

/// Sums whose rounding may be more than this part of them are summed pair by pair, where that takes no more than so many pairs
/// for each item.
const NOISE: f64 = 1e-8;
const MOST_PAIRS_OF_ITEM: usize = 64;
/// How often to try for a partner before an item is left alone.
const MOST_TRIALS: usize = 64;

/// The loss of a pair as the sums see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// max(0, t)²
    SquaredHinge,
    /// max(0, t), rounded off over this width.
    Hinge(f64),
    /// log(1 + e^(t−1))
    Logistic,
    /// max(0, 1 − 2·lead): a pair whose lead falls short of ½ costs 1 for being swapped, less twice the lead. Of the many
    /// planes of which this is the largest, the slopes are those of one.
    Swapped,
}

impl Shape {
    /// The margins whose windows are asked for.
    fn margins(self) -> ([f64; 2], usize) {
        match self {
            Shape::Hinge(width) => ([1.0, 1.0 - width], 2),
            Shape::Swapped => ([0.5, 0.0], 1),
            _ => ([1.0, 0.0], 1),
        }
    }
}

/// The losses of a group, without C and the group's weight.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GroupLosses {
    /// What is minimised.
    pub(super) value: f64,
    /// The loss that is meant; differs from `value` where that is rounded off.
    pub(super) meant: f64,
    /// What the gap has beside ½‖gradient‖².
    pub(super) excess: f64,
    /// Of [`Shape::Swapped`]: the weight of the pairs that count as swapped, which is the plane's value at equal scores.
    pub(super) swapped: f64,
}

/// Items of a group in the order of the block, and what is known of their pairs at the last scores.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Place of its first item in the block.
    pub(super) start: usize,
    /// What its losses are multiplied with, beside C.
    pub(super) factor: f64,
    n_grades: usize,
    labels: Labels,
    /// Items in the order of scores.
    order: Vec<u32>,
    /// Grades in that order.
    sorted_grades: Vec<u8>,
    /// Ends of windows in that order, for each margin.
    ends: [WindowEnds; 2],
    /// Weights of the curved pairs of each item.
    degrees: Vec<f64>,
}

#[derive(Debug, Clone, Default)]
struct WindowEnds {
    low: Vec<u32>,
    high: Vec<u32>,
}

/// What the labels of a group are, beside their order.
#[derive(Debug, Clone)]
enum Labels {
    /// Few distinct ones.
    Grades(Vec<u8>),
    /// Many distinct ones.
    Tree(Box<LabelTree>),
    /// Items by label, and for each place where its label begins: for losses that have no windows.
    Sorted(logistic::ByLabel),
    /// Only some pairs count.
    Listed(PairList),
}

/// Buffers that groups take turns with.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// What is to be summed.
    x: Vec<f64>,
    /// Sums over all partners.
    partners: Vec<f64>,
    /// Sums of weights over worse and over better partners, for each margin.
    worse: [Vec<f64>; 2],
    better: [Vec<f64>; 2],
    /// The same in the order of scores: what is summed, and the two sums.
    sorted: [Vec<f64>; 3],
}

impl Scratch {
    fn reset(&mut self, n: usize, is_graded: bool) {
        let Scratch { x, partners, worse, better, sorted } = self;
        [x, partners].into_iter().for_each(|buffer| buffer.resize(n, 0.0));
        if is_graded {
            worse.iter_mut().chain(better).chain(sorted).for_each(|buffer| buffer.resize(n, 0.0));
        }
    }
}

impl Group {
    /// A group of at least two distinct labels. Equal labels are equal numbers, whatever their sign of zero.
    pub(super) fn new(start: usize, factor: f64, labels: &[f64], distinct: &[f64], needs_windows: bool) -> Self {
        let n = labels.len();
        let is_graded = distinct.len() <= MOST_GRADES;
        let labels = if !needs_windows {
            Labels::Sorted(logistic::ByLabel::new(labels))
        } else if is_graded {
            Labels::Grades(labels.iter().map(|label| distinct.partition_point(|d| d < label) as u8).collect())
        } else {
            Labels::Tree(Box::new(LabelTree::new(labels)))
        };
        let own = if needs_windows && is_graded { n } else { 0 };
        Group {
            start,
            factor,
            n_grades: distinct.len(),
            labels,
            order: (0..own as u32).collect(),
            sorted_grades: vec![0; own],
            ends: Default::default(),
            degrees: vec![0.0; n],
        }
    }

    /// A group of `n` items of whose pairs these count.
    pub(super) fn listed(start: usize, factor: f64, n: usize, pairs: PairList) -> Self {
        Group {
            start,
            factor,
            n_grades: 0,
            labels: Labels::Listed(pairs),
            order: Vec::new(),
            sorted_grades: Vec::new(),
            ends: Default::default(),
            degrees: vec![0.0; n],
        }
    }

    /// The least lead of a better item over a worse one, of groups whose pairs are listed.
    pub(super) fn least_listed_lead(&self, scores: &[f64]) -> Option<f64> {
        match &self.labels {
            Labels::Listed(pairs) => Some(pairs.least_lead(scores)),
            _ => None,
        }
    }

    /// Gives memory back that is soon made anew.
    pub(super) fn rest(&mut self) {
        if let Labels::Tree(tree) = &mut self.labels {
            tree.rest();
        }
    }

    /// Bytes it has at rest once it was gone to.
    pub(super) fn bytes(&self, shape: Shape) -> usize {
        let n = self.degrees.len();
        let n_margins = shape.margins().1;
        size_of::<Group>()
            + 8 * n
            + match &self.labels {
                Labels::Grades(_) => n * (2 + 4 + 8 * n_margins),
                Labels::Tree(tree) => tree.bytes(n_margins),
                Labels::Sorted(_) => 8 * n,
                Labels::Listed(pairs) => 16 * pairs.len() + 8 * n,
            }
    }

    /// Goes to new scores (finite ones): the losses, and their slopes with respect to each score.
    pub(super) fn go_to(
        &mut self,
        shape: Shape,
        scores: &[f64],
        weights: Option<&[f64]>,
        slopes: &mut [f64],
        scratch: &mut Scratch,
    ) -> GroupLosses {
        let n = scores.len();
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        if let Labels::Sorted(by_label) = &self.labels {
            return by_label.go_to(scores, weights, slopes, &mut self.degrees);
        }
        if let Labels::Listed(pairs) = &self.labels {
            return pairs.go_to(shape, scores, weights, slopes, &mut self.degrees);
        }
        scratch.reset(n, matches!(self.labels, Labels::Grades(_)));
        let (margins, n_margins) = shape.margins();
        let margins = &margins[..n_margins];
        self.find_windows(scores, weights, margins, scratch);
        // Over the curved pairs: e·s and N; over the pairs beyond them (of the smaller margin), too.
        let (mut along, mut pairs) = (0.0, 0.0);
        let (mut beyond_along, mut beyond_pairs) = (0.0, 0.0);
        for i in 0..n {
            let (mut worse, mut better) = (scratch.worse[0][i], scratch.better[0][i]);
            if n_margins == 2 {
                let (beyond_worse, beyond_better) = (scratch.worse[1][i], scratch.better[1][i]);
                beyond_along += weight(i) * (beyond_worse - beyond_better) * scores[i];
                beyond_pairs += weight(i) * beyond_worse;
                worse -= beyond_worse;
                better -= beyond_better;
            }
            let e = weight(i) * (worse - better);
            along += e * scores[i];
            pairs += weight(i) * worse;
            slopes[i] = -e;
            self.degrees[i] = worse + better;
        }
        if shape == Shape::Swapped {
            slopes.iter_mut().for_each(|slope| *slope *= 2.0);
            let value = (pairs - 2.0 * along).max(0.0);
            let largest = scores.iter().fold(0.0, |most: f64, score| most.max(score.abs()));
            let noise = 8.0 * f64::EPSILON * pairs * (1.0 + largest);
            let exact = if noise > NOISE * value { self.pair_by_pair(shape, scores, weights, slopes) } else { None };
            return exact.unwrap_or(GroupLosses { value, meant: value, excess: 0.0, swapped: pairs });
        }
        scratch.x.iter_mut().zip(scores).enumerate().for_each(|(i, (x, s))| *x = weight(i) * s);
        let mut partners = std::mem::take(&mut scratch.partners);
        self.partner_sums(n_margins, &mut partners, scratch);
        let (mut quadratic, mut largest) = (0.0, 0.0f64);
        for i in 0..n {
            let product = weight(i) * (self.degrees[i] * scores[i] - partners[i]);
            quadratic += scores[i] * product;
            slopes[i] += product;
            largest = largest.max(scores[i].abs());
        }
        scratch.partners = partners;
        // With t the slack of a curved pair: Σ t and Σ t².
        let (first, second) = ((pairs - along).max(0.0), (quadratic - 2.0 * along + pairs).max(0.0));
        // What floating point may have done to the sum of squares.
        let noise = 8.0 * f64::EPSILON * pairs * (1.0 + largest) * (1.0 + largest);
        match shape {
            Shape::Hinge(width) => {
                for (i, slope) in slopes.iter_mut().enumerate() {
                    *slope = *slope / width - weight(i) * (scratch.worse[1][i] - scratch.better[1][i]);
                }
                let beyond = beyond_pairs - beyond_along;
                GroupLosses {
                    value: second / (2.0 * width) + (beyond - 0.5 * width * beyond_pairs).max(0.0),
                    meant: first + beyond.max(0.0),
                    // The gap must not come out too small.
                    excess: first - (second - noise).clamp(0.0, width * first) / width,
                    swapped: 0.0,
                }
            }
            _ => {
                slopes.iter_mut().for_each(|slope| *slope *= 2.0);
                let exact =
                    if noise > NOISE * second { self.pair_by_pair(shape, scores, weights, slopes) } else { None };
                exact.unwrap_or(GroupLosses { value: second, meant: second, excess: 0.0, swapped: 0.0 })
            }
        }
    }

    /// The losses and their slopes from slacks themselves: where these are small, nothing is left of them in sums of scores that
    /// cancel. `None` where too many pairs lack the margin. Windows must have been found.
    fn pair_by_pair(
        &self,
        shape: Shape,
        scores: &[f64],
        weights: Option<&[f64]>,
        slopes: &mut [f64],
    ) -> Option<GroupLosses> {
        let margin = shape.margins().0[0];
        let (order, ranks): (&[u32], Vec<u32>) = match &self.labels {
            Labels::Grades(grades) => (&self.order, grades.iter().map(|&grade| u32::from(grade)).collect()),
            Labels::Tree(tree) => (tree.order(), tree.label_ranks()),
            Labels::Sorted(_) | Labels::Listed(_) => return None,
        };
        let mut behind = 0;
        let mut starts = Vec::with_capacity(order.len());
        for &item in order {
            let score = scores[item as usize];
            while order.get(behind).is_some_and(|&o| !falls_short(margin, score, scores[o as usize])) {
                behind += 1;
            }
            starts.push(behind);
        }
        let n_pairs: usize = starts.iter().map(|start| order.len() - start).sum();
        if n_pairs > MOST_PAIRS_OF_ITEM * order.len().max(MOST_PAIRS_OF_ITEM) {
            return None;
        }
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let mut losses = GroupLosses::default();
        slopes.fill(0.0);
        for (&item, &start) in order.iter().zip(&starts) {
            let i = item as usize;
            for &other in &order[start..] {
                let j = other as usize;
                if ranks[j] < ranks[i] {
                    let (cost, of_pair) = (weight(i) * weight(j), PairLoss::of(shape, scores[i], scores[j]));
                    losses.value += cost * of_pair.value.max(0.0);
                    losses.swapped += cost * of_pair.swapped;
                    slopes[i] += cost * of_pair.slope;
                    slopes[j] -= cost * of_pair.slope;
                }
            }
        }
        Some(GroupLosses { meant: losses.value, ..losses })
    }

    /// Slopes of the hinge itself at new scores (finite ones), a subgradient where it has a kink.
    pub(super) fn hinge_slopes(
        &mut self,
        scores: &[f64],
        weights: Option<&[f64]>,
        slopes: &mut [f64],
        scratch: &mut Scratch,
    ) {
        scratch.reset(scores.len(), matches!(self.labels, Labels::Grades(_)));
        self.find_windows(scores, weights, &[1.0], scratch);
        for (i, slope) in slopes.iter_mut().enumerate() {
            *slope = -weights.map_or(1.0, |w| w[i]) * (scratch.worse[0][i] - scratch.better[0][i]);
        }
    }

    /// Curvature times a change of the scores.
    pub(super) fn curvature_times(
        &mut self,
        shape: Shape,
        scores: &[f64],
        change: &[f64],
        weights: Option<&[f64]>,
        out: &mut [f64],
        scratch: &mut Scratch,
    ) {
        if let Labels::Sorted(by_label) = &self.labels {
            return by_label.curvature_times(scores, change, weights, out);
        }
        if let Labels::Listed(pairs) = &self.labels {
            pairs.curvature_times(shape, scores, change, weights, out);
            let factor = self.unit_of_curvature(shape);
            out.iter_mut().for_each(|product| *product *= factor);
            return;
        }
        scratch.reset(change.len(), matches!(self.labels, Labels::Grades(_)));
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        scratch.x.iter_mut().zip(change).enumerate().for_each(|(i, (x, t))| *x = weight(i) * t);
        self.partner_sums(shape.margins().1, out, scratch);
        let factor = self.unit_of_curvature(shape);
        for i in 0..change.len() {
            out[i] = factor * weight(i) * (self.degrees[i] * change[i] - out[i]);
        }
    }

    /// The diagonal of the curvature is this times weight times degree.
    pub(super) fn unit_of_curvature(&self, shape: Shape) -> f64 {
        match shape {
            Shape::SquaredHinge => 2.0,
            Shape::Hinge(width) => 1.0 / width,
            Shape::Logistic => 1.0,
            Shape::Swapped => 0.0,
        }
    }

    /// For each item, the weights of the partners with which it has a curvature.
    pub(super) fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// A partner of an item with which it has a curvature, drawn by weight and curvature; `random` gives numbers below 1.
    pub(super) fn draw_partner(
        &self,
        shape: Shape,
        item: usize,
        scores: &[f64],
        labels: impl Fn(usize) -> f64,
        weights: Option<&[f64]>,
        mut random: impl FnMut() -> f64,
    ) -> Option<usize> {
        let order = match &self.labels {
            Labels::Grades(_) => &self.order,
            Labels::Tree(tree) => tree.order(),
            Labels::Sorted(by_label) => by_label.items(),
            Labels::Listed(pairs) => return pairs.draw_partner(shape, item, scores, weights, random()),
        };
        let n = order.len();
        let score = scores[item];
        // Worse partners stand in the first range, better ones in the second.
        let (worse, better) = match shape {
            Shape::Logistic => (0..n, 0..n),
            _ => {
                let (margins, n_margins) = shape.margins();
                let behind = |m: f64| order.partition_point(|&o| !falls_short(m, score, scores[o as usize]));
                let before = |m: f64| order.partition_point(|&o| falls_short(m, scores[o as usize], score));
                match n_margins {
                    1 => (behind(margins[0])..n, 0..before(margins[0])),
                    _ => (behind(margins[0])..behind(margins[1]), before(margins[1])..before(margins[0])),
                }
            }
        };
        let heaviest = weights.map_or(1.0, |w| w.iter().fold(0.0, |most: f64, &w| most.max(w)));
        for _ in 0..MOST_TRIALS {
            let at = (random() * (worse.len() + better.len()) as f64) as usize;
            let (place, is_worse) = match at.checked_sub(worse.len()) {
                None => (worse.start + at, true),
                Some(at) => (better.start + at, false),
            };
            let other = *order.get(place)? as usize;
            let (mine, its) = (labels(item), labels(other));
            if if is_worse { its < mine } else { its > mine } {
                let share = match shape {
                    Shape::Logistic => 4.0 * logistic::curvature(score - scores[other]),
                    _ => 1.0,
                };
                if random() * heaviest < weights.map_or(1.0, |w| w[other]) * share {
                    return Some(other);
                }
            }
        }
        None
    }

    /// Windows for new scores; sums of weights over partners go to `scratch`, one pair of buffers per margin.
    fn find_windows(&mut self, scores: &[f64], weights: Option<&[f64]>, margins: &[f64], scratch: &mut Scratch) {
        match &mut self.labels {
            Labels::Tree(tree) => {
                for (which, sums) in tree.find_windows(scores, weights, margins).into_iter().enumerate() {
                    (scratch.worse[which], scratch.better[which]) = (sums.worse, sums.better);
                }
            }
            Labels::Grades(grades) => {
                let n = scores.len();
                windows::sort_by_score(scores, &mut self.order);
                let [sorted, sorted_worse, sorted_better] = &mut scratch.sorted;
                for ((&item, score), grade) in self.order.iter().zip(sorted.iter_mut()).zip(&mut self.sorted_grades) {
                    *score = scores[item as usize];
                    *grade = grades[item as usize];
                }
                for (ends, &margin) in self.ends.iter_mut().zip(margins) {
                    ends.low.resize(n, 0);
                    ends.high.resize(n, 0);
                    windows::find_windows(margin, sorted, &mut ends.low, &mut ends.high);
                }
                for (weight, &item) in sorted.iter_mut().zip(&self.order) {
                    *weight = weights.map_or(1.0, |w| w[item as usize]);
                }
                for (which, ends) in self.ends[..margins.len()].iter().enumerate() {
                    let graded = Graded { grades: &self.sorted_grades, low: &ends.low, high: &ends.high };
                    graded.sums(self.n_grades, sorted, sorted_worse, sorted_better);
                    for (at, &item) in self.order.iter().enumerate() {
                        scratch.worse[which][item as usize] = sorted_worse[at];
                        scratch.better[which][item as usize] = sorted_better[at];
                    }
                }
            }
            Labels::Sorted(_) | Labels::Listed(_) => {}
        }
    }

    /// For every item, the sum of `scratch.x` over its (curved) partners.
    fn partner_sums(&mut self, n_margins: usize, out: &mut [f64], scratch: &mut Scratch) {
        match &mut self.labels {
            Labels::Tree(tree) => tree.partner_sums(n_margins, &scratch.x, out),
            Labels::Grades(_) => {
                let [sorted, worse, better] = &mut scratch.sorted;
                self.order.iter().zip(sorted.iter_mut()).for_each(|(&item, to)| *to = scratch.x[item as usize]);
                for (which, ends) in self.ends[..n_margins].iter().enumerate() {
                    let graded = Graded { grades: &self.sorted_grades, low: &ends.low, high: &ends.high };
                    graded.sums(self.n_grades, sorted, worse, better);
                    for ((&item, worse), better) in self.order.iter().zip(worse.iter()).zip(better.iter()) {
                        let sum = worse + better;
                        let to = &mut out[item as usize];
                        *to = if which == 0 { sum } else { *to - sum };
                    }
                }
            }
            Labels::Sorted(_) | Labels::Listed(_) => {}
        }
    }
}
