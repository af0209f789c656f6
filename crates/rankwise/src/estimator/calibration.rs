//! Probabilities for machines that have none: a rule of three numbers, fitted to margins of pairs they have not seen.
//!
//! P(left) : P(tie) : P(right) = e^(−a·m/2) : e^(b + c·width) : e^(a·m/2) with a, c ≥ 0: symmetric, and monotone in the
//! margin. The cost −Σ weight·log P is convex in (a, b, c). A pair's worth of all three outcomes, spread over small and large
//! margins and widths, keeps the numbers finite whatever the data.

use crate::data::Outcome;
use crate::model::Chances;

/// Newton steps; far more than it ever takes.
const MOST_STEPS: usize = 100;

/// A judged pair that the machine had not seen.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) margin: f64,
    pub(super) width: f64,
    pub(super) outcome: Outcome,
    pub(super) weight: f64,
}

/// The rule of least cost. Without a band all widths are 0 and the third number is 0.
pub(super) fn calibrate(seen: &[Seen], has_band: bool) -> Chances {
    // Which side is which does not matter, to the last digit.
    let oriented: Vec<Seen> = seen
        .iter()
        .map(|&s| match s.outcome {
            Outcome::Left => Seen { margin: -s.margin, outcome: Outcome::Right, ..s },
            Outcome::Tie => Seen { margin: s.margin.abs(), ..s },
            Outcome::Right => s,
        })
        .collect();
    let seen = &oriented[..];
    let total: f64 = seen.iter().map(|s| s.weight).sum();
    let mean = |of: &dyn Fn(&Seen) -> f64| seen.iter().map(|s| s.weight * of(s)).sum::<f64>() / total;
    let size = mean(&|s| s.margin * s.margin).sqrt();
    let middle = mean(&|s| s.width);
    let spread = mean(&|s| (s.width - middle) * (s.width - middle)).sqrt();
    let has_band = has_band && spread > 0.0;
    let mut all = oriented.clone();
    for margin in [0.0, size] {
        for width in [middle - spread, middle + spread] {
            for outcome in Outcome::ALL {
                all.push(Seen { margin, width, outcome, weight: 1.0 / 12.0 });
            }
        }
    }
    // In units in which numbers are about 1.
    let unit = |v: f64| if v > 0.0 { v } else { 1.0 };
    let (size, spread) = (unit(size), unit(spread));
    all.iter_mut().for_each(|s| (s.margin, s.width) = (s.margin / size, (s.width - middle) / spread));
    let mut best: Option<(f64, [f64; 3])> = None;
    // Either bound may be where the optimum is.
    for (with_slope, with_width) in [(true, has_band), (true, false), (false, has_band), (false, false)] {
        let (cost, at) = minimise(&all, [with_slope, true, with_width]);
        if at[0] >= 0.0 && at[2] >= 0.0 && best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, at));
        }
    }
    let [slope, offset, by_width] = best.map_or([0.0; 3], |(_, at)| at);
    let by_width = by_width / spread;
    Chances::Calibrated { slope: slope / size, offset: offset - by_width * middle, by_width }
}

/// Newton's method with halved steps, in the numbers that are free.
fn minimise(seen: &[Seen], free: [bool; 3]) -> (f64, [f64; 3]) {
    let mut at = [0.0; 3];
    let (mut cost, mut slope, mut curve) = derivatives(seen, at);
    for _ in 0..MOST_STEPS {
        let step = solve(slope, curve, free);
        let fall: f64 = slope.iter().zip(step).map(|(g, s)| g * s).sum();
        if fall >= -1e-14 * cost.abs().max(1e-300) {
            break;
        }
        let mut share = 1.0;
        let next = loop {
            let there: [f64; 3] = std::array::from_fn(|k| at[k] + share * step[k]);
            let found = derivatives(seen, there);
            if found.0 <= cost + 1e-4 * share * fall {
                break Some((there, found));
            }
            share *= 0.5;
            if share < 1e-10 {
                break None;
            }
        };
        let Some((there, found)) = next else { break };
        at = there;
        (cost, slope, curve) = found;
    }
    (cost, at)
}

fn derivatives(seen: &[Seen], [a, b, c]: [f64; 3]) -> (f64, [f64; 3], [[f64; 3]; 3]) {
    let (mut cost, mut slope, mut curve) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for s in seen {
        let (half, tie) = (0.5 * a * s.margin, b + c * s.width);
        let largest = half.abs().max(tie);
        let parts = [(-half - largest).exp(), (tie - largest).exp(), (half - largest).exp()];
        let sum: f64 = parts.iter().sum();
        let p = parts.map(|part| part / sum);
        // What each outcome's logarithm changes by.
        let gradients = [[-0.5 * s.margin, 0.0, 0.0], [0.0, 1.0, s.width], [0.5 * s.margin, 0.0, 0.0]];
        let chosen = s.outcome as usize;
        cost += s.weight * (largest + sum.ln() - [-half, tie, half][chosen]);
        let mean: [f64; 3] = std::array::from_fn(|k| (0..3).map(|o| p[o] * gradients[o][k]).sum());
        for i in 0..3 {
            slope[i] += s.weight * (mean[i] - gradients[chosen][i]);
            for j in 0..3 {
                let second: f64 = (0..3).map(|o| p[o] * gradients[o][i] * gradients[o][j]).sum();
                curve[i][j] += s.weight * (second - mean[i] * mean[j]);
            }
        }
    }
    (cost, slope, curve)
}

/// −curve⁻¹·slope over the free numbers, by elimination.
fn solve(slope: [f64; 3], mut curve: [[f64; 3]; 3], free: [bool; 3]) -> [f64; 3] {
    let mut right = slope.map(|g| -g);
    for k in 0..3 {
        if !free[k] {
            (0..3).for_each(|j| (curve[k][j], curve[j][k]) = (0.0, 0.0));
            (curve[k][k], right[k]) = (1.0, 0.0);
        } else {
            curve[k][k] += 1e-12 * (1.0 + curve[k][k]);
        }
    }
    for k in 0..3 {
        for i in k + 1..3 {
            let factor = curve[i][k] / curve[k][k];
            (k..3).for_each(|j| curve[i][j] -= factor * curve[k][j]);
            right[i] -= factor * right[k];
        }
    }
    for k in (0..3).rev() {
        let known: f64 = (k + 1..3).map(|j| curve[k][j] * right[j]).sum();
        right[k] = (right[k] - known) / curve[k][k];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn draw(n: usize, rule: Chances, has_band: bool) -> Vec<Seen> {
        let mut random = Random::new(7);
        (0..n)
            .map(|_| {
                let margin = 3.0 * random.normal();
                let width = if has_band { random.normal() } else { 0.0 };
                let p = rule.of(margin, has_band.then_some(width));
                let u = random.uniform();
                let outcome = if u < p[0] {
                    Outcome::Left
                } else if u < p[0] + p[1] {
                    Outcome::Tie
                } else {
                    Outcome::Right
                };
                Seen { margin, width, outcome, weight: 1.0 }
            })
            .collect()
    }

    fn cost(seen: &[Seen], rule: Chances, has_band: bool) -> f64 {
        seen.iter().map(|s| -rule.of(s.margin, has_band.then_some(s.width))[s.outcome as usize].ln()).sum()
    }

    #[test]
    fn finds_the_rule_that_made_the_data() {
        for has_band in [false, true] {
            let by_width = if has_band { 0.8 } else { 0.0 };
            let truth = Chances::Calibrated { slope: 0.7, offset: 0.4, by_width };
            let seen = draw(20_000, truth, has_band);
            let found = calibrate(&seen, has_band);
            let Chances::Calibrated { slope, offset, by_width: found_width } = found else { unreachable!() };
            assert!((slope - 0.7).abs() < 0.03 && (offset - 0.4).abs() < 0.05 && (found_width - by_width).abs() < 0.05);
            // No other numbers are better on these pairs (but for the few that keep them finite).
            for (ds, d, dw) in
                [(0.01, 0.0, 0.0), (-0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, -0.01, 0.0), (0.0, 0.0, 0.01)]
            {
                let other = Chances::Calibrated {
                    slope: slope + ds,
                    offset: offset + d,
                    by_width: if has_band { found_width + dw } else { 0.0 },
                };
                assert!(cost(&seen, found, has_band) <= cost(&seen, other, has_band) + 0.05);
            }
        }
    }

    #[test]
    fn hostile_margins_give_finite_numbers() {
        let one = |margin: f64, outcome| Seen { margin, width: 0.0, outcome, weight: 1.0 };
        let cases: [Vec<Seen>; 5] = [
            vec![one(1.0, Outcome::Right), one(-1.0, Outcome::Left)],
            vec![one(0.0, Outcome::Tie); 50],
            vec![one(-2.0, Outcome::Right); 20],
            vec![one(1e200, Outcome::Right), one(-1e200, Outcome::Left), one(0.0, Outcome::Tie)],
            vec![one(1e-200, Outcome::Right), one(0.0, Outcome::Tie)],
        ];
        for seen in cases {
            let Chances::Calibrated { slope, offset, by_width } = calibrate(&seen, true) else { unreachable!() };
            assert!(slope >= 0.0 && slope.is_finite() && offset.is_finite() && by_width == 0.0, "{slope} {offset}");
        }
    }
}
