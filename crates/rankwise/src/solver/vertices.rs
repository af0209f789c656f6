//! Σ cost·max(0, margin − lead) over listed terms + the cost of the columns that make the coefficients: from vertex to vertex
//! along edges that fall, each to its lowest point.
//!
//! Costs of terms are bounds of multipliers and nothing else. However large or small they are, no number is divided by them, and
//! none is lost beside them. So this ends where planes that sum many terms are too coarse.
//!
//! Margins are raised a little, each by another part of the tolerance, so that no two ways end at the same place and no vertex
//! comes twice. That moves the minimum by no more than this part, and neither the value nor the bound that is told has it in it.

use super::Limits;
use super::column_planes::Answer;
use super::vertex::{ROUNDING, Vertex};
use crate::problem::ColumnTerms;
use crate::progress::Stop;

/// What margins are raised by, as a part of the tolerance, and within these.
const RAISE: f64 = 0.1;
const LEAST_RAISE: f64 = 1e-7;
const MOST_RAISE: f64 = 1e-5;
/// By how much less where no edge falls any more; by how much more where edges fall, and the value does not.
const LESS_RAISE: f64 = 1e-3;
const MORE_RAISE: f64 = 10.0;
/// Times that margins are set.
const MOST_RAISES: u64 = 6;
/// Times that a search which is stuck begins anew, with margins raised by other numbers, and how far their seeds are apart.
const STARTS: u64 = 4;
const SEEDS: u64 = 100;
/// Steps at the most, and more for each coefficient.
const MOST_STEPS: u64 = 2000;
const STEPS_OF_EACH: u64 = 20;
/// Steps after which everything is computed anew, and steps between two bounds.
const FRESH: u64 = 50;
const BOUNDED: u64 = 10;
/// Steps without a fall after which none is to be had, and more for each basic column.
const MOST_IDLE: u64 = 100;
const IDLE_OF_EACH: u64 = 2;

/// Minimises, from 0, until `is_enough` says so of the value and its lower bound.
pub(super) fn minimise(losses: &dyn ColumnTerms, is_enough: &dyn Fn(f64, f64) -> bool, limits: Limits<'_>) -> Answer {
    let vertex = Vertex::new(losses);
    let dearest_at_zero = vertex.dearest();
    let found = Answer {
        value: vertex.value(),
        columns: Vec::new(),
        coefficients: vec![0.0; losses.dim()],
        bound: 0.0,
        dearest_at_zero,
        planes: 0,
        stop: None,
    };
    if found.value == 0.0 {
        return found;
    }
    if !(found.value.is_finite() && dearest_at_zero.is_finite()) {
        return Answer { stop: Some(Stop::Stalled), ..found };
    }
    let raise = (RAISE * limits.tol).clamp(LEAST_RAISE, MOST_RAISE);
    let mut descent = Descent { vertex, found, raise, n_raises: 0, least: f64::INFINITY, n_idle: 0, refreshed: 0 };
    descent.run(is_enough, limits);
    for start in 1..STARTS {
        if descent.found.stop != Some(Stop::Stalled) {
            break;
        }
        descent.start_again(raise, start);
        descent.run(is_enough, limits);
    }
    let mut found = descent.found;
    found.columns.iter().for_each(|(column, amount)| column.add_to(&mut found.coefficients, *amount));
    found
}

struct Descent<'a> {
    vertex: Vertex<'a>,
    /// The lowest point so far, with the bound; its planes are steps.
    found: Answer,
    raise: f64,
    n_raises: u64,
    /// The least value with margins as they are raised for now, and steps since it was met.
    least: f64,
    n_idle: u64,
    /// Steps at the last inverse that owes nothing to those before it.
    refreshed: u64,
}

impl Descent<'_> {
    fn run(&mut self, is_enough: &dyn Fn(f64, f64) -> bool, limits: Limits<'_>) {
        let most_steps = self.found.planes + MOST_STEPS + STEPS_OF_EACH * self.found.coefficients.len() as u64;
        self.vertex.raise_margins(self.raise, self.n_raises);
        while self.found.stop.is_none() {
            let falls = self.step();
            if is_enough(self.found.value, self.found.bound) {
                break;
            }
            let gap = (self.found.value - self.found.bound).max(0.0) / self.found.value.max(1e-12);
            self.found.stop = limits.reached(self.found.planes, gap);
            let is_over = self.found.planes >= most_steps || ((!falls || self.is_stuck()) && !self.go_on(falls));
            self.found.stop = self.found.stop.or(is_over.then_some(Stop::Stalled));
        }
        self.see();
        // Without what raised margins did, where that is a vertex, too, and there is time for it.
        if !matches!(self.found.stop, Some(Stop::TimeLimit | Stop::Interrupted)) {
            self.vertex.raise_margins(0.0, 0);
            self.see();
        }
    }

    /// Goes back to 0; the best point and the bound stay.
    fn start_again(&mut self, raise: f64, start: u64) {
        self.vertex = Vertex::new(self.vertex.losses);
        (self.raise, self.n_raises) = (raise, start * SEEDS);
        (self.least, self.n_idle, self.found.stop) = (f64::INFINITY, 0, None);
    }

    /// One step, measured every now and then; whether there was one.
    fn step(&mut self) -> bool {
        let multipliers = self.vertex.multipliers();
        let is_measured = self.found.planes.is_multiple_of(BOUNDED);
        let bound = if is_measured { self.vertex.bound(&multipliers) } else { 0.0 };
        let falls = self.vertex.step(&multipliers);
        let bound = if falls || is_measured { bound } else { self.vertex.bound(&multipliers) };
        self.found.bound = self.found.bound.max(bound);
        self.found.planes += 1;
        let value = self.vertex.raised_value();
        self.n_idle = if value < self.least * (1.0 - ROUNDING) { 0 } else { self.n_idle + 1 };
        self.least = self.least.min(value);
        if !falls || is_measured || self.is_stuck() {
            self.see();
        }
        // An inverse costs as much as so many changes to it as it has rows.
        if falls && self.found.planes >= self.refreshed + FRESH.max(self.vertex.x.len() as u64 / 2) {
            self.vertex.refresh();
            self.refreshed = self.found.planes;
        }
        falls
    }

    fn is_stuck(&self) -> bool {
        self.n_idle > MOST_IDLE + IDLE_OF_EACH * self.vertex.x.len() as u64
    }

    fn see(&mut self) {
        let value = self.vertex.value();
        if value < self.found.value {
            (self.found.value, self.found.columns) = (value, self.vertex.columns());
        }
    }

    /// Makes ready to go on from where no step was to be had: with more digits, or other margins. Whether there are any.
    fn go_on(&mut self, falls: bool) -> bool {
        (self.least, self.n_idle) = (f64::INFINITY, 0);
        if self.vertex.refine() {
            return true;
        }
        self.n_raises += 1;
        self.raise *= if falls { MORE_RAISE } else { LESS_RAISE };
        self.vertex.raise_margins(self.raise, self.n_raises);
        self.n_raises % SEEDS <= MOST_RAISES
    }
}
