//! Values over two parameters: a shade and a number a cell, the best one outlined.

use super::Picture;
use super::scale::plain;
use super::svg::{Anchor, Area, Canvas, LETTER, shortened, text_width};

/// Cells in rows from the bottom up.
#[derive(Debug, Clone)]
pub(crate) struct HeatMap {
    /// Name of the file.
    pub(crate) name: &'static str,
    /// What is shown, for those who do not see it.
    pub(crate) title: String,
    /// What the columns are.
    pub(crate) x_title: String,
    /// The values of the columns.
    pub(crate) x: Vec<String>,
    /// What the rows are.
    pub(crate) y_title: String,
    /// The values of the rows.
    pub(crate) y: Vec<String>,
    /// What a cell tells.
    pub(crate) value_title: String,
    /// `cells[row][column]`; `None` where nothing was measured.
    pub(crate) cells: Vec<Vec<Option<f64>>>,
    /// Row and column of the best one.
    pub(crate) best: Option<(usize, usize)>,
    /// Whether more is better.
    pub(crate) greater_is_better: bool,
}

impl HeatMap {
    fn cell(&self, row: usize, column: usize) -> Option<f64> {
        self.cells.get(row)?.get(column).copied().flatten().filter(|value| value.is_finite())
    }

    /// Draws it.
    pub(crate) fn draw(&self) -> Picture {
        let (n_rows, n_columns) = (self.y.len(), self.x.len());
        let names = self.y.iter().map(|label| text_width(label)).fold(10.0, f64::max).min(120.0);
        let left = LETTER + 18.0 + names;
        let cell_width = ((480.0 - 16.0 - left) / n_columns.max(1) as f64).clamp(14.0, 72.0);
        let cell_height = if n_rows > 12 { 18.0 } else { 28.0 };
        let width = (left + cell_width * n_columns as f64 + 16.0).max(300.0);
        let top = 44.0;
        let bottom = top + cell_height * n_rows as f64;
        let mut canvas = Canvas::default();
        canvas.define_hatch(self.name, "rw-hatch-soft");

        let values = (0..n_rows).flat_map(|row| (0..n_columns).filter_map(move |column| self.cell(row, column)));
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        // From 0 (worst) to 1 (best).
        let merit = |value: f64| {
            let share = if high > low { (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) } else { 1.0 };
            if self.greater_is_better {
                share
            } else if high > low {
                1.0 - share
            } else {
                share
            }
        };
        // Weak enough for the number in front of it to be read, on white as on black.
        let strength = |merit: f64| 0.03 + 0.52 * merit;
        self.draw_key(&mut canvas, (low, high), width, strength);

        for row in 0..n_rows {
            for column in 0..n_columns {
                let area = Area {
                    left: left + cell_width * column as f64,
                    top: bottom - cell_height * (row + 1) as f64,
                    width: cell_width,
                    height: cell_height,
                };
                let Some(value) = self.cell(row, column) else {
                    canvas.hatched("rw-missing", area, self.name);
                    continue;
                };
                let number = plain(value);
                let says = format!(
                    "{} {}, {} {}: {} {number}",
                    self.x_title, self.x[column], self.y_title, self.y[row], self.value_title
                );
                canvas.shaded("rw-cell", area, strength(merit(value)), &says);
                let star = if self.best == Some((row, column)) { "★ " } else { "" };
                let centre = (area.left + cell_width / 2.0, area.top + cell_height / 2.0 + 4.0);
                let fits = |text: &str| text_width(text) * 11.0 / LETTER < cell_width - 3.0;
                let shown = [format!("{star}{number}"), number, star.trim().to_string()].into_iter().find(|t| fits(t));
                if let Some(shown) = shown {
                    canvas.text("rw-small", centre, Anchor::Middle, &shown);
                }
            }
        }
        if let Some((row, column)) = self.best.filter(|&(row, column)| row < n_rows && column < n_columns) {
            let corner = (left + cell_width * column as f64, bottom - cell_height * (row + 1) as f64);
            canvas.rect("rw-best", Area { left: corner.0, top: corner.1, width: cell_width, height: cell_height });
        }
        for (row, label) in self.y.iter().enumerate() {
            let base = bottom - cell_height * (row as f64 + 0.5) + 0.35 * LETTER;
            canvas.label("rw-soft", (left - 6.0, base), Anchor::End, &shortened(label, names), label);
        }
        let widest = self.x.iter().map(|label| text_width(label)).fold(1.0, f64::max).min(100.0);
        let stride = ((widest + 8.0) / cell_width).ceil().max(1.0) as usize;
        for (column, label) in self.x.iter().enumerate().step_by(stride) {
            let centre = left + cell_width * (column as f64 + 0.5);
            let shown = shortened(label, 100.0);
            canvas.label("rw-soft", (centre, bottom + LETTER + 5.0), Anchor::Middle, &shown, label);
        }
        let middle = left + cell_width * n_columns as f64 / 2.0;
        canvas.text("rw-soft", (middle, bottom + 2.0 * LETTER + 11.0), Anchor::Middle, &self.x_title);
        canvas.upward_text("rw-soft", (LETTER, (top + bottom) / 2.0), &self.y_title);
        let height = bottom + 2.0 * LETTER + 20.0;
        Picture::new(self.name, self.title.clone(), self.description(), (width, height), canvas)
    }

    /// Shades from worst to best with their numbers.
    fn draw_key(&self, canvas: &mut Canvas, (low, high): (f64, f64), width: f64, strength: impl Fn(f64) -> f64) {
        if low > high {
            canvas.text("rw-soft", (8.0, 6.0 + LETTER), Anchor::Start, "nothing was measured");
            return;
        }
        let (worst, best) = if self.greater_is_better { (low, high) } else { (high, low) };
        let words = format!("{}, worst {}", self.value_title, plain(worst));
        let end = format!("best {}", plain(best));
        let left = 16.0 + text_width(&words);
        let room = (width - left - text_width(&end) - 16.0).clamp(20.0, 120.0);
        canvas.text("rw-soft", (8.0, 6.0 + LETTER), Anchor::Start, &words);
        let n_steps = 6;
        let step = room / n_steps as f64;
        for k in 0..n_steps {
            let area = Area { left: left + step * k as f64, top: 8.0, width: step, height: 14.0 };
            canvas.shaded("rw-cell", area, strength(k as f64 / (n_steps - 1) as f64), "");
        }
        canvas.text("rw-soft", (left + room + 8.0, 6.0 + LETTER), Anchor::Start, &end);
    }

    fn description(&self) -> String {
        let best = self.best.and_then(|(row, column)| {
            let value = self.cell(row, column)?;
            let (x, y) = (self.x.get(column)?, self.y.get(row)?);
            Some(format!("The best, {}, is at {} {x} and {} {y}.", plain(value), self.x_title, self.y_title))
        });
        let cells = format!("{} by {} cells of {}.", self.x.len(), self.y.len(), self.value_title);
        format!("{cells} {}", best.unwrap_or_else(|| "No cell is the best.".into()))
    }
}
