//! What developers run: `cargo xtask test`, `cargo xtask docs`, `cargo xtask bench NAME`, `cargo xtask reproduction --data DIR`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

mod bench;
mod docs;
mod fuzz;
mod python;
mod reproduction;
mod sanitize;
mod soak;
mod test;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage:
  cargo xtask test                    format, lints, all tests in Rust and in Python, documentation, the site
  cargo xtask docs [--built]          the documentation as a site, in target/site; --built: of what was built before
  cargo xtask bench NAME [ARGS…]      side by side with other tools; names: classes, cluster, comparing, comparing-kernel,
                                      coverage, kernel, ordinal, programs, program-costs, python, tuning,
                                      ranking, ratings, out-of-core
  cargo xtask reproduction --data DIR every study of the papers, and docs/reproduction.md from what they say
  cargo xtask fuzz [--runs N] [TARGET…] N inputs for readers and the model file, or for those named
  cargo xtask soak [--fits N] [--seed S] N small fits of every kind, their certificates computed again
  cargo xtask sanitize                the tests of unsafe code with the address sanitizer";

/// What a task comes back with: what went wrong, in words.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => test::run(),
        ["docs"] => docs::run(),
        ["docs", "--built"] => docs::check(),
        ["reproduction", "--data", data] => reproduction::run(data),
        ["bench", name, rest @ ..] => bench::run(name, rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        ["sanitize"] => sanitize::run(),
        _ => Err(USAGE.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A command run in the workspace's folder.
fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// The cargo that runs this.
fn cargo(args: &[&str]) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()), args)
}

/// The number behind an option.
fn number(option: &str, typed: Option<&&str>) -> Result<u64, String> {
    let number = typed.and_then(|typed| typed.parse().ok());
    number.ok_or_else(|| format!("{option} {}: expected a whole number", typed.unwrap_or(&"")))
}

/// Runs a step and says which one failed.
fn step(name: &str, command: &mut Command) -> Outcome {
    println!("== {name}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} failed ({status})")),
        Err(e) => Err(format!("{name} could not be started: {e}")),
    }
}
