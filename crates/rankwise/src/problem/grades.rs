//! Ordinal machines: items of grades 0 … r − 1, scores s, thresholds b_0 ≤ … ≤ b_(r−2) between grades.
//!
//! An item of a grade up to j should score at most b_j − 1, one of a higher grade at least b_j + 1; S = −1 and +1. Implicit
//! constraints: every item has a say in every threshold; then the best thresholds are in order by themselves. Explicit ones: only
//! the two grades beside it have, and b_j ≤ b_(j+1) is a constraint, with multipliers μ_j ≥ 0. The dual over variables
//! t = S·a, one for each item and threshold, u = Σ t over the thresholds of an item:
//!
//!   min ½ uᵀK u − Σ S·t + Σ ½·shift·t²    s.t.  0 ≤ S·t ≤ cost,  Σ t of threshold j = μ_(j−1) − μ_j
//!
//! where implicit constraints have no μ. So with explicit ones the sums over the first thresholds must not be above 0, and that
//! over all of them is 0. (Chu and Keerthi 2007.)

use std::ops::Range;

use super::crossing::{Pull, crossing};
use super::{GradeDuals, GradeRuns, GradeWorth, ItemDual};

/// Neighbouring thresholds that are the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pool {
    pub(super) first: usize,
    pub(super) last: usize,
    /// What they are.
    pub(super) at: f64,
}

impl GradeRuns {
    /// The runs of grades that ascend; every grade below `n_grades` has its place, even if no item has it.
    pub(crate) fn new(grades: impl Iterator<Item = u32>, n_grades: usize, is_explicit: bool) -> Self {
        let mut starts = vec![0; n_grades + 1];
        grades.for_each(|grade| starts[grade as usize + 1] += 1);
        (0..n_grades).for_each(|grade| starts[grade + 1] += starts[grade]);
        GradeRuns { starts, is_explicit }
    }

    pub(crate) fn n_items(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    pub(crate) fn n_thresholds(&self) -> usize {
        self.starts.len().saturating_sub(2)
    }

    /// The items that should score below some of the thresholds from `first` to `last`, with a say in that.
    pub(crate) fn lower(&self, first: usize, last: usize) -> Range<usize> {
        if self.is_explicit { self.starts[first]..self.starts[last + 1] } else { 0..self.starts[last + 1] }
    }

    /// The items that should score above some of them.
    pub(crate) fn upper(&self, first: usize, last: usize) -> Range<usize> {
        let end = if self.is_explicit { self.starts[last + 2] } else { self.n_items() };
        self.starts[first + 1]..end
    }

    /// The items that have a say in a threshold.
    pub(crate) fn span(&self, threshold: usize) -> Range<usize> {
        self.lower(threshold, threshold).start..self.upper(threshold, threshold).end
    }

    /// Whether an item should score above a threshold (1) or below it (−1).
    #[inline(always)]
    pub(crate) fn sign(&self, threshold: usize, item: usize) -> f64 {
        if item >= self.starts[threshold + 1] { 1.0 } else { -1.0 }
    }

    /// The thresholds in which an item of a grade has a say.
    pub(super) fn thresholds_of(&self, grade: usize) -> Range<usize> {
        let m = self.n_thresholds();
        if self.is_explicit { grade.saturating_sub(1)..(grade + 1).min(m) } else { 0..m }
    }

    /// Where the variables of each threshold begin, one for each item of its span; at last, how many there are.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        let mut offsets = vec![0];
        for threshold in 0..self.n_thresholds() {
            offsets.push(offsets[threshold] + self.span(threshold).len());
        }
        offsets
    }

    /// The best thresholds, where `best` finds that of some neighbours which are to be the same. Constraints pool neighbours that
    /// would be out of order (Best, Chakravarti and Ubhaya 2000).
    pub(super) fn pools(&self, mut best: impl FnMut(usize, usize) -> f64) -> Vec<Pool> {
        let mut pools: Vec<Pool> = Vec::with_capacity(self.n_thresholds());
        for threshold in 0..self.n_thresholds() {
            let mut pool = Pool { first: threshold, last: threshold, at: best(threshold, threshold) };
            while self.is_explicit
                && let Some(before) = pools.pop_if(|before| before.at > pool.at)
            {
                pool = Pool { first: before.first, last: pool.last, at: best(before.first, pool.last) };
            }
            pools.push(pool);
        }
        pools
    }
}

impl GradeDuals {
    /// What the dual says of the variable of an item and a threshold.
    #[inline(always)]
    pub(crate) fn of(&self, threshold: usize, item: usize) -> ItemDual {
        ItemDual::of_class(self.runs.sign(threshold, item), 1.0, self.costs[item], self.is_squared)
    }

    /// Σ t over the thresholds of every item.
    pub(crate) fn coefficients(&self, t: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.runs.n_items()];
        let mut at = 0;
        for threshold in 0..self.runs.n_thresholds() {
            for item in self.runs.span(threshold) {
                out[item] += t[at];
                at += 1;
            }
        }
        out
    }

    /// The multipliers μ of the order of thresholds that belong to variables.
    pub(crate) fn multipliers(&self, t: &[f64]) -> Vec<f64> {
        let (offsets, mut sum) = (self.runs.offsets(), 0.0);
        let m = self.runs.n_thresholds();
        let mut out = Vec::with_capacity(m);
        for threshold in 0..m.saturating_sub(1) {
            sum += t[offsets[threshold]..offsets[threshold + 1]].iter().sum::<f64>();
            out.push(if self.runs.is_explicit { (-sum).max(0.0) } else { 0.0 });
        }
        out
    }

    /// Primal value and gap of variables whose scores these are, thresholds at their best.
    pub(crate) fn worth(&self, t: &[f64], scores: &[f64]) -> GradeWorth {
        let thresholds = self.thresholds(scores);
        let (mut losses, mut gap, mut at) = (0.0, 0.0, 0);
        for (threshold, b) in thresholds.iter().enumerate() {
            for item in self.runs.span(threshold) {
                let (dual, f) = (self.of(threshold, item), scores[item] - b);
                losses += dual.loss(f);
                gap += dual.residual(t[at], f);
                at += 1;
            }
        }
        // What keeps neighbours together has its price where they are apart.
        let apart = thresholds.windows(2).map(|pair| pair[1] - pair[0]);
        gap += self.multipliers(t).iter().zip(apart).map(|(mu, apart)| mu * apart).sum::<f64>();
        let square: f64 = self.coefficients(t).iter().zip(scores).map(|(u, s)| u * s).sum();
        GradeWorth { thresholds, primal: 0.5 * square + losses, gap: gap.max(0.0) }
    }

    /// The losses at given scores and thresholds.
    pub(crate) fn losses(&self, scores: &[f64], thresholds: &[f64]) -> f64 {
        let of = |(threshold, b): (usize, &f64)| -> f64 {
            self.runs.span(threshold).map(|item| self.of(threshold, item).loss(scores[item] - b)).sum()
        };
        thresholds.iter().enumerate().map(of).sum()
    }

    /// The thresholds for which the losses at given scores are least; of several the middle.
    pub(crate) fn thresholds(&self, scores: &[f64]) -> Vec<f64> {
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        order.sort_by(|&a, &b| scores[a as usize].total_cmp(&scores[b as usize]));
        let pools = self.runs.pools(|first, last| match self.is_squared {
            true => self.square_root(scores, first, last),
            false => self.kink(&order, scores, first, last),
        });
        let mut thresholds: Vec<f64> = Vec::with_capacity(self.runs.n_thresholds());
        for pool in pools {
            // In order by themselves but for rounding.
            let at = thresholds.last().map_or(pool.at, |before| pool.at.max(*before));
            thresholds.extend((pool.first..=pool.last).map(|_| at));
        }
        thresholds
    }

    /// Where the slope of the squared hinges in a common threshold is 0.
    fn square_root(&self, scores: &[f64], first: usize, last: usize) -> f64 {
        let (lower, upper) = (self.runs.lower(first, last), self.runs.upper(first, last));
        let pull = |b: f64| {
            let mut sum = Pull::default();
            let mut add = |item: usize, slack: f64, sign: f64| {
                if slack > 0.0 {
                    let cost = self.costs[item];
                    sum.slope += 2.0 * sign * cost * slack;
                    sum.stiffness += 2.0 * cost;
                    sum.size += 2.0 * cost * slack;
                }
            };
            lower.clone().for_each(|item| add(item, 1.0 + scores[item] - b, -1.0));
            upper.clone().for_each(|item| add(item, 1.0 - scores[item] + b, 1.0));
            sum
        };
        crossing(pull, scores.get(self.runs.starts[first + 1]).copied().unwrap_or(0.0), f64::INFINITY).0
    }

    /// Where the slope of the hinges in a common threshold goes from below 0 to above: it rises by the cost at every kink.
    fn kink(&self, order: &[u32], scores: &[f64], first: usize, last: usize) -> f64 {
        let (lower, upper) = (self.runs.lower(first, last), self.runs.upper(first, last));
        let kinks = |side: Range<usize>, move_by: f64| {
            let of_side = order.iter().map(|&item| item as usize).filter(move |item| side.contains(item));
            of_side.map(move |item| (scores[item] + move_by, self.costs[item])).peekable()
        };
        let (mut below, mut above) = (kinks(lower.clone(), 1.0), kinks(upper.clone(), -1.0));
        let total: f64 = lower.clone().chain(upper).map(|item| self.costs[item]).sum();
        let mut slope = -lower.map(|item| self.costs[item]).sum::<f64>();
        let mut next = || {
            let is_below = match (below.peek(), above.peek()) {
                (Some(low), Some(high)) => low.0 <= high.0,
                (low, _) => low.is_some(),
            };
            if is_below { below.next() } else { above.next() }
        };
        let (resolution, mut place) = (1e-12 * total, 0.0);
        while let Some((at, cost)) = next() {
            place = at;
            slope += cost;
            if slope.abs() <= resolution {
                // Flat up to the next kink.
                return next().map_or(place, |next| 0.5 * (place + next.0));
            }
            if slope > 0.0 {
                break;
            }
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn some(seed: u64, is_explicit: bool, is_squared: bool) -> (GradeDuals, Vec<f64>) {
        let mut random = Random::new(seed);
        let mut grades: Vec<u32> = (0..40).map(|_| random.below(5) as u32).chain(0..5).collect();
        grades.sort_unstable();
        let scores = grades.iter().map(|&grade| 0.8 * f64::from(grade) + 2.0 * random.normal()).collect();
        let costs = grades.iter().map(|_| 0.1 + random.uniform()).collect();
        let runs = GradeRuns::new(grades.into_iter(), 5, is_explicit);
        (GradeDuals { runs, costs, is_squared }, scores)
    }

    /// No step of one threshold, or of neighbours together, makes the losses less, and they are in order.
    #[test]
    fn thresholds_are_the_best_in_order() {
        for seed in 0..60 {
            for (is_explicit, is_squared) in [(false, false), (true, false), (false, true), (true, true)] {
                let (duals, scores) = some(seed, is_explicit, is_squared);
                let found = duals.thresholds(&scores);
                assert!(found.windows(2).all(|pair| pair[0] <= pair[1]), "{seed} {is_explicit} {found:?}");
                let least = duals.losses(&scores, &found);
                for (first, last) in (0..4).flat_map(|first| (first..4).map(move |last| (first, last))) {
                    for step in [-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0] {
                        let mut moved = found.clone();
                        moved[first..=last].iter_mut().for_each(|b| *b += step);
                        let is_possible = !is_explicit || moved.windows(2).all(|pair| pair[0] <= pair[1]);
                        assert!(!is_possible || duals.losses(&scores, &moved) >= least - 1e-9, "{seed} {is_explicit}");
                    }
                }
            }
        }
    }

    /// With nothing in the dual, the gap is the primal value.
    #[test]
    fn the_gap_of_no_coefficients_is_the_primal_value() {
        let (duals, scores) = some(3, true, false);
        let n = duals.runs.offsets()[4];
        let worth = duals.worth(&vec![0.0; n], &vec![0.0; scores.len()]);
        assert!((worth.gap - worth.primal).abs() < 1e-12 && worth.primal > 0.0);
    }
}
