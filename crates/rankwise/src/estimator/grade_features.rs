//! Ordinal machines with a kernel on few rows, by Newton's method in features that make the kernel linear.
//!
//! The dual goes slowly where slack costs much; weights do not mind. What the losses ask for at the minimum are dual variables,
//! made feasible to the last digit, and both ends of the gap are computed anew with the kernel's own values.

use std::borrow::Cow;

use super::grade_machine::{GradeMachine, Graded, Minimum, Variables, minimise};
use super::item_machine::{Aim, Machine};
use super::item_start::Start;
use crate::data::Features;
use crate::kernel::{Chosen, ItemKernel, KernelFunction, Landmarks};
use crate::math::dot;
use crate::problem::{BlockSums, GradeDuals, GradeSums};
use crate::progress::Stop;
use crate::solver::Limits;

/// The most rows whose kernel matrix is factored.
pub(super) const MOST_ROWS: usize = 1000;
/// The part of the tolerance that the search is for; the rest is for what coefficients lack.
const SEARCHED: f64 = 0.3;

/// The machine over rows; `None` where they are too many, or the kernel has no features.
pub(super) fn solve(
    function: KernelFunction,
    rows: &Features,
    kernel: &ItemKernel<'_>,
    members: &Graded,
    aim: Aim<'_>,
) -> Option<GradeMachine> {
    let mut used: Vec<u32> = members.items.clone();
    used.sort_unstable();
    used.dedup();
    if used.len() > MOST_ROWS || !function.is_positive_definite() {
        return None;
    }
    let numbers: Vec<usize> = used.iter().map(|&row| row as usize).collect();
    let goes_on = || !aim.limits.is_stopped(0, f64::NAN);
    let mut chosen = Landmarks::choose(function, &rows.select_rows(&numbers), used.len(), &goes_on).ok()?;
    let psi = Features::dense_of(used.len(), chosen.map.len(), std::mem::take(&mut chosen.values)).ok()?;
    let places: Vec<u32> = members.items.iter().map(|row| used.partition_point(|used| used < row) as u32).collect();
    let mut sums = GradeSums::new(
        &psi,
        None,
        Cow::Borrowed(&members.runs),
        Cow::Borrowed(&places),
        Cow::Borrowed(&members.costs),
        aim.slack(),
    );
    sums.set_c(aim.c);
    let searched = Limits { tol: SEARCHED * aim.limits.tol, ..aim.limits };
    let Minimum { weights, bound, steps, stop, .. } = minimise(&mut sums, None, Aim { limits: searched, ..aim });
    if let Some(width) = bound.1 {
        sums.round_off(width);
    }
    sums.go_to(&bound.0);
    let duals = members.duals(aim);
    let mut t = sums.wanted();
    make_feasible(&duals, &mut t);
    let over = Over { kernel, used: &used, places: &places, duals: &duals };
    let mut of_row = vec![0.0; used.len()];
    places.iter().zip(duals.coefficients(&t)).for_each(|(&place, u)| of_row[place as usize] += u);
    let by_dual = over.at(of_row)?;
    let (gain, curve) = gains(&duals, &t);
    let part = (gain / (by_dual.square + curve)).clamp(0.0, 1.0);
    let dual = part * gain - 0.5 * part * part * (by_dual.square + curve);
    let dual = if dual.is_finite() { dual } else { 0.0 };
    let Chosen { map, rows: landmarks, .. } = &chosen;
    let mut of_row = vec![0.0; used.len()];
    landmarks.iter().zip(map.coefficients(&weights)).for_each(|(&row, value)| of_row[row] = value);
    let by_weights = over.at(of_row)?;
    // Most of the dual's coefficients are 0, and they will do where they are as good as was asked for.
    let is_good = by_dual.primal - dual <= aim.limits.tol * by_dual.primal.max(1e-12);
    let square = by_dual.square;
    let best = if is_good || by_dual.primal <= by_weights.primal { by_dual } else { by_weights };
    let is_met = best.primal - dual <= aim.limits.tol * best.primal.max(1e-12);
    let mut numbers = vec![0.0; kernel.len()];
    used.iter().zip(best.coefficients).for_each(|(&row, value)| numbers[row as usize] = value);
    let machine = Machine {
        numbers,
        bias: 0.0,
        primal: best.primal,
        dual: dual.min(best.primal),
        steps,
        stop: if is_met { Stop::Converged } else { stop.unwrap_or(Stop::Stalled) },
        start: Start::of_weights(Vec::new()),
        claim: None,
    };
    Some(GradeMachine { machine, thresholds: best.thresholds, variables: Some(Variables { t, square }) })
}

/// Σ S·t and Σ shift·t².
fn gains(duals: &GradeDuals, t: &[f64]) -> (f64, f64) {
    let (mut gain, mut curve, mut at) = (0.0, 0.0, 0);
    for threshold in 0..duals.runs.n_thresholds() {
        for item in duals.runs.span(threshold) {
            gain += duals.runs.sign(threshold, item) * t[at];
            curve += duals.of(threshold, item).shift * t[at] * t[at];
            at += 1;
        }
    }
    (gain, curve)
}

/// Makes variables smaller until their sums are what they must be: 0 for every threshold, or, with the order for a constraint, not
/// above 0 over the first ones and 0 over all.
pub(super) fn make_feasible(duals: &GradeDuals, t: &mut [f64]) {
    let (offsets, m) = (duals.runs.offsets(), duals.runs.n_thresholds());
    let together = if duals.runs.is_explicit { m.max(1) } else { 1 };
    for first in (0..m).step_by(together) {
        let chain = first..first + together;
        let mut sum = 0.0;
        for threshold in chain.clone() {
            let of = &mut t[offsets[threshold]..offsets[threshold + 1]];
            sum += of.iter().sum::<f64>();
            if sum > 0.0 {
                sum -= shrink(of, 1.0, sum);
            }
        }
        for threshold in chain.rev() {
            if sum < 0.0 {
                sum += shrink(&mut t[offsets[threshold]..offsets[threshold + 1]], -1.0, -sum);
            }
        }
    }
}

/// Takes so much, or all there is, from variables of a sign; returns what was taken.
fn shrink(t: &mut [f64], sign: f64, much: f64) -> f64 {
    let there: f64 = t.iter().map(|t| (sign * t).max(0.0)).sum();
    let taken = much.min(there);
    if there > 0.0 {
        let factor = (there - taken) / there;
        t.iter_mut().filter(|t| sign * **t > 0.0).for_each(|t| *t *= factor);
    }
    taken
}

/// Rows in use, with the kernel over them.
struct Over<'a> {
    kernel: &'a ItemKernel<'a>,
    used: &'a [u32],
    /// The place of every member among them.
    places: &'a [u32],
    duals: &'a GradeDuals,
}

/// What coefficients of rows are worth.
struct Worth {
    coefficients: Vec<f64>,
    thresholds: Vec<f64>,
    /// ‖Σ coefficient·Φ‖².
    square: f64,
    primal: f64,
}

impl Over<'_> {
    fn at(&self, coefficients: Vec<f64>) -> Option<Worth> {
        let exact = self.kernel.exact().ok()?;
        let mut of_rows = vec![0.0; self.used.len()];
        exact.add(self.used, &coefficients, &mut exact.part(self.used), &mut of_rows);
        let square = dot(&coefficients, &of_rows).max(0.0);
        let scores: Vec<f64> = self.places.iter().map(|&place| of_rows[place as usize]).collect();
        let thresholds = self.duals.thresholds(&scores);
        let primal = 0.5 * square + self.duals.losses(&scores, &thresholds);
        primal.is_finite().then_some(Worth { coefficients, thresholds, square, primal })
    }
}
