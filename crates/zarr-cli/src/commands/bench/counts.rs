//! Counts the bytes read from a store, and the time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::stores::watched_store::Watch;

/// The counts of reads.
#[derive(Debug, Default)]
pub(super) struct Counts {
    requests: AtomicU64,
    missing: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

/// The counts at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fetched {
    pub(super) requests: u64,
    /// Requests for objects that are not there.
    pub(super) missing: u64,
    pub(super) bytes: u64,
    /// Added up over all threads.
    pub(super) time: Duration,
}

impl Fetched {
    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            missing: self.missing.saturating_add(other.missing),
            bytes: self.bytes.saturating_add(other.bytes),
            time: self.time.saturating_add(other.time),
        }
    }
}

impl Counts {
    /// The counts since the last call.
    pub(super) fn take(&self) -> Fetched {
        let take = |number: &AtomicU64| number.swap(0, Ordering::Relaxed);
        Fetched {
            requests: take(&self.requests),
            missing: take(&self.missing),
            bytes: take(&self.bytes),
            time: Duration::from_nanos(take(&self.nanoseconds)),
        }
    }
}

impl Watch for Counts {
    fn got(&self, bytes: Option<u64>, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        match bytes {
            Some(bytes) => self.bytes.fetch_add(bytes, Ordering::Relaxed),
            None => self.missing.fetch_add(1, Ordering::Relaxed),
        };
    }
}
