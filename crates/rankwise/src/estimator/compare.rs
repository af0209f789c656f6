//! stub
use super::{Effort, Fit};
use crate::data::{Comparisons, Scale};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::loss::Loss;
use crate::model::{Balance, ThresholdRule, TieRegion};
use crate::progress::{Unwatched, Watch};

/// The support vector comparison machine.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompareSvm {
    /// C multiplies the sum of weighted losses.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// The loss.
    pub loss: Loss,
    /// Where the threshold comes from.
    pub threshold: ThresholdRule,
    /// Whether β is capped at −1.
    pub tie_region: TieRegion,
    /// Multiplies the weights of ties.
    pub tie_weight: f64,
    /// How outcomes are weighted against each other.
    pub balance: Balance,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for CompareSvm {
    fn default() -> Self {
        CompareSvm {
            c: 1.0,
            kernel: Kernel::Linear,
            loss: Loss::SquaredHinge,
            threshold: ThresholdRule::Refit,
            tie_region: TieRegion::Free,
            tie_weight: 1.0,
            balance: Balance::None,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }
}

impl CompareSvm {
    /// Default parameters.
    pub fn new() -> Self {
        Self::default()
    }
    /// Fits.
    pub fn fit(&self, data: &Comparisons) -> Result<Fit> {
        self.fit_watched(data, &Unwatched)
    }
    /// Fits while `watch` looks on.
    pub fn fit_watched(&self, _data: &Comparisons, _watch: &dyn Watch) -> Result<Fit> {
        Err(Error::Unsupported { problem: "not yet".into(), remedy: "wait".into() })
    }
}
