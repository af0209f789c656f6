//! Linear machines on few items: the dual search, whose steps cost next to nothing there, and the weights that its coefficients
//! make. Newton's method takes over where it is slow.

use super::item_dual;
use super::item_machine::{Aim, Machine, Members, dual_of};
use super::item_start::Start;
use crate::data::{Features, Scaler};
use crate::kernel::{ItemKernel, KernelFunction};
use crate::math::dot;
use crate::problem::{ItemDual, ItemTerm, best_bias};
use crate::progress::Stop;
use crate::solver::Limits;

/// The most terms.
const MOST_TERMS: usize = 4096;
/// The most terms for each number of a row: with more of them Newton's method has few weights to find, and does so at once.
const TERMS_PER_NUMBER: usize = 16;
/// Steps for each number of a row that cost about as much as Newton's method does.
const STEPS_PER_NUMBER: u64 = 500;

/// What became of a dual search.
pub(super) enum Small {
    /// The tolerance is met.
    Solved(Box<Machine>),
    /// It was not tried, or took too many steps.
    Unsolved {
        /// What it took.
        steps: u64,
    },
}

/// Solves by the dual where that is quick.
pub(super) fn solve(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    aim: Aim<'_>,
    start: Option<&Start>,
) -> Small {
    let numbers = features.n_stored() / features.n_rows().max(1);
    let is_small = terms.len() <= MOST_TERMS.min(TERMS_PER_NUMBER * numbers);
    let most = STEPS_PER_NUMBER * numbers as u64;
    let was_slow = start.is_some_and(|start| !start.has_coefficients());
    // Whoever asks for few steps means those of Newton's method.
    if !is_small || was_slow || aim.limits.max_iter <= most {
        return Small::Unsolved { steps: 0 };
    }
    by_dual(features, divisors, terms, aim, start, most).unwrap_or(Small::Unsolved { steps: 0 })
}

/// `None` where numbers leave their range.
fn by_dual(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    aim: Aim<'_>,
    start: Option<&Start>,
    most: u64,
) -> Option<Small> {
    let items: Vec<usize> = terms.iter().map(|term| term.row as usize).collect();
    let mut own = features.select_rows(&items);
    if let Some(divisors) = divisors {
        own = Scaler { shift: vec![0.0; divisors.len()], divisor: divisors.to_vec() }.apply(&own).ok()?;
    }
    let (rows, row_of) = own.unique_rows();
    let numbered: Vec<ItemTerm> =
        terms.iter().enumerate().map(|(at, term)| ItemTerm { row: at as u32, ..*term }).collect();
    let members = Members::new(&numbered, &row_of);
    let duals: Vec<ItemDual> =
        members.terms.iter().map(|term| dual_of(term, aim.c * term.cost, aim.is_squared)).collect();
    let start = start.and_then(|start| start.coefficients(&duals));
    let kernel = ItemKernel::new(KernelFunction::Linear, &rows, 0).ok()?;
    let limits = Limits { tol: 0.9 * aim.limits.tol, max_iter: most, ..aim.limits };
    let solved = item_dual::solve(&kernel, &members.rows, &duals, start.as_deref(), limits).ok()?;
    let t = &solved.coefficients;
    let weights = rows.combine_rows(members.rows.iter().zip(t).map(|(&row, &t)| (row as usize, t)));
    let half_square = 0.5 * dot(&weights, &weights);
    let scores: Vec<f64> = (0..rows.n_rows()).map(|row| rows.dot_row(row, &weights)).collect();
    let scores: Vec<f64> = members.rows.iter().map(|&row| scores[row as usize]).collect();
    let (bias, losses) = best_bias(&members.terms, &scores, aim.is_squared);
    let primal = half_square + aim.c * losses;
    let gains = t.iter().zip(&duals).map(|(t, dual)| t * dual.target(*t) - 0.5 * dual.shift * t * t);
    let dual = gains.sum::<f64>() - half_square;
    let is_met = primal - dual <= aim.limits.tol * primal.max(1e-12);
    if !is_met {
        return Some(Small::Unsolved { steps: solved.steps });
    }
    let start = Start::of_members(solved.coefficients, &solved.scores).with_weights(weights.clone());
    let (steps, stop) = (solved.steps, Stop::Converged);
    Some(Small::Solved(Box::new(Machine { numbers: weights, bias, primal, dual, steps, stop, start, claim: None })))
}

#[cfg(test)]
mod tests {
    use super::super::item_machine::in_weights;
    use super::*;
    use crate::data::{Precision, Random};
    use crate::progress::Unwatched;

    fn aim(c: f64, is_squared: bool, max_iter: u64) -> Aim<'static> {
        Aim { c, is_squared, limits: Limits { tol: 1e-5, max_iter, deadline: None, watch: &Unwatched } }
    }

    /// Items in forty features, every third of them twice, and classes or targets of these.
    fn problem(is_class: bool) -> (Features, Vec<ItemTerm>) {
        let (n, d) = (150, 40);
        let mut random = Random::new(7);
        let mut rows: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
        (0..n / 3).for_each(|k| rows.copy_within(3 * k * d..(3 * k + 1) * d, (3 * k + 1) * d));
        let term = |k: usize| {
            let value = rows[k * d] + rows[k * d + 1] + 0.5 * random.normal();
            let (low, high) = match (is_class, value > 0.3) {
                (true, true) => (1.0, f64::INFINITY),
                (true, false) => (f64::NEG_INFINITY, -1.0),
                (false, _) => (value - 0.1, value + 0.1),
            };
            ItemTerm { row: k as u32, low, high, cost: 0.5 + random.uniform() }
        };
        let terms = (0..n).map(term).collect();
        (Features::dense(d, rows, Precision::F64).unwrap(), terms)
    }

    #[test]
    fn the_dual_ends_where_newtons_method_does() {
        let divisors: Vec<f64> = (0..40).map(|at| 0.5 + 0.1 * f64::from(at)).collect();
        for (is_class, is_squared) in [(true, false), (true, true), (false, false), (false, true)] {
            let (features, terms) = problem(is_class);
            for divisors in [None, Some(divisors.as_slice())] {
                let mut last = None;
                for c in [0.01, 0.05] {
                    let aim = aim(c, is_squared, u64::MAX);
                    let Small::Solved(small) = solve(&features, divisors, &terms, aim, last.as_ref()) else {
                        panic!("unsolved: {is_class} {is_squared} {c}")
                    };
                    let (large, _) = in_weights(&features, divisors, &terms, aim, None);
                    for machine in [&*small, &large] {
                        assert!(machine.primal - machine.dual <= 1e-5 * machine.primal);
                    }
                    // Each is above the other's bound.
                    assert!(small.primal >= large.dual * (1.0 - 1e-9) && large.primal >= small.dual * (1.0 - 1e-9));
                    let off = small.numbers.iter().zip(&large.numbers).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(
                        off < 0.01 && (small.bias - large.bias).abs() < 0.02,
                        "{off} {} {}",
                        small.bias,
                        large.bias
                    );
                    last = Some(small.start);
                }
            }
        }
    }

    #[test]
    fn few_steps_and_few_features_are_left_to_newtons_method() {
        let (features, terms) = problem(true);
        assert!(matches!(solve(&features, None, &terms, aim(0.1, false, 100), None), Small::Unsolved { steps: 0 }));
        let narrow = Features::dense(2, vec![0.5; 300], Precision::F64).unwrap();
        assert!(matches!(solve(&narrow, None, &terms, aim(0.1, false, u64::MAX), None), Small::Unsolved { steps: 0 }));
    }
}
