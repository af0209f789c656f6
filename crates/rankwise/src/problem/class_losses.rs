//! Several classes told apart at once, a vector of weights for each: the losses of items and their dual variables.
//!
//! f_k(x) = w_k·x + b_k, b_k the weight of a constant feature 1; the lead of an item's class y over k is f_y − f_k:
//!
//!   Weston–Watkins   ½Σ‖(w_k, b_k)‖² + Σ c·Σ_{k ≠ y} max(0, m − lead_k)
//!   Crammer–Singer   ½Σ‖(w_k, b_k)‖² + Σ c·max(0, max_{k ≠ y} (m − lead_k))
//!
//! An item has a dual variable β_k for every other class, 0 ≤ β_k ≤ c, or 0 ≤ β_k with Σβ ≤ c. It adds (Σβ)·x to w_y and −β_k·x
//! to w_k, and m·Σβ to the dual value, from which ½Σ‖(w_k, b_k)‖² is subtracted. The gap is a sum over items of
//! c·loss − Σ β_k·(m − lead_k), none of which is below 0.

use rayon::prelude::*;

use super::class_rows::{self, LANES};
use super::{ClassBlocks, ClassItem, ClassLoss, ClassPoint};
use crate::data::{Features, Random, mix};

/// Most blocks of items that are summed side by side.
const BLOCKS: usize = 16;
/// Numbers other than 0 that a block has for each of the features: sums of blocks are as long as the weights.
const WORK: usize = 4;

/// The losses of items.
pub(crate) struct ClassLosses<'a> {
    features: &'a Features,
    items: Vec<ClassItem>,
    n_classes: usize,
    stride: usize,
    kind: ClassLoss,
    /// ‖(x, 1)‖² of each item.
    squares: Vec<f64>,
    /// Blocks in which weights are summed.
    n_blocks: usize,
    seed: u64,
}

impl<'a> ClassLosses<'a> {
    pub(crate) fn new(
        features: &'a Features,
        items: Vec<ClassItem>,
        n_classes: usize,
        kind: ClassLoss,
        seed: u64,
    ) -> Self {
        let mut n_numbers = 0;
        let square = |item: &ClassItem| {
            let mut sum = 1.0;
            features.for_each_in_row(item.row as usize, |_, value| {
                sum += value * value;
                n_numbers += usize::from(value != 0.0);
            });
            sum
        };
        let squares = items.iter().map(square).collect();
        // Zeros that are stored must make no difference.
        let n_blocks = (n_numbers / (WORK * (1 + features.n_cols()))).clamp(1, BLOCKS);
        ClassLosses {
            features,
            items,
            n_classes,
            stride: n_classes.next_multiple_of(LANES),
            kind,
            squares,
            n_blocks,
            seed,
        }
    }

    /// Weights of the features for a class, and its bias.
    pub(crate) fn of_class(&self, weights: &[f64], class: usize) -> (Vec<f64>, f64) {
        let of = weights.chunks_exact(self.stride).map(|of_feature| of_feature[class]);
        let mut all = of.collect::<Vec<f64>>();
        let bias = all.remove(0);
        (all, bias)
    }
}

impl ClassBlocks for ClassLosses<'_> {
    fn shuffle(&self, items: &mut [u32], round: u64) {
        let mut random = Random::new(mix(self.seed, round));
        for last in (1..items.len()).rev() {
            items.swap(last, random.below(last + 1));
        }
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn kind(&self) -> ClassLoss {
        self.kind
    }

    fn item(&self, at: usize) -> ClassItem {
        self.items[at]
    }

    fn square(&self, at: usize) -> f64 {
        self.squares[at]
    }

    fn n_weights(&self) -> usize {
        (1 + self.features.n_cols()) * self.stride
    }

    fn slacks(&self, at: usize, weights: &[f64], out: &mut [f64]) {
        let ClassItem { row, class, margin, .. } = self.items[at];
        class_rows::times(self.features, row as usize, weights, out);
        let lacking = margin - out[class as usize];
        out.iter_mut().for_each(|score| *score += lacking);
        out[class as usize] = f64::MIN;
        out[self.n_classes..].fill(f64::MIN);
    }

    fn add(&self, at: usize, numbers: &[f64], weights: &mut [f64]) {
        class_rows::add(self.features, self.items[at].row as usize, numbers, weights);
    }

    fn room(&self) -> Vec<f64> {
        vec![0.0; self.stride]
    }

    fn loss(&self, at: usize, slacks: &[f64], betas: &[f64]) -> (f64, f64) {
        let (sum, most, made) = class_rows::sums(slacks, betas);
        let loss = self.items[at].cost * if self.kind == ClassLoss::WestonWatkins { sum } else { most };
        (loss, loss - made)
    }

    fn certify(&self, betas: &[f64]) -> ClassPoint {
        let (n, k) = (self.items.len(), self.stride);
        let size = n.div_ceil(self.n_blocks).max(1);
        let blocks: Vec<usize> = (0..n).step_by(size).collect();
        let parts: Vec<(Vec<f64>, f64)> = blocks
            .par_iter()
            .map(|&first| {
                let (mut weights, mut numbers, mut total) = (vec![0.0; self.n_weights()], self.room(), 0.0);
                for at in first..(first + size).min(n) {
                    let betas = &betas[at * k..][..k];
                    let sum: f64 = betas.iter().sum();
                    if sum > 0.0 {
                        total += self.items[at].margin * sum;
                        numbers.iter_mut().zip(betas).for_each(|(number, beta)| *number = -beta);
                        numbers[self.items[at].class as usize] = sum;
                        self.add(at, &numbers, &mut weights);
                    }
                }
                (weights, total)
            })
            .collect();
        let mut parts = parts.into_iter();
        let (mut weights, mut total) = parts.next().unwrap_or_else(|| (vec![0.0; self.n_weights()], 0.0));
        for (part, sum) in parts {
            weights.iter_mut().zip(part).for_each(|(weight, part)| *weight += part);
            total += sum;
        }
        let half: f64 = 0.5 * weights.iter().map(|w| w * w).sum::<f64>();
        ClassPoint { primal: self.primal(&weights), dual: total - half, weights }
    }

    fn primal(&self, weights: &[f64]) -> f64 {
        let n = self.items.len();
        let size = n.div_ceil(BLOCKS).max(1);
        let blocks: Vec<usize> = (0..n).step_by(size).collect();
        let no_betas = self.room();
        let losses: Vec<f64> = blocks
            .par_iter()
            .map(|&first| {
                let (mut slacks, mut sum) = (self.room(), 0.0);
                for at in first..(first + size).min(n) {
                    self.slacks(at, weights, &mut slacks);
                    sum += self.loss(at, &slacks, &no_betas).0;
                }
                sum
            })
            .collect();
        0.5 * weights.iter().map(|w| w * w).sum::<f64>() + losses.into_iter().sum::<f64>()
    }
}
