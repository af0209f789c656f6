//! Where few or noisy ties make the constant answer the hinge's optimum for every C, the fit must say so; and only there.
//!
//! The dual with ‖u‖ = 0, weights c (independent of C):
//!
//!   max 2Σv  s.t.  Σ vᵢdᵢ = Σ tⱼdⱼ,  0 ≤ vᵢ ≤ cᵢ,  |tⱼ| ≤ cⱼ,  Σ|t| ≤ Σv,  Σv + Σ|t| ≤ 2Σc_tie;
//!
//! the hinge collapses exactly where this reaches min(2Σc_non-tie, 4Σc_tie), the value of the constant answer.

use rankwise::data::simulate::{Norm, Simulation};
use rankwise::data::{Comparisons, Outcome};
use rankwise::metrics::Judged;
use rankwise::{Kernel, Loss, Stop};

use crate::oracle::conic::{Entries, minimum};
use crate::oracle::plain::{Ask, Draw, rows_of, scores, weighted};

/// How far the best answer without a norm falls short of the constant one, as a share: 0 where the hinge collapses.
fn shortfall(data: &Comparisons) -> f64 {
    let rows = rows_of(&data.set.items.features);
    let difference = |k: usize| -> Vec<f64> {
        let pair = data.set.pairs[k];
        let sign = if data.outcomes[k] == Outcome::Left { -1.0 } else { 1.0 };
        rows[pair.right as usize].iter().zip(&rows[pair.left as usize]).map(|(r, l)| sign * (r - l)).collect()
    };
    let (ties, others): (Vec<usize>, Vec<usize>) = (0..data.n_pairs()).partition(|&k| data.outcomes[k] == Outcome::Tie);
    let total = |pairs: &[usize]| pairs.iter().map(|&k| data.weight(k)).sum::<f64>();
    // x = (v, p, q) with t = p − q and |t| ≤ p + q.
    let (n, m) = (others.len(), ties.len());
    let (mut a, mut b) = (Entries::new(n + 2 * m), Vec::new());
    let (of_others, of_ties): (Vec<_>, Vec<_>) =
        (others.iter().map(|&k| difference(k)).collect(), ties.iter().map(|&k| difference(k)).collect());
    let d = rows[0].len();
    for f in 0..d {
        let v = of_others.iter().enumerate().map(|(i, x): (usize, &Vec<f64>)| (i, x[f]));
        let t = of_ties.iter().enumerate();
        a.row(v.chain(t.flat_map(|(j, x): (usize, &Vec<f64>)| [(n + j, -x[f]), (n + m + j, x[f])])));
        b.push(0.0);
    }
    (0..n + 2 * m).for_each(|x| a.row([(x, -1.0)]));
    b.resize(b.len() + n + 2 * m, 0.0);
    (0..n).for_each(|i| a.row([(i, 1.0)]));
    b.extend(others.iter().map(|&k| data.weight(k)));
    (0..m).for_each(|j| a.row([(n + j, 1.0), (n + m + j, 1.0)]));
    b.extend(ties.iter().map(|&k| data.weight(k)));
    let sums = |v: f64| (0..n).map(move |i| (i, v)).chain((n..n + 2 * m).map(|x| (x, 1.0)));
    a.row(sums(-1.0));
    b.push(0.0);
    a.row(sums(1.0));
    b.push(2.0 * total(&ties));
    let mut q = vec![0.0; n + 2 * m];
    q[..n].fill(-2.0);
    let value = -minimum(&vec![0.0; n + 2 * m], &q, &a, &b, d);
    let constant = (2.0 * total(&others)).min(4.0 * total(&ties));
    1.0 - value / constant
}

fn pair_accuracy(scores: &[f64], data: &Comparisons) -> f64 {
    let margins: Vec<f64> = data.set.pairs.iter().map(|p| scores[p.right as usize] - scores[p.left as usize]).collect();
    Judged::new(&data.outcomes, &margins, None, 0.0).unwrap().pair_accuracy().unwrap()
}

#[test]
fn the_hinge_collapses_exactly_where_the_linear_program_says_so() {
    let (mut collapsed, mut not) = (0, 0);
    for (number, (ties, noise)) in [
        (0.05, 5.0),
        (0.05, 2.0),
        (0.05, 1.0),
        (0.05, 0.3),
        (0.1, 0.05),
        (0.2, 3.0),
        (0.2, 0.5),
        (0.33, 2.0),
        (0.33, 0.2),
        (0.5, 3.0),
        (0.5, 0.1),
        (0.7, 3.0),
        (0.7, 0.1),
        (0.95, 2.0),
        (0.95, 0.3),
    ]
    .into_iter()
    .enumerate()
    {
        let draw = Draw { seed: 70 + number as u64, items: 150, features: 3, pairs: 400, ties, noise };
        let plain = draw.data();
        let data = if number % 4 == 3 { weighted(plain, 1) } else { plain };
        let shortfall = shortfall(&data);
        assert!(!(1e-6..1e-4).contains(&shortfall), "{draw:?}: {shortfall:e} decides nothing, draw other data");
        let expected = shortfall < 1e-6;
        *(if expected { &mut collapsed } else { &mut not }) += 1;
        for (c, tol) in [(0.01, 1e-3), (1.0, 1e-3), (1.0, 1e-9), (100.0, 1e-3)] {
            let ask = Ask::compare(Kernel::Linear, Loss::Hinge, c).refit().tol(tol);
            let model = ask.model(&data);
            let what = format!("{draw:?}, C {c}, tol {tol}, shortfall {shortfall:e}");
            assert_eq!(model.training.stop, Stop::Converged, "{what}");
            assert!(model.training.gap <= tol, "{what}: gap {:e}", model.training.gap);
            assert_eq!(model.training.collapsed, expected, "{what}");
            let warned = model.training.warnings.iter().any(|w| w.contains("squared-hinge"));
            assert_eq!(warned, expected, "{what}: {:?}", model.training.warnings);
            assert_eq!(scores(&model, &data).iter().all(|&s| s == 0.0), expected, "{what}");
            if expected {
                let constant = ask.losses(&data, &vec![0.0; data.n_pairs()], model.beta);
                assert!((model.training.objective / constant - 1.0).abs() <= 1e-9, "{what}");
            }
        }
        // The noise is up to five times the signal: what can be learnt of the order, the squared hinge learns.
        let squared = Ask::compare(Kernel::Linear, Loss::SquaredHinge, 1.0).model(&data);
        assert!(!squared.training.collapsed, "{draw:?}");
        let truth: Vec<f64> = rows_of(&data.set.items.features).iter().map(|x| x.iter().sum()).collect();
        let (learnt, possible) = (pair_accuracy(&scores(&squared, &data), &data), pair_accuracy(&truth, &data));
        assert!(learnt >= possible - 0.1, "{draw:?}: pair accuracy {learnt}, the truth has {possible}");
        assert!(learnt > 0.5, "{draw:?}: pair accuracy {learnt}");
    }
    assert!(collapsed >= 4 && not >= 4, "{collapsed} collapsed, {not} not");
}

#[test]
fn the_papers_simulation_does_not_collapse() {
    for ties in [0.2, 0.5, 0.8] {
        for norm in [Norm::L1, Norm::L2, Norm::Linf] {
            let data = Simulation { norm, n_pairs: 200, ties, noise: 0.25, seed: 3 }.draw().unwrap();
            for c in [0.01, 1.0, 100.0] {
                let model = Ask::compare(Kernel::rbf(0.5), Loss::Hinge, c).model(&data);
                assert!(!model.training.collapsed, "{norm:?}, {ties} ties, C {c}");
                assert!(pair_accuracy(&scores(&model, &data), &data) > 0.8, "{norm:?}, {ties} ties, C {c}");
            }
        }
    }
}
