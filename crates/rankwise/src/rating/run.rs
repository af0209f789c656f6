//! Which online system, with what settings, and its run over games.
//!
//! Games of the same *period* count as played at once. Periods have a length, from the first game on; the end of one is the
//! beginning of the next, and games of the same time are always in the same one. Where no length is given, Elo and TrueSkill take
//! games of exactly the same time together. Glicko and Glicko-2 want periods in which a player has about ten games
//! (Glickman): time from the first to the last game · 10 / the median player's number of games, at most that time itself,
//! and 1 if it is 0. Games are counted by weight, so that weight 2 is twice and weight 0 is absent here too.

use super::chances::{Chances, Free};
use super::online::{MOST_WEIGHT, check_advantage, check_period};
use super::{Dynamics, Elo, Glicko, Glicko2, KFactor, Online, Strength, TrueSkill};
use crate::data::{Game, Games, Outcome};
use crate::error::{Error, Result};

/// Deviation of new players in Glicko and Glicko-2.
const START_DEVIATION: f64 = 350.0;
/// Games of a player in a period, by Glickman's advice.
const GAMES_OF_PERIOD: f64 = 10.0;
/// Ties among equals are at most this probable, where they are counted.
const MOST_TIES: f64 = 0.99;
/// An advantage is looked for between these points, first at all of them.
const ADVANTAGES: [f64; 9] = [-1000.0, -500.0, -250.0, -100.0, 0.0, 100.0, 250.0, 500.0, 1000.0];
/// Steps between two of them, each of which leaves 0.618 of the range.
const ADVANTAGE_STEPS: usize = 24;

/// An online system with its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum System {
    /// [`Elo`].
    Elo {
        /// How far a game may move a player.
        k: KFactor,
    },
    /// [`Glicko`], from a deviation of 350.
    Glicko {
        /// c: √(RD² + c²) after a period without a game.
        growth: f64,
    },
    /// [`Glicko2`], from a deviation of 350.
    Glicko2 {
        /// τ: how fast volatilities may change.
        tau: f64,
        /// σ of new players.
        volatility: f64,
    },
    /// [`TrueSkill`].
    TrueSkill {
        /// How probable ties are among equals; `None`: the share of ties among the games, at most 0.99.
        draws: Option<f64>,
        /// How skills change by themselves.
        dynamics: Dynamics,
    },
}

impl System {
    /// All systems as they are usually set: Elo with K = 32; Glicko with c such that a deviation of 50 has become 350 after
    /// a hundred periods; Glicko-2 with τ = 0.5 and σ = 0.06; TrueSkill with ties as they are counted, and τ = 25/300.
    pub const ALL: [System; 4] = [
        System::Elo { k: KFactor::Constant(32.0) },
        // √((350² − 50²)/100)
        System::Glicko { growth: 34.641_016_151_377_55 },
        System::Glicko2 { tau: 0.5, volatility: 0.06 },
        System::TrueSkill { draws: None, dynamics: Dynamics::EachPeriod(25.0 / 300.0) },
    ];

    /// What it is called: `elo`, `glicko`, `glicko2`, `trueskill`.
    pub fn name(self) -> &'static str {
        match self {
            System::Elo { .. } => "elo",
            System::Glicko { .. } => "glicko",
            System::Glicko2 { .. } => "glicko2",
            System::TrueSkill { .. } => "trueskill",
        }
    }

    /// The system of a name, as it is usually set.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.name() == name)
    }
}

/// What being named first is worth, where the ground is not neutral.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Advantage {
    /// Nothing.
    None,
    /// So many points of Elo's scale.
    Points(f64),
    /// As many points, between −1000 and 1000, as make the margins before the games predict best: the least log-loss of
    /// [`Chances`] with a scale of 1. (A free one could shrink whatever advantage, and the ratings with it.)
    Fitted,
}

/// An online rating to be run over games.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct OnlineRating {
    /// The system.
    pub system: System,
    /// What being named first is worth.
    pub advantage: Advantage,
    /// How long a period is, in units of the games' time; `None`: as is usual for the system.
    pub period: Option<f64>,
    /// The rating of new players.
    pub start: f64,
}

/// What a run has found.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineRatings {
    /// Every player at the time of the last game; `None` for who has no game that counts.
    pub strengths: Vec<Option<Strength>>,
    /// Before each game, how much better the left player was thought to be, advantage included, in logits.
    pub margins: Vec<f64>,
    /// How long a period is; `None`: games of the same time alone.
    pub period: Option<f64>,
    /// How many periods have games.
    pub n_periods: usize,
    /// What being named first is worth, in points; `None` where it was to be fitted and the games cannot tell, as one side won all
    /// of them.
    pub advantage: Option<f64>,
}

impl OnlineRating {
    /// A system from a rating of 1500, without an advantage, with its usual periods.
    pub fn new(system: System) -> Self {
        OnlineRating { system, advantage: Advantage::None, period: None, start: 1500.0 }
    }

    /// Sets what being named first is worth.
    pub fn advantage(mut self, advantage: Advantage) -> Self {
        self.advantage = advantage;
        self
    }

    /// Sets how long a period is.
    pub fn period(mut self, period: Option<f64>) -> Self {
        self.period = period;
        self
    }

    /// Sets the rating of new players.
    pub fn start(mut self, start: f64) -> Self {
        self.start = start;
        self
    }

    /// Goes through the games in order of time.
    pub fn run(&self, games: &Games) -> Result<OnlineRatings> {
        self.run_watched(games, &mut |_, _| ())
    }

    /// The same; `watch` sees the system after every period that has games, with the time of the last of these.
    pub fn run_watched(&self, games: &Games, watch: &mut dyn FnMut(f64, &dyn Online)) -> Result<OnlineRatings> {
        Ok(self.run_to_end(games, watch)?.0)
    }

    /// The same with the system as it is after the last game, which can be asked about games to come.
    pub fn run_to_end(
        &self,
        games: &Games,
        watch: &mut dyn FnMut(f64, &dyn Online),
    ) -> Result<(OnlineRatings, Box<dyn Online>)> {
        let plan = self.plan(games)?;
        let mut system = plan.system()?;
        let margins = plan.margins(&mut *system, &games.games, watch);
        let mut has_played = vec![false; games.players.len()];
        for game in games.games.iter().filter(|game| game.weight > 0.0) {
            has_played[game.left as usize] = true;
            has_played[game.right as usize] = true;
        }
        let strengths =
            (0..).zip(has_played).map(|(player, is_in)| is_in.then(|| system.strength(player, plan.end))).collect();
        let n_periods = plan.periods(&games.games).filter(|period| period.iter().any(|game| game.weight > 0.0)).count();
        let found = OnlineRatings { strengths, margins, period: plan.period, n_periods, advantage: plan.advantage };
        Ok((found, system))
    }

    /// Settles all that depends on the games.
    pub(super) fn plan(&self, games: &Games) -> Result<Plan> {
        let mut plan = Plan::new(self, games)?;
        match self.advantage {
            Advantage::None => (),
            Advantage::Points(points) => {
                check_advantage(points)?;
                plan.advantage = Some(points);
            }
            Advantage::Fitted => plan.advantage = plan.fitted_advantage(&games.games)?,
        }
        Ok(plan)
    }
}

/// A rating with all that was open settled.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) system: System,
    pub(super) start: f64,
    /// `None`: the games cannot tell.
    pub(super) advantage: Option<f64>,
    pub(super) period: Option<f64>,
    /// Where each period ends among the games.
    pub(super) ends: Vec<usize>,
    /// The time of the last game that counts.
    pub(super) end: f64,
    ties: f64,
}

impl Plan {
    fn new(rating: &OnlineRating, games: &Games) -> Result<Self> {
        if let Some(length) = rating.period {
            check_period(length)?;
        }
        let mut counting = games.games.iter().filter(|game| game.weight > 0.0).map(|game| game.time);
        let first = counting.next().unwrap_or(0.0);
        let end = counting.next_back().unwrap_or(first);
        let period = match rating.system {
            System::Elo { .. } | System::TrueSkill { .. } => rating.period,
            System::Glicko { .. } | System::Glicko2 { .. } => {
                Some(rating.period.unwrap_or_else(|| usual_period(games, first, end)))
            }
        };
        let ties = match rating.system {
            System::TrueSkill { draws: None, .. } => share_of_ties(&games.games),
            System::TrueSkill { draws: Some(share), .. } => share,
            _ => 0.0,
        };
        let number = |time: f64| match period {
            Some(length) => {
                // Halves, since twice the largest time is not a number.
                ((0.5 * time - 0.5 * first) / (0.5 * length)).floor()
            }
            None => time,
        };
        let mut ends = Vec::new();
        let mut last = f64::NAN;
        for (at, game) in games.games.iter().enumerate() {
            let now = number(game.time);
            if now != last && at > 0 {
                ends.push(at);
            }
            last = now;
        }
        if !games.games.is_empty() {
            ends.push(games.games.len());
        }
        let plan = Plan { system: rating.system, start: rating.start, advantage: Some(0.0), period, ends, end, ties };
        plan.system()?;
        Ok(plan)
    }

    /// The system before the first game.
    pub(super) fn system(&self) -> Result<Box<dyn Online>> {
        let start = Strength { rating: self.start, deviation: START_DEVIATION };
        let (advantage, length) = (self.advantage.unwrap_or(0.0), self.period.unwrap_or(1.0));
        Ok(match self.system {
            System::Elo { k } => Box::new(Elo::new(k, self.start)?.with_advantage(advantage)?),
            System::Glicko { growth } => {
                Box::new(Glicko::new(start, growth)?.with_advantage(advantage)?.with_period(length)?)
            }
            System::Glicko2 { tau, volatility } => {
                Box::new(Glicko2::new(start, volatility, tau)?.with_advantage(advantage)?.with_period(length)?)
            }
            System::TrueSkill { dynamics, .. } => {
                let skills = TrueSkill::new(self.start, self.ties, dynamics)?;
                Box::new(skills.with_advantage(advantage)?.with_period(length)?)
            }
        })
    }

    /// The games, period by period.
    pub(super) fn periods<'a>(&'a self, games: &'a [Game]) -> impl Iterator<Item = &'a [Game]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &games[start..end])
    }

    /// Takes a system through the games; the margin before each.
    fn margins(&self, system: &mut dyn Online, games: &[Game], watch: &mut dyn FnMut(f64, &dyn Online)) -> Vec<f64> {
        let mut margins = Vec::with_capacity(games.len());
        for period in self.periods(games) {
            margins.extend(period.iter().map(|game| system.margin(game)));
            system.update(period);
            if let Some(end) = super::online::end(period) {
                watch(end, system);
            }
        }
        margins
    }

    /// The advantage of the least log-loss: the best of a few, then by golden sections between its neighbours.
    fn fitted_advantage(&self, games: &[Game]) -> Result<Option<f64>> {
        let mut outcomes = games.iter().filter(|game| game.weight > 0.0 && !game.is_neutral).map(|game| game.outcome);
        let Some(first) = outcomes.next() else { return Ok(None) };
        // More is always better where one side won all games: whoever lists winners first means no advantage.
        if first != Outcome::Tie && outcomes.all(|outcome| outcome == first) {
            return Ok(None);
        }
        let mut chances = None;
        let mut loss = |advantage: f64| -> Result<f64> {
            let plan = Plan { advantage: Some(advantage), ..self.clone() };
            let margins = plan.margins(&mut *plan.system()?, games, &mut |_, _| ());
            let found = Chances::fit_from(&margins, games, Free { scale: false, side: false }, chances)?;
            chances = Some(found);
            Ok(found.log_loss(&margins, games)?.unwrap_or(0.0))
        };
        let mut best = (f64::INFINITY, 0);
        // From the middle outwards, so that nothing is better than a little less.
        for at in [4, 5, 3, 6, 2, 7, 1, 8, 0] {
            let found = loss(ADVANTAGES[at])?;
            if found < best.0 {
                best = (found, at);
            }
        }
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        let mut low = ADVANTAGES[best.1.saturating_sub(1)];
        let mut high = ADVANTAGES[(best.1 + 1).min(ADVANTAGES.len() - 1)];
        let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
        let (mut at_a, mut at_b) = (loss(a)?, loss(b)?);
        for _ in 0..ADVANTAGE_STEPS {
            if at_a <= at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - golden * (high - low);
                at_a = loss(a)?;
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + golden * (high - low);
                at_b = loss(b)?;
            }
        }
        let (found, at) = if at_a <= at_b { (at_a, a) } else { (at_b, b) };
        Ok(Some(if found < best.0 { at } else { ADVANTAGES[best.1] }))
    }
}

/// A length by which the median player has about ten games in a period.
fn usual_period(games: &Games, first: f64, last: f64) -> f64 {
    let mut counts = vec![0.0; games.players.len()];
    for game in games.games.iter().filter(|game| game.weight > 0.0) {
        counts[game.left as usize] += game.weight.min(MOST_WEIGHT);
        counts[game.right as usize] += game.weight.min(MOST_WEIGHT);
    }
    counts.retain(|&count| count > 0.0);
    counts.sort_by(f64::total_cmp);
    let span = (last - first).min(f64::MAX);
    let Some(&upper) = counts.get(counts.len() / 2) else { return 1.0 };
    if span <= 0.0 {
        return 1.0;
    }
    let median = 0.5 * (upper + counts[(counts.len() - 1) / 2]);
    // A little more, so that the last game is not alone in a period of its own.
    (span * (GAMES_OF_PERIOD / median).min(1.0) * (1.0 + 1e-9)).clamp(f64::MIN_POSITIVE, f64::MAX)
}

fn share_of_ties(games: &[Game]) -> f64 {
    let weight = |game: &Game| game.weight.min(MOST_WEIGHT);
    let all: f64 = games.iter().map(weight).sum();
    let ties: f64 = games.iter().filter(|game| game.outcome == Outcome::Tie).map(weight).sum();
    if all > 0.0 { (ties / all).min(MOST_TIES) } else { 0.0 }
}

/// Refuses a number of results that would not fit into memory.
pub(super) fn check_size(n_players: usize, n_resamples: usize, most: usize) -> Result<()> {
    match n_players.checked_mul(n_resamples) {
        Some(n) if n <= most && n_resamples > 0 => Ok(()),
        _ => {
            let expected = format!("at least 1, and with {n_players} players at most {}", most / n_players.max(1));
            Err(Error::parameter("resamples", n_resamples, expected))
        }
    }
}
