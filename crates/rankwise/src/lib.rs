//! Learn to **rank** and to **compare** with support vector machines.
//!
//! Pairs of items were judged: *left better*, *no difference*, *right better*. A comparer learns a ranking function
//! r(x) **and** when a difference does not matter: with margin = r(right) − r(left), a pair with |margin| ≤ threshold is a
//! tie. Ties are data.
//!
//! The machine ([`CompareSvm`]) minimises over u and β, with z = u·(Φ(right) − Φ(left)) and non-ties oriented so that z
//! should be positive,
//!
//! ½‖u‖² + C·\[Σ_non-ties c·ℓ(1 − β − z) + Σ_ties c·(ℓ(1 + β + z) + ℓ(1 + β − z))\];
//!
//! [`CompareRank`] holds the two baselines. Data flow one way:
//!
//! [`io`] → [`data`] → estimator ([`CompareSvm`], [`CompareRank`]) → [`Model`] → margins → [`metrics`] → [`selection`]
//!
//! ```
//! use rankwise::data::simulate::{Norm, Simulation};
//! use rankwise::metrics::Judged;
//! use rankwise::{CompareSvm, Kernel};
//!
//! let simulate = |seed| Simulation { norm: Norm::L1, n_pairs: 300, ties: 0.5, noise: 0.25, seed }.draw();
//! let (train, test) = (simulate(1)?, simulate(2)?);
//!
//! let fit = CompareSvm::new().c(10.0).kernel(Kernel::rbf(0.5)).fit(&train)?;
//! assert!(fit.model.training.gap <= 1e-3);
//!
//! let verdicts = fit.model.judge(&test.set)?;
//! let judged = Judged::of(&test.outcomes, &verdicts, None)?;
//! assert!(judged.zero_one() < Some(0.2));
//! # Ok::<(), rankwise::Error>(())
//! ```
//!
//! [`rating`] needs no features: leaderboards from games between players, with intervals and ties.
//!
//! Nothing here prints or panics on what a user can cause. The same data and seed give the same model, whatever the number of
//! threads.

pub mod data;
mod error;
pub mod estimator;
pub mod export;
pub mod io;
pub mod kernel;
mod loss;
mod math;
pub mod metrics;
pub mod model;
mod problem;
mod progress;
pub mod rating;
pub mod selection;
mod solver;

pub use error::{Error, Place, Result};
pub use estimator::{
    CompareLp, CompareRank, CompareSvm, Davidson, Effort, Fit, ItemEstimator, LabelData, LabelEstimator,
    OneNormRankSvm, OnlineSvm, OrdinalSvm, PairEstimator, RankSvm, RankingVectorMachine, Ridge, SvmClassifier,
    SvmRegressor, SwapSvm, Variant,
};
pub use kernel::{Approx, Gamma, Kernel};
pub use loss::Loss;
pub use model::Model;
pub use progress::{Progress, Stop, Unwatched, Watch};

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
