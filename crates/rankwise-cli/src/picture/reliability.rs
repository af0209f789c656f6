//! Probabilities beside what came true: points near the diagonal are to be believed.

use rankwise::metrics::{Reliability, ReliabilityBin};

use super::Picture;
use super::frame::{Frame, legend, runs};
use super::scale::Scale;
use super::svg::{Area, Canvas, Path};
use crate::text::percent;

/// The bins of one kind of probability.
#[derive(Debug, Clone)]
pub(crate) struct ReliabilityChart<'a> {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// What may come true, such as "a tie".
    pub(crate) event: String,
    /// Probabilities and what came true of them.
    pub(crate) reliability: &'a Reliability,
}

impl ReliabilityChart<'_> {
    /// Draws it.
    pub(crate) fn draw(&self) -> Picture {
        let (width, height) = (440.0, 430.0);
        let mut canvas = Canvas::default();
        let top = Area { left: 8.0, top: 6.0, width: width - 16.0, height: 40.0 };
        let labels = ["observed, 95 % interval", "as predicted"];
        let used = legend(&mut canvas, top, &labels, |canvas, at, (x, y)| {
            if at == 0 {
                canvas.path("rw-line rw-s0", &Path::through(&[(x, y), (x + 28.0, y)]));
                whisker(canvas, x + 14.0, (y - 8.0, y + 8.0));
                canvas.marker("rw-mark rw-s0", (x + 14.0, y), 0);
            } else {
                canvas.path("rw-guide", &Path::through(&[(x, y), (x + 28.0, y)]));
            }
        });
        let outer = Area::between((4.0, used + 14.0), (width - 16.0, height));
        let unit = Scale::linear([0.0, 1.0]);
        let (x, y) = (format!("predicted probability of {}", self.event), "share that came true".to_string());
        let frame = Frame::draw(&mut canvas, outer, (unit, &x), (unit, &y));
        if let (Some(from), Some(to)) = (frame.at((0.0, 0.0)), frame.at((1.0, 1.0))) {
            canvas.line("rw-guide", from, to);
        }
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        let bins: Vec<&ReliabilityBin> = self
            .reliability
            .bins
            .iter()
            .filter(|bin| [bin.predicted, bin.observed, bin.low, bin.high].into_iter().all(is_share))
            .collect();
        for run in runs(bins.iter().map(|bin| frame.at((bin.predicted, bin.observed)))) {
            canvas.path("rw-line rw-s0", &Path::through(&run));
        }
        for bin in &bins {
            let places = (frame.at((bin.predicted, bin.low)), frame.at((bin.predicted, bin.high)));
            if let ((Some(low), Some(high)), Some(at)) = (places, frame.at((bin.predicted, bin.observed))) {
                whisker(&mut canvas, low.0, (high.1, low.1));
                canvas.marker("rw-mark rw-s0", at, 0);
            }
        }
        let pairs =
            bins.iter().map(|bin| format!("{} predicted, {} observed", percent(bin.predicted), percent(bin.observed)));
        let description = match bins.len() {
            0 => "There is nothing to show.".to_string(),
            _ => format!("{}.", pairs.collect::<Vec<_>>().join("; ")),
        };
        let title = format!("Predicted and observed shares of {}", self.event);
        Picture::new(self.name, title, description, (width, height), canvas)
    }
}

/// An upright line with two ends.
fn whisker(canvas: &mut Canvas, x: f64, (top, bottom): (f64, f64)) {
    canvas.line("rw-whisker", (x, top), (x, bottom));
    [top, bottom].into_iter().for_each(|y| canvas.line("rw-whisker", (x - 4.0, y), (x + 4.0, y)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bin_has_a_point_and_an_interval() {
        let bin = |p: f64| ReliabilityBin { predicted: p, observed: p * p, low: p * p / 2.0, high: p, weight: 3.0 };
        let reliability = Reliability { bins: [0.1, 0.5, 0.9].map(bin).to_vec(), error: 0.2 };
        let chart = ReliabilityChart { name: "reliability-ties", event: "a tie".into(), reliability: &reliability };
        let svg = chart.draw().inline();
        // One of each is in the legend.
        assert_eq!(svg.matches("<circle").count(), 4, "{svg}");
        assert_eq!(svg.matches("rw-whisker").count(), 4 * 3);
        assert!(svg.contains("50.0 % predicted, 25.0 % observed"), "{svg}");
    }
}
