//! `tune` used wrongly: exit status 2, a reason, a remedy, nothing written; and data that cannot be tuned on.

use crate::room::Room;

#[track_caller]
fn refused(room: &Room, options: &str, reason: &[&str]) {
    let before = room.names();
    room.run(&format!("tune --pairs train.csv -o m {options}")).fails(2, reason);
    assert_eq!(room.names(), before);
}

#[test]
fn grids_that_make_no_sense() {
    let room = Room::with_pairs();
    for (grid, reason) in [
        ("C", "NAME=VALUES"),
        ("C=", "no values"),
        ("kernel=", "no values"),
        ("C=1,,2", "empty value"),
        ("C=10:1:5", "from 10 down to 1: write 1:10:5"),
        ("C=1:1:5", "is one value: write 1"),
        ("C=1:10:1", "whole number from 2 on"),
        ("C=1:10:0", "whole number from 2 on"),
        ("C=1:10:-3", "whole number from 2 on"),
        ("C=1:10:2.5", "whole number from 2 on"),
        ("C=1:10:many", "\"many\""),
        ("C=1:10:100000", "100000 values; at most 10000"),
        ("C=1:10", "lo:hi:n"),
        ("C=1:10:3:4", "lo:hi:n"),
        ("C=0:10:3", "above 0"),
        ("C=-1:10:3", "above 0"),
        ("C=nan:10:3", "\"nan\" is not a finite number"),
        ("C=1:inf:3", "\"inf\" is not a finite number"),
        ("C=nan", "not a finite number"),
        ("C=inf", "not a finite number"),
        ("C=ten", "\"ten\""),
        ("C=0", "C = 0"),
        ("C=1,-1", "C = -1"),
        ("gamma=wide", "scale"),
        ("kernel=gauss", "linear, poly, rbf, sigmoid"),
        ("loss=log", "hinge, squared-hinge"),
        ("tol=1", "C, gamma, degree, coef0, epsilon, kernel, loss"),
    ] {
        refused(&room, &format!("--grid {grid}"), &[reason]);
    }
    refused(&room, "--kernel rbf --grid gamma=0:1:3", &["above 0"]);
    refused(&room, "--kernel rbf --grid gamma=0.1,0", &["gamma = 0"]);
    refused(&room, "--kernel poly --grid degree=1.5", &["\"1.5\"", "whole number"]);
    refused(&room, "--kernel poly --grid degree=1:4:3", &["whole numbers"]);
    refused(&room, "--kernel poly --grid degree=4:1:4", &["write 1:4:4"]);
    refused(&room, "--kernel poly --grid degree=0", &["degree", "from 1 to 64"]);
    refused(&room, "--kernel poly --grid coef0=0:1:3", &["coef0 has no ranges"]);
    refused(&room, "--kernel poly --grid coef0=inf", &["not a finite number"]);
}

#[test]
fn grids_that_are_too_large() {
    let room = Room::with_pairs();
    let points = "--grid C=1:10:200 --grid gamma=1:10:200 --kernel rbf";
    refused(&room, points, &["40000 points", "at most 10000"]);
    let huge = "--kernel poly --grid C=1:10:9999 --grid gamma=1:10:9999 --grid coef0=1,2,3 --grid degree=1:64:64";
    refused(&room, huge, &["points", "at most 10000"]);
    refused(&room, "--grid C=1:10:9999,20:30:9999", &["19998 points"]);
}

#[test]
fn values_said_twice() {
    let room = Room::with_pairs();
    refused(&room, "--grid C=1 --grid C=10", &["--grid C is given twice"]);
    for (option, grid) in [
        ("--C 1", "C=1,10"),
        ("--kernel rbf --gamma 1", "gamma=1,10"),
        ("--kernel poly --degree 2", "degree=1,2"),
        ("--kernel poly --coef0 1", "coef0=0,1"),
        ("--kernel rbf", "kernel=rbf,linear"),
        ("--loss hinge", "loss=hinge"),
    ] {
        let name = grid.split('=').next().unwrap();
        refused(&room, &format!("{option} --grid {grid}"), &[&format!("--{name} and --grid {name}=")]);
    }
    let json = room.run("tune --pairs train.csv --grid C=1,1.0,0.1:10:3 -o m --json").ends(0).json();
    assert_eq!(json["points"].as_array().unwrap().len(), 3, "values that come twice count once");
}

#[test]
fn parameters_that_no_kernel_has() {
    let room = Room::with_pairs();
    refused(&room, "--grid gamma=0.1,1", &["--grid gamma does not apply", "linear", "poly, rbf, sigmoid"]);
    refused(&room, "--grid gamma=1 --grid kernel=linear", &["--grid gamma does not apply"]);
    refused(&room, "--kernel rbf --grid degree=2", &["--grid degree does not apply", "choose poly"]);
    refused(&room, "--grid kernel=linear,rbf --grid coef0=2", &["--grid coef0 does not apply", "poly, sigmoid"]);
    refused(&room, "--gamma 1", &["--gamma does not apply"]);
    refused(&room, "--grid kernel=linear,rbf --degree 2", &["--degree does not apply"]);
    room.run("tune --pairs train.csv --grid kernel=linear,rbf --gamma 1 -o m -q").ends(0);
}

#[test]
fn other_options_out_of_range() {
    let room = Room::with_pairs();
    for folds in ["0", "1"] {
        refused(&room, &format!("--folds {folds}"), &["folds = ", "at least 2"]);
    }
    refused(&room, "--folds -1", &["--folds"]);
    refused(&room, "--folds 2 --valid test.csv", &["--folds", "--valid"]);
    for metric in ["confusion", "auc_baseline", "ndcg"] {
        refused(&room, &format!("--metric {metric}"), &[metric, "zero_one, auc, pair_accuracy"]);
    }
    refused(&room, "--metric zero_one,auc", &["zero_one,auc"]);
    refused(&room, "--time-limit -1", &["time-limit"]);
    refused(&room, "--time-limit nan", &["time-limit"]);
    refused(&room, "--C inf", &["--C inf", "finite"]);
    refused(&room, "--tol 2", &["tol = 2"]);
    refused(&room, "--method rank --threshold refit", &["--threshold does not apply"]);
    refused(&room, "items.svm", &["--pairs", "DATA"]);
}

#[test]
fn files_that_clash() {
    let room = Room::with_pairs();
    refused(&room, "--table m", &["--table and -o name the same file"]);
    refused(&room, "--table ./m", &["--table and -o name the same file"]);
    refused(&room, "--table train.csv", &["would destroy the input"]);
    refused(&room, "--valid test.csv --table test.csv", &["would destroy the input"]);
    room.run("tune --pairs train.csv --valid test.csv -o test.csv").fails(2, &["would destroy the input"]);
    room.run("tune --pairs train.csv -o -").fails(2, &["standard output"]);
    room.run("tune --pairs - --valid - --format csv -o m").fails(2, &["--pairs and --valid", "standard input"]);
    room.run("tune --pairs train.csv --items - --valid test.csv --format csv -o m").fails(2, &["--items -", "--valid"]);
    room.run("tune --pairs train.csv -o m --table nowhere/t.csv").fails(1, &["nowhere"]);
    room.run("tune --pairs train.csv --valid absent.csv -o m").fails(1, &["absent.csv"]);
    assert_eq!(room.names(), ["test.csv", "train.csv"]);
}

#[test]
fn data_that_cannot_be_tuned_on() {
    let room = Room::new();
    room.write("train.csv", "left,right,outcome\na,b,left\nb,c,tie\nc,a,right\n");
    room.write("decided.csv", "left,right,outcome\na,b,left\n");
    room.write("strangers.csv", "left,right,outcome\nx,b,left\n");
    let fails = |options: &str, words: &[&str]| {
        room.run(&format!("tune --pairs train.csv -o m {options}")).fails(1, words);
        assert!(!room.path("m").exists());
    };
    fails("", &["3 distinct pairs for 5 folds", "--folds"]);
    fails("--folds 3 --metric auc", &["of 3 holds", "auc is not defined there", "--folds"]);
    fails("--valid decided.csv --metric auc", &["validation file holds no ties", "--metric zero_one"]);
    fails("--valid strangers.csv", &["not in the training data", "\"x\""]);
    room.run("tune --pairs train.csv --valid decided.csv -o m -q").ends(0);
}
