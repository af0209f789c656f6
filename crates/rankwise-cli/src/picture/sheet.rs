//! Several pictures as one: panels of a figure in rows, each under its heading.

use super::Picture;
use super::svg::{Anchor, Canvas, LETTER, shortened};

/// Panels in rows.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// What is shown, for those who do not see it.
    pub(crate) title: String,
    /// How many stand beside each other.
    pub(crate) n_columns: usize,
    /// Headings and pictures, whose names differ.
    pub(crate) panels: Vec<(String, Picture)>,
}

impl Sheet {
    /// Draws it.
    pub(crate) fn draw(self) -> Picture {
        let head = LETTER + 14.0;
        let mut canvas = Canvas::default();
        let (mut top, mut width) = (0.0, 0.0f64);
        let mut description = Vec::new();
        for row in self.panels.chunks(self.n_columns.max(1)) {
            let (mut left, mut height) = (0.0, 0.0f64);
            for (heading, picture) in row {
                let (panel_width, panel_height) = picture.size;
                let shown = shortened(heading, panel_width);
                let place = (left + panel_width / 2.0, top + LETTER + 4.0);
                canvas.label("rw-bold", place, Anchor::Middle, &shown, heading);
                canvas.inside((left, top + head), &picture.body);
                description.push(format!("{heading}: {}", picture.description));
                left += panel_width + 12.0;
                height = height.max(panel_height);
            }
            width = width.max(left - 12.0);
            top += head + height + 8.0;
        }
        Picture::new(self.name, self.title, description.join(" "), (width.max(1.0), top.max(1.0)), canvas)
    }
}
