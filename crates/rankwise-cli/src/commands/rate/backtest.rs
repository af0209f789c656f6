//! `rate --backtest`: which system predicts games best.

use std::time::Instant;

use rankwise::data::{Date, Games};
use rankwise::io::{PairTable, TimeUnit};
use rankwise::selection::{Backtest, Backtested, Contender};
use serde_json::json;

use super::input_warnings;
use crate::exit::{Failure, Run};
use crate::output::{self, Output};
use crate::plan::{RatePlan, Shape};
use crate::text::{count, csv_field, number, table as text_table};

/// Compares the systems.
pub(super) fn run(
    table: PairTable,
    games: &Games,
    plan: &RatePlan,
    split: f64,
    period: Option<f64>,
    seconds_load: f64,
    output: &Output,
) -> Run<()> {
    if let Some((path, _)) = plan.targets.iter().find(|(_, shape)| *shape == Shape::Page) {
        return Err(Failure::Usage(format!(
            "{}: a backtest is written as csv or JSON; give the file such a name",
            path.display()
        )));
    }
    let mut warnings = input_warnings(&table, games, plan);
    if table.times.is_none() {
        warnings.push("no column time: the rows are taken to be in order of time".into());
    }
    let unit = table.times.as_ref().map(|times| times.unit);
    let order = table.times.as_ref().map(rankwise::io::Times::order);
    let features = match table.set.items.are_indicators {
        true => None,
        false => {
            let given = table.into_comparisons()?;
            Some(order.map(|order| given.select(&order)).unwrap_or(given))
        }
    };
    let clock = Instant::now();
    let mut backtest = Backtest::default();
    (backtest.split, backtest.has_side, backtest.period) = (split, plan.board.system.has_side(), period);
    let found = backtest.run(games, features.as_ref())?;
    let seconds = clock.elapsed().as_secs_f64();
    let from = match unit {
        Some(TimeUnit::Days) => {
            let Date { year, month, day } = Date::of(found.from.floor() as i64);
            json!(format!("{year:04}-{month:02}-{day:02}"))
        }
        Some(TimeUnit::Numbers) => json!(found.from),
        None => json!(null),
    };
    let system = |one: &Contender| {
        json!({
            "system": one.name, "settings": one.settings, "log_loss": one.log_loss, "zero_one": one.zero_one,
            "auc": one.auc, "behind": one.behind.map(|behind| behind.0), "behind_se": one.behind.map(|behind| behind.1),
        })
    };
    let mut json = json!({
        "games": games.games.len(), "items": games.players.len(), "learnt_from": found.n_before,
        "predicted": found.n_predicted, "from": from,
        "systems": found.contenders.iter().map(system).collect::<Vec<_>>(), "warnings": warnings,
    });
    let mut files = Vec::new();
    for (path, shape) in &plan.targets {
        let text = match shape {
            Shape::Csv => csv(&found),
            _ => serde_json::to_string_pretty(&json).map_err(|error| Failure::Fault(format!("JSON: {error}")))? + "\n",
        };
        files.push((path.clone(), text));
    }
    output::write_files(&files)?;
    files.iter().for_each(|(path, _)| output.note(|| format!("wrote {}", path.display())));
    json["seconds"] = json!({ "load": seconds_load, "backtest": seconds });
    warnings.iter().for_each(|warning| output.warning(warning));
    output.result(|| &json, || text(&found, from.as_str().map(String::from)))
}

fn csv(found: &Backtested) -> String {
    let mut csv = "system,settings,log_loss,zero_one,auc,behind,behind_se\n".to_string();
    let cell = |value: Option<f64>| value.map_or(String::new(), number);
    for one in &found.contenders {
        csv += &format!(
            "{},{},{},{},{},{},{}\n",
            one.name,
            csv_field(&one.settings),
            number(one.log_loss),
            number(one.zero_one),
            cell(one.auc),
            cell(one.behind.map(|behind| behind.0)),
            cell(one.behind.map(|behind| behind.1).filter(|error| error.is_finite()))
        );
    }
    csv
}

fn text(found: &Backtested, from: Option<String>) -> String {
    let row = |one: &Contender| {
        let behind = one.behind.map_or("–".into(), |(more, error)| match error.is_finite() {
            true => format!("{more:.4} ± {error:.4}"),
            false => format!("{more:.4}"),
        });
        [
            one.name.to_string(),
            format!("{:.4}", one.log_loss),
            behind,
            format!("{:.1} %", 100.0 * one.zero_one),
            one.auc.map_or("–".into(), |auc| format!("{auc:.4}")),
            one.settings.clone(),
        ]
    };
    let header = ["system", "log_loss", "behind ± se", "zero_one", "auc", "chosen before the split"];
    let mut text = text_table(header, found.contenders.iter().map(row));
    let from = from.map_or(String::new(), |from| format!(", from {from} on"));
    text += &format!(
        "{} predicted before seen{from}, after {} to learn from.\n",
        count(found.n_predicted, "game"),
        found.n_before
    );
    text + &advice(&found.contenders) + "\n"
}

/// Which system to use, and which do as well as far as these games can tell.
fn advice(contenders: &[Contender]) -> String {
    if contenders.iter().any(|one| one.behind.is_some_and(|(_, error)| error.is_infinite())) {
        return "Too few games to tell which system predicts best.".into();
    }
    let close: Vec<&str> = contenders
        .iter()
        .filter(|one| one.behind.is_some_and(|(more, error)| more <= 2.0 * error))
        .map(|one| one.name)
        .collect();
    let best = contenders[0].name;
    match close.as_slice() {
        [] => format!("{best} predicts these games best, beyond two standard errors."),
        [one] => format!("{best} predicts these games best; {one} cannot be told from it."),
        [most @ .., last] => {
            format!("{best} predicts these games best; {} and {last} cannot be told from it.", most.join(", "))
        }
    }
}
