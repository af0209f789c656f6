//! A column that is the same for all, or far from zero beside its spread, says nothing that the column without its mean does not.
//! At a large C sums of slopes, which cancel but for rounding, times such a column once gave it the largest weight of all.

use rankwise::data::{
    ClassItems, Comparisons, Features, Groups, Items, Outcome, Pair, PairSet, Precision, Random, Ranking, Scale,
};
use rankwise::estimator::{
    CompareRank, CompareSvm, Davidson, OrdinalSvm, RankSvm, Ridge, SvmClassifier, SvmRegressor, SwapSvm, Variant,
};
use rankwise::model::ScoreFunction;
use rankwise::{Loss, Model, Result};

const N: usize = 60;
const FAR: f64 = 3e8;

/// How features are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kept {
    F32,
    F64,
    Sparse,
}

/// Whole numbers in two columns, and a third one with the same number everywhere; the second one may lie elsewhere.
fn features(kept: Kept, constant: f64, shift: f64) -> Features {
    let mut random = Random::new(4);
    let rows: Vec<[f64; 3]> =
        (0..N).map(|_| [1.0 + random.below(9) as f64, shift + 1.0 + random.below(9) as f64, constant]).collect();
    match kept {
        Kept::F32 => Features::dense(3, rows.concat(), Precision::F32).unwrap(),
        Kept::F64 => Features::dense(3, rows.concat(), Precision::F64).unwrap(),
        Kept::Sparse => {
            let starts = (0..=N).map(|row| 3 * row).collect();
            Features::sparse(3, starts, [0, 1, 2].repeat(N), rows.concat()).unwrap()
        }
    }
}

/// What an item is worth: chance has a large part in it, so that no machine is hard.
fn worths() -> Vec<f64> {
    let near = features(Kept::F64, 0.0, 0.0).to_dense();
    let mut random = Random::new(5);
    near.chunks_exact(3).map(|row| row[0] - row[1] + 6.0 * random.normal()).collect()
}

fn ranking(features: &Features) -> Ranking {
    let groups = Groups::from_ids((0..N).map(|item| (item / 20).to_string()));
    let items = Items::new(features.clone(), None, None).unwrap();
    Ranking::new(items, worths().iter().map(|worth| (worth / 5.0).round()).collect(), Some(groups)).unwrap()
}

fn pairs(features: &Features) -> Comparisons {
    let items = Items::new(features.clone(), None, None).unwrap();
    let worths = worths();
    let mut random = Random::new(6);
    let pairs: Vec<Pair> =
        (0..400).map(|_| Pair { left: random.below(N) as u32, right: random.below(N) as u32 }).collect();
    let outcome = |pair: &Pair| Outcome::of_margin(worths[pair.right as usize] - worths[pair.left as usize], 3.0);
    let outcomes = pairs.iter().map(outcome).collect();
    Comparisons::new(PairSet::new(items, pairs).unwrap(), outcomes, None, None).unwrap()
}

/// Every machine that is linear, by name.
fn models(features: &Features, scale: Scale, c: f64) -> Vec<(String, Model)> {
    let (items, judged) = (ranking(features), pairs(features));
    let classes: Vec<&str> = worths().iter().map(|worth| if *worth > 0.0 { "good" } else { "bad" }).collect();
    let classes = ClassItems::new(items.items.clone(), &classes).unwrap();
    let mut models = Vec::new();
    let mut add = |name: String, fit: Result<rankwise::Fit>| models.push((name, fit.unwrap().model));
    for loss in [Loss::Hinge, Loss::SquaredHinge, Loss::Logistic] {
        add(format!("rank {loss:?}"), RankSvm::new().loss(loss).c(c).scale(scale).tol(1e-8).fit(&items));
        add(format!("compare {loss:?}"), CompareSvm::new().loss(loss).c(c).scale(scale).tol(1e-8).fit(&judged));
    }
    for loss in [Loss::Hinge, Loss::SquaredHinge] {
        add(
            format!("rank2 {loss:?}"),
            CompareRank::new(Variant::Rank2).loss(loss).c(c).scale(scale).tol(1e-8).fit(&judged),
        );
        add(format!("ordinal {loss:?}"), OrdinalSvm::new().loss(loss).c(c).scale(scale).tol(1e-8).fit(&items));
        add(format!("classify {loss:?}"), SvmClassifier::new().loss(loss).c(c).scale(scale).tol(1e-8).fit(&classes));
    }
    for loss in [Loss::Epsilon, Loss::SquaredEpsilon] {
        add(format!("regress {loss:?}"), SvmRegressor::new().loss(loss).c(c).scale(scale).tol(1e-8).fit(&items));
    }
    add("davidson".into(), Davidson::new().c(c).scale(scale).tol(1e-8).fit(&judged));
    add("swap".into(), SwapSvm::new().c(c).scale(scale).tol(1e-6).fit(&items));
    add("ridge".into(), Ridge::new().c(c).scale(scale).fit(&items));
    models
}

/// Weights of scaled features.
fn weights(model: &Model) -> &[f64] {
    match &model.scorer.function {
        ScoreFunction::Linear { weights, .. } => weights,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_constant_column_has_no_weight_and_changes_nothing() {
    for (kept, scale) in [
        (Kept::F32, Scale::None),
        (Kept::F32, Scale::Minmax),
        (Kept::F64, Scale::None),
        (Kept::F64, Scale::Standard),
        (Kept::Sparse, Scale::None),
        (Kept::Sparse, Scale::Minmax),
    ] {
        let without = models(&features(kept, 0.0, 0.0), scale, 1e8);
        let with = models(&features(kept, FAR, 0.0), scale, 1e8);
        for ((name, without), (_, with)) in without.iter().zip(&with) {
            // Sparse features are divided alone, so that a constant is one still, of size 1.
            let size = with.scorer.scaler.as_ref().map_or(FAR, |scaler| FAR / scaler.divisor[2]);
            let what = format!("{name}, {kept:?}, {scale:?}");
            let (w, v) = (weights(with), weights(without));
            assert!(w[2].abs() * size <= 1e-5, "{what}: {w:?}");
            let (a, b) = (&with.training, &without.training);
            let near = 1e-6 * b.objective;
            assert!((a.objective - b.objective).abs() <= near, "{what}: {} and {}", a.objective, b.objective);
            assert!((w[0] - v[0]).abs() <= 1e-3 * v[0].abs().max(1e-3), "{what}: {w:?} and {v:?}");
        }
    }
}

#[test]
fn a_column_far_from_zero_is_as_good_as_one_near_it() {
    let near = models(&features(Kept::F64, 0.0, 0.0), Scale::None, 1e6);
    let far = models(&features(Kept::F64, 0.0, FAR), Scale::None, 1e6);
    for ((name, near), (_, far)) in near.iter().zip(&far) {
        let (a, b) = (&far.training, &near.training);
        let what = format!("{name}: {} with gap {:e}, {} near zero", a.objective, a.gap, b.objective);
        assert!(a.gap <= 1e-5 && (a.objective - b.objective).abs() <= 1e-6 * b.objective, "{what}");
    }
}
