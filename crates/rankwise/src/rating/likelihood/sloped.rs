//! Numbers that depend on something, with their slope by it: what is computed with them is differentiated on the way.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// What equations are solved in.
pub(super) trait Number:
    Copy
    + Default
    + Send
    + Sync
    + AddAssign
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The number itself.
    fn value(self) -> f64;
    /// A number that depends on nothing.
    fn constant(value: f64) -> Self;
}

impl Number for f64 {
    fn value(self) -> f64 {
        self
    }

    fn constant(value: f64) -> Self {
        value
    }
}

/// A number and its slope.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sloped {
    pub(super) value: f64,
    pub(super) slope: f64,
}

impl Number for Sloped {
    fn value(self) -> f64 {
        self.value
    }

    fn constant(value: f64) -> Self {
        Sloped { value, slope: 0.0 }
    }
}

impl Add for Sloped {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Sloped { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl AddAssign for Sloped {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Sloped {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Sloped { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Mul for Sloped {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Sloped { value: self.value * other.value, slope: self.slope * other.value + self.value * other.slope }
    }
}

impl Div for Sloped {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Sloped { value, slope: (self.slope - value * other.slope) / other.value }
    }
}
