//! Losses of scores, minimised over the functions of a kernel.
//!
//! With f = Σ aᵢ K(xᵢ, ·) on the items, scores are s = K·a and ‖f‖² = a·K a. The losses' slopes g in the scores are the
//! coefficients of their gradient in that norm, and their curvature M makes its Hessian  v ↦ M·K v. So a solver that asks for
//! inner products finds coefficients without ever dividing by K. Weights here are coefficients and, behind them, the scores
//! they make: whatever a solver adds up, the scores come along, and a product with K is needed once for every new gradient
//! or product with the Hessian.
//!
//! A product with the matrix of many items takes seconds. Where whoever looks on does not let it go on, it is 0 and the sum
//! infinite from then on, which ends any search at the last weights that are right.
//!
//! Newton's step is solved for in scores, preconditioned by what stands for K: the span of some landmarks, and a diagonal.

use std::cell::Cell;

use rayon::prelude::*;

use super::{BlockSums, Plane, Planes, ScoreSpace, SumPoint};
use crate::kernel::{GoesOn, LandmarkBasis, SymmetricMatrix};
use crate::math::{add_multiple, cholesky, dot, solve_lower, solve_upper};

/// Rows that one thread takes at a time.
const PART: usize = 2048;

/// Losses of the scores that a kernel makes.
pub(crate) struct KernelSums<'a, S> {
    matrix: &'a dyn SymmetricMatrix,
    losses: S,
    /// What stands for most of the matrix, and the mean of what it leaves on the diagonal.
    basis: &'a LandmarkBasis,
    rest: f64,
    /// Of the basis where the losses were last: B⁻¹ψ, H B⁻¹ψ and the factor of I + ψᵀH B⁻¹ψ.
    eased: Vec<f64>,
    curved: Vec<f64>,
    factor: Vec<f64>,
    goes_on: GoesOn<'a>,
    is_over: Cell<bool>,
}

impl<'a, S: BlockSums> KernelSums<'a, S> {
    /// `losses` take scores for weights.
    pub(crate) fn new(
        matrix: &'a dyn SymmetricMatrix,
        losses: S,
        basis: &'a LandmarkBasis,
        goes_on: GoesOn<'a>,
    ) -> Self {
        let rest = basis.mean_rest(matrix);
        let (eased, curved, factor) = (Vec::new(), Vec::new(), Vec::new());
        KernelSums { matrix, losses, basis, rest, eased, curved, factor, goes_on, is_over: Cell::new(false) }
    }

    /// Whether a product did not go on.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// K·v; 0 where it does not go on.
    fn product(&self, v: &[f64]) -> Vec<f64> {
        let product = if self.is_over() { None } else { self.matrix.times_while(v, self.goes_on) };
        product.unwrap_or_else(|| {
            self.is_over.set(true);
            vec![0.0; v.len()]
        })
    }

    /// The value at coefficients with their scores, without a product.
    pub(crate) fn value_at(&mut self, weights: &[f64]) -> f64 {
        let losses = self.losses.go_to(&weights[self.n()..]).meant;
        0.5 * self.square(weights) + losses
    }

    /// Coefficients with their scores.
    pub(crate) fn with_scores(&self, coefficients: Vec<f64>) -> Vec<f64> {
        let scores = self.product(&coefficients);
        let mut both = coefficients;
        if self.is_over() {
            both.fill(0.0);
        }
        both.extend(scores);
        both
    }

    fn n(&self) -> usize {
        self.matrix.len()
    }
}

impl<S: BlockSums> BlockSums for KernelSums<'_, S> {
    fn dim(&self) -> usize {
        2 * self.n()
    }

    fn n_numbers(&self) -> usize {
        self.n() * self.n() / 2
    }

    fn go_to(&mut self, weights: &[f64]) -> SumPoint {
        let point = self.losses.go_to(&weights[self.n()..]);
        let point = SumPoint { gradient: self.with_scores(point.gradient), ..point };
        match self.is_over() {
            true => SumPoint { value: f64::INFINITY, meant: f64::INFINITY, ..point },
            false => point,
        }
    }

    fn hessian_times(&mut self, v: &[f64]) -> Vec<f64> {
        let product = self.losses.hessian_times(&v[self.n()..]);
        self.with_scores(product)
    }

    fn hessian_diagonal(&mut self) -> Vec<f64> {
        vec![0.0; self.dim()]
    }

    fn hessian_sketch(&mut self, _: usize) -> Vec<f64> {
        Vec::new()
    }

    fn aim(&mut self, direction: &[f64]) {
        self.losses.aim(&direction[self.n()..]);
    }

    fn along(&mut self, step: f64) -> (f64, f64) {
        self.losses.along(step)
    }

    fn set_c(&mut self, c: f64) {
        self.losses.set_c(c);
    }

    fn least_lead(&self) -> f64 {
        self.losses.least_lead()
    }

    fn round_off(&mut self, width: f64) {
        self.losses.round_off(width);
    }

    fn thinned(&self) -> Option<Box<dyn BlockSums + '_>> {
        None
    }

    fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        dot(&a[..self.n()], &b[self.n()..])
    }

    fn square(&self, a: &[f64]) -> f64 {
        self.dot(a, a)
    }

    fn refreshed(&self, weights: Vec<f64>) -> Vec<f64> {
        let fresh = self.with_scores(weights[..self.n()].to_vec());
        if self.is_over() && weights.len() == fresh.len() { weights } else { fresh }
    }

    fn in_scores(&mut self) -> Option<&mut dyn ScoreSpace> {
        Some(self)
    }
}

impl<S: BlockSums> ScoreSpace for KernelSums<'_, S> {
    fn scores(&self, coefficients: &[f64]) -> Vec<f64> {
        self.product(coefficients)
    }

    fn curvature_times(&mut self, change: &[f64]) -> Vec<f64> {
        self.losses.hessian_times(change)
    }

    /// With H the curvature and K ≈ ψψᵀ + rest, the inverse of I + K·H is that of B + ψψᵀH, B = I + rest·H, which is
    /// B⁻¹ − B⁻¹ψ (I + ψᵀH B⁻¹ψ)⁻¹ (H B⁻¹ψ)ᵀ.
    fn renew(&mut self) {
        self.losses.ease(self.rest);
        self.eased = self.losses.eased(self.basis.columns());
        self.curved = self.losses.hessian_times_all(&self.eased);
        let m = self.basis.len();
        self.factor = self.basis.times(&self.curved);
        (0..m).for_each(|at| self.factor[at * m + at] += 1.0);
        if !cholesky(&mut self.factor, m, 0.0) {
            self.factor.clear();
        }
    }

    fn about_inverse(&mut self, v: &[f64]) -> Vec<f64> {
        let mut out = self.losses.eased(v);
        let m = self.basis.len();
        if self.factor.len() == m * m {
            let mut weights = products(&self.curved, v);
            solve_lower(&self.factor, m, &mut weights);
            solve_upper(&self.factor, m, &mut weights);
            subtract(&self.eased, &weights, &mut out);
        }
        out
    }

    fn about_square(&self, coefficients: &[f64]) -> f64 {
        let weights = products(self.basis.columns(), coefficients);
        dot(&weights, &weights) + self.rest * dot(coefficients, coefficients)
    }
}

/// The products of a vector with columns one after the other.
fn products(columns: &[f64], v: &[f64]) -> Vec<f64> {
    columns.par_chunks_exact(v.len().max(1)).map(|column| dot(column, v)).collect()
}

/// Subtracts weighted columns.
fn subtract(columns: &[f64], weights: &[f64], out: &mut [f64]) {
    let n = out.len();
    out.par_chunks_mut(PART).enumerate().for_each(|(part, out)| {
        for (at, &weight) in weights.iter().enumerate() {
            add_multiple(out, -weight, &columns[at * n + part * PART..][..out.len()]);
        }
    });
}

impl<S: Planes> Planes for KernelSums<'_, S> {
    fn plane(&mut self, step: f64) -> Option<Plane> {
        let Plane { offset, normal } = self.losses.plane(step)?;
        let normal = self.with_scores(normal);
        (!self.is_over()).then_some(Plane { offset, normal })
    }

    fn settle(&mut self, step: f64) {
        self.losses.settle(step);
    }
}
