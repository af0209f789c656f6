//! The comparison problem and its two baselines as a quadratic program over mirrored duals.
//!
//! Non-ties are oriented so that their margin z = u·(Φ(better) − Φ(worse)) should be positive:
//!
//!   compare   ½‖u‖² + C·[Σ_non-ties c·ℓ(1 − β − z) + Σ_ties c·(ℓ(1 + β + z) + ℓ(1 + β − z))]   (Venuto et al., (15))
//!   rank      ½‖u‖² + C·Σ_non-ties c·ℓ(1 − z)
//!   rank2     ½‖u‖² + C·[2·Σ_non-ties c·ℓ(1 − z) + Σ_ties c·(ℓ(1 − z) + ℓ(1 + z))]
//!
//! Copies of one pair (same items, same outcome, either side) are merged and their weights added: the problem is the
//! same, and a million copies cost as much as one.

use super::bias::{Term, best_beta};
use super::{Anchor, Certificate, Dual, MirroredQp};
use crate::data::{Comparisons, Features, Outcome, Pair};
use crate::error::Result;
use crate::kernel::{ItemBlocks, KernelFunction};
use crate::loss::Loss;

/// Which of the three problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// The comparison machine; `capped` keeps β ≤ −1.
    Compare { capped: bool },
    /// Ranking SVM on the non-ties.
    Rank,
    /// Ranking SVM that sees a tie as two opposite pairs.
    Rank2,
}

/// A merged pair: two items, whether it is a tie, and its weight times C.
#[derive(Debug, Clone, Copy, PartialEq)]
struct MergedPair {
    is_tie: bool,
    /// The worse item of a non-tie.
    left: u32,
    /// The better item of a non-tie.
    right: u32,
    cost: f64,
}

/// u = 0 with its best β.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConstantAnswer {
    pub(crate) beta: f64,
    pub(crate) objective: f64,
}

/// One of the three problems on given items.
#[derive(Debug)]
pub(crate) struct PairProblem {
    task: Task,
    loss: Loss,
    pairs: Vec<MergedPair>,
    duals: Vec<Dual>,
    exact: ExactScores,
    /// For every pair of the data: its merged pair and whether the sides were exchanged; `None` when it is not used.
    merged: Vec<Option<(u32, bool)>>,
}

impl PairProblem {
    /// Builds the problem. `cost(k)` is C times the weight of pair k of the data, for its outcome.
    pub(crate) fn new(
        task: Task,
        loss: Loss,
        kernel: KernelFunction,
        items: &Features,
        data: &Comparisons,
        cost: impl Fn(usize) -> f64,
    ) -> Result<Self> {
        let mut oriented: Vec<(MergedPair, usize)> = (0..data.n_pairs())
            .filter(|&k| task != Task::Rank || data.outcomes[k] != Outcome::Tie)
            .filter(|&k| cost(k) > 0.0)
            .map(|k| {
                let pair = data.set.pairs[k];
                let exchanged = is_exchanged(data, k);
                let (left, right) = if exchanged { (pair.right, pair.left) } else { (pair.left, pair.right) };
                let is_tie = data.outcomes[k] == Outcome::Tie;
                let doubled = if task == Task::Rank2 && !is_tie { 2.0 } else { 1.0 };
                (MergedPair { is_tie, left, right, cost: doubled * cost(k) }, k)
            })
            .collect();
        oriented.sort_by_key(|(p, k)| (p.is_tie, p.left, p.right, *k));
        let mut pairs: Vec<MergedPair> = Vec::new();
        let mut merged = vec![None; data.n_pairs()];
        for (pair, k) in oriented {
            match pairs.last_mut() {
                Some(last) if (last.is_tie, last.left, last.right) == (pair.is_tie, pair.left, pair.right) => {
                    last.cost += pair.cost;
                }
                _ => pairs.push(pair),
            }
            merged[k] = Some(((pairs.len() - 1) as u32, is_exchanged(data, k)));
        }
        let duals = pairs
            .iter()
            .map(|p| Dual {
                label: if p.is_tie && matches!(task, Task::Compare { .. }) { -1.0 } else { 1.0 },
                mirrored: p.is_tie,
                upper: loss.dual_upper(p.cost),
                shift: loss.dual_shift(p.cost),
            })
            .collect();
        Ok(PairProblem { task, loss, pairs, duals, exact: ExactScores::new(kernel, items)?, merged })
    }

    /// Left and right items of the merged pairs.
    pub(crate) fn sides(&self) -> (Vec<u32>, Vec<u32>) {
        self.pairs_of_items().unzip()
    }

    /// K_kk of every merged pair, in f64.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        self.pairs.iter().map(|p| self.exact.pair_value(p.left, p.right)).collect()
    }

    /// Coefficients of items: u = Σ a_i Φ(x_i). Only nonzero ones, items ascending.
    pub(crate) fn item_coefficients(&self, duals: &[[f64; 2]]) -> Vec<(u32, f64)> {
        let mut coefficients = vec![0.0; self.exact.n_items()];
        for (k, pair) in self.pairs.iter().enumerate() {
            let t = self.coefficient(duals, k);
            coefficients[pair.right as usize] += t;
            coefficients[pair.left as usize] -= t;
        }
        let terms = coefficients.iter().enumerate().filter(|(_, a)| **a != 0.0);
        terms.map(|(i, &a)| (i as u32, a)).collect()
    }

    /// Weights of features: u itself, for linear kernels.
    pub(crate) fn feature_weights(&self, items: &Features, duals: &[[f64; 2]]) -> Vec<f64> {
        items.combine_rows(self.item_coefficients(duals).into_iter().map(|(item, a)| (item as usize, a)))
    }

    /// How many merged pairs have a nonzero coefficient.
    pub(crate) fn n_support_pairs(&self, duals: &[[f64; 2]]) -> usize {
        (0..self.pairs.len()).filter(|&k| self.coefficient(duals, k) != 0.0).count()
    }

    /// Margins right − left of the data's pairs: those of the merged pairs, and of pairs that the problem does not use
    /// (the ties of `rank`) from the dual variables.
    pub(crate) fn data_margins(&self, data: &Comparisons, margins: &[f64], duals: &[[f64; 2]]) -> Vec<f64> {
        let scores =
            if self.merged.contains(&None) { self.exact.scores(&self.item_coefficients(duals)) } else { Vec::new() };
        let of = |(m, pair): (&Option<(u32, bool)>, &Pair)| match *m {
            Some((k, false)) => margins[k as usize],
            Some((k, true)) => -margins[k as usize],
            None => scores[pair.right as usize] - scores[pair.left as usize],
        };
        self.merged.iter().zip(&data.set.pairs).map(of).collect()
    }

    /// The best answer with u = 0.
    pub(crate) fn constant_answer(&self) -> ConstantAnswer {
        let zeros = vec![0.0; self.pairs.len()];
        let (beta, _) = self.best_beta(&zeros);
        ConstantAnswer { beta, objective: self.losses(&zeros, beta) }
    }

    /// Sum of the losses for given margins and β.
    fn losses(&self, margins: &[f64], beta: f64) -> f64 {
        let loss = self.loss;
        let one = |((pair, dual), &z): ((&MergedPair, &Dual), &f64)| {
            let side = |z: f64| loss.value(1.0 - dual.label * (beta + z));
            pair.cost * (side(z) + if dual.mirrored { side(-z) } else { 0.0 })
        };
        self.pairs.iter().zip(&self.duals).zip(margins).map(one).sum()
    }

    fn coefficient(&self, duals: &[[f64; 2]], k: usize) -> f64 {
        self.duals[k].label * (duals[k][0] - duals[k][1])
    }

    /// The best β for given margins, and whether it is free to move with them.
    pub(super) fn best_beta(&self, margins: &[f64]) -> (f64, bool) {
        let Task::Compare { capped } = self.task else {
            return (0.0, false);
        };
        let mut terms = Vec::with_capacity(2 * self.pairs.len());
        for (pair, &z) in self.pairs.iter().zip(margins) {
            let weight = pair.cost;
            if pair.is_tie {
                terms.push(Term { breakpoint: -1.0 - z, weight, falls: false });
                terms.push(Term { breakpoint: -1.0 + z, weight, falls: false });
            } else {
                terms.push(Term { breakpoint: 1.0 - z, weight, falls: true });
            }
        }
        let beta = best_beta(self.loss, &mut terms);
        if capped && beta > -1.0 { (-1.0, false) } else { (beta, true) }
    }

    /// Left and right item of every merged pair.
    pub(super) fn pairs_of_items(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.pairs.iter().map(|p| (p.left, p.right))
    }
}

/// Whether a pair of the data is stored with its sides exchanged: non-ties point to the better item, ties to the
/// item with the larger number.
fn is_exchanged(data: &Comparisons, k: usize) -> bool {
    let pair = data.set.pairs[k];
    match data.outcomes[k] {
        Outcome::Right => false,
        Outcome::Left => true,
        Outcome::Tie => pair.left > pair.right,
    }
}

impl MirroredQp for PairProblem {
    fn duals(&self) -> &[Dual] {
        &self.duals
    }

    fn anchor(&self) -> Anchor {
        match self.task {
            Task::Compare { capped: false } => Anchor::None,
            Task::Compare { capped: true } => Anchor::AtMostMinusOne,
            Task::Rank | Task::Rank2 => Anchor::Zero,
        }
    }

    fn residual(&self, pair: usize, duals: [f64; 2], margin: f64, beta: f64) -> f64 {
        let (dual, cost) = (&self.duals[pair], self.pairs[pair].cost);
        let one = |a: f64, z: f64| {
            let slack = 1.0 - dual.label * (beta + z);
            cost * self.loss.value(slack) + 0.5 * dual.shift * a * a - a * slack
        };
        one(duals[0], margin) + if dual.mirrored { one(duals[1], -margin) } else { 0.0 }
    }

    fn certify(&self, duals: &[[f64; 2]], anchor: f64) -> Certificate {
        let scores = self.exact.scores(&self.item_coefficients(duals));
        let margins: Vec<f64> = self.pairs.iter().map(|p| scores[p.right as usize] - scores[p.left as usize]).collect();
        let (mut norm, mut linear, mut shifted) = (0.0, 0.0, 0.0);
        for (k, a) in duals.iter().enumerate() {
            norm += self.coefficient(duals, k) * margins[k];
            linear += a[0] + a[1];
            shifted += self.duals[k].shift * (a[0] * a[0] + a[1] * a[1]);
        }
        if self.anchor() == Anchor::AtMostMinusOne {
            linear += anchor;
        }
        let (beta, _) = self.best_beta(&margins);
        let primal = 0.5 * norm + self.losses(&margins, beta);
        Certificate { margins, beta, primal, dual: linear - 0.5 * norm - 0.5 * shifted }
    }

    fn objective_at_zero(&self) -> f64 {
        self.constant_answer().objective
    }

    fn collapse_resolution(&self) -> Option<f64> {
        // Only the hinge can collapse: the other losses have a slope wherever something is to be gained.
        if !matches!(self.task, Task::Compare { .. }) || self.loss != Loss::Hinge {
            return None;
        }
        let objective = self.objective_at_zero();
        let norms = self.diagonal();
        let largest: f64 = self.pairs.iter().zip(norms).map(|(p, norm)| p.cost * p.cost * norm).sum();
        // Below 1e-13 the objective's own digits end.
        Some((1e-7 * objective.min(largest)).max(1e-13 * objective))
    }
}

/// Scores of all items in f64, straight from the coefficients.
#[derive(Debug)]
enum ExactScores {
    Linear(Features),
    Kernel(ItemBlocks<f64>),
}

impl ExactScores {
    fn new(kernel: KernelFunction, items: &Features) -> Result<Self> {
        let blocks = ItemBlocks::new(kernel, items)?; // checks the range of numbers
        Ok(if kernel == KernelFunction::Linear {
            ExactScores::Linear(items.clone())
        } else {
            ExactScores::Kernel(blocks)
        })
    }

    fn n_items(&self) -> usize {
        match self {
            ExactScores::Linear(items) => items.n_rows(),
            ExactScores::Kernel(blocks) => blocks.len(),
        }
    }

    fn scores(&self, terms: &[(u32, f64)]) -> Vec<f64> {
        match self {
            ExactScores::Linear(items) => {
                items.times(&items.combine_rows(terms.iter().map(|&(item, a)| (item as usize, a))))
            }
            ExactScores::Kernel(blocks) => blocks.sums(terms),
        }
    }

    /// K(r, r) + K(l, l) − 2K(l, r), exactly 0 for an item with itself.
    fn pair_value(&self, left: u32, right: u32) -> f64 {
        let (l, r) = (left as usize, right as usize);
        if l == r {
            return 0.0;
        }
        match self {
            ExactScores::Linear(items) => {
                let (mut a, mut b) = (vec![0.0; items.n_cols()], vec![0.0; items.n_cols()]);
                items.copy_row(l, &mut a);
                items.copy_row(r, &mut b);
                a.iter().zip(&b).map(|(x, y)| (y - x) * (y - x)).sum()
            }
            ExactScores::Kernel(blocks) => {
                (blocks.self_value(r) + blocks.self_value(l) - 2.0 * blocks.value(l, r)).max(0.0)
            }
        }
    }
}
