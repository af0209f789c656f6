//! The trials of the demo: one method on one draw of pairs each, as many at a time as there are threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rankwise::data::Scale;
use rankwise::metrics::PairMetric;
use rankwise::model::{Method, Model};
use rankwise::selection::{TuneProgress, TuneWatch};

use crate::commands::pair_trial::{Beside, Chosen, Draw, Measured, Settings, Trial};
use crate::exit::{Failure, Run};
use crate::interrupt::{self, Shield};
use crate::progress::CountingBar;

/// A trial of one method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Job {
    pub(super) draw: Draw,
    pub(super) method: Method,
    pub(super) settings: Settings,
    /// What C and γ are chosen by.
    pub(super) metric: PairMetric,
}

/// What came out.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) c: f64,
    pub(super) gamma: f64,
    /// The metric on the validation pairs.
    pub(super) validation: f64,
    pub(super) test: Measured,
    /// What there is to compare with on the same test pairs.
    pub(super) beside: Beside,
    pub(super) threshold: f64,
    pub(super) support_pairs: usize,
    /// Of the first draw, which is looked at more closely.
    pub(super) model: Option<Model>,
    pub(super) warnings: Vec<String>,
}

impl Job {
    /// About how long a model takes, compared with others.
    fn effort(&self) -> u64 {
        let n = self.draw.n_pairs as u64;
        n * n * if self.method == Method::Compare { 4 } else { 1 }
    }

    /// Chooses, trains and measures.
    fn run(&self, n_grid: usize, watch: &dyn TuneWatch) -> Run<Found> {
        let sets = self.draw.sets()?;
        let Job { method, settings, metric, .. } = *self;
        let trial =
            Trial { method, settings, metric, n_grid, is_linear: false, scale: Scale::None, seed: self.draw.seed };
        let Chosen { c, gamma, validation, model, test, warnings } = trial.run(&sets, watch)?;
        let gamma = gamma.ok_or_else(|| Failure::Fault("the demo's grid holds only widths".into()))?;
        Ok(Found {
            c,
            gamma,
            validation,
            test,
            beside: Beside::on(&sets.test, self.draw.norm)?,
            threshold: model.threshold,
            support_pairs: model.training.support_pairs,
            model: (self.draw.trial == 0).then_some(model),
            warnings,
        })
    }
}

/// Runs all jobs, as many at a time as there are threads; results are in the order of the jobs. Ctrl-C ends it.
pub(super) fn run_all(jobs: &[Job], n_grid: usize, shows_progress: bool) -> Run<Vec<Found>> {
    let shield = Shield::up();
    let n_points = n_grid * n_grid;
    let effort = jobs.iter().map(Job::effort).sum::<u64>() * n_points as u64;
    let bar = CountingBar::new(shows_progress, "models", jobs.len() * n_points, effort);
    // The dear ones first, so that all threads end together.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(jobs[at].effort()));
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Run<Found>)>> = Mutex::default();
    let work = || {
        while let Some(&at) = order.get(next.fetch_add(1, Ordering::SeqCst)) {
            if interrupt::is_requested() {
                break;
            }
            let found = jobs[at].run(n_grid, &Counter { bar: &bar, effort: jobs[at].effort() });
            let has_failed = found.is_err();
            if let Ok(mut done) = done.lock() {
                done.push((at, found));
            }
            if has_failed {
                next.store(order.len(), Ordering::SeqCst);
            }
        }
    };
    std::thread::scope(|scope| {
        // Threads that cannot be started are not needed: this one works, too.
        let others = 1..rayon::current_num_threads().min(jobs.len());
        others.for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
        work();
    });
    drop((bar, shield));
    interrupt::check()?;
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    let found: Vec<Found> = done.into_iter().map(|(_, found)| found).collect::<Run<_>>()?;
    if found.len() == jobs.len() { Ok(found) } else { Err(Failure::Fault("a trial of the demo did not end".into())) }
}

/// Counts the models of a job.
struct Counter<'a> {
    bar: &'a CountingBar,
    effort: u64,
}

impl TuneWatch for Counter<'_> {
    fn on_point(&self, _: TuneProgress) {
        self.bar.count(self.effort);
    }

    fn keep_going(&self) -> bool {
        !interrupt::is_requested()
    }
}
