//! `tune` for classes and values: the table, the JSON object, the csv, the page, and what does not go together.

use rankwise::data::Random;
use serde_json::{Value, json};

use crate::room::Room;

/// Three kinds of flowers in gardens, told apart by two numbers, and how long each lasts.
fn room() -> Room {
    let room = Room::new();
    let mut random = Random::new(5);
    let [mut flowers, mut later, mut days] = ["label,qid,a,b\n", "label,a,b\n", "label,a,b\n"].map(String::from);
    for k in 0..150 {
        let kind = k % 3;
        let a = [0.0, 2.0, 1.0][kind] + 0.8 * random.normal();
        let b = [0.0, 0.0, 2.0][kind] + 0.8 * random.normal();
        let name = ["rose", "lily", "oak"][kind];
        match k < 90 {
            true => flowers += &format!("{name},garden-{},{a},{b}\n", k / 6),
            false => later += &format!("{name},{a},{b}\n"),
        }
        if k < 80 {
            days += &format!("{},{a},{b}\n", 100.0 + 30.0 * a - 10.0 * b * b + 4.0 * random.normal());
        }
    }
    room.write("flowers.csv", &flowers);
    room.write("later.csv", &later);
    room.write("days.csv", &days);
    room
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_story_of_classes() {
    let room = room();
    let words = "tune flowers.csv --method classify --grid kernel=linear,rbf --grid C=0.1,1,10 --grid gamma=scale,0.5 \
                 --grid loss=hinge,squared-hinge --folds 3 --scale standard -o m --table t.csv";
    let json = room.run(&format!("{words} --json")).ends(0).json();
    let points = json["points"].as_array().unwrap();
    assert_eq!((points.len(), points[0]["folds"].as_array().unwrap().len()), (18, 3));
    assert_eq!((&json["metric"], &json["greater_is_better"]), (&json!("zero_one"), &json!(false)));
    assert_eq!((&json["split"], &json["method"]), (&json!({ "kind": "folds", "folds": 3 }), &json!("classify")));
    let best = &json["best"];
    assert!(points.contains(best) && number(&best["mean"]) < 0.4);
    assert!(points.iter().all(|point| number(&point["mean"]) >= number(&best["mean"])));
    // Three kinds of equal size; a fold may have a little more of one.
    assert!((0.55..0.67).contains(&number(&json["baseline"])), "{}", json["baseline"]);
    assert!(json["error"].is_number() && json["majority_error"].is_number());
    assert_eq!((&json["C"], &json["loss"]), (&best["params"]["C"], &best["params"]["loss"]));

    // The model is that of train with the chosen parameters.
    let params = &best["params"];
    let mut train = format!(
        "train flowers.csv --method classify --scale standard --C {} --loss {} --kernel {} -o alone",
        params["C"],
        params["loss"].as_str().unwrap(),
        params["kernel"].as_str().unwrap()
    );
    if let Some(gamma) = params.get("gamma") {
        train += &format!(" --gamma {}", gamma.as_str().map_or_else(|| gamma.to_string(), String::from));
    }
    room.run(&train).ends(0);
    let said = |model: &str| room.run(&format!("predict {model} later.csv --format csv")).ends(0).out;
    assert_eq!(said("m"), said("alone"));

    let table = room.read("t.csv");
    assert_eq!(table.lines().next(), Some("loss,kernel,gamma,degree,coef0,C,mean,fold_1,fold_2,fold_3"));
    assert_eq!(table.lines().count(), 19);
    let text = room.run(words).ends(0).out;
    assert!(text.contains("always the most frequent class would get") && text.contains("over folds"), "{text}");
    assert!(room.run("inspect m").ends(0).out.contains("chosen from 18 points by zero_one on 3 folds"));
    let seen = room.run("inspect m --json").ends(0).json();
    assert_eq!(seen["tuning"]["points"], json["points"]);
    room.run("report m later.csv -o r.html --svg svg").ends(0);
    let page = room.read("r.html");
    let section = page.split("<h2>How it was chosen</h2>").nth(1).unwrap().split("<h2>").next().unwrap();
    assert!(section.contains("18 points") && section.contains("always the most frequent class would get"), "{section}");
    assert!(room.path("svg/tuning.svg").exists());
}

#[test]
fn a_story_of_values() {
    let room = room();
    let words = "tune days.csv --method regress --kernel rbf --grid C=10:1000:3 --grid gamma=0.1,0.5 --grid epsilon=1,5 \
                 --folds 4 --metric mae -o m --table t.csv";
    let json = room.run(&format!("{words} --json")).ends(0).json();
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), 12);
    let tubes: Vec<f64> = points.iter().map(|point| number(&point["params"]["epsilon"])).collect();
    assert_eq!(tubes[..7], [1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 1.0]);
    assert_eq!((&json["epsilon"], &json["metric"]), (&json["best"]["params"]["epsilon"], &json!("mae")));
    assert!(number(&json["best"]["mean"]) < 0.5 * number(&json["baseline"]), "{json}");
    assert!(json["mae"].is_number() && json["mean_mae"].is_number());
    assert!(room.read("t.csv").starts_with("loss,kernel,gamma,degree,coef0,epsilon,C,mean,fold_1,"));
    let text = room.run(words).ends(0).out;
    assert!(text.contains("epsilon") && text.contains("always the mean label would get"), "{text}");
    room.run("report m days.csv -o r.html --svg svg").ends(0);
    let page = room.read("r.html");
    assert!(page.contains("How it was chosen") && page.contains("rbf, ε 5"), "a picture for each tube");
    // By themselves: seven values of C in the unit of the labels, five widths of rbf.
    let usual = room.run("tune days.csv --method regress --kernel rbf --folds 2 --json -o m").ends(0).json();
    let points = usual["points"].as_array().unwrap();
    assert_eq!((points.len(), &points[0]["params"]["C"], &usual["metric"]), (35, &json!(0.1), &json!("rmse")));
}

#[test]
fn a_validation_file_is_measured_as_evaluate_does() {
    let room = room();
    let words =
        "tune flowers.csv --method classify --valid later.csv --grid C=0.1,10 --kernel rbf --tol 1e-7 --json -o m";
    let json = room.run(words).ends(0).json();
    assert_eq!(json["split"], json!({ "kind": "validation_items", "items": 60, "groups": 0 }));
    let found = room.run("evaluate m later.csv --json").ends(0).json();
    assert_eq!(found["metrics"]["zero_one"], json["best"]["mean"]);
    assert_eq!(found["baselines"]["zero_one"], json["baseline"]);
    let with_chances = "tune flowers.csv --method classify --valid later.csv --grid C=0.1,10 --probabilities --tol 1e-7 \
                        --metric log_loss -o m";
    let json = room.run(&format!("{with_chances} --json")).ends(0).json();
    let found = room.run("evaluate m later.csv --metric log_loss --json").ends(0).json();
    let apart = number(&found["metrics"]["log_loss"]) - number(&json["best"]["mean"]);
    assert!(apart.abs() < 1e-3, "{apart}");
    assert!(room.run(with_chances).ends(0).out.contains("the shares of the classes alone would get"));
}

#[test]
fn landmarks_may_stand_for_the_kernel() {
    let room = room();
    let words = "tune days.csv --method regress --kernel rbf --approx nystrom:20 --grid C=10,100 --grid gamma=0.1,0.5";
    let json = room.run(&format!("{words} --folds 3 --json -o m")).ends(0).json();
    assert!(number(&json["best"]["mean"]) < 0.5 * number(&json["baseline"]), "{json}");
    assert!(number(&json["support"]) <= 20.0);
    room.run("tune days.csv --method regress --approx nystrom:20 -o m").fails(2, &["--approx does not apply", "rbf"]);
}

#[test]
fn threads_do_not_matter() {
    let room = room();
    for threads in [1, 2] {
        let run = |words: &str| room.run(&format!("tune {words} --threads {threads}")).ends(0);
        run(&format!("flowers.csv --method classify --kernel rbf -o c{threads}"));
        run(&format!("days.csv --method regress --grid C=10,100 --grid epsilon=1,2 -o r{threads}"));
    }
    assert_eq!(room.bytes("c1"), room.bytes("c2"));
    assert_eq!(room.bytes("r1"), room.bytes("r2"));
}

#[test]
fn what_does_not_apply_is_refused() {
    let room = room();
    let before = room.names();
    for (typed, words) in [
        ("flowers.csv --method classify --grid epsilon=1", ["--grid epsilon does not apply", "--method regress"]),
        ("flowers.csv --method classify --epsilon 1", ["--epsilon does not apply", "--method regress"]),
        ("flowers.csv --method classify --loss logistic", ["loss = logistic", "hinge"]),
        ("flowers.csv --method classify --grid loss=epsilon", ["loss = epsilon", "squared-hinge"]),
        ("flowers.csv --method classify --metric rmse", ["--metric rmse", "zero_one, accuracy, mae"]),
        ("flowers.csv --method classify --metric log_loss", ["needs probabilities", "--probabilities"]),
        ("flowers.csv --method classify --balance groups", ["--balance does not apply", "--method rank"]),
        ("flowers.csv --method classify --calibrate", ["--calibrate does not apply", "--probabilities"]),
        ("flowers.csv --method classify --tie-weight 2", ["--tie-weight does not apply", "--pairs"]),
        ("flowers.csv --method classify --pairs p.csv", ["--pairs does not apply", "--method rank"]),
        ("flowers.csv --method classify --gamma 1", ["--gamma does not apply", "rbf"]),
        ("flowers.csv --method classify --grid gamma=1", ["--grid gamma does not apply", "rbf"]),
        ("flowers.csv --method classify --C inf", ["C = inf", "finite"]),
        ("flowers.csv --method classify --folds 1", ["folds = 1", "at least 2"]),
        ("--pairs p.csv --method classify", ["learns from items with labels", "tune DATA"]),
        ("days.csv --method regress --classes ovr", ["--classes does not apply", "--method classify"]),
        ("days.csv --method regress --probabilities", ["--probabilities does not apply", "--method classify"]),
        ("days.csv --method regress --metric zero_one", ["--metric zero_one", "mae, rmse, r2"]),
        ("days.csv --method regress --grid loss=hinge", ["loss = hinge", "epsilon"]),
        ("days.csv --method regress --epsilon 1 --grid epsilon=1,2", ["--epsilon and --grid epsilon=", "contradict"]),
        ("days.csv --method regress --grid epsilon=-1", ["epsilon = -1", "at least 0"]),
        ("days.csv --epsilon 1", ["--epsilon does not apply to the method that was chosen", "--method regress"]),
        ("days.csv --grid epsilon=1", ["--grid epsilon does not apply", "--method regress"]),
        ("days.csv --grid loss=epsilon", ["--grid loss=epsilon does not apply", "--method regress"]),
        ("--pairs p.csv --classes ovo", ["--classes does not apply", "--method classify"]),
    ] {
        room.run(&format!("tune {typed} -o m")).fails(2, &words);
    }
    room.run("tune flowers.csv --method classify --folds 16 -o m").fails(1, &["only 15 groups", "at most 15 folds"]);
    room.run("tune days.csv --method regress --time-limit 0 -o m").fails(1, &["time limit of 0 s"]);
    room.write("one.csv", "label,a\nyes,1\nyes,2\nyes,3\nno,4\n");
    room.run("tune one.csv --method classify --folds 2 -o m").fails(1, &["the class yes alone", "fold 1 of 2"]);
    assert_eq!(room.names().len(), before.len() + 1);
}
