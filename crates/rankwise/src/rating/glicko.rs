//! Glicko's rating: a rating r and how unsure it is, its deviation RD (Glickman, *Parameter estimation in large dynamic
//! paired comparison experiments*, 1999).
//!
//! With q = ln 10 / 400, g(RD) = 1/√(1 + 3q²RD²/π²) and E = 1/(1 + 10^(−g(RD_j)(r − r_j)/400)), a player's games of a
//! period, with points s_j against opponents as they were before it, give
//!
//! 1/d² = q² Σ g(RD_j)² E(1 − E),  r ← r + q/(1/RD² + 1/d²) · Σ g(RD_j)(s_j − E),  RD ← √(1/(1/RD² + 1/d²)).
//!
//! Between games a deviation grows, √(RD² + c²t) after time t, up to that of a new player.

use std::collections::BTreeMap;
use std::f64::consts::{LN_10, PI};

use super::Strength;
use crate::data::Game;
use crate::error::{Error, Result};

const Q: f64 = LN_10 / 400.0;

/// Glicko's ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct Glicko {
    start: Strength,
    growth: f64,
    players: Vec<Option<Player>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Player {
    strength: Strength,
    /// When the deviation was what it is.
    time: f64,
}

impl Glicko {
    /// All players start alike; `growth` is c, for one unit of the games' time.
    pub fn new(start: Strength, growth: f64) -> Result<Self> {
        start.check()?;
        if !(growth.is_finite() && growth >= 0.0) {
            return Err(Error::parameter("growth", growth, "a finite number of at least 0"));
        }
        Ok(Glicko { start, growth, players: Vec::new() })
    }

    /// Gives a player a strength from elsewhere, as it is at a time.
    pub fn set(&mut self, player: u32, strength: Strength, time: f64) -> Result<()> {
        strength.check()?;
        *self.slot(player) = Some(Player { strength, time });
        Ok(())
    }

    /// The strength of a player at a time.
    pub fn strength(&self, player: u32, time: f64) -> Strength {
        match self.players.get(player as usize) {
            Some(&Some(Player { strength, time: then })) => {
                let grown = strength.deviation.powi(2) + self.growth.powi(2) * (time - then).max(0.0);
                let most = self.start.deviation.max(strength.deviation);
                Strength { rating: strength.rating, deviation: grown.sqrt().min(most) }
            }
            _ => self.start,
        }
    }

    /// The rating of a player.
    pub fn rating(&self, player: u32) -> f64 {
        self.players
            .get(player as usize)
            .copied()
            .flatten()
            .unwrap_or(Player { strength: self.start, time: 0.0 })
            .strength
            .rating
    }

    /// Moves the players of one period's games, all at once: every game meets the strengths from before the period, at
    /// the time of the last of its games. A period of one game is an update game by game.
    pub fn update(&mut self, period: &[Game]) {
        let Some(time) = period.iter().map(|game| game.time).max_by(f64::total_cmp) else { return };
        let mut sums: BTreeMap<u32, Sums> = BTreeMap::new();
        for game in period {
            let points = game.left_points();
            for (player, opponent, points) in [(game.left, game.right, points), (game.right, game.left, 1.0 - points)] {
                let (own, other) = (self.strength(player, time), self.strength(opponent, time));
                sums.entry(player).or_default().add(own.rating, other, points);
            }
        }
        let moved: Vec<(u32, Strength)> =
            sums.iter().map(|(&player, sums)| (player, sums.moved(self.strength(player, time)))).collect();
        for (player, strength) in moved {
            *self.slot(player) = Some(Player { strength, time });
        }
    }

    fn slot(&mut self, number: u32) -> &mut Option<Player> {
        let at = number as usize;
        if at >= self.players.len() {
            self.players.resize(at + 1, None);
        }
        &mut self.players[at]
    }
}

/// What a player's games of a period add up to.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// 1/d²
    information: f64,
    /// Σ g(s − E)
    surplus: f64,
}

impl Sums {
    fn add(&mut self, rating: f64, opponent: Strength, points: f64) {
        let g = 1.0 / (1.0 + 3.0 * (Q * opponent.deviation / PI).powi(2)).sqrt();
        let expected = 1.0 / (1.0 + 10f64.powf(-g * (rating - opponent.rating) / 400.0));
        self.information += (Q * g).powi(2) * expected * (1.0 - expected);
        self.surplus += g * (points - expected);
    }

    fn moved(&self, before: Strength) -> Strength {
        let precision = before.deviation.powi(-2) + self.information;
        Strength { rating: before.rating + Q * self.surplus / precision, deviation: precision.sqrt().recip() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Outcome;

    const NEW: Strength = Strength { rating: 1500.0, deviation: 350.0 };

    fn game(time: f64, left: u32, right: u32, outcome: Outcome) -> Game {
        Game { time, left, right, outcome, is_neutral: false, weight: 1.0 }
    }

    fn example() -> Glicko {
        let mut glicko = Glicko::new(NEW, 0.0).unwrap();
        let players = [(1500.0, 200.0), (1400.0, 30.0), (1550.0, 100.0), (1700.0, 300.0)];
        for (player, (rating, deviation)) in (0..).zip(players) {
            glicko.set(player, Strength { rating, deviation }, 0.0).unwrap();
        }
        glicko
    }

    /// The worked example of Glickman's description: 1500 (200) wins against 1400 (30), loses to 1550 (100) and 1700
    /// (300).
    #[test]
    fn the_published_example() {
        let mut glicko = example();
        let win_as_right = game(0.0, 1, 0, Outcome::Right);
        glicko.update(&[win_as_right, game(0.0, 0, 2, Outcome::Right), game(0.0, 0, 3, Outcome::Right)]);
        let found = glicko.strength(0, 0.0);
        assert!((found.rating - 1464.1).abs() < 0.05, "{found:?}");
        assert!((found.deviation - 151.4).abs() < 0.05, "{found:?}");
        assert_eq!(glicko.rating(0), found.rating);
    }

    /// Two new players tie, so that nothing but the deviation moves. g(350) = 0.669069, 1/d² = q²g²/4 = 3.70846e−6,
    /// 1/350² = 8.16327e−6: the deviation becomes 1/√1.187173e−5 = 290.2305.
    #[test]
    fn one_game_by_hand() {
        let mut glicko = Glicko::new(NEW, 0.0).unwrap();
        glicko.update(&[game(3.0, 5, 7, Outcome::Tie)]);
        for player in [5, 7] {
            let found = glicko.strength(player, 3.0);
            assert!((found.rating - 1500.0).abs() < 1e-9 && (found.deviation - 290.2305).abs() < 1e-3, "{found:?}");
        }
        assert_eq!(glicko.strength(6, 3.0), NEW);
    }

    /// Opponents are met as they were before the period, whatever the order of its games.
    #[test]
    fn the_games_of_a_period_have_no_order() {
        let (a, b) = (game(0.0, 0, 1, Outcome::Left), game(0.0, 2, 1, Outcome::Left));
        let (mut one, mut other, mut by_game) = (example(), example(), example());
        one.update(&[a, b]);
        other.update(&[b, a]);
        [a, b].iter().for_each(|game| by_game.update(&[*game]));
        for player in 0..4 {
            assert!((one.rating(player) - other.rating(player)).abs() < 1e-9);
        }
        assert!((one.rating(1) - by_game.rating(1)).abs() > 1e-6);
        assert_eq!(one.rating(0), by_game.rating(0));
    }

    /// √(50² + 10²·t): 70.71 after 25 units of time, and never more than 350.
    #[test]
    fn deviations_grow_while_nobody_plays() {
        let mut glicko = Glicko::new(NEW, 10.0).unwrap();
        glicko.set(0, Strength { rating: 1600.0, deviation: 50.0 }, 100.0).unwrap();
        let deviation = |time| glicko.strength(0, time).deviation;
        assert!((deviation(125.0) - 5000f64.sqrt()).abs() < 1e-9);
        assert_eq!((deviation(100.0), deviation(90.0), deviation(1e6)), (50.0, 50.0, 350.0));
        assert_eq!(glicko.strength(0, 1e6).rating, 1600.0);
    }

    #[test]
    fn refuses_what_is_no_strength() {
        assert!(Glicko::new(Strength { deviation: 0.0, ..NEW }, 1.0).is_err());
        assert!(Glicko::new(NEW, -1.0).is_err());
        assert!(Glicko::new(NEW, 1.0).unwrap().set(0, Strength { rating: f64::NAN, ..NEW }, 0.0).is_err());
    }
}
