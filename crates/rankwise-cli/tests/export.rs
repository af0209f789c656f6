//! `export`: models for other programs.

use crate::room::Room;

/// With `ranker` (linear, scaled), `curved` (rbf) and `classes` (three, linear), learnt from `items.csv`.
fn room() -> Room {
    let room = Room::new();
    let mut items = String::from("label,qid,price,\"stars \"\"x\"\"\",age\n");
    for k in 0..90 {
        items += &format!("{},{},{},{},{}\n", k % 3, k / 15, (k * 7) % 11, (k % 3) * 2 + (k * 5) % 4, (k * k) % 13);
    }
    room.write("items.csv", &items);
    room.run("train items.csv --scale standard -o ranker").ends(0);
    room.run("train items.csv --kernel rbf --gamma 0.1 -o curved").ends(0);
    room.run("train items.csv --method classify -o classes").ends(0);
    room
}

#[test]
fn every_target_writes_a_file_and_says_so() {
    let room = room();
    let all = ["onnx", "onnx-ml", "solr", "elasticsearch", "opensearch", "liblinear", "libsvm", "sql", "json"];
    for to in all {
        let out = room.run(&format!("export ranker --to {to} -o out.{to}")).ends(0).out;
        assert!(out.contains(to) && out.contains("rank, linear, 3 features"), "{out}");
        let json = room.run(&format!("export ranker --to {to} -o again.{to} --json")).ends(0).json();
        assert_eq!((&json["to"], &json["method"]), (&to.into(), &"rank".into()));
        let bytes = room.bytes(&format!("out.{to}"));
        assert_eq!(bytes.len(), json["bytes"].as_u64().unwrap() as usize);
        assert_eq!(bytes, room.bytes(&format!("again.{to}")));
        assert_eq!(room.run(&format!("export ranker --to {to} -o quiet.{to} -q")).ends(0).out, "");
        let is_text = !to.starts_with("onnx");
        if is_text {
            let ran = room.run(&format!("export ranker --to {to}")).ends(0);
            assert_eq!(ran.out.as_bytes(), bytes);
            assert_eq!(room.run(&format!("export ranker --to {to} -o -")).ends(0).out, ran.out);
        }
    }
}

#[test]
fn the_ending_of_a_file_tells_the_target() {
    let room = room();
    for (file, to) in [("m.onnx", "onnx"), ("m.sql", "sql"), ("m.JSON", "json")] {
        assert_eq!(room.run(&format!("export ranker -o {file} --json")).ends(0).json()["to"], to);
    }
    room.run("export ranker -o m.bin").fails(2, &["m.bin", "--to", "libsvm"]);
    room.run("export ranker").fails(2, &["--to", "onnx"]);
    assert!(!room.path("m.bin").exists());
}

#[test]
fn a_database_and_a_search_engine_get_the_weights_of_raw_features() {
    let room = room();
    let scores: Vec<f64> =
        room.run("predict ranker items.csv").ends(0).out.lines().map(|line| line.parse().unwrap()).collect();
    let solr: serde_json::Value =
        serde_json::from_str(&room.run("export ranker --to solr --name hotels --store s1").ends(0).out).unwrap();
    assert_eq!((&solr["name"], &solr["store"]), (&"hotels".into(), &"s1".into()));
    let weights: Vec<f64> =
        ["price", "stars \"x\"", "age"].iter().map(|name| solr["params"]["weights"][name].as_f64().unwrap()).collect();
    let found: Vec<f64> = (0..90)
        .map(|k| {
            [(k * 7) % 11, (k % 3) * 2 + (k * 5) % 4, (k * k) % 13]
                .iter()
                .zip(&weights)
                .map(|(&x, w)| f64::from(x) * w)
                .sum()
        })
        .collect();
    for (one, expected) in found.iter().zip(&scores) {
        assert!(((one - found[0]) - (expected - scores[0])).abs() < 1e-9);
    }
    let sql = room.run("export ranker --to sql").ends(0).out;
    assert!(sql.contains("* \"stars \"\"x\"\"\""), "{sql}");
    let sql = room.run("export ranker --to sql --dialect mysql").ends(0).out;
    assert!(sql.contains("* `stars \"x\"`"), "{sql}");
}

#[test]
fn what_cannot_be_held_is_refused_and_nothing_is_written() {
    let room = room();
    room.write("there.json", "mine");
    room.run("export curved --to solr -o there.json").fails(2, &["solr", "kernel", "onnx"]);
    room.run("export classes --to liblinear -o there.json").fails(2, &["--classes ovr"]);
    room.run("export classes --to elasticsearch -o there.json").fails(2, &["classes"]);
    room.run("export ranker --to json --store s -o there.json").fails(2, &["--store does not apply to json"]);
    room.run("export ranker --to pmml -o there.json").fails(2, &["pmml", "onnx", "libsvm"]);
    room.run("export ranker --to onnx").fails(2, &["-o"]);
    room.run("export ranker --to sql --json").fails(2, &["--json"]);
    room.run("export items.csv --to sql").fails(1, &["items.csv"]);
    room.run("export nothing --to sql").fails(1, &["nothing"]);
    room.run("export ranker --to sql -o ranker").fails(2, &["destroy"]);
    room.run("export ranker --to sql -o no/such/place").fails(1, &["no/such"]);
    assert_eq!(room.read("there.json"), "mine");
    let left: Vec<_> = std::fs::read_dir(room.path(".")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn what_gets_lost_is_said() {
    let room = Room::with_pairs();
    room.run("train --pairs train.csv -o linear").ends(0);
    let json = room.run("export linear --to opensearch -o m --json").ends(0).json();
    let notes = json["warnings"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("tie")), "{json}");
    let ran = room.run("export linear --to opensearch").ends(0);
    assert!(ran.err.contains("warning: ") && ran.err.contains("tie"), "{}", ran.err);
    assert_eq!(room.run("export linear --to opensearch -q").ends(0).err, "");
    let sql = room.run("export linear --to sql").ends(0).out;
    assert!(sql.starts_with("CASE WHEN ABS(") && sql.contains("\"right\".\"x1\" - \"left\".\"x1\""), "{sql}");
    assert!(room.run("export linear --to sql --scores").ends(0).out.contains("* \"x1\" + "));
}
