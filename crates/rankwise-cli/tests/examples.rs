//! The examples: their data are what their scripts make, and their stories run to the end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::browser::check_page;

fn comparison() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/comparison")
}

fn ranking() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/ranking")
}

/// Straight to standard error: what a passing test prints is not shown.
fn skipped(test: &str, why: &str) {
    std::io::stderr().write_all(format!("skipped: {test} ({why})\n").as_bytes()).unwrap();
}

/// The files of an example are what its script makes.
fn check_script(test: &str, example: &Path, files: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("python3").arg("-B").arg(example.join("make_data.py")).arg(dir.path()).output();
    let Ok(made) = made else {
        return skipped(test, "no python3 on the PATH");
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for file in files {
        let [now, then] = [dir.path(), example].map(|place| std::fs::read(place.join(file)).unwrap());
        assert!(now == then, "{file} is not what make_data.py makes; run it again");
    }
}

#[test]
fn the_wines_are_those_of_the_script() {
    let files = ["wines.csv", "tastings.csv", "held_out.csv", "tonight.csv"];
    check_script("the_wines_are_those_of_the_script", &comparison(), &files);
}

#[test]
fn the_hotels_are_those_of_the_script() {
    let files = ["train.csv", "train.letor", "test.csv", "tonight.csv"];
    check_script("the_hotels_are_those_of_the_script", &ranking(), &files);
}

#[cfg(unix)]
#[test]
fn the_story_of_the_hotels_runs_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a new place");
    let ran = Command::new("sh")
        .arg(ranking().join("run.sh"))
        .arg(&out)
        .env("RANKWISE", env!("CARGO_BIN_EXE_rankwise"))
        .current_dir(dir.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}\n{}", String::from_utf8_lossy(&ran.stderr));
    let read = |file: &str| std::fs::read_to_string(out.join(file)).unwrap();
    let tonight = read("tonight.csv");
    assert!(tonight.starts_with("id,qid,score,rank\n") && tonight.lines().count() == 1 + 2 * 3, "{tonight}");
    let run = read("test.run");
    assert_eq!(run.lines().count(), std::fs::read_to_string(ranking().join("test.csv")).unwrap().lines().count() - 1);
    assert!(run.starts_with("t1 Q0 "), "{run}");
    let hard: Value = serde_json::from_str(&read("hard.json")).unwrap();
    assert_eq!(hard["separable"], false);
    assert!(!out.join("hard.safetensors").exists());
    assert!(out.join("balanced.safetensors").is_file() && out.join("hinge.safetensors").is_file());
    // Travellers do like near, cheap and well reviewed hotels.
    let weight = |name: &str| -> f64 {
        let line = told.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {told}"));
        line.split_whitespace().last().unwrap().parse().unwrap()
    };
    assert!(weight("distance ") < 0.0 && weight("price ") < 0.0 && weight("reviews ") > 0.0 && weight("stars ") > 0.0);
}

#[test]
fn the_tastings_are_as_the_story_says() {
    let read = |file: &str| std::fs::read_to_string(comparison().join(file)).unwrap();
    let (wines, tastings) = (read("wines.csv"), read("tastings.csv"));
    assert_eq!(wines.lines().count(), 41);
    let rows: Vec<Vec<&str>> = tastings.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 600);
    let share = |outcome: &str| rows.iter().filter(|row| row[2] == outcome).count() as f64 / 600.0;
    assert!((0.30..0.35).contains(&share("tie")), "{}", share("tie"));
    assert!((share("left") - share("right")).abs() < 0.02);
    let tasters: std::collections::BTreeSet<&str> = rows.iter().map(|row| row[3]).collect();
    assert_eq!(tasters.len(), 12);
    let ties = |taster: &str| rows.iter().filter(|row| row[3] == taster && row[2] == "tie").count();
    assert!(3 * ties("Ada") < 2 * ties("Hugo"), "some taste finer than others");
}

#[cfg(unix)]
#[test]
fn the_story_of_the_wines_runs_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    // A name that has to be quoted.
    let out = dir.path().join("a new place");
    let ran = Command::new("sh")
        .arg(comparison().join("run.sh"))
        .arg(&out)
        .env("RANKWISE", env!("CARGO_BIN_EXE_rankwise"))
        .current_dir(dir.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}\n{}", String::from_utf8_lossy(&ran.stderr));
    for file in ["wine.safetensors", "points.csv", "held_out.json", "wine.html", "tonight.csv", "ranking.csv"] {
        assert!(out.join(file).is_file(), "{file}");
    }
    let read = |file: &str| std::fs::read_to_string(out.join(file)).unwrap();
    assert_eq!(read("points.csv").lines().count(), 31);
    let measured: Value = serde_json::from_str(&read("held_out.json")).unwrap();
    let (error, majority) =
        (measured["metrics"]["zero_one"].as_f64().unwrap(), measured["majority_error"].as_f64().unwrap());
    assert!(error < 0.6 * majority, "{error} for {majority}");
    assert!(read("tonight.csv").starts_with("left,right,margin,outcome\n"));
    assert_eq!(read("tonight.csv").lines().count(), 13);
    let chances = read("chances.csv");
    assert!(chances.starts_with("left,right,margin,outcome,p_left,p_tie,p_right\n") && chances.lines().count() == 13);
    assert!(told.contains("the shares of the outcomes alone"), "{told}");
    let ranking = read("ranking.csv");
    let mut ranks: Vec<usize> =
        ranking.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, (1..=40).collect::<Vec<_>>());
    assert!(told.contains("chosen from 30 points by zero_one on 4 folds"), "{told}");
    assert!(out.join("pictures/tuning.svg").is_file());
    check_page("the_story_of_the_wines_runs_to_its_end", &out.join("wine.html"), 5);
}

#[cfg(unix)]
#[test]
fn the_story_ends_where_something_fails() {
    let dir = tempfile::tempdir().unwrap();
    let ran = Command::new("sh")
        .arg(comparison().join("run.sh"))
        .arg(dir.path().join("out"))
        .env("RANKWISE", "/nowhere/rankwise")
        .output()
        .unwrap();
    assert!(!ran.status.success());
    assert_eq!(String::from_utf8_lossy(&ran.stdout).matches("==").count(), 1);
}
