//! Matches of national football teams, as published with one row each: date, teams, goals, and whether the ground was
//! neutral.

use super::games::{PublishedGames, PublishedTable};
use crate::data::{Date, Game, Outcome};
use crate::error::Result;
use crate::io::Source;
use crate::io::numbering::Numbering;

const DATE: usize = 0;
const HOME: usize = 1;
const AWAY: usize = 2;
const HOME_GOALS: usize = 3;
const AWAY_GOALS: usize = 4;
const NEUTRAL: usize = 5;
const COLUMNS: [&str; 6] = ["date", "home_team", "away_team", "home_score", "away_score", "neutral"];
/// Goals of a match that is still to be played.
const UNKNOWN: &str = "NA";

/// Reads matches (`results.csv`). Time is in days since 1970-01-01; the home team is the left one. Goals count,
/// penalty shoot-outs do not: equal goals are a tie. Matches without goals (`NA`) are left out and counted. The file
/// names every team by its present name.
pub fn read_football(source: &Source) -> Result<PublishedGames> {
    source.blame(read_plain(source))
}

fn read_plain(source: &Source) -> Result<PublishedGames> {
    let mut rows = PublishedTable::open(source, COLUMNS, "the results")?;
    let (mut teams, mut games, mut n_left_out) = (Numbering::default(), Vec::new(), 0);
    while rows.table.next_row()? {
        if rows.word(HOME_GOALS)? == UNKNOWN || rows.word(AWAY_GOALS)? == UNKNOWN {
            n_left_out += 1;
            continue;
        }
        let word = rows.word(DATE)?;
        let date = Date::parse(word)
            .ok_or_else(|| rows.fault(DATE, &format!("found {word:?}, expected a day as in 2024-07-14")))?;
        let (home, away) = (rows.count(HOME_GOALS)?, rows.count(AWAY_GOALS)?);
        let outcome = match home.cmp(&away) {
            std::cmp::Ordering::Greater => Outcome::Left,
            std::cmp::Ordering::Equal => Outcome::Tie,
            std::cmp::Ordering::Less => Outcome::Right,
        };
        let word = rows.word(NEUTRAL)?;
        let is_neutral = match word {
            _ if word.eq_ignore_ascii_case("true") => true,
            _ if word.eq_ignore_ascii_case("false") => false,
            _ => return Err(rows.fault(NEUTRAL, &format!("found {word:?}, expected TRUE or FALSE"))),
        };
        let [left, right] = rows.players(HOME, AWAY, &mut teams)?;
        games.push(Game { time: date.number() as f64, left, right, outcome, is_neutral, weight: 1.0 });
    }
    rows.finish(&teams, games, n_left_out)
}
