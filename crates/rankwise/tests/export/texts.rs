//! The texts of LIBSVM and LIBLINEAR, scored by what their formats say.

use std::collections::HashMap;

use rankwise::data::Scale;
use rankwise::export::Target;
use rankwise::model::ClassScheme;
use rankwise::{Kernel, SvmClassifier, SvmRegressor};

use super::{KERNELS, classifier, regression, rows, text};
use crate::oracle::classify::items;

/// The lines before `end`, by their first word, and the lines behind.
fn parts(text: &str, end: &str) -> (HashMap<String, Vec<String>>, Vec<String>) {
    let mut lines = text.lines();
    let head = lines.by_ref().take_while(|line| *line != end).map(|line| {
        let mut words = line.split_whitespace().map(String::from);
        (words.next().unwrap(), words.collect())
    });
    (head.collect(), lines.map(String::from).collect())
}

fn numbers(words: &[String]) -> Vec<f64> {
    words.iter().map(|word| word.parse().unwrap()).collect()
}

/// All decisions of a LIBSVM model: of a regression one, of classes one for each pair.
fn libsvm_decisions(text: &str, x: &[f64]) -> Vec<f64> {
    let (head, lines) = parts(text, "SV");
    let number = |key: &str| head.get(key).map_or(f64::NAN, |words| words[0].parse().unwrap());
    let kernel = |a: &[f64]| {
        let dot: f64 = a.iter().zip(x).map(|(a, b)| a * b).sum();
        match head["kernel_type"][0].as_str() {
            "linear" => dot,
            "polynomial" => (number("gamma") * dot + number("coef0")).powf(number("degree")),
            "rbf" => (-number("gamma") * a.iter().zip(x).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp(),
            "sigmoid" => (number("gamma") * dot + number("coef0")).tanh(),
            other => panic!("{other}"),
        }
    };
    let n_classes = number("nr_class") as usize;
    let is_classifier = head["svm_type"][0] == "c_svc";
    let n_columns = if is_classifier { n_classes - 1 } else { 1 };
    assert_eq!(lines.len(), number("total_sv") as usize);
    let support: Vec<(Vec<f64>, f64)> = lines
        .iter()
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let coefficients = words[..n_columns].iter().map(|word| word.parse().unwrap()).collect();
            let mut a = vec![0.0; x.len()];
            for word in &words[n_columns..] {
                let (index, value) = word.split_once(':').unwrap();
                a[index.parse::<usize>().unwrap() - 1] = value.parse().unwrap();
            }
            (coefficients, kernel(&a))
        })
        .collect();
    let rho = numbers(&head["rho"]);
    if !is_classifier {
        return vec![support.iter().map(|(coefficients, value)| coefficients[0] * value).sum::<f64>() - rho[0]];
    }
    let sizes: Vec<usize> = numbers(&head["nr_sv"]).into_iter().map(|n| n as usize).collect();
    let starts: Vec<usize> = (0..n_classes).map(|class| sizes[..class].iter().sum()).collect();
    let mut decisions = Vec::new();
    for i in 0..n_classes {
        for j in i + 1..n_classes {
            let of = |class: usize, column: usize| -> f64 {
                support[starts[class]..][..sizes[class]].iter().map(|(c, value)| c[column] * value).sum()
            };
            decisions.push(of(i, j - 1) + of(j, i) - rho[decisions.len()]);
        }
    }
    decisions
}

/// All decisions of a LIBLINEAR model.
fn liblinear_decisions(text: &str, x: &[f64]) -> Vec<f64> {
    let (head, lines) = parts(text, "w");
    let bias: f64 = head["bias"][0].parse().unwrap();
    let n_features: usize = head["nr_feature"][0].parse().unwrap();
    assert_eq!(lines.len(), n_features + usize::from(bias >= 0.0));
    let mut decisions = Vec::new();
    for (line, value) in lines.iter().zip(x.iter().chain([&bias])) {
        for (at, weight) in line.split_whitespace().enumerate() {
            decisions.resize(decisions.len().max(at + 1), 0.0);
            decisions[at] += weight.parse::<f64>().unwrap() * value;
        }
    }
    decisions
}

#[test]
fn libsvm_computes_the_values_of_regressions() {
    for kernel in KERNELS {
        let model = regression(&SvmRegressor::new().c(2.0).kernel(kernel));
        let told = text(&model, Target::Libsvm);
        let new = rows(40, 9);
        let largest = 10.0;
        for (x, expected) in new.iter().zip(model.scorer.scores(&items(&new)).unwrap()) {
            let found = libsvm_decisions(&told, x)[0];
            assert!((found - expected).abs() < 1e-11 * largest, "{kernel:?} {found} {expected}");
        }
    }
}

#[test]
fn libsvm_tells_classes_apart_as_the_model_does() {
    for kernel in KERNELS {
        for n_classes in [2, 3] {
            let model = classifier(n_classes, &SvmClassifier::new().kernel(kernel));
            let told = text(&model, Target::Libsvm);
            let new = rows(60, 9);
            let machines = model.scorer.scores_of_machines(&items(&new)).unwrap();
            let n_machines = model.scorer.function.n_machines();
            for (x, scores) in new.iter().zip(machines.chunks(n_machines)) {
                let decisions = libsvm_decisions(&told, x);
                assert_eq!(decisions.len(), n_machines);
                // Above 0 there means the first class, below 0 here.
                for (decision, score) in decisions.iter().zip(scores) {
                    assert!((decision + score).abs() < 1e-10, "{kernel:?} {n_classes}: {decision} {score}");
                }
            }
        }
    }
}

#[test]
fn libsvm_has_the_probabilities_of_two_classes() {
    let model = classifier(2, &SvmClassifier::new().kernel(Kernel::rbf(0.3)).probabilities(true));
    let told = text(&model, Target::Libsvm);
    let (head, _) = parts(&told, "SV");
    let (a, b) = (numbers(&head["probA"])[0], numbers(&head["probB"])[0]);
    let new = rows(40, 9);
    let chances = model.classify(&items(&new)).unwrap().chances.unwrap();
    for (x, expected) in new.iter().zip(chances.chunks(2)) {
        let first = 1.0 / (1.0 + (a * libsvm_decisions(&told, x)[0] + b).exp());
        assert!((first - expected[0]).abs() < 1e-9, "{first} {expected:?}");
    }
}

#[test]
fn liblinear_computes_values_and_classes() {
    let new = rows(60, 9);
    for scale in [Scale::None, Scale::Standard, Scale::Minmax] {
        let model = regression(&SvmRegressor::new().scale(scale));
        let told = text(&model, Target::Liblinear);
        for (x, expected) in new.iter().zip(model.scorer.scores(&items(&new)).unwrap()) {
            assert!((liblinear_decisions(&told, x)[0] - expected).abs() < 1e-11);
        }
        for (n_classes, scheme) in [
            (2, ClassScheme::Ovo),
            (3, ClassScheme::Ovr),
            (3, ClassScheme::CrammerSinger),
            (3, ClassScheme::WestonWatkins),
        ] {
            for has_chances in [false, true].into_iter().filter(|has| !(*has && scheme.is_joint())) {
                let svm = SvmClassifier::new().scale(scale).classes(scheme).probabilities(has_chances);
                let model = classifier(n_classes, &svm);
                let told = text(&model, Target::Liblinear);
                let labels = &parts(&told, "w").0["label"];
                let verdicts = model.classify(&items(&new)).unwrap();
                for (x, class) in new.iter().zip(&verdicts.classes) {
                    let decisions = liblinear_decisions(&told, x);
                    let found = match decisions.as_slice() {
                        [only] => &labels[usize::from(*only <= 0.0)],
                        several => {
                            let best = several.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
                            &labels[best.0]
                        }
                    };
                    assert_eq!(found, &model.classes.as_ref().unwrap()[*class as usize], "{scheme:?} {has_chances}");
                }
            }
        }
    }
}

#[test]
fn numbers_read_back_as_they_were() {
    let mut model = regression(&SvmRegressor::new());
    let weights = [0.1 + 0.2, -1.0 / 3.0 * 1e-30, 1.234_567_890_123_456_7e300];
    let rankwise::model::ScoreFunction::Linear { weights: own, bias } = &mut model.scorer.function else { panic!() };
    own.copy_from_slice(&weights);
    *bias = f64::MIN_POSITIVE;
    let told = text(&model, Target::Liblinear);
    let found: Vec<f64> = parts(&told, "w").1.iter().map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(found, [weights.to_vec(), vec![f64::MIN_POSITIVE]].concat());
    let sql = text(&model, Target::Sql);
    assert!(sql.contains("1.2345678901234567e300 * \"f3\"") && sql.contains("3.0000000000000004e-1 * \"f1\""), "{sql}");
}
