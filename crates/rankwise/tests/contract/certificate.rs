//! What a fit says of itself, against what the test computes from the model alone.

use std::time::Instant;

use rankwise::data::simulate::{Norm, Simulation};
use rankwise::data::{Comparisons, Outcome, Pair};
use rankwise::model::{Method, TieRegion};
use rankwise::{Gamma, Kernel, Loss, Stop};

use crate::oracle::plain::{Ask, Draw, MACHINES, scores, weighted};

fn simulated(n_pairs: usize) -> Comparisons {
    Simulation { norm: Norm::L2, n_pairs, ties: 0.5, noise: 0.25, seed: 7 }.draw().unwrap()
}

fn data_sets() -> Vec<(&'static str, Comparisons)> {
    let draw = Draw { seed: 3, items: 40, features: 4, pairs: 150, ties: 0.3, noise: 0.5 };
    let repeated = Draw { items: 300, seed: 4, ..draw }.data();
    vec![
        ("items that repeat, weighted", weighted(draw.data(), 5)),
        ("items that hardly repeat", repeated),
        ("few ties", Draw { ties: 0.04, seed: 6, ..draw }.data()),
        ("the paper's simulation", simulated(120)),
    ]
}

fn kernels() -> [Kernel; 4] {
    [
        Kernel::Linear,
        Kernel::rbf(0.5),
        Kernel::Poly { gamma: Gamma::Value(0.3), coef0: 1.0, degree: 3 },
        Kernel::Rbf { gamma: Gamma::Scale },
    ]
}

#[test]
fn objective_is_the_primal_value_at_the_model_and_the_gap_bounds_it() {
    for (name, data) in &data_sets() {
        for method in MACHINES {
            for kernel in kernels() {
                for loss in Loss::OF_PAIRS {
                    for (c, region) in [(0.01, TieRegion::Free), (1.0, TieRegion::Always), (50.0, TieRegion::Free)] {
                        let mut ask = Ask::new(method, kernel, loss, c);
                        ask.tie_region = region;
                        // What looser fits promise that no fit can go below.
                        let mut floor = 0.0f64;
                        for tol in [1e-2, 1e-3, 1e-6] {
                            let what = format!("{name}, {method:?}, {kernel:?}, {loss:?}, C {c}, {region:?}, {tol}");
                            let ask = ask.clone().tol(tol);
                            let model = ask.model(data);
                            let training = &model.training;
                            let plain = ask.objective(&model, data);
                            assert!(
                                (plain - training.objective).abs() <= 1e-9 * plain,
                                "{what}: objective {}, the model's is {plain}",
                                training.objective
                            );
                            assert!(training.gap >= -1e-9, "{what}: gap {}", training.gap);
                            assert_eq!(training.stop, Stop::Converged, "{what}");
                            assert!(training.gap <= tol, "{what}: gap {}", training.gap);
                            assert!(plain >= floor * (1.0 - 1e-9), "{what}: {plain} is below the bound {floor}");
                            floor = floor.max(plain * (1.0 - training.gap));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_millionth_is_reached_on_the_papers_simulation() {
    let data = simulated(400);
    for loss in Loss::OF_PAIRS {
        for gamma in [0.5f64.powi(7), 0.5, 16.0] {
            for c in [1e-3, 1.0, 1e3] {
                let started = Instant::now();
                let model = Ask::compare(Kernel::rbf(gamma), loss, c).tol(1e-6).model(&data);
                let training = &model.training;
                let what = format!("{loss:?}, γ {gamma}, C {c}");
                println!(
                    "{what}: {:.2} s, {} iterations, β {:?}, collapsed {}",
                    started.elapsed().as_secs_f64(),
                    training.iterations,
                    model.beta,
                    training.collapsed
                );
                assert_eq!(training.stop, Stop::Converged, "{what}: gap {}", training.gap);
                assert!((-1e-9..=1e-6).contains(&training.gap), "{what}: gap {}", training.gap);
            }
        }
    }
}

/// The weighted zero-one error on the training pairs, margins from the model alone.
fn training_error(data: &Comparisons, margins: &[f64], threshold: f64) -> f64 {
    let wrong = |k: &usize| Outcome::of_margin(margins[*k], threshold) != data.outcomes[*k];
    let total: f64 = (0..data.n_pairs()).map(|k| data.weight(k)).sum();
    (0..data.n_pairs()).filter(wrong).map(|k| data.weight(k)).sum::<f64>() / total
}

#[test]
fn no_other_threshold_makes_fewer_mistakes_in_training() {
    for (name, data) in &data_sets() {
        for (method, kernel) in [
            (Method::Rank, Kernel::Linear),
            (Method::Rank, Kernel::rbf(0.5)),
            (Method::Rank2, Kernel::Linear),
            (Method::Rank2, Kernel::rbf(0.5)),
            (Method::Compare, Kernel::Linear),
        ] {
            for loss in Loss::OF_PAIRS {
                let model = Ask::new(method, kernel, loss, 1.0).refit().model(data);
                let scores = scores(&model, data);
                let margin = |p: &Pair| scores[p.right as usize] - scores[p.left as usize];
                let margins: Vec<f64> = data.set.pairs.iter().map(margin).collect();
                let found = training_error(data, &margins, model.threshold);
                let least = margins
                    .iter()
                    .map(|m| m.abs() * (1.0 + 1e-9))
                    .chain([0.0])
                    .map(|threshold| training_error(data, &margins, threshold))
                    .fold(f64::INFINITY, f64::min);
                let what = format!("{name}, {method:?}, {kernel:?}, {loss:?}");
                assert!(found <= least + 1e-12, "{what}: error {found} at {}, possible {least}", model.threshold);
                let ties = (0..data.n_pairs()).filter(|&k| margins[k].abs() <= model.threshold);
                let total: f64 = (0..data.n_pairs()).map(|k| data.weight(k)).sum();
                let share = ties.map(|k| data.weight(k)).sum::<f64>() / total;
                let said = model.training.tie_share.predicted;
                assert!((share - said).abs() < 1e-9, "{what}: predicts {share} ties, says {said}");
            }
        }
    }
}
