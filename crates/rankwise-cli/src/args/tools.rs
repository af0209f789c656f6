//! Options of the commands that need no model: `simulate`, `demo`, `completions`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use rankwise::data::simulate::Norm;

use super::choice;

/// `simulate`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise simulate --norm l1 --pairs 400 --ties 0.5 --noise 0.25 -o pairs.csv
  rankwise simulate --norm linf --pairs 100 --seed 7 | head

Both sides are uniform in [−3, 3]², the true ranking function is the squared norm, and a pair is
a tie when the noisy difference of the two is at most 1.")]
pub(crate) struct SimulateArgs {
    /// The norm whose square ranks
    #[arg(long, default_value = "l1", value_parser = choice::norm())]
    pub(crate) norm: Norm,
    /// How many pairs
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub(crate) pairs: u32,
    /// The share of ties
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, allow_negative_numbers = true)]
    pub(crate) ties: f64,
    /// Standard deviation of the noise on the difference
    #[arg(long, value_name = "SD", default_value_t = 0.25, allow_negative_numbers = true)]
    pub(crate) noise: f64,
    /// Where to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `demo`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise demo
  rankwise demo --out demo-data")]
pub(crate) struct DemoArgs {
    /// Write train.csv, validation.csv and test.csv there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// `completions`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise completions bash > ~/.local/share/bash-completion/completions/rankwise
  rankwise completions fish > ~/.config/fish/completions/rankwise.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}
