//! `reproduce`: the Ranking Vector Machine beside the ranking SVM, the pairwise transform, online steps.

use crate::room::Room;

/// The rows of a study's csv file, the header first.
fn rows(room: &Room, out: &str, study: &str) -> Vec<Vec<String>> {
    let text = room.read(&format!("{out}/{study}.csv"));
    let rows: Vec<Vec<String>> = text.lines().map(|line| line.split(',').map(String::from).collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
    rows
}

/// The numbers of a column.
fn column(rows: &[Vec<String>], name: &str) -> Vec<f64> {
    let at = rows[0].iter().position(|cell| cell == name).unwrap();
    rows[1..].iter().map(|row| row[at].parse().unwrap()).collect()
}

/// Runs the quick version, and looks at every file of it.
fn run(room: &Room, study: &str, out: &str, more: &str) -> Vec<Vec<String>> {
    let ran = room.run(&format!("reproduce {study} --quick --json --out {out} {more}")).ends(0);
    let told = ran.json()["studies"][0].clone();
    assert_eq!(told["name"], study);
    let svg = room.read(&format!("{out}/{study}.svg"));
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"), "{svg}");
    for tag in ["g", "text", "svg", "title"] {
        let opened = svg.matches(&format!("<{tag} ")).count() + svg.matches(&format!("<{tag}>")).count();
        assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    let html = room.read(&format!("{out}/{study}.html"));
    let table = told["table"]["rows"].as_array().unwrap();
    assert!(!table.is_empty());
    for row in table {
        let name = row[0].as_str().unwrap();
        assert!(html.contains(name), "no {name} in the page");
    }
    assert!(!told["claims"].as_array().unwrap().is_empty() && !told["notes"].as_array().unwrap().is_empty());
    assert!(room.read(&format!("{out}/{study}.md")).contains(&format!("]({study}.svg)")));
    rows(room, out, study)
}

/// Forgets half of what a journal has.
fn forget_half(room: &Room, journal: &str) {
    let text = room.read(journal);
    let mut lines = text.lines();
    let head = lines.next().unwrap().to_string();
    let kept: Vec<&str> = lines.step_by(2).collect();
    room.write(journal, &format!("{head}\n{}\n", kept.join("\n")));
}

/// Neither the number of threads nor an interruption changes a byte.
fn is_the_same_again(study: &str) -> Vec<Vec<String>> {
    let room = Room::new();
    let rows = run(&room, study, "one", "--threads 1");
    run(&room, study, "two", "--threads 2");
    let first = room.bytes(&format!("one/{study}.csv"));
    assert_eq!(first, room.bytes(&format!("two/{study}.csv")));
    let journal = if study == "rvm-fig7" { "rvm-sizes" } else { study };
    forget_half(&room, &format!("two/{journal}-quick.journal"));
    let ran = room.run(&format!("reproduce {study} --quick --json --out two")).ends(0);
    assert!(ran.json()["studies"][0]["tasks_resumed"].as_u64().unwrap() > 0);
    assert_eq!(first, room.bytes(&format!("two/{study}.csv")));
    assert_eq!(room.bytes(&format!("one/{study}.svg")), room.bytes(&format!("two/{study}.svg")));
    rows
}

#[test]
fn figure_7_has_accuracies_that_do_not_depend_on_threads_or_interruptions() {
    let rows = is_the_same_again("rvm-fig7");
    // Two functions, two sizes, three repeats, three machines.
    assert_eq!(rows.len(), 1 + 2 * 2 * 3 * 3);
    assert!(column(&rows, "accuracy").iter().all(|share| (0.8..=1.0).contains(share)), "{rows:?}");
    assert!(column(&rows, "C").iter().all(|c| (1e-5..=1e5).contains(c)));
}

#[test]
fn figure_8_has_times_and_figure_9_the_numbers_of_figure_7() {
    let room = Room::new();
    let timed = run(&room, "rvm-fig8", "out", "");
    assert!(column(&timed, "seconds").iter().all(|seconds| *seconds > 0.0 && *seconds < 60.0));
    let counted = run(&room, "rvm-fig9", "out", "");
    let without_time: Vec<&[String]> = timed.iter().map(|row| &row[..row.len() - 1]).collect();
    assert_eq!(counted, without_time, "the three figures are of the same fits");
    for row in &counted[1..] {
        let (m, vectors): (f64, f64) = (row[1].parse().unwrap(), row[6].parse().unwrap());
        assert!(vectors >= 1.0 && vectors <= m, "{row:?}");
        // A linear function of five features needs no more than five items.
        assert!(row[0] != "linear" || row[3] == "ranking-svm" || vectors <= 5.0, "{row:?}");
        assert_eq!(row[7] == "0", row[3] != "ranking-svm", "pairs are the ranking SVM's: {row:?}");
    }
}

#[test]
fn figure_10_is_of_the_same_items_with_and_without_noise() {
    let rows = is_the_same_again("rvm-fig10");
    // Two functions, three numbers of switches, two repeats, three machines.
    assert_eq!(rows.len(), 1 + 2 * 3 * 2 * 3);
    let mean = |switches: &str| {
        let own = rows[1..].iter().filter(|row| row[1] == switches).map(|row| row[4].parse::<f64>().unwrap());
        own.clone().sum::<f64>() / own.count() as f64
    };
    assert!(mean("0") > mean("30"), "{} {}", mean("0"), mean("30"));
}

#[test]
fn the_posts_own_split_gives_its_own_numbers() {
    let rows = is_the_same_again("pairwise-transform");
    assert_eq!(rows.len(), 1 + 1 + 40);
    let printed = ["0.71122", "0.84387", "0.83627", "0.84387"];
    for (ours, printed) in rows[1][1..].iter().zip(printed) {
        assert_eq!(format!("{:.5}", ours.parse::<f64>().unwrap()), printed);
    }
}

#[test]
fn online_steps_come_near_the_optimum_and_never_below() {
    let rows = is_the_same_again("online");
    // Two C, four ways, two seeds, steps of five sizes.
    assert_eq!(rows.len(), 1 + 2 * 4 * 2 * 5);
    let excess = column(&rows, "excess");
    assert!(excess.iter().all(|excess| *excess > -1e-8), "{excess:?}");
    assert!(column(&rows, "optimum_gap").iter().all(|gap| (0.0..=1e-8).contains(gap)));
    for (row, excess) in rows[1..].iter().zip(&excess) {
        let is_last = row[4] == "10000" && row[0] == "0.01";
        assert!(!is_last || *excess < 0.2, "{row:?}");
    }
}

/// Files like those of LETOR: five parts with two queries each, numbered across the parts out of order.
fn write_letor(room: &Room) {
    std::fs::create_dir_all(room.path("data/ohsumed_letor2")).unwrap();
    let mut state = 7u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for part in 1..=5 {
        let mut text = String::new();
        for query in [11 - part, 16 - part] {
            for _ in 0..24 + query {
                let x: Vec<f64> = (0..25).map(|_| uniform()).collect();
                let grade = ((x[0] + x[1] + 0.3 * uniform()) * 1.3) as u32;
                let features: Vec<String> = x.iter().enumerate().map(|(k, x)| format!("{}:{x:.4}", k + 1)).collect();
                text += &format!("{} qid:{query} {} #docid = 1\n", grade.min(2), features.join(" "));
            }
        }
        room.write(&format!("data/ohsumed_letor2/S{part}.txt"), &text);
    }
}

#[test]
fn table_2_takes_the_first_three_queries_of_all_parts() {
    let room = Room::new();
    room.run("reproduce rvm-table2 --quick --out out")
        .fails(2, &["ohsumed_letor2/S1.txt", "LETOR 2.0", "research use"]);
    write_letor(&room);
    let rows = run(&room, "rvm-table2", "out", "--data data");
    // Three queries, two kernels, three machines, one repeat.
    assert_eq!(rows.len(), 1 + 3 * 2 * 3);
    let mut queries: Vec<(f64, f64)> = column(&rows, "qid").into_iter().zip(column(&rows, "documents")).collect();
    queries.dedup();
    assert_eq!(queries, [(6.0, 30.0), (7.0, 31.0), (8.0, 32.0)]);
    let shares = column(&rows, "accuracy");
    // A machine may learn nothing from the few points of the quick grid; most learn the order.
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    assert!(shares.iter().sum::<f64>() / shares.len() as f64 > 0.7, "{shares:?}");
    assert!(room.read("out/rvm-table2.html").contains("0.5484"), "the paper's numbers stand beside ours");
    // All but the times is the same after an interruption.
    forget_half(&room, "out/rvm-table2-quick.journal");
    let again = run(&room, "rvm-table2", "out", "--data data");
    let without_time = |rows: &[Vec<String>]| rows.iter().map(|row| row[..row.len() - 1].to_vec()).collect::<Vec<_>>();
    assert_eq!(without_time(&rows), without_time(&again));
}

#[test]
fn table_2_on_the_published_data() {
    let Some(data) = std::env::var_os("RANKWISE_DATA") else {
        println!("skipped: RANKWISE_DATA is not set");
        return;
    };
    let room = Room::new();
    let data = data.into_string().unwrap();
    let rows = run(&room, "rvm-table2", "out", &format!("--data {data}"));
    let mut queries: Vec<(f64, f64)> = column(&rows, "qid").into_iter().zip(column(&rows, "documents")).collect();
    queries.dedup();
    assert_eq!(queries, [(1.0, 138.0), (2.0, 153.0), (3.0, 235.0)]);
    assert!(column(&rows, "accuracy").iter().all(|share| (0.4..0.9).contains(share)), "{rows:?}");
}
