//! `train`: pairs (or items, see [`super::train_items`]) in, a model file out.

use std::path::Path;
use std::time::Instant;

use rankwise::data::{Comparisons, Features, Outcome, Pair};
use rankwise::estimator::Fit;
use rankwise::io::PairFiles;
use rankwise::metrics::Judged;
use rankwise::model::{Method, Model};
use rankwise::{Error, Stop};
use serde::Serialize;

use super::describe::{self, Description};
use super::{check_apart, check_writable, read_pairs, save_model, table, tables, train_items, train_online, train_svm};
use crate::args::{Common, TrainArgs};
use crate::exit::{Failure, Run};
use crate::interrupt::{self, Shield};
use crate::output::Output;
use crate::plan::{self, PairLearner, TrainPlan};
use crate::progress::TrainingBar;
use crate::text::{Facts, count, percent};

/// Trains; the model is written before anything is said about it.
pub(super) fn run(args: &TrainArgs, common: &Common, output: &Output) -> Run<()> {
    let plan = plan::train(args, common)?;
    let target = args.learn.output.as_path();
    if target == Path::new("-") {
        return Err(Failure::Usage("a model cannot be written to standard output; name a file with -o".into()));
    }
    let items = args.learn.data.as_deref().map(table);
    // The model to start from may be written over: it is read before, and replaced by a whole file.
    check_apart(target, tables(&args.learn.source).chain(items))?;
    check_writable(target)?;
    match plan {
        TrainPlan::Pairs { files, learner } => on_pairs(&files, &learner, target, output),
        TrainPlan::Items(plan) => train_items::run(&plan, target, output),
        TrainPlan::Online(plan) => train_online::run(&plan, target, output),
        TrainPlan::Svm(plan) => train_svm::run(&plan, target, output),
    }
}

fn on_pairs(files: &PairFiles, learner: &PairLearner, target: &Path, output: &Output) -> Run<()> {
    output.note(|| "reading the pairs".into());
    let started = Instant::now();
    let table = read_pairs(files, output)?;
    let notes = table.notes.clone();
    let data = table.into_comparisons()?;
    let load_seconds = started.elapsed().as_secs_f64();
    output.note(|| {
        format!("read {} ({}) in {load_seconds:.2} s", count(data.n_pairs(), "pair"), count(data.n_ties(), "tie"))
    });

    let fit = match fit(output, |bar| learner.fit_watched(&data, bar))? {
        Err(error @ Error::NotSeparable { .. }) => {
            let seconds = Seconds { load: load_seconds, train: started.elapsed().as_secs_f64() - load_seconds };
            return tell_no_margin(learner, &data, &error, seconds, output);
        }
        ended => ended?,
    };
    save_model(target, &fit.model)?;
    fit.model.training.warnings.iter().for_each(|warning| output.warning(warning));
    let warnings: Vec<String> = notes.iter().chain(&fit.model.training.warnings).cloned().collect();

    let seconds = Seconds { load: load_seconds, train: fit.seconds };
    let errors = if output.shows_summary() { Errors::on(&fit.model, &data)? } else { Errors::default() };
    output.summary(
        || TrainJson {
            model: target.display().to_string(),
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
            facts.add("time", seconds.text(fit.threads));
            facts.add("model", target.display().to_string());
            facts.to_string()
        },
    )
}

/// The answer that no scores tell all pairs and ties apart: there is no model to write.
fn tell_no_margin(
    learner: &PairLearner,
    data: &Comparisons,
    error: &Error,
    seconds: Seconds,
    output: &Output,
) -> Run<()> {
    let Error::NotSeparable { problem, items, .. } = error else { return Ok(()) };
    output.verdict(&format!("no model is written: {error}"));
    let threads = rayon::current_num_threads();
    let (c, kernel) = learner.shape();
    let (pairs, ties, features) = (data.n_pairs(), data.n_ties(), data.set.items.features.n_cols());
    output.summary(
        || NoMarginJson {
            model: None,
            method: learner.method(),
            kernel: kernel.name(),
            c,
            separable: false,
            reason: problem,
            objective: None,
            gap: None,
            certificate: None,
            iterations: None,
            stop: None,
            support: None,
            margin: None,
            groups: None,
            groups_dropped: 0,
            items: *items,
            features,
            pairs,
            ties,
            seconds,
            peak_memory_bytes: peak_memory(),
            threads,
            warnings: &[],
        },
        || {
            let mut facts = Facts::default();
            facts.add("method", learner.method().name());
            facts.add("kernel", kernel.name());
            facts.add("C", describe::c_text(c));
            let (pairs, ties) = (count(pairs, "pair"), count(ties, "tie"));
            let (items, features) = (count(*items, "item"), count(features, "feature"));
            facts.add("data", format!("{pairs} ({ties}), {items}, {features}"));
            facts.add("separable", "no");
            facts.add("time", seconds.text(threads));
            facts.to_string()
        },
    )
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
    /// What only a model would have.
    objective: Option<f64>,
    gap: Option<f64>,
    certificate: Option<&'a str>,
    iterations: Option<u64>,
    stop: Option<&'a str>,
    support: Option<usize>,
    margin: Option<f64>,
    items: usize,
    features: usize,
    groups: Option<usize>,
    groups_dropped: usize,
    pairs: usize,
    ties: usize,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    warnings: &'a [String],
}

/// Fits behind a shield, with a bar. Ctrl-C is an error of its own; what the library says comes back as it is.
pub(super) fn fit(
    output: &Output,
    fit: impl FnOnce(&TrainingBar) -> rankwise::Result<Fit>,
) -> Run<rankwise::Result<Fit>> {
    let shield = Shield::up();
    output.note(|| "training".into());
    let fit = {
        let bar = TrainingBar::new(output.shows_progress());
        fit(&bar)
    };
    drop(shield);
    // Whatever a stopped solver left behind is not what was asked for.
    interrupt::check()?;
    Ok(fit)
}

/// Pairs whose margins are held at once.
const PAIRS_AT_ONCE: usize = 1 << 20;

/// Errors on the training pairs.
#[derive(Debug, Default)]
pub(super) struct Errors {
    pub(super) model: Option<f64>,
    pub(super) majority: Option<f64>,
    majority_outcome: Option<Outcome>,
}

impl Errors {
    pub(super) fn on(model: &Model, data: &Comparisons) -> Run<Self> {
        let table = confusion(model, data)?;
        let totals = table.map(|row| row.iter().sum::<f64>());
        let total: f64 = totals.iter().sum();
        let share = |weight: f64| (total > 0.0).then(|| (total - weight) / total);
        let most = Outcome::ALL.into_iter().rev().max_by(|&a, &b| totals[a as usize].total_cmp(&totals[b as usize]));
        Ok(Errors {
            model: share((0..3).map(|k| table[k][k]).sum()),
            majority: most.and_then(|outcome| share(totals[outcome as usize])),
            majority_outcome: most.filter(|_| total > 0.0),
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

/// Weights by judged and predicted outcome. Some pairs at a time: of many, numbers for each would take more memory than the
/// pairs themselves.
fn confusion(model: &Model, data: &Comparisons) -> Run<[[f64; 3]; 3]> {
    if model.band.is_some() {
        let verdicts = model.judge(&data.set)?;
        return Ok(Judged::of(&data.outcomes, &verdicts, data.weights.as_deref())?.confusion());
    }
    let scores = model.scorer.scores(&data.set.items)?;
    let mut table = [[0.0; 3]; 3];
    for start in (0..data.n_pairs()).step_by(PAIRS_AT_ONCE) {
        let range = start..(start + PAIRS_AT_ONCE).min(data.n_pairs());
        let weights = data.weights.as_ref().map(|weights| &weights[range.clone()]);
        let margin = |p: &Pair| scores[p.right as usize] - scores[p.left as usize];
        let margins: Vec<f64> = data.set.pairs[range.clone()].iter().map(margin).collect();
        let part = Judged::new(&data.outcomes[range], &margins, weights, model.threshold)?.confusion();
        table.iter_mut().flatten().zip(part.iter().flatten()).for_each(|(sum, part)| *sum += part);
    }
    Ok(table)
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

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Seconds {
    pub(super) load: f64,
    pub(super) train: f64,
}

impl Seconds {
    pub(super) fn text(self, threads: usize) -> String {
        format!("{:.2} s reading, {:.2} s training, {}", self.load, self.train, count(threads, "thread"))
    }
}

/// The most memory the program has had, where the system tells.
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

/// Whether measuring a model on its own items would go on for long after a limit has ended the search.
pub(super) fn is_late(model: &Model, n_items: usize) -> bool {
    const MOST_PRODUCTS: usize = 1 << 30;
    let is_limited = matches!(model.training.stop, Stop::TimeLimit | Stop::Interrupted);
    let products = |support: &Features| support.n_rows().saturating_mul(support.n_cols()).saturating_mul(n_items);
    is_limited && model.scorer.function.support().is_some_and(|support| products(support) > MOST_PRODUCTS)
}
