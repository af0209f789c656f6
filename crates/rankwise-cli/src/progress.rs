//! Progress bars on standard error: only on a terminal, only for work that takes over a second.
//!
//! Training goes from a relative gap of 1 down to tol; the bar shows how far it has come on a logarithmic scale,
//! log(gap)/log(tol), and moves back when the gap does.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rankwise::selection::{TuneProgress, TuneWatch};
use rankwise::{Progress, Watch};

use crate::interrupt;

const PATIENCE: Duration = Duration::from_secs(1);
const STEPS: u64 = 1000;
/// Seconds after which a fit is told to take long.
const SLOW: u64 = 10;

/// A bar that stays hidden for the first second and goes away at the end.
#[derive(Debug)]
struct LateBar {
    is_wanted: bool,
    started: Instant,
    length: u64,
    bar: OnceLock<ProgressBar>,
}

impl LateBar {
    fn new(is_wanted: bool, length: u64) -> Self {
        let is_wanted = is_wanted && std::io::stderr().is_terminal();
        LateBar { is_wanted, started: Instant::now(), length, bar: OnceLock::new() }
    }

    fn show(&self, position: u64, message: impl FnOnce() -> String) {
        if !self.is_wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::new(self.length).with_elapsed(self.started.elapsed());
            if let Ok(style) = ProgressStyle::with_template("[{elapsed_precise}] {bar:30} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        bar.set_position(position.min(self.length));
        bar.set_message(message());
    }
}

impl Drop for LateBar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Looks on while one model is trained, and stops it on Ctrl-C.
#[derive(Debug)]
pub(crate) struct TrainingBar(LateBar);

impl TrainingBar {
    /// A bar, if `is_wanted` and standard error is a terminal.
    pub(crate) fn new(is_wanted: bool) -> Self {
        TrainingBar(LateBar::new(is_wanted, STEPS))
    }
}

impl Watch for TrainingBar {
    fn on_progress(&self, progress: Progress) -> bool {
        let Progress { iterations, gap, tol } = progress;
        if gap.is_nan() {
            // Random steps know no gap.
            self.0.show(0, || format!("step {iterations}"));
            return !interrupt::is_requested();
        }
        let share = gap.max(tol).min(1.0).ln() / tol.ln();
        let position = if share.is_finite() { (share * STEPS as f64) as u64 } else { 0 };
        self.0.show(position, || format!("iteration {iterations}, gap {gap:.1e} → {tol:.1e}"));
        !interrupt::is_requested()
    }
}

/// Counts models, or other work of known effort, while it is done, and says how long it may still take.
#[derive(Debug)]
pub(crate) struct CountingBar {
    bar: LateBar,
    noun: &'static str,
    n_models: usize,
    n_done: AtomicUsize,
    effort_done: AtomicU64,
}

impl CountingBar {
    /// A bar of so many of `noun`, which take this effort together.
    pub(crate) fn new(is_wanted: bool, noun: &'static str, n_models: usize, effort: u64) -> Self {
        CountingBar { bar: LateBar::new(is_wanted, effort), noun, n_models, n_done: 0.into(), effort_done: 0.into() }
    }

    /// One more is trained, which took this effort.
    pub(crate) fn count(&self, effort: u64) {
        let n_done = self.n_done.fetch_add(1, Ordering::SeqCst) + 1;
        let done = self.effort_done.fetch_add(effort, Ordering::SeqCst) + effort;
        self.bar.show(done, || {
            let share = done as f64 / self.bar.length as f64;
            let left = self.bar.started.elapsed().as_secs_f64() * (1.0 - share) / share;
            // Nothing is said before a twentieth is done.
            let left = if share < 0.05 { String::new() } else { format!(", about {} left", duration(left)) };
            format!("{n_done} of {} {}{left}", self.n_models, self.noun)
        });
    }
}

/// Counts fits while parameters are tuned, says how long it may still take, and stops them on Ctrl-C.
#[derive(Debug)]
pub(crate) struct TuningBar {
    bar: LateBar,
    n_c: usize,
    costs: Mutex<Costs>,
    done: AtomicUsize,
    /// When a fit was done last, and what was said last of the one that still runs, in seconds since the start.
    last: AtomicU64,
    told: AtomicU64,
}

/// Fits that are done and the seconds that they took, by C: what a fit costs depends on it most.
#[derive(Debug, Default)]
struct Costs(HashMap<u64, (usize, f64)>);

impl Costs {
    fn add(&mut self, c: f64, seconds: f64) {
        let entry = self.0.entry(c.to_bits()).or_default();
        entry.0 += 1;
        entry.1 += seconds;
    }

    /// Seconds left, by what fits of the same C took so far, and whether all are known; a C that was not reached yet
    /// counts like the dearest one. Nothing is said before a tenth is done.
    fn left(&self, elapsed: f64, done: usize, total: usize, n_c: usize) -> Option<(f64, bool)> {
        let spent: f64 = self.0.values().map(|cost| cost.1).sum();
        if 10 * done < total || n_c == 0 || spent <= 0.0 {
            return None;
        }
        let (per_c, is_complete) = (total / n_c, self.0.len() == n_c);
        let mean = |&(n, seconds): &(usize, f64)| seconds / n as f64;
        let dearest = self.0.values().map(mean).fold(0.0, f64::max);
        let known: f64 = self.0.values().map(|cost| per_c.saturating_sub(cost.0) as f64 * mean(cost)).sum();
        let unknown = (n_c.saturating_sub(self.0.len()) * per_c) as f64 * dearest;
        // Threads work side by side: their seconds per second of the clock.
        Some(((known + unknown) * elapsed / spent, is_complete))
    }
}

impl TuningBar {
    /// A bar of `n_fits` over `n_c` values of C.
    pub(crate) fn new(is_wanted: bool, n_fits: usize, n_c: usize) -> Self {
        TuningBar {
            bar: LateBar::new(is_wanted, n_fits as u64),
            n_c,
            costs: Mutex::default(),
            done: AtomicUsize::new(0),
            last: AtomicU64::new(0),
            told: AtomicU64::new(0),
        }
    }
}

impl TuneWatch for TuningBar {
    fn on_point(&self, progress: TuneProgress) {
        let Ok(mut costs) = self.costs.lock() else { return };
        costs.add(progress.c, progress.time.as_secs_f64());
        let elapsed = self.bar.started.elapsed().as_secs_f64();
        self.done.store(progress.done, Ordering::Relaxed);
        self.last.store(elapsed as u64, Ordering::Relaxed);
        self.bar.show(progress.done as u64, || {
            if progress.done == progress.total {
                return format!("{} fits done, now the best one on all of the data", progress.total);
            }
            let left = match costs.left(elapsed, progress.done, progress.total, self.n_c) {
                Some((seconds, true)) => format!(", about {} left", duration(seconds)),
                Some((seconds, false)) => format!(", at least {} left", duration(seconds)),
                None => String::new(),
            };
            format!("{} of {} fits{left}", progress.done, progress.total)
        });
    }

    fn keep_going(&self) -> bool {
        // The first fit may take long: the bar does not wait for it.
        let (now, done) = (self.bar.started.elapsed().as_secs(), self.done.load(Ordering::Relaxed));
        if self.bar.bar.get().is_none() {
            self.bar.show(done as u64, || format!("{done} of {} fits", self.bar.length));
        }
        // A fit that takes far longer than the others belies what was said of the time that is left.
        let waited = now.saturating_sub(self.last.load(Ordering::Relaxed));
        if waited >= SLOW && self.told.swap(now, Ordering::Relaxed) != now {
            let message =
                || format!("{done} of {} fits, the next takes {} so far", self.bar.length, duration(waited as f64));
            self.bar.show(done as u64, message);
        }
        !interrupt::is_requested()
    }
}

/// A time for people to read.
fn duration(seconds: f64) -> String {
    if seconds < 100.0 {
        format!("{} s", seconds.ceil())
    } else if seconds < 6000.0 {
        format!("{} min", (seconds / 60.0).ceil())
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_what_each_c_costs() {
        let mut costs = Costs::default();
        costs.add(1.0, 1.0);
        assert_eq!(costs.left(1.0, 1, 20, 2), None, "a tenth is not done");
        // One thread, two values of C, four fits each: the other C is taken to cost as much, at least.
        assert_eq!(costs.left(1.0, 1, 8, 2), Some((3.0 + 4.0, false)));
        costs.add(10.0, 5.0);
        assert_eq!(costs.left(6.0, 2, 8, 2), Some((3.0 + 15.0, true)));
        // Two threads need half the time.
        assert_eq!(costs.left(3.0, 2, 8, 2), Some((9.0, true)));
        assert_eq!([duration(0.2), duration(600.0), duration(7200.0)], ["1 s", "10 min", "2.0 h"]);
    }
}
