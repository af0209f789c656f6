//! The pairs a model gets most wrong.

use rankwise::data::{Features, Outcome};

use super::content::beside;
use super::{Findings, Subject};
use crate::page::{Page, Table};
use crate::text::{count, percent, rounded};

/// How many are shown.
const SHOWN: usize = 10;

/// Items with more features are not spelled out.
pub(super) const FEW_FEATURES: usize = 6;

/// A wrong prediction.
struct Mistake {
    pair: usize,
    /// How far the margin is from one that would have been right.
    beyond: f64,
}

/// Adds the section.
pub(super) fn section(page: &mut Page, findings: &Findings<'_>) {
    page.section("Most wrong");
    let subject = &findings.subject;
    let mistakes = mistakes(subject);
    if mistakes.is_empty() {
        page.paragraph("No pair is predicted wrong.");
        return;
    }
    let items = &subject.data.set.items;
    let has_features = !items.are_indicators && (1..=FEW_FEATURES).contains(&items.features.n_cols());
    let mut header = vec!["pair"];
    if items.ids.is_some() {
        header.extend(["left", "right"]);
    }
    header.extend(["judged", "predicted", "margin", "beyond"]);
    if findings.judged.has_band() {
        header.push("threshold");
    }
    if findings.judged.has_chances() {
        header.push("probability of what was judged");
    }
    if has_features {
        header.extend(["features of left", "features of right"]);
    }
    let row = |mistake: &Mistake| {
        let (pair, margin) = (subject.data.set.pairs[mistake.pair], subject.verdicts.margins[mistake.pair]);
        let mut row = vec![(mistake.pair + 1).to_string()];
        // Without ids an item has no name that the user knows.
        if items.ids.is_some() {
            row.extend([pair.left, pair.right].map(|item| items.name(item)));
        }
        let (judged, predicted) = (subject.data.outcomes[mistake.pair], subject.verdicts.outcome(mistake.pair));
        row.extend([judged, predicted].map(|outcome| outcome.name().to_string()));
        row.extend([margin, mistake.beyond].map(rounded));
        row.extend(subject.verdicts.thresholds.as_ref().map(|all| rounded(all[mistake.pair])));
        row.extend(subject.verdicts.chances.as_ref().map(|all| percent(all[mistake.pair][judged as usize])));
        if has_features {
            let names = items.feature_names.as_deref();
            row.extend([pair.left, pair.right].map(|item| spelled(&items.features, item as usize, names)));
        }
        row
    };
    let header = header.into_iter().map(String::from).collect();
    let caption = format!(
        "{} of {} wrong predictions, the worst first; pairs are numbered from 1 as in {}; beyond: how far the margin is \
         from one that would have been right. {}",
        mistakes.len().min(SHOWN),
        mistakes.len(),
        subject.source,
        beside(findings)
    );
    page.table(&Table { caption, header, rows: mistakes.iter().take(SHOWN).map(row).collect(), is_words: true });
    if !items.are_indicators && !has_features {
        let n = count(items.features.n_cols(), "feature");
        page.paragraph(&format!("The items’ {n} are too many to show."));
    }
}

/// All wrong predictions, the worst first; equal ones as in the file.
fn mistakes(subject: &Subject<'_>) -> Vec<Mistake> {
    let judge = |pair: usize| {
        let (judged, margin) = (subject.data.outcomes[pair], subject.verdicts.margins[pair]);
        let is_wrong = subject.data.weight(pair) > 0.0 && subject.verdicts.outcome(pair) != judged;
        let tau = subject.verdicts.threshold_of(pair);
        let beyond = match judged {
            Outcome::Tie => margin.abs() - tau,
            Outcome::Left => margin + tau,
            Outcome::Right => tau - margin,
        };
        is_wrong.then_some(Mistake { pair, beyond })
    };
    let mut mistakes: Vec<Mistake> = (0..subject.data.n_pairs()).filter_map(judge).collect();
    mistakes.sort_by(|a, b| b.beyond.total_cmp(&a.beyond).then(a.pair.cmp(&b.pair)));
    mistakes
}

/// `age 3, height 1.8`.
pub(super) fn spelled(features: &Features, row: usize, names: Option<&[String]>) -> String {
    let mut values = vec![0.0; features.n_cols()];
    features.copy_row(row, &mut values);
    let named = |(at, &value): (usize, &f64)| match names.and_then(|names| names.get(at)) {
        Some(name) => format!("{name} {}", rounded(value)),
        None => rounded(value),
    };
    values.iter().enumerate().map(named).collect::<Vec<_>>().join(", ")
}
