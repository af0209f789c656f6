//! Every point of a grid on every part. What the fits with one kernel share is built once; kernels are begun in the order of
//! the grid, so that a time limit leaves complete points; what comes out does not depend on who ends first.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::chain::{Cell, Chain, Limits};
use super::grid::Grid;
use super::split::Parts;
use crate::error::{Error, Result};
use crate::estimator::{PairEstimator, Trials};
use crate::kernel::KernelFunction;
use crate::loss::Loss;
use crate::metrics::PairMetric;

/// The places of values of C, from the smallest on.
pub(super) fn ascending(c: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..c.len()).collect();
    places.sort_by(|&a, &b| c[a].total_cmp(&c[b]));
    places
}

/// What becomes of works, which are begun in their order, several at a time or one by one.
pub(super) fn in_order<W: Sync, R: Send>(
    works: &[W],
    several: bool,
    run: impl Fn(&W) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if !several {
        return works.iter().map(run).collect();
    }
    let next = AtomicUsize::new(0);
    let taken = |_| {
        let at = next.fetch_add(1, Ordering::SeqCst);
        Ok((at, run(&works[at])?))
    };
    let mut done: Vec<(usize, R)> =
        (0..works.len()).into_par_iter().with_max_len(1).map(taken).collect::<Result<_>>()?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// Takes every chain a step further, several at a time or one by one.
pub(super) fn each<C: Send>(
    chains: &mut [C],
    several: bool,
    next: impl Fn(&mut C) -> Result<()> + Sync + Send,
) -> Result<()> {
    match several {
        true => chains.par_iter_mut().try_for_each(next),
        false => chains.iter_mut().try_for_each(next),
    }
}

/// What to measure on what.
pub(super) struct Sweep<'a> {
    pub(super) estimator: &'a PairEstimator,
    pub(super) grid: &'a Grid,
    pub(super) parts: &'a Parts,
    pub(super) metric: PairMetric,
    pub(super) limits: &'a Limits<'a>,
}

/// The fits that share a kernel.
struct Work<'a> {
    /// Its place in the grid.
    kernel: usize,
    function: KernelFunction,
    trials: &'a Trials,
    /// Every part with its number among the parts of the trials.
    parts: Vec<(usize, usize)>,
}

/// What became of the fits along C.
struct Done {
    loss: usize,
    kernel: usize,
    part: usize,
    /// C ascending.
    cells: Vec<Cell>,
}

impl Sweep<'_> {
    /// What became of every point, part by part.
    pub(super) fn run(&self) -> Result<Vec<Vec<Cell>>> {
        let Grid { c, kernels, .. } = self.grid;
        let ascending = ascending(c);
        let cs: Vec<f64> = ascending.iter().map(|&at| c[at]).collect();

        let trials = self.parts.trials(self.estimator.scale())?;
        let works = self.works(&trials)?;
        let n_threads = rayon::current_num_threads();
        // Several at a time where each still has memory for its rows; a large one alone, with all threads inside.
        let rows = trials.iter().map(Trials::row_bytes).max().unwrap_or(0);
        let n_at_once = if rows <= (self.estimator.effort().cache_mb << 20) / n_threads { n_threads } else { 1 };
        let done = in_order(&works, n_at_once > 1, |work| self.work(work, &cs, n_at_once))?;

        let mut cells = vec![vec![Cell::NotReached; self.parts.len()]; self.grid.n_points()];
        for Done { loss, kernel, part, cells: along } in done.into_iter().flatten() {
            for (cell, &at) in along.into_iter().zip(&ascending) {
                cells[(loss * kernels.len() + kernel) * c.len() + at][part] = cell;
            }
        }
        Ok(cells)
    }

    /// Parts whose kernel is the same function work together.
    fn works<'t>(&self, trials: &'t [Trials]) -> Result<Vec<Work<'t>>> {
        let mut works: Vec<Work<'t>> = Vec::new();
        for (at, &kernel) in self.grid.kernels.iter().enumerate() {
            for (number, trials) in trials.iter().enumerate() {
                let first = works.len();
                for part in 0..trials.n_parts() {
                    let function = trials.resolve(kernel, part)?;
                    let number = number + part; // there is one of the trials, or one part in each
                    match works[first..].iter_mut().find(|work| work.function == function) {
                        Some(work) => work.parts.push((number, part)),
                        None => works.push(Work { kernel: at, function, trials, parts: vec![(number, part)] }),
                    }
                }
            }
        }
        Ok(works)
    }

    /// The method with a kernel and a loss; probabilities that nobody looks at are not made.
    fn shaped(&self, kernel: usize, loss: Loss) -> PairEstimator {
        let estimator = self.estimator.clone().shaped(self.grid.c[0], self.grid.kernels[kernel], loss);
        if self.metric.needs_chances() { estimator } else { estimator.calibrated(false) }
    }

    /// All fits with one kernel: C by C, all parts of one before the next, so that a time limit leaves complete points.
    fn work(&self, work: &Work<'_>, cs: &[f64], n_at_once: usize) -> Result<Vec<Done>> {
        let losses = &self.grid.losses;
        if self.limits.are_over() {
            return Ok(Vec::new());
        }
        // Where a kernel's numbers leave their range, the fits say so one by one.
        let sharing: Vec<Loss> = losses.iter().copied().filter(|&loss| Trials::shares(&self.shaped(0, loss))).collect();
        let shared = match (!sharing.is_empty()).then(|| work.trials.with_kernel(work.function, &sharing)) {
            Some(Ok(shared)) => Some(shared),
            None | Some(Err(Error::Numeric { .. })) => None,
            Some(Err(error)) => return Err(error),
        };
        let places: Vec<(usize, usize, usize)> = (0..losses.len())
            .flat_map(|loss| work.parts.iter().map(move |&(number, part)| (loss, number, part)))
            .collect();
        let mut chains: Vec<Chain<'_>> = places
            .iter()
            .map(|&(loss, number, part)| {
                let mut estimator = self.shaped(work.kernel, losses[loss]);
                let effort = estimator.effort_mut();
                (effort.threads, effort.cache_mb) = (0, effort.cache_mb / n_at_once);
                let path = shared.as_ref().and_then(|shared| work.trials.path(shared, &estimator, part));
                Chain { estimator, path, part: &self.parts.parts[number], cells: Vec::with_capacity(cs.len()) }
            })
            .collect();
        for &c in cs {
            each(&mut chains, n_at_once > 1, |chain| chain.next(c, self.metric, self.limits))?;
        }
        let done = |(&(loss, part, _), chain): (&(usize, usize, usize), Chain<'_>)| Done {
            loss,
            kernel: work.kernel,
            part,
            cells: chain.cells,
        };
        Ok(places.iter().zip(chains).map(done).collect())
    }
}
