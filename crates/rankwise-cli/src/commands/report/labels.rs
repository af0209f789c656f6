//! `report` of a classifier, a model of grades or a regression: metrics beside a constant answer, confusion, probabilities, errors.

use rankwise::data::{Items, Ranking};
use rankwise::io::{Columns, Format, Source};
use rankwise::metrics::{ClassMetric, Classified, PredictedValues, ValueMetric};
use rankwise::model::{ClassVerdicts, GradeRule, Model};
use serde_json::{Map, Value, json};

use super::super::classify_items;
use super::super::evaluate::classes::{Known, usual, warnings};
use super::super::evaluate::item_weights;
use super::content::{show, what_was_trained};
use super::{places, ranking_function, tuning, write};
use crate::args::ReportArgs;
use crate::exit::Run;
use crate::interrupt;
use crate::output::Output;
use crate::page::{Page, Table};
use crate::picture::{Axis, Histogram, LineChart, Picture, ReliabilityChart, Series};
use crate::text::{count, percent, rounded, rounded_or_dash};

/// Names of the pictures.
pub(super) const NAMES: [&str; 3] = ["reliability-classes", "errors", "values"];
/// Bins of about equal weight, of probabilities and of values.
const N_BINS: usize = 10;
/// Classes whose confusion can be looked at.
const MOST_CLASSES: usize = 40;

const HOPE: &str = "If the model has seen these items in training, it will do worse on new ones: measure on items that were kept \
                    apart.";

/// Reports on a classifier.
pub(super) fn of_classes(
    model: &Model,
    source: &Source,
    columns: &Columns,
    args: &ReportArgs,
    output: &Output,
) -> Run<()> {
    let (table, verdicts) = classify_items(model, source, columns, output)?;
    // Features of a block file are not in memory.
    let items = (source.format() != Format::Blocks).then(|| table.items.clone());
    tell_classes((model, items.as_ref()), &Known::new(model, table)?, &verdicts, source, args, output)
}

/// Reports on a model of grades.
pub(super) fn of_grades(
    (model, rule): (&Model, &GradeRule),
    data: &Ranking,
    source: &Source,
    args: &ReportArgs,
    output: &Output,
) -> Run<()> {
    let verdicts = rule.verdicts(model.scorer.scores(&data.items)?);
    tell_classes((model, Some(&data.items)), &Known::of_grades(rule, data), &verdicts, source, args, output)
}

fn tell_classes(
    (model, items): (&Model, Option<&Items>),
    known: &Known,
    verdicts: &ClassVerdicts,
    source: &Source,
    args: &ReportArgs,
    output: &Output,
) -> Run<()> {
    let classified = known.classified(verdicts)?;
    interrupt::check()?;
    let warnings = warnings(&classified);
    let method = model.training.method.name();
    let headline = match (classified.zero_one(), ClassMetric::ZeroOne.of_constant(&classified), classified.majority()) {
        (Some(error), Some(constant), Some(majority)) => format!(
            "{method} errs on {} of {}; always “{}” would err on {}",
            percent(error),
            count(classified.n_items(), "item"),
            classified.names()[majority],
            percent(constant)
        ),
        _ => format!("{method} could not be measured: no item has a weight above 0"),
    };
    let mut page = Page::new(&format!("{method} on {}", source.name()));
    let mut pictures = Vec::new();
    page.lead(&format!("{headline}."));
    warnings.iter().for_each(|warning| page.note(&format!("Note: {warning}.")));
    what_was_trained(&mut page, model);
    tuning::section(&mut page, &model.training, &mut pictures);
    page.section("How well");
    let metrics = usual(&classified, known.are_grades);
    page.table(&metrics_table(
        &source.name(),
        classified.n_items(),
        metrics.iter().map(|metric| {
            let by = if metric.needs_chances() { "the shares of the classes alone" } else { "the most frequent class" };
            (
                metric.name(),
                metric.of(&classified),
                format!("{by}: {}", rounded_or_dash(metric.of_constant(&classified))),
            )
        }),
    ));
    page.paragraph(HOPE);
    confusion(&mut page, &classified);
    reliability(&mut page, &classified, &mut pictures);
    ranking_function::parts(&mut page, model, items, &mut pictures);
    let svg = write(args, &page, &pictures)?;
    warnings.iter().for_each(|warning| output.warning(warning));
    output.summary(
        || {
            let of: Map<String, Value> = metrics
                .iter()
                .map(|metric| {
                    let (value, constant) = (metric.of(&classified), metric.of_constant(&classified));
                    (metric.name().into(), json!({ "value": value, "constant": constant }))
                })
                .collect();
            json!({
                "report": args.output.display().to_string(),
                "svg": svg,
                "metrics": of,
                "items": classified.n_items(),
                "calibration_error": classified.reliability(N_BINS).map(|found| found.error),
                "warnings": warnings,
            })
        },
        || format!("{headline}\n{}", places(args, &svg)),
    )
}

fn confusion(page: &mut Page, classified: &Classified<'_>) {
    let names: Vec<&str> = classified.names().iter().map(String::as_str).collect();
    if names.len() > MOST_CLASSES {
        page.paragraph(&format!("{} classes are too many for a table of what was predicted for which.", names.len()));
        return;
    }
    let table = classified.confusion();
    let rows: Vec<&[f64]> = table.iter().map(Vec::as_slice).collect();
    page.confusion_of("Items by their class and the predicted one", "label", &names, classified.n_known(), &rows);
}

fn reliability(page: &mut Page, classified: &Classified<'_>, pictures: &mut Vec<Picture>) {
    let Some(found) = classified.reliability(N_BINS) else { return };
    page.section("Probabilities");
    page.paragraph(&format!(
        "Predicted probabilities are off by {:.3} in the mean over bins (expected calibration error). Points below the dashed \
         line came true less often than predicted, points above it more often.",
        found.error
    ));
    let chart = ReliabilityChart { name: NAMES[0], event: "a class".into(), reliability: &found };
    let caption = format!(
        "Probabilities of all classes in {}, each with about as many of them; every item counts once for each class.",
        count(found.bins.len(), "bin")
    );
    show(page, vec![(chart.draw(), caption)], pictures);
}

/// Reports on a regression.
pub(super) fn of_values(model: &Model, data: &Ranking, source: &Source, args: &ReportArgs, output: &Output) -> Run<()> {
    let values = model.scorer.scores(&data.items)?;
    let weights = item_weights(data);
    let predicted = PredictedValues::new(&data.labels, &values)?.with_weights(&weights)?;
    interrupt::check()?;
    let method = model.training.method.name();
    let headline = match (ValueMetric::Mae.of(&predicted), ValueMetric::Mae.of_mean(&predicted)) {
        (Some(mae), Some(constant)) => format!(
            "{method} is off by {} in the mean over {}; always their mean label would be off by {}",
            rounded(mae),
            count(predicted.n_items(), "item"),
            rounded(constant)
        ),
        _ => format!("{method} could not be measured: no item has a weight above 0"),
    };
    let mut page = Page::new(&format!("{method} on {}", source.name()));
    let mut pictures = Vec::new();
    page.lead(&format!("{headline}."));
    what_was_trained(&mut page, model);
    tuning::section(&mut page, &model.training, &mut pictures);
    page.section("How well");
    page.table(&metrics_table(
        &source.name(),
        predicted.n_items(),
        ValueMetric::ALL.iter().map(|metric| {
            let beside = format!("the mean label: {}", rounded_or_dash(metric.of_mean(&predicted)));
            (metric.name(), metric.of(&predicted), beside)
        }),
    ));
    page.paragraph(HOPE);
    let present: Vec<usize> = (0..values.len()).filter(|&item| weights[item] > 0.0).collect();
    if !present.is_empty() {
        show(&mut page, value_figures(model, data, &values, &present), &mut pictures);
    }
    ranking_function::parts(&mut page, model, Some(&data.items), &mut pictures);
    let svg = write(args, &page, &pictures)?;
    output.summary(
        || {
            let of: Map<String, Value> = ValueMetric::ALL
                .iter()
                .map(|metric| {
                    let (value, constant) = (metric.of(&predicted), metric.of_mean(&predicted));
                    (metric.name().into(), json!({ "value": value, "constant": constant }))
                })
                .collect();
            json!({
                "report": args.output.display().to_string(),
                "svg": svg,
                "metrics": of,
                "items": predicted.n_items(),
                "warnings": Vec::<String>::new(),
            })
        },
        || format!("{headline}\n{}", places(args, &svg)),
    )
}

/// Labels beside predicted values, and how often errors of which size are.
fn value_figures(model: &Model, data: &Ranking, values: &[f64], present: &[usize]) -> Vec<(Picture, String)> {
    let mut order = present.to_vec();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let size = order.len().div_ceil(N_BINS);
    let mut points = Vec::new();
    let mut band = Vec::new();
    for bin in order.chunks(size) {
        let mean = |of: &dyn Fn(usize) -> f64| bin.iter().map(|&item| of(item)).sum::<f64>() / bin.len() as f64;
        let (x, y) = (mean(&|item| values[item]), mean(&|item| data.labels[item]));
        let spread = mean(&|item| (data.labels[item] - y) * (data.labels[item] - y)).sqrt();
        points.push((x, y));
        band.push((x, y - spread, y + spread));
    }
    let diagonal: Vec<(f64, f64)> = [points.first(), points.last()].into_iter().flatten().map(|p| (p.0, p.0)).collect();
    let pairs: Vec<String> =
        points.iter().map(|(x, y)| format!("{} predicted, {} in truth", rounded(*x), rounded(*y))).collect();
    let chart = LineChart {
        name: NAMES[2],
        title: "Predicted values and labels".into(),
        description: format!("{}.", pairs.join("; ")),
        x: Axis::linear("predicted value"),
        y: Axis::linear("label"),
        series: vec![
            Series { label: "mean label ± standard deviation".into(), points, band },
            Series { label: "as predicted".into(), points: diagonal, band: Vec::new() },
        ],
        reference: None,
    };
    let errors: Vec<f64> = present.iter().map(|&item| data.labels[item] - values[item]).collect();
    let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let reach = sizes[(sizes.len() - 1) * 99 / 100].max(f64::MIN_POSITIVE);
    let epsilon = model.training.svm.as_ref().and_then(|svm| svm.epsilon).unwrap_or(0.0);
    let histogram = Histogram {
        name: NAMES[1],
        axis: "label − predicted value".into(),
        noun: "items".into(),
        values: &errors,
        range: (-reach, reach),
        marks: vec![("no loss from".into(), -epsilon), ("to".into(), epsilon)],
    };
    vec![
        (chart.draw(), format!("Items in {} by predicted value.", count(order.chunks(size).len(), "bin"))),
        (histogram.draw(), "Errors; the outermost bars hold everything beyond them.".into()),
    ]
}

fn metrics_table<'a>(
    source: &str,
    n_items: usize,
    rows: impl Iterator<Item = (&'a str, Option<f64>, String)>,
) -> Table {
    let row = |(name, value, beside): (&str, Option<f64>, String)| vec![name.into(), rounded_or_dash(value), beside];
    Table {
        caption: format!("{} from {source}", count(n_items, "item")),
        header: ["", "value", "beside it"].map(String::from).to_vec(),
        rows: rows.map(row).collect(),
        is_words: true,
    }
}
