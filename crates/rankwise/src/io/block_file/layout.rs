//! Where everything stands in a block file, and how it is written down.
//!
//! | header, 64 bytes | |
//! |---|---|
//! | 0 | magic |
//! | 8 | u32 version, u32 flags |
//! | 16 | u64 items, features, groups, stored numbers |
//! | 48 | zeros |
//! | 60 | u32 CRC-32 of the bytes before |
//!
//! | footer, 64 bytes | |
//! |---|---|
//! | 0 | u64 offset and length of the index, u64 blocks, u64 length of the file |
//! | 32 | u32 CRC-32 of the index, zeros |
//! | 52 | u32 CRC-32 of the bytes before |
//! | 56 | magic |
//!
//! The index has 48 bytes per block, then the names of features, each a u32 length and its text.

use crate::error::{Error, Place, Result};

/// A first byte that no text begins with, and line ends that tell when a transfer has taken the file for text.
const MAGIC: [u8; 8] = *b"\x93RWB\r\n\x1a\n";
const VERSION: u32 = 1;
/// Bytes of header and footer, and what arrays are aligned to.
pub(super) const HEADER: usize = 64;
pub(super) const FOOTER: usize = 64;
pub(super) const ALIGNMENT: u64 = 64;
/// Bytes of a block in the index.
pub(super) const ENTRY: usize = 48;
/// As many features as other files can number.
const MOST_FEATURES: u64 = 1 << 31;

const SPARSE: u32 = 1;
const F64: u32 = 1 << 1;
const LABELS: u32 = 1 << 2;
const GROUPS: u32 = 1 << 3;
const WEIGHTS: u32 = 1 << 4;
const GROUP_WEIGHTS: u32 = 1 << 5;
const IDS: u32 = 1 << 6;
const NAMES: u32 = 1 << 7;
const ALL_FLAGS: u32 = (1 << 8) - 1;

/// What a file has, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct Shape {
    pub(in super::super) n_items: usize,
    pub(in super::super) n_features: usize,
    pub(in super::super) n_groups: usize,
    pub(in super::super) n_stored: usize,
    pub(in super::super) is_sparse: bool,
    pub(in super::super) is_f32: bool,
    pub(in super::super) has_labels: bool,
    /// Groups have names; without, all items are one group.
    pub(in super::super) has_groups: bool,
    pub(in super::super) has_weights: bool,
    pub(in super::super) has_group_weights: bool,
    pub(in super::super) has_ids: bool,
    pub(in super::super) has_names: bool,
}

impl Shape {
    /// Bytes of a stored number.
    pub(in super::super) fn bytes_of_number(&self) -> u64 {
        if self.is_f32 { 4 } else { 8 }
    }

    fn flags(&self) -> u32 {
        let flags = [
            (self.is_sparse, SPARSE),
            (!self.is_f32, F64),
            (self.has_labels, LABELS),
            (self.has_groups, GROUPS),
            (self.has_weights, WEIGHTS),
            (self.has_group_weights, GROUP_WEIGHTS),
            (self.has_ids, IDS),
            (self.has_names, NAMES),
        ];
        flags.into_iter().filter(|(has, _)| *has).map(|(_, flag)| flag).sum()
    }

    pub(super) fn header(&self) -> [u8; HEADER] {
        let mut out = Vec::with_capacity(HEADER);
        out.extend_from_slice(&MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(self.flags().to_le_bytes());
        for n in [self.n_items, self.n_features, self.n_groups, self.n_stored] {
            out.extend((n as u64).to_le_bytes());
        }
        sealed(out, HEADER - 4)
    }

    /// Reads a header; `name` is that of the file.
    pub(super) fn of_header(header: &[u8; HEADER], name: &str) -> Result<Self> {
        if header[..8] != MAGIC {
            let remedy = "make one with `rankwise convert`; block files are read as they are, not compressed";
            return Err(fault(name, "the file does not begin like a block file", remedy));
        }
        let version = u32_at(header, 8);
        if version != VERSION {
            let problem = format!("a block file of version {version}, expected version {VERSION}");
            return Err(fault(name, problem, "use the rankwise that wrote it, or convert the data again"));
        }
        check_seal(header, HEADER - 4).ok_or_else(|| damaged(name, "the header"))?;
        let flags = u32_at(header, 12);
        let has = |flag: u32| flags & flag != 0;
        let n = |at: usize| usize::try_from(u64_at(header, at)).unwrap_or(usize::MAX);
        let shape = Shape {
            n_items: n(16),
            n_features: n(24),
            n_groups: n(32),
            n_stored: n(40),
            is_sparse: has(SPARSE),
            is_f32: !has(F64),
            has_labels: has(LABELS),
            has_groups: has(GROUPS),
            has_weights: has(WEIGHTS),
            has_group_weights: has(GROUP_WEIGHTS),
            has_ids: has(IDS),
            has_names: has(NAMES),
        };
        let is_full = shape.is_sparse || shape.n_items.checked_mul(shape.n_features) == Some(shape.n_stored);
        let is_sound = flags & !ALL_FLAGS == 0
            && shape.n_items <= u32::MAX as usize
            && shape.n_groups <= shape.n_items
            && shape.n_features as u64 <= MOST_FEATURES
            && (shape.has_groups || shape.n_groups <= 1)
            && is_full;
        if is_sound { Ok(shape) } else { Err(impossible(name, "the header")) }
    }
}

/// Where the index is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Footer {
    pub(super) index_offset: u64,
    pub(super) index_bytes: u64,
    pub(super) n_blocks: u64,
    pub(super) file_bytes: u64,
    pub(super) index_crc: u32,
}

impl Footer {
    pub(super) fn bytes(&self) -> [u8; FOOTER] {
        let mut out = Vec::with_capacity(FOOTER);
        for n in [self.index_offset, self.index_bytes, self.n_blocks, self.file_bytes] {
            out.extend(n.to_le_bytes());
        }
        out.extend(self.index_crc.to_le_bytes());
        let mut out: [u8; FOOTER] = sealed(out, FOOTER - 12);
        out[FOOTER - 8..].copy_from_slice(&MAGIC);
        out
    }

    /// Reads the footer of a file of this length.
    pub(super) fn of_bytes(footer: &[u8; FOOTER], file_bytes: u64, name: &str) -> Result<Self> {
        let found = Footer {
            index_offset: u64_at(footer, 0),
            index_bytes: u64_at(footer, 8),
            n_blocks: u64_at(footer, 16),
            file_bytes: u64_at(footer, 24),
            index_crc: u32_at(footer, 32),
        };
        if footer[FOOTER - 8..] != MAGIC || check_seal(footer, FOOTER - 12).is_none() {
            return Err(fault(name, "the file has no end: it was cut off, or it is damaged", AGAIN));
        }
        let end = found.index_offset.checked_add(found.index_bytes).and_then(|end| end.checked_add(FOOTER as u64));
        let has_entries = found.n_blocks.checked_mul(ENTRY as u64).is_some_and(|bytes| bytes <= found.index_bytes);
        let is_sound = found.file_bytes == file_bytes
            && end == Some(file_bytes)
            && found.index_offset >= HEADER as u64
            && found.index_offset.is_multiple_of(ALIGNMENT)
            && has_entries;
        if is_sound { Ok(found) } else { Err(impossible(name, "the end of the file")) }
    }
}

/// A block in the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) offset: u64,
    pub(super) n_items: u64,
    /// Runs of items of one group.
    pub(super) n_runs: u64,
    pub(super) n_stored: u64,
    /// Bytes of the names of groups and of ids.
    pub(super) n_text: u64,
    pub(super) crc: u32,
    /// The first run goes on with the last group of the block before.
    pub(super) goes_on: bool,
}

impl Entry {
    pub(super) fn bytes(&self) -> [u8; ENTRY] {
        let mut out = [0; ENTRY];
        let numbers = [self.offset, self.n_items, self.n_runs, self.n_stored, self.n_text];
        for (to, n) in out.chunks_exact_mut(8).zip(numbers) {
            to.copy_from_slice(&n.to_le_bytes());
        }
        out[40..44].copy_from_slice(&self.crc.to_le_bytes());
        out[44] = u8::from(self.goes_on);
        out
    }

    /// Reads an entry; `None` if it is none.
    pub(super) fn of_bytes(entry: &[u8]) -> Option<Self> {
        let is_flag = entry[44] <= 1 && entry[45..48] == [0; 3];
        is_flag.then(|| Entry {
            offset: u64_at(entry, 0),
            n_items: u64_at(entry, 8),
            n_runs: u64_at(entry, 16),
            n_stored: u64_at(entry, 24),
            n_text: u64_at(entry, 32),
            crc: u32_at(entry, 40),
            goes_on: entry[44] == 1,
        })
    }
}

/// An array of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Array {
    /// u32 per item: how many numbers its row has.
    Lengths,
    /// u32 per number of a row.
    Columns,
    /// The numbers.
    Values,
    /// f64 per item.
    Labels,
    /// f64 per item.
    Weights,
    /// u32 per run: how many items it has.
    Runs,
    /// f64 per run.
    GroupWeights,
    /// u32 per run: how long its name is.
    NameLengths,
    /// u32 per item: how long its id is.
    IdLengths,
    /// Names of runs, then ids.
    Text,
}

/// An array, its offset in the file, and its bytes without what fills up to the next one.
pub(super) type Placed = (Array, u64, u64);

/// The arrays of a block in their order, and where the block ends. `None` where that is beyond all numbers.
pub(super) fn arrays(shape: &Shape, entry: &Entry) -> Option<(Vec<Placed>, u64)> {
    let every = [
        (Array::Lengths, shape.is_sparse, entry.n_items.checked_mul(4)?),
        (Array::Columns, shape.is_sparse, entry.n_stored.checked_mul(4)?),
        (Array::Values, true, entry.n_stored.checked_mul(shape.bytes_of_number())?),
        (Array::Labels, shape.has_labels, entry.n_items.checked_mul(8)?),
        (Array::Weights, shape.has_weights, entry.n_items.checked_mul(8)?),
        (Array::Runs, true, entry.n_runs.checked_mul(4)?),
        (Array::GroupWeights, shape.has_group_weights, entry.n_runs.checked_mul(8)?),
        (Array::NameLengths, shape.has_groups, entry.n_runs.checked_mul(4)?),
        (Array::IdLengths, shape.has_ids, entry.n_items.checked_mul(4)?),
        (Array::Text, shape.has_groups || shape.has_ids, entry.n_text),
    ];
    let (mut arrays, mut at) = (Vec::new(), entry.offset);
    for (array, is_there, bytes) in every {
        if is_there {
            arrays.push((array, at, bytes));
            at = at.checked_add(bytes)?.checked_next_multiple_of(ALIGNMENT)?;
        }
    }
    Some((arrays, at))
}

/// Zeros up to a place, and the checksum of what is before it.
fn sealed<const N: usize>(mut bytes: Vec<u8>, at: usize) -> [u8; N] {
    bytes.resize(at, 0);
    let crc = crc32fast::hash(&bytes);
    let mut out = [0; N];
    out[..at].copy_from_slice(&bytes);
    out[at..at + 4].copy_from_slice(&crc.to_le_bytes());
    out
}

/// Whether a checksum is the one that was stored; in fuzzing any is, or nothing behind it would ever be reached.
pub(super) fn is_checksum(found: u32, stored: u32) -> bool {
    found == stored || cfg!(fuzzing)
}

fn check_seal(bytes: &[u8], at: usize) -> Option<()> {
    is_checksum(crc32fast::hash(&bytes[..at]), u32_at(bytes, at)).then_some(())
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |n, &byte| n << 8 | u32::from(byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte))
}

pub(super) const AGAIN: &str = "convert the data again, or fetch the file again";

pub(super) fn fault(name: &str, problem: impl Into<String>, remedy: &str) -> Error {
    Error::data(Place::file(name), problem, remedy)
}

/// A checksum does not fit.
pub(super) fn damaged(name: &str, part: &str) -> Error {
    fault(name, format!("{part} is damaged: its checksum does not fit"), AGAIN)
}

/// Checksums fit, numbers do not: nobody but an adversary, or another program, writes that.
pub(super) fn impossible(name: &str, part: &str) -> Error {
    fault(name, format!("{part} contradicts the rest of the file"), "convert the data again with rankwise")
}
