//! `tune --method classify`, `--method regress` and `--method ordinal`, as meant: which points, measured on which items.

use rankwise::data::Precision;
use rankwise::io::{Columns, Source};
use rankwise::metrics::{ClassMetric, ValueMetric};
use rankwise::model::Method;
use rankwise::selection::{Grid, LabelMetric, LabelTuner, OrderMetric};
use rankwise::{LabelData, LabelEstimator};

use super::grid::{TypedGrid, check_count};
use super::train::check_precision;
use super::tune::{kernels, n_kernels, widened};
use super::tune_items::sources;
use crate::args::{Common, KernelName, TuneArgs};
use crate::exit::{Failure, Run};

/// A search for classes, values or grades.
pub(crate) struct LabelSearch {
    /// The data.
    pub(crate) data: Source,
    /// Items to measure on; without them, folds.
    pub(crate) valid: Option<Source>,
    /// Columns of both.
    pub(crate) columns: Columns,
    /// How the features of the data are stored.
    pub(crate) precision: Precision,
    tuner: LabelTuner,
    /// Nothing was said about C: the usual values are tried.
    is_usual: bool,
    /// Nothing was said about γ of rbf: several widths that suit the data are tried.
    widens: bool,
}

impl LabelSearch {
    /// Which method it is.
    pub(crate) fn method(&self) -> Method {
        self.tuner.estimator.method()
    }

    /// The search, for these data.
    pub(crate) fn tuner(&self, data: LabelData<'_>) -> Run<LabelTuner> {
        let mut tuner = self.tuner.clone();
        if self.is_usual {
            tuner.grid.c = tuner.usual_c(data);
        }
        if self.widens {
            tuner.grid.kernels = widened(&tuner.grid.kernels, &tuner.usual_gammas(data)?);
        }
        Ok(tuner)
    }
}

/// What was asked.
pub(super) fn search(method: Method, args: &TuneArgs, typed: &TypedGrid, common: &Common) -> Run<LabelSearch> {
    let learn = &args.learn;
    let with = format!("--method {}", method.name());
    let Some(data) = &learn.data else {
        return Err(Failure::Usage(format!(
            "{with} learns from items with labels, not from compared pairs; give items (tune DATA {with} -o MODEL)"
        )));
    };
    let estimator = super::svm::machine(method, learn, &args.svm, common)?;
    if method != Method::Regress {
        super::refuse(&[("--grid epsilon", typed.epsilon.is_some())], &with, "choose --method regress")?;
    }
    let usual = args.grid.is_empty();
    let names = typed.kernel.clone().unwrap_or_else(|| vec![learn.kernel.kernel.unwrap_or(KernelName::Linear)]);
    super::train::refuse_cache(learn, &names)?;
    let (_, loss, epsilon) = estimator.shape();
    let losses = typed.loss.clone().unwrap_or_else(|| vec![loss]);
    let epsilons = typed.epsilon.clone().unwrap_or_else(|| epsilon.into_iter().collect());
    let c = match (&typed.c, learn.c) {
        (Some(values), _) => values.clone(),
        (None, Some(c)) => vec![c],
        // The usual values need the data.
        (None, None) if usual => Vec::new(),
        (None, None) => vec![1.0],
    };
    // Counted before they are made.
    let n_points = [losses.len(), epsilons.len().max(1), n_kernels(typed, &names)];
    check_count(n_points.into_iter().fold(c.len().max(1), usize::saturating_mul))?;
    let is_usual = c.is_empty();
    let grid = Grid { c, kernels: kernels(learn, typed, &names)?, losses };
    let metric = metric(args.metric.as_deref(), &estimator)?;
    let tuner = LabelTuner::new(estimator).grid(grid).epsilons(epsilons).metric(metric);
    let tuner = tuner.time_limit(super::time_limit(args.time_limit)?);
    tuner.check()?; // before anything is read

    let widens = usual && learn.kernel.gamma.is_none() && names.contains(&KernelName::Rbf);
    let (data, columns, valid) = sources(data, args)?;
    check_precision(&data, learn.precision)?;
    Ok(LabelSearch { data, valid, columns, precision: learn.precision, tuner, is_usual, widens })
}

/// A metric of classes, values or grades that is one number.
fn metric(typed: Option<&str>, estimator: &LabelEstimator) -> Run<LabelMetric> {
    let method = estimator.method();
    let Some(typed) = typed else { return Ok(LabelMetric::usual(method)) };
    let all: Vec<LabelMetric> = match method {
        Method::Classify => ClassMetric::ALL.map(LabelMetric::Class).to_vec(),
        Method::Ordinal => {
            let of_grades = ClassMetric::ALL.into_iter().filter(|metric| !metric.needs_chances());
            of_grades.map(LabelMetric::Class).chain(OrderMetric::ALL.map(LabelMetric::Order)).collect()
        }
        _ => ValueMetric::ALL.map(LabelMetric::Value).to_vec(),
    };
    let Some(&metric) = all.iter().find(|metric| metric.name() == typed) else {
        let names = all.iter().map(|metric| metric.name()).collect::<Vec<_>>().join(", ");
        return Err(Failure::Usage(format!(
            "--metric {typed}: no metric to choose by; for {} there are {names}",
            method.name()
        )));
    };
    match (metric, estimator) {
        (LabelMetric::Class(of), LabelEstimator::Classify(svm)) if of.needs_chances() && !svm.probabilities => {
            Err(Failure::Usage(format!("--metric {typed} needs probabilities; add --probabilities")))
        }
        _ => Ok(metric),
    }
}
