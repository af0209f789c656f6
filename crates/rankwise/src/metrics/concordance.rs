//! Pairs of items in the same or the opposite order by label and by score: counts, and the coefficients made of them.
//!
//! Over all pairs of a group, weighted by the product of the two weights: C pairs have the same order by both, D the
//! opposite one, S have equal scores alone, L equal labels alone, B both. Then
//!
//! τ-a = (C − D)/(C + D + S + L + B),  τ-b = (C − D)/√((C + D + S)(C + D + L)).
//!
//! One sweep by ascending score over a tree of the labels seen so far (Fenwick, 1994): O(n log n). Every count is a sum of
//! products, nothing is subtracted, so that weights lose no digits and counts without weights are exact.

use std::ops::{AddAssign, Mul};

use super::ranked::List;
use crate::data::order::{argsort, for_each_tie_run};

/// Weights of the pairs of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairCounts {
    pub(super) concordant: f64,
    pub(super) discordant: f64,
    /// Equal scores, different labels.
    pub(super) score_ties: f64,
    /// Equal labels, different scores.
    label_ties: f64,
    both_ties: f64,
}

impl PairCounts {
    pub(super) fn of(list: &List<'_>) -> Self {
        match &list.weights {
            None => count(list, |_| 1u64).map(|count| count as f64),
            Some(weights) => count(list, |at| weights[at]),
        }
        .into()
    }

    /// Pairs with different labels.
    pub(super) fn comparable(&self) -> f64 {
        self.concordant + self.discordant + self.score_ties
    }

    /// τ-a; `None` where no labels differ.
    pub(super) fn tau_a(&self) -> Option<f64> {
        let all = self.comparable() + self.label_ties + self.both_ties;
        (self.comparable() > 0.0).then(|| (self.concordant - self.discordant) / all)
    }

    /// τ-b; `None` where no labels differ. Scores that are all equal agree and disagree with nothing: 0.
    pub(super) fn tau_b(&self) -> Option<f64> {
        let by_score = self.concordant + self.discordant + self.label_ties;
        let scale = (self.comparable() * by_score).sqrt();
        let tau = if scale > 0.0 { (self.concordant - self.discordant) / scale } else { 0.0 };
        (self.comparable() > 0.0).then(|| tau.clamp(-1.0, 1.0))
    }
}

impl From<[f64; 5]> for PairCounts {
    fn from([concordant, discordant, score_ties, label_ties, both_ties]: [f64; 5]) -> Self {
        PairCounts { concordant, discordant, score_ties, label_ties, both_ties }
    }
}

/// A number of items, or their weight.
trait Amount: Copy + Default + AddAssign + Mul<Output = Self> {}
impl Amount for u64 {}
impl Amount for f64 {}

/// Concordant, discordant, tied by score alone, by label alone, by both.
fn count<T: Amount>(list: &List<'_>, weight: impl Fn(usize) -> T) -> [T; 5] {
    let (levels, n_levels) = levels(&list.labels);
    // By score, and among equal scores by label.
    let mut order = argsort(&list.scores);
    order.chunk_by_mut(|&a, &b| list.scores[a as usize] == list.scores[b as usize]).for_each(|run| {
        run.sort_by_key(|&at| levels[at as usize]);
    });
    let [mut concordant, mut discordant, mut score_ties, mut label_ties, mut both_ties] = [T::default(); 5];
    // Weights seen so far by label, summed from below and from above, and one by one.
    let (mut from_below, mut from_above) = (Tree::new(n_levels), Tree::new(n_levels));
    let mut seen = vec![T::default(); n_levels];
    for_each_tie_run(&list.scores, &order, |run| {
        let mut tied = T::default();
        for same in run.chunk_by(|&a, &b| levels[a as usize] == levels[b as usize]) {
            let level = levels[same[0] as usize];
            let mut total = T::default();
            for weight in same.iter().map(|&at| weight(at as usize)) {
                both_ties += weight * total;
                total += weight;
            }
            concordant += total * from_below.sum_before(level);
            discordant += total * from_above.sum_before(n_levels - 1 - level);
            label_ties += total * seen[level];
            score_ties += total * tied;
            tied += total;
        }
        for &at in run {
            let (level, weight) = (levels[at as usize], weight(at as usize));
            from_below.add(level, weight);
            from_above.add(n_levels - 1 - level, weight);
            seen[level] += weight;
        }
    });
    [concordant, discordant, score_ties, label_ties, both_ties]
}

/// The rank of each value among the distinct ones, from 0; and how many there are.
fn levels(values: &[f64]) -> (Vec<usize>, usize) {
    let mut levels = vec![0; values.len()];
    let mut n_levels = 0;
    for_each_tie_run(values, &argsort(values), |run| {
        run.iter().for_each(|&at| levels[at as usize] = n_levels);
        n_levels += 1;
    });
    (levels, n_levels)
}

/// Sums over the first places, each change and each sum in O(log n).
struct Tree<T>(Vec<T>);

impl<T: Amount> Tree<T> {
    fn new(n: usize) -> Self {
        Tree(vec![T::default(); n])
    }

    fn add(&mut self, place: usize, amount: T) {
        let mut at = place;
        while let Some(sum) = self.0.get_mut(at) {
            *sum += amount;
            at |= at + 1;
        }
    }

    fn sum_before(&self, place: usize) -> T {
        let (mut sum, mut end) = (T::default(), place);
        while end > 0 {
            sum += self.0[end - 1];
            end &= end - 1;
        }
        sum
    }
}

/// Spearman's ρ: the correlation of ranks, equal values sharing their mean rank; weight 2 is twice. `None` where no labels
/// differ; 0 where no scores do. O(n log n).
pub(super) fn spearman(list: &List<'_>) -> Option<f64> {
    let weight = |at: usize| list.weights.as_ref().map_or(1.0, |weights| weights[at]);
    let by_label = centred_ranks(&list.labels, weight);
    let by_score = centred_ranks(&list.scores, weight);
    let sum = |a: &[f64], b: &[f64]| (0..a.len()).map(|at| weight(at) * a[at] * b[at]).sum::<f64>();
    let scale = (sum(&by_label, &by_label) * sum(&by_score, &by_score)).sqrt();
    let differ = |values: &[f64]| values.windows(2).any(|pair| pair[0] != pair[1]);
    match (differ(&list.labels), differ(&list.scores)) {
        (true, true) if scale > 0.0 => Some((sum(&by_label, &by_score) / scale).clamp(-1.0, 1.0)),
        (true, _) => Some(0.0),
        (false, _) => None,
    }
}

/// Weight below each value and half of that of its equals, less the mean.
fn centred_ranks(values: &[f64], weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0.0;
    for_each_tie_run(values, &argsort(values), |run| {
        let here: f64 = run.iter().map(|&at| weight(at as usize)).sum();
        run.iter().for_each(|&at| ranks[at as usize] = below + 0.5 * here);
        below += here;
    });
    // The weighted mean of such ranks is half of the whole weight, whatever the ties.
    ranks.iter_mut().for_each(|rank| *rank -= 0.5 * below);
    ranks
}
