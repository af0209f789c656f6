//! Losses and the cost of columns as a linear program: from vertex to vertex over listed terms, or with planes that sum them all.
//!
//! One plane sums all terms in a time that hardly grows with their number, but where many must come together to make the function (a
//! large cost, a small tolerance) they come slowly, or rounding ends it. Listed terms always get there, in steps that each look
//! at all terms.

use super::column_planes::{self, Answer, Cost};
use super::{Limits, vertices};
use crate::problem::ColumnTerms;
use crate::progress::Stop;

/// Up to so many terms are listed at once, and up to so many where planes do not help.
const FEW_TERMS: u64 = 1 << 11;
const MOST_TERMS: u64 = 1 << 20;

/// Minimises, from 0, until `is_enough` says so of the value and its lower bound.
pub(crate) fn minimise(
    losses: &mut dyn ColumnTerms,
    is_enough: &dyn Fn(f64, f64) -> bool,
    limits: Limits<'_>,
) -> Answer {
    let n_terms = losses.n_terms();
    if n_terms <= FEW_TERMS {
        return vertices::minimise(losses, is_enough, limits);
    }
    let by_planes = column_planes::minimise(losses, Cost::One, is_enough, limits);
    if by_planes.stop != Some(Stop::Stalled) || n_terms > MOST_TERMS {
        return by_planes;
    }
    let (value, bound, planes) = (by_planes.value, by_planes.bound, by_planes.planes);
    let rest = Limits { max_iter: limits.max_iter.saturating_sub(planes), ..limits };
    let listed = vertices::minimise(losses, &|a, b| is_enough(a.min(value), b.max(bound)), rest);
    let both = Answer { bound: listed.bound.max(bound), planes: listed.planes + planes, ..listed };
    if both.value <= value {
        both
    } else {
        Answer { columns: by_planes.columns, coefficients: by_planes.coefficients, value, ..both }
    }
}
