//! `train` with methods that are linear programs: compare-lp, rvm, rank-l1.

use crate::room::Room;

/// Four players a point apart; neighbours are ties.
fn players() -> Room {
    let room = Room::new();
    room.write("players.csv", "id,skill\na,0\nb,1\nc,2\nd,3\n");
    room.write("games.csv", "left,right,outcome\na,b,tie\nb,c,tie\nd,c,tie\na,c,right\nd,b,left\na,d,right\n");
    room.write("quarrel.csv", "left,right,outcome\na,b,tie\nb,a,left\nc,d,tie\n");
    room.write("wins.csv", "left,right,outcome\na,b,right\nb,c,right\n");
    room
}

#[test]
fn compare_lp_tells_whether_pairs_are_separable() {
    let room = players();
    let train = |pairs: &str, options: &str| {
        format!("train --pairs {pairs} --items players.csv --method compare-lp {options} -o m --json")
    };
    let json = room.run(&train("games.csv", "--tol 1e-9")).ends(0).json();
    // w ≤ 1 − μ, 2w ≥ 1 + μ
    let number = |json: &serde_json::Value, key: &str| json[key].as_f64().unwrap();
    assert!(
        (number(&json, "margin") - 1.0 / 3.0).abs() < 1e-9 && number(&json, "objective") == number(&json, "margin")
    );
    assert_eq!((&json["C"], &json["separable"], &json["error"]), (&"inf".into(), &true.into(), &0.0.into()));
    assert_eq!((&json["threshold"], &json["beta"]), (&1.0.into(), &serde_json::Value::Null));
    let text = room.run("inspect m").ends(0).out;
    for words in ["compare-lp", "μ, the least distance", "the machine's own"] {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    let evaluated = room.run("evaluate m --pairs games.csv --items players.csv --json").ends(0).json();
    assert_eq!(evaluated["metrics"]["zero_one"], 0.0);

    room.write("m", "precious");
    let ran = room.run(&train("quarrel.csv", "")).ends(0);
    assert_eq!((&ran.json()["separable"], &ran.json()["method"]), (&false.into(), &"compare-lp".into()));
    assert!(ran.err.contains("no model is written: not linearly separable"), "{}", ran.err);
    assert_eq!(room.read("m"), "precious");
    let ran = room.run(&train("wins.csv", "")).ends(1);
    assert!(ran.err.contains("no pair is a tie") && ran.err.contains("--C 1"), "{}", ran.err);

    for (kernel, tie_weight) in [("linear", 1), ("rbf", 2)] {
        let json = room
            .run(&train("quarrel.csv", &format!("--C 1 --kernel {kernel} --tie-weight {tie_weight}")))
            .ends(0)
            .json();
        assert!(number(&json, "beta") <= -1.0 && number(&json, "gap") <= 1e-3, "{json}");
        assert!(json.get("separable").is_none() && json["threshold"] == 1.0);
    }
    room.run("predict m --pairs games.csv --items players.csv").ends(0);
    room.run("report m --pairs games.csv --items players.csv -o r.html").ends(0);
}

#[test]
fn options_of_other_machines_are_refused() {
    let room = players();
    for (options, words) in [
        ("--kernel rbf", "needs --C X"),
        ("--tie-weight 2", "finite C"),
        ("--C 1 --loss hinge", "--loss does not apply to --method compare-lp"),
        ("--C 1 --threshold refit", "choose --method compare"),
        ("--C 1 --approx nystrom:2 --kernel rbf", "--approx"),
        ("--C 0", "above 0"),
        ("--coefficients signed", "choose --method rvm"),
    ] {
        let ran = room.run(&format!("train --pairs games.csv --items players.csv --method compare-lp {options} -o m"));
        let ran = ran.ends(2);
        assert!(ran.err.contains(words), "{options}: {}", ran.err);
    }
    room.write("items.csv", "label,x\n1,0\n2,1\n3,2\n");
    for method in ["rvm", "rank-l1"] {
        for (options, words) in [
            ("--loss hinge", "choose --method rank"),
            ("--approx nystrom:2 --kernel rbf", "choose --method rank"),
            ("--normalise", "choose --method swap"),
            ("--C inf", "no hard margin"),
            ("--C -1", "above 0"),
        ] {
            let ran = room.run(&format!("train items.csv --method {method} {options} -o m")).ends(2);
            assert!(ran.err.contains(words), "{method} {options}: {}", ran.err);
        }
        let ran = room.run(&format!("tune items.csv --method {method} --grid loss=hinge,logistic -o m")).ends(2);
        assert!(ran.err.contains("--grid loss does not apply"), "{}", ran.err);
        let ran = room.run(&format!("train --pairs games.csv --items players.csv --method {method} -o m")).ends(2);
        assert!(ran.err.contains("items"), "{}", ran.err);
    }
    let ran = room.run("train items.csv --method rank-l1 --coefficients signed -o m").ends(2);
    assert!(ran.err.contains("choose --method rvm"), "{}", ran.err);
    room.run("tune --pairs games.csv --items players.csv --method compare-lp -o m").ends(2);
    let ran = room.run("train items.csv --method compare-lp -o m").ends(2);
    assert!(ran.err.contains("--pairs"), "{}", ran.err);
}

#[test]
fn rankers_of_few_vectors_are_trained_inspected_and_used() {
    let room = Room::new();
    let mut table = "label,qid,x,y\n".to_string();
    for k in 0..60 {
        let (x, y) = (f64::from(k * 7 % 60) / 60.0, f64::from(k * 11 % 60) / 60.0);
        table += &format!("{},{},{x},{y}\n", (10.0 * (x - 0.4) * (x - 0.4) + y).round(), k % 2);
    }
    room.write("items.csv", &table);
    for (method, options) in [
        ("rvm", "--kernel rbf"),
        ("rvm", "--kernel rbf --coefficients nonnegative"),
        ("rvm", ""),
        ("rank-l1", "--kernel poly"),
    ] {
        let json =
            room.run(&format!("train items.csv --method {method} {options} --C 0.05 -o m --json")).ends(0).json();
        assert_eq!((&json["method"], &json["stop"]), (&method.into(), &"converged".into()));
        let support = json["support"].as_u64().unwrap();
        assert!((1..=20).contains(&support) && json["pair_accuracy"].as_f64().unwrap() > 0.6, "{json}");
        assert!(json["critical_C"].as_f64().unwrap() < 0.05, "{json}");
        assert_eq!(json.get("support_pairs").is_some(), method == "rank-l1");
        let text = room.run("inspect m").ends(0).out;
        assert!(text.contains("critical C") && !text.contains('λ'), "{text}");
        room.run("predict m items.csv").ends(0);
        room.run("evaluate m items.csv").ends(0);
        room.run("report m items.csv -o r.html").ends(0);
    }
    let ran = room.run("train items.csv --method rvm --kernel rbf --C 1e-9 -o m").ends(0);
    assert!(ran.err.contains("nothing is learnt: all scores are 0"), "{}", ran.err);
    assert!(ran.out.contains("0 ranking vectors"), "{}", ran.out);
    let ran = room.run("predict m items.csv").ends(0);
    assert!(ran.out.lines().all(|line| line == "0"), "{}", ran.out);
}

#[test]
fn programs_are_tuned_by_folds_of_groups() {
    let room = Room::new();
    let mut table = "label,qid,x,y\n".to_string();
    for k in 0..90 {
        let (x, y) = (f64::from(k * 7 % 60) / 60.0, f64::from(k * 11 % 60) / 60.0);
        table += &format!("{},{},{x},{y}\n", (10.0 * (x - 0.4) * (x - 0.4) + y).round(), k % 6);
    }
    room.write("items.csv", &table);
    for method in ["rvm", "rank-l1"] {
        let line = format!("tune items.csv --method {method} --kernel rbf --grid gamma=0.5,5 --folds 3 -o m --json");
        let json = room.run(&line).ends(0).json();
        assert_eq!((&json["method"], json["points"].as_array().unwrap().len()), (&method.into(), 10));
        // A point is what train and evaluate would find.
        let best = &json["best"]["params"];
        assert_eq!((&json["C"], &json["gamma"]), (&best["C"], &best["gamma"]));
        let mean =
            json["points"].as_array().unwrap().iter().filter_map(|point| point["mean"].as_f64()).fold(0.0, f64::max);
        assert!(mean > 0.8, "{json}");
        let train =
            format!("train items.csv --method {method} --kernel rbf --C {} --gamma {} -o n", best["C"], best["gamma"]);
        room.run(&train).ends(0);
        assert_eq!(room.run("predict m items.csv").ends(0).out, room.run("predict n items.csv").ends(0).out);
        room.run("report m items.csv -o r.html").ends(0);
    }
}
