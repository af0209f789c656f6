//! The simplex method for small linear programs that grow: min c·x, x ≥ 0, rows a·x ≥ b, all c ≥ 0.
//!
//! Rows and columns may be added, and idle rows taken away, between solves; each solve goes on from the last answer. A vertex is
//! given by as many *basic* columns as there are *tight* rows: x of the basic ones solves the tight rows, multipliers y of the
//! tight rows solve the basic columns' costs, and everything else is 0. So all that is kept is the inverse of that small matrix,
//! and values are computed from it anew at every step. With rows that are violated the dual method brings multipliers along, with
//! columns that would pay the primal method brings x along; x = 0 without a tight row is where nothing pays, and always a start.

use super::basis::Basis;
use crate::math::{add_multiple, dot};

/// What counts as 0 in values, which are of the size of 1.
const ZERO: f64 = 1e-10;
/// Of costs: relative to each.
const ZERO_COST: f64 = 1e-9;
/// The least pivot.
const PIVOT: f64 = 1e-9;
/// Steps after which the inverse is computed anew.
const FRESH: usize = 64;
/// What rounding makes of reduced costs.
const ROUNDING: f64 = 2e-14;
/// Steps for one answer, and more for each row and column.
const LEAST_STEPS: usize = 1000;
const STEPS_OF_EACH: usize = 20;
/// Violated rows that are looked at before all are.
const WATCHED: usize = 48;
/// Steps without gain after which the first candidate is taken instead of the best, so that none comes twice.
const IDLE: usize = 200;

/// A row of the program: values·x ≥ bound.
#[derive(Debug, Clone)]
struct Row {
    values: Vec<f64>,
    bound: f64,
}

/// A linear program with its last answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Simplex {
    costs: Vec<f64>,
    rows: Vec<Row>,
    /// Columns that are not 0 (but may be), and rows that are met exactly.
    basis: Basis,
    /// Values of the basic columns, multipliers of the tight rows.
    x: Vec<f64>,
    y: Vec<f64>,
    /// Values of all columns.
    all: Vec<f64>,
}

/// What stops a step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Blocker {
    /// The basic column at this position.
    Basic(usize),
    /// This column, which is not basic.
    Column(usize),
    /// The tight row at this position.
    Tight(usize),
    /// This row, which is not tight.
    Row(usize),
}

/// A candidate: how far it lets a step go (numerator over pivot).
#[derive(Debug, Clone, Copy)]
struct Candidate {
    left: f64,
    pivot: f64,
    slack: f64,
    blocker: Blocker,
}

impl Simplex {
    /// Adds a column that is not used yet: its cost, and its value in every row. Returns its number.
    pub(super) fn add_column(&mut self, cost: f64, values: impl Fn(usize) -> f64) -> usize {
        self.rows.iter_mut().enumerate().for_each(|(at, row)| row.values.push(values(at)));
        self.costs.push(cost);
        self.costs.len() - 1
    }

    /// Adds a row. Returns its number.
    pub(super) fn add_row(&mut self, values: Vec<f64>, bound: f64) -> usize {
        self.rows.push(Row { values, bound });
        self.rows.len() - 1
    }

    /// Other costs of columns; the next solve goes on from where it is.
    pub(super) fn set_costs(&mut self, cost: impl Fn(usize) -> f64) {
        self.costs.iter_mut().enumerate().for_each(|(column, old)| *old = cost(column));
    }

    /// Takes away rows that are not tight; the others keep their order.
    pub(super) fn keep_rows(&mut self, keeps: &[bool]) {
        let mut number = vec![usize::MAX; self.rows.len()];
        let mut n = 0;
        for (at, &keep) in keeps.iter().enumerate() {
            if keep || self.basis.rows.contains(&at) {
                number[at] = n;
                n += 1;
            }
        }
        let mut at = 0;
        self.rows.retain(|_| {
            at += 1;
            number[at - 1] != usize::MAX
        });
        self.basis.rows.iter_mut().for_each(|row| *row = number[*row]);
    }

    /// Columns with their values.
    pub(super) fn solution(&self) -> impl Iterator<Item = (usize, f64)> {
        self.basis.columns.iter().zip(&self.x).map(|(&column, &x)| (column, x.max(0.0)))
    }

    /// What the multipliers are worth: the least cost, where they are of the optimum.
    pub(super) fn value(&self) -> f64 {
        self.multipliers().map(|(row, y)| y * self.rows[row].bound).sum()
    }

    /// Rows with their multipliers.
    pub(super) fn multipliers(&self) -> impl Iterator<Item = (usize, f64)> {
        self.basis.rows.iter().zip(&self.y).map(|(&row, &y)| (row, y.max(0.0)))
    }

    fn begin(&mut self) {
        self.basis = Basis::default();
        self.renew();
    }

    /// Goes to the optimum, unless `is_over` says to stop; whether it was reached.
    pub(super) fn solve(&mut self, is_over: &dyn Fn() -> bool) -> bool {
        let (mut n_restarts, mut n_idle, mut last) = (0, 0, f64::NEG_INFINITY);
        // Rows that were violated most when all were looked at.
        let mut watched: Vec<usize> = Vec::new();
        self.renew();
        let most_steps = LEAST_STEPS + STEPS_OF_EACH * (self.rows.len() + self.costs.len());
        for step in 0..most_steps {
            if step % FRESH == FRESH - 1 {
                if is_over() {
                    break;
                }
                n_restarts += usize::from(!self.refresh());
            }
            let is_careful = n_idle > IDLE;
            let mut violated = if is_careful { None } else { self.most_violated(&watched, is_careful) };
            if violated.is_none() {
                watched = self.violated_rows();
                violated = self.most_violated(&watched, is_careful);
            }
            let reduced = self.reduced_costs();
            let done = match (violated, self.most_paying(&reduced, is_careful)) {
                (Some(violated), _) => self.dual_step(violated, &reduced, is_careful),
                (None, Some(paying)) => self.primal_step(paying, is_careful),
                (None, None) => {
                    // An answer of an inverse with errors in it is none.
                    if step % FRESH == 0 || self.is_exact() {
                        return true;
                    }
                    n_restarts += usize::from(!self.refresh());
                    true
                }
            };
            if !done {
                // No pivot is large enough: from the beginning, where everything is known exactly.
                n_restarts += 1;
                self.begin();
            }
            self.renew();
            if n_restarts > 3 {
                return false;
            }
            let value = dot(&self.y, &self.basis.rows.iter().map(|&row| self.rows[row].bound).collect::<Vec<_>>());
            n_idle = if (value - last).abs() > 1e-13 * value.abs() { 0 } else { n_idle + 1 };
            last = value;
        }
        false
    }

    /// Rows that are violated, the worst of them.
    fn violated_rows(&self) -> Vec<usize> {
        let slacks = self.slacks();
        let mut rows: Vec<usize> = (0..slacks.len()).filter(|&row| slacks[row] < -ZERO).collect();
        if rows.len() > WATCHED {
            rows.select_nth_unstable_by(WATCHED - 1, |&a, &b| slacks[a].total_cmp(&slacks[b]).then(a.cmp(&b)));
            rows.truncate(WATCHED);
            rows.sort_unstable();
        }
        rows
    }

    /// Values and multipliers from the inverse.
    fn renew(&mut self) {
        let bounds: Vec<f64> = self.basis.rows.iter().map(|&row| self.rows[row].bound).collect();
        self.x = self.basis.inverse.iter().map(|row| dot(row, &bounds)).collect();
        self.y = vec![0.0; self.basis.rows.len()];
        for (row, &column) in self.basis.inverse.iter().zip(&self.basis.columns) {
            add_multiple(&mut self.y, self.costs[column], row);
        }
        self.all = self.spread(&self.x);
    }

    /// Numbers of the basic columns as numbers of all.
    fn spread(&self, values: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.costs.len()];
        self.basis.columns.iter().zip(values).for_each(|(&column, &value)| all[column] = value);
        all
    }

    /// Whether the tight rows are met.
    fn is_exact(&self) -> bool {
        let residual = |&row: &usize| self.row_value(row) - self.rows[row].bound;
        self.basis.rows.iter().all(|row| residual(row).abs() <= ZERO)
    }

    fn row_value(&self, row: usize) -> f64 {
        dot(&self.rows[row].values, &self.all)
    }

    /// How far every row is from its bound; 0 for tight ones.
    fn slacks(&self) -> Vec<f64> {
        let mut slacks: Vec<f64> = (0..self.rows.len()).map(|row| self.row_value(row) - self.rows[row].bound).collect();
        self.basis.rows.iter().for_each(|&row| slacks[row] = 0.0);
        slacks
    }

    /// What every column costs beyond what it pays; 0 for basic ones.
    fn reduced_costs(&self) -> Vec<f64> {
        let mut reduced = self.costs.clone();
        for (&row, y) in self.basis.rows.iter().zip(&self.y) {
            add_multiple(&mut reduced, -y, &self.rows[row].values);
        }
        self.basis.columns.iter().for_each(|&column| reduced[column] = 0.0);
        reduced
    }

    /// Of these rows and of all basic columns.
    fn most_violated(&self, rows: &[usize], is_careful: bool) -> Option<Blocker> {
        let slack = |row: usize| match self.basis.rows.contains(&row) {
            true => 0.0,
            false => self.row_value(row) - self.rows[row].bound,
        };
        let of_rows = rows.iter().map(|&row| (slack(row), Blocker::Row(row)));
        let of_columns = self.x.iter().enumerate().map(|(at, &x)| (x, Blocker::Basic(at)));
        worst(of_rows.chain(of_columns).filter(|(value, _)| *value < -ZERO), is_careful)
    }

    fn most_paying(&self, reduced: &[f64], is_careful: bool) -> Option<Blocker> {
        let of_columns = reduced.iter().enumerate().map(|(column, &d)| (d, Blocker::Column(column)));
        let is_paying = |&(d, blocker): &(f64, Blocker)| match blocker {
            Blocker::Column(column) => d < -ZERO_COST * self.costs[column] - ROUNDING,
            _ => d < -ZERO,
        };
        let of_rows = self.y.iter().enumerate().map(|(at, &y)| (y, Blocker::Tight(at)));
        worst(of_columns.chain(of_rows).filter(is_paying), is_careful)
    }

    /// What is violated becomes exact; multipliers move until one of them, or a reduced cost, is 0.
    fn dual_step(&mut self, violated: Blocker, reduced: &[f64], is_careful: bool) -> bool {
        // Per unit of the new multiplier: what the tight rows' fall by, and what the columns' reduced costs do.
        let (falls, own) = match violated {
            Blocker::Row(row) => {
                let values = &self.rows[row].values;
                (self.basis.times_inverse(|column| values[column]), Some(row))
            }
            Blocker::Basic(at) => (self.basis.inverse[at].clone(), None),
            _ => return false,
        };
        let mut of_columns = own.map_or_else(|| vec![0.0; self.costs.len()], |row| self.rows[row].values.clone());
        for (&row, fall) in self.basis.rows.iter().zip(&falls) {
            add_multiple(&mut of_columns, -fall, &self.rows[row].values);
        }
        let is_basic = self.marks(&self.basis.columns, self.costs.len());
        let of_rows = falls.iter().zip(&self.y).enumerate().map(|(at, (&pivot, &y))| Candidate {
            left: y,
            pivot,
            slack: ZERO_COST,
            blocker: Blocker::Tight(at),
        });
        let of_columns = of_columns.iter().zip(reduced).enumerate().filter(|(column, _)| !is_basic[*column]).map(
            |(column, (&pivot, &d))| Candidate {
                left: d,
                pivot,
                slack: ZERO_COST * self.costs[column].min(1.0),
                blocker: Blocker::Column(column),
            },
        );
        let Some(blocker) = first_to_block(of_rows.chain(of_columns), is_careful) else { return false };
        self.change_basis(violated, blocker)
    }

    /// What pays is used; values move until one of them, or a slack, is 0.
    fn primal_step(&mut self, paying: Blocker, is_careful: bool) -> bool {
        let slacks = self.slacks();
        // Per unit of it: what the basic columns' values fall by.
        let falls: Vec<f64> = match paying {
            Blocker::Column(column) => self.basis.inverse_times(|row| self.rows[row].values[column]),
            Blocker::Tight(at) => self.basis.inverse.iter().map(|row| -row[at]).collect(),
            _ => return false,
        };
        let is_tight = self.marks(&self.basis.rows, self.rows.len());
        let own = |row: &Row| if let Blocker::Column(column) = paying { row.values[column] } else { 0.0 };
        let all_falls = self.spread(&falls);
        let fall_of = |row: &Row| dot(&row.values, &all_falls) - own(row);
        let of_columns = falls.iter().zip(&self.x).enumerate().map(|(at, (&pivot, &x))| Candidate {
            left: x,
            pivot,
            slack: ZERO,
            blocker: Blocker::Basic(at),
        });
        let of_rows = self.rows.iter().enumerate().filter(|(at, _)| !is_tight[*at]).map(|(at, row)| Candidate {
            left: slacks[at],
            pivot: fall_of(row),
            slack: ZERO,
            blocker: Blocker::Row(at),
        });
        let Some(blocker) = first_to_block(of_columns.chain(of_rows), is_careful) else { return false };
        self.change_basis(paying, blocker)
    }

    /// What was violated or pays changes places with what blocks.
    fn change_basis(&mut self, one: Blocker, other: Blocker) -> bool {
        let rows = &self.rows;
        let value = |row: usize, column: usize| rows[row].values[column];
        match (one, other) {
            (Blocker::Row(row), Blocker::Tight(at)) | (Blocker::Tight(at), Blocker::Row(row)) => {
                self.basis.exchange_rows(at, row, value);
            }
            (Blocker::Row(row), Blocker::Column(column)) | (Blocker::Column(column), Blocker::Row(row)) => {
                self.basis.grow(row, column, value);
            }
            (Blocker::Basic(out), Blocker::Tight(at)) | (Blocker::Tight(at), Blocker::Basic(out)) => {
                self.basis.shrink(at, out);
            }
            (Blocker::Basic(out), Blocker::Column(column)) | (Blocker::Column(column), Blocker::Basic(out)) => {
                self.basis.exchange_columns(out, column, value);
            }
            _ => return false,
        }
        true
    }

    fn marks(&self, which: &[usize], n: usize) -> Vec<bool> {
        let mut marks = vec![false; n];
        which.iter().for_each(|&at| marks[at] = true);
        marks
    }

    /// The inverse from the rows themselves; if there is none, the beginning. Whether there was one.
    fn refresh(&mut self) -> bool {
        let rows = &self.rows;
        let is_good = self.basis.refresh(|row, column| rows[row].values[column]);
        if !is_good {
            self.begin();
        }
        self.renew();
        is_good
    }
}

/// The most negative one; the first where careful.
fn worst(candidates: impl Iterator<Item = (f64, Blocker)>, is_careful: bool) -> Option<Blocker> {
    let mut worst: Option<(f64, Blocker)> = None;
    for (value, blocker) in candidates {
        if is_careful {
            return Some(blocker);
        }
        if worst.is_none_or(|(least, _)| value < least) {
            worst = Some((value, blocker));
        }
    }
    worst.map(|(_, blocker)| blocker)
}

/// Who stops a step first; of those that stop it at about the same place the one with the largest pivot (Harris, 1973).
fn first_to_block(candidates: impl Iterator<Item = Candidate>, is_careful: bool) -> Option<Blocker> {
    let candidates: Vec<Candidate> = candidates.filter(|candidate| candidate.pivot > PIVOT).collect();
    let ratio = |candidate: &Candidate| candidate.left.max(0.0) / candidate.pivot;
    let slack = |candidate: &Candidate| if is_careful { 0.0 } else { candidate.slack };
    let reach = candidates
        .iter()
        .map(|candidate| (candidate.left.max(0.0) + slack(candidate)) / candidate.pivot)
        .fold(f64::INFINITY, f64::min);
    let mut best: Option<&Candidate> = None;
    for candidate in candidates.iter().filter(|candidate| ratio(candidate) <= reach) {
        if best.is_none_or(|best| candidate.pivot > best.pivot) {
            best = Some(candidate);
        }
    }
    best.map(|candidate| candidate.blocker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    /// The least value over all vertices: every choice of n of the rows and bounds, solved by elimination.
    fn by_all_vertices(costs: &[f64], rows: &[(Vec<f64>, f64)]) -> f64 {
        let n = costs.len();
        let unit = |at: usize| (0..n).map(|k| f64::from(u8::from(k == at))).collect::<Vec<f64>>();
        let all: Vec<(Vec<f64>, f64)> = rows.iter().cloned().chain((0..n).map(|at| (unit(at), 0.0))).collect();
        let mut best = f64::INFINITY;
        for choice in 0u32..1 << all.len() {
            if choice.count_ones() as usize != n {
                continue;
            }
            let mut work: Vec<Vec<f64>> = (0..all.len())
                .filter(|at| choice >> at & 1 == 1)
                .map(|at| all[at].0.iter().copied().chain([all[at].1]).collect())
                .collect();
            let mut is_singular = false;
            for at in 0..n {
                let pivot = (at..n).max_by(|&a, &b| work[a][at].abs().total_cmp(&work[b][at].abs())).unwrap();
                work.swap(at, pivot);
                if work[at][at].abs() < 1e-9 {
                    is_singular = true;
                    break;
                }
                for other in (0..n).filter(|&other| other != at) {
                    let own = work[at].clone();
                    let factor = work[other][at] / own[at];
                    add_multiple(&mut work[other], -factor, &own);
                }
            }
            if is_singular {
                continue;
            }
            let x: Vec<f64> = (0..n).map(|at| work[at][n] / work[at][at]).collect();
            if all.iter().all(|(row, bound)| dot(row, &x) >= bound - 1e-9) {
                best = best.min(dot(costs, &x));
            }
        }
        best
    }

    fn value(program: &Simplex) -> f64 {
        program.solution().map(|(column, x)| program.costs[column] * x).sum()
    }

    /// Multipliers that no column finds too cheap, worth as much as the answer.
    fn assert_optimal(program: &Simplex) {
        let mut reduced = program.costs.clone();
        let mut worth = 0.0;
        for (row, y) in program.multipliers() {
            worth += y * program.rows[row].bound;
            add_multiple(&mut reduced, -y, &program.rows[row].values);
        }
        assert!(reduced.iter().all(|d| *d >= -1e-8), "{reduced:?}");
        let mut x = vec![0.0; program.costs.len()];
        program.solution().for_each(|(column, value)| x[column] = value);
        assert!(program.rows.iter().all(|row| dot(&row.values, &x) >= row.bound - 1e-8));
        assert!((worth - value(program)).abs() < 1e-8 * worth.abs().max(1.0), "{worth} {}", value(program));
    }

    #[test]
    fn rows_and_columns_come_one_by_one_and_the_least_vertex_is_found() {
        let mut random = Random::new(4);
        for trial in 0..300 {
            // The first column pays for every row, so that there is always an answer; small whole numbers make ties.
            let n = 2 + trial % 3;
            let number = |random: &mut Random| random.below(7) as f64 - 3.0;
            let costs: Vec<f64> = (0..n).map(|_| random.below(4) as f64).collect();
            let costs: Vec<f64> = std::iter::once(5.0).chain(costs).collect();
            let mut program = Simplex::default();
            program.add_column(costs[0], |_| 1.0);
            program.add_column(costs[1], |_| 0.0);
            let mut rows: Vec<(Vec<f64>, f64)> = Vec::new();
            for _ in 0..5 {
                let row: Vec<f64> = std::iter::once(1.0).chain((0..n).map(|_| number(&mut random))).collect();
                rows.push((row, number(&mut random)));
                let (row, bound) = &rows[rows.len() - 1];
                program.add_row(row[..program.costs.len()].to_vec(), *bound);
                assert!(program.solve(&|| false));
                assert_optimal(&program);
                if program.costs.len() <= n {
                    let column = program.costs.len();
                    program.add_column(costs[column], |at| rows[at].0[column]);
                    assert!(program.solve(&|| false));
                    assert_optimal(&program);
                }
            }
            let expected = by_all_vertices(&costs, &rows);
            assert!((value(&program) - expected).abs() < 1e-8, "trial {trial}: {}, not {expected}", value(&program));
            // Idle rows may go.
            let before = value(&program);
            program.keep_rows(&vec![false; rows.len()]);
            assert!(program.rows.len() <= n + 1 && program.solve(&|| false));
            assert!((value(&program) - before).abs() < 1e-9);
        }
    }
}
