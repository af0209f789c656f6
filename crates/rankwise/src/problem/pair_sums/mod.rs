//! Machines on judged pairs as smooth functions of the weights of features, β eliminated.
//!
//! A pair costs c·f(z, b) with margin z = u·(x_better − x_worse) and tie offset b = β + v·s; s is the mean of both sides,
//! their absolute difference and the comparison's own columns, or nothing. β has no penalty: wherever the weights are, it is
//! where Σ c·∂f/∂b = 0. Then the slopes are dual variables, and ½‖gradient‖² is the duality gap. The Hessian is that of
//! (u, v, β) without β (its Schur complement).
//!
//! Nothing is kept for a pair but the pair itself (with a band, one number more): margins are differences of the items' scores,
//! cheaper to take again than to keep. Where items repeat, slopes are collected by item before they meet the features.

mod offset;
mod part;
mod rule;
mod sketch;
mod slopes;

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

pub(crate) use offset::Offset;
pub(crate) use part::{GatheredPairs, PairPart};
pub(crate) use rule::{Hinge, Rule};
use rule::{Local, PairLoss, with_loss};

use super::{BlockSums, SumPoint};
use crate::data::{Comparisons, Features, JudgedPairs, Outcome, Pair, mix};

/// Pairs of the smallest block, and the most blocks.
const SMALL: usize = 1 << 14;
const MOST_BLOCKS: usize = 16;
/// Items at least so many times rarer than pairs repeat.
const REPEAT: usize = 4;
/// Rows of a task of one product.
const ROWS_A_TASK: usize = 4096;
/// What a pair costs beside the features, in numbers read.
const GATHER: usize = 16;
/// One in so many pairs makes a thinned sum.
const THINNING: u64 = 16;

/// What each pair's loss is multiplied with, apart from C.
#[derive(Clone)]
pub(crate) enum Costs<'a> {
    /// One number per pair; 0 takes no part.
    Each(Cow<'a, [f64]>),
    /// The weight of the pair, times a factor for ties and one for others.
    Factors { weights: Option<Cow<'a, [f64]>>, tie: f64, other: f64 },
}

impl Costs<'_> {
    /// Of a pair with this outcome.
    #[inline(always)]
    pub(crate) fn of(&self, pair: usize, outcome: Outcome) -> f64 {
        match self {
            Costs::Each(costs) => costs[pair],
            Costs::Factors { weights, tie, other } => {
                let factor = if outcome == Outcome::Tie { tie } else { other };
                factor * weights.as_ref().map_or(1.0, |weights| weights[pair])
            }
        }
    }
}

/// What a band of ties depends on.
#[derive(Clone)]
pub(crate) struct Band<'a> {
    /// The comparison's own columns, one row per pair.
    pub(crate) context: Option<Cow<'a, Features>>,
}

/// The sum over judged pairs.
pub(crate) struct PairSums<'a> {
    features: Cow<'a, Features>,
    /// The items that take part, in an order that does not depend on the sides they stand on.
    rows: Cow<'a, [u32]>,
    pairs: Cow<'a, [Pair]>,
    outcomes: Cow<'a, [Outcome]>,
    costs: Costs<'a>,
    c: f64,
    rule: Rule,
    band: Option<Band<'a>>,
    /// β may not be above −1.
    capped: bool,
    /// Slopes are collected by item.
    items_repeat: bool,
    /// Where each item stands in `rows`, if not in order and few pairs share it.
    places: Option<Vec<u32>>,
    here: Place,
    /// Scores and band in the direction of a line.
    aimed: Way,
}

/// Scores of items and the band's part of b, for some weights.
#[derive(Default, Clone)]
struct Way {
    scores: Vec<f64>,
    /// Of each pair; empty without a band.
    widths: Vec<f64>,
}

/// Where the sum was sent.
#[derive(Default, Clone)]
struct Place {
    way: Way,
    offset: Offset,
}

impl<'a> PairSums<'a> {
    /// The sum over pairs of the data; `rows` lists the items that take part.
    pub(crate) fn new(
        data: &'a Comparisons,
        features: &'a Features,
        rows: Cow<'a, [u32]>,
        costs: Costs<'a>,
        rule: Rule,
        band: Option<Band<'a>>,
    ) -> Self {
        Self::of_parts(
            Cow::Borrowed(features),
            rows,
            Cow::Borrowed(&data.set.pairs),
            Cow::Borrowed(&data.outcomes),
            costs,
            rule,
            band,
        )
    }

    /// The sum over judged pairs of items that are known already.
    pub(crate) fn of_pairs(
        judged: &'a JudgedPairs,
        features: &'a Features,
        rows: Cow<'a, [u32]>,
        costs: Costs<'a>,
        rule: Rule,
    ) -> Self {
        let (pairs, outcomes) = (Cow::Borrowed(&judged.pairs[..]), Cow::Borrowed(&judged.outcomes[..]));
        Self::of_parts(Cow::Borrowed(features), rows, pairs, outcomes, costs, rule, None)
    }

    fn of_parts(
        features: Cow<'a, Features>,
        rows: Cow<'a, [u32]>,
        pairs: Cow<'a, [Pair]>,
        outcomes: Cow<'a, [Outcome]>,
        costs: Costs<'a>,
        rule: Rule,
        band: Option<Band<'a>>,
    ) -> Self {
        let items_repeat = rows.len() * REPEAT <= pairs.len();
        let places = (!items_repeat && !rows.is_sorted()).then(|| {
            let mut places = vec![0; features.n_rows()];
            rows.iter().zip(0..).for_each(|(&row, place)| places[row as usize] = place);
            places
        });
        PairSums {
            features,
            rows,
            pairs,
            outcomes,
            costs,
            c: 1.0,
            rule,
            band: band.filter(|_| rule.has_offset()),
            capped: false,
            items_repeat,
            places,
            here: Place::default(),
            aimed: Way::default(),
        }
    }

    /// Keeps β ≤ −1.
    pub(crate) fn capped(mut self, capped: bool) -> Self {
        self.capped = capped;
        self
    }

    /// β where the sum was sent, for rules that have it.
    pub(crate) fn beta(&self) -> Option<f64> {
        self.rule.has_offset().then_some(self.here.offset.beta)
    }

    /// b of a pair is at least this where the sum was sent, over all ties: with a barrier, how near they come to it.
    pub(crate) fn largest_tie_offset(&self) -> f64 {
        let parts = self.visit(|range| {
            range
                .filter(|&k| self.outcomes[k] == Outcome::Tie && self.cost(k) > 0.0)
                .map(|k| self.here.offset.beta + self.width(&self.here.way, k))
                .fold(f64::NEG_INFINITY, f64::max)
        });
        parts.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Scores of items, where the sum was sent.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.here.way.scores
    }

    /// b of all pairs, where the sum was sent.
    pub(crate) fn offsets(&self) -> Vec<f64> {
        (0..self.pairs.len()).map(|k| self.here.offset.beta + self.width(&self.here.way, k)).collect()
    }

    /// How many pairs have a slope where the sum was sent.
    pub(crate) fn n_support(&self) -> usize {
        let counts = with_loss!(self.rule, loss => self.visit(|range| {
            range.filter(|&k| self.counts(k) && self.local(loss, k).dz != 0.0).count()
        }));
        counts.into_iter().sum()
    }

    /// The best value without weights, and its β.
    pub(crate) fn at_zero(&mut self) -> (f64, f64) {
        let value = self.go_to(&vec![0.0; self.dim()]).meant;
        (value, self.here.offset.beta)
    }

    fn n_columns(&self) -> usize {
        self.features.n_cols()
    }

    fn n_context(&self) -> usize {
        self.band.as_ref().and_then(|band| band.context.as_ref()).map_or(0, |context| context.n_cols())
    }

    #[inline(always)]
    fn cost(&self, k: usize) -> f64 {
        self.costs.of(k, self.outcomes[k])
    }

    /// Worse and better item; those of a tie by their order, so that exchanged sides are the same.
    #[inline(always)]
    fn ends(&self, k: usize) -> (usize, usize) {
        let Pair { left, right } = self.pairs[k];
        let is_exchanged = match self.outcomes[k] {
            Outcome::Left => true,
            Outcome::Right => false,
            Outcome::Tie => match &self.places {
                None => left > right,
                Some(places) => places[left as usize] > places[right as usize],
            },
        };
        if is_exchanged { (right as usize, left as usize) } else { (left as usize, right as usize) }
    }

    #[inline(always)]
    fn margin(&self, way: &Way, k: usize) -> f64 {
        let (worse, better) = self.ends(k);
        way.scores[better] - way.scores[worse]
    }

    #[inline(always)]
    fn width(&self, way: &Way, k: usize) -> f64 {
        if self.band.is_some() { way.widths[k] } else { 0.0 }
    }

    /// Fixed ranges of pairs, whatever the number of threads.
    fn ranges(&self) -> Vec<Range<usize>> {
        let n = self.pairs.len();
        let n_blocks = (n / SMALL).clamp(1, MOST_BLOCKS);
        (0..n_blocks).map(|at| at * n / n_blocks..(at + 1) * n / n_blocks).collect()
    }

    /// Something of every block, in order.
    fn visit<R: Send>(&self, of_block: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        self.ranges().into_par_iter().map(&of_block).collect()
    }

    /// Scores and band for weights.
    fn way(&self, weights: &[f64]) -> Way {
        let d = self.n_columns();
        let mut way = Way { scores: self.of_items(&weights[..d]), widths: Vec::new() };
        if let Some(band) = &self.band {
            let of_means = self.of_items(&weights[d..2 * d]);
            way.widths = vec![0.0; self.pairs.len()];
            self.features.times_distances(&self.pairs, &weights[2 * d..3 * d], &mut way.widths);
            way.widths.par_iter_mut().zip(self.pairs.par_iter()).for_each(|(width, pair)| {
                *width += 0.5 * (of_means[pair.left as usize] + of_means[pair.right as usize]);
            });
            if let Some(context) = &band.context {
                let rows: Vec<u32> = (0..self.pairs.len() as u32).collect();
                let tasks = way.widths.par_chunks_mut(ROWS_A_TASK).zip(rows.par_chunks(ROWS_A_TASK));
                tasks.for_each(|(widths, rows)| {
                    let mut more = vec![0.0; rows.len()];
                    context.times_rows(rows, &weights[3 * d..], &mut more);
                    widths.iter_mut().zip(more).for_each(|(width, more)| *width += more);
                });
            }
        }
        way
    }

    /// Rows times a vector, for the items that take part; 0 for others.
    fn of_items(&self, weights: &[f64]) -> Vec<f64> {
        let mut compact = vec![0.0; self.rows.len()];
        let tasks = compact.par_chunks_mut(ROWS_A_TASK).zip(self.rows.par_chunks(ROWS_A_TASK));
        tasks.for_each(|(out, rows)| self.features.times_rows(rows, weights, out));
        let mut out = vec![0.0; self.features.n_rows()];
        self.rows.iter().zip(compact).for_each(|(&row, score)| out[row as usize] = score);
        out
    }

    /// The pair's derivatives where the sum was sent, times cost and C.
    #[inline(always)]
    fn local(&self, loss: impl PairLoss, k: usize) -> Local {
        let place = &self.here;
        let b = place.offset.beta + self.width(&place.way, k);
        let cost = self.c * self.cost(k);
        let mut local = loss.at(self.outcomes[k] == Outcome::Tie, self.margin(&place.way, k), b);
        for part in [
            &mut local.value,
            &mut local.meant,
            &mut local.excess,
            &mut local.dz,
            &mut local.db,
            &mut local.zz,
            &mut local.zb,
            &mut local.bb,
        ] {
            *part *= cost;
        }
        local
    }

    /// Value and gradient where the sum is.
    fn look(&self) -> SumPoint {
        let sums = with_loss!(self.rule, loss => self.visit(|range| {
            let mut sum = [0.0; 3];
            for k in range.filter(|&k| self.counts(k)) {
                let local = self.local(loss, k);
                sum[0] += local.value;
                sum[1] += local.meant;
                sum[2] += local.excess;
            }
            sum
        }));
        let [value, meant, excess] =
            sums.into_iter().fold([0.0; 3], |sum, part| std::array::from_fn(|at| sum[at] + part[at]));
        let gradient = with_loss!(self.rule, loss => self.combine(|k| {
            if !self.counts(k) {
                return (0.0, 0.0);
            }
            let local = self.local(loss, k);
            (local.dz, local.db)
        }));
        SumPoint { value, gradient, meant, excess }
    }

    /// The Hessian times a direction, along which β moves by so much.
    fn curvature_times(&self, way: &Way, moved: f64) -> Vec<f64> {
        with_loss!(self.rule, loss => self.combine(|k| {
            if !self.counts(k) {
                return (0.0, 0.0);
            }
            let local = self.local(loss, k);
            let (z, b) = (self.margin(way, k), self.width(way, k) + moved);
            (local.zz * z + local.zb * b, local.zb * z + local.bb * b)
        }))
    }

    /// Value where the sum is, and slope in the direction aimed at.
    fn slope_along(&self) -> (f64, f64) {
        let parts = with_loss!(self.rule, loss => self.visit(|range| {
            let (mut value, mut slope) = (0.0, 0.0);
            for k in range.filter(|&k| self.counts(k)) {
                let local = self.local(loss, k);
                value += local.value;
                slope += local.dz * self.margin(&self.aimed, k) + local.db * self.width(&self.aimed, k);
            }
            (value, slope)
        }));
        parts.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// The way after a step in the direction aimed at.
    fn stepped(&self, step: f64) -> Way {
        let mixed = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + step * b).collect();
        let (from, by) = (&self.here.way, &self.aimed);
        Way { scores: mixed(&from.scores, &by.scores), widths: mixed(&from.widths, &by.widths) }
    }

    /// A pair that costs nothing has no part in anything, whatever its numbers.
    #[inline(always)]
    fn counts(&self, k: usize) -> bool {
        self.cost(k) > 0.0
    }
}

impl BlockSums for PairSums<'_> {
    fn dim(&self) -> usize {
        let d = self.n_columns();
        if self.band.is_some() { 3 * d + self.n_context() } else { d }
    }

    fn n_numbers(&self) -> usize {
        // Scores of two items are looked up several times.
        let per_pair = if self.band.is_some() { GATHER + self.n_columns() + self.n_context() } else { GATHER };
        self.features.n_stored() + per_pair * self.pairs.len()
    }

    fn go_to(&mut self, weights: &[f64]) -> SumPoint {
        let way = self.way(weights);
        let offset = self.settle(&way, self.here.offset.beta);
        self.here = Place { way, offset };
        self.look()
    }

    fn hessian_times(&mut self, v: &[f64]) -> Vec<f64> {
        let way = self.way(v);
        // How β moves along.
        let Offset { is_free, stiffness, .. } = self.here.offset;
        let moved = if is_free && stiffness > 0.0 {
            let parts = with_loss!(self.rule, loss => self.visit(|range| {
                let pull = |k: usize| {
                    let local = self.local(loss, k);
                    local.zb * self.margin(&way, k) + local.bb * self.width(&way, k)
                };
                range.filter(|&k| self.counts(k)).map(pull).sum::<f64>()
            }));
            -parts.into_iter().sum::<f64>() / stiffness
        } else {
            0.0
        };
        self.curvature_times(&way, moved)
    }

    fn hessian_diagonal(&mut self) -> Vec<f64> {
        self.about_diagonal()
    }

    fn hessian_sketch(&mut self, n: usize) -> Vec<f64> {
        self.sketch(n)
    }

    fn sketch_products(&self, n: usize) -> f64 {
        let (dim, items) = (self.dim() as f64, self.rows.len() as f64);
        if self.has_item_sketch(n) {
            items * items * items / 6.0 + items * items * dim / 2.0 + items * dim * dim / 2.0
        } else {
            n as f64 * dim * dim / 2.0
        }
    }

    fn aim(&mut self, direction: &[f64]) {
        self.aimed = self.way(direction);
    }

    fn along(&mut self, step: f64) -> (f64, f64) {
        let way = self.stepped(step);
        let offset = self.settle(&way, self.here.offset.beta);
        let from = std::mem::replace(&mut self.here, Place { way, offset });
        let there = self.slope_along();
        self.here = from;
        there
    }

    fn set_c(&mut self, c: f64) {
        self.c = c;
    }

    fn least_lead(&self) -> f64 {
        // The least margin of a non-tie, and the largest of a tie.
        let ends = self.visit(|range| {
            let (mut least, mut largest) = (f64::INFINITY, 0.0_f64);
            for k in range.filter(|&k| self.counts(k)) {
                let z = self.margin(&self.here.way, k);
                if self.outcomes[k] == Outcome::Tie {
                    largest = largest.max(z.abs());
                } else {
                    least = least.min(z);
                }
            }
            (least, largest)
        });
        let (least, largest) =
            ends.into_iter().fold((f64::INFINITY, 0.0_f64), |sum, part| (sum.0.min(part.0), sum.1.max(part.1)));
        // β in the middle gives both kinds of pairs the same distance.
        if self.rule.has_offset() { 0.5 * (least - largest) } else { least }
    }

    fn round_off(&mut self, width: f64) {
        self.rule = match self.rule {
            Rule::Compare(_) => Rule::Compare(Hinge::Rounded(width)),
            Rule::Rank(_) => Rule::Rank(Hinge::Rounded(width)),
            other => other,
        };
    }

    fn thinned(&self) -> Option<Box<dyn BlockSums + '_>> {
        let keep = |k: usize| mix(self.pairs.len() as u64, k as u64).is_multiple_of(THINNING) && self.counts(k);
        let some: Vec<usize> = (0..self.pairs.len()).filter(|&k| keep(k)).collect();
        let n_ties = some.iter().filter(|&&k| self.outcomes[k] == Outcome::Tie).count();
        // β needs pairs of both kinds.
        let has_both = !self.rule.has_offset() || (n_ties > 0 && n_ties < some.len());
        if some.len() < 8 * self.dim() || !has_both {
            return None;
        }
        let pairs: Vec<Pair> = some.iter().map(|&k| self.pairs[k]).collect();
        let mut touched = vec![false; self.features.n_rows()];
        pairs.iter().for_each(|p| [p.left, p.right].into_iter().for_each(|item| touched[item as usize] = true));
        let rows = self.rows.iter().copied().filter(|&row| touched[row as usize]).collect();
        let outcomes = some.iter().map(|&k| self.outcomes[k]).collect();
        let costs: Vec<f64> = some.iter().map(|&k| self.cost(k)).collect();
        let mass = |sums: Vec<f64>| sums.into_iter().sum::<f64>();
        let all = mass(self.visit(|range| range.map(|k| self.cost(k)).sum()));
        let share = all / costs.iter().sum::<f64>();
        let band = self
            .band
            .as_ref()
            .map(|band| Band { context: band.context.as_ref().map(|context| Cow::Owned(context.select_rows(&some))) });
        let mut thinned = PairSums::of_parts(
            Cow::Borrowed(&*self.features),
            Cow::Owned(rows),
            Cow::Owned(pairs),
            Cow::Owned(outcomes),
            Costs::Each(Cow::Owned(costs)),
            self.rule,
            band,
        )
        .capped(self.capped);
        thinned.c = self.c * share;
        Some(Box::new(thinned))
    }
}

#[cfg(test)]
mod tests;
