//! Data files and model files at fault: exit status 1, with the place and the remedy.

use crate::room::Room;

#[test]
fn missing_files() {
    let room = Room::with_pairs();
    room.run("train --pairs absent.csv -o m").fails(1, &["absent.csv"]);
    room.run("train --pairs train.csv --items absent.csv -o m").fails(1, &["absent.csv"]);
    room.run("predict absent --pairs train.csv").fails(1, &["absent"]);
    room.run("evaluate absent --pairs train.csv").fails(1, &["absent"]);
    room.run("inspect absent").fails(1, &["absent"]);
    assert_eq!(room.names(), ["test.csv", "train.csv"]);
}

#[test]
fn an_unknown_outcome_names_its_place_and_the_known_words() {
    let room = Room::new();
    room.write("bad.csv", "left.x,right.x,outcome\n1,2,right\n2,1,maybe\n");
    room.run("train --pairs bad.csv -o m").fails(1, &["bad.csv", "line 3", "maybe", "left", "tie", "right"]);
    room.run("train --pairs bad.csv -o m --json").fails(1, &["maybe"]);
}

#[test]
fn outcomes_are_needed_for_training_and_measuring_only() {
    let room = Room::with_model();
    room.write("plain.csv", "left.x1,left.x2,right.x1,right.x2\n0,0,3,3\n3,3,0,0\n1,1,1,1\n");
    room.run("train --pairs plain.csv -o m").fails(1, &["plain.csv", "outcome"]);
    room.run("evaluate model --pairs plain.csv").fails(1, &["plain.csv", "outcome"]);
    let out = room.run("predict model --pairs plain.csv").ends(0).out;
    assert_eq!(out.lines().count(), 4);
}

#[test]
fn tables_of_another_kind_are_told() {
    let room = Room::with_model();
    room.write("judged.csv", "left,right,outcome\na,b,left\nb,c,tie\n");
    for words in ["train judged.csv -o m", "train train.csv -o m", "tune judged.csv -o m", "predict model judged.csv"] {
        room.run(words).fails(1, &["pairs that were judged", "--pairs"]);
    }
    // Features of items may have these names.
    room.write("items.csv", "left,right,outcome,label\n1,2,3,0\n2,1,1,1\n4,1,2,0\n");
    room.run("train items.csv -o m").ends(0);
    room.write("battles.csv", "model_a,model_b,winner\nx,y,model_a\n");
    for words in ["train --pairs battles.csv -o m", "rate --pairs battles.csv"] {
        room.run(words).fails(1, &["battles.csv", "columns: model_a, model_b, winner", "convert", "--from arena"]);
    }
}

/// In f32, time stamps are multiples of 128, and training did not see what evaluation sees.
#[test]
fn time_stamps_are_the_same_in_training_and_evaluation() {
    let room = Room::new();
    let mut table = "qid,label,ts\nz,1,4\nz,0,3\n".to_string();
    for item in 0..80 {
        table += &format!("{},{},{}\n", item / 8, item % 8, 1_700_000_000u64 + 900 * (item / 8) + 3 * (item % 8));
    }
    room.write("ts.csv", &table);
    for options in ["--scale standard --C 1e6", "--scale minmax --C 1e12"] {
        let told = room.run(&format!("train ts.csv {options} -o m --json")).ends(0).json();
        assert_eq!(told["pair_accuracy"].as_f64(), Some(1.0), "{options}");
        let seen = room.run("evaluate m ts.csv --metric pair_accuracy --json").ends(0).json();
        assert_eq!(seen["metrics"]["pair_accuracy"].as_f64(), Some(1.0), "{options}");
    }
}

#[test]
fn text_among_the_features_names_its_place() {
    let room = Room::new();
    room.write("bad.csv", "left.x,right.x,outcome\n1,2,right\n2,blue,left\n");
    room.run("train --pairs bad.csv -o m").fails(1, &["bad.csv", "line 3", "right.x", "blue"]);
}

#[test]
fn not_a_model() {
    let room = Room::with_pairs();
    room.write("empty", "");
    room.write("text", "this is not a model");
    for file in ["empty", "text", "train.csv"] {
        for words in ["inspect FILE", "predict FILE --pairs train.csv", "evaluate FILE --pairs train.csv"] {
            room.run(&words.replace("FILE", file)).fails(1, &[file]);
        }
    }
}

#[test]
fn a_tampered_model_is_refused() {
    let room = Room::with_model();
    let bytes = room.bytes("model");
    std::fs::write(room.path("short"), &bytes[..bytes.len() - 9]).unwrap();
    room.run("predict short --pairs test.csv").fails(1, &["short"]);
    let mut changed = bytes.clone();
    let last = changed.len() - 3;
    changed[last] ^= 0x10;
    std::fs::write(room.path("changed"), changed).unwrap();
    room.run("predict changed --pairs test.csv").fails(1, &["changed"]);
}

#[test]
fn features_that_do_not_fit_the_model() {
    let room = Room::with_model();
    room.write("other.csv", "left.x1,right.x1,outcome\n1,2,right\n");
    room.run("predict model --pairs other.csv").fails(1, &["do not fit", "x2"]);
    room.run("evaluate model --pairs other.csv").fails(1, &["do not fit", "x2"]);
    room.write("ids.csv", "left,right,outcome\na,b,left\n");
    room.run("predict model --pairs ids.csv").fails(1, &["do not fit"]);
    room.write("items.csv", "id,x1\na,1\n");
    room.run("predict model items.csv").fails(1, &["do not fit", "x2"]);
}

#[test]
fn columns_are_matched_by_name() {
    let room = Room::with_model();
    room.write("one.csv", "left.x1,left.x2,right.x1,right.x2\n0.5,2,-1,0.25\n");
    room.write("two.csv", "right.x2,right.x1,left.x2,left.x1\n0.25,-1,2,0.5\n");
    let predict = |file: &str| room.run(&format!("predict model --pairs {file}")).ends(0).out;
    assert_eq!(predict("one.csv"), predict("two.csv"));
}

#[test]
fn items_of_another_file_with_columns_of_other_names() {
    let room = Room::new();
    room.write("players.csv", "name,strength,town\nann,3,x\nbob,1,y\ncy,0,z\ndee,1.1,x\n");
    room.write(
        "games.tsv",
        "left\tright\tresult\timportance\nann\tbob\t1-0\t1\ncy\tann\t0-1\t2\nbob\tdee\t1/2-1/2\t1\ndee\tcy\t1-0\t1\n",
    );
    let columns = "--id name --drop town --label result --weight importance";
    let data = format!("--pairs games.tsv --items players.csv {columns}");
    let json = room.run(&format!("train {data} -o m --json")).ends(0).json();
    assert_eq!((&json["pairs"], &json["ties"]), (&4.into(), &1.into()));
    assert_eq!((&json["items"], &json["features"]), (&4.into(), &1.into()));
    let out = room.run(&format!("predict m {data}")).ends(0).out;
    assert!(out.lines().nth(1).unwrap().starts_with("ann,bob,"), "{out}");
    let kept = columns.replace("--drop town", "");
    room.run(&format!("train --pairs games.tsv --items players.csv {kept} -o m")).fails(1, &["players.csv", "town"]);
}

#[test]
fn a_column_that_is_not_there_is_named() {
    let room = Room::with_pairs();
    let ran = room.run("train --pairs train.csv --weight importance -o m");
    assert_ne!(ran.status, Some(0));
    assert!(ran.err.contains("importance"), "{}", ran.err);
}

#[test]
fn the_first_hour_with_tables_of_others() {
    let room = Room::new();
    let mut games = ";home;away;result\n".to_string();
    for k in 0..12 {
        games += &format!("{k};t{};t{};{}\n", k % 4, (k * 3 + 1) % 4, ["left", "tie", "right"][k % 3]);
    }
    room.write("games.csv", &games.replace("t0;t0", "t0;t1").replace("t1;t1", "t1;t2").replace("t2;t2", "t2;t3"));
    room.run("rate --pairs games.csv").fails(1, &["';'", "add --separator ';'"]);
    let named = "--pairs games.csv --separator ; --left home --right away --label result";
    for words in
        ["rate -q", "train -o m", "evaluate m", "predict m", "report m -o r.html", "tune --grid C=1,2 --folds 3 -o m"]
    {
        let ran = room.run(&format!("{words} {named}")).ends(0);
        assert!(words.ends_with("-q") || ran.err.contains("numbers the rows"), "{words}: {}", ran.err);
    }
    room.run("train --left home items.csv -o m").ends(2);
    room.write("tabs.txt", &room.read("games.csv").replace(';', "\t"));
    room.run("train --pairs tabs.txt --format csv --separator tab --left home --right away --label result -o m")
        .ends(0);
    room.run("train --pairs games.csv --separator :: -o m").fails(2, &["one character"]);
}

#[test]
fn features_that_the_model_does_not_know_are_ignored_if_asked() {
    let room = Room::new();
    let items = |wide: &str| {
        (0..30).map(|k| format!("{} qid:{} 1:{k} 2:{}{wide}\n", k % 3, k / 6, k * k % 7)).collect::<String>()
    };
    room.write("train.svm", &items(""));
    room.write("test.svm", &items(" 9:4"));
    room.run("train train.svm -o m").ends(0);
    for words in ["predict m", "evaluate m", "report m -o page.html"] {
        room.run(&format!("{words} test.svm")).fails(1, &["the model has 2 features"]);
        let wide = room.run(&format!("{words} test.svm --ignore-extra")).ends(0).out;
        assert_eq!(wide, room.run(&format!("{words} train.svm")).ends(0).out.replace("train.svm", "test.svm"));
    }
    room.run("convert train.svm items.csv -q").ends(0);
    room.run("predict m items.csv --ignore-extra").fails(2, &["--ignore-extra", "SVMlight"]);
}

#[test]
fn a_model_is_gone_on_with_in_its_place() {
    let room = Room::new();
    room.write(
        "items.csv",
        &(0..40).fold("label,qid,x,y\n".to_string(), |t, k| t + &format!("{},{},{k},{}\n", k % 4, k / 8, k % 5)),
    );
    room.run("train items.csv --method online --epochs 2 -o m").ends(0);
    let first = room.bytes("m");
    room.run("train items.csv --method online --epochs 2 --init m -o once").ends(0);
    room.run("train items.csv --method online --epochs 2 --init m -o m").ends(0);
    assert!(room.bytes("m") == room.bytes("once") && room.bytes("m") != first);
    room.run("train items.csv --C 2 --init m -o m").ends(0);
}

#[test]
fn what_is_doubtful_in_a_table_is_told() {
    let room = Room::new();
    room.write("items.csv", "label,group,x\n1,1,2\n2,1,3\n1,2,4\n3,2,5\n");
    for words in ["train items.csv -o m", "train items.csv --method online -o m", "convert items.csv items.rwb"] {
        assert!(room.run(words).ends(0).err.contains("give --group group"), "{words}");
    }
    assert_eq!(room.run("train items.csv --group group -o m").ends(0).err, "");
    room.write("words.csv", "label,x\nyes,1\nYes,2\nno,3\nno,4\n");
    let told = room.run("train words.csv --method classify -o m --json").ends(0);
    assert!(told.json()["warnings"][0].as_str().unwrap().contains("Yes, yes are 2 classes"), "{}", told.out);
}

#[test]
fn a_search_that_is_measured_on_what_it_learns_from_is_told() {
    let room = Room::with_pairs();
    let words = "tune --pairs train.csv --grid C=1,10 -o m --valid";
    assert!(room.run(&format!("{words} ./train.csv")).ends(0).err.contains("both learnt from and measured on"));
    assert_eq!(room.run(&format!("{words} test.csv")).ends(0).err, "");
}

#[test]
fn what_a_model_is_used_on_is_told_of_too() {
    let room = Room::new();
    let rows = |first: usize| -> String {
        (first..first + 24).map(|k| format!("{k},{},{},{k},{}\n", k % 3, k / 6, k * k % 7)).collect()
    };
    room.write("train.csv", &format!("Unnamed: 0,label,qid,x,y\n{}", rows(0)));
    room.write("test.csv", &format!("Unnamed: 0,label,qid,x,y\n{}", rows(24)));
    let left_out = "left out the column Unnamed: 0";
    for (method, model) in [("rank", "r"), ("classify", "c"), ("regress", "g"), ("ordinal", "o")] {
        room.run(&format!("train train.csv --method {method} -o {model} -q")).ends(0);
        for words in ["predict MODEL test.csv", "evaluate MODEL test.csv", "report MODEL test.csv -o page.html"] {
            let told = room.run(&words.replace("MODEL", model)).ends(0).err;
            assert_eq!(told.matches(left_out).count(), 1, "{words} {method}: {told}");
        }
    }
    // Of the file that is measured on, what the other one has not.
    let plain = |k: usize| format!("{},{},{k},{}\n", k % 3, k / 6, k * k % 7);
    room.write("plain.csv", &format!("label,qid,x,y\n{}", (0..24).map(plain).collect::<String>()));
    for method in ["rank", "classify"] {
        let words = format!("tune plain.csv --method {method} --grid C=1,2 --valid test.csv -o m");
        let told = room.run(&words).ends(0).err;
        assert!(told.contains(&format!("test.csv: {left_out}")), "{words}: {told}");
        let told = room.run(&words.replace("plain.csv", "train.csv")).ends(0).err;
        assert_eq!(told.matches(left_out).count(), 1, "{told}");
    }
    room.write("pairs.csv", "left.x,right.x,outcome\n1,2,right\n2,1,left\n3,3,tie\n");
    room.write("valid.csv", "Unnamed: 0,left.x,right.x,outcome\n7,1,2,right\n8,2,1,left\n9,3,3,tie\n");
    let told = room.run("tune --pairs pairs.csv --valid valid.csv --grid C=1,2 -o m").ends(0).err;
    assert!(told.contains(&format!("valid.csv: {left_out}")), "{told}");
}

/// 0.1 read these names as features.
#[test]
fn models_with_features_of_other_meanings_still_predict() {
    let room = Room::new();
    let rows: String = (0..20).map(|k| format!("{k},{},{},{},{}\n", k * k % 7, k % 4, k * 3 % 5, k * k % 3)).collect();
    room.write("new.csv", &format!("a,b,label,c,x\n{rows}"));
    room.write("old.csv", &format!("Unnamed: 0,ID,label,QID,x\n{rows}"));
    room.run("train new.csv -o new").ends(0);
    let mut model = rankwise::io::read_model(&room.path("new")).unwrap();
    model.scorer.feature_names = Some(["Unnamed: 0", "ID", "QID", "x"].map(String::from).to_vec());
    rankwise::io::write_model(&room.path("old"), &model).unwrap();
    for words in ["predict MODEL MODEL.csv", "evaluate MODEL MODEL.csv", "report MODEL MODEL.csv -o page.html"] {
        let told = room.run(&words.replace("MODEL", "old")).ends(0);
        assert!(!told.err.contains("column"), "{}", told.err);
        assert_eq!(told.out.replace("old", "new"), room.run(&words.replace("MODEL", "new")).ends(0).out);
    }
    room.run("train old.csv --init old -o m").fails(1, &["features are missing", "a column ID", "--id"]);
}

/// Of two models the smaller one reads over more.
#[test]
fn features_that_one_of_two_models_does_not_know_are_ignored_if_asked() {
    let room = Room::new();
    let items = |wide: &str| {
        (0..30).map(|k| format!("{} qid:{} 1:{k} 2:{}{wide}\n", k % 3, k / 6, k * k % 7)).collect::<String>()
    };
    room.write("narrow.svm", &items(""));
    room.write("wide.svm", &items(" 3:5"));
    room.write("test.svm", &items(" 3:5 9:4"));
    room.run("train narrow.svm -o narrow").ends(0);
    room.run("train wide.svm -o wide").ends(0);
    room.run("evaluate narrow test.svm --compare wide").fails(1, &["the model has 2 features", "--ignore-extra"]);
    let metric = |words: &str| room.run(words).ends(0).json()["metrics"]["pair_accuracy"].clone();
    let alone = metric("evaluate narrow narrow.svm --metric pair_accuracy --json");
    for (first, second) in [("narrow", "wide"), ("wide", "narrow")] {
        let words =
            format!("evaluate {first} test.svm --compare {second} --ignore-extra --metric pair_accuracy --json");
        let json = room.run(&words).ends(0).json();
        if first == "narrow" {
            assert_eq!(json["metrics"]["pair_accuracy"], alone, "{json}");
        }
    }
}
