//! The ranking SVM with a kernel: Newton's method on the coefficients of items, or a linear machine on what landmarks say of
//! them.

use std::time::Instant;

use super::RankSvm;
use super::common::{Fit, out_of_time};
use super::item_ranker::{Solution, check_pairs, why_dropped, why_to_scale};
use super::kernel_items::{FINE, KernelItems, no_start};
use super::rank_svm::{record, solution_of};
use crate::data::{Features, RankView, Ranking, Rows};
use crate::error::Result;
use crate::kernel::{Approx, GoesOn, LandmarkBasis, SymmetricMatrix};
use crate::loss::Loss;
use crate::math::dot;
use crate::model::{Model, ScoreFunction};
use crate::problem::{BlockSums, KernelSums, RankSums, Shape};
use crate::progress::{Stop, Watch};
use crate::solver::{Limits, cutting_plane, smoothing};

/// The part of the tolerance that a search is for: some is left for cleaning up and for rounding.
const SEARCHED: f64 = 0.9;
/// Searches one after the other, each from where the last one ended without what rounding had made of it on its way: steps from
/// afar are long where C is large, and leave errors that the losses then multiply.
const ROUNDS: usize = 4;
/// From this tolerance on the hinge is found by cutting planes, so many at the most; they come near quickly, but need ever more
/// for every further digit, except where items are few.
const PLANES: f64 = 1e-4;
const MOST_PLANES: u64 = 1000;
const FEW_ITEMS: usize = 200;
/// So many items at the most are made features of by factoring their matrix, which costs their cube.
const FACTORED: usize = 1000;
/// Planes that end with a larger gap are no good start: where C is large, what rounding has left of them is far from any minimum.
const NEAR: f64 = 0.5;
/// A C that is too large for the squared hinge is made smaller by these factors, but not below that.
const SMALLER: [f64; 4] = [1e-2, 1e-4, 1e-6, 1e-8];
const LARGE: f64 = 1.0;
/// Steps to the best length of weights.
const HALVINGS: usize = 60;
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
            let lesson = KernelLesson { items: &items, data, is_held_out: &vec![false; data.groups.len()] };
            let counts = self.losses(&lesson)?.counts();
            warnings.extend(why_dropped(counts));
            let (function, solution) = match self.approx {
                None => {
                    let solution = self.search(&lesson, None, None, limits)?.checked()?;
                    (items.function(&solution.weights), solution)
                }
                Some(Approx::Nystrom(n)) => self.search_landmarks(&lesson, n, limits)?,
            };
            let mut record = record(self, self.c, counts, &solution, warnings);
            if self.approx.is_some() {
                record.certificate = "relative duality gap of the machine without approximation";
            }
            let model = record.kernel_model(function, solution, &data.items, scaler.as_ref());
            Fit::new(model, &data.items, started, threads)
        })
    }

    /// The losses as a function of scores; there must be a pair.
    pub(super) fn losses<'a>(&self, lesson: &KernelLesson<'a>) -> Result<RankSums<'a>> {
        let (shape, weighing, draw) = self.of_sums();
        let KernelLesson { items, data, is_held_out } = *lesson;
        let losses =
            RankSums::of_view(items.view(data), |group| !is_held_out[group], None, shape, self.c, weighing, draw);
        check_pairs(data.n_items(), losses.counts(), losses.mass())?;
        Ok(losses)
    }

    /// Whether values in f32, which are half the memory and twice as fast, do not even do to begin with.
    pub(super) fn needs_fine(&self) -> bool {
        self.effort.tol < if self.loss == Loss::Hinge { PLANES } else { FINE }
    }

    /// What stands for the matrix in a solver.
    pub(super) fn basis(
        &self,
        lesson: &KernelLesson<'_>,
        matrix: &dyn SymmetricMatrix,
        goes_on: GoesOn<'_>,
    ) -> Result<LandmarkBasis> {
        let places =
            self.losses(lesson)?.rows_of_groups().flatten().map(|&row| lesson.items.place(row) as u32).collect();
        lesson.items.basis(matrix, places, self.effort.seed, goes_on)
    }

    /// The minimum over all functions of the kernel: coefficients of the items. Where the matrix in the first precision to be
    /// tried is at hand, it is not made again.
    pub(super) fn search(
        &self,
        lesson: &KernelLesson<'_>,
        at_hand: Option<(&dyn SymmetricMatrix, &LandmarkBasis)>,
        start: Option<Vec<f64>>,
        limits: Limits<'_>,
    ) -> Result<Solution> {
        let mut solution = self.search_plainly(lesson, at_hand, start, limits)?;
        if solution.stop == Stop::Stalled && lesson.items.features.n_rows() <= FACTORED {
            solution = self.go_on_in_features(lesson, solution, limits)?;
        }
        if self.loss != Loss::SquaredHinge || solution.stop != Stop::Stalled {
            return Ok(solution);
        }
        self.grow(lesson, solution, limits)
    }

    /// From where products with the matrix have too few digits: a C of 1e10 and a matrix of low rank make coefficients that
    /// cancel each other. Its factor makes features, in whose weights nothing cancels.
    fn go_on_in_features(&self, lesson: &KernelLesson<'_>, stuck: Solution, limits: Limits<'_>) -> Result<Solution> {
        let mut found = Found { steps: stuck.steps, best: Some(stuck.clone()), tol: limits.tol };
        let n_rows = lesson.items.features.n_rows();
        match self.through_landmarks(lesson, n_rows, found.left(limits)) {
            Ok(solution) => {
                found.ends_with(solution);
            }
            Err(_) => {
                let stop = limits.reached(found.steps, stuck.gap);
                found.best.iter_mut().for_each(|best| best.stop = stop.unwrap_or(best.stop));
            }
        }
        Ok(found.best.unwrap_or(stuck))
    }

    fn search_plainly(
        &self,
        lesson: &KernelLesson<'_>,
        at_hand: Option<(&dyn SymmetricMatrix, &LandmarkBasis)>,
        start: Option<Vec<f64>>,
        limits: Limits<'_>,
    ) -> Result<Solution> {
        let items = lesson.items;
        let precisions: &[bool] = if self.needs_fine() { &[true] } else { &[false, true] };
        let mut found = Found { best: None, steps: 0, tol: limits.tol };
        let mut start = start.map(|start| (start, None));
        for (at, &is_fine) in precisions.iter().enumerate() {
            let (own_matrix, own_basis);
            let (matrix, basis) = match at_hand.filter(|_| at == 0) {
                Some(at_hand) => at_hand,
                None => {
                    let goes_on = found.goes_on(limits);
                    own_matrix = items.matrix(is_fine, self.effort.cache_mb << 20, &goes_on)?;
                    own_basis = self.basis(lesson, &*own_matrix, &goes_on)?;
                    (&*own_matrix, &own_basis)
                }
            };
            let own_exact = if is_fine { None } else { Some(items.matrix(true, 0, &|| true)?) };
            let exact = own_exact.as_deref().unwrap_or(matrix);
            let is_hinge = self.loss == Loss::Hinge;
            let mut is_over = false;
            // Further digits by planes where items are few.
            let rough = PLANES.max(limits.tol);
            let goals = [rough, if matrix.len() <= FEW_ITEMS { limits.tol } else { rough }];
            for (at, tol) in goals.into_iter().enumerate() {
                if is_hinge && !is_over && (at == 0 || tol < rough) {
                    let weights = start.take().map(|(weights, _)| weights);
                    let (limits, goes_on) = (found.left(Limits { tol, ..limits }), found.goes_on(limits));
                    is_over = found.ends_with(self.by_planes(lesson, [matrix, exact], weights, limits, &goes_on)?);
                    start = found.weights(NEAR).map(|weights| (weights, None));
                }
            }
            if is_over {
                break;
            }
            if is_hinge && !is_fine {
                continue; // rounded off narrowly, it needs more digits
            }
            let goes_on = found.goes_on(limits);
            let mut sums = KernelSums::new(matrix, self.losses(lesson)?, basis, &goes_on);
            let mut last_gap = f64::INFINITY;
            for _ in 0..ROUNDS {
                let (mut solution, bound) = descend(&mut sums, self.loss, start.take(), found.left(limits));
                solution.gap = 1.0;
                if sums.is_over() {
                    solution.objective = sums.value_at(&solution.weights);
                }
                solution.weights.truncate(matrix.len());
                let mut losses = self.losses(lesson)?;
                items.clean(&losses, &mut solution.weights);
                if sums.is_over() || !certify(items, &mut losses, exact, &mut solution, bound.as_ref(), &goes_on)? {
                    solution.stop = limits.reached(found.steps, 1.0).unwrap_or(Stop::TimeLimit);
                }
                let is_idle = solution.gap > 0.5 * std::mem::replace(&mut last_gap, solution.gap);
                is_over = found.ends_with(solution);
                start = found.weights(1.0).map(|weights| (weights, bound.map(|bound| bound.1)));
                if is_over || is_idle || !is_fine {
                    break;
                }
            }
            if is_over {
                break;
            }
        }
        found.best.ok_or_else(|| items.not_positive())
    }

    /// The squared hinge with a C that is too large for the digits of numbers, from the answer with a smaller one, C′: longer
    /// weights take the losses away, and its dual variables α have a dual value here that is larger by Σα²/4·(1/C′ − 1/C),
    /// where Σα²/(4C′) are the losses there.
    fn grow(&self, lesson: &KernelLesson<'_>, stuck: Solution, limits: Limits<'_>) -> Result<Solution> {
        let mut found = Found { steps: stuck.steps, best: Some(stuck.clone()), tol: limits.tol };
        for factor in SMALLER {
            let smaller = RankSvm { c: factor * self.c, ..self.clone() };
            let limits = found.left(limits);
            if smaller.c < LARGE {
                break;
            }
            let limits = Limits { tol: limits.tol.min(FINE), ..limits };
            let near = smaller.search_plainly(lesson, None, None, limits)?;
            found.steps += near.steps;
            match near.stop {
                Stop::Converged => {}
                Stop::Stalled => continue,
                stop => {
                    found.best.iter_mut().for_each(|best| (best.stop, best.steps) = (stop, found.steps));
                    break;
                }
            }
            let matrix = lesson.items.matrix(true, 0, &|| true)?;
            let scores = matrix.times(&near.weights);
            let square = dot(&near.weights, &scores);
            let losses = near.objective - 0.5 * square;
            let dual = near.objective * (1.0 - near.gap) + losses * (1.0 - factor);
            let mut sums = self.losses(lesson)?;
            let mut at = |length: f64| {
                let scores: Vec<f64> = scores.iter().map(|score| length * score).collect();
                let point = sums.go_to(&scores);
                let slope = square * length + dot(&point.gradient, &scores) / length;
                (0.5 * square * length * length + point.meant, slope)
            };
            let (mut short, mut long) = (1.0, 2.0);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (short + long);
                if at(middle).1 < 0.0 {
                    short = middle;
                } else {
                    long = middle;
                }
            }
            let objective = at(long).0;
            let solution = Solution {
                weights: near.weights.iter().map(|a| long * a).collect(),
                steps: 0, // which are counted
                objective,
                gap: ((objective - dual) / objective.max(1e-12)).clamp(0.0, 1.0),
                ..near
            };
            if found.ends_with(solution) {
                break;
            }
        }
        Ok(found.best.unwrap_or(stuck))
    }

    /// The hinge by cutting planes, which come near quickly: pairs that lack the margin 1 at w lack ½ at w/2, where `swap`
    /// with C/4 has a quarter of the objective. Its gap is measured with `exact` values.
    fn by_planes(
        &self,
        lesson: &KernelLesson<'_>,
        [matrix, exact]: [&dyn SymmetricMatrix; 2],
        start: Option<Vec<f64>>,
        limits: Limits<'_>,
        goes_on: GoesOn<'_>,
    ) -> Result<Solution> {
        let KernelLesson { items, data, is_held_out } = *lesson;
        let (_, weighing, draw) = self.of_sums();
        let (shape, c) = (Shape::Swapped, 0.25 * self.c);
        let losses = RankSums::of_view(items.view(data), |group| !is_held_out[group], None, shape, c, weighing, draw);
        let no_basis = items.basis(matrix, Vec::new(), self.effort.seed, goes_on)?;
        let mut sums = KernelSums::new(matrix, losses, &no_basis, goes_on);
        let start = start.map(|mut start| {
            start.iter_mut().for_each(|a| *a *= 0.5);
            sums.refreshed(start)
        });
        let limit = limits.max_iter;
        let minimum = cutting_plane::minimise(&mut sums, start, Limits { max_iter: limit.min(MOST_PLANES), ..limits });
        let n = matrix.len();
        let doubled = |weights: &[f64]| weights[..n].iter().map(|a| 2.0 * a).collect::<Vec<f64>>();
        let stop = minimum.stop.filter(|stop| *stop != Stop::MaxIter || limit <= MOST_PLANES);
        let mut solution = Solution {
            bias: 0.0,
            weights: doubled(&minimum.weights),
            objective: 4.0 * sums.value_at(&minimum.weights),
            gap: 1.0,
            steps: minimum.planes,
            stop: stop.unwrap_or(Stop::Converged),
        };
        let reached = || limits.reached(minimum.planes, 1.0).unwrap_or(Stop::TimeLimit);
        if sums.is_over() {
            return Ok(Solution { stop: reached(), ..solution });
        }
        let mut losses = self.losses(lesson)?;
        items.clean(&losses, &mut solution.weights);
        losses.round_off(smoothing::LEAST_WIDTH);
        let of_bound = doubled(&minimum.bound.1);
        let product = |v: &[f64]| exact.times_while(v, goes_on);
        let (Some(scores), Some(of_bound_scores)) = (product(&solution.weights), product(&of_bound)) else {
            return Ok(Solution { stop: reached(), ..solution });
        };
        let square = dot(&solution.weights, &scores);
        let of_bound = dot(&of_bound, &of_bound_scores);
        let losses = losses.go_to(&scores).meant;
        if square.min(of_bound) < -1e-6 * losses && !items.kernel.is_positive_definite() {
            return Err(items.not_positive());
        }
        solution.objective = 0.5 * square + losses;
        let dual = 4.0 * minimum.bound.0 - 0.5 * of_bound.max(0.0);
        solution.gap = ((solution.objective - dual) / solution.objective.max(1e-12)).clamp(0.0, 1.0);
        Ok(solution)
    }

    /// The minimum over the functions that landmarks span, and its gap to the minimum over all.
    fn search_landmarks(
        &self,
        lesson: &KernelLesson<'_>,
        n_landmarks: usize,
        limits: Limits<'_>,
    ) -> Result<((ScoreFunction, usize), Solution)> {
        let solution = self.through_landmarks(lesson, n_landmarks, limits)?;
        Ok((lesson.items.function(&solution.weights), solution))
    }

    /// The same, as coefficients of all items.
    fn through_landmarks(&self, lesson: &KernelLesson<'_>, n_landmarks: usize, limits: Limits<'_>) -> Result<Solution> {
        let items = lesson.items;
        let goes_on = || !limits.is_stopped(0, f64::NAN);
        let landmarks = items.landmarks(n_landmarks, &goes_on).map_err(|error| out_of_time(error, limits))?;
        let rows = items.spread_out(&landmarks.values)?;
        let (mut solution, bound) = self.over_landmarks(lesson, &rows, None, limits)?;
        let of_items = |weights: &[f64]| landmarks.coefficients(weights, items.features.n_rows());
        solution.weights = of_items(&solution.weights);
        let bound = bound.map(|(weights, width)| (of_items(&weights), width));
        let (mut losses, matrix, done) = (self.losses(lesson)?, items.matrix(true, 0, &|| true)?, solution.steps);
        let goes_on = || !limits.is_stopped(done, 1.0);
        if !certify(items, &mut losses, &*matrix, &mut solution, bound.as_ref(), &goes_on)? {
            solution.stop = limits.reached(done, 1.0).unwrap_or(Stop::TimeLimit);
        }
        solution.checked()
    }

    /// The minimum in weights of what landmarks say of all items of the ranking.
    pub(super) fn over_landmarks(
        &self,
        lesson: &KernelLesson<'_>,
        rows: &Features,
        start: Option<Vec<f64>>,
        limits: Limits<'_>,
    ) -> Result<(Solution, Option<Bound>)> {
        let KernelLesson { items, data, is_held_out } = *lesson;
        let view = RankView { rows: Rows::Held(rows), are_units: false, ..items.view(data) };
        let (shape, weighing, draw) = self.of_sums();
        let mut sums = RankSums::of_view(view, |group| !is_held_out[group], None, shape, self.c, weighing, draw);
        let (solution, bound) = descend(&mut sums, self.loss, start.map(|start| (start, None)), limits);
        Ok((solution.checked()?, bound))
    }
}

/// What is learnt from: items, and which groups of the ranking are not learnt from.
#[derive(Clone, Copy)]
pub(super) struct KernelLesson<'a> {
    pub(super) items: &'a KernelItems,
    pub(super) data: &'a Ranking,
    pub(super) is_held_out: &'a [bool],
}

/// The best that a search has come to.
struct Found {
    best: Option<Solution>,
    steps: u64,
    tol: f64,
}

impl Found {
    /// What is left to do; some of the tolerance is for what comes after a search.
    fn left<'l>(&self, limits: Limits<'l>) -> Limits<'l> {
        Limits { tol: SEARCHED * limits.tol, max_iter: limits.max_iter.saturating_sub(self.steps), ..limits }
    }

    /// Whether products go on, for a search that stands here.
    fn goes_on<'l>(&self, limits: Limits<'l>) -> impl Fn() -> bool + Sync + use<'l> {
        let (steps, gap) = (self.steps, self.best.as_ref().map_or(1.0, |best| best.gap));
        move || !limits.is_stopped(steps, gap)
    }

    /// Where to go on, if the gap there is small enough.
    fn weights(&self, gap: f64) -> Option<Vec<f64>> {
        self.best.as_ref().filter(|best| best.gap <= gap).map(|best| best.weights.clone())
    }

    /// Takes in an answer; says whether nothing more is to be done.
    fn ends_with(&mut self, solution: Solution) -> bool {
        self.steps += solution.steps;
        let stop = solution.stop;
        let mut best = match self.best.take() {
            Some(best) => best.joined(solution, self.tol),
            None => solution,
        };
        let is_met = best.gap <= self.tol;
        let is_limited = !is_met && !matches!(stop, Stop::Converged | Stop::Stalled);
        best.steps = self.steps;
        best.stop = match is_met {
            true => Stop::Converged,
            false if is_limited => stop,
            false => Stop::Stalled,
        };
        self.best = Some(best);
        is_met || is_limited
    }
}

/// Coefficients that make the best dual value of the hinge, and the width over which it is rounded off there.
pub(super) type Bound = (Vec<f64>, f64);

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
/// value of g is less than the objective by ½ρ·Kρ, and by what rounding off the hinge adds. Products that do not go on leave
/// the objective as it is, with a gap of 1: then the answer is no.
fn certify(
    items: &KernelItems,
    losses: &mut dyn BlockSums,
    matrix: &dyn SymmetricMatrix,
    solution: &mut Solution,
    bound: Option<&Bound>,
    goes_on: GoesOn<'_>,
) -> Result<bool> {
    let mut measure = |coefficients: &[f64], width: Option<f64>| {
        let Some(scores) = matrix.times_while(coefficients, goes_on) else { return Ok(None) };
        let square = dot(coefficients, &scores);
        if !square.is_finite() {
            return Ok(Some((f64::INFINITY, 0.0))); // refused with all that is not finite
        }
        if let Some(width) = width {
            losses.round_off(width);
        }
        let point = losses.go_to(&scores);
        let rest: Vec<f64> = coefficients.iter().zip(&point.gradient).map(|(a, g)| a + g).collect();
        let Some(product) = matrix.times_while(&rest, goes_on) else { return Ok(None) };
        let of_rest = dot(&rest, &product);
        // What rounding may have made of a square.
        let noise = NOISE * rest.iter().map(|r| r.abs()).sum::<f64>().powi(2) * items.largest_value();
        let objective = 0.5 * square + point.meant;
        if square < -1e-6 * point.meant || of_rest < -noise.max(1e-6 * point.meant) {
            // Where the kernel has a norm, that is what rounding has made of it.
            return if items.kernel.is_positive_definite() {
                Ok(Some((objective, 0.0)))
            } else {
                Err(items.not_positive())
            };
        }
        // A dual value below 0 is worse than none.
        Ok(Some((objective, (objective - 0.5 * of_rest.max(0.0) - point.excess).max(0.0))))
    };
    let width = bound.map(|bound| bound.1);
    let Some((objective, mut dual)) = measure(&solution.weights, width)? else {
        solution.gap = 1.0;
        return Ok(false);
    };
    if let Some((weights, width)) = bound {
        let weights = &weights[..solution.weights.len()];
        if weights != solution.weights {
            dual = dual.max(measure(weights, Some(*width))?.map_or(0.0, |(_, dual)| dual));
        }
    }
    solution.objective = objective;
    solution.gap = ((objective - dual) / objective.max(1e-12)).clamp(0.0, 1.0);
    Ok(true)
}
