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
        GroupLosses { value, meant: value, ..GroupLosses::default() }
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

/// Pairs whose factors 1 + e^(−|lead|) ≤ 2 are multiplied before one logarithm is taken.
const FACTORS: usize = 32;

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

wide! {
    /// The losses of one item with its worse partners; adds to the slopes and to the degrees of both sides.
    fn losses<T>(of: Partners<'_>, place: usize, slopes: &mut [f64], degrees: &mut [f64]) -> f64 {
        let (score, weight) = (of.x[place], of.v[place]);
        let (mut value, mut slope, mut degree) = (0.0, 0.0, 0.0);
        let partners = of.x[..of.n].chunks(FACTORS).zip(of.v[..of.n].chunks(FACTORS));
        let sums = slopes.chunks_mut(FACTORS).zip(degrees.chunks_mut(FACTORS));
        for ((x, v), (slopes, degrees)) in partners.zip(sums) {
            let (mut factors, mut chances, mut curvatures) = ([1.0; FACTORS], [0.0; FACTORS], [0.0; FACTORS]);
            let mut linear = 0.0;
            for lane in 0..x.len() {
                let lead = score - x[lane];
                let (e, p) = chance::<FMA>(lead);
                factors[lane] = 1.0 + e;
                chances[lane] = p;
                curvatures[lane] = p * (1.0 - p);
                linear += v[lane] * (-lead).max(0.0);
            }
            for lane in 0..x.len() {
                slopes[lane] += weight * v[lane] * chances[lane];
                degrees[lane] += weight * curvatures[lane];
                slope += v[lane] * chances[lane];
                degree += v[lane] * curvatures[lane];
            }
            let logs = if of.is_plain {
                factors.iter().product::<f64>().ln()
            } else {
                factors.iter().zip(v).map(|(factor, v)| v * factor.ln()).sum()
            };
            value += linear + logs;
        }
        slopes[place] -= weight * slope;
        degrees[place] += degree;
        weight * value
    }
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
        let mut total = 0.0;
        for (((x, v), t), sum) in x.iter().zip(v).zip(t).zip(sums.iter_mut()) {
            let (_, p) = chance::<FMA>(score - x);
            let product = weight * v * p * (1.0 - p) * (change - t);
            *sum -= product;
            total += product;
        }
        sums[place] += total;
    }
}
