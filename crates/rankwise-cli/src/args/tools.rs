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
  rankwise demo --out demo
  rankwise demo --full

Three machines learn from simulated pairs, half of them ties: rank drops the ties, rank2 takes
each as two opposite pairs, compare as a difference that does not matter. Writes the page
rankwise-demo.html. With --full, a few minutes: three ranking functions, up to 800 pairs, and
ties from 10 % to 90 %.

With --seed S, draw t = 0, 1, … of training, validation and test pairs has the seeds S + 3t,
S + 3t + 1 and S + 3t + 2, the same for every method.")]
pub(crate) struct DemoArgs {
    /// Write the page there, and the pairs: train.csv, validation.csv, test.csv [default: the page
    /// alone, in the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// All figures of the simulation in the SVMcompare paper
    #[arg(long)]
    pub(crate) full: bool,
    /// How many draws of the pairs the figures are means of [default: 4, with --full 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) seeds: Option<u32>,
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
