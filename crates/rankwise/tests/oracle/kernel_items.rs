//! Items to classify and to regress against optima that LIBSVM and a conic solver found, polished to a gap of 1e-11; made by
//! `fixtures/make_kernel_item_fixtures.py`.

use rankwise::data::{ClassItems, Features, Items, Precision, Ranking};
use rankwise::estimator::Fit;
use rankwise::model::ScoreFunction;
use rankwise::{Gamma, Kernel, Loss, SvmClassifier, SvmRegressor};
use serde_json::Value;

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../fixtures/kernel_items.json")).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|v| v.as_f64().unwrap()).collect()
}

fn items(rows: &Value) -> Items {
    let d = list(&rows[0]).len();
    let values = list(rows).iter().flat_map(numbers).collect();
    Items::new(Features::dense(d, values, Precision::F64).unwrap(), None, None).unwrap()
}

fn kernel(of: &Value) -> Kernel {
    let number = |name: &str| of[name].as_f64().unwrap();
    let gamma = Gamma::Value(number("gamma"));
    match of["name"].as_str().unwrap() {
        "linear" => Kernel::Linear,
        "poly" => Kernel::Poly { gamma, coef0: number("coef0"), degree: of["degree"].as_u64().unwrap() as u32 },
        "rbf" => Kernel::Rbf { gamma },
        "sigmoid" => Kernel::Sigmoid { gamma, coef0: number("coef0") },
        other => panic!("{other}"),
    }
}

fn fit(problem: &Value, tol: f64) -> Fit {
    let (c, kernel) = (problem["C"].as_f64().unwrap(), kernel(&problem["kernel"]));
    let (items, labels) = (items(&problem["items"]), numbers(&problem["labels"]));
    let weights = (!problem["weights"].is_null()).then(|| numbers(&problem["weights"]));
    let loss = problem["loss"].as_str().unwrap();
    if problem["method"] == "classify" {
        let mut data = ClassItems::of_labels(items, &labels).unwrap();
        if let Some(weights) = weights {
            data = data.with_weights(weights).unwrap();
        }
        let loss = if loss == "hinge" { Loss::Hinge } else { Loss::SquaredHinge };
        SvmClassifier::new().c(c).kernel(kernel).loss(loss).tol(tol).fit(&data).unwrap()
    } else {
        let mut data = Ranking::new(items, labels, None).unwrap();
        if let Some(weights) = weights {
            data = data.with_weights(weights).unwrap();
        }
        let loss = if loss == "epsilon" { Loss::Epsilon } else { Loss::SquaredEpsilon };
        let epsilon = problem["epsilon"].as_f64().unwrap();
        SvmRegressor::new().c(c).kernel(kernel).loss(loss).epsilon(epsilon).tol(tol).fit(&data).unwrap()
    }
}

/// What a model adds to Σ t·K.
fn bias(fit: &Fit) -> f64 {
    match &fit.model.scorer.function {
        ScoreFunction::Linear { bias, .. } | ScoreFunction::Kernel { bias, .. } => *bias,
        other => panic!("{other:?}"),
    }
}

#[test]
fn objectives_are_those_of_other_solvers() {
    for problem in list(&fixtures()["problems"]) {
        let name = format!("{} ({})", problem["name"], problem["loss"]);
        let optimum = problem["objective"].as_f64().unwrap();
        for tol in [1e-3, 1e-6] {
            let fit = fit(problem, tol);
            let found = fit.model.training.objective;
            assert_eq!(fit.model.training.stop.name(), "converged", "{name} {tol} gap {}", fit.model.training.gap);
            let room = tol * found.max(1e-12) + 1e-9 * optimum;
            assert!(found >= optimum - 1e-9 * optimum - 1e-12, "{name}: {found} below the optimum {optimum}");
            assert!(found <= optimum + room, "{name}: {found}, optimum {optimum} at tol {tol}");
        }
    }
}

/// Scores of training items and of new ones, up to the bias where that is open. Strong convexity says how far two functions
/// can be apart whose objectives differ by so much: ½‖f − g‖² ≤ difference.
#[test]
fn scores_are_those_of_other_solvers() {
    for problem in list(&fixtures()["problems"]) {
        let name = format!("{} ({})", problem["name"], problem["loss"]);
        let fit = fit(problem, 1e-9);
        let (open, own) = (numbers(&problem["bias"]), bias(&fit));
        let objective = fit.model.training.objective;
        for (rows, margins) in [("items", "margins"), ("new_items", "new_margins")] {
            let items = items(&problem[rows]);
            let scores = fit.model.scorer.scores(&items).unwrap();
            let function = fit.model.scorer.function.kernel();
            for (item, (score, margin)) in scores.iter().zip(numbers(&problem[margins])).enumerate() {
                let mut row = vec![0.0; items.features.n_cols()];
                items.features.copy_row(item, &mut row);
                let reach = (2.0 * (1e-9 * objective).max(1e-12)).sqrt() * function.value(&row, &row).abs().sqrt();
                assert!((score - own - margin).abs() <= reach + 1e-4, "{name} {rows} {item}: {} {margin}", score - own);
            }
        }
        let reach = 1e-3 * (1.0 + open[0].abs());
        assert!(open[0] - reach <= own && own <= open[1] + reach, "{name}: bias {own}, {open:?}");
    }
}

#[test]
fn votes_of_several_classes_are_those_of_scikit_learn() {
    for problem in list(&fixtures()["multiclass"]) {
        let mut data = ClassItems::of_labels(items(&problem["items"]), &numbers(&problem["labels"])).unwrap();
        if !problem["weights"].is_null() {
            data = data.with_weights(numbers(&problem["weights"])).unwrap();
        }
        let c = problem["C"].as_f64().unwrap();
        let svm = SvmClassifier::new().c(c).kernel(kernel(&problem["kernel"])).tol(1e-7);
        let model = svm.fit(&data).unwrap().model;
        let classes = numbers(&problem["classes"]);
        let found = model.classify(&items(&problem["new_items"])).unwrap().classes;
        let tied = list(&problem["tied"]);
        for (item, expected) in numbers(&problem["predictions"]).iter().enumerate() {
            if !tied[item].as_bool().unwrap() {
                assert_eq!(classes[found[item] as usize], *expected, "{} {item}", problem["name"]);
            }
        }
    }
}
