//! The Hessian in few vectors, and about its diagonal.
//!
//! A pair's second derivatives in (z, b) are a 2 × 2 matrix, the sum of two outer products of vectors (of u and v; of β).
//! Eliminating β from a sum of outer products takes from each vector its share of their mean.

use rayon::prelude::*;

use super::rule::with_loss;
use super::{Hinge, PairSums, Rule};
use crate::data::Pair;
use crate::math::dot;
use crate::problem::{BlockSums, MARK};

/// The most items to have a vector each.
const MOST_ITEMS: usize = 1024;

impl PairSums<'_> {
    /// Vectors whose outer products sum to about the Hessian: one for each item where many pairs share few of them, all pairs
    /// where these are few, else pairs drawn evenly by their curvature.
    pub(super) fn sketch(&self, n: usize) -> Vec<f64> {
        if self.has_item_sketch(n) {
            return self.item_sketch();
        }
        let curved = self.curved();
        let (total, count) = curved.iter().fold((0.0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        if !(total > 0.0 && total.is_finite()) {
            return Vec::new();
        }
        let spacing = if count <= 2 * n { 0.0 } else { total / n as f64 };
        self.vectors(&self.draw(&curved, 0.0, spacing))
    }

    fn curvature(&self, k: usize) -> f64 {
        if !self.counts(k) {
            return 0.0;
        }
        let local = with_loss!(self.rule, loss => self.local(loss, k));
        local.zz + local.bb
    }

    /// The curvature of every block, and how many of its pairs have some.
    pub(super) fn curved(&self) -> Vec<(f64, usize)> {
        self.visit(|range| {
            let (mut total, mut count) = (0.0, 0usize);
            for k in range {
                let curvature = self.curvature(k);
                total += curvature;
                count += usize::from(curvature > 0.0);
            }
            (total, count)
        })
    }

    /// Pairs drawn at every `spacing` of the curvature (0: all), where so much of it came before, each with how many it
    /// stands for.
    pub(super) fn draw(&self, curved: &[(f64, usize)], before: f64, spacing: f64) -> Vec<(usize, f64)> {
        let mut before = before;
        let starts: Vec<f64> = curved
            .iter()
            .map(|part| {
                before += part.0;
                before - part.0
            })
            .collect();
        let drawn: Vec<Vec<(usize, f64)>> = self
            .ranges()
            .into_par_iter()
            .zip(starts)
            .map(|(range, start)| {
                let mut drawn = Vec::new();
                // How many marks lie below.
                let marks = |at: f64| (at / spacing - MARK).ceil().max(0.0);
                let mut at = start;
                for k in range {
                    let curvature = self.curvature(k);
                    if curvature > 0.0 {
                        let from = at;
                        at += curvature;
                        if spacing == 0.0 {
                            drawn.push((k, 1.0));
                        } else if marks(at) > marks(from) {
                            drawn.push((k, (marks(at) - marks(from)) * spacing / curvature));
                        }
                    }
                }
                drawn
            })
            .collect();
        drawn.concat()
    }

    /// Whether one vector for each item is less than what was asked for.
    pub(super) fn has_item_sketch(&self, n: usize) -> bool {
        self.items_repeat && self.band.is_none() && self.rows.len() <= MOST_ITEMS && 4 * self.rows.len() <= n
    }

    /// The Hessian itself. Over scores of items it is M = Σ q (e_better − e_worse)(…)ᵀ − r rᵀ/Σ bb, what is left of β; with
    /// M = V Vᵀ, the columns of Xᵀ V are the vectors.
    fn item_sketch(&self) -> Vec<f64> {
        let n = self.rows.len();
        let mut position = vec![0u32; self.features.n_rows()];
        self.rows.iter().enumerate().for_each(|(at, &row)| position[row as usize] = at as u32);
        let (mut matrix, mut tilt) = (vec![0.0; n * n], vec![0.0; n]);
        for k in (0..self.pairs.len()).filter(|&k| self.counts(k)) {
            let local = with_loss!(self.rule, loss => self.local(loss, k));
            let (worse, better) = self.ends(k);
            let (a, b) = (position[worse] as usize, position[better] as usize);
            if a != b {
                matrix[a * n + a] += local.zz;
                matrix[b * n + b] += local.zz;
                matrix[a.max(b) * n + a.min(b)] -= local.zz;
                tilt[b] += local.zb;
                tilt[a] -= local.zb;
            }
        }
        if self.rule.has_offset() && self.here.offset.is_free && self.here.offset.stiffness > 0.0 {
            for i in 0..n {
                let factor = tilt[i] / self.here.offset.stiffness;
                matrix[i * n..=i * n + i].iter_mut().zip(&tilt).for_each(|(m, t)| *m -= factor * t);
            }
        }
        factor_in_place(&mut matrix, n);
        let d = self.n_columns();
        let mut vectors = vec![0.0; n * d];
        vectors.par_chunks_mut(d.max(1)).enumerate().for_each(|(column, out)| {
            let (rows, factors): (Vec<u32>, Vec<f64>) =
                (column..n).map(|i| (self.rows[i], matrix[i * n + column])).filter(|(_, v)| *v != 0.0).unzip();
            self.features.add_rows(&rows, &factors, out);
        });
        vectors
    }

    /// The vectors of pairs that stand for so many, β eliminated.
    fn vectors(&self, pairs: &[(usize, f64)]) -> Vec<f64> {
        let (mut vectors, shares) = self.vectors_with_shares(pairs);
        let dim = self.dim();
        let has_band = self.band.is_some();
        let per_pair = if has_band { 2 } else { 1 };
        if !(self.rule.has_offset() && self.here.offset.is_free) {
            return vectors;
        }
        let total: f64 = shares.iter().map(|[a, b]| a * a + b * b).sum();
        if total <= 0.0 {
            return vectors;
        }
        let mut mean = vec![0.0; dim];
        for (vector, share) in vectors.chunks_exact(dim).zip(shares_of(&shares, per_pair)) {
            mean.iter_mut().zip(vector).for_each(|(m, v)| *m += share * v / total);
        }
        vectors.par_chunks_mut(dim).zip(shares_of(&shares, per_pair).collect::<Vec<_>>()).for_each(
            |(vector, share)| {
                vector.iter_mut().zip(&mean).for_each(|(v, m)| *v -= share * m);
            },
        );
        if !has_band {
            let left: f64 = shares.iter().map(|[_, b]| b * b).sum::<f64>().sqrt();
            vectors.extend(mean.iter().map(|m| -left * m));
        }
        vectors
    }

    /// The vectors of pairs that stand for so many, and what each has of β; without a band, of the second vectors nothing
    /// but this is left.
    pub(super) fn vectors_with_shares(&self, pairs: &[(usize, f64)]) -> (Vec<f64>, Vec<[f64; 2]>) {
        let (dim, d) = (self.dim(), self.n_columns());
        let has_band = self.band.is_some();
        let per_pair = if has_band { 2 } else { 1 };
        let mut vectors = vec![0.0; pairs.len() * per_pair * dim];
        let shares: Vec<[f64; 2]> = vectors
            .par_chunks_mut((per_pair * dim).max(1))
            .zip(pairs)
            .map(|(out, &(k, times))| {
                let local = with_loss!(self.rule, loss => self.local(loss, k));
                let first = (times * local.zz).sqrt();
                let tilt = if first > 0.0 { times * local.zb / first } else { 0.0 };
                let second = (times * local.bb - tilt * tilt).max(0.0).sqrt();
                let (worse, better) = self.ends(k);
                self.features.for_each_in_row(better, |c, v| out[c] += first * v);
                self.features.for_each_in_row(worse, |c, v| out[c] -= first * v);
                if has_band {
                    self.add_band(k, tilt, &mut out[d..dim]);
                    self.add_band(k, second, &mut out[dim + d..]);
                }
                [tilt, second]
            })
            .collect();
        (vectors, shares)
    }

    /// `out` += factor·s of a pair.
    fn add_band(&self, k: usize, factor: f64, out: &mut [f64]) {
        let d = self.n_columns();
        let pair: Pair = self.pairs[k];
        for item in [pair.left, pair.right] {
            self.features.for_each_in_row(item as usize, |c, v| out[c] += 0.5 * factor * v);
        }
        self.features.for_each_distance(pair, |c, v| out[d + c] += factor * v);
        if let Some(context) = self.band.as_ref().and_then(|band| band.context.as_ref()) {
            context.for_each_in_row(k, |c, v| out[2 * d + c] += factor * v);
        }
    }

    /// About the diagonal of the Hessian: as if all sides of pairs were drawn on their own.
    pub(super) fn about_diagonal(&self) -> Vec<f64> {
        let (dim, d) = (self.dim(), self.n_columns());
        let n = self.features.n_rows();
        let mut of_margins = vec![0.0; n];
        let mut of_means = vec![0.0; if self.band.is_some() { n } else { 0 }];
        let mut diagonal = vec![0.0; dim];
        for k in (0..self.pairs.len()).filter(|&k| self.counts(k)) {
            let local = with_loss!(self.rule, loss => self.local(loss, k));
            let (worse, better) = self.ends(k);
            for item in [worse, better] {
                of_margins[item] += local.zz;
            }
            if self.band.is_some() {
                for item in [worse, better] {
                    of_means[item] += 0.5 * local.bb;
                }
                if local.bb > 0.0 {
                    self.features.for_each_distance(self.pairs[k], |c, v| diagonal[2 * d + c] += local.bb * v * v);
                    if let Some(context) = self.band.as_ref().and_then(|band| band.context.as_ref()) {
                        context.for_each_in_row(k, |c, v| diagonal[3 * d + c] += local.bb * v * v);
                    }
                }
            }
        }
        // Differences do not see where zero is; sparse features are about there already.
        let centre = if self.features.is_sparse() { vec![0.0; d] } else { self.centre(&of_margins) };
        for &row in self.rows.iter() {
            let weight = of_margins[row as usize];
            if weight > 0.0 {
                self.features.for_each_in_row(row as usize, |c, v| {
                    diagonal[c] += weight * (v - centre[c]) * (v - centre[c]);
                });
            }
            if self.band.is_some() {
                let weight = of_means[row as usize];
                self.features.for_each_in_row(row as usize, |c, v| diagonal[d + c] += weight * v * v);
            }
        }
        diagonal
    }

    fn centre(&self, weights: &[f64]) -> Vec<f64> {
        let mut centre = vec![0.0; self.n_columns()];
        let total: f64 = weights.iter().sum();
        if total > 0.0 {
            for &row in self.rows.iter() {
                let weight = weights[row as usize] / total;
                self.features.for_each_in_row(row as usize, |c, v| centre[c] += weight * v);
            }
        }
        centre
    }
}

/// Cholesky's factor of a positive semidefinite matrix in its lower triangle; columns that vanish to rounding are 0.
fn factor_in_place(matrix: &mut [f64], n: usize) {
    let largest = (0..n).map(|i| matrix[i * n + i]).fold(0.0, f64::max);
    for i in 0..n {
        let (above, row) = matrix.split_at_mut(i * n);
        let row = &mut row[..=i];
        for j in 0..i {
            let other = &above[j * n..=j * n + j];
            let pivot = other[j];
            row[j] = if pivot > 0.0 { (row[j] - dot(&row[..j], &other[..j])) / pivot } else { 0.0 };
        }
        let left = row[i] - dot(&row[..i], &row[..i]);
        row[i] = if left > 1e-12 * largest { left.sqrt() } else { 0.0 };
    }
}

/// What each vector has of β, in their order.
fn shares_of(shares: &[[f64; 2]], per_pair: usize) -> impl Iterator<Item = f64> + '_ {
    shares.iter().flat_map(move |pair| pair[..per_pair].iter().copied())
}
