//! Options of `reproduce`.

use std::path::PathBuf;

use clap::Args;

/// `reproduce`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise reproduce --list
  rankwise reproduce svmcompare-fig4 --data ~/data --out figures --quick
  rankwise reproduce rvm-fig7 rvm-fig9 --out figures
  rankwise reproduce all --data ~/data --out figures

Each name is a table or figure of a paper. Writes NAME.csv (every number), NAME.svg (the picture),
NAME.md (paper and ours side by side) and NAME.html (all of it on a page), and keeps what is
computed in a .journal: the same command goes on from there after Ctrl-C, and draws again at once
when all is done. No data come with rankwise; --list says what each study reads, where it comes
from and on what terms.")]
pub(crate) struct ReproduceArgs {
    /// Tables and figures by name; `all` are all
    #[arg(value_name = "NAME", required_unless_present = "list")]
    pub(crate) names: Vec<String>,
    /// Name the tables and figures, and the data that each needs
    #[arg(long, conflicts_with_all = ["names", "data", "out", "quick", "fresh"])]
    pub(crate) list: bool,
    /// The directory with the data sets
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The directory to write to; made if it is not there
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) out: PathBuf,
    /// A small version of the study, in less than a minute
    #[arg(long)]
    pub(crate) quick: bool,
    /// Compute everything anew, whatever the journal has
    #[arg(long)]
    pub(crate) fresh: bool,
}
