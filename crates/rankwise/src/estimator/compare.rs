//! The support vector comparison machine (SVMcompare).

use super::common::{Effort, Fit, setters};
use super::pairs::PairMachine;
use crate::data::{Comparisons, Scale};
use crate::error::Result;
use crate::kernel::{Approx, Kernel};
use crate::loss::Loss;
use crate::model::{Balance, Method, ThresholdRule, TieBandKind, TieRegion};
use crate::progress::{Unwatched, Watch};

/// The support vector comparison machine: learns r(x) and when a difference does not matter.
///
/// With z = u·(Φ(right) − Φ(left)), non-ties oriented so that z should be positive, it minimises over u and β
///
/// ½‖u‖² + C·\[Σ_non-ties c·ℓ(1 − β − z) + Σ_ties c·(ℓ(1 + β + z) + ℓ(1 + β − z))\]
///
/// and scores by −u/β (by u when β ≥ 0). With the logistic loss it minimises ½‖u‖² − C·Σ c·log P instead, where
/// P(right) = σ(z − τ), P(left) = σ(−z − τ) and the rest is P(tie) (Rao and Kupper 1967), over u and τ ≥ 0, and scores by u.
/// With a tie band β is β + v·s, s the mean of both sides, their absolute difference and the comparison's own columns, and v
/// is penalised like u.
/// Venuto, Hocking, Spanurattana, Sugiyama: *Support vector comparison machines*.
/// Kernel machines take memory for rows up to `effort.cache_mb` and time between linear and quadratic in the number of
/// pairs, growing with C.
///
/// ```
/// use rankwise::data::simulate::{Norm, Simulation};
/// use rankwise::{CompareSvm, Kernel};
///
/// let draw = |seed| Simulation { norm: Norm::L2, n_pairs: 200, ties: 0.5, noise: 0.25, seed }.draw();
/// let fit = CompareSvm::new().c(10.0).kernel(Kernel::rbf(0.25)).fit(&draw(1)?)?;
/// let test = draw(2)?;
/// let outcomes = fit.model.compare(&test.set)?;
/// let wrong = outcomes.iter().zip(&test.outcomes).filter(|(a, b)| a != b).count();
/// assert!(wrong < 40);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompareSvm {
    /// C multiplies the sum of weighted losses.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// What stands for the kernel, if anything does.
    pub approx: Option<Approx>,
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
    /// Whether the tie region depends on the pair; for the losses squared hinge and logistic.
    pub tie_band: TieBandKind,
    /// Whether margins get probabilities, fitted to pairs that were held out; the logistic loss has its own.
    pub calibrate: bool,
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
            approx: None,
            loss: Loss::SquaredHinge,
            threshold: ThresholdRule::Refit,
            tie_region: TieRegion::Free,
            tie_weight: 1.0,
            balance: Balance::None,
            tie_band: TieBandKind::Constant,
            calibrate: false,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }
}

impl CompareSvm {
    /// Default parameters: C 1, linear kernel, squared hinge, re-fitted threshold.
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
        /// Sets the loss.
        loss: Loss,
        /// Sets where the threshold comes from.
        threshold: ThresholdRule,
        /// Sets whether β is capped at −1.
        tie_region: TieRegion,
        /// Sets what multiplies the weights of ties.
        tie_weight: f64,
        /// Sets how outcomes are weighted against each other.
        balance: Balance,
        /// Sets whether the tie region depends on the pair.
        tie_band: TieBandKind,
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
            method: Method::Compare,
            c: self.c,
            kernel: self.kernel,
            approx: self.approx,
            loss: self.loss,
            threshold: self.threshold,
            tie_region: self.tie_region,
            tie_weight: self.tie_weight,
            balance: self.balance,
            tie_band: self.tie_band,
            calibrate: self.calibrate,
            scale: self.scale,
            effort: self.effort,
        }
    }
}
