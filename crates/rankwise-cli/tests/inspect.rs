//! `inspect`: what a model file holds.

use crate::room::Room;

#[test]
fn kernel_models_show_their_support() {
    let room = Room::with_model();
    let out = room.run("inspect model --top 3").ends(0).out;
    for words in [
        "compare",
        "squared-hinge",
        "rbf, γ 0.25",
        "objective",
        "gap",
        "converged",
        "threshold",
        "machine's own",
        "C elsewhere",
        "dlib",
        "support items, 3 of ",
        "coefficient",
    ] {
        assert!(out.contains(words), "no {words:?} in\n{out}");
    }
    let json = room.run("inspect model --top 3 --json").ends(0).json();
    let coefficients = json["coefficients"].as_array().unwrap();
    assert_eq!(coefficients.len(), 3);
    let size = |at: usize| coefficients[at]["coefficient"].as_f64().unwrap().abs();
    assert!(size(0) >= size(1) && size(1) >= size(2));
    assert_eq!(coefficients[0]["features"].as_array().unwrap().len(), 2);
    assert!(json.get("weights").is_none());
    assert_eq!(json["feature_names"], serde_json::json!(["x1", "x2"]));
}

#[test]
fn linear_models_show_weights_by_name() {
    let room = Room::with_leaderboard();
    let json = room.run("inspect board --json").ends(0).json();
    let weights = json["weights"].as_array().unwrap();
    assert_eq!(weights.len(), 4);
    assert_eq!(json["features_are_items"], true);
    let best = weights.iter().max_by(|a, b| a["weight"].as_f64().unwrap().total_cmp(&b["weight"].as_f64().unwrap()));
    assert_eq!(best.unwrap()["feature"], "ann");
    let out = room.run("inspect board --top 2").ends(0).out;
    assert!(out.contains("weights, 2 of 4"), "{out}");
}

#[test]
fn c_in_other_conventions() {
    let room = Room::with_pairs();
    let conventions = |options: &str| {
        room.run(&format!("train --pairs train.csv --C 0.5 {options} -o m")).ends(0);
        let json = room.run("inspect m --json").ends(0).json();
        ["lambda_of_sum", "lambda_of_mean", "dlib_C"].map(|key| json["conventions"][key].as_f64().unwrap())
    };
    assert_eq!(conventions(""), [2.0, 1.0 / 60.0, 60.0]);
    assert_eq!(conventions("--method rank"), [2.0, 1.0 / 30.0, 30.0]);
    assert_eq!(conventions("--method rank2"), [2.0, 1.0 / 120.0, 120.0]);
}

#[test]
fn scaled_features_are_said_to_be_scaled() {
    let room = Room::with_pairs();
    room.run("train --pairs train.csv --scale standard -o m").ends(0);
    assert!(room.run("inspect m").ends(0).out.contains("of scaled features"));
    assert_eq!(room.run("inspect m --json").ends(0).json()["is_scaled"], true);
}

#[test]
fn a_model_tells_the_same_as_its_training() {
    let room = Room::with_pairs();
    let trained = room.run("train --pairs train.csv --kernel rbf --C 3 -o m --json").ends(0).json();
    let inspected = room.run("inspect m --json").ends(0).json();
    for key in ["method", "C", "gamma", "objective", "gap", "iterations", "threshold", "beta", "tie_share", "warnings"]
    {
        assert_eq!(trained[key], inspected[key], "{key}");
    }
}

#[test]
fn escapes_in_names_and_warnings_do_not_reach_a_terminal() {
    let room = Room::new();
    let mut items = "id,qid,label,\u{1b}]0;title\u{7}red,\u{202e}blue\n".to_string();
    (0..12).for_each(|k| items += &format!("i{k},q,{},{k},{}\n", k % 3, k * k % 5));
    room.write("items.csv", &items);
    room.run("train items.csv --scale standard -o m").ends(0);
    room.write("other.csv", &items.replace("red", "green"));
    let shown = room.run("inspect m").ends(0).out;
    assert!(shown.contains("␛]0;title␇red") && shown.contains("\\u{202e}blue"), "{shown}");
    let refused = room.run("predict m other.csv").ends(1).err;
    assert!(refused.contains("]0;title"), "{refused}");
    // Models of others may say anything: in warnings, too.
    let bytes = room.bytes("m");
    let mut model = rankwise::io::model_from_bytes(&room.path("m"), &bytes).unwrap();
    model.training.warnings = vec!["\u{1b}[2Jnothing to see\nerror: \u{9b}31m".into()];
    std::fs::write(room.path("hostile"), rankwise::io::model_to_bytes(&model).unwrap()).unwrap();
    let ran = room.run("inspect hostile -v").ends(0);
    for text in [&shown, &refused, &ran.out, &ran.err] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{text:?}");
    }
    assert!(ran.out.contains("␛[2Jnothing to see␊error: \\u{9b}31m") && ran.err.contains("see␊error"), "{}", ran.out);
}

/// They were called #1, #2 and so on.
#[test]
fn support_items_have_the_ids_of_the_data() {
    let room = Room::new();
    let mut items = "id,qid,label,x,y\n".to_string();
    (0..12).for_each(|k| items += &format!("wine {k},{},{},{k},{}\n", k % 2, k % 3, k * k % 5));
    room.write("items.csv", &items);
    for method in ["rank", "ordinal", "classify", "rvm"] {
        room.run(&format!("train items.csv --method {method} --kernel rbf -o m")).ends(0);
        if method == "classify" {
            continue; // several machines, of which no single item is told
        }
        let shown = room.run("inspect m").ends(0).out;
        assert!(shown.contains("wine ") && !shown.contains(" #"), "{shown}");
        let json = room.run("inspect m --json").ends(0).json();
        let names: Vec<&str> =
            json["coefficients"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
        assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("wine ")), "{names:?}");
        room.run("report m items.csv -o report.html").ends(0);
        assert!(room.read("report.html").contains(">wine "), "{method}");
        // Models of 0.1 have kept no names: they are those of equal items.
        let mut model = rankwise::io::read_model(&room.path("m")).unwrap();
        model.training.support_names = None;
        rankwise::io::write_model(&room.path("old"), &model).unwrap();
        room.run("report old items.csv -o report.html").ends(0);
        assert!(room.read("report.html").contains(">wine "), "{method}");
    }
    room.run("tune items.csv --kernel rbf --grid C=0.1,1 --folds 2 -o m").ends(0);
    assert!(room.run("inspect m").ends(0).out.contains("wine "));
}
