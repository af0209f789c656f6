//! Files and simulations as arrays. Memory that the library filled becomes that of numpy, without a copy.

use std::path::PathBuf;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rankwise::data::simulate::{Norm, Simulation};
use rankwise::data::{
    self, Comparisons, Context, FeatureParts, Features, Outcome, OwnedNumbers, PairSet, Precision, Ranking,
};
use rankwise::io::published::{ArffTarget, LetorFolds, LetorPart, PAIR_SOURCES, read_arff};
use rankwise::io::{self, Columns, Conversion, Format, IndexBase, ItemTable, PairFiles, Source};
use rankwise::{Error, Result};

use crate::errors::{in_python, raise};
use crate::fit::reals;
use crate::input::{Groups, Items};
use crate::run::run;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(simulate_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(load_items, module)?)?;
    module.add_function(wrap_pyfunction!(load_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(load_arff, module)?)?;
    module.add_function(wrap_pyfunction!(load_letor, module)?)?;
    module.add_function(wrap_pyfunction!(load_published_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(published_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(save_items, module)?)?;
    Ok(())
}

/// One of several words.
fn word<T: Copy>(py: Python<'_>, name: &'static str, typed: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(word, _)| *word == typed).map(|&(_, meant)| meant).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|&(word, _)| word).collect();
        raise(py)(Error::parameter(name, format!("{typed:?}"), format!("one of {}", words.join(", "))))
    })
}

fn precision(py: Python<'_>, typed: &str) -> PyResult<Precision> {
    word(py, "precision", typed, &[("auto", Precision::Auto), ("f32", Precision::F32), ("f64", Precision::F64)])
}

/// The left, then the right side of every pair, and −1, 0 or 1 for each.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
fn simulate_pairs<'py>(
    py: Python<'py>,
    norm: &str,
    n_pairs: usize,
    ties: f64,
    noise: f64,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i8>>)> {
    let norm = word(py, "norm", norm, &[("l1", Norm::L1), ("l2", Norm::L2), ("linf", Norm::Linf)])?;
    if n_pairs == 0 || n_pairs > u32::MAX as usize / 2 {
        return Err(raise(py)(Error::parameter("n_pairs", n_pairs, "at least one pair, and at most 2147483647")));
    }
    let simulation = Simulation { norm, n_pairs, ties, noise, seed };
    let data = run(py, 0, None, move |_| simulation.draw())?;
    let features = &data.set.items.features;
    let mut rows = vec![0.0; 4 * n_pairs];
    for (pair, sides) in data.set.pairs.iter().zip(rows.chunks_exact_mut(4)) {
        let (left, right) = sides.split_at_mut(2);
        features.copy_row(pair.left as usize, left);
        features.copy_row(pair.right as usize, right);
    }
    Ok((PyArray1::from_vec(py, rows), signs(py, &data.outcomes)))
}

fn signs<'py>(py: Python<'py>, outcomes: &[Outcome]) -> Bound<'py, PyArray1<i8>> {
    PyArray1::from_iter(py, outcomes.iter().map(|outcome| outcome.sign()))
}

/// What columns are called; see [`Columns`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Named {
    left: Option<String>,
    right: Option<String>,
    separator: Option<u8>,
    id: Option<String>,
    weight: Option<String>,
    group: Option<String>,
    label: Option<String>,
    drop: Vec<String>,
}

impl Named {
    fn columns(self, index_base: IndexBase) -> Columns {
        let Named { left, right, separator, id, weight, group, label, drop } = self;
        let most_features = None;
        Columns { left, right, id, weight, group, time: None, label, drop, separator, index_base, most_features }
    }
}

fn source(py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<Source> {
    let format = match format {
        Some(typed) => word(py, "format", typed, &Format::WORDS)?,
        None => Format::of_path(&path).map_err(raise(py))?,
    };
    Ok(Source::File { path, format })
}

/// Items, by the format of their file. With `classes` labels may be words.
#[pyfunction]
#[pyo3(signature = (path, format, columns, index_base, precision, classes=false))]
fn load_items<'py>(
    py: Python<'py>,
    path: PathBuf,
    format: Option<&str>,
    columns: Named,
    index_base: u8,
    precision: &str,
    classes: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let index_base = match index_base {
        0 => IndexBase::Zero,
        1 => IndexBase::One,
        other => return Err(raise(py)(Error::parameter("index_base", other, "0 or 1"))),
    };
    let (source, columns) = (source(py, path, format)?, columns.columns(index_base));
    let precision = self::precision(py, precision)?;
    let table = run(py, 0, None, move |_| match classes {
        true => io::read_classes(&source, &columns, precision),
        false => io::read_items(&source, &columns, precision),
    })?;
    let ItemTable { items, labels, words, margins, groups, weights, group_weights, unused_columns, notes, .. } = table;
    let out = PyDict::new(py);
    put_items(&out, items)?;
    out.set_item("y", labels.map(|labels| PyArray1::from_vec(py, labels)))?;
    out.set_item("words", words.map(|words| (words.names, PyArray1::from_vec(py, words.numbers))))?;
    out.set_item("margin", margins.map(|margins| PyArray1::from_vec(py, margins)))?;
    put_groups(&out, "qid", groups.as_ref())?;
    out.set_item("weight", weights.map(|weights| PyArray1::from_vec(py, weights)))?;
    out.set_item("group_weight", group_weights.map(|weights| PyArray1::from_vec(py, weights)))?;
    let unused = unused_columns.iter().map(|name| format!("the column {name} is not read: it is never a feature"));
    let warnings: Vec<String> = notes.iter().map(|note| in_python(note)).chain(unused).collect();
    out.set_item("warnings", PyList::new(py, warnings)?)?;
    Ok(out)
}

/// What items are made of.
fn put_items(out: &Bound<'_, PyDict>, items: data::Items) -> PyResult<()> {
    out.set_item("X", parts(out.py(), items.features)?)?;
    out.set_item("feature_names", items.feature_names)?;
    out.set_item("ids", items.ids)
}

/// Shape, numbers, and of compressed rows their starts and columns.
fn parts(py: Python<'_>, features: Features) -> PyResult<Bound<'_, PyDict>> {
    let FeatureParts { n_rows, n_cols, values, sparse_rows } = features.into_parts();
    let out = PyDict::new(py);
    out.set_item("shape", (n_rows, n_cols))?;
    match values {
        OwnedNumbers::F32(values) => out.set_item("values", PyArray1::from_vec(py, values))?,
        OwnedNumbers::F64(values) => out.set_item("values", PyArray1::from_vec(py, values))?,
    }
    let rows = sparse_rows.map(|(starts, columns)| (PyArray1::from_vec(py, starts), PyArray1::from_vec(py, columns)));
    out.set_item("rows", rows)?;
    Ok(out)
}

/// One id per item: whole numbers where all names are such, else the names and a number per item.
fn put_groups(out: &Bound<'_, PyDict>, key: &str, groups: Option<&data::Groups>) -> PyResult<()> {
    let Some(groups) = groups.filter(|groups| groups.are_given()) else { return out.set_item(key, out.py().None()) };
    let names: Vec<&str> = (0..groups.len()).map(|group| groups.name(group)).collect();
    put_names(out, key, &names, groups.numbers())
}

fn put_names(out: &Bound<'_, PyDict>, key: &str, names: &[&str], numbers: &[u32]) -> PyResult<()> {
    let py = out.py();
    let whole = |name: &&str| name.parse::<i64>().ok().filter(|number| number.to_string() == *name);
    match names.iter().map(whole).collect::<Option<Vec<i64>>>() {
        Some(values) => out.set_item(key, PyArray1::from_iter(py, numbers.iter().map(|&group| values[group as usize]))),
        None => out.set_item(key, (names, PyArray1::from_slice(py, numbers))),
    }
}

/// Pairs, and the items that they name.
#[pyfunction]
#[pyo3(signature = (path, items, format, columns, precision))]
fn load_pairs<'py>(
    py: Python<'py>,
    path: PathBuf,
    items: Option<PathBuf>,
    format: Option<&str>,
    columns: Named,
    precision: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let files = PairFiles {
        pairs: source(py, path, format)?,
        items: items.map(|items| source(py, items, None)).transpose()?,
        columns: columns.columns(IndexBase::One),
        precision: self::precision(py, precision)?,
        with_outcomes: true,
        as_games: false,
    };
    let table = run(py, 0, None, move |_| io::read_pairs(&files))?;
    let notes: Vec<String> = table.notes.iter().map(|note| in_python(note)).collect();
    let out = PyDict::new(py);
    put_pairs(&out, table.set)?;
    out.set_item("y", table.outcomes.map(|outcomes| signs(py, &outcomes)))?;
    out.set_item("weight", table.weights.map(|weights| PyArray1::from_vec(py, weights)))?;
    out.set_item("group", table.groups.map(|groups| numbers(py, &groups)))?;
    out.set_item("time", py.None())?;
    out.set_item("warnings", PyList::new(py, notes)?)?;
    Ok(out)
}

fn numbers<'py>(py: Python<'py>, groups: &[u32]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, groups.iter().map(|&group| i64::from(group)))
}

/// Pairs as two item numbers each, one after the other.
fn put_pairs(out: &Bound<'_, PyDict>, set: PairSet) -> PyResult<()> {
    let py = out.py();
    let sides = set.pairs.iter().flat_map(|pair| [i64::from(pair.left), i64::from(pair.right)]);
    out.set_item("pairs", PyArray1::from_vec(py, sides.collect()))?;
    put_items(out, set.items)?;
    let (context, names) = match set.context {
        Some(Context { features, names }) => (Some(parts(py, features)?), Some(names)),
        None => (None, None),
    };
    out.set_item("context", context)?;
    out.set_item("context_names", names)
}

/// Items of which somebody made a ranking.
fn put_ranking<'py>(py: Python<'py>, ranking: Ranking, warnings: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
    let Ranking { items, labels, groups, weights, group_weights } = ranking;
    let out = PyDict::new(py);
    put_items(&out, items)?;
    out.set_item("y", PyArray1::from_vec(py, labels))?;
    out.set_item("words", py.None())?;
    out.set_item("margin", py.None())?;
    put_groups(&out, "qid", Some(&groups))?;
    out.set_item("weight", weights.map(|weights| PyArray1::from_vec(py, weights)))?;
    out.set_item("group_weight", group_weights.map(|weights| PyArray1::from_vec(py, weights)))?;
    out.set_item("warnings", warnings)?;
    Ok(out)
}

/// The items of an ARFF file; the label is the last attribute, unless one is named.
#[pyfunction]
fn load_arff<'py>(
    py: Python<'py>,
    path: PathBuf,
    label: Option<String>,
    drop: Vec<String>,
    precision: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let precision = self::precision(py, precision)?;
    let found = run(py, 0, None, move |_| {
        let target = label.as_deref().map_or(ArffTarget::Last, ArffTarget::Named);
        read_arff(&path)?.without(&drop)?.to_ranking(target, precision)
    })?;
    let warnings = match found.n_incomplete {
        0 => Vec::new(),
        n => vec![format!("left out {n} rows with missing values")],
    };
    put_ranking(py, found.ranking, warnings)
}

/// A part of a fold of LETOR data, as wide as the widest part.
#[pyfunction]
fn load_letor<'py>(
    py: Python<'py>,
    directory: PathBuf,
    fold: usize,
    part: &str,
    precision: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let part = word(py, "part", part, &LetorPart::ALL.map(|part| (part.name(), part)))?;
    let precision = self::precision(py, precision)?;
    let fold = run(py, 0, None, move |_| LetorFolds::read(&directory)?.fold(fold, precision))?;
    let ranking = match part {
        LetorPart::Train => fold.train,
        LetorPart::Validation => fold.validation,
        LetorPart::Test => fold.test,
    };
    put_ranking(py, ranking, Vec::new())
}

/// The names of the published data sets of pairs.
#[pyfunction]
fn published_pairs() -> Vec<&'static str> {
    PAIR_SOURCES.iter().map(|&(name, _)| name).collect()
}

/// The pairs of a data set as it is published, in groups of the way that is named.
#[pyfunction]
fn load_published_pairs<'py>(
    py: Python<'py>,
    name: &str,
    path: PathBuf,
    group: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let read = word(py, "name", name, PAIR_SOURCES)?;
    let found = run(py, 0, None, move |_| {
        let mut found = read(&path)?;
        if let Some(group) = group {
            found.group_by(&group)?;
        }
        Ok(found)
    })?;
    let out = PyDict::new(py);
    match found.grouping() {
        Some(grouping) => {
            let names: Vec<&str> = grouping.names.iter().map(String::as_str).collect();
            put_names(&out, "group", &names, &grouping.numbers)?;
        }
        None => out.set_item("group", py.None())?,
    }
    out.set_item("warnings", found.warnings())?;
    let Comparisons { set, outcomes, weights, .. } = found.comparisons;
    put_pairs(&out, set)?;
    out.set_item("y", signs(py, &outcomes))?;
    out.set_item("weight", weights.map(|weights| PyArray1::from_vec(py, weights)))?;
    out.set_item("time", found.times)?;
    Ok(out)
}

/// Writes items, complete or not at all; returns what got lost.
#[pyfunction]
#[pyo3(signature = (path, format, items, labels, groups=None, weights=None, ids=None))]
#[expect(clippy::too_many_arguments, reason = "all by name, from one place")]
fn save_items(
    py: Python<'_>,
    path: PathBuf,
    format: &str,
    items: &Items,
    labels: numpy::PyReadonlyArray1<'_, f64>,
    groups: Option<&Groups>,
    weights: Option<numpy::PyReadonlyArray1<'_, f64>>,
    ids: Option<Vec<String>>,
) -> PyResult<Vec<String>> {
    let format = word(py, "format", format, &Format::WORDS)?;
    let (features, names) = (items.items.features.clone(), items.items.feature_names.clone());
    let labels = labels.as_slice()?.to_vec();
    let (groups, weights) = (groups.map(|groups| groups.groups.clone()), reals(weights)?);
    run(py, 0, None, move |_| -> Result<Vec<String>> {
        let mut ranking = Ranking::new(data::Items::new(features, names, ids)?, labels, groups)?;
        if let Some(weights) = weights {
            ranking = ranking.with_weights(weights)?;
        }
        let how = Conversion { format: Some(format), precision: Precision::F64, ..Conversion::default() };
        Ok(io::convert_ranking(&ranking, "X", &path, &how)?.warnings)
    })
}
