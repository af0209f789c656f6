//! `rankwise`: learn to rank and to compare, from the command line.
//!
//! What was typed ([`args`]) becomes what is meant ([`plan`]), one of the [`commands`] does it, [`output`] tells, and
//! the exit status ([`exit`]) says how it went.

mod args;
mod commands;
mod exit;
mod interrupt;
mod output;
mod page;
mod picture;
mod plan;
mod progress;
mod text;

use std::process::ExitCode;

use args::Common;
use exit::{Failure, Run, Status};
use output::Output;

fn main() -> ExitCode {
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(answer) => return output::answer_of_parser(&answer).into(),
    };
    let output = Output::new(&cli.common);
    let ending = prepare(&cli.common).and_then(|()| commands::run(&cli.command, &cli.common, &output));
    match ending {
        Ok(()) => Status::Done,
        Err(failure) => output.failure(&failure),
    }
    .into()
}

/// What has to stand before any command starts: Ctrl-C and the threads.
fn prepare(common: &Common) -> Run<()> {
    interrupt::install()?;
    if common.threads > 0 {
        rayon::ThreadPoolBuilder::new()
            .num_threads(common.threads)
            .build_global()
            .map_err(|error| Failure::Fault(format!("cannot start {} threads: {error}", common.threads)))?;
    }
    Ok(())
}
