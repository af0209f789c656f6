//! What one judged pair costs, as a function of its margin z and its tie offset b = β + band: values and derivatives.
//!
//! Non-ties are oriented so that z should be positive. The region of ties is where |z| ≤ −b, or, for Davidson's model,
//! grows with b.

/// Which function of (z, b).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    /// ℓ(1 − b − z) for non-ties, ℓ(1 + b + z) + ℓ(1 + b − z) for ties.
    Compare(Hinge),
    /// ℓ(1 − z) for non-ties, ℓ(1 − z) + ℓ(1 + z) for ties; no b.
    Rank(Hinge),
    /// log(1 + e^(−z)) for non-ties, the same for z and −z for ties; no b.
    RankLogistic,
    /// −log P with P(right) = σ(z + b), P(left) = σ(−z + b), P(tie) = (1 − e^(2b)) σ(−z − b) σ(z − b); ties need b < 0.
    RaoKupper,
    /// −log P with P(left) : P(tie) : P(right) = e^(−z/2) : e^b : e^(z/2).
    Davidson,
}

/// The hinge max(0, t), squared or with its kink rounded off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Hinge {
    Squared,
    /// t²/(2h) up to t = h, then t − h/2.
    Rounded(f64),
}

impl Rule {
    /// Whether b matters.
    pub(crate) fn has_offset(self) -> bool {
        !matches!(self, Rule::Rank(_) | Rule::RankLogistic)
    }

    /// Whether losses have all their derivatives.
    pub(crate) fn is_smooth(self) -> bool {
        matches!(self, Rule::RankLogistic | Rule::RaoKupper | Rule::Davidson)
    }

    /// Whether ties need b < 0.
    pub(crate) fn has_barrier(self) -> bool {
        self == Rule::RaoKupper
    }

    /// A number that stands for it, whatever the width.
    pub(crate) fn code(self) -> f64 {
        match self {
            Rule::Compare(Hinge::Squared) => 0.0,
            Rule::Compare(Hinge::Rounded(_)) => 1.0,
            Rule::Rank(Hinge::Squared) => 2.0,
            Rule::Rank(Hinge::Rounded(_)) => 3.0,
            Rule::RankLogistic => 4.0,
            Rule::RaoKupper => 5.0,
            Rule::Davidson => 6.0,
        }
    }

    /// The rule of such a number, with a width.
    pub(crate) fn of_code(code: f64, width: f64) -> Option<Rule> {
        let rounded = Hinge::Rounded(width);
        let all = [
            Rule::Compare(Hinge::Squared),
            Rule::Compare(rounded),
            Rule::Rank(Hinge::Squared),
            Rule::Rank(rounded),
            Rule::RankLogistic,
            Rule::RaoKupper,
            Rule::Davidson,
        ];
        all.into_iter().find(|rule| rule.code() == code)
    }
}

/// A pair's cost and its derivatives in z and b.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Local {
    pub(super) value: f64,
    /// The value that is meant; differs where a kink is rounded off.
    pub(super) meant: f64,
    /// What the gap has of this pair beside the gradient.
    pub(super) excess: f64,
    pub(super) dz: f64,
    pub(super) db: f64,
    pub(super) zz: f64,
    pub(super) zb: f64,
    pub(super) bb: f64,
}

/// A function of (z, b), known when the program is built.
pub(super) trait PairLoss: Copy + Sync {
    fn at(self, is_tie: bool, z: f64, b: f64) -> Local;
}

/// Runs `$body` with `$loss` standing for the rule's function.
macro_rules! with_loss {
    ($rule:expr, $loss:ident => $body:expr) => {
        match $rule {
            Rule::Compare(Hinge::Squared) => {
                let $loss =
                    $crate::problem::pair_sums::rule::Hinged::<_, true>($crate::problem::pair_sums::rule::SquaredShape);
                $body
            }
            Rule::Compare(Hinge::Rounded(h)) => {
                let $loss = $crate::problem::pair_sums::rule::Hinged::<_, true>(
                    $crate::problem::pair_sums::rule::RoundedShape(h),
                );
                $body
            }
            Rule::Rank(Hinge::Squared) => {
                let $loss = $crate::problem::pair_sums::rule::Hinged::<_, false>(
                    $crate::problem::pair_sums::rule::SquaredShape,
                );
                $body
            }
            Rule::Rank(Hinge::Rounded(h)) => {
                let $loss = $crate::problem::pair_sums::rule::Hinged::<_, false>(
                    $crate::problem::pair_sums::rule::RoundedShape(h),
                );
                $body
            }
            Rule::RankLogistic => {
                let $loss = $crate::problem::pair_sums::rule::LogisticLoss;
                $body
            }
            Rule::RaoKupper => {
                let $loss = $crate::problem::pair_sums::rule::RaoKupperLoss;
                $body
            }
            Rule::Davidson => {
                let $loss = $crate::problem::pair_sums::rule::DavidsonLoss;
                $body
            }
        }
    };
}
pub(super) use with_loss;

/// ℓ(t) with its derivatives, what is meant, and the part of the gap.
pub(super) trait Shape: Copy + Sync {
    /// value, slope, curvature, meant, excess
    fn at(self, t: f64) -> [f64; 5];
}

#[derive(Clone, Copy)]
pub(super) struct SquaredShape;

impl Shape for SquaredShape {
    #[inline(always)]
    fn at(self, t: f64) -> [f64; 5] {
        let acting = t.max(0.0);
        let value = acting * acting;
        [value, 2.0 * acting, if t > 0.0 { 2.0 } else { 0.0 }, value, 0.0]
    }
}

#[derive(Clone, Copy)]
pub(super) struct RoundedShape(pub(super) f64);

impl Shape for RoundedShape {
    #[inline(always)]
    fn at(self, t: f64) -> [f64; 5] {
        let h = self.0;
        if t >= h {
            [t - 0.5 * h, 1.0, 0.0, t, 0.0]
        } else if t > 0.0 {
            [0.5 * t * t / h, t / h, 1.0 / h, t, t * (1.0 - t / h)]
        } else {
            [0.0; 5]
        }
    }
}

/// Losses of slacks; with or without b.
#[derive(Clone, Copy)]
pub(super) struct Hinged<S, const OFFSET: bool>(pub(super) S);

impl<S: Shape, const OFFSET: bool> PairLoss for Hinged<S, OFFSET> {
    #[inline(always)]
    fn at(self, is_tie: bool, z: f64, b: f64) -> Local {
        if !is_tie {
            let [value, slope, curve, meant, excess] = self.0.at(if OFFSET { 1.0 - b - z } else { 1.0 - z });
            let (db, cross) = if OFFSET { (-slope, curve) } else { (0.0, 0.0) };
            return Local { value, meant, excess, dz: -slope, db, zz: curve, zb: cross, bb: cross };
        }
        let sign = if OFFSET { 1.0 } else { -1.0 };
        let base = if OFFSET { 1.0 + b } else { 1.0 };
        // The slack that grows with sign·z, and its mirror.
        let [value, slope, curve, meant, excess] = self.0.at(base + sign * z);
        let [mirror_value, mirror_slope, mirror_curve, mirror_meant, mirror_excess] = self.0.at(base - sign * z);
        let (db, zb, bb) =
            if OFFSET { (slope + mirror_slope, curve - mirror_curve, curve + mirror_curve) } else { (0.0, 0.0, 0.0) };
        Local {
            value: value + mirror_value,
            meant: meant + mirror_meant,
            excess: excess + mirror_excess,
            dz: sign * (slope - mirror_slope),
            db,
            zz: curve + mirror_curve,
            zb,
            bb,
        }
    }
}

/// log(1 + e^x) and its derivative.
#[inline(always)]
fn softplus(x: f64) -> (f64, f64) {
    let e = (-x.abs()).exp();
    let p = if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
    (x.max(0.0) + e.ln_1p(), p)
}

#[derive(Clone, Copy)]
pub(super) struct LogisticLoss;

impl PairLoss for LogisticLoss {
    #[inline(always)]
    fn at(self, is_tie: bool, z: f64, _: f64) -> Local {
        let (value, p) = softplus(-z);
        let q = p * (1.0 - p);
        if !is_tie {
            return Local { value, meant: value, dz: -p, zz: q, ..Local::default() };
        }
        let (mirror, mirror_p) = softplus(z);
        let value = value + mirror;
        Local { value, meant: value, dz: mirror_p - p, zz: 2.0 * q, ..Local::default() }
    }
}

#[derive(Clone, Copy)]
pub(super) struct RaoKupperLoss;

impl PairLoss for RaoKupperLoss {
    #[inline(always)]
    fn at(self, is_tie: bool, z: f64, b: f64) -> Local {
        if !is_tie {
            let (value, p) = softplus(-b - z);
            let q = p * (1.0 - p);
            return Local { value, meant: value, excess: 0.0, dz: -p, db: -p, zz: q, zb: q, bb: q };
        }
        let (right, p) = softplus(z + b);
        let (left, mirror) = softplus(b - z);
        let (q, mirror_q) = (p * (1.0 - p), mirror * (1.0 - mirror));
        // −log(1 − e^(2b)), which keeps b below 0
        let room = -(2.0 * b).exp_m1();
        let e = (2.0 * b).exp();
        let value = (right + left) - room.ln();
        Local {
            value,
            meant: value,
            excess: 0.0,
            dz: p - mirror,
            db: (p + mirror) + 2.0 * e / room,
            zz: q + mirror_q,
            zb: q - mirror_q,
            bb: (q + mirror_q) + 4.0 * e / (room * room),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct DavidsonLoss;

impl PairLoss for DavidsonLoss {
    #[inline(always)]
    fn at(self, is_tie: bool, z: f64, b: f64) -> Local {
        let half = 0.5 * z;
        let largest = half.abs().max(b);
        let [left, tie, right] = [(-half - largest).exp(), (b - largest).exp(), (half - largest).exp()];
        let total = (left + right) + tie;
        let (tie, lead) = (tie / total, (right - left) / total);
        let value = largest + total.ln() - if is_tie { b } else { half };
        Local {
            value,
            meant: value,
            excess: 0.0,
            dz: 0.5 * lead - if is_tie { 0.0 } else { 0.5 },
            db: tie - if is_tie { 1.0 } else { 0.0 },
            zz: 0.25 * ((1.0 - tie) - lead * lead).max(0.0),
            zb: -0.5 * lead * tie,
            bb: tie * (1.0 - tie),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Derivatives against differences, for every rule.
    #[test]
    fn derivatives_are_those_of_the_value() {
        let rules = [
            Rule::Compare(Hinge::Squared),
            Rule::Compare(Hinge::Rounded(0.7)),
            Rule::Rank(Hinge::Squared),
            Rule::Rank(Hinge::Rounded(0.7)),
            Rule::RankLogistic,
            Rule::RaoKupper,
            Rule::Davidson,
        ];
        for rule in rules {
            let at = |is_tie: bool, z: f64, b: f64| with_loss!(rule, loss => loss.at(is_tie, z, b));
            for is_tie in [false, true] {
                for (z, b) in [(0.31, -0.8), (-1.37, -0.21), (2.9, -2.3), (0.0, -1.1), (-4.1, -3.03)] {
                    let h = 1e-5;
                    let here = at(is_tie, z, b);
                    let (zp, zm, bp, bm) =
                        (at(is_tie, z + h, b), at(is_tie, z - h, b), at(is_tie, z, b + h), at(is_tie, z, b - h));
                    let close = |found: f64, high: f64, low: f64, what: &str| {
                        let expected = (high - low) / (2.0 * h);
                        assert!(
                            (found - expected).abs() < 1e-6,
                            "{rule:?} {is_tie} {z} {b} {what}: {found} {expected}"
                        );
                    };
                    close(here.dz, zp.value, zm.value, "dz");
                    close(here.db, bp.value, bm.value, "db");
                    close(here.zz, zp.dz, zm.dz, "zz");
                    close(here.zb, bp.dz, bm.dz, "zb");
                    close(here.bb, bp.db, bm.db, "bb");
                    assert!(here.zz * here.bb >= here.zb * here.zb - 1e-12, "{rule:?} is convex");
                    let mirror = at(is_tie, -z, b);
                    assert!(!is_tie || mirror.value == here.value, "{rule:?}: a tie has no direction");
                }
            }
        }
    }
}
