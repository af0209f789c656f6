//! The machine of swapped pairs against the ranking SVM that it equals, and against the list of all pairs.

use rankwise::data::{Features, Groups, Items, Precision, Ranking, Scale};
use rankwise::model::Balance;
use rankwise::{Error, Loss, RankSvm, Stop, SwapSvm, Unwatched, io};

use crate::oracle::rank_items::{Drawn, Pairs, weights_of};

/// Problems of all kinds: few grades and many, weights, sparse rows.
fn problems() -> Vec<Ranking> {
    let drawn = |seed: u64| Drawn {
        n_labels: [2, 4, 0, 17][seed as usize % 4],
        is_weighted: seed % 3 == 1,
        is_sparse: seed % 5 == 2,
        per_group: 9 + 3 * (seed as usize % 4),
        ..Drawn::new(seed)
    };
    (0..20).map(|seed| drawn(seed).ranking()).collect()
}

#[test]
fn equals_ranking_by_hinge_with_four_times_the_c() {
    for (seed, data) in problems().iter().enumerate() {
        let c = [0.003, 0.1, 2.0][seed % 3];
        let balance = if seed % 4 == 3 { Balance::Groups } else { Balance::None };
        let swap = SwapSvm::new().c(c).balance(balance).tol(1e-6).fit(data).unwrap().model;
        let rank = RankSvm::new().loss(Loss::Hinge).c(4.0 * c).balance(balance).tol(1e-6).fit(data).unwrap().model;
        assert_eq!((swap.training.stop, rank.training.stop), (Stop::Converged, Stop::Converged), "{seed}");
        let ratio = 4.0 * swap.training.objective / rank.training.objective;
        assert!((ratio - 1.0).abs() < 2e-6, "{seed}: {ratio}");
        // ½‖w − w*‖² is no more than what the objective is above its minimum, which the gap bounds.
        let radius = |training: &rankwise::model::Training| (2.0 * training.gap * training.objective).sqrt();
        let (ours, theirs) = (weights_of(&swap), weights_of(&rank));
        let distance = ours.iter().zip(theirs).map(|(a, b)| (a - 0.5 * b).powi(2)).sum::<f64>().sqrt();
        let most = radius(&swap.training) + 0.5 * radius(&rank.training);
        assert!(distance <= most + 1e-12, "{seed}: {distance} and {most}");
        assert_eq!(swap.training.pairs, rank.training.pairs);
    }
}

#[test]
fn the_objective_is_that_of_the_weights_and_the_gap_a_bound() {
    for (seed, data) in problems().iter().enumerate().step_by(3) {
        let pairs = Pairs::of(data, Balance::None);
        for c in [0.01, 1.0] {
            let least = pairs.least(4.0 * c, Loss::Hinge) / 4.0;
            for tol in [0.3, 1e-2, 1e-5] {
                let model = SwapSvm::new().c(c).tol(tol).fit(data).unwrap().model;
                let w = weights_of(&model);
                let slack: f64 = pairs.list.iter().map(|(d, cost)| cost * (1.0 - 2.0 * dot(w, d)).max(0.0)).sum();
                let objective = 0.5 * dot(w, w) + c * slack;
                let training = &model.training;
                assert!((training.objective / objective - 1.0).abs() < 1e-9, "{seed}");
                assert!(training.gap <= tol && training.gap >= 0.0);
                let above = objective - least;
                assert!(above <= training.gap * objective + 1e-7 * least, "{seed}: {above} above the gap");
                assert!(above >= -1e-7 * least, "{seed}: {objective} below {least}");
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn normalising_divides_c_by_the_number_of_pairs() {
    for is_weighted in [false, true] {
        let data = Drawn { is_weighted, ..Drawn::new(3) }.ranking();
        let mass: f64 = Pairs::of(&data, Balance::None).list.iter().map(|pair| pair.1).sum();
        let svm = SwapSvm::new().c(30.0).tol(1e-8);
        let normalised = svm.clone().normalise(true).fit(&data).unwrap().model;
        let plain = svm.c(30.0 / mass).fit(&data).unwrap().model;
        assert!((normalised.training.objective / plain.training.objective - 1.0).abs() < 1e-7);
        assert_eq!(normalised.training.c, 30.0);
    }
}

#[test]
fn weights_are_copies_and_their_absence() {
    let data = Drawn::new(4).ranking();
    let n = data.n_items();
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
    let copies: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
    let svm = SwapSvm::new().c(0.05).tol(1e-9);
    let weighted = svm.fit(&data.clone().with_weights(weights).unwrap()).unwrap().model;
    let copied = svm.fit(&data.select(&copies)).unwrap().model;
    assert!((weighted.training.objective / copied.training.objective - 1.0).abs() < 1e-8);
    for (a, b) in weights_of(&weighted).iter().zip(weights_of(&copied)) {
        assert!((a - b).abs() < 1e-3 * (1.0 + b.abs()), "{a} and {b}");
    }
}

#[test]
fn the_same_bytes_with_any_number_of_threads() {
    let data = Drawn { n_groups: 60, per_group: 50, n_cols: 60, n_labels: 0, ..Drawn::new(9) }.ranking();
    let bytes = |threads: usize| io::model_to_bytes(&SwapSvm::new().c(1e-3).threads(threads).fit(&data).unwrap().model);
    assert_eq!(bytes(1).unwrap(), bytes(3).unwrap());
}

#[test]
fn scaling_and_starts_lead_to_the_same_machine() {
    let data = Drawn { n_labels: 5, ..Drawn::new(6) }.ranking();
    let svm = SwapSvm::new().c(0.5).scale(Scale::Standard).tol(1e-7);
    let first = svm.fit(&data).unwrap().model;
    let again = svm.fit_from(&data, Some(&first), &Unwatched).unwrap().model;
    assert!((again.training.objective / first.training.objective - 1.0).abs() < 2e-7);
    assert!(again.training.objective <= first.training.objective * (1.0 + 1e-12), "no worse than where it starts");
    let rank = RankSvm::new().loss(Loss::Hinge).c(2.0).scale(Scale::Standard).tol(1e-7).fit(&data).unwrap().model;
    assert!((4.0 * first.training.objective / rank.training.objective - 1.0).abs() < 3e-7);
}

fn small(values: Vec<f64>, labels: Vec<f64>) -> Ranking {
    let n_cols = values.len() / labels.len();
    let items = Items::new(Features::dense(n_cols, values, Precision::F64).unwrap(), None, None).unwrap();
    let groups = Groups::from_ids(labels.iter().map(|_| "q"));
    Ranking::new(items, labels, Some(groups)).unwrap()
}

#[test]
fn degenerate_data_have_answers_or_reasons() {
    let values = vec![0.3, 1.0, -0.2, 2.0, 0.9, -1.0, 0.1, 0.5];
    // One label: nothing to learn.
    let answer = SwapSvm::new().fit(&small(values.clone(), vec![1.0; 4]));
    assert!(answer.unwrap_err().to_string().contains("nothing to learn"));
    // Constant features: all scores equal, every pair swapped by half: C·pairs.
    let fit = SwapSvm::new().c(2.0).fit(&small(vec![5.0; 8], vec![0.0, 1.0, 1.0, 2.0])).unwrap().model;
    assert!(weights_of(&fit).iter().all(|&w| w == 0.0));
    assert_eq!((fit.training.objective, fit.training.stop), (10.0, Stop::Converged));
    assert!(fit.training.warnings.iter().any(|warning| warning.contains("all weights are 0")));
    // Labels are an order, whatever their size.
    let plain = SwapSvm::new().tol(1e-8).fit(&small(values.clone(), vec![0.0, 1.0, 2.0, 3.0])).unwrap().model;
    let huge = small(values.clone(), vec![-1e300, 0.0, 1e-300, 1e300]);
    let huge = SwapSvm::new().tol(1e-8).fit(&huge).unwrap().model;
    assert_eq!(weights_of(&plain), weights_of(&huge));
    // C at the ends: the gap is honest where floating point can do no more.
    let data = Drawn::new(1).ranking();
    for c in [1e-12, 1e6, 1e12] {
        let training = SwapSvm::new().c(c).fit(&data).unwrap().model.training;
        let rank = RankSvm::new().loss(Loss::Hinge).c(4.0 * c).tol(1e-6).fit(&data).unwrap().model.training;
        let above = 4.0 * training.objective - rank.objective;
        assert!(above <= (training.gap + 1e-6) * 4.0 * training.objective, "C {c}: {above}, {}", training.gap);
        match training.stop {
            Stop::Converged => assert!(training.gap <= 1e-3),
            _ => assert!(c == 1e12 && training.gap < 0.1 && training.warnings[0].contains("not converged")),
        }
    }
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(SwapSvm::new().c(c).fit(&data), Err(Error::Parameter { name: "C", .. })), "{c}");
    }
    // Numbers beyond the range say so.
    let far = small(values.iter().map(|v| v * 1e300).collect(), vec![0.0, 1.0, 2.0, 3.0]);
    match SwapSvm::new().fit(&far) {
        Err(error) => assert!(error.to_string().contains("range"), "{error}"),
        Ok(fit) => assert!(fit.model.training.objective.is_finite()),
    }
}
