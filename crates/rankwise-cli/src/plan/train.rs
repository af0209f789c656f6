//! `train`, as meant: from pairs or from items.

use std::path::PathBuf;

use rankwise::data::Precision;
use rankwise::estimator::PairEstimator;
use rankwise::io::{Columns, Format, PairFiles, Source};
use rankwise::model::{Balance, Method};
use rankwise::{Loss, RankSvm};

use super::{c, common_effort, estimator, item_source, kernel, pair_files, refuse, refuse_unused, time_limit};
use crate::args::{Common, KernelName, LearnArgs, TrainArgs};
use crate::exit::{Failure, Run};

/// `train`, as meant.
pub(crate) enum TrainPlan {
    /// From compared pairs.
    Pairs {
        /// The data.
        files: PairFiles,
        /// The method with its parameters.
        estimator: PairEstimator,
    },
    /// From items with labels.
    Items(ItemPlan),
}

/// `train` on items, as meant.
pub(crate) struct ItemPlan {
    /// The items.
    pub(crate) source: Source,
    /// Their columns.
    pub(crate) columns: Columns,
    /// How dense features are stored.
    pub(crate) precision: Precision,
    /// The method with its parameters.
    pub(crate) svm: RankSvm,
    /// Bytes of memory to use.
    pub(crate) memory: Option<usize>,
    /// A model to start from.
    pub(crate) init: Option<PathBuf>,
}

/// What `train` was asked to do.
pub(crate) fn train(args: &TrainArgs, common: &Common) -> Run<TrainPlan> {
    let learn = &args.learn;
    if let Some(data) = &learn.data {
        return on_items(data, args, common).map(TrainPlan::Items);
    }
    if learn.source.pairs.is_none() {
        return Err(Failure::Usage(
            "no data: give items with labels (train DATA -o MODEL), or compared pairs with --pairs FILE".into(),
        ));
    }
    let remedy = "give items with labels (train DATA -o MODEL)";
    refuse(&[("--init", args.init.is_some()), ("--memory-mb", args.memory_mb.is_some())], "pairs", remedy)?;
    let mut estimator = estimator(learn, common)?.shaped(
        c(learn.c.unwrap_or(1.0))?,
        kernel(&learn.kernel)?,
        learn.loss.unwrap_or_default(),
    );
    estimator.effort_mut().time_limit = time_limit(args.time_limit)?;
    estimator.check()?; // before anything is read
    let files = pair_files(&learn.source, learn.format.format, learn.precision)?;
    Ok(TrainPlan::Pairs { files, estimator })
}

fn on_items(data: &str, args: &TrainArgs, common: &Common) -> Run<ItemPlan> {
    let learn = &args.learn;
    let mut svm = rank_svm(learn, common)?.c(learn.c.unwrap_or(1.0)).loss(learn.loss.unwrap_or_default());
    if svm.c == f64::INFINITY && svm.loss == Loss::Logistic {
        return Err(Failure::Usage(
            "--loss logistic does not apply to --C inf, whose answer would be infinite; leave it out, or choose a \
             finite C"
                .into(),
        ));
    }
    svm.effort.time_limit = time_limit(args.time_limit)?;
    svm.check()?; // before anything is read
    let (source, columns) = item_source(data, learn.format.format, &learn.source.columns)?;
    check_precision(&source, learn.precision)?;
    let memory = args.memory_mb.map(|mebibytes| usize::try_from(mebibytes << 20).unwrap_or(usize::MAX));
    Ok(ItemPlan { source, columns, precision: learn.precision, svm, memory, init: args.init.clone() })
}

/// A block file has decided how features are stored.
pub(super) fn check_precision(source: &Source, precision: Precision) -> Run<()> {
    let is_typed = source.format() == Format::Blocks && precision != Precision::Auto;
    refuse(&[("--precision", is_typed)], "block files, in which it is decided", "give it to convert")
}

/// The ranking machine on items with all of its parameters but C and loss.
pub(super) fn rank_svm(args: &LearnArgs, common: &Common) -> Run<RankSvm> {
    if let Some(method) = args.method.filter(|method| *method != Method::Rank) {
        return Err(Failure::Usage(format!(
            "--method {} learns from compared pairs, not from items; choose --method rank, or give pairs with \
             --pairs FILE",
            method.name()
        )));
    }
    if args.kernel.kernel.is_some_and(|kernel| kernel != KernelName::Linear) {
        return Err(Failure::Usage("kernels for items are not available yet; choose --kernel linear".into()));
    }
    refuse_unused(&args.kernel, &[KernelName::Linear])?;
    let of_ties = [
        ("--threshold", args.ties.threshold.is_some()),
        ("--tie-region", args.ties.tie_region.is_some()),
        ("--tie-weight", args.ties.tie_weight.is_some()),
    ];
    refuse(&of_ties, "items", "give compared pairs with --pairs FILE")?;
    let balance = args.ties.balance.unwrap_or_default();
    refuse(&[("--balance outcomes", balance == Balance::Outcomes)], "items", "choose --balance groups")?;
    let mut effort = common_effort(common);
    (effort.tol, effort.max_iter) = (args.effort.tol, args.effort.max_iter);
    Ok(RankSvm::new().balance(balance).scale(args.scale).effort(effort))
}
