//! How the tie region depends on the pair.

use rankwise::data::Outcome;

use super::Findings;
use super::content::show;
use crate::commands::band;
use crate::page::{Page, Table};
use crate::picture::{Bar, Bars, Histogram, Picture};
use crate::text::{count, percent, rounded};

/// Names of the pictures: the thresholds, and what they are made of.
pub(super) const NAMES: [&str; 2] = ["thresholds", "band-weights"];

/// How many weights are shown.
const SHOWN: usize = 20;

/// Adds the section, if the model has a tie band.
pub(super) fn section(page: &mut Page, findings: &Findings<'_>, pictures: &mut Vec<Picture>) {
    let subject = &findings.subject;
    let (Some(thresholds), Some(tie_band)) = (&subject.verdicts.thresholds, &subject.model.band) else { return };
    page.section("Tie band");
    page.paragraph(
        "The difference that does not matter depends on the pair: on the mean of the two sides, on how far apart their \
         features are, and on what the pair columns say of the comparison itself.",
    );
    let is_present = |k: &usize| subject.data.weight(*k) > 0.0;
    let of = |is: &dyn Fn(Outcome) -> bool| {
        let chosen = (0..thresholds.len()).filter(is_present).filter(|&k| is(subject.data.outcomes[k]));
        let mut chosen: Vec<f64> = chosen.map(|k| thresholds[k]).collect();
        chosen.sort_by(f64::total_cmp);
        chosen
    };
    let all = of(&|_| true);
    let kinds = [
        ("all pairs", all.clone()),
        ("judged a tie", of(&|outcome| outcome == Outcome::Tie)),
        ("judged no tie", of(&|outcome| outcome != Outcome::Tie)),
    ];
    let mut figures = Vec::new();
    if let (Some(low), Some(high), Some(middle)) = (quantile(&all, 0.0), quantile(&all, 0.99), quantile(&all, 0.5)) {
        let chart = Histogram {
            name: NAMES[0],
            axis: "threshold".into(),
            noun: "pairs".into(),
            values: &all,
            // Equal thresholds still need a bar with a width.
            range: if high > low { (low.min(0.0), high) } else { (low.min(0.0), low.max(0.0) + 1.0) },
            marks: vec![("half are below".into(), middle), ("mean in training".into(), subject.model.threshold)],
        };
        figures.push((
            chart.draw(),
            format!(
                "Thresholds of {}; a pair whose |margin| is at most its threshold is a tie. The last bar holds the one in \
                 a hundred that lie beyond.",
                count(all.len(), "pair")
            ),
        ));
    }
    let weights = band::largest_weights(subject.model, tie_band, SHOWN);
    let n_weights = band::n_weights(tie_band);
    let shown = if weights.len() < n_weights {
        format!("{} of {n_weights}", weights.len())
    } else {
        format!("All {n_weights}")
    };
    let bars = weights.into_iter().map(|(label, value)| Bar { label, value }).collect();
    let title = "Largest weights of the tie band".to_string();
    let picture = Bars { name: NAMES[1], title, axis: "weight".into(), bars }.draw();
    figures.push((
        picture,
        format!(
            "{shown} weights of the tie band, the largest first{}. Where it grows, ties get likelier; bars to the left \
             (hatched) are negative.",
            band::units(subject.model)
        ),
    ));
    show(page, figures, pictures);
    let row = |(name, sorted): &(&str, Vec<f64>)| {
        let at = |share: f64| quantile(sorted, share).map_or_else(|| "–".into(), rounded);
        let n_none = sorted.iter().filter(|threshold| **threshold <= 0.0).count();
        let none = if sorted.is_empty() { "–".into() } else { percent(n_none as f64 / sorted.len() as f64) };
        vec![(*name).to_string(), sorted.len().to_string(), at(0.1), at(0.5), at(0.9), none]
    };
    page.table(&Table {
        caption:
            "Thresholds: a tenth, a half and nine tenths of the pairs have at most these; none: with a threshold of 0 \
                  nothing but equal scores is a tie"
                .into(),
        header: ["", "pairs", "10 %", "50 %", "90 %", "none"].map(String::from).to_vec(),
        rows: kinds.iter().map(row).collect(),
        is_words: false,
    });
}

/// The value that a share of the ascending numbers does not exceed.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    sorted.get((share * sorted.len().checked_sub(1)? as f64).round() as usize).copied()
}
