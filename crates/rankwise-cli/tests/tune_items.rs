//! `tune` on a file of items: the same point and values as the library in a loop, the table, the JSON object, the csv.

use rankwise::RankSvm;
use rankwise::data::{Precision, Random, Ranking, group_folds};
use rankwise::io::{Columns, Source, read_model, read_ranking};
use rankwise::metrics::{ItemMetric, Ranked};
use serde_json::{Value, json};

use crate::room::Room;

/// Items in the format of LETOR: 12 queries of 8 documents each, labels from 0 to 2.
fn letor(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for query in 1..=12 {
        for document in 0..8 {
            let x: Vec<f64> = (0..3).map(|_| random.normal()).collect();
            let label = (1.0 + x[0] - 0.5 * x[1] + 0.5 * random.normal()).clamp(0.0, 2.0).round();
            text += &format!("{label} qid:{query} 1:{} 2:{} 3:{} # {query}-{document}\n", x[0], x[1], x[2]);
        }
    }
    text
}

fn room() -> Room {
    let room = Room::new();
    room.write("train.letor", &letor(1));
    room.write("vali.letor", &letor(2));
    room
}

fn read(room: &Room, name: &str) -> Ranking {
    let source = Source::parse(room.path(name).to_str().unwrap(), None).unwrap();
    read_ranking(&source, &Columns::default(), Precision::Auto).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// A metric on `held` of the machine that `params` name, learnt from `train`.
fn by_hand(train: &Ranking, held: &Ranking, params: &Value, metric: &str) -> f64 {
    let loss = serde_json::from_value(params["loss"].clone()).unwrap();
    let model = RankSvm::new().c(number(&params["C"])).loss(loss).tol(1e-10).fit(train).unwrap().model;
    let scores = model.scorer.scores(&held.items).unwrap();
    let ranked = Ranked::new(&held.labels, &scores, &held.groups).unwrap();
    ItemMetric::parse(metric).unwrap().of(&ranked).unwrap().value.unwrap()
}

#[test]
fn a_story_of_folds() {
    let room = room();
    let words = "tune train.letor --grid C=0.001:1:4 --grid loss=squared-hinge,logistic --folds 4 --metric ndcg@5 \
                 --tol 1e-10 --seed 3 -o m --table t.csv";
    let ran = room.run(&format!("{words} --json")).ends(0);
    let json = ran.json();
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), 8);
    assert_eq!((&json["metric"], &json["greater_is_better"]), (&json!("ndcg@5"), &json!(true)));
    assert_eq!((&json["split"], &json["C"]), (&json!({ "kind": "folds", "folds": 4 }), &json["best"]["params"]["C"]));
    assert!(points.contains(&json["best"]));
    assert!(number(&json["baseline"]) < number(&json["best"]["mean"]));
    assert!(number(&json["pair_accuracy"]) > 0.5 && json.get("error").is_none());

    let data = read(&room, "train.letor");
    let folds = group_folds(&data, 4, 3 ^ u64::from_be_bytes(*b"TuneFold"));
    for point in points {
        for (fold, found) in point["folds"].as_array().unwrap().iter().enumerate() {
            let part = |is_held: bool| {
                let fold_of = |item: usize| folds[data.groups.numbers()[item] as usize] as usize;
                let kept: Vec<usize> = (0..data.n_items()).filter(|&i| (fold_of(i) == fold) == is_held).collect();
                data.select(&kept)
            };
            let value = by_hand(&part(false), &part(true), &point["params"], "ndcg@5");
            assert!((value - number(found)).abs() < 1e-6, "{point}: {value}");
        }
    }

    let table = room.read("t.csv");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("loss,kernel,gamma,degree,coef0,C,mean,fold_1,fold_2,fold_3,fold_4"));
    assert!(lines.next().unwrap().starts_with("squared-hinge,linear,,,,0.001,0."));
    assert_eq!(lines.count(), 7);

    // What the model keeps is what was said.
    let kept = room.run("inspect m --json").ends(0).json();
    for key in ["points", "best", "baseline", "split", "metric"] {
        assert_eq!(kept["tuning"][key], json[key], "{key}");
    }
    assert!(room.run("inspect m").ends(0).out.contains("chosen from 8 points by ndcg@5 on 4 folds"));
    let text = room.run(words).ends(0).out;
    assert!(text.contains("on 4 folds; a random order would get "), "{text}");
    assert!(text.contains("ndcg@5") && text.contains("over folds") && text.contains('*'), "{text}");
}

#[test]
fn validation_items_and_the_same_model_as_the_library() {
    let room = room();
    let words = "tune train.letor --valid vali.letor --metric map:letor --balance groups --scale standard -o m --json";
    let json = room.run(words).ends(0).json();
    assert_eq!(json["points"].as_array().unwrap().len(), 7);
    assert_eq!(json["split"], json!({ "kind": "validation_items", "items": 96, "groups": 12 }));
    let model = read_model(&room.path("m")).unwrap();
    let (train, valid) = (read(&room, "train.letor"), read(&room, "vali.letor"));
    let svm = RankSvm::new().balance(rankwise::model::Balance::Groups).scale(rankwise::data::Scale::Standard);
    let alone = svm.c(number(&json["best"]["params"]["C"])).fit(&train).unwrap().model;
    assert_eq!(model.scorer.scores(&valid.items).unwrap(), alone.scorer.scores(&valid.items).unwrap());
    // A file ends with the last feature that is not 0.
    room.write("narrow.letor", "1 qid:1 1:1\n0 qid:1 1:-1 2:0.5\n");
    let narrow = room.run("tune train.letor --valid narrow.letor -o n --json").ends(0).json();
    assert_eq!((&narrow["best"]["mean"], &narrow["split"]["items"]), (&json!(1.0), &json!(2)));
    let text = room.run("tune train.letor --valid vali.letor -o m").ends(0).out;
    assert!(text.contains("pair_accuracy") && text.contains("96 validation items in 12 groups"), "{text}");
    assert!(room.run("inspect m").ends(0).out.contains("by pair_accuracy on 96 validation items in 12 groups"));
}

#[test]
fn tables_and_standard_input_are_items_too() {
    let room = room();
    let mut csv = String::from("query,grade,a,b\n");
    for item in 0..40 {
        csv += &format!("q{},{},{},{}\n", item % 5, item * 7 % 4, item * 7 % 4, item * 5 % 11);
    }
    room.write("items.csv", &csv);
    let columns = "--group query --label grade --folds 2 --json";
    let json = room.run(&format!("tune items.csv -o m {columns}")).ends(0).json();
    assert_eq!(json["best"]["mean"], 1.0);
    let piped = room.run_with_input(&format!("tune - --format csv -o n {columns}"), &csv).ends(0).json();
    assert_eq!(piped["points"], json["points"]);
    assert_eq!(room.bytes("m"), room.bytes("n"));
}

#[test]
fn threads_do_not_matter() {
    let room = room();
    for threads in [1, 2] {
        room.run(&format!("tune train.letor --grid loss=hinge,squared-hinge -o m{threads} --threads {threads}"))
            .ends(0);
    }
    assert_eq!(room.bytes("m1"), room.bytes("m2"));
}

#[test]
fn kernels_are_chosen_too() {
    let room = room();
    let json = room.run("tune train.letor --kernel rbf --folds 3 --json -o m --table t.csv").ends(0).json();
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), 35); // five widths, seven C
    let best = &json["best"]["params"];
    assert_eq!((&json["kernel"], &json["gamma"], &json["C"]), (&json!("rbf"), &best["gamma"], &best["C"]));
    assert_eq!(room.read("t.csv").lines().count(), 36);
    room.run("report m vali.letor -o report.html").ends(0);

    let words = "tune train.letor --grid kernel=linear,poly --grid C=0.01,0.1 --grid degree=2,3 --coef0 1 --folds 3 \
                 --scale standard --json -o m";
    let json = room.run(words).ends(0).json();
    let kernels: Vec<&str> =
        json["points"].as_array().unwrap().iter().map(|point| point["params"]["kernel"].as_str().unwrap()).collect();
    assert_eq!(kernels, ["linear", "linear", "poly", "poly", "poly", "poly"]);

    let few =
        room.run("tune train.letor --kernel rbf --approx nystrom:9 --valid vali.letor --json -o m").ends(0).json();
    assert_eq!((&few["approx"], &few["support"]), (&json!("nystrom:9"), &json!(9)));
    // What is not a kernel is told.
    let sigmoid = "tune train.letor --kernel sigmoid --gamma 1 --coef0 -2 -o m2";
    room.run(sigmoid).fails(2, &["not positive definite"]);
    assert!(!room.path("m2").exists());
}

#[test]
fn what_is_for_pairs_is_refused() {
    let room = room();
    let before = room.names();
    for (options, reason) in [
        ("--grid gamma=1,2", "--grid gamma does not apply to the kernel linear"),
        ("--grid degree=2", "--grid degree does not apply"),
        ("--kernel rbf --grid gamma=0", "gamma = 0"),
        ("--approx nystrom:5", "--approx does not apply"),
        ("--cache-mb 5", "--cache-mb does not apply to items with --kernel linear"),
        ("--gamma 1", "--gamma does not apply"),
        ("--threshold model", "--threshold does not apply"),
        ("--tie-region always", "--tie-region does not apply"),
        ("--tie-weight 2", "--tie-weight does not apply"),
        ("--method compare", "--method compare learns from compared pairs"),
        ("--method rank2", "--method rank2"),
        ("--balance outcomes", "choose --balance groups"),
        ("--metric zero_one", "pair_accuracy, swapped_pairs"),
        ("--metric ndcg@0", "ndcg@10"),
        ("--C inf", "finite"),
        ("--grid C=0", "C = 0"),
        ("--C 1 --grid C=1,2", "contradict"),
        ("--folds 1", "at least 2"),
        ("--pairs p.csv", "--pairs"),
        ("--table train.letor", "would destroy the input"),
        ("--valid vali.letor --table vali.letor", "would destroy the input"),
    ] {
        room.run(&format!("tune train.letor -o m {options}")).fails(2, &[reason]);
    }
    room.run("tune train.letor -o train.letor").fails(2, &["would destroy the input"]);
    room.run("tune - --valid - --format svmlight -o m").fails(2, &["DATA and --valid", "standard input"]);
    assert_eq!(room.names(), before);
    room.run("tune train.letor --method rank --kernel linear --grid kernel=linear -o m -q").fails(2, &["contradict"]);
    room.run("tune train.letor --method rank --kernel linear -o m -q").ends(0);
}

#[test]
fn items_that_cannot_be_tuned_on() {
    let room = room();
    room.write("one.svm", "0 qid:1 1:1\n1 qid:1 1:2\n");
    room.run("tune one.svm -o m").fails(1, &["only one group", "--valid"]);
    room.write("flat.svm", "1 qid:1 1:1\n1 qid:1 1:2\n");
    room.run("tune flat.svm -o m").fails(1, &["nothing to learn"]);
    room.run("tune train.letor --folds 13 -o m").fails(1, &["12 groups", "at most 12 folds"]);
    room.run("tune train.letor --time-limit 0 -o m").fails(1, &["time limit of 0 s"]);
    room.run("tune absent.svm -o m").fails(1, &["absent.svm"]);
    assert!(!room.path("m").exists());
}

#[test]
fn a_column_that_rank_does_not_use_is_told() {
    let room = Room::new();
    room.write("m.csv", "label,qid,margin,x\n1,a,wide,1\n0,a,,2\n1,b,2,1\n0,b,2,3\n");
    let told = "warning: the column margin is not used by rank";
    for verb in ["train m.csv", "train m.csv --C inf", "tune m.csv --folds 2"] {
        let ran = room.run(&format!("{verb} --json -o m")).ends(0);
        assert!(ran.err.contains(told), "{verb}: {}", ran.err);
        assert!(ran.json()["warnings"].as_array().unwrap().contains(&told["warning: ".len()..].into()), "{verb}");
        let dropped = room.run(&format!("{verb} --drop margin -o m")).ends(0);
        assert!(!dropped.err.contains("margin is not"), "{}", dropped.err);
    }
}
