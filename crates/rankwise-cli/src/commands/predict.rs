//! `predict`: scores of items, outcomes of pairs.

use std::fmt::Write as _;

use rankwise::data::{Items, Precision};
use rankwise::io;
use rankwise::model::Model;
use serde_json::{Value, json};

use super::{check_apart, check_writable, table, tables, target};
use crate::args::{PredictArgs, PredictFormat};
use crate::exit::Run;
use crate::output::{self, Output};
use crate::plan::{self, PredictPlan};
use crate::text::{count, csv_field, number};

/// Predictions in both of their forms; each is made only when it is needed.
struct Predictions<'a> {
    facts: Value,
    as_text: Box<dyn Fn() -> String + 'a>,
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
            output::write_file(path, (predictions.as_text)().as_bytes())?;
            output.note(|| format!("wrote {}", path.display()));
            predictions.facts["output"] = json!(path.display().to_string());
            if output.is_json() { output.result(|| predictions.facts, String::new) } else { Ok(()) }
        }
        None => output.result(
            || {
                predictions.facts["predictions"] = (predictions.as_json)();
                predictions.facts
            },
            || (predictions.as_text)(),
        ),
    };
    match plan {
        PredictPlan::Pairs(files) => {
            let table = io::read_pairs(&files)?;
            output.note(|| format!("read {}", count(table.set.n_pairs(), "pair")));
            let margins = model.margins(&table.set)?;
            tell(of_pairs(&model, &table, &margins))
        }
        PredictPlan::Items { source, columns, format } => {
            let items = io::read_items(&source, &columns, Precision::F64)?.items;
            output.note(|| format!("read {}", count(items.n_items(), "item")));
            let scores = model.scorer.scores(&items)?;
            tell(of_items(&items, &scores, format))
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
            text
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

fn of_items<'a>(items: &'a Items, scores: &'a [f64], format: PredictFormat) -> Predictions<'a> {
    let rows = move || {
        let names = (0..).map(|item| items.name(item));
        names.zip(scores).zip(ranks(scores)).map(|((name, &score), rank)| (name, score, rank))
    };
    Predictions {
        facts: json!({ "items": scores.len(), "output": null }),
        as_text: Box::new(move || match format {
            PredictFormat::Scores => scores.iter().map(|&score| number(score) + "\n").collect(),
            PredictFormat::Csv => {
                let row = |(name, score, rank): (String, f64, usize)| {
                    format!("{},{},{rank}\n", csv_field(&name), number(score))
                };
                std::iter::once("id,score,rank\n".to_string()).chain(rows().map(row)).collect()
            }
        }),
        as_json: Box::new(move || {
            rows().map(|(id, score, rank)| json!({ "id": id, "score": score, "rank": rank })).collect()
        }),
    }
}

/// 1 is the best; equal scores share the smallest rank.
fn ranks(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut ranks = vec![0; scores.len()];
    let mut rank = 0;
    for (position, &item) in order.iter().enumerate() {
        if position == 0 || scores[item] != scores[order[position - 1]] {
            rank = position + 1;
        }
        ranks[item] = rank;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn equal_scores_share_the_smallest_rank() {
        assert_eq!(ranks(&[1.0, 3.0, 3.0, -2.0, 0.0, -0.0]), [3, 1, 1, 6, 4, 4]);
        assert_eq!(ranks(&[]), [0usize; 0]);
    }
}
