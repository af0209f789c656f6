//! Linear machines on items, one by one: classifiers and regressions as functions of weights, the bias b eliminated.
//!
//! An item's f = w·x + b should lie between two bounds, one of which may be infinite: m or more, −m or less, y ± ε. It costs
//! c·[ℓ(low − f) + ℓ(f − high)] with ℓ a hinge, squared or rounded off. b has no penalty: wherever the weights are, it is where
//! the slopes sum to 0. Then they are dual variables, and ½‖gradient‖² (+ what is rounded off) is the duality gap. The Hessian
//! is that of (w, b) without b: with second derivatives d, Σ d (x − x̄)(x − x̄)ᵀ around the mean x̄ by d.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::crossing::{Pull, crossing};
use super::{BlockSums, ItemTerm, SumPoint};
use crate::data::{Features, mix};

/// Items of the smallest block, and the most blocks.
const SMALL: usize = 1 << 12;
const MOST_BLOCKS: usize = 16;
/// One in so many items makes a thinned sum.
const THINNING: u64 = 16;
/// Vectors of a sketch that are made at a time.
const VECTORS_AT_ONCE: usize = 512;

/// The shape of the loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Slack {
    /// max(0, t)²
    Squared,
    /// max(0, t), rounded off over this width
    Rounded(f64),
}

/// A loss at a slack: value, what is meant by it, what the gap has in excess, slope, second derivative.
#[derive(Clone, Copy, Default)]
pub(super) struct Local {
    pub(super) value: f64,
    pub(super) meant: f64,
    pub(super) excess: f64,
    pub(super) slope: f64,
    pub(super) bend: f64,
}

impl Local {
    /// How the bias is pulled by so much of it.
    #[inline(always)]
    fn pull(self, cost: f64) -> Pull {
        Pull { slope: cost * self.slope, stiffness: cost * self.bend, size: cost * self.slope.abs() }
    }
}

impl Slack {
    #[inline(always)]
    pub(super) fn at(self, t: f64) -> Local {
        if t <= 0.0 {
            return Local::default();
        }
        match self {
            Slack::Squared => Local { value: t * t, meant: t * t, excess: 0.0, slope: 2.0 * t, bend: 2.0 },
            Slack::Rounded(width) if t < width => {
                let share = t / width;
                let bend = 1.0 / width;
                Local { value: 0.5 * t * share, meant: t, excess: t * (1.0 - share), slope: share, bend }
            }
            Slack::Rounded(width) => Local { value: t - 0.5 * width, meant: t, excess: 0.0, slope: 1.0, bend: 0.0 },
        }
    }

    /// Both sides of an item at f; the slope is that in f.
    #[inline(always)]
    fn of(self, term: &ItemTerm, f: f64) -> Local {
        let (below, above) = (self.at(term.low - f), self.at(f - term.high));
        Local {
            value: below.value + above.value,
            meant: below.meant + above.meant,
            excess: below.excess + above.excess,
            slope: above.slope - below.slope,
            bend: below.bend + above.bend,
        }
    }
}

/// The losses of items.
pub(crate) struct ItemSums<'a> {
    features: &'a Features,
    /// What each feature is divided by.
    divisors: Option<Cow<'a, [f64]>>,
    terms: Cow<'a, [ItemTerm]>,
    rows: Vec<u32>,
    c: f64,
    slack: Slack,
    here: Place,
    /// Scores in the direction of a line.
    aimed: Vec<f64>,
}

/// Where the sum was sent: w·x of every term, and b.
#[derive(Default)]
struct Place {
    scores: Vec<f64>,
    bias: f64,
    /// Σ of the second derivatives, with C.
    stiffness: f64,
}

impl<'a> ItemSums<'a> {
    /// The sum over terms; some must wish f up, and some down.
    pub(crate) fn new(
        features: &'a Features,
        divisors: Option<Cow<'a, [f64]>>,
        terms: Cow<'a, [ItemTerm]>,
        slack: Slack,
    ) -> Self {
        let rows = terms.iter().map(|term| term.row).collect();
        ItemSums { features, divisors, terms, rows, c: 1.0, slack, here: Place::default(), aimed: Vec::new() }
    }

    fn ranges(&self) -> Vec<Range<usize>> {
        let n = self.terms.len();
        let n_blocks = (n / SMALL).clamp(1, MOST_BLOCKS);
        (0..n_blocks).map(|at| at * n / n_blocks..(at + 1) * n / n_blocks).collect()
    }

    /// Something of every block, in order.
    fn visit<R: Send>(&self, of_block: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        let ranges = self.ranges();
        match &ranges[..] {
            // Little work is not worth waking anybody.
            [all] => vec![of_block(all.clone())],
            _ => ranges.into_par_iter().map(&of_block).collect(),
        }
    }

    /// w·x of every term.
    pub(crate) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let divided: Cow<'_, [f64]> = match &self.divisors {
            None => Cow::Borrowed(weights),
            Some(divisors) => weights.iter().zip(divisors.iter()).map(|(w, d)| w / d).collect::<Vec<_>>().into(),
        };
        let mut out = vec![0.0; self.rows.len()];
        if self.rows.len() <= SMALL {
            self.features.times_rows(&self.rows, &divided, &mut out);
            return out;
        }
        let tasks = out.par_chunks_mut(SMALL).zip(self.rows.par_chunks(SMALL));
        tasks.for_each(|(out, rows)| self.features.times_rows(rows, &divided, out));
        out
    }

    /// What the losses ask for where the sum was sent: minus their slopes, which sum to 0 but for rounding.
    pub(crate) fn wanted(&self) -> Vec<f64> {
        (0..self.terms.len()).map(|k| -self.cost(k) * self.local(k).slope).collect()
    }

    /// Σ over terms of factor·x.
    fn combine(&self, factor: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let dim = self.features.n_cols();
        let parts = self.visit(|range| {
            let mut part = vec![0.0; dim];
            let (mut rows, mut factors) = (Vec::new(), Vec::new());
            for start in range.clone().step_by(SMALL) {
                rows.clear();
                factors.clear();
                for k in start..(start + SMALL).min(range.end) {
                    let factor = factor(k);
                    if factor != 0.0 {
                        rows.push(self.rows[k]);
                        factors.push(factor);
                    }
                }
                self.features.add_rows(&rows, &factors, &mut part);
            }
            part
        });
        let mut out = vec![0.0; dim];
        parts.into_iter().for_each(|part| out.iter_mut().zip(part).for_each(|(out, part)| *out += part));
        if let Some(divisors) = &self.divisors {
            out.iter_mut().zip(divisors.iter()).for_each(|(out, d)| *out /= d);
        }
        out
    }

    fn cost(&self, k: usize) -> f64 {
        self.c * self.terms[k].cost
    }

    #[inline(always)]
    fn local(&self, k: usize) -> Local {
        self.slack.of(&self.terms[k], self.here.scores[k] + self.here.bias)
    }

    fn bend(&self, k: usize) -> f64 {
        self.cost(k) * self.local(k).bend
    }

    /// The best b for given w·x, from a guess, and the second derivative there.
    fn settle(&self, scores: &[f64], guess: f64) -> (f64, f64) {
        let pull = |bias: f64| {
            let of = |k: usize| self.slack.of(&self.terms[k], scores[k] + bias).pull(self.cost(k));
            let parts = self.visit(|range| range.map(of).fold(Pull::default(), Pull::plus));
            parts.into_iter().fold(Pull::default(), Pull::plus)
        };
        crossing(pull, guess, f64::INFINITY)
    }
}

/// The best b for given w·x of every term, and the losses there. Of the hinge itself, all b between two bounds may be best: the
/// middle of them.
pub(crate) fn best_bias(terms: &[ItemTerm], scores: &[f64], is_squared: bool) -> (f64, f64) {
    let sum = |bias: f64| -> f64 {
        let loss = |(term, score): (&ItemTerm, &f64)| {
            let slack = (term.low - score - bias).max(score + bias - term.high).max(0.0);
            term.cost * if is_squared { slack * slack } else { slack }
        };
        terms.iter().zip(scores).map(loss).sum()
    };
    let bias = if is_squared {
        let pull = |bias: f64| {
            let of = |(term, score): (&ItemTerm, &f64)| Slack::Squared.of(term, score + bias).pull(term.cost);
            terms.iter().zip(scores).map(of).fold(Pull::default(), Pull::plus)
        };
        crossing(pull, 0.0, f64::INFINITY).0
    } else {
        kink(terms, scores)
    };
    (bias, sum(bias))
}

/// Where the slope of a sum of hinges in b goes from below 0 to above: it rises by the cost at every kink.
fn kink(terms: &[ItemTerm], scores: &[f64]) -> f64 {
    let mut kinks: Vec<(f64, f64)> = Vec::with_capacity(2 * terms.len());
    let (mut slope, mut total) = (0.0, 0.0);
    for (term, score) in terms.iter().zip(scores) {
        if term.low.is_finite() {
            slope -= term.cost;
            kinks.push((term.low - score, term.cost));
        }
        if term.high.is_finite() {
            kinks.push((term.high - score, term.cost));
        }
        total += term.cost;
    }
    kinks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let resolution = 1e-12 * total;
    for (at, &(place, cost)) in kinks.iter().enumerate() {
        slope += cost;
        if slope.abs() <= resolution {
            // Flat up to the next kink.
            return kinks.get(at + 1).map_or(place, |next| 0.5 * (place + next.0));
        }
        if slope > 0.0 {
            return place;
        }
    }
    kinks.last().map_or(0.0, |last| last.0)
}

impl BlockSums for ItemSums<'_> {
    fn dim(&self) -> usize {
        self.features.n_cols()
    }

    fn n_numbers(&self) -> usize {
        let share = self.rows.len() as f64 / self.features.n_rows().max(1) as f64;
        (self.features.n_stored() as f64 * share) as usize + 8 * self.rows.len()
    }

    fn go_to(&mut self, weights: &[f64]) -> SumPoint {
        let scores = self.scores(weights);
        let (bias, stiffness) = self.settle(&scores, self.here.bias);
        self.here = Place { scores, bias, stiffness };
        let sums = self.visit(|range| {
            let mut sum = [0.0; 3];
            for k in range {
                let (cost, local) = (self.cost(k), self.local(k));
                sum[0] += cost * local.value;
                sum[1] += cost * local.meant;
                sum[2] += cost * local.excess;
            }
            sum
        });
        let [value, meant, excess] =
            sums.into_iter().fold([0.0; 3], |sum, part| std::array::from_fn(|at| sum[at] + part[at]));
        let gradient = self.combine(|k| self.cost(k) * self.local(k).slope);
        SumPoint { value, gradient, meant, excess }
    }

    fn hessian_times(&mut self, v: &[f64]) -> Vec<f64> {
        let along = self.scores(v);
        let pulls = self.visit(|range| range.map(|k| self.bend(k) * along[k]).sum::<f64>());
        let total: f64 = pulls.into_iter().sum();
        // How b moves along.
        let moved = if self.here.stiffness > 0.0 { -total / self.here.stiffness } else { 0.0 };
        self.combine(|k| self.bend(k) * (along[k] + moved))
    }

    fn hessian_diagonal(&mut self) -> Vec<f64> {
        let dim = self.dim();
        let parts = self.visit(|range| {
            let (mut squares, mut sums) = (vec![0.0; dim], vec![0.0; dim]);
            for k in range {
                let bend = self.bend(k);
                if bend > 0.0 {
                    self.features.for_each_in_row(self.rows[k] as usize, |column, value| {
                        squares[column] += bend * value * value;
                        sums[column] += bend * value;
                    });
                }
            }
            (squares, sums)
        });
        let (mut squares, mut sums) = (vec![0.0; dim], vec![0.0; dim]);
        for part in parts {
            squares.iter_mut().zip(part.0).for_each(|(sum, part)| *sum += part);
            sums.iter_mut().zip(part.1).for_each(|(sum, part)| *sum += part);
        }
        let stiffness = self.here.stiffness.max(f64::MIN_POSITIVE);
        let divisor = |at: usize| self.divisors.as_ref().map_or(1.0, |divisors| divisors[at]);
        let about_mean = |at: usize| (squares[at] - sums[at] * sums[at] / stiffness).max(0.0) / divisor(at).powi(2);
        (0..dim).map(about_mean).collect()
    }

    fn hessian_sketch(&mut self, n: usize) -> Vec<f64> {
        let mut all = Vec::new();
        self.sketch_in_parts(n, &mut |vectors| all.extend_from_slice(vectors));
        all
    }

    fn sketch_products(&self, n: usize) -> f64 {
        n.min(self.terms.len()) as f64 * (self.dim() * self.dim()) as f64 / 2.0
    }

    fn sketch_in_parts(&mut self, n: usize, take: &mut dyn FnMut(&[f64])) {
        let drawn = self.drawn(n);
        let total: f64 = drawn.iter().map(|drawn| drawn.1).sum();
        if total <= 0.0 || !total.is_finite() {
            return;
        }
        let dim = self.dim();
        let mut mean = vec![0.0; dim];
        for some in drawn.chunks(SMALL) {
            let (rows, shares): (Vec<u32>, Vec<f64>) = some.iter().map(|&(k, d)| (self.rows[k], d / total)).unzip();
            self.features.add_rows(&rows, &shares, &mut mean);
        }
        let mut vectors = vec![0.0; VECTORS_AT_ONCE.min(drawn.len()) * dim];
        for some in drawn.chunks(VECTORS_AT_ONCE) {
            let vectors = &mut vectors[..some.len() * dim];
            vectors.par_chunks_mut(dim).zip(some).for_each(|(out, &(k, d))| {
                out.iter_mut().zip(&mean).for_each(|(out, mean)| *out = -mean);
                self.features.for_each_in_row(self.rows[k] as usize, |column, value| out[column] += value);
                let root = d.sqrt();
                match &self.divisors {
                    None => out.iter_mut().for_each(|out| *out *= root),
                    Some(divisors) => out.iter_mut().zip(divisors.iter()).for_each(|(out, d)| *out *= root / d),
                }
            });
            take(vectors);
        }
    }

    fn aim(&mut self, direction: &[f64]) {
        self.aimed = self.scores(direction);
    }

    fn along(&mut self, step: f64) -> (f64, f64) {
        let scores: Vec<f64> = self.here.scores.iter().zip(&self.aimed).map(|(s, a)| s + step * a).collect();
        let (bias, _) = self.settle(&scores, self.here.bias);
        let parts = self.visit(|range| {
            let mut sum = (0.0, 0.0);
            for k in range {
                let (cost, local) = (self.cost(k), self.slack.of(&self.terms[k], scores[k] + bias));
                sum.0 += cost * local.value;
                sum.1 += cost * local.slope * self.aimed[k];
            }
            sum
        });
        parts.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    fn set_c(&mut self, c: f64) {
        self.c = c;
    }

    /// The least f of an item beside what it should be; of items with one bound.
    fn least_lead(&self) -> f64 {
        let leads = self.visit(|range| {
            let lead = |k: usize| {
                let (term, f) = (&self.terms[k], self.here.scores[k] + self.here.bias);
                if term.high == f64::INFINITY { f / term.low } else { f / term.high }
            };
            range.map(lead).fold(f64::INFINITY, f64::min)
        });
        leads.into_iter().fold(f64::INFINITY, f64::min)
    }

    fn round_off(&mut self, width: f64) {
        self.slack = Slack::Rounded(width);
    }

    fn thinned(&self) -> Option<Box<dyn BlockSums + '_>> {
        let keep = |k: &usize| mix(self.terms.len() as u64, *k as u64).is_multiple_of(THINNING);
        let some: Vec<ItemTerm> = (0..self.terms.len()).filter(keep).map(|k| self.terms[k]).collect();
        let wishes = |is_wish: fn(&ItemTerm) -> bool| some.iter().any(is_wish);
        // b needs items that pull it either way.
        let has_both = wishes(|term| term.low.is_finite()) && wishes(|term| term.high.is_finite());
        if some.len() < 8 * self.dim() || !has_both {
            return None;
        }
        let mass = |terms: &[ItemTerm]| terms.iter().map(|term| term.cost).sum::<f64>();
        let share = mass(&self.terms) / mass(&some);
        let divisors = self.divisors.as_deref().map(Cow::Borrowed);
        let mut thinned = ItemSums::new(self.features, divisors, Cow::Owned(some), self.slack);
        thinned.c = self.c * share;
        Some(Box::new(thinned))
    }
}

impl ItemSums<'_> {
    /// Terms that stand for all in the Hessian, with their second derivatives: all where they are few, else some drawn evenly by
    /// them.
    fn drawn(&self, n: usize) -> Vec<(usize, f64)> {
        let bends: Vec<(usize, f64)> =
            (0..self.terms.len()).map(|k| (k, self.bend(k))).filter(|(_, bend)| *bend > 0.0).collect();
        if bends.len() <= 2 * n {
            return bends;
        }
        let spacing = bends.iter().map(|(_, bend)| bend).sum::<f64>() / n as f64;
        // How many marks at (m + ½)·spacing lie below.
        let marks = |at: f64| (at / spacing + 0.5).floor();
        let mut at = 0.0;
        let mut drawn = Vec::with_capacity(n + 1);
        for (k, bend) in bends {
            let hits = marks(at + bend) - marks(at);
            at += bend;
            if hits > 0.0 {
                drawn.push((k, hits * spacing));
            }
        }
        drawn
    }
}
