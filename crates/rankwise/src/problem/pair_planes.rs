//! Judged pairs as linear programs see them. With β = −1 − η, η ≥ 0 and z the lead of the better item (of ties, of either),
//!
//!   soft:  C·[Σ_non-ties c·max(0, 2 + η − z) + Σ_ties c·max(0, |z| − η)]    a function of coefficients and η
//!   hard:  max(0, max_non-ties 2 − z, max_ties |z|) = 1 − μ                 a function of coefficients

use rayon::prelude::*;

use super::rank_planes::{largest, signed};
use super::score_map::ScoreMap;
use super::{Column, ColumnPlanes, ColumnTerms, Plane, Term};

/// Pairs whose sums are made together.
const PAIRS: usize = 8192;

/// A judged pair: items by number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JudgedPair {
    /// The better item, or of a tie one of them.
    pub(crate) better: u32,
    pub(crate) worse: u32,
    pub(crate) is_tie: bool,
    /// C·c
    pub(crate) cost: f64,
}

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Margin {
    Soft,
    Hard,
}

/// Losses of judged pairs as a function of coefficients.
pub(crate) struct PairPlanes<'a> {
    map: ScoreMap<'a>,
    n_items: usize,
    pairs: Vec<JudgedPair>,
    margin: Margin,
    /// Leads and η where it is, and their change in the direction aimed at.
    leads: Vec<f64>,
    eta: f64,
    changes: Vec<f64>,
    eta_change: f64,
}

impl<'a> PairPlanes<'a> {
    pub(crate) fn new(map: ScoreMap<'a>, n_items: usize, pairs: Vec<JudgedPair>, margin: Margin) -> Self {
        let zeros = vec![0.0; pairs.len()];
        let (leads, changes) = (zeros.clone(), zeros);
        PairPlanes { map, n_items, pairs, margin, leads, eta: 0.0, changes, eta_change: 0.0 }
    }

    /// How many items there are.
    pub(crate) fn n_items(&self) -> usize {
        self.n_items
    }

    /// Pairs with a slack of at least this where it is.
    pub(crate) fn n_at_least(&self, slack: f64) -> usize {
        (0..self.pairs.len()).filter(|&at| self.slack(at, 0.0).0 >= slack).count()
    }

    fn has_eta(&self) -> bool {
        self.margin == Margin::Soft
    }

    /// Leads of all pairs, and η.
    fn leads_of(&self, coefficients: &[f64]) -> (Vec<f64>, f64) {
        let scores = self.map.scores(&coefficients[..self.map.dim()]);
        let lead = |pair: &JudgedPair| scores[pair.better as usize] - scores[pair.worse as usize];
        let leads = self.pairs.par_iter().map(lead).collect();
        (leads, if self.has_eta() { coefficients[self.map.dim()] } else { 0.0 })
    }

    /// The slack of a pair after a step: with its slopes in the lead and in η.
    fn slack(&self, at: usize, step: f64) -> (f64, f64, f64) {
        let lead = self.leads[at] + step * self.changes[at];
        let eta = self.eta + step * self.eta_change;
        if self.pairs[at].is_tie {
            (lead.abs() - eta, if lead < 0.0 { -1.0 } else { 1.0 }, -1.0)
        } else {
            (2.0 + eta - lead, -1.0, 1.0)
        }
    }

    /// Pairs of the largest slacks, ties and others.
    fn most_violated(&self, step: f64, n: usize) -> Vec<usize> {
        let mut of_both = Vec::new();
        for ties in [false, true] {
            let mut slacks: Vec<(f64, usize)> = (0..self.pairs.len())
                .filter(|&at| self.pairs[at].is_tie == ties)
                .map(|at| (self.slack(at, step).0, at))
                .collect();
            let by_slack = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            if slacks.len() > n {
                slacks.select_nth_unstable_by(n - 1, by_slack);
                slacks.truncate(n);
            }
            slacks.sort_by(by_slack);
            of_both.extend(slacks.into_iter().map(|(_, at)| at));
        }
        of_both
    }

    /// The plane of all pairs that have a slack.
    fn plane_of_all(&self, step: f64) -> Plane {
        let mut of_items = vec![0.0; self.n_items];
        let (mut offset, mut of_eta) = (0.0, 0.0);
        for (at, &JudgedPair { better, worse, is_tie, cost }) in self.pairs.iter().enumerate() {
            let (slack, slope, eta) = self.slack(at, step);
            if slack > 0.0 {
                offset += if is_tie { 0.0 } else { 2.0 * cost };
                of_items[better as usize] -= cost * slope;
                of_items[worse as usize] += cost * slope;
                of_eta -= cost * eta;
            }
        }
        let mut normal = self.map.slopes(&of_items);
        normal.push(of_eta);
        Plane { offset, normal }
    }

    /// The plane of one pair.
    fn plane_of(&self, at: usize, step: f64) -> Plane {
        let (pair, (_, slope, _)) = (self.pairs[at], self.slack(at, step));
        let terms = [(pair.better as usize, -slope), (pair.worse as usize, slope)];
        Plane { offset: if pair.is_tie { 0.0 } else { 2.0 }, normal: self.map.slopes_of(&terms, self.n_items) }
    }
}

impl ColumnPlanes for PairPlanes<'_> {
    fn dim(&self) -> usize {
        self.map.dim() + usize::from(self.has_eta())
    }

    fn go_to(&mut self, coefficients: &[f64]) -> f64 {
        (self.leads, self.eta) = self.leads_of(coefficients);
        self.changes.fill(0.0);
        self.eta_change = 0.0;
        self.along(0.0).0
    }

    fn aim(&mut self, direction: &[f64]) {
        (self.changes, self.eta_change) = self.leads_of(direction);
    }

    fn along(&mut self, step: f64) -> (f64, f64) {
        let slope_of = |at: usize, slope: f64, eta: f64| slope * self.changes[at] + eta * self.eta_change;
        let numbers: Vec<usize> = (0..self.pairs.len()).step_by(PAIRS).collect();
        let parts: Vec<(f64, f64)> = numbers
            .into_par_iter()
            .map(|first| {
                let mut sums = (0.0f64, 0.0f64);
                for at in first..(first + PAIRS).min(self.pairs.len()) {
                    let (slack, slope, eta) = self.slack(at, step);
                    match self.margin {
                        Margin::Soft if slack > 0.0 => {
                            sums.0 += self.pairs[at].cost * slack;
                            sums.1 += self.pairs[at].cost * slope_of(at, slope, eta);
                        }
                        Margin::Hard if slack > sums.0 => sums = (slack, slope_of(at, slope, 0.0)),
                        _ => {}
                    }
                }
                sums
            })
            .collect();
        match self.margin {
            Margin::Soft => parts.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1)),
            Margin::Hard => parts.into_iter().fold((0.0, 0.0), |top, part| if part.0 > top.0 { part } else { top }),
        }
    }

    fn planes(&mut self, step: f64) -> Option<Vec<Plane>> {
        let planes = match self.margin {
            Margin::Soft => vec![self.plane_of_all(step)],
            Margin::Hard => {
                let n = (self.map.dim() / 2).clamp(8, 64);
                let slacks = self.most_violated(step, n);
                slacks.into_iter().map(|at| self.plane_of(at, step)).collect()
            }
        };
        planes.iter().all(|plane| plane.normal.iter().all(|slope| slope.is_finite())).then_some(planes)
    }

    fn settle(&mut self, step: f64) {
        self.leads.iter_mut().zip(&self.changes).for_each(|(lead, change)| *lead += step * change);
        self.eta += step * self.eta_change;
    }

    fn scales(&self) -> Vec<f64> {
        let mut scales = self.map.scales();
        if self.has_eta() {
            scales.push(1.0);
        }
        scales
    }

    fn free(&self) -> Option<u32> {
        self.has_eta().then(|| self.map.dim() as u32)
    }

    fn dearest(&self, prices: &[f64], n: usize) -> (f64, Vec<Column>) {
        largest(signed(&prices[..self.map.dim()]).collect(), n)
    }
}

/// Of the soft losses.
impl ColumnTerms for PairPlanes<'_> {
    fn n_terms(&self) -> u64 {
        self.pairs.iter().map(|pair| if pair.is_tie { 2 } else { 1 }).sum()
    }

    fn terms(&self) -> Vec<Term> {
        let term = |better: u32, worse: u32, margin: f64, of_free: f64, cost: f64| Term {
            better,
            worse,
            margin,
            of_free,
            cost,
        };
        let of_pair = |pair: &JudgedPair| {
            let &JudgedPair { better, worse, is_tie, cost } = pair;
            let first = if is_tie { term(better, worse, 0.0, 1.0, cost) } else { term(better, worse, 2.0, -1.0, cost) };
            // Never do both sides of a tie lack their margin.
            [Some(first), is_tie.then(|| term(worse, better, 0.0, 1.0, cost))]
        };
        self.pairs.iter().flat_map(of_pair).flatten().collect()
    }

    fn n_items(&self) -> usize {
        self.n_items
    }

    fn scores(&self, coefficients: &[f64]) -> Vec<f64> {
        self.map.scores(&coefficients[..self.map.dim()])
    }

    fn slopes(&self, of_scores: &[f64]) -> Vec<f64> {
        let mut slopes = self.map.slopes(of_scores);
        slopes.resize(self.dim(), 0.0);
        slopes
    }
}
