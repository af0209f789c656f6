//! Slow and obvious twins, and numbers from independent solvers.

mod metrics;
mod paper_claim;
mod scikit_learn;
mod simulate;
