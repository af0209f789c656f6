//! Methods a user can name: parameters, checks and the wiring from data to model.

mod calibration;
mod common;
mod compare;
mod davidson;
mod pair_estimator;
mod pair_solution;
mod pair_weights;
mod pairs;
mod rank;
mod rank_svm;
mod rank_trial;
mod trials;

pub use common::{Effort, Fit};
pub use compare::CompareSvm;
pub use davidson::Davidson;
pub use pair_estimator::PairEstimator;
pub use rank::{CompareRank, Variant};
pub use rank_svm::RankSvm;
pub(crate) use rank_svm::check_width;
pub(crate) use rank_trial::{RankTrial, unit_of_c};
pub(crate) use trials::{HeldOut, Path, Trials};
