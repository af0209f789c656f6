//! `rate`: a leaderboard from games, or which system predicts them best.

mod backtest;
mod found;
mod page;

use std::time::Instant;

use rankwise::data::Games;
use rankwise::io::{self, PairTable};
use rankwise::rating::{LeaderboardPlan, RatingSystem, first_names as names};
use serde_json::json;

use super::{check_apart, check_writable, tables};
use crate::args::{Common, RateArgs};
use crate::exit::{Failure, Run};
use crate::output::{self, Output};
use crate::plan::{self, RatePlan, Shape};
use crate::progress::TrainingBar;
use found::Found;

/// Lines of the table, unless others are asked for.
const LINES: usize = 50;
/// Items of which every pair has its chances written: half a million pairs.
const MAX_CHANCES: usize = 1000;

/// Rates.
pub(super) fn run(args: &RateArgs, common: &Common, output: &Output) -> Run<()> {
    let plan = plan::rate(args)?;
    for (path, _) in &plan.targets {
        check_apart(path, tables(&args.source))?;
        check_writable(path)?;
    }
    let clock = Instant::now();
    let table = io::read_pairs(&plan.files)?;
    let games = table.to_games()?;
    let seconds_load = clock.elapsed().as_secs_f64();
    if games.games.iter().all(|game| game.weight == 0.0) {
        return Err(Failure::Fault(format!("{}: every row has weight 0; give some of them a weight", table.source)));
    }
    let n_items = games.players.len();
    if let Some((path, _)) = plan.targets.iter().find(|(_, shape)| *shape == Shape::Chances && n_items > MAX_CHANCES) {
        return Err(Failure::Fault(format!(
            "{}: the chances of all pairs of {n_items} items are too many for a file; leave --chances out, or give games of \
             up to {MAX_CHANCES} items",
            path.display()
        )));
    }
    if let Some(split) = plan.split {
        return backtest::run(table, &games, &plan, split, args.period, seconds_load, output);
    }
    let board = LeaderboardPlan { seed: common.seed, ..plan.board.clone() }
        .rate_watched(&games, &TrainingBar::new(output.shows_progress()))?;
    let [seconds_rate, seconds_intervals] = board.seconds;
    let mut found = Found::from(board);
    found.board.warnings.splice(0..0, input_warnings(&table, &games, &plan));
    if args.source.items.is_some() {
        found.board.warnings.push("--items: features are for --backtest; a leaderboard does not use them".into());
    }
    if let Some((item, rating)) = &args.anchor {
        anchor(&mut found, &games, item, *rating)?;
    }
    let mut json = found.json(&games);
    json.insert("warnings".into(), json!(found.warnings));
    // Files hold what does not depend on the run.
    let stable = serde_json::Value::Object(json.clone());
    json.insert("threads".into(), json!(rayon::current_num_threads()));
    json.insert(
        "seconds".into(),
        json!({ "load": seconds_load, "rate": seconds_rate, "intervals": seconds_intervals }),
    );
    let mut files = Vec::new();
    for (path, shape) in &plan.targets {
        let text = match shape {
            Shape::Csv => found.csv(&games),
            Shape::Json => {
                serde_json::to_string_pretty(&stable).map_err(|error| Failure::Fault(format!("JSON: {error}")))? + "\n"
            }
            Shape::Chances => found.chances_csv(&games),
            Shape::Page => page::html(&page::Board {
                found: &found,
                games: &games,
                top: args.top.unwrap_or(page::ITEMS),
                seed: common.seed,
                online: match &plan.board.system {
                    RatingSystem::Davidson(_) => None,
                    RatingSystem::Online(rating) => Some((rating, plan.board.unit)),
                },
                time_unit: table.times.as_ref().map(|times| times.unit),
            })?,
        };
        files.push((path.clone(), text));
    }
    output::write_files(&files)?;
    files.iter().for_each(|(path, _)| output.note(|| format!("wrote {}", path.display())));
    found.warnings.iter().for_each(|warning| output.warning(warning));
    output.result(|| &json, || found.text(&games, args.top.unwrap_or(LINES)))
}

/// What of the file was of no use, and what was put in order.
fn input_warnings(table: &PairTable, games: &Games, plan: &RatePlan) -> Vec<String> {
    let mut warnings = table.notes.clone();
    let is_online = matches!(plan.board.system, RatingSystem::Online(_));
    if let Some(times) = &table.times {
        let n_late = times.numbers.windows(2).filter(|pair| pair[1] < pair[0]).count();
        if n_late > 0 && is_online {
            warnings.push(format!(
                "{n_late} of {} rows are earlier than the row before them; games were put in order of time",
                times.numbers.len()
            ));
        }
    }
    let unused = table.unused_in_games();
    if !unused.is_empty() {
        warnings.push(format!(
            "not used: {} (what describes a pair as a whole); what may help a side comes in two columns, left.NAME and \
             right.NAME",
            unused.iter().map(|name| format!("pair.{name}")).collect::<Vec<_>>().join(", ")
        ));
    }
    if let Some(covariates) = games.covariates.as_ref().filter(|_| is_online) {
        let columns: Vec<&str> = covariates.names.iter().map(String::as_str).collect();
        warnings.push(format!("not used: the columns of {} (--system davidson fits their effects)", names(&columns)));
    }
    warnings
}

/// Moves the ratings that can be compared with an item.
fn anchor(found: &mut Found, games: &Games, item: &str, rating: f64) -> Run<()> {
    let line = found.standings.iter().find(|line| games.players[line.player as usize] == item);
    let Some(line) = line else {
        let known: Vec<&str> =
            found.standings.iter().map(|line| games.players[line.player as usize].as_str()).collect();
        return Err(Failure::Fault(format!("--anchor: no item {item:?} in the games; items are {}", names(&known))));
    };
    let player = line.player;
    let Some(n_others) = found.board.anchor(player, rating) else {
        return Err(Failure::Fault(format!(
            "--anchor: {item} has no finite rating to be moved; anchor another item, or give --C"
        )));
    };
    if n_others > 0 {
        found.board.warnings.push(format!(
            "--anchor moves the ratings that can be compared with {item}; {n_others} others keep theirs"
        ));
    }
    Ok(())
}
