//! Ordinal machines beside an interior-point solver, plain loops, and the classifiers that they are made of.

use rankwise::data::{ClassItems, Random, Ranking};
use rankwise::model::{Constraints, GradeRule, Model, ScoreFunction};
use rankwise::{Kernel, Loss, OrdinalSvm, Stop, SvmClassifier};

use super::classify::items;
use super::conic::{Entries, factor, minimum};

const BOTH: [Constraints; 2] = [Constraints::Implicit, Constraints::Explicit];

/// Items with grades 1 … r of a noisy bent function, some items twice, with weights, some of them 0.
pub(crate) fn graded(n: usize, r: usize, noise: f64, seed: u64) -> Ranking {
    let mut random = Random::new(seed);
    let mut rows: Vec<Vec<f64>> = (0..n).map(|_| (0..3).map(|_| random.normal()).collect()).collect();
    let latent: Vec<f64> = rows.iter().map(|x| x[0] + 0.5 * x[1] * x[1] - x[2] + noise * random.normal()).collect();
    let mut sorted = latent.clone();
    sorted.sort_by(f64::total_cmp);
    // Grades of different sizes.
    let cut = |grade: usize| sorted[(n - 1) * (grade * grade + grade) / (r * r + r)];
    let labels: Vec<f64> =
        latent.iter().map(|value| 1.0 + (1..r).filter(|&grade| *value > cut(grade)).count() as f64).collect();
    let copies = n / 8;
    (0..copies).for_each(|k| rows[n - 1 - k] = rows[k].clone());
    let weights = (0..n).map(|k| if k % 11 == 7 { 0.0 } else { random.between(-1.0, 1.0).exp2() }).collect();
    Ranking::new(items(&rows), labels, None).unwrap().with_weights(weights).unwrap()
}

fn rows_of(data: &Ranking) -> Vec<Vec<f64>> {
    let features = &data.items.features;
    features.to_dense().chunks(features.n_cols()).map(<[f64]>::to_vec).collect()
}

/// The grades present, ascending.
fn grades_of(data: &Ranking) -> Vec<f64> {
    let mut grades: Vec<f64> =
        (0..data.n_items()).filter(|&item| data.weight(item) > 0.0).map(|item| data.labels[item]).collect();
    grades.sort_by(f64::total_cmp);
    grades.dedup();
    grades
}

/// (item, threshold, sign) of every loss.
fn losses_of(data: &Ranking, constraints: Constraints) -> Vec<(usize, usize, f64)> {
    let grades = grades_of(data);
    let mut losses = Vec::new();
    for item in (0..data.n_items()).filter(|&item| data.weight(item) > 0.0) {
        let place = grades.iter().position(|grade| *grade == data.labels[item]).unwrap();
        for threshold in 0..grades.len() - 1 {
            let is_beside = threshold == place || threshold + 1 == place;
            if constraints == Constraints::Implicit || is_beside {
                losses.push((item, threshold, if place > threshold { 1.0 } else { -1.0 }));
            }
        }
    }
    losses
}

/// The least value of the objective by an interior-point method, thresholds in order where that is a constraint.
fn conic_objective(data: &Ranking, svm: &OrdinalSvm, is_ordered: bool) -> f64 {
    let rows = rows_of(data);
    let vectors = match svm.kernel {
        Kernel::Linear => rows,
        kernel => {
            let kernel = kernel.resolve(&data.items.features).unwrap();
            factor(rows.iter().map(|x| rows.iter().map(|y| kernel.value(x, y)).collect()).collect())
        }
    };
    let (d, m) = (vectors[0].len(), grades_of(data).len() - 1);
    let losses = losses_of(data, svm.constraints);
    // x = (w, b, ξ)
    let n = d + m + losses.len();
    let (mut p, mut q) = (vec![0.0; n], vec![0.0; n]);
    p[..d].fill(1.0);
    let (mut a, mut b) = (Entries::new(n), Vec::new());
    for (at, &(item, threshold, sign)) in losses.iter().enumerate() {
        let (slack, cost) = (d + m + at, svm.c * data.weight(item));
        match svm.loss {
            Loss::Hinge => q[slack] = cost,
            _ => p[slack] = 2.0 * cost,
        }
        let score = vectors[item].iter().enumerate().map(|(f, x)| (f, -sign * x));
        a.row(score.chain([(d + threshold, sign), (slack, -1.0)]));
        b.push(-1.0);
        a.row([(slack, -1.0)]);
        b.push(0.0);
    }
    for threshold in 1..m {
        if is_ordered {
            a.row([(d + threshold - 1, 1.0), (d + threshold, -1.0)]);
            b.push(0.0);
        }
    }
    minimum(&p, &q, &a, &b, 0)
}

fn half_square(model: &Model) -> f64 {
    match &model.scorer.function {
        ScoreFunction::Linear { weights, .. } => 0.5 * weights.iter().map(|w| w * w).sum::<f64>(),
        ScoreFunction::Kernel { kernel, support, coefficients, .. } => {
            let rows: Vec<Vec<f64>> = support.to_dense().chunks(support.n_cols()).map(<[f64]>::to_vec).collect();
            let sum = |x: &Vec<f64>| rows.iter().zip(coefficients).map(|(s, t)| t * kernel.value(s, x)).sum::<f64>();
            0.5 * rows.iter().zip(coefficients).map(|(s, t)| t * sum(s)).sum::<f64>()
        }
        _ => panic!(),
    }
}

fn rule(model: &Model) -> &GradeRule {
    model.grades.as_ref().unwrap()
}

/// The objective at a model by plain loops.
fn plain_objective(model: &Model, data: &Ranking, svm: &OrdinalSvm) -> f64 {
    let scores = model.scorer.scores(&data.items).unwrap();
    let thresholds = &rule(model).thresholds;
    let losses = losses_of(data, svm.constraints);
    let sum: f64 = losses
        .iter()
        .map(|&(item, threshold, sign)| {
            data.weight(item) * svm.loss.value(1.0 - sign * (scores[item] - thresholds[threshold]))
        })
        .sum();
    half_square(model) + svm.c * sum
}

fn is_ordered(model: &Model) -> bool {
    rule(model).thresholds.windows(2).all(|pair| pair[0] <= pair[1])
}

#[test]
fn objectives_are_those_of_the_conic_solver() {
    let mut n_bound = 0;
    for seed in 0..18 {
        let data = graded(48, 2 + seed as usize % 5, [0.2, 1.0, 4.0][seed as usize % 3], seed);
        let kernel = [Kernel::Linear, Kernel::rbf(0.3)][seed as usize / 3 % 2];
        let c = [0.02, 0.5, 10.0][(seed as usize / 2) % 3];
        for (constraints, loss) in BOTH.into_iter().flat_map(|c| Loss::OF_CLASSES.map(|loss| (c, loss))) {
            let svm = OrdinalSvm::new().c(c).kernel(kernel).loss(loss).constraints(constraints).tol(1e-8);
            let model = svm.fit(&data).unwrap().model;
            let expected = conic_objective(&data, &svm, constraints == Constraints::Explicit);
            let training = &model.training;
            let what = format!(
                "seed {seed} {kernel:?} C {c} {constraints:?} {loss:?}: {} beside {expected}, gap {:e}, {:?}",
                training.objective, training.gap, training.stop
            );
            assert_eq!(training.stop, Stop::Converged, "{what}");
            assert!((training.objective / expected - 1.0).abs() <= 1e-6, "{what}");
            assert!(training.objective / expected - 1.0 <= training.gap + 1e-7, "the gap is no bound: {what}");
            let plain = plain_objective(&model, &data, &svm);
            assert!((plain / training.objective - 1.0).abs() <= 1e-9, "{what}: {plain} by plain loops");
            assert!(is_ordered(&model), "{what}: {:?}", rule(&model).thresholds);
            if constraints == Constraints::Explicit {
                let free = conic_objective(&data, &svm, false);
                n_bound += usize::from(free < expected * (1.0 - 1e-6));
            }
        }
    }
    assert!(n_bound >= 3, "the order of thresholds was a constraint {n_bound} times");
}
