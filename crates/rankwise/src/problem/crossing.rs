//! Where a slope that never falls crosses zero: the best bias, or β, for given scores.

/// Steps before the bounds themselves must do.
const MOST_STEPS: usize = 200;
/// Slopes this small beside their terms are zero.
const RESOLUTION: f64 = 1e-15;

/// A slope, its derivative, and the sum of the sizes of its terms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pull {
    pub(crate) slope: f64,
    pub(crate) stiffness: f64,
    pub(crate) size: f64,
}

impl Pull {
    /// With another one.
    pub(crate) fn plus(self, other: Pull) -> Pull {
        Pull {
            slope: self.slope + other.slope,
            stiffness: self.stiffness + other.stiffness,
            size: self.size + other.size,
        }
    }
}

/// The place below `high`, and how stiff the slope is there: Newton's method between two bounds, from a guess.
pub(crate) fn crossing(pull: impl Fn(f64) -> Pull, guess: f64, mut high: f64) -> (f64, f64) {
    let mut low = f64::NEG_INFINITY;
    let mut place = if guess < high { guess } else { high - 1.0 };
    // Beside a guess that is far away, small steps would be lost.
    let mut reach = (1e-3 * place.abs()).max(1.0);
    let mut found = pull(place);
    for _ in 0..MOST_STEPS {
        let Pull { slope, stiffness, size } = found;
        if slope.abs() <= RESOLUTION * size {
            break;
        }
        if slope < 0.0 {
            low = place;
        } else {
            high = place;
        }
        let newton = place - slope / stiffness;
        let next = if newton.is_finite() && newton > low && newton < high && (newton - place).abs() <= reach * 8.0 {
            newton
        } else if low.is_finite() && high.is_finite() {
            0.5 * (low + high)
        } else {
            // No bound on this side yet: farther and farther.
            reach *= 2.0;
            if slope < 0.0 { place + reach } else { place - reach }
        };
        if next == place || next <= low || next >= high {
            break;
        }
        place = next;
        found = pull(place);
    }
    (place, found.stiffness)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slopes of Σ max(0, x − k)² − Σ max(0, k − x)² over some kinks.
    fn of_kinks(kinks: &[f64]) -> impl Fn(f64) -> Pull {
        move |x| {
            let sizes = kinks.iter().map(|k| (x - k).abs()).sum::<f64>();
            let slope = kinks.iter().map(|k| x - k).sum::<f64>();
            Pull { slope, stiffness: kinks.len() as f64, size: sizes }
        }
    }

    #[test]
    fn the_zero_is_found_from_wherever_one_looks() {
        for middle in [0.0, 1.0, -3.5, 1e6, -1e12] {
            let kinks = [middle - 1.0, middle, middle + 1.0];
            for guess in [0.0, 1.0, -1e3, 1e9, -1e17, 1e25] {
                let (place, stiffness) = crossing(of_kinks(&kinks), guess, f64::INFINITY);
                assert!((place - middle).abs() <= 1e-9 * (1.0 + middle.abs()), "{middle} from {guess}: {place}");
                assert_eq!(stiffness, 3.0);
            }
        }
    }

    #[test]
    fn nothing_beyond_the_bound_is_looked_at() {
        let pull = |x: f64| {
            assert!(x < 2.0);
            Pull { slope: x - 1.0, stiffness: 1.0, size: 1.0 + x.abs() }
        };
        for guess in [-1e20, 0.0, 1.9, 5.0] {
            assert!((crossing(pull, guess, 2.0).0 - 1.0).abs() < 1e-9);
        }
    }
}
