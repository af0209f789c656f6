use super::*;
use crate::data::simulate::{Norm, Simulation};
use crate::data::{Items, PairSet, Precision, Random};
use crate::math::dot;

const RULES: [Rule; 7] = [
    Rule::Compare(Hinge::Squared),
    Rule::Compare(Hinge::Rounded(0.3)),
    Rule::Rank(Hinge::Squared),
    Rule::Rank(Hinge::Rounded(0.3)),
    Rule::RankLogistic,
    Rule::RaoKupper,
    Rule::Davidson,
];

/// Pairs of items that repeat, or of items that do not.
fn data(repeat: bool, seed: u64) -> Comparisons {
    if !repeat {
        let simulation = Simulation { norm: Norm::L2, n_pairs: 80, ties: 0.4, noise: 0.25, seed };
        return simulation.draw().unwrap();
    }
    let mut random = Random::new(seed);
    let (n_items, n_pairs) = (9, 90);
    let values = (0..n_items * 3).map(|_| random.normal()).collect();
    let items = Items::new(Features::dense(3, values, Precision::F64).unwrap(), None, None).unwrap();
    let pairs: Vec<Pair> = (0..n_pairs)
        .map(|_| Pair { left: random.below(n_items) as u32, right: random.below(n_items) as u32 })
        .collect();
    let outcomes = (0..n_pairs).map(|_| Outcome::ALL[random.below(3)]).collect();
    let weights = (0..n_pairs).map(|k| if k % 7 == 0 { 0.0 } else { 0.3 + random.uniform() }).collect();
    Comparisons::new(PairSet::new(items, pairs).unwrap(), outcomes, Some(weights), None).unwrap()
}

/// One sum for every rule, with and without a band, and what it is called.
fn for_each_sum(mut each: impl FnMut(&mut PairSums<'_>, &Comparisons, &str)) {
    for repeat in [false, true] {
        let data = data(repeat, 3);
        let mut random = Random::new(8);
        let context: Vec<f64> = (0..data.n_pairs() * 2).map(|_| random.normal()).collect();
        let context = Features::dense(2, context, Precision::F64).unwrap();
        let rows: Vec<u32> = (0..data.set.items.n_items() as u32).collect();
        for rule in RULES {
            for with_band in [false, true] {
                for capped in [false, true] {
                    if (with_band && !rule.has_offset()) || (capped && !matches!(rule, Rule::Compare(_))) {
                        continue;
                    }
                    let band = with_band.then_some(Band { context: Some(Cow::Borrowed(&context)) });
                    let costs =
                        Costs::Factors { weights: data.weights.as_deref().map(Cow::Borrowed), tie: 1.3, other: 0.8 };
                    let features = &data.set.items.features;
                    let mut sums =
                        PairSums::new(&data, features, Cow::Borrowed(&rows), costs, rule, band).capped(capped);
                    sums.set_c(0.7);
                    assert_eq!(sums.items_repeat, repeat);
                    each(&mut sums, &data, &format!("{rule:?} band {with_band} repeat {repeat} capped {capped}"));
                }
            }
        }
    }
}

fn weights(dim: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..dim).map(|_| 0.4 * random.normal()).collect()
}

fn moved(weights: &[f64], step: f64, direction: &[f64]) -> Vec<f64> {
    weights.iter().zip(direction).map(|(w, d)| w + step * d).collect()
}

#[test]
fn gradients_are_differences_of_values_with_the_best_beta() {
    for_each_sum(|sums, _, what| {
        let at = weights(sums.dim(), 1);
        let point = sums.go_to(&at);
        for seed in 2..6 {
            let direction = weights(sums.dim(), seed);
            let h = 1e-5;
            let change = (sums.go_to(&moved(&at, h, &direction)).value - sums.go_to(&moved(&at, -h, &direction)).value)
                / (2.0 * h);
            let slope = dot(&point.gradient, &direction);
            assert!((change - slope).abs() <= 1e-6 * (1.0 + slope.abs()), "{what}: {slope} {change}");
        }
    });
}

#[test]
fn no_other_beta_is_better() {
    for_each_sum(|sums, data, what| {
        if !sums.rule.has_offset() {
            return;
        }
        let at = weights(sums.dim(), 1);
        let found = sums.go_to(&at).value;
        let best = sums.here.offset.beta;
        for step in [-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0] {
            let beta = best + step;
            if sums.capped && beta > -1.0 {
                continue;
            }
            // The obvious sum.
            let mut value = 0.0;
            for k in 0..data.n_pairs() {
                let score = |item: u32| sums.here.way.scores[item as usize];
                let pair = data.set.pairs[k];
                let sign = if data.outcomes[k] == Outcome::Left { -1.0 } else { 1.0 };
                let z = sign * (score(pair.right) - score(pair.left));
                let is_tie = data.outcomes[k] == Outcome::Tie;
                let b = beta + sums.width(&sums.here.way, k);
                let local = with_loss!(sums.rule, loss => loss.at(is_tie, z, b));
                let cost = data.weight(k) * if is_tie { 1.3 } else { 0.8 } * 0.7;
                value += if cost > 0.0 { cost * local.value } else { 0.0 };
            }
            assert!(value.is_nan() || value >= found - 1e-9, "{what}: {value} below {found} at β {beta}");
        }
    });
}

#[test]
fn hessians_are_differences_of_gradients() {
    for_each_sum(|sums, _, what| {
        let dim = sums.dim();
        let at = weights(dim, 1);
        sums.go_to(&at);
        let sketch = sums.hessian_sketch(10_000);
        for seed in 2..6 {
            let direction = weights(dim, seed);
            sums.go_to(&at);
            let image = sums.hessian_times(&direction);
            // The sketch of all pairs is the Hessian itself.
            let mut of_sketch = vec![0.0; dim];
            for vector in sketch.chunks_exact(dim) {
                let product = dot(vector, &direction);
                of_sketch.iter_mut().zip(vector).for_each(|(out, v)| *out += product * v);
            }
            let h = 1e-6;
            let (high, low) =
                (sums.go_to(&moved(&at, h, &direction)).gradient, sums.go_to(&moved(&at, -h, &direction)).gradient);
            let size = dot(&image, &image).sqrt().max(1.0);
            for c in 0..dim {
                let change = (high[c] - low[c]) / (2.0 * h);
                assert!((change - image[c]).abs() <= 2e-4 * size, "{what}: {} {change}", image[c]);
                assert!((of_sketch[c] - image[c]).abs() <= 1e-9 * size, "{what}: {} {}", image[c], of_sketch[c]);
            }
        }
    });
}

#[test]
fn values_along_a_line_are_those_at_its_points() {
    for_each_sum(|sums, _, what| {
        let (at, direction) = (weights(sums.dim(), 1), weights(sums.dim(), 2));
        sums.go_to(&at);
        sums.aim(&direction);
        for step in [-1.0, 0.0, 0.3, 2.0] {
            let (value, slope) = sums.along(step);
            let mut there = sums.go_to(&moved(&at, step, &direction));
            there.gradient = vec![dot(&there.gradient, &direction)];
            assert!((value - there.value).abs() <= 1e-9 * (1.0 + value.abs()), "{what}");
            assert!((slope - there.gradient[0]).abs() <= 1e-7 * (1.0 + slope.abs()), "{what}");
            sums.go_to(&at);
        }
    });
}

/// A sum over all pairs drawn evenly stands for the whole: on average, and about.
#[test]
fn sketches_of_some_pairs_are_about_the_hessian() {
    let simulation = Simulation { norm: Norm::L2, n_pairs: 60_000, ties: 0.4, noise: 0.25, seed: 4 };
    let data = simulation.draw().unwrap();
    let features = &data.set.items.features;
    let rows: Vec<u32> = (0..data.set.items.n_items() as u32).collect();
    let costs = || Costs::Factors { weights: None, tie: 1.0, other: 1.0 };
    let mut sums = PairSums::new(&data, features, Cow::Borrowed(&rows), costs(), Rule::Compare(Hinge::Squared), None);
    let at = vec![0.3; sums.dim()];
    let whole = sums.go_to(&at);
    let dim = sums.dim();
    let sketch = sums.hessian_sketch(4000);
    assert!(sketch.len() / dim < 5000);
    for c in 0..dim {
        let mut unit = vec![0.0; dim];
        unit[c] = 1.0;
        let exact = sums.hessian_times(&unit)[c];
        let about: f64 = sketch.chunks_exact(dim).map(|v| v[c] * v[c]).sum();
        assert!((about / exact - 1.0).abs() < 0.15, "{about} {exact}");
        let diagonal = sums.hessian_diagonal()[c];
        assert!(diagonal > 0.3 * exact && diagonal < 3.0 * exact, "{diagonal} {exact}");
    }
    let mut thinned = sums.thinned().unwrap();
    let part = thinned.go_to(&at);
    assert!((part.value / whole.value - 1.0).abs() < 0.1);
}
