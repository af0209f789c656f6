//! Work on threads of their own, while Python goes on: the GIL is free, Ctrl-C is seen, progress is told.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rankwise::selection::{TuneProgress, TuneWatch};
use rankwise::{Effort, Error, Progress, Result, Watch};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{exception, internal};

/// How often Python is asked whether somebody pressed Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
/// How long work that was told to stop may take to do so; after that it is left alone, and ends in the background.
const PATIENCE: Duration = Duration::from_millis(700);

/// What the working thread and the waiting one tell each other.
#[derive(Default)]
pub(crate) struct Looking {
    stop: AtomicBool,
    n_calls: AtomicU64,
    iterations: AtomicU64,
    gap: AtomicU64,
    tol: AtomicU64,
}

impl Watch for Looking {
    fn on_progress(&self, progress: Progress) -> bool {
        self.iterations.store(progress.iterations, Ordering::Relaxed);
        self.gap.store(progress.gap.to_bits(), Ordering::Relaxed);
        self.tol.store(progress.tol.to_bits(), Ordering::Relaxed);
        self.n_calls.fetch_add(1, Ordering::Relaxed);
        !self.stop.load(Ordering::Relaxed)
    }
}

impl TuneWatch for Looking {
    fn on_point(&self, progress: TuneProgress) {
        self.iterations.fetch_max(progress.done as u64, Ordering::Relaxed);
        self.tol.store((progress.total as f64).to_bits(), Ordering::Relaxed);
        self.n_calls.fetch_add(1, Ordering::Relaxed);
    }

    fn keep_going(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

impl Looking {
    /// Tells Python how far the work is, if it has begun: iterations, gap and tolerance; of a search fits, nothing and all fits.
    fn tell(&self, to: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.n_calls.load(Ordering::Relaxed) > 0 {
            let real = |number: &AtomicU64| f64::from_bits(number.load(Ordering::Relaxed));
            to.call1((self.iterations.load(Ordering::Relaxed), real(&self.gap), real(&self.tol)))?;
        }
        Ok(())
    }
}

/// Does `work` on so many threads (0: all), tells `on_progress` how far it is, and ends on Ctrl-C within a second.
pub(crate) fn run<R: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Looking) -> Result<R> + Send + 'static,
) -> PyResult<R> {
    let pool = pool(threads).map_err(|e| exception(py, &e))?;
    let looking = Arc::new(Looking::default());
    let (sender, receiver) = sync_channel(1);
    let seen = Arc::clone(&looking);
    std::thread::Builder::new()
        .name("rankwise".into())
        .spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&seen))));
            // Nobody listens any more after Ctrl-C.
            let _ = sender.send(result);
        })
        .map_err(|e| internal(format!("no thread could be started: {e}")))?;
    let receiver = Mutex::new(receiver);
    let wait =
        |time: Duration| py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time));
    loop {
        match wait(LOOK) {
            Ok(Ok(result)) => {
                let result = result.map_err(|e| exception(py, &e))?;
                // Where the work ended; it may have been too quick to be told anything before.
                on_progress.map_or(Ok(()), |to| looking.tell(to))?;
                return Ok(result);
            }
            Ok(Err(panic)) => return Err(internal(panic_text(&*panic))),
            Err(RecvTimeoutError::Disconnected) => return Err(internal("the work was lost")),
            Err(RecvTimeoutError::Timeout) => {
                let told = py.check_signals().and_then(|()| on_progress.map_or(Ok(()), |to| looking.tell(to)));
                if let Err(raised) = told {
                    looking.stop.store(true, Ordering::Relaxed);
                    if wait(PATIENCE).is_err() {
                        // Nobody else should wait for it either.
                        retire(threads);
                    }
                    return Err(raised);
                }
            }
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("unknown").to_string()
}

/// Pools of threads, by process and number.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;
static POOLS: Mutex<Option<Pools>> = Mutex::new(None);
/// Pools that are kept though nobody uses them.
const MOST_IDLE: usize = 4;

/// Does something with the pools.
fn with_pools<R>(work: impl FnOnce(&mut Pools) -> R) -> R {
    work(POOLS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(HashMap::new))
}

/// The threads of this process, so many of them (0: one for each core). A forked child has none of its parent's.
fn pool(threads: usize) -> Result<Arc<ThreadPool>> {
    Effort::check_threads(threads)?;
    let process = std::process::id();
    if let Some(pool) = with_pools(|pools| pools.get(&(process, threads)).cloned()) {
        return Ok(pool);
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| Error::Unsupported {
        problem: format!("{threads} threads cannot be started: {e}"),
        remedy: "ask for fewer threads".into(),
    })?;
    let pool = Arc::new(pool);
    with_pools(|pools| {
        if pools.len() >= MOST_IDLE {
            // Those of another process are not ours to end.
            pools.retain(|&(of, n), pool| of != process || n == 0 || Arc::strong_count(pool) > 1);
        }
        pools.insert((process, threads), Arc::clone(&pool));
    });
    Ok(pool)
}

/// Leaves a pool to the work that is still done on it; who comes next gets another one.
fn retire(threads: usize) {
    with_pools(|pools| pools.remove(&(std::process::id(), threads)));
}
