//! Random steps: near the optimum of the exact machine, certified, repeatable, to be gone on with.

use rankwise::data::{Features, Groups, Items, Precision, Random, Ranking, Scale};
use rankwise::io::{model_from_bytes, model_to_bytes};
use rankwise::model::{Balance, Batch, Model, Schedule, ScoreFunction, Task};
use rankwise::{Error, Loss, OnlineSvm, RankSvm, Stop, Unwatched};

use crate::oracle::conic::{Entries, minimum};
use crate::oracle::rank_items::{Drawn, Pairs, weights_of};

/// Enough pairs that there is noise, few enough that tests are quick.
pub(crate) fn drawn(seed: u64, is_sparse: bool, is_weighted: bool) -> Ranking {
    let drawn = Drawn { n_groups: 12, per_group: 15, n_cols: 6, n_labels: 4, noise: 0.5, is_sparse, is_weighted, seed };
    drawn.ranking()
}

pub(crate) fn exact(data: &Ranking, c: f64, balance: Balance) -> Model {
    RankSvm::new().c(c).loss(Loss::Hinge).balance(balance).tol(1e-5).fit(data).unwrap().model
}

#[test]
fn steps_come_near_the_optimum_and_know_how_near() {
    for (is_sparse, is_weighted, balance) in
        [(false, false, Balance::None), (true, true, Balance::None), (false, true, Balance::Groups)]
    {
        let data = drawn(3, is_sparse, is_weighted);
        let pairs = Pairs::of(&data, balance);
        let c = if balance == Balance::Groups { 1.0 } else { 0.02 };
        let best = exact(&data, c, balance).training.objective;
        for batch in [Batch::Pair, Batch::Group] {
            for schedule in [Schedule::Inverse, Schedule::Sqrt] {
                let steps = if batch == Batch::Pair { 200_000 } else { 10_000 };
                let svm = OnlineSvm::new().c(c).balance(balance).batch(batch).schedule(schedule);
                let svm = svm.steps(Some(steps)).certify(true);
                let model = svm.fit(&data).unwrap().model;
                let training = &model.training;
                let what = format!("{is_sparse} {is_weighted} {balance:?} {batch:?} {schedule:?}");
                let here = pairs.objective(weights_of(&model), c, Loss::Hinge);
                assert!((training.objective - here).abs() < 1e-9 * here, "{what}: {} {here}", training.objective);
                assert!(here < 1.02 * best, "{what}: {here} {best}");
                assert!(
                    here - best <= training.gap * here + 1e-5 * here,
                    "{what}: the gap {} is no bound",
                    training.gap
                );
                assert!(training.gap < 0.2, "{what}: {}", training.gap);
                assert_eq!((training.iterations, training.pairs), (steps, pairs.list.len()));
            }
        }
    }
}

#[test]
fn averages_are_nearer_than_last_weights() {
    let data = drawn(5, false, false);
    let best = exact(&data, 0.5, Balance::None).training.objective;
    let mut excess = [0.0; 2];
    for seed in 0..5 {
        for (at, average) in [true, false].into_iter().enumerate() {
            let mut svm = OnlineSvm::new().c(0.5).steps(Some(20_000)).average(average);
            svm.effort.seed = seed;
            excess[at] += svm.fit(&data).unwrap().model.training.objective / best - 1.0;
        }
    }
    assert!(excess[0] < 0.5 * excess[1], "{excess:?}");
}

#[test]
fn without_a_certificate_there_is_an_objective_and_no_gap() {
    let model = OnlineSvm::new().steps(Some(1000)).fit(&drawn(1, false, false)).unwrap().model;
    assert!(model.training.known_objective().is_some() && model.training.known_gap().is_none());
    assert!(model.training.certificate.contains("--certify"), "{}", model.training.certificate);
    assert_eq!(model.training.stop, Stop::MaxIter);
}

#[test]
fn the_seed_decides_every_byte_and_threads_none() {
    let data = drawn(2, true, true);
    let bytes = |seed, threads, batch| {
        let mut svm = OnlineSvm::new().c(0.1).steps(Some(5000)).batch(batch).threads(threads);
        svm.effort.seed = seed;
        model_to_bytes(&svm.fit(&data).unwrap().model).unwrap()
    };
    for batch in [Batch::Pair, Batch::Group] {
        assert_eq!(bytes(1, 1, batch), bytes(1, 2, batch));
        assert_ne!(bytes(1, 1, batch), bytes(2, 1, batch));
    }
}

#[test]
fn two_halves_are_about_a_whole() {
    let data = drawn(7, false, true);
    let best = exact(&data, 0.02, Balance::None).training.objective;
    for schedule in [Schedule::Inverse, Schedule::Sqrt] {
        let svm = OnlineSvm::new().c(0.02).schedule(schedule);
        let half = svm.clone().steps(Some(100_000)).fit(&data).unwrap().model;
        // Through a file, as the program does.
        let half = model_from_bytes("half".as_ref(), &model_to_bytes(&half).unwrap()).unwrap();
        let both = svm.clone().steps(Some(100_000)).fit_from(&data, Some(&half), &Unwatched).unwrap().model;
        let whole = svm.clone().steps(Some(200_000)).fit(&data).unwrap().model;
        assert_eq!(both.state.as_ref().unwrap().steps, 200_000);
        let excess = |model: &Model| model.training.objective / best - 1.0;
        assert!(excess(&both) < 0.01 && excess(&whole) < 0.01, "{} {}", excess(&both), excess(&whole));
        assert!((excess(&both) - excess(&whole)).abs() < 0.005);
        // One more step hardly moves an average of so many; a model that started anew would be far away.
        let more = svm.clone().steps(Some(1)).fit_from(&data, Some(&both), &Unwatched).unwrap().model;
        for (a, b) in weights_of(&both).iter().zip(weights_of(&more)) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }
}

#[test]
fn exact_models_are_good_starts() {
    let data = drawn(8, false, false);
    let start = exact(&data, 1.0, Balance::None);
    let svm = OnlineSvm::new().c(1.0).steps(Some(500));
    let cold = svm.fit(&data).unwrap().model.training.objective;
    let warm = svm.fit_from(&data, Some(&start), &Unwatched).unwrap().model.training.objective;
    assert!(warm < cold, "{warm} {cold}");
}

#[test]
fn starts_follow_the_names_of_features() {
    let data = drawn(4, false, false);
    let named = |order: [usize; 6]| {
        let rows = data.items.features.to_dense();
        let values = rows.chunks(6).flat_map(|row| order.map(|k| row[k])).collect();
        let names = order.map(|k| format!("f{k}")).to_vec();
        let items = Items::new(Features::dense(6, values, Precision::F64).unwrap(), Some(names), None).unwrap();
        Ranking { items, ..data.clone() }
    };
    for (before, after) in [(Scale::Standard, Scale::Standard), (Scale::None, Scale::Minmax)] {
        let svm = OnlineSvm::new().c(0.02).scale(before).steps(Some(100_000));
        let first = svm.fit(&named([0, 1, 2, 3, 4, 5])).unwrap().model;
        let moved = named([3, 1, 0, 5, 2, 4]);
        let svm = OnlineSvm::new().c(0.02).scale(after).steps(Some(1));
        let second = svm.fit_from(&moved, Some(&first), &Unwatched).unwrap().model;
        // Scores up to a constant, however features are scaled and ordered.
        let [a, b] = [(&first, &data.items), (&second, &moved.items)].map(|(model, items)| {
            let items = Items { feature_names: model.scorer.feature_names.clone(), ..items.clone() };
            model.scorer.scores(&items).unwrap()
        });
        let shift = a[0] - b[0];
        a.iter().zip(&b).for_each(|(a, b)| assert!((a - b - shift).abs() < 0.02, "{a} {b} {shift}"));
    }
}

/// Two clouds that overlap, and weights.
fn clouds(seed: u64) -> Ranking {
    let mut random = Random::new(seed);
    let (mut values, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..120 {
        let label = if k % 3 == 0 { 7.5 } else { -2.0 };
        let center = if label > 0.0 { 1.5 } else { 0.3 };
        values.extend([center + random.normal(), random.normal(), 2.0 - center + 0.5 * random.normal()]);
        labels.push(label);
        weights.push([0.5, 1.0, 2.0, 0.0][k % 4]);
    }
    let items = Items::new(Features::dense(3, values, Precision::F64).unwrap(), None, None).unwrap();
    Ranking::new(items, labels, None).unwrap().with_weights(weights).unwrap()
}

#[test]
fn classifiers_come_near_the_quadratic_programs_optimum() {
    let data = clouds(1);
    let rows = data.items.features.to_dense();
    for (c, schedule) in [(0.05, Schedule::Inverse), (0.5, Schedule::Inverse), (0.05, Schedule::Sqrt)] {
        let m = data.n_items();
        let (mut p, mut q) = (vec![0.0; 4 + m], vec![0.0; 4 + m]);
        p[..4].fill(1.0);
        let (mut a, mut b) = (Entries::new(4 + m), Vec::new());
        for i in 0..m {
            let y = if data.labels[i] == 7.5 { 1.0 } else { -1.0 };
            q[4 + i] = c * data.weight(i);
            let x = [1.0, rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]];
            a.row(x.into_iter().map(|x| -y * x).enumerate().chain([(4 + i, -1.0)]));
            b.push(-1.0);
            a.row([(4 + i, -1.0)]);
            b.push(0.0);
        }
        let best = minimum(&p, &q, &a, &b, 0);
        let svm = OnlineSvm::new().task(Task::Classify).c(c).schedule(schedule).steps(Some(400_000)).certify(true);
        let model = svm.fit(&data).unwrap().model;
        let ScoreFunction::Linear { weights, bias } = &model.scorer.function else { panic!() };
        let scores = model.scorer.scores(&data.items).unwrap();
        let losses: f64 = (0..m)
            .map(|i| data.weight(i) * (1.0 - if data.labels[i] == 7.5 { scores[i] } else { -scores[i] }).max(0.0))
            .sum();
        let here = 0.5 * (weights.iter().map(|w| w * w).sum::<f64>() + bias * bias) + c * losses;
        let training = &model.training;
        assert!((training.objective - here).abs() < 1e-9 * here, "{} {here}", training.objective);
        assert!(here < 1.01 * best && here > best * (1.0 - 1e-7), "{here} {best}");
        assert!(here - best <= training.gap * here + 1e-7 && training.gap < 0.2, "{}", training.gap);
        assert_eq!(model.classes.as_deref(), Some(&["-2".to_string(), "7.5".to_string()][..]));
        let wrong =
            (0..m).filter(|&i| model.class_of(scores[i]) != Some(if data.labels[i] > 0.0 { "7.5" } else { "-2" }));
        assert!(wrong.count() < m / 4);
        let back = model_from_bytes("m".as_ref(), &model_to_bytes(&model).unwrap()).unwrap();
        assert_eq!((back.classes, back.state), (model.classes, model.state));
    }
}

#[test]
fn scaled_classifiers_are_those_of_scaled_features() {
    let data = clouds(2);
    let far: Vec<f64> = data.items.features.to_dense().iter().map(|x| 1000.0 + 30.0 * x).collect();
    let items = Items::new(Features::dense(3, far, Precision::F64).unwrap(), None, None).unwrap();
    let far = Ranking { items, ..data.clone() };
    let svm = OnlineSvm::new().task(Task::Classify).scale(Scale::Standard).c(0.1).steps(Some(50_000));
    let (near, far) = (svm.fit(&data).unwrap().model, svm.fit(&far).unwrap().model);
    assert!((near.training.objective - far.training.objective).abs() < 1e-6 * near.training.objective);
}

#[test]
fn two_classes_are_needed() {
    let labelled = |labels: &[f64]| {
        let values = (0..labels.len()).map(|k| k as f64).collect();
        let items = Items::new(Features::dense(1, values, Precision::F64).unwrap(), None, None).unwrap();
        Ranking::new(items, labels.to_vec(), None).unwrap()
    };
    let many: Vec<f64> = (0..1001).map(f64::from).collect();
    let svm = OnlineSvm::new().task(Task::Classify).steps(Some(1000));
    for (labels, words) in
        [(&[1.0, 1.0][..], "all labels are 1"), (&many, "labels are 0, 1, 2"), (&[0.0, -0.0], "all labels are 0")]
    {
        let error = svm.fit(&labelled(labels)).unwrap_err();
        assert!(matches!(error, Error::Data { .. }) && error.to_string().contains(words), "{error}");
    }
    let model = svm.fit(&labelled(&[1.0, 2.0])).unwrap().model;
    let error = svm.fit_from(&labelled(&[1.0, 3.0]), Some(&model), &Unwatched).unwrap_err();
    assert!(matches!(error, Error::Mismatch { .. }) && error.to_string().contains("1 and 2"), "{error}");
    // Half of a stream may have one class alone, once the model knows both.
    svm.fit_from(&labelled(&[2.0, 2.0]), Some(&model), &Unwatched).unwrap();
}

#[test]
fn hostile_data_end_in_an_answer_or_in_words() {
    let ranking = |n_cols: usize, values: Vec<f64>, labels: Vec<f64>, groups: &[&str]| {
        let items = Items::new(Features::dense(n_cols, values, Precision::F64).unwrap(), None, None).unwrap();
        Ranking::new(items, labels, Some(Groups::from_ids(groups))).unwrap()
    };
    let svm = OnlineSvm::new().steps(Some(3000)).certify(true);
    for batch in [Batch::Pair, Batch::Group] {
        let svm = svm.clone().batch(batch);
        let one_grade = ranking(1, vec![1.0, 2.0], vec![1.0, 1.0], &["a", "a"]);
        let error = svm.fit(&one_grade).unwrap_err().to_string();
        assert!(error.contains("all labels of the group are the same"), "{error}");
        let lonely = ranking(1, vec![1.0, 2.0], vec![1.0, 2.0], &["a", "b"]);
        assert!(svm.fit(&lonely).unwrap_err().to_string().contains("no group has two different labels"));
        let weightless = ranking(1, vec![1.0, 2.0], vec![1.0, 2.0], &["a", "a"]).with_weights(vec![0.0, 0.0]).unwrap();
        assert!(matches!(svm.fit(&weightless), Err(Error::Data { .. })));

        // Equal features say nothing; huge labels are labels; a group of one is dropped.
        let equal = svm.fit(&ranking(2, vec![3.0; 6], vec![1.0, 2.0, 3.0], &["a", "a", "a"])).unwrap().model;
        assert_eq!(weights_of(&equal), [0.0, 0.0]);
        assert!(equal.training.warnings.iter().any(|w| w.contains("all weights are 0")));
        let huge = ranking(1, vec![0.0, 1.0, 2.0, 9.0], vec![-1e300, 0.0, 1e300, 5.0], &["a", "a", "a", "b"]);
        let model = svm.fit(&huge).unwrap().model;
        assert!(weights_of(&model)[0] > 0.5);
        assert_eq!((model.training.groups, model.training.groups_dropped), (Some(1), 1));

        for size in [1e-300, 1e-160, 1e150, 1e160, 1e300] {
            for c in [1e-300, 1.0, 1e300] {
                let extreme = ranking(1, vec![0.0, size, -size, 2.0 * size], vec![1.0, 2.0, 0.0, 3.0], &["a"; 4]);
                match svm.clone().c(c).fit(&extreme) {
                    Ok(fit) => assert!(weights_of(&fit.model)[0].is_finite(), "{size} {c}"),
                    Err(error) => assert!(matches!(error, Error::Numeric { .. }), "{size} {c}: {error}"),
                }
            }
        }
    }
    let data = drawn(1, false, false);
    for wrong in [
        OnlineSvm::new().c(f64::INFINITY),
        OnlineSvm::new().c(0.0),
        OnlineSvm::new().steps(Some(0)),
        OnlineSvm::new().steps(Some(5)).epochs(Some(2)),
        OnlineSvm::new().task(Task::Classify).batch(Batch::Group),
        OnlineSvm::new().balance(Balance::Outcomes),
    ] {
        assert!(matches!(wrong.fit(&data), Err(Error::Parameter { .. })), "{wrong:?}");
    }
}
