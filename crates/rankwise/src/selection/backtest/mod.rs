//! Which system predicts games best: each of them is asked before every game of the last part, and none has seen what it is
//! asked about.
//!
//! One moment splits the games. What is set (Elo's K, C, half-lives, scales of probabilities) is chosen on the games before it.
//! After it, online systems go on learning game by game; ratings of maximum likelihood and machines on features are learnt
//! anew a few times, from all games before.

mod likelihood;
mod machines;
mod online;

use std::collections::BTreeMap;

use crate::data::{Comparisons, Games, Outcome, Verdicts};
use crate::error::{Error, Result};
use crate::metrics::{Judged, PairMetric};
use crate::rating::Chances;

/// The share of the games before the split that are learnt from when settings are chosen; the others choose.
const CHOICE: f64 = 0.7;
/// A probability below this counts as this, as in the metric.
const LEAST_CHANCE: f64 = 1e-15;

/// How systems are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Backtest {
    /// The share of the games, the first ones, that are only learnt from.
    pub split: f64,
    /// Whether being named first may be worth something.
    pub has_side: bool,
    /// The length of the periods of online systems; `None`: as is usual for each.
    pub period: Option<f64>,
    /// How often systems that cannot go on learning are learnt anew.
    pub n_refits: usize,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Backtested {
    /// Games before the split.
    pub n_before: usize,
    /// Games that were predicted.
    pub n_predicted: usize,
    /// The time of the first of them.
    pub from: f64,
    /// The systems, the least log-loss first.
    pub contenders: Vec<Contender>,
}

/// A system and how it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// What it is.
    pub name: &'static str,
    /// What was chosen for it.
    pub settings: String,
    /// Mean of −log P(what happened).
    pub log_loss: f64,
    /// Share of games whose most probable outcome did not happen.
    pub zero_one: f64,
    /// Area under the ROC curve; `None` without ties, or with nothing but ties.
    pub auc: Option<f64>,
    /// How much more log-loss than the best one, and the standard error of that (infinite where a single game or group was
    /// predicted); `None` for the best one.
    pub behind: Option<(f64, f64)>,
}

/// What a system says of games: P(left), P(tie), P(right).
type Forecast = Vec<[f64; 3]>;

/// Games, and where they are split.
struct Course<'a> {
    games: &'a Games,
    /// The first game that is predicted.
    split: usize,
    /// Before it, the first game that settings are chosen by.
    choice: usize,
    /// Where systems are learnt anew, the split first.
    starts: Vec<usize>,
    has_side: bool,
    period: Option<f64>,
}

impl Default for Backtest {
    fn default() -> Self {
        Backtest { split: 0.7, has_side: false, period: None, n_refits: 10 }
    }
}

impl Backtest {
    /// Compares the systems; with features of the same games in the same order, machines on them, too.
    pub fn run(&self, games: &Games, features: Option<&Comparisons>) -> Result<Backtested> {
        if !(self.split > 0.0 && self.split < 1.0) {
            return Err(Error::parameter("split", self.split, "a number between 0 and 1"));
        }
        if let Some(features) = features.filter(|features| features.n_pairs() != games.games.len()) {
            return Err(Error::parameter(
                "features",
                features.n_pairs(),
                format!("one pair for each of the {} games", games.games.len()),
            ));
        }
        // Games of weight 0 are absent.
        let counting: Vec<usize> = (0..games.games.len()).filter(|&k| games.games[k].weight > 0.0).collect();
        if counting.len() < games.games.len() {
            return self.run(&games.select(&counting), features.map(|all| all.select(&counting)).as_ref());
        }
        let course = self.course(games)?;
        let mut found = vec![("shares of outcomes", String::new(), course.shares())];
        found.extend(online::contenders(&course)?);
        found.push(likelihood::contender(&course)?);
        if let Some(features) = features {
            found.extend(machines::contenders(&course, features)?);
        }
        let mut contenders = Vec::new();
        let mut losses: Vec<Vec<f64>> = Vec::new();
        for (name, settings, forecast) in found {
            contenders.push(course.measure(name, settings, &forecast)?);
            losses.push(course.losses(&forecast));
        }
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        order.sort_by(|&a, &b| contenders[a].log_loss.total_cmp(&contenders[b].log_loss));
        let best = order[0];
        for &at in &order[1..] {
            contenders[at].behind = Some(course.difference(&losses[at], &losses[best]));
        }
        let contenders = order.iter().map(|&at| contenders[at].clone()).collect();
        let n_predicted = games.games.len() - course.split;
        Ok(Backtested { n_before: course.split, n_predicted, from: games.games[course.split].time, contenders })
    }

    fn course<'a>(&self, games: &'a Games) -> Result<Course<'a>> {
        let n = games.games.len();
        // Games of one time are on one side of a split: the next moment, or else the one before.
        let is_boundary = |at: &usize| games.games[*at].time > games.games[at - 1].time;
        let boundary = |wanted: usize, end: usize| {
            let wanted = wanted.max(1);
            (wanted..end).find(is_boundary).or_else(|| (1..wanted.min(end)).rev().find(is_boundary)).unwrap_or(n)
        };
        let split = boundary((self.split * n as f64).ceil() as usize, n);
        let choice = boundary((CHOICE * split as f64).ceil() as usize, split);
        let weight = |range: std::ops::Range<usize>| games.games[range].iter().map(|game| game.weight).sum::<f64>();
        let is_usable =
            split < n && choice < split && [0..choice, choice..split, split..n].map(weight).iter().all(|w| *w > 0.0);
        if !is_usable {
            return Err(Error::parameter(
                "split",
                self.split,
                format!("a share that leaves games of at least two times before it, and some after it, of {n} games"),
            ));
        }
        let n_refits = self.n_refits.max(1);
        let mut starts: Vec<usize> = (0..n_refits)
            .map(|k| if k == 0 { split } else { boundary(split + (n - split) * k / n_refits, n) })
            .collect();
        starts.retain(|&start| start >= split && start < n);
        starts.sort_unstable();
        starts.dedup();
        Ok(Course { games, split, choice, starts, has_side: self.has_side, period: self.period })
    }
}

impl Course<'_> {
    fn n(&self) -> usize {
        self.games.games.len()
    }

    /// The first games.
    fn before(&self, end: usize) -> Games {
        self.games.select(&(0..end).collect::<Vec<_>>())
    }

    /// Each part of the predicted games with the number of games before it.
    fn parts(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> + '_ {
        let ends = self.starts[1..].iter().copied().chain([self.n()]);
        self.starts.iter().zip(ends).map(|(&start, end)| (start, start..end))
    }

    /// What is said by who knows nothing but how often games end in which way.
    fn shares(&self) -> Forecast {
        let mut sums = [0.0; 3];
        // An outcome that was not seen yet is not impossible.
        let games = &self.games.games[..self.split];
        games.iter().for_each(|game| sums[game.outcome as usize] += game.weight);
        let total: f64 = sums.iter().sum();
        let n = games.len() as f64;
        let shares = sums.map(|sum| (sum / total * n + 0.5) / (n + 1.5));
        vec![shares; self.n() - self.split]
    }

    fn outcomes(&self) -> Vec<Outcome> {
        self.games.games[self.split..].iter().map(|game| game.outcome).collect()
    }

    fn weights(&self) -> Vec<f64> {
        self.games.games[self.split..].iter().map(|game| game.weight).collect()
    }

    fn measure(&self, name: &'static str, settings: String, forecast: &Forecast) -> Result<Contender> {
        let (outcomes, weights) = (self.outcomes(), self.weights());
        let log = |a: f64, b: f64| if a == 0.0 && b == 0.0 { 0.0 } else { (a / b).ln() };
        let verdicts = Verdicts {
            margins: forecast.iter().map(|[left, _, right]| log(*right, *left)).collect(),
            threshold: 0.0,
            thresholds: None,
            // A tie is predicted where nothing is more probable.
            excess: Some(forecast.iter().map(|[left, tie, right]| log(left.max(*right), *tie)).collect()),
            chances: Some(forecast.clone()),
        };
        let judged = Judged::of(&outcomes, &verdicts, Some(&weights))?;
        let value = |metric: PairMetric| metric.of(&judged);
        Ok(Contender {
            name,
            settings,
            log_loss: value(PairMetric::LogLoss).unwrap_or(f64::INFINITY),
            zero_one: self.zero_one(forecast),
            auc: value(PairMetric::Auc),
            behind: None,
        })
    }

    fn losses(&self, forecast: &Forecast) -> Vec<f64> {
        let games = &self.games.games[self.split..];
        games.iter().zip(forecast).map(|(game, p)| -p[game.outcome as usize].max(LEAST_CHANCE).ln()).collect()
    }

    /// The mean difference of two losses, and its standard error.
    fn difference(&self, losses: &[f64], best: &[f64]) -> (f64, f64) {
        let weights = self.weights();
        let total: f64 = weights.iter().sum();
        let differences = || losses.iter().zip(best).zip(&weights).map(|((loss, best), weight)| (loss - best, weight));
        let mean = differences().map(|(difference, weight)| weight * difference).sum::<f64>() / total;
        let surplus = differences().map(|(difference, weight)| weight * (difference - mean));
        // Games of a group are not independent.
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        for (k, surplus) in surplus.enumerate() {
            let unit = self.games.groups.as_ref().map_or(k as u32, |groups| groups[self.split + k]);
            *sums.entry(unit).or_default() += surplus;
        }
        let n = sums.len() as f64;
        let square: f64 = sums.values().map(|sum| sum * sum).sum();
        (mean, if n > 1.0 { (square * n / (n - 1.0)).sqrt() / total } else { f64::INFINITY })
    }

    /// The share of games whose most probable outcome did not happen; where several are most probable, one of them is
    /// drawn.
    fn zero_one(&self, forecast: &Forecast) -> f64 {
        let (mut wrong, mut total) = (0.0, 0.0);
        for (game, chances) in self.games.games[self.split..].iter().zip(forecast) {
            let most = chances.iter().fold(0.0f64, |most, chance| most.max(*chance));
            let is_best = |chance: f64| chance >= most * (1.0 - 1e-12);
            let n_best = chances.iter().filter(|chance| is_best(**chance)).count() as f64;
            let is_right = is_best(chances[game.outcome as usize]);
            wrong += game.weight * if is_right { 1.0 - 1.0 / n_best } else { 1.0 };
            total += game.weight;
        }
        wrong / total
    }
}

/// Probabilities of games from how much better the left side is thought to be.
fn chances_of(chances: &Chances, margins: impl Iterator<Item = (f64, bool)>) -> Forecast {
    margins.map(|(margin, is_neutral)| chances.of(margin, is_neutral)).collect()
}
