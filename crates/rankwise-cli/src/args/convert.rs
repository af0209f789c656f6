//! Options of `convert`.

use std::path::PathBuf;

use clap::Args;
use rankwise::data::Precision;
use rankwise::io::Format;
use rankwise::io::published::LetorPart;

use super::choice::{self, Published};
use super::data::{ColumnArgs, FormatArg};

/// `convert`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise convert train.letor.gz train.rwb
  rankwise train train.rwb --memory-mb 512 -o model.safetensors
  rankwise convert hotels.csv hotels.rwb --label stars --group city --drop name
  rankwise convert train.rwb train.csv
  rankwise convert housing.arff housing.csv
  rankwise convert --from letor OHSUMED train.svm --fold 1 --part train
  rankwise convert --from sushi sushi3-2016 pairs.csv
  rankwise convert --from arena battles.json.gz pairs.csv --group language

A block file (.rwb) is read without parsing, and a part at a time, so that data larger than memory
can be learnt from. It keeps labels, groups, weights, ids and names; the items of a group stand
together, put there by way of the disk where the input has them apart. Text has every number in
the shortest form that reads back as the same one. The file appears complete or not at all.

--from reads data sets in the form their makers publish them. arff and letor are items; sushi, wmt,
arena, jpeg-ai, chess and football are compared pairs, a table for `train --pairs`. --label names the
target of an ARFF file (its last attribute), --drop leaves attributes out; --group says what pairs
are grouped by. What a data set has that is of no use is left out, and a warning counts it.")]
pub(crate) struct ConvertArgs {
    /// Items: .svm, .svmlight, .letor, .txt, .dat in SVMlight's format, .csv, .tsv (also .gz, .xz, .zst), a block file
    /// .rwb, .arff, or .parquet in a build with it; `-` is standard input. With --from, the file or the directory of that
    /// data set
    #[arg(value_name = "IN")]
    pub(crate) input: String,
    /// The file to write; its extension says the format. `-` is standard output, with --output-format
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// IN is a data set as its makers publish it
    #[arg(long, value_name = "SOURCE", value_parser = choice::published(), help_heading = "Data")]
    pub(crate) from: Option<Published>,
    /// The fold to take, from 1 to 5 (--from letor)
    #[arg(long, value_name = "K", help_heading = "Data")]
    pub(crate) fold: Option<usize>,
    /// The part of the fold to take (--from letor)
    #[arg(long, value_name = "PART", value_parser = choice::letor_part(), help_heading = "Data")]
    pub(crate) part: Option<LetorPart>,
    /// Format of OUT, if its name does not tell
    #[arg(long, value_name = "FORMAT", value_parser = choice::format(), help_heading = "Data")]
    pub(crate) output_format: Option<Format>,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) format: FormatArg,
    /// How features are stored in a block or Parquet file [default: auto]; as text they stay as they are
    #[arg(long, value_parser = choice::precision(), help_heading = "Data")]
    pub(crate) precision: Option<Precision>,
    /// Memory for putting groups together, in MiB [default: 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 30), help_heading = "Effort")]
    pub(crate) memory_mb: Option<u64>,
}
