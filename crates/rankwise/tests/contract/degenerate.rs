//! Data and parameters at the edge: every fit ends, says why, and holds numbers only.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rankwise::data::{Comparisons, Features, Items, Outcome, Pair, PairSet, Precision, Random};
use rankwise::model::{Method, ThresholdRule, TieRegion};
use rankwise::{Error, Gamma, Kernel, Loss, Model, Progress, Stop, Watch};

use crate::oracle::plain::{Ask, Draw, MACHINES, assert_finite, comparisons, rows_of, scores};
use Outcome::{Left, Right, Tie};

const POLY: Kernel = Kernel::Poly { gamma: Gamma::Scale, coef0: 0.0, degree: 3 };
const SIGMOID: Kernel = Kernel::Sigmoid { gamma: Gamma::Value(1.0), coef0: -1.0 };

/// All methods, kernels and losses, with a re-fitted threshold and with the machine's own.
fn asks() -> Vec<Ask> {
    let mut asks = Vec::new();
    for method in MACHINES {
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Scale }, POLY] {
            for loss in Loss::OF_PAIRS {
                asks.push(Ask::new(method, kernel, loss, 1.0));
                asks.push(Ask::new(method, kernel, loss, 1.0).refit());
            }
        }
    }
    asks
}

/// Runs `work` and fails if it does not end in time. A thread that hangs is left behind: the test has failed by then.
fn within<R: Send + 'static>(limit: Duration, what: &str, work: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(limit).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// The model of every ask, all of its numbers checked.
fn models(data: &Comparisons, what: &str) -> Vec<(Ask, Model)> {
    let checked = |ask: Ask| {
        let what = format!("{what}: {ask:?}");
        let (ask, data) = (ask, data.clone());
        let (ask, model) = within(Duration::from_secs(20), &what, move || {
            let model = ask.model(&data);
            (ask, model)
        });
        assert_finite(&model, &what);
        assert_eq!(model.training.stop, Stop::Converged, "{what}: gap {:e}", model.training.gap);
        assert!(model.training.gap.abs() <= 1e-3, "{what}: gap {}", model.training.gap);
        (ask, model)
    };
    asks().into_iter().map(checked).collect()
}

fn draw() -> Comparisons {
    Draw { seed: 21, items: 30, features: 2, pairs: 60, ties: 0.3, noise: 0.3 }.data()
}

fn with_outcomes(outcome: impl Fn(usize) -> Outcome) -> Comparisons {
    let mut data = draw();
    data.outcomes = (0..data.n_pairs()).map(outcome).collect();
    data
}

fn with_features(value: impl Fn(usize, usize, f64) -> f64) -> Comparisons {
    let mut data = draw();
    let rows = rows_of(&data.set.items.features);
    let values = rows.iter().enumerate().flat_map(|(i, x)| x.iter().enumerate().map(move |(f, &v)| (i, f, v)));
    let values = values.map(|(i, f, v)| value(i, f, v)).collect();
    data.set.items.features = Features::dense(2, values, Precision::Auto).unwrap();
    data
}

#[test]
fn without_ties_comparing_is_ranking() {
    let data = with_outcomes(|k| if k % 3 == 0 { Left } else { Right });
    for (ask, model) in models(&data, "no ties") {
        assert_eq!(model.threshold, 0.0);
        assert_eq!(model.beta, None);
        let rank = Ask { method: Method::Rank, ..ask.clone() }.model(&data);
        if ask.method == Method::Compare {
            assert!(model.no_tie_region && model.training.warnings.iter().any(|w| w.contains("rank")), "{ask:?}");
            assert_eq!(scores(&model, &data), scores(&rank, &data), "{ask:?}");
            assert_eq!(model.training.objective, rank.training.objective, "{ask:?}");
        }
    }
}

#[test]
fn nothing_but_ties_makes_everything_a_tie() {
    for (ask, model) in models(&with_outcomes(|_| Tie), "only ties") {
        let data = draw();
        assert!(scores(&model, &data).iter().all(|&s| s == 0.0), "{ask:?}");
        assert!(model.compare(&data.set).unwrap().iter().all(|&o| o == Tie), "{ask:?}");
        assert!(!model.training.warnings.is_empty(), "{ask:?}");
        assert_eq!(model.training.tie_share.predicted, 1.0, "{ask:?}");
    }
}

#[test]
fn one_pair_is_enough() {
    for outcome in Outcome::ALL {
        let data = comparisons(&[vec![0.5, -1.0], vec![2.0, 1.0]], vec![(0, 1)], vec![outcome]);
        for (ask, model) in models(&data, "one pair") {
            assert_eq!(model.compare(&data.set).unwrap(), [outcome], "{ask:?}");
        }
    }
    for (ask, model) in models(&with_outcomes(|_| Left), "only left") {
        assert!(model.training.objective > 0.0, "{ask:?}");
    }
}

#[test]
fn items_without_differences_score_equally() {
    let identical = with_features(|_, _, _| 1.5);
    let zero = with_features(|_, _, _| 0.0);
    let mut same_item = draw();
    same_item.set.pairs.iter_mut().for_each(|p| p.left = p.right);
    for (what, data) in [("identical items", identical), ("zeros", zero), ("an item with itself", same_item)] {
        for (ask, model) in models(&data, what) {
            let margins = model.margins(&data.set).unwrap();
            assert!(margins.iter().all(|&m| m == 0.0), "{what}, {ask:?}: {margins:?}");
            let constant = ask.losses(&data, &margins, model.beta);
            assert!((model.training.objective - constant).abs() <= 1e-3 * constant, "{what}, {ask:?}");
        }
    }
    // A feature that never changes, however large, says nothing.
    let plain = with_features(|_, f, v| if f == 0 { 0.0 } else { v });
    let huge = with_features(|_, f, v| if f == 0 { 1e9 } else { v });
    for kernel in [Kernel::Linear, Kernel::rbf(0.5)] {
        for loss in Loss::OF_PAIRS {
            let ask = Ask::compare(kernel, loss, 1.0).tol(1e-6);
            let (a, b) = (ask.model(&plain), ask.model(&huge));
            assert!((a.training.objective / b.training.objective - 1.0).abs() <= 1e-5, "{ask:?}");
            let (a, b) = (a.margins(&plain.set).unwrap(), b.margins(&huge.set).unwrap());
            let apart = a.iter().zip(&b).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()));
            assert!(apart <= 1e-2, "{ask:?}: margins {apart:e} apart");
        }
    }
    // Powers of 1e9 leave nothing of the spread in f64: no convergence may be claimed.
    for ask in asks().into_iter().filter(|ask| ask.threshold == ThresholdRule::Refit) {
        let what = format!("a small spread about 1e9: {ask:?}");
        let model = match ask.fit(&with_features(|_, _, v| 1e9 + v)) {
            Ok(fit) => fit.model,
            Err(Error::Numeric { .. }) if ask.kernel == POLY => continue,
            Err(other) => panic!("{what}: {other}"),
        };
        assert_finite(&model, &what);
        let converged = model.training.stop == Stop::Converged;
        assert!(converged == (model.training.gap.abs() <= 1e-3), "{what}: gap {:e}", model.training.gap);
        assert!(converged || ask.kernel == POLY, "{what}: {:?}", model.training.stop);
    }
}

#[test]
fn a_million_identical_pairs_cost_as_much_as_a_few() {
    let n = 1_000_000;
    let rows = [vec![0.0, 1.0], vec![1.0, 0.5], vec![0.2, 0.2]];
    let pairs = (0..n).map(|k| if k % 4 == 0 { (1, 2) } else { (0, 1) }).collect();
    let data = comparisons(&rows, pairs, (0..n).map(|k| if k % 4 == 0 { Tie } else { Right }).collect());
    for kernel in [Kernel::Linear, Kernel::rbf(1.0)] {
        let started = Instant::now();
        let model = Ask::compare(kernel, Loss::SquaredHinge, 1.0).refit().model(&data);
        let seconds = started.elapsed().as_secs_f64();
        assert!(seconds < 20.0, "{kernel:?}: {seconds} s");
        assert_finite(&model, "a million pairs");
        assert_eq!(model.compare(&data.set).unwrap()[..2], [Tie, Right]);
    }
}

#[test]
fn extreme_weights_and_features_give_numbers_or_a_clear_error() {
    let weights = |weight: f64| {
        let mut data = draw();
        data.weights = Some((0..data.n_pairs()).map(|k| if k % 2 == 0 { weight } else { 1.0 }).collect());
        data
    };
    let mut all_huge = draw();
    all_huge.weights = Some(vec![1e308; all_huge.n_pairs()]);
    let cases = [
        ("weights of 1e-300", weights(1e-300)),
        ("weights of 1e300", weights(1e300)),
        ("weights of 1e308 alone", all_huge),
        ("features of 1e150", with_features(|_, _, v| 1e150 * v)),
        ("features of 1e20", with_features(|_, _, v| 1e20 * v)),
        ("features of 1e-150", with_features(|_, _, v| 1e-150 * v)),
        ("features of 1e-20", with_features(|_, _, v| 1e-20 * v)),
        ("features of 1e-310", with_features(|_, _, v| 1e-310 * v)),
    ];
    for (what, data) in cases {
        for ask in asks().into_iter().filter(|ask| ask.threshold == ThresholdRule::Refit) {
            let what = format!("{what}: {ask:?}");
            let (asked, given) = (ask.clone(), data.clone());
            match within(Duration::from_secs(60), &what, move || asked.fit(&given)) {
                Ok(fit) => assert_finite(&fit.model, &what),
                Err(Error::Numeric { .. }) => assert!(!what.contains("e-"), "{what}: refused"),
                Err(other) => panic!("{what}: {other}"),
            }
        }
    }
    for kernel in [Kernel::Linear, Kernel::rbf(1.0), POLY] {
        let refusal = Ask::compare(kernel, Loss::Hinge, 1.0).fit(&with_features(|_, _, v| 1e150 * v));
        assert!(matches!(refusal, Err(Error::Numeric { .. })), "{kernel:?}");
    }
}

#[test]
fn limits_are_kept_and_named() {
    let data = Draw { seed: 5, items: 200, features: 3, pairs: 400, ties: 0.3, noise: 1.0 }.data();
    for ask in asks() {
        let mut one_step = ask.clone().tol(1e-9).c(10.0);
        one_step.effort.max_iter = Some(1);
        let model = one_step.model(&data);
        assert_eq!((model.training.stop, model.training.iterations), (Stop::MaxIter, 1), "{ask:?}");
        assert!(model.training.warnings.iter().any(|w| w.contains("iterations")), "{ask:?}");
        assert_finite(&model, "one step");

        let mut no_time = ask.clone().tol(1e-9).c(10.0);
        no_time.effort.time_limit = Some(Duration::ZERO);
        let model = no_time.model(&data);
        assert_eq!(model.training.stop, Stop::TimeLimit, "{ask:?}");
        assert!(model.training.warnings.iter().any(|w| w.contains("time")), "{ask:?}");
        assert_finite(&model, "no time");

        for c in [1e-12, 1e12] {
            let mut extreme = ask.clone().c(c);
            extreme.effort.max_iter = Some(20_000);
            extreme.effort.time_limit = Some(Duration::from_secs(5));
            let model = extreme.model(&data);
            assert_finite(&model, &format!("{extreme:?}"));
            let stop = model.training.stop;
            match stop {
                Stop::Converged => assert!(model.training.gap <= 1e-3, "{extreme:?}"),
                Stop::MaxIter => assert!(model.training.iterations >= 20_000, "{extreme:?}"),
                _ => assert!(stop == Stop::TimeLimit || stop == Stop::Stalled, "{extreme:?}: {stop:?}"),
            }
        }
    }
    let mut for_ever = asks().swap_remove(0);
    for_ever.effort.time_limit = Some(Duration::MAX);
    assert_eq!(for_ever.model(&data).training.stop, Stop::Converged);
}

/// Says stop from its n-th call on.
struct StopAfter(u64, AtomicU64);

impl Watch for StopAfter {
    fn on_progress(&self, progress: Progress) -> bool {
        assert!(progress.tol > 0.0 && progress.iterations > 0 && !progress.gap.is_nan());
        self.1.fetch_add(1, Ordering::Relaxed) < self.0
    }
}

#[test]
fn a_watch_stops_the_fit_even_between_folds() {
    let data = Draw { seed: 5, items: 200, features: 3, pairs: 400, ties: 0.3, noise: 1.0 }.data();
    for ask in asks() {
        let ask = ask.tol(1e-6).c(10.0);
        let stopped = ask.fit_watched(&data, &StopAfter(0, AtomicU64::new(0))).unwrap().model;
        assert_eq!(stopped.training.stop, Stop::Interrupted, "{ask:?}");
        assert!(stopped.training.warnings.iter().any(|w| w.contains("interrupted")), "{ask:?}");
        assert_finite(&stopped, "interrupted");
    }
    // The hinge re-fits its threshold on folds.
    let ask = Ask::compare(Kernel::rbf(0.3), Loss::Hinge, 10.0).tol(1e-6);
    let calls = StopAfter(u64::MAX, AtomicU64::new(0));
    ask.fit_watched(&data, &calls).unwrap();
    let main_fit = calls.1.load(Ordering::Relaxed);
    let stopped = ask.refit().fit_watched(&data, &StopAfter(main_fit, AtomicU64::new(0))).unwrap().model;
    assert_eq!(stopped.training.stop, Stop::Interrupted, "a fold was interrupted, the model does not say so");
}

#[test]
fn a_kernel_that_is_not_positive_definite_ends() {
    let data = Draw { seed: 5, items: 60, features: 3, pairs: 150, ties: 0.3, noise: 1.0 }.data();
    for method in MACHINES {
        for loss in Loss::OF_PAIRS {
            let ask = Ask::new(method, SIGMOID, loss, 1.0);
            let what = format!("{ask:?}");
            let given = data.clone();
            match within(Duration::from_secs(120), &what, move || ask.fit(&given)) {
                Ok(fit) => {
                    assert_finite(&fit.model, &what);
                    let stop = fit.model.training.stop;
                    assert!(matches!(stop, Stop::Converged | Stop::Stalled), "{what}: {stop:?}");
                    assert!(fit.model.training.certificate.contains("no bound"), "{what}");
                }
                Err(error) => assert!(matches!(error, Error::Numeric { .. }), "{what}: {error}"),
            }
        }
    }
}

#[test]
fn what_a_kernel_without_features_lacks_is_named() {
    let poly = Kernel::Poly { gamma: Gamma::Scale, coef0: -5.0, degree: 3 };
    for (kernel, word) in [(poly, "--coef0 of at least 0"), (SIGMOID, "rbf, poly or linear")] {
        let error = Ask::new(Method::Compare, kernel, Loss::Logistic, 1.0).fit(&draw()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn indicators_powers_tight_tolerances_and_small_caches_work() {
    let mut random = Random::new(2);
    let pairs = (0..300).map(|_| Pair { left: random.below(20) as u32, right: random.below(20) as u32 });
    let pairs: Vec<Pair> = pairs.collect();
    let outcomes = pairs.iter().map(|p| Outcome::of_margin(f64::from(p.right) - f64::from(p.left), 3.0)).collect();
    let ids = (0..20).map(|i| format!("player {i}")).collect();
    let set = PairSet::new(Items::indicators(ids), pairs).unwrap();
    let players = Comparisons::new(set, outcomes, None, None).unwrap();
    for (ask, model) in models(&players, "indicators") {
        assert!(model.scorer.are_indicators);
        let scores = model.scorer.scores(&players.set.items).unwrap();
        assert!(scores[19] > scores[0], "{ask:?}: {scores:?}");
    }

    let unscaled = with_features(|_, f, v| v * [1.0, 30.0][f] + 5.0);
    for degree in 1..=5 {
        for loss in Loss::OF_PAIRS {
            for coef0 in [0.0, 1.0] {
                let kernel = Kernel::Poly { gamma: Gamma::Value(1.0), coef0, degree };
                let mut ask = Ask::compare(kernel, loss, 1.0);
                ask.effort.time_limit = Some(Duration::from_millis(500));
                assert_finite(&ask.model(&unscaled), &format!("{ask:?}"));
            }
        }
    }

    let data = Draw { seed: 5, items: 700, features: 3, pairs: 600, ties: 0.3, noise: 1.0 }.data();
    let few_items = Draw { items: 300, ..Draw { seed: 5, items: 0, features: 3, pairs: 600, ties: 0.3, noise: 1.0 } };
    for data in [data, few_items.data()] {
        for (kernel, loss, region) in [
            (Kernel::Linear, Loss::SquaredHinge, TieRegion::Free),
            (Kernel::rbf(0.3), Loss::Hinge, TieRegion::Always),
            (Kernel::rbf(0.3), Loss::SquaredHinge, TieRegion::Free),
        ] {
            let mut ask = Ask::compare(kernel, loss, 1.0).tol(1e-5);
            ask.tie_region = region;
            let roomy = ask.model(&data);
            for cache_mb in [0, 1] {
                ask.effort.cache_mb = cache_mb;
                let tight = ask.model(&data);
                assert_eq!(tight.training.objective, roomy.training.objective, "{ask:?}");
                assert_eq!(scores(&tight, &data), scores(&roomy, &data), "{ask:?}");
            }
            let precise = ask.clone().tol(1e-10).model(&data);
            assert_finite(&precise, "tol 1e-10");
            assert_eq!(precise.training.stop, Stop::Converged, "{ask:?}: gap {:e}", precise.training.gap);
            assert!(precise.training.gap <= 1e-10, "{ask:?}: gap {:e}", precise.training.gap);
        }
    }
}
