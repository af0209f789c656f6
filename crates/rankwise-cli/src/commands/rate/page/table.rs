//! The leaderboard itself, and its intervals as a picture.

use rankwise::rating::{Estimate, Standing};

use super::super::found::{ranks, rating};
use super::{Board, many, plain};
use crate::page::{Page, Table};
use crate::picture::{Axis, IntervalKind, Intervals};
use crate::text::rounded;

/// Rows of the picture, however many lines are shown.
const ROWS: usize = 100;

/// Adds both.
pub(super) fn section(page: &mut Page, board: &Board<'_>) {
    page.section("Leaderboard");
    let found = board.found;
    let cell = |value: Option<f64>| value.map_or("–".to_string(), |value| rating(value, found.unit.name()));
    let row = |line: &Standing| {
        let Estimate { rating, interval, .. } = line.estimate;
        let interval =
            interval.map_or("–".into(), |[low, high]| format!("{} to {}", cell(Some(low)), cell(Some(high))));
        let mut row = vec![ranks(line.ranks), plain(board.name(line)), cell(rating), interval];
        if found.has_scales() {
            row.push(found.scale(line));
        }
        row.push(line.record.n_games.to_string());
        row.extend([line.record.wins, line.record.ties, line.record.losses].map(rounded));
        row
    };
    let mut header = vec!["rank", "item", "rating", "interval", "games", "won", "tied", "lost"];
    if found.has_scales() {
        header.insert(4, "scale");
    }
    let header = header.into_iter().map(String::from).collect();
    let rows = board.shown().iter().map(row).collect();
    page.table_named_by(1, &Table { caption: String::new(), header, rows, is_words: false });
    let n_more = found.standings.len() - board.shown().len();
    if n_more > 0 {
        page.paragraph(&format!(
            "{} not shown; --top 0 shows all, and -o board.csv keeps them in a table.",
            if n_more == 1 { "1 more item is".into() } else { format!("{} are", many(n_more, "more item")) }
        ));
    }
    if found.has_scales() {
        page.paragraph("Ratings can be compared where the scale is the same, and only there.");
    }
    picture(page, board);
}

/// Ratings with their intervals, of the scale that has most items.
fn picture(page: &mut Page, board: &Board<'_>) {
    let Some((scale, _)) = board.largest_scale() else { return };
    let on_scale = || board.shown().iter().filter(|line| line.scale == Some(scale));
    let lines: Vec<&Standing> = on_scale().take(ROWS).collect();
    if lines.is_empty() {
        return;
    }
    let value = |line: &&Standing| {
        let value = line.estimate.rating?;
        let [low, high] = line.estimate.for_comparing().unwrap_or([value, value]);
        Some((value, low, high))
    };
    let level = board.found.intervals.level.map(|level| format!(", with an interval of {} %", rounded(100.0 * level)));
    let chart = Intervals {
        name: "ratings",
        title: "Ratings with their intervals".into(),
        description: format!("A row for each of {}, the best at the top.", many(lines.len(), "item")),
        axis: Axis::linear(axis_title(board)),
        rows: lines.iter().map(|line| plain(board.name(line))).collect(),
        kinds: vec![IntervalKind {
            label: format!("rating{}", level.unwrap_or_default()),
            values: lines.iter().map(value).collect(),
        }],
    };
    let mut caption = "Where two intervals overlap, this page does not tell the two items apart.".to_string();
    if lines.iter().any(|line| line.estimate.comparison.is_some()) {
        caption += " They are for comparing items with each other; those of the table also have the doubt about where the \
                    average lies, which all items share.";
    }
    let shown = board.shown();
    let n_others = shown.iter().filter(|line| line.scale.is_some_and(|other| other != scale)).count();
    let n_unrated = shown.iter().filter(|line| line.scale.is_none()).count();
    let is = |n: usize| if n == 1 { "is" } else { "are" };
    if n_others > 0 {
        caption += &format!(
            " {} on another scale {} left out: their ratings cannot be compared with these.",
            many(n_others, "item"),
            is(n_others)
        );
    }
    if n_unrated > 0 {
        caption += &format!(" {} without a rating {} left out.", many(n_unrated, "item"), is(n_unrated));
    }
    if on_scale().count() > lines.len() {
        caption += &format!(" The picture has the first {ROWS} items.");
    }
    page.figures(&[(&chart.draw(), caption)]);
}

/// What ratings are counted in.
pub(super) fn axis_title(board: &Board<'_>) -> &'static str {
    match (board.found.unit.name(), board.found.system) {
        ("own", "davidson") => "rating (logarithm of odds)",
        ("own", "trueskill") => "rating (TrueSkill's own scale)",
        _ => "rating (points)",
    }
}
