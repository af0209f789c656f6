//! What a kernel is.
//!
//! linear a·b, poly (γ·a·b + c₀)^degree, rbf exp(−γ‖a − b‖²), sigmoid tanh(γ·a·b + c₀). `gamma scale` is
//! 1/(features × variance of all entries).

use crate::data::Features;
use crate::error::{Error, Result};

/// The width of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Gamma {
    /// 1/(features × variance of all entries of the training items).
    #[default]
    Scale,
    /// A number above 0.
    Value(f64),
}

/// A kernel as the user asks for it; parameters live with the kernel that has them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Kernel {
    /// a·b
    #[default]
    Linear,
    /// (γ·a·b + coef0)^degree
    Poly {
        /// γ
        gamma: Gamma,
        /// c₀
        coef0: f64,
        /// from 1 to 64
        degree: u32,
    },
    /// exp(−γ‖a − b‖²)
    Rbf {
        /// γ
        gamma: Gamma,
    },
    /// tanh(γ·a·b + coef0); not positive definite in general
    Sigmoid {
        /// γ
        gamma: Gamma,
        /// c₀
        coef0: f64,
    },
}

/// What may stand for the functions of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Approx {
    /// The functions that so many items span (Nyström), each the one that those before it describe worst.
    Nystrom(usize),
}

impl Approx {
    /// Checks the number of items, and that there is a kernel to approach.
    pub fn check(self, kernel: Kernel) -> Result<()> {
        let Approx::Nystrom(n) = self;
        if kernel == Kernel::Linear {
            return Err(Error::parameter("approx", self, "nothing for the linear kernel, which is solved exactly"));
        }
        // Their matrix is a square of so many numbers.
        if !(1..=20_000).contains(&n) {
            return Err(Error::parameter("approx", self, "nystrom:M with M from 1 to 20000"));
        }
        Ok(())
    }
}

impl std::fmt::Display for Approx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Approx::Nystrom(n) = self;
        write!(f, "nystrom:{n}")
    }
}

impl std::str::FromStr for Approx {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = text.strip_prefix("nystrom:").and_then(|number| number.parse().ok());
        number.map(Approx::Nystrom).ok_or_else(|| Error::parameter("approx", text, "nystrom:M with M from 1 to 20000"))
    }
}

impl Kernel {
    /// An rbf kernel of a given width.
    pub fn rbf(gamma: f64) -> Self {
        Kernel::Rbf { gamma: Gamma::Value(gamma) }
    }

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        self.with_scale(1.0).name()
    }

    /// Checks the parameters.
    pub fn check(self) -> Result<()> {
        self.with_scale(1.0).check()
    }

    /// Fixes γ for the given training items and checks the parameters.
    pub fn resolve(self, items: &Features) -> Result<KernelFunction> {
        self.resolve_weighted(items, None)
    }

    /// The same, where items have weights.
    pub(crate) fn resolve_weighted(self, items: &Features, weights: Option<&[f64]>) -> Result<KernelFunction> {
        self.check()?;
        Ok(self.with_scale(scale_gamma(items, weights)))
    }

    /// Whether its γ is `scale`.
    pub(crate) fn depends_on_data(self) -> bool {
        match self {
            Kernel::Linear => false,
            Kernel::Poly { gamma, .. } | Kernel::Rbf { gamma } | Kernel::Sigmoid { gamma, .. } => gamma == Gamma::Scale,
        }
    }

    /// The function for a known `gamma scale`.
    fn with_scale(self, scale: f64) -> KernelFunction {
        let width = |gamma: Gamma| match gamma {
            Gamma::Value(value) => value,
            Gamma::Scale => scale,
        };
        match self {
            Kernel::Linear => KernelFunction::Linear,
            Kernel::Poly { gamma, coef0, degree } => KernelFunction::Poly { gamma: width(gamma), coef0, degree },
            Kernel::Rbf { gamma } => KernelFunction::Rbf { gamma: width(gamma) },
            Kernel::Sigmoid { gamma, coef0 } => KernelFunction::Sigmoid { gamma: width(gamma), coef0 },
        }
    }
}

fn scale_gamma(items: &Features, weights: Option<&[f64]>) -> f64 {
    let gamma = 1.0 / (items.n_cols() as f64 * crate::data::overall_variance(items, weights));
    if gamma.is_finite() && gamma > 0.0 { gamma } else { 1.0 }
}

/// A kernel with all its numbers known.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum KernelFunction {
    /// a·b
    Linear,
    /// (γ·a·b + coef0)^degree
    Poly {
        /// γ
        gamma: f64,
        /// c₀
        coef0: f64,
        /// from 1 to 64
        degree: u32,
    },
    /// exp(−γ‖a − b‖²)
    Rbf {
        /// γ
        gamma: f64,
    },
    /// tanh(γ·a·b + coef0)
    Sigmoid {
        /// γ
        gamma: f64,
        /// c₀
        coef0: f64,
    },
}

impl KernelFunction {
    /// `linear`, `poly`, `rbf` or `sigmoid`.
    pub fn name(&self) -> &'static str {
        match self {
            KernelFunction::Linear => "linear",
            KernelFunction::Poly { .. } => "poly",
            KernelFunction::Rbf { .. } => "rbf",
            KernelFunction::Sigmoid { .. } => "sigmoid",
        }
    }

    /// Checks the numbers, for a kernel that comes from elsewhere than [`Kernel::resolve`].
    pub(crate) fn check(&self) -> Result<()> {
        let (gamma, coef0, degree) = match *self {
            KernelFunction::Linear => (1.0, 0.0, 1),
            KernelFunction::Poly { gamma, coef0, degree } => (gamma, coef0, degree),
            KernelFunction::Rbf { gamma } => (gamma, 0.0, 1),
            KernelFunction::Sigmoid { gamma, coef0 } => (gamma, coef0, 1),
        };
        if !(gamma > 0.0 && gamma.is_finite()) {
            return Err(Error::parameter("gamma", gamma, "a finite number above 0, or scale"));
        }
        if !coef0.is_finite() {
            return Err(Error::parameter("coef0", coef0, "a finite number"));
        }
        // More would be numerically hopeless, and slow.
        if !(1..=64).contains(&degree) {
            return Err(Error::parameter("degree", degree, "a whole number from 1 to 64"));
        }
        Ok(())
    }

    /// One value, straight from the definition.
    pub fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        let dot = || a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        match *self {
            KernelFunction::Linear => dot(),
            KernelFunction::Poly { gamma, coef0, degree } => (gamma * dot() + coef0).powi(degree as i32),
            KernelFunction::Rbf { gamma } => {
                (-gamma * a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>()).exp()
            }
            KernelFunction::Sigmoid { gamma, coef0 } => (gamma * dot() + coef0).tanh(),
        }
    }

    /// Whether every kernel matrix is positive semidefinite, so that the dual is a bound.
    pub fn is_positive_definite(&self) -> bool {
        match *self {
            KernelFunction::Sigmoid { .. } => false,
            KernelFunction::Poly { coef0, .. } => coef0 >= 0.0,
            _ => true,
        }
    }
}
