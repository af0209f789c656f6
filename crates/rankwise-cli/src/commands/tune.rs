//! `tune`: pairs or items in, the model with the best of many parameters out.

use std::path::Path;
use std::time::Instant;

use rankwise::data::Precision;
use rankwise::io::{PairFiles, Source};
use rankwise::selection::{LabelSplit, RankSplit, Split, Tuned};
use rankwise::{Error, io};
use serde::Serialize;

use super::describe::{self, Description};
use super::train::{Errors, peak_memory};
use super::train_items::{accuracy_text, pair_accuracy, unused_columns};
use super::train_svm::{self, Labels};
use super::tuning::{self, TuningJson};
use super::{check_apart, check_writable, is_same_file, table, tables};
use crate::args::{Common, TuneArgs};
use crate::exit::{Failure, Run};
use crate::interrupt::{self, Shield};
use crate::output::{self, Output};
use crate::plan::{self, ItemSearch, LabelSearch, PairSearch, Search, TunePlan};
use crate::progress::TuningBar;
use crate::text::{Facts, count, rounded_or_dash};

/// Searches; files are written before anything is said about them.
pub(super) fn run(args: &TuneArgs, common: &Common, output: &Output) -> Run<()> {
    let plan = plan::tune(args, common)?;
    check_outputs(&plan, args)?;

    let Found { tuned, told, load_seconds, tune_seconds, success } = match &plan.search {
        Search::Pairs(search) => search_pairs(search, &plan, output)?,
        Search::Items(search) => search_items(search, &plan, output)?,
        Search::Labels(search) => search_labels(search, &plan, output)?,
    };
    let fit = &tuned.fit;
    let Some(tuning) = tuned.tuning() else {
        return Err(Failure::Fault("the search left no record; report this as a bug".into()));
    };
    let mut files = vec![(plan.output.clone(), io::model_to_bytes(&fit.model)?)];
    files.extend(plan.table.iter().map(|path| (path.clone(), tuning::csv(tuning).into_bytes())));
    output::write_files(&files)?;
    drop(files);
    let seen = seen_twice(args);
    let warnings = told.iter().chain(&seen).chain(&tuning.warnings).chain(&fit.model.training.warnings);
    let warnings: Vec<&String> = warnings.collect();
    warnings.iter().for_each(|warning| output.warning(warning));

    let seconds = Seconds { load: load_seconds, tune: tune_seconds, train: fit.seconds };
    output.summary(
        || TuneJson {
            model: plan.output.display().to_string(),
            table: plan.table.as_ref().map(|path| path.display().to_string()),
            search: TuningJson::new(tuning),
            description: Description::new(&fit.model),
            success: success.json(),
            seconds,
            peak_memory_bytes: peak_memory(),
            threads: fit.threads,
            warnings: &warnings,
        },
        || {
            let mut facts = Facts::default();
            describe::add_facts(&mut facts, &fit.model);
            success.add_to(&mut facts);
            let mean = rounded_or_dash(tuning.points[tuning.best].mean);
            let held_out = tuning::split_text(tuning.split);
            facts.add(
                "held out",
                format!(
                    "{} {mean} on {held_out}; {}",
                    tuning.metric,
                    tuning::baseline_text(tuning, fit.model.training.method)
                ),
            );
            let Seconds { load, tune, train } = seconds;
            let threads = count(fit.threads, "thread");
            facts.add("time", format!("{load:.2} s reading, {tune:.2} s tuning, {train:.2} s training, {threads}"));
            if let Some(path) = &plan.table {
                facts.add("table", path.display().to_string());
            }
            facts.add("model", plan.output.display().to_string());
            format!("{}\n{facts}", tuning::text(tuning))
        },
    )
}

/// A warning where the model is measured on what it has learnt from.
fn seen_twice(args: &TuneArgs) -> Option<String> {
    let valid = args.valid.as_deref()?;
    let data = args.learn.data.as_deref().or(args.learn.source.pairs.as_deref())?;
    is_same_file(table(data), table(valid)).then(|| {
        format!(
            "{valid} is both learnt from and measured on, so that the best point is that which fits it most closely; give \
             other data with --valid, or leave it out for folds"
        )
    })
}

/// Refuses, before the work, outputs that cannot be written or would destroy something.
fn check_outputs(plan: &TunePlan, args: &TuneArgs) -> Run<()> {
    if plan.output == Path::new("-") {
        return Err(Failure::Usage("a model cannot be written to standard output; name a file with -o".into()));
    }
    let others = || [&args.learn.data, &args.valid].into_iter().flatten().map(|typed| table(typed));
    let inputs = || tables(&args.learn.source).chain(others());
    check_apart(&plan.output, inputs())?;
    check_writable(&plan.output)?;
    let Some(path) = &plan.table else { return Ok(()) };
    let directory = |path: &Path| path.parent().and_then(|parent| Path::new(".").join(parent).canonicalize().ok());
    if path.file_name() == plan.output.file_name() && directory(path) == directory(&plan.output) {
        return Err(Failure::Usage("--table and -o name the same file; name two".into()));
    }
    if path == Path::new("-") {
        return Err(Failure::Usage("--table - : name a file; --json prints every point on standard output".into()));
    }
    check_apart(path, inputs())?;
    check_writable(path)
}

/// A search that is over.
struct Found {
    tuned: Tuned,
    /// Warnings of how the data were read.
    told: Vec<String>,
    load_seconds: f64,
    tune_seconds: f64,
    success: Success,
}

/// How well the model does on what it has learnt from.
enum Success {
    /// On pairs.
    Pairs(Errors),
    /// On items.
    Items { pair_accuracy: Option<f64> },
    /// Of classes or values.
    Labels(train_svm::Success),
}

impl Success {
    fn json(&self) -> SuccessJson<'_> {
        match self {
            Success::Pairs(errors) => SuccessJson::Pairs { error: errors.model, majority_error: errors.majority },
            &Success::Items { pair_accuracy } => SuccessJson::Items { pair_accuracy },
            Success::Labels(success) => SuccessJson::Labels(success),
        }
    }

    fn add_to(&self, facts: &mut Facts) {
        match self {
            Success::Pairs(errors) => facts.add("error", errors.text()),
            &Success::Items { pair_accuracy: Some(accuracy) } => facts.add("accuracy", accuracy_text(accuracy)),
            Success::Items { .. } => {}
            Success::Labels(success) => success.add_to(facts),
        }
    }
}

/// Takes in what is to be told of the file that is measured on, unless it was told of the other one.
fn add_notes(told: &mut Vec<String>, notes: &[String], source: &str) {
    let new: Vec<String> =
        notes.iter().filter(|note| !told.contains(note)).map(|note| format!("{source}: {note}")).collect();
    told.extend(new);
}

fn search_pairs(search: &PairSearch, plan: &TunePlan, output: &Output) -> Run<Found> {
    output.note(|| "reading the pairs".into());
    let started = Instant::now();
    let table = io::read_pairs(&search.files)?;
    let notes = table.notes.clone();
    let data = table.into_comparisons()?;
    let mut told = notes;
    let read = |files: &PairFiles| -> Run<_> {
        let table = io::read_pairs(files)?;
        add_notes(&mut told, &table.notes, &table.source);
        Ok(table.into_comparisons()?)
    };
    let valid = search.valid.as_ref().map(read).transpose()?;
    let load_seconds = started.elapsed().as_secs_f64();
    output.note(|| {
        format!("read {} ({}) in {load_seconds:.2} s", count(data.n_pairs(), "pair"), count(data.n_ties(), "tie"))
    });
    let tuner = search.tuner(&data)?;
    let (split, n_parts) = match &valid {
        Some(valid) => (Split::Valid(valid), 1),
        None => (Split::Folds(plan.n_folds), plan.n_folds),
    };
    let size = Size { n_points: tuner.grid.n_points(), n_parts, n_c: tuner.grid.c.len() };
    let (tuned, tune_seconds) = watched(size, output, |bar| tuner.tune(&data, split, bar))?;
    let errors = if output.shows_summary() { Errors::on(&tuned.fit.model, &data)? } else { Errors::default() };
    Ok(Found { tuned, told, load_seconds, tune_seconds, success: Success::Pairs(errors) })
}

fn search_items(search: &ItemSearch, plan: &TunePlan, output: &Output) -> Run<Found> {
    output.note(|| "reading the items".into());
    let started = Instant::now();
    let table = io::read_items(&search.data, &search.columns, search.precision)?;
    let mut told = unused_columns(&table, rankwise::model::Method::Rank);
    let data = table.into_ranking()?;
    // As `evaluate` reads them.
    let read = |source: &Source| -> Run<_> {
        let table = io::read_items(source, &search.columns, Precision::F64)?;
        add_notes(&mut told, &unused_columns(&table, rankwise::model::Method::Rank), &table.source);
        Ok(table.into_ranking()?)
    };
    let valid = search.valid.as_ref().map(read).transpose()?;
    let load_seconds = started.elapsed().as_secs_f64();
    output.note(|| {
        let (items, groups) = (count(data.n_items(), "item"), count(data.groups.len(), "group"));
        format!("read {items} in {groups} in {load_seconds:.2} s")
    });
    let tuner = search.tuner(&data)?;
    let (split, n_parts) = match &valid {
        Some(valid) => (RankSplit::Valid(valid), 1),
        None => (RankSplit::Folds(plan.n_folds), plan.n_folds),
    };
    let size = Size { n_points: tuner.c.len() * tuner.kernels.len() * tuner.losses.len(), n_parts, n_c: tuner.c.len() };
    let (tuned, tune_seconds) = watched(size, output, |bar| tuner.tune(&data, split, bar))?;
    let accuracy = pair_accuracy(&tuned.fit.model, &data)?;
    Ok(Found { tuned, told, load_seconds, tune_seconds, success: Success::Items { pair_accuracy: accuracy } })
}

fn search_labels(search: &LabelSearch, plan: &TunePlan, output: &Output) -> Run<Found> {
    output.note(|| "reading the items".into());
    let started = Instant::now();
    let read = |source, precision| Labels::read(search.method(), source, &search.columns, precision);
    let (data, mut told) = read(&search.data, search.precision)?;
    // As `evaluate` reads them.
    let valid = search.valid.as_ref().map(|source| read(source, Precision::F64)).transpose()?;
    if let (Some((_, notes)), Some(source)) = (&valid, &search.valid) {
        add_notes(&mut told, notes, &source.name());
    }
    let load_seconds = started.elapsed().as_secs_f64();
    output.note(|| format!("read {} in {load_seconds:.2} s", count(data.n_items(), "item")));
    let tuner = search.tuner(data.data())?;
    let (split, n_parts) = match &valid {
        Some((valid, _)) => (LabelSplit::Valid(valid.data()), 1),
        None => (LabelSplit::Folds(plan.n_folds), plan.n_folds),
    };
    let n_points = tuner.grid.n_points().saturating_mul(tuner.epsilons.len().max(1));
    let size = Size { n_points, n_parts, n_c: tuner.grid.c.len() };
    let (tuned, tune_seconds) = watched(size, output, |bar| tuner.tune(data.data(), split, bar))?;
    let success = Success::Labels(train_svm::Success::of(&tuned.fit.model, &data)?);
    Ok(Found { tuned, told, load_seconds, tune_seconds, success })
}

/// How much there is to do.
#[derive(Clone, Copy)]
struct Size {
    n_points: usize,
    n_parts: usize,
    n_c: usize,
}

/// Searches behind a bar; Ctrl-C ends it. Tells the seconds without those of the last fit.
fn watched(size: Size, output: &Output, tune: impl FnOnce(&TuningBar) -> Result<Tuned, Error>) -> Run<(Tuned, f64)> {
    let Size { n_points, n_parts, n_c } = size;
    output.note(|| format!("tuning: {}, {} each", count(n_points, "point"), count(n_parts, "fit")));
    let started = Instant::now();
    let shield = Shield::up();
    let tuned = tune(&TuningBar::new(output.shows_progress(), n_points.saturating_mul(n_parts), n_c));
    drop(shield);
    interrupt::check()?;
    let tuned = tuned?;
    let seconds = started.elapsed().as_secs_f64() - tuned.fit.seconds;
    Ok((tuned, seconds))
}

#[derive(Debug, Serialize)]
struct TuneJson<'a> {
    model: String,
    table: Option<String>,
    #[serde(flatten)]
    search: TuningJson<'a>,
    #[serde(flatten)]
    description: Description<'a>,
    #[serde(flatten)]
    success: SuccessJson<'a>,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    warnings: &'a [&'a String],
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SuccessJson<'a> {
    Pairs { error: Option<f64>, majority_error: Option<f64> },
    Items { pair_accuracy: Option<f64> },
    Labels(&'a train_svm::Success),
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Seconds {
    load: f64,
    tune: f64,
    train: f64,
}
