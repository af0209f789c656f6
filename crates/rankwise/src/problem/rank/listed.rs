//! A group some of whose pairs count, which are listed: O(pairs), whatever the loss.

use super::group::{GroupLosses, Shape};
use super::logistic;
use super::windows::falls_short;
use crate::data::draw_partners;

/// Pairs (better, worse) of a group, as places of items.
#[derive(Debug, Clone)]
pub(super) struct PairList {
    pairs: Vec<(u32, u32)>,
    /// The pairs of every item: those of item `i` are `of_items[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    of_items: Vec<u32>,
}

/// How pairs are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Draw {
    /// Partners of every item.
    pub(crate) per_item: usize,
    pub(crate) seed: u64,
}

impl PairList {
    /// Draws the pairs of a group; `labels` are those of `items`.
    pub(super) fn draw(draw: Draw, items: &[u32], labels: &[f64]) -> Self {
        let pairs = draw_partners(items, labels, draw.per_item, draw.seed);
        let mut starts = vec![0u32; items.len() + 1];
        pairs.iter().for_each(|&(i, j)| [i, j].into_iter().for_each(|item| starts[item as usize + 1] += 1));
        for item in 0..items.len() {
            starts[item + 1] += starts[item];
        }
        let mut next = starts.clone();
        let mut of_items = vec![0; 2 * pairs.len()];
        for (number, &(i, j)) in pairs.iter().enumerate() {
            for item in [i, j] {
                of_items[next[item as usize] as usize] = number as u32;
                next[item as usize] += 1;
            }
        }
        PairList { pairs, starts, of_items }
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Σ v_i·v_j
    pub(super) fn mass(&self, weights: Option<&[f64]>) -> f64 {
        self.pairs.iter().map(|&pair| cost(pair, weights)).sum()
    }

    /// The least lead of a better item over a worse one.
    pub(super) fn least_lead(&self, scores: &[f64]) -> f64 {
        let lead = |&(i, j): &(u32, u32)| scores[i as usize] - scores[j as usize];
        self.pairs.iter().map(lead).fold(f64::INFINITY, f64::min)
    }

    /// The losses, their slopes, and for every item Σ v_j over the curved pairs (of the logistic loss: times the curvature).
    pub(super) fn go_to(
        &self,
        shape: Shape,
        scores: &[f64],
        weights: Option<&[f64]>,
        slopes: &mut [f64],
        degrees: &mut [f64],
    ) -> GroupLosses {
        let mut total = GroupLosses::default();
        slopes.fill(0.0);
        degrees.fill(0.0);
        let weight = |item: u32| weights.map_or(1.0, |w| w[item as usize]);
        for &(i, j) in &self.pairs {
            let (better, worse) = (scores[i as usize], scores[j as usize]);
            let cost = weight(i) * weight(j);
            let of_pair = PairLoss::of(shape, better, worse);
            total.value += cost * of_pair.value;
            total.meant += cost * of_pair.meant;
            total.excess += cost * of_pair.excess;
            total.swapped += cost * of_pair.swapped;
            slopes[i as usize] += cost * of_pair.slope;
            slopes[j as usize] -= cost * of_pair.slope;
            let share = curved_share(shape, better, worse);
            degrees[i as usize] += weight(j) * share;
            degrees[j as usize] += weight(i) * share;
        }
        total
    }

    /// Curvature times a change of the scores, without the unit of curvature.
    pub(super) fn curvature_times(
        &self,
        shape: Shape,
        scores: &[f64],
        change: &[f64],
        weights: Option<&[f64]>,
        out: &mut [f64],
    ) {
        out.fill(0.0);
        for &(i, j) in &self.pairs {
            let share = curved_share(shape, scores[i as usize], scores[j as usize]);
            let part = cost((i, j), weights) * share * (change[i as usize] - change[j as usize]);
            out[i as usize] += part;
            out[j as usize] -= part;
        }
    }

    /// A partner of an item with which it has a curvature, drawn by weight and curvature.
    pub(super) fn draw_partner(
        &self,
        shape: Shape,
        item: usize,
        scores: &[f64],
        weights: Option<&[f64]>,
        random: f64,
    ) -> Option<usize> {
        let own = &self.of_items[self.starts[item] as usize..self.starts[item + 1] as usize];
        let partner = |&pair: &u32| {
            let (i, j) = self.pairs[pair as usize];
            let other = if i as usize == item { j } else { i } as usize;
            let share = curved_share(shape, scores[i as usize], scores[j as usize]);
            (other, share * weights.map_or(1.0, |w| w[other]))
        };
        let total: f64 = own.iter().map(|pair| partner(pair).1).sum();
        let mut left = random * total;
        let mut last = None;
        for (other, share) in own.iter().map(partner).filter(|(_, share)| *share > 0.0) {
            left -= share;
            last = Some(other);
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

fn cost((i, j): (u32, u32), weights: Option<&[f64]>) -> f64 {
    weights.map_or(1.0, |w| w[i as usize] * w[j as usize])
}

/// The curvature of a pair in its unit.
fn curved_share(shape: Shape, better: f64, worse: f64) -> f64 {
    let lacks = |margin: f64| falls_short(margin, better, worse);
    let is_curved = match shape {
        Shape::SquaredHinge => lacks(1.0),
        Shape::Hinge(width) => lacks(1.0) && !lacks(1.0 - width),
        Shape::Logistic => return logistic::curvature(better - worse),
        Shape::Swapped => false,
    };
    f64::from(is_curved)
}

/// The loss of a pair, its slope in the lead, and what it adds to the rest.
pub(super) struct PairLoss {
    pub(super) value: f64,
    pub(super) slope: f64,
    meant: f64,
    excess: f64,
    pub(super) swapped: f64,
}

impl PairLoss {
    pub(super) fn of(shape: Shape, better: f64, worse: f64) -> Self {
        let lead = better - worse;
        let t = (1.0 - lead).max(0.0);
        let plain = |value: f64, slope: f64| PairLoss { value, slope, meant: value, excess: 0.0, swapped: 0.0 };
        match shape {
            Shape::SquaredHinge => plain(t * t, -2.0 * t),
            Shape::Hinge(width) => {
                let curved = t.min(width);
                PairLoss {
                    value: if t <= width { t * t / (2.0 * width) } else { t - 0.5 * width },
                    slope: -curved / width,
                    meant: t,
                    excess: curved * (1.0 - curved / width),
                    swapped: 0.0,
                }
            }
            Shape::Logistic => {
                let value = (-lead).max(0.0) + (-lead.abs()).exp().ln_1p();
                plain(value, -1.0 / (1.0 + lead.exp()))
            }
            Shape::Swapped => {
                let is_swapped = f64::from(falls_short(0.5, better, worse));
                let value = is_swapped * (1.0 - 2.0 * lead);
                PairLoss { swapped: is_swapped, ..plain(value, -2.0 * is_swapped) }
            }
        }
    }
}
