//! Learn to **rank** and to **compare** with support vector machines.

pub mod data;
mod error;
pub mod estimator;
pub mod io;
pub mod kernel;
mod loss;
mod math;
pub mod metrics;
pub mod model;
mod problem;
mod progress;
mod solver;

pub use error::{Error, Place, Result};
pub use estimator::{CompareRank, CompareSvm, Effort, Fit, Variant};
pub use kernel::{Gamma, Kernel};
pub use loss::Loss;
pub use model::Model;
pub use progress::{Progress, Stop, Unwatched, Watch};
