//! The hinge of all pairs of items in groups as a linear program sees it: planes from the windows of pairs that lack the margin,
//! slopes in the coefficients of items or of pairs of them.

use super::rank::RankSums;
use super::score_map::ScoreMap;
use super::{BlockSums, Column, ColumnPlanes, ColumnTerms, Plane, Planes, Term};

/// What columns there are.
#[derive(Debug, Clone)]
pub(crate) enum Pairing {
    /// A coefficient per item, of either sign.
    Signed,
    /// A coefficient per item, at least 0.
    Nonnegative,
    /// One per pair of a better item and a worse one: items of each group by label, and where labels begin.
    Leads(Vec<LabelledGroup>),
}

/// Items of a group, from the lowest label to the highest.
#[derive(Debug, Clone)]
pub(crate) struct LabelledGroup {
    /// Numbers of coefficients, with labels.
    pub(crate) items: Vec<(u32, f64)>,
}

impl LabelledGroup {
    /// Sorts items by label.
    pub(crate) fn new(mut items: Vec<(u32, f64)>) -> Self {
        items.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        LabelledGroup { items }
    }

    /// Of every item with worse ones the pair with the one of the least price.
    fn for_each_lead(&self, prices: &[f64], mut each: impl FnMut(f64, Column)) {
        let (mut least, mut least_here): (Option<u32>, Option<u32>) = (None, None);
        let price = |item: u32| prices[item as usize];
        let lower = |a: Option<u32>, b: u32| match a {
            Some(a) if price(a) <= price(b) => Some(a),
            _ => Some(b),
        };
        let mut last = f64::NAN;
        for &(item, label) in &self.items {
            if label != last {
                if let Some(here) = least_here {
                    least = lower(least, here);
                }
                (least_here, last) = (None, label);
            }
            if let Some(worse) = least {
                each(price(item) - price(worse), Column::Lead(item, worse));
            }
            least_here = lower(least_here, item);
        }
    }
}

/// C·Σ max(0, 1 − lead) over the pairs of items, as a function of coefficients.
pub(crate) struct RankPlanes<'a> {
    map: ScoreMap<'a>,
    /// Of halves of scores: what costs max(0, 1 − 2·lead) there.
    losses: RankSums<'a>,
    pairing: Pairing,
}

impl<'a> RankPlanes<'a> {
    /// `losses` are of `Shape::Swapped` and take scores for weights.
    pub(crate) fn new(map: ScoreMap<'a>, losses: RankSums<'a>, pairing: Pairing) -> Self {
        RankPlanes { map, losses, pairing }
    }

    fn halves(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut scores = self.map.scores(coefficients);
        scores.iter_mut().for_each(|score| *score *= 0.5);
        scores
    }
}

impl ColumnPlanes for RankPlanes<'_> {
    fn dim(&self) -> usize {
        self.map.dim()
    }

    fn go_to(&mut self, coefficients: &[f64]) -> f64 {
        let halves = self.halves(coefficients);
        self.losses.go_to(&halves).value
    }

    fn aim(&mut self, direction: &[f64]) {
        let halves = self.halves(direction);
        self.losses.aim(&halves);
    }

    fn along(&mut self, step: f64) -> (f64, f64) {
        self.losses.along(step)
    }

    fn planes(&mut self, step: f64) -> Option<Vec<Plane>> {
        let mut plane = self.losses.plane(step)?;
        plane.normal.iter_mut().for_each(|slope| *slope *= 0.5);
        plane.normal = self.map.slopes(&plane.normal);
        Some(vec![plane])
    }

    fn settle(&mut self, step: f64) {
        self.losses.settle(step);
    }

    fn scales(&self) -> Vec<f64> {
        self.map.scales()
    }

    fn free(&self) -> Option<u32> {
        None
    }

    fn dearest(&self, prices: &[f64], n: usize) -> (f64, Vec<Column>) {
        let mut columns: Vec<(f64, Column)> = Vec::new();
        match &self.pairing {
            Pairing::Signed => columns.extend(signed(prices)),
            Pairing::Nonnegative => {
                columns.extend(prices.iter().enumerate().map(|(at, &price)| (price, Column::Plus(at as u32))));
            }
            Pairing::Leads(groups) => {
                groups
                    .iter()
                    .for_each(|group| group.for_each_lead(prices, |lead, column| columns.push((lead, column))));
            }
        }
        largest(columns, n)
    }
}

impl ColumnTerms for RankPlanes<'_> {
    fn n_terms(&self) -> u64 {
        self.losses.counts().n_pairs
    }

    fn terms(&self) -> Vec<Term> {
        let mut terms = Vec::with_capacity(self.n_terms() as usize);
        self.losses.for_each_pair(|better, worse, cost| {
            terms.push(Term { better, worse, margin: 1.0, of_free: 0.0, cost });
        });
        terms
    }

    fn n_items(&self) -> usize {
        self.losses.dim()
    }

    fn scores(&self, coefficients: &[f64]) -> Vec<f64> {
        self.map.scores(coefficients)
    }

    fn slopes(&self, of_scores: &[f64]) -> Vec<f64> {
        self.map.slopes(of_scores)
    }
}

/// Every price with the column of its sign.
pub(super) fn signed(prices: &[f64]) -> impl Iterator<Item = (f64, Column)> {
    prices.iter().enumerate().map(|(at, &price)| match price < 0.0 {
        true => (-price, Column::Minus(at as u32)),
        false => (price, Column::Plus(at as u32)),
    })
}

/// The largest price (at least 0), and so many columns with the largest. Where a price is beyond the range of numbers, it is ∞,
/// and no bound follows from it.
pub(super) fn largest(mut columns: Vec<(f64, Column)>, n: usize) -> (f64, Vec<Column>) {
    if columns.iter().any(|(price, _)| !price.is_finite()) {
        return (f64::INFINITY, Vec::new());
    }
    let by_price = |a: &(f64, Column), b: &(f64, Column)| b.0.total_cmp(&a.0);
    if columns.len() > n && n > 0 {
        columns.select_nth_unstable_by(n - 1, by_price);
        columns.truncate(n);
    }
    columns.sort_by(by_price);
    let largest = columns.first().map_or(0.0, |(price, _)| price.max(0.0));
    (largest, columns.into_iter().map(|(_, column)| column).collect())
}
