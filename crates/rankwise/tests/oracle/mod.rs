//! Slow and obvious twins, and numbers from independent solvers.

mod scikit_learn;
