//! `train --method online`: steps instead of an optimum, streams, classifiers.

use std::process::Stdio;

use crate::room::{Ran, Room};

/// The same numbers every time, evenly spread over [0, 1).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

/// A group of items in SVMlight's format.
fn group(dice: &mut Dice, number: usize, n_items: usize) -> String {
    let mut lines = String::new();
    for _ in 0..n_items {
        let x: Vec<f64> = (0..4).map(|_| (dice.roll() * 1000.0).round() / 1000.0).collect();
        let label = (2.0 * (2.0 * x[0] - x[1] + 0.5 * dice.roll())).floor().max(0.0);
        lines += &format!("{label} qid:{number} 1:{} 2:{} 3:{} 4:{}\n", x[0], x[1], x[2], x[3]);
    }
    lines
}

/// A room with `items.svm`, 30 groups, and `classes.csv`.
fn room() -> Room {
    let (room, mut dice) = (Room::new(), Dice(5));
    room.write("items.svm", &(0..30).map(|number| group(&mut dice, number, 8)).collect::<String>());
    let mut table = String::from("id,label,weight,x,y\n");
    for k in 0..200 {
        let (x, y) = (dice.roll(), dice.roll());
        table += &format!("i{k},{},{},{x},{y}\n", if x + 0.3 * y > 0.6 { 2 } else { -1 }, k % 3);
    }
    room.write("classes.csv", &table);
    room
}

#[test]
fn steps_lead_to_a_model_like_that_of_rank() {
    let room = room();
    let exact = room.run("train items.svm --loss hinge --C 0.05 -o exact --json").ends(0).json();
    let best = exact["objective"].as_f64().unwrap();
    for options in
        ["", "--batch group", "--schedule sqrt", "--stream --epochs 500", "--batch group --stream --epochs 500"]
    {
        let words = format!("train items.svm --method online --C 0.05 {options} -o m --json");
        let json = room.run(&words).ends(0).json();
        assert_eq!((json["method"].as_str(), json["loss"].as_str()), (Some("online"), Some("hinge")));
        assert!(json["gap"].is_null() && json["certificate"].as_str().unwrap().starts_with("none: subgradient steps"));
        let certified = room.run(&format!("{words} --certify")).ends(0).json();
        let objective = certified["objective"].as_f64().unwrap();
        assert!(objective < 1.02 * best && objective > 0.999 * best, "{options}: {objective} {best}");
        assert!(certified["gap"].as_f64().unwrap() < 0.2);
        match options.contains("--stream") {
            true => assert!(json["objective"].is_null() && json["pair_accuracy"].is_null()),
            false => assert!(json["pair_accuracy"].as_f64().unwrap() > 0.8),
        }
        for key in ["items", "groups", "pairs", "features", "groups_dropped"] {
            assert_eq!(json[key], exact[key], "{options}: {key}");
        }
    }
    let text = room.run("train items.svm --method online --C 0.05 --steps 5000 -o m").ends(0);
    for words in ["online", "--task rank --batch pair", "after 5000 steps", "– (none: subgradient steps; --certify"] {
        assert!(text.err.contains(words) || text.out.contains(words), "{words}: {text:?}");
    }
    let inspected = room.run("inspect m").ends(0).out;
    assert!(inspected.contains("--schedule inverse"), "{inspected}");
    room.run("evaluate m items.svm --metric pair_accuracy,ndcg@5").ends(0);
    room.run("report m items.svm -o page.html").ends(0);
    assert!(room.read("page.html").contains("online"));
}

#[test]
fn the_same_seed_gives_the_same_file_and_training_goes_on() {
    let room = room();
    for (name, seed) in [("a", 1), ("b", 1), ("c", 2)] {
        room.run(&format!("train items.svm --method online --steps 2000 --seed {seed} --threads 1 -o {name}")).ends(0);
    }
    assert_eq!(room.bytes("a"), room.bytes("b"));
    assert_ne!(room.bytes("a"), room.bytes("c"));
    room.run("train items.svm --method online --C 0.05 --steps 40000 --init a -o d --json").ends(0);
    let json = room.run("train items.svm --method online --C 0.05 --steps 1 --init d -o e --json").ends(0).json();
    let before = room.run("train items.svm --method online --C 0.05 --steps 40000 -o f --json").ends(0).json();
    let near = json["objective"].as_f64().unwrap() / before["objective"].as_f64().unwrap();
    assert!((near - 1.0).abs() < 0.05, "{near}");
}

/// Runs the program with `write` feeding its standard input.
fn piped(room: &Room, words: &str, write: impl FnOnce(&mut dyn std::io::Write)) -> Ran {
    let mut command = room.command(words);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    write(&mut input);
    drop(input);
    Ran::new(child.wait_with_output().unwrap())
}

#[test]
fn a_long_pipe_is_learnt_from_in_little_memory() {
    let room = room();
    let words = "train - --format svmlight --method online --stream --C 1e-5 -o m --json";
    let n_groups = 30_000;
    let mut n_bytes = 0;
    let ran = piped(&room, words, |input| {
        let mut dice = Dice(9);
        let groups: Vec<String> = (0..100).map(|number| group(&mut dice, number, 40)).collect();
        for number in 0..n_groups {
            // Other numbers for the same items.
            let text = groups[number % 100].replace(&format!("qid:{} ", number % 100), &format!("qid:{number} "));
            n_bytes += text.len();
            if input.write_all(text.as_bytes()).is_err() {
                break; // it has said why
            }
        }
    });
    let json = ran.ends(0).json();
    assert_eq!(json["items"].as_u64(), Some(40 * n_groups as u64));
    assert!(n_bytes > 40 << 20);
    let peak = json["peak_memory_bytes"].as_u64();
    // As a whole the items alone would be as large again.
    assert!(peak.is_none_or(|peak| peak < 120 << 20), "{peak:?}");
    let accuracy = room.run("evaluate m items.svm --metric pair_accuracy --json").ends(0).json();
    assert!(accuracy["metrics"]["pair_accuracy"].as_f64().unwrap() > 0.8, "{accuracy}");
}

#[test]
fn classifiers_print_classes() {
    let room = room();
    let json = room.run("train classes.csv --method online --task classify --C 10 -o m --json").ends(0).json();
    assert_eq!(json["classes"], serde_json::json!(["-1", "2"]));
    assert!(json["error"].as_f64().unwrap() < 0.05 && json["bias"].is_number());
    let classes = room.run("predict m classes.csv").ends(0).out;
    let scores = room.run("predict m classes.csv --scores").ends(0).out;
    let table = room.read("classes.csv");
    let labels = table.lines().skip(1).map(|line| line.split(',').nth(1).unwrap());
    let (mut wrong, mut total) = (0.0, 0.0);
    for (k, ((class, score), label)) in classes.lines().zip(scores.lines()).zip(labels).enumerate() {
        assert_eq!(class, if score.parse::<f64>().unwrap() < 0.0 { "-1" } else { "2" });
        total += (k % 3) as f64;
        wrong += if class == label { 0.0 } else { (k % 3) as f64 };
    }
    let measured = room.run("evaluate m classes.csv --json").ends(0).json();
    assert!((measured["metrics"]["zero_one"].as_f64().unwrap() - wrong / total).abs() < 1e-12, "{measured}");
    assert!(measured["majority_error"].as_f64().unwrap() > wrong / total);
    let alone = room.run("evaluate m classes.csv --metric zero_one --json").ends(0).json();
    assert_eq!(alone["metrics"]["zero_one"], measured["metrics"]["zero_one"]);
    assert_eq!(measured["metrics"]["confusion"].as_array().unwrap().len(), 2);
    let csv = room.run("predict m classes.csv --format csv").ends(0).out;
    assert!(csv.starts_with("id,label,score,rank\ni0,"), "{csv}");
    assert!(room.run("inspect m").ends(0).out.contains("-1 and 2"));
    room.run("evaluate m classes.csv --metric pair_accuracy").ends(0);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let room = room();
    room.run("train items.svm --method online --steps 1000 -o m").ends(0);
    for (words, why) in [
        ("train items.svm --method online --loss logistic -o n", "hinge"),
        ("train items.svm --method online --kernel rbf -o n", "linear"),
        ("train items.svm --method online --C inf -o n", "finite"),
        ("train items.svm --method online --max-iter 5 -o n", "--steps"),
        ("train items.svm --method online --steps 5 --epochs 5 -o n", "--epochs"),
        ("train items.svm --method online --task classify --batch group -o n", "groups"),
        ("train items.svm --steps 5 -o n", "--method online"),
        ("train --pairs p.csv --method online -o n", "--pairs does not apply"),
        ("train - --format csv --method online --stream --certify -o n", "give a file"),
        ("train - --format csv --method online --stream --scale standard -o n", "give a file"),
        ("tune items.svm --method online -o n", "--method rank"),
        ("evaluate m items.svm --metric zero_one", "classifiers"),
        ("evaluate m items.svm --metric zero_one,map", "one kind"),
    ] {
        room.run(words).fails(2, &[why]);
    }
    room.write("one.svm", "1 1:1\n1 1:2\n");
    room.run("train one.svm --method online --task classify -o n").fails(1, &["expected at least two different"]);
    room.write("again.svm", "1 qid:1 1:1\n2 qid:1 1:2\n1 qid:2 1:1\n2 qid:1 1:2\n");
    room.run("train again.svm --method online --stream -o n").fails(1, &["again.svm, line 4", "comes again"]);
    room.run("train again.svm --method online --steps 10 -o n").ends(0);
    assert!(!room.names().contains(&"nothing".to_string()));
}
