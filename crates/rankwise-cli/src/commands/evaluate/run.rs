//! `evaluate` on what a search engine found: a run beside its judgments, without a model.

use std::collections::HashSet;
use std::path::Path;

use rankwise::Error;
use rankwise::io::{self, JudgedRun, Qrels, Queries};
use rankwise::metrics::{ItemMetric, Ranked};

use super::super::{check_apart, check_writable};
use super::ranked::{self, Contest, Rival};
use crate::exit::{Failure, Run};
use crate::output::Output;
use crate::plan::RankedPlan;

/// What trec_eval is usually asked for: ndcg_cut_10, ndcg, map, recip_rank, P_10.
const USUAL: [&str; 5] = ["ndcg@10:trec", "ndcg:trec", "map:trec", "mrr:trec", "precision@10:trec"];

/// What is read.
pub(super) struct Files<'a> {
    pub(super) qrels: &'a Path,
    pub(super) run: &'a Path,
    pub(super) queries: Queries,
}

/// Measures a run on its judgments.
pub(super) fn run(files: &Files<'_>, plan: &RankedPlan, output: &Output) -> Run<()> {
    if let Some(path) = &plan.per_group {
        let inputs = [files.qrels, files.run].into_iter().chain(plan.rival.as_deref());
        check_apart(path, inputs.map(|input| if input == Path::new("-") { Path::new("/dev/stdin") } else { input }))?;
        check_writable(path)?;
    }
    let qrels = io::read_qrels(files.qrels)?;
    let mut first = judged(files.run, files, &qrels)?;
    let mut rival =
        plan.rival.as_deref().map(|path| Ok::<_, Failure>((path, judged(path, files, &qrels)?))).transpose()?;
    let mut warnings = left_out(files.run, &first, files.queries);
    if let Some((path, second)) = &mut rival {
        warnings.extend(left_out(path, second, files.queries));
        let (all, n_both) = (first.groups.len().max(second.groups.len()), keep_common(&mut first, second));
        if n_both == 0 {
            return Err(Failure::Fault(format!(
                "{} and {}: no judged query is in both runs; compare runs for the same queries",
                files.run.display(),
                path.display()
            )));
        }
        if n_both < all {
            warnings.push(format!("only what is in both runs counts: {}", queries(n_both)));
        }
    }
    let metrics = match plan.metrics.as_slice() {
        [] => USUAL.iter().map(|name| ItemMetric::parse(name)).collect::<rankwise::Result<_>>()?,
        typed => typed.to_vec(),
    };
    let rival = rival.as_ref().map(|(path, second)| -> Run<_> {
        Ok(Rival { kind: "run", name: path.display().to_string(), ranked: ranked(second)? })
    });
    let contest = Contest {
        first: ranked(&first)?,
        rival: rival.transpose()?,
        sizes: ranked::sizes(&first.groups, |_| true),
        source: files.qrels.display().to_string(),
    };
    ranked::tell(contest, metrics, plan, warnings, output)
}

fn judged(run: &Path, files: &Files<'_>, qrels: &Qrels) -> Run<JudgedRun> {
    io::read_run(run)?.judged(qrels, files.queries).map_err(|error| match error {
        Error::Mismatch { problem, remedy } => {
            Failure::Fault(format!("{} and {}: {problem}; {remedy}", files.qrels.display(), run.display()))
        }
        error => error.into(),
    })
}

fn ranked(judged: &JudgedRun) -> Run<Ranked<'_>> {
    Ok(Ranked::new(&judged.labels, &judged.scores, &judged.groups)?.with_ids(&judged.ids)?)
}

/// Says which queries do not count.
fn left_out(run: &Path, judged: &JudgedRun, queries: Queries) -> Vec<String> {
    let run = run.display();
    let mut warnings = Vec::new();
    if let Some(listed) = listed(&judged.queries_without_judgments) {
        warnings.push(format!("{run}: without judgments, and left out: {listed}"));
    }
    if let Some(listed) = listed(&judged.queries_without_run).filter(|_| queries == Queries::InBoth) {
        warnings.push(format!(
            "{run}: judged but not in the run, and left out: {listed}; --queries judged counts them as not found"
        ));
    }
    warnings
}

/// A number of queries and the first of them.
fn listed(names: &[String]) -> Option<String> {
    const SHOWN: usize = 3;
    let dots = if names.len() > SHOWN { ", …" } else { "" };
    let first = names.get(..SHOWN.min(names.len())).filter(|first| !first.is_empty())?;
    Some(format!("{} ({}{dots})", queries(names.len()), first.join(", ")))
}

fn queries(n: usize) -> String {
    if n == 1 { "1 query".into() } else { format!("{n} queries") }
}

/// Keeps the queries that are in both runs, and counts them.
fn keep_common(first: &mut JudgedRun, second: &mut JudgedRun) -> usize {
    let names = |run: &JudgedRun| -> HashSet<String> {
        (0..run.groups.len()).map(|group| run.groups.name(group).to_string()).collect()
    };
    let common: HashSet<String> = names(first).intersection(&names(second)).cloned().collect();
    for run in [first, second] {
        let is_common = |&item: &usize| common.contains(run.groups.name(run.groups.numbers()[item] as usize));
        let kept: Vec<usize> = (0..run.labels.len()).filter(is_common).collect();
        run.labels = kept.iter().map(|&item| run.labels[item]).collect();
        run.scores = kept.iter().map(|&item| run.scores[item]).collect();
        run.ids = kept.iter().map(|&item| run.ids[item].clone()).collect();
        run.groups = run.groups.select(&kept);
    }
    common.len()
}
