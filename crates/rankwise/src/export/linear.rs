//! Weights of features as they come in: any scaling is folded in.

use super::{Target, method_of};
use crate::data::Features;
use crate::error::{Error, Result};
use crate::kernel::KernelFunction;
use crate::model::{Basis, Model, ScoreFunction};

/// Machines whose scores are weights·features + bias.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    /// A row of weights for each machine.
    pub(super) weights: Vec<Vec<f64>>,
    /// What each machine adds.
    pub(super) biases: Vec<f64>,
}

impl Linear {
    /// The machines of a linear model; another one is refused in the name of the target.
    pub(super) fn of(model: &Model, to: Target) -> Result<Self> {
        let Some(mut machines) = scaled(&model.scorer.function) else {
            return Err(Error::Unsupported {
                problem: format!("{} holds linear models, and this one has a kernel", to.name()),
                remedy: "export it to onnx, or train with --kernel linear".into(),
            });
        };
        if let Some(scaler) = &model.scorer.scaler {
            for (weights, bias) in machines.weights.iter_mut().zip(&mut machines.biases) {
                for ((weight, shift), divisor) in weights.iter_mut().zip(&scaler.shift).zip(&scaler.divisor) {
                    *weight /= divisor;
                    *bias -= *weight * shift;
                }
            }
        }
        let all = machines.weights.iter().flatten().chain(&machines.biases);
        match all.into_iter().all(|value| value.is_finite()) {
            true => Ok(machines),
            false => Err(Error::Numeric {
                problem: "a weight leaves the range of numbers when the scaling is folded in".into(),
                remedy: "check the data: a feature is far too small; or export to onnx, which scales first".into(),
            }),
        }
    }

    /// The weights and the bias of the only machine.
    pub(super) fn single(model: &Model, to: Target) -> Result<(Vec<f64>, f64)> {
        let Linear { mut weights, biases } = Linear::of(model, to)?;
        match (weights.pop(), biases.as_slice()) {
            (Some(only), [bias]) if weights.is_empty() => Ok((only, *bias)),
            _ => Err(Error::Unsupported {
                problem: format!(
                    "{} holds one score, and this model of {} has {}, one for each of its machines",
                    to.name(),
                    method_of(model),
                    biases.len()
                ),
                remedy: "export it to onnx, liblinear or libsvm".into(),
            }),
        }
    }
}

/// The machines of a linear function, of scaled features.
fn scaled(function: &ScoreFunction) -> Option<Linear> {
    match function {
        ScoreFunction::Linear { weights, bias } => Some(Linear { weights: vec![weights.clone()], biases: vec![*bias] }),
        ScoreFunction::Several { basis: Basis::Features, coefficients, biases } => {
            let each = coefficients.len() / biases.len().max(1);
            Some(Linear {
                weights: coefficients.chunks(each.max(1)).map(<[f64]>::to_vec).collect(),
                biases: biases.clone(),
            })
        }
        ScoreFunction::Kernel { kernel: KernelFunction::Linear, support, coefficients, bias } => {
            Some(combined(support, &[coefficients], &[*bias]))
        }
        ScoreFunction::Several {
            basis: Basis::Kernel { kernel: KernelFunction::Linear, support },
            coefficients,
            biases,
        } => {
            let machines: Vec<&[f64]> = coefficients.chunks(support.n_rows().max(1)).collect();
            Some(combined(support, &machines, biases))
        }
        _ => None,
    }
}

/// Weights from support items of the linear kernel, which sees items from the middle of dense support items.
fn combined(support: &Features, machines: &[&[f64]], biases: &[f64]) -> Linear {
    let middle = middle(support);
    let weights = machines.iter().map(|coefficients| {
        let mut weights = support.combine_rows(coefficients.iter().copied().enumerate());
        let total: f64 = coefficients.iter().sum();
        weights.iter_mut().zip(&middle).for_each(|(weight, m)| *weight -= total * m);
        weights
    });
    let weights: Vec<Vec<f64>> = weights.collect();
    let biases = biases.iter().zip(&weights);
    let biases = biases.map(|(bias, weights)| bias - weights.iter().zip(&middle).map(|(w, m)| w * m).sum::<f64>());
    Linear { biases: biases.collect(), weights }
}

/// The mean of dense rows, 0 of sparse ones: where kernels of distances and products are computed from.
pub(super) fn middle(rows: &Features) -> Vec<f64> {
    let mut middle = vec![0.0; rows.n_cols()];
    if !rows.is_sparse() {
        for row in 0..rows.n_rows() {
            rows.for_each_in_row(row, |column, value| middle[column] += value / rows.n_rows() as f64);
        }
    }
    middle
}
