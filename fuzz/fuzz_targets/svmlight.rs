//! Items in SVMlight's format: errors name a line that is there, and how features are stored changes nothing else.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::{Columns, Format, IndexBase, read_items};
use rankwise_fuzz::{alone, assert_same_items, check, source};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    alone();
    let index_base = if text.first() == Some(&b'#') { IndexBase::Zero } else { IndexBase::One };
    let columns = Columns { index_base, ..Columns::default() };
    let source = source("items.svm", text, Format::SvmLight);
    let exact = check(read_items(&source, &columns, Precision::F64), text);
    let chosen = check(read_items(&source, &columns, Precision::Auto), text);
    let single = check(read_items(&source, &columns, Precision::F32), text);
    let Some(exact) = exact else {
        assert!(chosen.is_none() && single.is_none());
        return;
    };
    let chosen = chosen.expect("another precision is no reason to refuse the text");
    if !chosen.items.features.is_f32() {
        assert_same_items(&exact, &chosen);
    }
    for table in [chosen, exact].into_iter().chain(single) {
        assert!(table.labels.as_ref().is_some_and(|labels| labels.iter().all(|label| label.is_finite())));
        let n_items = table.items.n_items();
        if let Ok(ranking) = table.into_ranking() {
            assert_eq!(ranking.n_items(), n_items);
        }
    }
});
