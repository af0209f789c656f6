//! Fitted things: how they score and compare, and what is known of their training.

mod band;
mod chances;
mod check;
mod classes;
mod coupling;
mod description;
mod grades;
mod number;
mod online;
mod program;
mod scorer;
mod svm;
mod training;
mod tuning;

pub use crate::kernel::Landmarks;
pub use band::TieBand;
pub use chances::Chances;
pub use classes::{ClassRule, ClassScheme, ClassVerdicts, Sigmoid};
pub use description::{Description, or_inf};
pub use grades::{Constraints, GradeRule};
pub use online::{Batch, OnlineState, OnlineTraining, Schedule, Task};
pub use program::{CoefficientSign, ProgramTraining};
pub use scorer::{Basis, ScoreFunction, Scorer};
pub use svm::{ClassWeights, SvmTraining};
pub use training::{Balance, LearntFrom, Method, ThresholdRule, TieBandKind, TieRegion, TieShare, Training};
pub use tuning::{EQUAL_MEANS, Tuning, TuningBaseline, TuningPoint, TuningSplit};

use crate::data::{Outcome, PairSet};
pub use crate::data::{Verdicts, class_name};
use crate::error::Result;

/// A fitted comparer: a ranking function r and the difference that does not matter.
///
/// margin = r(right) − r(left); a pair with |margin| ≤ threshold is a tie.
#[derive(Debug, Clone)]
pub struct Model {
    /// The ranking function r.
    pub scorer: Scorer,
    /// τ ≥ 0; with a tie band, the mean over the training pairs.
    pub threshold: f64,
    /// β of the comparison machine: the machine's own threshold is −β in units of u = −β·r. `None` for rankers.
    pub beta: Option<f64>,
    /// The machine itself found no region of ties (β ≥ 0, or no ties in the data); scores are then u itself.
    pub no_tie_region: bool,
    /// How the difference that does not matter depends on the pair, if it does.
    pub band: Option<TieBand>,
    /// How margins become probabilities, if they do.
    pub chances: Option<Chances>,
    /// Of a classifier its classes; of two, scores below 0 mean the first one, others the second.
    pub classes: Option<Vec<String>>,
    /// How the machines of a classifier are put together, where there may be several.
    pub class_rule: Option<ClassRule>,
    /// How scores become grades, where they do.
    pub grades: Option<GradeRule>,
    /// Where random steps stopped, from which they can go on.
    pub state: Option<OnlineState>,
    /// How it was trained.
    pub training: Training,
}

impl Model {
    /// score(right) − score(left) for every pair. Features are matched by name where both sides have names.
    pub fn margins(&self, set: &PairSet) -> Result<Vec<f64>> {
        let scores = self.scorer.scores(&set.items)?;
        Ok(margins_of(&scores, set))
    }

    /// Everything the model says of pairs.
    pub fn judge(&self, set: &PairSet) -> Result<Verdicts> {
        let features = self.scorer.read(&set.items)?;
        let features = self.scorer.function.mapped(&features)?;
        let margins = margins_of(&self.scorer.scores_of_mapped(&features, &set.items)?, set);
        let widths = self.band.as_ref().map(|band| band.widths(&features, set)).transpose()?;
        let width = |k: usize| widths.as_ref().map(|widths| widths[k]);
        let chances = self.chances.map(|rule| margins.iter().enumerate().map(|(k, &m)| rule.of(m, width(k))).collect());
        let (thresholds, excess) = match &widths {
            None => (None, None),
            Some(widths) => {
                let of = |(&margin, &width): (&f64, &f64)| {
                    let of_chances = self
                        .chances
                        .and_then(|rule| Some((rule.threshold(Some(width))?, rule.excess(margin, Some(width))?)));
                    of_chances.unwrap_or((width.max(0.0), margin.abs() - width))
                };
                let (thresholds, excess): (Vec<f64>, Vec<f64>) = margins.iter().zip(widths).map(of).unzip();
                (Some(thresholds), Some(excess))
            }
        };
        Ok(Verdicts { margins, threshold: self.threshold, thresholds, excess, chances })
    }

    /// The predicted outcome of every pair.
    pub fn compare(&self, set: &PairSet) -> Result<Vec<Outcome>> {
        Ok(self.judge(set)?.outcomes())
    }

    /// The class that a score means; `None` if this is no classifier of two classes.
    pub fn class_of(&self, score: f64) -> Option<&str> {
        let classes = self.classes.as_ref().filter(|classes| classes.len() == 2)?;
        classes.get(usize::from(score >= 0.0)).map(String::as_str)
    }
}

fn margins_of(scores: &[f64], set: &PairSet) -> Vec<f64> {
    set.pairs.iter().map(|p| scores[p.right as usize] - scores[p.left as usize]).collect()
}
