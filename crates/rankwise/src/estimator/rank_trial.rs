//! Fits on some groups of a ranking, to choose C by what the others say. The features are never copied.

use std::time::Instant;

use super::RankSvm;
use super::rank_svm::RankPath;
use crate::data::{Ranking, Scaler};
use crate::error::Result;
use crate::progress::{Stop, Watch};

/// About the C at which the losses of a ranking weigh as much as the norm; the data must have a pair.
pub(crate) fn unit_of_c(svm: &RankSvm, data: &Ranking) -> Result<f64> {
    let scaler = data.scaler(svm.scale);
    Ok(RankPath::of_groups(svm, data.view(), &data.items, scaler.as_ref(), |_| true)?.unit_of_c())
}

/// Fits on those groups of a ranking that are not held out, each from where the last one ended. Between fits it keeps
/// weights alone: sums are soon made again, and many trials may wait.
pub(crate) struct RankTrial<'a> {
    svm: RankSvm,
    data: &'a Ranking,
    is_held_out: &'a [bool],
    scaler: Option<Scaler>,
    last: Option<Vec<f64>>,
}

impl<'a> RankTrial<'a> {
    /// Learns the scaling from the groups that are not held out; one entry per group.
    pub(crate) fn new(svm: RankSvm, data: &'a Ranking, is_held_out: &'a [bool]) -> Self {
        let groups = data.groups.numbers();
        let rows = (0..data.n_items()).filter(|&item| !is_held_out[groups[item] as usize]);
        let scaler = Scaler::learn_weighted(svm.scale, &data.items.features, rows, data.weights.as_deref());
        RankTrial { svm, data, is_held_out, scaler, last: None }
    }

    /// Fits with this C: weights of the features as they are, whose scores are the model's but for a constant.
    pub(crate) fn next(&mut self, c: f64, watch: &dyn Watch) -> Result<(Vec<f64>, Stop)> {
        let limits = self.svm.effort.limits(Instant::now(), watch);
        self.svm.c = c;
        let keeps = |group: usize| !self.is_held_out[group];
        let mut path = RankPath::of_groups(&self.svm, self.data.view(), &self.data.items, self.scaler.as_ref(), keeps)?;
        path.start_at(self.last.take());
        let solution = path.solve(c, limits)?;
        let mut weights = solution.weights;
        self.last = Some(weights.clone());
        if let Some(scaler) = &self.scaler {
            weights.iter_mut().zip(&scaler.divisor).for_each(|(weight, divisor)| *weight /= divisor);
        }
        Ok((weights, solution.stop))
    }
}
