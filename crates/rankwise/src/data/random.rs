//! Random numbers that are the same on every platform, and a hash that is too.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded stream of random numbers (ChaCha8).
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform among 0, …, n − 1.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Standard normal (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A gamma variable of this shape and scale 1: for a whole number, the sum of so many exponential variables of mean 1
    /// (products of uniform ones up to four, Marsaglia and Tsang's method for others, and below 1 that for one more).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let power = (1.0 - self.uniform()).powf(1.0 / shape.max(f64::MIN_POSITIVE));
            return self.gamma(shape + 1.0) * power;
        }
        if shape <= 4.0 && shape.fract() == 0.0 {
            let product: f64 = (0..shape as usize).map(|_| 1.0 - self.uniform()).product();
            return -product.max(f64::MIN_POSITIVE).ln();
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.uniform()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// Shuffles in place (Fisher–Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

/// Adds `value` to a running 64-bit hash (the finaliser of splitmix64).
pub(crate) fn mix(hash: u64, value: u64) -> u64 {
    let mut z = (hash ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_add(hash.rotate_left(23));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// Mean and variance of a gamma variable are its shape, and for a shape of 1 it is above 1 once in e times.
    #[test]
    fn gamma_variables_have_their_moments() {
        let mut dice = Random::new(1);
        for shape in [0.3, 1.0, 2.0, 4.0, 5.0, 7.5, 300.0] {
            let n = 40_000;
            let numbers: Vec<f64> = (0..n).map(|_| dice.gamma(shape)).collect();
            let mean = numbers.iter().sum::<f64>() / n as f64;
            let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            assert!(
                (mean / shape - 1.0).abs() < 0.04 && (variance / shape - 1.0).abs() < 0.1,
                "{shape}: {mean} {variance}"
            );
            assert!(numbers.iter().all(|x| *x >= 0.0));
            if shape == 1.0 {
                let share = numbers.iter().filter(|x| **x > 1.0).count() as f64 / n as f64;
                assert!((share - (-1f64).exp()).abs() < 0.01);
            }
        }
    }
}
