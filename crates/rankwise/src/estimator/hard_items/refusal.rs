//! What is said where no function keeps every item within its bounds, or none is known to.

use super::active_bounds::range;
use crate::error::Error;
use crate::problem::ItemTerm;
use crate::progress::Stop;

/// Items that are named where they contradict one another.
const NAMED: usize = 4;
/// Beside the largest multiplier, one that is rounding. Of items far from the others a small one is not.
const NEGLIGIBLE: f64 = 1e-12;

/// No function is known that keeps to the bounds, although there is one with ½‖w‖² of at least `least`.
pub(super) fn beyond(terms: &[ItemTerm], least: f64, off: f64) -> Error {
    Error::NotSeparable {
        problem: format!(
            "{}{SEEMS_SO}: the norm of one is above {:.1e}, and rounding moves its values by {:.1e} of the range of the bounds",
            nothing_fits(terms),
            (2.0 * least).sqrt(),
            off / range(terms)
        ),
        remedy: "choose a finite C, which allows for errors, or features in other units (--scale standard)".into(),
        items: terms.len(),
    }
}

/// There may be a function whose numbers are too large to be told from others.
pub(super) const SEEMS_SO: &str = ", as far as floating point can tell";

fn nothing_fits(terms: &[ItemTerm]) -> &'static str {
    match terms.iter().any(ItemTerm::is_tube) {
        true => "no function stays within the tube around every label",
        false => "not separable: no function gives every item its margin",
    }
}

pub(super) fn not_separable(largest: f64, spread: f64, terms: &[ItemTerm], why: &str) -> Error {
    // What is 0 but for rounding proves no more than rounding allows for.
    let largest = largest.max(f64::EPSILON * spread).max(f64::MIN_POSITIVE);
    Error::NotSeparable {
        problem: format!(
            "{}{why} (its norm would be above {:.1e} where items usually differ by {spread:.1e})",
            nothing_fits(terms),
            1.0 / largest
        ),
        remedy: "choose a finite C, which allows for errors".into(),
        items: terms.len(),
    }
}

/// The items whose bounds contradict one another, those first that do so most.
pub(super) fn contradiction(terms: &[ItemTerm], multipliers: &[(usize, f64)]) -> String {
    let largest = multipliers.iter().fold(0.0, |most: f64, (_, t)| most.max(t.abs()));
    let mut named: Vec<(usize, f64)> =
        multipliers.iter().copied().filter(|(_, t)| t.abs() > NEGLIGIBLE * largest).collect();
    if named.is_empty() {
        return String::new();
    }
    named.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    let mut items: Vec<u32> = named.iter().take(NAMED).map(|(term, _)| terms[*term].row + 1).collect();
    items.sort_unstable();
    let items: Vec<String> = items.iter().map(u32::to_string).collect();
    let others = if named.len() > NAMED { format!(" and {} others", named.len() - NAMED) } else { String::new() };
    format!("; of the items learnt from, numbers {}{others} contradict one another", items.join(", "))
}

/// An error that a machine made of some items, as told of all of them.
pub(in crate::estimator) fn told_of_all(error: Error, n_items: usize) -> Error {
    match error {
        Error::NotSeparable { problem, remedy, .. } => Error::NotSeparable { problem, remedy, items: n_items },
        error => error,
    }
}

pub(super) fn still_unknown(steps: u64, n_items: usize) -> Error {
    let after = if steps > 0 { format!("after {steps} steps ") } else { String::new() };
    Error::Search {
        problem: format!("{after}it is still not known whether {n_items} items allow for no slack"),
        remedy: "choose a large finite C, such as 1e6".into(),
    }
}

/// A search for a hard margin that ended before it was known whether there is one.
pub(in crate::estimator) fn unknown(stop: Stop) -> Error {
    if stop == Stop::Interrupted {
        return Error::Interrupted;
    }
    Error::Search {
        problem: format!(
            "{}, and it is not known whether there is a hard margin",
            stop.reason().unwrap_or("the search ended")
        ),
        remedy: match stop {
            Stop::TimeLimit => "allow more time (--time-limit), or choose a finite C".into(),
            Stop::MaxIter => "allow more iterations (--max-iter), or choose a finite C".into(),
            _ => "choose a large finite C, such as 1e6".into(),
        },
    }
}
