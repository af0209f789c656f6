//! What pictures show: probabilities beside what came true.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rankwise::data::Verdicts;
use rankwise::metrics::{Chance, Judged};

use crate::errors::raise;
use crate::input::outcomes;

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
    module.add_function(wrap_pyfunction!(reliability, module)?)
}
