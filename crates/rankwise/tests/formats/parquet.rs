//! Parquet files: items and pairs, as from the same table in text; run with the feature `parquet`.

use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use rankwise::data::Precision;
use rankwise::io::{Columns, Conversion, convert, read_items, read_pairs};

use super::{Files, ids, numbers, says};

/// A column of a file to be made; `None` is nothing.
enum Column {
    Words(Vec<Option<&'static str>>),
    Int(Vec<Option<i32>>),
    Long(Vec<Option<i64>>),
    Single(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
    Date(Vec<Option<i32>>),
    Bytes(Vec<Option<&'static [u8]>>),
}

/// Writes optional columns in row groups of two.
fn write(files: &Files, name: &str, columns: &[(&str, Column)], compression: Compression) -> rankwise::io::Source {
    let field = |(name, column): &(&str, Column)| {
        let (physical, converted, logical) = match column {
            Column::Words(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, Some(LogicalType::String)),
            Column::Bytes(_) => (Physical::BYTE_ARRAY, ConvertedType::NONE, None),
            Column::Int(_) => (Physical::INT32, ConvertedType::NONE, None),
            Column::Date(_) => (Physical::INT32, ConvertedType::DATE, Some(LogicalType::Date)),
            Column::Long(_) => (Physical::INT64, ConvertedType::NONE, None),
            Column::Single(_) => (Physical::FLOAT, ConvertedType::NONE, None),
            Column::Double(_) => (Physical::DOUBLE, ConvertedType::NONE, None),
            Column::Bool(_) => (Physical::BOOLEAN, ConvertedType::NONE, None),
        };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        Arc::new(builder.with_converted_type(converted).with_logical_type(logical).build().unwrap())
    };
    let fields = columns.iter().map(field).collect();
    let schema = Arc::new(Type::group_type_builder("t").with_fields(fields).build().unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    macro_rules! put {
        ($T:ty, $group:ident, $cells:expr, $from:expr, $value:expr) => {{
            let cells = &$cells[$from..($from + 2).min($cells.len())];
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            let values: Vec<_> = cells.iter().flatten().copied().map($value).collect();
            let mut column = $group.next_column().unwrap().unwrap();
            column.typed::<$T>().write_batch(&values, Some(&levels), None).unwrap();
            column.close().unwrap();
        }};
    }
    let n = match &columns[0].1 {
        Column::Words(cells) => cells.len(),
        Column::Long(cells) => cells.len(),
        _ => panic!("begin with words or longs"),
    };
    for from in (0..n).step_by(2) {
        let mut group = writer.next_row_group().unwrap();
        for (_, column) in columns {
            match column {
                Column::Words(cells) => put!(ByteArrayType, group, cells, from, ByteArray::from),
                Column::Bytes(cells) => put!(ByteArrayType, group, cells, from, |cell: &[u8]| cell.to_vec().into()),
                Column::Int(cells) | Column::Date(cells) => put!(Int32Type, group, cells, from, |cell| cell),
                Column::Long(cells) => put!(Int64Type, group, cells, from, |cell| cell),
                Column::Single(cells) => put!(FloatType, group, cells, from, |cell| cell),
                Column::Double(cells) => put!(DoubleType, group, cells, from, |cell| cell),
                Column::Bool(cells) => put!(BoolType, group, cells, from, |cell| cell),
            }
        }
        group.close().unwrap();
    }
    files.write(name, writer.into_inner().unwrap())
}

fn some<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    values.iter().copied().map(Some).collect()
}

#[test]
fn items_are_those_of_the_same_table_in_text() {
    let files = Files::new();
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
        Compression::BROTLI(Default::default()),
    ];
    let text = files.write(
        "a.csv",
        "qid,id,label,whole,single,double,yes,weight\n7,x,2,1,0.5,0.1,1,1\n7,y z,0,-3,0.25,1e300,0,2\n8,\"q\"\"\",1,0,3,4,1,0\n",
    );
    let text = read_items(&text, &Columns::default(), Precision::F64).unwrap();
    for codec in codecs {
        let columns = [
            ("qid", Column::Long(some(&[7, 7, 8]))),
            ("id", Column::Words(some(&["x", "y z", "q\""]))),
            ("label", Column::Int(some(&[2, 0, 1]))),
            ("whole", Column::Int(some(&[1, -3, 0]))),
            ("single", Column::Single(some(&[0.5, 0.25, 3.0]))),
            ("double", Column::Double(some(&[0.1, 1e300, 4.0]))),
            ("yes", Column::Bool(some(&[true, false, true]))),
            ("weight", Column::Double(some(&[1.0, 2.0, 0.0]))),
        ];
        let source = write(&files, "a.parquet", &columns, codec);
        let table = read_items(&source, &Columns::default(), Precision::F64).unwrap();
        assert_eq!(table.items.features.to_dense(), text.items.features.to_dense());
        assert_eq!((&table.items.ids, &table.items.feature_names), (&text.items.ids, &text.items.feature_names));
        assert_eq!((&table.labels, &table.weights), (&text.labels, &text.weights));
        assert_eq!(table.groups, text.groups);
    }
}

#[test]
fn pairs_are_read_too() {
    let files = Files::new();
    let columns = [
        ("left", Column::Words(some(&["a", "b", "a"]))),
        ("right", Column::Words(some(&["b", "c", "c"]))),
        ("outcome", Column::Int(some(&[-1, 0, 1]))),
    ];
    let pairs = write(&files, "pairs.parquet", &columns, Compression::SNAPPY);
    let table = read_pairs(&super::files(pairs, None, Columns::default())).unwrap();
    assert_eq!(numbers(&table), [(0, 1), (1, 2), (0, 2)]);
    assert_eq!(ids(&table), ["a", "b", "c"]);
    assert_eq!(table.into_comparisons().unwrap().n_ties(), 1);
}

#[test]
fn what_is_wrong_has_its_row_and_column() {
    let files = Files::new();
    let read = |name: &str, column: Column, columns: &Columns| {
        let group = Column::Long(some(&[1, 1, 1]));
        let source = write(&files, "bad.parquet", &[("qid", group), (name, column)], Compression::SNAPPY);
        read_items(&source, columns, Precision::F64)
    };
    let usual = Columns::default();
    let empty = Column::Double(vec![Some(1.0), Some(2.0), None]);
    says(read("x", empty, &usual), &["bad.parquet", "row 3", "column 2 (x)", "an empty cell", "--drop x"]);
    says(read("x", Column::Double(some(&[1.0, f64::NAN, 2.0])), &usual), &["row 2", "NaN", "finite"]);
    says(read("x", Column::Words(some(&["a", "b", "c"])), &usual), &["row 1", "\"a\"", "expected a number"]);
    says(read("x", Column::Date(some(&[1, 2, 3])), &usual), &["row 1", "(x)", "a time"]);
    says(read("id", Column::Bytes(some(&[b"a".as_slice(), b"\xff", b"c"])), &usual), &["row 2", "UTF-8"]);
    let without = super::dropping(&["x"]);
    let other = Column::Date(some(&[1, 2, 3]));
    says(read("x", other, &without), &["no feature columns"]);
    let text = files.write("text.parquet", "label,x\n1,2\n");
    says(read_items(&text, &usual, Precision::F64), &["text.parquet", "Parquet"]);
}

#[test]
fn conversion_there_and_back() {
    let files = Files::new();
    let text = "id,qid,label,weight,group_weight,a,b\nx,1,2,1,3,0.1,0\ny,1,0,0.5,3,0.2,-7\nz,2,1,1,1,0.001,4\n";
    let source = files.write("a.csv", text);
    let usual = Columns::default();
    let to = |from: &str, to: &str| {
        let from = rankwise::io::Source::parse(&files.path(from).to_string_lossy(), None).unwrap();
        convert(&from, &usual, &files.path(to), &Conversion::default()).unwrap()
    };
    assert_eq!(to("a.csv", "b.parquet").items, 3);
    to("b.parquet", "c.rwb");
    to("c.rwb", "d.parquet");
    to("d.parquet", "e.csv");
    assert_eq!(std::fs::read_to_string(files.path("e.csv")).unwrap(), text);
    let again = rankwise::io::Source::parse(&files.path("c.rwb").to_string_lossy(), None).unwrap();
    let (first, last) =
        (read_items(&source, &usual, Precision::Auto).unwrap(), read_items(&again, &usual, Precision::Auto).unwrap());
    assert_eq!(first.items.features.to_dense(), last.items.features.to_dense());
    assert_eq!((first.labels, first.group_weights), (last.labels, last.group_weights));
}

/// Numbers of a file that make no sense are told of, whoever finds them: the crate that reads it panics at some.
#[test]
fn damaged_bytes_are_errors_and_no_panics() {
    let folder = Files::new();
    let text = folder.write("a.csv", "id,label,x\na,1,2.5\nb,0,-1\n");
    let (whole, damaged) = (folder.path("a.parquet"), folder.path("b.parquet"));
    convert(&text, &Columns::default(), &whole, &Conversion::default()).unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ())); // they are told as errors
    for at in 0..bytes.len() {
        for value in [0, 0x7f, 0x80, 0xff, bytes[at] ^ 1] {
            let mut changed = bytes.clone();
            changed[at] = value;
            std::fs::write(&damaged, changed).unwrap();
            let source = rankwise::io::Source::parse(damaged.to_str().unwrap(), None).unwrap();
            let _ = read_items(&source, &Columns::default(), Precision::Auto);
        }
    }
    std::panic::set_hook(hook);
}

/// Of a table that was filtered or shuffled pandas writes the numbers of the rows.
#[test]
fn an_index_of_pandas_is_no_feature() {
    let files = Files::new();
    let index = || ("__index_level_0__", Column::Long(some(&[17, 4, 9])));
    let columns = [("label", Column::Long(some(&[1, 2, 3]))), ("x", Column::Double(some(&[5.0, 6.0, 7.0]))), index()];
    let source = write(&files, "a.parquet", &columns, Compression::SNAPPY);
    let table = read_items(&source, &Columns::default(), Precision::F64).unwrap();
    assert_eq!(table.items.feature_names, Some(vec!["x".to_string()]));
    assert!(table.notes.len() == 1 && table.notes[0].contains("__index_level_0__"), "{:?}", table.notes);
    let told = convert(&source, &Columns::default(), &files.path("a.rwb"), &Conversion::default()).unwrap();
    assert!(told.features == 1 && told.warnings[0].contains("__index_level_0__"), "{:?}", told.warnings);
    let columns = [
        ("left", Column::Words(some(&["a", "b", "a"]))),
        ("right", Column::Words(some(&["b", "c", "c"]))),
        ("outcome", Column::Int(some(&[-1, 0, 1]))),
        index(),
    ];
    let pairs = write(&files, "pairs.parquet", &columns, Compression::SNAPPY);
    assert_eq!(read_pairs(&super::files(pairs, None, Columns::default())).unwrap().notes.len(), 1);
}

/// Numbers of double precision that single precision has are written as they are.
#[test]
fn text_of_doubles_has_all_of_their_digits() {
    let files = Files::new();
    let doubles = || Column::Double(some(&[f64::from(0.1f32), 0.5]));
    let singles = || Column::Single(some(&[0.1f32, 0.5]));
    let label = || ("label", Column::Long(some(&[1, 2])));
    let text = |columns: &[(&str, Column)]| {
        let source = write(&files, "a.parquet", columns, Compression::SNAPPY);
        convert(&source, &Columns::default(), &files.path("a.csv"), &Conversion::default()).unwrap();
        std::fs::read_to_string(files.path("a.csv")).unwrap()
    };
    assert_eq!(text(&[label(), ("x", doubles())]), "label,x\n1,0.10000000149011612\n2,0.5\n");
    assert_eq!(text(&[label(), ("x", singles())]), "label,x\n1,0.1\n2,0.5\n");
    let both = text(&[label(), ("x", doubles()), ("y", singles())]);
    assert_eq!(both, "label,x,y\n1,0.10000000149011612,0.10000000149011612\n2,0.5,0.5\n");
}

#[test]
fn separators_are_for_text() {
    let files = Files::new();
    let columns = [("label", Column::Long(some(&[1, 2]))), ("x", Column::Long(some(&[3, 4])))];
    let source = write(&files, "a.parquet", &columns, Compression::SNAPPY);
    let by = || Columns { separator: Some(b';'), ..Columns::default() };
    let refused = ["--separator is for tables of text", "a.parquet", "leave it out"];
    assert!(says(read_items(&source, &by(), Precision::F64), &refused).is_usage());
    let columns = [
        ("left", Column::Words(some(&["a", "b"]))),
        ("right", Column::Words(some(&["b", "a"]))),
        ("id", Column::Words(some(&["a", "b"]))),
    ];
    let ids = write(&files, "b.parquet", &columns, Compression::SNAPPY);
    let mut dropped = by();
    dropped.drop = vec!["id".into()];
    let pairs = |items| read_pairs(&super::files(ids.clone(), items, dropped.clone()));
    says(pairs(None), &["--separator is for tables of text", "b.parquet"]);
    says(pairs(Some(ids.clone())), &["--separator is for tables of text", "b.parquet"]);
    let columns = Columns { separator: Some(b';'), ..Columns::default() };
    let text = files.write("c.csv", "left;right;outcome\na;b;left\n");
    let features = [("id", Column::Words(some(&["a", "b"]))), ("x", Column::Long(some(&[3, 4])))];
    let features = write(&files, "d.parquet", &features, Compression::SNAPPY);
    assert_eq!(read_pairs(&super::files(text, Some(features), columns)).unwrap().set.n_pairs(), 1);
}
