//! `evaluate` of a classifier or a model of grades: its classes and probabilities beside the true ones, and beside what a constant answer would get.

use rankwise::Model;
use rankwise::data::Ranking;
use rankwise::io::ItemTable;
use rankwise::metrics::{ClassMetric, Classified};
use rankwise::model::{ClassVerdicts, GradeRule};
use serde_json::{Map, Value, json};

use super::item_weights;
use crate::args::LabelMetric;
use crate::exit::{Failure, Run};
use crate::output::Output;
use crate::text::{Facts, number, rounded, rounded_or_dash, wide_table};

/// Items with their classes, as the model knows them.
pub(crate) struct Known {
    /// The model's classes, then others that items have.
    pub(crate) names: Vec<String>,
    /// How many are the model's.
    pub(crate) n_known: usize,
    /// The class of each item.
    pub(crate) labels: Vec<u32>,
    /// The weight of each item.
    pub(crate) weights: Option<Vec<f64>>,
    /// Whether classes are grades.
    pub(crate) are_grades: bool,
}

impl Known {
    /// The classes of items that were read.
    pub(crate) fn new(model: &Model, table: ItemTable) -> Run<Self> {
        let data = table.into_classes()?;
        let mut names = model.classes.clone().unwrap_or_default();
        let n_known = names.len();
        let mut places = Vec::with_capacity(data.classes.len());
        for class in &data.classes {
            let is_same = |name: &String| name == class || is_same_number(name, class);
            let place = names[..n_known].iter().position(is_same).unwrap_or_else(|| {
                names.push(class.clone());
                names.len() - 1
            });
            places.push(place as u32);
        }
        let labels = data.labels.iter().map(|&label| places[label as usize]).collect();
        Ok(Known { names, n_known, labels, weights: data.weights, are_grades: false })
    }

    /// The grades of items that were read.
    pub(crate) fn of_grades(rule: &GradeRule, data: &Ranking) -> Self {
        let (names, labels) = rule.places_of_labels(&data.labels);
        Known { names, n_known: rule.grades.len(), labels, weights: Some(item_weights(data)), are_grades: true }
    }

    /// Beside what was predicted.
    pub(crate) fn classified<'a>(&'a self, verdicts: &'a ClassVerdicts) -> Run<Classified<'a>> {
        let mut classified = Classified::new(&self.names, self.n_known, &self.labels, &verdicts.classes)?;
        if let Some(weights) = &self.weights {
            classified = classified.with_weights(weights)?;
        }
        if let Some(chances) = &verdicts.chances {
            classified = classified.with_chances(chances)?;
        }
        Ok(classified)
    }
}

/// Labels of a file may be written otherwise: 1.0 and 1.
fn is_same_number(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    number(a).is_some_and(|value| number(b) == Some(value))
}

/// What the user should know of the data.
pub(crate) fn warnings(classified: &Classified<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    if classified.n_items() == 0 {
        warnings.push("nothing is defined: no item has a weight above 0".to_string());
    } else if classified.has_unknown() {
        let known = classified.names()[..classified.n_known()].join(", ");
        warnings.push(format!("some labels are none of the classes {known}: they count as wrong"));
    }
    warnings
}

/// The metrics that there are by themselves; of grades also how far off they are.
pub(crate) fn usual(classified: &Classified<'_>, are_grades: bool) -> Vec<ClassMetric> {
    let is_usual = |metric: &ClassMetric| match metric {
        ClassMetric::ZeroOne => true,
        ClassMetric::Mae => are_grades,
        ClassMetric::Accuracy => false,
        metric => metric.needs_chances() && classified.has_chances(),
    };
    ClassMetric::ALL.into_iter().filter(is_usual).collect()
}

/// Measures and tells.
pub(super) fn tell(known: &Known, verdicts: &ClassVerdicts, asked: &[LabelMetric], output: &Output) -> Run<()> {
    let classified = known.classified(verdicts)?;
    let mut metrics = Vec::new();
    for metric in asked {
        match metric {
            LabelMetric::Class(metric) if metric.needs_chances() && !classified.has_chances() => {
                if known.are_grades {
                    return Err(Failure::Usage(format!(
                        "--metric {} needs probabilities, which grades have not; choose zero_one, accuracy, mae or confusion, or \
                         a metric of rankings",
                        metric.name()
                    )));
                }
                return Err(Failure::Usage(format!(
                    "--metric {} needs probabilities, which the model has not; train with --method classify --probabilities",
                    metric.name()
                )));
            }
            LabelMetric::Class(metric) => metrics.push(*metric),
            LabelMetric::Confusion => {}
            LabelMetric::Value(metric) => {
                let (what, names) = match known.are_grades {
                    true => ("a model of grades", "zero_one, accuracy, mae, confusion and those of rankings"),
                    false => ("a classifier", "zero_one, accuracy, mae, log_loss, brier and confusion"),
                };
                return Err(Failure::Usage(format!(
                    "--metric {} is for regressions, and this is {what}; its metrics are {names}",
                    metric.name()
                )));
            }
        }
    }
    let with_confusion = asked.is_empty() || asked.contains(&LabelMetric::Confusion);
    if asked.is_empty() {
        metrics = usual(&classified, known.are_grades);
    }
    let mut warnings = warnings(&classified);
    let values: Vec<(ClassMetric, Option<f64>, Option<f64>)> =
        metrics.iter().map(|&metric| (metric, metric.of(&classified), metric.of_constant(&classified))).collect();
    if values.iter().any(|(metric, value, _)| *metric == ClassMetric::Mae && value.is_none())
        && classified.n_items() > 0
    {
        warnings.push("mae is not defined: the classes are words".into());
    }
    warnings.iter().for_each(|warning| output.warning(warning));
    output.result(
        || {
            let mut of: Map<String, Value> =
                values.iter().map(|(metric, value, _)| (metric.name().into(), json!(value))).collect();
            if with_confusion {
                of.insert("confusion".into(), json!(classified.confusion()));
            }
            let baselines: Map<String, Value> =
                values.iter().map(|(metric, _, constant)| (metric.name().into(), json!(constant))).collect();
            json!({
                "metrics": of,
                "baselines": baselines,
                "classes": classified.names(),
                "items": classified.n_items(),
                "groups": null,
                "groups_skipped": 0,
                "majority_error": ClassMetric::ZeroOne.of_constant(&classified),
                "warnings": warnings,
            })
        },
        || {
            let mut facts = Facts::default();
            if asked.is_empty() {
                facts.add("items", classified.n_items().to_string());
            }
            for (metric, value, constant) in &values {
                let by = match (metric.needs_chances(), known.are_grades) {
                    (true, _) => "the shares of the classes alone",
                    (false, true) => "the most frequent grade",
                    (false, false) => "the most frequent class",
                };
                let beside = constant.map_or_else(String::new, |constant| format!("  ({by}: {})", rounded(constant)));
                facts.add(metric.name(), rounded_or_dash(*value) + &beside);
            }
            let mut text = facts.to_string();
            if with_confusion {
                let gap = if text.is_empty() { "" } else { "\n" };
                text += &format!("{gap}{}", confusion_text(&classified));
            }
            text
        },
    )
}

fn confusion_text(classified: &Classified<'_>) -> String {
    let names = classified.names();
    let mut header = vec!["label \\ predicted"];
    header.extend(names[..classified.n_known()].iter().map(String::as_str));
    let rows = names
        .iter()
        .zip(classified.confusion())
        .map(|(name, row)| [name.clone()].into_iter().chain(row.into_iter().map(number)).collect());
    wide_table(&header, rows)
}
