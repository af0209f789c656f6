//! Random numbers as `numpy.random.seed`, `randn` and `permutation` give them: the Mersenne Twister (Matsumoto, Nishimura 1998) and
//! Marsaglia's polar method. Studies that name a seed of theirs need the very same numbers.

const N: usize = 624;
const M: usize = 397;

/// The stream of a seed.
#[derive(Debug, Clone)]
pub(super) struct LegacyRandom {
    state: [u32; N],
    at: usize,
    /// The polar method makes two at a time.
    spare: Option<f64>,
}

impl LegacyRandom {
    pub(super) fn new(seed: u32) -> Self {
        let mut state = [seed; N];
        for k in 1..N {
            let last = state[k - 1];
            state[k] = 1_812_433_253u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(k as u32);
        }
        LegacyRandom { state, at: N, spare: None }
    }

    fn next(&mut self) -> u32 {
        if self.at == N {
            for k in 0..N {
                let joined = (self.state[k] & 0x8000_0000) | (self.state[(k + 1) % N] & 0x7fff_ffff);
                let twist = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[k] = self.state[(k + M) % N] ^ (joined >> 1) ^ twist;
            }
            self.at = 0;
        }
        let mut y = self.state[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// Uniform in [0, 1), with 53 bits.
    fn uniform(&mut self) -> f64 {
        let (high, low) = (self.next() >> 5, self.next() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// Standard normal.
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (a, b) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = a * a + b * b;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(factor * a);
                return factor * b;
            }
        }
    }

    /// Shuffles in place; places are drawn by throwing away what is too large.
    pub(super) fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            let mask = (last as u32 + 1).next_power_of_two() - 1;
            let place = loop {
                let drawn = self.next() & mask;
                if drawn <= last as u32 {
                    break drawn as usize;
                }
            };
            values.swap(last, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numpys() {
        let mut random = LegacyRandom::new(0);
        let drawn: Vec<f64> = (0..120).map(|_| random.normal()).collect();
        let first = [1.764052345967664, 0.4001572083672233, 0.9787379841057392, 2.240893199201458, 1.8675579901499675];
        let close = |a: f64, b: f64| (a - b).abs() <= 4.0 * f64::EPSILON * b.abs();
        assert!(drawn.iter().zip(first).all(|(a, b)| close(*a, b)), "{drawn:?}");
        assert!(close(drawn[5], -0.977277879876411) && close(drawn[60], -0.672460447775951));
        assert!(close(drawn[119], 0.9222066715665268));
        let mut order: Vec<usize> = (0..20).collect();
        random.shuffle(&mut order);
        assert_eq!(order, PERMUTATION);
    }

    const PERMUTATION: [usize; 20] = [19, 16, 1, 14, 15, 4, 9, 13, 7, 3, 2, 17, 12, 5, 18, 6, 10, 8, 11, 0];
}
