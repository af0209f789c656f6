//! Options of `rate`.

use std::path::PathBuf;

use clap::Args;
use rankwise::rating::{IntervalMethod, KFactor, RatingUnit};

use super::choice::{self, Intervals, SystemName};
use super::data::{DataArgs, FormatArg};

/// `rate`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankwise rate --pairs battles.csv
  rankwise rate --pairs battles.csv -o board.html -o board.csv --anchor gpt-4=1000
  rankwise rate --pairs battles.csv --group judge --ci 0.9 --ci-method bootstrap
  rankwise rate --pairs matches.csv --side --half-life 1460
  rankwise rate --pairs matches.csv --system glicko2
  rankwise rate --pairs matches.csv --items teams.csv --backtest

davidson finds the ratings under which the games are most likely, ties included; the order of games
does not matter. elo, glicko, glicko2 and trueskill go through the games in order of the column time
(or of the rows). 400 points are odds of 10 : 1. Ratings that the games cannot tell (no chain of
games between two items, or an item that won or lost everything) are not invented: the table says
so, and --C gives finite ones. A rank is a range: who is above or below for certain, by intervals
that do not overlap (without the doubt about where the average lies, which all items share).

Columns left.NAME and right.NAME (the length of an answer, say) are effects that davidson fits
together with the ratings; --side is that of being named first, where pair.neutral is 0.
--backtest predicts every game of the last part before it is seen, by every system, and by machines
on features if there are any.")]
pub(crate) struct RateArgs {
    #[command(flatten)]
    pub(crate) source: DataArgs,
    /// Column of times: dates (2024-03-01, 2024-03-01T18:30:00) or numbers [default: time]
    #[arg(long, value_name = "COL", help_heading = "Data")]
    pub(crate) time: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArg,
    /// How ratings are found [default: davidson]
    #[arg(long, value_name = "NAME", value_parser = choice::system(), help_heading = "System")]
    pub(crate) system: Option<SystemName>,
    /// davidson: minimise ½‖ratings‖² + C·(−log likelihood) instead of the likelihood alone
    #[arg(long = "C", value_name = "X", allow_negative_numbers = true, help_heading = "System")]
    pub(crate) c: Option<f64>,
    /// davidson: after so much time (days, where times are dates) a game counts half
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "System")]
    pub(crate) half_life: Option<f64>,
    /// Fit what being named first is worth: home, the white pieces, the first answer
    #[arg(long, help_heading = "System")]
    pub(crate) side: bool,
    /// elo: how far a game may move a rating, or `fide` for the rules of chess (40 in the
    /// first 30 games, then 20, from 2400 on 10) [default: 32]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = choice::k_factor, help_heading = "System")]
    pub(crate) k: Option<KFactor>,
    /// elo, glicko, glicko2, trueskill: games within so much time count as played at once [default: games of equal time;
    /// glicko, glicko2: about ten games of a player]
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "System")]
    pub(crate) period: Option<f64>,
    /// The share of cases in which intervals should hold what is true, or `none`: no intervals, which saves their time
    /// [default: 0.95]
    #[arg(
        long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.95",
        value_parser = Intervals::parse, help_heading = "Intervals"
    )]
    pub(crate) ci: Option<Intervals>,
    /// sandwich: errors that hold even if the model does not (davidson); bootstrap: resampled games; own: the deviations
    /// that glicko, glicko2 and trueskill keep. With groups, whole groups are independent, games are not [default:
    /// sandwich, own; elo: bootstrap]
    #[arg(long, value_name = "METHOD", value_parser = choice::interval_method(), help_heading = "Intervals")]
    pub(crate) ci_method: Option<IntervalMethod>,
    /// Resamples of the bootstrap [default: 1000; elo: 200]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000), help_heading = "Intervals")]
    pub(crate) resamples: Option<u64>,
    /// Where to write the leaderboard: .html (a page with pictures), .csv or .json; may be given several times
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Vec<PathBuf>,
    /// Where to write the probabilities of every pair of items, as csv
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) chances: Option<PathBuf>,
    /// Move all ratings so that this item has this one
    #[arg(long, value_name = "ITEM=RATING", value_parser = choice::anchor, help_heading = "Output")]
    pub(crate) anchor: Option<(String, f64)>,
    /// elo: 400 points are odds of 10 : 1; own: the system's own (davidson: logarithms of odds; trueskill: μ from 25)
    #[arg(long, value_name = "UNIT", default_value = "elo", value_parser = choice::unit(), help_heading = "Output")]
    pub(crate) unit: RatingUnit,
    /// Lines of the table and items on the page; 0 means all [default: 50; on the page 25]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) top: Option<usize>,
    /// Predict every game of the last part before it is seen, by every system, instead of a leaderboard
    #[arg(long, help_heading = "Backtest")]
    pub(crate) backtest: bool,
    /// The share of the games, the first ones, that are only learnt from [default: 0.7]
    #[arg(long, value_name = "SHARE", requires = "backtest", allow_negative_numbers = true, help_heading = "Backtest")]
    pub(crate) split: Option<f64>,
}
