//! `rate`: leaderboards with intervals, what games cannot tell, which system predicts best, and bad input.

use serde_json::Value;

use crate::room::Room;

/// Games of ten players with known strengths: ann is the best, the first side has an advantage unless `neutral`.
fn season(n_games: usize) -> String {
    let names = ["ann", "bob", "cid", "dee", "eve", "fay", "gus", "hal", "ivy", "jon"];
    let mut games = String::from("left,right,outcome,time,group,pair.neutral,left.rest,right.rest\n");
    let mut state = 7u64;
    let mut dice = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    for k in 0..n_games {
        let left = (dice() * 10.0) as usize;
        let right = (left + 1 + (dice() * 9.0) as usize) % 10;
        let neutral = usize::from(dice() < 0.3);
        let [a, b] = [dice(), dice()].map(|x| (x * 8.0).floor());
        let d = 0.35 * (right as f64 - left as f64) + 0.5 * (1.0 - neutral as f64) + 0.1 * (a - b);
        let odds = [(0.5 * d).exp(), 0.8, (-0.5 * d).exp()];
        let mut at = dice() * odds.iter().sum::<f64>();
        let mut outcome = "right";
        for (word, odds) in ["left", "tie"].into_iter().zip(odds) {
            if at < odds {
                outcome = word;
                break;
            }
            at -= odds;
        }
        let (left, right, month, day) = (names[left], names[right], 1 + k * 12 / n_games, 1 + k % 28);
        games += &format!("{left},{right},{outcome},2024-{month:02}-{day:02},judge{},{neutral},{a},{b}\n", k % 25);
    }
    games
}

fn room(games: &str) -> Room {
    let room = Room::new();
    room.write("games.csv", games);
    room
}

fn line<'a>(board: &'a Value, item: &str) -> &'a Value {
    board["leaderboard"].as_array().unwrap().iter().find(|line| line["item"] == item).unwrap()
}

#[test]
fn a_leaderboard_of_every_system() {
    let room = room(&season(1500));
    for system in ["davidson", "elo", "glicko", "glicko2", "trueskill"] {
        let board = room.run(&format!("rate --pairs games.csv --system {system} --json")).ends(0).json();
        assert_eq!((&board["system"], &board["games"], &board["items"]), (&system.into(), &1500.into(), &10.into()));
        let lines = board["leaderboard"].as_array().unwrap();
        let best: Vec<&str> = lines[..3].iter().map(|line| line["item"].as_str().unwrap()).collect();
        assert!(best.contains(&"ann"), "{system}: {best:?}");
        for line in lines {
            let number = |name: &str| line[name].as_f64().unwrap();
            assert!(number("low") < number("rating") && number("rating") < number("high"), "{system}: {line}");
            assert!(number("rank_low") <= number("rank_high") && number("rank_low") >= 1.0);
            assert_eq!(number("wins") + number("ties") + number("losses"), number("games"));
        }
        // The systems that forget need not be as sure.
        if system == "davidson" {
            assert!(lines[0]["rank_high"].as_u64() < Some(6) && lines[9]["rank_low"].as_u64() > Some(4), "{lines:?}");
        }
        for pair in board["chances"].as_array().unwrap() {
            let sum: f64 = ["p_left", "p_tie", "p_right"].iter().map(|name| pair[name].as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        let text = room.run(&format!("rate --pairs games.csv --system {system} --top 3")).ends(0).out;
        assert!(text.starts_with("item") && text.contains("… and 7 more") && text.contains("ann"), "{text}");
        // The same bytes for any number of threads, whatever is written.
        let files = "-o board.csv -o board.json --chances chances.csv --ci-method bootstrap --resamples 50";
        let write = |threads: usize| {
            room.run(&format!("rate --pairs games.csv --system {system} {files} --threads {threads}")).ends(0);
            let json: Value = serde_json::from_str(&room.read("board.json")).unwrap();
            (room.read("board.csv"), room.read("chances.csv"), json["leaderboard"].clone())
        };
        let written = write(1);
        assert_eq!(written, write(2), "{system}");
        assert_eq!((written.0.lines().count(), written.1.lines().count()), (11, 46));
    }
}

#[test]
fn effects_are_fitted_with_the_ratings() {
    let room = room(&season(4000));
    let board = room.run("rate --pairs games.csv --side --unit own --json").ends(0).json();
    let effects = board["effects"].as_array().unwrap();
    for (effect, name, truth) in [(&effects[0], "first side", 0.5), (&effects[1], "rest", 0.1)] {
        let number = |name: &str| effect[name].as_f64().unwrap();
        assert_eq!(effect["name"], name);
        assert!((number("value") - truth).abs() < 4.0 * number("se") && number("se") < 0.1, "{effect}");
        assert!(number("low") < number("value") && number("value") < number("high"));
    }
    assert_eq!(board["ci"]["groups"], 25);
    let lines = board["leaderboard"].as_array().unwrap();
    let sum: f64 = lines.iter().map(|line| line["rating"].as_f64().unwrap()).sum();
    assert!(sum.abs() < 1e-8);
    // 0.35 in logarithms of odds from each player to the next.
    for (k, line) in lines.iter().enumerate() {
        let truth = 0.35 * (4.5 - k as f64);
        assert!((line["rating"].as_f64().unwrap() - truth).abs() < 0.4, "{line}");
    }
    // Points are 400/ln 10 times as much.
    let points = room.run("rate --pairs games.csv --side --json").ends(0).json();
    let ratio = line(&points, "ann")["rating"].as_f64().unwrap() / line(&board, "ann")["rating"].as_f64().unwrap();
    assert!((ratio - 400.0 / std::f64::consts::LN_10).abs() < 1e-9);
    // Online systems find an advantage, and say what they leave out.
    let elo = room.run("rate --pairs games.csv --side --system elo --json").ends(0).json();
    let found = elo["effects"][0]["value"].as_f64().unwrap();
    assert!((40.0..140.0).contains(&found), "{found}");
    assert!(elo["warnings"].to_string().contains("rest"));
}

#[test]
fn an_anchor_moves_all_that_can_be_compared() {
    let room = room(&season(600));
    let plain = room.run("rate --pairs games.csv --json").ends(0).json();
    let moved = room.run("rate --pairs games.csv --anchor bob=1000 --json").ends(0).json();
    assert!((line(&moved, "bob")["rating"].as_f64().unwrap() - 1000.0).abs() < 1e-9);
    let difference =
        |board: &Value| line(board, "ann")["high"].as_f64().unwrap() - line(board, "bob")["rating"].as_f64().unwrap();
    assert!((difference(&plain) - difference(&moved)).abs() < 1e-9);
    room.run("rate --pairs games.csv --anchor zoe=1000").fails(1, &["zoe", "ann"]);
    room.run("rate --pairs games.csv --anchor bob").fails(2, &["--anchor"]);
}

/// Ten points in a row for one item must not become a number out of the air.
#[test]
fn what_games_cannot_tell() {
    let trap = room("left,right,outcome\na,b,left\na,c,left\nb,c,left\n");
    let ran = trap.run("rate --pairs games.csv").ends(0);
    assert!(ran.err.contains("3 items without a finite rating (a, b, c)") && ran.err.contains("--C 1"), "{}", ran.err);
    assert!(ran.out.contains("1–3") && ran.out.contains('–'));
    let board = trap.run("rate --pairs games.csv --json").ends(0).json();
    assert!(board["leaderboard"].as_array().unwrap().iter().all(|line| line["rating"].is_null()));
    let ridge = trap.run("rate --pairs games.csv --C 1 --json").ends(0).json();
    let rating = |item: &str| line(&ridge, item)["rating"].as_f64().unwrap();
    assert!(rating("a") > rating("b") && rating("b") > rating("c") && rating("a") < 400.0);
    assert!(ridge["warnings"].as_array().unwrap().is_empty());
    // Three games do not tell a from c, penalty or not.
    for method in ["sandwich", "bootstrap"] {
        let ridge = trap.run(&format!("rate --pairs games.csv --C 1 --ci-method {method} --json")).ends(0).json();
        assert_eq!(line(&ridge, "c")["rank_low"], 1, "{method}");
    }
    trap.run("rate --pairs games.csv --anchor a=1000").fails(1, &["no finite rating", "--C"]);
    // Two parts, one game each way in both.
    let parts = room("left,right,outcome\na,b,left\nb,a,left\nc,d,left\nd,c,left\nc,d,tie\n");
    for system in ["davidson", "elo"] {
        let ran = parts.run(&format!("rate --pairs games.csv --system {system} --json")).ends(0);
        let board = ran.json();
        assert_eq!(board["parts"], serde_json::json!([2, 2]));
        assert_ne!(line(&board, "a")["scale"], line(&board, "c")["scale"]);
        assert_eq!(line(&board, "c")["rank_high"], 2);
        assert!(ran.err.contains("2 parts"), "{}", ran.err);
        let pairs = board["chances"].as_array().unwrap();
        assert_eq!(pairs.len(), 2, "{system}");
    }
    // One judge alone says nothing of how much judges differ.
    let judge = room("left,right,outcome,group\na,b,left,x\nb,a,left,x\na,b,tie,x\na,b,left,x\n");
    for options in ["", "--ci-method bootstrap", "--system elo"] {
        let ran = judge.run(&format!("rate --pairs games.csv {options} --json")).ends(0);
        assert!(ran.err.contains("in one group") && line(&ran.json(), "a")["low"].is_null(), "{options}: {}", ran.err);
    }
    judge.run("rate --pairs games.csv -o a.csv --chances a.csv").fails(2, &["twice"]);
    let ties = room("left,right,outcome\na,b,tie\nb,c,tie\n").run("rate --pairs games.csv").ends(0);
    assert!(ties.err.contains("every game is a tie"), "{}", ties.err);
    let apart = room("left,right,outcome\na,b,left\nb,c,tie\n").run("rate --pairs games.csv").ends(0);
    assert!(apart.err.contains("told apart perfectly"), "{}", apart.err);
    let single = room("left,right,outcome\na,b,right\n");
    for system in ["davidson", "elo", "glicko", "glicko2", "trueskill"] {
        single.run(&format!("rate --pairs games.csv --system {system}")).ends(0);
    }
}

/// Five thousand pairs of items that have nothing to do with each other.
#[test]
fn ten_thousand_items_without_a_common_opponent() {
    let mut games = String::from("left,right,outcome\n");
    for k in 0..5000 {
        games += &format!("a{k},b{k},{}\n", ["left", "tie", "right"][k % 3]);
        games += &format!("a{k},b{k},{}\n", ["right", "tie", "left"][k % 3]);
    }
    let room = room(&games);
    for system in ["davidson", "davidson --C 1", "elo", "glicko2"] {
        let ran = room.run(&format!("rate --pairs games.csv --system {system} --json")).ends(0);
        assert!(ran.err.contains("5000 parts"), "{}", ran.err);
        let board = ran.json();
        let lines = board["leaderboard"].as_array().unwrap();
        assert_eq!(lines.len(), 10_000);
        assert!(lines.iter().all(|line| line["rank_high"].as_u64() <= Some(2)));
        assert!(lines.iter().all(|line| line["rating"].is_null() || line["rating"].as_f64().unwrap().is_finite()));
    }
    room.run("rate --pairs games.csv --chances all.csv").fails(1, &["1000 items", "--chances"]);
}

#[test]
fn which_system_predicts_best() {
    let room = room(&season(3000));
    let ran = room.run("rate --pairs games.csv --side --backtest --json").ends(0);
    let found = ran.json();
    let systems = found["systems"].as_array().unwrap();
    let names: Vec<&str> = systems.iter().map(|one| one["system"].as_str().unwrap()).collect();
    for name in ["elo", "glicko", "glicko2", "trueskill", "davidson", "compare on features", "davidson on features"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let loss = |name: &str| systems.iter().find(|one| one["system"] == name).unwrap()["log_loss"].as_f64().unwrap();
    // Strengths never change here: what uses all games is best, and everything beats knowing nothing.
    assert!(["elo", "glicko", "glicko2", "trueskill"].iter().all(|name| loss(name) >= loss("davidson")));
    assert!(names.iter().all(|name| *name == "shares of outcomes" || loss(name) < loss("shares of outcomes") + 0.01));
    assert!(systems.windows(2).all(|two| two[0]["log_loss"].as_f64() <= two[1]["log_loss"].as_f64()));
    assert_eq!(found["learnt_from"].as_u64().unwrap() + found["predicted"].as_u64().unwrap(), 3000);
    #[cfg(target_os = "linux")]
    {
        std::os::unix::fs::symlink("/dev/full", room.path("full.json")).unwrap();
        let names = room.names();
        room.run("rate --pairs games.csv --backtest -o a.csv -o b.json -o full.json").fails(1, &["full.json"]);
        assert_eq!(room.names(), names, "all or none");
    }
    let text = room.run("rate --pairs games.csv --backtest --split 0.5 -o systems.csv").ends(0).out;
    assert!(text.contains("predicts these games best") && text.contains("zero_one"), "{text}");
    assert_eq!(room.read("systems.csv").lines().count(), 9);
    let few = self::room("left,right,outcome\na,b,left\nb,a,left\na,b,tie\nb,a,left\na,b,left\nb,a,tie\n");
    let ran = few.run("rate --pairs games.csv --backtest --split 0.8").ends(0);
    assert!(ran.out.contains("Too few games") && ran.out.contains("1 game predicted"), "{}", ran.out);
    room.run("rate --pairs games.csv --backtest --split 1").fails(2, &["--split"]);
    room.run("rate --pairs games.csv --backtest --anchor ann=1").fails(2, &["--anchor", "--backtest"]);
}

/// What comes after the split must not be known before it: with the outcomes of December turned around, what was chosen in
/// November stays as it is.
#[test]
fn a_backtest_does_not_look_ahead() {
    let games = season(1000);
    let turned: Vec<String> = games
        .lines()
        .map(|line| match line.contains(",2024-12-") {
            true => line.replace(",left,", ",?,").replace(",right,", ",left,").replace(",?,", ",right,"),
            false => line.to_string(),
        })
        .collect();
    let settings = |games: &str| {
        let room = room(games);
        let found = room.run("rate --pairs games.csv --backtest --side --split 0.85 --json").ends(0).json();
        let systems = found["systems"].as_array().unwrap();
        let mut settings: Vec<String> =
            systems.iter().map(|one| format!("{} {}", one["system"], one["settings"])).collect();
        settings.sort();
        settings
    };
    assert_eq!(settings(&games), settings(&(turned.join("\n") + "\n")));
}

#[test]
fn bad_input_is_named() {
    let fails = |games: &str, options: &str, words: &[&str]| {
        room(games).run(&format!("rate --pairs games.csv {options}")).fails(1, words);
    };
    let start = "left,right,outcome,time\na,b,left,2024-01-01\n";
    fails(&format!("{start}b,c,won,2024-01-02\n"), "", &["games.csv", "line 3", "outcome", "\"won\"", "left, tie"]);
    fails(&format!("{start}c,c,left,2024-01-02\n"), "", &["line 3", "right", "\"c\" is compared with itself"]);
    fails(&format!("{start}b,c,left,soon\n"), "", &["line 3", "time", "\"soon\"", "2024-03-01"]);
    fails(&format!("{start}b,c,left,7\n"), "", &["line 3", "time", "as in the rows before"]);
    fails(&format!("{start}b,c,left,\n"), "", &["line 3", "time", "empty"]);
    fails("left.x,right.x,outcome\n1,2,left\n", "", &["no columns left and right"]);
    fails("left,right\na,b\n", "", &["outcome"]);
    fails(start, "--time when", &["when"]);
    fails("left,right,outcome,weight\na,b,left,1e308\n", "", &["line 2", "weight", "1000000000000"]);
    fails("left,right,outcome,weight\na,b,left,0\n", "", &["games.csv", "weight 0"]);
    let room = room(start);
    for (options, word) in [
        ("--ci 95", "--ci"),
        ("--ci=never", "none"),
        ("--ci 0", "--ci"),
        ("--system elo --C 1", "--C"),
        ("--k 20", "--k"),
        ("--system glicko --k 20", "--k"),
        ("--system elo --ci-method own", "own"),
        ("--system elo --ci-method sandwich", "sandwich"),
        ("--ci-method own", "own"),
        ("--ci-method sandwich --resamples 10", "--resamples"),
        ("--split 0.5", "--backtest"),
        ("--backtest --system elo", "--system"),
        ("--backtest --ci 0.9", "--ci"),
        ("--chances -", "--chances"),
        ("--anchor a=1e308", "--anchor"),
        ("-o board.txt", ".html"),
        ("--system chess", "davidson"),
        ("--C -1", "C"),
        ("--half-life 0", "half-life"),
        ("--system elo --k -5", "k"),
        ("--system glicko --period 0", "period"),
        ("--k abc", "fide"),
    ] {
        let ran = room.run(&format!("rate --pairs games.csv {options}")).ends(2);
        assert!(ran.err.contains(word), "{options}: {}", ran.err);
    }
    room.run("rate --pairs games.csv -o games.csv").fails(2, &["destroy"]);
    room.run("rate --pairs games.csv --backtest").fails(2, &["split"]);
}

/// Games whose score was left in the table: its effect is left out by name, and items have the ratings of their games.
#[test]
fn a_score_left_in_the_table_is_no_board_of_zeros() {
    let rows = "left,right,outcome,left.goals,right.goals\na,b,left,3,1\na,b,left,2,0\nb,c,left,2,1\nc,a,left,1,0\n\
                a,c,left,4,1\nb,a,tie,1,1\n";
    let room = room(rows);
    room.write(
        "plain.csv",
        &rows.lines().map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",") + "\n").collect::<String>(),
    );
    let plain = room.run("rate --pairs plain.csv --C 1 --json").ends(0).json();
    for side in ["", " --side"] {
        let ran = room.run(&format!("rate --pairs games.csv --C 1{side} --json")).ends(0);
        assert!(ran.err.contains("left out: the effect of") && ran.err.contains("goals"), "{}", ran.err);
        let board = ran.json();
        for key in ["leaderboard", "converged", "tie_parameter"] {
            assert_eq!(board[key], plain[key], "{key}");
        }
        assert!(board["leaderboard"][0]["rating"].as_f64().unwrap() > 10.0);
        assert!(board["effects"].as_array().unwrap().iter().all(|effect| effect["value"].is_null()));
    }
    let ran = room.run("rate --pairs games.csv --json").ends(0);
    assert!(
        ran.err.contains("goals")
            && ran.json()["separable"] == true
            && ran.json()["leaderboard"][0]["rating"].is_null()
    );
}

/// What is said of ratings that are not given is said only where they are not.
#[test]
fn no_rating_is_given_only_where_none_is() {
    for rows in ["a,b,left\nb,c,tie\nd,c,left\n", "a,b,tie\nb,c,tie\n", "a,b,left\nb,c,left\na,c,left\n"] {
        let room = room(&format!("left,right,outcome\n{rows}"));
        let (free, drawn) = (
            room.run("rate --pairs games.csv --json").ends(0),
            room.run("rate --pairs games.csv --C 1 --json").ends(0),
        );
        assert!(free.err.contains("rating") && free.json()["leaderboard"][0]["rating"].is_null());
        assert!(!drawn.err.contains("no rating") && !drawn.err.contains("gives finite"), "{}", drawn.err);
        assert!(!drawn.json()["warnings"].to_string().contains("no rating"));
        assert!(drawn.json()["leaderboard"].as_array().unwrap().iter().all(|line| line["rating"].is_number()));
    }
}

/// `--ci none` leaves intervals out, everywhere; `--ci` takes a share with a space or an equals sign, or none at all.
#[test]
fn intervals_are_switched_off() {
    let room = room(&season(200));
    for system in ["davidson", "elo", "trueskill"] {
        let ran =
            room.run(&format!("rate --pairs games.csv --system {system} --ci none --json -o board.html -o board.csv"));
        let board = ran.ends(0).json();
        assert!(board["ci"]["level"].is_null() && board["ci"]["method"] == "none", "{}", board["ci"]);
        let line = &board["leaderboard"][0];
        assert!(line["rating"].is_number() && line["se"].is_null() && line["low"].is_null() && line["rank_high"] == 10);
        assert!(!room.read("board.html").contains("NaN"));
    }
    let level =
        |ci: &str| room.run(&format!("rate --pairs games.csv {ci} --json")).ends(0).json()["ci"]["level"].clone();
    assert_eq!([level("--ci 0.9"), level("--ci=0.9")], [0.9, 0.9].map(Value::from));
    assert_eq!([level("--ci"), level("")], [0.95, 0.95].map(Value::from));
    room.run("rate --pairs games.csv --ci none --resamples 10").fails(2, &["--resamples", "--ci none"]);
}

/// Rows need not be in order: they are put in order, and that is said.
#[test]
fn rows_out_of_order_are_put_in_order() {
    let games = season(300);
    let mut lines: Vec<&str> = games.lines().collect();
    lines[1..].reverse();
    let (there, back) = (room(&games), room(&(lines.join("\n") + "\n")));
    for system in ["elo", "glicko", "trueskill"] {
        let command = format!("rate --pairs games.csv --system {system} --period 10 --json");
        let (ran, turned) = (there.run(&command).ends(0), back.run(&command).ends(0));
        assert!(turned.err.contains("put in order of time"), "{}", turned.err);
        for line in ran.json()["leaderboard"].as_array().unwrap() {
            let other = &turned.json();
            let other = self::line(other, line["item"].as_str().unwrap());
            let difference = line["rating"].as_f64().unwrap() - other["rating"].as_f64().unwrap();
            assert!(difference.abs() < 1e-6, "{system}: {line} {other}");
        }
    }
}

/// Football since 1872, games of the FIDE, crowd judgments of language models, rankings of translations.
#[test]
fn real_games() {
    let Ok(data) = std::env::var("RANKWISE_DATA") else {
        println!("skipped: RANKWISE_DATA is not set");
        return;
    };
    let room = Room::new();
    for (source, path) in [
        ("football", "football_international"),
        ("chess", "chess_fide_test"),
        ("arena", "llmfao/crowd-comparisons.csv"),
        ("wmt", "wmt15/wmt15.collapsed.eng-fre.csv.xz"),
    ] {
        room.run(&format!("convert --from {source} {data}/{path} {source}.csv")).ends(0);
    }
    let rated = |options: &str| {
        let board = room.run(&format!("rate {options} --json")).ends(0).json();
        assert_eq!(board["converged"], true, "{options}");
        assert!(board["gradient"].as_f64().unwrap() < 1e-9, "{options}");
        board
    };
    let first = |board: &Value| board["leaderboard"][0]["item"].clone();
    let football = rated("--pairs football.csv --side");
    assert_eq!(first(&football), "Brazil");
    assert!((120.0..160.0).contains(&football["effects"][0]["value"].as_f64().unwrap()));
    assert_eq!(football["parts"], serde_json::json!([334, 3]));
    let crowd = rated("--pairs arena.csv");
    assert_eq!((first(&crowd), &crowd["ci"]["groups"]), ("GPT 4".into(), &124.into()));
    assert_eq!(rated("--pairs chess.csv --side --C 1")["items"], 24926);
    rated("--pairs wmt.csv --C 1");
    for options in ["football.csv --side", "chess.csv --side"] {
        let found = room.run(&format!("rate --pairs {options} --backtest --json")).ends(0).json();
        let systems = found["systems"].as_array().unwrap();
        let davidson = systems.iter().find(|one| one["system"] == "davidson").unwrap();
        let behind = davidson["behind"].as_f64().unwrap_or(0.0);
        assert!(behind <= 2.0 * davidson["behind_se"].as_f64().unwrap_or(0.0), "{options}: {found}");
        assert_eq!(systems.last().unwrap()["system"], "shares of outcomes");
    }
}
