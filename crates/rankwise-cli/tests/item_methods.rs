//! Other methods than rank on items: swap, ridge, drawn pairs; from training to their use, and what does not go together.

use crate::room::Room;

/// 8 groups of 6 items with two features; labels follow the first, up to the second.
fn room() -> Room {
    let room = Room::new();
    let mut table = String::from("label,qid,a,b,weight\n");
    for item in 0..48 {
        let (a, b) = (f64::from(item * 37 % 48) / 8.0, f64::from(item * 11 % 7));
        table += &format!("{},{},{a},{b},{}\n", (a + 0.3 * b).round(), item / 6, [1, 2, 1][item as usize % 3]);
    }
    room.write("items.csv", &table);
    room
}

#[test]
fn swap_is_rank_with_hinge_at_four_times_the_c() {
    let room = room();
    let swap = room.run("train items.csv --method swap --C 0.1 --tol 1e-6 --json -o swap").ends(0).json();
    let rank = room.run("train items.csv --loss hinge --C 0.4 --tol 1e-6 --json -o rank").ends(0).json();
    let number = |of: &serde_json::Value, key: &str| of[key].as_f64().unwrap();
    assert!((4.0 * number(&swap, "objective") / number(&rank, "objective") - 1.0).abs() < 1e-5);
    assert_eq!((swap["method"].as_str(), swap["loss"].as_str()), (Some("swap"), Some("hinge")));
    assert_eq!((&swap["pairs"], &swap["stop"]), (&rank["pairs"], &rank["stop"]));
    assert!(number(&swap, "iterations") >= 2.0 && number(&swap, "gap") <= 1e-6);
    let scores = |model: &str| -> Vec<f64> {
        let out = room.run(&format!("predict {model} items.csv")).ends(0).out;
        out.lines().map(|line| line.parse().unwrap()).collect()
    };
    for (a, b) in scores("swap").iter().zip(scores("rank")) {
        assert!((2.0 * a - b).abs() < 1e-2, "{a} and {b}");
    }
    let seen = room.run("inspect swap --json").ends(0).json();
    assert!((seen["conventions"]["rank_C"].as_f64().unwrap() - 0.4).abs() < 1e-12);
    assert!(room.run("inspect swap").ends(0).out.contains("rank --loss hinge"));
    room.run("evaluate swap items.csv").ends(0);
    room.run("report swap items.csv -o page.html").ends(0);
    // From where another one ended, and with C that multiplies a mean.
    room.run("train items.csv --method swap --C 0.1 --init rank --balance groups -o m").ends(0);
    let mean = room.run("train items.csv --method swap --C 20 --normalise --json -o m").ends(0).json();
    assert_eq!(mean["normalise"], true);
    assert!(room.run("inspect m").ends(0).out.contains("--normalise"));
}

#[test]
fn ridge_predicts_labels_and_needs_no_groups() {
    let room = room();
    let fit = room.run("train items.csv --method ridge --C 1000 --json -o ridge").ends(0).json();
    assert_eq!(
        (fit["loss"].as_str(), &fit["groups"], &fit["pairs"]),
        (Some("squared"), &serde_json::Value::Null, &0.into())
    );
    assert!(fit["bias"].is_number() && fit["gap"].as_f64().unwrap() < 1e-12);
    room.write("lines.csv", "label,x\n5,1\n7,2\n9,3\n");
    room.run("train lines.csv --method ridge --C 1e9 --scale standard -o line").ends(0);
    room.write("new.csv", "x\n10\n");
    let score: f64 = room.run("predict line new.csv").ends(0).out.trim().parse().unwrap();
    assert!((score - 23.0).abs() < 1e-6, "{score}");
    let seen = room.run("inspect line --json").ends(0).json();
    assert_eq!(seen["conventions"]["ridge_alpha"].as_f64(), Some(0.5e-9));
    assert!(room.run("inspect line").ends(0).out.contains("bias"));
    let metrics = room.run("evaluate ridge items.csv --json").ends(0).json();
    assert!(metrics["metrics"]["pair_accuracy"].as_f64().unwrap() > 0.9);
    room.run("report ridge items.csv -o page.html").ends(0);
}

#[test]
fn drawn_pairs_follow_the_seed() {
    let room = room();
    let fit = |seed: u64| {
        room.run(&format!("train items.csv --pairs-per-item 2 --seed {seed} --json -o m{seed}")).ends(0).json()
    };
    let first = fit(1);
    assert_eq!((first["pairs_per_item"].as_u64(), first["seed"].as_u64()), (Some(2), Some(1)));
    assert!(first["pairs"].as_u64().unwrap() <= 96);
    assert_eq!(first["objective"], fit(1)["objective"]);
    assert_ne!(first["objective"], fit(2)["objective"]);
    assert!(room.run("inspect m1").ends(0).out.contains("--pairs-per-item 2"));
    room.run("tune items.csv --pairs-per-item 2 --folds 3 --grid C=0.1,1 -o tuned").ends(0);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let room = room();
    for (typed, words) in [
        ("train --pairs p.csv --method swap", ["--method swap learns from items", "--method compare"]),
        ("train --pairs p.csv --method ridge", ["--method ridge learns from items", "train DATA"]),
        ("train --pairs p.csv --pairs-per-item 2", ["--pairs-per-item does not apply to pairs", "items"]),
        ("train --pairs p.csv --normalise", ["--normalise does not apply to pairs", "items"]),
        ("train items.csv --method swap --loss hinge", ["--loss does not apply to --method swap", "--method rank"]),
        ("train items.csv --method ridge --kernel rbf", ["linear scores alone", "--kernel linear"]),
        ("train items.csv --method swap --kernel rbf --approx nystrom:9", ["--approx does not apply", "--method rank"]),
        ("train items.csv --method swap --pairs-per-item 2", ["--pairs-per-item", "--method rank"]),
        ("train items.csv --method swap --C inf", ["no hard margin", "--method rank"]),
        ("train items.csv --method swap --threshold model", ["--threshold does not apply to items", "--pairs"]),
        ("train items.csv --method ridge --loss hinge", ["--loss does not apply to --method ridge", "--method rank"]),
        ("train items.csv --method ridge --balance groups", ["--balance does not apply", "--method rank"]),
        ("train items.csv --method ridge --init m", ["--init does not apply", "leave it out"]),
        ("train items.csv --method ridge --normalise", ["--normalise does not apply", "--method swap"]),
        ("train items.csv --normalise", ["--normalise does not apply to --method rank", "--method swap"]),
        ("train items.csv --pairs-per-item 0", ["--pairs-per-item = 0", "at least 1"]),
        ("tune items.csv --method swap", ["rank --loss hinge", "quarter"]),
        ("tune items.csv --method ridge", ["tune does not choose for ridge", "evaluate"]),
    ] {
        room.run(&format!("{typed} -o out")).fails(2, &words);
    }
}
