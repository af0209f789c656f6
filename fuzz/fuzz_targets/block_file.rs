//! Block files, their checksums taken for right: what opens and is sound reads the same in every way there is.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::{BlockFile, Columns, Conversion, Format, ItemStream, StreamOptions, convert, read_items};
use rankwise_fuzz::{alone, assert_same_items, path, source};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    alone();
    let source = source("items.rwb", bytes, Format::Blocks);
    let rankwise::io::Source::File { path: file, .. } = &source else { return };
    let Ok(blocks) = BlockFile::open(file) else { return };
    let is_sound = blocks.verify().is_ok();
    let table = read_items(&source, &Columns::default(), Precision::Auto);
    if !is_sound {
        assert!(table.is_err());
        return;
    }
    let stored = blocks.into_stored(1 << 20);
    let Ok(table) = table else { return };
    assert_eq!(stored.is_ok(), table.labels.is_some() && table.items.n_items() > 0);
    if let Ok(mut parts) = ItemStream::open(&source, &StreamOptions::new(Columns::default())) {
        let mut n_items = 0;
        while let Ok(Some(part)) = parts.next_part() {
            n_items += part.n_items();
        }
        assert!(table.labels.is_none() || n_items <= table.items.n_items());
    }
    let how = Conversion { block_bytes: 1 << 12, memory: 1 << 20, ..Conversion::default() };
    let again = path("again.rwb");
    if convert(&source, &Columns::default(), &again, &how).is_ok() {
        let again = rankwise::io::Source::File { path: again, format: Format::Blocks };
        let again = read_items(&again, &Columns::default(), Precision::Auto).expect("what was written can be read");
        assert_same_items(&table, &again);
        assert_eq!(table.items.ids, again.items.ids);
        assert_eq!(table.items.feature_names, again.items.feature_names);
    }
});
