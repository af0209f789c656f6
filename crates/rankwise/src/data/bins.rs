//! Bins of about equal weight that real labels are put into: grades of those who have none.

use crate::error::{Error, Result};

/// The most bins.
const MOST_BINS: usize = 256;

/// Cuts between `n` bins of labels that weigh about the same. Each cut lies between two neighbouring labels, at the place nearest to
/// the wished share of the weight, so that equal labels are never apart; where these are many, there are fewer cuts.
pub(crate) fn equal_frequency_cuts(labels: &[f64], weights: &[f64], n: usize) -> Result<Vec<f64>> {
    if !(2..=MOST_BINS).contains(&n) {
        return Err(Error::parameter("bins", n, format!("a number from 2 to {MOST_BINS}")));
    }
    let mut known: Vec<(f64, f64)> =
        labels.iter().copied().zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.0).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    known.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        first.1 += if is_same { next.1 } else { 0.0 };
        is_same
    });
    let total: f64 = known.iter().map(|(_, weight)| weight).sum();
    // Where each label ends.
    let ends: Vec<f64> = known
        .iter()
        .scan(0.0, |sum, (_, weight)| {
            *sum += weight;
            Some(*sum)
        })
        .collect();
    let mut cuts: Vec<f64> = Vec::new();
    for bin in 1..n {
        let wished = total * bin as f64 / n as f64;
        let inner = &ends[..ends.len().saturating_sub(1)];
        let behind = inner.partition_point(|end| *end < wished);
        let nearest = [behind.checked_sub(1), Some(behind).filter(|&at| at < inner.len())]
            .into_iter()
            .flatten()
            .min_by(|&a, &b| (inner[a] - wished).abs().total_cmp(&(inner[b] - wished).abs()));
        let Some(at) = nearest else { continue };
        let (low, high) = (known[at].0, known[at + 1].0);
        // Half the way, which must not be where the next label is.
        let middle = 0.5 * low + 0.5 * high;
        let cut = if middle < high && middle >= low { middle } else { low };
        if cuts.last().is_none_or(|last| *last < cut) {
            cuts.push(cut);
        }
    }
    Ok(cuts)
}

/// The bin of a label, from 0.
pub(crate) fn bin_of(cuts: &[f64], label: f64) -> usize {
    cuts.partition_point(|cut| *cut < label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(labels: &[f64], n: usize) -> Vec<usize> {
        let cuts = equal_frequency_cuts(labels, &vec![1.0; labels.len()], n).unwrap();
        labels.iter().map(|&label| bin_of(&cuts, label)).collect()
    }

    #[test]
    fn bins_have_the_same_size_and_keep_equal_labels_together() {
        let labels: Vec<f64> = (0..20).map(|k| f64::from((k * 7) % 20)).collect();
        let found = bins(&labels, 5);
        for bin in 0..5 {
            assert_eq!(found.iter().filter(|of| **of == bin).count(), 4);
        }
        assert_eq!(bins(&[1.0, 1.0, 1.0, 1.0, 2.0, 3.0], 3), [0, 0, 0, 0, 1, 1]);
        // Nine zeros and three other labels: the first cut is all that can be made of several.
        let mut heavy = vec![0.0; 9];
        heavy.extend([1.0, 2.0, 3.0]);
        let found = bins(&heavy, 5);
        assert!(found[..9].iter().all(|bin| *bin == 0) && found[9] == 1, "{found:?}");
        assert_eq!(bins(&[4.0, 4.0], 2), [0, 0]);
    }

    #[test]
    fn a_cut_lies_between_labels_however_near_they_are() {
        let next = f64::from_bits(1.0f64.to_bits() + 1);
        assert_eq!(bins(&[1.0, next], 2), [0, 1]);
        assert_eq!(bins(&[-f64::MAX, f64::MAX], 2), [0, 1]);
    }

    #[test]
    fn weights_count_as_copies() {
        let cuts = |labels: &[f64], weights: &[f64]| equal_frequency_cuts(labels, weights, 2).unwrap();
        assert_eq!(cuts(&[1.0, 2.0, 3.0, 4.0], &[3.0, 1.0, 1.0, 1.0]), [1.5]);
        assert_eq!(cuts(&[1.0, 1.0, 1.0, 2.0, 3.0, 4.0], &[1.0; 6]), [1.5]);
        assert_eq!(cuts(&[1.0, 2.0, 3.0, 9.0], &[1.0, 0.0, 0.0, 1.0]), [5.0]);
        assert!(equal_frequency_cuts(&[1.0], &[1.0], 1).is_err());
    }
}
