//! `train --method classify`, `--method regress` and `--method ordinal`: items in, a model file out, or the answer that no hard margin exists.

use std::path::Path;
use std::time::Instant;

use rankwise::data::{ClassItems, Precision, Ranking};
use rankwise::io::{Columns, Source};
use rankwise::metrics::{ClassMetric, Classified, PredictedValues, ValueMetric};
use rankwise::model::Method;
use rankwise::{Error, LabelData, Model, io};
use serde::Serialize;

use super::describe::{self, Description};
use super::evaluate::classes::Known;
use super::save_model;
use super::train::{Seconds, fit, is_late, peak_memory};
use super::train_items::unused_columns;
use crate::exit::Run;
use crate::output::Output;
use crate::plan::SvmPlan;
use crate::text::{Facts, count, percent, rounded};

/// Items with classes or values.
pub(super) enum Labels {
    Classes(ClassItems),
    Values(Ranking),
}

impl Labels {
    /// Reads what a method learns; tells of columns that it does not use.
    pub(super) fn read(
        method: Method,
        source: &Source,
        columns: &Columns,
        precision: Precision,
    ) -> Run<(Self, Vec<String>)> {
        let table = match method {
            Method::Classify => io::read_classes(source, columns, precision)?,
            _ => io::read_items(source, columns, precision)?,
        };
        let unused = unused_columns(&table, method);
        let labels = match method {
            Method::Classify => Labels::Classes(table.into_classes()?),
            _ => Labels::Values(table.into_ranking()?),
        };
        Ok((labels, unused))
    }

    /// As the library takes them.
    pub(super) fn data(&self) -> LabelData<'_> {
        match self {
            Labels::Classes(data) => data.into(),
            Labels::Values(data) => data.into(),
        }
    }

    fn n_features(&self) -> usize {
        match self {
            Labels::Classes(data) => data.items.features.n_cols(),
            Labels::Values(data) => data.items.features.n_cols(),
        }
    }

    /// How many items there are.
    pub(super) fn n_items(&self) -> usize {
        match self {
            Labels::Classes(data) => data.n_items(),
            Labels::Values(data) => data.n_items(),
        }
    }
}

/// How well the training items are met, beside what a constant answer would get.
#[derive(Debug, Default, Serialize)]
pub(super) struct Success {
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
    let (labels, mut unused) = Labels::read(plan.machine.method(), &plan.source, &plan.columns, plan.precision)?;
    if matches!(&labels, Labels::Values(data) if data.groups.are_given()) && plan.machine.method() == Method::Ordinal {
        unused.push("groups are not used by ordinal: its thresholds are the same for all".into());
    }
    let load = started.elapsed().as_secs_f64();
    output.note(|| format!("read {}", count(labels.n_items(), "item")));
    let learnt = fit(output, |bar| plan.machine.fit_watched(labels.data(), bar))?;
    let fit = match learnt {
        Err(error @ Error::NotSeparable { .. }) => {
            let seconds = Seconds { load, train: started.elapsed().as_secs_f64() - load };
            unused.iter().for_each(|warning| output.warning(warning));
            return tell_no_margin(plan, &error, labels.n_features(), seconds, &unused, output);
        }
        ended => ended?,
    };
    // Before the model is written: one that cannot score its own items is none.
    let success = match is_late(&fit.model, labels.n_items()) {
        true => Success::default(),
        false => Success::of(&fit.model, &labels)?,
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
            success.add_to(&mut facts);
            facts.add("time", seconds.text(fit.threads));
            facts.add("model", target.display().to_string());
            facts.to_string()
        },
    )
}

impl Success {
    /// Measures a model on what it has learnt from.
    pub(super) fn of(model: &Model, labels: &Labels) -> Run<Self> {
        let mut success = Success::default();
        match (labels, &model.grades) {
            (Labels::Values(data), Some(rule)) => {
                let known = Known::of_grades(rule, data);
                let verdicts = rule.verdicts(model.scorer.scores(&data.items)?);
                let classified = known.classified(&verdicts)?;
                success.error = classified.zero_one();
                success.majority_error = ClassMetric::ZeroOne.of_constant(&classified);
                success.mae = classified.mae();
            }
            (Labels::Classes(data), _) => {
                let verdicts = model.classify(&data.items)?;
                let mut names = model.classes.clone().unwrap_or_default();
                let n_known = names.len();
                // Classes that no item of a weight above 0 has.
                let absent: Vec<String> = data.classes.iter().filter(|class| !names.contains(class)).cloned().collect();
                names.extend(absent);
                let place = |class: &String| names.iter().position(|name| name == class).unwrap_or(0) as u32;
                let places: Vec<u32> = data.classes.iter().map(place).collect();
                let numbers: Vec<u32> = data.labels.iter().map(|&label| places[label as usize]).collect();
                let mut classified = Classified::new(&names, n_known, &numbers, &verdicts.classes)?;
                if let Some(weights) = &data.weights {
                    classified = classified.with_weights(weights)?;
                }
                success.error = classified.zero_one();
                success.majority_error = ClassMetric::ZeroOne.of_constant(&classified);
            }
            (Labels::Values(data), None) => {
                let values = model.scorer.scores(&data.items)?;
                let weights = super::evaluate::item_weights(data);
                let predicted = PredictedValues::new(&data.labels, &values)?.with_weights(&weights)?;
                success.mae = ValueMetric::Mae.of(&predicted);
                success.mean_mae = ValueMetric::Mae.of_mean(&predicted);
            }
        }
        Ok(success)
    }

    /// In words.
    pub(super) fn add_to(&self, facts: &mut Facts) {
        if let (Some(error), Some(majority)) = (self.error, self.majority_error) {
            let what = if self.mae.is_some() { "grade" } else { "class" };
            let off = self.mae.map_or_else(String::new, |mae| format!("; off by {} in the mean", rounded(mae)));
            let words = format!("of the training items; always the most frequent {what} would get");
            facts.add("error", format!("{} {words} {}{off}", percent(error), percent(majority)));
        }
        if let (Some(mae), Some(mean)) = (self.mae, self.mean_mae) {
            let words = "in the mean over the training items; their mean label would get";
            facts.add("error", format!("{} {words} {}", rounded(mae), rounded(mean)));
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
