//! TrueSkill's rating: the skill of a player is a normal number with mean μ and deviation σ, and what happens in a game
//! is the skill with noise of deviation β (Herbrich, Minka and Graepel, *TrueSkill: a Bayesian skill rating system*,
//! 2007). Who is ahead by more than ε wins, else it is a tie; p ties among equals make ε = Φ⁻¹((p + 1)/2)·√2·β.
//!
//! For a player against an opponent, c² = 2β² + σ² + σ_j². What the outcome says of the difference of the two performances,
//! (μ − μ_j)/c before the game, moves it by v and takes the part w of its variance: beyond ε/c for who has won, within
//! ±ε/c for a tie. Thus, alone, μ ← μ + σ²v/c and σ² ← σ²(1 − σ²w/c²). In terms of precision that is a message of
//!
//! precision (w/c²)/(1 − σ²w/c²), and precision times mean, from where the player stands, (v/c)/(1 − σ²w/c²).
//!
//! The messages of a period, each from the strengths before it, are added, times the weights of their games.
//!
//! On the scale of Elo's ratings a unit of μ is 2/(√π·β·q) points, q = ln 10/400: so the chances of players with known
//! skills change alike around equality. β = 25/6 makes that 47.04 points.

use std::f64::consts::{PI, SQRT_2};

use super::normal::{self, beyond, within};
use super::online::{LOGITS_PER_POINT, check_advantage, check_period, counting, elapsed, end};
use super::{Online, Strength};
use crate::data::{Game, Outcome};
use crate::error::{Error, Result};

/// Where everybody starts.
const START: Skill = Skill { mean: 25.0, deviation: 25.0 / 3.0 };
/// Deviation of what happens in a game.
const BETA: f64 = 25.0 / 6.0;

/// What is thought of a player, in TrueSkill's own units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Skill {
    /// μ; 25 for new players.
    pub mean: f64,
    /// σ; 25/3 for new players.
    pub deviation: f64,
}

/// How skills change by themselves: a variance that is added to that of a player who plays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dynamics {
    /// τ² before every period that the player plays in, its first one included, however long the pause was. What is usual,
    /// with τ = 25/300.
    EachPeriod(f64),
    /// τ² times the periods since the player's last game, which need not be a whole number; never beyond the variance of
    /// a new player.
    Elapsed(f64),
}

impl Default for Dynamics {
    fn default() -> Self {
        Dynamics::EachPeriod(25.0 / 300.0)
    }
}

impl Dynamics {
    fn tau(self) -> f64 {
        match self {
            Dynamics::EachPeriod(tau) | Dynamics::Elapsed(tau) => tau,
        }
    }
}

/// TrueSkill's ratings of two-player games.
#[derive(Debug, Clone, PartialEq)]
pub struct TrueSkill {
    /// The rating of new players, in points.
    start: f64,
    /// ε
    band: f64,
    dynamics: Dynamics,
    period: f64,
    /// In units of μ.
    advantage: f64,
    players: Vec<Player>,
    /// Who plays in the period that is being counted; empty between periods.
    playing: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Player {
    skill: Skill,
    /// When the deviation was what it is; `None` for who has not played yet.
    time: Option<f64>,
    /// Of the period that is being counted; not in use between periods.
    now: Option<Counted>,
}

const NEW: Player = Player { skill: START, time: None, now: None };

/// A player in the period that is being counted: the skill before it, and the messages so far.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counted {
    mean: f64,
    variance: f64,
    /// Σ of the messages' precisions.
    precision: f64,
    /// Σ of precision times mean, from where the player stands.
    push: f64,
}

impl TrueSkill {
    /// Games between equals are ties with probability `ties`, from 0 to below 1; `start` is what μ = 25 is called in points.
    pub fn new(start: f64, ties: f64, dynamics: Dynamics) -> Result<Self> {
        if !start.is_finite() {
            return Err(Error::parameter("start", start, "a finite number"));
        }
        if !(0.0..1.0).contains(&ties) {
            return Err(Error::parameter("draws", ties, "a probability below 1"));
        }
        let tau = dynamics.tau();
        if !(0.0..=1e100).contains(&tau) {
            return Err(Error::parameter("dynamics", tau, "a number from 0 to 1e100"));
        }
        // Φ⁻¹((1 + p)/2) = −Φ⁻¹((1 − p)/2), which is exact also where p is almost 1.
        let band = (-normal::quantile(0.5 * (1.0 - ties))).max(0.0) * SQRT_2 * BETA;
        let (players, playing) = (Vec::new(), Vec::new());
        Ok(TrueSkill { start, band, dynamics, period: 1.0, advantage: 0.0, players, playing })
    }

    /// From ratings in points, where μ = 25 is called `start`, to μ.
    pub fn own_scale(start: f64) -> impl Fn(f64) -> f64 {
        move |rating| START.mean + (rating - start) / points_per_unit()
    }

    /// Adds so many points to the rating of the left player in games that are not on neutral ground.
    pub fn with_advantage(mut self, advantage: f64) -> Result<Self> {
        check_advantage(advantage)?;
        self.advantage = advantage / points_per_unit();
        Ok(self)
    }

    /// A period lasts so many units of the games' time.
    pub fn with_period(mut self, length: f64) -> Result<Self> {
        check_period(length)?;
        self.period = length;
        Ok(self)
    }

    /// Gives a player a skill from elsewhere, as it is at a time.
    pub fn set(&mut self, player: u32, skill: Skill, time: f64) -> Result<()> {
        Strength { rating: skill.mean, deviation: skill.deviation }.check()?;
        self.make_room(player);
        self.players[player as usize] = Player { skill, time: Some(time), now: None };
        Ok(())
    }

    /// μ and σ of a player at a time.
    pub fn skill(&self, player: u32, time: f64) -> Skill {
        let Player { skill, time: then, .. } = self.players.get(player as usize).copied().unwrap_or(NEW);
        match (self.dynamics, then) {
            (Dynamics::Elapsed(tau), Some(then)) => {
                let grown = skill.deviation.powi(2) + tau * tau * elapsed(then, time, self.period);
                Skill { deviation: grown.sqrt().min(START.deviation.max(skill.deviation)), ..skill }
            }
            _ => skill,
        }
    }

    fn make_room(&mut self, number: u32) {
        if number as usize >= self.players.len() {
            self.players.resize(number as usize + 1, NEW);
        }
    }

    /// A player's numbers of the period that ends at a time, from the first game on.
    fn count(&mut self, number: u32, end: f64) -> Counted {
        self.make_room(number);
        if let Some(counted) = self.players[number as usize].now {
            return counted;
        }
        let Skill { mean, deviation } = self.skill(number, end);
        let added = match self.dynamics {
            Dynamics::EachPeriod(tau) => tau * tau,
            Dynamics::Elapsed(_) => 0.0,
        };
        let counted = Counted { mean, variance: deviation * deviation + added, precision: 0.0, push: 0.0 };
        self.players[number as usize].now = Some(counted);
        self.playing.push(number);
        counted
    }
}

/// Points of Elo's scale in a unit of μ.
fn points_per_unit() -> f64 {
    2.0 / (PI.sqrt() * BETA * LOGITS_PER_POINT)
}

impl Online for TrueSkill {
    fn strength(&self, player: u32, time: f64) -> Strength {
        let Skill { mean, deviation } = self.skill(player, time);
        let unit = points_per_unit();
        Strength { rating: self.start + (mean - START.mean) * unit, deviation: deviation * unit }
    }

    fn margin(&self, game: &Game) -> f64 {
        let (left, right) = (self.skill(game.left, game.time), self.skill(game.right, game.time));
        let advantage = if game.is_neutral { 0.0 } else { self.advantage };
        let c = (2.0 * BETA * BETA + left.deviation.powi(2) + right.deviation.powi(2)).sqrt();
        // Φ and the logistic function have slopes 1/√(2π) and ¼.
        4.0 / (2.0 * PI).sqrt() * ((left.mean + advantage - right.mean) / c)
    }

    fn update(&mut self, period: &[Game]) {
        let Some(end) = end(period) else { return };
        for (game, weight) in counting(period) {
            let advantage = if game.is_neutral { 0.0 } else { self.advantage };
            let (left, right) = (self.count(game.left, end), self.count(game.right, end));
            let c = (2.0 * BETA * BETA + left.variance + right.variance).sqrt();
            let (ahead, band) = ((left.mean + advantage - right.mean) / c, self.band / c);
            // By how much the left player's lead turns out to be different, and how much less of it is unknown.
            let (moved, lost) = match game.outcome {
                Outcome::Left => {
                    let known = beyond(band - ahead);
                    (known.mean, known.lost)
                }
                Outcome::Right => {
                    let known = beyond(band + ahead);
                    (-known.mean, known.lost)
                }
                Outcome::Tie => {
                    let known = within(-ahead, band);
                    (known.mean, known.lost)
                }
            };
            for (number, moved) in [(game.left, moved), (game.right, -moved)] {
                if let Some(counted) = &mut self.players[number as usize].now {
                    let left_over = 1.0 - counted.variance / (c * c) * lost;
                    counted.precision += weight * (lost / (c * c) / left_over);
                    counted.push += weight * (moved / c / left_over);
                }
            }
        }
        for number in self.playing.drain(..) {
            let player = &mut self.players[number as usize];
            if let Some(counted) = player.now.take() {
                (player.skill, player.time) = (counted.moved(), Some(end));
            }
        }
    }
}

impl Counted {
    fn moved(&self) -> Skill {
        let precision = self.variance.recip() + self.precision;
        Skill { mean: self.mean + self.push / precision, deviation: precision.sqrt().recip() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(left: u32, right: u32, outcome: Outcome) -> Game {
        Game { time: 0.0, left, right, outcome, is_neutral: false, weight: 1.0 }
    }

    fn usual() -> TrueSkill {
        TrueSkill::new(1500.0, 0.1, Dynamics::default()).unwrap()
    }

    #[track_caller]
    fn near(found: Skill, mean: f64, deviation: f64) {
        assert!((found.mean - mean).abs() < 5e-4 && (found.deviation - deviation).abs() < 5e-4, "{found:?}");
    }

    /// Two new players: the first wins, or they tie.
    #[test]
    fn the_known_examples() {
        for (left, right, outcome) in [(0, 1, Outcome::Left), (1, 0, Outcome::Right)] {
            let mut skills = usual();
            skills.update(&[game(left, right, outcome)]);
            near(skills.skill(0, 0.0), 29.396, 7.171);
            near(skills.skill(1, 0.0), 20.604, 7.171);
        }
        let mut skills = usual();
        skills.update(&[game(0, 1, Outcome::Tie)]);
        near(skills.skill(0, 0.0), 25.0, 6.458);
        assert_eq!(skills.skill(0, 0.0), skills.skill(1, 0.0));
        assert_eq!(skills.skill(0, 0.0).mean, 25.0);
        assert_eq!(skills.skill(7, 0.0), START);
    }

    /// Players with known skills, a little apart: the margin is the logarithm of the odds, the rating says the same.
    #[test]
    fn the_scale_is_that_of_elo() {
        let mut skills = usual();
        for (player, mean) in [(0, 25.05), (1, 25.0)] {
            skills.set(player, Skill { mean, deviation: 1e-6 }, 0.0).unwrap();
        }
        let p = normal::probability(0.05 / (SQRT_2 * BETA));
        let margin = skills.margin(&game(0, 1, Outcome::Tie));
        assert!((margin / (p / (1.0 - p)).ln() - 1.0).abs() < 1e-4);
        let points = skills.strength(0, 0.0).rating - skills.strength(1, 0.0).rating;
        assert!((points * LOGITS_PER_POINT / margin - 1.0).abs() < 1e-9);
        assert!((points_per_unit() - 47.04).abs() < 5e-3);
        assert_eq!(skills.strength(9, 0.0).rating, 1500.0);
    }

    /// An advantage of as many points as the other is ahead makes a tie say nothing of who is better.
    #[test]
    fn the_advantage_is_that_of_the_left_player() {
        let mut skills = usual().with_advantage(points_per_unit() * 2.0).unwrap();
        skills.set(1, Skill { mean: 27.0, deviation: 3.0 }, 0.0).unwrap();
        assert!(skills.margin(&game(0, 1, Outcome::Tie)).abs() < 1e-12);
        skills.update(&[game(0, 1, Outcome::Tie)]);
        assert!((skills.skill(0, 0.0).mean - 25.0).abs() < 1e-9 && (skills.skill(1, 0.0).mean - 27.0).abs() < 1e-9);
    }

    /// √(4² + 1²·t), up to 25/3.
    #[test]
    fn skills_change_with_time_where_asked() {
        let mut skills = TrueSkill::new(0.0, 0.1, Dynamics::Elapsed(1.0)).unwrap().with_period(2.0).unwrap();
        skills.set(0, Skill { mean: 25.0, deviation: 4.0 }, 10.0).unwrap();
        assert_eq!(skills.skill(0, 28.0).deviation, 5.0);
        assert_eq!((skills.skill(0, 3.0).deviation, skills.skill(0, 1e300).deviation), (4.0, 25.0 / 3.0));
        assert_eq!(usual().skill(0, 1e300), START);
    }

    #[test]
    fn refuses_what_cannot_be() {
        assert!(TrueSkill::new(0.0, 1.0, Dynamics::default()).is_err());
        assert!(TrueSkill::new(0.0, -0.1, Dynamics::default()).is_err());
        assert!(TrueSkill::new(f64::NAN, 0.1, Dynamics::default()).is_err());
        assert!(TrueSkill::new(0.0, 0.1, Dynamics::Elapsed(f64::NAN)).is_err());
        assert!(usual().set(0, Skill { mean: 25.0, deviation: 0.0 }, 0.0).is_err());
        assert!(usual().with_period(f64::INFINITY).is_err() && usual().with_advantage(f64::NAN).is_err());
    }
}
