//! Likelihoods of three outcomes and tie bands against sums written out pair by pair and minimised by a method that knows
//! nothing of them; machines in weights against the conic solver.

use rankwise::data::{Comparisons, Context, Features, Outcome, Precision, Random};
use rankwise::model::{Chances, Method, ScoreFunction, TieBandKind};
use rankwise::{CompareSvm, Davidson, Fit, Kernel, Loss, Model, PairEstimator};

use crate::oracle::conic;
use crate::oracle::plain::{Ask, Draw, rows_of, weighted};

/// Minimises by steps along estimated curvature (BFGS), derivatives by differences.
fn minimum(value: &dyn Fn(&[f64]) -> f64, mut at: Vec<f64>) -> f64 {
    let n = at.len();
    let gradient = |at: &[f64]| -> Vec<f64> {
        (0..n)
            .map(|k| {
                let h = 1e-6;
                let moved = |by: f64| {
                    let mut there = at.to_vec();
                    there[k] += by;
                    value(&there)
                };
                (moved(h) - moved(-h)) / (2.0 * h)
            })
            .collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut inverse: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
    let (mut best, mut slope) = (value(&at), gradient(&at));
    for _ in 0..2000 {
        let step: Vec<f64> = inverse.iter().map(|row| -dot(row, &slope)).collect();
        let mut share = 1.0;
        let next = loop {
            let there: Vec<f64> = at.iter().zip(&step).map(|(a, s)| a + share * s).collect();
            let found = value(&there);
            if found < best + 1e-4 * share * dot(&slope, &step) {
                break Some((there, found));
            }
            share *= 0.5;
            if share < 1e-14 {
                break None;
            }
        };
        let Some((there, found)) = next else { break };
        let next_slope = gradient(&there);
        let s: Vec<f64> = there.iter().zip(&at).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = next_slope.iter().zip(&slope).map(|(a, b)| a - b).collect();
        let sy = dot(&s, &y);
        if sy > 1e-14 {
            let hy: Vec<f64> = inverse.iter().map(|row| dot(row, &y)).collect();
            let yhy = dot(&y, &hy);
            for i in 0..n {
                for j in 0..n {
                    inverse[i][j] += (1.0 + yhy / sy) * s[i] * s[j] / sy - (hy[i] * s[j] + s[i] * hy[j]) / sy;
                }
            }
        }
        let gain = best - found;
        (at, best, slope) = (there, found, next_slope);
        if gain <= 1e-15 * best.abs() && dot(&slope, &slope).sqrt() < 1e-5 {
            break;
        }
    }
    best
}

/// −log of the probability of an outcome, straight from the definitions.
fn cost(rule: Rule, outcome: Outcome, z: f64, b: f64) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let positive = |t: f64| t.max(0.0) * t.max(0.0);
    match rule {
        Rule::SquaredHinge => match outcome {
            Outcome::Tie => positive(1.0 + b + z) + positive(1.0 + b - z),
            Outcome::Right => positive(1.0 - b - z),
            Outcome::Left => positive(1.0 - b + z),
        },
        Rule::RaoKupper => {
            let tau = -b;
            -match outcome {
                Outcome::Tie if tau <= 0.0 => return f64::INFINITY,
                Outcome::Tie => (1.0 - (-2.0 * tau).exp()).ln() + sigmoid(tau - z).ln() + sigmoid(tau + z).ln(),
                Outcome::Right => sigmoid(z - tau).ln(),
                Outcome::Left => sigmoid(-z - tau).ln(),
            }
        }
        Rule::Davidson => {
            let total = ((z / 2.0).exp() + (-z / 2.0).exp() + b.exp()).ln();
            total
                - match outcome {
                    Outcome::Tie => b,
                    Outcome::Right => z / 2.0,
                    Outcome::Left => -z / 2.0,
                }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    SquaredHinge,
    RaoKupper,
    Davidson,
}

fn estimator(rule: Rule, c: f64, tie_band: TieBandKind, kernel: Kernel) -> PairEstimator {
    let mut estimator: PairEstimator = match rule {
        Rule::Davidson => Davidson::new().c(c).tie_band(tie_band).kernel(kernel).into(),
        Rule::RaoKupper => CompareSvm::new().c(c).tie_band(tie_band).kernel(kernel).loss(Loss::Logistic).into(),
        Rule::SquaredHinge => CompareSvm::new().c(c).tie_band(tie_band).kernel(kernel).into(),
    };
    estimator.effort_mut().tol = 1e-10;
    estimator
}

/// s of a pair: the mean of both sides, their absolute difference, the comparison's own columns.
fn shared(items: &[Vec<f64>], data: &Comparisons, k: usize) -> Vec<f64> {
    let pair = data.set.pairs[k];
    let (l, r) = (&items[pair.left as usize], &items[pair.right as usize]);
    let mut s: Vec<f64> = l.iter().zip(r).map(|(l, r)| 0.5 * (l + r)).collect();
    s.extend(l.iter().zip(r).map(|(l, r)| (r - l).abs()));
    if let Some(context) = &data.set.context {
        let mut row = vec![0.0; context.features.n_cols()];
        context.features.copy_row(k, &mut row);
        s.extend(row);
    }
    s
}

/// ½‖(u, v)‖² + C·Σ c·cost at given numbers (u, v, β).
fn objective(rule: Rule, c: f64, has_band: bool, data: &Comparisons, items: &[Vec<f64>], at: &[f64]) -> f64 {
    let d = items[0].len();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (weights, beta) = at.split_at(at.len() - 1);
    let mut sum = 0.5 * dot(weights, weights);
    for k in (0..data.n_pairs()).filter(|&k| data.weight(k) > 0.0) {
        let pair = data.set.pairs[k];
        let score = |item: u32| dot(&weights[..d], &items[item as usize]);
        let band = if has_band { dot(&weights[d..], &shared(items, data, k)) } else { 0.0 };
        let z = score(pair.right) - score(pair.left);
        sum += c * data.weight(k) * cost(rule, data.outcomes[k], z, beta[0] + band);
    }
    sum
}

fn data(seed: u64, with_context: bool, n_items: usize) -> Comparisons {
    let draw = Draw { seed, items: n_items, features: 2, pairs: 120, ties: 0.35, noise: 0.8 };
    let mut data = weighted(draw.data(), seed);
    if with_context {
        let mut random = Random::new(seed);
        let values: Vec<f64> = (0..data.n_pairs()).map(|_| random.normal()).collect();
        // Ties are more frequent where the column is large.
        for (outcome, value) in data.outcomes.iter_mut().zip(&values) {
            if *value > 1.0 {
                *outcome = Outcome::Tie;
            }
        }
        let features = Features::dense(1, values, Precision::F64).unwrap();
        data.set = data.set.with_context(Context { features, names: vec!["ease".into()] }).unwrap();
    }
    data
}

#[test]
fn objectives_are_those_of_an_independent_search() {
    for rule in [Rule::SquaredHinge, Rule::RaoKupper, Rule::Davidson] {
        for (band, with_context) in
            [(TieBandKind::Constant, false), (TieBandKind::Pair, false), (TieBandKind::Pair, true)]
        {
            for (seed, c) in [(1, 0.03), (2, 1.0), (3, 20.0)] {
                let data = data(seed, with_context, if seed == 2 { 200 } else { 12 });
                let items = rows_of(&data.set.items.features);
                let has_band = band == TieBandKind::Pair;
                let n = if has_band { 3 * 2 + usize::from(with_context) } else { 2 } + 1;
                let mut start = vec![0.0; n];
                start[n - 1] = -0.5;
                let expected = minimum(&|at| objective(rule, c, has_band, &data, &items, at), start);
                let training = estimator(rule, c, band, Kernel::Linear).fit(&data).unwrap().model.training;
                let excess = training.objective / expected - 1.0;
                let what = format!("{rule:?} {band:?} {with_context} {seed}: {} {expected}", training.objective);
                assert!(excess.abs() <= 1e-8, "{what}");
                assert!(training.gap <= 1e-10, "{what}: gap {}", training.gap);
            }
        }
    }
}

/// The objective at the finished model, from what the model says alone.
#[test]
fn the_model_says_what_was_minimised() {
    for rule in [Rule::RaoKupper, Rule::Davidson] {
        for band in [TieBandKind::Constant, TieBandKind::Pair] {
            let data = data(4, true, 30);
            let Fit { model, .. } = estimator(rule, 2.0, band, Kernel::Linear).fit(&data).unwrap();
            let ScoreFunction::Linear { weights, .. } = &model.scorer.function else { unreachable!() };
            let mut norm: f64 = weights.iter().map(|w| w * w).sum();
            if let Some(band) = &model.band {
                norm += band.mean.iter().chain(&band.difference).chain(&band.context).map(|v| v * v).sum::<f64>();
            }
            let verdicts = model.judge(&data.set).unwrap();
            let chances = verdicts.chances.as_ref().unwrap();
            let mut sum = 0.5 * norm;
            for k in 0..data.n_pairs() {
                sum -= 2.0 * data.weight(k) * chances[k][data.outcomes[k] as usize].ln();
            }
            // The floor under the width of pairs that were no ties makes the sum larger, never smaller.
            assert!(sum >= model.training.objective * (1.0 - 1e-9), "{rule:?} {band:?}");
            let is_plain = rule == Rule::Davidson || band == TieBandKind::Constant;
            assert!(!is_plain || (sum / model.training.objective - 1.0).abs() < 1e-9, "{rule:?} {band:?} {sum}");
            // What is predicted is what is most probable.
            for (outcome, p) in model.compare(&data.set).unwrap().into_iter().zip(chances) {
                let largest = p.iter().fold(0.0, |a: f64, &b| a.max(b));
                assert!(p[outcome as usize] >= largest * (1.0 - 1e-9), "{rule:?} {band:?} {p:?} {outcome:?}");
            }
        }
    }
}

#[test]
fn exchanging_sides_mirrors_probabilities_to_the_last_digit() {
    for rule in [Rule::SquaredHinge, Rule::RaoKupper, Rule::Davidson] {
        for band in [TieBandKind::Constant, TieBandKind::Pair] {
            for kernel in [Kernel::Linear, Kernel::rbf(0.4)] {
                let data = data(5, true, 40);
                let mut swapped = data.clone();
                for (pair, outcome) in swapped.set.pairs.iter_mut().zip(&mut swapped.outcomes) {
                    std::mem::swap(&mut pair.left, &mut pair.right);
                    *outcome = outcome.swapped();
                }
                let fit = |data: &Comparisons| {
                    let mut estimator = estimator(rule, 1.0, band, kernel);
                    if let PairEstimator::Compare(svm) = &mut estimator {
                        svm.calibrate = rule == Rule::SquaredHinge;
                    }
                    estimator.fit(data).unwrap().model
                };
                let chances = |model: &Model, data: &Comparisons| model.judge(&data.set).unwrap().chances.unwrap();
                let (here, there) = (chances(&fit(&data), &data), chances(&fit(&swapped), &swapped));
                for (p, q) in here.iter().zip(there) {
                    assert_eq!(*p, [q[2], q[1], q[0]], "{rule:?} {band:?} {kernel:?}");
                }
            }
        }
    }
}

#[test]
fn held_out_log_loss_beats_the_constant() {
    let draw = |seed| {
        let draw = Draw { seed, items: 400, features: 3, pairs: 600, ties: 0.3, noise: 0.5 };
        draw.data()
    };
    let (train, test) = (draw(21), draw(21 + 1000));
    // Both draws have items of their own but one ranking function? Then the order is learnt; else nothing could be.
    for rule in [Rule::SquaredHinge, Rule::RaoKupper, Rule::Davidson] {
        let mut estimator = estimator(rule, 1.0, TieBandKind::Constant, Kernel::Linear);
        if let PairEstimator::Compare(svm) = &mut estimator {
            svm.calibrate = rule == Rule::SquaredHinge;
        }
        let model = estimator.fit(&train).unwrap().model;
        let log_loss = |chances: &dyn Fn(usize) -> [f64; 3], data: &Comparisons| {
            let sum: f64 = (0..data.n_pairs()).map(|k| -chances(k)[data.outcomes[k] as usize].ln()).sum();
            sum / data.n_pairs() as f64
        };
        let mut shares = [0.0; 3];
        train.outcomes.iter().for_each(|o| shares[*o as usize] += 1.0 / train.n_pairs() as f64);
        let chances = model.judge(&test.set).unwrap().chances.unwrap();
        let (found, constant) = (log_loss(&|k| chances[k], &test), log_loss(&|_| shares, &test));
        assert!(found < 0.9 * constant, "{rule:?}: {found} {constant}");
        if rule == Rule::SquaredHinge {
            assert!(matches!(model.chances, Some(Chances::Calibrated { .. })));
        }
    }
}

/// Few items, many pairs: the kernel of all items is factored and solved in weights. Many pairs of a linear machine with
/// hinge: its kink is rounded off.
#[test]
fn machines_in_weights_have_the_conic_solvers_objective() {
    let draw = Draw { seed: 6, items: 60, features: 3, pairs: 2600, ties: 0.3, noise: 1.0 };
    let data = weighted(draw.data(), 6);
    for method in [Method::Compare, Method::Rank2] {
        for loss in Loss::OF_PAIRS {
            for kernel in [Kernel::Linear, Kernel::rbf(0.2)] {
                let ask = Ask::new(method, kernel, loss, 0.02);
                assert!(conic::check("few items", &ask, &data), "{ask:?}");
            }
        }
    }
}

/// The linear kernel under another name goes by dual variables, and finds the same machine.
#[test]
fn weights_and_dual_variables_give_the_same_machine() {
    let same = Kernel::Poly { gamma: rankwise::Gamma::Value(1.0), coef0: 0.0, degree: 1 };
    for (seed, ties) in [(1, 0.05), (2, 0.3), (3, 0.8)] {
        let data = Draw { seed, items: 50, features: 3, pairs: 150, ties, noise: 0.5 }.data();
        for c in [1e-3, 0.1, 10.0] {
            let fit = |kernel| Ask::compare(kernel, Loss::SquaredHinge, c).tol(1e-9).model(&data);
            let (weights, duals) = (fit(Kernel::Linear), fit(same));
            let (a, b) = (&weights.training, &duals.training);
            assert!((a.objective / b.objective - 1.0).abs() < 1e-8, "{ties} {c}: {} {}", a.objective, b.objective);
            let (a, b) = (weights.beta.unwrap(), duals.beta.unwrap());
            assert!((a - b).abs() < 1e-4 * (1.0 + a.abs()), "{ties} {c}: β {a} {b}");
        }
    }
}
