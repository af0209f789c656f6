//! Learning.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::data::{ClassItems, Comparisons, Ranking};
use rankwise::{
    CompareLp, CompareRank, CompareSvm, Davidson, Fit, ItemEstimator, OneNormRankSvm, OnlineSvm, OrdinalSvm, RankSvm,
    RankingVectorMachine, Result, Ridge, SvmClassifier, SvmRegressor, SwapSvm, Watch,
};

use crate::errors::raise;
use crate::input::{Groups, Items, Pairs, outcomes};
use crate::model::Model;
use crate::params::Named;
use crate::run::run;

/// Numbers as the library keeps them.
pub(crate) fn reals(array: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Option<Vec<f64>>> {
    Ok(array.map(|array| array.as_slice().map(<[f64]>::to_vec)).transpose()?)
}

/// Items with labels.
pub(crate) fn ranking(
    py: Python<'_>,
    items: &Items,
    labels: &PyReadonlyArray1<'_, f64>,
    groups: Option<&Groups>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Ranking> {
    let groups = groups.map(|groups| groups.groups.clone());
    let data = Ranking::new((*items.items).clone(), labels.as_slice()?.to_vec(), groups).map_err(raise(py))?;
    match reals(weights)? {
        Some(weights) => data.with_weights(weights).map_err(raise(py)),
        None => Ok(data),
    }
}

/// A machine that learns from items with labels.
enum ItemMachine {
    Of(ItemEstimator),
    Online(OnlineSvm),
    Ordinal(OrdinalSvm),
    Regress(SvmRegressor),
}

impl ItemMachine {
    fn read(method: &str, params: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(match method {
            "rank" => ItemMachine::Of(RankSvm::read(params)?.into()),
            "swap" => ItemMachine::Of(SwapSvm::read(params)?.into()),
            "ridge" => ItemMachine::Of(Ridge::read(params)?.into()),
            "rvm" => ItemMachine::Of(RankingVectorMachine::read(params)?.into()),
            "rank-l1" => ItemMachine::Of(OneNormRankSvm::read(params)?.into()),
            "online" => ItemMachine::Online(OnlineSvm::read(params)?),
            "ordinal" => ItemMachine::Ordinal(OrdinalSvm::read(params)?),
            "regress" => ItemMachine::Regress(SvmRegressor::read(params)?),
            _ => return Err(PyValueError::new_err(format!("{method} does not learn from items with labels"))),
        })
    }

    fn fit(&self, data: &Ranking, start: Option<&rankwise::Model>, watch: &dyn Watch) -> Result<Fit> {
        match self {
            ItemMachine::Of(machine) => machine.fit_from(data, start, watch),
            ItemMachine::Online(machine) => machine.fit_from(data, start, watch),
            ItemMachine::Ordinal(machine) => machine.fit_watched(data, watch),
            ItemMachine::Regress(machine) => machine.fit_watched(data, watch),
        }
    }
}

/// Learns from items with labels that are numbers.
#[pyfunction]
#[pyo3(signature = (method, params, items, labels, groups=None, weights=None, group_weights=None, start=None, threads=0, on_progress=None))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
pub(crate) fn fit_items(
    py: Python<'_>,
    method: &str,
    params: &Bound<'_, PyDict>,
    items: &Items,
    labels: PyReadonlyArray1<'_, f64>,
    groups: Option<&Groups>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    group_weights: Option<PyReadonlyArray1<'_, f64>>,
    start: Option<&Model>,
    threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let machine = ItemMachine::read(method, params)?;
    let mut data = ranking(py, items, &labels, groups, weights)?;
    if let Some(weights) = reals(group_weights)? {
        data = data.with_group_weights(weights).map_err(raise(py))?;
    }
    let start = start.map(|start| Arc::clone(&start.model));
    let fit = run(py, threads, on_progress, move |watch| machine.fit(&data, start.as_deref(), watch))?;
    Ok(Model::new(fit.model))
}

/// Items of classes.
pub(crate) fn class_items(
    py: Python<'_>,
    items: &Items,
    labels: &PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    margins: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<ClassItems> {
    let mut data =
        ClassItems::of_numbers((*items.items).clone(), classes, labels.as_slice()?.to_vec()).map_err(raise(py))?;
    if let Some(weights) = reals(weights)? {
        data = data.with_weights(weights).map_err(raise(py))?;
    }
    if let Some(margins) = reals(margins)? {
        data = data.with_margins(margins).map_err(raise(py))?;
    }
    Ok(data)
}

/// Learns to tell classes apart.
#[pyfunction]
#[pyo3(signature = (params, items, labels, classes, weights=None, margins=None, threads=0, on_progress=None))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
pub(crate) fn fit_classes(
    py: Python<'_>,
    params: &Bound<'_, PyDict>,
    items: &Items,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    margins: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let machine = SvmClassifier::read(params)?;
    let data = class_items(py, items, &labels, classes, weights, margins)?;
    let fit = run(py, threads, on_progress, move |watch| machine.fit_watched(&data, watch))?;
    Ok(Model::new(fit.model))
}

/// Judged pairs.
pub(crate) fn comparisons(
    py: Python<'_>,
    pairs: &Pairs,
    judged: &PyReadonlyArray1<'_, i8>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    groups: Option<&Groups>,
) -> PyResult<Comparisons> {
    let judged = outcomes(judged.as_slice()?).map_err(raise(py))?;
    let groups = groups.map(|groups| groups.groups.numbers().to_vec());
    Comparisons::new((*pairs.set).clone(), judged, reals(weights)?, groups).map_err(raise(py))
}

/// A machine that learns from judged pairs.
enum PairMachine {
    Compare(CompareSvm),
    Rank(CompareRank),
    Lp(CompareLp),
    Davidson(Davidson),
}

impl PairMachine {
    fn read(method: &str, params: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(match method {
            "compare" => PairMachine::Compare(CompareSvm::read(params)?),
            "compare-rank" => PairMachine::Rank(CompareRank::read(params)?),
            "compare-lp" => PairMachine::Lp(CompareLp::read(params)?),
            "davidson" => PairMachine::Davidson(Davidson::read(params)?),
            _ => return Err(PyValueError::new_err(format!("{method} does not learn from pairs"))),
        })
    }

    fn fit(&self, data: &Comparisons, watch: &dyn Watch) -> Result<Fit> {
        match self {
            PairMachine::Compare(machine) => machine.fit_watched(data, watch),
            PairMachine::Rank(machine) => machine.fit_watched(data, watch),
            PairMachine::Lp(machine) => machine.fit_watched(data, watch),
            PairMachine::Davidson(machine) => machine.fit_watched(data, watch),
        }
    }
}

/// Learns from judged pairs: −1 left, 0 tie, 1 right.
#[pyfunction]
#[pyo3(signature = (method, params, pairs, outcomes, weights=None, groups=None, threads=0, on_progress=None))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
pub(crate) fn fit_pairs(
    py: Python<'_>,
    method: &str,
    params: &Bound<'_, PyDict>,
    pairs: &Pairs,
    outcomes: PyReadonlyArray1<'_, i8>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    groups: Option<&Groups>,
    threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let machine = PairMachine::read(method, params)?;
    let data = comparisons(py, pairs, &outcomes, weights, groups)?;
    let fit = run(py, threads, on_progress, move |watch| machine.fit(&data, watch))?;
    Ok(Model::new(fit.model))
}
