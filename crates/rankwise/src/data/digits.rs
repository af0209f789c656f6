//! Whether distinct numbers of a column stay distinct in f32.
//!
//! A decimal m·10⁻ᵏ with a whole m below 2²² is short: 10⁻ᵏ is then more than two units of f32's last place there, and two short
//! ones differ by more than what rounding to f32 can bring together. So do a short one and one of more digits on the grid 10⁻ᵏ of a
//! column, and two of these, where 10⁻ᵏ is more than a unit of the last place of the column's largest number. And numbers of f32
//! stay what they are.

use super::scale::unit_of;

/// Whole numbers below this are short: 10⁻ᵏ is more than |number|/2²², and a unit of the last place is at most |number|/2²³.
pub(crate) const SHORT: u64 = 1 << 22;
/// Adding and subtracting this rounds numbers below the other to whole ones.
const WHOLE: f64 = 3.0 * (1u64 << 51) as f64;
const EXACT: f64 = (1u64 << 51) as f64;
/// Powers of ten that are exact.
pub(crate) const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
/// Numbers from here on with few digits have no more decimals than there are powers.
const LEAST: f64 = 1e-10;

/// The numbers of a column.
#[derive(Debug, Clone)]
struct Digits {
    /// Times this, the last short number was whole.
    power: f64,
    /// The same for all numbers that are not short; 0 if all are.
    grid: f64,
    largest: f64,
    /// All are numbers of f32.
    are_f32: bool,
    /// Some number has more digits than f32 can tell.
    are_long: bool,
    /// The first number, and whether all are the same: whatever becomes of it, it meets no other.
    first: Option<f64>,
    is_constant: bool,
}

impl Default for Digits {
    fn default() -> Self {
        Digits { power: 1.0, grid: 0.0, largest: 0.0, are_f32: true, are_long: false, first: None, is_constant: true }
    }
}

impl Digits {
    #[inline]
    fn add(&mut self, value: f64) {
        let size = value.abs();
        self.is_constant &= *self.first.get_or_insert(value) == value;
        self.are_f32 &= f64::from(value as f32) == value;
        if self.are_long {
            return;
        }
        self.largest = self.largest.max(size);
        let is_short = nearest(size * self.power) < SHORT as f64 && is_whole(size, self.power);
        if !(is_short || self.grid > 0.0 && is_whole(size, self.grid)) {
            self.add_other(size);
        }
    }

    /// Takes in a number that is not known to be short.
    fn add_other(&mut self, size: f64) {
        match decimal(size) {
            Some((whole, power)) if whole < SHORT as f64 => {
                if power >= 1.0 {
                    self.power = power;
                }
            }
            // Whole numbers that f32 has.
            Some((_, power)) if power <= 1.0 && size <= (1u64 << 24) as f64 => {}
            Some((_, power)) if is_apart(power, size) => self.grid = self.grid.max(power),
            _ => self.are_long = true,
        }
    }

    fn merge(&mut self, other: &Digits) {
        self.power = self.power.max(other.power);
        self.grid = self.grid.max(other.grid);
        self.largest = self.largest.max(other.largest);
        self.are_f32 &= other.are_f32;
        self.are_long |= other.are_long;
        let first = self.first.or(other.first);
        self.is_constant &= other.is_constant && (other.first.is_none() || other.first == first);
        self.first = first;
    }

    /// Whether they stay apart where the largest number of all is this.
    fn are_apart(&self, largest: f64) -> bool {
        !self.are_long && (self.grid == 0.0 || is_apart(self.grid, largest))
    }
}

/// Whether the step 1/power is more than a unit of the last place of a number in f32.
fn is_apart(power: f64, size: f64) -> bool {
    1.0 / power > unit_of(size) / (1u64 << 23) as f64
}

/// The nearest whole number, below [`EXACT`].
#[inline]
fn nearest(number: f64) -> f64 {
    (number + WHOLE) - WHOLE
}

/// Whether a number is a whole one, divided by this power.
#[inline]
fn is_whole(size: f64, power: f64) -> bool {
    let product = size * power;
    product < EXACT && nearest(product) / power == size
}

/// The number as whole/power, with the fewest digits that tell it in f64; `None` where these are many.
fn decimal(size: f64) -> Option<(f64, f64)> {
    for power in POWERS {
        if size * power >= EXACT {
            break;
        }
        if is_whole(size, power) {
            return Some(without_zeros(nearest(size * power), power));
        }
    }
    if (LEAST..EXACT).contains(&size) {
        return None;
    }
    // Seldom: very large or small numbers, as text has them.
    let text = format!("{size:e}");
    let (digits, exponent) = text.split_once('e')?;
    let n_decimals = digits.len().saturating_sub(2) as i32;
    let whole: f64 = digits.replace('.', "").parse().ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    Some((whole, 10f64.powi(n_decimals - exponent)))
}

fn without_zeros(mut whole: f64, mut power: f64) -> (f64, f64) {
    while whole >= SHORT as f64 && whole % 10.0 == 0.0 {
        (whole, power) = (whole / 10.0, power / 10.0);
    }
    (whole, power)
}

/// The numbers of all columns, and of rows with gaps, whose columns are not told apart.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnDigits {
    columns: Vec<Digits>,
    scattered: Digits,
    /// Rows without gaps.
    n_rows: usize,
}

impl ColumnDigits {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        *self = ColumnDigits { columns: std::mem::take(&mut self.columns), ..ColumnDigits::default() };
        self.columns.clear();
    }

    /// Takes in the first columns of a row; the others are 0.
    pub(crate) fn add_row(&mut self, row: &[f64]) {
        if row.len() > self.columns.len() {
            let mut of_others = Digits::default();
            if self.n_rows > 0 {
                of_others.add(0.0);
            }
            self.columns.resize(row.len(), of_others);
        }
        self.n_rows += 1;
        let (here, others) = self.columns.split_at_mut(row.len());
        here.iter_mut().zip(row).for_each(|(digits, &value)| digits.add(value));
        others.iter_mut().for_each(|digits| digits.add(0.0));
    }

    /// Takes in numbers of any columns.
    pub(crate) fn add_scattered(&mut self, values: &[f64]) {
        values.iter().for_each(|&value| self.scattered.add(value));
    }

    /// Takes in what others saw.
    pub(crate) fn merge(&mut self, other: &ColumnDigits) {
        if other.columns.len() > self.columns.len() {
            self.columns.resize(other.columns.len(), Digits::default());
        }
        self.columns.iter_mut().zip(&other.columns).for_each(|(digits, other)| digits.merge(other));
        self.scattered.merge(&other.scattered);
        self.n_rows += other.n_rows;
    }

    /// Whether distinct numbers of every column stay distinct; all numbers were seen.
    pub(crate) fn are_apart(&self) -> bool {
        // Rows with gaps and without have the same columns: any of the scattered numbers may be in any column.
        let scattered = &self.scattered;
        if scattered.grid == 0.0 && !scattered.are_long {
            let are_apart = |column: &Digits| {
                column.are_f32 && scattered.are_f32
                    || column.is_constant && scattered.first.is_none()
                    || column.are_apart(column.largest.max(scattered.largest))
            };
            return self.columns.iter().all(are_apart);
        }
        self.are_f32()
    }

    /// The same where numbers that were surely short were not seen; those of a column are at most so large.
    pub(crate) fn are_surely_apart(&self, largest: impl Fn(usize) -> f64) -> bool {
        !self.has_long() && self.columns.iter().enumerate().all(|(at, column)| column.are_apart(largest(at)))
    }

    /// Whether all numbers are of f32.
    fn are_f32(&self) -> bool {
        self.scattered.are_f32 && self.columns.iter().all(|column| column.are_f32)
    }

    /// Whether some number has more digits than f32 can tell, or than can be told without its column.
    pub(crate) fn has_long(&self) -> bool {
        self.scattered.grid != 0.0 || self.scattered.are_long || self.columns.iter().any(|column| column.are_long)
    }

    /// Whether all numbers that were seen are short.
    pub(crate) fn are_short(&self) -> bool {
        !self.has_long() && self.columns.iter().all(|column| column.grid == 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    fn are_apart(values: &[f64]) -> bool {
        let mut digits = ColumnDigits::default();
        values.iter().for_each(|&value| digits.add_row(&[value]));
        digits.are_apart()
    }

    #[test]
    fn numbers_of_few_digits_are_told_apart() {
        assert!(are_apart(&[0.1, 0.123456, 123456.0, 1.23456e-7, -9.87654e20, 3.2e-25, 16777216.0]));
        assert!(are_apart(&[-7.123456, 3.5, 15.999999]), "six decimals, none above 16");
        assert!(are_apart(&[f64::from(0.1f32), f64::from(1e-3f32), 16777216.0]));
        assert!(are_apart(&[1700000001.0; 5]), "nothing to be told apart");
        for long in [
            vec![1700000001.0, 3.0],
            vec![400.1257302210934, 1.0],
            vec![16777217.0, 0.0],
            vec![17.123456, 0.5],
            // In f32 these two are one.
            vec![0.1, f64::from(0.1f32)],
        ] {
            assert!(!are_apart(&long), "{long:?}");
        }
    }

    /// Whatever is said to stay apart does: neighbours of few digits at any magnitude, near powers of two most of all.
    #[test]
    fn what_is_told_apart_does_not_merge() {
        let mut random = Random::new(3);
        let mut n_apart = 0;
        for _ in 0..40_000 {
            let power = 10f64.powi(random.below(12) as i32 - 2);
            let near = 2f64.powi(random.below(40) as i32 - 15);
            let first = (near * power).round() + random.below(5) as f64 - 2.0;
            let values: Vec<f64> = match random.below(3) {
                0 => (0..4).map(|step| (first + f64::from(step)) / power).collect(),
                1 => (0..4).map(|step| (first + f64::from(step)) / power * [1.0, 10.0][random.below(2)]).collect(),
                _ => (0..4)
                    .map(|step| (near * 1e7 + f64::from(step)).round() / 1e7 + [0.0, 1.0 / power][random.below(2)])
                    .collect(),
            };
            if are_apart(&values) {
                n_apart += 1;
                for a in &values {
                    assert!(values.iter().all(|b| a == b || *a as f32 != *b as f32), "{values:?}");
                }
            }
        }
        assert!((4_000..36_000).contains(&n_apart), "{n_apart}");
    }
}
