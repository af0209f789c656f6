//! `reproduce svmcompare-fig6` on simulated games: files, numbers, what a broken file is told.

use crate::browser::check_page;
use crate::published_games::{chess_files, football_results};
use crate::room::Room;

const NAME: &str = "svmcompare-fig6";

/// A room with four years of football among few teams, and three months of chess among few players.
fn with_games() -> Room {
    let room = Room::new();
    for folder in ["data/football_international", "data/chess_fide_test"] {
        std::fs::create_dir_all(room.path(folder)).unwrap();
    }
    room.write("data/football_international/results.csv", &football_results(2001..=2004, 16, 25, 3));
    let (games, ratings) = chess_files(24, 250, 3);
    room.write("data/chess_fide_test/primary_test_solution.csv", &games);
    room.write("data/chess_fide_test/initial_ratings.csv", &ratings);
    room
}

#[test]
fn the_quick_study_of_simulated_games() {
    let room = with_games();
    let command = format!("reproduce {NAME} --data data --out out --quick --json");
    let ran = room.run(&command).ends(0).json();
    let study = &ran["studies"][0];
    assert_eq!(study["name"], NAME);
    assert_eq!(study["claims"].as_array().unwrap().len(), 7);
    let csv = room.read(&format!("out/{NAME}.csv"));
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|known| *known == name).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    // Two years and a month: three without machines, two kernels on two sets of features with two losses; two that
    // learn from four years of football.
    assert_eq!(rows.len(), 3 * (3 + 8) + 2 * 2);
    for row in &rows {
        let auc: f64 = row[column("test_auc")].parse().unwrap();
        assert!((0.0..=1.0).contains(&auc), "{row:?}");
    }
    // Strengths do not change, so that a rating of years tells more than the same answer for all.
    let auc = |period: &str, model: &str| -> f64 {
        let row = rows.iter().find(|row| row[column("period")] == period && row[column("model")] == model).unwrap();
        row[column("test_auc")].parse().unwrap()
    };
    for year in ["2003", "2004"] {
        assert!(auc(year, "Elo") > auc(year, "same answer"), "{csv}");
    }
    let page = room.read(&format!("out/{NAME}.html"));
    for words in ["football, 2 periods", "chess, one period", "marked as spurious", "first matches"] {
        assert!(page.contains(words), "no {words:?} in the page");
    }
    check_page("the_quick_study_of_simulated_games", &room.path(&format!("out/{NAME}.html")), 1);
    // Again, from the journal and anew: the same numbers.
    let again = room.run(&command).ends(0).json();
    assert!(again["studies"][0]["tasks_resumed"].as_u64().unwrap() > 0);
    assert_eq!(room.read(&format!("out/{NAME}.csv")), csv);
    room.run(&format!("{command} --fresh --threads 1")).ends(0);
    assert_eq!(room.read(&format!("out/{NAME}.csv")), csv);
}

#[test]
fn broken_and_missing_games_are_named() {
    let room = with_games();
    let command = format!("reproduce {NAME} --data data --out out --quick");
    let results = "data/football_international/results.csv";
    let text = room.read(results);
    room.write(results, &text.replacen("2001-02-", "2001-02-9", 1));
    room.run(&command).fails(1, &["results.csv, line", "column 1 (date)", "2001-02-9"]);
    // One year is not enough to have ten games before its May, let alone spring matches.
    let header = text.lines().next().unwrap();
    let autumn: String =
        text.lines().filter(|line| line.starts_with("2001-1")).map(|line| format!("{line}\n")).collect();
    room.write(results, &format!("{header}\n{autumn}"));
    room.run(&command).fails(1, &["results.csv", "January to March"]);
    std::fs::remove_file(room.path(results)).unwrap();
    room.run(&command).fails(1, &["results.csv", "martj42", "CC0"]);
}
