//! A model and its training, as facts and as JSON: what `train` and `inspect` have in common.

use rankwise::data::Scale;
use rankwise::kernel::KernelFunction;
use rankwise::model::{
    Balance, Chances, ClassScheme, ClassWeights, CoefficientSign, Constraints, GradeRule, LearntFrom, Method, Model,
    OnlineTraining, ScoreFunction, SvmTraining, Task, ThresholdRule, TieBandKind, TieRegion, TieShare, Training,
};
use rankwise::{Loss, Stop};
use serde::{Serialize, Serializer};

use crate::text::{Facts, count, number, percent, rounded, rounded_or_dash};

/// The JSON keys that describe a model.
#[derive(Debug, Serialize)]
pub(super) struct Description<'a> {
    method: Method,
    learnt_from: LearntFrom,
    loss: Loss,
    kernel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degree: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coef0: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approx: Option<String>,
    #[serde(rename = "C", serialize_with = "or_inf")]
    c: f64,
    tol: f64,
    seed: u64,
    scale: Scale,
    balance: Balance,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    normalise: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs_per_item: Option<usize>,
    items: usize,
    features: usize,
    groups: Option<usize>,
    groups_dropped: usize,
    pairs: usize,
    ties: usize,
    objective: Option<f64>,
    gap: Option<f64>,
    certificate: &'a str,
    iterations: u64,
    stop: Stop,
    support: Option<usize>,
    #[serde(flatten)]
    online: Option<OnlineTraining>,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bias: Option<f64>,
    #[serde(flatten)]
    svm: Option<SvmJson<'a>>,
    #[serde(flatten)]
    program: Option<ProgramJson>,
    #[serde(flatten)]
    separation: Option<Separation>,
    #[serde(flatten)]
    comparer: Option<Comparer>,
}

/// What only classifiers, regressions and models of grades have.
#[derive(Debug, Serialize)]
struct SvmJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_scheme: Option<ClassScheme>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_weight: Option<String>,
    #[serde(skip_serializing_if = "<[usize]>::is_empty")]
    class_sizes: &'a [usize],
    /// How grades are told apart.
    #[serde(flatten)]
    grades: Option<GradesJson<'a>>,
    /// How many machines tell the classes apart.
    machines: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<bool>,
    /// Whether items had margins of their own.
    item_margins: bool,
}

/// What only models of grades have.
#[derive(Debug, Serialize)]
struct GradesJson<'a> {
    constraints: Option<Constraints>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<usize>,
    grades: &'a [f64],
    grade_sizes: &'a [usize],
    /// Between neighbouring grades.
    thresholds: &'a [f64],
    /// Between labels that were put into bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    label_cuts: Option<&'a [f64]>,
}

impl<'a> SvmJson<'a> {
    fn new(model: &'a Model, svm: &'a SvmTraining) -> Self {
        SvmJson {
            epsilon: svm.epsilon,
            class_scheme: svm.scheme,
            class_weight: (svm.class_weights != ClassWeights::Equal).then(|| svm.class_weights.text()),
            class_sizes: if model.grades.is_some() { &[] } else { &svm.class_sizes },
            grades: model.grades.as_ref().map(|rule| GradesJson {
                constraints: svm.constraints,
                bins: svm.bins,
                grades: &rule.grades,
                grade_sizes: &svm.class_sizes,
                thresholds: &rule.thresholds,
                label_cuts: rule.cuts.as_deref(),
            }),
            machines: model.scorer.function.n_machines(),
            probabilities: model.class_rule.as_ref().map(|rule| rule.sigmoids.is_some()),
            item_margins: svm.has_margins,
        }
    }
}

/// What only linear programs have.
#[derive(Debug, Serialize)]
struct ProgramJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficients: Option<CoefficientSign>,
    #[serde(rename = "critical_C", skip_serializing_if = "Option::is_none")]
    critical_c: Option<f64>,
    /// Of rank-l1: pairs with a coefficient.
    #[serde(rename = "support_pairs", skip_serializing_if = "Option::is_none")]
    pairs: Option<usize>,
}

/// What a hard margin says.
#[derive(Debug, Serialize)]
struct Separation {
    separable: bool,
    margin: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lp_slack: Option<f64>,
}

/// What only models learnt from pairs have.
#[derive(Debug, Serialize)]
struct Comparer {
    threshold_rule: ThresholdRule,
    tie_region: TieRegion,
    tie_weight: f64,
    /// Not counted where labels and judged pairs were learnt from together.
    support_pairs: Option<usize>,
    threshold: f64,
    beta: Option<f64>,
    no_tie_region: bool,
    collapsed: bool,
    tie_parameter: Option<f64>,
    tie_band: TieBandKind,
    /// How margins become probabilities: `rule` and its numbers; null without probabilities.
    probabilities: Option<Chances>,
    /// Items that make the kernel linear, where the model is made of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    landmarks: Option<usize>,
    tie_share: TieShare,
}

/// C in JSON, which knows no infinite numbers.
pub(super) fn or_inf<S: Serializer>(c: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if *c == f64::INFINITY { serializer.serialize_str("inf") } else { serializer.serialize_f64(*c) }
}

impl<'a> Description<'a> {
    /// Describes a model.
    pub(super) fn new(model: &'a Model) -> Self {
        let training = &model.training;
        let (gamma, degree, coef0) = match training.kernel {
            KernelFunction::Poly { gamma, coef0, degree } => (Some(gamma), Some(degree), Some(coef0)),
            KernelFunction::Rbf { gamma } => (Some(gamma), None, None),
            KernelFunction::Sigmoid { gamma, coef0 } => (Some(gamma), None, Some(coef0)),
            _ => (None, None, None),
        };
        Description {
            method: training.method,
            learnt_from: training.learnt_from,
            loss: training.loss,
            kernel: training.kernel.name(),
            gamma,
            degree,
            coef0,
            approx: training.approx.map(|approx| approx.to_string()),
            c: training.c,
            tol: training.tol,
            seed: training.seed,
            scale: training.scale,
            balance: training.balance,
            normalise: training.normalise,
            pairs_per_item: training.pairs_per_item,
            items: training.items,
            features: training.features,
            groups: training.groups,
            groups_dropped: training.groups_dropped,
            pairs: training.pairs,
            ties: training.ties,
            objective: training.known_objective(),
            gap: training.known_gap(),
            certificate: &training.certificate,
            iterations: training.iterations,
            stop: training.stop,
            support: training.support,
            online: training.online,
            classes: model.classes.as_deref(),
            bias: bias(model),
            svm: training.svm.as_ref().map(|svm| SvmJson::new(model, svm)),
            program: training.program.map(|program| ProgramJson {
                coefficients: program.coefficients,
                critical_c: program.critical_c,
                pairs: (training.method == Method::RankL1).then_some(training.support_pairs),
            }),
            separation: training.margin.map(|margin| Separation {
                separable: true,
                margin,
                lp_slack: training.lp_slack,
            }),
            comparer: (training.learnt_from != LearntFrom::Items).then(|| Comparer::new(model)),
        }
    }
}

impl Comparer {
    fn new(model: &Model) -> Self {
        let training = &model.training;
        Comparer {
            threshold_rule: training.threshold_rule,
            tie_region: training.tie_region,
            tie_weight: training.tie_weight,
            support_pairs: (training.learnt_from == LearntFrom::Pairs).then_some(training.support_pairs),
            threshold: model.threshold,
            beta: model.beta,
            no_tie_region: model.no_tie_region,
            collapsed: training.collapsed,
            tie_parameter: training.tie_parameter,
            tie_band: training.tie_band,
            probabilities: model.chances,
            landmarks: landmarks(model),
            tie_share: training.tie_share,
        }
    }
}

/// Adds what the model is, how it was trained and how that ended.
pub(super) fn add_facts(facts: &mut Facts, model: &Model) {
    let training = &model.training;
    facts.add("method", training.method.name());
    if training.c.is_finite() {
        facts.add("loss", training.loss.name());
    }
    facts.add("kernel", kernel_text(&training.kernel));
    facts.add("C", c_text(training.c));
    let options = options_text(model);
    if !options.is_empty() {
        facts.add("options", options);
    }
    facts.add("data", data_text(training));
    facts.add("objective", rounded_or_dash(training.known_objective()));
    facts.add("gap", format!("{} ({})", rounded_or_dash(training.known_gap()), training.certificate));
    facts.add("stop", stop_text(training));
    if let Some(support) = training.support.filter(|_| training.svm.is_some()) {
        facts.add("support", format!("{} of {}", count(support, "item"), training.items));
    }
    if let Some(classes) = &model.classes {
        facts.add("classes", classes_text(model, classes));
    } else if let Some(rule) = &model.grades {
        add_grades(facts, training, rule);
    } else if let Some(bias) = bias(model) {
        facts.add("bias", rounded(bias));
    }
    if let Some(margin) = training.margin {
        let what = match training.method {
            Method::Classify => "the least distance of an item from where classes change, 1/‖w‖",
            Method::Regress => "1/‖w‖ of the flattest function within the tube",
            Method::CompareLp => "μ, the least distance of a pair's |margin| from the threshold 1",
            _ if training.lp_slack.is_some() => "−1/β, the least distance of a pair's |margin| from the threshold 1",
            _ => "the least lead of a better item, for weights of norm 1",
        };
        facts.add("margin", format!("{}: {what}", rounded(margin)));
    }
    if let Some(slack) = training.lp_slack {
        let is_feasible = if slack >= -1e-9 { "yes" } else { "no" };
        facts.add("max-margin LP", format!("feasible there: {is_feasible}, smallest slack {}", rounded(slack)));
    }
    if training.learnt_from != LearntFrom::Items {
        add_comparer_facts(facts, model);
    } else if let Some(items) = training.support.filter(|_| training.svm.is_none()) {
        let of_pairs = match training.method {
            Method::RankL1 => format!(" in {}", count(training.support_pairs, "pair")),
            _ => String::new(),
        };
        let items = if training.method == Method::Rvm { count(items, "ranking vector") } else { count(items, "item") };
        facts.add("support", format!("{items}{of_pairs}, of {}", count(training.items, "item")));
    }
    if let Some(c) = training.program.and_then(|program| program.critical_c) {
        facts.add("critical C", format!("{}: up to here nothing is learnt", rounded(c)));
    }
}

/// What a regression or a classifier adds to all scores.
fn bias(model: &Model) -> Option<f64> {
    match model.scorer.function {
        ScoreFunction::Linear { bias, .. } | ScoreFunction::Kernel { bias, .. }
            if model.grades.is_none()
                && (model.training.method == Method::Ridge
                    || model.training.svm.is_some()
                    || model.classes.is_some()) =>
        {
            Some(bias)
        }
        _ => None,
    }
}

/// The grades with their sizes, and what lies between them.
fn add_grades(facts: &mut Facts, training: &Training, rule: &GradeRule) {
    const SHOWN: usize = 12;
    let sizes = training.svm.as_ref().map(|svm| svm.class_sizes.as_slice()).unwrap_or_default();
    let some = |texts: Vec<String>| {
        let dots = if texts.len() > SHOWN { ", …" } else { "" };
        texts[..texts.len().min(SHOWN)].join(", ") + dots
    };
    let with_sizes = rule.grades.iter().zip(sizes).map(|(grade, size)| format!("{} ({size})", number(*grade)));
    facts.add("grades", format!("{}: {}", rule.grades.len(), some(with_sizes.collect())));
    let all = |values: &[f64]| some(values.iter().map(|&value| rounded(value)).collect());
    facts.add("thresholds", format!("{}; a score at one or above it means a higher grade", all(&rule.thresholds)));
    if let Some(cuts) = &rule.cuts {
        facts.add("bins", format!("of labels, cut at {}", all(cuts)));
    }
}

/// The classes with their sizes, and what tells them apart.
fn classes_text(model: &Model, classes: &[String]) -> String {
    const SHOWN: usize = 8;
    let sizes = model.training.svm.as_ref().map(|svm| svm.class_sizes.as_slice()).unwrap_or_default();
    let name = |at: usize| match sizes.get(at) {
        Some(size) => format!("{} ({size})", classes[at]),
        None => classes[at].clone(),
    };
    let names: Vec<String> = (0..classes.len().min(SHOWN)).map(name).collect();
    if classes.len() == 2 {
        let bias = bias(model).unwrap_or(0.0);
        let by = match model.class_rule.as_ref().and_then(|rule| rule.sigmoids.as_ref()) {
            Some(_) => "the more probable one is predicted",
            None => "scores below 0 mean the first",
        };
        return format!("{}, {by}; bias {}", names.join(" and "), rounded(bias));
    }
    let dots = if classes.len() > SHOWN { ", …" } else { "" };
    let machines = count(model.scorer.function.n_machines(), "machine");
    format!("{} classes: {}{dots}; {machines}", classes.len(), names.join(", "))
}

fn add_comparer_facts(facts: &mut Facts, model: &Model) {
    let training = &model.training;
    if training.learnt_from == LearntFrom::Pairs {
        facts.add(
            "support",
            match training.support {
                Some(_) if landmarks(model).is_some() => {
                    format!("{} that describe the others", count(landmarks(model).unwrap_or_default(), "landmark"))
                }
                Some(items) => format!("{}, {}", count(training.support_pairs, "pair"), count(items, "item")),
                None => count(training.support_pairs, "pair"),
            },
        );
    }
    facts.add("threshold", threshold_text(model));
    if let Some(beta) = model.beta {
        facts.add("β", rounded(beta));
    }
    if training.collapsed {
        facts.add("collapsed", "the constant answer is the optimum; try another loss");
    }
    if let Some(chances) = model.chances {
        facts.add("probabilities", chances_text(chances, model.band.is_some()));
    }
    let TieShare { observed, predicted } = training.tie_share;
    facts.add("ties", format!("{} observed, {} predicted", percent(observed), percent(predicted)));
}

/// C for people to read.
pub(super) fn c_text(c: f64) -> String {
    if c == f64::INFINITY { "inf (hard margin)".into() } else { number(c) }
}

fn kernel_text(kernel: &KernelFunction) -> String {
    match *kernel {
        KernelFunction::Poly { gamma, coef0, degree } => {
            format!("poly, γ {}, coef0 {}, degree {degree}", rounded(gamma), rounded(coef0))
        }
        KernelFunction::Rbf { gamma } => format!("rbf, γ {}", rounded(gamma)),
        KernelFunction::Sigmoid { gamma, coef0 } => format!("sigmoid, γ {}, coef0 {}", rounded(gamma), rounded(coef0)),
        _ => kernel.name().into(),
    }
}

/// The options that are not at their defaults.
fn options_text(model: &Model) -> String {
    let training = &model.training;
    let mut options = Vec::new();
    if let Some(approx) = training.approx {
        options.push(format!("--approx {approx}"));
    }
    if training.tie_band == TieBandKind::Pair {
        options.push("--tie-band pair".to_string());
    }
    if matches!(model.chances, Some(Chances::Calibrated { .. })) {
        options.push("--calibrate".to_string());
    }
    if training.tie_region == TieRegion::Always && training.method != Method::CompareLp {
        options.push("--tie-region always".to_string());
    }
    if training.tie_weight != 1.0 {
        options.push(format!("--tie-weight {}", number(training.tie_weight)));
    }
    if training.normalise {
        options.push("--normalise".into());
    }
    if let Some(sign) = training.program.and_then(|program| program.coefficients) {
        options.push(format!("--coefficients {}", sign.name()));
    }
    if let Some(k) = training.pairs_per_item {
        options.push(format!("--pairs-per-item {k}"));
    }
    match training.balance {
        Balance::None => {}
        Balance::Outcomes => options.push("--balance outcomes".into()),
        Balance::Groups => options.push("--balance groups".into()),
    }
    match training.scale {
        Scale::None => {}
        Scale::Standard => options.push("--scale standard".into()),
        Scale::Minmax => options.push("--scale minmax".into()),
    }
    if let Some(svm) = &training.svm {
        options.extend(svm.epsilon.map(|epsilon| format!("--epsilon {}", number(epsilon))));
        let several = svm.scheme.filter(|_| model.scorer.function.n_machines() > 1);
        options.extend(several.map(|scheme| format!("--classes {}", scheme.name())));
        let weighs = svm.class_weights != ClassWeights::Equal;
        options.extend(weighs.then(|| format!("--class-weight {}", svm.class_weights.text())));
        let of_grades = svm.constraints.filter(|kind| *kind != Constraints::default());
        options.extend(of_grades.map(|kind| format!("--constraints {}", kind.name())));
        options.extend(svm.bins.map(|bins| format!("--bins {bins}")));
        let has_chances = model.class_rule.as_ref().is_some_and(|rule| rule.sigmoids.is_some());
        options.extend(has_chances.then(|| "--probabilities".to_string()));
    }
    if let Some(OnlineTraining { task, batch, schedule, average, stream }) = training.online {
        options.push(format!("--task {} --batch {} --schedule {}", task.name(), batch.name(), schedule.name()));
        options.extend((!average).then(|| "--no-average".to_string()));
        options.extend(stream.then(|| "--stream".to_string()));
    }
    options.join(" ")
}

fn data_text(training: &Training) -> String {
    let is_of_items = training.method == Method::Ridge || training.svm.is_some();
    if is_of_items || training.online.is_some_and(|online| online.task == Task::Classify) {
        return format!("{}, {}", count(training.items, "item"), count(training.features, "feature"));
    }
    if training.learnt_from != LearntFrom::Pairs {
        let text = items_text(
            training.items,
            training.features,
            training.groups.unwrap_or(1),
            training.groups_dropped,
            training.pairs,
        );
        let is_both = training.learnt_from == LearntFrom::Both;
        let more = format!("; of labels and judgments, {} among these", count(training.ties, "tie"));
        return text + if is_both { &more } else { "" };
    }
    let mut text = format!(
        "{} ({}), {}, {}",
        count(training.pairs, "pair"),
        count(training.ties, "tie"),
        count(training.items, "item"),
        count(training.features, "feature")
    );
    if let Some(groups) = training.groups {
        text += &format!(", {}", count(groups, "group"));
    }
    text
}

/// What a machine on items has learnt from.
pub(super) fn items_text(items: usize, features: usize, groups: usize, dropped: usize, pairs: usize) -> String {
    let mut text = format!(
        "{}, {}, {}, {}",
        count(items, "item"),
        count(features, "feature"),
        count(groups, "group"),
        count(pairs, "pair")
    );
    if dropped > 0 {
        text += &format!("; {} without a pair left out", count(dropped, "group"));
    }
    text
}

fn stop_text(training: &Training) -> String {
    if training.online.is_some() && matches!(training.stop, Stop::MaxIter | Stop::Converged) {
        return format!("after {} steps, as asked for", training.iterations);
    }
    let why = match training.stop {
        Stop::Converged => "converged",
        Stop::MaxIter => "stopped by --max-iter",
        Stop::TimeLimit => "stopped by --time-limit",
        Stop::Interrupted => "interrupted",
        Stop::Stalled => "no further progress possible",
        _ => training.stop.name(),
    };
    format!("{why} after {} iterations (tol {})", training.iterations, number(training.tol))
}

fn threshold_text(model: &Model) -> String {
    let decides = matches!(model.chances, Some(Chances::RaoKupper { .. } | Chances::Davidson { .. }));
    let rule = match (model.training.method, model.training.threshold_rule) {
        _ if decides => "where a tie is as likely as the better side",
        _ if model.band.is_some() => "the tie band's own",
        (Method::Compare | Method::CompareLp, ThresholdRule::Model) => "the machine's own",
        _ => "the one with the least error",
    };
    let region = if model.no_tie_region { "; the machine itself found no region of ties" } else { "" };
    let mean = if model.band.is_some() { " in the mean over the training pairs, one for every pair" } else { "" };
    format!("{}{mean} ({rule}{region})", rounded(model.threshold))
}

/// How margins m become probabilities.
fn chances_text(chances: Chances, has_band: bool) -> String {
    match chances {
        Chances::RaoKupper { tau } if has_band => {
            format!("Rao–Kupper, τ from the tie band and at least {}", rounded(tau))
        }
        Chances::RaoKupper { tau } => format!("Rao–Kupper, τ {}", rounded(tau)),
        Chances::Davidson { .. } if has_band => "Davidson, log ν from the tie band".into(),
        Chances::Davidson { log_nu } => format!("Davidson, ν {}", rounded(log_nu.exp())),
        Chances::Calibrated { slope, offset, by_width } => {
            let width = if has_band { format!(" + {}·width", rounded(by_width)) } else { String::new() };
            let (slope, offset) = (rounded(slope / 2.0), rounded(offset));
            format!("left : tie : right = e^(−{slope}·m) : e^({offset}{width}) : e^({slope}·m), fitted to unseen pairs")
        }
    }
}

/// How many items the features of a kernel come from.
fn landmarks(model: &Model) -> Option<usize> {
    match &model.scorer.function {
        ScoreFunction::Landmarks { map, .. } => Some(map.len()),
        _ => None,
    }
}
