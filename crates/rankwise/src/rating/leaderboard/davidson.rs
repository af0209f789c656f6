//! A leaderboard of maximum likelihood.

use super::first_names as names;
use super::{IntervalFacts, IntervalMethod, Leaderboard, LeaderboardPlan, PairChances, RatingUnit, SystemFacts};
use crate::data::Games;
use crate::error::Result;
use crate::progress::Watch;
use crate::rating::{Chances, DavidsonRating, DavidsonRatings, Estimate, POINTS, standings};

/// Ratings and what else was found.
pub(super) fn rate(
    games: &Games,
    rating: &DavidsonRating,
    plan: &LeaderboardPlan,
    watch: &dyn Watch,
) -> Result<Leaderboard> {
    let clock = std::time::Instant::now();
    let fit = rating.fit_watched(games, watch)?;
    let seconds_fit = clock.elapsed().as_secs_f64();
    let clock = std::time::Instant::now();
    let known = Known::new(&fit, plan, watch)?;
    let seconds_intervals = clock.elapsed().as_secs_f64();
    let scale = if rating.c.is_some() { &fit.parts.part } else { &fit.parts.tier };
    let factor = if plan.unit == RatingUnit::Elo { POINTS } else { 1.0 };
    let estimates: Vec<Estimate> = known.ratings.iter().map(|estimate| estimate.scaled(factor, 0.0)).collect();
    let effects = fit.effects.iter().zip(&known.effects);
    Ok(Leaderboard {
        system: "davidson",
        unit: plan.unit,
        standings: standings(games, &estimates, &fit.parts, scale),
        parts: fit.parts.clone(),
        intervals: known.intervals,
        effects: effects.map(|(effect, estimate)| (effect.name.clone(), estimate.scaled(factor, 0.0))).collect(),
        tie_parameter: fit.tie_parameter,
        facts: SystemFacts::Davidson {
            c: rating.c,
            half_life: rating.half_life,
            log_likelihood: fit.log_likelihood,
            gradient: fit.gradient,
            is_converged: fit.is_converged,
            iterations: fit.iterations,
            is_separable: fit.parts.is_separable,
        },
        warnings: warnings(games, &fit, rating),
        seconds: [seconds_fit, seconds_intervals],
        pair_chances: chances(&fit, scale),
    })
}

/// The model's own, on neutral ground.
fn chances(fit: &DavidsonRatings, scales: &[Option<u32>]) -> PairChances {
    let ties = fit.tie_parameter;
    // With nothing but ties, a tie is certain, whatever the ratings are.
    let is_known = |rating: Option<f64>| rating.is_some() || ties == f64::INFINITY;
    let scales = if ties == f64::INFINITY { &fit.parts.part } else { scales };
    PairChances {
        ratings: fit.ratings.iter().map(|rating| rating.unwrap_or(0.0)).collect(),
        deviations: vec![0.0; fit.ratings.len()],
        scales: scales.iter().zip(&fit.ratings).map(|(scale, &rating)| scale.filter(|_| is_known(rating))).collect(),
        slope: 1.0,
        blur: 0.0,
        chances: Chances { scale: 1.0, side: 0.0, ties },
    }
}

/// How sure everything is.
struct Known {
    ratings: Vec<Estimate>,
    effects: Vec<Estimate>,
    intervals: IntervalFacts,
}

impl Known {
    fn new(fit: &DavidsonRatings, plan: &LeaderboardPlan, watch: &dyn Watch) -> Result<Self> {
        let mut intervals = plan.interval_facts();
        let effects = || fit.effects.iter().map(|effect| effect.value);
        // One group alone does not show how much groups vary.
        let n_groups = fit.n_groups().filter(|n| *n == 1 && plan.level.is_some());
        let Some(level) = plan.level.filter(|_| n_groups.is_none()) else {
            intervals.n_groups = n_groups;
            return Ok(Known {
                ratings: fit.ratings.iter().copied().map(Estimate::bare).collect(),
                effects: effects().map(Estimate::bare).collect(),
                intervals,
            });
        };
        if plan.method == IntervalMethod::Bootstrap {
            let resamples = fit.bootstrap_watched(plan.n_resamples, plan.seed, watch)?;
            intervals.n_resamples = Some(plan.n_resamples);
            intervals.n_groups = fit.n_groups();
            let (small, n_groups) = (resamples.small_sample, resamples.effective_groups);
            let within = |(value, numbers): (Option<f64>, &Vec<f64>)| level.within(value, numbers, small, n_groups);
            let rating = |k: usize| {
                let compared = within((fit.ratings[k], &resamples.comparisons[k])).interval;
                let estimate = within((fit.ratings[k], &resamples.ratings[k])).compared(compared);
                level.at_least(estimate, resamples.least_errors[k])
            };
            return Ok(Known {
                ratings: (0..fit.ratings.len()).map(rating).collect(),
                effects: effects().zip(&resamples.effects).map(within).collect(),
                intervals,
            });
        }
        let errors = fit.standard_errors_watched(watch)?;
        (intervals.n_groups, intervals.n_draws) = (errors.n_groups, errors.n_draws);
        let around = |(value, error): (Option<f64>, &Option<f64>)| level.around(value, *error, errors.effective_groups);
        let rating = |k: usize| {
            let compared = around((fit.ratings[k], &errors.comparisons[k])).interval;
            around((fit.ratings[k], &errors.ratings[k])).compared(compared)
        };
        Ok(Known {
            ratings: (0..fit.ratings.len()).map(rating).collect(),
            effects: effects().zip(&errors.effects).map(around).collect(),
            intervals,
        })
    }
}

/// Odds of 20,000 to 1 against the average are more than games can show: 1,700 points.
const FAR: f64 = 1700.0 / POINTS;

/// What the games cannot tell.
fn warnings(games: &Games, fit: &DavidsonRatings, rating: &DavidsonRating) -> Vec<String> {
    const REMEDY: &str = "--C 1 gives finite ratings";
    let mut warnings = Vec::new();
    let has_ratings = fit.ratings.iter().any(Option::is_some);
    let unrated: Vec<&str> = (0..games.players.len())
        .filter(|&k| fit.parts.part[k].is_some() && fit.ratings[k].is_none())
        .map(|k| games.players[k].as_str())
        .collect();
    if fit.tie_parameter == f64::INFINITY {
        let given = if has_ratings { "all ratings are 0" } else { "no rating is given" };
        warnings.push(format!("every game is a tie: nothing tells the items apart, and {given}"));
    } else if fit.parts.is_separable && !has_ratings {
        warnings.push(match fit.effects.is_empty() {
            true => format!(
                "wins and ties can be told apart perfectly, so that ratings and the tie parameter grow without end: no \
                     rating is given; {REMEDY}"
            ),
            false => format!(
                "ratings and effects together tell the games perfectly, and grow without end ({}): no rating is given; \
                     leave out --side, or the columns of the effect",
                names(&fit.effects.iter().map(|effect| effect.name.as_str()).collect::<Vec<_>>())
            ),
        });
    } else if !unrated.is_empty() {
        warnings.push(format!(
            "{} {} without a finite rating ({}): the games between {} and the others were all won by one side; {REMEDY}",
            unrated.len(),
            if unrated.len() == 1 { "item" } else { "items" },
            names(&unrated),
            if unrated.len() == 1 { "it" } else { "them" }
        ));
    }
    let far: Vec<&str> = (0..games.players.len())
        .filter(|&k| fit.ratings[k].is_some_and(|rating| rating.abs() > FAR))
        .map(|k| games.players[k].as_str())
        .collect();
    if !far.is_empty() {
        warnings.push(format!(
            "ratings of more than 1700 points from the average, which rest on a few surprises: {}; {} draws them in",
            names(&far),
            if rating.c.is_some() { "a smaller --C" } else { "--C 1" }
        ));
    }
    let mut scales: Vec<(u32, u32)> = (0..games.players.len())
        .filter(|&k| rating.c.is_none() && fit.ratings[k].is_some())
        .filter_map(|k| fit.parts.part[k].zip(fit.parts.tier[k]))
        .collect();
    scales.sort_unstable();
    scales.dedup();
    let n_split = scales.chunk_by(|a, b| a.0 == b.0).filter(|tiers| tiers.len() > 1).map(<[_]>::len).sum::<usize>();
    if n_split > 0 {
        warnings.push(format!(
            "{n_split} sets of items have ratings of their own (column scale): all games between two of them were won by \
             one side; {REMEDY} on one scale"
        ));
    }
    if !fit.left_out.is_empty() {
        let left_out: Vec<&str> = fit.left_out.iter().map(|&k| fit.effects[k].name.as_str()).collect();
        warnings.push(format!(
            "left out: the effect of {}, which tells the games perfectly whatever the ratings are, and has no finite size; \
             what is known only after a game (its score, or winners that are named first) is no effect: leave out its \
             columns, or --side",
            names(&left_out)
        ));
    }
    let is_unknown = |&k: &usize| fit.effects[k].value.is_none() && !fit.left_out.contains(&k);
    let unknown: Vec<&str> = (0..fit.effects.len()).filter(is_unknown).map(|k| fit.effects[k].name.as_str()).collect();
    if !unknown.is_empty() && has_ratings {
        warnings.push(format!(
            "the games cannot tell the effect of {}: it says nothing beyond who plays (or beyond the effects before it)",
            names(&unknown)
        ));
    }
    if !fit.is_converged {
        warnings.push(format!(
            "the search for the maximum ended early, with a slope of {:.1e} left; ratings may be far off",
            fit.gradient
        ));
    }
    warnings
}
