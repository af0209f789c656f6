//! Why a solver stopped, and how a caller looks on while it runs.

/// Why a solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The certificate met the tolerance.
    Converged,
    /// The allowed number of iterations was used up.
    MaxIter,
    /// The allowed time was used up.
    TimeLimit,
    /// The caller asked to stop.
    Interrupted,
    /// No further progress is possible in floating point (or the kernel is not positive definite).
    Stalled,
}

impl Stop {
    /// Why the tolerance was not met, in words; `None` where it was.
    pub(crate) fn reason(self) -> Option<&'static str> {
        match self {
            Stop::Converged => None,
            Stop::MaxIter => Some("the allowed number of iterations was used up"),
            Stop::TimeLimit => Some("the allowed time was used up"),
            Stop::Interrupted => Some("training was interrupted"),
            Stop::Stalled => Some("no further progress is possible in floating point"),
        }
    }

    /// What to tell the user where the tolerance was not met.
    pub(crate) fn shortfall(self, gap: f64, tol: f64) -> Option<String> {
        let why = self.reason()?;
        Some(format!("not converged: {why}; the relative gap is {gap:.1e}, {tol:.0e} was asked for"))
    }

    /// What it means that all of these numbers are 0, where a search ended so.
    pub(crate) fn why_nothing(self, numbers: &str) -> String {
        let why = match self {
            Stop::Converged => "the features say nothing of the labels, or C is too small for them",
            _ => "nothing better was found so far",
        };
        format!("all {numbers} are 0, so that all scores are equal: {why}")
    }

    /// The word in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Converged => "converged",
            Stop::MaxIter => "max_iter",
            Stop::TimeLimit => "time_limit",
            Stop::Interrupted => "interrupted",
            Stop::Stalled => "stalled",
        }
    }
}

/// Where a solver stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Iterations so far.
    pub iterations: u64,
    /// The solver's estimate of the relative gap.
    pub gap: f64,
    /// The relative gap at which it will stop.
    pub tol: f64,
}

/// Looks on while a solver runs. May be called from any thread.
pub trait Watch: Sync {
    /// Called every now and then; `false` asks the solver to stop.
    fn on_progress(&self, progress: Progress) -> bool;
}

/// Lets the solver run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn on_progress(&self, _: Progress) -> bool {
        true
    }
}

/// Tells how many parts of a work are done, of which no gap is known; an error if it should stop.
pub(crate) fn keep_going(watch: &dyn Watch, n_done: usize) -> crate::error::Result<()> {
    match watch.on_progress(Progress { iterations: n_done as u64, gap: f64::NAN, tol: f64::NAN }) {
        true => Ok(()),
        false => Err(crate::error::Error::Interrupted),
    }
}
