//! `train --method online`: items in, as a whole or part by part, a model file out.

use std::path::Path;
use std::time::Instant;

use rankwise::data::Ranking;
use rankwise::estimator::Fit;
use rankwise::io::{self, ItemStream, StreamOptions};
use rankwise::model::{Method, Task, class_name};
use rankwise::{Model, Watch};
use serde::Serialize;

use super::describe::{self, Description};
use super::save_model;
use super::train::{Seconds, fit, peak_memory};
use super::train_items::{accuracy_text, not_used, pair_accuracy, unused_columns};
use crate::exit::Run;
use crate::output::Output;
use crate::plan::OnlinePlan;
use crate::text::{Facts, count, percent};

/// Trains; the model is written before anything is said about it.
pub(super) fn run(plan: &OnlinePlan, target: &Path, output: &Output) -> Run<()> {
    let init = plan.init.as_deref().map(io::read_model).transpose()?;
    let trained =
        if plan.is_stream { in_parts(plan, init.as_ref(), output)? } else { whole(plan, init.as_ref(), output)? };
    let Trained { fit, success, told, seconds } = trained;
    save_model(target, &fit.model)?;
    let warnings: Vec<String> = told.iter().chain(&fit.model.training.warnings).cloned().collect();
    warnings.iter().for_each(|warning| output.warning(warning));
    let [pair_accuracy, error] = match &success {
        Some(Success::Order(accuracy)) => [*accuracy, None],
        Some(Success::Classes(error)) => [None, *error],
        None => [None, None],
    };
    output.summary(
        || TrainJson {
            model: target.display().to_string(),
            description: Description::new(&fit.model),
            pair_accuracy,
            error,
            seconds,
            peak_memory_bytes: peak_memory(),
            threads: fit.threads,
            warnings: &warnings,
        },
        || {
            let mut facts = Facts::default();
            describe::add_facts(&mut facts, &fit.model);
            if let Some(accuracy) = pair_accuracy {
                facts.add("accuracy", accuracy_text(accuracy));
            }
            if let Some(error) = error {
                facts.add("error", format!("{} of the training items", percent(error)));
            }
            facts.add("time", seconds.text(fit.threads));
            facts.add("model", target.display().to_string());
            facts.to_string()
        },
    )
}

/// What came out.
struct Trained {
    fit: Fit,
    success: Option<Success>,
    /// Warnings of how the data were read.
    told: Vec<String>,
    seconds: Seconds,
}

/// How well the training items are told apart.
enum Success {
    /// The share of pairs in order.
    Order(Option<f64>),
    /// The share of items in the wrong class.
    Classes(Option<f64>),
}

fn whole(plan: &OnlinePlan, init: Option<&Model>, output: &Output) -> Run<Trained> {
    output.note(|| "reading the items".into());
    let started = Instant::now();
    let table = io::read_items(&plan.source, &plan.columns, plan.precision)?;
    let told = unused_columns(&table, Method::Online);
    let data = table.into_ranking()?;
    let load = started.elapsed().as_secs_f64();
    output.note(|| format!("read {} in {load:.2} s", count(data.n_items(), "item")));
    let fit = fit(output, |bar| plan.svm.fit_from(&data, init, bar))??;
    // Before the model is written: one that cannot score its own items is none.
    let success = match plan.svm.task {
        Task::Rank => Success::Order(pair_accuracy(&fit.model, &data)?),
        Task::Classify => Success::Classes(class_error(&fit.model, &data)?),
    };
    let seconds = Seconds { load, train: fit.seconds };
    Ok(Trained { fit, success: Some(success), told, seconds })
}

/// The share of items, by weight, whose class is another one than predicted.
pub(super) fn class_error(model: &Model, data: &Ranking) -> Run<Option<f64>> {
    let predicted = model.classify(&data.items)?.classes;
    let names = model.classes.as_deref().unwrap_or_default();
    let (mut wrong, mut total) = (0.0, 0.0);
    for (item, &class) in predicted.iter().enumerate() {
        let weight = data.weight(item) * data.group_weight(data.groups.numbers()[item] as usize);
        total += weight;
        if names.get(class as usize) != Some(&class_name(data.labels[item])) {
            wrong += weight;
        }
    }
    Ok((total > 0.0).then(|| wrong / total))
}

fn in_parts(plan: &OnlinePlan, init: Option<&Model>, output: &Output) -> Run<Trained> {
    let mut options = StreamOptions::new(plan.columns.clone());
    options.by_group = plan.svm.task == Task::Rank;
    let (mut told, mut seconds) = (Vec::new(), Seconds { load: 0.0, train: 0.0 });
    let learnt = fit(output, |bar| {
        let started = Instant::now();
        let mut run = plan.svm.stream(init)?;
        // Reading is part of the training here; what it took is told all the same.
        let mut pass = |each: &mut dyn FnMut(&Ranking) -> rankwise::Result<bool>| -> rankwise::Result<bool> {
            let opened = Instant::now();
            let mut stream = ItemStream::open(&plan.source, &options)?;
            told = stream.notes().to_vec();
            told.extend(stream.unused_columns().iter().map(|name| not_used(name, Method::Online)));
            let mut part = stream.next_part()?;
            seconds.load += opened.elapsed().as_secs_f64();
            while let Some(items) = part {
                if !each(&items)? {
                    return Ok(false);
                }
                let asked = Instant::now();
                part = stream.next_part()?;
                seconds.load += asked.elapsed().as_secs_f64();
            }
            Ok(true)
        };
        let goes_on = || bar.on_progress(rankwise::Progress { iterations: 1, gap: f64::NAN, tol: plan.svm.effort.tol });
        let is_file = plan.source.can_read_again();
        let mut is_complete = true;
        if is_file {
            is_complete = pass(&mut |part| run.survey(part).map(|()| goes_on()))?;
            run.end_survey()?;
        }
        for _ in 0..plan.svm.epochs.unwrap_or(1) {
            is_complete = is_complete && pass(&mut |part| run.learn(part, bar))?;
        }
        if is_complete && plan.svm.certify {
            pass(&mut |part| run.measure(part).map(|()| goes_on()))?;
        }
        let model = run.finish(Vec::new())?;
        Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads: rayon::current_num_threads() })
    })??;
    seconds.train = (learnt.seconds - seconds.load).max(0.0);
    Ok(Trained { fit: learnt, success: None, told, seconds })
}

#[derive(Debug, Serialize)]
struct TrainJson<'a> {
    model: String,
    #[serde(flatten)]
    description: Description<'a>,
    pair_accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    warnings: &'a [String],
}
