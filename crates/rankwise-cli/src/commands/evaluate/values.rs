//! `evaluate` of a regression: its values beside the labels, and beside what the mean label would get.

use rankwise::data::Ranking;
use rankwise::metrics::{ClassMetric, PredictedValues, ValueMetric};
use serde_json::{Map, Value, json};

use super::item_weights;
use crate::args::LabelMetric;
use crate::exit::{Failure, Run};
use crate::output::Output;
use crate::text::{Facts, rounded, rounded_or_dash};

/// Measures and tells.
pub(super) fn tell(data: &Ranking, values: &[f64], asked: &[LabelMetric], output: &Output) -> Run<()> {
    let mut metrics = Vec::new();
    for metric in asked {
        match metric {
            LabelMetric::Value(metric) => metrics.push(*metric),
            LabelMetric::Class(ClassMetric::Mae) => metrics.push(ValueMetric::Mae),
            other => {
                return Err(Failure::Usage(format!(
                    "--metric {} is for classifiers, and this is a regression; its metrics are mae, rmse and r2",
                    other.name()
                )));
            }
        }
    }
    if asked.is_empty() {
        metrics = ValueMetric::ALL.to_vec();
    }
    let weights = item_weights(data);
    let predicted = PredictedValues::new(&data.labels, values)?.with_weights(&weights)?;
    let found: Vec<(ValueMetric, Option<f64>, Option<f64>)> =
        metrics.iter().map(|&metric| (metric, metric.of(&predicted), metric.of_mean(&predicted))).collect();
    let mut warnings = Vec::new();
    if predicted.n_items() == 0 {
        warnings.push("nothing is defined: no item has a weight above 0".to_string());
    } else if found.iter().any(|(_, value, _)| value.is_none()) {
        warnings.push("r2 is not defined: all labels are the same".to_string());
    }
    warnings.iter().for_each(|warning| output.warning(warning));
    output.result(
        || {
            let entry = |name: &str, value: Option<f64>| (name.to_string(), json!(value));
            let values: Map<String, Value> = found.iter().map(|found| entry(found.0.name(), found.1)).collect();
            let of_mean: Map<String, Value> = found.iter().map(|found| entry(found.0.name(), found.2)).collect();
            json!({
                "metrics": values,
                "baselines": of_mean,
                "items": predicted.n_items(),
                "groups": null,
                "groups_skipped": 0,
                "warnings": warnings,
            })
        },
        || {
            let mut facts = Facts::default();
            if asked.is_empty() {
                facts.add("items", predicted.n_items().to_string());
            }
            for (metric, value, mean) in &found {
                let beside = mean.map_or_else(String::new, |mean| format!("  (the mean label: {})", rounded(mean)));
                facts.add(metric.name(), rounded_or_dash(*value) + &beside);
            }
            facts.to_string()
        },
    )
}
