//! Machines with one coefficient per item, f(x) = Σ t·K(item, x) + b: the dual
//!
//!   min ½ Σ t_i t_j K_ij + Σ (½·shift·t² − target(t)·t)    s.t.  low ≤ t ≤ high,  Σ t = 0,
//!
//! target(t) = `above` where t > 0, `below` where t < 0. What an item costs follows from that: loss(f) is the largest
//! t·(target(t) − f) − ½·shift·t². The hinge of an item of class ±1 has one of the two signs of t, the tube around a
//! target both, the rows of the matrix being the same.

use super::{ItemDual, ItemProducts};
use crate::kernel::{KernelPart, KernelValues};
use crate::math::Real;

impl ItemDual {
    /// cost·max(0, margin − sign·f), or cost·max(0, margin − sign·f)².
    pub(crate) fn of_class(sign: f64, margin: f64, cost: f64, is_squared: bool) -> Self {
        let (most, shift) = if is_squared { (f64::INFINITY, 0.5 / cost) } else { (cost, 0.0) };
        let (low, high) = if sign > 0.0 { (0.0, most) } else { (-most, 0.0) };
        ItemDual { low, high, shift, below: sign * margin, above: sign * margin }
    }

    /// cost·max(0, |target − f| − epsilon), or cost·max(0, |target − f| − epsilon)².
    pub(crate) fn of_target(target: f64, epsilon: f64, cost: f64, is_squared: bool) -> Self {
        let (most, shift) = if is_squared { (f64::INFINITY, 0.5 / cost) } else { (cost, 0.0) };
        ItemDual { low: -most, high: most, shift, below: target + epsilon, above: target - epsilon }
    }

    /// target(t) for a step up from t; −∞ where there is none.
    #[inline(always)]
    pub(crate) fn up(&self, t: f64) -> f64 {
        if t >= self.high {
            f64::NEG_INFINITY
        } else if t < 0.0 {
            self.below
        } else {
            self.above
        }
    }

    /// target(t) for a step down from t; ∞ where there is none.
    #[inline(always)]
    pub(crate) fn down(&self, t: f64) -> f64 {
        if t <= self.low {
            f64::INFINITY
        } else if t > 0.0 {
            self.above
        } else {
            self.below
        }
    }

    /// How far t may go up before its target changes or there is no more.
    #[inline(always)]
    pub(crate) fn next_up(&self, t: f64) -> f64 {
        if t < 0.0 && self.high > 0.0 { 0.0 } else { self.high }
    }

    /// How far t may go down before its target changes or there is no more.
    #[inline(always)]
    pub(crate) fn next_down(&self, t: f64) -> f64 {
        if t > 0.0 && self.low < 0.0 { 0.0 } else { self.low }
    }

    /// Whether t is where neither its target changes nor a bound is.
    #[inline(always)]
    pub(crate) fn is_free(&self, t: f64) -> bool {
        t != 0.0 && t > self.low && t < self.high
    }

    /// The t that the loss asks for at a score: minus its slope.
    #[inline(always)]
    pub(crate) fn wanted(&self, f: f64) -> f64 {
        if f < self.above && self.high > 0.0 {
            if self.shift > 0.0 { ((self.above - f) / self.shift).min(self.high) } else { self.high }
        } else if f > self.below && self.low < 0.0 {
            if self.shift > 0.0 { ((self.below - f) / self.shift).max(self.low) } else { self.low }
        } else {
            0.0
        }
    }

    /// What a score costs.
    #[inline(always)]
    pub(crate) fn loss(&self, f: f64) -> f64 {
        let t = self.wanted(f);
        if t == 0.0 { 0.0 } else { t * (self.target(t) - f) - 0.5 * self.shift * t * t }
    }

    /// loss(f) + ½·shift·t² − t·(target(t) − f): at least 0, and 0 where t is what the loss asks for.
    #[inline(always)]
    pub(crate) fn residual(&self, t: f64, f: f64) -> f64 {
        let own = if t == 0.0 { 0.0 } else { t * (self.target(t) - f) - 0.5 * self.shift * t * t };
        (self.loss(f) - own).max(0.0)
    }

    /// `above` or `below`, by the sign of t.
    #[inline(always)]
    pub(crate) fn target(&self, t: f64) -> f64 {
        if t > 0.0 { self.above } else { self.below }
    }
}

impl<T: Real> ItemProducts for KernelValues<'_, T> {
    type Value = T;
    type Part = KernelPart<T>;

    fn width(&self) -> usize {
        self.width()
    }

    fn part(&self, items: &[u32]) -> KernelPart<T> {
        self.part(items)
    }

    fn add(&self, items: &[u32], coefficients: &[f64], part: &mut KernelPart<T>, sums: &mut [f64]) {
        self.add(items, coefficients, part, sums);
    }

    fn gram(&self, items: &[u32], stride: usize, out: &mut [T]) {
        self.gram(items, stride, out);
    }
}
