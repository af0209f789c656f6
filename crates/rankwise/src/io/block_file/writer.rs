//! Rows one after the other into a block file.

use std::io::{self, Write};

use super::layout::{self, Array, Entry, Footer, HEADER, Shape};
use super::positioned::little_bytes;

/// An item to be written. What the file has not is not looked at, what it has must be there.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct NewRow<'a> {
    pub(in super::super) label: f64,
    pub(in super::super) weight: f64,
    /// Whether the item is of another group than the one before.
    pub(in super::super) begins_group: bool,
    pub(in super::super) group: &'a str,
    pub(in super::super) group_weight: f64,
    pub(in super::super) id: &'a str,
    /// Columns of the values, ascending; `None`: the first ones. What is not there is 0.
    pub(in super::super) columns: Option<&'a [u32]>,
    pub(in super::super) values: &'a [f64],
}

/// A block file that is being written.
pub(in super::super) struct BlockWriter<'a> {
    out: &'a mut dyn Write,
    shape: Shape,
    names: Option<&'a [String]>,
    block_bytes: u64,
    entries: Vec<Entry>,
    at: u64,
    n_written: Shape,
    open: Open,
}

/// The arrays of a block that is being filled.
#[derive(Default)]
struct Open {
    lengths: Vec<u32>,
    columns: Vec<u32>,
    /// One of the two.
    singles: Vec<f32>,
    doubles: Vec<f64>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    runs: Vec<u32>,
    group_weights: Vec<f64>,
    name_lengths: Vec<u32>,
    names: Vec<u8>,
    id_lengths: Vec<u32>,
    ids: Vec<u8>,
    n_items: u64,
    n_stored: u64,
    goes_on: bool,
}

impl<'a> BlockWriter<'a> {
    /// A file of this shape; `names` of the features if it says so. A block ends with the group with which it has so many
    /// bytes; at twice that it ends anywhere.
    pub(in super::super) fn new(
        out: &'a mut dyn Write,
        shape: Shape,
        names: Option<&'a [String]>,
        block_bytes: u64,
    ) -> io::Result<Self> {
        out.write_all(&shape.header())?;
        let names = names.filter(|_| shape.has_names);
        let n_written = Shape { n_items: 0, n_groups: 0, n_stored: 0, ..shape };
        let (entries, open) = (Vec::new(), Open::default());
        Ok(BlockWriter { out, shape, names, block_bytes, entries, at: HEADER as u64, n_written, open })
    }

    /// Adds an item.
    pub(in super::super) fn push(&mut self, row: &NewRow<'_>) -> io::Result<()> {
        let begins = row.begins_group || self.n_written.n_items == 0;
        let bytes = self.open.bytes();
        if self.open.n_items > 0 && ((begins && bytes >= self.block_bytes) || bytes >= 2 * self.block_bytes) {
            self.flush()?;
        }
        let (shape, open) = (&self.shape, &mut self.open);
        open.add_values(shape, row.columns, row.values);
        if shape.has_labels {
            open.labels.push(row.label);
        }
        if shape.has_weights {
            open.weights.push(row.weight);
        }
        match open.runs.last_mut() {
            Some(run) if !begins => *run += 1,
            _ => {
                open.goes_on |= !begins;
                open.runs.push(1);
                if shape.has_group_weights {
                    open.group_weights.push(row.group_weight);
                }
                if shape.has_groups {
                    open.name_lengths.push(row.group.len() as u32);
                    open.names.extend(row.group.as_bytes());
                }
            }
        }
        if shape.has_ids {
            open.id_lengths.push(row.id.len() as u32);
            open.ids.extend(row.id.as_bytes());
        }
        open.n_items += 1;
        self.n_written.n_items += 1;
        self.n_written.n_groups += usize::from(begins);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let open = &mut self.open;
        let mut entry = Entry {
            offset: self.at,
            n_items: open.n_items,
            n_runs: open.runs.len() as u64,
            n_stored: open.n_stored,
            n_text: (open.names.len() + open.ids.len()) as u64,
            crc: 0,
            goes_on: open.goes_on,
        };
        let too_large = || io::Error::other("a block beyond all numbers");
        let (arrays, end) = layout::arrays(&self.shape, &entry).ok_or_else(too_large)?;
        open.names.append(&mut open.ids);
        let mut hasher = crc32fast::Hasher::new();
        for (at, &(array, start, bytes)) in arrays.iter().enumerate() {
            let content = match array {
                Array::Lengths => little_bytes(&open.lengths),
                Array::Columns => little_bytes(&open.columns),
                Array::Values if self.shape.is_f32 => little_bytes(&open.singles),
                Array::Values => little_bytes(&open.doubles),
                Array::Labels => little_bytes(&open.labels),
                Array::Weights => little_bytes(&open.weights),
                Array::Runs => little_bytes(&open.runs),
                Array::GroupWeights => little_bytes(&open.group_weights),
                Array::NameLengths => little_bytes(&open.name_lengths),
                Array::IdLengths => little_bytes(&open.id_lengths),
                Array::Text => little_bytes(&open.names),
            };
            debug_assert_eq!(content.len() as u64, bytes);
            let next = arrays.get(at + 1).map_or(end, |next| next.1);
            let filling = [0; layout::ALIGNMENT as usize];
            let filling = &filling[..(next - start - bytes) as usize];
            for part in [&content[..], filling] {
                hasher.update(part);
                self.out.write_all(part)?;
            }
        }
        entry.crc = hasher.finalize();
        self.n_written.n_stored += open.n_stored as usize;
        self.entries.push(entry);
        self.at = end;
        open.clear();
        Ok(())
    }

    /// Writes index and end. False if what was written is not what was announced, so that the file is none.
    pub(in super::super) fn finish(mut self) -> io::Result<bool> {
        if self.open.n_items > 0 {
            self.flush()?;
        }
        let mut index: Vec<u8> = self.entries.iter().flat_map(Entry::bytes).collect();
        for name in self.names.into_iter().flatten() {
            index.extend((name.len() as u32).to_le_bytes());
            index.extend(name.as_bytes());
        }
        let footer = Footer {
            index_offset: self.at,
            index_bytes: index.len() as u64,
            n_blocks: self.entries.len() as u64,
            file_bytes: self.at + (index.len() + layout::FOOTER) as u64,
            index_crc: crc32fast::hash(&index),
        };
        self.out.write_all(&index)?;
        self.out.write_all(&footer.bytes())?;
        Ok(self.n_written == self.shape)
    }
}

impl Open {
    fn bytes(&self) -> u64 {
        let numbers = 4 * (self.singles.len() + 2 * self.doubles.len() + self.columns.len());
        (numbers + self.names.len() + self.ids.len()) as u64 + 16 * self.n_items
    }

    fn add_values(&mut self, shape: &Shape, columns: Option<&[u32]>, values: &[f64]) {
        if shape.is_sparse {
            let before = self.columns.len();
            for (at, &value) in values.iter().enumerate() {
                let is_zero = if shape.is_f32 { value as f32 == 0.0 } else { value == 0.0 };
                if !is_zero {
                    self.columns.push(columns.map_or(at as u32, |columns| columns[at]));
                    if shape.is_f32 { self.singles.push(value as f32) } else { self.doubles.push(value) }
                }
            }
            let n = self.columns.len() - before;
            self.lengths.push(n as u32);
            self.n_stored += n as u64;
            return;
        }
        self.n_stored += shape.n_features as u64;
        if shape.is_f32 {
            add_dense(&mut self.singles, shape.n_features, columns, values, |value| value as f32);
        } else {
            add_dense(&mut self.doubles, shape.n_features, columns, values, |value| value);
        }
    }

    fn clear(&mut self) {
        // The memory is kept.
        let Open { lengths, columns, runs, name_lengths, id_lengths, .. } = self;
        [lengths, columns, runs, name_lengths, id_lengths].into_iter().for_each(Vec::clear);
        let Open { doubles, labels, weights, group_weights, .. } = self;
        [doubles, labels, weights, group_weights].into_iter().for_each(Vec::clear);
        self.singles.clear();
        self.names.clear();
        self.ids.clear();
        (self.n_items, self.n_stored, self.goes_on) = (0, 0, false);
    }
}

/// Adds a row with its zeros.
fn add_dense<T: Copy + Default>(
    to: &mut Vec<T>,
    n_features: usize,
    columns: Option<&[u32]>,
    values: &[f64],
    stored: impl Fn(f64) -> T,
) {
    let start = to.len();
    match columns {
        None => to.extend(values.iter().map(|&value| stored(value))),
        Some(columns) => {
            to.resize(start + n_features, T::default());
            columns.iter().zip(values).for_each(|(&column, &value)| to[start + column as usize] = stored(value));
        }
    }
    to.resize(start + n_features, T::default());
}
