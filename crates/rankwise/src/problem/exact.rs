//! Margins in f64, straight from the coefficients of pairs: what certificates are made of.

use super::gram::PairGram;
use crate::data::{Comparisons, Features, Pair};
use crate::error::Result;
use crate::kernel::{ItemBlocks, ItemRows, KernelFunction};
use crate::loss::Loss;

/// A kernel on the items of given pairs. One of these serves all problems on the same pairs.
#[derive(Debug)]
pub(crate) struct Exact<'a> {
    kernel: KernelFunction,
    data: &'a Comparisons,
    values: Values,
}

#[derive(Debug)]
enum Values {
    /// Scores are products with weights.
    Linear,
    /// Scores are sums of kernel values.
    Blocks(ItemBlocks<f64>),
    /// Margins are sums of kernel values over pairs; blocks for the pairs that are not in the matrix.
    Gram(PairGram, Option<ItemBlocks<f64>>),
}

/// A pair that may have a coefficient: its items, and its row in the matrix over pairs, with its sign there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Direction {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) row: u32,
    pub(super) sign: f64,
}

impl<'a> Exact<'a> {
    /// Of the pairs the first `n_learnt` may have coefficients. Where the matrix over pairs is small and of use for one of
    /// the losses, it is formed, from `shared` products of items. Values that leave the range of numbers are an error.
    pub(crate) fn new(
        kernel: KernelFunction,
        losses: &[Loss],
        data: &'a Comparisons,
        n_learnt: usize,
        shared: &ItemRows,
    ) -> Result<Self> {
        let items = &data.set.items.features;
        let is_linear = kernel == KernelFunction::Linear;
        // Linear machines with a smooth loss are solved in their weights.
        let gram = if is_linear && !losses.contains(&Loss::Hinge) {
            None
        } else {
            PairGram::new(kernel, items, shared, &data.set.pairs, n_learnt)?
        };
        let values = match gram {
            Some(gram) => {
                let has_all = gram.n_pairs() == data.n_pairs() || is_linear;
                let blocks = if has_all { None } else { Some(ItemBlocks::new(kernel, items)?) };
                Values::Gram(gram, blocks)
            }
            None => {
                let blocks = ItemBlocks::new(kernel, items)?; // checks the range of numbers
                if is_linear { Values::Linear } else { Values::Blocks(blocks) }
            }
        };
        Ok(Exact { kernel, data, values })
    }

    pub(crate) fn kernel(&self) -> KernelFunction {
        self.kernel
    }

    pub(crate) fn items(&self) -> &'a Features {
        &self.data.set.items.features
    }

    /// Whether the matrix over pairs is at hand, and positive semidefinite.
    pub(crate) fn has_matrix(&self) -> bool {
        self.gram().is_some() && self.kernel.is_positive_definite()
    }

    /// The matrix over pairs, where it is at hand.
    pub(super) fn gram(&self) -> Option<&PairGram> {
        match &self.values {
            Values::Gram(gram, _) => Some(gram),
            _ => None,
        }
    }

    /// A pair of the data with its sides exchanged or not.
    pub(super) fn direction(&self, pair: usize, exchanged: bool) -> Direction {
        let Pair { left, right } = self.data.set.pairs[pair];
        let (row, is_turned) = self.gram().map_or((0, false), |gram| gram.row_of(pair));
        let (left, right) = if exchanged { (right, left) } else { (left, right) };
        Direction { left, right, row, sign: if is_turned == exchanged { 1.0 } else { -1.0 } }
    }

    /// Margins of all pairs of the data for Σ coefficient·direction.
    pub(super) fn data_margins(&self, terms: impl Iterator<Item = (Direction, f64)>) -> Vec<f64> {
        if let Some(gram) = self.gram().filter(|gram| gram.n_pairs() == self.data.n_pairs()) {
            let products = gram.times(&self.coefficients(gram, terms));
            let margin = |k: usize| {
                let (row, is_turned) = gram.row_of(k);
                if is_turned { -products[row as usize] } else { products[row as usize] }
            };
            return (0..self.data.n_pairs()).map(margin).collect();
        }
        let scores = self.scores(terms);
        self.data.set.pairs.iter().map(|p| scores[p.right as usize] - scores[p.left as usize]).collect()
    }

    /// Margins of directions for Σ coefficient·direction.
    pub(super) fn margins(&self, of: &[Direction], terms: impl Iterator<Item = (Direction, f64)>) -> Vec<f64> {
        if let Some(gram) = self.gram() {
            let products = gram.square_times(&self.coefficients(gram, terms));
            return of.iter().map(|d| d.sign * products[d.row as usize]).collect();
        }
        let scores = self.scores(terms);
        of.iter().map(|d| scores[d.right as usize] - scores[d.left as usize]).collect()
    }

    fn coefficients(&self, gram: &PairGram, terms: impl Iterator<Item = (Direction, f64)>) -> Vec<f64> {
        let mut coefficients = vec![0.0; gram.n_columns()];
        terms.for_each(|(d, t)| coefficients[d.row as usize] += d.sign * t);
        coefficients
    }

    /// Scores of all items.
    fn scores(&self, terms: impl Iterator<Item = (Direction, f64)>) -> Vec<f64> {
        let terms = self.item_coefficients(terms);
        match &self.values {
            Values::Blocks(blocks) | Values::Gram(_, Some(blocks)) => blocks.sums(&terms),
            _ => self.items().times(&self.items().combine_rows(terms.iter().map(|&(item, a)| (item as usize, a)))),
        }
    }

    /// Coefficients of items: u = Σ a_i Φ(x_i). Only nonzero ones, items ascending.
    pub(super) fn item_coefficients(&self, terms: impl Iterator<Item = (Direction, f64)>) -> Vec<(u32, f64)> {
        let mut coefficients = vec![0.0; self.items().n_rows()];
        for (direction, t) in terms {
            coefficients[direction.right as usize] += t;
            coefficients[direction.left as usize] -= t;
        }
        let terms = coefficients.iter().enumerate().filter(|(_, a)| **a != 0.0);
        terms.map(|(i, &a)| (i as u32, a)).collect()
    }

    /// The matrix over directions, row by row; only the lower triangle is filled in. `None` where it is not at hand.
    pub(super) fn block(&self, of: &[Direction]) -> Option<Vec<f64>> {
        let gram = self.gram()?;
        let n = of.len();
        let mut block = vec![0.0; n * n];
        for (k, a) in of.iter().enumerate() {
            let row = gram.row(a.row);
            for (out, b) in block[k * n..=k * n + k].iter_mut().zip(of) {
                *out = a.sign * b.sign * row[b.row as usize];
            }
        }
        Some(block)
    }

    /// K(r, r) + K(l, l) − 2K(l, r), exactly 0 for an item with itself.
    pub(super) fn square(&self, direction: Direction) -> f64 {
        let (l, r) = (direction.left as usize, direction.right as usize);
        if l == r {
            return 0.0;
        }
        match &self.values {
            Values::Linear => {
                let items = self.items();
                let (mut a, mut b) = (vec![0.0; items.n_cols()], vec![0.0; items.n_cols()]);
                items.copy_row(l, &mut a);
                items.copy_row(r, &mut b);
                a.iter().zip(&b).map(|(x, y)| (y - x) * (y - x)).sum()
            }
            Values::Blocks(blocks) => (blocks.self_value(r) + blocks.self_value(l) - 2.0 * blocks.value(l, r)).max(0.0),
            Values::Gram(gram, _) => gram.row(direction.row)[direction.row as usize].max(0.0),
        }
    }
}
