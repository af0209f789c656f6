//! Wrong usage: exit status 2, a reason, a remedy, nothing on standard output and nothing written.

use crate::room::{Ran, Room};

#[track_caller]
fn refused(room: &Room, words: &str, reason: &[&str]) {
    let before = room.names();
    room.run(words).fails(2, reason);
    assert_eq!(room.names(), before);
}

#[test]
fn no_command_or_an_unknown_one() {
    let room = Room::new();
    let ran = room.run("").ends(2);
    assert!(ran.err.contains("Usage:") && ran.out.is_empty());
    refused(&room, "learn", &["learn"]);
    refused(&room, "train --pairs p.csv -o m --gama 1", &["--gama", "--gamma"]);
    refused(&room, "train --pairs p.csv", &["--output"]);
    refused(&room, "inspect", &["MODEL"]);
}

#[test]
fn unknown_words_list_the_known_ones() {
    let room = Room::new();
    refused(&room, "train --pairs p.csv -o m --kernel gauss", &["linear", "poly", "rbf", "sigmoid"]);
    refused(&room, "train --pairs p.csv -o m --loss log", &["hinge", "squared-hinge"]);
    refused(&room, "train --pairs p.csv -o m --method svm", &["compare", "rank", "rank2"]);
    refused(&room, "train --pairs p.csv -o m --scale log", &["none", "standard", "minmax"]);
    refused(&room, "simulate --norm l3", &["l1", "l2", "linf"]);
    refused(
        &room,
        "evaluate m --pairs p.csv --metric accuracy",
        &["zero_one", "auc", "auc_baseline", "pair_accuracy", "confusion"],
    );
}

#[test]
fn numbers_out_of_range() {
    let room = Room::with_pairs();
    let train = "train --pairs train.csv -o m";
    for c in ["0", "-1", "nan", "-1e3"] {
        refused(&room, &format!("{train} --C {c}"), &["C = "]);
    }
    refused(&room, &format!("{train} --C ten"), &["--C"]);
    for gamma in ["0", "-1", "nan", "inf"] {
        refused(&room, &format!("{train} --kernel rbf --gamma {gamma}"), &["gamma = "]);
    }
    refused(&room, &format!("{train} --kernel rbf --gamma wide"), &["scale"]);
    refused(&room, &format!("{train} --kernel poly --degree 0"), &["degree", "from 1 to 64"]);
    refused(&room, &format!("{train} --kernel poly --degree 2.5"), &["--degree"]);
    refused(&room, &format!("{train} --kernel sigmoid --coef0 inf"), &["coef0 = "]);
    for tol in ["0", "-1", "nan", "1"] {
        refused(&room, &format!("{train} --tol {tol}"), &["tol = "]);
    }
    refused(&room, &format!("{train} --tie-weight -1"), &["tie"]);
    refused(&room, &format!("{train} --tie-weight nan"), &["tie"]);
    refused(&room, &format!("{train} --time-limit -1"), &["time-limit"]);
    refused(&room, &format!("{train} --threads 1e9"), &["--threads"]);
    refused(&room, &format!("{train} --seed -1"), &["--seed"]);
    refused(&room, "simulate --ties 1.5", &["ties = 1.5"]);
    refused(&room, "simulate --noise -1", &["noise = -1"]);
    refused(&room, "simulate --pairs 0", &["pairs = 0"]);
}

#[test]
fn options_that_do_not_apply() {
    let room = Room::with_pairs();
    let train = "train --pairs train.csv -o m";
    for (options, first) in [
        ("--gamma 1", "--gamma"),
        ("--gamma scale", "--gamma"),
        ("--kernel linear --degree 2", "--degree"),
        ("--kernel linear --coef0 1", "--coef0"),
        ("--kernel rbf --degree 2", "--degree"),
        ("--kernel rbf --coef0 1", "--coef0"),
        ("--kernel sigmoid --degree 2", "--degree"),
        ("--method rank --threshold refit", "--threshold"),
        ("--method rank --tie-region free", "--tie-region"),
        ("--method rank2 --balance outcomes", "--balance"),
        ("--method rank2 --threshold model", "--threshold"),
        ("--method rank --tie-weight 2", "--tie-weight"),
        ("--method rank --tie-weight 1", "--tie-weight"),
    ] {
        refused(&room, &format!("{train} {options}"), &[first, "does not apply", "leave it out"]);
    }
    room.run("train --pairs train.csv --method rank2 --tie-weight 2 -o other").ends(0);
    refused(&room, &format!("{train} --balance outcomes --threshold model"), &["--balance outcomes", "refit"]);
    refused(&room, &format!("{train} -q -v"), &["--quiet", "--verbose"]);
}

#[test]
fn what_is_not_there_yet_says_so() {
    let room = Room::new();
    refused(&room, "tune -o m", &["DATA", "--pairs"]);
    refused(&room, "train -o m", &["--pairs"]);
    refused(&room, "evaluate m", &["--pairs"]);
}

#[test]
fn data_said_twice_or_not_at_all() {
    let room = Room::new();
    refused(&room, "train --items i.csv -o m", &["--pairs"]);
    refused(&room, "train --pairs - --items - --format csv -o m", &["standard input"]);
    refused(&room, "train --pairs - -o m", &["standard input", "--format"]);
    refused(&room, "train --pairs pairs.xyz -o m", &["pairs.xyz", "--format"]);
    refused(&room, "predict m", &["DATA"]);
    refused(&room, "predict m items.csv --pairs p.csv", &["--pairs"]);
    refused(&room, "predict m items.csv --items other.csv", &["--items"]);
    refused(&room, "predict m -", &["standard input", "--input-format"]);
    refused(&room, "predict m --pairs - --format csv", &["standard input", "--input-format"]);
    refused(&room, "predict m --pairs p.csv --format scores", &["csv"]);
    refused(&room, "train --pairs p.csv -o -", &["standard output"]);
}

#[test]
fn an_output_that_is_an_input() {
    let room = Room::with_model();
    room.write("items.csv", "id,x1,x2\na,0,1\nb,1,1\n");
    room.write("named.csv", "left,right,outcome\na,b,left\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("train.csv", room.path("link.csv")).unwrap();
    let names = room.names();
    let before: Vec<_> = names.iter().map(|name| room.bytes(name)).collect();
    let mut commands = vec![
        "train --pairs train.csv -o train.csv",
        "train --pairs train.csv -o ./train.csv",
        "train --pairs named.csv --items items.csv -o items.csv",
        "predict model --pairs test.csv -o test.csv",
        "predict model --pairs test.csv -o model",
        "predict model --pairs named.csv --items items.csv -o items.csv",
        "predict model items.csv -o items.csv",
        "evaluate model --pairs test.csv --roc test.csv",
        "evaluate model --pairs test.csv --roc model",
        "evaluate model --pairs named.csv --items items.csv --roc items.csv",
    ];
    if cfg!(unix) {
        commands.extend(["train --pairs train.csv -o link.csv", "train --pairs link.csv -o train.csv"]);
    }
    for words in commands {
        refused(&room, words, &["would destroy the input", "name another file"]);
    }
    if cfg!(target_os = "linux") {
        let mut redirected = room.command("train --pairs - --format csv -o train.csv");
        let input = std::fs::File::open(room.path("train.csv")).unwrap();
        Ran::new(redirected.stdin(input).output().unwrap()).fails(2, &["would destroy the input"]);
    }
    for (name, bytes) in names.iter().zip(before) {
        assert_eq!(room.bytes(name), bytes, "{name}");
    }
}
