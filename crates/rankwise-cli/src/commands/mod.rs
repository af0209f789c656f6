//! One file per verb.

mod band;
mod classified_items;
mod completions;
mod convert;
mod curves;
mod demo;
mod describe;
mod evaluate;
mod export;
mod inspect;
mod pair_trial;
mod predict;
mod ranked_items;
mod rate;
mod report;
mod reproduce;
mod simulate;
mod train;
mod train_items;
mod train_online;
mod train_svm;
mod tune;
mod tuning;

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use rankwise::io::{Columns, ItemTable, PairFiles, PairTable, Source};
use rankwise::model::{ClassVerdicts, Scorer};
use rankwise::{Error, Model, io};

use crate::args::{Command, Common, DataArgs};
use crate::exit::{Failure, Run};
use crate::interrupt::Shield;
use crate::output::Output;

/// Does what was asked.
pub(crate) fn run(command: &Command, common: &Common, output: &Output) -> Run<()> {
    match command {
        Command::Train(args) => train::run(args, common, output),
        Command::Tune(args) => tune::run(args, common, output),
        Command::Predict(args) => predict::run(args, output),
        Command::Evaluate(args) => evaluate::run(args, common, output),
        Command::Rate(args) => rate::run(args, common, output),
        Command::Report(args) => report::run(args, common, output),
        Command::Convert(args) => convert::run(args, output),
        Command::Inspect(args) => inspect::run(args, output),
        Command::Export(args) => export::run(args, output),
        Command::Simulate(args) => simulate::run(args, common, output),
        Command::Demo(args) => demo::run(args, common, output),
        Command::Reproduce(args) => reproduce::run(args, common, output),
        Command::Completions(args) => completions::run(args, output),
    }
}

/// The file to write to; `None` (or `-`) is standard output.
fn target(typed: Option<&PathBuf>) -> Option<&Path> {
    typed.map(PathBuf::as_path).filter(|path| *path != Path::new("-"))
}

/// The tables a command reads, as paths.
fn tables(source: &DataArgs) -> impl Iterator<Item = &Path> {
    [&source.pairs, &source.items].into_iter().flatten().map(|typed| table(typed))
}

/// A table as a path; `-` is whatever standard input comes from.
fn table(typed: &str) -> &Path {
    Path::new(if typed == "-" { "/dev/stdin" } else { typed })
}

/// Whether two paths lead to one file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b && a.is_file())
}

/// Refuses to write over a file that the command reads, by whatever name.
fn check_apart<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Run<()> {
    // Devices and pipes hold nothing that could be lost, and what is not there yet is no input.
    let file = |path: &Path| path.canonicalize().ok().filter(|found| found.is_file());
    let Some(target) = file(output) else { return Ok(()) };
    match inputs.into_iter().find(|input| file(input).as_ref() == Some(&target)) {
        None => Ok(()),
        Some(input) => Err(Failure::Usage(format!(
            "{}: writing there would destroy the input {}; name another file to write",
            output.display(),
            input.display()
        ))),
    }
}

/// Reads pairs, and tells of how they were read.
fn read_pairs(files: &PairFiles, output: &Output) -> Run<PairTable> {
    let table = io::read_pairs(files)?;
    tell(&table.notes, output);
    Ok(table)
}

/// The same of pairs that a model is used on.
fn read_pairs_for(model: &Model, files: &PairFiles, output: &Output) -> Run<PairTable> {
    let table = io::read_pairs_for(files, &model.scorer)?;
    tell(&table.notes, output);
    Ok(table)
}

/// Reads items that a model is used on, and tells of how they were read.
fn read_items_for(model: &Model, source: &Source, columns: &Columns, output: &Output) -> Run<ItemTable> {
    let table = io::read_items_for(source, columns, &model.scorer)?;
    tell(&table.notes, output);
    Ok(table)
}

/// Items with what a model, or each of several, makes of them.
type Scored = (ItemTable, Vec<Result<Vec<f64>, Error>>);

/// The same of items that are scored at once.
fn score_items(scorers: &[&Scorer], source: &Source, columns: &Columns, output: &Output) -> Run<Scored> {
    let scored = io::score_items(source, columns, scorers)?;
    tell(&scored.0.notes, output);
    Ok(scored)
}

/// The same of items that are put into classes at once.
fn classify_items(
    model: &Model,
    source: &Source,
    columns: &Columns,
    output: &Output,
) -> Run<(ItemTable, ClassVerdicts)> {
    let classified = io::classify_items(source, columns, model)?;
    tell(&classified.0.notes, output);
    Ok(classified)
}

/// Tells of how a file was read.
fn tell(notes: &[String], output: &Output) {
    notes.iter().for_each(|note| output.warning(note));
}

/// Writes a model file as a whole.
fn save_model(path: &Path, model: &Model) -> Run<()> {
    let _shield = Shield::up();
    Ok(io::write_model(path, model)?)
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
