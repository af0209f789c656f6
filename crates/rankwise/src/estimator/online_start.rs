//! What a model to start from brings along.

use super::item_ranker::linear_parts;
use crate::data::{Items, Scaler};
use crate::error::Result;
use crate::model::{Basis, Batch, ClassScheme, Model, ScoreFunction, Scorer, Task};

/// The linear machines of a model: one, or one for each of several classes.
fn machines(model: &Model, task: Task) -> Result<Vec<(Vec<f64>, f64)>> {
    if let (Task::Classify, ScoreFunction::Several { basis: Basis::Features, coefficients, biases }) =
        (task, &model.scorer.function)
        && model.classes.as_ref().is_some_and(|classes| classes.len() == biases.len())
        && model.class_rule.as_ref().is_some_and(|rule| rule.scheme != ClassScheme::Ovo)
    {
        let d = coefficients.len() / biases.len();
        return Ok(biases.iter().enumerate().map(|(at, bias)| (coefficients[at * d..][..d].to_vec(), *bias)).collect());
    }
    let (weights, bias) = linear_parts(model)?;
    Ok(vec![(weights.to_vec(), bias)])
}

/// A model to start from.
#[derive(Debug)]
pub(super) struct Start {
    scorer: Scorer,
    /// (average, last), each the weights and the bias of every machine: one, or one for each of several classes.
    pub(super) machines: [Vec<(Vec<f64>, f64)>; 2],
    pub(super) steps: u64,
    pub(super) spread: Option<f64>,
    pub(super) classes: Option<Vec<String>>,
}

impl Start {
    pub(super) fn new(model: &Model, task: Task, batch: Batch) -> Result<Self> {
        let machines = machines(model, task)?;
        let is_same = model.training.online.is_some_and(|online| (online.task, online.batch) == (task, batch));
        let state = model.state.as_ref().filter(|_| is_same);
        let last = match state {
            None => machines.clone(),
            Some(state) if machines.len() == 1 => vec![(state.weights.clone(), state.bias)],
            Some(state) => {
                let each = state.weights.len() / machines.len();
                let part = |all: &[f64]| all.split_last().map(|(bias, weights)| (weights.to_vec(), *bias));
                state.weights.chunks_exact(each.max(1)).filter_map(part).collect()
            }
        };
        Ok(Start {
            scorer: model.scorer.clone(),
            machines: [machines, last],
            steps: state.map_or(0, |state| state.steps),
            spread: state.map(|state| state.spread),
            classes: model.classes.clone().filter(|_| task == Task::Classify),
        })
    }

    /// Bias and weights as scaled features of these items want them. Features are matched by name where both sides have
    /// names; without names those that the items lack keep their weights.
    pub(super) fn carry(&self, weights: &[f64], bias: f64, items: &Items, scaler: Option<&Scaler>) -> Result<Vec<f64>> {
        let is_numbered = self.scorer.feature_names.is_none() && items.feature_names.is_none();
        let columns: Vec<Option<usize>> = match is_numbered && self.scorer.are_indicators == items.are_indicators {
            true => (0..weights.len()).map(Some).collect(),
            false => self.scorer.columns(items)?,
        };
        let widest = columns.iter().flatten().map(|column| column + 1).max().unwrap_or(0);
        let mut carried = vec![0.0; 1 + widest.max(items.features.n_cols())];
        carried[0] = bias;
        for (at, column) in columns.into_iter().enumerate() {
            let Some(column) = column else { continue };
            // w·(x − shift)/divisor + b, once in the units of the model, once in those of the data.
            let (shift, divisor) = self.scorer.scaler.as_ref().map_or((0.0, 1.0), |s| (s.shift[at], s.divisor[at]));
            let here = scaler.filter(|scaler| column < scaler.divisor.len());
            let (new_shift, new_divisor) = here.map_or((0.0, 1.0), |s| (s.shift[column], s.divisor[column]));
            carried[1 + column] = weights[at] / divisor * new_divisor;
            carried[0] += weights[at] / divisor * (new_shift - shift);
        }
        Ok(carried)
    }
}
