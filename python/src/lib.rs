//! The compiled part of the Python package: arrays in, models out.
//!
//! Private to `rankwise`, whose Python layer checks shapes and speaks scikit-learn. Here data are borrowed (`input`), parameters
//! read (`params`), and machines run on threads of their own while Python looks on (`run`).

mod datasets;
mod errors;
mod fit;
mod input;
mod metrics;
mod model;
mod params;
mod plot;
mod rating;
mod run;
mod spread;
mod table;
mod tune;

use pyo3::prelude::*;

/// The compiled part of rankwise.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("MOST_THREADS", rankwise::Effort::MOST_THREADS)?;
    module.add_class::<input::Items>()?;
    module.add_class::<input::Groups>()?;
    module.add_class::<input::Pairs>()?;
    module.add_class::<model::Model>()?;
    module.add_function(wrap_pyfunction!(fit::fit_items, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit_classes, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit_pairs, module)?)?;
    tune::register(module)?;
    module.add_function(wrap_pyfunction!(params::defaults, module)?)?;
    metrics::register(module)?;
    datasets::register(module)?;
    plot::register(module)?;
    rating::register(module)?;
    spread::register(module)?;
    Ok(())
}
