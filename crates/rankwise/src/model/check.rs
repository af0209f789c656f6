//! What must hold of a model before it is saved or, read from a file, before it may score.

use super::{Basis, Model, ScoreFunction};
use crate::data::Features;

impl Model {
    /// Says what contradicts itself or is not a number, if anything does.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !(self.threshold >= 0.0 && self.threshold.is_finite()) {
            return Err(format!("the threshold is {}, expected a finite number of at least 0", self.threshold));
        }
        if let Some(beta) = self.beta.filter(|beta| !beta.is_finite()) {
            return Err(format!("beta is {beta}, expected a finite number"));
        }
        let scorer = &self.scorer;
        let n = scorer.n_features;
        match &scorer.feature_names {
            Some(names) => has_length("feature names", names.len(), "features", n)?,
            None if scorer.are_indicators => {
                return Err("the features are indicators of items, but the items have no names".into());
            }
            None => {}
        }
        if let Some(scaler) = &scorer.scaler {
            has_length("scaler shifts", scaler.shift.len(), "features", n)?;
            has_length("scaler divisors", scaler.divisor.len(), "features", n)?;
            are_finite("scaler shift", &scaler.shift)?;
            are_finite("scaler divisor", &scaler.divisor)?;
            if let Some(bad) = scaler.divisor.iter().find(|d| **d <= 0.0) {
                return Err(format!("a scaler divisor is {bad}, expected numbers above 0"));
            }
        }
        match &scorer.function {
            ScoreFunction::Linear { weights, bias } => {
                has_length("weights", weights.len(), "features", n)?;
                are_finite("weight", weights)?;
                is_finite("bias", *bias)?;
            }
            ScoreFunction::Kernel { kernel, support, coefficients, bias } => {
                kernel.check().map_err(|error| format!("{} kernel: {error}", kernel.name()))?;
                has_length("columns of support items", support.n_cols(), "features", n)?;
                has_length("coefficients", coefficients.len(), "support items", support.n_rows())?;
                are_finite("coefficient", coefficients)?;
                is_finite("bias", *bias)?;
            }
            ScoreFunction::Several { basis, coefficients, biases } => {
                let each = match basis {
                    Basis::Features => n,
                    Basis::Kernel { kernel, support } => {
                        kernel.check().map_err(|error| format!("{} kernel: {error}", kernel.name()))?;
                        has_length("columns of support items", support.n_cols(), "features", n)?;
                        support.n_rows()
                    }
                };
                let expected = each.checked_mul(biases.len()).ok_or("there are impossibly many coefficients")?;
                has_length("coefficients", coefficients.len(), "expected", expected)?;
                are_finite("coefficient", coefficients)?;
                are_finite("bias", biases)?;
            }
            ScoreFunction::Landmarks { map, weights } => {
                map.kernel.check().map_err(|error| format!("{} kernel: {error}", map.kernel.name()))?;
                has_length("columns of landmarks", map.items.n_cols(), "features", n)?;
                has_length("weights", weights.len(), "features and landmarks", n + map.len())?;
                are_finite("weight", weights)?;
                are_finite("number of the factor of landmarks", &map.factor)?;
                let r = map.len();
                if map.factor.len() != r * r || (0..r).any(|at| map.factor[at * r + at] <= 0.0) {
                    return Err(format!("the factor of {r} landmarks is impossible"));
                }
            }
        }
        if let Some(names) = &self.training.support_names {
            let n_support = scorer.function.support().map_or(0, Features::n_rows);
            has_length("names of support items", names.len(), "support items", n_support)?;
        }
        if let Some(band) = &self.band {
            let n = match &scorer.function {
                ScoreFunction::Linear { weights, .. } | ScoreFunction::Landmarks { weights, .. } => weights.len(),
                ScoreFunction::Kernel { .. } | ScoreFunction::Several { .. } => {
                    return Err("a tie band needs features, not a kernel expansion".into());
                }
            };
            band.check(n)?;
        }
        self.chances.as_ref().map_or(Ok(()), |rule| rule.check())?;
        self.check_classes()?;
        self.check_grades()?;
        if let Some(state) = &self.state {
            let expected = match scorer.function.n_machines() {
                1 => Some(n),
                machines => n.checked_add(1).and_then(|each| each.checked_mul(machines)),
            };
            has_length(
                "last weights",
                state.weights.len(),
                "expected",
                expected.ok_or("there are impossibly many weights")?,
            )?;
            are_finite("last weight", &state.weights)?;
            if !(state.bias.is_finite() && state.spread.is_finite() && state.spread >= 0.0) {
                return Err(format!("steps stopped at the bias {} with the spread {}", state.bias, state.spread));
            }
        }
        let (scores_with, trained_with) = (scorer.function.kernel(), self.training.kernel);
        if scores_with != trained_with {
            return Err(format!("the model scores with {scores_with:?}, but was trained with {trained_with:?}"));
        }
        self.training.tuning.as_ref().map_or(Ok(()), |tuning| tuning.check(&self.training))
    }
}

fn has_length(what: &str, found: usize, per: &str, expected: usize) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found} {what} for {expected} {per}")) }
}

fn is_finite(what: &str, value: f64) -> Result<(), String> {
    if value.is_finite() { Ok(()) } else { Err(format!("the {what} is {value}, expected a finite number")) }
}

fn are_finite(what: &str, values: &[f64]) -> Result<(), String> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(at) => Err(format!("{what} {} is {}, expected a finite number", at + 1, values[at])),
    }
}
