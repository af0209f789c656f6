//! Metrics of ranked items: measured, beside those of another model, group by group; as text, JSON and csv.

use std::fmt::Write as _;

use rankwise::Error;
use rankwise::data::Groups;
use rankwise::metrics::{Bootstrap, Interval, ItemMetric, Measured, PairedTest, Ranked};
use serde_json::{Map, Value, json};

use crate::exit::{Failure, Run};
use crate::interrupt;
use crate::output::{self, Output};
use crate::plan::RankedPlan;
use crate::text::{Facts, count, csv_field, number, rounded, rounded_or_dash, wide_table};

/// Below this, an interval says little.
const FEW: usize = 20;

/// What is measured: one model's scores, or two models' on the same groups.
pub(crate) struct Contest<'a> {
    /// The scores.
    pub(crate) first: Ranked<'a>,
    /// Other scores to compare with.
    pub(crate) rival: Option<Rival<'a>>,
    /// How many items every group has; weight 0 means absent.
    pub(crate) sizes: Vec<usize>,
    /// The data as the user named them.
    pub(crate) source: String,
}

/// Scores to compare with.
pub(crate) struct Rival<'a> {
    /// Where they come from: `model` or `run`.
    pub(crate) kind: &'static str,
    /// The file.
    pub(crate) name: String,
    /// The scores.
    pub(crate) ranked: Ranked<'a>,
}

/// One metric.
pub(crate) struct Row {
    /// Which.
    pub(crate) metric: ItemMetric,
    /// Its value.
    pub(crate) measured: Measured,
    /// What a random order would get.
    pub(crate) random_order: Option<f64>,
    /// How sure it is, where that was asked.
    pub(crate) interval: Option<Interval>,
    compared: Option<Compared>,
}

/// One metric of the rival, and what the difference is worth.
struct Compared {
    value: Option<f64>,
    test: Option<PairedTest>,
}

/// Everything that was measured.
pub(crate) struct Findings<'a> {
    /// What was measured.
    pub(crate) contest: Contest<'a>,
    /// Every metric.
    pub(crate) rows: Vec<Row>,
    level: f64,
    with_intervals: bool,
    /// What the reader should know before believing the numbers.
    pub(crate) warnings: Vec<String>,
}

/// How many items each group has that are present.
pub(crate) fn sizes(groups: &Groups, is_present: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut sizes = vec![0; groups.len()];
    for (item, &group) in groups.numbers().iter().enumerate() {
        sizes[group as usize] += usize::from(is_present(item));
    }
    sizes
}

/// Measures, writes the file of groups and tells. Warnings of the caller come first.
pub(crate) fn tell(
    contest: Contest<'_>,
    metrics: Vec<ItemMetric>,
    plan: &RankedPlan,
    warnings: Vec<String>,
    output: &Output,
) -> Run<()> {
    let mut findings = Findings::measure(contest, metrics, &plan.bootstrap, plan.with_intervals)?;
    findings.warnings.splice(0..0, warnings);
    if let Some(path) = &plan.per_group {
        output::write_file(path, findings.per_group()?.as_bytes())?;
        output.note(|| format!("wrote {}", path.display()));
    }
    findings.warnings.iter().for_each(|warning| output.warning(warning));
    output.result(|| findings.json(), || findings.text(plan.metrics.is_empty()))
}

impl<'a> Findings<'a> {
    /// Measures.
    pub(crate) fn measure(
        contest: Contest<'a>,
        metrics: Vec<ItemMetric>,
        bootstrap: &Bootstrap,
        with_intervals: bool,
    ) -> Run<Self> {
        let (first, level) = (&contest.first, bootstrap.level);
        let mut rows = Vec::new();
        for metric in metrics {
            interrupt::check()?;
            let at_fault = |error: Error| unfit(&contest.source, error);
            let measured = metric.of(first).map_err(at_fault)?;
            let compared = contest.rival.as_ref().map(|rival| -> Run<Compared> {
                Ok(Compared {
                    value: metric.of(&rival.ranked).map_err(at_fault)?.value,
                    test: PairedTest::of(&metric, first, &rival.ranked, bootstrap).map_err(at_fault)?,
                })
            });
            rows.push(Row {
                measured,
                random_order: metric.of_random_order(first).map_err(at_fault)?.value,
                interval: match with_intervals {
                    true => bootstrap.interval_over_groups(&metric, first).map_err(at_fault)?,
                    false => None,
                },
                compared: compared.transpose()?,
                metric,
            });
        }
        let mut findings = Findings { contest, rows, level, with_intervals, warnings: Vec::new() };
        findings.warnings = findings.doubts();
        Ok(findings)
    }

    fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for Row { metric, measured, compared, .. } in &self.rows {
            let n_defined = measured.n_groups - measured.n_skipped;
            if measured.value.is_none() {
                let why = match measured.n_groups {
                    0 => "no item has a weight above 0".into(),
                    n => format!("the labels leave nothing to measure in {}", all_of(n)),
                };
                doubts.push(format!("{metric} is not defined on these items: {why}"));
            }
            let n_compared = compared.as_ref().and_then(|compared| compared.test).map(|test| test.n_groups);
            if let Some(n) = n_compared.filter(|&n| n < n_defined) {
                doubts.push(format!("{metric} can be compared on {n} of the {n_defined} groups it is defined on"));
            }
        }
        if self.with_intervals || self.contest.rival.is_some() {
            let defined = |row: &Row| row.measured.n_groups - row.measured.n_skipped;
            match self.rows.iter().map(defined).min() {
                Some(1) => doubts.push("one group says nothing about others, so there is no interval".into()),
                Some(n @ 2..FEW) => doubts.push(format!("intervals from {} say little", count(n, "group"))),
                _ => {}
            }
        }
        doubts
    }

    /// The most groups that a metric left out.
    pub(crate) fn n_skipped(&self) -> usize {
        self.rows.iter().map(|row| row.measured.n_skipped).max().unwrap_or(0)
    }

    /// How many groups are present.
    pub(crate) fn n_groups(&self) -> usize {
        self.contest.sizes.iter().filter(|&&size| size > 0).count()
    }

    fn json(&self) -> Value {
        let by_name = |value: &dyn Fn(&Row) -> Value| -> Map<String, Value> {
            self.rows.iter().map(|row| (row.metric.name().to_string(), value(row))).collect()
        };
        let mut json = json!({
            "metrics": by_name(&|row| json!(row.measured.value)),
            "random_order": by_name(&|row| json!(row.random_order)),
            "greater_is_better": by_name(&|row| json!(row.metric.greater_is_better())),
            "items": self.contest.sizes.iter().sum::<usize>(),
            "groups": self.n_groups(),
            "groups_skipped": self.n_skipped(),
            "skipped": by_name(&|row| json!(row.measured.n_skipped)),
            "warnings": self.warnings,
        });
        if self.with_intervals {
            let ends = |interval: Interval| json!({ "low": interval.low, "high": interval.high });
            json["intervals"] = by_name(&|row| json!(row.interval.map(ends))).into();
        }
        if let Some(rival) = &self.contest.rival {
            json["comparison"] = json!({ rival.kind: rival.name, "metrics": by_name(&|row| json!(row.compared.as_ref().map(|compared| compared.json(row.measured.value)))) });
        }
        if self.with_intervals || self.contest.rival.is_some() {
            json["level"] = self.level.into();
        }
        json
    }

    fn text(&self, is_full: bool) -> String {
        let mut text = String::new();
        if is_full {
            let mut facts = Facts::default();
            facts.add("items", self.contest.sizes.iter().sum::<usize>().to_string());
            facts.add("groups", self.n_groups().to_string());
            text = format!("{facts}\n");
        }
        text += &self.metric_table();
        if let Some(rival) = &self.contest.rival {
            let _ = write!(text, "\ncompared with {}:\n{}", rival.name, self.comparison_table());
        }
        text
    }

    /// What a random order would get stands beside every value; columns that say nothing are left out.
    fn metric_table(&self) -> String {
        let interval = self.interval_title();
        let has_less = self.rows.iter().any(|row| !row.metric.greater_is_better());
        let has_skipped = self.n_skipped() > 0;
        let columns = [
            ("metric", true),
            ("value", true),
            (interval.as_str(), self.with_intervals),
            ("random order", true),
            ("better", has_less),
            ("groups skipped", has_skipped),
        ];
        let row = |row: &Row| {
            let cells = [
                row.metric.name().to_string(),
                rounded_or_dash(row.measured.value),
                interval_text(row.interval),
                rounded_or_dash(row.random_order),
                if row.metric.greater_is_better() { "more" } else { "less" }.to_string(),
                row.measured.n_skipped.to_string(),
            ];
            cells.into_iter().zip(columns).filter(|(_, (_, is_shown))| *is_shown).map(|(cell, _)| cell).collect()
        };
        let header: Vec<&str> = columns.iter().filter(|(_, is_shown)| *is_shown).map(|(title, _)| *title).collect();
        wide_table(&header, self.rows.iter().map(row))
    }

    fn comparison_table(&self) -> String {
        let interval = self.interval_title();
        let header = ["metric", "first", "second", "difference", interval.as_str(), "p", "groups"];
        let row = |row: &Row| {
            let second = row.compared.as_ref().and_then(|compared| compared.value);
            let test = row.compared.as_ref().and_then(|compared| compared.test);
            vec![
                row.metric.name().to_string(),
                rounded_or_dash(row.measured.value),
                rounded_or_dash(second),
                rounded_or_dash(test.map(|test| test.difference)),
                interval_text(test.and_then(|test| test.interval)),
                rounded_or_dash(test.map(|test| test.p_value)),
                test.map_or_else(|| "0".into(), |test| test.n_groups.to_string()),
            ]
        };
        wide_table(&header, self.rows.iter().map(row))
    }

    fn interval_title(&self) -> String {
        format!("{} % interval", rounded(100.0 * self.level))
    }

    /// A row per group that is present; where a metric is not defined the cell is empty.
    fn per_group(&self) -> Run<String> {
        let sides = std::iter::once(("", &self.contest.first));
        let sides = sides.chain(self.contest.rival.iter().map(|rival| ("second.", &rival.ranked)));
        let mut text = String::from("group,items");
        let mut columns = Vec::new();
        for (prefix, ranked) in sides {
            for Row { metric, .. } in &self.rows {
                let _ = write!(text, ",{}", csv_field(&format!("{prefix}{metric}")));
                columns.push(metric.per_group(ranked).map_err(|error| unfit(&self.contest.source, error))?);
            }
        }
        text.push('\n');
        for (group, size) in self.contest.sizes.iter().enumerate().filter(|(_, size)| **size > 0) {
            let _ = write!(text, "{},{size}", csv_field(self.contest.first.groups().name(group)));
            for column in &columns {
                let _ = write!(text, ",{}", column[group].map_or_else(String::new, number));
            }
            text.push('\n');
        }
        Ok(text)
    }
}

impl Compared {
    fn json(&self, first: Option<f64>) -> Value {
        let interval = self.test.and_then(|test| test.interval);
        json!({
            "first": first,
            "second": self.value,
            "difference": self.test.map(|test| test.difference),
            "low": interval.map(|interval| interval.low),
            "high": interval.map(|interval| interval.high),
            "p_value": self.test.map(|test| test.p_value),
            "n_groups": self.test.map_or(0, |test| test.n_groups),
            "exact": self.test.map(|test| test.is_exact),
        })
    }
}

/// Labels that a metric cannot do anything with, and names that a run cannot hold, are the data's fault, whoever chose
/// metric and format.
pub(crate) fn unfit(source: &str, error: Error) -> Failure {
    match error {
        Error::Unsupported { .. } | Error::Numeric { .. } => Failure::Fault(format!("{source}: {error}")),
        error => error.into(),
    }
}

fn interval_text(interval: Option<Interval>) -> String {
    interval.map_or_else(|| "–".into(), |ends| format!("[{}, {}]", rounded(ends.low), rounded(ends.high)))
}

fn all_of(n_groups: usize) -> String {
    if n_groups == 1 { "their one group".into() } else { format!("any of the {n_groups} groups") }
}
