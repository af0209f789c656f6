//! The frame of a chart: axes with ticks and titles around an area to draw in, and a legend above it.

use super::scale::{Scale, Tick, plain};
use super::svg::{Anchor, Area, Canvas, LETTER, Path, shortened, text_width};

/// What an axis shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Axis {
    /// What the numbers are.
    pub(crate) title: String,
    /// Powers of ten at equal distances.
    pub(crate) is_log: bool,
    /// Numbers that must be on it, beside the data.
    pub(crate) including: Vec<f64>,
    /// Ticks stand at these numbers alone; if empty, at round ones.
    pub(crate) ticks: Vec<f64>,
}

impl Axis {
    /// A linear axis.
    pub(crate) fn linear(title: &str) -> Self {
        Axis { title: title.into(), ..Axis::default() }
    }

    /// A logarithmic axis.
    pub(crate) fn log(title: &str) -> Self {
        Axis { title: title.into(), is_log: true, ..Axis::default() }
    }

    /// The same, with these numbers on it.
    pub(crate) fn with(mut self, numbers: &[f64]) -> Self {
        self.including.extend_from_slice(numbers);
        self
    }

    /// The same with ticks at these numbers.
    pub(crate) fn ticked(mut self, numbers: Vec<f64>) -> Self {
        self.ticks = numbers;
        self
    }

    pub(super) fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        Scale::of(self.is_log, values.chain(self.including.iter().copied()))
    }
}

/// The area inside the axes, with its scales.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) area: Area,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

impl Frame {
    /// Draws axes, grid and titles inside `outer`.
    pub(super) fn draw(canvas: &mut Canvas, outer: Area, x: (Scale, &str), y: (Scale, &str)) -> Self {
        Frame::draw_ticked(canvas, outer, x, y, &[])
    }

    /// The same, with ticks of x at these numbers if there are any.
    pub(super) fn draw_ticked(
        canvas: &mut Canvas,
        outer: Area,
        x: (Scale, &str),
        y: (Scale, &str),
        ticks: &[f64],
    ) -> Self {
        let bottom = outer.bottom() - 2.0 * LETTER - 14.0;
        let y_scale = y.0.over(bottom, outer.top);
        let y_ticks = y_scale.ticks(((bottom - outer.top) / 45.0).clamp(2.0, 8.0) as usize);
        let widest = y_ticks.iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max);
        let left = outer.left + LETTER + 14.0 + widest;
        let area = Area::between((left, outer.top), (outer.right(), bottom));
        let x_scale = x.0.over(area.left, area.right());
        let at = |&value: &f64| Tick { value, label: plain(value) };
        let given: Vec<Tick> = ticks.iter().map(at).collect();
        let x_ticks = if given.is_empty() { x_scale.ticks_across(area.width) } else { given };
        let frame = Frame { area, x: x_scale, y: y_scale };
        frame.draw_grid(canvas, &x_ticks, &y_ticks);
        let title_x = shortened(x.1, outer.width);
        canvas.label("rw-soft", (area.left + area.width / 2.0, outer.bottom() - 4.0), Anchor::Middle, &title_x, x.1);
        let title_y = shortened(y.1, outer.height);
        canvas.upward_text("rw-soft", (outer.left + LETTER - 2.0, area.top + area.height / 2.0), &title_y);
        frame
    }

    fn draw_grid(&self, canvas: &mut Canvas, x_ticks: &[Tick], y_ticks: &[Tick]) {
        let area = self.area;
        for (tick, at) in y_ticks.iter().filter_map(|tick| Some((tick, self.y.at(tick.value)?))) {
            canvas.line("rw-grid", (area.left, at), (area.right(), at));
            canvas.text("rw-soft", (area.left - 7.0, at + 0.35 * LETTER), Anchor::End, &tick.label);
        }
        for (tick, at) in x_ticks.iter().filter_map(|tick| Some((tick, self.x.at(tick.value)?))) {
            canvas.line("rw-grid", (at, area.top), (at, area.bottom()));
            canvas.line("rw-axis", (at, area.bottom()), (at, area.bottom() + 4.0));
            canvas.text("rw-soft", (at, area.bottom() + LETTER + 6.0), Anchor::Middle, &tick.label);
        }
        canvas.path(
            "rw-axis",
            &Path::through(&[(area.left, area.top), (area.left, area.bottom()), (area.right(), area.bottom())]),
        );
    }

    /// The pixel of a point; `None` for what is not a number.
    pub(super) fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.x.at(x)?, self.y.at(y)?))
    }
}

/// Runs of points without holes; a point closer to the one before than half a pixel is left out, the last is not.
pub(super) fn runs(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> Vec<Vec<(f64, f64)>> {
    let mut runs: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    let mut skipped = None;
    let close = |runs: &mut Vec<Vec<(f64, f64)>>, skipped: &mut Option<(f64, f64)>| {
        if let (Some(last), Some(run)) = (skipped.take(), runs.last_mut()) {
            run.push(last);
        }
    };
    for point in points {
        match (point, runs.last_mut()) {
            (Some(point), Some(run)) => {
                let is_near = |last: &(f64, f64)| (last.0 - point.0).abs().max((last.1 - point.1).abs()) < 0.5;
                if run.last().is_some_and(is_near) {
                    skipped = Some(point);
                } else {
                    skipped = None;
                    run.push(point);
                }
            }
            _ => {
                close(&mut runs, &mut skipped);
                runs.push(Vec::new());
            }
        }
    }
    close(&mut runs, &mut skipped);
    runs.retain(|run| !run.is_empty());
    runs
}

/// Entries of a legend in rows; returns the height they take.
pub(super) fn legend(
    canvas: &mut Canvas,
    area: Area,
    labels: &[&str],
    mut draw_sample: impl FnMut(&mut Canvas, usize, (f64, f64)),
) -> f64 {
    let (sample, gap, row) = (34.0, 18.0, LETTER + 9.0);
    let (mut x, mut y) = (area.left, area.top + LETTER);
    for (at, whole) in labels.iter().enumerate() {
        let shown = shortened(whole, area.width - sample);
        let width = sample + text_width(&shown);
        if x > area.left && x + width > area.right() {
            (x, y) = (area.left, y + row);
        }
        draw_sample(canvas, at, (x, y - 0.35 * LETTER));
        canvas.label("", (x + sample, y), Anchor::Start, &shown, whole);
        x += width + gap;
    }
    if labels.is_empty() { 0.0 } else { y - area.top + 10.0 }
}
