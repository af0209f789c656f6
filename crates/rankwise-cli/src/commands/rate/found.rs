//! What a system has found out, told as a table, as csv and as JSON.

use rankwise::data::Games;
use rankwise::rating::{Estimate, Leaderboard, Standing, SystemFacts, short_name as short};
use serde_json::{Map, Value, json};

use crate::text::{csv_field, number, rounded, wide_table};

/// Lines of the leaderboard whose chances against each other are in the JSON.
const CHANCES_IN_JSON: usize = 30;

/// A leaderboard to be told.
pub(super) struct Found {
    /// The leaderboard.
    pub(super) board: Leaderboard,
    /// What only its system has to say, by the names of JSON.
    pub(super) told: Map<String, Value>,
}

impl From<Leaderboard> for Found {
    fn from(board: Leaderboard) -> Self {
        let mut told = Map::new();
        let mut add = |name: &str, value: Value| told.insert(name.into(), value);
        match board.facts {
            SystemFacts::Davidson {
                c,
                half_life,
                log_likelihood,
                gradient,
                is_converged,
                iterations,
                is_separable,
            } => {
                add("C", json!(c));
                add("half_life", json!(half_life));
                add("log_likelihood", json!(log_likelihood));
                add("gradient", json!(gradient));
                add("converged", json!(is_converged));
                add("iterations", json!(iterations));
                add("separable", json!(is_separable));
            }
            SystemFacts::Online { period, n_periods, margin_scale } => {
                add("period", json!(period));
                add("periods", json!(n_periods));
                add("margin_scale", json!(margin_scale));
            }
        }
        Found { board, told }
    }
}

impl std::ops::Deref for Found {
    type Target = Leaderboard;

    fn deref(&self) -> &Leaderboard {
        &self.board
    }
}

/// A rating for people to read: points need no decimals, logarithms do.
pub(super) fn rating(value: f64, unit: &str) -> String {
    match unit {
        "elo" => format!("{value:.0}").replace("-0", "0").replace('-', "−"),
        _ => format!("{value:.3}").replace('-', "−"),
    }
}

/// `1`, or `1–3`.
pub(super) fn ranks([best, worst]: [usize; 2]) -> String {
    if best == worst { best.to_string() } else { format!("{best}–{worst}") }
}

impl Found {
    fn name<'a>(&self, games: &'a Games, line: &Standing) -> &'a str {
        &games.players[line.player as usize]
    }

    /// What tells which ratings can be compared: equal words can.
    pub(super) fn scale(&self, line: &Standing) -> String {
        line.scale.map_or("–".into(), |scale| (scale + 1).to_string())
    }

    /// The table, cut after so many lines.
    pub(super) fn text(&self, games: &Games, top: usize) -> String {
        let mut header = vec!["item", "rank", "rating", "low", "high", "games", "won", "tied", "lost"];
        if self.has_scales() {
            header.insert(1, "scale");
        }
        let cell = |value: Option<f64>| value.map_or("–".to_string(), |value| rating(value, self.unit.name()));
        let shown = if top == 0 { self.standings.len() } else { top.min(self.standings.len()) };
        let row = |line: &Standing| {
            let Estimate { rating, interval, .. } = line.estimate;
            let record = &line.record;
            let mut row = vec![
                short(self.name(games, line)),
                ranks(line.ranks),
                cell(rating),
                cell(interval.map(|ends| ends[0])),
                cell(interval.map(|ends| ends[1])),
                rounded(record.games()),
            ];
            row.extend([record.wins, record.ties, record.losses].map(rounded));
            if self.has_scales() {
                row.insert(1, self.scale(line));
            }
            row
        };
        let mut text = wide_table(&header, self.standings[..shown].iter().map(row));
        let n_more = self.standings.len() - shown;
        if n_more > 0 {
            text += &format!("… and {n_more} more (--top 0 shows all, -o board.csv keeps them)\n");
        }
        for (name, effect) in &self.effects {
            let name = short(name);
            let Estimate { rating: value, interval, .. } = *effect;
            // What online systems add for a side is points, whatever ratings are told in.
            let unit = if self.system == "davidson" { self.unit.name() } else { "elo" };
            let word = if unit == "elo" { "points" } else { "in logarithms of odds" };
            let told = |value: f64| rating(value, unit);
            text += &match (value, interval) {
                (Some(value), Some([low, high])) => {
                    format!("{name}: {} {word} ({} to {})\n", told(value), told(low), told(high))
                }
                (Some(value), None) => format!("{name}: {} {word}\n", told(value)),
                (None, _) => format!("{name}: the games cannot tell\n"),
            };
        }
        text
    }

    /// One row per item.
    pub(super) fn csv(&self, games: &Games) -> String {
        let mut csv =
            "item,part,scale,rank_low,rank_high,rating,se,low,high,compare_low,compare_high,games,wins,ties,losses\n"
                .to_string();
        let cell = |value: Option<f64>| value.map_or(String::new(), number);
        for line in &self.standings {
            let Estimate { rating, error, interval, .. } = line.estimate;
            let [low, high] = [0, 1].map(|end| cell(interval.map(|ends| ends[end])));
            let compared = line.estimate.for_comparing();
            let [from, to] = [0, 1].map(|end| cell(compared.map(|ends| ends[end])));
            let record = &line.record;
            csv += &format!(
                "{},{},{},{},{},{},{},{low},{high},{from},{to},{},{},{},{}\n",
                csv_field(self.name(games, line)),
                line.part + 1,
                line.scale.map_or(String::new(), |scale| (scale + 1).to_string()),
                line.ranks[0],
                line.ranks[1],
                cell(rating),
                cell(error),
                number(record.games()),
                number(record.wins),
                number(record.ties),
                number(record.losses)
            );
        }
        csv
    }

    /// Everything.
    pub(super) fn json(&self, games: &Games) -> Map<String, Value> {
        let line = |line: &Standing| {
            let Estimate { rating, error, interval, .. } = line.estimate;
            let record = &line.record;
            json!({
                "item": self.name(games, line), "rating": rating, "se": error,
                "low": interval.map(|ends| ends[0]), "high": interval.map(|ends| ends[1]),
                "compare_low": line.estimate.for_comparing().map(|ends| ends[0]),
                "compare_high": line.estimate.for_comparing().map(|ends| ends[1]),
                "rank_low": line.ranks[0], "rank_high": line.ranks[1], "part": line.part + 1, "scale": line.scale.map(|scale| scale + 1),
                "games": record.games(), "wins": record.wins, "ties": record.ties, "losses": record.losses,
            })
        };
        let effect = |(name, effect): &(String, Estimate)| {
            json!({
                "name": name, "value": effect.rating, "se": effect.error,
                "low": effect.interval.map(|ends| ends[0]), "high": effect.interval.map(|ends| ends[1]),
            })
        };
        let ci = json!({
            "level": self.intervals.level, "method": self.intervals.name(), "resamples": self.intervals.n_resamples,
            "groups": self.intervals.n_groups, "draws": self.intervals.n_draws,
        });
        let mut known = Map::new();
        let mut add = |name: &str, value: Value| known.insert(name.into(), value);
        add("system", json!(self.system));
        add("unit", json!(self.unit.name()));
        add("games", json!(games.games.iter().filter(|game| game.weight > 0.0).count()));
        add("items", json!(self.standings.len()));
        add("ties", json!(games.n_ties()));
        // JSON has no infinity.
        add("tie_parameter", if self.tie_parameter.is_finite() { json!(self.tie_parameter) } else { json!("inf") });
        add("ci", ci);
        add("leaderboard", self.standings.iter().map(line).collect());
        add("effects", self.effects.iter().map(effect).collect());
        add("parts", json!(self.parts.part_sizes));
        add("chances", self.chances_json(games));
        known.extend(self.told.clone());
        known
    }

    /// The chances of all pairs of the first lines.
    fn pairs<'a>(&'a self, n: usize) -> impl Iterator<Item = (u32, u32, [f64; 3])> + 'a {
        let players = self.standings[..n.min(self.standings.len())].iter().map(|line| line.player).enumerate();
        players.flat_map(move |(at, left)| {
            let others = self.standings[at + 1..n.min(self.standings.len())].iter().map(|line| line.player);
            others.filter_map(move |right| Some((left, right, self.chances(left, right)?)))
        })
    }

    fn chances_json(&self, games: &Games) -> Value {
        let name = |player: u32| &games.players[player as usize];
        let pair = |(left, right, [p_left, p_tie, p_right]): (u32, u32, [f64; 3])| json!({ "left": name(left), "right": name(right), "p_left": p_left, "p_tie": p_tie, "p_right": p_right });
        self.pairs(CHANCES_IN_JSON).map(pair).collect()
    }

    /// The chances of all pairs as csv.
    pub(super) fn chances_csv(&self, games: &Games) -> String {
        let mut csv = "left,right,p_left,p_tie,p_right\n".to_string();
        for (left, right, chances) in self.pairs(usize::MAX) {
            let [left, right] = [left, right].map(|player| csv_field(&games.players[player as usize]));
            let [p_left, p_tie, p_right] = chances.map(number);
            csv += &format!("{left},{right},{p_left},{p_tie},{p_right}\n");
        }
        csv
    }
}
