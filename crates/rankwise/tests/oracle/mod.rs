//! Slow and obvious twins, and numbers from independent solvers.

mod conic;
mod scikit_learn;
