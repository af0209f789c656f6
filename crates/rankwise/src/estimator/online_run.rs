//! Random steps over data that are in memory as a whole or come part by part.
//!
//! Objective over C times the weight M of all terms:  ½λ‖w‖² + mean loss,  λ = 1/(C·M). With D² the mean squared length of
//! what a step adds, step t has the size 1/(D² + λt), or 1/(D² + λ + D·√(λt)). In the long run the first is 1/(λt), which the
//! modulus λ of strong convexity asks for, and the second B/(D·√t) with B = 1/√λ, which no ‖w‖ at an optimum exceeds. D²
//! keeps the first steps from overshooting.

use std::borrow::Cow;
use std::time::Instant;

use super::item_ranker::{check_pairs, check_width_of, why_dropped};
use super::online::OnlineSvm;
use super::online_start::Start;
use super::online_terms::{Terms, positive, weighing};
use crate::data::{Features, Items, Ranking, Scale, ScaleSurvey, Scaler, Values, mix};
use crate::error::{Error, Place, Result};
use crate::kernel::KernelFunction;
use crate::loss::Loss;
use crate::model::{
    Basis, Batch, ClassRule, ClassScheme, LearntFrom, Method, Model, OnlineState, OnlineTraining, Schedule,
    ScoreFunction, Scorer, Task, ThresholdRule, TieBandKind, TieRegion, TieShare, Training, class_name,
};
use crate::problem::{BlockSums, ClassSums, ExampleSums, ExampleTerms, RankCounts, RankSums, Shape, SumPoint};
use crate::progress::{Stop, Watch};
use crate::solver::subgradient::Descent;

/// Widths over which the hinge is rounded off for a dual point; the best one counts.
const WIDTHS: [f64; 8] = [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125];

/// The most classes that are learnt.
const MOST_CLASSES: usize = 1000;

/// Sums of weights over all parts are as exact as that: a step must not be lost by it.
const ROUNDING: f64 = 1e-11;

/// Learning from data that come in parts, each of them whole groups.
///
/// Where the data can be read more than once, the first pass is [`OnlineRun::survey`] of every part: then the weight of all
/// pairs is known, features can be scaled, and steps are shared out among the parts by the weights of their pairs. Else
/// what has come so far stands for the whole. Then [`OnlineRun::learn`] of every part, perhaps several times, and, if the
/// gap is wanted, [`OnlineRun::measure`] of every part.
#[derive(Debug)]
pub struct OnlineRun {
    svm: OnlineSvm,
    started: Instant,
    start: Option<Start>,
    is_stream: bool,
    /// What the survey found, or what has come so far.
    counts: RankCounts,
    n_seen: usize,
    /// The largest number of a feature, and how many numbers were stored.
    n_cols: usize,
    n_stored: usize,
    mass: f64,
    /// The labels of the classes, ascending; at most one more than there may be.
    labels: Vec<f64>,
    /// How many classes there were when the first step was made.
    n_learnt: Option<usize>,
    is_surveyed: bool,
    scales: ScaleSurvey,
    scaler: Option<Scaler>,
    /// How the features of the first part were called.
    names: Option<Option<Vec<String>>>,
    are_indicators: bool,
    descent: Option<Descent>,
    spread: f64,
    /// The weight that parts had so far in all passes, and the steps that were made for it.
    learnt: f64,
    steps_made: u64,
    stop: Option<Stop>,
    exact: Vec<SumPoint>,
}

impl OnlineRun {
    pub(super) fn new(svm: &OnlineSvm, start: Option<&Model>, started: Instant) -> Result<Self> {
        Ok(OnlineRun {
            svm: svm.clone(),
            started,
            start: start.map(|model| Start::new(model, svm.task, svm.batch)).transpose()?,
            is_stream: true,
            counts: RankCounts::default(),
            n_seen: 0,
            n_cols: 0,
            n_stored: 0,
            mass: 0.0,
            labels: Vec::new(),
            n_learnt: None,
            is_surveyed: false,
            scales: ScaleSurvey::default(),
            scaler: None,
            names: None,
            are_indicators: false,
            descent: None,
            spread: 0.0,
            learnt: 0.0,
            steps_made: 0,
            stop: None,
            exact: Vec::new(),
        })
    }

    /// All of the data at once.
    pub(super) fn whole(svm: &OnlineSvm, start: Option<&Model>, started: Instant, data: &Ranking) -> Result<Self> {
        let mut run = Self::new(svm, start, started)?;
        run.is_stream = false;
        run.look_at(data)?;
        run.scaler = data.scaler(svm.scale);
        run.end_survey()?;
        Ok(run)
    }

    /// Takes in a part of the data on the first of several passes.
    pub fn survey(&mut self, part: &Ranking) -> Result<()> {
        self.look_at(part)?;
        if self.svm.scale != Scale::None {
            self.check_width()?; // every column is summed up
        }
        self.scales.add(self.svm.scale, &part.items.features, part.weights.as_deref());
        Ok(())
    }

    /// Ends the first pass. An error where there is nothing to learn.
    pub fn end_survey(&mut self) -> Result<()> {
        self.check_terms()?;
        check_width_of(self.n_cols, self.n_stored)?;
        if self.is_stream {
            self.scaler = self.scales.finish(self.svm.scale);
        }
        self.is_surveyed = true;
        Ok(())
    }

    /// Counts what is in a part.
    fn look_at(&mut self, part: &Ranking) -> Result<()> {
        self.n_seen += part.n_items();
        self.n_cols = self.n_cols.max(part.items.features.n_cols());
        self.n_stored += part.items.features.n_stored();
        let counts = match self.svm.task {
            Task::Classify => {
                self.look_at_classes(part);
                let terms = ExampleTerms::new(part, 0.0);
                self.mass += terms.mass();
                RankCounts { n_items: terms.n_items(), ..RankCounts::default() }
            }
            Task::Rank => {
                let terms = Terms::new(&self.svm, part, &[]);
                self.mass += terms.mass();
                terms.counts()
            }
        };
        self.counts.n_items += counts.n_items;
        self.counts.n_groups += counts.n_groups;
        self.counts.n_dropped += counts.n_dropped;
        self.counts.n_pairs += counts.n_pairs;
        Ok(())
    }

    /// Whether there was no pass before the first step.
    fn is_read_once(&self) -> bool {
        self.is_stream && !self.is_surveyed
    }

    /// As [`check_width_of`], by what has come so far; features may still come.
    fn check_width(&self) -> Result<()> {
        check_width_of(self.n_cols.max(1), self.n_stored)
    }

    fn look_at_classes(&mut self, part: &Ranking) {
        for i in 0..part.n_items() {
            let label = part.labels[i] + 0.0; // −0 is 0
            let is_present = part.weight(i) > 0.0 && part.group_weight(part.groups.numbers()[i] as usize) > 0.0;
            if is_present && self.labels.len() <= MOST_CLASSES {
                let place = self.labels.binary_search_by(|known| known.total_cmp(&label));
                if let Err(place) = place {
                    self.labels.insert(place, label);
                }
            }
        }
    }

    /// Whether there is anything to learn, and what it says of classes.
    fn check_terms(&mut self) -> Result<()> {
        if self.svm.task == Task::Rank {
            return check_pairs(self.n_seen, self.counts, self.mass);
        }
        if self.mass == f64::INFINITY {
            return Err(Error::Numeric {
                problem: "the weights of all items sum to infinity".into(),
                remedy: "divide all weights by a number that brings them near 1, and multiply C with it".into(),
            });
        }
        let names: Vec<String> = self.labels.iter().map(|&label| class_name(label)).collect();
        let known = self.start.as_ref().and_then(|start| start.classes.clone());
        let problem = match (known, names.as_slice()) {
            // A model that goes on knows its classes already.
            (Some(known), found) if found.iter().all(|name| known.contains(name)) => {
                self.labels = known.iter().filter_map(|name| name.parse().ok()).collect();
                self.labels.sort_by(f64::total_cmp);
                return Ok(());
            }
            (Some(known), found) => {
                return Err(Error::Mismatch {
                    problem: format!(
                        "the model to start from knows the classes {}, the data have {}",
                        known.join(" and "),
                        found.join(", ")
                    ),
                    remedy: "start from a model of the same classes".into(),
                });
            }
            (None, []) => "no item has a weight above 0, expected items with two different labels".into(),
            (None, [only]) => {
                format!("all labels are {only}, expected at least two different ones, one for each class")
            }
            (None, [a, b, c, ..]) if self.labels.len() > MOST_CLASSES => {
                format!("labels are {a}, {b}, {c}, …, more than {MOST_CLASSES}, which are no classes")
            }
            (None, found) if self.n_learnt.is_some_and(|n| n != found.len()) => {
                let n = self.n_learnt.unwrap_or_default();
                format!("there are {} classes by now, and steps for {n} of them were made already", found.len())
            }
            (None, _) => return Ok(()),
        };
        let remedy = match self.is_surveyed || !self.is_stream {
            _ if self.labels.len() > MOST_CLASSES => "rank by label (--task rank), or give fewer classes",
            true => "give items of other classes, too",
            false => "shuffle the data, so that all classes come early, or give a file, which can be read twice",
        };
        Err(Error::data(Place::file("items"), problem, remedy))
    }

    /// How many numbers a feature has: one for each of several classes.
    fn per_feature(&self) -> usize {
        let is_several = self.svm.task == Task::Classify && self.labels.len() > 2;
        if is_several { self.labels.len() } else { 1 }
    }

    /// Learns from a part, once in every pass. Returns false if a limit of time or the watch has ended the learning.
    pub fn learn(&mut self, part: &Ranking, watch: &dyn Watch) -> Result<bool> {
        if self.stop.is_some() {
            return Ok(false);
        }
        if !self.is_surveyed {
            if self.svm.scale != Scale::None {
                return Err(Error::Unsupported {
                    problem: "--scale learns from all of the data before the first step, and these are read once"
                        .into(),
                    remedy: "give a file, or scale the features beforehand".into(),
                });
            }
            self.look_at(part)?;
            self.check_terms()?;
            self.check_width()?;
        }
        let scaled = self.prepared(part)?;
        let mut terms = Terms::new(&self.svm, &scaled, &self.labels);
        // Steps so far should be those that belong to the weight so far: what rounds off here comes with the next part.
        let (steps, passes) = match self.is_surveyed {
            true => (self.svm.steps.unwrap_or_else(|| self.n_steps_of_passes()), self.svm.epochs.unwrap_or(1)),
            false => (self.n_steps_of_passes(), 1),
        };
        self.learnt += terms.mass();
        let share = self.learnt / self.mass / passes as f64;
        let n_steps = ((steps as f64 * share * (1.0 + ROUNDING)) as u64).saturating_sub(self.steps_made);
        self.step(&mut terms, &part.items, n_steps, watch)?;
        Ok(self.stop.is_none())
    }

    fn n_steps_of_passes(&self) -> u64 {
        let (items, groups) = (self.counts.n_items as u64, self.counts.n_groups as u64);
        let a_pass = if self.svm.batch == Batch::Group { groups } else { items };
        a_pass.saturating_mul(if self.is_surveyed { self.svm.epochs.unwrap_or(1) } else { 1 })
    }

    pub(super) fn learn_whole(&mut self, data: &Ranking, watch: &dyn Watch) -> Result<()> {
        let scaled = self.prepared(data)?;
        let mut terms = Terms::new(&self.svm, &scaled, &self.labels);
        let n_steps = self.svm.n_steps(self.counts.n_items, self.counts.n_groups);
        self.step(&mut terms, &data.items, n_steps, watch)
    }

    fn step(&mut self, terms: &mut Terms<'_>, items: &Items, n_steps: u64, watch: &dyn Watch) -> Result<()> {
        let dim = (items.features.n_cols() + usize::from(self.svm.task == Task::Classify)) * self.per_feature();
        let mut descent = match self.descent.take() {
            Some(descent) => descent,
            None => {
                self.names = Some(items.feature_names.clone());
                self.are_indicators = items.are_indicators;
                self.begin(terms, items)?
            }
        };
        descent.widen(dim);
        let lambda = 1.0 / (self.svm.c * self.mass);
        let spread = self.spread;
        let schedule = self.svm.schedule;
        let eta = |t: f64| match schedule {
            Schedule::Inverse => 1.0 / (lambda * t + spread),
            Schedule::Sqrt => 1.0 / (lambda + spread + (spread * lambda * t).sqrt()),
        };
        if !(lambda > 0.0 && lambda.is_finite() && spread.is_finite()) {
            return Err(out_of_range());
        }
        terms.set_seed(mix(self.svm.effort.seed, descent.steps() + 1));
        let mut limits = self.svm.effort.limits(self.started, watch);
        limits.max_iter = u64::MAX;
        let before = descent.steps();
        self.stop = terms.run(&mut descent, n_steps, lambda, eta, limits);
        self.steps_made += descent.steps() - before;
        self.descent = Some(descent);
        Ok(())
    }

    /// Where the first step starts, and how long steps are.
    fn begin(&mut self, terms: &mut Terms<'_>, items: &Items) -> Result<Descent> {
        let has_bias = self.svm.task == Task::Classify;
        let each = self.per_feature();
        self.n_learnt = Some(self.labels.len());
        let Some(start) = &self.start else {
            self.spread = terms.mean_square();
            let dim = (items.features.n_cols() + usize::from(has_bias)) * each;
            return Ok(Descent::new(vec![0.0; dim], self.svm.average));
        };
        self.spread = start.spread.unwrap_or_else(|| terms.mean_square());
        let mut weights = Vec::new();
        for machines in &start.machines {
            let mut found = Vec::new();
            for (at, (of_start, bias)) in machines.iter().enumerate() {
                let mut carried = start.carry(of_start, *bias, items, self.scaler.as_ref())?;
                if !has_bias {
                    carried.remove(0);
                }
                found.resize(each * carried.len(), 0.0);
                carried.iter().enumerate().for_each(|(feature, weight)| found[feature * each + at] = *weight);
            }
            weights.push(found);
        }
        let last = weights.pop().unwrap_or_default();
        let average = weights.pop().filter(|_| self.svm.average);
        Ok(Descent::resume(last, average, start.steps))
    }

    /// A part as steps see it: scaled, or at least near zero.
    fn prepared<'d>(&self, part: &'d Ranking) -> Result<Cow<'d, Ranking>> {
        let Some(scaler) = &self.scaler else {
            return Ok(if self.svm.task == Task::Rank { part.near_zero() } else { Cow::Borrowed(part) });
        };
        let features = &part.items.features;
        let n_cols = scaler.divisor.len();
        let wide = match n_cols > features.n_cols() && !features.is_sparse() {
            // Columns that a part lacks are 0 there, not their mean.
            true => Cow::Owned(features.widened(n_cols)),
            false => Cow::Borrowed(features),
        };
        let scaled = narrowed(scaler.apply(&wide)?, features);
        Ok(Cow::Owned(Ranking { items: Items { features: scaled, ..part.items.clone() }, ..part.clone() }))
    }

    /// Adds a part to the objective at the answer; with [`OnlineSvm::certify`] to its gap, too.
    pub fn measure(&mut self, part: &Ranking) -> Result<()> {
        let Some(descent) = &self.descent else { return Ok(()) };
        let weights = descent.answer();
        if weights.iter().any(|w| !w.is_finite()) {
            return Err(out_of_range());
        }
        let widths = if self.svm.certify { &WIDTHS[..] } else { &WIDTHS[..1] };
        let scaled = self.prepared(part)?;
        let points: Vec<SumPoint> = match self.svm.task {
            Task::Classify if self.labels.len() > 2 => {
                let sums = ClassSums::new(&scaled, &self.labels);
                widths.iter().map(|&width| sums.at(&weights, self.svm.c, width)).collect()
            }
            Task::Classify => {
                let sums = ExampleSums::new(&scaled, positive(&self.labels));
                widths.iter().map(|&width| sums.at(&weights, self.svm.c, width)).collect()
            }
            Task::Rank => {
                let shape = Shape::Hinge(1.0);
                let mut sums = RankSums::new(&scaled, |_| true, None, shape, self.svm.c, weighing(&self.svm), None);
                let n_cols = scaled.items.features.n_cols();
                let mut at = |width: &f64| {
                    sums.round_off(*width);
                    sums.go_to(&weights[..n_cols])
                };
                widths.iter().map(&mut at).collect()
            }
        };
        self.exact.resize_with(points.len(), SumPoint::default);
        for (sum, point) in self.exact.iter_mut().zip(points) {
            sum.meant += point.meant;
            sum.excess += point.excess;
            sum.gradient.resize(weights.len(), 0.0);
            sum.gradient.iter_mut().zip(&point.gradient).for_each(|(sum, g)| *sum += g);
        }
        Ok(())
    }

    /// Objective and gap at given weights; NaN where they were not measured.
    fn values(&self, weights: &[f64]) -> (f64, f64) {
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let Some(first) = self.exact.first() else { return (f64::NAN, f64::NAN) };
        let primal = 0.5 * square(weights) + first.meant;
        if !self.svm.certify {
            return (primal, f64::NAN);
        }
        let dual = self.exact.iter().map(|point| {
            let residual: f64 = weights.iter().zip(&point.gradient).map(|(w, g)| (w + g) * (w + g)).sum();
            let norm = square(&point.gradient);
            // All dual variables may be made smaller by one factor.
            let sum = primal - (0.5 * residual + point.excess) + 0.5 * norm;
            let share = if norm > 0.0 { (sum / norm).clamp(0.0, 1.0) } else { 1.0 };
            share * sum - 0.5 * share * share * norm
        });
        let dual = dual.fold(0.0, f64::max);
        (primal, (primal - dual) / primal.max(1e-12))
    }

    /// The model.
    pub fn finish(self, mut warnings: Vec<String>) -> Result<Model> {
        let Some(descent) = &self.descent else {
            let problem = "there is no item";
            return Err(Error::data(Place::file("items"), problem, "give items with labels"));
        };
        if self.steps_made == 0 && self.stop.is_none() {
            return Err(Error::data(
                Place::file("items"),
                "there are fewer pairs than a step needs",
                "ask for steps with --steps N",
            ));
        }
        let (weights, last) = (descent.answer(), descent.last());
        let (objective, gap) = self.values(&weights);
        let is_finite = weights.iter().chain(&last).all(|w| w.is_finite());
        if !is_finite || (self.exact.len() == 1 && !objective.is_finite()) {
            return Err(out_of_range());
        }
        warnings.extend(why_dropped(self.counts));
        if self.steps_made > 0 && weights.iter().all(|&w| w == 0.0) {
            warnings.push(Stop::Converged.why_nothing("weights"));
        }
        if let Some(why) = self.stop.and_then(Stop::reason) {
            warnings.push(format!("stopped early, after {} steps: {why}", self.steps_made));
        }
        let needed = self.spread * self.svm.c * self.mass;
        if self.stop.is_none() && needed > descent.steps() as f64 {
            let remedy = match self.is_read_once() {
                true => "give more data, or a file, which can be read again (--epochs)",
                false => "make more (--steps)",
            };
            warnings.push(format!(
                "few steps for this C: steps begin to converge after about {needed:.1e} of them, {} were made; {remedy}, or \
                 choose a smaller C",
                descent.steps()
            ));
        }
        let is_classifier = self.svm.task == Task::Classify;
        let split = |all: Vec<f64>| match (is_classifier, all.split_first()) {
            (true, Some((&bias, weights))) => (weights.to_vec(), bias),
            _ => (all, 0.0),
        };
        let steps = descent.steps();
        let each = self.per_feature();
        let (function, last, last_bias) = if each > 1 {
            let (weights, biases) = by_class(&weights, each);
            let (last, last_biases) = by_class(&last, each);
            let d = last.len() / each;
            let whole = (0..each).flat_map(|k| last[k * d..][..d].iter().copied().chain([last_biases[k]]));
            let last = whole.collect();
            (ScoreFunction::Several { basis: Basis::Features, coefficients: weights, biases }, last, 0.0)
        } else {
            let ((weights, bias), (last, last_bias)) = (split(weights), split(last));
            (ScoreFunction::Linear { weights, bias }, last, last_bias)
        };
        let n_features = match &function {
            ScoreFunction::Several { coefficients, .. } => coefficients.len() / each,
            _ => last.len(),
        };
        let training = self.record(n_features, objective, gap, warnings);
        let scorer = Scorer {
            n_features,
            feature_names: self.names.flatten(),
            are_indicators: self.are_indicators,
            scaler: self.scaler.map(|scaler| widened(scaler, n_features)),
            function,
        };
        let state = OnlineState { steps, spread: self.spread, weights: last, bias: last_bias };
        let classes = is_classifier.then(|| self.labels.iter().map(|&label| class_name(label)).collect());
        Ok(Model {
            scorer,
            threshold: 0.0,
            beta: None,
            no_tie_region: false,
            band: None,
            chances: None,
            classes,
            class_rule: (each > 1).then_some(ClassRule { scheme: ClassScheme::WestonWatkins, sigmoids: None }),
            grades: None,
            state: Some(state),
            training,
        })
    }

    fn record(&self, features: usize, objective: f64, gap: f64, warnings: Vec<String>) -> Training {
        let (svm, counts) = (&self.svm, self.counts);
        let is_met = gap <= svm.effort.tol;
        Training {
            method: Method::Online,
            learnt_from: LearntFrom::Items,
            loss: Loss::Hinge,
            kernel: KernelFunction::Linear,
            c: svm.c,
            tol: svm.effort.tol,
            seed: svm.effort.seed,
            threshold_rule: ThresholdRule::default(),
            tie_region: TieRegion::default(),
            tie_band: TieBandKind::Constant,
            tie_parameter: None,
            tie_weight: 1.0,
            balance: svm.balance,
            scale: svm.scale,
            items: counts.n_items,
            features,
            groups: (svm.task == Task::Rank).then_some(counts.n_groups),
            groups_dropped: counts.n_dropped,
            pairs: usize::try_from(counts.n_pairs).unwrap_or(usize::MAX),
            ties: 0,
            objective,
            gap,
            certificate: match svm.certify {
                true => "relative duality gap".into(),
                false if self.is_read_once() => "none: subgradient steps on data that are read once".into(),
                false => "none: subgradient steps; --certify computes it".into(),
            },
            iterations: self.steps_made,
            stop: if is_met { Stop::Converged } else { self.stop.unwrap_or(Stop::MaxIter) },
            support: None,
            support_names: None,
            support_pairs: 0,
            collapsed: false,
            tie_share: TieShare { observed: 0.0, predicted: 0.0 },
            margin: None,
            lp_slack: None,
            normalise: false,
            approx: None,
            pairs_per_item: None,
            online: Some(OnlineTraining {
                task: svm.task,
                batch: svm.batch,
                schedule: svm.schedule,
                average: svm.average,
                stream: self.is_stream,
            }),
            svm: None,
            program: None,
            warnings,
            tuning: None,
        }
    }
}

/// Weights of each class, one after the other, and biases.
fn by_class(weights: &[f64], n_classes: usize) -> (Vec<f64>, Vec<f64>) {
    let (biases, of_features) = weights.split_at(n_classes.min(weights.len()));
    let of_class = |class: usize| of_features.iter().skip(class).step_by(n_classes).copied();
    ((0..n_classes).flat_map(of_class).collect(), biases.to_vec())
}

/// Scaled features in f32 where the features were stored so.
fn narrowed(scaled: Features, before: &Features) -> Features {
    match scaled.values() {
        Values::F64(values) if before.is_f32() && !scaled.is_sparse() => {
            let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            Features::dense_f32(scaled.n_cols(), values).unwrap_or(scaled)
        }
        _ => scaled,
    }
}

/// New features are left as they are.
fn widened(mut scaler: Scaler, n_features: usize) -> Scaler {
    scaler.shift.resize(n_features, 0.0);
    scaler.divisor.resize(n_features, 1.0);
    scaler
}

fn out_of_range() -> Error {
    Error::Numeric {
        problem: "the numbers leave the range of floating point".into(),
        remedy: "scale the features (--scale standard), choose a C nearer to 1, or check for numbers that are far too \
                 large or small"
            .into(),
    }
}
