//! Files: tables of pairs and of items, items in SVMlight's format and in binary blocks, judgments and runs of search
//! engines, data sets as they are published, model files; items from one format into another.
//!
//! `bytes → decompress → text (line ends, quotes) → table (header, rows, cells) → pairs | items`
//!
//! `bytes → decompress → svmlight → items`

mod block_file;
mod convert;
mod decompress;
mod games;
mod group_names;
mod items;
mod model_file;
mod numbering;
mod output;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet_rows;
pub mod published;
mod scored_items;
mod source;
mod stream;
mod svmlight;
mod table;
mod tensor_file;
mod text;
mod trec;
mod write;

/// What only fuzzing reaches from outside.
#[cfg(fuzzing)]
pub mod fuzzing {
    pub use super::decompress::all_bytes;
    pub use super::svmlight::usual_number;
}

pub use block_file::BlockFile;
pub use convert::{Conversion, Converted, convert, convert_ranking};
pub use games::{TimeUnit, Times};
pub use items::{ItemTable, LabelWords, open_blocks, read_classes, read_items, read_ranking};
pub use model_file::{model_from_bytes, model_to_bytes, read_model, write_model};
pub use output::{write_atomically, write_together};
pub use pairs::{PairFiles, PairTable, read_pairs};
pub use scored_items::{classify_items, read_items_for, read_pairs_for, score_items};
pub use source::{Format, Source};
pub use stream::{ItemStream, StreamOptions};
pub use trec::{JudgedRun, Qrels, Queries, TrecRun, read_qrels, read_run, write_run};
pub use write::write_pairs;

/// Which columns hold what, where they are not called by their usual names, and which to leave out. Names that no
/// file has are errors; where no column of any file has a name, the only one that has it in other letter case is meant, but for
/// columns to leave out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// Who stands left in a pair table; usually `left`.
    pub left: Option<String>,
    /// Who stands right in a pair table; usually `right`.
    pub right: Option<String>,
    /// The item ids of an item table; usually `id`.
    pub id: Option<String>,
    /// The weights; usually `weight`.
    pub weight: Option<String>,
    /// The groups; usually `group` in pair tables and `qid` in item tables.
    pub group: Option<String>,
    /// When pairs were judged; usually `time`.
    pub time: Option<String>,
    /// What is to be learnt; usually `outcome` (or `winner`) in pair tables and `label` in item tables.
    pub label: Option<String>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// The byte between two columns; usually what the format says.
    pub separator: Option<u8>,
    /// The number of the first feature in files that number them.
    pub index_base: IndexBase,
    /// Features beyond so many are read over in files that number them.
    pub most_features: Option<usize>,
}

/// Where files that number their features begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IndexBase {
    /// At 0.
    Zero,
    /// At 1, as usual.
    #[default]
    One,
}

impl IndexBase {
    /// The number of the first feature.
    fn first(self) -> u64 {
        match self {
            IndexBase::Zero => 0,
            IndexBase::One => 1,
        }
    }
}

impl Columns {
    /// The names given, each with the option that gives it.
    fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let named = [
            ("left", &self.left),
            ("right", &self.right),
            ("id", &self.id),
            ("weight", &self.weight),
            ("group", &self.group),
            ("time", &self.time),
            ("label", &self.label),
        ];
        let named = named.into_iter().filter_map(|(option, name)| Some((option, name.as_deref()?)));
        named.chain(self.drop.iter().map(|name| ("drop", name.as_str())))
    }
}
