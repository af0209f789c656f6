//! Figure 3 of the SVMcompare paper: pairs over two features, and curves along which a ranking function is constant.
//! Neighbouring curves are one difference that matters apart.

use super::Picture;
use super::contour::Grid;
use super::scale::{Scale, plain, step_of};
use super::svg::{Anchor, Area, Canvas, LETTER, Path, shortened, text_width};

/// Pixels of a square.
const SIDE: f64 = 300.0;
const MOST_LEVELS: usize = 12;

/// A judged pair as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Arrow {
    /// One item; of a non-tie the worse one.
    pub(crate) from: (f64, f64),
    /// The other one.
    pub(crate) to: (f64, f64),
    /// No difference: a plain line.
    pub(crate) is_tie: bool,
}

/// A ranking function on a grid over the whole panel.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// How many points a row of the grid has.
    pub(crate) n_columns: usize,
    /// Rows from low to high y, in each from low to high x.
    pub(crate) values: Vec<f64>,
    /// The difference that does not matter.
    pub(crate) threshold: f64,
}

/// One square.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panel {
    /// What stands above it.
    pub(crate) heading: String,
    /// The pairs.
    pub(crate) pairs: Vec<Arrow>,
    /// The pairs are only hinted at, so that the curves can be seen.
    pub(crate) are_pairs_faint: bool,
    /// The curves.
    pub(crate) field: Option<Field>,
    /// The levels of these curves, which then have no labels; if empty, such as suit the values.
    pub(crate) levels: Vec<f64>,
    /// Dashed curves to compare with, and their levels.
    pub(crate) beneath: Option<(Field, Vec<f64>)>,
}

/// Panels side by side over the same two features.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// What is shown, for those who do not see it.
    pub(crate) title: String,
    /// The two features.
    pub(crate) features: [String; 2],
    /// The range of the first and of the second feature, for all panels.
    pub(crate) extent: [(f64, f64); 2],
    /// The squares.
    pub(crate) panels: Vec<Panel>,
}

/// Which levels are drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spacing {
    /// The levels, ascending.
    pub(crate) values: Vec<f64>,
    /// How many thresholds lie between two; `None` where the threshold cannot space them.
    pub(crate) thresholds: Option<f64>,
    /// The level that multiples of the threshold are counted from.
    base: f64,
}

impl Field {
    /// Multiples of the threshold (as few of them apart as leaves few enough levels) away from the middle of the values;
    /// without a threshold, round numbers.
    pub(crate) fn levels(&self) -> Spacing {
        let finite = || self.values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let span = high - low;
        if !(span > 0.0 && span.is_finite()) {
            return Spacing { values: Vec::new(), thresholds: None, base: 0.0 };
        }
        let tau = self.threshold;
        if tau > 0.0 && tau.is_finite() && span / tau < 1e6 && span > tau {
            let fewest = (span / tau / MOST_LEVELS as f64).ceil();
            let times = if fewest <= 10.0 { fewest } else { step_of(span / tau, MOST_LEVELS) };
            let step = times * tau;
            // Level 0 is the middle one of the values that occur: scores have no zero of their own.
            let mut sorted: Vec<f64> = finite().collect();
            sorted.sort_by(f64::total_cmp);
            let base = sorted[sorted.len() / 2];
            let (first, last) = (((low - base) / step).ceil(), ((high - base) / step).floor());
            let n = (last - first).clamp(0.0, 2.0 * MOST_LEVELS as f64) as usize;
            let values = (0..=n).map(|k| base + (first + k as f64) * step).collect();
            return Spacing { values, thresholds: Some(times), base };
        }
        let step = step_of(span, 8);
        let first = (low / step).ceil();
        let n = ((high / step).floor() - first).clamp(0.0, 20.0) as usize;
        Spacing { values: (0..=n).map(|k| (first + k as f64) * step).collect(), thresholds: None, base: 0.0 }
    }
}

impl Panel {
    fn n_levels(&self, field: &Field) -> usize {
        if self.levels.is_empty() { field.levels().values.len() } else { self.levels.len() }
    }
}

impl Levels {
    /// Draws them.
    pub(crate) fn draw(&self) -> Picture {
        let has_headings = self.panels.iter().any(|panel| !panel.heading.is_empty());
        let top = if has_headings { 30.0 } else { 12.0 };
        let [x, y] = [0, 1].map(|k| Scale::linear([self.extent[k].0, self.extent[k].1]));
        let y_ticks = y.over(top + SIDE, top).ticks(6);
        let left = LETTER + 16.0 + y_ticks.iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max);
        let (gap, n) = (22.0, self.panels.len().max(1) as f64);
        let width = left + n * SIDE + (n - 1.0) * gap + 14.0;
        let height = top + SIDE + 2.0 * LETTER + 18.0;
        let mut canvas = Canvas::default();
        for (k, panel) in self.panels.iter().enumerate() {
            let area = Area { left: left + k as f64 * (SIDE + gap), top, width: SIDE, height: SIDE };
            let (x, y) = (x.over(area.left, area.right()), y.over(area.bottom(), area.top));
            draw_axes(&mut canvas, area, &x, &y, k == 0);
            draw_panel(&mut canvas, area, panel, &x, &y);
            if has_headings {
                let shown = shortened(&panel.heading, SIDE);
                let place = (area.left + SIDE / 2.0, top - 10.0);
                canvas.label("rw-bold", place, Anchor::Middle, &shown, &panel.heading);
            }
            let shown = shortened(&self.features[0], SIDE);
            let place = (area.left + SIDE / 2.0, height - 6.0);
            canvas.label("rw-soft", place, Anchor::Middle, &shown, &self.features[0]);
        }
        let shown = shortened(&self.features[1], SIDE);
        canvas.upward_text("rw-soft", (LETTER + 2.0, top + SIDE / 2.0), &shown);
        Picture::new(self.name, self.title.clone(), self.description(), (width, height), canvas)
    }

    fn description(&self) -> String {
        let panels = self.panels.iter().map(|panel| {
            let n_ties = panel.pairs.iter().filter(|pair| pair.is_tie).count();
            let mut parts = Vec::new();
            if !panel.pairs.is_empty() {
                parts.push(format!("{n_ties} ties as lines"));
                parts.push(format!("{} non-ties as arrows to the better item", panel.pairs.len() - n_ties));
            }
            if let Some(field) = &panel.field {
                parts.push(format!("{} level curves", panel.n_levels(field)));
            }
            let heading = if panel.heading.is_empty() { "" } else { ": " };
            format!("{}{heading}{}.", panel.heading, parts.join(", "))
        });
        panels.collect::<Vec<_>>().join(" ")
    }
}

fn draw_axes(canvas: &mut Canvas, area: Area, x: &Scale, y: &Scale, has_y_labels: bool) {
    for (tick, at) in y.ticks(6).iter().filter_map(|tick| Some((tick, y.at(tick.value)?))) {
        canvas.line("rw-grid", (area.left, at), (area.right(), at));
        if has_y_labels {
            canvas.text("rw-soft", (area.left - 6.0, at + 0.35 * LETTER), Anchor::End, &tick.label);
        }
    }
    for (tick, at) in x.ticks_across(area.width).iter().filter_map(|tick| Some((tick, x.at(tick.value)?))) {
        canvas.line("rw-grid", (at, area.top), (at, area.bottom()));
        canvas.text("rw-soft", (at, area.bottom() + LETTER + 4.0), Anchor::Middle, &tick.label);
    }
    let corners =
        [(area.left, area.top), (area.right(), area.top), (area.right(), area.bottom()), (area.left, area.bottom())];
    canvas.path("rw-axis", &Path::through(&corners).closed());
}

fn draw_panel(canvas: &mut Canvas, area: Area, panel: &Panel, x: &Scale, y: &Scale) {
    let at = |point: (f64, f64)| Some((x.at(point.0)?, y.at(point.1)?));
    let (mut ties, mut arrows) = (Path::default(), Path::default());
    for pair in &panel.pairs {
        let (Some(from), Some(to)) = (at(pair.from), at(pair.to)) else { continue };
        if pair.is_tie {
            ties.extend(Path::through(&[from, to]));
        } else {
            arrows.extend(Path::through(&[from, to]));
            arrows.extend(arrow_head(from, to));
        }
    }
    let faint = if panel.are_pairs_faint { " rw-faint" } else { "" };
    canvas.path(&format!("rw-tie{faint}"), &ties);
    canvas.path(&format!("rw-arrow{faint}"), &arrows);
    if let Some((field, levels)) = &panel.beneath {
        levels.iter().for_each(|&level| draw_level(canvas, "rw-guide", &curves(area, field, level)));
    }
    match &panel.field {
        Some(field) if panel.levels.is_empty() => draw_levels(canvas, area, field),
        Some(field) => {
            panel.levels.iter().for_each(|&level| draw_level(canvas, "rw-level", &curves(area, field, level)));
        }
        None => {}
    }
}

fn draw_level(canvas: &mut Canvas, class: &str, curves: &[Vec<(f64, f64)>]) {
    let mut path = Path::default();
    curves.iter().for_each(|points| path.extend(Path::through(points)));
    canvas.path(class, &path);
}

/// A triangle whose point is `to`.
fn arrow_head(from: (f64, f64), to: (f64, f64)) -> Path {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 1e-9 {
        return Path::default();
    }
    let (ux, uy) = (dx / length, dy / length);
    let (long, half) = (7.0f64.min(length), 3.0);
    let base = (to.0 - long * ux, to.1 - long * uy);
    Path::through(&[to, (base.0 - half * uy, base.1 + half * ux), (base.0 + half * uy, base.1 - half * ux)]).closed()
}

/// The curves of a level, in pixels.
fn curves(area: Area, field: &Field, level: f64) -> Vec<Vec<(f64, f64)>> {
    let n_rows = field.values.len().checked_div(field.n_columns).unwrap_or(0);
    if n_rows < 2 || field.n_columns < 2 {
        return Vec::new();
    }
    let pixel = |(column, row): (f64, f64)| {
        let (x, y) = (column / (field.n_columns - 1) as f64, row / (n_rows - 1) as f64);
        (area.left + x * area.width, area.bottom() - y * area.height)
    };
    let grid = Grid { n_columns: field.n_columns, values: &field.values };
    grid.curves(level).into_iter().map(|curve| curve.into_iter().map(pixel).collect()).collect()
}

fn draw_levels(canvas: &mut Canvas, area: Area, field: &Field) {
    let spacing = field.levels();
    let mut labels: Vec<(Area, String)> = Vec::new();
    for &level in &spacing.values {
        let curves = curves(area, field, level);
        draw_level(canvas, "rw-level", &curves);
        let longest = curves.iter().rev().max_by(|a, b| length(a).total_cmp(&length(b)));
        let longest = longest.map_or(&[][..], Vec::as_slice);
        let text = match spacing.thresholds {
            Some(times) => multiple_of_tau(((level - spacing.base) / (times * field.threshold)).round() * times),
            None => plain(level),
        };
        // From the middle of the curve outwards: wherever there is room beside the labels that stand already.
        let (w, h) = (1.15 * text_width(&text) * 11.0 / LETTER + 4.0, 12.0);
        let place = [6, 5, 7, 4, 8, 3, 9, 2, 10, 1, 11]
            .iter()
            .map(|k| k * longest.len() / 12)
            .filter_map(|at| longest.get(at))
            .find_map(|&(x, y)| {
                let around = Area { left: x - w / 2.0, top: y - h / 2.0, width: w, height: h };
                let is_inside = around.left > area.left + 6.0 && around.right() < area.right() - 6.0;
                let is_inside = is_inside && around.top > area.top + 6.0 && around.bottom() < area.bottom() - 6.0;
                (is_inside && labels.iter().all(|(other, _)| !other.touches(&around))).then_some(around)
            });
        if let Some(place) = place {
            labels.push((place, text));
        }
    }
    for (place, text) in labels {
        let centre = (place.left + place.width / 2.0, place.bottom() - 2.0);
        canvas.text("rw-small rw-bold rw-halo", centre, Anchor::Middle, &text);
    }
}

fn multiple_of_tau(times: f64) -> String {
    match times {
        0.0 => "0".into(),
        1.0 => "τ".into(),
        -1.0 => "−τ".into(),
        times => format!("{}τ", plain(times)),
    }
}

fn length(points: &[(f64, f64)]) -> f64 {
    points.windows(2).map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(values: Vec<f64>, threshold: f64) -> Field {
        Field { n_columns: values.len(), values, threshold }
    }

    #[test]
    fn levels_are_thresholds_apart_and_few() {
        let spacing = field((0..=100).map(f64::from).collect(), 10.0).levels();
        assert_eq!(spacing.thresholds, Some(1.0));
        assert_eq!(spacing.values, (0..=10).map(|k| f64::from(10 * k)).collect::<Vec<_>>());
        let many = field((0..=1000).map(f64::from).collect(), 10.0).levels();
        assert_eq!(many.thresholds, Some(9.0));
        assert!(many.values.len() <= MOST_LEVELS + 1, "{many:?}");
        assert!(many.values.contains(&500.0), "the middle is a level: {many:?}");
        let fine = field((0..=1000).map(f64::from).collect(), 0.01).levels();
        assert_eq!(fine.thresholds, Some(10_000.0));
        for threshold in [0.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            let spacing = field(vec![0.0, 1.0, 2.5], threshold).levels();
            assert!(spacing.thresholds.is_none(), "{threshold}");
            assert!((4..=13).contains(&spacing.values.len()), "{threshold}: {spacing:?}");
        }
        assert!(field(vec![3.0; 9], 1.0).levels().values.is_empty());
        assert!(field(vec![f64::NAN, f64::INFINITY], 1.0).levels().values.is_empty());
    }

    #[test]
    fn curves_to_compare_with_lie_beneath_and_have_no_labels() {
        let ramp = || Field { n_columns: 3, values: (0..9).map(|k| f64::from(k % 3)).collect(), threshold: 1.0 };
        let draw = |panel| {
            let features = ["x".into(), "y".into()];
            Levels { name: "l", title: "t".into(), features, extent: [(0.0, 2.0); 2], panels: vec![panel] }
                .draw()
                .inline()
        };
        let own = draw(Panel { field: Some(ramp()), ..Panel::default() });
        assert!(own.contains("rw-halo"), "{own}");
        let (levels, beneath) = (vec![0.5, 1.5], Some((ramp(), vec![1.25])));
        let both = draw(Panel { field: Some(ramp()), levels, beneath, ..Panel::default() });
        assert_eq!((both.matches("rw-level").count(), both.matches("rw-guide").count()), (2, 1), "{both}");
        assert!(both.find("rw-guide") < both.find("rw-level") && !both.contains("rw-halo"), "{both}");
        assert!(both.contains("2 level curves"), "{both}");
    }

    #[test]
    fn arrows_point_to_the_better_item() {
        let head = arrow_head((0.0, 0.0), (10.0, 0.0));
        let mut canvas = Canvas::default();
        canvas.path("head", &head);
        assert!(canvas.into_string().contains("M10 0L3 3L3 -3Z"));
    }
}
