//! Glicko-2: Glicko's rating r and deviation RD with a third number, the volatility σ, how much a player's strength changes
//! in a period (Glickman, *Dynamic paired comparison models with stochastic variances*, 2001, and *Example of the Glicko-2
//! system*).
//!
//! In units of 400/ln 10 points, φ = q·RD. With g and E as in Glicko and sums over the games of a period, with weights,
//!
//! I = 1/v = Σ w g² E(1 − E),  S = Σ w g(s − E),  Δ = v·S,
//!
//! the new volatility is e^(x/2), where x solves, with a = ln σ²,
//!
//! e^x(Δ² − φ² − v − e^x) / (2(φ² + v + e^x)²) = (x − a)/τ²;
//!
//! then φ*² = φ² + σ'², φ' = 1/√(1/φ*² + I) and r ← r + φ'²·S/q.
//!
//! Who does not play becomes less sure by σ² in every period. Here time passes continuously: t periods after the last
//! game that makes σ²·t. Of these, the games that come then meet σ²·(t − 1), since the period they are in adds its share
//! after they are counted, as above; it adds t·σ'² where t is below 1. Thus games at the ends of consecutive periods give
//! exactly what Glickman's description gives. Two limits keep all numbers sensible: no deviation is above that of a new
//! player, and no volatility above [`MOST_VOLATILITY`].

use super::glicko::g;
use super::online::{LOGITS_PER_POINT as Q, check_advantage, check_period, counting, elapsed, end};
use super::{Online, Strength};
use crate::data::Game;
use crate::error::{Error, Result};

/// No volatility goes beyond this: 174 points in a period.
pub const MOST_VOLATILITY: f64 = 1.0;

/// Glicko-2's ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct Glicko2 {
    start: Strength,
    volatility: f64,
    tau: f64,
    period: f64,
    advantage: f64,
    players: Vec<Player>,
    /// Who plays in the period that is being counted; empty between periods.
    playing: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Player {
    strength: Strength,
    volatility: f64,
    /// When the deviation was what it is; `None` for who has not played yet.
    time: Option<f64>,
    /// Of the period that is being counted; not in use between periods.
    now: Option<Counted>,
}

/// A player in the period that is being counted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counted {
    before: Strength,
    /// Which part of a period is still to add to the deviation.
    share: f64,
    g: f64,
    /// I
    information: f64,
    /// S
    surplus: f64,
}

impl Glicko2 {
    /// All players start alike, with the same volatility; τ says how fast volatilities may change. A period is one unit of
    /// the games' time.
    pub fn new(start: Strength, volatility: f64, tau: f64) -> Result<Self> {
        start.check()?;
        check_volatility(volatility)?;
        if !(tau > 0.0 && tau <= 10.0) {
            return Err(Error::parameter("tau", tau, "a number above 0, and at most 10"));
        }
        let (players, playing) = (Vec::new(), Vec::new());
        Ok(Glicko2 { start, volatility, tau, period: 1.0, advantage: 0.0, players, playing })
    }

    /// Adds so much to the rating of the left player in games that are not on neutral ground.
    pub fn with_advantage(mut self, advantage: f64) -> Result<Self> {
        check_advantage(advantage)?;
        self.advantage = advantage;
        Ok(self)
    }

    /// A period lasts so many units of the games' time.
    pub fn with_period(mut self, length: f64) -> Result<Self> {
        check_period(length)?;
        self.period = length;
        Ok(self)
    }

    /// Gives a player a strength and a volatility from elsewhere, as they are at a time.
    pub fn set(&mut self, player: u32, strength: Strength, volatility: f64, time: f64) -> Result<()> {
        strength.check()?;
        check_volatility(volatility)?;
        self.make_room(player);
        self.players[player as usize] = Player { strength, volatility, time: Some(time), now: None };
        Ok(())
    }

    /// The volatility of a player.
    pub fn volatility(&self, player: u32) -> f64 {
        self.player(player).volatility
    }

    fn player(&self, number: u32) -> Player {
        self.players.get(number as usize).copied().unwrap_or(self.new_player())
    }

    fn new_player(&self) -> Player {
        Player { strength: self.start, volatility: self.volatility, time: None, now: None }
    }

    fn make_room(&mut self, number: u32) {
        if number as usize >= self.players.len() {
            self.players.resize(number as usize + 1, self.new_player());
        }
    }

    /// A player's numbers of the period that ends at a time, from the first game on.
    fn count(&mut self, number: u32, end: f64) -> Counted {
        self.make_room(number);
        let player = self.players[number as usize];
        if let Some(counted) = player.now {
            return counted;
        }
        let passed = player.time.map_or(1.0, |then| elapsed(then, end, self.period));
        let before = self.grown(&player, (passed - 1.0).max(0.0));
        let (share, g) = (passed.min(1.0), g(before.deviation));
        let counted = Counted { before, share, g, information: 0.0, surplus: 0.0 };
        self.players[number as usize].now = Some(counted);
        self.playing.push(number);
        counted
    }

    /// A player after so many periods without a game.
    fn grown(&self, player: &Player, n_periods: f64) -> Strength {
        if n_periods == 0.0 {
            return player.strength;
        }
        let Strength { rating, deviation } = player.strength;
        let grown = deviation.powi(2) + (player.volatility / Q).powi(2) * n_periods;
        Strength { rating, deviation: grown.sqrt().min(self.start.deviation.max(deviation)) }
    }
}

fn check_volatility(volatility: f64) -> Result<()> {
    match (1e-100..=MOST_VOLATILITY).contains(&volatility) {
        true => Ok(()),
        false => Err(Error::parameter("volatility", volatility, "a number above 0, and at most 1")),
    }
}

impl Online for Glicko2 {
    fn strength(&self, player: u32, time: f64) -> Strength {
        let player = self.player(player);
        self.grown(&player, player.time.map_or(0.0, |then| elapsed(then, time, self.period)))
    }

    fn margin(&self, game: &Game) -> f64 {
        let (left, right) = (self.strength(game.left, game.time), self.strength(game.right, game.time));
        let advantage = if game.is_neutral { 0.0 } else { self.advantage };
        Q * g(left.deviation.hypot(right.deviation)) * (left.rating + advantage - right.rating)
    }

    fn update(&mut self, period: &[Game]) {
        let Some(end) = end(period) else { return };
        for (game, weight) in counting(period) {
            let points = game.left_points();
            let advantage = if game.is_neutral { 0.0 } else { self.advantage };
            let (left, right) = (self.count(game.left, end), self.count(game.right, end));
            let (ahead, behind) = (left.before.rating + advantage, right.before.rating);
            for (number, opponent, difference, points) in
                [(game.left, right, ahead - behind, points), (game.right, left, behind - ahead, 1.0 - points)]
            {
                if let Some(counted) = &mut self.players[number as usize].now {
                    counted.add(opponent.g, difference, points, weight);
                }
            }
        }
        for number in self.playing.drain(..) {
            let player = &mut self.players[number as usize];
            if let Some(counted) = player.now.take() {
                player.volatility = counted.volatility(player.volatility, self.tau);
                let most = self.start.deviation.max(counted.before.deviation);
                (player.strength, player.time) = (counted.moved(player.volatility, most), Some(end));
            }
        }
    }
}

impl Counted {
    fn add(&mut self, g: f64, difference: f64, points: f64, weight: f64) {
        let expected = 1.0 / (1.0 + (-g * Q * difference).exp());
        self.information += weight * (g * g * expected * (1.0 - expected));
        self.surplus += weight * (g * (points - expected));
    }

    fn moved(&self, volatility: f64, most: f64) -> Strength {
        let phi = Q * self.before.deviation;
        let precision = (phi * phi + self.share * volatility * volatility).recip() + self.information;
        let deviation = precision.sqrt().recip() / Q;
        Strength { rating: self.before.rating + self.surplus / precision / Q, deviation: deviation.min(most) }
    }

    /// The new volatility. The equation, divided by v² above and below so that I = 0 is fine, reads
    ///
    /// f(x) = e^x(S² − I − (φ² + e^x)I²) / (2(1 + (φ² + e^x)I)²) − (x − a)/τ² = 0.
    ///
    /// The fraction is never below −½, which makes f positive at a − τ²/2; above a, where its first term has become
    /// negative, so is f. Between a and one of these lies a solution, unless that is beyond the limit.
    fn volatility(&self, before: f64, tau: f64) -> f64 {
        let (phi2, a) = ((Q * self.before.deviation).powi(2), 2.0 * before.ln());
        let (information, surplus2) = (self.information, self.surplus * self.surplus);
        let f = |x: f64| {
            let variance = x.exp();
            let spread = 1.0 + (phi2 + variance) * information;
            variance * (surplus2 / spread - information) / (2.0 * spread) - (x - a) / (tau * tau)
        };
        let most = 2.0 * MOST_VOLATILITY.ln();
        let at_a = f(a);
        let x = if at_a < 0.0 {
            let low = a - 0.5 * tau * tau;
            solve(&f, (low, f(low)), (a, at_a))
        } else {
            let at_most = f(most);
            if at_most >= 0.0 { most } else { solve(&f, (a, at_a), (most, at_most)) }
        };
        (0.5 * x).exp().min(MOST_VOLATILITY)
    }
}

/// Where a function changes its sign between two points, by false positions where an end that stays counts half each time
/// (the Illinois algorithm), and by halves should that ever be slow.
fn solve(f: &impl Fn(f64) -> f64, (mut low, mut at_low): (f64, f64), (mut high, mut at_high): (f64, f64)) -> f64 {
    const TOLERANCE: f64 = 1e-11;
    const PATIENCE: usize = 40;
    const MOST_STEPS: usize = 120;
    // Which end moved last: −1 the low one, 1 the high one.
    let mut last = 0;
    for step in 0..MOST_STEPS {
        if at_low <= 0.0 {
            return low;
        }
        if at_high >= 0.0 {
            return high;
        }
        if high - low <= TOLERANCE {
            break;
        }
        let middle = low + 0.5 * (high - low);
        let between = low + (high - low) * (at_low / (at_low - at_high));
        let x = if step < PATIENCE && between > low && between < high { between } else { middle };
        let at_x = f(x);
        if at_x.abs() <= TOLERANCE * 1e-2 {
            return x;
        }
        if at_x > 0.0 {
            (low, at_low) = (x, at_x);
            if last == -1 {
                at_high *= 0.5;
            }
            last = -1;
        } else {
            (high, at_high) = (x, at_x);
            if last == 1 {
                at_low *= 0.5;
            }
            last = 1;
        }
    }
    low + 0.5 * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Outcome;

    const NEW: Strength = Strength { rating: 1500.0, deviation: 350.0 };

    fn game(time: f64, left: u32, right: u32, outcome: Outcome) -> Game {
        Game { time, left, right, outcome, is_neutral: false, weight: 1.0 }
    }

    fn usual() -> Glicko2 {
        Glicko2::new(NEW, 0.06, 0.5).unwrap()
    }

    /// The worked example of Glickman's description.
    #[test]
    fn the_published_example() {
        let mut ratings = usual();
        let players = [(1500.0, 200.0), (1400.0, 30.0), (1550.0, 100.0), (1700.0, 300.0)];
        for (player, (rating, deviation)) in (0..).zip(players) {
            ratings.set(player, Strength { rating, deviation }, 0.06, 0.0).unwrap();
        }
        let win_as_right = game(1.0, 1, 0, Outcome::Right);
        ratings.update(&[win_as_right, game(1.0, 0, 2, Outcome::Right), game(1.0, 0, 3, Outcome::Right)]);
        let found = ratings.strength(0, 1.0);
        assert!((found.rating - 1464.06).abs() < 0.01 && (found.deviation - 151.52).abs() < 0.01, "{found:?}");
        assert!((ratings.volatility(0) - 0.05999).abs() < 1e-5 && ratings.volatility(0) < 0.06);
    }

    /// In points, σ = 0.06 is 10.423: √(50² + 10.423²·4) = 54.17 after four periods, and never more than 350.
    #[test]
    fn deviations_grow_while_nobody_plays() {
        let mut ratings = usual().with_period(0.5).unwrap();
        ratings.set(0, Strength { rating: 1600.0, deviation: 50.0 }, 0.06, 3.0).unwrap();
        let deviation = |time| ratings.strength(0, time).deviation;
        assert!((deviation(5.0) - (2500.0 + 4.0 * 10.423_068_f64.powi(2)).sqrt()).abs() < 1e-4);
        assert_eq!((deviation(3.0), deviation(-1e300), deviation(1e300)), (50.0, 50.0, 350.0));
        assert_eq!(ratings.strength(1, 1e300), NEW);
    }

    /// The solution solves the equation as it is written in the description.
    #[test]
    fn volatilities_solve_the_equation() {
        let tau: f64 = 0.5;
        for deviation in [30.0, 200.0, 350.0] {
            for sigma in [0.01, 0.06, 0.3] {
                for information in [1e-3, 0.1, 2.0, 50.0] {
                    for surplus in [0.0, 0.2, -1.5, 12.0] {
                        let before = Strength { rating: 1500.0, deviation };
                        let counted = Counted { before, share: 1.0, g: 1.0, information, surplus };
                        let found = counted.volatility(sigma, tau);
                        let (v, phi, x) = (1.0 / information, Q * deviation, 2.0 * found.ln());
                        let (delta, e) = (v * surplus, x.exp());
                        let left = e * (delta * delta - phi * phi - v - e) / (2.0 * (phi * phi + v + e).powi(2));
                        let rest = left - (x - 2.0 * sigma.ln()) / (tau * tau);
                        let is_solved = rest.abs() < 1e-8 || (found == MOST_VOLATILITY && rest > 0.0);
                        assert!(is_solved, "{deviation} {sigma} {information} {surplus}: {found}, {rest}");
                    }
                }
            }
        }
    }

    #[test]
    fn volatilities_have_a_limit_and_are_always_numbers() {
        for information in [0.0, 1e-300, 1e-10, 1.0, 1e100] {
            for surplus in [0.0, 1e-300, 1.0, 1e10, 1e106] {
                for tau in [1e-6, 0.5, 10.0] {
                    for deviation in [1e-50, 1.0, 350.0] {
                        let before = Strength { rating: 0.0, deviation };
                        let counted = Counted { before, share: 1.0, g: 1.0, information, surplus };
                        for sigma in [1e-100, 0.06, 1.0] {
                            let found = counted.volatility(sigma, tau);
                            assert!(found > 0.0 && found <= MOST_VOLATILITY, "{information} {surplus}: {found}");
                            let moved = counted.moved(found, 350.0);
                            assert!(moved.rating.is_finite() && moved.deviation.is_finite(), "{moved:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn refuses_what_is_no_strength() {
        assert!(Glicko2::new(NEW, 0.0, 0.5).is_err());
        assert!(Glicko2::new(NEW, 0.06, f64::NAN).is_err());
        assert!(Glicko2::new(Strength { deviation: -1.0, ..NEW }, 0.06, 0.5).is_err());
        assert!(usual().set(0, NEW, 2.0, 0.0).is_err() && usual().with_period(-1.0).is_err());
    }
}
