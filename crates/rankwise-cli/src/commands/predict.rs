//! `predict`: scores of items, outcomes of pairs.

use std::fmt::Write as _;

use rankwise::data::{Verdicts, class_name};
use rankwise::io::{self, Columns};
use rankwise::model::Model;
use serde_json::{Value, json};

use super::classified_items::ClassifiedItems;
use super::ranked_items::RankedItems;
use super::{check_apart, check_writable, classify_items, read_pairs_for, score_items, table, tables, target};
use crate::args::{PredictArgs, PredictFormat};
use crate::exit::{Failure, Run};
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
    let n_features = args.extra.ignore_extra.then_some(model.scorer.n_features);
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
            let table = read_pairs_for(&model, &files, output)?;
            output.note(|| format!("read {}", count(table.set.n_pairs(), "pair")));
            let verdicts = model.judge(&table.set)?;
            tell(of_pairs(&model, &table, &verdicts))
        }
        PredictPlan::Items { source, columns, format, top, scores: only_scores }
            if is_classified(&model, format, top)? =>
        {
            let columns = Columns { most_features: n_features, ..columns };
            let (table, verdicts) = classify_items(&model, &source, &columns, output)?;
            output.note(|| format!("read {}", count(table.items.n_items(), "item")));
            let classes = model.classes.as_deref().unwrap_or_default();
            let items = ClassifiedItems { table: &table, classes, verdicts: &verdicts, only_scores };
            tell(Predictions {
                facts: json!({ "items": verdicts.classes.len(), "classes": classes, "output": null }),
                as_text: Box::new(|| Ok(items.text(format))),
                as_json: Box::new(|| items.json()),
            })
        }
        PredictPlan::Items { source, columns, format, top, scores: only_scores } => {
            let columns = Columns { most_features: n_features, ..columns };
            let (table, scores) = if model.class_rule.is_some() {
                // Its labels may be words.
                let (table, verdicts) = classify_items(&model, &source, &columns, output)?;
                (table, verdicts.scores)
            } else {
                let (table, mut scores) = score_items(&[&model.scorer], &source, &columns, output)?;
                (table, scores.pop().unwrap_or(Ok(Vec::new()))?)
            };
            output.note(|| format!("read {}", count(table.items.n_items(), "item")));
            let rule = model.grades.as_ref();
            let grades: Vec<String> =
                rule.iter().flat_map(|rule| &rule.grades).map(|&grade| class_name(grade)).collect();
            let classes = match (only_scores, rule) {
                (true, _) => None,
                (false, Some(rule)) => {
                    Some(scores.iter().map(|&score| grades[rule.place_of(score)].as_str()).collect())
                }
                (false, None) => scores.iter().map(|&score| model.class_of(score)).collect::<Option<Vec<&str>>>(),
            };
            let ranked = RankedItems::new(&table, &scores, top).with_classes(classes);
            tell(Predictions {
                facts: json!({ "items": scores.len(), "output": null }),
                as_text: Box::new(|| ranked.text(format)),
                as_json: Box::new(|| ranked.json()),
            })
        }
    }
}

/// Whether classes are told; items of two classes may be ranked by their scores, too.
fn is_classified(model: &Model, format: PredictFormat, top: Option<usize>) -> Run<bool> {
    let n_classes = model.classes.as_ref().filter(|_| model.class_rule.is_some()).map_or(0, Vec::len);
    let typed = [("--top", top.is_some()), ("--format trec", format == PredictFormat::Trec)];
    if let Some((option, _)) = typed.iter().find(|(_, is_typed)| n_classes > 2 && *is_typed) {
        return Err(Failure::Usage(format!(
            "{option} ranks items by one score, and this model tells {n_classes} classes apart; leave it out (--format csv has \
             a score for each class)"
        )));
    }
    if top.is_some() && format == PredictFormat::Scores {
        return Err(Failure::Usage(
            "--top does not apply to scores alone; leave it out, or choose --format csv or --format trec, which say whose \
             the scores are"
                .into(),
        ));
    }
    Ok(n_classes > 0 && typed.iter().all(|(_, is_typed)| !is_typed))
}

fn of_pairs<'a>(model: &'a Model, table: &'a io::PairTable, verdicts: &'a Verdicts) -> Predictions<'a> {
    let row = move |k: usize| {
        let (pair, name) = (table.set.pairs[k], |item| table.set.items.name(item));
        (name(pair.left), name(pair.right), verdicts.margins[k], verdicts.outcome(k).name())
    };
    let n_pairs = verdicts.margins.len();
    Predictions {
        facts: json!({ "pairs": n_pairs, "threshold": model.threshold, "output": null }),
        as_text: Box::new(move || {
            let mut text = String::from("left,right,margin,outcome");
            text += if verdicts.thresholds.is_some() { ",threshold" } else { "" };
            text += if verdicts.chances.is_some() { ",p_left,p_tie,p_right\n" } else { "\n" };
            for k in 0..n_pairs {
                let (left, right, margin, outcome) = row(k);
                let (left, right) = (csv_field(&left), csv_field(&right));
                // Writing to a string cannot fail.
                let _ = write!(text, "{left},{right},{},{outcome}", number(margin));
                let threshold = verdicts.thresholds.as_ref().map(|all| all[k]);
                let chances = verdicts.chances.iter().flat_map(|all| all[k]);
                for value in threshold.into_iter().chain(chances) {
                    let _ = write!(text, ",{}", number(value));
                }
                text.push('\n');
            }
            Ok(text)
        }),
        as_json: Box::new(move || {
            let entry = |k: usize| {
                let (left, right, margin, outcome) = row(k);
                let mut entry = json!({ "left": left, "right": right, "margin": margin, "outcome": outcome });
                if let Some(thresholds) = &verdicts.thresholds {
                    entry["threshold"] = json!(thresholds[k]);
                }
                if let Some(chances) = &verdicts.chances {
                    ["p_left", "p_tie", "p_right"].iter().zip(chances[k]).for_each(|(name, p)| entry[name] = json!(p));
                }
                entry
            };
            (0..n_pairs).map(entry).collect()
        }),
    }
}
