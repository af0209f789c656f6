//! Parquet files, as items and as pairs.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::{Columns, Format, PairFiles, read_classes, read_items, read_pairs};
use rankwise_fuzz::{alone, source};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    alone();
    let source = source("a.parquet", bytes, Format::Parquet);
    let columns = Columns::default();
    if let Ok(table) = read_items(&source, &columns, Precision::Auto) {
        let _ = table.into_ranking();
    }
    if let Ok(table) = read_classes(&source, &columns, Precision::F64) {
        let _ = table.into_classes();
    }
    let files =
        PairFiles { pairs: source, items: None, columns, precision: Precision::F64, with_outcomes: true, as_games: true };
    if let Ok(table) = read_pairs(&files) {
        let _ = table.into_comparisons();
    }
});
