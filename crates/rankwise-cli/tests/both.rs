//! Labels and judged pairs of the same items in one training.

use crate::room::Room;

/// Two groups of items whose labels follow `a`, and judgments across groups that follow `b`.
fn room() -> Room {
    let room = Room::new();
    let (mut items, mut pairs) = (String::from("id,stars,city,a,b\n"), String::from("left,right,outcome\n"));
    for item in 0..12 {
        let (a, b) = (f64::from(item * 5 % 12), f64::from(item * 7 % 12));
        items += &format!("i{item},{},{},{a},{b}\n", (a / 3.0).floor(), item / 6);
    }
    for item in 0..11 {
        let (b, next) = (item * 7 % 12, (item + 1) * 7 % 12);
        let outcome = if i32::abs(b - next) < 6 {
            "tie"
        } else if next > b {
            "right"
        } else {
            "left"
        };
        pairs += &format!("i{item},i{},{outcome}\n", item + 1);
    }
    room.write("items.csv", &items);
    room.write("judged.csv", &pairs);
    room
}

const COLUMNS: &str = "--label stars --group city";

#[test]
fn both_teach_at_once() {
    let room = room();
    let weights = |fit: &str| -> serde_json::Value {
        room.run(fit).ends(0);
        room.run("inspect m --json").ends(0).json()
    };
    let labels = weights(&format!("train items.csv {COLUMNS} -o m"));
    let both = weights(&format!("train items.csv {COLUMNS} --pairs judged.csv -o m"));
    // Labels alone say nothing of b; judgments do.
    let scores =
        |line: &str| -> Vec<f64> { room.run(line).ends(0).out.lines().map(|line| line.parse().unwrap()).collect() };
    assert_ne!(labels["weights"], both["weights"]);
    assert_eq!(scores("predict m items.csv").len(), 12);
    let fit = room.run(&format!("train items.csv {COLUMNS} --pairs judged.csv --json -o m")).ends(0).json();
    assert_eq!(fit["learnt_from"], "both");
    assert!(fit["threshold"].as_f64().unwrap() >= 0.0 && fit["ties"].as_u64().unwrap() > 0);
    assert!(fit["gap"].as_f64().unwrap() <= 1e-3);
    // The model ranks items and compares pairs.
    room.run(&format!("evaluate m items.csv {COLUMNS}")).ends(0);
    room.run("evaluate m --pairs judged.csv --items items.csv --drop stars,city").ends(0);
    assert!(room.run("inspect m").ends(0).out.contains("of labels and judgments"));
}

#[test]
fn what_cannot_be_told_is_said() {
    let room = room();
    let train = |more: &str| room.run(&format!("train items.csv {COLUMNS} {more} -o m"));
    room.write("stranger.csv", "left,right,outcome\ni1,nobody,left\n");
    train("--pairs stranger.csv").fails(1, &["stranger.csv", "nobody", "labelled items"]);
    room.write("sides.csv", "left,right,outcome,left.x,right.x\ni1,i2,left,1,2\n");
    train("--pairs sides.csv").fails(1, &["sides.csv", "features of their own"]);
    room.write("open.csv", "left,right\ni1,i2\n");
    train("--pairs open.csv").fails(1, &["open.csv", "no column outcome"]);
    room.write("twice.csv", "id,label,a\nx,1,1\nx,2,2\n");
    room.write("two.csv", "left,right,outcome\nx,x,tie\n");
    room.run("train twice.csv --pairs two.csv -o m").fails(1, &["two labelled items have the id"]);
    train("--pairs judged.csv --method swap").fails(2, &["--method rank"]);
    train("--pairs judged.csv --C inf").fails(2, &["finite C"]);
    room.run(&format!("tune items.csv {COLUMNS} --pairs judged.csv -o m")).fails(2, &["not tuned"]);
    assert!(!room.path("m").exists());
}
