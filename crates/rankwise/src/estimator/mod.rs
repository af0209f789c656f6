//! Methods a user can name: parameters, checks and the wiring from data to model.

mod both;
mod calibration;
mod class_chances;
mod class_machines;
mod classify;
mod common;
mod compare;
mod davidson;
mod given;
mod item_dual;
mod item_estimator;
mod item_machine;
mod item_model;
mod item_ranker;
mod label_estimator;
mod label_trials;
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
mod regress;
mod ridge;
mod swap_svm;
mod trials;

pub(crate) use class_machines::is_same_class;
pub use classify::SvmClassifier;
pub use common::{Effort, Fit};
pub use compare::CompareSvm;
pub use davidson::Davidson;
pub use given::GivenMachines;
pub use item_estimator::ItemEstimator;
pub(crate) use item_ranker::check_width;
pub use label_estimator::{LabelData, LabelEstimator};
pub(crate) use label_trials::{
    HeldLabels, LabelPath, LabelTrials, TrialItems, TrialLabels, TrialPart, label_scale_gamma,
};
pub use online::OnlineSvm;
pub use online_run::OnlineRun;
pub use pair_estimator::PairEstimator;
pub use rank::{CompareRank, Variant};
pub use rank_svm::RankSvm;
pub(crate) use rank_trial::{RankTrial, unit_of_c};
pub use regress::SvmRegressor;
pub use ridge::Ridge;
pub use swap_svm::SwapSvm;
pub(crate) use trials::{HeldOut, Path, Trials};
