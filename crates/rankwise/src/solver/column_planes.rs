//! F(c) + the cost of the columns that make the coefficients c, for an F that is the largest of many planes: a linear program
//! of which rows (planes) and columns are known only where they matter.
//!
//! The simplex method solves for the planes and columns so far. New planes are asked for on the way from the best coefficients so
//! far to its answer, a little beyond the lowest point, and at the answer itself where the way does not fall.
//! Its multipliers mix the planes to one, from which every column's price follows at once, since planes keep their slopes in all
//! coefficients: columns that are too dear come in.
//!
//! The bound owes nothing to the simplex method. Multipliers y ≥ 0 with Σy ≤ 1 make a plane below F, whatever they are; divided
//! by what the dearest column is too dear, it lies below the cost of columns, too, and its value at 0 below the minimum.

use std::collections::HashSet;

use super::simplex::Simplex;
use super::{Halving, Limits};
use crate::math::add_multiple;
use crate::problem::{Column, ColumnPlanes, Plane};
use crate::progress::Stop;

/// How far beyond the lowest point a plane is asked for, as a part of the rest of the way.
const BEYOND: f64 = 0.02;
/// Trials on one way.
const MOST_TRIALS: usize = 10;
/// Columns at the beginning, and those that come in at a time.
const FIRST_COLUMNS: usize = 32;
const NEW_COLUMNS: usize = 8;
/// Rounds after which a plane that is not used goes; where many come at a time, fewer.
const MOST_AGE: u32 = 25;
const MOST_AGE_OF_MANY: u32 = 6;
/// Rounds without any gain after which there is none to be had.
const MOST_IDLE: usize = 30;
/// Rounds in which the gap is to halve, or else planes come too slowly to end.
const MOST_SLOW: u64 = 300;
/// Prices up to this beyond the cost are not too dear.
const DEAR: f64 = 1e-9;
/// What columns without a cost cost in the beginning, measured in F: else all answers would be worth the same until there are as many
/// planes as columns. It goes down by a factor, and below the least one to nothing.
const FIRST_EASE: f64 = 1e-3;
const LESS_EASE: f64 = 0.01;
const LEAST_EASE: f64 = 1e-8;
/// How far bounds reach where columns cost nothing, in units in which they move F by 1.
const REACH: f64 = 1e6;

/// What columns cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// One, each.
    One,
    /// Nothing: F alone counts.
    Nothing,
}

/// Where a search ended.
pub(crate) struct Answer {
    /// Columns that are not 0.
    pub(crate) columns: Vec<(Column, f64)>,
    /// The coefficients they make.
    pub(crate) coefficients: Vec<f64>,
    /// F + cost.
    pub(crate) value: f64,
    /// Below the minimum.
    pub(crate) bound: f64,
    /// What the dearest column is worth where all are 0, in units of its cost: nothing pays up to 1.
    pub(crate) dearest_at_zero: f64,
    /// Planes that were asked for.
    pub(crate) planes: u64,
    /// The limit that stopped it, or `None`: enough.
    pub(crate) stop: Option<Stop>,
}

/// Minimises, from 0, until `is_enough` says so of the value and its lower bound.
pub(crate) fn minimise(
    losses: &mut dyn ColumnPlanes,
    cost: Cost,
    is_enough: &dyn Fn(f64, f64) -> bool,
    limits: Limits<'_>,
) -> Answer {
    let dim = losses.dim();
    let at_zero = losses.go_to(&vec![0.0; dim]);
    let nothing = Answer {
        columns: Vec::new(),
        coefficients: vec![0.0; dim],
        value: at_zero,
        bound: 0.0,
        dearest_at_zero: 0.0,
        planes: 0,
        stop: None,
    };
    if at_zero == 0.0 {
        return nothing;
    }
    if !(at_zero.is_finite() && at_zero > 0.0) {
        return Answer { stop: Some(Stop::Stalled), ..nothing };
    }
    Search::new(losses, cost, at_zero).run(is_enough, limits)
}

/// Columns' values with F there.
#[derive(Debug, Clone)]
struct Point {
    /// One per column of the search.
    x: Vec<f64>,
    losses: f64,
    cost: f64,
}

impl Point {
    fn value(&self) -> f64 {
        self.losses + self.cost
    }
}

struct Search<'a> {
    losses: &'a mut dyn ColumnPlanes,
    cost: Cost,
    /// F at 0: what values are measured in.
    unit: f64,
    scales: Vec<f64>,
    program: Simplex,
    /// One per column of the program but the first, which is F.
    columns: Vec<Column>,
    known: HashSet<Column>,
    /// One per row of the program, with the rounds since it was used.
    planes: Vec<(Plane, u32)>,
    /// The plane at 0.
    first: Option<Plane>,
    /// What columns without a cost cost for now.
    ease: f64,
    n_planes: u64,
}

impl<'a> Search<'a> {
    fn new(losses: &'a mut dyn ColumnPlanes, cost: Cost, unit: f64) -> Self {
        let scales = losses.scales();
        let mut program = Simplex::default();
        program.add_column(1.0, |_| 0.0);
        Search {
            losses,
            cost,
            unit,
            scales,
            program,
            columns: Vec::new(),
            known: HashSet::new(),
            planes: Vec::new(),
            first: None,
            ease: if cost == Cost::Nothing { FIRST_EASE } else { 0.0 },
            n_planes: 0,
        }
    }

    fn run(mut self, is_enough: &dyn Fn(f64, f64) -> bool, limits: Limits<'_>) -> Answer {
        let mut best = Point { x: Vec::new(), losses: self.unit, cost: 0.0 };
        let (mut bound, mut stop, mut n_idle, mut n_more) = (0.0f64, None, 0, 0);
        let mut last_known = f64::NEG_INFINITY;
        let (mut halving, mut round) = (Halving::every(MOST_SLOW), 0);
        if let Some(free) = self.losses.free() {
            self.add_column(Column::Plus(free));
        }
        self.losses.aim(&vec![0.0; self.losses.dim()]);
        if !self.ask(0.0) {
            stop = Some(Stop::Stalled);
        }
        let mut dearest_at_zero = 0.0;
        self.first = self.planes.first().map(|(plane, _)| plane.clone());
        if let Some(first) = &self.first {
            let (dearest, columns) = self.losses.dearest(&self.on_scales(first.normal.clone()), FIRST_COLUMNS);
            dearest_at_zero = dearest;
            columns.into_iter().for_each(|column| self.add_column(column));
        }
        let mut vertex: Option<Point> = None;
        while stop.is_none() {
            let gap = |bound: f64| (best.value() - bound).max(0.0) / best.value().max(1e-12);
            let (n_planes, last) = (self.n_planes, gap(bound));
            let found = self.solve(&|| limits.is_stopped(n_planes, last));
            let known = self.unit * self.program.value();
            let gained_bound = known > last_known + 1e-13 * self.unit;
            (bound, last_known) = (bound.max(found), known);
            if self.ease > 0.0 && best.value() - known <= 0.5 * best.cost + 1e-12 * self.unit {
                self.ease = if LESS_EASE * self.ease < LEAST_EASE { 0.0 } else { LESS_EASE * self.ease };
                let costs: Vec<f64> =
                    self.columns.iter().enumerate().map(|(at, &column)| self.cost_at(at, column)).collect();
                self.program.set_costs(|column| if column == 0 { 1.0 } else { costs[column - 1] });
                best.cost = self.cost_of(&best.x);
                (vertex, last_known) = (None, f64::NEG_INFINITY);
                halving.begin(round);
                continue;
            }
            let is_done = is_enough(self.meant(&best), bound);
            let is_vertex_enough = vertex.as_ref().is_some_and(|vertex| is_enough(self.meant(vertex), bound));
            if is_vertex_enough || (is_done && n_more * 4 > 20 + self.n_planes) {
                break;
            }
            n_more += u64::from(is_done);
            stop = limits.reached(self.n_planes, gap(bound));
            if stop.is_some() {
                break;
            }
            best.x.resize(self.columns.len(), 0.0);
            let x = self.vertex();
            let change: Vec<f64> = x.iter().zip(&best.x).map(|(to, from)| to - from).collect();
            self.losses.aim(&self.coefficients(&change));
            let there = Point { cost: self.cost_of(&x), losses: self.losses.along(1.0).0, x };
            if !there.losses.is_finite() {
                stop = Some(Stop::Stalled);
                break;
            }
            let (step, losses) = lowest(&mut |step| self.losses.along(step), best.losses, there.cost - best.cost);
            let beyond = if step < 1.0 { step + BEYOND * (1.0 - step) } else { step };
            if !(self.ask(beyond) && (step > 0.0 || self.ask(1.0))) {
                stop = Some(Stop::Stalled);
                break;
            }
            let lower = losses + best.cost + step * (there.cost - best.cost);
            let gained = step > 0.0 && lower < best.value() - 1e-14 * self.unit;
            if gained {
                self.losses.settle(step);
                best.x.iter_mut().zip(&change).for_each(|(x, change)| *x += step * change);
                self.net(&mut best.x);
                best = Point { losses, cost: self.cost_of(&best.x), x: best.x };
            }
            vertex = Some(there);
            n_idle = if gained || gained_bound { 0 } else { n_idle + 1 };
            round += 1;
            // While columns have a cost of their own, bounds are those of another problem.
            let is_late = self.ease == 0.0 && halving.is_late(round, best.value() - bound);
            if n_idle >= MOST_IDLE || is_late {
                stop = Some(Stop::Stalled);
            }
        }
        let chosen = match vertex {
            Some(vertex) if is_enough(self.meant(&vertex), bound) || self.meant(&vertex) <= self.meant(&best) => vertex,
            _ => best,
        };
        if stop == Some(Stop::Stalled) && is_enough(self.meant(&chosen), bound) {
            stop = None;
        }
        let coefficients = self.coefficients(&chosen.x);
        let columns = self.columns.iter().copied().zip(chosen.x.iter().copied()).filter(|(_, x)| *x != 0.0).collect();
        Answer {
            columns,
            coefficients,
            value: self.meant(&chosen),
            bound,
            dearest_at_zero,
            planes: self.n_planes,
            stop,
        }
    }

    /// F, and what is really paid for.
    fn meant(&self, point: &Point) -> f64 {
        if self.cost == Cost::One { point.value() } else { point.losses }
    }

    /// A vector of slopes as columns are measured where they cost nothing.
    fn on_scales(&self, mut prices: Vec<f64>) -> Vec<f64> {
        if self.cost == Cost::Nothing {
            prices.iter_mut().zip(&self.scales).for_each(|(price, scale)| *price /= scale);
        }
        prices
    }

    fn scale(&self, column: Column) -> f64 {
        column.scale(&self.scales)
    }

    fn is_free(&self, column: Column) -> bool {
        matches!(column, Column::Plus(at) if self.losses.free() == Some(at))
    }

    fn add_column(&mut self, column: Column) {
        if !self.known.insert(column) {
            return;
        }
        let size = self.unit * self.scale(column);
        let cost = self.cost_at(self.columns.len(), column);
        let planes = &self.planes;
        self.program.add_column(cost, |row| column.of(&planes[row].0.normal) / size);
        self.columns.push(column);
    }

    /// What a column costs in the program. Costs that differ a little keep the simplex method from going in circles.
    fn cost_at(&self, at: usize, column: Column) -> f64 {
        let part = (at as f64 * 0.618_033_988_75).fract();
        match self.cost {
            _ if self.is_free(column) => 0.0,
            Cost::One => (1.0 + 1e-10 * part) / (self.unit * self.scale(column)),
            Cost::Nothing => self.ease * (1.0 + 0.1 * part),
        }
    }

    /// Asks for planes after a step.
    fn ask(&mut self, step: f64) -> bool {
        let Some(planes) = self.losses.planes(step) else { return false };
        for plane in planes {
            self.n_planes += 1;
            let mut values = vec![1.0];
            let value = |&column: &Column| column.of(&plane.normal) / (self.unit * self.scale(column));
            values.extend(self.columns.iter().map(value));
            if !(plane.offset.is_finite() && values.iter().all(|value| value.is_finite())) {
                return false;
            }
            self.program.add_row(values, plane.offset / self.unit);
            self.planes.push((plane, 0));
        }
        true
    }

    /// The minimum over what is known, columns that are too dear brought in; the bound that it gives.
    fn solve(&mut self, is_over: &dyn Fn() -> bool) -> f64 {
        let mut bound = 0.0f64;
        loop {
            self.program.solve(is_over);
            let (found, columns) = self.bound();
            bound = bound.max(found);
            let n = self.columns.len();
            columns.into_iter().for_each(|column| self.add_column(column));
            if self.columns.len() == n || is_over() {
                break;
            }
        }
        self.forget();
        bound
    }

    /// The bound that the multipliers give, and the columns that keep it from being better.
    fn bound(&self) -> (f64, Vec<Column>) {
        let mut mix: Vec<(&Plane, f64)> = self.program.multipliers().map(|(row, y)| (&self.planes[row].0, y)).collect();
        // What costs nothing must not be worth anything; a little of the first plane makes sure.
        if let (Some(free), Some(first)) = (self.losses.free(), &self.first) {
            let worth: f64 = mix.iter().map(|(plane, y)| y * plane.normal[free as usize]).sum();
            let slope = first.normal[free as usize];
            if worth > 0.0 && slope < 0.0 {
                mix.push((first, -worth / slope));
            } else if worth > 0.0 {
                return (0.0, Vec::new());
            }
        }
        let mut prices = vec![0.0; self.losses.dim()];
        mix.iter().for_each(|(plane, y)| add_multiple(&mut prices, *y, &plane.normal));
        let sum: f64 = mix.iter().map(|(_, y)| y).sum();
        let offset: f64 = mix.iter().map(|(plane, y)| y * plane.offset).sum();
        let (dearest, columns) = self.losses.dearest(&self.on_scales(prices), NEW_COLUMNS);
        let (found, is_dear) = match self.cost {
            Cost::One => (offset / sum.max(dearest).max(1.0), dearest > 1.0 + DEAR),
            Cost::Nothing => {
                let is_dear = dearest > self.unit * (self.ease * 1.2 + DEAR / REACH);
                ((offset - REACH * dearest) / sum.max(1.0), is_dear)
            }
        };
        (found, if is_dear { columns } else { Vec::new() })
    }

    /// Drops planes that were not used for long.
    fn forget(&mut self) {
        self.planes.iter_mut().for_each(|(_, age)| *age += 1);
        for (row, _) in self.program.multipliers() {
            self.planes[row].1 = 0;
        }
        let most_age = if self.cost == Cost::Nothing { MOST_AGE_OF_MANY } else { MOST_AGE };
        if self.planes.iter().filter(|(_, age)| *age > most_age).count() * 4 < self.planes.len() {
            return;
        }
        let keeps: Vec<bool> = self.planes.iter().map(|(_, age)| *age <= most_age).collect();
        self.program.keep_rows(&keeps);
        self.planes.retain(|(_, age)| *age <= most_age);
    }

    /// Values of all columns at the minimum over what is known.
    fn vertex(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.columns.len()];
        for (at, value) in self.program.solution().filter(|(at, _)| *at > 0) {
            x[at - 1] = value / self.scale(self.columns[at - 1]);
        }
        self.net(&mut x);
        x
    }

    /// Takes away what columns of opposite signs have in common.
    fn net(&self, x: &mut [f64]) {
        let place = |column: Column| self.columns.iter().position(|other| *other == column);
        for at in 0..x.len() {
            let Column::Minus(coefficient) = self.columns[at] else { continue };
            if x[at] > 0.0
                && let Some(other) = place(Column::Plus(coefficient))
            {
                let common = x[at].min(x[other]);
                x[at] -= common;
                x[other] -= common;
            }
        }
    }

    fn cost_of(&self, x: &[f64]) -> f64 {
        let costly = x.iter().zip(&self.columns).enumerate().filter(|(_, (_, column))| !self.is_free(**column));
        match self.cost {
            Cost::One => costly.map(|(_, (x, _))| x).sum(),
            Cost::Nothing => {
                costly.map(|(at, (x, &column))| self.unit * self.cost_at(at, column) * self.scale(column) * x).sum()
            }
        }
    }

    fn coefficients(&self, x: &[f64]) -> Vec<f64> {
        let mut coefficients = vec![0.0; self.losses.dim()];
        self.columns.iter().zip(x).for_each(|(column, &x)| column.add_to(&mut coefficients, x));
        coefficients
    }
}

/// About the lowest point between the steps 0 and 1 of a convex function with a line of this slope added to it, and its value
/// there without the line. Between a step that falls and one that rises, where their lines meet is tried next.
fn lowest(along: &mut dyn FnMut(f64) -> (f64, f64), at_zero: f64, slope: f64) -> (f64, f64) {
    let mut try_at = |step: f64| {
        let (value, of_losses) = along(step);
        (step, value, of_losses + slope)
    };
    let total = |(step, value, _): (f64, f64, f64)| value + slope * step;
    let (mut left, mut right) = (try_at(0.0), try_at(1.0));
    let mut best = if total(right) < at_zero { right } else { (0.0, at_zero, 0.0) };
    if left.2 >= 0.0 {
        return (best.0, best.1);
    }
    for _ in 0..MOST_TRIALS {
        if right.2 <= 0.0 {
            break;
        }
        let crossing = (total(right) - total(left) + left.2 * left.0 - right.2 * right.0) / (left.2 - right.2);
        let least = total(left) + left.2 * (crossing - left.0);
        if !crossing.is_finite() || total(best) - least <= 1e-3 * (at_zero - total(best)).abs() {
            break;
        }
        let margin = 0.01 * (right.0 - left.0);
        let trial = try_at(crossing.clamp(left.0 + margin, right.0 - margin));
        if total(trial) < total(best) {
            best = trial;
        }
        if trial.2 < 0.0 {
            left = trial;
        } else {
            right = trial;
        }
    }
    (best.0, best.1)
}
