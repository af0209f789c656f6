//! Data sets as their makers publish them; what becomes pairs can be written and read as a table of pairs.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::published::{LetorFolds, PAIR_SOURCES, read_chess_ratings};
use rankwise::io::{Columns, Format, PairFiles, Source, read_pairs};
use rankwise_fuzz::{alone, assert_same_pairs, check, file, path, source};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    alone();
    let Some((&how, text)) = input.split_first() else { return };
    let at = usize::from(how) % (PAIR_SOURCES.len() + 2);
    // Several files are one behind the other, with bytes between them that no text has.
    let mut files = text.split(|&byte| byte == 0xff);
    let mut next = || files.next().unwrap_or_default();
    let Some((name, read)) = PAIR_SOURCES.get(at) else {
        if at == PAIR_SOURCES.len() {
            let players = ["1".to_string(), "2".to_string()];
            check(read_chess_ratings(&source("ratings.csv", text, Format::Csv), &players), text);
            return;
        }
        (1..=5).for_each(|part| drop(file(&format!("letor/S{part}.txt"), next())));
        let folds = LetorFolds::read(&path("letor")).expect("all files are there");
        let _ = folds.fold(1, Precision::Auto);
        return;
    };
    let place = match *name {
        "sushi" => {
            for name in ["sushi3.idata", "sushi3.udata", "sushi3b.5000.10.score"] {
                file(&format!("sushi/{name}"), next());
            }
            path("sushi")
        }
        // Battles come as a table or as JSON, which the name says.
        "arena" if how & 128 != 0 => file("battles.jsonl", text),
        name => file(&format!("{name}.csv"), text),
    };
    let Some(found) = check(read(&place), text) else { return };
    let table = path("pairs.csv");
    if found.write(&table, None).is_err() {
        return;
    }
    let again = read_pairs(&PairFiles {
        pairs: Source::File { path: table, format: Format::Csv },
        items: None,
        columns: Columns::default(),
        precision: Precision::F64,
        with_outcomes: true,
        as_games: false,
    });
    // Names that a table cannot hold as they are (blanks at their ends) are no fault.
    if let Ok(again) = again
        && *name == "sushi"
    {
        assert_same_pairs(&found.comparisons, &again.into_comparisons().expect("outcomes were written"));
    }
});
