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
//! | defaults | 100 | 10.60 | 10.20 | 19.19 |
//! | defaults | 400 | 5.75 | 5.67 | 11.59 |
//! | paper's | 100 | 10.28 | 14.35 | 19.31 |
//! | paper's | 400 | 5.92 | 7.66 | 12.26 |
//!
//! So of the defaults this test asks only that `compare` is not worse than `rank2` by more than a point.

use rankwise::data::Comparisons;
use rankwise::data::simulate::{Norm, Simulation};
use rankwise::metrics::Judged;
use rankwise::model::{Model, ThresholdRule};
use rankwise::selection::{Grid, Split, Tuner};
use rankwise::{CompareRank, CompareSvm, Kernel, Loss, PairEstimator, Unwatched, Variant};

/// Numbers of training pairs, each with the number of seeds that makes the means steady.
const SIZES: [(usize, u64); 2] = [(400, 6), (100, 16)];
const TEST_PAIRS: usize = 2000;
const METHODS: [&str; 3] = ["compare", "rank2", "rank"];
const GRID: usize = 10;
/// By how much `compare` may err more than `rank2` where the two are on a par: with the squared hinge.
const ON_A_PAR: f64 = 0.01;

fn draw(n_pairs: usize, seed: u64) -> Comparisons {
    Simulation { norm: Norm::L1, n_pairs, ties: 0.5, noise: 0.25, seed }.draw().unwrap()
}

/// Ten numbers spaced evenly from `low` to `high`.
fn spaced(low: f64, high: f64) -> impl Iterator<Item = f64> {
    (0..GRID).map(move |at| low + (high - low) * at as f64 / (GRID - 1) as f64)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Settings {
    /// Squared hinge, threshold re-fitted.
    Defaults,
    /// Hinge, the comparison machine's own threshold.
    Paper,
}

fn estimator(settings: Settings, method: &str) -> PairEstimator {
    let threshold = match settings {
        Settings::Defaults => ThresholdRule::Refit,
        Settings::Paper => ThresholdRule::Model,
    };
    match method {
        "compare" => CompareSvm::new().threshold(threshold).into(),
        "rank2" => CompareRank::new(Variant::Rank2).into(),
        _ => CompareRank::new(Variant::Rank).into(),
    }
}

/// The test error of the model that does best on the validation pairs.
fn test_error(settings: Settings, method: &str, n_pairs: usize, seed: u64) -> f64 {
    let loss = match settings {
        Settings::Defaults => Loss::SquaredHinge,
        Settings::Paper => Loss::Hinge,
    };
    let grid = Grid {
        c: spaced(-3.0, 3.0).map(|e| 10f64.powf(e)).collect(),
        kernels: spaced(-7.0, 4.0).map(|e| Kernel::rbf(2f64.powf(e))).collect(),
        losses: vec![loss],
    };
    let (train, validation) = (draw(n_pairs, seed), draw(n_pairs, 100 + seed));
    let tuner = Tuner::new(estimator(settings, method)).grid(grid);
    let tuned = tuner.tune(&train, Split::Valid(&validation), &Unwatched).unwrap();
    zero_one(&tuned.fit.model, &draw(TEST_PAIRS, 200 + seed))
}

fn zero_one(model: &Model, data: &Comparisons) -> f64 {
    let verdicts = model.judge(&data.set).unwrap();
    Judged::of(&data.outcomes, &verdicts, None).unwrap().zero_one().unwrap()
}

#[test]
fn compare_errs_less_than_rank2_and_rank2_less_than_rank() {
    for settings in [Settings::Defaults, Settings::Paper] {
        let means = SIZES.map(|(n_pairs, n_seeds)| {
            let mean = |method| (1..=n_seeds).map(|seed| test_error(settings, method, n_pairs, seed)).sum::<f64>();
            (n_pairs, METHODS.map(|method| mean(method) / n_seeds as f64))
        });
        let allowance = if settings == Settings::Defaults { ON_A_PAR } else { 0.0 };
        for (_, [compare, rank2, rank]) in means {
            assert!(
                compare <= rank2 + allowance && rank2 <= rank && compare <= rank,
                "{settings:?}: mean test errors of {METHODS:?} by number of training pairs: {means:?}"
            );
        }
    }
}
