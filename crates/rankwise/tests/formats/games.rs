//! Published games of chess and football: what is read, what is left out, what a broken file is told.

use std::io::Write;
use std::path::PathBuf;

use rankwise::Result;
use rankwise::data::{Date, Game, Outcome};
use rankwise::io::Source;
use rankwise::io::published::{ChessRating, PublishedGames, read_chess_games, read_chess_ratings, read_football};

use super::published_games::{chess_files, football_results};
use super::{Files, says};

const FOOTBALL: &str = "date,home_team,away_team,home_score,away_score,tournament,city,country,neutral\n";
const CHESS: &str = "TEID,MonthID,WhitePlayer,BlackPlayer,WhiteScore,Leaderboard\n";

fn football(rows: &str) -> Result<PublishedGames> {
    read_football(&Files::new().write("results.csv", format!("{FOOTBALL}{rows}")))
}

fn chess(rows: &str) -> Result<PublishedGames> {
    read_chess_games(&Files::new().write("games.csv", format!("{CHESS}{rows}")))
}

/// Names with commas and letters beyond ASCII, a match to come, rows that are not in order of time, two matches on a day.
#[test]
fn football_is_read_in_order_of_time() {
    let read = football(
        "2024-03-01,\"Korea, South\",Curaçao,2,2,Friendly,Seoul,South Korea,FALSE\n\
         1969-12-31,Curaçao,Åland,0,1,\"Cup, First\",X,Y,TRUE\n\
         2024-03-01,Åland,\"Korea, South\",3,0,Friendly,X,Y,true\n\
         2030-06-13,Åland,Curaçao,NA,NA,FIFA World Cup,X,Y,TRUE\n",
    )
    .unwrap();
    assert_eq!(read.n_left_out, 1);
    assert_eq!(read.games.players, ["Korea, South", "Curaçao", "Åland"]);
    let day = Date { year: 2024, month: 3, day: 1 }.number() as f64;
    assert_eq!(
        read.games.games,
        [
            Game { time: -1.0, left: 1, right: 2, outcome: Outcome::Right, is_neutral: true, weight: 1.0 },
            Game { time: day, left: 0, right: 1, outcome: Outcome::Tie, is_neutral: false, weight: 1.0 },
            Game { time: day, left: 2, right: 0, outcome: Outcome::Left, is_neutral: true, weight: 1.0 },
        ]
    );
    let pairs = read.games.to_comparisons().unwrap();
    assert_eq!(pairs.outcomes, [Outcome::Right, Outcome::Tie, Outcome::Left]);
    assert_eq!(pairs.set.items.name(pairs.set.pairs[0].right), "Åland");
}

#[test]
fn football_faults_are_named() {
    let good = "2024-03-01,A,B,2,1,F,C,D,FALSE\n";
    let expected = [
        ("2024-02-30,A,B,2,1,F,C,D,FALSE\n", "line 3, column 1 (date)", "\"2024-02-30\""),
        ("03/01/2024,A,B,2,1,F,C,D,FALSE\n", "column 1 (date)", "2024-07-14"),
        ("2024-03-01,A,A,2,1,F,C,D,FALSE\n", "column 3 (away_team)", "A plays against itself"),
        ("2024-03-01,A,,2,1,F,C,D,FALSE\n", "column 3 (away_team)", "empty cell"),
        ("2024-03-01,A,B,-2,1,F,C,D,FALSE\n", "column 4 (home_score)", "\"-2\""),
        ("2024-03-01,A,B,2,1.5,F,C,D,FALSE\n", "column 5 (away_score)", "whole number"),
        ("2024-03-01,A,B,2,1,F,C,D,maybe\n", "column 9 (neutral)", "TRUE or FALSE"),
        ("2024-03-01,A,B,2,1,F,C,D\n", "line 3", "found 8 fields, expected 9"),
    ];
    for (row, place, problem) in expected {
        says(football(&format!("{good}{row}")), &["results.csv", place, problem, ";"]);
    }
    says(football(""), &["a header and no rows"]);
    says(football("2030-03-01,A,B,NA,NA,F,C,D,TRUE\n"), &["none of the 1 rows is a game", "results"]);
    let folder = Files::new();
    let other = folder.write("results.csv", "date,home_team,away_team\n2024-01-01,A,B\n");
    says(
        read_football(&other),
        &["line 1", "no column home_score", "columns: date, home_team, away_team", "as published"],
    );
}

/// Either mark makes a row an invented one; columns may come in any order, and the training files have no marks.
#[test]
fn invented_chess_games_are_left_out_and_counted() {
    let read = chess(
        "1,134,6,43390,0.5,Private\n2,133,8,6,0,Public\n3,133,14,6,-1,Spurious\n4,133,14,8,1,Spurious\n\
         5,134,14,8,-1,Public\n6,134,8,43390,1.0,Public\n",
    )
    .unwrap();
    assert_eq!((read.n_left_out, read.games.n_ties()), (3, 1));
    assert_eq!(read.games.players, ["6", "43390", "8"]);
    let rows: Vec<_> = read.games.games.iter().map(|g| (g.time, g.left, g.right, g.outcome)).collect();
    assert_eq!(rows, [(133.0, 2, 0, Outcome::Right), (134.0, 0, 1, Outcome::Tie), (134.0, 2, 1, Outcome::Left)]);
    let unmarked = "WhiteScore,BlackPlayer,WhitePlayer,MonthID,PTID\n0,2,1,7,1\n";
    let read = read_chess_games(&Files::new().write("games.csv", unmarked)).unwrap();
    assert_eq!((read.games.games[0].time, read.games.games[0].outcome), (7.0, Outcome::Right));
    assert_eq!(read.games.players, ["1", "2"]);
}

#[test]
fn chess_faults_are_named() {
    says(chess("1,133,6,6,1,Public\n"), &["games.csv, line 2, column 4 (BlackPlayer)", "6 plays against itself"]);
    says(chess("1,133,6,7,2,Public\n"), &["line 2, column 5 (WhiteScore)", "\"2\"", "0.5"]);
    says(chess("1,June,6,7,1,Public\n"), &["line 2, column 2 (MonthID)", "\"June\""]);
    says(chess("1,133,6,7,-1,Spurious\n"), &["none of the 1 rows is a game"]);
    let players = ["6".to_string(), "7".to_string()];
    let ratings = |text: &str| read_chess_ratings(&Files::new().write("ratings.csv", text), &players);
    let header = "Player,Rating,KFactor,NumGames\n";
    let read = ratings(&format!("{header}7,2116,15,30\r\n99,2001,25,3\r\n")).unwrap();
    assert_eq!(read, [None, Some(ChessRating { rating: 2116, k: 15, n_games: 30 })]);
    says(ratings(&format!("{header}7,2116,15,30\n7,2116,15,30\n")), &["line 3, column 1 (Player)", "rated before"]);
    says(ratings(&format!("{header}7,high,15,30\n")), &["line 2, column 2 (Rating)", "\"high\""]);
    says(ratings("Player,Rating\n7,1\n"), &["no column KFactor"]);
}

/// What the program's tests learn from has the shape of the real files, compressed or not.
#[test]
fn simulated_files_are_read() {
    let folder = Files::new();
    let text = football_results(2001..=2003, 12, 20, 1);
    let read = read_football(&folder.write("results.csv", &text)).unwrap();
    assert_eq!((read.games.games.len(), read.games.players.len(), read.n_left_out), (720, 12, 1));
    assert!((100..250).contains(&read.games.n_ties()), "{}", read.games.n_ties());
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    assert_eq!(read_football(&folder.write("results.csv.gz", packed.finish().unwrap())).unwrap(), read);
    let (games, ratings) = chess_files(40, 300, 1);
    let read = read_chess_games(&folder.write("games.csv", games)).unwrap();
    assert_eq!(read.games.games.len() + read.n_left_out, 900);
    let ratings = read_chess_ratings(&folder.write("ratings.csv", ratings), &read.games.players).unwrap();
    assert_eq!(ratings.iter().flatten().count(), 30);
}

/// The real files, where `RANKWISE_DATA` names the folder they are in.
#[test]
fn real_files_have_the_published_counts() {
    let Some(folder) = std::env::var_os("RANKWISE_DATA").map(PathBuf::from) else {
        println!("skipped: RANKWISE_DATA is not set");
        return;
    };
    let source = |name: &str| {
        let plain = folder.join(name);
        let packed = folder.join(format!("{name}.xz"));
        Source::parse(if plain.exists() { plain } else { packed }.to_str().unwrap(), None).unwrap()
    };
    let chess = read_chess_games(&source("chess_fide_test/primary_test_solution.csv")).unwrap();
    assert_eq!((chess.games.games.len(), chess.n_left_out), (88_457, 11_543));
    assert_eq!((chess.games.n_ties(), chess.games.players.len()), (25_742, 24_926));
    let ratings = read_chess_ratings(&source("chess_fide_test/initial_ratings.csv"), &chess.games.players).unwrap();
    assert!(ratings.iter().flatten().all(|rating| (2001..2900).contains(&rating.rating)));
    let football = read_football(&source("football_international/results.csv")).unwrap();
    assert_eq!((football.games.games.len(), football.n_left_out), (49_520, 0));
    assert_eq!((football.games.n_ties(), football.games.players.len()), (11_258, 337));
    assert_eq!(football.games.games.iter().filter(|game| game.is_neutral).count(), 13_156);
}
