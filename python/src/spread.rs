//! Data that are spread over processes: a part where its rows are, and the fit that asks all of them.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use rankwise::estimator::spread::{self, Described, Parts};
use rankwise::{CompareSvm, Davidson, Error, Fit, RankSvm, Result, Watch};

use crate::errors::raise;
use crate::fit::{comparisons, ranking, reals};
use crate::input::{Groups, Items, Pairs};
use crate::model::Model;
use crate::params::Named;
use crate::run::run;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Part>()?;
    module.add_function(wrap_pyfunction!(add_answers, module)?)?;
    module.add_function(wrap_pyfunction!(fit_spread, module)?)?;
    module.add_function(wrap_pyfunction!(check_spread, module)?)
}

/// A part of the data: whole groups of items, or pairs.
#[pyclass(frozen, module = "rankwise._core")]
pub(crate) struct Part {
    part: Arc<Mutex<spread::Part>>,
}

impl Part {
    fn new(part: spread::Part) -> Self {
        Part { part: Arc::new(Mutex::new(part)) }
    }
}

#[pymethods]
impl Part {
    /// Items with labels, for a machine of these parameters.
    #[staticmethod]
    #[pyo3(signature = (params, number, items, labels, groups=None, weights=None, group_weights=None, threads=0))]
    #[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
    fn of_items(
        py: Python<'_>,
        params: &Bound<'_, PyDict>,
        number: usize,
        items: &Items,
        labels: PyReadonlyArray1<'_, f64>,
        groups: Option<&Groups>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        group_weights: Option<PyReadonlyArray1<'_, f64>>,
        threads: usize,
    ) -> PyResult<Self> {
        let machine = RankSvm::read(params)?;
        let mut data = ranking(py, items, &labels, groups, weights)?;
        if let Some(weights) = reals(group_weights)? {
            data = data.with_group_weights(weights).map_err(raise(py))?;
        }
        run(py, threads, None, move |_| Ok(spread::Part::of_items(&data, number, &machine))).map(Part::new)
    }

    /// Judged pairs.
    #[staticmethod]
    #[pyo3(signature = (number, pairs, outcomes, weights=None, threads=0))]
    fn of_pairs(
        py: Python<'_>,
        number: usize,
        pairs: &Pairs,
        outcomes: PyReadonlyArray1<'_, i8>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        threads: usize,
    ) -> PyResult<Self> {
        let data = comparisons(py, pairs, &outcomes, weights, None)?;
        run(py, threads, None, move |_| Ok(spread::Part::of_pairs(&data, number))).map(Part::new)
    }

    /// What it says to a question.
    #[pyo3(signature = (question, threads=0))]
    fn answer<'py>(&self, py: Python<'py>, question: Vec<u8>, threads: usize) -> PyResult<Bound<'py, PyBytes>> {
        let part = Arc::clone(&self.part);
        let answer =
            run(py, threads, None, move |_| part.lock().unwrap_or_else(PoisonError::into_inner).answer(&question))?;
        Ok(PyBytes::new(py, &answer))
    }
}

/// What parts say together, in their order.
#[pyfunction]
fn add_answers(py: Python<'_>, answers: Vec<PyBackedBytes>) -> PyResult<Bound<'_, PyBytes>> {
    let sum = py.detach(|| spread::add_answers(answers.iter().map(|answer| &**answer)));
    Ok(PyBytes::new(py, &sum.map_err(raise(py))?))
}

/// A machine that learns from parts.
enum Machine {
    Rank(RankSvm),
    Compare(CompareSvm),
    Davidson(Davidson),
}

impl Machine {
    fn read(method: &str, params: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(match method {
            "rank" => Machine::Rank(RankSvm::read(params)?),
            "compare" => Machine::Compare(CompareSvm::read(params)?),
            "davidson" => Machine::Davidson(Davidson::read(params)?),
            _ => return Err(PyValueError::new_err(format!("{method} does not learn from parts"))),
        })
    }

    fn fit(
        &self,
        parts: &dyn Parts,
        described: Described,
        start: Option<&rankwise::Model>,
        watch: &dyn Watch,
    ) -> Result<Fit> {
        match self {
            Machine::Rank(machine) => machine.fit_spread(parts, described.names, start, watch),
            Machine::Compare(machine) => machine.fit_spread(parts, described, watch),
            Machine::Davidson(machine) => machine.fit_spread(parts, described, watch),
        }
    }
}

/// A function of Python that brings questions to all parts.
struct InPython {
    ask: Py<PyAny>,
    /// What it raised, if it did.
    raised: Mutex<Option<PyErr>>,
}

impl Parts for InPython {
    fn ask(&self, question: &[u8]) -> Result<Vec<u8>> {
        Python::attach(|py| {
            let answer = self.ask.call1(py, (PyBytes::new(py, question),)).and_then(|answer| answer.extract(py));
            answer.map_err(|raised| {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
                Error::Interrupted
            })
        })
    }
}

/// Refuses parameters that parts cannot serve.
#[pyfunction]
fn check_spread(py: Python<'_>, method: &str, params: &Bound<'_, PyDict>) -> PyResult<()> {
    match Machine::read(method, params)? {
        Machine::Rank(machine) => machine.check_spread(),
        Machine::Compare(machine) => machine.check_spread(),
        Machine::Davidson(machine) => machine.check_spread(),
    }
    .map_err(raise(py))
}

/// Learns from parts, which `ask` brings questions to.
#[pyfunction]
#[pyo3(signature = (method, params, ask, names=None, are_indicators=false, start=None, threads=0, on_progress=None))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
fn fit_spread(
    py: Python<'_>,
    method: &str,
    params: &Bound<'_, PyDict>,
    ask: Py<PyAny>,
    names: Option<Vec<String>>,
    are_indicators: bool,
    start: Option<&Model>,
    threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let machine = Machine::read(method, params)?;
    let parts = Arc::new(InPython { ask, raised: Mutex::new(None) });
    let start = start.map(|start| Arc::clone(&start.model));
    let asked = Arc::clone(&parts);
    let described = Described { names, are_indicators };
    let fit = run(py, threads, on_progress, move |watch| machine.fit(&*asked, described, start.as_deref(), watch));
    let raised = parts.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    match raised {
        Some(raised) => Err(raised),
        None => fit.map(|fit| Model::new(fit.model)),
    }
}
