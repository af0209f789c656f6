//! `reproduce`: what there is, what is missing, and the studies of comparing machines and of swapped pairs on simulated files.

use crate::browser::check_page;
use crate::published_files::{write_arff, write_letor, write_sushi};
use crate::room::Room;

/// The data sets of the swapped-pairs study, and about how many rows each needs.
const SETS: [(&str, usize); 12] = [
    ("diabetes.numeric", 43),
    ("pyrim", 74),
    ("servo", 167),
    ("triazines", 186),
    ("wisconsin", 194),
    ("machine.cpu", 209),
    ("autompg", 260),
    ("housing", 260),
    ("stock", 260),
    ("abalone", 260),
    ("bank8FM", 260),
    ("bank32nh", 260),
];

/// A room with simulated files of all data sets that these studies read.
fn with_data() -> Room {
    let room = Room::new();
    for folder in ["data/sushi", "data/mq2008", "data/torgo"] {
        std::fs::create_dir_all(room.path(folder)).unwrap();
    }
    write_sushi(&room.path("data/sushi"), 400, 30, 1);
    write_letor(&room.path("data/mq2008"), 20, 12, 6, 1);
    for (seed, (name, n)) in (1..).zip(SETS) {
        write_arff(&room.path(&format!("data/torgo/{name}.arff")), n, 3, 90, seed);
    }
    room
}

/// The files of a study are there and hold together.
fn check(room: &Room, name: &str, n_rows: usize) -> String {
    let csv = room.read(&format!("out/{name}.csv"));
    let n_columns = csv.lines().next().unwrap().split(',').count();
    assert_eq!(csv.lines().count(), 1 + n_rows, "{name}: {csv}");
    assert!(csv.lines().all(|line| line.split(',').count() >= n_columns), "{name}: {csv}");
    let svg = room.read(&format!("out/{name}.svg"));
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{name}");
    let told = room.read(&format!("out/{name}.md"));
    for part in [&format!("## {name}"), &format!("]({name}.svg)"), "quick version", "--quick"] {
        assert!(told.contains(part), "{name}: no {part:?} in {told}");
    }
    csv
}

#[test]
fn every_study_says_what_it_needs() {
    let room = Room::new();
    let listed = room.run("reproduce --list").ends(0).out;
    let json = room.run("reproduce --list --json").ends(0).json();
    let studies = json["studies"].as_array().unwrap();
    let names: Vec<&str> = studies.iter().map(|study| study["name"].as_str().unwrap()).collect();
    let known = "svmcompare-fig2 svmcompare-fig3 svmcompare-fig4 svmcompare-fig5 svmcompare-fig6 svmcompare-letor \
                 pairwise-transform swapped-table1 rvm-fig7 rvm-fig8 rvm-fig9 rvm-fig10 rvm-table2 xor online";
    let mut sorted = (names.clone(), known.split_whitespace().collect::<Vec<_>>());
    sorted.0.sort_unstable();
    sorted.1.sort_unstable();
    assert_eq!(sorted.0, sorted.1);
    for study in studies {
        let name = study["name"].as_str().unwrap();
        assert!(listed.contains(name));
        let needs = study["needs"].as_array().unwrap();
        for need in needs {
            assert!(listed.contains(need["source"].as_str().unwrap()) && !need["licence"].as_str().unwrap().is_empty());
        }
        // Without data: one line, which names the file, where it comes from and its licence; nothing is made.
        if let Some(first) = needs.first() {
            let words = [&first["file"], &first["source"], &first["licence"]].map(|word| word.as_str().unwrap());
            for (status, data) in [(2, ""), (1, " --data .")] {
                let told = room.run(&format!("reproduce {name} --out out{data}")).fails(status, &words);
                assert_eq!(told.err.trim_end().lines().count(), 1, "{}", told.err);
            }
        }
    }
    room.run("reproduce").fails(2, &["NAME"]);
    room.run("reproduce figure-9 --out out").fails(2, &["figure-9", "known", "svmcompare-fig4"]);
    assert!(room.names().is_empty(), "{:?}", room.names());
}

#[test]
fn figures_of_comparing_machines() {
    let room = with_data();
    let names = ["svmcompare-fig2", "svmcompare-fig3", "svmcompare-fig4", "svmcompare-fig5", "svmcompare-letor"];
    let command = format!("reproduce {} --data data --out out --quick", names.join(" "));
    let told = room.run(&command).ends(0).out;
    for (name, n_rows) in names.into_iter().zip([5, 8, 5 * 2 * 2 * 4, 5 * 2 * 2 * 4, 2 * 2 * 4]) {
        check(&room, name, n_rows);
        assert!(told.contains(&format!("out/{name}.html")) && told.contains("the quick version"), "{told}");
    }
    check_page("figures_of_comparing_machines", &room.path("out/svmcompare-fig4.html"), 1);
    // The linear program has at least the margin of the quadratic one, and does not depend on scales.
    for line in room.read("out/svmcompare-fig2.csv").lines().skip(1) {
        let n: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!(n[1] >= n[2] - 1e-6 && n[3] >= n[4] - 1e-6 && (n[1] - n[3]).abs() < 1e-5 && n[2] > 0.0, "{line}");
    }
}

#[test]
fn numbers_depend_on_neither_threads_nor_interruptions() {
    let room = with_data();
    let run = |out: &str, more: &str| {
        let command = format!("reproduce svmcompare-fig5 swapped-table1 --data data --out {out} --quick {more} --json");
        room.run(&command).ends(0).json()
    };
    let names = ["svmcompare-fig5", "swapped-table1"];
    run("out", "--threads 1");
    for (name, n_rows) in names.into_iter().zip([5 * 2 * 2 * 4, 12 * 4 * 2]) {
        check(&room, name, n_rows);
    }
    let all = |out: &str| names.map(|name| ["csv", "svg", "html"].map(|end| room.read(&format!("{out}/{name}.{end}"))));
    let first = all("out");
    run("two", "--threads 2");
    assert_eq!(all("two"), first);
    // A journal that lacks its second half, its last line torn: the rest is computed.
    for name in names {
        let path = format!("two/{name}-quick.journal");
        let text = room.read(&path);
        room.write(&path, &text[..text.len() / 2]);
    }
    let resumed = run("two", "");
    for study in resumed["studies"].as_array().unwrap() {
        let n = study["tasks_resumed"].as_u64().unwrap();
        assert!((10..60).contains(&n), "{n}");
    }
    assert_eq!(all("two"), first);
    let again = run("two", "--fresh");
    assert!(again["studies"].as_array().unwrap().iter().all(|study| study["tasks_resumed"] == 0));
    assert_eq!(all("two"), first);
    // Another seed is another study with a journal of its own; the first one's is still there.
    let other = run("two", "--seed 7");
    assert!(other["studies"].as_array().unwrap().iter().all(|study| study["tasks_resumed"] == 0));
    assert_ne!(all("two"), first);
    let back = run("two", "");
    assert!(back["studies"].as_array().unwrap().iter().all(|study| study["tasks_resumed"].as_u64() > Some(60)));
    assert_eq!(all("two"), first);
}

#[test]
fn a_broken_file_ends_a_study_before_any_work() {
    let room = with_data();
    room.write("data/torgo/stock.arff", "@attribute a real\n@attribute b real\n@data\n1,2\n1,oops\n");
    room.run("reproduce swapped-table1 --data data --out out --quick").fails(1, &["stock.arff", "line 5", "oops"]);
    write_arff(&room.path("data/torgo/stock.arff"), 150, 3, 90, 1);
    room.run("reproduce swapped-table1 --data data --out out --quick").fails(1, &["stock.arff", "200"]);
    assert!(!room.names().iter().any(|name| name.contains("swapped")), "{:?}", room.names());
    room.write("file", "");
    room.run("reproduce xor --out file").fails(1, &["file"]);
    let told = room.run("reproduce xor --out deep/er").ends(0).out;
    assert!(told.contains("1/8") && told.contains("0.125000"), "{told}");
    assert!(room.path("deep/er/xor.html").is_file() && !room.path("deep/er/xor.journal").exists());
}

/// On the data themselves, where they are.
#[test]
fn quick_studies_of_the_published_data() {
    let Ok(data) = std::env::var("RANKWISE_DATA") else {
        println!("skipped: RANKWISE_DATA is not set");
        return;
    };
    let room = Room::new();
    let names = "svmcompare-fig4 svmcompare-fig5 svmcompare-fig6 svmcompare-letor swapped-table1";
    let json = room.run(&format!("reproduce {names} --data {data} --out out --quick --json")).ends(0).json();
    assert_eq!(json["studies"].as_array().unwrap().len(), 5);
    assert!(room.read("out/svmcompare-fig6.md").contains("49520 matches, 11258 of them ties"));
    assert!(room.read("out/svmcompare-fig4.md").contains("17832 ties and 7168 other pairs"));
    let swapped = room.read("out/swapped-table1.csv");
    let stock: Vec<f64> = swapped
        .lines()
        .filter(|line| line.starts_with("Stock,scaled,swap,"))
        .map(|line| line.split(',').nth(4).unwrap().parse().unwrap())
        .collect();
    assert!(stock.len() == 2 && stock.iter().all(|share| (0.03..0.08).contains(share)), "{stock:?}");
}
