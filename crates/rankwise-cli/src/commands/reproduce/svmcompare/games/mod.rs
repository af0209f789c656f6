//! Section 4.3 and Figure 6: outcomes of games from what is known of the players before. Machines that see ratings
//! and records, machines that see ratings alone, and the ratings themselves, by the AUC on the last eight months of
//! eight years.

mod history;
mod machine;
mod periods;
mod tell;

use history::{Recorded, replay};
use machine::{Family, Machine, Reach, Search, Sight};
use periods::{Filter, Period};
use rankwise::Loss;
use rankwise::data::Games;
use rankwise::io::Source;
use rankwise::io::published::{ChessRating, read_chess_games, read_chess_ratings, read_football};
use rankwise::rating::{Elo, Glicko, KFactor, Strength};

use super::super::data_dir::Need;
use super::super::study::{Findings, Found, Paper, Prepared, Room, Study, Task};
use crate::exit::{Failure, Run};

/// Where everybody starts, as the paper has it.
const START_ELO: f64 = 1200.0;
/// Glickman's usual start; the paper does not say.
const START_GLICKO: Strength = Strength { rating: 1500.0, deviation: 350.0 };
/// Growth of Glicko's deviation in a month; the paper does not say.
const MONTHLY_GROWTH: f64 = 15.0;
const DAYS_OF_MONTH: f64 = 365.25 / 12.0;
/// Periods, as many as the paper has.
const N_PERIODS: usize = 8;

const RESULTS: Need = Need {
    folder: "football_international",
    file: "results.csv",
    source: "github.com/martj42/international_results",
    licence: "CC0 1.0",
};
const GAMES: Need = Need {
    folder: "chess_fide_test",
    file: "primary_test_solution.csv",
    source: "the Chessmetrics contest on Kaggle (ChessRatings2)",
    licence: "none stated",
};
const RATINGS: Need = Need { file: "initial_ratings.csv", ..GAMES };

/// The study.
pub(in super::super) struct Figure6;

impl Study for Figure6 {
    fn name(&self) -> &'static str {
        "svmcompare-fig6"
    }

    fn title(&self) -> &'static str {
        "Outcomes of games: comparison machines beside Elo and Glicko (Figure 6)"
    }

    fn paper(&self) -> Paper {
        Paper::Comparison
    }

    fn needs(&self) -> Vec<Need> {
        vec![RESULTS, GAMES, RATINGS]
    }

    fn prepare(&self, room: &Room) -> Run<Box<dyn Prepared>> {
        Ok(Box::new(Ready {
            sets: vec![football(room)?, chess(room)?],
            search: search(room),
            families: families(room),
        }))
    }
}

/// Games of one kind.
struct Set {
    name: &'static str,
    /// How long a training part is.
    learns_from: &'static str,
    seen: Vec<Recorded>,
    periods: Vec<Period>,
    /// The same periods with more to learn from, where there is more.
    wide: Vec<Period>,
    counts: Counts,
}

/// What was read, and what the paper's filter makes of it.
struct Counts {
    games: usize,
    ties: usize,
    players: usize,
    left_out: usize,
    /// Games to learn from and to be judged by, that the filter as printed leaves.
    printed: [usize; 2],
    /// The same without any filter but for first games.
    whole: [usize; 2],
    /// Years without enough games.
    skipped: Vec<i64>,
}

/// The study with its data.
struct Ready {
    sets: Vec<Set>,
    search: Search,
    families: Vec<Family>,
}

fn football(room: &Room) -> Run<Set> {
    let read = read_football(&source(room, &RESULTS)?)?;
    let growth = MONTHLY_GROWTH / DAYS_OF_MONTH.sqrt();
    let seen = replay(&read.games, Elo::new(KFactor::FideUntil2009, START_ELO)?, Glicko::new(START_GLICKO, growth)?);
    let (periods, skipped) = periods::years(&seen, room.pick(2, N_PERIODS), Filter::BeforeTest);
    if periods.is_empty() {
        return Err(Failure::Fault(
            "results.csv: no year has enough games from January to March, ties among them, and others from May on; \
             give the whole file"
                .into(),
        ));
    }
    let years = || periods.iter().filter_map(|period| period.name.parse::<i64>().ok());
    let wide = years().map(|year| Period::of_four_years(&seen, year, Filter::BeforeTest)).collect();
    let total = |filter: Filter| {
        let each = years().map(|year| Period::of_year(&seen, year, filter));
        each.fold([0, 0], |sum, period| [sum[0] + period.train.len(), sum[1] + period.test.len()])
    };
    let (printed, whole) = (total(Filter::InTraining), total(Filter::None));
    let counts = Counts::of(&read.games, read.n_left_out, printed, whole, skipped);
    Ok(Set { name: "football", learns_from: "four months", seen, periods, wide, counts })
}

fn chess(room: &Room) -> Run<Set> {
    let read = read_chess_games(&source(room, &GAMES)?)?;
    let ratings = read_chess_ratings(&source(room, &RATINGS)?, &read.games.players)?;
    // Who is not in the list was below all who are.
    let lowest = ratings.iter().flatten().map(|known| f64::from(known.rating)).fold(f64::INFINITY, f64::min);
    let lowest = if lowest.is_finite() { lowest } else { START_ELO };
    let mut elo = Elo::new(KFactor::FideUntil2009, lowest)?;
    let mut glicko = Glicko::new(Strength { rating: lowest, ..START_GLICKO }, MONTHLY_GROWTH)?;
    let start = read.games.games.first().map_or(0.0, |game| game.time);
    for (player, known) in (0..).zip(&ratings) {
        if let Some(ChessRating { rating, n_games, .. }) = known {
            elo.set(player, f64::from(*rating), u64::from(*n_games))?;
            glicko.set(player, Strength { rating: f64::from(*rating), ..START_GLICKO }, start)?;
        }
    }
    let seen = replay(&read.games, elo, glicko);
    let period = Period::of_months(&seen, Filter::InTraining);
    let whole = Period::of_months(&seen, Filter::None);
    let sizes = |period: &Period| [period.train.len(), period.test.len()];
    let counts = Counts::of(&read.games, read.n_left_out, sizes(&period), sizes(&whole), Vec::new());
    let periods = if period.is_usable(&seen) { vec![period] } else { Vec::new() };
    Ok(Set { name: "chess", learns_from: "one month", seen, periods, wide: Vec::new(), counts })
}

impl Counts {
    fn of(games: &Games, left_out: usize, printed: [usize; 2], whole: [usize; 2], skipped: Vec<i64>) -> Self {
        Counts {
            games: games.games.len(),
            ties: games.n_ties(),
            players: games.players.len(),
            left_out,
            printed,
            whole,
            skipped,
        }
    }
}

fn source(room: &Room, need: &Need) -> Run<Source> {
    let path = room.data.find(need)?;
    Ok(Source::File { path, format: rankwise::io::Format::Csv })
}

fn search(room: &Room) -> Search {
    let whole: Vec<i32> = (-20..=2).step_by(2).collect();
    let exponents = room.pick(vec![-4, -2, 0], whole);
    Search {
        c: exponents.into_iter().map(|exponent| 10f64.powi(exponent)).collect(),
        shares: room.pick(vec![0.75], periods::SHARES.to_vec()),
        is_quick: room.is_quick,
        seed: room.seed,
    }
}

fn families(room: &Room) -> Vec<Family> {
    let all = vec![Family::Linear, Family::Polynomial, Family::Gaussian];
    room.pick(all[..2].to_vec(), all)
}

impl Ready {
    /// Machines of all kernels that learn from four months with this loss.
    fn machines(&self, sight: Sight, loss: Loss) -> impl Iterator<Item = Machine> + '_ {
        self.families.iter().map(move |&family| Machine { family, sight, loss, reach: Reach::Months })
    }

    /// All machines of a set: the paper's loss, the one that does not collapse, and linear ones that learn from more.
    fn all_machines(&self, set: &Set) -> Vec<Machine> {
        let mut all = Vec::new();
        for sight in [Sight::Ratings, Sight::All] {
            for loss in [Loss::Hinge, SHOWN_LOSS] {
                all.extend(self.machines(sight, loss));
            }
            if !set.wide.is_empty() {
                all.push(wide(sight));
            }
        }
        all
    }
}

/// The loss of the figure.
const SHOWN_LOSS: Loss = Loss::SquaredHinge;

/// The machine that learns from four years.
fn wide(sight: Sight) -> Machine {
    Machine { family: Family::Linear, sight, loss: SHOWN_LOSS, reach: Reach::Years }
}

impl Set {
    /// How long a machine looks back, in words.
    fn learns_from(&self, machine: &Machine) -> &'static str {
        match machine.reach {
            Reach::Months => self.learns_from,
            reach => reach.name(),
        }
    }

    /// The periods as a machine sees them.
    fn periods_of(&self, machine: &Machine) -> &[Period] {
        match machine.reach {
            Reach::Months => &self.periods,
            Reach::Years => &self.wide,
        }
    }
}

fn key(set: &Set, period: &Period, machine: &Machine) -> String {
    format!("{}/{}/{}", set.name, period.name, machine.key())
}

impl Prepared for Ready {
    fn tasks(&self) -> Vec<Task<'_>> {
        let mut tasks = Vec::new();
        for set in &self.sets {
            for machine in self.all_machines(set) {
                for period in set.periods_of(&machine) {
                    let effort = (period.train.len() as f64).powi(2) * machine.family.effort();
                    let work = move || machine.run(&set.seen, period, &self.search);
                    tasks.push(Task::new(key(set, period, &machine), effort, work));
                }
            }
        }
        tasks
    }

    fn tell(&self, found: &Found) -> Run<Findings> {
        tell::findings(self, found)
    }
}
