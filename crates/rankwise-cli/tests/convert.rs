//! `convert`, and block files wherever items are read.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Duration;

use crate::process::interrupt;
use crate::room::Room;

/// `train.letor`: groups of ten items, five features, ids; `shuffled.letor`: the same lines, groups apart.
fn room() -> Room {
    let room = Room::new();
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 1000
    };
    let mut lines = Vec::new();
    for item in 0..600 {
        let mut line = String::new();
        let x: Vec<u64> = (0..5).map(|_| next()).collect();
        write!(line, "{} qid:{} ", (x[0] + x[1] / 2 + next() / 4) / 500, item / 10).unwrap();
        x.iter().enumerate().for_each(|(k, x)| write!(line, "{}:{} ", k + 1, *x as f64 / 1000.0).unwrap());
        lines.push(format!("{line}# doc{item}\n"));
    }
    room.write("train.letor", &lines.concat());
    lines.sort_by_key(|line| line.len() * 7919 % 13);
    room.write("shuffled.letor", &lines.concat());
    room
}

#[test]
fn a_model_does_not_depend_on_where_the_items_are() {
    let room = room();
    room.run("train train.letor --C 0.1 -o text").ends(0);
    let told = room.run("convert train.letor train.rwb").ends(0);
    assert!(told.out.contains("600 items, 5 features, 60 groups") && told.out.contains("f32, dense"), "{}", told.out);
    room.run("train train.rwb --C 0.1 -o blocks").ends(0);
    assert_eq!(room.bytes("text"), room.bytes("blocks"));
    for threads in [1, 2, 3] {
        let words = format!("train train.rwb --C 0.1 --memory-mb 1 --threads {threads} -o disk -v --json");
        // 600 items fit any memory; the next test is about those that do not.
        room.run(&words).ends(0);
        assert_eq!(room.bytes("text"), room.bytes("disk"));
    }
    // Scores are those of the numbers in the text, unless these were rounded.
    room.run("convert train.letor train.rwb --precision f64 -q").ends(0);
    for words in
        ["evaluate text", "evaluate text --metric ndcg@10:trec --ci", "predict text", "predict --format csv text"]
    {
        let of_text = room.run(&format!("{words} train.letor")).ends(0).out;
        assert_eq!(of_text.replace("train.letor", "train.rwb"), room.run(&format!("{words} train.rwb")).ends(0).out);
    }
    room.run("report text train.rwb -o report.html").ends(0);
    room.run("tune train.rwb --grid C=0.1,1 -o tuned").ends(0);
    room.run("train train.rwb --method online --stream --epochs 1 -o online").ends(0);
}

#[test]
fn data_larger_than_the_memory_stay_on_the_disk() {
    let room = Room::new();
    // 24 MB of features, of which 4 may be used.
    let mut text = String::from("qid,label,weight");
    (0..100).for_each(|k| write!(text, ",f{k}").unwrap());
    text += "\n";
    for item in 0..60_000u64 {
        write!(text, "{},{},{}", item / 50, item * item % 7 % 3, 1 + item % 2).unwrap();
        for k in 0..100u64 {
            let hash = (item * 100 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
            write!(text, ",{hash}").unwrap();
        }
        text += "\n";
    }
    room.write("large.csv", &text);
    drop(text);
    room.run("train large.csv --memory-mb 8 -o m").fails(1, &["large.csv", "--memory-mb 8", "rankwise convert"]);
    room.run("convert large.csv large.rwb -q").ends(0);
    let in_memory = room.run("train large.rwb --C 1e-6 --json -o a").ends(0).json();
    for threads in [1, 3] {
        let words = format!("train large.rwb --C 1e-6 --memory-mb 8 --threads {threads} --json -v -o b");
        let ran = room.run(&words).ends(0);
        assert!(ran.err.contains("stay on the disk"), "{}", ran.err);
        let on_disk = ran.json();
        assert_eq!(room.bytes("a"), room.bytes("b"));
        assert_eq!(in_memory["pair_accuracy"], on_disk["pair_accuracy"]);
        if let (Some(memory), Some(disk)) =
            (in_memory["peak_memory_bytes"].as_u64(), on_disk["peak_memory_bytes"].as_u64())
        {
            assert!(memory > 36_000_000 && disk < 27_000_000, "{memory} and {disk}");
        }
    }
    room.run("train large.rwb --method swap --memory-mb 8 -o m").fails(2, &["--method rank", "from the disk"]);
    room.run("train large.rwb --memory-mb 1 -o m").fails(2, &["60000 items", "--memory-mb"]);
    assert_eq!(room.names(), ["a", "b", "large.csv", "large.rwb"]);
}

#[test]
fn groups_that_are_apart_are_put_together() {
    let room = room();
    let json = room.run("convert shuffled.letor b.rwb --memory-mb 1 --json").ends(0).json();
    assert_eq!((&json["regrouped"], &json["groups"], &json["precision"]), (&true.into(), &60.into(), &"f32".into()));
    assert_eq!(json["bytes"].as_u64(), Some(room.bytes("b.rwb").len() as u64));
    room.run("train shuffled.letor -o text").ends(0);
    room.run("train b.rwb -o blocks").ends(0);
    assert_eq!(room.bytes("text"), room.bytes("blocks"));
}

#[test]
fn any_format_into_any_other() {
    let room = room();
    room.run("convert train.letor a.csv").ends(0);
    room.run("convert a.csv b.rwb").ends(0);
    room.run("convert b.rwb c.tsv").ends(0);
    let ran = room.run("convert c.tsv d.svm").ends(0);
    assert!(ran.err.contains("warning: SVMlight's format has no names of features"), "{}", ran.err);
    room.run("convert d.svm e.csv").ends(0);
    assert_eq!(room.read("a.csv"), room.read("e.csv"));
    let text = room.read("train.letor");
    assert_eq!(
        room.run_with_input("convert - - --format letor --output-format csv", &text).ends(0).out,
        room.read("a.csv")
    );
    room.run_with_input("convert - f.rwb --format svmlight", &text).ends(0);
    room.run("convert train.letor g.rwb --precision f64").ends(0);
    room.run("convert g.rwb - --output-format svmlight -q").ends(0);
    room.run("train f.rwb -o m").ends(0);
    assert!(!room.names().iter().any(|name| name.starts_with('.')), "{:?}", room.names());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let room = room();
    room.run("convert train.letor a.rwb -q").ends(0);
    room.run("convert train.letor").fails(2, &["OUT"]);
    room.run("convert train.letor -").fails(2, &["--output-format"]);
    room.run("convert train.letor - --output-format csv --json").fails(2, &["--json"]);
    room.run("convert train.letor train.letor").fails(2, &["destroy the input"]);
    room.run("convert train.letor a.docx").fails(2, &[".docx"]);
    room.run("convert train.letor a.rwb.zst").fails(2, &["not compressed"]);
    room.run("convert train.letor a.csv --label x").fails(2, &["--label", "SVMlight"]);
    room.run("convert a.rwb a.csv --drop x").fails(2, &["--drop", "block file"]);
    room.run("convert a.rwb a.csv --index-base 0").fails(2, &["--index-base"]);
    room.run("convert missing.csv b.rwb").fails(1, &["missing.csv"]);
    room.run("convert train.letor no/such/a.rwb").fails(1, &["no directory"]);
    room.run("convert train.letor b.rwb --memory-mb 0").fails(2, &["--memory-mb"]);
    room.run("train a.rwb --precision f32 -o m").fails(2, &["--precision", "convert"]);
    room.run("tune a.rwb --precision f32 -o m").fails(2, &["--precision", "convert"]);
    room.run("train a.rwb --method online --memory-mb 5 -o m").fails(2, &["--memory-mb", "--stream"]);
    room.run("train --pairs p.csv --memory-mb 5 -o m").fails(2, &["--memory-mb"]);
    room.write("bad.rwb", "not blocks");
    for words in ["train bad.rwb -o m", "train bad.rwb --memory-mb 1 -o m", "convert bad.rwb b.csv"] {
        room.run(words).fails(1, &["bad.rwb", "does not begin like a block file"]);
    }
    let mut damaged = room.bytes("a.rwb");
    damaged[100] ^= 1;
    std::fs::write(room.path("bad.rwb"), damaged).unwrap();
    for words in ["train bad.rwb -o m", "train bad.rwb --memory-mb 1 -o m", "convert bad.rwb b.csv"] {
        room.run(words).fails(1, &["bad.rwb", "checksum"]);
    }
    assert_eq!(room.names(), ["a.rwb", "bad.rwb", "shuffled.letor", "train.letor"]);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    let room = room();
    room.run("convert train.letor a.parquet").fails(2, &["a.parquet", "--features parquet"]);
    room.write("b.parquet", "");
    room.run("train b.parquet -o m").fails(2, &["b.parquet", "--features parquet"]);
    room.run("train --pairs b.parquet -o m").fails(2, &["b.parquet", "--features parquet"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_while_converting_leaves_nothing_behind() {
    let room = Room::new();
    let mut command = room.command("convert - out.rwb --format svmlight -v");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Keeps the program busy with what it reads.
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        let lines = "1 qid:1 1:2 3:4\n".repeat(1000);
        while std::io::Write::write_all(&mut stdin, lines.as_bytes()).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let (status, said, took) = interrupt(child, "converting");
    feeder.join().unwrap();
    assert_eq!(status, Some(130), "{said}");
    assert!(said.ends_with("interrupted\n"), "{said}");
    assert!(took < Duration::from_secs(5));
    assert!(room.names().is_empty(), "{:?}", room.names());
}

#[test]
fn ids_that_would_be_read_back_as_others_are_refused() {
    let room = Room::new();
    for id in ["docid = zzz inc = 1", "docid=a b"] {
        room.write("items.csv", &format!("id,label,x\n{id},1,2\n"));
        room.run("convert items.csv out.letor").fails(1, &["docid", "read back", "rename it, or write .csv"]);
    }
    room.write("items.csv", "id,label,x\ndocid of a,1,2\n");
    room.run("convert items.csv out.letor -q").ends(0);
    room.run("convert out.letor back.csv -q").ends(0);
    assert!(room.read("back.csv").contains("docid of a"), "{}", room.read("back.csv"));
}
