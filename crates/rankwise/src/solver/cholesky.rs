//! Symmetric positive definite systems of equations: Cholesky in blocks, sixteen columns at a time.

use rayon::prelude::*;

use crate::math::{add_multiple, dot, wide};

/// Columns that are eliminated together.
const BLOCK: usize = 32;
/// Numbers side by side in the inner loops.
const LANES: usize = 16;
/// Rows that share what the inner loop loads.
const ROWS: usize = 4;
/// Rows that one thread takes at a time.
const TASK: usize = 64;

/// A = L·Lᵀ.
pub(super) struct Cholesky {
    n: usize,
    /// Row by row; only the lower triangle counts.
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors a matrix given row by row, of which only the lower triangle counts. Pivots below `least` are rounding and
    /// become `least`.
    pub(super) fn new(mut matrix: Vec<f64>, n: usize, least: f64) -> Self {
        let mut panel = Vec::new();
        for start in (0..n).step_by(BLOCK) {
            let end = (start + BLOCK).min(n);
            factor_corner(&mut matrix, n, start, end, least);
            if end < n {
                // The columns of the block below the corner, one after the other: lanes are rows of the matrix.
                let width = (n - end).next_multiple_of(LANES);
                panel.clear();
                panel.resize((end - start) * width, 0.0);
                for row in end..n {
                    for (p, &value) in matrix[row * n + start..row * n + end].iter().enumerate() {
                        panel[p * width + row - end] = value;
                    }
                }
                solve_panel(&mut panel, width, &matrix, n, start);
                for row in end..n {
                    for (p, value) in matrix[row * n + start..row * n + end].iter_mut().enumerate() {
                        *value = panel[p * width + row - end];
                    }
                }
                // Rows share nothing; who has nothing else to do takes some.
                let rows =
                    matrix[end * n..].par_chunks_mut(TASK * n).enumerate().with_min_len(1 + TASK * TASK / (n - end));
                rows.for_each(|(task, rows)| subtract_products(rows, n, end, task * TASK, &panel, width));
            }
        }
        Cholesky { n, lower: matrix }
    }

    /// Solves A·x = b; `x` comes as b.
    pub(super) fn solve(&self, x: &mut [f64]) {
        let n = self.n;
        for a in 0..n {
            let (before, rest) = x.split_at_mut(a);
            let row = &self.lower[a * n..];
            rest[0] = (rest[0] - dot::<f64>(&row[..a], before)) / row[a];
        }
        for a in (0..n).rev() {
            let row = &self.lower[a * n..];
            let value = x[a] / row[a];
            x[a] = value;
            add_multiple::<f64>(&mut x[..a], -value, &row[..a]);
        }
    }
}

impl Cholesky {
    /// The diagonal of A⁻¹ = L⁻ᵀ·L⁻¹: squares of the columns of L⁻¹, sixteen of which are found together.
    pub(super) fn inverse_diagonal(&self) -> Vec<f64> {
        let n = self.n;
        let mut diagonal = vec![0.0; n.next_multiple_of(LANES)];
        let blocks = diagonal.as_chunks_mut::<LANES>().0.par_iter_mut().enumerate();
        blocks.for_each_init(
            || vec![[0.0; LANES]; n],
            |columns, (block, squares)| inverse_columns(&self.lower, n, block * LANES, columns, squares),
        );
        diagonal.truncate(n);
        diagonal
    }
}

wide! {
    /// Squares of the columns of L⁻¹ from `first` on; `columns` is room to work in.
    fn inverse_columns<T>(lower: &[T], n: usize, first: usize, columns: &mut [[T; LANES]], squares: &mut [T; LANES]) {
        let mut sums = [T::ZERO; LANES];
        let mut start = first;
        while start < n {
            // Rows that share what they load of the rows before them.
            let n_here = ROWS.min(n - start);
            let mut rest = [[T::ZERO; LANES]; ROWS];
            let rows: [&[T]; ROWS] = std::array::from_fn(|r| &lower[(start + r.min(n_here - 1)) * n..][first..start]);
            for (m, column) in columns[first..start].iter().enumerate() {
                for r in 0..ROWS {
                    let factor = rows[r][m];
                    for lane in 0..LANES {
                        rest[r][lane] = factor.times_plus::<FMA>(column[lane], rest[r][lane]);
                    }
                }
            }
            for (k, mut rest) in (start..start + n_here).zip(rest) {
                let row = &lower[k * n..];
                for (&factor, column) in row[start..k].iter().zip(&columns[start..k]) {
                    for lane in 0..LANES {
                        rest[lane] = factor.times_plus::<FMA>(column[lane], rest[lane]);
                    }
                }
                let inverse = T::from_f64(1.0 / row[k].to_f64());
                for lane in 0..LANES {
                    let unit = T::from_f64(if k == first + lane { 1.0 } else { 0.0 });
                    let value = unit.minus(rest[lane]).times(inverse);
                    columns[k][lane] = value;
                    sums[lane] = value.times_plus::<FMA>(value, sums[lane]);
                }
            }
            start += ROWS;
        }
        *squares = sums;
    }
}

/// The block on the diagonal, whose left part has been taken away already.
fn factor_corner(matrix: &mut [f64], n: usize, start: usize, end: usize, least: f64) {
    for a in start..end {
        for b in start..=a {
            let products = matrix[a * n + start..a * n + b].iter().zip(&matrix[b * n + start..b * n + b]);
            let sum = matrix[a * n + b] - products.map(|(x, y)| x * y).sum::<f64>();
            matrix[a * n + b] = if a == b { sum.max(least).sqrt() } else { sum / matrix[b * n + b] };
        }
    }
}

wide! {
    /// Columns of L below the corner that starts at `start`.
    fn solve_panel<T>(panel: &mut [T], width: usize, matrix: &[T], n: usize, start: usize) {
        for p in 0..panel.len() / width {
            let (done, rest) = panel.split_at_mut(p * width);
            let column = &mut rest[..width];
            let corner = &matrix[(start + p) * n + start..];
            for (q, before) in done.chunks_exact(width).enumerate() {
                let minus = T::ZERO.minus(corner[q]);
                for (x, &value) in column.iter_mut().zip(before) {
                    *x = minus.times_plus::<FMA>(value, *x);
                }
            }
            let inverse = T::from_f64(1.0 / corner[p].to_f64());
            column.iter_mut().for_each(|x| *x = x.times(inverse));
        }
    }
}

wide! {
    /// Takes the products of the panel's rows from rows of the lower triangle behind `end`, of which `before` come before.
    fn subtract_products<T>(rows: &mut [T], n: usize, end: usize, before: usize, panel: &[T], width: usize) {
        let n_rows = rows.len() / n;
        let mut first = 0;
        while first < n_rows {
            let n_here = ROWS.min(n_rows - first);
            let mut column = 0;
            while column < before + first + n_here {
                let mut sums = [[T::ZERO; LANES]; ROWS];
                for of_column in panel.chunks_exact(width) {
                    let lanes: &[T; LANES] = &of_column[column..].as_chunks().0[0];
                    for (r, sums) in sums.iter_mut().enumerate() {
                        let factor = of_column[(before + first + r).min(width - 1)];
                        for lane in 0..LANES {
                            sums[lane] = factor.times_plus::<FMA>(lanes[lane], sums[lane]);
                        }
                    }
                }
                for (r, sums) in sums.iter().enumerate().take(n_here) {
                    let row = &mut rows[(first + r) * n + end..(first + r + 1) * n];
                    let to = (column + LANES).min(before + first + r + 1);
                    if to > column {
                        row[column..to].iter_mut().zip(sums).for_each(|(x, &sum)| *x = x.minus(sum));
                    }
                }
                column += LANES;
            }
            first += ROWS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    #[test]
    fn solutions_solve() {
        let mut random = Random::new(1);
        for n in [1, 2, 15, 16, 17, 31, 32, 33, 64, 100, 257] {
            let factors: Vec<f64> = (0..n * n).map(|_| random.normal()).collect();
            let entry = |a: usize, b: usize| {
                let sum: f64 = (0..n).map(|k| factors[a * n + k] * factors[b * n + k]).sum();
                sum + if a == b { 0.1 } else { 0.0 }
            };
            let full: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
            // What stands above the diagonal must not matter.
            let lower = (0..n * n).map(|at| if at % n <= at / n { full[at] } else { f64::NAN }).collect();
            let wanted: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let mut x: Vec<f64> = (0..n).map(|a| dot::<f64>(&full[a * n..][..n], &wanted)).collect();
            let factors = Cholesky::new(lower, n, 1e-12);
            factors.solve(&mut x);
            for (k, square) in factors.inverse_diagonal().into_iter().enumerate() {
                let mut unit: Vec<f64> = (0..n).map(|a| f64::from(a == k)).collect();
                factors.solve(&mut unit);
                assert!((unit[k] - square).abs() <= 1e-9 * square, "{n}, {k}: {} and {square}", unit[k]);
            }
            let worst = x.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-7, "{n}: {worst}");
        }
    }
}
