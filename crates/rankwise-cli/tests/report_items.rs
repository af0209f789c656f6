//! `report` on items: a page for people, the same numbers as `evaluate`.

use crate::room::Room;

/// With the linear model `model` on x1 and x2, and `items.csv`: 30 groups whose labels follow x1 more or less.
fn room() -> Room {
    let room = Room::new();
    room.write("pairs.csv", "left.x1,left.x2,right.x1,right.x2,outcome\n0,0,1,0,right\n1,1,3,1,right\n0,1,1,0,right\n");
    room.run("train --pairs pairs.csv --method rank -o model").ends(0);
    let mut items = String::from("id,qid,label,x1,x2\n");
    for k in 0..150 {
        let (group, x1, x2) = (k % 30, (k * 37) % 11, (k * 53) % 7);
        items += &format!("i{k},q{group},{},{x1},{x2}\n", (x1 / 3 + (k * k) % 5 / 3) % 5);
    }
    room.write("items.csv", &items);
    room
}

#[test]
fn everything_is_on_the_page() {
    let room = room();
    let out = room.run("report model items.csv -o report.html").ends(0).out;
    let headline = out.lines().next().unwrap();
    assert!(headline.starts_with("rank has ndcg@10 0.") && headline.contains("a random order would have 0."));
    assert_eq!(out.lines().nth(1), Some("report: report.html"));
    let page = room.read("report.html");
    for words in [
        headline,
        "<h2>What was trained</h2>",
        "<h2>How well</h2>",
        "<h2>Largest weights</h2>",
        "<h2>Worst groups</h2>",
        "<title id=\"groups-title\">",
        "<title id=\"weights-title\">",
        "pair_accuracy",
        "kendall_tau",
        "random order",
        "best by label",
    ] {
        assert!(page.contains(words), "no {words:?}");
    }
    // What a random order would get stands beside the picture and the worst groups.
    for start in [">ndcg@10 of 30 groups", ">The 10 of 30 groups with the smallest ndcg@10"] {
        let text = &page[page.find(start).unwrap_or_else(|| panic!("no {start}"))..];
        assert!(text.split("</").next().unwrap().contains("a random order would have"), "{start}");
    }
}

#[test]
fn numbers_are_those_of_evaluate() {
    let room = room();
    let report = room.run("report model items.csv -o r.html --svg pictures --json").ends(0).json();
    let evaluated = room.run("evaluate model items.csv --ci --json").ends(0).json();
    for (name, value) in evaluated["metrics"].as_object().unwrap() {
        let metric = &report["metrics"][name];
        assert_eq!((&metric["value"], &metric["random_order"]), (value, &evaluated["random_order"][name]), "{name}");
        assert_eq!(metric["low"], evaluated["intervals"][name]["low"], "{name}");
    }
    for key in ["items", "groups", "groups_skipped", "warnings"] {
        assert_eq!(report[key], evaluated[key], "{key}");
    }
    assert_eq!(report["svg"].as_array().unwrap().len(), 2);
    assert!(room.read("pictures/groups.svg").starts_with("<svg xmlns="));
    room.run("report model items.csv -o a.html --threads 1").ends(0);
    room.run("report model items.csv -o b.html --threads 3").ends(0);
    assert_eq!(room.read("a.html"), room.read("b.html"));
}

#[test]
fn the_worst_group_comes_first() {
    let room = room();
    room.write("two.csv", "id,qid,label,x1,x2\na,good,1,2,0\nb,good,0,1,0\n<c>,bad,0,2,0\nd,bad,2,1,0\n");
    room.run("report model two.csv -o report.html").ends(0);
    let page = room.read("report.html");
    let worst = &page[page.find("<h2>Worst groups</h2>").unwrap()..];
    assert!(worst.find("bad").unwrap() < worst.find("good").unwrap());
    assert!(worst.contains("&lt;c&gt; (0), d (2)") && worst.contains("d (2), &lt;c&gt; (0)"), "{worst}");
    assert!(page.contains("intervals from 2 groups say little"));
}

#[test]
fn other_labels_and_nothing_to_measure() {
    let room = room();
    room.write("real.csv", "label,x1,x2\n0.5,2,0\n-1.5,1,0\n");
    let out = room.run("report model real.csv -o report.html").ends(0).out;
    assert!(out.contains("pair_accuracy 1.000 over 1 group"), "{out}");
    assert!(room.read("report.html").contains("all items"));
    room.write("flat.csv", "label,x1,x2\n0,2,0\n0,1,0\n");
    let out = room.run("report model flat.csv -o report.html").ends(0).out;
    assert!(out.contains("could not be measured"), "{out}");
    room.run("report model -o report.html").fails(2, &["no data", "DATA", "--pairs"]);
    room.run("report model items.csv -o items.csv").fails(2, &["would destroy the input"]);
    room.run("report model items.csv --pairs pairs.csv -o r.html").fails(2, &["--pairs"]);
}
