//! Pair tables as games: when they were played, and what differed between the sides.

use std::collections::HashMap;

use super::PairTable;
use super::pairs::no_outcomes;
use super::table::Table;
use crate::data::{Covariates, Date, Game, Games};
use crate::error::{Error, Place, Result};

/// The column of `pair.NAME` that says that being named first was no advantage.
const NEUTRAL: &str = "neutral";
const SECONDS_OF_DAY: f64 = 86_400.0;

/// What a column of times counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Dates; their number is that of days.
    Days,
    /// Numbers, whatever they count.
    Numbers,
}

/// When pairs were judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// One number per pair.
    pub numbers: Vec<f64>,
    /// What they count.
    pub unit: TimeUnit,
}

impl Times {
    /// The pairs in order of time; those of the same time in the order they are given in.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.numbers.len()).collect();
        order.sort_by(|&a, &b| self.numbers[a].total_cmp(&self.numbers[b]));
        order
    }

    /// Reads a time: a number, or a date with or without a time of day, which counts days since 1970-01-01.
    pub fn parse(word: &str) -> Option<(f64, TimeUnit)> {
        match word.parse::<f64>().ok().filter(|number| number.is_finite()) {
            Some(number) => Some((number, TimeUnit::Numbers)),
            None => parse_date(word).map(|days| (days, TimeUnit::Days)),
        }
    }

    /// Reads the time of the next row; the first one decides whether the column has dates or numbers.
    pub(super) fn add(times: &mut Option<Times>, table: &Table, column: usize) -> Result<()> {
        let word = table.word(column)?;
        let found = Times::parse(word);
        let unit = times.as_ref().map(|times| times.unit);
        match found {
            Some((number, found)) if unit.is_none_or(|unit| unit == found) => {
                times.get_or_insert(Times { numbers: Vec::new(), unit: found }).numbers.push(number);
                Ok(())
            }
            _ => {
                let expected = match unit {
                    None => "a date such as 2024-03-01 or 2024-03-01T18:30:00, or a number",
                    Some(TimeUnit::Days) => "a date such as 2024-03-01, as in the rows before",
                    Some(TimeUnit::Numbers) => "a number, as in the rows before",
                };
                let problem = format!("found {word:?}, expected {expected}");
                let remedy = format!("correct it, or leave the column out with --drop {}", table.header.names[column]);
                Err(Error::data(table.place(column), problem, remedy))
            }
        }
    }
}

/// Days since 1970-01-01 of a date, with or without a time of day and an offset from Greenwich.
fn parse_date(text: &str) -> Option<f64> {
    let (date, clock) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], text[at + 1..].trim()),
        None => (text, ""),
    };
    let days = Date::parse(date)?.number() as f64;
    if clock.is_empty() {
        return (date.len() == text.len()).then_some(days);
    }
    let (clock, offset) = match clock.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock.trim_end(), 0.0),
        None => match clock.rfind(['+', '-']) {
            Some(at) => {
                let sign = if clock[at..].starts_with('-') { -1.0 } else { 1.0 };
                (clock[..at].trim_end(), sign * seconds(&clock[at + 1..])?)
            }
            None => (clock, 0.0),
        },
    };
    Some(days + (seconds(clock)? - offset) / SECONDS_OF_DAY)
}

/// Seconds of `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fff`.
fn seconds(clock: &str) -> Option<f64> {
    let parts: Vec<&str> = clock.split(':').collect();
    let whole = |part: &str, below: f64| {
        let is_plain = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        is_plain.then(|| part.parse::<f64>().ok()).flatten().filter(|&number| number < below)
    };
    let last = |part: &str| {
        let (whole_part, fraction) = part.split_once('.').unwrap_or((part, ""));
        let is_plain = fraction.bytes().all(|byte| byte.is_ascii_digit()) && !part.ends_with('.');
        let fraction = if fraction.is_empty() { 0.0 } else { format!("0.{fraction}").parse().ok()? };
        is_plain.then(|| whole(whole_part, 61.0)).flatten().map(|seconds| seconds + fraction)
    };
    match parts.as_slice() {
        [hours, minutes] => Some(whole(hours, 24.0)? * 3600.0 + whole(minutes, 60.0)? * 60.0),
        [hours, minutes, rest] => Some(whole(hours, 24.0)? * 3600.0 + whole(minutes, 60.0)? * 60.0 + last(rest)?),
        _ => None,
    }
}

impl PairTable {
    /// The pairs as games: items are players by their ids, the sides' own features what differs between them. A column
    /// `pair.neutral` that is not 0 says that being named first was no advantage. Without times, rows are in order of time.
    pub fn to_games(&self) -> Result<Games> {
        let items = &self.set.items;
        let Some(ids) = &items.ids else {
            return Err(Error::data(
                Place::file(&self.source),
                "no columns left and right, which say who is rated",
                "add them, with the names of the items",
            ));
        };
        let Some(outcomes) = &self.outcomes else { return Err(no_outcomes(self.source.clone())) };
        let mut players: Vec<String> = Vec::new();
        let mut known: HashMap<&str, u32> = HashMap::new();
        let number: Vec<u32> = ids
            .iter()
            .map(|id| {
                *known.entry(id).or_insert_with(|| {
                    players.push(id.clone());
                    players.len() as u32 - 1
                })
            })
            .collect();
        let neutral = self.set.context.as_ref().and_then(|context| {
            let column = context.names.iter().position(|name| name == NEUTRAL)?;
            let mut row = vec![0.0; context.names.len()];
            let mut value = |k: usize| {
                context.features.copy_row(k, &mut row);
                row[column] != 0.0
            };
            Some((0..self.set.n_pairs()).map(&mut value).collect::<Vec<bool>>())
        });
        let game = |(k, pair): (usize, &crate::data::Pair)| Game {
            time: self.times.as_ref().map_or(k as f64, |times| times.numbers[k]),
            left: number[pair.left as usize],
            right: number[pair.right as usize],
            outcome: outcomes[k],
            is_neutral: neutral.as_ref().is_some_and(|neutral| neutral[k]),
            weight: self.weights.as_ref().map_or(1.0, |weights| weights[k]),
        };
        let games = self.set.pairs.iter().enumerate().map(game).collect();
        Games::with(players, games, self.groups.clone(), self.side_covariates())
    }

    /// Columns of `pair.NAME` that ratings have no use for.
    pub fn unused_in_games(&self) -> Vec<&str> {
        let names = self.set.context.iter().flat_map(|context| &context.names);
        names.map(String::as_str).filter(|name| *name != NEUTRAL).collect()
    }

    /// The features that belong to the sides themselves, left minus right.
    fn side_covariates(&self) -> Option<Covariates> {
        let items = &self.set.items;
        let n = self.n_side_features;
        let names = items.feature_names.as_ref().filter(|_| n > 0)?;
        let start = names.len().checked_sub(n)?;
        let mut rows = [vec![0.0; names.len()], vec![0.0; names.len()]];
        let mut differences = Vec::with_capacity(self.set.n_pairs() * n);
        for pair in &self.set.pairs {
            let [left, right] = &mut rows;
            items.features.copy_row(pair.left as usize, left);
            items.features.copy_row(pair.right as usize, right);
            differences.extend(left[start..].iter().zip(&right[start..]).map(|(left, right)| left - right));
        }
        Some(Covariates { names: names[start..].to_vec(), differences })
    }
}

#[cfg(test)]
mod tests {
    use super::parse_date;

    #[test]
    fn dates_with_and_without_a_time_of_day() {
        let day = 19783.0; // 2024-03-01
        for (text, expected) in [
            ("2024-03-01", day),
            ("2024-03-01T06:00", day + 0.25),
            ("2024-03-01 18:30:00", day + 18.5 / 24.0),
            ("2024-03-01T00:00:43.2Z", day + 0.0005),
            ("2024-03-01T02:00:00+02:00", day),
            ("2024-02-29T22:00:00-02:00", day),
            ("2024-03-01 12:00:00 +00:00", day + 0.5),
        ] {
            let found = parse_date(text).unwrap_or_else(|| panic!("{text}"));
            assert!((found - expected).abs() < 1e-9, "{text}: {found}");
        }
        for bad in ["", "yesterday", "2024-13-01", "2024-03-01T", "2024-03-01T25:00", "2024-03-01T1:00", "2024-03-01X"]
        {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
        for bad in ["2024-03-01T10:00:00.", "2024-03-01T10:00:00.x", "2024-03-01T10", "2024-03-01T10:00:00:00"] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
    }
}
