//! `simulate`: the file, the seed, the share of ties.

use crate::room::Room;

#[test]
fn pairs_as_a_table() {
    let room = Room::new();
    let out = room.run("simulate --norm linf --pairs 50 --ties 0.2 --noise 0").ends(0).out;
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("left.x1,left.x2,right.x1,right.x2,outcome"));
    let mut n_ties = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let x: Vec<f64> = fields[..4].iter().map(|field| field.parse().unwrap()).collect();
        let rank = |a: f64, b: f64| a.abs().max(b.abs()).powi(2);
        let difference = rank(x[2], x[3]) - rank(x[0], x[1]);
        let expected = if difference.abs() <= 1.0 { "tie" } else { ["left", "right"][usize::from(difference > 0.0)] };
        let word = match fields[4] {
            "-1" => "left",
            "0" => "tie",
            "1" => "right",
            word => word,
        };
        assert_eq!(word, expected, "{line}");
        n_ties += usize::from(expected == "tie");
    }
    assert_eq!(n_ties, 10);
}

#[test]
fn the_seed_decides() {
    let room = Room::new();
    let draw = |seed: u32| room.run(&format!("simulate --pairs 20 --seed {seed}")).ends(0).out;
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    room.run("simulate --pairs 20 --seed 1 -o p.csv").ends(0);
    assert_eq!(room.read("p.csv"), draw(1));
}

#[test]
fn json_holds_the_pairs_or_names_the_file() {
    let room = Room::new();
    let json = room.run("simulate --pairs 10 --json").ends(0).json();
    assert_eq!((&json["pairs"], &json["ties"]), (&10.into(), &5.into()));
    assert_eq!(json["comparisons"].as_array().unwrap().len(), 10);
    let json = room.run("simulate --pairs 10 --json -o p.csv").ends(0).json();
    assert_eq!(json["output"], "p.csv");
    assert!(json.get("comparisons").is_none());
}

#[test]
fn a_missing_directory_is_said() {
    let room = Room::new();
    room.run("simulate --pairs 10 -o nowhere/p.csv").fails(1, &["nowhere"]);
    room.run("simulate --pairs 10 -o .").fails(1, &["directory"]);
    assert!(room.names().is_empty());
}

#[test]
fn only_csv_is_written() {
    let room = Room::new();
    for name in ["z.tsv", "z.csv.gz", "z", "z.txt"] {
        room.run(&format!("simulate --pairs 10 -o {name}")).fails(2, &[name, "csv", "name"]);
    }
    assert!(room.names().is_empty());
    room.run("simulate --pairs 10 -o Z.CSV").ends(0);
    let out = room.run("simulate --pairs 10 -o -").ends(0).out;
    assert_eq!(room.read("Z.CSV"), out);
    if cfg!(unix) {
        assert_eq!(room.run("simulate --pairs 10 -o /dev/stdout").ends(0).out, out);
    }
}

#[test]
fn noise_that_hides_the_ties_is_said_in_bounded_time() {
    let room = Room::new();
    room.run("simulate --pairs 1000000 --noise 1e6").fails(2, &["noise = 1000000", "less noise", "ties"]);
}
