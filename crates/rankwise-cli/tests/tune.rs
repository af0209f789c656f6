//! `tune`: the same point and the same values as `train` and `evaluate` in a loop, the table, the JSON object, the csv.

use rankwise::data::cross_fit_folds;
use rankwise::io::{Columns, PairFiles, Source, read_pairs, write_pairs};
use serde_json::{Value, json};

use crate::room::Room;

/// What `train` says, and what only `tune` does.
const KEYS: [&str; 28] = [
    "method",
    "loss",
    "kernel",
    "C",
    "items",
    "features",
    "groups",
    "pairs",
    "ties",
    "objective",
    "gap",
    "iterations",
    "stop",
    "support",
    "threshold",
    "beta",
    "tie_share",
    "seconds",
    "threads",
    "warnings",
    "model",
    "metric",
    "split",
    "best",
    "points",
    "baseline",
    "error",
    "majority_error",
];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// The options of `train` for a point of `tune --json`.
fn options(params: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    params.as_object().unwrap().iter().map(|(name, value)| format!(" --{name} {}", text(value))).collect()
}

/// A metric of a model of these options, learnt and measured by processes of their own.
fn by_hand(room: &Room, train: &str, test: &str, options: &str, metric: &str) -> f64 {
    room.run(&format!("train --pairs {train} {options} -o by_hand -q")).ends(0);
    let json = room.run(&format!("evaluate by_hand --pairs {test} --metric {metric} --json")).ends(0).json();
    number(&json["metrics"][metric])
}

#[test]
fn a_loop_of_train_and_evaluate_finds_the_same_with_validation_pairs() {
    let room = Room::with_pairs();
    for (options_of_all, grid, metric, sign) in [
        ("", "--grid kernel=linear,rbf --grid gamma=0.05:0.5:2,scale --grid C=1,100", "zero_one", 1.0),
        ("--method rank2", "--grid loss=hinge,squared-hinge --grid kernel=rbf,poly --grid degree=1:2:2", "auc", -1.0),
        ("--scale standard --seed 3", "--grid kernel=rbf --grid C=0.1:10:3", "pair_accuracy", -1.0),
    ] {
        let words =
            format!("tune --pairs train.csv --valid test.csv {options_of_all} {grid} --metric {metric} -o m --json");
        let json = room.run(&words).ends(0).json();
        let points = json["points"].as_array().unwrap();
        let mut values = Vec::new();
        for point in points {
            let options = format!("{options_of_all}{}", options(&point["params"]));
            let value = by_hand(&room, "train.csv", "test.csv", &options, metric);
            assert!((number(&point["mean"]) - value).abs() < 1e-6, "{point}: {value}");
            assert_eq!(point["folds"], json!([point["mean"]]));
            values.push(value);
        }
        let best = values.iter().map(|value| sign * value).fold(f64::INFINITY, f64::min);
        assert!((sign * number(&json["best"]["mean"]) - best).abs() < 1e-6);
        assert!(points.contains(&json["best"]));
        // The model is that of the best point, but for the record of the search.
        room.run(&format!("train --pairs train.csv {options_of_all}{} -o alone", options(&json["best"]["params"])))
            .ends(0);
        let predict = |model: &str| room.run(&format!("predict {model} --pairs test.csv")).ends(0).out;
        assert_eq!(predict("m"), predict("alone"));
        let measured = room.run(&format!("evaluate m --pairs test.csv --metric {metric} --json")).ends(0).json();
        assert!((number(&measured["metrics"][metric]) - number(&json["best"]["mean"])).abs() < 1e-12);
    }
}

#[test]
fn a_loop_of_train_and_evaluate_finds_the_same_with_folds() {
    let room = Room::new();
    room.run("simulate --norm l2 --pairs 80 --seed 5 -o all.csv").ends(0);
    let files = PairFiles {
        pairs: Source::parse(room.path("all.csv").to_str().unwrap(), None).unwrap(),
        items: None,
        columns: Columns::default(),
        precision: rankwise::data::Precision::F64,
        with_outcomes: true,
        as_games: false,
    };
    let data = read_pairs(&files).unwrap().into_comparisons().unwrap();
    let seed = 9;
    let folds = cross_fit_folds(&data, 4, seed ^ u64::from_be_bytes(*b"TuneFold"));
    for fold in 0..4 {
        for (name, is_held) in [("seen", false), ("held", true)] {
            let kept: Vec<usize> = (0..80).filter(|&k| (folds[k] == fold) == is_held).collect();
            let mut csv = Vec::new();
            write_pairs(&mut csv, &data.select(&kept)).unwrap();
            std::fs::write(room.path(&format!("{name}{fold}.csv")), csv).unwrap();
        }
    }
    let all = format!("--precision f64 --tol 1e-8 --seed {seed} --kernel rbf");
    let words = format!("tune --pairs all.csv {all} --folds 4 --grid gamma=0.05,0.2 --grid C=0.3:30:3 -o m --json");
    let json = room.run(&words).ends(0).json();
    assert_eq!(json["split"], json!({ "kind": "folds", "folds": 4 }));
    let mut means = Vec::new();
    for point in json["points"].as_array().unwrap() {
        let options = format!("{} --precision f64 --tol 1e-8 --seed {seed}", options(&point["params"]));
        let value = |fold| by_hand(&room, &format!("seen{fold}.csv"), &format!("held{fold}.csv"), &options, "zero_one");
        let values: Vec<f64> = (0..4).map(value).collect();
        let found: Vec<f64> = point["folds"].as_array().unwrap().iter().map(number).collect();
        values.iter().zip(&found).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{point}: {values:?}"));
        means.push(values.iter().sum::<f64>() / 4.0);
        assert!((number(&point["mean"]) - means[means.len() - 1]).abs() < 1e-6);
    }
    assert_eq!(means.len(), 6);
    let best = means.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((number(&json["best"]["mean"]) - best).abs() < 1e-6);
    // Among equal means the smallest C.
    let smallest = json["points"].as_array().unwrap().iter().zip(&means);
    let smallest = smallest.filter(|(_, mean)| **mean < best + 1e-9).map(|(point, _)| number(&point["params"]["C"]));
    assert_eq!(number(&json["best"]["params"]["C"]), smallest.fold(f64::INFINITY, f64::min));
}

#[test]
fn json_has_every_key_and_stands_alone() {
    let room = Room::with_pairs();
    let ran = room.run("tune --pairs train.csv --kernel rbf --grid C=1,10 --folds 3 -o m --json").ends(0);
    assert_eq!(ran.out.lines().count(), 1);
    let json = ran.json();
    KEYS.iter().for_each(|key| assert!(json.get(key).is_some(), "no {key} in {json}"));
    assert_eq!(json["metric"], "zero_one");
    assert_eq!(json["greater_is_better"], false);
    let best = &json["best"];
    assert_eq!(best["params"]["C"], json["C"]);
    assert_eq!((&best["params"]["kernel"], &best["params"]["gamma"]), (&json!("rbf"), &json!("scale")));
    assert_eq!(best["folds"].as_array().unwrap().len(), 3);
    for key in ["load", "tune", "train"] {
        assert!(number(&json["seconds"][key]) >= 0.0);
    }
    assert_eq!((&json["stop"], &json["stopped_after"]), (&json!("converged"), &Value::Null));
    assert_eq!((&json["baseline"], &json["pairs"]), (&json!(0.5), &json!(120)));
    assert!(room.path("m").is_file());
}

#[test]
fn the_usual_grid() {
    let room = Room::with_pairs();
    let params = |options: &str, name: &str| -> Vec<Value> {
        let json = room.run(&format!("tune --pairs train.csv --folds 2 -o m --json {options}")).ends(0).json();
        json["points"].as_array().unwrap().iter().map(|point| point["params"][name].clone()).collect()
    };
    let usual = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0].map(Value::from);
    assert_eq!(params("", "C"), usual);
    assert_eq!(params("--kernel rbf --gamma 0.3", "C"), usual);
    assert_eq!(params("--C 2", "C"), [json!(2.0)]);
    assert_eq!(params("--kernel rbf", "C").len(), 35);
    let gammas = params("--kernel rbf --C 1", "gamma");
    assert_eq!(gammas.len(), 5);
    assert!(gammas.windows(2).all(|pair| number(&pair[0]) < number(&pair[1])), "{gammas:?}");
    assert_eq!(params("--grid gamma=0.1,1 --kernel rbf", "C"), [json!(1.0), json!(1.0)]);
}

#[test]
fn kernels_take_the_parameters_that_they_have() {
    let room = Room::with_pairs();
    let grid = "--grid kernel=linear,rbf,poly,sigmoid --grid gamma=0.01,0.01,0.1 --grid degree=1:3:3 --grid coef0=0,1";
    let words = format!("tune --pairs train.csv --valid test.csv --max-iter 20 {grid} -o m --json -q");
    let json = room.run(&words).ends(0).json();
    let points = json["points"].as_array().unwrap();
    let count = |kernel: &str| points.iter().filter(|point| point["params"]["kernel"] == kernel).count();
    assert_eq!([count("linear"), count("rbf"), count("poly"), count("sigmoid")], [1, 2, 12, 4]);
    let degrees: Vec<&Value> = points.iter().filter_map(|point| point["params"].get("degree")).collect();
    assert!(degrees.iter().all(|degree| [1, 2, 3].map(Value::from).contains(degree)));
    assert!(points[0]["params"].get("gamma").is_none() && points[1]["params"].get("coef0").is_none());
}

#[test]
fn text_shows_the_points_the_best_one_and_the_model() {
    let room = Room::with_pairs();
    let ran = room.run("tune --pairs train.csv --kernel rbf --grid C=0.01,1,10 -o m").ends(0);
    let header = ran.out.lines().next().unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(header, ["C", "zero_one", "over", "folds"], "what does not vary is left out");
    let points: Vec<&str> = ran.out.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    assert_eq!(points.len(), 3);
    assert_eq!(points.iter().filter(|line| line.starts_with('*')).count(), 1);
    for words in
        ["rbf, γ ", "held out", "on 5 folds; always \"tie\" would get 0.5", "s tuning", "training pairs", "converged"]
    {
        assert!(ran.out.contains(words), "no {words:?} in\n{}", ran.out);
    }
    let ran = room.run("tune --pairs train.csv --valid test.csv --grid C=1,10 --metric auc -o m").ends(0);
    assert!(ran.out.contains("auc") && ran.out.contains("on 120 validation pairs; always \""), "{}", ran.out);
    assert!(!ran.out.contains("over folds"));
    assert_eq!(room.run("tune --pairs train.csv --grid C=1,10 -o m -q").ends(0).out, "");
}

#[test]
fn of_many_points_the_best_are_shown() {
    let room = Room::with_pairs();
    let ran = room.run("tune --pairs train.csv --folds 2 --grid C=0.1:10:41 -o m --table all.csv").ends(0);
    let points: Vec<&str> = ran.out.lines().skip(1).take_while(|line| !line.contains("best of")).collect();
    assert_eq!(points.len(), 20);
    assert!(points[0].starts_with('*'));
    assert!(ran.out.contains("the 20 best of 41 points") && ran.out.contains("--table"), "{}", ran.out);
    assert_eq!(room.read("all.csv").lines().count(), 42);
    let ran = room.run("tune --pairs train.csv --folds 2 --grid C=0.1:10:40 -o m").ends(0);
    assert!(!ran.out.contains("best of"));
}

#[test]
fn the_table_holds_every_point() {
    let room = Room::with_pairs();
    let words = "tune --pairs train.csv --folds 3 --grid kernel=linear,rbf --grid C=10,1 -o m --table t.csv --json";
    let json = room.run(words).ends(0).json();
    assert_eq!(json["table"], "t.csv");
    let table = room.read("t.csv");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("loss,kernel,gamma,degree,coef0,C,mean,fold_1,fold_2,fold_3"));
    let points = json["points"].as_array().unwrap();
    assert_eq!(lines.clone().count(), points.len());
    for (line, point) in lines.zip(points) {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[1], point["params"]["kernel"]);
        assert_eq!(fields[2], if fields[1] == "rbf" { "scale" } else { "" });
        assert_eq!(fields[5].parse::<f64>().unwrap(), number(&point["params"]["C"]));
        assert_eq!(fields[6].parse::<f64>().unwrap(), number(&point["mean"]));
        for (field, value) in fields[7..].iter().zip(point["folds"].as_array().unwrap()) {
            assert_eq!(field.parse::<f64>().unwrap(), number(value));
        }
    }
}

#[test]
fn inspect_tells_of_the_search() {
    let room = Room::with_pairs();
    let tuned = room.run("tune --pairs train.csv --valid test.csv --grid C=1,10,100 -o m --json").ends(0).json();
    let out = room.run("inspect m").ends(0).out;
    assert!(out.contains("chosen from 3 points by zero_one on 120 validation pairs: 0."), "{out}");
    let json = room.run("inspect m --json").ends(0).json();
    for key in ["metric", "split", "best", "points", "stopped_after"] {
        assert_eq!(json["tuning"][key], tuned[key], "{key}");
    }
    room.run("train --pairs train.csv -o n").ends(0);
    assert!(room.run("inspect n --json").ends(0).json().get("tuning").is_none());
    assert!(!room.run("inspect n").ends(0).out.contains("tuning"));
}

#[test]
fn the_same_bytes_with_one_thread_and_with_two() {
    let room = Room::with_pairs();
    for options in
        ["", "--kernel rbf --grid gamma=0.1,1 --grid C=0.1:10:3", "--valid test.csv --grid loss=hinge,squared-hinge"]
    {
        for threads in ["1", "2", "2"] {
            let words =
                format!("tune --pairs train.csv {options} --threads {threads} -o m{threads} --table t{threads} -q");
            room.run(&words).ends(0);
        }
        assert_eq!(room.bytes("m1"), room.bytes("m2"), "{options}");
        assert_eq!(room.read("t1"), room.read("t2"), "{options}");
    }
}

#[test]
fn groups_stay_together() {
    let room = Room::new();
    let mut csv = String::from("left,right,outcome,group\n");
    for group in 0..10 {
        for (left, right) in [("a", "b"), ("b", "c"), ("a", "c")] {
            csv += &format!("{left}{group},{right}{group},right,judge {group}\n");
        }
    }
    room.write("groups.csv", &csv);
    let accuracy = |options: &str| {
        let words = format!("tune --pairs groups.csv --metric pair_accuracy -o m --json -q {options}");
        number(&room.run(&words).ends(0).json()["best"]["mean"])
    };
    assert_eq!(accuracy(""), 0.0, "nobody has seen an item of the group that is held out");
    assert!(accuracy("--drop group") > 0.2);
}

#[test]
fn a_time_limit_ends_the_search_but_not_the_program() {
    let room = Room::new();
    room.run("simulate --norm l2 --pairs 1000 --noise 2 -o hard.csv").ends(0);
    let words =
        "tune --pairs hard.csv --grid kernel=linear,rbf --grid gamma=4 --grid C=1e6,1e7 --tol 1e-15 -o m --json";
    let ran = room.run(&format!("{words} --time-limit 1")).ends(0);
    let json = ran.json();
    assert_eq!(json["stopped_after"], 2);
    assert_eq!(json["best"]["params"]["kernel"], "linear");
    assert!(json["points"][2]["mean"].is_null());
    assert!(
        ran.err.contains("warning: the time limit ended the search when 2 of 4 points were complete"),
        "{}",
        ran.err
    );
    assert!(room.run("inspect m").ends(0).out.contains("chosen from 2 of 4 points (the time was over)"));
    room.run("tune --pairs hard.csv --time-limit 0 -o n").fails(1, &["time limit of 0 s", "--time-limit"]);
    assert!(!room.path("n").exists());
}

#[test]
fn points_that_fail_are_warned_of() {
    let room = Room::with_pairs();
    let words = "tune --pairs train.csv --grid kernel=poly,rbf --gamma 1e300 --degree 64 -o m --json";
    let ran = room.run(words).ends(0);
    assert!(ran.err.contains("1 of 2 points could not be measured"), "{}", ran.err);
    let json = ran.json();
    assert!(json["points"][0]["mean"].is_null());
    assert_eq!(json["best"]["params"]["kernel"], "rbf");
    let words = "tune --pairs train.csv --kernel poly --gamma 1e300 --degree 64 -o n";
    room.run(words).fails(1, &["7 of 7 points could not be measured", "γ 1e300", "--scale standard"]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_model_and_the_table_are_written_together() {
    let room = Room::with_pairs();
    let names = room.names();
    room.run("tune --pairs train.csv --grid C=1,10 -o m --table /dev/full").fails(1, &["/dev/full"]);
    assert_eq!(room.names(), names);
    room.run("tune --pairs train.csv --grid C=1,10 -o m --table t.csv -q").ends(0);
    assert!(room.read("t.csv").lines().count() == 3 && !room.bytes("m").is_empty());
}
