//! `train`: the summary, the JSON object, the model file.

use crate::room::Room;

/// The keys that scripts rely on.
const KEYS: [&str; 38] = [
    "method",
    "loss",
    "kernel",
    "C",
    "items",
    "features",
    "groups",
    "groups_dropped",
    "pairs",
    "ties",
    "objective",
    "gap",
    "certificate",
    "iterations",
    "stop",
    "support",
    "support_pairs",
    "threshold",
    "beta",
    "no_tie_region",
    "collapsed",
    "tie_parameter",
    "tie_share",
    "seconds",
    "peak_memory_bytes",
    "threads",
    "warnings",
    "model",
    "tol",
    "seed",
    "scale",
    "threshold_rule",
    "tie_region",
    "tie_weight",
    "balance",
    "error",
    "majority_error",
    "gamma",
];

#[test]
fn json_has_every_key_and_stands_alone() {
    let room = Room::with_pairs();
    let ran = room.run("train --pairs train.csv --kernel rbf --gamma 0.5 --C 2 --seed 3 -o m --json").ends(0);
    assert_eq!(ran.out.lines().count(), 1);
    let json = ran.json();
    KEYS.iter().for_each(|key| assert!(json.get(key).is_some(), "no {key} in {json}"));
    assert_eq!(json["method"], "compare");
    assert_eq!(json["loss"], "squared-hinge");
    assert_eq!(json["kernel"], "rbf");
    assert_eq!(json["C"], 2.0);
    assert_eq!(json["gamma"], 0.5);
    assert_eq!(json["seed"], 3);
    assert_eq!(json["model"], "m");
    assert_eq!((&json["pairs"], &json["ties"]), (&120.into(), &60.into()));
    assert_eq!((&json["items"], &json["features"]), (&240.into(), &2.into()));
    assert_eq!(json["groups_dropped"], 0);
    assert!(json["groups"].is_null() && json["tie_parameter"].is_null());
    assert_eq!(json["stop"], "converged");
    assert!(json["gap"].as_f64().unwrap() <= 1e-3);
    assert!(json["objective"].as_f64().unwrap() > 0.0);
    assert!(json["support"].as_u64().unwrap() > 0);
    assert!(json["support_pairs"].as_u64().unwrap() > 0);
    assert_eq!(json["tie_share"]["observed"], 0.5);
    assert!(json["tie_share"]["predicted"].is_number());
    assert!(json["seconds"]["load"].is_number() && json["seconds"]["train"].is_number());
    assert!(json["certificate"].is_string() && json["warnings"].is_array());
    assert!(json["error"].as_f64().unwrap() < json["majority_error"].as_f64().unwrap());
    if cfg!(target_os = "linux") {
        assert!(json["peak_memory_bytes"].as_u64().unwrap() > 100_000);
    }
    assert!(room.path("m").is_file());
}

#[test]
fn kernels_tell_their_parameters_and_no_others() {
    let room = Room::with_pairs();
    let keys = |options: &str| {
        let json = room.run(&format!("train --pairs train.csv -o m --max-iter 50 --json {options}")).ends(0).json();
        ["gamma", "degree", "coef0"].map(|key| json.get(key).is_some())
    };
    assert_eq!(keys(""), [false, false, false]);
    assert_eq!(keys("--kernel rbf"), [true, false, false]);
    assert_eq!(keys("--kernel poly"), [true, true, true]);
    assert_eq!(keys("--kernel sigmoid --gamma 0.01 --coef0 -1"), [true, false, true]);
}

#[test]
fn landmarks_tell_their_distance_from_the_whole_kernel() {
    let room = Room::new();
    room.run("simulate --pairs 300 --seed 3 -o many.csv").ends(0);
    for method in ["compare", "rank", "rank2", "compare --loss hinge"] {
        let train = format!("train --pairs many.csv --method {method} --kernel rbf --gamma 0.5 --json -o m");
        let whole = room.run(&train).ends(0).json();
        assert!(whole.get("approx").is_none());
        let few = room.run(&format!("{train} --approx nystrom:25")).ends(0).json();
        assert_eq!((&few["approx"], &few["support"]), (&"nystrom:25".into(), &25.into()));
        assert_eq!(few["certificate"], "relative duality gap of the machine without approximation");
        let (ours, best) = (few["objective"].as_f64().unwrap(), whole["objective"].as_f64().unwrap());
        let missing = 1.0 - best / ours;
        assert!(missing > 0.0 && missing <= few["gap"].as_f64().unwrap() + 1e-3, "{method}: {ours} {best}");
        assert!(room.run("inspect m").ends(0).out.contains("--approx nystrom:25"));
    }
    // Fits of a search are those of training.
    let tuned = "tune --pairs many.csv --kernel rbf --gamma 0.5 --grid C=0.1,1 --approx nystrom:25 --json -o tuned";
    assert_eq!(room.run(tuned).ends(0).json()["approx"], "nystrom:25");
    let refused = room.run("train --pairs many.csv --kernel rbf --approx nystrom:9 --tie-band pair -o m").ends(2).err;
    assert!(refused.contains("--approx does not apply to --tie-band pair"), "{refused}");
    let refused = room.run("train --pairs many.csv --kernel rbf --approx nystrom:9 --cache-mb 9 -o m").ends(2).err;
    assert!(refused.contains("--cache-mb does not apply to --approx"), "{refused}");
}

#[test]
fn linear_models_have_no_support_items() {
    let room = Room::with_pairs();
    let json = room.run("train --pairs train.csv -o m --json").ends(0).json();
    assert!(json["support"].is_null());
}

#[test]
fn rankers_have_no_beta() {
    let room = Room::with_pairs();
    for method in ["rank", "rank2"] {
        let words = format!("train --pairs train.csv --method {method} --kernel rbf --loss hinge -o m --json");
        let json = room.run(&words).ends(0).json();
        assert_eq!(json["method"], method);
        assert_eq!(json["loss"], "hinge");
        assert!(json["beta"].is_null());
        assert!(json["threshold"].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn text_says_what_was_learnt() {
    let room = Room::with_pairs();
    let ran = room.run("train --pairs train.csv --kernel rbf --C 2 --tie-weight 2 --scale standard -o m").ends(0);
    for words in [
        "compare",
        "squared-hinge",
        "rbf, γ ",
        "C ",
        "--tie-weight 2",
        "--scale standard",
        "120 pairs (60 ties)",
        "240 items",
        "2 features",
        "objective",
        "gap",
        "converged",
        "iterations",
        "support",
        "threshold",
        "β",
        "50.0 % observed",
        "predicted",
        "training pairs",
        "always \"tie\" would get 50.0 %",
        "training,",
        "m",
    ] {
        assert!(ran.out.contains(words), "no {words:?} in\n{}", ran.out);
    }
    assert!(!ran.err.contains("error"));
}

#[test]
fn quiet_says_nothing_and_verbose_says_more() {
    let room = Room::with_pairs();
    let ran = room.run("-q train --pairs train.csv -o m").ends(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    let ran = room.run("train --pairs train.csv -o m -q --json").ends(0);
    assert_eq!((ran.json()["pairs"].as_u64(), ran.err.as_str()), (Some(120), ""));
    let ran = room.run("train --pairs train.csv -o m -v").ends(0);
    assert!(ran.err.contains("read 120 pairs") && ran.err.contains("training"), "{}", ran.err);
}

#[test]
fn warnings_go_to_standard_error_and_into_json() {
    let room = Room::new();
    room.write("decided.csv", "left.x,right.x,outcome\n1,2,right\n3,1,left\n0,5,right\n");
    let ran = room.run("train --pairs decided.csv -o m --json").ends(0);
    let json = ran.json();
    assert!(!json["warnings"].as_array().unwrap().is_empty(), "a comparer without ties warns");
    assert!(ran.err.contains("warning: "));
    assert_eq!((&json["no_tie_region"], &json["threshold"]), (&true.into(), &0.0.into()));
    assert!(json["beta"].is_null());
}

#[test]
fn limits_stop_the_training_but_not_the_program() {
    let room = Room::with_pairs();
    let words = "train --pairs train.csv --kernel rbf --C 1000 --tol 1e-12 --max-iter 1 -o m --json";
    assert_eq!(room.run(words).ends(0).json()["stop"], "max_iter");
    let words = "train --pairs train.csv --kernel rbf --loss hinge --C 1e6 --tol 1e-14 --time-limit 0 -o m --json";
    assert_eq!(room.run(words).ends(0).json()["stop"], "time_limit");
}

#[test]
fn the_same_bytes_with_one_thread_and_with_two() {
    let room = Room::with_pairs();
    for options in ["", "--kernel rbf --gamma 0.25", "--method rank2 --kernel poly"] {
        for threads in ["1", "2", "2"] {
            let words = format!("train --pairs train.csv {options} --threads {threads} -o m{threads} --json");
            assert_eq!(room.run(&words).ends(0).json()["threads"].to_string(), threads);
        }
        assert_eq!(room.bytes("m1"), room.bytes("m2"), "{options}");
        let predict = |threads: u32| room.run(&format!("predict m1 --pairs test.csv --threads {threads}")).ends(0).out;
        assert_eq!(predict(1), predict(2), "{options}");
    }
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_training() {
    let room = Room::with_pairs();
    std::fs::create_dir(room.path("taken")).unwrap();
    let started = std::time::Instant::now();
    let train = "train --pairs train.csv --kernel rbf --loss hinge --C 1e6 --tol 1e-14";
    room.run(&format!("{train} -o taken")).fails(1, &["taken", "directory"]);
    room.run(&format!("{train} -o nowhere/m")).fails(1, &["nowhere", "create it"]);
    assert!(started.elapsed().as_secs() < 5);
    assert_eq!(room.names(), ["taken", "test.csv", "train.csv"]);
}

#[test]
fn a_failed_training_leaves_the_old_model_alone() {
    let room = Room::with_pairs();
    room.write("m", "precious");
    room.run("train --pairs train.csv --C -1 -o m").fails(2, &["C = -1"]);
    assert_eq!(room.read("m"), "precious");
    room.run("train --pairs train.csv -o m").ends(0);
    assert_ne!(room.bytes("m"), b"precious");
    assert_eq!(room.names(), ["m", "test.csv", "train.csv"]);
}

#[test]
fn a_model_that_cannot_score_its_items_is_not_written() {
    let room = Room::new();
    // The last item counts for nothing, and its score is beyond all numbers.
    room.write("far.letor", "1 qid:1 1:0.2\n0 qid:1 1:0.1\n0 qid:1 cost:0 1:1e308\n");
    for options in ["", "-q", "--json", "-q --json"] {
        room.run(&format!("train far.letor --C 1e6 {options} -o m"))
            .fails(1, &["the score of item", "leaves the range of numbers"]);
        assert!(!room.path("m").exists(), "{options}");
    }
}
