//! The best β for given margins.
//!
//! S(β) = Σ_non-ties c·ℓ(1 − β − z) + Σ_ties c·(ℓ(1 + β + z) + ℓ(1 + β − z)) is convex; its slope is monotone, with
//! breakpoints where a slack vanishes, so that one sort finds the minimum.

use crate::loss::Loss;

/// One term c·ℓ(1 − sign·(β − offset)): falling in β (non-tie, sign +1) or rising (tie side, sign −1).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    /// The term vanishes beyond this β (to its right when falling, to its left when rising).
    pub(crate) breakpoint: f64,
    /// c > 0
    pub(crate) weight: f64,
    /// The term falls with β.
    pub(crate) falls: bool,
}

/// The minimiser; the middle of the interval where there is one. There must be terms of both kinds. O(n log n).
pub(crate) fn best_beta(loss: Loss, terms: &mut [Term]) -> f64 {
    terms.sort_by(|a, b| a.breakpoint.total_cmp(&b.breakpoint));
    match loss {
        Loss::Hinge => best_for_hinge(terms),
        _ => best_for_squared_hinge(terms),
    }
}

fn best_for_hinge(terms: &[Term]) -> f64 {
    // Left of everything all falling terms act. Each breakpoint, falling or rising, raises the slope by its weight.
    let total: f64 = terms.iter().filter(|t| t.falls).map(|t| t.weight).sum();
    let tiny = 1e-12 * terms.iter().map(|t| t.weight).sum::<f64>();
    let mut slope = -total;
    let mut flat_from = None;
    for term in terms {
        if let Some(start) = flat_from {
            return 0.5 * (start + term.breakpoint);
        }
        slope += term.weight;
        if slope > tiny {
            return term.breakpoint;
        }
        if slope >= -tiny {
            flat_from = Some(term.breakpoint);
        }
    }
    terms.last().map_or(0.0, |t| t.breakpoint)
}

fn best_for_squared_hinge(terms: &[Term]) -> f64 {
    // slope/2 = Σ_acting weight·(β − breakpoint), where falling terms act left of their breakpoints, rising ones right.
    let (mut weight, mut moment) = (0.0, 0.0);
    for term in terms.iter().filter(|t| t.falls) {
        weight += term.weight;
        moment += term.weight * term.breakpoint;
    }
    for term in terms {
        // The slope is zero before this breakpoint if the acting terms' mean lies there.
        if weight > 0.0 && moment <= weight * term.breakpoint {
            return moment / weight;
        }
        let sign = if term.falls { -1.0 } else { 1.0 };
        weight += sign * term.weight;
        moment += sign * term.weight * term.breakpoint;
        if weight <= 1e-12 * term.weight {
            (weight, moment) = (0.0, 0.0); // nothing acts here: the sum has lost its digits
        }
    }
    if weight > 0.0 { moment / weight } else { terms.last().map_or(0.0, |t| t.breakpoint) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn value(loss: Loss, terms: &[Term], beta: f64) -> f64 {
        let term = |t: &Term| t.weight * loss.value(if t.falls { t.breakpoint - beta } else { beta - t.breakpoint });
        terms.iter().map(term).sum()
    }

    #[test]
    fn no_other_beta_is_better() {
        let mut random = Random::new(5);
        for case in 0..400 {
            let n = 2 + random.below(20);
            let mut terms: Vec<Term> = (0..n)
                .map(|k| Term {
                    breakpoint: if case % 2 == 0 { random.below(7) as f64 - 3.0 } else { 3.0 * random.normal() },
                    weight: 0.1 + random.uniform(),
                    falls: if k < 2 { k == 0 } else { random.below(2) == 0 },
                })
                .collect();
            for loss in Loss::OF_PAIRS {
                let best = value(loss, &terms.clone(), best_beta(loss, &mut terms));
                for step in -1000..=1000 {
                    assert!(best <= value(loss, &terms, f64::from(step) * 0.01) + 1e-9, "case {case} {loss:?}");
                }
            }
        }
    }
}
