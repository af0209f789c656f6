//! Margins by judged outcome: three strips over one axis, with the threshold, where all pairs share one, on both sides of 0.

use rankwise::data::Outcome;

use super::Picture;
use super::frame::legend;
use super::scale::{Scale, plain, step_of};
use super::svg::{Anchor, Area, Canvas, LETTER, text_width};

/// Pixels from side to side.
const WIDTH: f64 = 480.0;

/// Margins with what was judged.
#[derive(Debug, Clone)]
pub(crate) struct MarginChart<'a> {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// score(right) − score(left).
    pub(crate) margins: &'a [f64],
    /// What was judged.
    pub(crate) outcomes: &'a [Outcome],
    /// What was predicted.
    pub(crate) predicted: &'a [Outcome],
    /// One weight per pair; absent: all 1.
    pub(crate) weights: Option<&'a [f64]>,
    /// Smaller margins are ties; `None` where every pair has a threshold of its own.
    pub(crate) threshold: Option<f64>,
}

/// Weights of the pairs of one outcome, by place on the axis: predicted right, predicted wrong.
type Strip = Vec<[f64; 2]>;

/// Equal steps along the axis.
struct Bins {
    first: f64,
    step: f64,
    n: usize,
    /// Something lies beyond and is counted at the ends.
    is_cut: bool,
}

impl Bins {
    fn of(margins: &[f64], threshold: Option<f64>) -> Self {
        let mut sizes: Vec<f64> = margins.iter().map(|z| z.abs()).filter(|size| size.is_finite()).collect();
        sizes.sort_by(f64::total_cmp);
        let largest = sizes.last().copied().unwrap_or(1.0);
        // A few margins far out must not squeeze all others into one bar.
        let usual = sizes.get(sizes.len() * 95 / 100).copied().unwrap_or(largest);
        let threshold = threshold.filter(|threshold| threshold.is_finite()).unwrap_or(0.0);
        let room = 3.0 * usual.max(threshold);
        let reach = if room > 0.0 { largest.min(room) } else { largest };
        let (low, high) = margins
            .iter()
            .filter(|z| z.is_finite())
            .fold((0.0f64, 0.0f64), |(low, high), &z| (low.min(z.max(-reach)), high.max(z.min(reach))));
        let scale = Scale::linear([low, high, -threshold, threshold]);
        let step = step_of((scale.high() / 2.0 - scale.low() / 2.0) * 2.0, 50);
        let (first, last) = ((scale.low() / step).floor(), (scale.high() / step).ceil());
        let n = (last - first).clamp(1.0, 100.0) as usize;
        Bins { first: first * step, step, n, is_cut: margins.iter().any(|z| z.abs() > reach) }
    }

    fn place(&self, z: f64) -> usize {
        (((z - self.first) / self.step).floor().max(0.0) as usize).min(self.n - 1)
    }

    fn edge(&self, at: usize) -> f64 {
        self.first + at as f64 * self.step
    }
}

impl MarginChart<'_> {
    /// Draws it.
    pub(crate) fn draw(&self) -> Picture {
        let bins = Bins::of(self.margins, self.threshold);
        let (strips, totals) = self.strips(&bins);
        let tallest = strips.iter().flatten().map(|bar| bar[0] + bar[1]).fold(0.0, f64::max);
        let (width, strip_height, gap) = (WIDTH, 84.0, 26.0);
        let mut canvas = Canvas::default();
        canvas.define_hatch(self.name, "rw-hatch");
        let top = Area { left: 8.0, top: 6.0, width: width - 16.0, height: 40.0 };
        let used = legend(&mut canvas, top, &["predicted right", "predicted wrong"], |canvas, at, (x, y)| {
            let area = Area { left: x + 4.0, top: y - 6.0, width: 22.0, height: 12.0 };
            if at == 0 { canvas.rect("rw-right", area) } else { canvas.hatched("rw-wrong", area, self.name) }
        });
        let heights = Scale::linear([0.0, tallest.max(1e-12)]);
        let ticks = heights.ticks(2);
        let widest = ticks.iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max);
        let (left, right) = (LETTER + widest + 18.0, width - 16.0);
        let x = Scale::linear([bins.edge(0), bins.edge(bins.n)]).over(left, right);
        let first_top = used + 38.0;
        let last_bottom = first_top + 3.0 * strip_height + 2.0 * gap;
        let threshold = self.threshold.and_then(|tau| Some((tau, x.at(-tau)?, x.at(tau)?)));
        if let Some((_, from, to)) = threshold {
            canvas.rect("rw-region", Area::between((from, first_top - 14.0), (to, last_bottom)));
        }
        for outcome in Outcome::ALL {
            let k = outcome as usize;
            let area = Area {
                left,
                top: first_top + k as f64 * (strip_height + gap),
                width: right - left,
                height: strip_height,
            };
            let y = heights.over(area.bottom(), area.top);
            for (tick, at) in ticks.iter().filter_map(|tick| Some((tick, y.at(tick.value)?))) {
                canvas.line("rw-grid", (left, at), (right, at));
                canvas.text("rw-soft rw-small", (left - 6.0, at + 4.0), Anchor::End, &tick.label);
            }
            for (at, &[hit, miss]) in strips[k].iter().enumerate() {
                let (Some(x1), Some(x2)) = (x.at(bins.edge(at)), x.at(bins.edge(at + 1))) else { continue };
                let (Some(zero), Some(middle), Some(end)) = (y.at(0.0), y.at(hit), y.at(hit + miss)) else { continue };
                if hit > 0.0 {
                    canvas.rect("rw-right", Area::between((x1 + 1.0, zero), (x2 - 1.0, middle)));
                }
                if miss > 0.0 {
                    canvas.hatched("rw-wrong", Area::between((x1 + 1.0, middle), (x2 - 1.0, end)), self.name);
                }
            }
            canvas.line("rw-axis", (left, area.bottom()), (right, area.bottom()));
            let says = format!("judged {}: {}", outcome.name(), plain(totals[k]));
            canvas.text("rw-bold rw-halo", (left + 4.0, area.top - 4.0), Anchor::Start, &says);
        }
        if let Some((tau, minus, plus)) = threshold {
            draw_threshold(&mut canvas, tau, (minus, plus), (first_top - 16.0, last_bottom));
        }
        for (tick, at) in x.ticks_across(right - left).iter().filter_map(|tick| Some((tick, x.at(tick.value)?))) {
            canvas.line("rw-axis", (at, last_bottom), (at, last_bottom + 4.0));
            canvas.text("rw-soft", (at, last_bottom + LETTER + 6.0), Anchor::Middle, &tick.label);
        }
        let title = "margin = score(right) − score(left)";
        canvas.text("rw-soft", ((left + right) / 2.0, last_bottom + 2.0 * LETTER + 12.0), Anchor::Middle, title);
        canvas.upward_text("rw-soft", (LETTER - 1.0, (first_top + last_bottom) / 2.0), "pairs (weight)");
        let height = last_bottom + 2.0 * LETTER + 20.0;
        Picture::new(self.name, "Margins by judged outcome".into(), self.description(&bins), (width, height), canvas)
    }

    /// The outermost bars hold what lies beyond them.
    pub(crate) fn is_cut(&self) -> bool {
        Bins::of(self.margins, self.threshold).is_cut
    }

    fn strips(&self, bins: &Bins) -> ([Strip; 3], [f64; 3]) {
        let mut strips: [Strip; 3] = std::array::from_fn(|_| vec![[0.0; 2]; bins.n]);
        let mut totals = [0.0; 3];
        for (k, (&z, &judged)) in self.margins.iter().zip(self.outcomes).enumerate().filter(|(_, (z, _))| !z.is_nan()) {
            let weight = self.weights.and_then(|w| w.get(k)).copied().unwrap_or(1.0);
            let is_wrong = !self.is_right(k);
            strips[judged as usize][bins.place(z)][usize::from(is_wrong)] += weight;
            totals[judged as usize] += weight;
        }
        (strips, totals)
    }

    fn is_right(&self, k: usize) -> bool {
        self.predicted.get(k) == self.outcomes.get(k)
    }

    fn description(&self, bins: &Bins) -> String {
        let mut shares = Vec::new();
        for outcome in Outcome::ALL {
            let of = |is: &dyn Fn(usize) -> bool| {
                let all = (0..self.margins.len()).filter(|&k| self.outcomes[k] == outcome && is(k));
                all.map(|k| self.weights.and_then(|w| w.get(k)).copied().unwrap_or(1.0)).sum::<f64>()
            };
            let (total, right) = (of(&|_| true), of(&|k| self.is_right(k)));
            if total > 0.0 {
                shares.push(format!("{} of those judged {}", crate::text::percent(right / total), outcome.name()));
            }
        }
        let cut = if bins.is_cut { " The outermost bars hold everything beyond them." } else { "" };
        let threshold = match self.threshold {
            Some(tau) => format!("The threshold is {}.", plain(tau)),
            None => "Every pair has a threshold of its own.".into(),
        };
        format!("Predicted right: {}. {threshold}{cut}", shares.join(", "))
    }
}

fn draw_threshold(canvas: &mut Canvas, tau: f64, (minus, plus): (f64, f64), (top, bottom): (f64, f64)) {
    if plus - minus < 1.0 {
        canvas.line("rw-threshold", (plus, top), (plus, bottom));
        canvas.text("rw-bold rw-halo", (plus, top - 4.0), Anchor::Middle, "τ = 0");
        return;
    }
    [minus, plus].iter().for_each(|&at| canvas.line("rw-threshold", (at, top), (at, bottom)));
    let value = plain(tau);
    let labels = [(minus, format!("−τ = −{value}")), (plus, format!("τ = {value}"))];
    // Above their lines; apart from each other, and inside the picture, where that is too tight.
    let half = [0, 1].map(|k: usize| 0.62 * text_width(&labels[k].1) + 2.0);
    let apart = half[0] + half[1] + 4.0;
    let short = (apart - (plus - minus)).max(0.0) / 2.0;
    let first = (minus - short).max(half[0]);
    let second = (plus + short).max(first + apart).min(WIDTH - half[1]);
    let first = first.min(second - apart);
    for (at, (_, label)) in [first, second].into_iter().zip(&labels) {
        canvas.text("rw-bold rw-halo", (at, top - 4.0), Anchor::Middle, label);
    }
}
