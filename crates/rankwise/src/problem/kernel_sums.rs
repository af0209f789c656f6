//! Losses of scores, minimised over the functions of a kernel.
//!
//! With f = Σ aᵢ K(xᵢ, ·) on the items, scores are s = K·a and ‖f‖² = a·K a. The losses' slopes g in the scores are the
//! coefficients of their gradient in that norm, and their curvature M makes its Hessian  v ↦ M·K v. So a solver that asks for
//! inner products finds coefficients without ever dividing by K. Weights here are coefficients and, behind them, the scores
//! they make: whatever a solver adds up, the scores come along, and a product with K is needed once for every new gradient
//! or product with the Hessian.
//!
//! What lies in the span of some landmarks is most of K where it decays quickly; there the Hessian is known in full.

use crate::kernel::{LandmarkBasis, SymmetricMatrix};

use super::{BlockSums, Plane, Planes, SumPoint};

/// Losses of the scores that a kernel makes.
pub(crate) struct KernelSums<'a, S> {
    matrix: &'a dyn SymmetricMatrix,
    losses: S,
    basis: Option<LandmarkBasis>,
}

impl<'a, S: BlockSums> KernelSums<'a, S> {
    /// `losses` take scores for weights.
    pub(crate) fn new(matrix: &'a dyn SymmetricMatrix, losses: S, basis: Option<LandmarkBasis>) -> Self {
        KernelSums { matrix, losses, basis }
    }

    /// Coefficients with their scores.
    pub(crate) fn with_scores(&self, coefficients: Vec<f64>) -> Vec<f64> {
        let scores = self.matrix.times(&coefficients);
        let mut both = coefficients;
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
        SumPoint { gradient: self.with_scores(point.gradient), ..point }
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
        crate::math::dot(&a[..self.n()], &b[self.n()..])
    }

    fn square(&self, a: &[f64]) -> f64 {
        self.dot(a, a)
    }

    fn subspace_reads(&self) -> Option<f64> {
        let (m, n) = (self.basis.as_ref()?.len() as f64, self.n() as f64);
        // Products in the cache take a fraction of the time of those in memory; sums over pairs take some dozens.
        Some(m * (m / 8.0 + 20.0) / n)
    }

    fn subspace_hessian(&mut self) -> Option<(Vec<f64>, usize)> {
        let basis = self.basis.as_ref()?;
        let products = self.losses.hessian_times_all(basis.columns());
        Some((basis.times(&products), basis.len()))
    }

    fn within_subspace(&self, vector: &[f64], change: &dyn Fn(&mut [f64])) -> Vec<f64> {
        let mut out = vector.to_vec();
        if let Some(basis) = &self.basis {
            let (coefficients, scores) = out.split_at_mut(self.n());
            let before = basis.project(scores);
            let mut after = before.clone();
            change(&mut after);
            after.iter_mut().zip(&before).for_each(|(after, before)| *after -= before);
            basis.add(&after, coefficients, scores);
        }
        out
    }
}

impl<S: Planes> Planes for KernelSums<'_, S> {
    fn plane(&mut self, step: f64) -> Option<Plane> {
        let Plane { offset, normal } = self.losses.plane(step)?;
        Some(Plane { offset, normal: self.with_scores(normal) })
    }

    fn settle(&mut self, step: f64) {
        self.losses.settle(step);
    }
}
