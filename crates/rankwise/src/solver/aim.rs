//! When a search may end.

use crate::problem::{Certificate, MirroredQp};

/// What the search is after: an absolute gap.
pub(super) struct Aim {
    tol: f64,
    /// No dual value can be more, if the matrix is positive semidefinite; infinite where bounds hold it anyway.
    most: f64,
    /// The primal value of u = 0.
    at_zero: f64,
    /// By how much an answer must beat u = 0, where that may be the optimum.
    resolution: Option<f64>,
    /// Absolute gap beyond which a certificate is not worth its price, whatever the primal value.
    ceiling: f64,
    /// What the estimate is multiplied with before it is believed.
    caution: f64,
    best_gap: f64,
    best_dual: f64,
    /// Certificates in a row that brought no progress.
    fruitless: u32,
    /// Certificates that did not keep what the estimate had promised.
    broken_promises: u32,
    /// Times that the search ran out of patience.
    impatient: u32,
}

/// Why the search asks for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// The estimated gap is small enough.
    Promising,
    /// The estimate has not come down for long, or no step is left in this precision.
    Impatient,
}

impl Aim {
    pub(super) fn new(problem: &dyn MirroredQp, tol: f64) -> Self {
        let at_zero = problem.objective_at_zero();
        Aim {
            tol,
            most: if problem.duals().iter().all(|d| d.upper.is_finite()) { f64::INFINITY } else { at_zero },
            at_zero,
            resolution: problem.collapse_resolution().map(|resolution| resolution.min(tol * at_zero)),
            ceiling: f64::INFINITY,
            caution: 1.1,
            best_gap: f64::INFINITY,
            best_dual: f64::NEG_INFINITY,
            fruitless: 0,
            broken_promises: 0,
            impatient: 0,
        }
    }

    /// The absolute gap that is small enough at this certificate.
    fn allowed(&self, certificate: &Certificate) -> f64 {
        let allowed = self.tol * certificate.primal.max(1e-12);
        match self.resolution {
            // An answer must beat the constant one by more than its own uncertainty, or it is noise.
            Some(resolution) => allowed.min((0.1 * (self.at_zero - certificate.primal)).max(resolution)),
            None => allowed,
        }
    }

    /// Whether the search may end, and then whether the constant answer is optimal.
    pub(super) fn is_met(&self, certificate: &Certificate) -> Option<bool> {
        // A dual value far above a primal one is rounding that has swallowed the objective: no certificate.
        if let Some(resolution) = self.resolution
            && (self.at_zero - certificate.dual).abs() <= resolution
        {
            return Some(true);
        }
        ((certificate.primal - certificate.dual).abs() <= self.allowed(certificate)).then_some(false)
    }

    /// Learns from a certificate.
    pub(super) fn adjust(&mut self, certificate: &Certificate, occasion: Occasion) {
        let gap = (certificate.primal - certificate.dual).abs();
        let gained = gap < 0.9 * self.best_gap || certificate.dual - self.best_dual > 1e-4 * gap;
        self.fruitless = if gained { 0 } else { self.fruitless + 1 };
        self.best_gap = self.best_gap.min(gap);
        self.best_dual = self.best_dual.max(certificate.dual);
        self.ceiling = self.allowed(certificate);
        match occasion {
            Occasion::Impatient => self.impatient += 1,
            Occasion::Promising if gap > self.ceiling => {
                self.broken_promises += 1;
                self.caution = (2.0 * self.caution).min(16.0);
            }
            Occasion::Promising => {}
        }
    }

    /// Whether rows of this precision can do no more: the dual value no longer moves, it has run away, or the margins
    /// they lead to are not the ones that a certificate finds.
    pub(super) fn is_hopeless(&self, certificate: &Certificate, is_narrow: bool) -> bool {
        self.fruitless >= 4
            || !certificate.primal.is_finite()
            || self.has_run_away(certificate.dual)
            || (is_narrow && self.broken_promises >= 4)
    }

    /// Whether the dual value lies where no positive semidefinite matrix lets it; without bounds on the variables it
    /// would grow for ever.
    pub(super) fn has_run_away(&self, dual: f64) -> bool {
        dual.is_nan() || dual - self.most > 1e-6 * self.most
    }

    /// The estimated absolute gap at which a certificate is due, for an estimated primal value.
    pub(super) fn estimate(&self, primal: f64) -> f64 {
        (self.tol * primal).min(self.ceiling) / self.caution
    }

    /// Steps after which a certificate is due all the same: more of them every time.
    pub(super) fn patience(&self, n_pairs: usize) -> u64 {
        (4 * n_pairs as u64 + 20_000) << self.impatient.min(20)
    }
}
