//! Small files in the forms in which data sets are published, drawn from a seed: nothing of the data sets themselves.
#![allow(dead_code, reason = "each of the binaries that include this file needs some of it")]

use std::fmt::Write as _;
use std::path::Path;

use rankwise::data::Random;

/// Writes an ARFF file of a regression with everything that real ones have: comments, quotes, CRLF, commas at the ends of rows.
/// Attributes are `x1` … `xN`, the nominal `kind of thing` (`red`, `'deep blue'`, `green`) and the target `y`, which depends on
/// all of them. Every `every_missing`-th row has a `?`; 0: none.
pub(crate) fn write_arff(path: &Path, n_rows: usize, n_numeric: usize, every_missing: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut text = String::from("% made up, 100 % of it\r\n\r\n@RELATION 'made up'\r\n");
    (1..=n_numeric).for_each(|k| write!(text, "@attribute x{k} {}\r\n", ["numeric", "REAL"][k % 2]).unwrap());
    text += "@Attribute 'kind of thing' {red, 'deep blue', green}  % three words\r\n@attribute y real\r\n\r\n@DATA\r\n";
    for row in 1..=n_rows {
        let mut y = 0.1 * random.normal();
        for k in 1..=n_numeric {
            let x = (1000.0 * random.normal()).round() / 1000.0;
            y += x / k as f64;
            if every_missing > 0 && k == 1 && row % every_missing == 0 {
                text += "?,"
            } else {
                write!(text, "{x},").unwrap()
            }
        }
        let kind = random.below(3);
        y += [0.0, 1.0, -1.0][kind];
        write!(text, "{}, {y:.6},\r\n", ["red", "'deep blue'", "green"][kind]).unwrap();
        if row % 10 == 0 {
            text += "% a comment among the rows\r\n\r\n";
        }
    }
    std::fs::write(path, text).unwrap();
}

/// Writes `sushi3.idata`, `sushi3.udata` and `sushi3b.5000.10.score` of made-up people and `n_items` (at least 10) sushis. People
/// like what is oily and cheap.
pub(crate) fn write_sushi(directory: &Path, n_people: usize, n_items: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut items =
        String::from("#name style major-group minor-group heaviness frequence-eaten price frequence-sold\n\n");
    let mut worth = Vec::new();
    for item in 0..n_items {
        let [oiliness, eaten, price, sold] = [4.0, 3.0, 5.0, 1.0].map(|top| top * random.uniform());
        let minor = random.below(12);
        let (style, major) = (random.below(2), usize::from(minor > 8));
        writeln!(items, "{item}\t寿司{item}\t{style}\t{major}\t{minor}\t{oiliness}\t{eaten}\t{price}\t{sold}").unwrap();
        worth.push(eaten - oiliness / 2.0 - price / 2.0);
    }
    let (mut people, mut scores) = (String::new(), String::new());
    for person in 0..n_people {
        let [born, home] = [0, 1].map(|_| random.below(48));
        let moved = u8::from(born != home);
        let (gender, age, time) = (random.below(2), random.below(6), 100 + random.below(900));
        writeln!(people, "{}\t{gender}\t{age}\t{time}\t{born}\t0\t0\t{home}\t0\t0\t{moved}", 100 + person).unwrap();
        let mut order: Vec<usize> = (0..n_items).collect();
        random.shuffle(&mut order);
        let mut row = vec!["-1".to_string(); n_items];
        for &item in &order[..10] {
            let score = (2.5 + worth[item] + 0.5 * random.normal()).round().clamp(0.0, 4.0);
            row[item] = (score as u8).to_string();
        }
        writeln!(scores, "{}", row.join(" ")).unwrap();
    }
    for (name, text) in [("sushi3.idata", items), ("sushi3.udata", people), ("sushi3b.5000.10.score", scores)] {
        std::fs::write(directory.join(name), text).unwrap();
    }
}

/// Writes `S1.txt` … `S5.txt`: labels 0 to 2, queries numbered on through the parts, documents with ids.
pub(crate) fn write_letor(directory: &Path, n_queries: usize, n_documents: usize, n_features: usize, seed: u64) {
    let mut random = Random::new(seed);
    for part in 0..5 {
        let mut text = String::new();
        for query in 1..=n_queries {
            for document in 0..n_documents {
                let x: Vec<f64> = (0..n_features).map(|_| (random.uniform() * 1000.0).round() / 1000.0).collect();
                let worth = 2.0 * x[0] + x[n_features - 1] + 0.5 * random.uniform();
                write!(text, "{} qid:{}", (worth * 0.85) as u8, part * n_queries + query).unwrap();
                (1..).zip(&x).for_each(|(k, x)| write!(text, " {k}:{x:.6}").unwrap());
                writeln!(text, " #docid = {part}-{query}-{document}").unwrap();
            }
        }
        std::fs::write(directory.join(format!("S{}.txt", part + 1)), text).unwrap();
    }
}
