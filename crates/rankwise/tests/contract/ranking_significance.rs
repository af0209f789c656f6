//! Intervals and tests over groups: against all ways to swap, against what is known, and whatever the threads.

use rankwise::data::{Groups, Random};
use rankwise::metrics::{Bootstrap, ItemMetric, PairedTest, Ranked};

use crate::oracle::ranking_metrics::{Case, random_case};

fn metric(name: &str) -> ItemMetric {
    ItemMetric::parse(name).unwrap()
}

fn test(name: &str, first: &Case, second: &Case) -> Option<PairedTest> {
    PairedTest::of(&metric(name), &first.ranked(), &second.ranked(), &Bootstrap::default()).unwrap()
}

/// One relevant item and one that is not, the relevant one on top where `hits` says so: `precision@1` is 1 or 0.
fn coins(hits: impl Iterator<Item = bool>) -> Case {
    let scores: Vec<f64> = hits.flat_map(|hit| if hit { [1.0, 0.0] } else { [0.0, 1.0] }).collect();
    let n = scores.len();
    Case {
        labels: (0..n).map(|item| (1 - item % 2) as f64).collect(),
        scores,
        groups: Groups::from_ids((0..n).map(|item| (item / 2).to_string())),
        weights: None,
        group_weights: None,
        ids: (0..n).map(|item| item.to_string()).collect(),
    }
}

#[test]
fn a_p_value_is_the_share_of_swaps_that_differ_as_much() {
    let mut random = Random::new(4);
    let (mut n_compared, mut n_small) = (0, 0);
    for _ in 0..40 {
        let n_groups = 1 + random.below(7);
        let first = random_case(&mut random, 6 * n_groups, n_groups);
        let noise: Vec<f64> = (0..first.labels.len()).map(|_| random.below(3) as f64).collect();
        let second = Case {
            scores: first.labels.iter().zip(&noise).map(|(label, noise)| label + noise).collect(),
            ..first.clone()
        };
        for name in ["pair_accuracy", "concordance", "kendall_tau", "ndcg@3", "map", "precision@2", "err@3", "mrr:trec"]
        {
            let values = [&first, &second].map(|case| metric(name).per_group(&case.ranked()).unwrap());
            let found = test(name, &first, &second);
            let Some(found) = found else {
                assert!(values[0].iter().all(Option::is_none), "{name}");
                continue;
            };
            // All ways to swap the scores of whole groups, measured from the start.
            let difference = |way: usize| {
                let is_swapped = |item: usize| way >> first.groups.numbers()[item] & 1 == 1;
                let swapped = |one: &Case, other: &Case| Case {
                    scores: (0..one.scores.len())
                        .map(|item| if is_swapped(item) { other.scores[item] } else { one.scores[item] })
                        .collect(),
                    ..one.clone()
                };
                swapped(&first, &second).of(name).value.unwrap() - swapped(&second, &first).of(name).value.unwrap()
            };
            let as_large = (0..1 << n_groups).filter(|&way| difference(way).abs() >= difference(0).abs() - 1e-12);
            let expected = as_large.count() as f64 / f64::from(1 << n_groups);
            assert!((found.p_value - expected).abs() < 1e-12, "{name}: {found:?}, not {expected}: {first:?}");
            assert!((found.difference - difference(0)).abs() < 1e-12 && found.is_exact, "{name}: {found:?}");
            assert_eq!(found.n_groups, values[0].iter().flatten().count());
            assert_eq!(found.interval.is_some(), found.n_groups > 1);
            n_compared += 1;
            n_small += usize::from(found.p_value < 0.2);
        }
    }
    assert!(n_compared > 200 && n_small > 10, "{n_compared}, {n_small}");
}

#[test]
fn many_groups_are_swapped_at_random() {
    // Of 40 groups the models differ on 30, where the first is right 21 times: 2·P(at least 21 of 30 coins) = 0.0428.
    let first = coins((0..40).map(|group| !(21..30).contains(&group)));
    let second = coins((0..40).map(|group| group >= 21));
    let found = test("precision@1", &first, &second).unwrap();
    assert!((found.p_value - 0.0428).abs() < 0.008 && !found.is_exact, "{found:?}");
    assert!((found.difference - 12.0 / 40.0).abs() < 1e-12 && found.n_groups == 40, "{found:?}");
    let interval = found.interval.unwrap();
    assert!(interval.low < 0.3 && 0.3 < interval.high && interval.low > -0.1, "{interval:?}");
    let turned = test("precision@1", &second, &first).unwrap();
    assert_eq!((turned.difference, turned.p_value), (-found.difference, found.p_value));
    // Groups on which they do not differ change no p-value, and leave it exact.
    let few =
        test("precision@1", &coins((0..50).map(|group| group < 45)), &coins((0..50).map(|group| group < 40))).unwrap();
    assert!(few.is_exact && (few.p_value - 2.0 / 32.0).abs() < 1e-12, "{few:?}");
    // Better everywhere: the way that was found is one of them.
    let best = test("precision@1", &coins((0..60).map(|_| true)), &coins((0..60).map(|_| false))).unwrap();
    assert_eq!((best.difference, best.p_value), (1.0, 1.0 / 10_001.0));
    let same = test("concordance", &first, &first).unwrap();
    assert_eq!((same.difference, same.p_value, same.is_exact), (0.0, 1.0, true));
    let other_groups = coins((0..3).map(|_| true));
    let error = PairedTest::of(&metric("map"), &first.ranked(), &other_groups.ranked(), &Bootstrap::default());
    assert!(error.unwrap_err().to_string().contains("same data"));
}

#[test]
fn intervals_over_groups_hold_the_truth_about_as_often_as_they_say() {
    let mut random = Random::new(21);
    let (truth, n_sets, mut n_covered, mut width) = (0.3, 200, 0, 0.0);
    for set in 0..n_sets {
        let case = coins((0..150).map(|_| random.uniform() < truth));
        let mut bootstrap = Bootstrap::new(set);
        bootstrap.n_resamples = 300;
        // With one pair a group, pooled pairs and the mean over groups are the same.
        let [interval, pooled] = ["precision@1", "pair_accuracy"]
            .map(|name| bootstrap.interval_over_groups(&metric(name), &case.ranked()).unwrap().unwrap());
        assert_eq!(interval, pooled);
        n_covered += usize::from((interval.low..=interval.high).contains(&truth));
        width += (interval.high - interval.low) / n_sets as f64;
    }
    assert!((180..=199).contains(&n_covered), "{n_covered} of {n_sets}");
    // ± 1.96 · √(0.3 · 0.7 / 150)
    assert!((width - 0.1467).abs() < 0.01, "{width}");
}

#[test]
fn a_pooled_interval_weighs_groups_by_their_pairs() {
    // One group with 10,000 pairs all right, one with a single pair that is wrong: resamples are 0, nearly 1, or 1.
    let labels: Vec<f64> = (0..200).map(|item| f64::from(u8::from(item < 100))).chain([1.0, 0.0]).collect();
    let scores: Vec<f64> = labels[..200].iter().copied().chain([0.0, 1.0]).collect();
    let groups = Groups::from_ids((0..202).map(|item| if item < 200 { "large" } else { "small" }));
    let ranked = Ranked::new(&labels, &scores, &groups).unwrap();
    let bootstrap = Bootstrap::default();
    let interval = |level: f64, name: &str| {
        let mut with = bootstrap;
        with.level = level;
        with.interval_over_groups(&metric(name), &ranked).unwrap().unwrap()
    };
    let (half, whole) = (interval(0.3, "pair_accuracy"), interval(0.95, "pair_accuracy"));
    assert_eq!((half.low, half.high), (10_000.0 / 10_001.0, 10_000.0 / 10_001.0));
    assert_eq!((whole.low, whole.high, whole.n_undefined), (0.0, 1.0, 0));
    let half = interval(0.3, "kendall_tau");
    assert_eq!((half.low, half.high), (0.0, 0.0));
    // A single group says nothing about others.
    let alone = ranked.with_group_weights(&[1.0, 0.0]).unwrap();
    assert_eq!(bootstrap.interval_over_groups(&metric("map"), &alone).unwrap(), None);
}

#[test]
fn threads_do_not_matter_and_the_seed_does() {
    let mut random = Random::new(8);
    let mut scores = || (0..600).map(|_| random.normal()).collect::<Vec<_>>();
    let first = Case {
        labels: (0..600).map(|item| f64::from(item % 7 % 4)).collect(),
        scores: scores(),
        groups: Groups::from_ids((0..600).map(|item| (item % 60).to_string())),
        weights: None,
        group_weights: None,
        ids: (0..600).map(|item| item.to_string()).collect(),
    };
    let second = Case { scores: scores(), ..first.clone() };
    let with = |n_threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let bootstrap = Bootstrap::new(seed);
            ["concordance", "ndcg@5"].map(|name| {
                let interval = bootstrap.interval_over_groups(&metric(name), &first.ranked()).unwrap();
                (interval, PairedTest::of(&metric(name), &first.ranked(), &second.ranked(), &bootstrap).unwrap())
            })
        })
    };
    let alone = with(1, 3);
    assert!(alone.iter().all(|(interval, test)| interval.is_some() && test.is_some_and(|test| !test.is_exact)));
    assert_eq!(alone, with(4, 3));
    assert_ne!(alone, with(1, 4));
    let mut bootstrap = Bootstrap::default();
    bootstrap.level = 1.5;
    assert!(bootstrap.interval_over_groups(&metric("map"), &first.ranked()).is_err());
    assert!(PairedTest::of(&metric("map"), &first.ranked(), &second.ranked(), &bootstrap).is_err());
}
