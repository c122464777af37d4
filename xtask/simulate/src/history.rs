//! What clients did and saw, with the times at which each operation began and ended.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The names of the attributes that clients set.
pub(crate) const NAMES: [&str; 2] = ["first", "second"];

/// What a document says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Document {
    pub(crate) length: u64,
    pub(crate) attributes: [u16; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The document was read.
    Opened(Document),
    /// All elements were read from the first on.
    Read(Vec<u16>),
    /// All elements of a range were set to one value.
    Wrote(Range<u64>, u16),
    /// All elements from an index on were set to the fill value.
    Discarded(u64),
    /// The length was changed from one to another, or others had already made it the other: two
    /// clients that resize to one length put equal documents, so a lost response does not tell.
    Resized(u64, u64),
    /// The length was changed from one to another, by this client alone.
    Appended(u64, u64),
    /// An attribute was set.
    Set(usize, u16),
}

/// One thing that a client did or saw.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) what: What,
    /// Whether it certainly happened. Otherwise it may have.
    pub(crate) is_sure: bool,
}

#[derive(Default)]
pub(crate) struct History {
    events: Mutex<Vec<Event>>,
    faults: Mutex<Vec<String>>,
}

impl History {
    pub(crate) fn add(&self, event: Event) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    /// Something that must not happen, whatever else did.
    pub(crate) fn blame(&self, fault: String) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
    }

    pub(crate) fn into_parts(self) -> (Vec<Event>, Vec<String>) {
        let events = self.events.into_inner().unwrap_or_else(PoisonError::into_inner);
        (events, self.faults.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}
