//! The likelihood of Davidson's model and its derivatives.
//!
//! With d what the first player of a cell is ahead (ratings and effects) and θ = ln ν, a game of that cell costs
//!
//! ln(e^{d/2} + e^{−d/2} + e^θ) − (d/2, θ or −d/2, as it ended).

use rayon::prelude::*;

use super::cells::{Cells, Counts, FIRST, SECOND, TIE};
use super::pattern::Pattern;
use crate::math::dot;

/// Cells that are summed together; sums do not depend on the number of threads.
const BLOCK: usize = 8192;
/// Players that one thread takes at a time.
const PLAYERS: usize = 2048;

/// Whom each player met: the cells of a player stand together.
#[derive(Debug, Clone)]
pub(super) struct Meetings {
    starts: Vec<usize>,
    /// The cell and the other player.
    pub(super) cells: Vec<[u32; 2]>,
}

impl Meetings {
    pub(super) fn new(n_players: usize, cells: &Cells) -> Self {
        let mut starts = vec![0; n_players + 1];
        cells.players.iter().flatten().for_each(|&player| starts[player as usize + 1] += 1);
        (0..n_players).for_each(|k| starts[k + 1] += starts[k]);
        let mut next = starts.clone();
        let mut list = vec![[0; 2]; starts[n_players]];
        for (cell, &[first, second]) in (0..).zip(&cells.players) {
            for (own, other) in [(first, second), (second, first)] {
                list[next[own as usize]] = [cell, other];
                next[own as usize] += 1;
            }
        }
        Meetings { starts, cells: list }
    }

    pub(super) fn n_players(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where the cells of a player are.
    pub(super) fn range(&self, player: usize) -> std::ops::Range<usize> {
        self.starts[player]..self.starts[player + 1]
    }

    /// Writes for each player the sum over its meetings.
    pub(super) fn gather(&self, sums: &mut [f64], of: impl Fn(usize, usize) -> f64 + Sync) {
        sums.par_chunks_mut(PLAYERS).enumerate().for_each(|(chunk, sums)| {
            for (player, sum) in (chunk * PLAYERS..).zip(sums) {
                *sum = self.range(player).map(|at| of(player, at)).sum();
            }
        });
    }
}

/// Slopes and curvatures of one cell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CellSlopes {
    /// By d.
    pub(super) d: f64,
    /// By θ.
    pub(super) theta: f64,
    /// By d twice.
    pub(super) dd: f64,
    /// By d and θ.
    pub(super) d_theta: f64,
    /// By θ twice.
    pub(super) theta_theta: f64,
}

/// The probabilities of [`Counts`], and the sum of their odds in units of the larger win; `ties` is ν.
#[inline]
pub(super) fn chances(d: f64, ties: f64) -> ([f64; 3], f64) {
    // In units of the larger one of the two wins.
    let fall = (-0.5 * d.abs()).exp();
    let (tie, less) = (ties * fall, fall * fall);
    let sum = 1.0 + tie + less;
    let (more, tie, less) = (1.0 / sum, tie / sum, less / sum);
    (if d >= 0.0 { [more, tie, less] } else { [less, tie, more] }, sum)
}

/// ln(e^{d/2} + ν + e^{−d/2}), from the sum of [`chances`].
fn log_sum(d: f64, sum: f64) -> f64 {
    0.5 * d.abs() + sum.ln()
}

/// A likelihood: games counted, with or without ties, with or without a penalty.
///
/// Points are ratings, then effects, then θ where there are ties.
pub(super) struct Likelihood<'a> {
    pub(super) cells: &'a Cells,
    pub(super) meetings: &'a Meetings,
    /// In which order equations are solved where players are many.
    pub(super) pattern: Option<&'a Pattern>,
    pub(super) counts: &'a [Counts],
    pub(super) has_ties: bool,
    /// 1/C, or 0.
    pub(super) ridge: f64,
    /// Where the penalty draws ratings to; empty: to 0.
    pub(super) centre: &'a [f64],
}

impl Likelihood<'_> {
    pub(super) fn n_players(&self) -> usize {
        self.meetings.n_players()
    }

    /// Effects, and θ where there are ties.
    pub(super) fn n_extra(&self) -> usize {
        self.cells.n_effects + usize::from(self.has_ties)
    }

    fn theta(&self, point: &[f64]) -> f64 {
        if self.has_ties { point[self.n_players() + self.cells.n_effects] } else { f64::NEG_INFINITY }
    }

    /// How far the first player of a cell is ahead.
    pub(super) fn ahead(&self, point: &[f64], cell: usize) -> f64 {
        let [first, second] = self.cells.players[cell];
        let effects = &point[self.n_players()..][..self.cells.n_effects];
        point[first as usize] - point[second as usize] + dot(self.cells.difference(cell), effects)
    }

    /// How far a player is from where the penalty draws it.
    fn pull(&self, point: &[f64], player: usize) -> f64 {
        self.ridge * (point[player] - self.centre.get(player).copied().unwrap_or(0.0))
    }

    /// The largest difference that a step makes between two players who met.
    pub(super) fn farthest(&self, step: &[f64]) -> f64 {
        let difference = |[first, second]: &[u32; 2]| (step[*first as usize] - step[*second as usize]).abs();
        self.cells.players.iter().map(difference).fold(0.0, f64::max)
    }

    /// How precisely equations need to be solved without a matrix. Players who met few others may be far apart on the way from
    /// one to the next, and equations for them ill-conditioned; where all met many, `usual` will do.
    pub(super) fn precision(&self, usual: f64) -> f64 {
        const MANY: usize = 64;
        if self.meetings.cells.len() < MANY * self.n_players() { usual.min(1e-6) } else { usual }
    }

    fn penalty(&self, point: &[f64]) -> f64 {
        if self.ridge == 0.0 {
            return 0.0;
        }
        0.5 / self.ridge * (0..self.n_players()).map(|player| self.pull(point, player).powi(2)).sum::<f64>()
    }

    /// −log likelihood.
    pub(super) fn cost(&self, point: &[f64]) -> f64 {
        let theta = self.theta(point);
        let nu = theta.exp();
        let blocks: Vec<f64> = self
            .counts
            .par_chunks(BLOCK)
            .enumerate()
            .map(|(block, counts)| {
                let costs = (block * BLOCK..).zip(counts).map(|(cell, counts)| {
                    let d = self.ahead(point, cell);
                    let log_sum = log_sum(d, chances(d, nu).1);
                    let ties = if counts[TIE] > 0.0 { counts[TIE] * (log_sum - theta) } else { 0.0 };
                    counts[FIRST] * (log_sum - 0.5 * d) + ties + counts[SECOND] * (log_sum + 0.5 * d)
                });
                costs.sum()
            })
            .collect();
        blocks.iter().sum()
    }

    /// −log likelihood and penalty: what is minimised.
    pub(super) fn value(&self, point: &[f64]) -> f64 {
        self.cost(point) + self.penalty(point)
    }

    /// Slopes and curvatures of every cell.
    pub(super) fn cell_slopes(&self, point: &[f64], slopes: &mut Vec<CellSlopes>) {
        let nu = self.theta(point).exp();
        slopes.resize(self.cells.n_cells(), CellSlopes::default());
        slopes.par_chunks_mut(BLOCK).enumerate().for_each(|(block, slopes)| {
            for (cell, slopes) in (block * BLOCK..).zip(slopes) {
                let counts = self.counts[cell];
                let n: f64 = counts.iter().sum();
                let ([first, tie, second], _) = chances(self.ahead(point, cell), nu);
                let lead = first - second;
                *slopes = CellSlopes {
                    d: 0.5 * (n * lead - (counts[FIRST] - counts[SECOND])),
                    theta: n * tie - counts[TIE],
                    dd: 0.25 * n * (first + second - lead * lead),
                    d_theta: -0.5 * n * tie * lead,
                    theta_theta: n * tie * (1.0 - tie),
                };
            }
        });
    }

    /// The slope of the value.
    pub(super) fn gradient(&self, point: &[f64], slopes: &[CellSlopes]) -> Vec<f64> {
        let n = self.n_players();
        let mut gradient = vec![0.0; n + self.n_extra()];
        let (ratings, extra) = gradient.split_at_mut(n);
        self.meetings.gather(ratings, |player, at| self.sign(player, at) * slopes[self.cell(at)].d);
        for (player, sum) in ratings.iter_mut().enumerate() {
            *sum += self.pull(point, player);
        }
        for (k, sum) in extra.iter_mut().enumerate() {
            *sum = match k < self.cells.n_effects {
                true => self.sum(|cell| slopes[cell].d * self.cells.difference(cell)[k]),
                false => self.sum(|cell| slopes[cell].theta),
            };
        }
        gradient
    }

    /// The largest slope per game: of a player for ratings, of all for the others.
    pub(super) fn unevenness(&self, gradient: &[f64]) -> f64 {
        let mut n_games = vec![0.0; self.n_players()];
        self.meetings.gather(&mut n_games, |_, at| self.counts[self.cell(at)].iter().sum());
        let total: f64 = self.counts.iter().flatten().sum();
        n_games.resize(gradient.len(), total);
        let share = |(slope, n): (&f64, &f64)| (slope / n).abs();
        // Of NaN nothing is known.
        gradient.iter().zip(&n_games).map(share).fold(0.0, |most, share| if share <= most { most } else { share })
    }

    /// The cell of a meeting.
    pub(super) fn cell(&self, at: usize) -> usize {
        self.meetings.cells[at][0] as usize
    }

    /// +1 for the first player of a meeting's cell, −1 for the second.
    pub(super) fn sign(&self, player: usize, at: usize) -> f64 {
        if player < self.meetings.cells[at][1] as usize { 1.0 } else { -1.0 }
    }

    /// A sum over cells, block by block.
    pub(super) fn sum(&self, of: impl Fn(usize) -> f64 + Sync) -> f64 {
        let n = self.cells.n_cells();
        let blocks: Vec<f64> = (0..n.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| (block * BLOCK..((block + 1) * BLOCK).min(n)).map(&of).sum())
            .collect();
        blocks.iter().sum()
    }
}
