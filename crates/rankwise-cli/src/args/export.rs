//! Options of `export`.

use std::path::PathBuf;

use clap::Args;
use rankwise::export::{Dialect, Target};

use super::choice;

/// `export`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise export model.safetensors -o model.onnx
  rankwise export ranker.safetensors --to solr --name hotels --store searches -o hotels.json
  rankwise export ranker.safetensors --to sql
  rankwise export classifier.safetensors --to libsvm -o classifier.model

onnx writes every model with core operators in f64: scores are those of predict. onnx-ml has f32 and
the operators of ai.onnx.ml. solr, elasticsearch, opensearch, sql and json are for linear models,
liblinear for linear ones and classes told apart one-vs-rest, libsvm for kernels without a scaling
and classes told apart one-vs-one. Scalings are folded into weights. What another program cannot
hold is refused, with what to do instead; what it does not know is said. The file appears complete
or not at all; text goes to standard output where no file is named.")]
pub(crate) struct ExportArgs {
    /// A model file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Who is to read it [default: by the ending of the file: .onnx, .sql, .json]
    #[arg(long, value_name = "TARGET", value_parser = choice::target())]
    pub(crate) to: Option<Target>,
    /// Where to write [default: standard output, for text]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What a search engine calls the model, or the graph of ONNX [default: rankwise]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The feature store of Solr [default: Solr's own]
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// How a database wants names quoted [default: ansi]
    #[arg(long, value_parser = choice::dialect())]
    pub(crate) dialect: Option<Dialect>,
    /// Scores of items instead of what follows from them: outcomes of pairs, classes, grades (onnx, onnx-ml, sql)
    #[arg(long)]
    pub(crate) scores: bool,
}
