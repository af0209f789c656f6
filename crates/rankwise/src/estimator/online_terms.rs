//! What random steps are drawn from, whatever the task.

use super::online::OnlineSvm;
use crate::data::Ranking;
use crate::model::{Balance, Batch, Task};
use crate::problem::{ClassTerms, ExampleTerms, GroupTerms, PairTerms, RandomTerms, RankCounts, Weighing};
use crate::progress::Stop;
use crate::solver::Limits;
use crate::solver::subgradient::Descent;

/// What steps are drawn from.
pub(super) enum Terms<'a> {
    Pairs(PairTerms<'a>),
    Groups(GroupTerms<'a>),
    Examples(ExampleTerms<'a>),
    Classes(ClassTerms<'a>),
}

impl<'a> Terms<'a> {
    /// `labels` are those of all classes, ascending; rankers have none.
    pub(super) fn new(svm: &OnlineSvm, data: &'a Ranking, labels: &[f64]) -> Self {
        match (svm.task, svm.batch) {
            (Task::Classify, _) if labels.len() > 2 => Terms::Classes(ClassTerms::new(data, labels)),
            (Task::Classify, _) => Terms::Examples(ExampleTerms::new(data, positive(labels))),
            (Task::Rank, Batch::Pair) => Terms::Pairs(PairTerms::new(data, weighing(svm))),
            (Task::Rank, Batch::Group) => Terms::Groups(GroupTerms::new(data, weighing(svm))),
        }
    }

    pub(super) fn counts(&self) -> RankCounts {
        match self {
            Terms::Pairs(terms) => terms.draws().counts(),
            Terms::Groups(terms) => terms.counts(),
            Terms::Examples(terms) => RankCounts { n_items: terms.n_items(), ..RankCounts::default() },
            Terms::Classes(terms) => RankCounts { n_items: terms.n_items(), ..RankCounts::default() },
        }
    }

    pub(super) fn mass(&self) -> f64 {
        match self {
            Terms::Pairs(terms) => terms.draws().mass(),
            Terms::Groups(terms) => terms.mass(),
            Terms::Examples(terms) => terms.mass(),
            Terms::Classes(terms) => terms.mass(),
        }
    }

    pub(super) fn mean_square(&mut self) -> f64 {
        match self {
            Terms::Pairs(terms) => terms.mean_square(),
            Terms::Groups(terms) => terms.mean_square(),
            Terms::Examples(terms) => terms.mean_square(),
            Terms::Classes(terms) => terms.mean_square(),
        }
    }

    /// Makes steps.
    pub(super) fn run(
        &mut self,
        descent: &mut Descent,
        n_steps: u64,
        lambda: f64,
        eta: impl Fn(f64) -> f64,
        limits: Limits<'_>,
    ) -> Option<Stop> {
        match self {
            Terms::Pairs(terms) => descent.run(terms, n_steps, lambda, eta, limits),
            Terms::Groups(terms) => descent.run(terms, n_steps, lambda, eta, limits),
            Terms::Examples(terms) => descent.run(terms, n_steps, lambda, eta, limits),
            Terms::Classes(terms) => descent.run(terms, n_steps, lambda, eta, limits),
        }
    }

    pub(super) fn set_seed(&mut self, seed: u64) {
        match self {
            Terms::Pairs(terms) => terms.set_seed(seed),
            Terms::Groups(terms) => terms.set_seed(seed),
            Terms::Examples(terms) => terms.set_seed(seed),
            Terms::Classes(terms) => terms.set_seed(seed),
        }
    }
}

/// The label of the class that is to have scores above 0, of two.
pub(super) fn positive(labels: &[f64]) -> f64 {
    labels.last().copied().unwrap_or(0.0)
}

/// How pairs are weighted.
pub(super) fn weighing(svm: &OnlineSvm) -> Weighing {
    if svm.balance == Balance::Groups { Weighing::Balanced } else { Weighing::AsGiven }
}
