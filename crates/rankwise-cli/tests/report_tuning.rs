//! `report` of a model that was tuned: how it was chosen.

use serde_json::Value;

use crate::browser::check_page;
use crate::room::Room;

/// Tunes with these options, then reports; the page, and the names of the pictures of the search.
fn report(room: &Room, options: &str) -> (String, Vec<String>, Value) {
    let tuned = room.run(&format!("tune --pairs train.csv {options} -o m --json -q")).ends(0).json();
    let json = room.run("report m --pairs test.csv -o r.html --svg svg --json -q").ends(0).json();
    let names = json["svg"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().replace("svg/", ""));
    (room.read("r.html"), names.filter(|name| name.starts_with("tuning")).collect(), tuned)
}

/// The section on the search.
fn section(page: &str) -> &str {
    page.split("<h2>How it was chosen</h2>").nth(1).unwrap().split("<h2>").next().unwrap()
}

#[test]
fn a_model_that_was_not_tuned_has_no_search() {
    let room = Room::with_model();
    room.run("report model --pairs test.csv -o r.html --svg svg").ends(0);
    assert!(!room.read("r.html").contains("How it was chosen") && !room.path("svg/tuning.svg").exists());
}

#[test]
fn two_parameters_are_a_heat_map() {
    let room = Room::with_pairs();
    let (page, names, tuned) = report(&room, "--kernel rbf --grid C=0.1,1,10 --grid gamma=scale,0.05,1 --folds 3");
    assert_eq!(names, ["tuning.svg"]);
    let section = section(&page);
    let svg = room.read("svg/tuning.svg");
    assert_eq!(svg.matches("class=\"rw-cell\"").count(), 9 + 6, "cells and the key");
    assert_eq!((svg.matches("rw-best\"").count(), svg.matches("rw-missing\"").count()), (1, 0));
    for point in tuned["points"].as_array().unwrap() {
        let params = &point["params"];
        let gamma = params["gamma"].as_f64().map_or("scale".into(), |gamma| gamma.to_string());
        let c = params["C"].as_f64().unwrap();
        assert!(svg.contains(&format!("<title>C {c}, γ {gamma}: zero_one ")), "{point}");
    }
    let best = &tuned["best"]["params"];
    assert!(svg.contains(&format!("is at C {} and γ ", best["C"].as_f64().unwrap())), "{svg}");
    for words in [
        "zero_one, less is better",
        "3 folds",
        "9 points",
        "All 9 points",
        "the chosen one is outlined",
        "always “tie” would get 0.5000",
        &format!("{:.4}, over the folds ", tuned["best"]["mean"].as_f64().unwrap()),
    ] {
        assert!(section.contains(words), "no {words:?} in {section}");
    }
    let details = section.split("<details>").nth(1).unwrap();
    assert_eq!(details.matches("<tr>").count(), 10);
    assert_eq!(details.matches('★').count(), 1);
    check_page("two_parameters_are_a_heat_map", &room.path("r.html"), 6);
}

#[test]
fn one_parameter_is_a_line_with_the_folds_around_it() {
    let room = Room::with_pairs();
    let (page, names, _) = report(&room, "--grid C=0.01:100:5 --metric auc --folds 4");
    assert_eq!(names, ["tuning.svg"]);
    let section = section(&page);
    assert!(section.contains("the mean of 4 folds, shaded from the least to the largest"), "{section}");
    assert!(section.contains("auc, more is better") && section.contains("Chosen: C "), "{section}");
    let svg = room.read("svg/tuning.svg");
    assert_eq!(svg.matches("class=\"rw-band rw-s0\"").count(), 1);
    assert_eq!(svg.matches("<circle class=\"rw-mark rw-s0\"").count(), 5 + 1, "points and the legend");
    assert!(svg.contains("would get 0."), "the constant answer stands beside");
    check_page("one_parameter_is_a_line_with_the_folds_around_it", &room.path("r.html"), page.matches("<svg").count());

    let (page, names, _) = report(&room, "--kernel rbf --grid gamma=0.01:1:4 --grid C=3 --valid test.csv");
    assert_eq!(names, ["tuning.svg"]);
    assert!(page.contains("zero_one against γ, on 120 validation pairs"), "{page}");
    assert!(!room.read("svg/tuning.svg").contains("class=\"rw-band"), "a single part has no spread");
}

#[test]
fn every_kernel_has_its_picture_and_words_are_a_table() {
    let room = Room::with_pairs();
    let grid =
        "--grid kernel=linear,rbf,poly --grid C=0.1,1 --grid gamma=0.1,0.5 --grid degree=2,3 --grid loss=squared-hinge";
    let (page, mut names, tuned) = report(&room, &format!("{grid} --folds 2 --max-iter 200"));
    names.sort();
    assert_eq!(names, ["tuning-2.svg", "tuning-3.svg", "tuning-4.svg", "tuning.svg"]);
    for words in
        ["rbf: zero_one for every C and γ", "poly, degree 2, coef0 0: ", "poly, degree 3, coef0 0: ", "against C"]
    {
        assert!(section(&page).contains(words), "no {words:?}");
    }
    assert_eq!(section(&page).matches("rw-best").count(), usize::from(tuned["best"]["params"]["kernel"] != "linear"));
    check_page("every_kernel_has_its_picture", &room.path("r.html"), page.matches("<svg").count());

    std::fs::remove_dir_all(room.path("svg")).unwrap();
    let (page, names, _) = report(&room, "--grid kernel=linear,rbf --grid loss=hinge,squared-hinge --grid C=1");
    assert!(names.is_empty());
    let section = section(&page);
    assert_eq!((section.matches("<tr>").count() >= 5, section.matches('★').count()), (true, 1));
    assert!(!section.contains("<details>") && section.contains("What has a single C and γ"), "{section}");
}

#[test]
fn what_was_not_measured_is_hatched_and_said() {
    let room = Room::with_pairs();
    let grid = "--kernel poly --degree 64 --grid gamma=1e-3,1e300 --grid C=0.1,1";
    let (page, names, _) = report(&room, &format!("{grid} --folds 2 --max-iter 100"));
    assert_eq!(names, ["tuning.svg"]);
    assert_eq!(room.read("svg/tuning.svg").matches("rw-missing\"").count(), 2);
    let section = section(&page);
    for words in
        ["4 points, 2 of them could not be measured", "2 hatched cells were not measured", "The search warned: 2 of 4"]
    {
        assert!(section.contains(words), "no {words:?} in {section}");
    }
}

#[test]
fn pictures_of_the_search_do_not_overwrite_the_input() {
    let room = Room::with_model();
    std::fs::create_dir(room.path("svg")).unwrap();
    std::fs::copy(room.path("test.csv"), room.path("svg/tuning-2.svg")).unwrap();
    room.run("report model --pairs svg/tuning-2.svg --format csv -o r.html --svg svg").fails(2, &["destroy the input"]);
}
