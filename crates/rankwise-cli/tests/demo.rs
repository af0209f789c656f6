//! `demo`: the table, the files, and commands that work as printed.

use crate::room::Room;

#[test]
fn the_table_the_files_and_the_next_commands() {
    let room = Room::new();
    let ran = room.run("demo --out here").ends(0);
    for words in [
        "rank ",
        "rank2",
        "compare",
        "majority outcome",
        "true ranking function",
        "validation error",
        "test error",
        "test AUC",
        "support pairs",
        "What to see",
        "Next:",
    ] {
        assert!(ran.out.contains(words), "no {words:?} in\n{}", ran.out);
    }
    for name in ["train", "validation", "test"] {
        assert_eq!(room.read(&format!("here/{name}.csv")).lines().count(), 401);
    }
    let commands: Vec<&str> = ran.out.lines().filter_map(|line| line.strip_prefix("  rankwise ")).collect();
    assert_eq!(commands.len(), 3, "{}", ran.out);
    commands.iter().for_each(|command| {
        room.run(command).ends(0);
    });
}

#[test]
fn json_holds_the_table_and_commands_that_draw_the_same_pairs() {
    let room = Room::new();
    let ran = room.run("demo --json --seed 5").ends(0);
    assert_eq!(ran.out.lines().count(), 1);
    let json = ran.json();
    let methods = json["methods"].as_array().unwrap();
    assert_eq!(
        methods.iter().map(|row| row["method"].as_str().unwrap()).collect::<Vec<_>>(),
        ["rank", "rank2", "compare"]
    );
    for row in methods {
        for key in ["C", "gamma", "validation_error", "test_error", "test_auc", "threshold", "support_pairs"] {
            assert!(row[key].is_number(), "no {key} in {row}");
        }
    }
    let best = methods.iter().map(|row| row["test_error"].as_f64().unwrap()).fold(1.0, f64::min);
    assert!(best < json["majority_error"].as_f64().unwrap());
    assert!(json["true_ranking_error"].as_f64().unwrap() < 0.15);
    assert!(json["next"][0].as_str().unwrap().starts_with("rankwise simulate"));
    assert!(room.names().is_empty());

    // As printed: draw, train; then measure on the test pairs that the table used.
    let words = |at: usize| json["next"][at].as_str().unwrap().strip_prefix("rankwise ").unwrap().to_string();
    room.run(&words(0)).ends(0);
    room.run(&words(1)).ends(0);
    let last = words(2);
    let (simulate, evaluate) = last.split_once(" | rankwise ").unwrap();
    let pairs = room.run(simulate).ends(0).out;
    let measured = room.run_with_input(&format!("{evaluate} --json"), &pairs).ends(0).json();
    for (metric, key) in [("zero_one", "test_error"), ("auc", "test_auc")] {
        assert_eq!(measured["metrics"][metric], methods[2][key], "{metric}");
    }
}
