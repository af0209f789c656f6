//! Each variant of the library's error as an exception of its own (`rankwise.exceptions`), in the words of Python.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use rankwise::Error;

/// The exception of an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Interrupted => return PyKeyboardInterrupt::new_err("training was interrupted"),
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => "MissingFileError",
        Error::Io { .. } => "FileError",
        Error::Data { .. } => "DataError",
        Error::ModelFile { .. } => "ModelFileError",
        Error::Mismatch { .. } => "MismatchError",
        Error::Parameter { .. } => "ParameterError",
        Error::Unsupported { .. } => "UnsupportedError",
        Error::NotRankable { .. } => "NotRankableError",
        Error::NotSeparable { .. } => "NotSeparableError",
        Error::Search { .. } => "SearchError",
        Error::Numeric { .. } => "NumericError",
        _ => "RankwiseError",
    };
    let message = match error {
        Error::Parameter { name, value, expected } => {
            format!("{} = {value} is not possible: expected {expected}", argument(name))
        }
        other => other.to_string(),
    };
    let build = || {
        let raised = py.import("rankwise.exceptions")?.getattr(class)?.call1((in_python(&message),))?;
        if let Error::Parameter { name, .. } = error {
            raised.setattr("name", argument(name))?;
        }
        if let Error::Data { place, .. } = error {
            raised.setattr("file", &place.source)?;
            raised.setattr("line", place.line)?;
            raised.setattr("column", place.column.as_ref().map(|&(number, _)| number))?;
        }
        if let Error::Io { source, .. } = error {
            raised.setattr("errno", source.raw_os_error())?;
        }
        Ok::<_, PyErr>(PyErr::from_value(raised))
    };
    build().unwrap_or_else(|failed| failed)
}

/// What an argument of the library is called in Python.
fn argument(name: &str) -> &str {
    match name {
        "features" => "X",
        "labels" | "label" | "outcomes" => "y",
        "groups" => "qid",
        "weights" | "weight" => "sample_weight",
        "group_weights" => "group_weight",
        "class_weights" => "class_weight",
        "margins" => "margin",
        "half-life" => "half_life",
        other => other,
    }
}

/// Words that are values of options.
const VALUES: [&str; 26] = [
    "standard",
    "minmax",
    "none",
    "linear",
    "poly",
    "rbf",
    "sigmoid",
    "hinge",
    "squared-hinge",
    "logistic",
    "epsilon",
    "squared-epsilon",
    "refit",
    "model",
    "pair",
    "group",
    "groups",
    "outcomes",
    "always",
    "free",
    "balanced",
    "ovr",
    "tab",
    "csv",
    "tsv",
    "svmlight",
];

/// Options of the command line are parameters here: `--max-iter` is max_iter, `--scale standard` is scale='standard'.
pub(crate) fn in_python(message: &str) -> String {
    let mut parts = message.split("--");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(part.len());
        let (option, rest) = part.split_at(end);
        if option == "features" {
            text += &format!("--{part}"); // one of cargo's
            continue;
        }
        text += &option.replace('-', "_");
        if rest.starts_with(" '") {
            text += &format!("={}", &rest[1..]);
            continue;
        }
        let value = rest.strip_prefix(' ').map(|rest| {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".-_:".contains(c))).unwrap_or(rest.len());
            rest[..end].trim_end_matches(['.', ':'])
        });
        match value {
            Some(word) if VALUES.contains(&word) => text += &format!("='{word}'"),
            Some(number) if number.parse::<f64>().is_ok() => text += &format!("={number}"),
            _ => {
                text += rest;
                continue;
            }
        }
        text += &rest[1 + value.unwrap_or_default().len()..];
    }
    text
}

/// For `map_err` with a token at hand.
pub(crate) fn raise(py: Python<'_>) -> impl Fn(Error) -> PyErr + '_ {
    move |error| exception(py, &error)
}

/// A fault of rankwise itself, which should never happen.
pub(crate) fn internal(problem: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("internal error of rankwise, please report it: {problem}"))
}
