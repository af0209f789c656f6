//! A search over parameters as a table, as csv and as JSON: what `tune` and `inspect` have in common.

use rankwise::Loss;
use rankwise::kernel::{Gamma, Kernel};
use rankwise::model::{Method, Tuning, TuningBaseline, TuningPoint, TuningSplit};
use rankwise::selection::OrderMetric;
use serde::{Serialize, Serializer};

use crate::text::{count, number, rounded, rounded_or_dash, wide_table};

/// More points than this are not all shown.
const MANY: usize = 40;
/// Of many points, so many of the best are.
const SHOWN: usize = 20;

/// The JSON keys that describe a search.
#[derive(Debug, Serialize)]
pub(super) struct TuningJson<'a> {
    metric: &'a str,
    greater_is_better: bool,
    split: TuningSplit,
    baseline: Option<f64>,
    best: PointJson<'a>,
    points: Vec<PointJson<'a>>,
    stopped_after: Option<usize>,
}

#[derive(Debug, Serialize)]
struct PointJson<'a> {
    params: Params,
    mean: Option<f64>,
    folds: &'a [Option<f64>],
}

impl<'a> TuningJson<'a> {
    /// Describes a search.
    pub(super) fn new(tuning: &'a Tuning) -> Self {
        let json =
            |point: &'a TuningPoint| PointJson { params: Params::of(point), mean: point.mean, folds: &point.folds };
        TuningJson {
            metric: &tuning.metric,
            greater_is_better: tuning.greater_is_better,
            split: tuning.split,
            baseline: tuning.baseline.map(|baseline| baseline.value),
            best: json(&tuning.points[tuning.best]),
            points: tuning.points.iter().map(json).collect(),
            stopped_after: tuning.stopped_after,
        }
    }
}

/// The parameters that a point has.
#[derive(Debug, Serialize)]
struct Params {
    loss: Loss,
    kernel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number_or_scale")]
    gamma: Option<Gamma>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degree: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coef0: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
    #[serde(rename = "C")]
    c: f64,
}

fn number_or_scale<S: Serializer>(gamma: &Option<Gamma>, serializer: S) -> Result<S::Ok, S::Error> {
    match gamma {
        Some(Gamma::Value(value)) => serializer.serialize_f64(*value),
        _ => serializer.serialize_str("scale"),
    }
}

impl Params {
    const NAMES: [&'static str; 7] = ["loss", "kernel", "gamma", "degree", "coef0", "epsilon", "C"];

    fn of(point: &TuningPoint) -> Self {
        let (kernel, gamma, degree, coef0) = match point.kernel {
            Kernel::Poly { gamma, coef0, degree } => ("poly", Some(gamma), Some(degree), Some(coef0)),
            Kernel::Rbf { gamma } => ("rbf", Some(gamma), None, None),
            Kernel::Sigmoid { gamma, coef0 } => ("sigmoid", Some(gamma), None, Some(coef0)),
            _ => ("linear", None, None, None),
        };
        Params { loss: point.loss, kernel, gamma, degree, coef0, epsilon: point.epsilon, c: point.c }
    }

    /// In the order of [`Params::NAMES`], each number in the given form; what a point does not have is empty.
    fn texts(&self, number: fn(f64) -> String) -> [String; 7] {
        let gamma = match self.gamma {
            Some(Gamma::Value(value)) => number(value),
            Some(Gamma::Scale) => "scale".into(),
            None => String::new(),
        };
        let degree = self.degree.map_or_else(String::new, |degree| degree.to_string());
        let coef0 = self.coef0.map_or_else(String::new, number);
        let epsilon = self.epsilon.map_or_else(String::new, number);
        [self.loss.name().into(), self.kernel.into(), gamma, degree, coef0, epsilon, number(self.c)]
    }
}

/// Where the values come from, in words.
pub(super) fn split_text(split: TuningSplit) -> String {
    match split {
        TuningSplit::Validation { pairs } => count(pairs, "validation pair"),
        TuningSplit::ValidationItems { items, groups: 0 } => count(items, "validation item"),
        TuningSplit::ValidationItems { items, groups } => {
            format!("{} in {}", count(items, "validation item"), count(groups, "group"))
        }
        TuningSplit::Folds { folds } => count(folds, "fold"),
    }
}

/// What stands beside every value: a constant answer's.
pub(super) fn baseline_text(tuning: &Tuning, method: Method) -> String {
    match &tuning.baseline {
        Some(baseline) => {
            format!("{} would get {}", constant_answer(tuning, baseline, method, ['"'; 2]), rounded(baseline.value))
        }
        None => format!("{} of a constant answer is not known", tuning.metric),
    }
}

/// The constant answer to which a search compares, in words.
pub(super) fn constant_answer(
    tuning: &Tuning,
    baseline: &TuningBaseline,
    method: Method,
    [open, close]: [char; 2],
) -> String {
    let is_of_chances = ["log_loss", "brier"].contains(&tuning.metric.as_str());
    let is_of_order = OrderMetric::ALL.iter().any(|metric| metric.name() == tuning.metric);
    match (method, baseline.outcome) {
        (_, Some(outcome)) => format!("always {open}{}{close}", outcome.name()),
        (Method::Classify, None) if is_of_chances => "the shares of the classes alone".into(),
        (Method::Classify, None) => "always the most frequent class".into(),
        (Method::Ordinal, None) if !is_of_order => "always the most frequent grade".into(),
        (Method::Regress, None) => "always the mean label".into(),
        (_, None) if is_of_chances => "the shares of the outcomes alone".into(),
        (_, None) => "a random order".into(),
    }
}

/// The search in a line.
pub(super) fn line(tuning: &Tuning) -> String {
    let mean = rounded_or_dash(tuning.points[tuning.best].mean);
    let points = match tuning.stopped_after {
        None => count(tuning.points.len(), "point"),
        Some(n) => format!("{n} of {} (the time was over)", count(tuning.points.len(), "point")),
    };
    format!("chosen from {points} by {} on {}: {mean}", tuning.metric, split_text(tuning.split))
}

/// A table of the points, in the order of the grid; of many, the best ones.
pub(super) fn text(tuning: &Tuning) -> String {
    let order = shown(tuning);
    let (header, rows) = rows(tuning, &order, "*");
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let table = wide_table(&header, rows);
    if order.len() == tuning.points.len() {
        return table;
    }
    let (n, all) = (order.len(), tuning.points.len());
    format!("{table}the {n} best of {all} points; all of them: --table FILE.csv or --json\n")
}

/// A header and a row for each of these points; the chosen one is marked. Parameters that never change are left out.
pub(super) fn rows(tuning: &Tuning, points: &[usize], mark: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let texts: Vec<[String; 7]> = tuning.points.iter().map(|point| Params::of(point).texts(rounded)).collect();
    let varies = |&at: &usize| {
        let mut values = texts.iter().map(|row| &row[at]).filter(|text| !text.is_empty());
        values.next().is_some_and(|first| values.any(|value| value != first))
    };
    let varying: Vec<usize> = (0..Params::NAMES.len()).filter(varies).collect();
    // A single point has nothing that varies.
    let columns = if varying.is_empty() { vec![Params::NAMES.len() - 1] } else { varying };
    let has_folds = matches!(tuning.split, TuningSplit::Folds { .. });
    let mut header = vec![String::new()];
    header.extend(columns.iter().map(|&at| Params::NAMES[at].into()));
    header.push(tuning.metric.clone());
    header.extend(has_folds.then(|| "over folds".into()));
    let row = |&at: &usize| {
        let point = &tuning.points[at];
        let mut row = vec![if at == tuning.best { mark } else { "" }.to_string()];
        row.extend(columns.iter().map(|&column| texts[at][column].clone()));
        row.push(four_or_dash(point.mean));
        row.extend(has_folds.then(|| spread(&point.folds)));
        row
    };
    (header, points.iter().map(row).collect())
}

/// A value of a metric with four digits, or a dash where there is none.
pub(super) fn four_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), |value| format!("{value:.4}"))
}

/// A parameter in few digits.
pub(super) fn short(value: f64) -> String {
    number(format!("{value:.3e}").parse().unwrap_or(value))
}

/// The least and the largest value.
pub(super) fn spread(folds: &[Option<f64>]) -> String {
    let values = || folds.iter().copied().flatten();
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if low > high { "–".into() } else { format!("{low:.4} – {high:.4}") }
}

fn shown(tuning: &Tuning) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tuning.points.len()).collect();
    if order.len() <= MANY {
        return order;
    }
    let sign = if tuning.greater_is_better { -1.0 } else { 1.0 };
    let size = |at: usize| tuning.points[at].mean.map_or(f64::INFINITY, |mean| sign * mean);
    order.sort_by(|&a, &b| (a != tuning.best).cmp(&(b != tuning.best)).then(size(a).total_cmp(&size(b))));
    order.truncate(SHOWN);
    order
}

/// Every point as csv.
pub(super) fn csv(tuning: &Tuning) -> String {
    let field = |value: Option<f64>| value.map_or_else(String::new, number);
    // Only regressions have tubes.
    let has_tubes = tuning.points.iter().any(|point| point.epsilon.is_some());
    let is_column = |name: &str| name != "epsilon" || has_tubes;
    let columns: Vec<usize> = (0..Params::NAMES.len()).filter(|&at| is_column(Params::NAMES[at])).collect();
    let mut csv = columns.iter().map(|&at| format!("{},", Params::NAMES[at])).collect::<String>() + "mean";
    (1..=tuning.split.n_parts()).for_each(|part| csv += &format!(",fold_{part}"));
    csv.push('\n');
    for point in &tuning.points {
        let texts = Params::of(point).texts(number);
        csv += &columns.iter().map(|&at| texts[at].as_str()).collect::<Vec<_>>().join(",");
        [point.mean].iter().chain(&point.folds).for_each(|&value| csv += &format!(",{}", field(value)));
        csv.push('\n');
    }
    csv
}
