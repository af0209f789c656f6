//! Rankers with kernels against independent solvers on explicit features of the same kernel, against the linear machine, and
//! against the definition of their certificates.

use rankwise::data::{Features, Items, Precision, Ranking};
use rankwise::kernel::{Gamma, KernelFunction};
use rankwise::model::{Balance, Model, ScoreFunction};
use rankwise::{Approx, Error, Kernel, Loss, RankSvm, Stop, SwapSvm};

use crate::oracle::conic::factor;
use crate::oracle::rank_items::{Drawn, Pairs};

/// Small problems of all kinds: few grades and many, weights, sparse rows.
fn problems() -> Vec<Ranking> {
    let drawn = |seed: u64| Drawn {
        n_labels: [2, 4, 0, 17][seed as usize % 4],
        is_weighted: seed % 3 == 1,
        is_sparse: seed % 5 == 2,
        per_group: 7 + 2 * (seed as usize % 4),
        ..Drawn::new(seed)
    };
    (0..8).map(|seed| drawn(seed).ranking()).collect()
}

fn row(data: &Ranking, item: usize) -> Vec<f64> {
    let n = data.items.features.n_cols();
    data.items.features.to_dense()[item * n..(item + 1) * n].to_vec()
}

/// The items with features in which the kernel is linear.
fn explicit(data: &Ranking, kernel: KernelFunction) -> Ranking {
    let rows: Vec<Vec<f64>> = (0..data.n_items()).map(|item| row(data, item)).collect();
    let values = rows.iter().map(|a| rows.iter().map(|b| kernel.value(a, b)).collect()).collect();
    let found = factor(values);
    let features = Features::dense(found[0].len(), found.concat(), Precision::F64).unwrap();
    Ranking { items: Items::new(features, None, None).unwrap(), ..data.clone() }
}

fn rbf(gamma: f64) -> (Kernel, KernelFunction) {
    (Kernel::rbf(gamma), KernelFunction::Rbf { gamma })
}

fn poly() -> (Kernel, KernelFunction) {
    let gamma = Gamma::Value(0.3);
    (Kernel::Poly { gamma, coef0: 1.0, degree: 2 }, KernelFunction::Poly { gamma: 0.3, coef0: 1.0, degree: 2 })
}

/// The linear kernel, by the way of kernels.
const PLAIN: Kernel = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 1 };

#[test]
fn objectives_are_those_of_independent_solvers() {
    for (seed, data) in problems().iter().enumerate() {
        let (kernel, function) = [rbf(0.2), rbf(1.5), poly()][seed % 3];
        let balance = if seed % 4 == 3 { Balance::Groups } else { Balance::None };
        let pairs = Pairs::of(&explicit(data, function), balance);
        for (loss, c) in
            [(Loss::SquaredHinge, 0.5), (Loss::Hinge, 0.3), (Loss::Logistic, 2.0), (Loss::SquaredHinge, 50.0)]
        {
            let svm = RankSvm::new().kernel(kernel).loss(loss).c(c).balance(balance).tol(1e-6);
            let training = svm.fit(data).unwrap().model.training;
            let least = pairs.least(c, loss);
            assert_eq!(training.stop, Stop::Converged, "{seed} {loss:?} {c}: gap {}", training.gap);
            let ratio = training.objective / least;
            assert!(ratio > 1.0 - 1e-6 && ratio < 1.0 + 2e-6, "{seed} {loss:?} {c}: {ratio}");
        }
    }
}

#[test]
fn a_large_c_converges_too() {
    for (seed, data) in problems().iter().enumerate().take(4) {
        let (kernel, function) = [rbf(0.2), rbf(1.5)][seed % 2];
        let pairs = Pairs::of(&explicit(data, function), Balance::None);
        for (loss, c) in [(Loss::SquaredHinge, 1e6), (Loss::SquaredHinge, 1e11), (Loss::Hinge, 1e4), (Loss::Hinge, 1e8)]
        {
            let training = RankSvm::new().kernel(kernel).loss(loss).c(c).fit(data).unwrap().model.training;
            assert_eq!(training.stop, Stop::Converged, "{seed} {loss:?}: gap {}", training.gap);
            let ratio = training.objective / pairs.least(c, loss);
            assert!(ratio > 1.0 - 1e-4 && ratio < 1.0 + 1e-3, "{seed} {loss:?}: {ratio}");
        }
    }
}

/// Wherever a limit falls, what is told bounds the minimum.
#[test]
fn limits_leave_a_true_bound_of_a_large_c() {
    for (seed, data) in problems().iter().enumerate().take(4) {
        let (kernel, function) = [rbf(0.2), rbf(1.5)][seed % 2];
        let least = Pairs::of(&explicit(data, function), Balance::None).least(1e10, Loss::SquaredHinge);
        for most in (1..160).step_by(6) {
            let mut svm = RankSvm::new().kernel(kernel).c(1e10).tol(1e-9);
            svm.effort.max_iter = Some(most);
            let training = svm.fit(data).unwrap().model.training;
            let bound = training.objective * (1.0 - training.gap);
            assert!(bound <= least * 1.0001, "{seed} {most}: {bound} {least} {}", training.gap);
            assert!(training.objective >= least * 0.9999, "{seed} {most}: {} {least}", training.objective);
        }
    }
}

/// Coefficients of the items: those of the model, found by their features.
fn coefficients(model: &Model, data: &Ranking) -> Vec<f64> {
    let ScoreFunction::Kernel { support, coefficients, .. } = &model.scorer.function else { panic!("no kernel") };
    let n = support.n_cols();
    let mut left: Vec<(Vec<f64>, f64)> =
        support.to_dense().chunks(n).map(<[f64]>::to_vec).zip(coefficients.iter().copied()).collect();
    let mut take = |item: usize| {
        let row = row(data, item);
        left.iter().position(|(other, _)| *other == row).map_or(0.0, |at| left.remove(at).1)
    };
    let found = (0..data.n_items()).map(&mut take).collect();
    assert!(left.is_empty(), "support that is no item");
    found
}

#[test]
fn the_certificate_is_a_bound_and_coefficients_balance_in_every_group() {
    for (seed, data) in problems().iter().enumerate() {
        let (kernel, function) = [rbf(0.2), rbf(1.5), poly()][seed % 3];
        let (c, n) = ([0.1, 3.0][seed % 2], data.n_items());
        let least = Pairs::of(&explicit(data, function), Balance::None).least(c, Loss::SquaredHinge);
        let value = |a: usize, b: usize| function.value(&row(data, a), &row(data, b));
        for tol in [0.3, 1e-2, 1e-4] {
            let model = RankSvm::new().kernel(kernel).c(c).tol(tol).fit(data).unwrap().model;
            let a = coefficients(&model, data);
            let scores: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[j] * value(i, j)).sum()).collect();
            let (mut losses, mut rest) = (0.0, a.clone());
            for i in 0..n {
                for j in (0..n).filter(|&j| data.groups.numbers()[i] == data.groups.numbers()[j]) {
                    if data.labels[i] > data.labels[j] {
                        let slack = (1.0 - scores[i] + scores[j]).max(0.0);
                        let group = data.group_weight(data.groups.numbers()[i] as usize);
                        let cost = c * data.weight(i) * data.weight(j) * group;
                        losses += cost * slack * slack;
                        rest[i] -= 2.0 * cost * slack;
                        rest[j] += 2.0 * cost * slack;
                    }
                }
            }
            let square =
                |v: &[f64]| -> f64 { (0..n).map(|i| (0..n).map(|j| v[i] * v[j] * value(i, j)).sum::<f64>()).sum() };
            let objective = 0.5 * square(&a) + losses;
            let gap = 0.5 * square(&rest) / objective;
            let training = &model.training;
            assert!((training.objective / objective - 1.0).abs() < 1e-6, "{seed}: {} {objective}", training.objective);
            assert!((training.gap - gap.min(1.0)).abs() < 1e-3 * gap + 1e-8, "{seed}: {} {gap}", training.gap);
            assert!(training.gap <= tol);
            let above = objective / least - 1.0;
            assert!(above >= -1e-7 && above <= gap + 1e-7, "{seed} {tol}: {above} {gap}");
            for group in 0..data.groups.len() as u32 {
                let of_group = || (0..n).filter(|&i| data.groups.numbers()[i] == group);
                let (sum, size) = of_group().fold((0.0, 0.0), |(sum, size), i| (sum + a[i], size + a[i].abs()));
                assert!(f64::abs(sum) <= 1e-12 * size, "{seed}: {sum} {size}");
                let labels: Vec<f64> = of_group().filter(|&i| data.weight(i) > 0.0).map(|i| data.labels[i]).collect();
                assert!(size == 0.0 || labels.iter().any(|&label| label != labels[0]));
            }
            assert_eq!(training.support, Some(a.iter().filter(|a| **a != 0.0).count()));
        }
    }
}

/// ½a·Ka + C·Σ hinges, straight from the definitions.
fn hinge_objective(data: &Ranking, function: KernelFunction, c: f64, a: &[f64]) -> f64 {
    let n = data.n_items();
    let rows: Vec<Vec<f64>> = (0..n).map(|item| row(data, item)).collect();
    let score = |i: usize| (0..n).map(|j| a[j] * function.value(&rows[i], &rows[j])).sum::<f64>();
    let scores: Vec<f64> = (0..n).map(score).collect();
    let mut sum = 0.5 * a.iter().zip(&scores).map(|(a, s)| a * s).sum::<f64>();
    for i in 0..n {
        let group = data.groups.numbers()[i];
        for j in (0..n).filter(|&j| data.groups.numbers()[j] == group && data.labels[i] > data.labels[j]) {
            let cost = c * data.weight(i) * data.weight(j) * data.group_weight(group as usize);
            sum += cost * (1.0 - scores[i] + scores[j]).max(0.0);
        }
    }
    sum
}

#[test]
fn the_hinge_has_a_bound_by_planes_and_by_rounding_off() {
    // Items enough to be rounded off for the last digits.
    let many = Drawn { per_group: 12, n_groups: 22, ..Drawn::new(31) }.ranking();
    assert!(many.n_items() > 200);
    for (seed, data) in problems().iter().chain([&many]).enumerate() {
        let (kernel, function) = [rbf(0.2), rbf(1.5), poly()][seed % 3];
        let c = [0.1, 3.0][seed % 2];
        let least = Pairs::of(&explicit(data, function), Balance::None).least(c, Loss::Hinge);
        for tol in [0.1, 1e-3, 1e-4, 1e-6] {
            let model = RankSvm::new().kernel(kernel).loss(Loss::Hinge).c(c).tol(tol).fit(data).unwrap().model;
            let (a, training) = (coefficients(&model, data), &model.training);
            assert_eq!(training.stop, Stop::Converged, "{seed} {tol}: gap {}", training.gap);
            let objective = hinge_objective(data, function, c, &a);
            assert!((training.objective / objective - 1.0).abs() < 1e-9, "{seed}: {} {objective}", training.objective);
            let above = 1.0 - least / objective;
            assert!(above >= -1e-6 && above <= training.gap + 2e-6, "{seed} {tol}: {above} {}", training.gap);
            assert!(training.gap <= tol);
            for group in 0..data.groups.len() as u32 {
                let of_group = (0..a.len()).filter(|&i| data.groups.numbers()[i] == group);
                let (sum, size) = of_group.fold((0.0, 0.0), |(sum, size), i| (sum + a[i], size + a[i].abs()));
                assert!(f64::abs(sum) <= 1e-12 * size, "{seed}: {sum} {size}");
            }
        }
    }
}

#[test]
fn a_linear_kernel_gives_the_linear_machine() {
    for (seed, data) in problems().iter().enumerate() {
        for loss in [Loss::SquaredHinge, Loss::Hinge, Loss::Logistic] {
            let svm = RankSvm::new().loss(loss).c(0.2).tol(1e-7);
            let linear = svm.fit(data).unwrap().model;
            let kernel = svm.kernel(PLAIN).fit(data).unwrap().model;
            let ratio = kernel.training.objective / linear.training.objective;
            assert!((ratio - 1.0).abs() < 3e-7, "{seed} {loss:?}: {ratio}");
            let (a, b) = (linear.scorer.scores(&data.items).unwrap(), kernel.scorer.scores(&data.items).unwrap());
            let size = a.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
            let worst = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 3e-3 * size + 1e-9, "{seed} {loss:?}: {worst} {size}");
        }
    }
}

#[test]
fn drawn_pairs_and_balances_are_those_of_the_linear_machine() {
    for (seed, data) in problems().iter().enumerate() {
        let balance = if seed % 2 == 0 { Balance::Groups } else { Balance::None };
        let svm = RankSvm::new().pairs_per_item(Some(2)).balance(balance).c(1.0).tol(1e-7);
        let linear = svm.fit(data).unwrap().model.training;
        let kernel = svm.kernel(PLAIN).fit(data).unwrap().model.training;
        assert_eq!((kernel.pairs, kernel.groups), (linear.pairs, linear.groups));
        assert!((kernel.objective / linear.objective - 1.0).abs() < 3e-7, "{seed}");
    }
}

#[test]
fn all_items_as_landmarks_are_no_approximation() {
    for (seed, data) in problems().iter().enumerate() {
        let (kernel, _) = [rbf(0.2), rbf(1.5), poly()][seed % 3];
        for loss in [Loss::SquaredHinge, Loss::Hinge] {
            let svm = RankSvm::new().kernel(kernel).loss(loss).c(0.7).tol(1e-6);
            let exact = svm.fit(data).unwrap().model.training;
            let all = svm.clone().approx(Some(Approx::Nystrom(data.n_items()))).fit(data).unwrap().model.training;
            assert!((all.objective / exact.objective - 1.0).abs() < 3e-6, "{seed} {loss:?}");
            assert!(all.gap < 1e-5, "{seed} {loss:?}: {}", all.gap);
            let few = svm.approx(Some(Approx::Nystrom(3))).fit(data).unwrap().model;
            let (few, support) = (few.training, few.scorer.scores(&data.items).unwrap().len());
            assert_eq!(support, data.n_items());
            assert!(few.support <= Some(3) && few.approx == Some(Approx::Nystrom(3)));
            // What is lost is never more than the gap says.
            let lost = 1.0 - exact.objective / few.objective;
            assert!(lost > -1e-6 && lost <= few.gap + 1e-6, "{seed} {loss:?}: {lost} {}", few.gap);
        }
    }
}

#[test]
fn swapped_pairs_with_a_kernel_are_ranking_by_hinge_with_four_times_the_c() {
    for (seed, data) in problems().iter().enumerate() {
        let (kernel, _) = [rbf(0.2), rbf(1.5), poly()][seed % 3];
        let c = [0.02, 0.2][seed % 2];
        let balance = if seed % 4 == 3 { Balance::Groups } else { Balance::None };
        let swap = SwapSvm::new().kernel(kernel).c(c).balance(balance).tol(1e-5).fit(data).unwrap().model;
        let svm = RankSvm::new().kernel(kernel).loss(Loss::Hinge).c(4.0 * c).balance(balance).tol(1e-5);
        let rank = svm.fit(data).unwrap().model;
        assert_eq!((swap.training.stop, rank.training.stop), (Stop::Converged, Stop::Converged), "{seed}");
        let ratio = 4.0 * swap.training.objective / rank.training.objective;
        assert!((ratio - 1.0).abs() < 2e-5, "{seed}: {ratio}");
        let scores = |model: &Model| model.scorer.scores(&data.items).unwrap();
        let (ours, theirs) = (scores(&swap), scores(&rank));
        let size = theirs.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
        let worst = ours.iter().zip(&theirs).map(|(a, b)| (2.0 * a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 0.03 * size, "{seed}: {worst} {size}");
    }
}

#[test]
fn memory_and_threads_change_no_bit() {
    let data = Drawn { n_groups: 8, per_group: 60, n_labels: 5, ..Drawn::new(3) }.ranking();
    assert!(data.n_items() > 300);
    let fit = |cache_mb: usize, threads: usize| {
        let mut svm = RankSvm::new().kernel(Kernel::rbf(0.4)).threads(threads);
        svm.effort.cache_mb = cache_mb;
        svm.fit(&data).unwrap().model
    };
    let first = fit(512, 1);
    for (cache_mb, threads) in [(0, 2), (512, 3), (0, 1)] {
        let other = fit(cache_mb, threads);
        assert_eq!(other.training, first.training);
        assert_eq!(coefficients(&other, &data), coefficients(&first, &data));
    }
}

#[test]
fn a_weight_of_two_is_twice() {
    let data = Drawn { n_labels: 3, ..Drawn::new(5) }.ranking();
    let group_weights = vec![2.0; data.groups.len()];
    let twice = Ranking { group_weights: Some(group_weights), ..data.clone() };
    let svm = RankSvm::new().kernel(Kernel::rbf(0.5)).tol(1e-7);
    let (a, b) = (svm.clone().c(2.0).fit(&data).unwrap().model, svm.fit(&twice).unwrap().model);
    assert!((a.training.objective / b.training.objective - 1.0).abs() < 3e-7);
    // The same items once more double every pair four times over: items and their copies in one group.
    let numbers: Vec<usize> = (0..data.n_items()).chain(0..data.n_items()).collect();
    let svm = RankSvm::new().kernel(Kernel::rbf(0.5)).tol(1e-7);
    let copied = svm.fit(&data.select(&numbers)).unwrap().model.training;
    let weighted = data.clone().with_weights(vec![2.0; data.n_items()]).unwrap();
    let weighted = svm.fit(&weighted).unwrap().model.training;
    assert!((copied.objective / weighted.objective - 1.0).abs() < 3e-7);
}

#[test]
fn strange_parameters_are_refused_and_strange_data_survived() {
    let data = Drawn { n_labels: 3, ..Drawn::new(6) }.ranking();
    let refused = |svm: RankSvm| assert!(svm.fit(&data).is_err(), "{svm:?}");
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(RankSvm::new().kernel(Kernel::rbf(gamma)));
    }
    refused(RankSvm::new().kernel(Kernel::Poly { gamma: Gamma::Scale, coef0: 0.0, degree: 0 }));
    refused(RankSvm::new().kernel(Kernel::rbf(1.0)).c(f64::INFINITY));
    refused(RankSvm::new().kernel(Kernel::rbf(1.0)).approx(Some(Approx::Nystrom(0))));
    refused(RankSvm::new().approx(Some(Approx::Nystrom(5))));
    let start = RankSvm::new().fit(&data).unwrap().model;
    assert!(RankSvm::new().kernel(Kernel::rbf(1.0)).fit_from(&data, Some(&start), &rankwise::Unwatched).is_err());

    let with = |features: Vec<f64>| {
        let features = Features::dense(1, features, Precision::F64).unwrap();
        Ranking { items: Items::new(features, None, None).unwrap(), ..data.clone() }
    };
    let n = data.n_items();
    // Constant features say nothing; of duplicates some do.
    for approx in [None, Some(Approx::Nystrom(4))] {
        let svm = RankSvm::new().kernel(Kernel::rbf(1.0)).approx(approx);
        let model = svm.fit(&with(vec![3.0; n])).unwrap().model;
        let scores = model.scorer.scores(&with(vec![3.0; n]).items).unwrap();
        assert!(scores.iter().all(|s| (s - scores[0]).abs() < 1e-9));
        let doubled = with((0..n).map(|k| (k % 3) as f64).collect());
        for c in [1e-12, 1.0, 1e12] {
            let training = svm.clone().c(c).fit(&doubled).unwrap().model.training;
            assert!(training.objective.is_finite() && training.gap >= 0.0, "{c}");
            assert!(training.gap <= 1e-3 || approx.is_some() || c == 1e12, "{c}: {}", training.gap);
        }
    }
    let kernel = Kernel::rbf(0.5);
    for c in [1e-12, 1e12] {
        for loss in [Loss::SquaredHinge, Loss::Hinge, Loss::Logistic] {
            let mut svm = RankSvm::new().kernel(kernel).c(c).loss(loss);
            svm.effort.max_iter = Some(200);
            let training = svm.fit(&data).unwrap().model.training;
            assert!(training.objective.is_finite() && (0.0..=1.0).contains(&training.gap), "{c} {loss:?}");
            assert!(c > 1.0 || training.gap <= 1e-3, "{c} {loss:?}: {}", training.gap);
        }
    }
}

#[test]
fn a_kernel_without_a_norm_converges_or_says_why() {
    let data = Drawn { n_labels: 3, ..Drawn::new(7) }.ranking();
    for (gamma, coef0) in [(1.0, -2.0), (0.01, 0.0), (3.0, 1.0)] {
        let kernel = Kernel::Sigmoid { gamma: Gamma::Value(gamma), coef0 };
        let fits = [
            RankSvm::new().kernel(kernel).fit(&data),
            RankSvm::new().kernel(kernel).loss(Loss::Hinge).fit(&data),
            RankSvm::new().kernel(kernel).approx(Some(Approx::Nystrom(5))).fit(&data),
            SwapSvm::new().kernel(kernel).fit(&data),
        ];
        for fit in fits {
            match fit {
                Ok(fit) => assert!(fit.model.training.gap <= 1e-3 || fit.model.training.stop != Stop::Converged),
                Err(Error::Unsupported { problem, .. }) => {
                    assert!(problem.contains("not positive definite"), "{problem}")
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}
