//! Files of the Text Retrieval Conference: judgments (`qid iteration document label`) and runs
//! (`qid Q0 document rank score tag`), columns apart by blanks.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use super::decompress;
use super::source::blame_named;
use super::write::shortest;
use crate::data::Groups;
use crate::error::{Error, Place, Result};

/// One number per document and query, in the order of a file.
#[derive(Debug, Clone, Default)]
struct Documents {
    queries: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Of every query, the documents with their numbers.
    of_query: Vec<Vec<(String, f64)>>,
}

/// Judgments of documents: labels by query and document.
#[derive(Debug, Clone)]
pub struct Qrels(Documents);

/// What a search engine found: scores by query and document.
#[derive(Debug, Clone)]
pub struct TrecRun(Documents);

/// A run beside its judgments: items as metrics take them.
#[derive(Debug, Clone)]
pub struct JudgedRun {
    /// One label per document; 0 where the run has documents that nobody judged.
    pub labels: Vec<f64>,
    /// One score per document; −∞ where judged documents are not in the run.
    pub scores: Vec<f64>,
    /// The queries.
    pub groups: Groups,
    /// The documents' ids.
    pub ids: Vec<String>,
    /// Queries of the run that nobody judged; they are left out.
    pub queries_without_judgments: Vec<String>,
    /// Judged queries that are not in the run.
    pub queries_without_run: Vec<String>,
}

/// Which queries count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Queries {
    /// Those with both judgments and documents in the run.
    #[default]
    InBoth,
    /// All with judgments: where the run has none of their documents, nothing was retrieved.
    Judged,
}

/// Reads a file of judgments, compressed or not; `-` is standard input.
pub fn read_qrels(path: &Path) -> Result<Qrels> {
    let columns = Columns { names: &["qid", "iteration", "document", "label"], number: 3 };
    Ok(Qrels(read(path, &columns)?))
}

/// Reads a run, compressed or not; `-` is standard input. Scores alone make the order, as for trec_eval; ranks are not
/// looked at.
pub fn read_run(path: &Path) -> Result<TrecRun> {
    let columns = Columns { names: &["qid", "Q0", "document", "rank", "score", "tag"], number: 4 };
    Ok(TrecRun(read(path, &columns)?))
}

impl TrecRun {
    /// Joins a run with its judgments by query and document: queries in the order of the judgments, in each the documents
    /// of the run first. An error where no query has both.
    pub fn judged(&self, qrels: &Qrels, queries: Queries) -> Result<JudgedRun> {
        let (run, judged) = (&self.0, &qrels.0);
        let without = |ours: &Documents, theirs: &Documents| -> Vec<String> {
            ours.queries.iter().filter(|&query| !theirs.numbers.contains_key(query)).cloned().collect()
        };
        let queries_without_run = without(judged, run);
        if queries_without_run.len() == judged.queries.len() {
            return Err(Error::Mismatch {
                problem: format!(
                    "none of the {} judged queries is among the {} of the run",
                    judged.queries.len(),
                    run.queries.len()
                ),
                remedy: "check that both files name queries alike in their first column".into(),
            });
        }
        let (mut labels, mut scores, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let (mut numbers, mut names) = (Vec::new(), Vec::new());
        for (query, judgments) in judged.queries.iter().zip(&judged.of_query) {
            let found: &[(String, f64)] = match run.numbers.get(query) {
                Some(&number) => &run.of_query[number as usize],
                None if queries == Queries::InBoth => continue,
                None => &[],
            };
            let mut unseen: HashMap<&str, f64> = judgments.iter().map(|(id, label)| (id.as_str(), *label)).collect();
            for (id, score) in found {
                labels.push(unseen.remove(id.as_str()).unwrap_or(0.0));
                scores.push(*score);
                ids.push(id.clone());
            }
            for (id, label) in judgments.iter().filter(|(id, _)| unseen.contains_key(id.as_str())) {
                labels.push(*label);
                scores.push(f64::NEG_INFINITY);
                ids.push(id.clone());
            }
            numbers.resize(labels.len(), names.len() as u32);
            names.push(query.clone());
        }
        Ok(JudgedRun {
            labels,
            scores,
            groups: Groups::from_numbers(numbers, names)?,
            ids,
            queries_without_judgments: without(run, judged),
            queries_without_run,
        })
    }
}

/// The columns of a file; the documents are in the third.
struct Columns {
    names: &'static [&'static str],
    /// Which one holds the number.
    number: usize,
}

const DOCUMENT: usize = 2;

fn read(path: &Path, columns: &Columns) -> Result<Documents> {
    blame_named(read_lines(path, columns))
}

fn read_lines(path: &Path, columns: &Columns) -> Result<Documents> {
    let (raw, name): (Box<dyn Read>, String) = if path == Path::new("-") {
        (Box::new(io::stdin().lock()), "standard input".into())
    } else {
        let file = File::open(path).map_err(|source| Error::Io { path: path.into(), action: "open", source })?;
        (Box::new(file), path.display().to_string())
    };
    let bytes = decompress::reader(raw, Path::new(&name))?;
    let mut lines = BufReader::new(bytes.reader);
    let mut documents = Documents::default();
    let mut first_lines: HashMap<(u32, String), u64> = HashMap::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let n_read = lines.read_until(b'\n', &mut line).map_err(|source| Error::Io {
            path: name.clone().into(),
            action: bytes.action,
            source,
        })?;
        if n_read == 0 {
            break;
        }
        let start = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
        let place = || Place::line(&name, number);
        let Ok(text) = std::str::from_utf8(start) else {
            return Err(Error::data(place(), "the line is not UTF-8 text", "save the file as UTF-8"));
        };
        if text.contains('\0') {
            return Err(Error::data(place(), "a NUL byte, expected text", "save the file as UTF-8"));
        }
        let cells: Vec<&str> = text.split_ascii_whitespace().collect();
        if cells.is_empty() {
            continue;
        }
        if cells.len() != columns.names.len() {
            return Err(Error::data(
                place(),
                format!(
                    "{} columns, expected the {} columns `{}`",
                    cells.len(),
                    columns.names.len(),
                    columns.names.join(" ")
                ),
                "write one document a line, columns apart by blanks, none empty",
            ));
        }
        let value = match cells[columns.number].parse::<f64>() {
            Ok(value) if value.is_finite() => value,
            _ => {
                let column = columns.names[columns.number];
                return Err(Error::data(
                    place().column(columns.number + 1, column),
                    format!("`{}`, expected a finite number", cells[columns.number]),
                    format!("give every document a {column}"),
                ));
            }
        };
        let query = documents.query(cells[0]);
        let id = cells[DOCUMENT].to_string();
        if let Some(first) = first_lines.insert((query, id.clone()), number) {
            return Err(Error::data(
                place().column(DOCUMENT + 1, columns.names[DOCUMENT]),
                format!("document `{id}` of query `{}` is in line {first} already", cells[0]),
                "keep one of the two lines",
            ));
        }
        documents.of_query[query as usize].push((id, value));
    }
    if documents.queries.is_empty() {
        let expected = columns.names.join(" ");
        return Err(Error::data(Place::file(name), "no documents", format!("expected lines of `{expected}`")));
    }
    Ok(documents)
}

impl Documents {
    /// The number of a query, which is new if nobody named it before.
    fn query(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.queries.len() as u32;
        self.numbers.insert(name.to_string(), number);
        self.queries.push(name.to_string());
        self.of_query.push(Vec::new());
        number
    }
}

/// Writes scored items as a run: `qid Q0 id rank score rankwise`, groups in their order, in each the best first (equal
/// scores in the order of the data), at most `top` of them. Items without ids are numbered from 1, as is a group without
/// a name. Names with blanks and ids that are twice in a group, which no run can hold, are errors.
///
/// ```
/// use rankwise::data::Groups;
/// let ids = ["a", "b", "c"].map(String::from);
/// let mut run = Vec::new();
/// rankwise::io::write_run(&mut run, &Groups::from_ids(["q", "q", "r"]), &[0.5, 2.0, 1.0], Some(&ids), None)?;
/// assert_eq!(run, b"q Q0 b 1 2 rankwise\nq Q0 a 2 0.5 rankwise\nr Q0 c 1 1 rankwise\n");
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn write_run(
    out: &mut dyn Write,
    groups: &Groups,
    scores: &[f64],
    ids: Option<&[String]>,
    top: Option<usize>,
) -> Result<()> {
    let n = groups.n_items();
    if scores.len() != n || ids.is_some_and(|ids| ids.len() != n) {
        return Err(Error::parameter("scores", scores.len(), format!("scores and ids for each of the {n} items")));
    }
    if let Some(bad) = scores.iter().find(|score| !score.is_finite()) {
        return Err(Error::parameter("scores", bad, "finite numbers"));
    }
    let names = (0..groups.len()).map(|group| groups.name(group)).chain(ids.into_iter().flatten().map(String::as_str));
    if let Some(bad) = names.into_iter().find(|name| name.contains(|c: char| c.is_ascii_whitespace())) {
        return Err(Error::Unsupported {
            problem: format!("`{bad}` has a blank inside, and columns of a run are apart by blanks"),
            remedy: "name items and groups without blanks, or write a table (--format csv)".into(),
        });
    }
    if let Some(at) = ids.and_then(|ids| ids.iter().position(String::is_empty)) {
        return Err(Error::Unsupported {
            problem: format!("item {} has no name, and a run needs one for each", at + 1),
            remedy: "give every item an id, or none".into(),
        });
    }
    if let Some(ids) = ids {
        check_distinct(groups, ids)?;
    }
    write_lines(out, groups, scores, ids, top.unwrap_or(usize::MAX)).map_err(|source| Error::Io {
        path: "output".into(),
        action: "write",
        source,
    })
}

/// A run has every document of a query once.
fn check_distinct(groups: &Groups, ids: &[String]) -> Result<()> {
    for (group, members) in groups.members().iter().enumerate() {
        let mut seen = HashSet::with_capacity(members.len());
        if let Some(&twice) = members.iter().find(|&&item| !seen.insert(ids[item as usize].as_str())) {
            let place = match groups.name(group) {
                "" => String::new(),
                name => format!(" in group `{name}`"),
            };
            return Err(Error::Unsupported {
                problem: format!("the id `{}` is there twice{place}, and a run has every id once", ids[twice as usize]),
                remedy: "give ids that differ, or write a table (--format csv)".into(),
            });
        }
    }
    Ok(())
}

fn write_lines(
    out: &mut dyn Write,
    groups: &Groups,
    scores: &[f64],
    ids: Option<&[String]>,
    top: usize,
) -> io::Result<()> {
    let mut cell = String::new();
    for (group, members) in groups.members().iter().enumerate() {
        let query = match groups.name(group) {
            "" => (group + 1).to_string(),
            name => name.to_string(),
        };
        let mut by_rank: Vec<usize> = members.iter().map(|&item| item as usize).collect();
        by_rank.sort_by(|&a, &b| (scores[b] + 0.0).total_cmp(&(scores[a] + 0.0)));
        for (rank, &item) in (1..).zip(by_rank.iter().take(top)) {
            let score = shortest(scores[item], &mut cell);
            match ids {
                Some(ids) => writeln!(out, "{query} Q0 {} {rank} {score} rankwise", ids[item])?,
                None => writeln!(out, "{query} Q0 {} {rank} {score} rankwise", item + 1)?,
            }
        }
    }
    Ok(())
}
