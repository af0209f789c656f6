//! Elo's rating: expected points are a logistic function of the difference, and the games of a period move a player by
//!
//! K·Σ weight·(points − expected), expected = 1 / (1 + 10^(−difference/400)).
//!
//! Elo, *The Rating of Chessplayers, Past and Present* (1978).

use super::online::{LOGITS_PER_POINT, check_advantage, counting};
use super::{Online, Strength};
use crate::data::Game;
use crate::error::{Error, Result};

/// Ratings from here on move least, by the rules of chess.
const MASTER_RATING: f64 = 2400.0;
/// Games after which a player is no longer new, by the rules of chess.
const NEW_PLAYER_GAMES: f64 = 30.0;

/// How far a game may move a player.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KFactor {
    /// The same for all.
    Constant(f64),
    /// The rules of the world chess federation until 2009: 25 in a player's first 30 games, then 15, and 10 for ever
    /// once the rating has reached 2400. A game of weight w is w games. What holds before a period holds for all of it.
    FideUntil2009,
    /// The rules of the world chess federation since 2014: 40 in a player's first 30 games, then 20, and 10 for ever once
    /// the rating has reached 2400.
    Fide,
}

/// Elo's ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct Elo {
    k: KFactor,
    start: f64,
    advantage: f64,
    players: Vec<Player>,
    /// Who plays in the period that is being counted; empty between periods.
    playing: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Player {
    rating: f64,
    n_games: f64,
    was_master: bool,
    /// Of the period that is being counted: games, and points above those expected. 0 between periods.
    weight: f64,
    surplus: f64,
}

impl Elo {
    /// All players start from the same rating, and being named first is no advantage.
    pub fn new(k: KFactor, start: f64) -> Result<Self> {
        if let KFactor::Constant(k) = k
            && !(k.is_finite() && k > 0.0)
        {
            return Err(Error::parameter("k", k, "a finite number above 0"));
        }
        if !start.is_finite() {
            return Err(Error::parameter("start", start, "a finite number"));
        }
        Ok(Elo { k, start, advantage: 0.0, players: Vec::new(), playing: Vec::new() })
    }

    /// Adds so much to the rating of the left player in games that are not on neutral ground.
    pub fn with_advantage(mut self, advantage: f64) -> Result<Self> {
        check_advantage(advantage)?;
        self.advantage = advantage;
        Ok(self)
    }

    /// Gives a player a rating from elsewhere, where so many games have made it.
    pub fn set(&mut self, player: u32, rating: f64, n_games: u64) -> Result<()> {
        if !rating.is_finite() {
            return Err(Error::parameter("rating", rating, "a finite number"));
        }
        *self.player_mut(player) = Player::new(rating, n_games as f64);
        Ok(())
    }

    /// The rating of a player.
    pub fn rating(&self, player: u32) -> f64 {
        self.player(player).rating
    }

    /// The points that the left player is expected to get.
    pub fn expected(&self, game: &Game) -> f64 {
        1.0 / (1.0 + 10f64.powf(-self.difference(game) / 400.0))
    }

    /// Points by which the left player is ahead, its advantage included.
    fn difference(&self, game: &Game) -> f64 {
        let advantage = if game.is_neutral { 0.0 } else { self.advantage };
        self.rating(game.left) + advantage - self.rating(game.right)
    }

    fn player(&self, number: u32) -> Player {
        self.players.get(number as usize).copied().unwrap_or(Player::new(self.start, 0.0))
    }

    fn player_mut(&mut self, number: u32) -> &mut Player {
        let at = number as usize;
        if at >= self.players.len() {
            self.players.resize(at + 1, Player::new(self.start, 0.0));
        }
        &mut self.players[at]
    }
}

impl Online for Elo {
    fn strength(&self, player: u32, _time: f64) -> Strength {
        Strength { rating: self.rating(player), deviation: 0.0 }
    }

    fn margin(&self, game: &Game) -> f64 {
        self.difference(game) * LOGITS_PER_POINT
    }

    fn update(&mut self, period: &[Game]) {
        for (game, weight) in counting(period) {
            let surplus = weight * (game.left_points() - self.expected(game));
            for (number, surplus) in [(game.left, surplus), (game.right, -surplus)] {
                let player = self.player_mut(number);
                let is_first = player.weight == 0.0;
                player.weight += weight;
                player.surplus += surplus;
                if is_first {
                    self.playing.push(number);
                }
            }
        }
        for number in self.playing.drain(..) {
            let player = &mut self.players[number as usize];
            player.rating += self.k.of(player) * player.surplus;
            player.n_games += player.weight;
            player.was_master |= player.rating >= MASTER_RATING;
            (player.weight, player.surplus) = (0.0, 0.0);
        }
    }
}

impl Player {
    fn new(rating: f64, n_games: f64) -> Self {
        Player { rating, n_games, was_master: rating >= MASTER_RATING, weight: 0.0, surplus: 0.0 }
    }
}

impl KFactor {
    fn of(self, player: &Player) -> f64 {
        match self {
            KFactor::Constant(k) => k,
            KFactor::FideUntil2009 | KFactor::Fide if player.was_master => 10.0,
            KFactor::FideUntil2009 if player.n_games < NEW_PLAYER_GAMES => 25.0,
            KFactor::FideUntil2009 => 15.0,
            KFactor::Fide if player.n_games < NEW_PLAYER_GAMES => 40.0,
            KFactor::Fide => 20.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Outcome;

    fn game(left: u32, right: u32, outcome: Outcome) -> Game {
        Game { time: 0.0, left, right, outcome, is_neutral: false, weight: 1.0 }
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-5, "{found} instead of {expected}");
    }

    /// 400 points are ten to one: expected 10/11 and 1/11. A difference of 200: 1/(1 + 10^−½) = 0.759747.
    #[test]
    fn moves_by_hand() {
        let mut elo = Elo::new(KFactor::Constant(22.0), 1200.0).unwrap();
        elo.set(0, 1600.0, 0).unwrap();
        near(elo.expected(&game(0, 1, Outcome::Tie)), 10.0 / 11.0);
        elo.update(&[game(0, 1, Outcome::Right)]);
        near(elo.rating(0), 1580.0);
        near(elo.rating(1), 1220.0);
        elo.set(2, 1400.0, 0).unwrap();
        elo.update(&[game(3, 2, Outcome::Tie)]);
        near(elo.rating(3), 1200.0 + 22.0 * (0.759747 - 0.5));
        near(elo.rating(2), 1400.0 - 22.0 * (0.759747 - 0.5));
        assert_eq!(elo.rating(99), 1200.0);
    }

    /// An advantage of 200 for a player who is 200 behind makes the game even, unless the ground is neutral.
    #[test]
    fn the_advantage_is_that_of_the_left_player() {
        let mut elo = Elo::new(KFactor::Constant(10.0), 1000.0).unwrap().with_advantage(200.0).unwrap();
        elo.set(1, 1200.0, 0).unwrap();
        near(elo.expected(&game(0, 1, Outcome::Tie)), 0.5);
        near(elo.expected(&Game { is_neutral: true, ..game(0, 1, Outcome::Tie) }), 1.0 - 0.759747);
        elo.update(&[game(0, 1, Outcome::Left)]);
        near(elo.rating(0), 1005.0);
        near(elo.rating(1), 1195.0);
    }

    /// Every game is between equals, so that each one moves by K/2.
    #[test]
    fn the_rules_of_chess() {
        let mut elo = Elo::new(KFactor::FideUntil2009, 1200.0).unwrap();
        let mut step = |n_games, rating: f64, outcome| {
            elo.set(0, rating, n_games).unwrap();
            elo.set(1, rating, 30).unwrap();
            elo.update(&[game(0, 1, outcome)]);
            (elo.rating(0) - rating, elo.rating(1) - rating)
        };
        assert_eq!(step(29, 1200.0, Outcome::Left), (12.5, -7.5));
        assert_eq!(step(30, 1200.0, Outcome::Left), (7.5, -7.5));
        assert_eq!(step(0, 2400.0, Outcome::Right), (-5.0, 5.0));
        // Who has been at 2400 stays with 10 below it; who was not goes on with 15.
        elo.update(&[game(0, 1, Outcome::Tie)]);
        near(elo.rating(0) + elo.rating(1), 4800.0);
        assert!(elo.rating(0) < 2400.0 && elo.players[0].was_master);
        assert!(!Elo::new(KFactor::Fide, 2399.0).unwrap().player(0).was_master);
    }

    /// 0 beats 1 and 2, all equals before: two halves of K for it, one for each of the others, in whatever order.
    #[test]
    fn a_period_counts_at_once() {
        let (a, b) = (game(0, 1, Outcome::Left), game(2, 0, Outcome::Right));
        let absent = Game { weight: 0.0, ..game(1, 2, Outcome::Left) };
        for period in [[a, b, absent], [absent, b, a]] {
            let mut elo = Elo::new(KFactor::Constant(20.0), 1500.0).unwrap();
            elo.update(&period);
            assert_eq!([0, 1, 2].map(|player| elo.rating(player)), [1520.0, 1490.0, 1490.0]);
        }
        let mut thrice = Elo::new(KFactor::Constant(20.0), 1500.0).unwrap();
        thrice.update(&[Game { weight: 3.0, ..a }]);
        assert_eq!((thrice.rating(0), thrice.players[1].n_games), (1530.0, 3.0));
        assert!((thrice.margin(&a) - 60.0 / 400.0 * std::f64::consts::LN_10).abs() < 1e-12);
    }

    #[test]
    fn refuses_what_is_no_rating() {
        assert!(Elo::new(KFactor::Constant(0.0), 1200.0).is_err());
        assert!(Elo::new(KFactor::Fide, f64::NAN).is_err());
        assert!(Elo::new(KFactor::Fide, 0.0).unwrap().with_advantage(f64::INFINITY).is_err());
        assert!(Elo::new(KFactor::Fide, 0.0).unwrap().set(0, f64::NAN, 0).is_err());
    }
}
