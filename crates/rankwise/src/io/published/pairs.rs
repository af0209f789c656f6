//! Compared pairs of a published data set, with what is known beside features and outcomes.

use std::path::Path;

use super::games::{chess_pairs, football_pairs};
use super::{read_battles, read_jpeg_ai, read_wmt, sushi_pairs};
use crate::data::{Comparisons, Context, Features, Items, Outcome, Pair, PairSet, Precision};
use crate::error::{Error, Result};
use crate::io::numbering::Numbering;
use crate::io::output::write_atomically;
use crate::io::write::{PairText, write_table};
use crate::io::{Format, Source};

/// Reads the pairs of a data set from a file or a directory.
pub type ReadPairs = fn(&Path) -> Result<PublishedPairs>;

/// The data sets of pairs, each with the word that names it.
pub const PAIR_SOURCES: &[(&str, ReadPairs)] = &[
    ("sushi", sushi_pairs),
    ("wmt", read_wmt),
    ("arena", read_battles),
    ("jpeg-ai", read_jpeg_ai),
    ("chess", chess_pairs),
    ("football", football_pairs),
];

/// A way to put pairs into groups: by judge, by sentence, ….
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grouping {
    /// What it goes by.
    pub name: &'static str,
    /// What each group is called.
    pub names: Vec<String>,
    /// The group of every pair.
    pub numbers: Vec<u32>,
}

/// Rows of a file that became no pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Which rows, in the plural.
    pub what: &'static str,
    /// How many.
    pub n_rows: usize,
}

/// Pairs with what their file says of them.
#[derive(Debug, Clone)]
pub struct PublishedPairs {
    /// The pairs; their groups are those of the grouping that was chosen, at first the first one.
    pub comparisons: Comparisons,
    /// All ways to group them; may be none.
    pub groupings: Vec<Grouping>,
    /// When each pair was judged or played, as the file says it.
    pub times: Option<Vec<String>>,
    /// What was left out, without what is 0.
    pub left_out: Vec<LeftOut>,
    /// The number of the grouping that was chosen.
    chosen: usize,
}

impl PublishedPairs {
    /// Puts together what a file says; the first grouping makes the groups. Checks lengths.
    pub fn new(set: PairSet, outcomes: Vec<Outcome>, groupings: Vec<Grouping>) -> Result<Self> {
        let groups = groupings.first().map(|grouping| grouping.numbers.clone());
        let comparisons = Comparisons::new(set, outcomes, None, groups)?;
        Ok(PublishedPairs { comparisons, groupings, times: None, left_out: Vec::new(), chosen: 0 })
    }

    /// The same with the times of the pairs.
    pub fn with_times(mut self, times: Vec<String>) -> Self {
        self.times = Some(times);
        self
    }

    /// The same, with rows that were left out counted.
    pub fn with_left_out(mut self, what: &'static str, n_rows: usize) -> Self {
        if n_rows > 0 {
            self.left_out.push(LeftOut { what, n_rows });
        }
        self
    }

    /// Groups the pairs in the way of this name.
    pub fn group_by(&mut self, name: &str) -> Result<()> {
        let Some(chosen) = self.groupings.iter().position(|grouping| grouping.name == name) else {
            let names: Vec<&str> = self.groupings.iter().map(|grouping| grouping.name).collect();
            return Err(Error::Unsupported {
                problem: format!("the pairs cannot be grouped by {name:?}"),
                remedy: match names.is_empty() {
                    true => "leave --group out: the file says nothing to group them by".into(),
                    false => format!("they can by {}", names.join(", ")),
                },
            });
        };
        self.chosen = chosen;
        self.comparisons.groups = Some(self.groupings[chosen].numbers.clone());
        Ok(())
    }

    /// The grouping that was chosen.
    pub fn grouping(&self) -> Option<&Grouping> {
        self.groupings.get(self.chosen)
    }

    /// What was left out, in words.
    pub fn warnings(&self) -> Vec<String> {
        self.left_out.iter().map(|rows| format!("left out {} {}", rows.n_rows, rows.what)).collect()
    }

    /// Writes a table of pairs that [`read_pairs`](crate::io::read_pairs) reads, complete or not at all: `.csv` or
    /// `.tsv` by the name of the file unless a format is given.
    pub fn write(&self, target: &Path, format: Option<Format>) -> Result<()> {
        let format = format.map_or_else(|| Format::of_target(target), Ok)?;
        let Some(delimiter) = format.delimiter() else {
            return Err(Error::Unsupported {
                problem: format!("{}: pairs are written as tables", target.display()),
                remedy: "give the file a name in .csv or .tsv".into(),
            });
        };
        let text = PairText {
            data: &self.comparisons,
            delimiter,
            group_names: self.grouping().map(|grouping| grouping.names.as_slice()),
            times: self.times.as_deref(),
        };
        write_atomically(target, |out| write_table(out, &text))
    }
}

/// A table of the given name: `.tsv` has tabs, anything else commas.
pub(super) fn table_source(path: &Path) -> Source {
    let format = Format::of_path(path).ok().filter(|format| *format == Format::Tsv).unwrap_or(Format::Csv);
    Source::File { path: path.into(), format }
}

/// Names of columns, and their numbers row by row.
pub(super) type Numbers = (Vec<String>, Vec<f64>);

/// Pairs on their way in.
#[derive(Default)]
pub(super) struct PairRows {
    ids: Numbering,
    pairs: Vec<Pair>,
    outcomes: Vec<Outcome>,
    groupings: Vec<(&'static str, Numbering, Vec<u32>)>,
}

impl PairRows {
    /// No pairs yet; each will be in one group of every one of these groupings.
    pub(super) fn grouped_by(names: impl IntoIterator<Item = &'static str>) -> Self {
        let groupings = names.into_iter().map(|name| (name, Numbering::default(), Vec::new())).collect();
        PairRows { groupings, ..PairRows::default() }
    }

    /// How many pairs there are.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The ids of the items, by their numbers.
    pub(super) fn ids(&self) -> Vec<String> {
        self.ids.to_texts()
    }

    /// Adds a pair of items by their ids, and the groups it is in; returns the numbers of the items.
    pub(super) fn add(&mut self, ids: [&str; 2], outcome: Outcome, groups: &[&str]) -> [u32; 2] {
        let [left, right] = ids.map(|id| self.ids.number(id));
        self.pairs.push(Pair { left, right });
        self.outcomes.push(outcome);
        for ((_, known, numbers), group) in self.groupings.iter_mut().zip(groups) {
            numbers.push(known.number(group));
        }
        [left, right]
    }

    /// All pairs. Items have features by their numbers, or are known by their ids alone; `context` describes the
    /// comparisons.
    pub(super) fn finish(self, features: Option<Numbers>, context: Option<Numbers>) -> Result<PublishedPairs> {
        let PairRows { ids, pairs, outcomes, groupings } = self;
        let items = match features {
            None => Items::indicators(ids.to_texts()),
            Some((names, values)) => {
                let features = Features::dense(names.len(), values, Precision::F64)?;
                Items::new(features, Some(names), Some(ids.to_texts()))?
            }
        };
        let mut set = PairSet::new(items, pairs)?;
        if let Some((names, values)) = context {
            let features = Features::dense(names.len(), values, Precision::F64)?;
            set = set.with_context(Context { features, names })?;
        }
        let groupings = groupings
            .into_iter()
            .map(|(name, known, numbers)| Grouping { name, names: known.to_texts(), numbers })
            .collect();
        PublishedPairs::new(set, outcomes, groupings)
    }
}
