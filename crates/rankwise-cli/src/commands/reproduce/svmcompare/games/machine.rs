//! A comparison machine of the study: hyper-parameters chosen on the first months, trained, judged.

use rankwise::data::{Outcome, Scale};
use rankwise::estimator::{CompareSvm, PairEstimator};
use rankwise::kernel::{Gamma, Kernel};
use rankwise::metrics::{Judged, PairMetric};
use rankwise::model::ThresholdRule;
use rankwise::selection::{Grid, Split, Tuner};
use rankwise::{Loss, Stop};

use super::super::super::study::{Patient, Values, values};
use super::history::{FEATURES, RATINGS, Recorded, comparisons, outcomes};
use super::periods::Period;
use crate::exit::{Failure, Run};

/// Kernels, as the paper groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Linear,
    Polynomial,
    Gaussian,
}

impl Family {
    pub(super) fn name(self) -> &'static str {
        match self {
            Family::Linear => "linear",
            Family::Polynomial => "polynomial",
            Family::Gaussian => "Gaussian",
        }
    }

    /// About how long a search takes, compared with others.
    pub(super) fn effort(self) -> f64 {
        match self {
            Family::Linear => 1.0,
            Family::Polynomial => 8.0,
            Family::Gaussian => 6.0,
        }
    }

    /// The kernels to choose from. The paper prints degrees and widths; γ and c₀ of the polynomials are ours.
    fn kernels(self, is_quick: bool) -> Vec<Kernel> {
        match self {
            Family::Linear => vec![Kernel::Linear],
            Family::Polynomial => {
                let degrees = 1..=if is_quick { 2 } else { 4 };
                degrees.map(|degree| Kernel::Poly { gamma: Gamma::Scale, coef0: 1.0, degree }).collect()
            }
            Family::Gaussian => [0.1, 1.0, 10.0].map(Kernel::rbf).to_vec(),
        }
    }
}

/// Which features a machine sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    Ratings,
    All,
}

impl Sight {
    pub(super) fn name(self) -> &'static str {
        match self {
            Sight::Ratings => "Elo and Glicko",
            Sight::All => "all features",
        }
    }

    pub(super) fn columns(self) -> Vec<usize> {
        match self {
            Sight::Ratings => RATINGS.to_vec(),
            Sight::All => (0..FEATURES.len()).collect(),
        }
    }
}

/// How many games a machine learns from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of the first four months, as in the paper.
    Months,
    /// Those of four years up to the same day; ours.
    Years,
}

impl Reach {
    pub(super) fn name(self) -> &'static str {
        match self {
            Reach::Months => "four months",
            Reach::Years => "four years",
        }
    }
}

/// One machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) family: Family,
    pub(super) sight: Sight,
    pub(super) loss: Loss,
    pub(super) reach: Reach,
}

/// How hyper-parameters are chosen.
#[derive(Debug, Clone)]
pub(super) struct Search {
    /// Values of C, rising.
    pub(super) c: Vec<f64>,
    /// Shares of the games that are learnt from.
    pub(super) shares: Vec<f64>,
    pub(super) is_quick: bool,
    pub(super) seed: u64,
}

impl Machine {
    pub(super) fn key(&self) -> String {
        format!("{}/{}/{}/{}", self.family.name(), self.sight.name(), self.loss.name(), self.reach.name())
    }

    /// Chooses, trains and measures.
    pub(super) fn run(&self, seen: &[Recorded], period: &Period, search: &Search) -> Run<Values> {
        let pairs = |games: &[usize]| {
            let games: Vec<&Recorded> = games.iter().map(|&at| &seen[at]).collect();
            comparisons(&games, &self.sight.columns())
        };
        let mut svm = CompareSvm::new().scale(Scale::Standard);
        if self.loss == Loss::Hinge {
            svm = svm.threshold(ThresholdRule::Model);
        }
        svm.effort.threads = 1;
        svm.effort.seed = search.seed;
        let estimator = PairEstimator::from(svm);
        let kernels = self.family.kernels(search.is_quick);
        let n_points = kernels.len() * search.c.len();
        let mut sums = vec![0.0; n_points];
        // Points whose margins order nothing in any split.
        let mut is_flat = vec![true; n_points];
        for &share in &search.shares {
            let (train, valid) = period.split(share);
            let (train, valid) = (pairs(train)?, pairs(valid)?);
            let grid = Grid { c: search.c.clone(), kernels: kernels.clone(), losses: vec![self.loss] };
            let tuner = Tuner::new(estimator.clone()).grid(grid).metric(PairMetric::Auc);
            let tuned = tuner.tune(&train, Split::Valid(&valid), &Patient)?;
            let tuning = tuned.tuning().ok_or_else(|| Failure::Fault("the search left no record".into()))?;
            if tuning.points.len() != n_points {
                return Err(Failure::Fault("the search left points out".into()));
            }
            let flat = auc(&valid.outcomes, &vec![0.0; valid.n_pairs()])?;
            for (at, point) in tuning.points.iter().enumerate() {
                let auc = point.mean.unwrap_or(flat);
                sums[at] += auc / search.shares.len() as f64;
                is_flat[at] &= auc == flat;
            }
        }
        // Of equals the one with the largest C: below some C all orders are the same, and margins go to 0.
        let best = (0..n_points).fold(0, |best, at| {
            let (c, best_c) = (search.c[at % search.c.len()], search.c[best % search.c.len()]);
            if sums[at] > sums[best] || (sums[at] == sums[best] && c > best_c) { at } else { best }
        });
        let (kernel, c) = (kernels[best / search.c.len()], search.c[best % search.c.len()]);
        let fit = estimator.shaped(c, kernel, self.loss).fit_watched(&pairs(&period.train)?, &Patient)?;
        let test = pairs(&period.test)?;
        let margins = fit.model.judge(&test.set)?.margins;
        let (degree, gamma) = match kernel {
            Kernel::Poly { degree, .. } => (f64::from(degree), f64::NAN),
            Kernel::Rbf { gamma: Gamma::Value(gamma) } => (f64::NAN, gamma),
            _ => (f64::NAN, f64::NAN),
        };
        Ok(values([
            ("c", c),
            ("degree", degree),
            ("gamma", gamma),
            ("validation_auc", sums[best]),
            ("test_auc", auc(&test.outcomes, &margins)?),
            ("flat_points", is_flat.iter().filter(|flat| **flat).count() as f64),
            ("points", n_points as f64),
            ("collapsed", f64::from(u8::from(fit.model.training.collapsed))),
            ("converged", f64::from(u8::from(fit.model.training.stop == Stop::Converged))),
        ]))
    }
}

/// The AUC of margins on judged games.
pub(super) fn auc(outcomes: &[Outcome], margins: &[f64]) -> Run<f64> {
    defined(Judged::new(outcomes, margins, None, 0.0)?.auc())
}

/// The AUC of a column's differences on games of a period, and that of the same answer for all.
pub(super) fn of_column(seen: &[Recorded], games: &[usize], column: usize) -> Run<(f64, f64)> {
    let games: Vec<&Recorded> = games.iter().map(|&at| &seen[at]).collect();
    let outcomes = outcomes(&games);
    let margins: Vec<f64> = games.iter().map(|game| game.sides[1][column] - game.sides[0][column]).collect();
    let constant = defined(Judged::new(&outcomes, &margins, None, 0.0)?.auc_baseline())?;
    Ok((auc(&outcomes, &margins)?, constant))
}

fn defined(value: Option<f64>) -> Run<f64> {
    value.ok_or_else(|| Failure::Fault("the games lack an outcome".into()))
}
