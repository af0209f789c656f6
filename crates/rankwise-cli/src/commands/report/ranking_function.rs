//! What the ranking function is made of: weights or support items, and over two features its level curves.

use std::collections::HashMap;

use rankwise::data::{Features, Items, Outcome, Precision};
use rankwise::model::{Model, ScoreFunction, Scorer};

use super::content::{beside, show};
use super::mistakes::{FEW_FEATURES, spelled};
use super::{Findings, Subject};
use crate::page::{Page, Table};
use crate::picture::{Arrow, Bar, Bars, Field, Levels, Panel, Picture};
use crate::text::{count, rounded};

/// How many bars are drawn, and how many rows a table has.
const BARS: usize = 20;
const ROWS: usize = 200;
/// How many pairs the level curves are drawn over.
const DRAWN_PAIRS: usize = 300;
/// Points along a side of the grid that level curves are computed on.
const GRID: usize = 81;

/// Adds the sections.
pub(super) fn sections(page: &mut Page, findings: &Findings<'_>, pictures: &mut Vec<Picture>) {
    let Subject { model, data, .. } = &findings.subject;
    let scorer = &model.scorer;
    parts(page, model, Some(&data.set.items), pictures);
    if scorer.n_features == 2 && !scorer.are_indicators {
        page.section("Level curves");
        match levels(findings) {
            Some(figures) => show(page, figures, pictures),
            None => page.paragraph("Scores over the range of the two features leave the range of numbers."),
        }
    }
}

/// Adds the section of weights, of the items' own scores, or of support items, which have the names of equal `items` where the
/// model has kept none.
pub(super) fn parts(page: &mut Page, model: &Model, items: Option<&Items>, pictures: &mut Vec<Picture>) {
    let scorer = &model.scorer;
    let parts = match &scorer.function {
        ScoreFunction::Linear { weights, .. } if scorer.are_indicators => Parts::scores(scorer, weights),
        ScoreFunction::Linear { weights, .. } => Parts::weights(scorer, weights),
        ScoreFunction::Landmarks { weights, .. } => Parts::weights(scorer, &weights[..scorer.n_features]),
        ScoreFunction::Kernel { support, coefficients, .. } => Parts::support(model, items, support, coefficients),
        ScoreFunction::Several { .. } => return, // no one function to show
    };
    page.section(parts.heading);
    let bars = parts.rows.iter().take(BARS).map(|row| Bar { label: row.label.clone(), value: row.value }).collect();
    let picture = Bars { name: "weights", title: parts.heading.into(), axis: parts.axis.into(), bars }.draw();
    let shown = parts.rows.len().min(BARS);
    let of = if shown < parts.n { format!("{shown} of {}", parts.n) } else { format!("All {}", parts.n) };
    show(page, vec![(picture, format!("{of}, {}. Bars to the left (hatched) are negative.", parts.order))], pictures);
    if parts.rows.len() > BARS || parts.rows.iter().any(|row| row.features.is_some()) {
        page.details("As a table", &parts.table());
    }
}

/// The parts of a ranking function in the order they are shown.
struct Parts {
    heading: &'static str,
    axis: &'static str,
    order: String,
    /// What a row of the table is.
    noun: &'static str,
    /// How many there are; rows may be fewer.
    n: usize,
    rows: Vec<Part>,
}

struct Part {
    label: String,
    value: f64,
    features: Option<String>,
}

impl Parts {
    /// A leaderboard: every item has a weight of its own.
    fn scores(scorer: &Scorer, weights: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        let part = |&at: &usize| Part { label: feature_name(scorer, at), value: weights[at], features: None };
        Parts {
            heading: "Scores of the items",
            axis: "score",
            order: "the best first".into(),
            noun: "item",
            n: weights.len(),
            rows: order.iter().take(ROWS).map(part).collect(),
        }
    }

    fn weights(scorer: &Scorer, weights: &[f64]) -> Self {
        let units = match scorer.scaler {
            Some(_) => "; weights are for scaled features, so their sizes compare",
            None => "; weights are for features in their own units",
        };
        let part = |at: usize| Part { label: feature_name(scorer, at), value: weights[at], features: None };
        Parts {
            heading: "Largest weights",
            axis: "weight",
            order: format!("the largest first{units}"),
            noun: "feature",
            n: weights.len(),
            rows: largest(weights).into_iter().take(ROWS).map(part).collect(),
        }
    }

    fn support(model: &Model, items: Option<&Items>, support: &Features, coefficients: &[f64]) -> Self {
        let scorer = &model.scorer;
        let names = SupportNames::new(model, items);
        let has_features = !scorer.are_indicators && (1..=FEW_FEATURES).contains(&support.n_cols());
        let part = |at: usize| {
            let own = own_units(scorer, support, at);
            let label = names.find(model, support, at).unwrap_or_else(|| {
                let short = own.iter().map(|&value| short(value)).collect::<Vec<_>>().join(", ");
                if own.len() <= 3 { format!("({short})") } else { format!("support item #{}", at + 1) }
            });
            let features = has_features.then(|| {
                let row = Features::dense(own.len(), own, Precision::F64);
                row.map_or_else(|_| "–".into(), |row| spelled(&row, 0, scorer.feature_names.as_deref()))
            });
            Part { label, value: coefficients[at], features }
        };
        Parts {
            heading: "Most influential items",
            axis: "coefficient of the support item",
            order: "those with the largest coefficients first: near them the score is raised or lowered most".into(),
            noun: "item",
            n: coefficients.len(),
            rows: largest(coefficients).into_iter().take(ROWS).map(part).collect(),
        }
    }

    fn table(&self) -> Table {
        let mut header = vec![self.noun.to_string(), self.axis.to_string()];
        let has_features = self.rows.iter().any(|row| row.features.is_some());
        if has_features {
            header.push("features".into());
        }
        let row = |part: &Part| {
            let mut row = vec![part.label.clone(), rounded(part.value)];
            row.extend(part.features.clone());
            row
        };
        let caption = if self.rows.len() < self.n {
            format!("{} of {}", self.rows.len(), self.n)
        } else {
            format!("All {}", self.n)
        };
        Table { caption, header, rows: self.rows.iter().map(row).collect(), is_words: has_features }
    }
}

/// Three digits, for labels.
fn short(value: f64) -> String {
    format!("{value:.2e}").parse().map_or_else(|_| "–".into(), |value| rounded(value).replace('-', "−"))
}

fn feature_name(scorer: &Scorer, at: usize) -> String {
    match &scorer.feature_names {
        Some(names) => names.get(at).cloned().unwrap_or_default(),
        None => format!("#{}", at + 1),
    }
}

/// The places of the largest absolute values; equal ones in order.
fn largest(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    order
}

/// A support item as the user knows its features.
fn own_units(scorer: &Scorer, support: &Features, row: usize) -> Vec<f64> {
    let mut values = vec![0.0; support.n_cols()];
    support.copy_row(row, &mut values);
    if let Some(scaler) = &scorer.scaler {
        for ((value, shift), divisor) in values.iter_mut().zip(&scaler.shift).zip(&scaler.divisor) {
            *value = *value * divisor + shift;
        }
    }
    values
}

/// What support items are called: as in the training data, or what they indicate. Models of 0.1 have kept no names; theirs are
/// those of the given items with the same features.
struct SupportNames<'a> {
    items: Option<&'a Items>,
    known: HashMap<Vec<u32>, u32>,
}

impl<'a> SupportNames<'a> {
    fn new(model: &Model, items: Option<&'a Items>) -> Self {
        let is_asked =
            |items: &&Items| model.training.support_names.is_none() && items.ids.is_some() && !items.are_indicators;
        let items = items.filter(is_asked);
        let mut known = HashMap::new();
        if let Some(items) = items
            && let Some(columns) = columns(&model.scorer, items)
        {
            let mut row = vec![0.0; items.features.n_cols()];
            for item in 0..items.n_items() {
                items.features.copy_row(item, &mut row);
                let own: Vec<f64> = columns.iter().map(|&column| row[column]).collect();
                known.entry(key(&own)).or_insert(item as u32);
            }
        }
        SupportNames { items, known }
    }

    fn find(&self, model: &Model, support: &Features, row: usize) -> Option<String> {
        if let Some(names) = &model.training.support_names {
            return names.get(row).cloned();
        }
        if model.scorer.are_indicators {
            let mut name = None;
            support.for_each_in_row(row, |column, value| {
                if value != 0.0 {
                    name = Some(feature_name(&model.scorer, column));
                }
            });
            return name;
        }
        let item = *self.known.get(&key(&own_units(&model.scorer, support, row)))?;
        self.items.map(|items| items.name(item))
    }
}

/// Training may have kept fewer digits than the file has, and scaling back and forth rounds: some digits less still.
fn key(row: &[f64]) -> Vec<u32> {
    row.iter().map(|&value| ((value as f32).to_bits().wrapping_add(0x80)) & 0xffff_ff00).collect()
}

/// Where the model's features stand in the data.
fn columns(scorer: &Scorer, items: &Items) -> Option<Vec<usize>> {
    match (&scorer.feature_names, &items.feature_names) {
        (Some(wanted), Some(found)) => {
            let position: HashMap<&str, usize> = found.iter().enumerate().map(|(at, n)| (n.as_str(), at)).collect();
            wanted.iter().map(|name| position.get(name.as_str()).copied()).collect()
        }
        _ => (items.features.n_cols() == scorer.n_features).then(|| (0..scorer.n_features).collect()),
    }
}

/// Figure 3 of the SVMcompare paper, with the given pairs.
fn levels(findings: &Findings<'_>) -> Option<Vec<(Picture, String)>> {
    let Subject { model, data, .. } = findings.subject;
    let (scorer, items) = (&model.scorer, &data.set.items);
    let &[first, second] = columns(scorer, items)?.as_slice() else { return None };
    let point = |item: u32| {
        let mut row = vec![0.0; items.features.n_cols()];
        items.features.copy_row(item as usize, &mut row);
        (row[first], row[second])
    };
    let present: Vec<usize> = (0..data.n_pairs()).filter(|&k| data.weight(k) > 0.0).collect();
    let n_drawn = present.len().min(DRAWN_PAIRS);
    let pairs: Vec<Arrow> = (0..n_drawn)
        .map(|at| {
            let k = present[at * present.len() / n_drawn];
            let (pair, outcome) = (data.set.pairs[k], data.outcomes[k]);
            let (left, right) = (point(pair.left), point(pair.right));
            let (from, to) = if outcome == Outcome::Left { (right, left) } else { (left, right) };
            Arrow { from, to, is_tie: outcome == Outcome::Tie }
        })
        .collect();
    let ends = || pairs.iter().flat_map(|pair| [pair.from, pair.to]);
    let extent = [padded(ends().map(|p| p.0)), padded(ends().map(|p| p.1))];

    let place = |(low, high): (f64, f64), k: usize| low + (high - low) * k as f64 / (GRID - 1) as f64;
    let grid = (0..GRID * GRID).flat_map(|k| [place(extent[0], k % GRID), place(extent[1], k / GRID)]);
    let features = Features::dense(2, grid.collect(), Precision::F64).ok()?;
    let values = scorer.scores(&Items::new(features, scorer.feature_names.clone(), None).ok()?).ok()?;
    let field = Field { n_columns: GRID, values, threshold: model.threshold };
    let spacing = field.levels();
    let apart = match spacing.thresholds {
        _ if spacing.values.is_empty() => "The score is the same everywhere.".to_string(),
        Some(1.0) => "Neighbouring level curves of the score are τ apart, one difference that matters, and count from the middle score.".to_string(),
        Some(times) => format!("Neighbouring level curves of the score are {times} τ apart and count from the middle score."),
        None => "Level curves of the score; the threshold is too small or too large to space them.".into(),
    };
    let apart = match spacing.thresholds {
        Some(_) if model.band.is_some() => format!("{apart} τ is the mean threshold: every pair has its own."),
        _ => apart,
    };
    let which = if n_drawn < present.len() {
        format!("{n_drawn} of {}, evenly spread over the file", count(present.len(), "pair"))
    } else {
        count(n_drawn, "pair")
    };
    let draw = |name: &'static str, title: &str, panel: Panel| {
        let features = [0, 1].map(|at| feature_name(scorer, at));
        Levels { name, title: title.into(), features, extent, panels: vec![panel] }.draw()
    };
    let judged = Panel { pairs: pairs.clone(), ..Panel::default() };
    let curves = Panel { pairs, are_pairs_faint: true, field: Some(field), ..Panel::default() };
    Some(vec![
        (
            draw("pairs", "Judged pairs over the two features", judged),
            format!("{which} as judged: a plain line is a tie, an arrow points to the better item."),
        ),
        (
            draw("levels", "Level curves of the ranking function", curves),
            format!("The same pairs under the ranking function. {apart} {}", beside(findings)),
        ),
    ])
}

/// The range of numbers with a little room around it.
fn padded(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = if high > low { 0.04 * (high - low) } else { 0.5 * low.abs().max(1.0) };
    (low - room, high + room)
}
