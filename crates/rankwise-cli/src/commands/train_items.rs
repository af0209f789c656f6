//! `train` on items: labels in groups in, a model file out, or the answer that no hard margin exists.

use std::path::Path;
use std::time::Instant;

use rankwise::data::{Ranking, StoredRanking};
use rankwise::estimator::{Fit, ItemEstimator};
use rankwise::io::{Format, ItemTable, Source};
use rankwise::metrics::{ItemMetric, MetricSum, Ranked};
use rankwise::model::Method;
use rankwise::{Error, Model, io};
use serde::Serialize;

use super::describe::{self, Description};
use super::train::{Seconds, fit, is_late, peak_memory};
use super::{read_pairs, save_model};
use crate::exit::{Failure, Run};
use crate::interrupt;
use crate::output::Output;
use crate::plan::ItemPlan;
use crate::text::{Facts, count, percent};

/// Trains; the model is written before anything is said about it.
pub(super) fn run(plan: &ItemPlan, target: &Path, output: &Output) -> Run<()> {
    let init = plan.init.as_deref().map(io::read_model).transpose()?;
    output.note(|| "reading the items".into());
    let started = Instant::now();
    if let Some(memory) = plan.memory
        && let Some(mut data) = too_large(plan, memory)?
    {
        let load = started.elapsed().as_secs_f64();
        output.note(|| "the features stay on the disk".into());
        return on_stored(plan, &mut data, init.as_ref(), load, target, output);
    }
    let table = io::read_items(&plan.source, &plan.columns, plan.precision)?;
    let unused = unused_columns(&table, plan.estimator.method());
    let data = table.into_ranking()?;
    let load = started.elapsed().as_secs_f64();
    output.note(|| {
        let groups = count(data.groups.len(), "group");
        format!("read {} in {groups} in {load:.2} s", count(data.n_items(), "item"))
    });

    let judged = match &plan.judged {
        Some(files) => Some(read_pairs(files, output)?.into_judged(&data.items)?),
        None => None,
    };
    let load = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let learnt = fit(output, |bar| match (&plan.estimator, &judged) {
        (ItemEstimator::Rank(svm), Some(judged)) => svm.fit_both(&data, judged, init.as_ref(), bar),
        (estimator, _) => estimator.fit_from(&data, init.as_ref(), bar),
    })?;
    let end = End { plan, n_features: data.items.features.n_cols(), load, started, unused, target };
    let accuracy = |model: &Model| if is_late(model, data.n_items()) { Ok(None) } else { pair_accuracy(model, &data) };
    end.tell(learnt, accuracy, output)
}

/// Items that need more memory than may be used, their features left on the disk; `None` for those that do not.
fn too_large(plan: &ItemPlan, memory: usize) -> Run<Option<StoredRanking>> {
    let name = plan.source.name();
    if plan.source.format() != Format::Blocks {
        let Source::File { path, .. } = &plan.source else { return Ok(None) };
        return match path.metadata() {
            Ok(found) if found.is_file() && found.len() > memory as u64 => Err(Failure::Fault(format!(
                "{name}: {} MiB, and --memory-mb {} may be used; make a block file of it (rankwise convert {name} DATA.rwb), \
                 whose features can stay on the disk",
                found.len() >> 20,
                memory >> 20,
            ))),
            _ => Ok(None),
        };
    }
    let file = io::open_blocks(&plan.source, &plan.columns)?;
    let needed = file.bytes_in_memory();
    if needed <= memory {
        return Ok(None);
    }
    if !matches!(plan.estimator, ItemEstimator::Rank(_)) || plan.judged.is_some() {
        return Err(Failure::Usage(format!(
            "{name} needs about {} MiB of memory, and --memory-mb {} may be used; only --method rank, without --pairs, learns \
             from the disk",
            (needed >> 20) + 16,
            memory >> 20,
        )));
    }
    Ok(Some(file.into_stored(memory)?))
}

/// Trains on features that stay on the disk.
fn on_stored(
    plan: &ItemPlan,
    data: &mut StoredRanking,
    init: Option<&Model>,
    load: f64,
    target: &Path,
    output: &Output,
) -> Run<()> {
    let ItemEstimator::Rank(svm) = &plan.estimator else { return Ok(()) };
    let started = Instant::now();
    // A read of the whole file may take long.
    data.stop_when(interrupt::is_requested);
    let learnt = fit(output, |bar| svm.fit_stored(data, init, bar))?;
    let end = End { plan, n_features: data.n_features(), load, started, unused: Vec::new(), target };
    end.tell(learnt, |model| stored_accuracy(model, data), output)
}

/// How a training ends.
struct End<'a> {
    plan: &'a ItemPlan,
    n_features: usize,
    load: f64,
    started: Instant,
    unused: Vec<String>,
    target: &'a Path,
}

impl End<'_> {
    /// Writes the model and tells of it.
    fn tell(
        self,
        learnt: rankwise::Result<Fit>,
        accuracy: impl FnOnce(&Model) -> Run<Option<f64>>,
        output: &Output,
    ) -> Run<()> {
        let End { plan, n_features, load, started, unused, target } = self;
        let fit = match learnt {
            Err(error @ Error::NotRankable { .. }) => {
                let seconds = Seconds { load, train: started.elapsed().as_secs_f64() };
                unused.iter().for_each(|warning| output.warning(warning));
                return tell_no_margin(plan, &error, n_features, seconds, &unused, output);
            }
            ended => ended?,
        };
        // Before the model is written, and whoever listens: a model that cannot score its own items is none.
        let accuracy = accuracy(&fit.model)?;
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
                    let text = accuracy_text(accuracy);
                    facts.add(
                        "accuracy",
                        if plan.judged.is_some() { text.replace("training pairs", "pairs of labels") } else { text },
                    );
                }
                facts.add("time", seconds.text(fit.threads));
                facts.add("model", target.display().to_string());
                facts.to_string()
            },
        )
    }
}

/// Warnings of how the table was read, and of columns that look as if they were used.
pub(super) fn unused_columns(table: &ItemTable, method: Method) -> Vec<String> {
    let unused = table.unused_columns.iter().map(|name| not_used(name, method));
    table.notes.iter().cloned().chain(unused).collect()
}

/// A warning of a column that is never a feature.
pub(super) fn not_used(name: &str, method: Method) -> String {
    format!("the column {name} is not used by {}", method.name())
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

/// The same where features stay on the disk.
fn stored_accuracy(model: &Model, data: &StoredRanking) -> Run<Option<f64>> {
    let (metric, mut sum) = (ItemMetric::default(), MetricSum::default());
    data.for_each_scored(
        |items| model.scorer.scores(items),
        |some| {
            let mut ranked = Ranked::new(some.labels, some.scores, &some.groups)?;
            if let Some(weights) = some.weights {
                ranked = ranked.with_weights(weights)?;
            }
            if let Some(weights) = some.group_weights {
                ranked = ranked.with_group_weights(weights)?;
            }
            sum.add(&metric, &ranked)
        },
    )?;
    Ok(sum.value())
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
