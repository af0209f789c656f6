//! Options of `train`, most of which `tune` has too.

use std::path::PathBuf;

use clap::Args;
use rankwise::data::{Precision, Scale};
use rankwise::estimator::Effort;
use rankwise::kernel::Gamma;
use rankwise::model::{Balance, CoefficientSign, Method, ThresholdRule, TieBandKind, TieRegion};
use rankwise::{Approx, Loss};

use super::choice::{self, KernelName};
use super::data::{DataArgs, FormatArg};
use super::online::OnlineArgs;
use super::svm::SvmArgs;

/// `train`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise train train.letor -o model.safetensors
  rankwise train large.rwb --memory-mb 512 -o model.safetensors
  rankwise train train.letor --kernel rbf --scale standard -o model.safetensors
  rankwise train many.letor --kernel rbf --approx nystrom:1000 -o model.safetensors
  rankwise train hotels.csv --label stars --group city --scale standard -o model.safetensors
  rankwise train --pairs pairs.csv -o model.safetensors
  rankwise train hotels.csv --pairs judged.csv -o model.safetensors   (labels and pairs of the same items)
  rankwise train --pairs games.csv --items players.csv --scale standard -o model.safetensors
  rankwise train --pairs games.csv --loss logistic --tie-band pair -o model.safetensors
  rankwise train --pairs games.csv --method compare-lp -o model.safetensors   (are they separable?)
  rankwise train train.letor --method rvm --kernel rbf --C 0.01 -o model.safetensors
  rankwise train flowers.csv --method classify --kernel rbf --scale standard -o model.safetensors
  rankwise train prices.csv --method regress --epsilon 0.5 --kernel rbf -o model.safetensors
  rankwise train films.csv --method ordinal --kernel rbf --scale standard -o model.safetensors
  rankwise train many.csv --method classify --kernel rbf --approx nystrom:500 -o model.safetensors
  rankwise train clicks.letor.gz --method online --stream --epochs 3 --C 1e-4 -o model.safetensors

Items have labels (higher is better) and groups (qid) within which they are compared. Objective of
rank on items, over all pairs of one group with label_i > label_j, c = weight_i·weight_j:
  ½‖w‖² + C·Σ c·ℓ(1 − (score_i − score_j))
With --C inf every pair must be in order by 1; items for which that is impossible are told to be
so, and no model is written. swap: ½‖w‖² + C·ξ with one slack for all pairs, by cutting planes; it
equals rank --loss hinge with 4·C. With a kernel both have w and x in its space, whose scores are
Σ a_i·K(x_i, x). ridge: ½‖w‖² + C·Σ c·(label − w·x − b)², whatever the groups.

rvm: Σ|a_i| + C·Σ c·max(0, 1 − (score_i − score_j)), scores Σ a_i·K(x_i, x), of which few a_i are not 0.
rank-l1 has coefficients of pairs instead, Σ a_ij·(K(x_i, x) − K(x_j, x)) with a_ij ≥ 0.

online takes random steps towards the optimum of rank with the hinge, one pair at a time; with --task
classify of ½(‖w‖² + b²) + C·Σ c·max(0, 1 − y·(w·x + b)), y = ±1 for the larger and the smaller label, and
with more labels of the objective of --classes weston-watkins below.

classify: ½‖w‖² + C·Σ c·ℓ(m − y·(w·x + b)), y = ±1 for two classes, m 1 or the column margin; labels may
be words. regress: ½‖w‖² + C·Σ c·ℓ(|label − (w·x + b)| − ε), --loss epsilon or squared-epsilon. Both
have kernels, and with --C inf no slack at all. Their default losses are hinge and epsilon. With
--classes crammer-singer or weston-watkins every class k has a score f_k = w_k·x + b_k:
  ½Σ(‖w_k‖² + b_k²) + C·Σ c·(the largest, or the sum, over k ≠ y of max(0, m − (f_y − f_k)))

ordinal: labels are grades, s = w·x, thresholds b_j in order between neighbouring grades; S_j = 1 for
items above b_j, else −1: ½‖w‖² + C·Σ c·Σ_j ℓ(1 − S_j·(s − b_j)), over all thresholds (implicit) or
those beside the item's grade (explicit). --bins N makes grades of labels that are values.

Objective of compare on pairs, z = margin, non-ties oriented so that z should be positive:
  ½‖u‖² + C·[Σ_non-ties c·ℓ(1 − β − z) + Σ_ties c·(ℓ(1 + β + z) + ℓ(1 + β − z))]
C multiplies the sum of the losses, not their mean. With --tie-band pair, β is a function of the
pair: of the mean of both sides, of their absolute difference, and of the columns pair.NAME.
With --C inf no loss is left: z + β ≥ 1 for non-ties, |z| + β ≤ −1 for ties, or there is no model.

compare-lp without --C: the largest μ with |w·d| ≤ 1 − μ for ties and w·d ≥ 1 + μ for other pairs, d the
better side less the worse; μ ≤ 0 means that no linear function tells the pairs apart, and no model is
written. With --C: ‖a‖₁ + C·[Σ_non-ties c·max(0, 1 − β − z) + Σ_ties c·max(0, 1 + β + |z|)], β ≤ −1, a the
weights of features or, with a kernel, the coefficients of items.

Probabilities of left, tie and right come from compare --loss logistic (Rao and Kupper) and from
davidson, both of which minimise ½‖u‖² − C·Σ c·log P, and with --calibrate from margins of pairs
that were held out.")]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
    /// The longest time to train [default: no limit]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = "Effort")]
    pub(crate) time_limit: Option<f64>,
    /// Items: memory to use, in MiB; of a block file (.rwb) that needs more, features stay on the disk and are read again and
    /// again [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 30), help_heading = "Effort")]
    pub(crate) memory_mb: Option<u64>,
    /// Items, linear scores: a linear model to start from, such as that of another C; one of online is gone on with
    #[arg(long, value_name = "MODEL", help_heading = "Effort")]
    pub(crate) init: Option<PathBuf>,
    /// swap: divides the number of swapped pairs and what they weigh by the number of pairs
    #[arg(long, help_heading = "Method")]
    pub(crate) normalise: bool,
    #[command(flatten)]
    pub(crate) online: OnlineArgs,
    #[command(flatten)]
    pub(crate) svm: SvmArgs,
}

/// What is learnt, from what, by which method: all that `train` and `tune` have in common.
#[derive(Debug, Args)]
pub(crate) struct LearnArgs {
    /// Items to rank: .svm, .svmlight, .letor, .txt, .dat in SVMlight's format (label qid:N index:value …), or .csv, .tsv
    /// with the columns label, qid and features (also .gz, .xz, .zst), or a block file .rwb (see convert); `-` is standard
    /// input
    #[arg(value_name = "DATA", conflicts_with_all = ["items"])]
    pub(crate) data: Option<String>,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) source: DataArgs,
    #[command(flatten)]
    pub(crate) format: FormatArg,
    /// How dense features are stored; auto: f32 where distinct numbers surely stay distinct, else f64
    #[arg(long, default_value = "auto", value_parser = choice::precision(), help_heading = "Data")]
    pub(crate) precision: Precision,
    /// Scaling of features, learnt from the items and kept in the model
    #[arg(long, default_value = "none", value_parser = choice::scale(), help_heading = "Data")]
    pub(crate) scale: Scale,

    /// rank: ranking SVM, on pairs that are no ties or on items; compare: the machine that learns from ties; rank2: each
    /// tie as two opposite pairs; davidson: a model of probabilities; compare-lp: a linear program, without --C a test whether
    /// pairs are linearly separable; on items also swap: the structural machine of swapped pairs; rvm: the Ranking Vector
    /// Machine, a function of few items; rank-l1: the 1-norm ranking SVM, one of few pairs; ridge: least squares on the labels;
    /// classify: the support vector classifier; regress: support vector regression; ordinal: support vector ordinal
    /// regression, grades between thresholds; online: random steps, for data of any size
    /// [default: rank for items, compare for pairs]
    #[arg(long, value_parser = choice::method(), help_heading = "Method")]
    pub(crate) method: Option<Method>,
    /// Multiplies the sum of the losses: large means closer to the data; inf is a hard margin (train) [default: 1]
    #[arg(long = "C", alias = "c", value_name = "C", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) c: Option<f64>,
    /// The loss of a pair; logistic gives compare probabilities; epsilon and squared-epsilon are for regress [default:
    /// squared-hinge; classify and ordinal hinge; regress epsilon]
    #[arg(long, value_parser = choice::loss(), help_heading = "Method")]
    pub(crate) loss: Option<Loss>,
    /// rank on items: only K random partners of each item make pairs with it [default: all pairs]
    #[arg(long, value_name = "K", help_heading = "Method")]
    pub(crate) pairs_per_item: Option<usize>,
    /// rvm: coefficients of either sign, or nonnegative ones, which cannot reverse a ranking [default: signed]
    #[arg(long, value_name = "SIGN", value_parser = choice::coefficients(), help_heading = "Method")]
    pub(crate) coefficients: Option<CoefficientSign>,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    pub(crate) ties: TieArgs,
    #[command(flatten)]
    pub(crate) effort: EffortArgs,
}

/// The kernel and its parameters.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct KernelArgs {
    /// The kernel on items; on pairs, sigmoid for hinges without tie bands [default: linear]
    #[arg(long, value_parser = choice::kernel())]
    pub(crate) kernel: Option<KernelName>,
    /// Width γ of poly, rbf and sigmoid; scale is 1/(features × variance) [default: scale]
    #[arg(long, value_name = "X|scale", allow_negative_numbers = true, value_parser = choice::gamma)]
    pub(crate) gamma: Option<Gamma>,
    /// Degree of poly [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = choice::degree)]
    pub(crate) degree: Option<u32>,
    /// Constant of poly and sigmoid [default: 0]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) coef0: Option<f64>,
    /// nystrom:M takes the functions that M items span for those of the kernel: less time
    /// and memory for many items, and scores from M items; the gap says how far from the whole kernel that may be [default:
    /// the whole kernel]
    #[arg(long, value_name = "nystrom:M", value_parser = choice::approx)]
    pub(crate) approx: Option<Approx>,
}

/// How ties are treated.
#[derive(Debug, Args)]
#[command(next_help_heading = "Ties")]
pub(crate) struct TieArgs {
    /// compare: refit chooses the difference that does not matter by its error, model keeps the machine's own
    /// [default: refit]
    #[arg(long, value_name = "RULE", value_parser = choice::threshold())]
    pub(crate) threshold: Option<ThresholdRule>,
    /// compare: always forbids the answer that there are no ties [default: free]
    #[arg(long, value_name = "REGION", value_parser = choice::tie_region())]
    pub(crate) tie_region: Option<TieRegion>,
    /// compare and davidson: pair lets the difference that does not matter depend on the pair [default: constant]
    #[arg(long, value_name = "BAND", value_parser = choice::tie_band())]
    pub(crate) tie_band: Option<TieBandKind>,
    /// compare, rank and rank2: probabilities, fitted to margins of pairs that were held out
    #[arg(long)]
    pub(crate) calibrate: bool,
    /// Items: groups makes all groups weigh the same; compare: outcomes makes the non-ties weigh twice the ties
    /// [default: none]
    #[arg(long, value_name = "BALANCE", value_parser = choice::balance())]
    pub(crate) balance: Option<Balance>,
    /// compare and rank2: multiplies the weights of ties [default: 1]
    #[arg(long, value_name = "W", allow_negative_numbers = true)]
    pub(crate) tie_weight: Option<f64>,
}

/// How much work to do.
#[derive(Debug, Args)]
#[command(next_help_heading = "Effort")]
pub(crate) struct EffortArgs {
    /// The relative duality gap at which to stop
    #[arg(long, value_name = "X", default_value_t = 1e-3, allow_negative_numbers = true)]
    pub(crate) tol: f64,
    /// The most iterations to make [default: no limit]
    #[arg(long, value_name = "N")]
    pub(crate) max_iter: Option<u64>,
    /// Memory for kernel values, in MiB; what does not fit is computed again and again [default: 512]
    #[arg(long, value_name = "N")]
    pub(crate) cache_mb: Option<usize>,
}

impl EffortArgs {
    /// Asks for as much of an estimator.
    pub(crate) fn apply_to(&self, effort: &mut Effort) {
        (effort.tol, effort.max_iter) = (self.tol, self.max_iter);
        effort.cache_mb = self.cache_mb.unwrap_or(effort.cache_mb);
    }
}
