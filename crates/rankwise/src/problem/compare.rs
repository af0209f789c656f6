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
use super::exact::{Direction, Exact};
use super::{Anchor, Certificate, Dual, MirroredQp, PairLosses, PairPoint};
use crate::data::{Comparisons, Outcome};
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
    /// Davidson's model of three outcomes, which is solved in weights alone.
    Davidson,
}

/// A merged pair: whether it is a tie, and its weight times C. The direction of a non-tie goes from the worse item to the
/// better one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct MergedPair {
    is_tie: bool,
    cost: f64,
}

/// u = 0 with its best β.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConstantAnswer {
    pub(crate) beta: f64,
    pub(crate) objective: f64,
}

/// One of the three problems on given pairs.
#[derive(Debug)]
pub(crate) struct PairProblem<'a> {
    task: Task,
    loss: Loss,
    pairs: Vec<MergedPair>,
    directions: Vec<Direction>,
    duals: Vec<Dual>,
    exact: &'a Exact<'a>,
    /// For every pair of the data: its merged pair and whether the sides were exchanged; `None` when it is not used.
    merged: Vec<Option<(u32, bool)>>,
}

impl<'a> PairProblem<'a> {
    /// Builds the problem. `cost(k)` is C times the weight of pair k of the data, for its outcome; pairs without cost do not
    /// take part.
    pub(crate) fn new(
        task: Task,
        loss: Loss,
        exact: &'a Exact<'a>,
        data: &Comparisons,
        cost: impl Fn(usize) -> f64,
    ) -> Self {
        let mut oriented: Vec<(MergedPair, Direction, usize)> = (0..data.n_pairs())
            .filter(|&k| task != Task::Rank || data.outcomes[k] != Outcome::Tie)
            .filter(|&k| cost(k) > 0.0)
            .map(|k| {
                let is_tie = data.outcomes[k] == Outcome::Tie;
                let doubled = if task == Task::Rank2 && !is_tie { 2.0 } else { 1.0 };
                (MergedPair { is_tie, cost: doubled * cost(k) }, exact.direction(k, is_exchanged(data, k)), k)
            })
            .collect();
        let key = |pair: &MergedPair, direction: &Direction| (pair.is_tie, direction.left, direction.right);
        oriented.sort_by_key(|(pair, direction, k)| (key(pair, direction), *k));
        let (mut pairs, mut directions): (Vec<MergedPair>, Vec<Direction>) = (Vec::new(), Vec::new());
        let mut merged = vec![None; data.n_pairs()];
        for (pair, direction, k) in oriented {
            match (pairs.last_mut(), directions.last()) {
                (Some(last), Some(before)) if key(last, before) == key(&pair, &direction) => last.cost += pair.cost,
                _ => {
                    pairs.push(pair);
                    directions.push(direction);
                }
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
        PairProblem { task, loss, pairs, directions, duals, exact, merged }
    }

    pub(super) fn exact(&self) -> &'a Exact<'a> {
        self.exact
    }

    pub(super) fn directions(&self) -> &[Direction] {
        &self.directions
    }

    pub(crate) fn loss(&self) -> Loss {
        self.loss
    }

    /// Whether the matrix over pairs is at hand, and positive semidefinite.
    pub(crate) fn has_matrix(&self) -> bool {
        self.exact.has_matrix()
    }

    /// Left and right items of the merged pairs.
    pub(crate) fn sides(&self) -> (Vec<u32>, Vec<u32>) {
        self.pairs_of_items().unzip()
    }

    /// K_kk of every merged pair, in f64.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        self.directions.iter().map(|&direction| self.exact.square(direction)).collect()
    }

    /// Coefficients of items: u = Σ a_i Φ(x_i). Only nonzero ones, items ascending.
    pub(crate) fn item_coefficients(&self, duals: &[[f64; 2]]) -> Vec<(u32, f64)> {
        self.exact.item_coefficients(self.terms(duals))
    }

    /// Weights of features: u itself, for linear kernels.
    pub(crate) fn feature_weights(&self, duals: &[[f64; 2]]) -> Vec<f64> {
        let terms = self.item_coefficients(duals);
        self.exact.items().combine_rows(terms.into_iter().map(|(item, a)| (item as usize, a)))
    }

    /// How many merged pairs have a nonzero coefficient.
    pub(crate) fn n_support_pairs(&self, duals: &[[f64; 2]]) -> usize {
        self.terms(duals).filter(|term| term.1 != 0.0).count()
    }

    /// Margins right − left of the data's pairs: those of the merged pairs, and of pairs that the problem does not use
    /// (the ties of `rank`, pairs without cost) from the dual variables.
    pub(crate) fn data_margins(&self, margins: &[f64], duals: &[[f64; 2]]) -> Vec<f64> {
        let others = if self.merged.contains(&None) { self.exact.data_margins(self.terms(duals)) } else { Vec::new() };
        let of = |(k, m): (usize, &Option<(u32, bool)>)| match *m {
            Some((m, false)) => margins[m as usize],
            Some((m, true)) => -margins[m as usize],
            None => others[k],
        };
        self.merged.iter().enumerate().map(of).collect()
    }

    /// Dual variables of another problem on the same pairs, as far as the pairs are in this one too.
    pub(crate) fn duals_from(&self, other: &PairProblem<'_>, duals: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let mut own = vec![[0.0; 2]; self.pairs.len()];
        for (mine, others) in self.merged.iter().zip(&other.merged) {
            if let (Some((mine, _)), Some((others, _))) = (mine, others) {
                own[*mine as usize] = duals[*others as usize];
            }
        }
        own
    }

    /// Every merged pair with its coefficient.
    fn terms<'b>(&'b self, duals: &'b [[f64; 2]]) -> impl Iterator<Item = (Direction, f64)> + 'b {
        self.directions.iter().enumerate().map(|(k, &direction)| (direction, self.coefficient(duals, k)))
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
    fn best_beta(&self, margins: &[f64]) -> (f64, bool) {
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
        self.directions.iter().map(|d| (d.left, d.right))
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

impl MirroredQp for PairProblem<'_> {
    fn duals(&self) -> &[Dual] {
        &self.duals
    }

    fn anchor(&self) -> Anchor {
        match self.task {
            Task::Compare { capped: false } => Anchor::None,
            Task::Compare { capped: true } => Anchor::AtMostMinusOne,
            Task::Rank | Task::Rank2 | Task::Davidson => Anchor::Zero,
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
        let margins = self.exact.margins(&self.directions, self.terms(duals));
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

impl PairLosses for PairProblem<'_> {
    fn margins(&self, coefficients: &[f64]) -> Vec<f64> {
        self.exact.margins(&self.directions, self.directions.iter().copied().zip(coefficients.iter().copied()))
    }

    fn block(&self, of: &[u32]) -> Vec<f64> {
        let directions: Vec<Direction> = of.iter().map(|&k| self.directions[k as usize]).collect();
        self.exact.block(&directions).unwrap_or_default()
    }

    fn at(&self, margins: &[f64], ease: f64) -> PairPoint {
        let n = margins.len();
        let (beta, is_beta_free) = self.best_beta(margins);
        let mut point = PairPoint {
            losses: 0.0,
            duals: Vec::with_capacity(n),
            coefficients: Vec::with_capacity(n),
            curvatures: Vec::with_capacity(n),
            tilts: Vec::with_capacity(n),
            beta,
            is_beta_free,
        };
        for (dual, &z) in self.duals.iter().zip(margins) {
            let twice_cost = ease / dual.shift;
            let slack = |z: f64| (1.0 - dual.label * (beta + z)).max(0.0);
            let (slack, mirror) = (slack(z), if dual.mirrored { slack(-z) } else { 0.0 });
            point.losses += 0.5 * twice_cost * (slack * slack + mirror * mirror);
            point.duals.push([twice_cost * slack, twice_cost * mirror]);
            point.coefficients.push(dual.label * twice_cost * (slack - mirror));
            let (acts, mirror_acts) = (f64::from(slack > 0.0), f64::from(mirror > 0.0));
            point.curvatures.push(twice_cost * (acts + mirror_acts));
            point.tilts.push(twice_cost * (acts - mirror_acts));
        }
        point
    }

    fn ease(&self) -> f64 {
        let steepest = self.duals.iter().zip(self.diagonal()).map(|(dual, norm)| norm / dual.shift).fold(0.0, f64::max);
        (1.0 / steepest).clamp(1e-9, 1.0)
    }

    fn best_beta(&self, margins: &[f64]) -> (f64, bool) {
        PairProblem::best_beta(self, margins)
    }

    fn coefficients(&self, duals: &[[f64; 2]]) -> Vec<f64> {
        (0..self.pairs.len()).map(|k| self.coefficient(duals, k)).collect()
    }
}
