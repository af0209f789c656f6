//! What all tables of games have in common: known columns, two players in each row, rows that are no games.

use std::path::Path;

use super::files::Origin;
use super::pairs::{PairRows, PublishedPairs, table_source};
use super::{read_chess_games, read_football};
use crate::data::{Date, Game, Games};
use crate::error::{Error, Result};
use crate::io::Source;
use crate::io::numbering::Numbering;
use crate::io::table::Table;

/// Games as they were published.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedGames {
    /// The games, in order of time.
    pub games: Games,
    /// Rows that are no games: marked as invented (chess), or not played yet (football).
    pub n_left_out: usize,
}

impl PublishedGames {
    /// The games as compared pairs of players, known by name alone; `pair.neutral` says whether being named first was no
    /// advantage, where that differs from game to game.
    fn to_pairs(&self, time: impl Fn(f64) -> String, left_out: &'static str) -> Result<PublishedPairs> {
        let Games { players, games, .. } = &self.games;
        let mut rows = PairRows::default();
        for game in games {
            rows.add([game.left, game.right].map(|player| players[player as usize].as_str()), game.outcome, &[]);
        }
        let neutral: Vec<f64> = games.iter().map(|game| f64::from(u8::from(game.is_neutral))).collect();
        let differs = neutral.iter().any(|value| *value != neutral[0]);
        let context = differs.then(|| (vec!["neutral".to_string()], neutral));
        let times = games.iter().map(|game| time(game.time)).collect();
        Ok(rows.finish(None, context)?.with_times(times).with_left_out(left_out, self.n_left_out))
    }
}

/// A file, or the one of this name in a directory.
fn source(path: &Path, origin: Origin, name: &str) -> Result<Source> {
    Ok(if path.is_dir() { table_source(&origin.find(path, name)?) } else { table_source(path) })
}

/// Chess games as pairs, White left; times are months.
pub(super) fn chess_pairs(path: &Path) -> Result<PublishedPairs> {
    let origin = Origin { what: "the games of the FIDE", from: "the Chessmetrics contest on Kaggle (ChessRatings2)" };
    read_chess_games(&source(path, origin, "primary_test_solution.csv")?)?
        .to_pairs(|month| month.to_string(), "rows that are no games")
}

/// Football matches as pairs, the team at home left; times are days.
pub(super) fn football_pairs(path: &Path) -> Result<PublishedPairs> {
    let day = |number: f64| {
        let Date { year, month, day } = Date::of(number as i64);
        format!("{year:04}-{month:02}-{day:02}")
    };
    let origin = Origin { what: "results of international matches", from: "github.com/martj42/international_results" };
    read_football(&source(path, origin, "results.csv")?)?.to_pairs(day, "matches that were not played yet")
}

/// A table whose columns are known by the names they were published with; others are read over.
pub(super) struct PublishedTable<const N: usize> {
    pub(super) table: Table,
    columns: [usize; N],
}

impl<const N: usize> PublishedTable<N> {
    /// Opens a table that has all these columns; `what` is what it is.
    pub(super) fn open(source: &Source, names: [&str; N], what: &str) -> Result<Self> {
        let table = Table::open_published(source)?;
        let mut columns = [0; N];
        for (at, name) in columns.iter_mut().zip(names) {
            *at = table.header.position(name).ok_or_else(|| {
                let problem = format!("no column {name}; columns: {}", table.header.listing());
                let remedy = format!("give {what} as published, with the columns {}", names.join(", "));
                Error::data(table.header.place(), problem, remedy)
            })?;
        }
        Ok(PublishedTable { table, columns })
    }

    /// A cell of the current row that must not be empty.
    pub(super) fn word(&self, column: usize) -> Result<&str> {
        self.table.word(self.columns[column])
    }

    /// A cell that must be a whole number of at least 0.
    pub(super) fn count(&self, column: usize) -> Result<u32> {
        let word = self.word(column)?;
        word.parse().map_err(|_| self.fault(column, &format!("found {word:?}, expected a whole number of at least 0")))
    }

    /// An error about a cell of the current row.
    pub(super) fn fault(&self, column: usize, problem: &str) -> Error {
        Error::data(self.table.place(self.columns[column]), problem, "correct it, or take the row out of the file")
    }

    /// The two players of the current row, who must not be the same.
    pub(super) fn players(&self, left: usize, right: usize, known: &mut Numbering) -> Result<[u32; 2]> {
        let players = [known.number(self.word(left)?), known.number(self.word(right)?)];
        if players[0] == players[1] {
            return Err(self.fault(right, &format!("{} plays against itself", self.word(right)?)));
        }
        Ok(players)
    }

    /// The games of a whole table, at least one.
    pub(super) fn finish(&self, players: &Numbering, games: Vec<Game>, n_left_out: usize) -> Result<PublishedGames> {
        if games.is_empty() {
            let problem = format!("none of the {n_left_out} rows is a game that was played");
            return Err(Error::data(self.table.header.place(), problem, "give a file with results"));
        }
        Ok(PublishedGames { games: Games::new(players.to_texts(), games)?, n_left_out })
    }
}
