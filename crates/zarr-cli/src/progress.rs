//! Shows progress on a terminal, and nothing in a pipe.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use zarr_kit::Array;
use zarr_kit::metadata::Printable;

use crate::watched_store::{Watch, WatchedStore};

/// A bar with rate and remaining time on standard error, if that is a terminal. Clones share the
/// bar.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
        let bar = Self { bar };
        // The first setting would be drawn at once, without those that follow.
        bar.style("");
        bar
    }

    /// A bar that is never shown.
    pub(crate) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden() }
    }

    fn style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    /// Whether it is visible.
    pub(crate) fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Runs code that may write to the same terminal. The code must not use the bar.
    pub(crate) fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        // A bar that has not been shown yet would be drawn empty.
        if self.bar.length().is_none() { write() } else { self.bar.suspend(write) }
    }

    /// Reports that `done` of `total` chunks are done, with this many bytes.
    pub(crate) fn chunks(&self, name: &str, done: u64, total: u64, bytes: u64) {
        let name = &Printable(name).to_string();
        if self.bar.prefix() != *name {
            self.bar.set_message("");
            self.bar.set_length(total);
            self.bar.set_prefix(name.to_owned());
            self.style("{prefix} {wide_bar} {human_pos}/{human_len} chunks{msg}, {eta} left");
            self.bar.set_position(0);
            self.bar.reset_eta();
        }
        // Several threads report, not always in order.
        if done > self.bar.position() {
            self.bar.set_message(format!(", {}", crate::words::bytes(bytes.into())));
            self.bar.set_position(done);
        }
    }

    /// Reports that this many bytes are done, of a total that may be unknown.
    pub(crate) fn bytes(&self, name: &str, done: u64, total: Option<u64>) {
        if self.bar.is_hidden() {
            return;
        }
        let name = &Printable(name).to_string();
        if self.bar.message() != *name {
            self.bar.set_message(name.to_owned());
        }
        if self.bar.length() != total || self.bar.position() == 0 {
            match total {
                Some(total) => self.bar.set_length(total),
                None => self.bar.unset_length(),
            }
            self.style(match total {
                Some(_) => {
                    "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}"
                }
                None => "{msg} {spinner} {binary_bytes} {binary_bytes_per_sec}",
            });
        }
        self.bar.set_position(done);
    }

    /// Removes the bar from the terminal for good.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Shows how many bytes a command has read from a store, or written to it, where the elements are
/// moved all at once.
#[derive(Debug)]
pub(crate) struct Moved {
    bar: Bar,
    direction: Direction,
    bytes: AtomicU64,
}

/// Which bytes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Written,
}

impl Moved {
    /// The same array, whose operations are shown until the bar is dropped.
    pub(crate) fn show(array: &Array, direction: Direction) -> (Array, Bar) {
        let bar = Bar::new();
        if !bar.is_shown() {
            // The store does more than its watched form forwards.
            return (array.clone(), bar);
        }
        let watch = Arc::new(Self { bar: bar.clone(), direction, bytes: AtomicU64::new(0) });
        let store = WatchedStore { inner: Arc::clone(array.store()), watch };
        (array.clone().with_store(Arc::new(store)), bar)
    }

    fn add(&self, bytes: u64, direction: Direction) {
        if self.direction == direction {
            let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
            let name = match direction {
                Direction::Read => "reading: stored",
                Direction::Written => "writing: stored",
            };
            self.bar.bytes(name, before.saturating_add(bytes), None);
        }
    }
}

impl Watch for Moved {
    fn got(&self, bytes: Option<u64>, _took: Duration) {
        self.add(bytes.unwrap_or(0), Direction::Read);
    }

    fn put(&self, bytes: u64) {
        self.add(bytes, Direction::Written);
    }
}
