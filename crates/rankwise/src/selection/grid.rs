//! Points to try.

use crate::data::{Comparisons, Scaler};
use crate::error::{Error, Result};
use crate::estimator::PairEstimator;
use crate::kernel::{Gamma, Kernel, KernelFunction};
use crate::loss::Loss;

/// Values of C in the usual grid, as powers of ten: from, to.
const USUAL_C: (i32, i32) = (-3, 3);
/// Widths of the usual grid, as multiples of γ `scale`.
const USUAL_WIDTHS: [f64; 5] = [0.0625, 0.25, 1.0, 4.0, 16.0];

/// All combinations of some values of C, some kernels and some losses. Their order is losses, kernels, C; values that
/// come twice count once.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Values of C.
    pub c: Vec<f64>,
    /// Kernels, each with its parameters.
    pub kernels: Vec<Kernel>,
    /// Losses.
    pub losses: Vec<Loss>,
}

impl Grid {
    /// Seven values of C from 0.001 to 1000, with the kernel and loss of an estimator.
    pub fn usual(estimator: &PairEstimator) -> Self {
        let (_, kernel, loss) = estimator.shape();
        Grid { c: usual_c(0), kernels: vec![kernel], losses: vec![loss] }
    }

    /// Widths worth trying for the items of these data: 1/16, 1/4, 1, 4 and 16 times γ `scale`, in three digits.
    pub fn usual_gammas(estimator: &PairEstimator, data: &Comparisons) -> Result<Vec<Gamma>> {
        Ok(usual_widths(scale_gamma(estimator, data)?))
    }

    /// How many points there are.
    pub fn n_points(&self) -> usize {
        self.losses.len().saturating_mul(self.kernels.len()).saturating_mul(self.c.len())
    }

    /// The points in their order.
    pub(super) fn points(&self) -> impl Iterator<Item = (Loss, Kernel, f64)> + '_ {
        let shapes = self.losses.iter().flat_map(|&loss| self.kernels.iter().map(move |&kernel| (loss, kernel)));
        shapes.flat_map(|(loss, kernel)| self.c.iter().map(move |&c| (loss, kernel, c)))
    }

    /// The same grid without values that come twice; an empty list is an error.
    pub(super) fn distinct(&self) -> Result<Grid> {
        let grid = Grid { c: distinct(&self.c), kernels: distinct(&self.kernels), losses: distinct(&self.losses) };
        for (name, n) in [("c", grid.c.len()), ("kernels", grid.kernels.len()), ("losses", grid.losses.len())] {
            if n == 0 {
                return Err(Error::parameter(name, "[]", "a grid with at least one value"));
            }
        }
        Ok(grid)
    }
}

/// The usual values of C, times ten to this power.
pub(super) fn usual_c(power: i32) -> Vec<f64> {
    let (lo, hi) = USUAL_C;
    (lo + power..=hi + power).map(power_of_ten).collect()
}

fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or_else(|_| 10f64.powi(exponent))
}

/// The usual widths around γ `scale`, in three digits.
pub(super) fn usual_widths(scale: f64) -> Vec<Gamma> {
    USUAL_WIDTHS.map(|factor| Gamma::Value(three_digits(factor * scale))).to_vec()
}

pub(super) fn distinct<T: Copy + PartialEq>(values: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for &value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// `n` ≥ 2 numbers from `lo` to `hi` at equal ratios; both ends are exact. 0 < `lo` < `hi`, both finite.
pub fn log_spaced(lo: f64, hi: f64, n: usize) -> Result<Vec<f64>> {
    for (name, value) in [("lo", lo), ("hi", hi)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(Error::parameter(name, value, "a finite number above 0"));
        }
    }
    if hi <= lo {
        return Err(Error::parameter("hi", hi, format!("a number above lo, which is {lo}")));
    }
    if n < 2 {
        return Err(Error::parameter("n", n, "at least 2 values: both ends"));
    }
    Ok((0..n).map(|k| spaced(lo, hi, n, k)).collect())
}

/// Value `k` of [`log_spaced`]. Powers of ten come out as they are written.
fn spaced(lo: f64, hi: f64, n: usize, k: usize) -> f64 {
    if k == 0 {
        return lo;
    }
    if k + 1 == n {
        return hi;
    }
    let exponent = lo.log10() + (hi.log10() - lo.log10()) * (k as f64 / (n - 1) as f64);
    let whole = exponent.round();
    if (exponent - whole).abs() < 1e-9 {
        return format!("1e{whole}").parse().unwrap_or_else(|_| 10f64.powf(exponent));
    }
    10f64.powf(exponent)
}

pub(super) fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// γ `scale` on the items of pairs with a weight above 0, after the estimator's scaling: what a fit on all of them uses.
pub(super) fn scale_gamma(estimator: &PairEstimator, data: &Comparisons) -> Result<f64> {
    let items = data.set.select(&data.present_in_order()).items.features;
    let scaled = Scaler::learn(estimator.scale(), &items).map(|scaler| scaler.apply(&items)).transpose()?;
    match (Kernel::Rbf { gamma: Gamma::Scale }).resolve(scaled.as_ref().unwrap_or(&items))? {
        KernelFunction::Rbf { gamma } => Ok(gamma),
        _ => Ok(1.0),
    }
}

/// γ of a kernel where it has one.
pub(super) fn gamma_of(kernel: Kernel) -> Option<Gamma> {
    match kernel {
        Kernel::Linear => None,
        Kernel::Poly { gamma, .. } | Kernel::Rbf { gamma } | Kernel::Sigmoid { gamma, .. } => Some(gamma),
    }
}
