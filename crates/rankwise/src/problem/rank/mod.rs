//! Ranking of items as a sum over blocks of groups: no pair is ever formed.
//!
//!   Σ_groups factor·Σ_pairs v_i v_j ℓ(1 − (s_i − s_j)),   s = X w
//!
//! Where pairs are drawn (`listed`), only those count. A block holds whole groups. It visits the rows of a group once per
//! product: X_g·v, the sums over its pairs, and X_gᵀ of those while the rows are still in the processor's cache. Blocks depend on the data alone, and their sums are added in
//! order, so that results do not depend on the number of threads.

mod block;
mod group;
mod group_terms;
mod label_counts;
mod label_tree;
mod listed;
mod logistic;
mod pair_terms;
mod part;
#[cfg(test)]
mod tests;
mod visit;
mod windows;

use std::ops::Range;

use rayon::prelude::*;

pub(crate) use group::Shape;
pub(crate) use group_terms::GroupTerms;
pub(crate) use listed::Draw;
pub(crate) use pair_terms::PairTerms;
pub(crate) use part::{RankPart, gathered};

use super::{BlockSums, Plane, Planes, SumPoint};
use crate::data::{Loaded, Members, RankView, Ranking, Rows, Runs, StoredRows, mix, runs_of};
use block::Block;
use label_counts::LabelCounts;
use listed::PairList;
use visit::{Visit, differences};

/// Numbers a block should have at least, so that handing it to a thread is worth it.
const BLOCK_NUMBERS: usize = 1 << 17;
/// The same for items whose scores are given.
const BLOCK_SCORES: usize = 1 << 9;
/// A thinned sum has about this share of the items.
const THINNING: u64 = 16;
/// Groups with more items are thinned item by item.
const MANY_ITEMS: usize = 1 << 12;

/// Numbers of a sketch that are made at a time, and pairs that are worth a thread.
const SKETCHED_NUMBERS: usize = 1 << 20;
const PAIRS_OF_A_THREAD: usize = 64;

/// What the groups of a problem are made of.
#[derive(Clone, Copy)]
struct Source<'a> {
    rows: Rows<'a>,
    /// Features are divided by these, and by the unit.
    divisors: Option<&'a [f64]>,
    unit: f64,
    labels: &'a [f64],
    weights: Option<&'a [f64]>,
    /// Only pairs drawn so count.
    draw: Option<Draw>,
    /// Every row is a single 1: weights are scores.
    are_units: bool,
}

/// Where a part stands in the whole, so that whatever is drawn is drawn alike however the whole is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// Items that count, of the whole.
    pub(crate) n_items: u64,
    /// Groups that count, and items, before this part.
    pub(crate) first_group: u64,
    pub(crate) first_item: u64,
}

/// How the pairs of a ranking are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weighing {
    /// By the weights of items and groups.
    AsGiven,
    /// The same, and all groups of weight 1 count the same.
    Balanced,
    /// All pairs the same.
    Equal,
}

/// A group: its items, and what its losses are multiplied with.
struct Listed {
    items: Vec<u32>,
    factor: f64,
}

/// What was found in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RankCounts {
    /// Items in the groups that count.
    pub(crate) n_items: usize,
    /// Groups that count.
    pub(crate) n_groups: usize,
    /// Groups without a pair.
    pub(crate) n_dropped: usize,
    /// Pairs of different labels.
    pub(crate) n_pairs: u64,
}

/// The losses of a ranking, as a sum over blocks.
pub(crate) struct RankSums<'a> {
    source: Source<'a>,
    blocks: Vec<Block>,
    shape: Shape,
    c: f64,
    counts: RankCounts,
    /// Σ factor·Σ v_i v_j over all pairs.
    mass: f64,
}

impl<'a> RankSums<'a> {
    /// The groups of a ranking that `keeps` says yes to and that have at least two labels; items and groups of weight 0
    /// are absent. With a draw, only the pairs drawn count, each as often as it is drawn.
    pub(crate) fn new(
        data: &'a Ranking,
        keeps: impl Fn(usize) -> bool,
        divisors: Option<&'a [f64]>,
        shape: Shape,
        c: f64,
        weighing: Weighing,
        draw: Option<Draw>,
    ) -> Self {
        Self::of_view(data.view(), keeps, divisors, shape, c, weighing, draw)
    }

    /// The same wherever the features are.
    pub(crate) fn of_view(
        data: RankView<'a>,
        keeps: impl Fn(usize) -> bool,
        divisors: Option<&'a [f64]>,
        shape: Shape,
        c: f64,
        weighing: Weighing,
        draw: Option<Draw>,
    ) -> Self {
        let is_equal = weighing == Weighing::Equal;
        let weights = data.weights.filter(|_| !is_equal);
        let RankView { rows, labels, are_units, .. } = data;
        let source = Source { rows, divisors, unit: 1.0, labels, weights, draw, are_units };
        let members: Members = data.groups.members();
        let groups = members.iter().enumerate().filter(|&(group, _)| keeps(group) && data.group_weight(group) > 0.0);
        let groups = groups.map(|(group, items)| {
            let items = items.iter().copied().filter(|&i| data.weight(i as usize) > 0.0).collect();
            let factor = if is_equal { 1.0 } else { data.group_weight(group) };
            (Listed { items, factor }, weighing == Weighing::Balanced)
        });
        Self::of_groups(source, shape, c, groups)
    }

    fn of_groups(source: Source<'a>, shape: Shape, c: f64, groups: impl Iterator<Item = (Listed, bool)>) -> Self {
        let mut sums = RankSums { source, blocks: Vec::new(), shape, c, counts: RankCounts::default(), mass: 0.0 };
        let n_cols = source.rows.n_cols();
        let mut open = Block::default();
        for (mut listed, balanced) in groups {
            let labels: Vec<f64> = listed.items.iter().map(|&i| source.labels[i as usize]).collect();
            let weights: Option<Vec<f64>> =
                source.weights.map(|w| listed.items.iter().map(|&i| w[i as usize]).collect());
            let Some(mut pairs) = LabelCounts::of(&labels, weights.as_deref()) else {
                sums.counts.n_dropped += 1;
                continue;
            };
            let drawn = source.draw.map(|draw| PairList::draw(draw, &listed.items, &labels));
            if let Some(drawn) = &drawn {
                (pairs.n_pairs, pairs.mass) = (drawn.len() as u64, drawn.mass(weights.as_deref()));
            }
            if balanced {
                listed.factor /= pairs.mass;
            }
            sums.counts.n_items += listed.items.len();
            sums.counts.n_groups += 1;
            sums.counts.n_pairs += pairs.n_pairs;
            sums.mass += listed.factor * pairs.mass;
            match drawn {
                Some(drawn) => open.push_listed(&listed.items, weights.as_deref(), listed.factor, drawn),
                None => {
                    open.push(&listed.items, &labels, weights.as_deref(), listed.factor, &pairs.distinct, shape);
                }
            }
            open.n_numbers += listed.items.iter().map(|&i| source.rows.n_stored_in_row(i as usize)).sum::<usize>();
            // A block's sums have one number per feature, which must not outweigh the block, or else the kernel matrix.
            let enough = if source.are_units { BLOCK_SCORES.max(n_cols / 32) } else { BLOCK_NUMBERS.max(2 * n_cols) };
            if open.n_numbers >= enough {
                open.close();
                sums.blocks.push(std::mem::take(&mut open));
            }
        }
        if open.n_items() > 0 {
            open.close();
            sums.blocks.push(open);
        }
        sums
    }

    /// What was found in the data.
    pub(crate) fn counts(&self) -> RankCounts {
        self.counts
    }

    /// Σ weight·weight·factor over all pairs.
    pub(crate) fn mass(&self) -> f64 {
        self.mass
    }

    /// The rows of every group that counts.
    pub(crate) fn rows_of_groups(&self) -> impl Iterator<Item = &[u32]> {
        self.blocks.iter().flat_map(|block| block.groups().map(|group| group.0))
    }

    /// Every pair of a better item and a worse one, and what the pair's loss is multiplied with. Of given scores; none where
    /// pairs are drawn.
    pub(crate) fn for_each_pair(&self, mut each: impl FnMut(u32, u32, f64)) {
        let Rows::Held(units) = self.source.rows else { return };
        let mut items: Vec<(f64, u32, f64)> = Vec::new();
        for (rows, factor) in self.blocks.iter().flat_map(Block::groups) {
            items.clear();
            for &row in rows {
                let weight = self.source.weights.map_or(1.0, |weights| weights[row as usize]);
                let label = self.source.labels[row as usize];
                units.for_each_in_row(row as usize, |score, _| items.push((label, score as u32, weight)));
            }
            items.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for &(label, better, weight) in &items {
                for &(_, worse, other) in items.iter().take_while(|worse| worse.0 < label) {
                    each(better, worse, self.c * factor * weight * other);
                }
            }
        }
    }

    /// Bytes that its blocks will have, and what visits take besides.
    pub(crate) fn bytes(&self) -> usize {
        let of_blocks = self.blocks.iter().map(|block| block.bytes(self.shape));
        let (at_rest, visit) = of_blocks.fold((0, 0), |sum, block| (sum.0 + block.0, sum.1.max(block.1)));
        at_rest + visit
    }

    /// The root of the mean square of the difference of two items of a group, features divided.
    pub(crate) fn usual_difference(&mut self) -> f64 {
        let (n_cols, unit, divisors) = (self.source.rows.n_cols(), self.source.unit, self.source.divisors);
        let divisor = |column: usize| unit * divisors.map_or(1.0, |divisors| divisors[column]);
        let squares = |block: &mut Block, visit: &Visit<'_>| {
            let mut mean = vec![0.0; n_cols];
            let of_group = |rows: &[u32]| {
                mean.fill(0.0);
                visit.for_each(rows, |_, features, row| {
                    features.for_each_in_row(row, |c, v| mean[c] += v / divisor(c) / rows.len() as f64);
                });
                let center: f64 = mean.iter().map(|m| m * m).sum();
                let mut squares = Vec::with_capacity(rows.len());
                visit.for_each(rows, |_, features, row| {
                    let mut square = center;
                    features.for_each_in_row(row, |c, v| {
                        let x = v / divisor(c);
                        square += x * x - 2.0 * x * mean[c];
                    });
                    squares.push(square.max(0.0));
                });
                squares
            };
            block.group_rows(visit).map(of_group).collect::<Vec<_>>().concat()
        };
        let (mut total, mut n) = (0.0, 0usize);
        self.visit_blocks(squares, |squares| {
            n += squares.len();
            squares.into_iter().for_each(|square| total += square);
        });
        (2.0 * total / n.max(1) as f64).sqrt()
    }

    /// Weights as the stored features want them.
    fn on_stored(&self, weights: &[f64]) -> Vec<f64> {
        weights.iter().enumerate().map(|(column, w)| w / self.divisor(column)).collect()
    }

    fn divisor(&self, column: usize) -> f64 {
        self.source.unit * self.source.divisors.map_or(1.0, |divisors| divisors[column])
    }

    /// Features are measured in this unit from now on.
    pub(crate) fn set_unit(&mut self, unit: f64) {
        self.source.unit = unit;
    }

    /// Runs `visit` on every block while its rows are at hand, and hands the results to `take` in order.
    fn visit_blocks<R: Send>(&mut self, visit: impl Fn(&mut Block, &Visit<'_>) -> R + Sync, mut take: impl FnMut(R)) {
        match self.source.rows {
            Rows::Held(features) => {
                let run = |block: &mut Block| visit(block, &Visit::Held(features));
                let results: Vec<R> = self.blocks.par_iter_mut().map(run).collect();
                results.into_iter().for_each(take);
            }
            Rows::Stored(stored) => {
                let spans = spans_to_read(&self.blocks, stored.at_a_time());
                let runs = |block: &Block| if is_readable(block, stored) { runs_of(block.rows()) } else { Runs::new() };
                let lists: Vec<Vec<Runs>> =
                    spans.iter().map(|span| self.blocks[span.clone()].iter().map(runs).collect()).collect();
                let blocks = &mut self.blocks;
                stored.read_ahead(&lists, |number, loaded: &[Loaded]| {
                    let blocks = &mut blocks[spans[number].clone()];
                    let run = |(block, loaded): (&mut Block, &Loaded)| {
                        let at_hand = match is_readable(block, stored) {
                            true => Visit::Read { loaded, all: stored },
                            false => Visit::Parts(stored),
                        };
                        let result = visit(block, &at_hand);
                        block.rest();
                        result
                    };
                    let results: Vec<R> = blocks.par_iter_mut().zip(loaded).map(run).collect();
                    results.into_iter().for_each(&mut take);
                });
            }
        }
    }

    /// Runs `visit` on every block with a vector of sums of its own; adds all up in order, times C.
    fn sum_over_blocks<R: Send>(
        &mut self,
        visit: impl Fn(&mut Block, &Visit<'_>, &mut [f64]) -> R + Sync,
    ) -> (Vec<R>, Vec<f64>) {
        let n_cols = self.source.rows.n_cols();
        let run = |block: &mut Block, at_hand: &Visit<'_>| {
            let mut sums = vec![0.0; n_cols];
            let result = visit(block, at_hand, &mut sums);
            (result, sums)
        };
        let mut total = vec![0.0; n_cols];
        let mut results = Vec::with_capacity(self.blocks.len());
        self.visit_blocks(run, |(result, sums)| {
            results.push(result);
            total.iter_mut().zip(&sums).for_each(|(total, sum)| *total += sum);
        });
        let c = self.c;
        total.iter_mut().enumerate().for_each(|(column, sum)| *sum *= c / self.divisor(column));
        (results, total)
    }

    /// The curvature of all pairs, without C.
    fn curved(&self) -> f64 {
        let shape = self.shape;
        let parts: Vec<f64> = self.blocks.par_iter().map(|block| block.curved(shape)).collect();
        parts.iter().sum()
    }

    /// Pairs drawn by their curvature, one at every `spacing` of it, where so much of it came before.
    fn draw_pairs(&self, before: f64, spacing: f64) -> Vec<[u32; 2]> {
        let (labels, shape) = (self.source.labels, self.shape);
        let curved: Vec<f64> = self.blocks.par_iter().map(|block| block.curved(shape)).collect();
        let mut start = before;
        let starts: Vec<f64> = curved
            .iter()
            .map(|curved| {
                start += curved;
                start - curved
            })
            .collect();
        let draw = |(block, start): (&Block, f64)| block.draw_pairs(labels, shape, start, spacing);
        self.blocks.par_iter().zip(starts).map(draw).collect::<Vec<_>>().concat()
    }

    /// Differences of pairs, times `size`, some at a time.
    fn for_vectors(&self, drawn: &[[u32; 2]], size: f64, take: &mut dyn FnMut(&[f64])) {
        let rows = self.source.rows;
        let n_cols = rows.n_cols().max(1);
        for pairs in drawn.chunks((SKETCHED_NUMBERS / n_cols).max(1)) {
            let mut vectors = vec![0.0; pairs.len() * n_cols];
            let parts = pairs.par_chunks(PAIRS_OF_A_THREAD).zip(vectors.par_chunks_mut(PAIRS_OF_A_THREAD * n_cols));
            parts.for_each(|(pairs, vectors)| {
                differences(rows, pairs, vectors);
                for vector in vectors.chunks_exact_mut(n_cols) {
                    vector.iter_mut().enumerate().for_each(|(column, x)| *x *= size / self.divisor(column));
                }
            });
            take(&vectors);
        }
    }

    /// The sum over some of the groups, and of large ones over some of the items: one in 16.
    fn thinned_sums(&self, standing: Standing) -> RankSums<'a> {
        let Standing { n_items, first_group, first_item } = standing;
        // Other numbers at every size: a thinned sum may be thinned again.
        let keep = |number: u64| mix(n_items, number).is_multiple_of(THINNING);
        let mut number = first_group;
        let mut lists = Vec::new();
        for block in &self.blocks {
            for (items, factor) in block.groups() {
                number += 1;
                if items.len() >= MANY_ITEMS {
                    let some: Vec<u32> = items.iter().copied().filter(|&i| keep(first_item + u64::from(i))).collect();
                    let share = items.len() as f64 / some.len().max(1) as f64;
                    // Of all pairs the square is left, of drawn ones as many for each item.
                    let of_pairs = if self.source.draw.is_some() { share } else { share * share };
                    lists.push(Listed { items: some, factor: factor * of_pairs });
                } else if keep(number) {
                    lists.push(Listed { items: items.to_vec(), factor });
                }
            }
        }
        RankSums::of_groups(self.source, self.shape, self.c, lists.into_iter().map(|list| (list, false)))
    }

    /// Whether a thinned sum can stand for the whole.
    pub(crate) fn is_enough(&self) -> bool {
        self.counts.n_items >= 4 * self.dim() && self.mass > 0.0
    }

    /// Whether a read of the data has failed, so that no sum means anything.
    fn has_failed(&self) -> bool {
        matches!(self.source.rows, Rows::Stored(stored) if stored.has_failed())
    }
}

/// Whether the rows of a block are read at once.
fn is_readable(block: &Block, stored: &StoredRows) -> bool {
    block.n_numbers <= stored.at_a_time().max(2 * BLOCK_NUMBERS)
}

/// Blocks that are read together: so many numbers, or one block.
fn spans_to_read(blocks: &[Block], n_numbers: usize) -> Vec<Range<usize>> {
    let (mut spans, mut start, mut n) = (Vec::new(), 0, 0);
    for (at, block) in blocks.iter().enumerate() {
        if n + block.n_numbers > n_numbers && at > start {
            spans.push(start..at);
            (start, n) = (at, 0);
        }
        n += block.n_numbers;
    }
    spans.push(start..blocks.len());
    spans
}

impl BlockSums for RankSums<'_> {
    fn dim(&self) -> usize {
        self.source.rows.n_cols()
    }

    fn n_numbers(&self) -> usize {
        self.blocks.iter().map(|block| block.n_numbers).sum()
    }

    fn go_to(&mut self, weights: &[f64]) -> SumPoint {
        let on_stored = self.on_stored(weights);
        let shape = self.shape;
        let (losses, gradient) =
            self.sum_over_blocks(|block, at_hand, sums| block.go_to(at_hand, &on_stored, shape, sums));
        if self.has_failed() {
            // Nothing is better than nowhere: the search ends.
            let nowhere = f64::INFINITY;
            return SumPoint { value: nowhere, gradient, meant: nowhere, excess: 0.0 };
        }
        let mut point = SumPoint { gradient, ..SumPoint::default() };
        for losses in losses {
            point.value += self.c * losses.value;
            point.meant += self.c * losses.meant;
            point.excess += self.c * losses.excess;
        }
        point
    }

    fn hessian_times(&mut self, v: &[f64]) -> Vec<f64> {
        let on_stored = self.on_stored(v);
        let shape = self.shape;
        self.sum_over_blocks(|block, at_hand, sums| block.hessian_times(at_hand, &on_stored, shape, sums)).1
    }

    fn hessian_times_all(&mut self, vectors: &[f64]) -> Vec<f64> {
        let dim = self.dim().max(1);
        let Rows::Held(features) = self.source.rows else {
            return vectors.chunks_exact(dim).flat_map(|v| self.hessian_times(v)).collect();
        };
        let divided: Vec<f64> = vectors.chunks_exact(dim).flat_map(|v| self.on_stored(v)).collect();
        let shape = self.shape;
        let mut products = Vec::new();
        self.visit_blocks(|block, at_hand| block.curvatures(at_hand, &divided, shape), |part| products.push(part));
        let mut out = vec![0.0; vectors.len()];
        out.par_chunks_exact_mut(dim).enumerate().for_each(|(at, out)| {
            for (block, products) in self.blocks.iter().zip(&products) {
                let n = block.n_items();
                features.add_rows(block.rows(), &products[at * n..][..n], out);
            }
            out.iter_mut().enumerate().for_each(|(column, sum)| *sum *= self.c / self.divisor(column));
        });
        out
    }

    fn ease(&mut self, shift: f64) {
        let (shape, shift) = (self.shape, self.c * shift);
        self.visit_blocks(|block, _| block.ease(shift, shape), |()| {});
    }

    /// Of scores: rows must be units.
    fn eased(&mut self, vectors: &[f64]) -> Vec<f64> {
        let (dim, rows) = (self.dim().max(1), self.source.rows);
        let mut out = vectors.to_vec();
        let Rows::Held(features) = rows else { return out };
        let mut changes = Vec::new();
        self.visit_blocks(|block, at_hand| block.eased(at_hand, vectors), |part| changes.push(part));
        out.par_chunks_exact_mut(dim).enumerate().for_each(|(at, out)| {
            for (block, changes) in self.blocks.iter().zip(&changes) {
                let n = block.n_items();
                features.add_rows(block.rows(), &changes[at * n..][..n], out);
            }
        });
        out
    }

    fn hessian_diagonal(&mut self) -> Vec<f64> {
        let shape = self.shape;
        let (_, mut diagonal) =
            self.sum_over_blocks(|block, at_hand, sums| block.hessian_diagonal(at_hand, shape, sums));
        diagonal.iter_mut().enumerate().for_each(|(column, sum)| *sum /= self.divisor(column));
        diagonal
    }

    fn hessian_sketch(&mut self, n_pairs: usize) -> Vec<f64> {
        let mut sketch = Vec::new();
        self.sketch_in_parts(n_pairs, &mut |vectors| sketch.extend_from_slice(vectors));
        sketch
    }

    fn sketch_in_parts(&mut self, n_pairs: usize, take: &mut dyn FnMut(&[f64])) {
        let curved = self.curved();
        if !(curved > 0.0 && curved.is_finite()) {
            return;
        }
        let drawn = self.draw_pairs(0.0, curved / n_pairs as f64);
        // Some items find no partner in a few trials; the pairs that were drawn stand for those, too.
        let size = (self.c * curved / drawn.len().max(1) as f64).sqrt();
        self.for_vectors(&drawn, size, take);
    }

    fn aim(&mut self, direction: &[f64]) {
        let on_stored = self.on_stored(direction);
        self.visit_blocks(|block, at_hand| block.aim(at_hand, &on_stored), |()| {});
    }

    fn along(&mut self, step: f64) -> (f64, f64) {
        if self.has_failed() {
            return (f64::INFINITY, f64::INFINITY);
        }
        let shape = self.shape;
        let is_stored = matches!(self.source.rows, Rows::Stored(_));
        let run = |block: &mut Block| {
            let part = block.along(step, shape);
            if is_stored {
                block.rest();
            }
            part
        };
        let parts: Vec<(f64, f64)> = self.blocks.par_iter_mut().map(run).collect();
        let (value, slope) = parts.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        (self.c * value, self.c * slope)
    }

    fn set_c(&mut self, c: f64) {
        self.c = c;
    }

    fn least_lead(&self) -> f64 {
        self.blocks.iter().map(|block| block.least_lead(self.source.labels)).fold(f64::INFINITY, f64::min)
    }

    fn round_off(&mut self, width: f64) {
        self.shape = Shape::Hinge(width);
    }

    fn thinned(&self) -> Option<Box<dyn BlockSums + '_>> {
        let standing = Standing { n_items: self.counts.n_items as u64, first_group: 0, first_item: 0 };
        let mut thinned = self.thinned_sums(standing);
        thinned.c *= self.mass / thinned.mass;
        thinned.is_enough().then(|| Box::new(thinned) as Box<dyn BlockSums + '_>)
    }
}

impl Planes for RankSums<'_> {
    fn plane(&mut self, step: f64) -> Option<Plane> {
        let shape = self.shape;
        let (swapped, mut normal) =
            self.sum_over_blocks(|block, at_hand, sums| block.plane(at_hand, step, shape, sums));
        normal.iter_mut().for_each(|slope| *slope = -*slope);
        let swapped = swapped.into_iter().sum::<Option<f64>>()?;
        Some(Plane { offset: self.c * swapped, normal })
    }

    fn settle(&mut self, step: f64) {
        self.blocks.par_iter_mut().for_each(|block| block.settle(step));
    }
}
