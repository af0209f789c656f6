//! A block file that was opened: its index in memory, everything else read when it is asked for.
//!
//! Nothing of what a file says is believed before it was held against the length of the file, so that no file makes the
//! reader ask for more memory than the file is long. Checksums are verified once, by [`BlockFile::verify`], which looks at
//! every number as well; later reads of features only make sure that numbers of columns are such.

use std::fs::File;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::layout::{
    self, Array, ENTRY, Entry, FOOTER, Footer, HEADER, Placed, Shape, damaged, fault, impossible, is_checksum, u32_at,
};
use super::positioned::{Little, read_exact, read_numbers};
use crate::data::Features;
use crate::error::{Error, Result};

/// Bytes that are verified at a time.
const VERIFIED_AT_A_TIME: usize = 1 << 20;

/// A block as the index has it, and what is before it.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) entry: Entry,
    pub(super) first_stored: usize,
    arrays: Vec<Placed>,
    end: u64,
}

impl Block {
    /// Where an array begins, and how many bytes it has; nothing of an array that is not there.
    pub(super) fn array(&self, wanted: Array) -> (u64, u64) {
        let found = self.arrays.iter().find(|(array, ..)| *array == wanted);
        found.map_or((self.entry.offset, 0), |&(_, offset, bytes)| (offset, bytes))
    }
}

/// A file of items in binary blocks, opened.
///
/// ```
/// use rankwise::io::{BlockFile, Columns, Conversion, Source, convert};
///
/// let folder = tempfile::tempdir()?;
/// let (text, blocks) = (folder.path().join("a.letor"), folder.path().join("a.rwb"));
/// std::fs::write(&text, "2 qid:7 1:0.5 2:3\n0 qid:7 1:0.25\n1 qid:9 2:4\n")?;
/// convert(&Source::parse(&text.to_string_lossy(), None)?, &Columns::default(), &blocks, &Conversion::default())?;
/// let file = BlockFile::open(&blocks)?;
/// file.verify()?;
/// assert_eq!((file.n_items(), file.n_groups(), file.n_features()), (3, 2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BlockFile {
    pub(super) file: File,
    path: PathBuf,
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) blocks: Vec<Block>,
    feature_names: Option<Vec<String>>,
}

/// The names of groups and ids of a block.
pub(in super::super) struct TextOfBlock {
    /// One for each run of items.
    pub(in super::super) groups: Vec<String>,
    /// One for each item.
    pub(in super::super) ids: Vec<String>,
}

/// All of a block.
pub(in super::super) struct RowPart {
    pub(in super::super) features: Features,
    pub(in super::super) labels: Vec<f64>,
    pub(in super::super) weights: Vec<f64>,
    pub(in super::super) runs: Vec<u32>,
    pub(in super::super) group_weights: Vec<f64>,
    pub(in super::super) text: TextOfBlock,
}

impl BlockFile {
    /// Opens a file and reads its index.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |action| move |source| Error::Io { path: path.to_path_buf(), action, source };
        let name = path.display().to_string();
        let file = File::open(path).map_err(io("open"))?;
        let found = file.metadata().map_err(io("open"))?;
        if !found.is_file() {
            let problem = "not a file on a disk, of which any place can be read";
            return Err(fault(&name, problem, "save it to a file first"));
        }
        let length = found.len();
        let mut header = [0; HEADER];
        let n = (HEADER as u64).min(length) as usize;
        read_exact(&file, 0, &mut header[..n]).map_err(io("read"))?;
        let shape = Shape::of_header(&header, &name)?;
        let mut footer = [0; FOOTER];
        if length >= (HEADER + FOOTER) as u64 {
            read_exact(&file, length - FOOTER as u64, &mut footer).map_err(io("read"))?;
        }
        let footer = Footer::of_bytes(&footer, length, &name)?;
        let mut index = vec![0; footer.index_bytes as usize];
        read_exact(&file, footer.index_offset, &mut index).map_err(io("read"))?;
        if !is_checksum(crc32fast::hash(&index), footer.index_crc) {
            return Err(damaged(&name, "the index"));
        }
        let (entries, names) = index.split_at(footer.n_blocks as usize * ENTRY);
        let blocks = blocks_of(entries, &shape, footer.index_offset).ok_or_else(|| impossible(&name, "the index"))?;
        let feature_names = names_of(names, &shape).ok_or_else(|| impossible(&name, "the names of features"))?;
        Ok(BlockFile { file, path: path.to_path_buf(), name, shape, blocks, feature_names })
    }

    /// How many items there are.
    pub fn n_items(&self) -> usize {
        self.shape.n_items
    }

    /// How many features an item has.
    pub fn n_features(&self) -> usize {
        self.shape.n_features
    }

    /// How many groups there are.
    pub fn n_groups(&self) -> usize {
        self.shape.n_groups
    }

    /// How many numbers are stored: all of a dense matrix, those other than 0 of a sparse one.
    pub fn n_stored(&self) -> usize {
        self.shape.n_stored
    }

    /// Whether rows are stored compressed.
    pub fn is_sparse(&self) -> bool {
        self.shape.is_sparse
    }

    /// Whether features are stored in f32.
    pub fn is_f32(&self) -> bool {
        self.shape.is_f32
    }

    /// How many blocks there are.
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Names of the features, where the source had names.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// Bytes that the items take in memory, about: features and what there is one number per item of.
    pub fn bytes_in_memory(&self) -> usize {
        let of_number = self.shape.bytes_of_number() as usize + if self.shape.is_sparse { 4 } else { 0 };
        let text: u64 = self.blocks.iter().map(|block| block.entry.n_text).sum();
        let of_item = 12
            + [(self.shape.is_sparse, 8), (self.shape.has_weights, 8), (self.shape.has_ids, 40)]
                .into_iter()
                .filter(|(has, _)| *has)
                .map(|(_, bytes)| bytes)
                .sum::<usize>();
        let of_learning = 80;
        self.shape
            .n_stored
            .saturating_mul(of_number)
            .saturating_add(self.shape.n_items.saturating_mul(of_item + of_learning))
            .saturating_add(text as usize)
    }

    pub(super) fn failed(&self, source: std::io::Error) -> Error {
        if source.kind() == std::io::ErrorKind::UnexpectedEof {
            return crate::data::rows_are_gone(&self.name);
        }
        Error::Io { path: self.path.clone(), action: "read", source }
    }

    /// Reads the whole file once and compares all checksums; looks at every number, too. On all threads.
    pub fn verify(&self) -> Result<()> {
        (0..self.blocks.len()).into_par_iter().try_for_each(|number| self.verify_block(number))
    }

    fn verify_block(&self, number: usize) -> Result<()> {
        let block = &self.blocks[number];
        let (mut hasher, mut looks) = (crc32fast::Hasher::new(), Looks::new(&self.shape, &block.entry));
        // In eights, so that it can be seen as numbers of any kind.
        let mut buffer = vec![0u64; VERIFIED_AT_A_TIME / 8];
        for (at, &(array, start, bytes)) in block.arrays.iter().enumerate() {
            let end = block.arrays.get(at + 1).map_or(block.end, |next| next.1);
            let mut place = start;
            while place < end {
                let n = ((end - place) as usize).min(VERIFIED_AT_A_TIME);
                let piece = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut buffer)[..n];
                read_exact(&self.file, place, piece).map_err(|source| self.failed(source))?;
                hasher.update(piece);
                let n_real = (start + bytes).saturating_sub(place).min(n as u64) as usize;
                looks.look(array, &piece[..n_real]);
                place += n as u64;
            }
        }
        let part = || format!("block {} of {}", number + 1, self.blocks.len());
        if !is_checksum(hasher.finalize(), block.entry.crc) {
            return Err(damaged(&self.name, &part()));
        }
        if looks.are_sound() { Ok(()) } else { Err(impossible(&self.name, &part())) }
    }

    /// An array of one block.
    pub(super) fn array<T: Little>(&self, block: &Block, array: Array) -> Result<Vec<T>> {
        let (offset, bytes) = block.array(array);
        let mut out = vec![T::zeroed(); bytes as usize / size_of::<T>()];
        read_numbers(&self.file, offset, &mut out).map_err(|source| self.failed(source))?;
        Ok(out)
    }

    /// An array of some blocks one after the other.
    pub(super) fn arrays<T: Little>(&self, blocks: &[Block], array: Array) -> Result<Vec<T>> {
        let n: u64 = blocks.iter().map(|block| block.array(array).1).sum();
        let mut out = vec![T::zeroed(); n as usize / size_of::<T>()];
        let mut rest = out.as_mut_slice();
        for block in blocks {
            let (offset, bytes) = block.array(array);
            let (here, after) = std::mem::take(&mut rest).split_at_mut(bytes as usize / size_of::<T>());
            read_numbers(&self.file, offset, here).map_err(|source| self.failed(source))?;
            rest = after;
        }
        Ok(out)
    }

    /// Names of groups and ids of a block.
    pub(super) fn text(&self, block: &Block) -> Result<TextOfBlock> {
        let text: Vec<u8> = self.array(block, Array::Text)?;
        let mut rest = text.as_slice();
        let mut cut = |lengths: Vec<u32>| -> Option<Vec<String>> {
            let next = |length: u32| {
                let (word, after) = rest.split_at_checked(length as usize)?;
                rest = after;
                Some(std::str::from_utf8(word).ok()?.to_string())
            };
            lengths.into_iter().map(next).collect()
        };
        let groups = cut(self.array(block, Array::NameLengths)?);
        let ids = cut(self.array(block, Array::IdLengths)?);
        match (groups, ids) {
            (Some(groups), Some(ids)) if rest.is_empty() => Ok(TextOfBlock { groups, ids }),
            _ => Err(impossible(&self.name, "the text of a block")),
        }
    }

    /// All of a block.
    pub(in super::super) fn part(&self, number: usize) -> Result<RowPart> {
        let block = &self.blocks[number];
        Ok(RowPart {
            features: self.block_features(block)?,
            labels: self.array(block, Array::Labels)?,
            weights: self.array(block, Array::Weights)?,
            runs: self.array(block, Array::Runs)?,
            group_weights: self.array(block, Array::GroupWeights)?,
            text: self.text(block)?,
        })
    }
}

/// What the index says of blocks; `None` where it cannot be so.
fn blocks_of(entries: &[u8], shape: &Shape, end: u64) -> Option<Vec<Block>> {
    let (mut blocks, mut at) = (Vec::new(), HEADER as u64);
    let (mut n_items, mut n_stored, mut n_groups) = (0usize, 0usize, 0usize);
    for entry in entries.chunks_exact(ENTRY) {
        let entry = Entry::of_bytes(entry)?;
        let (arrays, after) = layout::arrays(shape, &entry)?;
        let is_full = shape.is_sparse || entry.n_items.checked_mul(shape.n_features as u64) == Some(entry.n_stored);
        let is_sound = entry.offset == at
            && after <= end
            && entry.n_items > 0
            && (1..=entry.n_items).contains(&entry.n_runs)
            && !(entry.goes_on && n_items == 0)
            && (shape.has_groups || shape.has_ids || entry.n_text == 0)
            && is_full;
        if !is_sound {
            return None;
        }
        blocks.push(Block { entry, first_stored: n_stored, arrays, end: after });
        // Within the file, and so within all numbers.
        n_items = n_items.checked_add(usize::try_from(entry.n_items).ok()?)?;
        n_stored = n_stored.checked_add(usize::try_from(entry.n_stored).ok()?)?;
        n_groups += entry.n_runs as usize - usize::from(entry.goes_on);
        at = after;
    }
    let is_whole = at == end && (n_items, n_stored, n_groups) == (shape.n_items, shape.n_stored, shape.n_groups);
    is_whole.then_some(blocks)
}

fn names_of(mut bytes: &[u8], shape: &Shape) -> Option<Option<Vec<String>>> {
    if !shape.has_names {
        return bytes.is_empty().then_some(None);
    }
    let mut names = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_at_checked(4)?;
        let (name, rest) = rest.split_at_checked(u32_at(length, 0) as usize)?;
        names.push(std::str::from_utf8(name).ok()?.to_string());
        bytes = rest;
    }
    (names.len() == shape.n_features).then_some(Some(names))
}

/// What is seen of a block's numbers while they pass by.
struct Looks {
    n_features: u32,
    is_f32: bool,
    entry: Entry,
    /// Ends of rows in the columns, and how far they were followed.
    row_ends: Vec<u64>,
    row: usize,
    n_columns: u64,
    last_column: Option<u32>,
    n_in_runs: u64,
    is_sound: bool,
}

impl Looks {
    fn new(shape: &Shape, entry: &Entry) -> Self {
        Looks {
            n_features: shape.n_features as u32,
            is_f32: shape.is_f32,
            entry: *entry,
            row_ends: Vec::new(),
            row: 0,
            n_columns: 0,
            last_column: None,
            n_in_runs: 0,
            is_sound: true,
        }
    }

    fn look(&mut self, array: Array, bytes: &[u8]) {
        match array {
            Array::Lengths => {
                let mut end = self.row_ends.last().copied().unwrap_or(0);
                for length in bytes.chunks_exact(4) {
                    end += u64::from(u32_at(length, 0));
                    self.row_ends.push(end);
                }
                if self.row_ends.len() as u64 == self.entry.n_items {
                    self.is_sound &= end == self.entry.n_stored;
                }
            }
            Array::Columns => bytes.chunks_exact(4).for_each(|column| self.look_at_column(u32_at(column, 0))),
            Array::Values if self.is_f32 => {
                // Without an early end, so that it runs in wide loops.
                let numbers = bytes.as_chunks::<4>().0;
                self.is_sound &= numbers.iter().fold(true, |sound, n| sound & f32::from_le_bytes(*n).is_finite());
            }
            Array::Values | Array::Labels => {
                self.is_sound &= doubles(bytes).fold(true, |sound, n| sound & n.is_finite());
            }
            Array::Weights | Array::GroupWeights => {
                self.is_sound &= doubles(bytes).all(|weight| weight.is_finite() && weight >= 0.0);
            }
            Array::Runs => {
                for n in bytes.chunks_exact(4).map(|n| u32_at(n, 0)) {
                    self.is_sound &= n > 0;
                    self.n_in_runs += u64::from(n);
                }
            }
            Array::NameLengths | Array::IdLengths | Array::Text => {} // looked at where they are read
        }
    }

    fn look_at_column(&mut self, column: u32) {
        while self.row_ends.get(self.row).is_some_and(|&end| end <= self.n_columns) {
            self.row += 1;
            self.last_column = None;
        }
        self.is_sound &= column < self.n_features && self.last_column.is_none_or(|last| last < column);
        self.last_column = Some(column);
        self.n_columns += 1;
    }

    fn are_sound(&self) -> bool {
        self.is_sound && self.n_in_runs == self.entry.n_items
    }
}

fn doubles(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number))
}
