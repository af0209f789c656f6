//! From judged pairs to a comparer: the line that the comparison machine and its baselines share.

use std::time::Instant;

use rayon::prelude::*;

use super::common::{Effort, Fit};
use crate::data::{Comparisons, Features, Outcome, Scale, Scaler, cross_fit_folds, largest_scale_ratio};
use crate::error::{Error, Result};
use crate::kernel::{ItemBlocks, Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{Balance, Method, Model, ScoreFunction, Scorer, ThresholdRule, TieRegion, TieShare, Training};
use crate::problem::threshold::best_threshold;
use crate::problem::{MirroredQp, PairProblem, PairRows, Task};
use crate::progress::{Stop, Watch};
use crate::solver::smo::{self, Limits, State};

/// Folds that kernel machines re-fit their threshold on.
const FOLDS: usize = 5;

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

/// The solution of one problem.
struct Solved {
    problem: PairProblem,
    state: State,
    objective: f64,
    gap: f64,
    stop: Stop,
    /// Margins right − left of the data's pairs, in units of u.
    margins: Vec<f64>,
    beta: Option<f64>,
    collapsed: bool,
}

impl PairMachine {
    fn check(&self) -> Result<()> {
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
        positive("C", self.c)?;
        positive("tie_weight", self.tie_weight)?;
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
        let mut warnings = Vec::new();
        let present: Vec<usize> = (0..data.n_pairs()).filter(|&k| data.weight(k) > 0.0).collect();
        if present.is_empty() {
            return Err(Error::parameter("pairs", 0, "at least one pair with a weight above 0"));
        }
        let data = &data.select(&present);
        let n_ties = data.n_ties();
        let scaler = Scaler::learn(self.scale, &data.set.items.features);
        let scaled = scaler.as_ref().map(|s| s.apply(&data.set.items.features)).transpose()?;
        let items = scaled.as_ref().unwrap_or(&data.set.items.features);
        if self.scale == Scale::None && !data.set.items.are_indicators && largest_scale_ratio(items) > 100.0 {
            warnings.push("features differ in scale by more than 100×: consider --scale standard".into());
        }
        let kernel = self.kernel.resolve(items)?;
        let task = self.task(data, &mut warnings);
        let limits = Limits {
            tol: self.effort.tol,
            max_iter: self.effort.max_iter.unwrap_or(u64::MAX),
            // A time beyond what the clock can name is no limit.
            deadline: self.effort.time_limit.and_then(|limit| started.checked_add(limit)),
            watch,
        };
        let cost = self.costs(data);
        let bytes = self.effort.cache_mb << 20;
        let mut solved = self.solve(task, kernel, items, data, &cost, bytes, limits)?;
        if solved.collapsed {
            warnings.push(
                "the hinge collapsed: on these data the constant answer (all scores equal) is its optimum for every \
                 C; use --loss squared-hinge"
                    .into(),
            );
        }

        // β < 0: scores are −u/β, so that the machine's own threshold is 1.
        let largest = solved.margins.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
        let beta = solved.beta.map(|b| if b.abs() < 1e-8 * largest { 0.0 } else { b });
        let unit = match beta {
            Some(beta) if beta < 0.0 => -beta,
            _ => 1.0,
        };
        let no_tie_region = beta.is_none_or(|b| b >= 0.0) && self.method == Method::Compare;
        let threshold = match self.threshold {
            ThresholdRule::Model if no_tie_region => 0.0,
            ThresholdRule::Model => 1.0,
            ThresholdRule::Refit => {
                let cross_fitted = self.method == Method::Compare
                    && kernel != KernelFunction::Linear
                    && n_ties > 0
                    && !solved.collapsed
                    && solved.stop == Stop::Converged;
                let held_out = if cross_fitted {
                    let (stop, margins) = self.cross_fitted_margins(task, kernel, items, data, &cost, limits)?;
                    solved.stop = stop;
                    Some(margins)
                } else {
                    None
                };
                let margins = held_out.as_ref().unwrap_or(&solved.margins);
                best_threshold(&data.outcomes, margins, |k| data.weight(k)) / unit
            }
        };
        warn_of_stop(&solved, kernel, &mut warnings);
        if no_tie_region && n_ties > 0 && !solved.collapsed && self.threshold == ThresholdRule::Model {
            warnings.push(
                "the machine found no region of ties (β ≥ 0) and will call nothing a tie but equal scores; \
                 --threshold refit or --tie-region always gives one"
                    .into(),
            );
        }

        let (function, support) = self.score_function(&solved, kernel, items, unit);
        let weights: Vec<f64> = (0..data.n_pairs()).map(|k| data.weight(k)).collect();
        let total: f64 = weights.iter().sum();
        let share = |is_tie: &dyn Fn(usize) -> bool| {
            (0..weights.len()).filter(|&k| is_tie(k)).map(|k| weights[k]).sum::<f64>() / total
        };
        let tie_share = TieShare {
            observed: share(&|k| data.outcomes[k] == Outcome::Tie),
            predicted: share(&|k| solved.margins[k].abs() / unit <= threshold),
        };
        let certificate = if kernel.is_positive_definite() {
            "relative duality gap, in f64 from the dual variables"
        } else {
            "relative duality gap, in f64 from the dual variables; no bound, since the kernel is not positive definite"
        };
        let training = Training {
            method: self.method,
            loss: self.loss,
            kernel,
            c: self.c,
            tol: self.effort.tol,
            seed: self.effort.seed,
            threshold_rule: self.threshold,
            tie_region: self.tie_region,
            tie_weight: self.tie_weight,
            balance: self.balance,
            scale: self.scale,
            items: items.n_rows(),
            features: items.n_cols(),
            groups: data.groups.as_ref().map(|groups| {
                let mut distinct = groups.clone();
                distinct.sort_unstable();
                distinct.dedup();
                distinct.len()
            }),
            pairs: data.n_pairs(),
            ties: n_ties,
            objective: solved.objective,
            gap: solved.gap,
            certificate: certificate.into(),
            iterations: solved.state.iterations,
            stop: solved.stop,
            support,
            support_pairs: solved.problem.n_support_pairs(&solved.state.duals),
            collapsed: solved.collapsed,
            tie_share,
            warnings,
        };
        let scorer = Scorer {
            n_features: items.n_cols(),
            feature_names: data.set.items.feature_names.clone(),
            are_indicators: data.set.items.are_indicators,
            scaler,
            function,
        };
        Ok(Model { scorer, threshold, beta, no_tie_region, training })
    }

    /// Which problem to solve; data without ties or with nothing else have answers of their own.
    fn task(&self, data: &Comparisons, warnings: &mut Vec<String>) -> Task {
        let n_ties = data.n_ties();
        if n_ties == data.n_pairs() {
            warnings.push("all pairs are ties: every score is 0 and every pair a tie".into());
        }
        match self.method {
            Method::Compare if n_ties == 0 => {
                warnings.push(
                    "no pair is a tie: trained as `rank` with the same loss; nothing but equal scores will be a tie"
                        .into(),
                );
                Task::Rank
            }
            Method::Compare => Task::Compare { capped: self.tie_region == TieRegion::Always },
            Method::Rank => Task::Rank,
            Method::Rank2 => Task::Rank2,
        }
    }

    /// C·c of every pair.
    fn costs(&self, data: &Comparisons) -> Vec<f64> {
        let is_tie = |k: usize| data.outcomes[k] == Outcome::Tie;
        let sum = |ties: bool| (0..data.n_pairs()).filter(|&k| is_tie(k) == ties).map(|k| data.weight(k)).sum::<f64>();
        let balance = match self.balance {
            Balance::Outcomes if sum(true) > 0.0 && sum(false) > 0.0 => sum(false) / (2.0 * sum(true)),
            _ => 1.0,
        };
        let factor = |k: usize| if is_tie(k) { self.tie_weight * balance } else { 1.0 };
        (0..data.n_pairs()).map(|k| self.c * factor(k) * data.weight(k)).collect()
    }

    #[allow(clippy::too_many_arguments)]
    fn solve(
        &self,
        task: Task,
        kernel: KernelFunction,
        items: &Features,
        data: &Comparisons,
        cost: &[f64],
        bytes: usize,
        limits: Limits<'_>,
    ) -> Result<Solved> {
        let problem = PairProblem::new(task, self.loss, kernel, items, data, |k| cost[k])?;
        let mut state = State::start(&problem);
        if data.n_ties() == data.n_pairs() {
            return Ok(self.only_ties(problem, state, data));
        }
        let rows = |bytes| (problem.sides(), problem.diagonal(), bytes);
        // f32 rows are half the memory and twice the speed; what they cannot solve, f64 rows finish.
        let (sides, diagonal, bytes) = rows(bytes);
        let narrow = PairRows::<f32>::new(kernel, items, sides, diagonal, bytes);
        let mut outcome = match narrow {
            Ok(mut matrix) => Some(smo::solve(&problem, &mut matrix, &mut state, limits)),
            Err(_) => None, // out of the range of f32
        };
        if outcome.as_ref().is_none_or(|o| o.stop == Stop::Stalled) {
            let (sides, diagonal, bytes) = rows(bytes);
            let mut matrix = PairRows::<f64>::new(kernel, items, sides, diagonal, bytes)?;
            outcome = Some(smo::solve(&problem, &mut matrix, &mut state, limits));
        }
        let Some(outcome) = outcome else {
            return Err(Error::Numeric {
                problem: "no solver could start".into(),
                remedy: "scale the features".into(),
            });
        };
        let certificate = outcome.certificate;
        let most = 1.000_001 * problem.objective_at_zero();
        if outcome.stop == Stop::Stalled && certificate.dual > most {
            return Err(Error::Numeric {
                problem: format!(
                    "the {} kernel is not positive definite on these data, and without bounds the dual has no optimum",
                    kernel.name()
                ),
                remedy: "use --loss hinge, another kernel, or scaled features (--scale standard)".into(),
            });
        }
        if !certificate.primal.is_finite() || !certificate.dual.is_finite() {
            return Err(Error::Numeric {
                problem: format!("the objective left the range of numbers (kernel {}, C = {})", kernel.name(), self.c),
                remedy: "scale the features (--scale standard), use a smaller C, or a positive definite kernel".into(),
            });
        }
        let (mut objective, mut gap) = (certificate.primal, certificate.gap());
        let mut margins = problem.data_margins(data, &certificate.margins, &state.duals);
        let mut beta = matches!(task, Task::Compare { .. }).then_some(certificate.beta);
        if outcome.collapsed {
            let constant = problem.constant_answer();
            state.duals.fill([0.0; 2]);
            margins.fill(0.0);
            (objective, beta) = (constant.objective, Some(constant.beta));
            gap = (objective - certificate.dual) / objective.max(1e-12);
        }
        Ok(Solved { problem, state, objective, gap, stop: outcome.stop, margins, beta, collapsed: outcome.collapsed })
    }

    /// Nothing but ties: u = 0 and any β ≤ −1 cost nothing (`rank2` still pays for what it cannot order).
    fn only_ties(&self, problem: PairProblem, mut state: State, data: &Comparisons) -> Solved {
        let objective = problem.constant_answer().objective;
        state.duals.fill([0.0; 2]);
        Solved {
            objective: if self.method == Method::Rank2 { objective } else { 0.0 },
            gap: 0.0,
            stop: Stop::Converged,
            margins: vec![0.0; data.n_pairs()],
            beta: (self.method == Method::Compare).then_some(-1.0),
            collapsed: false,
            problem,
            state,
        }
    }

    fn score_function(
        &self,
        solved: &Solved,
        kernel: KernelFunction,
        items: &Features,
        unit: f64,
    ) -> (ScoreFunction, Option<usize>) {
        if kernel == KernelFunction::Linear {
            let mut weights = solved.problem.feature_weights(items, &solved.state.duals);
            weights.iter_mut().for_each(|w| *w /= unit);
            return (ScoreFunction::Linear { weights }, None);
        }
        let terms = solved.problem.item_coefficients(&solved.state.duals);
        let rows: Vec<usize> = terms.iter().map(|t| t.0 as usize).collect();
        let coefficients = terms.iter().map(|t| t.1 / unit).collect();
        (ScoreFunction::Kernel { kernel, support: items.select_rows(&rows), coefficients }, Some(rows.len()))
    }

    /// Margins of every pair by machines that have not seen it, in units of u, and which limit stopped one of them if
    /// any did. Training margins of a kernel machine are too good to choose a threshold by.
    fn cross_fitted_margins(
        &self,
        task: Task,
        kernel: KernelFunction,
        items: &Features,
        data: &Comparisons,
        cost: &[f64],
        limits: Limits<'_>,
    ) -> Result<(Stop, Vec<f64>)> {
        let folds = cross_fit_folds(data, FOLDS, self.effort.seed);
        let total: f64 = cost.iter().sum();
        let threads = rayon::current_num_threads().min(FOLDS);
        let bytes = (self.effort.cache_mb << 20) / threads;
        let margins_of = |fold: usize| -> Result<(Stop, Vec<(usize, f64)>)> {
            let (mut seen, mut held): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
            (0..data.n_pairs()).for_each(|k| if folds[k] as usize == fold { held.push(k) } else { seen.push(k) });
            if held.is_empty() || seen.is_empty() {
                return Ok((Stop::Converged, held.into_iter().map(|k| (k, 0.0)).collect()));
            }
            // The same total weight, so that u has the same scale.
            let part: f64 = seen.iter().map(|&k| cost[k]).sum();
            let part_cost: Vec<f64> = seen.iter().map(|&k| cost[k] * total / part).collect();
            let mut part_data = data.select(&seen);
            let part_items = items.select_rows(&data.set.touched_items(&seen));
            part_data.set.items.features = part_items;
            let part_task = if part_data.n_ties() == 0 { Task::Rank } else { task };
            let part_items = &part_data.set.items.features;
            let solved = self.solve(part_task, kernel, part_items, &part_data, &part_cost, bytes, limits)?;
            let terms = solved.problem.item_coefficients(&solved.state.duals);
            let rows: Vec<usize> = terms.iter().map(|t| t.0 as usize).collect();
            let coefficients: Vec<f64> = terms.iter().map(|t| t.1).collect();
            let machine = ItemBlocks::<f64>::new(kernel, &part_items.select_rows(&rows))?;
            let held_set = data.set.select(&held);
            let scores = machine.scores_of(&items.select_rows(&data.set.touched_items(&held)), &coefficients)?;
            let margin = |at: usize| {
                let pair = held_set.pairs[at];
                scores[pair.right as usize] - scores[pair.left as usize]
            };
            Ok((solved.stop, held.iter().enumerate().map(|(at, &k)| (k, margin(at))).collect()))
        };
        let parts: Result<Vec<_>> = (0..FOLDS).into_par_iter().map(margins_of).collect();
        let mut margins = vec![0.0; data.n_pairs()];
        let mut limited = Stop::Converged;
        for (stop, part) in parts? {
            if !matches!(stop, Stop::Converged | Stop::Stalled) {
                limited = stop;
            }
            part.into_iter().for_each(|(k, z)| margins[k] = z);
        }
        Ok((limited, margins))
    }
}

fn warn_of_stop(solved: &Solved, kernel: KernelFunction, warnings: &mut Vec<String>) {
    let why = match solved.stop {
        Stop::Converged => return,
        Stop::MaxIter => "the allowed number of iterations was used up",
        Stop::TimeLimit => "the allowed time was used up",
        Stop::Interrupted => "training was interrupted",
        Stop::Stalled if !kernel.is_positive_definite() => {
            "no further progress is possible: the kernel is not positive definite on these data"
        }
        Stop::Stalled => "no further progress is possible in floating point",
    };
    warnings.push(format!("not converged: {why}; the relative gap is {:.1e}", solved.gap));
}
