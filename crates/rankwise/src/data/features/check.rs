//! Whether numbers and compressed rows are sound, at the speed of memory: a first pass only tells whether all are, and the first
//! fault is looked for when there is one.

use rayon::prelude::*;

use super::Values;
use crate::error::{Error, Result};
use crate::math::{Real, wide};

/// Numbers that are worth a thread.
const BLOCK: usize = 1 << 16;

/// All numbers are finite; else the place of the first one that is not.
pub(super) fn first_not_finite(values: &Values) -> Option<usize> {
    fn first<T: Real>(values: &[T]) -> Option<usize> {
        let is_finite = |value: &T| *value > T::LOWEST && *value < T::HIGHEST;
        if values.par_chunks(BLOCK).all(all_finite) { None } else { values.iter().position(|v| !is_finite(v)) }
    }
    match values {
        Values::F32(values) => first(values),
        Values::F64(values) => first(values),
    }
}

wide! {
    fn all_finite<T>(values: &[T]) -> bool {
        let mut are = true;
        for value in values {
            are &= (*value > T::LOWEST) & (*value < T::HIGHEST);
        }
        are
    }
}

pub(super) fn not_finite(row: usize, column: usize) -> Error {
    Error::parameter("features", format!("NaN or infinity in row {row}, column {column}"), "finite numbers")
}

/// Dense rows of finite numbers.
pub(super) fn check_dense(n_cols: usize, values: &Values) -> Result<()> {
    match first_not_finite(values) {
        None => Ok(()),
        Some(at) => Err(not_finite(at / n_cols, at % n_cols)),
    }
}

/// Compressed rows: starts that span the numbers, columns that ascend within rows, finite numbers.
pub(super) fn check_sparse(n_cols: usize, starts: &[usize], columns: &[u32], values: &Values) -> Result<()> {
    let shape = |what: String| Err(Error::parameter("features", what, "compressed sparse rows"));
    if starts.first() != Some(&0) || starts.last() != Some(&values.len()) || columns.len() != values.len() {
        return shape("row starts that do not span the values".into());
    }
    if !starts_ascend(starts) || !columns_ascend(starts, columns, n_cols) {
        for (row, range) in starts.windows(2).enumerate() {
            let Some(columns) = columns.get(range[0]..range[1]) else {
                return shape(format!("row {row} that ends before it starts"));
            };
            if !columns.is_sorted_by(|a, b| a < b) || columns.last().is_some_and(|&c| c as usize >= n_cols) {
                return shape(format!("row {row} with columns that do not ascend below {n_cols}"));
            }
        }
    }
    match first_not_finite(values) {
        None => Ok(()),
        Some(at) => {
            let row = starts.partition_point(|&start| start <= at) - 1;
            Err(not_finite(row, columns[at] as usize))
        }
    }
}

/// Neighbours in blocks, each with the one after it.
fn blocks_of_neighbours<T: Sync>(values: &[T]) -> impl IndexedParallelIterator<Item = (&[T], &[T])> {
    let n = values.len().saturating_sub(1);
    values[..n].par_chunks(BLOCK).zip(values[values.len() - n..].par_chunks(BLOCK))
}

fn starts_ascend(starts: &[usize]) -> bool {
    blocks_of_neighbours(starts)
        .all(|(here, next)| here.iter().zip(next).fold(true, |are, (here, next)| are & (here <= next)))
}

/// Where a column is not above the one before it, a row begins: as many such places are there among all numbers as there are at
/// the beginnings of rows. `starts` ascend and span the columns.
fn columns_ascend(starts: &[usize], columns: &[u32], n_cols: usize) -> bool {
    let (n_falls, largest) = blocks_of_neighbours(columns)
        .map(|(here, next)| {
            let n_falls = here.iter().zip(next).fold(0u32, |n, (here, next)| n + u32::from(next <= here));
            (n_falls as usize, here.iter().fold(0, |largest, &column| largest.max(column)))
        })
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
    let n_falls_at_starts: usize = blocks_of_neighbours(starts)
        .map(|(here, next)| {
            // Of rows without numbers that begin at the same place, the last one counts.
            let falls =
                |&(&here, &next): &(&usize, &usize)| here < next && here > 0 && columns[here] <= columns[here - 1];
            here.iter().zip(next).filter(falls).count()
        })
        .sum();
    let Some(&last) = columns.last() else { return true };
    n_falls == n_falls_at_starts && (largest.max(last) as usize) < n_cols
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    /// One number after the other.
    fn plain_fault(n_cols: usize, starts: &[usize], columns: &[u32], values: &[f64]) -> Option<String> {
        for row in 0..starts.len() - 1 {
            if starts[row] > starts[row + 1] || starts[row + 1] > columns.len() {
                return Some(format!("row {row} that ends before"));
            }
            for at in starts[row]..starts[row + 1] {
                if columns[at] as usize >= n_cols || (at > starts[row] && columns[at] <= columns[at - 1]) {
                    return Some(format!("row {row} with columns"));
                }
            }
        }
        for row in 0..starts.len() - 1 {
            for at in starts[row]..starts[row + 1] {
                if !values[at].is_finite() {
                    return Some(format!("row {row}, column {}", columns[at]));
                }
            }
        }
        None
    }

    #[test]
    fn damaged_rows_are_found_where_a_plain_look_finds_them() {
        let mut random = Random::new(11);
        let mut n_sound = 0;
        for trial in 0..400 {
            let n_cols = 1 + random.below(9);
            let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
            for _ in 0..random.below(12) {
                for column in 0..n_cols {
                    if random.uniform() < 0.4 {
                        columns.push(column as u32);
                        values.push(random.normal());
                    }
                }
                starts.push(values.len());
            }
            if !values.is_empty() {
                let at = random.below(values.len());
                match trial % 5 {
                    0 => columns[at] = random.below(n_cols + 1) as u32,
                    1 => values[at] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][trial % 3],
                    2 => {
                        let row = random.below(starts.len() - 1);
                        if row > 0 {
                            starts[row] = random.below(values.len() + 1);
                        }
                    }
                    3 => columns.reverse(),
                    _ => {}
                }
            }
            let expected = plain_fault(n_cols, &starts, &columns, &values);
            let found = check_sparse(n_cols, &starts, &columns, &Values::F64(values.into()));
            match expected {
                None => found.unwrap(),
                Some(expected) => {
                    let error = found.unwrap_err().to_string();
                    assert!(error.contains(&expected), "{error} instead of {expected}");
                    continue;
                }
            }
            n_sound += 1;
        }
        assert!((100..350).contains(&n_sound), "{n_sound}");
    }

    #[test]
    fn faults_across_blocks_are_found() {
        let n = 3 * BLOCK + 5;
        let columns: Vec<u32> = (0..n as u32).collect();
        let values = Values::F32(vec![1.0; n].into());
        assert!(check_sparse(n, &[0, n], &columns, &values).is_ok());
        assert!(check_sparse(n - 1, &[0, n], &columns, &values).is_err());
        for at in [0, BLOCK - 1, BLOCK, 2 * BLOCK - 1, n - 2] {
            let mut swapped = columns.clone();
            swapped.swap(at, at + 1);
            assert!(check_sparse(n, &[0, n], &swapped, &values).is_err(), "{at}");
            // A row that begins there may start again.
            let start = at + 1;
            let mut again = columns.clone();
            again[start] = 0;
            let sound = check_sparse(n, &[0, start, start, start + 1, n], &again, &values);
            assert!(sound.is_ok(), "{at}");
        }
        for at in [0, BLOCK - 1, BLOCK, n - 1] {
            let mut numbers = vec![1.0f32; n];
            numbers[at] = f32::NAN;
            assert_eq!(first_not_finite(&Values::F32(numbers.into())), Some(at));
        }
    }
}
