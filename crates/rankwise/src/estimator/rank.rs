//! stub
use super::{Effort, Fit};
use crate::data::{Comparisons, Scale};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::loss::Loss;
use crate::progress::{Unwatched, Watch};

/// Which pairs the ranking SVM sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variant {
    /// The non-ties.
    #[default]
    Rank,
    /// Each non-tie twice, each tie as two opposite pairs.
    Rank2,
}

/// Ranking SVM on pairs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompareRank {
    /// Which pairs the ranking SVM sees.
    pub variant: Variant,
    /// C multiplies the sum of weighted losses.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// The loss.
    pub loss: Loss,
    /// Multiplies the weights of ties.
    pub tie_weight: f64,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl CompareRank {
    /// Default parameters.
    pub fn new(variant: Variant) -> Self {
        CompareRank { variant, c: 1.0, kernel: Kernel::Linear, loss: Loss::SquaredHinge, tie_weight: 1.0, scale: Scale::None, effort: Effort::default() }
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
