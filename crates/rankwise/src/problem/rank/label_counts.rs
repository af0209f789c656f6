//! How many pairs the labels of a group make.

/// What the labels of a group say of its pairs.
pub(super) struct LabelCounts {
    pub(super) distinct: Vec<f64>,
    pub(super) n_pairs: u64,
    pub(super) mass: f64,
}

impl LabelCounts {
    /// `None` where all labels are the same.
    pub(super) fn of(labels: &[f64], weights: Option<&[f64]>) -> Option<Self> {
        let mut sorted: Vec<(f64, f64)> =
            labels.iter().enumerate().map(|(i, &label)| (label, weights.map_or(1.0, |w| w[i]))).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut distinct, mut n_pairs, mut mass) = (Vec::new(), 0u64, 0.0);
        let (mut n_below, mut below) = (0u64, 0.0);
        for run in sorted.chunk_by(|a, b| a.0 == b.0) {
            distinct.push(run[0].0);
            let weight: f64 = run.iter().map(|item| item.1).sum();
            n_pairs += n_below * run.len() as u64;
            mass += below * weight;
            n_below += run.len() as u64;
            below += weight;
        }
        (distinct.len() > 1).then_some(LabelCounts { distinct, n_pairs, mass })
    }
}
