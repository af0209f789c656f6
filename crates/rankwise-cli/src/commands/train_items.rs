//! `train` on items: labels in groups in, a model file out, or the answer that no hard margin exists.

use std::path::Path;
use std::time::Instant;

use rankwise::data::Ranking;
use rankwise::estimator::ItemEstimator;
use rankwise::io::ItemTable;
use rankwise::metrics::{ItemMetric, Ranked};
use rankwise::model::Method;
use rankwise::{Error, Model, io};
use serde::Serialize;

use super::describe::{self, Description};
use super::save_model;
use super::train::{Seconds, fit, peak_memory};
use crate::exit::Run;
use crate::output::Output;
use crate::plan::ItemPlan;
use crate::text::{Facts, count, percent};

/// Trains; the model is written before anything is said about it.
pub(super) fn run(plan: &ItemPlan, target: &Path, output: &Output) -> Run<()> {
    let init = plan.init.as_deref().map(io::read_model).transpose()?;
    output.note(|| "reading the items".into());
    let started = Instant::now();
    let table = io::read_items(&plan.source, &plan.columns, plan.precision)?;
    let unused = unused_columns(&table, plan.estimator.method());
    let data = table.into_ranking()?;
    let load = started.elapsed().as_secs_f64();
    output.note(|| {
        let groups = count(data.groups.len(), "group");
        format!("read {} in {groups} in {load:.2} s", count(data.n_items(), "item"))
    });

    let judged = match &plan.judged {
        Some(files) => Some(io::read_pairs(files)?.into_judged(&data.items)?),
        None => None,
    };
    let load = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let learnt = fit(output, |bar| match (&plan.estimator, &judged) {
        (ItemEstimator::Rank(svm), Some(judged)) => svm.fit_both(&data, judged, init.as_ref(), bar),
        (estimator, _) => estimator.fit_from(&data, init.as_ref(), bar),
    })?;
    let fit = match learnt {
        Err(error @ Error::NotRankable { .. }) => {
            let seconds = Seconds { load, train: started.elapsed().as_secs_f64() };
            unused.iter().for_each(|warning| output.warning(warning));
            return tell_no_margin(plan, &error, data.items.features.n_cols(), seconds, &unused, output);
        }
        ended => ended?,
    };
    // Before the model is written, and whoever listens: a model that cannot score its own items is none.
    let accuracy = pair_accuracy(&fit.model, &data)?;
    save_model(target, &fit.model)?;
    let warnings: Vec<&String> = unused.iter().chain(&fit.model.training.warnings).collect();
    warnings.iter().for_each(|warning| output.warning(warning));

    let seconds = Seconds { load, train: fit.seconds };
    output.summary(
        || TrainJson {
            model: target.display().to_string(),
            description: Description::new(&fit.model),
            pair_accuracy: accuracy,
            seconds,
            peak_memory_bytes: peak_memory(),
            threads: fit.threads,
            warnings: &warnings,
        },
        || {
            let mut facts = Facts::default();
            describe::add_facts(&mut facts, &fit.model);
            if let Some(accuracy) = accuracy {
                facts.add("accuracy", accuracy_text(accuracy));
            }
            facts.add("time", seconds.text(fit.threads));
            facts.add("model", target.display().to_string());
            facts.to_string()
        },
    )
}

/// Warnings of columns that look as if they were used.
pub(super) fn unused_columns(table: &ItemTable, method: Method) -> Vec<String> {
    let warning = |name: &String| format!("the column {name} is not used by {}", method.name());
    table.unused_columns.iter().map(warning).collect()
}

/// The share of training pairs that the model puts in order.
pub(super) fn pair_accuracy(model: &Model, data: &Ranking) -> Run<Option<f64>> {
    let scores = model.scorer.scores(&data.items)?;
    let mut ranked = Ranked::new(&data.labels, &scores, &data.groups)?;
    if let Some(weights) = &data.weights {
        ranked = ranked.with_weights(weights)?;
    }
    if let Some(weights) = &data.group_weights {
        ranked = ranked.with_group_weights(weights)?;
    }
    Ok(ItemMetric::parse("pair_accuracy")?.of(&ranked)?.value)
}

/// What [`pair_accuracy`] is.
pub(super) fn accuracy_text(accuracy: f64) -> String {
    format!("{} of the training pairs in order; a random order would get 50 %", percent(accuracy))
}

/// The answer that no weights put every pair in order: there is no model to write.
fn tell_no_margin(
    plan: &ItemPlan,
    error: &Error,
    features: usize,
    seconds: Seconds,
    unused: &[String],
    output: &Output,
) -> Run<()> {
    let &Error::NotRankable { ref problem, items, groups, groups_dropped, pairs, .. } = error else { return Ok(()) };
    output.verdict(&format!("no model is written: {error}"));
    let threads = rayon::current_num_threads();
    output.summary(
        || NoMarginJson {
            model: None,
            method: Method::Rank,
            kernel: "linear",
            c: plan.estimator.c(),
            separable: false,
            reason: problem,
            items,
            features,
            groups,
            groups_dropped,
            pairs,
            ties: 0,
            seconds,
            peak_memory_bytes: peak_memory(),
            threads,
            warnings: unused,
        },
        || {
            let mut facts = Facts::default();
            facts.add("method", Method::Rank.name());
            facts.add("kernel", "linear");
            facts.add("C", describe::c_text(plan.estimator.c()));
            facts.add("data", describe::items_text(items, features, groups, groups_dropped, pairs));
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
    pair_accuracy: Option<f64>,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    warnings: &'a [&'a String],
}

#[derive(Debug, Serialize)]
struct NoMarginJson<'a> {
    model: Option<String>,
    method: Method,
    kernel: &'static str,
    #[serde(rename = "C", serialize_with = "describe::or_inf")]
    c: f64,
    separable: bool,
    reason: &'a str,
    items: usize,
    features: usize,
    groups: usize,
    groups_dropped: usize,
    pairs: usize,
    ties: usize,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    warnings: &'a [String],
}
