//! Fits of kernel rankers to some groups of a ranking, to choose kernel and C by what the others say. Where neither scaling nor
//! γ depend on what is learnt from, one kernel matrix serves all parts, losses and values of C.

use std::borrow::Cow;
use std::time::Instant;

use super::RankSvm;
use super::kernel_items::KernelItems;
use super::kernel_rank::KernelLesson;
use crate::data::{Features, Ranking, Scale, Scaler};
use crate::error::Result;
use crate::kernel::{Approx, Chosen, ItemBlocks, Kernel, KernelFunction, LandmarkBasis, SymmetricMatrix};
use crate::loss::Loss;
use crate::model::ScoreFunction;
use crate::progress::{Stop, Watch};

/// Pairs of items whose distance stands for that of all.
const SAMPLED: usize = 1000;

/// What the fits of some parts with a kernel stand on.
pub(crate) struct KernelStage {
    scaler: Option<Scaler>,
    items: KernelItems,
    /// Their kernel matrix in the first precision that each loss asks for: coarse, fine.
    matrices: [Option<Box<dyn SymmetricMatrix>>; 2],
    /// Landmarks that stand for the kernel, and what they say of all items.
    landmarks: Option<(Chosen, Features)>,
    /// The parts that stand on it.
    pub(crate) parts: Vec<usize>,
}

impl KernelStage {
    /// The stages of a kernel, one for all parts or one for each, for these losses; every part says which groups it holds out.
    /// `bytes` is the memory for one matrix.
    pub(crate) fn all(
        svm: &RankSvm,
        kernel: Kernel,
        losses: &[Loss],
        data: &Ranking,
        parts: &[&[bool]],
        bytes: usize,
    ) -> Result<Vec<Self>> {
        let is_shared = svm.scale == Scale::None && !kernel.depends_on_data() && svm.approx.is_none();
        if is_shared && parts.len() > 1 {
            let features = &data.items.features;
            let items = KernelItems::of_groups(kernel.resolve(features)?, data, features, |_| true);
            let all = (0..parts.len()).collect();
            return Ok(vec![Self::new(svm, losses, None, items, all, bytes)?]);
        }
        let own = |(part, is_held_out): (usize, &&[bool])| {
            let Learnt { scaler, scaled, function } = Learnt::of_part(svm, kernel, data, is_held_out)?;
            let items = KernelItems::of_groups(function, data, &scaled, |group| !is_held_out[group]);
            Self::new(svm, losses, scaler, items, vec![part], bytes / parts.len())
        };
        parts.iter().enumerate().map(own).collect()
    }

    fn new(
        svm: &RankSvm,
        losses: &[Loss],
        scaler: Option<Scaler>,
        items: KernelItems,
        parts: Vec<usize>,
        bytes: usize,
    ) -> Result<Self> {
        let mut stage = KernelStage { scaler, items, matrices: [None, None], landmarks: None, parts };
        if let Some(Approx::Nystrom(n)) = svm.approx {
            let chosen = stage.items.landmarks(n, &|| true)?;
            let rows = stage.items.spread_out(&chosen.values)?;
            stage.landmarks = Some((chosen, rows));
            return Ok(stage);
        }
        let needs: Vec<bool> = losses.iter().map(|&loss| svm.clone().loss(loss).needs_fine()).collect();
        let is_wanted = [needs.contains(&false), needs.contains(&true)];
        let n_wanted = is_wanted.iter().filter(|is_wanted| **is_wanted).count().max(1);
        for (is_fine, is_wanted) in is_wanted.into_iter().enumerate().filter(|(_, is_wanted)| *is_wanted) {
            stage.matrices[is_fine] =
                is_wanted.then(|| stage.items.matrix(is_fine == 1, bytes / n_wanted, &|| true)).transpose()?;
        }
        Ok(stage)
    }

    /// The numbers of a kernel matrix over all items of a ranking.
    pub(crate) fn n_numbers(svm: &RankSvm, data: &Ranking) -> usize {
        let n = data.n_items();
        n.saturating_mul(svm.approx.map_or(n / 2, |Approx::Nystrom(landmarks)| landmarks))
    }
}

/// What a part teaches of the features.
struct Learnt<'a> {
    scaler: Option<Scaler>,
    scaled: Cow<'a, Features>,
    function: KernelFunction,
}

impl<'a> Learnt<'a> {
    fn of_part(svm: &RankSvm, kernel: Kernel, data: &'a Ranking, is_held_out: &[bool]) -> Result<Self> {
        let groups = data.groups.numbers();
        let rows: Vec<usize> = (0..data.n_items()).filter(|&item| !is_held_out[groups[item] as usize]).collect();
        let (features, weights) = (&data.items.features, data.weights.as_deref());
        let scaler = Scaler::learn_weighted(svm.scale, features, rows.iter().copied(), weights);
        let scaled = match &scaler {
            Some(scaler) => Cow::Owned(scaler.apply(features)?),
            None => Cow::Borrowed(features),
        };
        let function = if kernel.depends_on_data() {
            let weights: Option<Vec<f64>> = weights.map(|weights| rows.iter().map(|&row| weights[row]).collect());
            kernel.resolve_weighted(&scaled.select_rows(&rows), weights.as_deref())?
        } else {
            kernel.resolve(&scaled)?
        };
        Ok(Learnt { scaler, scaled, function })
    }
}

/// Fits of one loss to a part, each from where the last one ended.
pub(crate) struct KernelRankTrial<'a> {
    svm: RankSvm,
    stage: &'a KernelStage,
    lesson: KernelLesson<'a>,
    /// What stands for the matrix in a solver.
    basis: Option<LandmarkBasis>,
    last: Option<Vec<f64>>,
}

impl<'a> KernelRankTrial<'a> {
    /// With the loss of the machine.
    pub(crate) fn new(svm: RankSvm, stage: &'a KernelStage, data: &'a Ranking, is_held_out: &'a [bool]) -> Self {
        let lesson = KernelLesson { items: &stage.items, data, is_held_out };
        KernelRankTrial { svm, stage, lesson, basis: None, last: None }
    }

    /// Fits with this C, and scores some items.
    pub(crate) fn next(
        &mut self,
        c: f64,
        features: &Features,
        rows: &[u32],
        watch: &dyn Watch,
    ) -> Result<(Vec<f64>, Stop)> {
        self.svm.c = c;
        let limits = self.svm.effort.limits(Instant::now(), watch);
        let items = &self.stage.items;
        let (coefficients, stop) = if let Some((landmarks, said)) = &self.stage.landmarks {
            let (solution, _) = self.svm.over_landmarks(&self.lesson, said, self.last.take(), limits)?;
            let coefficients = landmarks.coefficients(&solution.weights, items.features.n_rows());
            self.last = Some(solution.weights);
            (coefficients, solution.stop)
        } else {
            let matrix = self.stage.matrices[usize::from(self.svm.needs_fine())].as_deref();
            let basis = match (self.basis.take(), matrix) {
                (None, Some(matrix)) => Some(self.svm.basis(&self.lesson, matrix, &|| true)?),
                (basis, _) => basis,
            };
            let solution =
                self.svm.search(&self.lesson, matrix.zip(basis.as_ref()), self.last.take(), limits)?.checked()?;
            self.basis = basis;
            self.last = Some(solution.weights.clone());
            (solution.weights, solution.stop)
        };
        let (ScoreFunction::Kernel { kernel, support, coefficients, .. }, _) = items.function(&coefficients) else {
            return Ok((vec![0.0; rows.len()], stop));
        };
        let rows: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
        let held = features.select_rows(&rows);
        let held = match &self.stage.scaler {
            Some(scaler) => scaler.apply(&held)?,
            None => held,
        };
        let scores = ItemBlocks::<f64>::new(kernel, &support)?.scores_of(&held, &coefficients)?;
        Ok((scores, stop))
    }
}

/// About the C at which the losses of a ranking weigh as much as the norm of a kernel; the data must have a pair.
pub(crate) fn kernel_unit_of_c(svm: &RankSvm, data: &Ranking) -> Result<f64> {
    let items = KernelItems::new(svm.kernel, data, data.scaler(svm.scale).as_ref())?;
    let is_held_out = vec![false; data.groups.len()];
    let losses = svm.losses(&KernelLesson { items: &items, data, is_held_out: &is_held_out })?;
    let neighbours: Vec<[usize; 2]> = losses
        .rows_of_groups()
        .flat_map(|rows| rows.windows(2))
        .map(|pair| [0, 1].map(|k| items.place(pair[k])))
        .collect();
    let n_taken = neighbours.len().min(SAMPLED);
    let row_of = |place: usize| {
        let mut row = vec![0.0; items.features.n_cols()];
        items.features.copy_row(place, &mut row);
        row
    };
    let square = |at: usize| {
        let [a, b] = neighbours[at * neighbours.len() / n_taken].map(row_of);
        items.kernel.value(&a, &a) + items.kernel.value(&b, &b) - 2.0 * items.kernel.value(&a, &b)
    };
    let mean = (0..n_taken).map(square).sum::<f64>() / n_taken.max(1) as f64;
    Ok(1.0 / (losses.mass() * if mean > 0.0 { mean } else { 1.0 }))
}
