//! Features of a block file by rows, for whoever reads some of them again and again.

use std::ops::Range;

use rayon::prelude::*;

use super::layout::Array;
use super::positioned::{Little, read_numbers};
use super::reader::{Block, BlockFile};
use crate::data::{Features, RowSource, Values, rows_are_gone};
use crate::error::Result;

/// Numbers beyond which all threads read: a whole file, not a part of it, which is read beside other work.
const WORTH_THREADS: usize = 1 << 23;

/// The rows of a block file.
#[derive(Debug)]
pub(super) struct BlockRows {
    file: BlockFile,
    /// Where each row of a sparse matrix begins among all numbers, and where the last one ends.
    starts: Vec<u64>,
}

impl BlockRows {
    /// Reads how long rows are; the file was verified.
    pub(super) fn new(file: BlockFile) -> Result<Self> {
        let mut starts = Vec::new();
        if file.shape.is_sparse {
            let lengths: Vec<u32> = file.arrays(&file.blocks, Array::Lengths)?;
            starts.reserve_exact(lengths.len() + 1);
            starts.push(0);
            let mut end = 0;
            starts.extend(lengths.iter().map(|&length| {
                end += u64::from(length);
                end
            }));
            if end != file.shape.n_stored as u64 {
                return Err(rows_are_gone(&file.name));
            }
        }
        Ok(BlockRows { file, starts })
    }

    fn start(&self, row: usize) -> usize {
        if self.file.shape.is_sparse { self.starts[row] as usize } else { row * self.file.shape.n_features }
    }
}

impl RowSource for BlockRows {
    fn n_rows(&self) -> usize {
        self.file.shape.n_items
    }

    fn n_cols(&self) -> usize {
        self.file.shape.n_features
    }

    fn is_sparse(&self) -> bool {
        self.file.shape.is_sparse
    }

    fn is_f32(&self) -> bool {
        self.file.shape.is_f32
    }

    fn n_stored(&self) -> usize {
        self.file.shape.n_stored
    }

    fn n_stored_in_row(&self, row: usize) -> usize {
        if self.file.shape.is_sparse {
            (self.starts[row + 1] - self.starts[row]) as usize
        } else {
            self.file.shape.n_features
        }
    }

    fn load(&self, runs: &[Range<usize>], into: &mut Features) -> Result<()> {
        let n_rows = runs.iter().map(Range::len).sum();
        let empty = Features::trusted(0, 0, Values::F32(Vec::new().into()), None);
        let (values, mut starts, mut columns) = std::mem::replace(into, empty).into_buffers();
        // Numbers among all numbers.
        let stored: Vec<Range<usize>> = runs.iter().map(|run| self.start(run.start)..self.start(run.end)).collect();
        let n_stored = stored.iter().map(Range::len).sum();
        let file = &self.file;
        let values = if file.shape.is_f32 {
            let memory = if let Values::F32(buffer) = values { buffer.into_memory() } else { Vec::new() };
            Values::F32(file.gather(Array::Values, &stored, n_stored, memory)?.into())
        } else {
            let memory = if let Values::F64(buffer) = values { buffer.into_memory() } else { Vec::new() };
            Values::F64(file.gather(Array::Values, &stored, n_stored, memory)?.into())
        };
        let sparse = if file.shape.is_sparse {
            columns = file.gather(Array::Columns, &stored, n_stored, columns)?;
            file.check_columns(&columns)?;
            starts.clear();
            starts.push(0);
            let mut before = 0;
            for (run, stored) in runs.iter().zip(&stored) {
                let first = stored.start;
                starts.extend(run.clone().map(|row| before + self.start(row + 1) - first));
                before += stored.len();
            }
            Some((starts, columns))
        } else {
            None
        };
        *into = Features::trusted(n_rows, file.shape.n_features, values, sparse);
        Ok(())
    }
}

impl BlockFile {
    /// Numbers of an array that has one for each stored number, by their place among all of them.
    fn gather<T: Little>(
        &self,
        array: Array,
        wanted: &[Range<usize>],
        n_wanted: usize,
        mut out: Vec<T>,
    ) -> Result<Vec<T>> {
        out.resize(n_wanted, T::zeroed());
        let (mut parts, mut rest) = (Vec::new(), out.as_mut_slice());
        for range in wanted {
            let mut at = range.start;
            let mut number = self.blocks.partition_point(|block| block.first_stored <= at).saturating_sub(1);
            while at < range.end {
                let Some(block) = self.blocks.get(number) else { return Err(rows_are_gone(&self.name)) };
                let end = range.end.min(block.first_stored + block.entry.n_stored as usize);
                if end > at {
                    let (here, after) = std::mem::take(&mut rest).split_at_mut(end - at);
                    let offset = block.array(array).0 + ((at - block.first_stored) * size_of::<T>()) as u64;
                    parts.push((offset, here));
                    (rest, at) = (after, end);
                }
                number += 1;
            }
        }
        let read = |(offset, here): (u64, &mut [T])| {
            read_numbers(&self.file, offset, here).map_err(|source| self.failed(source))
        };
        if n_wanted > WORTH_THREADS {
            parts.into_par_iter().try_for_each(read)?
        } else {
            parts.into_iter().try_for_each(read)?
        }
        Ok(out)
    }

    /// A file that changes after it was verified must not lead anywhere.
    fn check_columns(&self, columns: &[u32]) -> Result<()> {
        let largest = columns.iter().copied().max().unwrap_or(0);
        let is_sound = columns.is_empty() || (largest as usize) < self.shape.n_features;
        if is_sound { Ok(()) } else { Err(rows_are_gone(&self.name)) }
    }

    /// The features of one block.
    pub(super) fn block_features(&self, block: &Block) -> Result<Features> {
        let values = match self.shape.is_f32 {
            true => Values::F32(self.array(block, Array::Values)?.into()),
            false => Values::F64(self.array(block, Array::Values)?.into()),
        };
        let sparse = if self.shape.is_sparse {
            let lengths: Vec<u32> = self.array(block, Array::Lengths)?;
            let columns: Vec<u32> = self.array(block, Array::Columns)?;
            self.check_columns(&columns)?;
            let mut end = 0;
            let ends = lengths.iter().map(|&length| {
                end += length as usize;
                end
            });
            let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
            if starts.last() != Some(&columns.len()) {
                return Err(rows_are_gone(&self.name));
            }
            Some((starts, columns))
        } else {
            None
        };
        Ok(Features::trusted(block.entry.n_items as usize, self.shape.n_features, values, sparse))
    }
}
