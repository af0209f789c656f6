//! Ctrl-C. Work that must end in order (training, writing a file) stands behind a [`Shield`]: the first Ctrl-C only
//! asks it to stop. Everywhere else, and the second time, the program ends at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::exit::{Failure, Run, Status};
use crate::output;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static SHIELDS: AtomicUsize = AtomicUsize::new(0);

/// Starts listening to Ctrl-C.
pub(crate) fn install() -> Run<()> {
    ctrlc::set_handler(|| {
        let is_second = REQUESTED.swap(true, Ordering::SeqCst);
        if is_second || SHIELDS.load(Ordering::SeqCst) == 0 {
            output::interrupted();
            std::process::exit(Status::Interrupted as i32);
        }
    })
    .map_err(|error| Failure::Fault(format!("cannot listen to Ctrl-C: {error}")))
}

/// Whether the user has asked to stop.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Ends the command when the user has asked to stop.
pub(crate) fn check() -> Run<()> {
    if is_requested() { Err(Failure::Interrupted) } else { Ok(()) }
}

/// While it lives, the first Ctrl-C only asks.
#[derive(Debug)]
pub(crate) struct Shield(());

impl Shield {
    /// Puts the shield up.
    pub(crate) fn up() -> Self {
        SHIELDS.fetch_add(1, Ordering::SeqCst);
        Shield(())
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        SHIELDS.fetch_sub(1, Ordering::SeqCst);
    }
}
