//! From coefficients to the scores of items, and back from numbers per item to slopes in the coefficients.

use rayon::prelude::*;

use crate::data::Features;
use crate::kernel::SymmetricMatrix;
use crate::math::{add_multiple, dot};

/// Rows whose sums are made together.
const ROWS: usize = 4096;
/// Up to so many coefficients that are not 0 take their columns of a matrix alone.
const FEW: usize = 64;

/// What coefficients are of.
#[derive(Clone, Copy)]
pub(crate) enum ScoreMap<'a> {
    /// Features: scores X·c.
    Features(&'a Features),
    /// Items, whose kernel values are products of features: scores X·Xᵀ·c.
    Gram(&'a Features),
    /// Items: scores K·c.
    Matrix(&'a dyn SymmetricMatrix),
}

impl ScoreMap<'_> {
    /// How many coefficients there are.
    pub(crate) fn dim(&self) -> usize {
        match self {
            ScoreMap::Features(features) => features.n_cols(),
            ScoreMap::Gram(features) => features.n_rows(),
            ScoreMap::Matrix(matrix) => matrix.len(),
        }
    }

    /// The scores of all items.
    pub(crate) fn scores(&self, coefficients: &[f64]) -> Vec<f64> {
        match self {
            ScoreMap::Features(features) => times(features, coefficients),
            ScoreMap::Gram(features) => times(features, &transposed_times(features, coefficients)),
            ScoreMap::Matrix(matrix) => {
                let which: Vec<u32> =
                    (0..coefficients.len() as u32).filter(|&at| coefficients[at as usize] != 0.0).collect();
                if which.len() > FEW {
                    return matrix.times(coefficients);
                }
                let columns = matrix.columns(&which);
                let mut scores = vec![0.0; matrix.len()];
                for (column, &at) in columns.chunks_exact(matrix.len().max(1)).zip(&which) {
                    add_multiple(&mut scores, coefficients[at as usize], column);
                }
                scores
            }
        }
    }

    /// The slopes in the coefficients of what has these slopes in the scores.
    pub(crate) fn slopes(&self, of_scores: &[f64]) -> Vec<f64> {
        match self {
            ScoreMap::Features(features) => transposed_times(features, of_scores),
            ScoreMap::Gram(features) => times(features, &transposed_times(features, of_scores)),
            ScoreMap::Matrix(matrix) => matrix.times(of_scores),
        }
    }

    /// The same, where few items have a slope.
    pub(crate) fn slopes_of(&self, terms: &[(usize, f64)], n_items: usize) -> Vec<f64> {
        if let ScoreMap::Features(features) = self {
            return features.combine_rows(terms.iter().copied());
        }
        let mut of_scores = vec![0.0; n_items];
        terms.iter().for_each(|&(item, slope)| of_scores[item] += slope);
        self.slopes(&of_scores)
    }

    /// How much a unit of each coefficient moves a difference of scores, at the most or about; above 0.
    pub(crate) fn scales(&self) -> Vec<f64> {
        let or_one = |scale: f64| if scale > 0.0 && scale.is_finite() { scale } else { 1.0 };
        match self {
            ScoreMap::Features(features) => spreads(features).into_iter().map(or_one).collect(),
            ScoreMap::Gram(features) => {
                let mut row = vec![0.0; features.n_cols()];
                let spreads = spreads(features);
                let norms = (0..features.n_rows()).map(|item| {
                    features.copy_row(item, &mut row);
                    row.iter_mut().for_each(|x| *x = x.abs());
                    or_one(dot(&row, &spreads))
                });
                norms.collect()
            }
            ScoreMap::Matrix(matrix) => {
                let largest = matrix.diagonal().into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                vec![or_one(largest); matrix.len()]
            }
        }
    }
}

/// X·v
fn times(features: &Features, v: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; features.n_rows()];
    out.par_chunks_mut(ROWS).enumerate().for_each(|(part, out)| {
        let first = (part * ROWS) as u32;
        let rows: Vec<u32> = (first..first + out.len() as u32).collect();
        features.times_rows(&rows, v, out);
    });
    out
}

/// Xᵀ·v, in an order that depends on the number of rows alone.
fn transposed_times(features: &Features, v: &[f64]) -> Vec<f64> {
    let parts: Vec<Vec<f64>> = v
        .par_chunks(ROWS)
        .enumerate()
        .map(|(part, v)| {
            let first = (part * ROWS) as u32;
            let rows: Vec<u32> = (first..first + v.len() as u32).collect();
            let mut sums = vec![0.0; features.n_cols()];
            features.add_rows(&rows, v, &mut sums);
            sums
        })
        .collect();
    let mut out = vec![0.0; features.n_cols()];
    parts.iter().for_each(|part| add_multiple(&mut out, 1.0, part));
    out
}

/// The largest number of each column less its least, absent ones being 0.
fn spreads(features: &Features) -> Vec<f64> {
    let n_cols = features.n_cols();
    let (mut low, mut high, mut n) = (vec![0.0f64; n_cols], vec![0.0f64; n_cols], vec![0usize; n_cols]);
    for row in 0..features.n_rows() {
        features.for_each_in_row(row, |column, x| {
            let is_first = n[column] == 0;
            low[column] = if is_first { x } else { low[column].min(x) };
            high[column] = if is_first { x } else { high[column].max(x) };
            n[column] += 1;
        });
    }
    let spread = |column: usize| match n[column] < features.n_rows() {
        true => high[column].max(0.0) - low[column].min(0.0),
        false => high[column] - low[column],
    };
    (0..n_cols).map(spread).collect()
}
