//! The leaderboard as a page that needs nothing else: who is in front, how sure that is, who beats whom.
//!
//! Only the first items are on it, however many there are. Whatever the threads, the same games give the same bytes.

mod chances;
mod facts;
mod history;
mod lead;
mod table;

use rankwise::data::Games;
use rankwise::io::TimeUnit;
use rankwise::rating::{OnlineRating, RatingUnit, Standing, plain_name as plain};

use super::found::Found;
use crate::exit::Run;
use crate::page::Page;
use crate::picture::shortened;
use crate::text::rounded;

/// Items on the page, unless others are asked for.
pub(super) const ITEMS: usize = 25;
/// Names in sentences are cut to about so many pixels.
const NAME: f64 = 280.0;

/// All that a page is made from.
pub(super) struct Board<'a> {
    /// The leaderboard.
    pub(super) found: &'a Found,
    /// The games it was made from.
    pub(super) games: &'a Games,
    /// How many items are shown; 0 means all.
    pub(super) top: usize,
    /// What random numbers started from.
    pub(super) seed: u64,
    /// The system that went through the games in order, if one did, and what its ratings are told in.
    pub(super) online: Option<(&'a OnlineRating, RatingUnit)>,
    /// What times count; `None` without times.
    pub(super) time_unit: Option<TimeUnit>,
}

/// The page as HTML.
pub(super) fn html(board: &Board<'_>) -> Run<String> {
    let mut page = Page::new("Leaderboard");
    lead::section(&mut page, board);
    table::section(&mut page, board);
    chances::section(&mut page, board);
    history::section(&mut page, board)?;
    facts::effects(&mut page, board);
    facts::section(&mut page, board);
    Ok(page.html())
}

impl Board<'_> {
    /// The lines that are shown.
    fn shown(&self) -> &[Standing] {
        let all = &self.found.standings;
        &all[..if self.top == 0 { all.len() } else { self.top.min(all.len()) }]
    }

    /// The whole name of a line's item.
    fn name(&self, line: &Standing) -> &str {
        &self.games.players[line.player as usize]
    }

    /// The name within a sentence: not too long, and the words around it keep their order.
    fn said(&self, line: &Standing) -> String {
        let name = shortened(&plain(self.name(line)), NAME);
        // From Hebrew on there are letters that are read from the right.
        if name.chars().any(|c| c >= '\u{590}') { format!("\u{2068}{name}\u{2069}") } else { name }
    }

    /// A length of time, in what times count.
    fn span(&self, length: f64) -> String {
        let unit = match self.time_unit {
            Some(TimeUnit::Days) => " days",
            Some(TimeUnit::Numbers) => "",
            None => " rows",
        };
        format!("{}{unit}", rounded(length))
    }

    /// The scale that has most items, and how many; the first one of equals. `None` if nothing is rated.
    fn largest_scale(&self) -> Option<(u32, usize)> {
        let scales = self.found.standings.iter().filter_map(|line| line.scale);
        let mut sizes: Vec<usize> = Vec::new();
        for scale in scales.map(|scale| scale as usize) {
            sizes.resize(sizes.len().max(scale + 1), 0);
            sizes[scale] += 1;
        }
        let largest = (0..).zip(sizes).max_by_key(|&(scale, size)| (size, std::cmp::Reverse(scale)));
        largest.filter(|&(_, size)| size > 0)
    }
}

/// `A`, `A and B`, `A, B and C`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A number of things, thousands apart: `1 game`, `49 520 games`.
fn many(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// Digits in threes, with narrow blanks that do not break.
fn thousands(n: usize) -> String {
    let digits = n.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_lists_and_numbers() {
        let names = |n: usize| (0..n).map(|k| ["A", "B", "C"][k].to_string()).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(|n| listed(&names(n))), ["", "A", "A and B", "A, B and C"]);
        assert_eq!([1, 999, 9999].map(|n| many(n, "game")), ["1 game", "999 games", "9999 games"]);
        assert_eq!(thousands(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(plain("\u{202e}abc\u{2066}א"), "abcא");
    }
}
