//! `train --method classify` and `--method regress`: items in, a model file out, or the answer that no hard margin exists.

use std::path::Path;
use std::time::Instant;

use rankwise::estimator::Fit;
use rankwise::io::ItemTable;
use rankwise::metrics::{ClassMetric, Classified, PredictedValues, ValueMetric};
use rankwise::model::Method;
use rankwise::{Error, io};
use serde::Serialize;

use super::describe::{self, Description};
use super::save_model;
use super::train::{Seconds, fit, peak_memory};
use super::train_items::unused_columns;
use crate::exit::Run;
use crate::output::Output;
use crate::plan::{SvmMachine, SvmPlan};
use crate::text::{Facts, count, percent, rounded};

/// How well the training items are met, beside what a constant answer would get.
#[derive(Debug, Default, Serialize)]
struct Success {
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    majority_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mae: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_mae: Option<f64>,
}

/// Trains; the model is written before anything is said about it.
pub(super) fn run(plan: &SvmPlan, target: &Path, output: &Output) -> Run<()> {
    output.note(|| "reading the items".into());
    let started = Instant::now();
    let read = match &plan.machine {
        SvmMachine::Classify(_) => io::read_classes(&plan.source, &plan.columns, plan.precision)?,
        SvmMachine::Regress(_) => io::read_items(&plan.source, &plan.columns, plan.precision)?,
    };
    let unused = unused_columns(&read, plan.machine.method());
    let n_features = read.items.features.n_cols();
    output.note(|| format!("read {}", count(read.items.n_items(), "item")));
    let (learnt, success, load) = learn(plan, read, started, output)?;
    let fit = match learnt {
        Err(error @ Error::NotSeparable { .. }) => {
            let seconds = Seconds { load, train: started.elapsed().as_secs_f64() - load };
            unused.iter().for_each(|warning| output.warning(warning));
            return tell_no_margin(plan, &error, n_features, seconds, &unused, output);
        }
        ended => ended?,
    };
    save_model(target, &fit.model)?;
    let warnings: Vec<&String> = unused.iter().chain(&fit.model.training.warnings).collect();
    warnings.iter().for_each(|warning| output.warning(warning));
    let seconds = Seconds { load, train: fit.seconds };
    output.summary(
        || TrainJson {
            model: target.display().to_string(),
            description: Description::new(&fit.model),
            success: &success,
            seconds,
            peak_memory_bytes: peak_memory(),
            threads: fit.threads,
            warnings: &warnings,
        },
        || {
            let mut facts = Facts::default();
            describe::add_facts(&mut facts, &fit.model);
            if let (Some(error), Some(majority)) = (success.error, success.majority_error) {
                let words = "of the training items; always the most frequent class would get";
                facts.add("error", format!("{} {words} {}", percent(error), percent(majority)));
            }
            if let (Some(mae), Some(mean)) = (success.mae, success.mean_mae) {
                let words = "in the mean over the training items; their mean label would get";
                facts.add("error", format!("{} {words} {}", rounded(mae), rounded(mean)));
            }
            facts.add("time", seconds.text(fit.threads));
            facts.add("model", target.display().to_string());
            facts.to_string()
        },
    )
}

/// Fits; says how well, before the model is written: one that cannot score its own items is none.
fn learn(
    plan: &SvmPlan,
    read: ItemTable,
    started: Instant,
    output: &Output,
) -> Run<(rankwise::Result<Fit>, Success, f64)> {
    let mut success = Success::default();
    match &plan.machine {
        SvmMachine::Classify(svm) => {
            let data = read.into_classes()?;
            let load = started.elapsed().as_secs_f64();
            let learnt = fit(output, |bar| svm.fit_watched(&data, bar))?;
            if let Ok(Fit { model, .. }) = &learnt {
                let verdicts = model.classify(&data.items)?;
                let mut names = model.classes.clone().unwrap_or_default();
                let n_known = names.len();
                // Classes that no item of a weight above 0 has.
                let absent: Vec<String> = data.classes.iter().filter(|class| !names.contains(class)).cloned().collect();
                names.extend(absent);
                let place = |class: &String| names.iter().position(|name| name == class).unwrap_or(0) as u32;
                let places: Vec<u32> = data.classes.iter().map(place).collect();
                let labels: Vec<u32> = data.labels.iter().map(|&label| places[label as usize]).collect();
                let mut classified = Classified::new(&names, n_known, &labels, &verdicts.classes)?;
                if let Some(weights) = &data.weights {
                    classified = classified.with_weights(weights)?;
                }
                success.error = classified.zero_one();
                success.majority_error = ClassMetric::ZeroOne.of_constant(&classified);
            }
            Ok((learnt, success, load))
        }
        SvmMachine::Regress(svm) => {
            let data = read.into_ranking()?;
            let load = started.elapsed().as_secs_f64();
            let learnt = fit(output, |bar| svm.fit_watched(&data, bar))?;
            if let Ok(Fit { model, .. }) = &learnt {
                let values = model.scorer.scores(&data.items)?;
                let weights = super::evaluate::item_weights(&data);
                let predicted = PredictedValues::new(&data.labels, &values)?.with_weights(&weights)?;
                success.mae = ValueMetric::Mae.of(&predicted);
                success.mean_mae = ValueMetric::Mae.of_mean(&predicted);
            }
            Ok((learnt, success, load))
        }
    }
}

/// The answer that nothing keeps all items apart: there is no model to write.
fn tell_no_margin(
    plan: &SvmPlan,
    error: &Error,
    features: usize,
    seconds: Seconds,
    unused: &[String],
    output: &Output,
) -> Run<()> {
    let Error::NotSeparable { problem, items, .. } = error else { return Ok(()) };
    output.verdict(&format!("no model is written: {error}"));
    let threads = rayon::current_num_threads();
    let method = plan.machine.method();
    output.summary(
        || NoMarginJson {
            model: None,
            method,
            c: plan.machine.c(),
            separable: false,
            reason: problem,
            items: *items,
            features,
            seconds,
            peak_memory_bytes: peak_memory(),
            threads,
            warnings: unused,
        },
        || {
            let mut facts = Facts::default();
            facts.add("method", method.name());
            facts.add("C", describe::c_text(plan.machine.c()));
            facts.add("data", format!("{}, {}", count(*items, "item"), count(features, "feature")));
            facts.add("separable", "no");
            facts.add("time", seconds.text(threads));
            facts.to_string()
        },
    )
}

#[derive(Debug, Serialize)]
struct TrainJson<'a> {
    model: String,
    #[serde(flatten)]
    description: Description<'a>,
    #[serde(flatten)]
    success: &'a Success,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    warnings: &'a [&'a String],
}

#[derive(Debug, Serialize)]
struct NoMarginJson<'a> {
    model: Option<String>,
    method: Method,
    #[serde(rename = "C", serialize_with = "describe::or_inf")]
    c: f64,
    separable: bool,
    reason: &'a str,
    items: usize,
    features: usize,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    warnings: &'a [String],
}
