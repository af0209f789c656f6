//! The search that chose a model's parameters, saved with the model.

use proptest::prelude::*;
use proptest::sample::Index;
use rankwise::data::Outcome;
use rankwise::model::{Tuning, TuningBaseline, TuningPoint, TuningSplit};
use rankwise::{Gamma, Kernel};
use serde_json::{Value, json};

use super::allocation::peak_during;
use super::*;

fn point(kernel: Kernel, c: f64, folds: [Option<f64>; 3]) -> TuningPoint {
    let sum: Option<f64> = folds.iter().copied().sum();
    let mean = sum.map(|sum| sum / 3.0);
    TuningPoint { loss: Loss::SquaredHinge, kernel, c, epsilon: None, mean, folds: folds.to_vec() }
}

/// The search of a model whose C is 0.1 + 0.2 and whose kernel is rbf with γ 0.3.
fn search() -> Tuning {
    let poly = Kernel::Poly { gamma: Gamma::Scale, coef0: -0.5, degree: 2 };
    let sigmoid = Kernel::Sigmoid { gamma: Gamma::Value(1.0 / 3.0), coef0: 0.1 };
    Tuning {
        metric: "zero_one".into(),
        greater_is_better: false,
        split: TuningSplit::Folds { folds: 3 },
        baseline: Some(TuningBaseline { outcome: Some(Outcome::Tie), value: 2.0 / 3.0 }),
        points: vec![
            point(Kernel::Linear, 10.0, [Some(0.5), Some(1.0 / 3.0), Some(0.25)]),
            point(Kernel::rbf(0.3), 0.1 + 0.2, [Some(0.1), Some(0.2), Some(0.0)]),
            point(poly, 1e-3, [Some(0.5), None, Some(0.0)]),
            point(sigmoid, 1e300, [None; 3]),
        ],
        best: 1,
        stopped_after: Some(2),
        warnings: vec!["1 of 4 points could not be measured".into()],
    }
}

fn tuned(tuning: Tuning) -> Model {
    let mut model = rbf_f64();
    model.training.tuning = Some(tuning);
    model
}

fn bytes() -> Vec<u8> {
    model_to_bytes(&tuned(search())).unwrap()
}

#[test]
fn a_search_reads_back_as_it_was() {
    let model = read(&bytes()).unwrap();
    assert_same(&model, &tuned(search()));
    assert_eq!(model.training.tuning, Some(search()));
    assert_eq!(model_to_bytes(&model).unwrap(), bytes());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("m.rwm");
    write_model(&path, &model).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes());
    // Whoever reads a model and writes it again keeps the search.
    write_model(&path, &read_model(&path).unwrap()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes());
}

#[test]
fn a_model_without_a_search_has_no_trace_of_one() {
    for model in all_models() {
        let bytes = model_to_bytes(&model).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("tuning"));
        assert_eq!(read(&bytes).unwrap().training.tuning, None);
    }
}

#[test]
fn the_record_is_plain_json() {
    let training: Value = serde_json::from_str(&Parts::of(&bytes()).texts["training"]).unwrap();
    let tuning = &training["tuning"];
    assert_eq!(tuning["split"], json!({ "kind": "folds", "folds": 3 }));
    assert_eq!(tuning["points"][0]["kernel"], json!({ "name": "linear" }));
    assert_eq!(tuning["points"][2]["kernel"], json!({ "name": "poly", "gamma": "scale", "coef0": -0.5, "degree": 2 }));
    assert_eq!(tuning["points"][2]["folds"], json!([0.5, null, 0.0]));
    assert!(tuning["points"][2]["mean"].is_null());
    assert_eq!(tuning["best"], 1);
    assert_eq!(tuning["baseline"], json!({ "outcome": "tie", "value": 2.0 / 3.0 }));
}

/// The file with its search changed and the checksum put right.
fn with(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let parts = Parts::of(&bytes());
    let mut training: Value = serde_json::from_str(&parts.texts["training"]).unwrap();
    change(&mut training["tuning"]);
    parts.text("training", &training.to_string()).sealed()
}

#[track_caller]
fn refused(change: impl FnOnce(&mut Value), reason: &str) {
    match read(&with(change)) {
        Ok(_) => panic!("read, but expected: {reason}"),
        Err(Error::ModelFile { problem, remedy, .. }) => {
            assert!(problem.contains(reason), "{problem:?} does not say {reason:?}");
            assert!(!remedy.is_empty());
        }
        Err(other) => panic!("another error: {other}"),
    }
}

#[test]
fn searches_made_to_mislead() {
    assert!(read(&with(|_| {})).is_ok());
    assert!(read(&with(|tuning| *tuning = Value::Null)).is_ok());
    refused(|tuning| tuning["best"] = json!(4), "number 5 of 4");
    refused(|tuning| tuning["best"] = json!(u64::MAX), "of 4");
    refused(|tuning| tuning["best"] = json!(-1), "cannot be read");
    refused(|tuning| tuning["best"] = json!(0), "better than the one called best");
    refused(|tuning| tuning["best"] = json!(2), "was not measured");
    refused(|tuning| tuning["points"] = json!([]), "number 2 of 0");
    refused(|tuning| tuning["greater_is_better"] = json!(true), "better than the one called best");
    refused(|tuning| tuning["split"] = json!({ "kind": "folds", "folds": 4 }), "3 values for 4");
    refused(|tuning| tuning["split"] = json!({ "kind": "folds", "folds": 1 }), "at least 2");
    refused(|tuning| tuning["split"] = json!({ "kind": "folds", "folds": u64::MAX }), "3 values for");
    refused(|tuning| tuning["split"] = json!({ "kind": "validation", "pairs": 9 }), "3 values for 1");
    let items = json!({ "kind": "validation_items", "items": 9, "groups": 2 });
    refused(|tuning| tuning["split"] = items, "items or of pairs");
    refused(|tuning| tuning["baseline"] = json!({ "value": 0.5 }), "items or of pairs");
    refused(|tuning| tuning["split"] = json!({ "kind": "moon" }), "moon");
    refused(|tuning| tuning["points"][0]["folds"] = json!([0.5, 0.5]), "point 1 of the search: 2 values for 3");
    refused(|tuning| tuning["points"][0]["folds"][1] = json!("nan"), "cannot be read");
    refused(|tuning| tuning["points"][0]["folds"][1] = Value::Null, "contradict each other");
    refused(|tuning| tuning["points"][0]["mean"] = Value::Null, "contradict each other");
    refused(|tuning| tuning["points"][2]["mean"] = json!(0.3), "contradict each other");
    refused(|tuning| tuning["points"][0]["mean"] = json!(0.3), "contradict each other");
    refused(|tuning| tuning["points"][0]["c"] = json!("nan"), "C is NaN");
    refused(|tuning| tuning["points"][0]["c"] = json!("inf"), "C is inf");
    refused(|tuning| tuning["points"][0]["c"] = json!(-1.0), "C is -1");
    refused(|tuning| tuning["points"][3]["kernel"]["gamma"] = json!(0.0), "gamma = 0");
    refused(|tuning| tuning["points"][3]["kernel"]["gamma"] = json!("wide"), "wide");
    refused(|tuning| tuning["points"][2]["kernel"]["degree"] = json!(65), "degree = 65");
    refused(|tuning| tuning["points"][0]["kernel"]["name"] = json!("wavelet"), "wavelet");
    refused(|tuning| tuning["points"][0]["seconds"] = json!(1), "seconds");
    refused(|tuning| tuning["seconds"] = json!(1), "seconds");
    refused(|tuning| tuning["stopped_after"] = json!(3), "stopped after 3 points");
    refused(|tuning| tuning["baseline"]["value"] = json!("nan"), "constant answer gets NaN");
    refused(|tuning| tuning["baseline"]["outcome"] = json!("draw"), "draw");
    refused(|tuning| tuning["baseline"]["seconds"] = json!(1), "seconds");
    assert!(read(&with(|tuning| tuning["baseline"] = Value::Null)).is_ok());
    // The model is not that of the best point.
    refused(|tuning| tuning["points"][1]["c"] = json!(0.25), "not what the model was trained with");
    refused(|tuning| tuning["points"][1]["loss"] = json!("hinge"), "not what the model was trained with");
    refused(|tuning| tuning["points"][1]["kernel"]["gamma"] = json!(0.25), "not what the model was trained with");
    refused(
        |tuning| tuning["points"][1]["kernel"] = json!({ "name": "linear" }),
        "not what the model was trained with",
    );
    assert!(read(&with(|tuning| tuning["points"][1]["kernel"]["gamma"] = json!("scale"))).is_ok());
    refused(|tuning| *tuning = json!(1), "cannot be read");
    refused(|tuning| *tuning = json!([]), "cannot be read");
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    let refuse = |change: &dyn Fn(&mut Tuning), expected: &str| {
        let mut tuning = search();
        change(&mut tuning);
        let error = model_to_bytes(&tuned(tuning)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    refuse(&|tuning| tuning.points[0].mean = Some(f64::NAN), "a value is NaN");
    refuse(&|tuning| tuning.points[0].folds[0] = Some(f64::INFINITY), "a value is inf");
    refuse(&|tuning| tuning.points[0].kernel = Kernel::rbf(f64::NAN), "gamma = NaN");
    refuse(&|tuning| tuning.points[0].c = f64::INFINITY, "C is inf");
    refuse(&|tuning| tuning.best = 9, "number 10 of 4");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Sealed edits of the record: used and saved again, or refused; never a panic, never much memory.
    #[test]
    fn a_sealed_edit_of_the_search(at in any::<Index>(), cut in 0usize..20, word in "[ -~]{0,8}") {
        let parts = Parts::of(&bytes());
        let mut text: Vec<char> = parts.texts["training"].chars().collect();
        let start = at.index(text.len() + 1);
        let end = (start + cut).min(text.len());
        text.splice(start..end, word.chars());
        let bytes = parts.text("training", &text.into_iter().collect::<String>()).sealed();
        let (result, peak) = peak_during(|| read(&bytes));
        prop_assert!(peak < 40 * bytes.len() + 16_384);
        match result {
            Ok(model) => {
                let again = model_to_bytes(&model).unwrap();
                let same = read(&again).unwrap();
                assert_same(&model, &same);
                prop_assert_eq!(model.training.tuning, same.training.tuning);
            }
            Err(error) => prop_assert!(matches!(error, Error::ModelFile { .. }), "{error}"),
        }
    }
}
