//! Systems that go on learning game by game.

use super::{Course, Forecast, chances_of};
use crate::data::{Games, Outcome};
use crate::error::Result;
use crate::rating::{Advantage, Chances, Dynamics, Free, KFactor, OnlineRating, System};

/// Settings that are tried for each system, with what they are called.
fn settings(ties: f64) -> [Vec<(String, System)>; 4] {
    let elo = [4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0];
    let growth = [5.0, 15.0, 34.641_016_151_377_55, 80.0];
    let volatility = [0.02, 0.06, 0.15];
    let dynamics = [1.0 / 48.0, 1.0 / 12.0, 1.0 / 3.0, 1.0];
    [
        elo.map(|k| (format!("K {k}"), System::Elo { k: KFactor::Constant(k) })).to_vec(),
        growth.map(|growth| (format!("c {growth:.0}"), System::Glicko { growth })).to_vec(),
        volatility.map(|volatility| (format!("σ {volatility}"), System::Glicko2 { tau: 0.5, volatility })).to_vec(),
        dynamics
            .map(|tau| {
                let dynamics = Dynamics::EachPeriod(tau);
                (format!("τ {tau:.3}"), System::TrueSkill { draws: Some(ties), dynamics })
            })
            .to_vec(),
    ]
}

/// Shares of the usual length of a period that are tried, too.
const SHORTER: [f64; 2] = [0.2, 0.04];

/// All systems, each with the settings that predicted best before the split.
pub(super) fn contenders(course: &Course<'_>) -> Result<Vec<(&'static str, String, Forecast)>> {
    let before = course.before(course.split);
    let weight = |is_counted: fn(Outcome) -> bool| {
        before.games.iter().filter(|game| is_counted(game.outcome)).map(|game| game.weight).sum::<f64>()
    };
    let ties = (weight(|outcome| outcome == Outcome::Tie) / weight(|_| true)).min(0.99);
    let mut found = Vec::new();
    for tried in settings(ties) {
        let mut best: Option<(f64, String, OnlineRating)> = None;
        for (words, system) in tried {
            let advantage = if course.has_side { Advantage::Fitted } else { Advantage::None };
            let rating = OnlineRating::new(system).advantage(advantage).period(course.period);
            let mut run = rating.run(&before)?;
            // What depends on games is settled by those before the split.
            let rating = rating.advantage(Advantage::Points(run.advantage.unwrap_or(0.0))).period(run.period);
            // Shorter periods keep up with what happens.
            let usual = run.period.filter(|_| course.period.is_none());
            let shorter = usual.into_iter().flat_map(|length| SHORTER.map(|share| Some(share * length)));
            for period in [run.period].into_iter().chain(shorter) {
                let rating = rating.period(period);
                if period != run.period {
                    run = rating.run(&before)?;
                }
                let loss = chances(course, &before, &run.margins)?.1;
                if best.as_ref().is_none_or(|best| loss < best.0) {
                    let period = period.map_or(String::new(), |period| format!(", periods of {}", length(period)));
                    best = Some((loss, format!("{words}{period}"), rating));
                }
            }
        }
        let Some((_, words, rating)) = best else { continue };
        let run = rating.run(course.games)?;
        let (fitted, _) = chances(course, &before, &run.margins)?;
        let games = course.games.games.iter().zip(&run.margins).skip(course.split);
        let forecast = chances_of(&fitted, games.map(|(game, &margin)| (margin, game.is_neutral)));
        found.push((rating.system.name(), words, forecast));
    }
    Ok(found)
}

/// A length of time with the digits that matter.
fn length(period: f64) -> String {
    if period >= 10.0 { format!("{period:.0}") } else { format!("{period:.2}") }
}

/// From margins to probabilities, fitted to the later games before the split, and their log-loss on these.
fn chances(course: &Course<'_>, before: &Games, margins: &[f64]) -> Result<(Chances, f64)> {
    let range = course.choice..course.split;
    let (margins, games) = (&margins[range.clone()], &before.games[range]);
    let fitted = Chances::fit(margins, games, Free { scale: true, side: course.has_side })?;
    let loss = fitted.log_loss(margins, games)?.unwrap_or(f64::INFINITY);
    Ok((fitted.with_all_possible(games), loss))
}
