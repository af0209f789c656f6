//! How sure ratings of maximum likelihood are.
//!
//! *Sandwich*: with A the second derivatives and s the slopes of one observation (a game, or all games of a group), the
//! variance is A⁻¹·(Σ s·sᵀ)·A⁻¹, which holds whether or not the model does (White, *Maximum likelihood estimation of
//! misspecified models*, 1982). Σ s·sᵀ is multiplied by n/(n − p) for n games and p numbers, or by g/(g − 1) for g groups (as many of equal
//! size as say as much). A weight is a number of games. With
//! a penalty, which draws ratings to 0 and would make them look sure of that, ratings are thought of as drawn from a normal
//! distribution of variance C: A has the penalty, and 1/C is added to the middle for every player. If the model holds, this is
//! the variance of the ratings given the games.
//!
//! Where games agree by chance (a single tie is always as expected; two judges who say the same), their slopes would make a rating
//! look sure: no variance is below A⁻¹, that of the model itself.
//!
//! Ratings sum to 0, so that the error of a rating has a part that all share: where the average lies, to which players with few
//! games add most. Who is compared with others need not know that, and has a second error, against the average by games.
//!
//! *Bootstrap*: every observation gets a weight drawn from an exponential distribution (Rubin, *The Bayesian bootstrap*,
//! 1981), so that n equal games get one gamma variable; no weight is ever 0, and whoever can be compared in the games can be in
//! every resample. Each resample is maximised anew from the answer; a penalty draws its ratings to numbers of that normal
//! distribution instead of 0.

use rayon::prelude::*;

use super::cells::{Counts, FIRST, SECOND, TIE, Unit};
use super::curvature::{Curvature, MAX_DENSE, Sparse};
use super::large::N_CORE_DRAWS;
use super::newton::{ROUGH, minimise};
use super::pattern::Pattern;
use super::slopes::{CellSlopes, Likelihood, chances};
use super::{DavidsonRatings, State};
use crate::data::{Random, mix};
use crate::error::{Error, Result};
use crate::math::dot;
use crate::progress::{Unwatched, Watch, keep_going};

/// Random combinations of the slopes of groups that stand for all of them where players and groups are many.
const N_DRAWS: usize = 200;
/// Draws that go along each other, and parts of the work that are done at a time.
const LANES: usize = 8;
const AT_ONCE: usize = 4;
/// Numbers that resamples may leave behind.
const MAX_NUMBERS: usize = 1 << 28;

/// Standard errors.
#[derive(Debug, Clone, PartialEq)]
pub struct StandardErrors {
    /// Of the rating of every player, in logarithms of odds; `None` where there is no rating, or no telling.
    pub ratings: Vec<Option<f64>>,
    /// The same against the average of players by their games: what is needed to compare players.
    pub comparisons: Vec<Option<f64>>,
    /// Of the effects.
    pub effects: Vec<Option<f64>>,
    /// Of ln ν.
    pub ln_tie_parameter: Option<f64>,
    /// Groups that were independent, where games come in groups.
    pub n_groups: Option<usize>,
    /// As many groups of equal size as say as much.
    pub effective_groups: Option<f64>,
    /// Random draws that they were estimated from; `None`: they are exact.
    pub n_draws: Option<usize>,
}

/// Ratings of resamples.
#[derive(Debug, Clone, PartialEq)]
pub struct DavidsonResamples {
    /// For every player the ratings of all resamples in ascending order; empty without a rating.
    pub ratings: Vec<Vec<f64>>,
    /// The same moved so that the average of players by their games is what it is in the answer.
    pub comparisons: Vec<Vec<f64>>,
    /// The same for effects.
    pub effects: Vec<Vec<f64>>,
    /// What a variance is multiplied by because the answer was found on the same games.
    pub small_sample: f64,
    /// As many groups of equal size as say as much, where games come in groups.
    pub effective_groups: Option<f64>,
    /// The standard errors of ratings if the model holds, which no interval should be narrower than.
    pub least_errors: Vec<Option<f64>>,
}

/// Variances of ratings, effects and θ.
struct Variances {
    /// As they are, ratings summing to 0.
    plain: Vec<f64>,
    /// Ratings against their average by games.
    compared: Vec<f64>,
}

/// The slopes of one game of a cell, by d and θ, for its three outcomes.
type Slopes = [[f64; 2]; 3];

impl State {
    fn game_slopes(&self, likelihood: &Likelihood<'_>) -> Vec<Slopes> {
        let nu = if self.has_ties { self.point[self.point.len() - 1].exp() } else { 0.0 };
        let of_cell = |cell: usize| {
            let ([first, tie, second], _) = chances(likelihood.ahead(&self.point, cell), nu);
            let lead = 0.5 * (first - second);
            let mut slopes = [[lead, tie]; 3];
            slopes[FIRST][0] -= 0.5;
            slopes[SECOND][0] += 0.5;
            slopes[TIE][1] -= 1.0;
            slopes
        };
        (0..self.cells.n_cells()).map(of_cell).collect()
    }

    /// What a solution has to do with a game's slopes by d and θ.
    fn along(&self, cell: usize, x: &[f64]) -> [f64; 2] {
        let n = self.players.len();
        let [first, second] = self.cells.players[cell];
        let effects = dot(self.cells.difference(cell), &x[n..n + self.cells.n_effects]);
        let theta = if self.has_ties { x[x.len() - 1] } else { 0.0 };
        [x[first as usize] - x[second as usize] + effects, theta]
    }

    /// Adds the slopes of a unit's games, so many times.
    fn add_slopes(&self, unit: &Unit, slopes: &[Slopes], factor: f64, sums: &mut [f64]) {
        let n = self.players.len();
        let cell = unit.cell as usize;
        let [by_d, by_theta] = slopes[cell][unit.outcome as usize].map(|slope| factor * slope);
        let [first, second] = self.cells.players[cell];
        sums[first as usize] += by_d;
        sums[second as usize] -= by_d;
        for (sum, x) in sums[n..].iter_mut().zip(self.cells.difference(cell)) {
            *sum += by_d * x;
        }
        if self.has_ties
            && let Some(sum) = sums.last_mut()
        {
            *sum += by_theta;
        }
    }

    /// What a variance is multiplied by because the answer was found on the same games; infinite where nothing is left.
    fn correction(&self) -> f64 {
        let n = self.cells.n_observations();
        let p = match self.cells.group_starts.is_empty() {
            true if self.ridge > 0.0 => 0,
            true => self.point.len() - self.tiers.len(),
            false => 1,
        };
        if n > p as f64 { n / (n - p as f64) } else { f64::INFINITY }
    }

    /// The share of each player in the games of its tier.
    pub(super) fn shares(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.players.len()];
        for (cell, players) in self.cells.players.iter().enumerate() {
            let n_games: f64 = self.counts[cell].iter().sum();
            players.iter().for_each(|&player| shares[player as usize] += n_games);
        }
        for tier in &self.tiers {
            let sum: f64 = tier.iter().map(|&k| shares[k as usize]).sum();
            tier.iter().for_each(|&k| shares[k as usize] /= sum);
        }
        shares
    }

    /// Moves the ratings of every tier so that their average by games is the given one.
    fn compare(&self, x: &mut [f64], shares: &[f64], goal: &[f64]) {
        for tier in &self.tiers {
            let by: f64 = tier.iter().map(|&k| shares[k as usize] * (goal[k as usize] - x[k as usize])).sum();
            tier.iter().for_each(|&k| x[k as usize] += by);
        }
    }

    /// The variance of every number of the answer, and of the ratings as they are compared.
    fn variances(&self, watch: &dyn Watch) -> Result<Variances> {
        if let Some(pattern) = self.pattern.as_deref().filter(|_| self.is_large()) {
            return self.sparse_variances(pattern, watch);
        }
        keep_going(watch, 0)?;
        let likelihood = self.likelihood(&self.counts);
        let mut curvatures: Vec<CellSlopes> = Vec::new();
        likelihood.cell_slopes(&self.point, &mut curvatures);
        let curvature = Curvature::new(&likelihood, &curvatures, &self.held());
        Ok(self.exact_variances(&curvature, &self.game_slopes(&likelihood)))
    }

    /// The same without a matrix.
    fn sparse_variances(&self, pattern: &Pattern, watch: &dyn Watch) -> Result<Variances> {
        let likelihood = self.likelihood(&self.counts);
        let mut curvatures: Vec<CellSlopes> = Vec::new();
        likelihood.cell_slopes(&self.point, &mut curvatures);
        let slopes = self.game_slopes(&likelihood);
        let is_independent = self.cells.group_starts.is_empty();
        let mut squares = vec![[0.0; 3]; self.cells.n_cells()];
        let correction = self.correction();
        if is_independent && correction.is_finite() {
            squares = self.squares(&slopes);
            squares.iter_mut().flatten().for_each(|square| *square *= correction);
        }
        let found = self.large_variances(pattern, &curvatures, &squares, watch)?;
        let mut sandwich = found
            .ratings
            .each_ref()
            .map(|ratings| ratings.iter().chain(&found.extra).map(|known| -known.slope).collect::<Vec<f64>>());
        if !is_independent {
            let curvature = Sparse::of(&likelihood, pattern, &curvatures);
            self.add_groups(&curvature, &slopes, &mut sandwich, watch)?;
        }
        for (sandwich, ratings) in sandwich.iter_mut().zip(&found.ratings) {
            for (variance, known) in sandwich.iter_mut().zip(ratings.iter().chain(&found.extra)) {
                *variance = variance.max(known.value);
                // Fewer games than numbers say nothing of how far off these are; rounding may have made that no number.
                if !correction.is_finite() {
                    *variance = f64::INFINITY;
                }
            }
        }
        let [plain, compared] = sandwich;
        Ok(Variances { plain, compared })
    }

    /// Whether players are too many for a matrix.
    fn is_large(&self) -> bool {
        self.players.len() > MAX_DENSE
    }

    /// How many random draws variances come from; `None`: they are exact.
    fn n_draws(&self) -> Option<usize> {
        let pattern = self.pattern.as_deref().filter(|_| self.is_large())?;
        match self.cells.groups().count() > N_DRAWS {
            true => Some(N_DRAWS),
            false => (pattern.n_core() > 0).then_some(N_CORE_DRAWS),
        }
    }

    /// The squared slopes of the games of every cell: by d, by d and θ, by θ.
    fn squares(&self, slopes: &[Slopes]) -> Vec<[f64; 3]> {
        let mut squares = vec![[0.0; 3]; self.cells.n_cells()];
        for unit in &self.cells.units {
            let [d, theta] = slopes[unit.cell as usize][unit.outcome as usize];
            let factor = unit.n_games;
            let sums = &mut squares[unit.cell as usize];
            sums[0] += factor * d * d;
            sums[1] += factor * d * theta;
            sums[2] += factor * theta * theta;
        }
        squares
    }

    /// One system of equations for every number.
    fn exact_variances(&self, curvature: &Curvature<'_>, slopes: &[Slopes]) -> Variances {
        let mut tier_of = vec![0usize; self.players.len()];
        for (number, tier) in self.tiers.iter().enumerate() {
            tier.iter().for_each(|&k| tier_of[k as usize] = number);
        }
        // Without groups, the games of a cell count together.
        let squares = self.squares(slopes);
        let correction = self.correction();
        // Where most players have met, a matrix is less work than its many cells.
        let size = self.point.len();
        let is_independent = self.cells.group_starts.is_empty();
        let matrix = (is_independent && 16 * squares.len() > size * size).then(|| self.matrix_of(&squares));
        let variance = |x: &[f64]| {
            let penalty = self.ridge * x[..self.players.len()].iter().map(|x| x * x).sum::<f64>();
            if let Some(matrix) = &matrix {
                let rows = matrix.chunks_exact(size).zip(x).map(|(row, x_of_row)| x_of_row * dot(row, x));
                return correction * rows.sum::<f64>() + penalty;
            }
            if is_independent {
                let of_cell = |(cell, squares): (usize, &[f64; 3])| {
                    let [d, theta] = self.along(cell, x);
                    squares[0] * d * d + 2.0 * squares[1] * d * theta + squares[2] * theta * theta
                };
                return correction * squares.iter().enumerate().map(of_cell).sum::<f64>() + penalty;
            }
            let of_unit = |unit: &Unit| {
                let [d, theta] = self.along(unit.cell as usize, x);
                let [by_d, by_theta] = slopes[unit.cell as usize][unit.outcome as usize];
                unit.n_games * (by_d * d + by_theta * theta)
            };
            let of_group = |units: &[Unit]| units.iter().map(of_unit).sum::<f64>().powi(2);
            correction * self.cells.groups().map(of_group).sum::<f64>() + penalty
        };
        // From one average of a tier to the other.
        let shares = self.shares();
        let to_other = |tier: &Vec<u32>| {
            let mut x = vec![0.0; self.point.len()];
            tier.iter().for_each(|&k| x[k as usize] = 1.0 / tier.len() as f64 - shares[k as usize]);
            curvature.solve(&mut x, 1e-6);
            x
        };
        let moves: Vec<Vec<f64>> = self.tiers.iter().map(to_other).collect();
        let both = |at: usize| {
            let mut x = vec![0.0; self.point.len()];
            let tier = tier_of.get(at).map(|&tier| (&self.tiers[tier], &moves[tier]));
            if let Some((tier, _)) = tier {
                tier.iter().for_each(|&k| x[k as usize] = -1.0 / tier.len() as f64);
            }
            x[at] += 1.0;
            curvature.solve(&mut x, 1e-6);
            // If the model holds, this is the variance: the solution along what was asked.
            let asked = |at: usize, average: &dyn Fn(u32) -> f64| match tier {
                Some((tier, _)) => x[at] - tier.iter().map(|&k| average(k) * x[k as usize]).sum::<f64>(),
                None => x[at],
            };
            let own = asked(at, &|_| tier.map_or(0.0, |(tier, _)| 1.0 / tier.len() as f64));
            let plain = variance(&x).max(own);
            let Some((tier, by)) = tier else { return (plain, plain) };
            x.iter_mut().zip(by).for_each(|(x, by)| *x += by);
            let own = x[at] - tier.iter().map(|&k| shares[k as usize] * x[k as usize]).sum::<f64>();
            (plain, variance(&x).max(own))
        };
        let (plain, compared) = (0..self.point.len()).into_par_iter().map(both).unzip();
        Variances { plain, compared }
    }

    /// The sum over cells of what [`State::along`] makes of x, squared, as a matrix over x.
    fn matrix_of(&self, squares: &[[f64; 3]]) -> Vec<f64> {
        let (n, size) = (self.players.len(), self.point.len());
        let mut matrix = vec![0.0; size * size];
        let mut direction: Vec<(usize, f64)> = Vec::new();
        for (cell, &[dd, d_theta, theta_theta]) in squares.iter().enumerate() {
            let [first, second] = self.cells.players[cell];
            direction.clear();
            direction.extend([(first as usize, 1.0), (second as usize, -1.0)]);
            direction.extend(self.cells.difference(cell).iter().enumerate().map(|(k, &x)| (n + k, x)));
            for &(a, of_a) in &direction {
                for &(b, of_b) in &direction {
                    matrix[a * size + b] += dd * of_a * of_b;
                }
                if self.has_ties {
                    matrix[a * size + size - 1] += d_theta * of_a;
                    matrix[(size - 1) * size + a] += d_theta * of_a;
                }
            }
            if self.has_ties {
                matrix[size * size - 1] += theta_theta;
            }
        }
        matrix
    }

    /// Adds the squares of what the slopes of every group are solved to; of many groups, with random signs, the mean of such
    /// sums.
    fn add_groups(
        &self,
        curvature: &Sparse<'_>,
        slopes: &[Slopes],
        sums: &mut [Vec<f64>; 2],
        watch: &dyn Watch,
    ) -> Result<()> {
        let groups: Vec<&[Unit]> = self.cells.groups().collect();
        let is_drawn = groups.len() > N_DRAWS;
        let n_all = groups.len().min(N_DRAWS);
        let (correction, share) = (self.correction().sqrt(), if is_drawn { 1.0 / N_DRAWS as f64 } else { 1.0 });
        let precision = self.likelihood(&self.counts).precision(if is_drawn { 3e-3 } else { 1e-6 });
        let right_side = |number: usize| {
            let mut x = vec![0.0; self.point.len()];
            let mut add = |units: &[Unit], sign: f64| {
                units.iter().for_each(|u| self.add_slopes(u, slopes, correction * sign * u.n_games, &mut x));
            };
            if is_drawn {
                let mut signs = Signs::new(mix(0x5eed, number as u64));
                groups.iter().for_each(|units| add(units, signs.next()));
            } else if let Some(units) = groups.get(number) {
                add(units, 1.0);
            }
            x
        };
        let shares = self.shares();
        let zeros = vec![0.0; self.point.len()];
        let solved = |part: usize| {
            keep_going(watch, part * LANES)?;
            let mut lanes = vec![[0.0; LANES]; self.point.len()];
            for lane in 0..LANES.min(n_all - part * LANES) {
                let x = right_side(part * LANES + lane);
                lanes.iter_mut().zip(x).for_each(|(lanes, x)| lanes[lane] = x);
            }
            curvature.solve(&mut lanes, precision);
            let mut found = [zeros.clone(), zeros.clone()];
            for lane in 0..LANES {
                let mut x: Vec<f64> = lanes.iter().map(|lanes| lanes[lane]).collect();
                let add =
                    |sums: &mut [f64], x: &[f64]| sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += share * x * x);
                self.centre(&mut x);
                add(&mut found[0], &x);
                self.compare(&mut x, &shares, &zeros);
                add(&mut found[1], &x);
            }
            Ok(found)
        };
        let n_parts = n_all.div_ceil(LANES);
        for start in (0..n_parts).step_by(AT_ONCE) {
            let parts: Result<Vec<_>> = (start..(start + AT_ONCE).min(n_parts)).into_par_iter().map(solved).collect();
            for part in parts? {
                for (sums, part) in sums.iter_mut().zip(part) {
                    sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
                }
            }
        }
        Ok(())
    }

    /// The variance of every rating against the average by games, if the model holds.
    fn least_variances(&self, watch: &dyn Watch) -> Result<Vec<f64>> {
        let likelihood = self.likelihood(&self.counts);
        let mut slopes: Vec<CellSlopes> = Vec::new();
        likelihood.cell_slopes(&self.point, &mut slopes);
        if let Some(pattern) = self.pattern.as_deref().filter(|_| self.is_large()) {
            let squares = vec![[0.0; 3]; self.cells.n_cells()];
            let [_, compared] = self.large_variances(pattern, &slopes, &squares, watch)?.ratings;
            return Ok(compared.into_iter().map(|known| known.value).collect());
        }
        let curvature = Curvature::new(&likelihood, &slopes, &self.held());
        let shares = self.shares();
        let mut variances = vec![0.0; self.players.len()];
        for tier in &self.tiers {
            let of_player = |&at: &u32| {
                let mut x = vec![0.0; self.point.len()];
                tier.iter().for_each(|&k| x[k as usize] = -shares[k as usize]);
                x[at as usize] += 1.0;
                curvature.solve(&mut x, 1e-6);
                x[at as usize] - tier.iter().map(|&k| shares[k as usize] * x[k as usize]).sum::<f64>()
            };
            let found: Vec<f64> = tier.par_iter().map(of_player).collect();
            tier.iter().zip(found).for_each(|(&at, variance)| variances[at as usize] = variance);
        }
        Ok(variances)
    }

    /// Counts with random weights.
    fn reweighted(&self, dice: &mut Random, counts: &mut Vec<Counts>) {
        counts.clear();
        counts.resize(self.cells.n_cells(), [0.0; 3]);
        let mut add = |unit: &Unit, factor: f64| {
            counts[unit.cell as usize][unit.outcome as usize] += factor;
        };
        if self.cells.group_starts.is_empty() {
            self.cells.units.iter().for_each(|unit| add(unit, dice.gamma(unit.n_games)));
        } else {
            for units in self.cells.groups() {
                let factor = dice.gamma(1.0);
                units.iter().for_each(|unit| add(unit, factor * unit.n_games));
            }
        }
    }

    /// The answer on games with random weights.
    fn resample(&self, seed: u64, counts: &mut Vec<Counts>) -> Result<Vec<f64>> {
        let mut dice = Random::new(seed);
        self.reweighted(&mut dice, counts);
        let centre: Vec<f64> = match self.ridge > 0.0 {
            true => (0..self.players.len()).map(|_| dice.normal() / self.ridge.sqrt()).collect(),
            false => Vec::new(),
        };
        let mut point = self.point.clone();
        let likelihood = Likelihood { centre: &centre, ..self.likelihood(counts) };
        minimise(&likelihood, &self.held(), ROUGH, &mut point, &Unwatched)?;
        self.centre(&mut point);
        Ok(point)
    }
}

/// +1 and −1 at random, 64 from one random word.
pub(super) struct Signs {
    dice: Random,
    bits: u64,
    n_left: u32,
}

impl Signs {
    pub(super) fn new(seed: u64) -> Self {
        Signs { dice: Random::new(seed), bits: 0, n_left: 0 }
    }

    pub(super) fn next(&mut self) -> f64 {
        if self.n_left == 0 {
            (self.bits, self.n_left) = (self.dice.word(), 64);
        }
        let sign = if self.bits & 1 == 0 { 1.0 } else { -1.0 };
        self.bits >>= 1;
        self.n_left -= 1;
        sign
    }
}

impl DavidsonRatings {
    /// Standard errors by the sandwich. They are exact up to a thousand rated players, and beyond where these met so few others
    /// that everybody can be solved for; else some of them are estimated from random draws (`n_draws`), to about 3 %, and with
    /// more than 200 groups to about 5 %.
    pub fn standard_errors(&self) -> StandardErrors {
        // Nobody stops it.
        self.standard_errors_watched(&Unwatched).unwrap_or_else(|_| self.no_errors())
    }

    /// Errors of whom nothing is known.
    fn no_errors(&self) -> StandardErrors {
        StandardErrors {
            ratings: vec![None; self.ratings.len()],
            comparisons: vec![None; self.ratings.len()],
            effects: vec![None; self.effects.len()],
            ln_tie_parameter: None,
            n_groups: None,
            effective_groups: None,
            n_draws: None,
        }
    }

    /// The same while `watch` looks on, and perhaps stops it.
    pub fn standard_errors_watched(&self, watch: &dyn Watch) -> Result<StandardErrors> {
        let mut errors = self.no_errors();
        let Some(state) = self.state.as_ref().filter(|_| self.is_converged) else { return Ok(errors) };
        let variances = state.variances(watch)?;
        let root = |variance: f64| Some(variance.sqrt()).filter(|error| error.is_finite());
        let error = |at: usize| root(variances.plain[at]);
        for (at, &player) in state.players.iter().enumerate() {
            errors.ratings[player as usize] = error(at);
            errors.comparisons[player as usize] = root(variances.compared[at]);
        }
        for (at, &(column, size)) in state.columns.iter().enumerate() {
            let known = self.effects[column].value.and(error(state.players.len() + at));
            errors.effects[column] = known.map(|error| error / size);
        }
        if state.has_ties {
            errors.ln_tie_parameter = error(state.point.len() - 1);
        }
        errors.n_groups = self.n_groups();
        errors.effective_groups = errors.n_groups.map(|_| state.cells.n_observations());
        errors.n_draws = state.n_draws();
        Ok(errors)
    }

    /// How many independent groups the rated games come in, where they come in groups.
    pub fn n_groups(&self) -> Option<usize> {
        self.state.as_ref()?.cells.group_starts.len().checked_sub(1)
    }

    /// Ratings of resampled games, in parallel; the number of threads does not matter.
    pub fn bootstrap(&self, n_resamples: usize, seed: u64) -> Result<DavidsonResamples> {
        self.bootstrap_watched(n_resamples, seed, &Unwatched)
    }

    /// The same while `watch` looks on, and perhaps stops it.
    pub fn bootstrap_watched(&self, n_resamples: usize, seed: u64, watch: &dyn Watch) -> Result<DavidsonResamples> {
        let mut found = DavidsonResamples {
            ratings: vec![Vec::new(); self.ratings.len()],
            comparisons: vec![Vec::new(); self.ratings.len()],
            effects: vec![Vec::new(); self.effects.len()],
            small_sample: 1.0,
            effective_groups: None,
            least_errors: vec![None; self.ratings.len()],
        };
        let Some(state) = self.state.as_ref().filter(|_| self.is_converged) else { return Ok(found) };
        for (&player, variance) in state.players.iter().zip(state.least_variances(watch)?) {
            found.least_errors[player as usize] = Some(variance.sqrt()).filter(|error| error.is_finite());
        }
        found.small_sample = state.correction();
        found.effective_groups = self.n_groups().map(|_| state.cells.n_observations());
        let size = state.players.len() + state.columns.len();
        if n_resamples == 0 || n_resamples > MAX_NUMBERS / size {
            return Err(Error::parameter(
                "resamples",
                n_resamples,
                format!("from 1 to {} for {size} numbers", MAX_NUMBERS / size),
            ));
        }
        let points: Result<Vec<Vec<f64>>> = (0..n_resamples)
            .into_par_iter()
            .map_init(Vec::new, |counts, number| {
                keep_going(watch, number)?;
                let mut point = state.resample(mix(seed, number as u64), counts)?;
                point.truncate(size);
                Ok(point)
            })
            .collect();
        let mut points = points?;
        let sorted = |points: &[Vec<f64>], at: usize, size: f64| {
            let mut numbers: Vec<f64> = points.iter().map(|point| point[at] / size).collect();
            numbers.sort_unstable_by(f64::total_cmp);
            numbers
        };
        let of_players = |points: &[Vec<f64>]| -> Vec<Vec<f64>> {
            (0..state.players.len()).into_par_iter().map(|at| sorted(points, at, 1.0)).collect()
        };
        for (&player, numbers) in state.players.iter().zip(of_players(&points)) {
            found.ratings[player as usize] = numbers;
        }
        for (at, &(column, size)) in state.columns.iter().enumerate() {
            if self.effects[column].value.is_some() {
                found.effects[column] = sorted(&points, state.players.len() + at, size);
            }
        }
        let shares = state.shares();
        points.iter_mut().for_each(|point| state.compare(point, &shares, &state.point));
        for (&player, numbers) in state.players.iter().zip(of_players(&points)) {
            found.comparisons[player as usize] = numbers;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Game, Games, Outcome};
    use crate::rating::DavidsonRating;

    /// Pairs who met, in the shapes that sparse boards have.
    fn shapes(dice: &mut Random) -> Vec<(&'static str, Vec<[u32; 2]>)> {
        let chain = |from: u32, to: u32| (from..to - 1).map(|k| [k, k + 1]).collect::<Vec<_>>();
        let clique = |from: u32, to: u32| (from..to).flat_map(|a| (from..a).map(move |b| [b, a])).collect::<Vec<_>>();
        let tree: Vec<[u32; 2]> = (1..120).map(|k| [dice.below(k as usize) as u32, k]).collect();
        let cycle = [chain(0, 90), vec![[0, 89]]].concat();
        let star: Vec<[u32; 2]> = (1..60).map(|k| [0, k]).collect();
        let tails = [clique(0, 12), chain(11, 40), vec![[3, 40], [40, 41], [5, 42]]].concat();
        let mut random = |n: usize, m: usize| -> Vec<[u32; 2]> {
            let pair = |_| {
                let a = dice.below(n);
                [a as u32, ((a + 1 + dice.below(n - 1)) % n) as u32]
            };
            (0..m).map(pair).collect()
        };
        let (sparse, dense) = (random(250, 330), random(60, 500));
        let parts = [clique(0, 9), chain(9, 30), tails.iter().map(|pair| pair.map(|k| k + 30)).collect()].concat();
        vec![
            ("chain", chain(0, 100)),
            ("tree", tree),
            ("cycle", cycle),
            ("star", star),
            ("clique with tails", tails),
            ("parts", parts),
            ("sparse", sparse),
            ("dense", dense),
        ]
    }

    /// Each pair meets a few times, in groups or not, and everybody can win.
    fn games(pairs: &[[u32; 2]], n_groups: Option<usize>, dice: &mut Random) -> Games {
        let n = pairs.iter().flatten().max().map_or(0, |&most| most as usize + 1);
        let mut list = Vec::new();
        for &[left, right] in pairs {
            for outcome in [Outcome::Left, Outcome::Right, Outcome::ALL[dice.below(3)]] {
                let weight = 0.5 + 2.0 * dice.uniform();
                list.push(Game { time: 0.0, left, right, outcome, is_neutral: dice.below(2) == 0, weight });
            }
        }
        let groups = n_groups.map(|n_groups| (0..list.len()).map(|_| dice.below(n_groups) as u32).collect());
        Games::with((0..n).map(|k| k.to_string()).collect(), list, groups, None).unwrap()
    }

    fn state(rating: &DavidsonRating, games: &Games) -> State {
        rating.fit(games).unwrap().state.unwrap()
    }

    #[track_caller]
    fn far(found: &Variances, exact: &Variances) -> f64 {
        let both = [(&found.plain, &exact.plain), (&found.compared, &exact.compared)];
        let ratios = both.iter().flat_map(|(found, exact)| found.iter().zip(*exact));
        ratios.map(|(found, exact)| ((found / exact).sqrt() - 1.0).abs()).fold(0.0, f64::max)
    }

    /// Solving for everybody in turn gives what the matrix gives.
    #[test]
    fn variances_of_sparse_boards_are_those_of_the_matrix() {
        let mut dice = Random::new(1);
        for (name, pairs) in shapes(&mut dice) {
            for (n_groups, c) in [(None, None), (None, Some(2.0)), (Some(30), None), (Some(30), Some(0.5))] {
                let games = games(&pairs, n_groups, &mut dice);
                let mut rating = DavidsonRating::new().side();
                rating.c = c;
                let state = state(&rating, &games);
                let exact = state.variances(&Unwatched).unwrap();
                let pattern = Pattern::new(state.players.len(), &state.cells.players);
                assert_eq!(pattern.n_core(), 0);
                let found = state.sparse_variances(&pattern, &Unwatched).unwrap();
                let far = far(&found, &exact);
                assert!(far < 1e-7, "{name}, groups {n_groups:?}, C {c:?}: {far:e}");
            }
        }
    }

    /// Where a core is left, errors are within a few percent, and without a trend.
    #[test]
    fn variances_over_a_core_are_nearly_those_of_the_matrix() {
        let mut dice = Random::new(2);
        for (name, pairs) in shapes(&mut dice) {
            for c in [None, Some(2.0)] {
                let mut rating = DavidsonRating::new().side();
                rating.c = c;
                let state = state(&rating, &games(&pairs, None, &mut dice));
                let exact = state.variances(&Unwatched).unwrap();
                let pattern = Pattern::with_core(state.players.len(), &state.cells.players);
                let found = state.sparse_variances(&pattern, &Unwatched).unwrap();
                let n = state.players.len() as f64;
                let ratios = found.plain.iter().zip(&exact.plain).map(|(found, exact)| (found / exact).sqrt());
                let mean = ratios.sum::<f64>() / (n + 2.0);
                let far = far(&found, &exact);
                assert!(far < 0.15 && (mean - 1.0).abs() < 0.02, "{name}, C {c:?}: {far}, {mean}");
                // Without a core nothing was drawn.
                assert!(pattern.n_core() > 0 || far < 1e-7, "{name}: {far:e}");
            }
        }
    }
}
