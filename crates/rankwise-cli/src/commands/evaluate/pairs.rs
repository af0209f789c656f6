//! `evaluate` on pairs: a model's margins beside the judged outcomes.

use std::collections::BTreeSet;

use rankwise::data::{Comparisons, Outcome};
use rankwise::io;
use rankwise::metrics::{Interval, Judged, PairMetric};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::{check_apart, check_writable, read_pairs_for, tables};
use crate::args::{EvaluateArgs, MetricName};
use crate::exit::{Failure, Run};
use crate::output::{self, Output};
use crate::plan::PairsPlan;
use crate::text::{Facts, count, number, percent_or_dash, rounded, rounded_or_dash, table};

/// Measures a model on pairs.
pub(super) fn run(plan: &PairsPlan, args: &EvaluateArgs, output: &Output) -> Run<()> {
    if let Some(path) = &plan.roc {
        check_apart(path, tables(&args.source).chain([plan.model.as_path()]))?;
        check_writable(path)?;
    }
    let model = io::read_model(&plan.model)?;
    let data = read_pairs_for(&model, &plan.files, output)?.into_comparisons()?;
    let verdicts = model.judge(&data.set)?;
    let judged = Judged::of(&data.outcomes, &verdicts, data.weights.as_deref())?;
    let mut evaluation = Evaluation::new(&plan.metrics, &judged, &data, model.threshold);
    if let Some(bootstrap) = &plan.bootstrap {
        evaluation.add_intervals(bootstrap.intervals(&judged, data.groups.as_deref())?, bootstrap.level);
    }
    if let Some(path) = &plan.roc {
        output::write_file(path, roc(&judged)?.as_bytes())?;
    }
    evaluation.warnings.iter().for_each(|warning| output.warning(warning));
    output.result(|| &evaluation, || evaluation.text(plan.metrics.is_empty()))
}

fn roc(judged: &Judged<'_>) -> Run<String> {
    let Some(points) = judged.roc() else {
        return Err(Failure::Fault("--roc: the curve needs both ties and non-ties; leave it out".into()));
    };
    let rows = points.iter().map(|point| {
        let [threshold, wrong, right] =
            [point.threshold, point.false_positive_rate, point.true_positive_rate].map(number);
        format!("{threshold},{wrong},{right}\n")
    });
    Ok(std::iter::once("threshold,false_positive_rate,true_positive_rate\n".to_string()).chain(rows).collect())
}

#[derive(Debug, Serialize)]
pub(crate) struct TieShares {
    pub(crate) observed: Option<f64>,
    pub(crate) predicted: Option<f64>,
}

/// What was measured; its fields are the JSON keys.
#[derive(Debug, Serialize)]
pub(crate) struct Evaluation {
    metrics: Map<String, Value>,
    /// Of the metrics of probabilities: what the shares of the outcomes get as the answer to every pair.
    #[serde(skip_serializing_if = "Map::is_empty")]
    baselines: Map<String, Value>,
    pub(crate) pairs: usize,
    pub(crate) ties: usize,
    pub(crate) groups: Option<usize>,
    groups_skipped: usize,
    pub(crate) majority_error: Option<f64>,
    pub(crate) tie_share: TieShares,
    pub(crate) threshold: f64,
    /// Every pair has a threshold of its own.
    pub(crate) has_tie_band: bool,
    pub(crate) warnings: Vec<String>,
    /// Of the metrics that are numbers, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<f64>,
    #[serde(skip)]
    names: Vec<&'static str>,
    #[serde(skip)]
    confusion: [[f64; 3]; 3],
}

impl Evaluation {
    pub(crate) fn new(wanted: &[MetricName], judged: &Judged<'_>, data: &Comparisons, threshold: f64) -> Self {
        let is_usual = |metric: &MetricName| match metric {
            MetricName::Number(metric) => judged.has_chances() || !metric.needs_chances(),
            MetricName::Confusion => true,
        };
        let all = || MetricName::all().into_iter().filter(is_usual).collect();
        let wanted = if wanted.is_empty() { all() } else { wanted.to_vec() };
        let confusion = judged.confusion();
        let (mut metrics, mut baselines) = (Map::new(), Map::new());
        let (mut names, mut warnings) = (Vec::new(), Vec::new());
        for metric in wanted {
            let name = metric.name();
            let value = match metric {
                MetricName::Number(metric) => json!(metric.of(judged)),
                MetricName::Confusion => json!(confusion),
            };
            let of_chances = match metric {
                MetricName::Number(metric) if metric.needs_chances() => Some(metric),
                _ => None,
            };
            if value.is_null() && !names.contains(&name) {
                warnings.push(if of_chances.is_some() && !judged.has_chances() {
                    format!("{name} is not defined: {NO_CHANCES}")
                } else {
                    format!("{name} is not defined on these pairs: {}", why_undefined(judged))
                });
            }
            if let Some(metric) = of_chances.filter(|_| judged.has_chances()) {
                baselines.insert(name.into(), json!(metric.of_constant(judged).map(|(_, value)| value)));
            }
            metrics.insert(name.into(), value);
            names.push(name);
        }
        let total: f64 = confusion.iter().flatten().sum();
        let share = |ties: f64| (total > 0.0).then(|| ties / total);
        let tie = Outcome::Tie as usize;
        let present = |k: &usize| data.weight(*k) > 0.0;
        Evaluation {
            metrics,
            baselines,
            pairs: (0..data.n_pairs()).filter(present).count(),
            ties: (0..data.n_pairs()).filter(present).filter(|&k| data.outcomes[k] == Outcome::Tie).count(),
            groups: data.groups.as_ref().map(|groups| groups.iter().collect::<BTreeSet<_>>().len()),
            groups_skipped: 0,
            majority_error: judged.majority_error(),
            tie_share: TieShares {
                observed: share(confusion[tie].iter().sum()),
                predicted: share(confusion.iter().map(|row| row[tie]).sum()),
            },
            threshold,
            has_tie_band: judged.has_band(),
            warnings,
            intervals: None,
            level: None,
            names,
            confusion,
        }
    }

    fn add_intervals(&mut self, intervals: [Option<Interval>; PairMetric::ALL.len()], level: f64) {
        let of_metric = |(metric, interval): (PairMetric, Option<Interval>)| {
            let ends = interval.map(|ends| json!({ "low": ends.low, "high": ends.high }));
            self.names.contains(&metric.name()).then(|| (metric.name().to_string(), json!(ends)))
        };
        self.intervals = Some(PairMetric::ALL.into_iter().zip(intervals).filter_map(of_metric).collect());
        self.level = Some(level);
    }

    /// A metric's interval for people to read, after its value.
    fn interval_text(&self, name: &str) -> String {
        let Some(interval) = self.intervals.as_ref().and_then(|intervals| intervals.get(name)) else {
            return String::new();
        };
        match (interval["low"].as_f64(), interval["high"].as_f64()) {
            (Some(low), Some(high)) => format!("  [{}, {}]", rounded(low), rounded(high)),
            _ => String::new(),
        }
    }

    fn text(&self, is_full: bool) -> String {
        let mut facts = Facts::default();
        if is_full {
            facts.add("pairs", format!("{} ({})", self.pairs, count(self.ties, "tie")));
            if let Some(groups) = self.groups {
                facts.add("groups", groups.to_string());
            }
        }
        for &name in self.names.iter().filter(|name| **name != MetricName::Confusion.name()) {
            let value = rounded_or_dash(self.metrics.get(name).and_then(Value::as_f64));
            let beside = match self.baselines.get(name).and_then(Value::as_f64) {
                Some(constant) => format!("  (the shares of the outcomes alone: {})", rounded(constant)),
                None => String::new(),
            };
            facts.add(name, value + &self.interval_text(name) + &beside);
            if is_full && name == PairMetric::ZeroOne.name() {
                facts.add("majority_error", rounded_or_dash(self.majority_error));
            }
        }
        if is_full {
            let [observed, predicted] = [self.tie_share.observed, self.tie_share.predicted].map(percent_or_dash);
            facts.add("ties", format!("{observed} observed, {predicted} predicted"));
            facts.add("threshold", threshold_text(self.threshold, self.has_tie_band));
        }
        let mut text = facts.to_string();
        if self.names.contains(&MetricName::Confusion.name()) {
            let rows = Outcome::ALL.map(|judged| {
                let [left, tie, right] = self.confusion[judged as usize].map(number);
                [judged.name().to_string(), left, tie, right]
            });
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{}", table(["judged \\ predicted", "left", "tie", "right"], rows));
        }
        text
    }
}

/// What to do about a model without probabilities.
const NO_CHANCES: &str = "the model has no probabilities; train with --calibrate, --loss logistic or --method davidson";

/// The difference that does not matter, for people to read.
pub(crate) fn threshold_text(threshold: f64, has_tie_band: bool) -> String {
    if has_tie_band {
        format!("one for every pair, {} in the mean over the training pairs", rounded(threshold))
    } else {
        rounded(threshold)
    }
}

fn why_undefined(judged: &Judged<'_>) -> &'static str {
    let [left, tie, right] = judged.totals();
    if left + tie + right == 0.0 {
        "there are none"
    } else if tie == 0.0 {
        "there are no ties"
    } else {
        "there are only ties"
    }
}
