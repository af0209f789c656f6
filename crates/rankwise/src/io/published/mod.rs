//! Data sets as their makers publish them, one file for each form. Nothing is shipped: a path comes from the user, and what
//! lies there may be compressed (`.gz`, `.xz`, `.zst`).
//!
//! What a loader leaves out of a file (missing values, trap questions, skipped answers) it counts.

mod arff;
mod files;

pub use arff::{ArffAttribute, ArffKind, ArffRanking, ArffTable, ArffTarget, ArffValue, read_arff};
