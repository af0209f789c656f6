//! What pictures show: the corners of ROC curves, and probabilities beside what came true.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use rankwise::data::Verdicts;
use rankwise::metrics::{Chance, Judged};

use crate::errors::raise;
use crate::fit::reals;
use crate::input::outcomes;

/// Thresholds, false and true positive rates, and the area below.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64);

/// The ROC curve of margins when the threshold moves from ∞ down; `None` without ties, or with nothing but ties.
#[pyfunction]
#[pyo3(signature = (outcomes, margins, weights=None))]
fn roc_curve<'py>(
    py: Python<'py>,
    outcomes: PyReadonlyArray1<'py, i8>,
    margins: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Option<Curve<'py>>> {
    let judged = self::outcomes(outcomes.as_slice()?).map_err(raise(py))?;
    let weights = reals(weights)?;
    let judged = Judged::new(&judged, margins.as_slice()?, weights.as_deref(), 0.0).map_err(raise(py))?;
    let (Some(points), Some(area)) = (judged.roc(), judged.auc()) else { return Ok(None) };
    let column = |number: fn(&rankwise::metrics::RocPoint) -> f64| PyArray1::from_iter(py, points.iter().map(number));
    Ok(Some((
        column(|point| point.threshold),
        column(|point| point.false_positive_rate),
        column(|point| point.true_positive_rate),
        area,
    )))
}

/// Bins as (predicted, observed, low, high, weight), and the mean distance of the first two.
type Bins = (Vec<(f64, f64, f64, f64, f64)>, f64);

/// Probabilities beside what came true, of ties or of the sides; `None` without pairs.
#[pyfunction]
fn reliability(
    py: Python<'_>,
    outcomes: PyReadonlyArray1<'_, i8>,
    chances: PyReadonlyArray1<'_, f64>,
    of_ties: bool,
    n_bins: usize,
) -> PyResult<Option<Bins>> {
    let judged = self::outcomes(outcomes.as_slice()?).map_err(raise(py))?;
    let (chances, _) = chances.as_slice()?.as_chunks::<3>();
    let margins = vec![0.0; judged.len()];
    let verdicts = Verdicts { chances: Some(chances.to_vec()), ..Verdicts::plain(margins, 0.0) };
    let judged = Judged::of(&judged, &verdicts, None).map_err(raise(py))?;
    let found = judged.reliability(if of_ties { Chance::Tie } else { Chance::Side }, n_bins);
    Ok(found.map(|found| {
        let bins = found.bins.iter().map(|bin| (bin.predicted, bin.observed, bin.low, bin.high, bin.weight));
        (bins.collect(), found.error)
    }))
}

/// Adds what is here to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(roc_curve, module)?)?;
    module.add_function(wrap_pyfunction!(reliability, module)?)
}
