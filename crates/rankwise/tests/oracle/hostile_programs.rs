//! Linear programs on which planes that sum all pairs went on for ever: large costs, degenerate data, numbers of all sizes. They end,
//! with the optimum where digits allow it and with an honest gap where not.

use rankwise::data::{Comparisons, Features, Groups, Items, Outcome, Pair, PairSet, Precision, Random, Ranking, Scale};
use rankwise::model::{CoefficientSign, Training};
use rankwise::{CompareLp, Error, Gamma, Kernel, OneNormRankSvm, RankingVectorMachine, Stop};

use crate::oracle::conic::{Entries, minimum};
use crate::oracle::plain::rows_of;
use crate::oracle::programs::{close, losses, objective_of};

/// Group, label, weight and features of items.
fn table<const N: usize>(rows: &[[f64; N]], is_weighted: bool) -> Ranking {
    let first = if is_weighted { 3 } else { 2 };
    let features = rows.iter().flat_map(|row| row[first..].to_vec()).collect();
    let items = Items::new(Features::dense(N - first, features, Precision::F64).unwrap(), None, None).unwrap();
    let ids: Vec<String> = rows.iter().map(|row| row[0].to_string()).collect();
    let labels = rows.iter().map(|row| row[1]).collect();
    let data = Ranking::new(items, labels, Some(Groups::from_ids(&ids))).unwrap();
    if is_weighted { data.with_weights(rows.iter().map(|row| row[2]).collect()).unwrap() } else { data }
}

/// Whatever was asked for was reached within as many steps as a vertex needs, or so.
fn assert_ended(training: &Training, what: &str) {
    assert!(training.stop == Stop::Converged && training.gap <= training.tol, "{what}: {training:?}");
    assert!(training.iterations <= 2000, "{what}: {} steps", training.iterations);
}

const CUBES: Kernel = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 3 };
const RBF: Kernel = Kernel::Rbf { gamma: Gamma::Scale };

/// Optima are HiGHS's, of the dual program with columns in units of their largest number.
#[test]
fn programs_that_never_ended_end() {
    let cubes = OneNormRankSvm::new().c(0.1).kernel(CUBES);
    let all = cubes.clone().tol(1e-7).fit(&table(&WEIGHTED, true)).unwrap().model.training;
    // Kernel values from 1 to 10¹⁸ are more than digits allow for: what is missing is told.
    let optimum = 0.062_500_034_157_6;
    let bound = all.objective * (1.0 - all.gap);
    assert!(all.iterations <= 2000 && bound <= optimum && optimum <= all.objective * (1.0 + 1e-6), "cubes: {all:?}");
    assert!(all.gap <= 1e-4, "cubes: {all:?}");
    let few: Vec<[f64; 7]> = [0, 1, 3, 4, 5, 6, 7, 9, 11].map(|at| WEIGHTED[at]).to_vec();
    let few = cubes.fit(&table(&few, true)).unwrap().model.training;
    assert_ended(&few, "nine rows");
    close(few.objective, 0.062_500_000_003_3, 1e-3, "nine rows");
    let pairs = OneNormRankSvm::new().c(1e7).kernel(RBF).scale(Scale::Standard);
    let pairs = pairs.fit(&table(&LATTICE, false)).unwrap().model.training;
    assert_ended(&pairs, "pairs on a lattice");
    close(pairs.objective, 770_055_997.699, 1e-3, "pairs on a lattice");
    let vectors = RankingVectorMachine::new().kernel(RBF);
    for (rows, c, scale, optimum) in
        [(&FIRST[..], 1e5, Scale::Minmax, 14_680_106.274_98), (&SECOND[..], 1e7, Scale::None, 960_076_015.900_9)]
    {
        let found = vectors.clone().c(c).scale(scale).fit(&table(rows, false)).unwrap().model.training;
        assert_ended(&found, "items on a lattice");
        close(found.objective, optimum, 1e-3, "items on a lattice");
        // The tutorial's grid ends at costs like these.
        for c in [1e-12, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12] {
            let found = vectors.clone().c(c).scale(scale).fit(&table(rows, false)).unwrap().model.training;
            assert_ended(&found, &format!("items on a lattice, C = {c}"));
        }
    }
}

/// max Σ margin·y, 0 ≤ y ≤ costs, columns·y ≤ bounds: the dual of all programs here, in which costs are bounds alone.
fn dual_optimum(margins: &[f64], costs: &[f64], columns: &[(Vec<f64>, f64)]) -> f64 {
    let largest = columns.iter().flat_map(|column| &column.0).fold(0.0, |a: f64, v| a.max(v.abs()));
    let dearest = costs.iter().copied().fold(0.0, f64::max);
    // So many units of y are 1.
    let unit = (1.0 / largest).min(dearest);
    let n = margins.len();
    let (mut a, mut b) = (Entries::new(n), Vec::new());
    for (column, bound) in columns {
        let size = column.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        if size > 0.0 {
            a.row(column.iter().enumerate().map(|(at, v)| (at, v / size)));
            b.push(bound / (size * unit));
        }
    }
    for (at, cost) in costs.iter().enumerate() {
        a.row([(at, -1.0)]);
        b.push(0.0);
        a.row([(at, 1.0)]);
        b.push(cost / unit);
    }
    let q: Vec<f64> = margins.iter().map(|margin| -margin).collect();
    -minimum(&vec![0.0; n], &q, &a, &b, 0) * unit
}

/// Few numbers, many of them the same: lattices, copies, zero columns.
fn nasty_rows(random: &mut Random, n: usize) -> Vec<Vec<f64>> {
    let d = 1 + random.below(3);
    let kind = random.below(3);
    let number = |random: &mut Random| match kind {
        0 => random.below(3) as f64 - 1.0,
        1 => random.normal(),
        _ => random.below(2) as f64 * 3.0,
    };
    let mut rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| number(random)).collect()).collect();
    if random.below(2) == 0 {
        (0..n / 3).for_each(|at| rows[at] = rows[n - 1 - at].clone());
    }
    if random.below(3) == 0 {
        rows.iter_mut().for_each(|row| row[0] = 0.0);
    }
    rows
}

fn nasty_kernel(random: &mut Random) -> Kernel {
    let gamma = Gamma::Value([0.1, 1.0][random.below(2)]);
    let coef0 = random.below(2) as f64;
    match random.below(4) {
        0 => Kernel::Linear,
        1 => Kernel::Poly { gamma, coef0, degree: 1 + random.below(3) as u32 },
        2 => Kernel::Sigmoid { gamma, coef0 },
        _ => Kernel::Rbf { gamma },
    }
}

#[test]
fn vector_machines_end_at_the_optimum_whatever_the_cost() {
    let mut random = Random::new(5);
    for trial in 0..120 {
        let n = 5 + random.below(8);
        let rows = nasty_rows(&mut random, n);
        let kernel = nasty_kernel(&mut random);
        let c = 10f64.powi(random.below(25) as i32 - 12);
        let items =
            Items::new(Features::dense(rows[0].len(), rows.concat(), Precision::F64).unwrap(), None, None).unwrap();
        let labels: Vec<f64> = (0..n).map(|at| if at < 2 { at as f64 } else { random.below(3) as f64 }).collect();
        let data = Ranking::new(items, labels, None).unwrap();
        let what = format!("trial {trial}: {n} items, {kernel:?}, C = {c}");
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
        let pairs: Vec<_> = pairs.into_iter().filter(|&(i, j)| data.labels[i] > data.labels[j]).collect();
        let function = kernel.resolve(&data.items.features).unwrap();
        let lead = |(i, j): (usize, usize), at: usize| {
            function.value(&rows[at], &rows[i]) - function.value(&rows[at], &rows[j])
        };
        let of_item =
            |at: usize, sign: f64| (pairs.iter().map(|&pair| sign * lead(pair, at)).collect::<Vec<f64>>(), 1.0);
        let (model, columns) = match trial % 3 {
            2 => {
                let of_pair = |&(u, v): &(usize, usize)| {
                    (pairs.iter().map(|&pair| lead(pair, u) - lead(pair, v)).collect::<Vec<f64>>(), 1.0)
                };
                let fit = OneNormRankSvm::new().c(c).kernel(kernel).tol(1e-7).fit(&data);
                (fit.unwrap().model, pairs.iter().map(of_pair).collect::<Vec<_>>())
            }
            sign => {
                let machine = RankingVectorMachine::new().c(c).kernel(kernel).tol(1e-7);
                let both = (0..n).flat_map(|at| [of_item(at, 1.0), of_item(at, -1.0)]);
                match sign {
                    0 => (machine.fit(&data).unwrap().model, both.collect()),
                    _ => {
                        let machine = machine.coefficients(CoefficientSign::Nonnegative);
                        (machine.fit(&data).unwrap().model, both.step_by(2).collect())
                    }
                }
            }
        };
        let training = &model.training;
        assert!(training.iterations <= 2000, "{what}: {} steps", training.iterations);
        let scores = model.scorer.scores(&data.items).unwrap();
        assert!(losses(&data, &scores, c) <= training.objective * (1.0 + 1e-6), "{what}: {training:?}");
        // Where the other solver has digits left.
        let near = c.clamp(1e-6, 1e6);
        let optimum = dual_optimum(&vec![1.0; pairs.len()], &vec![near; pairs.len()], &columns);
        if c != near {
            // The optimum grows with C, and by no larger factor than C does.
            let other = c / near * optimum;
            assert!(training.objective >= other.min(optimum) * (1.0 - 1e-6), "{what}: {optimum}, {training:?}");
            let bound = training.objective * (1.0 - training.gap);
            assert!(bound <= other.max(optimum) * (1.0 + 1e-6), "{what}: {optimum}, {training:?}");
            assert!(training.stop == Stop::Converged || training.gap > training.tol, "{what}: {training:?}");
            continue;
        }
        assert_ended(training, &what);
        close(training.objective, optimum, 1e-6, &what);
        // What is told of the gap is true.
        assert!(training.objective * (1.0 - training.gap) <= optimum * (1.0 + 1e-7), "{what}: {training:?}");
    }
}

/// Products of these with one another are no numbers, and a bound from them was told as one.
#[test]
fn features_whose_products_overflow_bound_nothing() {
    let mut random = Random::new(30);
    for size in [1e150, 1e153] {
        let values: Vec<f64> = (0..60).map(|_| size * random.normal()).collect();
        let items = Items::new(Features::dense(2, values, Precision::F64).unwrap(), None, None).unwrap();
        let labels: Vec<f64> = (0..30).map(|_| random.below(4) as f64).collect();
        let data = Ranking::new(items, labels, None).unwrap();
        let total = losses(&data, &[0.0; 30], 1.0);
        for c in [1.0, 1e6, 1e12] {
            let fits = [
                OneNormRankSvm::new().c(c).fit(&data),
                RankingVectorMachine::new().c(c).fit(&data),
                OneNormRankSvm::new()
                    .c(c)
                    .kernel(Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 1 })
                    .fit(&data),
            ];
            for fit in fits {
                let training = match fit {
                    Ok(fit) => fit.model.training,
                    Err(error) => {
                        assert!(matches!(error, Error::Numeric { .. }), "{size:e}, C = {c:e}: {error:?}");
                        continue;
                    }
                };
                // Scores of 0 are one way, and half of all pairs the least that any two features can lose here.
                assert!(training.objective <= c * total * (1.0 + 1e-9), "{size:e}, C = {c:e}: {training:?}");
                assert!(
                    training.objective * (1.0 - training.gap) <= 0.9 * c * total,
                    "{size:e}, C = {c:e}: {training:?}"
                );
            }
        }
    }
}

#[test]
fn soft_comparisons_with_more_features_than_pairs_end() {
    let mut random = Random::new(3);
    for (n_pairs, n_features, c) in [(60, 120, 1.0), (60, 120, 1e4), (40, 60, 1e-2), (30, 5, 1e6)] {
        let n_items = n_pairs / 2;
        let rows: Vec<Vec<f64>> = (0..n_items).map(|_| (0..n_features).map(|_| random.normal()).collect()).collect();
        let items =
            Items::new(Features::dense(n_features, rows.concat(), Precision::F64).unwrap(), None, None).unwrap();
        let pairs =
            (0..n_pairs).map(|at| Pair { left: (at % n_items) as u32, right: random.below(n_items) as u32 }).collect();
        let outcomes = (0..n_pairs).map(|_| Outcome::of_margin(random.below(3) as f64 - 1.0, 0.0)).collect();
        let data = Comparisons::new(PairSet::new(items, pairs).unwrap(), outcomes, None, None).unwrap();
        let machine = CompareLp::new().c(c).tol(1e-7);
        let model = machine.fit(&data).unwrap().model;
        let what = format!("{n_pairs} pairs, {n_features} features, C = {c}");
        assert_ended(&model.training, &what);
        close(model.training.objective, objective_of(&machine, &model, &data), 1e-9, &what);
        let rows = rows_of(&data.set.items.features);
        let (mut sides, mut margins) = (Vec::new(), Vec::new());
        for (pair, outcome) in data.set.pairs.iter().zip(&data.outcomes) {
            let side = |sign: f64| (pair.left as usize, pair.right as usize, sign);
            match outcome {
                Outcome::Tie => sides.extend([side(1.0), side(-1.0)]),
                outcome => sides.push(side(f64::from(outcome.sign()))),
            }
            margins.resize(sides.len(), if *outcome == Outcome::Tie { 0.0 } else { 2.0 });
        }
        let column = |at: usize, sign: f64| {
            let lead = |&(left, right, side): &(usize, usize, f64)| sign * side * (rows[right][at] - rows[left][at]);
            (sides.iter().map(lead).collect::<Vec<f64>>(), 1.0)
        };
        let mut columns: Vec<(Vec<f64>, f64)> =
            (0..n_features).flat_map(|at| [column(at, 1.0), column(at, -1.0)]).collect();
        // The region of ties may grow for nothing.
        columns.push((margins.iter().map(|margin| if *margin == 0.0 { 1.0 } else { -1.0 }).collect(), 0.0));
        close(model.training.objective, dual_optimum(&margins, &vec![c; margins.len()], &columns), 1e-6, &what);
    }
}

#[rustfmt::skip]
const WEIGHTED: [[f64; 7]; 12] = [
    [0., 0., 2., 1., 0., 2., -1000.], [1., -1., 1., 0., -1., 1., 1000.], [0., 1., 2., 2., -2., 1., 0.], [0., -1., 0.5, 0., 1., 1., -1000.],
    [1., 1., 2., -1., 0., 0., 0.], [1., 0., 1., -1., 1., 1., 1000.], [1., 1., 0.5, -2., 0., -2., -1000.], [1., 1., 3.7, -2., -1., 1., 0.],
    [0., 0., 0., -2., 0., 0., 0.], [1., 3., 2., 0., -1., -1., 0.], [0., 3., 0., 1., 0., -1., -1000.], [0., 3., 0.5, 2., 0., 0., 1000.],
];

#[rustfmt::skip]
const LATTICE: [[f64; 4]; 58] = [
    [2., 3., -2., 0.], [2., 3., -1., 3.], [0., 1., 1., -2.], [2., 2., -1., 2.], [0., 0., -1., -2.], [2., 3., 3., -3.], [1., 0., -3., -3.],
    [2., 3., 1., -3.], [1., 2., 2., -1.], [2., 1., 3., 0.], [2., 3., -1., -2.], [0., 0., -1., 0.], [2., 2., 3., 3.], [2., 3., -1., 0.], [0., 1., -1., -2.],
    [1., 0., 3., 3.], [0., 1., -3., -3.], [0., 0., -1., -2.], [1., 3., -2., -3.], [0., 2., -1., -3.], [0., 0., 3., -1.], [0., 1., 2., 0.],
    [2., 3., -1., -1.], [2., 2., 0., 2.], [0., 2., 1., 2.], [2., 0., -3., -2.], [2., 2., 1., 0.], [2., 0., 2., 2.], [2., 0., 3., 0.], [2., 2., 0., 3.],
    [1., 1., -2., 1.], [0., 2., -1., 1.], [1., 0., 3., 0.], [1., 1., -2., 3.], [1., 1., 1., 2.], [0., 1., 1., -3.], [2., 0., 1., -1.], [1., 1., -2., 1.],
    [1., 3., 2., 1.], [0., 1., 2., 0.], [2., 1., -1., -1.], [0., 0., -1., 3.], [0., 0., -2., -1.], [1., 2., -1., 2.], [1., 2., -1., -3.], [2., 2., -3., 2.],
    [1., 3., 1., -3.], [2., 0., 2., -1.], [1., 3., 3., -3.], [2., 0., -1., -1.], [0., 1., -3., 0.], [0., 1., 1., 0.], [2., 3., 0., 2.], [1., 3., 2., -2.],
    [0., 1., 0., 1.], [2., 3., -2., -2.], [2., 3., -3., -1.], [2., 0., -3., 3.],
];

#[rustfmt::skip]
const FIRST: [[f64; 4]; 56] = [
    [2., 0., 1., 1.], [0., 3., -3., 0.], [0., 2., 2., 0.], [1., 0., 3., -2.], [1., 1., 2., -3.], [1., 1., -2., 0.], [0., 3., -1., 0.], [2., 2., 3., -3.],
    [2., 0., 1., 3.], [1., 3., 0., -2.], [1., 0., -3., 2.], [1., 2., -3., 0.], [1., 0., 1., -2.], [0., 0., -2., -3.], [1., 1., -1., -2.], [2., 1., -3., 3.],
    [0., 1., -2., 0.], [0., 1., -2., -2.], [2., 0., 1., 3.], [1., 3., -3., 2.], [2., 1., -3., 0.], [2., 2., 3., -2.], [2., 2., 2., 0.], [2., 1., 3., -2.],
    [1., 0., 3., -2.], [0., 0., -2., 3.], [0., 2., -2., 2.], [2., 0., -1., 3.], [0., 3., -3., -2.], [2., 0., 2., -2.], [0., 2., -2., -2.],
    [0., 1., -2., 1.], [0., 2., 1., 2.], [0., 3., -2., 2.], [1., 3., 1., -1.], [2., 1., -2., 2.], [2., 3., 1., 0.], [2., 0., -1., 2.], [1., 1., -2., -3.],
    [2., 2., -1., 3.], [1., 1., 2., -2.], [2., 0., 2., -1.], [2., 0., -2., -1.], [2., 1., 0., -3.], [2., 3., 0., 0.], [1., 1., 3., 1.], [2., 1., 0., 0.],
    [1., 2., -3., -1.], [1., 3., -1., -3.], [2., 1., -3., -2.], [1., 0., 0., 1.], [2., 2., 1., 1.], [0., 0., -3., -2.], [1., 1., -3., -2.],
    [1., 2., 1., 3.], [2., 0., 2., 0.],
];

#[rustfmt::skip]
const SECOND: [[f64; 4]; 53] = [
    [0., 0., -1., 3.], [0., 0., -3., -1.], [1., 1., 1., 1.], [2., 0., -2., 0.], [0., 2., 3., 1.], [0., 2., 0., -2.], [0., 2., 3., 3.], [1., 2., -3., -2.],
    [1., 3., 1., 2.], [2., 3., 2., 0.], [0., 0., 1., 1.], [1., 2., -2., 3.], [1., 3., -2., 3.], [0., 3., 2., -3.], [2., 3., 3., 2.], [2., 2., -2., 3.],
    [2., 3., -1., 3.], [0., 1., 0., 1.], [0., 3., 0., 3.], [1., 1., -2., -3.], [0., 2., 2., -2.], [1., 0., -2., 0.], [0., 2., -2., -3.], [2., 1., -2., -3.],
    [1., 1., 0., -1.], [0., 2., 0., 3.], [0., 2., 3., -1.], [2., 3., 0., -3.], [2., 0., 2., -3.], [2., 1., -1., -1.], [2., 3., 2., -3.], [1., 1., -1., -3.],
    [0., 0., -3., -3.], [1., 0., 2., 2.], [2., 1., 2., 1.], [0., 2., -1., -1.], [0., 1., 2., 2.], [1., 1., 1., 2.], [0., 1., 1., 0.], [0., 0., -2., -2.],
    [0., 0., -3., -2.], [0., 0., 2., 2.], [2., 0., 3., 1.], [0., 2., -2., 1.], [1., 3., 1., 3.], [0., 3., 2., -2.], [1., 1., -3., 3.], [0., 2., 3., 3.],
    [0., 3., -3., 3.], [2., 3., 1., -2.], [1., 2., 1., 0.], [2., 2., 0., -2.], [0., 0., 1., -2.],
];
