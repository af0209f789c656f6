//! Ordinal machines beside an interior-point solver, plain loops, and the classifiers that they are made of.

use std::time::Duration;

use rankwise::data::{ClassItems, Groups, Random, Ranking, Scale};
use rankwise::model::{Constraints, GradeRule, Model, ScoreFunction};
use rankwise::{Error, Kernel, Loss, OrdinalSvm, Progress, Stop, SvmClassifier, Watch};

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

#[test]
fn two_grades_are_a_classifier_of_two_classes() {
    for seed in 0..4 {
        let data = graded(60, 2, 1.0, 100 + seed);
        let classes = ClassItems::of_labels(data.items.clone(), &data.labels).unwrap();
        let classes = classes.with_weights(data.weights.clone().unwrap()).unwrap();
        for kernel in [Kernel::Linear, Kernel::rbf(0.4)] {
            for loss in Loss::OF_CLASSES {
                let svm = SvmClassifier::new().c(0.7).kernel(kernel).loss(loss).tol(1e-9);
                let classifier = svm.fit(&classes).unwrap().model;
                let f = classifier.scorer.scores(&data.items).unwrap();
                for constraints in BOTH {
                    let svm = OrdinalSvm::new().c(0.7).kernel(kernel).loss(loss).constraints(constraints).tol(1e-9);
                    let model = svm.fit(&data).unwrap().model;
                    let (a, b) = (model.training.objective, classifier.training.objective);
                    assert!((a / b - 1.0).abs() < 1e-8, "{kernel:?} {loss:?} {constraints:?}: {a} {b}");
                    let threshold = rule(&model).thresholds[0];
                    for (score, f) in model.scorer.scores(&data.items).unwrap().iter().zip(&f) {
                        assert!((score - threshold - f).abs() < 1e-3, "{score} − {threshold} beside {f}");
                    }
                }
            }
        }
    }
}

/// Every item once for each threshold, in the class of its side, with a feature of its own for each threshold: so large that what
/// its weight costs is nothing.
#[test]
fn implicit_constraints_are_the_classifier_of_all_copies() {
    const LARGE: f64 = 1e4;
    for seed in 0..3 {
        let data = graded(40, 4, 1.0, 200 + seed);
        let (rows, grades) = (rows_of(&data), grades_of(&data));
        let (mut copies, mut sides, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (item, threshold, sign) in losses_of(&data, Constraints::Implicit) {
            let own = (0..grades.len() - 1).map(|at| if at == threshold { LARGE } else { 0.0 });
            copies.push(rows[item].iter().copied().chain(own).collect::<Vec<f64>>());
            sides.push(sign);
            weights.push(data.weight(item));
        }
        let replicated = ClassItems::of_labels(items(&copies), &sides).unwrap().with_weights(weights).unwrap();
        let binary = SvmClassifier::new().c(0.5).tol(1e-9).fit(&replicated).unwrap().model;
        let model = OrdinalSvm::new().c(0.5).tol(1e-9).fit(&data).unwrap().model;
        let (a, b) = (model.training.objective, binary.training.objective);
        assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
    }
}

/// More items than move at a time; the answer of little work is within its gap of that of much, and threads change nothing.
#[test]
fn many_items_in_working_sets() {
    let data = graded(1500, 5, 0.8, 7);
    for constraints in BOTH {
        let svm = OrdinalSvm::new().kernel(Kernel::rbf(0.2)).constraints(constraints);
        let rough = svm.clone().threads(1).fit(&data).unwrap().model;
        let exact = svm.clone().tol(1e-7).fit(&data).unwrap().model;
        for model in [&rough, &exact] {
            let plain = plain_objective(model, &data, &svm);
            assert_eq!(model.training.stop, Stop::Converged);
            assert!((plain / model.training.objective - 1.0).abs() < 1e-6, "{plain} {}", model.training.objective);
            assert!(is_ordered(model));
        }
        let excess = rough.training.objective / exact.training.objective - 1.0;
        assert!((-1e-7..=rough.training.gap).contains(&excess), "{constraints:?} {excess:e} {:e}", rough.training.gap);
        let again = svm.clone().threads(2).fit(&data).unwrap().model;
        assert_eq!(rule(&rough), rule(&again));
        assert_eq!(rough.training.objective.to_bits(), again.training.objective.to_bits());
    }
}

#[test]
fn a_weight_of_2_is_having_it_twice_and_0_is_not_having_it() {
    let data = graded(40, 4, 0.7, 300);
    let whole: Vec<f64> = (0..40).map(|item| f64::from(item % 3)).collect();
    let copies: Vec<usize> = (0..40usize).flat_map(|item| std::iter::repeat_n(item, item % 3)).collect();
    for (kernel, constraints) in [(Kernel::Linear, BOTH[0]), (Kernel::Linear, BOTH[1]), (Kernel::rbf(0.3), BOTH[1])] {
        let svm = OrdinalSvm::new().c(0.3).kernel(kernel).constraints(constraints).tol(1e-9);
        let weighted = Ranking { weights: Some(whole.clone()), ..data.clone() };
        let repeated = Ranking { weights: None, ..data.clone() }.select(&copies);
        let (a, b) = (svm.fit(&weighted).unwrap().model, svm.fit(&repeated).unwrap().model);
        assert!((a.training.objective / b.training.objective - 1.0).abs() < 1e-8);
        for (a, b) in rule(&a).thresholds.iter().zip(&rule(&b).thresholds) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }
}

/// Only the order of labels counts; labels the other way round turn everything round.
#[test]
fn labels_are_an_order_and_nothing_else() {
    let data = graded(50, 4, 0.7, 400);
    let relabelled =
        |of: fn(f64) -> f64| Ranking { labels: data.labels.iter().map(|&y| of(y)).collect(), ..data.clone() };
    for (kernel, constraints) in [(Kernel::Linear, BOTH[0]), (Kernel::Linear, BOTH[1]), (Kernel::rbf(0.3), BOTH[1])] {
        let svm = OrdinalSvm::new().kernel(kernel).constraints(constraints).tol(1e-9);
        let own = svm.fit(&data).unwrap().model;
        let other = svm.fit(&relabelled(|y| y * y * y - 40.5)).unwrap().model;
        assert_eq!(rule(&own).thresholds, rule(&other).thresholds);
        assert_eq!(own.scorer.scores(&data.items).unwrap(), other.scorer.scores(&data.items).unwrap());
        assert_eq!(rule(&other).grades, [-39.5, -32.5, -13.5, 23.5]);
        let turned = svm.fit(&relabelled(|y| -y)).unwrap().model;
        assert!((turned.training.objective / own.training.objective - 1.0).abs() < 1e-8);
        let thresholds = &rule(&own).thresholds;
        for (a, b) in rule(&turned).thresholds.iter().zip(thresholds.iter().rev()) {
            assert!((a + b).abs() < 1e-3, "{a} {b}");
        }
    }
}

#[test]
fn bins_are_grades_of_values_and_are_kept() {
    let mut data = graded(60, 3, 0.5, 500);
    data.labels = rows_of(&data).iter().map(|x| 10.0 * x[0] - x[2]).collect();
    let model = OrdinalSvm::new().bins(Some(5)).fit(&data).unwrap().model;
    let found = rule(&model);
    assert_eq!(found.grades, [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!((found.thresholds.len(), found.cuts.as_ref().unwrap().len()), (4, 4));
    // The same as grades that somebody gave.
    let by_hand: Vec<f64> = data.labels.iter().map(|&label| found.grade_of_label(label)).collect();
    let given = OrdinalSvm::new().fit(&Ranking { labels: by_hand, ..data.clone() }).unwrap().model;
    assert_eq!(rule(&given).thresholds, found.thresholds);
    // Labels that are mostly the same leave room for two bins; one label alone for none.
    data.labels = (0..60).map(|item| if item < 50 { 0.0 } else { 1.0 }).collect();
    let model = OrdinalSvm::new().bins(Some(5)).fit(&data).unwrap().model;
    assert_eq!(rule(&model).grades, [1.0, 2.0]);
    assert!(model.training.warnings.iter().any(|warning| warning.contains("2 bins instead of 5")));
    data.labels = vec![3.0; 60];
    assert!(OrdinalSvm::new().bins(Some(5)).fit(&data).unwrap_err().to_string().contains("label 3"));
}

#[test]
fn what_cannot_be_learnt_is_told() {
    let data = graded(30, 3, 0.5, 600);
    let told = |svm: OrdinalSvm, data: &Ranking| match svm.fit(data) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("learnt"),
    };
    let one = Ranking { labels: vec![2.0; 30], ..data.clone() };
    assert!(told(OrdinalSvm::new(), &one).contains("all items have the label 2"));
    let nothing = Ranking { weights: Some(vec![0.0; 30]), ..data.clone() };
    assert!(told(OrdinalSvm::new(), &nothing).contains("no item has a weight above 0"));
    let many = graded(300, 3, 0.5, 601);
    let many = Ranking { labels: (0..300).map(f64::from).collect(), weights: None, ..many };
    assert!(told(OrdinalSvm::new(), &many).contains("--bins"));
    for (svm, word) in [
        (OrdinalSvm::new().c(f64::INFINITY), "hard margin"),
        (OrdinalSvm::new().c(0.0), "C = 0"),
        (OrdinalSvm::new().c(f64::NAN), "C = NaN"),
        (OrdinalSvm::new().bins(Some(1)), "bins = 1"),
        (OrdinalSvm::new().loss(Loss::Logistic), "hinge or squared-hinge"),
        (OrdinalSvm::new().tol(0.0), "tol = 0"),
    ] {
        let told = told(svm, &data);
        assert!(told.contains(word), "{told}");
    }
    assert!(matches!(Ranking::new(data.items.clone(), vec![f64::NAN; 30], None), Err(Error::Parameter { .. })));
    // A grade that only an item of weight 0 has is none; groups do not matter; all items the same teach nothing but that.
    let mut weights = vec![1.0; 30];
    (0..30).filter(|&item| data.labels[item] == 2.0).for_each(|item| weights[item] = 0.0);
    let groups = Groups::from_ids((0..30).map(|item| (item % 4).to_string()));
    let skipped = Ranking { weights: Some(weights), groups, ..data.clone() };
    assert_eq!(rule(&OrdinalSvm::new().fit(&skipped).unwrap().model).grades, [1.0, 3.0]);
    let same = Ranking::new(items(&vec![vec![1.0, 2.0]; 9]), (0..9).map(|k| f64::from(k % 3)).collect(), None).unwrap();
    for kernel in [Kernel::Linear, Kernel::rbf(1.0)] {
        let model = OrdinalSvm::new().kernel(kernel).fit(&same).unwrap().model;
        let warnings = &model.training.warnings;
        assert!(
            is_ordered(&model) && warnings.iter().any(|warning| warning.contains("all scores are equal")),
            "{kernel:?} {model:?}"
        );
    }
}

#[test]
fn extreme_costs_end_with_an_honest_gap() {
    let mut data = graded(60, 4, 0.1, 700);
    // Copies of an item that contradict each other would cost as much as C does.
    (0..60 / 8).for_each(|k| data.labels[59 - k] = data.labels[k]);
    for kernel in [Kernel::Linear, Kernel::rbf(0.5)] {
        for (c, constraints) in [1e-9, 1e6, 1e12].into_iter().flat_map(|c| BOTH.map(|of| (c, of))) {
            let svm = OrdinalSvm::new().c(c).kernel(kernel).constraints(constraints);
            let model = svm.fit(&data).unwrap().model;
            let plain = plain_objective(&model, &data, &svm);
            assert!((plain / model.training.objective - 1.0).abs() < 1e-3, "{kernel:?} C {c} {plain}");
            assert!(model.training.gap >= 0.0 && is_ordered(&model), "{kernel:?} C {c}");
            assert!(
                model.training.gap <= 1e-3 || model.training.stop != Stop::Converged,
                "{kernel:?} C {c} {:e}",
                model.training.gap
            );
        }
    }
}

/// Grades that features say nothing of, and slack that costs very much: nearly all of the work is to fit what cannot be learned.
#[test]
fn large_costs_take_no_longer() {
    let mut random = Random::new(77);
    for (n, c, loss) in
        [(60, 1e8, Loss::Hinge), (200, 1e6, Loss::Hinge), (200, 1e8, Loss::Hinge), (200, 1e8, Loss::SquaredHinge)]
    {
        let rows: Vec<Vec<f64>> = (0..n).map(|_| vec![random.normal(), random.normal()]).collect();
        let data = Ranking::new(items(&rows), (0..n).map(|k| f64::from(k as u32 % 4)).collect(), None).unwrap();
        for constraints in BOTH {
            let mut svm = OrdinalSvm::new().c(c).kernel(Kernel::rbf(0.5)).loss(loss).constraints(constraints);
            // A limit of the search, not of the test: the dual alone takes far longer.
            svm.effort.time_limit = Some(Duration::from_secs(10));
            let model = svm.fit(&data).unwrap().model;
            let training = &model.training;
            let what = format!(
                "{n} items, C {c:e}, {constraints:?} {loss:?}: {} gap {:e} {:?}",
                training.objective, training.gap, training.stop
            );
            assert!(training.stop == Stop::Converged && training.gap <= 1e-3, "{what}");
            let plain = plain_objective(&model, &data, &svm);
            assert!((plain / training.objective - 1.0).abs() < 1e-5, "{what}: {plain} by plain loops");
            assert!(is_ordered(&model), "{what}");
        }
    }
}

struct Never;

impl Watch for Never {
    fn on_progress(&self, _: Progress) -> bool {
        false
    }
}

#[test]
fn limits_leave_a_model_that_says_so() {
    let data = graded(400, 5, 1.0, 800);
    for (kernel, constraints) in [(Kernel::Linear, BOTH[1]), (Kernel::rbf(0.2), BOTH[0]), (Kernel::rbf(0.2), BOTH[1])] {
        let mut svm = OrdinalSvm::new().c(10.0).kernel(kernel).constraints(constraints).tol(1e-9);
        let stopped = svm.fit_watched(&data, &Never).unwrap().model;
        assert_eq!(stopped.training.stop, Stop::Interrupted);
        svm.effort.max_iter = Some(1);
        let short = svm.fit(&data).unwrap().model;
        assert_eq!(short.training.stop, Stop::MaxIter);
        svm.effort.max_iter = None;
        svm.effort.time_limit = Some(Duration::ZERO);
        let timed = svm.fit(&data).unwrap().model;
        assert_eq!(timed.training.stop, Stop::TimeLimit);
        for model in [stopped, short, timed] {
            assert!(model.training.gap > 1e-9 && model.training.warnings.iter().any(|w| w.contains("not converged")));
            let plain = plain_objective(&model, &data, &svm);
            assert!((plain / model.training.objective - 1.0).abs() < 1e-6);
        }
    }
}

/// Where features lie far from zero or are scaled, thresholds take over what scores are moved by.
#[test]
fn moved_features_have_the_same_grades() {
    let data = graded(120, 4, 0.3, 900);
    let far: Vec<Vec<f64>> = rows_of(&data).iter().map(|x| x.iter().map(|x| x + 1e4).collect()).collect();
    let moved = Ranking { items: items(&far), ..data.clone() };
    for scale in [Scale::None, Scale::Standard, Scale::Minmax] {
        for (kernel, constraints) in [(Kernel::Linear, BOTH[0]), (Kernel::Linear, BOTH[1]), (Kernel::rbf(0.3), BOTH[0])]
        {
            let svm = OrdinalSvm::new().kernel(kernel).constraints(constraints).scale(scale).tol(1e-8);
            let [own, other] = [&data, &moved].map(|data| (svm.fit(data).unwrap().model, data));
            let (a, b) = (own.0.training.objective, other.0.training.objective);
            assert!((a / b - 1.0).abs() < 1e-6, "{scale:?} {kernel:?}: {a} {b}");
            let [own, other] = [own, other].map(|(model, data)| model.grade(&data.items).unwrap());
            let n_apart = own.iter().zip(&other).filter(|(a, b)| a != b).count();
            let n_wrong = own.iter().zip(&data.labels).filter(|(a, b)| a != b).count();
            assert!(n_apart <= 1 && n_wrong < 60, "{scale:?} {kernel:?} {constraints:?}: {n_apart} {n_wrong}");
        }
    }
}
