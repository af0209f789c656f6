//! `report`: a page for people, the same numbers as `evaluate`.

use crate::room::Room;

const SECTIONS: [&str; 3] = ["<h2>What was trained</h2>", "<h2>How well</h2>", "<h2>Most wrong</h2>"];

#[test]
fn everything_is_on_the_page() {
    let room = Room::with_model();
    let out = room.run("report model --pairs test.csv -o report.html").ends(0).out;
    let mut lines = out.lines();
    let headline = lines.next().unwrap();
    assert!(
        headline.starts_with("compare errs on ")
            && headline.contains(" of 120 pairs; always “tie” would err on 50.0 %")
    );
    assert_eq!((lines.next(), lines.next()), (Some("report: report.html"), None));
    let page = room.read("report.html");
    assert!(page.contains(&headline.replace(" %", "\u{a0}%")), "the headline is on the page");
    let wanted = SECTIONS.into_iter().chain([
        "<td>rbf, γ 0.25</td>",
        "error (zero_one)",
        "area under the ROC curve (auc)",
        "right sign among non-ties (pair_accuracy)",
        "predicted ties",
        "judged \\ predicted",
        "<h2>Most influential items</h2>",
        "<h2>Level curves</h2>",
        "<title id=\"roc-title\">",
        "<title id=\"margins-title\">",
        "<title id=\"weights-title\">",
        "<title id=\"pairs-title\">",
        "<title id=\"levels-title\">",
        "features of left",
    ]);
    wanted.for_each(|words| assert!(page.contains(words), "no {words:?}"));
    // The majority's error and the shares of ties stand beside every picture of quality.
    let captions: Vec<&str> = page.split("<figcaption>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    let beside = captions
        .iter()
        .filter(|c| c.contains("always “tie” would err on 50.0\u{a0}%") && c.contains("50.0\u{a0}% observed"));
    assert_eq!((captions.len(), beside.count()), (5, 3), "{captions:?}");
}

#[test]
fn numbers_are_those_of_evaluate() {
    let room = Room::with_model();
    let ran = room.run("report model --pairs test.csv -o report.html --json").ends(0);
    assert_eq!(ran.out.lines().count(), 1);
    let (report, evaluated) = (ran.json(), room.run("evaluate model --pairs test.csv --json").ends(0).json());
    for name in ["zero_one", "auc", "auc_baseline", "pair_accuracy"] {
        let metric = &report["metrics"][name];
        assert_eq!(metric["value"], evaluated["metrics"][name], "{name}");
        let [value, low, high] = ["value", "low", "high"].map(|key| metric[key].as_f64().unwrap());
        // A model without a wrong sign has one in no resample.
        assert!(low < high || (name == "pair_accuracy" && low == 1.0), "{name}: {metric}");
        assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high), "{name}: {metric}");
        // The baseline takes the larger of two shares, which resampling can only raise.
        assert!(name == "auc_baseline" || (low..=high).contains(&value), "{name}: {metric}");
    }
    for key in ["majority_error", "tie_share", "pairs", "ties", "threshold", "warnings"] {
        assert_eq!(report[key], evaluated[key], "{key}");
    }
    assert_eq!((report["report"].as_str(), report["svg"].as_array().map(Vec::len)), (Some("report.html"), Some(0)));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let room = Room::with_model();
    room.run("report model --pairs test.csv -o a.html --threads 1").ends(0);
    room.run("report model --pairs test.csv -o b.html --threads 4").ends(0);
    room.run("report model --pairs test.csv -o c.html --seed 1").ends(0);
    assert_eq!(room.read("a.html"), room.read("b.html"));
    assert_ne!(room.read("a.html"), room.read("c.html"), "the seed draws other resamples");
}

#[test]
fn pictures_are_files_too() {
    let room = Room::with_model();
    let json = room.run("report model --pairs test.csv -o report.html --svg new/pictures --json").ends(0).json();
    let paths: Vec<&str> = json["svg"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    let names = ["roc", "margins", "weights", "pairs", "levels"].map(|name| format!("new/pictures/{name}.svg"));
    assert_eq!(paths, names);
    for path in paths {
        let svg = room.read(path);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "), "{path}");
        assert!(
            svg.contains("<style>") && svg.contains("prefers-color-scheme:dark") && svg.ends_with("</svg>\n"),
            "{path}"
        );
    }
    let out = room.run("report model --pairs test.csv -o report.html --svg pictures").ends(0).out;
    assert!(out.ends_with("report: report.html, 5 pictures in pictures\n"), "{out}");
    assert_eq!(room.run("report model --pairs test.csv -o report.html -q").ends(0).out, "");
}

#[test]
fn what_is_not_defined_is_said() {
    let room = Room::with_model();
    let all = room.read("test.csv");
    let only = |is: fn(&str) -> bool| {
        let rows =
            all.lines().enumerate().filter(|(at, line)| *at == 0 || is(line)).map(|(_, line)| format!("{line}\n"));
        rows.collect::<String>()
    };
    room.write("ties.csv", &only(|line| line.ends_with(",0")));
    room.write("decided.csv", &only(|line| !line.ends_with(",0")));
    room.write("one.csv", &all.lines().take(2).map(|line| format!("{line}\n")).collect::<String>());
    for (name, why) in [("ties", "there are only ties"), ("decided", "there are no ties")] {
        let ran = room.run(&format!("report model --pairs {name}.csv -o {name}.html --json")).ends(0);
        let json = ran.json();
        assert!(json["metrics"]["auc"]["value"].is_null() && json["metrics"]["auc"]["low"].is_null(), "{json}");
        assert!(json["metrics"]["zero_one"]["low"].is_number());
        assert!(ran.err.contains(&format!("warning: auc is not defined on these pairs: {why}")), "{}", ran.err);
        let page = room.read(&format!("{name}.html"));
        assert!(page.contains("There is no ROC curve") && page.contains("not defined") && page.contains(why), "{name}");
        assert!(page.contains("; always “") && !page.contains("roc-title"), "{name}");
        SECTIONS.iter().for_each(|section| assert!(page.contains(section), "{name}: {section}"));
    }
    let json = room.run("report model --pairs one.csv -o one.html --json").ends(0).json();
    assert!(json["warnings"].as_array().unwrap().contains(&"intervals from 1 pair say little".into()), "{json}");
    room.write(
        "nothing.csv",
        &all.lines().take(2).zip(["weight", "0"]).map(|(a, b)| format!("{a},{b}\n")).collect::<String>(),
    );
    let json = room.run("report model --pairs nothing.csv -o nothing.html --json").ends(0).json();
    assert!(json["metrics"]["zero_one"]["value"].is_null() && json["majority_error"].is_null(), "{json}");
    assert!(room.read("nothing.html").contains("no pair has a weight above 0"));
}

#[test]
fn a_leaderboard_shows_scores() {
    let room = Room::with_leaderboard();
    room.run("report board --pairs games.csv -o report.html").ends(0);
    let page = room.read("report.html");
    assert!(
        page.contains("<h2>Scores of the items</h2>")
            && page.contains("c, d")
            && page.contains("All 4, the best first")
    );
    let place = |name: &str| page.find(&format!(">{name}</text>")).unwrap();
    assert!(place("ann") < place("bob") && place("bob") < place("c, d"), "the best stands first");
    assert!(!page.contains("Level curves"));
}

#[test]
fn support_items_are_known_by_their_ids() {
    let room = Room::new();
    room.write_hostile_tables();
    room.run("train --pairs pairs.csv --items items.csv --scale standard --kernel rbf -o model").ends(0);
    // Models of 0.1 have not kept them.
    let mut model = rankwise::io::read_model(&room.path("model")).unwrap();
    assert!(model.training.support_names.take().is_some());
    rankwise::io::write_model(&room.path("old"), &model).unwrap();
    for model in ["model", "old"] {
        room.run(&format!("report {model} --pairs pairs.csv --items items.csv -o report.html")).ends(0);
        let page = room.read("report.html");
        let weights = page.split("<title id=\"weights-title\">").nth(1).unwrap().split("</svg>").next().unwrap();
        assert!(weights.contains("item &lt;1&gt;") || weights.contains("item &lt;2&gt;"), "{weights}");
        assert!(!weights.contains("support item #"), "{weights}");
    }
}

#[test]
fn names_from_files_cannot_break_the_page() {
    let room = Room::new();
    room.write_hostile_tables();
    room.run("train --pairs pairs.csv --items items.csv -o model").ends(0);
    room.run("report model --pairs pairs.csv --items items.csv -o report.html --svg svg").ends(0);
    for file in ["report.html", "svg/weights.svg"] {
        let text = room.read(file);
        assert!(!text.contains("<script") && text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{file}");
    }
}

#[test]
fn the_worst_mistakes_come_first() {
    let room = Room::with_leaderboard();
    // Against the order of the board: the worse player is judged better.
    room.write(
        "upsets.csv",
        "left,right,outcome\nann,bob,left\nbob,eve,left\nann,\"c, d\",right\nbob,\"c, d\",right\n",
    );
    room.run("report board --pairs upsets.csv -o report.html").ends(0);
    let page = room.read("report.html");
    let rows: Vec<&str> = page.split("<h2>Most wrong</h2>").nth(1).unwrap().split("<tr>").skip(2).collect();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(
        rows[0].starts_with("<th scope=\"row\">3</th><td>ann</td><td>c, d</td><td>right</td><td>left</td>"),
        "{}",
        rows[0]
    );
    assert!(
        rows[1].starts_with("<th scope=\"row\">4</th>") && rows[2].starts_with("<th scope=\"row\">2</th>"),
        "{rows:?}"
    );
}

#[test]
fn groups_are_resampled_whole() {
    let room = Room::with_model();
    let with_groups = |group: fn(usize) -> usize| {
        let lines = room.read("test.csv");
        let row = |(at, line): (usize, &str)| {
            if at == 0 { format!("{line},group\n") } else { format!("{line},{}\n", group(at)) }
        };
        lines.lines().enumerate().map(row).collect::<String>()
    };
    room.write("grouped.csv", &with_groups(|at| at % 30));
    let json = room.run("report model --pairs grouped.csv -o grouped.html --json").ends(0).json();
    let plain = room.run("report model --pairs test.csv -o plain.html --json").ends(0).json();
    assert_eq!(json["metrics"]["zero_one"]["value"], plain["metrics"]["zero_one"]["value"]);
    assert_ne!(json["metrics"]["zero_one"], plain["metrics"]["zero_one"]);
    assert!(room.read("grouped.html").contains("1000 resamples of 30 groups"));
}

#[test]
fn what_cannot_be_written_is_told_before_the_work() {
    let room = Room::with_model();
    let (model, pairs) = (room.bytes("model"), room.read("test.csv"));
    room.run("report model --pairs absent.csv -o nowhere/r.html").fails(1, &["nowhere", "create it first"]);
    room.run("report model --pairs absent.csv -o .").fails(1, &["is a directory"]);
    room.run("report model --pairs test.csv -o -").fails(2, &["standard output", "-o"]);
    room.run("report model --pairs test.csv -o test.csv").fails(2, &["destroy the input"]);
    room.run("report model --pairs test.csv -o model").fails(2, &["destroy the input"]);
    room.run("report model --pairs test.csv -o r.html --svg test.csv").fails(1, &["test.csv", "create"]);
    room.run("report model --pairs test.csv -o svg/roc.svg --svg svg").fails(1, &["svg", "create it first"]);
    std::fs::create_dir(room.path("svg")).unwrap();
    room.run("report model --pairs test.csv -o svg/roc.svg --svg svg").fails(2, &["same name"]);
    room.run("report model --pairs test.csv -o svg/../svg/roc.svg --svg svg").fails(2, &["same name"]);
    room.run("report model -o r.html").fails(2, &["--pairs"]);
    room.run("report model --pairs test.csv").ends(2);
    assert_eq!((room.bytes("model"), room.read("test.csv")), (model, pairs));
    assert!(!room.path("r.html").exists() && !room.path("svg/roc.svg").exists());
}
