//! How a model was chosen: the points of a search as a heat map.

use crate::picture::{HeatMap, Picture};
use crate::text::rounded;

/// The points of a search over two parameters.
#[allow(dead_code, reason = "for models that keep their search")]
#[derive(Debug, Clone)]
pub(super) struct TuningGrid<'a> {
    /// The parameter along the columns, and its values.
    pub(super) x: (&'a str, &'a [f64]),
    /// The parameter along the rows, and its values.
    pub(super) y: (&'a str, &'a [f64]),
    /// `cells[row][column]`; `None` where nothing was measured.
    pub(super) cells: Vec<Vec<Option<f64>>>,
    /// Row and column of the chosen one.
    pub(super) best: (usize, usize),
    /// What was measured.
    pub(super) metric: &'a str,
    /// Whether more of it is better.
    pub(super) greater_is_better: bool,
}

/// The picture and its caption; `beside` is what stands beside every picture of quality.
#[allow(dead_code, reason = "for models that keep their search")]
pub(super) fn tuning_section(grid: &TuningGrid<'_>, beside: &str) -> (Picture, String) {
    let values = |values: &[f64]| values.iter().map(|&value| rounded(value)).collect::<Vec<_>>();
    let ((x_title, x), (y_title, y)) = (grid.x, grid.y);
    let picture = HeatMap {
        name: "tuning",
        title: format!("{} by {x_title} and {y_title}", grid.metric),
        x_title: x_title.into(),
        x: values(x),
        y_title: y_title.into(),
        y: values(y),
        value_title: grid.metric.into(),
        cells: grid.cells.clone(),
        best: Some(grid.best),
        greater_is_better: grid.greater_is_better,
    }
    .draw();
    let direction = if grid.greater_is_better { "more" } else { "less" };
    let n_missing = grid.cells.iter().flatten().filter(|cell| cell.is_none()).count();
    let missing = if n_missing > 0 { " Hatched cells were not measured." } else { "" };
    let caption = format!(
        "{} for every {x_title} and {y_title} that was tried; {direction} is better, stronger colour is better, the chosen \
         one is outlined.{missing} {beside}",
        grid.metric
    );
    (picture, caption)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_of_a_search_has_its_cell() {
        let grid = TuningGrid {
            x: ("C", &[0.01, 1.0, 100.0]),
            y: ("gamma", &[0.25, 4.0]),
            cells: vec![vec![Some(0.3), Some(0.125), None], vec![Some(0.5), Some(0.4), Some(0.25)]],
            best: (0, 1),
            metric: "zero_one",
            greater_is_better: false,
        };
        let (picture, caption) = tuning_section(&grid, "Error 1 %.");
        let svg = picture.inline();
        assert_eq!(picture.name(), "tuning");
        assert_eq!(svg.matches("zero_one 0.").count(), 5, "{svg}");
        assert!(svg.contains("★ 0.125"));
        assert!(
            caption.contains("less is better") && caption.contains("not measured") && caption.ends_with("Error 1 %.")
        );
    }
}
