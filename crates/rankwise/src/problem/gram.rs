//! The kernel matrix over pairs, G_kl = K(r,b) − K(r,a) − K(l,b) + K(l,a), whole and in f64: for problems so small that
//! it fits and is worth having.
//!
//! Whoever solves many problems on the same pairs (other C, other loss, without a fold) builds it once. Pairs that are only
//! to be judged, never to be learnt from, have rows but no columns.

use rayon::prelude::*;

use crate::data::{Features, Pair};
use crate::error::Result;
use crate::kernel::{ItemRows, KernelFunction, LANES, PackedPairs, gather_differences};
use crate::math::{add_multiple, dot};

/// The largest number of distinct pairs to learn from, and the most numbers in all.
pub(crate) const MOST_COLUMNS: usize = 2000;
const MOST_NUMBERS: usize = 8 << 20;

/// Rows of products with the pairs that may have a coefficient.
#[derive(Debug)]
pub(crate) struct PairGram {
    n_columns: usize,
    /// Row by row; the first `n_columns` rows are symmetric.
    values: Vec<f64>,
    /// For every pair that has a row its number, and whether its sides are exchanged there: all pairs of the data, or those
    /// to learn from.
    rows: Vec<(u32, bool)>,
}

impl PairGram {
    /// The matrix of the pairs of the data, of which the first `n_learnt` may have coefficients; `None` where these are too
    /// many. Where only the others are, they have no rows.
    pub(crate) fn new(
        kernel: KernelFunction,
        items: &Features,
        shared: &ItemRows,
        pairs: &[Pair],
        n_learnt: usize,
    ) -> Result<Option<Self>> {
        let distinct = |pairs: &[Pair]| {
            let mut found: Vec<(u32, u32)> = pairs.iter().map(sorted).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        if n_learnt > 50 * MOST_COLUMNS {
            return Ok(None); // not worth counting
        }
        let columns = distinct(&pairs[..n_learnt]);
        if columns.len() > MOST_COLUMNS {
            return Ok(None);
        }
        let mut others = distinct(&pairs[n_learnt..]);
        others.retain(|pair| columns.binary_search(pair).is_err());
        let are_all = columns.len() * (columns.len() + others.len()) <= MOST_NUMBERS;
        if !are_all {
            others.clear();
        }
        let pairs = if are_all { pairs } else { &pairs[..n_learnt] };
        let (n_columns, n_rows) = (columns.len(), columns.len() + others.len());
        let number = |pair: &Pair| {
            let pair = sorted(pair);
            let found = columns.binary_search(&pair).or_else(|_| others.binary_search(&pair).map(|at| n_columns + at));
            found.unwrap_or(0) as u32
        };
        let rows = pairs.iter().map(|pair| (number(pair), pair.left > pair.right)).collect();
        let rows_of_items = shared.with(kernel, items)?;
        let (left, right): (Vec<u32>, Vec<u32>) = columns.iter().copied().unzip();
        let all: Vec<(u32, u32)> = columns.iter().chain(&others).copied().collect();
        let mut values = vec![0.0; n_rows * n_columns];
        let rows_of_pairs = values.par_chunks_mut(n_columns.max(1)).zip(&all).enumerate().with_min_len(8);
        match rows_of_items.packed() {
            // Items that hardly repeat: straight from the two sides, and every number of the square once.
            Some(packed) if items.n_rows() > n_columns => {
                let pairs = PackedPairs::new(&kernel, packed, &left, &right);
                rows_of_pairs.for_each_init(
                    || vec![0.0; n_columns.next_multiple_of(LANES)],
                    |buffer, (k, (row, &sides))| {
                        let first = if k < n_columns { k / LANES * LANES } else { 0 };
                        pairs.row(&kernel, packed, sides, first, &mut buffer[first..]);
                        row[first..].copy_from_slice(&buffer[first..n_columns]);
                    },
                );
                for k in 1..n_columns {
                    let (above, below) = values.split_at_mut(k * n_columns);
                    for (l, value) in below[..k].iter_mut().enumerate() {
                        *value = above[l * n_columns + k];
                    }
                }
            }
            _ => {
                let n_items = left.iter().chain(&right).max().map_or(0, |&last| last as usize + 1);
                rows_of_pairs.for_each_init(
                    || (rows_of_items.buffer(n_items), rows_of_items.buffer(n_items)),
                    |(plus, minus), (_, (row, &(l, r)))| {
                        rows_of_items.row(r as usize, plus);
                        rows_of_items.row(l as usize, minus);
                        plus.iter_mut().zip(minus.iter()).for_each(|(p, m)| *p -= m);
                        gather_differences(plus, &left, &right, row);
                    },
                );
            }
        }
        Ok(Some(PairGram { n_columns, values, rows }))
    }

    /// The row of a pair of the data, and whether its sides are exchanged there.
    pub(super) fn row_of(&self, pair: usize) -> (u32, bool) {
        self.rows[pair]
    }

    /// How many pairs of the data have a row.
    pub(super) fn n_pairs(&self) -> usize {
        self.rows.len()
    }

    /// How many pairs may have a coefficient.
    pub(super) fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// One row.
    pub(super) fn row(&self, row: u32) -> &[f64] {
        &self.values[row as usize * self.n_columns..][..self.n_columns]
    }

    /// The products of all pairs with a sum of pairs.
    pub(super) fn times(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut products = self.square_times(coefficients);
        let others = self.values.chunks_exact(self.n_columns.max(1)).skip(self.n_columns);
        products.extend(others.map(|row| dot::<f64>(row, coefficients)));
        products
    }

    /// The products of pairs to learn from, as [`PairGram::times`], without those that are only judged.
    pub(super) fn square_times(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut products = vec![0.0; self.n_columns];
        for (k, &c) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0.0) {
            add_multiple::<f64>(&mut products, c, self.row(k as u32));
        }
        products
    }
}

fn sorted(pair: &Pair) -> (u32, u32) {
    (pair.left.min(pair.right), pair.left.max(pair.right))
}
