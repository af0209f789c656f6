//! What must hold of every ranking from items: certificates, invariances, degenerate data.

use rankwise::data::{Features, Groups, Items, Precision, Random, Ranking, Scale};
use rankwise::model::{Balance, Model};
use rankwise::{Error, Loss, OnlineSvm, RankSvm, Ridge, Stop, SwapSvm, Unwatched, io};

use crate::oracle::rank_items::{Drawn, Pairs, weights_of};

const TIGHT: f64 = 1e-10;

fn fit(svm: &RankSvm, data: &Ranking) -> Model {
    svm.fit(data).unwrap().model
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    let size = b.iter().fold(1e-12, |most: f64, x| most.max(x.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * size, "{a} and {b}");
    }
}

/// The same items with other features or labels.
fn with(data: &Ranking, values: Vec<f64>, labels: Vec<f64>) -> Ranking {
    let features = Features::dense(data.items.features.n_cols(), values, Precision::F64).unwrap();
    let items = Items::new(features, None, None).unwrap();
    Ranking { items, labels, ..data.clone() }
}

#[test]
fn the_gap_is_that_of_dual_variables_made_from_the_slacks() {
    for seed in 0..4 {
        let data = Drawn { n_labels: if seed % 2 == 0 { 4 } else { 0 }, ..Drawn::new(seed) }.ranking();
        let pairs = Pairs::of(&data, Balance::None);
        for loss in [Loss::SquaredHinge, Loss::Logistic] {
            for tol in [0.5, 1e-2, 1e-5] {
                let c = 0.3;
                let model = fit(&RankSvm::new().c(c).loss(loss).tol(tol), &data);
                let w = weights_of(&model);
                let (mut made, mut linear) = (vec![0.0; w.len()], 0.0);
                for (d, cost) in &pairs.list {
                    let t = 1.0 - w.iter().zip(d).map(|(w, d)| w * d).sum::<f64>();
                    let a = c * cost * loss.slope(t);
                    made.iter_mut().zip(d).for_each(|(m, d)| *m += a * d);
                    linear += match loss {
                        Loss::SquaredHinge => a - a * a / (4.0 * c * cost),
                        _ => {
                            let p = a / (c * cost);
                            -c * cost * (p * p.ln() + (1.0 - p) * (1.0 - p).ln())
                        }
                    };
                }
                let dual = linear - 0.5 * made.iter().map(|m| m * m).sum::<f64>();
                let primal = pairs.objective(w, c, loss);
                let gap = (primal - dual) / primal;
                assert!((gap - model.training.gap).abs() <= 1e-9 + 1e-6 * gap, "{gap} and {}", model.training.gap);
                assert!(gap <= tol);
            }
        }
    }
}

#[test]
fn a_hinge_is_within_its_gap_of_the_best() {
    for seed in 0..4 {
        let data = Drawn { n_labels: 0, ..Drawn::new(seed) }.ranking();
        let best = fit(&RankSvm::new().loss(Loss::Hinge).tol(1e-9), &data).training.objective;
        for tol in [0.3, 1e-2, 1e-4] {
            let training = fit(&RankSvm::new().loss(Loss::Hinge).tol(tol), &data).training;
            assert!(training.gap <= tol && training.stop == Stop::Converged);
            assert!(training.objective - best <= training.gap * training.objective + 1e-9);
        }
    }
}

#[test]
fn what_does_not_matter_changes_nothing() {
    let data = Drawn { n_labels: 4, ..Drawn::new(7) }.ranking();
    let n_cols = data.items.features.n_cols();
    let mut random = Random::new(3);
    for loss in Loss::ALL {
        let tol = if loss == Loss::Hinge { 1e-8 } else { TIGHT };
        let svm = RankSvm::new().c(0.5).loss(loss).tol(tol);
        // Where the hinge has flat parts, weights are only as sure as the root of the gap.
        let tolerance = if loss == Loss::Hinge { 2e-3 } else { 1e-5 };
        let model = fit(&svm, &data);
        let w = weights_of(&model);

        // Something added to all items of a group.
        let mut values = data.items.features.to_dense();
        let shifts: Vec<f64> = (0..data.groups.len() * n_cols).map(|_| random.normal()).collect();
        for (i, row) in values.chunks_mut(n_cols).enumerate() {
            let group = data.groups.numbers()[i] as usize;
            row.iter_mut().zip(&shifts[group * n_cols..]).for_each(|(x, shift)| *x += shift);
        }
        close(weights_of(&fit(&svm, &with(&data, values, data.labels.clone()))), w, tolerance);

        // Labels by another scale of the same order.
        let labels = data.labels.iter().map(|l| (3.0 * l).exp() - 7.0).collect();
        let relabelled = fit(&svm, &with(&data, data.items.features.to_dense(), labels));
        assert_eq!(
            weights_of(&relabelled),
            weights_of(&fit(&svm, &with(&data, data.items.features.to_dense(), data.labels.clone())))
        );

        // The order of rows.
        let mut order: Vec<usize> = (0..data.n_items()).collect();
        random.shuffle(&mut order);
        close(weights_of(&fit(&svm, &data.select(&order))), w, tolerance);

        // Features c times as large with C/c².
        let scaled: Vec<f64> = data.items.features.to_dense().iter().map(|x| 8.0 * x).collect();
        let eighth: Vec<f64> = w.iter().map(|w| w / 8.0).collect();
        let other = fit(&svm.clone().c(0.5 / 64.0), &with(&data, scaled, data.labels.clone()));
        close(weights_of(&other), &eighth, tolerance);

        // Better for worse.
        let negated = data.labels.iter().map(|l| -l).collect();
        let minus: Vec<f64> = w.iter().map(|w| -w).collect();
        close(weights_of(&fit(&svm, &with(&data, data.items.features.to_dense(), negated))), &minus, tolerance);
    }
}

#[test]
fn weight_two_means_twice_and_weight_zero_absent() {
    let data = Drawn { n_labels: 3, ..Drawn::new(8) }.ranking();
    let n = data.n_items();
    for balance in [Balance::None, Balance::Groups] {
        for loss in Loss::ALL {
            let svm = RankSvm::new().c(0.5).loss(loss).balance(balance).tol(1e-9);
            let objective = |data: &Ranking| fit(&svm, data).training.objective;
            let same = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-7, "{loss:?}, {balance:?}: {a} and {b}");

            // Item 4 twice.
            let twice: Vec<usize> = (0..n).chain([4]).collect();
            let mut weights = vec![1.0; n];
            weights[4] = 2.0;
            same(objective(&data.clone().with_weights(weights).unwrap()), objective(&data.select(&twice)));

            // Group 1 twice, under another name.
            let group = data.groups.numbers();
            let twice: Vec<usize> = (0..n).chain((0..n).filter(|&i| group[i] == 1)).collect();
            let mut copied = data.select(&twice);
            let names = |i: usize| if i < n { group[i].to_string() } else { "copy".into() };
            copied.groups = Groups::from_ids((0..twice.len()).map(names));
            let mut of_groups = vec![1.0; data.groups.len()];
            of_groups[1] = 2.0;
            same(objective(&data.clone().with_group_weights(of_groups).unwrap()), objective(&copied));

            // Item 2 and group 0 absent.
            let kept: Vec<usize> = (0..n).filter(|&i| i != 2 && group[i] != 0).collect();
            let weights = (0..n).map(|i| f64::from(i != 2)).collect();
            let of_groups = (0..data.groups.len()).map(|g| f64::from(g != 0)).collect();
            let absent = data.clone().with_weights(weights).unwrap().with_group_weights(of_groups).unwrap();
            same(objective(&absent), objective(&data.select(&kept)));
        }
    }
}

#[test]
fn larger_c_fits_closer_and_warm_starts_end_where_cold_ones_do() {
    let data = Drawn { n_labels: 0, per_group: 30, ..Drawn::new(9) }.ranking();
    let pairs = Pairs::of(&data, Balance::None);
    for loss in Loss::ALL {
        let mut before: Option<(Model, f64)> = None;
        for c in [1e-4, 1e-2, 1.0, 1e2] {
            let svm = RankSvm::new().c(c).loss(loss).tol(1e-8);
            let cold = fit(&svm, &data);
            let w = weights_of(&cold);
            let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
            let losses = (pairs.objective(w, c, loss) - 0.5 * norm * norm) / c;
            if let Some((last, last_losses)) = &before {
                let warm = svm.fit_from(&data, Some(last), &Unwatched).unwrap().model;
                assert!((warm.training.objective / cold.training.objective - 1.0).abs() < 2e-8);
                let last_norm = weights_of(last).iter().map(|w| w * w).sum::<f64>().sqrt();
                assert!(norm >= last_norm * (1.0 - 1e-3), "{loss:?}: norms {last_norm} and {norm}");
                assert!(losses <= last_losses * (1.0 + 1e-3));
                assert!(cold.training.objective >= last.training.objective);
            }
            before = Some((cold, losses));
        }
    }
    // From its own end nothing is left to do.
    let svm = RankSvm::new().tol(1e-6);
    let model = fit(&svm, &data);
    let again = svm.fit_from(&data, Some(&model), &Unwatched).unwrap().model;
    assert_eq!((again.training.iterations, weights_of(&again)), (0, weights_of(&model)));
    // From another scaling to this one.
    let scaled = svm.clone().scale(Scale::Standard);
    let other = scaled.fit_from(&data, Some(&model), &Unwatched).unwrap().model;
    assert!((other.training.objective / fit(&scaled, &data).training.objective - 1.0).abs() < 2e-6);
}

#[test]
fn scaled_features_give_the_model_of_features_that_were_scaled_before() {
    let data = Drawn { n_labels: 4, ..Drawn::new(10) }.ranking();
    for scale in [Scale::Standard, Scale::Minmax] {
        let svm = RankSvm::new().tol(TIGHT);
        let inside = fit(&svm.clone().scale(scale), &data);
        let scaler = inside.scorer.scaler.clone().unwrap();
        let mut before = data.clone();
        before.items.features = scaler.apply(&data.items.features).unwrap();
        close(weights_of(&inside), weights_of(&fit(&svm, &before)), 1e-5);
        let scores = inside.scorer.scores(&data.items).unwrap();
        let others = fit(&svm, &before).scorer.scores(&before.items).unwrap();
        close(&scores, &others, 1e-5);
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // Enough for several blocks, a group for all threads, and a thinned start.
    let many = Drawn { n_groups: 300, per_group: 40, n_cols: 90, n_labels: 5, ..Drawn::new(11) }.ranking();
    let giant = Drawn { n_groups: 1, per_group: 18_000, n_cols: 6, n_labels: 0, ..Drawn::new(12) }.ranking();
    let graded = Drawn { n_groups: 1, per_group: 18_000, n_cols: 5, n_labels: 4, ..Drawn::new(13) }.ranking();
    for (data, losses) in [(&many, &Loss::ALL[..]), (&giant, &Loss::OF_PAIRS), (&graded, &Loss::OF_PAIRS)] {
        for &loss in losses {
            let c = 1e-4;
            let bytes = |threads: usize| {
                let model = RankSvm::new().c(c).loss(loss).tol(1e-4).threads(threads).fit(data).unwrap().model;
                io::model_to_bytes(&model).unwrap()
            };
            let one = bytes(1);
            assert!(one == bytes(2), "{loss:?}");
        }
    }
}

#[test]
fn a_thinned_start_does_not_change_the_answer() {
    let data = Drawn { n_groups: 300, per_group: 40, n_cols: 90, n_labels: 5, ..Drawn::new(14) }.ranking();
    let svm = RankSvm::new().c(1e-3).tol(1e-9);
    let cold = fit(&svm, &data);
    // From zero weights there is no thinned start.
    let mut zero = cold.clone();
    zero.scorer.function = rankwise::model::ScoreFunction::Linear { weights: vec![0.0; 90], bias: 0.0 };
    let plain = svm.fit_from(&data, Some(&zero), &Unwatched).unwrap().model;
    assert!(plain.training.iterations > cold.training.iterations);
    assert!((plain.training.objective / cold.training.objective - 1.0).abs() < 1e-8);
}

fn one_group(n_cols: usize, values: Vec<f64>, labels: Vec<f64>) -> Ranking {
    let features = Features::dense(n_cols, values, Precision::Auto).unwrap();
    Ranking::new(Items::new(features, None, None).unwrap(), labels, None).unwrap()
}

#[test]
fn nothing_to_learn_is_an_error_that_says_why() {
    let refused = |data: &Ranking| match RankSvm::new().fit(data) {
        Err(Error::Data { problem, .. }) => problem,
        other => panic!("{other:?}"),
    };
    assert!(refused(&one_group(1, vec![1.0, 2.0], vec![3.0, 3.0])).contains("the same"));
    assert!(refused(&one_group(1, vec![1.0], vec![3.0])).contains("the same"));
    let zero = one_group(1, vec![1.0, 2.0], vec![0.0, 1.0]).with_weights(vec![0.0, 0.0]).unwrap();
    assert!(!refused(&zero).is_empty());
    let mut singles = one_group(1, vec![1.0, 2.0], vec![0.0, 1.0]);
    singles.groups = Groups::from_ids(["a", "b"]);
    assert!(refused(&singles).contains("no group"));
}

#[test]
fn groups_of_one_grade_are_dropped_and_counted() {
    let mut data = one_group(1, vec![1.0, 2.0, 5.0, 6.0, 9.0], vec![0.0, 1.0, 2.0, 2.0, 7.0]);
    data.groups = Groups::from_ids(["a", "a", "b", "b", "c"]);
    let training = fit(&RankSvm::new(), &data).training;
    assert_eq!((training.groups, training.groups_dropped, training.items, training.pairs), (Some(1), 2, 2, 1));
}

#[test]
fn hostile_numbers_end_in_an_answer() {
    let mut random = Random::new(5);
    let labels: Vec<f64> =
        (0..40).map(|i| if i == 3 { 1e300 } else { f64::from(i % 7) - 1e300 * f64::from(i == 4) }).collect();
    let values: Vec<f64> = (0..80).map(|_| random.normal()).collect();
    for loss in Loss::ALL {
        for c in [1e-12, 1.0, 1e12] {
            for scale in [Scale::None, Scale::Standard] {
                let svm = RankSvm::new().c(c).loss(loss).scale(scale).tol(1e-3);
                for values in [
                    values.clone(),
                    vec![1.0; 80],                              // all the same
                    values.iter().map(|v| v * 1e-20).collect(), // tiny
                    values.iter().map(|v| v * 1e18).collect(),  // huge
                    values.iter().map(|v| 1e9 + v).collect(),   // far from zero
                    values.iter().enumerate().map(|(i, v)| if i % 2 == 0 { 3.0 } else { *v }).collect(), // a constant
                ] {
                    let training = fit(&svm, &one_group(2, values, labels.clone())).training;
                    assert!(training.objective.is_finite() && training.gap.is_finite());
                    assert!(training.gap <= 1e-3 || training.stop != Stop::Converged, "{training:?}");
                }
            }
        }
    }
}

#[test]
fn a_million_equal_items_are_no_trouble() {
    let n = 1_000_000;
    let mut values = vec![1.0; n];
    values[n - 1] = 3.0;
    let mut labels = vec![0.0; n];
    labels[n - 1] = 1.0;
    for loss in Loss::OF_PAIRS {
        let training = fit(&RankSvm::new().loss(loss), &one_group(1, values.clone(), labels.clone())).training;
        assert_eq!((training.pairs, training.stop), (n - 1, Stop::Converged));
        // w = ½ gives the last item its lead of 1.
        assert!((training.objective - 0.125).abs() < 1e-3, "{}", training.objective);
    }
}

#[test]
fn limits_stop_a_fit_and_say_so() {
    let data = Drawn { n_labels: 0, per_group: 60, ..Drawn::new(15) }.ranking();
    let mut svm = RankSvm::new().tol(1e-9);
    svm.effort.max_iter = Some(1);
    let training = fit(&svm, &data).training;
    assert_eq!((training.stop, training.iterations), (Stop::MaxIter, 1));
    assert!(training.warnings.iter().any(|w| w.starts_with("not converged")));
    svm.effort.max_iter = None;
    svm.effort.time_limit = Some(std::time::Duration::ZERO);
    assert_eq!(fit(&svm, &data).training.stop, Stop::TimeLimit);
}

#[test]
fn scaling_counts_items_by_their_weights() {
    let data = Drawn::new(3).ranking();
    let n = data.n_items();
    let copies: Vec<usize> = (0..n).map(|item| item % 3).collect();
    let repeated = data.select(&(0..n).flat_map(|item| vec![item; copies[item]]).collect::<Vec<_>>());
    let weighted = data.with_weights(copies.iter().map(|&n| n as f64).collect()).unwrap();
    for scale in [Scale::Standard, Scale::Minmax] {
        let scalers = |data: &Ranking| {
            let fits = [
                RankSvm::new().scale(scale).fit(data),
                SwapSvm::new().scale(scale).fit(data),
                Ridge::new().scale(scale).fit(data),
                OnlineSvm::new().scale(scale).steps(Some(10)).fit(data),
            ];
            fits.map(|fit| fit.unwrap().model.scorer.scaler.unwrap())
        };
        for (found, expected) in scalers(&weighted).iter().zip(&scalers(&repeated)) {
            close(&found.shift, &expected.shift, 1e-12);
            close(&found.divisor, &expected.divisor, 1e-12);
        }
    }
}
