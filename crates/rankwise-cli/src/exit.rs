//! How a run ends: the exit status as a type, and what can keep a command from finishing.

use std::fmt;
use std::io::ErrorKind;
use std::process::ExitCode;

/// What a step of a command gives back.
pub(crate) type Run<T> = Result<T, Failure>;

/// The exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Status {
    /// All is done.
    Done = 0,
    /// The data or the run is at fault.
    Fault = 1,
    /// What was typed is at fault.
    Usage = 2,
    /// Ctrl-C.
    Interrupted = 130,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// Why a command did not finish.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library says why.
    Library(rankwise::Error),
    /// What was typed makes no sense.
    Usage(String),
    /// The run went wrong.
    Fault(String),
    /// The user asked to stop.
    Interrupted,
    /// Whoever read standard output, or another pipe, has seen enough.
    ClosedPipe,
}

impl Failure {
    /// The status the program ends with.
    pub(crate) fn status(&self) -> Status {
        match self {
            Failure::Library(error) if error.is_usage() => Status::Usage,
            Failure::Library(_) | Failure::Fault(_) => Status::Fault,
            Failure::Usage(_) => Status::Usage,
            Failure::Interrupted => Status::Interrupted,
            Failure::ClosedPipe => Status::Done,
        }
    }

    /// An error of standard output; a reader that went away is no error.
    pub(crate) fn of_stdout(error: &std::io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Failure::ClosedPipe
        } else {
            Failure::Fault(format!("standard output: cannot write: {error}"))
        }
    }
}

impl From<rankwise::Error> for Failure {
    /// Whoever reads a pipe that is written to may have seen enough.
    fn from(error: rankwise::Error) -> Self {
        match error {
            rankwise::Error::Io { action: "write", source, .. } if source.kind() == ErrorKind::BrokenPipe => {
                Failure::ClosedPipe
            }
            error => Failure::Library(error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Library(rankwise::Error::Parameter { name, value, expected }) => {
                write!(f, "{} = {value} is not possible: expected {expected}", typed_name(name))
            }
            Failure::Library(error) => error.fmt(f),
            Failure::Usage(text) | Failure::Fault(text) => f.write_str(text),
            Failure::Interrupted => f.write_str("interrupted"),
            Failure::ClosedPipe => f.write_str("standard output was closed"),
        }
    }
}

/// What a parameter of the library is called on the command line, where that is not the same word.
fn typed_name(name: &str) -> &str {
    match name {
        "class_weights" => "--class-weight",
        "cache_mb" => "--cache-mb",
        "pairs_per_item" => "--pairs-per-item",
        name => name,
    }
}
