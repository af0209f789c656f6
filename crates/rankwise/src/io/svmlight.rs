//! Items in SVMlight's format, in which LETOR data come: `label [qid:GROUP] [cost:WEIGHT] index:value … [# comment]`.
//!
//! `bytes → pieces of whole lines → chunks, parsed in parallel → gathered in the order of the file`. Only a few pieces
//! are in memory at a time, and where they end depends on the text alone.

mod chunk;
mod fault;
mod gather;
mod number;
mod pieces;
mod stream;
#[cfg(test)]
mod tests;

use std::io::{self, Read};

use chunk::Rules;
pub(super) use chunk::id_of;
use gather::{for_each_chunk, gather};
pub(super) use stream::LineStream;

use super::convert::ItemRow;
use super::decompress::Decompressed;
use super::items::refuse_columns;
use super::{Columns, Format, IndexBase, ItemTable, Source};
use crate::data::{Items, Precision, RowStore, Stored};
use crate::error::{Error, Place, Result};

/// How much text a thread parses at a time.
const PIECE_BYTES: usize = 1 << 19;

/// Reads items.
pub(super) fn read(source: &Source, columns: &Columns, precision: Precision) -> Result<ItemTable> {
    check_columns(source, columns)?;
    let can_read_again = source.can_read_again();
    let Columns { index_base, most_features, .. } = *columns;
    let input = Input { source, index_base, most_features, can_read_again, piece_bytes: PIECE_BYTES };
    input.read(precision, || source.open())
}

/// Reads several files one after the other as if they were one, which messages call `name`.
pub(super) fn read_joined(
    sources: &[Source],
    name: &str,
    index_base: IndexBase,
    precision: Precision,
) -> Result<ItemTable> {
    let can_read_again = sources.iter().all(Source::can_read_again);
    let whole = Source::Copy { path: name.into(), name: name.into(), format: Format::SvmLight };
    let input = Input { source: &whole, index_base, most_features: None, can_read_again, piece_bytes: PIECE_BYTES };
    input.read(precision, || {
        let mut all: Box<dyn Read> = Box::new(io::empty());
        let mut action = "read";
        for source in sources {
            let part = source.open()?;
            action = part.action;
            // A last line may lack its end.
            all = Box::new(all.chain(part.reader).chain(io::Cursor::new(b"\n")));
        }
        Ok(Decompressed { reader: all, action })
    })
}

/// The number that a text begins with and where it ends, if it is of the usual kind, which is read without the standard library.
#[cfg(fuzzing)]
pub fn usual_number(text: &[u8]) -> Option<(f64, usize)> {
    number::usual_number(text, 0)
}

/// The format has no columns to be named.
pub(super) fn check_columns(source: &Source, columns: &Columns) -> Result<()> {
    refuse_columns(source, columns, "in SVMlight's format, which has none")
}

/// Hands over the items one by one, while the lines after them are parsed.
pub(super) fn for_each(
    source: &Source,
    columns: &Columns,
    must_fit_f32: bool,
    take: &mut dyn FnMut(&ItemRow<'_>) -> Result<()>,
) -> Result<()> {
    let rules = Rules::new(columns.index_base, columns.most_features, must_fit_f32);
    let name = source.name();
    let mut heads = gather::LineHeads::default();
    for_each_chunk::<f64>(source.open()?, &name, rules, PIECE_BYTES, |chunk| {
        heads.add(chunk, &name)?;
        chunk.for_each_item(take)
    })
}

struct Input<'a> {
    source: &'a Source,
    index_base: IndexBase,
    most_features: Option<usize>,
    can_read_again: bool,
    piece_bytes: usize,
}

impl Input<'_> {
    /// Numbers are held in f32 from the start if they can be read again when f32 turns out not to do.
    fn read(&self, precision: Precision, open: impl Fn() -> Result<Decompressed>) -> Result<ItemTable> {
        match precision {
            Precision::F64 => self.finish(self.gather::<f64>(open()?, false)?),
            Precision::F32 => self.finish(self.gather::<f32>(open()?, true)?),
            Precision::Auto => {
                if self.can_read_again
                    && let Some(gathered) =
                        gather::gather_short(open()?, &self.source.name(), self.rules(false), self.piece_bytes)?
                    && gathered.surely_fits_f32()
                {
                    return self.finish(gathered);
                }
                let gathered = self.gather::<f64>(open()?, false)?;
                if gathered.rows.fits_f32(true) {
                    let (rows, rest) = gathered.split();
                    return self.finish_with(rows.narrowed(), rest);
                }
                self.finish(gathered)
            }
        }
    }

    fn gather<T: Stored>(&self, text: Decompressed, must_fit_f32: bool) -> Result<gather::Gathered<T>> {
        gather(text, &self.source.name(), self.rules(must_fit_f32), self.piece_bytes)
    }

    fn rules(&self, must_fit_f32: bool) -> Rules {
        Rules::new(self.index_base, self.most_features, must_fit_f32)
    }

    fn finish<T: Stored>(&self, gathered: gather::Gathered<T>) -> Result<ItemTable> {
        let (rows, rest) = gathered.split();
        self.finish_with(rows, rest)
    }

    fn finish_with<T: Stored>(&self, rows: RowStore<T>, rest: gather::Heads) -> Result<ItemTable> {
        let source = self.source.name();
        if rest.labels.is_empty() {
            return Err(no_items(source));
        }
        finished(rows, rest, source)
    }
}

fn no_items(source: String) -> Error {
    let problem = "no items, expected a line for each";
    Error::data(Place::file(source), problem, "write label, qid:GROUP and index:value …")
}

fn finished<T: Stored>(rows: RowStore<T>, rest: gather::Heads, source: String) -> Result<ItemTable> {
    let gather::Heads { labels, weights, groups, ids } = rest;
    Ok(ItemTable {
        items: Items::new(rows.finish(), None, ids)?,
        labels: Some(labels),
        words: None,
        margins: None,
        groups,
        weights,
        group_weights: None,
        unused_columns: Vec::new(),
        notes: Vec::new(),
        source,
    })
}
