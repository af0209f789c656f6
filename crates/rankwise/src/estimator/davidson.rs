//! Davidson's model of three outcomes, learnt from features.

use super::common::{Effort, Fit, setters};
use super::pairs::PairMachine;
use crate::data::{Comparisons, Scale};
use crate::error::Result;
use crate::kernel::{Approx, Kernel};
use crate::loss::Loss;
use crate::model::{Balance, Method, ThresholdRule, TieBandKind, TieRegion};
use crate::progress::{Unwatched, Watch};

/// Davidson's model: P(left) : P(tie) : P(right) = e^(r_left) : ν·e^((r_left + r_right)/2) : e^(r_right).
///
/// It minimises ½‖w‖² − C·Σ c·log P over the weights of r and over ν, which has no penalty. With a tie band, log ν is a
/// function of the pair: linear in the mean of both sides, their absolute difference and the comparison's own columns.
///
/// ```
/// use rankwise::Davidson;
/// use rankwise::data::simulate::{Norm, Simulation};
///
/// let draw = |seed| Simulation { norm: Norm::L2, n_pairs: 200, ties: 0.5, noise: 0.25, seed }.draw();
/// let fit = Davidson::new().c(10.0).fit(&draw(1)?)?;
/// let verdicts = fit.model.judge(&draw(2)?.set)?;
/// let [left, tie, right] = verdicts.chances.unwrap_or_default()[0];
/// assert!((left + tie + right - 1.0).abs() < 1e-12);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Davidson {
    /// C multiplies the sum of weighted losses.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// What stands for the kernel, if anything does.
    pub approx: Option<Approx>,
    /// Whether the chance of a tie depends on more than the two scores.
    pub tie_band: TieBandKind,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for Davidson {
    fn default() -> Self {
        Davidson {
            c: 1.0,
            kernel: Kernel::Linear,
            approx: None,
            tie_band: TieBandKind::Constant,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }
}

impl Davidson {
    /// Default parameters: C 1, linear kernel.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses.
        c: f64,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets what stands for the kernel.
        approx: Option<Approx>,
        /// Sets whether the chance of a tie depends on more than the two scores.
        tie_band: TieBandKind,
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
            method: Method::Davidson,
            c: self.c,
            kernel: self.kernel,
            approx: self.approx,
            loss: Loss::Logistic,
            threshold: ThresholdRule::Model,
            tie_region: TieRegion::Free,
            tie_weight: 1.0,
            balance: Balance::None,
            tie_band: self.tie_band,
            calibrate: false,
            scale: self.scale,
            effort: self.effort,
        }
    }
}
