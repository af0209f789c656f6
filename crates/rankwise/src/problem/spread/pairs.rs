//! Judged pairs that are spread over parts, β eliminated as in `pair_sums`.

use std::cell::{Cell, OnceCell};

use super::{Answer, Ask, Asked, MOST_GATHERED, Question, from_triangle};
use crate::data::{Features, Scaler};
use crate::math::dot;
use crate::problem::crossing::Pull;
use crate::problem::pair_sums::{GatheredPairs, Offset};
use crate::problem::threshold::Sizes;
use crate::problem::{BlockSums, Hinge, Rule, SumPoint};

/// Rounds in which β is looked for.
const MOST_ROUNDS: usize = 60;
/// Slopes in β this small beside their terms are zero.
const RESOLUTION: f64 = 1e-14;
/// Where to look for β around a guess, in units of how far it went last.
const FAN: [f64; 6] = [0.01, 0.06, 0.25, 1.0, 4.0, 16.0];
/// Places between two bounds.
const BETWEEN: usize = 8;

/// The losses of pairs as a sum over parts.
pub(crate) struct SpreadPairs<'a> {
    asked: &'a Asked<'a>,
    /// What features are divided by.
    scaler: Option<&'a Scaler>,
    dim: usize,
    n_numbers: usize,
    over: &'a Spread,
    /// What losses of ties are multiplied with, and of others.
    costs: [f64; 2],
    c: f64,
    rule: Rule,
    /// β may not be above −1.
    capped: bool,
    here: Vec<f64>,
    offset: Offset,
    direction: Vec<f64>,
    /// How far β went last.
    reach: Cell<f64>,
    /// How the slope in β moves with weights, where the sum is.
    tilt: Option<Vec<f64>>,
    some: OnceCell<Option<(GatheredPairs, Option<Features>)>>,
}

/// What there is to sum over.
pub(crate) struct Spread {
    pub(crate) dim: usize,
    pub(crate) n_numbers: usize,
    /// Of every part.
    pub(crate) n_pairs: Vec<usize>,
    /// The weight of all pairs, and of ties.
    pub(crate) weight: f64,
    pub(crate) of_ties: f64,
}

impl<'a> SpreadPairs<'a> {
    pub(crate) fn new(
        asked: &'a Asked<'a>,
        scaler: Option<&'a Scaler>,
        over: &'a Spread,
        costs: [f64; 2],
        rule: Rule,
        capped: bool,
    ) -> Self {
        SpreadPairs {
            asked,
            scaler,
            dim: over.dim,
            n_numbers: over.n_numbers,
            over,
            costs,
            c: 1.0,
            rule,
            capped,
            here: Vec::new(),
            offset: Offset::default(),
            direction: Vec::new(),
            reach: Cell::new(1.0),
            tilt: None,
            some: OnceCell::new(),
        }
    }

    fn divisor(&self, column: usize) -> f64 {
        self.scaler.map_or(1.0, |scaler| scaler.divisor[column])
    }

    fn divided(&self, vector: &[f64]) -> Vec<f64> {
        vector.iter().enumerate().map(|(column, x)| x / self.divisor(column)).collect()
    }

    fn question(&self, ask: Ask, (direction, step): (&[f64], f64), beta: f64, more: &[f64]) -> Question {
        let width = match self.rule {
            Rule::Compare(Hinge::Rounded(width)) | Rule::Rank(Hinge::Rounded(width)) => width,
            _ => 0.0,
        };
        let costs = self.costs.map(|cost| self.c * cost);
        let numbers = [&[costs[0], costs[1], self.rule.code(), width, beta, step], more].concat();
        Question { ask, weights: self.divided(&self.here), direction: self.divided(direction), numbers }
    }

    /// An answer at the place itself.
    fn ask_here(&self, n_sums: usize, ask: Ask, more: &[f64]) -> Option<Answer> {
        self.asked.ask(n_sums, &self.question(ask, (&[], 0.0), self.offset.beta, more))
    }

    /// How the slope in β moves with weights, where β moves.
    fn free_tilt(&self) -> Option<&Vec<f64>> {
        self.tilt.as_ref().filter(|_| self.offset.is_free && self.offset.stiffness > 0.0)
    }

    /// About where β is after so much of a step: it moves with the weights as its slope says.
    fn beta_after(&self, step: &[f64], size: f64) -> f64 {
        self.free_tilt()
            .map_or(self.offset.beta, |tilt| self.offset.beta - size * dot(tilt, step) / self.offset.stiffness)
    }

    fn nothing(&self) -> Vec<f64> {
        vec![0.0; self.dim]
    }

    /// β where the sum is, for rules that have it.
    pub(crate) fn beta(&self) -> Option<f64> {
        self.rule.has_offset().then_some(self.offset.beta)
    }

    /// The best value without weights, and its β.
    pub(crate) fn at_zero(&mut self) -> (f64, f64) {
        let value = self.go_to(&self.nothing()).meant;
        (value, self.offset.beta)
    }

    /// How many pairs have a slope, the weight of those with a difference up to a threshold, and the largest difference.
    pub(crate) fn facts(&self, threshold: f64) -> Option<[f64; 3]> {
        let answer = self.ask_here(2, Ask::Facts, &[threshold])?;
        Some([answer.sums[0], answer.sums[1], *answer.most.first()?])
    }

    /// The best β after a step, if there is a direction, and what is there: value and slope after a step, and without one value,
    /// gradient and tilt. Every look goes to all parts; so each is at many places at once, and at the likeliest one it brings
    /// the answer along.
    fn settle(&self, (direction, step): (&[f64], f64), guess: f64) -> Option<(Offset, Vec<f64>)> {
        let (ask, before) = if direction.is_empty() { (Ask::Point, 3 + 2 * self.dim) } else { (Ask::Along, 2) };
        let look = |centre: f64, places: &[f64]| -> Option<(Vec<Pull>, Vec<f64>)> {
            let question = self.question(ask, (direction, step), centre, places);
            let mut there = self.asked.ask(before + 3 * places.len(), &question)?.sums;
            let pull = |p: &[f64]| Pull { slope: p[0], stiffness: p[1], size: p[2] };
            let pulls = there.split_off(before).chunks_exact(3).map(pull).collect();
            Some((pulls, there))
        };
        if !self.rule.has_offset() {
            return Some((Offset::default(), look(0.0, &[])?.1));
        }
        // With a barrier, ties keep β below 0.
        let mut high = (if self.rule.has_barrier() { 0.0 } else { f64::INFINITY }, None::<Pull>);
        let mut low = (f64::NEG_INFINITY, None::<Pull>);
        let guess = if guess < high.0 { guess } else { -1.0 };
        let (mut centre, mut reach) = (guess, self.reach.get());
        let mut best: Option<(f64, Pull)> = None;
        for _ in 0..MOST_ROUNDS {
            let mut places = vec![centre];
            match (low.1, high.1) {
                (Some(below), Some(above)) => places.extend(between((low.0, below), (high.0, above))),
                _ => {
                    places.extend(FAN.iter().flat_map(|part| [centre - part * reach, centre + part * reach]));
                    places.extend((high.0 == 0.0).then_some(0.5 * centre));
                }
            }
            places.retain(|&beta| beta.is_finite() && beta > low.0 && beta < high.0);
            places.sort_unstable_by(f64::total_cmp);
            places.dedup();
            if places.is_empty() {
                break;
            }
            let (pulls, there) = look(centre, &places)?;
            for (&beta, pull) in places.iter().zip(pulls) {
                if best.is_none_or(|(_, known)| pull.slope.abs() < known.slope.abs()) {
                    best = Some((beta, pull));
                }
                if pull.slope < 0.0 && beta > low.0 {
                    low = (beta, Some(pull));
                } else if pull.slope >= 0.0 && beta < high.0 {
                    high = (beta, Some(pull));
                }
            }
            let Some((beta, pull)) = best else { continue };
            if pull.slope.abs() <= RESOLUTION * pull.size {
                if beta == centre && !(self.capped && beta > -1.0) {
                    self.reach.set(went(guess, beta));
                    return Some((Offset { beta, is_free: true, stiffness: pull.stiffness }, there));
                }
                break;
            }
            let newton = beta - pull.slope / pull.stiffness;
            let is_inside = |beta: f64| beta > low.0 && beta < high.0;
            centre = match (low.1, high.1) {
                (Some(below), Some(above)) if self.rule.is_smooth() => cubic((low.0, below), (high.0, above)),
                _ => newton,
            };
            if !is_inside(centre) {
                let are_both = low.1.is_some() && high.1.is_some();
                let other = if are_both { 0.5 * (low.0 + high.0) } else { beta };
                centre = if is_inside(newton) { newton } else { other };
            }
            reach *= 16.0;
        }
        let (beta, _) = best?;
        self.reach.set(went(guess, beta));
        let is_free = !(self.capped && beta > -1.0);
        let beta = if is_free { beta } else { -1.0 };
        let (pulls, there) = look(beta, &[beta])?;
        Some((Offset { beta, is_free, stiffness: pulls.first()?.stiffness }, there))
    }

    fn some(&self) -> Option<&(GatheredPairs, Option<Features>)> {
        let gather = || {
            let level = (1..8).find(|&level| (self.n_numbers as u64 >> (4 * level)) <= MOST_GATHERED)?;
            let mut first = 0;
            let starts = self.over.n_pairs.iter().map(|n| {
                first += n;
                (first - n) as f64
            });
            let numbers: Vec<f64> = [f64::from(level), Sizes::n(self) as f64].into_iter().chain(starts).collect();
            let answer = self.ask_here(0, Ask::Thinned, &numbers)?;
            let gathered = GatheredPairs::read(&answer.list, self.dim)?;
            let divided = match self.scaler {
                Some(scaler) => Some(
                    Scaler { shift: self.nothing(), divisor: scaler.divisor.clone() }
                        .apply(gathered.features())
                        .ok()?,
                ),
                None => None,
            };
            Some((gathered, divided))
        };
        self.some.get_or_init(gather).as_ref()
    }
}

/// How far β went, so that it is looked for about so far away the next time.
fn went(from: f64, to: f64) -> f64 {
    // Not `clamp`: beyond 1e14 the least is above the most.
    (to - from).abs().max(1e-8 * to.abs().max(1e-6)).min(1e6)
}

/// Where the slope is zero if β is a cubic of it (Hermite's, by slopes and stiffnesses at two bounds).
fn cubic((low, below): (f64, Pull), (high, above): (f64, Pull)) -> f64 {
    let width = above.slope - below.slope;
    let t = -below.slope / width;
    let u = 1.0 - t;
    let ends = u * u * (1.0 + 2.0 * t) * low + t * t * (1.0 + 2.0 * u) * high;
    ends + width * t * u * (u / below.stiffness - t / above.stiffness)
}

/// Places between two bounds where a slope may cross zero: where Newton's method goes from either, where the line and the cubic
/// between them do, and some between those.
fn between((low, below): (f64, Pull), (high, above): (f64, Pull)) -> Vec<f64> {
    let line = low - below.slope * (high - low) / (above.slope - below.slope);
    let newton = [low - below.slope / below.stiffness, high - above.slope / above.stiffness];
    let others = [line, cubic((low, below), (high, above))];
    let inner: Vec<f64> = newton.into_iter().chain(others).filter(|beta| *beta > low && *beta < high).collect();
    let first = inner.iter().copied().fold(f64::INFINITY, f64::min);
    let last = inner.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut places = inner;
    if first < last {
        places.extend((1..BETWEEN).map(|at| first + (last - first) * at as f64 / BETWEEN as f64));
    }
    // Rounding may have moved the crossing a little out of these.
    places.extend([0.5 * (low + high), 0.5 * (low + first), 0.5 * (last + high)].into_iter().filter(|p| p.is_finite()));
    places
}

impl BlockSums for SpreadPairs<'_> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn n_numbers(&self) -> usize {
        self.n_numbers
    }

    fn go_to(&mut self, weights: &[f64]) -> SumPoint {
        let step: Vec<f64> = weights.iter().zip(&self.here).map(|(to, from)| to - from).collect();
        let guess = self.beta_after(&step, 1.0);
        (self.here, self.tilt) = (weights.to_vec(), None);
        let Some((offset, there)) = self.settle((&[], 0.0), guess) else {
            // Nothing is better than nowhere: the search ends.
            let nowhere = f64::INFINITY;
            return SumPoint { value: nowhere, gradient: self.nothing(), meant: nowhere, excess: 0.0 };
        };
        self.offset = offset;
        let (gradient, tilt) = there[3..].split_at(self.dim);
        self.tilt = Some(self.divided(tilt));
        SumPoint { value: there[0], meant: there[1], excess: there[2], gradient: self.divided(gradient) }
    }

    fn hessian_times(&mut self, v: &[f64]) -> Vec<f64> {
        let question = self.question(Ask::Times, (v, 0.0), self.offset.beta, &[]);
        let Some(answer) = self.asked.ask(self.dim, &question) else { return self.nothing() };
        let mut product = self.divided(&answer.sums);
        if let Some(tilt) = self.free_tilt() {
            let moved = -dot(tilt, v) / self.offset.stiffness;
            product.iter_mut().zip(tilt).for_each(|(product, tilt)| *product += moved * tilt);
        }
        product
    }

    fn hessian_diagonal(&mut self) -> Vec<f64> {
        let answer = self.ask_here(self.dim, Ask::Diagonal, &[]);
        answer.map_or_else(|| self.nothing(), |answer| self.divided(&self.divided(&answer.sums)))
    }

    /// Never whole: parts make what they have of the matrix.
    fn hessian_sketch(&mut self, _: usize) -> Vec<f64> {
        Vec::new()
    }

    fn add_sketch(&mut self, n: usize, matrix: &mut [f64]) {
        let Some(curved) = self.ask_here(0, Ask::Curved, &[]) else { return };
        let parts = curved.list.chunks_exact(2);
        let (total, count) = parts.clone().fold((0.0, 0.0), |sum, part| (sum.0 + part[0], sum.1 + part[1]));
        if !(total > 0.0 && total.is_finite()) {
            return;
        }
        let spacing = if count <= 2.0 * n as f64 { 0.0 } else { total / n as f64 };
        let mut before = 0.0;
        let starts = parts.map(|part| {
            before += part[0];
            before - part[0]
        });
        let numbers: Vec<f64> = std::iter::once(spacing).chain(starts).collect();
        let dim = self.dim;
        let Some(answer) = self.ask_here(1 + dim + dim * (dim + 1) / 2, Ask::Sketch, &numbers) else { return };
        let divisor = |column: usize| self.divisor(column);
        from_triangle(&answer.sums[1 + dim..], dim, 1.0, divisor, matrix);
        // What is left without β.
        let (stiffness, tilt) = (answer.sums[0], self.divided(&answer.sums[1..1 + dim]));
        if self.rule.has_offset() && self.offset.is_free && stiffness > 0.0 {
            for row in 0..dim {
                for column in 0..=row {
                    matrix[row * dim + column] -= tilt[row] * tilt[column] / stiffness;
                }
            }
        }
    }

    fn aim(&mut self, direction: &[f64]) {
        self.direction = direction.to_vec();
    }

    fn along(&mut self, step: f64) -> (f64, f64) {
        let along = (&self.direction[..], step);
        let there = if step == 0.0 {
            self.asked.ask(2, &self.question(Ask::Along, along, self.offset.beta, &[])).map(|answer| answer.sums)
        } else {
            self.settle(along, self.beta_after(&self.direction, step)).map(|settled| settled.1)
        };
        there.map_or((f64::INFINITY, f64::INFINITY), |there| (there[0], there[1]))
    }

    fn set_c(&mut self, c: f64) {
        self.c = c;
    }

    /// Only a hard margin asks, which is not sought over parts.
    fn least_lead(&self) -> f64 {
        f64::NAN
    }

    fn round_off(&mut self, width: f64) {
        self.rule = match self.rule {
            Rule::Compare(_) => Rule::Compare(Hinge::Rounded(width)),
            Rule::Rank(_) => Rule::Rank(Hinge::Rounded(width)),
            other => other,
        };
    }

    fn thinned(&self) -> Option<Box<dyn BlockSums + '_>> {
        let (gathered, divided) = self.some()?;
        let (n_pairs, n_ties) = gathered.counts();
        // β needs pairs of both kinds.
        let has_both = !self.rule.has_offset() || (n_ties > 0 && n_ties < n_pairs);
        if n_pairs < 8 * self.dim || !has_both {
            return None;
        }
        let all = self.costs[0] * self.over.of_ties + self.costs[1] * (self.over.weight - self.over.of_ties);
        let sums = gathered.sums(divided.as_ref(), self.rule, self.costs, all).capped(self.capped);
        Some(Box::new(sums))
    }
}

/// Differences at the place, as a threshold is chosen by them.
impl Sizes for SpreadPairs<'_> {
    fn n(&self) -> usize {
        self.over.n_pairs.iter().sum()
    }

    fn largest(&self) -> f64 {
        self.facts(0.0).map_or(0.0, |[_, _, largest]| largest)
    }

    fn total(&self) -> f64 {
        self.over.weight
    }

    fn sample(&self, n: usize) -> Vec<f64> {
        let spacing = (Sizes::n(self) / n).max(1) as f64;
        self.ask_here(0, Ask::Sizes, &[spacing]).map_or_else(Vec::new, |answer| answer.list)
    }

    fn moves(&self, edges: &[f64]) -> Vec<(f64, f64)> {
        let n = edges.len() + 1;
        let answer = self.ask_here(2 * n, Ask::Moves, edges);
        answer.map_or_else(|| vec![(0.0, 0.0); n], |answer| answer.sums.chunks_exact(2).map(|m| (m[0], m[1])).collect())
    }

    fn within(&self, low: f64, high: f64) -> Vec<(f64, f64)> {
        let Some(answer) = self.ask_here(0, Ask::Within, &[low, high]) else { return Vec::new() };
        let mut sizes: Vec<(f64, f64)> = answer.list.chunks_exact(2).map(|s| (s[0], s[1])).collect();
        sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
        sizes
    }
}
