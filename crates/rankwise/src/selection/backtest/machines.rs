//! Machines that learn from features, learnt anew a few times.

use super::{Course, Forecast};
use crate::data::{Comparisons, Features, PairSet, Precision, Scale};
use crate::error::Result;
use crate::estimator::PairEstimator;
use crate::model::Method;

/// Penalties that are tried.
const C: [f64; 4] = [0.01, 0.1, 1.0, 10.0];

/// `compare` and `davidson` on features, linear, each with the C that predicted best before the split.
pub(super) fn contenders(course: &Course<'_>, features: &Comparisons) -> Result<Vec<(&'static str, String, Forecast)>> {
    let with_side = course.has_side.then(|| add_side(course, features)).transpose()?;
    let features = with_side.as_ref().unwrap_or(features);
    let mut found = Vec::new();
    for (method, name) in [(Method::Compare, "compare on features"), (Method::Davidson, "davidson on features")] {
        let mut best: Option<(f64, f64)> = None;
        for c in C {
            let forecast = forecast(method, c, features, course.choice, course.choice..course.split)?;
            let loss: f64 = (course.choice..course.split)
                .zip(&forecast)
                .map(|(k, p)| -features.weight(k) * p[features.outcomes[k] as usize].max(super::LEAST_CHANCE).ln())
                .sum();
            if best.is_none_or(|best| loss < best.0) {
                best = Some((loss, c));
            }
        }
        let c = best.map_or(1.0, |best| best.1);
        let mut predicted = Forecast::new();
        for (start, part) in course.parts() {
            predicted.extend(forecast(method, c, features, start, part)?);
        }
        found.push((name, format!("C {c}"), predicted));
    }
    Ok(found)
}

/// Learns from the games before `end`, and says what it thinks of a part of the others.
fn forecast(
    method: Method,
    c: f64,
    features: &Comparisons,
    end: usize,
    part: std::ops::Range<usize>,
) -> Result<Forecast> {
    let mut machine = PairEstimator::new(method)?.calibrated(method == Method::Compare);
    let (_, kernel, loss) = machine.shape();
    machine = machine.shaped(c, kernel, loss);
    *machine.scale_mut() = Scale::Standard;
    let model = machine.fit(&features.select(&(0..end).collect::<Vec<_>>()))?.model;
    let asked = features.set.select(&part.clone().collect::<Vec<_>>());
    Ok(model.judge(&asked)?.chances.unwrap_or_else(|| vec![[1.0 / 3.0; 3]; part.len()]))
}

/// The same pairs with one more feature: whether a side is named first, and that is worth something.
fn add_side(course: &Course<'_>, features: &Comparisons) -> Result<Comparisons> {
    let items = &features.set.items;
    let width = items.features.n_cols() + 1;
    let side = |is_left: bool| {
        let mut values = vec![0.0; features.n_pairs() * width];
        for ((row, pair), game) in values.chunks_exact_mut(width).zip(&features.set.pairs).zip(&course.games.games) {
            let item = if is_left { pair.left } else { pair.right };
            items.features.copy_row(item as usize, &mut row[..width - 1]);
            row[width - 1] = f64::from(u8::from(is_left && !game.is_neutral));
        }
        Features::dense(width, values, Precision::F64)
    };
    let set = PairSet::from_sides(&side(true)?, &side(false)?, None)?;
    Comparisons::new(set, features.outcomes.clone(), features.weights.clone(), None)
}
