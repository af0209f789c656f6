//! The primal, handed as it stands to an interior-point solver (Clarabel): objectives must be equal.
//!
//! Kernels enter by an explicit feature map: with K = L Lᵀ over the items (pivoted Cholesky), item i is row i of L and
//! u a vector of as many numbers as L has columns.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, SupportedConeT, ZeroConeT,
};
use rankwise::data::{Comparisons, Outcome, Random};
use rankwise::model::{Balance, Method, TieRegion};
use rankwise::{Gamma, Kernel, Loss, Stop};

use crate::oracle::plain::{Ask, Draw, MACHINES, resolved, rows_of, weighted};

/// A sparse matrix built by entries.
pub(crate) struct Entries {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) entries: Vec<(usize, usize, f64)>,
}

impl Entries {
    pub(crate) fn new(cols: usize) -> Self {
        Entries { rows: 0, cols, entries: Vec::new() }
    }

    pub(crate) fn row(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        self.entries.extend(entries.into_iter().filter(|e| e.1 != 0.0).map(|(c, v)| (self.rows, c, v)));
        self.rows += 1;
    }

    fn compressed(&self) -> CscMatrix<f64> {
        let (rows, (cols, values)) = self.entries.iter().map(|&(r, c, v)| (r, (c, v))).unzip();
        CscMatrix::new_from_triplets(self.rows, self.cols, rows, cols, values)
    }
}

/// min ½ xᵀ diag(p) x + q·x with the first `n_equal` rows of A x = b and the rest A x ≤ b; the optimal value.
pub(crate) fn minimum(p: &[f64], q: &[f64], a: &Entries, b: &[f64], n_equal: usize) -> f64 {
    let n = p.len();
    let mut diagonal = Entries { rows: n, cols: n, entries: Vec::new() };
    diagonal.entries.extend((0..n).filter(|&i| p[i] != 0.0).map(|i| (i, i, p[i])));
    let cones: [SupportedConeT<f64>; 2] = [ZeroConeT(n_equal), NonnegativeConeT(b.len() - n_equal)];
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_rel(1e-9)
        .tol_gap_abs(1e-10)
        .tol_feas(1e-9)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(&diagonal.compressed(), q, &a.compressed(), b, &cones, settings).unwrap();
    solver.solve();
    let status = solver.solution.status;
    assert!(matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved), "{status:?}");
    solver.solution.obj_val
}

/// Rows of L with K = L Lᵀ, up to a residual of 1e-13 of the largest diagonal entry; the residual must not be negative.
pub(crate) fn factor(mut k: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = k.len();
    let largest = (0..n).map(|i| k[i][i]).fold(0.0, f64::max);
    let mut rows = vec![Vec::new(); n];
    for _ in 0..n {
        let pivot = (0..n).max_by(|&a, &b| k[a][a].total_cmp(&k[b][b])).unwrap();
        if k[pivot][pivot] <= 1e-13 * largest {
            break;
        }
        let root = k[pivot][pivot].sqrt();
        let column: Vec<f64> = (0..n).map(|i| k[i][pivot] / root).collect();
        for i in 0..n {
            rows[i].push(column[i]);
            for j in 0..n {
                k[i][j] -= column[i] * column[j];
            }
        }
    }
    let residual = k.iter().flatten().fold(0.0, |m: f64, v| m.max(v.abs()));
    assert!(residual <= 1e-10 * largest, "the kernel is not positive semidefinite on these items: {residual:e}");
    rows
}

/// Items as vectors whose dot products are kernel values.
pub(crate) fn explicit_items(kernel: Kernel, data: &Comparisons) -> Vec<Vec<f64>> {
    let rows = rows_of(&data.set.items.features);
    if kernel == Kernel::Linear {
        return rows;
    }
    let kernel = resolved(kernel, data);
    factor(rows.iter().map(|x| rows.iter().map(|y| kernel.value(x, y)).collect()).collect())
}

/// The least value of the objective.
fn conic_objective(ask: &Ask, data: &Comparisons) -> f64 {
    let items = explicit_items(ask.kernel, data);
    let d = items[0].len();
    let costs = ask.costs(data);
    let is_compare = ask.method == Method::Compare && data.n_ties() > 0;
    // One slack for every (pair, sign of z, sign of β, cost): ξ ≥ 0, ξ ≥ 1 − z·sign − β·sign.
    let mut slacks: Vec<(Vec<f64>, f64, f64)> = Vec::new();
    for (k, pair) in data.set.pairs.iter().enumerate() {
        let sign = f64::from(data.outcomes[k].sign());
        let difference = |sign: f64| -> Vec<f64> {
            items[pair.right as usize].iter().zip(&items[pair.left as usize]).map(|(r, l)| sign * (r - l)).collect()
        };
        if data.outcomes[k] != Outcome::Tie {
            let doubled = if ask.method == Method::Rank2 { 2.0 } else { 1.0 };
            slacks.push((difference(sign), f64::from(is_compare), doubled * costs[k]));
        } else if ask.method != Method::Rank {
            slacks.push((difference(1.0), -f64::from(is_compare), costs[k]));
            slacks.push((difference(-1.0), -f64::from(is_compare), costs[k]));
        }
    }
    // x = (u, β, ξ)
    let n = d + 1 + slacks.len();
    let (mut p, mut q) = (vec![0.0; n], vec![0.0; n]);
    p[..d].fill(1.0);
    let (mut a, mut b) = (Entries::new(n), Vec::new());
    if !is_compare {
        a.row([(d, 1.0)]);
        b.push(0.0);
    }
    let n_equal = b.len();
    for (s, (difference, beta, cost)) in slacks.iter().enumerate() {
        match ask.loss {
            Loss::Hinge => q[d + 1 + s] = *cost,
            _ => p[d + 1 + s] = 2.0 * cost,
        }
        let z = difference.iter().enumerate().map(|(f, v)| (f, -v));
        a.row(z.chain([(d, -beta), (d + 1 + s, -1.0)]));
        b.push(-1.0);
        a.row([(d + 1 + s, -1.0)]);
        b.push(0.0);
    }
    if is_compare && ask.tie_region == TieRegion::Always {
        a.row([(d, 1.0)]);
        b.push(-1.0);
    }
    minimum(&p, &q, &a, &b, n_equal)
}

/// Copies of items under other numbers, a pair of an item with itself of every outcome, and the same pair judged
/// differently.
fn awkward(mut data: Comparisons) -> Comparisons {
    let n = data.n_pairs();
    let items = &mut data.set.items;
    let mut rows: Vec<usize> = (0..items.n_items()).collect();
    let first_copy = rows.len() as u32;
    rows.extend([0, 1, 2]);
    items.features = items.features.select_rows(&rows);
    let pairs = &mut data.set.pairs;
    for (k, outcome) in Outcome::ALL.into_iter().enumerate() {
        pairs[k].left = pairs[k].right;
        data.outcomes[k] = outcome;
        pairs[n - 1 - k] = pairs[n / 2];
        data.outcomes[n - 1 - k] = outcome;
        pairs[k + 3].left = first_copy + k as u32;
    }
    data
}

/// Returns whether the fit converged; one that stalled must still be right within what it says of itself.
pub(crate) fn check(name: &str, ask: &Ask, data: &Comparisons) -> bool {
    let ask = ask.clone().tol(1e-6);
    let training = ask.model(data).training;
    let expected = conic_objective(&ask, data);
    let converged = training.stop == Stop::Converged;
    let excess = training.objective / expected - 1.0;
    let what = format!(
        "{name}: objective {}, the conic solver says {expected}; {:?}, gap {:e}\n{ask:?}",
        training.objective, training.stop, training.gap
    );
    assert!(excess.abs() <= 1e-5, "{what}");
    assert!(excess <= training.gap + 1e-7, "the gap is no bound; {what}");
    assert!(if converged { training.gap <= 1e-6 } else { training.gap <= 1e-4 }, "{what}");
    converged
}

#[test]
fn random_weighted_problems_have_the_conic_solvers_objective() {
    let kernels = |seed: u64| match seed % 4 {
        0 => Kernel::Linear,
        1 => Kernel::rbf([0.02, 0.3, 2.0][seed as usize / 4 % 3]),
        2 => Kernel::Poly { gamma: Gamma::Value(0.5), coef0: 1.0, degree: 1 + (seed / 4 % 4) as u32 },
        _ => Kernel::Sigmoid { gamma: Gamma::Value(0.02), coef0: 0.0 },
    };
    let mut unconverged = Vec::new();
    for seed in 0..24 {
        let mut random = Random::new(1000 + seed);
        let kernel = kernels(seed);
        // tanh of dot products is positive definite where items are fewer than features and arguments small.
        let (items, features) = match kernel {
            Kernel::Sigmoid { .. } => (12, 30),
            _ => (10 + random.below(60), 1 + random.below(6)),
        };
        let draw = Draw {
            seed,
            items,
            features,
            pairs: 20 + random.below(181),
            ties: [0.02, 0.1, 0.4, 0.8][random.below(4)],
            noise: [0.1, 0.5, 2.0][random.below(3)],
        };
        let data = weighted(if seed % 3 == 0 { awkward(draw.data()) } else { draw.data() }, seed);
        let c = [1e-4, 1e-2, 1.0, 30.0, 1e3][random.below(5)];
        for method in MACHINES {
            for loss in Loss::OF_PAIRS {
                let mut ask = Ask::new(method, kernel, loss, c);
                ask.tie_weight = [1.0, 0.2, 5.0][random.below(3)];
                if random.below(3) == 0 {
                    ask.tie_region = TieRegion::Always;
                } else if method == Method::Compare && random.below(3) == 0 {
                    (ask.tie_weight, ask.balance) = (1.0, Balance::Outcomes);
                    ask = ask.refit();
                }
                let name = format!("seed {seed}, {draw:?}");
                if !check(&name, &ask, &data) {
                    unconverged.push((name, ask));
                }
            }
        }
    }
    assert!(unconverged.is_empty(), "{unconverged:#?}");
}

/// Each regime of β on purpose: above 0, between −1 and 0, at the kink −1, below −1.
#[test]
fn every_regime_of_beta_has_the_conic_solvers_objective() {
    let mut regimes = [0; 4];
    for (seed, ties) in [(1, 0.05), (2, 0.2), (3, 0.33), (4, 0.5), (5, 0.9)] {
        let data = Draw { seed, items: 50, features: 3, pairs: 120, ties, noise: 0.3 }.data();
        for loss in Loss::OF_PAIRS {
            for c in [1e-3, 0.1, 10.0, 1e3] {
                let ask = Ask::compare(Kernel::rbf(0.3), loss, c);
                let name = format!("{ties} ties, C {c}, {loss:?}");
                assert!(check(&name, &ask, &data), "{name}");
                let beta = ask.tol(1e-6).model(&data).beta.unwrap();
                let regime = match beta {
                    b if b >= 0.0 => 0,
                    b if b > -1.0 + 1e-4 => 1,
                    b if b >= -1.0 - 1e-4 => 2,
                    _ => 3,
                };
                regimes[regime] += 1;
            }
        }
    }
    assert!(regimes.iter().all(|&n| n > 0), "problems in each regime: {regimes:?}");
}
