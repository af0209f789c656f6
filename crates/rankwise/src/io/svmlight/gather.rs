//! The chunks of a file put together in its order.

use std::io;
use std::path::PathBuf;

use rayon::prelude::*;

use super::super::decompress::Decompressed;
use super::super::group_names::GroupNames;
use super::chunk::{At, Chunk, Rules};
use super::pieces::{Piece, Pieces};
use crate::data::{ColumnDigits, ColumnRanges, Groups, RowStore, Stored};
use crate::error::{Error, Place, Result};

/// How many pieces are parsed side by side; three times as many are in memory.
const PIECES_AT_ONCE: usize = 8;

/// What lines say besides features.
pub(super) struct Heads {
    pub(super) labels: Vec<f64>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) groups: Option<Groups>,
    pub(super) ids: Option<Vec<String>>,
}

/// The items of a file so far.
pub(super) struct Gathered<T> {
    pub(super) rows: RowStore<T>,
    labels: Vec<f64>,
    /// Empty if no line has one.
    weights: Vec<f64>,
    /// Empty if no line has one.
    ids: Vec<String>,
    groups: GroupNames,
    heads: LineHeads,
    ranges: ColumnRanges,
    digits: ColumnDigits,
    shortest: usize,
    has_gaps: bool,
    has_extremes: bool,
}

/// What was seen of the lines before.
#[derive(Debug, Default)]
pub(super) struct LineHeads {
    with_group: Option<u64>,
    without_group: Option<At>,
    n_lines: u64,
}

impl LineHeads {
    /// Takes in the next lines; of all that is wrong the first is the error.
    pub(super) fn add<T>(&mut self, chunk: &mut Chunk<T>, source: &str) -> Result<()> {
        self.with_group = self.with_group.or(chunk.with_group);
        let without = chunk.without_group.map(|(line, column)| (self.n_lines + line, column));
        self.without_group = self.without_group.or(without);
        if let (Some(_), Some((line, column))) = (self.with_group, self.without_group) {
            return Err(Error::data(
                Place::line(source, line).column(column, ""),
                "no qid, which other lines have",
                "give every line its group, or none",
            ));
        }
        if let Some(fault) = chunk.fault.take() {
            return Err(fault.into_error(source, self.n_lines));
        }
        self.n_lines += chunk.n_lines;
        Ok(())
    }
}

/// A piece of text and what is in it.
struct Slot<T> {
    piece: Piece,
    chunk: Chunk<T>,
}

/// Pieces that are parsed side by side.
struct Batch<T> {
    slots: Vec<Slot<T>>,
    n_used: usize,
}

impl<T: Stored> Batch<T> {
    fn new() -> Self {
        Batch { slots: Vec::new(), n_used: 0 }
    }

    /// Reads the next pieces; long ones count for several.
    fn read(&mut self, text: &mut Text) {
        self.n_used = 0;
        let mut n_bytes = 0;
        while n_bytes <= (PIECES_AT_ONCE - 1) * text.piece_bytes && text.failure.is_none() {
            if self.slots.len() == self.n_used {
                self.slots.push(Slot { piece: Piece::default(), chunk: Chunk::default() });
            }
            let piece = &mut self.slots[self.n_used].piece;
            match text.pieces.next(piece) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    text.failure = Some(error);
                    break;
                }
            }
            n_bytes += piece.text().len().max(text.piece_bytes / 2);
            self.n_used += 1;
        }
    }

    fn used(&mut self) -> &mut [Slot<T>] {
        &mut self.slots[..self.n_used]
    }
}

/// What is still to be read.
struct Text {
    pieces: Pieces,
    piece_bytes: usize,
    /// Why there is no more; what was read before comes first.
    failure: Option<io::Error>,
}

/// Reads and parses all of a text. Of all that is wrong the first in the file is the error.
pub(super) fn gather<T: Stored>(
    text: Decompressed,
    source: &str,
    rules: Rules,
    piece_bytes: usize,
) -> Result<Gathered<T>> {
    let mut gathered = Gathered::new();
    for_each_chunk(text, source, rules, piece_bytes, |chunk| gathered.add(chunk, source))?;
    Ok(gathered)
}

/// The same in f32, as far as that may do: `None` where a number has more digits.
pub(super) fn gather_short(
    text: Decompressed,
    source: &str,
    rules: Rules,
    piece_bytes: usize,
) -> Result<Option<Gathered<f32>>> {
    let (mut gathered, mut has_long) = (Gathered::new(), false);
    let read = for_each_chunk(text, source, rules, piece_bytes, |chunk| {
        gathered.add(chunk, source)?;
        has_long = gathered.digits.has_long();
        if has_long { Err(Error::Interrupted) } else { Ok(()) }
    });
    if has_long { Ok(None) } else { read.map(|()| Some(gathered)) }
}

/// Reads and parses all of a text; `keep` gets one chunk after the other.
pub(super) fn for_each_chunk<T: Stored>(
    text: Decompressed,
    source: &str,
    rules: Rules,
    piece_bytes: usize,
    mut keep: impl FnMut(&mut Chunk<T>) -> Result<()>,
) -> Result<()> {
    let action = text.action;
    let mut text = Text { pieces: Pieces::new(text.reader, piece_bytes), piece_bytes, failure: None };
    let [mut before, mut now, mut then] = std::array::from_fn(|_| Batch::<T>::new());
    now.read(&mut text);
    while before.n_used + now.n_used > 0 {
        let mut keep_and_read = || {
            let kept = before.used().iter_mut().try_for_each(|slot| keep(&mut slot.chunk));
            if kept.is_ok() {
                then.read(&mut text);
            }
            kept
        };
        if rayon::current_num_threads() == 1 {
            // This thread would be a second one beside the pool's.
            now.used().iter_mut().for_each(|slot| slot.chunk.parse(slot.piece.text(), rules));
            keep_and_read()?;
        } else {
            // While some pieces are parsed, this thread keeps what was in those before and reads those to come.
            rayon::in_place_scope(|scope| {
                for Slot { piece, chunk } in now.used() {
                    scope.spawn(|_| chunk.parse(piece.text(), rules));
                }
                keep_and_read()
            })?;
        }
        std::mem::swap(&mut before, &mut now);
        std::mem::swap(&mut now, &mut then);
    }
    match text.failure {
        None => Ok(()),
        Some(failure) => Err(Error::Io { path: PathBuf::from(source), action, source: failure }),
    }
}

/// Parses the whole lines that are in memory, after so many others; says how many there are.
pub(super) fn gather_lines<T: Stored>(
    text: &[u8],
    source: &str,
    rules: Rules,
    n_lines_before: u64,
    piece_bytes: usize,
) -> Result<(Gathered<T>, u64)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let near = &rest[..piece_bytes.min(rest.len())];
        let end = near.iter().rposition(|&byte| byte == b'\n').or_else(|| rest.iter().position(|&byte| byte == b'\n'));
        let (piece, others) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        pieces.push(piece);
        rest = others;
    }
    let parse = |piece: &&[u8]| {
        let mut chunk = Chunk::<T>::default();
        chunk.parse(piece, rules);
        chunk
    };
    let mut chunks: Vec<Chunk<T>> = pieces.par_iter().map(parse).collect();
    let mut gathered = Gathered::new();
    gathered.heads.n_lines = n_lines_before;
    chunks.iter_mut().try_for_each(|chunk| gathered.add(chunk, source))?;
    let n_lines = gathered.heads.n_lines - n_lines_before;
    Ok((gathered, n_lines))
}

impl<T: Stored> Gathered<T> {
    fn new() -> Self {
        Gathered {
            rows: RowStore::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            ids: Vec::new(),
            groups: GroupNames::default(),
            heads: LineHeads::default(),
            ranges: ColumnRanges::default(),
            digits: ColumnDigits::default(),
            shortest: usize::MAX,
            has_gaps: false,
            has_extremes: false,
        }
    }

    fn add(&mut self, chunk: &mut Chunk<T>, source: &str) -> Result<()> {
        let n_before = self.labels.len();
        let n_items = n_before + chunk.labels.len();
        let n_lines = self.heads.n_lines;
        self.heads.add(chunk, source)?;
        if n_items > u32::MAX as usize {
            let problem = format!("more than {} items", u32::MAX);
            return Err(Error::data(Place::line(source, n_lines + chunk.n_lines), problem, "use fewer"));
        }
        self.rows.append(&chunk.block());
        self.ranges.merge(&chunk.ranges);
        self.digits.merge(&chunk.digits);
        self.shortest = self.shortest.min(chunk.shortest);
        self.has_gaps |= chunk.has_gaps;
        self.has_extremes |= chunk.has_extremes;
        self.labels.extend_from_slice(&chunk.labels);
        if !chunk.weights.is_empty() || !self.weights.is_empty() {
            self.weights.resize(n_before, 1.0);
            self.weights.extend_from_slice(&chunk.weights);
            self.weights.resize(n_items, 1.0);
        }
        let mut start = 0;
        for &(end, n_items) in &chunk.runs {
            self.groups.add(&chunk.run_names[start..end], n_items as usize);
            start = end;
        }
        self.add_ids(chunk, n_before, n_items);
        Ok(())
    }

    /// Items without an id of their own have their number, as everywhere.
    fn add_ids(&mut self, chunk: &Chunk<T>, n_before: usize, n_items: usize) {
        if chunk.id_ends.is_empty() && self.ids.is_empty() {
            return;
        }
        self.ids.extend((self.ids.len()..n_before).map(numbered));
        let mut start = 0;
        for &end in &chunk.id_ends {
            let id = &chunk.id_text[start..end];
            self.ids.push(if id.is_empty() { numbered(self.ids.len()) } else { id.to_string() });
            start = end;
        }
        self.ids.extend((self.ids.len()..n_items).map(numbered));
    }

    /// Whether f32 is known to be good enough, though numbers were rounded to it.
    pub(super) fn surely_fits_f32(&self) -> bool {
        if self.has_gaps {
            let are_sound = !self.has_extremes && self.ranges.have_f32_magnitudes() && self.digits.are_short();
            return are_sound && self.rows.fits_f32(false);
        }
        let mut ranges = self.ranges.clone();
        ranges.add_zeros_from(self.shortest);
        ranges.fit_f32(true) && self.digits.are_surely_apart(|column| ranges.magnitude(column))
    }

    /// The rows, and the rest.
    pub(super) fn split(self) -> (RowStore<T>, Heads) {
        let heads = Heads {
            labels: self.labels,
            weights: Some(self.weights).filter(|weights| !weights.is_empty()),
            groups: self.heads.with_group.map(|_| self.groups.finish()),
            ids: Some(self.ids).filter(|ids| !ids.is_empty()),
        };
        (self.rows, heads)
    }
}

fn numbered(item: usize) -> String {
    format!("#{}", item + 1)
}
