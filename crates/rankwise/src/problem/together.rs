//! Labels and judged pairs in one sum over the same weights.

use super::{BlockSums, SumPoint};

/// Two sums over the weights of the same features, of which the second one is over features that are not scaled.
pub(crate) struct Together<'a> {
    scaled: Box<dyn BlockSums + 'a>,
    plain: Box<dyn BlockSums + 'a>,
    /// What features are divided by, one number for each; `None`: nothing.
    divisors: Option<&'a [f64]>,
}

impl<'a> Together<'a> {
    pub(crate) fn new(
        scaled: Box<dyn BlockSums + 'a>,
        plain: Box<dyn BlockSums + 'a>,
        divisors: Option<&'a [f64]>,
    ) -> Self {
        Together { scaled, plain, divisors }
    }

    fn divided(&self, v: &[f64]) -> Vec<f64> {
        match self.divisors {
            None => v.to_vec(),
            Some(divisors) => v.iter().zip(divisors).map(|(v, d)| v / d).collect(),
        }
    }
}

fn sum(mut a: Vec<f64>, b: &[f64]) -> Vec<f64> {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}

impl BlockSums for Together<'_> {
    fn dim(&self) -> usize {
        self.scaled.dim()
    }

    fn n_numbers(&self) -> usize {
        self.scaled.n_numbers() + self.plain.n_numbers()
    }

    fn go_to(&mut self, weights: &[f64]) -> SumPoint {
        let here = self.scaled.go_to(weights);
        let there = self.plain.go_to(&self.divided(weights));
        SumPoint {
            value: here.value + there.value,
            gradient: sum(here.gradient, &self.divided(&there.gradient)),
            meant: here.meant + there.meant,
            excess: here.excess + there.excess,
        }
    }

    fn hessian_times(&mut self, v: &[f64]) -> Vec<f64> {
        let here = self.scaled.hessian_times(v);
        let there = self.plain.hessian_times(&self.divided(v));
        sum(here, &self.divided(&there))
    }

    fn hessian_diagonal(&mut self) -> Vec<f64> {
        let here = self.scaled.hessian_diagonal();
        let there = self.plain.hessian_diagonal();
        sum(here, &self.divided(&self.divided(&there)))
    }

    fn hessian_sketch(&mut self, n: usize) -> Vec<f64> {
        let mut vectors = self.scaled.hessian_sketch(n);
        let others = self.plain.hessian_sketch(n);
        for vector in others.chunks_exact(self.dim().max(1)) {
            vectors.extend(self.divided(vector));
        }
        vectors
    }

    fn aim(&mut self, direction: &[f64]) {
        self.scaled.aim(direction);
        let direction = self.divided(direction);
        self.plain.aim(&direction);
    }

    fn along(&mut self, step: f64) -> (f64, f64) {
        let (here, there) = (self.scaled.along(step), self.plain.along(step));
        (here.0 + there.0, here.1 + there.1)
    }

    fn set_c(&mut self, c: f64) {
        self.scaled.set_c(c);
        self.plain.set_c(c);
    }

    fn least_lead(&self) -> f64 {
        self.scaled.least_lead().min(self.plain.least_lead())
    }

    fn round_off(&mut self, width: f64) {
        self.scaled.round_off(width);
        self.plain.round_off(width);
    }

    fn thinned(&self) -> Option<Box<dyn BlockSums + '_>> {
        let scaled = self.scaled.thinned()?;
        let plain = self.plain.thinned()?;
        Some(Box::new(Together { scaled, plain, divisors: self.divisors }))
    }
}
