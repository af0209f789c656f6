//! `tune` on a file of items, as meant: which C, kernels and losses, measured on which items.

use rankwise::data::{Precision, Ranking};
use rankwise::estimator::RankProgram;
use rankwise::io::{Columns, Source};
use rankwise::metrics::ItemMetric;
use rankwise::model::Method;
use rankwise::selection::RankTuner;

use super::grid::{TypedGrid, check_count};
use super::item_source;
use super::train::{check_precision, rank_svm};
use super::tune::{kernels, n_kernels, widened};
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
    /// Nothing was said about γ of rbf: several widths that suit the data are tried.
    widens: bool,
}

impl ItemSearch {
    /// The search, for these data.
    pub(crate) fn tuner(&self, data: &Ranking) -> Run<RankTuner> {
        let mut tuner = self.tuner.clone();
        if self.widens {
            tuner.kernels = widened(&tuner.kernels, &tuner.usual_gammas(data)?);
        }
        if tuner.c.is_empty() {
            tuner.c = tuner.usual_c(data)?;
        }
        Ok(tuner)
    }
}

/// What was asked of the items in the file `data`.
pub(super) fn search(data: &str, args: &TuneArgs, typed: &TypedGrid, common: &Common) -> Run<ItemSearch> {
    let learn = &args.learn;
    refuse_methods(learn)?;
    let program = program(args, typed)?;
    let mut tuner = RankTuner::new(rank_svm(learn, common)?).time_limit(super::time_limit(args.time_limit)?);
    if let Some(name) = &args.metric {
        tuner.metric = ItemMetric::parse(name)?;
    }
    tuner.losses = typed.loss.clone().unwrap_or_else(|| vec![learn.loss.unwrap_or_default()]);
    if let Some(program) = program {
        tuner = tuner.program(program);
    }
    tuner.c = match (&typed.c, learn.c) {
        (Some(values), _) => values.clone(),
        (None, Some(c)) => vec![c],
        // The usual values need the data.
        (None, None) => Vec::new(),
    };
    let names = typed.kernel.clone().unwrap_or_else(|| vec![learn.kernel.kernel.unwrap_or(KernelName::Linear)]);
    super::train::refuse_cache(learn, &names)?;
    // Counted before they are made.
    check_count(tuner.c.len().max(1).saturating_mul(tuner.losses.len()).saturating_mul(n_kernels(typed, &names)))?;
    tuner.kernels = kernels(learn, typed, &names)?;
    let widens = args.grid.is_empty() && learn.kernel.gamma.is_none() && names.contains(&KernelName::Rbf);
    tuner.check()?; // before anything is read

    let (data, columns, valid) = sources(data, args)?;
    check_precision(&data, learn.precision)?;
    Ok(ItemSearch { data, valid, columns, precision: learn.precision, tuner, widens })
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

/// The linear program that is searched for, if one is.
fn program(args: &TuneArgs, typed: &TypedGrid) -> Run<Option<RankProgram>> {
    let learn = &args.learn;
    let (method, program) = match learn.method {
        Some(method @ Method::Rvm) => (method, RankProgram::Vectors(learn.coefficients.unwrap_or_default())),
        Some(method @ Method::RankL1) => (method, RankProgram::Pairs),
        _ => return Ok(None),
    };
    let with = format!("--method {}", method.name());
    let typed = [
        ("--loss", learn.loss.is_some()),
        ("--grid loss", typed.loss.is_some()),
        ("--pairs-per-item", learn.pairs_per_item.is_some()),
        ("--approx", learn.kernel.approx.is_some()),
    ];
    super::refuse(&typed, &with, "choose --method rank")?;
    Ok(Some(program))
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
