//! What Ctrl-C says before it ends the process.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::print;
use crate::progress::Bar;

/// What a shell expects of a command that SIGINT ended: 128 and the signal's number.
const INTERRUPTED: i32 = 130;

/// While this lives, Ctrl-C clears the bar, says a sentence and ends the process; after that it ends
/// the process without a word.
pub(crate) struct Interrupt {
    active: Arc<AtomicBool>,
}

impl Interrupt {
    pub(crate) fn saying(message: &'static str, bar: &Bar) -> Self {
        let active = Arc::new(AtomicBool::new(true));
        let (says, bar) = (Arc::clone(&active), bar.clone());
        // Runs on a thread of its own, where all that a signal handler must not do is allowed. If it
        // cannot be set, Ctrl-C ends the process as it does elsewhere.
        let _unset = ctrlc::set_handler(move || {
            if says.load(Ordering::Relaxed) {
                bar.clear();
                print::note(message);
            }
            process::exit(INTERRUPTED);
        });
        Self { active }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.active.store(false, Ordering::Relaxed);
    }
}
