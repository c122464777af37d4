//! Records the chunks that the threads of a write have written.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::array::Array;
use crate::error::{ArrayError, Touched, Written};
use crate::selection::Selection;

/// The parts that the threads of a write have written so far.
#[derive(Default)]
pub(in crate::array) struct Log {
    done: Mutex<Vec<Range<u64>>>,
}

impl Log {
    /// A thread begins with this part.
    pub(in crate::array) fn start(&self, part: u64) -> Done<'_> {
        Done { log: self, parts: part..part }
    }

    /// The error of a write to the `total` chunks of a selection that failed with `cause`.
    pub(in crate::array) fn incomplete_selection(
        self,
        array: &Array,
        selection: &Selection,
        total: u64,
        cause: ArrayError,
    ) -> ArrayError {
        let touched =
            Touched::Selected(Box::new((array.grid().clone(), selection.axes().to_vec())));
        self.incomplete(array, touched, total, cause)
    }

    /// The error of a write to these chunks, `total` in number, that failed with `cause`. `cause`
    /// is enough for a single chunk, and in a session, which has stored none.
    pub(in crate::array) fn incomplete(
        self,
        array: &Array,
        touched: Touched,
        total: u64,
        cause: ArrayError,
    ) -> ArrayError {
        if total <= 1 || array.store().capabilities().uncommitted {
            return cause;
        }
        let mut done: Vec<Range<u64>> = Vec::new();
        let mut ranges = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        ranges.sort_by_key(|range| range.start);
        for range in ranges.into_iter().filter(|range| !range.is_empty()) {
            match done.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => done.push(range),
            }
        }
        let written = Box::new(Written::new(touched, total, done));
        ArrayError::Incomplete { written, cause: Box::new(cause) }
    }
}

/// The consecutive parts that a thread has written, added to the log at the end.
pub(in crate::array) struct Done<'a> {
    log: &'a Log,
    parts: Range<u64>,
}

impl Done<'_> {
    pub(in crate::array) fn one_more(&mut self) {
        self.parts.end += 1;
    }
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let mut done = self.log.done.lock().unwrap_or_else(PoisonError::into_inner);
        match done.last_mut() {
            Some(last) if last.end == self.parts.start => last.end = self.parts.end,
            _ => done.push(self.parts.clone()),
        }
    }
}
