//! What coefficients and scores are worth: the best bias, the primal value, the gap.

use crate::problem::ItemDual;

/// Primal value and gap at given coefficients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Worth {
    /// The b for which the losses of scores + b are least.
    pub(crate) bias: f64,
    /// ½ Σ t·score + losses.
    pub(crate) primal: f64,
    /// What the primal value is above the dual one.
    pub(crate) gap: f64,
}

impl Worth {
    /// Scores are those of the coefficients, without a bias.
    pub(crate) fn of(duals: &[ItemDual], t: &[f64], scores: &[f64]) -> Self {
        let bias = best_bias(duals, scores);
        let (mut primal, mut gap) = (0.0, 0.0);
        for ((dual, &t), &score) in duals.iter().zip(t).zip(scores) {
            primal += dual.loss(score + bias) + 0.5 * t * score;
            gap += dual.residual(t, score + bias);
        }
        Worth { bias, primal, gap }
    }

    /// gap/max(|primal|, 1e-12)
    pub(crate) fn relative(&self) -> f64 {
        self.gap / self.primal.abs().max(1e-12)
    }
}

/// The middle of where the sum of losses is least over b. Its slope −Σ wanted(score + b) never falls; items whose losses
/// have no kink between the bounds are added up once.
fn best_bias(duals: &[ItemDual], scores: &[f64]) -> f64 {
    let slope = |b: f64| -duals.iter().zip(scores).map(|(dual, s)| dual.wanted(s + b)).sum::<f64>();
    let kinks = |k: usize| {
        let (dual, score) = (&duals[k], scores[k]);
        [(dual.high > 0.0).then_some(dual.above - score), (dual.low < 0.0).then_some(dual.below - score)]
    };
    let all = || (0..duals.len()).flat_map(kinks).flatten();
    let (mut low, mut high) =
        all().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), b| (low.min(b), high.max(b)));
    if low > high || !(low.is_finite() && high.is_finite()) {
        return 0.0;
    }
    // Beyond all kinks only one of the two signs is left.
    if slope(low) > 0.0 || slope(high) < 0.0 {
        return if slope(low) > 0.0 { low } else { high };
    }
    // What rounding leaves of a sum that is 0.
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let resolution = 1e-12 * duals.iter().map(|dual| finite(dual.high) - finite(dual.low)).sum::<f64>();
    let mut open: Vec<u32> = (0..duals.len() as u32).collect();
    // Σ wanted of the others, constant + rate·b.
    let (mut constant, mut rate) = (0.0, 0.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) {
            break;
        }
        let wanted: f64 = open.iter().map(|&k| duals[k as usize].wanted(scores[k as usize] + middle)).sum();
        let sum = wanted + constant + rate * middle;
        if sum.abs() <= resolution {
            // A stretch where nothing changes: its middle.
            return middle_of_flat(duals, scores, middle, [low, high]);
        }
        if sum > 0.0 {
            low = middle
        } else {
            high = middle
        }
        open.retain(|&k| {
            let (dual, score) = (&duals[k as usize], scores[k as usize]);
            let is_open = kinks(k as usize).into_iter().flatten().any(|b| low <= b && b <= high);
            if !is_open {
                let at = dual.wanted(score + middle);
                let bends = at != 0.0 && at > dual.low && at < dual.high && dual.shift > 0.0;
                let own = if bends { -1.0 / dual.shift } else { 0.0 };
                rate += own;
                constant += at - own * middle;
            }
            is_open
        });
    }
    0.5 * (low + high)
}

/// The middle of the stretch around `at` on which the slope is 0.
fn middle_of_flat(duals: &[ItemDual], scores: &[f64], at: f64, [low, high]: [f64; 2]) -> f64 {
    let (mut left, mut right) = (low, high);
    for (dual, score) in duals.iter().zip(scores) {
        for (kink, is_there) in [(dual.above - score, dual.high > 0.0), (dual.below - score, dual.low < 0.0)] {
            if is_there && kink <= at {
                left = left.max(kink);
            }
            if is_there && kink >= at {
                right = right.min(kink);
            }
        }
    }
    0.5 * (left + right)
}
