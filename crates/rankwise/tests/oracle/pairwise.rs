//! Pairs one by one: what is drawn, all of them as differences, and the example of the pairwise transform.

use std::collections::{BTreeMap, BTreeSet};

use rankwise::data::{
    Comparisons, Features, Groups, Items, Outcome, Pair, PairSet, Precision, Random, Ranking, drawn_pairs,
    pairwise_transform,
};
use rankwise::metrics::{ItemMetric, Ranked};
use rankwise::model::Balance;
use rankwise::{CompareRank, Loss, RankSvm, Ridge, Variant, io};

use crate::oracle::rank_items::{Drawn, Pairs, weights_of};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn drawn_pairs_are_of_one_group_and_of_different_labels() {
    for seed in 0..6 {
        let data = Drawn {
            n_labels: [2, 4, 0][seed % 3],
            is_weighted: seed % 2 == 1,
            per_group: 15,
            ..Drawn::new(seed as u64)
        }
        .ranking();
        let groups = data.groups.numbers();
        let weight = |i: u32| data.weight(i as usize) * data.group_weight(groups[i as usize] as usize);
        let partners = |i: usize| {
            (0..data.n_items())
                .filter(|&j| groups[i] == groups[j] && data.labels[i] != data.labels[j] && weight(j as u32) > 0.0)
                .count()
        };
        for k in [1, 3, 1000] {
            let pairs = drawn_pairs(&data, k, 8);
            for &Pair { left, right } in &pairs {
                assert_eq!(groups[left as usize], groups[right as usize]);
                assert!(data.labels[right as usize] > data.labels[left as usize], "the right item is the better one");
                assert!(weight(left) > 0.0 && weight(right) > 0.0);
            }
            let present = || (0..data.n_items()).filter(|&i| weight(i as u32) > 0.0);
            let expected: usize = present().map(|i| k.min(partners(i))).sum();
            assert_eq!(pairs.len(), expected);
            // No partner comes twice from the same draw: a pair is there at most twice.
            let mut counts: BTreeMap<Pair, usize> = BTreeMap::new();
            pairs.iter().for_each(|&pair| *counts.entry(pair).or_default() += 1);
            assert!(counts.values().all(|&n| n <= 2));
            if k == 1000 {
                assert!(counts.values().all(|&n| n == 2), "every pair from both sides");
                assert_eq!(counts.len(), Pairs::of(&data, Balance::None).list.len());
            }
            assert_eq!(pairs, drawn_pairs(&data, k, 8));
        }
        assert_ne!(drawn_pairs(&data, 2, 1), drawn_pairs(&data, 2, 2));
    }
}

#[test]
fn partners_are_drawn_uniformly() {
    // The item of label 1 has five partners; two are drawn.
    let items = Items::new(Features::dense(1, vec![0.0; 7], Precision::F64).unwrap(), None, None).unwrap();
    let data = Ranking::new(items, vec![0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0], None).unwrap();
    let (n_seeds, mut singles, mut doubles) = (20_000, BTreeMap::new(), BTreeMap::new());
    for seed in 0..n_seeds {
        // What item 2 has drawn comes in a row, in the order of labels: items 0 and 1 before it.
        let own: BTreeSet<u32> = drawn_pairs(&data, 2, seed)[4..6]
            .iter()
            .map(|pair| if pair.left == 2 { pair.right } else { pair.left })
            .collect();
        assert_eq!(own.len(), 2);
        own.iter().for_each(|&partner| *singles.entry(partner).or_insert(0) += 1);
        *doubles.entry(own).or_insert(0) += 1;
    }
    assert_eq!(singles.keys().copied().collect::<Vec<_>>(), [0, 1, 4, 5, 6]);
    assert_eq!(doubles.len(), 10);
    // Ten kinds, 2,000 each: five standard deviations are 212.
    assert!(doubles.values().all(|&n: &i32| (n - 2_000).abs() < 212), "{doubles:?}");
}

/// ½‖w‖² + C Σ c ℓ over drawn pairs.
fn objective(data: &Ranking, pairs: &[Pair], w: &[f64], c: f64, loss: Loss) -> f64 {
    let d = w.len();
    let rows = data.items.features.to_dense();
    let score = |i: u32| dot(&rows[i as usize * d..][..d], w);
    let group = data.groups.numbers();
    let of_pair = |pair: &Pair| {
        let cost = data.weight(pair.left as usize) * data.weight(pair.right as usize);
        let cost = cost * data.group_weight(group[pair.left as usize] as usize);
        cost * loss.value(1.0 - (score(pair.right) - score(pair.left)))
    };
    0.5 * dot(w, w) + c * pairs.iter().map(of_pair).sum::<f64>()
}

#[test]
fn fits_on_drawn_pairs_are_those_of_the_list() {
    for seed in 0..4u64 {
        let data =
            Drawn { n_labels: [3, 0][seed as usize % 2], is_weighted: seed > 1, per_group: 20, ..Drawn::new(seed) }
                .ranking();
        let pairs = drawn_pairs(&data, 3, 5);
        let groups = data.groups.numbers();
        let cost = |pair: &Pair| {
            data.weight(pair.left as usize)
                * data.weight(pair.right as usize)
                * data.group_weight(groups[pair.left as usize] as usize)
        };
        let judged = Comparisons::new(
            PairSet::new(data.items.clone(), pairs.clone()).unwrap(),
            vec![Outcome::Right; pairs.len()],
            Some(pairs.iter().map(cost).collect()),
            None,
        )
        .unwrap();
        for loss in Loss::ALL {
            let mut svm = RankSvm::new().c(0.3).loss(loss).tol(1e-7).pairs_per_item(Some(3));
            svm.effort.seed = 5;
            let model = svm.fit(&data).unwrap().model;
            let training = &model.training;
            assert_eq!((training.pairs, training.pairs_per_item), (pairs.len(), Some(3)));
            let own = objective(&data, &pairs, weights_of(&model), 0.3, loss);
            assert!((training.objective / own - 1.0).abs() < 1e-9, "{loss:?}");
            if loss != Loss::Logistic {
                let list = CompareRank::new(Variant::Rank).c(0.3).loss(loss).tol(1e-7).fit(&judged).unwrap().model;
                let ratio = training.objective / list.training.objective;
                assert!((ratio - 1.0).abs() < 1e-6, "{loss:?}: {ratio}");
            }
        }
    }
}

#[test]
fn all_partners_are_all_pairs_twice() {
    let data = Drawn { n_labels: 5, ..Drawn::new(2) }.ranking();
    for loss in Loss::ALL {
        let all = RankSvm::new().c(0.4).loss(loss).tol(1e-7).fit(&data).unwrap().model.training;
        let drawn =
            RankSvm::new().c(0.2).loss(loss).tol(1e-7).pairs_per_item(Some(50)).fit(&data).unwrap().model.training;
        assert!((drawn.objective / all.objective - 1.0).abs() < 1e-6, "{loss:?}");
        assert_eq!(drawn.pairs, 2 * all.pairs);
    }
    let hard = Drawn { noise: 0.0, n_labels: 0, ..Drawn::new(1) }.ranking();
    let margin = |k: Option<usize>| {
        RankSvm::new().c(f64::INFINITY).tol(1e-5).pairs_per_item(k).fit(&hard).unwrap().model.training.margin.unwrap()
    };
    assert!((margin(None) / margin(Some(99)) - 1.0).abs() < 1e-4);
    assert!(margin(Some(1)) > margin(None), "fewer pairs leave more room");
}

#[test]
fn more_partners_rank_better_and_threads_do_not_matter() {
    let accuracy = |k: usize, seed: u64| {
        let drawn =
            Drawn { n_groups: 40, per_group: 12, n_cols: 20, n_labels: 5, noise: 2.0, ..Drawn::new(seed) }.ranking();
        let is_train = |i: &usize| drawn.groups.numbers()[*i] < 15;
        let (train, test): (Vec<usize>, Vec<usize>) = (0..drawn.n_items()).partition(is_train);
        let (train, test) = (drawn.select(&train), drawn.select(&test));
        // C times the number of pairs stays the same.
        let model = RankSvm::new().c(0.1 / k as f64).pairs_per_item(Some(k)).fit(&train).unwrap().model;
        let scores = model.scorer.scores(&test.items).unwrap();
        let ranked = Ranked::new(&test.labels, &scores, &test.groups).unwrap();
        ItemMetric::parse("pair_accuracy").unwrap().of(&ranked).unwrap().value.unwrap()
    };
    let mean = |k: usize| (0..20).map(|seed| accuracy(k, seed)).sum::<f64>() / 20.0;
    let (one, five) = (mean(1), mean(5));
    assert!(five > one + 0.005, "{one} with one partner, {five} with five");

    let large = Drawn { n_groups: 30, per_group: 300, n_cols: 30, n_labels: 0, ..Drawn::new(1) }.ranking();
    let svm = RankSvm::new().c(1e-3).pairs_per_item(Some(4));
    let bytes = |threads| io::model_to_bytes(&svm.clone().threads(threads).fit(&large).unwrap().model).unwrap();
    assert_eq!(bytes(1), bytes(3));
}

#[test]
fn the_transform_has_every_pair_once_with_classes_in_balance() {
    for seed in 0..4u64 {
        let data = Drawn {
            n_labels: [3, 0][seed as usize % 2],
            is_sparse: seed > 1,
            is_weighted: seed % 2 == 1,
            ..Drawn::new(seed)
        }
        .ranking();
        let transformed = pairwise_transform(&data, 10_000).unwrap();
        let n = transformed.labels.len();
        let rows = transformed.features.to_dense();
        let pairs = Pairs::of(&data, Balance::None);
        assert_eq!(n, pairs.list.len());
        assert!(transformed.labels.iter().enumerate().all(|(k, &y)| y == [1.0, -1.0][k % 2]));
        assert_eq!(transformed.features.is_sparse(), seed > 1);
        // As a set of (better − worse, cost): what the definition lists.
        let key = |d: Vec<f64>, cost: f64| -> Vec<i64> {
            d.into_iter().chain([cost]).map(|x| (x * 1e9).round() as i64).collect()
        };
        let found: BTreeSet<Vec<i64>> = (0..n)
            .map(|k| {
                let row = rows[k * 5..][..5].iter().map(|x| x * transformed.labels[k]).collect();
                key(row, transformed.weights.as_ref().map_or(1.0, |w| w[k]))
            })
            .collect();
        let listed: BTreeSet<Vec<i64>> = pairs.list.iter().map(|(d, cost)| key(d.clone(), *cost)).collect();
        assert_eq!(found, listed);
        // A classifier without a bias on these rows is the ranking SVM.
        let model = RankSvm::new().c(0.3).tol(1e-9).fit(&data).unwrap().model;
        let w = weights_of(&model);
        let losses: f64 = (0..n)
            .map(|k| {
                let margin = transformed.labels[k] * dot(w, &rows[k * 5..][..5]);
                transformed.weights.as_ref().map_or(1.0, |w| w[k]) * Loss::SquaredHinge.value(1.0 - margin)
            })
            .sum();
        assert!((0.5 * dot(w, w) + 0.3 * losses - model.training.objective).abs() < 1e-9 * model.training.objective);
        // And judged pairs of the same items give the same machine.
        let set = PairSet::new(data.items.clone(), transformed.pairs.clone()).unwrap();
        let outcomes =
            transformed.labels.iter().map(|&y| if y > 0.0 { Outcome::Left } else { Outcome::Right }).collect();
        let judged = Comparisons::new(set, outcomes, transformed.weights.clone(), None).unwrap();
        let listed = CompareRank::new(Variant::Rank).c(0.3).tol(1e-9).fit(&judged).unwrap().model;
        assert!((listed.training.objective / model.training.objective - 1.0).abs() < 1e-7);
    }
}

#[test]
fn too_many_pairs_are_refused_with_their_number() {
    let data = Drawn { n_groups: 1, per_group: 100, n_labels: 0, ..Drawn::new(1) }.ranking();
    let error = pairwise_transform(&data, 4949).unwrap_err().to_string();
    assert!(error.contains("4950 rows") && error.contains("4949") && error.contains("RankSvm"), "{error}");
    assert_eq!(pairwise_transform(&data, 4950).unwrap().pairs.len(), 4950);
}

/// Two blocks of thirty items with three grades along one direction, the second one moved away: the example of the pairwise
/// transform (Pedregosa, 2012). Returns Kendall's τ on block 0 of held-out halves, of the ranking SVM and of ridge regression.
fn two_blocks(seed: u64) -> (f64, f64) {
    let mut random = Random::new(seed);
    let (sin, cos) = 60f64.to_radians().sin_cos();
    let (mut values, mut labels, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
    for item in 0..60 {
        let grade = f64::from(item / 20);
        // Every other item belongs to the block that lies elsewhere.
        let (dx, dy) = if item % 2 == 0 { (3.0, 7.0) } else { (0.0, 0.0) };
        values.extend([random.normal() + 4.0 * grade * sin - dx, random.normal() + 4.0 * grade * cos - dy]);
        labels.push(grade);
        blocks.push(format!("{}", item % 2));
    }
    let items = Items::new(Features::dense(2, values, Precision::F64).unwrap(), None, None).unwrap();
    let data = Ranking::new(items, labels, Some(Groups::from_ids(&blocks))).unwrap();
    // Half of every grade to learn from.
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for grade in 0..3 {
        let mut members: Vec<usize> = (20 * grade..20 * grade + 20).collect();
        random.shuffle(&mut members);
        train.extend(&members[..10]);
        test.extend(members[10..].iter().filter(|&&item| item % 2 == 0));
    }
    let (train, test) = (data.select(&train), data.select(&test));
    let rank = RankSvm::new().c(0.1).loss(Loss::Hinge).fit(&train).unwrap().model;
    // α = 1 of the example is C = ½.
    let ridge = Ridge::new().c(0.5).fit(&train).unwrap().model;
    let tau = |model: &rankwise::Model| {
        let scores = model.scorer.scores(&test.items).unwrap();
        let ranked = Ranked::new(&test.labels, &scores, &test.groups).unwrap();
        ItemMetric::parse("kendall_tau").unwrap().of(&ranked).unwrap().value.unwrap()
    };
    (tau(&rank), tau(&ridge))
}

#[test]
fn ranking_within_blocks_beats_regression_across_them() {
    let taus: Vec<(f64, f64)> = (0..1000).map(two_blocks).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| taus.iter().map(of).sum::<f64>() / taus.len() as f64;
    let (rank, ridge) = (mean(|t| t.0), mean(|t| t.1));
    assert!(rank > ridge + 0.02, "τ {rank} of the ranking SVM, {ridge} of ridge regression");
}
