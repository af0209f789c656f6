//! Ratings of maximum likelihood in Davidson's model (*On extending the Bradley–Terry model to accommodate ties*, 1970):
//!
//! P(left) : P(tie) : P(right) = e^{d/2} : ν : e^{−d/2},  d = r(left) − r(right) + effects·(what the left side has more).
//!
//! Every player has one rating r, and they sum to 0 wherever they can be compared. Without ties in the games ν is 0, and this is
//! the model of Bradley and Terry.

mod cells;
mod columns;
mod core;
mod curvature;
mod endless;
mod large;
mod newton;
mod pattern;
mod reduced;
mod sloped;
mod slopes;
mod spread;

use std::sync::Arc;

use cells::{Cells, Counts};
use curvature::MAX_DENSE_STEP;
use newton::{EXACT, FLAT};
use pattern::Pattern;
use slopes::{Likelihood, Meetings};

pub use spread::{DavidsonResamples, StandardErrors};

use super::Parts;
use crate::data::{Game, Games};
use crate::error::{Error, Result};
use crate::progress::{Unwatched, Watch};

/// What an effect for being named first is called.
pub const FIRST_SIDE: &str = "first side";
/// What is left of a game's weight at least.
const LEAST_DECAY: f64 = 1e-9;
/// An effect that is worth more than this on average, in logarithms of odds, grows without end.
const MAX_EFFECT: f64 = 25.0;

/// How ratings of maximum likelihood are found.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct DavidsonRating {
    /// With C: ½‖r‖² + C·(−log likelihood) is minimised; without, the likelihood alone counts. Effects and ν are never
    /// penalised; an effect that tells the games perfectly, whatever the ratings are, is left out.
    pub c: Option<f64>,
    /// Whether being named first may have an effect, except on neutral ground.
    pub has_side: bool,
    /// After how much time a game counts half, looking back from the last one.
    pub half_life: Option<f64>,
}

/// Something besides the players that helps a side.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// What it is.
    pub name: String,
    /// How much one unit of it moves the logarithm of the odds; `None` where the games cannot tell.
    pub value: Option<f64>,
}

/// Ratings of maximum likelihood.
#[derive(Debug, Clone)]
pub struct DavidsonRatings {
    /// The rating of every player, in logarithms of odds; `None` where there is no finite one.
    pub ratings: Vec<Option<f64>>,
    /// ν: 0 without ties, ∞ with nothing but ties.
    pub tie_parameter: f64,
    /// What else helps, being named first before the others.
    pub effects: Vec<Effect>,
    /// The logarithm of the likelihood, penalty apart.
    pub log_likelihood: f64,
    /// The certificate: the largest difference between points that were made and points that were expected, per game of
    /// a player (with a penalty: the largest slope of what is minimised).
    pub gradient: f64,
    /// Whether the search ended at the maximum.
    pub is_converged: bool,
    /// Steps of Newton's method.
    pub iterations: u64,
    /// Who can be compared with whom.
    pub parts: Parts,
    /// The effects, by number, that were left out because they would grow without end: they tell the games perfectly, alone or
    /// together, and the penalty is on ratings.
    pub left_out: Vec<usize>,
    has_side: bool,
    state: Option<State>,
}

/// What the search leaves behind, for those who ask how sure its answer is.
#[derive(Debug, Clone)]
struct State {
    cells: Cells,
    meetings: Meetings,
    /// In which order equations are solved where players are many.
    pattern: Option<Arc<Pattern>>,
    counts: Vec<Counts>,
    has_ties: bool,
    ridge: f64,
    /// Ratings, effects, θ.
    point: Vec<f64>,
    /// The rated players.
    players: Vec<u32>,
    /// Rated players that have a common scale, by their numbers among the rated ones.
    tiers: Vec<Vec<u32>>,
    /// The columns of effects that are used, and what they were divided by.
    columns: Vec<(usize, f64)>,
}

impl State {
    fn likelihood<'a>(&'a self, counts: &'a [Counts]) -> Likelihood<'a> {
        Likelihood {
            cells: &self.cells,
            meetings: &self.meetings,
            pattern: self.pattern.as_deref(),
            counts,
            has_ties: self.has_ties,
            ridge: self.ridge,
            centre: &[],
        }
    }

    /// One player of every tier, where nothing else holds them.
    fn held(&self) -> Vec<u32> {
        if self.ridge > 0.0 { Vec::new() } else { self.tiers.iter().map(|tier| tier[0]).collect() }
    }

    /// Whether effects have grown without end, and ratings or θ with them: together they tell all games, or nearly.
    fn is_endless(&self, ending: &newton::Ending) -> bool {
        let n = self.players.len();
        let most = self.point[n..].iter().fold(0.0f64, |most, number| most.max(number.abs()));
        self.ridge == 0.0 && (!ending.is_converged || ending.is_blind || most > MAX_EFFECT)
    }

    /// Makes the ratings of every tier sum to 0.
    fn centre(&self, point: &mut [f64]) {
        for tier in &self.tiers {
            let mean = tier.iter().map(|&k| point[k as usize]).sum::<f64>() / tier.len() as f64;
            tier.iter().for_each(|&k| point[k as usize] -= mean);
        }
    }
}

impl DavidsonRating {
    /// Without a penalty, effects or decay.
    pub fn new() -> Self {
        DavidsonRating::default()
    }

    /// With a penalty.
    pub fn c(mut self, c: f64) -> Self {
        self.c = Some(c);
        self
    }

    /// With an effect of being named first.
    pub fn side(mut self) -> Self {
        self.has_side = true;
        self
    }

    /// With games that count half after this time.
    pub fn half_life(mut self, half_life: f64) -> Self {
        self.half_life = Some(half_life);
        self
    }

    /// Finds the ratings.
    ///
    /// ```
    /// use rankwise::data::{Game, Games, Outcome};
    /// use rankwise::rating::DavidsonRating;
    ///
    /// let names = ["Ada", "Bob", "Cid"].map(String::from).to_vec();
    /// let game = |left, right, outcome| Game { time: 0.0, left, right, outcome, is_neutral: false, weight: 1.0 };
    /// let (wins, ties) = ([(0, 1), (1, 2), (2, 0), (0, 2)], [(0, 1)]);
    /// let games = wins.map(|(left, right)| game(left, right, Outcome::Left)).into_iter();
    /// let games = games.chain(ties.map(|(left, right)| game(left, right, Outcome::Tie))).collect();
    /// let found = DavidsonRating::new().fit(&Games::new(names, games)?)?;
    /// assert!(found.ratings[0] > found.ratings[1] && found.gradient < 1e-9);
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn fit(&self, games: &Games) -> Result<DavidsonRatings> {
        self.fit_watched(games, &Unwatched)
    }

    /// The same while `watch` looks on, and perhaps stops it.
    pub fn fit_watched(&self, games: &Games, watch: &dyn Watch) -> Result<DavidsonRatings> {
        self.check()?;
        let weights = self.weights(games);
        let counted: Vec<Game> =
            games.games.iter().zip(&weights).map(|(game, &weight)| Game { weight, ..*game }).collect();
        let parts = Parts::of(games.players.len(), &counted);
        let is_decisive = |game: &Game| game.weight > 0.0 && game.outcome != crate::data::Outcome::Tie;
        let names = self.effect_names(games);
        let unknown = |name: &String| Effect { name: name.clone(), value: None };
        let mut found = DavidsonRatings {
            ratings: vec![None; games.players.len()],
            tie_parameter: 0.0,
            effects: names.iter().map(unknown).collect(),
            log_likelihood: 0.0,
            gradient: 0.0,
            is_converged: true,
            iterations: 0,
            parts,
            left_out: Vec::new(),
            has_side: self.has_side,
            state: None,
        };
        if !counted.iter().any(is_decisive) {
            // Whatever the ratings are, a tie parameter without bounds explains everything.
            found.tie_parameter = if counted.iter().any(|game| game.weight > 0.0) { f64::INFINITY } else { 0.0 };
            if self.c.is_some() {
                // The penalty has the last word.
                found.ratings = found.parts.part.iter().map(|part| part.map(|_| 0.0)).collect();
            }
            return Ok(found);
        }
        let state_without = |left_out: &[usize]| self.state(games, &weights, &found.parts, names.len(), left_out);
        let Some(mut state) = state_without(&[]) else { return Ok(found) };
        if self.c.is_some() {
            loop {
                let left_out = state.leave_out_endless();
                if left_out.is_empty() {
                    break;
                }
                found.left_out.extend(left_out);
                found.left_out.sort_unstable();
                // As if these columns had never been there; others, which said the same, may say something now.
                state = state_without(&found.left_out).unwrap_or(state);
            }
        } else if state.endless_effects().is_some() {
            found.parts.is_separable = true;
            return Ok(found);
        }
        let ending = {
            let mut point = std::mem::take(&mut state.point);
            let ending = newton::minimise(&state.likelihood(&state.counts), &state.held(), EXACT, &mut point, watch)?;
            state.centre(&mut point);
            state.point = point;
            ending
        };
        if !names.is_empty() && state.is_endless(&ending) {
            found.parts.is_separable = true;
            return Ok(found);
        }
        found.take(state, &ending);
        Ok(found)
    }

    fn check(&self) -> Result<()> {
        let positive = |name, value: Option<f64>| match value {
            Some(value) if !(value.is_finite() && value > 0.0) => {
                Err(Error::parameter(name, value, "a finite number above 0"))
            }
            _ => Ok(()),
        };
        positive("C", self.c)?;
        positive("half-life", self.half_life)
    }

    /// The games' weights, less for those long ago.
    fn weights(&self, games: &Games) -> Vec<f64> {
        let last = games.games.last().map_or(0.0, |game| game.time);
        // However long ago, a game is not as if it had not been.
        let decay = |game: &Game| {
            self.half_life.map_or(1.0, |half_life| (-(last - game.time) / half_life).exp2().max(LEAST_DECAY))
        };
        games.games.iter().map(|game| game.weight * decay(game)).collect()
    }

    fn effect_names(&self, games: &Games) -> Vec<String> {
        let side = self.has_side.then(|| FIRST_SIDE.to_string());
        let others = games.covariates.iter().flat_map(|covariates| covariates.names.iter().cloned());
        side.into_iter().chain(others).collect()
    }

    /// What the left side of a game has more than the right one.
    fn effects_of(&self, games: &Games, game: usize, values: &mut Vec<f64>) {
        if self.has_side {
            values.push(f64::from(u8::from(!games.games[game].is_neutral)));
        }
        if let Some(covariates) = &games.covariates {
            values.extend_from_slice(covariates.of(game));
        }
    }

    /// Everything that the search needs, and where it starts; `None` where there is nobody to be rated.
    fn state(
        &self,
        games: &Games,
        weights: &[f64],
        parts: &Parts,
        n_effects: usize,
        left_out: &[usize],
    ) -> Option<State> {
        let tiers: Vec<Vec<u32>> = match self.c {
            None => parts.rated_tiers(),
            Some(_) => {
                let mut all = vec![Vec::new(); parts.part_sizes.len()];
                for (player, part) in (0..).zip(&parts.part) {
                    part.iter().for_each(|&part| all[part as usize].push(player));
                }
                all
            }
        };
        let mut players: Vec<u32> = tiers.iter().flatten().copied().collect();
        players.sort_unstable();
        if players.is_empty() {
            return None;
        }
        let mut number = vec![None; games.players.len()];
        players.iter().enumerate().for_each(|(new, &player)| number[player as usize] = Some(new as u32));
        let renumbered = |tier: &Vec<u32>| tier.iter().filter_map(|&player| number[player as usize]).collect();
        let tiers: Vec<Vec<u32>> = tiers.iter().map(renumbered).collect();
        // Games between tiers say nothing beyond that.
        let counts = |k: usize| {
            let game = &games.games[k];
            self.c.is_some() || parts.tier[game.left as usize] == parts.tier[game.right as usize]
        };
        let weights: Vec<f64> = (0..weights.len()).map(|k| if counts(k) { weights[k] } else { 0.0 }).collect();
        let effects = |k: usize, values: &mut Vec<f64>| {
            let start = values.len();
            self.effects_of(games, k, values);
            left_out.iter().for_each(|&effect| values[start + effect] = 0.0);
        };
        let all = Cells::count(games, &weights, &number, n_effects, effects);
        let meetings = Meetings::new(players.len(), &all);
        let pattern = (players.len() > MAX_DENSE_STEP).then(|| Arc::new(Pattern::new(players.len(), &all.players)));
        let counts = all.counts();
        let n_ties: f64 = counts.iter().map(|counts| counts[cells::TIE]).sum();
        let decided =
            counts.iter().flat_map(|counts| counts.iter().enumerate().filter(|(kind, _)| *kind != cells::TIE));
        let n_decided: f64 = decided.map(|(_, n)| n).sum();
        let mut state = State {
            cells: all,
            meetings,
            pattern,
            counts,
            has_ties: n_ties > 0.0,
            ridge: self.c.map_or(0.0, f64::recip),
            point: Vec::new(),
            players,
            tiers,
            columns: Vec::new(),
        };
        let theta = (2.0 * n_ties / n_decided.max(f64::MIN_POSITIVE)).ln();
        state.choose_columns(theta);
        state.point = vec![0.0; state.players.len() + state.columns.len()];
        if state.has_ties {
            state.point.push(theta);
        }
        Some(state)
    }
}

impl DavidsonRatings {
    /// Reads the answer of a search.
    fn take(&mut self, state: State, ending: &newton::Ending) {
        let n = state.players.len();
        {
            let likelihood = state.likelihood(&state.counts);
            let mut slopes = Vec::new();
            likelihood.cell_slopes(&state.point, &mut slopes);
            let gradient = likelihood.gradient(&state.point, &slopes);
            self.gradient = likelihood.unevenness(&gradient);
            self.log_likelihood = -likelihood.cost(&state.point);
        }
        (self.is_converged, self.iterations) = (ending.is_converged || self.gradient <= FLAT, ending.n_steps);
        for (&player, &rating) in state.players.iter().zip(&state.point) {
            self.ratings[player as usize] = Some(rating);
        }
        for (&(column, size), &value) in state.columns.iter().zip(&state.point[n..]) {
            self.effects[column].value = Some(value / size);
        }
        self.tie_parameter = if state.has_ties { state.point[state.point.len() - 1].exp() } else { 0.0 };
        self.state = Some(state);
    }

    /// The logarithm of the odds of the left side beyond its players: effects times what it has more.
    pub fn effects_on(&self, games: &Games, game: usize) -> f64 {
        let (first, others) = self.effects.split_at(usize::from(self.has_side));
        let is_on = |_: &&Effect| !games.games[game].is_neutral;
        let mut sum: f64 = first.iter().filter(is_on).filter_map(|effect| effect.value).sum();
        if let Some(covariates) = &games.covariates {
            let known = others.iter().zip(covariates.of(game));
            sum += known.filter_map(|(effect, x)| effect.value.map(|value| value * x)).sum::<f64>();
        }
        sum
    }
}
