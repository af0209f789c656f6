//! The only place that prints: results on standard output as text or as one JSON object, everything else on standard
//! error. Names, warnings and the like may come from anywhere, so nothing in them reaches a terminal that would move its
//! cursor or change its colours. A reader that closes the pipe ends the program quietly.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::args::Common;
use crate::exit::{Failure, Run, Status};
use crate::interrupt::Shield;
use crate::text::{one_line, visible};

/// Controls that texts of several lines are made with.
const LAYOUT: &[char] = &['\n', '\t'];

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
            visible(&text(), LAYOUT).into_owned()
        };
        self.raw(printed.as_bytes())
    }

    /// What is good to know beside the result: left out with `--quiet`, printed as JSON all the same.
    pub(crate) fn summary<J: Serialize>(&self, json: impl FnOnce() -> J, text: impl FnOnce() -> String) -> Run<()> {
        if self.shows_summary() { self.result(json, text) } else { Ok(()) }
    }

    /// Bytes on standard output, as they are unless it is a terminal.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Run<()> {
        let mut stdout = io::stdout().lock();
        let shown = if stdout.is_terminal() { for_terminal(bytes) } else { Cow::Borrowed(bytes) };
        stdout.write_all(&shown).and_then(|()| stdout.flush()).map_err(|error| Failure::of_stdout(&error))
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
    let plain = answer.render().to_string();
    match visible(&plain, LAYOUT) {
        // In colours, where there are any; nobody is left to hear that the terminal is gone.
        Cow::Borrowed(_) => drop(answer.print()),
        Cow::Owned(shown) => drop(write!(io::stderr().lock(), "{shown}")),
    }
    if answer.use_stderr() { Status::Usage } else { Status::Done }
}

/// A sentence on standard error, in one line.
fn tell(text: &str) {
    // Nobody is left to hear that standard error is gone.
    let _ = writeln!(io::stderr().lock(), "{}", one_line(text));
}

/// What a terminal is given of bytes that are meant for a file.
fn for_terminal(bytes: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => match visible(text, LAYOUT) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(shown) => Cow::Owned(shown.into_bytes()),
        },
        Cow::Owned(text) => Cow::Owned(visible(&text, LAYOUT).into_owned().into_bytes()),
    }
}

/// Writes a whole file, or leaves what was there.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Run<()> {
    write_files(&[(path.to_path_buf(), bytes)])
}

/// Writes files that belong together: what one of them cannot be written for, keeps all of them from being.
pub(crate) fn write_files<B: AsRef<[u8]>>(files: &[(PathBuf, B)]) -> Run<()> {
    let _shield = Shield::up();
    Ok(rankwise::io::write_together(files)?)
}
