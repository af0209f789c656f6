//! Items in SVMlight's format.

use std::io::Write;

use rankwise::data::Features;
use rankwise::io::{Columns, Format, IndexBase, Source, read_items, read_ranking};

use super::*;

pub(super) fn read(content: impl AsRef<[u8]>) -> Result<ItemTable> {
    read_items(&Files::new().write("items.svm", content), &Columns::default(), Precision::Auto)
}

fn values(table: &ItemTable) -> Vec<f64> {
    table.items.features.to_dense()
}

#[test]
fn a_line_is_an_item() {
    let content = "\u{feff}# a file\n2 qid:7 cost:0.5 1:0.25 2:-1e-3 3:+4 #docid = GX008-86-4444840 inc = 1 prob = 0.08\n\
                   \n+1\tqid:abc  1:1   2:2 3:3\t# the second\r\n  -0.5 qid:7 3:7#\r\n0 qid:18446744073709551615 1:5";
    let table = read(content).unwrap();
    assert_eq!(table.labels.as_deref(), Some(&[2.0, 1.0, -0.5, 0.0][..]));
    assert_eq!(values(&table), [0.25f32, -1e-3, 4.0, 1.0, 2.0, 3.0, 0.0, 0.0, 7.0, 5.0, 0.0, 0.0].map(f64::from));
    assert_eq!(table.weights.as_deref(), Some(&[0.5, 1.0, 1.0, 1.0][..]));
    assert_eq!(table.items.ids.as_ref().unwrap(), &["GX008-86-4444840", "the second", "#3", "#4"]);
    let groups = table.groups.as_ref().unwrap();
    assert_eq!(groups.numbers(), [0, 1, 0, 2]);
    assert_eq!([0, 1, 2].map(|group| groups.name(group)), ["7", "abc", "18446744073709551615"]);
    assert!(table.items.feature_names.is_none() && table.group_weights.is_none());
}

#[test]
fn what_is_not_there_is_none() {
    let table = read("1 1:1\n0 1:2\n").unwrap();
    assert!(table.groups.is_none() && table.weights.is_none() && table.items.ids.is_none());
    let ranking = table.into_ranking().unwrap();
    assert_eq!((ranking.groups.len(), ranking.n_items()), (1, 2));
}

#[test]
fn lines_may_all_be_without_features() {
    for precision in [Precision::Auto, Precision::F32, Precision::F64] {
        let source = Files::new();
        let items = source.write("items.svm", "1 qid:1\n2 qid:1\n0 qid:2 # c\n");
        let table = read_items(&items, &Columns::default(), precision).unwrap();
        let features = &table.items.features;
        assert_eq!((features.n_rows(), features.n_cols(), features.is_sparse()), (3, 0, true));
        assert_eq!(features.times(&[]), [0.0; 3]);
        assert!(features.to_dense().is_empty());
        assert_eq!(features.select_rows(&[2, 0]).n_rows(), 2);
        assert_eq!(features.unique_rows().1, [0, 0, 0]);
        let wide = features.select_columns(&[None, None]);
        assert_eq!((wide.n_rows(), wide.is_sparse(), wide.to_dense()), (3, true, vec![0.0; 6]));
        let ranking = table.into_ranking().unwrap();
        says(rankwise::RankSvm::new().fit(&ranking), &["no features", "at least one number"]);
    }
}

#[test]
fn indices_may_begin_at_0() {
    let columns = Columns { index_base: IndexBase::Zero, ..Columns::default() };
    let source = Files::new();
    let table = read_items(&source.write("a.letor", "1 0:1 2:3\n"), &columns, Precision::F64).unwrap();
    assert_eq!(values(&table), [1.0, 0.0, 3.0]);
    let usual = read_items(&source.write("b.letor", "1 1:1 3:3\n"), &Columns::default(), Precision::F64).unwrap();
    assert_eq!(values(&usual), values(&table));
}

#[test]
fn extensions_and_words_tell_the_format() {
    for name in ["a.svm", "a.svmlight", "a.LETOR", "a.txt", "a.dat", "a.txt.gz", "a.svm.zst"] {
        assert_eq!(Source::parse(name, None).unwrap().format(), Format::SvmLight, "{name}");
    }
    for word in ["svmlight", "letor", "SVMlight"] {
        assert_eq!(Format::parse(word), Some(Format::SvmLight));
    }
    assert_eq!(Format::parse("txt"), None);
    let listed = Source::parse("a.xls", None).unwrap_err().to_string();
    for extension in [".csv", ".tsv", ".svm", ".svmlight", ".letor", ".txt", ".dat"] {
        assert!(listed.contains(extension), "{listed}");
    }
}

#[test]
fn archives_are_read_through() {
    let folder = Files::new();
    let content = "1 qid:1 1:0.5 2:2 # a\n0 qid:1 1:1.5 2:2.5 # b\n".repeat(1000);
    let plain = folder.write("items.txt", &content);
    let mut archive = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    archive.write_all(content.as_bytes()).unwrap();
    let packed = folder.write("items.txt.gz", archive.finish().unwrap());
    let [plain, packed] =
        [plain, packed].map(|source| read_ranking(&source, &Columns::default(), Precision::Auto).unwrap());
    assert_eq!(packed.items.features.to_dense(), plain.items.features.to_dense());
    assert_eq!((packed.labels, packed.items.ids), (plain.labels, plain.items.ids));
}

#[test]
fn precision_follows_the_data_and_the_user() {
    let content = "1 1:0.1 2:1000000000.5\n2 1:7 2:1000000001.5\n";
    let folder = Files::new();
    let source = folder.write("items.svm", content);
    let precise = read_items(&source, &Columns::default(), Precision::Auto).unwrap();
    assert!(!precise.items.features.is_f32());
    assert_eq!(values(&precise), [0.1, 1000000000.5, 7.0, 1000000001.5]);
    let forced = read_items(&source, &Columns::default(), Precision::F32).unwrap();
    assert!(forced.items.features.is_f32());
    assert_eq!(values(&forced)[0], f64::from(0.1f32));
    let constant = read("1 1:0.1 2:1000000000.5\n2 1:7 2:1000000000.5\n").unwrap();
    assert!(constant.items.features.is_f32(), "constant columns do not count");
    // A sparse matrix with such a column, which every row has.
    let sparse: String = (0..50).map(|row| format!("1 5:{} {}:1\n", 1_600_000_000 + row, 1000 + row)).collect();
    let sparse = read(sparse).unwrap();
    assert!(sparse.items.features.is_sparse() && !sparse.items.features.is_f32());
    // One that some row lacks has a large spread, but its numbers are no less near each other.
    let lacking: String =
        (0..50).map(|row| format!("1 {}:{} {}:1\n", 5 + row / 49, 1_600_000_000 + row, 1000 + row)).collect();
    assert!(!read(lacking).unwrap().items.features.is_f32());
}

#[test]
fn rows_are_dense_unless_compressed_ones_are_smaller() {
    let is_sparse = |content: &str| read(content).unwrap().items.features.is_sparse();
    assert!(!is_sparse("1 1:1 2:2 3:3\n1 1:1 2:2\n"));
    assert!(is_sparse("1 1:1 90:2\n1 1:1 2:2\n"));
    // Zeros do not count, whether they are written or not.
    let row: String = (1..=40).map(|index| format!(" {index}:{}", u8::from(index == 7))).collect();
    let zeros = read(format!("1{row}\n0{row}\n")).unwrap();
    assert!(zeros.items.features.is_sparse());
    assert_eq!((zeros.items.features.n_stored(), zeros.items.features.n_cols()), (2, 40));
}

#[test]
fn a_wider_row_may_come_late() {
    let mut content = String::new();
    let mut expected = Vec::new();
    for row in 0..60_000 {
        // More than a piece of text before the rows get wider, twice.
        let width = 10 + 2 * (row / 25_000);
        content += "1";
        for column in 0..width {
            content += &format!(" {}:0.{}", column + 1, 1 + row % 7);
            expected.push(f64::from((format!("0.{}", 1 + row % 7)).parse::<f32>().unwrap()));
        }
        expected.extend(std::iter::repeat_n(0.0, 14 - width));
        content += "\n";
    }
    let table = read(content).unwrap();
    assert_eq!(table.items.features.n_cols(), 14);
    assert!(!table.items.features.is_sparse() && values(&table) == expected);
}

#[test]
fn a_file_may_turn_sparse_or_dense() {
    let dense: String = (0..20_000).map(|row| format!("1 1:{row} 2:2 3:3 4:4 5:5 6:6 7:7 8:8\n")).collect();
    let sparse: String = (0..200_000).map(|row| format!("2 {}:1\n", 1 + row % 300)).collect();
    let expected = |table: &ItemTable, n_dense: std::ops::Range<usize>| {
        let features = &table.items.features;
        assert_eq!((features.n_rows(), features.n_cols(), features.is_sparse()), (220_000, 300, true));
        for (row, label) in table.labels.as_ref().unwrap().iter().enumerate() {
            let mut entries = Vec::new();
            features.for_each_in_row(row, |column, value| entries.push((column, value)));
            let is_dense = n_dense.contains(&row);
            assert_eq!(*label, if is_dense { 1.0 } else { 2.0 });
            assert!(if is_dense { entries[entries.len() - 7..][6] == (7, 8.0) } else { entries[0].1 == 1.0 }, "{row}");
        }
    };
    expected(&read(format!("{dense}{sparse}")).unwrap(), 0..20_000);
    expected(&read(format!("{sparse}{dense}")).unwrap(), 200_000..220_000);
    // Enough dense rows after few sparse ones.
    let few: String = (0..100).map(|row| format!("2 {}:1\n", 1 + row % 8)).collect();
    let table = read(format!("{few}{}", dense.repeat(3))).unwrap();
    assert!(!table.items.features.is_sparse());
    let mut row = vec![0.0; 8];
    table.items.features.copy_row(99, &mut row);
    assert_eq!(row, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    table.items.features.copy_row(100 + 19_999, &mut row);
    assert_eq!(row, [19_999.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
}

#[test]
fn one_line_may_be_very_long() {
    let n = 8_000_000;
    let mut content = Vec::with_capacity(220_000_000);
    content.extend_from_slice(b"1 qid:1");
    for index in 1..=n {
        write!(content, " {index}:0.{}250000000000000", index % 8).unwrap();
    }
    content.extend_from_slice(b"\n0 qid:1 3:2\n");
    assert!(content.len() > 200_000_000);
    let folder = Files::new();
    let source = folder.write("items.svm", content);
    let table = read_items(&source, &Columns::default(), Precision::F64).unwrap();
    let features = &table.items.features;
    assert_eq!((features.n_rows(), features.n_cols()), (2, n));
    let cycle: Vec<f64> = (0..8).map(|n| format!("0.{n}25").parse().unwrap()).collect();
    let mut next = 0;
    features.for_each_in_row(0, |column, value| {
        assert!(column == next && value == cycle[(next + 1) % 8], "{column}: {value}");
        next += 1;
    });
    assert_eq!(next, n);
    assert_eq!(features.dot_row(1, &vec![1.0; n]), 2.0);
}

#[test]
fn a_million_equal_rows() {
    let table = read("1 qid:5 1:0.5 2:-3\n".repeat(1_000_000)).unwrap();
    let ranking = table.into_ranking().unwrap();
    assert_eq!((ranking.n_items(), ranking.groups.len()), (1_000_000, 1));
    let (unique, _): (Features, _) = ranking.items.features.unique_rows();
    assert_eq!((unique.n_rows(), unique.to_dense()), (1, vec![0.5, -3.0]));
}

#[test]
fn labels_may_be_large_and_groups_small() {
    let ranking = read("1e300 qid:1 1:1\n-1e300 qid:2 1:2\n").unwrap().into_ranking().unwrap();
    assert_eq!((ranking.labels, ranking.groups.len()), (vec![1e300, -1e300], 2));
}

#[test]
fn a_large_index_costs_no_memory() {
    let table = read("1 2147483647:1\n0 1:1\n").unwrap();
    let features = &table.items.features;
    assert_eq!((features.n_cols(), features.n_stored(), features.is_sparse()), (2_147_483_647, 2, true));
}

#[test]
fn features_beyond_those_wanted_are_read_over() {
    let folder = Files::new();
    let text = "1 qid:1 1:2 2:3 3:4\n0 qid:1 2:5 400000:1 # b\n2 qid:1 400000:7\n";
    let source = folder.write("items.svm", text);
    let columns = Columns { most_features: Some(2), ..Columns::default() };
    for precision in [Precision::F64, Precision::Auto] {
        let table = read_items(&source, &columns, precision).unwrap();
        assert_eq!(table.items.features.to_dense(), [2.0, 3.0, 0.0, 5.0, 0.0, 0.0]);
        assert_eq!((table.items.features.n_cols(), table.labels), (2, Some(vec![1.0, 0.0, 2.0])));
    }
    // What is read over is checked all the same.
    let wrong = folder.write("wrong.svm", "1 1:2 3:x\n");
    says(read_items(&wrong, &columns, Precision::F64), &["wrong.svm, line 1"]);
}
