//! What the numbers of the study say.

use super::super::super::stats::Summary;
use super::super::super::study::{Findings, Found};
use super::{Ready, key};
use crate::exit::Run;
use crate::page::Table;
use crate::picture::{Strip, Strips};

pub(super) fn findings(ready: &Ready, found: &Found) -> Run<Findings> {
    let mut rows = Vec::new();
    for set in &ready.sets {
        for machine in ready.machines() {
            let mut cells = vec![format!("{} {}", set.name, machine.key())];
            let mut all = Vec::new();
            for p in &set.periods {
                let k = key(set, p, &machine);
                let a = found.get(&k, "test_auc")?;
                all.push(a);
                cells.push(format!(
                    "{a:.3} v{:.3} C{:e} d{} g{} f{} x{}",
                    found.get(&k, "validation_auc")?,
                    found.get(&k, "c")?,
                    found.get(&k, "degree")?,
                    found.get(&k, "gamma")?,
                    found.get(&k, "flat_points")?,
                    found.get(&k, "collapsed")?
                ));
            }
            cells.insert(1, Summary::of(&all).told(3));
            rows.push(cells);
        }
        for p in &set.periods {
            let (e, b) = super::machine::of_column(&set.seen, &p.test, 0)?;
            let (g, _) = super::machine::of_column(&set.seen, &p.test, 1)?;
            rows.push(vec![
                format!("{} {} {} {} {}", set.name, p.name, p.choice.len(), p.train.len(), p.test.len()),
                format!("elo {e:.3} glicko {g:.3} const {b:.3}"),
            ]);
        }
        rows.push(vec![format!(
            "{:?}",
            (
                set.counts.games,
                set.counts.ties,
                set.counts.players,
                set.counts.left_out,
                set.counts.printed,
                set.counts.whole,
                &set.counts.skipped
            )
        )]);
    }
    let n = rows.iter().map(Vec::len).max().unwrap_or(0);
    for r in &mut rows {
        r.resize(n, String::new());
    }
    Ok(Findings {
        lead: String::new(),
        beside: Table { caption: "x".into(), header: vec!["a".into(); n], rows, is_words: true },
        claims: vec![],
        notes: vec![],
        tables: vec![],
        picture: Strips {
            name: "a",
            title: "t".into(),
            axis: "AUC".into(),
            kinds: vec!["k".into()],
            strips: vec![Strip { label: "z".into(), kind: 0, values: vec![0.4, 0.5, 0.55] }],
        }
        .draw(),
        caption: String::new(),
        numbers: (vec![], vec![]),
    })
}
