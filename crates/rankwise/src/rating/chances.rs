//! From margins to the chances of a win, a tie and a loss, in Davidson's form: with d = scale·margin, plus `side` for the
//! left player where the ground is not neutral,
//!
//! P(left) : P(tie) : P(right) = e^(d/2) : ν : e^(−d/2).
//!
//! (Davidson, *On extending the Bradley–Terry model to accommodate ties in paired comparison experiments*, 1970.) The
//! likelihood is concave in scale, side and ln ν, so that Newton's steps find its maximum. Where the games leave it
//! open, as when all margins are 0, the scale is 1 and the side 0.

use crate::data::{Game, Outcome};
use crate::error::{Error, Result};

/// The scale is between 0 and this, where wins would have it without bounds.
const MOST_SCALE: f64 = 10.0;
/// The side is at most this in either direction, in logits.
const MOST_SIDE: f64 = 10.0;
/// So is ln ν, unless there are no ties or nothing else.
const MOST_LN_TIES: f64 = 700.0;
const MOST_STEPS: usize = 200;
/// A step that promises less of the mean log-loss than this is the last: Newton's steps square what is missing, and sums
/// over many games could not tell whether it led down.
const TOLERANCE: f64 = 1e-10;

/// How margins become probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chances {
    /// What a margin is multiplied by.
    pub scale: f64,
    /// What being the first-named player adds to it, in logits.
    pub side: f64,
    /// ν: 0 where nothing is a tie, infinite where everything is.
    pub ties: f64,
}

/// What of [`Chances`] is learnt from games; ν always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Free {
    /// Whether the scale is; else it is 1.
    pub scale: bool,
    /// Whether the side is; else it is 0.
    pub side: bool,
}

impl Chances {
    /// The probabilities of a win of the left player, a tie, and a win of the right one, in the order of
    /// [`Outcome::ALL`].
    pub fn of(&self, margin: f64, is_neutral: bool) -> [f64; 3] {
        if self.ties == f64::INFINITY {
            return [0.0, 1.0, 0.0];
        }
        let d = self.logits(margin, is_neutral);
        // In units of the larger one of the two.
        let fall = (-0.5 * d.abs()).exp();
        let (tie, less) = (self.ties * fall, fall * fall);
        let sum = 1.0 + tie + less;
        let (more, tie, less) = (1.0 / sum, tie / sum, less / sum);
        if d >= 0.0 { [more, tie, less] } else { [less, tie, more] }
    }

    /// The same where nothing is impossible: if so many games had no tie among them, or nothing else, half a game more might
    /// have been one.
    pub fn with_all_possible(self, games: &[Game]) -> Self {
        let share = 0.5 / (games.iter().filter(|game| game.weight > 0.0).count() as f64 + 1.0);
        let least = 2.0 * share / (1.0 - share);
        Chances { ties: self.ties.clamp(least, 4.0 / least), ..self }
    }

    fn logits(&self, margin: f64, is_neutral: bool) -> f64 {
        // No product of a scale of 0 with anything is but 0.
        let scaled = if self.scale == 0.0 { 0.0 } else { self.scale * margin };
        scaled + if is_neutral { 0.0 } else { self.side }
    }

    /// The mean of −ln P(what happened), by the weights of the games; infinite if something happened that has no chance.
    /// `None` where no game counts.
    pub fn log_loss(&self, margins: &[f64], games: &[Game]) -> Result<Option<f64>> {
        check(margins, games)?;
        let most = heaviest(games);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (&margin, game) in margins.iter().zip(games).filter(|(_, game)| game.weight > 0.0) {
            let weight = game.weight / most;
            sum += weight * self.loss(margin, game);
            weights += weight;
        }
        Ok((weights > 0.0).then(|| sum / weights))
    }

    fn loss(&self, margin: f64, game: &Game) -> f64 {
        if self.ties == f64::INFINITY {
            return if game.outcome == Outcome::Tie { 0.0 } else { f64::INFINITY };
        }
        let d = self.logits(margin, game.is_neutral);
        let half = 0.5 * d.abs();
        let fall = (-half).exp();
        // ln(e^(d/2) + ν + e^(−d/2)) − |d|/2
        let rest = (self.ties * fall + fall * fall).ln_1p();
        match game.outcome {
            Outcome::Tie => rest + half - self.ties.ln(),
            Outcome::Left => rest + (half - 0.5 * d),
            Outcome::Right => rest + (half + 0.5 * d),
        }
    }

    /// The chances that make what happened most likely, by the weights of the games. Wins that follow the margins without
    /// exception would have the scale without bounds: it ends at 10, like the side at ±10. Without a game that counts: a
    /// scale of 1, nothing for the side, and no ties.
    pub fn fit(margins: &[f64], games: &[Game], parts: Free) -> Result<Chances> {
        Self::fit_from(margins, games, parts, None)
    }

    /// The same from where another search has ended.
    pub(super) fn fit_from(margins: &[f64], games: &[Game], parts: Free, start: Option<Chances>) -> Result<Chances> {
        check(margins, games)?;
        let most = heaviest(games);
        let counted = || margins.iter().zip(games).filter(|(_, game)| game.weight > 0.0);
        let total: f64 = counted().map(|(_, game)| game.weight / most).sum();
        let unit = counted().map(|(margin, _)| margin.abs()).fold(0.0, f64::max);
        let rows: Vec<Row> = counted()
            .map(|(&margin, game)| Row {
                margin: if unit > 0.0 { margin / unit } else { 0.0 },
                is_sided: if game.is_neutral { 0.0 } else { 1.0 },
                sign: 2.0 * game.left_points() - 1.0,
                weight: game.weight / most / total,
            })
            .collect();
        let ties: f64 = rows.iter().filter(|row| row.sign == 0.0).map(|row| row.weight).sum();
        let wins: f64 = rows.iter().filter(|row| row.sign != 0.0).map(|row| row.weight).sum();
        if rows.is_empty() || wins == 0.0 {
            return Ok(Chances { scale: 1.0, side: 0.0, ties: if rows.is_empty() { 0.0 } else { f64::INFINITY } });
        }
        let is_sided = parts.side && rows.iter().any(|row| row.is_sided > 0.0);
        let is_scaled = parts.scale && unit > 0.0;
        // The scale is counted in units of the largest margin, so that no number is out of proportion.
        let limits = [
            if is_scaled { (0.0, MOST_SCALE * unit) } else { (unit, unit) },
            if is_sided { (-MOST_SIDE, MOST_SIDE) } else { (0.0, 0.0) },
            if ties > 0.0 { (-MOST_LN_TIES, MOST_LN_TIES) } else { (f64::NEG_INFINITY, f64::NEG_INFINITY) },
        ];
        let first = match start {
            Some(start) => [start.scale * unit, start.side, start.ties.ln()],
            None => [unit.min(20.0), 0.0, (2.0 * ties / wins).ln()],
        };
        let mut at = [0, 1, 2].map(|k| first[k].max(limits[k].0).min(limits[k].1));
        climb(&rows, &limits, &mut at);
        let scale = if is_scaled { (at[0] / unit).min(MOST_SCALE) } else { 1.0 };
        Ok(Chances { scale, side: at[1], ties: at[2].exp() })
    }
}

/// A game that counts.
struct Row {
    margin: f64,
    /// 1 where the first-named player may have an advantage, else 0.
    is_sided: f64,
    /// 1, 0 or −1: left, tie, right.
    sign: f64,
    weight: f64,
}

/// Value, slopes and curvatures of the mean log-loss at scale, side and ln ν.
struct Local {
    value: f64,
    slope: [f64; 3],
    curvature: [[f64; 3]; 3],
}

impl Local {
    fn at(rows: &[Row], [scale, side, ln_ties]: [f64; 3]) -> Self {
        let (mut value, mut slope, mut curvature) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
        let ties = ln_ties.exp();
        for row in rows {
            let (d, fall, sum) = row.terms(scale, side, ties);
            let (tie, less) = (ties * fall / sum, fall * fall / sum);
            value += row.loss(d, sum, ln_ties);
            // P(left) − P(right), and what is left of the variance of ±½ and 0.
            let lead = (1.0 / sum - less).copysign(d);
            let by_d = 0.5 * row.weight * (lead - row.sign);
            let by_d_d = 0.25 * row.weight * (1.0 - tie - lead * lead).max(0.0);
            let by_d_t = -0.5 * row.weight * tie * lead;
            let is_tie = if row.sign == 0.0 { 1.0 } else { 0.0 };
            slope[0] += by_d * row.margin;
            slope[1] += by_d * row.is_sided;
            slope[2] += row.weight * (tie - is_tie);
            curvature[0][0] += by_d_d * row.margin * row.margin;
            curvature[0][1] += by_d_d * row.margin * row.is_sided;
            curvature[1][1] += by_d_d * row.is_sided;
            curvature[0][2] += by_d_t * row.margin;
            curvature[1][2] += by_d_t * row.is_sided;
            curvature[2][2] += row.weight * tie * (1.0 - tie);
        }
        for (a, b) in [(1, 0), (2, 0), (2, 1)] {
            curvature[a][b] = curvature[b][a];
        }
        Local { value, slope, curvature }
    }
}

impl Row {
    /// d, e^(−|d|/2), and the sum of the three chances in units of the largest.
    fn terms(&self, scale: f64, side: f64, ties: f64) -> (f64, f64, f64) {
        let d = scale * self.margin + side * self.is_sided;
        let fall = (-0.5 * d.abs()).exp();
        (d, fall, 1.0 + ties * fall + fall * fall)
    }

    fn loss(&self, d: f64, sum: f64, ln_ties: f64) -> f64 {
        let happened = if self.sign == 0.0 { ln_ties } else { 0.5 * d * self.sign };
        self.weight * (sum.ln() + 0.5 * d.abs() - happened)
    }
}

fn value(rows: &[Row], [scale, side, ln_ties]: [f64; 3]) -> f64 {
    let ties = ln_ties.exp();
    rows.iter()
        .map(|row| {
            let (d, _, sum) = row.terms(scale, side, ties);
            row.loss(d, sum, ln_ties)
        })
        .sum()
}

/// Newton's steps within limits: a number at its limit that wants beyond it stays, and a step ends where another one meets
/// its own.
fn climb(rows: &[Row], limits: &[(f64, f64); 3], at: &mut [f64; 3]) {
    for _ in 0..MOST_STEPS {
        let local = Local::at(rows, *at);
        let wants_out = |k: usize, by: f64| (by < 0.0 && at[k] <= limits[k].0) || (by > 0.0 && at[k] >= limits[k].1);
        let mut is_free = [0, 1, 2].map(|k| limits[k].0 < limits[k].1 && !wants_out(k, -local.slope[k]));
        let mut step = newton(&local, is_free);
        while let Some(k) = (0..3).find(|&k| is_free[k] && wants_out(k, step[k])) {
            is_free[k] = false;
            step = newton(&local, is_free);
        }
        let promise: f64 = (0..3).map(|k| -local.slope[k] * step[k]).sum();
        if promise.is_nan() || promise <= 0.0 {
            return;
        }
        let room = |k: usize| match step[k] {
            by if by > 0.0 => (limits[k].1 - at[k]) / by,
            by if by < 0.0 => (limits[k].0 - at[k]) / by,
            _ => f64::INFINITY,
        };
        let mut length = (0..3).map(room).fold(1.0, f64::min);
        let moved = |length: f64| {
            [0, 1, 2].map(|k| match step[k] {
                0.0 => at[k],
                by => (at[k] + length * by).max(limits[k].0).min(limits[k].1),
            })
        };
        if promise <= TOLERANCE {
            *at = moved(length);
            if length == 1.0 {
                return;
            }
            continue;
        }
        let mut tries = 0;
        while value(rows, moved(length)) > local.value - 1e-4 * length * promise {
            length *= 0.5;
            tries += 1;
            if tries == 60 {
                return;
            }
        }
        *at = moved(length);
    }
}

/// −(curvature + a trifle)⁻¹·slope over the free numbers, 0 for the others.
fn newton(local: &Local, is_free: [bool; 3]) -> [f64; 3] {
    let (mut matrix, mut step) = ([[0.0; 3]; 3], [0.0; 3]);
    for a in (0..3).filter(|&a| is_free[a]) {
        step[a] = -local.slope[a];
        for b in (0..3).filter(|&b| is_free[b]) {
            matrix[a][b] = local.curvature[a][b];
        }
    }
    for (a, row) in matrix.iter_mut().enumerate() {
        row[a] += 1e-12 * row[a] + 1e-200;
        if !is_free[a] {
            row[a] = 1.0;
        }
    }
    // Elimination without exchange: the matrix is positive definite but for rounding.
    for a in 0..3 {
        let pivot = matrix[a][a].max(1e-200);
        for b in a + 1..3 {
            let factor = matrix[b][a] / pivot;
            let above = matrix[a];
            for (value, above) in matrix[b].iter_mut().zip(above) {
                *value -= factor * above;
            }
            step[b] -= factor * step[a];
        }
    }
    for a in (0..3).rev() {
        let known: f64 = (a + 1..3).map(|b| matrix[a][b] * step[b]).sum();
        step[a] = (step[a] - known) / matrix[a][a].max(1e-200);
    }
    // A step that does not lead down comes from a matrix without digits: straight down instead.
    let promise: f64 = (0..3).map(|k| -local.slope[k] * step[k]).sum();
    if promise.is_finite() && promise >= 0.0 {
        return step;
    }
    [0, 1, 2].map(|k| if is_free[k] { -local.slope[k] } else { 0.0 })
}

fn heaviest(games: &[Game]) -> f64 {
    games.iter().map(|game| game.weight).fold(f64::MIN_POSITIVE, f64::max)
}

fn check(margins: &[f64], games: &[Game]) -> Result<()> {
    if margins.len() != games.len() {
        return Err(Error::parameter("margins", margins.len(), format!("{}, one for each game", games.len())));
    }
    match margins.iter().find(|margin| !margin.is_finite()) {
        Some(bad) => Err(Error::parameter("margins", bad, "finite numbers")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Random;

    const BOTH: Free = Free { scale: true, side: true };

    fn game(outcome: Outcome, is_neutral: bool, weight: f64) -> Game {
        Game { time: 0.0, left: 0, right: 1, outcome, is_neutral, weight }
    }

    /// Margins from −3 to 3 and outcomes drawn from known chances.
    fn drawn(chances: Chances, n: usize, seed: u64) -> (Vec<f64>, Vec<Game>) {
        let mut random = Random::new(seed);
        (0..n)
            .map(|_| {
                let (margin, is_neutral) = (random.between(-3.0, 3.0), random.below(3) == 0);
                let [left, tie, _] = chances.of(margin, is_neutral);
                let u = random.uniform();
                let outcome = Outcome::ALL[if u < left { 0 } else { 1 + usize::from(u >= left + tie) }];
                (margin, game(outcome, is_neutral, 1.0 + random.below(3) as f64))
            })
            .unzip()
    }

    #[test]
    fn chances_by_hand() {
        let chances = Chances { scale: 2.0, side: 1.0, ties: 0.5 };
        let d: f64 = 2.0 * -0.7 + 1.0;
        let terms = [(d / 2.0).exp(), 0.5, (-d / 2.0).exp()];
        let found = chances.of(-0.7, false);
        for k in 0..3 {
            assert!((found[k] - terms[k] / terms.iter().sum::<f64>()).abs() < 1e-15);
        }
        let mirrored = chances.of(0.7, true);
        let found = chances.of(-0.7, true);
        assert_eq!(mirrored, [found[2], found[1], found[0]]);
        for (k, outcome) in Outcome::ALL.into_iter().enumerate() {
            let loss = chances.log_loss(&[-0.7], &[game(outcome, true, 3.0)]).unwrap().unwrap();
            assert!((loss + found[k].ln()).abs() < 1e-14);
        }
        assert_eq!(chances.of(1e300, true), [1.0, 0.0, 0.0]);
        assert_eq!(Chances { ties: f64::INFINITY, ..chances }.of(3.0, false), [0.0, 1.0, 0.0]);
    }

    /// The slopes of the loss vanish at what was found, by differences; and it is near to what the games were drawn from.
    #[test]
    fn finds_the_most_likely_chances() {
        let truth = Chances { scale: 0.8, side: 0.4, ties: 0.6 };
        let (margins, games) = drawn(truth, 20_000, 1);
        let found = Chances::fit(&margins, &games, BOTH).unwrap();
        assert!((found.scale - 0.8).abs() < 0.05 && (found.side - 0.4).abs() < 0.1, "{found:?}");
        assert!((found.ties - 0.6).abs() < 0.05, "{found:?}");
        let loss = |chances: Chances| chances.log_loss(&margins, &games).unwrap().unwrap();
        let h = 1e-4;
        let pairs = [
            [Chances { scale: found.scale + h, ..found }, Chances { scale: found.scale - h, ..found }],
            [Chances { side: found.side + h, ..found }, Chances { side: found.side - h, ..found }],
            [Chances { ties: found.ties + h, ..found }, Chances { ties: found.ties - h, ..found }],
        ];
        for [up, down] in pairs {
            assert!(loss(up) > loss(found) && loss(down) > loss(found));
            assert!(((loss(up) - loss(down)) / (2.0 * h)).abs() < 1e-7);
        }
        // A fixed part stays what it is, and costs something.
        let plain = Chances::fit(&margins, &games, Free { scale: false, side: false }).unwrap();
        assert_eq!((plain.scale, plain.side), (1.0, 0.0));
        assert!(loss(plain) > loss(found) + 1e-4);
        // From elsewhere to the same place.
        let far = Chances { scale: 9.0, side: -8.0, ties: 1e-9 };
        let again = Chances::fit_from(&margins, &games, BOTH, Some(far)).unwrap();
        assert!((again.scale - found.scale).abs() < 1e-6 && (again.ties - found.ties).abs() < 1e-6, "{again:?}");
        // Margins in other units.
        let small: Vec<f64> = margins.iter().map(|margin| margin * 1e4).collect();
        let scaled = Chances::fit(&small, &games, BOTH).unwrap();
        assert!((scaled.scale * 1e4 / found.scale - 1.0).abs() < 1e-6, "{scaled:?}");
    }

    #[test]
    fn weights_are_copies_and_absences() {
        let (margins, games) = drawn(Chances { scale: 1.0, side: -0.3, ties: 1.0 }, 300, 2);
        let (mut more_margins, mut more_games) = (vec![2.0], vec![game(Outcome::Right, false, 0.0)]);
        for (&margin, game) in margins.iter().zip(&games) {
            for _ in 0..game.weight as usize {
                more_margins.push(margin);
                more_games.push(Game { weight: 1.0, ..*game });
            }
        }
        let (a, b) =
            (Chances::fit(&margins, &games, BOTH).unwrap(), Chances::fit(&more_margins, &more_games, BOTH).unwrap());
        assert!((a.scale - b.scale).abs() < 1e-6 && (a.side - b.side).abs() < 1e-6 && (a.ties - b.ties).abs() < 1e-6);
    }

    #[test]
    fn games_that_leave_something_open() {
        let fit = |rows: &[(f64, Outcome, f64)]| {
            let margins: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let games: Vec<Game> = rows.iter().map(|row| game(row.1, false, row.2)).collect();
            let found = Chances::fit(&margins, &games, BOTH).unwrap();
            assert!((0.0..=10.0).contains(&found.scale) && found.side.abs() <= 10.0 && found.ties >= 0.0, "{found:?}");
            for &margin in &margins {
                let sum: f64 = found.of(margin, false).iter().sum();
                assert!((sum - 1.0).abs() < 1e-12, "{found:?}");
            }
            found
        };
        use Outcome::{Left, Right, Tie};
        assert_eq!(fit(&[]), Chances { scale: 1.0, side: 0.0, ties: 0.0 });
        assert_eq!(fit(&[(1.0, Left, 0.0)]), Chances { scale: 1.0, side: 0.0, ties: 0.0 });
        assert_eq!(fit(&[(1.0, Tie, 1.0), (-3.0, Tie, 1e300)]).of(5.0, false), [0.0, 1.0, 0.0]);
        // One win: as sure as may be.
        assert!(fit(&[(0.1, Left, 1.0)]).of(0.1, false)[0] > 0.999);
        // Margins without exception, and small enough that the limit is met.
        let sure = fit(&[(0.1, Left, 1.0), (-0.1, Right, 1.0), (0.1, Left, 1.0), (-0.1, Right, 1.0)]);
        assert!((sure.scale - 10.0).abs() < 1e-9 && sure.ties == 0.0, "{sure:?}");
        // Margins that are always wrong count for nothing.
        assert_eq!(fit(&[(1.0, Right, 1.0), (-1.0, Left, 1.0)]).scale, 0.0);
        // No margins: the side alone, 3 to 1.
        let flat = fit(&[(0.0, Left, 3.0), (0.0, Right, 1.0), (0.0, Tie, 1.0)]);
        assert!((flat.side - 3f64.ln()).abs() < 1e-6 && flat.scale == 1.0, "{flat:?}");
        for size in [1e-300, 1e-9, 1e6, 1e100, 1e300] {
            for weight in [1e-300, 1.0, 1e300] {
                fit(&[(size, Left, weight), (-size, Left, 1.0), (0.5 * size, Tie, weight), (2.0, Right, 1.0)]);
                fit(&[(size, Left, weight), (0.5 * size, Tie, weight)]);
                fit(&[(size, Right, weight), (1.0, Left, 1.0)]);
            }
        }
        assert!(Chances::fit(&[0.0], &[], BOTH).is_err());
        assert!(Chances::fit(&[f64::NAN], &[game(Left, true, 1.0)], BOTH).is_err());
    }
}
