//! Comparers do not depend on the order of rows or items, nor on which side is which: not in their last digit, but for pairs that
//! are so many beside their items that linear machines do not copy them.

use rankwise::data::{Comparisons, Context, Features, Groups, Items, Outcome, Pair, PairSet, Precision, Random, Scale};
use rankwise::io::model_to_bytes;
use rankwise::model::ThresholdRule;
use rankwise::selection::{Grid, Split, Tuner};
use rankwise::{CompareLp, CompareRank, CompareSvm, Davidson, Kernel, Loss, Model, Unwatched, Variant};

/// Judged pairs of items whose features have very different sizes; many are the same whole numbers.
fn drawn(seed: u64, n_items: usize, n_pairs: usize) -> Comparisons {
    let mut random = Random::new(seed);
    let sizes = [1.0, 30.0, 0.1];
    let values: Vec<f64> = (0..3 * n_items).map(|at| sizes[at % 3] * (4.0 * random.normal()).round()).collect();
    let score = |item: usize| values[3 * item] + values[3 * item + 1] / 30.0 - 5.0 * values[3 * item + 2];
    let pairs: Vec<Pair> = (0..n_pairs)
        .map(|_| Pair { left: random.below(n_items) as u32, right: random.below(n_items) as u32 })
        .collect();
    let outcomes = pairs.iter().map(|pair| {
        let lead = score(pair.right as usize) - score(pair.left as usize) + 4.0 * random.normal();
        Outcome::of_margin(lead, 4.0)
    });
    let outcomes = outcomes.collect();
    let items = Items::new(Features::dense(3, values, Precision::F64).unwrap(), None, None).unwrap();
    Comparisons::new(PairSet::new(items, pairs).unwrap(), outcomes, None, None).unwrap()
}

/// The same with rows and items in another order and some sides exchanged.
fn shuffled(data: &Comparisons, seed: u64) -> Comparisons {
    let mut random = Random::new(seed);
    let (mut rows, mut items): (Vec<usize>, Vec<usize>) =
        ((0..data.n_pairs()).collect(), (0..data.set.items.n_items()).collect());
    random.shuffle(&mut rows);
    random.shuffle(&mut items);
    let mut place = vec![0; items.len()];
    items.iter().enumerate().for_each(|(new, &old)| place[old] = new as u32);
    let (mut pairs, mut outcomes) = (Vec::new(), Vec::new());
    for &row in &rows {
        let Pair { left, right } = data.set.pairs[row];
        let (left, right) = (place[left as usize], place[right as usize]);
        let is_exchanged = random.below(2) == 0;
        pairs.push(if is_exchanged { Pair { left: right, right: left } } else { Pair { left, right } });
        outcomes.push(if is_exchanged { data.outcomes[row].swapped() } else { data.outcomes[row] });
    }
    let features = data.set.items.features.select_rows(&items);
    let mut set = PairSet::new(Items::new(features, None, None).unwrap(), pairs).unwrap();
    if let Some(context) = &data.set.context {
        let features = context.features.select_rows(&rows);
        set = set.with_context(Context { features, names: context.names.clone() }).unwrap();
    }
    let weights = data.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect());
    let groups = data.groups.as_ref().map(|groups| {
        // Numbered as they come.
        let names = Groups::from_ids(rows.iter().map(|&row| groups[row].to_string()));
        names.numbers().to_vec()
    });
    Comparisons::new(set, outcomes, weights, groups).unwrap()
}

type FitTo = Box<dyn Fn(&Comparisons) -> Option<Model>>;

/// All comparers with a kernel and a scaling.
fn comparers(kernel: Kernel, scale: Scale) -> Vec<(String, FitTo)> {
    let mut all: Vec<(String, FitTo)> = Vec::new();
    for loss in Loss::ALL {
        for threshold in [ThresholdRule::Refit, ThresholdRule::Model] {
            let svm = CompareSvm::new().kernel(kernel).loss(loss).scale(scale).threshold(threshold).threads(1);
            all.push((
                format!("{loss:?} {threshold:?}"),
                Box::new(move |data| svm.fit(data).ok().map(|fit| fit.model)),
            ));
        }
        for variant in [Variant::Rank, Variant::Rank2] {
            let rank = CompareRank::new(variant).kernel(kernel).loss(loss).scale(scale).threads(1);
            all.push((format!("{variant:?} {loss:?}"), Box::new(move |data| rank.fit(data).ok().map(|fit| fit.model))));
        }
    }
    let davidson = Davidson::new().kernel(kernel).scale(scale).threads(1);
    all.push(("Davidson".into(), Box::new(move |data| davidson.fit(data).ok().map(|fit| fit.model))));
    let program = CompareLp::new().c(1.0).kernel(kernel).scale(scale).threads(1);
    all.push(("CompareLp".into(), Box::new(move |data| program.fit(data).ok().map(|fit| fit.model))));
    all
}

#[test]
fn rows_in_another_order_make_the_same_comparer() {
    let mut n_fits = 0;
    for seed in 0..3 {
        let mut data = drawn(seed, 14, 40);
        if seed == 1 {
            data.weights = Some((0..data.n_pairs()).map(|k| f64::from(k as u32 % 3)).collect());
        }
        if seed == 2 {
            data.groups = Some((0..data.n_pairs()).map(|k| k as u32 % 7).collect());
        }
        let other = shuffled(&data, 10 + seed);
        for kernel in [Kernel::Linear, Kernel::Rbf { gamma: rankwise::Gamma::Scale }] {
            for scale in [Scale::None, Scale::Standard, Scale::Minmax] {
                for (name, fit) in comparers(kernel, scale) {
                    let Some(model) = fit(&data) else { continue };
                    n_fits += 1;
                    let again = fit(&other).unwrap();
                    let numbers = |m: &Model| (m.threshold, m.beta, m.training.collapsed, m.training.objective);
                    assert_eq!(numbers(&model), numbers(&again), "{seed} {name} {kernel:?} {scale:?}");
                    let is_same = model_to_bytes(&model).unwrap() == model_to_bytes(&again).unwrap();
                    assert!(is_same, "{seed} {name} {kernel:?} {scale:?}");
                }
            }
        }
    }
    assert!(n_fits > 150, "{n_fits}");
}

#[test]
fn rows_in_another_order_choose_the_same_c() {
    for seed in 0..3 {
        let data = drawn(30 + seed, 20, 70);
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            let svm = CompareSvm::new().scale(Scale::Standard).loss(loss).threads(1);
            let grid = Grid { c: vec![0.01, 0.1, 1.0, 10.0], kernels: vec![Kernel::rbf(0.3)], losses: vec![loss] };
            let tune = |data: &Comparisons| {
                let mut tuned =
                    Tuner::new(svm.clone()).grid(grid.clone()).tune(data, Split::Folds(4), &Unwatched).unwrap();
                let points = tuned.tuning().unwrap().points.iter().map(|point| point.folds.clone()).collect::<Vec<_>>();
                // What always saying "left" gets depends on which side is the left one.
                tuned.fit.model.training.tuning.as_mut().unwrap().baseline = None;
                (tuned.tuning().unwrap().best, points, model_to_bytes(&tuned.fit.model).unwrap())
            };
            let (first, again) = (tune(&data), tune(&shuffled(&data, 40 + seed)));
            assert_eq!((first.0, &first.1), (again.0, &again.1), "{seed} {loss:?}");
            assert!(first.2 == again.2, "{seed} {loss:?}");
        }
    }
}
