//! One file per verb.

mod completions;
mod demo;
mod evaluate;
mod inspect;
mod predict;
mod report;
mod simulate;
mod train;

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use rankwise::Error;

use crate::args::{Command, Common};
use crate::exit::{Failure, Run};
use crate::output::Output;

/// Does what was asked.
pub(crate) fn run(command: &Command, common: &Common, output: &Output) -> Run<()> {
    match command {
        Command::Train(args) => train::run(args, common, output),
        Command::Predict(args) => predict::run(args, output),
        Command::Evaluate(args) => evaluate::run(args, output),
        Command::Inspect(args) => inspect::run(args, output),
        Command::Simulate(args) => simulate::run(args, common, output),
        Command::Demo(args) => demo::run(args, common, output),
        Command::Completions(args) => completions::run(args, output),
    }
}

/// The file to write to; `None` (or `-`) is standard output.
fn target(typed: Option<&PathBuf>) -> Option<&Path> {
    typed.map(PathBuf::as_path).filter(|path| *path != Path::new("-"))
}

/// Makes sure, before the work, that its result can be written.
fn check_writable(path: &Path) -> Run<()> {
    let refused = |source| Err(Error::Io { path: path.into(), action: "write", source }.into());
    match path.metadata() {
        Ok(found) if found.is_dir() => {
            return Err(Failure::Fault(format!("{}: is a directory; name a file", path.display())));
        }
        Ok(found) if found.is_file() => match OpenOptions::new().append(true).open(path) {
            Ok(_) => {}
            Err(source) => return refused(source),
        },
        // Devices and pipes are written to directly.
        Ok(_) => return Ok(()),
        Err(_) => {}
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !directory.is_dir() {
        let (path, directory) = (path.display(), directory.display());
        return Err(Failure::Fault(format!(
            "{path}: cannot write: there is no directory {directory}; create it first"
        )));
    }
    match tempfile::tempfile_in(directory) {
        Ok(_) => Ok(()),
        Err(source) => refused(source),
    }
}
