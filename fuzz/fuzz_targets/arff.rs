//! ARFF files, as tables and as rankings.
#![no_main]

use rankwise::data::Precision;
use rankwise::io::published::{ArffTarget, read_arff};
use rankwise_fuzz::{alone, check, file};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    alone();
    let Some(table) = check(read_arff(&file("a.arff", text)), text) else { return };
    assert_eq!(table.rows().count(), table.n_rows());
    assert!(table.rows().all(|row| row.len() == table.attributes.len()));
    for target in [ArffTarget::First, ArffTarget::Last, ArffTarget::Named("a")] {
        if let Ok(found) = table.to_ranking(target, Precision::F64) {
            assert_eq!(found.ranking.n_items() + found.n_incomplete, table.n_rows());
        }
    }
    if let Some(first) = table.attributes.first() {
        let rest = table.without(std::slice::from_ref(&first.name));
        assert!(rest.is_err() || rest.is_ok_and(|rest| rest.n_rows() == table.n_rows()));
    }
});
