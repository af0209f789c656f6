//! Rows of features as they come in, dense or compressed, whichever takes less memory.

use std::collections::HashSet;

use super::digits::ColumnDigits;
use super::features::{Features, Stored};
use super::ranges::{ColumnRanges, has_f32_magnitude};

/// Some rows: row `i` ends where `ends[i]` says and begins where the one before ends.
pub(crate) struct Block<'a, T> {
    /// Where each row ends.
    pub(crate) ends: &'a [usize],
    /// The columns of the values, ascending in each row; `None`: each row has the first ones.
    pub(crate) columns: Option<&'a [u32]>,
    /// The numbers, zeros among them or not.
    pub(crate) values: &'a [T],
    /// Above all columns.
    pub(crate) width: usize,
    /// How many of the values are not 0.
    pub(crate) n_nonzero: usize,
}

impl<T> Block<'_, T> {
    /// Columns (if not the first ones) and values of every row.
    fn rows(&self) -> impl Iterator<Item = (Option<&[u32]>, &[T])> {
        let starts = std::iter::once(&0).chain(self.ends);
        starts
            .zip(self.ends)
            .map(|(&start, &end)| (self.columns.map(|columns| &columns[start..end]), &self.values[start..end]))
    }

    fn has_only_full_rows(&self, width: usize) -> bool {
        self.columns.is_none() && self.ends.iter().zip(1..).all(|(&end, row)| end == row * width)
    }
}

#[derive(Debug)]
enum Layout {
    /// Rows begin `stride` numbers apart.
    Dense { stride: usize },
    /// `starts` has one entry per row and one more.
    Sparse { starts: Vec<usize>, columns: Vec<u32> },
}

/// Rows that are still being added to.
#[derive(Debug)]
pub(crate) struct RowStore<T> {
    n_rows: usize,
    width: usize,
    n_nonzero: usize,
    values: Vec<T>,
    layout: Layout,
    /// A wider row has come after others.
    has_moved: bool,
}

impl<T: Stored> RowStore<T> {
    /// No rows yet.
    pub(crate) fn new() -> Self {
        let layout = Layout::Dense { stride: 0 };
        RowStore { n_rows: 0, width: 0, n_nonzero: 0, values: Vec::new(), layout, has_moved: false }
    }

    fn dense_bytes(&self) -> usize {
        self.n_rows.saturating_mul(self.width).saturating_mul(size_of::<T>())
    }

    fn sparse_bytes(&self) -> usize {
        self.n_nonzero * (size_of::<u32>() + size_of::<T>()) + (self.n_rows + 1) * size_of::<usize>()
    }

    /// Adds rows. The layout follows the rows so far, and changes only when the other one is half as large, so that
    /// hostile data cannot make it change all the time.
    pub(crate) fn append(&mut self, block: &Block<'_, T>) {
        let n_before = self.n_rows;
        let width_before = self.width;
        self.n_rows += block.ends.len();
        self.width = self.width.max(block.width);
        self.n_nonzero += block.n_nonzero;
        let (dense, sparse) = (self.dense_bytes(), self.sparse_bytes());
        match self.layout {
            Layout::Dense { .. } if dense > 2 * sparse || (n_before == 0 && dense > sparse) => {
                self.compress(n_before, width_before);
            }
            Layout::Sparse { .. } if sparse / 2 > dense => self.expand(n_before),
            _ => {}
        }
        match &mut self.layout {
            Layout::Sparse { starts, columns } => {
                for (given, values) in block.rows() {
                    for (at, &value) in values.iter().enumerate().filter(|(_, value)| **value != T::ZERO) {
                        columns.push(given.map_or(at as u32, |given| given[at]));
                        self.values.push(value);
                    }
                    starts.push(self.values.len());
                }
            }
            Layout::Dense { stride } => {
                if self.width > *stride {
                    // Rows that keep getting longer must not move all others each time.
                    let wider = if self.has_moved { self.width + self.width / 4 } else { self.width };
                    self.has_moved = n_before > 0;
                    relay(&mut self.values, n_before, *stride, wider);
                    *stride = wider;
                }
                if block.has_only_full_rows(*stride) {
                    self.values.extend_from_slice(block.values);
                    return;
                }
                for (given, values) in block.rows() {
                    let start = self.values.len();
                    self.values.resize(start + *stride, T::ZERO);
                    let row = &mut self.values[start..];
                    match given {
                        None => row[..values.len()].copy_from_slice(values),
                        Some(given) => {
                            given.iter().zip(values).for_each(|(&column, &value)| row[column as usize] = value)
                        }
                    }
                }
            }
        }
    }

    /// Dense rows become compressed ones, in place.
    fn compress(&mut self, n_rows: usize, width: usize) {
        let Layout::Dense { stride } = self.layout else { return };
        let (mut starts, mut columns) = (Vec::with_capacity(n_rows + 1), Vec::new());
        let mut kept = 0;
        starts.push(0);
        for row in 0..n_rows {
            for column in 0..width {
                let value = self.values[row * stride + column];
                if value != T::ZERO {
                    self.values[kept] = value;
                    columns.push(column as u32);
                    kept += 1;
                }
            }
            starts.push(kept);
        }
        self.values.truncate(kept);
        self.values.shrink_to_fit();
        self.layout = Layout::Sparse { starts, columns };
    }

    /// Compressed rows become dense ones, in place: from the last number on, each moves back or stays.
    fn expand(&mut self, n_rows: usize) {
        let Layout::Sparse { starts, columns } = &self.layout else { return };
        let width = self.width;
        let values = &mut self.values;
        values.resize(n_rows * width, T::ZERO);
        for row in (0..n_rows).rev() {
            let mut clear_to = (row + 1) * width;
            for at in (starts[row]..starts[row + 1]).rev() {
                let value = values[at];
                let to = row * width + columns[at] as usize;
                values[to..clear_to].fill(T::ZERO);
                values[to] = value;
                clear_to = to;
            }
            values[row * width..clear_to].fill(T::ZERO);
        }
        self.layout = Layout::Dense { stride: width };
    }

    /// Whether f32 is good enough. `are_exact`: the numbers were not rounded; if they were, and it takes their last
    /// digits to tell, the answer is no.
    pub(crate) fn fits_f32(&self, are_exact: bool) -> bool {
        self.ranges_fit_f32(are_exact) && (!are_exact || self.digits_fit_f32())
    }

    fn digits_fit_f32(&self) -> bool {
        let mut digits = ColumnDigits::default();
        let Layout::Dense { stride } = self.layout else {
            self.values.iter().for_each(|value| digits.add_scattered(&[value.to_f64()]));
            return digits.are_apart();
        };
        let mut wide = vec![0.0; self.width];
        for row in self.values.chunks_exact(stride.max(1)) {
            wide.iter_mut().zip(row).for_each(|(wide, value)| *wide = value.to_f64());
            digits.add_row(&wide);
        }
        digits.are_apart()
    }

    fn ranges_fit_f32(&self, are_exact: bool) -> bool {
        match &self.layout {
            Layout::Dense { stride } => {
                let mut ranges = ColumnRanges::default();
                let mut wide = vec![0.0; self.width];
                for row in self.values.chunks_exact((*stride).max(1)) {
                    wide.iter_mut().zip(row).for_each(|(wide, value)| *wide = value.to_f64());
                    ranges.add_row(&wide);
                }
                ranges.fit_f32(are_exact)
            }
            Layout::Sparse { starts, columns } => self.sparse_fits_f32(starts, columns, are_exact),
        }
    }

    /// A column that some row lacks has a 0, so that its spread is not below its magnitude: only columns that all rows
    /// have are to be looked at, and those are among the first row's.
    fn sparse_fits_f32(&self, starts: &[usize], columns: &[u32], are_exact: bool) -> bool {
        let mut full: Vec<u32> = columns[..starts.get(1).copied().unwrap_or(0)].to_vec();
        for row in starts.windows(2).skip(1) {
            if full.is_empty() {
                break;
            }
            let mut here = columns[row[0]..row[1]].iter().peekable();
            full.retain(|column| {
                while here.next_if(|other| *other < column).is_some() {}
                here.peek() == Some(&column)
            });
        }
        let mut ranges = ColumnRanges::default();
        let mut found = vec![0.0; full.len()];
        for row in starts.windows(2).filter(|_| !full.is_empty()) {
            let mut entries = (row[0]..row[1]).filter(|&at| full.binary_search(&columns[at]).is_ok());
            found.iter_mut().zip(&mut entries).for_each(|(found, at)| *found = self.values[at].to_f64());
            ranges.add_row(&found);
        }
        if !ranges.fit_f32(are_exact) {
            return false;
        }
        let entries = || columns.iter().zip(self.values.iter().map(|value| value.to_f64().abs()));
        let mut tiny = HashSet::new();
        for (column, magnitude) in entries().filter(|(_, magnitude)| !has_f32_magnitude(*magnitude)) {
            if magnitude >= 1.0 {
                return false;
            }
            tiny.insert(column);
        }
        if !tiny.is_empty() {
            // Tiny numbers do no harm beside others.
            entries().filter(|(_, magnitude)| has_f32_magnitude(*magnitude)).for_each(|(column, _)| {
                tiny.remove(column);
            });
        }
        tiny.is_empty()
    }

    /// The same in f32.
    pub(crate) fn narrowed(self) -> RowStore<f32> {
        let RowStore { n_rows, width, n_nonzero, values, layout, has_moved } = self;
        let values = values.into_iter().map(T::to_f32).collect();
        RowStore { n_rows, width, n_nonzero, values, layout, has_moved }
    }

    /// The matrix: dense unless compressed rows are smaller. All numbers must be finite. Rows without columns are
    /// compressed ones, which stay small when they get as many columns as a model has.
    pub(crate) fn finish(mut self) -> Features {
        let is_sparse = self.width == 0 || self.dense_bytes() > self.sparse_bytes();
        match (&self.layout, is_sparse) {
            (Layout::Dense { .. }, true) => self.compress(self.n_rows, self.width),
            (Layout::Sparse { .. }, false) => self.expand(self.n_rows),
            _ => {}
        }
        let RowStore { n_rows, width, mut values, layout, .. } = self;
        let rows = match layout {
            Layout::Dense { stride } => {
                relay(&mut values, n_rows, stride, width);
                None
            }
            Layout::Sparse { starts, mut columns } => {
                columns.shrink_to_fit();
                Some((starts, columns))
            }
        };
        values.shrink_to_fit();
        Features::trusted(n_rows, width, T::into_values(values), rows)
    }
}

/// Moves rows that begin `old` numbers apart to where they begin `new` numbers apart; new places are 0.
fn relay<T: Stored>(values: &mut Vec<T>, n_rows: usize, old: usize, new: usize) {
    if new > old {
        values.resize(n_rows * new, T::ZERO);
        for row in (0..n_rows).rev() {
            values.copy_within(row * old..(row + 1) * old, row * new);
            values[row * new + old..(row + 1) * new].fill(T::ZERO);
        }
    } else if new < old {
        for row in 0..n_rows {
            values.copy_within(row * old..row * old + new, row * new);
        }
        values.truncate(n_rows * new);
    }
}
