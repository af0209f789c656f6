//! How sure online ratings are: the same run over games with random weights.
//!
//! In a resample every game counts twice or not at all, each with probability ½: weights with mean 1 and variance 1, as
//! drawing games with replacement has it, and one random bit each (double or nothing). Where games have groups, those of a
//! group share their bit. What depends on all games (periods, a fitted advantage, the share of ties) stays as it is.
//!
//! Elo with a constant K goes through the games with [`LANES`] resamples at once. Other systems go through them one
//! resample after the other. Each thread has resamples of its own, and random bits are those of the seed, the block of 64
//! resamples and the game: the number of threads changes nothing.

use rayon::prelude::*;

use super::online::{LOGITS_PER_POINT, MOST_WEIGHT};
use super::run::{Plan, check_size};
use super::{KFactor, OnlineRating, System};
use crate::data::{Game, Games, Random, mix};
use crate::error::Result;
use crate::math::wide;
use crate::progress::{Unwatched, Watch, keep_going};

/// Resamples that a random word serves.
const BITS: usize = 64;
/// Resamples that advance together.
const LANES: usize = 16;
/// Blocks of resamples whose random words are in memory at once.
const BLOCKS_AT_ONCE: usize = 2;
/// Players times resamples may be this many: 2 GB.
pub const MOST_RESAMPLED: usize = 250_000_000;

/// The ratings of all players in all resamples.
#[derive(Debug, Clone, PartialEq)]
pub struct Resamples {
    n_resamples: usize,
    ratings: Vec<f64>,
}

impl Resamples {
    /// How many there are.
    pub fn n_resamples(&self) -> usize {
        self.n_resamples
    }

    /// The ratings of a player, resample by resample; the starting rating where no game of the player's counted.
    pub fn of(&self, player: usize) -> &[f64] {
        &self.ratings[player * self.n_resamples..][..self.n_resamples]
    }
}

impl OnlineRating {
    /// Runs over so many resamples of the games, on the current threads. Players times resamples may be at most
    /// [`MOST_RESAMPLED`]. An advantage that is to be fitted is fitted once, to all games.
    pub fn resample(&self, games: &Games, n_resamples: usize, seed: u64) -> Result<Resamples> {
        self.resample_watched(games, n_resamples, seed, &Unwatched)
    }

    /// The same while `watch` looks on, and perhaps stops it.
    pub fn resample_watched(
        &self,
        games: &Games,
        n_resamples: usize,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Resamples> {
        let n_players = games.players.len();
        check_size(n_players, n_resamples, MOST_RESAMPLED)?;
        let plan = self.plan(games)?;
        let units = Units::new(games);
        let mut ratings = vec![0.0; n_players * n_resamples];
        let blocks: Vec<usize> = (0..n_resamples.div_ceil(BITS)).collect();
        for blocks in blocks.chunks(BLOCKS_AT_ONCE) {
            let words: Vec<Vec<u64>> = blocks.par_iter().map(|&block| units.words(seed, block)).collect();
            // Consecutive resamples, and the block of words and the bit of the first one.
            let width = if plan.has_lanes() { LANES } else { 1 };
            let tasks: Vec<(usize, usize, usize)> = blocks
                .iter()
                .enumerate()
                .flat_map(|(at, block)| (0..BITS).step_by(width).map(move |bit| (block * BITS + bit, at, bit)))
                .filter(|task| task.0 < n_resamples)
                .collect();
            let found: Result<Vec<Vec<f64>>> = tasks
                .par_iter()
                .map(|&(first, at, bit)| {
                    keep_going(watch, first)?;
                    match plan.has_lanes() {
                        true => Ok(plan.lanes(games, &words[at], bit)),
                        false => plan.one(games, &words[at], bit),
                    }
                })
                .collect();
            for (&(first, ..), found) in tasks.iter().zip(found?) {
                for (player, found) in found.chunks_exact(width).enumerate() {
                    let n = width.min(n_resamples - first);
                    ratings[player * n_resamples + first..][..n].copy_from_slice(&found[..n]);
                }
            }
        }
        Ok(Resamples { n_resamples, ratings })
    }
}

/// What shares a random bit: each game, or the games of a group.
struct Units {
    n_games: usize,
    /// The number of each game's group, without gaps, and how many there are.
    groups: Option<(Vec<u32>, usize)>,
}

impl Units {
    fn new(games: &Games) -> Self {
        let groups = games.groups.as_ref().map(|groups| {
            let mut known = groups.clone();
            known.sort_unstable();
            known.dedup();
            let number = |group: &u32| known.partition_point(|other| other < group) as u32;
            (groups.iter().map(number).collect(), known.len())
        });
        Units { n_games: games.games.len(), groups }
    }

    /// A word per game.
    fn words(&self, seed: u64, block: usize) -> Vec<u64> {
        let mut random = Random::new(mix(seed, block as u64));
        match &self.groups {
            None => (0..self.n_games).map(|_| random.word()).collect(),
            Some((groups, n)) => {
                let words: Vec<u64> = (0..*n).map(|_| random.word()).collect();
                groups.iter().map(|&group| words[group as usize]).collect()
            }
        }
    }
}

impl Plan {
    fn has_lanes(&self) -> bool {
        matches!(self.system, System::Elo { k: KFactor::Constant(_) })
    }

    /// The ratings after one resample, that of a bit.
    fn one(&self, games: &Games, words: &[u64], bit: usize) -> Result<Vec<f64>> {
        let mut system = self.system()?;
        let mut kept: Vec<Game> = Vec::new();
        let mut at = 0;
        for period in self.periods(&games.games) {
            kept.clear();
            let with_words = period.iter().zip(&words[at..]);
            let counting = with_words.filter(|(_, word)| *word >> bit & 1 == 1).map(|(game, _)| game);
            kept.extend(counting.map(|game| Game { weight: 2.0 * game.weight, ..*game }));
            system.update(&kept);
            at += period.len();
        }
        Ok((0..games.players.len() as u32).map(|player| system.strength(player, self.end).rating).collect())
    }

    /// The ratings after [`LANES`] resamples of Elo, from a bit on; player by player.
    fn lanes(&self, games: &Games, words: &[u64], bit: usize) -> Vec<f64> {
        let n_players = games.players.len();
        let mut state = State {
            ratings: vec![[self.start; LANES]; n_players],
            sums: vec![[0.0; LANES]; n_players],
            is_playing: vec![false; n_players],
            playing: Vec::new(),
        };
        let k = match self.system {
            System::Elo { k: KFactor::Constant(k) } => k,
            _ => 0.0,
        };
        replay(&games.games, &self.ends, words, bit, k, self.advantage.unwrap_or(0.0), &mut state);
        state.ratings.into_flattened()
    }
}

/// Elo in several resamples at once.
struct State<T> {
    ratings: Vec<[T; LANES]>,
    /// Of the period that is being counted: what it will add. 0 between periods.
    sums: Vec<[T; LANES]>,
    is_playing: Vec<bool>,
    playing: Vec<u32>,
}

wide! {
    /// Takes ratings through the games.
    fn replay<T>(games: &[Game], ends: &[usize], words: &[u64], bit: usize, k: f64, advantage: f64, state: &mut State<T>) {
        let mut start = 0;
        for &end in ends {
            for at in start..end {
                let game = &games[at];
                let (left, right) = (game.left as usize, game.right as usize);
                let bits = words[at] >> bit;
                let advantage = T::from_f64(if game.is_neutral { 0.0 } else { advantage });
                let points = T::from_f64(game.left_points());
                // Weights are this times 0 or 2.
                let factor = T::from_f64(k * 0.5 * (2.0 * game.weight).min(MOST_WEIGHT));
                let (ahead, behind) = (state.ratings[left], state.ratings[right]);
                let mut moves = [T::ZERO; LANES];
                for lane in 0..LANES {
                    let difference = ahead[lane].plus(advantage).minus(behind[lane]);
                    let odds = difference.times(T::from_f64(-LOGITS_PER_POINT)).exp::<FMA>();
                    let surplus = points.minus(T::ONE.over(T::ONE.plus(odds)));
                    // 2 is the number whose only bit is this one.
                    let twice = T::from_f64(f64::from_bits((bits >> lane & 1) << 62));
                    moves[lane] = surplus.times(twice).times(factor);
                }
                // A game that is alone in its period needs no sums.
                let is_alone = end - start == 1;
                for player in [left, right] {
                    if !is_alone && !state.is_playing[player] {
                        state.is_playing[player] = true;
                        state.playing.push(player as u32);
                    }
                }
                let target = if is_alone { &mut state.ratings } else { &mut state.sums };
                for lane in 0..LANES {
                    target[left][lane] = target[left][lane].plus(moves[lane]);
                    target[right][lane] = target[right][lane].minus(moves[lane]);
                }
            }
            for player in state.playing.drain(..) {
                let player = player as usize;
                for lane in 0..LANES {
                    state.ratings[player][lane] = state.ratings[player][lane].plus(state.sums[player][lane]);
                }
                state.sums[player] = [T::ZERO; LANES];
                state.is_playing[player] = false;
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Outcome;
    use crate::rating::Advantage;

    /// Games with ties, weights, and times of which some are equal.
    fn games(n: usize, n_players: usize, groups: Option<usize>) -> Games {
        let mut random = Random::new(7);
        let drawn: Vec<Game> = (0..n)
            .map(|at| {
                let left = random.below(n_players);
                let right = (left + 1 + random.below(n_players - 1)) % n_players;
                Game {
                    time: (at / 3) as f64 + if at % 7 == 0 { 0.5 } else { 0.0 },
                    left: left as u32,
                    right: right as u32,
                    outcome: Outcome::ALL[random.below(3)],
                    is_neutral: random.below(2) == 0,
                    weight: [0.0, 0.5, 1.0, 1.0, 3.0][random.below(5)],
                }
            })
            .collect();
        let groups = groups.map(|n_groups| (0..n).map(|at| (at % n_groups) as u32 * 1_000_000).collect());
        Games::with((0..=n_players).map(|k| k.to_string()).collect(), drawn, groups, None).unwrap()
    }

    #[test]
    fn lanes_are_resamples_one_by_one() {
        for groups in [None, Some(40)] {
            let games = games(2000, 12, groups);
            let rating = OnlineRating::new(System::ALL[0]).advantage(Advantage::Points(50.0));
            let found = rating.resample(&games, 70, 3).unwrap();
            let plan = rating.plan(&games).unwrap();
            let units = Units::new(&games);
            for resample in 0..70 {
                let one = plan.one(&games, &units.words(3, resample / 64), resample % 64).unwrap();
                for (player, one) in one.iter().enumerate() {
                    let lane = found.of(player)[resample];
                    assert!((lane - one).abs() < 1e-9, "{player}, {resample}: {lane} instead of {one}");
                }
            }
            // Who never plays stays, and who does differs between resamples.
            assert!(found.of(12).iter().all(|&rating| rating == 1500.0));
            assert!(found.of(0).iter().any(|&rating| (rating - found.of(0)[0]).abs() > 1.0));
        }
    }

    /// Each unit is in about half of the resamples, and units are independent of each other.
    #[test]
    fn bits_are_fair() {
        let units = Units::new(&games(4000, 5, None));
        let words = units.words(11, 0);
        let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
        assert!((f64::from(ones) / (4000.0 * 64.0) - 0.5).abs() < 0.005);
        let both: u32 = words.windows(2).map(|pair| (pair[0] & pair[1]).count_ones()).sum();
        assert!((f64::from(both) / (3999.0 * 64.0) - 0.25).abs() < 0.005);
        assert_ne!(words, units.words(11, 1));
        let grouped = games(100, 5, Some(10));
        let words = Units::new(&grouped).words(11, 0);
        let groups = grouped.groups.unwrap();
        for (a, b) in (0..100).zip(1..100) {
            assert_eq!(groups[a] == groups[b], words[a] == words[b]);
        }
    }

    #[test]
    fn threads_change_nothing() {
        let games = games(300, 8, None);
        for system in System::ALL {
            let run = |n_threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                pool.install(|| OnlineRating::new(system).resample(&games, 150, 5).unwrap())
            };
            assert_eq!(run(1), run(2), "{}", system.name());
            // More resamples begin with the same ones.
            let fewer = OnlineRating::new(system).resample(&games, 20, 5).unwrap();
            assert_eq!(fewer.of(3), &run(2).of(3)[..20]);
        }
    }

    #[test]
    fn refuses_what_would_not_fit() {
        let games = games(10, 5, None);
        let rating = OnlineRating::new(System::ALL[0]);
        assert!(rating.resample(&games, 0, 1).is_err() && rating.resample(&games, usize::MAX, 1).is_err());
    }
}
