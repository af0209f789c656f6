//! `evaluate` on items: a model's scores beside the labels.

use std::path::Path;

use rankwise::Model;
use rankwise::data::Ranking;
use rankwise::io::{self, Columns, Source};
use rankwise::metrics::{ClassMetric, ItemMetric, Ranked};
use rankwise::model::{Method, Scorer};

use super::super::{check_apart, check_writable, classify_items, score_items};
use super::ranked::{self, Contest, Rival};
use super::{classes, values};
use crate::exit::{Failure, Run};
use crate::output::Output;
use crate::plan::RankedPlan;
use crate::text::count;

/// What is read.
pub(super) struct Files<'a> {
    pub(super) model: &'a Path,
    pub(super) source: &'a Source,
    pub(super) columns: Columns,
    /// Whether features beyond those of the model are read over.
    pub(super) ignore_extra: bool,
}

/// Measures a model on items.
pub(super) fn run(files: &Files<'_>, plan: &RankedPlan, output: &Output) -> Run<()> {
    if let Some(path) = &plan.per_group {
        let data = match files.source {
            Source::File { path, .. } => path.as_path(),
            _ => Path::new("/dev/stdin"),
        };
        check_apart(path, [files.model, data].into_iter().chain(plan.rival.as_deref()))?;
        check_writable(path)?;
    }
    let model = io::read_model(files.model)?;
    let rival = plan.rival.as_deref().map(|path| Ok::<_, Failure>((path, io::read_model(path)?))).transpose()?;
    let n_features = rival.as_ref().map_or(0, |(_, rival)| rival.scorer.n_features).max(model.scorer.n_features);
    let columns = &Columns { most_features: files.ignore_extra.then_some(n_features), ..files.columns.clone() };
    if of_labels(&model, files, plan)? {
        if model.classes.is_some() {
            let (table, verdicts) = classify_items(&model, files.source, columns, output)?;
            return classes::tell(&classes::Known::new(&model, table)?, &verdicts, &plan.of_labels, output);
        }
        let (table, mut scores) = score_items(&[&model.scorer], files.source, columns, output)?;
        let scores = scores.pop().unwrap_or(Ok(Vec::new()))?;
        if let Some(rule) = &model.grades {
            let known = classes::Known::of_grades(rule, &table.into_ranking()?);
            return classes::tell(&known, &rule.verdicts(scores), &plan.of_labels, output);
        }
        return values::tell(&table.into_ranking()?, &scores, &plan.of_labels, output);
    }
    let scorers: Vec<&Scorer> =
        [Some(&model), rival.as_ref().map(|rival| &rival.1)].into_iter().flatten().map(|model| &model.scorer).collect();
    let (table, mut scores) = score_items(&scorers, files.source, columns, output)?;
    let data = table.into_ranking()?;
    output.note(|| format!("read {} in {}", count(data.n_items(), "item"), count(data.groups.len(), "group")));
    let scores_of_rival = scores.drain(1..).next();
    let scores = scores.pop().unwrap_or(Ok(Vec::new()))?;
    let rival = rival.zip(scores_of_rival).map(|((path, _), scores)| match scores {
        Ok(scores) => Ok((path, scores)),
        Err(error) => Err(Failure::Fault(format!("{}: {error}", path.display()))),
    });
    let rival = rival.transpose()?;
    let first = ranked(&data, &scores)?;
    let metrics = if plan.metrics.is_empty() { ItemMetric::usual(&first) } else { plan.metrics.clone() };
    let rival = rival.as_ref().map(|(path, scores)| -> Run<_> {
        Ok(Rival { kind: "model", name: path.display().to_string(), ranked: ranked(&data, scores)? })
    });
    let contest = Contest {
        first,
        rival: rival.transpose()?,
        sizes: ranked::sizes(&data.groups, |item| is_present(&data, item)),
        source: files.source.name(),
    };
    ranked::tell(contest, metrics, plan, Vec::new(), output)
}

/// Whether classes or values are measured, and not the order of items.
fn of_labels(model: &Model, files: &Files<'_>, plan: &RankedPlan) -> Run<bool> {
    let method = model.training.method;
    let is_more = plan.rival.is_some() || plan.with_intervals || plan.per_group.is_some();
    let is_of_labels = model.classes.is_some() || matches!(method, Method::Regress | Method::Ridge | Method::Ordinal);
    if let Some(metric) = plan.of_labels.first() {
        if !is_of_labels {
            return Err(Failure::Usage(format!(
                "--metric {} is for pairs, for classifiers, regressions and grades, and {} ranks items; metrics of rankings are \
                 {} (K a number)",
                metric.name(),
                files.model.display(),
                ItemMetric::NAMES.join(", ")
            )));
        }
        if is_more {
            return Err(Failure::Usage(format!(
                "--metric {} has neither --ci nor --compare nor --per-group yet; leave them out",
                metric.name()
            )));
        }
        return Ok(true);
    }
    if matches!(method, Method::Classify | Method::Regress | Method::Ordinal) {
        let has_words = model.classes.iter().flatten().any(|class| class.parse::<f64>().is_err());
        if plan.metrics.is_empty() && is_more {
            return Err(Failure::Usage(format!(
                "--ci, --compare and --per-group are for metrics of rankings, and {} is a model of {}; leave them out, or ask                  for such a metric (--metric pair_accuracy)",
                files.model.display(),
                method.name()
            )));
        }
        if has_words && !plan.metrics.is_empty() {
            return Err(Failure::Usage(format!(
                "--metric {} is for labels that have an order, and the classes of {} are words",
                plan.metrics[0].name(),
                files.model.display()
            )));
        }
    }
    if model.scorer.function.n_machines() > 1 && !plan.metrics.is_empty() {
        return Err(Failure::Usage(format!(
            "--metric {} is of one score per item, and {} has several classes with a score each; metrics of classes are {}",
            plan.metrics[0].name(),
            files.model.display(),
            ClassMetric::ALL.map(|metric| metric.name()).join(", ")
        )));
    }
    // Least squares are as good at ranking as at labels, and are measured so unless the user says otherwise.
    Ok(is_of_labels && method != Method::Ridge && plan.metrics.is_empty() && !is_more)
}

/// Whether an item and its group have a weight above 0.
pub(crate) fn is_present(data: &Ranking, item: usize) -> bool {
    data.weight(item) > 0.0 && data.group_weight(data.groups.numbers()[item] as usize) > 0.0
}

/// A model's scores beside all that is known of the items.
pub(crate) fn ranked<'a>(data: &'a Ranking, scores: &'a [f64]) -> Run<Ranked<'a>> {
    let mut ranked = Ranked::new(&data.labels, scores, &data.groups)?;
    if let Some(weights) = &data.weights {
        ranked = ranked.with_weights(weights)?;
    }
    if let Some(weights) = &data.group_weights {
        ranked = ranked.with_group_weights(weights)?;
    }
    if let Some(ids) = &data.items.ids {
        ranked = ranked.with_ids(ids)?;
    }
    Ok(ranked)
}
