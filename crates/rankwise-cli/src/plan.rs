//! What is meant: typed options turned into parameters of the library. Options that do not apply are refused, never
//! ignored; ranges are the library's business.

use std::path::PathBuf;
use std::time::Duration;

use rankwise::Error;
use rankwise::data::Precision;
use rankwise::estimator::{Effort, PairEstimator};
use rankwise::io::{Columns, Format, PairFiles, Source};
use rankwise::kernel::Kernel;
use rankwise::model::{Balance, Method, ThresholdRule};

use crate::args::{
    ColumnArgs, Common, DataArgs, EvaluateArgs, KernelArgs, KernelName, PredictArgs, PredictFormat, ReportArgs,
    TrainArgs,
};
use crate::exit::{Failure, Run};

/// `train`, as meant.
pub(crate) struct TrainPlan {
    /// The data.
    pub(crate) files: PairFiles,
    /// The method with its parameters.
    pub(crate) estimator: PairEstimator,
    /// The model file.
    pub(crate) output: PathBuf,
}

/// What `train` was asked to do.
pub(crate) fn train(args: &TrainArgs, common: &Common) -> Run<TrainPlan> {
    if let Some(items) = &args.data {
        return Err(Failure::Usage(format!(
            "{items}: ranking from a file of items is not available yet; give compared pairs with --pairs FILE \
             (and their items' features with --items FILE)"
        )));
    }
    if args.c == f64::INFINITY {
        return Err(Failure::Usage(
            "--C inf: hard margins are not available yet; choose a large finite C, such as --C 1e6".into(),
        ));
    }
    let mut estimator = PairEstimator::new(args.method)?.shaped(args.c, kernel(&args.kernel)?, args.loss);
    *estimator.effort_mut() = effort(args, common)?;
    match &mut estimator {
        PairEstimator::Compare(svm) => {
            (svm.scale, svm.tie_weight) = (args.scale, args.ties.tie_weight.unwrap_or(1.0));
            svm.threshold = args.ties.threshold.unwrap_or_default();
            svm.tie_region = args.ties.tie_region.unwrap_or_default();
            svm.balance = args.ties.balance.unwrap_or_default();
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
            let typed = [
                ("--threshold", args.ties.threshold.is_some()),
                ("--tie-region", args.ties.tie_region.is_some()),
                ("--balance", args.ties.balance.is_some()),
            ];
            let method = format!("--method {}", args.method.name());
            refuse(&typed, &method, "choose --method compare")?;
            if args.method == Method::Rank {
                let typed = [("--tie-weight", args.ties.tie_weight.is_some())];
                refuse(&typed, &method, "choose --method compare or rank2")?;
            }
        }
    }
    estimator.check()?; // before anything is read
    let files = pair_files(&args.source, args.format.format, args.precision)?;
    Ok(TrainPlan { files, estimator, output: args.output.clone() })
}

fn effort(args: &TrainArgs, common: &Common) -> Run<Effort> {
    let mut effort = common_effort(common);
    effort.tol = args.effort.tol;
    effort.max_iter = args.effort.max_iter;
    effort.cache_mb = args.effort.cache_mb;
    effort.time_limit = match args.effort.time_limit {
        None => None,
        // More than a Duration can hold is no limit.
        Some(seconds) if seconds > 1e15 => None,
        Some(seconds) => Some(
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| Error::parameter("time-limit", seconds, "seconds of at least 0"))?,
        ),
    };
    Ok(effort)
}

/// The default effort with the seed that every command knows. The number of threads is the process's, set once for all.
pub(crate) fn common_effort(common: &Common) -> Effort {
    let mut effort = Effort::default();
    effort.seed = common.seed;
    effort
}

fn kernel(args: &KernelArgs) -> Run<Kernel> {
    let (gamma, degree, coef0) =
        (("--gamma", args.gamma.is_some()), ("--degree", args.degree.is_some()), ("--coef0", args.coef0.is_some()));
    let refuse =
        |typed: &[(&str, bool)], remedy: &str| refuse(typed, &format!("--kernel {}", args.kernel.name()), remedy);
    let width = args.gamma.unwrap_or_default();
    let offset = args.coef0.unwrap_or(0.0);
    match args.kernel {
        KernelName::Linear => {
            refuse(&[gamma], "choose --kernel rbf, poly or sigmoid")?;
            refuse(&[degree, coef0], "choose --kernel poly")?;
            Ok(Kernel::Linear)
        }
        KernelName::Poly => Ok(Kernel::Poly { gamma: width, coef0: offset, degree: args.degree.unwrap_or(3) }),
        KernelName::Rbf => {
            refuse(&[degree, coef0], "choose --kernel poly")?;
            Ok(Kernel::Rbf { gamma: width })
        }
        KernelName::Sigmoid => {
            refuse(&[degree], "choose --kernel poly")?;
            Ok(Kernel::Sigmoid { gamma: width, coef0: offset })
        }
    }
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
    if pairs == "-" && args.items.as_deref() == Some("-") {
        return Err(Failure::Usage(
            "--pairs and --items cannot both be standard input; save one of them to a file".into(),
        ));
    }
    let source = |path: &String| Source::parse(path, format.filter(|_| path == "-" || !has_own_format(path)));
    Ok(PairFiles {
        pairs: source(pairs)?,
        items: args.items.as_ref().map(source).transpose()?,
        columns: columns(&args.columns),
        precision,
        with_outcomes: true,
    })
}

/// Whether the name of a file tells its format, so that `--format` is about the other one.
fn has_own_format(path: &str) -> bool {
    Source::parse(path, None).is_ok()
}

fn columns(args: &ColumnArgs) -> Columns {
    Columns {
        id: args.id.clone(),
        weight: args.weight.clone(),
        group: args.group.clone(),
        label: args.label.clone(),
        drop: args.drop.clone(),
    }
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
    },
}

/// What `predict` was asked to do.
pub(crate) fn predict(args: &PredictArgs) -> Run<PredictPlan> {
    // `--format` is about what is written here, so the library's advice would not help.
    let sources = [&args.data, &args.source.pairs, &args.source.items];
    let unclear = sources.into_iter().flatten().find(|path| args.input_format.is_none() && !has_own_format(path));
    if let Some(path) = unclear {
        let name = if path == "-" { "standard input" } else { path };
        return Err(Failure::Usage(format!(
            "{name}: no extension that tells its format; add --input-format csv or --input-format tsv"
        )));
    }
    let Some(data) = &args.data else {
        if args.format == Some(PredictFormat::Scores) {
            return Err(Failure::Usage("--format scores is for items; pairs are written as csv".into()));
        }
        let files = pair_files(&args.source, args.input_format, Precision::F64)?;
        // What is to be predicted need not have happened.
        return Ok(PredictPlan::Pairs(PairFiles { with_outcomes: false, ..files }));
    };
    Ok(PredictPlan::Items {
        source: Source::parse(data, args.input_format)?,
        columns: columns(&args.source.columns),
        format: args.format.unwrap_or(PredictFormat::Scores),
    })
}

/// The pairs `evaluate` was asked to measure on.
pub(crate) fn evaluate(args: &EvaluateArgs) -> Run<PairFiles> {
    if let Some(items) = &args.data {
        return Err(Failure::Usage(format!(
            "{items}: measuring on a file of items is not available yet; give compared pairs with --pairs FILE"
        )));
    }
    pair_files(&args.source, args.format.format, Precision::F64)
}

/// The pairs `report` was asked to look at.
pub(crate) fn report(args: &ReportArgs) -> Run<PairFiles> {
    if let Some(items) = &args.data {
        return Err(Failure::Usage(format!(
            "{items}: a report on a file of items is not available yet; give compared pairs with --pairs FILE"
        )));
    }
    pair_files(&args.source, args.format.format, Precision::F64)
}
