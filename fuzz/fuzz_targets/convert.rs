//! Items of one format in another one: whatever was read, written and read again is the same.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::{Columns, Conversion, Format, Source, convert, read_items};
use rankwise_fuzz::{alone, assert_same_items, check, path, source, total_weights};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    alone();
    let Some((&how, text)) = input.split_first() else { return };
    let from = [Format::SvmLight, Format::Csv][usize::from(how & 1)];
    let to = [Format::SvmLight, Format::Csv, Format::Tsv, Format::Blocks, Format::Parquet][usize::from(how >> 1) % 5];
    let input = source("items.txt", text, from);
    let columns = Columns::default();
    let Some(before) = check(read_items(&input, &columns, Precision::F64), text) else { return };
    // A table has a cell for every feature of every item.
    if before.items.features.n_cols() > 1000 {
        return;
    }
    let target = path("converted");
    let conversion = Conversion {
        precision: Precision::F64,
        format: Some(to),
        memory: 1 << 20,
        block_bytes: 1 << 10,
        ..Conversion::default()
    };
    let Ok(converted) = convert(&input, &columns, &target, &conversion) else { return };
    assert_eq!(converted.items, before.items.n_items());
    let after = read_items(&Source::File { path: target, format: to }, &columns, Precision::F64)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(before.items.n_items(), after.items.n_items());
    if converted.regrouped {
        return; // in another order
    }
    if to == Format::SvmLight && before.group_weights.is_some() {
        return; // which this format has not
    }
    if before.labels.is_some() {
        assert_same_items(&before, &after);
        assert_eq!(total_weights(&before), total_weights(&after));
    }
    if let (Some(ids), Some(found)) = (&before.items.ids, &after.items.ids) {
        assert!(to == Format::SvmLight || ids == found);
    }
});
