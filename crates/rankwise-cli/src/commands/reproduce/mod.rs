//! `reproduce`: the tables and figures of the papers, each by one command, our numbers beside theirs.
//!
//! A [`study`] says which files it needs ([`data_dir`]) and which tasks give its numbers; [`work`] does them, the
//! [`journal`] keeps them, and [`results`] writes what they say.

mod data_dir;
mod journal;
mod legacy_normal;
mod online;
mod pairwise_transform;
mod results;
mod rvm;
mod stats;
mod study;
mod svmcompare;
mod swapped;
mod work;
mod xor;

use std::path::Path;

use data_dir::DataDir;
use journal::{Head, Journal};
use serde_json::json;
use study::{Found, Room, Study, Task};

use crate::args::{Common, ReproduceArgs};
use crate::exit::{Failure, Run};
use crate::interrupt;
use crate::output::Output;
use crate::text::count;

/// All of them, in the order of the papers.
const STUDIES: &[&dyn Study] = &[
    &svmcompare::Figure2,
    &svmcompare::Figure3,
    &svmcompare::Figure4,
    &svmcompare::Figure5,
    &svmcompare::Figure6,
    &svmcompare::Letor,
    &online::Online,
    &pairwise_transform::PairwiseTransform,
    &swapped::SwappedTable,
    &xor::Xor,
    &rvm::Sizes(rvm::Shown::Accuracy),
    &rvm::Sizes(rvm::Shown::Seconds),
    &rvm::Sizes(rvm::Shown::Vectors),
    &rvm::Noise,
    &rvm::Table2,
];

/// Runs the studies that were named.
pub(super) fn run(args: &ReproduceArgs, common: &Common, output: &Output) -> Run<()> {
    if args.list {
        return list(output);
    }
    let studies = named(&args.names)?;
    let room = Room { data: DataDir::new(args.data.as_deref()), is_quick: args.quick, seed: common.seed };
    // All data are looked for before anything is done.
    for study in &studies {
        study.needs().iter().try_for_each(|need| room.data.find(need).map(drop))?;
    }
    make_directory(&args.out)?;
    let mut told = Vec::new();
    for (at, study) in studies.iter().enumerate() {
        output.note(|| format!("{} ({} of {})", study.name(), at + 1, studies.len()));
        let files = study.needs().iter().map(|need| room.data.find(need)).collect::<Run<Vec<_>>>()?;
        let prepared = study.prepare(&room)?;
        let tasks = prepared.tasks();
        let (found, resumed) = if tasks.is_empty() {
            Default::default()
        } else {
            let head = Head {
                study: study.journal().into(),
                version: env!("CARGO_PKG_VERSION").into(),
                seed: room.seed,
                quick: room.is_quick,
                fingerprint: data_dir::fingerprint(&files)?,
            };
            // What another study of this run has computed is fresh.
            let is_fresh = args.fresh && !studies[..at].iter().any(|other| other.journal() == study.journal());
            do_tasks(&tasks, &head, is_fresh, args, output)?
        };
        let findings = prepared.tell(&found)?;
        interrupt::check()?;
        let written = results::write(*study, &room, &findings, &args.out)?;
        if output.is_json() {
            told.push(results::json(*study, &room, &findings, &written, resumed));
        } else {
            let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
            let gap = if at == 0 { "" } else { "\n" };
            let text = results::text(*study, &room, &findings);
            output.summary(|| json!(null), || format!("{gap}{text}\nwritten: {}\n", names.join(", ")))?;
        }
    }
    if output.is_json() { output.result(|| json!({ "studies": told }), String::new) } else { Ok(()) }
}

/// Does what the journal lacks; gives all numbers, and how many tasks were in the journal.
fn do_tasks(
    tasks: &[Task<'_>],
    head: &Head,
    is_fresh: bool,
    args: &ReproduceArgs,
    output: &Output,
) -> Run<(Found, usize)> {
    let quick = if head.quick { "-quick" } else { "" };
    let seed = if head.seed == 0 { String::new() } else { format!("-seed-{}", head.seed) };
    let path = args.out.join(format!("{}{quick}{seed}.journal", head.study));
    let (journal, mut found) = Journal::open(&path, head, is_fresh)?;
    let n_done = |found: &Found| tasks.iter().filter(|task| found.contains(&task.key)).count();
    let (resumed, all) = (n_done(&found), count(tasks.len(), "task"));
    if resumed > 0 {
        output.note(|| format!("{resumed} of {all} are in the journal"));
    }
    let ending = work::run(tasks, &journal, &mut found, output.shows_progress());
    if let Err(Failure::Interrupted) = ending {
        let done = n_done(&found);
        output.warning(&format!("{done} of {all} done; the same command goes on from there"));
    }
    ending.map(|()| (found, resumed))
}

/// The studies of these names, each once.
fn named(names: &[String]) -> Run<Vec<&'static dyn Study>> {
    let mut found: Vec<&'static dyn Study> = Vec::new();
    for name in names {
        let matching: Vec<_> = STUDIES.iter().filter(|study| name == "all" || study.name() == name).collect();
        if matching.is_empty() {
            let known: Vec<&str> = STUDIES.iter().map(|study| study.name()).collect();
            return Err(Failure::Usage(format!("no study is called {name}; known: {}, all", known.join(", "))));
        }
        for study in matching {
            if !found.iter().any(|other| other.name() == study.name()) {
                found.push(*study);
            }
        }
    }
    Ok(found)
}

fn make_directory(path: &Path) -> Run<()> {
    let made = std::fs::create_dir_all(path);
    Ok(made.map_err(|source| rankwise::Error::Io { path: path.into(), action: "make the directory", source })?)
}

/// Names the studies and what they need.
fn list(output: &Output) -> Run<()> {
    let json = || {
        let study = |study: &&dyn Study| {
            let need = |need: &data_dir::Need| json!({ "file": format!("{}/{}", need.folder, need.file), "source": need.source, "licence": need.licence });
            json!({
                "name": study.name(),
                "title": study.title(),
                "paper": study.paper().citation(),
                "needs": study.needs().iter().map(need).collect::<Vec<_>>(),
            })
        };
        json!({ "studies": STUDIES.iter().map(study).collect::<Vec<_>>() })
    };
    output.result(json, || {
        let mut text = String::new();
        for study in STUDIES {
            text += &format!("{}\n    {}\n    {}\n", study.name(), study.title(), study.paper().citation());
            // Files of one source are told in one go.
            let needs = study.needs();
            let mut sources: Vec<(&str, &str)> = needs.iter().map(|need| (need.source, need.licence)).collect();
            sources.dedup();
            for (source, licence) in sources {
                let files: Vec<String> = needs
                    .iter()
                    .filter(|need| need.source == source)
                    .map(|need| format!("{}/{}", need.folder, need.file))
                    .collect();
                text += &format!("    needs {}: from {source} (licence: {licence})\n", files.join(", "));
            }
        }
        text
    })
}
