//! Rankers whose functions are made of few items: the Ranking Vector Machine and the 1-norm ranking SVM, both linear programs.

use std::time::Instant;

use super::common::{Effort, Fit, setters};
use super::item_ranker::{Record, Solution, check_pairs, check_width, why_dropped, why_to_scale};
use super::kernel_items::KernelItems;
use super::{ItemEstimator, RankSvm};
use crate::data::{Features, Items, Ranking, Scale};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, SymmetricMatrix};
use crate::loss::Loss;
use crate::model::{Balance, CoefficientSign, Method, Model, ProgramTraining, ScoreFunction};
use crate::problem::{
    ColumnPlanes, LabelledGroup, Pairing, RankCounts, RankPlanes, RankSums, ScoreMap, Shape, Weighing,
};
use crate::progress::{Stop, Unwatched, Watch};
use crate::solver::Limits;
use crate::solver::column_program;

/// The Ranking Vector Machine: r(x) = Σ aᵢ K(xᵢ, x) that minimises
///
/// Σ|aᵢ| + C·Σ max(0, 1 − (r(x_i) − r(x_j)))
///
/// over the pairs of a better item i and a worse item j in one group, which count by weight_i·weight_j·(weight of the group). Most
/// aᵢ are 0 at its minimum: the others are the ranking vectors, often 5 to 20 of thousands of items.
///
/// It is a linear program, of which neither the rows (as many as pairs) nor most columns are ever formed. A C up to
/// `critical_c` in the training report learns nothing: all scores are 0.
///
/// ```
/// use rankwise::data::{Features, Items, Precision, Ranking};
/// use rankwise::kernel::{Gamma, Kernel};
/// use rankwise::RankingVectorMachine;
///
/// let x: Vec<f64> = (0..60).map(|k| k as f64 / 59.0).collect();
/// let labels = x.iter().map(|x| -(x - 0.3) * (x - 0.3)).collect();
/// let data = Ranking::new(Items::new(Features::dense(1, x, Precision::F64)?, None, None)?, labels, None)?;
/// let rbf = Kernel::Rbf { gamma: Gamma::Value(2.0) };
/// let fit = RankingVectorMachine::new().kernel(rbf).c(0.1).fit(&data)?;
/// assert!(fit.model.training.support < Some(10));
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankingVectorMachine {
    /// C multiplies the sum of weighted losses; finite.
    pub c: f64,
    /// Whether coefficients may be below 0. Without, a ranking cannot be reversed.
    pub coefficients: CoefficientSign,
    /// The kernel.
    pub kernel: Kernel,
    /// [`Balance::Groups`]: all groups of weight 1 count the same.
    pub balance: Balance,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

/// The 1-norm ranking SVM: r(x) = Σ a_ij (K(x_i, x) − K(x_j, x)) over the pairs of a better item i and a worse item j in one
/// group, a ≥ 0, that minimises
///
/// Σ a_ij + C·Σ max(0, 1 − (r(x_u) − r(x_v)))
///
/// over the same pairs. Few a_ij are not 0 at its minimum. Like [`RankingVectorMachine`] it is solved without ever forming all
/// pairs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OneNormRankSvm {
    /// C multiplies the sum of weighted losses; finite.
    pub c: f64,
    /// The kernel.
    pub kernel: Kernel,
    /// [`Balance::Groups`]: all groups of weight 1 count the same.
    pub balance: Balance,
    /// The scaling of features.
    pub scale: Scale,
    /// How much work a fit may do.
    pub effort: Effort,
}

impl Default for RankingVectorMachine {
    fn default() -> Self {
        Self::new()
    }
}

impl RankingVectorMachine {
    /// Default parameters: C 1, linear kernel, coefficients of either sign.
    pub fn new() -> Self {
        RankingVectorMachine {
            c: 1.0,
            coefficients: CoefficientSign::default(),
            kernel: Kernel::Linear,
            balance: Balance::None,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses.
        c: f64,
        /// Sets whether coefficients may be below 0.
        coefficients: CoefficientSign,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets how groups are weighted against each other.
        balance: Balance,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how much work a fit may do.
        effort: Effort,
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        self.machine().check()
    }

    /// Fits a model.
    pub fn fit(&self, data: &Ranking) -> Result<Fit> {
        self.fit_watched(data, &Unwatched)
    }

    /// Fits a model while `watch` looks on, and perhaps stops it.
    pub fn fit_watched(&self, data: &Ranking, watch: &dyn Watch) -> Result<Fit> {
        self.machine().fit(data, watch)
    }

    fn machine(&self) -> VectorMachine<'_> {
        let RankingVectorMachine { c, coefficients, kernel, balance, scale, ref effort } = *self;
        VectorMachine { method: Method::Rvm, sign: Some(coefficients), c, kernel, balance, scale, effort }
    }
}

impl Default for OneNormRankSvm {
    fn default() -> Self {
        Self::new()
    }
}

impl OneNormRankSvm {
    /// Default parameters: C 1, linear kernel.
    pub fn new() -> Self {
        OneNormRankSvm {
            c: 1.0,
            kernel: Kernel::Linear,
            balance: Balance::None,
            scale: Scale::None,
            effort: Effort::default(),
        }
    }

    setters! {
        /// Sets C, which multiplies the sum of weighted losses.
        c: f64,
        /// Sets the kernel.
        kernel: Kernel,
        /// Sets how groups are weighted against each other.
        balance: Balance,
        /// Sets the scaling of features.
        scale: Scale,
        /// Sets how much work a fit may do.
        effort: Effort,
    }

    /// Whether the parameters are within their ranges; fitting asks too.
    pub fn check(&self) -> Result<()> {
        self.machine().check()
    }

    /// Fits a model.
    pub fn fit(&self, data: &Ranking) -> Result<Fit> {
        self.fit_watched(data, &Unwatched)
    }

    /// Fits a model while `watch` looks on, and perhaps stops it.
    pub fn fit_watched(&self, data: &Ranking, watch: &dyn Watch) -> Result<Fit> {
        self.machine().fit(data, watch)
    }

    fn machine(&self) -> VectorMachine<'_> {
        let OneNormRankSvm { c, kernel, balance, scale, ref effort } = *self;
        VectorMachine { method: Method::RankL1, sign: None, c, kernel, balance, scale, effort }
    }
}

/// Which of the two, where C and kernel are yet to be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankProgram {
    /// The Ranking Vector Machine.
    Vectors(CoefficientSign),
    /// The 1-norm ranking SVM.
    Pairs,
}

impl RankProgram {
    /// With C, kernel, balance, scaling and effort of a ranking SVM.
    pub(crate) fn shaped_as(self, svm: &RankSvm) -> ItemEstimator {
        let RankSvm { c, kernel, balance, scale, effort, .. } = *svm;
        match self {
            RankProgram::Vectors(coefficients) => {
                RankingVectorMachine { c, coefficients, kernel, balance, scale, effort }.into()
            }
            RankProgram::Pairs => OneNormRankSvm { c, kernel, balance, scale, effort }.into(),
        }
    }

    /// Up to which C nothing is learnt; infinite where that is so for all.
    pub(crate) fn critical_c(self, svm: &RankSvm, data: &Ranking) -> Result<f64> {
        match self.shaped_as(&svm.clone().c(1.0)) {
            ItemEstimator::Rvm(machine) => machine.machine().critical_c(data),
            ItemEstimator::RankL1(svm) => svm.machine().critical_c(data),
            _ => Ok(f64::INFINITY),
        }
    }
}

/// Fits of a program on those groups of a ranking that are not held out.
pub(crate) struct ProgramTrial {
    program: RankProgram,
    svm: RankSvm,
    data: Ranking,
}

impl ProgramTrial {
    /// One entry per group.
    pub(crate) fn new(program: RankProgram, svm: RankSvm, data: &Ranking, is_held_out: &[bool]) -> Self {
        let groups = data.groups.numbers();
        let learnt: Vec<usize> = (0..data.n_items()).filter(|&item| !is_held_out[groups[item] as usize]).collect();
        ProgramTrial { program, svm, data: data.select(&learnt) }
    }

    /// Fits with this C: scores of some rows, whose columns are those of the data.
    pub(crate) fn next(
        &self,
        c: f64,
        features: &Features,
        rows: &[u32],
        watch: &dyn Watch,
    ) -> Result<(Vec<f64>, Stop)> {
        let machine = self.program.shaped_as(&self.svm.clone().c(c));
        let model = machine.fit_from(&self.data, None, watch)?.model;
        let rows: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
        let items = Items::new(features.select_rows(&rows), self.data.items.feature_names.clone(), None)?;
        Ok((model.scorer.scores(&items)?, model.training.stop))
    }
}

/// Either of them.
struct VectorMachine<'a> {
    method: Method,
    /// `None`: coefficients are of pairs.
    sign: Option<CoefficientSign>,
    c: f64,
    kernel: Kernel,
    balance: Balance,
    scale: Scale,
    effort: &'a Effort,
}

impl VectorMachine<'_> {
    fn check(&self) -> Result<()> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::parameter("C", self.c, "a finite number above 0"));
        }
        if self.balance == Balance::Outcomes {
            return Err(Error::parameter("balance", "outcomes", "none or groups: items have no outcomes"));
        }
        self.kernel.check()?;
        self.effort.check()
    }

    fn fit(&self, data: &Ranking, watch: &dyn Watch) -> Result<Fit> {
        self.check()?;
        check_width(&data.items.features)?;
        let started = Instant::now();
        self.effort.in_pool(|threads| {
            let model = self.fit_here(data, self.effort.limits(started, watch))?;
            Fit::new(model, &data.items, started, threads)
        })
    }

    fn fit_here(&self, data: &Ranking, limits: Limits<'_>) -> Result<Model> {
        let scaler = data.scaler(self.scale);
        let items = KernelItems::new(self.kernel, data, scaler.as_ref())?;
        let counts = self.losses(&items, data)?.counts();
        let is_linear = self.kernel == Kernel::Linear;
        let matrix = match is_linear {
            true => None,
            // In f64: prices are sums of many values that nearly cancel, and columns that are nearly the same.
            false => Some(items.matrix(true, self.effort.cache_mb << 20, &|| true)?),
        };
        let mut planes = self.planes(&items, data, matrix.as_deref())?;
        let tol = limits.tol;
        let is_enough = |value: f64, bound: f64| value - bound <= tol * value;
        let answer = column_program::minimise(&mut planes, &is_enough, limits);
        // Without what a long way has left in the scores.
        let cost: f64 = answer.columns.iter().map(|(_, amount)| amount).sum();
        let objective = cost + planes.go_to(&answer.coefficients);
        let gap = ((objective - answer.bound) / objective.max(1e-12)).max(0.0);
        let stop = answer.stop.unwrap_or(if gap <= tol * 1.01 { Stop::Converged } else { Stop::Stalled });
        let solution = Solution { weights: Vec::new(), bias: 0.0, objective, gap, steps: answer.planes, stop };
        if !objective.is_finite() || answer.planes == 0 {
            return Err(Solution::out_of_range());
        }
        let critical_c = self.c / answer.dearest_at_zero;
        let mut warnings: Vec<String> = why_to_scale(self.scale, &data.items).into_iter().collect();
        warnings.extend(why_dropped(counts));
        let is_nothing = answer.columns.is_empty() && solution.stop == Stop::Converged;
        if is_nothing && self.c <= critical_c {
            let why = match critical_c.is_finite() {
                true => format!("C = {} is not above {critical_c:.4e}, up to which nothing is learnt", self.c),
                false => "no item's kernel values tell better from worse, whatever C is".into(),
            };
            warnings.push(format!("{why}: all scores are 0, without a vector"));
        }
        let (function, support) = if is_linear {
            let terms = answer.coefficients.iter().copied().enumerate().filter(|(_, a)| *a != 0.0);
            let weights = items.features.combine_rows(terms.clone());
            (ScoreFunction::Linear { weights, bias: 0.0 }, terms.count())
        } else {
            items.function(&answer.coefficients)
        };
        let mut model =
            self.record(counts, warnings).kernel_model((function, support), solution, &data.items, scaler.as_ref());
        if is_nothing {
            // Said above, with the reason.
            model.training.warnings.retain(|warning| !warning.starts_with("all coefficients are 0"));
        }
        if self.sign.is_none() {
            model.training.support_pairs = answer.columns.len();
        }
        let critical_c = Some(critical_c).filter(|c| c.is_finite());
        model.training.program = Some(ProgramTraining { coefficients: self.sign, critical_c });
        Ok(model)
    }

    /// Up to which C nothing is learnt.
    fn critical_c(&self, data: &Ranking) -> Result<f64> {
        let scaler = data.scaler(self.scale);
        let items = KernelItems::new(self.kernel, data, scaler.as_ref())?;
        let matrix = match self.kernel {
            Kernel::Linear => None,
            _ => Some(items.matrix(false, 0, &|| true)?),
        };
        let mut planes = self.planes(&items, data, matrix.as_deref())?;
        let zeros = vec![0.0; planes.dim()];
        planes.go_to(&zeros);
        planes.aim(&zeros);
        let first = planes.planes(0.0).unwrap_or_default();
        let dearest = first.first().map_or(0.0, |plane| planes.dearest(&plane.normal, 1).0);
        Ok(self.c / dearest)
    }

    fn losses<'d>(&self, items: &'d KernelItems, data: &'d Ranking) -> Result<RankSums<'d>> {
        let weighing = if self.balance == Balance::Groups { Weighing::Balanced } else { Weighing::AsGiven };
        let losses = RankSums::of_view(items.view(data), |_| true, None, Shape::Swapped, self.c, weighing, None);
        check_pairs(data.n_items(), losses.counts(), losses.mass())?;
        Ok(losses)
    }

    /// The losses over coefficients of items; without a matrix, of the linear kernel.
    fn planes<'d>(
        &self,
        items: &'d KernelItems,
        data: &'d Ranking,
        matrix: Option<&'d dyn SymmetricMatrix>,
    ) -> Result<RankPlanes<'d>> {
        let losses = self.losses(items, data)?;
        let pairing = match self.sign {
            Some(CoefficientSign::Signed) => Pairing::Signed,
            Some(CoefficientSign::Nonnegative) => Pairing::Nonnegative,
            None => {
                let group = |rows: &[u32]| {
                    LabelledGroup::new(
                        rows.iter().map(|&row| (items.place(row) as u32, data.labels[row as usize])).collect(),
                    )
                };
                Pairing::Leads(losses.rows_of_groups().map(group).collect())
            }
        };
        let map = match matrix {
            Some(matrix) => ScoreMap::Matrix(matrix),
            None => ScoreMap::Gram(&items.features),
        };
        Ok(RankPlanes::new(map, losses, pairing))
    }

    fn record(&self, counts: RankCounts, warnings: Vec<String>) -> Record<'_> {
        Record {
            method: self.method,
            loss: Loss::Hinge,
            c: self.c,
            balance: self.balance,
            normalise: false,
            pairs_per_item: None,
            approx: None,
            scale: self.scale,
            effort: self.effort,
            counts: Some(counts),
            items: counts.n_items,
            certificate: "objective minus the value of a point of the dual program, relative to the objective",
            margin: None,
            warnings,
        }
    }
}
