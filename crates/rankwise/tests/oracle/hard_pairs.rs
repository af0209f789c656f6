//! The hard margin on judged pairs, against an interior-point solver, and by its own rows.

use rankwise::data::{Comparisons, Outcome, Scale};
use rankwise::model::{Method, ThresholdRule, TieRegion};
use rankwise::{CompareSvm, Error, Gamma, Kernel, Loss, Model, Stop};

use crate::oracle::conic::{Entries, explicit_items, minimum};
use crate::oracle::plain::{Ask, Draw, comparisons, rows_of, scores, squared_norm, unit_of, weighted};

fn hard(kernel: Kernel) -> Ask {
    Ask::compare(kernel, Loss::Hinge, f64::INFINITY).tol(1e-8)
}

/// Rows of y·(z + β): differences, oriented, with the sign of β; 0 without ties.
fn rows(items: &[Vec<f64>], data: &Comparisons, method: Method) -> Vec<(Vec<f64>, f64)> {
    let has_beta = method == Method::Compare && data.n_ties() > 0;
    let mut rows = Vec::new();
    for (pair, outcome) in data.set.pairs.iter().zip(&data.outcomes) {
        let difference = |sign: f64| -> Vec<f64> {
            items[pair.right as usize].iter().zip(&items[pair.left as usize]).map(|(r, l)| sign * (r - l)).collect()
        };
        if *outcome != Outcome::Tie {
            rows.push((difference(f64::from(outcome.sign())), f64::from(has_beta)));
        } else if has_beta {
            rows.extend([(difference(1.0), -1.0), (difference(-1.0), -1.0)]);
        }
    }
    rows
}

/// The least ½‖u‖² with all rows at least 1.
fn conic_objective(items: &[Vec<f64>], data: &Comparisons, method: Method) -> f64 {
    let d = items[0].len();
    let rows = rows(items, data, method);
    let mut p = vec![1.0; d + 1];
    p[d] = 0.0;
    let mut a = Entries::new(d + 1);
    let mut b = Vec::new();
    if rows.iter().all(|row| row.1 == 0.0) {
        a.row([(d, 1.0)]);
        b.push(0.0);
    }
    let n_equal = b.len();
    for (difference, beta) in &rows {
        a.row(difference.iter().enumerate().map(|(f, v)| (f, -v)).chain([(d, -beta)]));
        b.push(-1.0);
    }
    minimum(&p, &vec![0.0; d + 1], &a, &b, n_equal)
}

/// The largest t with all rows at least t, for u in the unit cube: 0 where nothing separates.
fn conic_lead(items: &[Vec<f64>], data: &Comparisons) -> f64 {
    let d = items[0].len();
    let mut a = Entries::new(d + 2);
    let mut b = Vec::new();
    for (difference, beta) in rows(items, data, Method::Compare) {
        a.row(difference.iter().enumerate().map(|(f, v)| (f, -v)).chain([(d, -beta), (d + 1, 1.0)]));
        b.push(0.0);
    }
    for at in 0..d {
        a.row([(at, 1.0)]);
        a.row([(at, -1.0)]);
        b.extend([1.0, 1.0]);
    }
    let mut q = vec![0.0; d + 2];
    q[d + 1] = -1.0;
    -minimum(&vec![0.0; d + 2], &q, &a, &b, 0)
}

/// The rows of the linear program that maximises the margin, at the scores and the margin of the model; the least of them.
fn least_slack(model: &Model, data: &Comparisons) -> f64 {
    let (scores, margin) = (scores(model, data), model.training.margin.unwrap());
    let slack = |(pair, outcome): (&rankwise::data::Pair, &Outcome)| {
        let z = scores[pair.right as usize] - scores[pair.left as usize];
        match outcome {
            Outcome::Tie => 1.0 - z.abs() - margin,
            outcome => f64::from(outcome.sign()) * z - 1.0 - margin,
        }
    };
    data.set.pairs.iter().zip(&data.outcomes).map(slack).fold(f64::INFINITY, f64::min)
}

fn check(name: &str, kernel: Kernel, data: &Comparisons) -> Model {
    let model = hard(kernel).model(data);
    let training = &model.training;
    let unit = unit_of(&model);
    let expected = conic_objective(&explicit_items(kernel, data), data, Method::Compare);
    let what = format!("{name}: {} {expected}, {:?} gap {:e}", training.objective, training.stop, training.gap);
    assert!((training.objective / expected - 1.0).abs() <= 1e-6, "{what}");
    assert!(training.objective >= expected * (1.0 - 1e-7) && training.gap <= 1e-8, "{what}");
    assert_eq!(training.stop, Stop::Converged, "{what}");
    // What is told of the model is true of the model itself.
    let norm = 0.5 * unit * unit * squared_norm(&model);
    assert!((norm / training.objective - 1.0).abs() < 1e-7, "{what}: {norm}");
    let margin = training.margin.unwrap();
    assert!(margin > 0.0 && margin <= 1.0 && margin == -1.0 / model.beta.unwrap());
    assert_eq!((model.threshold, training.threshold_rule), (1.0, ThresholdRule::Model));
    let slack = least_slack(&model, data);
    assert!(slack.abs() < 1e-8, "{what}: slack {slack:e}");
    assert!((slack - training.lp_slack.unwrap()).abs() < 1e-8, "{what}");
    // In units of u, no row is below 1.
    assert!(slack * unit > -1e-7, "{what}");
    let outcomes = model.compare(&data.set).unwrap();
    assert_eq!(outcomes, data.outcomes, "{name}: every pair is as it was judged");
    model
}

fn no_margin(ask: &Ask, data: &Comparisons) -> String {
    match ask.fit(data) {
        Err(Error::NotSeparable { problem, .. }) => problem,
        Err(error) => panic!("{error}"),
        Ok(fit) => panic!("a margin of {:?}", fit.model.training.margin),
    }
}

fn separable(seed: u64) -> Comparisons {
    Draw { seed, items: 40, features: 4, pairs: 120, ties: [0.1, 0.4, 0.8][seed as usize % 3], noise: 0.0 }.data()
}

#[test]
fn linear_machines_have_the_conic_solvers_objective() {
    for seed in 0..6 {
        check(&format!("seed {seed}"), Kernel::Linear, &separable(seed));
    }
}

#[test]
fn kernel_machines_have_the_conic_solvers_objective() {
    for seed in 0..4 {
        let data = curved(&Draw { seed, items: 50, features: 3, pairs: 90, ties: 0.3, noise: 0.0 }.data());
        let kernel = match seed % 2 {
            0 => Kernel::rbf(2.0),
            _ => Kernel::Poly { gamma: Gamma::Value(0.5), coef0: 1.0, degree: 4 },
        };
        check(&format!("seed {seed}"), kernel, &data);
    }
    // So many pairs that features of the kernel are what is solved in.
    let many = curved(&Draw { seed: 9, items: 30, features: 3, pairs: 2400, ties: 0.4, noise: 0.0 }.data());
    check("many pairs", Kernel::rbf(0.1), &many);
}

/// Judged by the squared length of the items, which no linear function follows.
fn curved(data: &Comparisons) -> Comparisons {
    let rows = rows_of(&data.set.items.features);
    let truth: Vec<f64> = rows.iter().map(|row| row.iter().map(|v| v * v).sum()).collect();
    let outcome = |p: &rankwise::data::Pair| Outcome::of_margin(truth[p.right as usize] - truth[p.left as usize], 0.8);
    let pairs = data.set.pairs.iter().map(|p| (p.left, p.right)).collect();
    comparisons(&rows, pairs, data.set.pairs.iter().map(outcome).collect())
}

/// Without pairs of an item with itself, and each two items judged once.
fn without_selves(data: &Comparisons) -> Comparisons {
    let mut known = std::collections::HashSet::new();
    let keep: Vec<usize> = (0..data.n_pairs())
        .filter(|&k| {
            let pair = data.set.pairs[k];
            pair.left != pair.right && known.insert((pair.left.min(pair.right), pair.left.max(pair.right)))
        })
        .collect();
    let pairs = keep.iter().map(|&k| (data.set.pairs[k].left, data.set.pairs[k].right)).collect();
    comparisons(&rows_of(&data.set.items.features), pairs, keep.iter().map(|&k| data.outcomes[k]).collect())
}

#[test]
fn more_items_than_can_be_factored_are_searched_in_pairs() {
    let data = Draw { seed: 5, items: 2600, features: 3, pairs: 2100, ties: 0.3, noise: 0.3 }.data();
    let data = without_selves(&data);
    let model = Ask::compare(Kernel::rbf(20.0), Loss::SquaredHinge, f64::INFINITY).model(&data);
    assert!(model.training.gap <= 1e-3 && model.training.stop == Stop::Converged, "{:?}", model.training);
    assert!(least_slack(&model, &data) > -1e-8);
    assert_eq!(model.compare(&data.set).unwrap(), data.outcomes);
}

#[test]
fn rank_has_a_hard_margin_too() {
    for kernel in [Kernel::Linear, Kernel::rbf(0.2)] {
        let data = separable(2);
        let model = Ask::new(Method::Rank, kernel, Loss::SquaredHinge, f64::INFINITY).tol(1e-8).model(&data);
        let expected = conic_objective(&explicit_items(kernel, &data), &data, Method::Rank);
        let training = &model.training;
        assert!((training.objective / expected - 1.0).abs() <= 1e-6, "{} {expected}", training.objective);
        let least = scores(&model, &data);
        let leads = data.set.pairs.iter().zip(&data.outcomes).filter(|(_, o)| **o != Outcome::Tie);
        let least = leads
            .map(|(p, o)| f64::from(o.sign()) * (least[p.right as usize] - least[p.left as usize]))
            .fold(f64::INFINITY, f64::min);
        assert!((least - 1.0).abs() < 1e-9, "{least}");
        assert!((training.margin.unwrap() * (2.0 * expected).sqrt() - 1.0).abs() < 1e-6);
        assert_eq!((training.lp_slack, model.beta), (None, None));
    }
    // Without ties, compare is rank, and says so.
    let data = Draw { seed: 3, items: 40, features: 4, pairs: 80, ties: 0.0, noise: 0.0 }.data();
    let data = without_selves(&data);
    let compare = hard(Kernel::Linear).model(&data);
    let rank = Ask::new(Method::Rank, Kernel::Linear, Loss::Hinge, f64::INFINITY).tol(1e-8).model(&data);
    assert_eq!(scores(&compare, &data), scores(&rank, &data));
    assert!(compare.training.warnings[0].contains("no pair is a tie"), "{:?}", compare.training.warnings);
    assert!(compare.no_tie_region && compare.threshold == 0.0);
}

#[test]
fn neither_weights_nor_losses_nor_options_of_ties_matter() {
    let data = separable(1);
    let plain = hard(Kernel::Linear).model(&data);
    let mut ask = hard(Kernel::Linear);
    (ask.loss, ask.tie_weight, ask.tie_region) = (Loss::SquaredHinge, 3.0, TieRegion::Always);
    let other = ask.refit().model(&weighted(data, 4));
    assert_eq!(scores(&plain, &separable(1)), scores(&other, &separable(1)));
    assert_eq!((plain.beta, plain.threshold), (other.beta, other.threshold));
}

#[test]
fn units_of_features_are_units_of_the_answer() {
    let data = separable(4);
    let rows = rows_of(&data.set.items.features);
    let times = |factor: f64| {
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|v| factor * v).collect()).collect();
        let pairs = data.set.pairs.iter().map(|p| (p.left, p.right)).collect();
        comparisons(&rows, pairs, data.outcomes.clone())
    };
    for kernel in [Kernel::Linear, Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 1 }] {
        let plain = hard(kernel).model(&data).training;
        for factor in [1e-6, 1e6] {
            let scaled = hard(kernel).model(&times(factor)).training;
            let ratio = scaled.objective * factor * factor / plain.objective;
            assert!((ratio - 1.0).abs() < 1e-7, "{factor}: {ratio}");
            assert!((scaled.margin.unwrap() / plain.margin.unwrap() - 1.0).abs() < 1e-4);
        }
    }
    // --scale standard is what scaling by hand gives.
    let mut uneven = rows.clone();
    uneven.iter_mut().for_each(|row| (row[0], row[1]) = (100.0 * row[0], row[1] + 7.0));
    let pairs: Vec<(u32, u32)> = data.set.pairs.iter().map(|p| (p.left, p.right)).collect();
    let fit = |rows: &[Vec<f64>], scale: Scale| {
        let data = comparisons(rows, pairs.clone(), data.outcomes.clone());
        CompareSvm::new().c(f64::INFINITY).tol(1e-8).scale(scale).fit(&data).unwrap().model
    };
    let (n, mut by_hand) = (rows.len() as f64, uneven.clone());
    for column in 0..4 {
        let mean = uneven.iter().map(|row| row[column]).sum::<f64>() / n;
        let deviation = (uneven.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / n).sqrt();
        by_hand.iter_mut().for_each(|row| row[column] = (row[column] - mean) / deviation);
    }
    let (scaled, by_hand) = (fit(&uneven, Scale::Standard), fit(&by_hand, Scale::None));
    assert!((scaled.training.objective / by_hand.training.objective - 1.0).abs() < 1e-7);
    assert!(fit(&uneven, Scale::None).training.objective < 0.99 * scaled.training.objective);
}

#[test]
fn what_cannot_be_told_apart_is_proven_to_be_so() {
    for seed in 0..4 {
        let data = Draw { seed, items: 40, features: 3, pairs: 150, ties: 0.4, noise: 0.3 }.data();
        let data = without_selves(&data);
        let lead = conic_lead(&rows_of(&data.set.items.features), &data);
        assert!(lead < 1e-7, "the twin says so: {lead}");
        let problem = no_margin(&hard(Kernel::Linear), &data);
        assert!(problem.contains("not separable") && problem.contains("norm of u"), "{problem}");
    }
    // One pair that stands against all others is enough, through a kernel, too.
    let mut against = separable(0);
    let k = (0..against.n_pairs()).find(|&k| against.outcomes[k] != Outcome::Tie).unwrap();
    against.outcomes[k] = if against.outcomes[k] == Outcome::Left { Outcome::Right } else { Outcome::Left };
    assert!(conic_lead(&rows_of(&against.set.items.features), &against) < 1e-7);
    no_margin(&hard(Kernel::Linear), &against);
    let straight = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 1 };
    let problem = no_margin(&hard(straight), &without_selves(&against));
    assert!(problem.contains("norm of u"), "{problem}");
}

#[test]
fn contradictions_are_named() {
    let rows = [vec![0.0, 1.0], vec![1.0, 0.5], vec![2.0, 0.0], vec![1.0, 0.5]];
    use Outcome::{Left, Right, Tie};
    type Case<'a> = (&'a [(u32, u32)], &'a [Outcome], &'a str);
    let cases: [Case<'_>; 6] = [
        (&[(0, 1), (1, 0), (1, 2)], &[Tie, Left, Right], "different ways"),
        (&[(0, 1), (0, 1), (1, 2)], &[Right, Left, Tie], "different ways"),
        (&[(1, 1), (0, 1)], &[Right, Tie], "better than itself"),
        // The same under other numbers is found by the search.
        (&[(0, 1), (0, 3), (1, 2)], &[Tie, Right, Right], "norm of u"),
        (&[(1, 3), (0, 2)], &[Left, Tie], "norm of u"),
        (&[(1, 3), (0, 2), (0, 1)], &[Left, Tie, Right], "norm of u"),
    ];
    for kernel in [Kernel::Linear, Kernel::rbf(1.0)] {
        for (pairs, outcomes, expected) in cases {
            let data = comparisons(&rows, pairs.to_vec(), outcomes.to_vec());
            let problem = no_margin(&hard(kernel), &data);
            assert!(problem.contains(expected), "{kernel:?} {pairs:?}: {problem}");
        }
    }
    // Judged twice in the same way, from either side, is no contradiction.
    let data = comparisons(&rows, vec![(0, 1), (1, 0), (1, 2), (1, 1)], vec![Tie, Tie, Right, Tie]);
    let model = hard(Kernel::rbf(1.0)).model(&data);
    assert!(model.training.margin.unwrap() > 0.0);
}

#[test]
fn nothing_but_ties_is_separable_with_equal_scores() {
    let data = comparisons(&[vec![0.0], vec![1.0]], vec![(0, 1)], vec![Outcome::Tie]);
    for kernel in [Kernel::Linear, Kernel::rbf(1.0)] {
        let model = hard(kernel).model(&data);
        assert_eq!((model.training.margin, model.training.lp_slack), (Some(1.0), Some(0.0)));
        assert_eq!((model.training.objective, model.threshold), (0.0, 1.0));
        assert!(model.training.warnings[0].contains("all pairs are ties"), "{:?}", model.training.warnings);
    }
}

#[test]
fn what_has_no_hard_margin_is_refused() {
    let data = separable(0);
    let refused = |ask: Ask, expected: &str| {
        let error = ask.fit(&data).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("finite C"), "{error}");
    };
    refused(Ask::new(Method::Rank2, Kernel::Linear, Loss::Hinge, f64::INFINITY), "rank2");
    refused(Ask::compare(Kernel::Linear, Loss::Logistic, f64::INFINITY), "logistic");
    refused(hard(Kernel::Sigmoid { gamma: Gamma::Value(0.1), coef0: 0.0 }), "not positive definite");
    refused(hard(Kernel::rbf(1.0)).landmarks(5), "hard margin");
    let calibrated = CompareSvm::new().c(f64::INFINITY).calibrate(true).fit(&data).unwrap_err().to_string();
    assert!(calibrated.contains("probabilities"), "{calibrated}");
}
