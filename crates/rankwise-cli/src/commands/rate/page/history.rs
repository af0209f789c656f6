//! Ratings as they moved: lines over time for systems that go through the games in order.

use std::ops::RangeInclusive;

use rankwise::data::Date;
use rankwise::io::TimeUnit;
use rankwise::rating::{Advantage, OnlineRating, Standing};

use super::table::axis_title;
use super::{Board, plain};
use crate::exit::Run;
use crate::page::Page;
use crate::picture::{Axis, LineChart, Series, shortened};

/// Lines of a picture: as many as can be told apart with ease.
const LINES: usize = 5;
/// Names of the pictures.
const NAMES: [&str; 2] = ["history", "history-next"];
/// Points of a line, about.
const POINTS: f64 = 200.0;
/// Names are cut to about so many pixels, so that two stand side by side.
const NAME: f64 = 180.0;
/// Shorter times are counted in days.
const YEARS: f64 = 3.0 * 365.25;

/// Adds the pictures, if there is anything to see.
pub(super) fn section(page: &mut Page, board: &Board<'_>) -> Run<()> {
    let (Some((rating, unit)), Some((scale, _))) = (board.online, board.largest_scale()) else { return Ok(()) };
    let on_scale = board.shown().iter().filter(|line| line.scale == Some(scale));
    let lines: Vec<&Standing> = on_scale.take(LINES * NAMES.len()).collect();
    let mut times = board.games.games.iter().filter(|game| game.weight > 0.0).map(|game| game.time);
    let (Some(first), Some(last)) = (times.clone().next(), times.next_back()) else { return Ok(()) };
    if lines.is_empty() || first == last {
        return Ok(());
    }
    let paths = paths(board, rating, rating.told_in(unit), &lines, first..=last)?;
    let clock = Clock::new(board.time_unit, first, last);
    let points = |path: &[(f64, f64)]| path.iter().map(|&(time, value)| (clock.at(time), value)).collect::<Vec<_>>();
    let paths: Vec<Vec<(f64, f64)>> = paths.iter().map(|path| points(path)).collect();
    // Both pictures have the same axes.
    let ends = |pick: fn(&(f64, f64)) -> f64| {
        let numbers = || paths.iter().flatten().map(pick);
        [numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max)]
    };
    let (x, y) = (ends(|point| point.0), ends(|point| point.1));
    let mut figures = Vec::new();
    for (k, (lines, paths)) in lines.chunks(LINES).zip(paths.chunks(LINES)).enumerate() {
        let series = |(line, points): (&&Standing, &Vec<(f64, f64)>)| Series {
            label: shortened(&plain(board.name(line)), NAME),
            points: points.clone(),
            band: Vec::new(),
        };
        let which = if k == 0 { "The first" } else { "The next" };
        let items = if lines.len() == 1 { "item".into() } else { format!("{} items", lines.len()) };
        let chart = LineChart {
            name: NAMES[k],
            title: format!("Ratings over time: {} {items}", which.to_lowercase()),
            description: "A line for each item, from its first game on.".into(),
            x: Axis::linear(&clock.title).with(&x),
            y: Axis::linear(axis_title(board)).with(&y),
            series: lines.iter().zip(paths).map(series).collect(),
            reference: None,
        };
        figures.push((
            chart.draw(),
            format!("{which} {items} of the leaderboard. A line starts with the item's first game."),
        ));
    }
    page.section("Ratings over time");
    page.figures(&figures.iter().map(|(picture, caption)| (picture, caption.clone())).collect::<Vec<_>>());
    Ok(())
}

/// When and what, for each of the lines: the first period of each one and the last one of every stretch of time.
fn paths(
    board: &Board<'_>,
    rating: &OnlineRating,
    [factor, shift]: [f64; 2],
    lines: &[&Standing],
    times: RangeInclusive<f64>,
) -> Run<Vec<Vec<(f64, f64)>>> {
    let mut rating = *rating;
    if let (Advantage::Fitted, Some((_, side))) = (rating.advantage, board.found.effects.first()) {
        // It need not be looked for again.
        rating.advantage = Advantage::Points(side.rating.unwrap_or(0.0));
    }
    let (first, last) = (*times.start(), *times.end());
    let stretch = |time: f64| ((0.5 * time - 0.5 * first) / (0.5 * last - 0.5 * first) * POINTS).floor();
    let games = &board.games.games;
    let mut has_played = vec![false; board.games.players.len()];
    let mut next = 0;
    let mut paths: Vec<Vec<(f64, f64)>> = vec![Vec::new(); lines.len()];
    let run = rating.run_watched(board.games, &mut |time, system| {
        while let Some(game) = games.get(next).filter(|game| game.time <= time) {
            if game.weight > 0.0 {
                has_played[game.left as usize] = true;
                has_played[game.right as usize] = true;
            }
            next += 1;
        }
        for (path, line) in paths.iter_mut().zip(lines).filter(|(_, line)| has_played[line.player as usize]) {
            let value = factor * system.strength(line.player, time).rating + shift;
            if path.len() > 1 && path.last().is_some_and(|before| stretch(before.0) == stretch(time)) {
                path.pop();
            }
            path.push((time, value));
        }
    })?;
    // An anchor has moved the leaderboard.
    for (path, line) in paths.iter_mut().zip(lines) {
        let end = run.strengths[line.player as usize].map(|strength| factor * strength.rating + shift);
        if let (Some(told), Some(end)) = (line.estimate.rating, end) {
            path.iter_mut().for_each(|point| point.1 += told - end);
        }
    }
    Ok(paths)
}

/// How times are told.
struct Clock {
    title: String,
    is_years: bool,
    start: f64,
}

impl Clock {
    fn new(unit: Option<TimeUnit>, first: f64, last: f64) -> Self {
        let clock = |title: &str| Clock { title: title.into(), is_years: false, start: 0.0 };
        match unit {
            None => Clock { start: -1.0, ..clock("game") },
            Some(TimeUnit::Numbers) => clock("time"),
            Some(TimeUnit::Days) if last - first >= YEARS => Clock { is_years: true, ..clock("year") },
            Some(TimeUnit::Days) => {
                let day = first.floor();
                let Date { year, month, day: of_month } = Date::of(day as i64);
                Clock { start: day, ..clock(&format!("days since {year:04}-{month:02}-{of_month:02}")) }
            }
        }
    }

    /// The number on the axis.
    fn at(&self, time: f64) -> f64 {
        if !self.is_years {
            return time - self.start;
        }
        let year = Date::of(time.floor() as i64).year;
        let start = |year: i64| Date { year, month: 1, day: 1 }.number() as f64;
        year as f64 + (time - start(year)) / (start(year + 1) - start(year))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_years_days_or_games() {
        let day = |year: i64, month: u32, day: u32| Date { year, month, day }.number() as f64;
        let years = Clock::new(Some(TimeUnit::Days), day(1900, 1, 1), day(2000, 12, 31));
        assert_eq!((years.title.as_str(), years.at(day(2000, 1, 1))), ("year", 2000.0));
        assert!((years.at(day(2000, 7, 2)) - 2000.5).abs() < 1e-12);
        let days = Clock::new(Some(TimeUnit::Days), day(2024, 2, 28) + 0.75, day(2024, 3, 1));
        assert_eq!((days.title.as_str(), days.at(day(2024, 3, 1))), ("days since 2024-02-28", 2.0));
        assert_eq!(Clock::new(None, 0.0, 9.0).at(0.0), 1.0);
        assert_eq!(Clock::new(Some(TimeUnit::Numbers), 0.0, 9.0).at(3.5), 3.5);
    }
}
