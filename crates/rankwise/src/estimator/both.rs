//! Labels and judged pairs in one training.

use std::borrow::Cow;
use std::time::Instant;

use super::common::Fit;
use super::item_ranker::{check_width, rank_sums, weights_of, why_dropped, why_to_scale};
use super::rank_svm::{RankSvm, record, solution_of};
use crate::data::{JudgedPairs, Outcome, Ranking};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::loss::Loss;
use crate::model::{Balance, LearntFrom, Model, TieShare};
use crate::problem::threshold::{Cuts, best_threshold};
use crate::problem::{BlockSums, Costs, Hinge, PairSums, Rule, Together};
use crate::progress::Watch;

impl RankSvm {
    /// Fits a model to labels and judged pairs of the same items at once: to the sum over the pairs of a group with different
    /// labels comes C·Σ c·ℓ(1 − (r(better) − r(worse))) over the judged pairs that are no ties, c their weights. The ties
    /// among them have a say in the threshold alone, which is the exact minimiser of the error on the judged pairs.
    pub fn fit_both(
        &self,
        data: &Ranking,
        judged: &JudgedPairs,
        start: Option<&Model>,
        watch: &dyn Watch,
    ) -> Result<Fit> {
        self.check()?;
        judged.check(data.n_items())?;
        check_width(&data.items.features)?;
        if self.kernel != Kernel::Linear {
            return Err(Error::Unsupported {
                problem: "labels and judged pairs together are learnt with linear scores alone".into(),
                remedy: "choose --kernel linear, or learn from one of them".into(),
            });
        }
        if self.c == f64::INFINITY {
            return Err(Error::Unsupported {
                problem: "C = inf asks for a hard margin, which labels and judged pairs together do not have".into(),
                remedy: "choose a finite C, or learn from labels alone".into(),
            });
        }
        let started = Instant::now();
        self.effort.in_pool(|threads| {
            let model = self.fit_both_here(data, judged, start, self.effort.limits(started, watch))?;
            Fit::new(model, &data.items, started, threads)
        })
    }

    fn fit_both_here(
        &self,
        data: &Ranking,
        judged: &JudgedPairs,
        start: Option<&Model>,
        limits: crate::solver::Limits<'_>,
    ) -> Result<Model> {
        let scaler = data.scaler(self.scale);
        let near = data.near_zero();
        let (shape, weighing, draw) = self.of_sums();
        let labels = rank_sums(near.view(), |_| true, scaler.as_ref(), shape, self.c, weighing, draw)?;
        let counts = labels.counts();
        let rows: Vec<u32> = (0..data.n_items() as u32).collect();
        let rule = match self.loss {
            Loss::Logistic => Rule::RankLogistic,
            Loss::Hinge => Rule::Rank(Hinge::Rounded(1.0)),
            _ => Rule::Rank(Hinge::Squared),
        };
        let costs = Costs::Factors { weights: judged.weights.as_deref().map(Cow::Borrowed), tie: 0.0, other: 1.0 };
        let pairs = PairSums::of_pairs(judged, &near.items.features, Cow::Borrowed(&rows), costs, rule);
        let divisors = scaler.as_ref().map(|scaler| scaler.divisor.as_slice());
        let mut sums = Together::new(Box::new(labels), Box::new(pairs), divisors);
        sums.set_c(self.c);
        let start = start.map(|model| weights_of(model, &data.items, scaler.as_ref())).transpose()?;
        let solution = solution_of(&mut sums, self.loss, start, limits).checked()?;
        let mut warnings: Vec<String> = why_to_scale(self.scale, &data.items).into_iter().collect();
        warnings.extend(why_dropped(counts));
        if self.balance == Balance::Groups {
            warnings.push("balanced groups weigh 1 each; so does every judged pair".into());
        }
        let mut model = record(self, self.c, counts, &solution, warnings).model(solution, &data.items, scaler.as_ref());
        let scores = model.scorer.scores(&data.items)?;
        let margin = |k: usize| {
            let pair = judged.pairs[k];
            scores[pair.right as usize] - scores[pair.left as usize]
        };
        let present: Vec<usize> = (0..judged.pairs.len()).filter(|&k| judged.weight(k) > 0.0).collect();
        let cuts = Cuts {
            n: present.len(),
            outcome: &|at| judged.outcomes[present[at]],
            margin: &|at| margin(present[at]),
            weight: &|at| judged.weight(present[at]),
        };
        model.threshold = best_threshold(&cuts);
        let share = |is_tie: &dyn Fn(usize) -> bool| {
            let all: f64 = (0..judged.pairs.len()).map(|k| judged.weight(k)).sum();
            let ties: f64 = (0..judged.pairs.len()).filter(|&k| is_tie(k)).map(|k| judged.weight(k)).sum();
            // + 0: an empty sum is −0
            if all > 0.0 { ties / all + 0.0 } else { 0.0 }
        };
        let training = &mut model.training;
        training.learnt_from = LearntFrom::Both;
        let counted = |is_tie: bool| {
            let is_that = |&k: &usize| (judged.outcomes[k] == Outcome::Tie) == is_tie && judged.weight(k) > 0.0;
            (0..judged.pairs.len()).filter(is_that).count()
        };
        training.pairs += counted(false) + counted(true);
        training.ties = counted(true);
        training.tie_share = TieShare {
            observed: share(&|k| judged.outcomes[k] == Outcome::Tie),
            predicted: share(&|k| margin(k).abs() <= model.threshold),
        };
        Ok(model)
    }
}
