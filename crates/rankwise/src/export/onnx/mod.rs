//! A model as an ONNX file: a graph of operators that any runtime of ONNX computes, and what there is to know as metadata.
//!
//! | model | inputs | outputs |
//! |---|---|---|
//! | ranker | `features` \[n, p\] | `score` \[n\] |
//! | regression | `features` | `value` \[n\] |
//! | comparer | `left`, `right` \[n, p\], `pair` \[n, q\] where the tie band depends on the comparison | `margin`, `outcome` \[n\], `threshold` \[n\] with a tie band, `probabilities` \[n, 3\] |
//! | classifier | `features` | `label` \[n\], `scores` \[n, 1 or classes\], `probabilities` \[n, classes\] |
//! | ordinal | `features` | `label`, `score` \[n\] |

mod classes;
mod coupling;
mod graph;
mod pairs;
mod proto;
mod scores;

use prost::Message;

use super::{ExportOptions, Kind};
use crate::error::{Error, Result};
use crate::model::{Method, Model};
use graph::{Axis, Graph};
use proto::{Entry, IR_VERSION, ModelProto, OperatorSet};
use scores::Precision;

/// Versions of the operators: core ones as of ONNX 1.12, those of machines as of 1.10.
const OPERATORS: i64 = 17;
const ML_OPERATORS: i64 = 3;

/// No protocol buffer is larger.
const MOST_BYTES: usize = i32::MAX as usize;

/// The bytes of the file.
pub(super) fn write(model: &Model, is_f32: bool, options: &ExportOptions) -> Result<Vec<u8>> {
    let precision = if is_f32 { Precision::F32 } else { Precision::F64 };
    let mut graph = Graph::default();
    let kind = if options.scores { Kind::Score } else { Kind::of(model) };
    if kind == Kind::Outcome {
        pairs::add(&mut graph, model, precision)?;
    } else {
        let shape = [Axis::Rows, Axis::Of(model.scorer.n_features)];
        let items = graph.input("features", precision.element(), &shape, "the features of items, a row for each");
        let scored = scores::add(&mut graph, &model.scorer, &items, precision)?;
        match (kind, &model.classes, &model.grades) {
            (Kind::Class, Some(all), _) => {
                let rule = model.class_rule.clone().unwrap_or_default();
                classes::add(&mut graph, all, &rule, &scored.scores, precision);
            }
            (Kind::Grade, _, Some(rule)) => classes::add_grades(&mut graph, rule, &scored.scores, precision),
            _ => add_scores(&mut graph, model, &scored.scores, precision),
        }
    }
    let has_ml = graph.has_ml;
    let mut opset_import = vec![OperatorSet { domain: String::new(), version: OPERATORS }];
    if has_ml {
        opset_import.push(OperatorSet { domain: "ai.onnx.ml".into(), version: ML_OPERATORS });
    }
    let file = ModelProto {
        ir_version: IR_VERSION,
        producer_name: "rankwise".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        doc_string: doc(model),
        graph: Some(graph.finish(options.name_or_default())),
        opset_import,
        metadata_props: metadata(model)?,
    };
    if file.encoded_len() > MOST_BYTES {
        return Err(Error::Unsupported {
            problem: format!("the model takes {} bytes, and an ONNX file at most {MOST_BYTES}", file.encoded_len()),
            remedy: "train a model of fewer support items (--method rvm, --approx)".into(),
        });
    }
    Ok(file.encode_to_vec())
}

/// Adds the output `score` (of a regression `value`); of several machines `scores`, a column for each.
fn add_scores(graph: &mut Graph, model: &Model, scores: &str, precision: Precision) {
    let element = precision.element();
    let scores = graph.cast(scores, element);
    match model.scorer.function.n_machines() {
        1 => {
            let is_value = model.training.method == Method::Regress;
            let (name, doc) = if is_value { ("value", "the value") } else { ("score", "higher is better") };
            let list = graph.list(&scores);
            graph.output(name, &list, element, &[Axis::Rows], doc);
        }
        n => graph.output("scores", &scores, element, &[Axis::Rows, Axis::Of(n)], "one for each machine"),
    }
}

/// What a person reads first.
fn doc(model: &Model) -> String {
    let method = model.training.method.name();
    let kernel = model.training.kernel.name();
    let features = match &model.scorer.feature_names {
        Some(names) => format!("features in order: {}", names.join(", ")),
        None => format!("{} features without names", model.scorer.n_features),
    };
    format!("A model of rankwise: {method}, {kernel}; {features}.")
}

/// What a program may ask for.
fn metadata(model: &Model) -> Result<Vec<Entry>> {
    let mut entries = vec![
        ("rankwise_version", env!("CARGO_PKG_VERSION").to_string()),
        ("method", model.training.method.name().to_string()),
        ("kernel", model.training.kernel.name().to_string()),
        ("n_features", model.scorer.n_features.to_string()),
    ];
    if let Some(names) = &model.scorer.feature_names {
        entries.push(("feature_names", as_json(names)?));
    }
    if Kind::of(model) == Kind::Outcome {
        entries.push(("threshold", super::number(model.threshold)));
    }
    if let Some(band) = model.band.as_ref().filter(|band| !band.context_names.is_empty()) {
        entries.push(("pair_names", as_json(&band.context_names)?));
    }
    if let Some(classes) = &model.classes {
        entries.push(("classes", as_json(classes)?));
    }
    if let Some(rule) = &model.grades {
        entries.push(("grades", as_json(&rule.grades)?));
        entries.push(("thresholds", as_json(&rule.thresholds)?));
    }
    Ok(entries.into_iter().map(|(key, value)| Entry { key: key.into(), value }).collect())
}

fn as_json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Unsupported {
        problem: format!("a name cannot be written as JSON: {error}"),
        remedy: "give features other names".into(),
    })
}
