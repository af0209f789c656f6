//! What is known of both players before each game: games are replayed in order of time, and those of the same time are
//! looked at before any of them counts, so that nothing is known from the future.

use std::collections::VecDeque;

use rankwise::data::{Comparisons, Features, Game, Games, Outcome, PairSet, Precision};
use rankwise::rating::{Elo, Glicko, Online};

use crate::exit::Run;

/// Features of a side. The paper has sixteen and names thirteen of them in words, "in addition to various other
/// statistics": the deviation and the last two are ours.
pub(super) const FEATURES: [&str; 16] = [
    "elo",
    "glicko",
    "glicko_deviation",
    "first_move",
    "share_lost_to_lower",
    "share_won_against_higher",
    "mean_difference_of_opponents",
    "wins",
    "losses",
    "ties",
    "games",
    "share_won",
    "share_lost",
    "share_tied",
    "recent_points",
    "recent_change_of_elo",
];
/// The columns of the two ratings.
pub(super) const RATINGS: [usize; 2] = [0, 1];
/// Games that are recent.
const RECENT: usize = 10;

/// A game with what was known before it.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) game: Game,
    /// Features of the left and the right player.
    pub(super) sides: [[f64; FEATURES.len()]; 2],
    /// How many games each of them had played.
    pub(super) n_before: [u32; 2],
}

/// A player's games so far.
#[derive(Debug, Clone, Default)]
struct Record {
    wins: u32,
    losses: u32,
    ties: u32,
    lost_to_lower: u32,
    won_against_higher: u32,
    /// Sum of opponents' Elo minus the player's, as they were before each game.
    differences: f64,
    /// Points and Elo before each of the recent games.
    recent: VecDeque<(f64, f64)>,
}

impl Record {
    fn n_games(&self) -> u32 {
        self.wins + self.losses + self.ties
    }

    fn add(&mut self, points: f64, own: f64, opponent: f64) {
        if points > 0.5 {
            self.wins += 1;
            self.won_against_higher += u32::from(opponent > own);
        } else if points < 0.5 {
            self.losses += 1;
            self.lost_to_lower += u32::from(opponent < own);
        } else {
            self.ties += 1;
        }
        self.differences += opponent - own;
        self.recent.push_back((points, own));
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    fn features(&self, elo: f64, glicko: f64, deviation: f64, has_first_move: bool) -> [f64; FEATURES.len()] {
        let n = f64::from(self.n_games());
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let [wins, losses, ties] = [self.wins, self.losses, self.ties].map(f64::from);
        [
            elo,
            glicko,
            deviation,
            f64::from(u8::from(has_first_move)),
            share(f64::from(self.lost_to_lower), n),
            share(f64::from(self.won_against_higher), n),
            share(self.differences, n),
            wins,
            losses,
            ties,
            n,
            share(wins, n),
            share(losses, n),
            share(ties, n),
            share(self.recent.iter().map(|game| game.0).sum(), self.recent.len() as f64),
            self.recent.front().map_or(0.0, |first| elo - first.1),
        ]
    }
}

/// Replays all games; ratings begin as they are given.
pub(super) fn replay(games: &Games, mut elo: Elo, mut glicko: Glicko) -> Vec<Recorded> {
    let mut records = vec![Record::default(); games.players.len()];
    let mut seen = Vec::with_capacity(games.games.len());
    for now in games.games.chunk_by(|a, b| a.time == b.time) {
        for game in now {
            let side = |player: u32, has_first_move: bool| {
                let strength = glicko.strength(player, game.time);
                let record = &records[player as usize];
                record.features(elo.rating(player), strength.rating, strength.deviation, has_first_move)
            };
            let n_games = |player: u32| records[player as usize].n_games();
            seen.push(Recorded {
                game: *game,
                sides: [side(game.left, !game.is_neutral), side(game.right, false)],
                n_before: [n_games(game.left), n_games(game.right)],
            });
        }
        for game in now {
            let (left, right) = (elo.rating(game.left), elo.rating(game.right));
            let points = game.left_points();
            records[game.left as usize].add(points, left, right);
            records[game.right as usize].add(1.0 - points, right, left);
            let alone = std::slice::from_ref(game);
            elo.update(alone);
            glicko.update(alone);
        }
    }
    seen
}

/// Games as pairs with these features of their sides.
pub(super) fn comparisons(games: &[&Recorded], columns: &[usize]) -> Run<Comparisons> {
    let side = |at: usize| {
        let values = games.iter().flat_map(|seen| columns.iter().map(move |&column| seen.sides[at][column])).collect();
        Features::dense(columns.len(), values, Precision::F64)
    };
    let names = columns.iter().map(|&column| FEATURES[column].to_string()).collect();
    let set = PairSet::from_sides(&side(0)?, &side(1)?, Some(names))?;
    Ok(Comparisons::new(set, outcomes(games), None, None)?)
}

/// How games ended.
pub(super) fn outcomes(games: &[&Recorded]) -> Vec<Outcome> {
    games.iter().map(|seen| seen.game.outcome).collect()
}

#[cfg(test)]
mod tests {
    use rankwise::rating::{KFactor, Strength};

    use super::*;

    fn replayed(games: Vec<Game>) -> Vec<Recorded> {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let glicko = Glicko::new(Strength { rating: 1500.0, deviation: 350.0 }, 0.0).unwrap();
        replay(&Games::new(names, games).unwrap(), Elo::new(KFactor::Constant(20.0), 1200.0).unwrap(), glicko)
    }

    /// Five games of three players, counted by hand; two of them are played at the same time.
    #[test]
    fn features_are_those_of_the_games_before() {
        let game =
            |time, left, right, outcome, is_neutral| Game { time, left, right, outcome, is_neutral, weight: 1.0 };
        let seen = replayed(vec![
            game(1.0, 0, 1, Outcome::Left, false),
            game(2.0, 1, 2, Outcome::Right, false),
            game(2.0, 0, 2, Outcome::Tie, true),
            game(3.0, 2, 0, Outcome::Left, false),
            game(4.0, 0, 1, Outcome::Tie, false),
        ]);
        let feature = |at: usize, side: usize, name: &str| {
            seen[at].sides[side][FEATURES.iter().position(|known| *known == name).unwrap()]
        };
        // Before the first game nothing is known; left has the first move.
        assert_eq!(
            seen[0].sides[0],
            [1200.0, 1500.0, 350.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(feature(0, 1, "first_move"), 0.0);
        // Two games at the same time: neither counts for the other.
        assert_eq!((seen[1].n_before, seen[2].n_before), ([1, 0], [1, 0]));
        assert_eq!((feature(1, 1, "elo"), feature(2, 1, "elo")), (1200.0, 1200.0));
        assert_eq!((feature(2, 0, "elo"), feature(2, 0, "first_move")), (1210.0, 0.0));
        assert_eq!((feature(2, 0, "share_won"), feature(2, 0, "recent_points")), (1.0, 1.0));
        // The last game: a has won, tied and lost; c was above it by then.
        let a = |name| feature(4, 0, name);
        assert_eq!((a("wins"), a("ties"), a("losses"), a("games")), (1.0, 1.0, 1.0, 3.0));
        assert!((a("share_tied") - 1.0 / 3.0).abs() < 1e-15 && (a("recent_points") - 0.5).abs() < 1e-15);
        assert!((a("recent_change_of_elo") - (a("elo") - 1200.0)).abs() < 1e-12);
        // b lost to a as an equal, then to c, who was below 1200 at no time but above b: not to a lower one.
        assert_eq!((feature(4, 1, "share_lost_to_lower"), feature(4, 1, "losses")), (0.0, 2.0));
        assert!(feature(4, 0, "glicko_deviation") < feature(4, 1, "glicko_deviation"));
    }

    #[test]
    fn upsets_are_counted_on_both_sides() {
        let game = |time, outcome| Game { time, left: 0, right: 1, outcome, is_neutral: false, weight: 1.0 };
        let seen = replayed(vec![game(1.0, Outcome::Left), game(2.0, Outcome::Right), game(3.0, Outcome::Tie)]);
        assert_eq!((seen[2].sides[0][4], seen[2].sides[1][5]), (0.5, 0.5));
        let pairs = comparisons(&[&seen[2], &seen[0]], &RATINGS).unwrap();
        assert_eq!((pairs.set.items.features.n_cols(), pairs.outcomes), (2, vec![Outcome::Tie, Outcome::Left]));
    }
}
