//! Online ratings beside those of another library, game by game, and what must hold for all of them.

use rankwise::data::{Game, Games, Outcome, Random};
use rankwise::rating::{
    Advantage, Dynamics, Elo, Glicko, Glicko2, KFactor, Online, OnlineRating, OnlineRatings, Skill, Strength, System,
    TrueSkill,
};
use skillratings::Outcomes;

const NEW: Strength = Strength { rating: 1500.0, deviation: 350.0 };

/// Games of players with different skills, with ties; one at each time.
fn drawn(n: usize, n_players: usize, seed: u64) -> Vec<Game> {
    let mut random = Random::new(seed);
    let skills: Vec<f64> = (0..n_players).map(|_| 1.5 * random.normal()).collect();
    (0..n)
        .map(|at| {
            let left = random.below(n_players);
            let right = (left + 1 + random.below(n_players - 1)) % n_players;
            let lead = skills[left] - skills[right] + 1.5 * random.normal();
            let outcome = match lead {
                lead if lead > 0.5 => Outcome::Left,
                lead if lead < -0.5 => Outcome::Right,
                _ => Outcome::Tie,
            };
            let is_neutral = random.below(3) == 0;
            Game { time: at as f64, left: left as u32, right: right as u32, outcome, is_neutral, weight: 1.0 }
        })
        .collect()
}

fn theirs(outcome: Outcome) -> Outcomes {
    match outcome {
        Outcome::Left => Outcomes::WIN,
        Outcome::Tie => Outcomes::DRAW,
        Outcome::Right => Outcomes::LOSS,
    }
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

fn sides(game: &Game) -> (usize, usize) {
    (game.left as usize, game.right as usize)
}

#[test]
fn elo_beside_another_library() {
    use skillratings::elo::{EloConfig, EloRating, elo};
    let mut ours = Elo::new(KFactor::Constant(32.0), 1500.0).unwrap();
    let mut players = vec![EloRating { rating: 1500.0 }; 20];
    for game in drawn(3000, 20, 1) {
        ours.update(&[game]);
        let (left, right) = sides(&game);
        (players[left], players[right]) =
            elo(&players[left], &players[right], &theirs(game.outcome), &EloConfig { k: 32.0 });
    }
    for (player, theirs) in (0..).zip(&players) {
        near(ours.rating(player), theirs.rating, 1e-8);
    }
}

/// The other library lets only the player's own deviation grow before a game, not the opponent's; in the paper all
/// deviations grow at the onset of a period. So they grow here first, and the game adds nothing.
#[test]
fn glicko_beside_another_library() {
    use skillratings::glicko::{GlickoConfig, GlickoRating, decay_deviation, glicko};
    let c = 8.0;
    let mut ours = Glicko::new(NEW, c).unwrap();
    let mut players: Vec<Option<GlickoRating>> = vec![None; 20];
    for game in drawn(3000, 20, 2) {
        ours.update(&[game]);
        for player in players.iter_mut().flatten() {
            *player = decay_deviation(player, &GlickoConfig { c });
        }
        let (left, right) = sides(&game);
        let [one, other] = [left, right].map(|player| players[player].unwrap_or_default());
        let (one, other) = glicko(&one, &other, &theirs(game.outcome), &GlickoConfig { c: 0.0 });
        (players[left], players[right]) = (Some(one), Some(other));
        for player in [game.left, game.right] {
            let (ours, theirs) = (ours.strength(player, game.time), players[player as usize].unwrap());
            near(ours.rating, theirs.rating, 1e-7);
            near(ours.deviation, theirs.deviation, 1e-8);
        }
    }
}

/// Who does not play has a deviation that grows after each period; who plays has it grow while the period is counted. The
/// other library has the factor 173.7178 rounded, and volatilities to six digits.
#[test]
fn glicko2_beside_another_library() {
    use skillratings::glicko2::{Glicko2Config, Glicko2Rating, decay_deviation, glicko2};
    let mut ours = Glicko2::new(NEW, 0.06, 0.5).unwrap();
    let mut players: Vec<Option<Glicko2Rating>> = vec![None; 12];
    for game in drawn(2000, 12, 3) {
        ours.update(&[game]);
        let (left, right) = sides(&game);
        let [one, other] = [left, right].map(|player| players[player].unwrap_or_default());
        let (one, other) = glicko2(&one, &other, &theirs(game.outcome), &Glicko2Config::new());
        (players[left], players[right]) = (Some(one), Some(other));
        for (number, player) in players.iter_mut().enumerate() {
            if let Some(player) = player
                && number != left
                && number != right
            {
                *player = decay_deviation(player);
            }
        }
        for number in [left, right] {
            let (found, theirs) = (ours.strength(number as u32, game.time), players[number].unwrap());
            near(found.rating, theirs.rating, 0.02);
            near(found.deviation, theirs.deviation, 0.01);
            near(ours.volatility(number as u32), theirs.volatility, 2e-5);
        }
    }
}

/// The other library has probabilities to seven digits.
#[test]
fn trueskill_beside_another_library() {
    use skillratings::trueskill::{TrueSkillConfig, TrueSkillRating, trueskill};
    let mut ours = TrueSkill::new(1500.0, 0.1, Dynamics::default()).unwrap();
    let mut players = vec![TrueSkillRating::new(); 20];
    for game in drawn(3000, 20, 4) {
        ours.update(&[game]);
        let (left, right) = sides(&game);
        (players[left], players[right]) =
            trueskill(&players[left], &players[right], &theirs(game.outcome), &TrueSkillConfig::new());
        for number in [left, right] {
            let Skill { mean, deviation } = ours.skill(number as u32, game.time);
            near(mean, players[number].rating, 1e-4);
            near(deviation, players[number].uncertainty, 1e-4);
        }
    }
}

/// One game at a time, Elo and Glicko are the plain formulas to the last bit: studies depend on it.
#[test]
fn game_by_game_to_the_last_bit() {
    let mut elo = Elo::new(KFactor::Constant(20.0), 1200.0).unwrap();
    let mut glicko = Glicko::new(NEW, 3.0).unwrap();
    let (mut ratings, mut strengths) = ([1200.0f64; 6], [None; 6]);
    let q = std::f64::consts::LN_10 / 400.0;
    for game in drawn(500, 6, 5) {
        let (left, right) = sides(&game);
        let expected = 1.0 / (1.0 + 10f64.powf(-(ratings[left] - ratings[right]) / 400.0));
        let surplus = game.left_points() - expected;
        ratings[left] += 20.0 * surplus;
        ratings[right] += 20.0 * -surplus;
        elo.update(&[game]);
        assert_eq!((elo.rating(game.left), elo.rating(game.right)), (ratings[left], ratings[right]));

        let now = |player: usize| match strengths[player] {
            Some((rating, deviation, then)) => {
                let deviation: f64 = deviation;
                let grown: f64 = deviation.powi(2) + 3f64.powi(2) * (game.time - then);
                (rating, grown.sqrt().min(350.0))
            }
            None => (1500.0f64, 350.0f64),
        };
        let moved = |(rating, deviation): (f64, f64), (other, unsure): (f64, f64), points: f64| {
            let g = 1.0 / (1.0 + 3.0 * (q * unsure / std::f64::consts::PI).powi(2)).sqrt();
            let expected = 1.0 / (1.0 + 10f64.powf(-g * (rating - other) / 400.0));
            let precision = deviation.powi(-2) + (q * g).powi(2) * expected * (1.0 - expected);
            (rating + q * (g * (points - expected)) / precision, precision.sqrt().recip(), game.time)
        };
        let (one, other, points) = (now(left), now(right), game.left_points());
        (strengths[left], strengths[right]) = (Some(moved(one, other, points)), Some(moved(other, one, 1.0 - points)));
        glicko.update(&[game]);
        for player in [left, right] {
            let Strength { rating, deviation } = glicko.strength(player as u32, game.time);
            // The deviation is squared and rooted once more on its way out.
            assert_eq!(Some(rating), strengths[player].map(|known| known.0));
            near(deviation, strengths[player].unwrap().1, 1e-12);
        }
    }
}

fn games(n_players: usize, games: Vec<Game>) -> Games {
    Games::new((0..n_players).map(|player| player.to_string()).collect(), games).unwrap()
}

/// Every system with its usual periods, with long ones, and game by game; with an advantage or without.
fn ratings() -> Vec<OnlineRating> {
    let mut systems = System::ALL.to_vec();
    systems.push(System::Elo { k: KFactor::Fide });
    systems.push(System::TrueSkill { draws: Some(0.3), dynamics: Dynamics::Elapsed(0.2) });
    let all = systems.into_iter().map(OnlineRating::new);
    all.flat_map(|rating| [None, Some(40.0), Some(0.5)].map(|period| rating.period(period)))
        .flat_map(|rating| [rating, rating.advantage(Advantage::Points(80.0))])
        .collect()
}

#[track_caller]
fn same(one: &OnlineRatings, other: &OnlineRatings, what: &str) {
    assert_eq!((one.n_periods, one.strengths.len()), (other.n_periods, other.strengths.len()), "{what}");
    for (a, b) in one.strengths.iter().zip(&other.strengths) {
        let [a, b] = [a, b].map(|found| found.map_or([0.0; 2], |found| [found.rating, found.deviation]));
        assert!((a[0] - b[0]).abs() < 1e-9 * a[0].abs() && (a[1] - b[1]).abs() < 1e-6, "{what}: {a:?} {b:?}");
    }
}

/// Times of which many are equal, and weights.
fn crowded(seed: u64) -> Vec<Game> {
    let mut random = Random::new(seed);
    let weights = [0.0, 0.5, 1.0, 2.0];
    let games = drawn(400, 10, seed);
    games
        .iter()
        .map(|game| Game { time: (game.time / 6.0).floor(), weight: weights[random.below(4)], ..*game })
        .collect()
}

#[test]
fn order_within_a_time_and_numbers_of_players_change_nothing() {
    let given = crowded(6);
    let mut random = Random::new(1);
    let mut shuffled = given.clone();
    random.shuffle(&mut shuffled);
    let mut numbers: Vec<u32> = (0..10).collect();
    random.shuffle(&mut numbers);
    let renamed =
        |game: &Game| Game { left: numbers[game.left as usize], right: numbers[game.right as usize], ..*game };
    for rating in ratings() {
        let what = format!("{rating:?}");
        let found = rating.run(&games(10, given.clone())).unwrap();
        same(&found, &rating.run(&games(10, shuffled.clone())).unwrap(), &what);
        let mut other = rating.run(&games(10, given.iter().map(renamed).collect())).unwrap();
        for (before, now) in found.margins.iter().zip(&other.margins) {
            near(*before, *now, 1e-9);
        }
        other.strengths = numbers.iter().map(|&number| other.strengths[number as usize]).collect();
        same(&found, &other, &what);
    }
}

#[test]
fn weight_2_is_twice_and_weight_0_is_absent() {
    let given: Vec<Game> = crowded(7).into_iter().map(|game| Game { weight: game.weight.ceil(), ..game }).collect();
    let copies = |game: &Game| vec![Game { weight: 1.0, ..*game }; game.weight as usize];
    for rating in ratings() {
        let one = rating.run(&games(10, given.clone())).unwrap();
        let other = rating.run(&games(10, given.iter().flat_map(copies).collect())).unwrap();
        same(&one, &other, &format!("{rating:?}"));
    }
    let absent = Game { weight: 0.0, ..given[0] };
    for system in System::ALL {
        let found = OnlineRating::new(system).run(&games(10, vec![absent])).unwrap();
        assert_eq!((found.strengths, found.margins, found.n_periods), (vec![None; 10], vec![0.0], 0));
        let found = OnlineRating::new(system).run(&games(3, Vec::new())).unwrap();
        assert_eq!((found.strengths, found.n_periods), (vec![None; 3], 0));
    }
}

#[test]
fn swapped_sides_mirror() {
    let neutral: Vec<Game> = crowded(8).into_iter().map(|game| Game { is_neutral: true, ..game }).collect();
    let swapped = |game: &Game| {
        let outcome = match game.outcome {
            Outcome::Left => Outcome::Right,
            Outcome::Tie => Outcome::Tie,
            Outcome::Right => Outcome::Left,
        };
        Game { left: game.right, right: game.left, outcome, ..*game }
    };
    for rating in ratings() {
        let one = rating.run(&games(10, neutral.clone())).unwrap();
        let other = rating.run(&games(10, neutral.iter().map(swapped).collect())).unwrap();
        same(&one, &other, &format!("{rating:?}"));
        for (margin, swapped) in one.margins.iter().zip(&other.margins) {
            near(*margin, -swapped, 1e-9);
        }
    }
}

#[test]
fn a_tie_between_equals_moves_nobody() {
    for system in System::ALL {
        let tie = Game { time: 3.0, left: 0, right: 1, outcome: Outcome::Tie, is_neutral: false, weight: 5.0 };
        let found = OnlineRating::new(system).run(&games(2, vec![tie; 3])).unwrap();
        for strength in found.strengths {
            near(strength.unwrap().rating, 1500.0, 1e-9);
        }
    }
}

#[test]
fn hostile_numbers_give_numbers() {
    let game = |time, left, right, outcome, weight| Game { time, left, right, outcome, is_neutral: false, weight };
    let times = [-1e300, -1e-300, 0.0, 1e-300, 1.0, 1e300, f64::MAX, f64::MIN];
    let mut random = Random::new(9);
    let mut lists: Vec<Vec<Game>> = Vec::new();
    for weights in [[1.0, 1.0], [1e300, 1.0], [1e-300, f64::MAX], [f64::MAX, f64::MAX]] {
        let any = |random: &mut Random| {
            let left = random.below(4) as u32;
            let right = (left + 1 + random.below(3) as u32) % 4;
            let outcome = Outcome::ALL[random.below(3)];
            game(times[random.below(times.len())], left, right, outcome, weights[random.below(2)])
        };
        lists.push((0..60).map(|_| any(&mut random)).collect());
    }
    // One who always wins, at once and one by one; then everybody else turns out to be better.
    lists.push(vec![game(0.0, 0, 1, Outcome::Left, 1.0); 1_000_000]);
    lists.push((0..20_000).map(|at| game(f64::from(at), 0, 1 + at % 3, Outcome::Left, 1.0)).collect());
    lists.push(
        (0..4000)
            .map(|at| game(f64::from(at), 0, 1, if at < 3000 { Outcome::Left } else { Outcome::Right }, 40.0))
            .collect(),
    );
    lists.push((0..2000).map(|at| game(1e-310 * f64::from(at), 0, 1, Outcome::ALL[at as usize % 3], 1.0)).collect());
    for (number, list) in lists.into_iter().enumerate() {
        let games = games(4, list);
        for rating in ratings() {
            let found = rating.run(&games).unwrap();
            let all = found.strengths.iter().flatten().flat_map(|found| [found.rating, found.deviation]);
            let bad = all.chain(found.margins).find(|value| !value.is_finite());
            assert_eq!(bad, None, "list {number}, {rating:?}");
            assert!(found.period.is_none_or(|length| length.is_finite() && length > 0.0));
        }
    }
}

/// Players a million points apart, and the better one loses.
#[test]
fn gaps_beyond_all_chances() {
    let upset = Game { time: 2.0, left: 0, right: 1, outcome: Outcome::Right, is_neutral: true, weight: 1.0 };
    for outcome in [Outcome::Right, Outcome::Tie, Outcome::Left] {
        let upset = Game { outcome, ..upset };
        let mut systems: Vec<Box<dyn Online>> = Vec::new();
        for deviation in [1e-3, 350.0] {
            let mut elo = Elo::new(KFactor::Constant(32.0), 0.0).unwrap();
            elo.set(0, 1e6, 0).unwrap();
            let mut glicko = Glicko::new(NEW, 1.0).unwrap();
            glicko.set(0, Strength { rating: 1e6, deviation }, 0.0).unwrap();
            let mut glicko2 = Glicko2::new(NEW, 0.06, 0.5).unwrap();
            glicko2.set(0, Strength { rating: 1e6, deviation }, 0.06, 0.0).unwrap();
            let mut skills = TrueSkill::new(0.0, 0.2, Dynamics::default()).unwrap();
            skills.set(0, Skill { mean: 1e6, deviation }, 0.0).unwrap();
            let mut without_ties = TrueSkill::new(0.0, 0.0, Dynamics::default()).unwrap();
            without_ties.set(0, Skill { mean: 1e6, deviation }, 0.0).unwrap();
            systems.extend::<[Box<dyn Online>; 5]>([
                Box::new(elo),
                Box::new(glicko),
                Box::new(glicko2),
                Box::new(skills),
                Box::new(without_ties),
            ]);
        }
        for (number, system) in systems.iter_mut().enumerate() {
            let before = system.strength(0, 2.0).rating;
            for _ in 0..50 {
                system.update(&[upset]);
            }
            let after = [0, 1].map(|player| system.strength(player, 2.0));
            assert!(
                after.iter().all(|found| found.rating.is_finite() && found.deviation.is_finite()),
                "{number}: {after:?}"
            );
            assert!(outcome == Outcome::Left || after[0].rating < before, "{number}: {after:?}");
        }
    }
}

/// Ten games of the median player in a period; never longer than all the games take.
#[test]
fn usual_periods_have_ten_games_of_a_player() {
    let found = |list: Vec<Game>| OnlineRating::new(System::ALL[2]).run(&games(10, list)).unwrap();
    let many = found(drawn(1001, 10, 10));
    // 1000 units of time, about 200 games each: 20 periods of about 50 units.
    let length = many.period.unwrap();
    assert!((40.0..60.0).contains(&length), "{length}");
    assert_eq!(many.n_periods, (1000.0 / length).ceil() as usize);
    let few = found(drawn(12, 10, 10));
    assert!((few.period.unwrap() - 11.0).abs() < 1e-6 && few.n_periods == 1, "{:?}", few.period);
    // A period ends where the next one begins: games at 0, 1 and 2 are in three periods of length 1.
    let list: Vec<Game> = (0..3).map(|time| Game { time: f64::from(time), ..drawn(1, 10, 10)[0] }).collect();
    let each = OnlineRating::new(System::ALL[0]).period(Some(1.0)).run(&games(10, list)).unwrap();
    assert_eq!(each.n_periods, 3);
    let once: Vec<Game> = drawn(300, 10, 10).into_iter().map(|game| Game { time: 8.0, ..game }).collect();
    assert_eq!((found(once.clone()).period, found(once).n_periods), (Some(1.0), 1));
    let elo = OnlineRating::new(System::ALL[0]).run(&games(10, drawn(50, 10, 1))).unwrap();
    assert_eq!((elo.period, elo.n_periods), (None, 50));
    assert!(OnlineRating::new(System::ALL[0]).period(Some(0.0)).run(&games(10, drawn(50, 10, 1))).is_err());
}

/// The watcher sees each period once, in order of time, and at the end what the run gives back.
#[test]
fn the_watcher_sees_every_period() {
    let games = games(10, crowded(11));
    for rating in ratings() {
        let mut seen: Vec<(f64, f64)> = Vec::new();
        let found = rating.run_watched(&games, &mut |time, system| seen.push((time, system.strength(4, time).rating)));
        let found = found.unwrap();
        assert_eq!(seen.len(), found.n_periods);
        assert!(seen.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(seen.last().map(|last| last.1), found.strengths[4].map(|strength| strength.rating));
    }
}

/// Equal players, of whom the left one wins as if it were 100 points better.
#[test]
fn a_fitted_advantage_is_what_there_is() {
    let mut random = Random::new(12);
    let mut list = drawn(6000, 6, 12);
    for game in &mut list {
        let lead: f64 = if game.is_neutral { 0.0 } else { 100.0 };
        let chance = 1.0 / (1.0 + 10f64.powf(-lead / 400.0));
        game.outcome = if random.uniform() < chance { Outcome::Left } else { Outcome::Right };
    }
    let games = games(6, list);
    for system in System::ALL {
        let rating = OnlineRating::new(system).advantage(Advantage::Fitted);
        let found = rating.run(&games).unwrap();
        let advantage = found.advantage.unwrap();
        assert!((60.0..170.0).contains(&advantage), "{}: {advantage}", system.name());
        assert_eq!(rating.run(&games).unwrap(), found);
        let points = rating.advantage(Advantage::Points(advantage)).run(&games).unwrap();
        assert_eq!(points, found);
        let neutral = Games {
            games: games.games.iter().map(|game| Game { is_neutral: true, ..*game }).collect(),
            ..games.clone()
        };
        assert_eq!(rating.run(&neutral).unwrap().advantage, None);
        // Winners that are named first: it was the largest number that is tried.
        let one_sided = Games {
            games: games.games.iter().map(|game| Game { outcome: Outcome::Left, ..*game }).collect(),
            ..neutral
        };
        let found = rating.run(&one_sided).unwrap();
        assert_eq!(found.advantage, None);
        assert_eq!(found.strengths, OnlineRating::new(system).run(&one_sided).unwrap().strengths);
    }
}
