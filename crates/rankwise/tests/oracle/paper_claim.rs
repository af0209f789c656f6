//! The claim of the SVMcompare paper (section 4.1, figure 4), small: where half of the pairs are ties, the comparison
//! machine errs less than the ranking SVM that sees ties as two opposite pairs, and that one less than the ranking SVM
//! that does not see them.
//!
//! Pairs are simulated with r(x) = ‖x‖₁² and noise 1/4. Each method picks its model from the paper's 10 × 10 grid by
//! the zero-one error on as many validation pairs as there are training pairs. Among equal errors the smallest C wins,
//! then the smallest γ: the smoothest function. The test set is larger than the paper's, so that it adds less noise.
//!
//! The claim is about the hinge, and there it holds with room to spare. With the squared hinge, the default, `rank2`
//! gains so much from ties (its loss of a tie is then 2 + 2z², least squares towards a difference of 0) that it is on a
//! par with `compare`. Mean errors in percent over 20 other seeds (5 to 24) with 10 000 test pairs each:
//!
//! | settings | training pairs | compare | rank2 | rank |
//! |---|---|---|---|---|
//! | defaults | 100 | 10.21 | 10.09 | 18.95 |
//! | defaults | 400 | 5.95 | 5.49 | 11.59 |
//! | paper's | 100 | 10.29 | 14.23 | 19.37 |
//! | paper's | 400 | 5.91 | 7.59 | 12.25 |
//!
//! So of the defaults this test asks only that `compare` is not worse than `rank2` by more than a point.

use std::sync::Mutex;

use rankwise::data::Comparisons;
use rankwise::data::simulate::{Norm, Simulation};
use rankwise::metrics::Judged;
use rankwise::model::{Model, ThresholdRule};
use rankwise::{CompareRank, CompareSvm, Kernel, Loss, Variant};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;
const TEST_PAIRS: usize = 2000;
const METHODS: [&str; 3] = ["compare", "rank2", "rank"];
const GRID: usize = 10;
/// By how much `compare` may err more than `rank2` where the two are on a par: with the squared hinge.
const ON_A_PAR: f64 = 0.01;

fn draw(n_pairs: usize, seed: u64) -> Comparisons {
    Simulation { norm: Norm::L1, n_pairs, ties: 0.5, noise: 0.25, seed }.draw().unwrap()
}

/// The `at`-th of ten numbers spaced evenly from `low` to `high`.
fn spaced(low: f64, high: f64, at: usize) -> f64 {
    low + (high - low) * at as f64 / (GRID - 1) as f64
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Settings {
    /// Squared hinge, threshold re-fitted.
    Defaults,
    /// Hinge, the comparison machine's own threshold.
    Paper,
}

#[derive(Debug, Clone, Copy)]
struct Job {
    settings: Settings,
    method: &'static str,
    n_pairs: usize,
    seed: u64,
}

impl Job {
    fn fit(&self, data: &Comparisons, c: f64, gamma: f64) -> Model {
        let (loss, threshold) = match self.settings {
            Settings::Defaults => (Loss::SquaredHinge, ThresholdRule::Refit),
            Settings::Paper => (Loss::Hinge, ThresholdRule::Model),
        };
        let kernel = Kernel::rbf(gamma);
        let rank = |variant| CompareRank::new(variant).c(c).kernel(kernel).loss(loss).threads(1).fit(data);
        let fit = match self.method {
            "compare" => CompareSvm::new().c(c).kernel(kernel).loss(loss).threshold(threshold).threads(1).fit(data),
            "rank2" => rank(Variant::Rank2),
            _ => rank(Variant::Rank),
        };
        fit.unwrap().model
    }

    /// The test error of the model that does best on the validation pairs.
    fn test_error(&self) -> f64 {
        let train = draw(self.n_pairs, self.seed);
        let validation = draw(self.n_pairs, 100 + self.seed);
        let mut best: Option<(f64, Model)> = None;
        for c in (0..GRID).map(|at| 10f64.powf(spaced(-3.0, 3.0, at))) {
            for gamma in (0..GRID).map(|at| 2f64.powf(spaced(-7.0, 4.0, at))) {
                let model = self.fit(&train, c, gamma);
                let error = zero_one(&model, &validation);
                if best.as_ref().is_none_or(|(least, _)| error < *least) {
                    best = Some((error, model));
                }
            }
        }
        zero_one(&best.unwrap().1, &draw(TEST_PAIRS, 200 + self.seed))
    }
}

fn zero_one(model: &Model, data: &Comparisons) -> f64 {
    let margins = model.margins(&data.set).unwrap();
    Judged::new(&data.outcomes, &margins, None, model.threshold).unwrap().zero_one().unwrap()
}

/// Test errors of all jobs, in their order, on two threads.
fn test_errors(jobs: &[Job]) -> Vec<f64> {
    let next = Mutex::new(jobs.iter().enumerate());
    let errors = Mutex::new(vec![f64::NAN; jobs.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let job = next.lock().unwrap().next();
                    let Some((at, job)) = job else { break };
                    let error = job.test_error();
                    errors.lock().unwrap()[at] = error;
                }
            });
        }
    });
    errors.into_inner().unwrap()
}

#[test]
fn compare_errs_less_than_rank2_and_rank2_less_than_rank() {
    // The larger jobs first, so that both threads end together.
    let sizes = [400, 100];
    let mut jobs = Vec::new();
    for n_pairs in sizes {
        for settings in [Settings::Defaults, Settings::Paper] {
            for method in METHODS {
                jobs.extend(SEEDS.map(|seed| Job { settings, method, n_pairs, seed }));
            }
        }
    }
    let errors = test_errors(&jobs);
    let mean = |settings: Settings, method: &str, n_pairs: usize| {
        let chosen = |job: &Job| job.settings == settings && job.method == method && job.n_pairs == n_pairs;
        let of: Vec<f64> = jobs.iter().zip(&errors).filter(|(job, _)| chosen(job)).map(|(_, &e)| e).collect();
        assert_eq!(of.len(), SEEDS.count());
        of.iter().sum::<f64>() / of.len() as f64
    };
    for settings in [Settings::Defaults, Settings::Paper] {
        let means = sizes.map(|n_pairs| (n_pairs, METHODS.map(|method| mean(settings, method, n_pairs))));
        let allowance = if settings == Settings::Defaults { ON_A_PAR } else { 0.0 };
        for (_, [compare, rank2, rank]) in means {
            assert!(
                compare <= rank2 + allowance && rank2 <= rank && compare <= rank,
                "{settings:?}: mean test errors of {METHODS:?} by number of training pairs: {means:?}"
            );
        }
    }
}
