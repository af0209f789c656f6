//! Data, loss, kernel and C turned into what a solver can eat.

pub(crate) mod threshold;
