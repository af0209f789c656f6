//! `ordinal`: from training to its use, and what does not go together.

use serde_json::json;

use crate::room::Room;

/// Films with grades 1, 2, 3 and 5 in `films.csv`, in groups in `groups.csv`, and with values instead of grades in `values.csv`.
fn room() -> Room {
    let room = Room::new();
    let (mut films, mut groups, mut values) =
        (String::from("label,a,b\n"), String::from("qid,label,a,b\n"), String::from("label,a,b\n"));
    for k in 0..80u32 {
        let noise = |seed: u32| f64::from(k * seed * 7919 % 101) / 101.0 - 0.5;
        let (a, b) = (4.0 * noise(3), 4.0 * noise(5));
        let value = a + 0.5 * b + 0.6 * noise(11);
        let grade = [1, 2, 3, 5][((value + 2.0).clamp(0.0, 3.9)) as usize];
        films += &format!("{grade},{a},{b}\n");
        groups += &format!("g{},{grade},{a},{b}\n", k % 4);
        values += &format!("{value},{a},{b}\n");
    }
    room.write("films.csv", &films);
    room.write("groups.csv", &groups);
    room.write("values.csv", &values);
    room
}

#[test]
fn grades_are_predicted_and_measured() {
    let room = room();
    for (kernel, constraints) in
        [("linear", "implicit"), ("rbf", "implicit"), ("linear", "explicit"), ("rbf", "explicit")]
    {
        let options = format!("--kernel {kernel} --constraints {constraints}");
        let fit = room.run(&format!("train films.csv --method ordinal {options} --C 5 --json -o model")).ends(0).json();
        assert_eq!((fit["method"].as_str(), fit["loss"].as_str()), (Some("ordinal"), Some("hinge")));
        assert_eq!((fit["constraints"].as_str(), &fit["grades"]), (Some(constraints), &json!([1.0, 2.0, 3.0, 5.0])));
        let thresholds: Vec<f64> = serde_json::from_value(fit["thresholds"].clone()).unwrap();
        assert!(thresholds.len() == 3 && thresholds.windows(2).all(|pair| pair[0] <= pair[1]), "{thresholds:?}");
        assert!(fit["gap"].as_f64().unwrap() <= 1e-3 && fit["stop"] == "converged" && fit["warnings"] == json!([]));
        assert!(fit["error"].as_f64().unwrap() < 0.35 && fit["majority_error"].as_f64().unwrap() > 0.5, "{fit}");
        // The grade is the number of thresholds at or below the score.
        let grades = room.run("predict model films.csv").ends(0).out;
        let scores = room.run("predict model films.csv --scores").ends(0).out;
        assert_eq!(grades.lines().count(), 80);
        for (grade, score) in grades.lines().zip(scores.lines()) {
            let score: f64 = score.parse().unwrap();
            let place = thresholds.iter().filter(|threshold| **threshold <= score).count();
            assert_eq!(grade, ["1", "2", "3", "5"][place]);
        }
        let table = room.run("predict model films.csv --format csv").ends(0).out;
        assert!(table.starts_with("id,label,score,rank\n#1,"), "{table}");
        assert_eq!(room.run("predict model films.csv --format csv --top 3").ends(0).out.lines().count(), 4);
        let found = room.run("evaluate model films.csv --json").ends(0).json();
        assert_eq!(found["metrics"]["zero_one"], fit["error"]);
        assert_eq!(found["metrics"]["mae"], fit["mae"]);
        assert!(found["metrics"]["mae"].as_f64() < found["baselines"]["mae"].as_f64());
        assert_eq!(found["classes"], json!(["1", "2", "3", "5"]));
        let order = "evaluate model groups.csv --metric pair_accuracy,kendall_tau,swapped_pairs --json";
        let order = room.run(order).ends(0).json();
        assert!(order["metrics"]["pair_accuracy"].as_f64().unwrap() > 0.8 && order["groups"] == 4, "{order}");
        let text = room.run("inspect model").ends(0).out;
        assert!(text.contains("thresholds") && text.contains("4: 1 ("), "{text}");
        assert_eq!(room.run("inspect model --json").ends(0).json()["thresholds"], fit["thresholds"]);
        room.run("report model films.csv -o page.html").ends(0);
        assert!(room.read("page.html").contains("ordinal errs on"));
    }
    // The same bytes whatever the threads.
    let bytes = [1, 2].map(|threads| {
        room.run(&format!("train films.csv --method ordinal --kernel rbf --threads {threads} -o m{threads}")).ends(0);
        room.bytes(&format!("m{threads}"))
    });
    assert_eq!(bytes[0], bytes[1]);
}

#[test]
fn bins_make_grades_of_values() {
    let room = room();
    let fit = room.run("train values.csv --method ordinal --bins 5 --C 5 --json -o model").ends(0).json();
    assert_eq!((&fit["bins"], &fit["grades"]), (&json!(5), &json!([1.0, 2.0, 3.0, 4.0, 5.0])));
    assert_eq!(fit["grade_sizes"], json!([16, 16, 16, 16, 16]));
    assert_eq!(fit["label_cuts"].as_array().unwrap().len(), 4);
    let out = room.run("predict model values.csv").ends(0).out;
    assert!(out.lines().all(|line| ["1", "2", "3", "4", "5"].contains(&line)), "{out}");
    // Labels of other data are put into the same bins.
    let found = room.run("evaluate model values.csv --json").ends(0).json();
    let [measured, told] = [&found["metrics"]["zero_one"], &fit["error"]].map(|error| error.as_f64().unwrap());
    // An item may lie at a threshold, but for rounding.
    assert!((measured - told).abs() < 0.02 && told < 0.5, "{measured} {told}");
    let some = room.read("values.csv").lines().take(12).collect::<Vec<_>>().join("\n");
    room.write("some.csv", &some);
    let found = room.run("evaluate model some.csv --metric mae --json").ends(0).json();
    assert!(found["metrics"]["mae"].as_f64().unwrap() < 1.5, "{found}");
    // Values themselves are ranked.
    let order = room.run("evaluate model values.csv --metric swapped_pairs --json").ends(0).json();
    assert!(order["metrics"]["swapped_pairs"].as_f64().unwrap() < 0.2);
    // Labels of which most are the same.
    let tied: String = (0..30).map(|k| format!("{},{k}\n", if k < 26 { 0 } else { k })).collect();
    room.write("tied.csv", &format!("label,a\n{tied}"));
    let ran = room.run("train tied.csv --method ordinal --bins 5 --scale standard -o tied").ends(0);
    assert!(ran.err.contains("2 bins instead of 5"), "{}", ran.err);
}

#[test]
fn a_search_chooses_c_and_width() {
    let room = room();
    let grid = "--kernel rbf --grid C=0.1,1,10 --grid gamma=0.01,0.3 --folds 4";
    for metric in ["zero_one", "mae", "swapped_pairs", "pair_accuracy"] {
        let tune = format!("tune films.csv --method ordinal {grid} --metric {metric} --json -o model");
        let tuned = room.run(&tune).ends(0).json();
        assert_eq!(tuned["points"].as_array().unwrap().len(), 6);
        assert_eq!(tuned["metric"], metric);
        assert_eq!(room.run("predict model films.csv").ends(0).out.lines().count(), 80);
    }
    let text = room.run("tune values.csv --method ordinal --bins 4 --folds 3 -o model").ends(0).out;
    assert!(text.contains("always the most frequent grade"), "{text}");
    room.run("report model values.csv -o page.html").ends(0);
    room.run("tune films.csv --method ordinal --metric log_loss -o m").fails(2, &["zero_one", "swapped_pairs"]);
    room.run("tune films.csv --method ordinal --grid epsilon=1,2 -o m").fails(2, &["--grid epsilon"]);
}

#[test]
fn what_does_not_go_together_is_said() {
    let room = room();
    let ran = room.run("train groups.csv --method ordinal -o model").ends(0);
    assert!(ran.err.contains("groups are not used by ordinal"), "{}", ran.err);
    for (options, words) in [
        ("--C inf", "no hard margin"),
        ("--loss logistic", "hinge or squared-hinge"),
        ("--loss epsilon", "hinge or squared-hinge"),
        ("--epsilon 1", "--method regress"),
        ("--classes ovr", "--method classify"),
        ("--approx nystrom:10 --kernel rbf", "--approx"),
        ("--balance groups", "--method rank"),
        ("--init model", "--init"),
        ("--constraints both", "implicit"),
        ("--bins 1", "from 2 to 256"),
        ("--bins x", "--bins"),
    ] {
        room.run(&format!("train films.csv --method ordinal {options} -o m")).fails(2, &[words]);
    }
    room.run("train films.csv --bins 3 -o m").fails(2, &["--bins", "--method ordinal"]);
    room.run("train films.csv --method classify --constraints explicit -o m").fails(2, &["--method ordinal"]);
    let many: String = (0..300).map(|k| format!("{k},{}\n", k % 7)).collect();
    room.write("many.csv", &format!("label,a\n{many}"));
    room.run("train many.csv --method ordinal -o m").fails(1, &["300 different labels", "--bins 5"]);
    room.run("evaluate model films.csv --metric rmse").fails(2, &["regressions", "zero_one"]);
    room.run("evaluate model films.csv --metric brier").fails(2, &["probabilities"]);
    room.write("one.csv", "label,a\n2,1\n2,3\n");
    room.run("train one.csv --method ordinal -o m").fails(1, &["label 2", "two different labels"]);
    room.write("nan.csv", "label,a\n2,1\nNaN,3\n");
    room.run("train nan.csv --method ordinal -o m").fails(1, &["line 3"]);
    room.write("words.csv", "label,a\ngood,1\nbad,3\n");
    room.run("train words.csv --method ordinal -o m").fails(1, &["line 2", "label"]);
    assert!(!room.path("m").exists());
    // Grades that training has not seen count as wrong.
    room.write("more.csv", "label,a,b\n4,1,1\n3,0,0\n");
    let ran = room.run("evaluate model more.csv").ends(0);
    assert!(ran.err.contains("count as wrong"), "{}", ran.err);
}
