//! The text of a LIBLINEAR model (`liblinear-predict`, version 1.9 and later).
//!
//! A row of numbers for each feature, one number for each machine; what is added stands in a last row, of a feature that is
//! always 1 (`bias 1`). Two classes have one machine, and a decision above 0 means the first label; more classes have one each,
//! and the largest decision wins. A regression prints the decision itself.

use std::fmt::Write;

use super::linear::Linear;
use super::{Kind, Target, method_of, number};
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::model::{ClassScheme, Model};

/// The text.
pub(super) fn write(model: &Model) -> Result<String> {
    let mut linear = Linear::of(model, Target::Liblinear)?;
    if Kind::of(model) != Kind::Class {
        let solver = if model.training.loss == Loss::Epsilon { "L2R_L1LOSS_SVR_DUAL" } else { "L2R_L2LOSS_SVR" };
        return Ok(text(&linear, solver, 2, None));
    }
    let labels = labels(model, Target::Liblinear)?;
    let rule = model.class_rule.clone().unwrap_or_default();
    if labels.len() > 2 && rule.scheme == ClassScheme::Ovo {
        return Err(Error::Unsupported {
            problem: format!(
                "LIBLINEAR has a machine for each class, and this model one for each of the {} pairs of classes",
                linear.biases.len()
            ),
            remedy: "train with --classes ovr, or export to libsvm".into(),
        });
    }
    // LIBLINEAR's probability of a label is 1/(1 + e^(−decision)), divided by the sum over labels where there are several:
    // what a logistic curve does to a score fits into the weights.
    if let Some(sigmoids) = &rule.sigmoids {
        for ((weights, bias), curve) in linear.weights.iter_mut().zip(&mut linear.biases).zip(sigmoids) {
            weights.iter_mut().for_each(|weight| *weight *= curve.slope);
            *bias = *bias * curve.slope + curve.offset;
        }
    }
    let solver = match (&rule.sigmoids, rule.scheme.is_joint() && labels.len() > 2, model.training.loss) {
        (Some(_), ..) => "L2R_LR",
        (None, true, _) => "MCSVM_CS",
        (None, false, Loss::Hinge) => "L2R_L1LOSS_SVC_DUAL",
        _ => "L2R_L2LOSS_SVC",
    };
    if labels.len() > 2 {
        return Ok(text(&linear, solver, labels.len(), Some(&labels)));
    }
    // A decision of 0 means the second label, as a score of 0 means the second class here; where probabilities decide, equal
    // ones mean the first class.
    if rule.sigmoids.is_some() {
        return Ok(text(&linear, solver, 2, Some(&[labels[1], labels[0]])));
    }
    linear.weights.iter_mut().flatten().chain(&mut linear.biases).for_each(|value| *value = -*value);
    Ok(text(&linear, solver, 2, Some(&labels)))
}

fn text(linear: &Linear, solver: &str, n_classes: usize, labels: Option<&[i32]>) -> String {
    let has_bias = linear.biases.iter().any(|&bias| bias != 0.0);
    let n_features = linear.weights.first().map_or(0, Vec::len);
    let mut out = format!("solver_type {solver}\nnr_class {n_classes}\n");
    if let Some(labels) = labels {
        let _ = writeln!(out, "label {}", words(labels.iter()));
    }
    let _ = write!(out, "nr_feature {n_features}\nbias {}\nw\n", if has_bias { "1" } else { "-1" });
    for feature in 0..n_features {
        out += &row(linear.weights.iter().map(|weights| weights[feature]));
    }
    if has_bias {
        out += &row(linear.biases.iter().copied());
    }
    out
}

/// Numbers as LIBLINEAR writes them, a space behind each.
fn row(values: impl Iterator<Item = f64>) -> String {
    let mut out: String = values.map(|value| number(value) + " ").collect();
    out.push('\n');
    out
}

/// Words with a space between them.
pub(super) fn words<T: ToString>(all: impl Iterator<Item = T>) -> String {
    all.map(|word| word.to_string()).collect::<Vec<_>>().join(" ")
}

/// Classes as whole numbers, which are all that the labels of LIBLINEAR and LIBSVM can be.
pub(super) fn labels(model: &Model, to: Target) -> Result<Vec<i32>> {
    let label = |class: &String| {
        class.parse().ok().filter(|label: &i32| label.to_string() == *class).ok_or_else(|| Error::Unsupported {
            problem: format!(
                "{} knows labels that are whole numbers, and a class of this model of {} is {class:?}",
                to.name(),
                method_of(model)
            ),
            remedy: "train with whole numbers as labels, or export to onnx".into(),
        })
    };
    model.classes.iter().flatten().map(label).collect()
}
