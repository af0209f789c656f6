//! Equations with a Laplacian of who met whom, players being solved for in the order of a [`Pattern`].
//!
//! What a player has beyond the weights of its meetings (the penalty) is kept apart from them, so that nothing is ever subtracted and
//! the longest chain keeps its digits. Whoever is the last of a tier has nothing left, and is held by its own weights.

use rayon::prelude::*;

use super::pattern::{Pattern, reach};
use super::sloped::Number;

/// Players that one thread takes at a time.
const PLAYERS: usize = 4096;

/// Equations from which all but the core are solved for.
pub(super) struct Reduced<'a, T> {
    pub(super) pattern: &'a Pattern,
    /// The weight of every pair that is left when its earlier player is solved for.
    pub(super) weights: Vec<T>,
    /// What the diagonal is by then; of the core, its diagonal.
    pub(super) pivots: Vec<T>,
}

impl<'a, T: Number> Reduced<'a, T> {
    /// With the weight of every cell, and what every player has beyond those.
    pub(super) fn new(pattern: &'a Pattern, n_cells: usize, weight: impl Fn(usize) -> T + Sync, beyond: T) -> Self {
        let mut weights = vec![T::default(); pattern.others.len()];
        for cell in 0..n_cells {
            weights[pattern.slots[cell] as usize] += weight(cell);
        }
        let mut reduced = Reduced { pattern, weights, pivots: vec![beyond; pattern.n_players()] };
        reduced.solve_pivots();
        reduced.add_core_weights();
        reduced
    }

    fn solve_pivots(&mut self) {
        let n_solved = self.pattern.n_solved;
        // What holds the last one of a tier: the weights it came with.
        let mut own = vec![0.0; if n_solved > 0 { self.pattern.n_players() } else { 0 }];
        for place in 0..n_solved {
            for slot in self.pattern.range(place) {
                let weight = self.weights[slot].value();
                own[place] += weight;
                own[self.pattern.others[slot] as usize] += weight;
            }
        }
        let mut list: Vec<T> = Vec::new();
        for place in 0..n_solved {
            let range = self.pattern.range(place);
            list.clear();
            list.extend_from_slice(&self.weights[range.clone()]);
            let beyond = self.pivots[place];
            let pivot = list.iter().fold(beyond, |sum, &weight| sum + weight);
            if pivot.value() <= 0.0 {
                let own = if own[place] > 0.0 { own[place] } else { 1.0 };
                self.pivots[place] = T::constant(own);
                continue;
            }
            self.pivots[place] = pivot;
            for (at, &weight) in list.iter().enumerate() {
                let other = self.pattern.others[range.start + at] as usize;
                let share = weight / pivot;
                self.pivots[other] += share * beyond;
                let later = &self.pattern.others[range.start + at + 1..range.end];
                let (weights, others) = self.later_of(other);
                visit(others, later, |slot, k| weights[slot] += share * list[at + 1 + k]);
            }
        }
    }

    fn later_of(&mut self, place: usize) -> (&mut [T], &'a [u32]) {
        let range = self.pattern.range(place);
        (&mut self.weights[range.clone()], &self.pattern.others[range])
    }

    fn add_core_weights(&mut self) {
        let (pattern, weights) = (self.pattern, &self.weights);
        let core = &mut self.pivots[pattern.n_solved..];
        core.par_chunks_mut(PLAYERS).enumerate().for_each(|(chunk, pivots)| {
            for (at, pivot) in (chunk * PLAYERS..).zip(pivots) {
                let others = &pattern.core_others[pattern.core_starts[at]..pattern.core_starts[at + 1]];
                others.iter().for_each(|&[_, slot]| *pivot += weights[slot as usize]);
            }
        });
    }

    /// The later others of a place with their weights.
    pub(super) fn later(&self, place: usize) -> impl Iterator<Item = (usize, T)> {
        let range = self.pattern.range(place);
        let others = self.pattern.others[range.clone()].iter().map(|&other| other as usize);
        others.zip(self.weights[range].iter().copied())
    }

    /// All others of a place of the core, counted from its beginning, with their weights.
    pub(super) fn around(&self, at: usize) -> impl Iterator<Item = (usize, T)> {
        let range = self.pattern.core_starts[at]..self.pattern.core_starts[at + 1];
        let others = &self.pattern.core_others[range];
        others.iter().map(|&[other, slot]| (other as usize, self.weights[slot as usize]))
    }

    /// Takes a right-hand side, in the order of solving, to what the core has to solve.
    pub(super) fn forward<V: Copy>(&self, x: &mut [V], times: impl Fn(T, V) -> V, plus: impl Fn(V, V) -> V) {
        for place in 0..self.pattern.n_solved {
            let share = times(T::constant(1.0) / self.pivots[place], x[place]);
            for (other, weight) in self.later(place) {
                x[other] = plus(x[other], times(weight, share));
            }
        }
    }

    /// Takes what [`Reduced::forward`] left and the solution of the core to the solution.
    pub(super) fn backward<V: Copy>(&self, x: &mut [V], times: impl Fn(T, V) -> V, plus: impl Fn(V, V) -> V) {
        for place in (0..self.pattern.n_solved).rev() {
            let sum = self.later(place).fold(x[place], |sum, (other, weight)| plus(sum, times(weight, x[other])));
            x[place] = times(T::constant(1.0) / self.pivots[place], sum);
        }
    }

    /// The diagonal of the inverse, of whom was solved for, as if the core were known (Takahashi, Fagan and Chin, *Formation
    /// of a sparse bus impedance matrix*, 1973): from the last one backwards, only what the pattern holds is needed.
    pub(super) fn inverse_diagonal(&self) -> Vec<T> {
        let pattern = self.pattern;
        let mut inverse = vec![T::default(); pattern.others.len()];
        let mut diagonal = vec![T::default(); pattern.n_players()];
        let (mut shares, mut sums): (Vec<T>, Vec<T>) = (Vec::new(), Vec::new());
        for place in (0..pattern.n_solved).rev() {
            let range = pattern.range(place);
            let others = &pattern.others[range.clone()];
            shares.clear();
            shares.extend(self.weights[range.clone()].iter().map(|&weight| weight / self.pivots[place]));
            sums.clear();
            sums.extend(others.iter().zip(&shares).map(|(&other, &share)| share * diagonal[other as usize]));
            for (at, &other) in others.iter().enumerate() {
                let known = pattern.range(other as usize);
                visit(&pattern.others[known.clone()], &others[at + 1..], |slot, k| {
                    let value = inverse[known.start + slot];
                    sums[at] += shares[at + 1 + k] * value;
                    sums[at + 1 + k] += shares[at] * value;
                });
            }
            let own = T::constant(1.0) / self.pivots[place];
            diagonal[place] = shares.iter().zip(&sums).fold(own, |sum, (&share, &value)| sum + share * value);
            inverse[range].copy_from_slice(&sums);
        }
        diagonal
    }
}

/// Tells where in an ascending list each of some of its numbers, ascending too, is.
#[inline]
fn visit(list: &[u32], some: &[u32], mut tell: impl FnMut(usize, usize)) {
    let mut at = 0;
    for (k, &wanted) in some.iter().enumerate() {
        at += reach(&list[at..], wanted, some.len());
        if list.get(at) == Some(&wanted) {
            tell(at, k);
        }
    }
}
