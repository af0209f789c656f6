//! When a search may end.

use crate::problem::{Certificate, MirroredQp};

/// What the search is after: an absolute gap.
pub(super) struct Aim {
    tol: f64,
    /// Objective of the answer u = 0, where it may be optimal.
    constant: Option<f64>,
    /// Absolute gap beyond which a certificate is not worth its price, whatever the primal value.
    ceiling: f64,
    /// What the estimate is multiplied with before it is believed.
    caution: f64,
    best_gap: f64,
    best_dual: f64,
    /// Certificates in a row that brought no progress.
    fruitless: u32,
    /// Certificates that were not good enough.
    misses: u32,
}

/// The constant answer counts as optimal when nothing beats it by more than this share.
const COLLAPSE: f64 = 1e-7;

impl Aim {
    pub(super) fn new(problem: &dyn MirroredQp, tol: f64) -> Self {
        Aim {
            tol,
            constant: problem.constant_objective(),
            ceiling: f64::INFINITY,
            caution: 1.1,
            best_gap: f64::INFINITY,
            best_dual: f64::NEG_INFINITY,
            fruitless: 0,
            misses: 0,
        }
    }

    /// The absolute gap that is small enough at this certificate.
    fn allowed(&self, certificate: &Certificate) -> f64 {
        let allowed = self.tol * certificate.primal.max(1e-12);
        match self.constant {
            // An answer must beat the constant one by more than its own uncertainty, or it is noise.
            Some(constant) => allowed.min((0.1 * (constant - certificate.primal)).max(COLLAPSE * constant)),
            None => allowed,
        }
    }

    /// Whether the search may end, and then whether the constant answer is optimal.
    pub(super) fn is_met(&self, certificate: &Certificate) -> Option<bool> {
        // A dual value far above a primal one is rounding that has swallowed the objective: no certificate.
        if let Some(constant) = self.constant
            && (constant - certificate.dual).abs() <= COLLAPSE * constant
        {
            return Some(true);
        }
        ((certificate.primal - certificate.dual).abs() <= self.allowed(certificate)).then_some(false)
    }

    pub(super) fn adjust(&mut self, certificate: &Certificate) {
        let gap = (certificate.primal - certificate.dual).abs();
        let gained = gap < 0.9 * self.best_gap || certificate.dual - self.best_dual > 0.01 * gap;
        self.fruitless = if gained { 0 } else { self.fruitless + 1 };
        self.best_gap = self.best_gap.min(gap);
        self.best_dual = self.best_dual.max(certificate.dual);
        self.ceiling = self.allowed(certificate);
        if gap > self.ceiling {
            // The estimate was too kind, or the search lost patience.
            self.misses += 1;
            self.caution = (2.0 * self.caution).min(16.0);
        }
    }

    /// Whether rows of this precision can do no more: the dual value no longer moves, or the margins they lead to are not
    /// the ones that a certificate finds.
    pub(super) fn is_hopeless(&self, is_narrow: bool) -> bool {
        self.fruitless >= 4 || (is_narrow && self.misses >= 4)
    }

    /// The estimated absolute gap at which a certificate is due, for an estimated primal value.
    pub(super) fn estimate(&self, primal: f64) -> f64 {
        (self.tol * primal).min(self.ceiling) / self.caution
    }
}
