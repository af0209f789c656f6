//! How good scores and margins are, as the library measures it. What is not defined is NaN.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rankwise::data::{self, Outcome, Verdicts};
use rankwise::metrics::{ItemMetric, Judged, PairMetric, Ranked};
use rankwise::{Error, Result};

use crate::errors::raise;
use crate::fit::reals;
use crate::input::{Groups, outcomes};
use crate::run::run;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RankedItems>()?;
    module.add_class::<JudgedPairs>()?;
    module.add_function(wrap_pyfunction!(item_metric_direction, module)?)?;
    Ok(())
}

/// Whether more is better, of a metric of items by its name.
#[pyfunction]
fn item_metric_direction(py: Python<'_>, name: &str) -> PyResult<bool> {
    ItemMetric::parse(name).map(|metric| metric.greater_is_better()).map_err(raise(py))
}

/// Labels and scores of items in groups.
#[pyclass(frozen, module = "rankwise._core")]
struct RankedItems {
    owned: std::sync::Arc<OwnedRanked>,
}

struct OwnedRanked {
    labels: Vec<f64>,
    scores: Vec<f64>,
    groups: data::Groups,
    weights: Option<Vec<f64>>,
    group_weights: Option<Vec<f64>>,
    ids: Option<Vec<String>>,
}

impl OwnedRanked {
    fn ranked(&self) -> Result<Ranked<'_>> {
        let mut ranked = Ranked::new(&self.labels, &self.scores, &self.groups)?;
        if let Some(weights) = &self.weights {
            ranked = ranked.with_weights(weights)?;
        }
        if let Some(weights) = &self.group_weights {
            ranked = ranked.with_group_weights(weights)?;
        }
        match &self.ids {
            Some(ids) => ranked.with_ids(ids),
            None => Ok(ranked),
        }
    }
}

#[pymethods]
impl RankedItems {
    #[new]
    #[pyo3(signature = (labels, scores, groups=None, weights=None, group_weights=None, ids=None))]
    fn new(
        labels: PyReadonlyArray1<'_, f64>,
        scores: PyReadonlyArray1<'_, f64>,
        groups: Option<&Groups>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        group_weights: Option<PyReadonlyArray1<'_, f64>>,
        ids: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let labels = labels.as_slice()?.to_vec();
        let owned = OwnedRanked {
            groups: groups.map_or_else(|| data::Groups::single(labels.len()), |groups| groups.groups.clone()),
            scores: scores.as_slice()?.to_vec(),
            weights: reals(weights)?,
            group_weights: reals(group_weights)?,
            ids,
            labels,
        };
        Ok(RankedItems { owned: owned.into() })
    }

    /// A metric's value over all groups.
    fn metric(&self, py: Python<'_>, name: &str) -> PyResult<f64> {
        let metric = ItemMetric::parse(name).map_err(raise(py))?;
        let owned = self.owned.clone();
        let measured = run(py, 0, None, move |_| metric.of(&owned.ranked()?))?;
        Ok(measured.value.unwrap_or(f64::NAN))
    }

    /// A metric's value in every group, in the order in which groups first appear.
    fn per_group<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let metric = ItemMetric::parse(name).map_err(raise(py))?;
        let owned = self.owned.clone();
        let values = run(py, 0, None, move |_| metric.per_group(&owned.ranked()?))?;
        Ok(PyArray1::from_iter(py, values.into_iter().map(|value| value.unwrap_or(f64::NAN))))
    }
}

/// Judged pairs, and what a model says of them.
#[pyclass(frozen, module = "rankwise._core")]
struct JudgedPairs {
    owned: std::sync::Arc<OwnedJudged>,
}

struct OwnedJudged {
    outcomes: Vec<Outcome>,
    verdicts: Verdicts,
    weights: Option<Vec<f64>>,
}

impl OwnedJudged {
    fn judged(&self) -> Result<Judged<'_>> {
        Judged::of(&self.outcomes, &self.verdicts, self.weights.as_deref())
    }
}

#[pymethods]
impl JudgedPairs {
    /// Outcomes −1, 0, 1; probabilities have the columns left, tie, right.
    #[new]
    #[pyo3(signature = (judged, margins, threshold=0.0, excess=None, chances=None, weights=None))]
    fn new(
        py: Python<'_>,
        judged: PyReadonlyArray1<'_, i8>,
        margins: PyReadonlyArray1<'_, f64>,
        threshold: f64,
        excess: Option<PyReadonlyArray1<'_, f64>>,
        chances: Option<PyReadonlyArray2<'_, f64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let chances = chances.map(|all| -> PyResult<Vec<[f64; 3]>> { Ok(all.as_slice()?.as_chunks::<3>().0.to_vec()) });
        let verdicts = Verdicts {
            excess: reals(excess)?,
            chances: chances.transpose()?,
            ..Verdicts::plain(margins.as_slice()?.to_vec(), threshold)
        };
        let outcomes = outcomes(judged.as_slice()?).map_err(raise(py))?;
        Ok(JudgedPairs { owned: OwnedJudged { outcomes, verdicts, weights: reals(weights)? }.into() })
    }

    /// A metric that is one number, by its name.
    fn metric(&self, py: Python<'_>, name: &str) -> PyResult<f64> {
        let Some(metric) = PairMetric::ALL.into_iter().find(|metric| metric.name() == name) else {
            let known = PairMetric::ALL.map(PairMetric::name).join(", ");
            return Err(raise(py)(Error::parameter("metric", format!("`{name}`"), format!("one of {known}"))));
        };
        let owned = self.owned.clone();
        let value = run(py, 0, None, move |_| Ok(metric.of(&owned.judged()?)))?;
        Ok(value.unwrap_or(f64::NAN))
    }

    /// Weights by judged (row) and predicted (column) outcome.
    fn confusion<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let table = self.owned.judged().map_err(raise(py))?.confusion();
        let rows: Vec<Vec<f64>> = table.iter().map(|row| row.to_vec()).collect();
        Ok(PyArray2::from_vec2(py, &rows)?)
    }

    /// Thresholds, false positive rates and true positive rates of the ROC curve; `None` where there is none.
    #[expect(clippy::type_complexity, reason = "three arrays")]
    fn roc<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)>> {
        let owned = self.owned.clone();
        let points = run(py, 0, None, move |_| Ok(owned.judged()?.roc()))?;
        Ok(points.map(|points| {
            (
                PyArray1::from_iter(py, points.iter().map(|point| point.threshold)),
                PyArray1::from_iter(py, points.iter().map(|point| point.false_positive_rate)),
                PyArray1::from_iter(py, points.iter().map(|point| point.true_positive_rate)),
            )
        }))
    }
}
