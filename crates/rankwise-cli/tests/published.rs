//! `convert --from`: data sets as they were published, then learnt from.

use rankwise::io::published::PAIR_SOURCES;

use crate::published_files::{Log, write_arff, write_battles, write_jpeg_ai, write_letor, write_sushi, write_wmt};
use crate::published_games::{chess_files, football_results};
use crate::room::Room;

/// A room with a data set of every kind, of some hundred rows.
fn room() -> Room {
    let room = Room::new();
    for directory in ["sushi", "letor"] {
        std::fs::create_dir(room.path(directory)).unwrap();
    }
    write_arff(&room.path("made.arff"), 80, 3, 20, 1);
    write_sushi(&room.path("sushi"), 20, 15, 1);
    write_letor(&room.path("letor"), 4, 8, 5, 1);
    write_wmt(&room.path("wmt.csv"), 4, 10, 1);
    write_battles(&room.path("battles.json"), Log::JsonArray, 5, 80, 1);
    write_battles(&room.path("sides.csv"), Log::Sides, 5, 80, 1);
    write_jpeg_ai(&room.path("jpeg.csv"), 100, 1);
    room.write("games.csv", &chess_files(12, 60, 1).0);
    room.write("results.csv", &football_results(2001..=2002, 8, 10, 1));
    room
}

#[test]
fn arff_files_become_items() {
    let room = room();
    let told = room.run("convert made.arff made.csv").ends(0);
    assert!(told.err.contains("warning: left out 4 rows with missing values"), "{}", told.err);
    assert!(told.out.contains("76 items, 6 features, 1 group"), "{}", told.out);
    let head = room.read("made.csv").lines().next().unwrap().to_string();
    assert_eq!(head, "label,x1,x2,x3,kind of thing=red,kind of thing=deep blue,kind of thing=green");
    room.run("train made.csv -o csv").ends(0);
    for out in ["made.rwb", "made.svm"] {
        room.run(&format!("convert --from arff made.arff {out} -q")).ends(0);
        room.run(&format!("train {out} -o m")).ends(0);
    }
    let json = room.run("convert made.arff x.csv --label x2 --drop x1,y --json").ends(0).json();
    assert_eq!((&json["items"], &json["features"]), (&80.into(), &4.into()));
    // Numbers stay what they are, and a feature of a name that tables know is renamed, with a warning.
    room.write(
        "w.arff",
        "@attribute weight real\n@attribute weight_ real\n@attribute t real\n@data\n-0.1,2,3\n1e-9,4,5\n",
    );
    let told = room.run("convert w.arff w.csv").ends(0);
    assert!(told.err.contains("the feature weight is called weight__"), "{}", told.err);
    assert_eq!(room.read("w.csv"), "label,weight__,weight_\n3,-0.1,2\n5,1e-9,4\n");
    let told = room.run("convert w.arff - --output-format csv").ends(0);
    assert_eq!(told.out, room.read("w.csv"));
    room.run("train made.arff -o m").fails(2, &[".arff", "rankwise convert"]);
}

#[test]
fn a_part_of_a_fold_becomes_items() {
    let room = room();
    for (part, n) in [("train", 96), ("validation", 32), ("test", 32)] {
        let words = format!("convert --from letor letor {part}.svm --fold 2 --part {part} --json");
        let json = room.run(&words).ends(0).json();
        assert_eq!((&json["items"], &json["groups"], &json["features"]), (&n.into(), &(n / 8).into(), &5.into()));
    }
    // Fold 2 is S2 + S3 + S4, S5, S1.
    let queries = |name: &str| -> Vec<String> {
        let text = room.read(name);
        let mut found: Vec<String> =
            text.lines().map(|line| line.split_whitespace().nth(1).unwrap().to_string()).collect();
        found.dedup();
        found
    };
    assert_eq!(queries("test.svm"), ["qid:1", "qid:2", "qid:3", "qid:4"]);
    assert_eq!(queries("train.svm")[0], "qid:5");
    room.run("train train.svm -o m").ends(0);
    room.run("evaluate m test.svm").ends(0);
}

#[test]
fn pairs_are_learnt_from_what_was_written() {
    let room = room();
    let inputs = [
        ("sushi", "sushi"),
        ("wmt", "wmt.csv"),
        ("arena", "battles.json"),
        ("arena", "sides.csv"),
        ("jpeg-ai", "jpeg.csv"),
        ("chess", "games.csv"),
        ("football", "results.csv"),
    ];
    for (word, input) in inputs {
        assert!(PAIR_SOURCES.iter().any(|(known, _)| *known == word));
        let json = room.run(&format!("convert --from {word} {input} pairs.csv --json")).ends(0).json();
        assert!(json["pairs"].as_u64() > json["ties"].as_u64() && json["ties"].as_u64() > Some(0), "{json}");
        let learnt = room.run("train --pairs pairs.csv --json -o m").ends(0).json();
        assert_eq!((&learnt["pairs"], &learnt["ties"]), (&json["pairs"], &json["ties"]), "{word}");
        room.run("evaluate m --pairs pairs.csv").ends(0);
    }
    let told = room.run("convert --from jpeg-ai jpeg.csv j.tsv --group worker").ends(0);
    assert!(told.err.contains("warning: left out 10 trap questions"), "{}", told.err);
    assert!(told.err.contains("skipped questions"), "{}", told.err);
    assert!(told.out.contains("4, by worker"), "{}", told.out);
    let table = room.read("j.tsv");
    assert!(table.starts_with("left\tright\tleft.codec=0\t"), "{table}");
    room.run("train --pairs j.tsv -o m").ends(0);
    let arena = room.run("convert --from arena battles.json - --output-format csv").ends(0).out;
    assert!(arena.starts_with("left,right,outcome,group,time,pair.turn\n"), "{arena}");
    room.write("arena.csv", &arena);
    room.run("train --pairs arena.csv --tie-band pair --loss squared-hinge -o m").ends(0);
}

#[test]
fn games_are_found_in_their_directory() {
    let room = room();
    std::fs::create_dir(room.path("matches")).unwrap();
    room.run("convert --from football matches p.csv").fails(1, &["matches", "results.csv", "international_results"]);
    room.write("matches/results.csv", &room.read("results.csv"));
    room.run("convert --from football matches p.csv -q").ends(0);
    room.run("convert --from football results.csv q.csv -q").ends(0);
    assert_eq!(room.read("p.csv"), room.read("q.csv"));
    assert!(room.read("p.csv").starts_with("left,right,outcome,time,pair.neutral\n"), "{}", room.read("p.csv"));
    room.write("nul.jsonl", "{\"model_a\": \"x\\u0000\", \"model_b\": \"y\", \"winner\": \"tie\"}\n");
    room.run("convert --from arena nul.jsonl n.csv").fails(1, &["nul.jsonl", "line 1", "NUL"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let room = room();
    let before = room.names();
    room.run("convert --from moon made.arff a.csv")
        .fails(2, &["arff, letor, sushi, wmt, arena, jpeg-ai, chess, football"]);
    room.run("convert --from letor letor a.svm").fails(2, &["--fold", "--part"]);
    room.run("convert --from letor letor a.svm --fold 6 --part train").fails(2, &["fold = 6", "1 to 5"]);
    room.run("convert --from letor letor a.svm --fold 1 --part all").fails(2, &["train, validation, test"]);
    room.run("convert --from letor made.arff a.svm --fold 1 --part test").fails(1, &["made.arff", "directory"]);
    room.run("convert --from letor sushi a.svm --fold 1 --part test").fails(1, &["sushi", "S1.txt", "microsoft"]);
    room.run("convert --from letor letor letor/S1.txt --fold 1 --part test").fails(2, &["destroy the input"]);
    room.run("convert made.arff a.csv --fold 1").fails(2, &["--fold", "--from letor"]);
    room.run("convert --from sushi sushi a.csv --part test").fails(2, &["--part", "--from letor"]);
    for option in ["--format csv", "--id x", "--weight x", "--index-base 0", "--group x"] {
        room.run(&format!("convert --from arff made.arff a.csv {option}"))
            .fails(2, &[option.split(' ').next().unwrap(), "arff"]);
    }
    for option in ["--label x", "--drop x", "--precision f32", "--memory-mb 7", "--format csv", "--id x"] {
        let ran = room.run(&format!("convert --from sushi sushi a.csv {option}"));
        ran.fails(2, &[option.split(' ').next().unwrap(), "--from sushi"]);
    }
    room.run("convert --from sushi sushi a.csv --group judge").fails(2, &["\"judge\"", "person"]);
    room.run("convert --from sushi sushi a.svm").fails(2, &["a.svm", "tables", ".csv"]);
    room.run("convert --from sushi sushi a.csv.gz").fails(2, &["not compressed"]);
    room.run("convert --from sushi - a.csv").fails(2, &["standard input"]);
    room.run("convert --from sushi letor a.csv").fails(1, &["letor", "sushi3.idata", "kamishima"]);
    room.run("convert --from wmt nowhere.csv a.csv").fails(1, &["nowhere.csv", "no such file", "statmt"]);
    room.run("convert --from wmt sides.csv a.csv").fails(1, &["sides.csv, line 1", "no column system1Id"]);
    room.run("convert --from wmt wmt.csv wmt.csv").fails(2, &["destroy the input"]);
    room.run("convert made.arff a.csv --label z").fails(1, &["made.arff", "\"z\"", "x1, x2, x3"]);
    room.run("convert made.arff made.csv --label z -q").fails(1, &["\"z\""]);
    assert_eq!(room.names(), before);
}
