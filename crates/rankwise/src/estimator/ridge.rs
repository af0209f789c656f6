//! Ridge regression: least squares on the labels of items.

use std::time::Instant;

use super::common::{Effort, Fit, setters};
use super::item_ranker::{Record, Solution, check_width, why_to_scale};
use crate::data::{Ranking, Scale};
use crate::error::{Error, Place, Result};
use crate::loss::Loss;
use crate::model::{Balance, Method};
use crate::problem::RidgeProblem;
use crate::progress::{Stop, Unwatched, Watch};
use crate::solver::least_squares;

/// Ridge regression with scores r(x) = w·x + b that should equal the labels:
///
/// ½‖w‖² + C·Σ c·(y − w·x − b)²
///
/// c is an item's weight (times that of its group); b is not penalised. Groups do not matter: labels are compared across all
/// items, as numbers. Up to about 2000 features the answer is exact, by Cholesky; for more of them by conjugate gradients to
/// the tolerance.
///
/// ```
/// use rankwise::data::{Features, Items, Precision, Ranking};
/// use rankwise::Ridge;
///
/// let items = Items::new(Features::dense(1, vec![1.0, 2.0, 3.0], Precision::Auto)?, None, None)?;
/// let data = Ranking::new(items, vec![12.0, 14.0, 16.0], None)?;
/// let scores = Ridge::new().c(1e9).fit(&data)?.model.scorer.scores(&data.items)?;
/// assert!((scores[0] - 12.0).abs() < 1e-6 && (scores[2] - 16.0).abs() < 1e-6);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ridge {
    /// C multiplies the sum of weighted squares; finite.
    pub c: f64,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for Ridge {
    fn default() -> Self {
        Self::new()
    }
}

impl Ridge {
    /// Default parameters: C 1.
    pub fn new() -> Self {
        Ridge { c: 1.0, scale: Scale::None, effort: Effort::default() }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted squares.
        c: f64,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how much work a fit may do.
        effort: Effort,
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::parameter("C", self.c, "a finite number above 0"));
        }
        self.effort.check()
    }

    /// Fits a model.
    pub fn fit(&self, data: &Ranking) -> Result<Fit> {
        self.fit_watched(data, &Unwatched)
    }

    /// Fits a model while `watch` looks on, and perhaps stops it.
    pub fn fit_watched(&self, data: &Ranking, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        check_width(&data.items.features)?;
        let started = Instant::now();
        self.effort.in_pool(|threads| {
            let features = &data.items.features;
            let scaler = data.scaler(self.scale);
            let near = data.near_zero();
            let divisors = scaler.as_ref().map(|scaler| scaler.divisor.as_slice());
            let problem = RidgeProblem::new(&near, divisors, self.c);
            if problem.n_items() == 0 {
                let what = if data.n_items() == 0 { "there is no item" } else { "every weight is 0" };
                return Err(Error::data(Place::file("items"), what, "give items with labels, with weights above 0"));
            }
            let minimum = least_squares::minimise(&problem, self.effort.limits(started, watch));
            let shift = scaler.as_ref().map(|scaler| scaler.shift.as_slice());
            let solution = Solution {
                bias: problem.best_bias(&minimum.weights, features, shift),
                objective: minimum.value,
                gap: minimum.gap(),
                steps: minimum.steps,
                stop: minimum.stop.unwrap_or(Stop::Converged),
                weights: minimum.weights,
            };
            let record = Record {
                method: Method::Ridge,
                loss: Loss::Squared,
                c: self.c,
                balance: Balance::None,
                normalise: false,
                pairs_per_item: None,
                approx: None,
                scale: self.scale,
                effort: &self.effort,
                counts: None,
                items: problem.n_items(),
                certificate: "relative duality gap",
                margin: None,
                warnings: why_to_scale(self.scale, &data.items).into_iter().collect(),
            };
            let model = record.model(solution.checked()?, &data.items, scaler.as_ref());
            Fit::new(model, &data.items, started, threads)
        })
    }
}
