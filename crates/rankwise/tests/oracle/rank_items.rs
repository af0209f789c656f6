//! Ranking from items against independent solvers on the list of all pairs: objectives must be equal.

use rankwise::data::{Features, Groups, Items, Precision, Random, Ranking};
use rankwise::model::{Balance, Model, ScoreFunction};
use rankwise::{Error, Loss, RankSvm, Stop, SwapSvm};

use crate::oracle::conic::{Entries, minimum};

/// A ranking problem as numbers: (difference better − worse, cost without C).
pub(crate) struct Pairs {
    pub(crate) list: Vec<(Vec<f64>, f64)>,
    pub(crate) n_cols: usize,
}

impl Pairs {
    pub(crate) fn of(data: &Ranking, balance: Balance) -> Self {
        let n_cols = data.items.features.n_cols();
        let rows = data.items.features.to_dense();
        let row = |i: usize| &rows[i * n_cols..(i + 1) * n_cols];
        let group = data.groups.numbers();
        let mut list = Vec::new();
        for g in 0..data.groups.len() as u32 {
            let members: Vec<usize> = (0..data.n_items()).filter(|&i| group[i] == g).collect();
            let mut of_group = Vec::new();
            for &i in &members {
                for &j in members.iter().filter(|&&j| data.labels[i] > data.labels[j]) {
                    let difference = row(i).iter().zip(row(j)).map(|(a, b)| a - b).collect();
                    of_group.push((difference, data.weight(i) * data.weight(j)));
                }
            }
            let total: f64 = of_group.iter().map(|pair: &(Vec<f64>, f64)| pair.1).sum();
            let factor = data.group_weight(g as usize) / if balance == Balance::Groups { total } else { 1.0 };
            list.extend(of_group.into_iter().map(|(d, c)| (d, c * factor)).filter(|pair| pair.1 > 0.0));
        }
        Pairs { list, n_cols }
    }

    /// ½‖w‖² + C Σ c ℓ(1 − w·d)
    pub(crate) fn objective(&self, w: &[f64], c: f64, loss: Loss) -> f64 {
        let losses: f64 = self.list.iter().map(|(d, cost)| cost * loss.value(1.0 - dot(w, d))).sum();
        0.5 * dot(w, w) + c * losses
    }

    /// The least objective, by an interior point method or, for the logistic loss, by Newton on the explicit Hessian.
    pub(crate) fn least(&self, c: f64, loss: Loss) -> f64 {
        if loss == Loss::Logistic {
            return self.least_logistic(c);
        }
        let (d, m) = (self.n_cols, self.list.len());
        let (mut p, mut q) = (vec![0.0; d + m], vec![0.0; d + m]);
        p[..d].fill(1.0);
        let (mut a, mut b) = (Entries::new(d + m), Vec::new());
        for (k, (difference, cost)) in self.list.iter().enumerate() {
            match loss {
                Loss::Hinge => q[d + k] = c * cost,
                _ => p[d + k] = 2.0 * c * cost,
            }
            // −w·d − ξ ≤ −1, −ξ ≤ 0
            a.row(difference.iter().map(|x| -x).enumerate().chain([(d + k, -1.0)]));
            b.push(-1.0);
            a.row([(d + k, -1.0)]);
            b.push(0.0);
        }
        minimum(&p, &q, &a, &b, 0)
    }

    fn least_logistic(&self, c: f64) -> f64 {
        let d = self.n_cols;
        let mut w = vec![0.0; d];
        for _ in 0..200 {
            let mut gradient = w.clone();
            let mut hessian = vec![vec![0.0; d]; d];
            (0..d).for_each(|k| hessian[k][k] = 1.0);
            for (x, cost) in &self.list {
                let chance = 1.0 / (1.0 + dot(&w, x).exp());
                for k in 0..d {
                    gradient[k] -= c * cost * chance * x[k];
                    for l in 0..d {
                        hessian[k][l] += c * cost * chance * (1.0 - chance) * x[k] * x[l];
                    }
                }
            }
            let step = solved(hessian, &gradient);
            let (here, mut size) = (self.objective(&w, c, Loss::Logistic), 1.0);
            loop {
                let next: Vec<f64> = w.iter().zip(&step).map(|(w, s)| w - size * s).collect();
                if self.objective(&next, c, Loss::Logistic) <= here || size < 1e-12 {
                    w = next;
                    break;
                }
                size *= 0.5;
            }
        }
        self.objective(&w, c, Loss::Logistic)
    }

    /// ½‖w‖² of the shortest weights with a lead of 1 for every pair.
    fn hard_margin(&self) -> f64 {
        let d = self.n_cols;
        let (mut a, mut b) = (Entries::new(d), Vec::new());
        for (difference, _) in &self.list {
            a.row(difference.iter().map(|x| -x).enumerate());
            b.push(-1.0);
        }
        minimum(&vec![1.0; d], &vec![0.0; d], &a, &b, 0)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Gauss with pivots.
pub(crate) fn solved(mut a: Vec<Vec<f64>>, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut x = b.to_vec();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        x.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let row = a[k].clone();
            a[i].iter_mut().zip(&row).for_each(|(to, from)| *to -= factor * from);
            x[i] -= factor * x[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|l| a[k][l] * x[l]).sum();
        x[k] = (x[k] - sum) / a[k][k];
    }
    x
}

pub(crate) fn weights_of(model: &Model) -> &[f64] {
    match &model.scorer.function {
        ScoreFunction::Linear { weights, .. } => weights,
        other => panic!("not linear: {other:?}"),
    }
}

/// How a ranking is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    pub(crate) n_groups: usize,
    pub(crate) per_group: usize,
    pub(crate) n_cols: usize,
    /// Distinct labels; 0: real ones.
    pub(crate) n_labels: usize,
    pub(crate) noise: f64,
    pub(crate) is_sparse: bool,
    pub(crate) is_weighted: bool,
    pub(crate) seed: u64,
}

impl Drawn {
    pub(crate) fn new(seed: u64) -> Self {
        Drawn {
            n_groups: 4,
            per_group: 9,
            n_cols: 5,
            n_labels: 3,
            noise: 1.0,
            is_sparse: false,
            is_weighted: false,
            seed,
        }
    }

    pub(crate) fn ranking(self) -> Ranking {
        let mut random = Random::new(self.seed);
        let n = self.n_groups * self.per_group;
        let truth: Vec<f64> = (0..self.n_cols).map(|_| random.normal()).collect();
        let values: Vec<f64> = (0..n * self.n_cols)
            .map(|_| if self.is_sparse && random.uniform() < 0.5 { 0.0 } else { f64::from(random.normal() as f32) })
            .collect();
        let labels: Vec<f64> = values
            .chunks(self.n_cols)
            .map(|row| {
                let score = dot(row, &truth) + self.noise * random.normal();
                if self.n_labels == 0 { score } else { (score + 1.0).round().clamp(0.0, self.n_labels as f64 - 1.0) }
            })
            .collect();
        let features = if self.is_sparse {
            let (mut starts, mut columns, mut stored) = (vec![0], vec![], vec![]);
            for row in values.chunks(self.n_cols) {
                for (c, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    columns.push(c as u32);
                    stored.push(*v);
                }
                starts.push(stored.len());
            }
            Features::sparse(self.n_cols, starts, columns, stored).unwrap()
        } else {
            Features::dense(self.n_cols, values, Precision::F32).unwrap()
        };
        // Groups take turns, so that none of them stands together.
        let groups = Groups::from_ids((0..n).map(|i| format!("q{}", i % self.n_groups)));
        let data = Ranking::new(Items::new(features, None, None).unwrap(), labels, Some(groups)).unwrap();
        if !self.is_weighted {
            return data;
        }
        let weights = (0..n).map(|_| [0.0, 0.5, 1.0, 2.0][random.below(4)]).collect();
        let group_weights = (0..self.n_groups).map(|g| [1.0, 0.25, 3.0][g % 3]).collect();
        data.with_weights(weights).unwrap().with_group_weights(group_weights).unwrap()
    }
}

#[test]
fn objectives_equal_those_of_independent_solvers_on_all_pairs() {
    let mut n_compared = 0;
    for seed in 0..3 {
        for n_labels in [2, 3, 0] {
            for (is_sparse, is_weighted) in [(false, false), (false, true), (true, true)] {
                let data = Drawn { n_labels, is_sparse, is_weighted, ..Drawn::new(seed) }.ranking();
                for balance in [Balance::None, Balance::Groups] {
                    let pairs = Pairs::of(&data, balance);
                    for loss in Loss::ALL {
                        for c in [0.01, 1.0, 30.0] {
                            let tol = if loss == Loss::Hinge { 5e-7 } else { 1e-8 };
                            let svm = RankSvm::new().c(c).loss(loss).balance(balance).tol(tol);
                            let fit = svm.fit(&data).unwrap();
                            let training = &fit.model.training;
                            let what = format!("seed {seed}, {n_labels} labels, {loss:?}, C {c}, {balance:?}");
                            assert_eq!(training.stop, Stop::Converged, "{what}");
                            let here = pairs.objective(weights_of(&fit.model), c, loss);
                            assert!((training.objective / here - 1.0).abs() < 1e-9, "{what}: objective as reported");
                            let least = pairs.least(c, loss);
                            assert!((here / least - 1.0).abs() < 1e-6, "{what}: {here} and {least}");
                            assert!(
                                here - least <= training.gap * here + 1e-7 * least,
                                "{what}: {here} less {least} is above the gap {}",
                                training.gap
                            );
                            n_compared += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(n_compared, 3 * 3 * 3 * 2 * 3 * 3);
}

#[test]
fn hard_margins_equal_the_quadratic_program() {
    for seed in 0..6 {
        for is_sparse in [false, true] {
            let data = Drawn { noise: 0.0, n_labels: 0, is_sparse, ..Drawn::new(seed) }.ranking();
            let fit = RankSvm::new().c(f64::INFINITY).tol(1e-6).fit(&data).unwrap();
            let training = &fit.model.training;
            let pairs = Pairs::of(&data, Balance::None);
            let least = pairs.hard_margin();
            assert!((training.objective / least - 1.0).abs() < 3e-6, "{} and {least}", training.objective);
            assert!((training.margin.unwrap() - 1.0 / (2.0 * training.objective).sqrt()).abs() < 1e-12);
            let w = weights_of(&fit.model);
            let lead = pairs.list.iter().map(|(d, _)| dot(w, d)).fold(f64::INFINITY, f64::min);
            assert!((lead - 1.0).abs() < 1e-9, "the least lead is {lead}");
        }
    }
}

#[test]
fn what_is_not_rankable_is_said() {
    for seed in 0..6 {
        let data = Drawn { noise: 3.0, n_labels: 0, per_group: 20, ..Drawn::new(seed) }.ranking();
        let answer = RankSvm::new().c(f64::INFINITY).fit(&data);
        assert!(matches!(&answer, Err(Error::NotRankable { .. })), "{answer:?}");
    }
    // Two equal items with different labels.
    let features = Features::dense(1, vec![1.0, 1.0], Precision::Auto).unwrap();
    let data = Ranking::new(Items::new(features, None, None).unwrap(), vec![0.0, 1.0], None).unwrap();
    let answer = RankSvm::new().c(f64::INFINITY).fit(&data);
    assert!(matches!(&answer, Err(Error::NotRankable { .. })), "{answer:?}");
}

/// Items that one feature puts in order, with steps of a quarter; the other one is chance.
fn rankable(n_grades: usize, is_weighted: bool) -> Ranking {
    let mut random = Random::new(8);
    let n = 90;
    let labels: Vec<f64> = (0..n).map(|item| (item % n_grades) as f64).collect();
    let rows = labels.iter().flat_map(|label| [0.25 * label, random.normal()]).collect();
    let items = Items::new(Features::dense(2, rows, Precision::F64).unwrap(), None, None).unwrap();
    let groups = Groups::from_ids((0..n).map(|item| (item / 45).to_string()));
    let data = Ranking::new(items, labels, Some(groups)).unwrap();
    let weights = (0..n).map(|_| [0.5, 1.0, 100.0][random.below(3)]).collect();
    if is_weighted { data.with_weights(weights).unwrap() } else { data }
}

#[test]
fn small_losses_at_a_large_c_keep_their_digits() {
    // Sums of squared scores over all pairs cancel but for slacks of 1e-6; times C, their rounding was a part of the objective.
    for (n_grades, is_weighted) in [(2, false), (5, false), (5, true), (45, false), (45, true)] {
        let data = rankable(n_grades, is_weighted);
        let pairs = Pairs::of(&data, Balance::None);
        for c in [1e4, 1e7, 1e10] {
            for loss in [Loss::SquaredHinge, Loss::Logistic] {
                let model = RankSvm::new().loss(loss).c(c).tol(1e-6).fit(&data).unwrap().model;
                let (told, plain) = (model.training.objective, pairs.objective(weights_of(&model), c, loss));
                let what = format!("{n_grades} grades, C = {c}, {loss:?}: {told}, plainly {plain}");
                assert!((told - plain).abs() <= 1e-9 * plain, "{what}");
            }
            let model = SwapSvm::new().c(c).tol(1e-6).fit(&data).unwrap().model;
            let w = weights_of(&model);
            let lost: f64 = pairs.list.iter().map(|(d, cost)| cost * (1.0 - 2.0 * dot(w, d)).max(0.0)).sum();
            let (told, plain) = (model.training.objective, 0.5 * dot(w, w) + c * lost);
            // Scores of about 10 are rounded to 1e-15.
            let rounding = 1e-14 * c * pairs.list.iter().map(|(_, cost)| cost).sum::<f64>();
            assert!(
                (told - plain).abs() <= 1e-9 * plain + rounding,
                "swap, {n_grades} grades, C = {c}: {told}, plainly {plain}"
            );
        }
    }
}

#[test]
fn pairs_that_lead_by_far_keep_the_digits_of_their_likelihood() {
    // log(1 + e) is e where e is 1e-11, and a sum of 1 + e has five of its digits.
    let rows = vec![8000.0, 6000.0, -4000.0, -1000.0];
    let items = Items::new(Features::dense(2, rows, Precision::F64).unwrap(), None, None).unwrap();
    let data = Ranking::new(items, vec![2.0, -1.0], None).unwrap();
    let pairs = Pairs::of(&data, Balance::None);
    for c in [1.0, 1e5, 1e9] {
        let model = RankSvm::new().loss(Loss::Logistic).c(c).tol(1e-9).fit(&data).unwrap().model;
        let (told, plain) = (model.training.objective, pairs.objective(weights_of(&model), c, Loss::Logistic));
        assert!((told - plain).abs() <= 1e-10 * plain, "C = {c}: {told}, plainly {plain}");
    }
}
