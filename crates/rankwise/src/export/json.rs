//! A linear model as plain JSON: weights by name, what is added, and the rules that make answers of scores.

use serde::Serialize;

use super::linear::Linear;
use super::{Kind, Target, feature_names};
use crate::error::{Error, Result};
use crate::model::{Chances, ClassScheme, Method, Model, Sigmoid};

/// A machine's score is Σ weight·feature + bias, features as they come in.
#[derive(Serialize)]
struct Told<'a> {
    format: &'static str,
    method: Method,
    features: Vec<String>,
    machines: Vec<Machine<'a>>,
    /// The score of a pair is score(right) − score(left); up to the threshold it is a tie.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome_probabilities: Option<Chances>,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_scheme: Option<ClassScheme>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grades: Option<&'a [f64]>,
    /// Between grades: a score at a threshold or above it means a higher grade.
    #[serde(skip_serializing_if = "Option::is_none")]
    thresholds: Option<&'a [f64]>,
}

#[derive(Serialize)]
struct Machine<'a> {
    /// What a score below 0 speaks for; absent where it is all other classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    below: Option<&'a str>,
    /// What another score speaks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    above: Option<&'a str>,
    weights: Vec<f64>,
    bias: f64,
    /// How its score becomes a probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<Sigmoid>,
}

/// The JSON.
pub(super) fn write(model: &Model) -> Result<String> {
    if model.band.is_some() {
        return Err(Error::Unsupported {
            problem: "plain JSON holds one threshold for all pairs, and this model has a tie band".into(),
            remedy: "export to onnx, or train with --tie-band constant".into(),
        });
    }
    let linear = Linear::of(model, Target::Json)?;
    let kind = Kind::of(model);
    let rule = model.class_rule.clone().unwrap_or_default();
    let classes = model.classes.as_deref();
    let sides = classes.map(|classes| rule.scheme.machines(classes.len()));
    let machine = |(at, (weights, bias)): (usize, (Vec<f64>, f64))| {
        let (below, above) = match (classes, sides.as_ref().and_then(|sides| sides.get(at))) {
            (Some(classes), Some((below, above))) => (below.and_then(|class| classes.get(class)), classes.get(*above)),
            _ => (None, None),
        };
        let probability = rule.sigmoids.as_ref().and_then(|sigmoids| sigmoids.get(at)).copied();
        let [below, above] = [below, above].map(|class| class.map(String::as_str));
        Machine { below, above, weights, bias, probability }
    };
    text(&Told {
        format: "rankwise-linear/1",
        method: model.training.method,
        features: feature_names(model)?,
        machines: linear.weights.into_iter().zip(linear.biases).enumerate().map(machine).collect(),
        threshold: (kind == Kind::Outcome).then_some(model.threshold),
        outcome_probabilities: model.chances.filter(|_| kind == Kind::Outcome),
        classes,
        class_scheme: classes.map(|_| rule.scheme),
        grades: model.grades.as_ref().map(|rule| rule.grades.as_slice()),
        thresholds: model.grades.as_ref().map(|rule| rule.thresholds.as_slice()),
    })
}

/// JSON for people.
pub(super) fn text(told: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(told);
    text.map(|text| text + "\n").map_err(|error| Error::Unsupported {
        problem: format!("the model cannot be written as JSON: {error}"),
        remedy: "export to onnx".into(),
    })
}
