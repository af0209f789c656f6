//! What a broken file in SVMlight's format is told.

use rankwise::io::{Columns, Format, Source, read_items, read_pairs};

use super::svmlight::read;
use super::*;

#[test]
fn every_fault_has_its_line_and_column() {
    let cases: [(&str, &str, &[&str]); 34] = [
        ("1:2 2:3", "1, column 1", &["\"1:2\"", "expected the label", "begin every line with a number"]),
        ("1 1:1\nqid:1 1:2", "2, column 1", &["\"qid:1\"", "expected the label"]),
        ("high 1:2", "1, column 1", &["\"high\"", "a finite number as label"]),
        ("nan 1:2", "1, column 1", &["found nan", "a finite number as label"]),
        ("-inf 1:2", "1, column 1", &["found -inf"]),
        ("1e999 1:2", "1, column 1", &["1e999 is beyond the range of floating point"]),
        ("1 1:nan", "1, column 5", &["found nan", "a finite number"]),
        ("1 1:2 2:-Infinity", "1, column 9", &["found -Infinity"]),
        ("1 1:1\n\n# x\n  2 \t 7:1e400", "4, column 9", &["1e400 is beyond the range of floating point"]),
        ("1 0:1", "1, column 3", &["index 0, expected indices from 1 on", "--index-base 0"]),
        ("1 3:1 3:2", "1, column 7", &["index 3 twice"]),
        ("1 3:1 2:2", "1, column 7", &["index 2 after 3", "sort the features"]),
        ("1 2:1 2000:1 1999:2", "1, column 14", &["index 1999 after 2000"]),
        ("1 x:1", "1, column 3", &["\"x:1\"", "a whole number before the colon"]),
        ("1 1.5:1", "1, column 3", &["\"1.5:1\"", "a whole number"]),
        ("1 -1:1", "1, column 3", &["\"-1:1\"", "a whole number"]),
        ("1 :1", "1, column 3", &["\":1\"", "a whole number"]),
        ("1 2147483648:1", "1, column 3", &["beyond 2147483647"]),
        ("1 4000000000:1", "1, column 3", &["beyond 2147483647", "without large gaps"]),
        ("1 99999999999999999999:1", "1, column 3", &["beyond 2147483647"]),
        ("1 1: 2:1", "1, column 5", &["nothing after the colon of \"1:\""]),
        ("1 1:1 2:", "1, column 9", &["nothing after the colon of \"2:\""]),
        ("1 1:abc", "1, column 5", &["\"abc\"", "a finite number"]),
        ("1 1:1 2:2:2", "1, column 9", &["\"2:2\"", "a finite number"]),
        ("1 1:1 word", "1, column 7", &["\"word\"", "expected index:value", "comments after a #"]),
        ("1 cost:-2 1:1", "1, column 8", &["the weight -2 is negative"]),
        ("1 cost:x 1:1", "1, column 8", &["\"x\"", "a finite number of at least 0"]),
        ("1 cost: 1:1", "1, column 8", &["nothing after the colon"]),
        ("1 qid: 1:1", "1, column 7", &["nothing after the colon of \"qid:\""]),
        ("1 1:1 qid:3", "1, column 7", &["\"qid:3\" after the features", "label, qid:GROUP"]),
        ("1 qid:3 qid:4 1:1", "1, column 9", &["\"qid:4\" after another one"]),
        ("1 1:1\n1 1:\x002", "2, column 5", &["a NUL byte"]),
        ("1 1:1 # a\0b", "1, column 10", &["a NUL byte"]),
        ("1 q\0id:1 1:1", "1, column 4", &["a NUL byte"]),
    ];
    for (content, place, parts) in cases {
        for end in ["", "\n", "\r\n1 1:1\n"] {
            let place = format!("items.svm, line {place}:");
            says(read(format!("{content}{end}")), &[&[place.as_str()], parts].concat());
        }
    }
}

#[test]
fn text_must_be_utf8() {
    says(read(b"1 1:1 # caf\xe9\n"), &["line 1, column 12:", "not UTF-8"]);
    says(read(b"1 1:1\n# \xff\n"), &["line 2, column 3:", "not UTF-8"]);
    says(read(b"1 qid:\xff\xfe 1:1\n"), &["line 1, column 7:", "not UTF-8"]);
    says(read(b"1 1:\xff\n"), &["line 1, column 5:", "not UTF-8"]);
    says(read(b"1 1:1\n1\x00 2:1\n"), &["line 2, column 2:", "NUL"]);
}

#[test]
fn all_lines_have_a_group_or_none() {
    let remedy = "give every line its group, or none";
    says(read("1 qid:1 1:1\n\n 10 1:1\n1 1:2\n"), &["line 3, column 4:", "no qid, which other lines have", remedy]);
    says(read("1 1:1\n1 1:2\n1 qid:1 1:1\n"), &["line 1, column 2:", "no qid"]);
    // What stands before it is wrong first.
    says(read("1 1:1\n1 1:x\n1 qid:1 1:1\n"), &["line 2, column 5:"]);
    says(read("1 1:1\n1 qid:1 1:1\n1 1:x\n"), &["line 1, column 2:", "no qid"]);
}

#[test]
fn a_file_without_items_is_refused() {
    for content in ["", "\n\n", "# nothing\n \t\r\n", "\u{feff}"] {
        says(read(content), &["items.svm: no items"]);
    }
}

#[test]
fn line_numbers_hold_across_pieces() {
    let good = "1 qid:1 1:0.25 2:0.5 3:0.75 # some comment\n";
    for n_before in [0, 1, 30_000, 200_000] {
        let content = format!("{}1 qid:1 1:0.25 2:bad\n{}", good.repeat(n_before), "1 nothing\n".repeat(100_000));
        says(read(content), &[&format!("line {}, column 18: found \"bad\"", n_before + 1)]);
    }
}

#[test]
fn f32_by_force_refuses_what_it_cannot_hold() {
    let source = Files::new();
    let items = source.write("items.svm", "1 1:1\n1 1:1e39\n");
    says(
        read_items(&items, &Columns::default(), Precision::F32),
        &["line 2, column 5:", "1e39 is beyond the range of f32", "--precision f64"],
    );
    assert!(!read_items(&items, &Columns::default(), Precision::Auto).unwrap().items.features.is_f32());
}

#[test]
fn long_words_are_cut_in_messages() {
    let message = read(format!("1 1:{}\n", "x".repeat(100_000))).unwrap_err().to_string();
    assert!(message.len() < 400, "{}", message.len());
}

#[test]
fn columns_cannot_be_named() {
    let folder = Files::new();
    let source = folder.write("items.svm", "1 1:1\n");
    let name = || Some("a".to_string());
    let cases = [
        ("--id", Columns { id: name(), ..Columns::default() }),
        ("--label", Columns { label: name(), ..Columns::default() }),
        ("--group", Columns { group: name(), ..Columns::default() }),
        ("--weight", Columns { weight: name(), ..Columns::default() }),
        ("--drop", dropping(&["a"])),
    ];
    for (option, columns) in cases {
        let error = says(read_items(&source, &columns, Precision::Auto), &[option, "items.svm", "leave it out"]);
        assert!(error.is_usage());
    }
}

#[test]
fn pairs_cannot_be_in_this_format() {
    let folder = Files::new();
    let svm = folder.write("pairs.svm", "1 1:1\n");
    let error = says(read_pairs(&files(svm.clone(), None, Columns::default())), &["pairs.svm", ".csv or .tsv"]);
    assert!(error.is_usage());
    let pairs = folder.write("pairs.csv", "left,right\na,b\n");
    says(read_pairs(&files(pairs, Some(svm), Columns::default())), &["pairs.svm", "neither ids"]);
    let named = Source::parse(folder.path("pairs.svm").to_str().unwrap(), Some(Format::Csv)).unwrap();
    says(read_items(&named, &Columns::default(), Precision::Auto), &["a header and no rows"]);
}
