//! Parquet files, as items and as pairs.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::{Columns, Format, PairFiles, read_classes, read_items, read_pairs};
use rankwise_fuzz::{alone, may_ask_for, source};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    alone();
    // What the parquet crate panics at becomes an error; a panic that nobody catches still ends the process.
    static QUIET: std::sync::Once = std::sync::Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| ())));
    // The parquet crate asks for as much as a page says it has when unpacked, up to 2 GiB, and fills what there is.
    may_ask_for(1 << 31);
    let source = source("a.parquet", bytes, Format::Parquet);
    let columns = Columns::default();
    if let Ok(table) = read_items(&source, &columns, Precision::Auto) {
        let _ = table.into_ranking();
    }
    if let Ok(table) = read_classes(&source, &columns, Precision::F64) {
        let _ = table.into_classes();
    }
    let files = PairFiles {
        pairs: source,
        items: None,
        columns,
        precision: Precision::F64,
        with_outcomes: true,
        as_games: true,
    };
    if let Ok(table) = read_pairs(&files) {
        let _ = table.into_comparisons();
    }
});
