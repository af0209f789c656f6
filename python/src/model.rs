//! Fitted models.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankwise::Error;
use rankwise::data::Features;
use rankwise::export::{ExportOptions, Target, export};
use rankwise::io::{model_from_bytes, model_to_bytes, read_model, write_atomically, write_model};
use rankwise::model::{Basis, Description, ScoreFunction};

use crate::errors::{in_python, internal, raise};
use crate::input::{Items, Pairs};
use crate::run::run;

type Reals<'py> = Bound<'py, PyArray1<f64>>;
type Table<'py> = Bound<'py, PyArray2<f64>>;

/// A fitted model: the same that the command line reads and writes.
#[pyclass(frozen, module = "rankwise._core")]
pub(crate) struct Model {
    pub(crate) model: Arc<rankwise::Model>,
}

impl Model {
    pub(crate) fn new(model: rankwise::Model) -> Self {
        Model { model: Arc::new(model) }
    }
}

/// Rows of so many numbers.
pub(crate) fn table(py: Python<'_>, values: Vec<f64>, n_cols: usize) -> PyResult<Table<'_>> {
    let n_rows = values.len() / n_cols.max(1);
    PyArray1::from_vec(py, values).reshape([n_rows, n_cols])
}

impl Model {
    fn exported(
        &self,
        py: Python<'_>,
        to: Target,
        name: Option<String>,
        store: Option<String>,
        dialect: Option<&str>,
        scores: bool,
    ) -> PyResult<Vec<u8>> {
        let mut options = ExportOptions::new().scores(scores);
        (options.name, options.store) = (name, store);
        options.dialect = dialect.map(str::parse).transpose().map_err(raise(py))?;
        let model = Arc::clone(&self.model);
        Ok(run(py, 1, None, move |_| export(&model, to, &options))?.bytes)
    }
}

#[pymethods]
impl Model {
    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        read_model(&path).map(Model::new).map_err(raise(py))
    }

    /// Writes a model file: beside first, then in its place.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        write_model(&path, &self.model).map_err(raise(py))
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &model_to_bytes(&self.model).map_err(raise(py))?))
    }

    /// From the bytes of a file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        model_from_bytes(Path::new("model"), bytes).map(Model::new).map_err(raise(py))
    }

    /// The bytes of a file that another program reads.
    #[pyo3(signature = (to, name=None, store=None, dialect=None, scores=false))]
    fn export<'py>(
        &self,
        py: Python<'py>,
        to: &str,
        name: Option<String>,
        store: Option<String>,
        dialect: Option<&str>,
        scores: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let to = to.parse().map_err(raise(py))?;
        Ok(PyBytes::new(py, &self.exported(py, to, name, store, dialect, scores)?))
    }

    /// Writes that file; without `to` its ending tells what it is.
    #[pyo3(signature = (path, to=None, name=None, store=None, dialect=None, scores=false))]
    #[expect(clippy::too_many_arguments, reason = "one for each option")]
    fn export_to(
        &self,
        py: Python<'_>,
        path: PathBuf,
        to: Option<&str>,
        name: Option<String>,
        store: Option<String>,
        dialect: Option<&str>,
        scores: bool,
    ) -> PyResult<()> {
        let to = match to {
            Some(to) => to.parse(),
            None => Target::of_path(&path).ok_or_else(|| {
                let expected = "a target, because the name of the file does not end with .onnx, .sql or .json";
                Error::parameter("to", "None", expected)
            }),
        };
        let bytes = self.exported(py, to.map_err(raise(py))?, name, store, dialect, scores)?;
        write_atomically(&path, |out| out.write_all(&bytes)).map_err(raise(py))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        Ok((py.get_type::<Model>().getattr("from_bytes")?, (slf.get().to_bytes(py)?,)))
    }

    /// What there is to know of it, as JSON: the keys of `rankwise train --json` that are the model's.
    fn description(&self) -> PyResult<String> {
        serde_json::to_string(&Description::new(&self.model)).map_err(internal)
    }

    /// The search that chose its parameters, as JSON.
    fn tuning(&self) -> PyResult<Option<String>> {
        let Some(tuning) = &self.model.training.tuning else { return Ok(None) };
        let mut tuning = tuning.clone();
        tuning.warnings.iter_mut().for_each(|text| *text = in_python(text));
        serde_json::to_string(&tuning).map(Some).map_err(internal)
    }

    /// What the user should know.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.model.training.warnings.iter().map(|text| in_python(text)).collect()
    }

    /// Why training ended.
    #[getter]
    fn stop(&self) -> &'static str {
        self.model.training.stop.name()
    }

    /// The method.
    #[getter]
    fn method(&self) -> &'static str {
        self.model.training.method.name()
    }

    /// Whether it has learnt from judged pairs.
    #[getter]
    fn is_of_pairs(&self) -> bool {
        self.model.training.learnt_from != rankwise::model::LearntFrom::Items
    }

    /// Whether items are known by their names alone, and have no features.
    #[getter]
    fn is_of_names(&self) -> bool {
        self.model.scorer.are_indicators
    }

    /// How many features an item has.
    #[getter]
    fn n_features(&self) -> usize {
        self.model.scorer.n_features
    }

    /// What they are called.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.model.scorer.feature_names.clone()
    }

    /// The difference that does not matter.
    #[getter]
    fn threshold(&self) -> f64 {
        self.model.threshold
    }

    /// β of the comparison machine.
    #[getter]
    fn beta(&self) -> Option<f64> {
        self.model.beta
    }

    /// What classes are called.
    #[getter]
    fn classes(&self) -> Option<Vec<String>> {
        self.model.classes.clone()
    }

    /// Grades, and the thresholds between them.
    #[getter]
    fn grades<'py>(&self, py: Python<'py>) -> Option<(Reals<'py>, Reals<'py>)> {
        let rule = self.model.grades.as_ref()?;
        Some((PyArray1::from_slice(py, &rule.grades), PyArray1::from_slice(py, &rule.thresholds)))
    }

    /// Weights of features, a row per machine; None for kernels. Of scaled features, if there is a scaling.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Table<'py>>> {
        let weights = match &self.model.scorer.function {
            ScoreFunction::Linear { weights, .. } => weights,
            ScoreFunction::Several { basis: Basis::Features, coefficients, .. } => coefficients,
            _ => return Ok(None),
        };
        table(py, weights.clone(), self.model.scorer.n_features).map(Some)
    }

    /// What each machine adds to its scores.
    #[getter]
    fn biases<'py>(&self, py: Python<'py>) -> Reals<'py> {
        match &self.model.scorer.function {
            ScoreFunction::Linear { bias, .. } | ScoreFunction::Kernel { bias, .. } => {
                PyArray1::from_slice(py, &[*bias])
            }
            ScoreFunction::Landmarks { .. } => PyArray1::from_slice(py, &[0.0]),
            ScoreFunction::Several { biases, .. } => PyArray1::from_slice(py, biases),
        }
    }

    /// Shift and divisor of every feature, if features are scaled.
    #[getter]
    fn scaling<'py>(&self, py: Python<'py>) -> Option<(Reals<'py>, Reals<'py>)> {
        let scaler = self.model.scorer.scaler.as_ref()?;
        Some((PyArray1::from_slice(py, &scaler.shift), PyArray1::from_slice(py, &scaler.divisor)))
    }

    /// The support items as they are compared with others (scaled), and a row of coefficients per machine; None for linear models.
    #[getter]
    fn support(&self, py: Python<'_>) -> PyResult<Option<(Items, Py<PyArray2<f64>>)>> {
        let Some((support, coefficients)) = support(&self.model.scorer.function) else { return Ok(None) };
        let coefficients = table(py, coefficients.to_vec(), support.n_rows())?;
        Ok(Some((Items::of(py, support.clone(), None)?, coefficients.unbind())))
    }

    /// What its support items are called, where items had names.
    #[getter]
    fn support_names(&self) -> Option<Vec<String>> {
        self.model.training.support_names.clone()
    }

    /// The same model, whose support items are called so.
    fn with_support_names(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Self> {
        let mut model = (*self.model).clone();
        let n_support = model.scorer.function.support().map_or(0, Features::n_rows);
        if names.len() != n_support {
            let expected = format!("{n_support} names of support items");
            return Err(raise(py)(Error::parameter("names", names.len(), expected)));
        }
        model.training.support_names = Some(names);
        Ok(Model::new(model))
    }

    /// Which of the items its support items are: of equal ones the first. None for linear models, and if some are not among them.
    fn support_among<'py>(&self, py: Python<'py>, items: &Items) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        let (model, items) = (Arc::clone(&self.model), Arc::clone(&items.items));
        let found = run(py, 0, None, move |_| model.scorer.support_among(&items))?;
        Ok(found.map(|rows| PyArray1::from_iter(py, rows.into_iter().map(i64::from))))
    }

    /// One score per item.
    #[pyo3(signature = (items, threads=0))]
    fn scores<'py>(&self, py: Python<'py>, items: &Items, threads: usize) -> PyResult<Reals<'py>> {
        let (model, items) = (Arc::clone(&self.model), Arc::clone(&items.items));
        let scores = run(py, threads, None, move |_| model.scorer.scores(&items))?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// One score per item and machine.
    #[pyo3(signature = (items, threads=0))]
    fn machine_scores<'py>(&self, py: Python<'py>, items: &Items, threads: usize) -> PyResult<Table<'py>> {
        let (model, items) = (Arc::clone(&self.model), Arc::clone(&items.items));
        let n_machines = model.scorer.function.n_machines();
        let scores = run(py, threads, None, move |_| model.scorer.scores_of_machines(&items))?;
        table(py, scores, n_machines)
    }

    /// The number of each item's class, scores of all classes (of two: one score, towards the second), and probabilities.
    #[pyo3(signature = (items, threads=0))]
    fn classify<'py>(
        &self,
        py: Python<'py>,
        items: &Items,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Table<'py>, Option<Table<'py>>)> {
        let (model, items) = (Arc::clone(&self.model), Arc::clone(&items.items));
        let n_classes = model.classes.as_ref().map_or(1, Vec::len);
        let n_items = items.n_items();
        let said = run(py, threads, None, move |_| model.classify(&items))?;
        let n_scores = said.scores.len().checked_div(n_items).unwrap_or(1);
        let chances = said.chances.map(|chances| table(py, chances, n_classes)).transpose()?;
        Ok((PyArray1::from_vec(py, said.classes), table(py, said.scores, n_scores)?, chances))
    }

    /// The grade of each item.
    #[pyo3(signature = (items, threads=0))]
    fn grade<'py>(&self, py: Python<'py>, items: &Items, threads: usize) -> PyResult<Reals<'py>> {
        let (model, items) = (Arc::clone(&self.model), Arc::clone(&items.items));
        let grades = run(py, threads, None, move |_| model.grade(&items))?;
        Ok(PyArray1::from_vec(py, grades))
    }

    /// Margins, outcomes, thresholds (one per pair with a tie band) and probabilities of left, tie and right.
    #[pyo3(signature = (pairs, threads=0))]
    #[expect(clippy::type_complexity, reason = "four arrays")]
    fn judge<'py>(
        &self,
        py: Python<'py>,
        pairs: &Pairs,
        threads: usize,
    ) -> PyResult<(Reals<'py>, Bound<'py, PyArray1<i8>>, Option<Reals<'py>>, Option<Table<'py>>)> {
        let (model, set) = (Arc::clone(&self.model), Arc::clone(&pairs.set));
        let said = run(py, threads, None, move |_| model.judge(&set))?;
        let outcomes = PyArray1::from_iter(py, said.outcomes().into_iter().map(|outcome| outcome.sign()));
        let thresholds = said.thresholds.map(|all| PyArray1::from_vec(py, all));
        let chances = said.chances.map(|all| table(py, all.into_iter().flatten().collect(), 3)).transpose()?;
        Ok((PyArray1::from_vec(py, said.margins), outcomes, thresholds, chances))
    }
}

/// Support items and their coefficients.
fn support(function: &ScoreFunction) -> Option<(&Features, &[f64])> {
    match function {
        ScoreFunction::Kernel { support, coefficients, .. }
        | ScoreFunction::Several { basis: Basis::Kernel { support, .. }, coefficients, .. } => {
            Some((support, coefficients))
        }
        _ => None,
    }
}
