//! Ridge regression on labels: ½‖w‖² + C·Σ c·(y − w·x − b)², b at its best, which is where the residuals sum to 0.
//!
//! With weighted means x̄ and ȳ, b = ȳ − w·x̄: what is left are features and labels counted from their means. Features are never
//! copied; x̄ is taken off where it is needed.

use rayon::prelude::*;

use super::LeastSquares;
use crate::data::{Features, Ranking};
use crate::math::{add_multiple, dot};

/// Rows of a block, whose sums are added in order.
const BLOCK_ROWS: usize = 1 << 12;
/// Numbers of centred rows that are made at a time for the Hessian.
const BLOCK_NUMBERS: usize = 1 << 19;
/// Rows of the Hessian that one thread takes at a time.
const TILE: usize = 16;

/// The problem on those items of a ranking that have a weight.
pub(crate) struct RidgeProblem<'a> {
    features: &'a Features,
    /// Features are divided by these.
    divisors: Option<&'a [f64]>,
    rows: Vec<u32>,
    /// The weight of each row.
    weights: Vec<f64>,
    /// Labels, counted from their mean.
    targets: Vec<f64>,
    /// Weighted means of the features as stored.
    means: Vec<f64>,
    mean_label: f64,
    c: f64,
}

impl<'a> RidgeProblem<'a> {
    /// An item weighs its own weight times that of its group.
    pub(crate) fn new(data: &'a Ranking, divisors: Option<&'a [f64]>, c: f64) -> Self {
        let groups = data.groups.numbers();
        let weight = |i: usize| data.weight(i) * data.group_weight(groups[i] as usize);
        let rows: Vec<u32> = (0..data.n_items()).filter(|&i| weight(i) > 0.0).map(|i| i as u32).collect();
        let weights: Vec<f64> = rows.iter().map(|&row| weight(row as usize)).collect();
        let total: f64 = weights.iter().sum();
        let label = |row: u32| data.labels[row as usize];
        let mean_label = rows.iter().zip(&weights).map(|(&row, w)| w / total * label(row)).sum();
        let targets = rows.iter().map(|&row| label(row) - mean_label).collect();
        let features = &data.items.features;
        let means = weighted_means(features, &rows, &weights);
        RidgeProblem { features, divisors, rows, weights, targets, means, mean_label, c }
    }

    /// How many items have a weight.
    pub(crate) fn n_items(&self) -> usize {
        self.rows.len()
    }

    /// Σ c
    pub(crate) fn mass(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The best b for weights of `features`, divided, from which `shift` is taken before: the features of the problem may lie
    /// elsewhere.
    pub(crate) fn best_bias(&self, weights: &[f64], features: &Features, shift: Option<&[f64]>) -> f64 {
        let means = weighted_means(features, &self.rows, &self.weights);
        let scaled = |k: usize| (means[k] - shift.map_or(0.0, |shift| shift[k])) / self.divisor(k);
        self.mean_label - weights.iter().enumerate().map(|(k, w)| w * scaled(k)).sum::<f64>()
    }

    fn divisor(&self, column: usize) -> f64 {
        self.divisors.map_or(1.0, |divisors| divisors[column])
    }

    fn on_stored(&self, weights: &[f64]) -> Vec<f64> {
        weights.iter().enumerate().map(|(k, w)| w / self.divisor(k)).collect()
    }

    /// For every row (x − x̄)·v and what `of_row` makes of it; the products of those with x − x̄, times 2C.
    fn there_and_back(&self, v: &[f64], of_row: impl Fn(usize, f64) -> (f64, f64) + Sync) -> (f64, Vec<f64>) {
        let on_stored = self.on_stored(v);
        let origin = dot(&self.means, &on_stored);
        let parts: Vec<(f64, f64, Vec<f64>)> = self
            .rows
            .par_chunks(BLOCK_ROWS)
            .enumerate()
            .map(|(block, rows)| {
                let mut products = vec![0.0; rows.len()];
                self.features.times_rows(rows, &on_stored, &mut products);
                let (mut value, mut total) = (0.0, 0.0);
                for (at, product) in products.iter_mut().enumerate() {
                    let (part, coefficient) = of_row(block * BLOCK_ROWS + at, *product - origin);
                    value += part;
                    total += coefficient;
                    *product = coefficient;
                }
                let mut sums = vec![0.0; v.len()];
                self.features.add_rows(rows, &products, &mut sums);
                (value, total, sums)
            })
            .collect();
        let (mut value, mut total, mut sums) = (0.0, 0.0, vec![0.0; v.len()]);
        for (part, of_block, of_columns) in parts {
            value += part;
            total += of_block;
            add_multiple(&mut sums, 1.0, &of_columns);
        }
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum = 2.0 * self.c * (*sum - total * self.means[k]) / self.divisor(k);
        }
        (value, sums)
    }
}

impl LeastSquares for RidgeProblem<'_> {
    fn dim(&self) -> usize {
        self.means.len()
    }

    fn at(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let of_row = |at: usize, score: f64| {
            let residual = score - self.targets[at];
            (self.weights[at] * residual * residual, self.weights[at] * residual)
        };
        let (losses, mut gradient) = self.there_and_back(weights, of_row);
        add_multiple(&mut gradient, 1.0, weights);
        (0.5 * dot(weights, weights) + self.c * losses, gradient)
    }

    fn hessian_times(&self, v: &[f64]) -> Vec<f64> {
        let (_, mut product) = self.there_and_back(v, |at, change| (0.0, self.weights[at] * change));
        add_multiple(&mut product, 1.0, v);
        product
    }

    fn hessian(&self) -> Vec<f64> {
        let dim = self.dim();
        let mut matrix = vec![0.0; dim * dim];
        (0..dim).for_each(|k| matrix[k * dim + k] = 1.0);
        let per_block = (BLOCK_NUMBERS / dim.max(1)).max(1);
        let mut centred = Vec::new();
        for (rows, weights) in self.rows.chunks(per_block).zip(self.weights.chunks(per_block)) {
            centred.clear();
            centred.resize(rows.len() * dim, 0.0);
            centred.par_chunks_mut(dim).zip(rows).zip(weights).for_each(|((to, &row), weight)| {
                self.features.for_each_in_row(row as usize, |k, value| to[k] = value);
                let size = (2.0 * self.c * weight).sqrt();
                for (k, x) in to.iter_mut().enumerate() {
                    *x = size * (*x - self.means[k]) / self.divisor(k);
                }
            });
            matrix.par_chunks_mut(dim * TILE).enumerate().for_each(|(tile, of_tile)| {
                for vector in centred.chunks_exact(dim) {
                    for (k, row) in of_tile.chunks_exact_mut(dim).enumerate() {
                        let at = tile * TILE + k;
                        add_multiple(&mut row[..=at], vector[at], &vector[..=at]);
                    }
                }
            });
        }
        matrix
    }

    fn hessian_diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.dim()];
        let mut stored = vec![0.0; self.dim()];
        for (&row, &weight) in self.rows.iter().zip(&self.weights) {
            self.features.for_each_in_row(row as usize, |k, value| {
                diagonal[k] += weight * (value - self.means[k]) * (value - self.means[k]);
                stored[k] += weight;
            });
        }
        let total = self.mass();
        for (k, sum) in diagonal.iter_mut().enumerate() {
            // Zeros that a sparse row does not store are as far from the mean as it is from 0.
            let zeros = (total - stored[k]).max(0.0) * self.means[k] * self.means[k];
            *sum = 1.0 + 2.0 * self.c * (*sum + zeros) / self.divisor(k) / self.divisor(k);
        }
        diagonal
    }

    fn hessian_work(&self) -> usize {
        (self.rows.len() / 2).saturating_add(self.dim() / 6).saturating_mul(self.dim()).saturating_mul(self.dim())
    }
}

fn weighted_means(features: &Features, rows: &[u32], weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let mut means = vec![0.0; features.n_cols()];
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    features.add_rows(rows, &shares, &mut means);
    // Shares are rounded: a constant must be its own mean, or rounding would make a feature of it.
    let mut rest = vec![0.0; means.len()];
    let mut stored = vec![0.0; means.len()];
    for (&row, share) in rows.iter().zip(&shares) {
        features.for_each_in_row(row as usize, |k, value| {
            rest[k] += share * (value - means[k]);
            stored[k] += share;
        });
    }
    for (k, mean) in means.iter_mut().enumerate() {
        let zeros = (1.0 - stored[k]).max(0.0);
        *mean += rest[k] - if zeros > 1e-12 { zeros * *mean } else { 0.0 };
    }
    means
}
