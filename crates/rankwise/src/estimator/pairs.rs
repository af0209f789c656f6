//! From judged pairs to a comparer: the line that the comparison machine and its baselines share.

use std::borrow::Cow;
use std::time::Instant;

use rayon::prelude::*;

use super::calibration::{Seen, calibrate};
use super::common::{Effort, Fit, out_of_time};
use super::hard_pairs::Ends;
use super::item_landmarks::check_approx;
use super::pair_record::Known;
use super::pair_solution::{By, CrossFitted, Instance, Solution, Start, WhenNeeded};
use super::pair_weights::{FEW_ITEMS, Space};
use crate::data::{Comparisons, Outcome, Scale, Scaler, far_shift_of_rows, largest_scale_ratio, shifted};
use crate::error::{Error, Place, Result};
use crate::kernel::{Approx, Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{Balance, Chances, Method, Model, Scorer, ThresholdRule, TieBand, TieBandKind, TieRegion, TieShare};
use crate::problem::threshold::{Cuts, best_threshold, best_widening};
use crate::problem::{Band, Costs, MATRIX_PAIRS, Task};
use crate::progress::{Stop, Watch};

/// So few pairs are copied, in an order that does not depend on where they stand: sums have the same digits then.
const FEW_PAIRS: usize = 1 << 12;
/// Items at least so many times rarer than pairs repeat.
const REPEAT: usize = 4;

/// Everything the methods can be asked for.
#[derive(Debug, Clone)]
pub(super) struct PairMachine {
    pub(super) method: Method,
    pub(super) c: f64,
    pub(super) kernel: Kernel,
    /// What stands for the kernel, if anything does.
    pub(super) approx: Option<Approx>,
    pub(super) loss: Loss,
    pub(super) threshold: ThresholdRule,
    pub(super) tie_region: TieRegion,
    pub(super) tie_weight: f64,
    pub(super) balance: Balance,
    pub(super) tie_band: TieBandKind,
    /// Whether margins get probabilities.
    pub(super) calibrate: bool,
    pub(super) scale: Scale,
    pub(super) effort: Effort,
}

impl PairMachine {
    /// Whether the parameters are within their ranges.
    pub(super) fn check(&self) -> Result<()> {
        self.check_hard()?;
        let positive = |name: &'static str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(Error::parameter(name, value, "a finite number above 0"))
            }
        };
        self.loss.check_of_order()?;
        let has_likelihood = self.has_likelihood();
        if self.tie_band == TieBandKind::Pair && self.loss == Loss::Hinge {
            return Err(Error::Unsupported {
                problem: "a tie band that depends on the pair is unsafe with the hinge, which starts to ignore margins"
                    .into(),
                remedy: "choose the loss squared-hinge or logistic".into(),
            });
        }
        if has_likelihood && self.calibrate {
            return Err(Error::Unsupported {
                problem: "a model of probabilities needs no calibration".into(),
                remedy: "leave it out, or choose the loss squared-hinge or hinge".into(),
            });
        }
        if has_likelihood && (self.tie_region == TieRegion::Always || self.balance == Balance::Outcomes) {
            return Err(Error::Unsupported {
                problem: "a model of probabilities always has a region of ties, and balanced outcomes would bend it"
                    .into(),
                remedy: "leave tie region and balance as they are, or choose the loss squared-hinge or hinge".into(),
            });
        }
        if !self.is_hard() {
            positive("C", self.c)?;
        }
        positive("tie_weight", self.tie_weight)?;
        self.kernel.check()?;
        check_approx(self.approx, self.kernel, self.c)?;
        if self.approx.is_some() && self.tie_band == TieBandKind::Pair {
            return Err(Error::Unsupported {
                problem: "a tie band that depends on the pair has no kernel to approximate".into(),
                remedy: "leave out --approx, or choose --tie-band constant".into(),
            });
        }
        if self.balance == Balance::Outcomes && self.threshold == ThresholdRule::Model {
            return Err(Error::Unsupported {
                problem: "balanced outcomes move the machine's own threshold away from the data's shares".into(),
                remedy: "use the re-fitted threshold with balance outcomes, or no balance".into(),
            });
        }
        self.effort.check()
    }

    /// Whether no loss is allowed for.
    pub(super) fn is_hard(&self) -> bool {
        self.c == f64::INFINITY
    }

    /// Refuses what a hard margin has no answer to.
    fn check_hard(&self) -> Result<()> {
        let refused = match self.method {
            _ if !self.is_hard() => return Ok(()),
            Method::Rank2 => "rank2 asks of a tie what nothing fulfils and has no hard margin",
            _ if self.has_likelihood() || self.loss == Loss::Logistic => {
                "the logistic loss is never 0 and has no hard margin"
            }
            _ if self.tie_band == TieBandKind::Pair => "a hard margin has no tie band that depends on the pair",
            _ if self.calibrate => "a hard margin leaves no errors to fit probabilities to",
            _ => return Ok(()),
        };
        Err(Error::Unsupported { problem: format!("C = inf: {refused}"), remedy: "choose a finite C".into() })
    }

    pub(super) fn fit(&self, data: &Comparisons, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        let started = Instant::now();
        self.effort.in_pool(|threads| {
            let model = if self.is_hard() {
                // Any loss that ends at 0 leads there; this one does so in few steps.
                let mut model =
                    PairMachine { loss: Loss::SquaredHinge, ..self.clone() }.fit_here(data, watch, started)?;
                model.training.loss = self.loss;
                model
            } else {
                self.fit_here(data, watch, started)?
            };
            Fit::new(model, &data.set.items, started, threads)
        })
    }

    fn fit_here(&self, data: &Comparisons, watch: &dyn Watch, started: Instant) -> Result<Model> {
        let n_present = (0..data.n_pairs()).filter(|&k| data.weight(k) > 0.0).count();
        if n_present == 0 {
            let problem = if data.n_pairs() == 0 { "there is no pair" } else { "every weight is 0" };
            return Err(Error::data(Place::file("pairs"), problem, "give at least one pair with a weight above 0"));
        }
        let mut warnings = Vec::new();
        let features = &data.set.items.features;
        if self.scale == Scale::None && !data.set.items.are_indicators && largest_scale_ratio(features) > 100.0 {
            warnings.push("features differ in scale by more than 100×: consider --scale standard".into());
        }
        // Many pairs of few items are not copied, nor are items that stand in the order of their pairs: what is sorted here is
        // the order in which items are summed over.
        let may_stay = self.kernel == Kernel::Linear
            && self.is_solved_in_weights(KernelFunction::Linear, data.set.items.n_items(), data.n_pairs())
            && (self.scale == Scale::None || self.loss != Loss::Hinge)
            && n_present == data.n_pairs();
        let repeat = REPEAT * data.set.items.n_items() <= data.n_pairs();
        let order = if may_stay { data.set.item_order() } else { Vec::new() };
        let is_lean = may_stay && n_present > FEW_PAIRS && (repeat || is_near_order(&order, data.set.items.n_items()));
        let mut data = if is_lean { Cow::Borrowed(data) } else { Cow::Owned(data.select(&data.present_in_order())) };
        let rows: Vec<u32> = if is_lean { order } else { (0..data.set.items.n_items() as u32).collect() };
        let order = || rows.iter().map(|&row| row as usize);
        let scaler = Scaler::learn_from_rows(self.scale, &data.set.items.features, order());
        let mut scaled = None;
        let features = &data.set.items.features;
        let mut near = scaler.as_ref().map(|scaler| scaler.apply(features)).transpose()?;
        // Differences alone count, and far from zero their sums would lose their digits. Sparse features are not moved by scaling.
        if self.kernel == Kernel::Linear && (scaler.is_none() || features.is_sparse()) {
            let features = near.as_ref().unwrap_or(features);
            near = far_shift_of_rows(features, order(), None).map(|shift| shifted(features, &shift)).or(near);
        }
        if let Some(features) = near {
            match &mut data {
                Cow::Owned(data) => data.set.items.features = features,
                Cow::Borrowed(_) => scaled = Some(features),
            }
        }
        let data: &Comparisons = &data;
        let features = scaled.as_ref().unwrap_or(&data.set.items.features);
        let kernel = self.kernel.resolve(features)?;
        if self.is_hard() && !kernel.is_positive_definite() {
            return Err(Error::Unsupported {
                problem: format!("C = inf: the {} kernel is not positive definite, and u has no norm", kernel.name()),
                remedy: "choose a finite C, or --kernel rbf, poly with a --coef0 of at least 0, or linear".into(),
            });
        }
        let (band, context_scaler) = self.band(data)?;
        let in_weights = self.is_solved_in_weights(kernel, data.set.items.n_items(), data.n_pairs());
        let limits = self.effort.limits(started, watch);
        let goes_on = || !limits.is_stopped(0, f64::NAN);
        let space = match kernel {
            _ if !in_weights => None,
            KernelFunction::Linear => Some(Space::linear(features, Cow::Borrowed(&rows), band)),
            _ => {
                let space = Space::of_kernel(kernel, self.approx, features, Cow::Borrowed(&rows), band, &goes_on);
                Some(space.map_err(|error| out_of_time(error, limits))?)
            }
        };
        let n_landmarks = space.as_ref().and_then(Space::n_landmarks);
        if let Some(n) = n_landmarks.filter(|_| self.approx.is_none()) {
            let more = if self.tie_band == TieBandKind::Pair { "" } else { "; --approx nystrom:M takes M of them" };
            warnings.push(format!(
                "{} items are too many to factor their kernel matrix: {n} landmarks stand for them{more}",
                data.set.items.n_items()
            ));
        }
        let exact = WhenNeeded::new(kernel, self.loss, data);
        let costs = self.costs(data);
        let instance = Instance {
            task: self.task(data.n_ties()),
            loss: self.loss,
            exact: &exact,
            space: space.as_ref(),
            data,
            costs: &costs,
            limits,
            cache_bytes: self.effort.cache_mb << 20,
        };
        let mut answer = self.answer(&instance, Start::default(), true)?;
        instance.measure(&mut answer.solution)?;
        let known = Known::of(&instance);
        self.warn(&known, &answer, &mut warnings);
        let function = answer.solution.score_function(&instance, answer.unit);
        let scorer = Scorer {
            n_features: data.set.items.features.n_cols(),
            feature_names: data.set.items.feature_names.clone(),
            are_indicators: data.set.items.are_indicators,
            scaler,
            function,
        };
        let names = data.set.context.as_ref().map(|context| context.names.clone()).unwrap_or_default();
        let band = self.tie_band_of(&answer, &instance, names, context_scaler);
        let chances = match self.has_likelihood() {
            true => Some(self.likelihood(&answer, &known)),
            false => self.chances(&answer, &instance)?,
        };
        let thresholds = self.thresholds(&answer, chances);
        let threshold = match &thresholds {
            Thresholds::Same(threshold) => *threshold,
            Thresholds::Each(all) => {
                let weight: f64 = (0..all.len()).map(|k| data.weight(k)).sum();
                all.iter().enumerate().map(|(k, threshold)| data.weight(k) * threshold).sum::<f64>() / weight
            }
        };
        let margin = |k: usize| answer.solution.margins.of(data, k).abs();
        let tie_share = TieShare::of(data, |k| match &thresholds {
            Thresholds::Same(threshold) => margin(k) <= threshold * answer.unit,
            Thresholds::Each(all) => margin(k) <= all[k] * answer.unit,
        });
        let mut training = self.record(&known, &answer, &scorer, tie_share, warnings);
        training.lp_slack = answer.beta.filter(|_| self.is_hard()).map(|beta| {
            let ends = Ends::of(&instance, &answer.solution.margins);
            (1.0 - ends.largest_tie / answer.unit).min(ends.least / answer.unit - 1.0) + 1.0 / beta
        });
        training.tie_parameter = match chances {
            Some(Chances::RaoKupper { tau }) if band.is_none() && answer.beta.is_some() => Some(tau),
            Some(Chances::Davidson { log_nu }) if band.is_none() => Some(log_nu.exp()),
            _ => None,
        };
        let Answer { beta, no_tie_region, .. } = answer;
        Ok(Model {
            scorer,
            threshold,
            beta,
            no_tie_region,
            band,
            chances,
            classes: None,
            class_rule: None,
            grades: None,
            state: None,
            training,
        })
    }

    /// The part of the tie offset that depends on the pair, with the scaling of the comparison's own columns.
    fn band<'d>(&self, data: &'d Comparisons) -> Result<(Option<Band<'d>>, Option<Scaler>)> {
        if self.tie_band == TieBandKind::Constant || data.n_ties() == 0 {
            return Ok((None, None));
        }
        let Some(context) = &data.set.context else { return Ok((Some(Band { context: None }), None)) };
        // As of items: what is there counts once, however often it is judged.
        let scaler = Scaler::learn(self.scale, &context.features.unique_rows().0);
        let features = match &scaler {
            Some(scaler) => Cow::Owned(scaler.apply(&context.features)?),
            None => Cow::Borrowed(&context.features),
        };
        Ok((Some(Band { context: Some(features) }), scaler))
    }

    /// Whether the answer is a likelihood's, with probabilities of its own.
    pub(super) fn has_likelihood(&self) -> bool {
        self.method == Method::Davidson || (self.method == Method::Compare && self.loss == Loss::Logistic)
    }

    /// Whether margins become probabilities.
    pub(super) fn has_chances(&self) -> bool {
        self.calibrate || self.has_likelihood()
    }

    /// Whether weights of features are what to solve for. Of the hinge, few pairs have an exact answer in dual variables.
    fn is_solved_in_weights(&self, kernel: KernelFunction, n_items: usize, n_pairs: usize) -> bool {
        let has_duals = self.loss != Loss::Logistic && self.method != Method::Davidson;
        if !has_duals || self.tie_band == TieBandKind::Pair || self.approx.is_some() {
            return true;
        }
        match kernel {
            KernelFunction::Linear => self.loss == Loss::SquaredHinge || n_pairs > MATRIX_PAIRS,
            _ => n_items <= FEW_ITEMS && n_pairs > MATRIX_PAIRS && kernel.is_positive_definite(),
        }
    }

    /// The tie band of the model, in units of scores.
    fn tie_band_of(
        &self,
        answer: &Answer<'_>,
        instance: &Instance<'_, '_>,
        context_names: Vec<String>,
        context_scaler: Option<Scaler>,
    ) -> Option<TieBand> {
        let (Some(space), By::Weights { weights, .. }) = (instance.space, &answer.solution.by) else { return None };
        let beta = answer.beta.filter(|_| space.has_band())?;
        let d = space.n_columns();
        // Davidson's b grows with ties, the others' falls.
        let sign = if self.method == Method::Davidson { 1.0 } else { -1.0 };
        let part = |range: std::ops::Range<usize>| weights[range].iter().map(|v| sign * v / answer.unit).collect();
        Some(TieBand {
            base: (sign * beta + answer.threshold) / answer.unit,
            mean: part(d..2 * d),
            difference: part(2 * d..3 * d),
            context: part(3 * d..weights.len()),
            context_names,
            context_scaler,
        })
    }

    /// The probabilities of a likelihood.
    pub(super) fn likelihood(&self, answer: &Answer<'_>, known: &Known) -> Chances {
        match answer.beta {
            // Nothing was a tie: as rare as can be said after so many pairs.
            None if self.method == Method::Davidson => Chances::Davidson { log_nu: -(1.0 + known.pairs as f64).ln() },
            None => Chances::RaoKupper { tau: 2.0 / (2.0 + known.pairs as f64) },
            Some(beta) if self.method == Method::Davidson => Chances::Davidson { log_nu: beta },
            // With a band: no pair is further from a tie than any that was one.
            Some(_) => Chances::RaoKupper { tau: (-answer.solution.largest_tie_offset).max(f64::MIN_POSITIVE) },
        }
    }

    /// How margins become probabilities.
    fn chances(&self, answer: &Answer<'_>, instance: &Instance<'_, '_>) -> Result<Option<Chances>> {
        let solution = &answer.solution;
        if !self.calibrate {
            return Ok(None);
        }
        let held_out = match &answer.held_out {
            _ if solution.is_constant => None,
            Some(held_out) => Some(Cow::Borrowed(held_out)),
            None => Some(Cow::Owned(instance.cross_fitted_margins(solution, self.effort.seed)?)),
        };
        let data = instance.data;
        let offsets = held_out.as_ref().map_or(&solution.offsets, |held_out| &held_out.offsets);
        let margin = |k: usize| match &held_out {
            Some(held_out) => held_out.margins[k],
            None => solution.margins.of(data, k),
        };
        let seen: Vec<Seen> = (0..data.n_pairs())
            .map(|k| Seen {
                margin: margin(k) / answer.unit,
                width: offsets.as_ref().map_or(0.0, |offsets| (answer.threshold - offsets[k]) / answer.unit),
                outcome: data.outcomes[k],
                weight: data.weight(k),
            })
            .collect();
        Ok(Some(calibrate(&seen, offsets.is_some())))
    }

    /// The differences that do not matter, in units of scores.
    fn thresholds(&self, answer: &Answer<'_>, chances: Option<Chances>) -> Thresholds {
        let of_chances = |width: Option<f64>| chances.and_then(|rule| rule.threshold(width));
        match &answer.solution.offsets {
            None => Thresholds::Same(of_chances(None).unwrap_or(answer.threshold / answer.unit)),
            Some(offsets) => {
                let sign = if self.method == Method::Davidson { 1.0 } else { -1.0 };
                let width = |b: &f64| (sign * b + answer.threshold) / answer.unit;
                let one = |b: &f64| of_chances(Some(width(b))).unwrap_or_else(|| width(b).max(0.0));
                Thresholds::Each(offsets.iter().map(one).collect())
            }
        }
    }

    /// Solves, perhaps from where others ended, and finds the threshold if it is wanted.
    pub(super) fn answer<'a>(
        &self,
        instance: &Instance<'a, '_>,
        start: Start<'_>,
        with_threshold: bool,
    ) -> Result<Answer<'a>> {
        let solution = if self.is_hard() { instance.solve_hard()? } else { instance.solve(start)? };
        // β < 0: scores are −u/β, so that the machine's own threshold is 1. A likelihood has a scale of its own.
        let data = instance.data;
        let size = |k: usize| solution.margins.of(data, k).abs();
        let largest = (0..data.n_pairs()).into_par_iter().map(size).reduce(|| 0.0, f64::max);
        let has_likelihood = self.has_likelihood();
        let (beta, unit, no_tie_region) = self.unit(solution.beta, largest);
        let (mut stop, mut is_exact, mut held_out) = (solution.stop, solution.is_exact, None);
        let is_banded = solution.offsets.is_some();
        let threshold = match self.threshold {
            _ if !with_threshold || has_likelihood => 0.0,
            // No pair is on the wrong side of it, and it is as far from all as can be.
            _ if self.is_hard() && self.method == Method::Compare => {
                if no_tie_region {
                    0.0
                } else {
                    unit
                }
            }
            ThresholdRule::Refit => {
                held_out = self.held_out(instance, &solution)?;
                if let Some(held_out) = &held_out {
                    stop = Some(held_out.stop).filter(|&stop| stop != Stop::Converged).unwrap_or(stop);
                    is_exact &= held_out.is_exact;
                }
                refitted_threshold(instance, &solution, held_out.as_ref())
            }
            ThresholdRule::Model if is_banded || no_tie_region => 0.0,
            ThresholdRule::Model => unit,
        };
        Ok(Answer { solution, beta, unit, no_tie_region, threshold, held_out, stop, is_exact })
    }

    /// β, the unit of scores, and whether there is no region of ties; from the machine's β and the largest margin.
    pub(super) fn unit(&self, beta: Option<f64>, largest: f64) -> (Option<f64>, f64, bool) {
        let beta = beta.map(|b| if b.abs() < 1e-8 * largest { 0.0 } else { b });
        let has_likelihood = self.has_likelihood();
        let unit = beta.filter(|&b| b < 0.0 && !has_likelihood).map_or(1.0, |b| -b);
        let no_tie_region = match self.method {
            Method::Compare if has_likelihood => beta.is_none(),
            Method::Compare => beta.is_none_or(|b| b >= 0.0),
            Method::Davidson => beta.is_none(),
            _ => false,
        };
        (beta, unit, no_tie_region)
    }

    /// Margins of machines that have not seen the pair, where training margins would flatter.
    fn held_out(&self, instance: &Instance<'_, '_>, solution: &Solution<'_>) -> Result<Option<CrossFitted>> {
        let flatters = self.method == Method::Compare && instance.exact.kernel() != KernelFunction::Linear;
        let is_sound = solution.stop == Stop::Converged && !solution.is_constant && instance.n_ties() > 0;
        if flatters && is_sound {
            return instance.cross_fitted_margins(solution, self.effort.seed).map(Some);
        }
        Ok(None)
    }

    /// Which problem to solve; data without ties have an answer of their own.
    pub(super) fn task(&self, n_ties: usize) -> Task {
        match self.method {
            Method::Compare | Method::Davidson if n_ties == 0 => Task::Rank,
            // Without slack β ≤ −1 wherever there is a tie.
            Method::Compare => Task::Compare { capped: self.tie_region == TieRegion::Always && !self.is_hard() },
            Method::Davidson => Task::Davidson,
            Method::Rank2 => Task::Rank2,
            _ => Task::Rank,
        }
    }

    /// C·c of every pair.
    fn costs<'d>(&self, data: &'d Comparisons) -> Costs<'d> {
        if self.is_hard() {
            return Costs::Factors { weights: None, tie: 1.0, other: 1.0 };
        }
        let [tie, other] = self.factors(data, |_| true);
        Costs::Factors { weights: data.weights.as_deref().map(Cow::Borrowed), tie, other }
    }

    /// C·c of every pair; 0 for those that are not to be learnt from.
    pub(super) fn costs_of(&self, data: &Comparisons, is_learnt: impl Fn(usize) -> bool) -> Costs<'static> {
        let [tie, other] = self.factors(data, &is_learnt);
        let factor = |k: usize| if data.outcomes[k] == Outcome::Tie { tie } else { other };
        let cost = |k: usize| if is_learnt(k) { factor(k) * data.weight(k) } else { 0.0 };
        Costs::Each((0..data.n_pairs()).map(cost).collect())
    }

    /// What weights are multiplied with: those of ties, those of others.
    fn factors(&self, data: &Comparisons, is_learnt: impl Fn(usize) -> bool) -> [f64; 2] {
        let is_tie = |k: usize| data.outcomes[k] == Outcome::Tie;
        let weight = |k: usize| if is_learnt(k) { data.weight(k) } else { 0.0 };
        let sum = |ties: bool| (0..data.n_pairs()).filter(|&k| is_tie(k) == ties).map(weight).sum::<f64>();
        match self.balance {
            Balance::Outcomes => self.factors_of(sum(true), sum(false)),
            _ => self.factors_of(0.0, 0.0),
        }
    }

    /// The same where ties have this weight, and others.
    pub(super) fn factors_of(&self, ties: f64, others: f64) -> [f64; 2] {
        let is_balanced = self.balance == Balance::Outcomes && ties > 0.0 && others > 0.0;
        let balance = if is_balanced { others / (2.0 * ties) } else { 1.0 };
        [self.c * self.tie_weight * balance, self.c]
    }
}

/// The threshold with the least error, or what a band is to be widened by for it, in units of u.
fn refitted_threshold(instance: &Instance<'_, '_>, solution: &Solution<'_>, held_out: Option<&CrossFitted>) -> f64 {
    let data = instance.data;
    let offsets = held_out.map_or(&solution.offsets, |held_out| &held_out.offsets);
    // All of them, without a list, where all are learnt from.
    let n_learnt = instance.n_pairs();
    let learnt: Option<Vec<u32>> = (n_learnt < data.n_pairs())
        .then(|| (0..data.n_pairs()).filter(|&k| instance.is_learnt(k)).map(|k| k as u32).collect());
    let at = |k: usize| learnt.as_ref().map_or(k, |learnt| learnt[k] as usize);
    let margin = |k: usize| match held_out {
        Some(held_out) => held_out.margins[at(k)],
        None => solution.margins.of(data, at(k)),
    };
    let cuts =
        Cuts { n: n_learnt, outcome: &|k| data.outcomes[at(k)], margin: &margin, weight: &|k| data.weight(at(k)) };
    match offsets {
        None => best_threshold(&cuts),
        Some(offsets) => best_widening(&cuts, &|k| -offsets[at(k)]),
    }
}

/// The differences that do not matter, in units of scores.
enum Thresholds {
    Same(f64),
    Each(Vec<f64>),
}

/// A solution with what follows from it.
pub(super) struct Answer<'a> {
    pub(super) solution: Solution<'a>,
    pub(super) beta: Option<f64>,
    /// What margins are divided by.
    pub(super) unit: f64,
    pub(super) no_tie_region: bool,
    /// In units of u; with a band, what it is widened by.
    pub(super) threshold: f64,
    /// Margins of machines that had not seen the pair, if they were asked for.
    pub(super) held_out: Option<CrossFitted>,
    pub(super) stop: Stop,
    /// Whatever the search started from, this is where it ends.
    pub(super) is_exact: bool,
}
/// Whether these are all items, each beside its place or there: memory is then read from front to back.
fn is_near_order(items: &[u32], n_items: usize) -> bool {
    items.len() == n_items && items.iter().zip(0u32..).all(|(&item, place)| item.abs_diff(place) <= 1)
}
