//! Choosing C and loss for rankers of items, against loops that do the same by hand.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rankwise::data::{Features, Groups, Random, Ranking, Scale, group_folds};
use rankwise::io::model_to_bytes;
use rankwise::kernel::Gamma;
use rankwise::metrics::{ItemMetric, Ranked};
use rankwise::model::{Balance, TuningBaseline, TuningSplit};
use rankwise::selection::{RankSplit, RankTuner};
use rankwise::{Approx, RankSvm};

use super::choice::Counter;
use super::*;

const TIGHT: f64 = 1e-10;

/// Groups of 3 to 9 items whose labels follow a line, with noise; group 3 has one label alone.
fn ranking(n_groups: usize, seed: u64) -> Ranking {
    let mut random = Random::new(seed);
    let (mut numbers, mut labels, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for group in 0..n_groups {
        for item in 0..3 + random.below(7) {
            let x: Vec<f64> = (0..4).map(|feature| random.normal() * [1.0, 5.0, 0.3, 1.0][feature]).collect();
            let hidden = x[0] - 0.2 * x[1] + x[2] + 0.7 * random.normal();
            labels.push(match item {
                _ if group == 3 => 1.0,
                0 => 3.0, // so that there is a pair
                _ => (hidden + 1.0).clamp(0.0, 2.0).round(),
            });
            numbers.extend(x);
            ids.push(format!("q{group}"));
        }
    }
    let items = Items::new(Features::dense(4, numbers, Default::default()).unwrap(), None, None).unwrap();
    Ranking::new(items, labels, Some(Groups::from_ids(ids))).unwrap()
}

fn weighted(data: Ranking) -> Ranking {
    let weights = (0..data.n_items()).map(|item| (item % 4) as f64 * 0.5).collect();
    let group_weights = (0..data.groups.len()).map(|group| (group % 5) as f64).collect();
    data.with_weights(weights).unwrap().with_group_weights(group_weights).unwrap()
}

fn metric(name: &str) -> ItemMetric {
    ItemMetric::parse(name).unwrap()
}

fn tune(tuner: &RankTuner, data: &Ranking, split: RankSplit<'_>) -> Tuned {
    let tuned = tuner.tune(data, split, &Unwatched).unwrap();
    let tuning = tuned.tuning().unwrap().clone();
    Tuned { fit: tuned.fit, tuning }
}

#[track_caller]
fn refused(tuner: &RankTuner, data: &Ranking, split: RankSplit<'_>, words: &[&str]) -> Error {
    let error = tuner.tune(data, split, &Unwatched).unwrap_err();
    words.iter().for_each(|word| assert!(error.to_string().contains(word), "no {word:?} in: {error}"));
    error
}

/// The metric of scores, straight from the definitions.
fn measured(metric: &ItemMetric, held: &Ranking, scores: &[f64]) -> f64 {
    let mut ranked = Ranked::new(&held.labels, scores, &held.groups).unwrap();
    if let Some(weights) = &held.weights {
        ranked = ranked.with_weights(weights).unwrap();
    }
    if let Some(weights) = &held.group_weights {
        ranked = ranked.with_group_weights(weights).unwrap();
    }
    metric.of(&ranked).unwrap().value.unwrap()
}

/// Items to learn from and items to measure on, for every fold.
fn copies(data: &Ranking, n_folds: usize, seed: u64) -> Vec<(Ranking, Ranking)> {
    let folds = group_folds(data, n_folds, seed ^ u64::from_be_bytes(*b"TuneFold"));
    let select = |keep: &dyn Fn(u32) -> bool| {
        let of_item = |item: usize| folds[data.groups.numbers()[item] as usize];
        let kept: Vec<usize> = (0..data.n_items()).filter(|&item| keep(of_item(item))).collect();
        data.select(&kept)
    };
    (0..n_folds as u32).map(|fold| (select(&|f| f != fold), select(&|f| f == fold))).collect()
}

/// Every fold copied, every fit from nothing.
fn check_twin(svm: RankSvm, data: &Ranking, losses: &[Loss], name: &str) {
    check_kernels(svm, data, losses, &[Kernel::Linear], name);
}

fn check_kernels(svm: RankSvm, data: &Ranking, losses: &[Loss], kernels: &[Kernel], name: &str) {
    let (c, metric) = (vec![1.0, 0.01, 0.1], metric(name));
    let tuner = RankTuner::new(svm.clone()).c(c.clone()).losses(losses.to_vec()).metric(metric.clone());
    let tuner = tuner.kernels(kernels.to_vec());
    let tuned = tune(&tuner, data, RankSplit::Folds(4));
    let parts = copies(data, 4, svm.effort.seed);
    assert_eq!(tuned.tuning.points.len(), losses.len() * kernels.len() * c.len());
    let shapes = losses.iter().flat_map(|&loss| kernels.iter().map(move |&kernel| (loss, kernel)));
    let points = shapes.flat_map(|(loss, kernel)| c.iter().map(move |&c| (loss, kernel, c)));
    let mut means = Vec::new();
    for (point, (loss, kernel, c)) in tuned.tuning.points.iter().zip(points) {
        assert_eq!((point.loss, point.c, point.kernel), (loss, c, kernel));
        let mut sum = 0.0;
        for ((train, held), found) in parts.iter().zip(&point.folds) {
            let model = svm.clone().c(c).loss(loss).kernel(kernel).fit(train).unwrap().model;
            let value = measured(&metric, held, &model.scorer.scores(&held.items).unwrap());
            assert!((value - found.unwrap()).abs() < 1e-6, "{loss:?} {kernel:?} C {c}: {value} {found:?}");
            sum += value;
        }
        means.push((sum / 4.0, c));
    }
    let sign = if metric.greater_is_better() { 1.0 } else { -1.0 };
    let most = means.iter().map(|mean| sign * mean.0).fold(f64::NEG_INFINITY, f64::max);
    let best = (0..means.len()).filter(|&at| sign * means[at].0 > most - 1e-9);
    assert_eq!(tuned.tuning.best, best.min_by(|&a, &b| means[a].1.total_cmp(&means[b].1)).unwrap(), "{means:?}");
    // A random order: equal scores, which for pairs in order count one half.
    let is_of_pairs = ["pair_accuracy", "swapped_pairs"].contains(&metric.name());
    let name = if is_of_pairs { "concordance" } else { metric.name() };
    let averaged = ItemMetric::parse(name).unwrap();
    let random_order = parts.iter().map(|(_, held)| {
        let zeros = vec![0.0; held.n_items()];
        measured(&averaged, held, &zeros)
    });
    let expected = random_order.sum::<f64>() / 4.0;
    let Some(TuningBaseline { outcome: None, value }) = tuned.tuning.baseline else { panic!("{:?}", tuned.tuning) };
    assert!((value - expected).abs() < 1e-12, "{value} {expected}");

    // The model is what training with these parameters gives.
    let (c, loss) = (tuned.fit.model.training.c, tuned.fit.model.training.loss);
    let kernel = tuned.tuning.points[tuned.tuning.best].kernel;
    let mut model = tuned.fit.model;
    assert!(model_to_bytes(&model).is_ok(), "a record that the file refuses");
    model.training.tuning = None;
    let alone = svm.c(c).loss(loss).kernel(kernel).fit(data).unwrap().model;
    assert_eq!(model_to_bytes(&model).unwrap(), model_to_bytes(&alone).unwrap());
}

#[test]
fn the_search_is_a_loop_over_copies() {
    let data = ranking(24, 1);
    check_twin(RankSvm::new().tol(TIGHT), &data, &[Loss::SquaredHinge, Loss::Logistic], "pair_accuracy");
    check_twin(RankSvm::new().tol(TIGHT), &data, &[Loss::SquaredHinge], "swapped_pairs");
    check_twin(RankSvm::new().tol(TIGHT).scale(Scale::Standard), &data, &[Loss::SquaredHinge], "ndcg@5");
    let balanced = RankSvm::new().tol(TIGHT).scale(Scale::Minmax).balance(Balance::Groups);
    check_twin(balanced, &weighted(ranking(24, 2)), &[Loss::SquaredHinge], "map");
    check_twin(RankSvm::new().tol(1e-7), &data, &[Loss::Hinge], "pair_accuracy");
}

#[test]
fn kernels_are_searched_as_copies_would_be() {
    let rbf = |gamma: f64| Kernel::Rbf { gamma: Gamma::Value(gamma) };
    let poly = Kernel::Poly { gamma: Gamma::Value(0.1), coef0: 1.0, degree: 2 };
    let scale = Kernel::Rbf { gamma: Gamma::Scale };
    let (data, odd) = (ranking(24, 1), weighted(ranking(24, 2)));
    let tight = RankSvm::new().tol(TIGHT);
    // One matrix for all parts, one for each (γ, scaling), landmarks of each.
    check_kernels(tight.clone(), &data, &[Loss::SquaredHinge, Loss::Logistic], &[rbf(0.02), poly], "pair_accuracy");
    check_kernels(tight.clone(), &odd, &[Loss::SquaredHinge], &[Kernel::Linear, scale, rbf(0.1)], "ndcg@5");
    check_kernels(tight.clone().scale(Scale::Standard), &odd, &[Loss::SquaredHinge], &[rbf(0.3)], "map");
    check_kernels(tight.approx(Some(Approx::Nystrom(20))), &odd, &[Loss::SquaredHinge], &[rbf(0.02)], "pair_accuracy");
    check_kernels(RankSvm::new().tol(1e-7), &data, &[Loss::Hinge], &[rbf(0.02)], "pair_accuracy");
    // In f32 and f64, and with cutting planes: near enough for most pairs to keep their order.
    let tuner = RankTuner::new(RankSvm::new().tol(1e-4)).c(vec![0.1]).kernels(vec![rbf(0.02)]);
    let tuned = tune(&tuner.losses(vec![Loss::SquaredHinge, Loss::Hinge]), &data, RankSplit::Folds(4));
    for point in &tuned.tuning.points {
        let svm = RankSvm::new().kernel(rbf(0.02)).c(0.1).loss(point.loss).tol(1e-8);
        for ((train, held), found) in copies(&data, 4, 0).iter().zip(&point.folds) {
            let model = svm.fit(train).unwrap().model;
            let value = measured(&metric("pair_accuracy"), held, &model.scorer.scores(&held.items).unwrap());
            assert!((value - found.unwrap()).abs() < 0.02, "{point:?}: {value} {found:?}");
        }
    }
}

#[test]
fn kernels_have_usual_values_too() {
    let data = ranking(24, 1);
    let rbf = |gamma: f64| Kernel::Rbf { gamma: Gamma::Value(gamma) };
    let tuner = RankTuner::new(RankSvm::new()).kernels(vec![rbf(0.05)]);
    let usual = tuner.usual_c(&data).unwrap();
    assert_eq!(usual.len(), 7);
    // Two functions of an rbf kernel are at most √2 apart: C·(pairs)·2 is no less than a tenth there.
    let pairs = RankSvm::new().fit(&data).unwrap().model.training.pairs as f64;
    assert!(usual[0] * pairs * 2.0 > 0.1 && usual[0] * pairs < 1.0, "{usual:?} {pairs}");
    let both = tuner.clone().kernels(vec![rbf(0.05), Kernel::Linear]).usual_c(&data).unwrap();
    let linear = tuner.clone().kernels(vec![Kernel::Linear]).usual_c(&data).unwrap();
    assert!((both[3] / (usual[3] * linear[3]).sqrt() - 1.0).abs() < 0.02, "{both:?} {usual:?} {linear:?}");
    let gammas = tuner.usual_gammas(&data).unwrap();
    let scale = Kernel::Rbf { gamma: Gamma::Scale }.resolve(&data.items.features).unwrap();
    let rankwise::kernel::KernelFunction::Rbf { gamma } = scale else { panic!("{scale:?}") };
    let Gamma::Value(middle) = gammas[2] else { panic!("{gammas:?}") };
    assert!(gammas.len() == 5 && (middle / gamma - 1.0).abs() < 0.01, "{gammas:?} {gamma}");
}

#[test]
fn groups_are_never_split_and_spread_evenly() {
    let data = ranking(43, 5);
    let folds = group_folds(&data, 5, 7);
    assert_eq!(folds.len(), 43);
    for fold in 0..5 {
        let n = folds.iter().filter(|&&of_group| of_group == fold).count();
        assert!((8..=9).contains(&n), "{folds:?}");
    }
    assert_ne!(folds, group_folds(&data, 5, 8));
    for (train, held) in copies(&data, 5, 7) {
        let names =
            |part: &Ranking| (0..part.groups.len()).map(|g| part.groups.name(g).to_string()).collect::<Vec<_>>();
        let (train, held) = (names(&train), names(&held));
        assert!(held.iter().all(|name| !train.contains(name)));
        assert_eq!(train.len() + held.len(), 43);
    }
}

/// The same items in another order, groups torn apart.
fn shuffled(data: &Ranking, seed: u64) -> Ranking {
    let mut order: Vec<usize> = (0..data.n_items()).collect();
    Random::new(seed).shuffle(&mut order);
    data.select(&order)
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let data = weighted(ranking(25, 3));
    let other = shuffled(&data, 1);
    let of_name = |data: &Ranking| -> HashMap<String, u32> {
        let folds = group_folds(data, 4, 0).into_iter().enumerate();
        folds.map(|(group, fold)| (data.groups.name(group).to_string(), fold)).collect()
    };
    assert_eq!(of_name(&data), of_name(&other));
    let tuner = RankTuner::new(RankSvm::new().tol(TIGHT)).c(vec![0.1, 1.0]);
    let [one, two] = [&data, &other].map(|data| tune(&tuner, data, RankSplit::Folds(4)).tuning);
    assert_eq!(one.best, two.best);
    for (a, b) in one.points.iter().zip(&two.points) {
        a.folds.iter().zip(&b.folds).for_each(|(a, b)| assert!((a.unwrap() - b.unwrap()).abs() < 1e-9));
    }
}

/// Groups without names are known by their items.
#[test]
fn groups_without_names_have_folds_that_do_not_depend_on_their_order() {
    let nameless = |data: Ranking| {
        let names = vec![String::new(); data.groups.len()];
        let groups = Groups::from_numbers(data.groups.numbers().to_vec(), names).unwrap();
        Ranking { groups, ..data }
    };
    let data = ranking(20, 4);
    let other = shuffled(&data, 2);
    let by_label_sum = |data: Ranking| -> Vec<(u32, u64, usize)> {
        let folds = group_folds(&nameless(data.clone()), 4, 0);
        let mut facts: Vec<_> = data
            .groups
            .members()
            .iter()
            .zip(folds)
            .map(|(items, fold)| {
                let largest = items.iter().map(|&i| data.items.features.hash_row(i as usize)).max().unwrap();
                (fold, largest, items.len())
            })
            .collect();
        facts.sort_unstable();
        facts
    };
    assert_eq!(by_label_sum(data), by_label_sum(other));
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let data = ranking(30, 6);
    let losses = vec![Loss::SquaredHinge, Loss::Hinge];
    let bytes = [1, 2, 3].map(|threads| {
        let svm = RankSvm::new().scale(Scale::Standard).threads(threads);
        let tuned = RankTuner::new(svm).losses(losses.clone()).metric(metric("ndcg@3"));
        let tuned = tuned.kernels(vec![Kernel::Linear, Kernel::Rbf { gamma: Gamma::Value(0.2) }]);
        model_to_bytes(&tune(&tuned, &data, RankSplit::Folds(5)).fit.model).unwrap()
    });
    assert!(bytes[0] == bytes[1] && bytes[1] == bytes[2]);
}

#[test]
fn a_validation_set_is_measured_on_alone() {
    let (data, valid) = (ranking(20, 1), weighted(ranking(9, 2)));
    let svm = RankSvm::new().tol(TIGHT).scale(Scale::Standard);
    let tuner = RankTuner::new(svm.clone()).c(vec![10.0, 0.001, 0.1]).metric(metric("ndcg@3"));
    let tuned = tune(&tuner, &data, RankSplit::Valid(&valid));
    for point in &tuned.tuning.points {
        let model = svm.clone().c(point.c).fit(&data).unwrap().model;
        let value = measured(&tuner.metric, &valid, &model.scorer.scores(&valid.items).unwrap());
        assert!((value - point.mean.unwrap()).abs() < 1e-9 && point.folds.len() == 1);
    }
    let members = valid.groups.members();
    let present = |group: usize| members.of(group).iter().filter(|&&i| valid.weight(i as usize) > 0.0).count();
    let counts: Vec<usize> = (0..9).filter(|&group| valid.group_weight(group) > 0.0).map(present).collect();
    let expected = TuningSplit::ValidationItems { items: counts.iter().sum(), groups: counts.len() };
    assert_eq!(tuned.tuning.split, expected);

    // Columns are matched by name.
    let named = |data: &Ranking, names: [&str; 4], columns: [usize; 4]| {
        let features = data.items.features.select_columns(&columns.map(Some));
        let names = names.map(String::from).to_vec();
        Ranking { items: Items::new(features, Some(names), None).unwrap(), ..data.clone() }
    };
    let data = named(&data, ["a", "b", "c", "d"], [0, 1, 2, 3]);
    let valid = named(&valid, ["c", "a", "d", "b"], [2, 0, 3, 1]);
    let matched = tune(&tuner, &data, RankSplit::Valid(&valid)).tuning;
    assert_eq!((matched.points, matched.best), (tuned.tuning.points, tuned.tuning.best));
    let strange = named(&valid, ["c", "a", "d", "x"], [0, 1, 2, 3]);
    refused(&tuner, &data, RankSplit::Valid(&strange), &["validation items", "\"b\""]);
}

#[test]
fn equal_means_are_decided_for_the_smallest_c_then_the_first_loss() {
    let features = Features::dense(1, (0..12).map(f64::from).collect(), Default::default()).unwrap();
    let items = Items::new(features, None, None).unwrap();
    let groups = Groups::from_ids((0..12).map(|item| (item % 4).to_string()));
    let data = Ranking::new(items, (0..12).map(f64::from).collect(), Some(groups)).unwrap();
    for losses in [[Loss::Hinge, Loss::SquaredHinge], [Loss::SquaredHinge, Loss::Hinge]] {
        let tuner = RankTuner::new(RankSvm::new()).c(vec![10.0, 1.0, 100.0, 1.0]).losses(losses.to_vec());
        let Tuned { fit, tuning } = tune(&tuner, &data, RankSplit::Folds(4));
        assert_eq!(tuning.points.len(), 6, "values that come twice count once");
        assert!(tuning.points.iter().all(|point| point.mean == Some(1.0)));
        assert_eq!((fit.model.training.c, fit.model.training.loss), (1.0, losses[0]));
    }
}

/// Doubling features or weights moves the usual C along, so that the search finds the same scores.
#[test]
fn the_usual_c_suits_the_data() {
    let data = ranking(20, 1);
    let usual = |data: &Ranking| RankTuner::new(RankSvm::new()).usual_c(data).unwrap();
    let c = usual(&data);
    assert_eq!(c.len(), 7);
    c.windows(2).for_each(|w| assert!((w[1] / w[0] / 10.0 - 1.0).abs() < 1e-9));
    let pair = |c: &[f64], other: &[f64]| c[0] / other[0];
    let heavy = data.clone().with_weights(vec![2.0; data.n_items()]).unwrap();
    assert!((pair(&c, &usual(&heavy)) - 4.0).abs() < 0.05);
    let doubled = data.items.features.to_dense().iter().map(|x| 2.0 * x).collect();
    let items = Items::new(Features::dense(4, doubled, Default::default()).unwrap(), None, None).unwrap();
    let doubled = Ranking { items, ..data.clone() };
    assert!((pair(&c, &usual(&doubled)) - 4.0).abs() < 0.05);
    let tuning = tune(&RankTuner::new(RankSvm::new()), &data, RankSplit::Folds(3)).tuning;
    assert_eq!(tuning.points.iter().map(|point| point.c).collect::<Vec<_>>(), c);
    assert_eq!((tuning.metric.as_str(), tuning.greater_is_better), ("pair_accuracy", true));
}

#[test]
fn what_cannot_be_tuned_is_told_before_the_first_fit() {
    let (tuner, data) = (RankTuner::new(RankSvm::new()), ranking(6, 1));
    let folds = RankSplit::Folds;
    assert!(refused(&tuner, &data, folds(1), &["folds = 1", "at least 2"]).is_usage());
    // Of the six, one has a single label.
    refused(&tuner, &data, folds(6), &["5 groups", "at most 5 folds"]);
    let single = Ranking::new(data.items.clone(), data.labels.clone(), None).unwrap();
    refused(&tuner, &single, folds(5), &["only one group", "--valid"]);
    let same = Ranking::new(data.items.clone(), vec![1.0; data.n_items()], Some(data.groups.clone())).unwrap();
    refused(&tuner, &same, folds(2), &["different labels", "nothing to learn"]);
    refused(&tuner, &data, RankSplit::Valid(&same), &["validation file", "pair_accuracy", "--metric"]);
    let absent = data.clone().with_weights(vec![0.0; data.n_items()]).unwrap();
    refused(&tuner, &absent, folds(2), &["nothing to learn"]);
    let known = Items::indicators((0..data.n_items()).map(|item| item.to_string()).collect());
    let known = Ranking { items: known, ..data.clone() };
    refused(&tuner, &known, folds(2), &["no features", "--valid"]);
    tune(&tuner, &known, RankSplit::Valid(&known));

    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(&tuner.clone().c(vec![1.0, c]), &data, folds(2), &["C = "]).is_usage());
    }
    assert!(refused(&tuner.clone().losses(Vec::new()), &data, folds(2), &["losses = []"]).is_usage());
    let outcomes = RankTuner::new(RankSvm::new().balance(Balance::Outcomes));
    assert!(refused(&outcomes, &data, folds(2), &["balance"]).is_usage());
    let negative = Ranking { labels: data.labels.iter().map(|label| label - 5.0).collect(), ..data.clone() };
    refused(&tuner.clone().metric(metric("ndcg")), &negative, folds(2), &["ndcg"]);
    refused(&tuner.clone().metric(metric("ndcg:trec")), &data, folds(2), &["ids"]);
    let limited = tuner.clone().time_limit(Some(Duration::ZERO));
    refused(&limited, &data, folds(2), &["0 s", "--time-limit"]);
}

#[test]
fn fits_that_end_early_are_counted() {
    let mut svm = RankSvm::new().tol(1e-14);
    svm.effort.max_iter = Some(1);
    let tuned = tune(&RankTuner::new(svm).c(vec![0.1, 1.0]), &ranking(12, 1), RankSplit::Folds(2));
    let said = tuned.tuning.warnings.join("; ");
    assert!(said.contains("4 of 4 fits did not converge (max_iter)"), "{said}");
}

#[test]
fn every_fit_is_told_and_a_stop_is_heard() {
    let (data, tuner) = (ranking(12, 1), RankTuner::new(RankSvm::new()));
    let counter = Counter { seen: AtomicUsize::new(0), stop_after: usize::MAX };
    tuner.tune(&data, RankSplit::Folds(3), &counter).unwrap();
    assert_eq!(counter.seen.load(Ordering::SeqCst), 21);
    let counter = Counter { seen: AtomicUsize::new(0), stop_after: 2 };
    let error = tuner.tune(&data, RankSplit::Folds(3), &counter).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(counter.seen.load(Ordering::SeqCst) < 21);
}

/// Large weights times huge features leave the range of numbers; small ones do not.
#[test]
fn points_that_fail_do_not_lose_the_others() {
    let scaled = |data: Ranking, by: f64| {
        let numbers = data.items.features.to_dense().iter().map(|x| x * by).collect();
        Ranking {
            items: Items::new(Features::dense(4, numbers, Default::default()).unwrap(), None, None).unwrap(),
            ..data
        }
    };
    let (data, huge) = (scaled(ranking(8, 1), 1e-3), scaled(ranking(8, 2), 1e306));
    let tuner = RankTuner::new(RankSvm::new());
    let tuned = tune(&tuner.clone().c(vec![1e-6, 1e9]), &data, RankSplit::Valid(&huge));
    let is_measured: Vec<bool> = tuned.tuning.points.iter().map(|point| point.mean.is_some()).collect();
    assert_eq!((is_measured, tuned.tuning.best), (vec![true, false], 0));
    let [warning] = &tuned.tuning.warnings[..] else { panic!("{:?}", tuned.tuning.warnings) };
    assert!(warning.contains("1 of 2 points") && warning.contains("linear, C 1000000000.0"), "{warning}");
    let error = refused(&tuner.c(vec![1e9]), &data, RankSplit::Valid(&huge), &["1 of 1 points", "smaller C"]);
    assert!(matches!(error, Error::Search { .. }), "{error}");
}
