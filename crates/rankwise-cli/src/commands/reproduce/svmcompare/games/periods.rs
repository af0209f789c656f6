//! Which games are learnt from, and which are judged, in each period.

use rankwise::data::{Date, Outcome};

use super::history::Recorded;

/// Games a player must have.
const LEAST_GAMES: usize = 10;
/// Shares of the games that hyper-parameters are chosen on, learnt from while the rest validates.
pub(super) const SHARES: [f64; 4] = [0.50, 0.75, 0.80, 0.85];
/// Fewer games than this cannot be split.
const LEAST_TO_CHOOSE: usize = 30;

/// A period: numbers of games, in order of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) name: String,
    /// Whom hyper-parameters are chosen on.
    pub(super) choice: Vec<usize>,
    pub(super) train: Vec<usize>,
    pub(super) test: Vec<usize>,
}

/// Which players have enough games.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    /// Ten in the training part, as the paper has it.
    InTraining,
    /// Ten before the test part.
    BeforeTest,
    /// All.
    None,
}

/// Part of a period that a game is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Train,
    Test,
}

impl Period {
    /// The games of two parts, without players that have fewer than ten games, and without first games.
    fn new(seen: &[Recorded], name: String, part: impl Fn(&Recorded) -> Option<Part>, filter: Filter) -> Self {
        let n_players = seen.iter().map(|s| s.game.left.max(s.game.right) as usize + 1).max().unwrap_or(0);
        let mut n_games = vec![0usize; n_players];
        let parts: Vec<Option<Part>> = seen.iter().map(part).collect();
        let first_test = parts.iter().position(|part| *part == Some(Part::Test)).unwrap_or(seen.len());
        for (at, recorded) in seen.iter().enumerate().take(first_test) {
            if filter == Filter::BeforeTest || parts[at] == Some(Part::Train) {
                n_games[recorded.game.left as usize] += 1;
                n_games[recorded.game.right as usize] += 1;
            }
        }
        let counts = |at: &usize| {
            let Recorded { game, n_before, .. } = &seen[*at];
            (filter == Filter::None
                || [game.left, game.right].iter().all(|&player| n_games[player as usize] >= LEAST_GAMES))
                && n_before.iter().all(|&n| n > 0)
        };
        let of = |wanted: Part| (0..seen.len()).filter(|&at| parts[at] == Some(wanted)).filter(counts).collect();
        let train: Vec<usize> = of(Part::Train);
        Period { name, choice: train.clone(), train, test: of(Part::Test) }
    }

    /// A year of football: January to April to learn from, of these January to March to choose on; May to December to
    /// be judged by.
    pub(super) fn of_year(seen: &[Recorded], year: i64, filter: Filter) -> Self {
        let part = |recorded: &Recorded| {
            let date = Date::of(recorded.game.time as i64);
            (date.year == year).then_some(if date.month <= 4 { Part::Train } else { Part::Test })
        };
        let mut period = Period::new(seen, year.to_string(), part, filter);
        period.choice.retain(|&at| Date::of(seen[at].game.time as i64).month <= 3);
        period
    }

    /// The same year with the games of four years to learn from, up to the same April.
    pub(super) fn of_four_years(seen: &[Recorded], year: i64, filter: Filter) -> Self {
        let part = |recorded: &Recorded| {
            let date = Date::of(recorded.game.time as i64);
            match (date.year, date.month) {
                (y, month) if y == year && month > 4 => Some(Part::Test),
                (y, month) if (y > year - 4 && y <= year) || (y == year - 4 && month > 4) => Some(Part::Train),
                _ => None,
            }
        };
        Period::new(seen, year.to_string(), part, filter)
    }

    /// Three months of chess: the first is history, the second is learnt from, the third judged. A month has no
    /// order, so that the first three quarters of the rows stand for three of four months.
    pub(super) fn of_months(seen: &[Recorded], filter: Filter) -> Self {
        let first = seen.first().map_or(0, |recorded| recorded.game.time as i64);
        let part = |recorded: &Recorded| match recorded.game.time as i64 - first {
            1 => Some(Part::Train),
            2 => Some(Part::Test),
            _ => None,
        };
        let mut period = Period::new(seen, format!("month {}", first + 2), part, filter);
        period.choice.truncate(3 * period.train.len() / 4);
        period
    }

    /// The games that are learnt from and those that validate, for a share.
    pub(super) fn split(&self, share: f64) -> (&[usize], &[usize]) {
        self.choice.split_at((share * self.choice.len() as f64).round() as usize)
    }

    /// Whether every part that is measured on has ties and others, and there is enough to choose on.
    pub(super) fn is_usable(&self, seen: &[Recorded]) -> bool {
        let has_both = |games: &[usize]| {
            let n_ties = games.iter().filter(|&&at| seen[at].game.outcome == Outcome::Tie).count();
            n_ties > 0 && n_ties < games.len()
        };
        let can_split = |&share: &f64| {
            let (train, valid) = self.split(share);
            has_both(train) && has_both(valid)
        };
        self.choice.len() >= LEAST_TO_CHOOSE
            && SHARES.iter().all(can_split)
            && has_both(&self.train)
            && has_both(&self.test)
    }
}

/// The last `n` whole years of football that can be used, in their order, and those between them that cannot.
pub(super) fn years(seen: &[Recorded], n: usize, filter: Filter) -> (Vec<Period>, Vec<i64>) {
    let date = |recorded: Option<&Recorded>| recorded.map(|recorded| Date::of(recorded.game.time as i64));
    let (Some(first), Some(last)) = (date(seen.first()), date(seen.last())) else { return (Vec::new(), Vec::new()) };
    let last_whole = if last.month == 12 { last.year } else { last.year - 1 };
    let (mut periods, mut skipped) = (Vec::new(), Vec::new());
    for year in (first.year..=last_whole).rev() {
        if periods.len() == n {
            break;
        }
        let period = Period::of_year(seen, year, filter);
        if period.is_usable(seen) {
            periods.push(period);
        } else {
            skipped.push(year);
        }
    }
    let oldest = periods.last().and_then(|period| period.name.parse().ok()).unwrap_or(i64::MAX);
    skipped.retain(|&year| year > oldest);
    periods.reverse();
    skipped.reverse();
    (periods, skipped)
}

#[cfg(test)]
mod tests {
    use rankwise::data::{Game, Games};
    use rankwise::rating::{Elo, Glicko, KFactor, Strength};

    use super::super::history::replay;
    use super::*;

    /// In each month of the years, the first three players all meet twice; the fourth plays once, in February 2002.
    fn seen(years: std::ops::RangeInclusive<i64>) -> Vec<Recorded> {
        let mut games = Vec::new();
        let mut outcome = Outcome::ALL.into_iter().cycle();
        for (year, month) in years.flat_map(|year| (1..=12).map(move |month| (year, month))) {
            let mut add = |day: u32, left: u32, right: u32| {
                let time = Date { year, month, day }.number() as f64;
                games.push(Game {
                    time,
                    left,
                    right,
                    outcome: outcome.next().unwrap(),
                    is_neutral: false,
                    weight: 1.0,
                });
            };
            for day in 1..=4 {
                [(0, 1), (1, 2), (2, 0)].into_iter().for_each(|(left, right)| add(day, left, right));
            }
            if (year, month) == (2002, 2) {
                add(5, 3, 0);
            }
        }
        let names = ["a", "b", "c", "d"].map(String::from).to_vec();
        let glicko = Glicko::new(Strength { rating: 1500.0, deviation: 350.0 }, 0.0).unwrap();
        replay(&Games::new(names, games).unwrap(), Elo::new(KFactor::FideUntil2009, 1200.0).unwrap(), glicko)
    }

    #[test]
    fn a_year_is_split_by_months_and_rare_players_are_left_out() {
        let seen = seen(2001..=2003);
        for filter in [Filter::InTraining, Filter::BeforeTest] {
            let period = Period::of_year(&seen, 2002, filter);
            assert_eq!((period.choice.len(), period.train.len(), period.test.len()), (36, 48, 96));
            assert!(period.is_usable(&seen));
            let (train, valid) = period.split(0.75);
            assert_eq!((train.len(), valid.len(), valid[8]), (27, 9, period.choice[35]));
        }
        // The first day holds all players' first games.
        assert_eq!(Period::of_year(&seen, 2001, Filter::InTraining).train.len(), 45);
        assert!(!Period::of_year(&seen, 1999, Filter::InTraining).is_usable(&seen));
    }

    /// Twelve games a month: from May 2002 to April 2006, and what there is before April 2003 but for the first day.
    #[test]
    fn four_years_end_where_the_year_begins_to_be_judged() {
        let seen = seen(2001..=2006);
        for (year, n_games) in [(2006, 48 * 12), (2003, 28 * 12 - 3)] {
            let period = Period::of_four_years(&seen, year, Filter::BeforeTest);
            assert_eq!(period.train.len(), n_games);
            assert_eq!(period.test, Period::of_year(&seen, year, Filter::BeforeTest).test);
            let first = Date::of(seen[period.train[0]].game.time as i64);
            assert!(year == 2003 || first == Date { year: 2002, month: 5, day: 1 }, "{first:?}");
        }
    }

    #[test]
    fn years_are_the_last_whole_ones() {
        let mut seen = seen(2001..=2005);
        let names = |n, seen: &[Recorded]| -> (Vec<String>, Vec<i64>) {
            let (periods, skipped) = years(seen, n, Filter::BeforeTest);
            (periods.into_iter().map(|period| period.name).collect(), skipped)
        };
        assert_eq!(names(2, &seen), (vec!["2004".into(), "2005".into()], vec![]));
        // A year that ends in November is not whole; one without games in spring is passed over.
        seen.retain(|s| {
            let date = Date::of(s.game.time as i64);
            (date.year, date.month) != (2005, 12) && !(date.year == 2003 && date.month <= 4)
        });
        assert_eq!(names(2, &seen), (vec!["2002".into(), "2004".into()], vec![2003]));
        assert_eq!(names(9, &seen).0.len(), 3);
    }
}
