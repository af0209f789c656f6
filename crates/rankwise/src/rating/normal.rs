//! The normal distribution, right to nearly the last digit also far out in its tails: the density φ, the probability Φ,
//! its inverse, Mills' ratio R(x) = Φ(−x)/φ(x), and what a normal number is on average once it is known to lie in a
//! range.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// From here on Mills' ratio comes from its continued fraction.
const FAR: f64 = 5.0;
/// Terms of the continued fraction, enough for all digits from [`FAR`] on.
const N_TERMS: u32 = 60;

/// The density φ(x).
pub(super) fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Φ(x), the probability of a smaller number.
pub(super) fn probability(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Φ⁻¹(p), for p from 0 (−∞) to 1 (∞).
pub(super) fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -quantile(1.0 - p);
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // A start within 5e-4 (Abramowitz and Stegun, 26.2.23), then steps of Halley's, each of which triples the digits.
    let t = (-2.0 * p.ln()).sqrt();
    let above = 2.515517 + t * (0.802853 + t * 0.010328);
    let below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    let mut x = above / below - t;
    for _ in 0..3 {
        let step = (probability(x) - p) / density(x);
        x -= step / (1.0 + 0.5 * x * step);
    }
    x
}

/// 1/R(x) − x for x ≥ 0: how far beyond x a normal number is on average, once it is known to be beyond x.
pub(super) fn excess(x: f64) -> f64 {
    if x < FAR {
        return density(x) / probability(-x) - x;
    }
    // R(x) = 1/(x + 1/(x + 2/(x + 3/(x + …)))), from the inside.
    1.0 / (2..=N_TERMS).rev().fold(x, |inner, k| x + f64::from(k) / inner)
}

/// What is known of a normal number in a range: by how much its mean moves, and which part of its variance goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Known {
    /// The mean.
    pub(super) mean: f64,
    /// 1 − the variance, from 0 to 1.
    pub(super) lost: f64,
}

/// A normal number beyond x.
pub(super) fn beyond(x: f64) -> Known {
    if x < 0.0 {
        let mean = density(x) / probability(-x);
        return Known { mean, lost: (mean * (mean - x)).clamp(0.0, 1.0) };
    }
    let excess = excess(x);
    // mean·(mean − x), without a product that is 0·∞.
    Known { mean: x + excess, lost: (excess * x + excess * excess).clamp(0.0, 1.0) }
}

/// Points and weights of Gauss and Legendre's rule with eight points on [0, 1].
const RULE: [(f64, f64); 8] = [
    (0.019_855_071_751_231_884, 0.050_614_268_145_188_13),
    (0.101_666_761_293_186_64, 0.111_190_517_226_687_24),
    (0.237_233_795_041_835_5, 0.156_853_322_938_943_63),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
    (0.591_717_321_247_825, 0.181_341_891_689_181),
    (0.762_766_204_958_164_5, 0.156_853_322_938_943_63),
    (0.898_333_238_706_813_4, 0.111_190_517_226_687_24),
    (0.980_144_928_248_768_1, 0.050_614_268_145_188_13),
];

/// A normal number between `centre` − `half` and `centre` + `half`, for `half` ≥ 0.
pub(super) fn within(centre: f64, half: f64) -> Known {
    let (at, sign) = (centre.abs(), 1f64.copysign(centre));
    let (low, high) = (at - half, at + half);
    let Known { mean, lost } = if half <= 1.0 && at * half <= 2.0 {
        narrow(at, half)
    } else if low >= 0.0 {
        // In units of φ(low), so that nothing vanishes: the range holds R(low) − r·R(high).
        let r = (-2.0 * at * half).exp();
        let (low_excess, high_excess) = (excess(low), excess(high));
        let (low_mills, high_mills) = (1.0 / (low + low_excess), 1.0 / (high + high_excess));
        let mass = low_mills - r * high_mills;
        // Written so that r = 0 leaves what is known of a number beyond `low`, whatever the width.
        let cut = if r > 0.0 { r * high_mills * (high_excess + 2.0 * half) } else { 0.0 };
        let past_low = (low_mills * low_excess - cut) / mass;
        let edge = if r > 0.0 { 2.0 * half * r / mass } else { 0.0 };
        let variance = 1.0 - low * past_low - edge - past_low * past_low;
        Known { mean: low + past_low, lost: 1.0 - variance }
    } else {
        let mass = probability(-low) - probability(-high);
        let mean = (density(low) - density(high)) / mass;
        let edges = times_density(high) - times_density(low);
        Known { mean, lost: mean * mean + edges / mass }
    };
    Known { mean: sign * mean, lost: lost.clamp(0.0, 1.0) }
}

/// x·φ(x), 0 at infinity.
fn times_density(x: f64) -> f64 {
    if x.is_finite() { x * density(x) } else { 0.0 }
}

/// The same for narrow ranges, where differences of probabilities would lose their digits: the density at
/// `at` ± s is proportional to e^(−s²/2 ∓ at·s), integrated over 0 ≤ s ≤ `half`.
fn narrow(at: f64, half: f64) -> Known {
    let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
    for (point, weight) in RULE {
        let s = half * point;
        let weight = weight * (-0.5 * s * s).exp();
        let (up, down) = ((at * s).exp(), (-at * s).exp());
        mass += weight * (up + down);
        first += weight * s * (up - down);
        second += weight * s * s * (up + down);
    }
    let back = first / mass;
    Known { mean: at - back, lost: 1.0 - (second / mass - back * back) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found:e} instead of {expected:e}");
    }

    /// Digits from mpmath.
    #[test]
    fn known_probabilities_and_quantiles() {
        near(probability(1.0), 0.841_344_746_068_542_9, 1e-15);
        near(probability(-10.0), 7.619_853_024_160_526e-24, 1e-13);
        near(probability(-37.0), 5.725_571_222_524_577e-300, 1e-12);
        near(quantile(0.975), 1.959_963_984_540_054, 1e-15);
        near(quantile(0.55), 0.125_661_346_855_074, 1e-14);
        near(quantile(1e-300), -37.047_096_299_361_2, 1e-14);
        for p in [1e-300, 1e-50, 1e-5, 0.01, 0.3, 0.5 + 1e-9, 0.7, 0.999] {
            near(probability(quantile(p)), p, 1e-12);
        }
        assert_eq!((quantile(0.5).abs() < 1e-16, quantile(0.0), quantile(1.0)), (true, -f64::INFINITY, f64::INFINITY));
    }

    /// Against sums over a fine grid, in units of the density at the nearest point.
    fn by_sum(low: f64, high: f64) -> Known {
        let nearest = low.max(0.0).min(high.max(0.0));
        let (low, high) = (low.max(nearest - 40.0), high.min(nearest + 40.0));
        let n = 400_000;
        let step = (high - low) / f64::from(n);
        let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
        for k in 0..n {
            let past = low + step * (f64::from(k) + 0.5) - nearest;
            let weight = (-0.5 * past * past - past * nearest).exp();
            mass += weight;
            first += weight * past;
            second += weight * past * past;
        }
        let mean = first / mass;
        Known { mean: nearest + mean, lost: 1.0 - (second / mass - mean * mean) }
    }

    #[test]
    fn ranges_against_sums() {
        for at in [0.0, 0.3, 1.0, 2.0, 4.9, 5.1, 8.0, 12.0] {
            let (found, sum) = (beyond(at), by_sum(at, f64::INFINITY));
            assert!(
                (found.mean - sum.mean).abs() < 1e-6 && (found.lost - sum.lost).abs() < 1e-6,
                "{at}: {found:?} {sum:?}"
            );
            for half in [1e-3, 0.1, 0.5, 0.99, 1.01, 3.0, 4.8, 7.0, 20.0] {
                let (found, sum) = (within(at, half), by_sum(at - half, at + half));
                let is_near = (found.mean - sum.mean).abs() < 1e-6 && (found.lost - sum.lost).abs() < 1e-6;
                assert!(is_near, "{at} ± {half}: {found:?} instead of {sum:?}");
                let mirrored = within(-at, half);
                assert_eq!((mirrored.mean, mirrored.lost), (-found.mean, found.lost));
            }
        }
        for x in [-30.0, -3.0, -0.5] {
            let (found, sum) = (beyond(x), by_sum(x, f64::INFINITY));
            assert!((found.mean - sum.mean).abs() < 1e-6 && (found.lost - sum.lost).abs() < 1e-6, "{x}");
        }
    }

    /// Where one way of computing goes over into another there is no step.
    #[test]
    fn the_ways_meet() {
        let same = |a: Known, b: Known, tolerance: f64| {
            assert!((a.mean - b.mean).abs() < tolerance && (a.lost - b.lost).abs() < tolerance, "{a:?} {b:?}");
        };
        let tiny = 1e-12;
        same(beyond(FAR - tiny), beyond(FAR + tiny), 1e-11);
        same(beyond(-tiny), beyond(tiny), 1e-11);
        for at in [0.0, 0.5, 0.999, 1.0, 1.5, 2.0] {
            same(within(at, 1.0), within(at, 1.0 + tiny), 1e-11);
        }
        for (at, half) in [(4.0, 0.5), (20.0, 0.1), (200.0, 0.01), (2e4, 1e-4)] {
            same(within(at, half), within(at * (1.0 + 1e-15), half), 1e-9);
        }
        same(within(0.0, 0.0), Known { mean: 0.0, lost: 1.0 }, 1e-15);
        same(within(3.0, 0.0), Known { mean: 3.0, lost: 1.0 }, 1e-15);
        same(within(3.0, 50.0), Known { mean: 0.0, lost: 0.0 }, 1e-15);
    }

    #[test]
    fn numbers_out_of_all_proportion() {
        let numbers = [0.0, 1e-300, 1e-20, 1e-3, 1.0, 30.0, 40.0, 1e4, 1e9, 1e160, 1e300];
        for a in numbers {
            for known in [beyond(a), beyond(-a)].into_iter().chain(numbers.map(|b| within(a, b))) {
                assert!(known.mean.is_finite() && (0.0..=1.0).contains(&known.lost), "{a:e}: {known:?}");
            }
            assert!((beyond(a.max(1e4)).lost - 1.0).abs() < 1e-7);
        }
        assert_eq!(within(2.0, f64::INFINITY), Known { mean: 0.0, lost: 0.0 });
    }
}
