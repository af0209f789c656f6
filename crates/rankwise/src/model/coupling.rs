//! Probabilities of many classes from those of all pairs of them (Hastie and Tibshirani 1998).
//!
//! r_ij is the probability of j among i and j. The answer p, with μ_ij = p_j/(p_i + p_j), has the least Kullback–Leibler
//! divergence Σ [r log(r/μ) + (1 − r) log((1 − r)/(1 − μ))]: with p = e^θ, a convex function of θ, by Newton's method.

/// Steps; far more than it ever takes.
const MOST_STEPS: usize = 100;

/// What a step may lower the value by and still be so small that values, which differ by less than their rounding, cannot
/// judge it; there Newton's method doubles its digits with every step.
const CLOSE: f64 = 1e-10;
/// Another step would change nothing.
const THERE: f64 = 1e-20;

/// Probabilities of `n` classes; `pairs` has r_ij for i < j in order, none of them 0 or 1.
pub(super) fn coupled(pairs: &[f64], n: usize) -> Vec<f64> {
    let mut theta = vec![0.0; n];
    let mut cost = value(pairs, &theta);
    for _ in 0..MOST_STEPS {
        let (slope, mut curve) = derivatives(pairs, &theta);
        let mut step: Vec<f64> = slope.iter().map(|g| -g).collect();
        solve(&mut curve, &mut step, n);
        let fall: f64 = slope.iter().zip(&step).map(|(g, s)| g * s).sum();
        if fall.is_nan() {
            break;
        }
        if fall > -CLOSE {
            theta.iter_mut().zip(&step).for_each(|(t, s)| *t += s);
            if fall > -THERE {
                break;
            }
            cost = value(pairs, &theta);
            continue;
        }
        let mut share = 1.0;
        let next = loop {
            let there: Vec<f64> = theta.iter().zip(&step).map(|(t, s)| t + share * s).collect();
            let found = value(pairs, &there);
            if found <= cost + 1e-4 * share * fall {
                break Some((there, found));
            }
            share *= 0.5;
            if share < 1e-9 {
                break None;
            }
        };
        let Some((there, found)) = next else { break };
        (theta, cost) = (there, found);
    }
    let highest = theta.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = theta.iter().map(|t| (t - highest).exp()).collect();
    let total: f64 = parts.iter().sum();
    parts.iter().map(|part| part / total).collect()
}

fn each_pair(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

fn value(pairs: &[f64], theta: &[f64]) -> f64 {
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let cost = |((i, j), r): ((usize, usize), &f64)| {
        let x: f64 = theta[j] - theta[i];
        r * softplus(-x) + (1.0 - r) * softplus(x)
    };
    each_pair(theta.len()).zip(pairs).map(cost).sum()
}

fn derivatives(pairs: &[f64], theta: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = theta.len();
    let (mut slope, mut curve) = (vec![0.0; n], vec![0.0; n * n]);
    for ((i, j), r) in each_pair(n).zip(pairs) {
        let x: f64 = theta[j] - theta[i];
        let mu = if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) };
        slope[j] += mu - r;
        slope[i] -= mu - r;
        let bend = (mu * (1.0 - mu)).max(1e-300);
        curve[i * n + i] += bend;
        curve[j * n + j] += bend;
        curve[i * n + j] -= bend;
        curve[j * n + i] -= bend;
    }
    // A common constant does not matter; this keeps it where it is.
    let mean = curve.iter().step_by(n + 1).sum::<f64>() / n as f64;
    curve.iter_mut().for_each(|c| *c += mean / n as f64);
    (slope, curve)
}

/// Gauss elimination of a positive definite matrix; the answer takes the place of `right`.
fn solve(matrix: &mut [f64], right: &mut [f64], n: usize) {
    for k in 0..n {
        for i in k + 1..n {
            let factor = matrix[i * n + k] / matrix[k * n + k];
            (k..n).for_each(|j| matrix[i * n + j] -= factor * matrix[k * n + j]);
            right[i] -= factor * right[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| matrix[k * n + j] * right[j]).sum();
        right[k] = (right[k] - known) / matrix[k * n + k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The authors' own iteration, until nothing moves.
    fn twin(pairs: &[f64], n: usize) -> Vec<f64> {
        let mut r = vec![0.0; n * n];
        for ((i, j), p) in each_pair(n).zip(pairs) {
            (r[j * n + i], r[i * n + j]) = (*p, 1.0 - p);
        }
        let mut p = vec![1.0 / n as f64; n];
        for _ in 0..200_000 {
            for i in 0..n {
                let others = || (0..n).filter(|&j| j != i);
                let wanted: f64 = others().map(|j| r[i * n + j]).sum();
                let have: f64 = others().map(|j| p[i] / (p[i] + p[j])).sum();
                p[i] *= wanted / have;
            }
            let total: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= total);
        }
        p
    }

    #[test]
    fn equals_the_authors_iteration() {
        for pairs in [vec![0.3, 0.8, 0.6], vec![0.01, 0.99, 0.5], vec![0.9, 0.2, 0.7, 0.1, 0.6, 0.5]] {
            let n = if pairs.len() == 3 { 3 } else { 4 };
            for (found, expected) in coupled(&pairs, n).iter().zip(twin(&pairs, n)) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }

    #[test]
    fn probabilities_that_agree_are_found_again() {
        let p = [0.1, 0.2, 0.3, 0.4];
        let pairs: Vec<f64> = each_pair(4).map(|(i, j)| p[j] / (p[i] + p[j])).collect();
        coupled(&pairs, 4).iter().zip(p).for_each(|(found, p)| assert!((found - p).abs() < 1e-12));
    }

    #[test]
    fn certain_machines_give_numbers() {
        let (no, yes) = (1e-12, 1.0 - 1e-12);
        for pairs in [[no, yes, no], [yes, yes, yes], [no, no, no]] {
            let found = coupled(&pairs, 3);
            assert!(found.iter().all(|p| p.is_finite() && *p >= 0.0), "{found:?}");
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
