//! Judgments and runs of search engines; a run that was read and written reads the same.
#![no_main]

use rankwise::io::{Queries, read_qrels, read_run};
use rankwise_fuzz::{alone, check, file, halves};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    alone();
    let (judgments, run) = halves(input);
    let qrels = check(read_qrels(&file("qrels.txt", judgments)), judgments);
    let run = check(read_run(&file("run.txt", run.unwrap_or(judgments))), run.unwrap_or(judgments));
    let (Some(qrels), Some(run)) = (qrels, run) else { return };
    let both = run.judged(&qrels, Queries::InBoth);
    let judged = run.judged(&qrels, Queries::Judged);
    assert_eq!(both.is_ok(), judged.is_ok());
    for found in both.into_iter().chain(judged) {
        let n = found.ids.len();
        assert!(found.labels.len() == n && found.scores.len() == n && found.groups.n_items() == n);
        assert!(found.labels.iter().all(|label| label.is_finite()) && !found.scores.iter().any(|score| score.is_nan()));
    }
});
