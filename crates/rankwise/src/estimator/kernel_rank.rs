//! The ranking SVM with a kernel: Newton's method on the coefficients of items, or a linear machine on what landmarks say of
//! them.

use std::time::Instant;

use super::RankSvm;
use super::common::Fit;
use super::item_ranker::{Solution, check_pairs, why_dropped, why_to_scale};
use super::kernel_items::{FINE, KernelItems, no_start};
use super::rank_svm::{record, solution_of};
use crate::data::{RankView, Ranking, Rows};
use crate::error::Result;
use crate::kernel::{Approx, SymmetricMatrix};
use crate::loss::Loss;
use crate::math::dot;
use crate::model::{Model, ScoreFunction};
use crate::problem::{BlockSums, KernelSums, RankSums};
use crate::progress::{Stop, Watch};
use crate::solver::{Limits, smoothing};

/// The part of the tolerance that a search is for: some is left for cleaning up and for rounding.
const SEARCHED: f64 = 0.9;
/// Searches one after the other, each from where the last one ended without what rounding had made of it on its way: steps from
/// afar are long where C is large, and leave errors that the losses then multiply.
const ROUNDS: usize = 4;
/// What rounding leaves of a product in f64, relative to its terms.
const NOISE: f64 = 1e-12;

impl RankSvm {
    /// [`RankSvm::fit_from`] with a kernel.
    pub(super) fn fit_kernel(
        &self,
        data: &Ranking,
        start: Option<&Model>,
        started: Instant,
        watch: &dyn Watch,
    ) -> Result<Fit> {
        if start.is_some() {
            return Err(no_start());
        }
        self.effort.in_pool(|threads| {
            let limits = self.effort.limits(started, watch);
            let scaler = data.scaler(self.scale);
            let mut warnings: Vec<String> = why_to_scale(self.scale, &data.items).into_iter().collect();
            let items = KernelItems::new(self.kernel, data, scaler.as_ref())?;
            let counts = self.losses(&items, data)?.counts();
            warnings.extend(why_dropped(counts));
            let (function, solution) = match self.approx {
                None => {
                    let solution = self.search(&items, data, limits)?.checked()?;
                    (items.function(&solution.weights), solution)
                }
                Some(Approx::Nystrom(n)) => self.search_landmarks(&items, data, n, limits)?,
            };
            let mut record = record(self, self.c, counts, &solution, warnings);
            if self.approx.is_some() {
                record.certificate = "relative duality gap of the machine without approximation";
            }
            let model = record.kernel_model(function, solution, &data.items, scaler.as_ref());
            Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads })
        })
    }

    /// The losses as a function of scores; there must be a pair.
    fn losses<'a>(&self, items: &'a KernelItems, data: &'a Ranking) -> Result<RankSums<'a>> {
        let (shape, weighing, draw) = self.of_sums();
        let losses = RankSums::of_view(items.view(data), |_| true, None, shape, self.c, weighing, draw);
        check_pairs(data.n_items(), losses.counts(), losses.mass())?;
        Ok(losses)
    }

    /// The minimum over all functions of the kernel: coefficients of the items.
    fn search(&self, items: &KernelItems, data: &Ranking, limits: Limits<'_>) -> Result<Solution> {
        // Values in f32 are half the memory and twice as fast; where they do not do, the search goes on in f64.
        // Where the hinge is rounded off narrowly, they never do.
        let is_fine = limits.tol < FINE || self.loss == Loss::Hinge;
        let precisions: &[bool] = if is_fine { &[true] } else { &[false, true] };
        let (mut start, mut steps) = (None, 0);
        for &is_fine in precisions {
            let matrix = items.matrix(is_fine, self.effort.cache_mb << 20)?;
            let losses = self.losses(items, data)?;
            let places = losses.rows_of_groups().flatten().map(|&row| items.place(row) as u32).collect();
            let basis = items.basis(&*matrix, places, self.effort.seed)?;
            let mut sums = KernelSums::new(&*matrix, losses, basis);
            let mut last_gap = f64::INFINITY;
            for round in 1..=ROUNDS {
                let inner =
                    Limits { tol: SEARCHED * limits.tol, max_iter: limits.max_iter.saturating_sub(steps), ..limits };
                let (mut solution, bound) = descend(&mut sums, self.loss, start.take(), inner);
                steps += solution.steps;
                (solution.steps, solution.gap) = (steps, 1.0);
                solution.weights.truncate(matrix.len());
                let mut losses = self.losses(items, data)?;
                items.clean(&losses, &mut solution.weights);
                let exact = if is_fine { None } else { Some(items.matrix(true, 0)?) };
                certify(items, &mut losses, exact.as_deref().unwrap_or(&*matrix), &mut solution, bound.as_ref())?;
                let is_met = solution.gap <= limits.tol;
                let is_limited = !is_met && !matches!(solution.stop, Stop::Converged | Stop::Stalled);
                let is_idle = solution.gap > 0.5 * std::mem::replace(&mut last_gap, solution.gap);
                if is_met || is_limited || (is_fine && (round == ROUNDS || is_idle)) {
                    if !is_limited {
                        solution.stop = if is_met { Stop::Converged } else { Stop::Stalled };
                    }
                    return Ok(solution);
                }
                start = Some((solution.weights, bound.map(|bound| bound.1)));
                if !is_fine {
                    break;
                }
            }
        }
        Err(items.not_positive())
    }

    /// The minimum over the functions that landmarks span, and its gap to the minimum over all.
    fn search_landmarks(
        &self,
        items: &KernelItems,
        data: &Ranking,
        n_landmarks: usize,
        limits: Limits<'_>,
    ) -> Result<((ScoreFunction, usize), Solution)> {
        let landmarks = items.landmarks(n_landmarks)?;
        let view = items.view(data);
        let rows = items.spread_out(&landmarks.values)?;
        let view = RankView { rows: Rows::Held(&rows), are_units: false, ..view };
        let (shape, weighing, draw) = self.of_sums();
        let mut sums = RankSums::of_view(view, |_| true, None, shape, self.c, weighing, draw);
        let (mut solution, bound) = descend(&mut sums, self.loss, None, limits);
        solution = solution.checked()?;
        let of_items = |weights: &[f64]| landmarks.coefficients(weights, items.features.n_rows());
        solution.weights = of_items(&solution.weights);
        let bound = bound.map(|(weights, width)| (of_items(&weights), width));
        certify(items, &mut self.losses(items, data)?, &*items.matrix(true, 0)?, &mut solution, bound.as_ref())?;
        let solution = solution.checked()?;
        Ok((items.function(&solution.weights), solution))
    }
}

/// Coefficients that make the best dual value of the hinge, and the width over which it is rounded off there.
type Bound = (Vec<f64>, f64);

/// Where the minimum of a sum is; of the hinge, where its best bound is, too. A start may come with the width it belongs to.
fn descend(
    sums: &mut dyn BlockSums,
    loss: Loss,
    start: Option<(Vec<f64>, Option<f64>)>,
    limits: Limits<'_>,
) -> (Solution, Option<Bound>) {
    let (start, width) = start.map_or((None, None), |(weights, width)| (Some(weights), width));
    if loss != Loss::Hinge {
        return (solution_of(sums, loss, start, limits), None);
    }
    let mut answer = smoothing::minimise_from(sums, start, width, limits);
    let bound = std::mem::take(&mut answer.bound);
    (answer.into(), Some(bound))
}

/// Measures objective and gap of coefficients a: with g the slopes of the losses at their scores and ρ = a + g, the dual
/// value of g is less than the objective by ½ρ·Kρ, and by what rounding off the hinge adds.
fn certify(
    items: &KernelItems,
    losses: &mut dyn BlockSums,
    matrix: &dyn SymmetricMatrix,
    solution: &mut Solution,
    bound: Option<&Bound>,
) -> Result<()> {
    let mut measure = |coefficients: &[f64], width: Option<f64>| {
        let scores = matrix.times(coefficients);
        let square = dot(coefficients, &scores);
        if !square.is_finite() {
            return Ok((f64::INFINITY, 0.0)); // refused with all that is not finite
        }
        if let Some(width) = width {
            losses.round_off(width);
        }
        let point = losses.go_to(&scores);
        let rest: Vec<f64> = coefficients.iter().zip(&point.gradient).map(|(a, g)| a + g).collect();
        let of_rest = dot(&rest, &matrix.times(&rest));
        // What rounding may have made of a square.
        let noise = NOISE * rest.iter().map(|r| r.abs()).sum::<f64>().powi(2) * items.largest_value();
        if square < -1e-6 * point.meant || of_rest < -noise.max(1e-6 * point.meant) {
            return Err(items.not_positive());
        }
        let objective = 0.5 * square + point.meant;
        // A dual value below 0 is worse than none.
        Ok((objective, (objective - 0.5 * of_rest.max(0.0) - point.excess).max(0.0)))
    };
    let width = bound.map(|bound| bound.1);
    let (objective, mut dual) = measure(&solution.weights, width)?;
    if let Some((weights, width)) = bound {
        let weights = &weights[..solution.weights.len()];
        if weights != solution.weights {
            dual = dual.max(measure(weights, Some(*width))?.1);
        }
    }
    solution.objective = objective;
    solution.gap = ((objective - dual) / objective.max(1e-12)).clamp(0.0, 1.0);
    Ok(())
}
