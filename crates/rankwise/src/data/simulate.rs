//! The simulated pairs of the SVMcompare paper (Venuto et al., section 4.1): x, x′ uniform in [−3, 3]²,
//! r(x) = ‖x‖² for one of three norms, outcome t₁[r(x′) − r(x) + ε] with ε ~ N(0, σ²).

use super::{Comparisons, Features, Outcome, PairSet, Precision, Random};
use crate::error::{Error, Result};

/// Whose square is the true ranking function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// |x₁| + |x₂|
    L1,
    /// √(x₁² + x₂²)
    L2,
    /// max(|x₁|, |x₂|)
    Linf,
}

impl Norm {
    /// The true ranking function, the squared norm.
    pub fn rank(self, x: [f64; 2]) -> f64 {
        match self {
            Norm::L1 => (x[0].abs() + x[1].abs()).powi(2),
            Norm::L2 => x[0] * x[0] + x[1] * x[1],
            Norm::Linf => x[0].abs().max(x[1].abs()).powi(2),
        }
    }
}

/// What to simulate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulation {
    /// Whose square ranks.
    pub norm: Norm,
    /// How many pairs.
    pub n_pairs: usize,
    /// The share of ties, met exactly (rounded to a whole number of pairs).
    pub ties: f64,
    /// Standard deviation of the noise on r(x′) − r(x).
    pub noise: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// After so many draws of no use, and so many more for each that was found meanwhile, the kind that is missing counts as
/// impossible.
const PATIENCE: u64 = 10_000_000;
const PATIENCE_PER_PAIR: u64 = 100_000;

impl Simulation {
    /// Draws pairs until both kinds are complete; what is left over of the other kind is thrown away. Noise so large
    /// that ten million pairs hold no tie, or later a hundred thousand hold less than one, is an error. Pairs come in
    /// random order: in the order of drawing, the end would hold only the kind that took longest, and half of the rows
    /// would not be like the other half.
    pub fn draw(&self) -> Result<Comparisons> {
        if !(0.0..=1.0).contains(&self.ties) {
            return Err(Error::parameter("ties", self.ties, "a share from 0 to 1"));
        }
        if !(self.noise >= 0.0 && self.noise.is_finite()) {
            return Err(Error::parameter("noise", self.noise, "a finite standard deviation of at least 0"));
        }
        if self.n_pairs == 0 {
            return Err(Error::parameter("pairs", 0, "at least one pair"));
        }
        let mut random = Random::new(self.seed);
        let mut missing_ties = (self.n_pairs as f64 * self.ties).round() as usize;
        let mut missing_others = self.n_pairs - missing_ties;
        let mut pairs = Vec::new();
        let (mut n_in_vain, mut n_found) = (0, 0);
        while missing_ties + missing_others > 0 {
            let mut point = || [random.between(-3.0, 3.0), random.between(-3.0, 3.0)];
            let (x, y) = (point(), point());
            let difference = self.norm.rank(y) - self.norm.rank(x) + self.noise * random.normal();
            let outcome = Outcome::of_margin(difference, 1.0);
            let missing = if outcome == Outcome::Tie { &mut missing_ties } else { &mut missing_others };
            if *missing > 0 {
                *missing -= 1;
                pairs.push((x, y, outcome));
                n_found += u64::from(n_in_vain > 0);
            } else {
                n_in_vain += 1;
                if n_in_vain >= PATIENCE + PATIENCE_PER_PAIR * n_found {
                    // Non-ties are likely whatever the noise: it is ties that cannot be found.
                    let expected = format!("less noise for pairs with ties: {n_found} in the last {n_in_vain} draws");
                    return Err(Error::parameter("noise", self.noise, expected));
                }
            }
        }
        random.shuffle(&mut pairs);
        let left = pairs.iter().flat_map(|(x, ..)| *x).collect();
        let right = pairs.iter().flat_map(|(_, y, _)| *y).collect();
        let outcomes = pairs.iter().map(|&(.., outcome)| outcome).collect();
        let side = |values| Features::dense(2, values, Precision::F64);
        let names = Some(vec!["x1".to_string(), "x2".to_string()]);
        Comparisons::new(PairSet::from_sides(&side(left)?, &side(right)?, names)?, outcomes, None, None)
    }
}
