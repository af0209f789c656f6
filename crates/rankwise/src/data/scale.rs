//! Scaling of features, learnt on the training items and kept in the model.

use super::{Features, Precision};
use crate::error::{Error, Result};

/// Which scaling to learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Features as they are.
    #[default]
    None,
    /// Mean 0 and standard deviation 1.
    Standard,
    /// From 0 to 1.
    Minmax,
}

/// x ↦ (x − shift) / divisor, per feature. Sparse features are only divided, so that zeros stay zeros.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaler {
    /// What is subtracted.
    pub shift: Vec<f64>,
    /// What the difference is divided by; 1 for constant features.
    pub divisor: Vec<f64>,
}

impl Scaler {
    /// Learns from items; `None` for [`Scale::None`].
    pub fn learn(kind: Scale, items: &Features) -> Option<Self> {
        Self::learn_from_rows(kind, items, 0..items.n_rows())
    }

    /// Learns from some of the items.
    pub(crate) fn learn_from_rows(
        kind: Scale,
        items: &Features,
        rows: impl Iterator<Item = usize> + Clone,
    ) -> Option<Self> {
        if kind == Scale::None {
            return None;
        }
        Self::of_stats(kind, ColumnStats::of_rows(items, rows), items.is_sparse())
    }

    /// Learns from what is known of the columns.
    pub(crate) fn of_stats(kind: Scale, stats: ColumnStats, is_sparse: bool) -> Option<Self> {
        let (mut shift, mut divisor) = match kind {
            Scale::None => return None,
            Scale::Standard => (stats.mean, stats.deviation),
            Scale::Minmax => {
                let range = stats.low.iter().zip(&stats.high).map(|(low, high)| high - low).collect();
                (stats.low, range)
            }
        };
        divisor.iter_mut().filter(|d| !(**d > 0.0 && d.is_finite())).for_each(|d| *d = 1.0);
        if is_sparse {
            shift.fill(0.0);
        }
        Some(Scaler { shift, divisor })
    }

    /// Scales items; the result is stored in f64.
    pub fn apply(&self, items: &Features) -> Result<Features> {
        if items.is_sparse() && self.shift.iter().all(|&s| s == 0.0) {
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in 0..items.n_rows() {
                items.for_each_in_row(row, |c, v| {
                    columns.push(c as u32);
                    values.push(v / self.divisor[c]);
                });
                starts.push(values.len());
            }
            return Features::sparse(items.n_cols(), starts, columns, values);
        }
        let mut values = items.to_dense();
        for row in values.chunks_exact_mut(items.n_cols().max(1)) {
            for ((value, shift), divisor) in row.iter_mut().zip(&self.shift).zip(&self.divisor) {
                *value = (*value - shift) / divisor;
            }
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Error::Numeric {
                problem: "a feature leaves the range of numbers when it is scaled".into(),
                remedy: "check the data: a feature is far too large".into(),
            });
        }
        Features::dense(items.n_cols(), values, Precision::F64)
    }
}

/// What a scaling needs to know of data that come in parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScaleSurvey {
    n: f64,
    /// Of every column: low, high, mean, sum of squares around it.
    columns: Vec<[f64; 4]>,
    has_sparse: bool,
}

impl ScaleSurvey {
    /// Takes in a part.
    pub(crate) fn add(&mut self, kind: Scale, items: &Features) {
        if kind == Scale::None || items.n_rows() == 0 {
            return;
        }
        self.has_sparse |= items.is_sparse();
        let (n_before, n) = (self.n, items.n_rows() as f64);
        self.n += n;
        // Columns that earlier parts lack were 0 there.
        let absent = if n_before > 0.0 { [0.0; 4] } else { [f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0] };
        self.columns.resize(self.columns.len().max(items.n_cols()), absent);
        let stats = ColumnStats::of(items);
        for (k, [low, high, mean, squares]) in self.columns.iter_mut().enumerate() {
            let is_there = k < items.n_cols();
            let of_part = |values: &[f64]| if is_there { values[k] } else { 0.0 };
            let (part_mean, deviation) = (of_part(&stats.mean), of_part(&stats.deviation));
            *low = low.min(of_part(&stats.low));
            *high = high.max(of_part(&stats.high));
            let apart = part_mean - *mean;
            *squares += n * deviation * deviation + apart * apart * n_before * n / self.n;
            *mean += apart * n / self.n;
        }
    }

    /// The scaling; `None` for [`Scale::None`].
    pub(crate) fn finish(&self, kind: Scale) -> Option<Scaler> {
        let column = |&[low, high, mean, squares]: &[f64; 4]| match kind {
            Scale::None => None,
            Scale::Standard if low == high => Some((mean, 0.0)),
            Scale::Standard => Some((mean, (squares / self.n).sqrt())),
            Scale::Minmax => Some((low, high - low)),
        };
        let (mut shift, mut divisor): (Vec<f64>, Vec<f64>) =
            self.columns.iter().map(column).collect::<Option<Vec<(f64, f64)>>>()?.into_iter().unzip();
        divisor.iter_mut().filter(|d| !(**d > 0.0 && d.is_finite())).for_each(|d| *d = 1.0);
        if self.has_sparse {
            shift.fill(0.0);
        }
        (kind != Scale::None).then_some(Scaler { shift, divisor })
    }
}

/// Per-column summaries.
pub(crate) struct ColumnStats {
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
    pub(crate) mean: Vec<f64>,
    pub(crate) deviation: Vec<f64>,
}

impl ColumnStats {
    /// Two passes over the stored numbers; zeros that a sparse row does not store count.
    pub(crate) fn of(items: &Features) -> Self {
        Self::of_rows(items, 0..items.n_rows())
    }

    /// The same of some rows.
    pub(crate) fn of_rows(items: &Features, rows: impl Iterator<Item = usize> + Clone) -> Self {
        let (n, d) = (rows.clone().count(), items.n_cols());
        let mut tally = ColumnTally::new(n, d);
        tally.add_rows(items, rows.clone());
        tally.turn();
        tally.add_spread(items, rows);
        tally.finish()
    }

    /// The largest deviation over the smallest; constant columns do not count.
    pub(crate) fn scale_ratio(&self) -> f64 {
        let varying = || self.deviation.iter().copied().filter(|&d| d > 0.0);
        varying().fold(0.0, f64::max) / varying().fold(f64::INFINITY, f64::min)
    }

    /// Variance of all entries of the matrix together.
    pub(crate) fn overall_variance(&self) -> f64 {
        let d = self.mean.len().max(1) as f64;
        let grand = self.mean.iter().sum::<f64>() / d;
        self.mean.iter().zip(&self.deviation).map(|(m, s)| (s * s + (m - grand).powi(2)) / d).sum()
    }
}

/// [`ColumnStats`] on their way: all rows come by twice, in the same order.
pub(crate) struct ColumnTally {
    n: usize,
    low: Vec<f64>,
    high: Vec<f64>,
    mean: Vec<f64>,
    stored: Vec<usize>,
    variance: Vec<f64>,
}

impl ColumnTally {
    /// Of `n` rows of `d` columns.
    pub(crate) fn new(n: usize, d: usize) -> Self {
        ColumnTally {
            n,
            low: vec![f64::INFINITY; d],
            high: vec![f64::NEG_INFINITY; d],
            mean: vec![0.0; d],
            stored: vec![0; d],
            variance: vec![0.0; d],
        }
    }

    /// Takes in rows the first time.
    pub(crate) fn add_rows(&mut self, items: &Features, rows: impl Iterator<Item = usize>) {
        let n = self.n as f64;
        for row in rows {
            items.for_each_in_row(row, |c, v| {
                self.low[c] = self.low[c].min(v);
                self.high[c] = self.high[c].max(v);
                self.mean[c] += v / n;
                self.stored[c] += 1;
            });
        }
    }

    /// All rows have come by once.
    pub(crate) fn turn(&mut self) {
        for c in 0..self.low.len() {
            if self.stored[c] < self.n {
                self.low[c] = self.low[c].min(0.0);
                self.high[c] = self.high[c].max(0.0);
            }
        }
    }

    /// Takes in rows the second time.
    pub(crate) fn add_spread(&mut self, items: &Features, rows: impl Iterator<Item = usize>) {
        let n = self.n as f64;
        for row in rows {
            items.for_each_in_row(row, |c, v| self.variance[c] += (v - self.mean[c]).powi(2) / n);
        }
    }

    /// The summaries.
    pub(crate) fn finish(self) -> ColumnStats {
        let ColumnTally { n, low, high, mean, stored, variance } = self;
        let deviation = (0..low.len())
            .map(|c| {
                if low[c] == high[c] {
                    return 0.0; // rounding must not turn a constant into a feature
                }
                (variance[c] + (n - stored[c]) as f64 / n as f64 * mean[c] * mean[c]).sqrt()
            })
            .collect();
        ColumnStats { low, high, mean, deviation }
    }
}

#[cfg(test)]
mod tests {
    use super::{Scale, ScaleSurvey, Scaler};
    use crate::data::{Features, Precision, Random};

    #[test]
    fn parts_give_the_scaling_of_the_whole() {
        let mut random = Random::new(2);
        let values: Vec<f64> = (0..90).map(|k| 100.0 + random.normal() * f64::from(k % 3 + 1)).collect();
        let dense = |values: &[f64]| Features::dense(3, values.to_vec(), Precision::F64).unwrap();
        for kind in [Scale::Standard, Scale::Minmax] {
            let mut survey = ScaleSurvey::default();
            [0..15, 15..60, 60..90].into_iter().for_each(|part| survey.add(kind, &dense(&values[part])));
            let (parts, whole) = (survey.finish(kind).unwrap(), Scaler::learn(kind, &dense(&values)).unwrap());
            for k in 0..3 {
                assert!((parts.shift[k] - whole.shift[k]).abs() < 1e-11, "{parts:?} {whole:?}");
                assert!((parts.divisor[k] - whole.divisor[k]).abs() < 1e-11, "{parts:?} {whole:?}");
            }
        }
        assert_eq!(ScaleSurvey::default().finish(Scale::None), None);
    }
}
