//! The functions that some items span: ψ = L⁻¹·k(landmarks, ·) with L·Lᵀ = K over the landmarks is an orthonormal basis of
//! them. Unlike [`Landmarks`](super::Landmarks), which describe new items, this describes the rows of a matrix that is at
//! hand, with landmarks that are given.

use rayon::prelude::*;

use super::landmarks::check_room;
use super::{GoesOn, SymmetricMatrix};
use crate::error::Result;
use crate::math::{add_multiple, cholesky, dot};

/// Rows whose numbers stay in the processor's cache.
const ROWS: usize = 256;
/// Numbers of columns that are multiplied together.
const PART: usize = 1024;
/// Columns that one thread takes at a time.
const COLUMNS: usize = 16;
/// How often the numbers of all rows are there at most: beside ψ what it is made of, or what a solver makes of it.
const COPIES: usize = 3;

/// ψ of all rows of a matrix, for landmarks among them.
pub(crate) struct LandmarkBasis {
    n_rows: usize,
    /// ψ of all rows, one column after the other.
    psi: Vec<f64>,
}

impl LandmarkBasis {
    /// The basis of these landmarks; `None` where the matrix is not positive semidefinite on them. What rounding has left of
    /// the matrix is added to its diagonal there: ψ is then a little shorter. It is empty where it does not go on.
    pub(crate) fn new(matrix: &dyn SymmetricMatrix, landmarks: Vec<u32>, goes_on: GoesOn<'_>) -> Result<Option<Self>> {
        let (n_rows, m) = (matrix.len(), landmarks.len());
        check_room(n_rows, m, COPIES, "leave less to kernel values (--cache-mb N), or choose --approx nystrom:M")?;
        let mut psi = matrix.columns(&landmarks);
        let mut factor = vec![0.0; m * m];
        for (a, &row) in landmarks.iter().enumerate() {
            (0..=a).for_each(|b| factor[a * m + b] = psi[b * n_rows + row as usize]);
        }
        let largest = (0..m).map(|a| factor[a * m + a]).fold(0.0, f64::max);
        if largest == 0.0 {
            return Ok(Some(LandmarkBasis { n_rows, psi: Vec::new() }));
        }
        if !cholesky(&mut factor, m, matrix.resolution() * largest) {
            return Ok(None);
        }
        if !(goes_on() && divide(&mut psi, n_rows, &factor, m, goes_on)) {
            return Ok(Some(LandmarkBasis { n_rows, psi: Vec::new() }));
        }
        Ok(Some(LandmarkBasis { n_rows, psi }))
    }

    /// How many dimensions it has.
    pub(crate) fn len(&self) -> usize {
        self.psi.len() / self.n_rows.max(1)
    }

    /// ψ of all rows, one column after the other.
    pub(crate) fn columns(&self) -> &[f64] {
        &self.psi
    }

    /// ψ of all rows, in one dimension.
    fn column(&self, at: usize) -> &[f64] {
        &self.psi[at * self.n_rows..][..self.n_rows]
    }

    /// What the basis leaves of K(x, x), in the mean.
    pub(crate) fn mean_rest(&self, matrix: &dyn SymmetricMatrix) -> f64 {
        let mut rest = matrix.diagonal();
        for column in self.psi.chunks_exact(self.n_rows.max(1)) {
            rest.iter_mut().zip(column).for_each(|(rest, value)| *rest -= value * value);
        }
        rest.iter().sum::<f64>().max(0.0) / self.n_rows.max(1) as f64
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

/// Columns times L⁻ᵀ, some rows at a time; whether it went on to the end.
fn divide(columns: &mut [f64], n_rows: usize, factor: &[f64], m: usize, goes_on: GoesOn<'_>) -> bool {
    let parts: Option<Vec<Vec<f64>>> = (0..n_rows.div_ceil(ROWS))
        .into_par_iter()
        .map(|part| {
            if !goes_on() {
                return None;
            }
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
            Some(out)
        })
        .collect();
    let Some(parts) = parts else { return false };
    columns.par_chunks_exact_mut(n_rows).enumerate().for_each(|(at, column)| {
        for (out, part) in column.chunks_mut(ROWS).zip(&parts) {
            let n = out.len();
            out.copy_from_slice(&part[at * n..][..n]);
        }
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Features, Precision, Random};
    use crate::kernel::{KernelFunction, KernelMatrix};

    #[test]
    fn the_basis_describes_its_landmarks() {
        let mut random = Random::new(4);
        let items = Features::dense(3, (0..300 * 3).map(|_| random.normal()).collect(), Precision::F64).unwrap();
        let matrix = KernelMatrix::<f64>::new(KernelFunction::Rbf { gamma: 0.5 }, &items, 1 << 24).unwrap();
        let landmarks: Vec<u32> = (0..40).map(|k| k * 7).collect();
        let basis = LandmarkBasis::new(&matrix, landmarks.clone(), &|| true).unwrap().unwrap();
        // The kernel of a landmark with anything is the product of what describes them.
        let column = matrix.columns(&[landmarks[5]]);
        for (row, value) in column.iter().enumerate() {
            let product: f64 = (0..40).map(|k| basis.column(k)[landmarks[5] as usize] * basis.column(k)[row]).sum();
            assert!((product - value).abs() < 1e-7, "{product} {value}");
        }
        assert!(basis.mean_rest(&matrix) > 0.01 && basis.mean_rest(&matrix) < 1.0);
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
        assert!(LandmarkBasis::new(&matrix, vec![0, 1, 2, 3], &|| true).unwrap().is_none());
    }
}
