//! Several numbers of each of some things: a row of marks for each, under each other.

use super::Picture;
use super::frame::legend;
use super::scale::Scale;
use super::svg::{Anchor, Area, Canvas, LETTER, shortened, text_width};

/// Rows of marks.
#[derive(Debug, Clone)]
pub(crate) struct Strips {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// What is shown, for those who do not see it.
    pub(crate) title: String,
    /// What the numbers are.
    pub(crate) axis: String,
    /// What the kinds of rows are called; six can be told apart.
    pub(crate) kinds: Vec<String>,
    /// In the order they are drawn.
    pub(crate) strips: Vec<Strip>,
}

/// A row.
#[derive(Debug, Clone)]
pub(crate) struct Strip {
    /// What it is called.
    pub(crate) label: String,
    /// Which of the kinds it is of.
    pub(crate) kind: usize,
    /// Its numbers.
    pub(crate) values: Vec<f64>,
}

/// The widest that names may get.
const MOST_FOR_NAMES: f64 = 220.0;

impl Strip {
    /// The mean of what can be drawn.
    fn mean(&self) -> Option<f64> {
        let drawn: Vec<f64> = self.values.iter().copied().filter(|value| value.is_finite()).collect();
        if drawn.is_empty() { None } else { Some(drawn.iter().map(|value| value / drawn.len() as f64).sum()) }
    }
}

impl Strips {
    /// Draws them: a line over the range, a mark for each number, an upright line at the mean of several.
    pub(crate) fn draw(&self) -> Picture {
        let (width, row) = (560.0, LETTER + 11.0);
        let mut canvas = Canvas::default();
        let class = |kind: usize| format!("rw-mark rw-s{}", kind % 6);
        let labels: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
        let head = Area { left: 8.0, top: 6.0, width: width - 16.0, height: 60.0 };
        let used = legend(&mut canvas, head, &labels, |canvas, at, (x, y)| {
            canvas.marker(&class(at), (x + 14.0, y), at);
        });
        let names = self.strips.iter().map(|strip| text_width(&strip.label)).fold(20.0, f64::max).min(MOST_FOR_NAMES);
        let top = used + 14.0;
        let bottom = top + row * self.strips.len() as f64 + 4.0;
        let values = || self.strips.iter().flat_map(|strip| strip.values.iter().copied());
        let (left, right) = (names + 24.0, width - 20.0);
        let x = Scale::linear(values()).rounded(6).over(left, right);
        for (tick, at) in x.ticks_across(right - left).iter().filter_map(|tick| Some((tick, x.at(tick.value)?))) {
            canvas.line("rw-grid", (at, top), (at, bottom));
            canvas.text("rw-soft", (at, bottom + LETTER + 4.0), Anchor::Middle, &tick.label);
        }
        canvas.line("rw-axis", (left, bottom), (right, bottom));
        let mut told = Vec::new();
        for (at, strip) in self.strips.iter().enumerate() {
            let middle = top + row * (at as f64 + 0.5) + 2.0;
            let shown = shortened(&strip.label, names);
            canvas.label("", (12.0, middle + 0.35 * LETTER), Anchor::Start, &shown, &strip.label);
            let places: Vec<f64> = strip.values.iter().filter_map(|&value| x.at(value)).collect();
            let (low, high) = places.iter().fold((f64::MAX, f64::MIN), |(low, high), &p| (low.min(p), high.max(p)));
            if low < high {
                canvas.line("rw-axis", (low, middle), (high, middle));
            }
            for place in places {
                canvas.marker(&class(strip.kind), (place, middle), strip.kind);
            }
            if let Some((mean, place)) = strip.mean().and_then(|mean| Some((mean, x.at(mean)?))) {
                if low < high {
                    canvas.line("rw-best", (place, middle - 9.0), (place, middle + 9.0));
                }
                told.push(format!("{} {mean:.3}", strip.label));
            }
        }
        let shown = shortened(&self.axis, right - left);
        let foot = bottom + 2.0 * LETTER + 12.0;
        canvas.label("rw-soft", (f64::midpoint(left, right), foot), Anchor::Middle, &shown, &self.axis);
        let description = format!("Means: {}.", told.join(", "));
        Picture::new(self.name, self.title.clone(), description, (width, foot + 8.0), canvas)
    }
}
