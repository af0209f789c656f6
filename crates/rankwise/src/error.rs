//! One error type for the whole library: every variant carries the facts, and its message says where, what was
//! found, what was expected and what to do.

use std::fmt;
use std::path::PathBuf;

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a source of data something was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file as the user named it, or `standard input`.
    pub source: String,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Column of the table, counted from 1, and its name.
    pub column: Option<(usize, String)>,
}

impl Place {
    /// A whole file.
    pub fn file(source: impl Into<String>) -> Self {
        Place { source: source.into(), line: None, column: None }
    }

    /// A line of a file.
    pub fn line(source: impl Into<String>, line: u64) -> Self {
        Place { source: source.into(), line: Some(line), column: None }
    }

    /// The same place, narrowed to a column (counted from 1).
    pub fn column(mut self, number: usize, name: impl Into<String>) -> Self {
        self.column = Some((number, name.into()));
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        match &self.column {
            Some((number, name)) if name.is_empty() => write!(f, ", column {number}"),
            Some((number, name)) => write!(f, ", column {number} ({name})"),
            None => Ok(()),
        }
    }
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to open, read or write a file.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// The file as the user named it.
        path: PathBuf,
        /// What was tried: `open`, `read`, `write`.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A data file is at fault.
    #[error("{place}: {problem}; {remedy}")]
    Data {
        /// Where it was found.
        place: Place,
        /// What was found, and what was expected instead.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// A model file cannot be used.
    #[error("{path}: {problem}; {remedy}", path = path.display())]
    ModelFile {
        /// The model file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// The model and the data do not fit together.
    #[error("model and data do not fit: {problem}; {remedy}")]
    Mismatch {
        /// What differs.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// A parameter is out of its range.
    #[error("{name} = {value} is not possible: expected {expected}")]
    Parameter {
        /// The parameter's name, the same in Rust, shell and Python.
        name: &'static str,
        /// What was given.
        value: String,
        /// What would be accepted.
        expected: String,
    },
    /// Two options that cannot be had together, or one that does not exist yet.
    #[error("{problem}; {remedy}")]
    Unsupported {
        /// What was asked.
        problem: String,
        /// What to ask instead.
        remedy: String,
    },
    /// A hard margin was asked for where there is none.
    #[error("{problem}; {remedy}")]
    NotRankable {
        /// What was found.
        problem: String,
        /// What the user can do about it.
        remedy: String,
        /// Items in groups that have pairs.
        items: usize,
        /// Groups that have pairs.
        groups: usize,
        /// Groups without a pair.
        groups_dropped: usize,
        /// Pairs of different labels.
        pairs: usize,
    },
    /// A hard margin between classes, or a hard tube around labels, was asked for where there is none.
    #[error("{problem}; {remedy}")]
    NotSeparable {
        /// What was found.
        problem: String,
        /// What the user can do about it.
        remedy: String,
        /// Items with a weight above 0.
        items: usize,
    },
    /// The caller asked to stop before there was a result.
    #[error("interrupted")]
    Interrupted,
    /// A search over parameters ended without a single point to choose.
    #[error("{problem}; {remedy}")]
    Search {
        /// Why there is none.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// Numbers left the range of floating point.
    #[error("{problem}; {remedy}")]
    Numeric {
        /// What overflowed, and where.
        problem: String,
        /// What the user can do about it.
        remedy: String,
    },
}

impl Error {
    /// A data error in one line.
    pub fn data(place: Place, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Data { place, problem: problem.into(), remedy: remedy.into() }
    }

    /// A parameter error in one line.
    pub fn parameter(name: &'static str, value: impl fmt::Display, expected: impl Into<String>) -> Self {
        Error::Parameter { name, value: value.to_string(), expected: expected.into() }
    }

    /// Whether the request was wrong (as opposed to the data or the run): exit status 2 of the program.
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Parameter { .. } | Error::Unsupported { .. })
    }
}
