//! Random steps on items of several classes: near the optimum of Weston and Watkins' machine, certified, to be gone on with.

use rankwise::data::{ClassItems, Ranking, Scale};
use rankwise::io::{model_from_bytes, model_to_bytes};
use rankwise::model::{Basis, ClassScheme, Model, ScoreFunction, Task};
use rankwise::{OnlineSvm, SvmClassifier, Unwatched};

use crate::oracle::classify::{clouds, items};

/// The same items, with numbers and with names as classes; c weighs twice as much as they say.
fn data(n_classes: usize) -> (Ranking, ClassItems) {
    let (rows, names) = clouds(150, 3, n_classes, 4);
    let number = |name: &String| ["a", "b", "c", "d"].iter().position(|n| n == name).unwrap() as f64 * 2.0 - 1.0;
    let weights: Vec<f64> = (0..rows.len()).map(|k| [1.0, 0.5, 2.0][k % 3]).collect();
    let ranking = Ranking::new(items(&rows), names.iter().map(number).collect(), None).unwrap();
    let names: Vec<String> = names.iter().map(|name| number(name).to_string()).collect();
    let classes = ClassItems::new(items(&rows), &names).unwrap().with_weights(weights.clone()).unwrap();
    (ranking.with_weights(weights).unwrap(), classes)
}

fn online(c: f64) -> OnlineSvm {
    OnlineSvm::new().task(Task::Classify).c(c)
}

fn exact(classes: &ClassItems, c: f64) -> Model {
    SvmClassifier::new().classes(ClassScheme::WestonWatkins).c(c).tol(1e-7).fit(classes).unwrap().model
}

#[test]
fn steps_lead_to_the_batch_machine_and_know_how_near() {
    for n_classes in [3, 4] {
        let (ranking, classes) = data(n_classes);
        for c in [0.003, 0.05] {
            let best = exact(&classes, c);
            let model = online(c).steps(Some(400_000)).certify(true).fit(&ranking).unwrap().model;
            let (here, least) = (model.training.objective, best.training.objective);
            assert!(here >= least * (1.0 - 1e-6) && here < 1.005 * least, "{n_classes} {c}: {here} {least}");
            assert!(here - least <= model.training.gap * here + 1e-6 * here, "{here} {least} {}", model.training.gap);
            assert!(model.training.gap < 0.2, "{}", model.training.gap);
            assert_eq!(model.classes, best.classes);
            // The same scores, about.
            let (a, b) = (model.classify(&classes.items).unwrap(), best.classify(&classes.items).unwrap());
            let same = a.classes.iter().zip(&b.classes).filter(|(a, b)| a == b).count();
            assert!(same as f64 > 0.95 * a.classes.len() as f64, "{same}");
            let ScoreFunction::Several { basis: Basis::Features, biases, .. } = &model.scorer.function else {
                panic!()
            };
            assert!(biases.len() == n_classes && biases.iter().sum::<f64>().abs() < 1e-9, "{biases:?}");
        }
    }
}

#[test]
fn what_was_saved_is_gone_on_with() {
    let (ranking, classes) = data(3);
    let svm = online(0.02).steps(Some(20_000));
    let half = svm.fit(&ranking).unwrap().model;
    let half = model_from_bytes(std::path::Path::new("half"), &model_to_bytes(&half).unwrap()).unwrap();
    let whole = svm.fit_from(&ranking, Some(&half), &Unwatched).unwrap().model;
    assert_eq!(whole.state.as_ref().unwrap().steps, 40_000);
    let best = exact(&classes, 0.02);
    let least = best.training.objective;
    assert!(whole.training.objective < half.training.objective.max(1.01 * least));
    assert!(whole.training.objective < 1.01 * least, "{} {least}", whole.training.objective);
    // From the exact machine, whose classes are the same.
    let from = svm.clone().steps(Some(1)).average(false).fit_from(&ranking, Some(&best), &Unwatched).unwrap().model;
    assert!(from.training.objective.is_finite() && from.classes == best.classes);
    // Classes that it does not know, and machines that are no scores of classes.
    let mut other = ranking.clone();
    other.labels[0] = 17.0;
    assert!(svm.fit_from(&other, Some(&half), &Unwatched).unwrap_err().to_string().contains("17"));
    let pairs = SvmClassifier::new().fit(&data(4).1).unwrap().model;
    let error = svm.fit_from(&data(4).0, Some(&pairs), &Unwatched).unwrap_err().to_string();
    assert!(error.contains("machines"), "{error}");
}

#[test]
fn parts_and_scaling_work_as_for_two_classes() {
    let (ranking, _) = data(3);
    let svm = online(0.02).epochs(Some(60)).scale(Scale::Standard);
    let whole = svm.fit(&ranking).unwrap().model;
    let mut run = svm.stream(None).unwrap();
    run.survey(&ranking).unwrap();
    run.end_survey().unwrap();
    for _ in 0..60 {
        assert!(run.learn(&ranking, &Unwatched).unwrap());
    }
    run.measure(&ranking).unwrap();
    let streamed = run.finish(Vec::new()).unwrap();
    let ratio = streamed.training.objective / whole.training.objective;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    // Two runs are the same to the last digit.
    let again = svm.threads(1).fit(&ranking).unwrap().model;
    assert_eq!(model_to_bytes(&again).unwrap(), model_to_bytes(&whole).unwrap());
    // A class that comes after the first step, on data that are read once.
    let mut first = ranking.clone();
    first.labels.iter_mut().for_each(|label| *label = if *label == 3.0 { 1.0 } else { *label });
    let mut run = online(0.02).stream(None).unwrap();
    run.learn(&first, &Unwatched).unwrap();
    let error = run.learn(&ranking, &Unwatched).unwrap_err().to_string();
    assert!(error.contains("3 classes") && error.contains("file"), "{error}");
}
