//! `evaluate` on runs of search engines: numbers a user can check by hand.

use serde_json::Value;

use crate::room::Room;

const QRELS: &str = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq2 0 e 1\nq3 0 z 1\n";
const RUN: &str = "q1 Q0 a 9 3 t\nq1 Q0 b 2 2 t\nq1 Q0 c 3 1 t\nq2 Q0 d 1 5 t\nq2 Q0 e 2 4 t\nq9 Q0 y 1 1 t\n";

fn room() -> Room {
    let room = Room::new();
    room.write("qrels.txt", QRELS);
    room.write("run.txt", RUN);
    room
}

#[track_caller]
fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("no number: {found}"));
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

#[test]
fn the_usual_metrics_by_hand() {
    let room = room();
    let ran = room.run("evaluate --qrels qrels.txt --run run.txt --json").ends(0);
    let json = ran.json();
    let third = 3f64.log2().recip(); // the discount of rank 2; the gain is the label
    near(&json["metrics"]["ndcg@10:trec"], (2.5 / (2.0 + third) + third) / 2.0);
    near(&json["metrics"]["ndcg:trec"], (2.5 / (2.0 + third) + third) / 2.0);
    near(&json["metrics"]["map:trec"], (5.0 / 6.0 + 0.5) / 2.0);
    near(&json["metrics"]["mrr:trec"], 0.75);
    near(&json["metrics"]["precision@10:trec"], 0.15);
    assert_eq!((&json["items"], &json["groups"], &json["groups_skipped"]), (&5.into(), &2.into(), &0.into()));
    for words in ["run.txt", "without judgments", "q9", "not in the run", "q3", "--queries judged"] {
        assert!(ran.err.contains(words), "no {words:?} in {}", ran.err);
    }
    let out = room.run("evaluate --qrels qrels.txt --run run.txt -q").ends(0).out;
    assert!(out.contains("map:trec") && out.contains("random order"), "{out}");
}

#[test]
fn queries_that_were_not_found_can_count() {
    let room = room();
    let ran =
        room.run("evaluate --qrels qrels.txt --run run.txt --queries judged --metric map:trec,mrr --json").ends(0);
    near(&ran.json()["metrics"]["map:trec"], (5.0 / 6.0 + 0.5) / 3.0);
    near(&ran.json()["metrics"]["mrr"], 0.5);
    assert_eq!(ran.json()["groups"], 3);
    assert!(!ran.err.contains("q3"), "{}", ran.err);
}

#[test]
fn equal_scores_are_ordered_by_id_and_labels_below_0_are_fine() {
    let room = room();
    room.write("spam.txt", "1 0 a 1\n1 0 b -2\n");
    room.write("tied.txt", "1 Q0 a 1 0.5 t\n1 Q0 b 2 0.5 t\n");
    let json = room.run("evaluate --qrels spam.txt --run tied.txt --metric mrr:trec,mrr --json").ends(0).json();
    near(&json["metrics"]["mrr:trec"], 0.5);
    near(&json["metrics"]["mrr"], 0.75);
    room.run("evaluate --qrels spam.txt --run tied.txt").ends(0);
    room.run("evaluate --qrels spam.txt --run tied.txt --metric ndcg@10")
        .fails(1, &["spam.txt", "label -2", "group 1"]);
}

#[test]
fn two_runs_on_the_queries_they_share() {
    let room = room();
    let words = "evaluate --qrels qrels.txt --run run.txt --metric map:trec --json --compare";
    let json = room.run(&format!("{words} run.txt")).ends(0).json();
    let test = &json["comparison"]["metrics"]["map:trec"];
    assert_eq!((&json["comparison"]["run"], &test["n_groups"]), (&"run.txt".into(), &2.into()));
    near(&test["difference"], 0.0);
    near(&test["p_value"], 1.0);

    room.write("other.txt", "q3 Q0 z 1 1 t\nq2 Q0 e 1 1 t\n");
    let ran = room.run(&format!("{words} other.txt --per-group g.csv")).ends(0);
    let test = &ran.json()["comparison"]["metrics"]["map:trec"];
    near(&test["first"], 0.5);
    near(&test["second"], 1.0);
    near(&test["difference"], -0.5);
    assert_eq!(test["n_groups"], 1);
    assert!(ran.err.contains("only what is in both runs counts: 1 query"), "{}", ran.err);
    assert_eq!(room.read("g.csv"), "group,items,map:trec,second.map:trec\nq2,2,0.5,1\n");

    // Nothing found counts as nothing, in either run.
    let json = room.run(&format!("{words} other.txt --queries judged")).ends(0).json();
    near(&json["comparison"]["metrics"]["map:trec"]["first"], (5.0 / 6.0 + 0.5) / 3.0);
    near(&json["comparison"]["metrics"]["map:trec"]["second"], 2.0 / 3.0);

    room.write("apart.txt", "q3 Q0 z 1 1 t\n");
    room.run(&format!("{words} apart.txt")).fails(1, &["run.txt", "apart.txt", "no judged query"]);
}

#[test]
fn what_does_not_go_together() {
    let room = room();
    for (words, reasons) in [
        ("evaluate --qrels qrels.txt", &["--run"][..]),
        ("evaluate --run run.txt", &["--qrels"]),
        ("evaluate model --qrels qrels.txt --run run.txt", &["model", "needs no model", "leave it out"]),
        ("evaluate --qrels qrels.txt --run run.txt --pairs p.csv", &["--pairs", "does not apply"]),
        ("evaluate --qrels qrels.txt --run run.txt --roc r.csv", &["--roc", "does not apply"]),
        ("evaluate --qrels qrels.txt --run run.txt --label l", &["--label", "does not apply"]),
        ("evaluate --qrels qrels.txt --run run.txt --metric zero_one", &["zero_one is for pairs"]),
        ("evaluate --qrels qrels.txt --run run.txt --queries all", &["both", "judged"]),
        ("evaluate --qrels - --run -", &["standard input"]),
        ("evaluate --qrels qrels.txt --run run.txt --per-group run.txt", &["would destroy the input"]),
    ] {
        room.run(words).fails(2, reasons);
    }
    room.write("bad.txt", "q1 Q0 a 1 high t\n");
    room.run("evaluate --qrels qrels.txt --run bad.txt").fails(1, &["bad.txt, line 1", "score", "`high`"]);
    room.write("far.txt", "x Q0 a 1 1 t\n");
    room.run("evaluate --qrels qrels.txt --run far.txt").fails(1, &["qrels.txt", "far.txt", "none of the 3"]);
    assert_eq!(room.read("run.txt"), RUN);
}
