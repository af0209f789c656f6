//! `report`: a model on judged pairs, or on items with labels, as one page with pictures.

mod content;
mod items;
mod labels;
mod mistakes;
mod probabilities;
mod ranking_function;
mod tie_band;
mod tuning;
mod tuning_charts;

use std::path::{Path, PathBuf};

use rankwise::data::{Comparisons, Verdicts};
use rankwise::io::PairFiles;
use rankwise::metrics::{Bootstrap, Interval, Judged, PairMetric};
use rankwise::model::Model;
use rankwise::{Error, io};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::evaluate::{Evaluation, TieShares};
use super::{check_apart, check_writable, read_pairs_for, table, tables};
use crate::args::{Common, ReportArgs};
use crate::exit::{Failure, Run};
use crate::interrupt;
use crate::output::{self, Output};
use crate::page::Page;
use crate::picture::Picture;
use crate::plan::{self, ReportPlan};
use crate::text::{count, percent};

/// Pictures a report may have beside those of the search: what `--svg` may write.
const PICTURES: [&str; 13] = [
    "roc",
    "margins",
    probabilities::NAMES[0],
    probabilities::NAMES[1],
    tie_band::NAMES[0],
    tie_band::NAMES[1],
    "weights",
    "pairs",
    "levels",
    "groups",
    labels::NAMES[0],
    labels::NAMES[1],
    labels::NAMES[2],
];

/// Below this, an interval says little.
const FEW: usize = 20;

/// Makes the report; nothing is written before everything is made.
pub(super) fn run(args: &ReportArgs, common: &Common, output: &Output) -> Run<()> {
    let plan = plan::report(args)?;
    check_targets(args)?;
    match plan {
        ReportPlan::Pairs(files) => on_pairs(&files, args, common, output),
        ReportPlan::Items { source, columns } => items::run(&source, &columns, args, common, output),
    }
}

fn on_pairs(files: &PairFiles, args: &ReportArgs, common: &Common, output: &Output) -> Run<()> {
    let model = io::read_model(&args.model)?;
    let data = read_pairs_for(&model, files, output)?.into_comparisons()?;
    output.note(|| format!("read {}", count(data.n_pairs(), "pair")));
    let verdicts = model.judge(&data.set)?;
    let judged = Judged::of(&data.outcomes, &verdicts, data.weights.as_deref())?;
    let intervals = Bootstrap::new(common.seed).intervals(&judged, data.groups.as_deref())?;
    interrupt::check()?;

    let source = files.pairs.name();
    let findings =
        Findings::new(Subject { model: &model, data: &data, verdicts: &verdicts, source }, judged, intervals);
    let (page, pictures) = content::page(&findings);
    interrupt::check()?;
    let svg = write(args, &page, &pictures)?;

    findings.warnings.iter().for_each(|warning| output.warning(warning));
    output.summary(
        || ReportJson {
            report: args.output.display().to_string(),
            svg: &svg,
            metrics: findings.metrics_json(),
            majority_error: findings.evaluation.majority_error,
            tie_share: &findings.evaluation.tie_share,
            pairs: findings.evaluation.pairs,
            ties: findings.evaluation.ties,
            threshold: model.threshold,
            calibration_error: probabilities::errors(&findings),
            warnings: &findings.warnings,
        },
        || format!("{}\n{}", findings.headline(), places(args, &svg)),
    )
}

/// Makes sure, before the work, that everything can be written and nothing is lost.
fn check_targets(args: &ReportArgs) -> Run<()> {
    if args.output == Path::new("-") {
        return Err(Failure::Usage("a report cannot be written to standard output; name a file with -o".into()));
    }
    let data = args.data.as_deref().map(table);
    let inputs = || tables(&args.source).chain(data).chain([args.model.as_path()]);
    check_apart(&args.output, inputs())?;
    check_writable(&args.output)?;
    let Some(directory) = &args.svg else { return Ok(()) };
    std::fs::create_dir_all(directory).map_err(|source| Error::Io {
        path: directory.into(),
        action: "create",
        source,
    })?;
    for name in PICTURES.into_iter().chain(tuning_charts::NAMES) {
        let path = directory.join(format!("{name}.svg"));
        check_apart(&path, inputs())?;
        check_writable(&path)?;
        if is_same_place(&path, &args.output) {
            return Err(Failure::Usage(format!(
                "{}: the report and a picture would have the same name; name another file with -o",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Whether two files, there or not, have the same name in the same directory.
fn is_same_place(a: &Path, b: &Path) -> bool {
    let directory = |path: &Path| Path::new(".").join(path).parent().and_then(|parent| parent.canonicalize().ok());
    a.file_name() == b.file_name() && directory(a) == directory(b)
}

/// Writes the pictures and the page, all or nothing; names the pictures.
fn write(args: &ReportArgs, page: &Page, pictures: &[Picture]) -> Run<Vec<String>> {
    let svg =
        |directory: &PathBuf, picture: &Picture| (directory.join(format!("{}.svg", picture.name())), picture.file());
    let svg = args.svg.iter().flat_map(|directory| pictures.iter().map(move |picture| svg(directory, picture)));
    let mut files: Vec<(PathBuf, String)> = svg.collect();
    let paths = files.iter().map(|(path, _)| path.display().to_string()).collect();
    files.push((args.output.clone(), page.html()));
    output::write_files(&files)?;
    Ok(paths)
}

/// Where the report is, for people to read.
fn places(args: &ReportArgs, svg: &[String]) -> String {
    let pictures = match &args.svg {
        Some(directory) => format!(", {} in {}", count(svg.len(), "picture"), directory.display()),
        None => String::new(),
    };
    format!("report: {}{pictures}\n", args.output.display())
}

/// What the report is about.
struct Subject<'a> {
    model: &'a Model,
    data: &'a Comparisons,
    verdicts: &'a Verdicts,
    /// The pairs' file as the user named it.
    source: String,
}

/// Everything that was measured.
struct Findings<'a> {
    subject: Subject<'a>,
    judged: Judged<'a>,
    evaluation: Evaluation,
    intervals: [Option<Interval>; PairMetric::ALL.len()],
    warnings: Vec<String>,
}

impl<'a> Findings<'a> {
    fn new(subject: Subject<'a>, judged: Judged<'a>, intervals: [Option<Interval>; PairMetric::ALL.len()]) -> Self {
        let evaluation = Evaluation::new(&[], &judged, subject.data, subject.model.threshold);
        let mut warnings = evaluation.warnings.clone();
        let (n, noun) = match evaluation.groups {
            Some(groups) => (groups, "group"),
            None => (evaluation.pairs, "pair"),
        };
        if n > 0 && n < FEW {
            warnings.push(format!("intervals from {} say little", count(n, noun)));
        }
        Findings { subject, judged, evaluation, intervals, warnings }
    }

    /// The sentence that everybody reads.
    fn headline(&self) -> String {
        let method = self.subject.model.training.method.name();
        match (self.judged.zero_one(), self.majority(), self.interval(PairMetric::ZeroOne)) {
            (Some(error), Some(majority), Some(interval)) => format!(
                "{method} errs on {} [{:.1}, {:.1}] of {}; {majority}",
                percent(error),
                100.0 * interval.low,
                100.0 * interval.high,
                count(self.evaluation.pairs, "pair"),
            ),
            _ => format!("{method} could not be measured: no pair has a weight above 0"),
        }
    }

    /// What always predicting the most frequent outcome would get.
    fn majority(&self) -> Option<String> {
        let (outcome, error) = (self.judged.majority_outcome()?, self.evaluation.majority_error?);
        Some(format!("always “{}” would err on {}", outcome.name(), percent(error)))
    }

    fn interval(&self, metric: PairMetric) -> Option<Interval> {
        PairMetric::ALL.iter().position(|&known| known == metric).and_then(|at| self.intervals[at])
    }

    fn metrics_json(&self) -> Map<String, Value> {
        let entry = |metric: &PairMetric| {
            let interval = self.interval(*metric);
            let (low, high) = (interval.map(|i| i.low), interval.map(|i| i.high));
            (metric.name().to_string(), json!({ "value": metric.of(&self.judged), "low": low, "high": high }))
        };
        let is_known = |metric: &&PairMetric| self.judged.has_chances() || !metric.needs_chances();
        PairMetric::ALL.iter().filter(is_known).map(entry).collect()
    }
}

/// What was made; its fields are the JSON keys.
#[derive(Debug, Serialize)]
struct ReportJson<'a> {
    report: String,
    svg: &'a [String],
    metrics: Map<String, Value>,
    majority_error: Option<f64>,
    tie_share: &'a TieShares,
    pairs: usize,
    ties: usize,
    threshold: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration_error: Option<Value>,
    warnings: &'a [String],
}
