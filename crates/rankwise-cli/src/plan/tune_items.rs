//! `tune` on a file of items, as meant: which C and losses, measured on which items.

use rankwise::RankSvm;
use rankwise::data::{Precision, Ranking};
use rankwise::io::{Columns, Format, Source};
use rankwise::metrics::ItemMetric;
use rankwise::model::Method;
use rankwise::selection::RankTuner;

use super::grid::{TypedGrid, check_count};
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
    refuse_pairs(data, learn, typed)?;
    let mut svm = RankSvm::new();
    svm.effort = super::common_effort(common);
    (svm.effort.tol, svm.effort.max_iter) = (learn.effort.tol, learn.effort.max_iter);
    (svm.scale, svm.balance) = (learn.scale, learn.ties.balance.unwrap_or_default());
    let mut tuner = RankTuner::new(svm).time_limit(super::time_limit(args.time_limit)?);
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

    if data == "-" && args.valid.as_deref() == Some("-") {
        return Err(Failure::Usage(
            "DATA and --valid cannot both be standard input; save one of them to a file".into(),
        ));
    }
    Ok(ItemSearch {
        data: source(data, learn.format.format)?,
        valid: args.valid.as_ref().map(|path| source(path, learn.format.format)).transpose()?,
        columns: super::columns(&learn.source.columns),
        precision: learn.precision,
        tuner,
    })
}

/// A file of items; `--format` is about one whose name does not tell.
fn source(path: &str, format: Option<Format>) -> Run<Source> {
    match Source::parse(path, None) {
        Ok(source) => Ok(source),
        Err(_) => Ok(Source::parse(path, format)?),
    }
}

/// Refuses what is for pairs alone.
fn refuse_pairs(data: &str, learn: &LearnArgs, typed: &TypedGrid) -> Run<()> {
    if learn.source.pairs.is_some() {
        return Err(Failure::Usage(format!("{data} and --pairs contradict each other; give items or pairs, not both")));
    }
    if let Some(method) = learn.method.filter(|&method| method != Method::Rank) {
        return Err(Failure::Usage(format!(
            "--method {} is for pairs; leave it out for a file of items, or give --pairs FILE",
            method.name()
        )));
    }
    let is_curved = |names: &[KernelName]| names.iter().any(|&name| name != KernelName::Linear);
    let for_pairs = [
        ("--kernel", learn.kernel.kernel.is_some_and(|name| is_curved(&[name]))),
        ("--gamma", learn.kernel.gamma.is_some()),
        ("--degree", learn.kernel.degree.is_some()),
        ("--coef0", learn.kernel.coef0.is_some()),
        ("--grid kernel", typed.kernel.as_ref().is_some_and(|names| is_curved(names))),
        ("--grid gamma", typed.gamma.is_some()),
        ("--grid degree", typed.degree.is_some()),
        ("--grid coef0", typed.coef0.is_some()),
    ];
    super::refuse(&for_pairs, "a file of items, whose scores are linear", "give --pairs FILE")?;
    let for_ties = [
        ("--threshold", learn.ties.threshold.is_some()),
        ("--tie-region", learn.ties.tie_region.is_some()),
        ("--tie-weight", learn.ties.tie_weight.is_some()),
    ];
    super::refuse(&for_ties, "a file of items, which has no ties", "give --pairs FILE")
}
