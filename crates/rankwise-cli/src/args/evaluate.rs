//! Options of `evaluate`.

use std::path::PathBuf;

use clap::Args;
use rankwise::io::Queries;

use super::choice::{self, Intervals};
use super::data::{DataArgs, ExtraArg, FormatArg};

/// `evaluate`
#[derive(Debug, Args)]
#[command(
    override_usage = "rankwise evaluate [OPTIONS] <MODEL> <DATA>
       rankwise evaluate [OPTIONS] <MODEL> --pairs <FILE>
       rankwise evaluate [OPTIONS] --qrels <FILE> --run <FILE>",
    after_help = "\
Example:
  rankwise evaluate model.safetensors test.letor
  rankwise evaluate model.safetensors test.letor --metric ndcg@10,map --ci
  rankwise evaluate model.safetensors test.letor --compare old.safetensors
  rankwise evaluate model.safetensors --pairs test.csv --metric zero_one,auc --json
  rankwise evaluate --qrels judgments.txt --run run.trec --metric ndcg@10:trec

Metrics of items (K a number of ranks; all but the first three are means over groups):
pair_accuracy  share of the pairs of different labels that are in order
swapped_pairs  1 − pair_accuracy (less is better)
concordance    pair_accuracy with ½ for equal scores
kendall_tau, kendall_tau_a, spearman   correlations of ranks
ndcg@K, ndcg   gain 2^label − 1, discount 1/log₂(1 + rank); ndcg@10:sklearn, :lightgbm, :xgboost,
               :letor, :trec count as those tools do
map, mrr, precision@K, err@K           relevant is label ≥ 1, with map:rel=2 label ≥ 2

Metrics of classifiers and regressions:
zero_one, accuracy   shares of items in the wrong and in the right class
mae, rmse, r2        of values (mae also of classes that are numbers): mean absolute error, root of the
                     mean squared error, share of the variance that is explained
log_loss, brier      of probabilities of classes
confusion            true classes by predicted classes

Metrics of pairs:
zero_one       share of pairs whose predicted outcome is wrong (less is better)
auc            area under the curve drawn by moving the threshold
auc_baseline   the same for a constant prediction
pair_accuracy  share of the non-ties whose margin has the right sign
log_loss       mean of −log P(judged outcome), for models with probabilities (less is better)
brier          squared distance of the probabilities from what was judged (less is better)
confusion      judged outcomes by predicted outcomes"
)]
pub(crate) struct EvaluateArgs {
    /// A model file
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// Items with labels, .svm, .svmlight, .letor, .txt, .dat in SVMlight's format, or .csv, .tsv (also .gz, .xz, .zst); `-`
    /// is standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: Option<String>,
    /// What to measure [default: what is usual for the data]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Bootstrap intervals: of items over groups, of pairs over pairs, or over groups where they have some; the share of
    /// cases in which they should hold what is true (0.95 if none is given), or `none`
    #[arg(
        long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.95",
        value_parser = Intervals::parse
    )]
    pub(crate) ci: Option<Intervals>,
    /// Items: another model on the same data (with --run: another run), the difference, its interval, and the p-value of
    /// a paired randomisation test over groups
    #[arg(long, value_name = "MODEL2")]
    pub(crate) compare: Option<PathBuf>,
    /// Items: write the metrics of every group as csv
    #[arg(long, value_name = "FILE")]
    pub(crate) per_group: Option<PathBuf>,
    /// Pairs: write the points of the ROC curve as csv
    #[arg(long, value_name = "FILE")]
    pub(crate) roc: Option<PathBuf>,
    /// Judgments of search results: lines `qid iteration document label`
    #[arg(long, value_name = "FILE", help_heading = "Search results")]
    pub(crate) qrels: Option<PathBuf>,
    /// What a search engine found: lines `qid Q0 document rank score tag`; scores make the order
    #[arg(long, value_name = "FILE", help_heading = "Search results")]
    pub(crate) run: Option<PathBuf>,
    /// Which queries count: both, those in the judgments and in the run; judged, all in the judgments [default: both]
    #[arg(long, value_name = "WHICH", value_parser = choice::queries(), help_heading = "Search results")]
    pub(crate) queries: Option<Queries>,
    #[command(flatten)]
    pub(crate) source: DataArgs,
    #[command(flatten)]
    pub(crate) extra: ExtraArg,
    #[command(flatten)]
    pub(crate) format: FormatArg,
}
