//! What all estimators share: limits on the work, and the result.

use std::time::{Duration, Instant};

use crate::data::Items;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::progress::{Stop, Watch};
use crate::solver::Limits;

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

/// An error of work that did not go on: it was interrupted, or the time was over.
pub(super) fn out_of_time(error: Error, limits: Limits<'_>) -> Error {
    match (error, limits.reached(0, f64::NAN)) {
        (Error::Interrupted, Some(Stop::TimeLimit)) => Error::Search {
            problem: "the allowed time was used up before there was any model".into(),
            remedy: "allow more time (--time-limit)".into(),
        },
        (error, _) => error,
    }
}

impl Effort {
    /// The most threads that can be asked for.
    pub const MOST_THREADS: usize = 4096;

    pub(super) fn check(&self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol < 1.0) {
            return Err(Error::parameter("tol", self.tol, "a number above 0 and below 1"));
        }
        if self.cache_mb > 1 << 30 {
            return Err(Error::parameter("cache_mb", self.cache_mb, "MiB that exist"));
        }
        Self::check_threads(self.threads)
    }

    /// Refuses more threads than a machine might have.
    pub fn check_threads(threads: usize) -> Result<()> {
        if threads <= Self::MOST_THREADS {
            return Ok(());
        }
        Err(Error::parameter("threads", threads, format!("at most {}", Self::MOST_THREADS)))
    }

    /// The same for a solver that started then.
    pub(super) fn limits<'a>(&self, started: Instant, watch: &'a dyn Watch) -> Limits<'a> {
        Limits {
            tol: self.tol,
            max_iter: self.max_iter.unwrap_or(u64::MAX),
            // A time beyond what the clock can name is no limit.
            deadline: self.time_limit.and_then(|limit| started.checked_add(limit)),
            watch,
        }
    }

    /// Runs `work` with the asked number of threads, and tells it how many there are.
    pub(super) fn in_pool<R: Send>(&self, work: impl FnOnce(usize) -> Result<R> + Send) -> Result<R> {
        if self.threads == 0 {
            return work(rayon::current_num_threads());
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        match pool {
            Ok(pool) => pool.install(|| work(self.threads)),
            Err(e) => Err(Error::Unsupported {
                problem: format!("{} threads cannot be started: {e}", self.threads),
                remedy: "ask for fewer threads".into(),
            }),
        }
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

impl Fit {
    /// A model that was fitted to these items, from `started` on. Its support items are called what the items are called.
    pub(super) fn new(mut model: Model, items: &Items, started: Instant, threads: usize) -> Result<Fit> {
        if let Some(ids) = &items.ids {
            let rows = model.scorer.support_among(items)?;
            model.training.support_names =
                rows.map(|rows| rows.into_iter().map(|row| ids[row as usize].clone()).collect());
        }
        Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads })
    }
}

/// Consuming setters named like the fields they set.
macro_rules! setters {
    ($($(#[$meta:meta])* $field:ident: $ty:ty),* $(,)?) => {
        $(
            $(#[$meta])*
            #[must_use]
            pub fn $field(mut self, $field: $ty) -> Self {
                self.$field = $field;
                self
            }
        )*
        /// Sets the relative duality gap at which to stop.
        #[must_use]
        pub fn tol(mut self, tol: f64) -> Self {
            self.effort.tol = tol;
            self
        }
        /// Sets the number of threads; 0 means all. The result does not depend on it.
        #[must_use]
        pub fn threads(mut self, threads: usize) -> Self {
            self.effort.threads = threads;
            self
        }
    };
}
pub(super) use setters;
