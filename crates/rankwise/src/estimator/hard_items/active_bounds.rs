//! The shortest weights from the bounds that are active at the optimum ([`shortest`]), in coordinates of the items: their
//! features or, with a kernel, the rows of a factor of its matrix. What is found there is held against the items themselves,
//! and corrected.

use super::refusal::{SEEMS_SO, beyond, contradiction, not_separable, still_unknown, unknown};
use super::{NO_MARGIN, with_kernel};
use crate::data::{Features, Scaler};
use crate::error::{Error, Result};
use crate::estimator::item_machine::{Machine, Members, spread_of_features};
use crate::estimator::item_start::Start;
use crate::kernel::{ItemKernel, KernelFunction};
use crate::math::{add_multiple, dot};
use crate::problem::ItemTerm;
use crate::progress::Stop;
use crate::solver::Limits;
use crate::solver::shortest::{self, Meeting, Rows, Shortest};

/// The most numbers of rows that are held at once.
const MOST_NUMBERS: usize = 1 << 26;
/// What of a row of features is rounding.
const RESOLUTION: f64 = 1e-13;
/// By how much of the range of labels bounds may be missed where that is rounding, while searching.
const SOUGHT: f64 = 1e-12;
/// The same at the end.
pub(super) const ALLOWED: f64 = 1e-9;
/// Bounds that contradict one another by less than this share of the range do so by rounding.
const BLURRED: f64 = 4e-10;
/// Sums that would be 0 without rounding, beside the sum of what they add.
pub(super) const CANCELLED: f64 = 1e-12;
/// How often what is missing is added.
const CORRECTIONS: usize = 5;

/// The shortest weights from the active bounds.
pub(super) fn in_weights(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    limits: Limits<'_>,
) -> Result<Machine> {
    let (n, d) = (terms.len(), features.n_cols());
    if d > 2 * n || n.saturating_mul(d) > MOST_NUMBERS {
        return by_coefficients(features, divisors, terms, limits);
    }
    let mut numbers = vec![0.0; n * d];
    for (row, term) in numbers.chunks_exact_mut(d.max(1)).zip(terms) {
        features.copy_row(term.row as usize, row);
        divisors.iter().for_each(|divisors| row.iter_mut().zip(*divisors).for_each(|(v, divisor)| *v /= divisor));
    }
    let own = numbered(terms);
    let coordinates = Coordinates::new(numbers, d, RESOLUTION);
    let unit = coordinates.unit;
    let met = match coordinates.search(&own, limits) {
        Shortest::Found(met) => met,
        Shortest::None(multipliers) => return Err(coordinates.refusal(terms, &multipliers)),
        Shortest::Unknown(Stop::Stalled, steps) => return Err(still_unknown(steps, n)),
        Shortest::Unknown(stop, _) => return Err(unknown(stop)),
    };
    let rows: Vec<u32> = terms.iter().map(|term| term.row).collect();
    let scores = |numbers: &[f64]| {
        let divided: Vec<f64> =
            numbers.iter().enumerate().map(|(at, w)| w / divisors.map_or(1.0, |divisors| divisors[at])).collect();
        let mut scores = vec![0.0; n];
        features.times_rows(&rows, &divided, &mut scores);
        scores
    };
    let in_units = |values: &[f64]| values.iter().map(|w| w / unit).collect::<Vec<f64>>();
    let fitted = Fitted::refined(terms, &met, in_units(&met.weights), &scores, |more, _| in_units(more));
    let least = coordinates.bound(&own, &met);
    if fitted.missed > ALLOWED * range(terms) {
        return Err(beyond(terms, least, fitted.missed));
    }
    let primal = 0.5 * dot(&fitted.numbers, &fitted.numbers);
    let is_met = (primal - least).abs() <= limits.tol * primal.max(1e-12);
    let (dual, stop) = (least.min(primal), if is_met { Stop::Converged } else { Stop::Stalled });
    let (bias, steps, start) = (fitted.bias, met.steps, Start::of_weights(Vec::new()));
    Ok(Machine { numbers: fitted.numbers, bias, primal, dual, steps, stop, start, claim: None })
}

/// Wide features: coefficients of rows make the weights.
fn by_coefficients(
    features: &Features,
    divisors: Option<&[f64]>,
    terms: &[ItemTerm],
    limits: Limits<'_>,
) -> Result<Machine> {
    let items: Vec<usize> = terms.iter().map(|term| term.row as usize).collect();
    let mut own = features.select_rows(&items);
    if let Some(divisors) = divisors {
        own = Scaler { shift: vec![0.0; divisors.len()], divisor: divisors.to_vec() }.apply(&own)?;
    }
    let (rows, row_of) = own.unique_rows();
    let members = Members::new(&numbered(terms), &row_of);
    let kernel = ItemKernel::new(KernelFunction::Linear, &rows, 0)?;
    let spread = spread_of_features(features, divisors, terms);
    let solved = with_kernel(&members, &kernel, spread, terms.len(), limits)?;
    let t = members.rows.iter().zip(&solved.coefficients);
    let weights = rows.combine_rows(t.map(|(&row, &t)| (row as usize, t)));
    let scores: Vec<f64> = members.rows.iter().map(|&row| rows.dot_row(row as usize, &weights)).collect();
    let (bias, _) = middle(&members.terms, &scores);
    let primal = 0.5 * dot(&weights, &weights);
    let dual = primal * (1.0 - solved.gap);
    let (steps, stop, start) = (solved.steps, solved.stop, Start::of_weights(Vec::new()));
    Ok(Machine { numbers: weights, bias, primal, dual, steps, stop, start, claim: None })
}

/// The terms with rows of their own, in this order.
fn numbered(terms: &[ItemTerm]) -> Vec<ItemTerm> {
    terms.iter().enumerate().map(|(at, term)| ItemTerm { row: at as u32, ..*term }).collect()
}

/// Items as vectors, centred and in units of about 1.
pub(super) struct Coordinates {
    numbers: Vec<f64>,
    dim: usize,
    pub(super) unit: f64,
    resolution: f64,
}

impl Coordinates {
    pub(super) fn new(mut numbers: Vec<f64>, dim: usize, resolution: f64) -> Self {
        let n = numbers.len() / dim.max(1);
        for column in 0..dim {
            let values = || (0..n).map(|row| row * dim + column);
            let mean: f64 = values().map(|at| numbers[at] / n as f64).sum();
            values().for_each(|at| numbers[at] -= mean);
        }
        let largest = numbers.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let squares: f64 = numbers.iter().map(|v| (v / largest) * (v / largest)).sum();
        let unit = largest * (squares / n as f64).sqrt();
        let unit = if unit.is_normal() { unit } else { 1.0 };
        numbers.iter_mut().for_each(|v| *v /= unit);
        Coordinates { numbers, dim, unit, resolution }
    }

    fn row(&self, term: &ItemTerm) -> &[f64] {
        &self.numbers[term.row as usize * self.dim..][..self.dim]
    }

    /// The search; bounds that miss each other by rounding alone are moved apart for it.
    pub(super) fn search(&self, terms: &[ItemTerm], limits: Limits<'_>) -> Shortest {
        let rows = Rows { numbers: &self.numbers, dim: self.dim, resolution: self.resolution };
        let range = range(terms);
        let found = shortest::search(&rows, terms, SOUGHT * range, limits);
        let Shortest::None(multipliers) = &found else { return found };
        let total: f64 = multipliers.iter().map(|(_, t)| t.abs()).sum();
        let apart = BLURRED * range;
        if gain(terms, multipliers) > apart * total {
            return found;
        }
        let moved = |term: &ItemTerm| ItemTerm { low: term.low - apart, high: term.high + apart, ..*term };
        shortest::search(&rows, &terms.iter().map(moved).collect::<Vec<_>>(), SOUGHT * range, limits)
    }

    /// Σ t·x, and the largest share that a sum in it has of what it adds.
    fn combined(&self, terms: &[ItemTerm], multipliers: impl Iterator<Item = (usize, f64)>) -> (Vec<f64>, f64) {
        let (mut sum, mut sizes) = (vec![0.0; self.dim], vec![0.0; self.dim]);
        for (term, t) in multipliers {
            let row = self.row(&terms[term]);
            add_multiple(&mut sum, t, row);
            sizes.iter_mut().zip(row).for_each(|(size, v)| *size += (t * v).abs());
        }
        let share = |(sum, size): (&f64, &f64)| if *size > 0.0 { sum.abs() / size } else { 0.0 };
        let largest = sum.iter().zip(&sizes).map(share).fold(0.0, f64::max);
        (sum, largest)
    }

    /// What multipliers that no weights can bear say: every w has w·Σ t·x ≥ Σ t·bound.
    fn refusal(&self, terms: &[ItemTerm], multipliers: &[(usize, f64)]) -> Error {
        let (sum, share) = self.combined(&numbered(terms), multipliers.iter().copied());
        let largest = dot(&sum, &sum).sqrt() / gain(terms, multipliers);
        let refused = |why: &str| not_separable(largest * self.unit, self.unit, terms, why);
        match (share <= CANCELLED, largest <= NO_MARGIN) {
            (true, _) => refused(&contradiction(terms, multipliers)),
            (false, true) => refused(SEEMS_SO),
            (false, false) => still_unknown(0, terms.len()),
        }
    }

    /// The most that multiples of the multipliers prove of ½‖w‖².
    pub(super) fn bound(&self, terms: &[ItemTerm], met: &Meeting) -> f64 {
        let multipliers: Vec<(usize, f64)> =
            met.bounds.iter().zip(&met.multipliers).map(|((term, _), t)| (*term, *t)).collect();
        let (sum, _) = self.combined(terms, multipliers.iter().copied());
        let (gain, square) = (gain(terms, &multipliers), dot(&sum, &sum) * self.unit * self.unit);
        if gain > 0.0 && square > 0.0 { 0.5 * gain * gain / square } else { 0.0 }
    }
}

/// Σ t·bound, the lower ones where t is above 0.
pub(super) fn gain(terms: &[ItemTerm], multipliers: &[(usize, f64)]) -> f64 {
    let bound = |term: &ItemTerm, t: f64| if t > 0.0 { term.low } else { term.high };
    multipliers.iter().filter(|(_, t)| *t != 0.0).map(|&(term, t)| t * bound(&terms[term], t)).sum()
}

/// How far apart labels, or the margins of classes, are.
pub(super) fn range(terms: &[ItemTerm]) -> f64 {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for term in terms {
        let value = match (term.low.is_finite(), term.high.is_finite()) {
            (true, true) => 0.5 * (term.low + term.high),
            (true, false) => term.low,
            _ => term.high,
        };
        (least, most) = (least.min(value), most.max(value));
    }
    (most - least).max(0.0)
}

/// The b that misses the bounds least where scores are given, and by how much it does.
pub(super) fn middle(terms: &[ItemTerm], scores: &[f64]) -> (f64, f64) {
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for (term, score) in terms.iter().zip(scores) {
        (least, most) = (least.max(term.low - score), most.min(term.high - score));
    }
    match (least.is_finite(), most.is_finite()) {
        (true, true) => (0.5 * (least + most), (0.5 * (least - most)).max(0.0)),
        (true, false) => (least, 0.0),
        (false, true) => (most, 0.0),
        (false, false) => (0.0, if scores.iter().all(|score| score.is_finite()) { 0.0 } else { f64::INFINITY }),
    }
}

/// Numbers of a machine with what they make of the items.
pub(super) struct Fitted {
    pub(super) numbers: Vec<f64>,
    /// Without b.
    pub(super) scores: Vec<f64>,
    pub(super) bias: f64,
    pub(super) missed: f64,
}

impl Fitted {
    fn new(terms: &[ItemTerm], numbers: Vec<f64>, scores: Vec<f64>) -> Self {
        let (bias, missed) = middle(terms, &scores);
        let missed = if scores.iter().all(|score| score.is_finite()) { missed } else { f64::INFINITY };
        Fitted { numbers, scores, bias, missed }
    }

    /// From `start` on, corrected as long as that helps; `numbers` has those of corrections in weights and multipliers.
    pub(super) fn refined(
        terms: &[ItemTerm],
        met: &Meeting,
        start: Vec<f64>,
        scores: &dyn Fn(&[f64]) -> Vec<f64>,
        numbers: impl Fn(&[f64], &[f64]) -> Vec<f64>,
    ) -> Self {
        let of = |numbers: Vec<f64>| {
            let scores = scores(&numbers);
            Fitted::new(terms, numbers, scores)
        };
        let mut best = of(start);
        for _ in 0..CORRECTIONS {
            let missing: Vec<f64> =
                met.bounds.iter().map(|(term, bound)| bound - best.scores[*term] - best.bias).collect();
            let (weights, multipliers) = met.correction(&missing);
            let mut corrected = best.numbers.clone();
            add_multiple(&mut corrected, 1.0, &numbers(&weights, &multipliers));
            let next = of(corrected);
            if next.missed.is_nan() || next.missed >= best.missed {
                break;
            }
            best = next;
        }
        best
    }
}
