//! Leaderboards: ratings with intervals, and ranks that respect them.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::Parts;
use crate::data::{Games, Outcome};
use crate::error::{Error, Result};

/// Points of Elo's scale that stand for odds of e : 1.
pub const POINTS: f64 = 400.0 / std::f64::consts::LN_10;

/// How a player's games ended, with their weights.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Record {
    /// Games of weight above 0.
    pub n_games: usize,
    /// The weight of those that were won.
    pub wins: f64,
    /// Of those that nobody won.
    pub ties: f64,
    /// Of those that were lost.
    pub losses: f64,
}

impl Record {
    /// The weight of all games.
    pub fn games(&self) -> f64 {
        self.wins + self.ties + self.losses
    }

    /// The records of all players.
    pub fn of(games: &Games) -> Vec<Record> {
        let mut records = vec![Record::default(); games.players.len()];
        for game in games.games.iter().filter(|game| game.weight > 0.0) {
            for (player, outcome) in [(game.left, game.outcome), (game.right, game.outcome.swapped())] {
                let record = &mut records[player as usize];
                record.n_games += 1;
                *match outcome {
                    Outcome::Left => &mut record.wins,
                    Outcome::Tie => &mut record.ties,
                    Outcome::Right => &mut record.losses,
                } += game.weight;
            }
        }
        records
    }
}

/// What is known of a rating.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Estimate {
    /// The rating; `None` where there is no finite one.
    pub rating: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
    /// Both ends of its interval.
    pub interval: Option<[f64; 2]>,
    /// The same without what all players share, which ranks go by; `None`: the same.
    pub comparison: Option<[f64; 2]>,
}

impl Estimate {
    /// The rating alone, where nothing is known of how sure it is.
    pub fn bare(rating: Option<f64>) -> Self {
        Estimate { rating, ..Estimate::default() }
    }

    /// The same, compared with others by this interval.
    pub fn compared(mut self, comparison: Option<[f64; 2]>) -> Self {
        self.comparison = comparison;
        self
    }

    /// The interval that ranks go by.
    pub fn for_comparing(&self) -> Option<[f64; 2]> {
        self.comparison.or(self.interval)
    }

    /// The same in other units, moved by `shift`.
    pub fn scaled(self, factor: f64, shift: f64) -> Self {
        Estimate {
            rating: self.rating.map(|rating| factor * rating + shift),
            error: self.error.map(|error| factor * error),
            interval: self.interval.map(|ends| ends.map(|end| factor * end + shift)),
            comparison: self.comparison.map(|ends| ends.map(|end| factor * end + shift)),
        }
    }
}

/// A line of a leaderboard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// The player.
    pub player: u32,
    /// Its rating.
    pub estimate: Estimate,
    /// The best and the worst rank that the intervals allow, among the ratings on the same scale; without a rating, any
    /// within the part.
    pub ranks: [usize; 2],
    /// Its part: ratings of different parts have nothing to do with each other.
    pub part: u32,
    /// Ratings with equal numbers are on a common scale; `None` without a rating.
    pub scale: Option<u32>,
    /// How its games ended.
    pub record: Record,
}

/// How wide an interval is: the share of cases in which it is meant to hold what is true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level(f64);

impl Level {
    /// A share between 0 and 1.
    pub fn new(level: f64) -> Result<Self> {
        match level > 0.0 && level < 1.0 {
            true => Ok(Level(level)),
            false => Err(Error::parameter("level", level, "a number between 0 and 1, such as 0.95")),
        }
    }

    /// The share.
    pub fn share(self) -> f64 {
        self.0
    }

    /// Standard errors on either side of an estimate; with `n_groups` independent groups by Student's t.
    fn errors(self, n_groups: Option<f64>) -> Option<f64> {
        let at = 0.5 + 0.5 * self.0;
        let found = match n_groups {
            None => Normal::standard().inverse_cdf(at),
            Some(n) => StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(at),
        };
        Some(found).filter(|found| found.is_finite())
    }

    /// An estimate with a standard error.
    pub fn around(self, rating: Option<f64>, error: Option<f64>, n_groups: Option<f64>) -> Estimate {
        let interval = rating.zip(error).zip(self.errors(n_groups));
        let interval = interval.map(|((rating, error), errors)| [rating - errors * error, rating + errors * error]);
        Estimate { rating, error, interval, comparison: None }
    }

    /// An estimate with resamples in ascending order: percentiles, and their standard deviation.
    ///
    /// Resamples lean to the side to which the estimate itself leans: where more than half of them are above it, percentiles are
    /// taken twice as far below the middle as that (bias-corrected; Efron, *The jackknife, the bootstrap and other
    /// resampling plans*, 1982). `small` is the factor that a variance needs in a small sample, and `n_groups` the number of
    /// independent groups: percentiles are taken as much farther out as a standard error would be (Hesterberg, *What teachers
    /// should know about the bootstrap*, 2015).
    pub fn within(self, rating: Option<f64>, resamples: &[f64], small: f64, n_groups: Option<f64>) -> Estimate {
        let n = resamples.len();
        let (Some(value), Some(errors)) = (rating.filter(|_| n >= 2 && small.is_finite()), self.errors(n_groups))
        else {
            return Estimate::bare(rating);
        };
        let quantile = |share: f64| {
            let at = share * (n - 1) as f64;
            let (below, rest) = (at.floor() as usize, at.fract());
            resamples[below] + rest * (resamples[(below + 1).min(n - 1)] - resamples[below])
        };
        let mean = resamples.iter().sum::<f64>() / n as f64;
        let variance = resamples.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        let normal = Normal::standard();
        let below =
            resamples.partition_point(|&number| number < value) + resamples.partition_point(|&number| number <= value);
        // Half a resample away from none and all.
        let share = (0.5 * below as f64).clamp(0.5, n as f64 - 0.5) / n as f64;
        let lean = 2.0 * normal.inverse_cdf(share);
        let out = errors * small.sqrt();
        let interval = [lean - out, lean + out].map(|at| quantile(normal.cdf(at)));
        Estimate { rating, error: Some(variance.sqrt()), interval: Some(interval), comparison: None }
    }
}

impl Level {
    /// The same with intervals that are no narrower than this standard error has them.
    pub fn at_least(self, estimate: Estimate, error: Option<f64>) -> Estimate {
        let least = self.around(estimate.rating, error, None).interval;
        let wider = |ends: Option<[f64; 2]>| match (ends, least) {
            (Some([low, high]), Some([least_low, least_high])) => Some([low.min(least_low), high.max(least_high)]),
            _ => ends,
        };
        Estimate { interval: wider(estimate.interval), comparison: wider(estimate.comparison), ..estimate }
    }
}

/// The leaderboard of estimates: parts by size; within a part who is rated on the largest scale first, by rating. Equal ratings
/// stand in order of name.
///
/// `scale` says which ratings of a part are on a common scale; `None` is nobody's.
pub fn standings(games: &Games, estimates: &[Estimate], parts: &Parts, scale: &[Option<u32>]) -> Vec<Standing> {
    let records = Record::of(games);
    let mut scale_sizes = std::collections::HashMap::new();
    let known_scale = |player: usize| scale[player].filter(|_| estimates[player].rating.is_some());
    (0..estimates.len()).filter_map(known_scale).for_each(|scale| *scale_sizes.entry(scale).or_insert(0usize) += 1);
    let mut order: Vec<(u32, u32)> =
        (0..).zip(&parts.part).filter_map(|(player, part)| Some((player, (*part)?))).collect();
    order.sort_by(|&(a, part_a), &(b, part_b)| {
        let key = |player: u32| {
            let scale = known_scale(player as usize);
            let size = scale.and_then(|scale| scale_sizes.get(&scale)).copied().unwrap_or(0);
            (std::cmp::Reverse(size), scale)
        };
        let rating = |player: u32| estimates[player as usize].rating.unwrap_or(0.0);
        let tier = |player: u32| parts.tier[player as usize];
        let name = |player: u32| games.players[player as usize].as_str();
        part_a
            .cmp(&part_b)
            .then_with(|| key(a).cmp(&key(b)))
            .then_with(|| rating(b).total_cmp(&rating(a)))
            .then_with(|| if known_scale(a as usize).is_none() { tier(a).cmp(&tier(b)) } else { name(a).cmp(name(b)) })
            .then_with(|| name(a).cmp(name(b)))
    });
    let mut ends: std::collections::HashMap<u32, [Vec<f64>; 2]> = std::collections::HashMap::new();
    for (player, estimate) in estimates.iter().enumerate() {
        if let (Some(scale), Some([low, high])) = (known_scale(player), estimate.for_comparing()) {
            let [lows, highs] = ends.entry(scale).or_default();
            lows.push(low);
            highs.push(high);
        }
    }
    ends.values_mut().flatten().for_each(|ends| ends.sort_unstable_by(f64::total_cmp));
    let standing = |&(player, part): &(u32, u32)| {
        let estimate = estimates[player as usize];
        let on_scale = known_scale(player as usize).and_then(|scale| scale_sizes.get(&scale)).copied();
        let size = on_scale.unwrap_or(parts.part_sizes[part as usize]);
        let (mut above, mut below) = (0, 0);
        if let (Some(scale), Some([low, high])) = (known_scale(player as usize), estimate.for_comparing())
            && let Some([lows, highs]) = ends.get(&scale)
        {
            above = lows.len() - lows.partition_point(|&end| end <= high);
            below = highs.partition_point(|&end| end < low);
        }
        let (ranks, scale) = ([1 + above, size - below], known_scale(player as usize));
        Standing { player, estimate, ranks, part, scale, record: records[player as usize] }
    };
    let mut board: Vec<Standing> = order.iter().map(standing).collect();
    // Scales are numbered as they appear.
    let mut new = std::collections::HashMap::new();
    for line in &mut board {
        let n = new.len() as u32;
        line.scale = line.scale.map(|scale| *new.entry(scale).or_insert(n));
    }
    board
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Game;

    fn games() -> Games {
        let game = |left, right| Game {
            time: 0.0,
            left,
            right,
            outcome: Outcome::Left,
            is_neutral: false,
            weight: if right == 3 { 2.0 } else { 1.0 },
        };
        let names = ["a", "b", "c", "d", "e", "f"].map(String::from).to_vec();
        Games::new(names, vec![game(0, 1), game(1, 2), game(2, 0), game(0, 3), game(4, 5)]).unwrap()
    }

    #[test]
    fn ranks_respect_intervals() {
        let games = games();
        let parts = Parts::of(6, &games.games);
        let level = Level::new(0.95).unwrap();
        let known = |rating: f64, error: f64| level.around(Some(rating), Some(error), None);
        let estimates = [known(1.0, 0.1), known(0.8, 0.1), known(0.0, 0.1), Estimate::default(), known(0.0, 0.1)];
        let estimates: Vec<Estimate> = estimates.into_iter().chain([Estimate::default()]).collect();
        let board = standings(&games, &estimates, &parts, &parts.tier);
        let found: Vec<_> = board.iter().map(|line| (line.player, line.ranks, line.part)).collect();
        let scales: Vec<_> = board.iter().map(|line| line.scale).collect();
        assert_eq!(scales, [Some(0), Some(0), Some(0), None, Some(1), None]);
        // a and b overlap, c is below both; d has no rating, so that it may be anywhere.
        let expected = [(0, [1, 2], 0), (1, [1, 2], 0), (2, [3, 3], 0), (3, [1, 4], 0), (4, [1, 1], 1), (5, [1, 2], 1)];
        assert_eq!(found, expected);
        assert_eq!(board[0].record, Record { n_games: 3, wins: 3.0, ties: 0.0, losses: 1.0 });
        assert_eq!(board[3].record, Record { n_games: 1, wins: 0.0, ties: 0.0, losses: 2.0 });
    }

    /// 1.959964 standard errors; with four groups 3.182446 (t with three degrees of freedom); nothing with one.
    #[test]
    fn intervals_by_hand() {
        let level = Level::new(0.95).unwrap();
        let ends = |n| level.around(Some(1.0), Some(2.0), n).interval.map(|ends| ends.map(|end| (end - 1.0) / 2.0));
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        near(ends(None).unwrap()[1], 1.959964);
        near(ends(Some(4.0)).unwrap()[0], -3.182446);
        assert_eq!((ends(Some(1.0)), ends(Some(0.0))), (None, None));
        let numbers: Vec<f64> = (0..=40).map(f64::from).collect();
        // In the middle of the resamples: plain percentiles.
        let within = Level::new(0.9).unwrap().within(Some(20.0), &numbers, 1.0, None);
        let [low, high] = within.interval.unwrap();
        near(low, 2.0);
        near(high, 38.0);
        // Below the middle, a quarter of them below it: Φ(2·Φ⁻¹(10.5/41) ± 1.644854) of the way.
        let lower = Level::new(0.9).unwrap().within(Some(10.0), &numbers, 1.0, None).interval.unwrap();
        near(lower[0], 40.0 * 0.001_559_8);
        near(lower[1], 40.0 * 0.630_812_7);
        // A variance twice as large, and few groups.
        let wide = level.within(Some(20.0), &numbers, 2.0, None).interval.unwrap();
        near(wide[0], 40.0 * 0.002_787_3);
        assert!(level.within(Some(20.0), &numbers, 1.0, Some(4.0)).interval.unwrap()[0] < wide[0]);
        assert_eq!(level.within(Some(20.0), &numbers, 1.0, Some(1.0)).interval, None);
        near(within.error.unwrap(), (41.0f64 * 42.0 / 12.0).sqrt());
        assert_eq!(level.within(None, &numbers, 1.0, None).interval, None);
        assert!([0.0, 1.0, 95.0, f64::NAN].iter().all(|&bad| Level::new(bad).is_err()));
        let scaled = within.scaled(10.0, 1.0);
        assert_eq!(scaled.rating, Some(201.0));
        near(scaled.interval.unwrap()[1], 381.0);
    }
}
