//! The dual of machines on items, one variable t for each:  f(x) = Σ tᵢK(xᵢ, x) + b,
//!
//! min ½ ΣΣ tᵢtⱼKᵢⱼ + Σ ½·shift·t² − target(t)·t   with   Σt = 0, low ≤ t ≤ high.

/// What the dual says of an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ItemDual {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// What t adds to the diagonal of the quadratic form.
    pub(crate) shift: f64,
    /// The target where t < 0.
    pub(crate) below: f64,
    /// The target where t > 0.
    pub(crate) above: f64,
}

impl ItemDual {
    /// cost·max(0, margin − sign·f), or its square.
    pub(crate) fn of_class(sign: f64, margin: f64, cost: f64, is_squared: bool) -> Self {
        let (most, shift) = if is_squared { (f64::INFINITY, 0.5 / cost) } else { (cost, 0.0) };
        let target = sign * margin;
        let (low, high) = if sign > 0.0 { (0.0, most) } else { (-most, 0.0) };
        ItemDual { low, high, shift, below: target, above: target }
    }

    /// cost·max(0, |target − f| − epsilon), or its square.
    pub(crate) fn of_target(target: f64, epsilon: f64, cost: f64, is_squared: bool) -> Self {
        let (most, shift) = if is_squared { (f64::INFINITY, 0.5 / cost) } else { (cost, 0.0) };
        ItemDual { low: -most, high: most, shift, below: target + epsilon, above: target - epsilon }
    }

    /// The loss at f.
    pub(crate) fn loss(&self, f: f64) -> f64 {
        let under = if self.high > 0.0 { (self.above - f).max(0.0) } else { 0.0 };
        let over = if self.low < 0.0 { (f - self.below).max(0.0) } else { 0.0 };
        let slack = under + over;
        if self.shift > 0.0 { slack * slack * 0.5 / self.shift } else { slack * self.high.max(-self.low) }
    }
}
