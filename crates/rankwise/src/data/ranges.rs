//! Whether f32 is good enough for a matrix: the range of every column says so.

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

    /// f32 is good enough when no column's magnitude exceeds its spread a thousandfold. Constant columns carry no
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

    /// Whether all columns but those of zeros have a magnitude that f32 can hold.
    pub(crate) fn have_f32_magnitudes(&self) -> bool {
        self.low.iter().zip(&self.high).all(|(&low, &high)| {
            let magnitude = low.abs().max(high.abs());
            magnitude == 0.0 || has_f32_magnitude(magnitude)
        })
    }
}

/// Whether numbers of this magnitude keep their digits in f32.
#[inline]
pub(crate) fn has_f32_magnitude(magnitude: f64) -> bool {
    (1e-30..1e30).contains(&magnitude)
}
