//! Losses ℓ(t) of a slack t = 1 − margin, as scalar arithmetic: the primal value and the shape of the dual.
//!
//! With weight c, the dual of c·ℓ(t) is  max over a of  a·t − D(a):
//! hinge: 0 ≤ a ≤ c, D = 0;  squared hinge: 0 ≤ a, D = a²/(4c), that is a diagonal shift of 1/(2c).

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
}

/// Where on a loss a slack stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Side {
    /// No slack, no loss.
    #[default]
    Off,
    /// Where the loss curves.
    Curved,
    /// Where the loss is a straight line.
    Straight,
}

/// A loss with its derivatives.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Smoothed {
    pub(crate) value: f64,
    pub(crate) slope: f64,
    pub(crate) curvature: f64,
    pub(crate) side: Side,
}

impl Loss {
    /// All losses.
    pub const ALL: [Loss; 2] = [Loss::Hinge, Loss::SquaredHinge];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Hinge => "hinge",
            Loss::SquaredHinge => "squared-hinge",
        }
    }

    /// ℓ(t)
    #[inline]
    pub fn value(self, t: f64) -> f64 {
        let t = t.max(0.0);
        match self {
            Loss::Hinge => t,
            Loss::SquaredHinge => t * t,
        }
    }

    /// ℓ′(t); at a kink the slope from the right.
    #[inline]
    pub fn slope(self, t: f64) -> f64 {
        match self {
            Loss::Hinge => f64::from(t >= 0.0),
            Loss::SquaredHinge => 2.0 * t.max(0.0),
        }
    }

    /// ℓ(t) with its corner rounded over `width`: a hinge becomes t²/2w on [0, w] and t − w/2 beyond.
    #[inline]
    pub(crate) fn smoothed(self, t: f64, width: f64) -> Smoothed {
        let side = if t <= 0.0 {
            Side::Off
        } else if self == Loss::SquaredHinge || t < width {
            Side::Curved
        } else {
            Side::Straight
        };
        self.on_side(side, t, width)
    }

    /// The piece of the rounded loss on a side, at any t.
    #[inline]
    pub(crate) fn on_side(self, side: Side, t: f64, width: f64) -> Smoothed {
        let (value, slope, curvature) = match (side, self) {
            (Side::Off, _) => (0.0, 0.0, 0.0),
            (_, Loss::SquaredHinge) => (t * t, 2.0 * t, 2.0),
            (Side::Curved, Loss::Hinge) => (0.5 * t * t / width, t / width, 1.0 / width),
            (Side::Straight, Loss::Hinge) => (t - 0.5 * width, 1.0, 0.0),
        };
        Smoothed { value, slope, curvature, side }
    }

    /// The largest dual variable of c·ℓ.
    pub fn dual_upper(self, c: f64) -> f64 {
        match self {
            Loss::Hinge => c,
            Loss::SquaredHinge => f64::INFINITY,
        }
    }

    /// What c·ℓ adds to the diagonal of the dual's quadratic form.
    pub fn dual_shift(self, c: f64) -> f64 {
        match self {
            Loss::Hinge => 0.0,
            Loss::SquaredHinge => 0.5 / c,
        }
    }
}
