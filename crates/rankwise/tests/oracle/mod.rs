//! Slow and obvious twins, and numbers from independent solvers.

pub(crate) mod conic;
pub(crate) mod plain;
mod scikit_learn;
