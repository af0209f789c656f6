//! `predict`: outcomes of pairs, scores of items.

use crate::room::Room;

fn fields(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

#[test]
fn pairs_give_margins_and_outcomes_by_the_threshold() {
    let room = Room::with_model();
    let threshold = room.run("inspect model --json").ends(0).json()["threshold"].as_f64().unwrap();
    let out = room.run("predict model --pairs test.csv").ends(0).out;
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("left,right,margin,outcome"));
    let mut n_lines = 0;
    for line in lines {
        let row = fields(line);
        let margin: f64 = row[2].parse().unwrap();
        let expected = if margin.abs() <= threshold { "tie" } else { ["left", "right"][usize::from(margin > 0.0)] };
        assert_eq!(row[3], expected, "{line}");
        n_lines += 1;
    }
    assert_eq!(n_lines, 120);
}

#[test]
fn predictions_agree_with_evaluate() {
    let room = Room::with_model();
    let predicted = room.run("predict model --pairs test.csv").ends(0).out;
    let judged = room.read("test.csv");
    let outcome = |line: &str| match line.rsplit(',').next().unwrap() {
        "-1" => "left".to_string(),
        "0" => "tie".into(),
        "1" => "right".into(),
        word => word.into(),
    };
    let pairs = predicted.lines().skip(1).zip(judged.lines().skip(1));
    let wrong = pairs.filter(|(a, b)| outcome(a) != outcome(b)).count();
    let json = room.run("evaluate model --pairs test.csv --json").ends(0).json();
    assert!((json["metrics"]["zero_one"].as_f64().unwrap() - wrong as f64 / 120.0).abs() < 1e-12);
}

#[test]
fn a_file_holds_what_standard_output_would() {
    let room = Room::with_model();
    let out = room.run("predict model --pairs test.csv").ends(0).out;
    let ran = room.run("predict model --pairs test.csv -o p.csv").ends(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    assert_eq!(room.read("p.csv"), out);
    assert_eq!(room.run("predict model --pairs test.csv -o -").ends(0).out, out);
    assert_eq!(room.run("predict model --pairs test.csv -q").ends(0).out, out);
    room.run("predict model --pairs test.csv -o nowhere/p.csv").fails(1, &["nowhere"]);
    assert_eq!(room.names(), ["model", "p.csv", "test.csv", "train.csv"]);
}

#[test]
fn json_holds_predictions_or_names_the_file() {
    let room = Room::with_model();
    let json = room.run("predict model --pairs test.csv --json").ends(0).json();
    assert_eq!(json["pairs"], 120);
    let rows = json["predictions"].as_array().unwrap();
    assert_eq!(rows.len(), 120);
    assert!(rows[0]["margin"].is_number() && rows[0]["outcome"].is_string() && rows[0]["left"].is_string());
    let json = room.run("predict model --pairs test.csv -o p.csv --json").ends(0).json();
    assert_eq!(json["output"], "p.csv");
    assert!(json.get("predictions").is_none());
}

#[test]
fn items_give_a_score_a_line_or_a_table_with_ranks() {
    let room = Room::with_model();
    room.write("items.csv", "id,x1,x2\norigin,0,0\n\"far, away\",3,3\ntwin,0,0\nnear,1,1\n");
    let out = room.run("predict model items.csv").ends(0).out;
    let scores: Vec<f64> = out.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(scores.len(), 4);
    assert_eq!(scores[0], scores[2]);
    assert!(scores[1] > scores[0]);
    let table = room.run("predict model items.csv --format csv").ends(0).out;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "id,score,rank");
    assert_eq!(lines[1], format!("origin,{},{}", out.lines().next().unwrap(), fields(lines[3])[2]));
    assert!(lines[2].starts_with("\"far, away\",") && lines[2].ends_with(",1"), "{table}");
    assert!(lines[1].ends_with(",3") && lines[3].ends_with(",3"), "equal scores share the smallest rank: {table}");
    let json = room.run("predict model items.csv --json").ends(0).json();
    assert_eq!(json["items"], 4);
    assert_eq!(json["predictions"][1]["id"], "far, away");
    assert_eq!(json["predictions"][1]["rank"], 1);
}

#[test]
fn the_difference_of_scores_is_the_margin() {
    let room = Room::with_model();
    room.write("items.csv", "id,x1,x2\na,0.5,-1\nb,2,1\n");
    room.write("pairs.csv", "left,right\na,b\n");
    let scores = room.run("predict model items.csv").ends(0).out;
    let scores: Vec<f64> = scores.lines().map(|line| line.parse().unwrap()).collect();
    let out = room.run("predict model --pairs pairs.csv --items items.csv").ends(0).out;
    let row = fields(out.lines().nth(1).unwrap());
    assert_eq!(&row[..2], ["a", "b"]);
    assert_eq!(row[2].parse::<f64>().unwrap(), scores[1] - scores[0]);
}

#[test]
fn a_score_does_not_depend_on_the_rows_around_it() {
    let room = Room::with_model();
    room.write("one.csv", "id,x1,x2\na,0.123456789012345,1.1\n");
    room.write("two.csv", "id,x1,x2\nb,123456.789,1e-7\na,0.123456789012345,1.1\nc,123456.7890001,0\n");
    let one = room.run("predict model one.csv").ends(0).out;
    let two = room.run("predict model two.csv").ends(0).out;
    assert_eq!(one.lines().next(), two.lines().nth(1));
}

#[test]
fn items_known_by_name_are_written_by_name() {
    let room = Room::with_leaderboard();
    let out = room.run("predict board --pairs games.csv").ends(0).out;
    assert!(out.lines().nth(1).unwrap().starts_with("ann,bob,-"), "ann is better: {out}");
    assert!(out.lines().nth(2).unwrap().starts_with("bob,\"c, d\",-"), "{out}");
    room.write("strangers.csv", "left,right\nann,zoe\n");
    room.run("predict board --pairs strangers.csv").fails(1, &["zoe"]);
}

#[test]
fn games_that_are_still_to_come_need_no_outcome() {
    let room = Room::with_leaderboard();
    room.write("none.csv", "left,right\nann,bob\nbob,eve\n");
    let expected = room.run("predict board --pairs none.csv").ends(0).out;
    for (header, options) in [("outcome", ""), ("winner", ""), ("result", "--label result")] {
        room.write("next.csv", &format!("left,right,{header}\nann,bob,\nbob,eve,postponed\n"));
        assert_eq!(room.run(&format!("predict board --pairs next.csv {options}")).ends(0).out, expected);
        room.run(&format!("evaluate board --pairs next.csv {options}")).fails(1, &["line 2", "empty cell"]);
    }
    room.write("next.csv", "left,right,result\nann,bob,\n");
    room.run("predict board --pairs next.csv").fails(1, &["column 3 (result)"]);
}

#[test]
fn items_may_be_in_svmlights_format() {
    let room = Room::with_model();
    room.write("grouped.csv", "id,qid,x1,x2\na,1,1.5,2\n#2,1,0,-1\n");
    room.write("items.svm", "0 qid:1 1:1.5 2:2 # a\n0 qid:1 2:-1\n");
    let expected = room.run("predict model grouped.csv --format csv").ends(0).out;
    assert_eq!(room.run("predict model items.svm --format csv").ends(0).out, expected);
    room.write("items.csv", "id,x1,x2\na,1.5,2\n#2,0,-1\n");
    let expected = room.run("predict model items.csv --format csv").ends(0).out;
    let from_0 = "0 0:1.5 1:2 #a\n0 1:-1";
    let ran = room.run_with_input("predict model - --input-format letor --index-base 0 --format csv", from_0);
    assert_eq!(ran.ends(0).out, expected);
    let ran = room.run_with_input("predict model - --input-format svmlight", from_0);
    ran.fails(1, &["standard input, line 1, column 3", "index 0", "--index-base 0"]);
    room.run("predict model items.svm --label x").fails(2, &["--label", "items.svm", "leave it out"]);
    room.run("predict model --pairs items.svm").fails(2, &["items.svm", "--input-format csv"]);
    room.run("train --pairs items.svm -o m").fails(2, &["items.svm", "SVMlight", ".csv or .tsv"]);
    room.run("predict model items.xls").fails(2, &["items.xls", "--input-format svmlight"]);
    room.run("predict model items.svm --index-base 2").fails(2, &["index-base"]);
}

#[test]
fn a_table_may_have_any_name() {
    let room = Room::with_model();
    room.write("test.txt", &room.read("test.csv"));
    let expected = room.run("predict model --pairs test.csv").ends(0).out;
    assert_eq!(room.run("predict model --pairs test.txt --input-format csv").ends(0).out, expected);
    room.run("evaluate model --pairs test.txt --format csv").ends(0);
}
