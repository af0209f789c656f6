//! What stands in a report, from the headline down.

use rankwise::data::Outcome;
use rankwise::metrics::{PairMetric, RocPoint};
use rankwise::model::Model;

use super::{Findings, mistakes, probabilities, ranking_function, tie_band, tuning};
use crate::commands::describe;
use crate::commands::evaluate::threshold_text;
use crate::page::{Page, Table};
use crate::picture::{MarginChart, Picture, RocChart};
use crate::text::{Facts, count, percent, percent_or_dash};

/// The page, and its pictures in order.
pub(super) fn page(findings: &Findings<'_>) -> (Page, Vec<Picture>) {
    let training = &findings.subject.model.training;
    let mut page = Page::new(&format!("{} on {}", training.method.name(), findings.subject.source));
    let mut pictures = Vec::new();
    page.lead(&format!("{}.", findings.headline()));
    findings.warnings.iter().for_each(|warning| page.note(&format!("Note: {warning}.")));
    what_was_trained(&mut page, findings.subject.model);
    tuning::section(&mut page, training, &mut pictures);
    how_well(&mut page, findings, &mut pictures);
    probabilities::section(&mut page, findings, &mut pictures);
    tie_band::section(&mut page, findings, &mut pictures);
    ranking_function::sections(&mut page, findings, &mut pictures);
    mistakes::section(&mut page, findings);
    (page, pictures)
}

/// What stands beside every picture of quality.
pub(super) fn beside(findings: &Findings<'_>) -> String {
    let Some(error) = findings.judged.zero_one() else { return String::new() };
    let shares = &findings.evaluation.tie_share;
    format!(
        "Error {}; {}. Ties: {} predicted, {} observed.",
        percent(error),
        findings.majority().unwrap_or_default(),
        percent_or_dash(shares.predicted),
        percent_or_dash(shares.observed)
    )
}

/// The section of the model itself.
pub(super) fn what_was_trained(page: &mut Page, model: &Model) {
    page.section("What was trained");
    let mut facts = Facts::default();
    describe::add_facts(&mut facts, model);
    page.facts(&facts);
    model.training.warnings.iter().for_each(|warning| page.note(&format!("The training warned: {warning}")));
}

fn how_well(page: &mut Page, findings: &Findings<'_>, pictures: &mut Vec<Picture>) {
    page.section("How well");
    page.table(&metrics(findings));
    page.paragraph(
        "If the model has seen these pairs in training, it will do worse on new ones: measure on pairs that were kept \
         apart.",
    );
    if findings.evaluation.pairs == 0 {
        return;
    }
    let beside = beside(findings);
    let caption = format!("Pairs by judged and predicted outcome, with shares of each row. {beside}");
    page.confusion(&caption, Outcome::ALL.map(Outcome::name), findings.judged.confusion());

    let mut figures = Vec::new();
    match roc(findings) {
        Some(picture) => figures.push((picture, format!("{} {beside}", roc_text(findings.judged.has_band())))),
        None => page.paragraph("There is no ROC curve: it needs both ties and non-ties."),
    }
    let subject = &findings.subject;
    let chart = MarginChart {
        name: "margins",
        margins: &subject.verdicts.margins,
        outcomes: &subject.data.outcomes,
        predicted: &subject.verdicts.outcomes(),
        weights: subject.data.weights.as_deref(),
        threshold: (!findings.judged.has_band()).then_some(subject.model.threshold),
    };
    let cut = if chart.is_cut() { " The outermost bars hold everything beyond them." } else { "" };
    let region = match chart.threshold {
        Some(_) => "between −τ and τ (shaded) the model predicts a tie.",
        None => "every pair has a threshold of its own, below which the model predicts a tie.",
    };
    let caption = format!("Margins by judged outcome; {region}{cut} {beside}");
    figures.push((chart.draw(), caption));
    show(page, figures, pictures);
}

/// Puts pictures on the page side by side.
pub(super) fn show(page: &mut Page, figures: Vec<(Picture, String)>, pictures: &mut Vec<Picture>) {
    let borrowed: Vec<_> = figures.iter().map(|(picture, caption)| (picture, caption.clone())).collect();
    page.figures(&borrowed);
    pictures.extend(figures.into_iter().map(|(picture, _)| picture));
}

fn metrics(findings: &Findings<'_>) -> Table {
    let judged = &findings.judged;
    let row = |name: &str, metric: PairMetric, show: fn(f64) -> String, beside: String| {
        let (value, interval) = match (metric.of(judged), findings.interval(metric)) {
            (Some(value), Some(interval)) => {
                let left_out = match interval.n_undefined {
                    0 => String::new(),
                    n => format!(" ({} left out)", count(n, "resample")),
                };
                (show(value), format!("{} to {}{left_out}", show(interval.low), show(interval.high)))
            }
            _ => ("not defined".into(), "–".into()),
        };
        let better = if metric.greater_is_better() { "more" } else { "less" };
        vec![name.to_string(), value, interval, beside, better.into()]
    };
    let three = |value: f64| format!("{value:.3}");
    let majority = findings.majority().unwrap_or_else(|| "–".into());
    let constant = judged.auc_baseline().map_or_else(|| "–".into(), |auc| format!("a constant has {auc:.3}"));
    let [left, _, right] = judged.totals();
    let side = if left + right > 0.0 {
        format!("one side always: {}", percent(left.max(right) / (left + right)))
    } else {
        "–".into()
    };
    let shares = &findings.evaluation.tie_share;
    let ties = vec![
        "predicted ties".into(),
        percent_or_dash(shares.predicted),
        "–".into(),
        format!("{} observed", percent_or_dash(shares.observed)),
        "as observed".into(),
    ];
    let drawn = match findings.evaluation.groups {
        Some(groups) => format!("1000 resamples of {}", count(groups, "group")),
        None => "1000 resamples of the pairs".into(),
    };
    let ties_of = count(findings.evaluation.ties, "tie");
    let mut rows = vec![
        row("error (zero_one)", PairMetric::ZeroOne, percent, majority),
        row("area under the ROC curve (auc)", PairMetric::Auc, three, constant),
        row("right sign among non-ties (pair_accuracy)", PairMetric::PairAccuracy, percent, side),
    ];
    if judged.has_chances() {
        let shares = |metric: PairMetric| match metric.of_constant(judged) {
            Some((_, value)) => format!("the shares of the outcomes alone: {value:.3}"),
            None => "–".into(),
        };
        rows.extend([
            row("log-loss of the probabilities (log_loss)", PairMetric::LogLoss, three, shares(PairMetric::LogLoss)),
            row(
                "their squared distance from what was judged (brier)",
                PairMetric::Brier,
                three,
                shares(PairMetric::Brier),
            ),
        ]);
    }
    rows.push(ties);
    Table {
        caption: format!(
            "{} ({ties_of}) from {}; threshold: {}; bootstrap, {drawn}",
            count(findings.evaluation.pairs, "pair"),
            findings.subject.source,
            threshold_text(findings.evaluation.threshold, judged.has_band()),
        ),
        header: ["", "value", "95 % interval", "beside it", "better is"].map(String::from).to_vec(),
        rows,
        is_words: true,
    }
}

fn roc_text(has_band: bool) -> &'static str {
    if has_band {
        "Moving the thresholds of all pairs together from ∞ to −∞ draws the curve; it ends (square) where nothing is a \
         tie. The circle is the model as it is."
    } else {
        "Moving the threshold from ∞ to 0 draws the curve; it ends (square) where nothing is a tie. The circle is the \
         model’s threshold."
    }
}

fn roc(findings: &Findings<'_>) -> Option<Picture> {
    let judged = &findings.judged;
    let points = judged.roc()?;
    let (table, [left, tie, right]) = (judged.confusion(), judged.totals());
    let chosen = RocPoint {
        threshold: findings.subject.model.threshold,
        false_positive_rate: 1.0 - table[1][1] / tie,
        true_positive_rate: (table[0][0] + table[2][2]) / (left + right),
    };
    let (auc, baseline) = (judged.auc()?, judged.auc_baseline()?);
    Some(RocChart { name: "roc", points: &points, chosen, has_band: judged.has_band(), auc, baseline }.draw())
}
