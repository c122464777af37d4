//! Reports the progress of long operations to a Python function.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::process::signals::Signals;

/// The time between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);

/// A Python function that is called with the progress of an operation: `(path, done, total)`.
pub(crate) struct Progress<'a> {
    told: Option<Py<PyAny>>,
    last: Mutex<Option<Instant>>,
    signals: &'a Signals,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(told: Option<Py<PyAny>>, signals: &'a Signals) -> Self {
        Self { told, last: Mutex::new(None), signals }
    }

    /// Calls the function at most ten times per second, and at the end. An exception that it raises
    /// ends the operation.
    pub(crate) fn tell(&self, path: &str, done: u64, total: Option<u64>) {
        let Some(told) = &self.told else { return };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < REPORT) && total != Some(done) {
            return;
        }
        *last = Some(Instant::now());
        // Python must not wait for this lock while this thread waits for Python.
        drop(last);
        if let Err(error) = Python::attach(|py| told.call1(py, (path, done, total)).map(drop)) {
            self.signals.raise(error);
        }
    }
}
