//! The first lines of the page: who is in front, from what games, and what cannot be compared.

use rankwise::rating::Standing;

use super::super::found::{ranks, rating};
use super::{Board, listed, many, thousands};
use crate::page::Page;
use crate::text::{percent, rounded};

/// Leaders that are called by name.
const NAMED: usize = 5;

/// Adds it.
pub(super) fn section(page: &mut Page, board: &Board<'_>) {
    page.lead(&leaders(board));
    page.paragraph(&games(board));
    page.paragraph(&format!("{} {}", system(board), intervals(board)));
    board.found.warnings.iter().for_each(|warning| page.note(&sentence(warning)));
}

/// Who may be first.
fn leaders(board: &Board<'_>) -> String {
    let found = board.found;
    let Some((scale, size)) = board.largest_scale() else {
        return "No item has a rating: these games do not tell who is in front.".into();
    };
    let start = match found.standings.len() {
        all if all > size => format!("Among the {} of {} that can be compared, ", thousands(size), many(all, "item")),
        _ => String::new(),
    };
    let lines = || found.standings.iter().filter(|line| line.scale == Some(scale));
    let best: Vec<&Standing> = lines().filter(|line| line.ranks[0] == 1).collect();
    let Some(first) = lines().next() else { return String::new() };
    let said = |value: f64| rating(value, found.unit.name());
    let text = match (first.estimate.rating, first.estimate.interval) {
        (Some(value), Some([low, high])) if best.len() == 1 => format!(
            "{} is in front: {}, rating {} ({} to {}).",
            board.said(first),
            rank_words(first.ranks),
            said(value),
            said(low),
            said(high)
        ),
        (Some(value), None) if lines().all(|line| line.estimate.interval.is_none()) => format!(
            "{} has the highest rating, {}, but there is nothing to tell how sure that is.",
            board.said(first),
            said(value)
        ),
        _ => together(board, &best),
    };
    start + &text
}

/// Several that may be first: what ranks each of them may have, once if that is the same.
fn together(board: &Board<'_>, best: &[&Standing]) -> String {
    let is_one_range = best.windows(2).all(|two| two[0].ranks == two[1].ranks);
    let name = |(at, line): (usize, &&Standing)| match (is_one_range, at) {
        (true, _) => board.said(line),
        (false, 0) => format!("{} ({})", board.said(line), rank_words(line.ranks)),
        (false, _) => format!("{} ({})", board.said(line), ranks(line.ranks)),
    };
    let mut names: Vec<String> = best.iter().take(NAMED).enumerate().map(name).collect();
    if best.len() > NAMED {
        names.push(format!("{} more", thousands(best.len() - NAMED)));
    }
    let range = best.first().filter(|_| is_one_range).map(|line| format!(" ({})", rank_words(line.ranks)));
    format!("{} cannot be told apart: each of them may be first{}.", listed(&names), range.unwrap_or_default())
}

/// `rank 1`, `ranks 1–3`.
fn rank_words(range: [usize; 2]) -> String {
    format!("{} {}", if range[0] == range[1] { "rank" } else { "ranks" }, ranks(range))
}

/// How much there is to learn from.
fn games(board: &Board<'_>) -> String {
    let (n_games, n_ties) = (board.games.games.len(), board.games.n_ties());
    let ties = match n_ties {
        0 => "none of them a tie".to_string(),
        n if n == n_games => "all of them ties".into(),
        n => format!("{} of them ties", percent(n as f64 / n_games as f64)),
    };
    let verb = if board.found.standings.len() == 1 { "was" } else { "were" };
    format!(
        "{} {verb} rated from {}, {ties}. Items are told apart where their intervals in the picture do not overlap; a rank \
         is a range, from the best to the worst that this allows.",
        many(board.found.standings.len(), "item"),
        many(n_games, "game")
    )
}

/// Where ratings come from, and what a difference of them means.
fn system(board: &Board<'_>) -> String {
    const POINTS: &str = "400 points more are odds of 10 : 1.";
    // What chances these ratings give is fitted to the games afterwards.
    const MEANT: &str = "400 points more are meant as odds of 10 : 1.";
    let is_own = board.found.unit.name() == "own";
    let (way, meaning) = match board.found.system {
        "davidson" if is_penalised(board) => (
            "Ratings are those that are most likely if strengths come from a normal distribution of variance C around 0 \
             (Davidson's model, which knows ties).",
            if is_own { "A difference of ratings is the logarithm of odds." } else { POINTS },
        ),
        "davidson" => (
            "Ratings are those under which the games are most likely (Davidson's model, which knows ties).",
            if is_own { "A difference of ratings is the logarithm of odds." } else { POINTS },
        ),
        "elo" => ("Elo's ratings: every game moves both sides, in order of time.", MEANT),
        "glicko" => {
            ("Glicko's ratings: every period of games moves who played in it, by how sure the ratings are.", MEANT)
        }
        "glicko2" => (
            "Glicko-2's ratings: every period of games moves who played in it, by how sure and how steady they are.",
            MEANT,
        ),
        _ => (
            "TrueSkill's ratings: every game moves both sides, by how sure their skills are.",
            if is_own { "They are on TrueSkill's own scale, where all start from 25." } else { MEANT },
        ),
    };
    format!("{way} {meaning}")
}

/// Whether ratings were drawn to 0.
fn is_penalised(board: &Board<'_>) -> bool {
    board.found.told.get("C").is_some_and(|c| !c.is_null())
}

/// Where intervals come from.
fn intervals(board: &Board<'_>) -> String {
    let Some(level) = board.found.intervals.level else {
        return "Nothing was asked about how sure ratings are, so that every rank is open.".into();
    };
    if board.found.system == "elo" {
        let n = board.found.intervals.n_resamples.unwrap_or(0);
        return format!(
            "Intervals show how much Elo's ratings vary with the games ({} %, from {}), not how far they still are from the \
             strengths they are on their way to.",
            rounded(100.0 * level),
            many(n, "resample")
        );
    }
    let known = &board.found.intervals;
    let way = match (known.method.name(), known.n_resamples, known.n_groups) {
        ("bootstrap", Some(n), Some(groups)) => {
            format!("from {} of whole groups, of which there are {groups}", many(n, "resample"))
        }
        ("bootstrap", Some(n), None) => format!("from {} of the games", many(n, "resample")),
        ("own", ..) => "by the deviations that the system keeps itself".into(),
        (_, _, Some(groups)) => format!(
            "by errors that hold even if the model does not (sandwich), with {} that count as independent of each other",
            many(groups, "group")
        ),
        _ => "by errors that hold even if the model does not (sandwich)".into(),
    };
    let if_normal = if is_penalised(board) { ", if strengths come from that distribution" } else { "" };
    format!(
        "Intervals are meant to hold the truth in {} % of cases{if_normal}; they were found {way}.",
        rounded(100.0 * level)
    )
}

/// A warning as a sentence.
fn sentence(warning: &str) -> String {
    let mut letters = warning.chars();
    let first: String = letters.next().iter().flat_map(|letter| letter.to_uppercase()).collect();
    let end = if warning.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}
