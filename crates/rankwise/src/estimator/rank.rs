//! Ranking SVM on pairs with an exact threshold: the baselines of the comparison machine.

use super::common::{Effort, Fit, setters};
use super::pairs::PairMachine;
use crate::data::{Comparisons, Scale};
use crate::error::Result;
use crate::kernel::{Approx, Kernel};
use crate::loss::Loss;
use crate::model::{Balance, Method, ThresholdRule, TieBandKind, TieRegion};
use crate::progress::{Unwatched, Watch};

/// Which pairs the ranking SVM sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// The non-ties.
    #[default]
    Rank,
    /// Each non-tie twice, each tie as two opposite pairs.
    Rank2,
}

/// Ranking SVM on judged pairs; the threshold is the exact minimiser of the training error.
///
/// `Rank` minimises ½‖u‖² + C·Σ_non-ties c·ℓ(1 − z); `Rank2` doubles that sum and adds C·Σ_ties c·(ℓ(1 − z) + ℓ(1 + z)).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompareRank {
    /// Which pairs the ranking SVM sees.
    pub variant: Variant,
    /// C multiplies the sum of weighted losses.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// What stands for the kernel, if anything does.
    pub approx: Option<Approx>,
    /// The loss.
    pub loss: Loss,
    /// Multiplies the weights of ties.
    pub tie_weight: f64,
    /// Whether margins get probabilities, fitted to pairs that were held out.
    pub calibrate: bool,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl CompareRank {
    /// Default parameters: C 1, linear kernel, squared hinge.
    pub fn new(variant: Variant) -> Self {
        CompareRank {
            variant,
            c: 1.0,
            kernel: Kernel::Linear,
            approx: None,
            loss: Loss::SquaredHinge,
            tie_weight: 1.0,
            calibrate: false,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses.
        c: f64,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets what stands for the kernel.
        approx: Option<Approx>,
        /// Sets the loss.
        loss: Loss,
        /// Sets what multiplies the weights of ties.
        tie_weight: f64,
        /// Sets whether margins get probabilities.
        calibrate: bool,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how much work a fit may do.
        effort: Effort,
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
        PairMachine {
            method: match self.variant {
                Variant::Rank => Method::Rank,
                Variant::Rank2 => Method::Rank2,
            },
            c: self.c,
            kernel: self.kernel,
            approx: self.approx,
            loss: self.loss,
            threshold: ThresholdRule::Refit,
            tie_region: TieRegion::Free,
            tie_weight: self.tie_weight,
            balance: Balance::None,
            tie_band: TieBandKind::Constant,
            calibrate: self.calibrate,
            scale: self.scale,
            effort: self.effort,
        }
    }
}
