//! `train`: pairs in, a model file out.

use std::path::Path;
use std::time::Instant;

use rankwise::data::{Comparisons, Outcome};
use rankwise::estimator::Fit;
use rankwise::io;
use rankwise::metrics::Judged;
use rankwise::model::Model;
use serde::Serialize;

use super::describe::{self, Description};
use super::{check_apart, check_writable, save_model, tables};
use crate::args::{Common, TrainArgs};
use crate::exit::{Failure, Run};
use crate::interrupt::{self, Shield};
use crate::output::Output;
use crate::plan::{self, TrainPlan};
use crate::progress::TrainingBar;
use crate::text::{Facts, count, percent};

/// Trains; the model is written before anything is said about it.
pub(super) fn run(args: &TrainArgs, common: &Common, output: &Output) -> Run<()> {
    let plan = plan::train(args, common)?;
    if plan.output == Path::new("-") {
        return Err(Failure::Usage("a model cannot be written to standard output; name a file with -o".into()));
    }
    check_apart(&plan.output, tables(&args.learn.source))?;
    check_writable(&plan.output)?;

    output.note(|| "reading the pairs".into());
    let started = Instant::now();
    let data = io::read_pairs(&plan.files)?.into_comparisons()?;
    let load_seconds = started.elapsed().as_secs_f64();
    output.note(|| {
        format!("read {} ({}) in {load_seconds:.2} s", count(data.n_pairs(), "pair"), count(data.n_ties(), "tie"))
    });

    let fit = fit(&plan, &data, output)?;
    save_model(&plan.output, &fit.model)?;
    fit.model.training.warnings.iter().for_each(|warning| output.warning(warning));

    let errors = if output.shows_summary() { Errors::on(&fit.model, &data)? } else { Errors::default() };
    output.summary(
        || TrainJson {
            model: plan.output.display().to_string(),
            description: Description::new(&fit.model),
            error: errors.model,
            majority_error: errors.majority,
            seconds: Seconds { load: load_seconds, train: fit.seconds },
            peak_memory_bytes: peak_memory(),
            threads: fit.threads,
            warnings: &fit.model.training.warnings,
        },
        || {
            let mut facts = Facts::default();
            describe::add_facts(&mut facts, &fit.model);
            facts.add("error", errors.text());
            let threads = count(fit.threads, "thread");
            facts.add("time", format!("{load_seconds:.2} s reading, {:.2} s training, {threads}", fit.seconds));
            facts.add("model", plan.output.display().to_string());
            facts.to_string()
        },
    )
}

fn fit(plan: &TrainPlan, data: &Comparisons, output: &Output) -> Run<Fit> {
    let shield = Shield::up();
    output.note(|| "training".into());
    let fit = {
        let bar = TrainingBar::new(output.shows_progress());
        plan.estimator.fit_watched(data, &bar)
    };
    drop(shield);
    // Whatever a stopped solver left behind is not what was asked for.
    interrupt::check()?;
    Ok(fit?)
}

/// Errors on the training pairs.
#[derive(Debug, Default)]
pub(super) struct Errors {
    pub(super) model: Option<f64>,
    pub(super) majority: Option<f64>,
    majority_outcome: Option<Outcome>,
}

impl Errors {
    pub(super) fn on(model: &Model, data: &Comparisons) -> Run<Self> {
        let margins = model.margins(&data.set)?;
        let judged = Judged::new(&data.outcomes, &margins, data.weights.as_deref(), model.threshold)?;
        Ok(Errors {
            model: judged.zero_one(),
            majority: judged.majority_error(),
            majority_outcome: judged.majority_outcome(),
        })
    }

    pub(super) fn text(&self) -> String {
        match (self.model, self.majority, self.majority_outcome) {
            (Some(model), Some(majority), Some(outcome)) => format!(
                "{} of the training pairs; always \"{}\" would get {}",
                percent(model),
                outcome.name(),
                percent(majority)
            ),
            _ => "not defined: no pair has a weight above 0".into(),
        }
    }
}

#[derive(Debug, Serialize)]
struct TrainJson<'a> {
    model: String,
    #[serde(flatten)]
    description: Description<'a>,
    error: Option<f64>,
    majority_error: Option<f64>,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    warnings: &'a [String],
}

#[derive(Debug, Serialize)]
struct Seconds {
    load: f64,
    train: f64,
}

/// The most memory the program has had, where the system tells.
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}
