//! Classifiers beside plain loops: the conditions of the optimum, the tutorial's example, one-vs-one by hand.

use rankwise::data::{ClassItems, Features, Items, Precision, Random};
use rankwise::kernel::{Gamma, KernelFunction};
use rankwise::model::{Basis, ClassScheme, ClassWeights, Model, ScoreFunction};
use rankwise::{Error, Kernel, Loss, Stop, SvmClassifier};

pub(crate) fn items(rows: &[Vec<f64>]) -> Items {
    Items::new(Features::dense(rows[0].len(), rows.concat(), Precision::F64).unwrap(), None, None).unwrap()
}

/// Two clouds of points that overlap.
pub(crate) fn clouds(n: usize, d: usize, n_classes: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<String>) {
    let mut random = Random::new(seed);
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    for k in 0..n {
        let class = k % n_classes;
        rows.push((0..d).map(|f| random.normal() + if f % n_classes == class { 1.5 } else { 0.0 }).collect());
        labels.push(["b", "c", "a", "d"][class].to_string());
    }
    (rows, labels)
}

/// ½‖w‖² + C·Σ cost·ℓ(m − y·f) and f from coefficients of support items by plain loops.
fn plain_scores(model: &Model, rows: &[Vec<f64>]) -> (f64, Vec<f64>) {
    let ScoreFunction::Kernel { kernel, support, coefficients, bias } = &model.scorer.function else {
        let ScoreFunction::Linear { weights, bias } = &model.scorer.function else { panic!() };
        let dot = |x: &Vec<f64>| weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        return (0.5 * weights.iter().map(|w| w * w).sum::<f64>(), rows.iter().map(|x| dot(x) + bias).collect());
    };
    let own: Vec<Vec<f64>> = (0..support.n_rows())
        .map(|row| {
            let mut out = vec![0.0; support.n_cols()];
            support.copy_row(row, &mut out);
            out
        })
        .collect();
    let sum = |x: &Vec<f64>| own.iter().zip(coefficients).map(|(s, t)| t * kernel.value(s, x)).sum::<f64>();
    let square: f64 = own.iter().zip(coefficients).map(|(s, t)| t * sum(s)).sum();
    (0.5 * square, rows.iter().map(|x| sum(x) + bias).collect())
}

fn sign(data: &ClassItems, item: usize) -> f64 {
    if data.labels[item] == 1 { 1.0 } else { -1.0 }
}

fn plain_objective(model: &Model, data: &ClassItems, rows: &[Vec<f64>], c: f64, loss: Loss) -> f64 {
    let (half, scores) = plain_scores(model, rows);
    let losses = scores
        .iter()
        .enumerate()
        .map(|(item, f)| data.weight(item) * loss.value(data.margin(item) - sign(data, item) * f));
    half + c * losses.sum::<f64>()
}

fn coefficients(model: &Model) -> &[f64] {
    match &model.scorer.function {
        ScoreFunction::Kernel { coefficients, .. } | ScoreFunction::Several { coefficients, .. } => coefficients,
        ScoreFunction::Linear { weights, .. } | ScoreFunction::Landmarks { weights, .. } => weights,
    }
}

/// The tutorial's example: four corners, K = (1 + a·b)².
#[test]
fn exclusive_or_has_the_tutorials_solution() {
    let rows = vec![vec![-1.0, -1.0], vec![-1.0, 1.0], vec![1.0, -1.0], vec![1.0, 1.0]];
    let data = ClassItems::new(items(&rows), &["-1", "1", "1", "-1"]).unwrap();
    let kernel = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 };
    for c in [1.0, 1e12, f64::INFINITY] {
        let fit = SvmClassifier::new().c(c).kernel(kernel).tol(1e-9).fit(&data).unwrap();
        let ScoreFunction::Kernel { support, coefficients, bias, .. } = &fit.model.scorer.function else { panic!() };
        assert_eq!(support.n_rows(), 4);
        // Every α = 1/8; f = −x₁x₂; ½‖w‖² = 1/4 = the dual value.
        for row in 0..4 {
            let mut x = vec![0.0; 2];
            support.copy_row(row, &mut x);
            assert!((coefficients[row] + 0.125 * x[0] * x[1]).abs() < 1e-6, "{coefficients:?}");
        }
        assert!(bias.abs() < 1e-6 && (fit.model.training.objective - 0.25).abs() < 1e-8, "{c}");
        // Features 1, √2x₁, √2x₂ and so on: the only weight is −1/√2, of √2·x₁x₂.
        let weight: f64 = (0..4)
            .map(|row| {
                let mut x = vec![0.0; 2];
                support.copy_row(row, &mut x);
                coefficients[row] * 2.0f64.sqrt() * x[0] * x[1]
            })
            .sum();
        assert!((weight + 0.5f64.sqrt()).abs() < 1e-6);
        assert_eq!(fit.model.training.margin.is_some(), c == f64::INFINITY);
        if let Some(margin) = fit.model.training.margin {
            assert!((margin - 2.0f64.sqrt()).abs() < 1e-6, "{margin}");
        }
        assert_eq!(fit.model.classify(&data.items).unwrap().classes, data.labels);
    }
}

#[test]
fn weights_and_dual_find_the_same_linear_machine() {
    let (rows, labels) = clouds(60, 3, 2, 1);
    let mut random = Random::new(9);
    let weights: Vec<f64> = rows.iter().map(|_| random.between(-1.0, 1.0).exp2()).collect();
    let margins: Vec<f64> = rows.iter().map(|_| random.between(0.5, 2.0)).collect();
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    let data = data.with_weights(weights).unwrap().with_margins(margins).unwrap();
    for loss in Loss::OF_CLASSES {
        for c in [0.01, 1.0, 30.0] {
            let svm = SvmClassifier::new().c(c).loss(loss).tol(1e-7);
            let linear = svm.clone().fit(&data).unwrap().model;
            // The same kernel by another name goes to the dual.
            let poly = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 1 };
            let dual = svm.kernel(poly).fit(&data).unwrap().model;
            for model in [&linear, &dual] {
                let training = &model.training;
                assert_eq!(training.stop, Stop::Converged, "{loss:?} {c} {:?}", training.warnings);
                let objective = plain_objective(model, &data, &rows, c, loss);
                assert!((objective - training.objective).abs() <= 1e-9 * objective, "{loss:?} {c}");
            }
            let (a, b) = (linear.training.objective, dual.training.objective);
            assert!((a - b).abs() <= 3e-7 * a, "{loss:?} {c}: {a} {b}");
            let (one, other) = (plain_scores(&linear, &rows).1, plain_scores(&dual, &rows).1);
            one.iter().zip(other).for_each(|(a, b)| assert!((a - b).abs() < 3e-3, "{loss:?} {c}: {a} {b}"));
            // The library's scores are those of the plain loops.
            let scores = dual.scorer.scores(&data.items).unwrap();
            scores.iter().zip(plain_scores(&dual, &rows).1).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
        }
    }
}

#[test]
fn the_conditions_of_the_optimum_hold() {
    let (rows, labels) = clouds(80, 2, 2, 4);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    for (loss, c) in [(Loss::Hinge, 2.0), (Loss::SquaredHinge, 0.5)] {
        let fit = SvmClassifier::new().c(c).loss(loss).kernel(Kernel::rbf(0.7)).tol(1e-9).fit(&data).unwrap();
        let ScoreFunction::Kernel { support, coefficients, .. } = &fit.model.scorer.function else { panic!() };
        let scores = plain_scores(&fit.model, &rows).1;
        // t of each item: all rows are distinct here.
        let mut t = vec![0.0; rows.len()];
        for (row, coefficient) in coefficients.iter().enumerate() {
            let mut x = vec![0.0; 2];
            support.copy_row(row, &mut x);
            t[rows.iter().position(|r| *r == x).unwrap()] = *coefficient;
        }
        assert!(t.iter().sum::<f64>().abs() < 1e-9, "{loss:?}");
        for item in 0..rows.len() {
            let alpha = sign(&data, item) * t[item];
            let slack = 1.0 - sign(&data, item) * scores[item];
            assert!(alpha >= 0.0);
            match loss {
                // Squared slack: α = 2C·slack, exactly.
                Loss::SquaredHinge => assert!((alpha - 2.0 * c * slack.max(0.0)).abs() < 1e-3, "{alpha} {slack}"),
                _ if alpha == 0.0 => assert!(slack < 1e-3, "{slack}"),
                _ if alpha >= c => assert!(slack > -1e-3, "{slack}"),
                _ => assert!(slack.abs() < 1e-3, "{alpha} {slack}"),
            }
        }
    }
}

#[test]
fn weight_two_is_twice_and_weight_zero_is_absent() {
    let (rows, labels) = clouds(24, 2, 2, 7);
    let twice: Vec<f64> = (0..24).map(|k| f64::from(u8::from(k % 3 == 0)) + f64::from(u8::from(k % 5 != 0))).collect();
    let mut copies = (Vec::new(), Vec::new());
    for (k, weight) in twice.iter().enumerate() {
        for _ in 0..*weight as usize {
            copies.0.push(rows[k].clone());
            copies.1.push(labels[k].clone());
        }
    }
    let weighted = ClassItems::new(items(&rows), &labels).unwrap().with_weights(twice).unwrap();
    let copied = ClassItems::new(items(&copies.0), &copies.1).unwrap();
    for kernel in [Kernel::Linear, Kernel::Rbf { gamma: Gamma::Scale }] {
        for scale in [rankwise::data::Scale::None, rankwise::data::Scale::Standard] {
            let svm = SvmClassifier::new().kernel(kernel).scale(scale).tol(1e-8);
            let (a, b) = (svm.fit(&weighted).unwrap().model, svm.fit(&copied).unwrap().model);
            assert!((a.training.objective / b.training.objective - 1.0).abs() < 1e-7, "{kernel:?}");
            let all = |model: &Model| model.scorer.scores(&weighted.items).unwrap();
            all(&a).iter().zip(all(&b)).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{kernel:?} {a} {b}"));
        }
    }
}

#[test]
fn classes_weigh_what_they_are_said_to() {
    let (mut rows, mut labels) = clouds(60, 2, 2, 11);
    rows.truncate(40);
    labels.truncate(40);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    let of = |named: ClassWeights| SvmClassifier::new().class_weight(named).tol(1e-8).fit(&data).unwrap().model;
    let named = of(ClassWeights::Named(vec![("c".into(), 3.0)]));
    let weights = labels.iter().map(|label| if label == "c" { 3.0 } else { 1.0 }).collect();
    let by_items = SvmClassifier::new().tol(1e-8).fit(&data.clone().with_weights(weights).unwrap()).unwrap().model;
    assert_eq!(named.training.objective, by_items.training.objective);
    let counts = |class: &str| labels.iter().filter(|label| *label == class).count() as f64;
    let each = |class: &str| (class.to_string(), 40.0 / (2.0 * counts(class)));
    let (balanced, spelled) = (of(ClassWeights::Balanced), of(ClassWeights::Named(vec![each("b"), each("c")])));
    assert_eq!(balanced.training.objective, spelled.training.objective);
    let unknown = SvmClassifier::new().class_weight(ClassWeights::Named(vec![("x".into(), 1.0)])).fit(&data);
    assert!(matches!(unknown, Err(Error::Parameter { .. })));
}

#[test]
fn one_vs_one_is_a_machine_for_every_pair_and_a_vote() {
    let (rows, labels) = clouds(45, 3, 3, 5);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    assert_eq!(data.classes, ["a", "b", "c"]);
    for kernel in [Kernel::Linear, Kernel::rbf(0.4)] {
        let svm = SvmClassifier::new().kernel(kernel).tol(1e-8);
        let model = svm.fit(&data).unwrap().model;
        let found = model.classify(&data.items).unwrap();
        assert_eq!((found.n_scores, found.scores.len()), (3, 3 * 45));
        // Each pair of classes on its own.
        let mut values = Vec::new();
        let mut objective = 0.0;
        for (i, j) in [("a", "b"), ("a", "c"), ("b", "c")] {
            let some: Vec<usize> = (0..45).filter(|&k| labels[k] == i || labels[k] == j).collect();
            let of_pair = ClassItems::new(
                items(&some.iter().map(|&k| rows[k].clone()).collect::<Vec<_>>()),
                &some.iter().map(|&k| labels[k].clone()).collect::<Vec<_>>(),
            );
            let machine = svm.fit(&of_pair.unwrap()).unwrap().model;
            objective += machine.training.objective;
            values.push(machine.scorer.scores(&data.items).unwrap());
        }
        assert!((model.training.objective / objective - 1.0).abs() < 1e-6);
        for (item, &class) in found.classes.iter().enumerate() {
            let mut votes = [0.0; 3];
            let mut sums = [0.0; 3];
            for (machine, (i, j)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
                let f = values.get(machine).unwrap()[item];
                votes[if f >= 0.0 { j } else { i }] += 1.0;
                sums[i] -= f;
                sums[j] += f;
            }
            let scores: Vec<f64> = (0..3).map(|k| votes[k] + sums[k] / (3.0 * (f64::abs(sums[k]) + 1.0))).collect();
            let best = (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
            assert_eq!(class as usize, best, "{item} {scores:?}");
            let (of_model, scores) = (&found.scores[3 * item..][..3], &scores);
            of_model.iter().zip(scores).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{of_model:?} {scores:?}"));
        }
        // One-vs-rest: a machine for each class.
        let rest = svm.clone().classes(ClassScheme::Ovr).fit(&data).unwrap().model;
        let is_c: Vec<String> = labels.iter().map(|l| if l == "c" { "yes" } else { "no" }.to_string()).collect();
        let machine = svm.fit(&ClassItems::new(items(&rows), &is_c).unwrap()).unwrap().model;
        let (all, one) = (rest.classify(&data.items).unwrap(), machine.scorer.scores(&data.items).unwrap());
        for (of_item, one) in all.scores.chunks(3).zip(one) {
            assert!((of_item[2] - one).abs() < 1e-3);
        }
        assert!(matches!(&rest.scorer.function, ScoreFunction::Several { biases, .. } if biases.len() == 3));
    }
}

#[test]
fn names_of_classes_do_not_matter_and_neither_does_the_order() {
    let (rows, labels) = clouds(50, 2, 2, 3);
    let swapped: Vec<&str> = labels.iter().map(|label| if label == "b" { "z" } else { "c" }).collect();
    let (a, b) = (ClassItems::new(items(&rows), &labels).unwrap(), ClassItems::new(items(&rows), &swapped).unwrap());
    let order: Vec<usize> = (0..50).map(|k| k * 7 % 50).collect();
    let moved: Vec<Vec<f64>> = order.iter().map(|&k| rows[k].clone()).collect();
    let moved_labels: Vec<String> = order.iter().map(|&k| labels[k].clone()).collect();
    let moved = ClassItems::new(items(&moved), &moved_labels).unwrap();
    for kernel in [Kernel::Linear, Kernel::rbf(1.0)] {
        let svm = SvmClassifier::new().kernel(kernel).tol(1e-9);
        let scores = |data: &ClassItems| svm.fit(data).unwrap().model.scorer.scores(&a.items).unwrap();
        let (one, other, third) = (scores(&a), scores(&b), scores(&moved));
        for k in 0..50 {
            assert!((one[k] + other[k]).abs() < 1e-3, "{kernel:?} {} {}", one[k], other[k]);
            assert!((one[k] - third[k]).abs() < 1e-3, "{kernel:?} {} {}", one[k], third[k]);
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let (rows, labels) = clouds(60, 3, 3, 8);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    for kernel in [Kernel::Linear, Kernel::rbf(0.5)] {
        let bytes = |threads: usize| {
            let svm = SvmClassifier::new().kernel(kernel).probabilities(true).threads(threads);
            rankwise::io::model_to_bytes(&svm.fit(&data).unwrap().model).unwrap()
        };
        assert_eq!(bytes(1), bytes(3), "{kernel:?}");
    }
}

#[test]
fn hard_margins_are_found_or_refuted() {
    let rows = vec![vec![0.0, 0.0], vec![0.0, 1.0], vec![3.0, 0.0], vec![4.0, 2.0]];
    let apart = ClassItems::new(items(&rows), &["n", "n", "y", "y"]).unwrap();
    let model = SvmClassifier::new().c(f64::INFINITY).tol(1e-8).fit(&apart).unwrap().model;
    // The middle between x₁ = 0 and x₁ = 3: w = (2/3, 0), margin 1.5.
    let ScoreFunction::Linear { weights, bias } = &model.scorer.function else { panic!() };
    assert!((weights[0] - 2.0 / 3.0).abs() < 1e-3 && weights[1].abs() < 1e-3 && (bias + 1.0).abs() < 1e-3);
    assert!((model.training.margin.unwrap() - 1.5).abs() < 1e-5);
    let crossed = ClassItems::new(items(&rows), &["n", "y", "y", "n"]).unwrap();
    let twins = ClassItems::new(items(&[rows[0].clone(), rows[0].clone(), rows[2].clone()]), &["n", "y", "y"]).unwrap();
    let none = ClassItems::new(items(&[vec![1.0], vec![1.0]]), &["n", "y"]).unwrap();
    for data in [&crossed, &twins, &none] {
        let fit = SvmClassifier::new().c(f64::INFINITY).fit(data);
        assert!(
            matches!(&fit, Err(Error::NotSeparable { problem, .. }) if problem.contains("not separable")),
            "{fit:?}"
        );
    }
    let fit = SvmClassifier::new().c(f64::INFINITY).kernel(Kernel::rbf(1.0)).fit(&twins);
    assert!(matches!(fit, Err(Error::NotSeparable { .. })), "{fit:?}");
    // A kernel that tells them apart.
    let model = SvmClassifier::new().c(f64::INFINITY).kernel(Kernel::rbf(1.0)).tol(1e-6).fit(&crossed).unwrap().model;
    let scores = model.scorer.scores(&crossed.items).unwrap();
    (0..4).for_each(|k| assert!(sign(&crossed, k) * scores[k] > 1.0 - 1e-3, "{scores:?}"));
}

#[test]
fn extreme_parameters_and_data_end() {
    let (rows, labels) = clouds(40, 2, 2, 2);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    for (c, loss) in
        [(1e12, Loss::Hinge), (1e12, Loss::SquaredHinge), (1e-12, Loss::Hinge), (1e-12, Loss::SquaredHinge)]
    {
        let model = SvmClassifier::new().c(c).loss(loss).fit(&data).unwrap().model;
        assert!(model.training.objective.is_finite(), "{c} {loss:?}");
    }
    // Features that say nothing.
    for constant in [0.0, 3.0, 1e9] {
        let same: Vec<Vec<f64>> = (0..10).map(|_| vec![constant]).collect();
        let data = ClassItems::new(items(&same), &labels[..10]).unwrap();
        for kernel in [Kernel::Linear, Kernel::rbf(1.0)] {
            for loss in Loss::OF_CLASSES {
                let model = SvmClassifier::new().kernel(kernel).loss(loss).fit(&data).unwrap().model;
                let scores = model.scorer.scores(&data.items).unwrap();
                assert!(scores.iter().all(|s| s.abs() < 1.0 + 1e-6), "{constant} {kernel:?} {loss:?} {scores:?}");
            }
        }
    }
    // Far from zero.
    let far: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x + 1e7).collect()).collect();
    let (near, far) = (data.clone(), ClassItems::new(items(&far), &labels).unwrap());
    let scores = |data: &ClassItems| {
        let model = SvmClassifier::new().tol(1e-8).fit(data).unwrap().model;
        model.scorer.scores(&data.items).unwrap()
    };
    scores(&near).iter().zip(scores(&far)).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{a} {b}"));
    // Many copies are few items.
    let copies: Vec<Vec<f64>> = (0..100_000).map(|k| rows[k % 40].clone()).collect();
    let many: Vec<String> = (0..100_000).map(|k| labels[k % 40].clone()).collect();
    let model = SvmClassifier::new().kernel(Kernel::rbf(1.0)).fit(&ClassItems::new(items(&copies), &many).unwrap());
    assert!(model.unwrap().model.training.support <= Some(40));
}

#[test]
fn data_that_cannot_be_learnt_from_are_refused() {
    let one = ClassItems::new(items(&[vec![1.0], vec![2.0]]), &["a", "a"]).unwrap();
    let error = SvmClassifier::new().fit(&one).unwrap_err().to_string();
    assert!(error.contains("all items are of the class a"), "{error}");
    let absent = ClassItems::new(items(&[vec![1.0], vec![2.0]]), &["a", "b"]).unwrap();
    let absent = absent.with_weights(vec![0.0, 1.0]).unwrap();
    assert!(SvmClassifier::new().fit(&absent).unwrap_err().to_string().contains("class b"));
    for svm in [
        SvmClassifier::new().c(0.0),
        SvmClassifier::new().c(f64::NAN),
        SvmClassifier::new().loss(Loss::Epsilon),
        SvmClassifier::new().loss(Loss::Logistic),
        SvmClassifier::new().kernel(Kernel::rbf(-1.0)),
        SvmClassifier::new().class_weight(ClassWeights::Named(vec![("a".into(), 0.0)])),
    ] {
        assert!(svm.fit(&absent).unwrap_err().is_usage(), "{svm:?}");
    }
    assert!(ClassItems::new(items(&[vec![1.0]]), &["a"]).unwrap().with_margins(vec![0.0]).is_err());
}

#[test]
fn probabilities_are_those_of_the_chosen_class() {
    for n_classes in [2, 3] {
        let (rows, labels) = clouds(120, 3, n_classes, 6);
        let data = ClassItems::new(items(&rows), &labels).unwrap();
        for scheme in [ClassScheme::Ovo, ClassScheme::Ovr] {
            let svm = SvmClassifier::new().probabilities(true).classes(scheme);
            let found = svm.fit(&data).unwrap().model.classify(&data.items).unwrap();
            let chances = found.chances.unwrap();
            let mut loss = 0.0;
            for (item, of_item) in chances.chunks_exact(n_classes).enumerate() {
                assert!((of_item.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                let largest = of_item.iter().copied().fold(0.0, f64::max);
                assert_eq!(of_item[found.classes[item] as usize], largest);
                loss -= of_item[data.labels[item] as usize].ln() / rows.len() as f64;
            }
            // Better than knowing nothing.
            assert!(loss < 0.9 * (n_classes as f64).ln(), "{n_classes} {scheme:?} {loss}");
        }
    }
}

#[test]
fn given_kernel_values_make_the_same_machine() {
    let (rows, labels) = clouds(45, 2, 3, 12);
    let data = ClassItems::new(items(&rows), &labels).unwrap();
    let kernel = KernelFunction::Rbf { gamma: 0.8 };
    let matrix: Vec<f64> = rows.iter().flat_map(|a| rows.iter().map(|b| kernel.value(a, b))).collect();
    let svm = SvmClassifier::new().kernel(Kernel::rbf(0.8)).tol(1e-8);
    let (given, model) = (svm.fit_given(&matrix, &labels, None).unwrap(), svm.fit(&data).unwrap().model);
    assert!((given.objective / model.training.objective - 1.0).abs() < 1e-7);
    let (a, b) = (given.classify_rows(&matrix).unwrap(), model.classify(&data.items).unwrap());
    a.scores.iter().zip(&b.scores).for_each(|(a, b)| assert!((a - b).abs() < 1e-3));
    assert!(matches!(&model.scorer.function, ScoreFunction::Several { basis: Basis::Kernel { .. }, .. }));
    assert!(!coefficients(&model).is_empty());
    let mut broken = matrix.clone();
    broken[1] += 0.1;
    assert!(svm.fit_given(&broken, &labels, None).is_err());
    assert!(svm.fit_given(&matrix[1..], &labels, None).is_err());
    assert!(given.scores_of_rows(&matrix[1..]).is_err());
}

/// Where next to nothing curves, the dual alone takes for ever: a polynomial of large numbers, a very wide rbf with a large C.
#[test]
fn flat_kernels_do_not_take_for_ever() {
    let (mut rows, labels) = clouds(600, 4, 2, 5);
    rows.iter_mut().flatten().for_each(|x| *x *= 20.0);
    let poly = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 3 };
    for (kernel, c) in [(poly, 1e-3), (poly, 1.0), (Kernel::rbf(2.5e-5), 1e6)] {
        let data = ClassItems::new(items(&rows), &labels).unwrap();
        let mut svm = SvmClassifier::new().kernel(kernel).c(c);
        svm.effort.max_iter = Some(600_000);
        let model = svm.fit(&data).unwrap().model;
        assert_eq!(model.training.stop, Stop::Converged, "{kernel:?} {c}: gap {}", model.training.gap);
        let objective = plain_objective(&model, &data, &rows, c, Loss::Hinge);
        assert!((objective / model.training.objective - 1.0).abs() < 1e-5, "{objective} {}", model.training.objective);
    }
}

/// Values that were taken for classes had a machine for every two of them, of which memory ran out.
#[test]
fn values_are_no_classes() {
    for (n, classes) in [(1100u32, ClassScheme::Ovo), (20_000, ClassScheme::Ovr), (20_000, ClassScheme::CrammerSinger)]
    {
        let rows: Vec<Vec<f64>> = (0..n).map(|at| vec![f64::from(at)]).collect();
        let labels: Vec<f64> = (0..n).map(|at| f64::from(at) + 0.5).collect();
        let data = ClassItems::of_labels(items(&rows), &labels).unwrap();
        let error = SvmClassifier::new().classes(classes).fit(&data).unwrap_err().to_string();
        assert!(error.contains(&format!("labels are {n} different ones")) && error.contains("regress"), "{error}");
    }
}
