//! Every value of a search is what a fit and a measurement by hand give.

use std::path::Path;

use rankwise::data::{Context, Features, Precision, Random};
use rankwise::io::{model_from_bytes, model_to_bytes};
use rankwise::model::{TieBandKind, TuningSplit};
use rankwise::{CompareRank, CompareSvm, Davidson, Gamma, Variant};

use super::*;
use crate::oracle::plain::MACHINES;

const POLY: Kernel = Kernel::Poly { gamma: Gamma::Value(0.3), coef0: 1.0, degree: 2 };

fn with_extras(mut data: Comparisons) -> Comparisons {
    let mut random = Random::new(3);
    data.weights = Some((0..data.n_pairs()).map(|_| random.below(4) as f64 * 0.5).collect());
    data.groups = Some((0..data.n_pairs()).map(|k| (k / 4) as u32).collect());
    data
}

fn present(data: &Comparisons) -> Comparisons {
    let kept: Vec<usize> = (0..data.n_pairs()).filter(|&k| data.weight(k) > 0.0).collect();
    data.select(&kept)
}

#[test]
fn points_are_what_a_loop_by_hand_measures() {
    let plain = simulated(90, 1);
    let valid = simulated(70, 2);
    let kernels = [Kernel::Linear, Kernel::rbf(0.2), Kernel::Rbf { gamma: Gamma::Scale }, POLY];
    // Not ascending: the points keep the order of the grid.
    let c = [10.0, 0.1, 1.0];
    for method in MACHINES {
        for metric in [PairMetric::ZeroOne, PairMetric::Auc, PairMetric::PairAccuracy] {
            for (data, split) in [
                (with_extras(plain.clone()), Split::Folds(3)),
                (plain.clone(), Split::Folds(4)),
                (plain.clone(), Split::Valid(&valid)),
            ] {
                let mut estimator = PairEstimator::new(method).unwrap();
                estimator.effort_mut().seed = 7;
                let tuner = Tuner::new(estimator.clone()).grid(grid(&c, &kernels, &Loss::OF_PAIRS)).metric(metric);
                let Tuned { fit, tuning } = tune(&tuner, &data, split);
                let parts = match split {
                    Split::Folds(n) => folds(&present(&data), n, 7),
                    Split::Valid(valid) => vec![(data.clone(), valid.clone())],
                };
                assert_eq!(tuning.split.n_parts(), parts.len());
                assert_eq!(tuning.points.len(), 24);
                let mut points = tuning.points.iter();
                let mut best: Option<(f64, f64)> = None;
                for loss in Loss::OF_PAIRS {
                    for kernel in kernels {
                        for c in c {
                            let point = points.next().unwrap();
                            assert_eq!((point.loss, point.kernel, point.c), (loss, kernel, c));
                            let estimator = estimator.clone().shaped(c, kernel, loss);
                            let values: Vec<f64> =
                                parts.iter().map(|(train, held)| measured(&estimator, train, held, metric)).collect();
                            for (found, value) in point.folds.iter().zip(&values) {
                                assert!((found.unwrap() - value).abs() <= 1e-12, "{point:?}: {value}");
                            }
                            let mean = values.iter().sum::<f64>() / values.len() as f64;
                            assert!((point.mean.unwrap() - mean).abs() <= 1e-12);
                            let size = if metric.greater_is_better() { -mean } else { mean };
                            if best.is_none_or(|best| size < best.0 - 1e-12 || (size < best.0 + 1e-12 && c < best.1)) {
                                best = Some((size, c));
                            }
                        }
                    }
                }
                let chosen = &tuning.points[tuning.best];
                let (size, c) = best.unwrap();
                assert!((chosen.mean.unwrap().abs() - size.abs()).abs() <= 1e-12);
                assert_eq!(chosen.c, c);
                let mut again = estimator.clone().shaped(chosen.c, chosen.kernel, chosen.loss).fit(&data).unwrap();
                again.model.training.tuning = Some(tuning.clone());
                assert!(
                    model_to_bytes(&fit.model).unwrap() == model_to_bytes(&again.model).unwrap(),
                    "the model is that of the best point on all of the data"
                );
                assert_eq!((tuning.stopped_after, tuning.metric.as_str()), (None, metric.name()));
            }
        }
    }
}

#[test]
fn points_of_probabilities_and_bands_are_what_a_loop_by_hand_measures() {
    let with_context = |mut data: Comparisons, seed: u64| {
        let mut random = Random::new(seed);
        let values = (0..data.n_pairs()).map(|_| random.normal()).collect();
        let features = Features::dense(1, values, Precision::F64).unwrap();
        data.set = data.set.with_context(Context { features, names: vec!["mood".into()] }).unwrap();
        data
    };
    let (data, valid) = (with_context(simulated(120, 3), 1), with_context(simulated(80, 4), 2));
    let (c, kernels) = ([1.0, 0.1], [Kernel::Linear, Kernel::rbf(0.2)]);
    let compare = |tie_band, calibrate| PairEstimator::from(CompareSvm::new().tie_band(tie_band).calibrate(calibrate));
    let both = [Loss::SquaredHinge, Loss::Logistic];
    for (estimator, losses, n_losses) in [
        (compare(TieBandKind::Pair, true), &both[..], 2),
        (compare(TieBandKind::Constant, true), &both, 2),
        // Davidson's model has but one, whatever the grid says.
        (Davidson::new().tie_band(TieBandKind::Pair).into(), &both, 1),
        (CompareRank::new(Variant::Rank).calibrate(true).into(), &both, 2),
    ] {
        for metric in [PairMetric::LogLoss, PairMetric::Brier, PairMetric::ZeroOne, PairMetric::Auc] {
            let tuner = Tuner::new(estimator.clone()).grid(grid(&c, &kernels, losses)).metric(metric);
            for (split, parts) in
                [(Split::Folds(3), folds(&data, 3, 0)), (Split::Valid(&valid), vec![(data.clone(), valid.clone())])]
            {
                let Tuned { fit, tuning } = tune(&tuner, &data, split);
                assert_eq!(tuning.points.len(), 4 * n_losses);
                for point in &tuning.points {
                    let by_hand = estimator.clone().shaped(point.c, point.kernel, point.loss);
                    assert_eq!(by_hand.shape(), (point.c, point.kernel, point.loss));
                    for (found, (train, held)) in point.folds.iter().zip(&parts) {
                        let value = measured(&by_hand, train, held, metric);
                        assert!((found.unwrap() - value).abs() <= 1e-12, "{point:?}: {value}");
                    }
                }
                assert!(fit.model.chances.is_some());
                assert_eq!(fit.model.band.is_some(), estimator.tie_band() == TieBandKind::Pair);
                assert_eq!(tuning.baseline.unwrap().outcome.is_none(), metric.needs_chances());
                // It can be read again.
                model_from_bytes(Path::new("model"), &model_to_bytes(&fit.model).unwrap()).unwrap();
            }
        }
    }
}

#[test]
fn the_folds_are_not_those_of_the_threshold() {
    let data = simulated(200, 1);
    let inner = cross_fit_folds(&data, 5, 0);
    let outer: Vec<u32> = {
        let parts = folds(&data, 5, 0);
        assert_eq!(parts.iter().map(|(_, held)| held.n_pairs()).sum::<usize>(), 200);
        cross_fit_folds(&data, 5, u64::from_be_bytes(*b"TuneFold"))
    };
    let same = inner.iter().zip(&outer).filter(|(a, b)| a == b).count();
    assert!(same < 100, "{same} of 200 pairs are in the same fold");
}

#[test]
fn validation_pairs_without_weight_do_not_count() {
    let (data, mut valid) = (simulated(60, 1), simulated(50, 2));
    valid.weights = Some((0..50).map(|k| f64::from(k % 2)).collect());
    let tuner = Tuner::new(CompareSvm::new().kernel(Kernel::rbf(0.2)));
    let tuned = tune(&tuner, &data, Split::Valid(&valid));
    assert_eq!(tuned.tuning.split, TuningSplit::Validation { pairs: 25 });
    assert_eq!(tuned.tuning, tune(&tuner, &data, Split::Valid(&present(&valid))).tuning);
}

#[test]
fn the_number_of_threads_and_a_second_run_change_no_byte() {
    let data = simulated(150, 5);
    let kernels = [Kernel::Linear, Kernel::rbf(0.1), Kernel::rbf(1.0)];
    let bytes = |threads| {
        let tuner = Tuner::new(CompareSvm::new().threads(threads)).grid(grid(&[0.1, 10.0], &kernels, &Loss::OF_PAIRS));
        let Tuned { fit, .. } = tune(&tuner, &data, Split::Folds(5));
        assert!(threads == 0 || fit.threads == threads);
        model_to_bytes(&fit.model).unwrap()
    };
    let one = bytes(1);
    for threads in [2, 3, 0, 1] {
        assert!(one == bytes(threads), "{threads} threads");
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let data = simulated(120, 6);
    let mut order: Vec<usize> = (0..data.n_pairs()).collect();
    Random::new(8).shuffle(&mut order);
    let kernels = [Kernel::Linear, Kernel::rbf(0.1), Kernel::rbf(0.5)];
    let tuner = Tuner::new(CompareSvm::new().tol(1e-9)).grid(grid(&[0.1, 1.0], &kernels, &[Loss::SquaredHinge]));
    let (a, b) = (tune(&tuner, &data, Split::Folds(4)), tune(&tuner, &data.select(&order), Split::Folds(4)));
    assert_eq!(a.tuning, b.tuning);
}

#[test]
fn many_validation_pairs_are_measured_as_a_loop_by_hand_does() {
    let (data, valid) = (simulated(900, 5), simulated(10_000, 6));
    let estimator: PairEstimator = CompareSvm::new().into();
    let tuner = Tuner::new(estimator.clone()).grid(grid(&[0.1, 10.0], &[Kernel::rbf(0.5)], &[Loss::SquaredHinge]));
    let tuned = tune(&tuner, &data, Split::Valid(&valid));
    for point in &tuned.tuning.points {
        let by_hand = estimator.clone().shaped(point.c, point.kernel, point.loss);
        let value = measured(&by_hand, &data, &valid, PairMetric::ZeroOne);
        assert!((point.mean.unwrap() - value).abs() <= 1e-12, "{point:?}: {value}");
    }
}
