//! Simulated files in the formats that football results and chess games are published in. Tests of the library and of
//! the program include this file.

use std::fmt::Write;

/// A small generator of its own (SplitMix64), so that the files are the same for whoever includes this.
pub(crate) struct Dice(u64);

impl Dice {
    /// A generator of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// In [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    /// Two different numbers below `n`.
    pub(crate) fn two_of(&mut self, n: usize) -> (usize, usize) {
        let (a, b) = (self.below(n), self.below(n - 1));
        (a, if b < a { b } else { b + 1 })
    }
}

/// −1, 0 or +1 for the left player, whose lead in strength says how likely each is; about a quarter is 0.
fn result(dice: &mut Dice, lead: f64) -> i32 {
    let luck = lead + 3.0 * (dice.uniform() + dice.uniform() + dice.uniform() - 1.5);
    if luck.abs() < 0.45 { 0 } else { luck.signum() as i32 }
}

/// `results.csv` of international football: `n_teams` teams whose strengths are drawn once, in each month of the years
/// `n_monthly` matches; the last row is a match that is still to be played.
pub(crate) fn football_results(
    years: std::ops::RangeInclusive<u32>,
    n_teams: usize,
    n_monthly: usize,
    seed: u64,
) -> String {
    let mut dice = Dice::new(seed);
    let strengths: Vec<f64> = (0..n_teams).map(|_| 2.0 * dice.uniform() - 1.0).collect();
    let mut text = "date,home_team,away_team,home_score,away_score,tournament,city,country,neutral\n".to_string();
    let last = *years.end();
    for year in years {
        for month in 1..=12 {
            for at in 0..n_monthly {
                let (home, away) = dice.two_of(n_teams);
                let is_neutral = dice.uniform() < 0.25;
                let advantage = if is_neutral { 0.0 } else { 0.3 };
                let (fewer, result) = (dice.below(3), result(&mut dice, strengths[home] - strengths[away] + advantage));
                let goals = |wins: bool| fewer + usize::from(wins);
                let day = 1 + 27 * at / n_monthly;
                let neutral = if is_neutral { "TRUE" } else { "FALSE" };
                let (scored, conceded) = (goals(result > 0), goals(result < 0));
                let _ = write!(text, "{year}-{month:02}-{day:02},Team {home},Team {away},{scored},{conceded},");
                let _ = writeln!(text, "Friendly,City,Land {home},{neutral}");
            }
        }
    }
    let _ = writeln!(text, "{}-06-01,Team 0,Team 1,NA,NA,FIFA World Cup,City,Land 0,TRUE", last + 1);
    text
}

/// `primary_test_solution.csv` and `initial_ratings.csv` of the chess contest: months 133 to 135 with `n_monthly` rows
/// each, of which about a tenth is invented; three quarters of the players are in the list of ratings.
pub(crate) fn chess_files(n_players: usize, n_monthly: usize, seed: u64) -> (String, String) {
    let mut dice = Dice::new(seed);
    let strengths: Vec<f64> = (0..n_players).map(|_| 2.0 * dice.uniform() - 1.0).collect();
    let mut games = "TEID,MonthID,WhitePlayer,BlackPlayer,WhiteScore,Leaderboard\n".to_string();
    for month in 133..=135 {
        for at in 0..n_monthly {
            let (white, black) = dice.two_of(n_players);
            let result = result(&mut dice, strengths[white] - strengths[black] + 0.1);
            let is_spurious = dice.uniform() < 0.1;
            let (score, mark) = match result {
                _ if is_spurious => ("-1", "Spurious"),
                1 => ("1", "Private"),
                0 => ("0.5", "Public"),
                _ => ("0", "Private"),
            };
            let number = (month - 133) * n_monthly + at + 1;
            let _ = writeln!(games, "{number},{month},{},{},{score},{mark}", white + 1, black + 1);
        }
    }
    let mut ratings = "Player,Rating,KFactor,NumGames\n".to_string();
    for (player, strength) in strengths.iter().enumerate().filter(|(player, _)| player % 4 != 3) {
        let _ = writeln!(ratings, "{},{:.0},15,30", player + 1, 2200.0 + 200.0 * strength);
    }
    (games, ratings)
}
