//! Slow and obvious twins, and numbers from independent solvers.

mod both;
pub(crate) mod classify;
pub(crate) mod conic;
mod few_pairs;
mod hard_pairs;
mod item_landmarks;
mod joint_classes;
mod kernel_items;
mod kernel_rank;
pub(crate) mod likelihoods;
mod metrics;
pub(crate) mod ordinal;
mod pair_landmarks;
mod pairwise;
mod paper_claim;
pub(crate) mod plain;
mod programs;
pub(crate) mod rank_items;
mod ranking_fixtures;
pub(crate) mod ranking_metrics;
mod ratings;
mod ratings_online;
mod regress;
mod ridge;
mod scikit_learn;
mod simulate;
mod swap;
