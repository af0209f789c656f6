//! Ratings of maximum likelihood beside fits by another solver (fixtures/rating.json), and the laws they obey.

use rankwise::data::{Covariates, Game, Games, Outcome, Random};
use rankwise::rating::{DavidsonRating, DavidsonRatings};
use serde_json::Value;

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("../fixtures/rating.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or(Vec::new(), |list| list.iter().map(|x| x.as_f64().unwrap()).collect())
}

/// The games of a case in the order of the file: none has a time.
fn games(case: &Value, with_groups: bool) -> Games {
    let [left, right, outcome] = ["left", "right", "outcome"].map(|name| numbers(&case[name]));
    let weight = numbers(&case["weight"]);
    let neutral = case["neutral"].as_array();
    let game = |k: usize| Game {
        time: k as f64,
        left: left[k] as u32,
        right: right[k] as u32,
        outcome: Outcome::ALL[(outcome[k] + 1.0) as usize],
        is_neutral: neutral.is_some_and(|neutral| neutral[k].as_bool().unwrap()),
        weight: weight.get(k).copied().unwrap_or(1.0),
    };
    let rows: Vec<Vec<f64>> =
        case["covariates"].as_array().map_or(Vec::new(), |rows| rows.iter().map(numbers).collect());
    let n_effects = rows.first().map_or(0, Vec::len);
    let covariates = (n_effects > 0)
        .then(|| Covariates { names: (0..n_effects).map(|k| format!("x{k}")).collect(), differences: rows.concat() });
    let groups = with_groups.then(|| numbers(&case["group"]).iter().map(|&group| group as u32).collect());
    let names = (0..case["n_items"].as_u64().unwrap()).map(|k| format!("item {k}")).collect();
    Games::with(names, (0..left.len()).map(game).collect(), groups, covariates).unwrap()
}

fn rating(case: &Value) -> DavidsonRating {
    let mut rating = DavidsonRating::new();
    rating.has_side = case["has_side"].as_bool().unwrap();
    rating.c = case["C"].as_f64();
    rating
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{what}: {found} instead of {expected}");
}

#[test]
fn ratings_equal_independent_fits() {
    for case in cases() {
        let name = case["name"].as_str().unwrap();
        let found = rating(&case).fit(&games(&case, false)).unwrap();
        assert!(found.is_converged && found.gradient < 1e-10, "{name}: {}", found.gradient);
        for (k, expected) in numbers(&case["r"]).into_iter().enumerate() {
            near(found.ratings[k].unwrap(), expected, 1e-8, &format!("{name}, item {k}"));
        }
        near(found.tie_parameter, case["nu"].as_f64().unwrap_or(0.0), 1e-8, name);
        near(found.log_likelihood, case["log_likelihood"].as_f64().unwrap(), 1e-10, name);
        let effects: Vec<f64> = case["side"].as_f64().into_iter().chain(numbers(&case["effects"])).collect();
        assert_eq!(found.effects.len(), effects.len(), "{name}");
        for (effect, expected) in found.effects.iter().zip(effects) {
            near(effect.value.unwrap(), expected, 1e-8, &format!("{name}, {}", effect.name));
        }
    }
}

/// The fixtures have no factor for small samples: n/(n − p) without a penalty, g/(g − 1) for groups.
#[test]
fn standard_errors_equal_independent_ones() {
    for case in cases() {
        let name = case["name"].as_str().unwrap();
        for (kind, with_groups) in [("sandwich", false), ("clustered", true)] {
            let games = games(&case, with_groups);
            let fit = rating(&case).fit(&games).unwrap();
            let errors = fit.standard_errors();
            let counted = || (0..games.games.len()).filter(|&k| games.games[k].weight > 0.0);
            let n_parts = numbers(&case["part"]).iter().map(|&part| part as usize).max().unwrap() + 1;
            let n_numbers = fit.ratings.len() + fit.effects.len() + usize::from(fit.tie_parameter > 0.0) - n_parts;
            let factor = match &games.groups {
                Some(groups) => {
                    let distinct: std::collections::BTreeSet<u32> = counted().map(|k| groups[k]).collect();
                    assert_eq!(errors.n_groups, Some(distinct.len()));
                    // As many groups of equal size as say as much.
                    let weight = |k: usize| games.games[k].weight;
                    let sum = |group: u32| counted().filter(|&k| groups[k] == group).map(weight).sum::<f64>();
                    let squares: f64 = distinct.iter().map(|&group| sum(group).powi(2)).sum();
                    let effective = counted().map(weight).sum::<f64>().powi(2) / squares;
                    near(errors.effective_groups.unwrap(), effective, 1e-12, name);
                    effective / (effective - 1.0)
                }
                None if case["C"].is_null() => {
                    let n: f64 = counted().map(|k| games.games[k].weight).sum();
                    n / (n - n_numbers as f64)
                }
                None => 1.0,
            };
            // With a penalty, ratings are thought of as drawn from a normal distribution.
            // Nothing is surer than the model itself says.
            let [expected, penalty, model] = [kind, "penalty", "model"].map(|kind| &case["errors"][kind]);
            let total = |((games, penalty), model): ((f64, f64), f64)| {
                (factor * games * games + penalty * penalty).sqrt().max(model)
            };
            let both = |name: &str| {
                let expected = numbers(&expected[name]).into_iter().zip(numbers(&penalty[name]));
                expected.zip(numbers(&model[name])).map(total)
            };
            for (k, error) in both("r").enumerate() {
                near(errors.ratings[k].unwrap(), error, 1e-7, &format!("{name}, {kind}, item {k}"));
            }
            let alone =
                |name: &str| expected[name].as_f64().zip(penalty[name].as_f64()).zip(model[name].as_f64()).map(total);
            if let Some(error) = alone("ln_nu") {
                near(errors.ln_tie_parameter.unwrap(), error, 1e-7, &format!("{name}, {kind}, ties"));
            }
            for (found, expected) in errors.effects.iter().zip(alone("side").into_iter().chain(both("effects"))) {
                near(found.unwrap(), expected, 1e-7, &format!("{name}, {kind}, effects"));
            }
        }
    }
}

/// Games of a known leaderboard.
pub(crate) fn simulate(n_players: usize, n_games: usize, seed: u64) -> Games {
    let mut dice = Random::new(seed);
    let strengths: Vec<f64> = (0..n_players).map(|_| dice.normal()).collect();
    let mut game = |k: usize| {
        let left = dice.below(n_players);
        let right = (left + 1 + dice.below(n_players - 1)) % n_players;
        let d = strengths[left] - strengths[right] + 0.3;
        let odds = [(0.5 * d).exp(), 0.8, (-0.5 * d).exp()];
        let mut at = dice.uniform() * odds.iter().sum::<f64>();
        let mut outcome = Outcome::Right;
        for (k, odds) in odds.into_iter().enumerate() {
            if at < odds {
                outcome = Outcome::ALL[k];
                break;
            }
            at -= odds;
        }
        let (left, right) = (left as u32, right as u32);
        Game { time: k as f64, left, right, outcome, is_neutral: k.is_multiple_of(4), weight: 1.0 }
    };
    let games = (0..n_games).map(&mut game).collect();
    Games::new((0..n_players).map(|k| format!("player {k}")).collect(), games).unwrap()
}

fn fit(games: &Games) -> DavidsonRatings {
    DavidsonRating::new().side().fit(games).unwrap()
}

/// The slopes of the likelihood, game by game: points that were made and points that were expected.
fn slopes(games: &Games, fit: &DavidsonRatings) -> Vec<f64> {
    let mut surplus = vec![0.0; games.players.len()];
    let side = fit.effects[0].value.unwrap();
    for game in &games.games {
        let rating = |player: u32| fit.ratings[player as usize].unwrap();
        let d = rating(game.left) - rating(game.right) + if game.is_neutral { 0.0 } else { side };
        let odds = [(0.5 * d).exp(), fit.tie_parameter, (-0.5 * d).exp()];
        let sum: f64 = odds.iter().sum();
        let expected = (odds[0] + 0.5 * odds[1]) / sum;
        surplus[game.left as usize] += game.weight * (game.left_points() - expected);
        surplus[game.right as usize] -= game.weight * (game.left_points() - expected);
    }
    surplus
}

/// Beyond a thousand players equations are solved without a matrix: the certificate is computed here, game by game.
#[test]
fn many_players_end_at_the_maximum_too() {
    for (n_players, n_games) in [(900, 9_000), (1_500, 30_000)] {
        let games = simulate(n_players, n_games, 3);
        let fit = fit(&games);
        assert!(fit.is_converged);
        let rated: Vec<usize> = (0..n_players).filter(|&k| fit.ratings[k].is_some()).collect();
        assert!(rated.len() > n_players * 9 / 10);
        let inside: Vec<usize> =
            (0..n_games).filter(|&k| fit.parts.are_comparable(games.games[k].left, games.games[k].right)).collect();
        let surplus = slopes(&games.select(&inside), &fit);
        assert!(rated.iter().all(|&k| surplus[k].abs() < 1e-8), "{:?}", fit.gradient);
        let sum: f64 = rated.iter().filter_map(|&k| fit.ratings[k]).sum();
        assert!(sum.abs() < 1e-6);
    }
}

/// Without a matrix, errors are estimated from draws: within a fifth of the exact ones, and without a trend.
#[test]
fn drawn_errors_are_those_of_the_matrix() {
    // The same games twice, the second time with so many others in a part of their own that no matrix is made.
    let games = simulate(60, 3_000, 5);
    let exact = fit(&games).standard_errors();
    let others = simulate(1_000, 20_000, 6);
    let mut all = games.games.clone();
    all.extend(others.games.iter().map(|game| Game { left: game.left + 60, right: game.right + 60, ..*game }));
    let mut both = Games::new((0..1_060).map(|k| k.to_string()).collect(), all).unwrap();
    both.groups = None;
    let fit = DavidsonRating::new().fit(&both).unwrap();
    let drawn = fit.standard_errors();
    assert!(drawn.n_draws.is_some() && exact.n_draws.is_none());
    let alone = DavidsonRating::new().fit(&games).unwrap().standard_errors();
    let ratios: Vec<f64> = (0..60).map(|k| drawn.ratings[k].unwrap() / alone.ratings[k].unwrap()).collect();
    let mean = ratios.iter().sum::<f64>() / 60.0;
    assert!((mean - 1.0).abs() < 0.05 && ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.25), "{mean} {ratios:?}");
}

#[test]
fn names_order_and_sides_do_not_matter() {
    let games = simulate(12, 300, 7);
    let found = fit(&games);
    // Other numbers, other rows.
    let renamed = |player: u32| (player * 5 + 3) % 12;
    let mut mixed: Vec<Game> = games
        .games
        .iter()
        .map(|game| Game { left: renamed(game.left), right: renamed(game.right), time: 0.0, ..*game })
        .collect();
    Random::new(1).shuffle(&mut mixed);
    let mixed = Games::new(games.players.clone(), mixed).unwrap();
    let again = fit(&mixed);
    let (errors, errors_again) = (found.standard_errors(), again.standard_errors());
    for player in 0..12u32 {
        let at = renamed(player) as usize;
        near(again.ratings[at].unwrap(), found.ratings[player as usize].unwrap(), 1e-10, "renamed");
        near(errors_again.ratings[at].unwrap(), errors.ratings[player as usize].unwrap(), 1e-9, "renamed");
    }
    // Sides swapped: the same ratings, and the advantage is the other side's.
    let swap = |game: &Game| Game { left: game.right, right: game.left, outcome: game.outcome.swapped(), ..*game };
    let swapped = fit(&Games::new(games.players.clone(), games.games.iter().map(swap).collect()).unwrap());
    for player in 0..12 {
        near(swapped.ratings[player].unwrap(), found.ratings[player].unwrap(), 1e-10, "swapped");
    }
    near(swapped.effects[0].value.unwrap(), -found.effects[0].value.unwrap(), 1e-10, "swapped");
    // Winners and losers exchanged: all ratings the other way round.
    let turn = |game: &Game| Game { outcome: game.outcome.swapped(), ..*game };
    let turned = fit(&Games::new(games.players.clone(), games.games.iter().map(turn).collect()).unwrap());
    for player in 0..12 {
        near(turned.ratings[player].unwrap(), -found.ratings[player].unwrap(), 1e-10, "turned");
    }
}

#[test]
fn weights_count_games() {
    let games = simulate(8, 120, 9);
    let weighted: Vec<Game> =
        games.games.iter().enumerate().map(|(k, game)| Game { weight: (k % 3) as f64, ..*game }).collect();
    let repeated = weighted.iter().flat_map(|game| vec![Game { weight: 1.0, ..*game }; game.weight as usize]).collect();
    let one = fit(&Games::new(games.players.clone(), weighted).unwrap());
    let other = fit(&Games::new(games.players.clone(), repeated).unwrap());
    for player in 0..8 {
        near(one.ratings[player].unwrap(), other.ratings[player].unwrap(), 1e-10, "weights");
    }
    near(one.log_likelihood, other.log_likelihood, 1e-12, "weights");
}

/// Games that count half after a while are games with such weights.
#[test]
fn decay_is_a_weight() {
    let games = simulate(8, 120, 11);
    let weighted =
        games.games.iter().map(|game| Game { weight: 0.5f64.powf((119.0 - game.time) / 30.0), ..*game }).collect();
    let one = DavidsonRating::new().half_life(30.0).fit(&games).unwrap();
    let other = DavidsonRating::new().fit(&Games::new(games.players.clone(), weighted).unwrap()).unwrap();
    for player in 0..8 {
        near(one.ratings[player].unwrap(), other.ratings[player].unwrap(), 1e-10, "decay");
    }
}

/// A game that ended as expected is no proof: who has tied once, and judges who agree, are not known for certain.
#[test]
fn agreement_by_chance_makes_nobody_sure() {
    let mut games = simulate(10, 1_000, 25);
    let tie = Game { time: 1e3, left: 10, right: 0, outcome: Outcome::Tie, is_neutral: true, weight: 1.0 };
    games.games.push(tie);
    games.players.push("new".into());
    let fit = DavidsonRating::new().fit(&games).unwrap();
    let (errors, resamples) = (fit.standard_errors(), fit.bootstrap(100, 0).unwrap());
    assert!(errors.ratings[10].unwrap() > 1.0 && errors.comparisons[10].unwrap() > 1.0);
    assert!(resamples.least_errors[10].unwrap() > 1.0);
    // Two judges with the same eight verdicts.
    let eight = [(0, 1, 0), (1, 0, 2), (0, 2, 0), (1, 2, 0), (2, 1, 0), (1, 0, 0), (2, 0, 0), (0, 1, 1)];
    let list: Vec<_> = eight.iter().map(|&(a, b, outcome)| (a, b, Outcome::ALL[outcome])).collect();
    let mut judged = small(&[list.clone(), list].concat());
    judged.groups = Some((0..16).map(|k| k / 8).collect());
    let errors = DavidsonRating::new().fit(&judged).unwrap().standard_errors();
    assert!(errors.ratings.iter().all(|error| error.unwrap() > 0.3), "{errors:?}");
}

/// A chain of 1,500 players, each of whom won three of five games against the next: ln 1.5 from each to the next, and at its ends
/// as unsure as 1,499 steps make it. A weight is a number of games, so that three rows say what five games do.
#[test]
fn long_chains_are_solved_exactly() {
    for n in [700u32, 1_500] {
        let game =
            |k: u32, outcome, weight| Game { time: 0.0, left: k, right: k + 1, outcome, is_neutral: true, weight };
        let rows = (0..n - 1).flat_map(|k| [game(k, Outcome::Left, 3.0), game(k, Outcome::Right, 2.0)]).collect();
        let games = Games::new((0..n).map(|k| k.to_string()).collect(), rows).unwrap();
        let fit = DavidsonRating::new().fit(&games).unwrap();
        assert!(fit.is_converged, "{}", fit.iterations);
        for k in 0..n as usize {
            let expected = 1.5f64.ln() * (0.5 * f64::from(n - 1) - k as f64);
            near(fit.ratings[k].unwrap(), expected, 1e-8, "chain");
        }
        // Every step has a variance of 1/(5·0.6·0.4), and the mean of all steps is spread over them.
        let step = 1.0 / 1.2 * 5.0 * f64::from(n - 1) / (5.0 * f64::from(n - 1) - f64::from(n - 1));
        let sum: f64 = (1..n).map(|k| (1.0 - f64::from(k) / f64::from(n)).powi(2)).sum();
        let found = fit.standard_errors().ratings[0].unwrap();
        near(found / (step * sum).sqrt(), 1.0, 1e-6, "chain");
    }
}

/// The penalised ratings are the weights of `train --method davidson` on the players' names.
#[test]
fn the_penalty_is_that_of_the_machine() {
    let games = simulate(10, 200, 13);
    let found = DavidsonRating::new().c(0.7).fit(&games).unwrap();
    let mut machine = rankwise::Davidson::new().c(0.7);
    machine.effort.tol = 1e-12;
    let model = machine.fit(&games.to_comparisons().unwrap()).unwrap().model;
    let pairs = games.to_comparisons().unwrap();
    let margins = model.judge(&pairs.set).unwrap().margins;
    for (game, margin) in games.games.iter().zip(margins) {
        let difference = found.ratings[game.right as usize].unwrap() - found.ratings[game.left as usize].unwrap();
        near(difference, margin, 1e-5, "machine");
    }
    near(found.ratings.iter().flatten().sum::<f64>(), 0.0, 1e-8, "sum");
}

/// Somebody who has hardly played makes the average unsure, and with it every rating; what is needed to compare the others
/// stays as it was.
#[test]
fn comparisons_do_not_suffer_from_who_hardly_plays() {
    let games = simulate(10, 2_000, 23);
    let alone = DavidsonRating::new().fit(&games).unwrap().standard_errors();
    let mut more = games.games.clone();
    let game = |left, right, outcome| Game { time: 3e3, left, right, outcome, is_neutral: true, weight: 1.0 };
    more.extend([game(10, 0, Outcome::Left), game(1, 10, Outcome::Left)]);
    let names = (0..11).map(|k| k.to_string()).collect();
    let fit = DavidsonRating::new().fit(&Games::new(names, more).unwrap()).unwrap();
    let (errors, resamples) = (fit.standard_errors(), fit.bootstrap(400, 3).unwrap());
    for player in 0..10 {
        let [with, without] = [&errors, &alone].map(|errors| errors.comparisons[player].unwrap());
        near(with, without, 0.02, "compared");
        assert!(errors.ratings[player].unwrap() > 1.3 * alone.ratings[player].unwrap());
        let numbers = &resamples.comparisons[player];
        let mean = numbers.iter().sum::<f64>() / 400.0;
        let spread = (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        assert!((0.8..1.25).contains(&(spread / with)), "{spread} {with}");
    }
}

/// Resamples spread about as the sandwich says, the same for any number of threads.
#[test]
fn resamples_spread_as_errors_say() {
    for with_groups in [false, true] {
        let mut games = simulate(12, 2_000, 15);
        games.groups = with_groups.then(|| (0..2_000).map(|k| k % 100).collect());
        let found = fit(&games);
        let errors = found.standard_errors();
        let resamples = found.bootstrap(600, 1).unwrap();
        for player in 0..12 {
            let numbers = &resamples.ratings[player];
            assert!(numbers.is_sorted() && numbers.len() == 600);
            let mean = numbers.iter().sum::<f64>() / 600.0;
            let spread = (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 599.0).sqrt();
            let ratio = spread / errors.ratings[player].unwrap();
            assert!((0.8..1.25).contains(&ratio), "player {player}: {ratio}");
        }
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let again = one_thread.install(|| fit(&games).bootstrap(600, 1).unwrap());
        assert_eq!(again, resamples);
        assert_ne!(found.bootstrap(600, 2).unwrap(), resamples);
    }
}

fn small(list: &[(u32, u32, Outcome)]) -> Games {
    let n = list.iter().map(|game| game.0.max(game.1)).max().unwrap() + 1;
    let game = |&(left, right, outcome)| Game { time: 0.0, left, right, outcome, is_neutral: false, weight: 1.0 };
    Games::new((0..n).map(|k| k.to_string()).collect(), list.iter().map(game).collect()).unwrap()
}

/// Who cannot be compared has no rating, and everybody has one with a penalty.
#[test]
fn ratings_without_bounds_are_not_given() {
    use Outcome::{Left, Right, Tie};
    let trap = small(&[(0, 1, Left), (0, 2, Left), (1, 2, Left)]);
    let plain = DavidsonRating::new().fit(&trap).unwrap();
    assert_eq!(plain.ratings, [None; 3]);
    assert_eq!(plain.standard_errors().ratings, [None; 3]);
    assert!(plain.bootstrap(10, 0).unwrap().ratings.iter().all(Vec::is_empty));
    let ridge = DavidsonRating::new().c(1.0).fit(&trap).unwrap();
    let ratings: Vec<f64> = ridge.ratings.iter().map(|rating| rating.unwrap()).collect();
    assert!(ratings[0] > ratings[1] && ratings[1] > ratings[2] && ratings[0] < 3.0 && ridge.tie_parameter == 0.0);
    // Three in a circle, one who lost against them once and two who never met them.
    let some = small(&[(0, 1, Left), (1, 2, Left), (2, 0, Left), (0, 3, Left), (4, 5, Left), (5, 4, Left)]);
    let found = DavidsonRating::new().fit(&some).unwrap();
    for (player, expected) in [Some(0.0), Some(0.0), Some(0.0), None, Some(0.0), Some(0.0)].into_iter().enumerate() {
        match expected {
            Some(expected) => near(found.ratings[player].unwrap(), expected, 1e-9, "circle"),
            None => assert_eq!(found.ratings[player], None),
        }
    }
    // A tie between equals moves nobody.
    let tied = small(&[(0, 1, Left), (1, 2, Left), (2, 0, Left), (0, 1, Tie), (2, 1, Tie)]);
    assert!(DavidsonRating::new().fit(&tied).unwrap().ratings.iter().all(|rating| rating.unwrap().abs() < 1e-12));
    // Nothing but ties, a single game, nothing at all.
    let ties = DavidsonRating::new().fit(&small(&[(0, 1, Tie), (1, 2, Tie)])).unwrap();
    assert!(ties.tie_parameter == f64::INFINITY && ties.ratings.iter().all(Option::is_none));
    assert_eq!(DavidsonRating::new().fit(&small(&[(0, 1, Right)])).unwrap().ratings, [None, None]);
    let nothing = Games::new(vec!["a".into()], Vec::new()).unwrap();
    assert_eq!(DavidsonRating::new().fit(&nothing).unwrap().ratings, [None]);
}

/// Columns that say nothing beyond who plays, or nothing at all, have no effect; the others keep theirs.
#[test]
fn effects_that_games_cannot_tell() {
    let games = simulate(10, 400, 17);
    let mut dice = Random::new(2);
    let x: Vec<f64> = (0..400).map(|_| dice.normal()).collect();
    let of_players = |game: &Game| f64::from(game.left) - f64::from(game.right);
    let rows = games.games.iter().zip(&x).flat_map(|(game, &x)| [of_players(game), 0.0, x, 3.0 * x, 1e-200 * x * x]);
    let names = ["age", "nothing", "x", "copy", "small"].map(String::from).to_vec();
    let covariates = Covariates { names, differences: rows.collect() };
    let known = Games::with(games.players.clone(), games.games.clone(), None, Some(covariates)).unwrap();
    let found = DavidsonRating::new().fit(&known).unwrap();
    let are_known: Vec<bool> = found.effects.iter().map(|effect| effect.value.is_some()).collect();
    assert_eq!(are_known, [false, false, true, false, true]);
    assert!(found.is_converged && found.gradient < 1e-10);
    let errors = found.standard_errors();
    assert!(errors.effects[2].is_some() && errors.effects[0].is_none());
}

/// An effect that explains every game has no size.
#[test]
fn effects_without_bounds_are_not_given() {
    let games = simulate(6, 200, 19);
    let differences = games.games.iter().map(|game| 1.0 - 2.0 * game.left_points()).collect();
    let covariates = Covariates { names: vec!["result".into()], differences };
    let known = Games::with(games.players.clone(), games.games.clone(), None, Some(covariates)).unwrap();
    let found = DavidsonRating::new().fit(&known).unwrap();
    assert_eq!(found.effects[0].value, None);
    // Nor have the ratings beside it: together they tell every game.
    assert!(found.parts.is_separable && found.ratings.iter().all(Option::is_none));
    let ridge = DavidsonRating::new().c(1.0).fit(&known).unwrap();
    assert!(ridge.ratings.iter().all(|rating| rating.unwrap().is_finite()));
}

/// The games with these columns.
fn with_columns(games: &Games, columns: &[(&str, &dyn Fn(usize) -> f64)]) -> Games {
    let names = columns.iter().map(|(name, _)| name.to_string()).collect();
    let differences = (0..games.games.len()).flat_map(|k| columns.iter().map(move |(_, of)| of(k))).collect();
    let covariates = Covariates { names, differences };
    Games::with(games.players.clone(), games.games.clone(), None, Some(covariates)).unwrap()
}

/// A score that was left in the table tells every game: with a penalty on ratings it is left out, and the ratings are those without
/// it, not 0.
#[test]
fn effects_that_tell_every_game_leave_ratings_alone() {
    let mut dice = Random::new(3);
    let games = simulate(12, 300, 31);
    let won = |k: usize| 2.0 * games.games[k].left_points() - 1.0;
    let goals: Vec<f64> = (0..300).map(|k| won(k) * (1 + dice.below(4)) as f64).collect();
    let noise: Vec<f64> = (0..300).map(|_| dice.normal()).collect();
    let rating = DavidsonRating::new().c(1.0);
    let noisy = rating.fit(&with_columns(&games, &[("noise", &|k| noise[k])])).unwrap();
    // Only the sum of two columns tells the games; a rare column of large numbers does; some of the games are told, others not at all.
    let both = with_columns(&games, &[("noise", &|k| noise[k]), ("rest", &|k| goals[k] - noise[k])]);
    let rare = with_columns(
        &games,
        &[("noise", &|k| noise[k]), ("rare", &|k: usize| if k.is_multiple_of(40) { 1e3 * goals[k] } else { 0.0 })],
    );
    let plain = with_columns(&games, &[("noise", &|k| noise[k]), ("goals", &|k| goals[k])]);
    for (name, told) in [("both", &both), ("rare", &rare), ("plain", &plain)] {
        let found = rating.fit(told).unwrap();
        assert_eq!(found.left_out, [1], "{name}");
        assert!(found.is_converged && found.effects[1].value.is_none(), "{name}");
        near(found.effects[0].value.unwrap(), noisy.effects[0].value.unwrap(), 1e-8, name);
        for (found, expected) in found.ratings.iter().zip(&noisy.ratings) {
            near(found.unwrap(), expected.unwrap(), 1e-8, name);
        }
        // Without a penalty nothing is given.
        let free = DavidsonRating::new().fit(told).unwrap();
        assert!(free.parts.is_separable && free.ratings.iter().all(Option::is_none), "{name}");
    }
    // One game against the column gives it a size.
    let mut almost = goals.clone();
    let turned = (0..300).find(|&k| games.games[k].outcome != Outcome::Tie).unwrap();
    almost[turned] = -almost[turned];
    let found = rating.fit(&with_columns(&games, &[("goals", &|k| almost[k])])).unwrap();
    assert!(found.left_out.is_empty() && found.is_converged && found.gradient < 1e-10, "{}", found.gradient);
    assert!(found.effects[0].value.unwrap() > 0.5);
}

/// Columns that said the same as one that is left out take its place.
#[test]
fn effects_that_tell_few_games_are_all_left_out() {
    let mut dice = Random::new(8);
    let mut n_left_out = 0;
    for trial in 0..300 {
        let (n, n_columns) = (2 + dice.below(5), 1 + dice.below(3));
        let games = simulate(4, n, 100 + trial);
        let columns: Vec<Vec<f64>> =
            (0..n_columns).map(|_| (0..n).map(|_| dice.below(5) as f64 - 2.0).collect()).collect();
        let named: Vec<(String, &Vec<f64>)> =
            columns.iter().enumerate().map(|(at, column)| (format!("e{at}"), column)).collect();
        let values: Vec<Box<dyn Fn(usize) -> f64>> =
            named.iter().map(|(_, column)| Box::new(|k: usize| column[k]) as Box<dyn Fn(usize) -> f64>).collect();
        let told: Vec<(&str, &dyn Fn(usize) -> f64)> =
            named.iter().zip(&values).map(|((name, _), value)| (name.as_str(), value.as_ref())).collect();
        let found = DavidsonRating::new().c(1.0).side().fit(&with_columns(&games, &told)).unwrap();
        n_left_out += found.left_out.len();
        for effect in &found.effects {
            assert!(effect.value.is_none_or(|value| value.abs() < 20.0), "{trial}: {:?}", found.effects);
        }
    }
    assert!(n_left_out > 300, "{n_left_out}");
}

/// Where winners are named first, the side tells every game.
#[test]
fn winners_named_first_are_no_effect_of_the_side() {
    use Outcome::{Left, Tie};
    for tie in [None, Some((1, 0, Tie))] {
        let list = [(0, 1, Left), (0, 1, Left), (1, 2, Left), (2, 0, Left), (0, 2, Left)];
        let games = small(&list.into_iter().chain(tie).collect::<Vec<_>>());
        let found = DavidsonRating::new().c(1.0).side().fit(&games).unwrap();
        assert_eq!((found.left_out.as_slice(), found.effects[0].value), ([0].as_slice(), None));
        let without = DavidsonRating::new().c(1.0).fit(&games).unwrap();
        assert!(found.is_converged && found.ratings == without.ratings && found.ratings[0].unwrap() > 0.1);
        let free = DavidsonRating::new().side().fit(&games).unwrap();
        assert!(free.parts.is_separable && free.ratings.iter().all(Option::is_none));
    }
}

/// A column that tells the games only together with the ratings, in numbers of very different size: no rating is given.
#[test]
fn ratings_and_effects_that_tell_every_game_together_are_found() {
    let mut games = simulate(8, 200, 37);
    for (k, game) in games.games.iter_mut().enumerate() {
        let size = if k.is_multiple_of(50) { 100.0 } else { 1.0 };
        let ahead = f64::from(game.right) - f64::from(game.left) + size * if k.is_multiple_of(3) { 1.5 } else { -1.5 };
        game.outcome = if ahead > 0.0 { Outcome::Left } else { Outcome::Right };
    }
    let column =
        |k: usize| (if k.is_multiple_of(50) { 100.0 } else { 1.0 }) * if k.is_multiple_of(3) { 1.5 } else { -1.5 };
    let found = DavidsonRating::new().fit(&with_columns(&games, &[("x", &column)])).unwrap();
    assert!(found.parts.is_separable && found.ratings.iter().all(Option::is_none), "{:?}", found.effects);
}

/// Thousands of games in a chain, a tree and a hub with its spokes, which took half a minute: exact, and fast.
#[test]
fn long_and_thin_boards_are_exact() {
    let n = 6_000u32;
    let mut dice = Random::new(41);
    let tree: Vec<u32> = (0..n).map(|k| dice.below(k.max(1) as usize) as u32).collect();
    let before: [&dyn Fn(u32) -> u32; 3] = [&|k| k - 1, &|k| tree[k as usize], &|_| 0];
    for before in before {
        let game = |left, right, outcome, weight| Game { time: 0.0, left, right, outcome, is_neutral: true, weight };
        let rows = |k: u32| [game(before(k), k, Outcome::Left, 3.0), game(before(k), k, Outcome::Right, 2.0)];
        let games = (1..n).flat_map(rows).collect();
        let fit =
            DavidsonRating::new().fit(&Games::new((0..n).map(|k| k.to_string()).collect(), games).unwrap()).unwrap();
        assert!(fit.is_converged && fit.gradient < 1e-12);
        let errors = fit.standard_errors();
        assert_eq!(errors.n_draws, None);
        // Over an edge with so many players below it, a player below or not: every edge has a variance of 1/(5·0.6·0.4).
        let mut sizes = vec![1.0f64; n as usize];
        (1..n).rev().for_each(|k| sizes[before(k) as usize] += sizes[k as usize]);
        let edge = 1.0 / 1.2 * 5.0 / 4.0;
        let share = |k: u32| sizes[k as usize] / f64::from(n);
        let mut variances = vec![(1..n).map(|k| edge * share(k).powi(2)).sum::<f64>()];
        (1..n).for_each(|k| {
            let change = edge * ((1.0 - share(k)).powi(2) - share(k).powi(2));
            variances.push(variances[before(k) as usize] + change);
        });
        for k in (0..n as usize).step_by(97) {
            near(errors.ratings[k].unwrap() / variances[k].sqrt(), 1.0, 1e-6, "thin");
        }
    }
}

/// Fewer games than numbers to tell say nothing of errors; of many players they gave some.
#[test]
fn errors_of_fewer_games_than_players_are_not_told() {
    for n in [900u32, 1_200] {
        let game = |k: u32| Game {
            time: 0.0,
            left: k,
            right: (k + 1) % n,
            outcome: Outcome::Left,
            is_neutral: true,
            weight: 0.5,
        };
        let games = Games::new((0..n).map(|k| k.to_string()).collect(), (0..n).map(game).collect()).unwrap();
        let errors = DavidsonRating::new().fit(&games).unwrap().standard_errors();
        let n_told = errors.ratings.iter().filter(|error| error.is_some_and(f64::is_finite)).count();
        assert_eq!(n_told, 0, "{n}");
    }
}

#[test]
fn hostile_numbers_stay_finite() {
    let games = simulate(6, 60, 21);
    for weight in [1e300, 1e-300, 1e-12] {
        let heavy = games.games.iter().map(|game| Game { weight, ..*game }).collect();
        let found = fit(&Games::new(games.players.clone(), heavy).unwrap());
        let plain = fit(&games);
        for player in 0..6 {
            near(found.ratings[player].unwrap(), plain.ratings[player].unwrap(), 1e-6, "weights");
        }
    }
    // A million identical games beside a few others.
    let mut many = games.games.clone();
    many.extend(std::iter::repeat_n(games.games[0], 1_000_000));
    let found = fit(&Games::new(games.players.clone(), many).unwrap());
    assert!(found.ratings.iter().flatten().all(|rating| rating.is_finite()));
    assert!(found.is_converged, "{} steps, {:?}", found.iterations, found.ratings);
    assert!(found.gradient < 1e-9);
    let times = games.games.iter().map(|game| Game { time: game.time * 1e300, ..*game }).collect();
    let late = DavidsonRating::new().half_life(1e-300).fit(&Games::new(games.players.clone(), times).unwrap());
    assert!(late.unwrap().ratings.iter().all(|rating| rating.is_none_or(f64::is_finite)));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(DavidsonRating::new().c(bad).fit(&games).is_err());
        assert!(DavidsonRating::new().half_life(bad).fit(&games).is_err());
    }
}
