//! Machines on items without any slack: the shortest weights that keep every item within its bounds, or a proof that there are
//! none.
//!
//! Margins of classes come from the squared hinge or from the dual with growing C, which suit many items. Tubes, and margins
//! that these cannot settle, come from the bounds that are active at the optimum ([`active_bounds`]).

mod active_bounds;
mod kernel_bounds;
mod refusal;

use std::borrow::Cow;

use self::active_bounds::middle;
use self::refusal::{SEEMS_SO, not_separable, still_unknown};
pub(super) use self::refusal::{told_of_all, unknown};
use super::item_dual::{self, DualSolution};
use super::item_machine::{Machine, Members, dual_of, spread_of_features};
use super::item_ranker::Solution;
use super::item_start::Start;
use crate::data::Features;
use crate::error::{Error, Result};
use crate::kernel::ItemKernel;
use crate::math::dot;
use crate::problem::{ItemDual, ItemSums, ItemTerm, Slack};
use crate::progress::Stop;
use crate::solver::Limits;
use crate::solver::decompose::joined;
use crate::solver::hard_margin::{self, Separation};

/// A margin this small beside the spread of the items counts as none.
const NO_MARGIN: f64 = 1e-7;
/// The first C on the way to a hard margin (in units of the spread), how it grows, and how often.
const FIRST_C: f64 = 16.0;
const GROWTH: f64 = 32.0;
const MOST_GROWTH: usize = 14;
/// What the tolerance is multiplied with where a function with all margins is too long.
const TIGHTER: f64 = 0.1;

/// The machine in weights of features.
pub(super) fn in_weights(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    limits: Limits<'_>,
) -> Result<Machine> {
    if let Some(bias) = one_value(terms) {
        let (numbers, start) = (vec![0.0; features.n_cols()], Start::of_weights(Vec::new()));
        let (primal, dual, steps, stop, claim) = (0.0, 0.0, 0, Stop::Converged, None);
        return Ok(Machine { numbers, bias, primal, dual, steps, stop, start, claim });
    }
    if terms.iter().any(ItemTerm::is_tube) {
        return active_bounds::in_weights(features, divisors, terms, limits);
    }
    let spread = spread_of_features(features, divisors, terms);
    Solution::check_unit(spread, features)?;
    if !spread.is_normal() {
        return Err(not_separable(0.0, spread, terms, ""));
    }
    match separated(features, divisors, terms, spread, limits) {
        Ok(machine) if machine.stop == Stop::Stalled => {
            Ok(active_bounds::in_weights(features, divisors, terms, limits).unwrap_or_else(|_| Machine {
                stop: limits.reached(machine.steps, f64::NAN).unwrap_or(machine.stop),
                ..machine
            }))
        }
        Err(Unsettled::Stalled) => active_bounds::in_weights(features, divisors, terms, limits),
        Err(Unsettled::Because(error) | Unsettled::Beyond(error)) => Err(error),
        Ok(machine) => Ok(machine),
    }
}

/// Why there is no machine.
enum Unsettled {
    /// Another method may know.
    Stalled,
    /// So it seems to this one.
    Beyond(Error),
    Because(Error),
}

/// The shortest weights with all margins, by the squared hinge with growing C.
fn separated(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    spread: f64,
    limits: Limits<'_>,
) -> std::result::Result<Machine, Unsettled> {
    // In units of the spread numbers are near 1, and all items count the same.
    let units = (0..features.n_cols()).map(|at| spread * divisors.map_or(1.0, |divisors| divisors[at])).collect();
    let equal: Vec<ItemTerm> = terms.iter().map(|term| ItemTerm { cost: 1.0, ..*term }).collect();
    let mut sums = ItemSums::new(features, Some(Cow::Owned(units)), Cow::Borrowed(&equal), Slack::Squared);
    match hard_margin::separate(&mut sums, None, 1.0, limits) {
        Separation::Found { weights, objective, gap, steps, stop } => {
            let (bias, _) = middle(&equal, &sums.scores(&weights));
            let primal = objective / spread / spread;
            Ok(Machine {
                numbers: weights.into_iter().map(|w| w / spread).collect(),
                bias,
                primal,
                dual: primal * (1.0 - gap),
                steps,
                stop: stop.unwrap_or(Stop::Converged),
                start: Start::of_weights(Vec::new()),
                claim: None,
            })
        }
        Separation::None { largest_lead } => {
            Err(Unsettled::Because(not_separable(largest_lead * spread, spread, terms, SEEMS_SO)))
        }
        Separation::Unknown(Stop::Stalled) => Err(Unsettled::Stalled),
        Separation::Unknown(stop) => Err(Unsettled::Because(unknown(stop))),
    }
}

/// Coefficients of members.
pub(super) fn with_kernel(
    members: &Members,
    kernel: &ItemKernel<'_>,
    spread: f64,
    n_items: usize,
    limits: Limits<'_>,
) -> Result<DualSolution> {
    if let Some(bias) = one_value(&members.terms) {
        let (coefficients, scores) = (vec![0.0; members.terms.len()], vec![bias; members.terms.len()]);
        let (objective, gap, steps, stop) = (0.0, 0.0, 0, Stop::Converged);
        return Ok(DualSolution { coefficients, bias, scores, objective, gap, steps, stop });
    }
    let is_tube = members.terms.iter().any(ItemTerm::is_tube);
    if is_tube && let Some(solved) = kernel_bounds::solve(members, kernel, spread, limits)? {
        return Ok(solved);
    }
    match grown(members, kernel, spread, limits) {
        Ok(solved) if solved.stop == Stop::Stalled && !is_tube => {
            let other = kernel_bounds::solve(members, kernel, spread, limits).ok().flatten();
            Ok(other.unwrap_or_else(|| DualSolution {
                stop: limits.reached(solved.steps, solved.gap).unwrap_or(solved.stop),
                ..solved
            }))
        }
        Ok(solved) => Ok(solved),
        Err(Unsettled::Because(error) | Unsettled::Beyond(error)) => Err(error),
        Err(Unsettled::Stalled) => {
            let solved = if is_tube { None } else { kernel_bounds::solve(members, kernel, spread, limits)? };
            solved.ok_or_else(|| still_unknown(0, n_items))
        }
    }
}

/// C grows until no coefficient is at its bound, where the answer is that of all larger C, or until a bound on the norm says
/// that no margin is left. Then the function is made as long as margins ask for, and the tolerance smaller until that is not
/// too long.
fn grown(
    members: &Members,
    kernel: &ItemKernel<'_>,
    spread: f64,
    limits: Limits<'_>,
) -> std::result::Result<DualSolution, Unsettled> {
    let terms = &members.terms;
    if !spread.is_normal() {
        return Err(Unsettled::Because(not_separable(0.0, spread, terms, "")));
    }
    let mut c = FIRST_C / (spread * spread);
    let (mut start, mut steps, mut tol) = (None::<Vec<f64>>, 0, limits.tol);
    let mut best = None::<DualSolution>;
    for _ in 0..MOST_GROWTH {
        let duals: Vec<ItemDual> = terms.iter().map(|term| dual_of(term, c, false)).collect();
        let inner = Limits { tol, max_iter: limits.max_iter.saturating_sub(steps), ..limits };
        let mut solved =
            item_dual::solve(kernel, &members.rows, &duals, start.as_deref(), inner).map_err(Unsettled::Because)?;
        steps += solved.steps;
        solved.steps = steps;
        let is_bound = solved.coefficients.iter().any(|t| t.abs() >= c * (1.0 - 1e-9));
        // Every function without slack has ½‖f‖² ≥ s·Σ t·target − s²·½‖Σ t·Φ‖² for all s.
        let (mut total, mut square) = (0.0, 0.0);
        for ((t, dual), score) in solved.coefficients.iter().zip(&duals).zip(&solved.scores) {
            total += t * if *t < 0.0 { dual.below } else { dual.above };
            square += t * (score - solved.bias);
        }
        let largest = square.max(0.0).sqrt() / total;
        // Which holds where squares are never below 0.
        if total > 0.0 && largest <= NO_MARGIN * spread && kernel.is_positive_definite() {
            return Err(Unsettled::Because(not_separable(largest, spread, terms, SEEMS_SO)));
        }
        let is_limited = !matches!(solved.stop, Stop::Converged | Stop::Stalled);
        let next = Some(solved.coefficients.clone());
        if solved.stop == Stop::Converged && !is_bound {
            let kept = keeping_margins(members, kernel, solved, total, limits.tol).map_err(Unsettled::Because)?;
            match kept {
                Some(kept) if kept.stop == Stop::Converged => return Ok(kept),
                Some(kept) => best = Some(kept),
                None => c *= GROWTH,
            }
            tol *= TIGHTER;
        } else if is_limited {
            let why = |best: DualSolution| DualSolution { stop: solved.stop, steps, ..best };
            return best.map(why).ok_or_else(|| Unsettled::Because(unknown(solved.stop)));
        } else {
            c *= GROWTH;
        }
        start = next;
    }
    best.ok_or(Unsettled::Stalled)
}

/// The shortest multiple of a function of classes that keeps all margins, held against what multiples of its coefficients prove
/// of all (`gain` is Σ t·target); that of tubes as it is. `None` where there is none: with much tolerance slack may be left.
fn keeping_margins(
    members: &Members,
    kernel: &ItemKernel<'_>,
    solved: DualSolution,
    gain: f64,
    tol: f64,
) -> Result<Option<DualSolution>> {
    if members.terms.iter().any(ItemTerm::is_tube) {
        return Ok(Some(solved));
    }
    let used = members.rows.iter().zip(&solved.coefficients).filter(|(_, t)| **t != 0.0);
    let (items, coefficients) = joined(used.map(|(&row, &t)| (row, t)));
    let exact = kernel.exact()?;
    let mut scores = vec![0.0; members.rows.len()];
    exact.add(&items, &coefficients, &mut exact.part(&members.rows), &mut scores);
    let (mut low, mut high, mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY);
    for (term, &score) in members.terms.iter().zip(&scores) {
        if term.low.is_finite() {
            (low, least) = (low.max(term.low), least.min(score));
        }
        if term.high.is_finite() {
            (high, most) = (high.min(term.high), most.max(score));
        }
    }
    let factor = (low - high) / (least - most);
    if !(factor > 0.0 && factor.is_finite()) {
        return Ok(None);
    }
    let square = dot(&solved.coefficients, &scores);
    let bound = if square > 0.0 { 0.5 * gain * gain / square } else { 0.0 };
    let times = |values: &[f64]| values.iter().map(|value| factor * value).collect::<Vec<f64>>();
    let (coefficients, scores) = (times(&solved.coefficients), times(&scores));
    let objective = 0.5 * dot(&coefficients, &scores).max(0.0);
    let gap = ((objective - bound) / objective.max(1e-12)).max(0.0);
    let bias = low - factor * least;
    Ok(Some(DualSolution {
        bias: bias - kernel.constant(&members.rows, &coefficients),
        scores: scores.iter().map(|score| score + bias).collect(),
        coefficients,
        objective,
        gap,
        stop: if gap <= tol { Stop::Converged } else { Stop::Stalled },
        ..solved
    }))
}

/// The value for all items that keeps within every tube, where there is one.
fn one_value(terms: &[ItemTerm]) -> Option<f64> {
    let (bias, missed) = middle(terms, &vec![0.0; terms.len()]);
    (missed == 0.0 && terms.iter().any(ItemTerm::is_tube)).then_some(bias)
}
