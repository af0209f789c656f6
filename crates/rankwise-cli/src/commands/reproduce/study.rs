//! What a reproduction is: data that it needs, tasks that give numbers, and what these numbers say.

use std::collections::HashMap;

use rankwise::Watch;
use rankwise::selection::{TuneProgress, TuneWatch};

use super::data_dir::{DataDir, Need};
use crate::exit::{Failure, Run};
use crate::interrupt;
use crate::page::Table;
use crate::picture::Picture;

/// A table or figure of a paper.
pub(super) trait Study: Sync {
    /// What it is called on the command line; also the stem of its files.
    fn name(&self) -> &'static str;
    /// A line about it.
    fn title(&self) -> &'static str;
    /// Where it was published.
    fn paper(&self) -> Paper;
    /// Whose journal it writes: studies with the same tasks share them.
    fn journal(&self) -> &'static str {
        self.name()
    }
    /// Whether the seed, and whether it is the quick version, make a difference.
    fn varies(&self) -> bool {
        true
    }
    /// The files that it reads.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }
    /// Reads the data; every fault of theirs shows here, before any work.
    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>>;
}

/// The papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paper {
    Comparison,
    Online,
    PairwiseTransform,
    SwappedPairs,
    Tutorial,
}

impl Paper {
    /// Who wrote what.
    pub(super) fn citation(self) -> &'static str {
        match self {
            Paper::Comparison => "Venuto, Hocking, Spanurattana, Sugiyama: Support vector comparison machines",
            Paper::Online => "Bagnell (scribe Wu): Learning by constraints and SVMs (2), lecture notes",
            Paper::PairwiseTransform => "Pedregosa: Learning to rank with scikit-learn: the pairwise transform, 2012",
            Paper::SwappedPairs => "A multivariate support vector machine that minimises swapped pairs (SVM ΔSP multi)",
            Paper::Tutorial => "Yu, Kim: SVM tutorial: classification, regression, and ranking",
        }
    }
}

/// What a study is run with.
#[derive(Debug)]
pub(super) struct Room {
    /// Where its files are.
    pub(super) data: DataDir,
    /// The small version.
    pub(super) is_quick: bool,
    /// The seed of all that is random.
    pub(super) seed: u64,
}

impl Room {
    /// One of two values: the small version's, or the whole one's.
    pub(super) fn pick<T>(&self, quick: T, whole: T) -> T {
        if self.is_quick { quick } else { whole }
    }
}

/// A study with its data at hand.
pub(super) trait Prepared: Sync {
    /// What there is to compute, each task on its own; keys are unique and say all that a task depends on.
    fn tasks(&self) -> Vec<Task<'_>>;
    /// What came out. Pictures of single models may be computed here, if that is quick.
    fn tell(&self, found: &Found) -> Run<Findings>;
}

/// Named numbers.
pub(super) type Values = Vec<(String, f64)>;

/// What a task does, with what is found so far.
type Work<'a> = dyn Fn(&Found) -> Run<Values> + Send + Sync + 'a;

/// A piece of work that gives named numbers, the same whenever it is done.
pub(super) struct Task<'a> {
    /// Its name in the journal.
    pub(super) key: String,
    /// About how long it takes, in units of the study's own.
    pub(super) effort: f64,
    /// It is timed: it comes after all others, with nothing beside it.
    pub(super) is_alone: bool,
    /// Does it.
    pub(super) work: Box<Work<'a>>,
}

impl<'a> Task<'a> {
    /// One of many that run side by side, on one thread each.
    pub(super) fn new(key: String, effort: f64, work: impl Fn() -> Run<Values> + Send + Sync + 'a) -> Self {
        Task { key, effort, is_alone: false, work: Box::new(move |_| work()) }
    }

    /// One that is done when all of those are, alone, and may ask what they found.
    pub(super) fn alone(key: String, effort: f64, work: impl Fn(&Found) -> Run<Values> + Send + Sync + 'a) -> Self {
        Task { key, effort, is_alone: true, work: Box::new(work) }
    }
}

/// A list of named numbers.
pub(super) fn values<const N: usize>(list: [(&str, f64); N]) -> Values {
    list.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// The numbers of all tasks.
#[derive(Debug, Default)]
pub(super) struct Found(HashMap<String, Values>);

impl Found {
    pub(super) fn add(&mut self, key: String, values: Values) {
        self.0.insert(key, values);
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// All numbers of a task.
    pub(super) fn all(&self, key: &str) -> Run<&Values> {
        self.0.get(key).ok_or_else(|| Failure::Fault(format!("the study has no task {key}")))
    }

    /// A number by its name.
    pub(super) fn get(&self, key: &str, name: &str) -> Run<f64> {
        let found = self.all(key)?.iter().find(|value| value.0 == name);
        found.map(|value| value.1).ok_or_else(|| Failure::Fault(format!("task {key} has no number {name}")))
    }
}

/// What a study says.
pub(super) struct Findings {
    /// The sentence that everybody reads.
    pub(super) lead: String,
    /// Paper and ours, side by side.
    pub(super) beside: Table,
    /// What the paper says in words, and whether it is so here.
    pub(super) claims: Vec<Claim>,
    /// Where and why ours differ; how it was done where the paper is silent.
    pub(super) notes: Vec<String>,
    /// More tables, for the page.
    pub(super) tables: Vec<Table>,
    /// The figure.
    pub(super) picture: Picture,
    /// What there is to see in it.
    pub(super) caption: String,
    /// Every number, for the csv file: names, then rows.
    pub(super) numbers: (Vec<String>, Vec<Vec<String>>),
}

/// Something that can be true or not.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    /// In words.
    pub(super) text: String,
    /// Whether it is so here.
    pub(super) holds: bool,
}

impl Claim {
    pub(super) fn new(text: impl Into<String>, holds: bool) -> Self {
        Claim { text: text.into(), holds }
    }
}

/// A list of texts as a row.
pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(String::from).into()
}

/// Looks on while a task trains, and stops it on Ctrl-C.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patient;

impl Watch for Patient {
    fn on_progress(&self, _: rankwise::Progress) -> bool {
        !interrupt::is_requested()
    }
}

impl TuneWatch for Patient {
    fn on_point(&self, _: TuneProgress) {}

    fn keep_going(&self) -> bool {
        !interrupt::is_requested()
    }
}
