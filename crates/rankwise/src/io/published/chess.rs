//! The games and ratings of Chessmetrics, as published for its contest of predictions: games in months counted from
//! January 1999 on, White first; the test part holds invented (spurious) rows among the real ones.

use super::games::{PublishedGames, PublishedTable};
use crate::data::{Game, Outcome};
use crate::error::Result;
use crate::io::Source;
use crate::io::numbering::Numbering;

const MONTH: usize = 0;
const WHITE: usize = 1;
const BLACK: usize = 2;
const SCORE: usize = 3;
const GAME_COLUMNS: [&str; 4] = ["MonthID", "WhitePlayer", "BlackPlayer", "WhiteScore"];
/// Where it is there, it says which rows are invented.
const MARKS: &str = "Leaderboard";
const SPURIOUS: &str = "Spurious";

/// What a player is rated in the published list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChessRating {
    /// The rating.
    pub rating: u32,
    /// How far a game may move it.
    pub k: u32,
    /// How many games have made it; 30 stands for more.
    pub n_games: u32,
}

/// Reads games (`primary_test_solution.csv` and its like). Time is the number of the month; within a month the order
/// of games is that of the file, which was not the order of play. Rows that are marked as invented are left out and
/// counted.
pub fn read_chess_games(source: &Source) -> Result<PublishedGames> {
    source.blame(read_games(source))
}

fn read_games(source: &Source) -> Result<PublishedGames> {
    let mut rows = PublishedTable::open(source, GAME_COLUMNS, "the games")?;
    let marks = rows.table.header.position(MARKS);
    let (mut players, mut games, mut n_left_out) = (Numbering::default(), Vec::new(), 0);
    while rows.table.next_row()? {
        let word = rows.word(SCORE)?;
        let is_marked = marks.map(|column| rows.table.word(column)).transpose()? == Some(SPURIOUS);
        let outcome = match word.parse::<f64>() {
            Ok(1.0) => Outcome::Left,
            Ok(0.5) => Outcome::Tie,
            Ok(0.0) => Outcome::Right,
            Ok(-1.0) => {
                n_left_out += 1;
                continue;
            }
            _ => return Err(rows.fault(SCORE, &format!("found {word:?}, expected 1, 0.5, 0 or -1 (no game)"))),
        };
        if is_marked {
            n_left_out += 1;
            continue;
        }
        let time = f64::from(rows.count(MONTH)?);
        let [left, right] = rows.players(WHITE, BLACK, &mut players)?;
        games.push(Game { time, left, right, outcome, is_neutral: false, weight: 1.0 });
    }
    rows.finish(&players, games, n_left_out)
}

/// Reads ratings (`initial_ratings.csv`) of the players of some games, by number; players that the list does not have
/// get none, and those of the list that do not play are read over.
pub fn read_chess_ratings(source: &Source, players: &[String]) -> Result<Vec<Option<ChessRating>>> {
    source.blame(read_ratings(source, players))
}

fn read_ratings(source: &Source, players: &[String]) -> Result<Vec<Option<ChessRating>>> {
    let names = ["Player", "Rating", "KFactor", "NumGames"];
    let mut rows = PublishedTable::open(source, names, "the ratings")?;
    let mut known = Numbering::default();
    for player in players {
        known.number(player);
    }
    let mut ratings = vec![None; players.len()];
    while rows.table.next_row()? {
        let rating = ChessRating { rating: rows.count(1)?, k: rows.count(2)?, n_games: rows.count(3)? };
        let player = rows.word(0)?;
        let Some(number) = known.find(player) else { continue };
        if ratings[number as usize].replace(rating).is_some() {
            return Err(rows.fault(0, &format!("player {player} was rated before")));
        }
    }
    Ok(ratings)
}
