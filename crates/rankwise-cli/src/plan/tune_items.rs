//! `tune` on a file of items, as meant: which C and losses, measured on which items.

use rankwise::data::{Precision, Ranking};
use rankwise::io::{Columns, Source};
use rankwise::metrics::ItemMetric;
use rankwise::model::Method;
use rankwise::selection::RankTuner;

use super::grid::{TypedGrid, check_count};
use super::item_source;
use super::train::{check_precision, rank_svm};
use crate::args::{Common, KernelName, LearnArgs, TuneArgs};
use crate::exit::{Failure, Run};

/// A search on items with labels.
pub(crate) struct ItemSearch {
    /// The data.
    pub(crate) data: Source,
    /// Items to measure on; without them, folds.
    pub(crate) valid: Option<Source>,
    /// Columns of both.
    pub(crate) columns: Columns,
    /// How the features of the data are stored.
    pub(crate) precision: Precision,
    tuner: RankTuner,
}

impl ItemSearch {
    /// The search, for these data.
    pub(crate) fn tuner(&self, data: &Ranking) -> Run<RankTuner> {
        let mut tuner = self.tuner.clone();
        if tuner.c.is_empty() {
            tuner.c = RankTuner::usual_c(&tuner.svm, data)?;
        }
        Ok(tuner)
    }
}

/// What was asked of the items in the file `data`.
pub(super) fn search(data: &str, args: &TuneArgs, typed: &TypedGrid, common: &Common) -> Run<ItemSearch> {
    let learn = &args.learn;
    refuse_methods(learn)?;
    let mut tuner = RankTuner::new(rank_svm(learn, common)?).time_limit(super::time_limit(args.time_limit)?);
    refuse_kernels(learn, typed)?;
    if let Some(name) = &args.metric {
        tuner.metric = ItemMetric::parse(name)?;
    }
    tuner.losses = typed.loss.clone().unwrap_or_else(|| vec![learn.loss.unwrap_or_default()]);
    tuner.c = match (&typed.c, learn.c) {
        (Some(values), _) => values.clone(),
        (None, Some(c)) => vec![c],
        // The usual values need the data.
        (None, None) => Vec::new(),
    };
    check_count(tuner.c.len().saturating_mul(tuner.losses.len()))?;
    tuner.check()?; // before anything is read

    let (data, columns, valid) = sources(data, args)?;
    check_precision(&data, learn.precision)?;
    Ok(ItemSearch { data, valid, columns, precision: learn.precision, tuner })
}

/// The data, their columns, and the items to measure on.
pub(super) fn sources(data: &str, args: &TuneArgs) -> Run<(Source, Columns, Option<Source>)> {
    let learn = &args.learn;
    if data == "-" && args.valid.as_deref() == Some("-") {
        return Err(Failure::Usage(
            "DATA and --valid cannot both be standard input; save one of them to a file".into(),
        ));
    }
    // `--format` is about a file whose name does not tell; of two, each has its own name.
    let source = |path: &str| {
        let format = learn.format.format.filter(|_| args.valid.is_none() || Source::parse(path, None).is_err());
        item_source(path, format, &learn.source.columns)
    };
    let (data, columns) = source(data)?;
    let valid = args.valid.as_deref().map(source).transpose()?.map(|(source, _)| source);
    Ok((data, columns, valid))
}

/// Refuses methods on items that are not searched for.
fn refuse_methods(learn: &LearnArgs) -> Run<()> {
    match learn.method {
        Some(Method::Swap) => Err(Failure::Usage(
            "tune has no swap of its own: with C it ranks as rank --loss hinge does with 4·C; tune --method rank --loss \
             hinge, then train --method swap with a quarter of that C"
                .into(),
        )),
        Some(Method::Ridge) => Err(Failure::Usage(
            "tune does not choose for ridge; train it with several C and compare them (evaluate MODEL DATA)".into(),
        )),
        _ => Ok(()),
    }
}

/// Refuses values of what a linear ranker does not have.
fn refuse_kernels(learn: &LearnArgs, typed: &TypedGrid) -> Run<()> {
    let is_curved = |name: &KernelName| *name != KernelName::Linear;
    if typed.kernel.iter().flatten().chain(&learn.kernel.kernel).any(is_curved) {
        return Err(Failure::Usage(
            "tune does not choose kernels of items; choose --kernel linear without --grid kernel, or train some and compare \
             them (evaluate MODEL DATA)"
                .into(),
        ));
    }
    super::refuse_unused(&learn.kernel, &[KernelName::Linear])?;
    let unused = [
        ("--grid gamma", typed.gamma.is_some()),
        ("--grid degree", typed.degree.is_some()),
        ("--grid coef0", typed.coef0.is_some()),
    ];
    super::refuse(&unused, "items, whose scores are linear", "give compared pairs with --pairs FILE")
}
