//! `evaluate`: numbers a user can check by hand.

use crate::room::Room;

#[test]
fn everything_in_text() {
    let room = Room::with_model();
    let out = room.run("evaluate model --pairs test.csv").ends(0).out;
    for words in [
        "pairs",
        "120 (60 ties)",
        "zero_one",
        "majority_error",
        "0.5",
        "auc",
        "auc_baseline",
        "pair_accuracy",
        "50.0 % observed",
        "predicted",
        "threshold",
        "judged \\ predicted",
        "left",
        "tie",
        "right",
    ] {
        assert!(out.contains(words), "no {words:?} in\n{out}");
    }
}

#[test]
fn everything_in_json() {
    let room = Room::with_model();
    let ran = room.run("evaluate model --pairs test.csv --json").ends(0);
    assert_eq!(ran.out.lines().count(), 1);
    let json = ran.json();
    let metrics = json["metrics"].as_object().unwrap();
    let mut names: Vec<&str> = metrics.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["auc", "auc_baseline", "confusion", "pair_accuracy", "zero_one"]);
    assert_eq!((&json["pairs"], &json["ties"]), (&120.into(), &60.into()));
    assert!(json["groups"].is_null());
    assert_eq!(json["groups_skipped"], 0);
    assert_eq!(json["majority_error"], 0.5);
    assert_eq!(json["tie_share"]["observed"], 0.5);
    assert!(json["threshold"].is_number() && json["warnings"].is_array());
    let cell = |judged: usize, predicted: usize| json["metrics"]["confusion"][judged][predicted].as_f64().unwrap();
    let total: f64 = (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).map(|(i, j)| cell(i, j)).sum();
    assert_eq!(total, 120.0);
    let right = cell(0, 0) + cell(1, 1) + cell(2, 2);
    assert!((json["metrics"]["zero_one"].as_f64().unwrap() - (1.0 - right / 120.0)).abs() < 1e-12);
    let ties = cell(0, 1) + cell(1, 1) + cell(2, 1);
    assert!((json["tie_share"]["predicted"].as_f64().unwrap() - ties / 120.0).abs() < 1e-12);
    assert!(json["metrics"]["auc"].as_f64().unwrap() > json["metrics"]["auc_baseline"].as_f64().unwrap());
}

#[test]
fn only_the_metrics_asked_for() {
    let room = Room::with_model();
    let out = room.run("evaluate model --pairs test.csv --metric auc").ends(0).out;
    let (name, value) = out.trim().split_once(' ').unwrap();
    assert_eq!(name, "auc");
    let ran = room.run("evaluate model --pairs test.csv --metric auc,zero_one --json").ends(0);
    assert_eq!(ran.json()["metrics"].as_object().unwrap().len(), 2);
    // People get six digits.
    let (shown, auc) = (value.trim().parse::<f64>().unwrap(), ran.json()["metrics"]["auc"].as_f64().unwrap());
    assert!((shown - auc).abs() <= 5e-7, "{value} in {}", ran.out);
    let out = room.run("evaluate model --pairs test.csv --metric confusion").ends(0).out;
    assert_eq!(out.lines().count(), 4);
}

#[test]
fn undefined_metrics_are_null_and_explained() {
    let room = Room::with_model();
    room.write("decided.csv", "left.x1,left.x2,right.x1,right.x2,outcome\n0,0,3,3,right\n");
    let ran = room.run("evaluate model --pairs decided.csv --json").ends(0);
    let json = ran.json();
    assert!(json["metrics"]["auc"].is_null() && json["metrics"]["auc_baseline"].is_null());
    assert!(json["metrics"]["zero_one"].is_number());
    assert!(ran.err.contains("warning: auc is not defined on these pairs: there are no ties"), "{}", ran.err);
    assert_eq!(json["warnings"].as_array().unwrap().len(), 2);
    room.run("evaluate model --pairs decided.csv --roc r.csv").fails(1, &["--roc", "ties"]);
    assert!(!room.path("r.csv").exists());
}

#[test]
fn weights_and_groups_count() {
    let room = Room::with_model();
    let header = "left.x1,left.x2,right.x1,right.x2,outcome,weight,group\n";
    room.write(
        "weighted.csv",
        &format!("{header}0,0,3,3,right,3,a\n0,0,3,3,left,1,b\n1,1,1,1,tie,4,a\n1,1,1,1,tie,0,c\n"),
    );
    let json = room.run("evaluate model --pairs weighted.csv --json").ends(0).json();
    assert_eq!((&json["pairs"], &json["ties"]), (&3.into(), &1.into()));
    assert_eq!(json["groups"], 3);
    assert_eq!(json["metrics"]["zero_one"], 0.125);
    assert_eq!(json["majority_error"], 0.5);
    assert_eq!(json["metrics"]["pair_accuracy"], 0.75);
}

#[test]
fn the_roc_curve_goes_from_nothing_to_the_sign_accuracy() {
    let room = Room::with_model();
    let json = room.run("evaluate model --pairs test.csv --roc roc.csv --json").ends(0).json();
    let roc = room.read("roc.csv");
    let mut lines = roc.lines();
    assert_eq!(lines.next(), Some("threshold,false_positive_rate,true_positive_rate"));
    let points: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect();
    assert_eq!(points[0], [f64::INFINITY, 0.0, 0.0]);
    let last = points.last().unwrap();
    assert_eq!((last[0], last[1]), (0.0, 1.0));
    assert!((last[2] - json["metrics"]["pair_accuracy"].as_f64().unwrap()).abs() < 1e-12);
    let area: f64 = points.windows(2).map(|w| (w[1][1] - w[0][1]) * (w[0][2] + w[1][2]) / 2.0).sum();
    assert!((area - json["metrics"]["auc"].as_f64().unwrap()).abs() < 1e-9);
}
