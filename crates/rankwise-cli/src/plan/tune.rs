//! `tune`, as meant: which points, measured on which pairs; items have a file of their own.

use std::path::PathBuf;

use rankwise::data::{Comparisons, Precision};
use rankwise::io::{PairFiles, Source};
use rankwise::kernel::{Gamma, Kernel};
use rankwise::metrics::PairMetric;
use rankwise::model::Method;
use rankwise::selection::{Grid, Tuner};
use rankwise::{Error, Loss, PairEstimator};

use super::grid::{TypedGrid, check_count};
use super::tune_items::ItemSearch;
use super::tune_labels::LabelSearch;
use crate::args::{Common, KernelName, LearnArgs, TuneArgs};
use crate::exit::{Failure, Run};

const USUAL_FOLDS: usize = 5;

/// `tune`, as meant.
pub(crate) struct TunePlan {
    /// What to search with what.
    pub(crate) search: Search,
    /// How many folds, without validation data.
    pub(crate) n_folds: usize,
    /// The model file.
    pub(crate) output: PathBuf,
    /// The file of all points.
    pub(crate) table: Option<PathBuf>,
}

/// A search on either kind of data.
pub(crate) enum Search {
    /// On judged pairs.
    Pairs(Box<PairSearch>),
    /// On items with labels, to rank them.
    Items(Box<ItemSearch>),
    /// On items with labels, for classes or values.
    Labels(Box<LabelSearch>),
}

/// A search on judged pairs.
pub(crate) struct PairSearch {
    /// The data.
    pub(crate) files: PairFiles,
    /// Pairs to measure on; without them, folds.
    pub(crate) valid: Option<PairFiles>,
    tuner: Tuner,
    /// Nothing was said about γ of rbf: several widths that suit the data are tried.
    widens: bool,
}

impl PairSearch {
    /// The search, for these data.
    pub(crate) fn tuner(&self, data: &Comparisons) -> Run<Tuner> {
        let mut tuner = self.tuner.clone();
        if self.widens {
            tuner.grid.kernels = widened(&tuner.grid.kernels, &Grid::usual_gammas(&tuner.estimator, data)?);
        }
        Ok(tuner)
    }
}

/// The same kernels, rbf with each of these widths.
pub(super) fn widened(kernels: &[Kernel], gammas: &[Gamma]) -> Vec<Kernel> {
    let widened = |kernel: &Kernel| match kernel {
        Kernel::Rbf { .. } => gammas.iter().map(|&gamma| Kernel::Rbf { gamma }).collect(),
        _ => vec![*kernel],
    };
    kernels.iter().flat_map(widened).collect()
}

/// What `tune` was asked to do.
pub(crate) fn tune(args: &TuneArgs, common: &Common) -> Run<TunePlan> {
    let typed = TypedGrid::parse(&args.grid)?;
    refuse_twice(args, &typed)?;
    super::program::refuse_coefficients(&args.learn)?;
    let n_folds = args.folds.unwrap_or(USUAL_FOLDS);
    if n_folds < 2 {
        return Err(Error::parameter("folds", n_folds, "at least 2").into());
    }
    let is_of_labels = matches!(args.learn.method, Some(Method::Classify | Method::Regress | Method::Ordinal));
    if args.learn.data.is_some() && args.learn.source.pairs.is_some() && !is_of_labels {
        return Err(Failure::Usage(
            "labels and judged pairs together are not tuned: tune on one of them, and give C to train DATA --pairs FILE"
                .into(),
        ));
    }
    if args.learn.data.is_none() && args.learn.source.pairs.is_none() {
        return Err(Failure::Usage(
            "no data: give items with labels (tune DATA -o MODEL), or compared pairs with --pairs FILE".into(),
        ));
    }
    if let Some(method @ (Method::Classify | Method::Regress | Method::Ordinal)) = args.learn.method {
        let search = Search::Labels(Box::new(super::tune_labels::search(method, args, &typed, common)?));
        return Ok(TunePlan { search, n_folds, output: args.learn.output.clone(), table: args.table.clone() });
    }
    refuse_labels(args, &typed)?;
    let search = match &args.learn.data {
        Some(data) => Search::Items(Box::new(super::tune_items::search(data, args, &typed, common)?)),
        None => Search::Pairs(Box::new(search_pairs(args, &typed, common)?)),
    };
    Ok(TunePlan { search, n_folds, output: args.learn.output.clone(), table: args.table.clone() })
}

/// Refuses what only classifiers and regressions have.
fn refuse_labels(args: &TuneArgs, typed: &TypedGrid) -> Run<()> {
    super::svm::refuse_tubes(&args.learn)?;
    super::svm::refuse_svm(&args.svm)?;
    let losses = typed.loss.as_deref().unwrap_or_default();
    let of_values = [
        ("--grid epsilon", typed.epsilon.is_some()),
        ("--grid loss=epsilon", losses.contains(&Loss::Epsilon)),
        ("--grid loss=squared-epsilon", losses.contains(&Loss::SquaredEpsilon)),
    ];
    super::refuse(&of_values, "the method that was chosen", "choose --method regress")
}

fn search_pairs(args: &TuneArgs, typed: &TypedGrid, common: &Common) -> Run<PairSearch> {
    let learn = &args.learn;
    let usual = args.grid.is_empty();
    if learn.method == Some(Method::CompareLp) {
        return Err(Failure::Usage(
            "tune does not choose for compare-lp; train --method compare-lp with several C and compare them (evaluate \
             MODEL --pairs FILE), or tune --method compare"
                .into(),
        ));
    }
    let names = typed.kernel.clone().unwrap_or_else(|| vec![learn.kernel.kernel.unwrap_or(KernelName::Linear)]);
    let losses = typed.loss.clone().unwrap_or_else(|| vec![learn.loss.unwrap_or_default()]);
    let estimator = super::estimator(learn, &losses, common)?;
    if matches!(estimator, PairEstimator::Davidson(_)) {
        super::refuse(&[("--grid loss", typed.loss.is_some())], "--method davidson", "choose --method compare")?;
    }
    let metric = pair_metric(args.metric.as_deref())?;
    check_chances(metric, &estimator, &losses)?;
    let mut tuner = Tuner::new(estimator).metric(metric).time_limit(super::time_limit(args.time_limit)?);
    let c = match (&typed.c, learn.c) {
        (Some(values), _) => values.clone(),
        (None, Some(c)) => vec![super::c(c)?],
        (None, None) if usual => tuner.grid.c.clone(),
        (None, None) => vec![1.0],
    };
    // Counted before they are made.
    check_count(c.len().saturating_mul(losses.len()).saturating_mul(n_kernels(typed, &names)))?;
    tuner.grid = Grid { c, kernels: kernels(learn, typed, &names)?, losses };
    let widens = usual && learn.kernel.gamma.is_none() && names.contains(&KernelName::Rbf);
    tuner.check()?; // before anything is read

    let files = super::pair_files(&learn.source, learn.format.format, learn.precision)?;
    let valid = args.valid.as_ref().map(|path| valid_files(path, learn, &files)).transpose()?;
    Ok(PairSearch { files, valid, tuner, widens })
}

/// A metric of pairs that depends on the model and is one number.
fn pair_metric(typed: Option<&str>) -> Run<PairMetric> {
    let Some(typed) = typed else { return Ok(PairMetric::ZeroOne) };
    let metrics = || PairMetric::ALL.into_iter().filter(|metric| *metric != PairMetric::AucBaseline);
    metrics().find(|metric| metric.name() == typed).ok_or_else(|| {
        let names = metrics().map(PairMetric::name).collect::<Vec<_>>().join(", ");
        Failure::Usage(format!("--metric {typed}: no metric to choose by; for pairs there are {names}"))
    })
}

/// Refuses to choose by probabilities that there are not.
fn check_chances(metric: PairMetric, estimator: &PairEstimator, losses: &[Loss]) -> Run<()> {
    let has_chances = |&loss: &Loss| estimator.clone().shaped(1.0, Kernel::Linear, loss).has_chances();
    match losses.iter().find(|loss| metric.needs_chances() && !has_chances(loss)) {
        None => Ok(()),
        Some(loss) => Err(Failure::Usage(format!(
            "--metric {} needs probabilities, which --loss {} does not give by itself; add --calibrate, or choose --method \
             compare --loss logistic or --method davidson",
            metric.name(),
            loss.name()
        ))),
    }
}

/// Pairs to measure on, read as `evaluate` reads them.
fn valid_files(path: &str, args: &LearnArgs, files: &PairFiles) -> Run<PairFiles> {
    if matches!(files.items, Some(Source::Stdin(_))) {
        return Err(Failure::Usage(
            "--items - can be read only once, but --valid needs it too; save it to a file".into(),
        ));
    }
    if path == "-" && matches!(files.pairs, Source::Stdin(_)) {
        return Err(Failure::Usage(
            "--pairs and --valid cannot both be standard input; save one of them to a file".into(),
        ));
    }
    let format = args.format.format.filter(|_| path == "-" || !super::is_named_table(path));
    Ok(PairFiles { pairs: Source::parse(path, format)?, precision: Precision::F64, ..files.clone() })
}

/// Refuses values that are given both as an option and in the grid.
fn refuse_twice(args: &TuneArgs, grid: &TypedGrid) -> Run<()> {
    let (epsilon, args) = (args.svm.epsilon, &args.learn);
    let both = [
        ("C", args.c.is_some() && grid.c.is_some()),
        ("gamma", args.kernel.gamma.is_some() && grid.gamma.is_some()),
        ("degree", args.kernel.degree.is_some() && grid.degree.is_some()),
        ("coef0", args.kernel.coef0.is_some() && grid.coef0.is_some()),
        ("epsilon", epsilon.is_some() && grid.epsilon.is_some()),
        ("kernel", args.kernel.kernel.is_some() && grid.kernel.is_some()),
        ("loss", args.loss.is_some() && grid.loss.is_some()),
    ];
    match both.iter().find(|(_, is_twice)| *is_twice) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::Usage(format!(
            "--{name} and --grid {name}= contradict each other; leave one of them out, or put the value into the grid"
        ))),
    }
}

/// How many kernels [`kernels`] will make.
pub(super) fn n_kernels(grid: &TypedGrid, names: &[KernelName]) -> usize {
    let gammas = grid.gamma.as_ref().map_or(1, Vec::len);
    let degrees = grid.degree.as_ref().map_or(1, Vec::len);
    let constants = grid.coef0.as_ref().map_or(1, Vec::len);
    let of = |name: &KernelName| {
        let per = |has: bool, n: usize| if has { n } else { 1 };
        [per(name.has_gamma(), gammas), per(name.has_degree(), degrees), per(name.has_coef0(), constants)]
            .into_iter()
            .fold(1, usize::saturating_mul)
    };
    names.iter().map(of).fold(0, usize::saturating_add)
}

/// Every kernel with every combination of the parameters that it has.
pub(super) fn kernels(args: &LearnArgs, grid: &TypedGrid, names: &[KernelName]) -> Run<Vec<Kernel>> {
    super::refuse_unused(&args.kernel, names)?;
    let unused = [
        ("--grid gamma", grid.gamma.is_some(), KernelName::has_gamma as fn(KernelName) -> bool),
        ("--grid degree", grid.degree.is_some(), KernelName::has_degree),
        ("--grid coef0", grid.coef0.is_some(), KernelName::has_coef0),
    ];
    for (option, is_typed, has) in unused {
        if is_typed && !names.iter().any(|&name| has(name)) {
            let tried = names.iter().map(|name| name.name()).collect::<Vec<_>>().join(", ");
            return Err(Failure::Usage(format!(
                "{option} does not apply to the kernel {tried}; leave it out, or choose {}",
                super::with(has)
            )));
        }
    }
    let gammas = grid.gamma.clone().unwrap_or_else(|| vec![args.kernel.gamma.unwrap_or(Gamma::Scale)]);
    let degrees = grid.degree.clone().unwrap_or_else(|| vec![args.kernel.degree.unwrap_or(3)]);
    let constants = grid.coef0.clone().unwrap_or_else(|| vec![args.kernel.coef0.unwrap_or(0.0)]);
    let mut kernels = Vec::new();
    for name in names {
        match name {
            KernelName::Linear => kernels.push(Kernel::Linear),
            KernelName::Rbf => kernels.extend(gammas.iter().map(|&gamma| Kernel::Rbf { gamma })),
            KernelName::Sigmoid => kernels.extend(
                gammas.iter().flat_map(|&gamma| constants.iter().map(move |&coef0| Kernel::Sigmoid { gamma, coef0 })),
            ),
            KernelName::Poly => {
                for &gamma in &gammas {
                    for &degree in &degrees {
                        kernels.extend(constants.iter().map(|&coef0| Kernel::Poly { gamma, coef0, degree }));
                    }
                }
            }
        }
    }
    Ok(kernels)
}
