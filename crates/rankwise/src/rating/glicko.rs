//! Glicko's rating: a rating r and how unsure it is, its deviation RD (Glickman, *Parameter estimation in large dynamic
//! paired comparison experiments*, 1999).
//!
//! With q = ln 10 / 400, g(RD) = 1/√(1 + 3q²RD²/π²) and E = 1/(1 + 10^(−g(RD_j)(r − r_j)/400)), a player's games of a
//! period, with points s_j against opponents as they were before it, and weights w_j, give
//!
//! 1/d² = q² Σ w_j g(RD_j)² E(1 − E),  r ← r + q/(1/RD² + 1/d²) · Σ w_j g(RD_j)(s_j − E),  RD ← √(1/(1/RD² + 1/d²)).
//!
//! Between games a deviation grows, √(RD² + c²t) after t periods, up to that of a new player. A period lasts as long as
//! is said, and t need not be whole.

use std::f64::consts::PI;

use super::online::{LOGITS_PER_POINT as Q, check_advantage, check_period, counting, elapsed, end};
use super::{Online, Strength};
use crate::data::Game;
use crate::error::{Error, Result};

/// Glicko's ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct Glicko {
    start: Strength,
    growth: f64,
    period: f64,
    advantage: f64,
    players: Vec<Player>,
    /// Who plays in the period that is being counted; empty between periods.
    playing: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Player {
    strength: Strength,
    /// When the deviation was what it is; `None` for who has not played yet.
    time: Option<f64>,
    /// Of the period that is being counted; not in use between periods.
    now: Option<Counted>,
}

/// A player in the period that is being counted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counted {
    before: Strength,
    g: f64,
    /// 1/d²
    information: f64,
    /// Σ w g(s − E)
    surplus: f64,
}

impl Glicko {
    /// All players start alike; `growth` is c, for one period, which is one unit of the games' time.
    pub fn new(start: Strength, growth: f64) -> Result<Self> {
        start.check()?;
        if !(growth.is_finite() && growth >= 0.0) {
            return Err(Error::parameter("growth", growth, "a finite number of at least 0"));
        }
        Ok(Glicko { start, growth, period: 1.0, advantage: 0.0, players: Vec::new(), playing: Vec::new() })
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

    /// Gives a player a strength from elsewhere, as it is at a time.
    pub fn set(&mut self, player: u32, strength: Strength, time: f64) -> Result<()> {
        strength.check()?;
        self.make_room(player);
        self.players[player as usize] = Player { strength, time: Some(time), now: None };
        Ok(())
    }

    /// The rating of a player.
    pub fn rating(&self, player: u32) -> f64 {
        self.players.get(player as usize).map_or(self.start.rating, |player| player.strength.rating)
    }

    fn make_room(&mut self, number: u32) {
        if number as usize >= self.players.len() {
            self.players.resize(number as usize + 1, Player { strength: self.start, time: None, now: None });
        }
    }

    /// A player's numbers of the period that ends at a time, from the first game on.
    fn count(&mut self, number: u32, end: f64) -> Counted {
        self.make_room(number);
        if let Some(counted) = self.players[number as usize].now {
            return counted;
        }
        let before = self.strength(number, end);
        let counted = Counted { before, g: g(before.deviation), information: 0.0, surplus: 0.0 };
        self.players[number as usize].now = Some(counted);
        self.playing.push(number);
        counted
    }
}

impl Online for Glicko {
    fn strength(&self, player: u32, time: f64) -> Strength {
        match self.players.get(player as usize) {
            Some(&Player { strength, time: Some(then), .. }) => {
                let t = elapsed(then, time, self.period);
                let grown = strength.deviation.powi(2) + self.growth.powi(2) * t;
                let most = self.start.deviation.max(strength.deviation);
                Strength { rating: strength.rating, deviation: grown.sqrt().min(most) }
            }
            _ => self.start,
        }
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
                (player.strength, player.time) = (counted.moved(), Some(end));
            }
        }
    }
}

/// How much a game against a player with such a deviation says.
pub(super) fn g(deviation: f64) -> f64 {
    1.0 / (1.0 + 3.0 * (Q * deviation / PI).powi(2)).sqrt()
}

impl Counted {
    fn add(&mut self, g: f64, difference: f64, points: f64, weight: f64) {
        let expected = 1.0 / (1.0 + 10f64.powf(-g * difference / 400.0));
        self.information += weight * ((Q * g).powi(2) * expected * (1.0 - expected));
        self.surplus += weight * (g * (points - expected));
    }

    fn moved(&self) -> Strength {
        let precision = self.before.deviation.powi(-2) + self.information;
        Strength { rating: self.before.rating + Q * self.surplus / precision, deviation: precision.sqrt().recip() }
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

    /// The same in other units of time, and an advantage that makes up for a difference.
    #[test]
    fn periods_have_a_length_and_the_left_player_an_advantage() {
        let new = || Glicko::new(NEW, 10.0).unwrap();
        let mut glicko = new().with_period(4.0).unwrap().with_advantage(100.0).unwrap();
        glicko.set(0, Strength { rating: 1600.0, deviation: 50.0 }, 0.0).unwrap();
        assert!((glicko.strength(0, 100.0).deviation - 5000f64.sqrt()).abs() < 1e-9);
        assert!(glicko.margin(&game(0.0, 1, 0, Outcome::Tie)).abs() < 1e-12);
        glicko.update(&[game(0.0, 1, 0, Outcome::Tie)]);
        assert_eq!((glicko.rating(0), glicko.rating(1)), (1600.0, 1500.0));
        let neutral = Game { is_neutral: true, ..game(0.0, 1, 0, Outcome::Tie) };
        assert!(glicko.margin(&neutral) < -0.1);
        assert!(new().with_period(0.0).is_err() && new().with_advantage(f64::NAN).is_err());
    }

    #[test]
    fn refuses_what_is_no_strength() {
        assert!(Glicko::new(Strength { deviation: 0.0, ..NEW }, 1.0).is_err());
        assert!(Glicko::new(NEW, -1.0).is_err());
        assert!(Glicko::new(NEW, 1.0).unwrap().set(0, Strength { rating: f64::NAN, ..NEW }, 0.0).is_err());
    }
}
