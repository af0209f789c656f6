//! What all estimators share: limits on the work, and the result.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::model::Model;

/// How much work a fit may do, and with what.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Effort {
    /// The relative duality gap at which to stop.
    pub tol: f64,
    /// The most iterations to make; `None`: no limit.
    pub max_iter: Option<u64>,
    /// The longest time to take; `None`: no limit.
    pub time_limit: Option<Duration>,
    /// Memory for kernel rows, in MiB.
    pub cache_mb: usize,
    /// Threads; 0 means all. The result does not depend on it.
    pub threads: usize,
    /// Seed of whatever is random.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { tol: 1e-3, max_iter: None, time_limit: None, cache_mb: 512, threads: 0, seed: 0 }
    }
}

impl Effort {
    pub(super) fn check(&self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol < 1.0) {
            return Err(Error::parameter("tol", self.tol, "a number above 0 and below 1"));
        }
        Ok(())
    }
}

/// A fitted model and what fitting it took.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The model, with its training report.
    pub model: Model,
    /// Seconds of training.
    pub seconds: f64,
    /// Threads used.
    pub threads: usize,
}
