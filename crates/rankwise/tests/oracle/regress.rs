//! Regressions within a tube beside plain loops and closed conditions.

use rankwise::data::{Random, Ranking, Scale};
use rankwise::kernel::{Gamma, KernelFunction};
use rankwise::model::{Model, ScoreFunction};
use rankwise::{Error, Kernel, Loss, Stop, SvmRegressor};

use super::classify::items;

/// A bent line with noise.
pub(crate) fn bent(n: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut random = Random::new(seed);
    let rows: Vec<Vec<f64>> = (0..n).map(|_| vec![random.between(-2.0, 2.0), random.normal()]).collect();
    let labels = rows.iter().map(|x| 50.0 + 8.0 * x[0] + 3.0 * x[0] * x[0] - x[1] + 2.0 * random.normal()).collect();
    (rows, labels)
}

pub(crate) fn half_square(model: &Model) -> f64 {
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

fn objective(model: &Model, data: &Ranking, svm: &SvmRegressor) -> f64 {
    let values = model.scorer.scores(&data.items).unwrap();
    let losses = values
        .iter()
        .enumerate()
        .map(|(item, f)| data.weight(item) * svm.loss.value((data.labels[item] - f).abs() - svm.epsilon));
    half_square(model) + svm.c * losses.sum::<f64>()
}

#[test]
fn weights_and_dual_find_the_same_regression() {
    let (rows, labels) = bent(60, 1);
    let mut random = Random::new(5);
    let weights: Vec<f64> = rows.iter().map(|_| random.between(-1.0, 1.0).exp2()).collect();
    let data = Ranking::new(items(&rows), labels, None).unwrap().with_weights(weights).unwrap();
    for loss in Loss::OF_TUBES {
        for (c, epsilon) in [(0.05, 1.0), (2.0, 0.0), (5.0, 3.0)] {
            let svm = SvmRegressor::new().c(c).loss(loss).epsilon(epsilon).tol(1e-7);
            let linear = svm.fit(&data).unwrap().model;
            let poly = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 1 };
            let dual = svm.clone().kernel(poly).fit(&data).unwrap().model;
            for model in [&linear, &dual] {
                assert_eq!(model.training.stop, Stop::Converged, "{loss:?} {c}");
                let plain = objective(model, &data, &svm);
                assert!((plain / model.training.objective - 1.0).abs() < 1e-8, "{loss:?} {c} {plain}");
            }
            let (a, b) = (linear.training.objective, dual.training.objective);
            assert!((a - b).abs() <= 3e-7 * a, "{loss:?} {c}: {a} {b}");
        }
    }
}

#[test]
fn the_conditions_of_the_optimum_hold() {
    let (rows, labels) = bent(70, 3);
    let data = Ranking::new(items(&rows), labels, None).unwrap();
    for (loss, c) in [(Loss::Epsilon, 4.0), (Loss::SquaredEpsilon, 0.7)] {
        let svm = SvmRegressor::new().c(c).loss(loss).epsilon(1.0).kernel(Kernel::rbf(0.5)).tol(1e-10);
        let model = svm.fit(&data).unwrap().model;
        let ScoreFunction::Kernel { support, coefficients, .. } = &model.scorer.function else { panic!() };
        let values = model.scorer.scores(&data.items).unwrap();
        let mut t = vec![0.0; rows.len()];
        for (row, coefficient) in support.to_dense().chunks(2).zip(coefficients) {
            t[rows.iter().position(|r| r == row).unwrap()] = *coefficient;
        }
        assert!(t.iter().sum::<f64>().abs() < 1e-7);
        for item in 0..rows.len() {
            let error = data.labels[item] - values[item];
            let slack = error.abs() - 1.0;
            match loss {
                Loss::SquaredEpsilon => {
                    let expected = 2.0 * c * slack.max(0.0) * error.signum();
                    assert!((t[item] - expected).abs() < 1e-2, "{} {expected}", t[item]);
                }
                _ if t[item] == 0.0 => assert!(slack < 1e-2, "{slack}"),
                _ if t[item].abs() >= c * (1.0 - 1e-9) => assert!(slack > -1e-2 && error * t[item] > 0.0),
                _ => assert!(slack.abs() < 1e-2 && error * t[item] > 0.0, "{} {slack}", t[item]),
            }
        }
    }
}

#[test]
fn hard_tubes_are_found_or_refuted() {
    // Points (0, 0), (1, 1), (2, 5) in a tube of 1.
    let rows = vec![vec![0.0], vec![1.0], vec![2.0]];
    let data = Ranking::new(items(&rows), vec![0.0, 1.0, 5.0], None).unwrap();
    for kernel in [Kernel::Linear, Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 1 }] {
        let svm = SvmRegressor::new().c(f64::INFINITY).epsilon(1.0).kernel(kernel).tol(1e-7);
        let model = svm.fit(&data).unwrap().model;
        let values = model.scorer.scores(&data.items).unwrap();
        values.iter().zip(&data.labels).for_each(|(f, y)| assert!((f - y).abs() < 1.0 + 1e-4, "{kernel:?} {values:?}"));
        // f(2) ≥ 4 and f(1) ≤ 2: no slope below 2 will do.
        assert!((half_square(&model) - 2.0).abs() < 1e-3, "{kernel:?} {}", half_square(&model));
        assert!((model.training.margin.unwrap() - 0.5).abs() < 1e-3);
        // No line is that near.
        let narrow = SvmRegressor::new().c(f64::INFINITY).epsilon(0.5).kernel(kernel).fit(&data);
        assert!(matches!(&narrow, Err(Error::NotSeparable { .. })), "{narrow:?}");
    }
    // Larger ones, in weights: noise of at most 1 around a line, and a tube that is just too narrow for it.
    let mut random = Random::new(2);
    let rows: Vec<Vec<f64>> = (0..300).map(|_| (0..4).map(|_| random.normal()).collect()).collect();
    let labels = rows.iter().map(|x| 7.0 + 3.0 * x[0] - x[1] + random.between(-1.0, 1.0)).collect();
    let data = Ranking::new(items(&rows), labels, None).unwrap();
    let svm = SvmRegressor::new().c(f64::INFINITY).tol(1e-5);
    let model = svm.clone().epsilon(1.0).fit(&data).unwrap().model;
    let values = model.scorer.scores(&data.items).unwrap();
    values.iter().zip(&data.labels).for_each(|(f, y)| assert!((f - y).abs() < 1.0 + 1e-3, "{f} {y}"));
    assert!(model.training.gap <= 1e-5 && half_square(&model) <= 5.0 + 1e-6);
    assert!(matches!(svm.epsilon(0.9).fit(&data), Err(Error::NotSeparable { .. })));
    let twins = Ranking::new(items(&[vec![1.0], vec![1.0], vec![2.0]]), vec![0.0, 1.0, 3.0], None).unwrap();
    let fit = SvmRegressor::new().c(f64::INFINITY).kernel(Kernel::rbf(1.0)).fit(&twins);
    assert!(matches!(&fit, Err(Error::NotSeparable { .. })), "{fit:?}");
}

#[test]
fn labels_in_other_units_give_values_in_these_units() {
    let (rows, labels) = bent(50, 8);
    let fit = |unit: f64, kernel: Kernel| {
        let data = Ranking::new(items(&rows), labels.iter().map(|y| unit * y).collect(), None).unwrap();
        let svm = SvmRegressor::new().c(unit).epsilon(0.5 * unit).kernel(kernel).scale(Scale::Standard).tol(1e-8);
        svm.fit(&data).unwrap().model.scorer.scores(&data.items).unwrap()
    };
    for kernel in [Kernel::Linear, Kernel::rbf(0.5)] {
        let plain = fit(1.0, kernel);
        for unit in [1e-9, 1e9] {
            fit(unit, kernel).iter().zip(&plain).for_each(|(a, b)| assert!((a / unit - b).abs() < 1e-2, "{a} {b}"));
        }
    }
}

#[test]
fn constant_labels_and_features_are_answered() {
    for (features, labels) in [([1.0, 2.0, 3.0], [7.0; 3]), ([4.0; 3], [1.0, 2.0, 9.0])] {
        let rows: Vec<Vec<f64>> = features.iter().map(|x| vec![*x]).collect();
        let data = Ranking::new(items(&rows), labels.to_vec(), None).unwrap();
        for kernel in [Kernel::Linear, Kernel::rbf(1.0)] {
            for loss in Loss::OF_TUBES {
                let model = SvmRegressor::new().kernel(kernel).loss(loss).fit(&data).unwrap().model;
                let values = model.scorer.scores(&data.items).unwrap();
                let low = labels.iter().copied().fold(f64::INFINITY, f64::min) - 0.11;
                let high = labels.iter().copied().fold(0.0, f64::max) + 0.11;
                assert!(values.iter().all(|f| (low..high).contains(f)), "{kernel:?} {loss:?} {values:?}");
            }
        }
    }
}

#[test]
fn given_kernel_values_make_the_same_regression() {
    let (rows, labels) = bent(40, 4);
    let kernel = KernelFunction::Rbf { gamma: 0.8 };
    let matrix: Vec<f64> = rows.iter().flat_map(|a| rows.iter().map(|b| kernel.value(a, b))).collect();
    let svm = SvmRegressor::new().kernel(Kernel::rbf(0.8)).c(10.0).tol(1e-8);
    let data = Ranking::new(items(&rows), labels.clone(), None).unwrap();
    let (given, model) = (svm.fit_given(&matrix, &labels, None).unwrap(), svm.fit(&data).unwrap().model);
    let (a, b) = (given.scores_of_rows(&matrix).unwrap(), model.scorer.scores(&data.items).unwrap());
    a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-2, "{a} {b}"));
    assert!(given.classify_rows(&matrix).is_err() && model.classify(&data.items).is_err());
}

#[test]
fn parameters_out_of_range_are_refused() {
    let data = Ranking::new(items(&[vec![1.0], vec![2.0]]), vec![1.0, 2.0], None).unwrap();
    for svm in [
        SvmRegressor::new().c(-1.0),
        SvmRegressor::new().epsilon(-0.1),
        SvmRegressor::new().epsilon(f64::INFINITY),
        SvmRegressor::new().loss(Loss::Hinge),
    ] {
        assert!(svm.fit(&data).unwrap_err().is_usage());
    }
    let absent = data.with_weights(vec![0.0, 0.0]).unwrap();
    assert!(SvmRegressor::new().fit(&absent).unwrap_err().to_string().contains("weight above 0"));
}
