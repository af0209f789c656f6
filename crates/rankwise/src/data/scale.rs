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
    /// What the difference is divided by. Of a constant feature 1 where it is moved to 0, and its size where it is not.
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
        Self::learn_weighted(kind, items, rows, None)
    }

    /// The same with one weight for each of all items: 2 counts as two copies, 0 as none.
    pub(crate) fn learn_weighted(
        kind: Scale,
        items: &Features,
        rows: impl Iterator<Item = usize> + Clone,
        weights: Option<&[f64]>,
    ) -> Option<Self> {
        if kind == Scale::None {
            return None;
        }
        Self::of_stats(kind, ColumnStats::of_rows(items, rows, weights), items.is_sparse())
    }

    /// Learns from what is known of the columns.
    pub(crate) fn of_stats(kind: Scale, stats: ColumnStats, is_sparse: bool) -> Option<Self> {
        let (shift, divisor) = match kind {
            Scale::None => return None,
            Scale::Standard => (stats.mean, stats.deviation),
            Scale::Minmax => {
                let range = stats.low.iter().zip(&stats.high).map(|(low, high)| high - low).collect();
                (stats.low, range)
            }
        };
        Some(Self::of_ranges(shift, divisor, is_sparse))
    }

    /// From the origin and the size of each column. Sparse columns stay where they are: a constant one of 1e8, which nothing moves
    /// to 0, would drown all others in a kernel, and becomes 1.
    fn of_ranges(mut shift: Vec<f64>, mut divisor: Vec<f64>, is_sparse: bool) -> Self {
        for (divisor, shift) in divisor.iter_mut().zip(&shift) {
            if *divisor == 0.0 && is_sparse && *shift != 0.0 {
                *divisor = shift.abs();
            }
            if !(*divisor > 0.0 && divisor.is_finite()) {
                *divisor = 1.0;
            }
        }
        if is_sparse {
            shift.fill(0.0);
        }
        Scaler { shift, divisor }
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
    /// The weight of all items.
    total: f64,
    /// Of every column: low, high, mean, standard deviation.
    columns: Vec<[f64; 4]>,
    has_sparse: bool,
}

impl ScaleSurvey {
    /// Takes in a part, perhaps with one weight per item.
    pub(crate) fn add(&mut self, kind: Scale, items: &Features, weights: Option<&[f64]>) {
        if kind != Scale::None {
            self.join(&Self::of(items, 0..items.n_rows(), weights));
        }
    }

    /// What some rows of a part say.
    pub(crate) fn of(items: &Features, rows: impl Iterator<Item = usize> + Clone, weights: Option<&[f64]>) -> Self {
        let total = match weights {
            Some(weights) => rows.clone().map(|row| weights[row]).sum(),
            None => rows.clone().count() as f64,
        };
        let has_sparse = items.is_sparse() && items.n_rows() > 0;
        if total <= 0.0 {
            let absent = [f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0];
            return ScaleSurvey { total: 0.0, columns: vec![absent; items.n_cols()], has_sparse };
        }
        let ColumnStats { low, high, mean, deviation } = ColumnStats::of_rows(items, rows, weights);
        let columns = (0..items.n_cols()).map(|k| [low[k], high[k], mean[k], deviation[k]]).collect();
        ScaleSurvey { total, columns, has_sparse }
    }

    /// Takes in what another part says.
    pub(crate) fn join(&mut self, part: &ScaleSurvey) {
        self.has_sparse |= part.has_sparse;
        // Columns that earlier parts lack were 0 there.
        let absent = if self.total > 0.0 { [0.0; 4] } else { [f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0] };
        self.columns.resize(self.columns.len().max(part.columns.len()), absent);
        if part.total <= 0.0 {
            return;
        }
        self.total += part.total;
        let share = part.total / self.total;
        for (k, [low, high, mean, spread]) in self.columns.iter_mut().enumerate() {
            let [part_low, part_high, part_mean, deviation] = part.columns.get(k).copied().unwrap_or_default();
            *low = low.min(part_low);
            *high = high.max(part_high);
            let apart = part_mean - *mean;
            let unit = unit_of(spread.max(deviation).max(apart.abs()));
            let [before, here, between] = [*spread, deviation, apart].map(|x| (x / unit).powi(2));
            *spread = ((1.0 - share) * before + share * here + share * (1.0 - share) * between).sqrt() * unit;
            *mean += apart * share;
        }
    }

    /// As numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        [self.total, f64::from(u8::from(self.has_sparse))].into_iter().chain(self.columns.iter().flatten().copied())
    }

    /// From such numbers, of so many columns.
    pub(crate) fn of_numbers(numbers: &[f64]) -> Option<Self> {
        let (&[total, has_sparse], columns) = numbers.split_first_chunk()?;
        let (columns, []) = columns.as_chunks() else { return None };
        Some(ScaleSurvey { total, columns: columns.to_vec(), has_sparse: has_sparse != 0.0 })
    }

    /// The largest deviation over the smallest; constant columns do not count.
    pub(crate) fn scale_ratio(&self) -> f64 {
        let varying = || self.columns.iter().map(|column| column[3]).filter(|&spread| spread > 0.0);
        varying().fold(0.0, f64::max) / varying().fold(f64::INFINITY, f64::min)
    }

    /// The scaling; `None` for [`Scale::None`].
    pub(crate) fn finish(&self, kind: Scale) -> Option<Scaler> {
        let column = |&[low, high, mean, spread]: &[f64; 4]| match kind {
            Scale::None => None,
            Scale::Standard if low == high => Some((mean, 0.0)),
            Scale::Standard => Some((mean, spread)),
            Scale::Minmax => Some((low, high - low)),
        };
        let (shift, divisor): (Vec<f64>, Vec<f64>) =
            self.columns.iter().map(column).collect::<Option<Vec<(f64, f64)>>>()?.into_iter().unzip();
        (kind != Scale::None).then(|| Scaler::of_ranges(shift, divisor, self.has_sparse))
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
        Self::of_rows(items, 0..items.n_rows(), None)
    }

    /// The same of some rows, perhaps with one weight for each of all rows.
    pub(crate) fn of_rows(
        items: &Features,
        rows: impl Iterator<Item = usize> + Clone,
        weights: Option<&[f64]>,
    ) -> Self {
        let mut tally = ColumnTally::new(rows.clone(), items.n_cols(), weights);
        tally.add_rows(items, rows.clone(), 0);
        tally.turn();
        tally.add_spread(items, rows, 0);
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
pub(crate) struct ColumnTally<'a> {
    /// One for each of all rows; `None`: all 1.
    weights: Option<&'a [f64]>,
    /// What they are divided by, so that they can be added.
    unit: f64,
    /// How many rows have a weight above 0, and their weight.
    n: usize,
    total: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    mean: Vec<f64>,
    /// How many of these rows store a number, and their weight.
    stored: Vec<usize>,
    stored_weight: Vec<f64>,
    /// What makes the largest number about 1, and the variance of the products: that of the numbers may be out of range.
    factor: Vec<f64>,
    variance: Vec<f64>,
}

impl<'a> ColumnTally<'a> {
    /// Of these rows, of `d` columns.
    pub(crate) fn new(rows: impl Iterator<Item = usize>, d: usize, weights: Option<&'a [f64]>) -> Self {
        let mut tally = ColumnTally {
            weights,
            unit: weights.map_or(1.0, |weights| unit_of(weights.iter().copied().fold(0.0, f64::max))),
            n: 0,
            total: 0.0,
            low: vec![f64::INFINITY; d],
            high: vec![f64::NEG_INFINITY; d],
            mean: vec![0.0; d],
            stored: vec![0; d],
            stored_weight: vec![0.0; d],
            factor: Vec::new(),
            variance: vec![0.0; d],
        };
        for row in rows {
            let weight = tally.weight(row);
            tally.n += usize::from(weight > 0.0);
            tally.total += weight;
        }
        tally
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row] / self.unit)
    }

    /// Takes in rows the first time, whose weights begin at `first`.
    pub(crate) fn add_rows(&mut self, items: &Features, rows: impl Iterator<Item = usize>, first: usize) {
        let total = self.total;
        for row in rows {
            let weight = self.weight(first + row);
            if weight <= 0.0 {
                continue;
            }
            items.for_each_in_row(row, |c, v| {
                self.low[c] = self.low[c].min(v);
                self.high[c] = self.high[c].max(v);
                self.mean[c] += v * weight / total;
                self.stored[c] += 1;
                self.stored_weight[c] += weight;
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
        let factor = |(low, high): (&f64, &f64)| 1.0 / unit_of(low.abs().max(high.abs()));
        self.factor = self.low.iter().zip(&self.high).map(factor).collect();
    }

    /// Takes in rows the second time.
    pub(crate) fn add_spread(&mut self, items: &Features, rows: impl Iterator<Item = usize>, first: usize) {
        for row in rows {
            let weight = self.weight(first + row);
            if weight > 0.0 {
                items.for_each_in_row(row, |c, v| {
                    let factor = self.factor[c];
                    self.variance[c] += (v * factor - self.mean[c] * factor).powi(2) * weight / self.total;
                });
            }
        }
    }

    /// The summaries.
    pub(crate) fn finish(self) -> ColumnStats {
        let ColumnTally { n, total, low, high, mean, stored, stored_weight, factor, variance, .. } = self;
        let deviation = (0..low.len())
            .map(|c| {
                if low[c] == high[c] {
                    return 0.0; // rounding must not turn a constant into a feature
                }
                let absent = if stored[c] < n { (total - stored_weight[c]).max(0.0) / total } else { 0.0 };
                (variance[c] + absent * (mean[c] * factor[c]).powi(2)).sqrt() / factor[c]
            })
            .collect();
        ColumnStats { low, high, mean, deviation }
    }
}

/// The power of two at or below a number of at least 0: to divide by it is exact, and leaves a number near 1.
pub(crate) fn unit_of(largest: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    f64::from_bits(largest.to_bits() & EXPONENT).max(f64::MIN_POSITIVE)
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
            [0..15, 15..60, 60..90].into_iter().for_each(|part| survey.add(kind, &dense(&values[part]), None));
            let (parts, whole) = (survey.finish(kind).unwrap(), Scaler::learn(kind, &dense(&values)).unwrap());
            for k in 0..3 {
                assert!((parts.shift[k] - whole.shift[k]).abs() < 1e-11, "{parts:?} {whole:?}");
                assert!((parts.divisor[k] - whole.divisor[k]).abs() < 1e-11, "{parts:?} {whole:?}");
            }
        }
        assert_eq!(ScaleSurvey::default().finish(Scale::None), None);
    }
    /// Some rows of three columns, as dense and as sparse features; the last column is often 0.
    fn drawn(n: usize, factor: f64) -> [Features; 2] {
        let mut random = Random::new(5);
        let value = |k: usize, x: f64| if k % 3 == 2 && x > -0.5 { 0.0 } else { (x + (k % 3) as f64) * factor };
        let values: Vec<f64> = (0..3 * n).map(|k| value(k, random.normal())).collect();
        let (mut starts, mut columns, mut stored) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks_exact(3) {
            for (c, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                columns.push(c as u32);
                stored.push(v);
            }
            starts.push(stored.len());
        }
        [Features::dense(3, values, Precision::F64).unwrap(), Features::sparse(3, starts, columns, stored).unwrap()]
    }

    fn is_near(a: &Scaler, b: &Scaler) -> bool {
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b.abs()));
        near(&a.shift, &b.shift) && near(&a.divisor, &b.divisor)
    }

    #[test]
    fn weights_are_copies_and_no_weight_is_none() {
        for features in drawn(30, 1.0) {
            let copies: Vec<usize> = (0..30).map(|row| row % 3).collect();
            let repeated: Vec<usize> = (0..30).flat_map(|row| vec![row; copies[row]]).collect();
            for (kind, factor) in [(Scale::Standard, 1.0), (Scale::Minmax, 1.0), (Scale::Standard, 1e-200)] {
                let weights: Vec<f64> = copies.iter().map(|&n| n as f64 * factor).collect();
                let expected = Scaler::learn(kind, &features.select_rows(&repeated)).unwrap();
                let found = Scaler::learn_weighted(kind, &features, 0..30, Some(&weights)).unwrap();
                assert!(is_near(&found, &expected), "{kind:?}: {found:?} {expected:?}");
                assert!(!is_near(&Scaler::learn(kind, &features).unwrap(), &expected), "{kind:?}: weights tell");
                let mut survey = ScaleSurvey::default();
                for rows in [0..1, 1..8, 8..30] {
                    let part = features.select_rows(&rows.clone().collect::<Vec<_>>());
                    survey.add(kind, &part, Some(&weights[rows]));
                }
                let parts = survey.finish(kind).unwrap();
                assert!(is_near(&parts, &expected), "{kind:?}: {parts:?} {expected:?}");
            }
        }
    }

    #[test]
    fn features_of_any_size_are_scaled_alike() {
        for kind in [Scale::Standard, Scale::Minmax] {
            for (at, plain) in drawn(40, 1.0).into_iter().enumerate() {
                let expected = Scaler::learn(kind, &plain).unwrap().apply(&plain).unwrap().to_dense();
                for factor in [1e160, 1e200, 1e-160, 1e-200] {
                    let features = &drawn(40, factor)[at];
                    let mut survey = ScaleSurvey::default();
                    for rows in [0..7, 7..40] {
                        survey.add(kind, &features.select_rows(&rows.collect::<Vec<_>>()), None);
                    }
                    for scaler in [Scaler::learn(kind, features).unwrap(), survey.finish(kind).unwrap()] {
                        let scaled = scaler.apply(features).unwrap().to_dense();
                        let worst = scaled.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                        assert!(worst < 1e-12, "{kind:?} {factor:e}: {worst:e}");
                    }
                }
            }
        }
    }
}
