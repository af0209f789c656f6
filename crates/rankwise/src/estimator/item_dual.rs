//! Machines on items by their dual: two variables at a time, those that violate the most.

use crate::error::Result;
use crate::kernel::ItemKernel;
use crate::problem::ItemDual;
use crate::progress::{Progress, Stop};
use crate::solver::Limits;

/// Where a search ended.
pub(super) struct DualSolution {
    /// t of every member.
    pub(super) coefficients: Vec<f64>,
    pub(super) bias: f64,
    /// f of the members.
    pub(super) scores: Vec<f64>,
    /// The primal value.
    pub(super) objective: f64,
    pub(super) gap: f64,
    pub(super) steps: u64,
    pub(super) stop: Stop,
}

pub(super) fn solve(
    kernel: &ItemKernel,
    members: &[u32],
    duals: &[ItemDual],
    start: Option<&[f64]>,
    limits: Limits<'_>,
) -> Result<DualSolution> {
    let n = members.len();
    let value = |i: usize, j: usize| kernel.value(members[i] as usize, members[j] as usize);
    let mut t = start.map_or_else(|| vec![0.0; n], <[f64]>::to_vec);
    let mut f: Vec<f64> = (0..n).map(|i| (0..n).map(|j| t[j] * value(i, j)).sum()).collect();
    let mut steps = 0u64;
    loop {
        let up = |i: usize| f[i] + duals[i].shift * t[i] - if t[i] < 0.0 { duals[i].below } else { duals[i].above };
        let down = |i: usize| f[i] + duals[i].shift * t[i] - if t[i] > 0.0 { duals[i].above } else { duals[i].below };
        let i = (0..n).filter(|&i| t[i] < duals[i].high).min_by(|&a, &b| up(a).total_cmp(&up(b)));
        let j = (0..n).filter(|&j| t[j] > duals[j].low).max_by(|&a, &b| down(a).total_cmp(&down(b)));
        let (Some(i), Some(j)) = (i, j) else { unreachable!() };
        let bias = -0.5 * (up(i) + down(j));
        let violation = down(j) - up(i);
        if steps % 64 == 0 || violation <= 1e-12 {
            let square: f64 = (0..n).map(|i| t[i] * f[i]).sum();
            let primal = 0.5 * square + (0..n).map(|i| duals[i].loss(f[i] + bias)).sum::<f64>();
            let target = |i: usize| if t[i] < 0.0 { duals[i].below } else { duals[i].above };
            let dual =
                (0..n).map(|i| target(i) * t[i] - 0.5 * duals[i].shift * t[i] * t[i]).sum::<f64>() - 0.5 * square;
            let gap = (primal - dual) / primal.max(1e-12);
            let stop = if gap <= limits.tol {
                Some(Stop::Converged)
            } else if steps >= limits.max_iter {
                Some(Stop::MaxIter)
            } else if !limits.watch.on_progress(Progress { iterations: steps.max(1), gap, tol: limits.tol }) {
                Some(Stop::Interrupted)
            } else if violation <= 1e-12 {
                Some(Stop::Stalled)
            } else {
                None
            };
            if let Some(stop) = stop {
                let scores = f.iter().map(|f| f + bias).collect();
                return Ok(DualSolution { coefficients: t, bias, scores, objective: primal, gap, steps, stop });
            }
        }
        let bend = value(i, i) + value(j, j) - 2.0 * value(i, j) + duals[i].shift + duals[j].shift;
        let mut step = violation / bend.max(1e-12);
        step = step.min(if t[i] < 0.0 { -t[i] } else { duals[i].high - t[i] });
        step = step.min(if t[j] > 0.0 { t[j] } else { t[j] - duals[j].low });
        t[i] += step;
        t[j] -= step;
        (0..n).for_each(|k| f[k] += step * (value(i, k) - value(j, k)));
        steps += 1;
    }
}
