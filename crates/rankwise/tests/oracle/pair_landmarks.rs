//! Machines on pairs over landmarks beside those over the whole kernel, and their gaps beside plain loops.

use rankwise::data::{Comparisons, Outcome};
use rankwise::kernel::Gamma;
use rankwise::model::{Method, TieBandKind};
use rankwise::{Approx, CompareSvm, Davidson, Error, Kernel, Loss, Model, Stop};

use crate::oracle::plain::{Ask, Draw, MACHINES, rows_of, scores, unit_of, weighted};

const RBF: Kernel = Kernel::Rbf { gamma: Gamma::Value(0.4) };
const POLY: Kernel = Kernel::Poly { gamma: Gamma::Value(0.3), coef0: 1.0, degree: 3 };

fn data(seed: u64) -> Comparisons {
    weighted(Draw { seed, items: 60, features: 3, pairs: 150, ties: 0.4, noise: 0.5 }.data(), seed)
}

#[test]
fn all_landmarks_are_the_whole_kernel() {
    for method in MACHINES {
        for loss in [Loss::SquaredHinge, Loss::Hinge] {
            for kernel in [RBF, POLY] {
                let ask = Ask::new(method, kernel, loss, 2.0).tol(1e-7);
                let data = data(3);
                let (whole, over) = (ask.model(&data).training, ask.clone().landmarks(60).model(&data).training);
                let off = (over.objective - whole.objective).abs() / whole.objective;
                assert!(off < 1e-6, "{method:?} {loss:?} {kernel:?}: {} {}", over.objective, whole.objective);
                assert!(over.gap < 1e-6, "{method:?} {loss:?} {kernel:?}: gap {}", over.gap);
                assert_eq!((over.approx, over.stop), (Some(Approx::Nystrom(60)), Stop::Converged));
            }
        }
    }
}

#[test]
fn the_gap_is_no_less_than_what_is_missing() {
    for method in MACHINES {
        for loss in [Loss::SquaredHinge, Loss::Hinge] {
            for (n, most) in [(3, 1.0), (12, 1.0), (40, 0.5)] {
                let ask = Ask::new(method, RBF, loss, 2.0).tol(1e-7);
                let data = data(7);
                let whole = ask.model(&data).training.objective;
                let model = ask.clone().landmarks(n).model(&data);
                let Model { training, .. } = &model;
                let objective = ask.objective(&model, &data);
                assert!(
                    (training.objective - objective).abs() < 1e-9 * objective,
                    "{} {objective}",
                    training.objective
                );
                assert!(objective > whole * (1.0 - 1e-7), "{method:?} {loss:?} {n}: {objective} {whole}");
                assert!(
                    (1.0 - training.gap) * objective <= whole * (1.0 + 1e-6),
                    "{method:?} {loss:?} {n}: {training:?}"
                );
                assert!(training.gap > 1e-6 && training.gap <= most, "{method:?} {loss:?} {n}: {}", training.gap);
                assert_eq!((training.support, training.stop), (Some(n), Stop::Converged));
            }
        }
    }
}

/// The best dual value of the squared hinge of `compare` among multiples of what the model's margins ask for.
fn best_dual(ask: &Ask, model: &Model, data: &Comparisons) -> f64 {
    let (unit, beta, scores, costs) = (unit_of(model), model.beta.unwrap(), scores(model, data), ask.costs(data));
    let mut of_items = vec![0.0; scores.len()];
    let (mut sum, mut squares) = (0.0, 0.0);
    for (k, pair) in data.set.pairs.iter().enumerate() {
        let z = unit * (scores[pair.right as usize] - scores[pair.left as usize]);
        let mut lean = |slack: f64, way: f64| {
            let dual = 2.0 * costs[k] * slack.max(0.0);
            (sum, squares) = (sum + dual, squares + dual * dual / (4.0 * costs[k]));
            of_items[pair.right as usize] += way * dual;
            of_items[pair.left as usize] -= way * dual;
        };
        match data.outcomes[k] {
            Outcome::Tie => {
                lean(1.0 + beta + z, -1.0);
                lean(1.0 + beta - z, 1.0);
            }
            other => lean(1.0 - beta - f64::from(other.sign()) * z, f64::from(other.sign())),
        }
    }
    let (rows, kernel) = (rows_of(&data.set.items.features), ask.kernel.resolve(&data.set.items.features).unwrap());
    for (a, x) in of_items.iter().zip(&rows) {
        squares += 0.5 * of_items.iter().zip(&rows).map(|(b, y)| a * b * kernel.value(x, y)).sum::<f64>();
    }
    sum * sum / (4.0 * squares)
}

#[test]
fn the_gap_is_that_of_a_dual_point() {
    let data = data(11);
    for n in [10, 30, 50] {
        let ask = Ask::compare(RBF, Loss::SquaredHinge, 0.5).tol(1e-9).landmarks(n);
        let model = ask.model(&data);
        let objective = model.training.objective;
        let gap = 1.0 - best_dual(&ask, &model, &data) / objective;
        // Multiples above 1, and what less there is to curve of smaller ones, are not counted on.
        assert!(model.training.gap >= gap - 1e-6, "{n}: {} {gap}", model.training.gap);
        assert!(model.training.gap <= 3.0 * gap + 1e-6, "{n}: {} {gap}", model.training.gap);
    }
    let ask = Ask::compare(RBF, Loss::SquaredHinge, 0.5).tol(1e-9).landmarks(55);
    let model = ask.model(&data);
    let gap = 1.0 - best_dual(&ask, &model, &data) / model.training.objective;
    assert!(gap > 1e-7 && (model.training.gap / gap - 1.0).abs() < 0.05, "{} {gap}", model.training.gap);
}

#[test]
fn likelihoods_have_it_too() {
    let data = data(5);
    let logistic = |approx| CompareSvm::new().loss(Loss::Logistic).kernel(RBF).approx(approx).tol(1e-8).fit(&data);
    let davidson = |approx| Davidson::new().kernel(RBF).approx(approx).tol(1e-8).fit(&data);
    for fit in [&logistic as &dyn Fn(Option<Approx>) -> _, &davidson] {
        let fit = |approx| fit(approx).unwrap().model.training;
        let whole = fit(None).objective;
        let all = fit(Some(Approx::Nystrom(60)));
        assert!(
            (all.objective - whole).abs() < 1e-6 * whole && all.gap < 1e-6,
            "{} {whole} {}",
            all.objective,
            all.gap
        );
        let few = fit(Some(Approx::Nystrom(12)));
        assert!(
            few.objective > whole && (1.0 - few.gap) * few.objective <= whole,
            "{} {whole} {}",
            few.objective,
            few.gap
        );
        assert!(few.gap < 0.9, "{}", few.gap);
    }
}

#[test]
fn what_landmarks_are_not_for() {
    let data = data(2);
    let asked =
        |kernel, band| CompareSvm::new().kernel(kernel).approx(Some(Approx::Nystrom(5))).tie_band(band).fit(&data);
    assert!(matches!(asked(Kernel::Linear, TieBandKind::Constant), Err(Error::Parameter { .. })));
    assert!(matches!(asked(RBF, TieBandKind::Pair), Err(Error::Unsupported { .. })));
    let sigmoid = Kernel::Sigmoid { gamma: Gamma::Value(0.1), coef0: 0.0 };
    assert!(matches!(asked(sigmoid, TieBandKind::Constant), Err(Error::Unsupported { .. })));
}

#[test]
fn a_hinge_that_says_nothing_says_so() {
    // Outcomes that have nothing to do with the items.
    let data = Draw { seed: 4, items: 200, features: 2, pairs: 400, ties: 0.6, noise: 50.0 }.data();
    let model = Ask::new(Method::Compare, RBF, Loss::Hinge, 0.01).landmarks(5).model(&data);
    assert!(scores(&model, &data).iter().all(|score| *score == 0.0));
    assert!(model.training.warnings.iter().any(|warning| warning.contains("equal scores for all")));
    let objective = model.training.objective;
    let ask = Ask::new(Method::Compare, RBF, Loss::Hinge, 0.01);
    assert!((ask.objective(&model, &data) - objective).abs() < 1e-9 * objective);
}
