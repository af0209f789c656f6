//! Slow and obvious: what a fit is asked for, data to ask it of, and the objective straight from its definition.

use rankwise::data::{Comparisons, Features, Items, Outcome, Pair, PairSet, Precision, Random};
use rankwise::estimator::Effort;
use rankwise::kernel::KernelFunction;
use rankwise::model::{Balance, Method, ScoreFunction, ThresholdRule, TieRegion};
use rankwise::{Approx, CompareRank, CompareSvm, Fit, Kernel, Loss, Model, Variant, Watch};

/// The support vector machines on pairs.
pub(crate) const MACHINES: [Method; 3] = [Method::Compare, Method::Rank, Method::Rank2];

/// Everything the three methods can be asked for; fields that a method does not have are not looked at.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) c: f64,
    pub(crate) kernel: Kernel,
    pub(crate) approx: Option<Approx>,
    pub(crate) loss: Loss,
    pub(crate) threshold: ThresholdRule,
    pub(crate) tie_region: TieRegion,
    pub(crate) tie_weight: f64,
    pub(crate) balance: Balance,
    pub(crate) effort: Effort,
}

impl Ask {
    /// The machine's own threshold: the fit of the objective alone, without the folds of a re-fit.
    pub(crate) fn new(method: Method, kernel: Kernel, loss: Loss, c: f64) -> Self {
        Ask {
            method,
            c,
            kernel,
            approx: None,
            loss,
            threshold: ThresholdRule::Model,
            tie_region: TieRegion::Free,
            tie_weight: 1.0,
            balance: Balance::None,
            effort: Effort::default(),
        }
    }

    pub(crate) fn compare(kernel: Kernel, loss: Loss, c: f64) -> Self {
        Ask::new(Method::Compare, kernel, loss, c)
    }

    pub(crate) fn tol(mut self, tol: f64) -> Self {
        self.effort.tol = tol;
        self
    }

    pub(crate) fn c(mut self, c: f64) -> Self {
        self.c = c;
        self
    }

    pub(crate) fn landmarks(mut self, n: usize) -> Self {
        self.approx = Some(Approx::Nystrom(n));
        self
    }

    pub(crate) fn threads(mut self, threads: usize) -> Self {
        self.effort.threads = threads;
        self
    }

    pub(crate) fn refit(mut self) -> Self {
        self.threshold = ThresholdRule::Refit;
        self
    }

    pub(crate) fn fit(&self, data: &Comparisons) -> rankwise::Result<Fit> {
        self.fit_watched(data, &rankwise::Unwatched)
    }

    pub(crate) fn fit_watched(&self, data: &Comparisons, watch: &dyn Watch) -> rankwise::Result<Fit> {
        let rank = |variant| {
            CompareRank::new(variant)
                .c(self.c)
                .kernel(self.kernel)
                .approx(self.approx)
                .loss(self.loss)
                .tie_weight(self.tie_weight)
                .effort(self.effort)
                .fit_watched(data, watch)
        };
        match self.method {
            Method::Rank => rank(Variant::Rank),
            Method::Rank2 => rank(Variant::Rank2),
            _ => CompareSvm::new()
                .c(self.c)
                .kernel(self.kernel)
                .approx(self.approx)
                .loss(self.loss)
                .threshold(self.threshold)
                .tie_region(self.tie_region)
                .tie_weight(self.tie_weight)
                .balance(self.balance)
                .effort(self.effort)
                .fit_watched(data, watch),
        }
    }

    pub(crate) fn model(&self, data: &Comparisons) -> Model {
        self.fit(data).unwrap_or_else(|error| panic!("{self:?}: {error}")).model
    }

    /// C times the weight of each pair, ties re-weighted as asked.
    pub(crate) fn costs(&self, data: &Comparisons) -> Vec<f64> {
        let (mut ties, mut others) = (0.0, 0.0);
        for k in 0..data.n_pairs() {
            let sum = if data.outcomes[k] == Outcome::Tie { &mut ties } else { &mut others };
            *sum += data.weight(k);
        }
        let balance =
            if self.balance == Balance::Outcomes && ties * others > 0.0 { others / (2.0 * ties) } else { 1.0 };
        let factor = |k: usize| if data.outcomes[k] == Outcome::Tie { self.tie_weight * balance } else { 1.0 };
        (0..data.n_pairs()).map(|k| self.c * factor(k) * data.weight(k)).collect()
    }

    /// The sum of losses at margins right − left and β.
    pub(crate) fn losses(&self, data: &Comparisons, margins: &[f64], beta: Option<f64>) -> f64 {
        let costs = self.costs(data);
        let mut sum = 0.0;
        for k in 0..data.n_pairs() {
            let z = f64::from(data.outcomes[k].sign()) * margins[k];
            let (tie, m) = (data.outcomes[k] == Outcome::Tie, margins[k]);
            let value = |t: f64| self.loss.value(t);
            sum += costs[k]
                * match (self.method, beta, tie) {
                    (Method::Compare, Some(beta), false) => value(1.0 - beta - z),
                    (Method::Compare, Some(beta), true) => value(1.0 + beta + m) + value(1.0 + beta - m),
                    (Method::Rank2, _, false) => 2.0 * value(1.0 - z),
                    (Method::Rank2, _, true) => value(1.0 - m) + value(1.0 + m),
                    (_, _, false) => value(1.0 - z),
                    (_, _, true) => 0.0,
                };
        }
        sum
    }

    /// ½‖u‖² + losses at the model, from what the model says alone.
    pub(crate) fn objective(&self, model: &Model, data: &Comparisons) -> f64 {
        let unit = unit_of(model);
        let scores = scores(model, data);
        let margins: Vec<f64> =
            data.set.pairs.iter().map(|p| unit * (scores[p.right as usize] - scores[p.left as usize])).collect();
        0.5 * unit * unit * squared_norm(model) + self.losses(data, &margins, model.beta)
    }
}

/// Scores are u divided by this.
pub(crate) fn unit_of(model: &Model) -> f64 {
    match model.beta {
        Some(beta) if beta < 0.0 => -beta,
        _ => 1.0,
    }
}

pub(crate) fn rows_of(features: &Features) -> Vec<Vec<f64>> {
    let mut row = vec![0.0; features.n_cols()];
    (0..features.n_rows())
        .map(|i| {
            features.copy_row(i, &mut row);
            row.clone()
        })
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// ‖r‖² of the ranking function.
pub(crate) fn squared_norm(model: &Model) -> f64 {
    match &model.scorer.function {
        ScoreFunction::Linear { weights, .. } | ScoreFunction::Landmarks { weights, .. } => dot(weights, weights),
        ScoreFunction::Kernel { kernel, support, coefficients, .. } => {
            let rows = rows_of(support);
            let mut sum = 0.0;
            for (a, x) in coefficients.iter().zip(&rows) {
                for (b, y) in coefficients.iter().zip(&rows) {
                    sum += a * b * kernel.value(x, y);
                }
            }
            sum
        }
        ScoreFunction::Several { .. } => unreachable!("machines on pairs are one"),
    }
}

/// r of every item of the data.
pub(crate) fn scores(model: &Model, data: &Comparisons) -> Vec<f64> {
    let score = |x: &Vec<f64>| match &model.scorer.function {
        ScoreFunction::Linear { weights, bias } => dot(weights, x) + bias,
        ScoreFunction::Kernel { kernel, support, coefficients, .. } => {
            rows_of(support).iter().zip(coefficients).map(|(s, a)| a * kernel.value(s, x)).sum()
        }
        ScoreFunction::Landmarks { .. } | ScoreFunction::Several { .. } => {
            unreachable!("models with a tie band have their own twin")
        }
    };
    rows_of(&data.set.items.features).iter().map(score).collect()
}

pub(crate) fn resolved(kernel: Kernel, data: &Comparisons) -> KernelFunction {
    kernel.resolve(&data.set.items.features).unwrap()
}

pub(crate) fn comparisons(rows: &[Vec<f64>], pairs: Vec<(u32, u32)>, outcomes: Vec<Outcome>) -> Comparisons {
    let features = Features::dense(rows[0].len(), rows.concat(), Precision::F64).unwrap();
    let pairs = pairs.into_iter().map(|(left, right)| Pair { left, right }).collect();
    let set = PairSet::new(Items::new(features, None, None).unwrap(), pairs).unwrap();
    Comparisons::new(set, outcomes, None, None).unwrap()
}

/// Random pairs of random items.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) seed: u64,
    pub(crate) items: usize,
    pub(crate) features: usize,
    pub(crate) pairs: usize,
    /// Roughly the share of ties.
    pub(crate) ties: f64,
    /// Standard deviation of what is added to a difference of true scores, which have deviation about 1.
    pub(crate) noise: f64,
}

impl Draw {
    /// Items in normal position; the truth is linear; ties where the noisy difference is smallest.
    pub(crate) fn data(&self) -> Comparisons {
        let mut random = Random::new(self.seed);
        let rows: Vec<Vec<f64>> =
            (0..self.items).map(|_| (0..self.features).map(|_| random.normal()).collect()).collect();
        let truth: Vec<f64> =
            rows.iter().map(|x| x.iter().sum::<f64>() / (2.0 * self.features as f64).sqrt()).collect();
        let pairs: Vec<(u32, u32)> =
            (0..self.pairs).map(|_| (random.below(self.items) as u32, random.below(self.items) as u32)).collect();
        let differences: Vec<f64> = pairs
            .iter()
            .map(|&(l, r)| truth[r as usize] - truth[l as usize] + self.noise * random.normal() + 1e-9)
            .collect();
        let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let n_ties = (self.ties * self.pairs as f64).round() as usize;
        let cut = if n_ties == 0 { 0.0 } else { sizes[n_ties - 1] };
        comparisons(&rows, pairs, differences.iter().map(|&d| Outcome::of_margin(d, cut)).collect())
    }
}

/// Random weights from 0.25 to 4.
pub(crate) fn weighted(mut data: Comparisons, seed: u64) -> Comparisons {
    let mut random = Random::new(seed);
    data.weights = Some((0..data.n_pairs()).map(|_| random.between(-2.0, 2.0).exp2()).collect());
    data
}

/// All numbers of a model are numbers.
pub(crate) fn assert_finite(model: &Model, what: &str) {
    let mut numbers = vec![
        model.threshold,
        model.beta.unwrap_or(0.0),
        model.training.objective,
        model.training.gap,
        model.training.tie_share.observed,
        model.training.tie_share.predicted,
    ];
    match &model.scorer.function {
        ScoreFunction::Linear { weights, .. } | ScoreFunction::Landmarks { weights, .. } => numbers.extend(weights),
        ScoreFunction::Kernel { coefficients, .. } | ScoreFunction::Several { coefficients, .. } => {
            numbers.extend(coefficients);
        }
    }
    assert!(numbers.iter().all(|v| v.is_finite()), "{what}: {numbers:?}");
    assert!(model.threshold >= 0.0, "{what}: threshold {}", model.threshold);
}
