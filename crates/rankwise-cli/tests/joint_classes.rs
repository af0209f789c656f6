//! `--classes crammer-singer` and `weston-watkins`, and random steps on several classes.

use crate::room::Room;

/// Three kinds of flowers that overlap a little, with weights and margins in `weighed.csv`.
fn room() -> Room {
    let room = Room::new();
    let (mut plain, mut weighed) = (String::from("label,x,y,z\n"), String::from("label,weight,margin,x,y,z\n"));
    for k in 0..90 {
        let class = k % 3;
        let noise = |seed: usize| ((k * seed) % 17) as f64 / 9.0 - 0.9;
        let at = |f: usize| noise(5 + 2 * f) + if f == class { 1.2 } else { 0.0 };
        let name = ["iris", "lily", "rose"][class];
        plain += &format!("{name},{},{},{}\n", at(0), at(1), at(2));
        weighed += &format!("{name},{},{},{},{},{}\n", 1 + k % 2, 0.5 + 0.5 * (k % 4) as f64, at(0), at(1), at(2));
    }
    room.write("flowers.csv", &plain);
    room.write("weighed.csv", &weighed);
    room
}

#[test]
fn a_model_of_all_classes_goes_through_every_command() {
    let room = room();
    for scheme in ["crammer-singer", "weston-watkins"] {
        let train = format!("train flowers.csv --method classify --classes {scheme} --C 0.5 --tol 1e-6 -o m --json");
        let json = room.run(&train).ends(0).json();
        assert_eq!((&json["class_scheme"], &json["machines"]), (&scheme.into(), &3.into()));
        assert_eq!((&json["stop"], &json["loss"]), (&"converged".into(), &"hinge".into()));
        assert!(json["gap"].as_f64().unwrap() <= 1e-6 && json["error"].as_f64().unwrap() < 0.2, "{json}");
        let predicted = room.run("predict m flowers.csv").ends(0).out;
        assert!(predicted.lines().count() == 90 && predicted.contains("rose"), "{predicted}");
        let scored = room.run("predict m flowers.csv --scores --format csv").ends(0).out;
        assert!(scored.lines().nth(1).unwrap().split(',').count() >= 4, "{scored}");
        let measured = room.run("evaluate m flowers.csv --json").ends(0).json();
        assert!(measured.to_string().contains("zero_one"), "{measured}");
        let text = room.run("inspect m").ends(0).out;
        assert!(text.contains(&format!("--classes {scheme}")) && text.contains("(others)"), "{text}");
        assert_eq!(text.contains("-s 4 -B 1 -c 0.5 in LIBLINEAR"), scheme == "crammer-singer", "{text}");
        assert!(!text.contains("LIBSVM"), "{text}");
        room.run("report m flowers.csv -o page.html").ends(0);
        let tune = format!("tune flowers.csv --method classify --classes {scheme} --folds 3 --grid C=0.01,0.5,5 -o t");
        let tuned = room.run(&format!("{tune} --json")).ends(0).json();
        assert_eq!(tuned["class_scheme"], scheme);
        // Weights and margins of items count.
        let line = format!("train weighed.csv --method classify --classes {scheme} --C 0.5 -o w --json");
        let weighed = room.run(&line).ends(0).json();
        assert_eq!(weighed["item_margins"], true);
        assert!(weighed["objective"].as_f64().unwrap() > 1.2 * json["objective"].as_f64().unwrap());
        let balanced = room.run(&format!("{line} --class-weight iris=3")).ends(0).json();
        assert!(balanced["objective"].as_f64().unwrap() > weighed["objective"].as_f64().unwrap());
    }
}

#[test]
fn what_they_lack_is_refused_before_anything_is_read() {
    let room = room();
    for (options, words) in [
        ("--kernel rbf", ["linear", "ovo"]),
        ("--C inf", ["hard margin", "ovo"]),
        ("--loss squared-hinge", ["hinge alone", "ovo"]),
        ("--probabilities", ["probabilities", "ovo"]),
    ] {
        for verb in ["train", "tune"] {
            let line = format!("{verb} nothing.csv --method classify --classes weston-watkins {options} -o m");
            let words = if options == "--C inf" && verb == "tune" { ["C = inf", "finite"] } else { words };
            room.run(&line).fails(2, &words);
        }
    }
}

#[test]
fn random_steps_learn_several_classes() {
    let room = room();
    let numbers = room.read("flowers.csv").replace("iris", "1").replace("lily", "2").replace("rose", "3");
    room.write("numbers.csv", &numbers);
    let exact = "train numbers.csv --method classify --classes weston-watkins --C 0.02 --tol 1e-6 -o e --json";
    let least = room.run(exact).ends(0).json()["objective"].as_f64().unwrap();
    let online = "train numbers.csv --method online --task classify --C 0.02";
    let json = room.run(&format!("{online} --steps 300000 --certify -o m --json")).ends(0).json();
    let here = json["objective"].as_f64().unwrap();
    assert!(here < 1.01 * least && here > 0.9999 * least, "{here} {least}");
    assert!(here - least <= json["gap"].as_f64().unwrap() * here);
    assert_eq!(json["classes"], serde_json::json!(["1", "2", "3"]));
    let predicted = room.run("predict m numbers.csv").ends(0).out;
    assert!(predicted.lines().all(|line| ["1", "2", "3"].contains(&line)), "{predicted}");
    let evaluated = room.run("evaluate m numbers.csv --json").ends(0).json();
    assert!(evaluated.to_string().contains("zero_one"));
    assert!(room.run("inspect m").ends(0).out.contains("3 classes"));
    room.run("report m numbers.csv -o page.html").ends(0);
    // On with it, group by group.
    room.run(&format!("{online} --init m --stream --epochs 3 -o on")).ends(0);
    let state = room.run("inspect on --json").ends(0).json();
    assert_eq!(state["stream"], true);
}
