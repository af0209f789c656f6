//! Tables of items, by commas and by tabs, with columns of any names.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::{Columns, Format, read_classes, read_items};
use rankwise_fuzz::{alone, assert_same_items, check, source};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    alone();
    let Some((&how, text)) = input.split_first() else { return };
    let format = [Format::Csv, Format::Tsv][usize::from(how & 1)];
    let named = |bit: u8, name: &str| (how & bit != 0).then(|| name.to_string());
    let columns = Columns {
        label: named(2, "y"),
        group: named(4, "g"),
        weight: named(8, "w"),
        id: named(16, "x"),
        drop: named(32, "d").into_iter().collect(),
        ..Columns::default()
    };
    let source = source("items.csv", text, format);
    let exact = check(read_items(&source, &columns, Precision::F64), text);
    let chosen = check(read_items(&source, &columns, Precision::Auto), text);
    let classes = check(read_classes(&source, &columns, Precision::F64), text);
    if let (Some(exact), Some(chosen)) = (&exact, &chosen)
        && !chosen.items.features.is_f32()
    {
        assert_same_items(exact, chosen);
    }
    assert_eq!(exact.is_some(), chosen.is_some());
    if let (Some(exact), Some(classes)) = (&exact, &classes) {
        assert_eq!(exact.items.n_items(), classes.items.n_items());
        assert_eq!(exact.labels.is_some(), classes.words.is_some() || classes.labels.is_some());
    }
    if let Some(table) = exact {
        let _ = table.into_ranking();
    }
    if let Some(table) = classes {
        let _ = table.into_classes();
    }
});
