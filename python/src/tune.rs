//! Choosing parameters: a grid of points, measured on what was held out.

use std::time::Duration;

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::data::{ClassItems, Ranking};
use rankwise::estimator::RankProgram;
use rankwise::metrics::{ClassMetric, ItemMetric, PairMetric, ValueMetric};
use rankwise::selection::{
    Grid, LabelMetric, LabelSplit, LabelTuner, OrderMetric, RankSplit, RankTuner, Split, Tuned, Tuner, log_spaced,
};
use rankwise::{
    CompareRank, CompareSvm, Davidson, Error, Gamma, Kernel, LabelData, LabelEstimator, Loss, OneNormRankSvm,
    OrdinalSvm, PairEstimator, RankSvm, RankingVectorMachine, Result, SvmClassifier, SvmRegressor,
};

use crate::errors::{exception, raise};
use crate::fit::{class_items, comparisons, ranking};
use crate::input::{Groups, Items, Pairs};
use crate::model::Model;
use crate::params::{Fields, Named, loss_of, told};
use crate::run::run;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Search>()?;
    module.add_function(wrap_pyfunction!(spaced, module)?)?;
    module.add_function(wrap_pyfunction!(tune_items, module)?)?;
    module.add_function(wrap_pyfunction!(tune_labels, module)?)?;
    module.add_function(wrap_pyfunction!(tune_classes, module)?)?;
    module.add_function(wrap_pyfunction!(tune_pairs, module)?)
}

/// So many values from one to another at equal ratios.
#[pyfunction]
fn spaced(py: Python<'_>, lo: f64, hi: f64, n: usize) -> PyResult<Vec<f64>> {
    log_spaced(lo, hi, n).map_err(raise(py))
}

/// What is searched, and how.
#[pyclass(frozen, module = "rankwise._core")]
struct Search {
    /// `None`: the usual values.
    c: Option<Vec<f64>>,
    kernels: Vec<Kernel>,
    /// Several widths of rbf that suit the data instead of the one that is named.
    widens: bool,
    losses: Vec<Loss>,
    epsilons: Option<Vec<f64>>,
    folds: usize,
    metric: Option<String>,
    time_limit: Option<Duration>,
}

#[pymethods]
impl Search {
    #[new]
    #[pyo3(signature = (method, c, kernels, widens, losses, epsilons, folds, metric, time_limit))]
    #[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
    fn new(
        py: Python<'_>,
        method: &str,
        c: Option<Vec<f64>>,
        kernels: Vec<Bound<'_, PyDict>>,
        widens: bool,
        losses: Vec<String>,
        epsilons: Option<Vec<f64>>,
        folds: usize,
        metric: Option<String>,
        time_limit: Option<f64>,
    ) -> PyResult<Self> {
        let read = |params: &Bound<'_, PyDict>| {
            let mut kernel = Kernel::Linear;
            Fields::of(params).of_kernel(&mut kernel).map(|()| kernel)
        };
        let known: &[Loss] = match method {
            "regress" => &Loss::OF_TUBES,
            "ordinal" | "classify" => &Loss::OF_CLASSES,
            _ => &Loss::ALL,
        };
        let loss = |name: &String| {
            let refusal = || exception(py, &Error::parameter("loss", format!("'{name}'"), told(known)));
            loss_of(name, known).ok_or_else(refusal)
        };
        let limit = |seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| exception(py, &Error::parameter("time_limit", seconds, "seconds")))
        };
        if folds < 2 {
            return Err(exception(py, &Error::parameter("folds", folds, "at least 2")));
        }
        Ok(Search {
            c,
            kernels: kernels.iter().map(read).collect::<PyResult<_>>()?,
            widens,
            losses: losses.iter().map(loss).collect::<PyResult<_>>()?,
            epsilons,
            folds,
            metric,
            time_limit: time_limit.map(limit).transpose()?,
        })
    }
}

impl Search {
    /// The kernels, rbf with each of these widths if nothing was said about them.
    fn kernels(&self, gammas: impl FnOnce() -> Result<Vec<Gamma>>) -> Result<Vec<Kernel>> {
        let is_rbf = |kernel: &Kernel| matches!(kernel, Kernel::Rbf { .. });
        if !self.widens || !self.kernels.iter().any(is_rbf) {
            return Ok(self.kernels.clone());
        }
        let gammas = gammas()?;
        let widened = |&kernel: &Kernel| match kernel {
            Kernel::Rbf { .. } => gammas.iter().map(|&gamma| Kernel::Rbf { gamma }).collect(),
            other => vec![other],
        };
        Ok(self.kernels.iter().flat_map(widened).collect())
    }

    /// The metric of that name among those that a search may go by.
    fn metric_among<M: Copy>(&self, all: &[M], name: impl Fn(M) -> &'static str) -> Result<Option<M>> {
        let Some(wanted) = &self.metric else { return Ok(None) };
        let found = all.iter().copied().find(|&metric| name(metric) == wanted);
        let known = || all.iter().map(|&metric| name(metric)).collect::<Vec<_>>().join(", ");
        found.map(Some).ok_or_else(|| Error::parameter("metric", wanted, format!("one of {}", known())))
    }
}

fn model(tuned: Tuned) -> Model {
    Model::new(tuned.fit.model)
}

/// A search for a ranker.
#[pyfunction]
#[pyo3(signature = (method, params, search, items, labels, groups=None, weights=None, valid=None, threads=0, on_progress=None))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
fn tune_items(
    py: Python<'_>,
    method: &str,
    params: &Bound<'_, PyDict>,
    search: Py<Search>,
    items: &Items,
    labels: PyReadonlyArray1<'_, f64>,
    groups: Option<&Groups>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    valid: Option<Valid<'_, f64>>,
    threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let (svm, program) = match method {
        "rank" => (RankSvm::read(params)?, None),
        "rvm" => {
            let machine = RankingVectorMachine::read(params)?;
            (like(params)?, Some(RankProgram::Vectors(machine.coefficients)))
        }
        "rank-l1" => {
            OneNormRankSvm::read(params)?;
            (like(params)?, Some(RankProgram::Pairs))
        }
        _ => return Err(no_search(method)),
    };
    let data = ranking(py, items, &labels, groups, weights)?;
    let valid = valid.map(|valid| valid.ranking(py)).transpose()?;
    let tuned = run(py, threads, on_progress, move |watch| {
        let search = search.get();
        let mut tuner = RankTuner::new(svm).time_limit(search.time_limit).losses(search.losses.clone());
        if let Some(name) = &search.metric {
            tuner.metric = ItemMetric::parse(name)?;
        }
        if let Some(program) = program {
            tuner = tuner.program(program);
        }
        tuner.kernels = search.kernels.clone();
        tuner.kernels = search.kernels(|| tuner.usual_gammas(&data))?;
        tuner.c = match &search.c {
            Some(c) => c.clone(),
            None => tuner.usual_c(&data)?,
        };
        let split = valid.as_ref().map_or(RankSplit::Folds(search.folds), RankSplit::Valid);
        tuner.tune(&data, split, watch)
    })?;
    Ok(model(tuned))
}

/// A ranking SVM with the parameters that it shares with linear programs.
fn like(params: &Bound<'_, PyDict>) -> PyResult<RankSvm> {
    let shared = params.copy()?;
    if shared.contains("coefficients")? {
        shared.del_item("coefficients")?;
    }
    Ok(RankSvm::read(&shared)?.loss(Loss::Hinge))
}

fn no_search(method: &str) -> PyErr {
    PyValueError::new_err(format!(
        "tune does not choose for method {method}; use scikit-learn's GridSearchCV, or several fits"
    ))
}

/// Items to measure on.
#[derive(FromPyObject)]
struct Valid<'py, T: numpy::Element> {
    #[pyo3(item)]
    items: PyRef<'py, Items>,
    #[pyo3(item)]
    labels: PyReadonlyArray1<'py, T>,
    #[pyo3(item)]
    groups: Option<PyRef<'py, Groups>>,
    #[pyo3(item)]
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

impl Valid<'_, f64> {
    fn ranking(self, py: Python<'_>) -> PyResult<Ranking> {
        ranking(py, &self.items, &self.labels, self.groups.as_deref(), self.weights)
    }
}

impl Valid<'_, u32> {
    fn class_items(self, py: Python<'_>, classes: Vec<String>) -> PyResult<ClassItems> {
        class_items(py, &self.items, &self.labels, classes, self.weights, None)
    }
}

/// The search of a machine of labels, on these data.
fn label_tuner(search: &Search, machine: LabelEstimator, data: LabelData<'_>) -> Result<LabelTuner> {
    let epsilon = machine.shape().2;
    let metric = match &machine {
        LabelEstimator::Classify(_) => {
            search.metric_among(&ClassMetric::ALL, ClassMetric::name)?.map(LabelMetric::Class)
        }
        LabelEstimator::Regress(_) => {
            search.metric_among(&ValueMetric::ALL, ValueMetric::name)?.map(LabelMetric::Value)
        }
        LabelEstimator::Ordinal(_) => {
            let of_grades = ClassMetric::ALL.into_iter().filter(|metric| !metric.needs_chances());
            let all: Vec<LabelMetric> =
                of_grades.map(LabelMetric::Class).chain(OrderMetric::ALL.map(LabelMetric::Order)).collect();
            search.metric_among(&all, LabelMetric::name)?
        }
    };
    if let (Some(LabelMetric::Class(metric)), LabelEstimator::Classify(svm)) = (metric, &machine)
        && metric.needs_chances()
        && !svm.probabilities
    {
        return Err(Error::parameter("metric", metric.name(), "probabilities=True, which this metric needs"));
    }
    let mut tuner = LabelTuner::new(machine).time_limit(search.time_limit);
    tuner.epsilons = search.epsilons.clone().unwrap_or_else(|| epsilon.into_iter().collect());
    tuner.grid = Grid { c: Vec::new(), kernels: search.kernels.clone(), losses: search.losses.clone() };
    if let Some(metric) = metric {
        tuner.metric = metric;
    }
    tuner.grid.c = search.c.clone().unwrap_or_else(|| tuner.usual_c(data));
    tuner.grid.kernels = search.kernels(|| tuner.usual_gammas(data))?;
    tuner.check()?;
    Ok(tuner)
}

/// A search for a machine of values or grades.
#[pyfunction]
#[pyo3(signature = (method, params, search, items, labels, groups=None, weights=None, valid=None, threads=0, on_progress=None))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
fn tune_labels(
    py: Python<'_>,
    method: &str,
    params: &Bound<'_, PyDict>,
    search: Py<Search>,
    items: &Items,
    labels: PyReadonlyArray1<'_, f64>,
    groups: Option<&Groups>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    valid: Option<Valid<'_, f64>>,
    threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let machine: LabelEstimator = match method {
        "regress" => SvmRegressor::read(params)?.into(),
        "ordinal" => OrdinalSvm::read(params)?.into(),
        _ => return Err(no_search(method)),
    };
    let data = ranking(py, items, &labels, groups, weights)?;
    let valid = valid.map(|valid| valid.ranking(py)).transpose()?;
    let tuned = run(py, threads, on_progress, move |watch| {
        let search = search.get();
        let data = LabelData::Values(&data);
        let split = valid.as_ref().map_or(LabelSplit::Folds(search.folds), |v| LabelSplit::Valid(LabelData::Values(v)));
        label_tuner(search, machine, data)?.tune(data, split, watch)
    })?;
    Ok(model(tuned))
}

/// A search for a classifier.
#[pyfunction]
#[pyo3(signature = (params, search, items, labels, classes, groups=None, weights=None, valid=None, threads=0, on_progress=None))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
fn tune_classes(
    py: Python<'_>,
    params: &Bound<'_, PyDict>,
    search: Py<Search>,
    items: &Items,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    groups: Option<&Groups>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    valid: Option<Valid<'_, u32>>,
    threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let machine: LabelEstimator = SvmClassifier::read(params)?.into();
    let valid = valid.map(|valid| valid.class_items(py, classes.clone())).transpose()?;
    let mut data = class_items(py, items, &labels, classes, weights, None)?;
    if let Some(groups) = groups {
        data = data.with_groups(groups.groups.clone()).map_err(raise(py))?;
    }
    let tuned = run(py, threads, on_progress, move |watch| {
        let search = search.get();
        let data = LabelData::Classes(&data);
        let split =
            valid.as_ref().map_or(LabelSplit::Folds(search.folds), |v| LabelSplit::Valid(LabelData::Classes(v)));
        label_tuner(search, machine, data)?.tune(data, split, watch)
    })?;
    Ok(model(tuned))
}

/// Pairs to measure on.
#[derive(FromPyObject)]
struct ValidPairs<'py> {
    #[pyo3(item)]
    pairs: PyRef<'py, Pairs>,
    #[pyo3(item)]
    outcomes: PyReadonlyArray1<'py, i8>,
    #[pyo3(item)]
    weights: Option<PyReadonlyArray1<'py, f64>>,
}

/// A search for a comparer.
#[pyfunction]
#[pyo3(signature = (method, params, search, pairs, outcomes, groups=None, weights=None, valid=None, threads=0, on_progress=None))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
fn tune_pairs(
    py: Python<'_>,
    method: &str,
    params: &Bound<'_, PyDict>,
    search: Py<Search>,
    pairs: &Pairs,
    outcomes: PyReadonlyArray1<'_, i8>,
    groups: Option<&Groups>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    valid: Option<ValidPairs<'_>>,
    threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let machine: PairEstimator = match method {
        "compare" => CompareSvm::read(params)?.into(),
        "compare-rank" => CompareRank::read(params)?.into(),
        "davidson" => Davidson::read(params)?.into(),
        _ => return Err(no_search(method)),
    };
    let data = comparisons(py, pairs, &outcomes, weights, groups)?;
    let valid = valid.map(|valid| comparisons(py, &valid.pairs, &valid.outcomes, valid.weights, None)).transpose()?;
    let tuned = run(py, threads, on_progress, move |watch| {
        let search = search.get();
        let metrics = PairMetric::ALL.into_iter().filter(|metric| *metric != PairMetric::AucBaseline);
        let metric = search.metric_among(&metrics.collect::<Vec<_>>(), PairMetric::name)?;
        let has_chances = |&loss: &Loss| machine.clone().shaped(1.0, Kernel::Linear, loss).has_chances();
        if let Some(metric) = metric.filter(|metric| metric.needs_chances())
            && !search.losses.iter().all(has_chances)
        {
            let expected = "a machine with probabilities: Davidson, loss='logistic' or calibrate=True";
            return Err(Error::parameter("metric", metric.name(), expected));
        }
        let kernels = search.kernels(|| Grid::usual_gammas(&machine, &data))?;
        let mut tuner = Tuner::new(machine).time_limit(search.time_limit);
        if let Some(metric) = metric {
            tuner.metric = metric;
        }
        let c = search.c.clone().unwrap_or_else(|| tuner.grid.c.clone());
        tuner.grid = Grid { c, kernels, losses: search.losses.clone() };
        let split = valid.as_ref().map_or(Split::Folds(search.folds), Split::Valid);
        tuner.tune(&data, split, watch)
    })?;
    Ok(model(tuned))
}
