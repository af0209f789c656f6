//! Digits: what is written comes back, and numbers that differ in a file differ in memory.

use rankwise::data::{Features, Precision, Random};
use rankwise::io::{BlockFile, Columns, Conversion, Source, convert, read_items};

use super::Files;

fn read(source: &Source) -> Features {
    read_items(source, &Columns::default(), Precision::Auto).unwrap().items.features
}

fn converted(folder: &Files, source: &Source, to: &str) -> Source {
    convert(source, &Columns::default(), &folder.path(to), &Conversion::default()).unwrap();
    Source::parse(folder.path(to).to_str().unwrap(), None).unwrap()
}

fn text(folder: &Files, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn converting_text_to_text_keeps_every_digit() {
    let folder = Files::new();
    let csv =
        "label,ts,x\n1,1700000001,400.1257302210934\n0,1700000003,0.1\n2,5,-2e-7\n0,0.30000000000000004,16777217\n";
    let source = folder.write("a.csv", csv);
    let svm = converted(&folder, &source, "b.svm");
    assert_eq!(
        text(&folder, "b.svm"),
        "1 1:1700000001 2:400.1257302210934\n0 1:1700000003 2:0.1\n2 1:5 2:-2e-7\n0 1:0.30000000000000004 2:16777217\n"
    );
    converted(&folder, &svm, "c.tsv");
    let expected = csv.replace(',', "\t").replace("ts\tx", "x1\tx2");
    assert_eq!(text(&folder, "c.tsv"), expected);
}

/// One row near 0 hid a column of time stamps behind its range; in f32 they are multiples of 128.
#[test]
fn time_stamps_beside_a_zero_stay_apart() {
    let folder = Files::new();
    let stamps: Vec<f64> = (0..60).map(|k| 1_700_000_000.0 + f64::from(2 * k)).chain([3.0, 0.0]).collect();
    let csv: String = stamps.iter().map(|stamp| format!("1,{stamp}\n")).collect();
    let svm: String = stamps.iter().map(|stamp| format!("1 1:{stamp}\n")).collect();
    for source in [folder.write("a.csv", format!("label,ts\n{csv}")), folder.write("a.svm", svm)] {
        assert_eq!(read(&source).to_dense(), stamps);
        let blocks = converted(&folder, &source, "a.rwb");
        assert_eq!(read(&blocks).to_dense(), stamps);
        // By the user's own will they merge.
        let rounded = read_items(&source, &Columns::default(), Precision::F32).unwrap().items.features.to_dense();
        assert!(rounded[..60].iter().all(|stamp| stamp % 128.0 == 0.0));
    }
    assert_eq!(Features::dense(1, stamps.clone(), Precision::Auto).unwrap().to_dense(), stamps);
}

#[test]
fn numbers_of_few_digits_are_stored_in_f32() {
    let folder = Files::new();
    let rows = [
        "0.036363,1.000000,0,-7.123456,1700000000,1e-7",
        "0.5,12.5,1,3.000001,0,123456",
        "0.1,273.512,16777216,15.999999,3,-2.5e20",
    ];
    let csv = format!("a,b,c,d,e,f\n{}\n", rows.join("\n"));
    let svm_row = |row: &str| {
        let entries = row.split(',').enumerate().map(|(at, value)| format!(" {}:{value}", at + 1));
        format!("1{}\n", entries.collect::<String>())
    };
    let svm: String = rows.map(svm_row).concat();
    for source in [folder.write("a.csv", csv), folder.write("a.svm", svm)] {
        let features = read(&source);
        assert!(features.is_f32());
        let expected: Vec<f64> =
            rows.iter().flat_map(|row| row.split(',')).map(|cell| cell.parse::<f32>().unwrap().into()).collect();
        assert_eq!(features.to_dense(), expected);
        let blocks = folder.path("a.rwb");
        convert(&source, &Columns::default(), &blocks, &Conversion::default()).unwrap();
        assert!(BlockFile::open(&blocks).unwrap().is_f32());
    }
}

/// Numbers in clusters anywhere, of few digits or of many, dense and with gaps, by every way into memory.
#[test]
fn no_way_into_memory_merges_numbers() {
    let mut random = Random::new(5);
    let (mut n_f32, mut n_f64) = (0, 0);
    for case in 0..150 {
        let folder = Files::new();
        let is_sparse = case % 3 == 2;
        let n_rows = 4 + random.below(40);
        let column = |random: &mut Random| -> Vec<f64> {
            let (center, step) = (10f64.powi(random.below(11) as i32), 10f64.powi(random.below(9) as i32 - 6));
            let first = if random.below(2) == 0 { 0.0 } else { center };
            let value = |random: &mut Random| match random.below(12) {
                0 => 0.0,
                1 if case % 5 == 0 => first + random.normal(),
                _ => first + step * random.below(30) as f64,
            };
            // As few digits as the step has.
            let decimals = 6;
            (0..n_rows).map(|_| format!("{:.decimals$}", value(random)).parse().unwrap()).collect()
        };
        let columns: Vec<Vec<f64>> = (0..3).map(|_| column(&mut random)).collect();
        // Columns of the SVMlight file far apart, so that rows have gaps.
        let place = |at: usize| if is_sparse { 1 + 40 * at } else { 1 + at };
        let svm: String = (0..n_rows)
            .map(|row| {
                let entries = (0..3).map(|at| format!(" {}:{}", place(at), columns[at][row]));
                format!("1{}\n", entries.collect::<String>())
            })
            .collect();
        let csv: String =
            (0..n_rows).map(|row| format!("{},{},{}\n", columns[0][row], columns[1][row], columns[2][row])).collect();
        let (svm, csv) = (folder.write("a.svm", svm), folder.write("a.csv", format!("a,b,c\n{csv}")));
        let blocks = converted(&folder, &svm, "a.rwb");
        for (features, is_svm) in [(read(&svm), true), (read(&csv), false), (read(&blocks), true)] {
            if features.is_f32() {
                n_f32 += 1
            } else {
                n_f64 += 1
            }
            let (dense, width) = (features.to_dense(), features.n_cols());
            for (at, column) in columns.iter().enumerate() {
                let stored = |row: usize| dense[row * width + if is_svm { place(at) - 1 } else { at }];
                for a in 0..n_rows {
                    for b in 0..a {
                        assert_eq!(stored(a) == stored(b), column[a] == column[b], "{} {}", column[a], column[b]);
                    }
                }
            }
        }
    }
    assert!(n_f32 > 50 && n_f64 > 50, "{n_f32} {n_f64}");
}

/// Rows with gaps and rows without them have the same columns: a number of f32 here may be the double of a short one there. Lines
/// are read in pieces, each with gaps or without.
#[test]
fn rows_with_gaps_and_without_do_not_merge() {
    let folder = Files::new();
    let near = f64::from(0.1f32);
    let rows = "1 1:5 2:1\n".repeat(120_000);
    for (one, other) in [(near, 0.1), (0.1, near)] {
        for last in [format!("0 1:{other} 300:2\n"), format!("0 1:{other}\n1 2:3 300:1\n")] {
            let source = folder.write("a.svm", format!("1 1:{one} 2:1\n{rows}{last}"));
            let features = read(&converted(&folder, &source, "a.rwb"));
            let value = |row: usize| {
                let mut values = vec![0.0; features.n_cols()];
                features.copy_row(row, &mut values);
                values[0]
            };
            assert_ne!(value(0), value(120_001), "{last}");
        }
    }
    let short = folder.write("b.svm", "1 1:0.25 2:1\n0 1:0.1 300:2\n1 2:7.5\n");
    assert!(read(&converted(&folder, &short, "b.rwb")).is_f32() && read(&short).is_f32());
}

/// The user may round what is stored in binary; text has all digits.
#[test]
fn a_precision_rounds_no_text() {
    let folder = Files::new();
    let text_of = "label,x\n1,0.30000000000000004\n2,1e-60\n3,1e300\n";
    let source = folder.write("a.csv", text_of);
    for precision in [Precision::F32, Precision::F64, Precision::Auto] {
        let how = Conversion { precision, ..Conversion::default() };
        convert(&source, &Columns::default(), &folder.path("b.csv"), &how).unwrap();
        assert_eq!(text(&folder, "b.csv"), text_of);
        convert(&source, &Columns::default(), &folder.path("b.svm"), &how).unwrap();
        assert!(text(&folder, "b.svm").starts_with("1 1:0.30000000000000004\n"));
    }
    let source = folder.write("c.csv", "label,x\n1,0.30000000000000004\n2,1\n");
    let how = Conversion { precision: Precision::F32, ..Conversion::default() };
    convert(&source, &Columns::default(), &folder.path("c.rwb"), &how).unwrap();
    assert!(BlockFile::open(&folder.path("c.rwb")).unwrap().is_f32());
}
