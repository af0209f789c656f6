//! Values with what they may vary by, under each other: a row for each thing, a mark for each kind of value.

use super::Picture;
use super::frame::{Axis, legend};
use super::svg::{Anchor, Area, Canvas, LETTER, Path, shortened, text_width};

/// Rows of marks over one axis.
#[derive(Debug, Clone)]
pub(crate) struct Intervals {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// What is shown, for those who do not see it.
    pub(crate) title: String,
    /// What there is to see in it.
    pub(crate) description: String,
    /// The axis, below.
    pub(crate) axis: Axis,
    /// What the rows are called, from above.
    pub(crate) rows: Vec<String>,
    /// Kinds of values; six can be told apart.
    pub(crate) kinds: Vec<IntervalKind>,
}

/// A kind of value.
#[derive(Debug, Clone)]
pub(crate) struct IntervalKind {
    /// What it is called.
    pub(crate) label: String,
    /// For each row: value, low and high.
    pub(crate) values: Vec<Option<(f64, f64, f64)>>,
}

/// The widest that names may get.
const MOST_FOR_NAMES: f64 = 215.0;

impl Intervals {
    /// Draws it.
    pub(crate) fn draw(&self) -> Picture {
        let width = 620.0;
        let mut canvas = Canvas::default();
        let labels: Vec<&str> = self.kinds.iter().map(|kind| kind.label.as_str()).collect();
        let above = Area { left: 8.0, top: 6.0, width: width - 16.0, height: 60.0 };
        let used = legend(&mut canvas, above, &labels, |canvas, at, (x, y)| {
            canvas.path(&format!("rw-line rw-s{}", at % 6), &Path::through(&[(x, y), (x + 28.0, y)]));
            canvas.marker(&format!("rw-mark rw-s{}", at % 6), (x + 14.0, y), at);
        });
        let names = self.rows.iter().map(|row| text_width(row)).fold(20.0, f64::max).min(MOST_FOR_NAMES);
        let step = 11.0;
        let row = step * self.kinds.len().max(1) as f64 + 12.0;
        let top = used + 12.0;
        let area = Area { left: names + 18.0, top, width: width - names - 36.0, height: row * self.rows.len() as f64 };
        let all = self.kinds.iter().flat_map(|kind| kind.values.iter().flatten()).flat_map(|v| [v.0, v.1, v.2]);
        let x = self.axis.scale(all).over(area.left, area.right());
        for (tick, at) in x.ticks_across(area.width).iter().filter_map(|tick| Some((tick, x.at(tick.value)?))) {
            canvas.line("rw-grid", (at, area.top), (at, area.bottom()));
            canvas.text("rw-soft", (at, area.bottom() + LETTER + 6.0), Anchor::Middle, &tick.label);
        }
        for (at, name) in self.rows.iter().enumerate() {
            let y = area.top + row * at as f64;
            canvas.line("rw-grid", (area.left, y), (area.right(), y));
            let shown = shortened(name, MOST_FOR_NAMES);
            let place = (area.left - 8.0, y + row / 2.0 + 0.35 * LETTER);
            canvas.label("", place, Anchor::End, &shown, name);
        }
        for (at, kind) in self.kinds.iter().enumerate() {
            for (k, value) in kind.values.iter().enumerate() {
                let Some((value, low, high)) = *value else { continue };
                let y = area.top + row * k as f64 + 6.0 + step * (at as f64 + 0.5);
                if let (Some(low), Some(high)) = (x.at(low), x.at(high)) {
                    canvas.path(&format!("rw-line rw-s{}", at % 6), &Path::through(&[(low, y), (high, y)]));
                }
                if let Some(value) = x.at(value) {
                    canvas.marker(&format!("rw-mark rw-s{}", at % 6), (value, y), at);
                }
            }
        }
        canvas.path(
            "rw-axis",
            &Path::through(&[(area.left, area.top), (area.left, area.bottom()), (area.right(), area.bottom())]),
        );
        let bottom = area.bottom() + 2.0 * LETTER + 14.0;
        let shown = shortened(&self.axis.title, area.width);
        canvas.label("rw-soft", (area.left + area.width / 2.0, bottom - 4.0), Anchor::Middle, &shown, &self.axis.title);
        Picture::new(self.name, self.title.clone(), self.description.clone(), (width, bottom), canvas)
    }
}
