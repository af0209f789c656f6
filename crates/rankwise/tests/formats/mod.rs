//! Files: what is read and written, and what a broken file is told.

mod block_file;
mod compressed;
mod digits;
mod games;
mod item_tables;
mod model_file;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod properties;
mod published;
mod published_files;
mod published_games;
mod published_pairs;
mod svmlight;
mod svmlight_errors;
mod tables;
mod tables_errors;
mod trec;

use std::path::PathBuf;

use rankwise::data::{Comparisons, Precision};
use rankwise::io::{Columns, ItemTable, PairFiles, PairTable, Source, read_items, read_pairs};
use rankwise::{Error, Result};

/// A folder of files that goes away with the test.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Files(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Source {
        std::fs::write(self.path(name), content).unwrap();
        Source::parse(self.path(name).to_str().unwrap(), None).unwrap()
    }
}

fn files(pairs: Source, items: Option<Source>, columns: Columns) -> PairFiles {
    PairFiles { pairs, items, columns, precision: Precision::F64, with_outcomes: true, as_games: false }
}

fn dropping(names: &[&str]) -> Columns {
    Columns { drop: names.iter().map(|name| name.to_string()).collect(), ..Columns::default() }
}

fn pairs_with(content: impl AsRef<[u8]>, columns: Columns) -> Result<PairTable> {
    let folder = Files::new();
    read_pairs(&files(folder.write("pairs.csv", content), None, columns))
}

fn pairs(content: impl AsRef<[u8]>) -> Result<PairTable> {
    pairs_with(content, Columns::default())
}

fn pairs_and_items(pairs: &str, items: &str, columns: Columns) -> Result<PairTable> {
    let folder = Files::new();
    read_pairs(&files(folder.write("pairs.csv", pairs), Some(folder.write("items.csv", items)), columns))
}

fn items_with(content: &str, columns: Columns) -> Result<ItemTable> {
    read_items(&Files::new().write("items.csv", content), &columns, Precision::F64)
}

fn items(content: &str) -> Result<ItemTable> {
    items_with(content, Columns::default())
}

/// The pairs by item number.
fn numbers(table: &PairTable) -> Vec<(u32, u32)> {
    table.set.pairs.iter().map(|pair| (pair.left, pair.right)).collect()
}

fn ids(table: &PairTable) -> Vec<&str> {
    table.set.items.ids.as_ref().unwrap().iter().map(String::as_str).collect()
}

fn feature_names(table: &PairTable) -> Vec<&str> {
    table.set.items.feature_names.as_ref().unwrap().iter().map(String::as_str).collect()
}

/// The features of both sides of every pair.
fn side_features(data: &Comparisons) -> Vec<[Vec<f64>; 2]> {
    let features = &data.set.items.features;
    let row = |item: u32| {
        let mut out = vec![0.0; features.n_cols()];
        features.copy_row(item as usize, &mut out);
        out
    };
    data.set.pairs.iter().map(|pair| [row(pair.left), row(pair.right)]).collect()
}

/// The message of an error must say all of this.
#[track_caller]
fn says<T: std::fmt::Debug>(result: Result<T>, parts: &[&str]) -> Error {
    let error = result.expect_err("an error was expected");
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
    error
}
