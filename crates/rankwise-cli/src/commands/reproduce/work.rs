//! Does the tasks of a study: side by side on all threads, then those that are timed, alone; each is written down when done.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

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
    // The bar counts whole numbers: a millionth of the whole is fine enough.
    let total: f64 = missing.iter().map(|task| task.effort).sum();
    let units = |task: &Task<'_>| (1e6 * task.effort / total.max(1e-300)).ceil() as u64;
    let bar = CountingBar::new(shows_progress, "tasks", missing.len(), missing.iter().map(|task| units(task)).sum());
    let shield = Shield::up();
    let done: Mutex<Vec<(String, Values)>> = Mutex::default();
    let failure: Mutex<Option<Failure>> = Mutex::default();
    let is_over = AtomicBool::new(false);
    let one = |task: &Task<'_>, found: &Found| {
        let outcome = (task.work)(found).and_then(|values| {
            // What Ctrl-C cut short is no result.
            interrupt::check()?;
            journal.add(&task.key, &values)?;
            Ok(values)
        });
        match outcome {
            Ok(values) => {
                done.lock().unwrap_or_else(PoisonError::into_inner).push((task.key.clone(), values));
                bar.count(units(task));
            }
            Err(error) => {
                is_over.store(true, Ordering::SeqCst);
                let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(error);
            }
        }
    };
    let may_go_on = || !is_over.load(Ordering::SeqCst) && !interrupt::is_requested();
    let next = AtomicUsize::new(0);
    let known: &Found = found;
    let work = || {
        while may_go_on()
            && let Some(task) = beside.get(next.fetch_add(1, Ordering::SeqCst))
        {
            one(task, known);
        }
    };
    std::thread::scope(|scope| {
        // Threads that cannot be started are not needed: this one works, too.
        let others = 1..rayon::current_num_threads().min(beside.len());
        others.for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
        work();
    });
    let take = |found: &mut Found| {
        let done = std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner));
        done.into_iter().for_each(|(key, values)| found.add(key, values));
    };
    take(found);
    for task in alone {
        if may_go_on() {
            one(task, found);
        }
    }
    take(found);
    drop((bar, shield));
    interrupt::check()?;
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}
