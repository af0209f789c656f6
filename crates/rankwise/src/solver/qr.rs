//! The QR decomposition of rows that come and go: an orthonormal basis Q of their span, and the triangle R that makes them of it.

use crate::math::{add_multiple, dot};

/// Q·R, a column for every row.
#[derive(Debug, Clone, Default)]
pub(super) struct Qr {
    /// Columns of Q, orthonormal.
    pub(super) q: Vec<Vec<f64>>,
    /// Columns of R, down to the diagonal.
    r: Vec<Vec<f64>>,
}

impl Qr {
    /// A row as a combination of the columns of Q and the rest, which is orthogonal to them.
    pub(super) fn split(&self, row: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut rest = row.to_vec();
        let mut parts = vec![0.0; self.q.len()];
        // What rounding has left in after once is gone after twice.
        for _ in 0..2 {
            for (part, column) in parts.iter_mut().zip(&self.q) {
                let share = dot(column, &rest);
                add_multiple(&mut rest, -share, column);
                *part += share;
            }
        }
        (parts, rest)
    }

    /// Adds a row that was split; its rest must not be 0.
    pub(super) fn push(&mut self, mut parts: Vec<f64>, mut rest: Vec<f64>) {
        let length = norm(&rest);
        rest.iter_mut().for_each(|v| *v /= length);
        parts.push(length);
        self.q.push(rest);
        self.r.push(parts);
    }

    /// Removes a row; rotations make a triangle again of what is left.
    pub(super) fn remove(&mut self, at: usize) {
        self.r.remove(at);
        for k in at..self.r.len() {
            let (a, b) = (self.r[k][k], self.r[k][k + 1]);
            let length = a.hypot(b);
            let (cos, sin) = (a / length, b / length);
            for column in &mut self.r[k..] {
                let (upper, lower) = (column[k], column[k + 1]);
                column[k] = cos * upper + sin * lower;
                column[k + 1] = cos * lower - sin * upper;
            }
            self.r[k].truncate(k + 1);
            let (before, after) = self.q.split_at_mut(k + 1);
            for (upper, lower) in before[k].iter_mut().zip(&mut after[0]) {
                (*upper, *lower) = (cos * *upper + sin * *lower, cos * *lower - sin * *upper);
            }
        }
        self.q.pop();
    }

    /// R·x = v, in place.
    pub(super) fn solve_upper(&self, v: &mut [f64]) {
        for k in (0..v.len()).rev() {
            v[k] /= self.r[k][k];
            let value = v[k];
            add_multiple(&mut v[..k], -value, &self.r[k][..k]);
        }
    }

    /// R'·y = v, in place.
    pub(super) fn solve_lower(&self, v: &mut [f64]) {
        for k in 0..v.len() {
            v[k] = (v[k] - dot(&self.r[k][..k], &v[..k])) / self.r[k][k];
        }
    }
}

pub(super) fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}
