//! The only place that prints: results on standard output as text or as one JSON object, everything else on standard
//! error. A reader that closes the pipe ends the program quietly.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::args::Common;
use crate::exit::{Failure, Run, Status};
use crate::interrupt::Shield;

/// How the user wants to be told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    is_json: bool,
    is_quiet: bool,
    is_verbose: bool,
}

impl Output {
    /// As the common options say.
    pub(crate) fn new(common: &Common) -> Self {
        Output { is_json: common.json, is_quiet: common.quiet, is_verbose: common.verbose }
    }

    /// Whether results are JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Whether there is anybody to hear a summary.
    pub(crate) fn shows_summary(&self) -> bool {
        self.is_json || !self.is_quiet
    }

    /// Whether progress may be shown.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.is_quiet
    }

    /// What the command was run for: always printed, as JSON or as text.
    pub(crate) fn result<J: Serialize>(&self, json: impl FnOnce() -> J, text: impl FnOnce() -> String) -> Run<()> {
        let printed = if self.is_json {
            let json = serde_json::to_string(&json()).map_err(|error| Failure::Fault(format!("JSON: {error}")))?;
            json + "\n"
        } else {
            text()
        };
        self.raw(printed.as_bytes())
    }

    /// What is good to know beside the result: left out with `--quiet`, printed as JSON all the same.
    pub(crate) fn summary<J: Serialize>(&self, json: impl FnOnce() -> J, text: impl FnOnce() -> String) -> Run<()> {
        if self.shows_summary() { self.result(json, text) } else { Ok(()) }
    }

    /// Bytes on standard output.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Run<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| Failure::of_stdout(&error))
    }

    /// An answer that leaves no file behind, on standard error: heard even by those who want results alone.
    pub(crate) fn verdict(&self, text: &str) {
        tell(text);
    }

    /// A warning on standard error.
    pub(crate) fn warning(&self, text: &str) {
        if !self.is_quiet {
            tell(&format!("warning: {text}"));
        }
    }

    /// What is going on, for those who asked with `--verbose`.
    pub(crate) fn note(&self, text: impl FnOnce() -> String) {
        if self.is_verbose {
            tell(&text());
        }
    }

    /// Says why the command did not finish, and how the program ends.
    pub(crate) fn failure(&self, failure: &Failure) -> Status {
        match failure {
            Failure::ClosedPipe => {}
            Failure::Interrupted => interrupted(),
            _ => tell(&format!("error: {failure}")),
        }
        failure.status()
    }
}

/// Ctrl-C was heard.
pub(crate) fn interrupted() {
    tell("interrupted");
}

/// Prints help, the version, or what is wrong with what was typed.
pub(crate) fn answer_of_parser(answer: &clap::Error) -> Status {
    // Nobody is left to hear that the terminal is gone.
    let _ = answer.print();
    if answer.use_stderr() { Status::Usage } else { Status::Done }
}

fn tell(text: &str) {
    // Nobody is left to hear that standard error is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a whole file, or leaves what was there.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Run<()> {
    let _shield = Shield::up();
    Ok(rankwise::io::write_atomically(path, |out| out.write_all(bytes))?)
}
