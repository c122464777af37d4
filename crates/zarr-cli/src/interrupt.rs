//! The message of a command that a signal ends: Ctrl-C, a termination request, or a closed terminal.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output::print;
use crate::output::progress::Bar;

/// Shells expect this plus the signal's number as the exit status of a command that a signal
/// ended.
const SIGNALLED: i32 = 128;

/// While this exists, a signal that asks the process to end clears the bar, prints a sentence and
/// ends the process. Afterwards such a signal ends the process without a message.
pub(crate) struct Interrupt {
    active: Arc<AtomicBool>,
}

impl Interrupt {
    /// The message is made when the signal arrives, of what the bar then says is done.
    pub(crate) fn saying<M: Into<String>>(
        message: impl Fn(Option<String>) -> M + Send + 'static,
        bar: &Bar,
    ) -> Self {
        let active = Arc::new(AtomicBool::new(true));
        let (says, bar) = (Arc::clone(&active), bar.clone());
        // This runs on a separate thread, where the restrictions of signal handlers do not apply.
        signals::on_first(move |signal| {
            if says.load(Ordering::Relaxed) {
                let message: String = message(bar.said()).into();
                bar.clear();
                print::note(message);
            }
            process::exit(SIGNALLED.saturating_add(signal));
        });
        Self { active }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.active.store(false, Ordering::Relaxed);
    }
}

#[cfg(unix)]
mod signals {
    use std::sync::mpsc;
    use std::{fs, thread};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    /// Calls `end` with the signal that asks the process to end. If that cannot be set up,
    /// signals end the process as usual.
    pub(super) fn on_first(end: impl Fn(i32) + Send + 'static) {
        let (ready, is_ready) = mpsc::channel::<()>();
        let wait = move || {
            // On this thread: a signal that was caught while nothing handles it would be lost.
            let caught =
                [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
            let signals = Signals::new(caught);
            drop(ready);
            if let Ok(mut signals) = signals
                && let Some(signal) = signals.forever().next()
            {
                end(signal);
            }
        };
        if thread::Builder::new().name("signals".to_owned()).spawn(wait).is_ok() {
            // Returns when the other end is dropped.
            let _ready = is_ready.recv();
        }
    }

    /// Whether the process was started with a signal ignored, as `nohup` does with SIGHUP and
    /// shells with the SIGINT of background jobs. If the system does not tell, SIGHUP is assumed
    /// to be ignored.
    fn is_ignored(signal: i32) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        match ignored(&status) {
            Some(mask) => mask & 1_u64.unbounded_shl(signal.unsigned_abs().saturating_sub(1)) != 0,
            None => signal == SIGHUP,
        }
    }

    fn ignored(status: &str) -> Option<u64> {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    }
}

#[cfg(not(unix))]
mod signals {
    /// The number of Ctrl-C on Unix.
    const SIGINT: i32 = 2;

    /// Calls `end` at Ctrl-C. If that cannot be set up, Ctrl-C ends the process as usual.
    pub(super) fn on_first(end: impl Fn(i32) + Send + 'static) {
        let _unset = ctrlc::set_handler(move || end(SIGINT));
    }
}
