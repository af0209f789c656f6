//! What was typed. Nothing here knows what it means; that is [`crate::plan`].

pub(crate) mod choice;
mod convert;
mod data;
mod evaluate;
mod export;
mod online;
mod rate;
mod reproduce;
mod svm;
mod tools;
mod train;
mod tune;
mod use_model;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

pub(crate) use choice::{Intervals, KernelName, LabelMetric, MetricName, PredictFormat, Published, SystemName};
pub(crate) use convert::ConvertArgs;
pub(crate) use data::{ColumnArgs, DataArgs};
pub(crate) use evaluate::EvaluateArgs;
pub(crate) use export::ExportArgs;
pub(crate) use rate::RateArgs;
pub(crate) use reproduce::ReproduceArgs;
pub(crate) use svm::SvmArgs;
pub(crate) use tools::{CompletionsArgs, DemoArgs, SimulateArgs};
pub(crate) use train::{KernelArgs, LearnArgs, TrainArgs};
pub(crate) use tune::TuneArgs;
pub(crate) use use_model::{InspectArgs, PredictArgs, ReportArgs};

/// Learn to rank and to compare; ties are data
#[derive(Debug, Parser)]
#[command(
    name = "rankwise",
    version,
    max_term_width = 100,
    after_help = "\
Example:
  rankwise simulate --norm l1 --pairs 400 -o pairs.csv
  rankwise train --pairs pairs.csv --kernel rbf -o model.safetensors
  rankwise evaluate model.safetensors --pairs pairs.csv

  rankwise train train.letor -o ranker.safetensors
  rankwise predict ranker.safetensors test.letor --format csv

Exit status: 0 done, 1 the data or the run is at fault, 2 wrong usage, 130 Ctrl-C."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Reads the command line; help and version come back as an error, too.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    Cli::try_parse_from(with_shares(std::env::args_os()))
}

/// `--ci 0.9` as `--ci=0.9`: what follows `--ci` may also be the next argument of another kind.
fn with_shares(typed: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut is_open = true;
    for argument in typed {
        is_open &= argument != "--";
        let is_share = argument.to_str().is_some_and(|text| choice::Intervals::parse(text).is_ok());
        match all.last_mut().filter(|last| is_open && is_share && **last == "--ci") {
            Some(last) => {
                last.push("=");
                last.push(argument);
            }
            None => all.push(argument),
        }
    }
    all
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn a model from items with labels, or from compared pairs
    Train(Box<TrainArgs>),
    /// Choose C, kernel and loss by what was held out, and learn a model with them
    Tune(Box<TuneArgs>),
    /// Score items, or tell which side of a pair is better
    Predict(PredictArgs),
    /// Measure a model on items with labels or on compared pairs, or a run on its judgments
    Evaluate(Box<EvaluateArgs>),
    /// Write a page with pictures: a model on items with labels or on compared pairs
    Report(ReportArgs),
    /// Rate items by games between them: a leaderboard with intervals
    Rate(Box<RateArgs>),
    /// Items from one format into another; block files for data larger than memory; published data sets
    Convert(Box<ConvertArgs>),
    /// Show what is in a model file
    Inspect(InspectArgs),
    /// A model for another program: ONNX, search engines, LIBLINEAR, LIBSVM, SQL, JSON
    Export(ExportArgs),
    /// Draw pairs from a known ranking function
    Simulate(SimulateArgs),
    /// Compare the methods on simulated pairs with ties
    Demo(DemoArgs),
    /// Do a table or figure of the papers again, our numbers beside theirs
    Reproduce(ReproduceArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
}

/// What every command understands.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Threads to use; 0 means all. Results do not depend on it
    #[arg(long, global = true, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = choice::threads)]
    pub(crate) threads: usize,
    /// Seed of whatever is random
    #[arg(long, global = true, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Print one JSON object on standard output, and nothing else there
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Only results and errors: no summary, no warnings, no progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say on standard error what is going on
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn a_share_after_ci_is_its_value() {
        let shares = |typed: &str| {
            let all = super::with_shares(typed.split(' ').map(std::ffi::OsString::from));
            all.into_iter().map(|text| text.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shares("evaluate m --ci 0.9 d"), "evaluate m --ci=0.9 d");
        assert_eq!(shares("evaluate --ci m d"), "evaluate --ci m d");
        assert_eq!(shares("rate --ci none --pairs 1"), "rate --ci=none --pairs 1");
        assert_eq!(shares("evaluate m -- --ci 0.9"), "evaluate m -- --ci 0.9");
    }

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
