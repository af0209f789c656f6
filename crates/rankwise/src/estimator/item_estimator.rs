//! Any method that learns from items with labels.

use super::{Effort, Fit, OneNormRankSvm, RankSvm, RankingVectorMachine, Ridge, SwapSvm};
use crate::data::Ranking;
use crate::error::{Error, Result};
use crate::model::{Method, Model};
use crate::progress::Watch;

/// A method with its parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ItemEstimator {
    /// The ranking SVM.
    Rank(RankSvm),
    /// The structural machine of swapped pairs.
    Swap(SwapSvm),
    /// Ridge regression.
    Ridge(Ridge),
    /// The Ranking Vector Machine.
    Rvm(RankingVectorMachine),
    /// The 1-norm ranking SVM.
    RankL1(OneNormRankSvm),
}

impl ItemEstimator {
    /// Which method it is.
    pub fn method(&self) -> Method {
        match self {
            ItemEstimator::Rank(_) => Method::Rank,
            ItemEstimator::Swap(_) => Method::Swap,
            ItemEstimator::Ridge(_) => Method::Ridge,
            ItemEstimator::Rvm(_) => Method::Rvm,
            ItemEstimator::RankL1(_) => Method::RankL1,
        }
    }

    /// C.
    pub fn c(&self) -> f64 {
        match self {
            ItemEstimator::Rank(svm) => svm.c,
            ItemEstimator::Swap(svm) => svm.c,
            ItemEstimator::Ridge(ridge) => ridge.c,
            ItemEstimator::Rvm(machine) => machine.c,
            ItemEstimator::RankL1(svm) => svm.c,
        }
    }

    /// How much work a fit may do.
    pub fn effort_mut(&mut self) -> &mut Effort {
        match self {
            ItemEstimator::Rank(svm) => &mut svm.effort,
            ItemEstimator::Swap(svm) => &mut svm.effort,
            ItemEstimator::Ridge(ridge) => &mut ridge.effort,
            ItemEstimator::Rvm(machine) => &mut machine.effort,
            ItemEstimator::RankL1(svm) => &mut svm.effort,
        }
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        match self {
            ItemEstimator::Rank(svm) => svm.check(),
            ItemEstimator::Swap(svm) => svm.check(),
            ItemEstimator::Ridge(ridge) => ridge.check(),
            ItemEstimator::Rvm(machine) => machine.check(),
            ItemEstimator::RankL1(svm) => svm.check(),
        }
    }

    /// Fits a model, starting from another one (only rank and swap can), while `watch` looks on, and perhaps stops it.
    pub fn fit_from(&self, data: &Ranking, start: Option<&Model>, watch: &dyn Watch) -> Result<Fit> {
        match self {
            ItemEstimator::Rank(svm) => svm.fit_from(data, start, watch),
            ItemEstimator::Swap(svm) => svm.fit_from(data, start, watch),
            _ if start.is_some() => Err(Error::Unsupported {
                problem: format!("--method {} does not start from another model", self.method().name()),
                remedy: "leave the model out".into(),
            }),
            ItemEstimator::Ridge(ridge) => ridge.fit_watched(data, watch),
            ItemEstimator::Rvm(machine) => machine.fit_watched(data, watch),
            ItemEstimator::RankL1(svm) => svm.fit_watched(data, watch),
        }
    }
}

impl From<RankSvm> for ItemEstimator {
    fn from(svm: RankSvm) -> Self {
        ItemEstimator::Rank(svm)
    }
}

impl From<SwapSvm> for ItemEstimator {
    fn from(svm: SwapSvm) -> Self {
        ItemEstimator::Swap(svm)
    }
}

impl From<Ridge> for ItemEstimator {
    fn from(ridge: Ridge) -> Self {
        ItemEstimator::Ridge(ridge)
    }
}

impl From<RankingVectorMachine> for ItemEstimator {
    fn from(machine: RankingVectorMachine) -> Self {
        ItemEstimator::Rvm(machine)
    }
}

impl From<OneNormRankSvm> for ItemEstimator {
    fn from(svm: OneNormRankSvm) -> Self {
        ItemEstimator::RankL1(svm)
    }
}
