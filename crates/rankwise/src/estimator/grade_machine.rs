//! One ordinal machine: items with grades, solved in weights of features or by the dual.

use std::borrow::Cow;

use super::grade_features;
use super::item_machine::{Aim, Ground, Machine};
use super::item_ranker::Solution;
use super::item_start::Start;
use crate::data::Features;
use crate::error::{Error, Result};
use crate::kernel::{ItemKernel, KernelFunction};
use crate::math::dot;
use crate::problem::{GradeDuals, GradeRuns, GradeSums, GradeWorth};
use crate::progress::Stop;
use crate::solver::{Limits, newton_cg, ordinal, smoothing};

/// The first and the last bound of variables, in units of what takes a score from one margin to the other, and how it grows.
const FIRST_BOUND: f64 = 1e3;
const LAST_BOUND: f64 = 1e15;
const GROWTH: f64 = 100.0;
/// Steps of the dual for each variable, and of all at the least, after which it is slow.
const SLOW: u64 = 100;
const LEAST_SLOW: u64 = 100_000;
/// Below this, f32 is for the way there alone.
const NARROW_TOL: f64 = 1e-5;
/// What rounding leaves of scores that are 0; thresholds are about 1 apart.
const NO_SCORE: f64 = 1e-14;

/// Items with a weight, sorted by grade.
pub(super) struct Graded {
    pub(super) runs: GradeRuns,
    /// Their numbers.
    pub(super) items: Vec<u32>,
    /// Apart from C.
    pub(super) costs: Vec<f64>,
}

impl Graded {
    /// Of grades as numbers below `n_grades`; items of weight 0 do not count, every grade must have others.
    pub(super) fn new(grades: &[u32], weights: &[f64], n_grades: usize, is_explicit: bool) -> Self {
        let mut items: Vec<u32> = (0..grades.len() as u32).filter(|&item| weights[item as usize] > 0.0).collect();
        items.sort_by_key(|&item| grades[item as usize]);
        let runs = GradeRuns::new(items.iter().map(|&item| grades[item as usize]), n_grades, is_explicit);
        let costs = items.iter().map(|&item| weights[item as usize]).collect();
        Graded { runs, items, costs }
    }

    /// Distinct rows of every grade: copies of an item are one item that costs as much as all of them.
    fn distinct(&self, row_of: &[u32]) -> Self {
        let (mut items, mut costs, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        for run in self.runs.starts.windows(2) {
            let mut of_grade: Vec<(u32, f64)> =
                (run[0]..run[1]).map(|at| (row_of[self.items[at] as usize], self.costs[at])).collect();
            of_grade.sort_by_key(|&(row, _)| row);
            of_grade.dedup_by(|next, first| {
                let is_same = next.0 == first.0;
                first.1 += if is_same { next.1 } else { 0.0 };
                is_same
            });
            items.extend(of_grade.iter().map(|of| of.0));
            costs.extend(of_grade.iter().map(|of| of.1));
            starts.push(items.len());
        }
        Graded { runs: GradeRuns { starts, is_explicit: self.runs.is_explicit }, items, costs }
    }

    pub(super) fn duals(&self, aim: Aim<'_>) -> GradeDuals {
        let costs = self.costs.iter().map(|cost| aim.c * cost).collect();
        GradeDuals { runs: self.runs.clone(), costs, is_squared: aim.is_squared }
    }
}

/// A machine that was solved.
pub(super) struct GradeMachine {
    /// Weights or coefficients, without a bias.
    pub(super) machine: Machine,
    pub(super) thresholds: Vec<f64>,
    /// Variables of the dual, for another C.
    pub(super) variables: Option<Variables>,
}

/// Where a dual search ended.
pub(super) struct Variables {
    pub(super) t: Vec<f64>,
    /// ‖Σ t·Φ‖².
    pub(super) square: f64,
}

impl GradeMachine {
    /// The better function of two machines of the same terms, and the better bound, which is one for both.
    fn joined(self, later: GradeMachine, tol: f64) -> GradeMachine {
        let dual = self.machine.dual.max(later.machine.dual);
        let variables = if later.machine.dual >= self.machine.dual { later.variables } else { self.variables };
        let stop = later.machine.stop;
        let (mut machine, thresholds) = if later.machine.primal <= self.machine.primal {
            (later.machine, later.thresholds)
        } else {
            (self.machine, self.thresholds)
        };
        let is_met = machine.primal - dual <= tol * machine.primal.max(1e-12);
        machine.stop = match stop {
            _ if is_met => Stop::Converged,
            Stop::Converged => Stop::Stalled,
            other => other,
        };
        machine.dual = dual;
        GradeMachine { machine, thresholds, variables }
    }

    /// Solves on a ground; `last` is the same machine with a smaller C.
    pub(super) fn solve(
        ground: &Ground<'_>,
        graded: &Graded,
        aim: Aim<'_>,
        last: Option<&GradeMachine>,
    ) -> Result<GradeMachine> {
        let found = match ground {
            Ground::Weights { features, scaler, .. } => {
                let divisors = scaler.map(|scaler| scaler.divisor.as_slice());
                in_weights(features, divisors, graded, aim, last)
            }
            Ground::Rows { kernel, rows, row_of, .. } => {
                in_coefficients(kernel, *rows, &graded.distinct(row_of), aim, last)?
            }
            Ground::Landmarks(_) => {
                return Err(Error::Unsupported {
                    problem: "landmarks do not stand for the kernel of an ordinal machine".into(),
                    remedy: "leave them out".into(),
                });
            }
        };
        let Machine { primal, numbers, .. } = &found.machine;
        let is_finite = [*primal].iter().chain(numbers).chain(&found.thresholds).all(|v| v.is_finite());
        if is_finite { Ok(found) } else { Err(Solution::out_of_range()) }
    }
}

/// The minimum in weights of features.
fn in_weights(
    features: &Features,
    divisors: Option<&[f64]>,
    graded: &Graded,
    aim: Aim<'_>,
    last: Option<&GradeMachine>,
) -> GradeMachine {
    let start = last.map(|last| last.machine.numbers.clone());
    let (runs, rows, costs) =
        (Cow::Borrowed(&graded.runs), Cow::Borrowed(&*graded.items), Cow::Borrowed(&*graded.costs));
    let mut sums = GradeSums::new(features, divisors, runs, rows, costs, aim.slack());
    crate::problem::BlockSums::set_c(&mut sums, aim.c);
    let Minimum { mut weights, primal, gap, steps, stop, .. } = minimise(&mut sums, start, aim);
    let dual = primal - gap * primal.max(1e-12);
    let mut scores = sums.scores(&weights);
    drop(sums); // what it holds of every item makes room
    // The hinge itself may have better thresholds than the one that is rounded off.
    let duals = graded.duals(aim);
    if scores.iter().all(|score| score.abs() <= NO_SCORE) {
        weights.fill(0.0);
        scores.fill(0.0);
    }
    let thresholds = duals.thresholds(&scores);
    let primal = 0.5 * dot(&weights, &weights) + duals.losses(&scores, &thresholds);
    let is_met = primal - dual <= aim.limits.tol * primal.max(1e-12);
    let stop = if is_met { Stop::Converged } else { stop.unwrap_or(Stop::Stalled) };
    let machine = Machine {
        numbers: weights,
        bias: 0.0,
        primal,
        dual,
        steps,
        stop,
        start: Start::of_weights(Vec::new()),
        claim: None,
    };
    GradeMachine { machine, thresholds, variables: None }
}

/// Where a search in weights ended.
pub(super) struct Minimum {
    pub(super) weights: Vec<f64>,
    primal: f64,
    gap: f64,
    /// Weights with the best dual value, and the width over which the hinge is rounded off there.
    pub(super) bound: (Vec<f64>, Option<f64>),
    pub(super) steps: u64,
    pub(super) stop: Option<Stop>,
}

pub(super) fn minimise(sums: &mut GradeSums<'_>, start: Option<Vec<f64>>, aim: Aim<'_>) -> Minimum {
    if aim.is_squared {
        let newton_cg::Minimum { weights, primal, gap, steps, stop, .. } = newton_cg::minimise(sums, start, aim.limits);
        return Minimum { bound: (weights.clone(), None), weights, primal, gap, steps, stop };
    }
    let answer = smoothing::minimise(sums, start, aim.limits);
    let (gap, bound) = (answer.gap(), (answer.bound.0, Some(answer.bound.1)));
    Minimum { weights: answer.weights, primal: answer.primal, gap, bound, steps: answer.steps, stop: answer.stop }
}

/// The minimum in coefficients of rows: by the dual, and where that is slow, in features of the kernel.
fn in_coefficients(
    kernel: &ItemKernel<'_>,
    rows: Option<(KernelFunction, &Features)>,
    members: &Graded,
    aim: Aim<'_>,
    last: Option<&GradeMachine>,
) -> Result<GradeMachine> {
    let (limits, n) = (aim.limits, members.items.len() as u64);
    let Some((function, rows)) = rows.filter(|_| n <= 2 * grade_features::MOST_ROWS as u64) else {
        return by_dual(kernel, members, aim, last);
    };
    let within = |max_iter: u64| Aim { limits: Limits { max_iter, ..limits }, ..aim };
    let n_thresholds = members.runs.n_thresholds() as u64;
    let slow = LEAST_SLOW.max(SLOW * n * if members.runs.is_explicit { 2 } else { n_thresholds });
    let first = by_dual(kernel, members, within(limits.max_iter.min(slow)), last)?;
    let is_slow = first.machine.stop == Stop::MaxIter && limits.max_iter > slow;
    if !is_slow && first.machine.stop != Stop::Stalled {
        return Ok(first);
    }
    let rest = |spent: u64| within(limits.max_iter.saturating_sub(spent));
    let mut spent = first.machine.steps;
    let second = grade_features::solve(function, rows, kernel, members, rest(spent));
    let Some(second) = second else {
        if !is_slow {
            return Ok(first);
        }
        let mut found = by_dual(kernel, members, rest(spent), Some(&first))?;
        found.machine.steps += spent;
        return Ok(found);
    };
    spent += second.machine.steps;
    let stop = second.machine.stop;
    let mut best = first.joined(second, limits.tol);
    if matches!(stop, Stop::Converged | Stop::Stalled) && best.machine.stop != Stop::Converged {
        // Some more digits may be near; where the dual is slow there, too, they are not.
        let left = limits.max_iter.saturating_sub(spent);
        let mut third = by_dual(kernel, members, within(left.min(slow)), Some(&best))?;
        if third.machine.stop == Stop::MaxIter && left > slow {
            third.machine.stop = Stop::Stalled;
        }
        spent += third.machine.steps;
        best = best.joined(third, limits.tol);
    }
    best.machine.steps = spent;
    Ok(best)
}

/// The minimum in coefficients of rows by the dual alone.
fn by_dual(
    kernel: &ItemKernel<'_>,
    members: &Graded,
    aim: Aim<'_>,
    last: Option<&GradeMachine>,
) -> Result<GradeMachine> {
    let (duals, limits) = (members.duals(aim), aim.limits);
    let n_variables = duals.runs.offsets().last().copied().unwrap_or(0);
    let start = last.and_then(|last| last.variables.as_ref()).and_then(|variables| variables.within(&duals));
    let mut t = start.unwrap_or_else(|| vec![0.0; n_variables]);
    let exact = kernel.exact()?;
    let mut spent = 0;
    let mut run = |duals: &GradeDuals, t: &mut [f64]| {
        let mut search = |is_narrow: bool, tol: f64, t: &mut [f64]| {
            let rest = Limits { tol, max_iter: limits.max_iter.saturating_sub(spent), ..limits };
            let ending = match kernel.narrow().filter(|_| is_narrow) {
                Some(narrow) => ordinal::solve(&narrow, &exact, &members.items, kernel.diagonal(), duals, t, rest),
                None => ordinal::solve(&exact, &exact, &members.items, kernel.diagonal(), duals, t, rest),
            };
            spent += ending.steps;
            ending
        };
        let mut ending = search(true, limits.tol.max(NARROW_TOL), t);
        let may_go_on = matches!(ending.stop, Stop::Converged | Stop::Stalled);
        if may_go_on && ending.worth.gap > limits.tol * ending.worth.primal.abs().max(1e-12) {
            ending = search(false, limits.tol, t);
        }
        ending.steps = spent;
        ending
    };
    // Where variables may be huge, steps along directions without curvature would make them so, and rounding would take all
    // digits. They may grow by and by instead, and often need not grow to their bounds.
    let diagonal = members.items.iter().map(|&row| kernel.diagonal()[row as usize].abs());
    let unit = 2.0 * members.items.len() as f64 / diagonal.sum::<f64>().max(f64::MIN_POSITIVE);
    let largest = if aim.is_squared { 0.0 } else { duals.costs.iter().copied().fold(0.0, f64::max) };
    let (mut bound, mut ended) = (FIRST_BOUND * unit, None);
    while bound < largest.min(LAST_BOUND * unit) && ended.is_none() {
        if t.iter().all(|t| t.abs() <= bound) {
            let costs = duals.costs.iter().map(|cost| cost.min(bound)).collect();
            let mut ending = run(&GradeDuals { costs, ..duals.clone() }, &mut t);
            let is_limited = !matches!(ending.stop, Stop::Converged | Stop::Stalled);
            ending.worth = stretch(&duals, &mut t, &mut ending.scores, limits.tol);
            let is_met = ending.worth.gap <= limits.tol * ending.worth.primal.abs().max(1e-12);
            // Where digits are missing, they are missing for larger variables, too.
            ended = (is_limited || is_met || ending.stop == Stop::Stalled).then_some(ending);
        }
        bound *= GROWTH;
    }
    let ordinal::Ending { scores, worth, steps, stop } = ended.unwrap_or_else(|| run(&duals, &mut t));
    let is_met = worth.gap <= limits.tol * worth.primal.abs().max(1e-12);
    let stop = if is_met {
        Stop::Converged
    } else if stop == Stop::Converged {
        Stop::Stalled
    } else {
        stop
    };
    let coefficients = duals.coefficients(&t);
    let square = coefficients.iter().zip(&scores).map(|(u, s)| u * s).sum();
    let (mut numbers, mut sizes) = (vec![0.0; kernel.len()], vec![0.0; kernel.len()]);
    for (&row, u) in members.items.iter().zip(&coefficients) {
        numbers[row as usize] += u;
        sizes[row as usize] += u.abs();
    }
    // Copies of a row that have different grades may cancel, but for rounding.
    let is_rounding = |number: f64, size: f64| number.abs() <= 1e-13 * size;
    numbers.iter_mut().zip(sizes).filter(|(number, size)| is_rounding(**number, *size)).for_each(|(n, _)| *n = 0.0);
    let GradeWorth { thresholds, primal, gap } = worth;
    let machine = Machine {
        numbers,
        bias: 0.0,
        primal,
        dual: primal - gap,
        steps,
        stop,
        start: Start::of_weights(Vec::new()),
        claim: None,
    };
    Ok(GradeMachine { machine, thresholds, variables: Some(Variables { t, square }) })
}

/// Makes the function a little larger, if that is better: where slack costs very much, it had better be none.
fn stretch(duals: &GradeDuals, t: &mut [f64], scores: &mut [f64], tol: f64) -> GradeWorth {
    let mut best = (duals.worth(t, scores), 1.0);
    for power in -4..4 {
        let factor = 1.0 + tol * 2f64.powi(power);
        let times = |values: &[f64]| values.iter().map(|value| factor * value).collect::<Vec<f64>>();
        let longer = times(t);
        if !is_within(duals, &longer) {
            break;
        }
        let worth = duals.worth(&longer, &times(scores));
        if worth.gap < best.0.gap {
            best = (worth, factor);
        }
    }
    let (worth, factor) = best;
    t.iter_mut().chain(scores).for_each(|value| *value *= factor);
    worth
}

/// Whether all variables keep their bounds.
fn is_within(duals: &GradeDuals, t: &[f64]) -> bool {
    let spans = (0..duals.runs.n_thresholds()).flat_map(|threshold| duals.runs.span(threshold));
    duals.is_squared || spans.zip(t).all(|(item, t)| t.abs() <= duals.costs[item])
}

impl Variables {
    /// Variables for other bounds: their multiple of the best dual value within these.
    fn within(&self, duals: &GradeDuals) -> Option<Vec<f64>> {
        let (mut most, mut gain, mut curve, mut at) = (f64::INFINITY, 0.0, self.square, 0);
        for threshold in 0..duals.runs.n_thresholds() {
            for item in duals.runs.span(threshold) {
                let (t, dual) = (*self.t.get(at)?, duals.of(threshold, item));
                at += 1;
                if t != 0.0 {
                    most = f64::min(most, if t > 0.0 { dual.high / t } else { dual.low / t });
                    gain += t.abs();
                    curve += dual.shift * t * t;
                }
            }
        }
        let best = gain / curve;
        let factor = if best.is_finite() && best > 0.0 { best.min(most) } else { 1.0 };
        (at == self.t.len()).then(|| self.t.iter().map(|t| t * factor).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Precision, Random};
    use crate::kernel::KernelFunction;
    use crate::progress::Unwatched;

    /// Variables keep their bounds and sums, and their dual value by plain loops is the one that is told.
    #[test]
    fn variables_of_the_dual_are_feasible_and_worth_what_is_said() {
        let (n, kernel) = (150, KernelFunction::Rbf { gamma: 0.3 });
        let mut random = Random::new(3);
        let rows: Vec<f64> = (0..2 * n).map(|_| random.normal()).collect();
        let grade = |x: &[f64]| (x[0] + x[1] * x[1] + 2.0 * random.normal()).clamp(0.0, 3.9) as u32;
        let grades: Vec<u32> = rows.chunks(2).map(grade).collect();
        let weights: Vec<f64> = (0..n).map(|item| 0.25 * (item % 5) as f64).collect();
        let features = Features::dense(2, rows.clone(), Precision::F64).unwrap();
        let over = ItemKernel::new(kernel, &features, 64).unwrap();
        let all: Vec<u32> = (0..n as u32).collect();
        for (is_explicit, is_squared, tol) in
            [(false, false, 1e-3), (true, false, 1e-3), (true, false, 1e-9), (false, true, 1e-7), (true, true, 1e-7)]
        {
            let limits = Limits { tol, max_iter: u64::MAX, deadline: None, watch: &Unwatched };
            let aim = Aim { c: 2.0, is_squared, limits };
            let members = Graded::new(&grades, &weights, 4, is_explicit).distinct(&all);
            let found = by_dual(&over, &members, aim, None).unwrap();
            assert_eq!(found.machine.stop, Stop::Converged);
            let (duals, t) = (members.duals(aim), found.variables.unwrap().t);
            let (mut u, mut sums, mut value, mut at) = (vec![0.0; members.items.len()], vec![0.0; 3], 0.0, 0);
            for (threshold, sum) in sums.iter_mut().enumerate() {
                for item in duals.runs.span(threshold) {
                    let (sign, cost, t) = (duals.runs.sign(threshold, item), duals.costs[item], t[at]);
                    assert!(sign * t >= 0.0 && (is_squared || sign * t <= cost));
                    value += sign * t - if is_squared { 0.25 * t * t / cost } else { 0.0 };
                    u[item] += t;
                    *sum += t;
                    at += 1;
                }
            }
            let prefix: Vec<f64> = (1..=3).map(|n| sums[..n].iter().sum()).collect();
            let is_feasible = match is_explicit {
                true => prefix.iter().all(|sum| *sum < 1e-9) && prefix[2].abs() < 1e-9,
                false => sums.iter().all(|sum| sum.abs() < 1e-9),
            };
            assert!(is_feasible, "{sums:?}");
            let row = |k: usize| &rows[2 * members.items[k] as usize..][..2];
            for (i, a) in u.iter().enumerate() {
                let score: f64 = u.iter().enumerate().map(|(k, b)| b * kernel.value(row(i), row(k))).sum();
                value -= 0.5 * a * score;
            }
            let Machine { primal, dual, .. } = found.machine;
            assert!((value - dual).abs() <= 1e-9 * primal, "{value} {dual}");
            assert!(primal - value <= tol * primal * (1.0 + 1e-6));
        }
    }

    /// From another C the way is shorter, and ends at the same.
    #[test]
    fn another_c_is_a_start() {
        let mut random = Random::new(4);
        let rows: Vec<f64> = (0..600).map(|_| random.normal()).collect();
        let grades: Vec<u32> = rows.chunks(2).map(|x| (x[0] + random.normal() + 1.5).clamp(0.0, 2.9) as u32).collect();
        let features = Features::dense(2, rows, Precision::F64).unwrap();
        let over = ItemKernel::new(KernelFunction::Rbf { gamma: 0.5 }, &features, 64).unwrap();
        let limits = Limits { tol: 1e-6, max_iter: u64::MAX, deadline: None, watch: &Unwatched };
        let aim = |c: f64| Aim { c, is_squared: false, limits };
        for is_explicit in [false, true] {
            let members = Graded::new(&grades, &[1.0; 300], 3, is_explicit);
            let first = by_dual(&over, &members, aim(1.0), None).unwrap();
            let cold = by_dual(&over, &members, aim(1.5), None).unwrap().machine;
            let warm = by_dual(&over, &members, aim(1.5), Some(&first)).unwrap().machine;
            assert!((warm.primal / cold.primal - 1.0).abs() < 2e-6);
            assert!(warm.steps < cold.steps, "{} {}", warm.steps, cold.steps);
        }
    }
}
