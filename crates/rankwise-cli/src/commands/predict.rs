//! `predict`: scores of items, outcomes of pairs.

use std::fmt::Write as _;

use rankwise::io;
use rankwise::model::Model;
use serde_json::{Value, json};

use super::ranked_items::RankedItems;
use super::{check_apart, check_writable, table, tables, target};
use crate::args::PredictArgs;
use crate::exit::Run;
use crate::output::{self, Output};
use crate::plan::{self, PredictPlan};
use crate::text::{count, csv_field, number};

/// Predictions in both of their forms; each is made only when it is needed.
struct Predictions<'a> {
    facts: Value,
    as_text: Box<dyn Fn() -> Run<String> + 'a>,
    as_json: Box<dyn Fn() -> Value + 'a>,
}

/// Predicts.
pub(super) fn run(args: &PredictArgs, output: &Output) -> Run<()> {
    let plan = plan::predict(args)?;
    let target = target(args.output.as_ref());
    if let Some(path) = target {
        let items = args.data.as_deref().map(table);
        check_apart(path, tables(&args.source).chain(items).chain([args.model.as_path()]))?;
        check_writable(path)?;
    }
    let model = io::read_model(&args.model)?;
    let tell = |mut predictions: Predictions<'_>| match target {
        Some(path) => {
            output::write_file(path, (predictions.as_text)()?.as_bytes())?;
            output.note(|| format!("wrote {}", path.display()));
            predictions.facts["output"] = json!(path.display().to_string());
            if output.is_json() { output.result(|| predictions.facts, String::new) } else { Ok(()) }
        }
        None if output.is_json() => {
            predictions.facts["predictions"] = (predictions.as_json)();
            output.result(|| predictions.facts, String::new)
        }
        None => output.raw((predictions.as_text)()?.as_bytes()),
    };
    match plan {
        PredictPlan::Pairs(files) => {
            let table = io::read_pairs(&files)?;
            output.note(|| format!("read {}", count(table.set.n_pairs(), "pair")));
            let margins = model.margins(&table.set)?;
            tell(of_pairs(&model, &table, &margins))
        }
        PredictPlan::Items { source, columns, format, top } => {
            let (table, mut scores) = io::score_items(&source, &columns, &[&model.scorer])?;
            output.note(|| format!("read {}", count(table.items.n_items(), "item")));
            let scores = scores.pop().unwrap_or(Ok(Vec::new()))?;
            let ranked = RankedItems::new(&table, &scores, top);
            tell(Predictions {
                facts: json!({ "items": scores.len(), "output": null }),
                as_text: Box::new(|| ranked.text(format)),
                as_json: Box::new(|| ranked.json()),
            })
        }
    }
}

fn of_pairs<'a>(model: &'a Model, table: &'a io::PairTable, margins: &'a [f64]) -> Predictions<'a> {
    let rows = move || {
        table.set.pairs.iter().zip(margins).map(|(pair, &margin)| {
            let name = |item| table.set.items.name(item);
            (name(pair.left), name(pair.right), margin, model.outcome_of(margin).name())
        })
    };
    Predictions {
        facts: json!({ "pairs": margins.len(), "threshold": model.threshold, "output": null }),
        as_text: Box::new(move || {
            let mut text = String::from("left,right,margin,outcome\n");
            for (left, right, margin, outcome) in rows() {
                let (left, right) = (csv_field(&left), csv_field(&right));
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{left},{right},{},{outcome}", number(margin));
            }
            Ok(text)
        }),
        as_json: Box::new(move || {
            rows()
                .map(|(left, right, margin, outcome)| {
                    json!({ "left": left, "right": right, "margin": margin, "outcome": outcome })
                })
                .collect()
        }),
    }
}
