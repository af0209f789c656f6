//! Losses ℓ(t) of a slack t = 1 − margin, as scalar arithmetic: the primal value and the shape of the dual.
//!
//! With weight c, the dual of c·ℓ(t) is  max over a of  a·t − D(a):
//! hinge: 0 ≤ a ≤ c, D = 0;  squared hinge: 0 ≤ a, D = a²/(4c), that is a diagonal shift of 1/(2c). The logistic loss is
//! there in the primal alone; on judged pairs it is the likelihood of Rao and Kupper.

use crate::error::{Error, Result};

/// A loss of the slack of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Loss {
    /// max(0, t)
    Hinge,
    /// max(0, t)²
    #[default]
    SquaredHinge,
    /// log(1 + e^(t−1))
    Logistic,
    /// t², of the difference t between label and score: ridge regression has no other.
    Squared,
    /// max(0, t), t by how much |label − score| exceeds ε: regression within a tube.
    Epsilon,
    /// max(0, t)² of the same.
    SquaredEpsilon,
}

impl Loss {
    /// All losses of pairs.
    pub const ALL: [Loss; 3] = [Loss::Hinge, Loss::SquaredHinge, Loss::Logistic];

    /// Those of which judged pairs have dual variables; the logistic loss is a likelihood there.
    pub const OF_PAIRS: [Loss; 2] = [Loss::Hinge, Loss::SquaredHinge];

    /// Those of a classifier.
    pub const OF_CLASSES: [Loss; 2] = [Loss::Hinge, Loss::SquaredHinge];

    /// Those of a regression within a tube.
    pub const OF_TUBES: [Loss; 2] = [Loss::Epsilon, Loss::SquaredEpsilon];

    /// Refuses losses that rankers and comparers do not have.
    pub(crate) fn check_of_order(self) -> Result<()> {
        match Loss::ALL.contains(&self) {
            true => Ok(()),
            false => Err(Error::parameter("loss", self.name(), "hinge, squared-hinge or logistic")),
        }
    }

    /// Whether it is the square of another one.
    pub fn is_squared(self) -> bool {
        matches!(self, Loss::SquaredHinge | Loss::Squared | Loss::SquaredEpsilon)
    }

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Hinge => "hinge",
            Loss::SquaredHinge => "squared-hinge",
            Loss::Logistic => "logistic",
            Loss::Squared => "squared",
            Loss::Epsilon => "epsilon",
            Loss::SquaredEpsilon => "squared-epsilon",
        }
    }

    /// ℓ(t)
    #[inline]
    pub fn value(self, t: f64) -> f64 {
        match self {
            Loss::Hinge | Loss::Epsilon => t.max(0.0),
            Loss::SquaredHinge | Loss::SquaredEpsilon => t.max(0.0) * t.max(0.0),
            Loss::Logistic => (t - 1.0).max(0.0) + (-(t - 1.0).abs()).exp().ln_1p(),
            Loss::Squared => t * t,
        }
    }

    /// ℓ′(t); at a kink the slope from the right.
    #[inline]
    pub fn slope(self, t: f64) -> f64 {
        match self {
            Loss::Hinge | Loss::Epsilon => f64::from(t >= 0.0),
            Loss::SquaredHinge | Loss::SquaredEpsilon => 2.0 * t.max(0.0),
            Loss::Logistic => 1.0 / (1.0 + (1.0 - t).exp()),
            Loss::Squared => 2.0 * t,
        }
    }

    /// The largest dual variable of c·ℓ.
    pub fn dual_upper(self, c: f64) -> f64 {
        match self {
            Loss::Hinge | Loss::Logistic | Loss::Epsilon => c,
            Loss::SquaredHinge | Loss::Squared | Loss::SquaredEpsilon => f64::INFINITY,
        }
    }

    /// What c·ℓ adds to the diagonal of the dual's quadratic form.
    pub fn dual_shift(self, c: f64) -> f64 {
        match self {
            Loss::Hinge | Loss::Logistic | Loss::Epsilon => 0.0,
            Loss::SquaredHinge | Loss::Squared | Loss::SquaredEpsilon => 0.5 / c,
        }
    }
}
