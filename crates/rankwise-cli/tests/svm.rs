//! `classify` and `regress`: from training to their use, and what does not go together.

use crate::room::Room;

/// Three kinds of flowers, told apart by two numbers, and how long each lasts.
fn room() -> Room {
    let room = Room::new();
    let (mut flowers, mut two, mut days) =
        (String::from("label,a,b\n"), String::from("label,a,b,margin,weight\n"), String::from("label,a,b\n"));
    for k in 0..60u32 {
        let noise = |seed: u32| f64::from(k * seed * 7919 % 101) / 101.0 - 0.5;
        let kind = k % 3;
        let a = [0.0, 2.0, 1.0][kind as usize] + 1.2 * noise(3);
        let b = [0.0, 0.0, 2.0][kind as usize] + 1.2 * noise(5);
        flowers += &format!("{},{a},{b}\n", ["rose", "lily", "\"oak, red\""][kind as usize]);
        if kind < 2 {
            two += &format!("{},{a},{b},{},{}\n", ["no", "yes"][kind as usize], 1 + k % 2, 1 + k % 4 / 2);
        }
        days += &format!("{},{a},{b}\n", 10.0 + 3.0 * a - b * b + noise(11));
    }
    room.write("flowers.csv", &flowers);
    room.write("two.csv", &two);
    room.write("days.csv", &days);
    room
}

#[test]
fn classes_are_words_and_are_predicted_as_words() {
    let room = room();
    for kernel in ["linear", "rbf"] {
        let train = format!("train flowers.csv --method classify --kernel {kernel} --C 5 --json -o model");
        let fit = room.run(&train).ends(0).json();
        assert_eq!(fit["classes"], serde_json::json!(["lily", "oak, red", "rose"]));
        assert_eq!((fit["loss"].as_str(), fit["class_scheme"].as_str()), (Some("hinge"), Some("ovo")));
        assert_eq!((fit["machines"].as_u64(), fit["items"].as_u64()), (Some(3), Some(60)));
        assert_eq!(fit["support"].is_number(), kernel == "rbf");
        assert!(fit["gap"].as_f64().unwrap() <= 1e-3 && fit["certificate"].is_string() && fit["objective"].is_number());
        assert!(fit["error"].as_f64().unwrap() < 0.2 && fit["majority_error"].as_f64().unwrap() > 0.6);
        let out = room.run("predict model flowers.csv").ends(0).out;
        assert_eq!(out.lines().count(), 60);
        assert!(out.lines().all(|line| ["rose", "lily", "oak, red"].contains(&line)), "{out}");
        // A score for each class; the largest is predicted.
        let scores = room.run("predict model flowers.csv --scores").ends(0).out;
        for (line, class) in scores.lines().zip(out.lines()) {
            let values: Vec<f64> = line.split(' ').map(|value| value.parse().unwrap()).collect();
            let best = (0..3).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
            assert_eq!(["lily", "oak, red", "rose"][best], class);
        }
        let table = room.run("predict model flowers.csv --format csv").ends(0).out;
        assert!(table.starts_with("id,label,score_lily,\"score_oak, red\",score_rose\n#1,"), "{table}");
        let json = room.run("predict model flowers.csv --json").ends(0).json();
        assert!(json["predictions"][0]["scores"]["oak, red"].is_number());
        let found = room.run("evaluate model flowers.csv --json").ends(0).json();
        assert!((found["metrics"]["zero_one"].as_f64().unwrap() - fit["error"].as_f64().unwrap()).abs() < 1e-12);
        assert_eq!(found["metrics"]["confusion"].as_array().unwrap().len(), 3);
        let text = room.run("evaluate model flowers.csv").ends(0).out;
        assert!(
            text.contains("zero_one") && text.contains("label \\ predicted") && text.contains("oak, red"),
            "{text}"
        );
        assert!(room.run("inspect model").ends(0).out.contains("below 0"));
        assert_eq!(room.run("inspect model --json").ends(0).json()["machine_parts"].as_array().unwrap().len(), 3);
        room.run("report model flowers.csv -o page.html").ends(0);
        assert!(room.read("page.html").contains("oak, red"));
        // New items have no labels.
        room.write("new.csv", "b,a\n2,1\n");
        assert_eq!(room.run("predict model new.csv").ends(0).out, "oak, red\n");
    }
    let rest = room.run("train flowers.csv --method classify --classes ovr --json -o rest").ends(0).json();
    assert_eq!((rest["class_scheme"].as_str(), rest["machines"].as_u64()), (Some("ovr"), Some(3)));
    room.run("predict rest flowers.csv --format trec").fails(2, &["3 classes", "--format csv"]);
}

#[test]
fn two_classes_have_one_score_and_items_their_margins() {
    let room = room();
    let fit = room.run("train two.csv --method classify --C 2 --json -o model").ends(0).json();
    assert_eq!((fit["item_margins"].as_bool(), fit["machines"].as_u64()), (Some(true), Some(1)));
    assert!(fit["bias"].is_number() && fit["warnings"].as_array().unwrap().is_empty(), "{fit}");
    let scores = room.run("predict model two.csv --scores").ends(0).out;
    let classes = room.run("predict model two.csv").ends(0).out;
    for (score, class) in scores.lines().zip(classes.lines()) {
        assert_eq!(if score.parse::<f64>().unwrap() >= 0.0 { "yes" } else { "no" }, class);
    }
    assert!(room.run("predict model two.csv --format csv").ends(0).out.starts_with("id,label,score\n"));
    room.run("predict model two.csv --format trec --top 3").ends(0);
    // Margins of another size are another problem; so are weights of classes.
    room.write("plain.csv", &room.read("two.csv").replace("margin", "skipped"));
    let plain = room.run("train plain.csv --method classify --C 2 --drop skipped --json -o m").ends(0).json();
    assert_ne!(plain["objective"], fit["objective"]);
    let weighed =
        room.run("train two.csv --method classify --C 2 --class-weight yes=3,no=0.5 --json -o m").ends(0).json();
    assert_eq!(weighed["class_weight"].as_str(), Some("yes=3,no=0.5"));
    assert_ne!(weighed["objective"], fit["objective"]);
    room.run("train two.csv --method classify --class-weight balanced -o m").ends(0);
    assert!(room.run("inspect m").ends(0).out.contains("--class-weight balanced"));
    room.write("bad.csv", "label,a,margin\nx,1,0\ny,2,1\n");
    room.run("train bad.csv --method classify -o m").fails(1, &["bad.csv", "line 2", "margin 0"]);
    room.write("one.csv", "label,a\nx,1\nx,2\n");
    room.run("train one.csv --method classify -o m").fails(1, &["all items are of the class x", "two or more"]);
    room.run("train two.csv --method classify --class-weight maybe=2 -o m").fails(2, &["maybe", "no, yes"]);
}

#[test]
fn numbers_in_svmlights_format_are_classes() {
    let room = Room::new();
    room.write("items.svm", "-1 1:1 2:1\n+1 1:-1 2:1\n1 1:1 2:-1\n-1 1:-1 2:-1\n");
    let options = "--kernel poly --degree 2 --gamma 1 --coef0 1";
    let fit = room.run(&format!("train items.svm --method classify {options} --C inf --json -o model")).ends(0).json();
    assert_eq!(fit["classes"], serde_json::json!(["-1", "1"]));
    assert_eq!((fit["separable"].as_bool(), fit["C"].as_str()), (Some(true), Some("inf")));
    assert!((fit["objective"].as_f64().unwrap() - 0.25).abs() < 1e-3 && fit["support"] == 4);
    assert!((fit["margin"].as_f64().unwrap() - 2.0f64.sqrt()).abs() < 1e-2);
    assert_eq!(room.run("predict model items.svm").ends(0).out, "-1\n1\n1\n-1\n");
    // A line does not keep them apart: that is an answer, and there is no model.
    let none = room.run("train items.svm --method classify --C inf --json -o none").ends(0);
    assert_eq!(none.json()["separable"].as_bool(), Some(false));
    assert!(none.err.contains("not separable") && !room.path("none").exists(), "{}", none.err);
}

#[test]
fn probabilities_are_asked_for() {
    let room = room();
    let fit = room.run("train flowers.csv --method classify --probabilities --json -o model").ends(0).json();
    assert_eq!(fit["probabilities"].as_bool(), Some(true));
    let table = room.run("predict model flowers.csv --format csv").ends(0).out;
    assert!(table.lines().next().unwrap().ends_with("p_lily,\"p_oak, red\",p_rose"), "{table}");
    let json = room.run("predict model flowers.csv --json").ends(0).json();
    for row in json["predictions"].as_array().unwrap() {
        let chances = row["probabilities"].as_object().unwrap();
        assert!((chances.values().map(|p| p.as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-9);
        let label = row["label"].as_str().unwrap();
        assert!(chances.values().all(|p| p.as_f64() <= chances[label].as_f64()));
    }
    let found = room.run("evaluate model flowers.csv --metric log_loss,brier,accuracy --json").ends(0).json();
    let (value, constant) = (&found["metrics"]["log_loss"], &found["baselines"]["log_loss"]);
    assert!(value.as_f64().unwrap() < constant.as_f64().unwrap(), "{found}");
    room.run("report model flowers.csv -o page.html --svg pictures").ends(0);
    assert!(room.path("pictures/reliability-classes.svg").exists());
    room.run("train flowers.csv --method classify -o plain").ends(0);
    room.run("evaluate plain flowers.csv --metric brier").fails(2, &["needs probabilities", "--probabilities"]);
}

#[test]
fn values_are_predicted_and_measured() {
    let room = room();
    for options in ["", "--kernel rbf --scale standard", "--loss squared-epsilon"] {
        let train = format!("train days.csv --method regress --C 10 --epsilon 0.2 {options} --json -o model");
        let fit = room.run(&train).ends(0).json();
        assert_eq!(fit["epsilon"].as_f64(), Some(0.2));
        let loss = if options.contains("squared") { "squared-epsilon" } else { "epsilon" };
        assert_eq!(fit["loss"].as_str(), Some(loss));
        assert!(fit["mae"].as_f64().unwrap() < 0.7 * fit["mean_mae"].as_f64().unwrap(), "{fit}");
        let out = room.run("predict model days.csv").ends(0).out;
        assert!(out.lines().all(|line| line.parse::<f64>().is_ok()) && out.lines().count() == 60);
        let found = room.run("evaluate model days.csv --json").ends(0).json();
        assert_eq!(found["baselines"]["r2"].as_f64().map(|r2| r2.abs() < 1e-12), Some(true));
        let r2 = found["metrics"]["r2"].as_f64().unwrap();
        assert!(r2 > 0.4, "{r2}");
        assert!((found["metrics"]["mae"].as_f64().unwrap() - fit["mae"].as_f64().unwrap()).abs() < 1e-5);
        assert!(room.run("evaluate model days.csv").ends(0).out.contains("the mean label"));
        room.run("evaluate model days.csv --metric pair_accuracy").ends(0);
        room.run("evaluate model days.csv --metric zero_one").fails(2, &["for classifiers", "mae, rmse and r2"]);
        assert!(room.run("inspect model").ends(0).out.contains("--epsilon 0.2"));
        room.run("report model days.csv -o page.html --svg pictures").ends(0);
        assert!(room.path("pictures/errors.svg").exists() && room.path("pictures/values.svg").exists());
    }
    // Ridge regression predicts values, too.
    room.run("train days.csv --method ridge -o ridge").ends(0);
    assert!(room.run("evaluate ridge days.csv --metric rmse,r2").ends(0).out.contains("rmse"));
    let narrow = room.run("train days.csv --method regress --C inf --epsilon 0.001 --json -o none").ends(0).json();
    assert_eq!(narrow["separable"].as_bool(), Some(false));
}

#[test]
fn landmarks_stand_for_the_kernel() {
    let room = room();
    for (data, method) in [("flowers.csv", "classify --probabilities"), ("days.csv", "regress")] {
        let train = |approx: &str| {
            let words = format!("train {data} --method {method} --kernel rbf --C 3 {approx} --json -o model");
            room.run(&words).ends(0).json()
        };
        let number = |fit: &serde_json::Value, key: &str| fit[key].as_f64().unwrap();
        let whole = train("");
        assert!(whole["approx"].is_null());
        let all = train("--approx nystrom:60");
        assert!((number(&all, "objective") / number(&whole, "objective") - 1.0).abs() < 3e-3, "{all}");
        assert!(number(&all, "gap") < 3e-3, "{all}");
        let few = train("--approx nystrom:5");
        assert_eq!((few["approx"].as_str(), few["support"].as_u64()), (Some("nystrom:5"), Some(5)));
        assert_eq!(few["certificate"], "relative duality gap of the machine without approximation");
        let lost = 1.0 - number(&whole, "objective") / number(&few, "objective");
        assert!(lost <= number(&few, "gap") + 1e-3 && number(&few, "gap") > 1e-3, "{few}");
        let text = room.run("inspect model").ends(0).out;
        assert!(text.contains("--approx nystrom:5") && text.contains("5 items of 60"), "{text}");
        assert_eq!(room.run("inspect model --json").ends(0).json()["approx"], "nystrom:5");
        assert_eq!(room.run(&format!("predict model {data}")).ends(0).out.lines().count(), 60);
        room.run(&format!("evaluate model {data}")).ends(0);
    }
}

#[test]
fn the_same_bytes_whatever_the_threads() {
    let room = room();
    for options in ["--kernel rbf --probabilities", "--classes ovr", "--kernel rbf --approx nystrom:9 --probabilities"]
    {
        for threads in [1, 2] {
            let words = format!("train flowers.csv --method classify {options} --threads {threads} -o m{threads}");
            room.run(&words).ends(0);
        }
        assert_eq!(room.bytes("m1"), room.bytes("m2"), "{options}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let room = room();
    for (typed, words) in [
        ("train flowers.csv --method classify --epsilon 1", ["--epsilon does not apply", "--method regress"]),
        ("train days.csv --method regress --classes ovr", ["--classes does not apply", "--method classify"]),
        ("train days.csv --method regress --probabilities", ["--probabilities does not apply", "--method classify"]),
        ("train days.csv --method regress --loss hinge", ["loss = hinge", "squared-epsilon"]),
        ("train flowers.csv --method classify --loss logistic", ["loss = logistic", "squared-hinge"]),
        ("train flowers.csv --method classify --balance groups", ["--balance does not apply", "--method rank"]),
        ("train flowers.csv --method classify --calibrate", ["--calibrate does not apply", "--probabilities"]),
        ("train flowers.csv --method classify --gamma 1", ["--gamma does not apply", "--kernel"]),
        ("train flowers.csv --method classify --approx nystrom:5", ["--approx does not apply", "--kernel"]),
        ("train flowers.csv --method classify --kernel rbf --approx nystrom:5 --C inf", ["hard margin", "--approx"]),
        ("train flowers.csv --method classify --kernel sigmoid --approx nystrom:5", ["not positive", "--approx"]),
        ("train days.csv --method regress --kernel rbf --approx nystrom:0", ["approx = nystrom:0", "from 1 to"]),
        ("train days.csv --method regress --kernel rbf --approx nystrom", ["--approx", "nystrom:500"]),
        ("train days.csv --method regress --kernel rbf --approx nystrom:-3", ["--approx", "nystrom:500"]),
        ("train days.csv --method regress --kernel rbf --approx fourier:3", ["--approx", "nystrom:500"]),
        ("train flowers.csv --method classify --epochs 3", ["--epochs does not apply", "--method online"]),
        ("train flowers.csv --method classify --init m", ["--init does not apply", "leave it out"]),
        ("train flowers.csv --method classify --C 0", ["C = 0", "above 0"]),
        ("train flowers.csv --method classify --class-weight red", ["--class-weight", "NAME=W"]),
        ("train days.csv --method regress --epsilon -1", ["epsilon = -1", "at least 0"]),
        ("train --pairs p.csv --method classify", ["learns from items", "train DATA"]),
        ("train days.csv --loss epsilon", ["--loss epsilon is for --method regress", "another loss"]),
        ("train days.csv --epsilon 1", ["--epsilon does not apply", "--method regress"]),
        ("train days.csv --class-weight balanced", ["--class-weight does not apply", "--method classify"]),
    ] {
        room.run(&format!("{typed} -o out")).fails(2, &words);
    }
    // Other methods want numbers.
    room.run("train flowers.csv -o out").fails(1, &["flowers.csv", "rose", "expected a number"]);
}

/// Eight classes in forty features, machine by machine: the same bytes whatever the number of threads.
#[test]
fn machines_side_by_side_are_the_same_for_any_number_of_threads() {
    let room = Room::new();
    let mut items = format!("label,{}\n", (0..40).map(|f| format!("f{f}")).collect::<Vec<_>>().join(","));
    for k in 0..160u32 {
        let value = |f: u32| f64::from((k * 31 + f * 17 + k * k * f) % 97) / 97.0 + f64::from(u8::from(f % 8 == k % 8));
        items += &format!("c{},{}\n", k % 8, (0..40).map(|f| value(f).to_string()).collect::<Vec<_>>().join(","));
    }
    room.write("many.csv", &items);
    for options in ["", "--kernel rbf", "--classes ovr --loss squared-hinge", "--probabilities"] {
        let train = |threads: u32| {
            let line = format!("train many.csv --method classify {options} --threads {threads} --json -o m{threads}");
            room.run(&line).ends(0).json()
        };
        let (one, three) = (train(1), train(3));
        assert_eq!((one["stop"].as_str(), three["objective"].as_f64()), (Some("converged"), one["objective"].as_f64()));
        assert_eq!(room.bytes("m1"), room.bytes("m3"), "{options}");
    }
}

#[test]
fn a_limit_that_ends_the_search_for_a_hard_margin_says_that_nothing_is_known() {
    let room = room();
    for (line, words) in [
        ("train two.csv --method classify --kernel rbf --C inf --max-iter 1", ["iterations was used up", "--max-iter"]),
        (
            "train days.csv --method regress --epsilon 0.01 --C inf --time-limit 1e-9",
            ["time was used up", "--time-limit"],
        ),
        (
            "train days.csv --method regress --kernel rbf --C inf --time-limit 1e-9",
            ["time was used up", "--time-limit"],
        ),
    ] {
        let ran = room.run(&format!("{line} -o none")).fails(1, &["it is not known whether there is a hard margin"]);
        words.iter().for_each(|word| assert!(ran.err.contains(word), "{}", ran.err));
        assert!(!ran.err.contains("separable"), "{}", ran.err);
        assert!(!room.path("none").exists());
    }
}

#[test]
fn weights_of_classes_are_one_for_each_class() {
    let room = room();
    for (typed, words) in [
        ("no=2,no=3", ["--class-weight = no=2,no=3", "one weight for each class"]),
        ("no=2,yes=-1", ["--class-weight = yes=-1", "finite numbers above 0"]),
        ("no=2,maybe=1", ["--class-weight = maybe", "one of the classes no, yes"]),
    ] {
        let ran = room.run(&format!("train two.csv --method classify --class-weight {typed} -o none")).fails(2, &words);
        assert!(!ran.err.contains("class_weights"), "{}", ran.err);
    }
    // Numbers that are equal are one class, however they are written.
    let train = "train two.csv --label margin --drop label --method classify --class-weight 1=2,1.0=3 -o none";
    room.run(train).fails(2, &["one weight for each class"]);
}

#[test]
fn options_without_an_effect_are_refused() {
    let room = room();
    for (line, option) in [
        ("train two.csv --method classify --cache-mb 100", "--cache-mb"),
        ("train days.csv --method regress --cache-mb 100", "--cache-mb"),
        ("train two.csv --method classify --kernel rbf --approx nystrom:5 --cache-mb 100", "--cache-mb"),
        ("tune two.csv --method classify --cache-mb 100", "--cache-mb"),
        ("train days.csv --cache-mb 100", "--cache-mb"),
        ("train days.csv --method online --cache-mb 100", "--cache-mb"),
        ("train days.csv --kernel rbf --memory-mb 100", "--memory-mb"),
        ("train days.csv --method swap --kernel rbf --memory-mb 100", "--memory-mb"),
    ] {
        room.run(&format!("{line} -o none")).fails(2, &[option, "does not apply to", "leave it out"]);
    }
    room.run("train two.csv --method classify --kernel rbf --cache-mb 100 -o model").ends(0);
}

#[test]
fn a_degree_is_a_whole_number_from_1_on() {
    let room = room();
    for degree in ["-1", "0", "1.5", "65", "two"] {
        let line = format!("train two.csv --method classify --kernel poly --degree {degree} -o none");
        room.run(&line).fails(2, &["--degree", degree, "expected a whole number from 1 to 64"]);
    }
    for degree in ["0", "1.5", "1:65:2"] {
        let line = format!("tune two.csv --method classify --kernel poly --grid degree={degree} -o none");
        room.run(&line).fails(2, &["degree", "expected a whole number from 1 to 64"]);
    }
}

#[test]
fn names_of_classes_fit_into_a_line() {
    let room = room();
    for (name, shown) in [("a\nb", "a\\nb"), ("a\tb", "a\\tb"), ("a\u{1b}[31mb", "u{1b}"), ("a\u{85}b", "u{85}")] {
        room.write("odd.csv", &format!("label,x\nplain,1\n\"{name}\",2\nplain,3\n"));
        let words = ["odd.csv, line 3, column 1 (label)", shown, "control character"];
        room.run("train odd.csv --method classify -o none").fails(1, &words);
        room.write("fair.csv", "label,x\nplain,1\nother,2\nplain,3\n");
        room.run("train fair.csv --method classify -o model").ends(0);
        for command in ["evaluate model odd.csv", "report model odd.csv -o page.html"] {
            room.run(command).fails(1, &words);
        }
    }
}

#[test]
fn advice_on_ranking_by_several_scores_can_be_followed() {
    let room = room();
    room.run("train flowers.csv --method classify -o three").ends(0);
    for options in ["--top 3", "--top 3 --format csv", "--top 3 --format trec"] {
        let words = ["--top", "3 classes", "leave it out", "--format csv"];
        room.run(&format!("predict three flowers.csv {options}")).fails(2, &words);
    }
    room.run("predict three flowers.csv --format trec").fails(2, &["--format trec", "3 classes", "leave it out"]);
    room.run("predict three flowers.csv --format csv").ends(0);
    room.run("train two.csv --method classify -o two").ends(0);
    room.run("predict two two.csv --top 3").fails(2, &["--top", "scores alone", "--format csv or --format trec"]);
    assert_eq!(room.run("predict two two.csv --top 3 --format csv").ends(0).out.lines().count(), 4);
}

#[test]
fn help_of_report_promises_intervals_where_there_are_some() {
    let room = room();
    let help = room.run("report --help").ends(0).out;
    assert!(
        help.contains("metrics, weights or support items") && help.contains("Of pairs also 95 % intervals"),
        "{help}"
    );
    room.run("train flowers.csv --method classify -o model").ends(0);
    room.run("report model flowers.csv -o page.html").ends(0);
    assert!(!room.read("page.html").contains("bootstrap"));
    room.run("train days.csv -o ranker").ends(0);
    room.run("report ranker days.csv -o page.html").ends(0);
    assert!(room.read("page.html").contains("bootstrap"));
}

#[test]
fn an_answer_that_there_is_no_margin_counts_all_items() {
    let room = Room::new();
    let mut items = String::from("label,x\n");
    (0..12).for_each(|k| items += &format!("{},{}\n", ["a", "b", "c"][k % 3], k / 6));
    room.write("mixed.csv", &items);
    room.write("values.csv", &items.replace("a,", "0,").replace("b,", "5,").replace("c,", "9,"));
    for kernel in ["linear", "rbf"] {
        let none = room.run(&format!("train mixed.csv --method classify --kernel {kernel} --C inf --json -o none"));
        let none = none.ends(0).json();
        assert_eq!((none["separable"].as_bool(), none["items"].as_u64()), (Some(false), Some(12)), "{kernel}");
        let none = room.run(&format!("train values.csv --method regress --kernel {kernel} --C inf --json -o none"));
        let none = none.ends(0).json();
        assert_eq!((none["separable"].as_bool(), none["items"].as_u64()), (Some(false), Some(12)), "{kernel}");
    }
}
