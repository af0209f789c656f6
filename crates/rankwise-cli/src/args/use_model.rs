//! Options of the commands that use a model: `predict`, `report`, `inspect`.

use std::path::PathBuf;

use clap::Args;
use rankwise::io::Format;

use super::choice::{self, PredictFormat};
use super::data::{DataArgs, ExtraArg, FormatArg};

/// `predict`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise predict model.safetensors --pairs new.csv -o predictions.csv
  rankwise predict model.safetensors items.csv --format csv
  rankwise predict model.safetensors test.letor --format trec --top 10 -o run.trec

Pairs give left,right,margin,outcome; margin = score(right) − score(left), and a pair whose
|margin| is at most the model's threshold is a tie. Models with a tie band (train --tie-band pair)
add the threshold of each pair, models with probabilities p_left,p_tie,p_right. Items give a score
a line. Ranks are those within a group: 1 is the best, and in csv equal scores share the smallest
rank. A classifier gives a class a line, in csv beside its scores (one for two classes, else one for
each) and, if it has them, the probabilities of all classes, of which the largest decides.")]
pub(crate) struct PredictArgs {
    /// A model file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Items to score, .csv, .tsv, or .svm, .svmlight, .letor, .txt, .dat in SVMlight's format (also .gz, .xz, .zst), or a
    /// block file .rwb; `-` is standard input
    #[arg(value_name = "DATA", conflicts_with_all = ["pairs", "items"], required_unless_present = "pairs")]
    pub(crate) data: Option<String>,
    /// Where to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// scores: a score a line; csv: id, qid, score and rank (1 is best); trec: a run, `qid Q0 id rank score rankwise`. Pairs
    /// are always csv [default: scores]
    #[arg(long, value_name = "FORMAT", value_parser = choice::predict_format())]
    pub(crate) format: Option<PredictFormat>,
    /// A classifier's scores instead of its classes: of two, one that is below 0 for the first class; else one for each
    #[arg(long)]
    pub(crate) scores: bool,
    /// Items in csv and trec: only the K best of each group, the best first
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) top: Option<u64>,
    #[command(flatten)]
    pub(crate) source: DataArgs,
    #[command(flatten)]
    pub(crate) extra: ExtraArg,
    /// Format of standard input, or of a file whose name does not tell
    #[arg(long, value_name = "FORMAT", value_parser = choice::format(), help_heading = "Data")]
    pub(crate) input_format: Option<Format>,
}

/// `report`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise report model.safetensors test.letor -o report.html
  rankwise report model.safetensors --pairs test.csv -o report.html
  rankwise report model.safetensors --pairs games.csv --items players.csv -o report.html --svg pictures

One page that needs nothing else: metrics, weights or support items. Of pairs also 95 % intervals of
the metrics (bootstrap), confusion, ROC curve, margins, the pairs most wrong, for two features the
level curves; of items in groups also such intervals, how the groups do, and the worst of them; of
classes the confusion, of a regression the errors.")]
pub(crate) struct ReportArgs {
    /// A model file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Items with labels, .svm, .svmlight, .letor, .txt, .dat in SVMlight's format, or .csv, .tsv (also .gz, .xz, .zst), or a
    /// block file .rwb; `-` is standard input
    #[arg(value_name = "DATA", conflicts_with_all = ["pairs", "items"])]
    pub(crate) data: Option<String>,
    /// The page to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Write every picture as an SVG file there, too
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: DataArgs,
    #[command(flatten)]
    pub(crate) extra: ExtraArg,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}

/// `inspect`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise inspect model.safetensors --top 5
  rankwise inspect model.safetensors --json")]
pub(crate) struct InspectArgs {
    /// A model file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// How many weights or support items to show, the largest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
}
