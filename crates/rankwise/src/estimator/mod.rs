//! Methods a user can name: parameters, checks and the wiring from data to model.

mod common;
mod compare;
mod online;
mod online_run;
mod online_start;
mod online_terms;
mod pair_estimator;
mod pair_solution;
mod pairs;
mod rank;
mod rank_svm;
mod rank_trial;
mod trials;

pub use common::{Effort, Fit};
pub use compare::CompareSvm;
pub use online::OnlineSvm;
pub use online_run::OnlineRun;
pub use pair_estimator::PairEstimator;
pub use rank::{CompareRank, Variant};
pub use rank_svm::RankSvm;
pub(crate) use rank_svm::check_width;
pub(crate) use rank_trial::{RankTrial, unit_of_c};
pub(crate) use trials::{HeldOut, Path, Trials};
