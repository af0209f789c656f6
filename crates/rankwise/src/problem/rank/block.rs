//! A block of whole groups: what is known of its items, and one visit of its rows per product.

use super::group::{Group, GroupLosses, Scratch, Shape};
use super::listed::PairList;
use super::visit::Visit;
use crate::data::mix;
use crate::math::{cholesky, dot, solve_lower, solve_upper};
use crate::problem::MARK;

/// The most items of a group whose matrix of curvatures is factored.
const MOST_EASED: usize = 512;

/// I + shift·curvature of a group.
#[derive(Debug)]
enum Easing {
    /// Its factor.
    Factor(Vec<f64>),
    /// A number that stands for it.
    Mean(f64),
}

/// A block of whole groups.
#[derive(Debug, Default)]
pub(super) struct Block {
    groups: Vec<Group>,
    /// Rows of the features, group by group.
    rows: Vec<u32>,
    weights: Option<Vec<f64>>,
    /// Scores at the weights gone to last, from the mean of the group.
    scores: Vec<f64>,
    /// Changes of the scores per step of the direction aimed at.
    along: Vec<f64>,
    /// Buffers, kept from one visit to the next.
    scratch: Scratch,
    change: Vec<f64>,
    product: Vec<f64>,
    /// Of every group, what [`Block::ease`] made.
    easing: Vec<Easing>,
    /// Numbers stored in its rows.
    pub(super) n_numbers: usize,
}

impl Block {
    /// Adds a group of whose pairs those of a list count.
    pub(super) fn push_listed(&mut self, rows: &[u32], weights: Option<&[f64]>, factor: f64, pairs: PairList) {
        self.groups.push(Group::listed(self.rows.len(), factor, rows.len(), pairs));
        self.push_items(rows, weights);
    }

    /// Adds a group of at least two labels.
    pub(super) fn push(
        &mut self,
        rows: &[u32],
        labels: &[f64],
        weights: Option<&[f64]>,
        factor: f64,
        distinct: &[f64],
        shape: Shape,
    ) {
        self.groups.push(Group::new(self.rows.len(), factor, labels, distinct, shape != Shape::Logistic));
        self.push_items(rows, weights);
    }

    fn push_items(&mut self, rows: &[u32], weights: Option<&[f64]>) {
        self.rows.extend_from_slice(rows);
        self.scores.resize(self.rows.len(), 0.0);
        self.along.resize(self.rows.len(), 0.0);
        if let Some(weights) = weights {
            self.weights.get_or_insert_default().extend_from_slice(weights);
        }
    }

    pub(super) fn n_items(&self) -> usize {
        self.rows.len()
    }

    /// The rows of every group, and its factor.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u32], f64)> {
        (0..self.groups.len()).map(|g| (&self.rows[self.span(g)], self.groups[g].factor))
    }

    /// Its rows.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// No group will be added.
    pub(super) fn close(&mut self) {
        self.rows.shrink_to_fit();
        self.scores.shrink_to_fit();
        self.along.shrink_to_fit();
        if let Some(weights) = &mut self.weights {
            weights.shrink_to_fit();
        }
        self.groups.shrink_to_fit();
    }

    /// Gives memory back that the next visit makes anew: where many blocks wait, that is most of it.
    pub(super) fn rest(&mut self) {
        (self.scratch, self.change, self.product) = (Scratch::default(), Vec::new(), Vec::new());
        self.groups.iter_mut().for_each(Group::rest);
    }

    /// Bytes it has at rest once it was gone to, and those a visit takes besides.
    pub(super) fn bytes(&self, shape: Shape) -> (usize, usize) {
        let of_weights = self.weights.as_ref().map_or(0, |weights| 8 * weights.len());
        let largest = (0..self.groups.len()).map(|g| self.span(g).len()).max().unwrap_or(0);
        let at_rest = self.groups.iter().map(|group| group.bytes(shape)).sum::<usize>();
        (20 * self.rows.len() + of_weights + at_rest, (11 * 8 + 48) * largest)
    }

    fn span(&self, group: usize) -> std::ops::Range<usize> {
        span(&self.groups, self.rows.len(), group)
    }

    /// What the rows of every group are called in a visit.
    pub(super) fn group_rows<'a>(&'a self, visit: &Visit<'a>) -> impl Iterator<Item = &'a [u32]> {
        let numbers = visit.numbers(&self.rows);
        (0..self.groups.len()).map(move |g| &numbers[self.span(g)])
    }

    /// Value and gradient at new weights, without C; the gradient is added to `sums`.
    pub(super) fn go_to(&mut self, visit: &Visit<'_>, weights: &[f64], shape: Shape, sums: &mut [f64]) -> GroupLosses {
        let mut total = GroupLosses::default();
        let slopes = &mut self.product;
        let numbers = visit.numbers(&self.rows);
        for g in 0..self.groups.len() {
            let span = span(&self.groups, self.rows.len(), g);
            let rows = &numbers[span.clone()];
            let scores = &mut self.scores[span.clone()];
            visit.times(rows, weights, scores);
            // Only differences count; near 0 they lose no digits.
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            scores.iter_mut().for_each(|s| *s -= mean);
            if scores.iter().any(|s| !s.is_finite()) {
                total.value = f64::INFINITY;
                total.meant = f64::INFINITY;
                continue;
            }
            slopes.resize(rows.len(), 0.0);
            let group = &mut self.groups[g];
            let of_items = self.weights.as_ref().map(|w| &w[span.clone()]);
            let losses = group.go_to(shape, scores, of_items, slopes, &mut self.scratch);
            total.value += group.factor * losses.value;
            total.meant += group.factor * losses.meant;
            total.excess += group.factor * losses.excess;
            slopes.iter_mut().for_each(|slope| *slope *= group.factor);
            visit.add(rows, slopes, sums);
        }
        total
    }

    /// Hessian times v, without C, added to `sums`.
    pub(super) fn hessian_times(&mut self, visit: &Visit<'_>, v: &[f64], shape: Shape, sums: &mut [f64]) {
        let (change, product) = (&mut self.change, &mut self.product);
        let numbers = visit.numbers(&self.rows);
        for g in 0..self.groups.len() {
            let span = span(&self.groups, self.rows.len(), g);
            let rows = &numbers[span.clone()];
            change.resize(rows.len(), 0.0);
            product.resize(rows.len(), 0.0);
            visit.times(rows, v, change);
            let of_items = self.weights.as_ref().map(|w| &w[span.clone()]);
            let group = &mut self.groups[g];
            group.curvature_times(shape, &self.scores[span], change, of_items, product, &mut self.scratch);
            product.iter_mut().for_each(|p| *p *= group.factor);
            visit.add(rows, product, sums);
        }
    }

    /// The curvature of the losses times what each of some vectors makes of the rows, without C and the way back: one number
    /// for every row, vector by vector.
    pub(super) fn curvatures(&mut self, visit: &Visit<'_>, vectors: &[f64], shape: Shape) -> Vec<f64> {
        let n = self.rows.len();
        let numbers = visit.numbers(&self.rows);
        let dim = visit.n_cols().max(1);
        let mut out = vec![0.0; vectors.len() / dim * n];
        let change = &mut self.change;
        for (vector, out) in vectors.chunks_exact(dim).zip(out.chunks_exact_mut(n.max(1))) {
            change.resize(n, 0.0);
            visit.times(numbers, vector, change);
            for g in 0..self.groups.len() {
                let span = span(&self.groups, n, g);
                let of_items = self.weights.as_ref().map(|w| &w[span.clone()]);
                let (scores, change, out) = (&self.scores[span.clone()], &change[span.clone()], &mut out[span]);
                let group = &mut self.groups[g];
                group.curvature_times(shape, scores, change, of_items, out, &mut self.scratch);
                out.iter_mut().for_each(|p| *p *= group.factor);
            }
        }
        out
    }

    /// Factors I + shift·curvature of every group; of a large one only its mean stands for the curvature.
    pub(super) fn ease(&mut self, shift: f64, shape: Shape) {
        let n_items = self.rows.len();
        self.easing.clear();
        for g in 0..self.groups.len() {
            let span = span(&self.groups, n_items, g);
            let n = span.len();
            let (scores, of_items) = (&self.scores[span.clone()], self.weights.as_ref().map(|w| &w[span.clone()]));
            let group = &mut self.groups[g];
            let factor = shift * group.factor;
            if n > MOST_EASED {
                let degree = |i: usize| of_items.map_or(1.0, |w| w[i]) * group.degrees()[i];
                let trace = group.unit_of_curvature(shape) * (0..n).map(degree).sum::<f64>();
                self.easing.push(Easing::Mean(1.0 + factor * trace / n as f64));
                continue;
            }
            let mut matrix = vec![0.0; n * n];
            let mut unit = vec![0.0; n];
            for (i, row) in matrix.chunks_exact_mut(n).enumerate() {
                unit[i] = 1.0;
                group.curvature_times(shape, scores, &unit, of_items, row, &mut self.scratch);
                unit[i] = 0.0;
                row.iter_mut().for_each(|value| *value *= factor);
                row[i] += 1.0;
            }
            let is_factored = cholesky(&mut matrix, n, 0.0);
            self.easing.push(if is_factored { Easing::Factor(matrix) } else { Easing::Mean(1.0) });
        }
    }

    /// What (I + shift·curvature)⁻¹ changes in what each of some vectors makes of the rows: vector by vector.
    pub(super) fn eased(&mut self, visit: &Visit<'_>, vectors: &[f64]) -> Vec<f64> {
        let n = self.rows.len();
        let numbers = visit.numbers(&self.rows);
        let dim = visit.n_cols().max(1);
        let mut out = vec![0.0; vectors.len() / dim * n];
        let before = &mut self.change;
        before.resize(n, 0.0);
        for (vector, out) in vectors.chunks_exact(dim).zip(out.chunks_exact_mut(n.max(1))) {
            visit.times(numbers, vector, before);
            out.copy_from_slice(before);
            for (g, easing) in self.easing.iter().enumerate() {
                let out = &mut out[span(&self.groups, n, g)];
                match easing {
                    Easing::Mean(mean) => out.iter_mut().for_each(|value| *value /= mean),
                    Easing::Factor(factor) => {
                        solve_lower(factor, out.len(), out);
                        solve_upper(factor, out.len(), out);
                    }
                }
            }
            out.iter_mut().zip(before.iter()).for_each(|(after, before)| *after -= before);
        }
        out
    }

    /// About the diagonal of the Hessian, without C: every item's curvature as if it were paired with the mean of its group.
    pub(super) fn hessian_diagonal(&mut self, visit: &Visit<'_>, shape: Shape, sums: &mut [f64]) {
        let mut means = vec![0.0; sums.len()];
        let numbers = visit.numbers(&self.rows);
        for (g, group) in self.groups.iter().enumerate() {
            let span = self.span(g);
            let rows = &numbers[span.clone()];
            let unit = group.factor * group.unit_of_curvature(shape);
            let curvature = |i: usize| self.weights.as_ref().map_or(1.0, |w| w[span.start + i]) * group.degrees()[i];
            let total: f64 = (0..rows.len()).map(curvature).sum();
            if total == 0.0 {
                continue;
            }
            visit.for_each(rows, |i, features, row| {
                let curvature = curvature(i);
                features.for_each_in_row(row, |column, value| {
                    sums[column] += unit * curvature * value * value;
                    means[column] += curvature * value;
                });
            });
            visit.for_each(rows, |_, features, row| {
                features.for_each_in_row(row, |column, _| {
                    let sum = std::mem::take(&mut means[column]);
                    sums[column] -= unit * sum * (sum / total);
                });
            });
        }
        sums.iter_mut().for_each(|sum| *sum = sum.max(0.0));
    }

    /// Σ factor·(weights of pairs with a curvature), times the curvature's unit.
    pub(super) fn curved(&self, shape: Shape) -> f64 {
        let of_group = |(g, group): (usize, &Group)| {
            let start = self.span(g).start;
            let weight = |i: usize| self.weights.as_ref().map_or(1.0, |w| w[start + i]);
            let sum: f64 = group.degrees().iter().enumerate().map(|(i, degree)| weight(i) * degree).sum();
            group.factor * group.unit_of_curvature(shape) * sum
        };
        0.5 * self.groups.iter().enumerate().map(of_group).sum::<f64>()
    }

    /// Draws pairs by their curvature, one at every mark (m + [`MARK`])·`spacing` of it, where the curvature begins at `start`:
    /// their rows. What is drawn at a mark depends on its number alone.
    pub(super) fn draw_pairs(&self, labels: &[f64], shape: Shape, start: f64, spacing: f64) -> Vec<[u32; 2]> {
        let mut drawn = Vec::new();
        let mut passed = start;
        let mut mark = (start / spacing - MARK).ceil().max(0.0);
        for (g, group) in self.groups.iter().enumerate() {
            let span = self.span(g);
            let rows = &self.rows[span.clone()];
            let of_items = self.weights.as_ref().map(|w| &w[span.clone()]);
            let unit = 0.5 * group.factor * group.unit_of_curvature(shape);
            for (i, degree) in group.degrees().iter().enumerate() {
                passed += unit * of_items.map_or(1.0, |w| w[i]) * degree;
                while (mark + MARK) * spacing < passed {
                    let mut hash = mix(1, mark as u64);
                    mark += 1.0;
                    let random = || {
                        hash = mix(hash, 1);
                        (hash >> 11) as f64 / (1u64 << 53) as f64
                    };
                    let label = |i: usize| labels[rows[i] as usize];
                    let scores = &self.scores[span.clone()];
                    if let Some(j) = group.draw_partner(shape, i, scores, label, of_items, random) {
                        drawn.push([rows[i], rows[j]]);
                    }
                }
            }
        }
        drawn
    }

    /// The least lead of a better item over a worse one; `labels` are those of all rows.
    pub(super) fn least_lead(&self, labels: &[f64]) -> f64 {
        let of_group = |(g, group): (usize, &Group)| {
            let scores = &self.scores[self.span(g)];
            let of_all = || least_lead_of_all(&self.rows[self.span(g)], scores, labels);
            group.least_listed_lead(scores).unwrap_or_else(of_all)
        };
        self.groups.iter().enumerate().map(of_group).fold(f64::INFINITY, f64::min)
    }

    /// Makes ready for steps along a direction.
    pub(super) fn aim(&mut self, visit: &Visit<'_>, direction: &[f64]) {
        visit.times(visit.numbers(&self.rows), direction, &mut self.along);
    }

    /// The losses after a step of this size from the last weights and their slope along it, without C. The curvature is that of
    /// the trial afterwards.
    pub(super) fn along(&mut self, step: f64, shape: Shape) -> (f64, f64) {
        let (mut value, mut slope) = (0.0, 0.0);
        let (trial, slopes) = (&mut self.change, &mut self.product);
        for g in 0..self.groups.len() {
            let span = span(&self.groups, self.rows.len(), g);
            let along = &self.along[span.clone()];
            trial.clear();
            trial.extend(self.scores[span.clone()].iter().zip(along).map(|(s, t)| s + step * t));
            if trial.iter().any(|s| !s.is_finite()) {
                return (f64::INFINITY, f64::INFINITY);
            }
            slopes.resize(trial.len(), 0.0);
            let of_items = self.weights.as_ref().map(|w| &w[span.clone()]);
            let group = &mut self.groups[g];
            value += group.factor * group.go_to(shape, trial, of_items, slopes, &mut self.scratch).value;
            slope += group.factor * dot(slopes, along);
        }
        (value, slope)
    }

    /// The plane of the losses after a step of this size, without C: its value at equal scores; its slopes are added to
    /// `sums`. `None` where scores leave the range of numbers.
    pub(super) fn plane(&mut self, visit: &Visit<'_>, step: f64, shape: Shape, sums: &mut [f64]) -> Option<f64> {
        let mut swapped = 0.0;
        let (trial, slopes) = (&mut self.change, &mut self.product);
        let numbers = visit.numbers(&self.rows);
        for g in 0..self.groups.len() {
            let span = span(&self.groups, self.rows.len(), g);
            trial.clear();
            trial.extend(self.scores[span.clone()].iter().zip(&self.along[span.clone()]).map(|(s, t)| s + step * t));
            if trial.iter().any(|s| !s.is_finite()) {
                return None;
            }
            slopes.resize(trial.len(), 0.0);
            let of_items = self.weights.as_ref().map(|w| &w[span.clone()]);
            let group = &mut self.groups[g];
            swapped += group.factor * group.go_to(shape, trial, of_items, slopes, &mut self.scratch).swapped;
            slopes.iter_mut().for_each(|slope| *slope *= group.factor);
            visit.add(&numbers[span], slopes, sums);
        }
        Some(swapped)
    }

    /// Goes that step.
    pub(super) fn settle(&mut self, step: f64) {
        self.scores.iter_mut().zip(&self.along).for_each(|(score, along)| *score += step * along);
    }
}

/// The least lead of a better item over a worse one of a group.
fn least_lead_of_all(rows: &[u32], scores: &[f64], labels: &[f64]) -> f64 {
    let mut items: Vec<(f64, f64)> = rows.iter().zip(scores).map(|(&row, &s)| (labels[row as usize], s)).collect();
    items.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut best_below, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
    for run in items.chunk_by(|a, b| a.0 == b.0) {
        let scores = || run.iter().map(|item| item.1);
        least = least.min(scores().fold(f64::INFINITY, f64::min) - best_below);
        best_below = best_below.max(scores().fold(f64::NEG_INFINITY, f64::max));
    }
    least
}

/// Which items of a block a group has.
fn span(groups: &[Group], n_items: usize, group: usize) -> std::ops::Range<usize> {
    let end = groups.get(group + 1).map_or(n_items, |next| next.start);
    groups[group].start..end
}
