//! `completions`: what a shell needs to complete our options.

use clap::CommandFactory;
use serde_json::json;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::Run;
use crate::output::Output;

/// Prints the script.
pub(super) fn run(args: &CompletionsArgs, output: &Output) -> Run<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rankwise", &mut script);
    if output.is_json() {
        let script = String::from_utf8_lossy(&script);
        return output.result(|| json!({ "shell": args.shell.to_string(), "script": script }), String::new);
    }
    output.raw(&script)
}
