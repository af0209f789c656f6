//! `demo`: the table, the page, the files, and commands that work as printed.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::browser::check_page;
use crate::process::interrupt;
use crate::room::{Ran, Room};

const PAGE: &str = "rankwise-demo.html";

/// Runs it, and tells how many seconds of a processor it took, whatever else the machine did meanwhile.
fn timed(room: &Room, words: &str) -> (Ran, f64) {
    if cfg!(not(unix)) {
        let started = Instant::now();
        return (room.run(words).ends(0), started.elapsed().as_secs_f64());
    }
    // The shell tells what its children have used: in its last line, as 0m1.5s of the program and 0m0.1s of the system.
    let mut shell = std::process::Command::new("sh");
    let script = format!("\"$0\" {words} && times");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_rankwise")]).current_dir(room.path("."));
    let ran = Ran::new(shell.output().unwrap()).ends(0);
    let seconds = |spent: &str| {
        let (minutes, seconds) = spent.trim_end_matches('s').split_once('m').unwrap();
        60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
    };
    let spent = ran.out.lines().last().unwrap().split_whitespace().map(seconds).sum();
    (ran, spent)
}

#[test]
fn the_table_the_page_the_files_and_the_next_commands() {
    let room = Room::new();
    let (ran, seconds) = timed(&room, "demo --out here");
    assert!(seconds > 0.1 && seconds < 60.0, "{seconds} s");
    assert_eq!(ran.err, "");
    for words in [
        "rank ",
        "rank2",
        "compare",
        "majority outcome",
        "true ranking function",
        "test error",
        "test AUC",
        "What to see",
        "SVMcompare paper",
        "rankwise's defaults",
        "Page with pictures: here/rankwise-demo.html",
        "Next",
    ] {
        assert!(ran.out.contains(words), "no {words:?} in\n{}", ran.out);
    }
    for (name, n_pairs) in [("train", 400), ("validation", 400), ("test", 5000)] {
        assert_eq!(room.read(&format!("here/{name}.csv")).lines().count(), n_pairs + 1);
    }
    let page = room.read(&format!("here/{PAGE}"));
    for words in
        ["ties are data", "<svg", "What each machine has learnt", "With more pairs", "rankwise tune --pairs here"]
    {
        assert!(page.contains(words), "no {words:?} in the page");
    }
    assert!(!page.contains("With more ties"), "that is for --full");
    check_page("the_table_the_page_the_files_and_the_next_commands", &room.path(&format!("here/{PAGE}")), 5);

    // As printed; the first repeats the row of the table.
    let commands: Vec<&str> = ran.out.lines().filter_map(|line| line.strip_prefix("  rankwise ")).collect();
    assert_eq!(commands.len(), 3, "{}", ran.out);
    commands.iter().for_each(|command| {
        room.run(command).ends(0);
    });
    let measured = room.run("evaluate here/compare.safetensors --pairs here/test.csv --json").ends(0).json();
    // A demo writes over its own files; the table does not depend on how many draws the figures have.
    let json = room.run("demo --out here --json --seeds 1").ends(0).json();
    let compare = &json["methods"][2];
    for (metric, key) in [("zero_one", "test_error"), ("auc", "test_auc")] {
        assert_eq!(measured["metrics"][metric], compare[key], "{metric}");
    }
    assert_ne!(room.read(&format!("here/{PAGE}")), page);
}

#[test]
fn json_holds_the_table_and_the_figure() {
    let room = Room::new();
    let ran = room.run("demo --json --seed 5 --seeds 2").ends(0);
    assert_eq!(ran.out.lines().count(), 1);
    assert_eq!(room.names(), [PAGE]);
    let json = ran.json();
    for key in ["methods", "defaults"] {
        let rows = json[key].as_array().unwrap();
        let names: Vec<_> = rows.iter().map(|row| row["method"].as_str().unwrap()).collect();
        assert_eq!(names, ["rank", "rank2", "compare"]);
        for row in rows {
            for key in ["C", "gamma", "validation_error", "test_error", "test_auc", "threshold", "support_pairs"] {
                assert!(row[key].is_number(), "no {key} in {row}");
            }
        }
    }
    assert_eq!((&json["methods"][0]["loss"], &json["defaults"][0]["loss"]), (&"hinge".into(), &"squared-hinge".into()));
    let error = |at: usize| json["methods"][at]["test_error"].as_f64().unwrap();
    assert!(error(2) < error(0), "compare errs less than rank");
    assert!(error(0) < json["majority_error"].as_f64().unwrap());
    assert!((0.02..0.1).contains(&json["true_ranking_error"].as_f64().unwrap()));
    assert_eq!(json["seeds"], serde_json::json!({ "train": 5, "validation": 6, "test": 7 }));
    assert_eq!((&json["page"], &json["trials"]), (&PAGE.into(), &2.into()));
    assert_eq!(json["files"].as_array().unwrap().len(), 0);
    assert_eq!(json["next"].as_array().unwrap().len(), 3);
    assert!(json.get("figure5").is_none(), "that is for --full");

    let figure = json["figure4"].as_array().unwrap();
    assert_eq!(figure.len(), 4 * 5, "sizes times three methods, the true function and a constant");
    for point in figure {
        let number = |key: &str| point[key].as_f64().unwrap();
        assert!(point["norm"] == "l1" && point["method"].is_string(), "{point}");
        assert!(number("low") <= number("mean") && number("mean") <= number("high"), "{point}");
        assert!([50.0, 100.0, 200.0, 400.0].contains(&number("n")), "{point}");
    }
    let mean = |method: &str, n: u32| {
        let point = figure.iter().find(|point| point["method"] == method && point["n"] == n).unwrap();
        point["mean"].as_f64().unwrap()
    };
    assert!(mean("compare", 400) < mean("compare", 50), "more pairs, less error");
    assert_eq!(json["orders"][0]["norm"], "l1");
}

#[test]
fn threads_do_not_change_a_byte() {
    let runs = ["1", "2"].map(|threads| {
        let room = Room::new();
        let ran = room.run(&format!("demo --seeds 1 --seed 3 --threads {threads}")).ends(0);
        (ran.out, room.bytes(PAGE))
    });
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn what_cannot_be_written_is_refused_before_the_work() {
    let room = Room::new();
    room.write("file", "");
    let started = Instant::now();
    room.run("demo --out file/inside").fails(1, &["file/inside", "cannot create"]);
    room.run("demo --out file").fails(1, &["file", "cannot create"]);
    room.run("demo --seeds 0").fails(2, &["--seeds", "1"]);

    // What no demo has written stays.
    for (name, text) in [(PAGE, "<title>mine</title>"), ("train.csv", "a,b\n1,2\n"), ("test.csv", "")] {
        let room = Room::new();
        room.write(name, text);
        room.run("demo --out .").fails(1, &[name, "not from an earlier demo", "--out"]);
        assert_eq!((room.names(), room.read(name)), (vec![name.to_string()], text.to_string()));
    }
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[cfg(unix)]
#[test]
fn ctrl_c_is_heard_at_once_and_leaves_nothing() {
    let room = Room::new();
    let child = room.command("demo --full -v").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (status, said, took) = interrupt(child, "trying");
    assert_eq!(status, Some(130), "{said}");
    assert!(said.ends_with("interrupted\n"), "{said}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(room.names().is_empty());
}
