//! A vertex of Σ cost·max(0, margin − lead) + the cost of columns, the edges at it that fall, and the way along one.
//!
//! As many terms are *tight* (their lead is their margin) as columns are *basic* (not 0). Terms that lack their margin have their
//! cost for a multiplier, those beyond it 0, and tight ones what makes basic columns worth what they cost. A multiplier out of its
//! range, or a column worth more than it costs, names an edge that falls.

use std::collections::HashMap;

use super::basis::Basis;
use super::multipliers::Multipliers;
use super::ways::{Blocker, Event, Way, ZERO, end_of};
use crate::math::{add_multiple, dot};
use crate::problem::{Column, ColumnTerms, Term};

/// Prices up to this beyond the cost are not too dear, nor multipliers up to this part of the least cost out of their range.
const DEAR: f64 = 1e-10;
/// What rounding makes of sums, relative to what is summed.
pub(super) const ROUNDING: f64 = 1e-15;
/// Columns that are looked at for the next edge.
const NEW_COLUMNS: usize = 4;

/// A column that was basic once, in units in which it moves leads by about 1.
pub(super) struct Known {
    pub(super) column: Column,
    size: f64,
    pub(super) cost: f64,
    /// What a unit does to the scores of items, but for a number that is the same for all, and to the free coefficient.
    pub(super) scores: Vec<f64>,
    pub(super) free: f64,
}

/// An edge of the vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// This column becomes basic.
    Enter(usize),
    /// The term tight at this place falls behind its margin, or goes beyond it.
    Behind(usize),
    Beyond(usize),
}

/// Terms and columns with the vertex where it is; 0 at first.
pub(super) struct Vertex<'a> {
    pub(super) losses: &'a dyn ColumnTerms,
    pub(super) scales: Vec<f64>,
    pub(super) terms: Vec<Term>,
    /// Margins as they are raised for now, and what leads lack of them; of tight terms 0.
    margins: Vec<f64>,
    pub(super) slacks: Vec<f64>,
    pub(super) known: Vec<Known>,
    /// The most that a unit of a known column does to the lead of each term.
    pub(super) sizes: Vec<f64>,
    numbers: HashMap<Column, usize>,
    /// Of terms and known columns.
    pub(super) basis: Basis,
    pub(super) is_tight: Vec<bool>,
    /// One per basic column.
    pub(super) x: Vec<f64>,
    pub(super) scores: Vec<f64>,
    free: f64,
    /// Edges that did not fall from here.
    pub(super) refused: Vec<Edge>,
    /// What every coefficient does to the scores, one after the other, where sums are made in twice the digits.
    pub(super) matrix: Vec<f64>,
}

impl<'a> Vertex<'a> {
    pub(super) fn new(losses: &'a dyn ColumnTerms) -> Self {
        let terms = losses.terms();
        let margins: Vec<f64> = terms.iter().map(|term| term.margin).collect();
        Vertex {
            losses,
            scales: losses.scales(),
            slacks: margins.clone(),
            margins,
            known: Vec::new(),
            sizes: vec![0.0; terms.len()],
            numbers: HashMap::new(),
            basis: Basis::default(),
            is_tight: vec![false; terms.len()],
            terms,
            x: Vec::new(),
            scores: vec![0.0; losses.n_items()],
            free: 0.0,
            refused: Vec::new(),
            matrix: Vec::new(),
        }
    }

    /// Sets margins, raised by up to this part of the largest one, and goes where tight terms are at them.
    pub(super) fn raise_margins(&mut self, raise: f64, seed: u64) {
        let raise = raise * self.terms.iter().fold(0.0, |a: f64, term| a.max(term.margin));
        let parts = self.losses.scattered(seed);
        self.margins = self.terms.iter().zip(parts).map(|(term, part)| term.margin + raise * part).collect();
        self.refresh();
    }

    /// Columns that are not 0, in units of coefficients.
    pub(super) fn columns(&self) -> Vec<(Column, f64)> {
        let basic = self.basis.columns.iter().zip(&self.x).filter(|(_, x)| **x > 0.0);
        basic.map(|(&at, x)| (self.known[at].column, x / self.known[at].size)).collect()
    }

    fn lead(&self, term: usize, scores: &[f64], free: f64) -> f64 {
        let Term { better, worse, of_free, .. } = self.terms[term];
        scores[better as usize] - scores[worse as usize] + of_free * free
    }

    /// What a unit of a known column does to the lead of a term.
    fn entry(&self, term: usize, column: usize) -> f64 {
        let Known { scores, free, .. } = &self.known[column];
        self.lead(term, scores, *free)
    }

    fn cost(&self) -> f64 {
        self.basis.columns.iter().zip(&self.x).map(|(&column, x)| self.known[column].cost * x).sum()
    }

    /// Losses and cost of the coefficients that a model keeps. Where large ones nearly cancel, columns added one by one are another function.
    pub(super) fn value(&self) -> f64 {
        let mut coefficients = vec![0.0; self.losses.dim()];
        self.columns().iter().for_each(|(column, amount)| column.add_to(&mut coefficients, *amount));
        let scores = self.losses.scores(&coefficients);
        let free = self.losses.free().map_or(0.0, |at| coefficients[at as usize]);
        let lack = |at: usize| (self.terms[at].margin - self.lead(at, &scores, free)).max(0.0);
        self.cost() + self.terms.iter().enumerate().map(|(at, term)| term.cost * lack(at)).sum::<f64>()
    }

    /// Losses with raised margins, and cost, as columns add up.
    pub(super) fn raised_value(&self) -> f64 {
        self.cost() + self.terms.iter().zip(&self.slacks).map(|(term, slack)| term.cost * slack.max(0.0)).sum::<f64>()
    }

    /// The number of a column among those known.
    fn number(&mut self, column: Column) -> usize {
        if let Some(&number) = self.numbers.get(&column) {
            return number;
        }
        let mut known = Known { column, size: 1.0, cost: 0.0, scores: vec![0.0; self.scores.len()], free: 1.0 };
        if !self.is_free(column) {
            let mut coefficients = vec![0.0; self.losses.dim()];
            column.add_to(&mut coefficients, 1.0);
            let mut scores = self.losses.scores(&coefficients);
            // Differences alone count, which would lose their digits far from 0. To subtract what is near loses none (Sterbenz).
            let first = scores.first().copied().unwrap_or(0.0);
            if scores.iter().all(|score| (0.5..=2.0).contains(&(score / first))) {
                scores.iter_mut().for_each(|score| *score -= first);
            }
            let size = self.terms.iter().map(|term| scores[term.better as usize] - scores[term.worse as usize]);
            let size = size.fold(0.0, |size: f64, lead| size.max(lead.abs()));
            let size = if size > 0.0 { size } else { 1.0 };
            scores.iter_mut().for_each(|score| *score /= size);
            known = Known { column, size, cost: 1.0 / size, scores, free: 0.0 };
        }
        self.known.push(known);
        let number = self.known.len() - 1;
        self.numbers.insert(column, number);
        for at in 0..self.terms.len() {
            self.sizes[at] = self.sizes[at].max(self.entry(at, number).abs());
        }
        number
    }

    pub(super) fn is_free(&self, column: Column) -> bool {
        matches!(column, Column::Plus(at) if self.losses.free() == Some(at))
    }

    /// Goes along the edge that falls most steeply; whether there was one.
    pub(super) fn step(&mut self, found: &Multipliers) -> bool {
        let edges = self.edges(found);
        let lengths = self.lengths(&edges);
        let mut edges: Vec<(f64, (f64, Edge))> = edges.into_iter().zip(lengths).map(|(e, l)| (e.0 / l, e)).collect();
        edges.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, (slope, edge)) in edges {
            let mut way = self.way(edge);
            if self.is_fine() {
                way.slope = slope;
            }
            if way.slope < 0.0
                && let Some(event) = end_of(self, &way)
            {
                self.go(edge, &way, event);
                return true;
            }
            self.refused.push(edge);
        }
        false
    }

    /// Edges that should fall, with their slopes.
    fn edges(&mut self, found: &Multipliers) -> Vec<(f64, Edge)> {
        let Multipliers { y, pull, prices, .. } = found;
        let rounding = if self.is_fine() { 0.0 } else { ROUNDING * pull.mass };
        let mut edges = Vec::new();
        let costs = self.basis.columns.iter().map(|&at| self.known[at].cost).filter(|cost| *cost > 0.0);
        let exact = (DEAR * costs.fold(1.0, f64::min)).max(rounding);
        for (at, (&term, &y)) in self.basis.rows.iter().zip(y).enumerate() {
            let cost = self.terms[term].cost;
            if y < -exact {
                edges.push((y, Edge::Beyond(at)));
            } else if y > cost + exact {
                edges.push((cost - y, Edge::Behind(at)));
            }
        }
        let (_, mut columns) = self.losses.dearest(prices, NEW_COLUMNS);
        columns.extend(self.losses.free().map(Column::Plus));
        for column in columns {
            let is_free = self.is_free(column);
            let (price, cost) = if is_free { (pull.of_free, 0.0) } else { (column.of(prices), 1.0) };
            if price <= cost + DEAR + rounding * column.scale(&self.scales) {
                continue;
            }
            let number = self.number(column);
            if !self.basis.columns.contains(&number) {
                edges.push(((cost - price) / self.known[number].size, Edge::Enter(number)));
            }
        }
        edges.retain(|(_, edge)| !self.refused.contains(edge));
        edges
    }

    /// How long edges are: the largest slope by length takes several times fewer steps than the largest slope.
    fn lengths(&self, edges: &[(f64, Edge)]) -> Vec<f64> {
        let mut squares = vec![1.0; self.x.len()];
        for row in &self.basis.inverse {
            squares.iter_mut().zip(row).for_each(|(square, value)| *square += value * value);
        }
        let square = |edge: Edge| match edge {
            Edge::Beyond(at) | Edge::Behind(at) => squares[at],
            Edge::Enter(column) => {
                let change = self.basis.inverse_times(|term| self.entry(term, column));
                1.0 + dot(&change, &change)
            }
        };
        edges.iter().map(|&(_, edge)| square(edge).sqrt()).collect()
    }

    fn way(&self, edge: Edge) -> Way {
        let change: Vec<f64> = match edge {
            Edge::Enter(column) => self.basis.inverse_times(|term| -self.entry(term, column)),
            Edge::Beyond(at) => self.basis.inverse.iter().map(|row| row[at]).collect(),
            Edge::Behind(at) => self.basis.inverse.iter().map(|row| -row[at]).collect(),
        };
        let own = if let Edge::Enter(column) = edge { Some((column, 1.0)) } else { None };
        let (mut of_scores, mut of_free, mut slope) = (vec![0.0; self.scores.len()], 0.0, 0.0);
        for (column, part) in self.basis.columns.iter().copied().zip(change.iter().copied()).chain(own) {
            let Known { scores, free, cost, .. } = &self.known[column];
            add_multiple(&mut of_scores, part, scores);
            of_free += part * free;
            slope += part * cost;
        }
        let of_leads: Vec<f64> = (0..self.terms.len()).map(|at| self.lead(at, &of_scores, of_free)).collect();
        for ((term, slack), of_lead) in self.terms.iter().zip(&self.slacks).zip(&of_leads) {
            slope -= if *slack > 0.0 { term.cost * of_lead } else { 0.0 };
        }
        if let Edge::Behind(at) = edge {
            slope += self.terms[self.basis.rows[at]].cost;
        }
        Way { change, of_scores, of_free, of_leads, slope }
    }

    fn go(&mut self, edge: Edge, way: &Way, event: Event) {
        add_multiple(&mut self.x, event.at, &way.change);
        add_multiple(&mut self.scores, event.at, &way.of_scores);
        self.free += event.at * way.of_free;
        if let Edge::Behind(at) | Edge::Beyond(at) = edge {
            self.is_tight[self.basis.rows[at]] = false;
        }
        match event.blocker {
            Blocker::Term(term) => self.is_tight[term] = true,
            Blocker::Basic(at) => self.x[at] = 0.0,
        }
        self.change_basis(edge, event);
        self.x.iter_mut().for_each(|x| *x = x.max(0.0));
        self.refused.clear();
        self.measure();
    }

    fn change_basis(&mut self, edge: Edge, event: Event) {
        let mut basis = std::mem::take(&mut self.basis);
        let entry = |term: usize, column: usize| self.entry(term, column);
        match (edge, event.blocker) {
            (Edge::Enter(column), Blocker::Term(term)) => {
                basis.grow(term, column, entry);
                self.x.push(event.at);
            }
            (Edge::Enter(column), Blocker::Basic(at)) => {
                basis.exchange_columns(at, column, entry);
                self.x[at] = event.at;
            }
            (Edge::Behind(at) | Edge::Beyond(at), Blocker::Term(term)) => basis.exchange_rows(at, term, entry),
            (Edge::Behind(at) | Edge::Beyond(at), Blocker::Basic(out)) => {
                basis.shrink(at, out);
                self.x.swap_remove(out);
            }
        }
        self.basis = basis;
    }

    /// The inverse anew, and tight terms at their margins. Without an inverse, the beginning.
    pub(super) fn refresh(&mut self) {
        let mut basis = std::mem::take(&mut self.basis);
        if basis.refresh(|term, column| self.entry(term, column)) {
            self.basis = basis;
        } else {
            self.is_tight.fill(false);
            self.x.clear();
        }
        self.see();
        while let Some(out) = self.meet_margins() {
            self.leave(out);
        }
        self.refused.clear();
        self.see();
    }

    /// Goes towards where tight terms are at their margins, up to where a column, whose place is told, would come below 0.
    fn meet_margins(&mut self) -> Option<usize> {
        let change = self.basis.inverse_times(|term| self.margins[term] - self.lead(term, &self.scores, self.free));
        let falling = self.x.iter().zip(&change).enumerate().filter(|(_, (x, change))| *x + *change < -ZERO);
        let parts = falling.map(|(at, (x, change))| (x / -change, at));
        let blocked = parts.min_by(|a, b| a.0.total_cmp(&b.0));
        add_multiple(&mut self.x, blocked.map_or(1.0, |(part, _)| part), &change);
        self.x.iter_mut().for_each(|x| *x = x.max(0.0));
        self.see();
        blocked.map(|(_, at)| at)
    }

    /// A basic column that is 0 leaves, and with it the tight term that leaves the best inverse.
    fn leave(&mut self, out: usize) {
        let row = &self.basis.inverse[out];
        let best = (0..row.len()).max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs()));
        if let Some(at) = best {
            self.is_tight[self.basis.rows[at]] = false;
            self.basis.shrink(at, out);
            self.x.swap_remove(out);
        }
    }

    /// Scores and slacks as columns make them.
    fn see(&mut self) {
        self.scores.fill(0.0);
        self.free = 0.0;
        for (&column, &x) in self.basis.columns.iter().zip(&self.x) {
            add_multiple(&mut self.scores, x, &self.known[column].scores);
            self.free += x * self.known[column].free;
        }
        self.measure();
    }

    fn measure(&mut self) {
        for at in 0..self.terms.len() {
            let lacks = self.margins[at] - self.lead(at, &self.scores, self.free);
            self.slacks[at] = if self.is_tight[at] { 0.0 } else { lacks };
        }
    }
}
