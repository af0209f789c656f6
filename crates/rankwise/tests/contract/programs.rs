//! What holds for linear programs whatever the data: where they begin to learn, what changes nothing, what is hostile.

use rankwise::data::{Comparisons, Features, Items, Outcome, Pair, PairSet, Precision, Random, Ranking};
use rankwise::model::{CoefficientSign, Model, ScoreFunction};
use rankwise::{
    CompareLp, CompareSvm, Error, Gamma, Kernel, Loss, OneNormRankSvm, RankSvm, RankingVectorMachine, Stop,
};

const RBF: Kernel = Kernel::Rbf { gamma: Gamma::Value(1.0) };

fn ranking(n: usize, seed: u64) -> Ranking {
    let mut random = Random::new(seed);
    let rows: Vec<f64> = (0..4 * n).map(|_| random.between(0.0, 1.0)).collect();
    let truth = |x: &[f64]| (-x.iter().map(|x| (x - 0.4) * (x - 0.4)).sum::<f64>()).exp();
    let labels = rows.chunks(4).map(|x| truth(x) + 0.02 * random.normal()).collect();
    of(rows, labels)
}

fn of(rows: Vec<f64>, labels: Vec<f64>) -> Ranking {
    let d = rows.len() / labels.len();
    let items = Items::new(Features::dense(d, rows, Precision::F64).unwrap(), None, None).unwrap();
    Ranking::new(items, labels, None).unwrap()
}

fn rvm(c: f64) -> RankingVectorMachine {
    RankingVectorMachine::new().kernel(RBF).c(c).tol(1e-7)
}

fn coefficients(model: &Model) -> Vec<u64> {
    match &model.scorer.function {
        ScoreFunction::Kernel { coefficients, .. } => coefficients.iter().map(|a| a.to_bits()).collect(),
        ScoreFunction::Linear { weights, .. } => weights.iter().map(|w| w.to_bits()).collect(),
        _ => unreachable!(),
    }
}

#[test]
fn nothing_is_learnt_up_to_the_critical_c() {
    let data = ranking(40, 3);
    // 1/max |K e|, e the number of worse items less that of better ones.
    let rows: Vec<Vec<f64>> = (0..40)
        .map(|i| {
            let mut row = vec![0.0; 4];
            data.items.features.copy_row(i, &mut row);
            row
        })
        .collect();
    let e: Vec<f64> = data
        .labels
        .iter()
        .map(|y| data.labels.iter().map(|z| f64::from(y.partial_cmp(z).unwrap() as i8)).sum())
        .collect();
    let kernel = |x: &[f64], z: &[f64]| (-x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp();
    let prices: Vec<f64> =
        rows.iter().map(|x| rows.iter().zip(&e).map(|(z, e)| e * kernel(x, z)).sum::<f64>()).collect();
    let expected = 1.0 / prices.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    let critical = |model: &Model| model.training.program.unwrap().critical_c.unwrap();
    let below = rvm(0.999 * expected).fit(&data).unwrap().model;
    assert!((critical(&below) / expected - 1.0).abs() < 1e-9);
    assert_eq!((below.training.support, below.training.stop), (Some(0), Stop::Converged));
    assert!((below.training.objective - 0.999 * expected * 780.0).abs() < 1e-9);
    assert!(below.training.warnings.iter().any(|warning| warning.contains("nothing is learnt")));
    assert!(below.scorer.scores(&data.items).unwrap().iter().all(|&score| score == 0.0));
    let above = rvm(1.01 * expected).fit(&data).unwrap().model;
    assert!(above.training.support > Some(0) && above.training.warnings.is_empty(), "{:?}", above.training);
    // Of pairs: the largest lead of a better item.
    let mut lead: f64 = 0.0;
    for i in 0..40 {
        for j in 0..40 {
            if data.labels[i] > data.labels[j] {
                lead = lead.max(prices[i] - prices[j]);
            }
        }
    }
    let svm = OneNormRankSvm::new().kernel(RBF).tol(1e-7).c(0.999 / lead);
    let below = svm.fit(&data).unwrap().model;
    assert!((critical(&below) * lead - 1.0).abs() < 1e-9 && below.training.support_pairs == 0);
    assert!(svm.c(1.01 / lead).fit(&data).unwrap().model.training.support_pairs > 0);
}

#[test]
fn ranking_vectors_are_far_fewer_than_support_vectors() {
    let data = ranking(200, 1);
    let vectors = rvm(0.01).fit(&data).unwrap().model;
    let svm = RankSvm::new().kernel(RBF).loss(Loss::Hinge).c(0.01).fit(&data).unwrap().model;
    let (few, many) = (vectors.training.support.unwrap(), svm.training.support.unwrap());
    assert!(few <= 20 && 8 * few <= many, "{few} vectors, {many} support items");
    let accuracy = |model: &Model| {
        let scores = model.scorer.scores(&data.items).unwrap();
        let pairs =
            (0..200).flat_map(|i| (0..200).map(move |j| (i, j))).filter(|&(i, j)| data.labels[i] > data.labels[j]);
        pairs.clone().filter(|&(i, j)| scores[i] > scores[j]).count() as f64 / pairs.count() as f64
    };
    assert!(accuracy(&vectors) > accuracy(&svm) - 0.02, "{} {}", accuracy(&vectors), accuracy(&svm));
}

#[test]
fn reversed_labels_reverse_signed_coefficients_and_stop_nonnegative_ones() {
    let data = ranking(50, 7);
    let reversed = Ranking { labels: data.labels.iter().map(|y| -y).collect(), ..data.clone() };
    let (there, back) = (rvm(0.05).fit(&data).unwrap().model, rvm(0.05).fit(&reversed).unwrap().model);
    assert!((there.training.objective / back.training.objective - 1.0).abs() < 1e-6);
    let scores = |model: &Model| model.scorer.scores(&data.items).unwrap();
    for (a, b) in scores(&there).iter().zip(scores(&back)) {
        assert!((a + b).abs() < 1e-4, "{a} {b}");
    }
    // Features and their products are all positive: no sum of items falls with a feature.
    let rows: Vec<f64> = (0..30).map(|k| 1.0 + f64::from(k)).collect();
    let falling = of(rows.clone(), rows.iter().map(|x| -x).collect());
    let machine = RankingVectorMachine::new().c(1.0);
    let stuck = machine.clone().coefficients(CoefficientSign::Nonnegative).fit(&falling).unwrap().model;
    assert_eq!(stuck.training.support, Some(0));
    assert!(stuck.training.program.unwrap().critical_c.is_none());
    assert!(stuck.training.warnings.iter().any(|warning| warning.contains("whatever C is")));
    let free = machine.fit(&falling).unwrap().model;
    assert!(free.training.support == Some(1) && free.training.objective < 1.1, "{:?}", free.training);
}

#[test]
fn copies_are_weights_and_threads_and_order_change_nothing() {
    let data = ranking(30, 5);
    let twice = data.select(&(0..30).chain(0..30).collect::<Vec<_>>());
    let weighted = data.clone().with_weights(vec![2.0; 30]).unwrap();
    let one = rvm(0.02).fit(&weighted).unwrap().model;
    let two = rvm(0.02).fit(&twice).unwrap().model;
    assert!((one.training.objective / two.training.objective - 1.0).abs() < 1e-6);
    for c in [0.02, 5.0] {
        let on = |threads: usize| rvm(c).threads(threads).fit(&data).unwrap().model;
        assert_eq!(coefficients(&on(1)), coefficients(&on(2)));
    }
    let backwards = data.select(&(0..30).rev().collect::<Vec<_>>());
    let there = rvm(0.5).fit(&data).unwrap().model.training.objective;
    assert!((there / rvm(0.5).fit(&backwards).unwrap().model.training.objective - 1.0).abs() < 1e-6);
    // All groups the same, whatever their size: with one group C is divided by its pairs.
    let balanced = rvm(435.0 * 0.02).balance(rankwise::model::Balance::Groups).fit(&data).unwrap().model;
    let plain = rvm(0.02).fit(&data).unwrap().model;
    assert!((balanced.training.objective / plain.training.objective - 1.0).abs() < 1e-6);
}

#[test]
fn hostile_rankings_are_answered() {
    let error = rvm(1.0).fit(&of(vec![1.0, 2.0, 3.0], vec![1.0; 3])).unwrap_err();
    assert!(error.to_string().contains("nothing to learn"), "{error}");
    assert!(rvm(f64::INFINITY).fit(&ranking(5, 1)).is_err() && rvm(f64::NAN).fit(&ranking(5, 1)).is_err());
    // A hundred items, all the same: nothing tells them apart.
    let same = of(vec![0.5; 100], (0..100).map(f64::from).collect());
    for model in [rvm(10.0).fit(&same).unwrap().model, OneNormRankSvm::new().c(10.0).fit(&same).unwrap().model] {
        assert_eq!(model.training.support, Some(0));
        assert!((model.training.objective / (10.0 * 4950.0) - 1.0).abs() < 1e-9);
    }
    // Labels and features of any size.
    let huge = of((0..20).map(|k| f64::from(k) * 1e150).collect(), (0..20).map(|k| f64::from(k) * 1e300).collect());
    let fit = RankingVectorMachine::new().c(1.0).fit(&huge);
    assert!(
        matches!(&fit, Err(Error::Numeric { .. }))
            || fit.as_ref().is_ok_and(|fit| fit.model.training.objective.is_finite()),
        "{fit:?}"
    );
    let large = of((0..20).map(|k| f64::from(k) * 1e6).collect(), (0..20).map(f64::from).collect());
    let model = RankingVectorMachine::new().c(1.0).fit(&large).unwrap().model;
    assert!(model.training.gap <= 1e-3 && model.training.objective < 1e-3, "{:?}", model.training);
    // Contradictions, and a C far beyond reason.
    let mut rows: Vec<f64> = (0..30).map(|k| f64::from(k % 10)).collect();
    rows.extend_from_slice(&rows.clone());
    let labels = (0..60).map(|k| f64::from((k * 7) % 13)).collect();
    let quarrel = of(rows, labels);
    for c in [1e-9, 1e3, 1e6] {
        let training = rvm(c).tol(1e-3).fit(&quarrel).unwrap().model.training;
        assert!(training.gap <= 1e-3, "C {c}: {training:?}");
    }
    let limited = rvm(1.0);
    let mut effort = limited.effort;
    effort.max_iter = Some(3);
    let model = limited.effort(effort).fit(&ranking(60, 2)).unwrap().model;
    assert_eq!(model.training.stop, Stop::MaxIter);
    assert!(model.training.warnings.iter().any(|warning| warning.contains("not converged")));
}

fn comparisons(rows: Vec<Vec<f64>>, pairs: &[(u32, u32, Outcome)]) -> Comparisons {
    let features = Features::dense(rows[0].len(), rows.concat(), Precision::F64).unwrap();
    let set = pairs.iter().map(|&(left, right, _)| Pair { left, right }).collect();
    let set = PairSet::new(Items::new(features, None, None).unwrap(), set).unwrap();
    Comparisons::new(set, pairs.iter().map(|pair| pair.2).collect(), None, None).unwrap()
}

/// Random pairs that a linear function of two features tells apart, the second one `unit` times as large.
fn separable(n_pairs: usize, seed: u64, unit: f64) -> Comparisons {
    let mut random = Random::new(seed);
    let (mut rows, mut pairs) = (Vec::new(), Vec::new());
    while pairs.len() < n_pairs {
        let sides: Vec<Vec<f64>> = (0..2).map(|_| vec![random.normal(), random.normal()]).collect();
        let lead = sides[1][0] - sides[0][0] + 0.5 * (sides[1][1] - sides[0][1]);
        if (lead.abs() - 1.0).abs() < 0.1 {
            continue;
        }
        pairs.push((rows.len() as u32, rows.len() as u32 + 1, Outcome::of_margin(lead, 1.0)));
        rows.extend(sides.into_iter().map(|x| vec![x[0], unit * x[1]]));
    }
    comparisons(rows, &pairs)
}

#[test]
fn the_program_has_at_least_the_margin_of_the_hard_margin_machine() {
    let mut ratios = Vec::new();
    for (n_pairs, unit) in [(40, 1.0), (20, 0.1)] {
        let mut largest_ratio: f64 = 0.0;
        for seed in 0..8 {
            let data = separable(n_pairs, seed, unit);
            let program = CompareLp::new().tol(1e-8).fit(&data).unwrap().model;
            let margin = program.training.margin.unwrap();
            assert!(margin > 0.05 && program.training.objective == margin && program.beta.is_none());
            assert!(program.compare(&data.set).unwrap() == data.outcomes);
            // Lemma 1: what the quadratic program finds is feasible here, and so not better.
            let hard = CompareSvm::new().c(f64::INFINITY).tol(1e-8).fit(&data).unwrap().model;
            let other = hard.training.margin.unwrap();
            assert!(other <= margin * (1.0 + 1e-6), "seed {seed}: {other} above {margin}");
            largest_ratio = largest_ratio.max(margin / other);
            // Units of features do not matter to the program.
            let scaled = CompareLp::new().tol(1e-8).fit(&separable(n_pairs, seed, 1.0)).unwrap().model;
            assert!((scaled.training.margin.unwrap() / margin - 1.0).abs() < 1e-6);
        }
        ratios.push(largest_ratio);
    }
    // On features of one scale they agree; of different scales they need not.
    assert!(ratios[0] < 1.0001 && ratios[1] > 1.5, "{ratios:?}");
}

#[test]
fn exchanged_sides_change_nothing_and_threads_neither() {
    let data = separable(40, 9, 3.0);
    let exchanged = Comparisons {
        set: PairSet::new(
            data.set.items.clone(),
            data.set.pairs.iter().map(|pair| Pair { left: pair.right, right: pair.left }).collect(),
        )
        .unwrap(),
        outcomes: data.outcomes.iter().map(|outcome| outcome.swapped()).collect(),
        ..data.clone()
    };
    for machine in [CompareLp::new(), CompareLp::new().c(1.0), CompareLp::new().c(0.5).kernel(RBF)] {
        let fit = |data: &Comparisons, threads: usize| machine.clone().threads(threads).fit(data).unwrap().model;
        let (there, back) = (fit(&data, 1), fit(&exchanged, 2));
        assert_eq!(there.training.objective.to_bits(), back.training.objective.to_bits());
        assert_eq!(coefficients(&there), coefficients(&back));
    }
}

#[test]
fn hostile_comparisons_are_answered() {
    let line = |n: u32| (0..n).map(|k| vec![f64::from(k)]).collect::<Vec<_>>();
    use Outcome::{Left, Right, Tie};
    // No ties: the margin has no bound; with slack the region of ties is the least.
    let wins = comparisons(line(3), &[(0, 1, Right), (1, 2, Right), (2, 0, Left)]);
    let error = CompareLp::new().fit(&wins).unwrap_err();
    assert!(error.to_string().contains("no pair is a tie"), "{error}");
    let model = CompareLp::new().c(10.0).fit(&wins).unwrap().model;
    assert_eq!(model.beta, Some(-1.0));
    assert!(model.training.warnings.iter().any(|warning| warning.contains("no pair is a tie")));
    // Only ties.
    let ties = comparisons(line(3), &[(0, 1, Tie), (1, 2, Tie)]);
    for machine in [CompareLp::new(), CompareLp::new().c(1.0)] {
        let model = machine.fit(&ties).unwrap().model;
        assert!(model.scorer.scores(&ties.set.items).unwrap().iter().all(|&score| score == 0.0));
        assert!(model.training.warnings.iter().any(|warning| warning.contains("all pairs are ties")));
    }
    assert_eq!(CompareLp::new().fit(&ties).unwrap().model.training.margin, Some(1.0));
    // The same pair judged both ways; an item better than itself.
    for quarrel in [
        comparisons(line(3), &[(0, 1, Right), (1, 0, Tie), (0, 2, Right)]),
        comparisons(line(3), &[(0, 0, Right), (1, 2, Tie)]),
        comparisons(line(3), &[(0, 2, Tie), (0, 1, Right)]),
    ] {
        let fit = CompareLp::new().fit(&quarrel);
        assert!(matches!(&fit, Err(Error::NotSeparable { .. })), "{fit:?}");
        assert!(CompareLp::new().c(1.0).fit(&quarrel).unwrap().model.training.gap <= 1e-3);
    }
    // What separates by a hair does.
    let hair = comparisons(vec![vec![0.0], vec![1.0], vec![2.0001], vec![3.0001]], &[(0, 1, Tie), (1, 2, Right)]);
    let margin = CompareLp::new().tol(1e-8).fit(&hair).unwrap().model.training.margin.unwrap();
    assert!((margin - 0.0001 / 2.0001).abs() < 1e-9, "{margin}");
    // Far from zero, and of any size.
    for (shift, size) in [(1e6, 1.0), (0.0, 1e-8), (0.0, 1e8)] {
        let rows = (0..4).map(|k| vec![shift + size * f64::from(k)]).collect();
        let data = comparisons(rows, &[(0, 1, Tie), (0, 2, Right), (1, 3, Right)]);
        let margin = CompareLp::new().fit(&data).unwrap().model.training.margin.unwrap();
        assert!((margin - 1.0 / 3.0).abs() < 1e-3, "{shift} {size}: {margin}");
    }
    let kernel = CompareLp::new().kernel(RBF).fit(&ties).unwrap_err();
    assert!(matches!(kernel, Error::Unsupported { .. }));
    for c in [0.0, -1.0, f64::NAN] {
        assert!(CompareLp::new().c(c).fit(&ties).is_err());
    }
}
