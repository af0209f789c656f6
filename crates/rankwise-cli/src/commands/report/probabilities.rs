//! Whether a model's probabilities come true.

use rankwise::metrics::{Chance, Reliability};
use serde_json::{Value, json};

use super::Findings;
use super::content::show;
use crate::page::{Page, Table};
use crate::picture::{Picture, ReliabilityChart};
use crate::text::{percent, rounded};

/// Names of the pictures: of ties, and of the two sides.
pub(super) const NAMES: [&str; 2] = ["reliability-ties", "reliability-sides"];

/// Bins of about equal weight.
const N_BINS: usize = 10;

/// Which probabilities are looked at, with what may come true.
const KINDS: [(Chance, &str); 2] = [(Chance::Tie, "a tie"), (Chance::Side, "one side")];

/// Adds the section, if the model has probabilities.
pub(super) fn section(page: &mut Page, findings: &Findings<'_>, pictures: &mut Vec<Picture>) {
    let Some(found) = reliabilities(findings) else { return };
    page.section("Probabilities");
    let [ties, sides] = [&found[0].error, &found[1].error].map(|error| format!("{error:.3}"));
    page.paragraph(&format!(
        "Predicted probabilities are off by {ties} for ties and by {sides} for the sides, in the mean over bins (expected \
         calibration error). Points below the dashed line came true less often than predicted, points above it more often."
    ));
    let mut figures = Vec::new();
    for (at, reliability) in found.iter().enumerate() {
        let event = KINDS[at].1;
        let caption = match KINDS[at].0 {
            Chance::Tie => format!("Pairs in {} by P(tie), each with about as many pairs.", bins(reliability)),
            Chance::Side => format!(
                "The same for P(left) and P(right) together, in {}: which side is which does not matter, so every pair \
                 counts twice.",
                bins(reliability)
            ),
        };
        let chart = ReliabilityChart { name: NAMES[at], event: event.into(), reliability };
        figures.push((chart.draw(), caption));
    }
    show(page, figures, pictures);
    let rows = found.iter().zip(KINDS).flat_map(|(reliability, (_, event))| {
        reliability.bins.iter().map(move |bin| {
            let interval = format!("{} to {}", percent(bin.low), percent(bin.high));
            let [predicted, observed] = [bin.predicted, bin.observed].map(percent);
            vec![event.to_string(), predicted, observed, interval, rounded(bin.weight)]
        })
    });
    page.details(
        "As a table",
        &Table {
            caption: "Mean probability of each bin, and the share that came true".into(),
            header: ["of", "predicted", "observed", "95 % interval", "weight"].map(String::from).to_vec(),
            rows: rows.collect(),
            is_words: false,
        },
    );
}

fn bins(reliability: &Reliability) -> String {
    crate::text::count(reliability.bins.len(), "bin")
}

/// Of ties and of sides; `None` without probabilities or pairs.
fn reliabilities(findings: &Findings<'_>) -> Option<[Reliability; 2]> {
    let [ties, sides] = KINDS.map(|(chance, _)| findings.judged.reliability(chance, N_BINS));
    Some([ties?, sides?])
}

/// The expected calibration errors for JSON.
pub(super) fn errors(findings: &Findings<'_>) -> Option<Value> {
    let [ties, sides] = reliabilities(findings)?;
    Some(json!({ "ties": ties.error, "sides": sides.error }))
}
