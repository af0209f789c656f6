//! `tune`: pairs in, the model with the best of many parameters out.

use std::path::Path;
use std::time::Instant;

use rankwise::data::Comparisons;
use rankwise::io;
use rankwise::selection::{Split, Tuned, Tuner};
use serde::Serialize;

use super::describe::{self, Description};
use super::train::{Errors, peak_memory};
use super::tuning::{self, TuningJson};
use super::{check_apart, check_writable, save_model, table, tables};
use crate::args::{Common, TuneArgs};
use crate::exit::{Failure, Run};
use crate::interrupt::{self, Shield};
use crate::output::{self, Output};
use crate::plan::{self, TunePlan};
use crate::progress::TuningBar;
use crate::text::{Facts, count, rounded_or_dash};

/// Searches; files are written before anything is said about them.
pub(super) fn run(args: &TuneArgs, common: &Common, output: &Output) -> Run<()> {
    let plan = plan::tune(args, common)?;
    check_outputs(&plan, args)?;

    output.note(|| "reading the pairs".into());
    let started = Instant::now();
    let data = io::read_pairs(&plan.files)?.into_comparisons()?;
    let valid = plan.valid.as_ref().map(|files| io::read_pairs(files)?.into_comparisons()).transpose()?;
    let load_seconds = started.elapsed().as_secs_f64();
    output.note(|| {
        format!("read {} ({}) in {load_seconds:.2} s", count(data.n_pairs(), "pair"), count(data.n_ties(), "tie"))
    });

    let tuner = plan.tuner(&data)?;
    let started = Instant::now();
    let tuned = tune(&tuner, &plan, &data, valid.as_ref(), output)?;
    let fit = &tuned.fit;
    let tune_seconds = started.elapsed().as_secs_f64() - fit.seconds;
    save_model(&plan.output, &fit.model)?;
    let Some(tuning) = tuned.tuning() else {
        return Err(Failure::Fault("the search left no record; report this as a bug".into()));
    };
    if let Some(path) = &plan.table {
        output::write_file(path, tuning::csv(tuning).as_bytes())?;
    }
    let warnings: Vec<&String> = tuning.warnings.iter().chain(&fit.model.training.warnings).collect();
    warnings.iter().for_each(|warning| output.warning(warning));

    let errors = if output.shows_summary() { Errors::on(&fit.model, &data)? } else { Errors::default() };
    let seconds = Seconds { load: load_seconds, tune: tune_seconds, train: fit.seconds };
    output.summary(
        || TuneJson {
            model: plan.output.display().to_string(),
            table: plan.table.as_ref().map(|path| path.display().to_string()),
            search: TuningJson::new(tuning),
            description: Description::new(&fit.model),
            error: errors.model,
            majority_error: errors.majority,
            seconds,
            peak_memory_bytes: peak_memory(),
            threads: fit.threads,
            warnings: &warnings,
        },
        || {
            let mut facts = Facts::default();
            describe::add_facts(&mut facts, &fit.model);
            facts.add("error", errors.text());
            let mean = rounded_or_dash(tuning.points[tuning.best].mean);
            let held_out = tuning::split_text(tuning.split);
            facts.add("held out", format!("{} {mean} on {held_out}; {}", tuning.metric, tuning::baseline_text(tuning)));
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

/// Refuses, before the work, outputs that cannot be written or would destroy something.
fn check_outputs(plan: &TunePlan, args: &TuneArgs) -> Run<()> {
    if plan.output == Path::new("-") {
        return Err(Failure::Usage("a model cannot be written to standard output; name a file with -o".into()));
    }
    let inputs = || tables(&args.learn.source).chain(args.valid.as_deref().map(table));
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

fn tune(
    tuner: &Tuner,
    plan: &TunePlan,
    data: &Comparisons,
    valid: Option<&Comparisons>,
    output: &Output,
) -> Run<Tuned> {
    let split = valid.map_or(Split::Folds(plan.n_folds), Split::Valid);
    let n_parts = if valid.is_some() { 1 } else { plan.n_folds };
    let n_points = tuner.grid.n_points();
    output.note(|| format!("tuning: {}, {} each", count(n_points, "point"), count(n_parts, "fit")));
    let shield = Shield::up();
    let tuned = {
        let bar = TuningBar::new(output.shows_progress(), n_points.saturating_mul(n_parts), tuner.grid.c.len());
        tuner.tune(data, split, &bar)
    };
    drop(shield);
    interrupt::check()?;
    Ok(tuned?)
}

#[derive(Debug, Serialize)]
struct TuneJson<'a> {
    model: String,
    table: Option<String>,
    #[serde(flatten)]
    search: TuningJson<'a>,
    #[serde(flatten)]
    description: Description<'a>,
    error: Option<f64>,
    majority_error: Option<f64>,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    warnings: &'a [&'a String],
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Seconds {
    load: f64,
    tune: f64,
    train: f64,
}
