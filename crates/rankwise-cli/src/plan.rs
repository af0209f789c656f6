//! What is meant: typed options turned into parameters of the library. Options that do not apply are refused, never
//! ignored; ranges are the library's business.

mod convert;
mod evaluate;
mod grid;
mod online;
mod program;
mod rate;
mod svm;
mod train;
mod tune;
mod tune_items;
mod tune_labels;

use std::time::Duration;

use rankwise::data::Precision;
use rankwise::estimator::{Effort, PairEstimator};
use rankwise::io::{Columns, Format, PairFiles, Source};
use rankwise::kernel::Kernel;
use rankwise::model::{Balance, Method, ThresholdRule, TieBandKind, TieRegion};
use rankwise::{Error, Loss};

use crate::args::{
    ColumnArgs, Common, DataArgs, KernelArgs, KernelName, LearnArgs, PredictArgs, PredictFormat, ReportArgs,
};
use crate::exit::{Failure, Run};

pub(crate) use convert::{ConvertPlan, convert};
pub(crate) use evaluate::{EvaluatePlan, PairsPlan, RankedPlan, evaluate};
pub(crate) use online::OnlinePlan;
pub(crate) use rate::{RatePlan, Shape, rate};
pub(crate) use svm::SvmPlan;
pub(crate) use train::{ItemPlan, PairLearner, TrainPlan, train};
pub(crate) use tune::{PairSearch, Search, TunePlan, tune};
pub(crate) use tune_items::ItemSearch;
pub(crate) use tune_labels::LabelSearch;

/// A finite C.
fn c(typed: f64) -> Run<f64> {
    if typed == f64::INFINITY {
        return Err(Failure::Usage(
            "--C inf is a hard margin, which leaves nothing to choose; give it to train, or choose finite values"
                .into(),
        ));
    }
    Ok(typed)
}

/// The method with all of its parameters but C, kernel and loss, which will be one of these.
fn estimator(args: &LearnArgs, losses: &[Loss], common: &Common) -> Run<PairEstimator> {
    let method = args.method.unwrap_or(Method::Compare);
    if method.is_of_items() {
        return Err(Failure::Usage(format!(
            "--method {} learns from items with labels, not from compared pairs; give items (train DATA -o MODEL), or \
             choose --method compare",
            method.name()
        )));
    }
    let of_items = [("--pairs-per-item", args.pairs_per_item.is_some())];
    refuse(&of_items, "pairs", "give items with labels (train DATA -o MODEL)")?;
    let mut estimator = PairEstimator::new(method)?;
    let effort = estimator.effort_mut();
    *effort = common_effort(common);
    args.effort.apply_to(effort);
    let balance = args.ties.balance.unwrap_or_default();
    refuse(&[("--balance groups", balance == Balance::Groups)], "pairs", "choose --balance outcomes")?;
    let tie_band = args.ties.tie_band.unwrap_or_default();
    let approx = args.kernel.approx;
    let is_banded = approx.is_some() && tie_band == TieBandKind::Pair;
    refuse(&[("--approx", is_banded)], "--tie-band pair", "choose --tie-band constant")?;
    let is_cached = approx.is_some() && args.effort.cache_mb.is_some();
    refuse(&[("--cache-mb", is_cached)], "--approx", "leave out --approx")?;
    match &mut estimator {
        PairEstimator::Compare(svm) => {
            refuse_losses(args, losses)?;
            (svm.tie_band, svm.calibrate, svm.approx) = (tie_band, args.ties.calibrate, approx);
            (svm.scale, svm.tie_weight) = (args.scale, args.ties.tie_weight.unwrap_or(1.0));
            svm.threshold = args.ties.threshold.unwrap_or_default();
            svm.tie_region = args.ties.tie_region.unwrap_or_default();
            svm.balance = balance;
            if svm.balance == Balance::Outcomes && svm.threshold == ThresholdRule::Model {
                return Err(Failure::Usage(
                    "--balance outcomes moves the machine's own threshold, so it needs --threshold refit; leave out \
                     --threshold model or --balance outcomes"
                        .into(),
                ));
            }
        }
        PairEstimator::Rank(svm) => {
            (svm.scale, svm.tie_weight) = (args.scale, args.ties.tie_weight.unwrap_or(1.0));
            (svm.calibrate, svm.approx) = (args.ties.calibrate, approx);
            let typed = [
                ("--threshold", args.ties.threshold.is_some()),
                ("--tie-region", args.ties.tie_region.is_some()),
                ("--tie-band", args.ties.tie_band.is_some()),
                ("--balance", args.ties.balance.is_some()),
            ];
            let with = format!("--method {}", method.name());
            refuse(&typed, &with, "choose --method compare")?;
            if method == Method::Rank {
                let typed = [("--tie-weight", args.ties.tie_weight.is_some())];
                refuse(&typed, &with, "choose --method compare or rank2")?;
            }
        }
        PairEstimator::Davidson(model) => {
            (model.scale, model.tie_band, model.approx) = (args.scale, tie_band, approx);
            let with = "--method davidson";
            refuse(&[("--calibrate", args.ties.calibrate)], &format!("{with}, which {HAS_CHANCES}"), "choose another")?;
            let typed = [
                ("--loss", args.loss.is_some()),
                ("--threshold", args.ties.threshold.is_some()),
                ("--tie-region", args.ties.tie_region.is_some()),
                ("--tie-weight", args.ties.tie_weight.is_some()),
                ("--balance", args.ties.balance.is_some()),
            ];
            refuse(&typed, with, "choose --method compare")?;
        }
    }
    Ok(estimator)
}

const HAS_CHANCES: &str = "has probabilities of its own";

/// Refuses options of `compare` that do not go with a loss.
fn refuse_losses(args: &LearnArgs, losses: &[Loss]) -> Run<()> {
    let ties = &args.ties;
    if ties.tie_band == Some(TieBandKind::Pair) && losses.contains(&Loss::Hinge) {
        return Err(Failure::Usage(
            "--tie-band pair does not apply to --loss hinge, which would start to ignore the margins; leave it out, or \
             choose --loss squared-hinge or --loss logistic"
                .into(),
        ));
    }
    let with = format!("--loss logistic, which {HAS_CHANCES}");
    if losses.contains(&Loss::Logistic) {
        let typed = [
            ("--tie-region always", ties.tie_region == Some(TieRegion::Always)),
            ("--balance outcomes", ties.balance == Some(Balance::Outcomes)),
        ];
        refuse(&typed, &with, "choose --loss squared-hinge")?;
    }
    // Among other losses it has a meaning for these.
    if losses.iter().all(|&loss| loss == Loss::Logistic) {
        let typed = [("--calibrate", ties.calibrate), ("--threshold", ties.threshold.is_some())];
        refuse(&typed, &with, "choose --loss squared-hinge")?;
    }
    Ok(())
}

fn time_limit(typed: Option<f64>) -> Run<Option<Duration>> {
    match typed {
        None => Ok(None),
        // More than a Duration can hold is no limit.
        Some(seconds) if seconds > 1e15 => Ok(None),
        Some(seconds) => Ok(Some(
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| Error::parameter("time-limit", seconds, "seconds of at least 0"))?,
        )),
    }
}

/// The default effort with the seed that every command knows. The number of threads is the process's, set once for all.
pub(crate) fn common_effort(common: &Common) -> Effort {
    let mut effort = Effort::default();
    effort.seed = common.seed;
    effort
}

fn kernel(args: &KernelArgs) -> Run<Kernel> {
    let name = args.kernel.unwrap_or(KernelName::Linear);
    refuse_unused(args, &[name])?;
    let (gamma, coef0) = (args.gamma.unwrap_or_default(), args.coef0.unwrap_or(0.0));
    Ok(match name {
        KernelName::Linear => Kernel::Linear,
        KernelName::Poly => Kernel::Poly { gamma, coef0, degree: args.degree.unwrap_or(3) },
        KernelName::Rbf => Kernel::Rbf { gamma },
        KernelName::Sigmoid => Kernel::Sigmoid { gamma, coef0 },
    })
}

/// Refuses parameters that none of the kernels has.
fn refuse_unused(args: &KernelArgs, kernels: &[KernelName]) -> Run<()> {
    let names = kernels.iter().map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ");
    let refuse = |option: &str, is_typed: bool, has: fn(KernelName) -> bool| match kernels
        .iter()
        .any(|&kernel| has(kernel))
    {
        true => Ok(()),
        false => refuse(&[(option, is_typed)], &format!("--kernel {names}"), &format!("choose --kernel {}", with(has))),
    };
    refuse("--gamma", args.gamma.is_some(), KernelName::has_gamma)?;
    let is_linear = kernels.iter().all(|kernel| !kernel.has_gamma());
    if args.approx.is_some() && is_linear {
        return Err(Failure::Usage(format!(
            "--approx does not apply to --kernel {names}; leave it out, or choose --kernel rbf or poly"
        )));
    }
    refuse("--degree", args.degree.is_some(), KernelName::has_degree)?;
    refuse("--coef0", args.coef0.is_some(), KernelName::has_coef0)
}

/// The kernels that have a parameter, in words.
fn with(has: fn(KernelName) -> bool) -> String {
    KernelName::ALL.into_iter().filter(|&kernel| has(kernel)).map(KernelName::name).collect::<Vec<_>>().join(", ")
}

/// Refuses the first of these options that was typed although it does nothing.
fn refuse(typed: &[(&str, bool)], with: &str, remedy: &str) -> Run<()> {
    match typed.iter().find(|(_, is_typed)| *is_typed) {
        Some((option, _)) => {
            Err(Failure::Usage(format!("{option} does not apply to {with}; leave it out, or {remedy}")))
        }
        None => Ok(()),
    }
}

/// The files of pairs that were asked for.
fn pair_files(args: &DataArgs, format: Option<Format>, precision: Precision) -> Run<PairFiles> {
    let Some(pairs) = &args.pairs else {
        return Err(Failure::Usage("no data: give compared pairs with --pairs FILE".into()));
    };
    refuse(&[("--index-base", args.columns.index_base.is_some())], "pairs", "give items in SVMlight's format")?;
    if pairs == "-" && args.items.as_deref() == Some("-") {
        return Err(Failure::Usage(
            "--pairs and --items cannot both be standard input; save one of them to a file".into(),
        ));
    }
    let source = |path: &String| Source::parse(path, format.filter(|_| path == "-" || !is_named_table(path)));
    Ok(PairFiles {
        pairs: source(pairs)?,
        items: args.items.as_ref().map(source).transpose()?,
        columns: Columns { left: args.left.clone(), right: args.right.clone(), ..columns(&args.columns) },
        precision,
        with_outcomes: true,
        as_games: false,
    })
}

/// A file of items that was asked for, and its columns.
pub(crate) fn item_source(path: &str, format: Option<Format>, args: &ColumnArgs) -> Run<(Source, Columns)> {
    let source = Source::parse(path, format)?;
    if !matches!(source.format(), Format::Csv | Format::Tsv) {
        refuse(&[("--separator", args.separator.is_some())], "what is no table of text", "add --format csv")?;
    }
    if source.format() != Format::SvmLight {
        let typed = [("--index-base", args.index_base.is_some())];
        let kind = match source.format() {
            Format::Blocks => "block files, whose features are known",
            _ => "tables, whose columns have names",
        };
        refuse(&typed, kind, "give items in SVMlight's format")?;
    }
    Ok((source, columns(args)))
}

/// Whether the name of a file tells which kind of table it is, so that `--format` is about the other one.
fn is_named_table(path: &str) -> bool {
    Source::parse(path, None).is_ok_and(|source| source.format().is_table())
}

fn columns(args: &ColumnArgs) -> Columns {
    Columns {
        left: None,
        right: None,
        id: args.id.clone(),
        weight: args.weight.clone(),
        group: args.group.clone(),
        time: None,
        label: args.label.clone(),
        drop: args.drop.clone(),
        separator: args.separator,
        index_base: args.index_base.unwrap_or_default(),
        most_features: None,
    }
}

/// Refuses to read over features that have names, or numbers of their own.
fn refuse_extra(source: &Source, ignore_extra: bool) -> Run<()> {
    let is_numbered = source.format() == Format::SvmLight;
    let remedy = "give items in SVMlight's format; features of tables are found by their names";
    refuse(&[("--ignore-extra", ignore_extra && !is_numbered)], "data that say how many features there are", remedy)
}

/// What `predict` predicts. Features are read in f64, so that a row's score does not depend on the rows around it.
pub(crate) enum PredictPlan {
    /// Which side is better.
    Pairs(PairFiles),
    /// How good each item is.
    Items {
        /// The items.
        source: Source,
        /// Their columns.
        columns: Columns,
        /// How to write.
        format: PredictFormat,
        /// How many of each group to write.
        top: Option<usize>,
        /// Whether a classifier's scores are wanted rather than its classes.
        scores: bool,
    },
}

/// What `predict` was asked to do.
pub(crate) fn predict(args: &PredictArgs) -> Run<PredictPlan> {
    // `--format` is about what is written here, so the library's advice would not help.
    let unclear = |path: &str, kinds: &str| {
        let name = if path == "-" { "standard input" } else { path };
        Failure::Usage(format!("{name}: no extension that tells its format; add {kinds}"))
    };
    if args.input_format.is_none() {
        const TABLES: &str = "--input-format csv or --input-format tsv";
        let tables = [&args.source.pairs, &args.source.items].into_iter().flatten();
        if let Some(path) = tables.into_iter().find(|path| !is_named_table(path)) {
            return Err(unclear(path, TABLES));
        }
        if let Some(path) = args.data.as_ref().filter(|path| Source::parse(path, None).is_err()) {
            return Err(unclear(path, &format!("{TABLES} or --input-format svmlight")));
        }
    }
    let Some(data) = &args.data else {
        if args.format == Some(PredictFormat::Scores) {
            return Err(Failure::Usage("--format scores is for items; pairs are written as csv".into()));
        }
        if args.format == Some(PredictFormat::Trec) {
            return Err(Failure::Usage("--format trec is for items; pairs are written as csv".into()));
        }
        let of_items = [("--top", args.top.is_some()), ("--scores", args.scores)];
        refuse(&of_items, "pairs", "give items (predict MODEL DATA)")?;
        let files = pair_files(&args.source, args.input_format, Precision::F64)?;
        // What is to be predicted need not have happened.
        return Ok(PredictPlan::Pairs(PairFiles { with_outcomes: false, ..files }));
    };
    let format = args.format.unwrap_or(PredictFormat::Scores);
    let (source, columns) = item_source(data, args.input_format, &args.source.columns)?;
    refuse_extra(&source, args.extra.ignore_extra)?;
    let top = args.top.map(|k| usize::try_from(k).unwrap_or(usize::MAX));
    Ok(PredictPlan::Items { source, columns, format, top, scores: args.scores })
}

/// What `report` looks at.
pub(crate) enum ReportPlan {
    /// Compared pairs.
    Pairs(PairFiles),
    /// Items with labels.
    Items {
        /// The items.
        source: Source,
        /// Their columns.
        columns: Columns,
    },
}

/// What `report` was asked to do.
pub(crate) fn report(args: &ReportArgs) -> Run<ReportPlan> {
    let Some(data) = &args.data else {
        if args.source.pairs.is_none() {
            return Err(Failure::Usage(
                "no data: give items with labels (report MODEL DATA), or compared pairs with --pairs FILE".into(),
            ));
        }
        return pair_files(&args.source, args.format.format, Precision::F64).map(ReportPlan::Pairs);
    };
    let (source, columns) = item_source(data, args.format.format, &args.source.columns)?;
    refuse_extra(&source, args.extra.ignore_extra)?;
    Ok(ReportPlan::Items { source, columns })
}
