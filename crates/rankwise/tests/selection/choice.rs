//! Which point is chosen, and what happens to those that cannot be.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rankwise::selection::{TuneProgress, TuneWatch, log_spaced};
use rankwise::{CompareSvm, Gamma};

use super::*;

/// Items in a row, the later one better; every machine gets every pair right.
fn easy() -> Comparisons {
    let features = rankwise::data::Features::dense(1, (0..12).map(f64::from).collect(), Default::default()).unwrap();
    let set = |pairs| PairSet::new(Items::new(features, None, None).unwrap(), pairs).unwrap();
    let pairs: Vec<Pair> = (0..12).flat_map(|a| (0..a).map(move |b| Pair { left: b, right: a })).collect();
    let outcomes = vec![Outcome::Right; pairs.len()];
    Comparisons::new(set(pairs), outcomes, None, None).unwrap()
}

#[test]
fn equal_means_are_decided_for_the_smoothest() {
    let rbf = |gamma: f64| Kernel::rbf(gamma);
    let best = |c: &[f64], kernels: &[Kernel], losses: &[Loss]| {
        let tuner = Tuner::new(CompareSvm::new()).grid(grid(c, kernels, losses)).metric(PairMetric::PairAccuracy);
        let tuning = tune(&tuner, &easy(), Split::Folds(3)).tuning;
        assert!(tuning.points.iter().all(|point| point.mean == Some(1.0)), "{tuning:?}");
        let best = &tuning.points[tuning.best];
        (best.c, best.kernel, best.loss)
    };
    let [hinge, squared] = Loss::OF_PAIRS;
    assert_eq!(best(&[10.0, 1.0, 100.0], &[Kernel::Linear], &[squared]), (1.0, Kernel::Linear, squared));
    let narrow_first = [rbf(0.004), rbf(0.002), rbf(0.003)];
    assert_eq!(best(&[10.0, 1.0], &narrow_first, &[squared]), (1.0, rbf(0.002), squared));
    // γ scale of 0, …, 11 is 1/variance = 0.0839.
    let scale = Kernel::Rbf { gamma: Gamma::Scale };
    assert_eq!(best(&[1.0], &[scale, rbf(0.002)], &[squared]), (1.0, rbf(0.002), squared));
    assert_eq!(best(&[1.0], &[rbf(0.085), scale], &[squared]), (1.0, scale, squared));
    assert_eq!(best(&[1.0], &[rbf(0.002), Kernel::Linear], &[squared]), (1.0, Kernel::Linear, squared));
    assert_eq!(best(&[1.0], &[Kernel::Linear], &[squared, hinge]), (1.0, Kernel::Linear, squared));
    assert_eq!(best(&[1.0], &[Kernel::Linear], &[hinge, squared]), (1.0, Kernel::Linear, hinge));
}

#[test]
fn values_that_come_twice_count_once() {
    let tuner = Tuner::new(CompareSvm::new()).grid(grid(
        &[1.0, 10.0, 1.0],
        &[Kernel::Linear, Kernel::Linear],
        &[Loss::Hinge, Loss::Hinge],
    ));
    let tuning = tune(&tuner, &simulated(60, 1), Split::Folds(2)).tuning;
    assert_eq!(tuning.points.iter().map(|point| point.c).collect::<Vec<_>>(), [1.0, 10.0]);
}

/// Three items a group, each beaten by the next: who has seen two of a group's pairs knows the third.
#[test]
fn groups_are_never_split() {
    let (mut pairs, mut groups) = (Vec::new(), Vec::new());
    for group in 0..12 {
        let item = |k| 3 * group + k;
        for (left, right) in [(0, 1), (1, 2), (0, 2)] {
            pairs.push((item(left), item(right), Outcome::Right));
            groups.push(group);
        }
    }
    let tuner = Tuner::new(CompareSvm::new()).metric(PairMetric::PairAccuracy);
    let accuracy = |groups| {
        let tuning = tune(&tuner, &board(36, &pairs, groups), Split::Folds(4)).tuning;
        tuning.points[tuning.best].mean.unwrap()
    };
    assert!(accuracy(None) > 0.2, "{}", accuracy(None));
    assert_eq!(accuracy(Some(groups)), 0.0, "nobody has seen an item of these groups");
}

#[test]
fn points_that_fail_do_not_lose_the_others() {
    let wild = Kernel::Poly { gamma: Gamma::Value(1e200), coef0: 0.0, degree: 64 };
    let data = simulated(60, 3);
    let tuner = Tuner::new(CompareSvm::new()).grid(grid(&[1.0, 2.0], &[wild, Kernel::rbf(0.2)], &[Loss::SquaredHinge]));
    let tuned = tune(&tuner, &data, Split::Folds(3));
    let is_measured: Vec<bool> = tuned.tuning.points.iter().map(|point| point.mean.is_some()).collect();
    assert_eq!(is_measured, [false, false, true, true]);
    assert!(tuned.tuning.best >= 2);
    assert_eq!(tuned.tuning.stopped_after, None);
    let [warning] = &tuned.tuning.warnings[..] else { panic!("{:?}", tuned.tuning.warnings) };
    assert!(warning.contains("2 of 4 points") && warning.contains("poly"), "{warning}");

    let tuner = tuner.grid(grid(&[1.0], &[wild], &[Loss::SquaredHinge]));
    let error = refused(&tuner, &data, Split::Folds(3), &["1 of 1 points could not be measured", "poly"]);
    assert!(matches!(error, Error::Search { .. }) && !error.is_usage());
}

#[test]
fn fits_that_do_not_converge_are_counted() {
    let mut svm = CompareSvm::new().kernel(Kernel::rbf(0.2)).loss(Loss::Hinge).tol(1e-9);
    svm.effort.max_iter = Some(3);
    let tuned = tune(&Tuner::new(svm), &simulated(60, 3), Split::Folds(2));
    let said = tuned.tuning.warnings.join("; ");
    assert!(said.contains("14 of 14 fits did not converge (max_iter)"), "{said}");
}

/// Counts the points; stops after so many.
pub(super) struct Counter {
    pub(super) seen: AtomicUsize,
    pub(super) stop_after: usize,
}

impl TuneWatch for Counter {
    fn on_point(&self, progress: TuneProgress) {
        let seen = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        assert!(progress.done <= progress.total && seen <= progress.total);
    }

    fn keep_going(&self) -> bool {
        self.seen.load(Ordering::SeqCst) < self.stop_after
    }
}

#[test]
fn every_fit_is_told_and_a_stop_is_heard() {
    let data = simulated(60, 1);
    let tuner = Tuner::new(CompareSvm::new());
    let counter = Counter { seen: AtomicUsize::new(0), stop_after: usize::MAX };
    tuner.tune(&data, Split::Folds(3), &counter).unwrap();
    assert_eq!(counter.seen.load(Ordering::SeqCst), 21);
    let counter = Counter { seen: AtomicUsize::new(0), stop_after: 2 };
    let error = tuner.tune(&data, Split::Folds(3), &counter).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(counter.seen.load(Ordering::SeqCst) < 21);
}

#[test]
fn a_time_limit_takes_the_best_of_what_is_complete() {
    let data = simulated(300, 1);
    let tuner = Tuner::new(CompareSvm::new());
    let error =
        refused(&tuner.clone().time_limit(Some(Duration::ZERO)), &data, Split::Folds(3), &["0 s", "--time-limit"]);
    assert!(matches!(error, Error::Search { .. }));
    // The first kernel takes a moment, the second for ever.
    let hard = Simulation { norm: Norm::L2, n_pairs: 1000, ties: 0.5, noise: 2.0, seed: 1 }.draw().unwrap();
    let kernels = [Kernel::Linear, Kernel::rbf(4.0)];
    let tuner = Tuner::new(CompareSvm::new().tol(1e-15)).grid(grid(&[1e6, 1e7], &kernels, &[Loss::SquaredHinge]));
    let started = Instant::now();
    let tuned = tune(&tuner.time_limit(Some(Duration::from_secs(1))), &hard, Split::Folds(3));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(tuned.tuning.stopped_after, Some(2));
    let is_measured: Vec<bool> = tuned.tuning.points.iter().map(|point| point.mean.is_some()).collect();
    assert_eq!(is_measured, [true, true, false, false]);
    assert!(tuned.tuning.best < 2);
    assert!(tuned.tuning.warnings.iter().any(|warning| warning.contains("2 of 4 points were complete")));
}

#[test]
fn ranges_have_exact_ends_and_equal_ratios() {
    assert_eq!(log_spaced(1e-3, 1e3, 7).unwrap(), [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]);
    assert_eq!(log_spaced(0.3, 7.7, 2).unwrap(), [0.3, 7.7]);
    let values = log_spaced(0.3, 7.7, 9).unwrap();
    assert_eq!((values[0], values[8]), (0.3, 7.7));
    let ratio = (7.7f64 / 0.3).powf(1.0 / 8.0);
    values.windows(2).for_each(|w| assert!((w[1] / w[0] / ratio - 1.0).abs() < 1e-12));
    for (lo, hi, n) in [(0.0, 1.0, 3), (-1.0, 1.0, 3), (1.0, f64::INFINITY, 3), (f64::NAN, 1.0, 3), (2.0, 1.0, 3)] {
        assert!(log_spaced(lo, hi, n).is_err(), "{lo} {hi} {n}");
    }
    assert!(log_spaced(1.0, 2.0, 1).is_err());
}

#[test]
fn usual_widths_lie_around_scale() {
    let data = easy();
    let gammas = Grid::usual_gammas(&CompareSvm::new().into(), &data).unwrap();
    let scale = 12.0 / 143.0; // one over the variance of 0, …, 11
    let expected = [0.0625, 0.25, 1.0, 4.0, 16.0].map(|factor| factor * scale);
    assert_eq!(gammas.len(), 5);
    for (gamma, expected) in gammas.iter().zip(expected) {
        let Gamma::Value(value) = gamma else { panic!("{gamma:?}") };
        assert!((value / expected - 1.0).abs() < 0.005, "{value} for {expected}");
    }
}
