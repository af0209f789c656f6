//! From judged pairs to a comparer: the line that the comparison machine and its baselines share.

use std::collections::HashSet;
use std::time::Instant;

use super::common::{Effort, Fit};
use super::pair_solution::{Instance, Solution, Start};
use crate::data::{Comparisons, Outcome, Scale, Scaler, largest_scale_ratio};
use crate::error::{Error, Place, Result};
use crate::kernel::{ItemRows, Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{
    Balance, LearntFrom, Method, Model, ScoreFunction, Scorer, ThresholdRule, TieBandKind, TieRegion, TieShare,
    Training,
};
use crate::problem::threshold::best_threshold;
use crate::problem::{Exact, Task};
use crate::progress::{Stop, Watch};

/// Everything the three methods can be asked for.
#[derive(Debug, Clone)]
pub(super) struct PairMachine {
    pub(super) method: Method,
    pub(super) c: f64,
    pub(super) kernel: Kernel,
    pub(super) loss: Loss,
    pub(super) threshold: ThresholdRule,
    pub(super) tie_region: TieRegion,
    pub(super) tie_weight: f64,
    pub(super) balance: Balance,
    pub(super) scale: Scale,
    pub(super) effort: Effort,
}

impl PairMachine {
    /// Whether the parameters are within their ranges.
    pub(super) fn check(&self) -> Result<()> {
        if self.c == f64::INFINITY {
            return Err(Error::Unsupported {
                problem: "C = inf asks for a hard margin, which this version does not have".into(),
                remedy: "choose a large finite C, such as 1e6".into(),
            });
        }
        let positive = |name: &'static str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(Error::parameter(name, value, "a finite number above 0"))
            }
        };
        if !Loss::OF_PAIRS.contains(&self.loss) {
            return Err(Error::Unsupported {
                problem: format!("loss {} is not for judged pairs in this version", self.loss.name()),
                remedy: format!("choose {}", Loss::OF_PAIRS.map(Loss::name).join(" or ")),
            });
        }
        positive("C", self.c)?;
        positive("tie_weight", self.tie_weight)?;
        self.kernel.check()?;
        if self.balance == Balance::Outcomes && self.threshold == ThresholdRule::Model {
            return Err(Error::Unsupported {
                problem: "balanced outcomes move the machine's own threshold away from the data's shares".into(),
                remedy: "use the re-fitted threshold with balance outcomes, or no balance".into(),
            });
        }
        self.effort.check()
    }

    pub(super) fn fit(&self, data: &Comparisons, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        let started = Instant::now();
        self.effort.in_pool(|threads| {
            let model = self.fit_here(data, watch, started)?;
            Ok(Fit { model, seconds: started.elapsed().as_secs_f64(), threads })
        })
    }

    fn fit_here(&self, data: &Comparisons, watch: &dyn Watch, started: Instant) -> Result<Model> {
        let present: Vec<usize> = (0..data.n_pairs()).filter(|&k| data.weight(k) > 0.0).collect();
        if present.is_empty() {
            let problem = if data.n_pairs() == 0 { "there is no pair" } else { "every weight is 0" };
            return Err(Error::data(Place::file("pairs"), problem, "give at least one pair with a weight above 0"));
        }
        let mut data = data.select(&present);
        let mut warnings = Vec::new();
        let features = &data.set.items.features;
        if self.scale == Scale::None && !data.set.items.are_indicators && largest_scale_ratio(features) > 100.0 {
            warnings.push("features differ in scale by more than 100×: consider --scale standard".into());
        }
        let scaler = Scaler::learn(self.scale, features);
        if let Some(scaler) = &scaler {
            data.set.items.features = scaler.apply(features)?;
        }
        let kernel = self.kernel.resolve(&data.set.items.features)?;
        let exact = Exact::new(kernel, &[self.loss], &data, data.n_pairs(), &ItemRows::none())?;
        let instance = Instance {
            task: self.task(data.n_ties()),
            loss: self.loss,
            exact: &exact,
            data: &data,
            costs: &self.costs(&data, |_| true),
            limits: self.effort.limits(started, watch),
            cache_bytes: self.effort.cache_mb << 20,
        };
        let answer = self.answer(&instance, Start::default(), true)?;
        self.warn(&instance, &answer, &mut warnings);
        let Answer { solution, beta, unit, no_tie_region, threshold, stop, .. } = answer;
        let scorer = Scorer {
            n_features: data.set.items.features.n_cols(),
            feature_names: data.set.items.feature_names.clone(),
            are_indicators: data.set.items.are_indicators,
            scaler,
            function: solution.score_function(&instance, unit),
        };
        let mut training = self.record(&instance, &solution, &scorer, threshold, warnings);
        training.stop = stop;
        Ok(Model {
            scorer,
            threshold: threshold / unit,
            beta,
            no_tie_region,
            band: None,
            chances: None,
            classes: None,
            state: None,
            training,
        })
    }

    /// Solves, perhaps from where others ended, and finds the threshold if it is wanted.
    pub(super) fn answer<'a>(
        &self,
        instance: &Instance<'a, '_>,
        start: Start<'_>,
        with_threshold: bool,
    ) -> Result<Answer<'a>> {
        let solution = instance.solve(start)?;
        // β < 0: scores are −u/β, so that the machine's own threshold is 1.
        let largest = solution.margins.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
        let beta = solution.beta.map(|b| if b.abs() < 1e-8 * largest { 0.0 } else { b });
        let unit = beta.filter(|&b| b < 0.0).map_or(1.0, |b| -b);
        let no_tie_region = self.method == Method::Compare && beta.is_none_or(|b| b >= 0.0);
        let (mut stop, mut is_exact) = (solution.stop, solution.is_exact);
        let threshold = match self.threshold {
            _ if !with_threshold => 0.0,
            ThresholdRule::Refit => {
                let (threshold, limit, exactly) = self.refitted_threshold(instance, &solution)?;
                stop = limit.unwrap_or(stop);
                is_exact &= exactly;
                threshold
            }
            ThresholdRule::Model if no_tie_region => 0.0,
            ThresholdRule::Model => unit,
        };
        Ok(Answer { solution, beta, unit, no_tie_region, threshold, stop, is_exact })
    }

    /// The threshold with the least error, in units of u: on margins of machines that have not seen the pair where
    /// training margins would flatter; the limit that stopped such a machine, if one did; and whether all are exact.
    fn refitted_threshold(
        &self,
        instance: &Instance<'_, '_>,
        solution: &Solution<'_>,
    ) -> Result<(f64, Option<Stop>, bool)> {
        let data = instance.data;
        let flatters = self.method == Method::Compare && instance.exact.kernel() != KernelFunction::Linear;
        let is_sound = solution.stop == Stop::Converged && !solution.is_constant && instance.n_ties() > 0;
        let held_out =
            if flatters && is_sound { Some(instance.cross_fitted_margins(solution, self.effort.seed)?) } else { None };
        let limit = held_out.as_ref().map(|held_out| held_out.stop).filter(|&stop| stop != Stop::Converged);
        let is_exact = held_out.as_ref().is_none_or(|held_out| held_out.is_exact);
        let margins = held_out.as_ref().map_or(&solution.margins, |held_out| &held_out.margins);
        let learnt: Vec<usize> = (0..data.n_pairs()).filter(|&k| instance.costs[k] > 0.0).collect();
        let outcomes: Vec<Outcome> = learnt.iter().map(|&k| data.outcomes[k]).collect();
        let margins: Vec<f64> = learnt.iter().map(|&k| margins[k]).collect();
        Ok((best_threshold(&outcomes, &margins, |at| data.weight(learnt[at])), limit, is_exact))
    }

    /// What is to be known of the run; `threshold` in units of u.
    fn record(
        &self,
        instance: &Instance<'_, '_>,
        solution: &Solution<'_>,
        scorer: &Scorer,
        threshold: f64,
        warnings: Vec<String>,
    ) -> Training {
        let data = instance.data;
        let share = |is_tie: &dyn Fn(usize) -> bool| {
            let weight = |k: usize| data.weight(k);
            let all: f64 = (0..data.n_pairs()).map(weight).sum();
            // + 0: an empty sum is −0
            (0..data.n_pairs()).filter(|&k| is_tie(k)).map(weight).sum::<f64>() / all + 0.0
        };
        let certificate = if instance.exact.kernel().is_positive_definite() {
            "relative duality gap, in f64 from the dual variables"
        } else {
            "relative duality gap, in f64 from the dual variables; no bound, since the kernel is not positive definite"
        };
        Training {
            method: self.method,
            learnt_from: LearntFrom::Pairs,
            loss: self.loss,
            kernel: instance.exact.kernel(),
            c: self.c,
            tol: self.effort.tol,
            seed: self.effort.seed,
            threshold_rule: self.threshold,
            tie_region: self.tie_region,
            tie_band: TieBandKind::Constant,
            tie_parameter: None,
            tie_weight: self.tie_weight,
            balance: self.balance,
            scale: self.scale,
            items: data.set.items.n_items(),
            features: scorer.n_features,
            groups: data.groups.as_ref().map(|groups| groups.iter().collect::<HashSet<_>>().len()),
            groups_dropped: 0,
            pairs: data.n_pairs(),
            ties: data.n_ties(),
            objective: solution.objective,
            gap: solution.gap,
            certificate: certificate.into(),
            iterations: solution.iterations(),
            stop: solution.stop,
            support: match &scorer.function {
                ScoreFunction::Linear { .. } => None,
                ScoreFunction::Kernel { coefficients, .. } => Some(coefficients.len()),
                ScoreFunction::Landmarks { map, .. } => Some(map.len()),
            },
            support_pairs: solution.n_support_pairs(),
            collapsed: solution.collapsed,
            tie_share: TieShare {
                observed: share(&|k| data.outcomes[k] == Outcome::Tie),
                predicted: share(&|k| solution.margins[k].abs() <= threshold),
            },
            margin: None,
            online: None,
            warnings,
            tuning: None,
        }
    }

    /// What the user should know of the answer.
    fn warn(&self, instance: &Instance<'_, '_>, answer: &Answer<'_>, warnings: &mut Vec<String>) {
        let Answer { solution, stop, no_tie_region, .. } = answer;
        let n_ties = instance.n_ties();
        if n_ties == instance.n_pairs() {
            warnings.push("all pairs are ties: every score is 0 and every pair a tie".into());
        }
        if self.method == Method::Compare && n_ties == 0 {
            warnings.push(
                "no pair is a tie: trained as `rank` with the same loss; nothing but equal scores will be a tie".into(),
            );
        }
        if solution.collapsed {
            warnings.push(
                "the hinge collapsed: on these data the constant answer (all scores equal) is its optimum for every \
                 C; use --loss squared-hinge"
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
        if *stop == Stop::Stalled && !instance.exact.kernel().is_positive_definite() {
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

    /// Which problem to solve; data without ties have an answer of their own.
    pub(super) fn task(&self, n_ties: usize) -> Task {
        match self.method {
            Method::Compare if n_ties == 0 => Task::Rank,
            Method::Compare => Task::Compare { capped: self.tie_region == TieRegion::Always },
            Method::Rank => Task::Rank,
            Method::Rank2 => Task::Rank2,
            Method::Davidson | Method::Online => Task::Rank,
        }
    }

    /// C·c of every pair; 0 for those that are not to be learnt from.
    pub(super) fn costs(&self, data: &Comparisons, is_learnt: impl Fn(usize) -> bool) -> Vec<f64> {
        let is_tie = |k: usize| data.outcomes[k] == Outcome::Tie;
        let weight = |k: usize| if is_learnt(k) { data.weight(k) } else { 0.0 };
        let sum = |ties: bool| (0..data.n_pairs()).filter(|&k| is_tie(k) == ties).map(weight).sum::<f64>();
        let balance = match self.balance {
            Balance::Outcomes if sum(true) > 0.0 && sum(false) > 0.0 => sum(false) / (2.0 * sum(true)),
            _ => 1.0,
        };
        let factor = |k: usize| if is_tie(k) { self.tie_weight * balance } else { 1.0 };
        (0..data.n_pairs()).map(|k| self.c * factor(k) * weight(k)).collect()
    }
}

/// A solution with what follows from it.
pub(super) struct Answer<'a> {
    pub(super) solution: Solution<'a>,
    pub(super) beta: Option<f64>,
    /// What margins are divided by.
    pub(super) unit: f64,
    pub(super) no_tie_region: bool,
    /// In units of u.
    pub(super) threshold: f64,
    pub(super) stop: Stop,
    /// Whatever the search started from, this is where it ends.
    pub(super) is_exact: bool,
}
