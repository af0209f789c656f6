//! Items read part by part, in parts of a few bytes, are those of the whole file.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::{Columns, Format, ItemStream, StreamOptions, read_items};
use rankwise_fuzz::{alone, check, source};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    alone();
    let Some((&how, text)) = input.split_first() else { return };
    let format = [Format::SvmLight, Format::Csv][usize::from(how & 1)];
    let mut options = StreamOptions::new(Columns::default());
    (options.by_group, options.part_bytes) = (how & 2 != 0, 1 + usize::from(how >> 2) * 4);
    let source = source("items.txt", text, format);
    let whole = check(read_items(&source, &options.columns, Precision::F64), text);
    let whole = whole.and_then(|table| table.into_ranking().ok());
    let Some(mut parts) = check(ItemStream::open(&source, &options), text) else { return };
    let (mut labels, mut n_stored) = (Vec::new(), 0);
    loop {
        match parts.next_part() {
            Ok(Some(part)) => {
                assert!(part.n_items() > 0);
                labels.extend_from_slice(&part.labels);
                for row in 0..part.n_items() {
                    part.items.features.for_each_in_row(row, |_, value| n_stored += usize::from(value != 0.0));
                }
            }
            Ok(None) => break,
            Err(error) => {
                // Only groups that do not stand together are no fault of a whole file.
                check::<()>(Err(error), text);
                assert!(whole.is_none() || options.by_group);
                return;
            }
        }
    }
    let Some(whole) = whole else { return };
    assert_eq!(labels, whole.labels);
    let mut expected = 0;
    for row in 0..whole.n_items() {
        whole.items.features.for_each_in_row(row, |_, value| expected += usize::from(value != 0.0));
    }
    assert_eq!(n_stored, expected);
});
