//! Lines part by part, each part whole groups, so that a file of any length can be learnt from.

use std::io;
use std::path::PathBuf;

use super::chunk::Rules;
use super::gather::gather_lines;
use super::pieces::{Piece, Pieces};
use super::{PIECE_BYTES, check_columns, finished, no_items};
use crate::error::{Error, Place, Result};
use crate::io::stream::SeenGroups;
use crate::io::{Columns, ItemTable, Source};

/// A file that is being read.
pub(in crate::io) struct LineStream {
    source: String,
    pieces: Pieces,
    action: &'static str,
    rules: Rules,
    part_bytes: usize,
    by_group: bool,
    /// Whole lines that no part has yet.
    text: Vec<u8>,
    is_at_end: bool,
    n_lines: u64,
    n_parts: u64,
    seen: SeenGroups,
}

impl LineStream {
    pub(in crate::io) fn open(source: &Source, columns: &Columns, by_group: bool, part_bytes: usize) -> Result<Self> {
        check_columns(source, columns)?;
        let text = source.open()?;
        Ok(LineStream {
            source: source.name(),
            pieces: Pieces::new(text.reader, PIECE_BYTES.min(part_bytes)),
            action: text.action,
            rules: Rules::new(columns.index_base, columns.most_features, false),
            part_bytes,
            by_group,
            text: Vec::new(),
            is_at_end: false,
            n_lines: 0,
            n_parts: 0,
            seen: SeenGroups::default(),
        })
    }

    /// The next items; none after the last ones.
    pub(in crate::io) fn next_part(&mut self) -> Result<Option<ItemTable>> {
        loop {
            let cut = self.read_on()?;
            if cut == 0 {
                return if self.n_parts == 0 { Err(no_items(self.source.clone())) } else { Ok(None) };
            }
            let text = &self.text[..cut];
            let (gathered, n_lines) = gather_lines::<f64>(text, &self.source, self.rules, self.n_lines, PIECE_BYTES)?;
            let (rows, heads) = gathered.split();
            if !heads.labels.is_empty() {
                let table = finished(rows, heads, self.source.clone())?;
                if self.by_group {
                    self.check_groups(&table, cut)?;
                }
                self.pass(cut, n_lines);
                self.n_parts += 1;
                return Ok(Some(table));
            }
            self.pass(cut, n_lines);
        }
    }

    fn pass(&mut self, cut: usize, n_lines: u64) {
        self.text.drain(..cut);
        self.n_lines += n_lines;
    }

    /// Reads until there is a part; says where it ends, 0 at the end of the file.
    fn read_on(&mut self) -> Result<usize> {
        let mut goal = self.part_bytes;
        let mut piece = Piece::default();
        loop {
            while self.text.len() < goal && !self.is_at_end {
                match self.pieces.next(&mut piece) {
                    Ok(true) => self.text.extend_from_slice(piece.text()),
                    Ok(false) => self.is_at_end = true,
                    Err(error) => return Err(self.failure(error)),
                }
            }
            if self.is_at_end || !self.by_group {
                return Ok(self.text.len());
            }
            if let Some(cut) = last_boundary(&self.text) {
                return Ok(cut);
            }
            goal = self.text.len().saturating_mul(2); // one group, so far
        }
    }

    fn failure(&self, source: io::Error) -> Error {
        Error::Io { path: PathBuf::from(&self.source), action: self.action, source }
    }

    /// Groups must stand together, and there must be some.
    fn check_groups(&mut self, table: &ItemTable, cut: usize) -> Result<()> {
        let Some(groups) = &table.groups else {
            return Err(Error::data(
                Place::file(&self.source),
                "no line has a qid, so that all items are one group",
                "give groups (qid), or leave out --stream, so that the items are read as a whole",
            ));
        };
        // Groups are numbered as they appear: the next number, or the last one again.
        let (mut n_groups, mut last) = (0, None);
        for (item, &group) in groups.numbers().iter().enumerate() {
            if last == Some(group) {
                continue;
            }
            let name = groups.name(group as usize);
            if group < n_groups || !self.seen.add(name) {
                let lines = self.text[..cut].split(|&byte| byte == b'\n').zip(self.n_lines + 1..);
                let line = lines.filter(|(line, _)| group_of(line).is_some()).nth(item);
                let line = line.map_or(self.n_lines + 1, |(_, number)| number);
                return Err(SeenGroups::repeated(Place::line(&self.source, line), name));
            }
            (n_groups, last) = (group + 1, Some(group));
        }
        Ok(())
    }
}

/// Where the last group begins, unless it is the only one. Lines without a group are groups of their own, so that they are
/// told of.
fn last_boundary(text: &[u8]) -> Option<usize> {
    let mut end = text.len();
    let mut last: Option<(&[u8], usize)> = None;
    while end > 0 {
        let start = text[..end - 1].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        match (group_of(&text[start..end]), last) {
            (None, _) => {}
            (Some(None), _) => return Some(text.len()),
            (Some(Some(group)), Some((same, _))) if group != same => return last.map(|(_, boundary)| boundary),
            (Some(Some(group)), _) => last = Some((group, start)),
        }
        end = start;
    }
    None
}

/// The group that a line names, if any; `None` for a line without an item.
fn group_of(line: &[u8]) -> Option<Option<&[u8]>> {
    let mut tokens = line.split(|byte| byte.is_ascii_whitespace()).filter(|token| !token.is_empty());
    let label = tokens.next()?;
    if label.starts_with(b"#") {
        return None;
    }
    // Group and weight come right behind the label, in either order.
    Some(tokens.take(2).find_map(|token| token.strip_prefix(b"qid:")))
}
