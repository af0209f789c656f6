//! What is known of a model's training, saved with it. No times and no thread counts: the same input gives the
//! same bytes.

use super::{OnlineTraining, ProgramTraining, SvmTraining, Tuning};
use crate::data::{Comparisons, Outcome, Scale};
use crate::kernel::{Approx, KernelFunction};
use crate::loss::Loss;
use crate::progress::Stop;

/// A method a user can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// The support vector comparison machine.
    Compare,
    /// Ranking SVM on the non-ties, then a threshold.
    Rank,
    /// Ranking SVM that sees a tie as two opposite pairs, then a threshold.
    Rank2,
    /// Davidson's model: left, tie and right in proportions of the scores.
    Davidson,
    /// The structural machine that minimises swapped pairs.
    Swap,
    /// Least squares on the labels themselves, with a penalty on the weights.
    Ridge,
    /// Subgradient steps on random pairs or groups of items, or on random items of several classes.
    Online,
    /// The support vector classifier of two or more classes.
    Classify,
    /// Support vector regression within a tube.
    Regress,
    /// Support vector ordinal regression: grades between thresholds.
    Ordinal,
    /// The comparison machine as a linear program.
    CompareLp,
    /// The Ranking Vector Machine.
    Rvm,
    /// The 1-norm ranking SVM.
    RankL1,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 13] = [
        Method::Compare,
        Method::Rank,
        Method::Rank2,
        Method::Davidson,
        Method::Swap,
        Method::Ridge,
        Method::Online,
        Method::Classify,
        Method::Regress,
        Method::Ordinal,
        Method::CompareLp,
        Method::Rvm,
        Method::RankL1,
    ];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Method::Compare => "compare",
            Method::Rank => "rank",
            Method::Rank2 => "rank2",
            Method::Davidson => "davidson",
            Method::Swap => "swap",
            Method::Ridge => "ridge",
            Method::Online => "online",
            Method::Classify => "classify",
            Method::Regress => "regress",
            Method::Ordinal => "ordinal",
            Method::CompareLp => "compare-lp",
            Method::Rvm => "rvm",
            Method::RankL1 => "rank-l1",
        }
    }

    /// Whether it learns from items alone, and not from judged pairs.
    pub fn is_of_items(self) -> bool {
        use Method::{Classify, Ordinal, RankL1, Regress, Ridge, Rvm, Swap};
        matches!(self, Swap | Ridge | Classify | Regress | Ordinal | Rvm | RankL1)
    }
}

/// Where a comparer's threshold comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdRule {
    /// The minimiser of the zero-one error, on training margins (linear) or cross-fitted ones (kernels).
    #[default]
    Refit,
    /// The machine's own: 1 on scores −u/β.
    Model,
}

/// Whether the machine may decide that there is no region of ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieRegion {
    /// β is free.
    #[default]
    Free,
    /// β ≤ −1.
    Always,
}

/// Whether the tie region is the same for all pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieBandKind {
    /// One threshold.
    #[default]
    Constant,
    /// A function of the pair: of the mean of both sides, their absolute difference, and the comparison's own columns.
    Pair,
}

/// How pairs are weighted against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Balance {
    /// As the data say.
    #[default]
    None,
    /// Judged pairs: ties are weighted so that Σc(non-ties) = 2·Σc(ties).
    Outcomes,
    /// Items: the pairs of every group of weight 1 weigh 1 together.
    Groups,
}

/// What a model has learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearntFrom {
    /// Judged pairs.
    #[default]
    Pairs,
    /// Items with labels, in groups.
    Items,
    /// Items with labels, and judged pairs of them.
    Both,
}

/// Shares of ties on the training pairs.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TieShare {
    /// What was judged.
    #[serde(with = "super::number")]
    pub observed: f64,
    /// What the model predicts.
    #[serde(with = "super::number")]
    pub predicted: f64,
}

impl TieShare {
    /// By weight, where `is_tie` says what is predicted of each pair.
    pub(crate) fn of(data: &Comparisons, is_tie: impl Fn(usize) -> bool) -> Self {
        let all: f64 = (0..data.n_pairs()).map(|k| data.weight(k)).sum();
        let share = |is_tie: &dyn Fn(usize) -> bool| {
            // + 0: an empty sum is −0
            (0..data.n_pairs()).filter(|&k| is_tie(k)).map(|k| data.weight(k)).sum::<f64>() / all + 0.0
        };
        TieShare { observed: share(&|k| data.outcomes[k] == Outcome::Tie), predicted: share(&is_tie) }
    }
}

/// What is known of a training run.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Training {
    /// The method.
    pub method: Method,
    /// What the data were.
    #[serde(default)]
    pub learnt_from: LearntFrom,
    /// The loss.
    pub loss: Loss,
    /// The kernel, γ resolved.
    pub kernel: KernelFunction,
    /// What stood for the kernel's functions; `None`: nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approx: Option<Approx>,
    /// C, which multiplies the sum of weighted losses.
    #[serde(with = "super::number")]
    pub c: f64,
    /// The relative duality gap asked for.
    #[serde(with = "super::number")]
    pub tol: f64,
    /// The seed.
    pub seed: u64,
    /// Where the threshold comes from.
    pub threshold_rule: ThresholdRule,
    /// Whether β was capped.
    pub tie_region: TieRegion,
    /// Whether the tie region depends on the pair.
    #[serde(default)]
    pub tie_band: TieBandKind,
    /// τ of Rao and Kupper or ν of Davidson, where it is the same for all pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie_parameter: Option<f64>,
    /// What the ties' weights were multiplied with.
    #[serde(with = "super::number")]
    pub tie_weight: f64,
    /// How outcomes were balanced.
    pub balance: Balance,
    /// The scaling of features.
    pub scale: Scale,
    /// Unique items.
    pub items: usize,
    /// Features.
    pub features: usize,
    /// Groups, where the data have groups; of items, those that have pairs.
    pub groups: Option<usize>,
    /// Groups of items without a pair: all labels the same.
    #[serde(default)]
    pub groups_dropped: usize,
    /// Pairs with a weight above 0.
    pub pairs: usize,
    /// Of these, ties; 0 for items, of which only pairs with different labels count.
    pub ties: usize,
    /// The primal value at the model; NaN where nobody computed it, see [`Training::known_objective`].
    #[serde(with = "super::number")]
    pub objective: f64,
    /// (primal − dual)/max(primal, 1e-12); NaN where nobody computed it, see [`Training::known_gap`].
    #[serde(with = "super::number")]
    pub gap: f64,
    /// What the gap is.
    pub certificate: String,
    /// Steps of the solver.
    pub iterations: u64,
    /// Why the solver stopped.
    pub stop: Stop,
    /// Items with a nonzero coefficient; `None` for linear models.
    pub support: Option<usize>,
    /// What the support items are called, in the order of the model's, where the data have ids: of equal items the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support_names: Option<Vec<String>>,
    /// Distinct pairs with a nonzero coefficient.
    pub support_pairs: usize,
    /// The constant answer is the optimum of the hinge.
    pub collapsed: bool,
    /// Observed and predicted shares of ties.
    pub tie_share: TieShare,
    /// With C = ∞, the least lead of a better item over a worse one for weights of norm 1; of a classifier or a regression,
    /// 1/‖w‖; of a comparison machine −1/β, the least distance of a pair's |margin| from the threshold 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// With C = ∞ on pairs with ties: the least slack of a row of the linear program that maximises the margin, at −u/β and
    /// −1/β, which are feasible there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lp_slack: Option<f64>,
    /// Losses were divided by the number of pairs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub normalise: bool,
    /// Partners that were drawn for each item; `None`: all pairs count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_per_item: Option<usize>,
    /// How random steps were made, by [`Method::Online`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online: Option<OnlineTraining>,
    /// What only [`Method::Classify`], [`Method::Regress`] and [`Method::Ordinal`] have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub svm: Option<SvmTraining>,
    /// What only linear programs have: [`Method::CompareLp`], [`Method::Rvm`], [`Method::RankL1`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramTraining>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// The search that chose C, kernel and loss, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
}

impl Training {
    /// The primal value at the model, where it was computed: a stream is not read again for it unless that is asked for.
    pub fn known_objective(&self) -> Option<f64> {
        Some(self.objective).filter(|value| !value.is_nan())
    }

    /// The relative duality gap, where it was computed.
    pub fn known_gap(&self) -> Option<f64> {
        Some(self.gap).filter(|gap| !gap.is_nan())
    }
}
