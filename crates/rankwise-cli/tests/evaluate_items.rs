//! `evaluate` on items: numbers a user can check by hand.

use rankwise::RankSvm;
use rankwise::data::Precision;
use rankwise::io::{Columns, Source, read_ranking, write_model};
use serde_json::Value;

use crate::room::Room;

/// Three groups by descending x: labels 2, 0, 1, then 0, 1, then 0, 0.
const ITEMS: &str = "id,qid,label,x\na,q1,2,3\nd,q2,0,5\nb,q1,0,2\nc,q1,1,1\ne,q2,1,4\nf,q3,0,1\ng,q3,0,2\n";

/// With `items.csv`, and the models `up`, whose scores rise with x, and `down`, whose scores fall.
fn room() -> Room {
    let room = Room::new();
    for (model, better) in [("up", "right"), ("down", "left")] {
        room.write(&format!("{model}.csv"), &format!("left.x,right.x,outcome\n0,1,{better}\n1,3,{better}\n"));
        room.run(&format!("train --pairs {model}.csv --method rank -o {model}")).ends(0);
    }
    room.write("items.csv", ITEMS);
    room
}

/// Many groups of five, whose labels follow x more or less.
fn write_many(room: &Room, n_groups: usize) {
    let mut text = String::from("qid,label,x\n");
    for k in 0..5 * n_groups {
        let noise = (k * 7919 + k * k * 31) % 13;
        text += &format!("g{},{},{}\n", k % n_groups, (k / n_groups + noise / 5) % 4, k / n_groups);
    }
    room.write("many.csv", &text);
}

#[track_caller]
fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("no number: {found}"));
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

#[test]
fn the_usual_metrics_by_hand() {
    let room = room();
    let ran = room.run("evaluate up items.csv --json").ends(0);
    assert_eq!(ran.out.lines().count(), 1);
    let json = ran.json();
    let third = 3f64.log2().recip(); // the discount of rank 2
    let (first, second) = (3.5 / (3.0 + third), third);
    for (name, value) in [
        ("pair_accuracy", 0.5),
        ("ndcg@10", (first + second) / 2.0),
        ("map", (5.0 / 6.0 + 0.5) / 2.0),
        ("mrr", 0.5),
        ("precision@10", 0.1),
        ("err@10", (0.75 + 0.25 * 0.25 / 3.0 + 0.25 / 2.0) / 3.0),
        ("kendall_tau", (1.0 / 3.0 - 1.0) / 2.0),
    ] {
        near(&json["metrics"][name], value);
    }
    assert_eq!(json["metrics"].as_object().unwrap().len(), 7);
    // Equal scores: nothing is in order, every rank holds the mean gain.
    near(&json["random_order"]["pair_accuracy"], 0.5);
    let flat = (4.0 / 3.0 * (1.0 + third + 0.5) / (3.0 + third) + 0.5 * (1.0 + third)) / 2.0;
    near(&json["random_order"]["ndcg@10"], flat);
    assert_eq!((&json["items"], &json["groups"], &json["groups_skipped"]), (&7.into(), &3.into(), &1.into()));
    assert_eq!((&json["skipped"]["ndcg@10"], &json["skipped"]["mrr"]), (&1.into(), &0.into()));
    assert_eq!(json["greater_is_better"]["map"], true);
    assert_eq!(json["warnings"].as_array().unwrap().len(), 0);
    assert!(json.get("comparison").is_none() && json.get("intervals").is_none());
    assert_eq!(ran.err, "");
}

#[test]
fn a_table_for_people() {
    let room = room();
    let out = room.run("evaluate up items.csv").ends(0).out;
    for words in ["items", "7", "groups", "3", "metric", "value", "random order", "groups skipped", "ndcg@10", "0.5"] {
        assert!(out.contains(words), "no {words:?} in\n{out}");
    }
    assert!(!out.contains("better"), "{out}");
    let out = room.run("evaluate up items.csv --metric swapped_pairs,mrr,swapped_pairs").ends(0).out;
    assert_eq!(out.lines().count(), 3, "{out}");
    assert!(out.contains("better") && out.contains("less") && out.contains("more"), "{out}");
}

#[test]
fn metrics_keep_the_names_that_were_typed() {
    let room = room();
    let names = ["ndcg@2:sklearn", "map:rel=2", "concordance", "precision@1", "ndcg@10:trec", "spearman"];
    let json = room.run(&format!("evaluate up items.csv --json --metric {}", names.join(","))).ends(0).json();
    let metrics = json["metrics"].as_object().unwrap();
    assert_eq!(metrics.len(), names.len());
    names.iter().for_each(|name| assert!(metrics[*name].is_number(), "{name}"));
    near(&metrics["map:rel=2"], 1.0);
    near(&metrics["precision@1"], 1.0 / 3.0);
    near(&json["random_order"]["concordance"], 0.5);
}

#[test]
fn both_formats_of_items_give_the_same() {
    let room = room();
    let mut lines = String::new();
    for line in ITEMS.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        lines += &format!("{} qid:{} 1:{} # {}\n", cells[2], &cells[1][1..], cells[3], cells[0]);
    }
    room.write("items.letor", &lines);
    let names = "--metric ndcg@10:trec,map,pair_accuracy,mrr:trec --json";
    let of_table = room.run(&format!("evaluate up items.csv {names}")).ends(0).out;
    assert_eq!(room.run(&format!("evaluate up items.letor {names}")).ends(0).out, of_table);
    assert_eq!(room.run_with_input(&format!("evaluate up - --format csv {names}"), ITEMS).ends(0).out, of_table);
    room.write("other.csv", &ITEMS.replace("qid,label", "query,grade"));
    let columns = "--group query --label grade --id id";
    assert_eq!(room.run(&format!("evaluate up other.csv {columns} {names}")).ends(0).out, of_table);
}

#[test]
fn items_without_groups_are_one_group() {
    let room = room();
    room.write("one.csv", "label,x\n1.5,2\n-0.5,1\n0.25,3\n");
    let json = room.run("evaluate up one.csv --json").ends(0).json();
    assert_eq!(json["groups"], 1);
    near(&json["metrics"]["pair_accuracy"], 2.0 / 3.0);
    // Real labels have no gains.
    assert!(json["metrics"].get("ndcg@10").is_none() && json["metrics"]["spearman"].is_number());
}

#[test]
fn weights_count_and_weight_0_is_absent() {
    let room = room();
    let header = "qid,label,x,weight,group_weight\n";
    room.write("weighted.csv", &format!("{header}a,1,2,1,1\na,0,1,3,1\na,2,0,0,1\nb,1,1,1,2\nb,0,2,1,2\nc,1,0,1,0\n"));
    let json = room.run("evaluate up weighted.csv --metric pair_accuracy,mrr --json").ends(0).json();
    // Pairs of weight 3 and 2, of which the first is in order; reciprocal ranks 1 and ½ of weight 1 and 2.
    near(&json["metrics"]["pair_accuracy"], 0.6);
    near(&json["metrics"]["mrr"], 2.0 / 3.0);
    assert_eq!((&json["items"], &json["groups"]), (&4.into(), &2.into()));
}

#[test]
fn a_row_for_every_group() {
    let room = room();
    room.run("evaluate up items.csv --metric pair_accuracy,mrr --per-group groups.csv").ends(0);
    let expected = format!("group,items,pair_accuracy,mrr\nq1,3,{},1\nq2,2,0,0.5\nq3,2,,0\n", 2.0 / 3.0);
    assert_eq!(room.read("groups.csv"), expected);
    room.run("evaluate up items.csv --metric mrr --compare down --per-group groups.csv").ends(0);
    assert_eq!(room.read("groups.csv"), "group,items,mrr,second.mrr\nq1,3,1,1\nq2,2,0.5,1\nq3,2,0,0\n");
}

#[test]
fn a_model_beside_itself_does_not_differ() {
    let room = room();
    let json = room.run("evaluate up items.csv --compare up --json").ends(0).json();
    assert_eq!(json["comparison"]["model"], "up");
    let compared = json["comparison"]["metrics"].as_object().unwrap();
    assert_eq!(compared.len(), 7);
    for (name, test) in compared {
        near(&test["difference"], 0.0);
        near(&test["p_value"], 1.0);
        assert_eq!((&test["low"], &test["high"]), (&0.0.into(), &0.0.into()), "{name}");
        assert_eq!(test["first"], test["second"]);
        assert_eq!(test["exact"], true);
    }
    assert_eq!(compared["map"]["n_groups"], 2);
}

#[test]
fn two_models_that_differ_everywhere() {
    let room = room();
    let rows: String = (0..6).map(|group| format!("{group},0,1\n{group},1,2\n{group},2,3\n")).collect();
    room.write("clear.csv", &format!("qid,label,x\n{rows}"));
    let ran = room.run("evaluate up clear.csv --compare down --metric pair_accuracy,swapped_pairs --json").ends(0);
    let tests = &ran.json()["comparison"]["metrics"];
    near(&tests["pair_accuracy"]["first"], 1.0);
    near(&tests["pair_accuracy"]["second"], 0.0);
    near(&tests["pair_accuracy"]["difference"], 1.0);
    near(&tests["swapped_pairs"]["difference"], -1.0);
    near(&tests["pair_accuracy"]["low"], 1.0);
    // Of the 2⁶ ways to swap, this one and its mirror image differ as much.
    near(&tests["pair_accuracy"]["p_value"], 2.0 / 64.0);
    assert!(ran.err.contains("6 groups say little"), "{}", ran.err);
    let out = room.run("evaluate up clear.csv --compare down -q").ends(0).out;
    for words in ["compared with down", "first", "second", "difference", "95 % interval", "p", "0.03125", "[1, 1]"] {
        assert!(out.contains(words), "no {words:?} in\n{out}");
    }
}

#[test]
fn intervals_are_over_groups() {
    let room = room();
    write_many(&room, 40);
    let json = room.run("evaluate up many.csv --ci --json").ends(0).json();
    near(&json["level"], 0.95);
    let narrow = room.run("evaluate up many.csv --ci=0.5 --json").ends(0).json();
    for (name, value) in json["metrics"].as_object().unwrap() {
        let ends = |json: &Value| {
            (json["intervals"][name]["low"].as_f64().unwrap(), json["intervals"][name]["high"].as_f64().unwrap())
        };
        let ((low, high), (low_half, high_half)) = (ends(&json), ends(&narrow));
        let value = value.as_f64().unwrap();
        assert!(low <= low_half && high_half <= high && low <= value && value <= high, "{name}");
    }
    assert!(json["intervals"]["ndcg@10"]["low"] != json["intervals"]["ndcg@10"]["high"]);
    let out = room.run("evaluate up many.csv --ci=0.9 --metric map").ends(0).out;
    assert!(out.contains("90 % interval") && out.contains('['), "{out}");
    let ran = room.run("evaluate up items.csv --ci").ends(0);
    assert!(ran.err.contains("intervals from 2 groups say little"), "{}", ran.err);
    room.write("one.csv", "label,x\n1,2\n0,1\n");
    let ran = room.run("evaluate up one.csv --ci --json").ends(0);
    assert!(ran.json()["intervals"]["map"].is_null() && ran.err.contains("no interval"), "{}", ran.err);
}

#[test]
fn pairs_have_intervals_too() {
    let room = Room::with_model();
    let json = room.run("evaluate model --pairs test.csv --ci --metric zero_one,confusion --json").ends(0).json();
    let (error, interval) = (json["metrics"]["zero_one"].as_f64().unwrap(), &json["intervals"]["zero_one"]);
    assert!(interval["low"].as_f64().unwrap() < error && error < interval["high"].as_f64().unwrap());
    assert_eq!(json["intervals"].as_object().unwrap().len(), 1);
    let out = room.run("evaluate model --pairs test.csv --ci --metric auc").ends(0).out;
    assert!(out.starts_with("auc") && out.contains('[') && out.contains(']'), "{out}");
}

#[test]
fn the_same_bytes_whatever_the_threads() {
    let room = room();
    write_many(&room, 50);
    let words = "evaluate up many.csv --ci --compare down --json --per-group";
    let one = room.run(&format!("{words} one.csv --threads 1")).ends(0).out;
    let three = room.run(&format!("{words} three.csv --threads 3")).ends(0).out;
    assert_eq!(one, three);
    assert_eq!(room.bytes("one.csv"), room.bytes("three.csv"));
    let other = room.run(&format!("{words} one.csv --seed 1")).ends(0).json();
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["metrics"], other["metrics"]);
    assert_ne!(one["intervals"], other["intervals"]);
    assert_eq!(one["comparison"]["metrics"]["map"]["exact"], false);
}

#[test]
fn undefined_metrics_are_null_and_explained() {
    let room = room();
    room.write("flat.csv", "qid,label,x\na,0,1\na,0,2\nb,0,1\n");
    let ran = room.run("evaluate up flat.csv --metric ndcg@10,mrr --json --compare down --per-group g.csv").ends(0);
    let json = ran.json();
    assert!(json["metrics"]["ndcg@10"].is_null() && json["random_order"]["ndcg@10"].is_null());
    assert!(json["comparison"]["metrics"]["ndcg@10"]["difference"].is_null());
    near(&json["metrics"]["mrr"], 0.0);
    assert_eq!((&json["groups_skipped"], &json["skipped"]["mrr"]), (&2.into(), &0.into()));
    assert!(ran.err.contains("warning: ndcg@10 is not defined on these items"), "{}", ran.err);
    assert_eq!(room.read("g.csv").lines().nth(1), Some("a,2,,0,,0"));
    room.write("absent.csv", "label,x,weight\n1,1,0\n0,2,0\n");
    let ran = room.run("evaluate up absent.csv --json").ends(0);
    assert_eq!((&ran.json()["items"], &ran.json()["groups"]), (&0.into(), &0.into()));
    assert!(ran.err.contains("no item has a weight above 0"), "{}", ran.err);
}

#[test]
fn labels_that_a_metric_cannot_use_are_the_datas_fault() {
    let room = room();
    room.write("negative.csv", "qid,label,x\na,-1,1\na,2,2\n");
    let words = ["negative.csv", "ndcg@10", "label -1", "group a", "kendall_tau"];
    room.run("evaluate up negative.csv --metric ndcg@10").fails(1, &words);
    room.run("evaluate up negative.csv --metric err@10 --per-group g.csv").fails(1, &["negative.csv", "err@10"]);
    room.run("evaluate up negative.csv --metric ndcg@10:trec").fails(1, &["negative.csv", "ids", "leave :trec out"]);
    assert!(!room.path("g.csv").exists());
    room.write("huge.csv", "qid,label,x\na,1e300,1\na,2,2\n");
    room.run("evaluate up huge.csv --metric ndcg@10").fails(1, &["a label 1e300 in group a"]);
    room.run("evaluate up negative.csv").ends(0); // what is usual depends on the labels
    room.write("unlabelled.csv", "qid,x\na,1\na,2\n");
    room.run("evaluate up unlabelled.csv").fails(1, &["unlabelled.csv", "label", "--label COL"]);
    room.write("other.csv", "qid,label,y\na,1,1\n");
    room.run("evaluate up other.csv").fails(1, &["do not fit"]);
}

#[test]
fn what_was_typed_wrong() {
    let room = room();
    let before = room.names();
    for (words, reasons) in [
        ("evaluate up items.csv --metric accurate", &["`accurate`", "pair_accuracy", "ndcg@K", "err@K"][..]),
        ("evaluate up items.csv --metric accuracy", &["accuracy is for", "classifiers", "pair_accuracy", "ndcg@K"]),
        ("evaluate up items.csv --metric rmse,map", &["rmse looks at labels", "one kind at a time"]),
        ("evaluate up items.csv --metric ndcg@0", &["ndcg@10"]),
        ("evaluate up items.csv --metric ndcg@10:excel", &["sklearn", "trec"]),
        ("evaluate up items.csv --metric mrr,,map", &["ndcg@K"]),
        ("evaluate up items.csv --metric auc", &["auc is for pairs", "--pairs", "kendall_tau"]),
        ("evaluate up --pairs up.csv --metric ndcg@10", &["ndcg@10 is for items", "zero_one", "confusion"]),
        ("evaluate up items.csv --roc r.csv", &["--roc", "does not apply to items", "--pairs"]),
        ("evaluate up --pairs up.csv --compare down", &["--compare", "does not apply to pairs", "DATA"]),
        ("evaluate up --pairs up.csv --per-group g.csv", &["--per-group", "does not apply to pairs"]),
        ("evaluate up items.csv --pairs up.csv", &["items.csv", "--pairs", "one at a time"]),
        ("evaluate up items.csv --ci=95", &["--ci=95", "between 0 and 1"]),
        ("evaluate up items.csv --per-group -", &["--per-group", "name a file"]),
        ("evaluate up items.csv --per-group items.csv", &["would destroy the input"]),
        ("evaluate up items.csv --compare down --per-group down", &["would destroy the input"]),
        ("evaluate up items.csv --queries judged", &["--queries", "--qrels"]),
        ("evaluate", &["MODEL DATA", "--pairs", "--qrels"]),
        ("evaluate up", &["no data", "--pairs"]),
        ("evaluate up -", &["standard input", "--format"]),
    ] {
        room.run(words).fails(2, reasons);
    }
    assert_eq!(room.names(), before);
    room.run("evaluate up items.csv --compare nothing").fails(1, &["nothing"]);
    room.run("evaluate up items.csv --per-group no/g.csv").fails(1, &["no/g.csv", "directory"]);
}

#[test]
fn a_ranker_of_items_on_pairs_knows_no_ties() {
    let room = room();
    let source = Source::parse(room.path("items.csv").to_str().unwrap(), None).unwrap();
    let data = read_ranking(&source, &Columns::default(), Precision::F64).unwrap();
    write_model(&room.path("ranker"), &RankSvm::new().fit(&data).unwrap().model).unwrap();
    room.write("pairs.csv", "left.x,right.x,outcome\n1,2,right\n3,2,left\n1,1,tie\n1,2,tie\n");
    let json = room.run("evaluate ranker --pairs pairs.csv --json").ends(0).json();
    assert_eq!(json["threshold"], 0.0);
    let sign = json["metrics"]["pair_accuracy"].as_f64().unwrap();
    assert!(sign == 0.0 || sign == 1.0, "{json}");
    near(&json["metrics"]["zero_one"], (3.0 - 2.0 * sign) / 4.0);
    room.run("evaluate ranker items.csv --compare up").ends(0);
}
