//! Machines over a matrix of kernel values that somebody else has computed.

use super::item_machine::Machine;
use crate::error::{Error, Result};
use crate::kernel::Approx;
use crate::math::dot;
use crate::model::{ClassRule, ClassVerdicts};
use crate::progress::Stop;

/// Machines over items whose kernel values were given: they score new items by their kernel values with the old ones.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GivenMachines {
    /// One coefficient per item for each machine.
    pub coefficients: Vec<Vec<f64>>,
    /// What each machine adds to its scores.
    pub biases: Vec<f64>,
    /// Of a classifier its classes, and how the machines are put together.
    pub classes: Option<(Vec<String>, ClassRule)>,
    /// The sum of the primal values.
    pub objective: f64,
    /// (primal − dual)/max(primal, 1e-12), of all machines together.
    pub gap: f64,
    /// Why the search stopped.
    pub stop: Stop,
}

impl GivenMachines {
    pub(super) fn new(machines: Vec<Machine>, classes: Option<(Vec<String>, ClassRule)>) -> Self {
        GivenMachines {
            objective: machines.iter().map(|machine| machine.primal).sum(),
            gap: Machine::gap_of(&machines),
            stop: machines.iter().map(|m| m.stop).find(|stop| *stop != Stop::Converged).unwrap_or(Stop::Converged),
            biases: machines.iter().map(|machine| machine.bias).collect(),
            coefficients: machines.into_iter().map(|machine| machine.numbers).collect(),
            classes,
        }
    }

    /// The scores of new items, from the kernel values of each with all items that were learnt from: one per machine, those
    /// of the first item, then those of the next.
    pub fn scores_of_rows(&self, rows: &[f64]) -> Result<Vec<f64>> {
        let n = self.coefficients.first().map_or(0, Vec::len);
        if n == 0 || !rows.len().is_multiple_of(n) {
            return Err(Error::parameter("rows", rows.len(), format!("{n} numbers for each item")));
        }
        let machines = || self.coefficients.iter().zip(&self.biases);
        Ok(rows.chunks_exact(n).flat_map(|row| machines().map(|(c, bias)| dot(c, row) + bias)).collect())
    }

    /// The classes of new items, from the same.
    pub fn classify_rows(&self, rows: &[f64]) -> Result<ClassVerdicts> {
        let Some((classes, rule)) = &self.classes else {
            return Err(Error::Mismatch {
                problem: "a regression has no classes".into(),
                remedy: "ask for its scores".into(),
            });
        };
        Ok(rule.verdicts(&self.scores_of_rows(rows)?, classes.len()))
    }
}

/// Whether there are as many kernel values as items ask for, and nothing stands for them.
pub(super) fn check_matrix(matrix: &[f64], n: usize, approx: Option<Approx>) -> Result<()> {
    if let Some(approx) = approx {
        return Err(Error::parameter("approx", approx, "none where kernel values are given"));
    }
    if n.checked_mul(n) != Some(matrix.len()) {
        return Err(Error::parameter("matrix", matrix.len(), format!("{n} × {n} numbers")));
    }
    Ok(())
}
