//! Whether f32 is good enough for a matrix: the range of every column says so, and the digits of its numbers.

use super::digits::ColumnDigits;

/// No column's magnitude may exceed its spread by more.
const MAX_RATIO: f64 = 1000.0;
/// The same for ranges that were rounded to f32: what is below this surely is below the other.
const SURE_RATIO: f64 = 990.0;

/// The smallest and the largest number of every column.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnRanges {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl ColumnRanges {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.low.clear();
        self.high.clear();
    }

    fn widen(&mut self, n_cols: usize) {
        if n_cols > self.low.len() {
            self.low.resize(n_cols, f64::INFINITY);
            self.high.resize(n_cols, f64::NEG_INFINITY);
        }
    }

    /// Takes in the first columns of a row.
    #[inline]
    pub(crate) fn add_row(&mut self, row: &[f64]) {
        self.widen(row.len());
        for ((low, high), &value) in self.low.iter_mut().zip(&mut self.high).zip(row) {
            *low = if value < *low { value } else { *low };
            *high = if value > *high { value } else { *high };
        }
    }

    /// Forgets the columns that `keeps` says no to; false if one of them is beyond what f32 can hold.
    fn keep(&mut self, keeps: impl Fn(usize) -> bool) -> bool {
        let n = self.low.len();
        if (0..n).all(&keeps) {
            return true;
        }
        let magnitude = |at: usize| self.low[at].abs().max(self.high[at].abs());
        let are_sound = (0..n).filter(|&at| !keeps(at)).all(|at| !is_extreme(magnitude(at)));
        for list in [&mut self.low, &mut self.high] {
            let mut at = 0;
            list.retain(|_| {
                at += 1;
                keeps(at - 1)
            });
        }
        are_sound
    }

    /// Takes in what others saw.
    pub(crate) fn merge(&mut self, other: &ColumnRanges) {
        self.add_row(&other.low);
        self.add_row(&other.high);
    }

    /// Some row has zeros from this column on.
    pub(crate) fn add_zeros_from(&mut self, column: usize) {
        for (low, high) in self.low.iter_mut().zip(&mut self.high).skip(column) {
            *low = low.min(0.0);
            *high = high.max(0.0);
        }
    }

    /// As far as ranges tell, f32 is good enough when no column's magnitude exceeds its spread a thousandfold. Constant columns carry no
    /// information and do not count. Ranges of numbers that were rounded to f32 cannot tell a constant column from one
    /// that nearly is; the answer is then yes only if it would be so in any case.
    pub(crate) fn fit_f32(&self, are_exact: bool) -> bool {
        self.have_f32_magnitudes()
            && self.low.iter().zip(&self.high).all(|(&low, &high)| {
                let magnitude = low.abs().max(high.abs());
                let spread = high - low;
                let is_constant = if are_exact { spread == 0.0 } else { magnitude == 0.0 };
                is_constant || magnitude <= spread * if are_exact { MAX_RATIO } else { SURE_RATIO }
            })
    }

    /// The magnitude of a column.
    pub(crate) fn magnitude(&self, column: usize) -> f64 {
        self.low.get(column).map_or(0.0, |low| low.abs().max(self.high[column].abs()))
    }

    /// Whether all columns but those of zeros have a magnitude that f32 can hold.
    pub(crate) fn have_f32_magnitudes(&self) -> bool {
        self.low.iter().zip(&self.high).all(|(&low, &high)| {
            let magnitude = low.abs().max(high.abs());
            magnitude == 0.0 || has_f32_magnitude(magnitude)
        })
    }
}

/// The same from one row after the other, of any width and with any gaps. A column that some row lacks has a 0 there, so
/// that its spread is no less than its magnitude: only columns that all rows have are to be followed, and those are
/// among the first row's. Tiny numbers in other columns count as if they stood alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowRanges {
    /// The columns that all rows have, once there is a row.
    full: Option<Vec<u32>>,
    /// Their ranges.
    ranges: ColumnRanges,
    /// Of all columns.
    digits: ColumnDigits,
    /// A number somewhere else is beyond what f32 can hold.
    has_extremes: bool,
    found: Vec<f64>,
}

impl RowRanges {
    /// Takes in a row: values of these columns, ascending, or of the first ones.
    pub(crate) fn add(&mut self, columns: Option<&[u32]>, values: &[f64]) {
        let n = values.len();
        match columns {
            None => self.digits.add_row(values),
            Some(_) => self.digits.add_scattered(values),
        }
        let full = self.full.get_or_insert_with(|| match columns {
            Some(columns) => columns.to_vec(),
            None => (0..n as u32).collect(),
        });
        let is_prefix = full.last().is_none_or(|&last| last as usize + 1 == full.len());
        if columns.is_none() && is_prefix {
            let n_full = full.len().min(n);
            full.truncate(n_full);
            self.has_extremes |= !self.ranges.keep(|at| at < n_full);
            self.ranges.add_row(&values[..n_full]);
            self.has_extremes |= values[n_full..].iter().any(|value| is_extreme(*value));
            return;
        }
        // Both ascend.
        let column_at = |at: usize| columns.map_or(at as u32, |columns| columns[at]);
        let (mut at, mut has_extremes) = (0, false);
        let (found, mut kept) = (&mut self.found, Vec::with_capacity(full.len()));
        found.clear();
        full.retain(|&column| {
            while at < n && column_at(at) < column {
                has_extremes |= is_extreme(values[at]);
                at += 1;
            }
            let is_here = at < n && column_at(at) == column;
            if is_here {
                found.push(values[at]);
                at += 1;
            }
            kept.push(is_here);
            is_here
        });
        has_extremes |= values[at..].iter().any(|value| is_extreme(*value));
        self.has_extremes |= has_extremes | !self.ranges.keep(|at| kept.get(at).copied().unwrap_or(false));
        self.ranges.add_row(found);
    }

    /// Whether f32 is good enough.
    pub(crate) fn fit_f32(&self) -> bool {
        !self.has_extremes && self.ranges.fit_f32(true) && self.digits.are_apart()
    }
}

fn is_extreme(value: f64) -> bool {
    value != 0.0 && !has_f32_magnitude(value.abs())
}

/// Whether numbers of this magnitude keep their digits in f32.
#[inline]
pub(crate) fn has_f32_magnitude(magnitude: f64) -> bool {
    (1e-30..1e30).contains(&magnitude)
}
