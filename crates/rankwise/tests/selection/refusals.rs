//! What cannot be tuned is told before the first fit.

use rankwise::{CompareSvm, Gamma};

use super::*;

const L: Outcome = Outcome::Left;
const T: Outcome = Outcome::Tie;

fn tuner() -> Tuner {
    Tuner::new(CompareSvm::new())
}

#[test]
fn grids_without_points_or_out_of_range() {
    let data = simulated(40, 1);
    let refuse = |grid: Grid, words: &[&str]| {
        let error = refused(&tuner().grid(grid), &data, Split::Folds(2), words);
        assert!(error.is_usage(), "{error}");
    };
    let squared = [Loss::SquaredHinge];
    refuse(grid(&[], &[Kernel::Linear], &squared), &["c = []"]);
    refuse(grid(&[1.0], &[], &squared), &["kernels = []"]);
    refuse(grid(&[1.0], &[Kernel::Linear], &[]), &["losses = []"]);
    for c in [0.0, -1.0, f64::NAN] {
        refuse(grid(&[1.0, c], &[Kernel::Linear], &squared), &["C = "]);
    }
    refuse(grid(&[1.0, f64::INFINITY], &[Kernel::Linear], &squared), &["C = inf"]);
    refuse(grid(&[1.0], &[Kernel::Linear, Kernel::rbf(0.0)], &squared), &["gamma = 0"]);
    let poly = Kernel::Poly { gamma: Gamma::Scale, coef0: 0.0, degree: 65 };
    refuse(grid(&[1.0], &[poly], &squared), &["degree = 65"]);
    let mut svm = CompareSvm::new();
    svm.effort.tol = 2.0;
    assert!(refused(&Tuner::new(svm), &data, Split::Folds(2), &["tol = 2"]).is_usage());
}

#[test]
fn too_few_folds_pairs_or_groups() {
    let pairs = [(0, 1, L), (1, 2, T), (2, 3, L)];
    let data = board(4, &pairs, None);
    assert!(refused(&tuner(), &data, Split::Folds(0), &["folds = 0", "at least 2"]).is_usage());
    assert!(refused(&tuner(), &data, Split::Folds(1), &["folds = 1"]).is_usage());
    refused(&tuner(), &data, Split::Folds(4), &["3 distinct pairs for 4 folds", "at most 3"]);
    let twice: Vec<_> = pairs.iter().chain(&pairs).copied().collect();
    refused(&tuner(), &board(4, &twice, None), Split::Folds(4), &["3 distinct pairs"]);
    let grouped = board(4, &twice, Some(vec![0, 0, 0, 1, 1, 1]));
    refused(&tuner(), &grouped, Split::Folds(3), &["2 groups for 3 folds"]);
    let mut absent = data.clone();
    absent.weights = Some(vec![1.0, 0.0, 1.0]);
    refused(&tuner(), &absent, Split::Folds(3), &["2 distinct pairs for 3 folds"]);
    absent.weights = Some(vec![0.0; 3]);
    refused(&tuner(), &absent, Split::Folds(2), &["weight above 0"]);
    refused(&tuner(), &data.select(&[]), Split::Folds(2), &["weight above 0"]);
}

#[test]
fn metrics_that_are_not_defined_on_what_is_held_out() {
    let auc = tuner().metric(PairMetric::Auc);
    // Each group is a fold: one of them has no ties, the other nothing else.
    let pairs = [(0, 1, L), (1, 2, L), (2, 3, T), (0, 3, T), (0, 2, L), (1, 3, T)];
    let data = board(4, &pairs, Some(vec![0, 0, 1, 1, 2, 2]));
    refused(&auc, &data, Split::Folds(3), &["fold ", " of 3 holds ", "so auc is not defined there", "--folds"]);
    let error = refused(&tuner().metric(PairMetric::PairAccuracy), &data, Split::Folds(3), &["only ties"]);
    assert!(error.to_string().contains("pair_accuracy") && error.to_string().contains("--metric zero_one"), "{error}");
    tune(&tuner(), &data, Split::Folds(3));

    let (train, decided, ties) = (board(4, &pairs, None), board(4, &[(0, 1, L)], None), board(4, &[(0, 1, T)], None));
    refused(
        &auc,
        &train,
        Split::Valid(&decided),
        &["validation file", "no ties", "--metric zero_one or pair_accuracy"],
    );
    refused(&auc, &train, Split::Valid(&ties), &["validation file", "only ties"]);
    let mut absent = decided.clone();
    absent.weights = Some(vec![0.0]);
    refused(&tuner(), &train, Split::Valid(&absent), &["no pair with a weight above 0", "zero_one"]);
    let error =
        refused(&tuner().metric(PairMetric::AucBaseline), &train, Split::Folds(2), &["auc_baseline", "zero_one"]);
    assert!(error.is_usage());
}

#[test]
fn training_parts_with_nothing_to_learn() {
    // The only pair that is no tie is held out in one fold.
    let data = board(4, &[(0, 1, L), (1, 2, T), (2, 3, T), (0, 3, T)], None);
    refused(&tuner(), &data, Split::Folds(2), &["training part of fold ", "only ties", "nothing to learn"]);
    let ties = board(4, &[(0, 1, T), (1, 2, T)], None);
    refused(&tuner(), &ties, Split::Valid(&data), &["all pairs are ties", "nothing to learn"]);
}

#[test]
fn validation_items_that_the_model_cannot_read() {
    let train = board(3, &[(0, 1, L), (1, 2, T)], None);
    let error = refused(
        &tuner(),
        &train,
        Split::Valid(&board(4, &[(0, 3, L)], None)),
        &["validation pairs", "not in the training data"],
    );
    assert!(matches!(error, Error::Data { .. }));
    refused(&tuner(), &train, Split::Valid(&simulated(20, 1)), &["validation pairs", "do not fit the training pairs"]);
}
