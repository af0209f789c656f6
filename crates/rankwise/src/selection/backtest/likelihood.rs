//! Ratings of maximum likelihood, learnt anew a few times.

use super::{Course, Forecast, chances_of};
use crate::data::Games;
use crate::error::Result;
use crate::rating::{Chances, DavidsonRating, DavidsonRatings};

/// Penalties that are tried; without any, new players and those who never lost have no rating.
const C: [f64; 3] = [0.1, 1.0, 10.0];
/// Half-lives that are tried beside none, as shares of the time before the split.
const HALF_LIVES: [f64; 3] = [0.5, 0.15, 0.04];

/// The system with the settings that predicted best before the split.
pub(super) fn contender(course: &Course<'_>) -> Result<(&'static str, String, Forecast)> {
    let games = &course.games.games;
    let time = games[course.split - 1].time - games[0].time;
    let half_lives = HALF_LIVES.into_iter().map(|share| Some(share * time)).filter(|life| *life > Some(0.0));
    let (early, chosen) = (course.before(course.choice), course.choice..course.split);
    let mut best: Option<(f64, DavidsonRating)> = None;
    for half_life in [None].into_iter().chain(half_lives) {
        for c in C {
            let mut rating = DavidsonRating::new().c(c);
            (rating.half_life, rating.has_side) = (half_life, course.has_side);
            let forecast = forecast(&rating.fit(&early)?, course.games, chosen.clone());
            let loss: f64 = games[chosen.clone()]
                .iter()
                .zip(&forecast)
                .map(|(game, p)| -game.weight * p[game.outcome as usize].max(super::LEAST_CHANCE).ln())
                .sum();
            if best.is_none_or(|best| loss < best.0) {
                best = Some((loss, rating));
            }
        }
    }
    let rating = best.map_or(DavidsonRating::new().c(1.0), |best| best.1);
    let mut predicted = Forecast::new();
    for (start, part) in course.parts() {
        predicted.extend(forecast(&rating.fit(&course.before(start))?, course.games, part));
    }
    let half_life = rating.half_life.map_or("no decay".into(), |half_life| format!("half-life {half_life:.0}"));
    let c = rating.c.unwrap_or(f64::INFINITY);
    Ok(("davidson", format!("C {c}, {half_life}"), predicted))
}

fn forecast(fit: &DavidsonRatings, games: &Games, part: std::ops::Range<usize>) -> Forecast {
    let chances = Chances { scale: 1.0, side: 0.0, ties: fit.tie_parameter };
    let rating = |player: u32| fit.ratings[player as usize].unwrap_or(0.0);
    let ahead = part.clone().map(|k| {
        let game = &games.games[k];
        (rating(game.left) - rating(game.right) + fit.effects_on(games, k), true)
    });
    chances_of(&chances.with_all_possible(&games.games[..part.start]), ahead)
}
