//! What else helps a side, and the numbers behind the page.

use rankwise::rating::{Estimate, FIRST_SIDE, POINTS};

use super::super::found::rating;
use super::{Board, many, plain, thousands};
use crate::page::Page;
use crate::picture::shortened;
use crate::text::{Facts, number, percent, rounded};

/// Names of columns are cut to about so many pixels.
const NAME: f64 = 280.0;

/// Adds what else helps a side, if anything was looked at.
pub(super) fn effects(page: &mut Page, board: &Board<'_>) {
    if board.found.effects.is_empty() {
        return;
    }
    page.section("What else helps");
    board.found.effects.iter().for_each(|(name, estimate)| page.paragraph(&effect(board, name, estimate)));
}

/// `+62 points for the first-named side (55 to 69): odds of winning against losing × 1.43.`
fn effect(board: &Board<'_>, name: &str, estimate: &Estimate) -> String {
    let whom = match name {
        FIRST_SIDE => "being named first".to_string(),
        _ => format!("one more of {}", shortened(&plain(name), NAME)),
    };
    let Some(value) = estimate.rating else { return format!("The games cannot tell what {whom} is worth.") };
    let is_logits = board.found.system == "davidson" && board.found.unit.name() == "own";
    let unit = if is_logits { "own" } else { "elo" };
    // Small effects of a unit (of a letter, say) need digits that ratings do not.
    let digits = |value: f64| if unit == "elo" && value.abs() < 9.95 { fine(value) } else { rating(value, unit) };
    let signed = if value > 0.0 { format!("+{}", digits(value)) } else { digits(value) };
    let within = estimate.interval.map(|ends| format!(" ({})", ends.map(digits).join(" to "))).unwrap_or_default();
    // What the ratings of other systems say is stretched before it becomes chances.
    let stretch = board.found.told.get("margin_scale").and_then(|scale| scale.as_f64()).unwrap_or(1.0);
    let logits = stretch * if is_logits { value } else { value / POINTS };
    let words = match (board.found.system, board.found.unit.name()) {
        ("davidson", "own") => "in logarithms of odds",
        ("trueskill", "own") => "points of Elo's scale",
        _ => "points",
    };
    let whom = if name == FIRST_SIDE { "the first-named side".into() } else { whom };
    format!("{signed} {words} for {whom}{within}: odds of winning against losing × {}.", three(logits.exp()))
}

fn fine(value: f64) -> String {
    let text = rounded(format!("{value:.2e}").parse().unwrap_or(value));
    text.replace('-', "−")
}

/// Three digits that matter.
fn three(value: f64) -> String {
    rounded(format!("{value:.2e}").parse().unwrap_or(value))
}

/// Adds the numbers behind the page.
pub(super) fn section(page: &mut Page, board: &Board<'_>) {
    let found = board.found;
    let known = |name: &str| found.told.get(name).filter(|value| !value.is_null());
    let value = |name: &str| known(name).and_then(|value| value.as_f64());
    let is_davidson = found.system == "davidson";
    page.section("Facts");
    let mut facts = Facts::default();
    facts.add("system", found.system);
    facts.add(
        "unit",
        match (found.unit.name(), found.system) {
            ("own", "davidson") => "logarithms of odds",
            ("own", "trueskill") => "TrueSkill's own, from 25",
            _ => "points: 400 are odds of 10 : 1",
        },
    );
    if is_davidson {
        facts.add("C", value("C").map_or("none: the likelihood alone".into(), number));
        facts
            .add("half-life", value("half_life").map_or("none: all games count alike".into(), |time| board.span(time)));
    }
    let nu = found.tie_parameter;
    facts.add(
        "tie parameter ν",
        match nu.is_finite() {
            true => format!("{}: a tie between equals has a chance of {}", rounded(nu), percent(nu / (2.0 + nu))),
            false => "infinite: every game is a tie".into(),
        },
    );
    if let Some(value) = value("log_likelihood") {
        facts.add("log-likelihood", rounded(value).replace('-', "−"));
    }
    if let Some(value) = value("gradient") {
        facts.add("largest slope left", format!("{value:.1e} (0 at the exact maximum)").replace('-', "−"));
    }
    if let Some(value) = known("converged").and_then(|value| value.as_bool()) {
        facts.add("converged", if value { "yes" } else { "no" });
    }
    if !is_davidson {
        let period =
            value("period").map_or("games of equal time count as played at once".into(), |time| board.span(time));
        facts.add("period", period);
        if let Some(value) = known("periods").and_then(|value| value.as_u64()) {
            facts.add("periods with games", value.to_string());
        }
    }
    if let Some(value) = value("margin_scale") {
        facts.add(
            "stretch of differences",
            format!("{}: by so much they were multiplied to get the chances that fit the games best", rounded(value)),
        );
    }
    let level = found.intervals.level.map(|level| format!("{} %, ", rounded(100.0 * level)));
    facts.add("intervals", level.unwrap_or_default() + found.intervals.name());
    if let Some(n) = found.intervals.n_resamples {
        facts.add("resamples", n.to_string());
    }
    if let Some(n) = found.intervals.n_groups {
        facts.add("independent groups", n.to_string());
    }
    if let Some(n) = found.intervals.n_draws {
        facts.add("random draws for errors", n.to_string());
    }
    facts.add("items", thousands(found.standings.len()));
    facts.add("games", format!("{}, with {}", thousands(board.games.games.len()), many(board.games.n_ties(), "tie")));
    facts.add("parts without a game between them", found.parts.part_sizes.len().to_string());
    facts.add("seed", board.seed.to_string());
    page.facts(&facts);
}
