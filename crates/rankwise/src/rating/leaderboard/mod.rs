//! A leaderboard from games, with all that belongs to it: ratings by any system, intervals, chances, effects, and what users
//! should know before they believe it.

mod chances;
mod davidson;
mod online;
mod words;

use super::{Advantage, DavidsonRating, Estimate, Level, OnlineRating, Parts, Standing};
use crate::data::Games;
use crate::error::Result;
use crate::progress::{Unwatched, Watch};

pub use chances::PairChances;
pub use words::{first_names, plain_name, short_name};

/// Resamples that should lie outside of an interval at least.
const LEAST_OUTSIDE: f64 = 5.0;

/// How ratings are found.
#[derive(Debug, Clone, PartialEq)]
pub enum RatingSystem {
    /// Maximum likelihood.
    Davidson(DavidsonRating),
    /// Game by game.
    Online(OnlineRating),
}

impl RatingSystem {
    /// What it is called: `davidson`, or the name of the online system.
    pub fn name(&self) -> &'static str {
        match self {
            RatingSystem::Davidson(_) => "davidson",
            RatingSystem::Online(rating) => rating.system.name(),
        }
    }

    /// Whether being named first may be worth something.
    pub fn has_side(&self) -> bool {
        match self {
            RatingSystem::Davidson(rating) => rating.has_side,
            RatingSystem::Online(rating) => rating.advantage != Advantage::None,
        }
    }

    /// Resamples of the bootstrap, unless others are asked for: fewer where every game is gone through again for each.
    pub fn usual_resamples(&self) -> usize {
        match self {
            RatingSystem::Davidson(_) => 1000,
            RatingSystem::Online(_) => 200,
        }
    }
}

/// Where intervals come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalMethod {
    /// Errors that hold even if the model does not.
    Sandwich,
    /// Resampled games.
    Bootstrap,
    /// What the system itself says.
    Own,
}

impl IntervalMethod {
    /// All of them.
    pub const ALL: [IntervalMethod; 3] = [IntervalMethod::Sandwich, IntervalMethod::Bootstrap, IntervalMethod::Own];

    /// What it is called: `sandwich`, `bootstrap`, `own`.
    pub fn name(self) -> &'static str {
        match self {
            IntervalMethod::Sandwich => "sandwich",
            IntervalMethod::Bootstrap => "bootstrap",
            IntervalMethod::Own => "own",
        }
    }
}

/// What ratings are told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatingUnit {
    /// 400 points are odds of ten to one.
    Elo,
    /// The system's own: logarithms of odds for the likelihood, μ for TrueSkill.
    Own,
}

impl RatingUnit {
    /// All of them.
    pub const ALL: [RatingUnit; 2] = [RatingUnit::Elo, RatingUnit::Own];

    /// What it is called: `elo`, `own`.
    pub fn name(self) -> &'static str {
        match self {
            RatingUnit::Elo => "elo",
            RatingUnit::Own => "own",
        }
    }
}

/// How a leaderboard is made.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaderboardPlan {
    /// The system, with its settings.
    pub system: RatingSystem,
    /// Where intervals come from.
    pub method: IntervalMethod,
    /// How wide they are; `None`: there are none, and nothing is computed for them.
    pub level: Option<Level>,
    /// Resamples of the bootstrap.
    pub n_resamples: usize,
    /// What ratings are told in.
    pub unit: RatingUnit,
    /// What random numbers start from.
    pub seed: u64,
}

/// What only some systems have to say.
#[derive(Debug, Clone, PartialEq)]
pub enum SystemFacts {
    /// Of the likelihood.
    Davidson {
        /// C of the penalty.
        c: Option<f64>,
        /// After how much time a game counts half.
        half_life: Option<f64>,
        /// log P(what happened).
        log_likelihood: f64,
        /// The certificate: the largest difference between points made and expected, per game of an item.
        gradient: f64,
        /// Whether the search ended at the maximum.
        is_converged: bool,
        /// Newton's steps.
        iterations: u64,
        /// Whether wins and ties can be told apart perfectly.
        is_separable: bool,
    },
    /// Of a system that goes through the games in order.
    Online {
        /// How long a period is; `None`: games of the same time alone.
        period: Option<f64>,
        /// How many periods have games.
        n_periods: usize,
        /// What differences of ratings are multiplied by to become chances.
        margin_scale: f64,
    },
}

/// Where intervals came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalFacts {
    /// The share of cases in which they should hold what is true; `None`: there are none.
    pub level: Option<f64>,
    /// Their method, where there are any.
    pub method: IntervalMethod,
    /// Resamples of the bootstrap.
    pub n_resamples: Option<usize>,
    /// Independent groups.
    pub n_groups: Option<usize>,
    /// Random draws that errors were estimated from.
    pub n_draws: Option<usize>,
}

impl IntervalFacts {
    /// What the method is called; `none` without intervals.
    pub fn name(&self) -> &'static str {
        if self.level.is_some() { self.method.name() } else { "none" }
    }
}

/// A leaderboard with all that belongs to it.
pub struct Leaderboard {
    /// The system's name.
    pub system: &'static str,
    /// What ratings are told in.
    pub unit: RatingUnit,
    /// The lines, best first, in that unit.
    pub standings: Vec<Standing>,
    /// Who can be compared with whom.
    pub parts: Parts,
    /// Where intervals come from.
    pub intervals: IntervalFacts,
    /// What else helps a side, in the same unit for one unit of it.
    pub effects: Vec<(String, Estimate)>,
    /// Davidson's ν, of the likelihood or of the probabilities fitted to what ratings said before each game.
    pub tie_parameter: f64,
    /// What only this system has to say.
    pub facts: SystemFacts,
    /// What users should know before they believe it, in the words of the command line.
    pub warnings: Vec<String>,
    /// How long ratings took, and how long their intervals.
    pub seconds: [f64; 2],
    /// Win, tie and loss between its players.
    pub pair_chances: PairChances,
}

impl LeaderboardPlan {
    /// The leaderboard of games.
    pub fn rate(&self, games: &Games) -> Result<Leaderboard> {
        self.rate_watched(games, &Unwatched)
    }

    /// The same while `watch` looks on, and perhaps stops it.
    pub fn rate_watched(&self, games: &Games, watch: &dyn Watch) -> Result<Leaderboard> {
        let mut board = match &self.system {
            RatingSystem::Davidson(rating) => davidson::rate(games, rating, self, watch)?,
            RatingSystem::Online(rating) => online::rate(games, rating, self, watch)?,
        };
        board.warnings.extend(part_warning(&board.parts.part_sizes));
        let outside = 1.0 - self.level.map_or(0.0, Level::share);
        let n_outside = board.intervals.n_resamples.map(|n| n as f64 * outside);
        if let Some(n) = n_outside.filter(|n| *n < LEAST_OUTSIDE) {
            board.warnings.push(format!(
                "{n:.1} of the resamples lie outside of an interval, which leaves its ends to chance; --resamples {:.0} \
                 would do",
                LEAST_OUTSIDE / outside
            ));
        }
        if board.intervals.n_groups == Some(1) {
            board.warnings.push(
                "all games are in one group, which does not show how much groups vary: no intervals; leave the groups out \
                 (--drop group) if games are independent"
                    .into(),
            );
        }
        Ok(board)
    }

    fn interval_facts(&self) -> IntervalFacts {
        let (level, method) = (self.level.map(Level::share), self.method);
        IntervalFacts { level, method, n_resamples: None, n_groups: None, n_draws: None }
    }
}

impl Leaderboard {
    /// Win, tie and loss of the first of two players against the second one, on neutral ground; `None` where nothing is
    /// known of their difference.
    pub fn chances(&self, left: u32, right: u32) -> Option<[f64; 3]> {
        self.pair_chances.of(left, right)
    }

    /// Whether there are ratings that cannot be compared with others.
    pub fn has_scales(&self) -> bool {
        self.parts.part_sizes.len() > 1 || self.standings.iter().any(|line| line.scale > Some(0))
    }

    /// Moves the ratings that can be compared with an item, so that it has this one. Says how many others keep theirs;
    /// `None` if the item has no rating to be moved.
    pub fn anchor(&mut self, player: u32, rating: f64) -> Option<usize> {
        let line = self.standings.iter().find(|line| line.player == player)?;
        let (scale, now) = (Some(line.scale?), line.estimate.rating?);
        let shift = rating - now;
        for line in self.standings.iter_mut().filter(|line| line.scale == scale) {
            line.estimate = Estimate::scaled(line.estimate, 1.0, shift);
        }
        Some(self.standings.iter().filter(|line| line.scale.is_some() && line.scale != scale).count())
    }
}

/// What cannot be compared because no game connects it.
fn part_warning(sizes: &[usize]) -> Option<String> {
    let largest: Vec<String> = sizes.iter().take(3).map(usize::to_string).collect();
    let more = if sizes.len() > 3 { ", …" } else { "" };
    (sizes.len() > 1).then(|| {
        format!(
            "the items fall into {} parts without a game between them (of {}{more} items): ratings of different parts \
             cannot be compared, and ranks are among those that can",
            sizes.len(),
            largest.join(", ")
        )
    })
}
