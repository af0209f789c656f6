//! Slow and obvious twins, and numbers from independent solvers.

pub(crate) mod conic;
mod metrics;
mod paper_claim;
pub(crate) mod plain;
mod scikit_learn;
mod simulate;
