//! Level curves of numbers on a grid: marching squares, joined into curves.
//!
//! Between grid points the function is taken as linear along edges and bilinear inside cells. A cell whose diagonal
//! corners lie on opposite sides of the level is split the way the bilinear function is: by its value at its saddle,
//! (ad − bc)/(a + d − b − c) (Nielson and Hamann, 1991).

use std::collections::BTreeMap;

/// Numbers at the points of a grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid<'a> {
    /// How many points a row has.
    pub(super) n_columns: usize,
    /// Row by row.
    pub(super) values: &'a [f64],
}

/// A point of a curve, in units of columns and rows.
pub(super) type Point = (f64, f64);

/// An edge of the grid: the point it starts at, and whether it goes down the column.
type Edge = (usize, bool);

impl Grid<'_> {
    fn n_rows(&self) -> usize {
        self.values.len().checked_div(self.n_columns).unwrap_or(0)
    }

    /// The curves where the function is `level`, each a polyline; closed ones end where they begin. Cells with a
    /// corner that is no finite number are left out.
    pub(super) fn curves(&self, level: f64) -> Vec<Vec<Point>> {
        let mut neighbours: BTreeMap<Edge, Vec<Edge>> = BTreeMap::new();
        for row in 1..self.n_rows() {
            for column in 1..self.n_columns {
                let at = (row - 1) * self.n_columns + column - 1;
                for (from, to) in self.segments(at, level) {
                    neighbours.entry(from).or_default().push(to);
                    neighbours.entry(to).or_default().push(from);
                }
            }
        }
        let chains = join(neighbours);
        chains.into_iter().map(|chain| chain.into_iter().map(|edge| self.crossing(edge, level)).collect()).collect()
    }

    /// The pieces of the curve in the cell whose first corner is point `at`.
    fn segments(&self, at: usize, level: f64) -> Vec<(Edge, Edge)> {
        let below = at + self.n_columns;
        // a b
        // c d
        let [a, b, c, d] = [at, at + 1, below, below + 1].map(|point| self.values[point]);
        if ![a, b, c, d].iter().all(|value| value.is_finite()) {
            return Vec::new();
        }
        let (top, bottom, left, right) = ((at, false), (below, false), (at, true), (at + 1, true));
        match [a, b, c, d].map(|value| value >= level) {
            [false, false, false, false] | [true, true, true, true] => vec![],
            [true, false, false, false] | [false, true, true, true] => vec![(left, top)],
            [false, true, false, false] | [true, false, true, true] => vec![(top, right)],
            [false, false, true, false] | [true, true, false, true] => vec![(left, bottom)],
            [false, false, false, true] | [true, true, true, false] => vec![(bottom, right)],
            [true, true, false, false] | [false, false, true, true] => vec![(left, right)],
            [true, false, true, false] | [false, true, false, true] => vec![(top, bottom)],
            [a_is_above, ..] => {
                // Relative to the level, with a + d and b + c of opposite signs.
                let [a, b, c, d] = [a, b, c, d].map(|value| value / 4.0 - level / 4.0);
                let size = [a, b, c, d].iter().fold(f64::MIN_POSITIVE, |m, v| v.abs().max(m));
                let [a, b, c, d] = [a, b, c, d].map(|value| value / size);
                let saddle = (a * d - b * c) / (a + d - b - c);
                // The corners on the saddle's side are joined through the middle.
                if (saddle >= 0.0) == a_is_above {
                    vec![(left, bottom), (top, right)]
                } else {
                    vec![(left, top), (bottom, right)]
                }
            }
        }
    }

    /// Where the level lies on an edge.
    fn crossing(&self, (from, is_down): Edge, level: f64) -> Point {
        let to = if is_down { from + self.n_columns } else { from + 1 };
        let (start, end) = (self.values[from] / 2.0, self.values[to] / 2.0);
        let share = (level / 2.0 - start) / (end - start);
        let share = if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) };
        let (column, row) = ((from % self.n_columns) as f64, (from / self.n_columns) as f64);
        if is_down { (column, row + share) } else { (column + share, row) }
    }
}

/// Follows the pieces from end to end; what is left are rings.
fn join(mut neighbours: BTreeMap<Edge, Vec<Edge>>) -> Vec<Vec<Edge>> {
    let ends: Vec<Edge> = neighbours.iter().filter(|(_, next)| next.len() == 1).map(|(&edge, _)| edge).collect();
    let mut chains = Vec::new();
    for end in ends {
        if let Some(chain) = follow(&mut neighbours, end) {
            chains.push(chain);
        }
    }
    while let Some(&start) = neighbours.keys().next() {
        if let Some(chain) = follow(&mut neighbours, start) {
            chains.push(chain);
        }
    }
    chains
}

/// Takes one chain out; `None` where nothing is left to follow.
fn follow(neighbours: &mut BTreeMap<Edge, Vec<Edge>>, start: Edge) -> Option<Vec<Edge>> {
    let mut take = |from: Edge| -> Option<Edge> {
        let next = neighbours.get_mut(&from)?;
        let to = next.pop();
        if next.is_empty() {
            neighbours.remove(&from);
        }
        let to = to?;
        // The way back is gone, too.
        if let Some(back) = neighbours.get_mut(&to) {
            if let Some(place) = back.iter().position(|&edge| edge == from) {
                back.remove(place);
            }
            if back.is_empty() {
                neighbours.remove(&to);
            }
        }
        Some(to)
    };
    let mut chain = vec![start];
    let mut here = start;
    while let Some(next) = take(here) {
        chain.push(next);
        here = next;
    }
    (chain.len() > 1).then_some(chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(n: usize, function: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let at = |k: usize| -1.0 + 2.0 * k as f64 / (n - 1) as f64;
        (0..n * n).map(|k| function(at(k % n), at(k / n))).collect()
    }

    #[test]
    fn the_level_of_a_bowl_is_a_circle() {
        let n = 81;
        let values = sampled(n, |x, y| x * x + y * y);
        let grid = Grid { n_columns: n, values: &values };
        for radius in [0.3f64, 0.55, 0.9] {
            let curves = grid.curves(radius * radius);
            assert_eq!(curves.len(), 1, "{radius}");
            let curve = &curves[0];
            assert_eq!(curve.first(), curve.last(), "a ring is closed");
            for &(x, y) in curve {
                let place = |k: f64| -1.0 + 2.0 * k / (n - 1) as f64;
                let found = place(x).hypot(place(y));
                // Linear interpolation of a parabola errs by at most (step/2)²; step = 1/40.
                assert!((found - radius).abs() < 1e-3, "{found}, not {radius}");
            }
            let length: f64 = curve.windows(2).map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1)).sum();
            let around = std::f64::consts::TAU * radius * (n - 1) as f64 / 2.0;
            assert!((length - around).abs() < 0.01 * around, "{length}, not {around}");
        }
        assert!(grid.curves(-1.0).is_empty() && grid.curves(9.0).is_empty());
    }

    #[test]
    fn curves_that_leave_the_grid_are_open_and_whole() {
        let values = sampled(31, |x, _| x);
        let curves = Grid { n_columns: 31, values: &values }.curves(0.01);
        assert_eq!(curves.len(), 1);
        assert_eq!(curves[0].len(), 31, "one point per row");
        assert!(curves[0].iter().all(|p| (p.0 - 15.15).abs() < 1e-9));
    }

    #[test]
    fn saddles_are_split_as_the_bilinear_function_is() {
        // a b / c d with a, d above 0; the saddle's value is (ad − bc)/(a + d − b − c).
        let split = |values: [f64; 4]| {
            let mut curves = Grid { n_columns: 2, values: &values }.curves(0.0);
            curves.iter_mut().for_each(|curve| curve.sort_by(|p, q| p.partial_cmp(q).unwrap()));
            curves.sort_by(|p, q| p.partial_cmp(q).unwrap());
            curves
        };
        // The high corners dominate: they are joined, so that b and c are cut off.
        let joined = split([3.0, -1.0, -1.0, 3.0]);
        assert_eq!(joined, [vec![(0.0, 0.75), (0.25, 1.0)], vec![(0.75, 0.0), (1.0, 0.25)]]);
        // The low ones do: a and d are cut off.
        let apart = split([1.0, -3.0, -3.0, 1.0]);
        assert_eq!(apart, [vec![(0.0, 0.25), (0.25, 0.0)], vec![(0.75, 1.0), (1.0, 0.75)]]);
        // The mean of the corners (0.25) would join the high ones; the function at its saddle does not.
        let uneven = [10.0, -2.0, -8.0, 1.0];
        assert!(uneven.iter().sum::<f64>() > 0.0 && 10.0 * 1.0 - 2.0 * 8.0 < 0.0);
        assert!(split(uneven).iter().any(|curve| curve.iter().all(|p| p.0 < 0.9 && p.1 < 0.9)), "a is cut off");
        // Upside down and mirrored.
        let flipped = split([-3.0, 1.0, 1.0, -3.0]);
        assert_eq!(flipped, [vec![(0.0, 0.75), (0.25, 1.0)], vec![(0.75, 0.0), (1.0, 0.25)]]);
    }

    #[test]
    fn hostile_grids_have_finite_curves() {
        let hostile = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -f64::MAX, 1e300, 0.0, 1.0, 5e-324];
        let mut values = Vec::new();
        for k in 0..100 {
            values.push(hostile[(k * k + 3 * k) % hostile.len()]);
        }
        for level in [0.0, 1.0, 1e300, -1e300, f64::MAX] {
            for curve in (Grid { n_columns: 10, values: &values }).curves(level) {
                assert!(curve.iter().all(|p| p.0.is_finite() && p.1.is_finite()));
            }
        }
        assert!((Grid { n_columns: 0, values: &[] }).curves(0.0).is_empty());
        assert!((Grid { n_columns: 3, values: &[1.0, 2.0, 3.0] }).curves(2.0).is_empty());
        let flat = [1.0; 16];
        assert!((Grid { n_columns: 4, values: &flat }).curves(1.0).is_empty());
    }
}
