//! Machines on items over the functions that some of them span (Nyström), measured against those over all functions of the
//! kernel.
//!
//! With ψ of the landmarks for features the machine is a linear one, and w·ψ(x) = Σ a·K(landmark, x) has the norm ‖w‖ in the
//! kernel's own space: the objective is the same number there. What the losses ask for at its scores, t with Σ t = 0, are dual
//! variables of the machine without approximation, too. Many items that landmarks describe badly make t·Kt large, and the dual
//! value of t far too low; so the best multiple of t is where the dual search over all functions begins, for so many steps as
//! there are items a few times over. Where it ends bounds the minimum.

use rayon::prelude::*;

use super::item_dual::{self, feasible};
use super::item_machine::{Aim, DistinctRows, Machine, Members, dual_of, in_weights};
use super::item_start::Start;
use crate::data::Features;
use crate::error::{Error, Result};
use crate::kernel::{
    Approx, Chosen, GoesOn, ItemKernel, Kernel, KernelFunction, KernelMatrix, Landmarks, SymmetricMatrix,
};
use crate::math::dot;
use crate::problem::{ItemDual, ItemTerm};
use crate::progress::Stop;
use crate::solver::Limits;

/// Items that are scored by a task.
const ITEMS_A_TASK: usize = 1 << 12;
/// Steps of the dual search that a gap is measured by, for each item.
const PASSES: u64 = 4;
/// What of the gap that is shown a stage of that search leaves of its own, and with what share it ends.
const STAGE: f64 = 0.3;
const ENOUGH: f64 = 0.5;

/// Distinct rows as landmarks describe them.
pub(super) struct Described<'a> {
    map: Landmarks,
    /// ψ of the rows.
    psi: Features,
    distinct: &'a DistinctRows,
}

/// Dual variables that some machine claims to be good ones.
pub(super) struct Claim {
    /// The row of each variable, what the dual says of it, and its value.
    rows: Vec<u32>,
    duals: Vec<ItemDual>,
    t: Vec<f64>,
    /// What they may be multiplied with at the most.
    most: f64,
    /// What values are to be multiplied with.
    unit: f64,
}

impl<'a> Described<'a> {
    /// Chooses up to `n` landmarks among the rows, or among some of them.
    pub(super) fn new(
        kernel: KernelFunction,
        distinct: &'a DistinctRows,
        among: Option<&[usize]>,
        n: usize,
        goes_on: GoesOn<'_>,
    ) -> Result<Self> {
        let rows = distinct.features();
        let (map, values) = match among {
            None => {
                let Chosen { map, values, .. } = Landmarks::spread(kernel, rows, n, goes_on)?;
                (map, values)
            }
            Some(among) => {
                let map = Landmarks::spread(kernel, &rows.select_rows(among), n, goes_on)?.map;
                let values = map.describe(rows, goes_on)?;
                (map, values)
            }
        };
        let psi = Features::dense_of(rows.n_rows(), map.len(), values)?;
        Ok(Described { map, psi, distinct })
    }

    pub(super) fn landmarks(&self) -> &Landmarks {
        &self.map
    }

    /// The machine for given terms; its gap is that among the functions of the landmarks until it is measured.
    pub(super) fn solve(&self, terms: &[ItemTerm], aim: Aim<'_>, start: Option<&Start>) -> Machine {
        let Members { rows, terms } = Members::new(terms, self.distinct.row_of());
        let terms: Vec<ItemTerm> = rows.iter().zip(terms).map(|(&row, term)| ItemTerm { row, ..term }).collect();
        let (machine, bound) = in_weights(&self.psi, None, &terms, aim, start);
        let duals: Vec<ItemDual> = terms.iter().map(|term| dual_of(term, aim.c * term.cost, aim.is_squared)).collect();
        let t = feasible(&duals, &bound.wanted(&self.psi, &terms, aim.c));
        let most = if aim.is_squared { f64::INFINITY } else { 1.0 };
        let claim = Claim { rows, duals, t, most, unit: 1.0 };
        Machine { claim: Some(Box::new(claim)), ..machine }
    }

    /// The kernel itself.
    pub(super) fn kernel(&self, cache_mb: usize) -> Result<ItemKernel<'_>> {
        ItemKernel::new(self.map.kernel, self.distinct.features(), cache_mb)
    }

    /// Gives a machine the best dual value of the kernel itself that is found near its claim.
    pub(super) fn measure(&self, machine: &mut Machine, kernel: &ItemKernel<'_>, limits: Limits<'_>) -> Result<()> {
        let Some(mut claim) = machine.claim.take() else { return Ok(()) };
        machine.dual = 0.0;
        // Products of all items with all others take long, and a limit acts within them.
        let done = machine.steps;
        let goes_on = || !limits.is_stopped(done, 1.0);
        let Some(square) = self.square(&claim, &goes_on)? else { return Ok(()) };
        let (mut dual, factor) = claim.best_multiple(square);
        let start: Vec<f64> = claim.t.iter().map(|t| factor * t).collect();
        let primal = machine.primal / claim.unit;
        let (mut shown, mut steps, mut tol) = (1.0 - dual / primal, 0, f64::INFINITY);
        let most = limits.max_iter.min(PASSES * claim.t.len() as u64);
        claim.t = start;
        // As far as the search itself is from its end tells what of the gap is lost for certain.
        while tol > limits.tol && steps < most && goes_on() {
            tol = (STAGE * shown).max(limits.tol);
            let inner = Limits { tol, max_iter: most - steps, ..limits };
            let Ok(found) = item_dual::solve(kernel, &claim.rows, &claim.duals, Some(&claim.t), inner) else { break };
            claim.t = found.coefficients;
            steps += found.steps.max(1);
            shown = shown.min(1.0 - (found.objective - found.gap * found.objective.max(1e-12)) / primal).max(0.0);
            if found.stop != Stop::Converged || found.gap <= ENOUGH * shown {
                break;
            }
        }
        // Once more in f64: a bound that is one but for rounding is none.
        if steps > 0
            && let Some(square) = self.square(&claim, &goes_on)?
        {
            dual = dual.max(claim.best_multiple(square).0);
        }
        machine.dual = (claim.unit * dual).min(machine.primal);
        Ok(())
    }

    /// t·Kt, by one product with the matrix of the kernel, none of which is kept; `None` where it does not go on.
    fn square(&self, claim: &Claim, goes_on: GoesOn<'_>) -> Result<Option<f64>> {
        let rows = self.distinct.features();
        let mut coefficients = vec![0.0; rows.n_rows()];
        claim.rows.iter().zip(&claim.t).for_each(|(&row, t)| coefficients[row as usize] += t);
        let kept: Vec<usize> = (0..rows.n_rows()).filter(|&row| coefficients[row] != 0.0).collect();
        let t: Vec<f64> = kept.iter().map(|&row| coefficients[row]).collect();
        let matrix = KernelMatrix::<f64>::new(self.map.kernel, &rows.select_rows(&kept), 0)?;
        Ok(matrix.times_while(&t, goes_on).map(|product| dot(&t, &product)))
    }

    /// w·ψ of some items.
    pub(super) fn scores(&self, weights: &[f64], items: &[u32]) -> Vec<f64> {
        let rows: Vec<u32> = items.iter().map(|&item| self.distinct.row_of()[item as usize]).collect();
        let mut scores = vec![0.0; items.len()];
        let tasks = scores.par_chunks_mut(ITEMS_A_TASK).zip(rows.par_chunks(ITEMS_A_TASK));
        tasks.for_each(|(out, rows)| self.psi.times_rows(rows, weights, out));
        scores
    }
}

impl Claim {
    /// The best dual value of all multiples, where t·Kt is `square`, and that multiple; that of 0 is 0.
    fn best_multiple(&self, square: f64) -> (f64, f64) {
        let (mut gain, mut curve) = (0.0, square.max(0.0));
        for (t, dual) in self.t.iter().zip(&self.duals) {
            gain += t * dual.target(*t);
            curve += dual.shift * t * t;
        }
        let best = gain / curve;
        let factor = if best.is_nan() { 0.0 } else { best.clamp(0.0, self.most) };
        let value = factor * gain - 0.5 * factor * factor * curve;
        if factor.is_finite() && value > 0.0 { (value, factor) } else { (0.0, 0.0) }
    }

    /// The same claim, for labels that are `unit` times as large.
    pub(super) fn in_units(self, unit: f64) -> Self {
        Claim { unit: self.unit * unit * unit, ..self }
    }
}

/// Whether there is something to approximate, and a norm to measure it by.
pub(super) fn check_approx(approx: Option<Approx>, kernel: Kernel, c: f64) -> Result<()> {
    let Some(approx) = approx else { return Ok(()) };
    approx.check(kernel)?;
    if c == f64::INFINITY {
        return Err(Error::Unsupported {
            problem: "C = inf asks for a hard margin, which functions of landmarks cannot tell to exist or not".into(),
            remedy: "choose a finite C, or leave out --approx".into(),
        });
    }
    let (problem, remedy) = match kernel {
        Kernel::Sigmoid { .. } => ("the sigmoid kernel is", "choose --kernel rbf or poly"),
        Kernel::Poly { coef0, .. } if coef0 < 0.0 => {
            ("the poly kernel with a coef0 below 0 is", "choose a --coef0 of at least 0")
        }
        _ => return Ok(()),
    };
    Err(Error::Unsupported {
        problem: format!("{problem} not positive definite in general, and landmarks need that"),
        remedy: format!("leave out --approx, or {remedy}"),
    })
}
