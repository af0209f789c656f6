//! Feature matrices: dense or compressed sparse rows, in f32 or f64. The only file that knows how they are stored.

mod check;
mod distances;
mod parts;
mod products;
mod terms;
mod unique;
mod values;

use rayon::prelude::*;

use super::buffer::{Buffer, Shared};
use super::digits::ColumnDigits;
use super::ranges::ColumnRanges;
use crate::error::{Error, Result};
use crate::math::Real;
use check::{check_dense, check_sparse};
pub use parts::{FeatureParts, OwnedNumbers};
pub use values::Numbers;
pub(crate) use values::{Stored, Values};

/// Rows that are worth a thread.
const ROWS_AT_A_TIME: usize = 1 << 10;

/// How dense features are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// f32 when no column's magnitude exceeds its spread a thousandfold and distinct numbers of a column surely stay distinct:
    /// decimals of six digits, some of seven, and numbers of f32. Else f64.
    #[default]
    Auto,
    /// Always f32.
    F32,
    /// Always f64.
    F64,
}

#[derive(Debug, Clone)]
enum Layout {
    Dense,
    /// `starts` has one entry per row and one more; `columns` ascend within a row.
    Sparse {
        starts: Buffer<usize>,
        columns: Buffer<u32>,
    },
}

/// A matrix of features, one row per item.
#[derive(Debug, Clone)]
pub struct Features {
    n_rows: usize,
    n_cols: usize,
    values: Values,
    layout: Layout,
}

impl Features {
    /// Dense rows one after the other, stored in the precision asked for.
    pub fn dense(n_cols: usize, values: Vec<f64>, precision: Precision) -> Result<Self> {
        let n_rows = Self::count_rows(n_cols, values.len())?;
        let values = Values::F64(values.into());
        check_dense(n_cols, &values)?;
        let values = match values {
            Values::F64(wide) if is_narrow(precision, wide.chunks_exact(n_cols.max(1)))? => {
                Values::F32(wide.iter().map(|&v| v as f32).collect())
            }
            values => values,
        };
        Ok(Features { n_rows, n_cols, values, layout: Layout::Dense })
    }

    /// Dense rows in f64, as many as are said: numbers of no columns do not tell.
    pub(crate) fn dense_of(n_rows: usize, n_cols: usize, values: Vec<f64>) -> Result<Self> {
        let features = Self::dense(n_cols, values, Precision::F64)?;
        debug_assert!(n_cols == 0 || features.n_rows == n_rows);
        Ok(Features { n_rows, ..features })
    }

    /// [`Features::dense`] from rows of finite numbers that lie anywhere, without a copy of them in f64 beside.
    pub(crate) fn dense_rows<'a>(
        n_cols: usize,
        rows: impl ExactSizeIterator<Item = &'a [f64]> + Clone,
        precision: Precision,
    ) -> Result<Self> {
        let n_rows = rows.len();
        let numbers = rows.clone().flatten().copied();
        let values = if is_narrow(precision, rows)? {
            let mut values = Vec::with_capacity(n_rows * n_cols);
            values.extend(numbers.map(|v| v as f32));
            Values::F32(values.into())
        } else {
            let mut values = Vec::with_capacity(n_rows * n_cols);
            values.extend(numbers);
            Values::F64(values.into())
        };
        Ok(Features { n_rows, n_cols, values, layout: Layout::Dense })
    }

    /// Dense rows that are f32 already and stay so.
    pub fn dense_f32(n_cols: usize, values: Vec<f32>) -> Result<Self> {
        Self::dense_stored(n_cols, Values::F32(values.into()))
    }

    /// Compressed sparse rows: row `i` holds `columns[starts[i]..starts[i+1]]`, ascending, and their values.
    pub fn sparse(n_cols: usize, starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64>) -> Result<Self> {
        Self::sparse_stored(n_cols, starts, columns, Values::F64(values.into()))
    }

    /// Dense rows that somebody owns: neither copied nor rounded.
    pub fn dense_shared(n_cols: usize, values: Numbers) -> Result<Self> {
        Self::dense_stored(n_cols, values.into())
    }

    /// [`Features::sparse`] with numbers that somebody owns: neither copied nor rounded.
    pub fn sparse_shared(n_cols: usize, starts: Shared<usize>, columns: Shared<u32>, values: Numbers) -> Result<Self> {
        Self::sparse_stored(n_cols, starts, columns, values.into())
    }

    /// Dense rows that stay in the precision they come in.
    pub(crate) fn dense_stored(n_cols: usize, values: Values) -> Result<Self> {
        let n_rows = Self::count_rows(n_cols, values.len())?;
        check_dense(n_cols, &values)?;
        Ok(Features { n_rows, n_cols, values, layout: Layout::Dense })
    }

    /// [`Features::sparse`] in the precision the values come in.
    pub(crate) fn sparse_stored(
        n_cols: usize,
        starts: impl Into<Buffer<usize>>,
        columns: impl Into<Buffer<u32>>,
        values: Values,
    ) -> Result<Self> {
        let (starts, columns) = (starts.into(), columns.into());
        check_sparse(n_cols, &starts, &columns, &values)?;
        let n_rows = starts.len() - 1;
        Ok(Features { n_rows, n_cols, values, layout: Layout::Sparse { starts, columns } })
    }

    /// What the caller knows to be sound: finite numbers; without row starts and columns dense rows, with them those of
    /// [`Features::sparse`].
    pub(crate) fn trusted(
        n_rows: usize,
        n_cols: usize,
        values: Values,
        sparse_rows: Option<(Vec<usize>, Vec<u32>)>,
    ) -> Self {
        let layout = match sparse_rows {
            None => Layout::Dense,
            Some((starts, columns)) => Layout::Sparse { starts: starts.into(), columns: columns.into() },
        };
        Features { n_rows, n_cols, values, layout }
    }

    /// Subtracts from the columns of every row; of numbers that are not stored nothing.
    pub(crate) fn subtract(&mut self, shift: &[f64]) {
        fn less<T: Real>(values: &mut [T], layout: &Layout, shift: &[f64]) {
            let less = |value: &mut T, shift: f64| *value = T::from_f64(value.to_f64() - shift);
            match layout {
                Layout::Dense => {
                    let rows = values.chunks_exact_mut(shift.len().max(1));
                    rows.for_each(|row| row.iter_mut().zip(shift).for_each(|(value, shift)| less(value, *shift)));
                }
                Layout::Sparse { columns, .. } => {
                    let entries = values.iter_mut().zip(columns.iter());
                    entries.for_each(|(value, &column)| less(value, shift[column as usize]));
                }
            }
        }
        match &mut self.values {
            Values::F32(values) => less(values.make_mut(), &self.layout, shift),
            Values::F64(values) => less(values.make_mut(), &self.layout, shift),
        }
    }

    /// The memory of a matrix that is done with: numbers, row starts, columns. None of what somebody else owns.
    pub(crate) fn into_buffers(self) -> (Values, Vec<usize>, Vec<u32>) {
        match self.layout {
            Layout::Dense => (self.values, Vec::new(), Vec::new()),
            Layout::Sparse { starts, columns } => (self.values, starts.into_memory(), columns.into_memory()),
        }
    }

    /// One indicator feature per item: the features of items that have none.
    pub fn indicators(n_items: usize) -> Self {
        Features {
            n_rows: n_items,
            n_cols: n_items,
            values: Values::F32(vec![1.0; n_items].into()),
            layout: Layout::Sparse { starts: (0..=n_items).collect(), columns: (0..n_items as u32).collect() },
        }
    }

    /// Rows that have one number, a 1 in the given column, or none: scores of items are then weights of columns.
    pub(crate) fn units(columns: &[Option<u32>], n_cols: usize) -> Self {
        let mut starts = Vec::with_capacity(columns.len() + 1);
        starts.push(0);
        let mut n = 0;
        starts.extend(columns.iter().map(|column| {
            n += usize::from(column.is_some());
            n
        }));
        let values = Values::F32(vec![1.0; n].into());
        let columns_of_rows = columns.iter().flatten().copied().collect();
        let layout = Layout::Sparse { starts: starts.into(), columns: columns_of_rows };
        Features { n_rows: columns.len(), n_cols, values, layout }
    }

    fn count_rows(n_cols: usize, n_values: usize) -> Result<usize> {
        match (n_cols, n_values) {
            (0, 0) => Ok(0),
            (0, _) => Err(Error::parameter("features", "no columns", "at least one column")),
            _ if n_values.is_multiple_of(n_cols) => Ok(n_values / n_cols),
            _ => Err(Error::parameter("features", n_values, format!("a multiple of the {n_cols} columns"))),
        }
    }

    /// How many items there are.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// How many features an item has.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Whether rows are stored compressed.
    pub fn is_sparse(&self) -> bool {
        matches!(self.layout, Layout::Sparse { .. })
    }

    /// Whether numbers are stored in f32.
    pub fn is_f32(&self) -> bool {
        matches!(self.values, Values::F32(_))
    }

    /// How many numbers are stored.
    pub fn n_stored(&self) -> usize {
        self.values.len()
    }

    /// The numbers as they are stored: all of a dense matrix, those of [`Features::sparse_rows`] of a sparse one.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// Row starts and columns of compressed sparse rows; `None` for a dense matrix.
    pub(crate) fn sparse_rows(&self) -> Option<(&[usize], &[u32])> {
        match &self.layout {
            Layout::Dense => None,
            Layout::Sparse { starts, columns } => Some((starts, columns)),
        }
    }

    /// One number; 0 where a sparse row stores none.
    pub(crate) fn value(&self, row: usize, column: usize) -> f64 {
        let span = self.span(row);
        let at = match &self.layout {
            Layout::Dense => span.start + column,
            Layout::Sparse { columns, .. } => match columns[span.clone()].binary_search(&(column as u32)) {
                Ok(place) => span.start + place,
                Err(_) => return 0.0,
            },
        };
        match &self.values {
            Values::F32(values) => values[at].to_f64(),
            Values::F64(values) => values[at],
        }
    }

    fn span(&self, row: usize) -> std::ops::Range<usize> {
        match &self.layout {
            Layout::Dense => row * self.n_cols..(row + 1) * self.n_cols,
            Layout::Sparse { starts, .. } => starts[row]..starts[row + 1],
        }
    }

    /// How many numbers of a row are stored.
    pub(crate) fn n_stored_in_row(&self, row: usize) -> usize {
        self.span(row).len()
    }

    /// Calls `each(column, value)` for the stored numbers of a row, columns ascending.
    #[inline]
    pub fn for_each_in_row(&self, row: usize, mut each: impl FnMut(usize, f64)) {
        let span = self.span(row);
        match (&self.layout, &self.values) {
            (Layout::Dense, Values::F32(values)) => {
                values[span].iter().enumerate().for_each(|(column, &value)| each(column, value.to_f64()));
            }
            (Layout::Dense, Values::F64(values)) => {
                values[span].iter().enumerate().for_each(|(column, &value)| each(column, value));
            }
            (Layout::Sparse { columns, .. }, Values::F32(values)) => {
                let entries = columns[span.clone()].iter().zip(&values[span]);
                entries.for_each(|(&column, &value)| each(column as usize, value.to_f64()));
            }
            (Layout::Sparse { columns, .. }, Values::F64(values)) => {
                let entries = columns[span.clone()].iter().zip(&values[span]);
                entries.for_each(|(&column, &value)| each(column as usize, value));
            }
        }
    }

    /// Writes a row into `out`, zeros included.
    pub fn copy_row(&self, row: usize, out: &mut [f64]) {
        if self.is_sparse() {
            out.fill(0.0);
        }
        self.for_each_in_row(row, |column, value| out[column] = value);
    }

    /// A row times `weights`, summed in column order.
    pub fn dot_row(&self, row: usize, weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        self.for_each_in_row(row, |column, value| sum += value * weights[column]);
        sum
    }

    /// Every row times `weights`, each summed in column order: equal rows give equal sums, dense or sparse.
    pub fn times(&self, weights: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n_rows];
        out.par_chunks_mut(ROWS_AT_A_TIME).enumerate().for_each(|(chunk, out)| {
            self.times_in_column_order(chunk * ROWS_AT_A_TIME, weights, out);
        });
        out
    }

    /// Σ coefficient·row, summed in the order of `terms`.
    pub fn combine_rows(&self, terms: impl IntoIterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut sum = vec![0.0; self.n_cols];
        for (row, coefficient) in terms {
            self.for_each_in_row(row, |column, value| sum[column] += coefficient * value);
        }
        sum
    }

    /// All rows as dense f64 values.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.n_rows * self.n_cols];
        if self.n_cols > 0 {
            out.chunks_exact_mut(self.n_cols).enumerate().for_each(|(row, out)| self.copy_row(row, out));
        }
        out
    }

    /// The rows of the given numbers.
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let values = self.values.select(rows.iter().map(|&r| self.span(r)));
        let layout = match &self.layout {
            Layout::Dense => Layout::Dense,
            Layout::Sparse { columns, .. } => {
                let mut starts = vec![0];
                let mut kept = Vec::with_capacity(values.len());
                for &row in rows {
                    kept.extend_from_slice(&columns[self.span(row)]);
                    starts.push(kept.len());
                }
                Layout::Sparse { starts: starts.into(), columns: kept.into() }
            }
        };
        Features { n_rows: rows.len(), n_cols: self.n_cols, values, layout }
    }

    /// The columns of the given numbers, in that order; `None` is a column of zeros.
    pub fn select_columns(&self, columns: &[Option<usize>]) -> Self {
        let mut wanted = vec![Vec::new(); self.n_cols];
        for (new, old) in columns.iter().enumerate() {
            if let Some(old) = *old {
                wanted[old].push(new);
            }
        }
        if self.is_sparse() {
            let (mut starts, mut kept, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in 0..self.n_rows {
                let mut entries = Vec::new();
                self.for_each_in_row(row, |c, v| entries.extend(wanted[c].iter().map(|&new| (new as u32, v))));
                entries.sort_unstable_by_key(|e| e.0);
                kept.extend(entries.iter().map(|e| e.0));
                values.extend(entries.iter().map(|e| e.1));
                starts.push(kept.len());
            }
            let layout = Layout::Sparse { starts: starts.into(), columns: kept.into() };
            let values = Values::F64(values.into());
            return Features { n_rows: self.n_rows, n_cols: columns.len(), values, layout };
        }
        let mut values = vec![0.0; self.n_rows * columns.len()];
        for row in 0..self.n_rows {
            let out = &mut values[row * columns.len()..][..columns.len()];
            self.for_each_in_row(row, |c, v| wanted[c].iter().for_each(|&new| out[new] = v));
        }
        let values = match &self.values {
            Values::F32(_) => Values::F32(values.into_iter().map(|v| v as f32).collect()),
            Values::F64(_) => Values::F64(values.into()),
        };
        Features { n_rows: self.n_rows, n_cols: columns.len(), values, layout: Layout::Dense }
    }

    /// The same rows with columns of zeros behind them. Dense rows stay dense unless nearly all of them would be such zeros.
    pub fn widened(&self, n_cols: usize) -> Self {
        let n_cols = n_cols.max(self.n_cols);
        let most = self.n_stored().saturating_mul(4).max(1 << 24);
        match &self.layout {
            Layout::Sparse { .. } => Features { n_cols, ..self.clone() },
            Layout::Dense if self.n_rows.saturating_mul(n_cols) <= most => {
                let columns: Vec<Option<usize>> = (0..n_cols).map(|at| (at < self.n_cols).then_some(at)).collect();
                self.select_columns(&columns)
            }
            Layout::Dense => {
                let starts: Vec<usize> = (0..=self.n_rows).map(|row| row * self.n_cols).collect();
                let columns: Vec<u32> = (0..self.n_rows).flat_map(|_| 0..self.n_cols as u32).collect();
                let layout = Layout::Sparse { starts: starts.into(), columns: columns.into() };
                Features { n_cols, layout, ..self.clone() }
            }
        }
    }

    /// These rows, then those of `other`; both must have the same columns.
    pub fn stacked(&self, other: &Features) -> Self {
        debug_assert_eq!(self.n_cols, other.n_cols);
        if let (Layout::Dense, Layout::Dense, Values::F32(a), Values::F32(b)) =
            (&self.layout, &other.layout, &self.values, &other.values)
        {
            let values = Values::F32(a.iter().chain(b.iter()).copied().collect());
            return Features { n_rows: self.n_rows + other.n_rows, n_cols: self.n_cols, values, layout: Layout::Dense };
        }
        let sparse = self.is_sparse() && other.is_sparse();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for features in [self, other] {
            for row in 0..features.n_rows {
                if sparse {
                    features.for_each_in_row(row, |c, v| {
                        columns.push(c as u32);
                        values.push(v);
                    });
                    starts.push(values.len());
                } else {
                    let start = values.len();
                    values.resize(start + self.n_cols, 0.0);
                    features.copy_row(row, &mut values[start..]);
                }
            }
        }
        let layout = match sparse {
            true => Layout::Sparse { starts: starts.into(), columns: columns.into() },
            false => Layout::Dense,
        };
        let values = Values::F64(values.into());
        Features { n_rows: self.n_rows + other.n_rows, n_cols: self.n_cols, values, layout }
    }
}

/// Whether finite numbers are stored in f32; see [`ColumnRanges::fit_f32`] and [`ColumnDigits::are_apart`].
fn is_narrow<'a>(precision: Precision, rows: impl Iterator<Item = &'a [f64]>) -> Result<bool> {
    match precision {
        Precision::F32 => match rows.flatten().find(|v| !(**v as f32).is_finite()) {
            None => Ok(true),
            Some(found) => Err(Error::parameter(
                "precision",
                "f32",
                format!("numbers within the range of f32, found {found} (use f64)"),
            )),
        },
        Precision::F64 => Ok(false),
        Precision::Auto => {
            let (mut ranges, mut digits) = (ColumnRanges::default(), ColumnDigits::default());
            rows.for_each(|row| {
                ranges.add_row(row);
                digits.add_row(row);
            });
            Ok(ranges.fit_f32(true) && digits.are_apart())
        }
    }
}
