//! Points of several kinds over two numbers, and straight lines among them.

use super::Picture;
use super::frame::{Axis, Frame, legend};
use super::svg::{Area, Canvas, Path};

/// Points and lines.
#[derive(Debug, Clone)]
pub(crate) struct Scatter {
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
    /// Kinds of points; six can be told apart.
    pub(crate) clouds: Vec<Cloud>,
    /// Kinds of lines, told apart by their dashes.
    pub(crate) strokes: Vec<Stroke>,
}

/// Points of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Cloud {
    /// What they are called.
    pub(crate) label: String,
    /// x and y.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Lines of one kind; what leaves the picture is cut off.
#[derive(Debug, Clone)]
pub(crate) struct Stroke {
    /// What they are called.
    pub(crate) label: String,
    /// From where to where.
    pub(crate) lines: Vec<[(f64, f64); 2]>,
}

impl Scatter {
    /// Draws it.
    pub(crate) fn draw(&self) -> Picture {
        let (width, height) = (480.0, 400.0);
        let mut canvas = Canvas::default();
        let labels: Vec<&str> = self
            .clouds
            .iter()
            .map(|c| &c.label)
            .chain(self.strokes.iter().map(|s| &s.label))
            .map(String::as_str)
            .collect();
        let top = Area { left: 8.0, top: 6.0, width: width - 16.0, height: 60.0 };
        let n_clouds = self.clouds.len();
        let used = legend(&mut canvas, top, &labels, |canvas, at, (x, y)| {
            if at < n_clouds {
                canvas.marker(&format!("rw-mark rw-s{}", at % 6), (x + 14.0, y), at);
            } else {
                canvas.path(&format!("rw-line rw-s{}", (at - n_clouds) % 6), &Path::through(&[(x, y), (x + 28.0, y)]));
            }
        });
        let all = || self.clouds.iter().flat_map(|cloud| cloud.points.iter());
        let (x, y) = (self.x.scale(all().map(|p| p.0)), self.y.scale(all().map(|p| p.1)));
        let outer = Area::between((4.0, used + 14.0), (width - 16.0, height));
        let frame = Frame::draw_ticked(&mut canvas, outer, (x, &self.x.title), (y, &self.y.title), &self.x.ticks);
        for (at, cloud) in self.clouds.iter().enumerate() {
            for point in cloud.points.iter().filter_map(|&point| frame.at(point)) {
                canvas.marker(&format!("rw-mark rw-s{}", at % 6), point, at);
            }
        }
        for (at, stroke) in self.strokes.iter().enumerate() {
            for [from, to] in &stroke.lines {
                let pixel = |point: &(f64, f64)| Some((frame.x.beyond(point.0)?, frame.y.beyond(point.1)?));
                let (Some(from), Some(to)) = (pixel(from), pixel(to)) else { continue };
                if let Some((from, to)) = clipped(frame.area, from, to) {
                    canvas.path(&format!("rw-line rw-s{}", at % 6), &Path::through(&[from, to]));
                }
            }
        }
        Picture::new(self.name, self.title.clone(), self.description.clone(), (width, height), canvas)
    }
}

/// The part of a line inside an area.
fn clipped(area: Area, from: (f64, f64), to: (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut low, mut high) = (0.0f64, 1.0f64);
    let bounds = [(dx, from.0, area.left, area.right()), (dy, from.1, area.top, area.bottom())];
    for (step, start, least, most) in bounds {
        if step == 0.0 {
            if start < least || start > most {
                return None;
            }
            continue;
        }
        let (a, b) = ((least - start) / step, (most - start) / step);
        low = low.max(a.min(b));
        high = high.min(a.max(b));
    }
    let at = |t: f64| (from.0 + t * dx, from.1 + t * dy);
    (low < high).then(|| (at(low), at(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_leave_the_picture_keep_their_slope() {
        let stroke = |far: f64| {
            let scatter = Scatter {
                name: "s",
                title: String::new(),
                description: String::new(),
                x: Axis::linear("x").with(&[-1.0, 1.0]),
                y: Axis::linear("y").with(&[-1.0, 1.0]),
                clouds: Vec::new(),
                strokes: vec![Stroke { label: String::new(), lines: vec![[(-far, -far / 2.0), (far, far / 2.0)]] }],
            };
            scatter.draw().inline()
        };
        assert_eq!(stroke(1.0), stroke(64.0));
    }

    #[test]
    fn lines_end_where_the_picture_does() {
        let area = Area { left: 0.0, top: 0.0, width: 10.0, height: 10.0 };
        assert_eq!(clipped(area, (-5.0, 5.0), (15.0, 5.0)), Some(((0.0, 5.0), (10.0, 5.0))));
        assert_eq!(clipped(area, (2.0, 3.0), (4.0, 5.0)), Some(((2.0, 3.0), (4.0, 5.0))));
        assert_eq!(clipped(area, (-5.0, 11.0), (15.0, 11.0)), None);
        assert_eq!(clipped(area, (-10.0, 0.0), (0.0, -10.0)), None);
        assert_eq!(clipped(area, (-5.0, -5.0), (20.0, 20.0)), Some(((0.0, 0.0), (10.0, 10.0))));
    }
}
