//! The page of the demo: the table, level curves (the paper's Figure 3), error against pairs (Figure 4), AUC against ties
//! (Figure 5), what to type next.

use rankwise::data::simulate::Norm;
use rankwise::model::Method;

use super::study::{CURVES_PAIRS, Point, Results, norms};
use super::{Demo, Row, TITLE, three_digits};
use crate::commands::curves;
use crate::commands::pair_trial::METHODS;
use crate::exit::{Failure, Run};
use crate::page::{Page, Table};
use crate::picture::{Axis, LineChart, Picture, Reference, Series};
use crate::text::percent;

/// The page.
pub(super) fn page(demo: &Demo, results: &Results) -> Run<Page> {
    let mut page = Page::new(&format!("{TITLE}: ties are data"));
    page.lead(&format!(
        "{} pairs were judged: left better, right better, or no difference; half are ties. The ranking SVM, which drops the \
         ties, errs on {} of {} new pairs. The comparison machine, which learns from them, errs on {}. The line to \
         reach is the function the pairs were drawn from: {}.",
        demo.pairs,
        percent(demo.error(Method::Rank)),
        demo.test_pairs,
        percent(demo.error(Method::Compare)),
        percent(demo.true_ranking_error)
    ));
    page.table(&methods_table(demo));
    page.paragraph(&format!(
        "C and γ of each method are the best of a 10 × 10 grid on {} validation pairs. The settings are those of the \
         SVMcompare paper: hinge loss, and the comparison machine’s own threshold.",
        demo.pairs
    ));
    page.note(&format!(
        "{} So that compare is ahead of rank2, too, is a matter of the hinge; that ties must not be dropped is not.",
        demo.defaults_sentence().replace('\'', "’")
    ));
    page.details("Every method with rankwise’s defaults", &defaults_table(demo));
    level_curves(&mut page, results)?;
    errors(&mut page, demo);
    aucs(&mut page, demo);
    page.section("What to type next");
    page.paragraph(&demo.next_heading());
    page.commands(&demo.next);
    page.paragraph(
        "The first command chooses C and γ and trains, the second makes a page like this one about the model, the third says of \
         new pairs which side is better, or that there is no difference.",
    );
    made(&mut page, demo);
    Ok(page)
}

fn methods_table(demo: &Demo) -> Table {
    let row = |row: &Row| {
        let makes = match row.method {
            Method::Rank => "drops it",
            Method::Rank2 => "two opposite pairs",
            _ => "no difference",
        };
        let mut cells = cells(row);
        cells.insert(3, makes.into());
        cells
    };
    let beside = |name: &str, error: f64, auc: String| {
        vec![name.into(), percent(error), auc, String::new(), String::new(), String::new()]
    };
    let auc = format!("{:.3}", demo.true_ranking_auc);
    let others = [
        beside("true ranking function", demo.true_ranking_error, auc),
        beside("majority outcome", demo.majority_error, String::new()),
    ];
    Table {
        caption: format!("Three machines on the same {} pairs, judged by {} others", demo.pairs, demo.test_pairs),
        header: ["method", "test error", "test AUC", "a tie is", "C", "γ"].map(String::from).to_vec(),
        rows: demo.methods.iter().map(row).chain(others).collect(),
        is_words: false,
    }
}

fn defaults_table(demo: &Demo) -> Table {
    Table {
        caption: "Squared hinge, threshold re-fitted; the same pairs".into(),
        header: ["method", "test error", "test AUC", "C", "γ"].map(String::from).to_vec(),
        rows: demo.defaults.iter().map(cells).collect(),
        is_words: false,
    }
}

fn cells(row: &Row) -> Vec<String> {
    let auc = format!("{:.3}", row.test_auc);
    vec![row.method.name().into(), percent(row.test_error), auc, three_digits(row.c), three_digits(row.gamma)]
}

/// Figure 3: what each method has made of the same few pairs.
fn level_curves(page: &mut Page, results: &Results) -> Run<()> {
    page.section("What each machine has learnt");
    page.paragraph(&format!(
        "Items are points of the plane; the true score is (|x1| + |x2|)², so points of equal score lie on diamonds: dashed in \
         all four pictures. From the {CURVES_PAIRS} pairs of the first picture (an arrow points to the better item, a plain line \
         is a tie) each machine learns a score. Blue are its level curves, one for each diamond, at the middle score along it: \
         where a machine has learnt the true order, blue lies on the dashes. Ties tell which points lie on one curve; without \
         them the diamonds blur into circles."
    ));
    let pairs = results.study.curves_job(Method::Compare).draw.sets()?.train;
    let mut figures = vec![(
        curves::pairs("truth", &pairs),
        format!("The {CURVES_PAIRS} pairs, half of them ties, over the true ranking function."),
    )];
    for method in METHODS {
        let found = results.of(&results.study.curves_job(method))?;
        let (name, says) = match method {
            Method::Rank => ("rank", "has not seen the ties"),
            Method::Rank2 => ("rank2", "has seen each tie as two opposite pairs"),
            _ => ("compare", "has seen ties as ties"),
        };
        let model = found.model.as_ref().ok_or_else(|| Failure::Fault("a model of the demo is missing".into()))?;
        let caption = format!("{name} {says}: test error {}.", percent(found.test.error));
        figures.push((curves::learnt(name, name, model)?, caption));
    }
    page.row(&borrowed(&figures));
    Ok(())
}

fn borrowed(figures: &[(Picture, String)]) -> Vec<(&Picture, String)> {
    figures.iter().map(|(picture, caption)| (picture, caption.clone())).collect()
}

/// Figure 4.
fn errors(page: &mut Page, demo: &Demo) {
    page.section("With more pairs");
    page.paragraph(&format!(
        "Error on {} new pairs against the number of training pairs, half of them ties. Lines are means over {} draws of the \
         pairs, bands one standard deviation to either side; the dashed line is the error of the function the pairs were \
         drawn from, where a difference up to 1 is a tie. (A machine may get a little below it: half of the pairs are made to \
         be ties, many more than chance would give, so that a slightly wider threshold is better.) The lower a line, the \
         fewer judgments are needed for the same error.",
        demo.test_pairs, demo.trials
    ));
    let names = ["errors-l1", "errors-l2", "errors-linf"];
    let chart = |(norm, name): (&'static str, &'static str)| {
        let truth = points(&demo.figure4, norm, "true").last().map(|point| point.mean);
        let title = format!("Test error against training pairs, {}", formula(norm));
        let picture = LineChart {
            name,
            description: described(&demo.figure4, norm, |point| format!("{} pairs", point.n), percent),
            title,
            x: Axis::log("training pairs")
                .ticked(points(&demo.figure4, norm, "true").map(|point| point.n as f64).collect()),
            y: Axis::linear("test error, %").with(&[0.0]),
            series: series(&demo.figure4, norm, |point| point.n as f64, 100.0, &LINES),
            reference: truth.map(|y| Reference { label: "true function".into(), y: 100.0 * y }),
        }
        .draw();
        (picture, format!("True score {}.", formula(norm)))
    };
    let figures: Vec<_> = norms(&demo.figure4).into_iter().zip(names).map(chart).collect();
    page.figures(&borrowed(&figures));
    if demo.orders.len() > 1 {
        let row = |order: &super::Order| {
            let [rank, rank2, compare, truth] = [order.rank, order.rank2, order.compare, order.truth].map(percent);
            vec![formula(order.norm).into(), rank, rank2, compare, truth, order.verdict()]
        };
        page.table(&Table {
            caption: "Mean test error over all numbers of pairs".into(),
            header: ["true score", "rank", "rank2", "compare", "true function", "compare < rank2 < rank"]
                .map(String::from)
                .to_vec(),
            rows: demo.orders.iter().map(row).collect(),
            is_words: false,
        });
        if demo.orders.iter().any(|order| !order.holds) {
            page.note("The order of the paper does not hold everywhere here: see the rows that say no.");
        }
    }
    page.details("Figures as a table", &points_table(&demo.figure4, "pairs", |point| point.n.to_string(), percent));
}

/// Figure 5.
fn aucs(page: &mut Page, demo: &Demo) {
    if demo.figure5.is_empty() {
        return;
    }
    page.section("With more ties");
    let constant = demo.auc_orders.first().map_or(f64::NAN, |order| order.constant);
    page.paragraph(&format!(
        "Area under the ROC curve (larger is better) against the share of ties among {} training pairs; C and γ are chosen by \
         the AUC on validation pairs. Lines are means over {} draws. The more ties, the more is lost by dropping them. \
         The function the pairs were drawn from is the line to reach; always the same answer gets about {constant:.2}, far below \
         what is drawn.",
        demo.pairs, demo.trials
    ));
    let names = ["auc-l1", "auc-l2", "auc-linf"];
    let chart = |(norm, name): (&'static str, &'static str)| {
        let short = |auc: f64| format!("{auc:.3}");
        let picture = LineChart {
            name,
            title: format!("Test AUC against the share of ties, {}", formula(norm)),
            description: described(&demo.figure5, norm, |point| format!("{:.0} % ties", 100.0 * point.ties), short),
            x: Axis::linear("ties, %")
                .ticked(points(&demo.figure5, norm, "true").map(|point| 100.0 * point.ties).collect()),
            y: Axis::linear("test AUC"),
            series: series(&demo.figure5, norm, |point| 100.0 * point.ties, 1.0, &LINES_AND_TRUTH),
            reference: None,
        }
        .draw();
        (picture, format!("True score {}.", formula(norm)))
    };
    let figures: Vec<_> = norms(&demo.figure5).into_iter().zip(names).map(chart).collect();
    page.figures(&borrowed(&figures));
    let row = |order: &super::AucOrder| {
        let aucs = [order.rank, order.rank2, order.compare, order.truth, order.constant];
        let mut row = vec![formula(order.norm).to_string()];
        row.extend(aucs.map(|auc| format!("{auc:.4}")));
        row.push(yes(order.holds));
        row
    };
    page.table(&Table {
        caption: "Mean test AUC over all shares of ties".into(),
        header: ["true score", "rank", "rank2", "compare", "true function", "constant answer", "compare is best"]
            .map(String::from)
            .to_vec(),
        rows: demo.auc_orders.iter().map(row).collect(),
        is_words: false,
    });
    let short = |auc: f64| format!("{auc:.4}");
    let ties = |point: &Point| percent(point.ties);
    page.details("Figures as a table", &points_table(&demo.figure5, "ties", ties, short));
}

const LINES: [(&str, &str); 3] = [("compare", "compare"), ("rank2", "rank2"), ("rank", "rank")];
const LINES_AND_TRUTH: [(&str, &str); 4] = [LINES[0], LINES[1], LINES[2], ("true", "true function")];

fn points<'a>(figure: &'a [Point], norm: &'a str, method: &'a str) -> impl Iterator<Item = &'a Point> {
    figure.iter().filter(move |point| point.norm == norm && point.method == method)
}

fn series(
    figure: &[Point],
    norm: &str,
    x: impl Fn(&Point) -> f64,
    times: f64,
    lines: &[(&'static str, &str)],
) -> Vec<Series> {
    let line = |&(method, label): &(&'static str, &str)| Series {
        label: label.into(),
        points: points(figure, norm, method).map(|point| (x(point), times * point.mean)).collect(),
        band: points(figure, norm, method).map(|point| (x(point), times * point.low, times * point.high)).collect(),
    };
    lines.iter().map(line).collect()
}

/// Where the lines end, for those who do not see them.
fn described(figure: &[Point], norm: &str, place: impl Fn(&Point) -> String, value: impl Fn(f64) -> String) -> String {
    let ends = LINES.iter().filter_map(|(method, label)| {
        let last = points(figure, norm, method).last()?;
        Some((place(last), format!("{label} {}", value(last.mean))))
    });
    let ends: Vec<(String, String)> = ends.collect();
    let at = ends.first().map_or_else(String::new, |end| end.0.clone());
    format!("With {at}: {}.", ends.into_iter().map(|end| end.1).collect::<Vec<_>>().join(", "))
}

fn points_table(figure: &[Point], column: &str, x: impl Fn(&Point) -> String, value: impl Fn(f64) -> String) -> Table {
    let row = |point: &Point| {
        let method = match point.method {
            "true" => "true function",
            "constant" => "constant answer",
            method => method,
        };
        let numbers = [point.mean, point.low, point.high].map(&value);
        let mut row = vec![formula(point.norm).to_string(), x(point), method.to_string()];
        row.extend(numbers);
        row
    };
    Table {
        caption: "Means over the draws, and one standard deviation below and above".into(),
        header: ["true score", column, "method", "mean", "low", "high"].map(String::from).to_vec(),
        rows: figure.iter().map(row).collect(),
        is_words: false,
    }
}

fn formula(norm: &str) -> &'static str {
    match norm {
        name if name == super::study::name(Norm::L1) => "‖x‖₁²",
        name if name == super::study::name(Norm::L2) => "‖x‖₂²",
        _ => "‖x‖∞²",
    }
}

fn yes(holds: bool) -> String {
    if holds { "yes" } else { "no" }.into()
}

/// How to get the same again.
fn made(page: &mut Page, demo: &Demo) {
    page.section("How it was made");
    let super::Seeds { train, validation, test } = demo.seeds;
    page.paragraph(&format!(
        "Both items of a pair are uniform in [−3, 3]²; a pair is a tie when its true difference plus noise (standard deviation \
         {}) is at most 1; half of the pairs are made to be ties. C runs from 10⁻³ to 10³ and γ of the rbf kernel from 2⁻⁷ to \
         2⁴, ten values each; the smallest error on the validation pairs wins, among equal ones the smallest C, then the \
         smallest γ. Training, validation and test pairs have the seeds {train}, {validation} and {test}; every further draw \
         of the figures has the next three. All methods see the same pairs. The claims are those of Venuto, Hocking, \
         Spanurattana and Sugiyama, Support vector comparison machines, section 4.1.",
        demo.noise
    ));
}
