//! `train`, as meant: from pairs or from items.

use std::path::PathBuf;

use rankwise::data::{Comparisons, Precision};
use rankwise::estimator::{Effort, Fit, ItemEstimator, PairEstimator};
use rankwise::io::{Columns, Format, PairFiles, Source};
use rankwise::model::{Balance, Method};
use rankwise::{CompareLp, Kernel, Loss, RankSvm, Ridge, SwapSvm, Watch};

use super::online::{self, OnlinePlan};
use super::program;
use super::svm::{self, SvmPlan};
use super::{common_effort, estimator, item_source, kernel, pair_files, refuse, refuse_unused, time_limit};
use crate::args::{Common, KernelName, LearnArgs, TrainArgs};
use crate::exit::{Failure, Run};

/// `train`, as meant.
pub(crate) enum TrainPlan {
    /// From compared pairs.
    Pairs {
        /// The data.
        files: PairFiles,
        /// The method with its parameters.
        learner: PairLearner,
    },
    /// From items with labels.
    Items(Box<ItemPlan>),
    /// From items, by random steps.
    Online(OnlinePlan),
    /// From items, to classes or values.
    Svm(SvmPlan),
}

/// A method on pairs with its parameters.
pub(crate) enum PairLearner {
    /// One of those that share a line from data to model.
    Machine(PairEstimator),
    /// A linear program.
    Program(CompareLp),
}

impl PairLearner {
    /// Which method it is.
    pub(crate) fn method(&self) -> Method {
        match self {
            PairLearner::Machine(estimator) => estimator.method(),
            PairLearner::Program(_) => Method::CompareLp,
        }
    }

    /// C and the kernel.
    pub(crate) fn shape(&self) -> (f64, Kernel) {
        match self {
            PairLearner::Machine(estimator) => (estimator.shape().0, estimator.shape().1),
            PairLearner::Program(machine) => (machine.c, machine.kernel),
        }
    }

    /// Fits a model.
    pub(crate) fn fit_watched(&self, data: &Comparisons, watch: &dyn Watch) -> rankwise::Result<Fit> {
        match self {
            PairLearner::Machine(estimator) => estimator.fit_watched(data, watch),
            PairLearner::Program(machine) => machine.fit_watched(data, watch),
        }
    }
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
    pub(crate) estimator: ItemEstimator,
    /// Bytes of memory to use.
    pub(crate) memory: Option<usize>,
    /// A model to start from.
    pub(crate) init: Option<PathBuf>,
    /// Judged pairs of the same items, to be learnt from at once.
    pub(crate) judged: Option<PairFiles>,
}

/// What `train` was asked to do.
pub(crate) fn train(args: &TrainArgs, common: &Common) -> Run<TrainPlan> {
    let learn = &args.learn;
    program::refuse_coefficients(learn)?;
    if let Some(method @ (Method::Classify | Method::Regress | Method::Ordinal)) = learn.method {
        refuse(&args.online.typed(), &format!("--method {}", method.name()), "choose --method online")?;
        return svm::plan(method, args, common).map(TrainPlan::Svm);
    }
    svm::refuse_tubes(learn)?;
    svm::refuse_svm(&args.svm)?;
    if learn.method == Some(Method::Online) {
        return online::plan(args, common).map(TrainPlan::Online);
    }
    refuse(&args.online.typed(), "the method that was chosen", "choose --method online")?;
    if let Some(data) = &learn.data {
        return on_items(data, args, common).map(|plan| TrainPlan::Items(Box::new(plan)));
    }
    if learn.source.pairs.is_none() {
        return Err(Failure::Usage(
            "no data: give items with labels (train DATA -o MODEL), or compared pairs with --pairs FILE".into(),
        ));
    }
    let remedy = "give items with labels (train DATA -o MODEL)";
    let typed =
        [("--init", args.init.is_some()), ("--normalise", args.normalise), ("--memory-mb", args.memory_mb.is_some())];
    refuse(&typed, "pairs", remedy)?;
    if learn.method == Some(Method::CompareLp) {
        let machine = program::compare_lp(args, common)?;
        let files = pair_files(&learn.source, learn.format.format, learn.precision)?;
        return Ok(TrainPlan::Pairs { files, learner: PairLearner::Program(machine) });
    }
    let loss = learn.loss.unwrap_or_default();
    let mut estimator = estimator(learn, &[loss], common)?.shaped(learn.c.unwrap_or(1.0), kernel(&learn.kernel)?, loss);
    estimator.effort_mut().time_limit = time_limit(args.time_limit)?;
    estimator.check()?; // before anything is read
    let files = pair_files(&learn.source, learn.format.format, learn.precision)?;
    Ok(TrainPlan::Pairs { files, learner: PairLearner::Machine(estimator) })
}

fn on_items(data: &str, args: &TrainArgs, common: &Common) -> Run<ItemPlan> {
    let learn = &args.learn;
    let name = learn.kernel.kernel.unwrap_or(KernelName::Linear);
    refuse_cache(learn, &[name])?;
    let mut estimator: ItemEstimator = match learn.method {
        Some(Method::Swap) => swap_svm(args, common)?.into(),
        Some(Method::Ridge) => ridge(args, common)?.into(),
        Some(Method::Rvm) => program::rvm(args, common)?.into(),
        Some(Method::RankL1) => program::rank_l1(args, common)?.into(),
        _ => {
            refuse(&[("--normalise", args.normalise)], "--method rank", "choose --method swap")?;
            let svm = rank_svm(learn, common)?.kernel(kernel(&learn.kernel)?);
            svm.c(learn.c.unwrap_or(1.0)).loss(learn.loss.unwrap_or_default()).into()
        }
    };
    if matches!(&estimator, ItemEstimator::Rank(svm) if svm.c == f64::INFINITY && svm.loss == Loss::Logistic) {
        return Err(Failure::Usage(
            "--loss logistic does not apply to --C inf, whose answer would be infinite; leave it out, or choose a \
             finite C"
                .into(),
        ));
    }
    if learn.c == Some(f64::INFINITY) && estimator.method() != Method::Rank {
        return Err(Failure::Usage(format!(
            "--method {} has no hard margin; choose a finite C, or --method rank",
            estimator.method().name()
        )));
    }
    if name != KernelName::Linear {
        let typed = [("--memory-mb", args.memory_mb.is_some())];
        refuse(&typed, &format!("--kernel {}", name.name()), "choose --kernel linear")?;
    }
    estimator.effort_mut().time_limit = time_limit(args.time_limit)?;
    estimator.check()?; // before anything is read
    let judged = match (&learn.source.pairs, &estimator) {
        (None, _) => None,
        (Some(_), ItemEstimator::Rank(svm)) if svm.c.is_finite() => {
            let mut files = pair_files(&learn.source, learn.format.format, learn.precision)?;
            // Names of columns are those of the items; pairs have the usual ones.
            let Columns { left, right, drop, separator, .. } = files.columns;
            files.columns = Columns { left, right, drop, separator, ..Columns::default() };
            Some(files)
        }
        (Some(_), _) => {
            return Err(Failure::Usage(
                "labels and judged pairs together are for --method rank with a finite C; leave out DATA or --pairs"
                    .into(),
            ));
        }
    };
    let (source, columns) = item_source(data, learn.format.format, &learn.source.columns)?;
    check_precision(&source, learn.precision)?;
    let memory = args.memory_mb.map(|mebibytes| usize::try_from(mebibytes << 20).unwrap_or(usize::MAX));
    Ok(ItemPlan { source, columns, precision: learn.precision, estimator, memory, init: args.init.clone(), judged })
}

/// A block file has decided how features are stored.
pub(super) fn check_precision(source: &Source, precision: Precision) -> Run<()> {
    let is_typed = source.format() == Format::Blocks && precision != Precision::Auto;
    refuse(&[("--precision", is_typed)], "block files, in which it is decided", "give it to convert")
}

/// The ranking machine on items with all of its parameters but C, kernel and loss.
pub(super) fn rank_svm(args: &LearnArgs, common: &Common) -> Run<RankSvm> {
    if args.method == Some(Method::Online) {
        return Err(Failure::Usage(
            "--method online is not tuned: tune C with --method rank --loss hinge, whose objective is the same, and give \
             it to train --method online --C X"
                .into(),
        ));
    }
    let is_of_items = |method: &Method| matches!(method, Method::Rank | Method::Rvm | Method::RankL1);
    if let Some(method) = args.method.filter(|method| !is_of_items(method)) {
        return Err(Failure::Usage(format!(
            "--method {} learns from compared pairs, not from items; choose --method rank, or give pairs with \
             --pairs FILE",
            method.name()
        )));
    }
    let (balance, effort) = of_items(args, common)?;
    let svm = RankSvm::new().balance(balance).scale(args.scale).effort(effort).approx(args.kernel.approx);
    Ok(svm.pairs_per_item(args.pairs_per_item))
}

fn swap_svm(args: &TrainArgs, common: &Common) -> Run<SwapSvm> {
    let learn = &args.learn;
    let (balance, effort) = of_items(learn, common)?;
    let unused = [("--loss", learn.loss.is_some()), ("--pairs-per-item", learn.pairs_per_item.is_some())];
    refuse(&unused, "--method swap", "choose --method rank")?;
    refuse(&[("--approx", learn.kernel.approx.is_some())], "--method swap", "choose --method rank --loss hinge")?;
    let svm = SwapSvm::new().c(learn.c.unwrap_or(1.0)).normalise(args.normalise);
    Ok(svm.balance(balance).scale(learn.scale).kernel(kernel(&learn.kernel)?).effort(effort))
}

fn ridge(args: &TrainArgs, common: &Common) -> Run<Ridge> {
    let learn = &args.learn;
    refuse_kernels(learn, "ridge")?;
    let (_, effort) = of_items(learn, common)?;
    let unused = [
        ("--loss", learn.loss.is_some()),
        ("--pairs-per-item", learn.pairs_per_item.is_some()),
        ("--balance", learn.ties.balance.is_some()),
        ("--init", args.init.is_some()),
    ];
    refuse(&unused, "--method ridge", "choose --method rank")?;
    refuse(&[("--normalise", args.normalise)], "--method ridge", "choose --method swap")?;
    Ok(Ridge::new().c(learn.c.unwrap_or(1.0)).scale(learn.scale).effort(effort))
}

/// What all machines on items have: how groups are weighted, and the work they may do.
pub(super) fn of_items(args: &LearnArgs, common: &Common) -> Run<(Balance, Effort)> {
    let balance = check_item_options(args)?;
    let mut effort = common_effort(common);
    args.effort.apply_to(&mut effort);
    Ok((balance, effort))
}

/// Refuses memory for kernel values where none are kept.
pub(super) fn refuse_cache(args: &LearnArgs, kernels: &[KernelName]) -> Run<()> {
    let typed = [("--cache-mb", args.effort.cache_mb.is_some())];
    if kernels.iter().all(|kernel| *kernel == KernelName::Linear) {
        return refuse(&typed, "items with --kernel linear", "choose another kernel");
    }
    match args.kernel.approx {
        Some(_) => refuse(&typed, "--approx", "leave out --approx"),
        None => Ok(()),
    }
}

/// Refuses kernels of methods whose scores are linear.
pub(super) fn refuse_kernels(args: &LearnArgs, method: &str) -> Run<()> {
    if args.kernel.kernel.is_some_and(|kernel| kernel != KernelName::Linear) {
        return Err(Failure::Usage(format!(
            "--method {method} has linear scores alone; choose --kernel linear, or --method rank"
        )));
    }
    refuse_unused(&args.kernel, &[KernelName::Linear])
}

/// Refuses what does not apply to items; says how groups are balanced.
pub(super) fn check_item_options(args: &LearnArgs) -> Run<Balance> {
    let of_ties = [
        ("--threshold", args.ties.threshold.is_some()),
        ("--tie-region", args.ties.tie_region.is_some()),
        ("--tie-weight", args.ties.tie_weight.is_some()),
        ("--tie-band", args.ties.tie_band.is_some()),
        ("--calibrate", args.ties.calibrate),
    ];
    refuse(&of_ties, "items", "give compared pairs with --pairs FILE")?;
    let balance = args.ties.balance.unwrap_or_default();
    refuse(&[("--balance outcomes", balance == Balance::Outcomes)], "items", "choose --balance groups")?;
    Ok(balance)
}
