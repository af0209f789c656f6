//! Items read part by part, each part whole groups: for files that memory does not hold, and for pipes.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::block_file::BlockStream;
use super::items::{RowStream, open_blocks};
use super::svmlight::LineStream;
use super::{Columns, Format, Source};
use crate::data::Ranking;
use crate::error::{Error, Place, Result};

/// About how much text (tables: numbers) a part has.
const PART_BYTES: usize = 16 << 20;

/// How a source is read part by part.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Which columns hold what.
    pub columns: Columns,
    /// Whether a part ends where a group does, which then must stand together; else anywhere.
    pub by_group: bool,
    /// About how many bytes of text a part has; a group that is larger is one part.
    pub part_bytes: usize,
}

impl StreamOptions {
    /// Parts of whole groups, of 16 MiB.
    pub fn new(columns: Columns) -> Self {
        StreamOptions { columns, by_group: true, part_bytes: PART_BYTES }
    }
}

/// A source of items that is being read.
pub struct ItemStream {
    kind: Kind,
    source: Source,
}

enum Kind {
    Lines(Box<LineStream>),
    Rows(Box<RowStream>),
    Blocks(Box<BlockStream>),
}

impl ItemStream {
    /// Opens a source. A table must have features; ids are read over. The parts of a block file are its blocks.
    pub fn open(source: &Source, options: &StreamOptions) -> Result<Self> {
        source.blame(Self::begin(source, options))
    }

    fn begin(source: &Source, options: &StreamOptions) -> Result<Self> {
        let StreamOptions { columns, by_group, part_bytes } = options;
        let kind = match source.format() {
            Format::SvmLight => Kind::Lines(Box::new(LineStream::open(source, columns, *by_group, *part_bytes)?)),
            Format::Blocks => {
                let file = open_blocks(source, columns)?;
                file.verify()?;
                Kind::Blocks(Box::new(BlockStream::new(file)))
            }
            _ => Kind::Rows(Box::new(RowStream::open(source, columns, *by_group, *part_bytes)?)),
        };
        Ok(ItemStream { kind, source: source.clone() })
    }

    /// The next items; none after the last ones. A group that comes again in a later part is an error.
    pub fn next_part(&mut self) -> Result<Option<Ranking>> {
        let part = match &mut self.kind {
            Kind::Lines(lines) => lines.next_part(),
            Kind::Rows(rows) => rows.next_part(),
            Kind::Blocks(blocks) => blocks.next_part(),
        };
        self.source.blame(part)?.map(|table| table.into_ranking()).transpose()
    }

    /// What is to be told of how the source is read.
    pub fn notes(&self) -> &[String] {
        match &self.kind {
            Kind::Lines(_) | Kind::Blocks(_) => &[],
            Kind::Rows(rows) => rows.notes(),
        }
    }

    /// Columns that are never features and that nothing is read from.
    pub fn unused_columns(&self) -> &[String] {
        match &self.kind {
            Kind::Lines(_) | Kind::Blocks(_) => &[],
            Kind::Rows(rows) => rows.unused_columns(),
        }
    }
}

/// The groups of the parts before, by their hashes: a few bytes each.
#[derive(Debug, Default)]
pub(super) struct SeenGroups(HashSet<u64>);

impl SeenGroups {
    /// Takes in a group; false if it was there.
    pub(super) fn add(&mut self, name: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        self.0.insert(hasher.finish())
    }

    /// What to say of a group that was there.
    pub(super) fn repeated(place: Place, name: &str) -> Error {
        let problem = format!("the group {name} comes again after others, expected all of its items together");
        Error::data(place, problem, "sort the file by group, or leave out --stream, so that it is read as a whole")
    }
}
