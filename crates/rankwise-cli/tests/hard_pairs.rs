//! `train --pairs --C inf`: the hard margin, or the answer that there is none.

use crate::room::Room;

/// Four players a point apart, known by two numbers; neighbours are ties.
fn room() -> Room {
    let room = Room::new();
    room.write("players.csv", "id,skill,luck\na,0,0.3\nb,1,0.1\nc,2,0.4\nd,3,0.2\n");
    room.write("games.csv", "left,right,outcome\na,b,tie\nb,c,tie\nd,c,tie\na,c,right\nd,b,left\na,d,right\n");
    room.write("quarrel.csv", "left,right,outcome\na,b,tie\nb,a,left\nc,d,tie\n");
    room
}

#[test]
fn a_hard_margin_is_told_with_the_program_it_is_feasible_for() {
    let room = room();
    for kernel in ["linear", "rbf --gamma 0.1"] {
        let train =
            format!("train --pairs games.csv --items players.csv --C inf --kernel {kernel} --tol 1e-8 -o m --json");
        let json = room.run(&train).ends(0).json();
        assert_eq!((&json["C"], &json["separable"]), (&"inf".into(), &true.into()));
        assert_eq!((&json["stop"], &json["error"]), (&"converged".into(), &0.0.into()));
        let number = |key: &str| json[key].as_f64().unwrap();
        assert!((number("margin") + 1.0 / number("beta")).abs() < 1e-12);
        assert!(number("lp_slack").abs() < 1e-9 && number("gap") <= 1e-8, "{json}");
        assert_eq!((number("threshold"), &json["threshold_rule"]), (1.0, &"model".into()));
        let inspected = room.run("inspect m --json").ends(0).json();
        assert_eq!((&inspected["margin"], &inspected["lp_slack"]), (&json["margin"], &json["lp_slack"]));
        assert!(inspected["conventions"].is_null());
        let text = room.run("inspect m").ends(0).out;
        for words in ["inf (hard margin)", "−1/β", "max-margin LP", "feasible there: yes, smallest slack"] {
            assert!(text.contains(words), "no {words:?} in {text}");
        }
        let predicted = room.run("predict m --pairs games.csv --items players.csv").ends(0).out;
        for row in ["a,b,", "a,c,", "d,b,"] {
            let line = predicted.lines().find(|line| line.starts_with(row)).unwrap();
            let outcome = if row == "a,b," {
                "tie"
            } else if row == "a,c," {
                "right"
            } else {
                "left"
            };
            assert!(line.contains(outcome), "{line}");
        }
    }
    // One weight alone: a and c, two apart, are the nearest that differ, b and c, one apart, the farthest that do not.
    room.write("skills.csv", "id,skill\na,0\nb,1\nc,2\nd,3\n");
    let line = "train --pairs games.csv --items skills.csv --C inf --tol 1e-9 -o m --json";
    let json = room.run(line).ends(0).json();
    let close = |key: &str, expected: f64| {
        let found = json[key].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-6, "{key}: {found}");
    };
    // 2u + β = 1, u + β = −1
    close("objective", 2.0);
    close("beta", -3.0);
    close("margin", 1.0 / 3.0);
    // rank leaves the ties out.
    let rank = room.run("train --pairs games.csv --items skills.csv --C inf --method rank -o m --json").ends(0).json();
    assert!((rank["objective"].as_f64().unwrap() - 0.125).abs() < 1e-3 && rank.get("lp_slack").is_none(), "{rank}");
}

#[test]
fn pairs_that_cannot_be_told_apart_are_an_answer() {
    let room = room();
    room.write("m", "precious");
    let train = "train --pairs quarrel.csv --items players.csv --C inf -o m";
    let ran = room.run(&format!("{train} --json")).ends(0);
    let json = ran.json();
    assert_eq!((&json["method"], &json["C"], &json["separable"]), (&"compare".into(), &"inf".into(), &false.into()));
    assert_eq!((&json["pairs"], &json["ties"], &json["features"]), (&3.into(), &2.into(), &2.into()));
    assert!(json["model"].is_null() && json["reason"].as_str().unwrap().contains("different ways"), "{json}");
    for options in ["", "-q", "--kernel rbf"] {
        let ran = room.run(&format!("{train} {options}")).ends(0);
        assert!(ran.err.contains("no model is written") && ran.err.contains("finite C"), "{}", ran.err);
        assert_eq!(ran.out.is_empty(), options == "-q");
    }
    assert_eq!(room.read("m"), "precious");
    // A circle that no scores can follow, whatever the kernel.
    room.write("circle.csv", "left,right,outcome\na,b,right\nb,c,right\nc,a,right\na,d,tie\n");
    for kernel in ["linear", "rbf", "poly"] {
        let line = format!("train --pairs circle.csv --items players.csv --C inf --kernel {kernel} -o none --json");
        let json = room.run(&line).ends(0).json();
        assert!(json["reason"].as_str().unwrap().contains("norm of u"), "{json}");
    }
    assert!(!room.path("none").exists());
}

#[test]
fn what_knows_no_hard_margin_is_refused() {
    let room = room();
    let refused = |options: &str, words: &[&str]| {
        room.run(&format!("train --pairs games.csv --items players.csv --C inf -o m {options}")).fails(2, words);
    };
    refused("--method rank2", &["rank2", "finite C"]);
    refused("--method davidson", &["hard margin", "finite C"]);
    refused("--loss logistic", &["logistic", "finite C"]);
    refused("--tie-band pair", &["tie band", "finite C"]);
    refused("--calibrate", &["probabilities", "finite C"]);
    refused("--kernel rbf --approx nystrom:2", &["hard margin", "finite C"]);
}
