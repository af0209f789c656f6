//! What every metric of ranked items keeps to: bounds, invariances, weights, names, errors.

use rankwise::Error;
use rankwise::data::{Groups, Random};
use rankwise::metrics::{ItemMetric, Measured, Ranked};

use crate::oracle::ranking_metrics::{
    AVERAGED, CORRELATIONS, Case, ORDERED, PAIR_METRICS, all_names, cases, close, one_group,
};

#[test]
fn values_are_bounded_and_a_perfect_order_is_best() {
    for case in cases(6, 200, 25) {
        let perfect = case.with_scores(|item| case.labels[item] * 2.0 - 1.0);
        // Equal labels apart, too: the order of labels is all that counts.
        let separated = case.with_scores(|item| case.labels[item] + item as f64 * 1e-3);
        for name in all_names() {
            let lowest = if CORRELATIONS.contains(&name) { -1.0 } else { 0.0 };
            let value = case.of(name).value;
            assert!(value.is_none_or(|value| (lowest..=1.0).contains(&value)), "{name}: {value:?}: {case:?}");
            let (best, apart) = (perfect.of(name).value, separated.of(name).value);
            let sign = if ItemMetric::parse(name).unwrap().greater_is_better() { 1.0 } else { -1.0 };
            let is_no_better = |other: Option<f64>| match (other, best) {
                (Some(other), Some(best)) => sign * other <= sign * best + 1e-12,
                (other, best) => other == best,
            };
            assert!(is_no_better(value), "{name}: {value:?} beats {best:?}: {case:?}");
            assert!(is_no_better(apart) || name == "kendall_tau_a", "{name}: {apart:?} beats {best:?}: {case:?}");
            if PAIR_METRICS.contains(&name) {
                let exactly = if name == "swapped_pairs" { 0.0 } else { 1.0 };
                assert!(best.is_none_or(|best| best == exactly), "{name}: {best:?}: {case:?}");
            }
            if name.starts_with("kendall_tau") && name.len() == 11
                || name == "spearman"
                || name == "ndcg"
                || name == "map"
            {
                assert!(best.is_none_or(|best| (best - 1.0).abs() < 1e-12), "{name}: {best:?}: {case:?}");
            }
        }
    }
}

#[test]
fn only_the_order_of_scores_matters() {
    for case in cases(7, 150, 25) {
        let cubed = case.with_scores(|item| case.scores[item].powi(3));
        let scaled = case.with_scores(|item| 1024.0 * case.scores[item] + 1.0);
        for name in all_names() {
            assert_eq!(case.of(name), cubed.of(name), "{name}: {case:?}");
            assert_eq!(case.of(name), scaled.of(name), "{name}: {case:?}");
        }
    }
}

#[test]
fn the_order_of_items_does_not_matter() {
    let mut random = Random::new(9);
    for case in cases(8, 150, 25) {
        let mut items: Vec<usize> = (0..case.n_items()).collect();
        random.shuffle(&mut items);
        let shuffled = case.pick(&items);
        let by_id = ["ndcg@3:trec", "map:trec", "mrr:trec", "precision@3:trec:rel=2"];
        for name in PAIR_METRICS.into_iter().chain(CORRELATIONS).chain(AVERAGED).chain(by_id) {
            let [here, there] = [&case, &shuffled].map(|case| case.of(name));
            assert!(close(here.value, there.value), "{name}: {here:?}, {there:?}: {case:?}");
            assert_eq!((here.n_groups, here.n_skipped), (there.n_groups, there.n_skipped));
        }
    }
}

#[test]
fn weight_zero_is_absent_and_a_group_of_weight_two_counts_twice() {
    for case in cases(10, 200, 20) {
        let kept: Vec<usize> = (0..case.groups.len()).flat_map(|group| case.members(group)).collect();
        let mut kept_in_order = kept.clone();
        kept_in_order.sort_unstable();
        let present = case.pick(&kept_in_order);
        // Every group once more, under another name.
        let n_groups = case.groups.len();
        let twice: Vec<usize> = (0..case.n_items()).chain(0..case.n_items()).collect();
        let mut doubled = case.pick(&twice);
        let names = (0..2 * n_groups).map(|group| format!("g{group}")).collect();
        let shift = |at: usize| if at < case.n_items() { 0 } else { n_groups as u32 };
        let numbers = doubled.groups.numbers().iter().enumerate().map(|(at, &group)| group + shift(at)).collect();
        doubled.groups = Groups::from_numbers(numbers, names).unwrap();
        doubled.group_weights = None;
        let weigh = |weight: f64, n: usize| Case { group_weights: Some(vec![weight; n]), ..case.clone() };
        for name in all_names() {
            assert_eq!(case.of(name).value, present.of(name).value, "{name}: {case:?}");
            let [once, two, halves] =
                [&doubled, &weigh(2.0, n_groups), &weigh(0.5, n_groups)].map(|case| case.of(name).value);
            assert!(close(once, two) && close(two, halves), "{name}: {once:?}, {two:?}, {halves:?}: {case:?}");
        }
    }
}

#[test]
fn item_weight_two_is_twice_for_metrics_of_pairs() {
    let mut random = Random::new(12);
    for case in cases(11, 200, 20) {
        let times: Vec<usize> = (0..case.n_items()).map(|_| random.below(4)).collect();
        let weighted = Case { weights: Some(times.iter().map(|&n| n as f64).collect()), ..case.clone() };
        let copies: Vec<usize> = (0..case.n_items()).flat_map(|item| vec![item; times[item]]).collect();
        let repeated = Case { weights: None, ..case.pick(&copies) };
        for name in PAIR_METRICS.into_iter().chain(["kendall_tau", "spearman"]) {
            let [here, there] = [&weighted, &repeated].map(|case| case.of(name).value);
            assert!(close(here, there), "{name}: {here:?}, {there:?}: {case:?}");
        }
    }
}

#[test]
fn a_random_order_gets_the_mean_over_all_orders() {
    for case in cases(13, 60, 12) {
        let flat =
            case.with_scores(|item| if case.scores[item] == f64::NEG_INFINITY { f64::NEG_INFINITY } else { 0.0 });
        for name in all_names() {
            let metric = ItemMetric::parse(name).unwrap();
            let found = metric.of_random_order(&case.ranked()).unwrap();
            if ["pair_accuracy", "swapped_pairs"].contains(&name) {
                let concordance = flat.of("concordance").value;
                let share = if name == "pair_accuracy" { concordance } else { concordance.map(|share| 1.0 - share) };
                assert_eq!(found.value, share, "{name}: {case:?}");
                continue;
            }
            if !ORDERED.contains(&name) {
                assert_eq!(found, flat.of(name), "{name}: {case:?}");
                continue;
            }
            // The mean over random orders of the data.
            let mut random = Random::new(1);
            let (mut mean, n_orders) = (0.0, 400);
            for _ in 0..n_orders {
                let mut ids = case.ids.clone();
                random.shuffle(&mut ids);
                let mut items: Vec<usize> = (0..case.n_items()).collect();
                random.shuffle(&mut items);
                let shuffled = Case { ids, ..flat.clone() }.pick(&items);
                mean += shuffled.of(name).value.unwrap_or(0.0) / f64::from(n_orders);
            }
            assert!((found.value.unwrap_or(0.0) - mean).abs() < 0.1, "{name}: {found:?}, {mean}: {case:?}");
        }
    }
}

#[test]
fn hand_computed_lists() {
    let value = |case: &Case, name: &str| case.of(name).value.unwrap();
    let near = |a: f64, b: f64| assert!((a - b).abs() < 5e-5, "{a}, not {b}");
    // Published values of the tools on three small lists.
    let first = one_group(&[3.0, 2.0, 0.0, 1.0], &[0.1, 0.9, 0.8, 0.2]);
    let second = one_group(&[0.0, 1.0, 0.0, 0.0], &[1.0; 4]);
    let third = one_group(&[0.0, 0.0, 1.0, 0.0], &[1.0; 4]);
    for (tool, on_first, on_second, on_third) in [
        ("sklearn", 0.7963, 0.6404, 0.6404),
        ("lightgbm", 0.6936, 0.6309, 0.5),
        ("xgboost", 0.6936, 0.6309, 0.5),
        ("trec", 0.7963, 0.5, 0.6309),
    ] {
        near(value(&first, &format!("ndcg:{tool}")), on_first);
        near(value(&second, &format!("ndcg:{tool}")), on_second);
        near(value(&third, &format!("ndcg:{tool}")), on_third);
    }
    near(value(&first, "ndcg"), 0.6936);
    let nothing = one_group(&[0.0; 3], &[3.0, 2.0, 1.0]);
    assert_eq!(nothing.of("ndcg"), Measured { value: None, n_groups: 1, n_skipped: 1 });
    for (tool, expected) in [("sklearn", 0.0), ("lightgbm", 1.0), ("xgboost", 1.0), ("letor", 0.0), ("trec", 0.0)] {
        assert_eq!(value(&nothing, &format!("ndcg@2:{tool}")), expected, "{tool}");
    }
    // Relevant at ranks 1 and 3 of 4: (1 + 2/3)/2.
    let list = one_group(&[1.0, 0.0, 2.0, 0.0], &[4.0, 3.0, 2.0, 1.0]);
    near(value(&list, "map"), 5.0 / 6.0);
    near(value(&list, "mrr:rel=2"), 1.0 / 3.0);
    near(value(&list, "precision@3"), 2.0 / 3.0);
    near(value(&list, "precision@10"), 0.2);
    // R = ¼, 0, ¾: ¼ + ¾·¾/3.
    near(value(&list, "err@3"), 0.25 + 0.75 * 0.75 / 3.0);
    near(value(&list, "err@2"), 0.25);
    // Pairs (2,1), (2,0), (2,0), (1,0), (1,0): 3 right. Of the 6 pairs one has equal labels.
    near(value(&list, "pair_accuracy"), 3.0 / 5.0);
    near(value(&list, "kendall_tau_a"), 1.0 / 6.0);
    near(value(&list, "kendall_tau"), 1.0 / 30f64.sqrt());
    // LETOR: gains 1, 0, 3 with discounts 1, 1, 1/log₂3, best 3 + 1.
    near(value(&list, "ndcg@3:letor"), (1.0 + 3.0 / 3f64.log2()) / 4.0);
    assert_eq!(value(&list, "ndcg@5:letor"), 0.0);
    // A judged item that was not retrieved counts against the ideal alone.
    let missed = one_group(&[1.0, 0.0, 1.0], &[2.0, 1.0, f64::NEG_INFINITY]);
    near(value(&missed, "map"), 0.5);
    near(value(&missed, "ndcg"), 1.0 / (1.0 + 1.0 / 3f64.log2()));
    near(value(&missed, "pair_accuracy"), 0.5);
    // Zeros of both signs are equal scores.
    let zeros = one_group(&[1.0, 0.0], &[-0.0, 0.0]);
    assert_eq!(value(&zeros, "concordance"), 0.5);
    assert_eq!(value(&zeros, "ndcg@1:xgboost"), 1.0);
}

#[test]
fn names_are_read_and_printed_back() {
    for name in all_names().chain(["ndcg@10:trec", "map:rel=2:letor", "map:letor:rel=0.5", "err@1000"]) {
        let metric: ItemMetric = name.parse().unwrap();
        assert_eq!((metric.to_string().as_str(), metric.name()), (name, name));
        assert_eq!(metric.greater_is_better(), name != "swapped_pairs");
    }
    let fault = |name: &str| match ItemMetric::parse(name) {
        Err(error @ Error::Parameter { name: "metric", .. }) => error.to_string(),
        other => panic!("{name}: {other:?}"),
    };
    for (name, expected) in [
        ("", "pair_accuracy"),
        ("accuracy", "one of pair_accuracy, swapped_pairs"),
        ("NDCG", "ndcg@K"),
        ("ndcg@", "ndcg@10"),
        ("ndcg@0", "from 1 on"),
        ("ndcg@-1", "from 1 on"),
        ("ndcg@ten", "from 1 on"),
        ("map@10", "map without @"),
        ("precision", "precision@10"),
        ("err", "err@10"),
        ("err@1001", "at most 1000"),
        ("err@10:rel=2", "err with nothing after it"),
        ("ndcg@10:rel=2", "sklearn, lightgbm, xgboost, letor, trec"),
        ("ndcg@10:catboost", "one of sklearn"),
        ("ndcg:trec:letor", "each kind once"),
        ("ndcg@10:", "one of sklearn"),
        ("map:rel=", "rel=X"),
        ("map:rel=nan", "rel=X"),
        ("map:rel=1:rel=2", "each kind once"),
        ("map:sklearn", "letor, trec"),
        ("mrr:letor", "rel=X with X a number, trec"),
        ("kendall_tau:trec", "kendall_tau with nothing"),
    ] {
        let message = fault(name);
        assert!(message.contains(expected) && message.contains(&format!("`{name}`")), "{name}: {message}");
    }
}

#[test]
fn labels_without_a_meaning_are_errors() {
    let message = |labels: &[f64], name: &str| {
        let case = one_group(labels, &vec![0.0; labels.len()]);
        let metric = ItemMetric::parse(name).unwrap();
        let [of, of_random_order] = [metric.of(&case.ranked()), metric.of_random_order(&case.ranked())];
        assert_eq!(of.is_ok(), of_random_order.is_ok());
        of.err().map(|error| error.to_string())
    };
    let fails = |labels: &[f64], name: &str, expected: &str| {
        let message = message(labels, name).unwrap();
        assert!(message.contains(expected) && message.contains("kendall_tau"), "{message}");
    };
    for name in ["ndcg@10", "ndcg:sklearn", "ndcg:lightgbm", "ndcg:letor", "err@5"] {
        fails(&[0.0, -1.0], name, "label -1");
    }
    fails(&[0.0, 1024.0], "ndcg@10", "ndcg:sklearn");
    fails(&[0.0, 1023.9], "ndcg@10", "finite");
    fails(&[0.5], "ndcg:lightgbm", "whole");
    fails(&[31.0], "ndcg:lightgbm", "label 31");
    fails(&[32.0], "ndcg:xgboost", "label 32");
    for (labels, name) in [
        (&[-1.0, 2.0][..], "ndcg:trec"),
        (&[30.0], "ndcg:lightgbm"),
        (&[31.0, 0.0], "ndcg:xgboost"),
        (&[1e6, 0.5], "ndcg:sklearn"),
        (&[1e6, 0.5], "err@3"),
        (&[-1.0, 0.5], "map"),
        (&[-1.0, 0.5], "kendall_tau"),
    ] {
        assert_eq!(message(labels, name), None, "{name}");
    }
    // What is absent is not looked at.
    let mut case = one_group(&[-1.0, 1.0, 0.0], &[0.0; 3]);
    case.weights = Some(vec![0.0, 1.0, 1.0]);
    assert!(case.of("ndcg@10").value.is_some());
    // TREC's order of ties needs ids.
    let groups = Groups::single(2);
    let ranked = Ranked::new(&[0.0, 1.0], &[1.0, 1.0], &groups).unwrap();
    let error = ItemMetric::parse("map:trec").unwrap().of(&ranked).unwrap_err();
    assert!(error.to_string().contains("ids"), "{error}");
}

#[test]
fn numbers_that_are_none_are_errors() {
    let groups = Groups::single(2);
    let name_of = |labels: &[f64], scores: &[f64]| match Ranked::new(labels, scores, &groups) {
        Err(Error::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(name_of(&[f64::NAN, 1.0], &[0.0, 1.0]), "labels");
    assert_eq!(name_of(&[f64::INFINITY, 1.0], &[0.0, 1.0]), "labels");
    assert_eq!(name_of(&[0.0, 1.0], &[0.0, f64::NAN]), "scores");
    assert_eq!(name_of(&[0.0, 1.0], &[0.0]), "scores");
    assert_eq!(name_of(&[0.0], &[0.0]), "groups");
    let ranked = Ranked::new(&[0.0, 1.0], &[0.0, f64::INFINITY], &groups).unwrap();
    for weights in [&[1.0, -1.0][..], &[1.0, f64::NAN], &[1.0]] {
        assert!(ranked.clone().with_weights(weights).is_err());
    }
    assert!(ranked.clone().with_group_weights(&[1.0, 1.0]).is_err());
    assert!(ranked.clone().with_ids(&["a".to_string()]).is_err());
    let heavy = ranked.with_weights(&[1e200, 1e200]).unwrap();
    let error = ItemMetric::parse("concordance").unwrap().of(&heavy).unwrap_err();
    assert!(error.to_string().contains("divide"), "{error}");
}

#[test]
fn the_usual_metrics_follow_the_labels() {
    let names = |labels: &[f64]| {
        let case = one_group(labels, &vec![0.0; labels.len()]);
        let usual = ItemMetric::usual(&case.ranked());
        assert!(usual.iter().all(|metric| metric.of(&case.ranked()).is_ok()));
        usual.iter().map(|metric| metric.name().to_string()).collect::<Vec<_>>()
    };
    let graded = ["pair_accuracy", "ndcg@10", "map", "mrr", "precision@10", "err@10", "kendall_tau"];
    let real = ["pair_accuracy", "concordance", "kendall_tau", "spearman"];
    assert_eq!(names(&[0.0, 31.0, 2.0]), graded);
    for labels in [&[0.0, 0.5][..], &[-1.0, 1.0], &[32.0]] {
        assert_eq!(names(labels), real);
    }
}
