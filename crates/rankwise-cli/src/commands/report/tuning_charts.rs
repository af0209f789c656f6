//! Pictures of a search: points that differ in C and γ alone are a heat map, or a line where only one of them varies.

use rankwise::Loss;
use rankwise::kernel::{Gamma, Kernel};
use rankwise::model::{Method, Tuning, TuningPoint, TuningSplit};

use super::tuning::{beside, direction, gamma_text};
use crate::commands::tuning as search;
use crate::picture::{Axis, HeatMap, LineChart, Picture, Reference, Series};
use crate::text::{count, rounded};

/// The files' names; there are no more pictures than names.
pub(super) const NAMES: [&str; 12] = [
    "tuning",
    "tuning-2",
    "tuning-3",
    "tuning-4",
    "tuning-5",
    "tuning-6",
    "tuning-7",
    "tuning-8",
    "tuning-9",
    "tuning-10",
    "tuning-11",
    "tuning-12",
];

/// Heat maps with more rows or columns could not be read.
const MOST_CELLS: usize = 40;
/// Six lines can be told apart; one of them is the chosen point.
const MOST_LINES: usize = 5;
/// The bands of more lines would hide each other.
const MOST_BANDS: usize = 3;

/// What can be seen of a search.
pub(super) struct Charts {
    /// Pictures with their captions, that of the chosen point first.
    pub(super) figures: Vec<(Picture, String)>,
    /// Points with neighbours in neither C nor γ.
    pub(super) alone: Vec<usize>,
    /// Pictures that are not drawn.
    pub(super) n_left_out: usize,
}

/// Draws a search.
pub(super) fn charts(tuning: &Tuning, method: Method) -> Charts {
    let beside = beside(tuning, method);
    let families = families(tuning);
    let mut alone = Vec::new();
    let (mut plans, mut over_c, mut over_gamma) = (Vec::new(), Vec::new(), Vec::new());
    for family in &families {
        let is_all_numbers = family.gammas.iter().all(|gamma| matches!(gamma, Some(Gamma::Value(_))));
        match (family.cs.len(), family.gammas.len()) {
            (1, 1) => alone.extend(&family.points),
            (_, 1) => over_c.push(family),
            (1, _) if is_all_numbers => over_gamma.push(family),
            _ => plans.push(Plan::Heat(family)),
        }
    }
    plans.extend(over_c.chunks(MOST_LINES).map(|families| Plan::Lines(Parameter::C, families.to_vec())));
    plans.extend(over_gamma.chunks(MOST_LINES).map(|families| Plan::Lines(Parameter::Gamma, families.to_vec())));
    let n_plans = plans.len();
    plans.retain(|plan| !matches!(plan, Plan::Heat(family) if family.cs.len().max(family.gammas.len()) > MOST_CELLS));
    plans.sort_by_key(|plan| !plan.families().any(|family| family.points.contains(&tuning.best)));
    let figures: Vec<_> = NAMES.into_iter().zip(&plans).map(|(name, plan)| plan.draw(name, tuning, &beside)).collect();
    alone.sort_unstable();
    Charts { n_left_out: n_plans - figures.len(), figures, alone }
}

/// Points that differ in C and γ alone.
struct Family {
    name: String,
    points: Vec<usize>,
    /// Ascending.
    cs: Vec<f64>,
    /// Ascending, after `scale`.
    gammas: Vec<Option<Gamma>>,
}

/// The kernel without its γ, in words.
pub(super) fn family_name(kernel: Kernel) -> String {
    match kernel {
        Kernel::Poly { coef0, degree, .. } => format!("poly, degree {degree}, coef0 {}", rounded(coef0)),
        Kernel::Rbf { .. } => "rbf".into(),
        Kernel::Sigmoid { coef0, .. } => format!("sigmoid, coef0 {}", rounded(coef0)),
        _ => "linear".into(),
    }
}

fn gamma_of(kernel: Kernel) -> Option<Gamma> {
    match kernel {
        Kernel::Poly { gamma, .. } | Kernel::Rbf { gamma } | Kernel::Sigmoid { gamma, .. } => Some(gamma),
        _ => None,
    }
}

/// What points of a family have in common: loss, kernel but for γ, tube.
type Common = (Loss, Kernel, Option<f64>);

/// What all points of a family have in common.
fn common(point: &TuningPoint) -> Common {
    let mut kernel = point.kernel;
    if let Kernel::Poly { gamma, .. } | Kernel::Rbf { gamma } | Kernel::Sigmoid { gamma, .. } = &mut kernel {
        *gamma = Gamma::Scale;
    }
    (point.loss, kernel, point.epsilon)
}

fn families(tuning: &Tuning) -> Vec<Family> {
    let mut members: Vec<(Common, Vec<usize>)> = Vec::new();
    for (at, point) in tuning.points.iter().enumerate() {
        let key = common(point);
        match members.iter_mut().find(|(known, _)| *known == key) {
            Some((_, points)) => points.push(at),
            None => members.push((key, vec![at])),
        }
    }
    let has_losses = tuning.points.iter().any(|point| point.loss != tuning.points[0].loss);
    let has_tubes = tuning.points.iter().any(|point| point.epsilon != tuning.points[0].epsilon);
    let family = |((loss, kernel, epsilon), points): (Common, Vec<usize>)| {
        let mut name = family_name(kernel);
        if let Some(epsilon) = epsilon.filter(|_| has_tubes) {
            name += &format!(", ε {}", search::short(epsilon));
        }
        let mut cs: Vec<f64> = points.iter().map(|&at| tuning.points[at].c).collect();
        cs.sort_by(f64::total_cmp);
        cs.dedup();
        let mut gammas: Vec<Option<Gamma>> = points.iter().map(|&at| gamma_of(tuning.points[at].kernel)).collect();
        gammas.sort_by(|a, b| size(*a).total_cmp(&size(*b)));
        gammas.dedup();
        Family { name: if has_losses { format!("{name}, {}", loss.name()) } else { name }, points, cs, gammas }
    };
    members.into_iter().map(family).collect()
}

fn size(gamma: Option<Gamma>) -> f64 {
    match gamma {
        Some(Gamma::Value(value)) => value,
        _ => 0.0,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Parameter {
    C,
    Gamma,
}

/// A picture to be.
enum Plan<'a> {
    Heat(&'a Family),
    Lines(Parameter, Vec<&'a Family>),
}

impl<'a> Plan<'a> {
    fn families(&self) -> impl Iterator<Item = &'a Family> {
        let (one, many) = match self {
            Plan::Heat(family) => (Some(*family), &[][..]),
            Plan::Lines(_, families) => (None, &families[..]),
        };
        one.into_iter().chain(many.to_vec())
    }

    fn draw(&self, name: &'static str, tuning: &Tuning, beside: &str) -> (Picture, String) {
        match self {
            Plan::Heat(family) => heat_map(name, tuning, family, beside),
            Plan::Lines(parameter, families) => lines(name, tuning, *parameter, families, beside),
        }
    }
}

fn heat_map(name: &'static str, tuning: &Tuning, family: &Family, beside: &str) -> (Picture, String) {
    let mut cells = vec![vec![None; family.cs.len()]; family.gammas.len()];
    let mut best = None;
    for &at in &family.points {
        let point = &tuning.points[at];
        let column = family.cs.iter().position(|&c| c == point.c);
        let row = family.gammas.iter().position(|&gamma| gamma == gamma_of(point.kernel));
        let (Some(row), Some(column)) = (row, column) else { continue };
        if at == tuning.best {
            best = Some((row, column));
        }
        if best != Some((row, column)) || at == tuning.best {
            cells[row][column] = point.mean;
        }
    }
    let n_missing = cells.iter().flatten().filter(|cell| cell.is_none()).count();
    let metric = &tuning.metric;
    let gammas = family.gammas.iter().map(|gamma| gamma.map_or_else(String::new, gamma_text));
    let picture = HeatMap {
        name,
        title: format!("{metric} by C and γ: {}", family.name),
        x_title: "C".into(),
        x: family.cs.iter().map(|&c| search::short(c)).collect(),
        y_title: "γ".into(),
        y: gammas.collect(),
        value_title: metric.clone(),
        cells,
        best,
        greater_is_better: tuning.greater_is_better,
    }
    .draw();
    let chosen = if best.is_some() { "; the chosen one is outlined" } else { "" };
    let missing = match n_missing {
        0 => String::new(),
        n => format!(
            " {} not measured.",
            if n == 1 { "The hatched cell was".into() } else { format!("{n} hatched cells were") }
        ),
    };
    let caption = format!(
        "{}: {metric} for every C and γ that was tried. {}; the better, the stronger the colour{chosen}.{missing} Beside it: {beside}.",
        family.name,
        capital(direction(tuning)),
    );
    (picture, caption)
}

fn lines(
    name: &'static str,
    tuning: &Tuning,
    over: Parameter,
    families: &[&Family],
    beside: &str,
) -> (Picture, String) {
    let metric = &tuning.metric;
    let place = |point: &TuningPoint| match over {
        Parameter::C => point.c,
        Parameter::Gamma => size(gamma_of(point.kernel)),
    };
    let has_bands = matches!(tuning.split, TuningSplit::Folds { .. }) && families.len() <= MOST_BANDS;
    let mut series: Vec<Series> = families
        .iter()
        .map(|family| {
            let mut points: Vec<&TuningPoint> = family.points.iter().map(|&at| &tuning.points[at]).collect();
            points.sort_by(|a, b| place(a).total_cmp(&place(b)));
            let band = |point: &&TuningPoint| {
                let values = || point.folds.iter().copied().flatten();
                let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
                point.mean.map(|_| (place(point), low, high))
            };
            let fixed = match (over, family.gammas.first()) {
                (Parameter::C, Some(Some(gamma))) => format!(", γ {}", gamma_text(*gamma)),
                (Parameter::Gamma, _) => {
                    family.cs.first().map_or_else(String::new, |&c| format!(", C {}", search::short(c)))
                }
                _ => String::new(),
            };
            Series {
                label: format!("{}{fixed}", family.name),
                // What was not measured breaks the line.
                points: points.iter().map(|point| (place(point), point.mean.unwrap_or(f64::NAN))).collect(),
                band: if has_bands { points.iter().filter_map(band).collect() } else { Vec::new() },
            }
        })
        .collect();
    let members = || families.iter().flat_map(|family| &family.points);
    let best = &tuning.points[tuning.best];
    let symbol = if over == Parameter::C { "C" } else { "γ" };
    let mut chosen = String::new();
    if members().any(|&at| at == tuning.best) {
        chosen = format!(" Chosen: {symbol} {} with {}.", search::short(place(best)), search::four_or_dash(best.mean));
        let points = best.mean.map(|mean| (place(best), mean)).into_iter().collect();
        series.push(Series {
            label: format!("chosen, {symbol} {}", search::short(place(best))),
            points,
            band: Vec::new(),
        });
    }
    let what = match tuning.split {
        TuningSplit::Folds { folds } if has_bands => {
            format!("the mean of {}, shaded from the least to the largest of them", count(folds, "fold"))
        }
        split => format!("on {}", search::split_text(split)),
    };
    let missing = match members().filter(|&&at| tuning.points[at].mean.is_none()).count() {
        0 => String::new(),
        n => format!(
            " {} not measured; the line is broken there.",
            if n == 1 { "1 point was".into() } else { format!("{n} points were") }
        ),
    };
    let picture = LineChart {
        name,
        title: format!("{metric} by {symbol}"),
        description: format!(
            "{} of {metric} over {symbol}, {}.{chosen}{missing}",
            count(families.len(), "line"),
            direction(tuning)
        ),
        x: Axis::log(symbol),
        // An error is read from 0.
        y: Axis::linear(metric).with(if tuning.greater_is_better { &[] } else { &[0.0] }),
        series,
        reference: tuning.baseline.map(|baseline| Reference { label: beside.into(), y: baseline.value }),
    }
    .draw();
    let caption =
        format!("{metric} against {symbol}, {what}; {}.{chosen}{missing} Beside it: {beside}.", direction(tuning));
    (picture, caption)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
