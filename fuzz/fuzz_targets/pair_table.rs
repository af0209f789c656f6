//! Tables of pairs, alone or with a table of items behind a byte 0xff; what was read and written reads the same.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::{Columns, Format, PairFiles, read_pairs, write_pairs};
use rankwise_fuzz::{alone, assert_same_pairs, check, halves, source};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    alone();
    let Some((&how, text)) = input.split_first() else { return };
    let (pairs, items) = halves(text);
    let format = [Format::Csv, Format::Tsv][usize::from(how & 1)];
    let files = PairFiles {
        pairs: source("pairs.csv", pairs, format),
        items: items.map(|items| source("items.csv", items, format)),
        columns: Columns {
            drop: if how & 8 != 0 { vec!["d".into()] } else { Vec::new() },
            label: (how & 16 != 0).then(|| "y".into()),
            ..Columns::default()
        },
        precision: Precision::F64,
        with_outcomes: how & 2 == 0,
        as_games: how & 4 != 0,
    };
    // Both tables have lines: an error may name those of either.
    let longer = [pairs, b"\n", items.unwrap_or_default()].concat();
    let Some(table) = check(read_pairs(&files), &longer) else { return };
    let n_pairs = table.set.n_pairs();
    if files.as_games
        && let Ok(games) = table.to_games()
    {
        assert_eq!(games.games.len(), n_pairs);
    }
    let Ok(found) = table.into_comparisons() else { return };
    assert_eq!(found.n_pairs(), n_pairs);
    let mut written = Vec::new();
    write_pairs(&mut written, &found).expect("memory takes all");
    let again = PairFiles {
        pairs: source("again.csv", &written, Format::Csv),
        items: None,
        columns: Columns::default(),
        precision: Precision::F64,
        with_outcomes: true,
        as_games: false,
    };
    let again = read_pairs(&again).unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&written)));
    assert_same_pairs(&found, &again.into_comparisons().expect("outcomes were written"));
});
