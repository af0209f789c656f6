//! Newton's method on pairs and the polish of hinge machines, where one sees problems and solvers.

use crate::data::Comparisons;
use crate::data::simulate::{Norm, Simulation};
use crate::kernel::{ItemRows, KernelFunction};
use crate::loss::Loss;
use crate::problem::{Exact, MirroredQp, PairLosses, PairProblem, Task};
use crate::progress::Unwatched;
use crate::solver::Limits;
use crate::solver::pair_newton::{leave_one_out, minimise};
use crate::solver::polish::polish;
use crate::solver::smo::State;

const LIMITS: Limits<'_> = Limits { tol: 1e-3, max_iter: u64::MAX, deadline: None, watch: &Unwatched };

/// Solves without some of the pairs; margins of all.
fn margins_without(exact: &Exact<'_>, data: &Comparisons, left_out: Option<usize>, c: f64) -> Vec<f64> {
    let task = Task::Compare { capped: false };
    let cost = |k: usize| if Some(k) == left_out { 0.0 } else { c };
    let problem = PairProblem::new(task, Loss::SquaredHinge, exact, data, cost);
    let start = vec![0.0; problem.duals().len()];
    let (point, _, limit) = minimise(&problem, start, LIMITS);
    assert_eq!(limit, None);
    let margins = problem.margins(&point.coefficients);
    problem.data_margins(&margins, &point.duals)
}

/// Every pair is really left out once. Estimates are right to many digits unless somebody's acting changes.
#[test]
fn leaving_one_out_is_what_a_fit_without_the_pair_says() {
    let simulation = Simulation { norm: Norm::L2, n_pairs: 60, ties: 0.5, noise: 0.25, seed: 3 };
    let data = simulation.draw().unwrap();
    for (c, gamma, exactly) in [(1e-4, 0.3, 60), (0.1, 0.3, 25), (10.0, 1.0, 15)] {
        let kernel = KernelFunction::Rbf { gamma };
        let exact = Exact::new(kernel, &[Loss::SquaredHinge], &data, data.n_pairs(), &ItemRows::none()).unwrap();
        let task = Task::Compare { capped: false };
        let problem = PairProblem::new(task, Loss::SquaredHinge, &exact, &data, |_| c);
        let (point, ..) = minimise(&problem, vec![0.0; problem.duals().len()], LIMITS);
        let margins = problem.margins(&point.coefficients);
        let estimates = leave_one_out(&problem, &problem.at(&margins, 1.0), &margins);
        let estimates = problem.data_margins(&estimates, &point.duals);
        let in_training = margins_without(&exact, &data, None, c);
        let (mut n_exact, mut wrong, mut flattered) = (0, 0.0, 0.0);
        for (k, estimate) in estimates.iter().enumerate() {
            let truth = margins_without(&exact, &data, Some(k), c)[k];
            n_exact += usize::from((estimate - truth).abs() <= 1e-6 * (1.0 + truth.abs()));
            wrong += (estimate - truth).abs();
            flattered += (in_training[k] - truth).abs();
        }
        assert!(n_exact >= exactly, "C {c}: {n_exact} of 60 exact");
        assert!(wrong <= 0.35 * flattered, "C {c}: wrong by {wrong}, training margins by {flattered}");
    }
}

/// Two searches from different starts, and one with a path of C between, end at the same margins.
#[test]
fn where_a_search_starts_does_not_matter() {
    let simulation = Simulation { norm: Norm::L1, n_pairs: 120, ties: 0.4, noise: 0.25, seed: 4 };
    let data = simulation.draw().unwrap();
    for gamma in [0.01, 0.5, 8.0] {
        let kernel = KernelFunction::Rbf { gamma };
        let exact = Exact::new(kernel, &[Loss::SquaredHinge], &data, data.n_pairs(), &ItemRows::none()).unwrap();
        for task in [Task::Compare { capped: false }, Task::Compare { capped: true }, Task::Rank2] {
            for c in [1e-3, 1.0, 1000.0] {
                let problem = PairProblem::new(task, Loss::SquaredHinge, &exact, &data, |_| c);
                let n = problem.duals().len();
                let from = |start: Vec<f64>| problem.margins(&minimise(&problem, start, LIMITS).0.coefficients);
                let (cold, warm) = (from(vec![0.0; n]), from((0..n).map(|k| (k % 7) as f64 * 0.1).collect()));
                let worst = cold.iter().zip(&warm).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(
                    worst <= 1e-6 * (1.0 + cold.iter().fold(0.0, |m: f64, z| m.max(z.abs()))),
                    "{task:?} γ {gamma} C {c}: {worst}"
                );
            }
        }
    }
}

/// The hinge: a rough feasible point near the optimum is polished to where no certificate finds a gap.
#[test]
fn polished_hinge_machines_have_no_gap() {
    let simulation = Simulation { norm: Norm::L1, n_pairs: 100, ties: 0.5, noise: 0.25, seed: 6 };
    let data = simulation.draw().unwrap();
    let mut n_polished = 0;
    for gamma in [0.05, 0.5, 5.0] {
        let kernel = KernelFunction::Rbf { gamma };
        let exact = Exact::new(kernel, &[Loss::Hinge], &data, data.n_pairs(), &ItemRows::none()).unwrap();
        for task in [Task::Compare { capped: false }, Task::Rank, Task::Rank2] {
            for c in [0.3, 10.0] {
                let problem = PairProblem::new(task, Loss::Hinge, &exact, &data, |_| c);
                let mut state = State::start(&problem);
                let mut rows = crate::problem::PairRows::<f32>::new(&problem, 1 << 24).unwrap();
                let ending = crate::solver::smo::solve(&problem, &mut rows, &mut state, LIMITS);
                assert!(!ending.collapsed, "{task:?} γ {gamma} C {c}");
                let Some(duals) = polish(&problem, &state.duals) else { continue };
                n_polished += 1;
                let polished = State::resume(&problem, duals, 1.0);
                let gap = problem.certify(&polished.duals, polished.anchor).gap();
                assert!((-1e-12..1e-7).contains(&gap), "{task:?} γ {gamma} C {c}: {gap}");
                assert!(gap <= ending.certificate.gap().max(1e-9), "{task:?} γ {gamma} C {c}: {gap}");
            }
        }
    }
    assert!(n_polished >= 15, "{n_polished} of 18");
}
