//! How often a number takes which value, beside one or two that matter.

use super::Picture;
use super::frame::{Frame, legend};
use super::scale::{Scale, plain};
use super::svg::{Area, Canvas, Path};
use crate::text::rounded;

/// Bars from end to end.
const N_BARS: usize = 20;

/// Values and where they lie.
#[derive(Debug, Clone)]
pub(crate) struct Histogram<'a> {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// What the values are.
    pub(crate) axis: String,
    /// What has them, in plural.
    pub(crate) noun: String,
    /// One per member; what lies beyond the range is in the outermost bars.
    pub(crate) values: &'a [f64],
    /// From where to where.
    pub(crate) range: (f64, f64),
    /// Up to two numbers to mark, with their names.
    pub(crate) marks: Vec<(String, f64)>,
}

impl Histogram<'_> {
    /// Draws it.
    pub(crate) fn draw(&self) -> Picture {
        let (width, height) = (480.0, 320.0);
        let counts = self.counts();
        let tallest = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let mut canvas = Canvas::default();
        let marks: Vec<(&str, String, f64)> = ["rw-line rw-s1", "rw-guide"]
            .into_iter()
            .zip(&self.marks)
            .filter(|(_, (_, value))| value.is_finite())
            .map(|(class, (label, value))| (class, format!("{label}: {}", three(*value)), *value))
            .collect();
        let labels: Vec<&str> = marks.iter().map(|(_, label, _)| label.as_str()).collect();
        let top = Area { left: 8.0, top: 6.0, width: width - 16.0, height: 40.0 };
        let used = legend(&mut canvas, top, &labels, |canvas, at, (x, y)| {
            canvas.path(marks[at].0, &Path::through(&[(x, y), (x + 28.0, y)]));
        });
        let outer = Area::between((4.0, used + 14.0), (width - 16.0, height));
        let (x, y) = (Scale::linear([self.range.0, self.range.1]), Scale::linear([0.0, tallest]));
        let frame = Frame::draw(&mut canvas, outer, (x, &self.axis), (y, &self.noun));
        for (bar, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let edge = |at: usize| self.range.0 + (self.range.1 - self.range.0) * at as f64 / N_BARS as f64;
            let corners = (frame.at((edge(bar), 0.0)), frame.at((edge(bar + 1), count as f64)));
            if let (Some(from), Some(to)) = corners {
                canvas.rect("rw-right", Area::between((from.0 + 1.0, from.1), (to.0 - 1.0, to.1)));
            }
        }
        for (class, _, value) in &marks {
            if let (true, Some(x)) = ((self.range.0..=self.range.1).contains(value), frame.x.at(*value)) {
                // Seen on bars, too.
                canvas.line("rw-under", (x, frame.area.top), (x, frame.area.bottom()));
                canvas.path(class, &Path::through(&[(x, frame.area.top), (x, frame.area.bottom())]));
            }
        }
        let description = match self.middle() {
            Some(middle) => format!("Half of the {} {} have at most {}.", self.n(), self.noun, rounded(middle)),
            None => "There is nothing to show.".into(),
        };
        Picture::new(self.name, format!("{} of the {}", self.axis, self.noun), description, (width, height), canvas)
    }

    /// How many values each bar holds; the upper end belongs to the last.
    fn counts(&self) -> [usize; N_BARS] {
        let mut counts = [0; N_BARS];
        for value in self.values.iter().filter(|value| value.is_finite()) {
            let place = (value - self.range.0) / (self.range.1 - self.range.0) * N_BARS as f64;
            counts[(place.clamp(0.0, N_BARS as f64) as usize).min(N_BARS - 1)] += 1;
        }
        counts
    }

    fn n(&self) -> usize {
        self.counts().iter().sum()
    }

    /// The value that half of them do not exceed.
    pub(crate) fn middle(&self) -> Option<f64> {
        let mut values: Vec<f64> = self.values.iter().copied().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len().checked_sub(1)? / 2).copied()
    }
}

/// Three digits after the point, unless they would all be 0.
fn three(value: f64) -> String {
    if value != 0.0 && !(1e-2..1e6).contains(&value.abs()) { plain(value) } else { format!("{value:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_one_bar() {
        let values = [0.0, 0.049, 0.05, 0.5, 1.0, 0.99, f64::NAN];
        let chart = Histogram {
            name: "h",
            axis: String::new(),
            noun: String::new(),
            values: &values,
            range: (0.0, 1.0),
            marks: Vec::new(),
        };
        let counts = chart.counts();
        assert_eq!((counts[0], counts[1], counts[10], counts[19], chart.n()), (2, 1, 1, 2, 6));
        assert_eq!(chart.middle(), Some(0.05));
    }
}
