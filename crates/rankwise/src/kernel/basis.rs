//! The functions that some items span: ψ = L⁻¹·k(landmarks, ·) with L·Lᵀ = K over the landmarks is an orthonormal basis of
//! them. Unlike [`Landmarks`](super::Landmarks), which describe new items, this describes the rows of a matrix that is at
//! hand, with landmarks that are given.

use rayon::prelude::*;

use super::SymmetricMatrix;
use crate::math::{add_multiple, dot};

/// Rows whose numbers stay in the processor's cache.
const ROWS: usize = 256;
/// Numbers of columns that are multiplied together.
const PART: usize = 1024;
/// Columns that one thread takes at a time.
const COLUMNS: usize = 16;

/// Landmarks among the rows of a matrix, and ψ of all rows.
pub(crate) struct LandmarkBasis {
    landmarks: Vec<u32>,
    n_rows: usize,
    /// L, row by row: a lower triangle in a square.
    factor: Vec<f64>,
    /// ψ of all rows, one column after the other.
    psi: Vec<f64>,
}

impl LandmarkBasis {
    /// The basis of these landmarks; `None` where the matrix is not positive semidefinite on them. What rounding has left of
    /// the matrix is added to its diagonal there: ψ is then a little shorter.
    pub(crate) fn new(matrix: &dyn SymmetricMatrix, landmarks: Vec<u32>) -> Option<Self> {
        let (n_rows, m) = (matrix.len(), landmarks.len());
        let mut psi = matrix.columns(&landmarks);
        let mut factor = vec![0.0; m * m];
        for (a, &row) in landmarks.iter().enumerate() {
            (0..=a).for_each(|b| factor[a * m + b] = psi[b * n_rows + row as usize]);
        }
        let largest = (0..m).map(|a| factor[a * m + a]).fold(0.0, f64::max);
        let ridge = matrix.resolution() * largest;
        for a in 0..m {
            let (before, row) = factor.split_at_mut(a * m);
            for b in 0..a {
                row[b] = (row[b] - dot(&row[..b], &before[b * m..b * m + b])) / before[b * m + b];
            }
            let left = row[a] - dot(&row[..a], &row[..a]);
            if left.is_nan() || left < -10.0 * ridge {
                return None;
            }
            row[a] = (left.max(0.0) + ridge).sqrt();
        }
        if largest > 0.0 {
            divide(&mut psi, n_rows, &factor, m);
        }
        Some(LandmarkBasis { landmarks, n_rows, factor, psi })
    }

    pub(crate) fn len(&self) -> usize {
        self.landmarks.len()
    }

    /// ψ of all rows, one column after the other.
    pub(crate) fn columns(&self) -> &[f64] {
        &self.psi
    }

    /// ψ of all rows, in one dimension.
    fn column(&self, at: usize) -> &[f64] {
        &self.psi[at * self.n_rows..][..self.n_rows]
    }

    /// The part of Σ aᵢ K(i, ·) that lies in the span, in the basis; `scores` are K·a.
    pub(crate) fn project(&self, scores: &[f64]) -> Vec<f64> {
        let m = self.len();
        let mut out: Vec<f64> = self.landmarks.iter().map(|&row| scores[row as usize]).collect();
        for a in 0..m {
            let row = &self.factor[a * m..];
            out[a] = (out[a] - dot(&row[..a], &out[..a])) / row[a];
        }
        out
    }

    /// Adds a function of the span, given in the basis, to coefficients and to scores.
    pub(crate) fn add(&self, weights: &[f64], coefficients: &mut [f64], scores: &mut [f64]) {
        let m = self.len();
        scores.par_chunks_mut(16 * ROWS).enumerate().for_each(|(part, out)| {
            for (at, &weight) in weights.iter().enumerate() {
                add_multiple(out, weight, &self.column(at)[part * 16 * ROWS..][..out.len()]);
            }
        });
        let mut left = weights.to_vec();
        for a in (0..m).rev() {
            let row = &self.factor[a * m..];
            let value = left[a] / row[a];
            add_multiple(&mut left[..a], -value, &row[..a]);
            coefficients[self.landmarks[a] as usize] += value;
        }
    }

    /// ψᵀ·columns, row by row; only the lower triangle is found.
    pub(crate) fn times(&self, columns: &[f64]) -> Vec<f64> {
        let (n, m) = (self.n_rows, self.len());
        let mut out = vec![0.0; m * m];
        out.par_chunks_mut((COLUMNS * m).max(1)).enumerate().for_each(|(tile, out)| {
            for start in (0..n).step_by(PART) {
                let part = start..(start + PART).min(n);
                let last = (tile * COLUMNS + out.len() / m).min(m);
                for b in 0..last {
                    let column = &columns[b * n..][part.clone()];
                    for (k, row) in out.chunks_exact_mut(m).enumerate().filter(|(k, _)| tile * COLUMNS + k >= b) {
                        row[b] += dot(&self.column(tile * COLUMNS + k)[part.clone()], column);
                    }
                }
            }
        });
        out
    }
}

/// Columns times L⁻ᵀ, some rows at a time.
fn divide(columns: &mut [f64], n_rows: usize, factor: &[f64], m: usize) {
    let parts: Vec<Vec<f64>> = (0..n_rows.div_ceil(ROWS))
        .into_par_iter()
        .map(|part| {
            let rows = part * ROWS..((part + 1) * ROWS).min(n_rows);
            let n = rows.len();
            let mut out = Vec::with_capacity(n * m);
            columns.chunks_exact(n_rows).for_each(|column| out.extend_from_slice(&column[rows.clone()]));
            for a in 0..m {
                let (before, rest) = out.split_at_mut(a * n);
                let column = &mut rest[..n];
                for (b, known) in before.chunks_exact(n).enumerate() {
                    add_multiple(column, -factor[a * m + b], known);
                }
                column.iter_mut().for_each(|value| *value /= factor[a * m + a]);
            }
            out
        })
        .collect();
    columns.par_chunks_exact_mut(n_rows).enumerate().for_each(|(at, column)| {
        for (out, part) in column.chunks_mut(ROWS).zip(&parts) {
            let n = out.len();
            out.copy_from_slice(&part[at * n..][..n]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Features, Precision, Random};
    use crate::kernel::{KernelFunction, KernelMatrix};

    #[test]
    fn the_basis_is_orthonormal_and_knows_its_functions() {
        let mut random = Random::new(4);
        let items = Features::dense(3, (0..300 * 3).map(|_| random.normal()).collect(), Precision::F64).unwrap();
        let matrix = KernelMatrix::<f64>::new(KernelFunction::Rbf { gamma: 0.5 }, &items, 1 << 24).unwrap();
        let landmarks: Vec<u32> = (0..40).map(|k| k * 7).collect();
        let basis = LandmarkBasis::new(&matrix, landmarks.clone()).unwrap();
        // A function of the landmarks alone is all in the span; its norm is that of its weights.
        let mut coefficients = vec![0.0; 300];
        landmarks.iter().for_each(|&l| coefficients[l as usize] = random.normal());
        let scores = matrix.times(&coefficients);
        let weights = basis.project(&scores);
        assert!((dot(&weights, &weights) / dot(&coefficients, &scores) - 1.0).abs() < 1e-7);
        let (mut back, mut back_scores) = (vec![0.0; 300], vec![0.0; 300]);
        basis.add(&weights, &mut back, &mut back_scores);
        let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst(&back_scores, &scores) < 1e-6 && worst(&matrix.times(&back), &back_scores) < 1e-8);
        let product = basis.times(&basis.psi);
        for a in 0..40 {
            for b in 0..=a {
                assert!((product[a * 40 + b] - dot(basis.column(a), basis.column(b))).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_has_no_basis_is_told() {
        let items = Features::dense(1, vec![1.0, 2.0, -3.0, 0.5], Precision::F64).unwrap();
        let kernel = KernelFunction::Sigmoid { gamma: 1.0, coef0: -2.0 };
        let matrix = KernelMatrix::<f64>::new(kernel, &items, 0).unwrap();
        assert!(LandmarkBasis::new(&matrix, vec![0, 1, 2, 3]).is_none());
    }
}
