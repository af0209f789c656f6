//! Does the tasks of a study: side by side on all threads, or alone where they are timed; each is written down when done.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::journal::Journal;
use super::study::{Found, Task, Values};
use crate::exit::{Failure, Run};
use crate::interrupt::{self, Shield};
use crate::progress::CountingBar;

/// Does what `found` lacks, and adds it there. Ctrl-C ends it; what is done stays in the journal.
pub(super) fn run(tasks: &[Task<'_>], journal: &Journal, found: &mut Found, shows_progress: bool) -> Run<()> {
    let missing: Vec<&Task<'_>> = tasks.iter().filter(|task| !found.contains(&task.key)).collect();
    let (alone, mut beside): (Vec<&Task<'_>>, Vec<&Task<'_>>) = missing.iter().partition(|task| task.is_alone);
    // The dear ones first, so that all threads end together.
    beside.sort_by(|a, b| b.effort.total_cmp(&a.effort));
    // The bar counts whole numbers: a thousandth of the whole is fine enough.
    let total: f64 = missing.iter().map(|task| task.effort).sum();
    let units = |task: &Task<'_>| (1e6 * task.effort / total.max(1e-300)).ceil() as u64;
    let bar = CountingBar::new(shows_progress, "tasks", missing.len(), missing.iter().map(|task| units(task)).sum());
    let shield = Shield::up();
    let done: Mutex<Vec<(String, Values)>> = Mutex::default();
    let failure: Mutex<Option<Failure>> = Mutex::default();
    let is_over = AtomicBool::new(false);
    let one = |task: &Task<'_>| {
        let outcome = (task.work)().and_then(|values| {
            // What Ctrl-C cut short is no result.
            interrupt::check()?;
            journal.add(&task.key, &values)?;
            Ok(values)
        });
        match outcome {
            Ok(values) => {
                done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((task.key.clone(), values));
                bar.count(units(task));
            }
            Err(error) => {
                is_over.store(true, Ordering::SeqCst);
                let mut first = failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                first.get_or_insert(error);
            }
        }
    };
    let may_go_on = || !is_over.load(Ordering::SeqCst) && !interrupt::is_requested();
    let next = AtomicUsize::new(0);
    let work = || {
        while may_go_on()
            && let Some(task) = beside.get(next.fetch_add(1, Ordering::SeqCst))
        {
            one(task);
        }
    };
    std::thread::scope(|scope| {
        // Threads that cannot be started are not needed: this one works, too.
        let others = 1..rayon::current_num_threads().min(beside.len());
        others.for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
        work();
    });
    for task in alone {
        if may_go_on() {
            one(task);
        }
    }
    drop((bar, shield));
    for (key, values) in done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        found.add(key, values);
    }
    interrupt::check()?;
    match failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}
