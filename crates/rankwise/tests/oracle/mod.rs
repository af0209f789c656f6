//! Slow and obvious twins, and numbers from independent solvers.

pub(crate) mod conic;
mod scikit_learn;
