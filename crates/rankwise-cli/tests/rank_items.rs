//! Ranking from items: from a file of labels in groups to a model, to scores, ranks and runs.

use serde_json::Value;

use crate::room::Room;

/// An item as the tests know it.
struct Item {
    label: f64,
    group: usize,
    weight: f64,
    features: Vec<f64>,
}

/// The same numbers every time, evenly spread over [0, 1).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

/// 12 groups of 3 to 9 items with 4 features, which the label follows up to some noise; the last feature is mostly 0. All
/// labels of the third group are the same.
fn items(noise: f64) -> Vec<Item> {
    let mut dice = Dice(7);
    let mut items = Vec::new();
    for group in 0..12 {
        for _ in 0..3 + (group * 5) % 7 {
            let mut features: Vec<f64> = (0..4).map(|_| (dice.roll() * 1000.0).round() / 1000.0).collect();
            if dice.roll() < 0.8 {
                features[3] = 0.0;
            }
            let worth = 3.0 * features[0] - 2.0 * features[1] + features[2] + noise * (dice.roll() - 0.5);
            let label = if group == 2 { 1.0 } else { (2.0 * worth).floor().clamp(-2.0, 4.0) };
            let weight = [0.5, 1.0, 2.0][(dice.roll() * 3.0) as usize];
            items.push(Item { label, group, weight, features });
        }
    }
    items
}

/// The name of a group in files.
fn qid(group: usize) -> usize {
    10 * group + 5
}

fn letor(items: &[Item], weighted: bool) -> String {
    let line = |(number, item): (usize, &Item)| {
        let features = item.features.iter().enumerate().filter(|(_, value)| **value != 0.0);
        let features: Vec<String> = features.map(|(at, value)| format!("{}:{value}", at + 1)).collect();
        let cost = if weighted { format!(" cost:{}", item.weight) } else { String::new() };
        format!("{} qid:{}{cost} {} # doc{number}\n", item.label, qid(item.group), features.join(" "))
    };
    items.iter().enumerate().map(line).collect()
}

fn csv(items: &[Item]) -> String {
    let mut text = String::from("id,stars,city,price,age,noise,sea\n");
    for (number, item) in items.iter().enumerate() {
        let features: Vec<String> = item.features.iter().map(f64::to_string).collect();
        text += &format!("doc{number},{},{},{}\n", item.label, qid(item.group), features.join(","));
    }
    text
}

/// A room with `items.letor`, `weighted.letor` and `items.csv`.
fn room(noise: f64) -> (Room, Vec<Item>) {
    let (room, items) = (Room::new(), items(noise));
    room.write("items.letor", &letor(&items, false));
    room.write("weighted.letor", &letor(&items, true));
    room.write("items.csv", &csv(&items));
    (room, items)
}

const OF_CSV: &str = "--label stars --group city";

fn number(json: &Value, key: &str) -> f64 {
    json[key].as_f64().unwrap_or_else(|| panic!("no number {key} in {json}"))
}

/// ½‖w‖² + C·Σ c·ℓ(1 − (score_i − score_j)), pair by pair, at the weights and scores that the program tells.
fn objective(room: &Room, data: &str, items: &[Item], c: f64, loss: &str, weighted: bool, balanced: bool) -> f64 {
    let inspected = room.run("inspect m --json --top 1000").ends(0).json();
    let weights = inspected["weights"].as_array().unwrap().iter().map(|entry| number(entry, "weight"));
    let norm: f64 = weights.map(|w| w * w).sum();
    let scores = room.run(&format!("predict m {data}")).ends(0).out;
    let scores: Vec<f64> = scores.lines().map(|line| line.parse().unwrap()).collect();
    let weight = |item: &Item| if weighted { item.weight } else { 1.0 };
    let mut total = 0.0;
    for group in 0..12 {
        let (mut losses, mut mass) = (0.0, 0.0);
        for (a, better) in items.iter().enumerate().filter(|(_, item)| item.group == group) {
            for (b, worse) in items.iter().enumerate().filter(|(_, item)| item.group == group) {
                if better.label > worse.label {
                    let margin = scores[a] - scores[b];
                    let value = match loss {
                        "hinge" => (1.0 - margin).max(0.0),
                        "squared-hinge" => (1.0 - margin).max(0.0).powi(2),
                        _ => (-margin).exp().ln_1p(),
                    };
                    losses += weight(better) * weight(worse) * value;
                    mass += weight(better) * weight(worse);
                }
            }
        }
        if mass > 0.0 {
            total += if balanced { losses / mass } else { losses };
        }
    }
    0.5 * norm + c * total
}

#[test]
fn from_a_file_to_a_model_to_ranks() {
    let (room, items) = room(0.1);
    let text = room.run("train items.letor -o m").ends(0);
    for words in ["rank", "squared-hinge", "linear", "4 features", "11 groups", "1 group without a pair", "converged"] {
        assert!(text.out.contains(words), "no {words:?} in\n{}", text.out);
    }
    assert!(text.out.contains("% of the training pairs in order; a random order would get 50 %"), "{}", text.out);
    assert!(!text.out.contains("threshold") && !text.out.contains("ties"), "{}", text.out);
    assert!(text.err.contains("warning: 1 group of 12 has no two items with different labels"), "{}", text.err);

    let plain = room.run("predict m items.letor").ends(0).out;
    let scores: Vec<f64> = plain.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(scores.len(), items.len());
    let table = room.run("predict m items.letor --format csv").ends(0).out;
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("id,qid,score,rank"));
    for (at, line) in lines.enumerate() {
        let better = |other: usize| items[other].group == items[at].group && scores[other] > scores[at];
        let rank = 1 + (0..items.len()).filter(|&other| better(other)).count();
        let score = plain.lines().nth(at).unwrap();
        assert_eq!(line, format!("doc{at},{},{score},{rank}", qid(items[at].group)));
    }
    let inspected = room.run("inspect m").ends(0).out;
    for words in ["weights, 4 of 4", "#1", "-c 12 in svm_rank", "dlib", "LIBLINEAR", "λ"] {
        assert!(inspected.contains(words), "no {words:?} in\n{inspected}");
    }
    assert!(!inspected.contains("threshold"), "{inspected}");
}

#[test]
fn json_has_the_keys_of_a_ranker_and_none_of_a_comparer() {
    let (room, items) = room(0.1);
    let ran = room.run("train items.letor -o m --C 2 --loss hinge --json").ends(0);
    let json = ran.json();
    assert_eq!((&json["method"], &json["loss"], &json["kernel"]), (&"rank".into(), &"hinge".into(), &"linear".into()));
    assert_eq!((number(&json, "C"), number(&json, "features"), number(&json, "ties")), (2.0, 4.0, 0.0));
    assert_eq!((number(&json, "groups"), number(&json, "groups_dropped")), (11.0, 1.0));
    let is_pair = |a: &Item, b: &Item| a.group == b.group && a.label > b.label;
    let n_pairs: usize = items.iter().map(|a| items.iter().filter(|b| is_pair(a, b)).count()).sum();
    assert_eq!(number(&json, "pairs"), n_pairs as f64);
    assert_eq!(number(&json, "items"), items.iter().filter(|item| item.group != 2).count() as f64);
    assert!(number(&json, "gap") <= 1e-3 && number(&json, "iterations") >= 1.0);
    assert_eq!(json["stop"], "converged");
    assert!(json["support"].is_null() && json.get("support").is_some());
    assert!(json["certificate"].is_string() && json["peak_memory_bytes"].as_u64() != Some(0));
    assert!(number(&json["seconds"], "load") > 0.0 && number(&json["seconds"], "train") > 0.0);
    assert!(number(&json, "threads") >= 1.0);
    assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
    for key in [
        "support_pairs",
        "threshold",
        "threshold_rule",
        "beta",
        "no_tie_region",
        "collapsed",
        "tie_parameter",
        "tie_share",
        "tie_weight",
        "separable",
        "margin",
        "error",
    ] {
        assert!(json.get(key).is_none(), "{key}");
    }
    let inspected = room.run("inspect m --json").ends(0).json();
    for key in ["method", "C", "objective", "gap", "groups", "groups_dropped", "pairs", "items", "warnings"] {
        assert_eq!(json[key], inspected[key], "{key}");
    }
    assert_eq!(inspected["conventions"]["svm_rank_c"], 24.0);
    assert_eq!(inspected["conventions"]["dlib_C"], 2.0 * n_pairs as f64);
    assert_eq!(inspected["weights"][0]["feature"], "#1");
}

#[test]
fn the_accuracy_is_the_share_of_pairs_in_order() {
    let (room, items) = room(2.0);
    let json = room.run("train items.letor -o m --json").ends(0).json();
    let scores = room.run("predict m items.letor").ends(0).out;
    let scores: Vec<f64> = scores.lines().map(|line| line.parse().unwrap()).collect();
    let (mut right, mut all) = (0.0, 0.0);
    for (a, better) in items.iter().enumerate() {
        for (b, _) in items.iter().enumerate().filter(|(_, b)| b.group == better.group && b.label < better.label) {
            all += 1.0;
            right += f64::from(scores[a] > scores[b]);
        }
    }
    assert!((number(&json, "pair_accuracy") - right / all).abs() < 1e-12);
    assert!(right < all, "the noise leaves no pair swapped");
    let quiet = room.run("train items.letor -o m -q --json").ends(0);
    assert!(quiet.json()["pair_accuracy"] == json["pair_accuracy"] && quiet.err.is_empty());
}

#[test]
fn the_objective_is_what_the_definition_says() {
    let (room, items) = room(2.0);
    for loss in ["squared-hinge", "hinge", "logistic"] {
        let mut values = Vec::new();
        for (data, weighted) in [("items.letor", false), ("weighted.letor", true)] {
            for (balance, balanced) in [("none", false), ("groups", true)] {
                let words = format!(
                    "train {data} --loss {loss} --balance {balance} --C 0.3 --tol 1e-6 --precision f64 -o m --json"
                );
                let told = number(&room.run(&words).ends(0).json(), "objective");
                let by_hand = objective(&room, data, &items, 0.3, loss, weighted, balanced);
                assert!((told - by_hand).abs() < 1e-9 * by_hand, "{words}: {told} instead of {by_hand}");
                values.push(told);
            }
        }
        values.sort_by(f64::total_cmp);
        assert!(values.windows(2).all(|two| two[0] < two[1]), "{loss}: weights or balance change nothing");
    }
}

#[test]
fn weight_2_is_twice_and_weight_0_is_absent() {
    let room = Room::new();
    room.write("twice.letor", "1 qid:1 1:1 2:3\n0 qid:1 1:2 2:1\n0 qid:1 1:2 2:1\n2 qid:1 1:0.5 2:2\n");
    room.write("two.letor", "1 qid:1 1:1 2:3\n0 qid:1 cost:2 1:2 2:1\n2 qid:1 1:0.5 2:2\n3 qid:1 cost:0 1:9 2:9\n");
    let objective = |data: &str| {
        let json = room.run(&format!("train {data} --tol 1e-8 -o m --json")).ends(0).json();
        (number(&json, "objective"), number(&json, "items"))
    };
    let ((twice, n), (two, m)) = (objective("twice.letor"), objective("two.letor"));
    assert!((twice - two).abs() < 1e-7 * twice, "{twice} {two}");
    assert_eq!((n, m), (4.0, 3.0));
    room.write("none.letor", "1 qid:1 cost:0 1:1\n0 qid:1 1:2\n");
    room.run("train none.letor -o none").fails(1, &["labels"]);
    assert!(!room.path("none").exists());
}

#[test]
fn tables_and_letor_files_give_the_same_scores() {
    let (room, _) = room(0.5);
    room.run("train items.letor --tol 1e-9 -o by_number").ends(0);
    room.run(&format!("train items.csv {OF_CSV} --tol 1e-9 -o by_name")).ends(0);
    let expected = room.run("predict by_number items.letor").ends(0).out;
    // A model with names takes the columns of a file without names in order, and the other way round.
    for words in
        ["by_name items.letor", &format!("by_name items.csv {OF_CSV}"), &format!("by_number items.csv {OF_CSV}")]
    {
        assert_eq!(room.run(&format!("predict {words}")).ends(0).out, expected, "{words}");
    }
    let inspected = room.run("inspect by_name --json").ends(0).json();
    assert_eq!(inspected["feature_names"], serde_json::json!(["price", "age", "noise", "sea"]));
    // Labels are not needed for prediction, nor are groups.
    room.write("new.csv", "sea,noise,price,age\n0,0.5,0.25,0.125\n");
    assert_eq!(room.run("predict by_name new.csv --format csv").ends(0).out.lines().next(), Some("id,score,rank"));
}

#[test]
fn narrower_files_have_zeros_at_the_end_and_wider_ones_are_refused() {
    let (room, _) = room(0.1);
    room.run("train items.letor -o m").ends(0);
    room.run(&format!("train items.csv {OF_CSV} -o named")).ends(0);
    room.write("full.letor", "0 qid:1 1:1 2:2 4:1\n0 qid:1 1:1 2:2\n");
    room.write("narrow.letor", "0 qid:1 1:1 2:2\n");
    let full = room.run("predict m full.letor").ends(0).out;
    let narrow = room.run("predict m narrow.letor").ends(0).out;
    assert_eq!(full.lines().nth(1), narrow.lines().next());
    room.write("wide.letor", "0 qid:1 1:1 2:2 5:1\n");
    room.run("predict m wide.letor").fails(1, &["the model has 4 features, the data have 5", "--index-base"]);
    room.run("predict named narrow.letor").fails(1, &["4 features with names", "2 without"]);
    room.write("few.csv", "x,y\n1,2\n");
    room.run("predict m few.csv").fails(1, &["4 features without names", "2 columns", "in that order"]);
}

#[test]
fn items_without_any_feature_score_0() {
    let (room, _) = room(0.1);
    room.run("train items.letor -o m").ends(0);
    room.write("zeros.letor", "1 qid:1\n0 qid:1\n2 qid:2 # c\n");
    assert_eq!(room.run("predict m zeros.letor").ends(0).out, "0\n0\n0\n");
    let json = room.run("evaluate m zeros.letor --metric concordance --json").ends(0).json();
    assert_eq!(number(&json["metrics"], "concordance"), 0.5);
    for verb in ["train zeros.letor", "tune zeros.letor", "tune zeros.letor --grid C=1 --valid items.letor"] {
        room.run(&format!("{verb} -o none")).fails(1, &["there are no features"]);
    }
    assert!(!room.path("none").exists());
}

#[test]
fn hard_margins() {
    let (room, items) = room(0.0);
    // Labels that follow the features exactly.
    let text: String = letor(&items, false)
        .lines()
        .zip(&items)
        .map(|(line, item)| {
            let worth = 3.0 * item.features[0] - 2.0 * item.features[1] + item.features[2];
            format!("{:.1} {}\n", worth, line.split_once(' ').unwrap().1)
        })
        .collect();
    room.write("exact.letor", &text);
    let json = room.run("train exact.letor --C inf --precision f64 -o m --json").ends(0).json();
    assert_eq!((&json["C"], &json["separable"]), (&"inf".into(), &true.into()));
    let (objective, margin) = (number(&json, "objective"), number(&json, "margin"));
    assert!((objective - 0.5 / (margin * margin)).abs() < 1e-9 * objective, "½‖w‖² = 1/(2·margin²)");
    let inspected = room.run("inspect m --json --top 1000").ends(0).json();
    assert_eq!((&inspected["C"], &inspected["margin"]), (&"inf".into(), &json["margin"]));
    assert!(inspected["conventions"].is_null());
    let norm: f64 = inspected["weights"].as_array().unwrap().iter().map(|w| number(w, "weight").powi(2)).sum();
    assert!((0.5 * norm - objective).abs() < 1e-9 * objective);
    // Every better item leads by 1.
    let scores = room.run("predict m exact.letor").ends(0).out;
    let scores: Vec<f64> = scores.lines().map(|line| line.parse().unwrap()).collect();
    let labels: Vec<f64> = text.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    let pairs = (0..items.len()).flat_map(|a| (0..items.len()).map(move |b| (a, b)));
    let pairs = pairs.filter(|&(a, b)| items[a].group == items[b].group && labels[a] > labels[b]);
    let least = pairs.map(|(a, b)| scores[a] - scores[b]).fold(f64::INFINITY, f64::min);
    assert!((least - 1.0).abs() < 1e-6, "the least lead is {least}");
    let text = room.run("inspect m").ends(0).out;
    assert!(text.contains("inf (hard margin)") && text.contains("margin ") && !text.contains("elsewhere"), "{text}");
}

#[test]
fn items_that_cannot_be_ranked_are_an_answer() {
    let (room, _) = room(0.1);
    room.write("m", "precious");
    room.write("not.letor", "1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:2\n0 qid:2 1:1\n1 qid:3 1:1\n");
    let ran = room.run("train not.letor --C inf -o m --json").ends(0);
    let json = ran.json();
    assert_eq!((&json["method"], &json["C"], &json["separable"]), (&"rank".into(), &"inf".into(), &false.into()));
    assert_eq!((number(&json, "items"), number(&json, "features"), number(&json, "groups")), (4.0, 1.0, 2.0));
    assert_eq!((number(&json, "groups_dropped"), number(&json, "pairs")), (1.0, 2.0));
    assert!(json["warnings"].is_array() && json["seconds"]["train"].is_number() && json["model"].is_null());
    for options in ["", "-q"] {
        let ran = room.run(&format!("train not.letor --C inf -o m {options}")).ends(0);
        assert!(ran.err.contains("not linearly rankable") && ran.err.contains("finite C"), "{}", ran.err);
        assert_eq!(ran.out.is_empty(), options == "-q");
    }
    assert_eq!(room.read("m"), "precious");
    room.run("train not.letor --C inf -o new").ends(0);
    assert!(!room.path("new").exists());
}

#[test]
fn a_start_from_another_model_ends_at_the_same_objective() {
    let (room, _) = room(1.0);
    let train = |options: &str| {
        let json = room.run(&format!("train items.letor --tol 1e-8 --json {options}")).ends(0).json();
        (number(&json, "objective"), number(&json, "iterations"))
    };
    for options in ["--C 3", "--C 3 --loss logistic", "--C 3 --scale standard"] {
        let (cold, n_cold) = train(&format!("{options} -o cold"));
        let (warm, n_warm) = train(&format!("{options} --init cold -o warm"));
        assert!((cold - warm).abs() <= 1e-7 * cold, "{options}: {cold} {warm}");
        assert!(n_warm <= n_cold && n_warm <= 1.0, "{options}: {n_warm} iterations after {n_cold}");
    }
    room.run("train items.letor --init missing -o m").fails(1, &["missing"]);
    room.run("train items.letor --init cold -o cold").ends(0);
    room.run("simulate --pairs 20 -o pairs.csv").ends(0);
    room.run("train --pairs pairs.csv --kernel rbf -o rbf").ends(0);
    room.run("train items.letor --init rbf -o m").fails(1, &["rbf", "linear model"]);
    room.run("train --pairs pairs.csv --init cold -o m").fails(2, &["--init", "does not apply", "items"]);
}

#[test]
fn the_same_bytes_with_one_thread_and_with_two() {
    let (room, _) = room(1.0);
    for options in ["", "--loss hinge --C 10", "--loss logistic --balance groups", "--scale standard"] {
        for threads in [1, 2] {
            room.run(&format!("train weighted.letor {options} --threads {threads} -o m{threads}")).ends(0);
        }
        assert!(room.bytes("m1") == room.bytes("m2"), "{options}");
        let predict = |threads: u32| room.run(&format!("predict m1 items.letor --threads {threads}")).ends(0).out;
        assert_eq!(predict(1), predict(2));
    }
}

#[test]
fn data_may_come_from_anywhere() {
    let (room, items) = room(0.1);
    room.run("train items.letor -o m").ends(0);
    let text = room.read("items.letor");
    for format in ["svmlight", "letor"] {
        room.run_with_input(&format!("train - --format {format} -o piped"), &text).ends(0);
        assert_eq!(room.bytes("piped"), room.bytes("m"));
    }
    room.run_with_input(&format!("train - --format csv {OF_CSV} -o table"), &csv(&items)).ends(0);
    let from_0: String = text.replace(" 4:", " 3a:").replace(" 1:", " 0:").replace(" 2:", " 1:").replace(" 3:", " 2:");
    room.write("from_0.txt", &from_0.replace(" 3a:", " 3:"));
    room.run("train from_0.txt --index-base 0 -o shifted").ends(0);
    assert_eq!(room.bytes("shifted"), room.bytes("m"));
    room.run("train from_0.txt -o shifted").fails(1, &["from_0.txt, line 1", "--index-base 0"]);
    if let Ok(gzip) = std::process::Command::new("gzip").arg("-k").arg(room.path("items.letor")).status() {
        assert!(gzip.success());
        room.run("train items.letor.gz -o zipped").ends(0);
        assert_eq!(room.bytes("zipped"), room.bytes("m"));
    }
}

#[test]
fn the_best_of_each_group_and_runs() {
    let (room, items) = room(0.1);
    room.run("train items.letor -o m").ends(0);
    let all = room.run("predict m items.letor --format csv").ends(0).out;
    let rows: Vec<Vec<&str>> = all.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let best = room.run("predict m items.letor --format csv --top 2").ends(0).out;
    let best: Vec<&str> = best.lines().skip(1).collect();
    assert_eq!(best.len(), 2 * 12);
    for (at, line) in best.iter().enumerate() {
        let (group, rank) = (qid(at / 2).to_string(), (at % 2 + 1).to_string());
        let expected = rows.iter().find(|row| row[1] == group && row[3] == rank).unwrap();
        assert_eq!(*line, expected.join(","));
    }
    let run = room.run("predict m items.letor --format trec --top 2").ends(0).out;
    for (line, row) in run.lines().zip(&best) {
        let row: Vec<&str> = row.split(',').collect();
        assert_eq!(line, format!("{} Q0 {} {} {} rankwise", row[1], row[0], row[3], row[2]));
    }
    assert_eq!(run.lines().count(), best.len());
    let run = room.run("predict m items.letor --format trec --top 1000 -o run.trec").ends(0);
    assert_eq!((run.out.as_str(), room.read("run.trec").lines().count()), ("", items.len()));
    let json = room.run("predict m items.letor --format csv --top 1 --json").ends(0).json();
    assert_eq!(json["predictions"].as_array().unwrap().len(), 12);
    assert_eq!((&json["predictions"][1]["qid"], &json["predictions"][1]["rank"]), (&"15".into(), &1.into()));

    room.write("blank.csv", "id,price,age,noise,sea\na b,1,2,3,4\n");
    room.run("predict m blank.csv --format trec").fails(1, &["blank.csv: `a b` has a blank", "--format csv"]);
    room.write("blank.csv", "id,qid,price,age,noise,sea\na,q 1,1,2,3,4\n");
    room.run("predict m blank.csv --format trec -o r").fails(1, &["blank.csv: `q 1` has a blank"]);
    room.write("twice.csv", "id,qid,price,age,noise,sea\na,q,1,2,3,4\na,r,1,2,3,4\nb,q,1,2,3,4\na,q,1,2,3,5\n");
    let words = ["twice.csv: the id `a` is there twice in group `q`", "give ids that differ", "--format csv"];
    room.run("predict m twice.csv --format trec -o r").fails(1, &words);
    assert!(!room.path("r").exists());
    room.run("predict m twice.csv --format csv").ends(0);
    room.run("predict m items.letor --top 2").fails(2, &["--top", "--format csv", "--format trec"]);
    room.run("predict m items.letor --format csv --top 0").fails(2, &["--top"]);
    room.run("predict m --pairs p.csv --top 3").fails(2, &["--top", "does not apply to pairs"]);
    room.run("predict m --pairs p.csv --format trec").fails(2, &["items"]);
}

#[test]
fn what_does_not_apply_to_items() {
    let (room, _) = room(0.1);
    let names = room.names();
    for (options, words) in [
        ("--method compare", ["--method compare", "--method rank"]),
        ("--method rank2", ["--method rank2", "--pairs"]),
        ("--kernel rbf --gamma 0", ["gamma = 0", "above 0"]),
        ("--kernel poly --degree 0", ["--degree", "from 1 to 64"]),
        ("--kernel rbf --C inf", ["hard margin", "finite C"]),
        ("--approx nystrom:10", ["--approx does not apply", "rbf"]),
        ("--kernel rbf --approx nystrom:0", ["nystrom:0", "from 1 to"]),
        ("--gamma 1", ["--gamma", "leave it out"]),
        ("--threshold refit", ["--threshold", "leave it out"]),
        ("--tie-region always", ["--tie-region", "leave it out"]),
        ("--tie-weight 2", ["--tie-weight", "leave it out"]),
        ("--balance outcomes", ["--balance outcomes", "--balance groups"]),
        ("--C inf --loss logistic", ["--loss logistic", "finite C"]),
        ("--C 0", ["C = 0", "above 0"]),
        ("--C nan", ["C = ", "above 0"]),
        ("--tol 0", ["tol = 0", "expected"]),
        ("--label y", ["--label", "items.letor"]),
        ("--items items.csv", ["DATA", "--items"]),
        ("--method swap --pairs p.csv", ["labels and judged pairs together", "--method rank"]),
    ] {
        room.run(&format!("train items.letor -o m {options}")).fails(2, &words);
    }
    room.run(&format!("train items.csv {OF_CSV} --index-base 0 -o m")).fails(2, &["--index-base", "tables"]);
    room.run("train items.csv -o m").fails(1, &["items.csv", "label", "--label COL"]);
    room.run("train - -o m").fails(2, &["standard input", "--format"]);
    room.run("train items.letor -o items.letor").fails(2, &["would destroy the input"]);
    room.run("train items.letor -o -").fails(2, &["standard output"]);
    for (options, words) in [
        ("--balance groups", ["--balance groups", "does not apply to pairs"]),
        ("--index-base 1", ["--index-base", "does not apply to pairs"]),
    ] {
        room.run(&format!("train --pairs p.csv -o m {options}")).fails(2, &words);
    }
    assert_eq!(room.names(), names);
}

#[test]
fn nothing_to_learn() {
    let room = Room::new();
    room.write("same.letor", "1 qid:1 1:1\n1 qid:1 1:2\n0 qid:2 1:5\n");
    room.run("train same.letor -o m").fails(1, &["no group has two different labels", "qid"]);
    room.write("scales.letor", "1 1:1000 2:0.1\n2 1:3000 2:0.2\n0 1:500 2:0.9\n");
    let ran = room.run("train scales.letor -o m --json").ends(0);
    assert!(ran.err.contains("--scale standard"), "{}", ran.err);
    assert_eq!(number(&ran.json(), "groups"), 1.0);
}
