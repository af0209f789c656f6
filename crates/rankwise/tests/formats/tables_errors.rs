//! What is wrong with a table is said with file, line, column and remedy.

use rankwise::data::Outcome;
use rankwise::io::{Columns, Format, Source, read_pairs};

use super::*;

/// A pair table with one bad cell in line 3.
#[track_caller]
fn bad_cell(column: &str, good: &str, bad: &str, parts: &[&str]) {
    let text = format!("left,right,{column}\na,b,{good}\nb,c,{bad}\n");
    let place = format!("pairs.csv, line 3, column 3 ({column})");
    let mut all = vec![place.as_str()];
    all.extend(parts);
    says(pairs(text), &all);
}

#[test]
fn bad_cells() {
    let words = Outcome::WORDS.map(|(word, _)| word);
    let mut known = vec!["\"won\"", "write left, tie or right"];
    known.extend(words);
    bad_cell("outcome", "left", "won", &known);
    bad_cell("winner", "left", "", &["empty cell", "fill it in"]);
    bad_cell("group", "x", " ", &["empty cell"]);
    bad_cell("weight", "1", "", &["empty cell", "; fill it in, or leave the column out with --drop weight"]);
    bad_cell("weight", "1", "-0.5", &["-0.5", "negative", "at least 0"]);
    bad_cell("weight", "1", "NaN", &["NaN", "finite number"]);
    bad_cell("weight", "1", "heavy", &["\"heavy\"", "expected a number"]);
    bad_cell("pair.judge", "1", "anna", &["\"anna\"", "expected a number", "--drop pair.judge"]);
    says(pairs("left,right\na,b\na,\n"), &["pairs.csv, line 3, column 2 (right)", "empty cell", "fill it in"]);
}

#[test]
fn bad_numbers() {
    for (cell, found) in [
        ("red", "found \"red\", expected a number"),
        ("", "an empty cell"),
        ("nan", "found nan, expected a finite number"),
        ("-inf", "found -inf"),
        ("Infinity", "found Infinity"),
        ("1e400", "1e400 is beyond the range"),
        ("1_000", "\"1_000\""),
        ("0x10", "\"0x10\""),
        ("1 2", "\"1 2\""),
    ] {
        says(items(&format!("id,x\na,1\nb,{cell}\n")), &["items.csv, line 3, column 2 (x)", found, "--drop x"]);
        says(
            pairs(format!("left.x,right.x\n1,2\n1,{cell}\n")),
            &["pairs.csv, line 3, column 2 (right.x)", found, "--drop left.x,right.x"],
        );
    }
    says(
        items("label,x\ngood,1\n"),
        &["items.csv, line 2, column 1 (label)", "\"good\"", "correct it, or take the row out"],
    );
    says(
        items("label,x\n,1\n"),
        &["column 1 (label)", "an empty cell", "; fill it in, or take the row out of the file"],
    );
    let broken_item = pairs_and_items("left,right\na,b\n", "id,x\na,1\nb,?\n", Columns::default());
    says(broken_item, &["items.csv, line 3, column 2 (x)", "\"?\""]);
}

#[test]
fn ragged_rows() {
    let found = says(pairs("left,right,outcome\na,b,left\na,b\n"), &["pairs.csv, line 3, column 3 (outcome)"]);
    assert!(found.to_string().contains("found 2 fields, expected 3"), "{found}");
    says(
        pairs("left,right\na,b\na,b,c,d\n"),
        &["pairs.csv, line 3, column 3", "found 4 fields, expected 2", "in quotes"],
    );
}

#[test]
fn lines_are_counted_through_quotes_blank_lines_and_line_ends() {
    for text in [
        "left,right\n\"a\nb\nc\",d\n\ne,\n",
        "left,right\r\n\"a\r\nb\r\nc\",d\r\n\r\ne,\r\n",
        "left,right\r\r\r\r\ra,",
        "\u{feff}\n\n\nleft,right\na,b\nc,",
    ] {
        says(pairs(text), &["line 6, column 2 (right)", "empty cell"]);
    }
    // A row is where it begins, whatever its cells contain.
    says(pairs("left,right,weight\n\"a\nb\",c,1\n\"d\ne\",f,x\n"), &["line 4, column 3 (weight)"]);
}

#[test]
fn empty_files_and_lone_headers() {
    for text in ["", "\u{feff}", "\n\n\r\n"] {
        says(pairs(text), &["pairs.csv, line 1", "empty", "header", "names of the columns"]);
    }
    for text in ["left,right,outcome", "left,right,outcome\n", "left,right,outcome\r\n\r\n"] {
        says(pairs(text), &["pairs.csv, line 1", "no rows", "add the data"]);
    }
    says(items("id,x\n"), &["items.csv, line 1", "no rows"]);
}

#[test]
fn an_endless_cell_of_zeros_is_not_read_to_its_end() {
    let mut bytes = b"left,right,outcome\na,b,left\n".to_vec();
    bytes.resize(200 << 20, 0);
    let started = std::time::Instant::now();
    says(pairs(bytes), &["pairs.csv", "line 3", "column 1", "NUL"]);
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn broken_bytes() {
    says(pairs(b"left,right\na,b\na\0,b\n"), &["pairs.csv, line 3, column 1 (left)", "NUL", "UTF-8 text"]);
    says(pairs(b"left,right\na,b\na,\xff\n"), &["pairs.csv, line 3, column 2 (right)", "not UTF-8", "save the file"]);
    says(pairs(b"left,ri\xffght\na,b\n"), &["pairs.csv, line 1, column 2", "not UTF-8"]);
    says(pairs(b"\xff\xfel\0e\0f\0t\0"), &["pairs.csv, line 1, column 1", "UTF-8"]);
    // A quote that nothing closes is no matter beside that, and the line is that of the row.
    says(pairs(b"\"left\0,right\na,b\n"), &["pairs.csv, line 1, column 1", "NUL"]);
    says(pairs(b"left,right\na,b\n\"a\0\nb,c\n"), &["pairs.csv, line 3, column 1 (left)", "NUL"]);
    // Two halves of a letter in two cells are not a letter, and columns that are read over count too.
    says(pairs(b"left,right\n\xc3,\xa9\n"), &["line 2, column 1 (left)", "not UTF-8"]);
    says(pairs(b"left,right,time\na,b,\xff\n"), &["line 2, column 3 (time)", "not UTF-8"]);
}

#[test]
fn unclosed_quotes() {
    let parts = ["pairs.csv, line 3, column 2 (right)", "never closed", "close it"];
    says(pairs("left,right\na,b\na,\"b\nc,d\ne,f\n"), &parts);
    says(pairs("left,right\r\na,b\r\na,\"b\r\nc,d\r\n"), &parts);
    says(pairs("left,right\n\"a\",\"b\"\n\"a\",\"b\"\"\nc,d\n"), &parts);
    says(pairs("\"left,right\na,b\n"), &["pairs.csv, line 1, column 1", "never closed"]);
    // Far behind the first buffer, and with a long way to the end.
    let mut text = "left,right\n".to_string() + &"some item,other item\n".repeat(20_000);
    text += "x,\"y\n";
    text += &"some item,other item\n".repeat(20_000);
    says(pairs(text), &["pairs.csv, line 20002, column 2 (right)", "never closed"]);
    // The buffer ends in the middle of a line, before the quote.
    let text = "left,right\n".to_string() + &"a,b\n".repeat(1000) + &"x".repeat(500_000) + ",\"y\n";
    says(pairs(text), &["pairs.csv, line 1002, column 2 (right)", "never closed"]);
    // A quote inside a field is a letter like any other.
    assert_eq!(ids(&pairs("left,right\n5\" disk,b\n").unwrap()), ["5\" disk", "b"]);
}

#[test]
fn separators() {
    says(
        pairs("left;right;outcome\na;b;left\n"),
        &["pairs.csv, line 1, column 1", "';'", "by commas", "add --separator ';'"],
    );
    says(pairs("left\tright\na\tb\n"), &["pairs.csv, line 1", "for tabs add --separator tab"]);
    let tsv = Files::new();
    let source = tsv.write("pairs.tsv", "left,right\na,b\n");
    says(
        read_pairs(&files(source, None, Columns::default())),
        &["pairs.tsv, line 1", "for commas add --separator ','"],
    );
    // What separates the columns already is no remedy.
    for columns in [Columns::default(), Columns { separator: Some(b','), ..Columns::default() }] {
        let error = says(
            pairs_with("\"left,right,outcome\"\n\"a,b,left\"\n", columns),
            &["pairs.csv, line 1, column 1", "in quotes as a whole", "take off the quotes"],
        );
        assert!(!error.to_string().contains("--separator"), "{error}");
    }
    for read in [rankwise::io::published::read_battles, rankwise::io::published::read_wmt] {
        tsv.write("battles.csv", "model_a\tmodel_b\twinner\na\tb\tmodel_a\n");
        let error = says(read(&tsv.path("battles.csv")), &["battles.csv, line 1", "with commas between the columns"]);
        assert!(!error.to_string().contains("--separator"), "{error}");
    }
    // A name that does not tell the format leaves it to the option.
    std::fs::write(tsv.path("pairs"), "left,right\na,b\n").unwrap();
    let source = Source::parse(tsv.path("pairs").to_str().unwrap(), Some(Format::Tsv)).unwrap();
    says(read_pairs(&files(source, None, Columns::default())), &["pairs, line 1", "--separator ','"]);
}

#[test]
fn headers() {
    let first = "pairs.csv, line 1";
    says(pairs("left,right,left\na,b,c\n"), &[first, "column 3 (left)", "column 1 has the same name", "rename"]);
    says(pairs("left,,right\na,b,c\n"), &[first, "column 2", "without a name"]);
    says(pairs("left,outcome\na,left\n"), &[first, "column 1 (left)", "without a column right", "--drop left"]);
    says(pairs("right,outcome\na,left\n"), &[first, "column 1 (right)", "without a column left"]);
    says(pairs("left.x,right.x,right.y\n1,2,3\n"), &[first, "column 3 (right.y)", "left.y", "--drop right.y"]);
    says(pairs("left.x,right.y\n1,2\n"), &[first, "column 1 (left.x)", "right.x"]);
    says(pairs("left,right,outcome,winner\na,b,left,a\n"), &[first, "column 4 (winner)", "--drop winner"]);
    says(pairs("left,right,score\na,b,1\n"), &[first, "column 3 (score)", "left.NAME", "--drop score"]);
    says(pairs("left,right,left.\na,b,1\n"), &[first, "column 3 (left.)"]);
    says(pairs("p1,p2,result\na,b,1\n"), &[first, "left and right", "columns: p1, p2, result", "rename"]);
    says(pairs("outcome\nleft\n"), &[first, "left.NAME", "columns: outcome"]);
    let given = Columns { weight: Some("w".into()), ..Columns::default() };
    says(pairs_with("left,right,w,weight\na,b,1,1\n", given), &["column 4 (weight)", "--drop weight"]);
}

#[test]
fn names_that_no_column_has() {
    let parts = ["pairs.csv, line 1", "no column nosuch", "--drop", "left, right, outcome"];
    says(pairs_with("left,right,outcome\na,b,left\n", dropping(&["nosuch"])), &parts);
    for option in ["id", "weight", "group", "label"] {
        let name = |wanted| (option == wanted).then(|| "nosuch".to_string());
        let columns = Columns {
            id: name("id"),
            weight: name("weight"),
            group: name("group"),
            label: name("label"),
            ..Columns::default()
        };
        let flag = format!("--{option}");
        says(items_with("id,x\na,1\n", columns.clone()), &["items.csv, line 1", "nosuch", &flag, "columns: id, x"]);
        let both = pairs_and_items("left,right\na,b\n", "id,x\na,1\nb,2\n", columns);
        says(both, &["nosuch", &flag, "pairs.csv: left, right", "items.csv: id, x"]);
    }
}

#[test]
fn outcomes_are_asked_for_where_they_are_needed() {
    let table = pairs("left,right\na,b\n").unwrap();
    says(table.into_comparisons(), &["pairs.csv", "outcome", "add it", "left, tie and right"]);
}

#[test]
fn items_that_do_not_fit_the_pairs() {
    let with = |pairs: &str, items: &str| pairs_and_items(pairs, items, Columns::default());
    says(
        with("left,right\na,z\n", "id,x\na,1\n"),
        &["pairs.csv, line 2, column 2 (right)", "\"z\"", "items.csv", "add"],
    );
    says(with("left,right\na,b\n", "name,x\na,1\n"), &["items.csv, line 1", "no column id", "name, x", "--id COL"]);
    says(with("left.x,right.x\n1,2\n", "id,y\na,1\n"), &["pairs.csv, line 1", "left and right", "left.x, right.x"]);
    says(with("left,right\na,b\n", "id,x\na,1\nb,2\na,3\n"), &["items.csv, line 4", "\"a\"", "line 2", "left.NAME"]);
    says(
        with("left,right,left.x,right.x\na,b,1,2\n", "id,x\na,1\nb,2\n"),
        &["pairs.csv, line 1, column 3 (left.x)", "items.csv", "--drop left.x,right.x"],
    );
    says(with("left,right\na,b\n", "id,label\na,1\nb,2\n"), &["items.csv", "no feature columns", "--items"]);
    says(with("left,right\na,b\n", "id,x\na,1\n,2\n"), &["items.csv, line 3, column 1 (id)", "empty cell"]);
}

#[test]
fn item_tables_without_anything_to_score() {
    says(items("label\n1\n"), &["items.csv", "no feature columns", "id"]);
    says(items("id\na\nb\na\n"), &["items.csv, line 4", "\"a\"", "line 2", "one row"]);
}

#[test]
fn sources() {
    let no_format = says(Source::parse("-", None), &["standard input", "--format csv"]);
    assert!(no_format.is_usage());
    let unknown =
        says(Source::parse("data.xlsx.gz", None), &["data.xlsx.gz", ".xlsx", ".csv", ".tsv", ".zst", "--format"]);
    assert!(unknown.is_usage());
    says(Source::parse("data", None), &["data: no extension", ".csv", "--format"]);
    let folder = Files::new();
    let absent = Source::parse(folder.path("absent.csv").to_str().unwrap(), None).unwrap();
    says(read_pairs(&files(absent, None, Columns::default())), &["absent.csv", "cannot open"]);
    std::fs::create_dir(folder.path("dir.csv")).unwrap();
    let directory = Source::parse(folder.path("dir.csv").to_str().unwrap(), None).unwrap();
    says(read_pairs(&files(directory, None, Columns::default())), &["dir.csv", "cannot"]);
    let stdin = || Source::parse("-", Some(rankwise::io::Format::Csv)).unwrap();
    says(read_pairs(&files(stdin(), Some(stdin()), Columns::default())), &["standard input", "file"]);
}

#[test]
fn text_behind_a_closing_quote_is_no_part_of_the_field() {
    let wrong =
        ["left,right,outcome\na,b,left\nc,\"a\"b,left\n", "left,right,outcome\r\na,b,left\r\nc,\"a\" b,left\r\n"];
    for text in wrong {
        says(pairs(text), &["pairs.csv, line 3, column 2 (right)", "behind the quote", "inside a quoted field twice"]);
    }
    says(pairs("left,\"right\"x,outcome\na,b,left\n"), &["line 1, column 2", "behind the quote"]);
    // Blanks behind it are as good as none, and a quote within a field is written twice.
    let table = pairs("left,right,outcome\n\"a\" ,\"b\"\"c\",\"left\"\t\n").unwrap();
    assert_eq!(ids(&table), ["a", "b\"c"]);
}

#[test]
fn all_columns_that_mean_nothing_are_named_at_once() {
    let parts = ["pairs.csv, line 1", "3 columns", "(elo,site,round)", "--drop elo,site,round"];
    says(pairs("left,elo,right,site,outcome,round\na,1,b,x,left,2\n"), &parts);
}

#[test]
fn a_column_that_stops_numbering_the_rows_is_no_index() {
    says(items(",id,x\n0,a,1\nb,b,2\n"), &["items.csv, line 3, column 1", "found \"b\"", "name the column"]);
    says(items(",id,x\n0.5,a,1\n6,b,2\n"), &["items.csv, line 1, column 1", "without a name"]);
}
