//! The linear machines with squared hinge as smooth functions of u, β eliminated.
//!
//! P(u) = min over β of ½‖u‖² + Σ cost·ℓ(slack), slack = 1 − y(β ± z). At the best β, Σ y·a = 0 for a = 2·cost·slack, so
//! that these a are feasible duals; the gradient is u − Σ t·d with t = y(a − mirror a), and the gap there is ½‖gradient‖².
//! The generalised Hessian is I + Dᵀ diag(q) D − (Dᵀ r)(Dᵀ r)ᵀ / Σq over pairs, with q = 2·cost·(acting sides) and
//! r = 2·cost·(acting − acting mirror); without the last term where β is fixed.

use super::compare::PairProblem;
use super::{MirroredQp, PairLosses, PrimalPoint, SmoothPrimal};
use crate::data::Features;
use crate::kernel::KernelFunction;
use crate::loss::Loss;

/// One of the problems on pairs as a function of the weights of features.
pub(crate) struct LinearPrimal<'a> {
    problem: &'a PairProblem<'a>,
    items: &'a Features,
}

impl<'a> LinearPrimal<'a> {
    /// `None` where the problem is not smooth or not linear.
    pub(crate) fn new(
        problem: &'a PairProblem<'a>,
        kernel: KernelFunction,
        loss: Loss,
        items: &'a Features,
    ) -> Option<Self> {
        let is_smooth = kernel == KernelFunction::Linear && loss == Loss::SquaredHinge;
        is_smooth.then_some(LinearPrimal { problem, items })
    }

    /// z of every merged pair.
    fn margins(&self, weights: &[f64]) -> Vec<f64> {
        let scores = self.items.times(weights);
        let margin = |(left, right): (u32, u32)| scores[right as usize] - scores[left as usize];
        self.problem.pairs_of_items().map(margin).collect()
    }

    /// Σ coefficient·d over pairs.
    fn combine(&self, coefficients: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut of_items = vec![0.0; self.items.n_rows()];
        for ((left, right), t) in self.problem.pairs_of_items().zip(coefficients) {
            of_items[right as usize] += t;
            of_items[left as usize] -= t;
        }
        self.items.combine_rows(of_items.into_iter().enumerate().filter(|(_, t)| *t != 0.0))
    }

    /// Dᵀr/√Σq, what the elimination of β takes from the Hessian.
    fn tilt(&self, point: &PrimalPoint) -> Option<Vec<f64>> {
        let losses = &point.losses;
        let total: f64 = losses.curvatures.iter().sum();
        (losses.is_beta_free && total > 0.0).then(|| {
            let mut tilt = self.combine(losses.tilts.iter().copied());
            tilt.iter_mut().for_each(|v| *v /= total.sqrt());
            tilt
        })
    }
}

impl SmoothPrimal for LinearPrimal<'_> {
    fn dim(&self) -> usize {
        self.items.n_cols()
    }

    fn at(&self, weights: &[f64]) -> PrimalPoint {
        let losses = self.problem.at(&self.margins(weights), 1.0);
        let mut gradient = self.combine(losses.coefficients.iter().copied());
        gradient.iter_mut().zip(weights).for_each(|(g, w)| *g = w - *g);
        PrimalPoint { value: 0.5 * weights.iter().map(|w| w * w).sum::<f64>() + losses.losses, gradient, losses }
    }

    fn hessian_times(&self, point: &PrimalPoint, v: &[f64]) -> Vec<f64> {
        let along = self.margins(v);
        let mut out = self.combine(point.losses.curvatures.iter().zip(&along).map(|(q, e)| q * e));
        if let Some(tilt) = self.tilt(point) {
            let dot: f64 = tilt.iter().zip(v).map(|(t, v)| t * v).sum();
            out.iter_mut().zip(&tilt).for_each(|(o, t)| *o -= dot * t);
        }
        out.iter_mut().zip(v).for_each(|(o, v)| *o += v);
        out
    }

    fn hessian(&self, point: &PrimalPoint) -> Vec<f64> {
        let d = self.dim();
        let mut hessian = vec![0.0; d * d];
        let (mut left_row, mut difference) = (vec![0.0; d], vec![0.0; d]);
        for ((left, right), &q) in
            self.problem.pairs_of_items().zip(&point.losses.curvatures).filter(|(_, q)| **q > 0.0)
        {
            self.items.copy_row(left as usize, &mut left_row);
            self.items.copy_row(right as usize, &mut difference);
            difference.iter_mut().zip(&left_row).for_each(|(r, l)| *r -= l);
            for (a, row) in hessian.chunks_exact_mut(d).enumerate() {
                let factor = q * difference[a];
                if factor != 0.0 {
                    row[..=a].iter_mut().zip(&difference).for_each(|(h, x)| *h += factor * x);
                }
            }
        }
        let tilt = self.tilt(point);
        for a in 0..d {
            if let Some(tilt) = &tilt {
                (0..=a).for_each(|b| hessian[a * d + b] -= tilt[a] * tilt[b]);
            }
            hessian[a * d + a] += 1.0;
        }
        hessian
    }

    fn hessian_diagonal(&self, point: &PrimalPoint) -> Vec<f64> {
        let mut diagonal = vec![1.0; self.dim()];
        let mut difference = std::collections::BTreeMap::new();
        for ((left, right), &q) in
            self.problem.pairs_of_items().zip(&point.losses.curvatures).filter(|(_, q)| **q > 0.0)
        {
            difference.clear();
            self.items.for_each_in_row(right as usize, |c, v| *difference.entry(c).or_insert(0.0) += v);
            self.items.for_each_in_row(left as usize, |c, v| *difference.entry(c).or_insert(0.0) -= v);
            difference.iter().for_each(|(&c, x): (&usize, &f64)| diagonal[c] += q * x * x);
        }
        diagonal
    }

    fn hessian_work(&self) -> usize {
        self.problem.duals().len().saturating_mul(self.dim() * self.dim())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Exact, Task};
    use super::*;
    use crate::data::simulate::{Norm, Simulation};
    use crate::kernel::ItemRows;

    /// Gradients against differences of values, Hessians against differences of gradients, both forms of the Hessian.
    #[test]
    fn derivatives_are_those_of_the_function() {
        let simulation = Simulation { norm: Norm::L2, n_pairs: 80, ties: 0.4, noise: 0.25, seed: 1 };
        let data = simulation.draw().unwrap();
        let items = &data.set.items.features;
        for task in [Task::Compare { capped: false }, Task::Compare { capped: true }, Task::Rank, Task::Rank2] {
            let exact = Exact::new(KernelFunction::Linear, &[], &data, data.n_pairs(), &ItemRows::none()).unwrap();
            let problem = PairProblem::new(task, Loss::SquaredHinge, &exact, &data, |_| 0.7);
            let primal = LinearPrimal::new(&problem, KernelFunction::Linear, Loss::SquaredHinge, items).unwrap();
            let weights = [0.31, -0.17];
            let point = primal.at(&weights);
            let hessian = primal.hessian(&point);
            let diagonal = primal.hessian_diagonal(&point);
            for a in 0..2 {
                let step = 1e-6;
                let moved = |sign: f64| {
                    let mut weights = weights;
                    weights[a] += sign * step;
                    primal.at(&weights)
                };
                let (up, down) = (moved(1.0), moved(-1.0));
                let slope = (up.value - down.value) / (2.0 * step);
                assert!((slope - point.gradient[a]).abs() < 1e-4 * (1.0 + slope.abs()), "{task:?}");
                let mut unit = [0.0; 2];
                unit[a] = 1.0;
                let column = primal.hessian_times(&point, &unit);
                for b in 0..2 {
                    let curvature = (up.gradient[b] - down.gradient[b]) / (2.0 * step);
                    assert!((curvature - column[b]).abs() < 1e-4 * (1.0 + curvature.abs()), "{task:?}");
                    let dense = hessian[a.max(b) * 2 + a.min(b)];
                    assert!((dense - column[b]).abs() < 1e-9 * (1.0 + dense.abs()), "{task:?}");
                }
                assert!(diagonal[a] >= column[a] - 1e-9);
            }
        }
    }
}
