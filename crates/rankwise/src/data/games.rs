//! Games between two players, in order of time: what ratings learn from.

use super::{Comparisons, Items, Outcome, Pair, PairSet};
use crate::error::{Error, Result};

/// One game. The left player is the first-named one: White, or the team at home.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Game {
    /// When: a number of days or months, whatever the source counts in.
    pub time: f64,
    /// The number of the first-named player.
    pub left: u32,
    /// The number of the other player.
    pub right: u32,
    /// Who won; a tie is a game that nobody won.
    pub outcome: Outcome,
    /// Whether being named first is no advantage, as on neutral ground.
    pub is_neutral: bool,
    /// How much it counts: 0 is absent, 2 is twice.
    pub weight: f64,
}

impl Game {
    /// What the left player gets of the one point that a game gives: 1, ½ or 0.
    pub fn left_points(&self) -> f64 {
        match self.outcome {
            Outcome::Left => 1.0,
            Outcome::Tie => 0.5,
            Outcome::Right => 0.0,
        }
    }
}

/// What the left side of each game has more than the right one: the length of an answer, the white pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariates {
    /// What is counted.
    pub names: Vec<String>,
    /// Left minus right, game by game.
    pub differences: Vec<f64>,
}

impl Covariates {
    /// What is known of a game.
    pub fn of(&self, game: usize) -> &[f64] {
        &self.differences[game * self.names.len()..][..self.names.len()]
    }
}

/// Games in order of time, and who plays them.
#[derive(Debug, Clone, PartialEq)]
pub struct Games {
    /// What each player is called, by number.
    pub players: Vec<String>,
    /// The games; those of the same time are in the order they were given in.
    pub games: Vec<Game>,
    /// One group number per game (a judge, a tournament), where games of one group are not independent.
    pub groups: Option<Vec<u32>>,
    /// What differs between the sides beside who plays.
    pub covariates: Option<Covariates>,
}

impl Games {
    /// Puts games in order of time. Checks that every one names two players.
    pub fn new(players: Vec<String>, games: Vec<Game>) -> Result<Self> {
        Self::with(players, games, None, None)
    }

    /// The same with what else is known of the games, in the order the games are given in.
    pub fn with(
        players: Vec<String>,
        games: Vec<Game>,
        groups: Option<Vec<u32>>,
        covariates: Option<Covariates>,
    ) -> Result<Self> {
        let n = players.len();
        if let Some(bad) = games.iter().find(|g| g.left == g.right || g.left.max(g.right) as usize >= n) {
            let found = format!("({}, {})", bad.left, bad.right);
            return Err(Error::parameter("games", found, format!("two players each, with numbers below {n}")));
        }
        if let Some(bad) = games.iter().find(|g| !g.time.is_finite()) {
            return Err(Error::parameter("time", bad.time, "finite numbers"));
        }
        if let Some(bad) = games.iter().find(|g| !(g.weight.is_finite() && g.weight >= 0.0)) {
            return Err(Error::parameter("weight", bad.weight, "finite numbers of at least 0"));
        }
        let length = |name: &'static str, found: usize, expected: usize| match found == expected {
            true => Ok(()),
            false => Err(Error::parameter(name, found, format!("{expected} for {} games", games.len()))),
        };
        if let Some(groups) = &groups {
            length("groups", groups.len(), games.len())?;
        }
        if let Some(covariates) = &covariates {
            length("covariates", covariates.differences.len(), games.len() * covariates.names.len())?;
            if let Some(bad) = covariates.differences.iter().find(|value| !value.is_finite()) {
                return Err(Error::parameter("covariates", bad, "finite numbers"));
            }
        }
        let found = Games { players, games, groups, covariates };
        if found.games.is_sorted_by_key(|game| game.time) {
            return Ok(found);
        }
        let mut order: Vec<usize> = (0..found.games.len()).collect();
        order.sort_by(|&a, &b| found.games[a].time.total_cmp(&found.games[b].time));
        Ok(found.select(&order))
    }

    /// Keeps the games of the given numbers, which are in order of time, and all players.
    pub fn select(&self, numbers: &[usize]) -> Self {
        let covariates = self.covariates.as_ref().map(|known| Covariates {
            names: known.names.clone(),
            differences: numbers.iter().flat_map(|&k| known.of(k)).copied().collect(),
        });
        Games {
            players: self.players.clone(),
            games: numbers.iter().map(|&k| self.games[k]).collect(),
            groups: self.groups.as_ref().map(|groups| numbers.iter().map(|&k| groups[k]).collect()),
            covariates,
        }
    }

    /// How many games nobody won.
    pub fn n_ties(&self) -> usize {
        self.games.iter().filter(|game| game.outcome == Outcome::Tie).count()
    }

    /// The games as pairs of players that are known by name alone.
    pub fn to_comparisons(&self) -> Result<Comparisons> {
        let pairs = self.games.iter().map(|game| Pair { left: game.left, right: game.right }).collect();
        let set = PairSet::new(Items::indicators(self.players.clone()), pairs)?;
        let are_counted = self.games.iter().any(|game| game.weight != 1.0);
        let weights = are_counted.then(|| self.games.iter().map(|game| game.weight).collect());
        Comparisons::new(set, self.games.iter().map(|game| game.outcome).collect(), weights, self.groups.clone())
    }
}

/// A day of the calendar in use today, also for the years before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

/// Days of 400 years, after which the calendar repeats.
const DAYS_OF_CYCLE: i64 = 146_097;

impl Date {
    /// Reads `YYYY-MM-DD`; `None` if that is not a day of the calendar.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut next = |n_digits: usize| {
            let part = parts.next()?;
            let is_plain = part.len() == n_digits && part.bytes().all(|byte| byte.is_ascii_digit());
            if is_plain { part.parse::<u32>().ok() } else { None }
        };
        let date = Date { year: i64::from(next(4)?), month: next(2)?, day: next(2)? };
        // A day that does not exist is another one when it is counted.
        (parts.next().is_none() && (1..=12).contains(&date.month) && Date::of(date.number()) == date).then_some(date)
    }

    /// Days since 1970-01-01. Years are counted from March on, so that the day that is sometimes there comes last.
    pub fn number(self) -> i64 {
        let months_since_march = (i64::from(self.month) + 9) % 12;
        let year = self.year - i64::from(self.month <= 2);
        let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * months_since_march + 2) / 5 + i64::from(self.day) - 1;
        cycle * DAYS_OF_CYCLE + 365 * year + year / 4 - year / 100 + day_of_year - 719_468
    }

    /// The date of a number of days since 1970-01-01.
    pub fn of(number: i64) -> Self {
        let since_march_0 = number + 719_468;
        let (cycle, day) = (since_march_0.div_euclid(DAYS_OF_CYCLE), since_march_0.rem_euclid(DAYS_OF_CYCLE));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day_of_year = day - (365 * year + year / 4 - year / 100);
        let months_since_march = (5 * day_of_year + 2) / 153;
        let month = (months_since_march + 2) % 12 + 1;
        Date {
            year: 400 * cycle + year + i64::from(month <= 2),
            month: month as u32,
            day: (day_of_year - (153 * months_since_march + 2) / 5 + 1) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against counting: one day after the other from 1600 to 2400.
    #[test]
    fn dates_are_those_of_the_calendar() {
        let mut date = Date { year: 1600, month: 1, day: 1 };
        let mut number = -135_140;
        while date.year <= 2400 {
            assert_eq!((date.number(), Date::of(number)), (number, date));
            let is_leap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0);
            let days = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            date.day += 1;
            if date.day > days[date.month as usize - 1] {
                (date.day, date.month) = (1, date.month + 1);
            }
            if date.month > 12 {
                (date.month, date.year) = (1, date.year + 1);
            }
            number += 1;
        }
        assert_eq!(Date::of(0), Date { year: 1970, month: 1, day: 1 });
        assert_eq!(Date::parse("2000-02-29"), Some(Date { year: 2000, month: 2, day: 29 }));
        for bad in ["1900-02-29", "2001-00-10", "2001-13-01", "2001-04-31", "2001-4-30", "2001-04-30-1", "01-01-01", ""]
        {
            assert_eq!(Date::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn games_are_put_in_order_of_time() {
        let game =
            |time, left, right| Game { time, left, right, outcome: Outcome::Tie, is_neutral: false, weight: 1.0 };
        let names = || vec!["a".to_string(), "b".to_string(), "c".to_string()];
        let games =
            Games::new(names(), vec![game(5.0, 0, 1), game(3.0, 1, 2), game(5.0, 2, 0), game(3.0, 0, 2)]).unwrap();
        let order: Vec<_> = games.games.iter().map(|g| (g.time, g.left, g.right)).collect();
        assert_eq!(order, [(3.0, 1, 2), (3.0, 0, 2), (5.0, 0, 1), (5.0, 2, 0)]);
        assert_eq!(games.n_ties(), 4);
        let pairs = games.to_comparisons().unwrap();
        assert_eq!((pairs.n_pairs(), pairs.set.items.name(2)), (4, "c".to_string()));
        assert!(Games::new(names(), vec![game(1.0, 0, 3)]).is_err());
        assert!(Games::new(names(), vec![game(1.0, 2, 2)]).is_err());
    }
}
