//! What `rate` was asked to do.

use std::path::{Path, PathBuf};

use rankwise::data::Precision;
use rankwise::io::PairFiles;
use rankwise::rating::{
    Advantage, DavidsonRating, IntervalMethod, LeaderboardPlan, Level, OnlineRating, RatingSystem, System,
};

use super::{pair_files, refuse};
use crate::args::{Intervals, RateArgs, SystemName};
use crate::exit::{Failure, Run};

/// The share of games that a backtest only learns from.
const SPLIT: f64 = 0.7;

/// A leaderboard, or the comparison of systems.
pub(crate) struct RatePlan {
    /// The games.
    pub(crate) files: PairFiles,
    /// How the leaderboard is made.
    pub(crate) board: LeaderboardPlan,
    /// Where to write, and what.
    pub(crate) targets: Vec<(PathBuf, Shape)>,
    /// The share of games that are only learnt from, where systems are compared.
    pub(crate) split: Option<f64>,
}

/// What a file is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A page.
    Page,
    /// A table.
    Csv,
    /// Everything.
    Json,
    /// The chances of all pairs, as csv.
    Chances,
}

impl Shape {
    fn of(path: &Path) -> Run<Self> {
        let extension = path.extension().and_then(|text| text.to_str()).map(str::to_lowercase);
        match extension.as_deref() {
            Some("html" | "htm") => Ok(Shape::Page),
            Some("csv") => Ok(Shape::Csv),
            Some("json") => Ok(Shape::Json),
            _ => Err(Failure::Usage(format!(
                "{}: a leaderboard is written as a page (.html), as csv (.csv) or as JSON (.json); give the file such a \
                 name",
                path.display()
            ))),
        }
    }
}

/// What `rate` was asked to do.
pub(crate) fn rate(args: &RateArgs) -> Run<RatePlan> {
    let mut files = pair_files(&args.source, args.format.format, Precision::F64)?;
    files.as_games = true;
    files.columns.time = args.time.clone();
    let level = match args.ci.unwrap_or(Intervals::Share(0.95)) {
        Intervals::None => None,
        Intervals::Share(ci) => Some(Level::new(ci).map_err(|_| {
            Failure::Usage(format!("--ci {ci} is no share between 0 and 1; try --ci 0.95, or --ci none"))
        })?),
    };
    if level.is_none() {
        let of_intervals = [("--ci-method", args.ci_method.is_some()), ("--resamples", args.resamples.is_some())];
        refuse(&of_intervals, "--ci none", "leave one of them out")?;
    }
    let (system, method) = system(args)?;
    let n_resamples = args.resamples.map_or(system.usual_resamples(), |n| n as usize);
    let board = LeaderboardPlan { system, method, level, n_resamples, unit: args.unit, seed: 0 };
    let mut targets = Vec::new();
    for path in &args.output {
        targets.push((path.clone(), Shape::of(path)?));
    }
    if args.chances.as_deref() == Some(Path::new("-")) {
        return Err(Failure::Usage("--chances is written to a file; name one".into()));
    }
    targets.extend(args.chances.iter().map(|path| (path.clone(), Shape::Chances)));
    if let Some(twice) = (1..targets.len()).find(|&k| targets[..k].iter().any(|(path, _)| *path == targets[k].0)) {
        return Err(Failure::Usage(format!("{} is to be written twice; name two files", targets[twice].0.display())));
    }
    let split = args.backtest.then(|| args.split.unwrap_or(SPLIT));
    if let Some(split) = split {
        if !(split > 0.0 && split < 1.0) {
            return Err(Failure::Usage(format!("--split {split} is no share between 0 and 1; try --split 0.7")));
        }
        let of_boards = [
            ("--anchor", args.anchor.is_some()),
            ("--chances", args.chances.is_some()),
            ("--ci-method", args.ci_method.is_some()),
            ("--resamples", args.resamples.is_some()),
            ("--top", args.top.is_some()),
            ("--C", args.c.is_some()),
            ("--half-life", args.half_life.is_some()),
            ("--k", args.k.is_some()),
            ("--system", args.system.is_some()),
            ("--ci", args.ci.is_some()),
        ];
        refuse(&of_boards, "--backtest, which tries every system", "leave out --backtest")?;
    }
    Ok(RatePlan { files, board, targets, split })
}

fn system(args: &RateArgs) -> Run<(RatingSystem, IntervalMethod)> {
    let method = args.ci_method;
    let name = args.system.unwrap_or(SystemName::Davidson);
    let with = format!("--system {}", name.name());
    if args.resamples.is_some() && method.is_some_and(|method| method != IntervalMethod::Bootstrap) {
        return Err(Failure::Usage("--resamples is for --ci-method bootstrap; leave one of them out".into()));
    }
    // Who asks for resamples asks for a bootstrap.
    let method = method.or(args.resamples.map(|_| IntervalMethod::Bootstrap));
    if name == SystemName::Davidson {
        let typed = [("--k", args.k.is_some()), ("--period", args.period.is_some())];
        if !args.backtest {
            refuse(&typed, &with, "choose --system elo")?;
        }
        refuse(&[("--ci-method own", method == Some(IntervalMethod::Own))], &with, "choose --ci-method sandwich")?;
        let mut rating = DavidsonRating::new();
        (rating.c, rating.half_life, rating.has_side) = (args.c, args.half_life, args.side);
        return Ok((RatingSystem::Davidson(rating), method.unwrap_or(IntervalMethod::Sandwich)));
    }
    let typed = [("--C", args.c.is_some()), ("--half-life", args.half_life.is_some())];
    refuse(&typed, &with, "choose --system davidson")?;
    let sandwich = [("--ci-method sandwich", method == Some(IntervalMethod::Sandwich))];
    refuse(&sandwich, &with, "choose --ci-method bootstrap")?;
    let is_elo = name == SystemName::Elo;
    refuse(&[("--k", args.k.is_some() && !is_elo)], &with, "choose --system elo")?;
    let own = [("--ci-method own", method == Some(IntervalMethod::Own) && is_elo)];
    refuse(&own, "--system elo, which keeps no deviations", "choose --ci-method bootstrap")?;
    let usual = System::named(name.name()).unwrap_or(System::ALL[0]);
    let system = match (usual, args.k) {
        (System::Elo { .. }, Some(k)) => System::Elo { k },
        _ => usual,
    };
    let advantage = if args.side { Advantage::Fitted } else { Advantage::None };
    let rating = OnlineRating::new(system).advantage(advantage).period(args.period);
    let default = if is_elo { IntervalMethod::Bootstrap } else { IntervalMethod::Own };
    Ok((RatingSystem::Online(rating), method.unwrap_or(default)))
}
