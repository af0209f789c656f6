//! Lines over a common axis, with bands around them and a level to compare with.

use super::Picture;
use super::frame::{Axis, Frame, legend, runs};
use super::svg::{Anchor, Area, Canvas, Path, shortened};

/// Test error against the number of pairs, and the like.
#[derive(Debug, Clone)]
pub(crate) struct LineChart {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// What is shown, for those who do not see it.
    pub(crate) title: String,
    /// What there is to see in it.
    pub(crate) description: String,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// The lines; six can be told apart.
    pub(crate) series: Vec<Series>,
    /// A level to compare with.
    pub(crate) reference: Option<Reference>,
}

/// A line.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// What it is called.
    pub(crate) label: String,
    /// x and y, x ascending.
    pub(crate) points: Vec<(f64, f64)>,
    /// x, low and high, x ascending; may be empty.
    pub(crate) band: Vec<(f64, f64, f64)>,
}

/// A horizontal line with its name.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    /// What it is called.
    pub(crate) label: String,
    /// Where it is.
    pub(crate) y: f64,
}

impl LineChart {
    /// Draws it.
    pub(crate) fn draw(&self) -> Picture {
        let (width, height) = (480.0, 340.0);
        let mut canvas = Canvas::default();
        let labels: Vec<&str> = self.series.iter().map(|series| series.label.as_str()).collect();
        let top = Area { left: 8.0, top: 6.0, width: width - 16.0, height: 60.0 };
        let used = legend(&mut canvas, top, &labels, |canvas, at, (x, y)| {
            canvas.path(&format!("rw-line rw-s{}", at % 6), &Path::through(&[(x, y), (x + 28.0, y)]));
            canvas.marker(&format!("rw-mark rw-s{}", at % 6), (x + 14.0, y), at);
        });
        let all = || self.series.iter();
        let x = all().flat_map(|s| s.points.iter().map(|p| p.0).chain(s.band.iter().map(|b| b.0)));
        let y = all().flat_map(|s| s.points.iter().map(|p| p.1).chain(s.band.iter().flat_map(|b| [b.1, b.2])));
        let x = self.x.scale(x);
        let y = self.y.scale(y.chain(self.reference.iter().map(|r| r.y))).rounded(5);
        let outer = Area::between((4.0, used + 14.0), (width - 16.0, height));
        let frame = Frame::draw_ticked(&mut canvas, outer, (x, &self.x.title), (y, &self.y.title), &self.x.ticks);

        for (at, series) in self.series.iter().enumerate() {
            let corners = |pick: fn(&(f64, f64, f64)) -> f64| {
                series.band.iter().map(move |b| (b.0, pick(b))).map(|point| frame.at(point)).collect::<Vec<_>>()
            };
            let (low, high) = (corners(|b| b.1), corners(|b| b.2));
            // A corner that is no number takes its opposite with it.
            let whole: Vec<_> = low.into_iter().zip(high).filter_map(|(low, high)| Some((low?, high?))).collect();
            let outline: Vec<_> = whole.iter().map(|c| c.0).chain(whole.iter().rev().map(|c| c.1)).collect();
            canvas.path(&format!("rw-band rw-s{}", at % 6), &Path::through(&outline).closed());
        }
        if let Some(reference) = &self.reference
            && let Some(y) = frame.y.at(reference.y)
        {
            canvas.line("rw-guide", (frame.area.left, y), (frame.area.right(), y));
            let shown = shortened(&reference.label, frame.area.width - 8.0);
            // On the side where fewer points are in the way.
            let middle = frame.area.left + frame.area.width / 2.0;
            let points = || all().flat_map(|s| &s.points).filter_map(|&point| frame.at(point));
            let n_within = |low: f64, high: f64| points().filter(|p| p.0 > middle && p.1 > low && p.1 < high).count();
            let has_room = (y - frame.area.top > 18.0, frame.area.bottom() - y > 18.0);
            let is_above = has_room.0 && (!has_room.1 || n_within(y - 22.0, y) <= n_within(y, y + 22.0));
            let place = (frame.area.right() - 4.0, if is_above { y - 5.0 } else { y + 15.0 });
            canvas.label("rw-soft rw-halo", place, Anchor::End, &shown, &reference.label);
        }
        for (at, series) in self.series.iter().enumerate() {
            let points = || series.points.iter().map(|&point| frame.at(point));
            for run in runs(points()) {
                canvas.path(&format!("rw-line rw-s{}", at % 6), &Path::through(&run));
            }
            // Markers on every point of a long line would hide it.
            let stride = series.points.len().div_ceil(40).max(1);
            for point in points().step_by(stride).flatten() {
                canvas.marker(&format!("rw-mark rw-s{}", at % 6), point, at);
            }
        }
        Picture::new(self.name, self.title.clone(), self.description.clone(), (width, height), canvas)
    }
}
