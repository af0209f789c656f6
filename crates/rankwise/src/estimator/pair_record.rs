//! What is told of a comparer: the record of its training, and warnings.

use std::collections::HashSet;

use super::pair_solution::{By, Instance};
use super::pairs::{Answer, PairMachine};
use crate::kernel::KernelFunction;
use crate::loss::Loss;
use crate::model::{LearntFrom, Method, ScoreFunction, Scorer, ThresholdRule, TieBandKind, TieShare, Training};
use crate::progress::Stop;

/// What there is to know of the pairs that a machine learnt from.
pub(super) struct Known {
    pub(super) kernel: KernelFunction,
    pub(super) is_approximate: bool,
    pub(super) has_beta: bool,
    pub(super) items: usize,
    pub(super) groups: Option<usize>,
    pub(super) pairs: usize,
    pub(super) ties: usize,
    /// Columns of the comparisons themselves.
    pub(super) context: usize,
}

impl Known {
    pub(super) fn of(instance: &Instance<'_, '_>) -> Self {
        let data = instance.data;
        Known {
            kernel: instance.exact.kernel(),
            is_approximate: instance.space.is_some_and(|space| space.is_approximate()),
            has_beta: instance.has_beta(),
            items: data.set.items.n_items(),
            groups: data.groups.as_ref().map(|groups| groups.iter().collect::<HashSet<_>>().len()),
            pairs: data.n_pairs(),
            ties: data.n_ties(),
            context: data.set.context.as_ref().map_or(0, |context| context.names.len()),
        }
    }
}

impl PairMachine {
    /// What is to be known of the run.
    pub(super) fn record(
        &self,
        known: &Known,
        answer: &Answer<'_>,
        scorer: &Scorer,
        tie_share: TieShare,
        warnings: Vec<String>,
    ) -> Training {
        let solution = &answer.solution;
        let is_compared = self.is_hard() && known.has_beta;
        let certificate = if self.is_hard() {
            "upper minus lower bound of ½‖u‖², relative to the upper one"
        } else if known.is_approximate {
            "relative duality gap of the machine without approximation"
        } else if matches!(solution.by, By::Weights { .. }) {
            "relative duality gap, in f64 from the slopes of the losses, β at its best"
        } else if known.kernel.is_positive_definite() {
            "relative duality gap, in f64 from the dual variables"
        } else {
            "relative duality gap, in f64 from the dual variables; no bound, since the kernel is not positive definite"
        };
        Training {
            method: self.method,
            learnt_from: LearntFrom::Pairs,
            loss: if self.method == Method::Davidson { Loss::Logistic } else { self.loss },
            kernel: known.kernel,
            c: self.c,
            tol: self.effort.tol,
            seed: self.effort.seed,
            threshold_rule: if self.has_likelihood() || is_compared { ThresholdRule::Model } else { self.threshold },
            tie_region: self.tie_region,
            tie_band: self.tie_band,
            tie_parameter: None,
            tie_weight: self.tie_weight,
            balance: self.balance,
            scale: self.scale,
            items: known.items,
            features: scorer.n_features,
            groups: known.groups,
            groups_dropped: 0,
            pairs: known.pairs,
            ties: known.ties,
            objective: solution.objective,
            gap: solution.gap,
            certificate: certificate.into(),
            iterations: solution.iterations(),
            stop: answer.stop,
            support: match &scorer.function {
                ScoreFunction::Linear { .. } | ScoreFunction::Several { .. } => None,
                ScoreFunction::Kernel { coefficients, .. } => Some(coefficients.len()),
                ScoreFunction::Landmarks { map, .. } => Some(map.len()),
            },
            support_names: None,
            support_pairs: solution.n_support_pairs(),
            collapsed: solution.collapsed,
            tie_share,
            margin: match answer.beta {
                _ if !self.is_hard() => None,
                Some(beta) => Some(-1.0 / beta),
                None => Some(1.0 / (2.0 * solution.objective).sqrt()).filter(|margin| margin.is_finite()),
            },
            lp_slack: None,
            normalise: false,
            approx: self.approx,
            pairs_per_item: None,
            online: None,
            svm: None,
            program: None,
            warnings,
            tuning: None,
        }
    }

    /// What the user should know of the answer.
    pub(super) fn warn(&self, known: &Known, answer: &Answer<'_>, warnings: &mut Vec<String>) {
        let Answer { solution, stop, no_tie_region, .. } = answer;
        let n_ties = known.ties;
        if n_ties == known.pairs {
            warnings.push("all pairs are ties: every score is 0 and every pair a tie".into());
        }
        if matches!(self.method, Method::Compare | Method::Davidson) && n_ties == 0 {
            warnings.push(
                "no pair is a tie: trained as `rank` with the same loss; nothing but equal scores will be a tie".into(),
            );
        }
        if self.tie_band == TieBandKind::Constant
            && self.method != Method::Rank
            && self.method != Method::Rank2
            && known.context > 0
        {
            warnings.push(match known.context {
                1 => "the column pair.NAME takes no part: --tie-band pair lets the tie region depend on it".into(),
                n => format!(
                    "the {n} columns pair.NAME take no part: --tie-band pair lets the tie region depend on them"
                ),
            });
        }
        if solution.collapsed {
            warnings.push(
                "the hinge collapsed: on these data the constant answer (all scores equal) is its optimum for every \
                 C; use --loss squared-hinge"
                    .into(),
            );
        } else if solution.is_constant && solution.stop == Stop::Converged && n_ties < known.pairs {
            warnings.push(
                "no function of these landmarks is better than equal scores for all by more than the search can tell; use \
                 --loss squared-hinge, or another kernel"
                    .into(),
            );
        } else if *no_tie_region && n_ties > 0 && self.threshold == ThresholdRule::Model {
            warnings.push(
                "the machine found no region of ties (β ≥ 0) and will call nothing a tie but equal scores; \
                 --threshold refit or --tie-region always gives one"
                    .into(),
            );
        }
        let Some(mut why) = stop.reason() else { return };
        if *stop == Stop::Stalled && !known.kernel.is_positive_definite() {
            why = "no further progress is possible: the kernel is not positive definite on these data";
        }
        let (gap, tol) = (solution.gap, self.effort.tol);
        warnings.push(if solution.stop == Stop::Converged {
            format!("{why} while the threshold was re-fitted; the scores themselves have converged (gap {gap:.1e})")
        } else if solution.is_constant {
            format!("not converged: {why} before anything better than equal scores for all was found")
        } else if gap <= tol {
            format!("not converged: {why} before the answer clearly beat equal scores for all (gap {gap:.1e})")
        } else {
            format!("not converged: {why}; the relative gap is {gap:.1e}, {tol:.0e} was asked for")
        });
    }
}
