//! Simulated pairs against the definition: x, x′ in [−3, 3]², outcome t₁[r(x′) − r(x) + ε].

use rankwise::Error;
use rankwise::data::simulate::{Norm, Simulation};
use rankwise::data::{Comparisons, Outcome};

const NORMS: [Norm; 3] = [Norm::L1, Norm::L2, Norm::Linf];
const USUAL: Simulation = Simulation { norm: Norm::L1, n_pairs: 200, ties: 0.5, noise: 0.25, seed: 1 };

/// Both sides of every pair.
fn sides(data: &Comparisons) -> Vec<[[f64; 2]; 2]> {
    let features = &data.set.items.features;
    assert_eq!(features.n_cols(), 2);
    let mut points = vec![[0.0; 2]; features.n_rows()];
    for (row, point) in points.iter_mut().enumerate() {
        features.for_each_in_row(row, |column, value| point[column] = value);
    }
    data.set.pairs.iter().map(|pair| [points[pair.left as usize], points[pair.right as usize]]).collect()
}

/// ‖x‖² written out.
fn squared_norm(norm: Norm, [a, b]: [f64; 2]) -> f64 {
    match norm {
        Norm::L1 => a * a + 2.0 * (a * b).abs() + b * b,
        Norm::L2 => a * a + b * b,
        Norm::Linf => (a * a).max(b * b),
    }
}

#[test]
fn the_share_of_ties_is_exact() {
    for (n_pairs, ties, expected) in
        [(200, 0.5, 100), (7, 0.0, 0), (7, 1.0, 7), (7, 0.5, 4), (10, 0.33, 3), (1, 0.4, 0), (1, 0.6, 1), (30, 0.9, 27)]
    {
        for norm in NORMS {
            let data = Simulation { norm, n_pairs, ties, ..USUAL }.draw().unwrap();
            assert_eq!((data.n_pairs(), data.n_ties()), (n_pairs, expected), "{norm:?}, share {ties}");
        }
    }
}

#[test]
fn ties_are_spread_over_all_rows() {
    for (norm, ties) in [(Norm::L1, 0.5), (Norm::L2, 0.1), (Norm::Linf, 0.9)] {
        let data = Simulation { norm, n_pairs: 4000, ties, ..USUAL }.draw().unwrap();
        for (quarter, rows) in data.outcomes.chunks(1000).enumerate() {
            let share = rows.iter().filter(|&&outcome| outcome == Outcome::Tie).count() as f64 / 1000.0;
            // Four standard deviations of a share of 1,000.
            assert!((share - ties).abs() < 4.0 * 0.0158, "{norm:?}: {share} of quarter {quarter} are ties, not {ties}");
        }
    }
}

#[test]
fn points_fill_the_square_from_minus_three_to_three() {
    let points = sides(&Simulation { n_pairs: 3000, ..USUAL }.draw().unwrap());
    let coordinates: Vec<f64> = points.into_iter().flatten().flatten().collect();
    assert_eq!(coordinates.len(), 12_000);
    assert!(coordinates.iter().all(|x| (-3.0..=3.0).contains(x)));
    let share_above = |low: f64| coordinates.iter().filter(|x| x.abs() > low).count() as f64 / 12_000.0;
    assert!(share_above(2.9) > 0.01 && share_above(1.5) > 0.3 && share_above(1.5) < 0.7);
    let mean = coordinates.iter().sum::<f64>() / 12_000.0;
    assert!(mean.abs() < 0.1, "{mean}");
}

#[test]
fn without_noise_the_outcome_is_that_of_the_true_ranks() {
    for norm in NORMS {
        let data = Simulation { norm, noise: 0.0, n_pairs: 1000, ..USUAL }.draw().unwrap();
        for ([left, right], &outcome) in sides(&data).into_iter().zip(&data.outcomes) {
            let difference = squared_norm(norm, right) - squared_norm(norm, left);
            // Two ways to square agree to rounding, so only differences on the very edge may not be judged.
            assert!((difference.abs() - 1.0).abs() > 1e-9, "a difference on the edge: choose another seed");
            assert_eq!(outcome, Outcome::of_margin(difference, 1.0), "{norm:?}: r(x′) − r(x) = {difference}");
            assert!((norm.rank(left) - squared_norm(norm, left)).abs() < 1e-12);
        }
        let n_right = data.outcomes.iter().filter(|&&outcome| outcome == Outcome::Right).count();
        assert!((200..300).contains(&n_right), "both sides win about equally often, not {n_right} of 500");
    }
}

#[test]
fn noise_blurs_outcomes_by_its_standard_deviation() {
    let data = Simulation { noise: 0.25, n_pairs: 4000, ..USUAL }.draw().unwrap();
    let (mut n_blurred, mut n_far) = (0, 0);
    for ([left, right], &outcome) in sides(&data).into_iter().zip(&data.outcomes) {
        let difference = squared_norm(USUAL.norm, right) - squared_norm(USUAL.norm, left);
        if Outcome::of_margin(difference, 1.0) != outcome {
            n_blurred += 1;
            n_far += usize::from((difference.abs() - 1.0).abs() > 5.0 * 0.25);
        }
    }
    assert!(n_blurred > 50, "{n_blurred} outcomes differ from those without noise");
    assert_eq!(n_far, 0, "noise of more than five standard deviations");
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let draw = |seed| Simulation { seed, ..USUAL }.draw().unwrap();
    let (first, again, other) = (draw(1), draw(1), draw(2));
    assert_eq!((sides(&first), &first.outcomes), (sides(&again), &again.outcomes));
    assert_ne!(sides(&first), sides(&other));
    assert_ne!(first.outcomes, other.outcomes);
}

#[test]
fn parameters_out_of_range_are_errors() {
    let nan = f64::NAN;
    let cases = [
        ("ties", Simulation { ties: -0.1, ..USUAL }),
        ("ties", Simulation { ties: 1.1, ..USUAL }),
        ("ties", Simulation { ties: nan, ..USUAL }),
        ("noise", Simulation { noise: -1.0, ..USUAL }),
        ("noise", Simulation { noise: nan, ..USUAL }),
        ("noise", Simulation { noise: f64::INFINITY, ..USUAL }),
        ("pairs", Simulation { n_pairs: 0, ..USUAL }),
    ];
    for (expected, simulation) in cases {
        match simulation.draw() {
            Err(Error::Parameter { name, .. }) => assert_eq!(name, expected, "{simulation:?}"),
            other => panic!("{simulation:?}: {other:?}"),
        }
    }
}

#[test]
fn noise_that_leaves_no_ties_ends_in_an_error_instead_of_never() {
    let hopeless = Simulation { noise: 1e12, ..USUAL };
    match hopeless.draw() {
        Err(Error::Parameter { name: "noise", expected, .. }) => assert!(expected.contains("ties"), "{expected}"),
        other => panic!("{other:?}"),
    }
    // A tie now and then does not make it endless either, however many are asked for.
    let hardly_any = Simulation { noise: 1e6, n_pairs: 10_000_000, ties: 1.0, ..USUAL };
    assert!(matches!(hardly_any.draw(), Err(Error::Parameter { name: "noise", .. })));
    let without_ties = Simulation { ties: 0.0, ..hopeless }.draw().unwrap();
    assert_eq!((without_ties.n_pairs(), without_ties.n_ties()), (200, 0));
}
