//! The ROC curve over the threshold: false positives are ties called non-ties.

use rankwise::metrics::RocPoint;

use super::frame::{Frame, legend, runs};
use super::scale::{Scale, plain};
use super::svg::{Anchor, Area, Canvas, Path, text_width};
use super::{Axis, Picture};

/// A curve with the threshold that was chosen.
#[derive(Debug, Clone)]
pub(crate) struct RocChart<'a> {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// From (0, 0) to (1, sign accuracy).
    pub(crate) points: &'a [RocPoint],
    /// The threshold, and the rates it gives.
    pub(crate) chosen: RocPoint,
    /// Every pair has a threshold of its own, and they move together.
    pub(crate) has_band: bool,
    /// The area under the curve.
    pub(crate) auc: f64,
    /// The area under a constant prediction's curve, half of where that ends.
    pub(crate) baseline: f64,
}

impl RocChart<'_> {
    /// Draws it.
    pub(crate) fn draw(&self) -> Picture {
        let (width, height) = (440.0, 430.0);
        let mut canvas = Canvas::default();
        let model = format!("model, AUC {:.3}", self.auc);
        let constant = format!("constant, AUC {:.3}", self.baseline);
        let top = Area { left: 8.0, top: 6.0, width: width - 16.0, height: 40.0 };
        let used = legend(&mut canvas, top, &[&model, &constant], |canvas, at, (x, y)| {
            let class = if at == 0 { "rw-line rw-s0" } else { "rw-guide" };
            canvas.path(class, &Path::through(&[(x, y), (x + 28.0, y)]));
        });
        let (x, y) = (Axis::linear("ties called non-ties"), Axis::linear("non-ties predicted right"));
        let unit = Scale::linear([0.0, 1.0]);
        let outer = Area::between((4.0, used + 14.0), (width - 16.0, height));
        let frame = Frame::draw(&mut canvas, outer, (unit, &x.title), (unit, &y.title));
        let at = |x: f64, y: f64| frame.at((x, y));
        let pixels = |point: &RocPoint| at(point.false_positive_rate, point.true_positive_rate);

        if let (Some(from), Some(to)) = (at(0.0, 0.0), at(1.0, 2.0 * self.baseline)) {
            canvas.line("rw-guide", from, to);
        }
        for run in runs(self.points.iter().map(pixels)) {
            canvas.path("rw-line rw-s0", &Path::through(&run));
        }
        if let Some((x, y)) = self.points.last().and_then(pixels) {
            canvas.marker("rw-mark rw-s0", (x, y), 1);
        }
        if let Some((x, y)) = pixels(&self.chosen) {
            canvas.marker("rw-chosen", (x, y), 0);
            let label =
                if self.has_band { "as trained".into() } else { format!("τ = {}", plain(self.chosen.threshold)) };
            let wide = text_width(&label) + 12.0;
            // Right of the curve and below it, where nothing is drawn; left where that would leave the frame.
            let place = if x + wide < frame.area.right() { (x + 9.0, Anchor::Start) } else { (x - 9.0, Anchor::End) };
            let is_low = y + 20.0 > frame.area.bottom();
            canvas.text("rw-bold rw-halo", (place.0, if is_low { y - 10.0 } else { y + 18.0 }), place.1, &label);
        }
        let description = format!(
            "At the chosen {} {} of the ties are called non-ties and {} of the non-ties are predicted right. The \
             area under the curve is {:.3}; a constant prediction has {:.3}.",
            if self.has_band { "thresholds" } else { "threshold" },
            percent(self.chosen.false_positive_rate),
            percent(self.chosen.true_positive_rate),
            self.auc,
            self.baseline
        );
        Picture::new(self.name, "ROC curve over the threshold".into(), description, (width, height), canvas)
    }
}

fn percent(share: f64) -> String {
    if share.is_finite() { crate::text::percent(share) } else { "–".into() }
}
