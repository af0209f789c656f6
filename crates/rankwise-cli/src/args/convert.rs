//! Options of `convert`.

use std::path::PathBuf;

use clap::Args;
use rankwise::data::Precision;
use rankwise::io::Format;

use super::choice;
use super::data::{ColumnArgs, FormatArg};

/// `convert`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise convert train.letor.gz train.rwb
  rankwise train train.rwb --memory-mb 512 -o model.safetensors
  rankwise convert hotels.csv hotels.rwb --label stars --group city --drop name
  rankwise convert train.rwb train.csv

A block file (.rwb) is read without parsing, and a part at a time, so that data larger than memory
can be learnt from. It keeps labels, groups, weights, ids and names; the items of a group stand
together, put there by way of the disk where the input has them apart. Text has every number in
the shortest form that reads back as the same one. The file appears complete or not at all.")]
pub(crate) struct ConvertArgs {
    /// Items: .svm, .svmlight, .letor, .txt, .dat in SVMlight's format, .csv, .tsv (also .gz, .xz, .zst), a block file
    /// .rwb, or .parquet in a build with it; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: String,
    /// The file to write; its extension says the format. `-` is standard output, with --output-format
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Format of OUT, if its name does not tell
    #[arg(long, value_name = "FORMAT", value_parser = choice::format(), help_heading = "Data")]
    pub(crate) output_format: Option<Format>,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) format: FormatArg,
    /// How features are stored in a block file
    #[arg(long, default_value = "auto", value_parser = choice::precision(), help_heading = "Data")]
    pub(crate) precision: Precision,
    /// Memory for putting groups together, in MiB
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=1 << 30), help_heading = "Effort")]
    pub(crate) memory_mb: u64,
}
