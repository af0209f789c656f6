//! The threshold with the least zero-one error (equation (6) of the SVMcompare paper, without its grid).
//!
//! err(τ) = weight of the ties with |z| > τ, plus that of the others with |z| ≤ τ or the wrong sign: constant between
//! neighbouring values of |z|, so one sort finds the exact minimum.

use crate::data::Outcome;
use crate::data::order::argsort;

/// Sizes closer than this share of the largest are equal.
const ROUNDING: f64 = 1e-9;

/// Sizes |z| that are one, and the error for τ from there up to the next.
struct Run {
    low: f64,
    high: f64,
    error: f64,
}

/// The minimiser of the weighted zero-one error over τ ≥ 0. Below the smallest |z| it is 0, beyond the largest it is
/// max|z|, in between the middle of two neighbours; among equal errors the widest inner gap wins, then the smallest τ.
/// Without ties it is 0. Sizes that differ by rounding are one: margins pile up where losses have corners. O(n log n).
pub(crate) fn best_threshold(outcomes: &[Outcome], margins: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    if !outcomes.contains(&Outcome::Tie) {
        return 0.0;
    }
    let size: Vec<f64> = margins.iter().map(|z| z.abs()).collect();
    best_cut(outcomes, margins, &size, weight, None)
}

/// What to widen a tie region by that depends on the pair, for the least error: a pair is a tie where |z| ≤ width + that.
pub(crate) fn best_widening(
    outcomes: &[Outcome],
    margins: &[f64],
    widths: &[f64],
    weight: impl Fn(usize) -> f64,
) -> f64 {
    let size: Vec<f64> = margins.iter().zip(widths).map(|(z, width)| z.abs() - width).collect();
    let least = size.iter().copied().fold(f64::INFINITY, f64::min);
    let most = size.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !outcomes.contains(&Outcome::Tie) {
        return least - 1.0;
    }
    best_cut(outcomes, margins, &size, weight, Some(least - (1e-3 * (most - least)).max(1e-9)))
}

/// The best of all cuts through sizes, up to which a pair is a tie. `below` is the cut below all of them; without it, 0 is,
/// unless a size is 0.
fn best_cut(
    outcomes: &[Outcome],
    margins: &[f64],
    size: &[f64],
    weight: impl Fn(usize) -> f64,
    below: Option<f64>,
) -> f64 {
    let order = argsort(size);
    // Error that moves with τ, relative to τ below every |z|.
    let mut error = 0.0;
    let mut runs: Vec<Run> = Vec::new();
    let rounding = ROUNDING * order.last().map_or(0.0, |&k| size[k as usize].abs());
    for k in order.into_iter().map(|k| k as usize) {
        if outcomes[k] == Outcome::Tie {
            error -= weight(k);
        } else if Outcome::of_margin(margins[k], 0.0) == outcomes[k] {
            error += weight(k);
        }
        match runs.last_mut() {
            // A tie at exactly 0 is one for every τ, whatever is near it.
            Some(run) if size[k] - run.high <= rounding && (run.high != 0.0 || size[k] == 0.0) => {
                (run.high, run.error) = (size[k], error);
            }
            _ => runs.push(Run { low: size[k], high: size[k], error }),
        }
    }
    let total: f64 = (0..outcomes.len()).map(&weight).sum();
    let slack = 1e-12 * total;
    // (error, inner width, τ)
    let mut best: Option<(f64, f64, f64)> = None;
    let mut offer = |error: f64, width: f64, tau: f64| {
        let better = match best {
            None => true,
            Some((least, widest, _)) => error < least - slack || (error <= least + slack && width > widest),
        };
        if better {
            best = Some((error, width, tau));
        }
    };
    if let Some(cut) = below.or((runs[0].low > 0.0).then_some(0.0)) {
        offer(0.0, 0.0, cut);
    }
    for (at, run) in runs.iter().enumerate() {
        match runs.get(at + 1) {
            Some(next) => {
                let middle = run.high + 0.5 * (next.low - run.high);
                offer(run.error, next.low - run.high, if middle < next.low { middle } else { run.high });
            }
            None => offer(run.error, 0.0, run.high),
        }
    }
    best.map_or(0.0, |(_, _, tau)| tau)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn error(outcomes: &[Outcome], margins: &[f64], weights: &[f64], tau: f64) -> f64 {
        (0..outcomes.len()).filter(|&k| Outcome::of_margin(margins[k], tau) != outcomes[k]).map(|k| weights[k]).sum()
    }

    #[test]
    fn never_worse_than_any_other_threshold() {
        let mut random = Random::new(1);
        for case in 0..300 {
            let n = 1 + random.below(30);
            let rounded = case % 2 == 0;
            let margins: Vec<f64> =
                (0..n).map(|_| if rounded { random.below(5) as f64 - 2.0 } else { random.normal() }).collect();
            let outcomes: Vec<Outcome> = (0..n).map(|_| Outcome::ALL[random.below(3)]).collect();
            let weights: Vec<f64> = (0..n).map(|_| random.below(4) as f64 * 0.5).collect();
            let tau = best_threshold(&outcomes, &margins, |k| weights[k]);
            if !outcomes.contains(&Outcome::Tie) {
                assert_eq!(tau, 0.0);
                continue;
            }
            let found = error(&outcomes, &margins, &weights, tau);
            for step in 0..=400 {
                assert!(found <= error(&outcomes, &margins, &weights, step as f64 * 0.01) + 1e-9);
            }
        }
    }

    #[test]
    fn follows_the_rule_for_gaps() {
        use Outcome::{Left, Right, Tie};
        // ties at 1, wins at 3: the middle of the gap
        assert_eq!(best_threshold(&[Tie, Right, Tie, Left], &[1.0, 3.0, -1.0, -3.0], |_| 1.0), 2.0);
        // only ties: the last gap
        assert_eq!(best_threshold(&[Tie, Tie], &[1.0, -4.0], |_| 1.0), 4.0);
        // ties are farther out than wins: the first gap
        assert_eq!(best_threshold(&[Tie, Right, Right], &[5.0, 1.0, 2.0], |_| 1.0), 0.0);
        // no ties at all
        assert_eq!(best_threshold(&[Left, Right], &[-1.0, 2.0], |_| 1.0), 0.0);
        // two inner gaps with the same error: the wider one
        assert_eq!(best_threshold(&[Tie, Right, Tie, Right], &[1.0, 2.0, 3.0, 9.0], |_| 1.0), 6.0);
    }
}
