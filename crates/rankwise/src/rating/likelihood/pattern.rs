//! In which order equations of a sparse board are solved: who met hardly anybody goes first.
//!
//! Solving for a player's rating leaves equations between those who met, as if all of them had met each other. The player with the
//! fewest others is taken first (Tinney and Walker, *Direct solutions of sparse network equations*, 1967): trees and chains cost nothing
//! that way, and a board of few circles little. Where the rest becomes too dense for that, only players with up to three others
//! are taken, who leave no more pairs than there were; conjugate gradients have the rest, the *core*. Where these would be slow
//! (neighbours alone meet on a ladder), everybody is solved for after all.

use rayon::prelude::*;

use super::core::Core;
use super::reduced::Reduced;

/// Products that solving for everybody may take, and where conjugate gradients for a core would be slow.
const FEW_PRODUCTS: usize = 50_000_000;
const MAX_PRODUCTS: usize = 2_000_000_000;
/// Others that a player may have who is solved for where a core is left.
const FEW: usize = 3;

/// The order of solving, and which pairs that leaves.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    /// Players in the order in which they are solved for; the last ones are the core.
    pub(super) order: Vec<u32>,
    /// How many are not in the core.
    pub(super) n_solved: usize,
    /// Where the later others of each place begin.
    pub(super) starts: Vec<usize>,
    /// Places, ascending for each place.
    pub(super) others: Vec<u32>,
    /// Where in `others` the two players of a cell meet.
    pub(super) slots: Vec<u32>,
    /// For each place of the core where its others begin.
    pub(super) core_starts: Vec<usize>,
    /// All others of a place of the core, counted from its beginning, and where in `others` they meet.
    pub(super) core_others: Vec<[u32; 2]>,
}

/// Whom players still have an equation with, while some are solved for.
struct Rest {
    /// Ascending; some of them may be solved for.
    others: Vec<Vec<u32>>,
    /// How many of them are not.
    n_others: Vec<usize>,
    is_solved: Vec<bool>,
    order: Vec<u32>,
}

impl Rest {
    fn new(n_players: usize, pairs: &[[u32; 2]]) -> Self {
        let mut counts = vec![0usize; n_players];
        pairs.iter().flatten().for_each(|&player| counts[player as usize] += 1);
        let mut others: Vec<Vec<u32>> = counts.into_iter().map(Vec::with_capacity).collect();
        for &[a, b] in pairs {
            others[a as usize].push(b);
            others[b as usize].push(a);
        }
        others.par_iter_mut().for_each(|others| {
            others.sort_unstable();
            others.dedup();
        });
        let n_others = others.iter().map(Vec::len).collect();
        Rest { others, n_others, is_solved: vec![false; n_players], order: Vec::new() }
    }

    /// Solves for players with up to so many others, those with the fewest first; `None` if that costs more products than
    /// `most`.
    fn solve(mut self, max_others: usize, most: usize) -> Option<Self> {
        // Players by the number of their others, some of them out of date.
        let mut waiting: Vec<Vec<u32>> = Vec::new();
        let wait = |waiting: &mut Vec<Vec<u32>>, player: u32, n_others: usize| {
            if waiting.len() <= n_others {
                waiting.resize_with(n_others + 1, Vec::new);
            }
            waiting[n_others].push(player);
        };
        (0..self.others.len()).rev().for_each(|player| wait(&mut waiting, player as u32, self.n_others[player]));
        let (mut fewest, mut cost) = (0, 0usize);
        let mut missing = Vec::new();
        while fewest < waiting.len() && fewest <= max_others {
            let Some(player) = waiting[fewest].pop() else {
                fewest += 1;
                continue;
            };
            if self.is_solved[player as usize] || self.n_others[player as usize] != fewest {
                continue;
            }
            let products = fewest * fewest / 2;
            cost += products;
            // As many again will cost as much, as long as so many are left.
            let n_left = self.others.len() - self.order.len();
            if cost + n_left.saturating_sub(2 * fewest) * products / 2 > most {
                return None;
            }
            let mut own = std::mem::take(&mut self.others[player as usize]);
            own.retain(|&other| !self.is_solved[other as usize]);
            self.is_solved[player as usize] = true;
            self.order.push(player);
            for &other in &own {
                self.meet(other, &own, &mut missing);
                let n_others = self.n_others[other as usize];
                wait(&mut waiting, other, n_others);
                fewest = fewest.min(n_others);
            }
            self.others[player as usize] = own;
        }
        Some(self)
    }

    /// A player now meets all of these, one of whom was solved for.
    fn meet(&mut self, player: u32, all: &[u32], missing: &mut Vec<u32>) {
        let others = &mut self.others[player as usize];
        missing.clear();
        let mut at = 0;
        for &other in all {
            at += reach(&others[at..], other, all.len());
            if other != player && others.get(at) != Some(&other) {
                missing.push(other);
            }
        }
        let n_others = &mut self.n_others[player as usize];
        *n_others = *n_others + missing.len() - 1;
        // A few into a long list, or all of it in order again.
        if others.len() > 64 * (missing.len() + 1) {
            for &other in missing.iter() {
                others.insert(others.partition_point(|&known| known < other), other);
            }
        } else if !missing.is_empty() {
            others.extend_from_slice(missing);
            others.sort();
        }
        if others.len() > 2 * *n_others + 16 {
            others.retain(|&other| !self.is_solved[other as usize]);
        }
    }
}

/// How many numbers of an ascending list are below the wanted one, which is one of so many.
#[inline]
pub(super) fn reach(list: &[u32], wanted: u32, n_wanted: usize) -> usize {
    match list.len() > 16 * n_wanted {
        true => list.partition_point(|&number| number < wanted),
        false => list.iter().position(|&number| number >= wanted).unwrap_or(list.len()),
    }
}

impl Pattern {
    /// For players who met in these pairs.
    pub(super) fn new(n_players: usize, pairs: &[[u32; 2]]) -> Self {
        let everybody = |most: usize| {
            let rest = Rest::new(n_players, pairs).solve(usize::MAX, most);
            rest.map(|rest| Self::of(rest, pairs))
        };
        if let Some(all) = everybody(FEW_PRODUCTS) {
            return all;
        }
        let with_core = Self::with_core(n_players, pairs);
        let reduced = Reduced::new(&with_core, pairs.len(), |_| 1.0, 0.0);
        let is_slow = Core::new(&reduced, Vec::new(), Vec::new()).is_slow();
        if is_slow { everybody(MAX_PRODUCTS).unwrap_or(with_core) } else { with_core }
    }

    /// The same if too much were left.
    pub(super) fn with_core(n_players: usize, pairs: &[[u32; 2]]) -> Self {
        let rest = Rest::new(n_players, pairs).solve(FEW, usize::MAX);
        Self::of(rest.unwrap_or_else(|| Rest::new(n_players, pairs)), pairs)
    }

    fn of(rest: Rest, pairs: &[[u32; 2]]) -> Self {
        let Rest { others: lists, mut order, .. } = rest;
        let n_players = lists.len();
        let n_solved = order.len();
        let mut place = vec![u32::MAX; n_players];
        (0..).zip(&order).for_each(|(at, &player)| place[player as usize] = at);
        for player in 0..n_players as u32 {
            if place[player as usize] == u32::MAX {
                place[player as usize] = order.len() as u32;
                order.push(player);
            }
        }
        let later = |at: usize| {
            let places = lists[order[at] as usize].iter().map(|&player| place[player as usize]);
            let mut later: Vec<u32> = places.filter(|&other| other as usize > at).collect();
            later.sort_unstable();
            later
        };
        let later: Vec<Vec<u32>> = (0..n_players).into_par_iter().map(later).collect();
        let mut starts = vec![0];
        starts.extend(later.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        }));
        let others = later.concat();
        let slot = |&[a, b]: &[u32; 2]| {
            let [a, b] = [place[a as usize], place[b as usize]];
            let (first, second) = (a.min(b) as usize, a.max(b));
            (starts[first] + others[starts[first]..starts[first + 1]].partition_point(|&other| other < second)) as u32
        };
        let slots = pairs.par_iter().map(slot).collect();
        let (core_starts, core_others) = both_ways(n_solved, &starts, &others);
        Pattern { order, n_solved, starts, others, slots, core_starts, core_others }
    }

    pub(super) fn n_players(&self) -> usize {
        self.order.len()
    }

    pub(super) fn n_core(&self) -> usize {
        self.order.len() - self.n_solved
    }

    /// Where the later others of a place are.
    pub(super) fn range(&self, place: usize) -> std::ops::Range<usize> {
        self.starts[place]..self.starts[place + 1]
    }
}

/// The others of every place of the core, earlier and later ones.
fn both_ways(n_solved: usize, starts: &[usize], others: &[u32]) -> (Vec<usize>, Vec<[u32; 2]>) {
    let n_core = starts.len() - 1 - n_solved;
    let slots = |at: usize| starts[n_solved + at]..starts[n_solved + at + 1];
    let mut begins = vec![0usize; n_core + 1];
    for at in 0..n_core {
        begins[at + 1] += slots(at).len();
        slots(at).for_each(|slot| begins[others[slot] as usize - n_solved + 1] += 1);
    }
    (0..n_core).for_each(|at| begins[at + 1] += begins[at]);
    let mut next = begins.clone();
    let mut all = vec![[0; 2]; begins[n_core]];
    for at in 0..n_core {
        // Who is before has been written by then, in order.
        for slot in slots(at) {
            let other = others[slot] as usize - n_solved;
            for (own, other) in [(at, other), (other, at)] {
                all[next[own]] = [other as u32, slot as u32];
                next[own] += 1;
            }
        }
    }
    (begins, all)
}
