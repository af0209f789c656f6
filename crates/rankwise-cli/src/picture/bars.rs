//! Horizontal bars, signed: the largest weights.

use super::Picture;
use super::scale::{Scale, plain};
use super::svg::{Anchor, Area, Canvas, LETTER, shortened, text_width};

/// Bars under each other.
#[derive(Debug, Clone)]
pub(crate) struct Bars {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// What is shown, for those who do not see it.
    pub(crate) title: String,
    /// What the numbers are.
    pub(crate) axis: String,
    /// In the order they are drawn.
    pub(crate) bars: Vec<Bar>,
}

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    /// What it is called.
    pub(crate) label: String,
    /// How long it is.
    pub(crate) value: f64,
}

impl Bars {
    /// Draws them.
    pub(crate) fn draw(&self) -> Picture {
        let (width, row) = (480.0, LETTER + 9.0);
        let widest = |texts: &mut dyn Iterator<Item = String>| texts.map(|text| text_width(&text)).fold(0.0, f64::max);
        let names = widest(&mut self.bars.iter().map(|bar| bar.label.clone())).clamp(20.0, 190.0);
        let scale = Scale::linear(self.bars.iter().map(|bar| bar.value).chain([0.0]));
        // Numbers stand beyond the ends of their bars.
        let beyond = |negative: bool| {
            let mut texts = self.bars.iter().filter(|bar| (bar.value < 0.0) == negative).map(|bar| plain(bar.value));
            widest(&mut texts) + 8.0
        };
        let (left, right) = (20.0 + names + beyond(true), width - 8.0 - beyond(false));
        let x = scale.over(left, right.max(left + 40.0));
        let bottom = 10.0 + row * self.bars.len() as f64;
        let mut canvas = Canvas::default();
        canvas.define_hatch(self.name, "rw-hatch");
        let zero = x.at(0.0).unwrap_or(left);
        for (at, bar) in self.bars.iter().enumerate() {
            let top = 8.0 + row * at as f64;
            let base = top + row / 2.0 + 0.35 * LETTER;
            canvas.label("", (8.0, base), Anchor::Start, &shortened(&bar.label, names), &bar.label);
            let Some(end) = x.at(bar.value) else {
                canvas.text("rw-soft", (zero + 4.0, base), Anchor::Start, &plain(bar.value));
                continue;
            };
            let area = Area::between((zero, top + 3.0), (end, top + row - 3.0));
            if bar.value < 0.0 {
                canvas.hatched("rw-wrong", area, self.name);
                canvas.text("rw-soft", (end - 4.0, base), Anchor::End, &plain(bar.value));
            } else {
                canvas.rect("rw-right", area);
                canvas.text("rw-soft", (end + 4.0, base), Anchor::Start, &plain(bar.value));
            }
        }
        canvas.line("rw-zero", (zero, 6.0), (zero, bottom));
        let shown = shortened(&self.axis, width - 16.0);
        canvas.label("rw-soft", (width / 2.0, bottom + LETTER + 6.0), Anchor::Middle, &shown, &self.axis);
        let first = self.bars.iter().take(5).map(|bar| format!("{} {}", bar.label, plain(bar.value)));
        let description = format!("The largest: {}.", first.collect::<Vec<_>>().join(", "));
        Picture::new(self.name, self.title.clone(), description, (width, bottom + LETTER + 16.0), canvas)
    }
}
