//! What all trials of comparing machines have in common: pairs are drawn, a method chooses its C and γ on validation
//! pairs, and is judged by test pairs.
//!
//! Trial t of seed s draws its training, validation and test pairs with the seeds s + 3t, s + 3t + 1 and s + 3t + 2,
//! whatever the method. The test pairs do not depend on how many there are to train with.

use rankwise::data::simulate::{Norm, Simulation};
use rankwise::data::{Comparisons, Scale, Verdicts};
use rankwise::estimator::PairEstimator;
use rankwise::kernel::{Gamma, Kernel};
use rankwise::metrics::{Judged, PairMetric};
use rankwise::model::{Method, Model, ThresholdRule};
use rankwise::selection::{Grid, Split, TuneWatch, Tuner, log_spaced};
use rankwise::{Loss, model::TuningPoint};

use crate::exit::{Failure, Run};

/// Standard deviation of the noise.
pub(super) const NOISE: f64 = 0.25;
/// Pairs to be judged by: more than the paper has, so that they add less noise.
pub(super) const TEST_PAIRS: usize = 5000;
/// The paper's grid, ten values each: C from 10⁻³ to 10³, γ from 2⁻⁷ to 2⁴.
pub(super) const GRID_C: (f64, f64) = (1e-3, 1e3);
pub(super) const GRID_GAMMA: (f64, f64) = (0.0078125, 16.0);
pub(super) const GRID_VALUES: usize = 10;
/// The methods from the one that makes least of ties to the one that makes most.
pub(super) const METHODS: [Method; 3] = [Method::Rank, Method::Rank2, Method::Compare];

/// Where pairs come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Draw {
    /// Whose square ranks.
    pub(super) norm: Norm,
    /// How many pairs there are to train with, and as many to choose with.
    pub(super) n_pairs: usize,
    /// The share of ties.
    pub(super) ties: f64,
    /// The seed the program was given.
    pub(super) seed: u64,
    /// Which draw of this kind.
    pub(super) trial: usize,
}

/// Pairs to learn from, to choose with and to be judged by.
pub(super) struct Sets {
    pub(super) train: Comparisons,
    pub(super) validation: Comparisons,
    pub(super) test: Comparisons,
}

impl Draw {
    /// Seeds of the training, validation and test pairs.
    pub(super) fn seeds(&self) -> [u64; 3] {
        [0, 1, 2].map(|set| self.seed.wrapping_add(3 * self.trial as u64 + set))
    }

    /// Draws them.
    pub(super) fn sets(&self) -> Run<Sets> {
        let [train, validation, test] = self.seeds();
        let draw = |n_pairs, seed| Simulation { norm: self.norm, n_pairs, ties: self.ties, noise: NOISE, seed }.draw();
        Ok(Sets {
            train: draw(self.n_pairs, train)?,
            validation: draw(self.n_pairs, validation)?,
            test: draw(TEST_PAIRS, test)?,
        })
    }
}

/// Parameters that are not chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Settings {
    /// Hinge; the comparison machine's own threshold.
    Paper,
    /// rankwise's defaults: squared hinge; threshold re-fitted.
    Defaults,
}

impl Settings {
    pub(super) fn loss(self) -> Loss {
        match self {
            Settings::Paper => Loss::Hinge,
            Settings::Defaults => Loss::default(),
        }
    }
}

/// How a method is tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trial {
    pub(super) method: Method,
    pub(super) settings: Settings,
    /// What C and γ are chosen by.
    pub(super) metric: PairMetric,
    /// Values of C, and of γ.
    pub(super) n_grid: usize,
    /// The linear kernel, and so C alone is chosen.
    pub(super) is_linear: bool,
    pub(super) scale: Scale,
    pub(super) seed: u64,
}

/// What was chosen, and what it is worth.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) c: f64,
    /// Of the Gaussian kernel.
    pub(super) gamma: Option<f64>,
    /// The metric on the validation pairs.
    pub(super) validation: f64,
    pub(super) model: Model,
    pub(super) test: Measured,
    pub(super) warnings: Vec<String>,
}

impl Trial {
    /// Chooses, trains and measures. One thread: there are many trials.
    pub(super) fn run(&self, sets: &Sets, watch: &dyn TuneWatch) -> Run<Chosen> {
        let gammas = log_spaced(GRID_GAMMA.0, GRID_GAMMA.1, self.n_grid)?;
        let widths = || gammas.into_iter().map(Kernel::rbf).collect();
        let grid = Grid {
            c: log_spaced(GRID_C.0, GRID_C.1, self.n_grid)?,
            kernels: if self.is_linear { vec![Kernel::Linear] } else { widths() },
            losses: vec![self.settings.loss()],
        };
        let mut estimator = PairEstimator::new(self.method)?;
        estimator.effort_mut().threads = 1;
        estimator.effort_mut().seed = self.seed;
        *estimator.scale_mut() = self.scale;
        if let (PairEstimator::Compare(svm), Settings::Paper) = (&mut estimator, self.settings) {
            svm.threshold = ThresholdRule::Model;
        }
        let tuner = Tuner::new(estimator).grid(grid).metric(self.metric);
        let tuned = tuner.tune(&sets.train, Split::Valid(&sets.validation), watch)?;
        let unknown = || Failure::Fault("the search left no record".into());
        let tuning = tuned.tuning().ok_or_else(unknown)?;
        let TuningPoint { c, kernel, mean, .. } = tuning.points[tuning.best].clone();
        let warnings = tuning.warnings.clone();
        let gamma = match kernel {
            Kernel::Rbf { gamma: Gamma::Value(gamma) } => Some(gamma),
            _ => None,
        };
        let validation = mean.ok_or_else(|| Failure::Fault("the best point was not measured".into()))?;
        let model = tuned.fit.model;
        let test = Measured::on(&sets.test, &model.judge(&sets.test.set)?)?;
        Ok(Chosen { c, gamma, validation, model, test, warnings })
    }
}

/// Error and AUC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    pub(super) error: f64,
    pub(super) auc: f64,
}

/// Test pairs judged without learning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Beside {
    /// By the function the pairs were drawn from, with its threshold.
    pub(super) truth: Measured,
    /// By always the same answer.
    pub(super) constant: Measured,
}

impl Measured {
    pub(super) fn on(data: &Comparisons, verdicts: &Verdicts) -> Run<Self> {
        let judged = Judged::of(&data.outcomes, verdicts, None)?;
        Ok(Measured { error: defined(judged.zero_one())?, auc: defined(judged.auc())? })
    }

    /// Of always the same answer.
    pub(super) fn constant(data: &Comparisons) -> Run<Self> {
        let verdicts = Verdicts::plain(vec![0.0; data.n_pairs()], 1.0);
        let judged = Judged::of(&data.outcomes, &verdicts, None)?;
        Ok(Measured { error: defined(judged.majority_error())?, auc: defined(judged.auc_baseline())? })
    }
}

impl Beside {
    pub(super) fn on(data: &Comparisons, norm: Norm) -> Run<Self> {
        let rank = |item: u32| {
            let mut point = [0.0; 2];
            data.set.items.features.copy_row(item as usize, &mut point);
            norm.rank(point)
        };
        let margins = data.set.pairs.iter().map(|pair| rank(pair.right) - rank(pair.left)).collect();
        let verdicts = Verdicts::plain(margins, 1.0);
        Ok(Beside { truth: Measured::on(data, &verdicts)?, constant: Measured::constant(data)? })
    }
}

fn defined(value: Option<f64>) -> Run<f64> {
    value.ok_or_else(|| Failure::Fault("the test pairs lack an outcome".into()))
}
