//! Choosing parameters of classifiers and regressions, against loops that train on copies and evaluate.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rankwise::data::{ClassItems, Features, Groups, Random, Ranking, Scale, class_folds, value_folds};
use rankwise::estimator::Effort;
use rankwise::io::model_to_bytes;
use rankwise::metrics::{ClassMetric, Classified, PredictedValues, ValueMetric};
use rankwise::model::{ClassScheme, ClassWeights, TuningSplit};
use rankwise::selection::{LabelMetric, LabelSplit, LabelTuner, TuneProgress, TuneWatch};
use rankwise::{Gamma, Model, SvmClassifier, SvmRegressor};

use super::choice::Counter;
use super::*;

const TIGHT: f64 = 1e-7;

fn features(n: usize, random: &mut Random) -> Vec<f64> {
    (0..3 * n).map(|k| random.normal() * [1.0, 4.0, 0.5][k % 3] + [0.0, 2.0, 0.0][k % 3]).collect()
}

fn items(numbers: Vec<f64>) -> Items {
    Items::new(Features::dense(3, numbers, Default::default()).unwrap(), None, None).unwrap()
}

/// Classes of items in three features, with noise; every eleventh item has a copy, perhaps of another class.
fn classes(n: usize, n_classes: usize, seed: u64) -> ClassItems {
    let mut random = Random::new(seed);
    let mut numbers = features(n, &mut random);
    for item in (11..n).step_by(11) {
        numbers.copy_within(3 * (item - 1)..3 * item, 3 * item);
    }
    let words = ["ash", "beech", "cedar", "elm"];
    let label = |x: &[f64]| {
        let height = x[0] + 0.3 * x[1] + x[0] * x[2] + 0.6 * random.normal();
        words[((height + 1.5) / 1.5).clamp(0.0, n_classes as f64 - 1.0) as usize]
    };
    let labels: Vec<&str> = numbers.chunks(3).map(label).collect();
    let classes = ClassItems::new(items(numbers), &labels).unwrap();
    assert_eq!(classes.classes.len(), n_classes);
    classes
}

/// Values of items; without groups.
fn values(n: usize, seed: u64) -> Ranking {
    let mut random = Random::new(seed);
    let numbers = features(n, &mut random);
    let label = |x: &[f64]| 20.0 + 3.0 * x[0] - x[1] + 2.0 * x[2] * x[2] + 0.5 * random.normal();
    let labels = numbers.chunks(3).map(label).collect();
    Ranking::new(items(numbers), labels, None).unwrap()
}

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|item| (item % 5) as f64 * 0.5).collect()
}

fn groups(n: usize, size: usize) -> Groups {
    Groups::from_ids((0..n).map(|item| format!("g{}", item / size)))
}

fn tune_labels<'a>(tuner: &LabelTuner, data: impl Into<rankwise::LabelData<'a>>, split: LabelSplit<'a>) -> Tuned {
    let tuned = tuner.tune(data, split, &Unwatched).unwrap();
    let tuning = tuned.tuning().unwrap().clone();
    assert!(model_to_bytes(&tuned.fit.model).is_ok(), "a record that the file refuses");
    Tuned { fit: tuned.fit, tuning }
}

#[track_caller]
fn refused<'a>(
    tuner: &LabelTuner,
    data: impl Into<rankwise::LabelData<'a>>,
    split: LabelSplit<'a>,
    words: &[&str],
) -> Error {
    let error = tuner.tune(data, split, &Unwatched).unwrap_err();
    words.iter().for_each(|word| assert!(error.to_string().contains(word), "no {word:?} in: {error}"));
    error
}

fn seed_of(effort: &Effort) -> u64 {
    effort.seed ^ u64::from_be_bytes(*b"TuneFold")
}

/// Numbers of the items to learn from and to measure on, for every fold; of items with a weight above 0.
fn split(present: &[usize], folds: &[u32], n_folds: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    (0..n_folds as u32)
        .map(|fold| {
            let of = |is_held: bool| {
                let members = present.iter().zip(folds).filter(|(_, of)| (**of == fold) == is_held);
                members.map(|(&item, _)| item).collect()
            };
            (of(false), of(true))
        })
        .collect()
}

/// A metric as `evaluate` finds it: classes by name, those that the model does not know count as wrong. And how many items are
/// so near a border that a fit within the tolerance may go either way.
fn evaluated(model: &Model, held: &ClassItems, metric: ClassMetric) -> (f64, usize) {
    let verdicts = model.classify(&held.items).unwrap();
    let mut names = model.classes.clone().unwrap();
    let n_known = names.len();
    names.extend(held.classes.iter().filter(|class| !model.classes.as_ref().unwrap().contains(class)).cloned());
    let place = |label: u32| names.iter().position(|name| *name == held.classes[label as usize]).unwrap() as u32;
    let labels: Vec<u32> = held.labels.iter().map(|&label| place(label)).collect();
    let weights: Vec<f64> = (0..held.n_items()).map(|item| held.weight(item)).collect();
    let mut classified = Classified::new(&names, n_known, &labels, &verdicts.classes).unwrap();
    classified = classified.with_weights(&weights).unwrap();
    if let Some(chances) = &verdicts.chances {
        classified = classified.with_chances(chances).unwrap();
    }
    let machines = model.scorer.scores_of_machines(&held.items).unwrap();
    let n_near = machines.iter().filter(|score| score.abs() < 2e-3).count();
    (metric.of(&classified).unwrap(), n_near)
}

/// Every point of every fold by training on a copy; the best of the means; the model of all data.
fn check_classes(svm: SvmClassifier, data: &ClassItems, grid: Grid, metric: ClassMetric) {
    let tuner = LabelTuner::new(svm.clone()).grid(grid.clone()).metric(LabelMetric::Class(metric));
    let tuned = tune_labels(&tuner, data, LabelSplit::Folds(3));
    let present: Vec<usize> = (0..data.n_items()).filter(|&item| data.weight(item) > 0.0).collect();
    let folds = class_folds(&data.select(&present), 3, seed_of(&svm.effort));
    let parts = split(&present, &folds, 3);
    let mut points = tuned.tuning.points.iter();
    for &loss in &grid.losses {
        for &kernel in &grid.kernels {
            for &c in &grid.c {
                let point = points.next().unwrap();
                assert_eq!((point.loss, point.kernel, point.c, point.epsilon), (loss, kernel, c, None));
                for ((train, held), found) in parts.iter().zip(&point.folds) {
                    let fit = svm.clone().c(c).kernel(kernel).loss(loss).fit(&data.select(train)).unwrap();
                    let (value, n_near) = evaluated(&fit.model, &data.select(held), metric);
                    let most = match metric {
                        ClassMetric::ZeroOne => 2.0 * n_near as f64 / held.len() as f64 + 1e-9,
                        _ => 2e-3,
                    };
                    let near = (value - found.unwrap()).abs() <= most;
                    assert!(near, "{loss:?} {kernel:?} C {c}: {value} {found:?} ({n_near} near)");
                }
            }
        }
    }
    assert!(points.next().is_none());
    check_refit(tuned, metric.greater_is_better(), |best| {
        svm.clone().c(best.c).kernel(best.kernel).loss(best.loss).fit(data).unwrap().model
    });
}

/// The chosen point has the best mean, and the model is what training with it gives.
fn check_refit(tuned: Tuned, greater: bool, train: impl Fn(&rankwise::model::TuningPoint) -> Model) {
    let Tuned { fit, tuning } = tuned;
    let best = &tuning.points[tuning.best];
    let sign = if greater { -1.0 } else { 1.0 };
    assert!(tuning.points.iter().all(|point| sign * best.mean.unwrap() <= sign * point.mean.unwrap() + 1e-12));
    let mut model = fit.model;
    model.training.tuning = None;
    assert_eq!(model_to_bytes(&model).unwrap(), model_to_bytes(&train(best)).unwrap());
}

#[test]
fn a_search_for_classes_trains_and_evaluates_every_fold() {
    let scale = Kernel::Rbf { gamma: Gamma::Scale };
    let all = grid(&[10.0, 0.1, 1.0], &[Kernel::Linear, Kernel::rbf(0.2), scale], &Loss::OF_CLASSES);
    check_classes(SvmClassifier::new().tol(TIGHT), &classes(90, 2, 1), all.clone(), ClassMetric::ZeroOne);
    let of_three = classes(99, 3, 2).with_weights(weights(99)).unwrap();
    let of_three = of_three.with_margins((0..99).map(|item| 0.5 + (item % 3) as f64).collect()).unwrap();
    let scaled = SvmClassifier::new().tol(TIGHT).scale(Scale::Standard);
    check_classes(scaled.clone().class_weight(ClassWeights::Balanced), &of_three, all, ClassMetric::ZeroOne);
    let some = grid(&[1.0, 0.2], &[Kernel::Linear, scale], &[Loss::Hinge]);
    let rest = scaled.clone().classes(ClassScheme::Ovr);
    check_classes(rest, &classes(90, 3, 3).with_groups(groups(90, 4)).unwrap(), some.clone(), ClassMetric::ZeroOne);
    // Landmarks are chosen from each training part.
    let spanned = scaled.clone().approx(Some(rankwise::Approx::Nystrom(12)));
    let curved = grid(&[1.0, 10.0], &[scale, Kernel::rbf(0.2)], &Loss::OF_CLASSES);
    check_classes(spanned, &classes(90, 3, 5), curved, ClassMetric::ZeroOne);
    // Probabilities are fitted within each training part.
    let with_chances = scaled.probabilities(true);
    check_classes(with_chances, &classes(90, 3, 4), some, ClassMetric::LogLoss);
}

fn check_values(svm: SvmRegressor, data: &Ranking, grid: Grid, epsilons: &[f64], metric: ValueMetric) {
    let tuner =
        LabelTuner::new(svm.clone()).grid(grid.clone()).epsilons(epsilons.to_vec()).metric(LabelMetric::Value(metric));
    let tuned = tune_labels(&tuner, data, LabelSplit::Folds(3));
    let weight = |item: usize| data.weight(item) * data.group_weight(data.groups.numbers()[item] as usize);
    let present: Vec<usize> = (0..data.n_items()).filter(|&item| weight(item) > 0.0).collect();
    let folds = value_folds(&data.select(&present), 3, seed_of(&svm.effort));
    let parts = split(&present, &folds, 3);
    let mut points = tuned.tuning.points.iter();
    for &loss in &grid.losses {
        for &kernel in &grid.kernels {
            for &epsilon in epsilons {
                for &c in &grid.c {
                    let point = points.next().unwrap();
                    let expected = (loss, kernel, c, Some(epsilon));
                    assert_eq!((point.loss, point.kernel, point.c, point.epsilon), expected);
                    for ((train, held), found) in parts.iter().zip(&point.folds) {
                        let machine = svm.clone().c(c).kernel(kernel).loss(loss).epsilon(epsilon);
                        let model = machine.fit(&data.select(train)).unwrap().model;
                        let held_weights: Vec<f64> = held.iter().map(|&item| weight(item)).collect();
                        let held = data.select(held);
                        let values = model.scorer.scores(&held.items).unwrap();
                        let predicted = PredictedValues::new(&held.labels, &values).unwrap();
                        let value = metric.of(&predicted.with_weights(&held_weights).unwrap()).unwrap();
                        assert!((value - found.unwrap()).abs() < 5e-3, "{expected:?}: {value} {found:?}");
                    }
                }
            }
        }
    }
    assert!(points.next().is_none());
    check_refit(tuned, metric.greater_is_better(), |best| {
        let machine = svm.clone().c(best.c).kernel(best.kernel).loss(best.loss).epsilon(best.epsilon.unwrap());
        machine.fit(data).unwrap().model
    });
}

#[test]
fn a_search_for_values_trains_and_evaluates_every_fold() {
    let scale = Kernel::Rbf { gamma: Gamma::Scale };
    let all = grid(&[10.0, 0.1], &[Kernel::Linear, Kernel::rbf(0.2)], &Loss::OF_TUBES);
    check_values(SvmRegressor::new().tol(TIGHT), &values(80, 1), all, &[0.5, 0.1], ValueMetric::Rmse);
    let scaled = SvmRegressor::new().tol(TIGHT).scale(Scale::Standard);
    let some = grid(&[1.0, 20.0], &[scale, Kernel::Linear], &[Loss::Epsilon]);
    let weighted = values(80, 2).with_weights(weights(80)).unwrap();
    check_values(scaled.clone(), &weighted, some.clone(), &[0.0], ValueMetric::Mae);
    let grouped = Ranking { groups: groups(80, 5), ..values(80, 3) };
    let grouped = grouped.with_group_weights((0..16).map(|group| (group % 4) as f64).collect()).unwrap();
    check_values(scaled, &grouped, some, &[0.3], ValueMetric::R2);
}

#[test]
fn a_validation_set_is_measured_on_alone() {
    let (data, valid) = (classes(60, 3, 1), classes(50, 3, 9).with_weights(weights(50)).unwrap());
    let svm = SvmClassifier::new().tol(TIGHT).scale(Scale::Standard);
    let tuner = LabelTuner::new(svm.clone()).grid(grid(
        &[1.0, 0.1],
        &[Kernel::Linear, Kernel::rbf(0.3)],
        &[Loss::SquaredHinge],
    ));
    let tuned = tune_labels(&tuner, &data, LabelSplit::Valid((&valid).into()));
    for point in &tuned.tuning.points {
        let model = svm.clone().c(point.c).kernel(point.kernel).loss(point.loss).fit(&data).unwrap().model;
        let (value, n_near) = evaluated(&model, &valid, ClassMetric::ZeroOne);
        let most = 2.0 * n_near as f64 / 50.0 + 1e-9;
        assert!(n_near < 5 && (value - point.mean.unwrap()).abs() <= most && point.folds.len() == 1);
    }
    let present = (0..50).filter(|&item| valid.weight(item) > 0.0).count();
    assert_eq!(tuned.tuning.split, TuningSplit::ValidationItems { items: present, groups: 0 });
    // Always the most frequent class of the validation items.
    let totals: Vec<f64> =
        (0..3).map(|class| (0..50).filter(|&i| valid.labels[i] == class).map(|i| valid.weight(i)).sum()).collect();
    let share = totals.iter().copied().fold(0.0, f64::max) / totals.iter().sum::<f64>();
    assert!((tuned.tuning.baseline.unwrap().value - (1.0 - share)).abs() < 1e-12);

    // Classes are matched by name; one that nobody has learnt is wrong, whoever is predicted.
    let only = (0..60).filter(|&item| data.labels[item] < 2).collect::<Vec<_>>();
    let of_two = ClassItems { classes: data.classes[..2].to_vec(), ..data.select(&only) };
    let tuned = tune_labels(&tuner, &of_two, LabelSplit::Valid((&valid).into()));
    let unknown = totals[2] / totals.iter().sum::<f64>();
    assert!(tuned.tuning.points.iter().all(|point| point.mean.unwrap() >= unknown));
    assert!(tuned.tuning.warnings[0].contains("lacks the class cedar"), "{:?}", tuned.tuning.warnings);
}

#[test]
fn classes_are_spread_evenly_and_neither_groups_nor_copies_are_split() {
    let data = classes(120, 4, 5);
    let folds = class_folds(&data, 5, 3);
    for class in 0..4 {
        let size = data.labels.iter().filter(|label| **label == class).count();
        for fold in 0..5 {
            let n = (0..120).filter(|&item| folds[item] == fold && data.labels[item] == class).count();
            assert!((size / 5 - 1..=size / 5 + 2).contains(&n), "{n} of {size} in fold {fold}");
        }
    }
    let mut of_copy: HashMap<(u64, u32), u32> = HashMap::new();
    for (item, &fold) in folds.iter().enumerate() {
        let key = (data.items.features.hash_row(item), data.labels[item]);
        assert_eq!(*of_copy.entry(key).or_insert(fold), fold);
    }
    assert_ne!(folds, class_folds(&data, 5, 4));
    // The order of rows does not matter.
    let mut order: Vec<usize> = (0..120).collect();
    Random::new(1).shuffle(&mut order);
    let shuffled = class_folds(&data.select(&order), 5, 3);
    assert!(order.iter().zip(&shuffled).all(|(&item, &fold)| folds[item] == fold));

    let grouped = data.with_groups(groups(120, 6)).unwrap();
    let by_group = class_folds(&grouped, 4, 3);
    let of_values = Ranking { groups: groups(120, 6), ..values(120, 1) };
    for folds in [by_group, value_folds(&of_values, 4, 3)] {
        assert!(folds.chunks(6).all(|group| group.iter().all(|fold| *fold == group[0])), "{folds:?}");
        for fold in 0..4 {
            assert!((4..=6).contains(&folds.chunks(6).filter(|group| group[0] == fold).count()), "{folds:?}");
        }
    }
    let alone: HashSet<u32> = value_folds(&values(120, 1), 4, 3).into_iter().collect();
    assert_eq!(alone.len(), 4);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let (of_classes, of_values) = (classes(100, 3, 6), values(100, 6));
    let kernels = [Kernel::Linear, Kernel::rbf(0.1), Kernel::Rbf { gamma: Gamma::Scale }];
    let bytes = [1, 2, 3].map(|threads| {
        let svm = SvmClassifier::new().probabilities(true).threads(threads);
        let tuner = LabelTuner::new(svm).grid(grid(&[0.1, 1.0, 10.0], &kernels, &Loss::OF_CLASSES));
        let svm = SvmRegressor::new().scale(Scale::Standard).threads(threads);
        let of_tubes =
            LabelTuner::new(svm).grid(grid(&[1.0, 10.0], &kernels, &Loss::OF_TUBES)).epsilons(vec![0.1, 1.0]);
        [
            model_to_bytes(&tune_labels(&tuner, &of_classes, LabelSplit::Folds(3)).fit.model).unwrap(),
            model_to_bytes(&tune_labels(&of_tubes, &of_values, LabelSplit::Folds(3)).fit.model).unwrap(),
        ]
    });
    assert!(bytes[0] == bytes[1] && bytes[1] == bytes[2]);
}

/// Waits a little after every fit.
struct Slow;

impl TuneWatch for Slow {
    fn on_point(&self, _: TuneProgress) {
        std::thread::sleep(Duration::from_millis(20));
    }

    fn keep_going(&self) -> bool {
        true
    }
}

#[test]
fn a_time_limit_leaves_complete_points() {
    let data = classes(60, 2, 1);
    let kernels: Vec<Kernel> = (1..=40).map(|k| Kernel::rbf(0.05 * f64::from(k))).collect();
    for scale in [Scale::None, Scale::Standard] {
        let tuner = LabelTuner::new(SvmClassifier::new().scale(scale).threads(2))
            .grid(grid(&[0.1, 1.0, 10.0], &kernels, &[Loss::Hinge]))
            .time_limit(Some(Duration::from_millis(600)));
        let started = Instant::now();
        let tuning = tuner.tune(&data, LabelSplit::Folds(3), &Slow).unwrap().tuning().unwrap().clone();
        assert!(started.elapsed() < Duration::from_secs(5));
        let n = tuning.stopped_after.unwrap();
        assert!((1..120).contains(&n), "{n} points");
        // Two kernels are under way at a time; each has one C in work.
        let begun =
            tuning.points.iter().filter(|point| point.mean.is_none() && point.folds.iter().any(Option::is_some));
        assert!(begun.count() <= 2);
        assert!(tuning.warnings.iter().any(|warning| warning.contains("the time limit ended the search")));
    }
    let none = LabelTuner::new(SvmClassifier::new()).time_limit(Some(Duration::ZERO));
    refused(&none, &data, LabelSplit::Folds(2), &["0 s", "--time-limit"]);
}

#[test]
fn every_fit_is_told_and_a_stop_is_heard() {
    let (data, tuner) = (values(40, 1), LabelTuner::new(SvmRegressor::new()).epsilons(vec![0.1, 0.2]));
    let counter = Counter { seen: AtomicUsize::new(0), stop_after: usize::MAX };
    tuner.tune(&data, LabelSplit::Folds(3), &counter).unwrap();
    assert_eq!(counter.seen.load(Ordering::SeqCst), 7 * 2 * 3);
    let counter = Counter { seen: AtomicUsize::new(0), stop_after: 2 };
    let error = tuner.tune(&data, LabelSplit::Folds(3), &counter).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
}

#[test]
fn a_class_that_a_training_part_lacks_is_told_and_wrong() {
    // One group has all items of the third class.
    let mut data = classes(60, 2, 1);
    data.classes.push("yew".into());
    for item in 0..60 {
        if item / 10 == 4 {
            data.labels[item] = 2;
        }
    }
    let data = data.with_groups(groups(60, 10)).unwrap();
    let tuned = tune_labels(&LabelTuner::new(SvmClassifier::new()), &data, LabelSplit::Folds(3));
    let warnings = tuned.tuning.warnings.join("; ");
    assert!(warnings.contains("lacks the class yew: its items count as wrong in fold"), "{warnings}");
    assert_eq!(tuned.fit.model.classes.unwrap().len(), 3);
    let named = SvmClassifier::new().class_weight(ClassWeights::Named(vec![("yew".into(), 2.0)]));
    tune_labels(&LabelTuner::new(named), &data, LabelSplit::Folds(3));
    let chances = LabelTuner::new(SvmClassifier::new().probabilities(true));
    let by_loss = chances.clone().metric(LabelMetric::Class(ClassMetric::LogLoss));
    refused(&by_loss, &data, LabelSplit::Folds(3), &["log_loss is not defined on fold", "yew", "--metric brier"]);
    tune_labels(&chances.metric(LabelMetric::Class(ClassMetric::Brier)), &data, LabelSplit::Folds(3));
}

#[test]
fn equal_means_are_decided_for_the_smoothest() {
    let numbers: Vec<f64> = (0..24).flat_map(|k| [f64::from(k), 0.0, 0.0]).collect();
    let labels: Vec<f64> = (0..24).map(|k| f64::from(u8::from(k >= 12))).collect();
    let data = ClassItems::of_labels(items(numbers), &labels).unwrap();
    let all = grid(&[10.0, 1.0, 1.0], &[Kernel::rbf(0.02), Kernel::rbf(0.01), Kernel::Linear], &[Loss::Hinge]);
    let folds = LabelSplit::Folds(4);
    let tuning = tune_labels(&LabelTuner::new(SvmClassifier::new()).grid(all), &data, folds).tuning;
    assert_eq!(tuning.points.len(), 6, "values that come twice count once");
    let equal = tuning.points.iter().filter(|point| point.mean == tuning.points[tuning.best].mean);
    let smallest = equal.map(|point| point.c).fold(f64::INFINITY, f64::min);
    assert_eq!(tuning.points[tuning.best].c, smallest);
    // A tube so wide that every value is the same, whatever C.
    let flat = values(30, 1);
    let wide = LabelTuner::new(SvmRegressor::new()).grid(grid(&[1.0, 0.1], &[Kernel::Linear], &[Loss::Epsilon]));
    let tuning = tune_labels(&wide.epsilons(vec![1e3, 1e4]), &flat, LabelSplit::Folds(3)).tuning;
    let best = &tuning.points[tuning.best];
    assert_eq!((best.c, best.epsilon), (0.1, Some(1e4)), "{:?}", tuning.points);
}

#[test]
fn the_usual_values_suit_the_data() {
    let data = values(60, 1);
    let tuner = LabelTuner::new(SvmRegressor::new());
    assert_eq!(tuner.usual_c(&data), [0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4]); // a standard deviation of about 6
    let prices = Ranking { labels: data.labels.iter().map(|label| 1e5 * label).collect(), ..data.clone() };
    assert_eq!(tuner.usual_c(&prices)[..2], [1e3, 1e4]);
    let squared = LabelTuner::new(SvmRegressor::new().loss(Loss::SquaredEpsilon));
    assert_eq!(squared.usual_c(&prices), LabelTuner::new(SvmClassifier::new()).usual_c(&classes(30, 2, 1)));
    let tuning = tune_labels(&tuner, &data, LabelSplit::Folds(3)).tuning;
    assert_eq!(tuning.points.iter().map(|point| point.c).collect::<Vec<_>>(), tuner.usual_c(&data));
    assert_eq!((tuning.metric.as_str(), tuning.greater_is_better), ("rmse", false));
    let gammas = tuner.usual_gammas(&data).unwrap();
    let fit = SvmRegressor::new().kernel(Kernel::Rbf { gamma: Gamma::Scale }).fit(&data).unwrap();
    let rankwise::kernel::KernelFunction::Rbf { gamma } = fit.model.training.kernel else { panic!() };
    let Gamma::Value(middle) = gammas[2] else { panic!("{gammas:?}") };
    assert!(gammas.len() == 5 && (middle / gamma - 1.0).abs() < 5e-3);
}

#[test]
fn what_cannot_be_tuned_is_told_before_the_first_fit() {
    let (data, numbers) = (classes(40, 3, 1), values(40, 1));
    let (tuner, of_values) = (LabelTuner::new(SvmClassifier::new()), LabelTuner::new(SvmRegressor::new()));
    let folds = LabelSplit::Folds;
    assert!(refused(&tuner, &data, folds(1), &["folds = 1", "at least 2"]).is_usage());
    assert!(refused(&tuner, &numbers, folds(2), &["data = values", "classes for classify"]).is_usage());
    assert!(refused(&of_values, &data, folds(2), &["data = classes", "values for regress"]).is_usage());
    refused(&tuner, &data, LabelSplit::Valid((&numbers).into()), &["valid", "another kind"]);
    let grouped = data.clone().with_groups(groups(40, 10)).unwrap();
    refused(&tuner, &grouped, folds(5), &["only 4 groups for 5 folds", "at most 4 folds"]);
    let one = Ranking { groups: groups(40, 40), ..numbers.clone() };
    refused(&of_values, &one, folds(2), &["only one group", "--valid"]);
    let few = numbers.select(&[0, 1, 2]);
    refused(&of_values, &few, folds(5), &["only 3 different items", "at most 3"]);
    let absent = data.clone().with_weights(vec![0.0; 40]).unwrap();
    refused(&tuner, &absent, folds(2), &["no item has a weight above 0"]);
    let same = ClassItems { labels: vec![0; 40], ..data.clone() };
    refused(&tuner, &same, folds(2), &["the class ash alone", "nothing to tell apart"]);
    // Two items of the second class in one group: the other fold has none.
    let mut rare = classes(40, 2, 1);
    (0..40).for_each(|item| rare.labels[item] = u32::from(item < 2));
    let rare = rare.with_groups(groups(40, 10)).unwrap();
    refused(&tuner, &rare, folds(2), &["the training part of fold", "alone", "fewer folds"]);
    let flat = Ranking { labels: vec![2.0; 40], ..numbers.clone() };
    let r2 = of_values.clone().metric(LabelMetric::Value(ValueMetric::R2));
    refused(&r2, &flat, folds(2), &["r2 is not defined on fold 1 of 2", "the same", "--metric rmse"]);
    refused(&r2, &numbers, LabelSplit::Valid((&flat).into()), &["the validation file"]);
    let mae = tuner.clone().metric(LabelMetric::Class(ClassMetric::Mae));
    refused(&mae, &data, folds(2), &["mae is not defined", "words", "--metric zero_one"]);

    let log_loss = tuner.clone().metric(LabelMetric::Class(ClassMetric::LogLoss));
    refused(&log_loss, &data, folds(2), &["log_loss is about probabilities", "--probabilities"]);
    let wrong = tuner.clone().metric(LabelMetric::Value(ValueMetric::Rmse));
    assert!(refused(&wrong, &data, folds(2), &["metric = rmse", "classes"]).is_usage());
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let bad = tuner.clone().grid(grid(&[1.0, c], &[Kernel::Linear], &[Loss::Hinge]));
        assert!(refused(&bad, &data, folds(2), &["C = "]).is_usage());
    }
    let tube = tuner.clone().grid(grid(&[1.0], &[Kernel::Linear], &[Loss::Epsilon]));
    assert!(refused(&tube, &data, folds(2), &["loss = epsilon"]).is_usage());
    assert!(refused(&tuner.clone().epsilons(vec![0.1]), &data, folds(2), &["epsilons"]).is_usage());
    assert!(refused(&of_values.clone().epsilons(Vec::new()), &numbers, folds(2), &["epsilons = []"]).is_usage());
    assert!(refused(&of_values.epsilons(vec![0.1, -1.0]), &numbers, folds(2), &["epsilon = -1"]).is_usage());
    let named = SvmClassifier::new().class_weight(ClassWeights::Named(vec![("oak".into(), 2.0)]));
    refused(&LabelTuner::new(named), &data, folds(2), &["class_weights = oak"]);
    let known = Items::indicators((0..40).map(|item| item.to_string()).collect());
    refused(&tuner, &ClassItems { items: known, ..data }, folds(2), &["no features", "--valid"]);
}

/// Points whose numbers leave their range do not lose the others.
#[test]
fn points_that_fail_do_not_lose_the_others() {
    let data = values(40, 1);
    let huge = data.items.features.to_dense().iter().map(|x| 1e100 * x).collect();
    let data = Ranking { items: items(huge), ..data };
    let poly = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 3 };
    let tuner = LabelTuner::new(SvmRegressor::new()).grid(grid(&[1e-3], &[Kernel::rbf(1.0), poly], &[Loss::Epsilon]));
    let tuned = tune_labels(&tuner, &data, LabelSplit::Folds(2));
    let is_measured: Vec<bool> = tuned.tuning.points.iter().map(|point| point.mean.is_some()).collect();
    assert_eq!((is_measured, tuned.tuning.best), (vec![true, false], 0));
    assert!(tuned.tuning.warnings[0].contains("1 of 2 points"), "{:?}", tuned.tuning.warnings);
}

#[test]
fn fits_that_end_early_are_counted() {
    let mut svm = SvmClassifier::new().tol(1e-12);
    svm.effort.max_iter = Some(1);
    let tuner = LabelTuner::new(svm).grid(grid(&[1.0, 10.0], &[Kernel::rbf(0.3)], &[Loss::Hinge]));
    let said = tune_labels(&tuner, &classes(60, 2, 1), LabelSplit::Folds(2)).tuning.warnings.join("; ");
    assert!(said.contains("4 of 4 fits did not converge (max_iter)"), "{said}");
}
