//! Items with labels as kernel machines see them: those that are in a pair, their kernel matrix, losses of their scores.

use crate::data::{Features, Random, RankView, Ranking, Scaler};
use crate::error::{Error, Result};
use crate::kernel::{Chosen, GoesOn, Kernel, KernelFunction, KernelMatrix, LandmarkBasis, Landmarks, SymmetricMatrix};
use crate::model::ScoreFunction;
use crate::problem::RankSums;

/// Up to so many items all are landmarks of a solver.
const FEW_ITEMS: usize = 256;
/// Landmarks of more items at the least, at the most, and one for so many items in between.
const LEAST_LANDMARKS: usize = 256;
const MOST_LANDMARKS: usize = 512;
const ITEMS_A_LANDMARK: usize = 40;
/// Below this tolerance kernel values in f32 are too coarse.
pub(super) const FINE: f64 = 1e-5;

/// The items of a ranking that a kernel machine learns from.
pub(super) struct KernelItems {
    pub(super) kernel: KernelFunction,
    /// Their features, scaled.
    pub(super) features: Features,
    /// One row for each item of the ranking: which of these it is.
    units: Features,
}

impl KernelItems {
    /// Those items that are in a group of different labels, of weight above 0; γ is that of all items.
    pub(super) fn new(kernel: Kernel, data: &Ranking, scaler: Option<&Scaler>) -> Result<Self> {
        let scaled = match scaler {
            Some(scaler) => &scaler.apply(&data.items.features)?,
            None => &data.items.features,
        };
        let kernel = kernel.resolve_weighted(scaled, data.weights.as_deref())?;
        Ok(Self::of_groups(kernel, data, scaled, |_| true))
    }

    /// The same of some groups.
    pub(super) fn of_groups(
        kernel: KernelFunction,
        data: &Ranking,
        scaled: &Features,
        keeps: impl Fn(usize) -> bool,
    ) -> Self {
        let mut is_used = vec![false; data.n_items()];
        for (group, items) in data.groups.members().iter().enumerate() {
            if keeps(group) && data.has_pair(group, items) {
                items.iter().for_each(|&item| is_used[item as usize] = data.weight(item as usize) > 0.0);
            }
        }
        let numbers: Vec<usize> = (0..data.n_items()).filter(|&item| is_used[item]).collect();
        let mut n = 0;
        let columns = is_used.iter().map(|is_used| {
            n += u32::from(*is_used);
            is_used.then(|| n - 1)
        });
        let columns: Vec<Option<u32>> = columns.collect();
        KernelItems { kernel, features: scaled.select_rows(&numbers), units: Features::units(&columns, numbers.len()) }
    }

    /// The ranking as a function of the scores of these items.
    pub(super) fn view<'a>(&'a self, data: &'a Ranking) -> RankView<'a> {
        data.view_of_scores(&self.units)
    }

    /// Their kernel matrix, fine enough for a tolerance, kept within `bytes`. Where values do not fit f32, they are in f64.
    pub(super) fn matrix(&self, is_fine: bool, bytes: usize, goes_on: GoesOn<'_>) -> Result<Box<dyn SymmetricMatrix>> {
        if !is_fine && let Ok(matrix) = KernelMatrix::<f32>::new_while(self.kernel, &self.features, bytes, goes_on) {
            return Ok(Box::new(matrix));
        }
        Ok(Box::new(KernelMatrix::<f64>::new_while(self.kernel, &self.features, bytes, goes_on)?))
    }

    /// Landmarks of the kernel among them.
    pub(super) fn landmarks(&self, n: usize, goes_on: GoesOn<'_>) -> Result<Chosen> {
        if !self.kernel.is_positive_definite() {
            return Err(self.not_positive());
        }
        Landmarks::spread(self.kernel, &self.features, n, goes_on)
    }

    /// Rows of numbers for these items as features of all items of the ranking.
    pub(super) fn spread_out(&self, values: &[f64]) -> Result<Features> {
        let width = values.len() / self.features.n_rows().max(1);
        let mut all = vec![0.0; self.units.n_rows() * width];
        for (row, out) in all.chunks_exact_mut(width.max(1)).enumerate() {
            self.units.for_each_in_row(row, |column, _| out.copy_from_slice(&values[column * width..][..width]));
        }
        Features::dense_of(self.units.n_rows(), width, all)
    }

    /// The largest K(x, x).
    pub(super) fn largest_value(&self) -> f64 {
        let mut row = vec![0.0; self.features.n_cols()];
        let value = |item: usize| {
            self.features.copy_row(item, &mut row);
            self.kernel.value(&row, &row).abs()
        };
        (0..self.features.n_rows()).map(value).fold(0.0, f64::max)
    }

    /// Which of these an item of the ranking is.
    pub(super) fn place(&self, row: u32) -> usize {
        let mut place = 0;
        self.units.for_each_in_row(row as usize, |column, _| place = column);
        place
    }

    /// Takes rounding away from the coefficients of every group, which sum to 0; where no pair of an item ever had a slope, it
    /// has none.
    pub(super) fn clean(&self, losses: &RankSums<'_>, coefficients: &mut [f64]) {
        for rows in losses.rows_of_groups() {
            let places = || rows.iter().map(|&row| self.place(row)).filter(|&at| coefficients[at] != 0.0);
            let (n, sum) = places().fold((0, 0.0), |(n, sum), at| (n + 1, sum + coefficients[at]));
            let places: Vec<usize> = places().collect();
            places.into_iter().for_each(|at| coefficients[at] -= sum / f64::from(n));
        }
    }

    /// The function of these coefficients, and how many items support it.
    pub(super) fn function(&self, coefficients: &[f64]) -> (ScoreFunction, usize) {
        let support: Vec<usize> = (0..coefficients.len()).filter(|&at| coefficients[at] != 0.0).collect();
        let function = ScoreFunction::Kernel {
            kernel: self.kernel,
            support: self.features.select_rows(&support),
            coefficients: support.iter().map(|&at| coefficients[at]).collect(),
            bias: 0.0,
        };
        (function, support.len())
    }

    /// Random landmarks among `places`, for a solver's preconditioner; none where rounding does not allow any. An error where
    /// the kernel is seen not to be positive definite.
    pub(super) fn basis(
        &self,
        matrix: &dyn SymmetricMatrix,
        mut places: Vec<u32>,
        seed: u64,
        goes_on: GoesOn<'_>,
    ) -> Result<LandmarkBasis> {
        let n = places.len();
        if n > FEW_ITEMS {
            Random::new(seed).shuffle(&mut places);
            places.truncate((n / ITEMS_A_LANDMARK).clamp(LEAST_LANDMARKS, MOST_LANDMARKS));
            places.sort_unstable();
        }
        if let Some(basis) = LandmarkBasis::new(matrix, places, goes_on)? {
            return Ok(basis);
        }
        let none = LandmarkBasis::new(matrix, Vec::new(), goes_on)?.filter(|_| self.kernel.is_positive_definite());
        none.ok_or_else(|| self.not_positive())
    }

    /// The error that a kernel without a norm deserves.
    pub(super) fn not_positive(&self) -> Error {
        let remedy = match self.kernel {
            KernelFunction::Poly { .. } => "choose a --coef0 of at least 0, or --kernel rbf or linear",
            _ => "choose --kernel rbf, poly or linear",
        };
        Error::Unsupported {
            problem: format!(
                "the {} kernel is not positive definite on these items, so that the objective has no minimum",
                self.kernel.name()
            ),
            remedy: remedy.into(),
        }
    }
}

/// What to say to who gives a model to start from.
pub(super) fn no_start() -> Error {
    Error::Unsupported {
        problem: "a machine with a kernel does not start from another model".into(),
        remedy: "leave out --init, or choose --kernel linear".into(),
    }
}
