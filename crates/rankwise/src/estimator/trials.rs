//! Many fits on the same pairs, to be judged by pairs they have not seen: what does not depend on the parameters is
//! computed once. Products of items serve all kernels, the matrix over pairs serves all C, losses and folds of a kernel, and
//! each C starts from the solution of the one before.

use std::borrow::Cow;
use std::time::Instant;

use super::pair_estimator::PairEstimator;
use super::pair_solution::{Instance, Start, WhenNeeded};
use super::pair_weights::Space;
use super::pairs::{Answer, PairMachine};
use crate::data::{Comparisons, Pair, PairSet, Scale, Scaler};
use crate::error::{Error, Result};
use crate::kernel::{ItemRows, Kernel, KernelFunction};
use crate::loss::Loss;
use crate::model::{ScoreFunction, Scorer, TieBandKind};
use crate::problem::Exact;
use crate::progress::{Stop, Watch};

/// Memory for products of items that serve several kernels.
const SHARED_BYTES: usize = 256 << 20;

/// Pairs with the parts they are split into. Features are scaled.
pub(crate) struct Trials {
    data: Comparisons,
    /// The first so many pairs may be learnt from.
    n_learnt: usize,
    parts: Vec<Part>,
    shared: ItemRows,
}

/// What is learnt from, and what is judged.
struct Part {
    is_learnt: Vec<bool>,
    held: Vec<usize>,
}

/// What a fit says of the held-out pairs of its part.
pub(crate) struct HeldOut {
    /// In the order of the held-out pairs.
    pub(crate) margins: Vec<f64>,
    /// 0 where it was not wanted.
    pub(crate) threshold: f64,
    pub(crate) stop: Stop,
    /// Another start would have led to the same; where not, a fit of its own has other digits.
    pub(crate) is_exact: bool,
}

impl Trials {
    /// Learns from `train` and judges by `held`; weights of `train` are above 0.
    pub(crate) fn of_held_out(scale: Scale, train: &Comparisons, held: &Comparisons) -> Result<Self> {
        let items = &train.set.items;
        let scorer = Scorer {
            n_features: items.features.n_cols(),
            feature_names: items.feature_names.clone(),
            are_indicators: items.are_indicators,
            scaler: Scaler::learn(scale, &items.features),
            function: ScoreFunction::Linear { weights: Vec::new(), bias: 0.0 },
        };
        let data = joined(train, held, &scorer)?;
        let n_learnt = train.n_pairs();
        let all = 0..data.n_pairs();
        let part = Part { is_learnt: all.clone().map(|k| k < n_learnt).collect(), held: all.skip(n_learnt).collect() };
        Self::new(data, n_learnt, vec![part])
    }

    /// Learns from all folds but one and judges by that one, in turn; features stay as they are, weights are above 0.
    pub(crate) fn of_folds(data: &Comparisons, folds: &[u32], n_folds: usize) -> Result<Self> {
        let part = |fold: u32| Part {
            is_learnt: folds.iter().map(|&of| of != fold).collect(),
            held: (0..folds.len()).filter(|&k| folds[k] == fold).collect(),
        };
        let parts = (0..n_folds as u32).map(part).collect();
        Self::new(data.clone(), data.n_pairs(), parts)
    }

    fn new(data: Comparisons, n_learnt: usize, parts: Vec<Part>) -> Result<Self> {
        let shared = ItemRows::new(&data.set.items.features, SHARED_BYTES)?;
        Ok(Trials { data, n_learnt, parts, shared })
    }

    /// How many parts there are.
    pub(crate) fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// What the rows of a fit's matrix over pairs would take, all of them.
    pub(crate) fn row_bytes(&self) -> usize {
        self.n_learnt.saturating_mul(self.n_learnt).saturating_mul(size_of::<f32>())
    }

    /// A kernel with its parameters for a part: γ `scale` depends on what is learnt from.
    pub(crate) fn resolve(&self, kernel: Kernel, part: usize) -> Result<KernelFunction> {
        if !kernel.depends_on_data() {
            return kernel.resolve(&self.data.set.items.features.select_rows(&[]));
        }
        let is_learnt = &self.parts[part].is_learnt;
        let learnt: Vec<usize> = (0..is_learnt.len()).filter(|&k| is_learnt[k]).collect();
        kernel.resolve(&self.data.set.select(&learnt).items.features)
    }

    /// Whether fits of a method can share anything.
    pub(crate) fn shares(estimator: &PairEstimator) -> bool {
        let machine = estimator.machine();
        machine.approx.is_none()
            && !machine.has_chances()
            && machine.tie_band == TieBandKind::Constant
            && machine.loss != Loss::Logistic
    }

    /// What all fits with a kernel share.
    pub(crate) fn with_kernel(&self, kernel: KernelFunction, losses: &[Loss]) -> Result<WhenNeeded<'_>> {
        let exact = Exact::new(kernel, losses, &self.data, self.n_learnt, &self.shared)?;
        Ok(WhenNeeded::made(exact, &self.data))
    }

    /// Fits on a part with growing C; `None` where they would end anywhere within the tolerance, depending on their start:
    /// such fits are better made one by one.
    pub(crate) fn path<'a>(
        &'a self,
        exact: &'a WhenNeeded<'a>,
        estimator: &PairEstimator,
        part: usize,
    ) -> Option<Path<'a>> {
        if !Self::shares(estimator) {
            return None;
        }
        let machine = estimator.machine();
        let has_matrix = exact.get().is_ok_and(|exact| exact.has_matrix());
        // Corners of few items' pairs coincide, and no equations tell them apart.
        let items = &self.data.set.items;
        let repeat = items.n_items() < self.data.n_pairs();
        let is_linear = exact.kernel() == KernelFunction::Linear;
        let is_exact = match machine.loss {
            Loss::SquaredHinge => is_linear || has_matrix,
            _ => has_matrix && !repeat,
        };
        let rows = (0..items.n_items() as u32).collect();
        let space = (is_linear && machine.loss == Loss::SquaredHinge)
            .then(|| Space::linear(&items.features, Cow::Owned(rows), None));
        is_exact.then_some(Path { trials: self, exact, space, machine, part, last: None, before: None })
    }
}

/// Fits with growing C.
pub(crate) struct Path<'a> {
    trials: &'a Trials,
    exact: &'a WhenNeeded<'a>,
    space: Option<Space<'a>>,
    machine: PairMachine,
    part: usize,
    /// The fits with the last C and the one before it.
    last: Option<(Answer<'a>, f64)>,
    before: Option<(Answer<'a>, f64)>,
}

impl Path<'_> {
    /// The fit with the next C.
    pub(crate) fn next(&mut self, c: f64, with_threshold: bool, watch: &dyn Watch) -> Result<HeldOut> {
        let Trials { data, parts, .. } = self.trials;
        let Part { is_learnt, held } = &parts[self.part];
        self.machine.c = c;
        let costs = self.machine.costs_of(data, |k| is_learnt[k]);
        let mut instance = Instance {
            task: self.machine.task(1),
            loss: self.machine.loss,
            exact: self.exact,
            space: self.space.as_ref(),
            data,
            costs: &costs,
            limits: self.machine.effort.limits(Instant::now(), watch),
            cache_bytes: self.machine.effort.cache_mb << 20,
        };
        instance.task = self.machine.task(instance.n_ties());
        let (last, before) = (self.last.as_ref(), self.before.as_ref());
        let step = |a: f64, b: f64| (b / a).ln();
        let start = Start {
            last: last.map(|last| &last.0.solution),
            factor: last.map_or(1.0, |last| c / last.1),
            before: before.map(|before| &before.0.solution),
            ahead: last.zip(before).map_or(0.0, |(last, before)| step(last.1, c) / step(before.1, last.1)),
        };
        let answer = self.machine.answer(&instance, start, with_threshold)?;
        let margins: Vec<f64> = held.iter().map(|&k| answer.solution.margins.of(data, k) / answer.unit).collect();
        if margins.iter().any(|z| !z.is_finite()) {
            return Err(Error::Numeric {
                problem: "a margin leaves the range of numbers".into(),
                remedy: "check the held-out pairs: their features are far from those learnt from".into(),
            });
        }
        let held_out = HeldOut {
            margins,
            threshold: answer.threshold / answer.unit,
            stop: answer.stop,
            is_exact: answer.is_exact,
        };
        self.before = self.last.replace((answer, c));
        Ok(held_out)
    }
}

/// Pairs to learn from, then pairs to be judged, with the features that a scorer reads.
fn joined(train: &Comparisons, held: &Comparisons, scorer: &Scorer) -> Result<Comparisons> {
    let (own, others) = (scorer.read(&train.set.items)?, scorer.read(&held.set.items)?);
    let mut items = train.set.items.clone();
    let n_items = own.n_rows() as u32;
    items.features = own.stacked(&others);
    items.ids = None;
    let behind = held.set.pairs.iter().map(|p| Pair { left: p.left + n_items, right: p.right + n_items });
    let pairs = train.set.pairs.iter().copied().chain(behind).collect();
    let outcomes = train.outcomes.iter().chain(&held.outcomes).copied().collect();
    let weights = (train.weights.is_some() || held.weights.is_some()).then(|| {
        let of = |data: &'_ Comparisons| (0..data.n_pairs()).map(|k| data.weight(k)).collect::<Vec<_>>();
        [of(train), of(held)].concat()
    });
    let groups = train.groups.as_ref().map(|groups| {
        let mut groups = groups.clone();
        groups.resize(train.n_pairs() + held.n_pairs(), 0);
        groups
    });
    Comparisons::new(PairSet::new(items, pairs)?, outcomes, weights, groups)
}
