//! A model and its training, as facts and as JSON: what `train` and `inspect` have in common.

use rankwise::Stop;
use rankwise::data::Scale;
use rankwise::kernel::KernelFunction;
use rankwise::model::{
    Balance, Chances, ClassWeights, Constraints, GradeRule, LearntFrom, Method, Model, OnlineTraining, Task,
    ThresholdRule, TieBandKind, TieRegion, TieShare, Training,
};
pub(super) use rankwise::model::{Description, or_inf};

use crate::text::{Facts, count, number, percent, rounded, rounded_or_dash};

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
    } else if let Some(bias) = model.bias() {
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
        let bias = model.bias().unwrap_or(0.0);
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
                Some(_) if model.n_landmarks().is_some() => {
                    format!("{} that describe the others", count(model.n_landmarks().unwrap_or_default(), "landmark"))
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
    format!("{why} after {} (tol {})", count(training.iterations as usize, "iteration"), number(training.tol))
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
