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

/// The widest that names may get.
const MOST_FOR_NAMES: f64 = 190.0;

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    /// What it is called.
    pub(crate) label: String,
    /// How long it is.
    pub(crate) value: f64,
}

impl Bars {
    /// The names, cut to a width; where that is needed, a start that all of them share goes first.
    fn labels(&self, width: f64) -> Vec<String> {
        let is_tight = self.bars.iter().any(|bar| text_width(&bar.label) > width);
        let first: Vec<char> = self.bars.first().map_or_else(Vec::new, |bar| bar.label.chars().collect());
        let shared = |bar: &Bar| first.iter().zip(bar.label.chars()).take_while(|(a, b)| **a == *b).count();
        let common = self.bars.iter().map(shared).min().unwrap_or(0);
        let cut = |bar: &Bar| {
            if is_tight && common > 3 && self.bars.len() > 1 {
                let rest: String = bar.label.chars().skip(common).collect();
                shortened(&format!("…{rest}"), width)
            } else {
                shortened(&bar.label, width)
            }
        };
        self.bars.iter().map(cut).collect()
    }

    /// Draws them.
    pub(crate) fn draw(&self) -> Picture {
        let (width, row) = (480.0, LETTER + 9.0);
        let widest = |texts: &mut dyn Iterator<Item = String>| texts.map(|text| text_width(&text)).fold(0.0, f64::max);
        let labels = self.labels(MOST_FOR_NAMES);
        let names = widest(&mut labels.iter().cloned()).clamp(20.0, MOST_FOR_NAMES);
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
            canvas.label("", (8.0, base), Anchor::Start, &labels[at], &bar.label);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_can_be_told_apart() {
        let of = |labels: &[&str]| {
            let bars = labels.iter().map(|label| Bar { label: (*label).into(), value: 1.0 }).collect();
            Bars { name: "weights", title: String::new(), axis: String::new(), bars }.labels(100.0)
        };
        assert_eq!(of(&["age", "ageing"]), ["age", "ageing"]);
        let long = "a start that all of these long names share, version ";
        assert_eq!(of(&[&format!("{long}12"), &format!("{long}7")]), ["…12", "…7"]);
        assert_eq!(of(&[]), [""; 0]);
        assert!(of(&[long])[0].contains("a start"), "one name alone shares nothing");
    }
}
