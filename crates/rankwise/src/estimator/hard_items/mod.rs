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
use crate::problem::{ItemDual, ItemSums, ItemTerm, Slack};
use crate::progress::Stop;
use crate::solver::Limits;
use crate::solver::hard_margin::{self, Separation};

/// A margin this small beside the spread of the items counts as none.
const NO_MARGIN: f64 = 1e-7;
/// The first C on the way to a hard margin (in units of the spread), how it grows, and how often.
const FIRST_C: f64 = 16.0;
const GROWTH: f64 = 32.0;
const MOST_GROWTH: usize = 14;

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
            Ok(active_bounds::in_weights(features, divisors, terms, limits).unwrap_or(machine))
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
        Ok(solved) => Ok(solved),
        Err(Unsettled::Because(error) | Unsettled::Beyond(error)) => Err(error),
        Err(Unsettled::Stalled) => {
            let solved = if is_tube { None } else { kernel_bounds::solve(members, kernel, spread, limits)? };
            solved.ok_or_else(|| still_unknown(0, n_items))
        }
    }
}

/// C grows until no coefficient is at its bound, where the answer is that of all larger C, or until a bound on the norm says
/// that no margin is left.
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
    let (mut start, mut steps) = (None::<Vec<f64>>, 0);
    for _ in 0..MOST_GROWTH {
        let duals: Vec<ItemDual> = terms.iter().map(|term| dual_of(term, c, false)).collect();
        let inner = Limits { max_iter: limits.max_iter.saturating_sub(steps), ..limits };
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
        match solved.stop {
            Stop::Converged if !is_bound => return Ok(solved),
            Stop::Converged | Stop::Stalled => {}
            stop => return Err(Unsettled::Because(unknown(stop))),
        }
        start = Some(solved.coefficients);
        c *= GROWTH;
    }
    Err(Unsettled::Stalled)
}

/// The value for all items that keeps within every tube, where there is one.
fn one_value(terms: &[ItemTerm]) -> Option<f64> {
    let (bias, missed) = middle(terms, &vec![0.0; terms.len()]);
    (missed == 0.0 && terms.iter().any(ItemTerm::is_tube)).then_some(bias)
}
