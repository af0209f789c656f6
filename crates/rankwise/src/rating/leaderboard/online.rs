//! A leaderboard of a system that goes through the games in order of time.

use std::collections::HashSet;
use std::f64::consts::PI;

use super::{IntervalMethod, Leaderboard, LeaderboardPlan, PairChances, RatingUnit, SystemFacts};
use crate::data::Games;
use crate::error::Result;
use crate::progress::Watch;
use crate::rating::online::LOGITS_PER_POINT;
use crate::rating::{Chances, Estimate, FIRST_SIDE, Free, OnlineRating, Parts, Strength, System, TrueSkill, standings};

/// Differences of ratings that are multiplied by less than this to get chances say nothing.
const UNHEARD: f64 = 0.05;

/// Ratings and what else was found.
pub(super) fn rate(
    games: &Games,
    rating: &OnlineRating,
    plan: &LeaderboardPlan,
    watch: &dyn Watch,
) -> Result<Leaderboard> {
    let clock = std::time::Instant::now();
    let (run, system) = rating.run_to_end(games, &mut |_, _| ())?;
    let seconds_run = clock.elapsed().as_secs_f64();
    let clock = std::time::Instant::now();
    let mut intervals = plan.interval_facts();
    let n_groups = games.groups.as_ref().map(|groups| {
        let distinct: HashSet<u32> = groups.iter().copied().collect();
        distinct.len()
    });
    let bare = |strength: &Option<Strength>| Estimate::bare(strength.map(|known| known.rating));
    let estimates: Vec<Estimate> = match (plan.level, plan.method) {
        (None, _) => run.strengths.iter().map(bare).collect(),
        (_, IntervalMethod::Bootstrap) if n_groups == Some(1) => {
            intervals.n_groups = n_groups;
            run.strengths.iter().map(bare).collect()
        }
        (Some(level), IntervalMethod::Bootstrap) => {
            let resamples = rating.resample_watched(games, plan.n_resamples, plan.seed, watch)?;
            intervals.n_resamples = Some(plan.n_resamples);
            intervals.n_groups = n_groups;
            let within = |(player, strength): (usize, &Option<Strength>)| {
                let mut numbers = resamples.of(player).to_vec();
                numbers.sort_unstable_by(f64::total_cmp);
                level.within(strength.map(|strength| strength.rating), &numbers, 1.0, n_groups.map(|n| n as f64))
            };
            run.strengths.iter().enumerate().map(within).collect()
        }
        (Some(level), _) => {
            let around = |strength: &Option<Strength>| {
                level.around(strength.map(|known| known.rating), strength.map(|known| known.deviation), None)
            };
            run.strengths.iter().map(around).collect()
        }
    };
    let seconds_intervals = clock.elapsed().as_secs_f64();
    let [factor, shift] = rating.told_in(plan.unit);
    let estimates: Vec<Estimate> = estimates.iter().map(|estimate| estimate.scaled(factor, shift)).collect();
    let parts = Parts::of(games.players.len(), &games.games);
    let free = Free { scale: true, side: false };
    let chances = Chances::fit(&run.margins, &games.games, free)?;
    let mut warnings = Vec::new();
    if chances.scale < UNHEARD {
        warnings.push(
            "what these ratings said before the games has next to nothing to do with how they ended; chances hardly \
             depend on ratings"
                .into(),
        );
    }
    if run.advantage.is_none() {
        warnings.push(format!(
            "left out: the effect of {FIRST_SIDE}, as no game tells of it or one side won all that do; winners that are named \
             first are no effect: leave out --side"
        ));
    }
    let effects = match plan.system.has_side() {
        true => vec![(FIRST_SIDE.to_string(), Estimate::bare(run.advantage))],
        false => Vec::new(),
    };
    let time = games.games.last().map_or(0.0, |game| game.time);
    let scale = parts.part.clone();
    let strengths = (0..scale.len() as u32).map(|player| system.strength(player, time));
    let (ratings, deviations) = strengths.map(|strength| (strength.rating, strength.deviation)).unzip();
    Ok(Leaderboard {
        system: rating.system.name(),
        unit: plan.unit,
        standings: standings(games, &estimates, &parts, &scale),
        parts,
        intervals,
        effects,
        tie_parameter: chances.ties,
        facts: SystemFacts::Online { period: run.period, n_periods: run.n_periods, margin_scale: chances.scale },
        warnings,
        seconds: [seconds_run, seconds_intervals],
        pair_chances: PairChances {
            ratings,
            deviations,
            scales: scale,
            slope: LOGITS_PER_POINT,
            blur: rating.blur(),
            chances,
        },
    })
}

impl OnlineRating {
    /// What deviations take from margins, see [`PairChances`]: Glickman's g, and what TrueSkill adds to the variance of
    /// performances.
    fn blur(&self) -> f64 {
        match self.system {
            System::Elo { .. } => 0.0,
            System::Glicko { .. } | System::Glicko2 { .. } => 3.0 * (LOGITS_PER_POINT / PI).powi(2),
            System::TrueSkill { .. } => PI / 8.0 * LOGITS_PER_POINT.powi(2),
        }
    }

    /// From points to what ratings are told in: a factor, and what is added. On its own scale TrueSkill's ratings are μ; those
    /// of the others are points anyway.
    pub fn told_in(&self, unit: RatingUnit) -> [f64; 2] {
        match (unit, self.system) {
            (RatingUnit::Own, System::TrueSkill { .. }) => {
                let own = TrueSkill::own_scale(self.start);
                [own(1.0) - own(0.0), own(0.0)]
            }
            _ => [1.0, 0.0],
        }
    }
}
