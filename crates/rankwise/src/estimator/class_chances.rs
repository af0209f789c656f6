//! Probabilities of two classes from scores of items that the machine has not seen: a sigmoid of two numbers.
//!
//! P(second) = 1/(1 + e^(−(a·s + b))) with a ≥ 0 and the least −Σ weight·[t log P + (1 − t) log(1 − P)]. The targets t are not
//! quite 1 and 0 but (w₂ + 1)/(w₂ + 2) and 1/(w₁ + 2) for classes of weight w₁ and w₂ (Platt 2000), which keeps the numbers
//! finite whatever the scores.

use crate::model::Sigmoid;

/// Newton steps; far more than it ever takes.
const MOST_STEPS: usize = 100;

/// An item that the machine had not seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unseen {
    pub(super) score: f64,
    pub(super) is_second: bool,
    pub(super) weight: f64,
}

/// The sigmoid of least cost.
pub(super) fn calibrate(seen: &[Unseen]) -> Sigmoid {
    let weight_of =
        |is_second: bool| -> f64 { seen.iter().filter(|s| s.is_second == is_second).map(|s| s.weight).sum() };
    let (first, second) = (weight_of(false), weight_of(true));
    let total = first + second;
    let targets = [1.0 / (first + 2.0), (second + 1.0) / (second + 2.0)];
    let size = (seen.iter().map(|s| s.weight * s.score * s.score).sum::<f64>() / total).sqrt();
    let size = if size.is_normal() { size } else { 1.0 };
    // In units in which scores are about 1.
    let terms: Vec<[f64; 3]> =
        seen.iter().map(|s| [s.score / size, targets[usize::from(s.is_second)], s.weight]).collect();
    let constant = ((second + 1.0) / (first + 1.0)).ln();
    let (slope, offset) = minimise(&terms, constant);
    if slope > 0.0 && slope.is_finite() && offset.is_finite() {
        return Sigmoid { slope: slope / size, offset };
    }
    Sigmoid { slope: 0.0, offset: constant }
}

fn minimise(terms: &[[f64; 3]], constant: f64) -> (f64, f64) {
    let (mut a, mut b) = (0.0, constant);
    let mut here = derivatives(terms, a, b);
    for _ in 0..MOST_STEPS {
        let (cost, [ga, gb], [haa, hab, hbb]) = here;
        let (haa, hbb) = (haa * (1.0 + 1e-12) + 1e-300, hbb * (1.0 + 1e-12) + 1e-300);
        let determinant = haa * hbb - hab * hab;
        let step = [-(hbb * ga - hab * gb) / determinant, -(haa * gb - hab * ga) / determinant];
        let fall = ga * step[0] + gb * step[1];
        if fall.is_nan() || fall >= -1e-14 * cost {
            break;
        }
        let mut share = 1.0;
        let next = loop {
            let (there_a, there_b) = (a + share * step[0], b + share * step[1]);
            let found = derivatives(terms, there_a, there_b);
            if found.0 <= cost + 1e-4 * share * fall {
                break Some((there_a, there_b, found));
            }
            share *= 0.5;
            if share < 1e-10 {
                break None;
            }
        };
        let Some((there_a, there_b, found)) = next else { break };
        (a, b, here) = (there_a, there_b, found);
    }
    (a, b)
}

fn derivatives(terms: &[[f64; 3]], a: f64, b: f64) -> (f64, [f64; 2], [f64; 3]) {
    let (mut cost, mut slope, mut curve) = (0.0, [0.0; 2], [0.0; 3]);
    for &[s, target, weight] in terms {
        let x = a * s + b;
        let softplus = x.max(0.0) + (-x.abs()).exp().ln_1p();
        let p = if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) };
        cost += weight * (softplus - target * x);
        slope[0] += weight * (p - target) * s;
        slope[1] += weight * (p - target);
        let bend = weight * p * (1.0 - p);
        curve[0] += bend * s * s;
        curve[1] += bend * s;
        curve[2] += bend;
    }
    (cost, slope, curve)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    #[test]
    fn finds_the_sigmoid_that_made_the_data() {
        let (truth, mut random) = (Sigmoid { slope: 1.7, offset: -0.6 }, Random::new(3));
        let seen: Vec<Unseen> = (0..40_000)
            .map(|_| {
                let score = 2.0 * random.normal();
                Unseen { score, is_second: random.uniform() < truth.of(score), weight: 1.0 }
            })
            .collect();
        let found = calibrate(&seen);
        assert!((found.slope - 1.7).abs() < 0.05 && (found.offset + 0.6).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn hostile_scores_give_a_rising_sigmoid_of_finite_numbers() {
        let one = |score: f64, is_second| Unseen { score, is_second, weight: 1.0 };
        for seen in [
            vec![one(-1.0, true), one(1.0, false)],
            vec![one(-1e-200, false), one(1e-200, true)],
            vec![one(-1e200, false), one(1e200, true)],
            vec![one(0.0, true), one(0.0, false)],
            vec![one(3.0, true)],
        ] {
            let found = calibrate(&seen);
            assert!(found.slope >= 0.0 && found.slope.is_finite() && found.offset.is_finite(), "{found:?}");
        }
        let apart = calibrate(&[one(-1.0, false), one(-2.0, false), one(1.0, true), one(2.0, true)]);
        assert!(apart.of(1.5) > 0.6 && apart.of(-1.5) < 0.4, "{apart:?}");
    }
}
