//! Section 5.3 of the SVM tutorial: the Ranking Vector Machine beside the ranking SVM.

mod noise;
mod sizes;
mod synthetic;
mod table2;

pub(super) use noise::Noise;
pub(super) use sizes::{Shown, Sizes};
pub(super) use table2::Table2;

use rankwise::data::Ranking;
use rankwise::kernel::Kernel;
use rankwise::metrics::{ItemMetric, Ranked};
use rankwise::model::{CoefficientSign, Model};
use rankwise::{Effort, Fit, Loss, RankSvm, RankingVectorMachine, Stop};

use super::study::Patient;
use crate::exit::Run;

/// A pair whose lead is at most this has a say in where the ranking SVM stands; 1 but for the tolerance of a fit.
const SUPPORTING_LEAD: f64 = 1.001;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Machine {
    /// The Ranking Vector Machine as printed: no coefficient is below 0.
    Vectors,
    /// The same with coefficients of either sign.
    SignedVectors,
    /// The ranking SVM with the hinge.
    Svm,
}

impl Machine {
    const ALL: [Machine; 3] = [Machine::Vectors, Machine::SignedVectors, Machine::Svm];

    /// In keys and csv files.
    fn key(self) -> &'static str {
        match self {
            Machine::Vectors => "rvm-nonnegative",
            Machine::SignedVectors => "rvm-signed",
            Machine::Svm => "ranking-svm",
        }
    }

    /// In tables and pictures.
    fn label(self) -> &'static str {
        match self {
            Machine::Vectors => "RVM, a ≥ 0",
            Machine::SignedVectors => "RVM, signed",
            Machine::Svm => "ranking SVM",
        }
    }

    /// A fit on one thread, of at most so many steps.
    fn fit(self, data: &Ranking, kernel: Kernel, c: f64, max_iter: u64) -> Run<Fit> {
        let mut effort = Effort::default();
        (effort.threads, effort.max_iter) = (1, Some(max_iter));
        let vectors = |sign| RankingVectorMachine::new().coefficients(sign).kernel(kernel).c(c).effort(effort);
        Ok(match self {
            Machine::Vectors => vectors(CoefficientSign::Nonnegative).fit_watched(data, &Patient)?,
            Machine::SignedVectors => vectors(CoefficientSign::Signed).fit_watched(data, &Patient)?,
            Machine::Svm => {
                RankSvm::new().loss(Loss::Hinge).kernel(kernel).c(c).effort(effort).fit_from(data, None, &Patient)?
            }
        })
    }

    /// Items that the function is made of, and pairs that hold the ranking SVM where it is (of the RVM, none do).
    fn vectors(self, model: &Model, data: &Ranking) -> Run<(usize, usize)> {
        if self != Machine::Svm {
            return Ok((model.training.support.unwrap_or(0), 0));
        }
        let scores = model.scorer.scores(&data.items)?;
        let groups = data.groups.numbers();
        let (mut is_in, mut n_pairs) = (vec![false; scores.len()], 0);
        for i in 0..scores.len() {
            for j in 0..scores.len() {
                let is_pair = groups[i] == groups[j] && data.labels[i] > data.labels[j];
                if is_pair && scores[i] - scores[j] <= SUPPORTING_LEAD {
                    (is_in[i], is_in[j]) = (true, true);
                    n_pairs += 1;
                }
            }
        }
        let n_in = is_in.iter().filter(|is_in| **is_in).count();
        Ok((model.training.support.unwrap_or(n_in), n_pairs))
    }
}

/// The share of pairs of different labels that a model orders rightly; `None` where there is no such pair.
fn accuracy(model: &Model, test: &Ranking) -> Run<Option<f64>> {
    let scores = model.scorer.scores(&test.items)?;
    let ranked = Ranked::new(&test.labels, &scores, &test.groups)?;
    Ok(ItemMetric::parse("pair_accuracy")?.of(&ranked)?.value)
}

/// Whether the allowed steps ended a fit before it was done.
fn is_cut_short(fit: &Fit) -> bool {
    fit.model.training.stop == Stop::MaxIter
}

/// Powers of ten.
fn powers(exponents: std::ops::RangeInclusive<i32>) -> Vec<f64> {
    // Parsed, so that each is the nearest number to its power.
    exponents.map(|k| format!("1e{k}").parse().unwrap_or_else(|_| 10f64.powi(k))).collect()
}

/// A seed for each list of numbers.
fn seed_of(seed: u64, parts: &[usize]) -> u64 {
    parts.iter().fold(seed ^ 0x5bd1_e995, |hash, &part| {
        let mixed = (hash ^ part as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    })
}
