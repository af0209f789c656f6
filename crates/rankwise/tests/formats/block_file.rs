//! Block files: what goes in comes out again, whatever else is in a file is told, and nothing is left behind.

mod damage;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rankwise::Error;
use rankwise::data::{Precision, Random};
use rankwise::io::{
    BlockFile, Columns, Conversion, Converted, Format, ItemStream, ItemTable, Source, StreamOptions, convert,
    read_items, score_items,
};
use rankwise::model::{ScoreFunction, Scorer};

use super::{Files, says};

/// Small blocks, so that little data have many.
fn small() -> Conversion<'static> {
    Conversion { block_bytes: 300, ..Conversion::default() }
}

struct Room(Files);

impl Room {
    fn new() -> Self {
        Room(Files::new())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn write(&self, name: &str, text: &str) {
        self.0.write(name, text);
    }

    fn source(&self, name: &str) -> Source {
        Source::parse(&self.path(name).to_string_lossy(), None).unwrap()
    }

    fn convert(&self, from: &str, to: &str, how: &Conversion<'_>) -> rankwise::Result<Converted> {
        convert(&self.source(from), &Columns::default(), &self.path(to), how)
    }

    fn read(&self, name: &str) -> ItemTable {
        read_items(&self.source(name), &Columns::default(), Precision::Auto).unwrap()
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path("")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Everything that a table has, source aside.
fn told(table: &ItemTable) -> String {
    let features = &table.items.features;
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {} {} {}",
        features.to_dense(),
        table.items.feature_names,
        table.items.ids,
        table.labels,
        table.groups,
        table.weights,
        table.group_weights,
        features.is_sparse(),
        features.is_f32(),
        features.n_cols(),
    )
}

const TEXTS: [(&str, &str); 8] = [
    ("dense.letor", "2 qid:a 1:0.5 2:-3 # one\n0 qid:a 1:0.25 2:1e-3\n1.5 qid:b cost:2 1:7 2:0.1 # three\n"),
    ("sparse.svm", "1 qid:1 5:1 900:2.5\n0 qid:1 7:1\n0 qid:2\n3 qid:2 1:1e-40 2000:0.1\n"),
    ("no_groups.txt", "1 1:1 2:2\n2 1:3 2:4\n"),
    ("far.dat", "1 qid:1 1:1000000.25 2:1\n0 qid:1 1:1000000.5 2:0\n2 qid:2 1:1000000.75 2:3\n"),
    ("empty_rows.svm", "1 qid:1\n2 qid:1\n"),
    (
        "named.csv",
        "id,qid,label,weight,group_weight,price,\"stars, all\"\na,x,1,1,2,0.1,3\n\"b\"\"c\",x,2,0.5,2,7,0\nd,y,0,1,0,1e30,1e-9\n",
    ),
    ("plain.tsv", "label\tf\n1\t2\n2\t3\n"),
    ("unlabelled.csv", "qid,f\na,1\nb,2\nb,3\n"),
];

#[test]
fn a_block_file_has_what_reading_the_text_gives() {
    for (name, text) in TEXTS {
        let room = Room::new();
        room.write(name, text);
        for how in [small(), Conversion::default()] {
            let converted = room.convert(name, "out.rwb", &how).unwrap();
            let (from_text, from_blocks) = (room.read(name), room.read("out.rwb"));
            assert_eq!(told(&from_text), told(&from_blocks), "{name}");
            assert_eq!(converted.items, from_text.items.n_items());
            assert_eq!(converted.is_sparse, Some(from_text.items.features.is_sparse()));
            assert!(!converted.regrouped);
        }
    }
}

#[test]
fn text_comes_back() {
    for (name, text) in TEXTS {
        let room = Room::new();
        room.write(name, text);
        room.convert(name, "out.rwb", &small()).unwrap();
        room.convert("out.rwb", "again.rwb", &small()).unwrap();
        assert_eq!(std::fs::read(room.path("out.rwb")).unwrap(), std::fs::read(room.path("again.rwb")).unwrap());
        let ending = if name.ends_with("sv") { "csv" } else { "svm" };
        let back = format!("back.{ending}");
        room.convert("out.rwb", &back, &small()).unwrap();
        assert_eq!(told(&room.read(name)), told(&room.read(&back)), "{name}");
        // Once text is in this form, it does not change any more.
        room.convert(&back, "second.rwb", &small()).unwrap();
        let second = format!("second.{ending}");
        room.convert("second.rwb", &second, &small()).unwrap();
        assert_eq!(room.text(&back), room.text(&second));
    }
    let room = Room::new();
    room.write("a.svm", "1.25 qid:7 cost:0.5 1:0.1 3:-2e-7 # doc\n0 qid:7 2:3\n");
    room.convert("a.svm", "a.csv", &small()).unwrap();
    assert_eq!(room.text("a.csv"), "id,qid,label,weight,x1,x2,x3\ndoc,7,1.25,0.5,0.1,0,-2e-7\n#2,7,0,1,0,3,0\n");
    room.convert("a.csv", "b.svm", &small()).unwrap();
    let expected = "1.25 qid:7 cost:0.5 1:0.1 2:0 3:-2e-7 # doc\n0 qid:7 cost:1 1:0 2:3 3:0 # #2\n";
    assert_eq!(room.text("b.svm"), expected);
}

#[test]
fn the_precision_is_that_of_the_text_or_the_one_asked_for() {
    let room = Room::new();
    room.write("far.svm", TEXTS[3].1);
    room.write("near.svm", TEXTS[0].1);
    for (name, precision, is_f32) in [
        ("far.svm", Precision::Auto, false),
        ("near.svm", Precision::Auto, true),
        ("far.svm", Precision::F32, true),
        ("near.svm", Precision::F64, false),
    ] {
        let how = Conversion { precision, ..small() };
        assert_eq!(room.convert(name, "out.rwb", &how).unwrap().is_f32, Some(is_f32), "{name} {precision:?}");
        assert_eq!(BlockFile::open(&room.path("out.rwb")).unwrap().is_f32(), is_f32);
    }
    let how = Conversion { precision: Precision::F32, ..small() };
    room.write("large.csv", "label,x\n1,1e300\n");
    says(room.convert("large.csv", "out.rwb", &how), &["large.csv", "line 2", "column 2 (x)", "f32"]);
    room.write("large.svm", "1 1:1e300\n");
    says(room.convert("large.svm", "out.rwb", &how), &["large.svm", "line 1", "f32"]);
}

#[test]
fn groups_that_are_apart_are_put_together() {
    let mut random = Random::new(3);
    for (n_groups, n_items, memory) in [(7, 200, 0), (60, 3000, 0), (2, 5000, 1 << 20), (900, 1000, 1 << 30)] {
        let room = Room::new();
        let mut text = String::new();
        for item in 0..n_items {
            let group = random.below(n_groups);
            let long = "x".repeat(random.below(900));
            text += &format!("{} qid:g{group} 1:{} {}:1 # {long}{item}\n", item % 5, random.uniform(), 2 + item % 9);
        }
        room.write("apart.svm", &text);
        let converted = room.convert("apart.svm", "out.rwb", &Conversion { memory, ..small() }).unwrap();
        assert!(converted.regrouped);
        let text = room.read("apart.svm");
        let members = text.groups.as_ref().unwrap().members();
        let order: Vec<usize> = members.iter().flatten().map(|&item| item as usize).collect();
        let expected = ItemTable {
            items: text.items.select(&order),
            groups: Some(text.groups.as_ref().unwrap().select(&order)),
            labels: Some(order.iter().map(|&item| text.labels.as_ref().unwrap()[item]).collect()),
            ..text.clone()
        };
        assert_eq!(told(&expected), told(&room.read("out.rwb")));
        assert_eq!(room.names(), ["apart.svm", "out.rwb"]);
        // Text keeps the order of the input.
        room.convert("apart.svm", "out.csv", &small()).unwrap();
        assert_eq!(room.read("out.csv").labels, text.labels);
    }
}

#[test]
fn scores_do_not_depend_on_where_the_items_are() {
    let room = Room::new();
    let mut random = Random::new(8);
    let mut text = String::from("qid,label,a,b,c\n");
    for item in 0..500 {
        let [a, b, c] = std::array::from_fn(|_| random.normal());
        text += &format!("{},{},{a},{b},{c}\n", item / 7, item % 3);
    }
    room.write("a.csv", &text);
    room.convert("a.csv", "a.rwb", &Conversion { precision: Precision::F64, ..small() }).unwrap();
    let scorer = Scorer {
        n_features: 3,
        feature_names: Some(["c", "a", "b"].map(String::from).to_vec()),
        are_indicators: false,
        scaler: None,
        function: ScoreFunction::Linear { weights: vec![1.0, -2.0, 0.3], bias: 0.0 },
    };
    let score = |name: &str| score_items(&room.source(name), &Columns::default(), &[&scorer]).unwrap();
    let ((text, mut of_text), (blocks, mut of_blocks)) = (score("a.csv"), score("a.rwb"));
    assert_eq!(of_text.pop().unwrap().unwrap(), of_blocks.pop().unwrap().unwrap());
    assert_eq!((text.labels, text.groups), (blocks.labels, blocks.groups));
    let stranger = Scorer { feature_names: Some(["x", "y", "z"].map(String::from).to_vec()), ..scorer };
    let (_, scores) = score_items(&room.source("a.rwb"), &Columns::default(), &[&stranger]).unwrap();
    says(scores.into_iter().next().unwrap(), &["features are missing"]);
}

#[test]
fn a_stream_of_blocks_has_whole_groups() {
    let room = Room::new();
    let mut text = String::new();
    for item in 0..600 {
        // Groups of a few items and of many blocks.
        let group = if item < 100 { item / 7 } else { item / 200 + 100 };
        text += &format!("{} qid:{group} 1:{item} 2:0.5\n", item % 4);
    }
    room.write("a.svm", &text);
    room.convert("a.svm", "a.rwb", &small()).unwrap();
    assert!(BlockFile::open(&room.path("a.rwb")).unwrap().n_blocks() > 20);
    let whole = room.read("a.rwb").into_ranking().unwrap();
    let mut stream = ItemStream::open(&room.source("a.rwb"), &StreamOptions::new(Columns::default())).unwrap();
    let (mut labels, mut values, mut names) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(part) = stream.next_part().unwrap() {
        labels.extend(part.labels);
        values.extend(part.items.features.to_dense());
        names.extend((0..part.groups.len()).map(|group| part.groups.name(group).to_string()));
    }
    assert_eq!((labels, values), (whole.labels, whole.items.features.to_dense()));
    assert_eq!(names, (0..whole.groups.len()).map(|group| whole.groups.name(group)).collect::<Vec<_>>());
}

#[test]
fn what_is_wrong_with_the_input_leaves_nothing_behind() {
    let room = Room::new();
    let mut text = "1 qid:1 1:2\n".repeat(40_000);
    text += "1 qid:1 1:x\n";
    room.write("late.svm", &text);
    says(room.convert("late.svm", "out.rwb", &small()), &["late.svm", "line 40001"]);
    room.write("none.svm", "# nothing\n\n");
    says(room.convert("none.svm", "out.rwb", &small()), &["no items"]);
    room.write("mixed.svm", "1 qid:1 1:2\n1 1:2\n");
    says(room.convert("mixed.svm", "out.rwb", &small()), &["line 2", "no qid"]);
    room.write("ids.csv", "id,label\na,1\n");
    says(room.convert("ids.csv", "out.rwb", &small()), &["no feature columns"]);
    room.write("weights.csv", "qid,label,group_weight,x\na,1,1,1\na,2,3,1\n");
    says(room.convert("weights.csv", "out.rwb", &small()), &["line 3", "3", "line 2"]);
    room.write("heavy.csv", "qid,label,group_weight,x\na,1,1,1\n");
    says(room.convert("heavy.csv", "out.svm", &small()), &["no weights of groups", ".csv"]);
    room.write("blank.csv", "qid,label,x\na b,1,1\n");
    says(room.convert("blank.csv", "out.svm", &small()), &["a b", "blanks"]);
    room.write("unlabelled.csv", "x\n1\n");
    says(room.convert("unlabelled.csv", "out.svm", &small()), &["label"]);
    says(room.convert("late.svm", "out.rwb.gz", &small()), &["not compressed"]);
    says(room.convert("late.svm", "out.xyz", &small()), &[".xyz"]);
    let stop = || true;
    let how = Conversion { stop: &stop, ..small() };
    room.write("fine.svm", "1 qid:1 1:2\n");
    assert!(matches!(room.convert("fine.svm", "out.rwb", &how), Err(Error::Interrupted)));
    // In the midst of writing, too.
    let n = std::cell::Cell::new(0);
    let stop = || {
        n.set(n.get() + 1);
        n.get() > 200
    };
    room.write("long.svm", &"1 qid:1 1:2\n".repeat(40_000));
    let how = Conversion { stop: &stop, ..small() };
    assert!(matches!(room.convert("long.svm", "out.rwb", &how), Err(Error::Interrupted)));
    assert!(room.names().iter().all(|name| !name.starts_with("out") && !name.starts_with('.')), "{:?}", room.names());
}

/// A table of ids alone means a feature for each item: nothing else may become one, and one nothing else.
#[test]
fn items_without_features_are_not_converted_into_others() {
    let folder = Files::new();
    let lines = folder.write("a.svm", "1 # a\n0 # b\n");
    let ids = folder.write("b.csv", "id,label\na,1\nb,0\n");
    let to = |source: &Source, name: &str| {
        convert(source, &Columns::default(), &folder.path(name), &Conversion::default())
            .map(|converted| converted.features)
    };
    for name in ["c.csv", "c.tsv"] {
        says(to(&lines, name), &["no features"]);
        says(to(&ids, name), &["no feature columns"]);
    }
    for name in ["c.svm", "c.rwb"] {
        assert_eq!(to(&lines, name).unwrap(), 0);
        says(to(&ids, name), &["no feature columns"]);
    }
}

#[test]
fn what_a_block_file_cannot_be_asked() {
    let room = Room::new();
    room.write("a.svm", TEXTS[0].1);
    room.convert("a.svm", "a.rwb", &small()).unwrap();
    let columns = Columns { label: Some("x".into()), ..Columns::default() };
    says(read_items(&room.source("a.rwb"), &columns, Precision::Auto), &["--label", "block file"]);
    let stdin = Source::parse("-", Some(Format::Blocks)).unwrap();
    says(read_items(&stdin, &Columns::default(), Precision::Auto), &["standard input", "save it to a file"]);
    says(BlockFile::open(Path::new("/")), &["not a file"]);
    says(BlockFile::open(Path::new("/no/such/file.rwb")), &["cannot open"]);
    let files = super::files(room.source("a.rwb"), None, Columns::default());
    says(rankwise::io::read_pairs(&files), &["a block file"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any numbers, groups and names, as a table and in SVMlight's format, in blocks of any size.
    #[test]
    fn anything_goes_in_and_comes_out(
        rows in proptest::collection::vec(
            (0u8..4, proptest::num::f64::NORMAL, 0.0..1e9, proptest::array::uniform3(
                prop_oneof![Just(0.0), -1.0..1.0, proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL]
            )),
            1..40,
        ),
        block_bytes in 1usize..2000,
        is_grouped in any::<bool>(),
    ) {
        let room = Room::new();
        let mut rows = rows;
        if is_grouped {
            rows.sort_by_key(|row| row.0);
        }
        let mut csv = String::from("qid,label,weight,a,\"b \"\"c\"\"\",d\n");
        let mut svm = String::new();
        for (group, label, weight, [a, b, c]) in &rows {
            csv += &format!("g{group},{label:e},{weight},{a:e},{b:e},{c:e}\n");
            svm += &format!("{label:e} qid:g{group} cost:{weight} 2:{a:e} 30:{b:e} 31:{c:e}\n");
        }
        for (name, text) in [("a.csv", csv), ("a.svm", svm)] {
            room.write(name, &text);
            let how = Conversion { block_bytes, memory: 1, ..Conversion::default() };
            let regrouped = room.convert(name, "a.rwb", &how).unwrap().regrouped;
            let table = room.read(name);
            let members = table.groups.as_ref().unwrap().members();
            let order: Vec<usize> = members.iter().flatten().map(|&item| item as usize).collect();
            prop_assert_eq!(regrouped, !order.is_sorted());
            let ranking = table.into_ranking().unwrap().select(&order);
            let back = room.read("a.rwb").into_ranking().unwrap();
            // f32 is chosen with less care where tiny numbers stand beside others in columns that are not full.
            if ranking.items.features.is_f32() == back.items.features.is_f32() {
                prop_assert_eq!(ranking.items.features.to_dense(), back.items.features.to_dense());
            } else {
                prop_assert!(name == "a.svm" && ranking.items.features.is_f32());
            }
            prop_assert_eq!(&ranking.labels, &back.labels);
            prop_assert_eq!(&ranking.weights, &back.weights);
            prop_assert_eq!(&ranking.groups, &back.groups);
            room.convert("a.rwb", &format!("back-{name}"), &how).unwrap();
            let again = room.read(&format!("back-{name}")).into_ranking().unwrap();
            prop_assert_eq!(again.items.features.to_dense(), back.items.features.to_dense());
            prop_assert_eq!(&again.labels, &back.labels);
        }
    }
}
