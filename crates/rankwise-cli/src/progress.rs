//! Progress bars on standard error: only on a terminal, only for work that takes over a second.
//!
//! Training goes from a relative gap of 1 down to tol; the bar shows how far it has come on a logarithmic scale,
//! log(gap)/log(tol), and moves back when the gap does.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rankwise::{Progress, Watch};

use crate::interrupt;

const PATIENCE: Duration = Duration::from_secs(1);
const STEPS: u64 = 1000;

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
        let share = gap.max(tol).min(1.0).ln() / tol.ln();
        let position = if share.is_finite() { (share * STEPS as f64) as u64 } else { 0 };
        self.0.show(position, || format!("iteration {iterations}, gap {gap:.1e} → {tol:.1e}"));
        !interrupt::is_requested()
    }
}

/// Counts models while many are trained, and stops them on Ctrl-C.
#[derive(Debug)]
pub(crate) struct CountingBar(LateBar);

impl CountingBar {
    /// A bar of `length` models.
    pub(crate) fn new(is_wanted: bool, length: usize) -> Self {
        CountingBar(LateBar::new(is_wanted, length as u64))
    }

    /// `done` of them are trained.
    pub(crate) fn set(&self, done: usize) {
        self.0.show(done as u64, || format!("{done} of {} models", self.0.length));
    }
}

impl Watch for CountingBar {
    fn on_progress(&self, _: Progress) -> bool {
        !interrupt::is_requested()
    }
}
