//! Level curves of the paper's Figure 3: simulated pairs over the plane, the diamonds of the true function, and what a
//! machine has learnt from the pairs.

use rankwise::Model;
use rankwise::data::simulate::Norm;
use rankwise::data::{Comparisons, Features, Items, Outcome, Precision};

use crate::exit::Run;
use crate::picture::{Arrow, Field, Levels, Panel, Picture};

/// Points along a side of the grid that level curves are computed on.
const GRID: usize = 81;
/// Points are drawn from this square.
const EXTENT: (f64, f64) = (-3.0, 3.0);
/// Levels of the true function: diamonds at equal distances.
const LEVELS: [f64; 5] = [1.0, 4.0, 9.0, 16.0, 25.0];

/// The pairs over the true function.
pub(super) fn pairs(name: &'static str, pairs: &Comparisons) -> Picture {
    let panel = Panel { pairs: arrows(pairs), beneath: beneath(), ..Panel::default() };
    draw(name, "the pairs", panel)
}

/// What a machine has learnt, over the true function: a curve for each diamond, at the middle score along it.
pub(super) fn learnt(name: &'static str, heading: &str, model: &Model) -> Run<Picture> {
    let levels = LEVELS.iter().filter_map(|&level| middle_score(model, level).transpose());
    let field = Field { n_columns: GRID, values: scores(model, grid_points())?, threshold: model.threshold };
    let panel =
        Panel { levels: levels.collect::<Run<_>>()?, field: Some(field), beneath: beneath(), ..Panel::default() };
    Ok(draw(name, heading, panel))
}

fn beneath() -> Option<(Field, Vec<f64>)> {
    let values = grid_points().map(|point| Norm::L1.rank(point)).collect();
    Some((Field { n_columns: GRID, values, threshold: 1.0 }, LEVELS.to_vec()))
}

fn draw(name: &'static str, heading: &str, panel: Panel) -> Picture {
    let panel = Panel { heading: heading.into(), ..panel };
    Levels {
        name,
        title: format!("Level curves: {heading}"),
        features: ["x1".into(), "x2".into()],
        extent: [EXTENT; 2],
        panels: vec![panel],
    }
    .draw()
}

/// Pairs as they are drawn.
fn arrows(pairs: &Comparisons) -> Vec<Arrow> {
    let point = |item: u32| {
        let mut point = [0.0; 2];
        pairs.set.items.features.copy_row(item as usize, &mut point);
        (point[0], point[1])
    };
    let judged = pairs.set.pairs.iter().zip(&pairs.outcomes);
    judged
        .map(|(pair, &outcome)| {
            let (left, right) = (point(pair.left), point(pair.right));
            let (from, to) = if outcome == Outcome::Left { (right, left) } else { (left, right) };
            Arrow { from, to, is_tie: outcome == Outcome::Tie }
        })
        .collect()
}

fn grid_points() -> impl Iterator<Item = [f64; 2]> {
    let place = |k: usize| EXTENT.0 + (EXTENT.1 - EXTENT.0) * k as f64 / (GRID - 1) as f64;
    (0..GRID * GRID).map(move |k| [place(k % GRID), place(k / GRID)])
}

fn scores(model: &Model, points: impl Iterator<Item = [f64; 2]>) -> Run<Vec<f64>> {
    let features = Features::dense(2, points.flatten().collect(), Precision::F64)?;
    Ok(model.scorer.scores(&Items::new(features, model.scorer.feature_names.clone(), None)?)?)
}

/// The middle one of a model's scores along a diamond, as far as it lies in the square.
fn middle_score(model: &Model, level: f64) -> Run<Option<f64>> {
    let radius = level.sqrt();
    let along = |k: usize| {
        let x = radius * (2.0 * k as f64 / GRID as f64 - 1.0);
        [[x, radius - x.abs()], [x, x.abs() - radius]]
    };
    let is_inside = |point: &[f64; 2]| point.iter().all(|x| (EXTENT.0..=EXTENT.1).contains(x));
    let mut scores = scores(model, (0..GRID).flat_map(along).filter(is_inside))?;
    scores.sort_by(f64::total_cmp);
    Ok(scores.get(scores.len() / 2).copied())
}
