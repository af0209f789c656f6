//! Sorting by real numbers: the arithmetic of order that metrics and thresholds share.

/// The positions of `values` in ascending order; equal values keep their order. Values must not be NaN. O(n log n).
pub(crate) fn argsort(values: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    order
}

/// Splits an order into runs of equal values: calls `each` with the positions of every run, ascending.
pub(crate) fn for_each_tie_run(values: &[f64], order: &[u32], mut each: impl FnMut(&[u32])) {
    order.chunk_by(|&a, &b| values[a as usize] == values[b as usize]).for_each(&mut each);
}
