//! Options that say where the data are.

use clap::Args;
use rankwise::io::{Format, IndexBase};

use super::choice;

/// Pairs, and the items they are made of.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Compared pairs, .csv or .tsv (also .gz, .xz, .zst): columns left, right (item ids) and outcome, or left.NAME and
    /// right.NAME (features of the sides) and outcome; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<String>,
    /// Features of the items, one row each, found by their id
    #[arg(long, value_name = "FILE", requires = "pairs")]
    pub(crate) items: Option<String>,
    /// Column of the ids of the left sides: home, white, model_a [default: left]
    #[arg(long, value_name = "COL", requires = "pairs")]
    pub(crate) left: Option<String>,
    /// Column of the ids of the right sides: away, black, model_b [default: right]
    #[arg(long, value_name = "COL", requires = "pairs")]
    pub(crate) right: Option<String>,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
}

/// Columns with a meaning of their own.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct ColumnArgs {
    /// Column of item ids [default: id]
    #[arg(long, value_name = "COL")]
    pub(crate) id: Option<String>,
    /// Column of groups [default: group; in a file of items qid]
    #[arg(long, value_name = "COL")]
    pub(crate) group: Option<String>,
    /// Column of weights [default: weight]
    #[arg(long, value_name = "COL")]
    pub(crate) weight: Option<String>,
    /// Column of outcomes [default: outcome or winner]; in a file of items, of labels [default: label]
    #[arg(long, value_name = "COL")]
    pub(crate) label: Option<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// What stands between the columns of a table: one character, such as ';', or the word tab [default: a comma in .csv, a
    /// tab in .tsv]
    #[arg(long, value_name = "CHAR", value_parser = choice::separator)]
    pub(crate) separator: Option<u8>,
    /// Index of the first feature in items of SVMlight's format [default: 1]
    #[arg(long, value_name = "BASE", value_parser = choice::index_base())]
    pub(crate) index_base: Option<IndexBase>,
}

/// What a model is given that it has no use for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct ExtraArg {
    /// Items of SVMlight's format: read over features beyond those of the model
    #[arg(long, conflicts_with = "pairs")]
    pub(crate) ignore_extra: bool,
}

/// The format of input whose name does not tell.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct FormatArg {
    /// Format of standard input, or of a file whose name does not tell
    #[arg(long = "format", alias = "input-format", value_name = "FORMAT", value_parser = choice::format())]
    pub(crate) format: Option<Format>,
}
