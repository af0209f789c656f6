//! A tie band by name: what its weights belong to.

use rankwise::model::{Model, TieBand};

/// The largest weights with what they belong to, the largest first; equal ones in order.
pub(super) fn largest_weights(model: &Model, band: &TieBand, top: usize) -> Vec<(String, f64)> {
    let scorer = &model.scorer;
    let feature = |at: usize| match &scorer.feature_names {
        _ if at >= scorer.n_features => format!("landmark #{}", at - scorer.n_features + 1),
        Some(names) => names.get(at).cloned().unwrap_or_default(),
        None => format!("#{}", at + 1),
    };
    let means = band.mean.iter().enumerate().map(|(at, &weight)| (format!("mean of {}", feature(at)), weight));
    let differences =
        band.difference.iter().enumerate().map(|(at, &weight)| (format!("difference of {}", feature(at)), weight));
    let of_pairs = band.context_names.iter().zip(&band.context).map(|(name, &weight)| (format!("pair.{name}"), weight));
    let mut weights: Vec<(String, f64)> = of_pairs.chain(means).chain(differences).collect();
    weights.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    weights.truncate(top);
    weights
}

/// How many weights there are.
pub(super) fn n_weights(band: &TieBand) -> usize {
    band.mean.len() + band.difference.len() + band.context.len()
}

/// What the weights are for, to stand behind "the largest first".
pub(super) fn units(model: &Model) -> &'static str {
    match model.scorer.scaler {
        Some(_) => "; weights are for scaled features, so their sizes compare",
        None => "; weights are for features in their own units",
    }
}
