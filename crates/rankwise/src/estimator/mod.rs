//! Methods a user can name: parameters, checks and the wiring from data to model.

mod both;
mod calibration;
mod common;
mod compare;
mod davidson;
mod item_dual;
mod item_estimator;
mod item_ranker;
mod online;
mod online_run;
mod online_start;
mod online_terms;
mod pair_estimator;
mod pair_solution;
mod pair_weights;
mod pairs;
mod rank;
mod rank_svm;
mod rank_trial;
mod ridge;
mod swap_svm;
mod trials;

pub use common::{Effort, Fit};
pub use compare::CompareSvm;
pub use davidson::Davidson;
pub use item_estimator::ItemEstimator;
pub(crate) use item_ranker::check_width;
pub use online::OnlineSvm;
pub use online_run::OnlineRun;
pub use pair_estimator::PairEstimator;
pub use rank::{CompareRank, Variant};
pub use rank_svm::RankSvm;
pub(crate) use rank_trial::{RankTrial, unit_of_c};
pub use ridge::Ridge;
pub use swap_svm::SwapSvm;
pub(crate) use trials::{HeldOut, Path, Trials};
