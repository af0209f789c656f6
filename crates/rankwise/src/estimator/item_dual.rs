//! Machines with a coefficient per item: from a kernel and what the dual says of each item to coefficients and bias.

use crate::error::{Error, Result};
use crate::kernel::ItemKernel;
use crate::problem::ItemDual;
use crate::progress::Stop;
use crate::solver::{
    Limits,
    decompose::{self, Worth},
};

/// The first and the last bound of coefficients, in units of what takes scores from one target to another, and how it grows.
const FIRST_BOUND: f64 = 1e3;
const LAST_BOUND: f64 = 1e15;
const GROWTH: f64 = 100.0;

/// Where a search ended: f(x) = Σ coefficient·K(member, x) + bias.
#[derive(Debug, Clone)]
pub(super) struct DualSolution {
    /// One per member.
    pub(super) coefficients: Vec<f64>,
    pub(super) bias: f64,
    /// f of the members.
    pub(super) scores: Vec<f64>,
    /// The primal value.
    pub(super) objective: f64,
    /// Relative to it.
    pub(super) gap: f64,
    pub(super) steps: u64,
    pub(super) stop: Stop,
}

/// Solves for those items of a kernel that are members, from coefficients `start` on (brought within bounds).
pub(super) fn solve(
    kernel: &ItemKernel<'_>,
    members: &[u32],
    duals: &[ItemDual],
    start: Option<&[f64]>,
    limits: Limits<'_>,
) -> Result<DualSolution> {
    let mut t = start.map_or_else(|| vec![0.0; duals.len()], |start| feasible(duals, start));
    let exact = kernel.exact()?;
    let mut spent = 0;
    let mut run = |duals: &[ItemDual], t: &mut [f64]| {
        let search = |is_narrow: bool, spent: u64, t: &mut [f64]| {
            let rest = Limits { max_iter: limits.max_iter.saturating_sub(spent), ..limits };
            // Where squares may be below 0, a sample of f32 scores does not say what the objective is off by.
            match kernel.narrow().filter(|_| is_narrow && kernel.is_positive_definite()) {
                Some(narrow) => decompose::solve(&narrow, &exact, members, kernel.diagonal(), duals, t, rest),
                None => decompose::solve(&exact, &exact, members, kernel.diagonal(), duals, t, rest),
            }
        };
        let mut ending = search(true, spent, t);
        spent += ending.steps;
        if ending.stop == Stop::Stalled {
            ending = search(false, spent, t);
            spent += ending.steps;
        }
        ending.steps = spent;
        ending
    };
    // Where coefficients may be huge, steps along directions without curvature would make them so, and rounding would take
    // all digits. They may grow by and by instead, and often need not grow to their bounds.
    let largest = duals.iter().map(|dual| dual.high.max(-dual.low)).fold(0.0, f64::max);
    let unit = unit_of_coefficients(kernel, members, duals);
    let mut bound = FIRST_BOUND * unit;
    let mut ended = None;
    while bound < largest.min(LAST_BOUND * unit) && ended.is_none() {
        if t.iter().all(|t| t.abs() <= bound) {
            let within = |dual: &ItemDual| ItemDual { low: dual.low.max(-bound), high: dual.high.min(bound), ..*dual };
            let bounded: Vec<ItemDual> = duals.iter().map(within).collect();
            let mut ending = run(&bounded, &mut t);
            let is_limited = !matches!(ending.stop, Stop::Converged | Stop::Stalled);
            ending.worth = stretch(duals, &mut t, &mut ending.scores, limits.tol);
            let is_met = ending.worth.relative() <= limits.tol;
            // Where digits are missing, they are missing for larger coefficients, too.
            ended = (is_limited || is_met || ending.stop == Stop::Stalled).then_some(ending);
        }
        bound *= GROWTH;
    }
    let ending = ended.unwrap_or_else(|| run(duals, &mut t));
    let decompose::Ending { mut scores, worth, steps, stop } = ending;
    if !(worth.primal.is_finite() && t.iter().all(|t| t.is_finite())) {
        return Err(Error::Numeric {
            problem: "the numbers leave the range of floating point".into(),
            remedy: "scale the features (--scale standard), choose a C nearer to 1, or another kernel".into(),
        });
    }
    scores.iter_mut().for_each(|score| *score += worth.bias);
    let bias = worth.bias - kernel.constant(members, &t);
    Ok(DualSolution { coefficients: t, bias, scores, objective: worth.primal, gap: worth.relative(), steps, stop })
}

/// Makes the function a little larger, if that is better: where slack costs very much, it had better be none.
fn stretch(duals: &[ItemDual], t: &mut [f64], scores: &mut [f64], tol: f64) -> Worth {
    let stretched = |factor: f64| {
        let times = |values: &[f64]| values.iter().map(|value| factor * value).collect::<Vec<f64>>();
        let longer: Vec<f64> = times(t).iter().zip(duals).map(|(t, dual)| t.clamp(dual.low, dual.high)).collect();
        (Worth::of(duals, &longer, &times(scores)), factor)
    };
    let factors = (-4..4).map(|power| 1.0 + tol * 2f64.powi(power));
    let (best, factor) =
        factors.map(stretched).fold(stretched(1.0), |best, new| if new.0.primal < best.0.primal { new } else { best });
    // Coefficients at their bounds would not keep to their sum.
    if factor == 1.0 || t.iter().zip(duals).any(|(t, dual)| factor * t > dual.high || factor * t < dual.low) {
        return Worth::of(duals, t, scores);
    }
    t.iter_mut().chain(scores).for_each(|value| *value *= factor);
    best
}

/// How large coefficients are that take scores from one target to another.
fn unit_of_coefficients(kernel: &ItemKernel<'_>, members: &[u32], duals: &[ItemDual]) -> f64 {
    let ends = |(low, high): (f64, f64), dual: &ItemDual| (low.min(dual.above), high.max(dual.below));
    let (low, high) = duals.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    let mean = members.iter().map(|&k| kernel.diagonal()[k as usize].abs()).sum::<f64>() / members.len().max(1) as f64;
    if high > low && mean > 0.0 { (high - low) / mean } else { f64::INFINITY }
}

/// Coefficients within their bounds that sum to 0: the heavier sign is made lighter.
pub(super) fn feasible(duals: &[ItemDual], start: &[f64]) -> Vec<f64> {
    let mut t: Vec<f64> = duals.iter().zip(start).map(|(dual, t)| t.clamp(dual.low, dual.high)).collect();
    let plus: f64 = t.iter().filter(|t| **t > 0.0).sum();
    let minus: f64 = -t.iter().filter(|t| **t < 0.0).sum::<f64>();
    let least = plus.min(minus);
    let (up, down) = (if plus > 0.0 { least / plus } else { 0.0 }, if minus > 0.0 { least / minus } else { 0.0 });
    t.iter_mut().for_each(|t| *t *= if *t > 0.0 { up } else { down });
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Features, Precision, Random};
    use crate::kernel::KernelFunction;
    use crate::progress::Unwatched;

    fn limits(tol: f64) -> Limits<'static> {
        Limits { tol, max_iter: u64::MAX, deadline: None, watch: &Unwatched }
    }

    const KERNELS: [KernelFunction; 4] = [
        KernelFunction::Linear,
        KernelFunction::Rbf { gamma: 0.4 },
        KernelFunction::Poly { gamma: 0.5, coef0: 1.0, degree: 3 },
        KernelFunction::Rbf { gamma: 20.0 },
    ];

    /// Items in three features, some of them twice, and what the dual says of each: classes or targets, with weights.
    fn problem(n: usize, seed: u64, is_class: bool, is_squared: bool) -> (Vec<f64>, Vec<ItemDual>) {
        let mut random = Random::new(seed);
        let mut rows: Vec<f64> = (0..3 * n).map(|_| random.normal()).collect();
        let half = 3 * (n / 2);
        if seed.is_multiple_of(2) {
            rows.copy_within(0..3 * (n / 4), half);
        }
        let dual = |row: &[f64]| {
            let value = row[0] * row[1] + row[2] + 0.3 * random.normal();
            let cost = 0.2 + 3.0 * random.uniform();
            if is_class {
                ItemDual::of_class(if value > 0.2 { 1.0 } else { -1.0 }, 0.5 + random.uniform(), cost, is_squared)
            } else {
                ItemDual::of_target(value, 0.1, cost, is_squared)
            }
        };
        let duals = rows.chunks(3).map(dual).collect();
        (rows, duals)
    }

    /// Primal and dual values from coefficients and bias alone, by plain loops.
    fn values(kernel: &KernelFunction, rows: &[f64], duals: &[ItemDual], found: &DualSolution) -> (f64, f64) {
        let row = |k: usize| &rows[3 * k..][..3];
        let t = &found.coefficients;
        let (mut norm, mut losses, mut linear) = (0.0, 0.0, 0.0);
        for (k, dual) in duals.iter().enumerate() {
            let score: f64 = t.iter().enumerate().map(|(l, t)| t * kernel.value(row(l), row(k))).sum();
            norm += t[k] * score;
            losses += dual.loss(score + found.bias);
            let target = if t[k] > 0.0 { dual.above } else { dual.below };
            linear += t[k] * target - 0.5 * dual.shift * t[k] * t[k];
        }
        (0.5 * norm + losses, linear - 0.5 * norm)
    }

    #[test]
    fn primal_and_dual_values_meet() {
        for kernel in KERNELS {
            for (seed, is_class, is_squared) in [
                (1, true, false),
                (2, true, false),
                (3, false, false),
                (4, false, false),
                (5, true, true),
                (6, false, true),
            ] {
                let (rows, duals) = problem(180, seed, is_class, is_squared);
                let items = Features::dense(3, rows.clone(), Precision::F64).unwrap();
                let all: Vec<u32> = (0..180).collect();
                let over = ItemKernel::new(kernel, &items, 64).unwrap();
                for tol in [1e-3, 1e-6] {
                    let found = solve(&over, &all, &duals, None, limits(tol)).unwrap();
                    assert_eq!(found.stop, Stop::Converged, "{kernel:?} {seed} {tol} gap {}", found.gap);
                    let (primal, dual) = values(&kernel, &rows, &duals, &found);
                    let near = if tol > 1e-4 { 1e-5 } else { 1e-9 };
                    assert!(
                        (primal - found.objective).abs() <= near * primal,
                        "{kernel:?} {primal} {}",
                        found.objective
                    );
                    assert!(primal - dual <= 1.2 * tol * primal, "{kernel:?} {seed} {tol}: {primal} {dual}");
                    assert!(found.coefficients.iter().sum::<f64>().abs() < 1e-9);
                    for (dual, &t) in duals.iter().zip(&found.coefficients) {
                        assert!(dual.low <= t && t <= dual.high);
                    }
                }
            }
        }
    }

    /// Rows that are kept, thrown out and computed again are the rows that are computed every time, dense and sparse.
    #[test]
    fn the_memory_for_rows_changes_nothing() {
        let (n, d) = (1500, 130);
        let mut random = Random::new(9);
        let numbers: Vec<f64> = (0..n * d).map(|_| if random.below(3) == 0 { random.normal() } else { 0.0 }).collect();
        let duals: Vec<ItemDual> = (0..n)
            .map(|k| {
                ItemDual::of_class(if numbers[k * d] + numbers[k * d + 1] > 0.0 { 1.0 } else { -1.0 }, 1.0, 1.0, false)
            })
            .collect();
        let dense = Features::dense(d, numbers.clone(), Precision::F32).unwrap();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in numbers.chunks(d) {
            for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                columns.push(column as u32);
                values.push(value);
            }
            starts.push(values.len());
        }
        let sparse = Features::sparse(d, starts, columns, values).unwrap();
        let all: Vec<u32> = (0..n as u32).collect();
        let fits = [&dense, &sparse].map(|items| {
            [0, 1, 100].map(|cache_mb| {
                let kernel = ItemKernel::new(KernelFunction::Rbf { gamma: 0.01 }, items, cache_mb).unwrap();
                solve(&kernel, &all, &duals, None, limits(1e-3)).unwrap()
            })
        });
        for [none, some, all] in &fits {
            assert_eq!(none.stop, Stop::Converged);
            assert_eq!(none.coefficients, some.coefficients);
            assert_eq!(none.coefficients, all.coefficients);
        }
        assert!((fits[0][0].objective - fits[1][0].objective).abs() < 2e-3 * fits[0][0].objective);
    }
}
