//! Games counted: who met whom with what difference between the sides, and how often it ended in which way.

use rayon::prelude::*;

use crate::data::{Games, Outcome};

/// Numbers that a cell's outcomes are counted by: wins of the first player, ties, wins of the second.
pub(super) type Counts = [f64; 3];

/// Equal games: the same cell, outcome and group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) cell: u32,
    /// 0, 1 or 2 in [`Counts`].
    pub(super) outcome: u8,
    /// How many games there are: the sum of their weights.
    pub(super) n_games: f64,
}

/// All meetings of the same two players with the same difference between the sides are one cell.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    /// The two players, numbered among those who are rated, the lower number first.
    pub(super) players: Vec<[u32; 2]>,
    /// What the first player has more than the second one, cell by cell.
    pub(super) differences: Vec<f64>,
    pub(super) n_effects: usize,
    /// Equal games; those of a group stand together where there are groups.
    pub(super) units: Vec<Unit>,
    /// Where the units of each group begin, and where the last ones end; empty without groups.
    pub(super) group_starts: Vec<usize>,
}

/// A game on its way into a cell.
#[derive(Clone, Copy)]
struct Entry {
    players: u64,
    row: u32,
    group: u32,
    outcome: u8,
    weight: f64,
}

impl Cells {
    /// Counts the games of two rated players; `number` is a player's number among them. `effects` writes what the left side of
    /// a game has more than the right one.
    pub(super) fn count(
        games: &Games,
        weights: &[f64],
        number: &[Option<u32>],
        n_effects: usize,
        effects: impl Fn(usize, &mut Vec<f64>),
    ) -> Self {
        let mut entries = Vec::with_capacity(games.games.len());
        let mut rows = Vec::new();
        for (k, game) in games.games.iter().enumerate() {
            let [left, right] = [game.left, game.right].map(|player| number[player as usize]);
            let (Some(left), Some(right)) = (left, right) else { continue };
            if weights[k] <= 0.0 {
                continue;
            }
            let is_turned = left > right;
            let row = rows.len();
            if n_effects > 0 {
                effects(k, &mut rows);
                // Equal numbers have equal bits from here on: −0 becomes 0.
                rows[row..].iter_mut().for_each(|value| *value = if is_turned { -*value } else { *value } + 0.0);
            }
            let outcome = if is_turned { game.outcome.swapped() } else { game.outcome };
            entries.push(Entry {
                players: u64::from(left.min(right)) << 32 | u64::from(left.max(right)),
                row: row.checked_div(n_effects).unwrap_or(0) as u32,
                group: games.groups.as_ref().map_or(0, |groups| groups[k]),
                outcome: outcome as u8,
                weight: weights[k],
            });
        }
        let row = |entry: &Entry| &rows[entry.row as usize * n_effects..][..n_effects];
        let by_row = |a: &Entry, b: &Entry| {
            let both = row(a).iter().zip(row(b));
            both.map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        };
        entries.par_sort_unstable_by(|a, b| {
            let cell = a.players.cmp(&b.players).then_with(|| by_row(a, b));
            cell.then_with(|| (a.group, a.outcome).cmp(&(b.group, b.outcome)).then(a.weight.total_cmp(&b.weight)))
        });
        let mut cells = Cells {
            players: Vec::new(),
            differences: Vec::new(),
            n_effects,
            units: Vec::new(),
            group_starts: Vec::new(),
        };
        let mut unit_groups = Vec::new();
        let mut last: Option<Entry> = None;
        for entry in entries {
            let is_same_cell = last.is_some_and(|last| last.players == entry.players && by_row(&last, &entry).is_eq());
            let is_same_unit =
                is_same_cell && last.is_some_and(|last| (last.group, last.outcome) == (entry.group, entry.outcome));
            if !is_same_cell {
                cells.players.push([(entry.players >> 32) as u32, entry.players as u32]);
                cells.differences.extend_from_slice(row(&entry));
            }
            match cells.units.last_mut().filter(|_| is_same_unit) {
                Some(unit) => unit.n_games += entry.weight,
                None => {
                    let cell = cells.players.len() as u32 - 1;
                    cells.units.push(Unit { cell, outcome: entry.outcome, n_games: entry.weight });
                    unit_groups.push(entry.group);
                }
            }
            last = Some(entry);
        }
        if games.groups.is_some() {
            cells.sort_by_group(&unit_groups);
        }
        cells
    }

    /// Puts the units of each group together, in the order they have.
    fn sort_by_group(&mut self, groups: &[u32]) {
        let mut order: Vec<u32> = (0..groups.len() as u32).collect();
        order.par_sort_by_key(|&at| groups[at as usize]);
        self.units = order.iter().map(|&at| self.units[at as usize]).collect();
        self.group_starts = order
            .chunk_by(|&a, &b| groups[a as usize] == groups[b as usize])
            .scan(0, |start, group| Some(std::mem::replace(start, *start + group.len())))
            .chain([order.len()])
            .collect();
    }

    pub(super) fn n_cells(&self) -> usize {
        self.players.len()
    }

    /// What the first player of a cell has more than the second one.
    pub(super) fn difference(&self, cell: usize) -> &[f64] {
        &self.differences[cell * self.n_effects..][..self.n_effects]
    }

    /// The games counted by cell and outcome, with their weights.
    pub(super) fn counts(&self) -> Vec<Counts> {
        let mut counts = vec![[0.0; 3]; self.n_cells()];
        for unit in &self.units {
            counts[unit.cell as usize][unit.outcome as usize] += unit.n_games;
        }
        counts
    }

    /// The units of each group; without groups every unit is one of its own.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[Unit]> {
        self.group_starts.windows(2).map(|ends| &self.units[ends[0]..ends[1]])
    }

    /// How many independent observations there are: games, or as many groups of equal size as say as much.
    pub(super) fn n_observations(&self) -> f64 {
        let n_games = |units: &[Unit]| units.iter().map(|unit| unit.n_games).sum::<f64>();
        let all = n_games(&self.units);
        match self.group_starts.is_empty() {
            true => all,
            false => 1.0 / self.groups().map(|units| (n_games(units) / all).powi(2)).sum::<f64>(),
        }
    }
}

/// The outcome of a place in [`Counts`], seen from the first player.
pub(super) const FIRST: usize = Outcome::Left as usize;
/// The place of ties.
pub(super) const TIE: usize = Outcome::Tie as usize;
/// The place of the second player's wins.
pub(super) const SECOND: usize = Outcome::Right as usize;
