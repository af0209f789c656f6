//! `report` on items: metrics over groups, how the groups do, what the model is made of, the worst groups.

use rankwise::data::Ranking;
use rankwise::io::{self, Columns, Source};
use rankwise::metrics::{Bootstrap, ItemMetric};
use rankwise::model::{Method, Model};
use serde_json::{Map, Value, json};

use super::super::evaluate::items::{is_present, ranked};
use super::super::evaluate::ranked::{Contest, Findings, Row, sizes, unfit};
use super::super::read_items_for;
use super::{content, labels, places, ranking_function, tuning, write};
use crate::args::{Common, ReportArgs};
use crate::exit::Run;
use crate::interrupt;
use crate::output::Output;
use crate::page::{Page, Table};
use crate::picture::{Histogram, Picture};
use crate::text::{count, rounded, rounded_or_dash};

/// How many of the worst groups are shown, and how many items of each.
const GROUPS: usize = 10;
const ITEMS: usize = 3;

/// Makes the report; nothing is written before everything is made.
pub(super) fn run(source: &Source, columns: &Columns, args: &ReportArgs, common: &Common, output: &Output) -> Run<()> {
    let model = io::read_model(&args.model)?;
    let n_features = args.extra.ignore_extra.then_some(model.scorer.n_features);
    let columns = &Columns { most_features: n_features, ..columns.clone() };
    if model.class_rule.is_some() {
        return labels::of_classes(&model, source, columns, args, output);
    }
    let data = read_items_for(&model, source, columns, output)?.into_ranking()?;
    output.note(|| format!("read {} in {}", count(data.n_items(), "item"), count(data.groups.len(), "group")));
    if let Some(rule) = &model.grades {
        return labels::of_grades((&model, rule), &data, source, args, output);
    }
    if model.training.method == Method::Regress {
        return labels::of_values(&model, &data, source, args, output);
    }
    let scores = model.scorer.scores(&data.items)?;
    let first = ranked(&data, &scores)?;
    let metrics = ItemMetric::usual(&first);
    let contest = Contest {
        first,
        rival: None,
        sizes: sizes(&data.groups, |item| is_present(&data, item)),
        source: source.name(),
    };
    let findings = Findings::measure(contest, metrics, &Bootstrap::new(common.seed), true)?;
    let subject = Subject::new(&model, &data, &scores, findings)?;
    interrupt::check()?;
    let (page, pictures) = subject.page();
    let svg = write(args, &page, &pictures)?;

    let findings = &subject.findings;
    findings.warnings.iter().for_each(|warning| output.warning(warning));
    output.summary(
        || {
            json!({
                "report": args.output.display().to_string(),
                "svg": svg,
                "metrics": subject.metrics_json(),
                "items": findings.contest.sizes.iter().sum::<usize>(),
                "groups": findings.n_groups(),
                "groups_skipped": findings.n_skipped(),
                "warnings": findings.warnings,
            })
        },
        || format!("{}\n{}", subject.headline(), places(args, &svg)),
    )
}

/// What the report is about, and everything that was measured.
struct Subject<'a> {
    model: &'a Model,
    data: &'a Ranking,
    scores: &'a [f64],
    findings: Findings<'a>,
    /// The metric that pictures and the worst groups are about.
    main: usize,
    /// Its value in every group.
    by_group: Vec<Option<f64>>,
}

impl<'a> Subject<'a> {
    fn new(model: &'a Model, data: &'a Ranking, scores: &'a [f64], findings: Findings<'a>) -> Run<Self> {
        // Grades have gains, and then the top of the list is what counts; other labels have pairs alone.
        let main = findings.rows.iter().position(|row| row.metric.name() == "ndcg@10").unwrap_or(0);
        let contest = &findings.contest;
        let by_group = findings.rows[main].metric.per_group(&contest.first);
        let by_group = by_group.map_err(|error| unfit(&contest.source, error))?;
        Ok(Subject { model, data, scores, main, by_group, findings })
    }

    fn main(&self) -> &Row {
        &self.findings.rows[self.main]
    }

    /// The sentence that everybody reads.
    fn headline(&self) -> String {
        let Row { metric, measured, interval, .. } = self.main();
        let method = self.model.training.method.name();
        let Some(value) = measured.value else {
            return format!("{method} could not be measured: {metric} is defined on no group");
        };
        let interval = interval.map_or_else(String::new, |ends| format!(" [{:.3}, {:.3}]", ends.low, ends.high));
        let over = count(measured.n_groups - measured.n_skipped, "group");
        format!("{method} has {metric} {value:.3}{interval} over {over}; {}", self.beside())
    }

    /// What stands beside every figure of quality.
    fn beside(&self) -> String {
        let random_order = self.main().random_order.map_or_else(|| "–".into(), |value| format!("{value:.3}"));
        format!("a random order would have {random_order}")
    }

    fn metrics_json(&self) -> Map<String, Value> {
        let entry = |row: &Row| {
            let (low, high) = (row.interval.map(|ends| ends.low), row.interval.map(|ends| ends.high));
            let value =
                json!({ "value": row.measured.value, "low": low, "high": high, "random_order": row.random_order });
            (row.metric.name().to_string(), value)
        };
        self.findings.rows.iter().map(entry).collect()
    }

    /// The page, and its pictures in order.
    fn page(&self) -> (Page, Vec<Picture>) {
        let training = &self.model.training;
        let mut page = Page::new(&format!("{} on {}", training.method.name(), self.findings.contest.source));
        let mut pictures = Vec::new();
        page.lead(&format!("{}.", self.headline()));
        self.findings.warnings.iter().for_each(|warning| page.note(&format!("Note: {warning}.")));
        content::what_was_trained(&mut page, self.model);
        tuning::section(&mut page, training, &mut pictures);
        self.how_well(&mut page, &mut pictures);
        ranking_function::parts(&mut page, self.model, Some(&self.data.items), &mut pictures);
        self.worst_groups(&mut page);
        (page, pictures)
    }

    fn how_well(&self, page: &mut Page, pictures: &mut Vec<Picture>) {
        page.section("How well");
        page.table(&self.metrics());
        page.paragraph(
            "If the model has seen these items in training, it will do worse on new ones: measure on groups that were \
             kept apart.",
        );
        let Row { metric, measured, random_order, .. } = self.main();
        let values: Vec<f64> = self.by_group.iter().copied().flatten().collect();
        let Some(mean) = measured.value else { return };
        let chart = Histogram {
            name: "groups",
            axis: metric.name().into(),
            noun: "groups".into(),
            values: &values,
            range: (0.0, 1.0),
            marks: [("all", Some(mean)), ("random order", *random_order)]
                .into_iter()
                .filter_map(|(label, value)| Some((label.to_string(), value?)))
                .collect(),
        };
        let left_out = match measured.n_skipped {
            0 => String::new(),
            n => format!(" {} left out: the labels there leave nothing to measure.", count(n, "group")),
        };
        let caption = format!(
            "{metric} of {}, each counted once; half of them have at most {}. Over all it is {mean:.3}; {}.{left_out}",
            count(values.len(), "group"),
            rounded_or_dash(chart.middle()),
            self.beside(),
        );
        content::show(page, vec![(chart.draw(), caption)], pictures);
    }

    fn metrics(&self) -> Table {
        let findings = &self.findings;
        let interval =
            |row: &Row| row.interval.map_or_else(|| "–".into(), |ends| format!("[{:.3}, {:.3}]", ends.low, ends.high));
        let three = |value: Option<f64>| value.map_or_else(|| "–".into(), |value| format!("{value:.3}"));
        let row = |row: &Row| {
            vec![
                row.metric.name().to_string(),
                three(row.measured.value),
                interval(row),
                three(row.random_order),
                if row.metric.greater_is_better() { "more" } else { "less" }.to_string(),
                row.measured.n_skipped.to_string(),
            ]
        };
        let (items, groups) = (findings.contest.sizes.iter().sum(), findings.n_groups());
        Table {
            caption: format!(
                "{} in {} from {}; bootstrap, 1000 resamples of the groups",
                count(items, "item"),
                count(groups, "group"),
                findings.contest.source
            ),
            header: ["", "value", "95 % interval", "random order", "better is", "groups left out"]
                .map(String::from)
                .to_vec(),
            rows: findings.rows.iter().map(row).collect(),
            is_words: false,
        }
    }

    fn worst_groups(&self, page: &mut Page) {
        page.section("Worst groups");
        let metric = &self.main().metric;
        let mut order: Vec<(usize, f64)> =
            self.by_group.iter().enumerate().filter_map(|(group, value)| Some((group, (*value)?))).collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        if order.is_empty() {
            page.paragraph(&format!("{metric} is defined on no group."));
            return;
        }
        let members = self.data.groups.members();
        let row = |&(group, value): &(usize, f64)| {
            let present = |item: &usize| is_present(self.data, *item);
            let mut items: Vec<usize> = members.of(group).iter().map(|&item| item as usize).filter(present).collect();
            // Stable, so that equal scores and labels stay as in the file.
            items.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
            let by_score = self.listed(&items);
            items.sort_by(|&a, &b| self.data.labels[b].total_cmp(&self.data.labels[a]));
            vec![self.group_name(group), items.len().to_string(), rounded(value), by_score, self.listed(&items)]
        };
        let caption = format!(
            "The {} of {} with the smallest {metric}, the worst first; items with their labels. Over all it is {}; {}.",
            order.len().min(GROUPS),
            count(order.len(), "group"),
            rounded_or_dash(self.main().measured.value),
            self.beside()
        );
        let header = ["group", "items", metric.name(), "best by score", "best by label"].map(String::from).to_vec();
        page.table(&Table { caption, header, rows: order.iter().take(GROUPS).map(row).collect(), is_words: true });
    }

    /// `#3 (0), #7 (2), …`
    fn listed(&self, items: &[usize]) -> String {
        let named =
            |&item: &usize| format!("{} ({})", self.data.items.name(item as u32), rounded(self.data.labels[item]));
        let dots = if items.len() > ITEMS { ", …" } else { "" };
        items.iter().take(ITEMS).map(named).collect::<Vec<_>>().join(", ") + dots
    }

    fn group_name(&self, group: usize) -> String {
        match self.data.groups.name(group) {
            "" => "all items".into(),
            name => name.into(),
        }
    }
}
