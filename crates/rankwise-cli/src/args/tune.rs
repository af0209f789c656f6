//! Options of `tune`.

use std::path::PathBuf;

use clap::Args;

use super::svm::SvmArgs;
use super::train::LearnArgs;

/// `tune`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise tune --pairs pairs.csv -o model.safetensors
  rankwise tune --pairs pairs.csv --kernel rbf --grid C=0.1:1000:5 --grid gamma=scale,0.01:10:4 -o m
  rankwise tune --pairs train.csv --valid valid.csv --grid kernel=linear,rbf --grid C=1,10 -o m
  rankwise tune --pairs games.csv --loss logistic --tie-band pair --metric log_loss -o m
  rankwise tune train.letor --valid vali.letor --metric ndcg@10 -o m
  rankwise tune train.letor --kernel rbf --time-limit 600 -o m
  rankwise tune flowers.csv --method classify --kernel rbf --scale standard -o m
  rankwise tune prices.csv --method regress --kernel rbf --grid C=1:1e4:5 --grid gamma=scale --grid epsilon=0.1,1 -o m

--grid NAME=VALUES, once per name: C, gamma, degree, coef0, epsilon (regress), kernel, loss. Commas
separate values; lo:hi:n stands for n values from lo to hi at equal ratios (for degree: whole numbers
at equal steps; coef0 has no ranges). All combinations are tried; a kernel takes the parameters it has.
Without any --grid: C=0.001:1000:7 and, for rbf, 1/16, 1/4, 1, 4 and 16 times gamma scale.

Rankers of items: without C in the grid, C is k/(weight of all pairs × mean squared difference of two
items of a group, in the kernel's space) for k = 0.1, 1, …, 100000: C multiplies a sum over pairs, so
what suits depends on how many there are.

classify and regress have kernels; without --grid, C of the loss epsilon is C=0.001:1000:7 times the
power of ten nearest to the standard deviation of the labels. Their folds split neither groups (qid)
nor copies of an item, and classes are spread evenly over them; a class that a training part lacks
counts as wrong. Scaling and gamma scale are learnt from each training part.

The best point has the best mean over the folds; among equal ones the smallest C, then the
smallest gamma, then the largest epsilon, then the first. Its model is then trained on all of the data; with --valid
without the validation file, so that its metric is the one shown (for items up to --tol).
--time-limit is for the search: the best of what is complete by then is taken, and that last
training comes after it.")]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) learn: LearnArgs,

    #[command(flatten)]
    pub(crate) svm: SvmArgs,

    /// Values to try of C, gamma, degree, coef0, epsilon, kernel or loss; see below
    #[arg(long, value_name = "NAME=VALUES", help_heading = "Search")]
    pub(crate) grid: Vec<String>,
    /// Measure on each of K folds in turn; groups are never split [default: 5]
    #[arg(long, value_name = "K", conflicts_with = "valid", allow_negative_numbers = true, help_heading = "Search")]
    pub(crate) folds: Option<usize>,
    /// Measure on these pairs instead (their items' features come from --items, too), or on these items
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub(crate) valid: Option<String>,
    /// What to choose by. Pairs: zero_one, auc, pair_accuracy, and of probabilities log_loss or brier [default: zero_one].
    /// Items: pair_accuracy, ndcg@10, map:rel=2 or another metric of ranked items [default: pair_accuracy]. classify: zero_one,
    /// accuracy, mae, and with --probabilities log_loss or brier [default: zero_one]. regress: rmse, mae, r2 [default: rmse]
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    pub(crate) metric: Option<String>,
    /// The longest time to search [default: no limit]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = "Search")]
    pub(crate) time_limit: Option<f64>,
    /// Write every point as csv
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub(crate) table: Option<PathBuf>,
}
