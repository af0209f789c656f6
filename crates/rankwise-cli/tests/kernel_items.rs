//! Kernels for items: what is trained scores, is judged, inspected and reported like any other ranker.

use crate::room::Room;

/// 6 groups of 8 items on a line; the nearer to 0 the better, which no line of weights can say.
fn room() -> Room {
    let room = Room::new();
    let mut text = String::new();
    for group in 0..6 {
        for item in 0..8 {
            let x = f64::from(item) - 3.5 + 0.1 * f64::from(group);
            let label = if x.abs() < 1.5 { 2 } else { i32::from(x.abs() < 3.0) };
            text += &format!("{label} qid:{group} 1:{x} 2:{}\n", f64::from(item * group % 5));
        }
    }
    room.write("items.letor", &text);
    room
}

#[test]
fn a_kernel_ranks_what_weights_cannot() {
    let room = room();
    for (options, loss) in [("", "squared-hinge"), ("--loss hinge", "hinge"), ("--method swap", "hinge")] {
        let words = format!("train items.letor --kernel rbf --gamma 0.5 --C 10 {options} -o m --json");
        let trained = room.run(&words).ends(0).json();
        assert_eq!(trained["kernel"], "rbf", "{options}");
        assert_eq!(trained["loss"], loss, "{options}");
        assert_eq!(trained["stop"], "converged", "{options}");
        assert!(trained["support"].as_u64().is_some_and(|n| n > 0 && n <= 48), "{trained}");
        assert!(trained["gap"].as_f64().unwrap() <= 1e-3);
        assert_eq!(trained["pair_accuracy"], 1.0);
        assert_eq!(room.run("predict m items.letor").ends(0).out.lines().count(), 48);
        let judged = room.run("evaluate m items.letor --metric pair_accuracy --json").ends(0).json();
        assert_eq!(judged["metrics"]["pair_accuracy"], 1.0);
        let facts = room.run("inspect m").ends(0).out;
        assert!(facts.contains("rbf, γ 0.5") && facts.contains("support"), "{facts}");
        room.run("report m items.letor -o report.html").ends(0);
    }
    let linear = room.run("train items.letor -o linear --json").ends(0).json();
    assert!(linear["pair_accuracy"].as_f64().unwrap() < 0.8 && linear["support"].is_null());
}

#[test]
fn landmarks_tell_their_distance_from_the_whole_kernel() {
    let room = room();
    let train = "train items.letor --kernel rbf --gamma 0.5 --json -o m";
    let exact = room.run(train).ends(0).json();
    assert!(exact.get("approx").is_none());
    let few = room.run(&format!("{train} --approx nystrom:3")).ends(0).json();
    assert_eq!(few["approx"], "nystrom:3");
    assert_eq!(few["support"], 3);
    assert!(few["certificate"].as_str().unwrap().contains("without approximation"));
    let (ours, best) = (few["objective"].as_f64().unwrap(), exact["objective"].as_f64().unwrap());
    assert!(ours > best && 1.0 - best / ours <= few["gap"].as_f64().unwrap() + 1e-3);
    let facts = room.run("inspect m").ends(0).out;
    assert!(facts.contains("--approx nystrom:3"), "{facts}");
}

#[test]
fn memory_and_threads_leave_the_same_bytes() {
    let room = room();
    for (name, options) in [("a", "--threads 1"), ("b", "--threads 2 --cache-mb 0"), ("c", "--threads 3")] {
        room.run(&format!("train items.letor --kernel rbf {options} -o {name}")).ends(0);
    }
    assert!(room.bytes("a") == room.bytes("b") && room.bytes("a") == room.bytes("c"));
}

#[test]
fn what_kernels_for_items_do_not_do() {
    let room = room();
    room.run("train items.letor -o m").ends(0);
    for (options, words) in [
        ("--kernel sigmoid --gamma 1 --coef0 -9", ["not positive definite", "--kernel rbf"]),
        ("--kernel rbf --init m", ["does not start from another model", "--init"]),
    ] {
        room.run(&format!("train items.letor {options} -o out")).fails(2, &words);
    }
    assert!(!room.path("out").exists());
}
