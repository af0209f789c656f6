//! The logistic loss of the pairs of a group. It has no windows, every pair counts a little: O(pairs), in wide loops over
//! the items in the order of their labels, where all worse partners of an item stand before it.

use rayon::prelude::*;

use super::group::GroupLosses;
use crate::math::{Real, wide};

/// Pairs below which one thread does it all.
const WORTH_THREADS: usize = 1 << 20;
/// Parts of larger groups, each with as many pairs as the others.
const N_PARTS: usize = 16;

/// Items by label.
#[derive(Debug, Clone)]
pub(super) struct ByLabel {
    /// The items, labels ascending.
    items: Vec<u32>,
    /// For each place, how many items have a smaller label.
    n_worse: Vec<u32>,
    /// Places that share out the pairs: part k is `cuts[k]..cuts[k + 1]`.
    cuts: Vec<usize>,
}

impl ByLabel {
    pub(super) fn new(labels: &[f64]) -> Self {
        let mut items: Vec<u32> = (0..labels.len() as u32).collect();
        items.sort_by(|&a, &b| labels[a as usize].total_cmp(&labels[b as usize]));
        let mut n_worse = vec![0u32; items.len()];
        for place in 1..items.len() {
            let is_new = labels[items[place] as usize] != labels[items[place - 1] as usize];
            n_worse[place] = if is_new { place as u32 } else { n_worse[place - 1] };
        }
        let n_pairs: usize = n_worse.iter().map(|&n| n as usize).sum();
        let n_parts = if n_pairs >= WORTH_THREADS { N_PARTS } else { 1 };
        let (mut cuts, mut seen) = (vec![0], 0);
        for (place, &n) in n_worse.iter().enumerate() {
            if seen >= cuts.len() * n_pairs / n_parts && cuts.len() < n_parts {
                cuts.push(place);
            }
            seen += n as usize;
        }
        cuts.push(items.len());
        ByLabel { items, n_worse, cuts }
    }

    /// The items, labels ascending.
    pub(super) fn items(&self) -> &[u32] {
        &self.items
    }

    /// The losses, their slopes, and for every item Σ v_j·(curvature of the pair with j).
    pub(super) fn go_to(
        &self,
        scores: &[f64],
        weights: Option<&[f64]>,
        slopes: &mut [f64],
        degrees: &mut [f64],
    ) -> GroupLosses {
        let n = scores.len();
        let (x, v) = self.sorted(scores, weights);
        let (value, sums) = self.in_parts(2 * n, |places, sums| {
            let mut value = 0.0;
            let (slopes, degrees) = sums.split_at_mut(n);
            for place in places {
                let partners = Partners { x: &x, v: &v, n: self.n_worse[place] as usize, is_plain: weights.is_none() };
                value += losses::<f64>(partners, place, slopes, degrees);
            }
            value
        });
        for (place, &item) in self.items.iter().enumerate() {
            slopes[item as usize] = sums[place];
            degrees[item as usize] = sums[n + place];
        }
        GroupLosses { value, meant: value, excess: 0.0, swapped: 0.0 }
    }

    pub(super) fn curvature_times(&self, scores: &[f64], change: &[f64], weights: Option<&[f64]>, out: &mut [f64]) {
        let (x, v) = self.sorted(scores, weights);
        let t: Vec<f64> = self.items.iter().map(|&item| change[item as usize]).collect();
        let (_, sums) = self.in_parts(x.len(), |places, sums| {
            for place in places {
                let n = self.n_worse[place] as usize;
                curvatures::<f64>([x[place], v[place], t[place]], &x[..n], &v[..n], &t[..n], sums, place);
            }
            0.0
        });
        self.items.iter().zip(&sums).for_each(|(&item, sum)| out[item as usize] = *sum);
    }

    fn sorted(&self, scores: &[f64], weights: Option<&[f64]>) -> (Vec<f64>, Vec<f64>) {
        let x = self.items.iter().map(|&item| scores[item as usize]).collect();
        let v = self.items.iter().map(|&item| weights.map_or(1.0, |w| w[item as usize])).collect();
        (x, v)
    }

    /// Runs `work` on every part with sums of its own; all sums, added in the order of parts.
    fn in_parts(
        &self,
        n_sums: usize,
        work: impl Fn(std::ops::Range<usize>, &mut [f64]) -> f64 + Sync,
    ) -> (f64, Vec<f64>) {
        let run = |cut: &[usize]| {
            let mut sums = vec![0.0; n_sums];
            let value = work(cut[0]..cut[1], &mut sums);
            (value, sums)
        };
        let parts: Vec<(f64, Vec<f64>)> = self.cuts.par_windows(2).map(run).collect();
        parts.into_iter().fold((0.0, vec![0.0; n_sums]), |(value, mut all), (part, sums)| {
            all.iter_mut().zip(&sums).for_each(|(all, sum)| *all += sum);
            (value + part, all)
        })
    }
}

/// Pairs that advance together.
const LANES: usize = 8;
/// Factors 1 + e^(−|lead|) ≤ 2 that are multiplied before one logarithm is taken.
const FACTORS: usize = 1000;

/// e^(−|lead|), and the chance σ(−lead) that the worse item wins.
#[inline(always)]
fn chance<const FMA: bool>(lead: f64) -> (f64, f64) {
    let e = Real::exp::<FMA>(-lead.abs());
    let small = e / (1.0 + e);
    (e, if lead >= 0.0 { small } else { 1.0 - small })
}

/// An item's worse partners are the first `n`.
#[derive(Clone, Copy)]
struct Partners<'a> {
    x: &'a [f64],
    v: &'a [f64],
    n: usize,
    /// All weights are 1.
    is_plain: bool,
}

/// Losses, their slopes and their curvatures, summed in lanes.
struct Sums {
    linear: [f64; LANES],
    /// Products of factors 1 + e, less 1: beside 1 the digits of a small e would be lost.
    products: [f64; LANES],
    slope: [f64; LANES],
    degree: [f64; LANES],
}

wide! {
    /// The losses of one item with its worse partners; adds to the slopes and to the degrees of both sides.
    fn losses<T>(of: Partners<'_>, place: usize, slopes: &mut [f64], degrees: &mut [f64]) -> f64 {
        let (score, weight) = (of.x[place], of.v[place]);
        let mut sums = Sums { linear: [0.0; LANES], products: [0.0; LANES], slope: [0.0; LANES], degree: [0.0; LANES] };
        let mut logs = 0.0;
        let (x, rest_x) = of.x[..of.n].as_chunks::<LANES>();
        let (v, rest_v) = of.v[..of.n].as_chunks::<LANES>();
        let (to_slopes, rest_slopes) = slopes[..of.n].as_chunks_mut::<LANES>();
        let (to_degrees, rest_degrees) = degrees[..of.n].as_chunks_mut::<LANES>();
        let chunks = x.iter().zip(v).zip(to_slopes.iter_mut().zip(to_degrees));
        for (number, ((x, v), (slopes, degrees))) in chunks.enumerate() {
            let small = lane_losses::<FMA>(score, weight, x, v, slopes, degrees, &mut sums);
            if of.is_plain {
                for (product, e) in sums.products.iter_mut().zip(small) {
                    *product += product.times_plus::<FMA>(e, e);
                }
                if (number + 1).is_multiple_of(FACTORS) {
                    logs += sums.products.iter().map(|product| product.ln_1p()).sum::<f64>();
                    sums.products = [0.0; LANES];
                }
            } else {
                logs += small.iter().zip(v).map(|(e, v)| v * e.ln_1p()).sum::<f64>();
            }
        }
        // The rest, with weights of 0 for what is not there.
        let n_rest = rest_x.len();
        let (mut x, mut v) = ([score; LANES], [0.0; LANES]);
        x[..n_rest].copy_from_slice(rest_x);
        v[..n_rest].copy_from_slice(rest_v);
        let (mut slope, mut degree) = ([0.0; LANES], [0.0; LANES]);
        let small = lane_losses::<FMA>(score, weight, &x, &v, &mut slope, &mut degree, &mut sums);
        rest_slopes.iter_mut().zip(&slope).for_each(|(to, sum)| *to += sum);
        rest_degrees.iter_mut().zip(&degree).for_each(|(to, sum)| *to += sum);
        logs += small.iter().zip(&v).map(|(e, v)| v * e.ln_1p()).sum::<f64>();
        logs += sums.products.iter().map(|product| product.ln_1p()).sum::<f64>();
        slopes[place] -= weight * sums.slope.iter().sum::<f64>();
        degrees[place] += sums.degree.iter().sum::<f64>();
        weight * (sums.linear.iter().sum::<f64>() + logs)
    }
}

/// Adds what one item has with some partners; e^(−|lead|) of each.
#[inline(always)]
fn lane_losses<const FMA: bool>(
    score: f64,
    weight: f64,
    x: &[f64; LANES],
    v: &[f64; LANES],
    slopes: &mut [f64; LANES],
    degrees: &mut [f64; LANES],
    sums: &mut Sums,
) -> [f64; LANES] {
    let mut small = [0.0; LANES];
    for lane in 0..LANES {
        let lead = score - x[lane];
        let (e, p) = chance::<FMA>(lead);
        let q = p * (1.0 - p);
        small[lane] = e;
        sums.linear[lane] += if lead < 0.0 { -v[lane] * lead } else { 0.0 };
        sums.slope[lane] += v[lane] * p;
        sums.degree[lane] += v[lane] * q;
        slopes[lane] += weight * v[lane] * p;
        // A partner that is not there has no degree either.
        degrees[lane] += if v[lane] > 0.0 { weight * q } else { 0.0 };
    }
    small
}

/// Curvature of the loss of a pair in its lead; at most ¼.
pub(super) fn curvature(lead: f64) -> f64 {
    let (_, p) = chance::<false>(lead);
    p * (1.0 - p)
}

wide! {
    /// Curvature times change, of one item (score, weight, change) with its worse partners.
    fn curvatures<T>(item: [f64; 3], x: &[f64], v: &[f64], t: &[f64], sums: &mut [f64], place: usize) {
        let [score, weight, change] = item;
        let product = |x: f64, v: f64, t: f64| {
            let (_, p) = chance::<FMA>(score - x);
            weight * v * p * (1.0 - p) * (change - t)
        };
        let mut totals = [0.0; LANES];
        let (wide_x, rest_x) = x.as_chunks::<LANES>();
        let (wide_v, rest_v) = v.as_chunks::<LANES>();
        let (wide_t, rest_t) = t.as_chunks::<LANES>();
        let (wide_sums, rest_sums) = sums[..x.len()].as_chunks_mut::<LANES>();
        for (((x, v), t), sums) in wide_x.iter().zip(wide_v).zip(wide_t).zip(wide_sums) {
            for lane in 0..LANES {
                let product = product(x[lane], v[lane], t[lane]);
                sums[lane] -= product;
                totals[lane] += product;
            }
        }
        let mut total = totals.iter().sum::<f64>();
        for (((&x, &v), &t), sum) in rest_x.iter().zip(rest_v).zip(rest_t).zip(rest_sums) {
            let product = product(x, v, t);
            *sum -= product;
            total += product;
        }
        sums[place] += total;
    }
}
