//! Few pairs that say the same over and over, at a C beyond all reason: where searches took for ever.

use rankwise::data::{Comparisons, Outcome, Random};
use rankwise::{Gamma, Kernel, Loss, Stop};

use super::plain::{Ask, MACHINES, comparisons};

/// Few distinct rows of small whole numbers, judged by a line, by chance, or both.
fn coarse(seed: u64) -> Comparisons {
    let mut random = Random::new(seed);
    let (n, p) = (5 + random.below(25), 1 + random.below(5));
    let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..p).map(|_| random.below(4) as f64 / 3.0).collect()).collect();
    let noise = [0.0, 0.3, 3.0][random.below(3)];
    let worth: Vec<f64> = rows.iter().map(|row| row.iter().sum::<f64>() + noise * random.normal()).collect();
    let pairs: Vec<(u32, u32)> =
        (0..10 + random.below(60)).map(|_| (random.below(n) as u32, random.below(n) as u32)).collect();
    let margin = |&(left, right): &(u32, u32)| worth[right as usize] - worth[left as usize];
    let outcomes = pairs.iter().map(|pair| Outcome::of_margin(margin(pair), 0.4)).collect();
    comparisons(&rows, pairs, outcomes)
}

#[test]
fn few_pairs_end_at_their_optimum_whatever_c_is() {
    let degree_1 = Kernel::Poly { gamma: Gamma::Value(1.0), coef0: 0.0, degree: 1 };
    for seed in 0..40 {
        let data = coarse(seed);
        let c = 10f64.powi([2, 4, 6, 8][seed as usize % 4]);
        for method in MACHINES {
            let mut found = Vec::new();
            for kernel in [Kernel::Linear, degree_1, Kernel::rbf(0.5)] {
                let mut ask = Ask::new(method, kernel, Loss::Hinge, c);
                ask.effort.time_limit = Some(std::time::Duration::from_secs(5));
                let model = ask.model(&data);
                let what = format!("seed {seed}, {ask:?}");
                let (objective, gap) = (model.training.objective, model.training.gap);
                assert_eq!(model.training.stop, Stop::Converged, "{what}: gap {gap}");
                if !model.training.collapsed && data.n_ties() < data.n_pairs() {
                    let plain = ask.objective(&model, &data);
                    assert!(
                        (plain - objective).abs() <= 1e-6 * objective.max(1e-9),
                        "{what}: {objective}, plainly {plain}"
                    );
                }
                found.push((objective, objective * (1.0 - gap)));
            }
            // Two ways to the same machine: neither may end below what the other says is possible.
            let [(value, bound), (other_value, other_bound)] = [found[0], found[1]];
            let rounding = 1e-7 * value.max(1e-9);
            assert!(bound <= other_value + rounding && other_bound <= value + rounding, "seed {seed}: {found:?}");
        }
    }
}
