//! Stochastic subgradient steps on  ½λ‖w‖² + mean loss,  each at the cost of what its term touches.
//!
//!   w ← (1 − ηλ)·w − η·slope of a random term
//!
//! w is kept as a·v, so that shrinking it is one product. The average  w̄ ← (1 − ρ)·w̄ + ρ·w  with ρ = 4/(t + 3), in which
//! iterate s weighs about s³ (polynomial decay: Shamir and Zhang, 2013), is kept as b·(u + β·v): a change of v by δ leaves it
//! as it is if u changes by −β·δ, and averaging is arithmetic on b and β. So neither touches what a sparse term does not.

use super::Limits;
use crate::problem::RandomTerms;
use crate::progress::Stop;

/// Steps between two looks at the clock.
const STEPS_AT_A_TIME: u64 = 1 << 10;
/// The degree of the polynomial by which iterates are averaged.
const DECAY: f64 = 3.0;
/// Scales below are multiplied into the vectors, so that numbers stay in range.
const TINY: f64 = 1e-100;
/// The same of w where there is an average: u and β·v are 1/a times as long as their sum, which loses so many digits.
const SMALL: f64 = 1e-4;

/// Where the steps have led.
#[derive(Debug, Clone)]
pub(crate) struct Descent {
    v: Vec<f64>,
    a: f64,
    average: Option<Average>,
    steps: u64,
}

#[derive(Debug, Clone)]
struct Average {
    u: Vec<f64>,
    b: f64,
    beta: f64,
}

impl Descent {
    /// Starts at these weights, without an average yet.
    pub(crate) fn new(weights: Vec<f64>, is_averaged: bool) -> Self {
        let average = is_averaged.then(|| weights.clone());
        Self::resume(weights, average, 0)
    }

    /// Goes on after so many steps.
    pub(crate) fn resume(weights: Vec<f64>, average: Option<Vec<f64>>, steps: u64) -> Self {
        let average = average.map(|u| Average { u, b: 1.0, beta: 0.0 });
        Descent { v: weights, a: 1.0, average, steps }
    }

    /// How many steps were made.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// New features have come, whose weights are 0.
    pub(crate) fn widen(&mut self, dim: usize) {
        if dim > self.v.len() {
            self.v.resize(dim, 0.0);
            if let Some(average) = &mut self.average {
                average.u.resize(dim, 0.0);
            }
        }
    }

    /// Makes steps; `eta` gives the size of each by its number, at most 1/λ. The limit that ended them early, if one did.
    pub(crate) fn run(
        &mut self,
        terms: &mut impl RandomTerms,
        n_steps: u64,
        lambda: f64,
        eta: impl Fn(f64) -> f64,
        limits: Limits<'_>,
    ) -> Option<Stop> {
        let end = self.steps.saturating_add(n_steps);
        while self.steps < end {
            if let Some(stop) = limits.reached(self.steps, f64::NAN) {
                return Some(stop);
            }
            for _ in 0..STEPS_AT_A_TIME.min(end - self.steps) {
                self.steps += 1;
                let t = self.steps as f64;
                self.step(terms, t, lambda, eta(t));
            }
        }
        None
    }

    #[inline]
    fn step(&mut self, terms: &mut impl RandomTerms, t: f64, lambda: f64, eta: f64) {
        let has_slope = terms.draw(&self.v, self.a);
        self.a *= (1.0 - eta * lambda).max(0.0);
        if self.a < if self.average.is_some() { SMALL } else { TINY } {
            self.fold();
        }
        if has_slope {
            let factor = eta / self.a;
            let other = self.average.as_mut().map(|average| (average.u.as_mut_slice(), -average.beta * factor));
            terms.descend(&mut self.v, factor, other);
        }
        if let Some(average) = &mut self.average {
            let rho = (DECAY + 1.0) / (t + DECAY);
            if rho < 1.0 {
                average.b *= 1.0 - rho;
                average.beta += rho * self.a / average.b;
                if average.b < TINY {
                    self.fold();
                }
            } else {
                average.u.fill(0.0);
                (average.b, average.beta) = (self.a, 1.0);
            }
        }
    }

    /// Multiplies the scales into the vectors.
    fn fold(&mut self) {
        let (mean, a) = (self.mean(), std::mem::replace(&mut self.a, 1.0));
        self.v.iter_mut().for_each(|v| *v *= a);
        if let (Some(average), Some(mean)) = (&mut self.average, mean) {
            *average = Average { u: mean, b: 1.0, beta: 0.0 };
        }
    }

    fn mean(&self) -> Option<Vec<f64>> {
        let Average { u, b, beta } = self.average.as_ref()?;
        Some(u.iter().zip(&self.v).map(|(u, v)| b * (u + beta * v)).collect())
    }

    /// The weights after the last step.
    pub(crate) fn last(&self) -> Vec<f64> {
        self.v.iter().map(|v| self.a * v).collect()
    }

    /// The average of the weights; without averaging the last ones.
    pub(crate) fn answer(&self) -> Vec<f64> {
        self.mean().unwrap_or_else(|| self.last())
    }
}

#[cfg(test)]
mod tests {
    use super::{Descent, Limits};
    use crate::problem::RandomTerms;
    use crate::progress::Unwatched;

    /// Sparse hinge terms in a fixed order.
    struct Fixed {
        terms: Vec<Vec<(usize, f64)>>,
        next: usize,
    }

    impl Fixed {
        fn term(&self, at: usize) -> &[(usize, f64)] {
            &self.terms[(at * at + 3 * at) % self.terms.len()]
        }
    }

    impl RandomTerms for Fixed {
        fn draw(&mut self, direction: &[f64], scale: f64) -> bool {
            self.next += 1;
            scale * self.term(self.next).iter().map(|&(k, x)| direction[k] * x).sum::<f64>() < 1.0
        }

        fn descend(&mut self, direction: &mut [f64], factor: f64, other: Option<(&mut [f64], f64)>) {
            self.term(self.next).iter().for_each(|&(k, x)| direction[k] += factor * x);
            if let Some((other, factor)) = other {
                self.term(self.next).iter().for_each(|&(k, x)| other[k] += factor * x);
            }
        }

        fn mean_square(&mut self) -> f64 {
            1.0
        }
    }

    fn limits() -> Limits<'static> {
        Limits { tol: 1e-3, max_iter: u64::MAX, deadline: None, watch: &Unwatched }
    }

    /// Against steps that shrink and average every weight every time; with a step that forgets all (η = 1/λ), and with
    /// shrinking by so much that scales have to be folded.
    #[test]
    fn lazy_steps_equal_plain_ones() {
        // Numbers of no pattern: where a lead were 1 but for rounding, plain and lazy steps would part.
        let x = |k: usize| (0.7371 * k as f64).sin();
        let terms: Vec<Vec<(usize, f64)>> =
            (0..17).map(|k| vec![(k % 5, 1.5 + x(k)), (5 + k % 3, x(k + 20) - 0.5), (8, x(k + 40))]).collect();
        type Eta = fn(f64) -> f64;
        let etas: [(f64, Eta); 4] = [
            (0.01, |t| 1.0 / (0.01 * t)),
            (0.01, |t| 1.0 / (0.01 * t + 4.0)),
            (0.3, |t| 1.0 / (0.3 + 2.0 + t.sqrt())),
            (0.999, |_| 1.0),
        ];
        for (lambda, eta) in etas {
            let n_steps = 3000;
            let (mut w, mut mean) = (vec![0.0; 9], vec![0.0; 9]);
            let plain = Fixed { terms: terms.clone(), next: 0 };
            for t in 1..=n_steps {
                let (term, step) = (plain.term(t), eta(t as f64));
                let lacks = term.iter().map(|&(k, x)| w[k] * x).sum::<f64>() < 1.0;
                w.iter_mut().for_each(|w| *w *= 1.0 - step * lambda);
                if lacks {
                    term.iter().for_each(|&(k, x)| w[k] += step * x);
                }
                let rho = 4.0 / (t as f64 + 3.0);
                mean.iter_mut().zip(&w).for_each(|(mean, w)| *mean += rho * (w - *mean));
            }
            let mut descent = Descent::new(vec![0.0; 9], true);
            let mut lazy = Fixed { terms: terms.clone(), next: 0 };
            assert_eq!(descent.run(&mut lazy, n_steps as u64, lambda, eta, limits()), None);
            let size = w.iter().fold(1.0, |most: f64, w| most.max(w.abs()));
            for (lazy, plain) in descent.last().iter().zip(&w).chain(descent.answer().iter().zip(&mean)) {
                assert!((lazy - plain).abs() < 1e-9 * size, "λ {lambda}: {lazy} {plain}");
            }
            // In two goes, the second of them from what was saved.
            let mut first = Descent::new(vec![0.0; 9], true);
            let mut lazy = Fixed { terms: terms.clone(), next: 0 };
            first.run(&mut lazy, 1000, lambda, eta, limits());
            let mut second = Descent::resume(first.last(), Some(first.answer()), first.steps());
            second.run(&mut lazy, n_steps as u64 - 1000, lambda, eta, limits());
            for (lazy, plain) in second.last().iter().zip(&w).chain(second.answer().iter().zip(&mean)) {
                assert!((lazy - plain).abs() < 1e-9 * size, "λ {lambda}: {lazy} {plain}, {:?} {w:?}", second.last());
            }
        }
    }
}
