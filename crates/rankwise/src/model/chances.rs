//! How a margin becomes probabilities of left, tie and right. Every rule is symmetric: exchanging the sides mirrors the
//! probabilities to the last digit.

/// A rule from margins to probabilities.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum Chances {
    /// P(right) = σ(m − τ), P(left) = σ(−m − τ) (Rao and Kupper 1967).
    RaoKupper {
        /// τ > 0; with a tie band, the least that its width may give.
        #[serde(with = "super::number")]
        tau: f64,
    },
    /// P(left) : P(tie) : P(right) = e^(−m/2) : ν : e^(m/2) (Davidson 1970).
    Davidson {
        /// log ν; with a tie band, its width is in its place.
        #[serde(with = "super::number")]
        log_nu: f64,
    },
    /// P(left) : P(tie) : P(right) = e^(−a·m/2) : e^(b + c·width) : e^(a·m/2), fitted to margins of pairs that the machine
    /// had not seen.
    Calibrated {
        /// a ≥ 0
        #[serde(with = "super::number")]
        slope: f64,
        /// b
        #[serde(with = "super::number")]
        offset: f64,
        /// c ≥ 0, of the width of the tie band; 0 without one.
        #[serde(with = "super::number")]
        by_width: f64,
    },
}

impl Chances {
    /// P(left), P(tie), P(right) for a margin, and the width of the tie band where there is one.
    pub fn of(&self, margin: f64, width: Option<f64>) -> [f64; 3] {
        match *self {
            Chances::RaoKupper { tau } => {
                let tau = width.map_or(tau, |width| width.max(tau));
                let tie = -(-2.0 * tau).exp_m1() * (sigmoid(tau - margin) * sigmoid(tau + margin));
                [sigmoid(-margin - tau), tie, sigmoid(margin - tau)]
            }
            Chances::Davidson { log_nu } => of_odds(0.5 * margin, width.unwrap_or(log_nu)),
            Chances::Calibrated { slope, offset, by_width } => {
                of_odds(0.5 * slope * margin, offset + by_width * width.unwrap_or(0.0))
            }
        }
    }

    /// log P(the better side) − log P(tie): what is not above 0 is most likely a tie. `None` where probabilities do not
    /// decide what is predicted.
    pub(super) fn excess(&self, margin: f64, width: Option<f64>) -> Option<f64> {
        match *self {
            Chances::RaoKupper { tau } => {
                let tau = width.map_or(tau, |width| width.max(tau));
                let size = margin.abs();
                // log of σ(m − τ) / [(1 − e^(−2τ)) σ(τ − m) σ(τ + m)], where σ(m − τ)/σ(τ − m) = e^(m − τ)
                Some(size - tau - (-(-2.0 * tau).exp_m1()).ln() + softplus(-size - tau))
            }
            Chances::Davidson { log_nu } => Some(0.5 * margin.abs() - width.unwrap_or(log_nu)),
            Chances::Calibrated { .. } => None,
        }
    }

    /// The size of a margin at which a tie is as likely as the better side; 0 where it is less likely for all. `None` where
    /// probabilities do not decide what is predicted.
    pub(crate) fn threshold(&self, width: Option<f64>) -> Option<f64> {
        match *self {
            Chances::RaoKupper { tau } => {
                // e^m = e^τ − 2e^(−τ)
                let tau = width.map_or(tau, |width| width.max(tau));
                let inner = 1.0 - 2.0 * (-2.0 * tau).exp();
                Some(if inner > 0.0 { (tau + inner.ln()).max(0.0) } else { 0.0 })
            }
            Chances::Davidson { log_nu } => Some((2.0 * width.unwrap_or(log_nu)).max(0.0)),
            Chances::Calibrated { .. } => None,
        }
    }

    /// What is wrong with the numbers, if anything is.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_sound = match *self {
            Chances::RaoKupper { tau } => tau > 0.0 && tau.is_finite(),
            Chances::Davidson { log_nu } => log_nu.is_finite(),
            Chances::Calibrated { slope, offset, by_width } => {
                [slope, offset, by_width].iter().all(|v| v.is_finite()) && slope >= 0.0 && by_width >= 0.0
            }
        };
        if is_sound { Ok(()) } else { Err(format!("the rule of probabilities has impossible numbers: {self:?}")) }
    }
}

/// Probabilities in the proportions e^(−half) : e^tie : e^half.
fn of_odds(half: f64, tie: f64) -> [f64; 3] {
    let largest = half.abs().max(tie);
    let [left, tie, right] = [(-half - largest).exp(), (tie - largest).exp(), (half - largest).exp()];
    // The sides first: their sum is the same whichever is which.
    let total = (left + right) + tie;
    [left / total, tie / total, right / total]
}

fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [Chances; 5] = [
        Chances::RaoKupper { tau: 1e-3 },
        Chances::RaoKupper { tau: 1.5 },
        Chances::Davidson { log_nu: -2.0 },
        Chances::Davidson { log_nu: 0.7 },
        Chances::Calibrated { slope: 0.3, offset: 0.1, by_width: 2.0 },
    ];

    #[test]
    fn probabilities_sum_to_one_and_mirror() {
        for rule in RULES {
            for width in [None, Some(-3.0), Some(0.2), Some(4.0)] {
                for m in [-800.0, -3.0, -0.1, 0.0, 1e-9, 0.5, 40.0] {
                    let (here, there) = (rule.of(m, width), rule.of(-m, width));
                    assert!((here.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{rule:?} {m} {here:?}");
                    assert_eq!([here[2], here[1], here[0]], there, "{rule:?} {m}");
                    assert!(here.iter().all(|p| (0.0..=1.0).contains(p)));
                }
            }
        }
    }

    #[test]
    fn the_threshold_is_where_a_tie_gets_less_likely_than_a_side() {
        for rule in &RULES[..4] {
            for width in [None, Some(-3.0), Some(0.2), Some(0.8), Some(4.0)] {
                let threshold = rule.threshold(width).unwrap();
                for m in [0.0, 0.2 * threshold, 0.999 * threshold, 1.001 * threshold + 1e-6, threshold + 1.0] {
                    let [_, tie, right] = rule.of(m, width);
                    let excess = rule.excess(m, width).unwrap();
                    assert!((excess - (right / tie).ln()).abs() < 1e-9, "{rule:?} {width:?} {m} {excess}");
                    assert_eq!(m <= threshold && threshold > 0.0, excess <= 0.0, "{rule:?} {width:?} {m} {threshold}");
                }
            }
        }
    }
}
