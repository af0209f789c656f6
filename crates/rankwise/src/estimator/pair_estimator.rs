//! Any method that learns from judged pairs, where the choice is made at run time.

use super::common::{Effort, Fit};
use super::compare::CompareSvm;
use super::davidson::Davidson;
use super::pairs::PairMachine;
use super::rank::{CompareRank, Variant};
use crate::data::{Comparisons, Scale};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::loss::Loss;
use crate::model::{Method, TieBandKind};
use crate::progress::{Unwatched, Watch};

/// A method that learns from judged pairs, with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum PairEstimator {
    /// The comparison machine.
    Compare(CompareSvm),
    /// Ranking SVM on pairs.
    Rank(CompareRank),
    /// Davidson's model.
    Davidson(Davidson),
}

impl From<CompareSvm> for PairEstimator {
    fn from(svm: CompareSvm) -> Self {
        PairEstimator::Compare(svm)
    }
}

impl From<CompareRank> for PairEstimator {
    fn from(svm: CompareRank) -> Self {
        PairEstimator::Rank(svm)
    }
}

impl From<Davidson> for PairEstimator {
    fn from(model: Davidson) -> Self {
        PairEstimator::Davidson(model)
    }
}

impl PairEstimator {
    /// A method with its default parameters; methods that do not learn from pairs are an error.
    pub fn new(method: Method) -> Result<Self> {
        match method {
            Method::Compare => Ok(CompareSvm::new().into()),
            Method::Rank => Ok(CompareRank::new(Variant::Rank).into()),
            Method::Rank2 => Ok(CompareRank::new(Variant::Rank2).into()),
            Method::Davidson => Ok(Davidson::new().into()),
            Method::CompareLp => Err(Error::Unsupported {
                problem: "compare-lp is a linear program of its own".into(),
                remedy: "choose compare, rank, rank2 or davidson, or use CompareLp".into(),
            }),
            _ => Err(Error::Unsupported {
                problem: format!("{} learns from items with labels, not from pairs", method.name()),
                remedy: "choose compare, rank, rank2 or davidson".into(),
            }),
        }
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.machine().method
    }

    /// C, kernel and loss: what all methods have and a grid may run over.
    pub fn shape(&self) -> (f64, Kernel, Loss) {
        match self {
            PairEstimator::Compare(svm) => (svm.c, svm.kernel, svm.loss),
            PairEstimator::Rank(svm) => (svm.c, svm.kernel, svm.loss),
            PairEstimator::Davidson(model) => (model.c, model.kernel, Loss::Logistic),
        }
    }

    /// The same method with another C, kernel and loss; Davidson's model has but one loss. Where the new loss has
    /// probabilities of its own, nothing is calibrated.
    #[must_use]
    pub fn shaped(mut self, c: f64, kernel: Kernel, loss: Loss) -> Self {
        match &mut self {
            PairEstimator::Compare(svm) => (svm.c, svm.kernel, svm.loss) = (c, kernel, loss),
            PairEstimator::Rank(svm) => (svm.c, svm.kernel, svm.loss) = (c, kernel, loss),
            PairEstimator::Davidson(model) => (model.c, model.kernel) = (c, kernel),
        }
        let has_its_own = self.clone().calibrated(false).has_chances();
        if has_its_own { self.calibrated(false) } else { self }
    }

    /// The same method, its margins calibrated or not; Davidson's model never is.
    #[must_use]
    pub fn calibrated(mut self, calibrate: bool) -> Self {
        match &mut self {
            PairEstimator::Compare(svm) => svm.calibrate = calibrate,
            PairEstimator::Rank(svm) => svm.calibrate = calibrate,
            PairEstimator::Davidson(_) => {}
        }
        self
    }

    /// Whether its models have probabilities.
    pub fn has_chances(&self) -> bool {
        self.machine().has_chances()
    }

    /// Whether the tie region of its models depends on the pair.
    pub fn tie_band(&self) -> TieBandKind {
        match self {
            PairEstimator::Compare(svm) => svm.tie_band,
            PairEstimator::Rank(_) => TieBandKind::Constant,
            PairEstimator::Davidson(model) => model.tie_band,
        }
    }

    /// The scaling of features.
    pub fn scale(&self) -> Scale {
        match self {
            PairEstimator::Compare(svm) => svm.scale,
            PairEstimator::Rank(svm) => svm.scale,
            PairEstimator::Davidson(svm) => svm.scale,
        }
    }

    /// The scaling of features, to be changed.
    pub fn scale_mut(&mut self) -> &mut Scale {
        match self {
            PairEstimator::Compare(svm) => &mut svm.scale,
            PairEstimator::Rank(svm) => &mut svm.scale,
            PairEstimator::Davidson(svm) => &mut svm.scale,
        }
    }

    /// How much work a fit may do.
    pub fn effort(&self) -> &Effort {
        match self {
            PairEstimator::Compare(svm) => &svm.effort,
            PairEstimator::Rank(svm) => &svm.effort,
            PairEstimator::Davidson(svm) => &svm.effort,
        }
    }

    /// How much work a fit may do, to be changed.
    pub fn effort_mut(&mut self) -> &mut Effort {
        match self {
            PairEstimator::Compare(svm) => &mut svm.effort,
            PairEstimator::Rank(svm) => &mut svm.effort,
            PairEstimator::Davidson(svm) => &mut svm.effort,
        }
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        self.machine().check()
    }

    /// Fits a model.
    pub fn fit(&self, data: &Comparisons) -> Result<Fit> {
        self.fit_watched(data, &Unwatched)
    }

    /// Fits a model while `watch` looks on, and perhaps stops it.
    pub fn fit_watched(&self, data: &Comparisons, watch: &dyn Watch) -> Result<Fit> {
        self.machine().fit(data, watch)
    }

    pub(super) fn machine(&self) -> PairMachine {
        match self {
            PairEstimator::Compare(svm) => svm.machine(),
            PairEstimator::Rank(svm) => svm.machine(),
            PairEstimator::Davidson(svm) => svm.machine(),
        }
    }
}
