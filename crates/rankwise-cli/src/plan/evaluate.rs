//! `evaluate`, as meant: what is measured, on pairs, on items, or on what a search engine found.

use std::path::{Path, PathBuf};

use rankwise::data::Precision;
use rankwise::io::{Columns, PairFiles, Queries, Source};
use rankwise::metrics::{Bootstrap, ItemMetric};

use super::{item_source, pair_files, refuse};
use crate::args::{Common, EvaluateArgs, Intervals, LabelMetric, MetricName};
use crate::exit::{Failure, Run};

/// `evaluate`, as meant. Features are read in f64, so that a row's score does not depend on the rows around it.
pub(crate) enum EvaluatePlan {
    /// A model on compared pairs.
    Pairs(PairsPlan),
    /// A model on items.
    Items {
        /// The model file.
        model: PathBuf,
        /// The items.
        source: Source,
        /// Their columns.
        columns: Columns,
        /// Whether features beyond those of the model are read over.
        ignore_extra: bool,
        /// What to measure.
        ranked: RankedPlan,
    },
    /// What a search engine found, without a model.
    Run {
        /// The judgments.
        qrels: PathBuf,
        /// What was found.
        run: PathBuf,
        /// Which queries count.
        queries: Queries,
        /// What to measure.
        ranked: RankedPlan,
    },
}

/// What is measured on pairs.
pub(crate) struct PairsPlan {
    /// The model file.
    pub(crate) model: PathBuf,
    /// The pairs.
    pub(crate) files: PairFiles,
    /// The metrics; none means all.
    pub(crate) metrics: Vec<MetricName>,
    /// How to make intervals, if they are wanted.
    pub(crate) bootstrap: Option<Bootstrap>,
    /// Where to write the ROC curve.
    pub(crate) roc: Option<PathBuf>,
}

/// What is measured on ranked items.
pub(crate) struct RankedPlan {
    /// The metrics; none means the usual ones.
    pub(crate) metrics: Vec<ItemMetric>,
    /// Metrics of classes or values; empty where metrics of rankings are asked for, or none.
    pub(crate) of_labels: Vec<LabelMetric>,
    /// How to make intervals.
    pub(crate) bootstrap: Bootstrap,
    /// Whether intervals of the metrics are wanted.
    pub(crate) with_intervals: bool,
    /// The model, or the run, to compare with.
    pub(crate) rival: Option<PathBuf>,
    /// Where to write the metrics of every group.
    pub(crate) per_group: Option<PathBuf>,
}

/// What `evaluate` was asked to do.
pub(crate) fn evaluate(args: &EvaluateArgs, common: &Common) -> Run<EvaluatePlan> {
    if args.qrels.is_some() || args.run.is_some() {
        return on_run(args, common);
    }
    refuse(&[("--queries", args.queries.is_some())], "a model", "measure a run with --qrels FILE --run FILE")?;
    let Some(model) = args.model.clone() else {
        return Err(Failure::Usage(
            "nothing to measure: give a model and items (evaluate MODEL DATA), a model and pairs (evaluate MODEL \
             --pairs FILE), or judgments and a run (evaluate --qrels FILE --run FILE)"
                .into(),
        ));
    };
    match (&args.data, &args.source.pairs) {
        (Some(data), Some(_)) => {
            Err(Failure::Usage(format!("{data} and --pairs: measure on items or on pairs, one at a time")))
        }
        (Some(data), None) => on_items(model, data, args, common),
        (None, Some(_)) => on_pairs(model, args, common),
        (None, None) => Err(Failure::Usage(
            "no data: give items with labels (evaluate MODEL DATA), or compared pairs with --pairs FILE".into(),
        )),
    }
}

fn on_pairs(model: PathBuf, args: &EvaluateArgs, common: &Common) -> Run<EvaluatePlan> {
    let of_items = [("--compare", args.compare.is_some()), ("--per-group", args.per_group.is_some())];
    refuse(&of_items, "pairs", "give items with labels (evaluate MODEL DATA)")?;
    let metrics = args.metric.iter().map(|name| pair_metric(name)).collect::<Run<_>>()?;
    let bootstrap = share(args).map(|level| bootstrap(level, common)).transpose()?;
    let files = pair_files(&args.source, args.format.format, Precision::F64)?;
    Ok(EvaluatePlan::Pairs(PairsPlan { model, files, metrics, bootstrap, roc: args.roc.clone() }))
}

fn on_items(model: PathBuf, data: &str, args: &EvaluateArgs, common: &Common) -> Run<EvaluatePlan> {
    refuse(&[("--roc", args.roc.is_some())], "items", "give compared pairs with --pairs FILE")?;
    let ranked = ranked(args, common)?;
    let (source, columns) = item_source(data, args.format.format, &args.source.columns)?;
    super::refuse_extra(&source, args.extra.ignore_extra)?;
    Ok(EvaluatePlan::Items { model, source, columns, ignore_extra: args.extra.ignore_extra, ranked })
}

fn on_run(args: &EvaluateArgs, common: &Common) -> Run<EvaluatePlan> {
    let (Some(qrels), Some(run)) = (args.qrels.clone(), args.run.clone()) else {
        return Err(Failure::Usage("judgments and a run go together: give both --qrels FILE and --run FILE".into()));
    };
    if let Some(model) = &args.model {
        return Err(Failure::Usage(format!(
            "{}: a run has its scores already and needs no model; leave it out, or leave out --qrels and --run",
            model.display()
        )));
    }
    let columns = &args.source.columns;
    let typed = [
        ("--pairs", args.source.pairs.is_some()),
        ("--items", args.source.items.is_some()),
        ("--roc", args.roc.is_some()),
        ("--id", columns.id.is_some()),
        ("--group", columns.group.is_some()),
        ("--weight", columns.weight.is_some()),
        ("--label", columns.label.is_some()),
        ("--drop", !columns.drop.is_empty()),
        ("--index-base", columns.index_base.is_some()),
        ("--separator", columns.separator.is_some()),
        ("--ignore-extra", args.extra.ignore_extra),
        ("--format", args.format.format.is_some()),
    ];
    refuse(&typed, "--qrels and --run", "measure a model (evaluate MODEL DATA)")?;
    let files = [Some(&qrels), Some(&run), args.compare.as_ref()];
    if files.into_iter().flatten().filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(Failure::Usage("only one of the files can be standard input; save the others to files".into()));
    }
    let ranked = ranked(args, common)?;
    if let Some(metric) = ranked.of_labels.first() {
        return Err(Failure::Usage(format!(
            "--metric {} is for pairs and for classifiers, and this is a run; ask for a metric of rankings",
            metric.name()
        )));
    }
    Ok(EvaluatePlan::Run { qrels, run, queries: args.queries.unwrap_or_default(), ranked })
}

fn ranked(args: &EvaluateArgs, common: &Common) -> Run<RankedPlan> {
    if args.per_group.as_deref() == Some(Path::new("-")) {
        return Err(Failure::Usage("--per-group -: standard output is for the metrics; name a file".into()));
    }
    let mut metrics: Vec<ItemMetric> = Vec::new();
    let of_labels: Vec<LabelMetric> = args.metric.iter().filter_map(|name| LabelMetric::find(name)).collect();
    for name in args.metric.iter().filter(|name| LabelMetric::find(name).is_none()) {
        let metric = item_metric(name)?;
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    if let (Some(first), false) = (of_labels.first(), metrics.is_empty()) {
        return Err(Failure::Usage(format!(
            "--metric {} looks at labels, the others look at the order; ask for one kind at a time",
            first.name()
        )));
    }
    Ok(RankedPlan {
        metrics,
        of_labels,
        bootstrap: bootstrap(share(args).unwrap_or(Bootstrap::default().level), common)?,
        with_intervals: share(args).is_some(),
        rival: args.compare.clone(),
        per_group: args.per_group.clone(),
    })
}

/// The share of `--ci`.
fn share(args: &EvaluateArgs) -> Option<f64> {
    args.ci.and_then(Intervals::share)
}

fn bootstrap(level: f64, common: &Common) -> Run<Bootstrap> {
    if !(level > 0.0 && level < 1.0) {
        return Err(Failure::Usage(format!("--ci={level} is not possible: expected a number between 0 and 1")));
    }
    let mut bootstrap = Bootstrap::new(common.seed);
    bootstrap.level = level;
    Ok(bootstrap)
}

/// A metric of pairs by its name.
fn pair_metric(name: &str) -> Run<MetricName> {
    MetricName::find(name).ok_or_else(|| {
        let known = MetricName::all().into_iter().map(MetricName::name).collect::<Vec<_>>().join(", ");
        let problem = match ItemMetric::parse(name) {
            Ok(_) => {
                format!("--metric {name} is for items, and these are pairs; measure on items (evaluate MODEL DATA)")
            }
            Err(_) => format!("--metric {name} is not known"),
        };
        Failure::Usage(format!("{problem}; metrics of pairs are {known}"))
    })
}

/// A metric of ranked items by its name.
fn item_metric(name: &str) -> Run<ItemMetric> {
    ItemMetric::parse(name).map_err(|error| match MetricName::find(name) {
        Some(_) => Failure::Usage(format!(
            "--metric {name} is for pairs, and these are items; give compared pairs with --pairs FILE; metrics of items \
             are {} (K a number)",
            ItemMetric::NAMES.join(", ")
        )),
        None => Failure::Usage(format!(
            "{}; of classifiers and regressions: {}",
            Failure::from(error),
            LabelMetric::names().join(", ")
        )),
    })
}
