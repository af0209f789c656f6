//! What must not change a model: sides, order, copies, threads; and how it must change with C and units.

use rankwise::data::simulate::{Norm, Simulation};
use rankwise::data::{Comparisons, Features, Outcome, Pair, PairSet, Precision, Random};
use rankwise::io::model_to_bytes;
use rankwise::model::ThresholdRule;
use rankwise::{Gamma, Kernel, Loss, Model, Stop};

use crate::oracle::plain::{
    Ask, Draw, MACHINES, comparisons, resolved, rows_of, scores, squared_norm, unit_of, weighted,
};

const POLY: Kernel = Kernel::Poly { gamma: Gamma::Value(0.3), coef0: 1.0, degree: 2 };

fn draw(items: usize, pairs: usize) -> Comparisons {
    Draw { seed: 11, items, features: 3, pairs, ties: 0.35, noise: 0.4 }.data()
}

/// Fits over methods, kernels and losses, with a re-fitted threshold.
fn asks() -> Vec<Ask> {
    let mut asks = Vec::new();
    for method in MACHINES {
        for kernel in [Kernel::Linear, Kernel::rbf(0.3), POLY] {
            asks.extend(Loss::OF_PAIRS.map(|loss| Ask::new(method, kernel, loss, 2.0).refit()));
        }
    }
    asks
}

/// The largest difference of two lists, relative to the largest number.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().chain(b).fold(1e-300, |m: f64, v| m.max(v.abs()));
    a.iter().zip(b).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs())) / size
}

/// Margins of the same pairs, in units of u, differ by no more than what two gaps allow: P is strongly convex in u, so
/// that ½‖u − u*‖² ≤ gap·P for both.
fn assert_same_machine(ask: &Ask, (a, a_data): (&Model, &Comparisons), (b, b_data): (&Model, &Comparisons)) {
    let reach = |m: &Model| (2.0 * m.training.gap.max(1e-14) * m.training.objective).sqrt();
    let margins = |m: &Model, data: &Comparisons| -> Vec<f64> {
        let scores = scores(m, data);
        data.set.pairs.iter().map(|p| unit_of(m) * (scores[p.right as usize] - scores[p.left as usize])).collect()
    };
    let (kernel, rows) = (resolved(ask.kernel, a_data), rows_of(&a_data.set.items.features));
    let (ours, theirs) = (margins(a, a_data), margins(b, b_data));
    for (k, p) in a_data.set.pairs.iter().enumerate() {
        let (l, r) = (&rows[p.left as usize], &rows[p.right as usize]);
        let length = (kernel.value(l, l) + kernel.value(r, r) - 2.0 * kernel.value(l, r)).max(0.0).sqrt();
        let (apart, allowed) = ((ours[k] - theirs[k]).abs(), (reach(a) + reach(b)) * length + 1e-9);
        assert!(apart <= allowed, "{ask:?}: pair {k} {apart:e} apart, {allowed:e} allowed");
        assert!(apart <= 2e-3 * (1.0 + ours[k].abs()), "{ask:?}: pair {k} {apart:e} apart");
    }
}

fn select(data: &Comparisons, numbers: &[usize]) -> Comparisons {
    let mut chosen = data.clone();
    chosen.set.pairs = numbers.iter().map(|&k| data.set.pairs[k]).collect();
    chosen.outcomes = numbers.iter().map(|&k| data.outcomes[k]).collect();
    chosen.weights = data.weights.as_ref().map(|w| numbers.iter().map(|&k| w[k]).collect());
    chosen
}

/// The bytes of a model, but for how many rows there were.
fn bytes_but_counts(mut model: Model) -> Vec<u8> {
    (model.training.pairs, model.training.ties) = (0, 0);
    model_to_bytes(&model).unwrap()
}

#[test]
fn swapping_sides_and_outcomes_gives_the_same_model() {
    for data in [draw(30, 90), draw(300, 90)] {
        let mut random = Random::new(1);
        let mut swapped = data.clone();
        for k in 0..data.n_pairs() {
            if random.below(2) == 0 {
                let Pair { left, right } = data.set.pairs[k];
                swapped.set.pairs[k] = Pair { left: right, right: left };
                swapped.outcomes[k] = data.outcomes[k].swapped();
            }
        }
        for ask in asks() {
            let (a, b) = (ask.model(&data), ask.model(&swapped));
            assert_eq!(scores(&a, &data), scores(&b, &data), "{ask:?}");
            let numbers = |m: &Model| (m.beta, m.threshold, m.training.objective, m.training.gap);
            assert_eq!(numbers(&a), numbers(&b), "{ask:?}");
            assert!(model_to_bytes(&a).unwrap() == model_to_bytes(&b).unwrap(), "{ask:?}");
        }
    }
}

/// Pairs given by the features of their sides: exchanging these renumbers the items.
#[test]
fn swapping_sides_that_come_with_their_features_gives_the_same_model() {
    let data = Simulation { norm: Norm::L1, n_pairs: 80, ties: 0.4, noise: 0.3, seed: 5 }.draw().unwrap();
    let side = |of: fn(&Pair) -> u32| {
        let rows: Vec<usize> = data.set.pairs.iter().map(|p| of(p) as usize).collect();
        data.set.items.features.select_rows(&rows)
    };
    let set = PairSet::from_sides(&side(|p| p.right), &side(|p| p.left), data.set.items.feature_names.clone()).unwrap();
    let outcomes = data.outcomes.iter().map(|o| o.swapped()).collect();
    let swapped = Comparisons::new(set, outcomes, None, None).unwrap();
    for ask in asks() {
        let (a, b) = (ask.model(&data), ask.model(&swapped));
        assert!(model_to_bytes(&a).unwrap() == model_to_bytes(&b).unwrap(), "{ask:?}");
    }
}

#[test]
fn the_order_of_rows_does_not_matter_beyond_the_tolerance() {
    for data in [draw(30, 90), draw(300, 90)] {
        let data = weighted(data, 2);
        let mut order: Vec<usize> = (0..data.n_pairs()).collect();
        Random::new(5).shuffle(&mut order);
        let permuted = select(&data, &order);
        for ask in asks() {
            let ask = ask.tol(1e-8);
            let (a, b) = (ask.model(&data), ask.model(&permuted));
            if a.training.stop != Stop::Converged || b.training.stop != Stop::Converged {
                assert_eq!(ask.loss, Loss::Hinge, "{ask:?}: {:?}", a.training.stop);
                continue;
            }
            assert_same_machine(&ask, (&a, &data), (&b, &data));
            assert!((a.training.objective / b.training.objective - 1.0).abs() <= 2e-8, "{ask:?}");
            assert_eq!(a.no_tie_region, b.no_tie_region, "{ask:?}");
            // The hinge puts many margins at exactly 1: there the last digits decide on which side of a threshold.
            if ask.loss == Loss::SquaredHinge {
                assert!((a.threshold / b.threshold - 1.0).abs() <= 1e-3, "{ask:?}: {} {}", a.threshold, b.threshold);
            }
        }
    }
}

#[test]
fn weight_two_is_twice_the_row() {
    let data = draw(40, 80);
    let mut random = Random::new(3);
    let twice: Vec<usize> = (0..data.n_pairs()).filter(|_| random.below(3) == 0).collect();
    let mut heavy = data.clone();
    heavy.weights = Some((0..data.n_pairs()).map(|k| if twice.contains(&k) { 2.0 } else { 1.0 }).collect());
    let all: Vec<usize> = (0..data.n_pairs()).chain(twice.iter().copied()).collect();
    let mut repeated = select(&data, &all);
    // A copy with exchanged sides is a copy too.
    for k in data.n_pairs()..all.len() {
        if k % 2 == 0 {
            let Pair { left, right } = repeated.set.pairs[k];
            repeated.set.pairs[k] = Pair { left: right, right: left };
            repeated.outcomes[k] = repeated.outcomes[k].swapped();
        }
    }
    for ask in asks() {
        let (heavy_model, repeated_model) = (ask.model(&heavy), ask.model(&repeated));
        if ask.kernel == Kernel::Linear && ask.loss == Loss::SquaredHinge {
            // Solved in weights, where copies are summed one by one.
            let pairs = |data: &Comparisons, model: &Model| scores(model, data);
            for (a, b) in pairs(&data, &heavy_model).into_iter().zip(pairs(&data, &repeated_model)) {
                assert!((a - b).abs() <= 1e-6 * (1.0 + a.abs()), "{ask:?}: {a} {b}");
            }
            assert!((heavy_model.threshold - repeated_model.threshold).abs() <= 1e-6, "{ask:?}");
            continue;
        }
        assert!(bytes_but_counts(heavy_model) == bytes_but_counts(repeated_model), "{ask:?}");
    }
}

#[test]
fn weight_zero_is_absent() {
    let data = weighted(draw(40, 80), 9);
    let mut random = Random::new(4);
    let present: Vec<usize> = (0..data.n_pairs()).filter(|_| random.below(4) > 0).collect();
    let mut zeroed = data.clone();
    let weights = zeroed.weights.as_mut().unwrap();
    (0..data.n_pairs()).filter(|k| !present.contains(k)).for_each(|k| weights[k] = 0.0);
    for ask in asks() {
        let (a, b) = (ask.model(&zeroed), ask.model(&select(&data, &present)));
        assert!(model_to_bytes(&a).unwrap() == model_to_bytes(&b).unwrap(), "{ask:?}");
    }
}

#[test]
fn the_number_of_threads_and_a_second_run_change_no_byte() {
    let many = Simulation { norm: Norm::L1, n_pairs: 3000, ties: 0.4, noise: 0.5, seed: 1 }.draw().unwrap();
    let wide = Draw { seed: 8, items: 4000, features: 20, pairs: 3000, ties: 0.3, noise: 0.5 }.data();
    let few_items = Draw { seed: 9, items: 200, features: 12, pairs: 5000, ties: 0.3, noise: 0.5 }.data();
    for (name, data, kernel) in [
        ("linear", &wide, Kernel::Linear),
        ("rbf", &many, Kernel::rbf(0.25)),
        ("rbf, many features", &wide, Kernel::rbf(0.01)),
        ("rbf, few items", &few_items, Kernel::rbf(0.05)),
    ] {
        for loss in Loss::OF_PAIRS {
            let ask = Ask::compare(kernel, loss, 0.5).refit().tol(1e-2);
            let bytes = |threads| model_to_bytes(&ask.clone().threads(threads).model(data)).unwrap();
            let one = bytes(1);
            for threads in [2, 3, 1] {
                assert!(one == bytes(threads), "{name}, {loss:?}: {threads} threads give another model");
            }
        }
    }
}

#[test]
fn units_of_features_and_c_trade_against_each_other() {
    let data = weighted(draw(40, 100), 3);
    let scale = 7.0;
    let rows: Vec<Vec<f64>> =
        rows_of(&data.set.items.features).iter().map(|x| x.iter().map(|v| scale * v).collect()).collect();
    let mut larger = data.clone();
    larger.set.items.features = Features::dense(3, rows.concat(), Precision::F64).unwrap();
    for method in MACHINES {
        for loss in Loss::OF_PAIRS {
            let ask = Ask::new(method, Kernel::Linear, loss, 2.0).tol(1e-9);
            let (a, b) = (ask.model(&data), ask.clone().c(2.0 / (scale * scale)).model(&larger));
            // ½‖u‖² and C·losses both shrink by scale².
            let ratio = a.training.objective / (scale * scale * b.training.objective);
            assert!((ratio - 1.0).abs() <= 1e-8, "{method:?}, {loss:?}: objectives {ratio}");
            let apart = distance(&scores(&a, &data), &scores(&b, &larger));
            assert!(apart <= 1e-4, "{method:?}, {loss:?}: scores {apart:e} apart");
        }
    }
}

#[test]
fn a_constant_added_to_all_items_changes_nothing() {
    let data = draw(40, 100);
    for offset in [1.0, 1000.0] {
        let rows: Vec<Vec<f64>> = rows_of(&data.set.items.features)
            .iter()
            .map(|x| x.iter().enumerate().map(|(f, v)| v + offset * (1.0 + f as f64)).collect())
            .collect();
        let mut moved = data.clone();
        moved.set.items.features = Features::dense(3, rows.concat(), Precision::F64).unwrap();
        for method in MACHINES {
            for (kernel, loss) in [
                (Kernel::Linear, Loss::Hinge),
                (Kernel::Linear, Loss::SquaredHinge),
                (Kernel::rbf(0.3), Loss::Hinge),
                (Kernel::rbf(0.3), Loss::SquaredHinge),
            ] {
                let ask = Ask::new(method, kernel, loss, 1.0).tol(1e-8);
                let (a, b) = (ask.model(&data), ask.model(&moved));
                let what = format!("{method:?}, {kernel:?}, {loss:?}, moved by {offset}");
                assert!((a.training.objective / b.training.objective - 1.0).abs() <= 2e-8, "{what}");
                let centred = |scores: Vec<f64>| {
                    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
                    scores.iter().map(|s| s - mean).collect::<Vec<_>>()
                };
                let apart = distance(&centred(scores(&a, &data)), &centred(scores(&b, &moved)));
                assert!(apart <= 1e-4, "{what}: scores {apart:e} apart");
            }
        }
    }
}

#[test]
fn objective_and_norm_do_not_fall_as_c_grows() {
    let data = weighted(draw(40, 100), 6);
    for ask in asks() {
        let (mut objective, mut norm) = (0.0, 0.0);
        for c in [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0] {
            let ask = ask.clone().c(c).tol(1e-6);
            let model = ask.model(&data);
            let unit = unit_of(&model);
            let now = unit * unit * squared_norm(&model);
            assert!(model.training.objective >= objective * (1.0 - 1e-6), "{ask:?}");
            assert!(now >= norm * (1.0 - 1e-2) - 1e-9, "{ask:?}: ‖u‖² falls from {norm} to {now}");
            (objective, norm) = (model.training.objective, now);
        }
    }
}

/// Rows over pairs come from rows over items where items repeat, and straight from both sides where they do not.
/// The same pairs are put both ways: with unique items, and with a copy of each item for every pair that names it.
#[test]
fn items_that_repeat_and_copies_of_them_give_the_same_machine() {
    let shared = draw(25, 120);
    let rows = rows_of(&shared.set.items.features);
    let mut copies = Vec::new();
    let mut pairs = Vec::new();
    for p in &shared.set.pairs {
        pairs.push((copies.len() as u32, copies.len() as u32 + 1));
        copies.extend([rows[p.left as usize].clone(), rows[p.right as usize].clone()]);
    }
    let copied = comparisons(&copies, pairs, shared.outcomes.clone());
    let merged = PairSet::from_sides(
        &Features::dense(3, copies.iter().step_by(2).flatten().copied().collect(), Precision::F64).unwrap(),
        &Features::dense(3, copies.iter().skip(1).step_by(2).flatten().copied().collect(), Precision::F64).unwrap(),
        None,
    )
    .unwrap();
    assert!(merged.items.n_items() <= 25 && merged.pairs.len() == 120);
    for ask in asks() {
        let mut ask = ask.tol(1e-8);
        ask.threshold = ThresholdRule::Model;
        let (a, b) = (ask.model(&shared), ask.model(&copied));
        assert!((a.training.objective / b.training.objective - 1.0).abs() <= 2e-8, "{ask:?}");
        let (plain_a, plain_b) = (ask.objective(&a, &shared), ask.objective(&b, &copied));
        assert!((plain_a / a.training.objective - 1.0).abs() <= 1e-9, "{ask:?}");
        assert!((plain_b / b.training.objective - 1.0).abs() <= 1e-9, "{ask:?}");
        assert_same_machine(&ask, (&a, &shared), (&b, &copied));
    }
    assert!(shared.outcomes.contains(&Outcome::Tie));
}
