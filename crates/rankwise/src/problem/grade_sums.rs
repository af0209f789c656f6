//! Linear ordinal machines: the losses of items with grades as a function of weights, the thresholds eliminated.
//!
//! Wherever the weights are, thresholds are at their best, in order ([`GradeRuns::pools`]). Then the slopes of the losses are dual
//! variables, and ½‖gradient‖² (+ what is rounded off) is the duality gap. The Hessian is that of weights and thresholds without
//! the latter: with second derivatives d of an item's loss at a threshold, Σ d (x − x̄)(x − x̄)ᵀ around the mean x̄ by d over the
//! thresholds that are the same.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::crossing::{Pull, crossing};
use super::grades::Pool;
use super::item_sums::Local;
use super::{BlockSums, GradeRuns, Slack, SumPoint};
use crate::data::{Features, mix};

/// Items of the smallest block, and the most blocks.
const SMALL: usize = 1 << 12;
const MOST_BLOCKS: usize = 16;
/// One in so many items makes a thinned sum.
const THINNING: u64 = 16;
/// Vectors of a sketch that are made at a time.
const VECTORS_AT_ONCE: usize = 512;

/// The losses of items, sorted by grade.
pub(crate) struct GradeSums<'a> {
    features: &'a Features,
    /// What each feature is divided by.
    divisors: Option<&'a [f64]>,
    runs: Cow<'a, GradeRuns>,
    rows: Cow<'a, [u32]>,
    /// Apart from C.
    costs: Cow<'a, [f64]>,
    c: f64,
    slack: Slack,
    here: Place,
    /// Scores in the direction of a line.
    aimed: Vec<f64>,
}

/// Where the sum was sent.
#[derive(Default)]
struct Place {
    scores: Vec<f64>,
    settled: Settled,
}

/// Thresholds at their best.
#[derive(Default, Clone)]
struct Settled {
    thresholds: Vec<f64>,
    /// Which of them are the same: the number of the pool of each.
    pool_of: Vec<usize>,
    /// Σ of the second derivatives over a pool, with C.
    stiffness: Vec<f64>,
}

impl<'a> GradeSums<'a> {
    /// The sum over items, whose rows and costs these are, sorted by grade; every grade must have one.
    pub(crate) fn new(
        features: &'a Features,
        divisors: Option<&'a [f64]>,
        runs: Cow<'a, GradeRuns>,
        rows: Cow<'a, [u32]>,
        costs: Cow<'a, [f64]>,
        slack: Slack,
    ) -> Self {
        GradeSums { features, divisors, runs, rows, costs, c: 1.0, slack, here: Place::default(), aimed: Vec::new() }
    }

    /// Something of every block of a range of items, in order.
    fn visit<R: Send>(&self, items: Range<usize>, of_block: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        let n = items.len();
        let n_blocks = (n / SMALL).clamp(1, MOST_BLOCKS);
        let block = |at: usize| items.start + at * n / n_blocks..items.start + (at + 1) * n / n_blocks;
        match n_blocks {
            // Little work is not worth waking anybody.
            1 => vec![of_block(items)],
            _ => (0..n_blocks).into_par_iter().map(|at| of_block(block(at))).collect(),
        }
    }

    fn all(&self) -> Range<usize> {
        0..self.rows.len()
    }

    /// w·x of every item.
    pub(crate) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let divided: Cow<'_, [f64]> = match self.divisors {
            None => Cow::Borrowed(weights),
            Some(divisors) => weights.iter().zip(divisors).map(|(w, d)| w / d).collect::<Vec<_>>().into(),
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

    /// What the losses ask for here: dual variables but for rounding, threshold by threshold.
    pub(crate) fn wanted(&self) -> Vec<f64> {
        let Place { scores, settled } = &self.here;
        let of = |(threshold, b): (usize, &f64)| -> Vec<f64> {
            let items = self.runs.span(threshold);
            items.map(|item| -self.local(threshold, item, scores[item] - b).slope).collect()
        };
        settled.thresholds.iter().enumerate().flat_map(of).collect()
    }

    /// Σ over items of factor·x.
    fn combine(&self, factors: &[f64]) -> Vec<f64> {
        let dim = self.features.n_cols();
        let parts = self.visit(self.all(), |range| {
            let mut part = vec![0.0; dim];
            for start in range.clone().step_by(SMALL) {
                let some = start..(start + SMALL).min(range.end);
                let used = some.filter(|&k| factors[k] != 0.0).map(|k| (self.rows[k], factors[k]));
                let (rows, factors): (Vec<u32>, Vec<f64>) = used.unzip();
                self.features.add_rows(&rows, &factors, &mut part);
            }
            part
        });
        let mut out = vec![0.0; dim];
        parts.into_iter().for_each(|part| out.iter_mut().zip(part).for_each(|(out, part)| *out += part));
        if let Some(divisors) = self.divisors {
            out.iter_mut().zip(divisors).for_each(|(out, d)| *out /= d);
        }
        out
    }

    /// The loss of an item at a threshold; slopes are those in its score.
    #[inline(always)]
    fn local(&self, threshold: usize, item: usize, f: f64) -> Local {
        let (cost, sign) = (self.c * self.costs[item], self.runs.sign(threshold, item));
        let Local { value, meant, excess, slope, bend } = self.slack.at(1.0 - sign * f);
        Local {
            value: cost * value,
            meant: cost * meant,
            excess: cost * excess,
            slope: -sign * cost * slope,
            bend: cost * bend,
        }
    }

    /// For every item of a range, what is made of it and of the thresholds in which it has a say.
    fn each(&self, range: Range<usize>, mut of: impl FnMut(usize, Range<usize>)) {
        let mut grade = self.runs.starts.partition_point(|&start| start <= range.start).saturating_sub(1);
        let mut item = range.start;
        while item < range.end {
            while self.runs.starts[grade + 1] <= item {
                grade += 1;
            }
            let end = self.runs.starts[grade + 1].min(range.end);
            let thresholds = self.runs.thresholds_of(grade);
            (item..end).for_each(|item| of(item, thresholds.clone()));
            item = end;
        }
    }

    /// The best thresholds for given scores, from a guess.
    fn settle(&self, scores: &[f64], guess: &[f64]) -> Settled {
        let mut stiffness_of = Vec::new();
        let mut best = |first: usize, last: usize| {
            let (lower, upper) = (self.runs.lower(first, last), self.runs.upper(first, last));
            let pull = |b: f64| {
                let side = |items: Range<usize>, sign: f64| {
                    let parts = self.visit(items, |range| {
                        let mut sum = [0.0; 2];
                        for item in range {
                            let local = self.slack.at(1.0 - sign * (scores[item] - b));
                            sum[0] += self.costs[item] * local.slope;
                            sum[1] += self.costs[item] * local.bend;
                        }
                        sum
                    });
                    parts.into_iter().fold([0.0; 2], |sum, part| [sum[0] + part[0], sum[1] + part[1]])
                };
                let (below, above) = (side(lower.clone(), -1.0), side(upper.clone(), 1.0));
                Pull { slope: above[0] - below[0], stiffness: above[1] + below[1], size: above[0] + below[0] }
            };
            let guess = guess.get(first).copied().unwrap_or(0.0);
            let (at, stiffness) = crossing(pull, guess, f64::INFINITY);
            stiffness_of.push((first, last, self.c * stiffness));
            at
        };
        let pools: Vec<Pool> = self.runs.pools(&mut best);
        let mut settled = Settled::default();
        for (number, pool) in pools.iter().enumerate() {
            for _ in pool.first..=pool.last {
                settled.thresholds.push(pool.at);
                settled.pool_of.push(number);
            }
            let is_it = |of: &&(usize, usize, f64)| (of.0, of.1) == (pool.first, pool.last);
            settled.stiffness.push(stiffness_of.iter().rfind(is_it).map_or(0.0, |of| of.2));
        }
        settled
    }

    /// d of every item at every threshold, item by item, as (threshold, item, d) where it is not 0.
    fn bends(&self, range: Range<usize>, mut of: impl FnMut(usize, usize, f64)) {
        let Place { scores, settled } = &self.here;
        self.each(range, |item, thresholds| {
            for threshold in thresholds {
                let bend = self.local(threshold, item, scores[item] - settled.thresholds[threshold]).bend;
                if bend > 0.0 {
                    of(threshold, item, bend);
                }
            }
        });
    }

    /// Variables that stand for all in the Hessian, as (threshold, item, d): all where they are few, else some drawn evenly by d.
    fn drawn(&self, n: usize) -> Vec<(usize, usize, f64)> {
        let mut bends = Vec::new();
        self.bends(self.all(), |threshold, item, bend| bends.push((threshold, item, bend)));
        if bends.len() <= 2 * n {
            return bends;
        }
        let spacing = bends.iter().map(|of| of.2).sum::<f64>() / n as f64;
        // How many marks at (m + ½)·spacing lie below.
        let marks = |at: f64| (at / spacing + 0.5).floor();
        let mut at = 0.0;
        let mut drawn = Vec::with_capacity(n + 1);
        for (threshold, item, bend) in bends {
            let hits = marks(at + bend) - marks(at);
            at += bend;
            if hits > 0.0 {
                drawn.push((threshold, item, hits * spacing));
            }
        }
        drawn
    }
}

impl BlockSums for GradeSums<'_> {
    fn dim(&self) -> usize {
        self.features.n_cols()
    }

    fn n_numbers(&self) -> usize {
        let share = self.rows.len() as f64 / self.features.n_rows().max(1) as f64;
        (self.features.n_stored() as f64 * share) as usize + 8 * self.rows.len()
    }

    fn go_to(&mut self, weights: &[f64]) -> SumPoint {
        let scores = self.scores(weights);
        let settled = self.settle(&scores, &self.here.settled.thresholds);
        self.here = Place { scores, settled };
        let Place { scores, settled } = &self.here;
        let parts = self.visit(self.all(), |range| {
            let (mut sum, mut slopes) = ([0.0; 3], Vec::with_capacity(range.len()));
            self.each(range, |item, thresholds| {
                let mut slope = 0.0;
                for threshold in thresholds {
                    let local = self.local(threshold, item, scores[item] - settled.thresholds[threshold]);
                    sum[0] += local.value;
                    sum[1] += local.meant;
                    sum[2] += local.excess;
                    slope += local.slope;
                }
                slopes.push(slope);
            });
            (sum, slopes)
        });
        let (mut sum, mut slopes) = ([0.0; 3], Vec::with_capacity(self.rows.len()));
        for (part, of_part) in parts {
            sum = std::array::from_fn(|at| sum[at] + part[at]);
            slopes.extend(of_part);
        }
        let [value, meant, excess] = sum;
        SumPoint { value, gradient: self.combine(&slopes), meant, excess }
    }

    fn hessian_times(&mut self, v: &[f64]) -> Vec<f64> {
        let along = self.scores(v);
        let Settled { pool_of, stiffness, .. } = &self.here.settled;
        let pulls = self.visit(self.all(), |range| {
            let mut pulls = vec![0.0; stiffness.len()];
            self.bends(range, |threshold, item, bend| pulls[pool_of[threshold]] += bend * along[item]);
            pulls
        });
        let mut moved = vec![0.0; stiffness.len()];
        pulls.into_iter().for_each(|part| moved.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        // How thresholds move along.
        let mean = |(sum, &stiffness): (&mut f64, &f64)| *sum = if stiffness > 0.0 { *sum / stiffness } else { 0.0 };
        moved.iter_mut().zip(stiffness).for_each(mean);
        let parts = self.visit(self.all(), |range| {
            let (start, mut factors) = (range.start, vec![0.0; range.len()]);
            self.bends(range, |threshold, item, bend| {
                factors[item - start] += bend * (along[item] - moved[pool_of[threshold]]);
            });
            factors
        });
        self.combine(&parts.concat())
    }

    fn hessian_diagonal(&mut self) -> Vec<f64> {
        let (dim, Settled { pool_of, stiffness, .. }) = (self.dim(), &self.here.settled);
        let n = stiffness.len();
        let parts = self.visit(self.all(), |range| {
            let (mut squares, mut sums) = (vec![0.0; dim], vec![0.0; dim * n]);
            self.bends(range, |threshold, item, bend| {
                let sums = &mut sums[dim * pool_of[threshold]..][..dim];
                self.features.for_each_in_row(self.rows[item] as usize, |column, value| {
                    squares[column] += bend * value * value;
                    sums[column] += bend * value;
                });
            });
            (squares, sums)
        });
        let (mut squares, mut sums) = (vec![0.0; dim], vec![0.0; dim * n]);
        for part in parts {
            squares.iter_mut().zip(part.0).for_each(|(sum, part)| *sum += part);
            sums.iter_mut().zip(part.1).for_each(|(sum, part)| *sum += part);
        }
        for (sums, stiffness) in sums.chunks_exact(dim.max(1)).zip(stiffness) {
            let stiffness = stiffness.max(f64::MIN_POSITIVE);
            squares.iter_mut().zip(sums).for_each(|(square, sum)| *square -= sum * sum / stiffness);
        }
        let divisor = |at: usize| self.divisors.map_or(1.0, |divisors| divisors[at]);
        (0..dim).map(|at| squares[at].max(0.0) / divisor(at).powi(2)).collect()
    }

    fn hessian_sketch(&mut self, n: usize) -> Vec<f64> {
        let mut all = Vec::new();
        self.sketch_in_parts(n, &mut |vectors| all.extend_from_slice(vectors));
        all
    }

    fn sketch_in_parts(&mut self, n: usize, take: &mut dyn FnMut(&[f64])) {
        let drawn = self.drawn(n);
        let (dim, pool_of) = (self.dim(), &self.here.settled.pool_of);
        let n_pools = self.here.settled.stiffness.len();
        let mut totals = vec![0.0; n_pools];
        drawn.iter().for_each(|of| totals[pool_of[of.0]] += of.2);
        if !totals.iter().all(|total| total.is_finite()) {
            return;
        }
        let mut means = vec![0.0; dim * n_pools];
        for &(threshold, item, bend) in &drawn {
            let (pool, share) = (pool_of[threshold], bend / totals[pool_of[threshold]]);
            self.features.add_rows(&[self.rows[item]], &[share], &mut means[dim * pool..][..dim]);
        }
        let mut vectors = vec![0.0; VECTORS_AT_ONCE.min(drawn.len()) * dim];
        for some in drawn.chunks(VECTORS_AT_ONCE) {
            let vectors = &mut vectors[..some.len() * dim];
            vectors.par_chunks_mut(dim.max(1)).zip(some).for_each(|(out, &(threshold, item, bend))| {
                let mean = &means[dim * pool_of[threshold]..][..dim];
                out.iter_mut().zip(mean).for_each(|(out, mean)| *out = -mean);
                self.features.for_each_in_row(self.rows[item] as usize, |column, value| out[column] += value);
                let root = bend.sqrt();
                match self.divisors {
                    None => out.iter_mut().for_each(|out| *out *= root),
                    Some(divisors) => out.iter_mut().zip(divisors).for_each(|(out, d)| *out *= root / d),
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
        let settled = self.settle(&scores, &self.here.settled.thresholds);
        let parts = self.visit(self.all(), |range| {
            let mut sum = (0.0, 0.0);
            self.each(range, |item, thresholds| {
                for threshold in thresholds {
                    let local = self.local(threshold, item, scores[item] - settled.thresholds[threshold]);
                    sum.0 += local.value;
                    sum.1 += local.slope * self.aimed[item];
                }
            });
            sum
        });
        parts.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    fn set_c(&mut self, c: f64) {
        self.c = c;
    }

    /// The least distance of an item from a threshold on its right side.
    fn least_lead(&self) -> f64 {
        let Place { scores, settled } = &self.here;
        let mut least = f64::INFINITY;
        self.each(self.all(), |item, thresholds| {
            for threshold in thresholds {
                let f = scores[item] - settled.thresholds[threshold];
                least = least.min(self.runs.sign(threshold, item) * f);
            }
        });
        least
    }

    fn round_off(&mut self, width: f64) {
        self.slack = Slack::Rounded(width);
    }

    fn thinned(&self) -> Option<Box<dyn BlockSums + '_>> {
        let keep = |k: &usize| mix(self.rows.len() as u64, *k as u64).is_multiple_of(THINNING);
        let kept: Vec<usize> = self.all().filter(keep).collect();
        let starts: Vec<usize> =
            self.runs.starts.iter().map(|&start| kept.partition_point(|&item| item < start)).collect();
        // Every threshold needs items that pull it either way.
        if kept.len() < 8 * self.dim() || starts.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
        let rows: Vec<u32> = kept.iter().map(|&item| self.rows[item]).collect();
        let costs: Vec<f64> = kept.iter().map(|&item| self.costs[item]).collect();
        let share = self.costs.iter().sum::<f64>() / costs.iter().sum::<f64>();
        let runs = Cow::Owned(GradeRuns { starts, is_explicit: self.runs.is_explicit });
        let mut thinned =
            GradeSums::new(self.features, self.divisors, runs, Cow::Owned(rows), Cow::Owned(costs), self.slack);
        thinned.c = self.c * share;
        Some(Box::new(thinned))
    }
}
