//! Probabilities and tie bands from the training to the report.

use serde_json::Value;

use crate::browser::check_page;
use crate::room::Room;

/// Ways to probabilities.
const WAYS: [&str; 6] = [
    "--loss logistic",
    "--method davidson",
    "--calibrate",
    "--loss logistic --tie-band pair",
    "--method davidson --tie-band pair",
    "--calibrate --tie-band pair",
];

/// Pairs of two features, judged with a tie region that grows with pair.care; pair.words says nothing.
fn careful_pairs(n: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut text = String::from("left,right,left.x,right.x,left.y,right.y,pair.care,pair.words,outcome\n");
    for k in 0..n {
        let [a, b, c, d] = [0; 4].map(|_| 4.0 * uniform() - 2.0);
        let (care, words) = (uniform(), uniform());
        let (z, tau) = (1.5 * (b - a) - (d - c), 2.5 * care + 0.1);
        let sigmoid = |t: f64| 1.0 / (1.0 + (-t).exp());
        let (right, left, at) = (sigmoid(2.0 * (z - tau)), sigmoid(-2.0 * (z + tau)), uniform());
        let outcome = if at < right {
            "right"
        } else if at < right + left {
            "left"
        } else {
            "tie"
        };
        text += &format!("a{k},b{k},{a:.3},{b:.3},{c:.3},{d:.3},{care:.3},{words:.3},{outcome}\n");
    }
    text
}

fn room() -> Room {
    let room = Room::new();
    room.write("train.csv", &careful_pairs(600, 1));
    room.write("test.csv", &careful_pairs(600, 2));
    room
}

/// The same pairs with their sides exchanged.
fn swapped(text: &str) -> String {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let outcome = match fields[8] {
            "left" => "right",
            "right" => "left",
            other => other,
        };
        let order = [1, 0, 3, 2, 5, 4, 6, 7].map(|at| fields[at]);
        format!("{},{outcome}\n", order.join(","))
    };
    let mut lines = text.lines();
    format!("{}\n{}", lines.next().unwrap(), lines.map(row).collect::<String>())
}

/// The rows of a csv file below its header.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

fn metric(json: &Value, name: &str) -> f64 {
    json["metrics"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {json}"))
}

#[test]
fn every_way_gives_probabilities_that_mirror_and_beat_the_shares() {
    let room = room();
    room.write("swapped.csv", &swapped(&room.read("test.csv")));
    for way in WAYS {
        room.run(&format!("train --pairs train.csv --scale standard {way} -o model -q")).ends(0);
        let out = room.run("predict model --pairs test.csv").ends(0).out;
        let has_band = way.contains("--tie-band");
        let threshold = if has_band { ",threshold" } else { "" };
        assert!(out.starts_with(&format!("left,right,margin,outcome{threshold},p_left,p_tie,p_right\n")), "{out}");
        let mirrored = room.run("predict model --pairs swapped.csv").ends(0).out;
        let (here, there) = (rows(&out), rows(&mirrored));
        assert_eq!((here.len(), there.len()), (600, 600));
        for (a, b) in here.iter().zip(&there) {
            let n = a.len();
            let chances = [n - 3, n - 2, n - 1].map(|at| a[at].parse::<f64>().unwrap());
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{way}: {a:?}");
            assert_eq!([a[n - 3], a[n - 2], a[n - 1]], [b[n - 1], b[n - 2], b[n - 3]], "{way}: to the last digit");
            assert_eq!(a[4..n - 3], b[4..n - 3], "the threshold knows no sides");
            let margin: f64 = a[2].parse().unwrap();
            assert_eq!(margin, -b[2].parse::<f64>().unwrap());
            if has_band {
                let threshold: f64 = a[4].parse().unwrap();
                assert_eq!(a[3] == "tie", margin.abs() <= threshold, "{way}: {a:?}");
            }
            if !way.contains("--calibrate") {
                let largest = chances.iter().fold(0.0, |a: f64, &b| a.max(b));
                let of_outcome = chances[["left", "tie", "right"].iter().position(|o| o == &a[3]).unwrap()];
                assert!(of_outcome >= largest - 1e-12, "the most likely outcome is predicted: {way}: {a:?}");
            }
        }
        let json = room.run("evaluate model --pairs test.csv --json").ends(0).json();
        for name in ["log_loss", "brier"] {
            let (found, constant) = (metric(&json, name), json["baselines"][name].as_f64().unwrap());
            assert!(found < 0.7 * constant, "{way}: {name} {found}, the shares {constant}");
        }
        // log_loss by hand
        let judged = room.read("test.csv");
        let loss = here.iter().zip(rows(&judged)).map(|(a, row)| {
            let at = ["left", "tie", "right"].iter().position(|o| *o == row[8]).unwrap();
            -a[a.len() - 3 + at].parse::<f64>().unwrap().ln()
        });
        let by_hand = loss.sum::<f64>() / 600.0;
        assert!((metric(&json, "log_loss") - by_hand).abs() < 1e-9, "{way}: {by_hand}");
    }
}

#[test]
fn exchanged_sides_train_the_same_model() {
    let room = room();
    room.write("swapped.csv", &swapped(&room.read("train.csv")));
    for way in ["--loss logistic --tie-band pair", "--method davidson", "--calibrate --tie-band pair"] {
        for name in ["train", "swapped"] {
            room.run(&format!("train --pairs {name}.csv {way} -o {name}.model -q")).ends(0);
        }
        assert!(room.bytes("train.model") == room.bytes("swapped.model"), "{way}");
    }
}

#[test]
fn a_tie_band_sees_what_the_pair_columns_say() {
    let room = room();
    let evaluated = |options: &str| {
        room.run(&format!("train --pairs train.csv --scale standard {options} -o model -q")).ends(0);
        room.run("evaluate model --pairs test.csv --json").ends(0).json()
    };
    for (constant, band) in [
        ("", "--tie-band pair"),
        ("--loss logistic", "--loss logistic --tie-band pair"),
        ("--method davidson", "--method davidson --tie-band pair"),
    ] {
        let [constant, band] = [constant, band].map(evaluated);
        let gain = metric(&constant, "zero_one") - metric(&band, "zero_one");
        assert!(gain > 0.03, "{gain}");
        assert!(metric(&band, "auc") > metric(&constant, "auc") + 0.03);
        assert_eq!((&constant["has_tie_band"], &band["has_tie_band"]), (&false.into(), &true.into()));
        if let Some(loss) = constant["metrics"]["log_loss"].as_f64() {
            assert!(metric(&band, "log_loss") < loss - 0.05);
        }
    }
    // What says nothing weighs little.
    let json = room.run("inspect model --json").ends(0).json();
    let weights = json["band"]["weights"].as_array().unwrap();
    assert_eq!(weights[0]["of"], "pair.care");
    let of = |name: &str| weights.iter().find(|w| w["of"] == name).unwrap()["weight"].as_f64().unwrap();
    assert!(of("pair.care") > 5.0 * of("pair.words").abs());
    assert_eq!(json["band"]["n_weights"], 6);
    for name in ["mean of x", "difference of y"] {
        of(name);
    }
    let text = room.run("inspect model").ends(0).out;
    for words in ["--tie-band pair", "tie band, 6 of 6 weights", "pair.care", "Davidson", "one for every pair"] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    // A pair file without the columns cannot be judged.
    let without: String = room.read("test.csv").replace("pair.care", "pair.other");
    room.write("without.csv", &without);
    room.run("predict model --pairs without.csv").fails(1, &["pair.care", "columns the model was trained on"]);
}

#[test]
fn json_says_what_was_learnt() {
    let room = room();
    let train = |way: &str| room.run(&format!("train --pairs train.csv {way} -o model --json")).ends(0).json();
    let json = train("--loss logistic");
    assert_eq!((&json["tie_band"], &json["probabilities"]["rule"]), (&"constant".into(), &"rao-kupper".into()));
    assert_eq!(json["tie_parameter"], json["probabilities"]["tau"]);
    let tau = json["tie_parameter"].as_f64().unwrap();
    // e^m = e^τ − 2e^(−τ)
    let threshold = (tau.exp() - 2.0 * (-tau).exp()).ln();
    assert!((json["threshold"].as_f64().unwrap() - threshold).abs() < 1e-9);
    let json = train("--method davidson");
    assert_eq!((&json["method"], &json["probabilities"]["rule"]), (&"davidson".into(), &"davidson".into()));
    let nu = json["tie_parameter"].as_f64().unwrap();
    assert!((json["threshold"].as_f64().unwrap() - 2.0 * nu.ln().max(0.0)).abs() < 1e-9);
    let json = train("--calibrate");
    assert_eq!(json["probabilities"]["rule"], "calibrated");
    assert!(json["tie_parameter"].is_null() && json["probabilities"]["slope"].as_f64().unwrap() > 0.0);
    let json = train("");
    assert!(json["probabilities"].is_null() && json["tie_parameter"].is_null());
    assert!(json["warnings"][0].as_str().unwrap().contains("--tie-band pair"), "{json}");
    let json = train("--tie-band pair --loss logistic --kernel rbf");
    assert!(json["landmarks"].as_u64().unwrap() > 0 && json["tie_band"] == "pair" && json["tie_parameter"].is_null());
    let first = &room.run("predict model --pairs test.csv --json").ends(0).json()["predictions"][0];
    for key in ["left", "right", "margin", "outcome", "threshold", "p_left", "p_tie", "p_right"] {
        assert!(!first[key].is_null(), "no {key} in {first}");
    }
}

#[test]
fn metrics_of_probabilities_need_probabilities() {
    let room = room();
    room.run("train --pairs train.csv -o plain -q").ends(0);
    let ran = room.run("evaluate plain --pairs test.csv --metric log_loss,zero_one --json").ends(0);
    assert!(ran.json()["metrics"]["log_loss"].is_null() && ran.json()["metrics"]["zero_one"].is_number());
    assert!(ran.err.contains("log_loss is not defined: the model has no probabilities; train with --calibrate"));
    let ran = room.run("evaluate plain --pairs test.csv").ends(0);
    assert!(!ran.out.contains("log_loss") && ran.err.is_empty(), "{}{}", ran.out, ran.err);

    room.run("train --pairs train.csv --calibrate -o model -q").ends(0);
    let out = room.run("evaluate model --pairs test.csv").ends(0).out;
    assert!(out.contains("log_loss") && out.contains("(the shares of the outcomes alone: "), "{out}");
    let json = room.run("evaluate model --pairs test.csv --metric brier --ci --json").ends(0).json();
    let (low, high) = (&json["intervals"]["brier"]["low"], &json["intervals"]["brier"]["high"]);
    let value = metric(&json, "brier");
    assert!(low.as_f64().unwrap() < value && value < high.as_f64().unwrap(), "{json}");
    // Calibration changes nothing else.
    let [plain, calibrated] = ["plain", "model"].map(|model| {
        let json = room.run(&format!("evaluate {model} --pairs test.csv --json")).ends(0).json();
        (json["metrics"]["zero_one"].clone(), json["metrics"]["auc"].clone(), json["threshold"].clone())
    });
    assert_eq!(plain, calibrated);
}

#[test]
fn options_that_contradict_probabilities() {
    let room = room();
    for (options, first) in [
        ("--loss hinge --tie-band pair", "--tie-band pair"),
        ("--loss logistic --threshold refit", "--threshold"),
        ("--loss logistic --threshold model", "--threshold"),
        ("--loss logistic --calibrate", "--calibrate"),
        ("--loss logistic --tie-region always", "--tie-region always"),
        ("--loss logistic --balance outcomes", "--balance outcomes"),
        ("--method davidson --loss logistic", "--loss"),
        ("--method davidson --threshold refit", "--threshold"),
        ("--method davidson --calibrate", "--calibrate"),
        ("--method davidson --tie-region always", "--tie-region"),
        ("--method davidson --tie-weight 2", "--tie-weight"),
        ("--method davidson --balance outcomes", "--balance"),
        ("--method rank --tie-band pair", "--tie-band"),
        ("--method rank2 --tie-band constant", "--tie-band"),
    ] {
        let words = [first, "does not apply", "leave it out"];
        room.run(&format!("train --pairs train.csv {options} -o m")).fails(2, &words);
        room.run(&format!("tune --pairs train.csv {options} -o m")).fails(2, &words);
    }
    room.write("items.csv", "label,x\n1,2\n2,3\n");
    for option in ["--tie-band pair", "--calibrate"] {
        room.run(&format!("train items.csv {option} -o m")).fails(2, &["does not apply to items"]);
    }
    room.run("train items.csv --method davidson -o m").fails(2, &["davidson", "pairs"]);
    let metric = "tune --pairs train.csv --metric log_loss -o m";
    room.run(metric).fails(2, &["log_loss", "needs probabilities", "--calibrate", "davidson"]);
    room.run(&format!("{metric} --grid loss=squared-hinge,logistic")).fails(2, &["--loss squared-hinge"]);
    room.run("tune --pairs train.csv --method davidson --grid loss=hinge -o m").fails(2, &["--grid loss"]);
    assert_eq!(room.names(), ["items.csv", "test.csv", "train.csv"]);
}

#[test]
fn searches_choose_by_probabilities() {
    let room = room();
    let tune = "tune --pairs train.csv --scale standard --valid test.csv --grid C=0.01,1 -o model --json";
    let evaluated = |metric: &str| {
        let json = room.run(&format!("evaluate model --pairs test.csv --metric {metric} --json")).ends(0).json();
        json["metrics"][metric].as_f64().unwrap()
    };
    for (options, metric, n_points) in [
        ("--method davidson --tie-band pair", "log_loss", 2),
        ("--loss logistic", "brier", 2),
        ("--calibrate --grid loss=squared-hinge,logistic", "log_loss", 4),
        ("--calibrate --tie-band pair", "brier", 2),
        ("--tie-band pair --grid loss=squared-hinge,logistic", "zero_one", 4),
        ("--calibrate --method rank", "pair_accuracy", 2),
    ] {
        let json = room.run(&format!("{tune} {options} --metric {metric}")).ends(0).json();
        let points = json["points"].as_array().unwrap();
        assert_eq!(points.len(), n_points, "{options}: {json}");
        let best = json["best"]["mean"].as_f64().unwrap();
        assert!((best - evaluated(metric)).abs() <= 1e-12, "{options}: what the table says is what evaluate finds");
        let baseline = json["baseline"].as_f64().unwrap();
        assert!(if metric == "pair_accuracy" { best > baseline } else { best < baseline }, "{options}: {json}");
        if options.contains("davidson") {
            assert!(points.iter().all(|point| point["params"]["loss"] == "logistic"), "{json}");
        }
        if options.contains("--calibrate") && metric != "log_loss" {
            assert_eq!(json["probabilities"]["rule"], "calibrated", "the model has them whatever was measured");
        }
    }
    let out = room.run("tune --pairs train.csv --loss logistic --metric log_loss --folds 3 -o model").ends(0).out;
    assert!(out.contains("the shares of the outcomes alone would get"), "{out}");
    room.write("without.csv", &room.read("test.csv").replace("pair.care", "pair.other"));
    room.run("tune --pairs train.csv --tie-band pair --valid without.csv -o other")
        .fails(1, &["validation pairs", "pair.care"]);
}

#[test]
fn a_report_shows_whether_they_come_true() {
    let room = room();
    room.run("train --pairs train.csv --scale standard --loss logistic --tie-band pair -o model -q").ends(0);
    let json = room.run("report model --pairs test.csv -o report.html --svg pictures --json").ends(0).json();
    for kind in ["ties", "sides"] {
        let error = json["calibration_error"][kind].as_f64().unwrap();
        assert!(error < 0.1, "{kind}: {error}");
    }
    let html = room.read("report.html");
    for words in [
        "<h2>Probabilities</h2>",
        "expected calibration error",
        "log-loss of the probabilities (log_loss)",
        "the shares of the outcomes alone: ",
        "<h2>Tie band</h2>",
        "pair.care",
        "difference of x",
        "every pair has a threshold of its own",
        "as trained",
        "probability of what was judged",
        "τ is the mean threshold: every pair has its own.",
    ] {
        assert!(html.contains(words), "no {words:?}");
    }
    for name in ["reliability-ties", "reliability-sides", "thresholds", "band-weights"] {
        assert!(room.read(&format!("pictures/{name}.svg")).contains("<title"), "{name}");
    }
    // Right and wrong in the picture of margins are those of the table.
    let evaluation = room.run("evaluate model --pairs test.csv --json").ends(0).json();
    let cell = |at: usize, to: usize| evaluation["metrics"]["confusion"][at][to].as_f64().unwrap();
    let share = 100.0 * cell(1, 1) / (cell(1, 0) + cell(1, 1) + cell(1, 2));
    let said = format!("{share:.1} % of those judged tie");
    assert!(room.read("pictures/margins.svg").contains(&said), "no {said:?}");
    check_page("a_report_shows_whether_they_come_true", &room.path("report.html"), 9);
    // Without them there is nothing to show.
    room.run("train --pairs train.csv -o plain -q").ends(0);
    room.run("report plain --pairs test.csv -o plain.html").ends(0);
    let html = room.read("plain.html");
    assert!(
        !html.contains("<h2>Probabilities</h2>") && !html.contains("<h2>Tie band</h2>") && !html.contains("log_loss")
    );
}
